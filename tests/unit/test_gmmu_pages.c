// SPDX-License-Identifier: GPL-2.0
/*
 * Pages of 64 KiB and 2 MiB: one TLB entry, one walk, one MSHR and one record, but 4 KiB of
 * it may be in device memory without the rest. Cycles as in test_gmmu_walker.c.
 */
#include "gmmu_bench.h"

static struct world w;

static void make(uint64_t page_bytes)
{
	bench_spec(&w);
	w.spec.page_bytes = page_bytes;
	bench_start(&w);
}

static void arrive(unsigned int from, unsigned int n, unsigned int walking, uint64_t now)
{
	for (unsigned int i = from; i < from + n; i++)
		w.present[i] = true;
	assert_int_equal(gmmu_arrived(w.g, page(from), n * PAGE_BYTES, now), walking);
}

static void test_one_entry_of_64k(void **state)
{
	make(65536);
	memset(w.present, true, sizeof(w.present));
	w.present[5] = false;
	ask(&w, 0, 18, 0);
	run_out(&w);
	/* Four levels; the last table has 32 entries. */
	assert_int_equal(w.when[18], 4 * 220);
	assert_int_equal(w.last_addr, 12288);
	ask(&w, 0, 512, 1000);
	run_out(&w);
	assert_int_equal(w.last_addr, 12288 + 32 * 8);
	/* 16 to 31 are in one entry, and were not touched for it. */
	assert_true(ask(&w, 0, 16, 2000));
	assert_true(ask(&w, 0, 31, 2000));
	assert_false(ask(&w, 0, 32, 2000));
	assert_int_equal(w.touched[16], 0);
	assert_int_equal(w.touched[18], 1);
	run_out(&w);
	/* 5 is not there; the rest of its page is. */
	ask(&w, 0, 4, 3000);
	run_out(&w);
	assert_true(ask(&w, 0, 6, 4000));
	assert_false(ask(&w, 0, 5, 4000));
	run_out(&w);
	/* The leaf is in the page-walk cache, as 4 is there. */
	assert_int_equal(w.told[w.used - 1], 4000 + 80);
	assert_true(ask(&w, 0, 4, 5000));
	arrive(5, 1, 1, 6000);
	run_out(&w);
	assert_int_equal(w.when[5], 6000 + 80);
	assert_true(ask(&w, 0, 5, 7000));
	gmmu_destroy(w.g);
}

static void test_2m_has_three_levels(void **state)
{
	make(2097152);
	memset(w.present, true, sizeof(w.present));
	ask(&w, 0, 700, 0);
	run_out(&w);
	assert_int_equal(w.when[700], 3 * 220);
	assert_int_equal(w.last_addr, 8192);
	assert_int_equal(STATS(&w)->pwc_misses, 3);
	assert_true(ask(&w, 0, 512, 1000));
	assert_true(ask(&w, 0, 1023, 1000));
	assert_false(ask(&w, 0, 1024, 1000));
	run_out(&w);
	assert_int_equal(w.when[1024], 1000 + 2 * 20 + 220);
	assert_int_equal(w.last_addr, 8192);
	gmmu_destroy(w.g);
}

static void test_one_mshr_and_record(void **state)
{
	struct fault f[8];

	make(65536);
	ask(&w, 0, 3, 0);
	ask(&w, 0, 9, 10);
	ask(&w, 0, 9, 10);
	ask(&w, 1, 12, 20);
	run_out(&w);
	/* One SM's two accesses are one request; another SM is told of its MSHR. */
	assert_int_equal(STATS(&w)->walks, 2);
	assert_int_equal(gmmu_faults(w.g), 1);
	assert_int_equal(gmmu_mshrs_used(w.g, 0), 1);
	assert_int_equal(gmmu_mshrs_used(w.g, 1), 0);
	assert_int_equal(gmmu_take(w.g, f, 8), 1);
	/* What was accessed, not where the page begins. */
	assert_int_equal(f[0].addr, page(3));
	/* All of the page, but for one that nobody manages. */
	memset(&w.present[0], true, 16);
	w.present[0] = false;
	assert_int_equal(gmmu_arrived(w.g, page(0), 65536, 5000), 2);
	run_out(&w);
	assert_int_equal(w.translated[3], 1);
	assert_int_equal(w.translated[9], 2);
	assert_int_equal(w.translated[12], 1);
	/* A fill is one touch, whoever waited for it. */
	assert_int_equal(w.touched[3], 1);
	assert_int_equal(w.touched[9], 1);
	assert_int_equal(gmmu_mshrs_used(w.g, 0), 0);
	gmmu_destroy(w.g);
}

