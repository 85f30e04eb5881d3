// SPDX-License-Identifier: GPL-2.0
/*
 * Rules of the pipeline that a program alone hardly shows: put into the state that
 * they are about by hand, one cycle at a time.
 */
#include "sm_bench.h"
#include "sm/internal.h"

static const char nothing[] = PTX_HEAD
	".visible .entry k()\n{\n.reg .b32 %r<8>;\n"
	"mov.u32 %r1, 1;\nmov.u32 %r2, 2;\nmov.u32 %r3, 3;\nmov.u32 %r4, 4;\nret;\n}\n";

/* An instruction of warp 0 with this latency, in the dispatch slots of the SPs. */
static uint32_t arrive(struct bench *b, struct sm_op *op, uint16_t latency, uint32_t order)
{
	uint32_t i = inst_new(b->sm);

	*op = (struct sm_op){ .unit = UNIT_SP, .latency = latency, .initiation = 1 };
	b->sm->insts[i] = (struct sm_inst){ .op = op, .order = order };
	fifo_push(&b->sm->oc_ex[UNIT_SP], i);
	b->sm->warps[0].inflight++;
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
	assert_int_equal(b.sm->oc_ex[UNIT_SP].count, 1);
	assert_int_equal(b.sm->results[(10 + 6 + 2) & b.sm->result_mask].count, 1);
	assert_int_equal(b.sm->result_insts[((10 + 6 + 2) & b.sm->result_mask) *
					    b.sm->result_buses], old);
	/* Order is by difference: it may wrap. */
	arrive(&b, &op[2], 20, UINT32_MAX - 1);
	units_execute(b.sm, 11);
	assert_int_equal(b.sm->results[(11 + 20 + 2) & b.sm->result_mask].count, 1);
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
	assert_int_equal(b.sm->oc_ex[UNIT_SP].count, 1);
	units_execute(b.sm, 12);
	assert_int_equal(b.sm->oc_ex[UNIT_SP].count, 0);
	assert_int_equal(units_next(b.sm, 12), 10 + 5 + 2);
	stop(&b);
	/* Another unit takes it in 11: there are two result buses. */
	start(&b, 2, 32);
	arrive(&b, &op[0], 5, 1);
	units_execute(b.sm, 10);
	arrive(&b, &op[1], 4, 2);
	units_execute(b.sm, 11);
	assert_int_equal(b.sm->oc_ex[UNIT_SP].count, 0);
	assert_int_equal(b.sm->results[(10 + 5 + 2) & b.sm->result_mask].count, 2);
	stop(&b);
}

/* Both warps have a head, that of warp 1 is not where its stack is. */
static void make_stray(struct bench *b)
{
	for (unsigned int w = 0; w < 2; w++) {
		struct sm_warp *warp = &b->sm->warps[w];

		warp->ib_pc = w;
		warp->ib_count = 2;
		b->sm->valid |= warp_bit(w);
		b->sm->empty &= ~warp_bit(w);
		warp_check(b->sm, w);
	}
	assert_int_equal(b->sm->stray, 2);
}

static void test_only_who_is_walked_past_is_flushed(void **state)
{
	struct bench b;

	/* Round robin behind 1: warp 0 issues, and the walk ends before warp 1. */
	start(&b, 2, 64);
	make_stray(&b);
	b.sm->sched[0].any = true;
	b.sm->sched[0].last = 1;
	sm_issue(b.sm, 1);
	assert_int_equal(sm_stats(b.sm)->warp_instructions, 1);
	assert_int_equal(b.sm->valid, 3);
	assert_int_equal(b.sm->stray, 2);
	stop(&b);
	/* Behind 0: warp 1 comes first and is flushed to where its stack is. */
	start(&b, 2, 64);
	make_stray(&b);
	b.sm->sched[0].any = true;
	b.sm->sched[0].last = 0;
	sm_issue(b.sm, 1);
	assert_int_equal(sm_stats(b.sm)->warp_instructions, 1);
	assert_int_equal(b.sm->valid, 1);
	assert_int_equal(b.sm->empty, 2);
	assert_int_equal(b.sm->warps[1].next_pc, 0);
	stop(&b);
}

/* Cycles from the one in which the instruction enters a collector until its operands are read. */
static unsigned int read_cycles(struct bench *b, struct sm_op *op, uint64_t written_first)
{
	uint32_t i = inst_new(b->sm);
	unsigned int n = 0;

	op->unit = UNIT_SP;
	b->sm->insts[i] = (struct sm_inst){ .op = op };
	b->sm->warps[0].inflight++;
	fifo_push(&b->sm->id_oc[UNIT_SP], i);
	collector_cycle(b->sm);
	b->sm->oc.written = written_first;
	while (!b->sm->oc.ready) {
		collector_cycle(b->sm);
		n++;
	}
	collector_cycle(b->sm);
	b->sm->oc_ex[UNIT_SP].count = 0;
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
	i = inst_new(b.sm);
	b.sm->insts[i] = (struct sm_inst){ .op = &op };
	assert_true(collector_write(b.sm, i));
	assert_false(collector_write(b.sm, i));
	/* Another warp's same register is in another bank. */
	b.sm->insts[i].warp = 1;
	assert_true(collector_write(b.sm, i));
	collector_cycle(b.sm);
	assert_true(collector_write(b.sm, i));
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
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
