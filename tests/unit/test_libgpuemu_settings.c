// SPDX-License-Identifier: GPL-2.0
/*
 * The lines that a context keeps for engines that attach later: one a key, the
 * last one given, and nothing said about device memory unless someone did.
 */
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

static void test_merge_keeps_one_line_a_key(void **state)
{
	char *s = NULL;

	assert_int_equal(settings_merge(&s, "gpu.sms=2"), 0);
	assert_string_equal(s, "gpu.sms=2\n");
	assert_int_equal(settings_merge(&s, "paging.vram=1M\n"), 0);
	assert_string_equal(s, "gpu.sms=2\npaging.vram=1M\n");
	assert_int_equal(settings_merge(&s, " gpu.sms = 3\n"), 0);
	assert_string_equal(s, "paging.vram=1M\n gpu.sms = 3\n");
	assert_int_equal(settings_merge(&s, ""), 0);
	assert_string_equal(s, "paging.vram=1M\n gpu.sms = 3\n");
	/* A key that is the start of another is another. */
	assert_int_equal(settings_merge(&s, "paging.vra=1\n"), 0);
	assert_string_equal(s, "paging.vram=1M\n gpu.sms = 3\npaging.vra=1\n");
	free(s);
}

static char *from_config(const char *text)
{
	char path[] = "/tmp/gpuemu-test-XXXXXX.conf";
	int fd = mkstemps(path, 5);
	struct gpu_spec spec;
	struct err err = { "" };
	char *settings = NULL;

	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	spec_defaults(&spec);
	spec.vram_bytes = 0;
	if (settings_from_config(&spec, path, &settings, &err))
		fail_msg("%s", err.text);
	unlink(path);
	assert_int_equal(settings_check(&spec, &err), 0);
	return settings;
}

static void test_config_leaves_vram_to_the_device(void **state)
{
	char *s = from_config("gpu = { sms = 7; };\n");

	assert_non_null(strstr(s, "gpu.sms=7\n"));
	assert_non_null(strstr(s, "paging.evict=lru\n"));
	assert_null(strstr(s, "paging.vram="));
	free(s);
	s = from_config("paging = { vram = \"4M\"; };\n");
	assert_non_null(strstr(s, "paging.vram="));
	free(s);
}

/* A daemon has another folder: what leads to a file is given by its absolute path. */
static void test_paths_of_policies(void **state)
{
	char path[] = "/tmp/gpuemu-test-XXXXXX", old[4096];
	char *s;

	assert_non_null(mkdtemp(path));
	assert_non_null(getcwd(old, sizeof(old)));
	assert_int_equal(chdir(path), 0);
	assert_int_equal(symlink("/dev/null", "mine.so"), 0);
	s = settings_absolute("gpu.sms=2\n  paging.prefetch = ./mine.so:a=1,b=2 # mine\n"
			      "paging.evict=lru:file=./mine.so\npaging.evict=mine.so");
	assert_string_equal(s, "gpu.sms=2\npaging.prefetch = /dev/null:a=1,b=2 # mine\n"
			       "paging.evict=lru:file=./mine.so\npaging.evict=mine.so\n");
	free(s);
	/* The loader says that there is none. */
	s = settings_absolute("paging.evict=./other.so:a=1");
	assert_string_equal(s, "paging.evict=./other.so:a=1\n");
	free(s);
	s = from_config("paging = { evict = \"./mine.so\"; };\n");
	assert_non_null(strstr(s, "paging.evict=/dev/null\n"));
	free(s);
	assert_int_equal(unlink("mine.so"), 0);
	assert_int_equal(chdir(old), 0);
	assert_int_equal(rmdir(path), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_paths_of_policies),
		cmocka_unit_test(test_merge_keeps_one_line_a_key),
		cmocka_unit_test(test_config_leaves_vram_to_the_device),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
