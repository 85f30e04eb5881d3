// SPDX-License-Identifier: GPL-2.0
/*
 * --arg of gpuemu ptx: the bytes that each kind passes, what is said of a wrong
 * one, the check against a kernel's parameters, and buffers from and to files.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "arg.h"
#include "target.h"

/* The bytes in memory, as hexadecimal digits. */
static const struct {
	const char *spec, *hex;
} values[] = {
	{ "u8:255", "ff" },
	{ "u8:0x10", "10" },
	{ "u16:0xbeef", "efbe" },
	{ "u32:1K", "00040000" },
	{ "u32:4294967295", "ffffffff" },
	{ "u64:0x0102030405060708", "0807060504030201" },
	{ "u64:18446744073709551615", "ffffffffffffffff" },
	{ "s8:-128", "80" },
	{ "s16:-2", "feff" },
	{ "s32:-1", "ffffffff" },
	{ "s32:2147483647", "ffffff7f" },
	{ "s64:-9223372036854775808", "0000000000000080" },
	{ "f32:1.5", "0000c03f" },
	{ "f32:-0x1p-1", "000000bf" },
	{ "f32:0f3F800000", "0000803f" },
	{ "f32:inf", "0000807f" },
	{ "f64:-2", "00000000000000c0" },
	{ "f64:0d3FF8000000000000", "000000000000f83f" },
	{ "bytes:0a0B0c", "0a0b0c" },
	/* C's layout: 1, pad to 8, 8, 2, pad to 4, 4, pad to 8. */
	{ "struct:u8:1,f64:1,u16:2,f32:1", "0100000000000000" "000000000000f03f" "0200" "0000" "0000803f" },
	{ "struct:u64:1,u8:2", "0100000000000000" "0200000000000000" },
	{ "struct:bytes:010203", "010203" },
};

static void hex_of(const struct arg *arg, char text[200])
{
	assert_true(arg->bytes < 100);
	for (size_t i = 0; i < arg->bytes; i++)
		sprintf(text + 2 * i, "%02x", arg->image[i]);
}

static void values_are_their_bytes(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
		struct arg_list list = { 0 };
		struct err err = { "" };
		char hex[200] = "";

		if (arg_parse(&list, values[i].spec, &err))
			fail_msg("%s: %s", values[i].spec, err.text);
		assert_int_equal(list.count, 1);
		assert_int_equal(list.nbuffers, 0);
		hex_of(&list.args[0], hex);
		if (strcmp(hex, values[i].hex))
			fail_msg("%s: %s, not %s", values[i].spec, hex, values[i].hex);
		arg_free(&list);
	}
}

static void wrong_ones_say_what_is_expected(void **state)
{
	static const struct {
		const char *spec, *says[3];
	} cases[] = {
		{ "", { "KIND", "u8, u16", "struct" } },
		{ "u32", { "'u32'", "KIND", "u32" } },
		{ "int:5", { "'int:5'", "u32", "inout" } },
		{ "u3:5", { "'u3:5'", "kinds" } },
		{ "u8:256", { "u8:256", "0 to 255" } },
		{ "u32:", { "not an unsigned integer", "u32:VALUE" } },
		{ "u32:-1", { "'u32:-1'", "not an unsigned integer" } },
		{ "u32:1.5", { "1.5", "u32:VALUE" } },
		{ "u32:4G", { "0 to 4294967295" } },
		{ "u64:18446744073709551616", { "0 to 18446744073709551615" } },
		{ "s8:128", { "-128 to 127" } },
		{ "s8:-129", { "-128 to 127" } },
		{ "s32:--1", { "not an integer" } },
		{ "f32:1.0x", { "not a number", "f32:VALUE" } },
		{ "f32:", { "not a number" } },
		{ "f32:1e39", { "more than a float" } },
		{ "f32:0f3F80000", { "not a number" } },
		{ "f64:1e999", { "more than a double" } },
		{ "in:", { "no file", "in:FILE" } },
		{ "out:4K", { "no file", "out:SIZE:FILE" } },
		{ "out:4K:", { "no file" } },
		{ "out:0:x", { "above 0" } },
		{ "out:many:x", { "size", "out:SIZE:FILE" } },
		{ "inout:a", { "two files", "inout:FILE:FILE" } },
		{ "inout::b", { "two files" } },
		{ "inout:a:", { "two files" } },
		{ "zero:0", { "above 0", "zero:SIZE" } },
		{ "zero:8589934592G", { "too large" } },
		{ "iota32:2305843009213693952", { "too large" } },
		{ "iota32:-1", { "above 0" } },
		{ "rand32:4", { "no seed", "rand32:N:SEED" } },
		{ "rand32:4:x", { "seed" } },
		{ "randf32:x:1", { "above 0" } },
		{ "buf:0", { "argument 0 has no buffer" } },
		{ "buf:1", { "1 is not an argument before" } },
		{ "buf:x", { "not an argument's number", "buf:I" } },
		{ "bytes:", { "two hexadecimal digits" } },
		{ "bytes:abc", { "two hexadecimal digits" } },
		{ "bytes:0g", { "not hexadecimal" } },
		{ "struct:u32:1,", { "KIND" } },
		{ "struct:u32:1,struct:u8:1", { "struct in a struct" } },
		{ "struct:u32:1,f32:x", { "'f32:x'", "not a number" } },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct arg_list list = { 0 };
		struct err err = { "" };

		if (arg_parse(&list, "u8:1", &err))
			fail_msg("%s", err.text);
		if (arg_parse(&list, cases[i].spec, &err) != -EINVAL)
			fail_msg("'%s' is taken", cases[i].spec);
		assert_int_equal(list.count, 1);
		if (strncmp(err.text, "--arg 2 ", 8))
			fail_msg("'%s': \"%s\" does not say which", cases[i].spec, err.text);
		for (size_t j = 0; j < 3 && cases[i].says[j]; j++)
			if (!strstr(err.text, cases[i].says[j]))
				fail_msg("'%s': \"%s\" does not say %s", cases[i].spec, err.text,
					 cases[i].says[j]);
		arg_free(&list);
	}
}

