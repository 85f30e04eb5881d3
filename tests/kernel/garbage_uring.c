// SPDX-License-Identifier: GPL-2.0
/*
 * Garbage in every io_uring command and in the fault buffer: an error each, and
 * the engine goes on.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/harness.h"
#include "lib/lib.h"

#define BAD 0x10ull

FIXTURE(garbage_uring)
{
	struct engine e;
	int fd;
	uint32_t space;
	uint8_t *mem;
};

FIXTURE_SETUP(garbage_uring)
{
	ASSERT_EQ(0, engine_open(&self->e));
	engine_acker_start(&self->e);
	self->fd = client_open();
	self->space = client_space(self->fd);
	self->mem = map_managed(self->fd, 2 * BLOCK);
	ASSERT_NE(NULL, self->mem);
	fill(self->mem, 4 * PAGE, 5);
}

FIXTURE_TEARDOWN(garbage_uring)
{
	munmap(self->mem, 2 * BLOCK);
	close(self->fd);
	engine_close(&self->e);
}

/*
 * Issues and returns what it completes with at once; 1 << 20 if it does not. A COMMIT is a
 * worker's, so that takes a while.
 */
static int issue(struct engine *e, uint32_t op, uint64_t addr, uint32_t arg,
		 uint32_t reserved)
{
	bool commits = op == GPUEMU_URING_COMMIT || op == GPUEMU_URING_COMMIT_AND_FETCH;
	int res;

	engine_issue_as(e, op, addr, arg, reserved, 99);
	/* Runs task work, so that what can complete has done so. */
	engine_has_result(e, 99);
	return engine_result(e, 99, commits ? 5000 : 0, &res) ? 1 << 20 : res;
}

#define PENDING (1 << 20)

TEST_F(garbage_uring, fields)
{
	struct engine *e = &self->e;
	static const uint32_t ops[] = {
		GPUEMU_URING_RAISE, GPUEMU_URING_WAIT, GPUEMU_URING_FETCH,
		GPUEMU_URING_COMMIT, GPUEMU_URING_COMMIT_AND_FETCH,
	};
	size_t i;

	for (i = 0; i < 5; i++)
		EXPECT_EQ(-EINVAL, issue(e, ops[i], 0, 0, 1));
	EXPECT_EQ(-EINVAL, issue(e, GPUEMU_URING_RAISE, 8, 0, 0));
	EXPECT_EQ(-EOPNOTSUPP, issue(e, GPUEMU_URING_RAISE, 0, 4, 0));
	EXPECT_EQ(-EOPNOTSUPP, issue(e, GPUEMU_URING_RAISE, 0, ~0u, 0));
	EXPECT_EQ(-EINVAL, issue(e, GPUEMU_URING_WAIT, 8, 0, 0));
	EXPECT_EQ(-EINVAL, issue(e, GPUEMU_URING_WAIT, 0, 1, 0));
	EXPECT_EQ(-EINVAL, issue(e, GPUEMU_URING_FETCH, 8, 0, 0));
	EXPECT_EQ(-EINVAL, issue(e, GPUEMU_URING_FETCH, 0, 1, 0));
	EXPECT_EQ(-EINVAL, issue(e, GPUEMU_URING_COMMIT, 0, 1, 0));
	EXPECT_EQ(-EOPNOTSUPP, issue(e, 0, 0, 0, 0));
	EXPECT_EQ(-EOPNOTSUPP, issue(e, ~0u, 0, 0, 0));
	EXPECT_EQ(-EOPNOTSUPP, issue(e, GPUEMU_URING_RAISE + 16, 0, 0, 0));
	EXPECT_EQ(-EOPNOTSUPP, issue(e, GPUEMU_IOCTL_INFO, 0, 0, 0));
}

/* A client's file has no commands. */
TEST_F(garbage_uring, not_an_engine)
{
	int fd = self->e.fd;

	self->e.fd = self->fd;
	EXPECT_EQ(-EPERM, issue(&self->e, GPUEMU_URING_FETCH, 0, 0, 0));
	EXPECT_EQ(-EPERM, issue(&self->e, GPUEMU_URING_RAISE, 0, 0, 0));
	self->e.fd = fd;
}

