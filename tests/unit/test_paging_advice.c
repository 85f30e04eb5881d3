// SPDX-License-Identifier: GPL-2.0
/*
 * Where pages go by advice, and what stays of it: the order of UVM, duplicates and what
 * collapses them, mappings across the link, access counters. On the sim service, with hints on
 * thrashing put in as a module would.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "paging/paging.h"
#include "service/sim.h"

#define BASE		(64ull << 20)
#define PAGES		2048u
#define PAGE(n)		(BASE + (n) * PAGE_BYTES)
#define SERVICE_NS	1000u

/* The sim service, with hints. */
static struct service_ops ops;
static const struct service_ops *sim_ops;
static uint8_t hint[PAGES];
static uint64_t no_slot;	/* MIGRATE_REMOTE finds no room from this many pages on */
static bool ordinary;		/* all is ordinary memory, and what is to move stays */
static struct plan last;

static struct service *service;
static struct paging_pool *pool;
static struct paging *paging;
static struct gpu_spec spec;
static struct paging_outcome outcome;
static uint64_t now;

struct asked {
	int (*decide)(void *ctx, struct service_batch *batch);
	void *ctx;
};

static int decide(void *ctx, struct service_batch *batch)
{
	const struct asked *asked = ctx;
	int rc;

	for (unsigned int i = 0; i < batch->nfaults; i++)
		if (!(batch->faults[i].flags & FAULT_UNMANAGED))
			batch->faults[i].flags |= hint[(batch->faults[i].addr - BASE) / PAGE_BYTES];
	rc = asked->decide(asked->ctx, batch);
	last = *batch->plan;
	for (unsigned int i = 0; !rc && i < batch->plan->count; i++)
		if (batch->plan->migrations[i].op == MIGRATE_REMOTE && no_slot)
			batch->plan->migrations[i].op = 0xff;
	for (unsigned int i = 0; !rc && ordinary && i < batch->plan->count; i++)
		if (batch->plan->migrations[i].op == MIGRATE_H2D)
			batch->plan->migrations[i].op = MIGRATE_REMOTE;
	return rc;
}

static void *ordinary_entry(struct service *s, uint32_t va_space, uint64_t addr,
			    unsigned int *flags)
{
	void *host = sim_ops->entry(s, va_space, addr, flags);

	if (ordinary && host && *flags & SERVICE_ENTRY_REMOTE)
		*flags |= SERVICE_ENTRY_PAGEABLE;
	return host;
}

static int hinting_serve(struct service *s, struct service_batch *batch)
{
	struct asked asked = { batch->decide, batch->ctx };
	int rc;

	batch->decide = decide;
	batch->ctx = &asked;
	rc = sim_ops->serve(s, batch);
	for (unsigned int i = 0; i < batch->plan->count; i++)
		if (batch->plan->migrations[i].op == 0xff) {
			batch->plan->migrations[i].op = MIGRATE_REMOTE;
			batch->plan->migrations[i].status = -ENOSPC;
		}
	for (unsigned int i = 0; ordinary && i < batch->plan->count; i++) {
		batch->plan->migrations[i].op = MIGRATE_H2D;
		batch->plan->migrations[i].status = -EBUSY;
		batch->plan->migrations[i].moved = 0;
	}
	return rc;
}

static void start(uint64_t frames)
{
	struct err err;

	memset(hint, 0, sizeof(hint));
	no_slot = 0;
	ordinary = false;
	now = 0;
	spec.vram_bytes = frames * PAGE_BYTES;
	spec.clock_mhz = 1000;
	spec.link_mbps = 4096;		/* a page is 1000 ns */
	spec.service_ns = SERVICE_NS;
	assert_int_equal(service_sim_create(frames * PAGE_BYTES, SERVICE_NS, 0, &service), 0);
	sim_ops = service->ops;
	ops = *sim_ops;
	ops.serve = hinting_serve;
	ops.entry = ordinary_entry;
	service->ops = &ops;
	assert_int_equal(service_sim_map(service, 1, BASE, PAGES * PAGE_BYTES), 0);
	assert_int_equal(paging_pool_create(service, &pool), 0);
	assert_int_equal(paging_create(pool, 1, &spec, &paging, &err), 0);
}

