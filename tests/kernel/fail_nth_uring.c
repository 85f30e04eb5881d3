// SPDX-License-Identifier: GPL-2.0
/*
 * vm: vram_mb=4 timeout=400
 *
 * Each io_uring command of an engine, with each allocation and user copy on its way
 * failing once, those of io_uring itself too: the batch is served at the second
 * attempt at the latest, and no page's content is lost.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/harness.h"
#include "lib/fail.h"
#include "lib/managed.h"

enum { EXTRA = 40 };	/* pages of a run that are allocated at once */

FIXTURE(fail)
{
	int fail;
	char why[128];
	struct managed m;
	uint8_t *more;
	struct gpuemu_commit commit;
	struct gpuemu_migration list[4];
	uint32_t n;
	uint64_t id;
	bool taken;	/* by io_uring */
};

#define WORLD FIXTURE_DATA(fail) *self = world

FIXTURE_SETUP(fail)
{
	FAIL_SETUP();
	ASSERT_EQ(0, managed_open(&self->m, ON_HOST));
	self->more = map_managed(self->m.fd, 4 * BLOCK);
	ASSERT_NE(NULL, self->more);
	fill(self->more, 4 * BLOCK, 6);
}

FIXTURE_TEARDOWN(fail)
{
	munmap(self->more, 4 * BLOCK);
	managed_close(&self->m);
	close(self->fail);
}

/*
 * Issues a command. -EAGAIN, -ENOMEM and the like: io_uring did not take it yet; it
 * stays in the ring for the next io_uring_submit().
 */
static int issue(struct engine *e, uint32_t op, const void *addr, uint32_t arg)
{
	struct gpuemu_uring_cmd cmd = { .addr = (uintptr_t)addr, .arg = arg };
	struct io_uring_sqe *sqe = io_uring_get_sqe(&e->ring);
	int ret;

	if (!sqe)
		abort();
	memset(sqe, 0, sizeof(*sqe));
	sqe->opcode = IORING_OP_URING_CMD;
	sqe->fd = e->fd;
	sqe->cmd_op = op;
	sqe->user_data = op;
	memcpy(sqe->cmd, &cmd, sizeof(cmd));
	ret = io_uring_submit_and_get_events(&e->ring);
	return ret < 0 ? ret : 0;
}

/* What io_uring did not take. */
static void reissue(struct engine *e)
{
	io_uring_submit_and_get_events(&e->ring);
}

static int end_batch(struct engine *e)
{
	return engine_commit(e, NULL, 0) < 0;
}

/* --- FETCH, RAISE --- */

static int run_fetch(void *world)
{
	WORLD;

	return issue(&self->m.e, GPUEMU_URING_FETCH, NULL, 0);
}

static int after_fetch(void *world, int ret)
{
	WORLD;

	reissue(&self->m.e);
	self->m.e.fetch_pending = true;
	if (engine_raise(&self->m.e, GPUEMU_RAISE_EMPTY_OK))
		return 1;
	return end_batch(&self->m.e) ? 2 : 0;
}

static const struct fail_op op_fetch = {
	"FETCH", NULL, run_fetch, after_fetch, -EAGAIN,
};

static int prepare_fetch(void *world)
{
	WORLD;
	int ret = issue(&self->m.e, GPUEMU_URING_FETCH, NULL, 0);

	engine_fault(&self->m.e, self->m.space, self->m.mem, GPUEMU_ACCESS_WRITE);
	return ret ? 1 : 0;
}

static int run_raise(void *world)
{
	WORLD;

	return issue(&self->m.e, GPUEMU_URING_RAISE, NULL, 0);
}

static int after_raise(void *world, int ret)
{
	WORLD;
	int res;

	reissue(&self->m.e);
	if (engine_result(&self->m.e, GPUEMU_URING_FETCH, 5000, &res) || res != 1)
		return 1;
	if (self->m.e.control->batch.faults[0].addr != (uintptr_t)self->m.mem)
		return 2;
	return end_batch(&self->m.e) ? 3 : 0;
}

static const struct fail_op op_raise = {
	"RAISE", prepare_fetch, run_raise, after_raise, -EAGAIN,
};

TEST_F(fail, raise)
{
	SWEEP_NONE(op_fetch);
	SWEEP_NONE(op_raise);
}

/* --- WAIT: and that it ends while a client's SUBMIT fails --- */

static int run_wait(void *world)
{
	WORLD;

	return issue(&self->m.e, GPUEMU_URING_WAIT, NULL, 0);
}

static int submit(FIXTURE_DATA(fail) *self)
{
	return client_submit(self->m.fd, GPUEMU_WORK_TOUCH, "x", 1, &self->id);
}

