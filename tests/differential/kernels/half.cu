// SPDX-License-Identifier: GPL-2.0
// f16 and f16x2: arithmetic, comparison, minima, in the widths that cuda_fp16.h emits.
// arch: 80
#include "shim.h"

#define H2(name, text, ...) OP2(name, u16, "h", u16, "h", u16, "h", text, (u16)(__VA_ARGS__))
#define H3(name, text, ...) OP3(name, u16, "h", u16, "h", u16, "h", u16, "h", text, (u16)(__VA_ARGS__))
ON_CPU(static u64 hflush(u64 v) { return (v & 0x7c00) ? v : v & 0x8000; }
static u64 hsat(u64 v) { f64 w = wide_of(F16, v); return narrow_of(F16, sat(w)); }
static u64 hmin(u64 a, u64 b) { return narrow_of(F16, soft_min(wide_of(F16, a), wide_of(F16, b))); }
static u64 hmax(u64 a, u64 b) { return narrow_of(F16, soft_max(wide_of(F16, a), wide_of(F16, b))); }
static bool hnan(u64 v) { return (v & 0x7fff) > 0x7c00; }
static u64 relu(u64 v) { return hnan(v) ? 0x7fff : v & 0x8000 ? 0 : v; })

H2(hadd, "add.f16", small_add(F16, a, b))
H2(hadd_ftz, "add.rn.ftz.f16", hflush(small_add(F16, hflush(a), hflush(b))))
H2(hadd_sat, "add.sat.f16", hsat(small_add(F16, a, b)))
H2(hsub, "sub.rn.f16", small_sub(F16, a, b))
H2(hsub_sat, "sub.ftz.sat.f16", hsat(hflush(small_sub(F16, hflush(a), hflush(b)))))
H2(hmul, "mul.rn.f16", small_mul(F16, a, b))
H2(hmul_ftz, "mul.ftz.f16", hflush(small_mul(F16, hflush(a), hflush(b))))
H2(hmul_sat, "mul.sat.f16", hsat(small_mul(F16, a, b)))
H3(hfma, "fma.rn.f16", small_fma(F16, a, b, c))
H3(hfma_ftz, "fma.rn.ftz.f16", hflush(small_fma(F16, hflush(a), hflush(b), hflush(c))))
H3(hfma_sat, "fma.rn.sat.f16", hsat(small_fma(F16, a, b, c)))
H3(hfma_relu, "fma.rn.relu.f16", relu(small_fma(F16, a, b, c)))
KERNEL(half_arith)(u16 *out, const u16 *x, const u16 *y)
{
	u32 i = GID;
	u16 a = x[i], b = y[i], *o = out + 8 * i;

	o[0] = hadd(a, b);
	o[1] = hadd_ftz(a, b);
	o[2] = hadd_sat(a, b);
	o[3] = hsub(a, b);
	o[4] = hsub_sat(a, b);
	o[5] = hmul(a, b);
	o[6] = hmul_ftz(a, b);
	o[7] = hmul_sat(a, b);
}
CASE(half_arith, d3(4), d3(128), 0, 1, "out:f16:4096 in:f16:512 in:f16:512")
KERNEL(half_fma)(u16 *out, const u16 *x, const u16 *y, const u16 *z)
{
	u32 i = GID;
	u16 a = x[i], b = y[i], c = z[i], *o = out + 4 * i;

	o[0] = hfma(a, b, c);
	o[1] = hfma_ftz(a, b, c);
	o[2] = hfma_sat(a, b, c);
	o[3] = hfma_relu(a, b, c);
}
CASE(half_fma, d3(8), d3(128), 0, 2, "out:f16:4096 in:f16:1024 in:f16:1024 in:f16:1024")

