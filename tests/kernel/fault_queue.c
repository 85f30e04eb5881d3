// SPDX-License-Identifier: GPL-2.0
/*
 * vm: fault_entries=64 vram_mb=4
 *
 * The rules of the fault queue: how many records a batch takes, entries that are
 * not written yet, merging, and the four replay policies. Whatever is dropped,
 * flushed or left, each access is served in the end.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/harness.h"
#include "lib/knob.h"
#include "lib/lib.h"
#include "lib/nl.h"

enum { BLOCKS = 4, ENTRIES = 64 };
enum { POLICY_BLOCK, POLICY_BATCH, POLICY_BATCH_FLUSH, POLICY_ONCE };

#define STAT(name) knob_stat(GPUEMU_A_STATS_##name)

FIXTURE(fault_queue)
{
	struct engine e;
	int fd;
	uint32_t space;
	uint8_t *mem;
	const struct gpuemu_batch *batch;
	struct gpuemu_migration m[GPUEMU_BATCH_MAX];
};

FIXTURE_SETUP(fault_queue)
{
	ASSERT_EQ(0, engine_open(&self->e));
	ASSERT_EQ(ENTRIES, self->e.attach.fault_entries);
	engine_acker_start(&self->e);
	self->fd = client_open();
	self->space = client_space(self->fd);
	self->mem = map_managed(self->fd, BLOCKS * BLOCK);
	ASSERT_NE(NULL, self->mem);
	self->batch = &self->e.control->batch;
}

FIXTURE_TEARDOWN(fault_queue)
{
	knob_set("fault_batch", 256);
	knob_set("replay_policy", POLICY_BATCH_FLUSH);
	knob_set("replay_update_put_ratio", 50);
	knob_set("max_batches_per_service", 20);
	close(self->fd);
	engine_close(&self->e);
}

static void setup(struct __test_metadata *_metadata, uint32_t policy, uint32_t batch)
{
	ASSERT_EQ(0, knob_set("replay_policy", policy));
	ASSERT_EQ(0, knob_set("fault_batch", batch));
}

/* Reads of pages first .. first + n - 1. */
static void fault_pages(FIXTURE_DATA(fault_queue) *self, int first, int n)
{
	int i;

	for (i = first; i < first + n; i++)
		engine_fault(&self->e, self->space, self->mem + i * PAGE,
			     GPUEMU_ACCESS_READ);
}

static int page_of(FIXTURE_DATA(fault_queue) *self, uint32_t i)
{
	return (self->batch->faults[i].addr - (uintptr_t)self->mem) / PAGE;
}

/* COMMIT alone; of an H2D migration of each fault that is not there. */
static int commit(FIXTURE_DATA(fault_queue) *self, bool serve)
{
	struct gpuemu_commit c = {
		.size = sizeof(c), .gen = self->batch->gen,
		.migrations = (uintptr_t)self->m,
	};
	const struct gpuemu_fault *f;
	int res;

	for (f = self->batch->faults; serve &&
	     f < self->batch->faults + self->batch->count; f++)
		if (!f->flags)
			self->m[c.count++] = (struct gpuemu_migration){
				.addr = f->addr, .va_space = f->va_space,
				.pages = 1, .op = GPUEMU_MIGRATE_H2D,
				.status = 1,
			};
	engine_issue(&self->e, GPUEMU_URING_COMMIT, (uintptr_t)&c, 0);
	return engine_result(&self->e, GPUEMU_URING_COMMIT, 5000, &res) ?: res;
}

static bool replayed(FIXTURE_DATA(fault_queue) *self)
{
	int res;

	return !engine_result(&self->e, GPUEMU_URING_RAISE, 5000, &res) && !res;
}

/* The next batch of the same pass. */
static int fetch(FIXTURE_DATA(fault_queue) *self)
{
	int res;

	engine_issue(&self->e, GPUEMU_URING_FETCH, 0, 0);
	return engine_result(&self->e, GPUEMU_URING_FETCH, 5000, &res) ?: res;
}

/* --- batches --- */

