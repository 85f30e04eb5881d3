// SPDX-License-Identifier: GPL-2.0
/*
 * From a far fault to its replay: batches, their order and marks, the time
 * stamps, and pages that were prefetched.
 */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/harness.h"
#include "lib/knob.h"
#include "lib/lib.h"

FIXTURE(far_fault)
{
	struct engine e;
	int fd;
	uint32_t space;
	uint8_t *mem;
	uint8_t copy[3 * PAGE];
};

FIXTURE_SETUP(far_fault)
{
	ASSERT_EQ(0, engine_open(&self->e));
	engine_acker_start(&self->e);
	self->fd = client_open();
	ASSERT_LE(0, self->fd);
	self->space = client_space(self->fd);
	self->mem = map_managed(self->fd, 2 * BLOCK);
	ASSERT_NE(NULL, self->mem);
}

FIXTURE_TEARDOWN(far_fault)
{
	munmap(self->mem, 2 * BLOCK);
	close(self->fd);
	engine_close(&self->e);
}

TEST_F(far_fault, one_page)
{
	const struct gpuemu_stamps *s = &self->e.control->stamps;
	const struct gpuemu_batch *batch = &self->e.control->batch;
	struct gpuemu_migration m = {
		.addr = (uintptr_t)self->mem + PAGE, .va_space = self->space,
		.pages = 1, .op = GPUEMU_MIGRATE_H2D, .status = 1,
	};
	uint8_t *page;

	fill(self->copy, sizeof(self->copy), 7);
	memcpy(self->mem, self->copy, sizeof(self->copy));
	ASSERT_EQ(NULL, engine_page(&self->e, self->space, self->mem + PAGE));
	engine_fault(&self->e, self->space, self->mem + PAGE,
		     GPUEMU_ACCESS_WRITE);
	ASSERT_EQ(1, engine_raise(&self->e, 0));
	EXPECT_EQ(1, batch->count);
	EXPECT_EQ(1, batch->raw);
	EXPECT_EQ(0, batch->dropped);
	EXPECT_EQ((uintptr_t)self->mem + PAGE, batch->faults[0].addr);
	EXPECT_EQ(self->space, batch->faults[0].va_space);
	EXPECT_EQ(GPUEMU_ACCESS_WRITE, batch->faults[0].access);
	EXPECT_EQ(0, batch->faults[0].flags);
	EXPECT_EQ(1, self->e.faults->get);
	/* RAISE waits for the replay. */
	EXPECT_FALSE(engine_has_result(&self->e, GPUEMU_URING_RAISE));

	ASSERT_EQ(1, engine_commit(&self->e, &m, 1));
	EXPECT_EQ(0, m.status);
	EXPECT_EQ(1, m.moved);
	page = engine_page(&self->e, self->space, self->mem + PAGE);
	ASSERT_NE(NULL, page);
	EXPECT_EQ(NULL, engine_page(&self->e, self->space, self->mem));
	EXPECT_EQ(NULL, engine_page(&self->e, self->space,
				    self->mem + 2 * PAGE));

	EXPECT_EQ(batch->gen, s->gen);
	EXPECT_EQ(1, s->faults);
	EXPECT_EQ(1, s->h2d_pages);
	EXPECT_EQ(0, s->d2h_pages);
	EXPECT_LT(0, s->raised);
	EXPECT_LT(s->raised, s->fetched);
	EXPECT_LT(s->fetched, s->committed);
	EXPECT_LT(s->committed, s->done);
	EXPECT_LT(s->done, s->replayed);
	EXPECT_LT(0, s->unmap_ns);
	EXPECT_LT(0, s->copy_ns);
	EXPECT_LT(0, s->map_ns);
	EXPECT_EQ(0, s->evict_ns);
	EXPECT_LE(s->unmap_ns + s->copy_ns + s->map_ns, s->done - s->committed);

	/* The content went and comes back, with what the GPU did to it. */
	EXPECT_EQ(0, memcmp(page, self->copy + PAGE, PAGE));
	page[5]++;
	EXPECT_EQ(self->copy[PAGE + 5] + 1, self->mem[PAGE + 5]);
	self->mem[PAGE + 5]--;
	EXPECT_EQ(0, memcmp(self->mem, self->copy, sizeof(self->copy)));
	EXPECT_EQ(NULL, engine_page(&self->e, self->space, self->mem + PAGE));
}

