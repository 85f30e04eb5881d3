// SPDX-License-Identifier: GPL-2.0
/*
 * Integers beyond one instruction: chains of carries against 128-bit
 * arithmetic; and dot products, fns, bmsk and szext against the loops of the
 * specification.
 */
#include "exec_cases.h"

typedef unsigned __int128 uwide;
typedef __int128 swide;

/* %l1 and %l2 in pieces, and %l0 from pieces: 64 bits by words of 32. */
#define SPLIT	".reg .b32 %a, %b, %c, %d, %x, %y;\n" \
		"mov.b64 {%a, %b}, %l1;\nmov.b64 {%c, %d}, %l2;\n"
#define JOIN	"\nmov.b64 %l0, {%x, %y};"

static void add_subtract(void **state)
{
	const struct op_case cases[] = {
		CASE(SPLIT "add.cc.u32 %x, %a, %c;\naddc.u32 %y, %b, %d;" JOIN, "lll", a + b),
		CASE(SPLIT "add.cc.s32 %x, %a, %c;\naddc.s32 %y, %b, %d;" JOIN, "lll", a + b),
		CASE(SPLIT "sub.cc.u32 %x, %a, %c;\nsubc.u32 %y, %b, %d;" JOIN, "lll", a - b),
		CASE(SPLIT "sub.cc.s32 %x, %a, %c;\nsubc.s32 %y, %b, %d;" JOIN, "lll", a - b),
		/* The carry itself. */
		CASE("add.cc.u32 %w3, %w1, %w2;\naddc.u32 %w0, 0, 0;", "www", (a + b) >> 32),
		CASE("sub.cc.u32 %w3, %w1, %w2;\nsubc.u32 %w0, 0, 0;", "www", a < b ? ~0u : 0),
		CASE("add.cc.u64 %l3, %l1, %l2;\naddc.u64 %l0, 0, 0;", "lll", ((uwide)a + b) >> 64),
		CASE("sub.cc.s64 %l3, %l1, %l2;\nsubc.s64 %l0, 0, 0;", "lll", a < b ? ~0ull : 0),
		/* In and out again: the middle word of three. */
		CASE("add.cc.u32 %w4, %w1, %w2;\naddc.cc.u32 %w4, %w3, %w1;\naddc.u32 %w0, 0, 0;", "wwww",
		     (c + a + ((a + b) >> 32)) >> 32),
		CASE("sub.cc.u32 %w4, %w1, %w2;\nsubc.cc.u32 %w4, %w3, %w1;\nsubc.u32 %w0, 0, 0;", "wwww",
		     (swide)c - a - (a < b) < 0 ? ~0u : 0),
		CASE("add.cc.u64 %l4, %l1, %l2;\naddc.cc.u64 %l0, %l3, %l1;", "llll",
		     c + a + (uint64_t)(((uwide)a + b) >> 64)),
		CASE("add.cc.u64 %l4, %l1, %l2;\naddc.cc.s64 %l4, %l3, %l1;\naddc.u64 %l0, 0, 0;", "llll",
		     ((uwide)c + a + (((uwide)a + b) >> 64)) >> 64),
		CASE("sub.cc.u64 %l4, %l1, %l2;\nsubc.cc.u64 %l4, %l3, %l1;\nsubc.u64 %l0, %l2, 0;", "llll",
		     b - ((swide)c - a - (a < b) < 0)),
		/*
		 * Sums and differences mixed: the flag is the adder's carry, as silicon has it. So
		 * it is 1 where sub.cc does not borrow, and subc takes 1 away where add.cc left 0.
		 */
		CASE("sub.cc.u32 %w3, %w1, %w2;\naddc.u32 %w0, 0, 0;", "www", a >= b),
		CASE("sub.cc.u64 %l3, %l1, %l2;\naddc.u64 %l0, %l1, %l2;", "lll", a + b + (a >= b)),
		CASE("add.cc.u32 %w3, %w1, %w2;\nsubc.u32 %w0, %w2, %w1;", "www",
		     b - a - !((a + b) >> 32)),
		CASE("add.cc.u32 %w4, 0, 0;\nsubc.u32 %w0, 0, 0;", "ww", ~0u),
		CASE("sub.cc.u32 %w4, %w1, %w2;\nsubc.cc.u32 %w4, %w3, %w1;\naddc.u32 %w0, 0, 0;", "wwww",
		     (swide)c - a - (a < b) >= 0),
		CASE("sub.cc.u32 %w4, %w1, %w2;\nmadc.lo.cc.u32 %w4, %w1, %w3, %w2;\nsubc.u32 %w0, %w1, %w2;",
		     "wwww", a - b - !(((uint32_t)(a * c) + b + (a >= b)) >> 32)),
		CASE("mad.lo.cc.u32 %w4, %w1, %w2, %w3;\nsubc.u32 %w0, %w1, 0;", "wwww",
		     a - !(((uint32_t)(a * b) + c) >> 32)),
		/* A carry lives across what does not touch it, and under a guard. */
		CASE("add.cc.u32 %w4, %w1, %w2;\nmul.lo.u32 %w5, %w1, %w2;\n@%p3 addc.u32 %w0, %w5, 1;", "wwwp",
		     c & 1 ? a * b + 1 + ((a + b) >> 32) : 0x5a5a5a5a),
	};

	run_cases(cases, ARRAY_SIZE(cases));
}

