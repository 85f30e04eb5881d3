// SPDX-License-Identifier: GPL-2.0
/*
 * The handler in virtual time, against cycles and counts worked out by hand: when pages
 * come, who passes whom, what may go meanwhile, what is evicted ahead of need, big pages,
 * what was measured. A cycle is 10 ns, a page 250 ns on the link, a batch 1000 ns of service.
 */
#include "paging_fake.h"

#define CYCLE_NS	10u
#define PAGE_CYCLES	25u
#define SERVE_CYCLES	(SERVE_NS / CYCLE_NS)

static struct fake *fake;
static struct paging_pool *pool;
static struct paging *paging;
static struct gpu_spec spec;
static struct paging_outcome outcome;

/* What was told. */
static struct arrival {
	unsigned int page;
	uint64_t bytes, now;
} arrivals[PAGES];
static unsigned int narrivals;
static struct paging_transfer transfers[256];
static unsigned int ntransfers;
static bool nobody;		/* waits for what arrives */

static unsigned int arrived(void *ctx, uint64_t addr, uint64_t bytes, uint64_t now)
{
	arrivals[narrivals++] = (struct arrival){ INDEX(addr), bytes, now };
	return !nobody;
}

static void transferred(void *ctx, const struct paging_transfer *t)
{
	assert_true(ntransfers < ARRAY_SIZE(transfers));
	transfers[ntransfers++] = *t;
}

static const struct paging_events events = { arrived, transferred };

static int setup(void **state)
{
	spec_defaults(&spec);
	spec.clock_mhz = 1000 / CYCLE_NS;
	spec.link_mbps = 16384;
	narrivals = ntransfers = 0;
	nobody = false;
	return 0;
}

static void begin(uint64_t frames)
{
	struct err err;

	fake = fake_create(frames);
	spec.vram_bytes = frames * PAGE_BYTES;
	assert_int_equal(paging_pool_create(&fake->service, &pool), 0);
	if (paging_create(pool, 1, &spec, &paging, &err))
		fail_msg("%s", err.text);
	paging_listen(paging, &events, NULL);
}

static int end(void **state)
{
	paging_destroy(paging);
	paging_pool_destroy(pool);
	free(fake);
	return 0;
}

static void fault(uint64_t now, unsigned int first, unsigned int last)
{
	struct fault faults[256];
	unsigned int n = 0;

	for (unsigned int page = first; page <= last; page++)
		faults[n++] = (struct fault){
			.addr = PAGE(page), .cycle = now - 5, .va_space = 1, .merged = 1,
		};
	assert_int_equal(paging_serve(paging, faults, n, now, &outcome), 0);
	assert_int_equal(outcome.stuck + outcome.unmanaged, 0);
}

static void upto(uint64_t now)
{
	assert_int_equal(paging_advance(paging, now), 0);
}

static void assert_arrival(unsigned int n, unsigned int page, uint64_t now)
{
	assert_true(n < narrivals);
	assert_int_equal(arrivals[n].page, page);
	assert_int_equal(arrivals[n].now, now);
	assert_int_equal(arrivals[n].bytes, spec.page_bytes);
}

static void assert_flying(unsigned int first, unsigned int last, bool is)
{
	for (unsigned int page = first; page <= last; page++)
		assert_int_equal(paging_in_flight(paging, PAGE(page)), is);
}

static void pages_come_over_the_link(void **state)
{
	begin(100);
	assert_true(paging_next(paging) == UINT64_MAX);
	fault(1000, 10, 10);
	fault(1000, 20, 21);
	/* Resident for the books, and nowhere else. */
	assert_true(paging_resident(paging, PAGE(20)));
	assert_flying(10, 10, true);
	assert_flying(20, 21, true);
	assert_int_equal(paging_next(paging), 1000 + SERVE_CYCLES);
	upto(1000 + SERVE_CYCLES);
	assert_int_equal(paging_next(paging), 1000 + SERVE_CYCLES + PAGE_CYCLES);
	upto(1000 + SERVE_CYCLES + PAGE_CYCLES - 1);
	assert_int_equal(narrivals, 0);
	upto(1000 + SERVE_CYCLES + PAGE_CYCLES);
	assert_int_equal(narrivals, 1);
	assert_arrival(0, 10, 1125);
	assert_flying(10, 10, false);
	assert_flying(20, 21, true);
	/* Told late: the time is the call's, the latency the page's. */
	upto(1200);
	assert_int_equal(narrivals, 3);
	assert_arrival(1, 20, 1200);
	assert_arrival(2, 21, 1200);
	assert_int_equal(paging_stats(paging)->latency_ns.count, 3);
	assert_int_equal(paging_stats(paging)->latency_ns.sum, 1300 + 2 * 1800);
	/* Neighbours went together. */
	assert_int_equal(ntransfers, 2);
	assert_int_equal(transfers[1].begin, 1125);
	assert_int_equal(transfers[1].end, 1175);
	assert_int_equal(transfers[1].bytes, 8192);
	assert_int_equal(transfers[1].batch, 1);
	assert_false(transfers[1].d2h || transfers[1].prefetch);
	assert_int_equal(paging_stats(paging)->link.h2d_transfers, 2);
	assert_int_equal(paging_stats(paging)->link.h2d_busy_ns, 750);
	assert_true(paging_next(paging) == UINT64_MAX);
}

