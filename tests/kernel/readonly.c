// SPDX-License-Identifier: GPL-2.0
/* The engine's mappings: whole only, shared only, and some never writable. */
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/harness.h"
#include "lib/lib.h"

FIXTURE(readonly)
{
	struct engine e;
};

FIXTURE_SETUP(readonly)
{
	ASSERT_EQ(0, engine_open(&self->e));
}

FIXTURE_TEARDOWN(readonly)
{
	engine_close(&self->e);
}

static int try_map(int fd, size_t bytes, int prot, int flags, uint64_t offset)
{
	void *p = mmap(NULL, bytes, prot, flags, fd, offset);

	if (p == MAP_FAILED)
		return -errno;
	munmap(p, bytes);
	return 0;
}

#define RW (PROT_READ | PROT_WRITE)

TEST_F(readonly, page_table)
{
	size_t bytes = self->e.attach.pt_tables * PAGE;

	EXPECT_EQ(0, try_map(self->e.fd, bytes, PROT_READ, MAP_SHARED,
			     GPUEMU_MMAP_PAGE_TABLE));
	EXPECT_EQ(-EPERM, try_map(self->e.fd, bytes, RW, MAP_SHARED,
				  GPUEMU_MMAP_PAGE_TABLE));
	EXPECT_EQ(-EPERM, try_map(self->e.fd, bytes, PROT_WRITE, MAP_SHARED,
				  GPUEMU_MMAP_PAGE_TABLE));
	EXPECT_EQ(-1, mprotect(self->e.pt, bytes, RW));
	EXPECT_EQ(EACCES, errno);
	EXPECT_EQ(-1, mprotect(self->e.pt, PAGE, PROT_WRITE));
	EXPECT_EQ(EACCES, errno);
}

TEST_F(readonly, control)
{
	size_t bytes = self->e.attach.control_bytes;

	EXPECT_EQ(0, try_map(self->e.fd, bytes, PROT_READ, MAP_SHARED,
			     GPUEMU_MMAP_CONTROL));
	EXPECT_EQ(-EPERM, try_map(self->e.fd, bytes, RW, MAP_SHARED,
				  GPUEMU_MMAP_CONTROL));
	EXPECT_EQ(-1, mprotect(self->e.control, bytes, RW));
	EXPECT_EQ(EACCES, errno);
}

TEST_F(readonly, never_executable)
{
	EXPECT_EQ(-1, mprotect(self->e.vram, PAGE, RW | PROT_EXEC));
	EXPECT_EQ(-1, mprotect(self->e.control, PAGE, PROT_READ | PROT_EXEC));
	EXPECT_EQ(-EINVAL, try_map(self->e.fd,
				   self->e.attach.vram_frames * PAGE,
				   RW | PROT_EXEC, MAP_SHARED,
				   GPUEMU_MMAP_VRAM));
}

TEST_F(readonly, whole_and_shared)
{
	size_t vram = self->e.attach.vram_frames * PAGE;

	EXPECT_EQ(-EINVAL, try_map(self->e.fd, vram - PAGE, RW, MAP_SHARED,
				   GPUEMU_MMAP_VRAM));
	EXPECT_EQ(-EINVAL, try_map(self->e.fd, vram + PAGE, RW, MAP_SHARED,
				   GPUEMU_MMAP_VRAM));
	EXPECT_EQ(-EINVAL, try_map(self->e.fd, vram, RW, MAP_PRIVATE,
				   GPUEMU_MMAP_VRAM));
	EXPECT_EQ(-EINVAL, try_map(self->e.fd, vram - PAGE, RW, MAP_SHARED,
				   GPUEMU_MMAP_VRAM + PAGE));
	EXPECT_EQ(-EINVAL, try_map(self->e.fd, PAGE, RW, MAP_SHARED, 0));
	EXPECT_EQ(-EINVAL, try_map(self->e.fd, PAGE, RW, MAP_SHARED,
				   GPUEMU_MMAP_CONTROL +
				   self->e.attach.control_bytes));
	EXPECT_EQ(MAP_FAILED, mremap(self->e.vram, vram, vram + PAGE,
				     MREMAP_MAYMOVE));
	EXPECT_EQ(MAP_FAILED, mremap(self->e.vram, vram, vram,
				     MREMAP_MAYMOVE | MREMAP_FIXED,
				     reserve(vram)));
	self->e.vram[vram - 1] = 3;
}

/* Sizes and places as promised, and a fault buffer that can be written. */
TEST_F(readonly, what_attach_says)
{
	struct gpuemu_engine_attach *a = &self->e.attach;

	EXPECT_NE(0, a->vram_frames);
	EXPECT_NE(0, a->pt_tables);
	EXPECT_EQ(0, a->fault_entries & (a->fault_entries - 1));
	EXPECT_LE(sizeof(struct gpuemu_control), a->control_bytes);
	EXPECT_EQ(0, a->control_bytes % PAGE);
	EXPECT_EQ(0, self->e.faults->put);
	EXPECT_EQ(0, self->e.faults->get);
	EXPECT_EQ(a->vram_frames, self->e.control->vram_free);
	self->e.faults->entries[a->fault_entries - 1].addr = 1;
}

TEST_HARNESS_MAIN
