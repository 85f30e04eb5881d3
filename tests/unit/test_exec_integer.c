// SPDX-License-Identifier: GPL-2.0
/*
 * Every integer, bit and selection instruction of every type against C, on edge
 * values. Where PTX leaves the result open (division by zero), the expectation
 * is what the room documents.
 */
#include "exec_cases.h"

/* Results are compared in the destination's width, so wider arithmetic may overflow it. */
typedef __int128 big;
typedef unsigned __int128 ubig;

static uint64_t divide(big a, big b, int bits)
{
	return b == 0 ? ~0ull : (uint64_t)(a / b) << (64 - bits) >> (64 - bits);
}

static uint64_t remain(big a, big b)
{
	return b == 0 ? ~0ull : (uint64_t)(a % b);
}

static int64_t clamp_to(big v, big lo, big hi)
{
	return v < lo ? lo : v > hi ? hi : v;
}

static void add_subtract(void **state)
{
	const struct op_case cases[] = {
		CASE("add.u16", "hhh", a + b), CASE("add.s16", "hhh", a + b),
		CASE("add.u32", "www", a + b), CASE("add.s32", "www", a + b),
		CASE("add.u64", "lll", a + b), CASE("add.s64", "lll", a + b),
		CASE("sub.u16", "hhh", a - b), CASE("sub.s16", "hhh", a - b),
		CASE("sub.u32", "www", a - b), CASE("sub.s32", "www", a - b),
		CASE("sub.u64", "lll", a - b), CASE("sub.s64", "lll", a - b),
		CASE("add.sat.s32", "www", clamp_to((big)S32(a) + S32(b), INT32_MIN, INT32_MAX)),
		CASE("sub.sat.s32", "www", clamp_to((big)S32(a) - S32(b), INT32_MIN, INT32_MAX)),
		CASE("neg.s16", "hh", -a), CASE("neg.s32", "ww", -a), CASE("neg.s64", "ll", -a),
		CASE("abs.s16", "hh", S16(a) < 0 ? -a : a),
		CASE("abs.s32", "ww", S32(a) < 0 ? -a : a),
		CASE("abs.s64", "ll", S64(a) < 0 ? -a : a),
		CASE("sad.u16", "hhhh", c + (a > b ? a - b : b - a)),
		CASE("sad.s16", "hhhh", c + (S16(a) > S16(b) ? a - b : b - a)),
		CASE("sad.u32", "wwww", c + (a > b ? a - b : b - a)),
		CASE("sad.s32", "wwww", c + (S32(a) > S32(b) ? a - b : b - a)),
		CASE("sad.u64", "llll", c + (a > b ? a - b : b - a)),
		CASE("sad.s64", "llll", c + (S64(a) > S64(b) ? a - b : b - a)),
	};

	run_cases(cases, ARRAY_SIZE(cases));
}

static int32_t sext24(uint32_t v)
{
	return (int32_t)(v << 8) >> 8;
}

