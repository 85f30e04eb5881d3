// SPDX-License-Identifier: GPL-2.0
/*
 * Rules of the pipeline that a program alone hardly shows: put into the state that
 * they are about by hand, one cycle at a time.
 */
#include "sm_bench.h"
#include "sm/scoreboard.h"

static const char nothing[] = PTX_HEAD
	".visible .entry k()\n{\n.reg .b32 %r<8>;\n"
	"mov.u32 %r1, 1;\nmov.u32 %r2, 2;\nmov.u32 %r3, 3;\nmov.u32 %r4, 4;\nret;\n}\n";

/* An instruction of warp 0 with this latency, in the dispatch slots of the SPs. */
static uint32_t arrive(struct bench *b, struct sm_op *op, uint16_t latency, uint32_t order)
{
	uint32_t i = inst_new(&b->sm->insts);

	*op = (struct sm_op){ .unit = UNIT_SP, .latency = latency, .initiation = 1 };
	b->sm->insts.at[i] = (struct sm_inst){ .op = op, .order = order };
	queue_push(&b->sm->oc_ex, UNIT_SP, i);
	b->sm->warps.at[0].inflight++;
	return i;
}

static void start(struct bench *b, uint64_t units_sp, uint32_t threads)
{
	bench_init(b);
	b->spec.units_sp = units_sp;
	b->spec.schedulers = 1;
	bench_load(b, nothing, threads);
	assert_int_equal(sm_begin(b->sm, b->kernel), 0);
	assert_int_equal(sm_launch_cta(b->sm, b->kernel, (uint32_t [3]){ 0 }, 0), 0);
	/* Parts are called here, not sm_run(). */
	cta_begin(b->sm);
}

static void stop(struct bench *b)
{
	sm_cancel(b->sm);
	bench_fini(b);
}

static void test_the_oldest_leaves_the_dispatch_slots(void **state)
{
	struct sm_op op[3];
	struct bench b;
	uint32_t old;

	/* It came second from the collectors but issued first. */
	start(&b, 1, 32);
	arrive(&b, &op[0], 4, 9);
	old = arrive(&b, &op[1], 6, 8);
	units_execute(b.sm, 10);
	assert_int_equal(b.sm->oc_ex.of[UNIT_SP].count, 1);
	assert_int_equal(b.sm->units.results[(10 + 6 + 2) & b.sm->units.mask].count, 1);
	assert_int_equal(b.sm->units.insts[((10 + 6 + 2) & b.sm->units.mask) *
					    b.sm->units.buses], old);
	/* Order is by difference: it may wrap. */
	arrive(&b, &op[2], 20, UINT32_MAX - 1);
	units_execute(b.sm, 11);
	assert_int_equal(b.sm->units.results[(11 + 20 + 2) & b.sm->units.mask].count, 1);
	stop(&b);
}

static void test_a_unit_ends_one_a_cycle(void **state)
{
	struct sm_op op[2];
	struct bench b;

	/* Taken in 10 with 5: ends in 15. The next, taken in 11 with 4, would as well: 12. */
	start(&b, 1, 32);
	arrive(&b, &op[0], 5, 1);
	units_execute(b.sm, 10);
	arrive(&b, &op[1], 4, 2);
	units_execute(b.sm, 11);
	assert_int_equal(b.sm->oc_ex.of[UNIT_SP].count, 1);
	units_execute(b.sm, 12);
	assert_int_equal(b.sm->oc_ex.of[UNIT_SP].count, 0);
	assert_int_equal(units_next(b.sm, 12), 10 + 5 + 2);
	stop(&b);
	/* Another unit takes it in 11: there are two result buses. */
	start(&b, 2, 32);
	arrive(&b, &op[0], 5, 1);
	units_execute(b.sm, 10);
	arrive(&b, &op[1], 4, 2);
	units_execute(b.sm, 11);
	assert_int_equal(b.sm->oc_ex.of[UNIT_SP].count, 0);
	assert_int_equal(b.sm->units.results[(10 + 5 + 2) & b.sm->units.mask].count, 2);
	stop(&b);
}

