// SPDX-License-Identifier: GPL-2.0
/* The far-fault handler, one batch at a time, against plans and numbers worked out by hand. */
#include "paging_fake.h"

#define PAGE_NS	256u	/* 4 KiB at 16 GB/s */

static struct fake *fake;
static struct paging_pool *pool;
static struct paging *paging[SPACES];
static struct gpu_spec spec;
static struct paging_outcome outcome;
static struct err err;

static void begin(uint64_t frames)
{
	fake = fake_create(frames);
	spec_defaults(&spec);
	assert_int_equal(paging_pool_create(&fake->service, &pool), 0);
}

static void make(uint32_t space, uint64_t limit, const char *prefetch)
{
	spec.vram_bytes = limit * PAGE_BYTES;
	strcpy(spec.prefetch, prefetch);
	assert_int_equal(paging_create(pool, space, &spec, &paging[space], &err), 0);
}

static int end(void **state)
{
	for (unsigned int i = 0; i < SPACES; i++)
		if (paging[i])
			paging_destroy(paging[i]);
	memset(paging, 0, sizeof(paging));
	if (pool)
		paging_pool_destroy(pool);
	pool = NULL;
	free(fake);
	return 0;
}

/* Faults of a VA space on the pages listed, the last one followed by -1; what comes has come. */
static void fault(uint32_t space, uint64_t now, ...)
{
	struct fault faults[BLOCK_PAGES];
	unsigned int n = 0;
	va_list pages;
	int page;

	va_start(pages, now);
	while ((page = va_arg(pages, int)) >= 0)
		faults[n++] = (struct fault){
			.addr = PAGE((unsigned int)page),
			.va_space = space,
			.access = ACCESS_READ,
			.merged = 1,
		};
	va_end(pages);
	assert_int_equal(paging_serve(paging[space], faults, n, now, &outcome), 0);
	assert_int_equal(paging_land_all(paging[space], NULL), 0);
}

static void touch(uint32_t space, int first, int last)
{
	for (int page = first; page <= last; page++)
		paging_touch(paging[space], PAGE((unsigned int)page), false);
}

static void assert_resident(uint32_t space, int first, int last, bool is)
{
	for (int page = first; page <= last; page++) {
		assert_int_equal(paging_resident(paging[space], PAGE((unsigned int)page)), is);
		assert_int_equal(fake->there[space][page], is);
	}
}

static void first_touch(void **state)
{
	const struct paging_stats *stats;
	struct fault faults[] = {
		/* 700 MHz: 700 cycles are 1000 ns. */
		{ .addr = PAGE(8), .cycle = 1000, .va_space = 1 },
		{ .addr = PAGE(3), .cycle = 300, .va_space = 1 },
		{ .addr = PAGE(7), .cycle = 1700, .va_space = 1 },
		{ .addr = PAGE(8), .cycle = 1500, .va_space = 1 },
		{ .addr = PAGE(511), .cycle = 9999, .va_space = 1 },
		{ .addr = PAGE(512), .cycle = 1700, .va_space = 1 },
	};

	begin(100);
	make(1, 100, "none");
	assert_int_equal(paging_serve(paging[1], faults, 6, 1700, &outcome), 0);
	assert_int_equal(outcome.service_ns, SERVE_NS);
	assert_int_equal(outcome.cost.fetched_to_committed, SERVE_NS);
	assert_int_equal(outcome.unmanaged + outcome.stuck, 0);
	assert_int_equal(paging_land_all(paging[1], NULL), 0);
	/* Neighbours in one run, but never over a block's end. */
	assert_steps(fake, 0, 4);
	assert_step(fake, 0, 0, MIGRATE_H2D, 1, 3, 1);
	assert_step(fake, 0, 1, MIGRATE_H2D, 1, 7, 2);
	assert_step(fake, 0, 2, MIGRATE_H2D, 1, 511, 1);
	assert_step(fake, 0, 3, MIGRATE_H2D, 1, 512, 1);
	stats = paging_stats(paging[1]);
	assert_int_equal(stats->far_faults, 5);
	assert_int_equal(stats->raw_faults, 6);
	assert_int_equal(stats->batches, 1);
	assert_int_equal(stats->h2d_bytes, 5 * 4096);
	assert_int_equal(stats->d2h_bytes + stats->evicted_pages + stats->prefetched_pages, 0);
	assert_int_equal(stats->busy_ns, SERVE_NS);
	/* Five pages on the link. */
	assert_int_equal(stats->stages.copy, 5 * PAGE_NS);
	assert_int_equal(stats->stages.fetched_to_committed, SERVE_NS);
	assert_int_equal(stats->stages.total, SERVE_NS + 5 * PAGE_NS);
	/*
	 * Page 3 comes first, raised 2000 ns before; then 7 and 8 at once, raised 0 and 1000 ns
	 * before; then 511 and 512, together for the link, one raised when it was there already.
	 */
	assert_int_equal(stats->latency_ns.count, 5);
	assert_int_equal(stats->latency_ns.max, 2000 + SERVE_NS + PAGE_NS);
	assert_int_equal(stats->latency_ns.sum, 2000 + SERVE_NS + PAGE_NS +
			 0 + 1000 + 2 * (SERVE_NS + 3 * PAGE_NS) + SERVE_NS + 5 * PAGE_NS);
	paging_stats_reset(paging[1]);
	assert_int_equal(stats->far_faults + stats->latency_ns.count + stats->h2d_bytes, 0);
	assert_resident(1, 7, 8, true);
}

