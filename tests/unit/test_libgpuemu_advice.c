// SPDX-License-Identifier: GPL-2.0
/*
 * gpuemu_mem_advise() as a program has it: what it refuses, that advice is kept by page and
 * goes with the memory, that results are right whatever was advised, and what the
 * statistics say happened.
 */
#include <errno.h>
#include <json-c/json.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gpuemu.h"
#include "internal.h"

#define PAGE	4096u
#define WORDS	(PAGE / 4)
#define PAGES	16u

/*
 * Each thread has a word of p and one of q. It reads p, writes p + 1 and reads it back without
 * waiting; adds one to q atomically; then q += what it read back.
 */
static const char ptx[] =
	".version 3.2\n"
	".target sm_35\n"
	".address_size 64\n"
	".visible .entry mix(\n"
	"	.param .u64 mix_param_0,\n"
	"	.param .u64 mix_param_1\n"
	")\n"
	"{\n"
	"	.reg .b32 %r<10>;\n"
	"	.reg .b64 %rd<8>;\n"
	"	ld.param.u64 %rd1, [mix_param_0];\n"
	"	ld.param.u64 %rd2, [mix_param_1];\n"
	"	mov.u32 %r1, %ctaid.x;\n"
	"	mov.u32 %r2, %ntid.x;\n"
	"	mov.u32 %r3, %tid.x;\n"
	"	mad.lo.s32 %r4, %r1, %r2, %r3;\n"
	"	mul.wide.u32 %rd3, %r4, 4;\n"
	"	add.s64 %rd4, %rd1, %rd3;\n"
	"	add.s64 %rd5, %rd2, %rd3;\n"
	"	ld.global.u32 %r5, [%rd4];\n"
	"	add.u32 %r6, %r5, 1;\n"
	"	st.global.u32 [%rd4], %r6;\n"
	"	ld.global.u32 %r7, [%rd4];\n"
	"	atom.global.add.u32 %r8, [%rd5], 1;\n"
	"	ld.global.u32 %r9, [%rd5];\n"
	"	add.u32 %r9, %r9, %r7;\n"
	"	st.global.u32 [%rd5], %r9;\n"
	"	ret;\n"
	"}\n";

static struct gpuemu_ctx *ctx;
static struct gpuemu_function *mix;
static uint32_t *p, *q;

#define OK(call) do { \
	int ok_ret = (call); \
	if (ok_ret) \
		fail_msg("%s: %d: %s", #call, ok_ret, gpuemu_last_error(ctx)); \
} while (0)