/* Both warps have a head, that of warp 1 is not where its stack is. */
static void make_stray(struct bench *b)
{
	for (unsigned int w = 0; w < 2; w++) {
		struct sm_warp *warp = &b->sm->warps.at[w];

		warp->ib_pc = w;
		warp->ib_count = 2;
		b->sm->heads.valid |= set_of(w);
		b->sm->fetch.empty &= ~set_of(w);
		warp_check(b->sm, w);
	}
	assert_int_equal(b->sm->heads.stray, 2);
}

static void test_only_who_is_walked_past_is_flushed(void **state)
{
	struct bench b;

	/* Round robin behind 1: warp 0 issues, and the walk ends before warp 1. */
	start(&b, 2, 64);
	make_stray(&b);
	b.sm->issue.sched[0].any = true;
	b.sm->issue.sched[0].last = 1;
	sm_issue(b.sm, 1);
	assert_int_equal(sm_stats(b.sm)->warp_instructions, 1);
	assert_int_equal(b.sm->heads.valid, 3);
	assert_int_equal(b.sm->heads.stray, 2);
	stop(&b);
	/* Behind 0: warp 1 comes first and is flushed to where its stack is. */
	start(&b, 2, 64);
	make_stray(&b);
	b.sm->issue.sched[0].any = true;
	b.sm->issue.sched[0].last = 0;
	sm_issue(b.sm, 1);
	assert_int_equal(sm_stats(b.sm)->warp_instructions, 1);
	assert_int_equal(b.sm->heads.valid, 1);
	assert_int_equal(b.sm->fetch.empty, 2);
	assert_int_equal(b.sm->warps.at[1].next_pc, 0);
	stop(&b);
}

/* Cycles from the one in which the instruction enters a collector until its operands are read. */
static unsigned int read_cycles(struct bench *b, struct sm_op *op, uint64_t written_first)
{
	uint32_t i = inst_new(&b->sm->insts);
	unsigned int n = 0;

	op->unit = UNIT_SP;
	b->sm->insts.at[i] = (struct sm_inst){ .op = op };
	b->sm->warps.at[0].inflight++;
	queue_push(&b->sm->id_oc, UNIT_SP, i);
	collector_cycle(b->sm);
	b->sm->oc.written = written_first;
	while (!b->sm->oc.ready) {
		collector_cycle(b->sm);
		n++;
	}
	collector_cycle(b->sm);
	queue_empty(&b->sm->oc_ex, UNIT_SP);
	return n;
}

static void test_writes_come_before_reads(void **state)
{
	struct sm_op op = { .bank_need = 1u << 3 | 1u << 5, .nsource = 2 };
	struct bench b;

	start(&b, 2, 32);
	assert_int_equal(read_cycles(&b, &op, 0), 1);
	assert_int_equal(read_cycles(&b, &op, 1u << 5), 2);
	assert_int_equal(read_cycles(&b, &op, 1u << 4), 1);
	stop(&b);
}

static void test_a_bank_takes_one_result_a_cycle(void **state)
{
	struct sm_op op = { .bank_results = 1u << 3, .nresult = 1 };
	struct bench b;
	uint32_t i;

	start(&b, 2, 32);
	i = inst_new(&b.sm->insts);
	b.sm->insts.at[i] = (struct sm_inst){ .op = &op };
	assert_true(collector_write(b.sm, i));
	assert_false(collector_write(b.sm, i));
	/* Another warp's same register is in another bank. */
	b.sm->insts.at[i].warp = 1;
	assert_true(collector_write(b.sm, i));
	collector_cycle(b.sm);
	assert_true(collector_write(b.sm, i));
	stop(&b);
}

