// SPDX-License-Identifier: GPL-2.0
/*
 * Virtual Thread (ISCA'16): what a swap costs by equations 1 and 2, what contexts take of
 * shared memory, who counts as stalled, and that latency is hidden where slots were the limit and
 * nothing changes where they were not. That results stay what they are under every mechanism is
 * test_sm_residency's.
 */
#include <errno.h>

#include "sm_bench.h"

/* A CTA's number and the clocks before and behind a load of its own line. */
static const char loads[] = PTX_HEAD
	".visible .entry k(.param .u64 p)\n{\n.reg .b64 %rd<8>;\n.reg .b32 %r<12>;\n"
	"mov.u32 %r5, %clock;\nld.param.u64 %rd1, [p];\nmov.u32 %r1, %ctaid.x;\n"
	"mul.wide.u32 %rd2, %r1, 4096;\nadd.s64 %rd3, %rd1, %rd2;\n"
	"ld.global.u32 %r2, [%rd3];\nadd.u32 %r2, %r2, %r1;\nmov.u32 %r6, %clock;\n"
	"st.global.u32 [%rd3+64], %r2;\nst.global.u32 [%rd3+68], %r5;\n"
	"st.global.u32 [%rd3+72], %r6;\nret;\n}\n";

/* Of two warps, the second loads and the first waits for it at the barrier. */
static const char waits[] = PTX_HEAD
	".visible .entry k(.param .u64 p)\n{\n.reg .pred %p<2>;\n.reg .b64 %rd<8>;\n"
	".reg .b32 %r<12>;\nld.param.u64 %rd1, [p];\nmov.u32 %r1, %ctaid.x;\n"
	"mov.u32 %r3, %tid.x;\nmul.wide.u32 %rd2, %r1, 4096;\nadd.s64 %rd3, %rd1, %rd2;\n"
	"setp.lt.u32 %p1, %r3, 32;\n@%p1 bra WAIT;\n"
	"ld.global.u32 %r2, [%rd3];\nadd.u32 %r2, %r2, 1;\nst.global.u32 [%rd3+64], %r2;\n"
	"WAIT:\nbar.sync 0;\nret;\n}\n";

/* One scheduler, `slots` slots of one warp each; L2 has nothing. */
static void bench_vt(struct bench *b, const char *mechanism, unsigned int slots)
{
	bench_init(b);
	strcpy(b->spec.cta, mechanism);
	b->spec.schedulers = 1;
	b->spec.warps = b->spec.ctas = slots;
}

/* Of two warps, the second waits for its load and the first exits a little later. */
static const char leaves[] = PTX_HEAD
	".visible .entry k()\n{\n.reg .pred %p<2>;\n.reg .b64 %rd<8>;\n.reg .b32 %r<12>;\n"
	"mov.u32 %r1, %ctaid.x;\nmov.u32 %r3, %tid.x;\nmul.wide.u32 %rd2, %r1, 4096;\n"
	"add.s64 %rd3, %rd2, 35184372088832;\nsetp.lt.u32 %p1, %r3, 32;\n@%p1 bra LATE;\n"
	"ld.global.u32 %r2, [%rd3];\nadd.u32 %r2, %r2, 1;\nst.global.u32 [%rd3+64], %r2;\n"
	"ret;\nLATE:\nadd.u32 %r3, %r3, %r1;\nadd.u32 %r3, %r3, %r1;\n"
	"add.u32 %r3, %r3, %r1;\nadd.u32 %r3, %r3, %r1;\nret;\n}\n";

static uint32_t word(const struct bench *b, unsigned int cta, unsigned int at)
{
	return ((const uint32_t *)(b->memory + cta * 4096))[16 + at];
}