static void demand_before_prefetch(void **state)
{
	const struct paging_stats *stats;

	begin(100);
	make(1, 100, "sequential:pages=3");
	fault(1, 0, 20, 10, 22, -1);
	assert_steps(fake, 0, 6);
	assert_step(fake, 0, 0, MIGRATE_H2D, 1, 10, 1);
	assert_step(fake, 0, 1, MIGRATE_H2D, 1, 20, 1);
	assert_step(fake, 0, 2, MIGRATE_H2D, 1, 22, 1);
	assert_step(fake, 0, 3, MIGRATE_H2D, 1, 11, 3);
	assert_step(fake, 0, 4, MIGRATE_H2D, 1, 21, 1);
	assert_step(fake, 0, 5, MIGRATE_H2D, 1, 23, 3);
	stats = paging_stats(paging[1]);
	assert_int_equal(stats->prefetched_pages, 7);
	assert_int_equal(stats->prefetch_used_pages, 0);
	assert_int_equal(stats->h2d_bytes, 10 * 4096);
	/* Used once, however often. */
	touch(1, 10, 13);
	touch(1, 10, 13);
	assert_int_equal(stats->prefetch_used_pages, 3);
	/* A prefetched page that faulted meanwhile: nothing to move, and it was a far fault. */
	fault(1, 0, 21, -1);
	assert_steps(fake, 0, 0);
	assert_int_equal(stats->far_faults, 4);
	/* Past the end of managed memory: what is there comes, the rest is nobody's loss. */
	fault(1, 0, PAGES - 2, -1);
	assert_int_equal(outcome.stuck + outcome.unmanaged, 0);
	assert_resident(1, PAGES - 2, PAGES - 1, true);
	assert_int_equal(stats->prefetched_pages, 8);
	/* After a reset an old prefetch counts for nothing. */
	paging_stats_reset(paging[1]);
	touch(1, 21, 25);
	assert_int_equal(stats->prefetch_used_pages, 0);
}

static void evictions_come_first(void **state)
{
	begin(4);
	make(1, 100, "none");
	fault(1, 0, 0, 1, 2, 3, -1);
	touch(1, 2, 3);
	touch(1, 0, 1);		/* least recent first: 2 3 0 1 */
	fault(1, 0, 8, 9, 600, -1);
	assert_steps(fake, 0, 4);
	assert_step(fake, 0, 0, MIGRATE_D2H, 1, 0, 1);
	assert_step(fake, 0, 1, MIGRATE_D2H, 1, 2, 2);
	assert_step(fake, 0, 2, MIGRATE_H2D, 1, 8, 2);
	assert_step(fake, 0, 3, MIGRATE_H2D, 1, 600, 1);
	assert_int_equal(paging_stats(paging[1])->evicted_pages, 3);
	assert_int_equal(paging_stats(paging[1])->d2h_bytes, 3 * 4096);
	assert_resident(1, 0, 0, false);
	assert_resident(1, 1, 1, true);
	assert_resident(1, 2, 3, false);
	/* The session's own limit, with frames free. */
	fake->frames = 100;
	paging_destroy(paging[1]);
	make(1, 5, "none");
	fault(1, 0, 20, 21, -1);
	assert_int_equal(fake->used, 5);
}

