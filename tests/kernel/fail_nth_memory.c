// SPDX-License-Identifier: GPL-2.0
/*
 * vm: vram_mb=4 timeout=400
 *
 * Managed memory, with each allocation and user copy failing once: mmap(), the
 * parts of munmap() and mprotect(), faults of the CPU on pages that are new, at home,
 * away, or on both sides, and of the engine on pages at home; and what the kernel
 * itself reads and writes there. And ordinary memory: that a client gives it, and the
 * engine's faults on it.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "lib/harness.h"
#include "lib/fail.h"
#include "lib/knob.h"
#include "lib/managed.h"
#include "lib/pageable.h"

enum { FIRST = 4, PART = 8 };	/* pages of a part, across the blocks' border */

FIXTURE(fail)
{
	struct fail fail;
	struct managed m;
	uint8_t *more;
	int pipe[2];
	volatile uint8_t seen;
	int other;	/* another client */
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
	close(self->fail.fd);
}

/* Where the pages are, is what the operation is about. */
static int place(void *world)
{
	WORLD;

	return managed_place(&self->m, self->fail.op->what[0]) ? 1 : 0;
}

static int after_intact(void *world, int ret)
{
	WORLD;

	return managed_intact(&self->m, 0, MANAGED_PAGES) ? 0 : 10;
}

static int intact(FIXTURE_DATA(fail) *self)
{
	return after_intact(self, 0);
}

/* An operation for each place. */
#define PLACED(where, name, prepare, run, after) \
	{ name ", " #where, prepare, run, after, .what = { where } }

/* --- mappings --- */

static int map_more(void *world)
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
	if (ret && map_more(self))
		return 2;
	self->more[BLOCK] = 5;
	if (engine_h2d(&self->m.e, self->m.space, self->more + BLOCK, 1))
		return 3;
	if (self->more[BLOCK] != 5 || !managed_zero(self->more, PAGE))
		return 4;
	return munmap(self->more, BLOCK + PAGE) ? 5 : 0;
}

static int unmap_part(void *world)
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

#define UNMAP(where) \
	PLACED(where, "munmap of a part", place, unmap_part, after_unmap)

TEST_F(fail, map)
{
	static const struct fail_op ops[] = {
		{ "mmap", NULL, map_more, after_map },
		UNMAP(ON_DEVICE), UNMAP(HALF), UNMAP(REMOTE), UNMAP(DUPLICATED),
	};

	SWEEP(ops);
}

/* --- rights --- */