/* By a worker thread of io_uring from the beginning. */
static int issue_async(struct engine *e, uint32_t op)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&e->ring);
	int ret, res;

	if (!sqe)
		abort();
	memset(sqe, 0, sizeof(*sqe));
	sqe->opcode = IORING_OP_URING_CMD;
	sqe->fd = e->fd;
	sqe->cmd_op = op;
	sqe->user_data = 98;
	sqe->flags = IOSQE_ASYNC;
	io_uring_submit(&e->ring);
	ret = engine_result(e, 98, 2000, &res);
	return ret ? ret : res;
}

/* A worker does only what a thread of the engine left to it, and none has come yet. */
TEST_F(garbage_uring, async)
{
	static const uint32_t ops[] = {
		GPUEMU_URING_RAISE, GPUEMU_URING_WAIT, GPUEMU_URING_FETCH,
		GPUEMU_URING_COMMIT, GPUEMU_URING_COMMIT_AND_FETCH,
	};

	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++)
		EXPECT_EQ(-EOPNOTSUPP, issue_async(&self->e, ops[i]));
	EXPECT_EQ(-EAGAIN, issue(&self->e, GPUEMU_URING_RAISE, 0, 0, 0));
	EXPECT_EQ(-EFAULT, issue(&self->e, GPUEMU_URING_COMMIT, BAD, 0, 0));
	EXPECT_EQ(-EAGAIN, issue_async(&self->e, GPUEMU_URING_RAISE));
	EXPECT_EQ(-EFAULT, issue_async(&self->e, GPUEMU_URING_COMMIT));
	EXPECT_EQ(-EOPNOTSUPP, issue_async(&self->e, GPUEMU_URING_WAIT));
	EXPECT_EQ(-EOPNOTSUPP, issue_async(&self->e, GPUEMU_URING_FETCH));
}

/* A registered buffer is none of a command's arguments. */
TEST_F(garbage_uring, flags)
{
	struct io_uring *ring = &self->e.ring;
	static char bytes[64];
	struct iovec buffer = { bytes, sizeof(bytes) };
	struct io_uring_sqe *sqe;
	int res;

	ASSERT_EQ(0, io_uring_register_buffers(ring, &buffer, 1));
	sqe = io_uring_get_sqe(ring);
	memset(sqe, 0, sizeof(*sqe));
	sqe->opcode = IORING_OP_URING_CMD;
	sqe->fd = self->e.fd;
	sqe->cmd_op = GPUEMU_URING_FETCH;
	sqe->user_data = 97;
	sqe->rw_flags = IORING_URING_CMD_FIXED;
	io_uring_submit(ring);
	ASSERT_EQ(0, engine_result(&self->e, 97, 2000, &res));
	EXPECT_EQ(-EOPNOTSUPP, res);
	ASSERT_EQ(0, io_uring_unregister_buffers(ring));
}

TEST_F(garbage_uring, twice)
{
	struct engine *e = &self->e;

	EXPECT_EQ(-EAGAIN, issue(e, GPUEMU_URING_RAISE, 0, 0, 0));
	EXPECT_EQ(PENDING, issue(e, GPUEMU_URING_FETCH, 0, 0, 0));
	EXPECT_EQ(-EBUSY, issue(e, GPUEMU_URING_FETCH, 0, 0, 0));
	EXPECT_EQ(PENDING, issue(e, GPUEMU_URING_WAIT, 0, 0, 0));
	EXPECT_EQ(-EBUSY, issue(e, GPUEMU_URING_WAIT, 0, 0, 0));
	EXPECT_EQ(-EBUSY, issue(e, GPUEMU_URING_RAISE, 0,
				GPUEMU_RAISE_EMPTY_OK, 0));
}

