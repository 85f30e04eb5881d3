// SPDX-License-Identifier: GPL-2.0
/* Recorded runs as a program sees them, on sim: written, read back, and every bad file refused. */
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

#include "internal.h"

/* One thread: loads from pages 0, 2 and 1 of p, in that order, each address from the last value. */
static const char ptx[] =
	".version 3.2\n.target sm_35\n.address_size 64\n"
	".visible .entry walk(.param .u64 p)\n{\n"
	".reg .b32 %r<2>;\n.reg .b64 %rd<8>;\n"
	"ld.param.u64 %rd1, [p];\n"
	"ld.global.u64 %rd2, [%rd1];\n"
	"add.s64 %rd3, %rd1, %rd2;\n"
	"ld.global.u64 %rd4, [%rd3+8192];\n"
	"add.s64 %rd5, %rd1, %rd4;\n"
	"ld.global.u64 %rd6, [%rd5+4096];\n"
	"ret;\n}\n";

static char folder[] = "/tmp/gpuemu-test-XXXXXX";
static char path[64];

static int make_folder(void **state)
{
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/record", folder);
	return 0;
}

static int remove_folder(void **state)
{
	unlink(path);
	return rmdir(folder);
}

static int try_open(struct gpuemu_ctx **ctx, const char *settings, const char *recorded)
{
	const struct gpuemu_options options = {
		.size = sizeof(options),
		.backend = "sim",
		.settings = settings,
		.recorded = recorded,
	};

	return gpuemu_open(ctx, &options);
}

/* Runs the kernel over three pages at *memory. */
static struct gpuemu_ctx *run(const char *settings, const char *recorded, void **memory)
{
	struct gpuemu_function *function;
	struct gpuemu_module *module;
	struct gpuemu_dim3 one = { 1, 1, 1 };
	struct gpuemu_ctx *ctx;

	if (try_open(&ctx, settings, recorded))
		fail_msg("%s", gpuemu_last_error(NULL));
	assert_int_equal(gpuemu_mem_alloc_managed(ctx, memory, 3 * 4096), 0);
	memset(*memory, 0, 3 * 4096);
	assert_int_equal(gpuemu_module_load_data(ctx, &module, ptx, strlen(ptx), "walk.ptx"), 0);
	assert_int_equal(gpuemu_module_get_function(module, &function, "walk"), 0);
	assert_int_equal(gpuemu_launch_params(function, one, one, 0, NULL,
					      (void *const[]){ memory }), 0);
	assert_int_equal(gpuemu_synchronize(ctx), 0);
	return ctx;
}

static void assert_file(const char *want)
{
	char text[512] = "";
	FILE *file = fopen(path, "r");

	assert_non_null(file);
	assert_true(fread(text, 1, sizeof(text) - 1, file) > 0);
	fclose(file);
	assert_string_equal(text, want);
}

static void assert_number(struct gpuemu_ctx *ctx, const char *want)
{
	char *json;

	assert_int_equal(gpuemu_statistics(ctx, &json), 0);
	if (!strstr(json, want))
		fail_msg("no %s in %s", want, json);
	gpuemu_free(json);
}

static void test_written_and_read(void **state)
{
	struct gpuemu_ctx *ctx;
	void *memory;

	ctx = run("paging.record=on\n", NULL, &memory);
	assert_int_equal((uintptr_t)memory, ARENA_START);
	assert_number(ctx, "\"far_faults\":3");
	assert_int_equal(gpuemu_record(ctx, path), 0);
	gpuemu_close(ctx);
	assert_file("# gpuemu record 1\n# 3 touches: page, from the first managed address\n0\n2\n1\n");
	ctx = run("paging.prefetch=oracle\npaging.evict=min\n", path, &memory);
	assert_number(ctx, "\"far_faults\":1,");
	/* Not asked to, it records nothing. */
	assert_int_equal(gpuemu_record(ctx, path), -EINVAL);
	assert_non_null(strstr(gpuemu_last_error(ctx), "paging.record"));
	gpuemu_close(ctx);
}

