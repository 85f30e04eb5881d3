// SPDX-License-Identifier: GPL-2.0
/* The sim backend: ranges, merging, capacity, statuses, invalidations, costs computed by hand. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "service/sim.h"

#define KB		1024ull
#define MB		(1024 * KB)
#define BASE		(16 * MB)
#define PAGE(n)		(BASE + (n) * PAGE_BYTES)
#define SERVICE_NS	20000u
#define PAGE_NS		300u	/* more for each fault */
#define FRAMES		8u

static struct service *sim;
static struct plan plan, wanted;
static struct fault faults[64];
static unsigned int decided, unique;
static int decide_status;

static int setup(void **state)
{
	decide_status = 0;
	if (service_sim_create(FRAMES * PAGE_BYTES + 100, SERVICE_NS, PAGE_NS, &sim))
		return -1;
	/* 1023 pages: into the second half of a block, and over its end. */
	return service_sim_map(sim, 1, BASE, 4 * MB - PAGE_BYTES);
}

static int teardown(void **state)
{
	sim->ops->destroy(sim);
	return 0;
}

/* The service empties the plan before it asks. */
static int decide(void *ctx, struct service_batch *batch)
{
	assert_ptr_equal(ctx, &plan);
	assert_int_equal(batch->plan->count, 0);
	decided++;
	unique = batch->nfaults;
	plan = wanted;
	return decide_status;
}

static struct service_cost serve(unsigned int nfaults, int rc)
{
	struct service_batch batch = {
		.faults = faults,
		.nfaults = nfaults,
		.decide = decide,
		.ctx = &plan,
		.plan = &plan,
	};

	decided = 0;
	plan.count = 77;
	assert_int_equal(sim->ops->serve(sim, &batch), rc);
	assert_int_equal(decided, 1);
	assert_int_equal(batch.nfaults, unique);
	return batch.cost;
}

static void want(uint8_t op, uint32_t va_space, uint64_t addr, uint16_t pages)
{
	wanted.migrations[wanted.count++] = (struct migration){
		.addr = addr, .va_space = va_space, .pages = pages, .op = op,
		.status = 99, .moved = 99,
	};
}

static void assert_migration(unsigned int i, int status, uint32_t moved)
{
	assert_int_equal(plan.migrations[i].status, status);
	assert_int_equal(plan.migrations[i].moved, moved);
}

static unsigned int count_resident;

static void count_page(void *ctx, uint32_t va_space, uint64_t addr)
{
	count_resident++;
	assert_ptr_equal(sim->ops->walk(sim, va_space, addr), (void *)(uintptr_t)addr);
}

static unsigned int resident(void)
{
	count_resident = 0;
	sim->ops->resident(sim, count_page, NULL);
	return count_resident;
}

static void costs(void **state)
{
	struct service_cost cost;

	/* Whatever moves: that is the link's time. */
	wanted.count = 0;
	want(MIGRATE_H2D, 1, PAGE(0), 3);
	faults[0] = (struct fault){ .addr = PAGE(0), .va_space = 1 };
	cost = serve(1, 0);
	assert_int_equal(cost.total, SERVICE_NS + PAGE_NS);
	assert_int_equal(cost.fetched_to_committed, cost.total);
	assert_int_equal(cost.end_to_end, cost.total);
	assert_int_equal(cost.evict + cost.copy + cost.raised_to_fetched + cost.unmap + cost.map +
			 cost.replay, 0);
	/* Unique faults count, moved pages or not. */
	wanted.count = 0;
	for (unsigned int i = 0; i < 3; i++)
		faults[i] = (struct fault){ .addr = PAGE(i / 2), .va_space = 1 };
	assert_int_equal(serve(3, 0).total, SERVICE_NS + 2 * PAGE_NS);
	/* What nobody faulted on is no handler's work. */
	want(MIGRATE_D2H, 1, PAGE(0), 2);
	assert_int_equal(serve(0, 0).total, 0);
	assert_migration(0, 0, 2);
	assert_int_equal(service_sim_configure(sim, FRAMES * PAGE_BYTES, 5, 0), 0);
	faults[0] = (struct fault){ .addr = PAGE(8), .va_space = 1 };
	assert_int_equal(serve(1, 0).total, 5);
}

