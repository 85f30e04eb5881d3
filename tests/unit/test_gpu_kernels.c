// SPDX-License-Identifier: GPL-2.0
/*
 * What a kernel may do besides computing: print, fail an assertion, call
 * itself, use variables of its module; and what of the compiler's
 * options a launch shows.
 */
#include "gpu/output.h"
#include "gpu_bench.h"

/* --- printf and assert ------------------------------------------------------------ */

#define PTX_PRINTS							\
	".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n" \
	".extern .func __assertfail(.param .b64 m, .param .b64 f, .param .b32 l, .param .b64 n, .param .b64 c);\n" \
	".global .align 1 .b8 fmt[12] = {84, 58, 32, 37, 100, 32, 37, 100, 33, 10, 0, 0};\n" \
	".global .align 1 .b8 msg[6] = {120, 32, 60, 32, 121, 0};\n"	\
	".global .align 1 .b8 file[5] = {97, 46, 99, 117, 0};\n"	\
	".global .align 1 .b8 func[2] = {102, 0};\n"			\
	/* Every thread prints "T: tid n!", n times. */			\
	".visible .entry prints(.param .u64 n)\n{\n"			\
	".local .align 8 .b8 frame[8];\n.reg .pred %p<2>;\n.reg .b32 %r<8>;\n.reg .b64 %rd<8>;\n" \
	"ld.param.u32 %r3, [n];\nmov.u32 %r1, %tid.x;\nmov.u32 %r4, 0;\n" \
	"mov.u64 %rd1, frame;\ncvta.local.u64 %rd2, %rd1;\n"		\
	"mov.u64 %rd3, fmt;\ncvta.global.u64 %rd4, %rd3;\n"		\
	"LOOP:\nst.local.u32 [frame], %r1;\nst.local.u32 [frame+4], %r4;\n" \
	"{\n.param .b64 p0;\nst.param.b64 [p0], %rd4;\n.param .b64 p1;\nst.param.b64 [p1], %rd2;\n" \
	".param .b32 r0;\ncall.uni (r0), vprintf, (p0, p1);\nld.param.b32 %r5, [r0];\n}\n" \
	"add.s32 %r4, %r4, 1;\nsetp.lt.u32 %p1, %r4, %r3;\n@%p1 bra LOOP;\nret;\n}\n" \
	".visible .entry asserts(.param .u64 n)\n{\n"			\
	".local .align 8 .b8 frame[8];\n.reg .pred %p<2>;\n.reg .b32 %r<8>;\n.reg .b64 %rd<8>;\n" \
	"mov.u32 %r1, %tid.x;\nmov.u64 %rd1, frame;\ncvta.local.u64 %rd2, %rd1;\n" \
	"mov.u64 %rd3, fmt;\ncvta.global.u64 %rd4, %rd3;\n"		\
	"st.local.u32 [frame], %r1;\nst.local.u32 [frame+4], %r1;\n"	\
	"{\n.param .b64 p0;\nst.param.b64 [p0], %rd4;\n.param .b64 p1;\nst.param.b64 [p1], %rd2;\n" \
	".param .b32 r0;\ncall.uni (r0), vprintf, (p0, p1);\nld.param.b32 %r5, [r0];\n}\n" \
	"setp.ne.u32 %p1, %r1, 1;\n@%p1 bra OUT;\n"			\
	"mov.u64 %rd5, msg;\ncvta.global.u64 %rd5, %rd5;\n"		\
	"mov.u64 %rd6, file;\ncvta.global.u64 %rd6, %rd6;\n"		\
	"mov.u64 %rd7, func;\ncvta.global.u64 %rd7, %rd7;\n"		\
	"{\n.param .b64 p0;\nst.param.b64 [p0], %rd5;\n.param .b64 p1;\nst.param.b64 [p1], %rd6;\n" \
	".param .b32 p2;\nst.param.b32 [p2], 42;\n.param .b64 p3;\nst.param.b64 [p3], %rd7;\n" \
	".param .b64 p4;\nst.param.b64 [p4], 1;\n"			\
	"call.uni __assertfail, (p0, p1, p2, p3, p4);\n}\n"		\
	"OUT:\nret;\n}\n"

