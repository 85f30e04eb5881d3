/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The frame of a test of a group of workloads: runs at sizes where kernels break (one element, one
 * less and one more than a warp, a CTA, a tile, a page), a wrong byte in every place of a result,
 * and another input for another seed. A file lists its cases and calls run_group().
 */
#ifndef GPUEMU_TESTS_WORKLOADS_BENCH_H
#define GPUEMU_TESTS_WORKLOADS_BENCH_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "workload.h"

struct workload_case {
	const char *name, *options;	/* "key=value key=value" */
	const char *settings;		/* of the GPU; NULL: as it is */
	size_t result;			/* bytes that count of the last buffer; 0: all */
};

static inline struct gpuemu_ctx *open_sim(const char *settings)
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
static inline struct gpuemu_ctx *begin(struct workload *w, const char *name, const char *options,
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

/* Runs and verifies one case. */
static inline void verify_case(const struct workload_case *c)
{
	struct workload w;
	struct gpuemu_ctx *ctx = begin(&w, c->name, c->options, c->settings);

	if (w.ops->run(&w) || w.ops->verify(&w))
		fail_msg("%s %s: %s", c->name, c->options, w.err.text);
	workload_end(&w);
	gpuemu_close(ctx);
}

/* Every byte of every result: the last element counts as much as the first. */
static inline void every_byte_counts(const struct workload_case *c)
{
	struct workload w;
	struct gpuemu_ctx *ctx = begin(&w, c->name, c->options, "gpu.functional=on\n");

	assert_int_equal(w.ops->run(&w), 0);
	assert_int_equal(w.ops->verify(&w), 0);
	for (unsigned int b = 0; b < w.nbuffers; b++) {
		unsigned char *bytes = w.buffers[b].memory;
		bool result = w.buffers[b].direction == WORKLOAD_OUT ||
			      w.buffers[b].direction == WORKLOAD_INOUT;

		for (size_t j = 0; result && j < MIN(w.buffers[b].bytes, 400u); j++) {
			if (c->result && b == w.nbuffers - 1 && j >= c->result)
				break;
			bytes[j] ^= 1;
			if (w.ops->verify(&w) != -EBADMSG)
				fail_msg("%s: byte %zu of buffer %u is not verified", c->name, j, b);
			bytes[j] ^= 1;
		}
	}
	workload_end(&w);
	gpuemu_close(ctx);
}

/* Another seed is another input: its results are not this one's. */
static inline void seed_counts(const char *name)
{
	struct workload w;
	struct gpuemu_ctx *ctx = begin(&w, name, "size=tiny", "gpu.functional=on\n");

	assert_int_equal(w.ops->run(&w), 0);
	w.seed++;
	if (w.ops->verify(&w) != -EBADMSG)
		fail_msg("%s: another seed's results are the same", name);
	workload_end(&w);
	gpuemu_close(ctx);
}

/* A group of workloads; each list has an end, NULL or a case without a name. */
struct workload_group {
	const struct workload_case *sizes, *results;
	const char *const *seeds;
};

static inline void awkward_sizes_verify(void **state)
{
	const struct workload_group *g = *state;

	for (const struct workload_case *c = g->sizes; c->name; c++)
		verify_case(c);
}

static inline void every_result_counts(void **state)
{
	const struct workload_group *g = *state;

	for (const struct workload_case *c = g->results; c->name; c++)
		every_byte_counts(c);
}

static inline void seeds_differ(void **state)
{
	const struct workload_group *g = *state;

	for (const char *const *name = g->seeds; *name; name++)
		seed_counts(*name);
}

static inline int run_group(const struct workload_group *g)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_prestate(awkward_sizes_verify, (void *)g),
		cmocka_unit_test_prestate(every_result_counts, (void *)g),
		cmocka_unit_test_prestate(seeds_differ, (void *)g),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