static void one(struct arg_list *list, const char *spec)
{
	struct err err = { "" };

	if (arg_parse(list, spec, &err))
		fail_msg("%s: %s", spec, err.text);
}

/* --- against a kernel ----------------------------------------------------------- */

static const char text[] =
	".version 6.0\n.target sm_35\n.address_size 64\n"
	".visible .entry k(.param .u64 k_param_0, .param .f32 k_param_1,\n"
	"	.param .u32 k_param_2, .param .align 4 .b8 k_param_3[12])\n{\n\tret;\n}\n"
	".visible .entry none()\n{\n\tret;\n}\n";

static void check(const struct ptx_kernel *k, const char *const specs[], const char *says)
{
	struct arg_list list = { 0 };
	struct err err = { "" };
	int ret;

	for (size_t i = 0; specs[i]; i++)
		one(&list, specs[i]);
	ret = arg_check(&list, k, &err);
	if (!says && ret)
		fail_msg("%s ..: %s", specs[0], err.text);
	if (says && (ret != -EINVAL || !strstr(err.text, says)))
		fail_msg("%s ..: %d \"%s\" does not say %s", specs[0], ret, err.text, says);
	arg_free(&list);
}

static void arguments_are_held_against_parameters(void **state)
{
	static const struct {
		const char *specs[6], *says;
	} cases[] = {
		{ { "zero:4", "f32:1", "u32:1", "bytes:0102030405060708090a0b0c" }, NULL },
		{ { "u64:0", "f32:1", "s32:-1", "struct:f32:1,u32:2,u16:3" }, NULL },
		{ { "bytes:0102030405060708", "bytes:01020304", "bytes:01020304",
		    "struct:u32:1,u32:2,u32:3" }, NULL },
		{ { "zero:4" }, "has 4 parameters of 8, 4, 4 and 12 bytes, and 1 --arg is given" },
		{ { "zero:4", "f32:1", "u32:1", "struct:u64:1,u32:2" },
		  "--arg 4 'struct:u64:1,u32:2' has 16 bytes, parameter 4 of kernel 'k' has 12" },
		{ { "zero:4", "f64:1", "u32:1", "bytes:00" },
		  "--arg 2 'f64:1' has 8 bytes, parameter 2 of kernel 'k' has 4" },
		{ { "zero:4", "u32:1", "u32:1", "bytes:00" }, "--arg 2 'u32:1': parameter 2 of kernel 'k' is a float" },
		{ { "zero:4", "f32:1", "f32:1", "bytes:00" }, "parameter 3 of kernel 'k' is an integer" },
	};
	struct ptx_module *m;
	struct err err;

	if (ptx_module_parse(text, strlen(text), "k.ptx", &m, &err))
		fail_msg("%s", err.text);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		check(ptx_module_kernel(m, "k"), cases[i].specs, cases[i].says);
	check(ptx_module_kernel(m, "none"), (const char *const[]){ NULL }, NULL);
	check(ptx_module_kernel(m, "none"), (const char *const[]){ "u8:1", NULL },
	      "'none' has 0 parameters, and 1 --arg is given");
	ptx_module_free(m);
}

