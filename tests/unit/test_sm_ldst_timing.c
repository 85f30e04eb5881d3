// SPDX-License-Identifier: GPL-2.0
/*
 * When the load/store unit does what: the pipeline of shared memory, L1D, L1C,
 * stores and atomics, against cycles counted by hand. An instruction that is taken in
 * cycle e was issued in e - 4 (with source registers), and who depends on it issues in the
 * cycle in which it is released.
 */
#include "ldst_bench.h"

#define STRIDED	bench_strided

/* Taken in e, in the pipeline in e + 1, in the port 26 cycles later, there in the next: 32 in all. */
static void test_shared_load(void **state)
{
	struct bench_op *op;

	bench_create();
	bench_start();
	op = STRIDED(10, 0, PTX_SPACE_SHARED, MEM_READ, 4, 0, 4);
	bench_drain();
	assert_int_equal(op->dispatched, 10);
	assert_int_equal(op->left, 11);
	assert_int_equal(op->released, 10 - 4 + 32);
	bench_end();
}

static void test_shared_conflicts(void **state)
{
	bench_create();
	bench_start();
	/* Lane i at word i * degree: `degree` words of each bank in use, 32 / degree banks. */
	for (unsigned int degree = 1; degree <= 32; degree *= 2) {
		struct bench_op *op = STRIDED(bench.now + 10, 0, PTX_SPACE_SHARED, MEM_READ, 4, 0,
					      4 * degree);
		uint64_t conflicts = bench.sm.account.stats.shared_conflict_cycles;

		bench_drain();
		assert_int_equal(op->left, op->dispatched + degree);
		assert_int_equal(op->released, op->dispatched + 28 + degree - 1);
		assert_int_equal(bench.sm.account.stats.shared_conflict_cycles,
				 conflicts + degree - 1);
	}
	assert_int_equal(bench.sm.account.stats.ldst_stalls[LDST_CONFLICTS], 1 + 3 + 7 + 15 + 31);
	assert_int_equal(bench.sm.account.stats.shared_accesses, 6);
	bench_end();
}

/* Loads follow each other a cycle apart; a store holds the register alone. */
static void test_shared_stream(void **state)
{
	struct bench_op *op[4];

	bench_create();
	bench_start();
	op[0] = STRIDED(10, 0, PTX_SPACE_SHARED, MEM_READ, 4, 0, 4);
	op[1] = STRIDED(10, 1, PTX_SPACE_SHARED, MEM_WRITE, 4, 0, 8);
	op[2] = STRIDED(10, 2, PTX_SPACE_SHARED, MEM_READ, 4, 0, 4);
	op[3] = STRIDED(10, 3, PTX_SPACE_SHARED, MEM_READ, 4, 0, 4);
	op[3]->lanes = 0;		/* guarded off: through the pipeline all the same */
	bench_drain();
	assert_int_equal(op[0]->released, 38);
	assert_int_equal(op[1]->dispatched, 11);
	assert_int_equal(op[1]->done, 13);
	assert_int_equal(op[2]->dispatched, 13);
	assert_int_equal(op[2]->released, 41);
	assert_int_equal(op[3]->released, 42);
	assert_int_equal(bench.sm.account.stats.busy[UNIT_LDST], 1 + 2 + 1 + 1);
	bench_end();
}

/* The pipeline is as long as its latency: with the port stuck it fills, then the register. */
static void test_shared_pipeline_full(void **state)
{
	bench_create();
	bench_start();
	for (unsigned int i = 0; i < 40; i++)
		STRIDED(10, i, PTX_SPACE_SHARED, MEM_READ, 4, 0, 4);
	bench_run(30);
	bench.bank_taken = true;	/* the first is in the port from 37 on */
	bench_run(100);
	/* One in the port, 26 in the pipeline, one in the dispatch register. */
	assert_int_equal(bench.issued, 28);
	assert_false(ldst_free(&bench.sm));
	bench.bank_taken = false;
	bench_drain();
	/* From then on one a cycle, nothing is lost of it. */
	for (unsigned int i = 0; i < 40; i++)
		assert_int_equal(bench.ops[i].released, 100 + i);
	bench_end();
}

