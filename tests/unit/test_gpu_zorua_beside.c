// SPDX-License-Identifier: GPL-2.0
/*
 * Kernels on one SM under Zorua: whose CTAs come beside whose, by what they need and not by what
 * they specify, and how many warps may be shared out. Most kernels here are one warp that goes
 * round as often, so that two take half the time when they run beside each other.
 */
#include "gpu_dynamic.h"

#define ROUND(n)							\
	"mov.u32 %r1, " #n ";\nmov.u32 %r2, 0;\nAGAIN:\nadd.s32 %r2, %r2, 1;\n" \
	"setp.lt.u32 %p1, %r2, %r1;\n@%p1 bra AGAIN;\n"
/* A set of registers; and four of them, when all values are live. */
#define PTX_SPIN							\
	".visible .entry spin(.param .u64 p)\n{\n"			\
	".reg .pred %p<2>;\n.reg .b32 %r<4>;\n.reg .b64 %rd<2>;\n"	\
	ROUND(2000)							\
	"ld.param.u64 %rd1, [p];\nst.global.u32 [%rd1], %r2;\nret;\n}\n"
#define VALUE(n) "mul.lo.u32 %r" #n ", %r1, " #n ";\n"
#define SUM(n)	"add.u32 %r1, %r1, %r" #n ";\n"
#define PTX_MANY							\
	".visible .entry many(.param .u64 p)\n{\n"			\
	".reg .pred %p<2>;\n.reg .b32 %r<30>;\n.reg .b64 %rd<2>;\n.shared .align 4 .b8 pad[1024];\n" \
	ROUND(2000) "mov.u32 %r1, 1;\n"					\
	VALUE(2) VALUE(3) VALUE(4) VALUE(5) VALUE(6) VALUE(7) VALUE(8) VALUE(9) VALUE(10) \
	VALUE(11) VALUE(12) VALUE(13) VALUE(14) VALUE(15) VALUE(16)	\
	SUM(2) SUM(3) SUM(4) SUM(5) SUM(6) SUM(7) SUM(8) SUM(9) SUM(10)	\
	SUM(11) SUM(12) SUM(13) SUM(14) SUM(15) SUM(16)			\
	"st.shared.u32 [pad], %r1;\nld.shared.u32 %r1, [pad];\n"	\
	"ld.param.u64 %rd1, [p];\nst.global.u32 [%rd1+4], %r1;\nret;\n}\n"

/*
 * The kernels of these names, one CTA each, on an SM of so many registers. Each specifies 32 a
 * thread, so 1024 a CTA.
 */
static uint64_t cycles(const char *mechanism, uint64_t registers, const char *const *names,
		       uint32_t n)
{
	static const char ptx[] = PTX_HEAD PTX_SPIN PTX_MANY;
	struct gpu_bench b;
	uint64_t param, took;

	bench_spec(&b);
	b.spec.paging = 0;
	b.spec.sms = 1;
	b.spec.mixed_sms = 1;
	b.spec.occupancy_regs = 32;
	b.spec.registers = registers;
	strcpy(b.spec.cta, mechanism);
	bench_open_with(&b, ptx);
	param = (uintptr_t)b.memory;
	for (uint32_t i = 0; i < n; i++) {
		const struct gpu_launch l = {
			.module = 1, .kernel = names[i], .grid = { 1, 1, 1 },
			.block = { 32, 1, 1 }, .params = &param, .param_bytes = sizeof(param),
		};

		assert_int_equal(gpu_session_submit(b.session, i + 1, &l, done, NULL), 0);
	}
	gpu_session_finish(b.session);
	assert_int_equal(((uint32_t *)b.memory)[0], 2000);
	assert_int_equal(((uint32_t *)b.memory)[1], 16 * 17 / 2);
	took = bench_stat(&b, "totals.cycles");
	bench_close(&b);
	return took;
}