/* --- buffers -------------------------------------------------------------------- */

struct fixture {
	struct gpuemu_ctx *ctx;
	char dir[32];
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct target t;
	struct err err;

	strcpy(f->dir, "/tmp/gpuemu-arg-XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	target_init(&t);
	t.backend = "sim";
	if (target_open(&t, &f->ctx, &err))
		fail_msg("%s", err.text);
	*state = f;
	return 0;
}

static const char *path(const struct fixture *f, const char *name)
{
	static char paths[4][64];
	static unsigned int next;
	char *p = paths[next++ % 4];

	snprintf(p, sizeof(paths[0]), "%s/%s", f->dir, name);
	return p;
}

static int teardown(void **state)
{
	static const char *const names[] = { "a", "b", "c", "empty" };
	struct fixture *f = *state;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		unlink(path(f, names[i]));
	rmdir(f->dir);
	gpuemu_close(f->ctx);
	free(f);
	return 0;
}

static void write_file(const char *name, const char *data)
{
	FILE *file = fopen(name, "w");

	assert_non_null(file);
	fputs(data, file);
	fclose(file);
}

static void read_file(const char *name, char *data, size_t bytes)
{
	FILE *file = fopen(name, "r");

	assert_non_null(file);
	data[fread(data, 1, bytes - 1, file)] = '\0';
	fclose(file);
}

static uint64_t address(const struct arg *arg, size_t offset)
{
	uint64_t a;

	memcpy(&a, arg->image + offset, sizeof(a));
	return a;
}

static void files_go_in_and_come_out(void **state)
{
	struct fixture *f = *state;
	struct arg_list list = { 0 };
	struct err err = { "" };
	char spec[128], data[64];
	char *memory;

	write_file(path(f, "a"), "hello, world");
	snprintf(spec, sizeof(spec), "in:%s", path(f, "a"));
	one(&list, spec);
	snprintf(spec, sizeof(spec), "inout:%s:%s", path(f, "a"), path(f, "b"));
	one(&list, spec);
	snprintf(spec, sizeof(spec), "out:5:%s", path(f, "c"));
	one(&list, spec);
	if (arg_place(&list, f->ctx, &err))
		fail_msg("%s", err.text);
	assert_int_equal(arg_footprint(&list), 12 + 12 + 5);
	for (unsigned int i = 0; i < 3; i++)
		assert_ptr_equal((void *)address(&list.args[i], 0), list.buffers[i].memory);
	assert_memory_equal(list.buffers[0].memory, "hello, world", 12);
	memory = list.buffers[1].memory;
	assert_memory_equal(memory, "hello, world", 12);
	memory[0] = 'j';
	memory = list.buffers[2].memory;
	assert_memory_equal(memory, "\0\0\0\0\0", 5);
	memcpy(memory, "12345", 5);
	if (arg_write(&list, &err))
		fail_msg("%s", err.text);
	read_file(path(f, "a"), data, sizeof(data));
	assert_string_equal(data, "hello, world");
	read_file(path(f, "b"), data, sizeof(data));
	assert_string_equal(data, "jello, world");
	read_file(path(f, "c"), data, sizeof(data));
	assert_string_equal(data, "12345");
	arg_free(&list);
}

static void filled_buffers(void **state)
{
	struct fixture *f = *state;
	struct arg_list list = { 0 };
	struct err err = { "" };
	const uint32_t *iota, *a, *b, *c;
	const float *r;
	double sum = 0;

	one(&list, "iota32:1K");
	one(&list, "rand32:1K:7");
	one(&list, "rand32:1K:7");
	one(&list, "rand32:1K:8");
	one(&list, "randf32:1K:7");
	one(&list, "zero:100");
	if (arg_place(&list, f->ctx, &err))
		fail_msg("%s", err.text);
	assert_int_equal(arg_footprint(&list), 5 * 4096 + 100);
	iota = list.buffers[0].memory;
	a = list.buffers[1].memory;
	b = list.buffers[2].memory;
	c = list.buffers[3].memory;
	r = list.buffers[4].memory;
	for (uint32_t i = 0; i < 1024; i++) {
		assert_int_equal(iota[i], i);
		assert_true(r[i] >= 0 && r[i] < 1);
		sum += r[i];
	}
	assert_memory_equal(a, b, 4096);
	assert_memory_not_equal(a, c, 4096);
	/* The mean of 1024 is within 5 deviations of a half. */
	assert_true(sum > 1024 * 0.45 && sum < 1024 * 0.55);
	for (size_t i = 0; i < 100; i++)
		assert_int_equal(((char *)list.buffers[5].memory)[i], 0);
	arg_free(&list);
}

/* One buffer, several addresses: in an argument, beside values in a struct. */
static void addresses_of_one_buffer(void **state)
{
	struct fixture *f = *state;
	struct arg_list list = { 0 };
	struct err err = { "" };
	uint64_t base;

	one(&list, "iota32:4K");
	one(&list, "buf:0");
	one(&list, "buf:0+1K");
	one(&list, "buf:2+16");
	one(&list, "struct:u32:7,buf:0+4,zero:8");
	if (!arg_parse(&list, "buf:4", &err) || !strstr(err.text, "several"))
		fail_msg("buf:4: %s", err.text);
	if (!arg_parse(&list, "buf:5", &err) || !strstr(err.text, "before this one"))
		fail_msg("buf:5: %s", err.text);
	assert_int_equal(list.nbuffers, 2);
	if (arg_place(&list, f->ctx, &err))
		fail_msg("%s", err.text);
	base = (uintptr_t)list.buffers[0].memory;
	assert_int_equal(address(&list.args[0], 0), base);
	assert_int_equal(address(&list.args[1], 0), base);
	assert_int_equal(address(&list.args[2], 0), base + 1024);
	assert_int_equal(address(&list.args[3], 0), base + 1040);
	assert_int_equal(list.args[4].bytes, 24);
	assert_int_equal(list.args[4].image[0], 7);
	assert_int_equal(address(&list.args[4], 8), base + 4);
	assert_int_equal(address(&list.args[4], 16), (uintptr_t)list.buffers[1].memory);
	arg_free(&list);
}

static void bad_files_are_named(void **state)
{
	struct fixture *f = *state;
	struct arg_list list = { 0 };
	struct err err = { "" };
	char spec[128];

	snprintf(spec, sizeof(spec), "in:%s", path(f, "missing"));
	one(&list, spec);
	assert_int_equal(arg_place(&list, f->ctx, &err), -ENOENT);
	assert_non_null(strstr(err.text, path(f, "missing")));
	arg_free(&list);

	write_file(path(f, "empty"), "");
	snprintf(spec, sizeof(spec), "inout:%s:%s", path(f, "empty"), path(f, "b"));
	one(&list, spec);
	assert_int_equal(arg_place(&list, f->ctx, &err), -EINVAL);
	assert_non_null(strstr(err.text, path(f, "empty")));
	arg_free(&list);

	snprintf(spec, sizeof(spec), "out:4:%s", path(f, "no/such"));
	one(&list, spec);
	assert_int_equal(arg_place(&list, f->ctx, &err), 0);
	assert_int_equal(arg_write(&list, &err), -ENOENT);
	assert_non_null(strstr(err.text, path(f, "no/such")));
	arg_free(&list);
}

/* A new kind needs a case above: of values, or one that is named here. */
static void every_kind_has_a_case(void **state)
{
	static const char *const buffers = " in out inout zero iota32 rand32 randf32 buf ";
	const char *name, *form, *help;
	char word[32];

	for (unsigned int n = 0; arg_kind_row(n, &name, &form, &help); n++) {
		bool found;

		snprintf(word, sizeof(word), " %s ", name);
		found = strstr(buffers, word);
		word[strlen(word) - 1] = ':';
		for (size_t i = 0; i < ARRAY_SIZE(values) && !found; i++)
			found = !strncmp(values[i].spec, word + 1, strlen(word + 1));
		if (!found)
			fail_msg("no case for %s", name);
		assert_true(*form && *help);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_are_their_bytes),
		cmocka_unit_test(wrong_ones_say_what_is_expected),
		cmocka_unit_test(arguments_are_held_against_parameters),
		cmocka_unit_test_setup_teardown(files_go_in_and_come_out, setup, teardown),
		cmocka_unit_test_setup_teardown(filled_buffers, setup, teardown),
		cmocka_unit_test_setup_teardown(addresses_of_one_buffer, setup, teardown),
		cmocka_unit_test_setup_teardown(bad_files_are_named, setup, teardown),
		cmocka_unit_test(every_kind_has_a_case),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