static int after_wait(void *world, int ret)
{
	WORLD;
	struct gpuemu_work_done done = { .size = sizeof(done) };
	struct gpuemu_work_take take = { .size = sizeof(take) };
	struct gpuemu_wait wait;
	uint8_t payload;
	int res;

	reissue(&self->m.e);
	if (!self->id && submit(self))
		return 1;
	if (engine_result(&self->m.e, GPUEMU_URING_WAIT, 5000, &res) || res)
		return 2;
	take.payload = (uintptr_t)&payload;
	take.payload_bytes = 1;
	if (call(self->m.e.fd, GPUEMU_IOCTL_WORK_TAKE, &take) || take.id != self->id)
		return 3;
	done.id = take.id;
	if (call(self->m.e.fd, GPUEMU_IOCTL_WORK_DONE, &done) ||
	    client_wait(self->m.fd, take.id, 0, &wait))
		return 4;
	self->id = 0;
	return 0;
}

static const struct fail_op op_wait = { "WAIT", NULL, run_wait, after_wait, -EAGAIN };

static int prepare_wait(void *world)
{
	WORLD;

	return issue(&self->m.e, GPUEMU_URING_WAIT, NULL, 0) ? 1 : 0;
}

static int run_submit(void *world)
{
	WORLD;
	int ret = submit(self);

	if (ret)
		self->id = 0;
	return ret;
}

/* A work that was taken back has woken the engine, which finds nothing. */
static int after_submit(void *world, int ret)
{
	WORLD;

	if (ret && engine_has_result(&self->m.e, GPUEMU_URING_WAIT)) {
		engine_result(&self->m.e, GPUEMU_URING_WAIT, 0, &ret);
		if (ret || prepare_wait(world))
			return 10;
	}
	return after_wait(world, ret);
}

static const struct fail_op op_submit = {
	"SUBMIT to an engine that waits", prepare_wait, run_submit, after_submit, 0,
};

TEST_F(fail, wait)
{
	SWEEP_NONE(op_wait);
	SWEEP(op_submit);
}

/* --- COMMIT: migrations --- */

static void add(FIXTURE_DATA(fail) *self, const uint8_t *addr, uint32_t pages,
		enum gpuemu_migration_op op)
{
	self->list[self->n++] = (struct gpuemu_migration){
		.addr = (uintptr_t)addr, .va_space = self->m.space,
		.pages = pages, .op = op, .status = 1,
	};
}

/* A batch is fetched; self->list is what to do. */
static int begin(FIXTURE_DATA(fail) *self, uint32_t flags)
{
	if (engine_raise(&self->m.e, GPUEMU_RAISE_EMPTY_OK) < 0)
		return 9;
	self->commit = (struct gpuemu_commit){
		.size = sizeof(self->commit), .gen = self->m.e.control->batch.gen,
		.count = self->n, .flags = flags,
		.migrations = (uintptr_t)self->list,
	};
	return 0;
}

static int run_commit(void *world)
{
	WORLD;
	int ret = issue(&self->m.e, GPUEMU_URING_COMMIT, &self->commit, 0), res;

	if (ret)
		return ret;
	/* Armed, as the wait's own allocations may not hurt either. */
	ret = engine_result(&self->m.e, GPUEMU_URING_COMMIT, 5000, &res);
	return ret ? ret : res;
}

/* Brings the commit to its end: it is done, refused, or not taken yet. */
static int finish(FIXTURE_DATA(fail) *self, int ret, uint32_t op)
{
	int res, raise;

	if (ret < 0) {
		reissue(&self->m.e);
		if (engine_has_result(&self->m.e, op))
			engine_result(&self->m.e, op, 0, &ret);
	}
	if (ret < 0) {
		/* -ESTALE: it was done, only its results got lost. */
		issue(&self->m.e, GPUEMU_URING_COMMIT, &self->commit, 0);
		if (engine_result(&self->m.e, GPUEMU_URING_COMMIT, 5000, &res))
			return 1;
		if (res < 0 && res != -ESTALE)
			return 2;
	}
	if (engine_result(&self->m.e, GPUEMU_URING_RAISE, 5000, &raise) || raise)
		return 3;
	return 0;
}

/* Each page is on one side, with its bytes, and each descriptor says which. */
static int check_moved(FIXTURE_DATA(fail) *self, int ret)
{
	uint32_t i, there, want;

	for (i = 0; i < self->n && ret >= 0; i++) {
		struct gpuemu_migration *m = &self->list[i];

		if (m->status != 0 && m->status != -ENOMEM)
			return 4;
		there = engine_resident(&self->m.e, self->m.space,
					(void *)(uintptr_t)m->addr, m->pages);
		want = m->op == GPUEMU_MIGRATE_H2D ? m->moved : m->pages - m->moved;
		if (there != want || (!m->status && m->moved != m->pages))
			return 5;
	}
	if (!managed_intact(&self->m, 0, MANAGED_PAGES))
		return 6;
	return filled(self->more, BLOCK, 6) ? 0 : 7;
}

static int after_commit(void *world, int ret)
{
	WORLD;
	int step = finish(self, ret, GPUEMU_URING_COMMIT);

	return step ? step : check_moved(self, ret);
}