/* The limit is in records; those that are merged use it up, too. */
TEST_F(fault_queue, limit_is_raw)
{
	int i;

	setup(_metadata, POLICY_BATCH, 16);
	for (i = 0; i < 40; i++)
		engine_fault(&self->e, self->space, self->mem + i / 4 * PAGE,
			     GPUEMU_ACCESS_READ);
	for (i = 0; i < 40; i += 16) {
		ASSERT_EQ(i < 32 ? 4 : 2, engine_raise(&self->e, 0));
		EXPECT_EQ(i < 32 ? 16 : 8, self->batch->raw);
		EXPECT_EQ(4, self->batch->faults[0].merged);
		EXPECT_EQ(i / 4, page_of(self, 0));
		EXPECT_EQ(i < 32 ? 24 - i : 0, self->e.control->left);
		ASSERT_EQ(0, engine_commit(&self->e, NULL, 0));
	}
	EXPECT_EQ(-EAGAIN, engine_raise(&self->e, 0));
}

/* One page, many SMs: one fault with the strongest access, in whatever order they came. */
TEST_F(fault_queue, strongest_access)
{
	static const struct { uint8_t access[4], want; } rows[] = {
		{ { 0, 0, 0, 0 }, GPUEMU_ACCESS_PREFETCH },
		{ { 1, 0, 0, 1 }, GPUEMU_ACCESS_READ },
		{ { 0, 1, 2, 1 }, GPUEMU_ACCESS_WRITE },
		{ { 2, 0, 1, 0 }, GPUEMU_ACCESS_WRITE },
		{ { 3, 0, 1, 2 }, GPUEMU_ACCESS_ATOMIC },
		{ { 0, 2, 1, 3 }, GPUEMU_ACCESS_ATOMIC },
		{ { 1, 3, 3, 2 }, GPUEMU_ACCESS_ATOMIC },
	};
	enum { N = sizeof(rows) / sizeof(rows[0]) };
	struct gpuemu_fault f = { .va_space = self->space, .valid = 1 };
	int i, k;

	/* Interleaved, so that no two of a page are neighbours. */
	for (k = 0; k < 4; k++) {
		for (i = N - 1; i >= 0; i--) {
			f.addr = (uintptr_t)self->mem + i * PAGE;
			f.access = rows[i].access[k];
			f.sm = k;
			f.warp = 10 * k;
			engine_record(&self->e, &f);
		}
	}
	ASSERT_EQ(N, engine_raise(&self->e, 0));
	EXPECT_EQ(4 * N, self->batch->raw);
	for (i = 0; i < N; i++) {
		const struct gpuemu_fault *b = &self->batch->faults[i];

		EXPECT_EQ(i, page_of(self, i));
		EXPECT_EQ(rows[i].want, b->access) TH_LOG("row %d", i);
		EXPECT_EQ(4, b->merged);
		/* The record of the strongest, not a mixture. */
		EXPECT_EQ(rows[i].access[b->sm], b->access);
		EXPECT_EQ(10 * b->sm, b->warp);
	}
	ASSERT_EQ(0, engine_commit(&self->e, NULL, 0));
}

/* PUT is past it, its producer is not done: the batch ends before it. */
TEST_F(fault_queue, not_written_yet)
{
	uint32_t at = self->e.put + 2;

	setup(_metadata, POLICY_BATCH, 256);
	fault_pages(self, 0, 5);
	self->e.faults->entries[at % ENTRIES].valid = 0;
	ASSERT_EQ(2, engine_raise(&self->e, 0));
	EXPECT_EQ(2, self->batch->raw);
	EXPECT_EQ(0, self->batch->dropped);
	EXPECT_EQ(3, self->e.control->left);
	ASSERT_EQ(0, engine_commit(&self->e, NULL, 0));
	__atomic_store_n(&self->e.faults->entries[at % ENTRIES].valid, 1,
			 __ATOMIC_RELEASE);
	ASSERT_EQ(3, engine_raise(&self->e, 0));
	EXPECT_EQ(3, self->batch->raw);
	EXPECT_EQ(2, page_of(self, 0));
	ASSERT_EQ(0, engine_commit(&self->e, NULL, 0));
}

