// SPDX-License-Identifier: GPL-2.0
// Integer arithmetic of every width: C operators, and the instructions that C has no word for.
#include "shim.h"

#define INT1(name, t, spec, ...)								\
	MAP1(name, t, t, __VA_ARGS__)								\
	CASE(name, d3(2), d3(128), 0, 1, "out:" spec ":256 in:" spec ":256")
#define INT2(name, t, spec, ...)								\
	MAP2(name, t, t, t, __VA_ARGS__)							\
	CASE(name, d3(2), d3(128), 0, 2, "out:" spec ":256 in:" spec ":256 in:" spec ":256")
#define INT3(name, t, spec, ...)								\
	MAP3(name, t, t, t, t, __VA_ARGS__)							\
	CASE(name, d3(2), d3(128), 0, 3,							\
	     "out:" spec ":256 in:" spec ":256 in:" spec ":256 in:" spec ":256")

INT3(arith_u8, u8, "u8", (u8)(a * b + c - (a >> 1)))
INT3(arith_s8, s8, "s8", (s8)(a * b - c + (a >> 1)))
INT3(arith_u16, u16, "u16", (u16)((u32)a * b + c - (a >> 1)))
INT3(arith_s16, s16, "s16", (s16)(a * b - c + (a >> 3)))
INT3(arith_u32, u32, "u32", a * b + c - (a >> 1) + (b << 3))
INT3(arith_s32, s32, "s32", (s32)((u32)a * (u32)b - (u32)c) + (a >> 31))
INT3(arith_u64, u64, "u64", a * b + c - (a >> 33) + (b << 35))
INT3(arith_s64, s64, "s64", (s64)((u64)a * (u64)b - (u64)c) ^ (a >> 63))
INT2(div_u8, u8, "u8", (u8)(a / (b ? b : 3) + a % (b ? b : 5)))
INT2(div_u16, u16, "u16", (u16)(a / (b ? b : 3) + a % (b ? b : 5)))
INT2(div_u32, u32, "u32", a / (b ? b : 3) + a % (b ? b : 5))
INT2(div_u64, u64, "u64", a / (b ? b : 3) + a % (b ? b : 5))
INT2(div_s16, s16, "s16", (s16)(a / (b ? b : 3) - a % (b ? b : 5)))
INT1(div_constants, u32, "u32", a / 7 + a % 10 + a / 1000003 + (u32)((s32)a / 13) + (u32)((s32)a % 16))
INT1(div_constants64, u64, "u64", a / 7 + a % 10 + (u64)((s64)a / -13) + (u64)((s64)a % 1000))

/* The quotient of INT_MIN and -1 is INT_MIN, the remainder 0. */
OP2(ptx_div_s32, s32, "r", s32, "r", s32, "r", "div.s32",
    b == -1 ? (s32)(0 - (u32)a) : a / b)
OP2(ptx_rem_s32, s32, "r", s32, "r", s32, "r", "rem.s32", b == -1 ? 0 : a % b)
OP2(ptx_div_s64, s64, "l", s64, "l", s64, "l", "div.s64",
    b == -1 ? (s64)(0 - (u64)a) : a / b)
OP2(ptx_rem_s64, s64, "l", s64, "l", s64, "l", "rem.s64", b == -1 ? 0 : a % b)
INT2(div_s32_edges, s32, "s32", (s32)((u32)ptx_div_s32(b & 3 ? a : (s32)0x80000000, b ? b : -1) * 3 +
				      (u32)ptx_rem_s32(a, b ? b : -1)))
INT2(div_s64_edges, s64, "s64", (s64)((u64)ptx_div_s64(b & 3 ? a : (s64)(1ull << 63), b ? b : -1) * 3 +
				      (u64)ptx_rem_s64(a, b ? b : -1)))

/* Shifts of the width and more: PTX clamps. */
OP2(ptx_shl_b16, u16, "h", u16, "h", u32, "r", "shl.b16", b > 15 ? 0 : (u16)(a << b))
OP2(ptx_shl_b32, u32, "r", u32, "r", u32, "r", "shl.b32", b > 31 ? 0 : a << b)
OP2(ptx_shl_b64, u64, "l", u64, "l", u32, "r", "shl.b64", b > 63 ? 0 : a << b)
OP2(ptx_shr_u16, u16, "h", u16, "h", u32, "r", "shr.u16", b > 15 ? 0 : (u16)(a >> b))
OP2(ptx_shr_u32, u32, "r", u32, "r", u32, "r", "shr.u32", b > 31 ? 0 : a >> b)
OP2(ptx_shr_u64, u64, "l", u64, "l", u32, "r", "shr.u64", b > 63 ? 0 : a >> b)
OP2(ptx_shr_s16, s16, "h", s16, "h", u32, "r", "shr.s16", (s16)(a >> (b > 15 ? 15 : b)))
OP2(ptx_shr_s32, s32, "r", s32, "r", u32, "r", "shr.s32", a >> (b > 31 ? 31 : b))
OP2(ptx_shr_s64, s64, "l", s64, "l", u32, "r", "shr.s64", a >> (b > 63 ? 63 : b))
MAP2(shift_16, u16, u16, u32, (u16)(ptx_shl_b16(a, b) ^ ptx_shr_u16(a, b & 31) ^
				    (u16)ptx_shr_s16((s16)a, b & 31)))
