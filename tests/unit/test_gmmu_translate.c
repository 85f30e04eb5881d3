// SPDX-License-Identifier: GPL-2.0
/*
 * TLBs, walks, far-fault MSHRs, NACK and replay, against a page table of the
 * test's own. Cycles are derived by hand: a walk takes 100.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "gmmu/gmmu.h"

#define PAGES	256u
#define BASE	0x10000000ull

struct world {
	struct gmmu *g;
	bool present[PAGES];
	unsigned int translated[PAGES], faulted[PAGES], touched[PAGES];
	uint64_t when[PAGES];
	bool wrote[PAGES];
	struct gmmu_waiter waiters[1024];
	unsigned int used;
	char frames[PAGES];
};

static uint64_t page(unsigned int n)
{
	return BASE + n * PAGE_BYTES;
}

static unsigned int number(uint64_t addr)
{
	assert_true(addr >= BASE && addr < page(PAGES));
	return (unsigned int)((addr - BASE) / PAGE_BYTES);
}

static void *walk(void *ctx, uint64_t addr)
{
	struct world *w = ctx;

	return w->present[number(addr)] ? &w->frames[number(addr)] : NULL;
}

static void touch(void *ctx, uint64_t addr, bool write)
{
	struct world *w = ctx;

	w->touched[number(addr)]++;
	w->wrote[number(addr)] |= write;
}

static void translated(void *ctx, struct gmmu_waiter *waiter, uint64_t addr,
		       void *host, uint64_t now)
{
	struct world *w = ctx;

	assert_ptr_equal(host, &w->frames[number(addr)]);
	w->translated[number(addr)]++;
	w->when[number(addr)] = now;
}

/* The warp number of a waiter is the page it waits for. */
static void faulted(void *ctx, struct gmmu_waiter *waiter, uint64_t now)
{
	struct world *w = ctx;

	w->faulted[waiter->warp]++;
}

static const struct gmmu_ops ops = { walk, touch };
static const struct gmmu_sm_ops sm_ops = { translated, faulted };

static void make(struct world *w, void (*change)(struct gpu_spec *spec))
{
	struct gpu_spec spec;

	memset(w, 0, sizeof(*w));
	spec_defaults(&spec);
	spec.sms = 3;
	spec.walk_latency = 100;
	if (change)
		change(&spec);
	assert_int_equal(gmmu_create(&spec, 1, &ops, w, &w->g), 0);
	for (unsigned int i = 0; i < spec.sms; i++)
		gmmu_attach(w->g, i, &sm_ops, w);
}

/* Looks a page up, and leaves the rest for later; true: the TLB had it. */
static bool look_up(struct world *w, unsigned int sm, unsigned int n, uint8_t access,
		    uint64_t now)
{
	struct gmmu_waiter *waiter = &w->waiters[w->used++];

	assert_true(w->used < 1024);
	*waiter = (struct gmmu_waiter){ .sm = (uint16_t)sm, .warp = (uint16_t)n,
					.access = access };
	return gmmu_translate(w->g, page(n), waiter, now) != NULL;
}

/* Asks for a page, in a quantum of one cycle. */
static bool ask_as(struct world *w, unsigned int sm, unsigned int n, uint8_t access,
		   uint64_t now)
{
	bool hit = look_up(w, sm, n, access, now);

	assert_int_equal(gmmu_step(w->g, now), 0);
	return hit;
}

static bool ask(struct world *w, unsigned int sm, unsigned int n, uint64_t now)
{
	return ask_as(w, sm, n, ACCESS_READ, now);
}

/* Takes and serves what is in the buffer, as a handler without policies. */
static unsigned int serve(struct world *w, struct fault *faults, unsigned int max)
{
	unsigned int n = gmmu_take(w->g, faults, max);

	for (unsigned int i = 0; i < n; i++)
		w->present[number(faults[i].addr)] = true;
	return n;
}