static void prefetch_is_cut(void **state)
{
	begin(6);
	make(1, 6, "sequential:pages=8");
	fault(1, 0, PAGES - 1, -1);
	touch(1, PAGES - 1, PAGES - 1);
	/* Five frames free and one old page: two demanded, four prefetched, no batch page goes. */
	fault(1, 0, 100, 120, -1);
	assert_steps(fake, 0, 4);
	assert_step(fake, 0, 0, MIGRATE_H2D, 1, 100, 1);
	assert_step(fake, 0, 1, MIGRATE_H2D, 1, 120, 1);
	assert_step(fake, 0, 2, MIGRATE_D2H, 1, PAGES - 1, 1);
	assert_step(fake, 0, 3, MIGRATE_H2D, 1, 101, 4);
	/* Demanded pages that nobody has touched yet are no victims; prefetched ones are. */
	fault(1, 0, 200, 210, 220, -1);
	assert_resident(1, 100, 100, true);
	assert_resident(1, 120, 120, true);
	assert_resident(1, 200, 200, true);
	assert_resident(1, 210, 210, true);
	assert_resident(1, 220, 220, true);
	assert_int_equal(fake->used, 6);
	/* All six frames demanded: no prefetch at all, and the demand is served. */
	touch(1, 0, 300);
	fault(1, 0, 300, 310, 320, 330, 340, 350, -1);
	assert_steps(fake, 0, 11);
	assert_step(fake, 0, 1, MIGRATE_D2H, 1, 120, 1);
	assert_step(fake, 0, 2, MIGRATE_D2H, 1, 200, 2);
	assert_step(fake, 0, 5, MIGRATE_H2D, 1, 300, 1);
	assert_step(fake, 0, 10, MIGRATE_H2D, 1, 350, 1);
}

/*
 * Two frames; a warp walks up from page 0 and a page far above is wanted by
 * another one all the time. It has its turn although it is never the lowest.
 */
static void the_excess_waits(void **state)
{
	unsigned int batches = 0;

	begin(2);
	make(1, 2, "none");
	fault(1, 0, 0, 1, 2, 3, 900, -1);
	assert_int_equal(outcome.stuck, 0);
	assert_resident(1, 0, 1, true);
	/* A fault that waits is counted when it is served. */
	assert_int_equal(paging_stats(paging[1])->far_faults, 2);
	assert_int_equal(paging_stats(paging[1])->raw_faults, 5);
	for (int page = 2; !fake->there[1][900]; page++) {
		touch(1, 0, 1000);
		fault(1, 0, page, page + 1, page + 2, 900, -1);
		assert_true(++batches < 4);
	}
	assert_int_equal(fake->used, 2);
}

/* A page that waited has the first right to a frame; the plan is still in order of address. */
static void waiting_does_not_split_runs(void **state)
{
	begin(4);
	make(1, 4, "none");
	fault(1, 0, 0, 1, 2, 3, 900, 902, -1);
	touch(1, 0, 3);
	fault(1, 0, 902, 900, 901, 5, -1);
	assert_steps(fake, 0, 3);
	assert_step(fake, 0, 0, MIGRATE_D2H, 1, 0, 4);
	assert_step(fake, 0, 1, MIGRATE_H2D, 1, 5, 1);
	assert_step(fake, 0, 2, MIGRATE_H2D, 1, 900, 3);
}

/*
 * The worst case: two warps, two pages each in turn, one frame, and the next
 * batch is always planned before any warp gets to use what came.
 */
static void one_frame_progresses(void **state)
{
	unsigned int done[2] = { 0, 0 }, batches = 0;

	begin(1);
	make(1, 1, "none");
	while (done[0] < 50 || done[1] < 50) {
		int page[2] = { (int)(done[0] % 2), (int)(10 + done[1] % 2) };

		fault(1, 0, page[0], page[1], -1);
		fault(1, 0, page[1], page[0], -1);
		for (unsigned int w = 0; w < 2; w++)
			if (fake->there[1][page[w]]) {
				touch(1, page[w], page[w]);
				done[w]++;
			}
		assert_true(++batches < 1000);
	}
	assert_int_equal(fake->used, 1);
}

/* A page is waited for until somebody uses it, or nobody is left. */
static void a_page_that_is_waited_for_stays(void **state)
{
	begin(1);
	make(1, 1, "none");
	fault(1, 0, 0, -1);
	for (unsigned int i = 0; i < 20; i++) {
		fault(1, 0, 5, -1);
		assert_int_equal(outcome.stuck, 0);
		assert_resident(1, 0, 0, true);
	}
	touch(1, 0, 0);
	fault(1, 0, 5, -1);
	assert_resident(1, 5, 5, true);
	/* Its kernel has ended. */
	paging_abandon(paging[1]);
	fault(1, 0, 9, -1);
	assert_resident(1, 9, 9, true);
	paging_abandon(paging[1]);
	/* A guess that somebody runs into. */
	assert_int_equal(paging_prefetch(paging[1], PAGE(3), PAGE_BYTES, 0, &outcome), 0);
	paging_await(paging[1], PAGE(3));
	fault(1, 0, 4, -1);
	assert_resident(1, 3, 3, true);
}

