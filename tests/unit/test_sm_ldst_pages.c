// SPDX-License-Identifier: GPL-2.0
/*
 * Pages: TLB ports and latency, misses that step aside while others pass, far
 * faults, what is performed when and in which order, and who waits for a page.
 */
#include "ldst_bench.h"

static uint64_t bit(unsigned int warp)
{
	return 1ull << warp;
}

static void start(bool paging)
{
	bench_create();
	bench.spec.paging = paging;
	bench_start();
}

/* The waiter's page has come, at the beginning of the bench's cycle. */
static void translate(unsigned int i)
{
	access_gmmu_ops.translated(&bench.sm, bench.waiting[i], bench.waiting_page[i], (void *)1,
				   bench.now);
}

/* A hit costs tlb.latency; without paging nothing. */
static void test_hit(void **state)
{
	struct bench_op *op;

	start(true);
	op = LOAD(10, 2, 0);
	bench_run(11);
	assert_int_equal(bench.sm.accesses.untranslated, bit(2));
	assert_int_equal(ldst_perform_next(&bench.sm), NEVER);
	bench_run(12);
	/* Translated in 11, in the latency queue one later. */
	assert_int_equal(bench.sm.accesses.untranslated, 0);
	assert_int_equal(op->performed, 32);
	bench_drain();
	assert_int_equal(op->left, 12);
	assert_int_equal(bench.sm.account.stats.ldst_stalls[LDST_PAGES], 1);
	assert_int_equal(bench.requests[0].sent, 48);
	bench_end();

	start(false);
	op = LOAD(10, 2, 0);
	bench_run(11);
	assert_int_equal(bench.sm.accesses.untranslated, 0);
	bench_drain();
	assert_int_equal(bench.requests[0].sent, 47);
	bench_end();
}

/* 32 pages, four look-ups a cycle, lines one a cycle: the ports are no bottleneck, one would not be. */
static void test_ports(void **state)
{
	static const struct {
		uint64_t ports;
		unsigned int translated, left;
	} rows[] = { { 4, 10 + 8, 11 + 32 }, { 32, 10 + 1, 11 + 32 }, { 1, 10 + 32, 11 + 32 } };

	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++) {
		struct bench_op *op;

		bench_create();
		bench.spec.paging = 1;
		bench.spec.tlb_ports = rows[i].ports;
		bench_start();
		op = bench_strided(10, 0, PTX_SPACE_GLOBAL, MEM_READ, 4, PAGE(0), PAGE_BYTES);
		bench_run(rows[i].translated);
		assert_int_equal(bench.sm.accesses.untranslated, bit(0));
		bench_run(rows[i].translated + 1);
		assert_int_equal(bench.sm.accesses.untranslated, 0);
		assert_int_equal(bench.lookups, 32);
		bench_drain();
		assert_int_equal(op->left, rows[i].left);
		bench_end();
	}
}

/* The page that misses steps aside with its lanes; the rest of the instruction, and others, go on. */
static void test_hit_under_miss(void **state)
{
	struct bench_op *torn, *other;

	start(true);
	bench.absent[1] = true;
	torn = bench_strided(10, 2, PTX_SPACE_GLOBAL, MEM_READ, 4, PAGE(1) - 64, 4);
	other = LOAD(11, 3, 512);
	bench_run(20);
	assert_int_equal(torn->performed, 16);
	assert_int_equal(torn->left, 12);
	assert_int_equal(other->dispatched, 12);
	assert_int_equal(bench.sm.accesses.untranslated, bit(2));
	assert_int_equal(bench.nwaiting, 1);
	bench_run(400);
	assert_true(other->released != 0);
	assert_int_equal(torn->released, 0);
	assert_int_equal(bench.nrequests, 2);
	translate(0);
	assert_int_equal(bench.sm.accesses.untranslated, 0);
	assert_string_equal(ldst_why(&bench.sm, 2), "memory");
	assert_int_equal(ldst_perform_next(&bench.sm), 400);
	bench_run(401);
	assert_int_equal(torn->performed, 32);
	bench_drain();
	/* In the latency queue in 400. */
	assert_int_equal(bench.requests[2].sent, 400 + 36);
	assert_int_equal(torn->released, 436 + 100 + 3 + 2);
	bench_end();
}

/* Stores count from issue, so that their warp outlives the page. */
static void test_store_waits(void **state)
{
	struct bench_op *op;

	start(true);
	bench.absent[0] = true;
	op = STORE(10, 7, 0);
	bench_run(50);
	assert_int_equal(bench.stores[7], 4);
	assert_true(op->done != 0);
	assert_int_equal(op->performed, 0);
	translate(0);
	bench_run(51);
	assert_int_equal(op->performed, 32);
	assert_int_equal(bench.stores[7], 4);
	bench_drain();
	assert_int_equal(bench.stores[7], 0);
	bench_end();
}