/* Says so, of all that was served. */
static void replay(struct world *w, const struct fault *faults, unsigned int n, uint64_t now)
{
	for (unsigned int i = 0; i < n; i++)
		gmmu_arrived(w->g, faults[i].addr, PAGE_BYTES, now);
}

static void test_miss_walks_then_hits(void **state)
{
	struct world w;

	make(&w, NULL);
	w.present[3] = true;
	assert_int_equal(gmmu_next(w.g), NEVER);
	assert_false(ask(&w, 0, 3, 10));
	assert_int_equal(gmmu_next(w.g), 110);
	gmmu_step(w.g, 109);
	assert_int_equal(w.translated[3], 0);
	gmmu_step(w.g, 110);
	assert_int_equal(w.translated[3], 1);
	assert_int_equal(w.when[3], 110);
	assert_int_equal(w.touched[3], 1);
	assert_false(w.wrote[3]);
	assert_int_equal(w.faulted[3], 0);
	assert_true(ask(&w, 0, 3, 111));
	/* Another SM has a TLB of its own. */
	assert_false(ask_as(&w, 1, 3, ACCESS_WRITE, 111));
	gmmu_step(w.g, 211);
	assert_true(w.wrote[3]);
	assert_int_equal(gmmu_stats(w.g)->tlb_hits, 1);
	assert_int_equal(gmmu_stats(w.g)->tlb_misses, 2);
	assert_int_equal(gmmu_stats(w.g)->walks, 2);
	gmmu_destroy(w.g);
}

static void test_hit_under_miss_and_merging(void **state)
{
	struct world w;

	make(&w, NULL);
	w.present[1] = w.present[2] = true;
	ask(&w, 0, 1, 0);
	gmmu_step(w.g, 100);
	/* 2 misses; 1 still hits under it; a second access to 2 joins its walk. */
	assert_false(ask(&w, 0, 2, 100));
	assert_true(ask(&w, 0, 1, 101));
	assert_false(ask(&w, 0, 2, 150));
	gmmu_step(w.g, 200);
	assert_int_equal(w.translated[2], 2);
	assert_int_equal(w.when[2], 200);
	assert_int_equal(gmmu_stats(w.g)->walks, 2);
	gmmu_destroy(w.g);
}

static void small_tlb(struct gpu_spec *spec)
{
	spec->tlb_entries = 2;
}

static void test_lru(void **state)
{
	struct world w;

	make(&w, small_tlb);
	w.present[1] = w.present[2] = w.present[3] = true;
	ask(&w, 0, 1, 0);
	ask(&w, 0, 2, 0);
	gmmu_step(w.g, 100);
	assert_true(ask(&w, 0, 1, 101));	/* 2 is the oldest now */
	ask(&w, 0, 3, 102);
	gmmu_step(w.g, 202);
	assert_true(gmmu_tlb_holds(w.g, 0, page(1)));
	assert_false(gmmu_tlb_holds(w.g, 0, page(2)));
	assert_true(gmmu_tlb_holds(w.g, 0, page(3)));
	gmmu_destroy(w.g);
}

static void one_walker(struct gpu_spec *spec)
{
	spec->walkers = 2;
}

static void test_walkers_are_limited(void **state)
{
	struct world w;

	make(&w, one_walker);
	w.present[1] = w.present[2] = w.present[3] = true;
	ask(&w, 0, 1, 0);
	ask(&w, 0, 2, 10);
	ask(&w, 0, 3, 20);	/* waits for a walker until 100 */
	for (uint64_t now = 21; now <= 300; now++)
		gmmu_step(w.g, now);
	assert_int_equal(w.when[1], 100);
	assert_int_equal(w.when[2], 110);
	assert_int_equal(w.when[3], 200);
	gmmu_destroy(w.g);
}

