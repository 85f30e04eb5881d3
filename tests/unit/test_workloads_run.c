// SPDX-License-Identifier: GPL-2.0
/*
 * The contract of every row of workloads.def, at its tiny size: it runs and
 * verifies on backend sim with and without time and paging and with a fraction of
 * the memory, and its verify finds a kernel that did not run and a single wrong
 * bit in any buffer but those of scratch.
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

/* The size that tests can afford, whatever the workload. */
static void init_tiny(struct workload *w, const struct workload_row *row, uint64_t seed)
{
	workload_init(w, row->ops, seed);
	workload_resize(w, WORKLOAD_TINY);
}

static void begin(struct workload *w, const struct workload_row *row,
		  struct gpuemu_ctx *ctx)
{
	if (workload_begin(w, row, ctx))
		fail_msg("%s: %s", row->ops->name, w->err.text);
}

static void run(struct workload *w)
{
	if (w->ops->run(w))
		fail_msg("%s: %s", w->ops->name, w->err.text);
}

static void verified(struct workload *w)
{
	if (w->ops->verify(w))
		fail_msg("%s: %s", w->ops->name, w->err.text);
}

static void rows_are_complete(void **state)
{
	const struct workload_row *row;
	unsigned int n;

	for (n = 0; (row = workload_row(n)); n++) {
		const struct workload_ops *ops = row->ops;
		struct workload w;

		assert_ptr_equal(workload_find(ops->name), row);
		assert_true(ops->help && *ops->help);
		assert_true(ops->exercises && *ops->exercises);
		assert_true(ops->setup && ops->run && ops->verify);
		assert_true(row->ptx_end > row->ptx);
		workload_init(&w, ops, 1);
		for (unsigned int i = 0; i < WORKLOAD_OPTIONS && ops->options[i].key; i++) {
			const struct workload_option *o = &ops->options[i];

			assert_true(o->doc && *o->doc);
			assert_in_range(o->def, o->min, o->max);
			assert_int_equal(w.option[i], o->def);
			if (o->quick)
				assert_in_range(o->quick, o->min, o->max);
			if (o->tiny)
				assert_in_range(o->tiny, o->min, o->max);
			assert_in_range(workload_option_at(ops, i, WORKLOAD_LARGE), o->min, o->max);
			assert_true(workload_option_at(ops, i, WORKLOAD_LARGE) >= o->def);
		}
	}
	assert_true(n >= 4);
	assert_null(workload_find("no such workload"));
}

static void each_verifies(void **state)
{
	/* Sizes around a warp, a CTA and a page; and VRAM smaller than the footprint. */
	static const struct {
		const char *name, *options[3], *settings;
	} cases[] = {
		{ "vecadd", { "n=1" } },
		{ "vecadd", { "n=1023", "block=96" } },
		{ "vecadd", { "n=20000", "block=1024" }, "paging.vram=64K\n" },
		{ "vecadd", { "n=5000", "block=33" }, "paging.enabled=off\n" },
		{ "vecadd", { "n=1" }, "gpu.sms=1\nsm.scheduler=lrr\n" },
		{ "reduce", { "n=1", "ctas=1" } },
		{ "reduce", { "n=257", "ctas=3" } },
		{ "reduce", { "n=40000", "ctas=300" }, "paging.vram=64K\n" },
		{ "gather", { "n=1", "pages=1" } },
		{ "gather", { "n=1000", "pages=100" }, "paging.vram=64K\n" },
		{ "gather", { "n=3000", "pages=64" }, "paging.prefetch=sequential\n" },
		{ "stride", { "pages=1", "walkers=1" } },
		{ "stride", { "pages=65", "walkers=7", "step=8200" } },
		{ "stride", { "pages=100", "walkers=40" },
		  "paging.vram=64K\npaging.evict=random\n" },
		{ "stride", { "pages=3", "walkers=40", "step=8" } },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct workload_row *row = workload_find(cases[i].name);
		struct gpuemu_ctx *ctx = open_sim(cases[i].settings);
		struct workload w;
		struct err err;

		workload_init(&w, row->ops, 7);
		for (size_t j = 0; j < 3 && cases[i].options[j]; j++)
			if (workload_set(&w, cases[i].options[j], &err))
				fail_msg("%s", err.text);
		begin(&w, row, ctx);
		run(&w);
		verified(&w);
		assert_true(w.footprint > 0);
		workload_end(&w);
		gpuemu_close(ctx);
	}
}

/* Every way that a kernel and its pages can be run; 64K is less than it touches. */
static void each_verifies_tiny(void **state)
{
	static const char *const settings[] = {
		NULL, "gpu.functional=on\n", "paging.enabled=off\n", "paging.vram=64K\n",
		"paging.vram=32K\npaging.evict=random\npaging.prefetch=sequential\ngpu.sms=3\n",
	};
	const struct workload_row *row;

	for (unsigned int n = 0; (row = workload_row(n)); n++) {
		for (size_t i = 0; i < ARRAY_SIZE(settings); i++) {
			struct gpuemu_ctx *ctx = open_sim(settings[i]);
			struct workload w;

			init_tiny(&w, row, 11 + i);
			begin(&w, row, ctx);
			run(&w);
			verified(&w);
			/* More than the VRAM above, and not what a test waits for. */
			if (w.footprint <= 32 << 10 || w.footprint > 1 << 20)
				fail_msg("%s: tiny is %llu bytes", row->ops->name,
					 (unsigned long long)w.footprint);
			workload_end(&w);
			gpuemu_close(ctx);
		}
	}
}