/* One that is never written holds nobody up, and is counted. */
TEST_F(fault_queue, never_written)
{
	uint64_t dropped = STAT(FAULTS_DROPPED), start = now_ms();
	uint32_t at = self->e.put;

	fault_pages(self, 0, 3);
	self->e.faults->entries[at % ENTRIES].valid = 0;
	self->e.faults->entries[(at + 1) % ENTRIES].valid = 0;
	ASSERT_EQ(1, engine_raise(&self->e, 0));
	EXPECT_GT(1000 * slowness(), now_ms() - start);
	EXPECT_EQ(3, self->batch->raw);
	EXPECT_EQ(2, self->batch->dropped);
	EXPECT_EQ(2, page_of(self, 0));
	EXPECT_EQ(dropped + 2, STAT(FAULTS_DROPPED));
	ASSERT_EQ(0, engine_commit(&self->e, NULL, 0));
}

/* --- replay policies --- */

/* What is left waits for the next RAISE. */
TEST_F(fault_queue, batch)
{
	uint64_t replays = STAT(REPLAYS);
	int want[] = { 8, 8, 4 }, i, k, page = 0;

	setup(_metadata, POLICY_BATCH, 8);
	fault_pages(self, 0, 20);
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(want[i], engine_raise(&self->e, 0));
		EXPECT_EQ(0, self->e.control->goes_on);
		for (k = 0; k < want[i]; k++)
			EXPECT_EQ(page++, page_of(self, k));
		ASSERT_EQ(0, engine_commit(&self->e, NULL, 0));
	}
	EXPECT_EQ(-EAGAIN, engine_raise(&self->e, 0));
	EXPECT_EQ(replays + 3, STAT(REPLAYS));
}

/* What is left is given up before the replay. */
TEST_F(fault_queue, batch_flush)
{
	uint64_t flushed = STAT(FAULTS_FLUSHED), replays = STAT(REPLAYS);

	setup(_metadata, POLICY_BATCH_FLUSH, 8);
	fault_pages(self, 0, 20);
	ASSERT_EQ(8, engine_raise(&self->e, 0));
	EXPECT_EQ(12, self->e.control->left);
	EXPECT_EQ(flushed, STAT(FAULTS_FLUSHED));
	ASSERT_EQ(0, engine_commit(&self->e, NULL, 0));
	EXPECT_EQ(self->e.put, self->e.faults->get);
	EXPECT_EQ(0, self->e.control->left);
	EXPECT_EQ(flushed + 12, STAT(FAULTS_FLUSHED));
	EXPECT_EQ(-EAGAIN, engine_raise(&self->e, 0));
	EXPECT_EQ(replays + 1, STAT(REPLAYS));
	/* And the buffer works again, the flushed slots too. */
	fault_pages(self, 30, 5);
	ASSERT_EQ(5, engine_raise(&self->e, 0));
	EXPECT_EQ(30, page_of(self, 0));
	ASSERT_EQ(0, engine_commit(&self->e, NULL, 0));
}

/* Where most were duplicates, what came since RAISE is flushed as well. */
TEST_F(fault_queue, flush_reads_put_again)
{
	uint64_t flushed = STAT(FAULTS_FLUSHED);
	int i;

	setup(_metadata, POLICY_BATCH_FLUSH, 256);
	fault_pages(self, 0, 8);
	ASSERT_EQ(8, engine_raise(&self->e, 0));
	fault_pages(self, 0, 5);
	ASSERT_EQ(0, engine_commit(&self->e, NULL, 0));
	EXPECT_EQ(flushed, STAT(FAULTS_FLUSHED));
	ASSERT_EQ(5, engine_raise(&self->e, 0));
	ASSERT_EQ(0, engine_commit(&self->e, NULL, 0));

	for (i = 0; i < 8; i++)
		fault_pages(self, 0, 1);
	ASSERT_EQ(1, engine_raise(&self->e, 0));
	fault_pages(self, 0, 5);
	ASSERT_EQ(0, engine_commit(&self->e, NULL, 0));
	EXPECT_EQ(flushed + 5, STAT(FAULTS_FLUSHED));
	EXPECT_EQ(-EAGAIN, engine_raise(&self->e, 0));
	/* Unless the ratio says that nothing is too much. */
	ASSERT_EQ(0, knob_set("replay_update_put_ratio", 100));
	for (i = 0; i < 8; i++)
		fault_pages(self, 0, 1);
	ASSERT_EQ(1, engine_raise(&self->e, 0));
	fault_pages(self, 0, 5);
	ASSERT_EQ(0, engine_commit(&self->e, NULL, 0));
	EXPECT_EQ(flushed + 5, STAT(FAULTS_FLUSHED));
	ASSERT_EQ(5, engine_raise(&self->e, 0));
	ASSERT_EQ(0, engine_commit(&self->e, NULL, 0));
}

