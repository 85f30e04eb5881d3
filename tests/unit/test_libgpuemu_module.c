// SPDX-License-Identifier: GPL-2.0
/*
 * What a program sees of a module on the sim backend: its kernels and their
 * attributes, its variables, what its kernels print, and how they end.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "gpuemu.h"

/*
 * count: total += step for each thread, through a function. say: prints "n=TID\n" in thread 0 of
 * each CTA and fails an assertion when the argument is 1, traps when it is 2.
 */
static const char ptx[] =
	".version 6.0\n.target sm_60\n.address_size 64\n"
	".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n"
	".extern .func __assertfail(.param .b64 m, .param .b64 f, .param .b32 l, .param .b64 n, .param .b64 c);\n"
	".visible .global .align 4 .u32 step = 3;\n"
	".visible .global .align 8 .u64 total;\n"
	".visible .global .align 16 .b8 table[48] = {1, 2, 3};\n"
	".global .align 1 .b8 fmt[6] = {110, 61, 37, 100, 10, 0};\n"
	".global .align 1 .b8 msg[4] = {110, 62, 48, 0};\n"
	".func (.param .b32 r) twice(.param .b32 a)\n{\n.reg .b32 %x<3>;\n"
	"ld.param.u32 %x1, [a];\nadd.s32 %x2, %x1, %x1;\nst.param.b32 [r], %x2;\nret;\n}\n"
	".visible .entry count()\n{\n.reg .b32 %r<4>;\n.reg .b64 %rd<4>;\n"
	"ld.global.u32 %r1, [step];\n"
	"{\n.param .b32 p0;\nst.param.b32 [p0], %r1;\n.param .b32 q0;\n"
	"call.uni (q0), twice, (p0);\nld.param.b32 %r2, [q0];\n}\n"
	"cvt.u64.u32 %rd1, %r2;\nred.global.add.u64 [total], %rd1;\nret;\n}\n"
	".visible .entry say(.param .u32 how)\n{\n"
	".local .align 8 .b8 frame[8];\n.reg .pred %p<4>;\n.reg .b32 %r<8>;\n.reg .b64 %rd<8>;\n"
	"mov.u32 %r1, %tid.x;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra OUT;\n"
	"mov.u32 %r2, %ctaid.x;\nst.local.u32 [frame], %r2;\n"
	"mov.u64 %rd1, frame;\ncvta.local.u64 %rd2, %rd1;\nmov.u64 %rd3, fmt;\ncvta.global.u64 %rd4, %rd3;\n"
	"{\n.param .b64 p0;\nst.param.b64 [p0], %rd4;\n.param .b64 p1;\nst.param.b64 [p1], %rd2;\n"
	".param .b32 r0;\ncall.uni (r0), vprintf, (p0, p1);\nld.param.b32 %r3, [r0];\n}\n"
	"ld.param.u32 %r4, [how];\nsetp.eq.u32 %p2, %r4, 2;\n@%p2 trap;\n"
	"setp.ne.u32 %p3, %r4, 1;\n@%p3 bra OUT;\n"
	"mov.u64 %rd5, msg;\ncvta.global.u64 %rd6, %rd5;\n"
	"{\n.param .b64 p0;\nst.param.b64 [p0], %rd6;\n.param .b64 p1;\nst.param.b64 [p1], %rd6;\n"
	".param .b32 p2;\nst.param.b32 [p2], 9;\n.param .b64 p3;\nst.param.b64 [p3], %rd6;\n"
	".param .b64 p4;\nst.param.b64 [p4], 1;\ncall.uni __assertfail, (p0, p1, p2, p3, p4);\n}\n"
	"OUT:\nret;\n}\n"
	/* read: total = weights[1] * 1000 + offset, from constant memory */
	".visible .const .align 8 .u32 weights[3] = {1, 2, 3};\n.const .align 8 .u64 offset;\n"
	".visible .entry read()\n{\n.reg .b32 %r<2>;\n.reg .b64 %rd<4>;\n"
	"ld.const.u32 %r1, [weights+4];\nmul.wide.u32 %rd1, %r1, 1000;\nld.const.u64 %rd2, [offset];\n"
	"add.s64 %rd3, %rd1, %rd2;\nst.global.u64 [total], %rd3;\nret;\n}\n";

struct fixture {
	struct gpuemu_ctx *ctx;
	struct gpuemu_module *module;
	char heard[4096];
};

#define OK(ctx, call) do { \
	int ok_ret = (call); \
	if (ok_ret) \
		fail_msg("%s: %d: %s", #call, ok_ret, gpuemu_last_error(ctx)); \
} while (0)

static void expect_error(struct gpuemu_ctx *ctx, int got, int want, const char *text)
{
	if (got != want)
		fail_msg("%d (%s), not %d", got, gpuemu_last_error(ctx), want);
	if (!strstr(gpuemu_last_error(ctx), text))
		fail_msg("'%s' does not say '%s'", gpuemu_last_error(ctx), text);
}