/*
 * Taken in e, in the latency queue in e + 1, at the tags 35 later, the fetch leaves in the
 * next cycle. The last of four sectors fills; the port; the registers. A hit needs no port:
 * 40 from issue.
 */
static void test_global_load(void **state)
{
	struct bench_op *miss, *hit;

	bench_create();
	bench_start();
	miss = LOAD(10, 0, 0);
	bench_drain();
	assert_int_equal(bench.nrequests, 1);
	assert_int_equal(bench.requests[0].sent, 10 + 1 + 35 + 1);
	assert_int_equal(bench.requests[0].r.addr, MEM_BASE);
	assert_int_equal(bench.requests[0].r.bytes, 128);
	assert_int_equal(miss->left, 11);
	assert_int_equal(miss->released, 47 + 100 + 3 + 2);
	hit = LOAD(1000, 0, 0);
	bench_drain();
	assert_int_equal(hit->released, 1000 - 4 + 40);
	assert_int_equal(bench.nrequests, 1);
	assert_int_equal(bench.sm.account.stats.l1d.reads, 2);
	assert_int_equal(bench.sm.account.stats.l1d.read_misses, 1);
	bench_end();
}

/* Two more on a line that is being fetched: one request, and the port serves one a cycle. */
static void test_merged_loads(void **state)
{
	struct bench_op *op[3];

	bench_create();
	bench_start();
	for (unsigned int i = 0; i < 3; i++)
		op[i] = LOAD(10 + 3 * i, i, 0);
	bench_drain();
	assert_int_equal(bench.nrequests, 1);
	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(op[i]->released, 152 + i);
	assert_int_equal(bench.sm.account.stats.l1d.pending_hits, 2);
	assert_int_equal(bench.sm.account.stats.l1d.read_misses, 1);
	bench_end();
}

/* 32 lines: one a cycle into the latency queue and out of it, highest address first. */
static void test_gather(void **state)
{
	struct bench_op *op, *after;

	bench_create();
	bench_start();
	op = STRIDED(10, 0, PTX_SPACE_GLOBAL, MEM_READ, 4, PAGE(0), 128);
	after = STRIDED(10, 1, PTX_SPACE_SHARED, MEM_READ, 4, 0, 4);
	bench_drain();
	assert_int_equal(op->left, 10 + 32);
	assert_int_equal(after->dispatched, 42);
	assert_int_equal(bench.nrequests, 32);
	for (unsigned int i = 0; i < 32; i++) {
		assert_int_equal(bench.requests[i].r.addr, MEM_BASE + 128 * (31 - i));
		assert_int_equal(bench.requests[i].sent, 47 + i);
	}
	/* 32 lines of 4 sectors, one a cycle. */
	assert_int_equal(op->released, 47 + 100 + 127 + 2);
	assert_int_equal(bench.sm.account.stats.lines, 32);
	assert_int_equal(bench.sm.account.stats.busy[UNIT_LDST], 32 + 1);
	assert_int_equal(bench.sm.account.stats.ldst_stalls[LDST_LINES], 31);
	bench_end();
}

/* Lines a warp instruction makes, by the bytes between its lanes. */
static void test_coalescing(void **state)
{
	static const struct {
		unsigned int bytes, base, stride, lines;
	} rows[] = {
		{ 4, 0, 0, 1 }, { 4, 0, 4, 1 }, { 4, 4, 4, 2 }, { 4, 0, 8, 2 }, { 4, 0, 64, 16 },
		{ 4, 0, 4096, 32 }, { 8, 0, 8, 2 }, { 16, 0, 16, 4 }, { 2, 0, 2, 1 },
		{ 2, 0, 4, 2 }, { 1, 0, 1, 1 }, { 1, 0, 4, 4 },
	};

	bench_create();
	bench_start();
	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++) {
		uint64_t lines = bench.sm.account.stats.lines;
		struct bench_op *op = STRIDED(bench.now, 0, PTX_SPACE_GLOBAL, MEM_READ,
					      rows[i].bytes, PAGE(0) + rows[i].base,
					      rows[i].stride);

		bench_drain();
		assert_int_equal(bench.sm.account.stats.lines - lines, rows[i].lines);
		assert_int_equal(op->left - op->dispatched, rows[i].lines);
	}
	bench_end();
}

