// SPDX-License-Identifier: GPL-2.0
/*
 * Constant expressions: what each operator makes of integers and of doubles, which binds
 * first, where they may stand. What is expected is PTX ISA's "Constants", by hand.
 */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "ptx/ptx.h"

#define HEAD ".version 8.0\n.target sm_70\n.address_size 64\n"
#define REGS ".reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<9>; .reg .b64 %d<9>;\n" \
	     ".reg .f32 %f<9>; .reg .f64 %e<9>;\n.shared .align 4 .b8 shr[64];\n"

static struct ptx_module *module;

static const struct ptx_kernel *parse(const char *text)
{
	struct err err = { 0 };
	int ret = ptx_module_parse(text, strlen(text), "t.ptx", &module, &err);

	if (ret)
		fail_msg("%d: %s", ret, err.text);
	return ptx_module_kernel_at(module, 0);
}

/* The expression as the initial value of a variable. */
static uint64_t initial(const char *type, const char *expression)
{
	uint64_t value = 0;
	char text[400];

	snprintf(text, sizeof(text), HEAD ".global .%s v = %s;\n", type, expression);
	parse(text);
	memcpy(&value, ptx_module_global_image(module), ptx_module_variable_at(module, 0)->bytes);
	ptx_module_free(module);
	return value;
}

static void integers(void **state)
{
	static const struct {
		const char *text;
		int64_t value;
	} cases[] = {
		/* what binds first, and from which side */
		{ "(1+2)*4", 12 }, { "1+2*4", 9 }, { "10-4-3", 3 }, { "100/5/2", 10 }, { "2*3 % 4", 2 },
		{ "1+2<<3", 24 }, { "1<<3+2", 32 }, { "256>>2>>1", 32 }, { "1<2==1", 1 }, { "3>2>1", 0 },
		{ "5&3==3", 1 }, { "1|2&4", 1 }, { "4&6^1|8", 13 }, { "1^3&2", 3 }, { "1||0&&0", 1 },
		{ "2+2==4&&5", 1 }, { "0?1:0?2:3", 3 }, { "1?0?5:6:7", 6 }, { "1?2:3+4", 2 }, { "1+1?2:3", 2 },
		{ "1?2?3?4:5:6:7", 4 }, { "((1)?((2)):(3))", 2 }, { "((((((7))))))", 7 },
		/* signs; - of - is no other operator */
		{ "+5", 5 }, { "-(-42)", 42 }, { "--5", 5 }, { "- + -5", 5 }, { "-2*3", -6 }, { "7-10", -3 },
		{ "2--3", 5 }, { "-!0", -1 }, { "!!5", 1 }, { "~~5", 5 }, { "!~0", 0 }, { "~-1", 0 },
		/* signed and unsigned: literals */
		{ "-7/2", -3 }, { "-7U/2", 0x7ffffffffffffffc }, { "-7/2U", 0x7ffffffffffffffc },
		{ "18446744073709551615/2", INT64_MAX }, { "0xffffffffffffffff>>60", 15 },
		{ "-9223372036854775808/-1", 0 }, { "0x7fffffffffffffff/-1", -INT64_MAX },
		{ "0x10U+010+0b11", 27 }, { "-1<0", 1 }, { "-1<0U", 0 }, { "-1U<0", 0 },
		{ "-1<=0", 1 }, { "-1<=0U", 0 }, { "0>-1", 1 }, { "0U>-1", 0 }, { "0>=-1", 1 }, { "0U>=-1", 0 },
		{ "3<=3", 1 }, { "3>=3", 1 }, { "4<=3", 0 }, { "3>=4", 0 }, { "3<3", 0 }, { "3>3", 0 },
		{ "-1==0xffffffffffffffff", 1 }, { "3==4", 0 }, { "3!=3", 0 }, { "3!=4", 1 },
		/* and results: of comparisons, ! and && signed, of ~ unsigned */
		{ "(1<2)-2<0", 1 }, { "(1U<2U)-2<0", 1 }, { "(1==1U)-2<0", 1 }, { "!0U-2<0", 1 },
		{ "(1U&&1U)-2<0", 1 }, { "(1U||0)-2<0", 1 }, { "~0/2", INT64_MAX }, { "~1>>1", INT64_MAX },
		{ "(1?-1:1)/2", 0 }, { "(1?-1:1U)/2", INT64_MAX }, { "(0?1U:-1)/2", INT64_MAX },
		{ "(-1&-1)>>60", -1 }, { "(-1&-1U)>>60", 15 }, { "(-1|0)>>60", -1 }, { "(-1|0U)>>60", 15 },
		{ "(-1^0)>>60", -1 }, { "(-1^0U)>>60", 15 }, { "6&3", 2 }, { "6|1", 7 }, { "6^3", 5 },
		/* % takes its operands as unsigned and gives a signed number: (2^64 - 7) % 5 is 4 */
		{ "7 % 3", 1 }, { "-7 % 5", 4 }, { "7 % -3", 7 }, { "7U % 4-5<0", 1 },
		/* shifts: the left operand's sign, the right one unsigned */
		{ "-8>>1", -4 }, { "-1U>>1", INT64_MAX }, { "-8>>1U", -4 }, { "-2<<1", -4 }, { "1<<63", INT64_MIN },
		{ "0x8000000000000000>>63", 1 },
		/* casts */
		{ "(.u64)-1/2", INT64_MAX }, { "(.u64)-1>>60", 15 }, { "(.s64)-1U/2", 0 },
		{ "(.s64)0xffffffffffffffff>>4", -1 }, { "-(.u64)1/2", INT64_MAX }, { "(.s64)(.u64)-1/2", 0 },
		{ "(.u64)(3)", 3 }, { "!(.u64)0", 1 },
		/* 64 bits wrap */
		{ "9223372036854775807+1", INT64_MIN }, { "(9223372036854775807+1)/2", INT64_MIN / 2 },
		{ "(-9223372036854775807-1)/-1", INT64_MIN }, { "0x7fffffffffffffff*2", -2 },
		{ "0-1", -1 }, { "-9223372036854775807-2", INT64_MAX },
		/* logic */
		{ "1&&0", 0 }, { "2&&3", 1 }, { "0||0", 0 }, { "0||7", 1 }, { "!5", 0 }, { "!0", 1 },
		/* doubles compare to integers; the warp's size is a number */
		{ "1.0<2.0", 1 }, { "2.0<=1.0", 0 }, { "1.5>1.25", 1 }, { "1.0>=1.5", 0 }, { "1.0==1.0", 1 },
		{ "1.0!=1.0", 0 }, { "(1.0<2.0)+1", 2 }, { "1.5-0.5==2.0*0.5", 1 }, { "WARP_SZ*2-1", 63 },
	};
	uint64_t got;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		got = initial("s64", cases[i].text);
		if (got != (uint64_t)cases[i].value)
			fail_msg("%s is %lld, not %lld", cases[i].text, (long long)cases[i].value,
				 (long long)got);
	}
	/* Each place takes the low bits that it holds. */
	assert_int_equal(initial("u8", "255+2"), 1);
	assert_int_equal(initial("s16", "-1-1"), 0xfffe);
	assert_int_equal(initial("b32", "0x123456789"), 0x23456789);
}