static void test_latency_is_hidden(void **state)
{
	uint64_t cycles[2];

	for (unsigned int vt = 0; vt < 2; vt++) {
		struct bench b;

		bench_vt(&b, vt ? "vt" : "baseline", 1);
		bench_load(&b, loads, 32);
		for (unsigned int i = 0; i < 8; i++)
			*(uint32_t *)(b.memory + i * 4096) = 1000;
		bench_run(&b, 8);
		assert_int_equal(b.status, 0);
		for (unsigned int i = 0; i < 8; i++)
			assert_int_equal(word(&b, i, 0), 1000 + i);
		/*
		 * Each of the eight leaves twice, but for the last where nobody is ready then: for
		 * its parameter, which is a long operation as in GPGPU-Sim, and for its load.
		 */
		assert_in_range(sm_stats(b.sm)->parked_ctas, vt ? 14 : 0, vt ? 16 : 0);
		cycles[vt] = b.cycles;
		bench_fini(&b);
	}
	/*
	 * Eight times load and store against one load and eight stores: a CTA that has ended
	 * holds its slot until its stores are acknowledged.
	 */
	assert_true(cycles[1] * 10 < cycles[0] * 6);
}

/*
 * Registers for as many CTAs as there are slots: nobody is ever without one. VT's two queues are
 * then the one of a baseline whose loads wait aside.
 */
static void test_nothing_changes_at_the_capacity_limit(void **state)
{
	static const char *const orders[][2] = { { "fifo", "fifo" }, { "reexecute", "vt" } };
	struct sm_counters counters;
	uint64_t cycles = 0;

	for (unsigned int i = 0; i < 2 * ARRAY_SIZE(orders); i++) {
		unsigned int vt = i % 2;
		struct bench b;

		bench_vt(&b, vt ? "vt" : "baseline", 4);
		strcpy(b.spec.mem_order, orders[i / 2][vt]);
		/* L1D refuses most loads, and the queue has room for one. */
		b.spec.l1d_mshrs = b.spec.reexec_queue = 1;
		bench_load(&b, loads, 32);
		b.spec.registers = 4 * sm_kernel_needs(b.kernel).registers;
		bench_run(&b, 12);
		assert_int_equal(b.status, 0);
		assert_true(sm_stats(b.sm)->l1d.fails > 0);
		if (vt)
			assert_memory_equal(sm_stats(b.sm), &counters, sizeof(counters));
		if (vt)
			assert_int_equal(b.cycles, cycles);
		counters = *sm_stats(b.sm);
		cycles = b.cycles;
		bench_fini(&b);
	}
}

/*
 * Equation 1 with one warp: 8 + 0 + 96 + 160 * 4 = 744 bits, 93 bytes. A third CTA beside two slots
 * needs the contexts of three.
 */
static void test_contexts_take_shared_memory(void **state)
{
	for (unsigned int enough = 0; enough < 2; enough++) {
		struct bench b;

		bench_vt(&b, "vt", 2);
		b.spec.shared_bytes = 3 * 93 - 1 + enough;
		bench_load(&b, loads, 32);
		assert_int_equal(sm_begin(b.sm, b.kernel), 0);
		for (uint32_t i = 0; i < 2 + enough; i++) {
			assert_true(sm_has_room(b.sm, b.kernel));
			assert_int_equal(sm_launch_cta(b.sm, b.kernel, (uint32_t [3]){ i }, 0), 0);
		}
		assert_false(sm_has_room(b.sm, b.kernel));
		bench_fini(&b);
	}
	/* Twice the context takes twice as much (figure 11). */
	for (unsigned int enough = 0; enough < 2; enough++) {
		struct bench b;

		bench_vt(&b, "vt", 1);
		b.spec.vt_context = 2;
		b.spec.shared_bytes = 2 * 2 * 93 - 1 + enough;
		bench_load(&b, loads, 32);
		assert_int_equal(sm_launch_cta(b.sm, b.kernel, (uint32_t [3]){ 0 }, 0), 0);
		assert_int_equal(sm_has_room(b.sm, b.kernel), enough);
		bench_fini(&b);
	}
}