static void largest_session_pays(void **state)
{
	begin(6);
	make(1, 6, "none");
	make(2, 6, "none");
	make(3, 2, "none");
	fault(1, 0, 0, 1, 2, -1);
	fault(2, 0, 0, 1, -1);
	fault(3, 0, 0, -1);
	/* Session 3 has one of six and may have two: 1 has the most. */
	fault(3, 0, 5, -1);
	assert_step(fake, 0, 0, MIGRATE_D2H, 1, 0, 1);
	assert_step(fake, 0, 1, MIGRATE_H2D, 3, 5, 1);
	assert_false(paging_resident(paging[1], PAGE(0)));
	/* At its own limit it pays itself. */
	touch(3, 0, 5);
	fault(3, 0, 7, -1);
	assert_step(fake, 0, 0, MIGRATE_D2H, 3, 0, 1);
	/* 2, 2, 2: the lowest number among equals. */
	fault(2, 0, 9, -1);
	assert_step(fake, 0, 0, MIGRATE_D2H, 1, 1, 1);
	assert_int_equal(fake->used, 6);
	/* 2 has the most, and all of it is still waited for: the next largest pays. */
	fault(2, 0, 10, -1);
	assert_step(fake, 0, 0, MIGRATE_D2H, 3, 5, 1);
}

/* Never more at once than makes the next largest the largest, nor more than are needed. */
static void sessions_pay_in_turn(void **state)
{
	begin(9);
	for (uint32_t space = 1; space <= 3; space++)
		make(space, 9, "none");
	fault(1, 0, 0, 1, 2, 3, 4, -1);
	fault(2, 0, 0, 1, 2, 3, -1);
	/* 5 and 4: 1 pays; 4 and 4: 1; 3 and 4: 2; 3 and 3: 1. */
	fault(3, 0, 10, 11, 12, 13, -1);
	assert_steps(fake, 0, 3);
	assert_step(fake, 0, 0, MIGRATE_D2H, 1, 0, 3);
	assert_step(fake, 0, 1, MIGRATE_D2H, 2, 0, 1);
	assert_step(fake, 0, 2, MIGRATE_H2D, 3, 10, 4);
	end(state);
	begin(7);
	make(1, 7, "none");
	make(2, 7, "none");
	make(3, 7, "none");
	fault(1, 0, 0, 1, 2, 3, 4, 5, -1);
	fault(2, 0, 0, -1);
	/* 1 would have to pay five before 2 is the largest; two are needed. */
	fault(3, 0, 10, 11, -1);
	assert_steps(fake, 0, 2);
	assert_step(fake, 0, 0, MIGRATE_D2H, 1, 0, 2);
	assert_step(fake, 0, 1, MIGRATE_H2D, 3, 10, 2);
}

/* 25% of ten frames are two, whether ten are the device's or the session's: eight pages may stay. */
static void spare_frames(void **state)
{
	static const uint64_t frames[] = { 10, 100 }, limit[] = { 100, 10 };

	for (unsigned int i = 0; i < 2; i++) {
		const struct paging_stats *stats;

		begin(frames[i]);
		spec.watermark = 25;
		make(1, limit[i], "none");
		stats = paging_stats(paging[1]);
		fault(1, 0, 0, 1, 2, 3, 4, 5, 6, 7, -1);
		touch(1, 0, 7);
		assert_int_equal(stats->pre_evicted_pages, 0);
		/* The ninth: one goes. */
		fault(1, 0, 8, -1);
		touch(1, 8, 8);
		assert_int_equal(stats->pre_evicted_pages, 1);
		assert_resident(1, 0, 0, false);
		assert_resident(1, 1, 8, true);
		/* Three more are eleven: 1 goes for them, then 2 and 3 ahead of need. */
		fault(1, 0, 20, 21, 22, -1);
		assert_int_equal(stats->evicted_pages, 4);
		assert_int_equal(stats->pre_evicted_pages, 3);
		assert_resident(1, 1, 3, false);
		assert_resident(1, 4, 8, true);
		assert_int_equal(fake->used, 8);
		if (!i)
			end(state);
	}
}

static void pinned_page_is_stuck(void **state)
{
	begin(10);
	make(1, 10, "none");
	fake->pinned[1][3] = true;
	fault(1, 0, 2, 3, 4, 8, -1);
	assert_int_equal(outcome.stuck, 1);
	assert_int_equal(outcome.stuck_status, -EBUSY);
	assert_true(outcome.stuck_addr == PAGE(3));
	assert_resident(1, 2, 2, true);
	assert_resident(1, 3, 3, false);
	assert_resident(1, 4, 4, true);
	assert_resident(1, 8, 8, true);
	assert_int_equal(paging_stats(paging[1])->h2d_bytes, 3 * 4096);
}