/* Results go to the banks one after the other: those before the first that is taken stay taken. */
static void test_each_result_needs_its_bank(void **state)
{
	static const uint16_t results[] = { 5, 3, 6 };
	struct sm_op one = { .nresult = 1 }, three = { .nresult = 3 };
	struct bench b;
	uint32_t i, v;

	start(&b, 2, 32);
	free(b.kernel->banks);
	b.kernel->banks = malloc(sizeof(results));
	memcpy(b.kernel->banks, results, sizeof(results));
	i = inst_new(&b.sm->insts);
	v = inst_new(&b.sm->insts);
	b.sm->insts.at[i] = (struct sm_inst){ .op = &one };
	b.sm->insts.at[v] = (struct sm_inst){ .op = &three };
	one.bank_results = 1u << 3;
	assert_true(collector_write(b.sm, i));
	/* 3 is taken: 5, which was asked for first, is now too, and 6 is not. */
	assert_false(collector_write(b.sm, v));
	assert_int_equal(b.sm->oc.written, 1u << 3 | 1u << 5);
	/* The next cycle has room for all three. */
	collector_cycle(b.sm);
	assert_true(collector_write(b.sm, v));
	assert_int_equal(b.sm->oc.written, 1u << 3 | 1u << 5 | 1u << 6);
	stop(&b);
}

/* Results of one load that are 16 apart are in one bank of 16: they come, and together. */
static void test_results_in_one_bank(void **state)
{
	uint32_t *words;
	struct bench b;

	bench_init(&b);
	words = (uint32_t *)b.memory;
	words[0] = 5;
	words[1] = 6;
	bench_load(&b, PTX_HEAD
		   ".visible .entry k(.param .u64 p)\n{\n.reg .b32 %r<20>;\n.reg .b64 %rd<2>;\n"
		   "ld.param.u64 %rd1, [p];\nld.global.v2.u32 {%r0, %r16}, [%rd1];\n"
		   "add.u32 %r1, %r0, %r16;\nst.global.u32 [%rd1+8], %r1;\nret;\n}\n", 1);
	assert_int_equal(sm_begin(b.sm, b.kernel), 0);
	assert_int_equal(sm_launch_cta(b.sm, b.kernel, (uint32_t [3]){ 0 }, 0), 0);
	for (uint64_t t = 1; t < 3000; t += 4)
		bench_quantum(&b, t, t + 4);
	assert_true(sm_idle(b.sm));
	assert_int_equal(words[2], 11);
	stop(&b);
}

static void test_collectors_leave_in_turn(void **state)
{
	/* Collectors 0, 1 and 2, the port's last is 0: 1, 2, then 0 again. */
	static const unsigned int turn[] = { 1, 2, 0 };
	struct sm_op op = { .unit = UNIT_SP };
	uint32_t inst[3];
	struct bench b;

	start(&b, 2, 32);
	b.sm->oc.in_ports[UNIT_SP] = 3;
	b.sm->oc.out_ports[UNIT_SP] = 1;
	for (unsigned int i = 0; i < 3; i++) {
		inst[i] = inst_new(&b.sm->insts);
		b.sm->insts.at[inst[i]] = (struct sm_inst){ .op = &op, .order = i };
		queue_push(&b.sm->id_oc, UNIT_SP, inst[i]);
	}
	/* They enter, and have nothing to read. */
	collector_cycle(b.sm);
	for (unsigned int i = 0; i < 3; i++) {
		assert_int_equal(b.sm->oc_ex.of[UNIT_SP].count, 0);
		collector_cycle(b.sm);
		assert_int_equal(b.sm->oc_ex.of[UNIT_SP].count, 1);
		assert_int_equal(queue_pop(&b.sm->oc_ex, UNIT_SP), inst[turn[i]]);
	}
	stop(&b);
}

/* Why the first scheduler issues nothing. */
static enum stall stall_of_first(const struct bench *b)
{
	const struct sm_heads *h = &b->sm->heads;

	return heads_stall(h, heads_waiting(h), b->sm->issue.sched[0].mine);
}

