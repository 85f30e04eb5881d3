// SPDX-License-Identifier: GPL-2.0
/*
 * Module variables: how .global is laid out, what initial values are, addresses
 * in them and in instructions, and what moves when the segment does.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "ptx/ptx.h"

#define HEAD ".version 7.0\n.target sm_70\n.address_size 64\n"
#define BASE 0x7f0000001000ull

static struct ptx_module *module;

static const struct ptx_kernel *parse(const char *text)
{
	struct err err = { 0 };
	int ret = ptx_module_parse(text, strlen(text), "t.ptx", &module, &err);

	if (ret)
		fail_msg("%d: %s", ret, err.text);
	return ptx_module_kernel_at(module, 0);
}

static void done(void)
{
	ptx_module_free(module);
	module = NULL;
}

static void refuse(const char *text, int code, const char *message)
{
	struct err err = { 0 };
	int ret = ptx_module_parse(text, strlen(text), "t.ptx", &module, &err);

	if (!ret) {
		done();
		fail_msg("accepted: %s", text);
	}
	if (ret != code || strcmp(err.text, message))
		fail_msg("%d %s\ninstead of\n%d %s", ret, err.text, code, message);
}

static const struct ptx_variable *variable(const char *name)
{
	const struct ptx_variable *v;
	unsigned int n;

	for (n = 0; (v = ptx_module_variable_at(module, n)); n++) {
		if (!strcmp(v->name, name))
			return v;
	}
	fail_msg("there is no variable '%s'", name);
	return NULL;
}

static uint64_t value(const char *name, uint32_t index, uint32_t bytes)
{
	uint64_t v = 0;

	memcpy(&v, (const uint8_t *)ptx_module_global_image(module) + variable(name)->offset +
	       (uint64_t)index * bytes, bytes);
	return v;
}

static void layout(void **state)
{
	uint32_t align;

	parse(HEAD ".global .b8 a;\n.visible .global .align 16 .b8 b[3];\n.global .f64 c;\n"
	      ".global .attribute(.managed) .align 4 .u32 d;\n.weak .global .v4 .f32 e[2];\n"
	      ".common .global .u16 f;\n.global .b32 g, h;\n");
	assert_int_equal(variable("a")->offset, 0);
	assert_int_equal(variable("b")->offset, 16);
	assert_int_equal(variable("b")->bytes, 3);
	assert_int_equal(variable("b")->align, 16);
	assert_int_equal(variable("c")->offset, 24);
	assert_int_equal(variable("d")->offset, 32);
	assert_int_equal(variable("e")->offset, 48);
	assert_int_equal(variable("e")->bytes, 32);
	assert_int_equal(variable("e")->align, 16);
	assert_int_equal(variable("f")->offset, 80);
	assert_int_equal(variable("h")->offset, 88);
	assert_int_equal(ptx_module_global_bytes(module, &align), 92);
	assert_int_equal(align, 16);
	assert_string_equal(ptx_module_variable_at(module, 0)->name, "a");
	assert_null(ptx_module_variable_at(module, 8));
	assert_int_equal(value("e", 7, 4), 0);
	done();
	parse(HEAD);
	assert_int_equal(ptx_module_global_bytes(module, &align), 0);
	assert_int_equal(align, 1);
	ptx_module_place(module, BASE);
	done();
}

static void values(void **state)
{
	static const uint8_t rows[] = { 1, 0, 0, 2, 3, 0, 4, 5, 6, 0, 0, 0 };
	double d;

	parse(HEAD ".global .u32 u = 7;\n.global .s16 s[3] = {-1, 0x7fff};\n"
	      ".global .f32 f[2] = {0f3FC00000, -2.5};\n.global .f64 g = -0d3FE0000000000000;\n"
	      ".global .b8 rows[4][3] = {{1}, {2, 3}, {4, 5, 6}};\n"
	      ".global .b8 open[] = {72, 105, 0};\n.global .s32 pairs[][2] = {{1, 2}, {3}};\n"
	      ".global .v2 .u16 v[2] = {{1, 2}, {3, 4}};\n"
	      ".global .b8 cube[2][2][2] = {{{1}, {2}}, {{3, 4}}};\n"
	      ".global .b64 x = 0xfedcba9876543210;\n.global .u8 scalar = {9};\n"
	      ".global .b32 sparse[1000][1000] = {{1}, {2}};\n");
	assert_int_equal(value("u", 0, 4), 7);
	assert_int_equal(value("s", 0, 2), 0xffff);
	assert_int_equal(value("s", 1, 2), 0x7fff);
	assert_int_equal(value("s", 2, 2), 0);
	assert_int_equal(value("f", 0, 4), 0x3fc00000);
	assert_int_equal(value("f", 1, 4), 0xc0200000);
	d = -0.5;
	assert_memory_equal((const uint8_t *)ptx_module_global_image(module) +
			    variable("g")->offset, &d, 8);
	assert_memory_equal((const uint8_t *)ptx_module_global_image(module) +
			    variable("rows")->offset, rows, sizeof(rows));
	assert_int_equal(variable("open")->bytes, 3);
	assert_int_equal(value("open", 1, 1), 105);
	assert_int_equal(variable("pairs")->bytes, 16);
	assert_int_equal(value("pairs", 2, 4), 3);
	assert_int_equal(value("v", 3, 2), 4);
	assert_true(value("cube", 0, 8) == 0x0000040300020001ull);
	assert_true(value("x", 0, 8) == 0xfedcba9876543210ull);
	assert_int_equal(value("scalar", 0, 1), 9);
	assert_int_equal(value("sparse", 0, 4), 1);
	assert_int_equal(value("sparse", 1, 4), 0);
	assert_int_equal(value("sparse", 1000, 4), 2);
	done();
}

static void addresses(void **state)
{
	const struct ptx_kernel *k;
	uint64_t at, consts[5];
	uint32_t i;

	k = parse(HEAD ".global .align 8 .b8 first[24];\n.const .align 8 .u64 filler = 5;\n"
		  ".const .align 4 .u32 there[4] = {1, 2, 3, 4};\n.func f() { ret; }\n.func g() { ret; }\n"
		  ".global .u64 p[4] = {first, first+8, generic(first)+16, generic(there+4)};\n"
		  ".global .align 8 .b8 bytes[10] = {1, 0xff(generic(first)+1), 0xff00(first), 0xFF0000(first), 0xff000000(first),"
		  " 0xff00000000(first), 0xff0000000000(first)};\n"
		  ".const .u64 table[5] = {first, generic(there), there+8, 3, generic(p)};\n"
		  ".global .u64 code[2] = {f, g};\n"
		  ".entry k() { ret; }\n");
	for (i = 0; i < 3; i++) {
		uint64_t base = i == 0 ? 0 : i == 1 ? BASE : 0x10000;

		if (i)
			ptx_module_place(module, base);
		assert_true(ptx_module_global_base(module) == base);
		at = base + variable("first")->offset;
		assert_true(value("p", 0, 8) == at);
		assert_true(value("p", 1, 8) == at + 8);
		assert_true(value("p", 2, 8) == at + 16);
		assert_true(value("p", 3, 8) == PTX_CONST_WINDOW + 8 + 4);
		assert_int_equal(value("bytes", 0, 1), 1);
		assert_int_equal(value("bytes", 1, 1), (at + 1) & 0xff);
		assert_int_equal(value("bytes", 2, 1), at >> 8 & 0xff);
		assert_int_equal(value("bytes", 6, 1), at >> 40 & 0xff);
		memcpy(consts, (const uint8_t *)k->const_data + 24, sizeof(consts));
		assert_true(consts[0] == at);
		assert_true(consts[1] == PTX_CONST_WINDOW + 8);
		assert_true(consts[2] == 8 + 8);
		assert_true(consts[3] == 3);
		assert_true(consts[4] == base + variable("p")->offset);
	}
	/* Functions have addresses that differ, and which are in no memory. */
	assert_true(value("code", 0, 8) != value("code", 1, 8));
	assert_true(value("code", 0, 8) > PTX_PARAM_WINDOW);
	done();
}

