// SPDX-License-Identifier: GPL-2.0
/*
 * The workloads after Rodinia, beyond what every row has to do: they verify at sizes
 * that leave tiles, strips, warps and trees half full, whatever the paging; every bit of
 * every buffer, of scratch too, is one their verify looks at; and what some of them alone
 * offer.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "workload.h"

static const char *const names[] = {
	"backprop", "bfs", "gaussian", "hotspot", "kmeans", "nw", "pathfinder", "srad",
};

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

static void init(struct workload *w, const char *name, const char *const *options)
{
	struct err err = { "" };

	assert_non_null(workload_find(name));
	workload_init(w, workload_find(name)->ops, 5);
	workload_resize(w, WORKLOAD_TINY);
	for (; options && *options; options++)
		if (workload_set(w, *options, &err))
			fail_msg("%s: %s", name, err.text);
}

static void done(struct workload *w, int status, const char *step)
{
	if (status)
		fail_msg("%s: %s: %s", w->ops->name, step, w->err.text);
}

static void begin_and_run(struct workload *w, struct gpuemu_ctx *ctx)
{
	done(w, workload_begin(w, workload_find(w->ops->name), ctx), "begin");
	done(w, w->ops->run(w), "run");
}

static void each_verifies(void **state)
{
	static const struct {
		const char *name, *options[5], *settings;
	} cases[] = {
		{ "backprop", { "inputs=1" } },
		{ "backprop", { "inputs=15" } },
		{ "backprop", { "inputs=16" }, "paging.enabled=off\n" },
		{ "backprop", { "inputs=3000" }, "paging.vram=64K\n" },
		{ "bfs", { "nodes=1", "degree=0" } },
		{ "bfs", { "nodes=2", "degree=64" } },
		{ "bfs", { "nodes=1000", "degree=1" } },	/* few nodes are reached */
		{ "bfs", { "nodes=1000", "block=512" } },
		{ "bfs", { "nodes=9000", "degree=5" }, "paging.vram=64K\npaging.evict=random\n" },
		{ "gaussian", { "n=2", "columns=1" } },
		{ "gaussian", { "n=33", "columns=100" } },	/* all: it is solved, too */
		{ "gaussian", { "n=70", "columns=69" }, "gpu.functional=on\n" },
		{ "gaussian", { "n=33", "columns=100", "block=4" } },
		{ "gaussian", { "n=70", "columns=2", "block=32" }, "gpu.functional=on\n" },
		{ "gaussian", { "n=130", "columns=3" }, "paging.vram=64K\n" },
		{ "hotspot", { "n=1", "steps=1", "height=1" } },
		{ "hotspot", { "n=31", "steps=7", "height=7" } },
		{ "hotspot", { "n=40", "steps=4", "height=3" }, "paging.enabled=off\n" },
		{ "hotspot", { "n=90", "steps=3", "height=1" }, "paging.vram=64K\n" },
		{ "kmeans", { "points=1", "features=1", "clusters=1", "iterations=1" } },
		{ "kmeans", { "points=300", "features=255", "clusters=8", "iterations=20" } },
		{ "kmeans", { "points=700", "features=3", "clusters=500", "iterations=2" } },
		{ "kmeans", { "points=2000", "features=9", "clusters=3" }, "paging.vram=64K\n" },
		{ "nw", { "rows=1", "cols=1" } },
		{ "nw", { "rows=32", "cols=64", "penalty=0" } },
		{ "nw", { "rows=200", "cols=31" }, "paging.enabled=off\n" },
		{ "nw", { "rows=33", "cols=300" }, "paging.vram=64K\n" },
		{ "nw", { "rows=1", "cols=1", "tile=16" } },
		{ "nw", { "rows=33", "cols=100", "tile=16" } },
		{ "nw", { "rows=200", "cols=31", "tile=16" }, "paging.vram=64K\n" },
		{ "nw", { "rows=100", "cols=100", "tile=16", "diagonals=3" } },
		{ "nw", { "rows=70", "cols=100", "diagonals=9" } },	/* all */
		{ "pathfinder", { "cols=1", "rows=2", "height=1" } },
		{ "pathfinder", { "cols=255", "rows=98", "height=96" } },
		{ "pathfinder", { "cols=300", "rows=41", "height=20" }, "gpu.functional=on\n" },
		{ "pathfinder", { "cols=2000", "rows=21", "height=1" }, "paging.vram=64K\n" },
		{ "srad", { "n=1", "iterations=3" } },		/* no speckle at all */
		{ "srad", { "n=2", "iterations=2" } },
		{ "srad", { "n=32", "iterations=5" }, "gpu.functional=on\n" },
		{ "srad", { "n=65", "iterations=1" }, "paging.vram=64K\n" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct gpuemu_ctx *ctx = open_sim(cases[i].settings);
		struct workload w;

		init(&w, cases[i].name, cases[i].options);
		begin_and_run(&w, ctx);
		done(&w, w.ops->verify(&w), "verify");
		workload_end(&w);
		gpuemu_close(ctx);
	}
}

