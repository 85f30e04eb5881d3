// SPDX-License-Identifier: GPL-2.0
/*
 * Zorua's coordinator: algorithm 1 and the mapping tables by hand, the queues by hand, then
 * programs of phases and barriers at random, where what must hold is looked at after each event and
 * everybody has to come to the end.
 */
#include "base/rng.h"
#include "coordinator_bench.h"

/* --- o_thresh -------------------------------------------------------------------------- */

static void algorithm_1(void **state)
{
	struct coord_threshold t = published;

	/* 10% of 256 register sets and of 48 warps. */
	assert_int_equal(coord_threshold_units(&t, 256), 25);
	assert_int_equal(coord_threshold_units(&t, 48), 4);
	/* 16 cycles more are not more than 16, 17 are. */
	coord_threshold_epoch(&t, 116, 100);
	assert_int_equal(t.percent, 10);
	coord_threshold_epoch(&t, 117, 100);
	assert_int_equal(t.percent, 14);
	/* The same again is as good a reason. */
	coord_threshold_epoch(&t, 117, 100);
	assert_int_equal(t.percent, 18);
	coord_threshold_epoch(&t, 1000, 1016);
	assert_int_equal(t.percent, 18);
	for (unsigned int i = 0; i < 5; i++)
		coord_threshold_epoch(&t, 0, 17);
	/* 18 - 5 * 4 is no percentage. */
	assert_int_equal(t.percent, 0);
	t.percent = 98;
	coord_threshold_epoch(&t, 2048, 0);
	assert_int_equal(t.percent, 100);
}

static void algorithm_1_of_changes(void **state)
{
	struct coord_threshold t = published;

	t.changes = true;
	/* Nothing to compare with. */
	coord_threshold_epoch(&t, 500, 100);
	assert_int_equal(t.percent, 10);
	/* c_idle grows by 30, c_mem by 14: 16 is not more than 16. */
	coord_threshold_epoch(&t, 530, 114);
	assert_int_equal(t.percent, 10);
	/* By 17 more than c_mem. */
	coord_threshold_epoch(&t, 547, 114);
	assert_int_equal(t.percent, 14);
	/* Both fall, c_idle by less. */
	coord_threshold_epoch(&t, 500, 50);
	assert_int_equal(t.percent, 18);
	/* c_mem grows. */
	for (unsigned int i = 1; i <= 5; i++)
		coord_threshold_epoch(&t, 500, 50 + 17 * i);
	assert_int_equal(t.percent, 0);
}

/* --- tables ------------------------------------------------------------------------------ */

static void a_table(void **state)
{
	struct coord_table t;
	unsigned int owner, set;

	assert_int_equal(coord_table_init(&t, 4, 8, 3), 0);
	assert_false(coord_table_victim(&t, 4, &owner, &set));
	coord_table_map(&t, 0, 5, COORD_PHYSICAL);
	coord_table_map(&t, 1, 5, COORD_PHYSICAL);
	coord_table_map(&t, 1, 7, COORD_PHYSICAL);
	coord_table_map(&t, 2, 0, COORD_SWAP);
	assert_int_equal(t.free, 0);
	assert_int_equal(t.swapped, 1);
	coord_entry(&t, 0, 5)->accesses = 3;
	coord_entry(&t, 1, 5)->accesses = 2;
	coord_entry(&t, 1, 7)->accesses = 2;
	/* The fewest accesses, and of equals the lowest place. */
	assert_true(coord_table_victim(&t, 4, &owner, &set));
	assert_int_equal(owner, 1);
	assert_int_equal(set, 5);
	coord_entry(&t, 1, 5)->busy = 1;
	assert_true(coord_table_victim(&t, 4, &owner, &set));
	assert_int_equal(set, 7);
	assert_true(coord_table_victim(&t, 1, &owner, &set));
	assert_int_equal(owner, 0);
	/* 3 accesses in 100 are fewer than 0 in 1. */
	coord_entry(&t, 1, 5)->busy = 0;
	coord_entry(&t, 1, 5)->accesses = 90;
	coord_entry(&t, 1, 7)->accesses = 0;
	coord_entry(&t, 1, 7)->since = 99;
	t.clock = 100;
	assert_true(coord_table_victim(&t, 4, &owner, &set));
	assert_int_equal(owner, 0);
	coord_table_spill(&t, 1, 7);
	assert_int_equal(t.swapped, 2);
	coord_table_fill(&t, 2, 0);
	assert_int_equal(coord_entry(&t, 2, 0)->place, 2);
	assert_true(coord_table_sound(&t));
	coord_entry(&t, 2, 0)->place = 0;
	assert_false(coord_table_sound(&t));
	coord_entry(&t, 2, 0)->place = 2;
	coord_table_unmap(&t, 1, 7);
	coord_table_unmap(&t, 0, 5);
	assert_int_equal(t.free, 1);
	assert_int_equal(t.swapped, 0);
	assert_true(coord_table_sound(&t));
	coord_table_fini(&t);
}