/* Operands of instructions hold the address, in functions too, and move with it. */
static void operands(void **state)
{
	const struct ptx_kernel *k = parse(HEAD
		".extern .global .align 4 .b8 later[];\n.global .u32 pad;\n"
		".func f() { .reg .b32 %r; ld.global.u32 %r, [later+4]; st.global.u32 [pad], %r; ret; }\n"
		".entry k() { .reg .b64 %d<9>; .reg .b32 %r; mov.u64 %d1, later; cvta.global.u64 %d2, later;\n"
		"ld.u32 %r, [later+4]; st.global.u32 [%d1+4], %r; st.global.u32 [%d2+4], %r; atom.global.add.u32 %r, [later], 1;\n"
		"{ .global .u32 inner = 3; st.global.u32 [inner], %r; } call f; ret; }\n"
		".visible .global .align 4 .b8 later[8] = {1, 2, 3, 4, 5};\n");
	uint64_t base, later = variable("later")->offset;
	int round;

	assert_int_equal(variable("later")->bytes, 8);
	assert_int_equal(value("later", 4, 1), 5);
	for (round = 0; round < 2; round++) {
		const struct ptx_insn *i = k->insns;

		base = round ? BASE : 0;
		ptx_module_place(module, base);
		assert_int_equal(i[0].src[0].kind, PTX_OPND_SYMBOL);
		assert_int_equal(i[0].src[0].space, PTX_SPACE_GLOBAL);
		assert_true(i[0].src[0].value == base + later);
		assert_true(i[1].src[0].value == base + later);
		assert_true(i[2].src[0].value == base + later + 4);
		/* An offset from a register is no address. */
		assert_true(i[3].src[0].value == 4);
		assert_true(i[5].src[0].value == base + later);
		assert_true(i[6].src[0].value == base + 4);
		i += k->functions[1].first;
		assert_true(i[0].src[0].value == base + later + 4);
		assert_true(i[1].src[0].value == base);
	}
	done();
}