#define ADVISE(ptr, bytes, what, where) \
	OK(gpuemu_mem_advise(ctx, ptr, bytes, GPUEMU_ADVISE_##what, where))
#define DEVICE	GPUEMU_LOCATION_DEVICE
#define HOST	GPUEMU_LOCATION_HOST

static bool open_on(const char *backend, const char *settings)
{
	const struct gpuemu_options options = {
		.size = sizeof(options), .backend = backend, .settings = settings,
	};
	struct gpuemu_module *module;

	if (gpuemu_open(&ctx, &options))
		return false;
	OK(gpuemu_module_load_data(ctx, &module, ptx, sizeof(ptx) - 1, "mix.ptx"));
	OK(gpuemu_module_get_function(module, &mix, "mix"));
	OK(gpuemu_mem_alloc_managed(ctx, (void **)&p, PAGES * PAGE));
	OK(gpuemu_mem_alloc_managed(ctx, (void **)&q, PAGES * PAGE));
	for (uint32_t i = 0; i < PAGES * WORDS; i++) {
		p[i] = 3 * i;
		q[i] = 7 * i;
	}
	return true;
}

static int setup(void **state)
{
	assert_true(open_on("sim", NULL));
	return 0;
}

static int teardown(void **state)
{
	gpuemu_close(ctx);
	ctx = NULL;
	return 0;
}

static void launch(void)
{
	const struct gpuemu_dim3 grid = { PAGES * WORDS / 256, 1, 1 }, block = { 256, 1, 1 };
	const struct gpuemu_arg args[] = { gpuemu_arg_ptr(p), gpuemu_arg_ptr(q) };

	OK(gpuemu_launch(mix, grid, block, 0, NULL, args, 2));
	OK(gpuemu_synchronize(ctx));
}

/* After `launches` of the kernel. */
static void check(uint32_t launches)
{
	for (uint32_t i = 0; i < PAGES * WORDS; i++) {
		uint32_t q_want = 7 * i;

		for (uint32_t n = 1; n <= launches; n++)
			q_want += 1 + 3 * i + n;
		if (p[i] != 3 * i + launches || q[i] != q_want)
			fail_msg("word %u: %u and %u, not %u and %u", i, p[i], q[i],
				 3 * i + launches, q_want);
	}
}

static uint64_t count(const char *group, const char *key)
{
	struct json_object *top, *o;
	uint64_t value;
	char *json;

	OK(gpuemu_statistics(ctx, &json));
	top = json_tokener_parse(json);
	gpuemu_free(json);
	o = json_object_object_get(top, "paging");
	if (group)
		o = json_object_object_get(o, group);
	assert_true(json_object_object_get_ex(o, key, &o));
	value = json_object_get_uint64(o);
	json_object_put(top);
	return value;
}

static void refused(int got, int want, const char *text)
{
	assert_int_equal(got, want);
	if (!strstr(gpuemu_last_error(ctx), text))
		fail_msg("'%s' does not say '%s'", gpuemu_last_error(ctx), text);
}

static void test_errors(void **state)
{
	refused(gpuemu_mem_advise(ctx, (void *)0x1230, 4, GPUEMU_ADVISE_SET_READ_MOSTLY, 0),
		-EINVAL, "not inside");
	refused(gpuemu_mem_advise(ctx, p, 0, GPUEMU_ADVISE_SET_READ_MOSTLY, 0), -EINVAL,
		"0 bytes");
	refused(gpuemu_mem_advise(ctx, p, PAGES * PAGE + 1, GPUEMU_ADVISE_SET_READ_MOSTLY, 0),
		-EINVAL, "not inside");
	refused(gpuemu_mem_advise(ctx, p, PAGE, (enum gpuemu_advice)7, 0), -EINVAL, "advice 7");
	refused(gpuemu_mem_advise(ctx, p, PAGE, (enum gpuemu_advice)0, 0), -EINVAL, "advice 0");
	refused(gpuemu_mem_advise(ctx, p, PAGE, GPUEMU_ADVISE_SET_ACCESSED_BY, 1), -EINVAL,
		"location 1");
	refused(gpuemu_mem_advise(ctx, p, PAGE, GPUEMU_ADVISE_SET_PREFERRED_LOCATION, -2),
		-EINVAL, "location -2");
	assert_int_equal(ctx->nadvice, 0);
	/* location means nothing here. */
	ADVISE(p, PAGE, SET_READ_MOSTLY, 77);
	ADVISE(p, PAGE, UNSET_READ_MOSTLY, -77);
	ADVISE(p, PAGE, UNSET_PREFERRED_LOCATION, 77);
	/* The CPU accesses everything anyway. */
	ADVISE(p, PAGE, SET_ACCESSED_BY, HOST);
	assert_int_equal(ctx->nadvice, 0);
	assert_int_equal(sizeof(struct advice_range), 24);
}

static void piece(uint32_t i, uint32_t first, uint32_t pages, uint32_t flags)
{
	assert_true(i < ctx->nadvice);
	assert_int_equal(ctx->advice[i].addr, (uintptr_t)p + first * PAGE);
	assert_int_equal(ctx->advice[i].bytes, pages * PAGE);
	assert_int_equal(ctx->advice[i].flags, flags);
}

/* Whole pages around the bytes; pieces are cut and joined; what is freed is forgotten. */
static void test_pieces(void **state)
{
	char *at = (char *)p;

	ADVISE(at + 2 * PAGE + 1, 1, SET_READ_MOSTLY, 0);
	assert_int_equal(ctx->nadvice, 1);
	piece(0, 2, 1, ADVICE_READ_MOSTLY);
	ADVISE(at + 3 * PAGE, 2 * PAGE, SET_READ_MOSTLY, 0);
	assert_int_equal(ctx->nadvice, 1);
	piece(0, 2, 3, ADVICE_READ_MOSTLY);
	ADVISE(at + 3 * PAGE, PAGE, SET_PREFERRED_LOCATION, HOST);
	assert_int_equal(ctx->nadvice, 3);
	piece(1, 3, 1, ADVICE_READ_MOSTLY | ADVICE_PREFER_HOST);
	/* The last preference holds; what is around gets the rest. */
	ADVISE(at, PAGES * PAGE, SET_PREFERRED_LOCATION, DEVICE);
	assert_int_equal(ctx->nadvice, 3);
	piece(0, 0, 2, ADVICE_PREFER_DEVICE);
	piece(1, 2, 3, ADVICE_READ_MOSTLY | ADVICE_PREFER_DEVICE);
	piece(2, 5, 11, ADVICE_PREFER_DEVICE);
	ADVISE(at + 3 * PAGE, 8 * PAGE, UNSET_PREFERRED_LOCATION, 0);
	assert_int_equal(ctx->nadvice, 4);
	piece(2, 3, 2, ADVICE_READ_MOSTLY);
	piece(3, 11, 5, ADVICE_PREFER_DEVICE);
	ADVISE(at, PAGES * PAGE, UNSET_READ_MOSTLY, 0);
	ADVISE(at, 12 * PAGE, UNSET_PREFERRED_LOCATION, 0);
	assert_int_equal(ctx->nadvice, 1);
	piece(0, 12, 4, ADVICE_PREFER_DEVICE);
	OK(gpuemu_mem_free(ctx, p));
	assert_int_equal(ctx->nadvice, 0);
}

/* The bound on pieces is an error that changes nothing. */
static void test_most(void **state)
{
	char *many;
	int ret = 0;

	OK(gpuemu_mem_alloc_managed(ctx, (void **)&many, 2 * (ADVICE_MAX + 1) * PAGE));
	for (uint32_t i = 0; !ret && i <= ADVICE_MAX; i++)
		ret = gpuemu_mem_advise(ctx, many + 2 * i * PAGE, PAGE,
					GPUEMU_ADVISE_SET_READ_MOSTLY, 0);
	refused(ret, -ENOSPC, "4096 pieces");
	assert_int_equal(ctx->nadvice, ADVICE_MAX);
	ADVISE(many, 2 * (ADVICE_MAX + 1) * PAGE, SET_READ_MOSTLY, 0);
	assert_int_equal(ctx->nadvice, 1);
}

static void test_accessed_by(void **state)
{
	ADVISE(p, PAGES * PAGE, SET_ACCESSED_BY, DEVICE);
	ADVISE(q, PAGES * PAGE, SET_ACCESSED_BY, DEVICE);
	assert_int_equal(count("remote", "pages"), 2 * PAGES);
	launch();
	check(1);
	assert_int_equal(count(NULL, "far_faults"), 0);
	assert_int_equal(count(NULL, "h2d_bytes"), 0);
	/* Lines of 128 bytes: p twice and q once are read, both written; atomics go by 32 bytes. */
	assert_int_equal(count("remote", "reads"), 3 * PAGES * PAGE / 128);
	assert_int_equal(count("remote", "read_bytes"), 3 * PAGES * PAGE);
	assert_int_equal(count("remote", "writes"), 2 * PAGES * PAGE / 128);
	assert_int_equal(count("remote", "atomics"), PAGES * PAGE / 32);
	assert_int_equal(count("remote", "atomic_bytes"), PAGES * PAGE);
	/* No longer: it faults and moves. */
	ADVISE(p, PAGES * PAGE, UNSET_ACCESSED_BY, DEVICE);
	assert_int_equal(count("remote", "pages"), PAGES);
	launch();
	check(2);
	assert_int_equal(count(NULL, "h2d_bytes"), PAGES * PAGE);
	/* What comes where advised memory was freed is ordinary memory. */
	OK(gpuemu_mem_free(ctx, q));
	assert_int_equal(count("remote", "pages"), 0);
	OK(gpuemu_mem_alloc_managed(ctx, (void **)&q, PAGES * PAGE));
	launch();
	assert_int_equal(count("remote", "pages"), 0);
	assert_int_equal(count(NULL, "h2d_bytes"), 2 * PAGES * PAGE);
}

/*
 * Every page is read first, then written: duplicates that collapse. A thread reads back what it
 * has written, though its page could be read all the time.
 */
static void test_read_mostly(void **state)
{
	ADVISE(p, PAGES * PAGE, SET_READ_MOSTLY, 0);
	ADVISE(q, PAGES * PAGE, SET_READ_MOSTLY, 0);
	launch();
	check(1);
	assert_int_equal(count("duplicates", "made_pages"), PAGES);
	assert_int_equal(count("duplicates", "collapsed_pages"), PAGES);
	assert_int_equal(count("duplicates", "pages"), 0);
	assert_int_equal(count(NULL, "far_faults"), 3 * PAGES);
	assert_int_equal(count(NULL, "h2d_bytes"), 2 * PAGES * PAGE);
	assert_int_equal(count("remote", "reads"), 0);
}

static void test_preferred_host(void **state)
{
	ADVISE(p, PAGES * PAGE, SET_PREFERRED_LOCATION, HOST);
	launch();
	check(1);
	assert_int_equal(count(NULL, "far_faults"), 2 * PAGES);
	assert_int_equal(count(NULL, "h2d_bytes"), PAGES * PAGE);
	assert_int_equal(count("remote", "pages"), PAGES);
	/* The program may have it otherwise. */
	OK(gpuemu_mem_prefetch(ctx, p, PAGES * PAGE, NULL));
	OK(gpuemu_synchronize(ctx));
	assert_int_equal(count("remote", "pages"), 0);
	assert_int_equal(count(NULL, "resident_pages"), 2 * PAGES);
}

/* With less device memory than is used, everything goes round: results stay right. */
static void test_oversubscribed(void **state)
{
	static const enum gpuemu_advice advices[] = {
		GPUEMU_ADVISE_SET_READ_MOSTLY, GPUEMU_ADVISE_SET_ACCESSED_BY,
		GPUEMU_ADVISE_SET_PREFERRED_LOCATION,
	};

	gpuemu_close(ctx);
	assert_true(open_on("sim", "paging.vram=32768\naccess_counters.enable=1\n"
			    "access_counters.threshold=16\naccess_counters.granularity=65536\n"));
	for (uint32_t n = 0; n < 3; n++) {
		OK(gpuemu_mem_advise(ctx, p, 8 * PAGE, advices[n], DEVICE));
		OK(gpuemu_mem_advise(ctx, q + 4 * WORDS, 8 * PAGE, advices[n], DEVICE));
		launch();
		check(n + 1);
	}
	assert_true(count(NULL, "evicted_pages") > 0);
	assert_true(count("remote", "notifications") > 0);
}

/* The same counts, whatever the number of host threads. */
static void test_threads(void **state)
{
	char *statistics[2];

	for (unsigned int i = 0; i < 2; i++) {
		gpuemu_close(ctx);
		assert_true(open_on("sim", i ? "gpu.threads=3\n" : "gpu.threads=1\n"));
		ADVISE(p, PAGES * PAGE, SET_ACCESSED_BY, DEVICE);
		ADVISE(q, 8 * PAGE, SET_READ_MOSTLY, 0);
		launch();
		check(1);
		OK(gpuemu_statistics(ctx, &statistics[i]));
	}
	assert_string_equal(statistics[0], statistics[1]);
	gpuemu_free(statistics[0]);
	gpuemu_free(statistics[1]);
}

/* A configuration makes the fault handler anew: what was advised is known to it. */
static void test_configure(void **state)
{
	ADVISE(p, PAGES * PAGE, SET_PREFERRED_LOCATION, HOST);
	OK(gpuemu_configure(ctx, "gpu.sms=2\n"));
	launch();
	check(1);
	assert_int_equal(count("remote", "pages"), PAGES);
}

/* userfaultfd: what is accessed from afar is used where it is; duplicates are refused. */
static void test_uffd(void **state)
{
	gpuemu_close(ctx);
	ctx = NULL;
	if (!open_on("uffd", "paging.vram=1M\n"))
		skip();
	refused(gpuemu_mem_advise(ctx, p, PAGE, GPUEMU_ADVISE_SET_READ_MOSTLY, 0), -EOPNOTSUPP,
		"cannot duplicate");
	ADVISE(p, PAGES * PAGE, SET_ACCESSED_BY, DEVICE);
	launch();
	assert_int_equal(count("remote", "pages"), PAGES);
	assert_int_equal(count(NULL, "h2d_bytes"), PAGES * PAGE);
	check(1);
	/* The program writes what the GPU reads; q has come back to it. */
	for (uint32_t i = 0; i < PAGES * WORDS; i++) {
		p[i] = 3 * i;
		q[i] = 7 * i;
	}
	launch();
	check(1);
	ADVISE(p, PAGES * PAGE, UNSET_ACCESSED_BY, DEVICE);
	launch();
	check(2);
	assert_int_equal(count("remote", "pages"), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_errors), TEST(test_pieces), TEST(test_most), TEST(test_accessed_by),
		TEST(test_read_mostly), TEST(test_preferred_host), TEST(test_oversubscribed),
		TEST(test_threads), TEST(test_configure), TEST(test_uffd),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