static void faults_are_sorted_and_merged(void **state)
{
	static const struct fault raw[] = {
		{ .addr = PAGE(5) + 12, .cycle = 9, .va_space = 1, .sm = 1, .warp = 2,
		  .access = ACCESS_READ, .merged = 1 },
		{ .addr = PAGE(1), .cycle = 5, .va_space = 2, .access = ACCESS_READ, .merged = 1 },
		{ .addr = PAGE(1), .cycle = 8, .va_space = 1, .access = ACCESS_READ, .merged = 1 },
		{ .addr = PAGE(5), .cycle = 7, .va_space = 1, .sm = 3, .warp = 4,
		  .access = ACCESS_READ, .merged = 1 },
		{ .addr = PAGE(5), .cycle = 8, .va_space = 1, .sm = 5, .warp = 6,
		  .access = ACCESS_WRITE, .merged = 1 },
		{ .addr = PAGE(1023), .cycle = 1, .va_space = 1, .access = ACCESS_READ,
		  .merged = 1 },
	};
	struct fault again[6];

	wanted.count = 0;
	want(MIGRATE_H2D, 1, PAGE(1), 1);
	serve(0, 0);
	wanted.count = 0;
	memcpy(faults, raw, sizeof(raw));
	serve(6, 0);
	assert_int_equal(unique, 4);
	assert_true(faults[0].addr == PAGE(1) && faults[0].va_space == 1);
	assert_int_equal(faults[0].flags, FAULT_RESIDENT);
	assert_true(faults[1].addr == PAGE(5) && faults[1].cycle == 7);
	assert_int_equal(faults[1].sm, 3);
	assert_int_equal(faults[1].warp, 4);
	assert_int_equal(faults[1].access, ACCESS_WRITE);
	assert_int_equal(faults[1].merged, 3);
	assert_int_equal(faults[1].flags, 0);
	assert_true(faults[2].addr == PAGE(1023));
	assert_int_equal(faults[2].flags, FAULT_UNMANAGED);
	assert_int_equal(faults[3].va_space, 2);
	assert_int_equal(faults[3].flags, FAULT_UNMANAGED);
	/* In whatever order they come. */
	memcpy(again, faults, sizeof(again));
	for (unsigned int i = 0; i < 6; i++)
		faults[i] = raw[5 - i];
	serve(6, 0);
	assert_memory_equal(again, faults, 4 * sizeof(*faults));
}

static void capacity(void **state)
{
	/* 100 bytes more than 8 frames are 8 frames. */
	assert_int_equal(sim->ops->frames(sim), FRAMES);
	wanted.count = 0;
	want(MIGRATE_H2D, 1, PAGE(0), 6);
	want(MIGRATE_H2D, 1, PAGE(100), 4);
	serve(0, 0);
	assert_migration(0, 0, 6);
	assert_migration(1, -ENOSPC, 2);
	assert_int_equal(resident(), FRAMES);
	assert_null(sim->ops->walk(sim, 1, PAGE(102)));
	/* In the plan's order: what goes makes room for what comes after it, not before. */
	wanted.count = 0;
	want(MIGRATE_H2D, 1, PAGE(200), 1);
	want(MIGRATE_D2H, 1, PAGE(0), 2);
	want(MIGRATE_H2D, 1, PAGE(201), 1);
	serve(0, 0);
	assert_migration(0, -ENOSPC, 0);
	assert_migration(1, 0, 2);
	assert_migration(2, 0, 1);
	assert_null(sim->ops->walk(sim, 1, PAGE(1)));
	assert_ptr_equal(sim->ops->walk(sim, 1, PAGE(201) + 5), (void *)(uintptr_t)PAGE(201));
	assert_int_equal(resident(), FRAMES - 1);
	assert_int_equal(service_sim_configure(sim, 6 * PAGE_BYTES, 1, 1), -EBUSY);
	assert_int_equal(service_sim_configure(sim, 7 * PAGE_BYTES, 1, 1), 0);
	assert_int_equal(sim->ops->frames(sim), 7);
}

static void bad_migrations(void **state)
{
	wanted.count = 0;
	want(MIGRATE_H2D, 1, PAGE(0), 0);
	want(MIGRATE_H2D, 1, PAGE(1) + 8, 1);
	want(MIGRATE_H2D, 1, PAGE(511), 2);	/* over the block's end */
	want(MIGRATE_H2D, 1, PAGE(0), BLOCK_PAGES + 1);
	want(0, 1, PAGE(0), 1);
	want(MIGRATE_DUPLICATE + 1, 1, PAGE(0), 1);
	want(MIGRATE_H2D, 1, PAGE(1022), 2);	/* the second is not managed */
	want(MIGRATE_H2D, 2, PAGE(0), 1);
	want(MIGRATE_H2D, 1, 1ull << 62, 1);
	want(MIGRATE_D2H, 1, PAGE(4), 1);	/* not there: nothing to do */
	serve(0, 0);
	for (unsigned int i = 0; i < 6; i++)
		assert_migration(i, -EINVAL, 0);
	assert_migration(6, -EFAULT, 1);
	assert_migration(7, -EFAULT, 0);
	assert_migration(8, -EFAULT, 0);
	assert_migration(9, 0, 0);
	assert_int_equal(resident(), 1);
}

