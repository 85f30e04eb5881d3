// SPDX-License-Identifier: GPL-2.0
/*
 * vm: vram_mb=4 pt_mb=1 copy_engines=4 pressure_ms=0 timeout=600
 *
 * Each io_uring command of an engine, and SERVE, with each allocation and user copy on its
 * way failing once, those of io_uring itself too: the batch is served at the second attempt
 * at the latest, and no page's content is lost. A COMMIT by io_uring is a worker's, in which
 * nothing fails; by SERVE it is this thread's.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/harness.h"
#include "lib/fail.h"
#include "lib/knob.h"
#include "lib/managed.h"
#include "lib/pageable.h"
#include "lib/nl.h"

enum { EXTRA = 40 };	/* pages of a run that are allocated at once */

FIXTURE(fail)
{
	struct fail fail;
	struct managed m;
	uint8_t *more;
	struct gpuemu_commit commit;
	struct gpuemu_migration list[4];
	uint32_t n;
	uint64_t id;
	bool later;	/* io_uring has it, and its result is to come */
	/* For shares of page tables. */
	int fd, blocks;
	uint32_t tables;
	uint8_t *spare, *fresh;
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
	close(self->fail.fd);
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

TEST_F(fail, raise)
{
	static const struct fail_op ops[] = {
		{ "FETCH", NULL, run_fetch, after_fetch, -EAGAIN, .needs_nothing = true },
		{ "RAISE", prepare_fetch, run_raise, after_raise, -EAGAIN, .needs_nothing = true },
	};

	SWEEP(ops);
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

TEST_F(fail, wait)
{
	static const struct fail_op ops[] = {
		{ "WAIT", NULL, run_wait, after_wait, -EAGAIN, .needs_nothing = true },
		{ "SUBMIT to an engine that waits", prepare_wait, run_submit, after_submit },
	};

	SWEEP(ops);
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

/* A batch was fetched; self->list is what to do. */
static void begin(FIXTURE_DATA(fail) *self, uint32_t flags)
{
	self->commit = (struct gpuemu_commit){
		.size = sizeof(self->commit), .gen = self->m.e.control->batch.gen,
		.count = self->n, .flags = flags,
		.migrations = (uintptr_t)self->list,
	};
}

/* The same, for a batch of no fault. */
static int begin_empty(FIXTURE_DATA(fail) *self, uint32_t flags)
{
	if (engine_raise(&self->m.e, GPUEMU_RAISE_EMPTY_OK) < 0)
		return 9;
	begin(self, flags);
	return 0;
}

static int run_commit(void *world)
{
	WORLD;
	struct gpuemu_engine_serve serve = {
		.size = sizeof(serve), .commit = (uintptr_t)&self->commit,
	};
	int ret = call(self->m.e.fd, GPUEMU_IOCTL_ENGINE_SERVE, &serve);

	return ret ? ret : (int)serve.committed;
}

static int run_commit_uring(void *world)
{
	WORLD;

	return issue(&self->m.e, GPUEMU_URING_COMMIT, &self->commit, 0);
}

/* What a pass has besides, and what was held for later: batches with nothing to do. */
static int serve_rest(struct engine *e)
{
	int res;

	while (!engine_has_result(e, GPUEMU_URING_RAISE)) {
		struct gpuemu_commit none = { .size = sizeof(none) };

		issue(e, GPUEMU_URING_FETCH, NULL, 0);
		if (engine_result(e, GPUEMU_URING_FETCH, 5000, &res) || res < 0)
			return 20;
		none.gen = e->control->batch.gen;
		issue(e, GPUEMU_URING_COMMIT, &none, 0);
		if (engine_result(e, GPUEMU_URING_COMMIT, 5000, &res) || res)
			return 21;
	}
	if (engine_result(e, GPUEMU_URING_RAISE, 0, &res) || res)
		return 22;
	while (e->control->left)
		if (engine_raise(e, GPUEMU_RAISE_EMPTY_OK) < 0 || end_batch(e))
			return 23;
	return 0;
}

/* Brings the commit to its end: it is done, refused, or not taken yet. */
static int finish(FIXTURE_DATA(fail) *self, int ret)
{
	int res;

	if (ret < 0) {
		/* -ESTALE: it was done, only its results got lost. */
		issue(&self->m.e, GPUEMU_URING_COMMIT, &self->commit, 0);
		if (engine_result(&self->m.e, GPUEMU_URING_COMMIT, 5000, &res))
			return 1;
		if (res < 0 && res != -ESTALE)
			return 2;
	}
	return serve_rest(&self->m.e);
}

/* How many of these pages are where the operation brings them. */
static uint32_t arrived(FIXTURE_DATA(fail) *self, const struct gpuemu_migration *m)
{
	uint64_t entry, bits = GPUEMU_PTE_VALID | GPUEMU_PTE_REMOTE | GPUEMU_PTE_READ_ONLY;
	const uint64_t want[] = {
		[GPUEMU_MIGRATE_H2D] = GPUEMU_PTE_VALID,
		[GPUEMU_MIGRATE_D2H] = 0,
		[GPUEMU_MIGRATE_REMOTE] = GPUEMU_PTE_VALID | GPUEMU_PTE_REMOTE,
		[GPUEMU_MIGRATE_DUPLICATE] = GPUEMU_PTE_VALID | GPUEMU_PTE_READ_ONLY,
	};
	uint32_t i, n = 0;

	for (i = 0; i < m->pages; i++) {
		entry = engine_entry(&self->m.e, self->m.space,
				     (uint8_t *)(uintptr_t)m->addr + i * PAGE);
		n += (entry & bits) == want[m->op];
	}
	return n;
}

/* Each page is in one place, or on both sides, with its bytes, and its descriptor says where. */
static int check_moved(FIXTURE_DATA(fail) *self, int ret)
{
	uint32_t i, there;

	for (i = 0; i < self->n && ret >= 0; i++) {
		struct gpuemu_migration *m = &self->list[i];

		if (m->status != 0 && m->status != -ENOMEM)
			return 4;
		there = arrived(self, m);
		/* A page that has the frame already, or is mapped at home, has not moved. */
		if (there < m->moved || (!m->status && there != m->pages))
			return 5;
	}
	if (!managed_intact(&self->m, 0, MANAGED_PAGES))
		return 6;
	return filled(self->more, BLOCK, 6) ? 0 : 7;
}

static int after_commit(void *world, int ret)
{
	WORLD;
	int step = finish(self, ret);

	return step ? step : check_moved(self, ret);
}

/*
 * From a place, by an operation; also where the CPU never touched anything: the
 * block is made by the migration, and pages of their own cannot be had.
 */
static int prepare_move(void *world)
{
	WORLD;
	static const uint8_t op_to[] = {
		[ON_DEVICE] = GPUEMU_MIGRATE_H2D,
		[REMOTE] = GPUEMU_MIGRATE_REMOTE,
		[DUPLICATED] = GPUEMU_MIGRATE_DUPLICATE,
	};
	const unsigned int *what = self->fail.op->what;
	uint8_t *fresh = self->more + 3 * BLOCK;

	munmap(fresh, BLOCK);
	if (!map_managed_at(self->m.fd, fresh, BLOCK))
		return 1;
	if (managed_place(&self->m, what[0]))
		return 2;
	if (what[0] != ON_HOST &&
	    engine_migrate(&self->m.e, self->m.space, fresh, EXTRA, op_to[what[0]]))
		return 3;
	self->n = 0;
	add(self, self->m.mem, 8, what[1]);
	add(self, self->m.mem + 8 * PAGE, 8, what[1]);
	add(self, fresh, EXTRA, what[1]);
	return begin_empty(self, 0);
}

static int after_move(void *world, int ret)
{
	WORLD;
	int step = after_commit(world, ret);

	if (step)
		return step;
	return managed_zero(self->more + 3 * BLOCK, EXTRA * PAGE) ? 0 : 8;
}

/* Without memory to hand it to a worker, io_uring ends it with -ENOMEM, and it is done anew. */
static int after_move_uring(void *world, int ret)
{
	WORLD;

	reissue(&self->m.e);
	if (engine_result(&self->m.e, GPUEMU_URING_COMMIT, 5000, &ret) ||
	    (ret < 0 && ret != -ENOMEM))
		return 10;
	return after_move(world, ret);
}

#define MOVE(from, op) { \
	"COMMIT, " #op " from " #from, prepare_move, run_commit, after_move, -EAGAIN, \
	.what = { from, GPUEMU_MIGRATE_##op } }

TEST_F_TIMEOUT(fail, to_device, 90)
{
	static const struct fail_op ops[] = {
		MOVE(ON_HOST, H2D), MOVE(REMOTE, H2D), MOVE(DUPLICATED, H2D),
		{ "COMMIT by io_uring", prepare_move, run_commit_uring, after_move_uring, -EAGAIN,
		  .what = { ON_HOST, GPUEMU_MIGRATE_H2D } },
	};

	SWEEP(ops);
}

TEST_F_TIMEOUT(fail, to_host, 90)
{
	static const struct fail_op ops[] = {
		MOVE(ON_DEVICE, D2H), MOVE(REMOTE, D2H), MOVE(DUPLICATED, D2H),
	};

	SWEEP(ops);
}

TEST_F_TIMEOUT(fail, map_remotely, 90)
{
	static const struct fail_op ops[] = {
		MOVE(ON_HOST, REMOTE), MOVE(ON_DEVICE, REMOTE), MOVE(DUPLICATED, REMOTE),
	};

	SWEEP(ops);
}

TEST_F_TIMEOUT(fail, duplicate, 90)
{
	static const struct fail_op ops[] = {
		MOVE(ON_HOST, DUPLICATE), MOVE(ON_DEVICE, DUPLICATE), MOVE(REMOTE, DUPLICATE),
	};

	SWEEP(ops);
}

/* --- COMMIT: large runs, by several copy engines, and room for them --- */

/* Block i of more. */
static int block_home(FIXTURE_DATA(fail) *self, int i)
{
	return engine_d2h(&self->m.e, self->m.space, self->more + i * BLOCK, BLOCK / PAGE);
}

static int block_away(FIXTURE_DATA(fail) *self, int i)
{
	return engine_h2d(&self->m.e, self->m.space, self->more + i * BLOCK, BLOCK / PAGE);
}

/*
 * The engine has what it may have of the device's memory: all of it, two blocks, or
 * the client's share. The module makes room for more.
 */
static int prepare_evict(void *world)
{
	WORLD;
	unsigned int share = self->fail.op->what[0];

	if (knob_set("client_vram_pct", share))
		return 1;
	if (block_home(self, 1) || block_home(self, 2))
		return 2;
	*(volatile uint8_t *)self->more;
	if (block_away(self, 1) || (!share && block_away(self, 2)))
		return 3;
	self->n = 0;
	add(self, self->more, 1, GPUEMU_MIGRATE_H2D);
	return begin_empty(self, GPUEMU_COMMIT_EVICT);
}

/* Two whole blocks change their places with a third, in flight at the same time. */
static int prepare_swap(void *world)
{
	WORLD;

	if (knob_set("client_vram_pct", 0))
		return 1;
	if (block_home(self, 2) || block_away(self, 1) || block_home(self, 0))
		return 2;
	self->n = 0;
	add(self, self->more + 1 * BLOCK, BLOCK / PAGE, GPUEMU_MIGRATE_D2H);
	add(self, self->more + 2 * BLOCK, BLOCK / PAGE, GPUEMU_MIGRATE_H2D);
	add(self, self->more, BLOCK / PAGE, GPUEMU_MIGRATE_DUPLICATE);
	return begin_empty(self, 0);
}

static int after_large(void *world, int ret)
{
	WORLD;
	int step = finish(self, ret);

	if (step)
		return step;
	if (ret >= 0 && self->list[0].status && self->list[0].status != -ENOSPC)
		return 4;
	return filled(self->more, 4 * BLOCK, 6) ? 0 : 7;
}

TEST_F_TIMEOUT(fail, large, 120)
{
	static const struct fail_op ops[] = {
		{ "COMMIT, making room", prepare_evict, run_commit, after_large, -EAGAIN },
		{ "COMMIT, making room in a share", prepare_evict, run_commit, after_large,
		  -EAGAIN, .what = { 50 } },
		{ "COMMIT, whole blocks", prepare_swap, run_commit, after_large, -EAGAIN },
	};

	fill(self->more, 4 * BLOCK, 6);
	SWEEP(ops);
}

/* --- COMMIT: ordinary memory --- */

/* Pages that the CPU has, which the COMMIT finds itself after the first time. */
static int prepare_ordinary(void *world)
{
	WORLD;

	if (pageable_give(self->m.fd))
		return 1;
	self->fresh = map_anonymous(2 * PAGE);
	if (!self->fresh)
		return 2;
	fill(self->fresh, 2 * PAGE, 8);
	self->n = 0;
	add(self, self->fresh, 2, GPUEMU_MIGRATE_REMOTE);
	return begin_empty(self, 0);
}

/* Without memory to ask the worker with, the engine asks again. */
static int after_ordinary(void *world, int ret)
{
	WORLD;
	int step = finish(self, ret), tries;

	if (step)
		return step;
	if (ret >= 0 && self->list[0].status && self->list[0].status != -EAGAIN)
		return 4;
	for (tries = 0, ret = -EAGAIN; ret == -EAGAIN && tries < 2000; tries++) {
		ret = engine_migrate(&self->m.e, self->m.space, self->fresh, 2,
				     GPUEMU_MIGRATE_REMOTE);
		if (ret == -EAGAIN)
			sleep_ms(1);
	}
	if (ret || !filled(self->fresh, 2 * PAGE, 8))
		return 5;
	if (engine_remote(&self->m.e, self->m.space, self->fresh, 2) != 2)
		return 6;
	return munmap(self->fresh, 2 * PAGE) ? 7 : 0;
}

TEST_F(fail, ordinary)
{
	static const struct fail_op ops[] = {
		{ "COMMIT, ordinary memory", prepare_ordinary, run_commit, after_ordinary,
		  -EAGAIN },
	};

	SWEEP(ops);
}

/* --- COMMIT: what follows it --- */

/* Four pages fault, each twice; the policy says which of them is the batch. */
static int prepare_faults(FIXTURE_DATA(fail) *self, const uint8_t *base)
{
	const struct gpuemu_batch *batch = &self->m.e.control->batch;
	const unsigned int *what = self->fail.op->what;
	uint32_t i;

	if (knob_set("replay_policy", what[0]) || knob_set("fault_batch", what[1]))
		return 1;
	for (i = 6; i < 10; i++) {
		engine_fault(&self->m.e, self->m.space, base + i * PAGE, GPUEMU_ACCESS_READ);
		engine_fault(&self->m.e, self->m.space, base + i * PAGE, GPUEMU_ACCESS_WRITE);
	}
	if (engine_raise(&self->m.e, 0) < 1)
		return 2;
	self->n = 0;
	for (i = 0; i < batch->count; i++)
		add(self, (void *)(uintptr_t)batch->faults[i].addr, 1, GPUEMU_MIGRATE_H2D);
	begin(self, 0);
	return 0;
}

/* In two blocks. */
static int prepare_policy(void *world)
{
	WORLD;

	return managed_place(&self->m, ON_HOST) ? 3 : prepare_faults(self, self->m.mem);
}

#define POLICY(number, name, records) { \
	"COMMIT, replay policy " name, prepare_policy, run_commit, after_commit, -EAGAIN, \
	.what = { number, records } }

TEST_F(fail, policies)
{
	static const struct fail_op ops[] = {
		POLICY(0, "block", 256), POLICY(1, "batch", 4), POLICY(3, "once", 4),
		POLICY(2, "batch_flush", 4), POLICY(2, "batch_flush, default", 256),
	};

	SWEEP(ops);
}

static int run_commit_and_fetch(void *world)
{
	WORLD;

	self->later = true;
	return issue(&self->m.e, GPUEMU_URING_COMMIT_AND_FETCH, &self->commit, 0);
}

/* The commit ends with a replay, and the command with the next batch. */
static int after_commit_and_fetch(void *world, int ret)
{
	WORLD;
	struct engine *e = &self->m.e;
	int res, step;

	reissue(e);
	for (int i = 0; i < 5000 && !engine_has_result(e, GPUEMU_URING_RAISE) &&
	     !engine_has_result(e, GPUEMU_URING_COMMIT_AND_FETCH); i++)
		sleep_ms(1);
	if (!engine_result(e, GPUEMU_URING_COMMIT_AND_FETCH, 0, &ret)) {
		step = ret == -ENOMEM ? finish(self, ret) : 11;
		return step ? step : check_moved(self, ret);
	}
	if (engine_result(e, GPUEMU_URING_RAISE, 0, &res) || res)
		return 7;
	issue(e, GPUEMU_URING_RAISE, NULL, GPUEMU_RAISE_EMPTY_OK);
	if (engine_result(e, GPUEMU_URING_COMMIT_AND_FETCH, 5000, &res) || res)
		return 8;
	if (end_batch(e))
		return 9;
	return check_moved(self, 0);
}

TEST_F(fail, commit_and_fetch)
{
	static const struct fail_op ops[] = {
		{ "COMMIT_AND_FETCH", prepare_move, run_commit_and_fetch, after_commit_and_fetch,
		  -EAGAIN, .what = { ON_HOST, GPUEMU_MIGRATE_H2D } },
	};

	SWEEP(ops);
}

/*
 * With replay policy once, what it fetches is the rest of the same pass, and is there.
 * The pages are new, and so is their block.
 */

static int prepare_rest(void *world)
{
	WORLD;
	uint8_t *fresh = self->more + 3 * BLOCK;

	munmap(fresh, BLOCK);
	return map_managed_at(self->m.fd, fresh, BLOCK) ? prepare_faults(self, fresh) : 3;
}

static int run_serve_for_rest(void *world)
{
	WORLD;
	struct gpuemu_engine_serve serve = {
		.size = sizeof(serve), .flags = GPUEMU_SERVE_FETCH,
		.commit = (uintptr_t)&self->commit,
	};
	int ret = call(self->m.e.fd, GPUEMU_IOCTL_ENGINE_SERVE, &serve);

	self->later = false;
	/* The next batch is there, only its number got lost. */
	if (ret == -EFAULT && self->m.e.control->batch.gen != self->commit.gen)
		return self->m.e.control->batch.count;
	return ret ? ret : (int)serve.faults;
}

static int after_commit_and_fetch_rest(void *world, int ret)
{
	WORLD;
	struct engine *e = &self->m.e;
	int step;

	if (self->later) {
		reissue(e);
		if (engine_result(e, GPUEMU_URING_COMMIT_AND_FETCH, 5000, &ret) ||
		    (ret <= 0 && ret != -ENOMEM))
			return 8;
	}
	if (ret > 0) {
		struct gpuemu_commit none = { .size = sizeof(none), .gen = e->control->batch.gen };
		int res;

		/* Pages 6 and 7 were the first batch. */
		if (ret != 2 || e->control->batch.faults[0].addr !=
				(uintptr_t)self->more + 3 * BLOCK + 8 * PAGE)
			return 9;
		issue(e, GPUEMU_URING_COMMIT, &none, 0);
		if (engine_result(e, GPUEMU_URING_COMMIT, 5000, &res) || res)
			return 10;
	}
	step = finish(self, ret);
	return step ? step : check_moved(self, ret);
}

TEST_F(fail, commit_and_fetch_once)
{
	static const struct fail_op ops[] = {
		{ "COMMIT_AND_FETCH, replay policy once", prepare_rest,
		  run_commit_and_fetch, after_commit_and_fetch_rest, -EAGAIN,
		  .what = { 3, 4 } },
		{ "SERVE, replay policy once", prepare_rest, run_serve_for_rest,
		  after_commit_and_fetch_rest, -EAGAIN, .what = { 3, 4 } },
	};

	SWEEP(ops);
}

/* --- COMMIT: page tables; a client has a share of them --- */

enum { SPARE = 32 };	/* blocks; more than the share */

static void take_tables(const struct nl_reply *reply, void *arg)
{
	*(uint32_t *)arg = nl_u32(reply->attrs[GPUEMU_A_DEVICE_TABLES_FREE]);
}

static uint32_t free_tables(void)
{
	struct nl_request r;
	uint32_t n = 0;
	struct nl nl;

	if (nl_open(&nl))
		return 0;
	nl_begin(&nl, &r, GPUEMU_CMD_DEVICE_GET, 0);
	nl_talk(&nl, &r, take_tables, &n);
	nl_close(&nl);
	return n;
}

/* A commit that moves the first page of this block of a client. */
static int prepare_block(FIXTURE_DATA(fail) *self, uint32_t space, const uint8_t *at)
{
	self->n = 0;
	add(self, at, 1, GPUEMU_MIGRATE_H2D);
	self->list[0].va_space = space;
	return begin_empty(self, 0);
}

/* The last block for which there is a table in the client's share; the one behind it. */
static int prepare_last(void *world)
{
	WORLD;
	uint8_t *at = self->spare + (self->blocks - 1) * BLOCK;

	if (munmap(at, BLOCK) || !map_managed_at(self->m.fd, at, BLOCK))
		return 1;
	self->tables = free_tables();
	return prepare_block(self, self->m.space, at);
}

static int prepare_over(void *world)
{
	WORLD;
	uint8_t *at = self->spare + self->blocks * BLOCK;

	if (munmap(at, BLOCK) || !map_managed_at(self->m.fd, at, BLOCK))
		return 1;
	*at = 5;
	self->tables = free_tables();
	return prepare_block(self, self->m.space, at);
}

static int after_last(void *world, int ret)
{
	WORLD;
	uint8_t *at = self->spare + (self->blocks - 1) * BLOCK;
	int step = finish(self, ret);

	if (step)
		return step;
	if (self->list[0].status && self->list[0].status != -ENOMEM)
		return 4;
	/* At the second attempt it has its table, and with it the share is used up. */
	if (engine_h2d(&self->m.e, self->m.space, at, 1) || free_tables() != self->tables - 1)
		return 5;
	return engine_h2d(&self->m.e, self->m.space, at + BLOCK, 1) == -ENOMEM ? 0 : 6;
}

static int after_over(void *world, int ret)
{
	WORLD;
	uint8_t *at = self->spare + self->blocks * BLOCK;
	int step = finish(self, ret);

	if (step)
		return step;
	if (ret >= 0 && self->list[0].status != -ENOMEM)
		return 4;
	return *at == 5 && free_tables() == self->tables ? 0 : 5;
}

/* A client that has none yet, with a share for its first ones. */
static int prepare_first(void *world)
{
	WORLD;

	self->tables = free_tables();
	self->fd = client_open();
	if (!map_managed_at(self->fd, self->fresh, BLOCK))
		return 1;
	return prepare_block(self, client_space(self->fd), self->fresh);
}

static int after_first(void *world, int ret)
{
	WORLD;
	uint32_t space = client_space(self->fd);
	int step = finish(self, ret);

	if (step)
		return step;
	if (self->list[0].status && self->list[0].status != -ENOMEM)
		return 4;
	/* All levels of the table; the lowest is the block's. */
	if (engine_h2d(&self->m.e, space, self->fresh, 1) || free_tables() != self->tables - 4)
		return 5;
	if (munmap(self->fresh, BLOCK) || close(self->fd))
		return 6;
	return free_tables() == self->tables ? 0 : 7;
}

TEST_F_TIMEOUT(fail, tables, 90)
{
	static const struct fail_op ops[] = {
		{ "COMMIT, the last table of a share", prepare_last, run_commit, after_last,
		  -EAGAIN },
		{ "COMMIT, no table in the share", prepare_over, run_commit, after_over,
		  -EAGAIN },
		{ "COMMIT, a client's first tables", prepare_first, run_commit, after_first,
		  -EAGAIN },
	};
	uint8_t *at = reserve((SPARE + 2) * BLOCK);
	struct nl listener;

	/* Each refusal is an event, which takes memory where somebody listens. */
	ASSERT_EQ(0, nl_open(&listener));
	ASSERT_EQ(0, nl_listen(&listener));
	ASSERT_EQ(0, knob_set("client_tables_pct", 8));
	self->spare = map_managed_at(self->m.fd, (void *)(((uintptr_t)at + BLOCK - 1) & -BLOCK),
				     SPARE * BLOCK);
	ASSERT_NE(NULL, self->spare);
	self->fresh = self->spare + SPARE * BLOCK;
	for (self->blocks = 0; self->blocks < SPARE; self->blocks++)
		if (engine_h2d(&self->m.e, self->m.space, self->spare + self->blocks * BLOCK, 1))
			break;
	ASSERT_LT(0, self->blocks);
	ASSERT_GT(SPARE, self->blocks);
	SWEEP(ops);
	munmap(self->spare, SPARE * BLOCK);
	nl_close(&listener);
	ASSERT_EQ(0, knob_set("client_tables_pct", 50));
}

TEST_HARNESS_MAIN