static void open_prints(struct gpu_bench *b, unsigned int functional)
{
	static const char ptx[] = PTX_HEAD PTX_PRINTS;

	bench_spec(b);
	b->spec.functional = functional;
	bench_open_with(b, PTX_HEAD PTX_MIX);
	gpu_session_unload(b->session, 1);
	assert_int_equal(gpu_session_load(b->session, 1, "test.ptx", ptx, strlen(ptx),
					  (uintptr_t)b->memory + 65536, &b->err), 0);
}

static void test_output(void **state)
{
	struct gpu_bench b;
	size_t bytes;
	char *text;

	for (unsigned int functional = 0; functional < 2; functional++) {
		open_prints(&b, functional);
		assert_null(gpu_session_take_output(b.session, &bytes));
		assert_int_equal(bench_launch_one(&b, "prints", 1, 3, 2), 0);
		text = gpu_session_take_output(b.session, &bytes);
		assert_non_null(text);
		assert_string_equal(text, "T: 0 0!\nT: 1 0!\nT: 2 0!\nT: 0 1!\nT: 1 1!\nT: 2 1!\n");
		assert_int_equal(bytes, strlen(text));
		free(text);
		assert_null(gpu_session_take_output(b.session, &bytes));
		/* What nobody took is gone with the next launch. */
		assert_int_equal(bench_launch_one(&b, "prints", 1, 1, 2), 0);
		assert_int_equal(bench_launch_one(&b, "prints", 1, 1, 1), 0);
		text = gpu_session_take_output(b.session, &bytes);
		assert_string_equal(text, "T: 0 0!\n");
		free(text);
		/* And left for the session's end to free. */
		assert_int_equal(bench_launch_one(&b, "prints", 1, 1, 1), 0);
		bench_close(&b);
	}
}

static void test_too_much_output(void **state)
{
	struct gpu_bench b;
	size_t bytes;
	char *text, *end;
	unsigned long lost;

	open_prints(&b, 1);
	/* 32 x 5000 lines of 8 to 13 bytes; the kernel's end is not its concern. */
	assert_int_equal(bench_launch_one(&b, "prints", 1, 32, 5000), 0);
	text = gpu_session_take_output(b.session, &bytes);
	end = strstr(text, "[gpuemu: ");
	assert_non_null(end);
	assert_true((size_t)(end - text) <= GPU_OUTPUT_MAX);
	/* A warp's lines are kept or lost together. */
	assert_true((size_t)(end - text) > GPU_OUTPUT_MAX - 32 * 13);
	assert_int_equal(end[-1], '\n');
	lost = strtoul(end + 9, NULL, 10);
	assert_non_null(strstr(end, " more bytes of printf are lost: a launch keeps 1048576]\n"));
	/* Line "T: t i!": 6 bytes, and digits. */
	{
		size_t all = 32 * 5000 * 6 + (10 * 1 + 22 * 2) * 5000 +
			     32 * (10 * 1 + 90 * 2 + 900 * 3 + 4000 * 4);

		assert_int_equal((size_t)(end - text) + lost, all);
	}
	free(text);
	bench_close(&b);
}

static void test_output_has_no_holes(void **state)
{
	struct output o = { 0 };
	char *big = calloc(1, GPU_OUTPUT_MAX), *text;
	size_t bytes;

	memset(big, 'x', GPU_OUTPUT_MAX);
	output_print(&o, big, GPU_OUTPUT_MAX - 3);
	output_print(&o, "abcd", 4);
	/* There would be room, but not where it belongs. */
	output_print(&o, "e", 1);
	text = output_take(&o, &bytes);
	assert_int_equal(text[GPU_OUTPUT_MAX - 4], 'x');
	assert_string_equal(text + GPU_OUTPUT_MAX - 3,
			    "\n[gpuemu: 5 more bytes of printf are lost: a launch keeps 1048576]\n");
	assert_int_equal(bytes, strlen(text));
	free(text);
	/* Full to the last byte is not too much. */
	output_print(&o, big, GPU_OUTPUT_MAX - 1);
	output_print(&o, "\n", 1);
	text = output_take(&o, &bytes);
	assert_int_equal(bytes, GPU_OUTPUT_MAX);
	free(text);
	free(big);
}

