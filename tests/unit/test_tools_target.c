// SPDX-License-Identifier: GPL-2.0
/*
 * The options that choose a GPU: what reaches the library, and what is refused
 * before one is opened, with a line that says what there is.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "target.h"

/* The id of an option, as the parser would give it. */
static int id_of(const char *name)
{
	for (const struct cli_option *o = target_options; o->name; o++)
		if (!strcmp(o->name, name))
			return o->id;
	fail_msg("no option --%s", name);
	return 0;
}

static int give(struct target *t, const char *name, const char *value, struct err *err)
{
	err->text[0] = '\0';
	return target_option(t, id_of(name), value, err);
}

static void options_become_lines(void **state)
{
	struct target t;
	struct err err;

	target_init(&t);
	assert_int_equal(give(&t, "vram", "16M", &err), 0);
	assert_int_equal(give(&t, "prefetch", "sequential", &err), 0);
	assert_int_equal(give(&t, "evict", "random", &err), 0);
	assert_int_equal(give(&t, "paging", "off", &err), 0);
	assert_int_equal(give(&t, "sched", "lrr", &err), 0);
	assert_int_equal(give(&t, "set", "gpu.sms=4", &err), 0);
	assert_int_equal(target_check(&t, &err), 0);
	assert_string_equal(t.lines, "paging.vram=16M\npaging.prefetch=sequential\n"
			    "paging.evict=random\npaging.enabled=off\nsm.scheduler=lrr\n"
			    "gpu.sms=4\n");
	assert_int_equal(t.spec.vram_bytes, 16 << 20);
	assert_int_equal(t.spec.paging, 0);
	assert_int_equal(t.spec.sms, 4);
}

static void launch_options_become_lines(void **state)
{
	struct target t;
	struct err err;

	target_init(&t);
	assert_int_equal(target_option(&t, TARGET_FUNCTIONAL, NULL, &err), 0);
	assert_int_equal(target_option(&t, TARGET_REGS, "40", &err), 0);
	assert_int_equal(target_option(&t, TARGET_MAXREGS, "24", &err), 0);
	assert_int_equal(target_option(&t, TARGET_THREADS, "3", &err), 0);
	assert_string_equal(t.lines, "gpu.functional=on\noccupancy.regs=40\ncompiler.maxregs=24\n"
			    "gpu.threads=3\n");
	assert_int_equal(target_option(&t, TARGET_THREADS, "0", &err), -ERANGE);
	assert_non_null(strstr(err.text, "--threads"));
	assert_int_equal(target_option(&t, TARGET_REGS, "256", &err), -ERANGE);
	assert_non_null(strstr(err.text, "--regs"));
	assert_int_equal(target_option(&t, TARGET_MAXREGS, "few", &err), -EINVAL);
	assert_non_null(strstr(err.text, "--maxregs"));
}

