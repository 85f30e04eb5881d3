// SPDX-License-Identifier: GPL-2.0
/*
 * The verb ptx as a whole, in this process, so that the sanitizers see every way
 * out of it: what it returns when it works, fails or is misused, and that what it
 * opened is closed. What it prints is tests/check.d/46-ptx.sh's concern.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "cli.h"
#include "output.h"

#define COUNT	"tests/cli/count.ptx"
#define KERNEL	"--kernel", "index", "--backend", "sim"
#define SHAPE	"--grid", "2", "--block", "4"

/* Runs "gpuemu ptx args..." with its output in the void. */
static int run(const char *const args[])
{
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC), out, err, status, argc = 2;
	char *argv[40] = { "gpuemu", "ptx" };

	for (; args[argc - 2]; argc++)
		argv[argc] = (char *)args[argc - 2];
	fflush(stdout);
	out = dup(STDOUT_FILENO);
	err = dup(STDERR_FILENO);
	assert_true(null >= 0 && out >= 0 && err >= 0);
	dup2(null, STDOUT_FILENO);
	dup2(null, STDERR_FILENO);
	status = cli_main(argc, argv);
	fflush(stdout);
	dup2(out, STDOUT_FILENO);
	dup2(err, STDERR_FILENO);
	close(null);
	close(out);
	close(err);
	return status;
}

static void every_way_out(void **state)
{
	static const struct {
		int status;
		const char *args[24];
	} cases[] = {
		{ 0, { "--help" } },
		{ 0, { COUNT, KERNEL, SHAPE, "--arg", "zero:32", "--arg", "u32:8" } },
		{ 0, { COUNT, KERNEL, SHAPE, "--arg", "zero:32", "--arg", "u32:8", "--functional",
		       "--repeat", "3", "--json", "-" } },
		{ 0, { COUNT, KERNEL, SHAPE, "--arg", "zero:32", "--arg", "u32:8", "--trace", "/dev/null",
		       "--json", "/dev/null" } },
		{ 0, { COUNT, KERNEL, SHAPE, "--arg", "zero:32", "--arg", "u32:8", "--samples", "/dev/null",
		       "--threads", "2", "--sched", "lrr", "--config", "kepler", "--regs", "30" } },
		{ 0, { COUNT, KERNEL, SHAPE, "--arg", "rand32:8:1", "--arg", "u32:8", "--paging", "off",
		       "--set", "l2.prefill=on", "--samples", "/dev/null" } },
		{ 2, { COUNT, KERNEL, SHAPE, "--arg", "zero:32", "--arg", "u32:8", "--samples", "/dev/null",
		       "--functional" } },
		{ 2, { COUNT, KERNEL, SHAPE, "--arg", "zero:32", "--arg", "u32:8", "--threads", "none" } },
		{ 1, { COUNT, KERNEL, SHAPE, "--arg", "zero:32", "--arg", "u32:8", "--samples",
		       "/no/such/file" } },
		{ 0, { COUNT, "--info" } },
		{ 0, { COUNT, "--info=live", "--json", "/dev/null", "--kernel", "nothing" } },
		{ 2, { COUNT, "--info=dead" } },
		{ 2, { NULL } },
		{ 2, { COUNT } },
		{ 2, { COUNT, "--arg", "zero:4", "--arg", "struct:in:a,zero:4,u32:x" } },
		{ 2, { COUNT, "--global", "a=in:b", "--global", "b" } },
		{ 2, { COUNT, SHAPE } },
		{ 2, { COUNT, KERNEL, SHAPE, "--arg", "zero:32" } },
		{ 2, { COUNT, KERNEL, "--grid", "1", "--block", "9999", "--arg", "zero:32", "--arg", "u32:8" } },
		{ 2, { COUNT, KERNEL, SHAPE, "--arg", "zero:32", "--arg", "u32:8", "--config", "/no/such.conf" } },
		{ 1, { "/no/such.ptx", SHAPE } },
		{ 1, { "README.md", SHAPE } },
		{ 1, { COUNT, KERNEL, SHAPE, "--arg", "in:/no/such", "--arg", "u32:8" } },
		{ 1, { COUNT, KERNEL, SHAPE, "--arg", "out:32:/no/such/file", "--arg", "u32:8" } },
		{ 1, { COUNT, KERNEL, SHAPE, "--arg", "zero:32", "--arg", "u32:8", "--global", "a=in:b" } },
		/* The kernel's own end: an address that is nobody's. */
		{ 1, { COUNT, KERNEL, SHAPE, "--arg", "u64:4096", "--arg", "u32:8" } },
		{ 1, { COUNT, KERNEL, SHAPE, "--arg", "u64:4096", "--arg", "u32:8", "--functional" } },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		int status = run(cases[i].args);

		if (status != cases[i].status)
			fail_msg("case %zu, %s ..: status %d, not %d", i, cases[i].args[0], status,
				 cases[i].status);
	}
}

/* With and without time a kernel computes and counts the same. */
static void functional_counts_the_same(void **state)
{
	static const char *const shared[] = { "warp_instructions", "thread_instructions", "regs",
					      "smem", "grid", "block" };
	struct json_object *reports[2];
	char path[] = "/tmp/gpuemu-ptx-XXXXXX";
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	for (unsigned int i = 0; i < 2; i++) {
		const char *const args[] = { COUNT, KERNEL, "--grid", "7", "--block", "40",
					     "--arg", "zero:4K", "--arg", "u32:200",
					     "--json", path, i ? "--functional" : NULL, NULL };

		assert_int_equal(run(args), 0);
		reports[i] = json_object_from_file(path);
		assert_non_null(reports[i]);
	}
	unlink(path);
	for (size_t i = 0; i < ARRAY_SIZE(shared); i++) {
		struct json_object *k[2];

		for (unsigned int j = 0; j < 2; j++) {
			struct json_object *kernels = output_at(reports[j], "kernels");

			k[j] = output_at(json_object_array_get_idx(kernels, 0), shared[i]);
		}
		assert_non_null(k[0]);
		if (!json_object_equal(k[0], k[1]))
			fail_msg("%s: %s with time, %s without", shared[i],
				 json_object_to_json_string(k[0]),
				 json_object_to_json_string(k[1]));
	}
	assert_true(output_has(reports[0], "totals.cycles"));
	assert_false(output_has(reports[1], "totals.cycles"));
	json_object_put(reports[0]);
	json_object_put(reports[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_way_out),
		cmocka_unit_test(functional_counts_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