TEST_F(garbage_uring, raise_while_served)
{
	struct engine *e = &self->e;

	engine_fault(e, self->space, self->mem, GPUEMU_ACCESS_READ);
	ASSERT_EQ(1, engine_raise(e, 0));
	engine_fault(e, self->space, self->mem, GPUEMU_ACCESS_READ);
	EXPECT_EQ(-EBUSY, issue(e, GPUEMU_URING_RAISE, 0, 0, 0));
	EXPECT_EQ(-EBUSY, issue(e, GPUEMU_URING_WAIT, 0, 0, 0));
	ASSERT_EQ(0, engine_commit(e, NULL, 0));
	/* The record was not lost. */
	ASSERT_EQ(1, engine_raise(e, 0));
	ASSERT_EQ(0, engine_commit(e, NULL, 0));
}

static int commit(struct engine *e, struct gpuemu_commit *commit)
{
	return issue(e, GPUEMU_URING_COMMIT, (uintptr_t)commit, 0, 0);
}

TEST_F(garbage_uring, commit)
{
	struct engine *e = &self->e;
	struct gpuemu_migration m = {
		.addr = (uintptr_t)self->mem, .va_space = self->space,
		.pages = 1, .op = GPUEMU_MIGRATE_H2D,
	};
	struct gpuemu_commit good = {
		.size = sizeof(good), .count = 1, .migrations = (uintptr_t)&m,
	}, bad;
	uint8_t larger[sizeof(good) + 8] = { 0 };

	/* No batch at all. */
	good.gen = e->control->batch.gen;
	EXPECT_EQ(-ESTALE, commit(e, &good));
	engine_fault(e, self->space, self->mem, GPUEMU_ACCESS_READ);
	ASSERT_EQ(1, engine_raise(e, 0));
	good.gen = e->control->batch.gen;

	EXPECT_EQ(-EFAULT, issue(e, GPUEMU_URING_COMMIT, 0, 0, 0));
	EXPECT_EQ(-EFAULT, issue(e, GPUEMU_URING_COMMIT, BAD, 0, 0));
	EXPECT_EQ(-EFAULT, issue(e, GPUEMU_URING_COMMIT, ~0ull - 3, 0, 0));
	EXPECT_EQ(-EFAULT, issue(e, GPUEMU_URING_COMMIT_AND_FETCH, BAD, 0, 0));
	bad = good;
	bad.size = sizeof(good) - 1;
	EXPECT_EQ(-EINVAL, commit(e, &bad));
	bad.size = 0;
	EXPECT_EQ(-EINVAL, commit(e, &bad));
	bad.size = ~0u;
	EXPECT_EQ(-E2BIG, commit(e, &bad));
	bad = good;
	bad.gen++;
	EXPECT_EQ(-ESTALE, commit(e, &bad));
	bad.gen = 0;
	EXPECT_EQ(-ESTALE, commit(e, &bad));
	bad = good;
	bad.flags = 2;
	EXPECT_EQ(-EOPNOTSUPP, commit(e, &bad));
	bad = good;
	bad.count = GPUEMU_COMMIT_MAX + 1;
	EXPECT_EQ(-E2BIG, commit(e, &bad));
	bad.count = ~0u;
	EXPECT_EQ(-E2BIG, commit(e, &bad));
	bad = good;
	bad.migrations = BAD;
	EXPECT_EQ(-EFAULT, commit(e, &bad));
	memcpy(larger, &good, sizeof(good));
	((struct gpuemu_commit *)larger)->size = sizeof(larger);
	larger[sizeof(good)] = 1;
	EXPECT_EQ(-E2BIG, commit(e, (void *)larger));

	/* Nothing of this moved anything, and the batch is still ours. */
	EXPECT_EQ(0, engine_resident(e, self->space, self->mem, 1));
	EXPECT_FALSE(engine_has_result(e, GPUEMU_URING_RAISE));
	larger[sizeof(good)] = 0;
	EXPECT_EQ(1, commit(e, (void *)larger));
	EXPECT_EQ(1, engine_resident(e, self->space, self->mem, 1));
	EXPECT_EQ(-ESTALE, commit(e, &good));
}