/* One mapping again: what was split once would not split again. */
static int place_whole(void *world)
{
	WORLD;

	if (munmap(self->m.mem, MANAGED_BYTES) ||
	    !map_managed_at(self->m.fd, self->m.mem, MANAGED_BYTES))
		return 3;
	memcpy(self->m.mem, self->m.copy, MANAGED_BYTES);
	return place(world);
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

static int take_right(void *world)
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

static int prepare_read_only(void *world)
{
	WORLD;
	int ret = place_whole(world);

	return ret ? ret : mprotect(self->m.mem, MANAGED_BYTES, PROT_READ) ? 4 : 0;
}

static int give_right(void *world)
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

#define TAKE_RIGHT(where) \
	PLACED(where, "mprotect, read-only", place_whole, take_right, after_take_right)

TEST_F(fail, protect)
{
	static const struct fail_op ops[] = {
		TAKE_RIGHT(ON_DEVICE), TAKE_RIGHT(REMOTE), TAKE_RIGHT(DUPLICATED),
		PLACED(ON_DEVICE, "mprotect, writable", prepare_read_only, give_right,
		       after_give_right),
	};

	SWEEP(ops);
}

/* --- faults: a failure is only ever time --- */

static int prepare_new(void *world)
{
	WORLD;

	return map_managed_at(self->m.fd, self->more, PAGE) ? 0 : 1;
}

static int touch_new(void *world)
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

/* Its content is zeros that were never at home. The migration to the device took the page at home. */
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

/*
 * Both sides wanted it: what is known of the block's thrashing is not there yet, and
 * a page that goes to and fro once more is one that does.
 */
static int prepare_thrash(void *world)
{
	WORLD;
	struct gpuemu_migration m = {
		.addr = (uintptr_t)self->more, .va_space = self->m.space,
		.pages = 1, .op = GPUEMU_MIGRATE_H2D, .status = 1,
	};

	if (prepare_new(world))
		return 1;
	touch_new(world);
	engine_fault(&self->m.e, self->m.space, self->more, GPUEMU_ACCESS_WRITE);
	if (engine_raise(&self->m.e, 0) != 1)
		return 2;
	return engine_commit(&self->m.e, &m, 1) == 1 ? 0 : 3;
}

/* The operation's second word: is it a write? */
static int touch(void *world)
{
	WORLD;
	volatile uint8_t *p;
	size_t i;

	for (i = 6; i < 10; i++) {
		p = self->m.mem + i * PAGE + 9;
		if (*p != self->m.copy[i * PAGE + 9])
			return -EPROTO;
		if (self->fail.op->what[1])
			*p = self->m.copy[i * PAGE + 9] ^= 0x55;
	}
	return 0;
}

/* Only what is on both sides, and not written, stays there. */
static int after_touch(void *world, int ret)
{
	WORLD;
	const unsigned int *what = self->fail.op->what;
	uint32_t want = what[0] == DUPLICATED && !what[1] ? 4 : 0;

	return managed_resident(&self->m, 6, 4) != want ? 1 : intact(self);
}

/* The engine's mapping of the slots is new: it has no page tables where it is. */
static int prepare_slots(void *world)
{
	WORLD;
	struct engine *e = &self->m.e;
	size_t bytes = e->attach.remote_slots * PAGE;

	if (place(world) || munmap(e->remote, bytes))
		return 1;
	e->remote = reserve(bytes);
	return mmap(e->remote, bytes, RW, MAP_SHARED | MAP_FIXED, e->fd,
		    GPUEMU_MMAP_REMOTE) != e->remote ? 2 : 0;
}

static int touch_slots(void *world)
{
	WORLD;
	volatile uint8_t *p;
	size_t i;

	for (i = 6; i < 10; i++) {
		p = engine_page(&self->m.e, self->m.space, self->m.mem + i * PAGE);
		p[9] = self->m.copy[i * PAGE + 9] ^= 0x55;
	}
	return 0;
}

TEST_F(fail, touch)
{
	static const struct fail_op ops[] = {
		{ "CPU fault, new page", prepare_new, touch_new, after_touch_new },
		{ "CPU fault, page on the device", prepare_far, touch_new, after_touch_far,
		  .needs_nothing = true },
		{ "CPU fault, page that thrashes", prepare_thrash, touch_new, after_touch_far },
		{ "CPU fault, page with a place at home", place, touch, after_touch,
		  .what = { ON_DEVICE }, .needs_nothing = true },
		{ "CPU fault, read of a duplicate", place, touch, after_touch,
		  .what = { DUPLICATED }, .needs_nothing = true },
		{ "CPU fault, write of a duplicate", place, touch, after_touch,
		  .what = { DUPLICATED, true }, .needs_nothing = true },
		{ "the engine's fault, page at home", prepare_slots, touch_slots, after_intact,
		  .what = { REMOTE } },
	};

	ASSERT_EQ(0, knob_set("thrash_lapse_us", 60000000));
	ASSERT_EQ(0, knob_set("thrash_threshold", 1));
	SWEEP(ops);
	ASSERT_EQ(0, knob_set("thrash_threshold", 3));
	ASSERT_EQ(0, knob_set("thrash_lapse_us", 400000));
}

/* --- ordinary memory --- */

/* The engine uses a page of it. Its worker is another thread, where nothing fails. */
static int use_ordinary(FIXTURE_DATA(fail) *self, uint32_t space, uint8_t *page)
{
	int ret = -EAGAIN, tries;

	for (tries = 0; ret == -EAGAIN && tries < 2000; tries++) {
		ret = engine_migrate(&self->m.e, space, page, 1, GPUEMU_MIGRATE_REMOTE);
		if (ret == -EAGAIN)
			sleep_ms(1);
	}
	return ret;
}

static int prepare_give(void *world)
{
	WORLD;

	self->other = client_open();
	return self->other < 0 ? 1 : 0;
}

static int give(void *world)
{
	WORLD;

	return pageable_give(self->other);
}

static int after_give(void *world, int ret)
{
	WORLD;
	uint32_t space = client_space(self->other);
	uint8_t *page = map_anonymous(PAGE);

	if (!page)
		return 1;
	/* After -EFAULT it may be given, and only the answer got lost. */
	if (ret == -ENOMEM && use_ordinary(self, space, page) != -EFAULT)
		return 2;
	if (ret && give(self))
		return 3;
	page[0] = 6;
	if (use_ordinary(self, space, page))
		return 4;
	if (*(volatile uint8_t *)engine_page(&self->m.e, space, page) != 6)
		return 5;
	munmap(page, PAGE);
	return close(self->other) ? 6 : 0;
}

/* The engine's mapping of the slots is new: it has no page tables where it is. */
static int prepare_ordinary(void *world)
{
	WORLD;
	struct engine *e = &self->m.e;
	size_t bytes = e->attach.mirror_slots * PAGE;

	if (pageable_give(self->m.fd) ||
	    mmap(self->more, PAGE, RW, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) !=
	    self->more)
		return 1;
	self->more[0] = 7;
	if (use_ordinary(self, self->m.space, self->more) || munmap(e->mirror, bytes))
		return 2;
	e->mirror = reserve(bytes);
	return mmap(e->mirror, bytes, RW, MAP_SHARED | MAP_FIXED, e->fd,
		    GPUEMU_MMAP_MIRROR) != e->mirror ? 3 : 0;
}

static int touch_ordinary(void *world)
{
	WORLD;
	volatile uint8_t *p = engine_page(&self->m.e, self->m.space, self->more);

	p[1] = p[0] + 1;
	return 0;
}

static int after_ordinary(void *world, int ret)
{
	WORLD;

	if (self->more[0] != 7 || self->more[1] != 8)
		return 1;
	return munmap(self->more, PAGE) ? 2 : 0;
}

TEST_F(fail, ordinary)
{
	static const struct fail_op ops[] = {
		{ "PAGEABLE", prepare_give, give, after_give },
		{ "the engine's fault, ordinary memory", prepare_ordinary, touch_ordinary,
		  after_ordinary },
	};

	SWEEP(ops);
}

/* --- the kernel's own reads and writes --- */

/* A short count is a clean answer to a failure in the middle. */
static int write_pipe(void *world)
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

static int prepare_read(void *world)
{
	WORLD;

	if (write(self->pipe[1], self->m.copy, 2 * PAGE) != (ssize_t)(2 * PAGE))
		return 1;
	return place(world);
}

static int read_pipe(void *world)
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

static int read_foreign(void *world)
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

/* What the CPU's kernel is advised of; an engine's advice is the daemon's affair. */
static int advise(void *world)
{
	WORLD;

	return madvise(self->m.mem + FIRST * PAGE, PART * PAGE, MADV_DONTFORK) ? -errno : 0;
}

#define WRITE(where) \
	PLACED(where, "write() from managed memory", place, write_pipe, after_write)
#define READ(where) \
	PLACED(where, "read() into managed memory", prepare_read, read_pipe, after_read)

TEST_F(fail, kernel)
{
	static const struct fail_op ops[] = {
		WRITE(ON_DEVICE), WRITE(DUPLICATED),
		READ(ON_DEVICE), READ(REMOTE), READ(DUPLICATED),
		PLACED(ON_DEVICE, "process_vm_readv()", place, read_foreign, after_intact),
		{ "madvise()", place, advise, after_intact,
		  .what = { HALF }, .needs_nothing = true },
	};

	SWEEP(ops);
}

TEST_HARNESS_MAIN