static void test_far_fault_record_and_replay(void **state)
{
	struct fault f[4];
	struct world w;

	make(&w, NULL);
	ask_as(&w, 2, 7, ACCESS_WRITE, 50);
	gmmu_step(w.g, 150);
	assert_int_equal(w.faulted[7], 1);
	assert_int_equal(w.translated[7], 0);
	assert_int_equal(gmmu_mshrs_used(w.g, 2), 1);
	assert_int_equal(gmmu_faults(w.g), 1);
	/* Another warp of the SM learns at once, and makes no second record. */
	ask(&w, 2, 7, 160);
	assert_int_equal(w.faulted[7], 2);
	assert_int_equal(gmmu_faults(w.g), 1);

	assert_int_equal(serve(&w, f, 4), 1);
	assert_int_equal(f[0].addr, page(7));
	assert_int_equal(f[0].cycle, 150);
	assert_int_equal(f[0].sm, 2);
	assert_int_equal(f[0].va_space, 1);
	assert_int_equal(f[0].access, ACCESS_WRITE);
	assert_int_equal(f[0].merged, 1);
	/* Resident, but nobody looks before the replay. */
	gmmu_step(w.g, 900);
	assert_int_equal(w.translated[7], 0);
	assert_int_equal(gmmu_arrived(w.g, page(7), PAGE_BYTES, 1000), 1);
	assert_int_equal(gmmu_mshrs_used(w.g, 2), 0);
	gmmu_step(w.g, 1100);
	assert_int_equal(w.translated[7], 2);
	assert_int_equal(w.when[7], 1100);
	assert_int_equal(w.faulted[7], 2);
	assert_int_equal(gmmu_stats(w.g)->replays, 1);
	gmmu_destroy(w.g);
}

static unsigned int mshrs;

static void set_mshrs(struct gpu_spec *spec)
{
	spec->far_mshrs = mshrs;
}

/*
 * 16 far pages of one SM at once, each batch served before the next is taken.
 * With M MSHRs: the first walks fill M and drop 16 - M, which is the only time they are
 * NACKed: after each batch the oldest M walk again and fill them.
 */
static void run_limit(unsigned int limit, unsigned int batches, unsigned int nacks)
{
	struct fault f[64];
	struct world w;
	uint64_t now = 0;
	unsigned int rounds = 0;

	mshrs = limit;
	make(&w, set_mshrs);
	for (unsigned int i = 0; i < 16; i++)
		ask(&w, 0, i, 0);
	gmmu_step(w.g, now += 100);
	assert_int_equal(gmmu_mshrs_used(w.g, 0), limit ? limit : 16);
	assert_int_equal(gmmu_stats(w.g)->nacks, nacks);
	while (gmmu_faults(w.g)) {
		unsigned int n = serve(&w, f, 64);

		assert_int_equal(n, limit ? limit : 16);
		/* Oldest first. */
		assert_int_equal(f[0].addr, page(rounds * limit));
		replay(&w, f, n, now += 5000);
		gmmu_step(w.g, now += 100);
		rounds++;
	}
	assert_int_equal(rounds, batches);
	assert_int_equal(gmmu_stats(w.g)->replays, 16);
	assert_int_equal(gmmu_stats(w.g)->nacks, nacks);
	for (unsigned int i = 0; i < 16; i++) {
		assert_int_equal(w.translated[i], 1);
		assert_int_equal(w.faulted[i], 1);
	}
	assert_int_equal(gmmu_mshrs_used(w.g, 0), 0);
	gmmu_destroy(w.g);
}

static void test_mshr_limits(void **state)
{
	run_limit(1, 16, 15);
	run_limit(2, 8, 14);
	run_limit(4, 4, 12);
	run_limit(16, 1, 0);
	run_limit(0, 1, 0);
}