/* The file's values under the command line's, as the library will have them. */
static void the_spec_is_the_file_and_the_lines(void **state)
{
	struct gpu_spec spec;
	struct target t;
	struct err err;
	char path[] = "/tmp/gpuemu-target-XXXXXX.conf";
	int fd = mkstemps(path, 5);
	static const char text[] = "compiler: { maxregs = 32; stack = 2048; };\n";

	assert_true(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
	target_init(&t);
	assert_int_equal(target_spec(&t, &spec, &err), 0);
	assert_int_equal(spec.maxregs, 0);
	assert_int_equal(give(&t, "config", path, &err), 0);
	assert_int_equal(give(&t, "set", "compiler.stack=4096", &err), 0);
	if (target_spec(&t, &spec, &err))
		fail_msg("%s", err.text);
	assert_int_equal(spec.maxregs, 32);
	assert_int_equal(spec.stack_bytes, 4096);
	unlink(path);
	assert_int_equal(target_spec(&t, &spec, &err), -EINVAL);
	assert_non_null(strstr(err.text, path));
}

/* What goes together depends on the file: it is checked with it, not with the defaults. */
static void combinations_are_checked_with_the_file(void **state)
{
	struct target t;
	struct err err;
	char path[] = "/tmp/gpuemu-target-XXXXXX.conf";
	int fd = mkstemps(path, 5);
	static const char text[] = "l2: { slices = 16; }; dram: { channels = 8; };\n";

	assert_true(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
	target_init(&t);
	assert_int_equal(give(&t, "set", "dram.channels=16", &err), 0);
	assert_int_equal(target_check(&t, &err), -EINVAL);
	assert_non_null(strstr(err.text, "l2.slices: 12"));
	assert_int_equal(give(&t, "config", path, &err), 0);
	assert_int_equal(target_check(&t, &err), 0);
	assert_int_equal(give(&t, "set", "dram.channels=12", &err), 0);
	assert_int_equal(target_check(&t, &err), -EINVAL);
	assert_non_null(strstr(err.text, "l2.slices: 16"));
	unlink(path);
	assert_int_equal(target_check(&t, &err), -EINVAL);
	assert_non_null(strstr(err.text, path));
}

static void seed_is_the_models_and_the_workloads(void **state)
{
	struct target t;
	struct err err;

	target_init(&t);
	assert_int_equal(t.seed, t.spec.seed);
	assert_int_equal(give(&t, "seed", "77", &err), 0);
	assert_int_equal(t.seed, 77);
	assert_string_equal(t.lines, "gpu.seed=77\n");
	assert_int_equal(give(&t, "set", "gpu.seed=78", &err), 0);
	assert_int_equal(t.seed, 78);
}

static void bad_values_are_named(void **state)
{
	static const struct {
		const char *option, *value;
		int code;
		const char *says[3];
	} cases[] = {
		{ "vram", "0", -ERANGE, { "--vram", "'0'", "4096" } },
		{ "vram", "lots", -EINVAL, { "--vram", "'lots'" } },
		{ "paging", "maybe", -EINVAL, { "--paging", "'maybe'", "on or off" } },
		{ "seed", "-1", -EINVAL, { "--seed", "'-1'" } },
		{ "backend", "cuda", -EINVAL, { "'cuda'", "kmod", "sim" } },
		{ "set", "gpu.sm=1", -ENOENT, { "gpu.sm", "gpu.sms" } },
		{ "set", "gpu.sms", -EINVAL, { "gpu.sms", "KEY=VALUE" } },
		{ "set", "=1", -EINVAL, { "=1" } },
		{ "set", "gpu.sms=0", -ERANGE, { "gpu.sms", "1 to 64" } },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct target t;
		struct err err;

		target_init(&t);
		assert_int_equal(give(&t, cases[i].option, cases[i].value, &err), cases[i].code);
		for (size_t j = 0; j < 3 && cases[i].says[j]; j++)
			if (!strstr(err.text, cases[i].says[j]))
				fail_msg("--%s %s: \"%s\" does not say %s", cases[i].option,
					 cases[i].value, err.text, cases[i].says[j]);
		assert_string_equal(t.lines, "");
	}
}

static void unknown_policies_list_the_known(void **state)
{
	static const char *const options[][4] = {
		{ "prefetch", "none", "sequential" },
		{ "evict", "lru", "random" },
		{ "sched", "lrr", "gto" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(options); i++) {
		struct target t;
		struct err err;

		target_init(&t);
		assert_int_equal(give(&t, options[i][0], "magic", &err), 0);
		assert_int_equal(target_check(&t, &err), -EINVAL);
		for (size_t j = 1; j < 3; j++)
			if (!strstr(err.text, options[i][j]) || !strstr(err.text, "magic"))
				fail_msg("--%s magic: \"%s\"", options[i][0], err.text);
	}
}

static void too_many_lines_are_refused_whole(void **state)
{
	struct target t;
	struct err err;
	int ret = 0;

	target_init(&t);
	for (unsigned int i = 0; i < 4096 && !ret; i++)
		ret = target_set(&t, "gpu.sms", "4", &err);
	assert_int_equal(ret, -E2BIG);
	/* The last line is a whole one. */
	assert_true(strlen(t.lines) > 1000);
	assert_string_equal(t.lines + strlen(t.lines) - strlen("gpu.sms=4\n"), "gpu.sms=4\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(options_become_lines),
		cmocka_unit_test(launch_options_become_lines),
		cmocka_unit_test(the_spec_is_the_file_and_the_lines),
		cmocka_unit_test(combinations_are_checked_with_the_file),
		cmocka_unit_test(seed_is_the_models_and_the_workloads),
		cmocka_unit_test(bad_values_are_named),
		cmocka_unit_test(unknown_policies_list_the_known),
		cmocka_unit_test(too_many_lines_are_refused_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
