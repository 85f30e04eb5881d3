// SPDX-License-Identifier: GPL-2.0
/*
 * Pages that arrive a few at a time, in any order, while several batches are with handlers;
 * the throttle, and records that die in the buffer. A walk takes 100 cycles here.
 */
#include "gmmu_bench.h"

static struct world w;

static void make(uint64_t mshrs, uint64_t entries)
{
	bench_spec(&w);
	w.spec.walk_latency = 100;
	w.spec.far_mshrs = mshrs;
	w.spec.fault_entries = entries;
	bench_start(&w);
}

static unsigned int arrive(unsigned int from, unsigned int n, uint64_t now)
{
	run(&w, now);
	for (unsigned int i = from; i < from + n; i++)
		w.present[i] = true;
	return gmmu_arrived(w.g, page(from), n * PAGE_BYTES, now);
}

static void test_some_of_a_batch(void **state)
{
	struct fault f[8];

	make(0, 64);
	for (unsigned int i = 0; i < 4; i++)
		ask(&w, 0, i, i);
	run(&w, 500);
	assert_int_equal(gmmu_take(w.g, f, 8), 4);
	assert_int_equal(arrive(2, 1, 1000), 1);
	run(&w, 1100);
	assert_int_equal(w.when[2], 1100);
	assert_int_equal(w.translated[0] + w.translated[1] + w.translated[3], 0);
	assert_int_equal(gmmu_mshrs_used(w.g, 0), 3);
	/* Three more, two of them for somebody. */
	assert_int_equal(arrive(3, 3, 2000), 1);
	assert_int_equal(arrive(0, 2, 2001), 2);
	assert_int_equal(arrive(0, 2, 2002), 0);
	run_out(&w);
	assert_int_equal(w.when[3], 2100);
	assert_int_equal(w.when[0], 2101);
	assert_int_equal(STATS(&w)->replays, 3);
	gmmu_destroy(w.g);
}

static void test_batches_overlap(void **state)
{
	struct fault a[2], b[2], c[2];

	make(0, 64);
	for (unsigned int i = 0; i < 6; i++)
		ask(&w, i % 3, i, 0);
	run(&w, 200);
	assert_int_equal(gmmu_take(w.g, a, 2), 2);
	assert_int_equal(gmmu_take(w.g, b, 2), 2);
	assert_int_equal(gmmu_faults(w.g), 2);
	/* The second batch's pages come first, and one that nobody has taken. */
	assert_int_equal(arrive(2, 3, 300), 3);
	assert_int_equal(gmmu_faults(w.g), 1);
	assert_int_equal(gmmu_take(w.g, c, 2), 1);
	assert_int_equal(c[0].addr, page(5));
	assert_int_equal(gmmu_take(w.g, c, 2), 0);
	assert_int_equal(arrive(5, 1, 400), 1);
	assert_int_equal(arrive(0, 2, 500), 2);
	run_out(&w);
	for (unsigned int i = 0; i < 6; i++)
		assert_int_equal(w.translated[i], 1);
	assert_int_equal(w.when[4], 400);
	assert_int_equal(w.when[5], 500);
	assert_int_equal(w.when[1], 600);
	gmmu_destroy(w.g);
}

/* Two MSHRs: each arrival of one page lets one dropped request go, the oldest. */
static void test_throttle(void **state)
{
	struct fault f[8];

	make(2, 64);
	for (unsigned int i = 0; i < 5; i++)
		ask(&w, 0, i, i);
	run(&w, 500);
	assert_int_equal(STATS(&w)->nacks, 3);
	assert_int_equal(gmmu_take(w.g, f, 8), 2);
	for (unsigned int i = 0; i < 5; i++) {
		uint64_t now = 1000 * (i + 1);

		assert_int_equal(arrive(i, 1, now), 1);
		run(&w, now + 500);
		assert_int_equal(w.when[i], now + 100);
		assert_int_equal(gmmu_mshrs_used(w.g, 0), MIN(2, 4 - i));
		assert_int_equal(gmmu_take(w.g, f, 8), i < 3);
		if (i < 3) {
			assert_int_equal(f[0].addr, page(i + 2));
			assert_int_equal(f[0].cycle, now + 100);
		}
	}
	/* Those that would find nothing again do not walk. */
	assert_int_equal(STATS(&w)->nacks, 3);
	assert_int_equal(STATS(&w)->walks, 5 + 5 + 3);
	gmmu_destroy(w.g);
}

