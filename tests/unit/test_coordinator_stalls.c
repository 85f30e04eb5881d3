// SPDX-License-Identifier: GPL-2.0
/*
 * Zorua's coordinator where CTAs stall as under Virtual Thread (zorua.slots=vt): who lends a slot
 * to whom, and when a warp that lent its own is back.
 */
#include "coordinator_bench.h"

/*
 * Where nothing may be in swap the warps of a stalled CTA lend their slots, those of the first one
 * first, as many as are asked for. They come back when their results have come, not sooner.
 */
static void a_stalled_cta_lends_slots(void **state)
{
	const struct coord_limits limits = {
		.warps = 8, .ctas = 4, .slots = 4, .register_sets = 20, .lend = true,
	};
	struct bench b;

	open_bench(&b, &limits, &none);
	b.stalls = true;
	for (unsigned int w = 0; w < 5; w++)
		start(&b, w, w / 2, 2, 2);
	run(&b);
	assert_false(b.schedulable[4]);
	coord_stalled(b.c, 1);
	coord_stalled(b.c, 0);
	run(&b);
	assert_true(b.schedulable[4] && b.away[2]);
	assert_false(b.away[0] || b.away[1] || b.away[3]);
	assert_int_equal(coord_swapped(b.c, COORD_THREADS), 1);
	assert_int_equal(coord_stats(b.c)->forced, 0);
	/* 2 waits for results and for no slot. */
	coord_warp_end(b.c, 4);
	run(&b);
	assert_true(b.away[2]);
	assert_int_equal(coord_free(b.c, COORD_THREADS), 1);
	assert_int_equal(coord_pending(b.c), 0);
	start(&b, 5, 2, 2, 2);
	run(&b);
	coord_ready(b.c, 2);
	run(&b);
	/* It has the slot of 3, and its CTA goes on: the next one has that of 0. */
	assert_true(b.schedulable[2] && b.away[3]);
	start(&b, 6, 3, 2, 2);
	run(&b);
	assert_true(b.schedulable[6] && b.away[0]);
	assert_false(b.away[1] || b.away[2]);
	/* Nobody is stalled any more. */
	coord_resumed(b.c, 0);
	start(&b, 7, 3, 2, 2);
	run(&b);
	assert_false(b.schedulable[7]);
	/* Not ready twice, and not at all when it runs. */
	coord_ready(b.c, 1);
	run(&b);
	assert_int_equal(coord_pending(b.c), 1);
	coord_destroy(b.c);
}

/* A warp at a barrier that lends its slot so waits for the barrier, and for no results. */
static void a_stalled_cta_lends_its_barriers_slots(void **state)
{
	const struct coord_limits limits = {
		.warps = 8, .ctas = 4, .slots = 1, .register_sets = 20, .lend = true,
	};
	struct bench b;

	open_bench(&b, &limits, &none);
	b.stalls = true;
	start(&b, 0, 0, 2, 2);
	run(&b);
	b.schedulable[0] = false;
	coord_barrier(b.c, 0);
	coord_stalled(b.c, 0);
	start(&b, 1, 1, 2, 2);
	run(&b);
	assert_true(b.schedulable[1] && b.away[0]);
	coord_ready(b.c, 0);
	coord_warp_end(b.c, 1);
	run(&b);
	assert_true(b.away[0]);
	coord_passed(b.c, 0);
	run(&b);
	assert_true(b.schedulable[0]);
	coord_destroy(b.c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stalled_cta_lends_slots),
		cmocka_unit_test(a_stalled_cta_lends_its_barriers_slots),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