static uint32_t low(uint64_t v)
{
	return v;
}

static void multiply(void **state)
{
	const struct op_case cases[] = {
		/* a * b + c, its 64 bits by halves. */
		CASE("mad.lo.cc.u32 %w4, %w1, %w2, %w3;\nmadc.hi.u32 %w5, %w1, %w2, 0;\nmov.b64 %l0, {%w4, %w5};",
		     "lwww", a * b + c),
		CASE("mad.lo.cc.s32 %w4, %w1, %w2, %w3;\nmadc.hi.s32 %w5, %w1, %w2, 0;\nmov.b64 %l0, {%w4, %w5};",
		     "lwww", (int64_t)S32(a) * S32(b) + c),
		CASE("mad.lo.cc.u64 %l4, %l1, %l2, %l3;\nmadc.hi.u64 %l0, %l1, %l2, %l3;", "llll",
		     (uint64_t)(((uwide)a * b + c) >> 64) + c),
		CASE("mad.lo.cc.s64 %l4, %l1, %l2, %l3;\nmadc.hi.s64 %l0, %l1, %l2, 0;", "llll",
		     ((swide)S64(a) * S64(b) + (swide)c) >> 64),
		/* Carries out of each of them. */
		CASE("mad.lo.cc.u32 %w4, %w1, %w2, %w3;\naddc.u32 %w0, 0, 0;", "wwww", (low(a * b) + c) >> 32),
		CASE("mad.hi.cc.u32 %w4, %w1, %w2, %w3;\naddc.u32 %w0, 0, 0;", "wwww", ((a * b >> 32) + c) >> 32),
		CASE("mad.hi.cc.s32 %w4, %w1, %w2, %w3;\naddc.u32 %w0, 0, 0;", "wwww",
		     (low((int64_t)S32(a) * S32(b) >> 32) + c) >> 32),
		CASE("mad.hi.cc.u64 %l4, %l1, %l2, %l3;\naddc.u64 %l0, 0, 0;", "llll",
		     (((uwide)a * b >> 64) + c) >> 64),
		CASE("mad.hi.cc.s64 %l4, %l1, %l2, %l3;\naddc.u64 %l0, 0, 0;", "llll",
		     ((uwide)(uint64_t)((swide)S64(a) * S64(b) >> 64) + c) >> 64),
		CASE("add.cc.u32 %w4, %w1, %w2;\nmadc.lo.cc.u32 %w4, %w1, %w3, %w2;\naddc.u32 %w0, 0, 0;", "wwww",
		     (low(a * c) + b + ((a + b) >> 32)) >> 32),
		CASE("add.cc.u64 %l4, %l1, %l2;\nmadc.lo.s64 %l0, %l1, %l3, %l2;", "llll",
		     a * c + b + (uint64_t)(((uwide)a + b) >> 64)),
		CASE("add.cc.u32 %w4, %w1, %w2;\nmadc.hi.cc.u32 %w4, %w1, %w3, %w2;\naddc.u32 %w0, %w4, 0;", "wwww",
		     ({ uint64_t t_ = (a * c >> 32) + b + ((a + b) >> 32); t_ + (t_ >> 32); })),
	};

	run_cases(cases, ARRAY_SIZE(cases));
}

