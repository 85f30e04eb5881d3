// SPDX-License-Identifier: GPL-2.0
/*
 * Zorua's coordinator where warps that go on wait for what an older CTA does, and hold what it
 * lacks: the older CTA comes to its end.
 */
#include "coordinator_bench.h"

/* Epochs in which the SM waits for memory: the threshold falls to 0. */
static void fall(struct coordinator *c)
{
	for (unsigned int i = 0; i < 100 && coord_percent(c); i++)
		coord_epoch(c, 0, 1000000);
	assert_int_equal(coord_percent(c), 0);
}

/*
 * A warp whose state is in swap changes places with one at its CTA's barrier, though the threshold
 * is below what is in swap: CTA 1 may wait for this CTA.
 */
static void an_exchange_adds_nothing_to_swap(void **state)
{
	const struct coord_limits limits = {
		.warps = 8, .ctas = 4, .slots = 3, .register_sets = 20, .floor = 1, .lend = true,
	};
	struct coord_threshold most = published;
	struct bench b;

	most.percent = 100;
	open_bench(&b, &limits, &most);
	for (unsigned int w = 0; w < 4; w++)
		start(&b, w, 0, 2, 2);
	run(&b);
	start(&b, 4, 1, 2, 2);
	run(&b);
	b.schedulable[0] = false;
	coord_barrier(b.c, 0);
	run(&b);
	/* 3 has 0's slot; 4 gets that of 2, which ends. */
	assert_true(b.away[0]);
	assert_true(b.schedulable[3]);
	coord_warp_end(b.c, 2);
	run(&b);
	assert_true(b.schedulable[4]);
	b.schedulable[1] = b.schedulable[3] = false;
	coord_barrier(b.c, 1);
	coord_barrier(b.c, 3);
	fall(b.c);
	coord_passed(b.c, 0);
	coord_passed(b.c, 1);
	coord_passed(b.c, 3);
	run(&b);
	assert_false(b.schedulable[0]);
	coord_barrier(b.c, 1);
	run(&b);
	assert_true(b.schedulable[0]);
	assert_true(b.away[1]);
	assert_int_equal(coord_swapped(b.c, COORD_THREADS), 1);
	/* It was no matter of the floor: 4 goes on. */
	assert_int_equal(coord_stats(b.c)->forced, 0);
	coord_destroy(b.c);
}

/* After 16 epochs a warp of the oldest CTA gets what it lacks, whoever goes on; no other CTA's. */
static void the_oldest_does_not_wait_for_ever(void **state)
{
	const struct coord_limits limits = {
		.warps = 8, .ctas = 4, .slots = 8, .register_sets = 6, .floor = 1, .lend = true,
	};
	struct bench b;

	open_bench(&b, &limits, &none);
	start(&b, 0, 0, 1, 3);
	run(&b);
	start(&b, 4, 1, 3, 3);
	start(&b, 5, 1, 2, 4);
	run(&b);
	assert_int_equal(coord_runnable(b.c), 3);
	phase(&b, 5, 4, 4, 0);
	phase(&b, 0, 3, 3, 0);
	for (unsigned int i = 0; i < 15; i++) {
		coord_epoch(b.c, 0, 0);
		run(&b);
		/* 4 goes on. */
		assert_int_equal(coord_runnable(b.c), 1);
	}
	coord_epoch(b.c, 0, 0);
	run(&b);
	assert_true(b.schedulable[0]);
	assert_int_equal(coord_runnable(b.c), 2);
	assert_int_equal(coord_stats(b.c)->forced, 1);
	for (unsigned int i = 0; i < 40; i++) {
		coord_epoch(b.c, 0, 0);
		run(&b);
	}
	assert_false(b.schedulable[5]);
	/* Then its CTA is the oldest. */
	coord_warp_end(b.c, 0);
	coord_cta_end(b.c, 0);
	run(&b);
	assert_int_equal(coord_runnable(b.c), 2);
	coord_destroy(b.c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_exchange_adds_nothing_to_swap),
		cmocka_unit_test(the_oldest_does_not_wait_for_ever),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