CASE(shift_16, d3(2), d3(128), 0, 4, "out:u16:256 in:u16:256 in:u32:256")
MAP2(shift_32, u32, u32, u32, ptx_shl_b32(a, b) ^ ptx_shr_u32(a, b & 63) ^ (u32)ptx_shr_s32((s32)a, b & 63))
CASE(shift_32, d3(2), d3(128), 0, 5, "out:u32:256 in:u32:256 in:u32:256")
MAP2(shift_64, u64, u64, u32, ptx_shl_b64(a, b) ^ ptx_shr_u64(a, b & 127) ^ (u64)ptx_shr_s64((s64)a, b & 127))
CASE(shift_64, d3(2), d3(128), 0, 6, "out:u64:256 in:u64:256 in:u32:256")
MAP2(shift_c, u64, u64, u64, (a << (b & 63)) ^ ((u32)a << (b & 31)) ^ (u64)((s64)a >> (b & 63)) ^
			     (u64)((s32)a >> (b & 31)) ^ ((u16)a >> (b & 15)))
CASE(shift_c, d3(2), d3(128), 0, 7, "out:u64:256 in:u64:256 in:u64:256")

INT2(mul_hi_u32, u32, "u32", __umulhi(a, b) ^ (u32)__mulhi((int)a, (int)b))
INT2(mul_hi_u64, u64, "u64", __umul64hi(a, b) ^ (u64)__mul64hi((s64)a, (s64)b))
MAP2(mul_wide_u32, u64, u32, u32, (u64)a * b)
CASE(mul_wide_u32, d3(2), d3(128), 0, 8, "out:u64:256 in:u32:256 in:u32:256")
MAP2(mul_wide_s32, s64, s32, s32, (s64)a * b + (s64)a * 17)
CASE(mul_wide_s32, d3(2), d3(128), 0, 9, "out:s64:256 in:s32:256 in:s32:256")
MAP2(mul_wide_16, u32, u16, u16, (u32)a * b ^ (u32)((s16)a * (s16)b))
CASE(mul_wide_16, d3(2), d3(128), 0, 10, "out:u32:256 in:u16:256 in:u16:256")
OP3(ptx_mad_hi_u32, u32, "r", u32, "r", u32, "r", u32, "r", "mad.hi.u32", (u32)((u64)a * b >> 32) + c)
OP3(ptx_mad_hi_s32, s32, "r", s32, "r", s32, "r", s32, "r", "mad.hi.s32",
    (s32)((u32)((s64)a * b >> 32) + (u32)c))
OP3(ptx_mad_hi_sat, s32, "r", s32, "r", s32, "r", s32, "r", "mad.hi.sat.s32",
    clamp_to<s32, s64>((s64)(s32)((s64)a * b >> 32) + c, -0x80000000ll, 0x7fffffff))
OP3(ptx_mad_wide_s32, s64, "l", s32, "r", s32, "r", s64, "l", "mad.wide.s32",
    (s64)((u64)((s64)a * b) + (u64)c))
OP3(ptx_mad_wide_u16, u32, "r", u16, "h", u16, "h", u32, "r", "mad.wide.u16", (u32)a * b + c)
OP3(ptx_mad_hi_u64, u64, "l", u64, "l", u64, "l", u64, "l", "mad.hi.u64", __umul64hi(a, b) + c)
OP3(ptx_mad_lo_u16, u16, "h", u16, "h", u16, "h", u16, "h", "mad.lo.u16", (u16)((u32)a * b + c))
OP2(ptx_mul_hi_s16, s16, "h", s16, "h", s16, "h", "mul.hi.s16", (s16)(a * b >> 16))
INT3(mad_hi_u32, u32, "u32", ptx_mad_hi_u32(a, b, c))
INT3(mad_hi_s32, s32, "s32", ptx_mad_hi_s32(a, b, c) ^ ptx_mad_hi_sat(a, c, b))
INT3(mad_hi_u64, u64, "u64", ptx_mad_hi_u64(a, b, c))
MAP3(mad_wide, s64, s32, s32, s64, ptx_mad_wide_s32(a, b, c) ^ (s64)ptx_mad_wide_u16((u16)a, (u16)b, (u32)c))
CASE(mad_wide, d3(2), d3(128), 0, 11, "out:s64:256 in:s32:256 in:s32:256 in:s64:256")
INT3(mad_16, u16, "u16", (u16)(ptx_mad_lo_u16(a, b, c) + (u16)ptx_mul_hi_s16((s16)a, (s16)c)))
INT2(mul24, u32, "u32", __umul24(a, b) ^ (u32)__mul24((int)a, (int)b))
OP3(ptx_mad24_hi, u32, "r", u32, "r", u32, "r", u32, "r", "mad24.hi.u32",
    (u32)((u64)(a & 0xffffff) * (b & 0xffffff) >> 16) + c)