/* --- the queues, by hand --------------------------------------------------------------------- */

static void who_holds_more_goes_first(void **state)
{
	const struct coord_limits limits = {
		.warps = 8, .ctas = 4, .slots = 2, .register_sets = 8, .scratchpad_sets = 4,
	};
	struct bench b;

	open_bench(&b, &limits, &none);
	start(&b, 0, 0, 3, 3);
	start(&b, 1, 0, 3, 3);
	start(&b, 2, 1, 3, 3);
	run(&b);
	/* Two slots. */
	assert_int_equal(b.n, 2);
	assert_int_equal(coord_pending(b.c), 1);
	assert_int_equal(coord_free(b.c, COORD_REGISTERS), 2);
	/* 0 wants 6 sets, of which it has 3: one too many. 1 ends: 2 waits longer, 0 holds more. */
	phase(&b, 0, 6, 6, 0);
	run(&b);
	assert_int_equal(coord_runnable(b.c), 1);
	coord_warp_end(b.c, 1);
	run(&b);
	assert_int_equal(b.n, 3);
	assert_int_equal(b.order[2], 0);
	/* 5 are free now that were 1's and nobody's, less 3. */
	assert_int_equal(coord_free(b.c, COORD_REGISTERS), 2);
	/* The next phase needs 2: 4 are free, 2 of its sets when what uses them has finished. */
	coord_use(b.c, 0, 1ull << 2 | 1ull << 3);
	coord_use(b.c, 0, 1ull << 3);
	phase(&b, 0, 2, 2, 4);
	assert_int_equal(coord_free(b.c, COORD_REGISTERS), 4);
	coord_done(b.c, 0, 1ull << 3);
	assert_int_equal(coord_free(b.c, COORD_REGISTERS), 4);
	coord_done(b.c, 0, 1ull << 2 | 1ull << 3);
	assert_int_equal(coord_free(b.c, COORD_REGISTERS), 6);
	run(&b);
	assert_int_equal(b.n, 5);
	assert_int_equal(coord_free(b.c, COORD_SCRATCHPAD), 0);
	/* 2's CTA has no scratchpad until 0's ends, its warp's end is not enough. */
	phase(&b, 2, 3, 3, 1);
	coord_warp_end(b.c, 0);
	run(&b);
	assert_int_equal(coord_pending(b.c), 1);
	coord_cta_end(b.c, 0);
	run(&b);
	assert_int_equal(coord_pending(b.c), 0);
	assert_int_equal(coord_stats(b.c)->forced, 0);
	coord_destroy(b.c);
}

static void oversubscription(void **state)
{
	/* 20 sets, of which 10% is 2. */
	const struct coord_limits limits = {
		.warps = 8, .ctas = 4, .slots = 8, .register_sets = 20, .scratchpad_sets = 4,
	};
	struct bench b;

	open_bench(&b, &limits, &published);
	start(&b, 0, 0, 10, 10);
	start(&b, 1, 0, 9, 9);
	run(&b);
	assert_int_equal(coord_access(b.c, 0, SETS(10)), 0);
	assert_int_equal(coord_access(b.c, 1, SETS(7)), 0);
	/* 3 more, one is free: two that were never accessed are spilled. */
	start(&b, 2, 1, 3, 3);
	run(&b);
	assert_true(b.schedulable[2]);
	assert_int_equal(b.swap[1], 3ull << 7);
	assert_int_equal(coord_swapped(b.c, COORD_REGISTERS), 2);
	/* No more. */
	start(&b, 3, 1, 1, 1);
	run(&b);
	assert_false(b.schedulable[3]);
	/* In swap, and there is no place. */
	assert_int_equal(coord_access(b.c, 1, SETS(8)), 1ull << 7);
	assert_int_equal(coord_stats(b.c)->swapped, 1);
	/* With a place it comes back. */
	coord_warp_end(b.c, 2);
	assert_int_equal(coord_access(b.c, 1, SETS(8)), 1ull << 7);
	assert_int_equal(b.swap[1], 1ull << 8);
	assert_int_equal(coord_access(b.c, 1, SETS(8)), 0);
	run(&b);
	assert_true(b.schedulable[3]);
	coord_destroy(b.c);
}