static void verify_finds_a_kernel_that_did_not_run(void **state)
{
	const struct workload_row *row;

	for (unsigned int n = 0; (row = workload_row(n)); n++) {
		struct gpuemu_ctx *ctx = open_sim(NULL);
		struct workload w;

		init_tiny(&w, row, 1);
		begin(&w, row, ctx);
		if (w.ops->verify(&w) != -EBADMSG)
			fail_msg("%s verifies without having run", row->ops->name);
		assert_true(w.err.text[0]);
		workload_end(&w);
		gpuemu_close(ctx);
	}
}

/*
 * A bit in the first byte of a buffer and of the page in its middle. Scratch is nobody's to
 * read when the run is done.
 */
static void verify_finds_one_wrong_bit(void **state)
{
	const struct workload_row *row;

	for (unsigned int n = 0; (row = workload_row(n)); n++) {
		struct gpuemu_ctx *ctx = open_sim(NULL);
		struct workload w;

		init_tiny(&w, row, 3);
		begin(&w, row, ctx);
		run(&w);
		verified(&w);
		assert_true(w.nbuffers > 0);
		for (unsigned int i = 0; i < 2 * w.nbuffers; i++) {
			size_t middle = w.buffers[i / 2].bytes / 2 & ~(PAGE_BYTES - 1);
			unsigned char *byte = w.buffers[i / 2].memory;

			if (w.buffers[i / 2].direction == WORKLOAD_SCRATCH)
				continue;
			byte += i % 2 ? middle : 0;
			*byte ^= 1;
			if (w.ops->verify(&w) != -EBADMSG)
				fail_msg("%s: a wrong bit in buffer %u at %zu is not found",
					 row->ops->name, i / 2, i % 2 ? middle : 0);
			*byte ^= 1;
			verified(&w);
		}
		workload_end(&w);
		gpuemu_close(ctx);
	}
}

static void sizes_are_options(void **state)
{
	const struct workload_ops *ops = workload_find("triad")->ops;
	struct workload w;
	struct err err;

	workload_init(&w, ops, 1);
	assert_int_equal(workload_set(&w, "size=tiny", &err), 0);
	assert_int_equal(w.option[0], ops->options[0].tiny);
	assert_int_equal(w.option[1], ops->options[1].def);
	assert_int_equal(workload_set(&w, "n=7", &err), 0);
	assert_int_equal(w.option[0], 7);
	assert_int_equal(workload_set(&w, "size=quick", &err), 0);
	assert_int_equal(w.option[0], ops->options[0].quick);
	assert_int_equal(workload_set(&w, "size=default", &err), 0);
	assert_int_equal(w.option[0], ops->options[0].def);
	assert_int_equal(workload_set(&w, "size=small", &err), 0);
	assert_int_equal(w.option[0], ops->options[0].quick);
	assert_int_equal(workload_set(&w, "size=medium", &err), 0);
	assert_int_equal(w.option[0], ops->options[0].def);
	assert_int_equal(workload_set(&w, "size=huge", &err), -EINVAL);
	assert_string_equal(err.text, "size: no 'huge'; there are: tiny, small (or quick), "
			    "medium (or default), large");
	/* vecadd has nothing that small lowers; triad has one such option, conv2d two. */
	assert_int_equal(workload_set(&w, "size=large", &err), 0);
	assert_int_equal(w.option[0], 4 * ops->options[0].def);
	assert_int_equal(w.option[1], ops->options[1].def);
	workload_init(&w, workload_find("conv2d")->ops, 1);
	workload_resize(&w, WORKLOAD_LARGE);
	assert_int_equal(w.option[0], 2 * w.ops->options[0].def);
	assert_int_equal(w.option[1], 2 * w.ops->options[1].def);
	workload_init(&w, workload_find("haar")->ops, 1);
	workload_resize(&w, WORKLOAD_LARGE);
	assert_int_equal(w.option[0], 22);
	workload_init(&w, workload_find("vecadd")->ops, 1);
	workload_resize(&w, WORKLOAD_LARGE);
	assert_int_equal(w.option[0], 64 << 10);
}

static void options_are_checked(void **state)
{
	static const struct {
		const char *setting;
		int code;
		const char *says;
	} cases[] = {
		{ "n=64K", 0, "" },
		{ "block=0x40", 0, "" },
		{ "n=0", -ERANGE, "1 to" },
		{ "n=-1", -EINVAL, "not a number" },
		{ "n=", -EINVAL, "not a number" },
		{ "n=1KK", -EINVAL, "not a number" },
		{ "n=99999999999999999999", -ERANGE, "outside" },
		{ "n=16777216G", -ERANGE, "outside" },
		/* 2^64 + 2^30 */
		{ "n=17179869185G", -ERANGE, "outside" },
		{ "m=1", -ENOENT, "n, block, size" },
		{ "n", -EINVAL, "key=value" },
		{ "=1", -EINVAL, "key=value" },
	};
	struct workload w;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct err err = { "" };
		int ret;

		workload_init(&w, workload_find("vecadd")->ops, 1);
		ret = workload_set(&w, cases[i].setting, &err);
		if (ret != cases[i].code || !strstr(err.text, cases[i].says))
			fail_msg("%s: %d, \"%s\"", cases[i].setting, ret, err.text);
		if (i == 0)
			assert_int_equal(w.option[0], 65536);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_complete),
		cmocka_unit_test(options_are_checked),
		cmocka_unit_test(sizes_are_options),
		cmocka_unit_test(each_verifies),
		cmocka_unit_test(each_verifies_tiny),
		cmocka_unit_test(verify_finds_a_kernel_that_did_not_run),
		cmocka_unit_test(verify_finds_one_wrong_bit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
