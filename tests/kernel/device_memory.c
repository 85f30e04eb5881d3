// SPDX-License-Identifier: GPL-2.0
/*
 * vm: vram_mb=8
 *
 * Device memory that is not paged: it has its frames from mmap() to munmap(), both sides
 * use the same bytes, nothing moves it, and managed pages leave the device for it.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/harness.h"
#include "lib/lib.h"

enum { FRAMES = 2048, BLOCK_PAGES = 512 };

FIXTURE(device_memory)
{
	struct engine e;
	int fd;
	uint32_t space;
	uint8_t *at;		/* reserved, on a VA block's border */
};

FIXTURE_SETUP(device_memory)
{
	uint8_t *p = reserve(16 * BLOCK);

	ASSERT_EQ(0, engine_open(&self->e));
	engine_acker_start(&self->e);
	/* mmap() may wait for it, and so munmap(). */
	ASSERT_EQ(FRAMES, self->e.attach.vram_frames);
	self->fd = client_open();
	self->space = client_space(self->fd);
	self->at = (uint8_t *)(((uintptr_t)p + BLOCK - 1) & ~(BLOCK - 1));
}

FIXTURE_TEARDOWN(device_memory)
{
	close(self->fd);
	engine_close(&self->e);
}

static int device(int fd, void *at, size_t bytes)
{
	return map_device(fd, at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED);
}

/* Zeroed, there at once, the same bytes for both, and gone with the mapping. */
TEST_F(device_memory, one_place)
{
	uint32_t free_before = self->e.control->vram_free;
	uint8_t *page;

	ASSERT_EQ(0, device(self->fd, self->at, 2 * BLOCK));
	EXPECT_EQ(free_before - 2 * BLOCK_PAGES, self->e.control->vram_free);
	EXPECT_EQ(2 * BLOCK_PAGES, engine_resident(&self->e, self->space, self->at,
						   2 * BLOCK_PAGES));
	for (size_t i = 0; i < 2 * BLOCK; i += PAGE) {
		page = engine_page(&self->e, self->space, self->at + i);
		ASSERT_NE(NULL, page);
		ASSERT_EQ(0, page[i / PAGE]);
		page[i / PAGE] = (uint8_t)(i / PAGE + 1);
		ASSERT_EQ((uint8_t)(i / PAGE + 1), self->at[i + i / PAGE % PAGE]);
		self->at[i + 4095] = 7;
		ASSERT_EQ(7, page[4095]);
	}
	EXPECT_NE(0, engine_entry(&self->e, self->space, self->at) & GPUEMU_PTE_DEVICE);
	ASSERT_EQ(0, munmap(self->at, 2 * BLOCK));
	EXPECT_EQ(NULL, engine_page(&self->e, self->space, self->at));
	EXPECT_EQ(free_before, self->e.control->vram_free);
	/* The next owner sees none of it. */
	ASSERT_EQ(0, device(self->fd, self->at, BLOCK));
	for (size_t i = 0; i < BLOCK; i++)
		ASSERT_EQ(0, self->at[i]);
}

/* No migration finds it, and it is no managed memory. */
TEST_F(device_memory, stays)
{
	ASSERT_EQ(0, device(self->fd, self->at, BLOCK));
	fill(self->at, BLOCK, 5);
	EXPECT_EQ(-EFAULT, engine_d2h(&self->e, self->space, self->at, BLOCK_PAGES));
	EXPECT_EQ(-EFAULT, engine_migrate(&self->e, self->space, self->at, 1,
					  GPUEMU_MIGRATE_REMOTE));
	EXPECT_EQ(-EFAULT, engine_migrate(&self->e, self->space, self->at, 1,
					  GPUEMU_MIGRATE_DUPLICATE));
	EXPECT_EQ(BLOCK_PAGES, engine_resident(&self->e, self->space, self->at, BLOCK_PAGES));
	EXPECT_TRUE(filled(self->at, BLOCK, 5));
	EXPECT_EQ(0, memcmp(engine_page(&self->e, self->space, self->at + PAGE),
			    self->at + PAGE, PAGE));
}

/* Managed pages leave for it; what cannot be had is refused, and nothing is lost. */
TEST_F(device_memory, makes_room)
{
	uint8_t *managed = self->at + 8 * BLOCK;

	ASSERT_NE(NULL, map_managed_at(self->fd, managed, 4 * BLOCK));
	fill(managed, 4 * BLOCK, 9);
	for (int i = 0; i < 4; i++)
		ASSERT_EQ(0, engine_h2d(&self->e, self->space, managed + i * BLOCK,
					BLOCK_PAGES));
	EXPECT_EQ(0, self->e.control->vram_free);
	ASSERT_EQ(0, device(self->fd, self->at, 3 * BLOCK));
	EXPECT_EQ(BLOCK_PAGES, engine_resident(&self->e, self->space, managed,
					       4 * BLOCK_PAGES));
	/* One frame stays the managed pages'. */
	EXPECT_EQ(-ENOMEM, device(self->fd, self->at + 3 * BLOCK, BLOCK));
	EXPECT_EQ(BLOCK_PAGES, engine_resident(&self->e, self->space, managed,
					       4 * BLOCK_PAGES));
	EXPECT_TRUE(filled(managed, 4 * BLOCK, 9));
	/* What is left is what an engine is told. */
	ASSERT_EQ(0, engine_raise(&self->e, GPUEMU_RAISE_EMPTY_OK));
	EXPECT_EQ(BLOCK_PAGES, self->e.control->client_frames);
	EXPECT_EQ(0, engine_commit(&self->e, NULL, 0));
	ASSERT_EQ(0, munmap(self->at, 3 * BLOCK));
	EXPECT_EQ(FRAMES, self->e.control->vram_free +
			  engine_resident(&self->e, self->space, managed, 4 * BLOCK_PAGES));
}