OP1(hneg, u16, "h", u16, "h", "neg.f16", (u16)(a ^ 0x8000))
OP1(habs, u16, "h", u16, "h", "abs.f16", (u16)(a & 0x7fff))
OP1(hneg_ftz, u16, "h", u16, "h", "neg.ftz.f16", (u16)(hflush(a) ^ 0x8000))
H2(hmin_ptx, "min.f16", hmin(a, b))
H2(hmax_ptx, "max.f16", hmax(a, b))
H2(hmin_nan, "min.NaN.f16", hnan(a) || hnan(b) ? 0x7fff : hmin(a, b))
H2(hmax_ftz_nan, "max.ftz.NaN.f16", hnan(a) || hnan(b) ? 0x7fff : hmax(hflush(a), hflush(b)))
KERNEL(half_unary)(u16 *out, const u16 *x, const u16 *y)
{
	u32 i = GID;
	u16 a = x[i], b = y[i], *o = out + 7 * i;

	o[0] = hneg(a);
	o[1] = habs(a);
	o[2] = hneg_ftz(a);
	o[3] = hmin_ptx(a, b);
	o[4] = hmax_ptx(a, b);
	o[5] = hmin_nan(a, b);
	o[6] = hmax_ftz_nan(a, b);
}
CASE(half_unary, d3(4), d3(128), 0, 3, "out:f16:3584 in:f16:512 in:f16:512")

#define HCMP(op, ...) TEXT2(hset_##op, u32, "r", u16, "h", u16, "h",					\
	"{ .reg .pred p; setp." #op ".f16 p, %1, %2; selp.u32 %0, 1, 0, p; }", (u32)(__VA_ARGS__))
#define W(v) wide_of(F16, v)
HCMP(eq, W(a) == W(b))
HCMP(ne, W(a) < W(b) || W(a) > W(b))
HCMP(lt, W(a) < W(b))
HCMP(ge, W(a) >= W(b))
HCMP(ltu, !(W(a) >= W(b)))
HCMP(neu, !(W(a) == W(b)))
HCMP(num, !hnan(a) && !hnan(b))
HCMP(nan, hnan(a) || hnan(b))
KERNEL(half_compare)(u32 *out, const u16 *x, const u16 *y)
{
	u32 i = GID;
	u16 a = x[i], b = y[i];

	out[i] = hset_eq(a, b) | hset_ne(a, b) << 1 | hset_lt(a, b) << 2 | hset_ge(a, b) << 3 |
		 hset_ltu(a, b) << 4 | hset_neu(a, b) << 5 | hset_num(a, b) << 6 | hset_nan(a, b) << 7 |
		 hset_eq(a, a) << 8;
}
CASE(half_compare, d3(4), d3(128), 0, 4, "out:u32:512 in:f16:512 in:f16:512")

/* Two at a time. */
ON_CPU(template <typename F> static u32 both(u32 a, u32 b, u32 c, F f) {
	return (u32)(f(a & 0xffff, b & 0xffff, c & 0xffff) & 0xffff) | (u32)f(a >> 16, b >> 16, c >> 16) << 16; })
#define X2(name, text, ...) OP2(name, u32, "r", u32, "r", u32, "r", text,				\
	both(a, b, 0, [](u64 a, u64 b, u64) -> u64 { return __VA_ARGS__; }))
#define X3(name, text, ...) OP3(name, u32, "r", u32, "r", u32, "r", u32, "r", text,			\
	both(a, b, c, [](u64 a, u64 b, u64 c) -> u64 { return __VA_ARGS__; }))