/* A fault on a page that has come meanwhile waits for the handler alone. */
static void a_page_that_is_there_already(void **state)
{
	const struct paging_stats *stats;

	begin(100);
	stats = paging_stats(paging);
	fault(1000, 10, 10);
	upto(2000);
	assert_int_equal(stats->latency_ns.sum, (5 + SERVE_CYCLES + PAGE_CYCLES) * CYCLE_NS);
	/* Raised 5 cycles before its batch begins, which takes 1000 ns. */
	fault(3000, 10, 10);
	assert_int_equal(stats->latency_ns.count, 2);
	assert_int_equal(stats->latency_ns.sum,
			 (5 + SERVE_CYCLES + PAGE_CYCLES) * CYCLE_NS + 5 * CYCLE_NS + SERVE_NS);
	assert_int_equal(stats->far_faults, 2);
	assert_int_equal(stats->h2d_bytes, 4096);
}

/* A prefetch is demanded while others are before it. */
static void a_late_prefetch_passes(void **state)
{
	const struct paging_stats *stats;

	strcpy(spec.prefetch, "sequential:pages=40");
	begin(200);
	stats = paging_stats(paging);
	fault(1000, 100, 100);
	/* On their way: 100 until 1125, 101..116 until 1525, then 117..132. */
	fault(1200, 140, 140);
	assert_int_equal(stats->far_faults, 2);
	assert_int_equal(stats->inflight_faults, 1);
	assert_int_equal(stats->prefetch_late_pages, 1);
	/* A page that is on its way asks for no more. */
	assert_int_equal(stats->prefetched_pages, 40);
	/* Its batch is served at 1300, while the first piece is on the link; then it goes. */
	upto(1549);
	assert_int_equal(narrivals, 1 + 16);
	upto(1550);
	assert_arrival(17, 140, 1550);
	upto(9000);
	assert_int_equal(narrivals, 41);
	assert_int_equal(stats->latency_ns.max, (1550 - 1195) * CYCLE_NS);
	/* Once is late enough. */
	assert_int_equal(stats->prefetch_late_pages, 1);
	assert_int_equal(stats->far_faults + stats->duplicate_faults, 2);
}

static void nothing_in_flight_goes(void **state)
{
	begin(4);
	fault(1000, 0, 3);
	/* All four are on their way: who comes now waits. */
	fault(1050, 10, 11);
	assert_false(paging_resident(paging, PAGE(10)));
	upto(1300);
	/* They have come, and somebody waits for them. */
	fault(1310, 10, 11);
	assert_false(paging_resident(paging, PAGE(10)));
	paging_touch(paging, PAGE(2), false);
	fault(1320, 10, 11);
	assert_true(paging_resident(paging, PAGE(10)));
	assert_false(paging_resident(paging, PAGE(2)));
	/* Nobody waits for 10 when it comes: it may go at once. */
	nobody = true;
	upto(1500);
	fault(1510, 12, 12);
	assert_false(paging_resident(paging, PAGE(10)));
	assert_int_equal(paging_stats(paging)->evicted_pages, 2);
	assert_int_equal(paging_stats(paging)->far_faults, 6);
}

/* Nor a guess that nobody waits for. */
static void no_guess_in_flight_goes(void **state)
{
	strcpy(spec.prefetch, "sequential:pages=3");
	nobody = true;
	begin(4);
	fault(1000, 0, 0);
	fault(1050, 10, 10);
	assert_false(paging_resident(paging, PAGE(10)));
	assert_flying(0, 3, true);
	upto(1300);
	fault(1310, 10, 10);
	assert_true(paging_resident(paging, PAGE(10)));
	assert_false(paging_resident(paging, PAGE(0)));
}