static int setup(void **state)
{
	spec_defaults(&spec);
	return 0;
}

static int teardown(void **state)
{
	paging_destroy(paging);
	paging_pool_destroy(pool);
	service->ops = sim_ops;
	service->ops->destroy(service);
	return 0;
}

static void invalidate(void *ctx, const struct service_invalidate *i)
{
	paging_invalidate(pool, i);
}

/* One fault alone, until all has landed. */
static void fault(unsigned int page, uint8_t access)
{
	const struct fault f = {
		.addr = PAGE(page), .cycle = now, .va_space = 1, .access = access, .merged = 1,
	};

	assert_int_equal(paging_serve(paging, &f, 1, now, &outcome), 0);
	assert_int_equal(outcome.stuck, 0);
	assert_int_equal(paging_land_all(paging, &outcome), 0);
	service->ops->poll(service, invalidate, NULL);
	now += outcome.service_ns;
	paging_advance(paging, now);
}

static void advise(unsigned int page, unsigned int pages, uint32_t flags)
{
	static struct advice_range range;

	range = (struct advice_range){ PAGE(page), pages * PAGE_BYTES, flags, 0 };
	assert_int_equal(paging_set_advice(paging, &range, flags != 0), 0);
	service->ops->poll(service, invalidate, NULL);
}

/* "host", "remote", "device" or "duplicate", as the page table says. */
static const char *where(unsigned int page)
{
	unsigned int flags;
	void *host = service_entry(service, 1, PAGE(page), &flags);

	assert_int_equal(paging_resident(paging, PAGE(page)),
			 host && !(flags & SERVICE_ENTRY_REMOTE));
	return !host ? "host" : flags & SERVICE_ENTRY_REMOTE ? "remote" :
	       flags & SERVICE_ENTRY_READ_ONLY ? "duplicate" : "device";
}

/* The order in which the advice counts: each row's first that applies. */
static void test_order(void **state)
{
	static const struct {
		uint32_t advice;
		uint8_t access, hint;
		const char *goes;
	} rows[] = {
		{ 0, ACCESS_READ, 0, "device" },
		{ 0, ACCESS_WRITE, FAULT_PIN, "remote" },
		{ 0, ACCESS_WRITE, FAULT_THROTTLE, "host" },
		{ 0, ACCESS_READ, FAULT_PAGEABLE, "remote" },
		{ 0, ACCESS_READ, FAULT_PAGEABLE | FAULT_MOVES, "device" },
		{ ADVICE_READ_MOSTLY, ACCESS_READ, 0, "duplicate" },
		{ ADVICE_READ_MOSTLY, ACCESS_READ, FAULT_PIN, "duplicate" },
		{ ADVICE_READ_MOSTLY, ACCESS_WRITE, 0, "device" },
		{ ADVICE_READ_MOSTLY, ACCESS_ATOMIC, FAULT_PIN, "remote" },
		{ ADVICE_READ_MOSTLY | ADVICE_PREFER_HOST, ACCESS_READ, 0, "duplicate" },
		{ ADVICE_READ_MOSTLY | ADVICE_PREFER_HOST, ACCESS_WRITE, 0, "remote" },
		{ ADVICE_READ_MOSTLY | ADVICE_PREFER_DEVICE, ACCESS_READ, 0, "duplicate" },
		{ ADVICE_PREFER_DEVICE, ACCESS_READ, FAULT_PIN, "device" },
		{ ADVICE_PREFER_DEVICE | ADVICE_ACCESSED_BY, ACCESS_READ, 0, "device" },
		{ ADVICE_PREFER_HOST, ACCESS_READ, 0, "remote" },
		{ ADVICE_PREFER_HOST, ACCESS_ATOMIC, 0, "remote" },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++) {
		start(64);
		advise(0, 8, rows[i].advice);
		assert_string_equal(where(3), "host");
		hint[3] = rows[i].hint;
		fault(3, rows[i].access);
		if (strcmp(where(3), rows[i].goes))
			fail_msg("row %u: %s, not %s", i, where(3), rows[i].goes);
		assert_int_equal(paging_stats(paging)->far_faults,
				 rows[i].hint != FAULT_THROTTLE || rows[i].advice != 0);
		if (i + 1 < ARRAY_SIZE(rows))
			teardown(NULL);
	}
}