/* All of the buffer, batch after batch, then one replay. */
TEST_F(fault_queue, once)
{
	const struct gpuemu_stamps *s = &self->e.control->stamps;
	uint64_t replays = STAT(REPLAYS), batches = STAT(BATCHES);
	int want[] = { 8, 8, 4 }, i, k, page = 0;

	setup(_metadata, POLICY_ONCE, 8);
	fault_pages(self, 0, 20);
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(want[i], i ? fetch(self) : engine_raise(&self->e, 0));
		EXPECT_EQ(i < 2, self->e.control->goes_on);
		for (k = 0; k < want[i]; k++)
			EXPECT_EQ(page++, page_of(self, k));
		EXPECT_FALSE(engine_has_result(&self->e, GPUEMU_URING_RAISE));
		/* The pages of a batch are there before the next one is. */
		ASSERT_EQ(want[i], commit(self, true));
		EXPECT_EQ(page, engine_resident(&self->e, self->space,
						self->mem, 32));
	}
	ASSERT_TRUE(replayed(self));
	EXPECT_EQ(replays + 1, STAT(REPLAYS));
	EXPECT_EQ(batches + 3, STAT(BATCHES));
	EXPECT_EQ(20, s->faults);
	EXPECT_EQ(20, s->h2d_pages);
	EXPECT_EQ(self->batch->gen, s->gen);
	EXPECT_LT(s->fetched, s->committed);
	EXPECT_LT(s->committed, s->done);
	EXPECT_EQ(-EAGAIN, engine_raise(&self->e, 0));
}

/* A pass ends, however much there is. */
TEST_F(fault_queue, once_is_bounded)
{
	int i;

	setup(_metadata, POLICY_ONCE, 8);
	ASSERT_EQ(0, knob_set("max_batches_per_service", 3));
	fault_pages(self, 0, 40);
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(8, i ? fetch(self) : engine_raise(&self->e, 0));
		ASSERT_EQ(0, commit(self, false));
	}
	ASSERT_TRUE(replayed(self));
	EXPECT_EQ(16, self->e.control->left);
	/* What comes while a pass is served is the next one's. */
	ASSERT_EQ(8, engine_raise(&self->e, 0));
	EXPECT_EQ(1, self->e.control->goes_on);
	fault_pages(self, 40, 10);
	ASSERT_EQ(0, commit(self, false));
	ASSERT_EQ(8, fetch(self));
	EXPECT_EQ(0, self->e.control->goes_on);
	ASSERT_EQ(0, commit(self, false));
	ASSERT_TRUE(replayed(self));
	ASSERT_EQ(8, engine_raise(&self->e, 0));
	EXPECT_EQ(40, page_of(self, 0));
	ASSERT_EQ(0, commit(self, false));
	ASSERT_EQ(2, fetch(self));
	ASSERT_EQ(0, commit(self, false));
	ASSERT_TRUE(replayed(self));
}

/* COMMIT_AND_FETCH goes on by itself. */
TEST_F(fault_queue, once_commit_and_fetch)
{
	struct gpuemu_commit c = { .size = sizeof(c) };
	int res, i;

	setup(_metadata, POLICY_ONCE, 10);
	fault_pages(self, 0, 30);
	ASSERT_EQ(10, engine_raise(&self->e, 0));
	for (i = 1; i < 3; i++) {
		c.gen = self->batch->gen;
		engine_issue(&self->e, GPUEMU_URING_COMMIT_AND_FETCH,
			     (uintptr_t)&c, 0);
		ASSERT_EQ(0, engine_result(&self->e,
					   GPUEMU_URING_COMMIT_AND_FETCH, 5000,
					   &res));
		ASSERT_EQ(10, res);
		EXPECT_EQ(10 * i, page_of(self, 0));
	}
	ASSERT_EQ(0, commit(self, false));
	ASSERT_TRUE(replayed(self));
}

