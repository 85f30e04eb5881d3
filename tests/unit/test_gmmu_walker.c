// SPDX-License-Identifier: GPL-2.0
/*
 * Walks through the page-walk cache and memory, the shared TLB, and how many go at a time.
 * Cycles are derived by hand from: 20 a look-up in the page-walk cache, 200 a read of the
 * page table, one after the other, root first.
 */
#include "gmmu_bench.h"

#define COLD	(4 * (20 + 200))	/* every level missed */
#define LEAF	(3 * 20 + 20 + 200)	/* the last one alone */
#define WARM	(4 * 20)

static void make(struct world *w, void (*change)(struct gpu_spec *spec))
{
	bench_spec(w);
	if (change)
		change(&w->spec);
	bench_start(w);
	memset(w->present, true, sizeof(w->present));
}

static struct world w;

static void test_walk_level_by_level(void **state)
{
	make(&w, NULL);
	ask(&w, 0, 0, 0);
	/* The root entry of the arena: number 64, as 32 bytes. */
	run(&w, 19);
	assert_int_equal(w.nreads, 0);
	run(&w, 20);
	assert_int_equal(w.last_addr, 64 * 8);
	run(&w, 239);
	assert_int_equal(w.last_addr, 64 * 8);
	run(&w, 240);
	assert_int_equal(w.last_addr, 4096);
	run(&w, 460);
	assert_int_equal(w.last_addr, 8192);
	run(&w, 680);
	assert_int_equal(w.last_addr, 12288);
	run_out(&w);
	assert_int_equal(w.when[0], COLD);
	assert_int_equal(STATS(&w)->pwc_hits, 0);
	assert_int_equal(STATS(&w)->pwc_misses, 4);
	assert_int_equal(STATS(&w)->pte_reads, 4);
	assert_int_equal(STATS(&w)->walk_cycles.sum, COLD);
	/* A neighbour misses the last level alone. */
	ask(&w, 0, 9, 1000);
	run_out(&w);
	assert_int_equal(w.when[9], 1000 + LEAF);
	assert_int_equal(w.last_addr, (12288 + 9 * 8) & ~31);
	assert_int_equal(STATS(&w)->pwc_hits, 3);
	assert_int_equal(STATS(&w)->pwc_misses, 5);
	/* Another SM has a TLB of its own, and finds all four. */
	ask(&w, 1, 9, 2000);
	run(&w, 2059);
	/* Nobody hears of anything before the last look-up has begun. */
	assert_int_equal(gmmu_next(w.g), NEVER);
	assert_int_equal(gmmu_wake(w.g), 2060);
	run(&w, 2060);
	assert_int_equal(gmmu_next(w.g), 2080);
	run_out(&w);
	assert_int_equal(w.when[9], 2000 + WARM);
	assert_int_equal(STATS(&w)->pwc_hits, 7);
	/* The next VA block has a table of its own: two levels are missed. */
	ask(&w, 0, 512, 3000);
	run_out(&w);
	assert_int_equal(w.when[512], 3000 + 2 * 20 + 2 * 220);
	assert_int_equal(w.last_addr, 16384);
	assert_int_equal(STATS(&w)->pwc_hits, 9);
	assert_int_equal(STATS(&w)->pwc_misses, 7);
	assert_int_equal(STATS(&w)->pte_reads, 7);
	assert_int_equal(STATS(&w)->walk_cycles.count, 4);
	gmmu_destroy(w.g);
}

static void tiny_pwc(struct gpu_spec *spec)
{
	spec->pwc_bytes = 5 * 8;
	spec->tlb_entries = 1;
}

/* Five entries: root, 1 GiB, 2 MiB and two pages; the least recently used goes. */
static void test_pwc_lru(void **state)
{
	make(&w, tiny_pwc);
	ask(&w, 0, 0, 0);
	ask(&w, 0, 4, 1000);
	/* Both are there; 0 is used again, so 4 is the older leaf. */
	ask(&w, 0, 0, 2000);
	run_out(&w);
	assert_int_equal(w.when[0], 2000 + WARM);
	ask(&w, 0, 8, 3000);
	ask(&w, 0, 0, 4000);
	run_out(&w);
	assert_int_equal(w.when[0], 4000 + WARM);
	ask(&w, 0, 4, 5000);
	run_out(&w);
	assert_int_equal(w.when[4], 5000 + LEAF);
	assert_int_equal(STATS(&w)->pwc_hits, 3 + 4 + 3 + 4 + 3);
	assert_int_equal(STATS(&w)->pwc_misses, 4 + 1 + 0 + 1 + 0 + 1);
	gmmu_destroy(w.g);
}