/* Results that cannot be written: the work is done and replayed all the same. */
TEST_F(garbage_uring, commit_into_readonly)
{
	struct engine *e = &self->e;
	struct gpuemu_migration *m = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
					  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct gpuemu_commit c = {
		.size = sizeof(c), .count = 1, .migrations = (uintptr_t)m,
	};
	int res;

	m->addr = (uintptr_t)self->mem;
	m->va_space = self->space;
	m->pages = 1;
	m->op = GPUEMU_MIGRATE_H2D;
	mprotect(m, PAGE, PROT_READ);
	ASSERT_EQ(0, engine_raise(e, GPUEMU_RAISE_EMPTY_OK));
	c.gen = e->control->batch.gen;
	EXPECT_EQ(-EFAULT, commit(e, &c));
	ASSERT_EQ(0, engine_result(e, GPUEMU_URING_RAISE, 1000, &res));
	EXPECT_EQ(0, res);
	EXPECT_EQ(1, engine_resident(e, self->space, self->mem, 1));
}

/* Descriptors in managed memory: reading them takes a CPU fault in COMMIT. */
TEST_F(garbage_uring, commit_from_managed_memory)
{
	struct engine *e = &self->e;
	struct gpuemu_migration *m = (void *)(self->mem + BLOCK);
	uint8_t copy[4 * PAGE];

	memcpy(copy, self->mem, sizeof(copy));
	memset(m, 0, PAGE);
	m->addr = (uintptr_t)self->mem;
	m->va_space = self->space;
	m->pages = 4;
	m->op = GPUEMU_MIGRATE_H2D;
	ASSERT_EQ(0, engine_h2d(e, self->space, m, 1));
	ASSERT_EQ(0, engine_raise(e, GPUEMU_RAISE_EMPTY_OK));
	EXPECT_EQ(1, engine_commit(e, m, 1));
	EXPECT_EQ(0, m->status);
	EXPECT_EQ(4, m->moved);
	EXPECT_EQ(0, memcmp(self->mem, copy, sizeof(copy)));
}

TEST_F(garbage_uring, migrations)
{
	struct engine *e = &self->e;
	uint64_t at = (uintptr_t)self->mem;
	uint32_t s = self->space;
	struct {
		struct gpuemu_migration m;
		int status;
	} t[] = {
		{ { .addr = at, .va_space = s, .pages = 0, .op = 1 }, -EINVAL },
		{ { .addr = at, .va_space = s, .pages = 513, .op = 1 }, -EINVAL },
		{ { .addr = at, .va_space = s, .pages = 65535, .op = 1 }, -EINVAL },
		{ { .addr = at, .va_space = s, .pages = 1, .op = 0 }, -EINVAL },
		{ { .addr = at, .va_space = s, .pages = 1, .op = 5 }, -EINVAL },
		{ { .addr = at, .va_space = s, .pages = 1, .op = 255 }, -EINVAL },
		{ { .addr = at, .va_space = s, .pages = 1, .op = 1,
		    .reserved = 1 }, -EINVAL },
		{ { .addr = at + 1, .va_space = s, .pages = 1, .op = 1 }, -EINVAL },
		/* Across two blocks; beyond the end of the world. */
		{ { .addr = at + BLOCK - PAGE, .va_space = s, .pages = 2,
		    .op = 1 }, -EINVAL },
		{ { .addr = 1ull << 47, .va_space = s, .pages = 1, .op = 1 },
		  -EINVAL },
		{ { .addr = -(uint64_t)PAGE, .va_space = s, .pages = 2, .op = 1 },
		  -EINVAL },
		{ { .addr = (1ull << 47) - PAGE, .va_space = s, .pages = 1,
		    .op = 1 }, -EFAULT },
		{ { .addr = 0, .va_space = s, .pages = 512, .op = 1 }, -EFAULT },
		{ { .addr = at + 2 * BLOCK, .va_space = s, .pages = 1, .op = 1 },
		  -EFAULT },
		{ { .addr = at + 2 * BLOCK, .va_space = s, .pages = 1, .op = 2 },
		  -EFAULT },
		{ { .addr = at, .va_space = 0, .pages = 1, .op = 1 }, -ESRCH },
		{ { .addr = at, .va_space = ~0u, .pages = 1, .op = 1 }, -ESRCH },
		{ { .addr = at, .va_space = s + 100000, .pages = 1, .op = 2 },
		  -ESRCH },
		/* Among all this, one that is right. */
		{ { .addr = at, .va_space = s, .pages = 1, .op = 1 }, 0 },
		/* Nothing to do is done. */
		{ { .addr = at, .va_space = s, .pages = 1, .op = 1 }, 0 },
		{ { .addr = at + PAGE, .va_space = s, .pages = 1, .op = 2 }, 0 },
	};
	enum { N = sizeof(t) / sizeof(t[0]) };
	struct gpuemu_migration m[N];
	uint32_t moved = 0;
	int i;

	for (i = 0; i < N; i++)
		m[i] = t[i].m;
	ASSERT_EQ(0, engine_raise(e, GPUEMU_RAISE_EMPTY_OK));
	EXPECT_EQ(3, engine_commit(e, m, N));
	for (i = 0; i < N; i++) {
		EXPECT_EQ(t[i].status, m[i].status) TH_LOG("row %d", i);
		moved += m[i].moved;
	}
	EXPECT_EQ(1, moved);
	EXPECT_EQ(1, engine_resident(e, s, self->mem, 512));
}