static void refusals(void **state)
{
	static const struct {
		const char *text, *message;
		int code;
	} cases[] = {
		{ ".global .u32 a[2] = {1, 2, 3};", "t.ptx:4: more values than elements: `.global .u32 a[2] = {`", -EINVAL },
		{ ".global .b8 a[2][2] = {{1, 2, 3}, {4}};", "t.ptx:4: more values than elements: `.global .b8 a[2][2] = {`", -EINVAL },
		{ ".global .f32 a = 1;", "t.ptx:4: a floating-point number is expected: `.global .f32 a = 1;`", -EINVAL },
		{ ".global .u32 a = 1.5;", "t.ptx:4: an integer is expected: `.global .u32 a = 1.5;`", -EINVAL },
		{ ".global .u32 a = ;", "t.ptx:4: an initial value is expected: `.global .u32 a = ;`", -EINVAL },
		{ ".global .u32 a;\n.global .u32 p = a;", "t.ptx:5: an address takes 64 bits: `.global .u32 p = a;`", -EINVAL },
		{ ".global .u32 a;\n.global .f64 p = a;", "t.ptx:5: an address is not a floating-point number: `.global .f64 p = a;`", -EINVAL },
		{ ".global .u32 a;\n.global .b8 p = 0(a);", "t.ptx:5: the mask of an address is zero: `.global .b8 p = 0(a);`", -EINVAL },
		{ ".shared .u32 s;\n.global .u64 p = s;",
		  "t.ptx:5: an initial value is the address of a .global or .const variable: `.global .u64 p = s;`", -EINVAL },
		{ ".global .u32 a[];", "t.ptx:4: the array's size is missing: `.global .u32 a[];`", -EINVAL },
		{ ".global .u32 a[2][];", "t.ptx:4: only the first dimension may be left out: `.global .u32 a[2][];`", -EINVAL },
		{ ".global .u32 a[1][1][1][1][1][1][1][1][1];",
		  "t.ptx:4: not supported: `.global .u32 a[1][1][1][1][1][1][1][1][1];` (arrays of more than 8 dimensions)", -EOPNOTSUPP },
		{ ".global .b8 a[268435457];", "t.ptx:4: .global variables take more than 268435456 bytes: `.global .b8 a[268435457];`", -EINVAL },
		{ ".global .u32 a;\n.global .u32 a;", "t.ptx:5: 'a' is declared twice: `.global .u32 a;`", -EINVAL },
		{ ".extern .global .u32 a = 1;", "t.ptx:4: a variable of this space cannot be initialised: `.extern .global .u32 a = 1;`", -EINVAL },
		{ ".extern .global .u32 a;\n.entry k() { .reg .b32 r;\nld.global.u32 r, [a]; ret; }",
		  "t.ptx:6: not supported: `ld.global.u32 r, [a];` ('a' is a variable of another module)", -EOPNOTSUPP },
		{ ".extern .global .u32 a;\n.global .u64 p = a;",
		  "t.ptx:5: not supported: `.global .u64 p = a;` ('a' is a variable of another module)", -EOPNOTSUPP },
		{ ".global .samplerref t;", "t.ptx:4: not supported: `.global .samplerref t;` (no type .samplerref)", -EOPNOTSUPP },
		{ ".global .b8 a[2] = {{{{{{{{{{{{{{{{{1}}}}}}}}}}}}}}}}};",
		  "t.ptx:4: not supported: `.global .b8 a[2] = {` (lists nested more than 16 deep)", -EOPNOTSUPP },
	};
	char text[512];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		snprintf(text, sizeof(text), HEAD "%s\n", cases[i].text);
		refuse(text, cases[i].code, cases[i].message);
	}
	/* Nobody uses it: it does not matter. */
	parse(HEAD ".extern .global .u32 a;\n.entry k() { ret; }\n");
	done();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(layout),
		cmocka_unit_test(values),
		cmocka_unit_test(addresses),
		cmocka_unit_test(operands),
		cmocka_unit_test(refusals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