/* What is accessed in swap as often as an exchange costs changes places with what is rarer. */
static void an_exchange(void **state)
{
	const struct coord_limits limits = {
		.warps = 8, .ctas = 4, .slots = 8, .register_sets = 20, .scratchpad_sets = 4,
	};
	struct bench b;

	open_bench(&b, &limits, &published);
	start(&b, 0, 0, 10, 10);
	start(&b, 1, 0, 10, 10);
	run(&b);
	/* 0's last set is rare, and so are 1's last two. */
	assert_int_equal(coord_access(b.c, 0, SETS(9)), 0);
	assert_int_equal(coord_access(b.c, 1, SETS(8)), 0);
	start(&b, 2, 1, 2, 2);
	run(&b);
	assert_int_equal(b.swap[0], 1ull << 9);
	assert_int_equal(b.swap[1], 1ull << 8);
	assert_int_equal(coord_stats(b.c)->spills, 2);
	for (unsigned int i = 1; i < coord_exchange(false); i++)
		assert_int_equal(coord_access(b.c, 1, 1ull << 8), 1ull << 8);
	assert_int_equal(b.swap[1], 1ull << 8);
	/* It is read there once more, and then its place is what 2 had and never used. */
	assert_int_equal(coord_access(b.c, 1, 1ull << 8), 1ull << 8);
	assert_int_equal(b.swap[1], 0);
	assert_int_equal(coord_stats(b.c)->fills, 1);
	assert_int_equal(coord_stats(b.c)->spills, 3);
	assert_int_equal(coord_access(b.c, 1, 1ull << 8), 0);
	assert_int_equal(coord_swapped(b.c, COORD_REGISTERS), 2);
	/* What an instruction uses, and what is accessed more often, stay. */
	for (unsigned int w = 0; w < 3; w++)
		coord_use(b.c, w, w == 2 ? SETS(2) : w ? SETS(10) : SETS(9));
	for (unsigned int i = 0; i < 2 * coord_exchange(false); i++)
		assert_int_equal(coord_access(b.c, 0, 1ull << 9), 1ull << 9);
	for (unsigned int w = 0; w < 3; w++)
		coord_done(b.c, w, w == 2 ? SETS(2) : w ? SETS(10) : SETS(9));
	for (unsigned int i = 0; i < 200; i++) {
		coord_access(b.c, 0, SETS(9));
		coord_access(b.c, 1, SETS(10) & ~b.swap[1]);
		coord_access(b.c, 2, SETS(2) & ~b.swap[2]);
	}
	for (unsigned int i = 0; i < 2; i++)
		assert_int_equal(coord_access(b.c, 0, 1ull << 9), 1ull << 9);
	assert_int_equal(b.swap[0], 1ull << 9);
	run(&b);
	coord_destroy(b.c);
}