static void test_a_failed_assertion(void **state)
{
	struct gpu_bench b;
	size_t bytes;
	char *text;

	for (unsigned int functional = 0; functional < 2; functional++) {
		open_prints(&b, functional);
		bench_expect(&b, bench_launch_one(&b, "asserts", 1, 2, 0), -ECANCELED,
		       "a.cu:42: f: block: [0,0,0], thread: [1,0,0] Assertion `x < y` failed.");
		/* What it printed before is there, and the sentence of the kernel that failed. */
		text = gpu_session_take_output(b.session, &bytes);
		assert_non_null(text);
		assert_string_equal(text, "T: 0 0!\nT: 1 1!\na.cu:42: f: block: [0,0,0], thread: "
				    "[1,0,0] Assertion `x < y` failed.\n");
		free(text);
		bench_close(&b);
	}
}

/* --- functions -------------------------------------------------------------------------- */

/*
 * sum(n) = n + sum(n - 1), each level with n in a variable of its own, a generic address of it,
 * and a third of the lanes leaving at each level.
 */
#define PTX_RECURSION							\
	".func (.param .b32 r) sum(.param .b32 n)\n;\n"			\
	".func (.param .b32 r) sum(.param .b32 n)\n{\n"		\
	".local .align 4 .b8 mine[8];\n.reg .pred %p<2>;\n.reg .b32 %r<8>;\n.reg .b64 %rd<4>;\n" \
	"ld.param.u32 %r1, [n];\nmov.u64 %rd1, mine;\ncvta.local.u64 %rd2, %rd1;\n" \
	"st.local.u32 [mine+4], %r1;\nmov.u32 %r2, 0;\n"		\
	"setp.eq.u32 %p1, %r1, 0;\n@%p1 bra OUT;\nadd.s32 %r3, %r1, -1;\n" \
	"{\n.param .b32 a;\nst.param.b32 [a], %r3;\n.param .b32 b;\n"	\
	"call.uni (b), sum, (a);\nld.param.b32 %r2, [b];\n}\n"	\
	"OUT:\nld.u32 %r4, [%rd2+4];\nadd.s32 %r5, %r2, %r4;\n"	\
	"st.param.b32 [r], %r5;\nret;\n}\n"				\
	".visible .entry recurse(.param .u64 p)\n{\n"			\
	".reg .b32 %r<8>;\n.reg .b64 %rd<4>;\n"			\
	"mov.u32 %r1, %tid.x;\nrem.u32 %r2, %r1, 3;\n"			\
	"{\n.param .b32 a;\nst.param.b32 [a], %r2;\n.param .b32 b;\n"	\
	"call.uni (b), sum, (a);\nld.param.b32 %r3, [b];\n}\n"	\
	"mad.lo.s32 %r4, %r3, 100, %r1;\n"				\
	"ld.param.u64 %rd1, [p];\nmul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd3, %rd1, %rd2;\n" \
	"st.global.u32 [%rd3], %r4;\nret;\n}\n"

static void test_recursion_in_both_modes(void **state)
{
	struct gpu_bench b;

	for (unsigned int functional = 0; functional < 2; functional++) {
		bench_spec(&b);
		b.spec.functional = functional;
		bench_open_with(&b, PTX_HEAD PTX_RECURSION);
		bench_expect(&b, bench_launch_one(&b, "recurse", 1, 70, (uintptr_t)b.memory), 0, "");
		for (uint32_t t = 0; t < 70; t++)
			assert_int_equal(((uint32_t *)b.memory)[t],
					 t % 3 * (t % 3 + 1) / 2 * 100 + t);
		assert_true(bench_stat(&b, "kernels.0.local_bytes") >= 1024);
		/* Frames are memory traffic: more lines than the 3 of the results. */
		if (!functional)
			assert_true(bench_stat(&b, "memory.global_lines") > 3 + 2 * 3);
		bench_close(&b);
	}
}

