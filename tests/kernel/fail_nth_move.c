// SPDX-License-Identifier: GPL-2.0
/*
 * vm: vram_mb=4 remote_mb=8 timeout=400
 *
 * Moves of ordinary memory, with each allocation and user copy of this thread failing once: the
 * engine's COMMIT, for a fault and as a prefetch, and the CPU's touch. No page is lost, and the
 * second attempt does it. What a worker of the module does fails in no test: fail-nth is a
 * thread's own.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "lib/fail.h"
#include "lib/harness.h"
#include "lib/pageable.h"

enum { MOVED = 4, PREFETCH = 256 };
enum where { HOME, USED, AWAY };

FIXTURE(fail)
{
	struct fail fail;
	struct pageable p;
	struct gpuemu_commit commit;
	struct gpuemu_migration m;
	uint8_t seen[PAGE];
};

#define WORLD FIXTURE_DATA(fail) *self = world

FIXTURE_SETUP(fail)
{
	FAIL_SETUP();
	ASSERT_EQ(0, pageable_open(&self->p));
	/* The VA block is known, so the COMMIT finds and moves pages of it by itself. */
	ASSERT_EQ(0, pageable_writes(&self->p, self->p.mem + MOVED * PAGE, 1));
}

FIXTURE_TEARDOWN(fail)
{
	pageable_close(&self->p);
	close(self->fail.fd);
}

static bool intact(struct pageable *p)
{
	return !memcmp(p->mem, p->copy, sizeof(p->copy));
}

/* Until no worker is at it. */
static int bring_to(struct pageable *p, enum where where)
{
	int ret = -EAGAIN, tries;

	for (tries = 0; (ret == -EAGAIN || ret == -EBUSY) && tries < 2000; tries++) {
		if (tries)
			sleep_ms(1);
		ret = where == AWAY ? pageable_bring(p, p->mem, MOVED) :
				      pageable_writes(p, p->mem, MOVED);
	}
	return ret;
}

/* what: where the pages are, and the operation. */
static int prepare(void *world)
{
	WORLD;
	const unsigned int *what = self->fail.op->what;
	struct engine *e = &self->p.e;
	int ret;

	if (!intact(&self->p))
		return 1;
	ret = what[0] == HOME ? 0 : bring_to(&self->p, what[0]);
	/* The step tells the error. */
	if (ret)
		return 100 - ret;
	if (!(what[1] & PREFETCH))
		engine_fault(e, self->p.space, self->p.mem, GPUEMU_ACCESS_WRITE);
	if (engine_raise(e, what[1] & PREFETCH ? GPUEMU_RAISE_EMPTY_OK : 0) < 0)
		return 3;
	self->m = (struct gpuemu_migration){
		.addr = (uintptr_t)self->p.mem, .va_space = self->p.space, .pages = MOVED,
		.op = what[1] & ~PREFETCH, .status = 1,
	};
	self->commit = (struct gpuemu_commit){
		.size = sizeof(self->commit), .gen = e->control->batch.gen, .count = 1,
		.flags = GPUEMU_COMMIT_EVICT, .migrations = (uintptr_t)&self->m,
	};
	return 0;
}

static int run(void *world)
{
	WORLD;
	struct gpuemu_engine_serve serve = {
		.size = sizeof(serve), .commit = (uintptr_t)&self->commit,
	};

	return call(self->p.e.fd, GPUEMU_IOCTL_ENGINE_SERVE, &serve);
}

/* Brings the batch to its end. -ESTALE: it was done, and only its results got lost. */
static int finish(FIXTURE_DATA(fail) *self, int ret)
{
	int res;

	if (ret)
		ret = engine_commit(&self->p.e, NULL, 0);
	else
		ret = -ESTALE;
	if (ret != -ESTALE)
		return ret < 0 ? 10 : 0;
	return engine_result(&self->p.e, GPUEMU_URING_RAISE, 5000, &res) || res ? 11 : 0;
}

static int after(void *world, int ret)
{
	WORLD;
	int step = finish(self, ret), status = self->m.status;

	if (step)
		return step;
	if (!ret && status && status != -EAGAIN && status != -EBUSY && status != -ENOMEM &&
	    status != -ENOSPC)
		return 4;
	if (self->m.moved > MOVED)
		return 5;
	return intact(&self->p) ? 0 : 6;
}

static int prepare_touch(void *world)
{
	WORLD;

	if (!intact(&self->p))
		return 1;
	return bring_to(&self->p, AWAY) ? 2 : 0;
}

/* By a system call, which fails where a page cannot be had; an access would come again. */
static int run_touch(void *world)
{
	WORLD;
	struct iovec from = { self->p.mem, PAGE }, to = { self->seen, PAGE };

	return process_vm_readv(getpid(), &to, 1, &from, 1, 0) == (ssize_t)PAGE ? 0 : -errno;
}

static int after_touch(void *world, int ret)
{
	WORLD;

	if (!ret && memcmp(self->seen, self->p.copy, PAGE))
		return 1;
	return intact(&self->p) ? 0 : 2;
}

#define MOVE(name, where, op) { \
	"COMMIT, " name, prepare, run, after, -EAGAIN, .what = { where, op } }

TEST_F_TIMEOUT(fail, moves, 120)
{
	static const struct fail_op ops[] = {
		MOVE("to the device", HOME, GPUEMU_MIGRATE_H2D),
		MOVE("to the device from where it is used", USED, GPUEMU_MIGRATE_H2D),
		MOVE("to the device, prefetched", HOME, GPUEMU_MIGRATE_H2D | PREFETCH),
		MOVE("used where it is", HOME, GPUEMU_MIGRATE_REMOTE),
		MOVE("home", AWAY, GPUEMU_MIGRATE_D2H | PREFETCH),
		MOVE("home, to be used there", AWAY, GPUEMU_MIGRATE_REMOTE | PREFETCH),
	};

	SWEEP(ops);
}

TEST_F(fail, touch)
{
	static const struct fail_op ops[] = {
		{ "the CPU's touch", prepare_touch, run_touch, after_touch },
	};

	SWEEP(ops);
}

TEST_HARNESS_MAIN