/* Records of one page become one fault with the strongest access. */
TEST_F(far_fault, merge_and_sort)
{
	const struct gpuemu_batch *batch = &self->e.control->batch;
	static const enum gpuemu_access access[] = {
		GPUEMU_ACCESS_READ, GPUEMU_ACCESS_ATOMIC,
		GPUEMU_ACCESS_PREFETCH, GPUEMU_ACCESS_WRITE,
	};
	int fd = client_open(), i;
	uint32_t other = client_space(fd);

	ASSERT_LT(self->space, other);
	engine_fault(&self->e, other, self->mem, GPUEMU_ACCESS_READ);
	for (i = 0; i < 4; i++)
		engine_fault(&self->e, self->space, self->mem + 5 * PAGE,
			     access[i]);
	engine_fault(&self->e, self->space, self->mem + BLOCK,
		     GPUEMU_ACCESS_READ);
	engine_fault(&self->e, self->space, self->mem + 2 * PAGE,
		     GPUEMU_ACCESS_PREFETCH);
	engine_fault(&self->e, self->space, self->mem + BLOCK,
		     GPUEMU_ACCESS_READ);
	ASSERT_EQ(4, engine_raise(&self->e, 0));
	EXPECT_EQ(4, batch->count);
	EXPECT_EQ(8, batch->raw);
	EXPECT_EQ(0, batch->dropped);
	EXPECT_EQ((uintptr_t)self->mem + 2 * PAGE, batch->faults[0].addr);
	EXPECT_EQ(1, batch->faults[0].merged);
	EXPECT_EQ((uintptr_t)self->mem + 5 * PAGE, batch->faults[1].addr);
	EXPECT_EQ(4, batch->faults[1].merged);
	EXPECT_EQ(GPUEMU_ACCESS_ATOMIC, batch->faults[1].access);
	EXPECT_EQ((uintptr_t)self->mem + BLOCK, batch->faults[2].addr);
	EXPECT_EQ(2, batch->faults[2].merged);
	EXPECT_EQ(other, batch->faults[3].va_space);
	/* The other space has no memory there. */
	EXPECT_EQ(0, batch->faults[2].flags);
	EXPECT_EQ(GPUEMU_FAULT_UNMANAGED, batch->faults[3].flags);
	ASSERT_EQ(0, engine_commit(&self->e, NULL, 0));
	close(fd);
}

TEST_F(far_fault, unmanaged)
{
	const struct gpuemu_batch *batch = &self->e.control->batch;
	struct gpuemu_migration m = {
		.addr = (uintptr_t)self->mem + 2 * BLOCK,
		.va_space = self->space, .pages = 1, .op = GPUEMU_MIGRATE_H2D,
	};

	engine_fault(&self->e, self->space, self->mem + 2 * BLOCK,
		     GPUEMU_ACCESS_READ);
	engine_fault(&self->e, self->space, NULL, GPUEMU_ACCESS_READ);
	engine_fault(&self->e, 0x7fffffff, self->mem, GPUEMU_ACCESS_READ);
	ASSERT_EQ(3, engine_raise(&self->e, 0));
	EXPECT_EQ(GPUEMU_FAULT_UNMANAGED, batch->faults[0].flags);
	EXPECT_EQ(GPUEMU_FAULT_UNMANAGED, batch->faults[1].flags);
	EXPECT_EQ(GPUEMU_FAULT_UNMANAGED, batch->faults[2].flags);
	EXPECT_EQ(0, engine_commit(&self->e, &m, 1));
	EXPECT_EQ(-EFAULT, m.status);
	EXPECT_EQ(0, m.moved);
}