static void no_pwc(struct gpu_spec *spec)
{
	spec->pwc_bytes = 0;
}

static void test_without_pwc(void **state)
{
	make(&w, no_pwc);
	for (unsigned int i = 0; i < 3; i++) {
		ask(&w, i, 0, 1000 * (i + 1));
		run_out(&w);
		assert_int_equal(w.when[0], 1000 * (i + 1) + 4 * 200);
	}
	assert_int_equal(STATS(&w)->pte_reads, 12);
	assert_int_equal(STATS(&w)->pwc_hits + STATS(&w)->pwc_misses, 0);
	gmmu_destroy(w.g);
}

/* An entry that is not present is not kept: the walk after the replay reads it again. */
static void test_absent_entries_are_not_kept(void **state)
{
	make(&w, NULL);
	ask(&w, 0, 0, 0);
	w.present[5] = false;
	ask(&w, 0, 5, 1000);
	run_out(&w);
	assert_int_equal(w.told[1], 1000 + LEAF);
	w.present[5] = true;
	assert_int_equal(gmmu_arrived(w.g, page(5), PAGE_BYTES, 5000), 1);
	run_out(&w);
	assert_int_equal(w.when[5], 5000 + LEAF);
	assert_int_equal(STATS(&w)->far_wait_cycles.sum, 5000 - 1000);
	gmmu_destroy(w.g);
}

static void test_invalidation_drops_the_leaf(void **state)
{
	make(&w, NULL);
	ask(&w, 0, 0, 0);
	ask(&w, 0, 1, 1000);
	run_out(&w);
	gmmu_invalidate(w.g, page(0), page(1));
	ask(&w, 0, 0, 2000);
	ask(&w, 1, 1, 3000);
	run_out(&w);
	assert_int_equal(w.when[0], 2000 + LEAF);
	assert_int_equal(w.when[1], 3000 + WARM);
	/* A range longer than the cache; upper levels stay. */
	gmmu_invalidate(w.g, 0, UINT64_MAX);
	ask(&w, 2, 1, 4000);
	run_out(&w);
	assert_int_equal(w.when[1], 4000 + LEAF);
	gmmu_destroy(w.g);
}

/* Pages 0 to 3 have their entries in the same 32 bytes, page 4 in the next. */
static void test_walks_share_a_read(void **state)
{
	make(&w, NULL);
	ask(&w, 0, 100, 0);
	ask(&w, 0, 0, 1000);
	ask(&w, 1, 1, 1010);
	ask(&w, 2, 3, 1020);
	ask(&w, 2, 4, 1030);
	run_out(&w);
	/* 1 and 3 join the read of 0. */
	assert_int_equal(w.when[0], 1000 + LEAF);
	assert_int_equal(w.when[1], 1000 + LEAF);
	assert_int_equal(w.when[3], 1000 + LEAF);
	assert_int_equal(w.when[4], 1030 + LEAF);
	assert_int_equal(STATS(&w)->pte_reads, 4 + 2);
	assert_int_equal(STATS(&w)->pwc_misses, 4 + 4);
	/* Each has its own entry now. */
	ask(&w, 0, 3, 2000);
	ask(&w, 0, 2, 2000);
	run_out(&w);
	assert_int_equal(w.when[3], 2000 + WARM);
	assert_int_equal(w.when[2], 2000 + LEAF);
	gmmu_destroy(w.g);
}

static void test_no_room_in_the_port(void **state)
{
	make(&w, NULL);
	ask(&w, 0, 0, 0);
	run_out(&w);
	w.full = true;
	ask(&w, 0, 8, 1000);
	ask(&w, 1, 16, 1002);
	run(&w, 1090);
	/* Cycles 1080 to 1090 for the first; the second waits behind it. */
	assert_int_equal(w.refused, 11);
	assert_int_equal(gmmu_wake(w.g), 1091);
	assert_int_equal(gmmu_next(w.g), NEVER);
	w.full = false;
	run_out(&w);
	assert_int_equal(w.when[8], 1091 + 200);
	assert_int_equal(w.when[16], 1091 + 200);
	gmmu_destroy(w.g);
}

static void one_walker(struct gpu_spec *spec)
{
	spec->walkers = 1;
}