static void far_faults(bool stall)
{
	struct sm_waiting w;
	struct bench_op *op;

	start(true);
	bench.spec.fault_stall = stall;
	bench.absent[3] = bench.absent[4] = true;
	op = bench_strided(10, 6, PTX_SPACE_GLOBAL, MEM_WRITE, 4, PAGE(4) - 64, 4);
	bench_run(20);
	assert_int_equal(bench.nwaiting, 2);
	assert_int_equal(bench.waiting[0]->access, ACCESS_WRITE);
	assert_int_equal(bench.waiting[0]->warp, 6);
	for (unsigned int i = 0; i < 2; i++) {
		bench.waiting[i]->told = true;
		access_gmmu_ops.faulted(&bench.sm, bench.waiting[i], bench.now);
	}
	assert_int_equal(bench.sm.heads.far_fault, bit(6));
	assert_int_equal(bench.sm.heads.wait_fault, stall ? bit(6) : 0);
	assert_int_equal(bench.sm.accesses.in_order, stall ? bit(6) : 0);
	assert_true(sm_find_waiting(&bench.sm, PAGE(3), &w));
	assert_int_equal(w.addr, PAGE(4) - 64);
	assert_string_equal(w.what, "store");
	assert_string_equal(w.thread, "lane 0");
	assert_int_equal(w.line, op->insn.line);
	assert_true(sm_find_waiting(&bench.sm, PAGE(4), &w));
	assert_string_equal(w.thread, "lane 16");
	assert_string_equal(ldst_why(&bench.sm, 6), "a far fault");
	assert_null(ldst_why(&bench.sm, 5));
	translate(0);
	assert_int_equal(bench.sm.heads.far_fault, bit(6));
	assert_int_equal(bench.sm.heads.wait_fault, stall ? bit(6) : 0);
	assert_int_equal(bench.sm.accesses.untranslated, bit(6));
	assert_true(sm_find_waiting(&bench.sm, PAGE(3), &w) !=
		    sm_find_waiting(&bench.sm, PAGE(4), &w));
	bench_run(25);
	assert_int_equal(op->performed, 16);
	translate(1);
	assert_int_equal(bench.sm.heads.far_fault | bench.sm.heads.wait_fault |
			 bench.sm.accesses.in_order, 0);
	assert_int_equal(bench.sm.accesses.untranslated, 0);
	assert_false(sm_find_waiting(&bench.sm, PAGE(4), &w));
	bench_drain();
	bench_end();
}

static void test_far_faults(void **state)
{
	far_faults(false);
	far_faults(true);
}

/* Without paging an access whose page is not known holds up those behind it: their order stays. */
static void test_order_without_paging(void **state)
{
	struct bench_op *first, *second;

	start(false);
	bench.absent[5] = true;
	first = STORE(10, 1, 5 * PAGE_BYTES);
	second = LOAD(11, 1, 0);
	bench_run(30);
	assert_int_equal(bench.nwaiting, 1);
	assert_int_equal(second->dispatched, 0);
	translate(0);
	bench.absent[5] = false;
	bench_drain();
	/* Looked up in 11, and sent in 30. */
	assert_int_equal(bench.sm.account.stats.ldst_stalls[LDST_PAGES], 19);
	assert_int_equal(bench.lookups, 2);
	assert_int_equal(bench.order[0], first->index);
	assert_int_equal(bench.order[1], second->index);
	bench_end();
}

/* Performed by cycle: what was translated later is not touched before. */
static void test_perform_by_cycle(void **state)
{
	uint64_t next = 0;

	start(false);
	LOAD(10, 0, 0);
	LOAD(12, 1, 128);
	for (; bench.now < 15; bench.now++) {
		struct bench_op *op = &bench.ops[bench.issued];

		if (next <= bench.now || bench.sm.ldst->next <= bench.now) {
			ldst_cycle(&bench.sm, bench.now);
			next = ldst_next(&bench.sm, bench.now);
		}
		if (bench.issued < bench.nops && op->at <= bench.now) {
			bench.issued++;
			bench_issue(op);
			ldst_dispatch(&bench.sm, op->index, bench.now);
		}
	}
	assert_int_equal(ldst_perform_next(&bench.sm), 11);
	assert_int_equal(ldst_perform(&bench.sm, 11), 0);
	assert_int_equal(bench.norder, 1);
	assert_int_equal(ldst_perform_next(&bench.sm), 13);
	assert_int_equal(ldst_perform(&bench.sm, 13), 0);
	assert_int_equal(bench.norder, 2);
	assert_int_equal(ldst_perform_next(&bench.sm), NEVER);
	bench_drain();
	bench_end();
}

/* Everything is forgotten; the unit works as on its first day. */
static void test_cancel(void **state)
{
	struct bench_op *op;

	start(true);
	bench.absent[1] = true;
	LOAD(10, 0, PAGE_BYTES);
	bench_strided(11, 1, PTX_SPACE_GLOBAL, MEM_READ, 4, PAGE(2), 128);
	bench_strided(12, 2, PTX_SPACE_SHARED, MEM_READ, 4, 0, 128);
	bench_run(60);
	assert_false(ldst_idle(&bench.sm));
	ldst_cancel(&bench.sm);
	assert_true(ldst_idle(&bench.sm));
	assert_int_equal(ldst_next(&bench.sm, bench.now), NEVER);
	bench.next_reply = bench.nrequests;
	bench.nops = bench.issued;
	op = LOAD(100, 3, 0);
	bench_run(400);
	assert_int_equal(op->released, 100 + 38 + 100 + 3 + 2);
	bench_end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hit),
		cmocka_unit_test(test_ports),
		cmocka_unit_test(test_hit_under_miss),
		cmocka_unit_test(test_store_waits),
		cmocka_unit_test(test_far_faults),
		cmocka_unit_test(test_order_without_paging),
		cmocka_unit_test(test_perform_by_cycle),
		cmocka_unit_test(test_cancel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