/* What came along with a fault does not fault: the walk finds it. */
TEST_F(far_fault, prefetched)
{
	const struct gpuemu_batch *batch = &self->e.control->batch;
	struct gpuemu_migration m = {
		.addr = (uintptr_t)self->mem, .va_space = self->space,
		.pages = 16, .op = GPUEMU_MIGRATE_H2D, .status = 1,
	};
	int i;

	fill(self->mem, 20 * PAGE, 9);
	engine_fault(&self->e, self->space, self->mem, GPUEMU_ACCESS_READ);
	ASSERT_EQ(1, engine_raise(&self->e, 0));
	ASSERT_EQ(1, engine_commit(&self->e, &m, 1));
	EXPECT_EQ(16, m.moved);
	EXPECT_EQ(16, self->e.control->stamps.h2d_pages);
	EXPECT_EQ(16, engine_resident(&self->e, self->space, self->mem, 20));
	/* A record that was on its way is marked: a replay is enough. */
	for (i = 14; i < 18; i++)
		engine_fault(&self->e, self->space, self->mem + i * PAGE,
			     GPUEMU_ACCESS_READ);
	ASSERT_EQ(4, engine_raise(&self->e, 0));
	for (i = 14; i < 18; i++)
		EXPECT_EQ(i < 16 ? GPUEMU_FAULT_RESIDENT : 0,
			  batch->faults[i - 14].flags);
	/* Migrating what is there already is done, and moves nothing. */
	m.status = 1;
	ASSERT_EQ(1, engine_commit(&self->e, &m, 1));
	EXPECT_EQ(0, m.status);
	EXPECT_EQ(0, m.moved);
	EXPECT_TRUE(filled(self->mem, 20 * PAGE, 9));
}

/* A batch takes GPUEMU_BATCH_MAX records; the rest waits for the next RAISE. */
TEST_F(far_fault, long_queue)
{
	const struct gpuemu_batch *batch = &self->e.control->batch;
	uint32_t n = self->e.attach.fault_entries, i, batches = 0;

	ASSERT_EQ(0, knob_set("replay_policy", 1));
	for (i = 0; i < n; i++)
		engine_fault(&self->e, self->space,
			     self->mem + i % 512 * PAGE, GPUEMU_ACCESS_READ);
	for (i = 0; i < n; i += batch->raw, batches++) {
		ASSERT_EQ(GPUEMU_BATCH_MAX, engine_raise(&self->e, 0));
		EXPECT_EQ(GPUEMU_BATCH_MAX, batch->raw);
		EXPECT_EQ(batches + 1, batch->gen);
		ASSERT_EQ(0, engine_commit(&self->e, NULL, 0));
	}
	EXPECT_EQ(n, self->e.faults->get);
	EXPECT_EQ(-EAGAIN, engine_raise(&self->e, 0));
	ASSERT_EQ(0, knob_set("replay_policy", 2));
}

/* COMMIT_AND_FETCH: the replay of one batch, and the next batch in one go. */
TEST_F(far_fault, commit_and_fetch)
{
	struct gpuemu_migration m = {
		.addr = (uintptr_t)self->mem, .va_space = self->space,
		.pages = 1, .op = GPUEMU_MIGRATE_H2D, .status = 1,
	};
	struct gpuemu_commit commit = {
		.size = sizeof(commit), .count = 1,
		.migrations = (uintptr_t)&m,
	};
	int i, res;

	engine_fault(&self->e, self->space, self->mem, GPUEMU_ACCESS_READ);
	ASSERT_EQ(1, engine_raise(&self->e, 0));
	for (i = 0; i < 5; i++) {
		m.addr = (uintptr_t)self->mem + i * PAGE;
		m.status = 1;
		commit.gen = self->e.control->batch.gen;
		engine_issue(&self->e, GPUEMU_URING_COMMIT_AND_FETCH,
			     (uintptr_t)&commit, 0);
		ASSERT_EQ(0, engine_result(&self->e, GPUEMU_URING_RAISE, 10000,
					   &res));
		ASSERT_EQ(0, res);
		EXPECT_EQ(0, m.status);
		EXPECT_FALSE(engine_has_result(&self->e,
					       GPUEMU_URING_COMMIT_AND_FETCH));
		engine_fault(&self->e, self->space, self->mem + i * PAGE,
			     GPUEMU_ACCESS_READ);
		engine_fault(&self->e, self->space, self->mem + i * PAGE + PAGE,
			     GPUEMU_ACCESS_READ);
		engine_issue(&self->e, GPUEMU_URING_RAISE, 0, 0);
		ASSERT_EQ(0, engine_result(&self->e,
					   GPUEMU_URING_COMMIT_AND_FETCH, 2000,
					   &res));
		ASSERT_EQ(2, res);
		EXPECT_EQ(GPUEMU_FAULT_RESIDENT,
			  self->e.control->batch.faults[0].flags);
	}
	EXPECT_EQ(5, engine_resident(&self->e, self->space, self->mem, 16));
}