static void multiply(void **state)
{
	const struct op_case cases[] = {
		CASE("mul.lo.u16", "hhh", a * b), CASE("mul.lo.s16", "hhh", a * b),
		CASE("mul.lo.u32", "www", a * b), CASE("mul.lo.s32", "www", a * b),
		CASE("mul.lo.u64", "lll", a * b), CASE("mul.lo.s64", "lll", a * b),
		CASE("mul.hi.u16", "hhh", a * b >> 16),
		CASE("mul.hi.s16", "hhh", (int64_t)S16(a) * S16(b) >> 16),
		CASE("mul.hi.u32", "www", a * b >> 32),
		CASE("mul.hi.s32", "www", (int64_t)S32(a) * S32(b) >> 32),
		CASE("mul.hi.u64", "lll", (ubig)a * b >> 64),
		CASE("mul.hi.s64", "lll", (big)S64(a) * S64(b) >> 64),
		CASE("mul.wide.u16", "whh", a * b),
		CASE("mul.wide.s16", "whh", (int64_t)S16(a) * S16(b)),
		CASE("mul.wide.u32", "lww", a * b),
		CASE("mul.wide.s32", "lww", (int64_t)S32(a) * S32(b)),
		CASE("mad.lo.u16", "hhhh", a * b + c), CASE("mad.lo.s16", "hhhh", a * b + c),
		CASE("mad.lo.u32", "wwww", a * b + c), CASE("mad.lo.s32", "wwww", a * b + c),
		CASE("mad.lo.u64", "llll", a * b + c), CASE("mad.lo.s64", "llll", a * b + c),
		CASE("mad.hi.u16", "hhhh", (a * b >> 16) + c),
		CASE("mad.hi.s16", "hhhh", ((int64_t)S16(a) * S16(b) >> 16) + c),
		CASE("mad.hi.u32", "wwww", (a * b >> 32) + c),
		CASE("mad.hi.s32", "wwww", ((int64_t)S32(a) * S32(b) >> 32) + c),
		CASE("mad.hi.u64", "llll", (uint64_t)((ubig)a * b >> 64) + c),
		CASE("mad.hi.s64", "llll", (uint64_t)((big)S64(a) * S64(b) >> 64) + c),
		CASE("mad.hi.sat.s32", "wwww",
		     clamp_to(((big)S32(a) * S32(b) >> 32) + S32(c), INT32_MIN, INT32_MAX)),
		CASE("mad.wide.u16", "whhw", a * b + c),
		CASE("mad.wide.s16", "whhw", (int64_t)S16(a) * S16(b) + S32(c)),
		CASE("mad.wide.u32", "lwwl", a * b + c),
		CASE("mad.wide.s32", "lwwl", (uint64_t)((int64_t)S32(a) * S32(b)) + c),
		CASE("mul24.lo.u32", "www", (a & 0xffffff) * (b & 0xffffff)),
		CASE("mul24.hi.u32", "www", (a & 0xffffff) * (b & 0xffffff) >> 16),
		CASE("mul24.lo.s32", "www", (int64_t)sext24(a) * sext24(b)),
		CASE("mul24.hi.s32", "www", (int64_t)sext24(a) * sext24(b) >> 16),
		CASE("mad24.lo.u32", "wwww", (a & 0xffffff) * (b & 0xffffff) + c),
		CASE("mad24.hi.u32", "wwww", ((a & 0xffffff) * (b & 0xffffff) >> 16) + c),
		CASE("mad24.lo.s32", "wwww", (int64_t)sext24(a) * sext24(b) + S32(c)),
		CASE("mad24.hi.s32", "wwww", ((int64_t)sext24(a) * sext24(b) >> 16) + S32(c)),
	};

	run_cases(cases, ARRAY_SIZE(cases));
}

static void divide_compare(void **state)
{
	const struct op_case cases[] = {
		CASE("div.u16", "hhh", divide(a, b, 16)), CASE("div.s16", "hhh", divide(S16(a), S16(b), 16)),
		CASE("div.u32", "www", divide(a, b, 32)), CASE("div.s32", "www", divide(S32(a), S32(b), 32)),
		CASE("div.u64", "lll", divide(a, b, 64)), CASE("div.s64", "lll", divide(S64(a), S64(b), 64)),
		CASE("rem.u16", "hhh", remain(a, b)), CASE("rem.s16", "hhh", remain(S16(a), S16(b))),
		CASE("rem.u32", "www", remain(a, b)), CASE("rem.s32", "www", remain(S32(a), S32(b))),
		CASE("rem.u64", "lll", remain(a, b)), CASE("rem.s64", "lll", remain(S64(a), S64(b))),
		CASE("min.u16", "hhh", MIN(a, b)), CASE("min.s16", "hhh", MIN(S16(a), S16(b))),
		CASE("min.u32", "www", MIN(a, b)), CASE("min.s32", "www", MIN(S32(a), S32(b))),
		CASE("min.u64", "lll", MIN(a, b)), CASE("min.s64", "lll", MIN(S64(a), S64(b))),
		CASE("max.u16", "hhh", MAX(a, b)), CASE("max.s16", "hhh", MAX(S16(a), S16(b))),
		CASE("max.u32", "www", MAX(a, b)), CASE("max.s32", "www", MAX(S32(a), S32(b))),
		CASE("max.u64", "lll", MAX(a, b)), CASE("max.s64", "lll", MAX(S64(a), S64(b))),
		CASE("setp.eq.b16", "phh", a == b), CASE("setp.ne.b16", "phh", a != b),
		CASE("setp.eq.s16", "phh", a == b), CASE("setp.lt.s16", "phh", S16(a) < S16(b)),
		CASE("setp.lt.u16", "phh", a < b), CASE("setp.hs.u16", "phh", a >= b),
		CASE("setp.eq.b32", "pww", a == b), CASE("setp.ne.u32", "pww", a != b),
		CASE("setp.lt.u32", "pww", a < b), CASE("setp.le.u32", "pww", a <= b),
		CASE("setp.gt.u32", "pww", a > b), CASE("setp.ge.u32", "pww", a >= b),
		CASE("setp.lo.u32", "pww", a < b), CASE("setp.ls.u32", "pww", a <= b),
		CASE("setp.hi.u32", "pww", a > b), CASE("setp.hs.u32", "pww", a >= b),
		CASE("setp.eq.s32", "pww", a == b), CASE("setp.ne.s32", "pww", a != b),
		CASE("setp.lt.s32", "pww", S32(a) < S32(b)), CASE("setp.le.s32", "pww", S32(a) <= S32(b)),
		CASE("setp.gt.s32", "pww", S32(a) > S32(b)), CASE("setp.ge.s32", "pww", S32(a) >= S32(b)),
		CASE("setp.eq.b64", "pll", a == b), CASE("setp.lt.u64", "pll", a < b),
		CASE("setp.ge.u64", "pll", a >= b), CASE("setp.hi.u64", "pll", a > b),
		CASE("setp.lt.s64", "pll", S64(a) < S64(b)), CASE("setp.le.s64", "pll", S64(a) <= S64(b)),
		CASE("setp.gt.s64", "pll", S64(a) > S64(b)), CASE("setp.ge.s64", "pll", S64(a) >= S64(b)),
		CASE("setp.lt.and.s32", "pwwp", S32(a) < S32(b) && c),
		CASE("setp.lt.or.u32", "pwwp", a < b || c),
		CASE("setp.eq.xor.b32", "pwwp", (a == b) ^ c),
		CASE("set.lt.u32.s32", "www", S32(a) < S32(b) ? ~0u : 0),
		CASE("set.ge.s32.u64", "wll", a >= b ? ~0u : 0),
		CASE("set.eq.f32.b32", "www", a == b ? 0x3f800000 : 0),
		CASE("set.gt.and.u32.s16", "whhp", S16(a) > S16(b) && c ? ~0u : 0),
	};

	run_cases(cases, ARRAY_SIZE(cases));
}