/*
 * A clock, a load behind it and what needs it; a clock behind that. Two instructions are fetched
 * together: a last one of a pair in cycle i, the first of the next in i + 2.
 */
static const char swaps[] = PTX_HEAD
	".visible .entry k()\n{\n.reg .b64 %rd<8>;\n.reg .b32 %r<12>;\n"
	"mov.u32 %r1, %ctaid.x;\nmul.wide.u32 %rd2, %r1, 4096;\n"
	"add.s64 %rd3, %rd2, 35184372088832;\ncvt.u32.u64 %r7, %rd3;\n"
	"mov.u32 %r8, %r7;\nmov.u32 %r5, %clock;\n"
	"ld.global.u32 %r2, [%rd3];\nadd.u32 %r2, %r2, %r1;\n"
	"mov.u32 %r6, %clock;\nst.global.u32 [%rd3+64], %r2;\n"
	"st.global.u32 [%rd3+68], %r5;\nst.global.u32 [%rd3+72], %r6;\nret;\n}\n";

/* CTAs, launched at the end of the cycle that it returns, on an SM with one slot and a warm L1I. */
static uint64_t run_swaps(struct bench *b, const char *mechanism, uint64_t bits, uint32_t ctas)
{
	uint64_t start;

	bench_vt(b, mechanism, 1);
	b->spec.vt_bits = bits;
	bench_load(b, swaps, 32);
	/* L1I has the kernel then; a store evicts its line from L1D. */
	bench_run(b, 1);
	start = b->now;
	for (uint32_t i = 0; i < 2; i++)
		*(uint32_t *)(b->memory + i * 4096) = 1000;
	assert_int_equal(sm_begin(b->sm, b->kernel), 0);
	for (uint32_t i = 0; i < ctas; i++)
		assert_int_equal(sm_launch_cta(b->sm, b->kernel, (uint32_t [3]){ i }, start), 0);
	for (uint64_t t = start + 1; t < start + 3000 && !sm_idle(b->sm); t++) {
		bench_quantum(b, t, t + 1);
		assert_int_equal(b->status, 0);
	}
	assert_true(sm_idle(b->sm));
	for (uint32_t i = 0; i < ctas; i++)
		assert_int_equal(word(b, i, 0), 1000 + i);
	return start;
}

/*
 * Equation 2: 744 bits of a context at 8 bits a cycle take 93 cycles, at 32 bits 24, at 1024 bits
 * one, and none if it is free.
 */
static void test_two_ctas_swap(void **state)
{
	static const struct { uint64_t bits, cycles; } costs[] = {
		{ 8, 93 }, { 32, 24 }, { 1024, 1 }, { 0, 0 },
	};
	uint64_t start, load, came;
	uint32_t first, data;
	struct bench b;

	start = run_swaps(&b, "baseline", 1024, 1);
	first = (uint32_t)(word(&b, 0, 1) - start);
	/* The load issues two cycles behind the clock; the clock behind its use two after its data. */
	data = word(&b, 0, 2) - 2 - (word(&b, 0, 1) + 2);
	bench_fini(&b);
	for (unsigned int i = 0; i < ARRAY_SIZE(costs); i++) {
		start = run_swaps(&b, "vt", costs[i].bits, 2);
		assert_int_equal(word(&b, 0, 1), start + first);
		load = word(&b, 0, 1) + 2;
		/*
		 * At the end of the load's cycle CTA 0 is seen to be stalled. One cycle later its
		 * context is in the buffer and its slot is CTA 1's, which has none to be read. It
		 * runs as CTA 0 did from the end of the launch on.
		 */
		assert_int_equal(word(&b, 1, 1), load + 1 + first);
		/*
		 * When CTA 0's data comes, CTA 1 is stalled. One cycle later it has left and CTA
		 * 0's context is being read; at the end of the last cycle of that CTA 0 has the
		 * slot. Fetched, decoded, issued: three cycles, and one for the clock behind.
		 */
		came = load + data;
		assert_true(word(&b, 1, 1) + 2 < came && load + 1 + costs[i].cycles < came);
		assert_int_equal(word(&b, 0, 2), came + 1 + costs[i].cycles + 3 + 1);
		/* Each has left once: CTA 0 gives up the slot for good when it has exited. */
		assert_int_equal(sm_stats(b.sm)->parked_ctas, 2);
		bench_fini(&b);
	}
}