/* One uses a set of 128 registers, the other four sets. */
static void what_is_free_is_enough(void **state)
{
	static const char *const names[] = { "spin", "many" };
	uint64_t apart = cycles("baseline", 1024, names, 2);

	assert_true(cycles("baseline", 2048, names, 2) < apart * 2 / 3);
	assert_true(cycles("zorua", 1024, names, 2) < apart * 2 / 3);
}

/* What was promised to warps that have begun is not free: two of four sets are eight. */
static void what_is_promised_is_not_free(void **state)
{
	static const char *const names[] = { "many", "many", "spin" };
	uint64_t apart = cycles("baseline", 2048, names, 3);

	assert_true(cycles("baseline", 3072, names, 3) < apart * 2 / 3);
	assert_true(cycles("zorua", 1024, names, 3) > apart * 9 / 10);
	assert_true(cycles("zorua", 1152, names, 3) < apart * 2 / 3);
}

/* Where warps get slots one by one, kernels beside each other share out the warps with slots. */
static void slots_are_shared_out(void **state)
{
	static const struct {
		const char *cta;
		unsigned int kernels, warps, ctas;
	} cases[] = {
		{ "baseline", 2, 48, 8 }, { "vt", 1, 64, 16 }, { "vt", 2, 64, 16 },
		{ "zorua", 1, 64, 16 }, { "zorua", 2, 48, 16 }, { "wlm", 1, 64, 8 },
		{ "wlm", 2, 48, 8 },
	};
	struct gpu_spec spec;

	spec_defaults(&spec);
	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct dispatch d = { .spec = &spec, .nkernels = cases[i].kernels };
		unsigned int warps, ctas;

		strcpy(spec.cta, cases[i].cta);
		spec.virtual_warps = strcmp(cases[i].cta, "vt") ? 0 : 64;
		spec.virtual_ctas = strcmp(cases[i].cta, "vt") ? 0 : 16;
		dispatch_to_share(&d, &warps, &ctas);
		assert_int_equal(warps, cases[i].warps);
		assert_int_equal(ctas, cases[i].ctas);
	}
}

/*
 * An SM knows eight warps by number and has slots for six. Shares of the numbers would be two CTAs
 * for each of four kernels: the first three would take all slots, and whenever a CTA ended one of
 * theirs would come.
 */
static void the_newest_has_its_share(void **state)
{
	static const char *const policies[] = { "even", "dynamic" };

	for (unsigned int i = 0; i < ARRAY_SIZE(policies); i++) {
		struct gpu_bench b;
		uint64_t from = 0;
		size_t kernels;

		open_bench_of(&b, "", 1, "zorua");
		strcpy(b.spec.dispatch, policies[i]);
		b.spec.warps = 6;
		b.spec.virtual_warps = 8;
		/* A quarter of the performance may be lost, and more. */
		b.spec.slicer_loss = 400;
		assert_int_equal(gpu_session_configure(b.session, &b.spec, NULL), 0);
		for (unsigned int k = 0; k < 4; k++)
			launch_as(&b, k + 1, k % 2 ? "other" : "loop", k, 800, 100);
		gpu_session_finish(b.session);
		if (i) {
			uint64_t warps = 0;

			from = decided_at(&b, 0, &kernels);
			assert_int_equal(kernels, 4);
			for (unsigned int k = 0; k < 4; k++)
				warps += share(&b, 0, k);
			assert_in_range(warps, 4, 6);
		}
		/* What ran as the partition was made has ended after the first of these. */
		for (unsigned int k = 0; k < 4; k++)
			for (unsigned int sm = 0; sm < 4; sm++)
				assert_true(begun(&b, k, 800, sm, from + 5000, from + 15000) > 0);
		for (unsigned int k = 0; k < 4; k++)
			all_ran(&b, k, 800);
		bench_close(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slots_are_shared_out),
		cmocka_unit_test(the_newest_has_its_share),
		cmocka_unit_test(what_is_free_is_enough),
		cmocka_unit_test(what_is_promised_is_not_free),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
