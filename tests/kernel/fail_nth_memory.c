// SPDX-License-Identifier: GPL-2.0
/*
 * vm: vram_mb=4 timeout=300
 *
 * Managed memory, with each allocation and user copy failing once: mmap(), the
 * parts of munmap() and mprotect(), CPU faults on pages that are new, at home or on
 * the device, and what the kernel itself reads and writes there.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "lib/harness.h"
#include "lib/fail.h"
#include "lib/managed.h"

enum { FIRST = 4, PART = 8 };	/* pages of a part, across the blocks' border */

FIXTURE(fail)
{
	int fail;
	char why[128];
	struct managed m;
	uint8_t *more;
	int pipe[2];
	volatile uint8_t seen;
};

#define WORLD FIXTURE_DATA(fail) *self = world
#define RW (PROT_READ | PROT_WRITE)

FIXTURE_SETUP(fail)
{
	FAIL_SETUP();
	ASSERT_EQ(0, managed_open(&self->m, ON_HOST));
	self->more = reserve(4 * BLOCK);
	ASSERT_NE(NULL, self->more);
	ASSERT_EQ(0, pipe(self->pipe));
}

FIXTURE_TEARDOWN(fail)
{
	managed_close(&self->m);
	close(self->pipe[0]);
	close(self->pipe[1]);
	close(self->fail);
}

/* All pages on the device, or all at home and mapped. */
static int prepare_device(void *world)
{
	WORLD;

	return managed_place(&self->m, ON_DEVICE) ? 1 : 0;
}

static int prepare_half(void *world)
{
	WORLD;

	return managed_place(&self->m, HALF) ? 1 : 0;
}

static int intact(FIXTURE_DATA(fail) *self)
{
	return managed_intact(&self->m, 0, MANAGED_PAGES) ? 0 : 10;
}

/* --- mappings --- */

static int run_map(void *world)
{
	WORLD;

	return map_managed_at(self->m.fd, self->more, BLOCK + PAGE) ? 0 : -errno;
}

static int after_map(void *world, int ret)
{
	WORLD;

	/* What is not mapped is not managed: the place is as free as before. */
	if (ret && engine_h2d(&self->m.e, self->m.space, self->more, 1) != -EFAULT)
		return 1;
	if (ret && !map_managed_at(self->m.fd, self->more, BLOCK + PAGE))
		return 2;
	self->more[BLOCK] = 5;
	if (engine_h2d(&self->m.e, self->m.space, self->more + BLOCK, 1))
		return 3;
	if (self->more[BLOCK] != 5 || !managed_zero(self->more, PAGE))
		return 4;
	return munmap(self->more, BLOCK + PAGE) ? 5 : 0;
}

static const struct fail_op op_map = { "mmap", NULL, run_map, after_map, 0 };

static int run_unmap(void *world)
{
	WORLD;

	return munmap(self->m.mem + FIRST * PAGE, PART * PAGE) ? -errno : 0;
}

/* The rest stays; the part comes back empty, or has not gone. */
static int after_unmap(void *world, int ret)
{
	WORLD;
	uint8_t *part = self->m.mem + FIRST * PAGE;

	if (ret)
		return intact(self);
	if (!managed_intact(&self->m, 0, FIRST) ||
	    !managed_intact(&self->m, FIRST + PART, MANAGED_PAGES - FIRST - PART))
		return 1;
	if (!map_managed_at(self->m.fd, part, PART * PAGE))
		return 2;
	if (!managed_zero(part, PART * PAGE))
		return 3;
	memcpy(part, self->m.copy + FIRST * PAGE, PART * PAGE);
	return 0;
}

static const struct fail_op op_unmap = {
	"munmap of a part", prepare_device, run_unmap, after_unmap, 0,
};
static const struct fail_op op_unmap_half = {
	"munmap of a part, half of it away", prepare_half, run_unmap, after_unmap, 0,
};

TEST_F(fail, map)
{
	SWEEP(op_map);
	SWEEP(op_unmap);
	SWEEP(op_unmap_half);
}

/* --- rights --- */

/* One mapping again, on the device: what was split once would not split again. */
static int prepare_whole(void *world)
{
	WORLD;

	if (munmap(self->m.mem, MANAGED_BYTES) ||
	    !map_managed_at(self->m.fd, self->m.mem, MANAGED_BYTES))
		return 3;
	memcpy(self->m.mem, self->m.copy, MANAGED_BYTES);
	return prepare_device(world);
}

static int part_protect(FIXTURE_DATA(fail) *self, int prot)
{
	return mprotect(self->m.mem + FIRST * PAGE, PART * PAGE, prot) ? -errno : 0;
}

/* -EFAULT: the device may not have them. */
static int part_to_device(FIXTURE_DATA(fail) *self)
{
	return engine_h2d(&self->m.e, self->m.space, self->m.mem + FIRST * PAGE, PART);
}

static int run_take_right(void *world)
{
	return part_protect(world, PROT_READ);
}

/*
 * A failed mprotect() may leave the rights of a part as it pleases, says POSIX;
 * the next one that says what they are has to be right.
 */
static int after_take_right(void *world, int ret)
{
	WORLD;

	if (!ret && part_to_device(self) != -EFAULT)
		return 1;
	if (part_protect(self, RW) || part_to_device(self))
		return 2;
	return intact(self);
}

static const struct fail_op op_take_right = {
	"mprotect, read-only", prepare_whole, run_take_right, after_take_right, 0,
};

static int prepare_read_only(void *world)
{
	WORLD;
	int ret = prepare_whole(world);

	return ret ? ret : mprotect(self->m.mem, MANAGED_BYTES, PROT_READ) ? 4 : 0;
}

static int run_give_right(void *world)
{
	return part_protect(world, RW);
}