/* RAISE and its replay on one thread, FETCH and COMMIT on another. */
static void *serve_thread(void *arg)
{
	FIXTURE_DATA(far_fault) *self = arg;
	struct gpuemu_migration m[GPUEMU_BATCH_MAX];
	struct gpuemu_commit commit = {
		.size = sizeof(commit), .migrations = (uintptr_t)m,
	};
	struct engine service = self->e;
	uint32_t op = GPUEMU_URING_FETCH;
	int res, i;

	io_uring_queue_init(4, &service.ring, 0);
	service.nresults = 0;
	for (;;) {
		engine_issue(&service, op, op == GPUEMU_URING_FETCH ? 0 :
			     (uintptr_t)&commit, 0);
		if (engine_result(&service, op, 10000, &res) || res <= 0)
			break;
		for (i = 0; i < res; i++) {
			memset(&m[i], 0, sizeof(m[i]));
			m[i].addr = self->e.control->batch.faults[i].addr;
			m[i].va_space = self->space;
			m[i].pages = 1;
			m[i].op = GPUEMU_MIGRATE_H2D;
		}
		commit.gen = self->e.control->batch.gen;
		commit.count = res;
		op = GPUEMU_URING_COMMIT_AND_FETCH;
	}
	io_uring_queue_exit(&service.ring);
	return NULL;
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static uint64_t median(uint64_t *v, int n)
{
	qsort(v, n, sizeof(*v), by_value);
	return v[n / 2];
}

static void measure(struct __test_metadata *_metadata,
		    FIXTURE_DATA(far_fault) *self, const char *where)
{
	enum { N = 200 };
	static uint64_t fetch[N], decide[N], unmap[N], copy[N], map[N],
			serve[N], replay[N], total[N];
	const struct gpuemu_stamps *s = &self->e.control->stamps;
	pthread_t thread;
	int i, res;

	fill(self->mem, N * PAGE, 13);
	ASSERT_EQ(0, pthread_create(&thread, NULL, serve_thread, self));
	for (i = 0; i < N; i++) {
		engine_fault(&self->e, self->space, self->mem + i * PAGE,
			     GPUEMU_ACCESS_READ);
		engine_issue(&self->e, GPUEMU_URING_RAISE, 0, 0);
		ASSERT_EQ(0, engine_result(&self->e, GPUEMU_URING_RAISE, 10000,
					   &res));
		ASSERT_EQ(0, res);
		ASSERT_EQ(1, s->h2d_pages);
		fetch[i] = s->fetched - s->raised;
		decide[i] = s->committed - s->fetched;
		unmap[i] = s->unmap_ns;
		copy[i] = s->copy_ns;
		map[i] = s->map_ns;
		serve[i] = s->done - s->committed;
		replay[i] = s->replayed - s->done;
		total[i] = s->replayed - s->raised;
	}
	EXPECT_EQ(N, engine_resident(&self->e, self->space, self->mem, 512));
	TH_LOG("%s, p50 ns: raised to replayed %lu: fetch %lu decide %lu "
	       "serve %lu (unmap %lu copy %lu map %lu) replay %lu",
	       where, median(total, N), median(fetch, N), median(decide, N),
	       median(serve, N), median(unmap, N), median(copy, N),
	       median(map, N), median(replay, N));
	/*
	 * The empty batch ends the thread, which is the engine's: without it the engine
	 * is lost, and what the acker reads goes away.
	 */
	engine_acker_stop(&self->e);
	engine_issue(&self->e, GPUEMU_URING_RAISE, 0, GPUEMU_RAISE_EMPTY_OK);
	pthread_join(thread, NULL);
	EXPECT_TRUE(filled(self->mem, N * PAGE, 13));
}

TEST_F(far_fault, two_threads)
{
	measure(_metadata, self, "any CPU");
}

/* The engine thread is parked while it is served: one CPU is enough for both. */
TEST_F(far_fault, two_threads_one_cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(0, &set);
	ASSERT_EQ(0, sched_setaffinity(0, sizeof(set), &set));
	measure(_metadata, self, "one CPU");
}

TEST_HARNESS_MAIN