/* The frame of an evicted page is free when it has left; ahead of need, at once. */
static void evictions_come_before(void **state)
{
	for (unsigned int watermark = 0; watermark <= 25; watermark += 25) {
		setup(state);
		spec.watermark = watermark;
		nobody = true;
		begin(8);
		fault(1000, 0, 7);
		upto(2000);
		narrivals = 0;
		/* A batch that is here already: the handler looks at its spare frames. */
		fault(2000, 7, 7);
		assert_int_equal(paging_stats(paging)->pre_evicted_pages, watermark ? 2 : 0);
		upto(3000);
		narrivals = 0;
		fault(3000, 20, 21);
		upto(3000 + SERVE_CYCLES + 2 * PAGE_CYCLES);
		assert_int_equal(narrivals, watermark ? 2 : 0);
		upto(3000 + SERVE_CYCLES + 4 * PAGE_CYCLES);
		assert_int_equal(narrivals, 2);
		assert_arrival(1, 21, watermark ? 3150 : 3200);
		/* And the next two have gone meanwhile. */
		upto(9999);
		assert_int_equal(paging_stats(paging)->evicted_pages, watermark ? 4 : 2);
		assert_int_equal(paging_stats(paging)->pre_evicted_pages, watermark ? 4 : 0);
		assert_int_equal(fake->used, watermark ? 6 : 8);
		if (!watermark)
			end(state);
	}
}

static void a_full_memory_ends_prefetch(void **state)
{
	for (unsigned int full = 0; full <= 1; full++) {
		setup(state);
		strcpy(spec.prefetch, "sequential:pages=4");
		spec.prefetch_full = full;
		nobody = true;
		begin(8);
		fault(1000, 0, 0);
		upto(2000);
		fault(2000, 100, 100);
		upto(3000);
		/* One demanded, four wished for: three frames were left, one for the demand. */
		assert_int_equal(paging_stats(paging)->prefetched_pages, full ? 8 : 6);
		assert_int_equal(paging_stats(paging)->prefetch_refused_pages, full ? 0 : 2);
		assert_int_equal(paging_stats(paging)->evicted_pages, full ? 2 : 0);
		/*
		 * With: 0, which had been demanded, and 1 have gone. Five more go: 2, 3, 4, which
		 * were guesses, 100, which was not, and 101. Without: 1 goes.
		 */
		paging_touch(paging, PAGE(0), false);
		fault(3000, 200, 200);
		assert_int_equal(paging_stats(paging)->prefetch_unused_evicted_pages,
				 full ? 5 : 1);
		if (!full)
			end(state);
	}
}

static void pages_that_come_back(void **state)
{
	const struct paging_stats *stats;

	nobody = true;
	begin(1);
	stats = paging_stats(paging);
	for (unsigned int round = 0; round < 4; round++)
		for (unsigned int page = 0; page < 2; page++) {
			/* Thrashing is a page's second return, and a third one is no more of it. */
			static const unsigned int returned[] = { 0, 0, 1, 2, 3, 4, 5, 6 };
			static const unsigned int thrashing[] = { 0, 0, 0, 0, 1, 2, 2, 2 };

			fault(1000 + round * 2000 + page * 1000, page, page);
			upto(1900 + round * 2000 + page * 1000);
			assert_int_equal(stats->returned_pages, returned[2 * round + page]);
			assert_int_equal(stats->thrashing_pages, thrashing[2 * round + page]);
		}
	/* Each came four times: three returns each, and from the second on it is thrashing. */
	assert_int_equal(stats->far_faults, 8);
	assert_int_equal(stats->evicted_pages, 7);
	assert_int_equal(stats->returned_pages, 6);
	assert_int_equal(stats->thrashing_pages, 2);
	/* Going home is no eviction. */
	assert_int_equal(paging_prefetch_host(paging, PAGE(1), PAGE_BYTES, 20000, &outcome), 0);
	assert_int_equal(outcome.service_ns, SERVE_NS + 250);
	assert_int_equal(stats->evicted_pages, 7);
	assert_int_equal(stats->d2h_bytes, 8 * 4096);
	assert_false(fake->there[1][1]);
	fault(30000, 1, 1);
	assert_int_equal(stats->returned_pages, 6);
	/* What is counted anew is not held against what was. */
	paging_stats_reset(paging);
	upto(40000);
	fault(41000, 0, 0);
	assert_int_equal(stats->returned_pages + stats->thrashing_pages, 0);
}