/* 10 sets of scratchpad, of which 10% is one: CTAs of 5, 5 and 1. */
static void scratchpad_in_swap(void **state)
{
	const struct coord_limits limits = {
		.warps = 8, .ctas = 4, .slots = 8, .register_sets = 20, .scratchpad_sets = 10,
		.scratchpad_table = true,
	};
	struct bench b;

	open_bench(&b, &limits, &published);
	for (unsigned int w = 0; w < 4; w++) {
		start(&b, w, w, 1, 1);
		run(&b);
		phase(&b, w, 1, 1, w < 2 ? 5 : 1);
		run(&b);
		if (!w) {
			assert_int_equal(coord_scratchpad_access(b.c, 0, SETS(5)), 0);
			assert_int_equal(coord_free(b.c, COORD_SCRATCHPAD), 5);
		}
		if (w == 1) {
			assert_int_equal(coord_scratchpad_access(b.c, 0, SETS(5)), 0);
			assert_int_equal(coord_scratchpad_access(b.c, 1, SETS(5) & ~8ull), 0);
		}
	}
	/* The third CTA has the place of the set that nobody has accessed; the fourth has none. */
	assert_int_equal(b.scratchpad[1], 1ull << 3);
	assert_int_equal(coord_swapped(b.c, COORD_SCRATCHPAD), 1);
	assert_true(b.schedulable[2]);
	assert_false(b.schedulable[3]);
	/* Its access is one to swap. So are all, until they have cost an exchange; what is used stays. */
	coord_scratchpad_use(b.c, 2, 1);
	for (unsigned int i = 1; i < coord_exchange(true); i++)
		assert_int_equal(coord_scratchpad_access(b.c, 1, SETS(5)), 1ull << 3);
	assert_int_equal(coord_scratchpad_access(b.c, 1, 1ull << 3), 1ull << 3);
	assert_int_equal(b.scratchpad[1], 0);
	assert_int_equal(b.scratchpad[2], 0);
	assert_int_equal(__builtin_popcountll(b.scratchpad[0]), 1);
	assert_int_equal(coord_stats(b.c)->scratchpad_spills, 2);
	assert_int_equal(coord_stats(b.c)->scratchpad_fills, 1);
	assert_int_equal(coord_stats(b.c)->spills + coord_stats(b.c)->fills, 0);
	coord_scratchpad_done(b.c, 2, 1);
	/* A CTA's end frees what is on chip and what is in swap. */
	coord_warp_end(b.c, 1);
	coord_cta_end(b.c, 1);
	run(&b);
	assert_true(b.schedulable[3]);
	assert_int_equal(coord_free(b.c, COORD_SCRATCHPAD), 4);
	assert_int_equal(coord_scratchpad_access(b.c, 0, b.scratchpad[0]), b.scratchpad[0]);
	assert_int_equal(b.scratchpad[0], 0);
	coord_warp_end(b.c, 0);
	coord_cta_end(b.c, 0);
	run(&b);
	assert_int_equal(coord_free(b.c, COORD_SCRATCHPAD), 8);
	assert_int_equal(coord_swapped(b.c, COORD_SCRATCHPAD), 0);
	coord_destroy(b.c);
}

/* Swap grows behind so many epochs, one behind the other, of which each wants it. */
static void proof(void **state)
{
	const struct coord_limits limits = {
		.warps = 8, .ctas = 4, .slots = 8, .register_sets = 20, .scratchpad_sets = 4,
		.proof = 2,
	};
	struct bench b;

	open_bench(&b, &limits, &published);
	start(&b, 0, 0, 10, 10);
	start(&b, 1, 0, 10, 10);
	start(&b, 2, 1, 1, 1);
	run(&b);
	assert_int_equal(b.n, 2);
	coord_epoch(b.c, 1000, 0);
	run(&b);
	assert_int_equal(b.n, 2);
	coord_epoch(b.c, 500, 500);
	coord_epoch(b.c, 1000, 0);
	run(&b);
	assert_int_equal(b.n, 2);
	/* A kernel begins: what was before counts no more. */
	coord_begin(b.c);
	coord_epoch(b.c, 1000, 0);
	run(&b);
	assert_int_equal(b.n, 2);
	coord_epoch(b.c, 1000, 0);
	run(&b);
	assert_int_equal(b.n, 3);
	assert_int_equal(coord_swapped(b.c, COORD_REGISTERS), 1);
	coord_destroy(b.c);
}

/* 20 sets; a warp begins with 2 and has 8 in the middle. */
static void promises(void **state)
{
	struct coord_limits limits = {
		.warps = 8, .ctas = 4, .slots = 8, .register_sets = 20, .promise = true,
	};
	struct bench b;

	open_bench(&b, &limits, &none);
	for (unsigned int w = 0; w < 3; w++)
		start(&b, w, w, 2, 8);
	run(&b);
	/* 16 of 20 are promised. */
	assert_int_equal(b.n, 2);
	assert_int_equal(coord_free(b.c, COORD_REGISTERS), 16);
	phase(&b, 0, 8, 8, 0);
	phase(&b, 1, 8, 8, 0);
	run(&b);
	assert_int_equal(coord_runnable(b.c), 2);
	assert_int_equal(coord_pending(b.c), 1);
	/* What is still used is not free, but is promised to nobody; 4 stay promised to 0. */
	coord_use(b.c, 0, 1ull << 7);
	phase(&b, 0, 3, 4, 0);
	run(&b);
	assert_int_equal(coord_runnable(b.c), 3);
	assert_int_equal(coord_free(b.c, COORD_REGISTERS), 20 - 8 - 4 - 2);
	assert_int_equal(coord_stats(b.c)->spills, 0);
	coord_destroy(b.c);
	/* 10% more are promised: the third waits for what is used, and not for what is not there. */
	limits.register_sets = 22;
	open_bench(&b, &limits, &published);
	for (unsigned int w = 0; w < 3; w++)
		start(&b, w, w, 2, 8);
	run(&b);
	assert_int_equal(b.n, 3);
	for (unsigned int w = 0; w < 2; w++)
		phase(&b, w, 8, 8, 0);
	run(&b);
	coord_use(b.c, 0, 1ull << 7);
	phase(&b, 0, 7, 8, 0);
	phase(&b, 2, 8, 8, 0);
	run(&b);
	/* 7 are needed, 5 are free, one will be. */
	assert_false(b.schedulable[2]);
	coord_done(b.c, 0, 1ull << 7);
	run(&b);
	assert_true(b.schedulable[2]);
	assert_int_equal(coord_stats(b.c)->spills, 1);
	coord_destroy(b.c);
}