static void test_runs_share_a_line(void **state)
{
	struct err err = { "" };
	struct gpuemu_ctx *ctx;
	struct record record;
	void *memory;

	/* A page after a page is "0+1"; what is read is what was written. */
	ctx = run("paging.record=on\npaging.prefetch=block\n", NULL, &memory);
	assert_int_equal(gpuemu_record(ctx, path), 0);
	gpuemu_close(ctx);
	assert_file("# gpuemu record 1\n# 3 touches: page, from the first managed address\n0\n2\n1\n");
	{
		FILE *file = fopen(path, "w");

		fputs("# gpuemu record 1 and more\n\n5+2\n#\n7 \n0+0\r\n", file);
		fclose(file);
	}
	assert_int_equal(record_read(path, &record, &err), 0);
	assert_int_equal(record.count, 5);
	for (unsigned int i = 0; i < 3; i++)
		assert_true(record.pages[i] == ARENA_START + (5 + i) * 4096);
	assert_true(record.pages[3] == ARENA_START + 7 * 4096);
	assert_true(record.pages[4] == ARENA_START);
	record_free(&record);
}

static void test_bad_files(void **state)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
		{ "", "it is empty" },
		{ "1\n", "its first line is not" },
		{ "# gpuemu record 2\n1\n", "its first line is not" },
		{ "# gpuemu record 1\n1\nx\n", "line 3: not PAGE or PAGE+MORE" },
		{ "# gpuemu record 1\n+1\n", "line 2: not" },
		{ "# gpuemu record 1\n-1\n", "line 2: not" },
		{ "# gpuemu record 1\n1+\n", "line 2: not" },
		{ "# gpuemu record 1\n1+-1\n", "line 2: not" },
		{ "# gpuemu record 1\n1 2\n", "line 2: not" },
		{ "# gpuemu record 1\n0x10\n", "line 2: not" },
		{ "# gpuemu record 1\n4294967296\n", "line 2: not" },
		{ "# gpuemu record 1\n4294967295+1\n", "line 2: not" },
		{ "# gpuemu record 1\n1+18446744073709551615\n", "line 2: not" },
		{ "# gpuemu record 1\n0+33554431\n0\n", "line 3: more than 33554432 touches" },
	};
	struct gpuemu_ctx *ctx;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		FILE *file = fopen(path, "w");

		fputs(cases[i].text, file);
		fclose(file);
		assert_true(try_open(&ctx, NULL, path) < 0);
		assert_null(ctx);
		if (!strstr(gpuemu_last_error(NULL), cases[i].says) ||
		    !strstr(gpuemu_last_error(NULL), path))
			fail_msg("'%s' does not say '%s'", gpuemu_last_error(NULL), cases[i].says);
	}
	assert_int_equal(try_open(&ctx, NULL, "/no/such/file"), -EINVAL);
	assert_int_equal(try_open(&ctx, NULL, folder), -EINVAL);
	assert_int_equal(try_open(&ctx, "paging.prefetch=oracle\n", NULL), -EINVAL);
	assert_non_null(strstr(gpuemu_last_error(NULL), "needs a recorded run"));
}

static void test_a_file_that_cannot_be_written(void **state)
{
	struct gpuemu_ctx *ctx;
	void *memory;

	ctx = run("paging.record=on\n", NULL, &memory);
	assert_int_equal(gpuemu_record(ctx, folder), -EISDIR);
	assert_int_equal(gpuemu_record(ctx, "/no/such/file"), -ENOENT);
	assert_non_null(strstr(gpuemu_last_error(ctx), "/no/such/file: No such file"));
	/* Nothing is lost by it. */
	assert_int_equal(gpuemu_record(ctx, path), 0);
	gpuemu_close(ctx);
	assert_file("# gpuemu record 1\n# 3 touches: page, from the first managed address\n0\n2\n1\n");
}

/* A program that was built before there were records has a shorter struct. */
static void test_older_options(void **state)
{
	struct gpuemu_options options = { .size = offsetof(struct gpuemu_options, recorded),
					  .backend = "sim", .recorded = "/no/such/file" };
	struct gpuemu_ctx *ctx;

	assert_int_equal(gpuemu_open(&ctx, &options), 0);
	gpuemu_close(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_written_and_read),
		cmocka_unit_test(test_runs_share_a_line),
		cmocka_unit_test(test_bad_files),
		cmocka_unit_test(test_a_file_that_cannot_be_written),
		cmocka_unit_test(test_older_options),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