/* What the device accesses does not fault; it stays, and is mapped where it goes. */
static void test_accessed_by(void **state)
{
	start(4);
	fault(1, ACCESS_READ);
	paging_touch(paging, PAGE(1), false);
	advise(0, 600, ADVICE_ACCESSED_BY);
	assert_string_equal(where(0), "remote");
	assert_string_equal(where(599), "remote");
	assert_string_equal(where(600), "host");
	assert_string_equal(where(1), "device");
	assert_int_equal(paging_remote_pages(paging), 599);
	assert_int_equal(paging_stats(paging)->mapped_pages, 599);
	/* Others take the frames: it is mapped where it went, and its bytes travel. */
	for (unsigned int i = 0; i < 8; i++) {
		fault(1000 + i, ACCESS_WRITE);
		paging_touch(paging, PAGE(1000 + i), true);
	}
	assert_string_equal(where(1), "remote");
	assert_int_equal(paging_remote_pages(paging), 600);
	assert_true(paging_stats(paging)->d2h_bytes >= PAGE_BYTES);
	/* Advised no more: it is to fault again. */
	advise(0, 0, 0);
	assert_string_equal(where(0), "host");
	assert_int_equal(paging_remote_pages(paging), 0);
	fault(0, ACCESS_READ);
	assert_string_equal(where(0), "device");
}

/* A remote page cannot be used before its batch has been served, and then at once. */
static void test_time(void **state)
{
	struct fault f = { .addr = PAGE(5), .va_space = 1, .access = ACCESS_READ, .merged = 1 };

	start(64);
	advise(0, 8, ADVICE_PREFER_HOST);
	assert_int_equal(paging_serve(paging, &f, 1, 0, &outcome), 0);
	assert_int_equal(outcome.service_ns, SERVICE_NS);
	assert_true(paging_in_flight(paging, PAGE(5)));
	assert_int_equal(paging_next(paging), SERVICE_NS);
	assert_int_equal(paging_advance(paging, SERVICE_NS), 0);
	assert_false(paging_in_flight(paging, PAGE(5)));
	assert_int_equal(paging_stats(paging)->latency_ns.max, SERVICE_NS);
	assert_int_equal(paging_stats(paging)->h2d_bytes, 0);
	/* A page that moves has the link's time behind it. */
	f.addr = PAGE(9);
	assert_int_equal(paging_serve(paging, &f, 1, SERVICE_NS, &outcome), 0);
	assert_int_equal(paging_next(paging), 2 * SERVICE_NS);
	assert_int_equal(paging_advance(paging, 2 * SERVICE_NS), 0);
	assert_true(paging_in_flight(paging, PAGE(9)));
	assert_int_equal(paging_next(paging), 3 * SERVICE_NS);
}