static int after_give_right(void *world, int ret)
{
	WORLD;

	if (ret && (part_protect(self, PROT_READ) || part_to_device(self) != -EFAULT))
		return 1;
	if (mprotect(self->m.mem, MANAGED_BYTES, RW) || part_to_device(self))
		return 2;
	return intact(self);
}

static const struct fail_op op_give_right = {
	"mprotect, writable", prepare_read_only, run_give_right, after_give_right, 0,
};

TEST_F(fail, protect)
{
	SWEEP(op_take_right);
	SWEEP(op_give_right);
}

/* --- the CPU's faults: a failure is only ever time --- */

static int prepare_new(void *world)
{
	WORLD;

	return map_managed_at(self->m.fd, self->more, PAGE) ? 0 : 1;
}

static int run_touch_new(void *world)
{
	WORLD;

	self->seen = *(volatile uint8_t *)self->more;
	return 0;
}

static int after_touch_new(void *world, int ret)
{
	WORLD;

	if (!managed_zero(self->more, PAGE))
		return 1;
	return munmap(self->more, PAGE) ? 2 : 0;
}

static const struct fail_op op_touch_new = {
	"CPU fault, new page", prepare_new, run_touch_new, after_touch_new, 0,
};

/* Its content is zeros that were never at home: the way there takes a page. */
static int prepare_far(void *world)
{
	WORLD;

	if (prepare_new(world))
		return 1;
	return engine_h2d(&self->m.e, self->m.space, self->more, 1) ? 2 : 0;
}

static int after_touch_far(void *world, int ret)
{
	WORLD;

	if (engine_resident(&self->m.e, self->m.space, self->more, 1))
		return 3;
	return after_touch_new(world, ret);
}

static const struct fail_op op_touch_far = {
	"CPU fault, page on the device", prepare_far, run_touch_new, after_touch_far, 0,
};

static int run_touch(void *world)
{
	WORLD;
	size_t i;

	for (i = 6; i < 10; i++)
		if (self->m.mem[i * PAGE + 9] != self->m.copy[i * PAGE + 9])
			return -EPROTO;
	return 0;
}

static int after_touch(void *world, int ret)
{
	WORLD;

	return managed_resident(&self->m, 6, 4) ? 1 : intact(self);
}

static const struct fail_op op_touch = {
	"CPU fault, page with a place at home", prepare_device, run_touch, after_touch, 0,
};

TEST_F(fail, touch)
{
	SWEEP(op_touch_new);
	SWEEP(op_touch_far);
	SWEEP_NONE(op_touch);
}

/* --- the kernel's own reads and writes --- */

/* A short count is a clean answer to a failure in the middle. */
static int run_write(void *world)
{
	WORLD;
	ssize_t n = write(self->pipe[1], self->m.mem + 7 * PAGE, 2 * PAGE);

	return n < 0 ? -errno : n;
}

static int after_write(void *world, int ret)
{
	WORLD;
	static uint8_t buffer[2 * PAGE];
	ssize_t n;

	if (ret > 0) {
		n = read(self->pipe[0], buffer, sizeof(buffer));
		if (n != ret || memcmp(buffer, self->m.copy + 7 * PAGE, n))
			return 1;
	}
	return intact(self);
}

static const struct fail_op op_write = {
	"write() from managed memory", prepare_device, run_write, after_write, 0,
};

static int prepare_read(void *world)
{
	WORLD;

	if (write(self->pipe[1], self->m.copy, 2 * PAGE) != (ssize_t)(2 * PAGE))
		return 1;
	return prepare_device(world);
}

static int run_read(void *world)
{
	WORLD;
	ssize_t n = read(self->pipe[0], self->m.mem + 7 * PAGE, 2 * PAGE);

	return n < 0 ? -errno : n;
}

static int after_read(void *world, int ret)
{
	WORLD;
	static uint8_t rest[2 * PAGE];
	ssize_t n = ret < 0 ? 0 : ret;

	if (memcmp(self->m.mem + 7 * PAGE, self->m.copy, n))
		return 1;
	/* What a failed copy took out of the pipe is the pipe's affair. */
	fcntl(self->pipe[0], F_SETFL, O_NONBLOCK);
	while (read(self->pipe[0], rest, sizeof(rest)) > 0)
		;
	fcntl(self->pipe[0], F_SETFL, 0);
	memcpy(self->m.mem + 7 * PAGE, self->m.copy + 7 * PAGE, 2 * PAGE);
	return intact(self);
}

static const struct fail_op op_read = {
	"read() into managed memory", prepare_read, run_read, after_read, 0,
};

static int run_foreign(void *world)
{
	WORLD;
	static uint8_t buffer[PAGE];
	struct iovec to = { buffer, PAGE };
	struct iovec from = { self->m.mem + 8 * PAGE, PAGE };
	ssize_t n = process_vm_readv(getpid(), &to, 1, &from, 1, 0);

	if (n < 0)
		return -errno;
	return memcmp(buffer, self->m.copy + 8 * PAGE, n) ? -EPROTO : 0;
}

static int after_intact(void *world, int ret)
{
	return intact(world);
}

static const struct fail_op op_foreign = {
	"process_vm_readv()", prepare_device, run_foreign, after_intact, 0,
};

static int run_advise(void *world)
{
	WORLD;

	return madvise(self->m.mem + FIRST * PAGE, PART * PAGE, MADV_DONTFORK) ? -errno : 0;
}

static const struct fail_op op_advise = {
	"madvise()", prepare_half, run_advise, after_intact, 0,
};

TEST_F(fail, kernel)
{
	SWEEP(op_write);
	SWEEP(op_read);
	SWEEP(op_foreign);
	SWEEP_NONE(op_advise);
}

TEST_HARNESS_MAIN