/* A page that is only being worked on comes at the next try, and says less than any other. */
static void busy_page_says_least(void **state)
{
	begin(10);
	make(1, 10, "none");
	fake->busy[1][2] = true;
	fault(1, 0, 2, 5, -1);
	assert_int_equal(outcome.stuck, 1);
	assert_int_equal(outcome.stuck_status, -EAGAIN);
	assert_true(outcome.stuck_addr == PAGE(2));
	assert_resident(1, 5, 5, true);
	fake->pinned[1][8] = true;
	fake->busy[1][20] = true;
	fault(1, 0, 2, 8, 20, -1);
	assert_int_equal(outcome.stuck, 3);
	assert_int_equal(outcome.stuck_status, -EBUSY);
	assert_true(outcome.stuck_addr == PAGE(8));
	memset(fake->busy, 0, sizeof(fake->busy));
	fault(1, 0, 2, 20, -1);
	assert_int_equal(outcome.stuck, 0);
	assert_resident(1, 2, 2, true);
	assert_resident(1, 20, 20, true);
}

static void pinned_victim_is_passed_over(void **state)
{
	begin(3);
	make(1, 3, "none");
	fake->strict = false;
	fault(1, 0, 0, 1, 2, -1);
	touch(1, 0, 2);
	fake->pinned[1][0] = true;
	fake->pinned[1][1] = true;
	fault(1, 0, 9, -1);
	/* 0 stays, 1 stays, 2 goes. */
	assert_int_equal(outcome.stuck, 0);
	assert_int_equal(fake->serves, 4);
	assert_int_equal(outcome.service_ns, 3 * SERVE_NS);
	assert_resident(1, 9, 9, true);
	assert_resident(1, 0, 1, true);
	assert_resident(1, 2, 2, false);
	assert_int_equal(paging_stats(paging[1])->evicted_pages, 1);
	assert_int_equal(paging_stats(paging[1])->batches, 2);
	/* All of them pinned: said, not looped over. */
	touch(1, 9, 9);
	fake->pinned[1][9] = true;
	fault(1, 0, 12, 13, -1);
	assert_int_equal(outcome.stuck, 2);
	assert_int_equal(outcome.stuck_status, -ENOSPC);
	assert_true(outcome.stuck_addr == PAGE(12));
	/* And nothing is forgotten: free again, they go. */
	memset(fake->pinned, 0, sizeof(fake->pinned));
	fault(1, 0, 12, 13, -1);
	assert_int_equal(outcome.stuck, 0);
	assert_resident(1, 12, 13, true);
	assert_int_equal(fake->used, 3);
}

static void fewer_frames_than_promised(void **state)
{
	begin(4);
	make(1, 100, "none");
	fake->strict = false;
	fault(1, 0, 0, 1, 2, -1);
	touch(1, 0, 2);
	fake->lacking = 1;
	fault(1, 0, 9, -1);
	assert_int_equal(outcome.stuck, 0);
	assert_resident(1, 9, 9, true);
	assert_resident(1, 0, 0, false);
	/* Not held against it later. */
	touch(1, 9, 9);
	fake->lacking = 0;
	fault(1, 0, 10, -1);
	assert_int_equal(fake->used, 4);
}

static void memory_that_goes_meanwhile(void **state)
{
	begin(4);
	make(1, 4, "none");
	fake->vanish = 3;
	fault(1, 0, 2, 3, -1);
	assert_int_equal(outcome.stuck + outcome.unmanaged, 0);
	assert_resident(1, 2, 2, true);
	assert_resident(1, 3, 3, false);
	assert_int_equal(paging_stats(paging[1])->far_faults, 1);
	fault(1, 0, 3, -1);
	assert_int_equal(outcome.unmanaged, 1);
}

static void unmanaged_faults(void **state)
{
	begin(10);
	make(1, 10, "none");
	fake->unmanaged[1][5] = true;
	fake->unmanaged[1][7] = true;
	fault(1, 0, 7, 5, 6, PAGES + 3, -1);
	assert_int_equal(outcome.unmanaged, 3);
	assert_true(outcome.unmanaged_addr == PAGE(5));
	assert_int_equal(outcome.stuck, 0);
	assert_int_equal(paging_stats(paging[1])->far_faults, 1);
	assert_steps(fake, 0, 1);
	assert_resident(1, 6, 6, true);
}

/* Nobody waits for a prefetch; and it is said which fault is what. */
static void fatal_faults(void **state)
{
	struct fault faults[2];

	begin(10);
	make(1, 10, "none");
	for (unsigned int i = 0; i < 2; i++) {
		fake->unmanaged[1][5 + i] = true;
		faults[i] = (struct fault){
			.addr = PAGE(5 + i), .va_space = 1, .merged = 1,
			.access = i ? ACCESS_READ : ACCESS_PREFETCH,
		};
	}
	fake->is_protected[1][6] = true;
	assert_int_equal(paging_serve(paging[1], faults, 1, 0, &outcome), 0);
	assert_int_equal(outcome.unmanaged, 0);
	assert_int_equal(paging_serve(paging[1], faults, 2, 0, &outcome), 0);
	assert_int_equal(outcome.unmanaged, 1);
	assert_true(outcome.unmanaged_addr == PAGE(6));
	assert_true(outcome.is_protected);
	fault(1, 0, PAGES + 3, -1);
	assert_int_equal(outcome.unmanaged, 1);
	assert_false(outcome.is_protected);
}

