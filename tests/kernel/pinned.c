// SPDX-License-Identifier: GPL-2.0
/* A page that someone else refers to (GUP, a pipe) is not moved under them. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "lib/harness.h"
#include "lib/lib.h"

FIXTURE(pinned)
{
	struct engine e;
	int fd;
	uint32_t space;
	uint8_t *mem;
	uint8_t copy[8 * PAGE];
};

FIXTURE_SETUP(pinned)
{
	ASSERT_EQ(0, engine_open(&self->e));
	engine_acker_start(&self->e);
	self->fd = client_open();
	self->space = client_space(self->fd);
	self->mem = map_managed(self->fd, 8 * PAGE);
	ASSERT_NE(NULL, self->mem);
	fill(self->copy, 8 * PAGE, 21);
	memcpy(self->mem, self->copy, 8 * PAGE);
}

FIXTURE_TEARDOWN(pinned)
{
	close(self->fd);
	engine_close(&self->e);
}

/* vmsplice: the pipe holds the page itself until it is read. */
TEST_F(pinned, vmsplice)
{
	struct iovec iov = { self->mem + 3 * PAGE, PAGE };
	struct gpuemu_migration m = {
		.addr = (uintptr_t)self->mem, .va_space = self->space,
		.pages = 8, .op = GPUEMU_MIGRATE_H2D,
	};
	uint8_t out[PAGE];
	int p[2];

	ASSERT_EQ(0, pipe(p));
	ASSERT_EQ(PAGE, vmsplice(p[1], &iov, 1, 0));
	ASSERT_EQ(0, engine_raise(&self->e, GPUEMU_RAISE_EMPTY_OK));
	EXPECT_EQ(0, engine_commit(&self->e, &m, 1));
	EXPECT_EQ(-EBUSY, m.status);
	EXPECT_EQ(7, m.moved);
	EXPECT_EQ(NULL, engine_page(&self->e, self->space,
				    self->mem + 3 * PAGE));
	EXPECT_EQ(7, engine_resident(&self->e, self->space, self->mem, 8));
	EXPECT_EQ(7, self->e.attach.vram_frames - self->e.control->vram_free);
	/* The CPU and the pipe still share one page. */
	self->mem[3 * PAGE] ^= 0xff;
	self->copy[3 * PAGE] ^= 0xff;
	ASSERT_EQ(PAGE, read(p[0], out, PAGE));
	EXPECT_EQ(0, memcmp(out, self->copy + 3 * PAGE, PAGE));
	/* Nobody holds it any more. */
	EXPECT_EQ(0, engine_h2d(&self->e, self->space, self->mem, 8));
	EXPECT_EQ(8, engine_resident(&self->e, self->space, self->mem, 8));
	EXPECT_EQ(0, memcmp(self->mem, self->copy, 8 * PAGE));
	close(p[0]);
	close(p[1]);
}

/* The mapping ends while the pipe still holds the pages. */
TEST_F(pinned, munmap_first)
{
	struct iovec iov = { self->mem, 2 * PAGE };
	uint8_t out[2 * PAGE];
	int p[2];

	ASSERT_EQ(0, pipe(p));
	ASSERT_EQ(2 * PAGE, vmsplice(p[1], &iov, 1, 0));
	EXPECT_EQ(-EBUSY, engine_h2d(&self->e, self->space, self->mem, 8));
	EXPECT_EQ(6, engine_resident(&self->e, self->space, self->mem, 8));
	ASSERT_EQ(0, munmap(self->mem, 8 * PAGE));
	ASSERT_EQ(2 * PAGE, read(p[0], out, 2 * PAGE));
	EXPECT_EQ(0, memcmp(out, self->copy, 2 * PAGE));
	close(p[0]);
	close(p[1]);
}

/*
 * Pinning a page that is on the device brings it home first: the CPU's fault is
 * part of taking the reference.
 */
TEST_F(pinned, brings_it_home)
{
	struct iovec iov = { self->mem, 8 * PAGE };
	uint8_t out[8 * PAGE];
	int p[2];

	ASSERT_EQ(0, engine_h2d(&self->e, self->space, self->mem, 8));
	ASSERT_EQ(0, pipe(p));
	ASSERT_EQ(8 * PAGE, vmsplice(p[1], &iov, 1, 0));
	EXPECT_EQ(0, engine_resident(&self->e, self->space, self->mem, 8));
	EXPECT_EQ(-EBUSY, engine_h2d(&self->e, self->space, self->mem, 8));
	EXPECT_EQ(0, engine_resident(&self->e, self->space, self->mem, 8));
	ASSERT_EQ(8 * PAGE, read(p[0], out, 8 * PAGE));
	EXPECT_EQ(0, memcmp(out, self->copy, 8 * PAGE));
	EXPECT_EQ(0, engine_h2d(&self->e, self->space, self->mem, 8));
	EXPECT_EQ(0, memcmp(self->mem, self->copy, 8 * PAGE));
	close(p[0]);
	close(p[1]);
}

/*
 * A frame is given to another client as soon as it is free. So the engine, whose mapping
 * can be taken away, cannot keep one by a reference.
 */
TEST_F(pinned, a_frame_cannot_be)
{
	void *maps[] = { self->e.vram, (void *)self->e.control };
	struct iovec iov = { .iov_len = PAGE };
	int p[2];
	size_t i;

	ASSERT_EQ(0, pipe(p));
	ASSERT_EQ(0, engine_h2d(&self->e, self->space, self->mem, 1));
	for (i = 0; i < sizeof(maps) / sizeof(maps[0]); i++) {
		iov.iov_base = maps[i];
		EXPECT_LE(0, ((volatile uint8_t *)maps[i])[0]);
		EXPECT_EQ(-1, vmsplice(p[1], &iov, 1, 0));
		EXPECT_EQ(EFAULT, errno);
	}
	/* What copies instead does it still. */
	EXPECT_EQ(PAGE, write(p[1], self->e.vram, PAGE));
	close(p[0]);
	close(p[1]);
}

/* Reading a file into memory that is on the device, and writing it out. */
TEST_F(pinned, file_io)
{
	char name[] = "/tmp/gpuemu-pinned-XXXXXX";
	uint8_t back[8 * PAGE];
	int f = mkstemp(name);

	ASSERT_LE(0, f);
	unlink(name);
	ASSERT_EQ(0, engine_h2d(&self->e, self->space, self->mem, 8));
	ASSERT_EQ(8 * PAGE, pwrite(f, self->mem, 8 * PAGE, 0));
	ASSERT_EQ(8 * PAGE, pread(f, back, 8 * PAGE, 0));
	EXPECT_EQ(0, memcmp(back, self->copy, 8 * PAGE));
	memset(self->mem, 0, 8 * PAGE);
	ASSERT_EQ(0, engine_h2d(&self->e, self->space, self->mem, 8));
	ASSERT_EQ(8 * PAGE, pread(f, self->mem, 8 * PAGE, 0));
	EXPECT_EQ(0, memcmp(self->mem, self->copy, 8 * PAGE));
	close(f);
}

TEST_HARNESS_MAIN