/* When the only warp that did not wait exits, its CTA is stalled, and makes room. */
static void test_exit_leaves_a_stalled_cta(void **state)
{
	struct bench b;

	bench_vt(&b, "vt", 2);
	b.spec.ctas = 1;
	bench_load(&b, leaves, 64);
	bench_run(&b, 8);
	assert_int_equal(b.status, 0);
	/* All but the first, for which the instructions come late, and the last. */
	assert_in_range(sm_stats(b.sm)->parked_ctas, 6, 8);
	bench_fini(&b);
}

/* A CTA whose warps have exited does not keep a slot until its stores are acknowledged. */
static void test_who_has_exited_makes_room(void **state)
{
	uint32_t begins[2];

	for (unsigned int vt = 0; vt < 2; vt++) {
		struct bench b;

		bench_vt(&b, vt ? "vt" : "baseline", 1);
		strcpy(b.spec.vt_swap_on, "fault");
		bench_load(&b, loads, 32);
		bench_run(&b, 3);
		assert_int_equal(b.status, 0);
		begins[vt] = word(&b, 1, 1) - word(&b, 0, 2);
		/* That is no swap. */
		assert_int_equal(sm_stats(b.sm)->parked_ctas, 0);
		bench_fini(&b);
	}
	/* From the clock behind the load: four more instructions, and the slot is free. */
	assert_in_range(begins[1], 10, 40);
	assert_true(begins[0] > begins[1] + 80);
}

/* Where no context fits, or only as many CTAs as have slots, it is as without it. */
static void test_without_room_for_contexts_nothing_changes(void **state)
{
	uint64_t cycles[2];

	for (unsigned int vt = 0; vt < 2; vt++) {
		struct bench b;

		bench_vt(&b, vt ? "vt" : "baseline", 2);
		b.spec.shared_bytes = 92;
		bench_load(&b, loads, 32);
		bench_run(&b, 6);
		assert_int_equal(b.status, 0);
		assert_int_equal(sm_stats(b.sm)->parked_ctas, 0);
		cycles[vt] = b.cycles;
		bench_fini(&b);
	}
	assert_int_equal(cycles[0], cycles[1]);
}

/* Equation 1 of 32 warps: 8 + 5 + 96 + 160 * 4 * 32 bits are 2574 bytes; three such CTAs. */
static void test_ctas_of_32_warps(void **state)
{
	for (unsigned int enough = 0; enough < 2; enough++) {
		struct bench b;

		bench_vt(&b, "vt", 48);
		b.spec.ctas = 8;
		b.spec.registers = 65536;
		b.spec.shared_bytes = 3 * 2574 - 1 + enough;
		bench_load(&b, waits, 1024);
		bench_run(&b, 6);
		assert_int_equal(b.status, 0);
		for (unsigned int i = 0; i < 6; i++)
			assert_int_equal(word(&b, i, 0), 1);
		/* Two are on the SM with any context at all, and they swap; with three more often. */
		assert_in_range(sm_stats(b.sm)->parked_ctas, 5, 30);
		assert_int_equal(sm_kernel_needs(b.kernel).warps, 32);
		bench_fini(&b);
	}
}