/* One VA block a batch, one replay each; what fault again merges with what waits. */
TEST_F(fault_queue, block)
{
	enum { P = BLOCK / PAGE };
	uint64_t replays = STAT(REPLAYS);
	int i;

	setup(_metadata, POLICY_BLOCK, 256);
	for (i = 0; i < 3; i++) {
		fault_pages(self, 2 * P + i, 1);
		fault_pages(self, i, 1);
		fault_pages(self, P + i, 1);
	}
	ASSERT_EQ(3, engine_raise(&self->e, 0));
	EXPECT_EQ(9, self->batch->raw);
	EXPECT_EQ(6, self->e.control->left);
	EXPECT_EQ(0, page_of(self, 0));
	EXPECT_EQ(2, page_of(self, 2));
	ASSERT_EQ(3, commit(self, true));
	ASSERT_TRUE(replayed(self));
	EXPECT_EQ(replays + 1, STAT(REPLAYS));

	/* The first block comes again: it has to wait for its turn. */
	fault_pages(self, 9, 1);
	fault_pages(self, P, 3);
	ASSERT_EQ(3, engine_raise(&self->e, 0));
	EXPECT_EQ(P, page_of(self, 0));
	EXPECT_EQ(2, self->batch->faults[0].merged);
	EXPECT_EQ(4, self->e.control->left);
	ASSERT_EQ(3, commit(self, true));
	ASSERT_TRUE(replayed(self));
	/* No record is in the buffer, and yet there is something to serve. */
	ASSERT_EQ(3, engine_raise(&self->e, 0));
	EXPECT_EQ(0, self->batch->raw);
	EXPECT_EQ(2 * P, page_of(self, 0));
	ASSERT_EQ(3, commit(self, true));
	ASSERT_TRUE(replayed(self));
	ASSERT_EQ(1, engine_raise(&self->e, 0));
	EXPECT_EQ(9, page_of(self, 0));
	ASSERT_EQ(1, commit(self, true));
	ASSERT_TRUE(replayed(self));
	EXPECT_EQ(-EAGAIN, engine_raise(&self->e, 0));
	EXPECT_EQ(replays + 4, STAT(REPLAYS));
}

/* A block whose pages came meanwhile needs no service; but a pass has a replay. */
TEST_F(fault_queue, block_that_came)
{
	enum { P = BLOCK / PAGE };
	uint64_t resident = STAT(FAULTS_RESIDENT);

	setup(_metadata, POLICY_BLOCK, 256);
	fault_pages(self, 0, 2);
	fault_pages(self, P, 2);
	fault_pages(self, 2 * P, 2);
	ASSERT_EQ(2, engine_raise(&self->e, 0));
	self->m[0] = (struct gpuemu_migration){
		.addr = (uintptr_t)self->mem + BLOCK, .va_space = self->space,
		.pages = 2, .op = GPUEMU_MIGRATE_H2D,
	};
	ASSERT_EQ(1, engine_commit(&self->e, self->m, 1));
	ASSERT_EQ(2, engine_raise(&self->e, 0));
	EXPECT_EQ(2 * P, page_of(self, 0));
	EXPECT_EQ(resident + 2, STAT(FAULTS_RESIDENT));
	self->m[0].addr = (uintptr_t)self->mem;
	ASSERT_EQ(1, engine_commit(&self->e, self->m, 1));
	/* The last one is handed over, whatever it is. */
	fault_pages(self, 0, 1);
	ASSERT_EQ(1, engine_raise(&self->e, 0));
	EXPECT_EQ(GPUEMU_FAULT_RESIDENT, self->batch->faults[0].flags);
	ASSERT_EQ(0, engine_commit(&self->e, NULL, 0));
}