/* A warp of the oldest CTA goes first, however long others wait. */
static void the_oldest_first(void **state)
{
	const struct coord_limits limits = {
		.warps = 8, .ctas = 4, .slots = 8, .register_sets = 9,
	};
	struct bench b;

	open_bench(&b, &limits, &none);
	start(&b, 5, 1, 4, 4);
	run(&b);
	start(&b, 2, 0, 4, 4);
	run(&b);
	assert_int_equal(b.n, 2);
	/* One is free, and both want two more; the younger has waited longer. */
	phase(&b, 2, 6, 6, 0);
	run(&b);
	phase(&b, 5, 6, 6, 0);
	run(&b);
	assert_int_equal(coord_runnable(b.c), 0);
	start(&b, 7, 2, 1, 1);
	run(&b);
	assert_true(b.schedulable[7]);
	coord_warp_end(b.c, 7);
	run(&b);
	assert_int_equal(coord_runnable(b.c), 0);
	coord_destroy(b.c);
	/* The same with room for one of the two. */
	open_bench(&b, &limits, &none);
	start(&b, 5, 1, 3, 3);
	run(&b);
	start(&b, 2, 0, 3, 3);
	run(&b);
	start(&b, 7, 2, 3, 3);
	run(&b);
	phase(&b, 2, 5, 5, 0);
	run(&b);
	phase(&b, 5, 5, 5, 0);
	run(&b);
	assert_int_equal(coord_runnable(b.c), 1);
	coord_warp_end(b.c, 7);
	run(&b);
	assert_true(b.schedulable[5]);
	assert_false(b.schedulable[2]);
	coord_destroy(b.c);
}

static void a_barrier_lends_slots(void **state)
{
	const struct coord_limits limits = {
		.warps = 8, .ctas = 4, .slots = 2, .register_sets = 20, .floor = 1, .lend = true,
	};
	struct bench b;

	open_bench(&b, &limits, &none);
	for (unsigned int w = 0; w < 3; w++)
		start(&b, w, 0, 2, 2);
	run(&b);
	b.schedulable[1] = false;
	coord_barrier(b.c, 1);
	run(&b);
	/* The threshold is 0, and 0 is enough for the floor. */
	assert_false(b.away[1]);
	b.schedulable[0] = false;
	coord_barrier(b.c, 0);
	run(&b);
	/* The warp that has waited longest lends. */
	assert_true(b.away[1]);
	assert_true(b.schedulable[2]);
	assert_int_equal(coord_swapped(b.c, COORD_THREADS), 1);
	assert_int_equal(coord_stats(b.c)->forced, 1);
	for (unsigned int w = 0; w < 3; w++)
		coord_passed(b.c, w);
	run(&b);
	/* 0 kept its slot, 1 waits for one. */
	assert_int_equal(coord_runnable(b.c), 2);
	coord_warp_end(b.c, 2);
	run(&b);
	assert_true(b.schedulable[1]);
	assert_int_equal(coord_swapped(b.c, COORD_THREADS), 0);
	coord_destroy(b.c);
}