static void test_walks_wait_for_a_walker(void **state)
{
	make(&w, one_walker);
	ask(&w, 0, 0, 0);
	ask(&w, 1, 8, 10);
	ask(&w, 2, 8, 20);
	run_out(&w);
	assert_int_equal(w.when[0], COLD);
	assert_int_equal(w.done[1], COLD + LEAF);
	assert_int_equal(w.done[2], COLD + LEAF + WARM);
	/* A walk's cycles are those of its walker. */
	assert_int_equal(STATS(&w)->walk_cycles.sum, COLD + LEAF + WARM);
	gmmu_destroy(w.g);
}

static void l2tlb(struct gpu_spec *spec)
{
	spec->l2tlb_entries = 2;
	spec->l2tlb_ports = 2;
	spec->l2tlb_latency = 10;
	spec->walk_latency = 100;
}

static void test_shared_tlb(void **state)
{
	make(&w, l2tlb);
	/* Two look-ups a cycle, ten cycles each, then a walk of 100. */
	ask(&w, 0, 1, 0);
	ask(&w, 1, 2, 0);
	ask(&w, 2, 3, 0);
	run_out(&w);
	assert_int_equal(w.when[1], 110);
	assert_int_equal(w.when[2], 110);
	assert_int_equal(w.when[3], 111);
	assert_int_equal(STATS(&w)->l2tlb_misses, 3);
	/* 3 pushed 1 out: 2 and 3 hit for other SMs, 1 does not. */
	ask(&w, 0, 2, 200);
	ask(&w, 1, 3, 300);
	ask(&w, 1, 1, 400);
	run_out(&w);
	assert_int_equal(w.when[2], 210);
	assert_int_equal(w.when[3], 310);
	assert_int_equal(w.when[1], 510);
	assert_int_equal(STATS(&w)->l2tlb_hits, 2);
	assert_int_equal(STATS(&w)->l2tlb_misses, 4);
	assert_int_equal(STATS(&w)->walks, 4);
	/* A hit fills the SM's own. */
	assert_true(gmmu_tlb_holds(w.g, 0, page(2)));
	assert_int_equal(w.touched[2], 2);
	/* An invalidation reaches it: 3 was the newer of the two that were left. */
	gmmu_invalidate(w.g, page(3), page(4));
	ask(&w, 0, 3, 600);
	run_out(&w);
	assert_int_equal(w.when[3], 710);
	gmmu_destroy(w.g);
}

static void test_shared_tlb_lru(void **state)
{
	make(&w, l2tlb);
	ask(&w, 0, 1, 0);
	ask(&w, 0, 2, 1000);
	/* 1 is used again, so 2 goes. */
	ask(&w, 1, 1, 2000);
	ask(&w, 0, 3, 3000);
	ask(&w, 2, 1, 4000);
	ask(&w, 2, 2, 5000);
	run_out(&w);
	assert_int_equal(w.when[1], 4010);
	assert_int_equal(w.when[2], 5110);
	gmmu_destroy(w.g);
}

static void test_lookahead(void **state)
{
	make(&w, NULL);
	assert_int_equal(gmmu_lookahead(w.g), 20);
	gmmu_destroy(w.g);
	make(&w, l2tlb);
	assert_int_equal(gmmu_lookahead(w.g), 10);
	gmmu_destroy(w.g);
}

static void test_cancel_forgets_walks(void **state)
{
	make(&w, NULL);
	ask(&w, 0, 0, 0);
	run(&w, 100);
	gmmu_cancel(w.g);
	w.nreads = 0;
	assert_int_equal(gmmu_wake(w.g), NEVER);
	/* Tables are where they were; nothing was read to its end. */
	ask(&w, 0, 0, 1000);
	run_out(&w);
	assert_int_equal(w.when[0], 1000 + COLD);
	assert_int_equal(w.translated[0], 1);
	gmmu_destroy(w.g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_walk_level_by_level),
		cmocka_unit_test(test_pwc_lru),
		cmocka_unit_test(test_without_pwc),
		cmocka_unit_test(test_absent_entries_are_not_kept),
		cmocka_unit_test(test_invalidation_drops_the_leaf),
		cmocka_unit_test(test_walks_share_a_read),
		cmocka_unit_test(test_no_room_in_the_port),
		cmocka_unit_test(test_walks_wait_for_a_walker),
		cmocka_unit_test(test_shared_tlb),
		cmocka_unit_test(test_shared_tlb_lru),
		cmocka_unit_test(test_lookahead),
		cmocka_unit_test(test_cancel_forgets_walks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