static int64_t byte_of(uint64_t v, unsigned int k, bool is_signed)
{
	return is_signed ? S8(v >> 8 * k) : U8(v >> 8 * k);
}

static int64_t word_of(uint64_t v, unsigned int k, bool is_signed)
{
	return is_signed ? S16(v >> 16 * k) : U16(v >> 16 * k);
}

static uint64_t dot4(uint64_t a, uint64_t b, uint64_t c, bool sa, bool sb)
{
	unsigned int k;

	for (k = 0; k < 4; k++)
		c += byte_of(a, k, sa) * byte_of(b, k, sb);
	return c;
}

static uint64_t dot2(uint64_t a, uint64_t b, uint64_t c, bool sa, bool sb, unsigned int first)
{
	unsigned int k;

	for (k = 0; k < 2; k++)
		c += word_of(a, k, sa) * byte_of(b, first + k, sb);
	return c;
}

#define DOTS(ta, tb, sa, sb) \
	CASE("dp4a." ta "." tb, "wwww", dot4(a, b, c, sa, sb)), \
	CASE("dp2a.lo." ta "." tb, "wwww", dot2(a, b, c, sa, sb, 0)), \
	CASE("dp2a.hi." ta "." tb, "wwww", dot2(a, b, c, sa, sb, 2))

/* PTX ISA, fns. */
static uint32_t find_nth(uint32_t mask, uint32_t base, int32_t offset)
{
	int64_t pos = base, count = offset < 0 ? -(int64_t)offset - 1 : (int64_t)offset - 1;
	int step = offset > 0 ? 1 : -1;

	if (!offset)
		return mask >> base & 1 ? base : ~0u;
	for (; pos >= 0 && pos < 32; pos += step) {
		if (!(mask >> pos & 1))
			continue;
		if (!count)
			return pos;
		count--;
	}
	return ~0u;
}

static uint32_t bit_mask(uint32_t a, uint32_t b, bool clamp)
{
	uint32_t a1 = a & 31, b1 = b & 31, mask0 = ~0u << a1, sum = a1 + b1, mask1;

	mask1 = sum < 32 ? ~0u << sum : 0;
	if (clamp && a >= 32)
		mask0 = 0;
	if (sum >= 32 || (clamp && (a >= 32 || b >= 32)))
		mask1 = 0;
	else if (!b1)
		mask1 = ~0u;
	return mask0 & ~mask1;
}

static uint32_t extend(uint32_t a, uint32_t b, bool clamp, bool is_signed)
{
	uint32_t n = b & 31;

	if (clamp && b >= 32)
		return a;
	if (!n)
		return 0;
	return is_signed ? (uint32_t)((int32_t)(a << (32 - n)) >> (32 - n)) : a & ((1u << n) - 1);
}

static void others(void **state)
{
	const struct op_case cases[] = {
		DOTS("u32", "u32", false, false), DOTS("u32", "s32", false, true),
		DOTS("s32", "u32", true, false), DOTS("s32", "s32", true, true),
		CASE("and.b32 %w2, %w2, 31;\nfns.b32 %w0, %w1, %w2, %w3;", "wwww",
		     find_nth(a, b & 31, S32(c))),
		CASE("and.b32 %w2, %w2, 31;\nbfe.s32 %w3, %w3, 0, 4;\nfns.b32 %w0, %w1, %w2, %w3;", "wwww",
		     find_nth(a, b & 31, S32(c << 28) >> 28)),
		CASE("bmsk.clamp.b32", "www", bit_mask(a, b, true)),
		CASE("bmsk.wrap.b32", "www", bit_mask(a, b, false)),
		CASE("szext.clamp.u32", "www", extend(a, b, true, false)),
		CASE("szext.clamp.s32", "www", extend(a, b, true, true)),
		CASE("szext.wrap.u32", "www", extend(a, b, false, false)),
		CASE("szext.wrap.s32", "www", extend(a, b, false, true)),
		CASE("mad24.hi.sat.s32", "wwww", ({
			int64_t x = S32(a << 8) >> 8, y = S32(b << 8) >> 8;
			int64_t v = (x * y >> 16) + S32(c);
			v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : v; })),
	};

	run_cases(cases, ARRAY_SIZE(cases));
}

