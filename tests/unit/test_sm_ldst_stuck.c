// SPDX-License-Identifier: GPL-2.0
/*
 * What holds the load/store unit up, by hand: no line, no MSHR, no merge, no room in
 * the miss queue, none in the latency queue; and local memory, which is written back.
 * The counters of cycles that it slept through are exact.
 */
#include "ldst_bench.h"

#define FAILS	(bench.sm.account.stats.l1d.fails)

/* Answers every sector that is left of a request, one a cycle. */
static void answer_all(unsigned int request)
{
	unsigned int n = bench.requests[request].r.bytes / MEM_SECTOR;

	while (bench.requests[request].answered < n) {
		bench_answer(request);
		bench_run(bench.now + 1);
	}
}

static void start(void)
{
	bench_start();
	bench.latency = 0;
}

/* Two ways; three lines of one set: the third waits for a fill, and is taken in its cycle. */
static void test_no_line(void **state)
{
	bench_create();
	bench.spec.l1d_sets = 1;
	bench.spec.l1d_ways = 2;
	start();
	for (unsigned int i = 0; i < 3; i++)
		LOAD(10 + i, i, i * 128);
	/* Taken in 12, in the queue in 13, at the tags in 48. */
	bench_run(200);
	assert_int_equal(bench.nrequests, 2);
	assert_int_equal(FAILS, 200 - 48);
	answer_all(1);			/* the fill is in cycle 203 */
	assert_int_equal(FAILS, 203 - 48);
	bench_run(210);
	assert_int_equal(FAILS, 203 - 48);
	assert_int_equal(bench.nrequests, 3);
	assert_int_equal(bench.requests[2].sent, 204);
	assert_int_equal(bench.ops[1].released, 205);
	answer_all(0);
	answer_all(2);
	bench_drain();
	bench_end();
}

/* The same with MSHRs: one is free when its last access has gone through the port, a cycle later. */
static void test_no_mshr(void **state)
{
	bench_create();
	bench.spec.l1d_mshrs = 2;
	start();
	for (unsigned int i = 0; i < 3; i++)
		LOAD(10 + i, i, i * 128);
	bench_run(200);
	assert_int_equal(bench.nrequests, 2);
	assert_int_equal(FAILS, 200 - 48);
	answer_all(0);
	bench_run(210);
	assert_int_equal(FAILS, 204 - 48);
	assert_int_equal(bench.requests[2].sent, 205);
	answer_all(1);
	answer_all(2);
	bench_drain();
	bench_end();
}

/* The third access to a line with room for two: a hit after the fill, in the same cycle. */
static void test_no_merge(void **state)
{
	bench_create();
	bench.spec.l1d_merges = 2;
	start();
	for (unsigned int i = 0; i < 4; i++)
		LOAD(10 + i, i, 0);
	bench_run(200);
	assert_int_equal(bench.nrequests, 1);
	assert_int_equal(FAILS, 200 - 48);
	answer_all(0);
	bench_run(210);
	assert_int_equal(bench.ops[2].released, 203);
	assert_int_equal(bench.ops[3].released, 204);
	assert_int_equal(bench.ops[0].released, 205);
	assert_int_equal(bench.ops[1].released, 206);
	assert_int_equal(bench.sm.account.stats.l1d.pending_hits, 1);
	assert_int_equal(bench.sm.account.stats.l1d.read_misses, 1);
	bench_drain();
	bench_end();
}

/*
 * Memory takes nothing: the miss queue fills. A load wants room for its victim as well, so it
 * stops at 7 of 8; a store takes the last place.
 */
static void test_no_queue(void **state)
{
	bench_create();
	start();
	bench.no_credit = true;
	for (unsigned int i = 0; i < 9; i++)
		LOAD(10 + i, i, i * 128);
	/* Load i is at the tags in 46 + i; number 7 is the first that fails. */
	bench_run(100);
	assert_int_equal(FAILS, 100 - 53);
	assert_int_equal(bench.sm.account.stats.l1d.read_misses, 7);
	bench.no_credit = false;
	bench_run(101);
	/* One leaves before the tags are looked at. */
	assert_int_equal(bench.nrequests, 1);
	assert_int_equal(FAILS, 100 - 53);
	assert_int_equal(bench.sm.account.stats.l1d.read_misses, 8);
	bench_run(110);
	assert_int_equal(bench.nrequests, 9);
	for (unsigned int i = 0; i < 9; i++)
		answer_all(i);
	bench_drain();

	bench.no_credit = true;
	for (unsigned int i = 0; i < 10; i++)
		STORE(bench.now + i, i, 8192 + i * 128);
	bench_run(bench.now + 100);
	assert_int_equal(bench.sm.account.stats.l1d.writes, 8);
	bench.no_credit = false;
	bench.latency = 50;
	bench_drain();
	assert_int_equal(bench.sm.account.stats.l1d.writes, 10);
	bench_end();
}

/* A stuck head: 35 behind each other in the latency queue, then the dispatch register. */
static void test_latency_queue_full(void **state)
{
	struct bench_op *gather, *behind;

	bench_create();
	bench.spec.l1d_sets = 1;
	bench.spec.l1d_ways = 1;
	start();
	LOAD(10, 0, 0);
	LOAD(11, 1, 128);		/* stuck from 47 on */
	gather = bench_strided(12, 2, PTX_SPACE_GLOBAL, MEM_READ, 4, PAGE(1), 128);
	behind = bench_strided(13, 3, PTX_SPACE_GLOBAL, MEM_READ, 4, PAGE(2), 128);
	bench_run(300);
	assert_int_equal(gather->left, 12 + 32);
	assert_int_equal(behind->dispatched, 44);
	/* The stuck one and 32 of the gather; two of the next, in 45 and 46. */
	assert_int_equal(bench.sm.ldst->queue_count, 35);
	assert_int_equal(bench.sm.ldst->sent, 2);
	answer_all(0);			/* filled in 303: the head leaves, and one enters */
	assert_int_equal(bench.sm.ldst->sent, 3);
	/* Nothing but its 31 cycles held the gather. */
	assert_int_equal(bench.sm.account.stats.ldst_stalls[LDST_L1D], 0);
	assert_int_equal(FAILS, 303 - 47);
	bench.latency = 5;
	bench_drain();
	assert_true(bench.sm.account.stats.ldst_stalls[LDST_L1D] > 256);
	bench_end();
}