/* It is neither brought for its fault nor by a policy, until it is not throttled any more. */
static void a_throttled_fault_waits(void **state)
{
	begin(20);
	make(1, 20, "sequential");
	fake->throttled[1][1] = true;
	fault(1, 0, 0, 1, -1);
	assert_int_equal(outcome.stuck + outcome.unmanaged, 0);
	assert_resident(1, 0, 0, true);
	assert_resident(1, 1, 1, false);
	assert_resident(1, 2, 3, true);
	assert_int_equal(paging_stats(paging[1])->far_faults, 1);
	fault(1, 0, 1, -1);
	assert_resident(1, 1, 1, false);
	fake->throttled[1][1] = false;
	fault(1, 0, 1, -1);
	assert_resident(1, 1, 1, true);
	assert_int_equal(paging_stats(paging[1])->far_faults, 2);
}

static void the_service_knows_better(void **state)
{
	begin(3);
	make(1, 3, "none");
	fault(1, 0, 0, 1, -1);
	touch(1, 0, 1);
	/* Gone without a word yet; another one came. */
	fake->there[1][0] = false;
	fake->there[1][7] = true;
	fault(1, 0, 0, 7, -1);
	assert_steps(fake, 0, 1);
	assert_step(fake, 0, 0, MIGRATE_H2D, 1, 0, 1);
	assert_resident(1, 0, 1, true);
	assert_resident(1, 7, 7, true);
}

static void invalidation(void **state)
{
	struct service_invalidate all = { .end = UINT64_MAX };
	struct service_invalidate some = { PAGE(1), PAGE(4), 1, false };

	begin(20);
	make(1, 20, "none");
	make(2, 20, "none");
	fault(1, 0, 0, 1, 2, 3, 520, -1);
	fault(2, 0, 0, 1, 2, 3, -1);
	/* 1 and 2 left; 3 came back before the news did. */
	fake->there[1][1] = fake->there[1][2] = false;
	fake->there[2][1] = false;
	fake->used -= 3;
	paging_invalidate(pool, &some);
	assert_resident(1, 0, 0, true);
	assert_resident(1, 1, 2, false);
	assert_resident(1, 3, 3, true);
	assert_true(paging_resident(paging[2], PAGE(1)));
	fake->there[1][520] = false;
	fake->used--;
	paging_invalidate(pool, &all);
	assert_false(paging_resident(paging[2], PAGE(1)));
	assert_resident(1, 520, 520, false);
	assert_resident(2, 2, 3, true);
	some.end = some.start;
	paging_invalidate(pool, &some);
	/* Five are left and known: the sixth to the 20th find room without eviction. */
	spec.vram_bytes = 20 * PAGE_BYTES;
	for (int page = 100; page < 115; page++)
		fault(1, 0, page, -1);
	assert_int_equal(fake->used, 20);
	assert_int_equal(paging_stats(paging[1])->evicted_pages, 0);
}

/* The CPU takes a page back; nothing of its former stay is remembered. */
static void take_back(int page)
{
	struct service_invalidate i = { PAGE((unsigned int)page), PAGE((unsigned int)page + 1), 1 };

	fake->there[1][page] = false;
	fake->used--;
	paging_invalidate(pool, &i);
}

static void a_page_that_comes_back(void **state)
{
	begin(2);
	make(1, 2, "none");
	/* As no victim, which it no longer is. */
	fault(1, 0, 0, 1, -1);
	touch(1, 0, 1);
	take_back(0);
	fault(1, 0, 2, -1);
	fault(1, 0, 3, -1);
	assert_resident(1, 2, 3, true);
	/* As a page that a warp waits for: it comes back as a guess and may go. */
	take_back(3);
	touch(1, 2, 2);
	assert_int_equal(paging_prefetch(paging[1], PAGE(3), PAGE_BYTES, 0, &outcome), 0);
	fault(1, 0, 4, 5, -1);
	assert_resident(1, 4, 5, true);
	/* As a prefetched page: it comes back because it faulted. */
	touch(1, 4, 5);
	assert_int_equal(paging_prefetch(paging[1], PAGE(6), PAGE_BYTES, 0, &outcome), 0);
	take_back(6);
	fault(1, 0, 6, -1);
	touch(1, 6, 6);
	assert_int_equal(paging_stats(paging[1])->prefetch_used_pages, 0);
}

