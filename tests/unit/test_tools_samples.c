// SPDX-License-Identifier: GPL-2.0
/* Statistics over time as files: CSV and JSON, and the interval that --samples asks for. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "output.h"
#include "samples.h"

static char path[] = "/tmp/gpuemu-samples-XXXXXX.json";

static int make_file(void **state)
{
	int fd = mkstemps(strcpy(path, "/tmp/gpuemu-samples-XXXXXX.json"), 5);

	return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state)
{
	return unlink(path);
}

static struct json_object *report(void)
{
	return json_tokener_parse(
		"{\"version\":1,\"samples\":{\"interval\":10,\"dropped\":0,"
		"\"columns\":[\"cycle\",\"ipc\",\"sp\"],"
		"\"rows\":[[10,0.5,1e-07],[20,18446744073709551615,0.0]]},\"totals\":{}}");
}

static void read_back(char *text, size_t size)
{
	FILE *file = fopen(path, "r");
	size_t n;

	assert_non_null(file);
	n = fread(text, 1, size - 1, file);
	text[n] = '\0';
	fclose(file);
}

static void csv_has_titles_and_rows(void **state)
{
	struct json_object *r = report();
	struct err err;
	char text[200];

	/* Any other ending is CSV: the same name without its last letter. */
	unlink(path);
	path[strlen(path) - 1] = '\0';
	assert_int_equal(samples_write(r, path, &err), 0);
	read_back(text, sizeof(text));
	assert_string_equal(text, "cycle,ipc,sp\n10,0.5,1e-07\n20,18446744073709551615,0.0\n");
	/* They are in one place alone. */
	assert_false(output_has(r, "samples"));
	assert_true(output_has(r, "totals"));
	assert_int_equal(samples_write(r, path, &err), -EPROTO);
	json_object_put(r);
}

/* Lines of kernels stand behind the GPU's, which have no kernel. */
static void csv_has_kernels(void **state)
{
	struct json_object *r = json_tokener_parse(
		"{\"samples\":{\"interval\":10,\"dropped\":0,"
		"\"columns\":[\"cycle\",\"ipc\",\"pages\"],\"rows\":[[10,0.5,3],[20,0.1,4]],"
		"\"kernels\":{\"columns\":[\"cycle\",\"ipc\",\"pages\",\"kernel\",\"stream\",\"start\"],"
		"\"rows\":[[10,0.25,null,\"a\",1,0],[10,0.25,null,\"b\",2,5]]}}}");
	struct err err;
	char text[200];

	unlink(path);
	path[strlen(path) - 1] = '\0';
	assert_int_equal(samples_write(r, path, &err), 0);
	read_back(text, sizeof(text));
	assert_string_equal(text, "cycle,ipc,pages,kernel,stream,start\n10,0.5,3,,,\n20,0.1,4,,,\n"
			    "10,0.25,,a,1,0\n10,0.25,,b,2,5\n");
	json_object_put(r);
}

static void json_is_the_object(void **state)
{
	struct json_object *r = report(), *wanted = report(), *is;
	struct err err;

	assert_int_equal(samples_write(r, path, &err), 0);
	is = json_object_from_file(path);
	assert_non_null(is);
	assert_true(json_object_equal(is, output_at(wanted, "samples")));
	json_object_put(is);
	json_object_put(r);
	json_object_put(wanted);
}

static void unwritable(void **state)
{
	static const char *const names[] = { "/no/such/file", "/no/such/file.json" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct json_object *r = report();
		struct err err;

		assert_int_equal(samples_write(r, names[i], &err), -ENOENT);
		assert_non_null(strstr(err.text, names[i]));
		json_object_put(r);
	}
}

static void the_interval(void **state)
{
	struct target t;
	struct err err;
	FILE *file;

	target_init(&t);
	assert_int_equal(samples_ask(&t, &err), 0);
	assert_string_equal(t.lines, "stats.interval=1000\n");
	/* What is set stays, on the command line .. */
	target_init(&t);
	assert_int_equal(target_set(&t, "stats.interval", "7", &err), 0);
	assert_int_equal(samples_ask(&t, &err), 0);
	assert_string_equal(t.lines, "stats.interval=7\n");
	/* .. and in a file. */
	file = fopen(path, "w");
	assert_non_null(file);
	fputs("stats: { interval = 9; };\n", file);
	fclose(file);
	target_init(&t);
	t.config = path;
	assert_int_equal(samples_ask(&t, &err), 0);
	assert_string_equal(t.lines, "");
	assert_int_equal(target_set(&t, "gpu.functional", "on", &err), 0);
	assert_int_equal(samples_ask(&t, &err), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(csv_has_titles_and_rows, make_file, remove_file),
		cmocka_unit_test_setup_teardown(csv_has_kernels, make_file, remove_file),
		cmocka_unit_test_setup_teardown(json_is_the_object, make_file, remove_file),
		cmocka_unit_test(unwritable),
		cmocka_unit_test_setup_teardown(the_interval, make_file, remove_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