/* A slot is lent where the barrier waits for somebody in the queues, and the floor counts it then. */
static void a_short_barrier_lends_none(void **state)
{
	const struct coord_limits limits = {
		.warps = 8, .ctas = 4, .slots = 3, .register_sets = 20, .floor = 3, .lend = true,
	};
	struct coord_threshold most = published;
	struct bench b;

	most.percent = 100;
	open_bench(&b, &limits, &most);
	for (unsigned int w = 0; w < 2; w++)
		start(&b, w, 0, 2, 2);
	run(&b);
	for (unsigned int w = 4; w < 7; w++)
		start(&b, w, 1, 2, 2);
	run(&b);
	/* 4 has the third slot. 0 waits for 1, which runs. */
	assert_int_equal(b.n, 3);
	b.schedulable[0] = false;
	coord_barrier(b.c, 0);
	run(&b);
	assert_int_equal(coord_swapped(b.c, COORD_THREADS), 0);
	assert_int_equal(coord_stats(b.c)->forced, 0);
	/* 4 waits for 5 and 6, which have no slots: one has 4's. */
	b.schedulable[4] = false;
	coord_barrier(b.c, 4);
	run(&b);
	assert_true(b.away[4]);
	assert_false(b.away[0]);
	assert_int_equal(coord_runnable(b.c), 2);
	coord_destroy(b.c);
}

/* A warp that waits for scratchpad keeps its slot only while enough others go on. */
static void the_floor_takes_a_waiting_warps_slot(void **state)
{
	const struct coord_limits limits = {
		.warps = 8, .ctas = 4, .slots = 1, .register_sets = 20, .scratchpad_sets = 1,
		.floor = 1, .lend = true,
	};
	struct bench b;

	open_bench(&b, &limits, &none);
	/* CTA 2 keeps its scratchpad until it ends, though its warp is gone. */
	start(&b, 2, 2, 1, 1);
	run(&b);
	phase(&b, 2, 1, 1, 1);
	run(&b);
	coord_warp_end(b.c, 2);
	start(&b, 0, 0, 1, 1);
	run(&b);
	phase(&b, 0, 1, 1, 1);
	run(&b);
	assert_false(b.schedulable[0]);
	start(&b, 1, 1, 1, 1);
	run(&b);
	assert_true(b.schedulable[1]);
	assert_true(b.away[0]);
	coord_destroy(b.c);
}

/* A promise falls as soon as the warp comes to a phase that leads to less, not when it goes on. */
static void a_promise_falls_at_the_phase(void **state)
{
	const struct coord_limits limits = {
		.warps = 8, .ctas = 4, .slots = 8, .register_sets = 10, .scratchpad_sets = 1,
		.promise = true,
	};
	struct bench b;

	open_bench(&b, &limits, &none);
	start(&b, 3, 1, 1, 1);
	run(&b);
	phase(&b, 3, 1, 1, 1);
	run(&b);
	start(&b, 0, 0, 2, 8);
	run(&b);
	assert_true(b.schedulable[0]);
	/* 0 waits for the scratchpad that CTA 1 has. */
	phase(&b, 0, 2, 2, 1);
	run(&b);
	assert_false(b.schedulable[0]);
	start(&b, 5, 2, 4, 6);
	run(&b);
	assert_true(b.schedulable[5]);
	coord_destroy(b.c);
}

/*
 * CTAs of four sets that take one first are promised the rest: the third CTA waits until one has
 * ended, though six sets are free.
 */
static void the_rest_of_scratchpad_is_promised(void **state)
{
	const struct coord_limits limits = {
		.warps = 8, .ctas = 4, .slots = 8, .register_sets = 20, .scratchpad_sets = 8,
	};
	struct coord_needs needs = {
		.sets = 1, .ahead = 1, .scratchpad = 1, .most_scratchpad = 4,
	};
	struct bench b;

	open_bench(&b, &limits, &none);
	for (unsigned int w = 0; w < 3; w++)
		coord_warp_start(b.c, w, w, &needs);
	run(&b);
	assert_true(b.schedulable[0] && b.schedulable[1] && !b.schedulable[2]);
	assert_int_equal(coord_free(b.c, COORD_SCRATCHPAD), 6);
	assert_int_equal(coord_unpromised(b.c, COORD_SCRATCHPAD), 0);
	needs.scratchpad = 4;
	for (unsigned int w = 0; w < 2; w++) {
		b.schedulable[w] = false;
		coord_phase(b.c, w, &needs);
	}
	run(&b);
	assert_true(b.schedulable[0] && b.schedulable[1] && !b.schedulable[2]);
	assert_int_equal(coord_free(b.c, COORD_SCRATCHPAD), 0);
	coord_warp_end(b.c, 0);
	coord_cta_end(b.c, 0);
	run(&b);
	assert_true(b.schedulable[2]);
	assert_int_equal(coord_free(b.c, COORD_SCRATCHPAD), 3);
	coord_destroy(b.c);
}

/* --- at random -------------------------------------------------------------------------- */

/* A warp's next step: so many sets, scratchpad or none; or a barrier. */
struct step {
	bool barrier;
	unsigned int sets, scratchpad;
};

