/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tests of the library on the sim backend (test_libgpuemu_api.c, test_libgpuemu_streams.c): a
 * context, two kernels, and errors with their sentences.
 */
#ifndef GPUEMU_TESTS_LIBGPUEMU_BENCH_H
#define GPUEMU_TESTS_LIBGPUEMU_BENCH_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gpuemu.h"

#define N	5000u

/* c[i] = a[i] + b[i], as clang writes it; and one that stores to any address. */
static const char ptx[] =
	".version 3.2\n"
	".target sm_35\n"
	".address_size 64\n"
	".visible .entry vecadd(\n"
	"	.param .u64 vecadd_param_0,\n"
	"	.param .u64 vecadd_param_1,\n"
	"	.param .u64 vecadd_param_2,\n"
	"	.param .u32 vecadd_param_3\n"
	")\n"
	"{\n"
	"	.reg .pred %p<2>;\n"
	"	.reg .b32 %r<6>;\n"
	"	.reg .f32 %f<4>;\n"
	"	.reg .b64 %rd<11>;\n"
	"	ld.param.u32 %r1, [vecadd_param_3];\n"
	"	mov.u32 %r2, %ctaid.x;\n"
	"	mov.u32 %r3, %ntid.x;\n"
	"	mov.u32 %r4, %tid.x;\n"
	"	mad.lo.s32 %r5, %r2, %r3, %r4;\n"
	"	setp.ge.u32 %p1, %r5, %r1;\n"
	"	@%p1 bra LBB0_2;\n"
	"	ld.param.u64 %rd4, [vecadd_param_0];\n"
	"	ld.param.u64 %rd5, [vecadd_param_2];\n"
	"	cvta.to.global.u64 %rd6, %rd5;\n"
	"	ld.param.u64 %rd7, [vecadd_param_1];\n"
	"	cvta.to.global.u64 %rd8, %rd7;\n"
	"	cvta.to.global.u64 %rd9, %rd4;\n"
	"	mul.wide.u32 %rd10, %r5, 4;\n"
	"	add.s64 %rd1, %rd6, %rd10;\n"
	"	add.s64 %rd2, %rd8, %rd10;\n"
	"	add.s64 %rd3, %rd9, %rd10;\n"
	"	ld.global.f32 %f1, [%rd3];\n"
	"	ld.global.f32 %f2, [%rd2];\n"
	"	add.f32 %f3, %f1, %f2;\n"
	"	st.global.f32 [%rd1], %f3;\n"
	"LBB0_2:\n"
	"	ret;\n"
	"}\n"
	".visible .entry poke(\n"
	"	.param .u64 poke_param_0,\n"
	"	.param .u32 poke_param_1\n"
	")\n"
	".maxntid 32, 1, 1\n"
	"{\n"
	"	.reg .b32 %r<2>;\n"
	"	.reg .b64 %rd<3>;\n"
	"	ld.param.u64 %rd1, [poke_param_0];\n"
	"	ld.param.u32 %r1, [poke_param_1];\n"
	"	cvta.to.global.u64 %rd2, %rd1;\n"
	"	st.global.u32 [%rd2], %r1;\n"
	"	ret;\n"
	"}\n";

struct fixture {
	struct gpuemu_ctx *ctx;
	struct gpuemu_module *module;
	struct gpuemu_function *vecadd, *poke;
	float *a, *b, *c;
};

static const struct gpuemu_dim3 one = { 1, 1, 1 };
static const struct gpuemu_dim3 block = { 128, 1, 1 };
static const struct gpuemu_dim3 grid = { (N + 127) / 128, 1, 1 };

#define OK(ctx, call) do { \
	int ok_ret = (call); \
	if (ok_ret) \
		fail_msg("%s: %d: %s", #call, ok_ret, gpuemu_last_error(ctx)); \
} while (0)

static inline void expect_error(struct gpuemu_ctx *ctx, int got, int want, const char *text)
{
	if (got != want)
		fail_msg("%d (%s), not %d", got, gpuemu_last_error(ctx), want);
	if (!strstr(gpuemu_last_error(ctx), text))
		fail_msg("'%s' does not say '%s'", gpuemu_last_error(ctx), text);
}

static inline struct gpuemu_ctx *open_sim(const char *settings)
{
	const struct gpuemu_options options = {
		.size = sizeof(options), .backend = "sim", .settings = settings,
	};
	struct gpuemu_ctx *ctx;

	OK(NULL, gpuemu_open(&ctx, &options));
	return ctx;
}

static inline float *floats(struct gpuemu_ctx *ctx)
{
	void *p;

	OK(ctx, gpuemu_mem_alloc_managed(ctx, &p, N * sizeof(float)));
	return p;
}

static inline int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	f->ctx = open_sim("gpu.sms=2\n");
	OK(f->ctx, gpuemu_module_load_data(f->ctx, &f->module, ptx, strlen(ptx), "test.ptx"));
	OK(f->ctx, gpuemu_module_get_function(f->module, &f->vecadd, "vecadd"));
	OK(f->ctx, gpuemu_module_get_function(f->module, &f->poke, "poke"));
	f->a = floats(f->ctx);
	f->b = floats(f->ctx);
	f->c = floats(f->ctx);
	for (unsigned int i = 0; i < N; i++) {
		f->a[i] = (float)i;
		f->b[i] = (float)i / 2;
	}
	*state = f;
	return 0;
}

static inline int teardown(void **state)
{
	struct fixture *f = *state;

	gpuemu_close(f->ctx);
	free(f);
	return 0;
}

static inline int launch_vecadd(struct fixture *f, struct gpuemu_stream *stream)
{
	const struct gpuemu_arg args[] = {
		gpuemu_arg_ptr(f->a), gpuemu_arg_ptr(f->b), gpuemu_arg_ptr(f->c),
		gpuemu_arg_u32(N),
	};

	return gpuemu_launch(f->vecadd, grid, block, 0, stream, args, 4);
}

static inline void check_sum(const struct fixture *f)
{
	for (unsigned int i = 0; i < N; i++)
		assert_float_equal(f->c[i], f->a[i] + f->b[i], 0);
}

static inline int launch_poke(struct fixture *f, const void *where, uint32_t value)
{
	const struct gpuemu_arg args[] = { gpuemu_arg_ptr(where), gpuemu_arg_u32(value) };

	return gpuemu_launch(f->poke, one, one, 0, NULL, args, 2);
}

#define TEST(name)	cmocka_unit_test_setup_teardown(name, setup, teardown)

#endif