/* A store leaves the unit at once; its warp waits for an acknowledgement a sector. */
static void test_store(void **state)
{
	struct bench_op *load, *store, *again;

	bench_create();
	bench_start();
	load = LOAD(10, 0, 0);
	store = STORE(300, 3, 0);
	again = LOAD(320, 0, 0);
	bench_run(301);
	assert_int_equal(load->released, 152);
	assert_int_equal(bench.stores[3], 4);
	bench_run(303);
	assert_int_equal(store->done, 301);
	bench_run(437);
	assert_int_equal(bench.stores[3], 4);
	bench_run(439);
	/* At the tags in 336, sent in 337, answered from 437 on. */
	assert_int_equal(bench.requests[1].sent, 337);
	assert_int_equal(bench.requests[1].r.kind, MEM_WRITE);
	assert_int_equal(bench.requests[1].r.bytes, 128);
	for (unsigned int s = 0; s < MEM_SECTORS; s++)
		assert_int_equal(bench.requests[1].r.byte_mask[s], UINT32_MAX);
	assert_int_equal(bench.stores[3], 2);
	bench_drain();
	assert_int_equal(bench.stores[3], 0);
	/* The line was evicted: what was loaded is loaded again. */
	assert_int_equal(bench.nrequests, 3);
	assert_int_equal(bench.requests[2].r.kind, MEM_READ);
	assert_true(again->released > 437);
	assert_int_equal(bench.sm.account.stats.l1d.writes, 1);
	assert_int_equal(bench.sm.account.stats.l1d.write_misses, 0);
	assert_int_equal(bench.sm.account.stats.l1d.read_misses, 2);
	bench_end();
}

/* Only what is used travels, and the bytes that are written are told. */
static void test_partial_stores(void **state)
{
	struct bench_op *op;

	bench_create();
	bench_start();
	op = STORE(10, 0, 64);
	op->lanes = 0xff;
	op = STRIDED(20, 0, PTX_SPACE_GLOBAL, MEM_WRITE, 1, PAGE(0) + 256, 3);
	op->lanes = 0x3ff;
	bench_drain();
	assert_int_equal(bench.nrequests, 2);
	assert_int_equal(bench.requests[0].r.addr, MEM_BASE + 64);
	assert_int_equal(bench.requests[0].r.bytes, 32);
	assert_int_equal(bench.requests[0].r.byte_mask[0], UINT32_MAX);
	assert_int_equal(bench.requests[1].r.addr, MEM_BASE + 256);
	assert_int_equal(bench.requests[1].r.bytes, 32);
	assert_int_equal(bench.requests[1].r.byte_mask[0], 0x09249249);
	bench_end();
}

/* Past L1D: a packet a segment and cycle; each answer goes through the port. */
static void test_atomics(void **state)
{
	struct bench_op *op;

	bench_create();
	bench_start();
	op = STRIDED(10, 5, PTX_SPACE_GLOBAL, MEM_ATOMIC, 4, PAGE(0), 4);
	bench_run(12);
	assert_int_equal(bench.atomics[5], 4);
	bench_drain();
	assert_int_equal(bench.nrequests, 4);
	for (unsigned int i = 0; i < 4; i++) {
		assert_int_equal(bench.requests[i].sent, 11 + i);
		assert_int_equal(bench.requests[i].r.kind, MEM_ATOMIC);
		assert_int_equal(bench.requests[i].r.bytes, 32);
	}
	assert_int_equal(op->left, 14);
	/* Answers from 111 on, each first waits for the port in front of the next. */
	assert_int_equal(op->released, 14 + 100 + 2);
	assert_int_equal(bench.sm.account.stats.l1d.reads, 0);
	bench_end();
}

static void test_atomics_on_one_word(void **state)
{
	struct bench_op *op;

	bench_create();
	bench_start();
	op = STRIDED(10, 5, PTX_SPACE_GLOBAL, MEM_ATOMIC, 4, PAGE(0), 0);
	bench_drain();
	assert_int_equal(bench.nrequests, 32);
	assert_int_equal(op->left, 42);
	op = STRIDED(bench.now, 6, PTX_SPACE_SHARED, MEM_ATOMIC, 4, 0, 0);
	bench_run(bench.now + 27);
	assert_int_equal(bench.atomics[6], 1);
	bench_drain();
	assert_int_equal(op->released, op->dispatched + 28);
	bench_end();
}

