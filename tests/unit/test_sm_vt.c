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

/* Registers for as many CTAs as there are slots: nobody is ever without one. */
static void test_nothing_changes_at_the_capacity_limit(void **state)
{
	struct sm_counters counters;
	uint64_t cycles = 0;

	for (unsigned int vt = 0; vt < 2; vt++) {
		struct bench b;

		bench_vt(&b, vt ? "vt" : "baseline", 4);
		bench_load(&b, loads, 32);
		b.spec.registers = 4 * sm_kernel_needs(b.kernel).registers;
		bench_run(&b, 12);
		assert_int_equal(b.status, 0);
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

/* The clock of CTA 1's first instruction, with one slot: CTA 0 has left before. */
static uint32_t second_begins(uint64_t bits)
{
	struct bench b;
	uint32_t clock;

	bench_vt(&b, "vt", 1);
	b.spec.vt_bits = bits;
	bench_load(&b, loads, 32);
	bench_run(&b, 1);
	bench_run(&b, 2);
	assert_int_equal(b.status, 0);
	clock = word(&b, 1, 1) - word(&b, 0, 1);
	bench_fini(&b);
	return clock;
}

/*
 * Equation 2: 93 bytes at 8 bits a cycle take 93 cycles, at 64 bits 12, at 128 bits 6. CTA 1 has no
 * context to be read: it has not run yet.
 */
static void test_a_swap_costs_equation_2(void **state)
{
	assert_int_equal(second_begins(8) - second_begins(64), 93 - 12);
	assert_int_equal(second_begins(64) - second_begins(128), 12 - 6);
	assert_true(second_begins(1024) >= second_begins(0));
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
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_latency_is_hidden),
		cmocka_unit_test(test_nothing_changes_at_the_capacity_limit),
		cmocka_unit_test(test_contexts_take_shared_memory),
		cmocka_unit_test(test_a_swap_costs_equation_2),
		cmocka_unit_test(test_who_waits_at_a_barrier_counts),
		cmocka_unit_test(test_swaps_on_what_it_is_told_to),
		cmocka_unit_test(test_unknown_words_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