/* Any bit: an element that is wrong by its last digit is found. */
static void verify_looks_at_every_bit(void **state)
{
	for (size_t n = 0; n < ARRAY_SIZE(names); n++) {
		struct gpuemu_ctx *ctx = open_sim("gpu.functional=on\n");
		struct workload w;
		struct rng rng;

		init(&w, names[n], NULL);
		begin_and_run(&w, ctx);
		rng_seed(&rng, n);
		for (unsigned int i = 0; i < w.nbuffers; i++) {
			const struct workload_buffer *b = &w.buffers[i];

			for (unsigned int try = 0; try < 6; try++) {
				size_t at = try ? rng_below(&rng, b->bytes) : b->bytes - 1;
				unsigned char bit = (unsigned char)(1u << rng_below(&rng, 8));

				((unsigned char *)b->memory)[at] ^= bit;
				if (w.ops->verify(&w) != -EBADMSG)
					fail_msg("%s: buffer %u, byte %zu: bit 0x%x is not looked at",
						 names[n], i, at, bit);
				((unsigned char *)b->memory)[at] ^= bit;
			}
		}
		done(&w, w.ops->verify(&w), "verify");
		workload_end(&w);
		gpuemu_close(ctx);
	}
}

/* The directions that --copy goes by: something comes in, something goes out. */
static void buffers_have_directions(void **state)
{
	for (size_t n = 0; n < ARRAY_SIZE(names); n++) {
		struct gpuemu_ctx *ctx = open_sim("gpu.functional=on\n");
		unsigned int in = 0, out = 0;
		struct workload w;

		init(&w, names[n], NULL);
		begin_and_run(&w, ctx);
		for (unsigned int i = 0; i < w.nbuffers; i++) {
			enum workload_direction d = w.buffers[i].direction;

			in += d == WORKLOAD_IN || d == WORKLOAD_INOUT;
			out += d == WORKLOAD_OUT || d == WORKLOAD_INOUT;
		}
		assert_true(in > 0 && out > 0);
		workload_end(&w);
		gpuemu_close(ctx);
	}
}

/* Two of hotspot's buffers take turns: which of them comes out depends on the launches. */
static void hotspot_names_the_buffer_it_ends_in(void **state)
{
	static const struct {
		const char *steps;
		enum workload_direction first, second;
	} cases[] = {
		{ "steps=3", WORKLOAD_IN, WORKLOAD_OUT },
		{ "steps=4", WORKLOAD_INOUT, WORKLOAD_SCRATCH },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const char *options[] = { "height=1", cases[i].steps, NULL };
		struct gpuemu_ctx *ctx = open_sim("gpu.functional=on\n");
		struct workload w;

		init(&w, "hotspot", options);
		begin_and_run(&w, ctx);
		assert_int_equal(w.buffers[1].direction, cases[i].first);
		assert_int_equal(w.buffers[2].direction, cases[i].second);
		workload_end(&w);
		gpuemu_close(ctx);
	}
}

static void kmeans_says_what_does_not_fit(void **state)
{
	static const struct {
		const char *options[4], *says;
	} cases[] = {
		{ { "features=256", "clusters=8" }, "2056" },
		{ { "points=4", "clusters=5" }, "4 points for 5 clusters" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct gpuemu_ctx *ctx = open_sim(NULL);
		struct workload w;

		init(&w, "kmeans", cases[i].options);
		assert_int_equal(workload_begin(&w, workload_find("kmeans"), ctx), -EINVAL);
		if (!strstr(w.err.text, cases[i].says))
			fail_msg("\"%s\" does not say \"%s\"", w.err.text, cases[i].says);
		gpuemu_close(ctx);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_verifies),
		cmocka_unit_test(verify_looks_at_every_bit),
		cmocka_unit_test(buffers_have_directions),
		cmocka_unit_test(hotspot_names_the_buffer_it_ends_in),
		cmocka_unit_test(kmeans_says_what_does_not_fit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