static void test_duplicates(void **state)
{
	const struct paging_stats *stats;

	start(4);
	stats = paging_stats(paging);
	advise(0, 8, ADVICE_READ_MOSTLY);
	fault(0, ACCESS_READ);
	fault(1, ACCESS_READ);
	assert_string_equal(where(0), "duplicate");
	assert_int_equal(paging_duplicate_pages(paging), 2);
	assert_int_equal(stats->duplicated_pages, 2);
	assert_int_equal(stats->h2d_bytes, 2 * PAGE_BYTES);
	/* A write makes the frame the only place; nothing travels. */
	fault(0, ACCESS_WRITE);
	assert_string_equal(where(0), "device");
	assert_int_equal(stats->collapsed_pages, 1);
	assert_int_equal(stats->h2d_bytes, 2 * PAGE_BYTES);
	assert_int_equal(stats->far_faults, 3);
	paging_touch(paging, PAGE(0), true);
	paging_touch(paging, PAGE(1), false);
	/* A duplicate that is evicted has nothing to bring home, and the other has. */
	for (unsigned int i = 0; i < 4; i++) {
		fault(100 + i, ACCESS_READ);
		paging_touch(paging, PAGE(100 + i), false);
	}
	assert_string_equal(where(0), "host");
	assert_string_equal(where(1), "host");
	assert_int_equal(stats->evicted_pages, 2);
	assert_int_equal(stats->d2h_bytes, PAGE_BYTES);
	assert_int_equal(stats->link.d2h_transfers, 1);
	assert_int_equal(paging_duplicate_pages(paging), 0);
	/* Advised no more: it is an ordinary page. */
	fault(2, ACCESS_READ);
	assert_string_equal(where(2), "duplicate");
	advise(0, 0, 0);
	assert_string_equal(where(2), "device");
	assert_int_equal(stats->collapsed_pages, 2);
}

/* What is written where it has a copy stays there, though it would go elsewhere without one. */
static void test_collapse_stays(void **state)
{
	start(8);
	advise(0, 8, ADVICE_READ_MOSTLY | ADVICE_PREFER_HOST | ADVICE_ACCESSED_BY);
	assert_string_equal(where(2), "remote");
	assert_int_equal(paging_prefetch(paging, PAGE(2), PAGE_BYTES, now, &outcome), 0);
	now += outcome.service_ns;
	service->ops->poll(service, invalidate, NULL);
	assert_string_equal(where(2), "duplicate");
	fault(2, ACCESS_WRITE);
	assert_string_equal(where(2), "device");
	assert_int_equal(paging_stats(paging)->collapsed_pages, 1);
}

/* A fault handler that is made anew knows what is mapped and what is a duplicate. */
static void test_made_anew(void **state)
{
	struct err err;

	start(8);
	advise(0, 4, ADVICE_READ_MOSTLY);
	fault(1, ACCESS_READ);
	advise(0, 8, ADVICE_READ_MOSTLY | ADVICE_ACCESSED_BY);
	assert_int_equal(paging_duplicate_pages(paging), 1);
	assert_int_equal(paging_remote_pages(paging), 7);
	paging_destroy(paging);
	assert_int_equal(paging_create(pool, 1, &spec, &paging, &err), 0);
	assert_int_equal(paging_duplicate_pages(paging), 1);
	assert_int_equal(paging_remote_pages(paging), 7);
	fault(1, ACCESS_WRITE);
	assert_int_equal(paging_stats(paging)->collapsed_pages, 1);
	assert_int_equal(paging_stats(paging)->h2d_bytes, 0);
	/* So does a new engine of what is in device memory. */
	advise(0, 8, ADVICE_READ_MOSTLY);
	fault(5, ACCESS_READ);
	paging_destroy(paging);
	paging_pool_destroy(pool);
	assert_int_equal(paging_pool_create(service, &pool), 0);
	assert_int_equal(paging_create(pool, 1, &spec, &paging, &err), 0);
	assert_int_equal(paging_duplicate_pages(paging), 1);
	assert_int_equal(paging_resident_pages(paging), 2);
	/* And of what is mapped, when it is told what was advised. */
	advise(0, 8, ADVICE_PREFER_HOST);
	fault(6, ACCESS_READ);
	paging_destroy(paging);
	paging_pool_destroy(pool);
	assert_int_equal(paging_pool_create(service, &pool), 0);
	assert_int_equal(paging_create(pool, 1, &spec, &paging, &err), 0);
	assert_int_equal(paging_remote_pages(paging), 0);
	advise(0, 8, ADVICE_PREFER_HOST);
	assert_int_equal(paging_remote_pages(paging), 1);
	assert_int_equal(paging_stats(paging)->mapped_pages, 0);
	advise(0, 0, 0);
	assert_string_equal(where(6), "host");
}