/* A run that is managed in part: that part moves. */
TEST_F(garbage_uring, partly_managed)
{
	struct engine *e = &self->e;
	struct gpuemu_migration m = {
		.addr = (uintptr_t)self->mem, .va_space = self->space,
		.pages = 8, .op = GPUEMU_MIGRATE_H2D,
	};

	ASSERT_EQ(0, munmap(self->mem + 2 * PAGE, 3 * PAGE));
	ASSERT_EQ(0, engine_raise(e, GPUEMU_RAISE_EMPTY_OK));
	EXPECT_EQ(0, engine_commit(e, &m, 1));
	EXPECT_EQ(-EFAULT, m.status);
	EXPECT_EQ(5, m.moved);
	EXPECT_EQ(5, engine_resident(e, self->space, self->mem, 8));
}

TEST_F(garbage_uring, records)
{
	struct engine *e = &self->e;
	const struct gpuemu_batch *batch = &e->control->batch;
	struct gpuemu_fault good = {
		.addr = (uintptr_t)self->mem, .va_space = self->space,
		.access = GPUEMU_ACCESS_READ, .valid = 1,
	}, bad;
	int n = 0;

#define ADD(field, value) do { \
		bad = good; bad.field = value; engine_record(e, &bad); n++; \
	} while (0)
	/* First, as RAISE waits for no other one. */
	ADD(valid, 0);
	ADD(addr, (uintptr_t)self->mem + 1);
	ADD(addr, 1ull << 47);
	ADD(addr, ~0xfffull);
	ADD(va_space, 0);
	ADD(access, 4);
	ADD(access, 255);
	ADD(valid, 2);
	ADD(flags, 1);
	ADD(flags, 0x80);
	ADD(reserved, 1);
	ADD(reserved2, 1);
	engine_record(e, &good);
	ASSERT_EQ(1, engine_raise(e, 0));
	EXPECT_EQ(n + 1, batch->raw);
	EXPECT_EQ(n, batch->dropped);
	EXPECT_EQ(1, batch->count);
	EXPECT_EQ((uintptr_t)self->mem, batch->faults[0].addr);
	EXPECT_EQ(1, batch->faults[0].merged);
	ASSERT_EQ(0, engine_commit(e, NULL, 0));
	/* A batch of nothing but garbage is replayed: the GPU asks again. */
	ADD(access, 9);
	ASSERT_EQ(0, engine_raise(e, 0));
	EXPECT_EQ(1, batch->raw);
	EXPECT_EQ(1, batch->dropped);
	EXPECT_EQ(0, batch->count);
	ASSERT_EQ(0, engine_commit(e, NULL, 0));
}

