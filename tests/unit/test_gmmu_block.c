// SPDX-License-Identifier: GPL-2.0
/*
 * The blocking baseline: from its first far fault until that page is translated an SM's
 * TLB answers nothing. A walk takes 100 cycles here.
 */
#include "gmmu_bench.h"

static struct world w;

static void make(void)
{
	bench_spec(&w);
	w.spec.blocking = 1;
	w.spec.walk_latency = 100;
	bench_start(&w);
}

static void arrive(unsigned int n, unsigned int walking, uint64_t now)
{
	run(&w, now);
	w.present[n] = true;
	assert_int_equal(gmmu_arrived(w.g, page(n), PAGE_BYTES, now), walking);
}

static void test_hits_wait_too(void **state)
{
	make();
	w.present[1] = w.present[2] = true;
	ask(&w, 0, 1, 0);
	ask(&w, 1, 1, 0);
	run_out(&w);
	ask(&w, 0, 10, 200);
	/* Not before the walk has found out. */
	assert_true(ask(&w, 0, 1, 299));
	run(&w, 300);
	assert_true(gmmu_blocked(w.g, 0));
	assert_int_equal(w.told[2], 300);
	assert_false(ask(&w, 0, 1, 310));	/* 4 */
	assert_false(ask(&w, 0, 2, 320));	/* 5 */
	assert_true(ask(&w, 1, 1, 330));
	run_out(&w);
	assert_int_equal(w.done[4], 0);
	assert_int_equal(STATS(&w)->walks, 3);
	arrive(10, 1, 1000);
	assert_false(ask(&w, 0, 1, 1050));	/* 7 */
	run_out(&w);
	assert_int_equal(w.done[2], 1100);
	assert_int_equal(w.done[4], 1100);
	assert_int_equal(w.done[5], 1200);
	assert_int_equal(w.done[7], 1100);
	assert_false(gmmu_blocked(w.g, 0));
	assert_true(ask(&w, 0, 1, 1300));
	assert_int_equal(STATS(&w)->blocked_cycles, 1100 - 300);
	/* The requests that waited for the TLB waited for the far fault. */
	assert_int_equal(w.told[4], 310);
	assert_int_equal(w.told[5], 320);
	assert_int_equal(w.told[7], 1050);
	assert_int_equal(STATS(&w)->far_wait_cycles.count, 4);
	assert_int_equal(STATS(&w)->far_wait_cycles.sum, 800 + 790 + 880 + 50);
	/* Each look-up counted once: misses 1, 1, 10, 2; hits 1 five times. */
	assert_int_equal(STATS(&w)->tlb_misses, 4);
	assert_int_equal(STATS(&w)->tlb_hits, 5);
	gmmu_destroy(w.g);
}

static void test_the_queue_goes_at_the_ports_pace(void **state)
{
	make();
	w.present[1] = true;
	ask(&w, 0, 1, 0);
	ask(&w, 0, 10, 100);
	run(&w, 200);
	for (unsigned int i = 0; i < 9; i++)
		assert_false(ask(&w, 0, 1, 300 + i));	/* 2 to 10 */
	arrive(10, 1, 1000);
	run(&w, 1100);
	/* Four a cycle; who comes meanwhile is behind them. */
	assert_true(gmmu_blocked(w.g, 0));
	assert_int_equal(gmmu_next(w.g), 1101);
	assert_false(ask(&w, 0, 1, 1101));
	run_out(&w);
	for (unsigned int i = 0; i < 10; i++)
		assert_int_equal(w.done[2 + i], 1100 + i / 4);
	gmmu_destroy(w.g);
}

/* Of those that waited for the TLB the first is far: the others go on waiting. */
static void test_blocked_again_while_the_queue_goes(void **state)
{
	struct fault f[8];

	bench_spec(&w);
	w.spec.blocking = 1;
	w.spec.walk_latency = 1;
	bench_start(&w);
	w.present[1] = true;
	ask(&w, 0, 1, 0);
	ask(&w, 0, 10, 100);
	run(&w, 200);
	ask(&w, 0, 30, 300);
	for (unsigned int i = 0; i < 8; i++)
		ask(&w, 0, 1, 301 + i);	/* 3 to 10 */
	gmmu_take(w.g, f, 8);
	arrive(10, 1, 1000);
	run(&w, 1500);
	/* 30 and three look-ups in one cycle, and no more. */
	for (unsigned int i = 3; i < 11; i++)
		assert_int_equal(w.done[i], i < 6 ? 1001 : 0);
	arrive(30, 1, 2000);
	run_out(&w);
	for (unsigned int i = 6; i < 11; i++)
		assert_int_equal(w.done[i], i < 10 ? 2001 : 2002);
	gmmu_destroy(w.g);
}