static uint64_t reverse(uint64_t v, int bits)
{
	uint64_t r = 0;
	int i;

	for (i = 0; i < bits; i++)
		r |= (v >> i & 1) << (bits - 1 - i);
	return r;
}

/* The specification's loops, bit by bit. */
static uint64_t bfe(uint64_t a, uint32_t b, uint32_t c, int bits, bool is_signed)
{
	int msb = bits - 1, pos = b & 0xff, len = c & 0xff, i;
	uint64_t sbit, d = 0;

	sbit = !is_signed || len == 0 ? 0 : a >> MIN(pos + len - 1, msb) & 1;
	for (i = 0; i <= msb; i++)
		d |= (i < len && pos + i <= msb ? a >> (pos + i) & 1 : sbit) << i;
	return d;
}

static uint64_t bfi(uint64_t a, uint64_t b, uint32_t c, uint32_t e, int bits)
{
	int msb = bits - 1, pos = c & 0xff, len = e & 0xff, i;

	for (i = 0; i < len && pos + i <= msb; i++)
		b = (b & ~(1ull << (pos + i))) | (a >> i & 1) << (pos + i);
	return b;
}

static uint32_t highest(uint64_t v)
{
	int i;

	for (i = 63; i >= 0; i--) {
		if (v >> i & 1)
			return i;
	}
	return UINT32_MAX;
}

static uint32_t byte_of(uint64_t a, uint64_t b, uint32_t n)
{
	uint32_t byte = (n & 4 ? b : a) >> 8 * (n & 3) & 0xff;

	return n & 8 ? (byte & 0x80 ? 0xff : 0) : byte;
}

static uint32_t pick(uint64_t a, uint64_t b, uint32_t n3, uint32_t n2, uint32_t n1, uint32_t n0)
{
	return byte_of(a, b, n3) << 24 | byte_of(a, b, n2) << 16 | byte_of(a, b, n1) << 8 |
	       byte_of(a, b, n0);
}