static void hear(void *arg, const char *text, size_t bytes)
{
	struct fixture *f = arg;

	assert_true(strlen(f->heard) + bytes < sizeof(f->heard));
	strncat(f->heard, text, bytes);
}

static struct fixture *make(const char *settings)
{
	const struct gpuemu_options options = {
		.size = sizeof(options), .backend = "sim", .settings = settings,
	};
	struct fixture *f = calloc(1, sizeof(*f));

	OK(NULL, gpuemu_open(&f->ctx, &options));
	OK(f->ctx, gpuemu_module_load_data(f->ctx, &f->module, ptx, strlen(ptx), "test.ptx"));
	OK(f->ctx, gpuemu_set_printf(f->ctx, hear, f));
	return f;
}

static int setup(void **state)
{
	*state = make("gpu.sms=2\n");
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	gpuemu_close(f->ctx);
	free(f);
	return 0;
}

static int run(struct fixture *f, const char *kernel, unsigned int ctas, unsigned int threads,
	       uint32_t how)
{
	struct gpuemu_arg arg = gpuemu_arg_u32(how);
	struct gpuemu_function *function;

	OK(f->ctx, gpuemu_module_get_function(f->module, &function, kernel));
	OK(f->ctx, gpuemu_launch(function, (struct gpuemu_dim3){ ctas, 1, 1 },
				 (struct gpuemu_dim3){ threads, 1, 1 }, 0, NULL, &arg,
				 strcmp(kernel, "say") == 0));
	return gpuemu_synchronize(f->ctx);
}

static void test_kernels(void **state)
{
	struct gpuemu_function_attributes a = { .size = sizeof(a) }, small = { 0 };
	struct fixture *f = *state;
	struct gpuemu_function *by_number, *by_name;

	OK(f->ctx, gpuemu_module_function_at(f->module, &by_number, 1));
	assert_string_equal(gpuemu_function_name(by_number), "say");
	OK(f->ctx, gpuemu_module_get_function(f->module, &by_name, "say"));
	assert_ptr_equal(by_number, by_name);
	expect_error(f->ctx, gpuemu_module_function_at(f->module, &by_number, 3), -ENOENT,
		     "no kernel number 3");
	assert_null(by_number);

	assert_int_equal(gpuemu_function_get_attributes(by_name, &a), 0);
	assert_in_range(a.regs, 6, 16);
	assert_int_equal(a.param_bytes, 4);
	assert_int_equal(a.nparams, 1);
	assert_int_equal(a.max_threads, 1024);
	assert_true(a.local_bytes >= 8);
	assert_in_range(a.instructions, 20, 60);
	/* A program built when there was less. */
	small.size = offsetof(struct gpuemu_function_attributes, preds);
	small.preds = 77;
	assert_int_equal(gpuemu_function_get_attributes(by_name, &small), 0);
	assert_int_equal(small.regs, a.regs);
	assert_int_equal(small.preds, 77);
	a.size = sizeof(a) + 8;
	assert_int_equal(gpuemu_function_get_attributes(by_name, &a), -EINVAL);
	a.size = 4;
	assert_int_equal(gpuemu_function_get_attributes(by_name, &a), -EINVAL);
}

static void check_variables(struct fixture *f)
{
	uint32_t *step;
	uint64_t *total;
	uint8_t *table;
	size_t bytes;
	void *p;

	OK(f->ctx, gpuemu_module_get_global(f->module, &p, &bytes, "step"));
	step = p;
	assert_int_equal(bytes, 4);
	assert_int_equal(*step, 3);
	OK(f->ctx, gpuemu_module_get_global(f->module, &p, NULL, "total"));
	total = p;
	assert_int_equal(*total, 0);
	OK(f->ctx, gpuemu_module_get_global(f->module, &p, &bytes, "table"));
	table = p;
	assert_int_equal(bytes, 48);
	assert_int_equal((uintptr_t)table % 16, 0);
	assert_memory_equal(table, "\1\2\3\0\0\0", 6);
	OK(f->ctx, run(f, "count", 3, 50, 0));
	assert_int_equal(*total, 3 * 50 * 6);
	/* The program's store is the kernel's load. */
	*step = 10;
	OK(f->ctx, run(f, "count", 1, 7, 0));
	assert_int_equal(*total, 3 * 50 * 6 + 7 * 20);
	OK(f->ctx, gpuemu_module_get_global(f->module, NULL, &bytes, "total"));
	assert_int_equal(bytes, 8);
}