struct program {
	struct step steps[12];
	unsigned int n, warps;		/* of a CTA */
};

struct machine {
	struct bench b;
	struct program p;
	unsigned int at[WARPS], arrived[CTAS], left[CTAS];
	bool live[WARPS];
	bool stalled[CTAS];		/* the CTA's warps do not go on */
	unsigned int scratchpad;	/* of a CTA */
};

static void make_program(struct machine *m, struct rng *rng, const struct coord_limits *limits)
{
	bool peak = rng_below(rng, 2);

	m->p.n = 2 + (unsigned int)rng_below(rng, 10);
	m->p.warps = 1 + (unsigned int)rng_below(rng, 16);
	m->scratchpad = (unsigned int)rng_below(rng, limits->scratchpad_sets + 1);
	for (unsigned int i = 0; i < m->p.n; i++) {
		struct step *s = &m->p.steps[i];

		/* The peak may be all registers that there are, for each warp, at the same time. */
		s->sets = 1 + (unsigned int)rng_below(rng, peak && i == m->p.n / 2 ?
						      limits->register_sets : 6u);
		s->barrier = i && rng_below(rng, 3) == 0;
		/* Some of it or all, in whatever order: what a CTA has it does not give back. */
		s->scratchpad = (unsigned int)rng_below(rng, 2) *
				(unsigned int)rng_below(rng, m->scratchpad + 1);
	}
}

static unsigned int ahead(const struct machine *m, unsigned int step)
{
	unsigned int most = 0;

	for (; step < m->p.n; step++)
		most = MAX(most, m->p.steps[step].sets);
	return most;
}

static void start_cta(struct machine *m, unsigned int cta)
{
	for (unsigned int i = 0; i < m->p.warps; i++) {
		unsigned int w = cta * m->p.warps + i;

		m->at[w] = 1;
		m->live[w] = true;
		coord_warp_start(m->b.c, w, cta, &(struct coord_needs){
			.sets = SETS(m->p.steps[0].sets), .ahead = ahead(m, 0),
			.scratchpad = m->p.steps[0].scratchpad, .most_scratchpad = m->scratchpad,
		});
	}
	m->left[cta] = m->p.warps;
}

static void release_barrier(struct machine *m, unsigned int cta)
{
	if (m->arrived[cta] < m->left[cta])
		return;
	m->arrived[cta] = 0;
	for (unsigned int i = 0; i < m->p.warps; i++) {
		unsigned int w = cta * m->p.warps + i;

		if (m->live[w] && !m->b.schedulable[w]) {
			coord_passed(m->b.c, w);
			m->b.schedulable[w] = !m->b.away[w];
		}
	}
}

static void advance(struct machine *m, unsigned int w)
{
	unsigned int cta = w / m->p.warps;
	const struct step *s = &m->p.steps[m->at[w]];

	if (m->at[w]++ == m->p.n) {
		m->live[w] = m->b.schedulable[w] = false;
		m->b.swap[w] = 0;
		coord_warp_end(m->b.c, w);
		if (!--m->left[cta])
			coord_cta_end(m->b.c, cta);
		return;
	}
	m->b.schedulable[w] = false;
	if (s->barrier) {
		m->arrived[cta]++;
		coord_barrier(m->b.c, w);
		release_barrier(m, cta);
		return;
	}
	m->b.swap[w] &= SETS(s->sets);
	coord_phase(m->b.c, w, &(struct coord_needs){
		.sets = SETS(s->sets), .ahead = ahead(m, (unsigned int)(s - m->p.steps)),
		.scratchpad = s->scratchpad, .most_scratchpad = m->scratchpad,
	});
}

/* A CTA stalls, or goes on; results of some of those come that lost their slots so. */
static void stall_some(struct machine *m, struct rng *rng)
{
	unsigned int cta = (unsigned int)rng_below(rng, CTAS);

	m->stalled[cta] = !m->stalled[cta];
	if (m->stalled[cta])
		coord_stalled(m->b.c, cta);
	else
		coord_resumed(m->b.c, cta);
	for (unsigned int w = 0; w < WARPS; w++)
		if (m->b.results[w] && rng_below(rng, 2)) {
			m->b.results[w] = false;
			coord_ready(m->b.c, w);
		}
}