static void bits(void **state)
{
	const struct op_case cases[] = {
		CASE("and.b16", "hhh", a & b), CASE("and.b32", "www", a & b), CASE("and.b64", "lll", a & b),
		CASE("or.b16", "hhh", a | b), CASE("or.b32", "www", a | b), CASE("or.b64", "lll", a | b),
		CASE("xor.b16", "hhh", a ^ b), CASE("xor.b32", "www", a ^ b), CASE("xor.b64", "lll", a ^ b),
		CASE("not.b16", "hh", ~a), CASE("not.b32", "ww", ~a), CASE("not.b64", "ll", ~a),
		CASE("cnot.b16", "hh", !a), CASE("cnot.b32", "ww", !a), CASE("cnot.b64", "ll", !a),
		CASE("shl.b16", "hhw", b > 15 ? 0 : a << b), CASE("shl.b32", "www", b > 31 ? 0 : a << b),
		CASE("shl.b64", "llw", b > 63 ? 0 : a << b),
		CASE("shr.u16", "hhw", b > 15 ? 0 : a >> b), CASE("shr.b32", "www", b > 31 ? 0 : a >> b),
		CASE("shr.u32", "www", b > 31 ? 0 : a >> b), CASE("shr.u64", "llw", b > 63 ? 0 : a >> b),
		CASE("shr.s16", "hhw", S16(a) >> MIN(b, 15u)), CASE("shr.s32", "www", S32(a) >> MIN(b, 31u)),
		CASE("shr.s64", "llw", S64(a) >> MIN(b, 63u)),
		CASE("popc.b32", "ww", __builtin_popcountll(a)), CASE("popc.b64", "wl", __builtin_popcountll(a)),
		CASE("clz.b32", "ww", 31 - (int)highest(a)), CASE("clz.b64", "wl", 63 - (int)highest(a)),
		CASE("brev.b32", "ww", reverse(a, 32)), CASE("brev.b64", "ll", reverse(a, 64)),
		CASE("bfind.u32", "ww", highest(a)), CASE("bfind.u64", "wl", highest(a)),
		CASE("bfind.s32", "ww", highest(U32(S32(a) < 0 ? ~a : a))),
		CASE("bfind.s64", "wl", highest(S64(a) < 0 ? ~a : a)),
		CASE("bfind.shiftamt.u32", "ww", a ? 31 - highest(a) : ~0u),
		CASE("bfind.shiftamt.s32", "ww", highest(U32(S32(a) < 0 ? ~a : a)) == ~0u ? ~0u :
		     31 - highest(U32(S32(a) < 0 ? ~a : a))),
		CASE("bfind.shiftamt.u64", "wl", a ? 63 - highest(a) : ~0u),
		CASE("bfind.shiftamt.s64", "wl", highest(S64(a) < 0 ? ~a : a) == ~0u ? ~0u :
		     63 - highest(S64(a) < 0 ? ~a : a)),
		CASE("bfe.u32", "wwww", bfe(a, b, c, 32, false)), CASE("bfe.s32", "wwww", bfe(a, b, c, 32, true)),
		CASE("bfe.u64", "llww", bfe(a, b, c, 64, false)), CASE("bfe.s64", "llww", bfe(a, b, c, 64, true)),
		CASE("bfi.b32", "wwwww", bfi(a, b, c, e, 32)), CASE("bfi.b64", "lllww", bfi(a, b, c, e, 64)),
		CASE("prmt.b32", "wwww", pick(a, b, c >> 12, c >> 8, c >> 4, c)),
		CASE("prmt.b32.f4e", "wwww", pick(a, b, (c & 3) + 3, (c & 3) + 2, (c & 3) + 1, c & 3)),
		CASE("prmt.b32.b4e", "wwww", pick(a, b, (8 + (c & 3) - 3) & 7, (8 + (c & 3) - 2) & 7,
						  (8 + (c & 3) - 1) & 7, c & 3)),
		CASE("prmt.b32.rc8", "wwww", pick(a, b, c & 3, c & 3, c & 3, c & 3)),
		CASE("prmt.b32.ecl", "wwww", pick(a, b, 3, MAX(c & 3, 2u), MAX(c & 3, 1u), c & 3)),
		CASE("prmt.b32.ecr", "wwww", pick(a, b, c & 3, MIN(c & 3, 2u), MIN(c & 3, 1u), 0)),
		CASE("prmt.b32.rc16", "wwww", pick(a, b, (c & 1) * 2 + 1, (c & 1) * 2, (c & 1) * 2 + 1, (c & 1) * 2)),
		CASE("shf.l.wrap.b32", "wwww", (b << 32 | a) << (c & 31) >> 32),
		CASE("shf.r.wrap.b32", "wwww", (b << 32 | a) >> (c & 31)),
		CASE("shf.l.clamp.b32", "wwww", c >= 32 ? a : (b << 32 | a) << c >> 32),
		CASE("shf.r.clamp.b32", "wwww", c >= 32 ? b : (b << 32 | a) >> c),
		CASE("mov.b16", "hh", a), CASE("mov.u32", "ww", a), CASE("mov.b64", "ll", a),
		CASE("mov.s64", "ll", a),
	};

	run_cases(cases, ARRAY_SIZE(cases));
}