/* Two warps of one scheduler, neither with a head: what holds them is named if it holds all. */
static void test_stall_of_warps_without_a_head(void **state)
{
	struct bench b;

	start(&b, 2, 64);
	assert_int_equal(stall_of_first(&b), STALL_IBUFFER);
	/* Warp 1 could go on if it were fetched. */
	b.sm->heads.wait_barrier = 1;
	assert_int_equal(stall_of_first(&b), STALL_IBUFFER);
	b.sm->heads.wait_barrier = 3;
	assert_int_equal(stall_of_first(&b), STALL_BARRIER);
	/* A fence waits for memory; a far fault hides that. */
	b.sm->heads.wait_barrier = 1;
	b.sm->heads.wait_fence = 2;
	assert_int_equal(stall_of_first(&b), STALL_LONG);
	b.sm->heads.far_fault = 2;
	assert_int_equal(stall_of_first(&b), STALL_FAR_FAULT);
	b.sm->heads.wait_barrier = b.sm->heads.wait_fence = b.sm->heads.far_fault = 0;
	b.sm->heads.live = 0;
	assert_int_equal(stall_of_first(&b), STALL_NO_WARP);
	b.sm->heads.live = 3;
	stop(&b);
}

/* The warp's head is instruction 0, which goes to the SPs. */
static void give_head(struct bench *b, unsigned int w)
{
	b->sm->warps.at[w].ib_count = 2;
	b->sm->heads.valid |= set_of(w);
	b->sm->fetch.empty &= ~set_of(w);
	warp_check(b->sm, w);
}

/* The warp that issued in this cycle: the slots between decode and collectors hold one. */
static unsigned int issued_in(struct bench *b, uint64_t now)
{
	uint64_t before = b->sm->insts.issued;

	sm_issue(b->sm, now);
	assert_int_equal(b->sm->insts.issued, before + 1);
	return b->sm->insts.at[queue_pop(&b->sm->id_oc, UNIT_SP)].warp;
}

static void test_turns_begin_with_the_first_cta(void **state)
{
	struct bench b;

	/* Warps 0 and 2 are of scheduler 0, 1 and 3 of scheduler 1; the SP has one slot for all. */
	bench_init(&b);
	b.spec.id_oc_sp = 1;
	bench_load(&b, nothing, 64);
	assert_int_equal(b.spec.schedulers, 2);
	assert_int_equal(sm_begin(b.sm, b.kernel), 0);
	/* Launched at the end of 6: in 7 the second scheduler is first, in 8 the first. */
	assert_int_equal(sm_launch_cta(b.sm, b.kernel, (uint32_t [3]){ 0 }, 6), 0);
	cta_begin(b.sm);
	give_head(&b, 0);
	give_head(&b, 1);
	assert_int_equal(issued_in(&b, 7), 1);
	assert_int_equal(issued_in(&b, 8), 0);
	/* A second CTA at the end of 8 changes nobody's turn: 9 is again the second's. */
	assert_int_equal(sm_launch_cta(b.sm, b.kernel, (uint32_t [3]){ 1 }, 8), 0);
	cta_begin(b.sm);
	give_head(&b, 2);
	give_head(&b, 3);
	assert_int_equal(issued_in(&b, 9) % 2, 1);
	assert_int_equal(issued_in(&b, 10) % 2, 0);
	/* Nor one at the end of 11. */
	assert_int_equal(sm_launch_cta(b.sm, b.kernel, (uint32_t [3]){ 2 }, 11), 0);
	cta_begin(b.sm);
	for (unsigned int w = 0; w < 4; w++)
		give_head(&b, w);
	assert_int_equal(issued_in(&b, 12) % 2, 0);
	assert_int_equal(issued_in(&b, 13) % 2, 1);
	stop(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_oldest_leaves_the_dispatch_slots),
		cmocka_unit_test(test_a_unit_ends_one_a_cycle),
		cmocka_unit_test(test_only_who_is_walked_past_is_flushed),
		cmocka_unit_test(test_writes_come_before_reads),
		cmocka_unit_test(test_a_bank_takes_one_result_a_cycle),
		cmocka_unit_test(test_each_result_needs_its_bank),
		cmocka_unit_test(test_results_in_one_bank),
		cmocka_unit_test(test_collectors_leave_in_turn),
		cmocka_unit_test(test_stall_of_warps_without_a_head),
		cmocka_unit_test(test_turns_begin_with_the_first_cta),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