static uint64_t bits_of(double d)
{
	uint64_t bits;

	memcpy(&bits, &d, sizeof(bits));
	return bits;
}

static void doubles(void **state)
{
	static const struct {
		const char *text;
		double value;
	} cases[] = {
		{ "1.5+2.0", 3.5 }, { "(1.0+2.0)*2.0", 6 }, { "1.0+2.0*2.0", 5 }, { "1.0/3.0", 1.0 / 3 },
		{ "2.0-3.0-1.0", -2 }, { "-(1.5)", -1.5 }, { "+1.5", 1.5 }, { "- -1.5", 1.5 }, { "-0.0", -0.0 },
		{ "0d3FF0000000000000+1.0", 2 }, { "1?1.25:2.5", 1.25 }, { "0?1.25:2.5", 2.5 },
		{ "1.0<2.0?3.0:4.0", 3 }, { "1e308*10.0", (double)INFINITY }, { "(1.5)", 1.5 },
		/* One rounding, to double: to float, 2^24 + 1 would be even. */
		{ "16777216.0+1.0", 16777217 },
	};
	float f = 1.0f / 3;
	uint32_t single;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		if (initial("f64", cases[i].text) != bits_of(cases[i].value))
			fail_msg("%s is not %g", cases[i].text, cases[i].value);
	}
	memcpy(&single, &f, sizeof(single));
	assert_int_equal(initial("f32", "1.0/3.0"), single);
	assert_int_equal(initial("f32", "16777216.0+1.0-16777216.0"), 0x3f800000);
	assert_int_equal(initial("f32", "0f3F800000"), 0x3f800000);
	assert_int_equal(initial("f32", "(0f7FC12345)"), 0x7fc12345);
	assert_int_equal(initial("f32", "-0f3F800000"), 0xbf800000);
	assert_int_equal(initial("b32", "1.0"), 0x3f800000);
	assert_int_equal(initial("b32", "0f40000000"), 0x40000000);
	assert_true(initial("b64", "1.0+1.0") == bits_of(2));
}