X2(xadd, "add.f16x2", small_add(F16, a, b))
X2(xadd_sat, "add.ftz.sat.f16x2", hsat(hflush(small_add(F16, hflush(a), hflush(b)))))
X2(xsub, "sub.f16x2", small_sub(F16, a, b))
X2(xmul, "mul.rn.f16x2", small_mul(F16, a, b))
X3(xfma, "fma.rn.f16x2", small_fma(F16, a, b, c))
X3(xfma_relu, "fma.rn.relu.f16x2", relu(small_fma(F16, a, b, c)))
X2(xmin, "min.f16x2", hmin(a, b))
X2(xmax, "max.NaN.f16x2", hnan(a) || hnan(b) ? 0x7fff : hmax(a, b))
KERNEL(pair_arith)(u32 *out, const u32 *x, const u32 *y, const u32 *z)
{
	u32 i = GID, a = x[i], b = y[i], c = z[i], *o = out + 8 * i;

	o[0] = xadd(a, b);
	o[1] = xadd_sat(a, b);
	o[2] = xsub(a, b);
	o[3] = xmul(a, b);
	o[4] = xfma(a, b, c);
	o[5] = xfma_relu(a, b, c);
	o[6] = xmin(a, b);
	o[7] = xmax(a, b);
}
CASE(pair_arith, d3(4), d3(128), 0, 5, "out:f16:8192 in:f16:1024 in:f16:1024 in:f16:1024")
OP1(xneg, u32, "r", u32, "r", "neg.f16x2", a ^ 0x80008000)
OP1(xabs, u32, "r", u32, "r", "abs.f16x2", a & 0x7fff7fff)
KERNEL(pair_unary)(u32 *out, const u32 *x)
{
	u32 i = GID;

	out[2 * i] = xneg(x[i]);
	out[2 * i + 1] = xabs(x[i]);
}
CASE(pair_unary, d3(4), d3(128), 0, 6, "out:f16:2048 in:f16:1024")
TEXT2(xsetp, u32, "r", u32, "r", u32, "r",
      "{ .reg .pred p, q; setp.lt.f16x2 p|q, %1, %2; selp.u32 %0, 1, 0, p; @q add.u32 %0, %0, 2; }",
      (u32)(W(a & 0xffff) < W(b & 0xffff)) + 2 * (u32)(W(a >> 16) < W(b >> 16)))
TEXT2(xset, u32, "r", u32, "r", u32, "r", "set.geu.f16x2.f16x2 %0, %1, %2;",
      both(a, b, 0, [](u64 a, u64 b, u64) -> u64 { return W(a) < W(b) ? 0 : 0x3c00; }))
KERNEL(pair_compare)(u32 *out, const u32 *x, const u32 *y)
{
	u32 i = GID;

	out[2 * i] = xsetp(x[i], y[i]);
	out[2 * i + 1] = xset(x[i], y[i]);
}
CASE(pair_compare, d3(4), d3(128), 0, 7, "out:u32:1024 in:f16:1024 in:f16:1024")

/* A half dot product the way cuda_fp16.h's users write it: pack, multiply, unpack, sum. */
TEXT1(low_of, u16, "h", u32, "r", "{ .reg .b16 t; mov.b32 {%0, t}, %1; }", (u16)a)
TEXT1(high_of, u16, "h", u32, "r", "{ .reg .b16 t; mov.b32 {t, %0}, %1; }", (u16)(a >> 16))
TEXT2(packed, u32, "r", u16, "h", u16, "h", "mov.b32 %0, {%1, %2};", a | (u32)b << 16)
KERNEL(half_dot)(u16 *out, const u32 *x, const u32 *y)
{
	u32 sum = 0;

	for (u32 k = 0; k < 16; k++)
		sum = xfma(x[(GID + k) & 63], packed(high_of(y[k]), low_of(y[k])), sum);
	out[GID] = hadd(low_of(sum), high_of(sum));
}
CASE(half_dot, d3(1), d3(64), 0, 8, "out:f16:64 in:f16:128:range=-2~2 in:f16:128:range=-2~2")

/* Within the documented error. */
OP1(hex2, u16, "h", u16, "h", "ex2.approx.f16", (u16)narrow_of(F16, exp2(W(a))))
OP1(htanh, u16, "h", u16, "h", "tanh.approx.f16", (u16)narrow_of(F16, tanh(W(a))))
MAP1(half_ex2, u16, u16, hex2(a))
CASE(half_ex2, d3(4), d3(128), 0, 9, "out:f16:512:rel=0.00105,ulp=1 in:f16:512:range=-10~10")
MAP1(half_tanh, u16, u16, htanh(a))
CASE(half_tanh, d3(4), d3(128), 0, 10, "out:f16:512:abs=0.0005,ulp=1 in:f16:512:range=-4~4")
OP1(xtanh, u32, "r", u32, "r", "tanh.approx.f16x2",
    both(a, 0, 0, [](u64 a, u64, u64) -> u64 { return narrow_of(F16, tanh(W(a))); }))
MAP1(pair_tanh, u32, u32, xtanh(a))
CASE(pair_tanh, d3(2), d3(128), 0, 11, "out:f16:512:abs=0.0005,ulp=1 in:f16:512:range=-4~4")