static void test_variables(void **state)
{
	struct fixture *f = *state, *g;
	struct gpuemu_module *again;
	void *p, *q;

	check_variables(f);
	expect_error(f->ctx, gpuemu_module_get_global(f->module, &p, NULL, "nothing"), -ENOENT,
		     "no .global variable 'nothing': there are step, total, table");
	assert_null(p);
	/* The segment is the module's. */
	OK(f->ctx, gpuemu_module_get_global(f->module, &p, NULL, "step"));
	assert_int_equal(gpuemu_mem_free(f->ctx, p), -EINVAL);
	/* The same text once more has variables of its own; and goes with its module. */
	OK(f->ctx, gpuemu_module_load_data(f->ctx, &again, ptx, strlen(ptx), "again.ptx"));
	OK(f->ctx, gpuemu_module_get_global(again, &q, NULL, "step"));
	assert_ptr_not_equal(p, q);
	assert_int_equal(*(uint32_t *)q, 3);
	assert_int_equal(*(uint32_t *)p, 10);
	OK(f->ctx, gpuemu_module_unload(again));
	OK(f->ctx, gpuemu_module_load_data(f->ctx, &again, ptx, strlen(ptx), "again.ptx"));
	OK(f->ctx, gpuemu_module_get_global(again, &p, NULL, "step"));
	assert_ptr_equal(p, q);
	/* Without time as well. */
	g = make("gpu.functional=1\n");
	check_variables(g);
	gpuemu_close(g->ctx);
	free(g);
}

static void test_a_module_without_variables(void **state)
{
	static const char none[] = ".version 6.0\n.target sm_60\n.address_size 64\n"
		".visible .entry k()\n{\nret;\n}\n";
	struct fixture *f = *state;
	struct gpuemu_module *m;
	void *p;

	OK(f->ctx, gpuemu_module_load_data(f->ctx, &m, none, strlen(none), "none.ptx"));
	expect_error(f->ctx, gpuemu_module_get_global(m, &p, NULL, "x"), -ENOENT, "it has none");
}

static void test_printf(void **state)
{
	struct fixture *f = *state, *g;

	OK(f->ctx, run(f, "say", 1, 64, 0));
	assert_string_equal(f->heard, "n=0\n");
	f->heard[0] = '\0';
	OK(f->ctx, run(f, "say", 1, 1, 0));
	OK(f->ctx, run(f, "say", 2, 1, 0));
	assert_true(!strcmp(f->heard, "n=0\nn=0\nn=1\n") || !strcmp(f->heard, "n=0\nn=1\nn=0\n"));
	g = make("gpu.functional=on\n");
	OK(g->ctx, run(g, "say", 4, 33, 0));
	assert_string_equal(g->heard, "n=0\nn=1\nn=2\nn=3\n");
	gpuemu_close(g->ctx);
	free(g);
}

/* To where the program's own output goes, in the order of the two. */
static void test_printf_to_stdout(void **state)
{
	char path[] = "/tmp/gpuemu-test-XXXXXX", text[64] = "";
	int fd = mkstemp(path), old = dup(1);
	struct fixture *f = *state;

	assert_true(fd >= 0 && old >= 0);
	fflush(stdout);
	dup2(fd, 1);
	OK(f->ctx, gpuemu_set_printf(f->ctx, NULL, NULL));
	printf("before\n");
	OK(f->ctx, run(f, "say", 1, 1, 0));
	printf("after\n");
	fflush(stdout);
	dup2(old, 1);
	close(old);
	assert_true(pread(fd, text, sizeof(text) - 1, 0) > 0);
	close(fd);
	unlink(path);
	assert_string_equal(text, "before\nn=0\nafter\n");
	assert_string_equal(f->heard, "");
}

static void test_kernels_that_end_themselves(void **state)
{
	struct fixture *f = *state;

	expect_error(f->ctx, run(f, "say", 1, 1, 1), -ECANCELED,
		     "n>0:9: n>0: block: [0,0,0], thread: [0,0,0] Assertion `n>0` failed.");
	assert_string_equal(f->heard, "n=0\nn>0:9: n>0: block: [0,0,0], thread: [0,0,0] "
			    "Assertion `n>0` failed.\n");
	expect_error(f->ctx, run(f, "say", 1, 1, 2), -ECANCELED, "trap");
	assert_string_equal(gpuemu_strerror(-ECANCELED), "the kernel ended itself");
	/* And on it goes. */
	f->heard[0] = '\0';
	OK(f->ctx, run(f, "say", 1, 1, 0));
	assert_string_equal(f->heard, "n=0\n");
}