/* .cg: in sectors, and nothing of it stays. */
static void test_past_l1(void **state)
{
	struct bench_op *op;

	bench_create();
	bench_start();
	for (unsigned int i = 0; i < 2; i++) {
		op = LOAD(10 + 300 * i, 0, 0);
		op->insn.mods = PTX_MOD_PAST_L1;
	}
	op = STORE(900, 0, 0);
	op->insn.mods = PTX_MOD_PAST_L1;
	bench_drain();
	assert_int_equal(bench.nrequests, 12);
	assert_int_equal(bench.requests[0].sent, 11);
	assert_int_equal(bench.requests[11].r.kind, MEM_WRITE);
	assert_int_equal(bench.ops[0].released, 14 + 100 + 2);
	assert_int_equal(bench.sm.account.stats.l1d.reads + bench.sm.account.stats.l1d.writes, 0);
	bench_end();
}

/* A parameter that L1C has is there when the unit sees the load; a line is two sectors. */
static void test_parameters(void **state)
{
	struct bench_op *op[4];

	bench_create();
	bench_start();
	op[0] = STRIDED(10, 0, PTX_SPACE_PARAM, MEM_READ, 8, 0, 0);
	op[1] = STRIDED(10, 1, PTX_SPACE_PARAM, MEM_READ, 8, 8, 0);
	op[2] = STRIDED(300, 2, PTX_SPACE_PARAM, MEM_READ, 8, 16, 0);
	op[3] = STRIDED(300, 2, PTX_SPACE_PARAM, MEM_READ, 8, 64, 0);
	bench_drain();
	assert_int_equal(bench.nrequests, 2);
	assert_int_equal(bench.requests[0].sent, 12);
	assert_int_equal(bench.requests[0].r.bytes, 64);
	assert_int_equal(op[0]->left, 11);
	assert_int_equal(op[0]->released, 12 + 101 + 2);
	assert_int_equal(op[1]->released, 12 + 101 + 3);
	assert_int_equal(op[2]->released, 301);
	assert_int_equal(bench.requests[1].sent, 303);
	/* Lines are allocated by the fill: what was merged counts as a miss. */
	assert_int_equal(bench.sm.account.stats.l1c.reads, 4);
	assert_int_equal(bench.sm.account.stats.l1c.read_misses, 3);
	assert_int_equal(op[3]->released, 303 + 101 + 2);
	bench_end();
}

/* Three lines at once and two MSHRs: the third waits in the dispatch register. */
static void test_constants_without_mshr(void **state)
{
	struct bench_op *op;

	bench_create();
	bench_start();
	op = STRIDED(10, 0, PTX_SPACE_CONST, MEM_READ, 4, 0, 4);
	op->addr[7] = 64;
	op->addr[8] = 640;
	op->lanes = 0x1c0;
	bench_drain();
	assert_int_equal(bench.nrequests, 3);
	assert_int_equal(bench.requests[0].r.addr, MEM_CONST_BASE + 640);
	assert_int_equal(bench.requests[0].sent, 12);
	assert_int_equal(bench.requests[1].sent, 13);
	/* Refused from 13 on; the first line fills in 113, and it is taken in that cycle. */
	assert_int_equal(bench.sm.account.stats.l1c.fails, 100);
	assert_int_equal(bench.sm.account.stats.ldst_stalls[LDST_L1C], 100);
	assert_int_equal(op->left, 113);
	assert_int_equal(bench.requests[2].sent, 114);
	bench_end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shared_load),
		cmocka_unit_test(test_shared_conflicts),
		cmocka_unit_test(test_shared_stream),
		cmocka_unit_test(test_shared_pipeline_full),
		cmocka_unit_test(test_global_load),
		cmocka_unit_test(test_merged_loads),
		cmocka_unit_test(test_gather),
		cmocka_unit_test(test_coalescing),
		cmocka_unit_test(test_store),
		cmocka_unit_test(test_partial_stores),
		cmocka_unit_test(test_atomics),
		cmocka_unit_test(test_atomics_on_one_word),
		cmocka_unit_test(test_past_l1),
		cmocka_unit_test(test_parameters),
		cmocka_unit_test(test_constants_without_mshr),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
