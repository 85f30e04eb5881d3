// SPDX-License-Identifier: GPL-2.0
// setp, set, selp, slct, testp, predicates combined.
#include "shim.h"

/* A comparison in C of each type, ordered and unordered, as branches and as values. */
#define COMPARE_C(t, T)											\
	KERNEL(compare_##t)(u32 *out, const T *x, const T *y)						\
	{												\
		u32 i = GID, r = 0;									\
		T a = x[i], b = y[i];									\
		if (a < b)										\
			r |= 1;										\
		if (a == b)										\
			r |= 2;										\
		if (!(a >= b))										\
			r |= 4;										\
		r |= (u32)(a != b) << 3 | (u32)(a <= b) << 4 | (u32)(a > b) << 5;			\
		r |= (u32)(a > b && a != 0) << 6 | (u32)((a < b) != (b < a)) << 7;			\
		out[i] = r + (a > b ? 1000u : b > a ? 2000u : 3000u);					\
	}												\
	CASE(compare_##t, d3(2), d3(128), 0, 1, "out:u32:256 in:" #t ":256 in:" #t ":256")
COMPARE_C(u8, u8)
COMPARE_C(s8, s8)
COMPARE_C(u16, u16)
COMPARE_C(s16, s16)
COMPARE_C(u32, u32)
COMPARE_C(s32, s32)
COMPARE_C(u64, u64)
COMPARE_C(s64, s64)
COMPARE_C(f32, f32)
COMPARE_C(f64, f64)

#define SETP(name, t, T, c, op, ...)									\
	TEXT2(name, u32, "r", T, c, T, c,								\
	      "{ .reg .pred p; setp." op "." #t " p, %1, %2; selp.u32 %0, 1, 0, p; }", (u32)(__VA_ARGS__))
#define UNORDERED (a != a || b != b)
#define FLOAT_SETP(t, T, c)										\
	SETP(t##_eq, t, T, c, "eq", a == b)								\
	SETP(t##_ne, t, T, c, "ne", a < b || a > b)							\
	SETP(t##_lt, t, T, c, "lt", a < b)								\
	SETP(t##_le, t, T, c, "le", a <= b)								\
	SETP(t##_gt, t, T, c, "gt", a > b)								\
	SETP(t##_ge, t, T, c, "ge", a >= b)								\
	SETP(t##_equ, t, T, c, "equ", a == b || UNORDERED)						\
	SETP(t##_neu, t, T, c, "neu", !(a == b))							\
	SETP(t##_ltu, t, T, c, "ltu", !(a >= b))							\
	SETP(t##_leu, t, T, c, "leu", !(a > b))								\
	SETP(t##_gtu, t, T, c, "gtu", !(a <= b))							\
	SETP(t##_geu, t, T, c, "geu", !(a < b))								\
	SETP(t##_num, t, T, c, "num", !UNORDERED)							\
	SETP(t##_nan, t, T, c, "nan", UNORDERED)							\
	KERNEL(setp_##t)(u32 *out, const T *x, const T *y)						\
	{												\
		u32 i = GID;										\
		T a = x[i], b = y[i];									\
		out[i] = t##_eq(a, b) | t##_ne(a, b) << 1 | t##_lt(a, b) << 2 | t##_le(a, b) << 3 |	\
			 t##_gt(a, b) << 4 | t##_ge(a, b) << 5 | t##_equ(a, b) << 6 | t##_neu(a, b) << 7 | \
			 t##_ltu(a, b) << 8 | t##_leu(a, b) << 9 | t##_gtu(a, b) << 10 |		\
			 t##_geu(a, b) << 11 | t##_num(a, b) << 12 | t##_nan(a, b) << 13 |		\
			 t##_eq(a, a) << 14 | t##_geu(b, b) << 15;					\
	}												\
	CASE(setp_##t, d3(4), d3(128), 0, 2, "out:u32:512 in:" #t ":512 in:" #t ":512")
FLOAT_SETP(f32, f32, "f")
FLOAT_SETP(f64, f64, "d")
SETP(u32_lo, u32, u32, "r", "lo", a < b)
SETP(u32_ls, u32, u32, "r", "ls", a <= b)
SETP(u64_hi, u64, u64, "l", "hi", a > b)
SETP(u64_hs, u64, u64, "l", "hs", a >= b)
SETP(s16_lt, s16, s16, "h", "lt", a < b)
SETP(b16_ne, b16, u16, "h", "ne", a != b)
SETP(b64_eq, b64, u64, "l", "eq", a == b)
SETP(f32_ftz_eq, f32, f32, "f", "eq.ftz", ftz(a) == ftz(b))
#undef UNORDERED
MAP2(setp_int, u32, u64, u64, u32_lo((u32)a, (u32)b) | u32_ls((u32)a, (u32)b) << 1 | u64_hi(a, b) << 2 |
     u64_hs(a, b) << 3 | s16_lt((s16)a, (s16)b) << 4 | b16_ne((u16)a, (u16)b) << 5 | b64_eq(a, b) << 6)
CASE(setp_int, d3(2), d3(128), 0, 3, "out:u32:256 in:u64:256 in:u64:256")
MAP2(setp_ftz, u32, f32, f32, f32_ftz_eq(a, b) | f32_ftz_eq(a * 1e-38f, 0) << 1)
CASE(setp_ftz, d3(4), d3(128), 0, 4, "out:u32:512 in:f32:512 in:f32:512")

/* Two results, and a third predicate: p = (a ? b) op c, q = !(a ? b) op c. */
#define BOOLOP(op, OP)											\
	TEXT3(setp_##op, u32, "r", s32, "r", s32, "r", u32, "r",					\
	      "{ .reg .pred p, q, c; .reg .u32 t; setp.ne.u32 c, %3, 0; setp.lt." #op ".s32 p|q, %1, %2, c;" \
	      "selp.u32 %0, 1, 0, p; selp.u32 t, 2, 0, q; add.u32 %0, %0, t; "				\
	      "setp.gt." #op ".s32 p, %1, %2, !c; @p add.u32 %0, %0, 4; }",				\
	      (u32)((a < b) OP (c != 0)) + 2 * (u32)((!(a < b)) OP (c != 0)) + 4 * (u32)((a > b) OP (c == 0)))
BOOLOP(and, &&)
BOOLOP(or, ||)
BOOLOP(xor, !=)
MAP3(setp_boolop, u32, s32, s32, u32, setp_and(a, b, c & 1) | setp_or(a, b, c & 1) << 4 | setp_xor(a, b, c & 1) << 8)
CASE(setp_boolop, d3(2), d3(128), 0, 5, "out:u32:256 in:s32:256 in:s32:256 in:u32:256")

TEXT2(set_u32_f32, u32, "r", f32, "f", f32, "f", "set.lt.u32.f32 %0, %1, %2;", a < b ? ~0u : 0)
TEXT2(set_f32_f64, f32, "f", f64, "d", f64, "d", "set.geu.f32.f64 %0, %1, %2;", a < b ? 0.0f : 1.0f)
TEXT2(set_s32_u16, s32, "r", u16, "h", u16, "h", "set.hi.s32.u16 %0, %1, %2;", a > b ? -1 : 0)
TEXT3(set_and, u32, "r", u64, "l", u64, "l", u32, "r",
      "{ .reg .pred c; setp.ne.u32 c, %3, 0; set.ne.and.u32.u64 %0, %1, %2, c; }", a != b && c ? ~0u : 0)
KERNEL(set)(u32 *out, const f32 *x, const f32 *y, const f64 *z, const f64 *w, const u64 *v)
{
	u32 i = GID, *o = out + 4 * i;

	o[0] = set_u32_f32(x[i], y[i]);
	o[1] = __float_as_uint(set_f32_f64(z[i], w[i]));
	o[2] = (u32)set_s32_u16((u16)v[i], (u16)(v[i] >> 16));
	o[3] = set_and(v[i], v[(i + 1) & 255], (u32)v[i] & 2);
}
CASE(set, d3(2), d3(128), 0, 6, "out:u32:1024 in:f32:256 in:f32:256 in:f64:256 in:f64:256 in:u64:256")

TEXT3(selp_b16, u16, "h", u16, "h", u16, "h", u32, "r",
      "{ .reg .pred c; setp.ne.u32 c, %3, 0; selp.b16 %0, %1, %2, c; }", c ? a : b)
TEXT3(selp_f64, f64, "d", f64, "d", f64, "d", u32, "r",
      "{ .reg .pred c; setp.ne.u32 c, %3, 0; selp.f64 %0, %1, %2, c; }", c ? a : b)
OP3(slct_f32, f32, "f", f32, "f", f32, "f", s32, "r", "slct.f32.s32", c >= 0 ? a : b)
OP3(slct_u64_f32, u64, "l", u64, "l", u64, "l", f32, "f", "slct.u64.f32", c >= 0 ? a : b)
OP3(slct_ftz, u32, "r", u32, "r", u32, "r", f32, "f", "slct.ftz.b32.f32", ftz(c) >= 0 ? a : b)
MAP3(selp, f64, f64, f64, u32, selp_f64(a, b, c & 4) + selp_b16((u16)c, (u16)(c >> 7), c & 1))
CASE(selp, d3(2), d3(128), 0, 7, "out:f64:256 in:f64:256 in:f64:256 in:u32:256")
KERNEL(slct)(u64 *out, const u64 *x, const u64 *y, const f32 *z)
{
	u32 i = GID;
	u64 a = x[i], b = y[i], *o = out + 3 * i;

	o[0] = __float_as_uint(slct_f32(1.5f, -2.5f, (s32)a));
	o[1] = slct_u64_f32(a, b, z[i]);
	o[2] = slct_ftz((u32)a, (u32)b, z[i]);
}
CASE(slct, d3(2), d3(128), 0, 8, "out:u64:768 in:u64:256 in:u64:256 in:f32:256")

#define TESTP(name, op, t, T, c, ...)									\
	TEXT1(name, u32, "r", T, c, "{ .reg .pred p; testp." op "." #t " p, %1; selp.u32 %0, 1, 0, p; }", (u32)(__VA_ARGS__))
TESTP(t_finite, "finite", f32, f32, "f", fabsf(a) < INFINITY)
TESTP(t_infinite, "infinite", f32, f32, "f", fabsf(a) == INFINITY)
TESTP(t_number, "number", f32, f32, "f", a == a)
TESTP(t_nan, "notanumber", f64, f64, "d", a != a)
// PTX ISA: a zero of either sign is normal.
TESTP(t_normal, "normal", f32, f32, "f", (fabsf(a) >= 0x1p-126f || a == 0) && fabsf(a) < INFINITY)
TESTP(t_subnormal, "subnormal", f64, f64, "d", fabs(a) < 0x1p-1022 && a != 0)
TESTP(t_normal64, "normal", f64, f64, "d", (fabs(a) >= 0x1p-1022 || a == 0) && fabs(a) < INFINITY)
MAP2(testp, u32, f32, f64, t_finite(a) | t_infinite(a) << 1 | t_number(a) << 2 | t_nan(b) << 3 |
     t_normal(a) << 4 | t_subnormal(b) << 5 | t_normal64(b) << 6)
CASE(testp, d3(4), d3(128), 0, 9, "out:u32:512 in:f32:512 in:f64:512")
OP2(copysign_f32, f32, "f", f32, "f", f32, "f", "copysign.f32", copysignf(b, a))
OP2(copysign_f64, f64, "d", f64, "d", f64, "d", "copysign.f64", copysign(b, a))
MAP2(copysign_ptx, f64, f32, f64, copysign_f64(b, copysign_f32(a, (f32)b)) + copysign_f32(a, 2.0f))
CASE(copysign_ptx, d3(4), d3(128), 0, 10, "out:f64:512 in:f32:512 in:f64:512")

TEXT3(pred_logic, u32, "r", u32, "r", u32, "r", u32, "r",
      "{ .reg .pred p, q, r, s; setp.ne.u32 p, %1, 0; setp.ne.u32 q, %2, 0; setp.ne.u32 r, %3, 0;"
      "and.pred s, p, q; or.pred s, s, r; xor.pred s, s, p; not.pred q, s; mov.pred p, q;"
      "selp.u32 %0, 1, 0, p; @!p add.u32 %0, %0, 8; }",
      (((a && b) || c) != (a != 0)) ? 8u : 1u)
MAP3(predicates, u32, u32, u32, u32, pred_logic(a & 1, b & 1, c & 1))
CASE(predicates, d3(2), d3(128), 0, 11, "out:u32:256 in:u32:256 in:u32:256 in:u32:256")