static void test_a_part_arrives(void **state)
{
	struct fault f[8];

	make(65536);
	ask(&w, 0, 1, 0);
	ask_as(&w, 0, 9, ACCESS_WRITE, 10);
	run_out(&w);
	assert_int_equal(gmmu_take(w.g, f, 8), 1);
	/* Nobody waits for 12. */
	arrive(12, 1, 0, 2000);
	assert_int_equal(STATS(&w)->replays, 0);
	assert_int_equal(gmmu_mshrs_used(w.g, 0), 1);
	/* 9 goes on, 1 faults again. */
	arrive(9, 2, 1, 3000);
	run_out(&w);
	assert_int_equal(w.translated[9], 1);
	assert_int_equal(w.translated[1], 0);
	assert_true(w.wrote[9]);
	assert_int_equal(gmmu_faults(w.g), 1);
	assert_int_equal(gmmu_take(w.g, f, 8), 1);
	assert_int_equal(f[0].addr, page(1));
	assert_int_equal(w.faulted[1], 1);
	arrive(0, 16, 1, 5000);
	run_out(&w);
	assert_int_equal(w.translated[1], 1);
	/* The page-walk cache has had the page since 9 came. */
	assert_int_equal(w.when[1], 5000 + 80);
	gmmu_destroy(w.g);
}

static void test_given_up_although_only_its_record_names_it(void **state)
{
	struct fault f[8];

	make(65536);
	ask(&w, 0, 1, 0);
	run_out(&w);
	assert_int_equal(gmmu_take(w.g, f, 8), 1);
	/* It does not come this time: it walks and is raised again. */
	assert_int_equal(gmmu_arrived(w.g, f[0].addr, PAGE_BYTES, 2000), 1);
	run_out(&w);
	assert_int_equal(gmmu_faults(w.g), 1);
	assert_int_equal(w.translated[1], 0);
	gmmu_destroy(w.g);
}

static void test_invalidating_4k(void **state)
{
	make(65536);
	memset(w.present, true, sizeof(w.present));
	ask(&w, 0, 0, 0);
	ask(&w, 0, 16, 1000);
	run_out(&w);
	w.present[2] = false;
	gmmu_invalidate(w.g, page(2), page(3));
	assert_false(gmmu_tlb_holds(w.g, 0, page(2)));
	assert_true(gmmu_tlb_holds(w.g, 0, page(1)));
	/* The page's leaf is read again. */
	ask(&w, 1, 1, 2000);
	run_out(&w);
	assert_int_equal(w.when[1], 2000 + 60 + 220);
	/* Across two pages, one of them to its end. */
	gmmu_invalidate(w.g, page(8), page(32));
	assert_true(gmmu_tlb_holds(w.g, 0, page(7)));
	assert_false(gmmu_tlb_holds(w.g, 0, page(8)));
	assert_false(gmmu_tlb_holds(w.g, 0, page(15)));
	assert_false(gmmu_tlb_holds(w.g, 0, page(16)));
	gmmu_destroy(w.g);
}

/* Four KiB of a page were in the shared TLB when it was filled; what came later is not. */
static void test_shared_tlb_by_parts(void **state)
{
	bench_spec(&w);
	w.spec.page_bytes = 65536;
	w.spec.l2tlb_entries = 4;
	w.spec.walk_latency = 100;
	bench_start(&w);
	w.present[0] = w.present[1] = true;
	ask(&w, 0, 0, 0);
	run_out(&w);
	w.present[2] = true;
	ask(&w, 1, 1, 1000);
	ask(&w, 2, 2, 2000);
	run_out(&w);
	assert_int_equal(w.when[1], 1000 + 10);
	assert_false(gmmu_tlb_holds(w.g, 1, page(2)));
	assert_int_equal(w.when[2], 2000 + 110);
	assert_int_equal(STATS(&w)->l2tlb_hits, 1);
	/* One of two that wait is not there: both walk. */
	w.present[3] = true;
	gmmu_invalidate(w.g, page(1), page(2));
	ask(&w, 1, 1, 3000);
	ask(&w, 1, 3, 3005);
	ask(&w, 0, 2, 4000);
	ask(&w, 0, 3, 4005);
	run_out(&w);
	assert_int_equal(w.when[1], 3110);
	assert_int_equal(w.when[2], 4010);
	assert_int_equal(w.when[3], 4010);
	w.present[4] = true;
	ask(&w, 2, 3, 5000);
	ask(&w, 2, 4, 5005);
	run_out(&w);
	assert_int_equal(w.when[3], 5110);
	gmmu_destroy(w.g);
}

/* An entry whose last part went makes room. */
static void test_empty_entries_go(void **state)
{
	bench_spec(&w);
	w.spec.page_bytes = 65536;
	w.spec.walk_latency = 100;
	w.spec.tlb_entries = 2;
	bench_start(&w);
	memset(w.present, true, sizeof(w.present));
	ask(&w, 0, 0, 0);
	ask(&w, 0, 16, 1000);
	run_out(&w);
	/* The newer one. */
	for (unsigned int i = 16; i < 32; i++)
		gmmu_invalidate(w.g, page(i), page(i + 1));
	ask(&w, 0, 32, 2000);
	run_out(&w);
	assert_true(gmmu_tlb_holds(w.g, 0, page(0)));
	gmmu_destroy(w.g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_entry_of_64k),
		cmocka_unit_test(test_2m_has_three_levels),
		cmocka_unit_test(test_one_mshr_and_record),
		cmocka_unit_test(test_a_part_arrives),
		cmocka_unit_test(test_given_up_although_only_its_record_names_it),
		cmocka_unit_test(test_invalidating_4k),
		cmocka_unit_test(test_shared_tlb_by_parts),
		cmocka_unit_test(test_empty_entries_go),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