static void test_dropped_but_resident_lets_the_next_go(void **state)
{
	struct fault f[4];
	struct world w;

	mshrs = 1;
	make(&w, set_mshrs);
	for (unsigned int i = 0; i < 5; i++)
		ask(&w, 0, i, 0);
	gmmu_step(w.g, 100);
	assert_int_equal(gmmu_stats(w.g)->nacks, 4);
	/* The batch brings 1 and 2 as well: a prefetch. */
	serve(&w, f, 4);
	w.present[1] = w.present[2] = true;
	assert_int_equal(gmmu_arrived(w.g, page(0), 3 * PAGE_BYTES, 1000), 1);
	for (uint64_t now = 1001; now < 2000; now++)
		gmmu_step(w.g, now);
	/* All that have a chance walk again: 1 and 2 are there; 3 took the MSHR; 4 waits. */
	assert_int_equal(w.translated[0], 1);
	assert_int_equal(w.when[1], 1100);
	assert_int_equal(w.when[2], 1100);
	assert_int_equal(w.translated[3], 0);
	assert_int_equal(gmmu_faults(w.g), 1);
	assert_int_equal(gmmu_mshrs_used(w.g, 0), 1);
	gmmu_destroy(w.g);
}

static void test_merged_across_sms(void **state)
{
	struct fault f[4];
	struct world w;

	make(&w, NULL);
	ask(&w, 0, 9, 0);
	ask(&w, 1, 9, 5);
	gmmu_step(w.g, 100);
	gmmu_step(w.g, 105);
	assert_int_equal(gmmu_faults(w.g), 1);
	/* It is SM 0's far fault; SM 1 is told of it. */
	assert_int_equal(gmmu_mshrs_used(w.g, 0), 1);
	assert_int_equal(gmmu_mshrs_used(w.g, 1), 0);
	/* A third SM joins while the handler has the record already. */
	assert_int_equal(serve(&w, f, 4), 1);
	w.present[9] = false;
	ask(&w, 2, 9, 200);
	gmmu_step(w.g, 300);
	assert_int_equal(gmmu_faults(w.g), 0);
	w.present[9] = true;
	assert_int_equal(gmmu_arrived(w.g, page(9), PAGE_BYTES, 400), 3);
	gmmu_step(w.g, 500);
	assert_int_equal(w.translated[9], 3);
	for (unsigned int sm = 0; sm < 3; sm++)
		assert_int_equal(gmmu_mshrs_used(w.g, sm), 0);
	gmmu_destroy(w.g);
}

static void tiny_buffer(struct gpu_spec *spec)
{
	spec->fault_entries = 2;
	spec->far_mshrs = 0;
}

static void test_full_buffer_drops_and_replay_regenerates(void **state)
{
	struct fault f[8];
	struct world w;
	uint64_t now = 0;

	make(&w, tiny_buffer);
	for (unsigned int i = 0; i < 5; i++)
		ask(&w, 0, i, 0);
	gmmu_step(w.g, now += 100);
	assert_int_equal(gmmu_faults(w.g), 2);
	assert_int_equal(gmmu_stats(w.g)->nacks, 3);
	for (unsigned int i = 0; i < 8 && gmmu_faults(w.g); i++) {
		replay(&w, f, serve(&w, f, 8), now += 1000);
		gmmu_step(w.g, now += 100);
	}
	for (unsigned int i = 0; i < 5; i++)
		assert_int_equal(w.translated[i], 1);
	gmmu_destroy(w.g);
}

static void test_batch_limit_leaves_the_rest(void **state)
{
	struct fault f[8];
	struct world w;

	mshrs = 0;
	make(&w, set_mshrs);
	for (unsigned int i = 0; i < 5; i++)
		ask(&w, 0, i, 0);
	gmmu_step(w.g, 100);
	assert_int_equal(serve(&w, f, 2), 2);
	assert_int_equal(gmmu_faults(w.g), 3);
	replay(&w, f, 2, 200);
	gmmu_step(w.g, 300);
	/* The two are through; the three keep their records and do not walk again. */
	assert_int_equal(gmmu_faults(w.g), 3);
	assert_int_equal(w.translated[0] + w.translated[1], 2);
	assert_int_equal(gmmu_stats(w.g)->walks, 7);
	gmmu_destroy(w.g);
}

