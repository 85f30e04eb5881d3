// SPDX-License-Identifier: GPL-2.0
/*
 * L1T against cycles counted by hand: misses and hits, the order of their ends, what is full, and
 * pages that are not there.
 */
#include "ldst_bench.h"

#define FETCH(at, warp, base, stride) \
	bench_strided(at, warp, PTX_SPACE_TEXTURE, MEM_READ, 4, PAGE(0) + (base), stride)

static void start(void)
{
	bench_create();
	bench_start();
}

static const struct cache_counters *l1t(void)
{
	return &bench.sm.account.stats.l1t;
}

/*
 * Taken in 10, at the tags in 11, sent in 12; its sectors come from 112 to 115. It is a result
 * then, in the port in 116, and written in 117. A hit is at the tags in 301, a result in 302.
 */
static void test_miss_and_hit(void **state)
{
	struct bench_op *miss, *hit;

	start();
	miss = FETCH(10, 0, 0, 4);
	hit = FETCH(300, 1, 64, 0);
	bench_drain();
	assert_int_equal(miss->left, 11);
	assert_int_equal(bench.nrequests, 1);
	assert_int_equal(bench.requests[0].sent, 12);
	assert_int_equal(bench.requests[0].r.bytes, MEM_LINE);
	assert_int_equal(bench.requests[0].r.addr, mem_device(PAGE(0)));
	assert_int_equal(miss->released, 12 + 100 + 3 + 2);
	assert_int_equal(hit->left, 301);
	assert_int_equal(hit->released, 304);
	assert_int_equal(l1t()->reads, 2);
	assert_int_equal(l1t()->read_misses, 1);
	assert_int_equal(l1t()->fails, 0);
	assert_int_equal(bench.sm.account.stats.l1d.reads, 0);
	assert_int_equal(bench.sm.account.stats.lines, 0);
	bench_end();
}

/* The tags have a line from its miss on: one request. A hit waits for the miss before it. */
static void test_in_order(void **state)
{
	struct bench_op *hit, *miss, *behind;

	start();
	FETCH(10, 0, 0, 4);
	miss = FETCH(300, 1, 4096, 4);
	behind = FETCH(300, 2, 4096, 4);
	hit = FETCH(300, 3, 0, 4);
	bench_drain();
	assert_int_equal(bench.nrequests, 2);
	assert_int_equal(miss->released, 302 + 100 + 3 + 2);
	/* One a cycle goes on, and one a cycle through the port. */
	assert_int_equal(behind->released, miss->released + 1);
	assert_int_equal(hit->released, miss->released + 2);
	assert_int_equal(l1t()->read_misses, 2);
	bench_end();
}

/* A line for each lane: one a cycle, the highest address first, and each is sent in the next cycle. */
static void test_lines(void **state)
{
	struct bench_op *op;

	start();
	op = FETCH(10, 0, 0, 128);
	bench_drain();
	assert_int_equal(op->left, 11 + 31);
	assert_int_equal(bench.nrequests, 32);
	for (unsigned int i = 0; i < 32; i++) {
		assert_int_equal(bench.requests[i].sent, 12 + i);
		assert_int_equal(bench.requests[i].r.addr, mem_device(PAGE(0)) + (31 - i) * 128);
	}
	/* 128 sectors come one after the other. */
	assert_int_equal(op->released, 12 + 100 + 127 + 2);
	assert_int_equal(bench.sm.account.stats.ldst_stalls[LDST_LINES], 31);
	assert_int_equal(l1t()->reads, 32);
	bench_end();
}

/* 4 sets of 24 lines: 24 more of one set, and its first is gone. */
static void test_replacement(void **state)
{
	start();
	FETCH(10, 0, 0, 0);
	for (unsigned int i = 1; i <= 24; i++)
		FETCH(1000 + 200 * i, 0, i * 512, 0);
	FETCH(9000, 0, 128, 0);
	FETCH(9500, 0, 24 * 512, 0);
	FETCH(10000, 0, 0, 0);
	bench_drain();
	assert_int_equal(l1t()->reads, 28);
	assert_int_equal(l1t()->read_misses, 1 + 24 + 1 + 1);
	bench_end();
}

/* With a reorder buffer of two the third miss waits until the first has gone on. */
static void test_reorder_buffer(void **state)
{
	struct bench_op *third;

	bench_create();
	bench.spec.l1t_rob = 2;
	bench_start();
	FETCH(10, 0, 0, 0);
	FETCH(10, 1, 4096, 0);
	third = FETCH(10, 2, 8192, 0);
	bench_drain();
	/* Taken in 12, refused from 13 on. The first goes on in 115, and it is accepted in that cycle. */
	assert_int_equal(third->left, 115);
	assert_int_equal(l1t()->fails, 102);
	assert_int_equal(bench.sm.account.stats.ldst_stalls[LDST_L1T], 102);
	assert_int_equal(bench.requests[2].sent, 116);
	bench_end();
}