static void refusal_moves_nothing(void **state)
{
	wanted.count = 0;
	want(MIGRATE_H2D, 1, PAGE(0), 1);
	decide_status = -ENOMEM;
	serve(0, -ENOMEM);
	assert_int_equal(resident(), 0);
}

static void ranges(void **state)
{
	assert_int_equal(service_sim_map(sim, 1, BASE, PAGE_BYTES), -EEXIST);
	assert_int_equal(service_sim_map(sim, 1, BASE - MB, MB + PAGE_BYTES), -EEXIST);
	assert_int_equal(service_sim_map(sim, 1, BASE - MB, 64 * MB), -EEXIST);
	assert_int_equal(service_sim_map(sim, 1, BASE - MB, MB), 0);
	assert_int_equal(service_sim_map(sim, 2, BASE, MB), 0);
	assert_int_equal(service_sim_map(sim, 1, BASE + 1, MB), -EINVAL);
	assert_int_equal(service_sim_map(sim, 1, 64 * MB, 0), -EINVAL);
	assert_int_equal(service_sim_map(sim, 1, 64 * MB, 10), -EINVAL);
	assert_int_equal(service_sim_map(sim, 0, 64 * MB, MB), -EINVAL);
	assert_int_equal(service_sim_map(sim, 1, 0, MB), -EINVAL);
	assert_int_equal(service_sim_map(sim, 1, UINT64_MAX - 4095, 8192), -EINVAL);
	assert_int_equal(service_sim_map(sim, 1, 1ull << 47, MB), -EINVAL);
	assert_int_equal(service_sim_map(sim, 1, MB, UINT64_MAX - 4095), -EINVAL);
	assert_int_equal(service_sim_map(sim, 1, (1ull << 47) - MB, MB), 0);
	assert_int_equal(service_sim_unmap(sim, 1, 64 * MB, MB), -ENOENT);
	assert_int_equal(service_sim_unmap(sim, 1, BASE, 7), -EINVAL);
}

/* "host", "remote", "device" or "duplicate", as the entry says. */
static const char *where(uint64_t addr)
{
	unsigned int flags;
	void *host = service_entry(sim, 1, addr, &flags);

	assert_int_equal(sim->ops->walk(sim, 1, addr) != NULL,
			 host && !(flags & SERVICE_ENTRY_REMOTE));
	return !host ? "host" : flags & SERVICE_ENTRY_REMOTE ? "remote" :
	       flags & SERVICE_ENTRY_READ_ONLY ? "duplicate" : "device";
}

static struct service_invalidate told[2000];
static unsigned int ntold;

static void hear(void *ctx, const struct service_invalidate *i)
{
	assert_int_equal(*(int *)ctx, 5);
	told[ntold++] = *i;
}

static void poll(void)
{
	int cookie = 5;

	ntold = 0;
	assert_int_equal(sim->ops->poll(sim, hear, &cookie), 0);
}