/* Until the batch of the write is served, the duplicate may still be read and not written. */
static void test_collapse_takes_time(void **state)
{
	struct fault f = { .addr = PAGE(2), .va_space = 1, .access = ACCESS_WRITE, .merged = 1 };

	start(8);
	advise(0, 8, ADVICE_READ_MOSTLY);
	fault(2, ACCESS_READ);
	assert_int_equal(paging_serve(paging, &f, 1, now, &outcome), 0);
	assert_false(paging_in_flight(paging, PAGE(2)));
	assert_true(paging_collapsing(paging, PAGE(2)));
	assert_int_equal(paging_advance(paging, now + SERVICE_NS - 1), 0);
	assert_true(paging_collapsing(paging, PAGE(2)));
	assert_int_equal(paging_advance(paging, now + SERVICE_NS), 0);
	assert_false(paging_collapsing(paging, PAGE(2)));
}

/* No policy pulls what is to stay; the program does. */
static void test_prefetch(void **state)
{
	strcpy(spec.prefetch, "block");
	start(1024);
	advise(8, 8, ADVICE_PREFER_HOST);
	fault(0, ACCESS_READ);
	assert_string_equal(where(7), "device");
	assert_string_equal(where(8), "host");
	assert_string_equal(where(15), "host");
	assert_string_equal(where(16), "device");
	assert_int_equal(paging_prefetch(paging, PAGE(8), 4 * PAGE_BYTES, now, &outcome), 0);
	assert_string_equal(where(8), "device");
	assert_string_equal(where(12), "host");
	now += outcome.service_ns;
	/* Of memory that is mostly read, duplicates; which stay when the CPU asks. */
	advise(32, 8, ADVICE_READ_MOSTLY);
	assert_int_equal(paging_prefetch_host(paging, PAGE(0), 64 * PAGE_BYTES, now, &outcome), 0);
	now += outcome.service_ns;
	assert_string_equal(where(33), "host");
	assert_int_equal(paging_prefetch(paging, PAGE(30), 4 * PAGE_BYTES, now, &outcome), 0);
	now += outcome.service_ns;
	assert_string_equal(where(31), "device");
	assert_string_equal(where(33), "duplicate");
	assert_int_equal(paging_prefetch_host(paging, PAGE(0), 64 * PAGE_BYTES, now, &outcome), 0);
	assert_string_equal(where(31), "host");
	assert_string_equal(where(33), "duplicate");
}

/* Home, and mapped there for the device. */
static void test_prefetch_home_mapped(void **state)
{
	start(64);
	fault(3, ACCESS_WRITE);
	advise(0, 8, ADVICE_ACCESSED_BY);
	assert_string_equal(where(3), "device");
	assert_int_equal(paging_prefetch_host(paging, PAGE(0), 8 * PAGE_BYTES, now, &outcome), 0);
	assert_string_equal(where(3), "remote");
	assert_int_equal(paging_stats(paging)->d2h_bytes, PAGE_BYTES);
	assert_int_equal(paging_stats(paging)->evicted_pages, 0);
}

/* Without room for mappings the page moves, and an eviction does without. */
static void test_no_slots(void **state)
{
	start(2);
	no_slot = 1;
	advise(0, 8, ADVICE_ACCESSED_BY);
	assert_string_equal(where(0), "host");
	for (unsigned int i = 0; i < 4; i++) {
		fault(i, ACCESS_WRITE);
		paging_touch(paging, PAGE(i), true);
		assert_string_equal(where(i), "device");
	}
	assert_int_equal(paging_stats(paging)->evicted_pages, 2);
	assert_int_equal(paging_remote_pages(paging), 0);
}