/* Nothing leaves: four requests wait, and the fifth line in the register. */
static void test_requests(void **state)
{
	struct bench_op *op;

	start();
	bench.no_credit = true;
	op = FETCH(10, 0, 0, 128);
	op->lanes = 0x1f;
	bench_run(50);
	assert_int_equal(l1t()->reads, 4);
	assert_int_equal(op->left, 0);
	bench.no_credit = false;
	bench_drain();
	/* Refused from 15 on; in 50 the first is sent. */
	assert_int_equal(op->left, 50);
	assert_int_equal(l1t()->fails, 35);
	bench_end();
}

/* A FIFO of one place: the hit is accepted when the miss before it has gone on. */
static void test_fragments(void **state)
{
	struct bench_op *hit;

	bench_create();
	bench.spec.l1t_fragments = 1;
	bench_start();
	FETCH(10, 0, 0, 0);
	hit = FETCH(10, 1, 4, 0);
	bench_drain();
	assert_int_equal(hit->left, 115);
	assert_int_equal(hit->released, 118);
	bench_end();
}

/* The results are two when the port is stuck: the third stays in the FIFO. */
static void test_results(void **state)
{
	start();
	FETCH(10, 0, 0, 0);
	bench_run(200);
	bench.bank_taken = true;
	for (unsigned int i = 0; i < 6; i++)
		FETCH(200, i, 0, 0);
	bench_run(300);
	/* One in the port, two results. */
	assert_int_equal(bench.sm.ldst->texture.fifo_count, 3);
	bench.bank_taken = false;
	bench_drain();
	assert_int_equal(bench.ops[6].released, 300 + 5);
	bench_end();
}

static void translate(unsigned int i)
{
	access_gmmu_ops.translated(&bench.sm, bench.waiting[i], bench.waiting_page[i], (void *)1,
				   bench.now);
}

/*
 * A texel's page is not there: the fetch leaves the register and waits for all of its pages,
 * before one of its lines goes. Others pass it.
 */
static void test_far_fault(void **state)
{
	struct bench_op *fetch, *load;

	bench_create();
	bench.spec.paging = 1;
	bench_start();
	bench.absent[0] = bench.absent[1] = true;
	fetch = FETCH(10, 0, 0, 4);
	fetch->corner = PAGE_BYTES;
	load = LOAD(20, 1, 2 * PAGE_BYTES);
	bench_run(300);
	assert_int_equal(bench.nwaiting, 2);
	assert_int_equal(fetch->performed, 0);
	assert_true(fetch->left && load->released);
	assert_int_equal(bench.nrequests, 1);
	translate(1);
	bench_run(400);
	assert_int_equal(fetch->performed, 32);
	assert_int_equal(bench.nrequests, 1);
	translate(0);
	bench_drain();
	assert_int_equal(fetch->performed, 64);
	/* The lines of the first texels alone. */
	assert_int_equal(bench.nrequests, 2);
	assert_int_equal(bench.requests[1].sent, 401);
	assert_int_equal(fetch->released, 401 + 100 + 3 + 2);
	bench_end();
}

/* More pages than may wait at a time: the fetch stays in the register until the first have come. */
static void test_many_pages(void **state)
{
	struct bench_op *fetch;

	bench_create();
	bench.spec.paging = 1;
	bench_start();
	for (unsigned int i = 0; i < 64; i++)
		bench.absent[i] = true;
	fetch = FETCH(10, 0, 0, PAGE_BYTES);
	fetch->corner = 32 * PAGE_BYTES;
	bench_run(200);
	assert_int_equal(bench.nwaiting, 32);
	assert_int_equal(fetch->left, 0);
	for (unsigned int i = 0; i < 32; i++)
		translate(i);
	bench_run(300);
	assert_int_equal(bench.nwaiting, 64);
	assert_true(fetch->left);
	assert_int_equal(bench.nrequests, 0);
	for (unsigned int i = 32; i < 64; i++)
		translate(i);
	bench_drain();
	assert_int_equal(bench.nrequests, 32);
	bench_end();
}

/* Pages that leave device memory leave the tags. */
static void test_drop(void **state)
{
	start();
	FETCH(10, 0, 0, 0);
	FETCH(10, 0, 4096, 0);
	bench_run(300);
	sm_drop(&bench.sm, mem_device(PAGE(0)), mem_device(PAGE(1)));
	FETCH(300, 0, 0, 0);
	FETCH(300, 0, 4096, 0);
	bench_drain();
	assert_int_equal(l1t()->read_misses, 3);
	bench_end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_miss_and_hit),
		cmocka_unit_test(test_in_order),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_replacement),
		cmocka_unit_test(test_reorder_buffer),
		cmocka_unit_test(test_requests),
		cmocka_unit_test(test_fragments),
		cmocka_unit_test(test_results),
		cmocka_unit_test(test_far_fault),
		cmocka_unit_test(test_many_pages),
		cmocka_unit_test(test_drop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