/* Lists, sizes of arrays, and addresses with what is added to them. */
static void declarations(void **state)
{
	const uint8_t *image;
	uint64_t at[4];
	int32_t list[6];

	parse(HEAD ".global .s32 a[2*3] = {1, (2 + 4), -(3), 4-1, 1?2:3, !0};\n"
	      ".global .b8 b[WARP_SZ-1][1<<1];\n"
	      ".global .u64 p[4] = {b+(2+2), b+2*3, generic(b)+1+1, b-4+8};\n");
	assert_int_equal(ptx_module_variable_at(module, 0)->bytes, 24);
	assert_int_equal(ptx_module_variable_at(module, 1)->bytes, 62);
	image = ptx_module_global_image(module);
	memcpy(list, image, sizeof(list));
	assert_int_equal(list[0], 1);
	assert_int_equal(list[1], 6);
	assert_int_equal(list[2], -3);
	assert_int_equal(list[3], 3);
	assert_int_equal(list[4], 2);
	assert_int_equal(list[5], 1);
	memcpy(at, image + ptx_module_variable_at(module, 2)->offset, sizeof(at));
	assert_int_equal(at[0], 24 + 4);
	assert_int_equal(at[1], 24 + 6);
	assert_int_equal(at[2], 24 + 2);
	assert_int_equal(at[3], 24 + 4);
	ptx_module_free(module);
}

/* The last source of an instruction: a number, or what is added to an address. */
static uint64_t operand(const char *statement)
{
	const struct ptx_insn *insn;
	char text[1000];
	uint64_t value;

	snprintf(text, sizeof(text), "%s%s\nret;\n}\n", HEAD ".entry k() {\n" REGS, statement);
	insn = parse(text)->insns;
	value = insn->src[insn->nsrc - 1].value;
	if (insn->src[insn->nsrc - 1].kind == PTX_OPND_IMM)
		assert_false(insn->src[insn->nsrc - 1].negate);
	ptx_module_free(module);
	return value;
}

static void operands(void **state)
{
	static const struct {
		const char *text;
		uint64_t value;
	} cases[] = {
		{ "add.u32 %r1, %r2, 1+2*3;", 7 }, { "add.s32 %r1, %r2, (1-2)*3;", 0xfffffffd },
		{ "add.s64 %d1, %d2, 1-2;", UINT64_MAX }, { "add.s16 %h1, %h2, ~0;", 0xffff },
		{ "mov.u32 %r1, WARP_SZ*2;", 64 }, { "mov.u32 %r1, -WARP_SZ;", 0xffffffe0 },
		{ "mov.u32 %r1, WARP_SZ;", 32 }, { "mov.u32 %r1, 7 % 4;", 3 }, { "mov.u32 %r1, !1;", 0 },
		{ "mov.u32 %r1, 1?2:3;", 2 }, { "mov.u32 %r1, 1.5>1.0;", 1 },
		{ "add.f32 %f1, %f2, 1.0/4.0;", 0x3e800000 }, { "add.f64 %e1, %e2, 0.5+0.5;", 0x3ff0000000000000 },
		{ "mov.b64 %d1, 1.0+1.0;", 0x4000000000000000 }, { "mov.f32 %f1, (0f3F800000);", 0x3f800000 },
		{ "mov.f64 %e1, 0f3F800000;", 0x3ff0000000000000 },
		/* Predicates: any number but zero is true, and ! before one is the number's. */
		{ "mov.pred %p1, 1<2;", 1 }, { "mov.pred %p1, !1;", 0 }, { "and.pred %p1, %p2, !0+1;", 1 },
		{ "and.pred %p1, %p2, 8-8;", 0 }, { "setp.eq.and.u32 %p1, %r1, 3, 2&&4;", 1 },
		{ "mov.pred %p1, !WARP_SZ;", 0 },
		{ "shl.b32 %r1, %r2, 1<<2;", 4 }, { "lop3.b32 %r1, %r2, %r3, %r4, 0x80|1;", 0x81 },
		{ "bar.sync 0, 32*2;", 64 }, { "st.global.u32 [%d1], 3*(2+1);", 9 },
		{ "st.global.v2.u32 [%d1], {1+2, (3)};", 3 },
		{ "ld.global.u32 %r1, [%d1+(2+2)];", 4 }, { "ld.global.u32 %r1, [%d1+2*4-4];", 4 },
		{ "ld.global.u32 %r1, [%d1+-(2+2)];", -4ull }, { "ld.global.u32 %r1, [%d1-4];", -4ull },
		{ "ld.global.u32 %r1, [%d1-4+8];", 4 }, { "ld.global.u32 %r1, [%d1+WARP_SZ];", 32 },
		{ "ld.global.u32 %r1, [%d1+1<<4];", 16 }, { "ld.shared.u32 %r1, [32+32];", 64 },
		{ "ld.shared.u32 %r1, [shr+2*4];", 8 }, { "mov.u32 %r1, shr+2+2;", 4 },
		{ "prefetch.global.L1 [%d1+2*4];", 8 },
	};
	uint64_t got;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		got = operand(cases[i].text);
		if (got != cases[i].value)
			fail_msg("%s has 0x%llx, not 0x%llx", cases[i].text, (unsigned long long)got,
				 (unsigned long long)cases[i].value);
	}
}