/* Ordinary memory that cannot move is used where it is, and nobody is stuck. */
static void test_ordinary_stays(void **state)
{
	start(64);
	ordinary = true;
	hint[3] = FAULT_PAGEABLE | FAULT_MOVES;
	fault(3, ACCESS_WRITE);
	assert_string_equal(where(3), "remote");
	assert_int_equal(paging_remote_pages(paging), 1);
	assert_int_equal(paging_resident_pages(paging), 0);
	assert_int_equal(paging_stats(paging)->mapped_pages, 1);
	assert_int_equal(paging_stats(paging)->far_faults, 1);
}

/* Access counters move what is mapped, but not what prefers the host. */
static void test_pull(void **state)
{
	static const struct advice_range both[] = {
		{ PAGE(0), 16 * PAGE_BYTES, ADVICE_ACCESSED_BY, 0 },
		{ PAGE(16), 16 * PAGE_BYTES, ADVICE_ACCESSED_BY | ADVICE_PREFER_HOST, 0 },
	};

	start(64);
	assert_int_equal(paging_set_advice(paging, both, 2), 0);
	assert_int_equal(paging_pull(paging, PAGE(0), 32 * PAGE_BYTES, now, &outcome), 0);
	assert_int_equal(outcome.service_ns, SERVICE_NS);
	assert_true(paging_in_flight(paging, PAGE(0)));
	assert_string_equal(where(15), "device");
	assert_string_equal(where(16), "remote");
	assert_int_equal(paging_stats(paging)->pulls, 1);
	assert_int_equal(paging_stats(paging)->pulled_pages, 16);
	assert_int_equal(paging_stats(paging)->prefetched_pages, 0);
	assert_int_equal(paging_land_all(paging, NULL), 0);
	/* Again: there is nothing to move, and it takes no time. */
	assert_int_equal(paging_pull(paging, PAGE(0), 32 * PAGE_BYTES, now + 100000, &outcome), 0);
	assert_int_equal(outcome.service_ns, 0);
	assert_int_equal(paging_stats(paging)->pulls, 1);
}

/* With big pages a unit goes as a whole, and a write collapses all of it. */
static void test_big_pages(void **state)
{
	spec.page_bytes = 65536;
	start(64);
	advise(0, 64, ADVICE_READ_MOSTLY);
	fault(3, ACCESS_READ);
	assert_string_equal(where(0), "duplicate");
	assert_string_equal(where(15), "duplicate");
	assert_string_equal(where(16), "host");
	fault(4, ACCESS_WRITE);
	assert_string_equal(where(3), "device");
	assert_string_equal(where(4), "device");
	assert_int_equal(paging_stats(paging)->collapsed_pages, 16);
	advise(16, 16, ADVICE_PREFER_HOST);
	fault(20, ACCESS_READ);
	assert_string_equal(where(16), "remote");
	assert_string_equal(where(31), "remote");
	assert_int_equal(paging_resident_pages(paging), 16);
}

/* Without paging everything is in device memory, whatever was said. */
static void test_paging_off(void **state)
{
	spec.paging = 0;
	start(64);
	advise(0, 8, ADVICE_ACCESSED_BY | ADVICE_PREFER_HOST);
	assert_string_equal(where(0), "host");
	fault(0, ACCESS_WRITE);
	assert_string_equal(where(0), "device");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_order), TEST(test_accessed_by), TEST(test_time), TEST(test_duplicates),
		TEST(test_collapse_takes_time), TEST(test_collapse_stays), TEST(test_made_anew),
		TEST(test_prefetch),
		TEST(test_prefetch_home_mapped), TEST(test_no_slots), TEST(test_ordinary_stays),
		TEST(test_pull),
		TEST(test_big_pages), TEST(test_paging_off),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