static void pages_outlive_their_handler(void **state)
{
	fake = fake_create(4);
	spec_defaults(&spec);
	/* A lost engine left three pages of two clients. */
	fake->there[1][0] = fake->there[2][5] = fake->there[2][6] = true;
	fake->used = 3;
	assert_int_equal(paging_pool_create(&fake->service, &pool), 0);
	make(1, 4, "none");
	assert_true(paging_resident(paging[1], PAGE(0)));
	fault(1, 0, 1, -1);
	/* Full. Space 2 has two pages, as space 1, but nobody waits for the older of 1. */
	fault(1, 0, 2, -1);
	assert_step(fake, 0, 0, MIGRATE_D2H, 1, 0, 1);
	touch(1, 1, 2);
	make(2, 4, "none");
	assert_true(paging_resident(paging[2], PAGE(6)));
	paging_destroy(paging[2]);
	paging[2] = NULL;
	/* Nobody's pages can be taken: its share is the larger one. */
	fake->there[1][1] = false;
	fake->used--;
	paging_invalidate(pool, &(struct service_invalidate){ PAGE(1), PAGE(2), 1, false });
	fault(1, 0, 3, 4, -1);
	assert_step(fake, 0, 0, MIGRATE_D2H, 2, 5, 1);
	/* New options: the pages are still known. */
	paging_destroy(paging[1]);
	make(1, 4, "none");
	assert_resident(1, 2, 4, true);
	assert_int_equal(paging_stats(paging[1])->far_faults, 0);
	touch(1, 3, 4);
	fault(1, 0, 9, -1);
	assert_int_equal(fake->used, 4);
}

static void pages_of_nobody_are_taken(void **state)
{
	fake = fake_create(3);
	spec_defaults(&spec);
	fake->there[2][5] = fake->there[2][6] = fake->there[2][8] = true;
	fake->used = 3;
	assert_int_equal(paging_pool_create(&fake->service, &pool), 0);
	make(1, 4, "none");
	fault(1, 0, 0, 1, -1);
	assert_step(fake, 0, 0, MIGRATE_D2H, 2, 5, 2);
	assert_step(fake, 0, 1, MIGRATE_H2D, 1, 0, 2);
}

static void a_lower_limit_is_reached(void **state)
{
	begin(1000);
	make(1, 1000, "none");
	assert_int_equal(paging_prefetch(paging[1], PAGE(0), 900 * PAGE_BYTES, 0, &outcome), 0);
	assert_int_equal(fake->used, 900);
	paging_destroy(paging[1]);
	make(1, 3, "none");
	fault(1, 0, 1000, 1001, -1);
	assert_int_equal(fake->used, 3);
	assert_resident(1, 1000, 1001, true);
}

static void explicit_prefetch(void **state)
{
	const struct paging_stats *stats;

	begin(PAGES + 3);
	make(1, PAGES + 3, "none");
	stats = paging_stats(paging[1]);
	fault(1, 0, 4, -1);
	assert_int_equal(paging_prefetch(paging[1], PAGE(2) + 5, 3 * PAGE_BYTES, 9999,
					 &outcome), 0);
	assert_steps(fake, 0, 2);
	assert_step(fake, 0, 0, MIGRATE_H2D, 1, 2, 2);
	assert_step(fake, 0, 1, MIGRATE_H2D, 1, 5, 1);
	assert_int_equal(stats->prefetched_pages, 3);
	assert_int_equal(stats->far_faults, 1);
	assert_int_equal(stats->batches, 1);
	assert_int_equal(stats->stages.total, SERVE_NS + PAGE_NS);
	assert_int_equal(outcome.service_ns, SERVE_NS + 3 * PAGE_NS);
	/* All there: nobody is bothered. */
	assert_int_equal(paging_prefetch(paging[1], PAGE(2), 3 * PAGE_BYTES, 0, &outcome), 0);
	assert_int_equal(outcome.service_ns, 0);
	assert_int_equal(stats->batches, 1);
	/* Everything, and three pages too many. */
	assert_int_equal(paging_prefetch(paging[1], PAGE(0), (PAGES + 3) * PAGE_BYTES, 0,
					 &outcome), 0);
	assert_resident(1, 0, PAGES - 1, true);
	assert_int_equal(outcome.unmanaged, 3);
	assert_int_equal(paging_prefetch(paging[1], PAGE(0), 0, 0, &outcome), 0);
	assert_int_equal(paging_prefetch(paging[1], PAGE(0), -PAGE(0) + 1, 0, &outcome), -EINVAL);
}