/* All that somebody waits for comes. False: nobody did so. */
static bool all_comes(struct machine *m)
{
	bool any = false;

	for (unsigned int c = 0; c < CTAS; c++) {
		any |= m->stalled[c];
		m->stalled[c] = false;
		coord_resumed(m->b.c, c);
	}
	for (unsigned int w = 0; w < WARPS; w++) {
		any |= m->b.results[w];
		m->b.results[w] = false;
		coord_ready(m->b.c, w);
	}
	return any;
}

/* A warp that goes on, from w on; WARPS: none does. */
static unsigned int goes_on(const struct machine *m, unsigned int w)
{
	for (unsigned int tries = WARPS; tries--; w = (w + 1) % WARPS)
		if (m->b.schedulable[w] && !m->stalled[w / m->p.warps])
			return w;
	return WARPS;
}

static uint64_t lent;

static void random_machine(struct rng *rng)
{
	const struct coord_limits limits = {
		.warps = WARPS, .ctas = CTAS, .slots = 1 + (unsigned int)rng_below(rng, 48),
		.register_sets = 1 + (unsigned int)rng_below(rng, 40),
		.scratchpad_sets = (unsigned int)rng_below(rng, 8),
		.floor = 1 + (unsigned int)rng_below(rng, 4), .lend = true,
		.promise = rng_below(rng, 2), .scratchpad_table = rng_below(rng, 2),
		.proof = (unsigned int)rng_below(rng, 3),
	};
	bool swap = rng_below(rng, 2);
	static struct machine m;
	unsigned int left;

	memset(&m, 0, sizeof(m));
	open_bench(&m.b, &limits, swap ? &published : &none);
	m.b.stalls = rng_below(rng, 2);
	make_program(&m, rng, &limits);
	for (unsigned int c = 0; c < CTAS && (c + 1) * m.p.warps <= WARPS; c++)
		start_cta(&m, c);
	for (unsigned int t = 0; t < 4000; t++) {
		unsigned int w;

		if (m.b.stalls)
			stall_some(&m, rng);
		run(&m.b);
		if (t % 8 == 0)
			coord_epoch(m.b.c, rng_below(rng, 100), rng_below(rng, 100));
		w = goes_on(&m, (unsigned int)rng_below(rng, WARPS));
		if (w == WARPS && all_comes(&m))
			continue;
		if (w == WARPS)
			break;
		assert_int_equal(coord_access(m.b.c, w, SETS(3)) & ~m.b.swap[w] & ~SETS(3), 0);
		if (limits.scratchpad_table)
			coord_scratchpad_access(m.b.c, w % CTAS, rng_below(rng, 256));
		advance(&m, w);
		assert_true(coord_sound(m.b.c));
	}
	for (left = 0; left < WARPS && !m.live[left]; left++)
		;
	/* Nobody is left behind, and nothing is. */
	assert_int_equal(left, WARPS);
	assert_int_equal(coord_free(m.b.c, COORD_REGISTERS), limits.register_sets);
	assert_int_equal(coord_free(m.b.c, COORD_THREADS), limits.slots);
	assert_int_equal(coord_free(m.b.c, COORD_SCRATCHPAD), limits.scratchpad_sets);
	assert_int_equal(coord_swapped(m.b.c, COORD_REGISTERS), 0);
	assert_int_equal(coord_swapped(m.b.c, COORD_SCRATCHPAD), 0);
	assert_int_equal(coord_swapped(m.b.c, COORD_THREADS), 0);
	lent += m.b.lent;
	coord_destroy(m.b.c);
}

static void everybody_comes_to_the_end(void **state)
{
	struct rng rng;

	rng_seed(&rng, 21);
	for (unsigned int i = 0; i < 150; i++)
		random_machine(&rng);
	assert_true(lent > 50);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(algorithm_1),
		cmocka_unit_test(algorithm_1_of_changes),
		cmocka_unit_test(a_table),
		cmocka_unit_test(who_holds_more_goes_first),
		cmocka_unit_test(oversubscription),
		cmocka_unit_test(an_exchange),
		cmocka_unit_test(scratchpad_in_swap),
		cmocka_unit_test(proof),
		cmocka_unit_test(promises),
		cmocka_unit_test(the_oldest_first),
		cmocka_unit_test(a_barrier_lends_slots),
		cmocka_unit_test(a_short_barrier_lends_none),
		cmocka_unit_test(the_floor_takes_a_waiting_warps_slot),
		cmocka_unit_test(a_promise_falls_at_the_phase),
		cmocka_unit_test(the_rest_of_scratchpad_is_promised),
		cmocka_unit_test(everybody_comes_to_the_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