/* A register is none of them, and is negated as it was. */
static void predicates(void **state)
{
	const struct ptx_insn *insn = parse(HEAD ".entry k() {\n" REGS
		"and.pred %p1, %p2, !%p3;\nret;\n}\n")->insns;

	assert_int_equal(insn->src[1].kind, PTX_OPND_REG);
	assert_true(insn->src[1].negate);
	ptx_module_free(module);
}

/* What is passed to a function. */
static void arguments(void **state)
{
	const struct ptx_kernel *k = parse(HEAD
		".func f(.reg .b32 %a, .reg .b64 %b, .reg .f32 %c) {\n.reg .b64 %x;\n"
		"cvt.u64.u32 %x, %a;\nadd.s64 %x, %x, %b;\nst.global.u64 [%x], %b;\nst.global.f32 [%x], %c;\nret;\n}\n"
		".entry k() {\ncall f, (1+2, -(3)*2, (0f40000000));\nret;\n}\n");

	assert_int_equal(k->ncalls, 1);
	assert_int_equal(k->calls[0].nargs, 3);
	assert_int_equal(k->calls[0].args[0].value, 3);
	assert_true(k->calls[0].args[1].value == -6ull);
	assert_int_equal(k->calls[0].args[2].value, 0x40000000);
	ptx_module_free(module);
}

/* 64 of anything may be open at once: no stack grows with the text. */
static void nesting(void **state)
{
	static const char *const open[] = { "(", "-", "!", "(.u64)", "1?", "1?1:" };
	struct err err = { 0 };
	char text[2000];
	size_t i, n;
	int ret;

	for (i = 0; i < ARRAY_SIZE(open); i++) {
		strcpy(text, HEAD ".global .u64 v = ");
		for (n = 0; n < 65; n++)
			strcat(text, open[i]);
		strcat(text, "1");
		for (n = 0; n < 65 && (open[i][0] == '(' || open[i][1] == '?'); n++)
			strcat(text, open[i][1] == '?' && !open[i][2] ? ":1" : open[i][1] ? "" : ")");
		strcat(text, ";\n");
		ret = ptx_module_parse(text, strlen(text), "t.ptx", &module, &err);
		assert_int_equal(ret, -EOPNOTSUPP);
		assert_non_null(strstr(err.text, "(an expression nested more than 64 deep)"));
	}
	/* A chain of operators is no nesting. */
	strcpy(text, HEAD ".global .u64 v = 1");
	for (n = 0; n < 300; n++)
		strcat(text, "+1");
	strcat(text, ";\n");
	parse(text);
	assert_int_equal(*(const uint64_t *)ptx_module_global_image(module), 301);
	ptx_module_free(module);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(integers),
		cmocka_unit_test(doubles),
		cmocka_unit_test(declarations),
		cmocka_unit_test(operands),
		cmocka_unit_test(predicates),
		cmocka_unit_test(arguments),
		cmocka_unit_test(nesting),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