/* From several blocks at once, and a range without an end is not walked page by page. */
static void going_home(void **state)
{
	nobody = true;
	begin(PAGES);
	assert_int_equal(paging_prefetch(paging, PAGE(0), PAGES * PAGE_BYTES, 100, &outcome), 0);
	assert_int_equal(fake->used, PAGES);
	ntransfers = narrivals = 0;
	assert_int_equal(paging_prefetch_host(paging, PAGE(700) + 1, 400 * PAGE_BYTES, 100000,
					      &outcome), 0);
	/* 700 up to 1100, from two blocks: all of it, and only that. */
	assert_int_equal(fake->used, PAGES - 401);
	assert_true(fake->there[1][699] && !fake->there[1][700]);
	assert_true(!fake->there[1][1100] && fake->there[1][1101]);
	assert_int_equal(outcome.service_ns, SERVE_NS + 401 * 250);
	assert_int_equal(outcome.unmanaged, 0);
	ntransfers = 0;
	assert_int_equal(paging_prefetch_host(paging, PAGE_BYTES, 1ull << 62, 200000, &outcome), 0);
	assert_int_equal(fake->used, 0);
	assert_int_equal(paging_stats(paging)->d2h_bytes, PAGES * PAGE_BYTES);
	assert_int_equal(paging_stats(paging)->evicted_pages, 0);
	assert_int_equal(paging_stats(paging)->prefetch_unused_evicted_pages, 0);
}

static void batches_are_described(void **state)
{
	const struct paging_stats *stats;
	struct fault faults[7];

	begin(100);
	stats = paging_stats(paging);
	for (unsigned int i = 0; i < 7; i++)
		faults[i] = (struct fault){ .addr = PAGE(i / 2 * 300), .va_space = 1 };
	paging_depth(paging, 99);
	assert_int_equal(paging_serve(paging, faults, 7, 100, &outcome), 0);
	/* Pages 0, 300, 600 and 900, in two VA blocks; seven records. */
	assert_int_equal(stats->raw_faults, 7);
	assert_int_equal(stats->duplicate_faults, 3);
	assert_int_equal(stats->far_faults, 4);
	assert_int_equal(stats->batch_raw.max, 7);
	assert_int_equal(stats->batch_unique.max, 4);
	assert_int_equal(stats->batch_blocks.max, 2);
	assert_int_equal(stats->buffer_depth.max, 99);
}

/* --- big pages ---------------------------------------------------------------------------- */

static void a_big_page_comes_and_goes_as_one(void **state)
{
	spec.page_bytes = 65536;
	/* Three of them. */
	begin(48);
	/* Somewhere in the middle of the second; two of its pages are nobody's. */
	fake->unmanaged[1][16] = fake->unmanaged[1][31] = true;
	fault(1000, 20, 20);
	assert_int_equal(fake->used, 14);
	assert_flying(16, 31, true);
	assert_flying(0, 15, false);
	upto(1000 + SERVE_CYCLES + 14 * PAGE_CYCLES - 1);
	assert_int_equal(narrivals, 0);
	upto(1000 + SERVE_CYCLES + 14 * PAGE_CYCLES);
	assert_int_equal(narrivals, 1);
	assert_arrival(0, 16, 1450);
	assert_int_equal(paging_stats(paging)->latency_ns.count, 1);
	fault(2000, 32, 32);
	fault(2000, 48, 48);
	upto(4000);
	assert_int_equal(fake->used, 46);
	/* Full: all of one goes, used where it may be. */
	paging_touch(paging, PAGE(35), false);
	fault(5000, 70, 70);
	upto(6000);
	for (unsigned int page = 32; page < 48; page++)
		assert_false(fake->there[1][page]);
	assert_int_equal(paging_stats(paging)->evicted_pages, 16);
	assert_int_equal(paging_stats(paging)->far_faults, 4);
	assert_int_equal(fake->used, 46);
}

static void part_of_a_big_page_is_here(void **state)
{
	spec.page_bytes = 65536;
	begin(48);
	assert_int_equal(paging_prefetch(paging, PAGE(3), 4 * PAGE_BYTES, 100, &outcome), 0);
	narrivals = 0;
	/* The rest is brought. */
	fault(1000, 0, 0);
	assert_steps(fake, 0, 2);
	assert_step(fake, 0, 0, MIGRATE_H2D, 1, 0, 3);
	assert_step(fake, 0, 1, MIGRATE_H2D, 1, 7, 9);
	assert_flying(0, 15, true);
	upto(1000 + SERVE_CYCLES + 12 * PAGE_CYCLES);
	assert_int_equal(narrivals, 1);
	paging_touch(paging, PAGE(1), true);
	assert_int_equal(paging_stats(paging)->prefetch_used_pages, 4);
	/* A fault on a page that is here, of one that is not complete. */
	fake->there[1][9] = false;
	fake->used--;
	paging_invalidate(pool, &(struct service_invalidate){ PAGE(9), PAGE(10), 1, false });
	fault(3000, 2, 2);
	assert_step(fake, 0, 0, MIGRATE_H2D, 1, 9, 1);
}