/* Slots for all, whatever there are: the same CTAs as with vt, active at once. */
static void test_max_has_slots_for_all(void **state)
{
	struct bench b;

	bench_vt(&b, "max", 1);
	bench_load(&b, loads, 32);
	assert_int_equal(sm_begin(b.sm, b.kernel), 0);
	for (uint32_t i = 0; i < 9; i++) {
		struct sm_cta_view view;

		assert_true(sm_has_room(b.sm, b.kernel));
		assert_int_equal(sm_launch_cta(b.sm, b.kernel, (uint32_t [3]){ i }, 0), 0);
		sm_cta_look(b.sm, i, &view);
		assert_int_equal(view.state, SM_CTA_ACTIVE);
	}
	assert_int_equal(sm_kernel_ctas(b.kernel),
			 MIN(256, b.spec.registers / sm_kernel_needs(b.kernel).registers));
	bench_fini(&b);
}

static void test_who_waits_at_a_barrier_counts(void **state)
{
	for (unsigned int ignored = 0; ignored < 2; ignored++) {
		struct bench b;

		bench_vt(&b, "vt", 2);
		b.spec.ctas = 1;
		strcpy(b.spec.vt_barrier, ignored ? "ignored" : "stalled");
		bench_load(&b, waits, 64);
		bench_run(&b, 4);
		assert_int_equal(b.status, 0);
		for (unsigned int i = 0; i < 4; i++)
			assert_int_equal(word(&b, i, 0), 1);
		if (ignored)
			/* For their parameter alone: both warps wait for it. */
			assert_in_range(sm_stats(b.sm)->parked_ctas, 3, 4);
		else
			assert_in_range(sm_stats(b.sm)->parked_ctas, 6, 8);
		bench_fini(&b);
	}
}

/* A load; the first CTA has instructions before it. */
static const char later[] = PTX_HEAD
	".visible .entry k()\n{\n.reg .pred %p<2>;\n.reg .b64 %rd<8>;\n.reg .b32 %r<12>;\n"
	"mov.u32 %r1, %ctaid.x;\nmul.wide.u32 %rd2, %r1, 4096;\nadd.s64 %rd3, %rd2, 35184372088832;\n"
	"setp.ne.u32 %p1, %r1, 0;\n@%p1 bra LOAD;\nadd.u32 %r3, %r1, 1;\nadd.u32 %r3, %r3, %r3;\n"
	"add.u32 %r3, %r3, %r3;\nadd.u32 %r3, %r3, %r3;\n"
	"LOAD:\nld.global.u32 %r2, [%rd3];\nadd.u32 %r2, %r2, 1;\nst.global.u32 [%rd3+64], %r2;\nret;\n}\n";

static struct sm_cta_view look_at(const struct bench *b, unsigned int cta)
{
	struct sm_cta_view view;

	sm_cta_look(b->sm, cta, &view);
	return view;
}

static void launch(struct bench *b, uint32_t cta, uint64_t now)
{
	assert_int_equal(sm_launch_cta(b->sm, b->kernel, (uint32_t [3]){ cta }, now), 0);
}

/* A CTA that comes when two have stalled takes the slot of the one that stalled first. */
static void test_who_stalled_first_leaves(void **state)
{
	struct bench b;
	uint64_t t;

	bench_vt(&b, "vt", 2);
	bench_load(&b, later, 32);
	bench_run(&b, 1);
	t = b.now;
	assert_int_equal(sm_begin(b.sm, b.kernel), 0);
	launch(&b, 0, t);
	launch(&b, 1, t);
	do {
		bench_quantum(&b, t + 1, t + 2);
		t++;
		assert_true(look_at(&b, 1).stalled || !look_at(&b, 0).stalled);
	} while (!look_at(&b, 0).stalled);
	assert_true(look_at(&b, 1).stalled);
	launch(&b, 2, t);
	bench_quantum(&b, t + 1, t + 2);
	bench_quantum(&b, t + 2, t + 3);
	assert_int_equal(look_at(&b, 0).state, SM_CTA_ACTIVE);
	assert_int_equal(look_at(&b, 1).state, SM_CTA_PARKED);
	assert_int_equal(look_at(&b, 2).state, SM_CTA_ACTIVE);
	bench_fini(&b);
}