static void test_compiler_options(void **state)
{
	struct gpuemu_function_attributes a = { .size = sizeof(a) };
	struct fixture *f = *state;
	struct gpuemu_function *function;
	struct gpuemu_module *m;
	char text[4096];
	size_t at;

	at = (size_t)snprintf(text, sizeof(text), ".version 6.0\n.target sm_60\n.address_size 64\n"
		".visible .entry wide(.param .u64 p)\n{\n.reg .b32 %%r<41>;\n.reg .b64 %%rd<2>;\n"
		"ld.param.u64 %%rd1, [p];\n");
	for (unsigned int i = 0; i < 40; i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at,
				       "ld.volatile.global.u32 %%r%u, [%%rd1+%u];\n", i, 4 * i);
	for (unsigned int i = 1; i < 40; i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at,
				       "xor.b32 %%r0, %%r0, %%r%u;\n", i);
	snprintf(text + at, sizeof(text) - at, "st.global.u32 [%%rd1], %%r0;\nret;\n}\n");
	for (unsigned int max = 16; max <= 64; max += 48) {
		char setting[64];

		snprintf(setting, sizeof(setting), "compiler.maxregs=%u\n", max);
		OK(f->ctx, gpuemu_configure(f->ctx, setting));
		OK(f->ctx, gpuemu_module_load_data(f->ctx, &m, text, strlen(text), "wide.ptx"));
		OK(f->ctx, gpuemu_module_get_function(m, &function, "wide"));
		assert_int_equal(gpuemu_function_get_attributes(function, &a), 0);
		assert_true(a.regs <= max);
		assert_true(a.max_live >= 40);
		assert_int_equal(a.spill_store_bytes > 0, max == 16);
		assert_int_equal(a.local_bytes > 0, max == 16);
	}
	expect_error(f->ctx, gpuemu_configure(f->ctx, "compiler.maxregs=8\n"), -EINVAL,
		     "compiler.maxregs");
}

static uint64_t run_read(struct fixture *f)
{
	const struct gpuemu_dim3 one = { 1, 1, 1 };
	struct gpuemu_function *function;
	void *total;

	OK(f->ctx, gpuemu_module_get_function(f->module, &function, "read"));
	OK(f->ctx, gpuemu_launch(function, one, one, 0, NULL, NULL, 0));
	OK(f->ctx, gpuemu_synchronize(f->ctx));
	OK(f->ctx, gpuemu_module_get_global(f->module, &total, NULL, "total"));
	return *(uint64_t *)total;
}

/* Kernels read what the host wrote, from the next launch on; what was not written stays. */
static void constants_are_written(void **state)
{
	struct fixture *f = *state;
	uint64_t offset = 7, address, other;
	uint32_t two = 40, back[3];
	size_t bytes;

	assert_int_equal(run_read(f), 2000);
	OK(f->ctx, gpuemu_module_write_constant(f->module, "offset", 0, &offset, sizeof(offset)));
	assert_int_equal(run_read(f), 2007);
	OK(f->ctx, gpuemu_module_write_constant(f->module, "weights", 4, &two, sizeof(two)));
	assert_int_equal(run_read(f), 40007);
	OK(f->ctx, gpuemu_module_read_constant(f->module, "weights", 0, back, sizeof(back)));
	assert_int_equal(back[0], 1);
	assert_int_equal(back[1], 40);
	assert_int_equal(back[2], 3);
	OK(f->ctx, gpuemu_module_get_constant(f->module, &address, &bytes, "weights"));
	assert_int_equal(bytes, 12);
	OK(f->ctx, gpuemu_module_get_constant(f->module, &other, NULL, "offset"));
	assert_int_equal(other - address, 16);
	expect_error(f->ctx, gpuemu_module_write_constant(f->module, "weights", 8, back, 8), -EINVAL,
		     "8 bytes at 8 of 'weights', which has 12");
	expect_error(f->ctx, gpuemu_module_read_constant(f->module, "total", 0, back, 4), -ENOENT,
		     "no .const variable 'total'");
}

static void settings_are_told(void **state)
{
	struct fixture *f = *state;
	char text[32];

	OK(f->ctx, gpuemu_get_setting(f->ctx, "sm.warps", text, sizeof(text)));
	assert_string_equal(text, "48");
	OK(f->ctx, gpuemu_configure(f->ctx, "gpu.sms=3\n"));
	OK(f->ctx, gpuemu_get_setting(f->ctx, "gpu.sms", text, sizeof(text)));
	assert_string_equal(text, "3");
	expect_error(f->ctx, gpuemu_get_setting(f->ctx, "gpu.sm", text, sizeof(text)), -ENOENT,
		     "unknown option 'gpu.sm'");
	expect_error(f->ctx, gpuemu_get_setting(f->ctx, "sm.warps", text, 2), -ERANGE, "takes 3 bytes");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_kernels),
		TEST(test_variables),
		TEST(test_a_module_without_variables),
		TEST(test_printf),
		TEST(test_printf_to_stdout),
		TEST(test_kernels_that_end_themselves),
		TEST(test_compiler_options),
		TEST(constants_are_written),
		TEST(settings_are_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