static void a_big_page_needs_room(void **state)
{
	struct paging *none = NULL;
	struct err err;

	begin(48);
	spec.page_bytes = 2097152;
	spec.vram_bytes = 2097152 - PAGE_BYTES;
	assert_int_equal(paging_create(pool, 2, &spec, &none, &err), -EINVAL);
	assert_string_equal(err.text, "paging.vram: 2093056 bytes hold no page; "
			    "at least 2097152 (gmmu.page)");
}

/* --- what was measured ---------------------------------------------------------------------- */

static void measured_batches_arrive_together(void **state)
{
	static struct service_ops measured;
	const struct paging_stats *stats;

	begin(4);
	paging_destroy(paging);
	measured = *fake->service.ops;
	measured.measured = true;
	fake->service.ops = &measured;
	assert_int_equal(paging_create(pool, 1, &spec, &paging, &(struct err){ "" }), 0);
	paging_listen(paging, &events, NULL);
	stats = paging_stats(paging);
	fault(1000, 0, 1);
	/* A second handler, before the first is done. */
	fault(1010, 100, 100);
	assert_int_equal(outcome.service_ns, SERVE_NS);
	assert_int_equal(paging_next(paging), 1000 + SERVE_CYCLES);
	upto(1000 + SERVE_CYCLES);
	assert_int_equal(narrivals, 2);
	assert_flying(100, 100, true);
	upto(1010 + SERVE_CYCLES);
	assert_int_equal(narrivals, 3);
	assert_int_equal(stats->latency_ns.sum, 3 * (50 + SERVE_NS));
	assert_int_equal(ntransfers, 2);
	ntransfers = 0;
	/* Costs with copies and evictions are transfers that end with the batch. */
	nobody = true;
	fake->cost = (struct service_cost){
		.total = 1000, .fetched_to_committed = 300, .evict = 200, .copy = 500,
	};
	paging_abandon(paging);
	fault(2000, 8, 9);
	upto(2100);
	assert_int_equal(ntransfers, 2);
	assert_true(transfers[0].d2h);
	assert_int_equal(transfers[0].begin, 2030);
	assert_int_equal(transfers[0].end, 2050);
	assert_int_equal(transfers[0].bytes, 4096);
	assert_int_equal(transfers[1].begin, 2050);
	assert_int_equal(transfers[1].end, 2100);
	assert_int_equal(transfers[1].bytes, 8192);
	assert_int_equal(stats->link.h2d_busy_ns, 500);
	assert_int_equal(stats->link.d2h_busy_ns, 200);
	assert_int_equal(stats->stages.copy, 500);
}

/* A page that is taken away before it came: a warp that waits for it must ask again. */
static void lost_on_its_way(void **state)
{
	begin(10);
	fault(1000, 3, 3);
	upto(1110);
	fault(1120, 5, 5);
	fake->there[1][3] = fake->there[1][5] = false;
	fake->used = 0;
	paging_invalidate(pool, &(struct service_invalidate){ PAGE(0), PAGE(9), 1, false });
	assert_flying(0, 9, false);
	assert_true(paging_next(paging) <= 1121);
	upto(1121);
	assert_int_equal(narrivals, 2);
	assert_arrival(0, 3, 1121);
	assert_arrival(1, 5, 1121);
	assert_int_equal(paging_stats(paging)->latency_ns.count, 0);
	/* One was on the link; it comes to nothing. The other never left. */
	upto(9999);
	assert_int_equal(narrivals, 2);
	assert_int_equal(ntransfers, 1);
	assert_true(paging_next(paging) == UINT64_MAX);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, end)
	const struct CMUnitTest tests[] = {
		TEST(pages_come_over_the_link),
		TEST(a_page_that_is_there_already),
		TEST(a_late_prefetch_passes),
		TEST(nothing_in_flight_goes),
		TEST(no_guess_in_flight_goes),
		TEST(evictions_come_before),
		TEST(a_full_memory_ends_prefetch),
		TEST(pages_that_come_back),
		TEST(going_home),
		TEST(batches_are_described),
		TEST(a_big_page_comes_and_goes_as_one),
		TEST(part_of_a_big_page_is_here),
		TEST(a_big_page_needs_room),
		TEST(measured_batches_arrive_together),
		TEST(lost_on_its_way),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