static void test_walks_under_way_are_held(void **state)
{
	struct fault f[8];

	make();
	w.present[20] = true;
	ask(&w, 0, 10, 0);
	ask(&w, 0, 20, 10);
	ask(&w, 0, 30, 20);
	run(&w, 500);
	/* One record; the others wait for its page as well. */
	assert_int_equal(gmmu_faults(w.g), 1);
	assert_int_equal(gmmu_mshrs_used(w.g, 0), 1);
	assert_int_equal(w.told[1], 110);
	assert_int_equal(w.told[2], 120);
	assert_int_equal(STATS(&w)->nacks, 0);
	gmmu_take(w.g, f, 8);
	arrive(10, 1, 1000);
	run(&w, 1150);
	/* It joins what walks again. */
	ask(&w, 0, 30, 1150);
	assert_int_equal(w.told[3], 0);
	run(&w, 1300);
	assert_int_equal(w.told[3], 1200);
	/* 10 at 1100; then 20, which is there, and 30, which is far. */
	assert_int_equal(w.when[10], 1100);
	assert_int_equal(w.when[20], 1200);
	assert_true(gmmu_blocked(w.g, 0));
	assert_int_equal(gmmu_take(w.g, f, 8), 1);
	assert_int_equal(f[0].addr, page(30));
	arrive(30, 1, 2000);
	run_out(&w);
	assert_int_equal(w.when[30], 2100);
	assert_int_equal(STATS(&w)->blocked_cycles, 1000 + 900);
	gmmu_destroy(w.g);
}

static void test_a_page_that_did_not_come(void **state)
{
	struct fault f[8];

	make();
	w.present[1] = true;
	ask(&w, 0, 1, 0);
	ask(&w, 0, 10, 100);
	run(&w, 300);
	gmmu_take(w.g, f, 8);
	assert_int_equal(gmmu_arrived(w.g, page(10), PAGE_BYTES, 1000), 1);
	assert_false(ask(&w, 0, 1, 1050));
	run(&w, 1500);
	/* It stayed blocked throughout. */
	assert_int_equal(w.done[2], 0);
	assert_int_equal(gmmu_faults(w.g), 1);
	gmmu_take(w.g, f, 8);
	arrive(10, 1, 2000);
	run_out(&w);
	assert_int_equal(w.done[2], 2100);
	assert_int_equal(STATS(&w)->blocked_cycles, 2100 - 200);
	gmmu_destroy(w.g);
}

/* The buffer has no room for the fault that the SM is blocked for. */
static void test_full_buffer(void **state)
{
	struct fault f[8];

	bench_spec(&w);
	w.spec.blocking = 1;
	w.spec.walk_latency = 100;
	w.spec.fault_entries = 1;
	bench_start(&w);
	ask(&w, 1, 50, 0);
	ask(&w, 0, 10, 1);
	ask(&w, 0, 20, 2);
	run(&w, 500);
	assert_true(gmmu_blocked(w.g, 0));
	assert_int_equal(STATS(&w)->nacks, 1);
	gmmu_take(w.g, f, 8);
	arrive(50, 1, 1000);
	run(&w, 1500);
	/* What it is blocked for goes first. */
	assert_int_equal(gmmu_take(w.g, f, 8), 1);
	assert_int_equal(f[0].addr, page(10));
	arrive(10, 1, 2000);
	run(&w, 2500);
	assert_int_equal(gmmu_take(w.g, f, 8), 1);
	assert_int_equal(f[0].addr, page(20));
	arrive(20, 1, 3000);
	run_out(&w);
	for (unsigned int i = 0; i < 3; i++)
		assert_true(w.done[i] != 0);
	gmmu_destroy(w.g);
}

/* And is full again at the next notice: what it is blocked for stays the first. */
static void test_buffer_full_twice(void **state)
{
	struct fault f[8];

	bench_spec(&w);
	w.spec.blocking = 1;
	w.spec.walk_latency = 100;
	w.spec.fault_entries = 1;
	bench_start(&w);
	ask(&w, 1, 50, 0);
	ask(&w, 0, 10, 1);
	ask(&w, 0, 20, 2);
	run(&w, 500);
	assert_int_equal(gmmu_take(w.g, f, 8), 1);
	ask(&w, 2, 60, 600);
	run(&w, 900);
	assert_int_equal(gmmu_faults(w.g), 1);
	arrive(50, 1, 1000);
	run(&w, 1500);
	assert_int_equal(gmmu_take(w.g, f, 8), 1);
	assert_int_equal(f[0].addr, page(60));
	arrive(60, 1, 2000);
	run(&w, 2500);
	assert_int_equal(gmmu_take(w.g, f, 8), 1);
	assert_int_equal(f[0].addr, page(10));
	arrive(10, 1, 3000);
	run(&w, 3500);
	assert_int_equal(gmmu_take(w.g, f, 8), 1);
	arrive(20, 1, 4000);
	run_out(&w);
	for (unsigned int i = 0; i < 4; i++)
		assert_true(w.done[i] != 0);
	gmmu_destroy(w.g);
}

static void test_cancel(void **state)
{
	make();
	w.present[1] = true;
	ask(&w, 0, 1, 0);
	ask(&w, 0, 10, 100);
	ask(&w, 0, 1, 300);
	gmmu_cancel(w.g);
	assert_int_equal(gmmu_wake(w.g), NEVER);
	assert_false(gmmu_blocked(w.g, 0));
	assert_true(ask(&w, 0, 1, 400));
	gmmu_destroy(w.g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hits_wait_too),
		cmocka_unit_test(test_the_queue_goes_at_the_ports_pace),
		cmocka_unit_test(test_blocked_again_while_the_queue_goes),
		cmocka_unit_test(test_walks_under_way_are_held),
		cmocka_unit_test(test_a_page_that_did_not_come),
		cmocka_unit_test(test_full_buffer),
		cmocka_unit_test(test_buffer_full_twice),
		cmocka_unit_test(test_cancel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