static void test_stale_records_are_flushed(void **state)
{
	struct fault f[8];
	struct world w;

	make(&w, NULL);
	ask(&w, 0, 1, 0);
	gmmu_step(w.g, 100);
	serve(&w, f, 8);
	/* 2 and 3 fault while the handler is busy; the batch turns out to bring 2. */
	ask(&w, 0, 2, 100);
	ask(&w, 0, 3, 100);
	gmmu_step(w.g, 200);
	assert_int_equal(gmmu_faults(w.g), 2);
	w.present[2] = true;
	assert_int_equal(gmmu_arrived(w.g, page(1), 2 * PAGE_BYTES, 1000), 2);
	gmmu_step(w.g, 1100);
	assert_int_equal(w.translated[2], 1);
	assert_int_equal(gmmu_faults(w.g), 1);
	assert_int_equal(gmmu_take(w.g, f, 8), 1);
	assert_int_equal(f[0].addr, page(3));
	gmmu_destroy(w.g);
}

static void test_a_page_that_did_not_come_faults_again(void **state)
{
	struct fault f[8];
	struct world w;

	make(&w, NULL);
	ask(&w, 0, 1, 0);
	gmmu_step(w.g, 100);
	for (unsigned int i = 1; i <= 3; i++) {
		assert_int_equal(gmmu_take(w.g, f, 8), 1);
		assert_int_equal(gmmu_faults(w.g), 0);
		replay(&w, f, 1, i * 1000);
		gmmu_step(w.g, i * 1000 + 100);
		assert_int_equal(gmmu_faults(w.g), 1);
	}
	assert_int_equal(w.faulted[1], 1);
	assert_int_equal(gmmu_stats(w.g)->faults, 4);
	gmmu_destroy(w.g);
}

static void test_invalidate(void **state)
{
	struct world w;

	make(&w, NULL);
	for (unsigned int i = 0; i < 8; i++) {
		w.present[i] = true;
		ask(&w, 0, i, 0);
		ask(&w, 1, i, 0);
	}
	gmmu_step(w.g, 100);
	gmmu_invalidate(w.g, page(2), page(4));
	for (unsigned int i = 0; i < 8; i++) {
		assert_int_equal(gmmu_tlb_holds(w.g, 0, page(i)), i != 2 && i != 3);
		assert_int_equal(gmmu_tlb_holds(w.g, 1, page(i)), i != 2 && i != 3);
	}
	/* A range that is longer than the TLB, up to the end of everything. */
	gmmu_invalidate(w.g, page(6), UINT64_MAX);
	assert_true(gmmu_tlb_holds(w.g, 0, page(5)));
	assert_false(gmmu_tlb_holds(w.g, 0, page(6)));
	assert_false(gmmu_tlb_holds(w.g, 0, page(7)));
	/* Entries are used again. */
	assert_false(ask(&w, 0, 2, 200));
	gmmu_step(w.g, 300);
	assert_true(ask(&w, 0, 2, 301));
	gmmu_destroy(w.g);
}

static void test_cancel(void **state)
{
	struct fault f[8];
	struct world w;

	make(&w, NULL);
	w.present[1] = true;
	ask(&w, 0, 1, 0);
	gmmu_step(w.g, 100);
	ask(&w, 0, 2, 100);
	gmmu_step(w.g, 200);
	gmmu_take(w.g, f, 1);
	ask(&w, 0, 3, 200);
	gmmu_cancel(w.g);
	assert_int_equal(gmmu_next(w.g), NEVER);
	assert_int_equal(gmmu_faults(w.g), 0);
	assert_int_equal(gmmu_mshrs_used(w.g, 0), 0);
	assert_true(gmmu_tlb_holds(w.g, 0, page(1)));
	/* And it goes on as if nothing had been. */
	ask(&w, 0, 2, 300);
	gmmu_step(w.g, 400);
	assert_int_equal(serve(&w, f, 8), 1);
	replay(&w, f, 1, 500);
	gmmu_step(w.g, 600);
	assert_int_equal(w.translated[2], 1);
	assert_int_equal(w.translated[3], 0);
	gmmu_destroy(w.g);
}