/* --- variables ------------------------------------------------------------------------ */

static void test_variables_are_where_the_client_put_them(void **state)
{
	static const char ptx[] = PTX_HEAD
		".global .align 4 .u32 before = 7;\n"
		".global .align 8 .b8 counters[64];\n"
		".global .align 8 .u64 where = counters;\n"
		".visible .entry count(.param .u64 p)\n{\n"
		".reg .b32 %r<4>;\n.reg .b64 %rd<6>;\n"
		"ld.global.u64 %rd1, [where];\n"
		"atom.global.add.u32 %r1, [%rd1+8], 1;\n"
		"ld.global.u32 %r2, [before];\n"
		"st.global.u32 [counters+16], %r2;\n"
		"ret;\n}\n";
	struct gpu_bench b;
	struct ptx_module *module;
	uint32_t *counters;
	uint32_t align;

	/* The layout and image are what any parse gives. */
	bench_spec(&b);
	assert_int_equal(ptx_module_parse(ptx, strlen(ptx), "test.ptx", &module, &b.err), 0);
	bench_open_with(&b, PTX_HEAD PTX_MIX);
	bench_expect(&b, gpu_session_load(b.session, 2, "test.ptx", ptx, strlen(ptx), 0, &b.err), -EINVAL,
	       ".global");
	assert_false(gpu_session_loaded(b.session, 2));
	gpu_session_unload(b.session, 1);
	for (unsigned int i = 0; i < 2; i++) {
		uint64_t base = (uintptr_t)b.memory + 8192 * (i + 1);

		ptx_module_place(module, base);
		memcpy((void *)(uintptr_t)base, ptx_module_global_image(module),
		       ptx_module_global_bytes(module, &align));
		assert_int_equal(gpu_session_load(b.session, 1, "test.ptx", ptx, strlen(ptx), base,
						  &b.err), 0);
		assert_int_equal(bench_launch_one(&b, "count", 2, 100, 0), 0);
		assert_int_equal(bench_launch_one(&b, "count", 1, 1, 0), 0);
		assert_string_equal(ptx_module_variable_at(module, 1)->name, "counters");
		base += ptx_module_variable_at(module, 1)->offset;
		counters = (uint32_t *)(uintptr_t)base;
		assert_int_equal(counters[2], 201);
		assert_int_equal(counters[4], 7);
		gpu_session_unload(b.session, 1);
	}
	ptx_module_free(module);
	bench_close(&b);
}

/* --- the compiler's options ----------------------------------------------------------- */

/* Forty values that are alive at once, summed up. */
static char *wide_kernel(void)
{
	static char text[8192];
	size_t at = (size_t)snprintf(text, sizeof(text), "%s", PTX_HEAD
		".visible .entry wide(.param .u64 p)\n{\n.reg .b32 %r<50>;\n.reg .b64 %rd<4>;\n"
		"ld.param.u64 %rd1, [p];\nmov.u32 %r45, %tid.x;\n");

	for (unsigned int i = 0; i < 40; i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at,
				       "ld.volatile.global.u32 %%r%u, [%%rd1+%u];\n", i, 4 * i);
	for (unsigned int i = 1; i < 40; i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at,
				       "mad.lo.s32 %%r0, %%r0, 3, %%r%u;\n", i);
	snprintf(text + at, sizeof(text) - at, "mul.wide.u32 %%rd2, %%r45, 4;\n"
		 "add.s64 %%rd3, %%rd1, %%rd2;\nst.global.u32 [%%rd3+4096], %%r0;\nret;\n}\n");
	return text;
}