/* Also where nothing was ever touched: the block is made by the migration. */
static int prepare_h2d(void *world)
{
	WORLD;
	uint8_t *fresh = self->more + 3 * BLOCK;

	munmap(fresh, BLOCK);
	if (!map_managed_at(self->m.fd, fresh, BLOCK))
		return 1;
	self->n = 0;
	add(self, self->m.mem, 8, GPUEMU_MIGRATE_H2D);
	add(self, self->m.mem + 8 * PAGE, 8, GPUEMU_MIGRATE_H2D);
	add(self, fresh, 8, GPUEMU_MIGRATE_H2D);
	return begin(self, 0);
}

static const struct fail_op op_h2d = {
	"COMMIT, to the device", prepare_h2d, run_commit, after_commit, -EAGAIN,
};

/* Pages of their own cannot be had for what never was at home. */
static int prepare_d2h(void *world)
{
	WORLD;
	uint8_t *fresh = self->more + 3 * BLOCK;

	munmap(fresh, BLOCK);
	if (!map_managed_at(self->m.fd, fresh, BLOCK))
		return 1;
	if (engine_h2d(&self->m.e, self->m.space, fresh, EXTRA) ||
	    managed_place(&self->m, ON_DEVICE))
		return 2;
	self->n = 0;
	add(self, self->m.mem, 8, GPUEMU_MIGRATE_D2H);
	add(self, self->m.mem + 8 * PAGE, 8, GPUEMU_MIGRATE_D2H);
	add(self, fresh, EXTRA, GPUEMU_MIGRATE_D2H);
	return begin(self, 0);
}

static int after_d2h(void *world, int ret)
{
	WORLD;
	int step = after_commit(world, ret);

	if (step)
		return step;
	return managed_zero(self->more + 3 * BLOCK, EXTRA * PAGE) ? 0 : 8;
}

static const struct fail_op op_d2h = {
	"COMMIT, to the host", prepare_d2h, run_commit, after_d2h, -EAGAIN,
};

TEST_F(fail, commit)
{
	SWEEP(op_h2d);
	SWEEP(op_d2h);
}

/* Device memory takes two blocks; the module makes room for a third. */
static int prepare_evict(void *world)
{
	WORLD;
	int i;

	for (i = 1; i < 3; i++)
		if (engine_d2h(&self->m.e, self->m.space, self->more + i * BLOCK,
			       BLOCK / PAGE))
			return 1;
	*(volatile uint8_t *)self->more;
	for (i = 1; i < 3; i++)
		if (engine_h2d(&self->m.e, self->m.space, self->more + i * BLOCK,
			       BLOCK / PAGE))
			return 2;
	self->n = 0;
	add(self, self->more, 1, GPUEMU_MIGRATE_H2D);
	return begin(self, GPUEMU_COMMIT_EVICT);
}

static int after_evict(void *world, int ret)
{
	WORLD;
	int step = finish(self, ret, GPUEMU_URING_COMMIT);

	if (step)
		return step;
	if (ret >= 0 && self->list[0].status && self->list[0].status != -ENOSPC)
		return 4;
	return filled(self->more, 4 * BLOCK, 6) ? 0 : 7;
}

static const struct fail_op op_evict = {
	"COMMIT, making room", prepare_evict, run_commit, after_evict, -EAGAIN,
};

TEST_F_TIMEOUT(fail, evict, 90)
{
	fill(self->more, 4 * BLOCK, 6);
	SWEEP(op_evict);
}

static int run_commit_and_fetch(void *world)
{
	WORLD;
	int ret = issue(&self->m.e, GPUEMU_URING_COMMIT_AND_FETCH, &self->commit, 0), res;

	self->taken = !ret;
	if (ret)
		return ret;
	/* If it is good, it ends with the next batch. */
	if (!engine_has_result(&self->m.e, GPUEMU_URING_COMMIT_AND_FETCH))
		return 0;
	ret = engine_result(&self->m.e, GPUEMU_URING_COMMIT_AND_FETCH, 0, &res);
	return ret ? ret : res;
}

static int after_commit_and_fetch(void *world, int ret)
{
	WORLD;
	struct engine *e = &self->m.e;
	int step, res;

	reissue(e);
	if (!self->taken)
		ret = 0;
	step = finish(self, ret, GPUEMU_URING_COMMIT_AND_FETCH);
	if (step)
		return step;
	if (ret >= 0) {
		issue(e, GPUEMU_URING_RAISE, NULL, GPUEMU_RAISE_EMPTY_OK);
		if (engine_result(e, GPUEMU_URING_COMMIT_AND_FETCH, 5000, &res) || res)
			return 8;
		if (end_batch(e))
			return 9;
	}
	return check_moved(self, ret);
}

static const struct fail_op op_commit_and_fetch = {
	"COMMIT_AND_FETCH", prepare_h2d, run_commit_and_fetch, after_commit_and_fetch, -EAGAIN,
};

TEST_F(fail, commit_and_fetch)
{
	SWEEP(op_commit_and_fetch);
}

TEST_HARNESS_MAIN