/*
 * Three SMs look up in a quantum of six cycles, one after the other as a single host
 * thread runs them. What follows is in order of cycle and SM all the same, and as if every
 * cycle had been stepped: the two walkers take 5 (SM 2), 6 (SM 0), then 6 (SM 1), 9 (SM 0).
 */
static void test_a_quantum_is_put_in_order(void **state)
{
	struct world w;

	make(&w, one_walker);
	for (unsigned int i = 1; i <= 4; i++)
		w.present[i] = true;
	look_up(&w, 0, 1, ACCESS_READ, 6);
	look_up(&w, 0, 2, ACCESS_READ, 9);
	look_up(&w, 1, 3, ACCESS_READ, 6);
	look_up(&w, 2, 4, ACCESS_READ, 5);
	/* Nothing is known of them yet. */
	assert_int_equal(gmmu_next(w.g), NEVER);
	assert_int_equal(gmmu_stats(w.g)->walks, 0);
	assert_int_equal(gmmu_stats(w.g)->tlb_misses, 4);
	gmmu_step(w.g, 9);
	assert_int_equal(gmmu_next(w.g), 105);
	gmmu_step(w.g, 1000);
	/* Two walkers: 4 and 1 at once, then 3 when the first is free, then 2. */
	assert_int_equal(w.when[4], 105);
	assert_int_equal(w.when[1], 106);
	assert_int_equal(w.when[3], 205);
	assert_int_equal(w.when[2], 206);
	gmmu_destroy(w.g);
}

/* What is looked up behind the cycle that is stepped to waits for the next step. */
static void test_a_step_goes_no_further(void **state)
{
	struct world w;

	make(&w, NULL);
	w.present[1] = w.present[2] = true;
	look_up(&w, 0, 1, ACCESS_READ, 3);
	look_up(&w, 0, 2, ACCESS_READ, 8);
	gmmu_step(w.g, 5);
	assert_int_equal(gmmu_stats(w.g)->walks, 1);
	gmmu_step(w.g, 8);
	assert_int_equal(gmmu_stats(w.g)->walks, 2);
	gmmu_step(w.g, 200);
	assert_int_equal(w.when[1], 103);
	assert_int_equal(w.when[2], 108);
	gmmu_destroy(w.g);
}

/* A warp may have many instructions that wait: more requests than warps and lanes. */
static void few_requests(struct gpu_spec *spec)
{
	spec->sms = 1;
	spec->warps = 1;
}

static void test_requests_are_never_short(void **state)
{
	struct world w;

	make(&w, few_requests);
	for (unsigned int i = 0; i < 200; i++) {
		w.present[i] = true;
		ask(&w, 0, i, i);
	}
	gmmu_step(w.g, 1000);
	for (unsigned int i = 0; i < 200; i++)
		assert_int_equal(w.translated[i], 1);
	gmmu_destroy(w.g);
}

static void recorded(struct gpu_spec *spec)
{
	spec->record = 1;
}

/* Hits are told, an entry every 16384 cycles at most, by cycle and SM. */
static void test_recorded_use(void **state)
{
	struct world w;

	make(&w, recorded);
	w.present[1] = w.present[2] = true;
	ask(&w, 0, 1, 0);
	ask(&w, 1, 1, 0);
	ask(&w, 0, 2, 0);
	gmmu_step(w.g, 100);
	assert_int_equal(w.touched[1], 2);
	assert_true(ask(&w, 0, 1, 16483));
	assert_int_equal(w.touched[1], 2);
	/* One quantum: 2 by SM 0 first, then 1 by both, told at its end. */
	assert_true(look_up(&w, 1, 1, ACCESS_WRITE, 16486));
	assert_true(look_up(&w, 0, 2, ACCESS_READ, 16484));
	assert_true(look_up(&w, 0, 1, ACCESS_READ, 16486));
	assert_int_equal(w.touched[2], 1);
	gmmu_step(w.g, 16485);
	assert_int_equal(w.touched[2], 2);
	assert_int_equal(w.touched[1], 2);
	assert_false(w.wrote[1]);
	gmmu_step(w.g, 16490);
	assert_int_equal(w.touched[1], 4);
	assert_true(w.wrote[1]);
	/* Just said. */
	assert_true(ask(&w, 0, 1, 16491));
	assert_int_equal(w.touched[1], 4);
	gmmu_destroy(w.g);
	/* Without the option fills are all. */
	make(&w, NULL);
	w.present[1] = true;
	ask(&w, 0, 1, 0);
	gmmu_step(w.g, 100);
	assert_true(ask(&w, 0, 1, 1000000));
	assert_int_equal(w.touched[1], 1);
	gmmu_destroy(w.g);
}