static void test_maxregs(void **state)
{
	uint32_t want = 0, regs = 0;
	struct gpu_bench b;

	for (unsigned int i = 0; i < 3; i++) {
		static const uint32_t max[] = { 0, 32, 16 };
		uint32_t *words;

		bench_spec(&b);
		b.spec.maxregs = max[i];
		bench_open_with(&b, wide_kernel());
		words = (uint32_t *)b.memory;
		for (uint32_t k = 0; k < 40; k++)
			words[k] = k * k + 5;
		assert_int_equal(bench_launch_one(&b, "wide", 1, 64, (uintptr_t)b.memory), 0);
		if (!i)
			want = words[1024];
		for (uint32_t t = 0; t < 64; t++)
			assert_int_equal(words[1024 + t], want);
		if (!i) {
			regs = (uint32_t)bench_stat(&b, "kernels.0.regs");
			assert_true(regs >= 40);
			assert_int_equal(bench_stat(&b, "kernels.0.spill_store_bytes"), 0);
			assert_int_equal(bench_stat(&b, "kernels.0.local_bytes"), 0);
		} else {
			assert_true(bench_stat(&b, "kernels.0.regs") <= max[i]);
			assert_true(bench_stat(&b, "kernels.0.spill_store_bytes") > 0);
			assert_true(bench_stat(&b, "kernels.0.spill_load_bytes") > 0);
			assert_true(bench_stat(&b, "kernels.0.local_bytes") > 0);
		}
		/* It holds for what is loaded from then on. */
		b.spec.maxregs = 24;
		assert_int_equal(gpu_session_configure(b.session, &b.spec, &b.err), 0);
		assert_int_equal(bench_launch_one(&b, "wide", 1, 64, (uintptr_t)b.memory), 0);
		if (!i)
			assert_int_equal(bench_stat(&b, "kernels.0.regs"), regs);
		bench_close(&b);
	}
	bench_spec(&b);
	b.spec.maxregs = 15;
	bench_expect(&b, gpu_spec_check(&b.spec, &b.err), -EINVAL, "compiler.maxregs: 15; 16 to 255");
}

static void test_occupancy_by_decree(void **state)
{
	struct gpu_bench b;
	uint64_t in;

	bench_spec(&b);
	bench_open_with(&b, PTX_HEAD PTX_GATHER);
	in = (uintptr_t)b.memory;
	assert_int_equal(bench_gather(&b, in, in + 65536, 4, 1, 256), 0);
	assert_int_equal(bench_stat(&b, "kernels.0.ctas_per_sm"), 6);
	b.spec.occupancy_regs = 63;
	assert_int_equal(gpu_session_configure(b.session, &b.spec, &b.err), 0);
	assert_int_equal(bench_gather(&b, in, in + 65536, 4, 1, 256), 0);
	/* 64 x 256 of 32768; the kernel takes what it takes all the same. */
	assert_int_equal(bench_stat(&b, "kernels.0.ctas_per_sm"), 2);
	assert_true(bench_stat(&b, "kernels.0.regs") < 32);
	bench_close(&b);
}

static void test_two_runs_are_one(void **state)
{
	char *first = NULL;

	for (unsigned int i = 0; i < 2; i++) {
		struct gpu_bench b;
		char *text;

		open_prints(&b, 0);
		for (unsigned int k = 0; k < 3; k++)
			assert_int_equal(bench_launch_one(&b, "prints", 20, 100, 2), 0);
		text = gpu_session_statistics(b.session);
		if (first)
			assert_string_equal(text, first);
		free(first);
		first = text;
		bench_close(&b);
	}
	free(first);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_output),
		cmocka_unit_test(test_too_much_output),
		cmocka_unit_test(test_output_has_no_holes),
		cmocka_unit_test(test_a_failed_assertion),
		cmocka_unit_test(test_recursion_in_both_modes),
		cmocka_unit_test(test_variables_are_where_the_client_put_them),
		cmocka_unit_test(test_maxregs),
		cmocka_unit_test(test_occupancy_by_decree),
		cmocka_unit_test(test_two_runs_are_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