TEST_F(device_memory, refused)
{
	uint8_t *at = self->at;

	EXPECT_EQ(-EINVAL, device(self->fd, at + PAGE, BLOCK));
	EXPECT_EQ(-EINVAL, device(self->fd, at, BLOCK + PAGE));
	EXPECT_EQ(-EINVAL, map_device(self->fd, at, BLOCK, PROT_READ | PROT_WRITE, MAP_PRIVATE));
	EXPECT_EQ(-ENOMEM, device(self->fd, at, 4 * BLOCK));
	EXPECT_EQ(FRAMES, self->e.control->vram_free);
	ASSERT_EQ(0, device(self->fd, at, 2 * BLOCK));
	at[0] = 1;
	/* In part it can neither go nor change. */
	EXPECT_EQ(-1, munmap(at, BLOCK));
	EXPECT_EQ(-1, mprotect(at, 2 * BLOCK, PROT_READ));
	EXPECT_EQ(MAP_FAILED, mremap(at, 2 * BLOCK, 2 * BLOCK, MREMAP_MAYMOVE | MREMAP_FIXED,
				     at + 4 * BLOCK));
	EXPECT_EQ(-1, madvise(at, 2 * BLOCK, MADV_DOFORK));
	EXPECT_EQ(1, at[0]);
	/* All of this gave nothing back. */
	EXPECT_EQ(-ENOMEM, device(self->fd, at + 2 * BLOCK, 2 * BLOCK));
	EXPECT_EQ(0, device(self->fd, at + 2 * BLOCK, BLOCK));
}

/* What is there already stays if it cannot be had, whatever the cause. */
TEST_F(device_memory, refused_over_managed_memory)
{
	uint8_t *at = self->at;

	ASSERT_NE(NULL, map_managed_at(self->fd, at, 4 * BLOCK));
	fill(at, 4 * BLOCK, 11);
	ASSERT_EQ(0, engine_h2d(&self->e, self->space, at, BLOCK_PAGES));
	EXPECT_EQ(-ENOMEM, device(self->fd, at, 4 * BLOCK));
	EXPECT_EQ(-EINVAL, device(self->fd, at, BLOCK + PAGE));
	EXPECT_EQ(-EINVAL, map_device(self->fd, at, BLOCK, PROT_READ | PROT_WRITE, MAP_PRIVATE));
	EXPECT_EQ(BLOCK_PAGES, engine_resident(&self->e, self->space, at, 4 * BLOCK_PAGES));
	EXPECT_TRUE(filled(at, 4 * BLOCK, 11));
	ASSERT_EQ(0, munmap(at, 4 * BLOCK));
}

/* Rights are known only where the old content is gone. They are the CPU's alone. */
TEST_F(device_memory, read_only)
{
	uint8_t *page;

	ASSERT_EQ(0, map_device(self->fd, self->at, BLOCK, PROT_READ, MAP_SHARED));
	page = engine_page(&self->e, self->space, self->at);
	ASSERT_NE(NULL, page);
	page[5] = 6;
	EXPECT_EQ(6, self->at[5]);
	EXPECT_EQ(-1, mprotect(self->at, BLOCK, PROT_READ | PROT_WRITE));
	ASSERT_EQ(0, munmap(self->at, BLOCK));
	ASSERT_EQ(0, map_device(self->fd, self->at, BLOCK, PROT_NONE, MAP_SHARED));
	EXPECT_NE(NULL, engine_page(&self->e, self->space, self->at));
	ASSERT_EQ(0, munmap(self->at, BLOCK));
}

/* It is the client's whatever becomes of the engine, and goes with the client. */
TEST_F(device_memory, outlives_the_engine)
{
	ASSERT_EQ(0, device(self->fd, self->at, BLOCK));
	fill(self->at, BLOCK, 3);
	engine_close(&self->e);
	EXPECT_TRUE(filled(self->at, BLOCK, 3));
	ASSERT_EQ(0, engine_open(&self->e));
	engine_acker_start(&self->e);
	EXPECT_EQ(BLOCK_PAGES, engine_resident(&self->e, self->space, self->at, BLOCK_PAGES));
	EXPECT_EQ(0, memcmp(engine_page(&self->e, self->space, self->at), self->at, PAGE));
	/* It is of the file, which the mapping holds. */
	close(self->fd);
	EXPECT_TRUE(filled(self->at, BLOCK, 3));
	ASSERT_EQ(0, munmap(self->at, BLOCK));
	EXPECT_EQ(FRAMES, self->e.control->vram_free);
	self->fd = client_open();
}

TEST_HARNESS_MAIN