/* --- local memory ------------------------------------------------------------------ */

#define LOCAL(at, kind, offset) \
	bench_strided(at, 0, PTX_SPACE_LOCAL, kind, 4, offset, 0)

/* Lanes are interleaved by words: one word of a warp is a line. */
static void test_local_lines(void **state)
{
	struct bench_op *op;

	bench_create();
	bench_start();
	LOCAL(10, MEM_READ, 8);
	bench_drain();
	assert_int_equal(bench.nrequests, 1);
	assert_int_equal(bench.requests[0].r.cls, MEM_LOCAL);
	assert_int_equal(bench.requests[0].r.bytes, 128);
	op = LOCAL(bench.now, MEM_READ, 32);
	op->bytes = 16;
	bench_drain();
	assert_int_equal(bench.nrequests, 5);
	/* An array that each lane indexes in its own way: a line a word. */
	bench_strided(bench.now, 0, PTX_SPACE_LOCAL, MEM_READ, 4, 1024, 4);
	bench_drain();
	assert_int_equal(bench.nrequests, 37);
	/* Half a warp writes its half; single bytes are told. */
	op = LOCAL(bench.now, MEM_WRITE, 2048);
	op->lanes = 0x00ff0000;
	bench_drain();
	assert_int_equal(bench.requests[37].r.bytes, 32);
	assert_int_equal(bench.requests[37].r.addr % 128, 64);
	op = LOCAL(bench.now, MEM_WRITE, 2052);
	op->lanes = 0xf0f00000;
	bench_drain();
	assert_int_equal(bench.requests[38].r.bytes, 64);
	assert_int_equal(bench.requests[38].r.addr % 128, 64);
	op = LOCAL(bench.now, MEM_WRITE, 2049);
	op->bytes = 1;
	bench_drain();
	assert_int_equal(bench.requests[39].r.bytes, 128);
	assert_int_equal(bench.requests[39].r.byte_mask[3], 0x22222222);
	/* Warp 1 of CTA 2 of SM 0: 15 SMs and 6 CTAs of 512 bytes a word; CTA 2 is 30 CTAs on. */
	bench_strided(bench.now, 9, PTX_SPACE_LOCAL, MEM_READ, 4, 12, 0);
	bench_drain();
	assert_true(bench.requests[40].r.addr ==
		    MEM_LOCAL_BASE + 3 * (15 * 6 * 512) + 30 * 512 + 128);
	bench_end();
}

/* A store to a line that is there stays there, and goes to memory when the line has to. */
static void test_local_write_back(void **state)
{
	bench_create();
	bench.spec.l1d_sets = 1;
	bench.spec.l1d_ways = 1;
	bench_start();
	LOCAL(10, MEM_WRITE, 0);	/* no line is allocated for it */
	LOCAL(500, MEM_READ, 0);
	LOCAL(1000, MEM_WRITE, 0);
	bench_run(1036);
	assert_int_equal(bench.stores[0], 4);
	bench_run(1037);
	/* Taken in 1000, at the tags in 1036: that is all it waits for. */
	assert_int_equal(bench.stores[0], 0);
	assert_int_equal(bench.nrequests, 2);
	assert_int_equal(bench.requests[0].r.kind, MEM_WRITE);
	LOCAL(1500, MEM_READ, 4);
	bench_drain();
	assert_int_equal(bench.nrequests, 4);
	assert_int_equal(bench.requests[2].r.kind, MEM_READ);
	assert_int_equal(bench.requests[3].r.kind, MEM_WRITE);
	assert_int_equal(bench.requests[3].r.tag, UINT32_MAX);
	assert_int_equal(bench.requests[3].r.addr, bench.requests[1].r.addr);
	assert_int_equal(bench.requests[3].r.byte_mask[2], UINT32_MAX);
	assert_int_equal(bench.sm.account.stats.l1d.writes, 2);
	assert_int_equal(bench.sm.account.stats.l1d.write_misses, 1);
	bench_end();
}

static void test_drop_and_flush(void **state)
{
	bench_create();
	bench_start();
	LOAD(10, 0, 0);
	LOAD(11, 0, PAGE_BYTES);
	bench_drain();
	sm_drop(&bench.sm, MEM_BASE, MEM_BASE + PAGE_BYTES);
	LOAD(bench.now, 0, 0);
	LOAD(bench.now, 0, PAGE_BYTES);
	bench_drain();
	assert_int_equal(bench.nrequests, 3);
	ldst_flush(&bench.sm);
	LOAD(bench.now, 0, PAGE_BYTES);
	bench_drain();
	assert_int_equal(bench.nrequests, 4);
	bench_end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_line),
		cmocka_unit_test(test_no_mshr),
		cmocka_unit_test(test_no_merge),
		cmocka_unit_test(test_no_queue),
		cmocka_unit_test(test_latency_queue_full),
		cmocka_unit_test(test_local_lines),
		cmocka_unit_test(test_local_write_back),
		cmocka_unit_test(test_drop_and_flush),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