static void explicit_prefetch_keeps_its_range(void **state)
{
	begin(100);
	make(1, 100, "none");
	fault(1, 0, 1500, 1501, -1);
	touch(1, 1500, 1501);
	/* Room for 100 of 300 pages, one of them there: the first 99, and the strangers go. */
	fault(1, 0, 250, -1);
	touch(1, 250, 250);
	assert_int_equal(paging_prefetch(paging[1], PAGE(0), 300 * PAGE_BYTES, 0, &outcome), 0);
	assert_resident(1, 0, 98, true);
	assert_resident(1, 99, 249, false);
	assert_resident(1, 250, 250, true);
	assert_int_equal(fake->serves, 3);
	/* Two parts: the second is not asked for when the first has not found room. */
	assert_int_equal(paging_prefetch(paging[1], PAGE(900), 400 * PAGE_BYTES, 0, &outcome), 0);
	assert_resident(1, 900, 999, true);
	assert_int_equal(fake->serves, 4);
	assert_int_equal(paging_prefetch(paging[1], PAGE(1000), 50 * PAGE_BYTES, 0, &outcome), 0);
	assert_resident(1, 1000, 1049, true);
	assert_int_equal(fake->serves, 6);
	assert_resident(1, 1500, 1501, false);
	assert_int_equal(outcome.stuck, 0);
	fake->unmanaged[1][700] = true;
	assert_int_equal(paging_prefetch(paging[1], PAGE(699), 3 * PAGE_BYTES, 0, &outcome), 0);
	assert_int_equal(outcome.unmanaged, 1);
	assert_true(outcome.unmanaged_addr == PAGE(700));
	assert_resident(1, 701, 701, true);
}

static void a_lost_device(void **state)
{
	begin(2);
	make(1, 2, "none");
	fault(1, 0, 0, 1, -1);
	touch(1, 0, 1);
	fake->fail = -ENODEV;
	assert_int_equal(paging_serve(paging[1], &(struct fault){ .addr = PAGE(5), .va_space = 1 },
				      1, 0, &outcome), -ENODEV);
	assert_int_equal(paging_stats(paging[1])->batches, 1);
	/* The planned victims are still there, and still to be had. */
	assert_resident(1, 0, 1, true);
	fake->fail = 0;
	fault(1, 0, 5, 6, -1);
	assert_resident(1, 0, 1, false);
	assert_resident(1, 5, 6, true);
}

static void bad_arguments(void **state)
{
	struct fault many[257] = { { .va_space = 1 } };
	struct paging *none = NULL;

	begin(10);
	make(1, 10, "none");
	assert_int_equal(paging_serve(paging[1], many, 257, 0, &outcome), -EINVAL);
	many[0].va_space = 2;
	assert_int_equal(paging_serve(paging[1], many, 1, 0, &outcome), -EINVAL);
	assert_int_equal(paging_create(pool, 1, &spec, &none, &err), -EEXIST);
	assert_string_equal(err.text, "VA space 1 has a fault handler already");
	strcpy(spec.prefetch, "psychic");
	assert_int_equal(paging_create(pool, 2, &spec, &none, &err), -EINVAL);
	assert_non_null(strstr(err.text,
			       "paging.prefetch: no policy 'psychic'; there are: none, "));
	strcpy(spec.prefetch, "none");
	strcpy(spec.evict, "");
	assert_int_equal(paging_create(pool, 2, &spec, &none, &err), -EINVAL);
	assert_non_null(strstr(err.text, "paging.evict: no policy ''; there are: lru, "));
	strcpy(spec.evict, "lru");
	spec.vram_bytes = 4095;
	assert_int_equal(paging_create(pool, 2, &spec, &none, &err), -EINVAL);
	assert_string_equal(err.text, "paging.vram: 4095 bytes hold no page; at least 4096 (gmmu.page)");
	assert_null(none);
}

#define TEST(name) cmocka_unit_test_teardown(name, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(first_touch),
		TEST(demand_before_prefetch),
		TEST(evictions_come_first),
		TEST(prefetch_is_cut),
		TEST(the_excess_waits),
		TEST(waiting_does_not_split_runs),
		TEST(one_frame_progresses),
		TEST(a_page_that_is_waited_for_stays),
		TEST(largest_session_pays),
		TEST(sessions_pay_in_turn),
		TEST(spare_frames),
		TEST(pinned_page_is_stuck),
		TEST(busy_page_says_least),
		TEST(pinned_victim_is_passed_over),
		TEST(fewer_frames_than_promised),
		TEST(memory_that_goes_meanwhile),
		TEST(unmanaged_faults),
		TEST(fatal_faults),
		TEST(a_throttled_fault_waits),
		TEST(the_service_knows_better),
		TEST(invalidation),
		TEST(a_page_that_comes_back),
		TEST(pages_outlive_their_handler),
		TEST(pages_of_nobody_are_taken),
		TEST(a_lower_limit_is_reached),
		TEST(explicit_prefetch),
		TEST(explicit_prefetch_keeps_its_range),
		TEST(a_lost_device),
		TEST(bad_arguments),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