/* One MSHR each: what another SM has begun costs none. */
static void test_what_another_sm_has_begun(void **state)
{
	struct fault f[8];

	make(1, 64);
	ask(&w, 0, 0, 0);
	ask(&w, 1, 2, 1);
	run(&w, 200);
	ask(&w, 0, 2, 300);
	ask(&w, 0, 1, 301);
	ask(&w, 0, 3, 302);
	run(&w, 500);
	/* 0 and 2 are on record; of SM 0, 2 is tracked, 1 and 3 are dropped. */
	assert_int_equal(gmmu_take(w.g, f, 8), 2);
	assert_int_equal(gmmu_mshrs_used(w.g, 0), 1);
	assert_int_equal(STATS(&w)->nacks, 2);
	/* SM 0 is told with SM 1, but its own MSHR is not free. */
	assert_int_equal(arrive(2, 1, 1000), 2);
	run(&w, 1500);
	assert_int_equal(w.done[1], 1100);
	assert_int_equal(w.done[2], 1100);
	assert_int_equal(gmmu_faults(w.g), 0);
	/* 3 comes for nobody; at its own notice SM 0 finds it, behind 1, which is far. */
	assert_int_equal(arrive(3, 1, 1600), 0);
	assert_int_equal(arrive(0, 1, 2000), 1);
	run(&w, 2500);
	assert_int_equal(w.done[0], 2100);
	assert_int_equal(w.done[4], 2100);
	assert_int_equal(gmmu_take(w.g, f, 8), 1);
	assert_int_equal(f[0].addr, page(1));
	gmmu_destroy(w.g);
}

/*
 * One place in the buffer, nine pages of three SMs: an SM that finds it full waits for the next
 * notice, and does not walk again and again.
 */
static void test_full_buffer_does_not_storm(void **state)
{
	struct fault f[8];
	uint64_t now = 1000;

	make(0, 1);
	for (unsigned int i = 0; i < 9; i++)
		ask(&w, i % 3, i, i);
	run(&w, now);
	assert_int_equal(STATS(&w)->nacks, 8);
	assert_int_equal(STATS(&w)->walks, 9);
	for (unsigned int i = 0; i < 9; i++, now += 1000) {
		uint64_t walks = STATS(&w)->walks;

		assert_int_equal(gmmu_take(w.g, f, 8), 1);
		assert_int_equal(arrive((f[0].addr - BASE) / PAGE_BYTES, 1, now), 1);
		run(&w, now + 900);
		/* The page's own, and at most what waits. */
		assert_true(STATS(&w)->walks - walks <= 9 - i);
	}
	for (unsigned int i = 0; i < 9; i++)
		assert_int_equal(w.translated[i], 1);
	gmmu_destroy(w.g);
}

/* Dead records leave room when it is needed, and the order stays. */
static void test_dead_records_make_room(void **state)
{
	struct fault f[8];

	make(0, 4);
	for (unsigned int i = 0; i < 4; i++)
		ask(&w, 0, i, i);
	run(&w, 200);
	arrive(1, 2, 300);
	assert_int_equal(gmmu_faults(w.g), 2);
	ask(&w, 0, 10, 400);
	ask(&w, 0, 11, 401);
	ask(&w, 0, 12, 402);
	run(&w, 600);
	assert_int_equal(gmmu_faults(w.g), 4);
	assert_int_equal(STATS(&w)->nacks, 1);
	/* One taken one dies, one in the middle dies. */
	assert_int_equal(gmmu_take(w.g, f, 1), 1);
	assert_int_equal(f[0].addr, page(0));
	arrive(10, 1, 700);
	arrive(0, 1, 701);
	run(&w, 900);
	assert_int_equal(gmmu_take(w.g, f, 8), 3);
	assert_int_equal(f[0].addr, page(3));
	assert_int_equal(f[1].addr, page(11));
	assert_int_equal(f[2].addr, page(12));
	gmmu_destroy(w.g);
}

/* More far faults in flight than there were places at the beginning. */
static void test_unlimited(void **state)
{
	struct fault f[256];
	unsigned int taken = 0;

	make(0, 16);
	w.spec.batch = 1;
	for (unsigned int i = 0; i < 2000; i++) {
		ask(&w, i % 3, i, i * 200);
		run(&w, i * 200 + 150);
		taken += gmmu_take(w.g, f, 256);
	}
	assert_int_equal(taken, 2000);
	assert_int_equal(gmmu_mshrs_used(w.g, 0), 667);
	assert_int_equal(STATS(&w)->nacks, 0);
	assert_int_equal(arrive(0, 2000, 1000000), 2000);
	run_out(&w);
	for (unsigned int i = 0; i < 2000; i++)
		assert_int_equal(w.translated[i], 1);
	gmmu_destroy(w.g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_some_of_a_batch),
		cmocka_unit_test(test_batches_overlap),
		cmocka_unit_test(test_throttle),
		cmocka_unit_test(test_what_another_sm_has_begun),
		cmocka_unit_test(test_full_buffer_does_not_storm),
		cmocka_unit_test(test_dead_records_make_room),
		cmocka_unit_test(test_unlimited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