/* A PUT that cannot be: the buffer is flushed, and works again. */
TEST_F(garbage_uring, put)
{
	struct engine *e = &self->e;
	uint32_t n = e->attach.fault_entries;

	e->faults->put = n + 1;
	EXPECT_EQ(-EINVAL, engine_raise(e, 0));
	EXPECT_EQ(n + 1, e->faults->get);
	e->faults->put = n;
	EXPECT_EQ(-EINVAL, engine_raise(e, 0));
	e->faults->put = 0x80000000;
	EXPECT_EQ(-EINVAL, engine_raise(e, 0));
	e->put = e->faults->get;
	/* The module keeps its own GET. */
	e->faults->get = 12345;
	engine_fault(e, self->space, self->mem, GPUEMU_ACCESS_READ);
	EXPECT_EQ(1, engine_raise(e, 0));
	EXPECT_EQ(e->put, e->faults->get);
	EXPECT_EQ(0, engine_commit(e, NULL, 0));
	/* PUT moves without a record: what is there was taken before. */
	e->faults->put = e->put + 200;
	e->put += 200;
	EXPECT_EQ(0, engine_raise(e, 0));
	EXPECT_EQ(200, e->control->batch.dropped);
	EXPECT_EQ(0, engine_commit(e, NULL, 0));
}

struct scribbler {
	struct engine *e;
	uint32_t rounds;
	bool stop;
};

/* Writes records, good ones that turn bad and back, while they are read. */
static void *scribble(void *arg)
{
	struct scribbler *s = arg;
	struct gpuemu_fault *entries = s->e->faults->entries;
	volatile struct gpuemu_fault *f;
	uint32_t x = 1;

	while (!__atomic_load_n(&s->stop, __ATOMIC_ACQUIRE)) {
		x = x * 1664525 + 1013904223;
		f = &entries[(x >> 8) % s->e->attach.fault_entries];
		f->addr = (uint64_t)x << GPUEMU_PAGE_SHIFT;
		f->va_space = 1 + (x >> 30);
		f->valid = 1;
		f->addr = x >> 29 ? f->addr : ~0ull;
		f->access = x >> 27 ? 0 : 77;
		f->flags = x >> 26 ? 0 : 77;
		__atomic_fetch_add(&s->rounds, 1, __ATOMIC_RELEASE);
	}
	return NULL;
}

/* The buffer changes while the module reads it. */
TEST_F(garbage_uring, records_that_change)
{
	struct engine *e = &self->e;
	const struct gpuemu_batch *batch = &e->control->batch;
	struct scribbler s = { .e = e };
	const struct gpuemu_fault *f;
	uint32_t i, k, faults = 0;
	pthread_t thread;

	ASSERT_EQ(0, pthread_create(&thread, NULL, scribble, &s));
	while (__atomic_load_n(&s.rounds, __ATOMIC_ACQUIRE) < 10000)
		usleep(1000);
	for (i = 0; i < 200; i++) {
		e->put += GPUEMU_BATCH_MAX;
		__atomic_store_n(&e->faults->put, e->put, __ATOMIC_RELEASE);
		ASSERT_LE(0, engine_raise(e, 0));
		/* It ends where an entry is not written; the rest is flushed. */
		ASSERT_LE(1, batch->raw);
		ASSERT_GE(GPUEMU_BATCH_MAX, batch->raw);
		for (k = 0; k < batch->count; k++) {
			f = &batch->faults[k];
			ASSERT_EQ(0, f->addr % PAGE);
			ASSERT_GT(1ull << 47, f->addr);
			ASSERT_GE(GPUEMU_ACCESS_ATOMIC, f->access);
			ASSERT_EQ(0, f->flags & ~3);
		}
		faults += batch->count;
		ASSERT_EQ(0, engine_commit(e, NULL, 0));
	}
	EXPECT_LT(0, faults);
	__atomic_store_n(&s.stop, true, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
}

TEST_HARNESS_MAIN