/* One page through all that can become of it: what moves, and what is not to be used as before. */
static void ways(void **state)
{
	static const struct {
		uint8_t op;
		const char *is;
		unsigned int moved, invalidations;
	} steps[] = {
		{ MIGRATE_REMOTE, "remote", 0, 0 },
		{ MIGRATE_REMOTE, "remote", 0, 0 },
		{ MIGRATE_H2D, "device", 1, 1 },
		{ MIGRATE_DUPLICATE, "device", 0, 0 },
		{ MIGRATE_REMOTE, "remote", 1, 1 },
		{ MIGRATE_D2H, "host", 0, 1 },
		{ MIGRATE_D2H, "host", 0, 0 },
		{ MIGRATE_DUPLICATE, "duplicate", 1, 0 },
		{ MIGRATE_DUPLICATE, "duplicate", 0, 0 },
		{ MIGRATE_H2D, "device", 0, 0 },
		{ MIGRATE_D2H, "host", 1, 1 },
		{ MIGRATE_REMOTE, "remote", 0, 0 },
		{ MIGRATE_DUPLICATE, "duplicate", 1, 1 },
		{ MIGRATE_D2H, "host", 1, 1 },
	};

	assert_int_equal(sim->can, SERVICE_CAN_REMOTE | SERVICE_CAN_DUPLICATE);
	for (unsigned int i = 0; i < ARRAY_SIZE(steps); i++) {
		wanted.count = 0;
		want(steps[i].op, 1, PAGE(3), 1);
		serve(0, 0);
		assert_migration(0, 0, steps[i].moved);
		assert_string_equal(where(PAGE(3)), steps[i].is);
		poll();
		assert_int_equal(ntold, steps[i].invalidations);
	}
	assert_int_equal(resident(), 0);
	/* What is unmapped is forgotten: it is not remote when it is mapped again. */
	wanted.count = 0;
	want(MIGRATE_REMOTE, 1, PAGE(3), 1);
	want(MIGRATE_DUPLICATE, 1, PAGE(4), 1);
	serve(0, 0);
	assert_int_equal(service_sim_unmap(sim, 1, PAGE(3), 2 * PAGE_BYTES), 0);
	assert_int_equal(service_sim_map(sim, 1, PAGE(3), 2 * PAGE_BYTES), 0);
	assert_string_equal(where(PAGE(3)), "host");
	wanted.count = 0;
	want(MIGRATE_H2D, 1, PAGE(4), 1);
	serve(0, 0);
	assert_string_equal(where(PAGE(4)), "device");
}

/* A fault is answered already where the entry allows its access. */
static void allowed(void **state)
{
	static const uint8_t flags[][2] = {	/* of a read, of a write */
		{ 0, 0 }, { FAULT_RESIDENT, FAULT_RESIDENT }, { FAULT_RESIDENT, FAULT_RESIDENT },
		{ FAULT_RESIDENT, 0 },
	};

	wanted.count = 0;
	want(MIGRATE_H2D, 1, PAGE(1), 1);
	want(MIGRATE_REMOTE, 1, PAGE(2), 1);
	want(MIGRATE_DUPLICATE, 1, PAGE(3), 1);
	serve(0, 0);
	for (unsigned int write = 0; write < 2; write++) {
		memset(faults, 0, sizeof(faults));
		for (unsigned int i = 0; i < 4; i++) {
			faults[i].addr = PAGE(i);
			faults[i].va_space = 1;
			faults[i].access = write ? ACCESS_WRITE : ACCESS_READ;
		}
		wanted.count = 0;
		serve(4, 0);
		for (unsigned int i = 0; i < 4; i++)
			assert_int_equal(faults[i].flags, flags[i][write]);
	}
}

static void invalidations(void **state)
{
	wanted.count = 0;
	want(MIGRATE_H2D, 1, PAGE(0), 8);
	serve(0, 0);
	poll();
	assert_int_equal(ntold, 0);
	wanted.count = 0;
	want(MIGRATE_D2H, 1, PAGE(1), 3);
	want(MIGRATE_D2H, 1, PAGE(6), 1);
	serve(0, 0);
	/* Pages 2 to 5 go from the middle: two ranges are left. */
	assert_int_equal(service_sim_unmap(sim, 1, PAGE(2), 4 * PAGE_BYTES), 0);
	poll();
	assert_int_equal(ntold, 3);
	assert_true(told[0].start == PAGE(1) && told[0].end == PAGE(4));
	assert_true(told[0].evicted && told[0].va_space == 1);
	assert_true(told[1].start == PAGE(6) && told[1].end == PAGE(7) && told[1].evicted);
	assert_true(told[2].start == PAGE(2) && told[2].end == PAGE(6) && !told[2].evicted);
	poll();
	assert_int_equal(ntold, 0);
	/* Of 0..7: 1, 2, 3, 6 were evicted, 2..5 unmapped. */
	assert_int_equal(resident(), 2);
	memset(faults, 0, sizeof(faults));
	for (unsigned int i = 0; i < 8; i++) {
		faults[i].addr = PAGE(i);
		faults[i].va_space = 1;
	}
	wanted.count = 0;
	serve(8, 0);
	for (unsigned int i = 0; i < 8; i++)
		assert_int_equal(faults[i].flags, i >= 2 && i < 6 ? FAULT_UNMANAGED :
				 i == 0 || i == 7 ? FAULT_RESIDENT : 0);
	/* Neighbours of two kinds stay two. */
	want(MIGRATE_D2H, 1, PAGE(7), 1);
	serve(0, 0);
	assert_int_equal(service_sim_unmap(sim, 1, PAGE(8), PAGE_BYTES), 0);
	poll();
	assert_int_equal(ntold, 2);
}