static void paging_off(struct gpu_spec *spec)
{
	spec->paging = 0;
}

static void test_paging_off_with_ranges(void **state)
{
	const struct addr_range ranges[] = {
		{ page(2), page(4) }, { page(8), page(9) },
	};
	struct world w;

	make(&w, paging_off);
	assert_int_equal(gmmu_set_ranges(w.g, ranges, 2), 0);
	for (unsigned int i = 0; i < 12; i++) {
		struct gmmu_waiter waiter = { .sm = 1 };
		void *host = gmmu_translate(w.g, page(i), &waiter, 7);

		if (i == 2 || i == 3 || i == 8)
			assert_ptr_equal(host, (void *)(uintptr_t)page(i));
		else
			assert_null(host);
		/* What missed is in no range; the page table does not have it either. */
		gmmu_step(w.g, 7);
	}
	/* A range that is gone is not answered from, though it answered last. */
	assert_true(look_up(&w, 1, 8, ACCESS_READ, 8));
	assert_int_equal(gmmu_set_ranges(w.g, ranges, 1), 0);
	assert_false(look_up(&w, 1, 8, ACCESS_READ, 9));
	gmmu_destroy(w.g);
}

static void test_paging_off_without_ranges(void **state)
{
	struct world w;

	make(&w, paging_off);
	w.present[4] = true;
	/* The page table is read at the quantum's end, and no time passes. */
	assert_false(look_up(&w, 0, 4, ACCESS_WRITE, 10));
	assert_int_equal(w.translated[4], 0);
	gmmu_step(w.g, 12);
	assert_int_equal(w.translated[4], 1);
	assert_true(w.wrote[4]);
	/* From the table now: the page table is not asked. */
	w.present[4] = false;
	assert_true(look_up(&w, 0, 4, ACCESS_READ, 13));
	assert_int_equal(w.touched[4], 1);
	/* Another SM has a table of its own. */
	assert_false(look_up(&w, 1, 4, ACCESS_READ, 13));
	gmmu_invalidate(w.g, page(3), page(5));
	assert_false(look_up(&w, 0, 4, ACCESS_READ, 14));
	gmmu_destroy(w.g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_miss_walks_then_hits),
		cmocka_unit_test(test_hit_under_miss_and_merging),
		cmocka_unit_test(test_lru),
		cmocka_unit_test(test_walkers_are_limited),
		cmocka_unit_test(test_far_fault_record_and_replay),
		cmocka_unit_test(test_mshr_limits),
		cmocka_unit_test(test_dropped_but_resident_lets_the_next_go),
		cmocka_unit_test(test_merged_across_sms),
		cmocka_unit_test(test_full_buffer_drops_and_replay_regenerates),
		cmocka_unit_test(test_batch_limit_leaves_the_rest),
		cmocka_unit_test(test_stale_records_are_flushed),
		cmocka_unit_test(test_a_page_that_did_not_come_faults_again),
		cmocka_unit_test(test_invalidate),
		cmocka_unit_test(test_cancel),
		cmocka_unit_test(test_a_quantum_is_put_in_order),
		cmocka_unit_test(test_a_step_goes_no_further),
		cmocka_unit_test(test_requests_are_never_short),
		cmocka_unit_test(test_recorded_use),
		cmocka_unit_test(test_paging_off_with_ranges),
		cmocka_unit_test(test_paging_off_without_ranges),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