/* Whatever is held when the policy changes is served under the new one. */
TEST_F(fault_queue, policy_changes)
{
	enum { P = BLOCK / PAGE };

	setup(_metadata, POLICY_BLOCK, 256);
	fault_pages(self, 0, 2);
	fault_pages(self, P, 2);
	fault_pages(self, 2 * P, 2);
	ASSERT_EQ(2, engine_raise(&self->e, 0));
	ASSERT_EQ(0, knob_set("replay_policy", POLICY_BATCH));
	ASSERT_EQ(2, commit(self, true));
	ASSERT_TRUE(replayed(self));
	ASSERT_EQ(4, engine_raise(&self->e, 0));
	EXPECT_EQ(P, page_of(self, 0));
	EXPECT_EQ(0, self->e.control->left);
	ASSERT_EQ(4, commit(self, true));
	ASSERT_TRUE(replayed(self));
	EXPECT_EQ(-ERANGE, knob_set("replay_policy", 4));
	EXPECT_EQ(-ERANGE, knob_set("fault_batch", 0));
	EXPECT_EQ(-ERANGE, knob_set("fault_batch", 257));
}

/* --- nothing is lost --- */

FIXTURE(nothing_lost)
{
	FIXTURE_DATA(fault_queue) q;
};

FIXTURE_VARIANT(nothing_lost) { uint32_t policy, batch; };
FIXTURE_VARIANT_ADD(nothing_lost, block) { POLICY_BLOCK, 24 };
FIXTURE_VARIANT_ADD(nothing_lost, batch) { POLICY_BATCH, 24 };
FIXTURE_VARIANT_ADD(nothing_lost, batch_flush) { POLICY_BATCH_FLUSH, 24 };
FIXTURE_VARIANT_ADD(nothing_lost, once) { POLICY_ONCE, 24 };
FIXTURE_VARIANT_ADD(nothing_lost, one_by_one) { POLICY_BATCH_FLUSH, 1 };

FIXTURE_SETUP(nothing_lost)
{
	fault_queue_setup(_metadata, &self->q, NULL);
}

FIXTURE_TEARDOWN(nothing_lost)
{
	fault_queue_teardown(_metadata, &self->q, NULL);
}

/* A GPU whose warps want pages all over; a full buffer drops, as it is to be. */
TEST_F(nothing_lost, overflow)
{
	enum { WANTED = 300 };
	FIXTURE_DATA(fault_queue) *q = &self->q;
	uint64_t full = STAT(FAULT_BUFFER_FULL);
	uint32_t i, k, passes, missing = WANTED, dropped = 0, at[WANTED];
	bool again;
	uint8_t *page;

	setup(_metadata, variant->policy, variant->batch);
	for (i = 0; i < WANTED; i++) {
		at[i] = i * 37 % (BLOCKS * (BLOCK / PAGE));
		fill(q->mem + at[i] * PAGE, PAGE, at[i]);
	}
	/* One page a batch and every record anew each time is the slowest way. */
	for (passes = 0; missing && passes < 5000; passes++) {
		missing = 0;
		for (i = 0; i < WANTED; i++) {
			k = (i + passes * 7) % WANTED;
			if (engine_page(&q->e, q->space, q->mem + at[k] * PAGE))
				continue;
			missing++;
			if (q->e.put - q->e.faults->get == ENTRIES)
				dropped++;
			else
				fault_pages(q, at[k], 1);
		}
		if (!missing)
			break;
		ASSERT_LE(0, engine_raise(&q->e, 0));
		do {
			ASSERT_GE(variant->batch, q->batch->raw);
			again = q->e.control->goes_on;
			ASSERT_LE(0, commit(q, true));
			if (again)
				ASSERT_LE(0, fetch(q));
		} while (again);
		ASSERT_TRUE(replayed(q));
	}
	EXPECT_EQ(0, missing);
	EXPECT_LT(0, dropped);
	EXPECT_LT(full, STAT(FAULT_BUFFER_FULL));
	for (i = 0; i < WANTED; i++) {
		page = engine_page(&q->e, q->space, q->mem + at[i] * PAGE);
		ASSERT_NE(NULL, page);
		ASSERT_TRUE(filled(page, PAGE, at[i]));
		page[i]++;
	}
	for (i = 0; i < WANTED; i++) {
		q->mem[at[i] * PAGE + i]--;
		ASSERT_TRUE(filled(q->mem + at[i] * PAGE, PAGE, at[i]));
	}
	TH_LOG("%u passes, %u dropped, %llu flushed", passes, dropped,
	       (unsigned long long)STAT(FAULTS_FLUSHED));
}

TEST_HARNESS_MAIN