/* Each 16 bits for themselves. */
static uint64_t pairwise(uint64_t a, uint64_t b, bool is_signed, bool largest, bool relu)
{
	uint64_t r = 0;
	unsigned int k;

	for (k = 0; k < 2; k++) {
		int64_t x = word_of(a, k, is_signed), y = word_of(b, k, is_signed);
		int64_t v = largest ? MAX(x, y) : MIN(x, y);

		r |= (uint64_t)U16(relu && v < 0 ? 0 : v) << 16 * k;
	}
	return r;
}

static uint64_t differences(uint64_t a, uint64_t b, bool is_signed, bool sum)
{
	uint64_t r = 0;
	unsigned int k;

	for (k = 0; k < 4; k++) {
		uint64_t d = llabs(byte_of(a, k, is_signed) - byte_of(b, k, is_signed));

		r += sum ? d : d << 8 * k;
	}
	return r;
}

static void simd(void **state)
{
	const struct op_case cases[] = {
		CASE("add.u16x2", "www", U16(a + b) | (uint64_t)U16((a >> 16) + (b >> 16)) << 16),
		CASE("add.s16x2", "www", U16(a + b) | (uint64_t)U16((a >> 16) + (b >> 16)) << 16),
		CASE("min.u16x2", "www", pairwise(a, b, false, false, false)),
		CASE("max.u16x2", "www", pairwise(a, b, false, true, false)),
		CASE("min.s16x2", "www", pairwise(a, b, true, false, false)),
		CASE("max.s16x2", "www", pairwise(a, b, true, true, false)),
		CASE("min.relu.s16x2", "www", pairwise(a, b, true, false, true)),
		CASE("max.s16x2.relu", "www", pairwise(a, b, true, true, true)),
		CASE("min.relu.s32", "www", MAX(MIN(S32(a), S32(b)), 0)),
		CASE("max.relu.s32", "www", MAX(MAX(S32(a), S32(b)), 0)),
		CASE("vabsdiff4.u32.u32.u32", "wwww", differences(a, b, false, false)),
		CASE("vabsdiff4.u32.s32.s32", "wwww", differences(a, b, true, false)),
		CASE("vabsdiff4.u32.u32.u32.add", "wwww", differences(a, b, false, true) + c),
		CASE("vabsdiff4.s32.s32.s32.add", "wwww", differences(a, b, true, true) + c),
	};

	run_cases(cases, ARRAY_SIZE(cases));
}

/* Registers in pieces of every width. */
static void pieces(void **state)
{
	const struct op_case cases[] = {
		CASE("mov.b32 {%h5, %h6}, %w1;\nmov.b32 %w0, {%h6, %h5};", "ww", a >> 16 | a << 16),
		CASE("mov.b64 {%w5, %w6}, %l1;\nmov.b64 %l0, {%w6, %w5};", "ll", a >> 32 | a << 32),
		CASE("mov.b64 {%h5, %h6, %h7, %h8}, %l1;\nmov.b64 %l0, {%h8, %h7, %h6, %h5};", "ll",
		     a >> 48 | (a >> 16 & 0xffff0000) | (a & 0xffff0000) << 16 | a << 48),
		CASE("mov.b64 {%w5, _}, %l1;\nmov.b32 %w0, %w5;", "wl", a),
	};

	run_cases(cases, ARRAY_SIZE(cases));
}

/* What the parser lets through and no function does: one sentence, with file and line. */
static void refused(void **state)
{
	static const char text[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
		".entry k()\n{\n.reg .b32 %a;\nadd.u32 %a, %a, 1;\nret;\n}\n";
	struct exec_program *program = NULL;
	struct ptx_module *module;
	struct ptx_insn *insn;
	struct err err = { 0 };

	assert_int_equal(ptx_module_parse(text, sizeof(text) - 1, "t.ptx", &module, &err), 0);
	insn = ptx_module_kernel_at(module, 0)->insns;
	assert_int_equal(insn->opcode, PTX_OP_add);
	insn->mods |= PTX_MOD_RELU;
	assert_int_equal(exec_program_create(ptx_module_kernel_at(module, 0), &program, &err),
			 -EOPNOTSUPP);
	assert_string_equal(err.text, "t.ptx:7: not supported: `add.u32` with these modifiers and operands");
	assert_null(program);
	ptx_module_free(module);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(add_subtract),
		cmocka_unit_test(multiply),
		cmocka_unit_test(others),
		cmocka_unit_test(simd),
		cmocka_unit_test(pieces),
		cmocka_unit_test(refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
