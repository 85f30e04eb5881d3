// SPDX-License-Identifier: GPL-2.0
// Integers to floats, floats to integers, floats to floats: every mode.
// arch: 90
#include "shim.h"

/* --- integers to floats ----------------------------------------------------------------------- */
#define TO(f, F, d, c, mode, M, s, st, sc, from)							\
	OP1(to_##f##_##mode##_##s, d, c, st, sc, "cvt." #mode "." #f "." #s, bits_to_##f(from(F, a, M)))
#define TO_MODES(f, F, d, c, s, st, sc, from)								\
	TO(f, F, d, c, rn, RN, s, st, sc, from)								\
	TO(f, F, d, c, rz, RZ, s, st, sc, from)								\
	TO(f, F, d, c, rm, RM, s, st, sc, from)								\
	TO(f, F, d, c, rp, RP, s, st, sc, from)
#define TO_FLOATS(f, F, d, c)										\
	TO_MODES(f, F, d, c, u32, u32, "r", soft_from_u64)						\
	TO_MODES(f, F, d, c, s32, s32, "r", soft_from_s64)						\
	TO_MODES(f, F, d, c, u64, u64, "l", soft_from_u64)						\
	TO_MODES(f, F, d, c, s64, s64, "l", soft_from_s64)						\
	TO_MODES(f, F, d, c, u16, u16, "h", soft_from_u64)						\
	TO_MODES(f, F, d, c, s16, s16, "h", soft_from_s64)						\
	KERNEL(int_to_##f)(d *out, const u64 *in)							\
	{												\
		u32 i = GID;										\
		u64 a = in[i];										\
		d *o = out + 24 * i;									\
		PUT(0, f, u32, (u32)a) PUT(4, f, s32, (s32)a) PUT(8, f, u64, a)				\
		PUT(12, f, s64, (s64)a) PUT(16, f, u16, (u16)a) PUT(20, f, s16, (s16)a)			\
	}												\
	CASE(int_to_##f, d3(2), d3(128), 0, 1, "out:" #f ":6144 in:u64:256")
#define PUT(at, f, s, v)										\
	o[at] = to_##f##_rn_##s(v); o[at + 1] = to_##f##_rz_##s(v);					\
	o[at + 2] = to_##f##_rm_##s(v); o[at + 3] = to_##f##_rp_##s(v);
ON_CPU(static f32 bits_to_f32(u64 v) { return f32_of((u32)v); }
static f64 bits_to_f64(u64 v) { return f64_of(v); }
static u16 bits_to_f16(u64 v) { return (u16)v; })
TO_FLOATS(f32, F32, f32, "f")
TO_FLOATS(f64, F64, f64, "d")
TO_FLOATS(f16, F16, u16, "h")
OP1(f32_u8, f32, "f", u32, "r", "cvt.rn.f32.u8", (f32)(u8)a)
OP1(f64_s8, f64, "d", u32, "r", "cvt.rn.f64.s8", (f64)(s8)a)
KERNEL(bytes_to_float)(f64 *out, const u32 *in)
{
	u32 i = GID;

	out[2 * i] = f32_u8(in[i]);
	out[2 * i + 1] = f64_s8(in[i]);
}
CASE(bytes_to_float, d3(2), d3(128), 0, 2, "out:f64:512 in:u32:256")
MAP1(c_int_to_float, f64, s64, (f64)(f32)a + (f64)(u64)a + (f64)(f32)(u32)a - (f64)(s32)a)
CASE(c_int_to_float, d3(2), d3(128), 0, 3, "out:f64:256 in:s64:256")
/* 0 or -1 of two conditions is an i1 to clang, which compile.sh makes it convert with its sign. */
KERNEL(c_conditions_to_float)(f64 *out, const s32 *in, const s32 *in2)
{
	u32 i = GID;
	bool both = (in[i] < 1000) & (in2[i] > -1000);

	out[2 * i] = (f32)(both ? -1 : 0);
	out[2 * i + 1] = (f64)(s8)(both ? 0xff : 0);
}
CASE(c_conditions_to_float, d3(2), d3(128), 0, 14,
     "out:f64:512 in:s32:256:range=-3000~3000 in:s32:256:range=-3000~3000")

/* --- floats to integers ------------------------------------------------------------------------ */
#define IN(mode, M, d, dt, dc, bits, sgn, s, st, sc, wide, is_f64)					\
	OP1(mode##_##d##_##s, dt, dc, st, sc, "cvt." #mode "." #d "." #s,				\
	    (dt)soft_to_int(M, wide, bits, sgn, is_f64))
#define IN_MODES(d, dt, dc, bits, sgn, s, st, sc, wide, is_f64)						\
	IN(rni, RN, d, dt, dc, bits, sgn, s, st, sc, wide, is_f64)					\
	IN(rzi, RZ, d, dt, dc, bits, sgn, s, st, sc, wide, is_f64)					\
	IN(rmi, RM, d, dt, dc, bits, sgn, s, st, sc, wide, is_f64)					\
	IN(rpi, RP, d, dt, dc, bits, sgn, s, st, sc, wide, is_f64)
#define FROM_FLOAT(s, st, sc, wide, is_f64, spec)							\
	IN_MODES(u32, u32, "r", 32, false, s, st, sc, wide, is_f64)					\
	IN_MODES(s32, u32, "r", 32, true, s, st, sc, wide, is_f64)					\
	IN_MODES(u64, u64, "l", 64, false, s, st, sc, wide, is_f64)					\
	IN_MODES(s64, u64, "l", 64, true, s, st, sc, wide, is_f64)					\
	IN_MODES(u16, u16, "h", 16, false, s, st, sc, wide, is_f64)					\
	IN_MODES(s16, u16, "h", 16, true, s, st, sc, wide, is_f64)					\
	IN_MODES(u8, u32, "r", 8, false, s, st, sc, wide, is_f64)					\
	IN_MODES(s8, u32, "r", 8, true, s, st, sc, wide, is_f64)					\
	KERNEL(s##_to_int)(u64 *out, const st *in)							\
	{												\
		u32 i = GID;										\
		st a = in[i];										\
		u64 *o = out + 32 * i;									\
		GET(0, u32, s) GET(4, s32, s) GET(8, u64, s) GET(12, s64, s)				\
		GET(16, u16, s) GET(20, s16, s) GET(24, u8, s) GET(28, s8, s)				\
	}												\
	CASE(s##_to_int, d3(2), d3(128), 0, 4, "out:u64:8192 in:" spec ":256")				\
	KERNEL(s##_to_int_near)(u64 *out, const st *in)							\
	{												\
		u32 i = GID;										\
		st a = in[i];										\
		u64 *o = out + 32 * i;									\
		GET(0, u32, s) GET(4, s32, s) GET(8, u64, s) GET(12, s64, s)				\
		GET(16, u16, s) GET(20, s16, s) GET(24, u8, s) GET(28, s8, s)				\
	}												\
	CASE(s##_to_int_near, d3(2), d3(128), 0, 5, "out:u64:8192 in:" spec ":256:range=-300~300")
#define GET(at, d, s)											\
	o[at] = rni_##d##_##s(a); o[at + 1] = rzi_##d##_##s(a);						\
	o[at + 2] = rmi_##d##_##s(a); o[at + 3] = rpi_##d##_##s(a);
FROM_FLOAT(f32, f32, "f", a, false, "f32")
FROM_FLOAT(f64, f64, "d", a, true, "f64")
FROM_FLOAT(f16, u16, "h", wide_of(F16, a), false, "f16")
OP1(rni_ftz, s32, "r", f32, "f", "cvt.rpi.ftz.s32.f32", (s32)soft_to_int(RP, ftz(a), 32, true, false))
OP1(rzi_sat, u32, "r", f32, "f", "cvt.rzi.sat.u32.f32", (u32)soft_to_int(RZ, a, 32, false, false))
MAP1(float_to_int_mods, u32, f32, (u32)rni_ftz(a) * 3 + rzi_sat(a))
CASE(float_to_int_mods, d3(2), d3(128), 0, 6, "out:u32:256 in:f32:256")
MAP2(c_float_to_int, s64, f32, f64, (s64)a + (s32)(a * 0.5f) + (s64)b - (u32)(fabs(b) * 0.25) + (s16)a)
CASE(c_float_to_int, d3(2), d3(128), 0, 7, "out:s64:256 in:f32:256:range=-30000~30000 in:f64:256:range=-1e9~1e9")

/* --- floats to floats --------------------------------------------------------------------------- */
#define NARROW(name, d, dt, dc, mods, s, st, sc, ...) \
	OP1(name, dt, dc, st, sc, "cvt." mods "." #d "." #s, __VA_ARGS__)
NARROW(f32_f64_rn, f32, f32, "f", "rn", f64, f64, "d", narrow_f32(a, RN))
NARROW(f32_f64_rz, f32, f32, "f", "rz", f64, f64, "d", narrow_f32(a, RZ))
NARROW(f32_f64_rm, f32, f32, "f", "rm", f64, f64, "d", narrow_f32(a, RM))
NARROW(f32_f64_rp, f32, f32, "f", "rp", f64, f64, "d", narrow_f32(a, RP))
NARROW(f32_f64_ftz, f32, f32, "f", "rn.ftz", f64, f64, "d", ftz(narrow_f32(a, RN)))
NARROW(f32_f64_sat, f32, f32, "f", "rz.sat", f64, f64, "d", sat(narrow_f32(a, RZ)))
KERNEL(f64_to_f32)(f32 *out, const f64 *in)
{
	u32 i = GID;
	f64 a = in[i];
	f32 *o = out + 6 * i;

	o[0] = f32_f64_rn(a);
	o[1] = f32_f64_rz(a);
	o[2] = f32_f64_rm(a);
	o[3] = f32_f64_rp(a);
	o[4] = f32_f64_ftz(a);
	o[5] = f32_f64_sat(a);
}
CASE(f64_to_f32, d3(4), d3(128), 0, 8, "out:f32:3072 in:f64:512")
KERNEL(f64_to_f32_near)(f32 *out, const f64 *in)
{
	u32 i = GID;
	f64 a = in[i];
	f32 *o = out + 4 * i;

	o[0] = f32_f64_rn(a);
	o[1] = f32_f64_rz(a);
	o[2] = f32_f64_rm(a);
	o[3] = f32_f64_rp(a);
}
CASE(f64_to_f32_near, d3(4), d3(128), 0, 9, "out:f32:2048 in:f64:512:range=-1e-37~1e-37")
OP1(f64_f32, f64, "d", f32, "f", "cvt.f64.f32", (f64)a)
OP1(f64_f32_ftz, f64, "d", f32, "f", "cvt.ftz.f64.f32", (f64)ftz(a))
OP1(f64_f32_sat, f64, "d", f32, "f", "cvt.sat.f64.f32", sat((f64)a))
KERNEL(f32_to_f64)(f64 *out, const f32 *in)
{
	u32 i = GID;
	f32 a = in[i];
	f64 *o = out + 3 * i;

	o[0] = f64_f32(a);
	o[1] = f64_f32_ftz(a);
	o[2] = f64_f32_sat(a);
}
CASE(f32_to_f64, d3(4), d3(128), 0, 10, "out:f64:1536 in:f32:512")

/* The source of .ftz is flushed; f16 subnormals are f32 numbers like others and stay. */
NARROW(f16_f32_rn, f16, u16, "h", "rn", f32, f32, "f", (u16)narrow_of(F16, a, RN))
NARROW(f16_f32_rz, f16, u16, "h", "rz", f32, f32, "f", (u16)narrow_of(F16, a, RZ))
NARROW(f16_f32_rm, f16, u16, "h", "rm", f32, f32, "f", (u16)narrow_of(F16, a, RM))
NARROW(f16_f32_rp, f16, u16, "h", "rp", f32, f32, "f", (u16)narrow_of(F16, a, RP))
NARROW(f16_f32_sat, f16, u16, "h", "rn.sat", f32, f32, "f", (u16)narrow_of(F16, sat((f64)wide_of(F16, narrow_of(F16, a, RN)))))
NARROW(f16_f64_rn, f16, u16, "h", "rn", f64, f64, "d", (u16)narrow_of(F16, a, RN))
NARROW(f16_f64_rp, f16, u16, "h", "rp", f64, f64, "d", (u16)narrow_of(F16, a, RP))
KERNEL(f32_to_f16)(u16 *out, const f32 *in)
{
	u32 i = GID;
	f32 a = in[i];
	u16 *o = out + 5 * i;

	o[0] = f16_f32_rn(a);
	o[1] = f16_f32_rz(a);
	o[2] = f16_f32_rm(a);
	o[3] = f16_f32_rp(a);
	o[4] = f16_f32_sat(a);
}
CASE(f32_to_f16, d3(4), d3(128), 0, 11, "out:f16:2560 in:f32:512")
KERNEL(f32_to_f16_near)(u16 *out, const f32 *in, const f64 *in2)
{
	u32 i = GID;
	f32 a = in[i];
	u16 *o = out + 6 * i;

	o[0] = f16_f32_rn(a);
	o[1] = f16_f32_rz(a);
	o[2] = f16_f32_rm(a);
	o[3] = f16_f32_rp(a);
	o[4] = f16_f64_rn(in2[i]);
	o[5] = f16_f64_rp(in2[i] * 2e9);
}
CASE(f32_to_f16_near, d3(4), d3(128), 0, 12,
     "out:f16:3072 in:f32:512:range=-70000~70000 in:f64:512:range=-0.0001~0.0001")
OP1(f32_f16, f32, "f", u16, "h", "cvt.f32.f16", (f32)wide_of(F16, a))
OP1(f64_f16, f64, "d", u16, "h", "cvt.f64.f16", wide_of(F16, a))
KERNEL(f16_to_wide)(f64 *out, const u16 *in)
{
	u32 i = GID;

	out[2 * i] = f32_f16(in[i]);
	out[2 * i + 1] = f64_f16(in[i]);
}
CASE(f16_to_wide, d3(8), d3(128), 0, 13, "out:f64:2048 in:f16:1024")

NARROW(bf16_f32_rn, bf16, u16, "h", "rn", f32, f32, "f", (u16)narrow_of(BF16, a, RN))
NARROW(bf16_f32_rz, bf16, u16, "h", "rz", f32, f32, "f", (u16)narrow_of(BF16, a, RZ))
NARROW(bf16_f32_relu, bf16, u16, "h", "rn.relu", f32, f32, "f", (u16)(a != a ? 0x7fff : a < 0 || signbit(a) ? 0 : narrow_of(BF16, a, RN)))
OP1(f32_bf16, f32, "f", u16, "h", "cvt.f32.bf16", (f32)wide_of(BF16, a))
KERNEL(f32_to_bf16)(u16 *out, const f32 *in)
{
	u32 i = GID;
	f32 a = in[i];
	u16 *o = out + 3 * i;

	o[0] = bf16_f32_rn(a);
	o[1] = bf16_f32_rz(a);
	o[2] = bf16_f32_relu(a);
}
CASE(f32_to_bf16, d3(4), d3(128), 0, 14, "out:bf16:1536 in:f32:512")
MAP1(bf16_to_f32, f32, u16, f32_bf16(a))
CASE(bf16_to_f32, d3(4), d3(128), 0, 15, "out:f32:512 in:bf16:512")
/* Two sources: the first is the upper half. */
OP2(pair_f16, u32, "r", f32, "f", f32, "f", "cvt.rn.f16x2.f32", (u32)(narrow_of(F16, a, RN) << 16 | narrow_of(F16, b, RN)))
OP2(pair_f16_rz, u32, "r", f32, "f", f32, "f", "cvt.rz.f16x2.f32", (u32)(narrow_of(F16, a, RZ) << 16 | narrow_of(F16, b, RZ)))
OP2(pair_bf16, u32, "r", f32, "f", f32, "f", "cvt.rn.bf16x2.f32", (u32)(narrow_of(BF16, a, RN) << 16 | narrow_of(BF16, b, RN)))
KERNEL(two_to_f16x2)(u32 *out, const f32 *x, const f32 *y)
{
	u32 i = GID;

	out[2 * i] = pair_f16(x[i], y[i]);
	out[2 * i + 1] = pair_f16_rz(x[i], y[i]);
}
CASE(two_to_f16x2, d3(4), d3(128), 0, 16, "out:f16:2048 in:f32:512 in:f32:512:range=-1~1")
MAP2(two_to_bf16x2, u32, f32, f32, pair_bf16(a, b))
CASE(two_to_bf16x2, d3(4), d3(128), 0, 17, "out:bf16:1024 in:f32:512 in:f32:512")

/* To an integral value of the same type. */
#define INTEGRAL(t, T, c)										\
	OP1(t##_rni, T, c, T, c, "cvt.rni." #t "." #t, (T)integral(RN, a))				\
	OP1(t##_rzi, T, c, T, c, "cvt.rzi." #t "." #t, (T)integral(RZ, a))				\
	OP1(t##_rmi, T, c, T, c, "cvt.rmi." #t "." #t, (T)integral(RM, a))				\
	OP1(t##_rpi, T, c, T, c, "cvt.rpi." #t "." #t, (T)integral(RP, a))				\
	KERNEL(t##_integral)(T *out, const T *in)							\
	{												\
		u32 i = GID;										\
		T a = in[i], *o = out + 4 * i;								\
		o[0] = t##_rni(a);									\
		o[1] = t##_rzi(a);									\
		o[2] = t##_rmi(a);									\
		o[3] = t##_rpi(a);									\
	}												\
	CASE(t##_integral, d3(4), d3(128), 0, 18, "out:" #t ":2048 in:" #t ":512")
INTEGRAL(f32, f32, "f")
INTEGRAL(f64, f64, "d")
OP1(h_rni, u16, "h", u16, "h", "cvt.rni.f16.f16", (u16)narrow_of(F16, integral(RN, wide_of(F16, a))))
OP1(h_rpi, u16, "h", u16, "h", "cvt.rpi.f16.f16", (u16)narrow_of(F16, integral(RP, wide_of(F16, a))))
KERNEL(f16_integral)(u16 *out, const u16 *in)
{
	u32 i = GID;

	out[2 * i] = h_rni(in[i]);
	out[2 * i + 1] = h_rpi(in[i]);
}
CASE(f16_integral, d3(4), d3(128), 0, 19, "out:f16:1024 in:f16:512")
OP1(f32_sat, f32, "f", f32, "f", "cvt.sat.f32.f32", sat(a))
OP1(f32_rmi_ftz, f32, "f", f32, "f", "cvt.rmi.ftz.f32.f32", (f32)integral(RM, ftz(a)))
KERNEL(f32_itself)(f32 *out, const f32 *in)
{
	u32 i = GID;

	out[2 * i] = f32_sat(in[i]);
	out[2 * i + 1] = f32_rmi_ftz(in[i]);
}
CASE(f32_itself, d3(4), d3(128), 0, 20, "out:f32:1024 in:f32:512")