/* A CTA waits for a far fault, and nobody was ready before that was known. Which CTA comes then? */
static void test_a_far_fault_swaps_if_it_is_told_to(void **state)
{
	static const char *const swap_on[] = { "memory", "fault", "both" };
	static bool absent[BENCH_BYTES / PAGE_BYTES];

	for (unsigned int i = 0; i < ARRAY_SIZE(swap_on); i++) {
		struct bench b;
		uint64_t t;

		bench_vt(&b, "vt", 1);
		strcpy(b.spec.vt_swap_on, swap_on[i]);
		b.spec.paging = 1;
		absent[0] = true;
		b.absent = absent;
		bench_load(&b, later, 32);
		assert_int_equal(sm_begin(b.sm, b.kernel), 0);
		launch(&b, 0, 0);
		for (t = 1; t < 2000; t++)
			bench_quantum(&b, t, t + 1);
		assert_int_equal(look_at(&b, 0).faulted, 1);
		launch(&b, 1, t - 1);
		for (; t < 2010; t++)
			bench_quantum(&b, t, t + 1);
		assert_int_equal(look_at(&b, 0).state, i ? SM_CTA_PARKED : SM_CTA_ACTIVE);
		assert_int_equal(look_at(&b, 1).state, i ? SM_CTA_ACTIVE : SM_CTA_PARKED);
		bench_fini(&b);
	}
}

/* Nothing faults here: who swaps on far faults alone never does. */
static void test_swaps_on_what_it_is_told_to(void **state)
{
	struct bench b;

	bench_vt(&b, "vt", 1);
	strcpy(b.spec.vt_swap_on, "fault");
	bench_load(&b, loads, 32);
	bench_run(&b, 4);
	assert_int_equal(b.status, 0);
	assert_int_equal(sm_stats(b.sm)->parked_ctas, 0);
	bench_fini(&b);
}

static void test_unknown_words_are_refused(void **state)
{
	const struct sm_mechanism *vt = sm_mechanism_find("vt");
	struct gpu_spec spec;
	struct err err;

	spec_defaults(&spec);
	assert_int_equal(vt->check(&spec, &err), 0);
	strcpy(spec.vt_swap_on, "never");
	assert_int_equal(vt->check(&spec, &err), -EINVAL);
	assert_string_equal(err.text, "vt.swap_on: 'never'; there are: memory, fault, both");
	strcpy(spec.vt_swap_on, "memory");
	strcpy(spec.vt_barrier, "never");
	assert_int_equal(vt->check(&spec, &err), -EINVAL);
	strcpy(spec.vt_barrier, "stalled");
	strcpy(spec.vt_long, "never");
	assert_int_equal(vt->check(&spec, &err), -EINVAL);
	assert_string_equal(err.text, "vt.long: 'never'; there are: load, miss");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_latency_is_hidden),
		cmocka_unit_test(test_nothing_changes_at_the_capacity_limit),
		cmocka_unit_test(test_contexts_take_shared_memory),
		cmocka_unit_test(test_two_ctas_swap),
		cmocka_unit_test(test_exit_leaves_a_stalled_cta),
		cmocka_unit_test(test_who_has_exited_makes_room),
		cmocka_unit_test(test_without_room_for_contexts_nothing_changes),
		cmocka_unit_test(test_ctas_of_32_warps),
		cmocka_unit_test(test_max_has_slots_for_all),
		cmocka_unit_test(test_who_waits_at_a_barrier_counts),
		cmocka_unit_test(test_who_stalled_first_leaves),
		cmocka_unit_test(test_a_far_fault_swaps_if_it_is_told_to),
		cmocka_unit_test(test_swaps_on_what_it_is_told_to),
		cmocka_unit_test(test_unknown_words_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