static void select_cases(void **state)
{
	const struct op_case cases[] = {
		CASE("selp.b16", "hhhp", c ? a : b), CASE("selp.u32", "wwwp", c ? a : b),
		CASE("selp.f32", "wwwp", c ? a : b), CASE("selp.b64", "lllp", c ? a : b),
		CASE("selp.f64", "lllp", c ? a : b),
		CASE("slct.u32.s32", "wwww", S32(c) >= 0 ? a : b), CASE("slct.b64.s32", "lllw", S32(c) >= 0 ? a : b),
		CASE("slct.f32.f32", "wwww", F32(c) >= 0 ? a : b), CASE("slct.b16.f32", "hhhw", F32(c) >= 0 ? a : b),
		CASE("slct.ftz.f32.f32", "wwww", F32(c) >= 0 || !(c & 0x7f800000) ? a : b),
		CASE("and.pred", "ppp", a & b), CASE("or.pred", "ppp", a | b), CASE("xor.pred", "ppp", a ^ b),
		CASE("not.pred", "pp", !a), CASE("mov.pred", "pp", a),
	};

	run_cases(cases, ARRAY_SIZE(cases));
}

static uint64_t saturate(big v, int bits, bool is_signed)
{
	big most = ((big)1 << (bits - is_signed)) - 1, least = is_signed ? -most - 1 : 0;

	return (uint64_t)(v < least ? least : v > most ? most : v);
}

/* Integers of S bits to integers; the register is as wide as the letters say. */
#define CVT(to, from, regs, FROM, TO) \
	CASE("cvt." #to "." #from, regs, TO(FROM(a)))
#define CVTS_FROM(from, reg, FROM) \
	CVT(u8, from, "w" reg, FROM, U8), CVT(s8, from, "w" reg, FROM, S8), \
	CVT(u16, from, "h" reg, FROM, U16), CVT(s16, from, "h" reg, FROM, S16), \
	CVT(u32, from, "w" reg, FROM, U32), CVT(s32, from, "w" reg, FROM, S32), \
	CVT(u64, from, "l" reg, FROM, U64), CVT(s64, from, "l" reg, FROM, S64)
#define SATS_FROM(from, reg, FROM) \
	CASE("cvt.sat.u8." #from, "w" reg, saturate(FROM(a), 8, false)), \
	CASE("cvt.sat.s8." #from, "w" reg, saturate(FROM(a), 8, true)), \
	CASE("cvt.sat.u16." #from, "h" reg, saturate(FROM(a), 16, false)), \
	CASE("cvt.sat.s16." #from, "h" reg, saturate(FROM(a), 16, true)), \
	CASE("cvt.sat.u32." #from, "w" reg, saturate(FROM(a), 32, false)), \
	CASE("cvt.sat.s32." #from, "w" reg, saturate(FROM(a), 32, true)), \
	CASE("cvt.sat.u64." #from, "l" reg, saturate(FROM(a), 64, false)), \
	CASE("cvt.sat.s64." #from, "l" reg, saturate(FROM(a), 64, true))

static void convert(void **state)
{
	const struct op_case cases[] = {
		CVTS_FROM(u8, "w", U8), CVTS_FROM(s8, "w", S8), CVTS_FROM(u16, "h", U16),
		CVTS_FROM(s16, "h", S16), CVTS_FROM(u32, "w", U32), CVTS_FROM(s32, "w", S32),
		CVTS_FROM(u64, "l", U64), CVTS_FROM(s64, "l", S64),
		SATS_FROM(u8, "h", U8), SATS_FROM(s8, "h", S8), SATS_FROM(u16, "h", U16),
		SATS_FROM(s16, "h", S16), SATS_FROM(u32, "w", U32), SATS_FROM(s32, "w", S32),
		SATS_FROM(u64, "l", U64), SATS_FROM(s64, "l", S64),
		/* Registers wider than the types. */
		CASE("cvt.s8.s32", "lw", S8(a)), CASE("cvt.u8.u32", "lw", U8(a)),
		CASE("cvt.s16.u8", "ll", S16(U8(a))), CASE("cvt.s32.s16", "ll", S32(S16(a))),
		CASE("cvt.u16.s8", "wl", U16(S8(a))), CASE("cvt.sat.s8.s32", "ll", saturate(S32(a), 8, true)),
		CASE("cvt.u64.u32", "ll", U32(a)), CASE("cvt.s64.s8", "ll", S8(a)),
	};

	run_cases(cases, ARRAY_SIZE(cases));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(add_subtract),
		cmocka_unit_test(multiply),
		cmocka_unit_test(divide_compare),
		cmocka_unit_test(bits),
		cmocka_unit_test(select_cases),
		cmocka_unit_test(convert),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
