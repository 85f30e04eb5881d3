// SPDX-License-Identifier: GPL-2.0
/*
 * Two kernels on one SM under Zorua: whose CTAs come beside whose, by what they need and not by
 * what they specify. Both are one warp that goes round as often, so that they take half the time
 * when they run beside each other.
 */
#include "gpu_bench.h"

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

static void done(void *ctx, int status, uint64_t fault_addr, const struct err *err,
		 char *output, size_t bytes)
{
	if (status)
		fail_msg("%s", err->text);
	free(output);
}

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_free_is_enough),
		cmocka_unit_test(what_is_promised_is_not_free),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