/* Nobody polls: one invalidation of everything stands for all of them. */
static void invalidations_overflow(void **state)
{
	for (unsigned int i = 0; i < 1500; i++) {
		wanted.count = 0;
		want(MIGRATE_H2D, 1, PAGE(2 * (i % 8)), 1);
		want(MIGRATE_D2H, 1, PAGE(2 * (i % 8)), 1);
		serve(0, 0);
	}
	poll();
	assert_int_equal(ntold, 1);
	assert_true(told[0].start == 0 && told[0].end == UINT64_MAX);
	assert_int_equal(told[0].va_space, 0);
	assert_false(told[0].evicted);
	wanted.count = 0;
	want(MIGRATE_H2D, 1, PAGE(0), 1);
	want(MIGRATE_D2H, 1, PAGE(0), 1);
	serve(0, 0);
	poll();
	assert_int_equal(ntold, 1);
	assert_true(told[0].evicted);
}

/* Ranges and residency against one byte a page. */
static void random_maps(void **state)
{
	enum { PAGES = 1536 };
	static uint8_t managed[PAGES], there[PAGES];
	unsigned int used = 0;
	struct rng rng;

	memset(managed, 0, sizeof(managed));
	memset(there, 0, sizeof(there));
	memset(managed, 1, 1023);
	assert_int_equal(service_sim_configure(sim, 300 * PAGE_BYTES, 1, 1), 0);
	rng_seed(&rng, 11);
	for (unsigned int step = 0; step < 4000; step++) {
		unsigned int from = (unsigned int)rng_below(&rng, PAGES);
		unsigned int n = 1 + (unsigned int)rng_below(&rng, MIN(64, PAGES - from));
		unsigned int any = 0, moved = 0;

		for (unsigned int i = from; i < from + n; i++)
			any += managed[i];
		switch (rng_below(&rng, 4)) {
		case 0:
			assert_int_equal(service_sim_map(sim, 1, PAGE(from), n * PAGE_BYTES),
					 any ? -EEXIST : 0);
			if (!any)
				memset(&managed[from], 1, n);
			break;
		case 1:
			n = MIN(n, 8);
			any = 0;
			for (unsigned int i = from; i < from + n; i++)
				any += managed[i];
			assert_int_equal(service_sim_unmap(sim, 1, PAGE(from), n * PAGE_BYTES),
					 any ? 0 : -ENOENT);
			for (unsigned int i = from; i < from + n; i++)
				used -= there[i];
			memset(&managed[from], 0, n);
			memset(&there[from], 0, n);
			break;
		default:
			n = MIN(n, BLOCK_PAGES - from % BLOCK_PAGES);
			wanted.count = 0;
			want(rng_below(&rng, 5) < 3 ? MIGRATE_H2D : MIGRATE_D2H, 1, PAGE(from),
			     (uint16_t)n);
			serve(0, 0);
			for (unsigned int i = from; i < from + n; i++) {
				bool in = wanted.migrations[0].op == MIGRATE_H2D;

				if (!managed[i] || there[i] == in || (in && used == 300))
					continue;
				there[i] = in;
				used += in ? 1 : -1;
				moved++;
			}
			assert_int_equal(plan.migrations[0].moved, moved);
		}
		assert_int_equal(resident(), used);
		for (unsigned int i = 0; i < 20; i++) {
			unsigned int p = (unsigned int)rng_below(&rng, PAGES);

			assert_int_equal(sim->ops->walk(sim, 1, PAGE(p)) != NULL, there[p]);
		}
	}
}

static void bad_creation(void **state)
{
	struct service *none = NULL;

	assert_int_equal(service_sim_create(4095, 1, 1, &none), -EINVAL);
	assert_null(none);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(costs),
		TEST(faults_are_sorted_and_merged),
		TEST(capacity),
		TEST(bad_migrations),
		TEST(refusal_moves_nothing),
		TEST(ranges),
		TEST(ways),
		TEST(allowed),
		TEST(invalidations),
		TEST(invalidations_overflow),
		TEST(random_maps),
		cmocka_unit_test(bad_creation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