OP3(ptx_mad24_lo, s32, "r", s32, "r", s32, "r", s32, "r", "mad24.lo.s32", (s32)((u32)__mul24(a, b) + (u32)c))
INT3(mad24, u32, "u32", ptx_mad24_hi(a, b, c) ^ (u32)ptx_mad24_lo((s32)a, (s32)b, (s32)c))

OP2(ptx_add_sat, s32, "r", s32, "r", s32, "r", "add.sat.s32",
    clamp_to<s32, s64>((s64)a + b, -0x80000000ll, 0x7fffffff))
OP2(ptx_sub_sat, s32, "r", s32, "r", s32, "r", "sub.sat.s32",
    clamp_to<s32, s64>((s64)a - b, -0x80000000ll, 0x7fffffff))
INT2(add_sat, s32, "s32", ptx_add_sat(a, b))
INT2(sub_sat, s32, "s32", ptx_sub_sat(a, b))
INT2(min_max_s32, s32, "s32", (a < b ? a : b) ^ (s32)((u32)(a > b ? a : b) << 1))
INT2(min_max_u64, u64, "u64", (a < b ? a : b) ^ ((a > b ? a : b) << 1))
OP2(ptx_min_s16, s16, "h", s16, "h", s16, "h", "min.s16", a < b ? a : b)
OP2(ptx_max_u16, u16, "h", u16, "h", u16, "h", "max.u16", a > b ? a : b)
OP2(ptx_min_s64, s64, "l", s64, "l", s64, "l", "min.s64", a < b ? a : b)
OP2(ptx_max_u32, u32, "r", u32, "r", u32, "r", "max.u32", a > b ? a : b)
INT2(min_max_ptx, u64, "u64", (u64)ptx_min_s64((s64)a, (s64)b) ^ ptx_max_u32((u32)a, (u32)b) ^
     ((u64)(u16)ptx_min_s16((s16)a, (s16)b) << 40) ^ ((u64)ptx_max_u16((u16)a, (u16)b) << 20))
OP1(ptx_abs_s16, s16, "h", s16, "h", "abs.s16", (s16)(a < 0 ? -a : a))
OP1(ptx_abs_s32, s32, "r", s32, "r", "abs.s32", a < 0 ? (s32)(0 - (u32)a) : a)
OP1(ptx_abs_s64, s64, "l", s64, "l", "abs.s64", a < 0 ? (s64)(0 - (u64)a) : a)
OP1(ptx_neg_s32, s32, "r", s32, "r", "neg.s32", (s32)(0 - (u32)a))
OP1(ptx_neg_s16, s16, "h", s16, "h", "neg.s16", (s16)(0 - a))
/* The most negative number has no magnitude: what its sign is then, PTX leaves open. */
INT1(abs_neg, s64, "s64", ptx_abs_s64(a) ^ (u32)ptx_abs_s32((s32)a) ^ ((s64)(u16)ptx_abs_s16((s16)(a >> 7)) << 9) ^
     ptx_neg_s32((s32)(a >> 3)) ^ ((s64)(u16)ptx_neg_s16((s16)a) << 30))
OP3(ptx_sad_s32, s32, "r", s32, "r", s32, "r", s32, "r", "sad.s32",
    (s32)((u32)c + (a < b ? (u32)b - (u32)a : (u32)a - (u32)b)))
OP3(ptx_sad_u16, u16, "h", u16, "h", u16, "h", u16, "h", "sad.u16", (u16)(c + (a < b ? b - a : a - b)))
OP3(ptx_sad_s64, s64, "l", s64, "l", s64, "l", s64, "l", "sad.s64",
    (s64)((u64)c + (a < b ? (u64)b - (u64)a : (u64)a - (u64)b)))
INT3(sad, s64, "s64", ptx_sad_s64(a, b, c) ^ ptx_sad_s32((s32)a, (s32)b, (s32)c) ^ __usad((u32)a, (u32)c, (u32)b) ^
     ptx_sad_u16((u16)a, (u16)b, (u16)c))
INT3(logic_64, u64, "u64", (a & b) ^ (~c | a) ^ ((u64)!a << 7))
INT3(logic_16, u16, "u16", (u16)((a & b) ^ (~c | a)))
OP1(ptx_cnot_b32, u32, "r", u32, "r", "cnot.b32", a == 0)
OP1(ptx_cnot_b64, u64, "l", u64, "l", "cnot.b64", a == 0)
OP1(ptx_not_b16, u16, "h", u16, "h", "not.b16", (u16)~a)
INT1(cnot, u64, "u64", ptx_cnot_b64(a) + 2 * ptx_cnot_b32((u32)a) + 4 * (u64)ptx_not_b16((u16)a))
