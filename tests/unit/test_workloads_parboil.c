// SPDX-License-Identifier: GPL-2.0
/*
 * The workloads after Parboil, the DoE proxies and STREAM, at the sizes where such kernels
 * break: one element, one less and one more than a warp, a CTA, a tile, a page.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "workload.h"

static struct gpuemu_ctx *open_sim(const char *settings)
{
	struct gpuemu_options o = {
		.size = sizeof(o), .backend = "sim", .settings = settings,
	};
	struct gpuemu_ctx *ctx;

	if (gpuemu_open(&ctx, &o))
		fail_msg("%s", gpuemu_last_error(NULL));
	return ctx;
}

/* Begins a workload with "key=value key=value". */
static struct gpuemu_ctx *begin(struct workload *w, const char *name, const char *options,
				const char *settings)
{
	const struct workload_row *row = workload_find(name);
	struct gpuemu_ctx *ctx = open_sim(settings);
	char text[128], *rest = text, *option;
	struct err err;

	workload_init(w, row->ops, 5);
	snprintf(text, sizeof(text), "%s", options);
	while ((option = strsep(&rest, " ")))
		if (workload_set(w, option, &err))
			fail_msg("%s: %s", name, err.text);
	if (workload_begin(w, row, ctx))
		fail_msg("%s %s: %s", name, options, w->err.text);
	return ctx;
}

static void awkward_sizes_verify(void **state)
{
	static const struct {
		const char *name, *options, *settings;
	} cases[] = {
		{ "triad", "n=1" },
		{ "triad", "n=1025 block=1", "gpu.functional=on\n" },
		{ "triad", "n=4097 block=1024" },
		{ "sgemm", "m=1 n=1 k=1" },
		{ "sgemm", "m=129 n=17 k=9", "paging.vram=16K\n" },
		{ "sgemm", "m=127 n=15 k=8", "paging.enabled=off\n" },
		{ "sgemm", "m=3 n=40 k=33" },
		{ "stencil", "nx=1 ny=1 nz=1 iterations=1" },
		{ "stencil", "nx=5 ny=4 nz=2 iterations=2" },
		{ "stencil", "nx=3 ny=3 nz=3 iterations=2" },
		{ "stencil", "nx=33 ny=9 nz=5 iterations=3", "paging.vram=16K\n" },
		{ "stencil", "nx=65 ny=1 nz=9 iterations=1", "paging.enabled=off\n" },
		{ "spmv", "rows=1 entries=1 products=1" },
		{ "spmv", "rows=2 entries=64 products=1" },
		{ "spmv", "rows=193 entries=3 products=2", "paging.vram=16K\n" },
		{ "spmv", "rows=191 entries=20 products=1", "paging.enabled=off\n" },
		{ "histo", "n=1 bins=1 ctas=1" },
		{ "histo", "n=257 bins=4096 ctas=3", "paging.vram=16K\n" },
		{ "histo", "n=5000 bins=33 ctas=1", "paging.enabled=off\n" },
		{ "lbm", "nx=1 ny=1 nz=1 steps=1" },
		{ "lbm", "nx=129 ny=1 nz=2 steps=1", "paging.vram=256K\n" },
		{ "lbm", "nx=3 ny=4 nz=5 steps=2", "paging.enabled=off\n" },
		{ "xsbench", "nuclides=1 points=2 lookups=1" },
		{ "xsbench", "nuclides=2 points=3 lookups=129", "paging.vram=256K\n" },
		{ "xsbench", "nuclides=33 points=17 lookups=31", "paging.enabled=off\n" },
		{ "cg", "edge=2 steps=1" },
		{ "cg", "edge=5 steps=3", "paging.vram=16K\n" },
		{ "cg", "edge=7 steps=1", "paging.enabled=off\n" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct workload w;
		struct gpuemu_ctx *ctx = begin(&w, cases[i].name, cases[i].options,
					       cases[i].settings);

		if (w.ops->run(&w) || w.ops->verify(&w))
			fail_msg("%s %s: %s", cases[i].name, cases[i].options, w.err.text);
		workload_end(&w);
		gpuemu_close(ctx);
	}
}

/* Every byte of every result: the last element counts as much as the first. */
static void every_result_counts(void **state)
{
	static const char *const cases[][2] = {
		{ "triad", "n=33" },
		{ "sgemm", "m=5 n=3 k=2" },
		{ "stencil", "nx=4 ny=3 nz=3 iterations=1" },
		{ "spmv", "rows=9 entries=2 products=1" },
		{ "histo", "n=100 bins=40 ctas=1" },
		{ "lbm", "nx=2 ny=2 nz=1 steps=1" },
		{ "xsbench", "nuclides=2 points=3 lookups=3" },
		{ "cg", "edge=2 steps=1" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct workload w;
		struct gpuemu_ctx *ctx = begin(&w, cases[i][0], cases[i][1],
					       "gpu.functional=on\n");

		assert_int_equal(w.ops->run(&w), 0);
		assert_int_equal(w.ops->verify(&w), 0);
		for (unsigned int b = 0; b < w.nbuffers; b++) {
			unsigned char *bytes = w.buffers[b].memory;
			bool result = w.buffers[b].direction == WORKLOAD_OUT ||
				      w.buffers[b].direction == WORKLOAD_INOUT;

			/* Of cg's three scalars the first is the result. */
			for (size_t j = 0; result && j < MIN(w.buffers[b].bytes, 400u); j++) {
				if (!strcmp(cases[i][0], "cg") && b == w.nbuffers - 1 && j >= 8)
					break;
				bytes[j] ^= 1;
				if (w.ops->verify(&w) != -EBADMSG)
					fail_msg("%s: byte %zu of buffer %u is not verified",
						 cases[i][0], j, b);
				bytes[j] ^= 1;
			}
		}
		workload_end(&w);
		gpuemu_close(ctx);
	}
}

/* Another seed is another input: its results are not this one's. */
static void seeds_differ(void **state)
{
	static const char *const names[] = {
		"triad", "sgemm", "stencil", "spmv", "histo", "lbm", "xsbench", "cg",
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct workload w;
		struct gpuemu_ctx *ctx = begin(&w, names[i], "size=tiny", "gpu.functional=on\n");

		assert_int_equal(w.ops->run(&w), 0);
		w.seed++;
		assert_int_equal(w.ops->verify(&w), -EBADMSG);
		workload_end(&w);
		gpuemu_close(ctx);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(awkward_sizes_verify),
		cmocka_unit_test(every_result_counts),
		cmocka_unit_test(seeds_differ),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
