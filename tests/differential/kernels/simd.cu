// SPDX-License-Identifier: GPL-2.0
// Two 16-bit or four 8-bit integers in a word, minima with relu and of signs, halves in memory.
// arch: 90
#include "shim.h"

ON_CPU(template <typename F> static u32 halves(u32 a, u32 b, F f) {
	return (u32)(f(a & 0xffff, b & 0xffff) & 0xffff) | (u32)f(a >> 16, b >> 16) << 16; })
#define X2(name, text, T, ...) OP2(name, u32, "r", u32, "r", u32, "r", text,				\
	halves(a, b, [](u32 x, u32 y) { T a = (T)x, b = (T)y; return (u32)(__VA_ARGS__); }))
X2(add_u16x2, "add.u16x2", u16, a + b)
X2(add_s16x2, "add.s16x2", s16, a + b)
X2(min_u16x2, "min.u16x2", u16, a < b ? a : b)
X2(max_s16x2, "max.s16x2", s16, a > b ? a : b)
X2(max_relu_s16x2, "max.s16x2.relu", s16, a > b ? (a > 0 ? a : 0) : (b > 0 ? b : 0))
X2(min_relu_s16x2, "min.relu.s16x2", s16, a < b ? (a > 0 ? a : 0) : (b > 0 ? b : 0))
KERNEL(pairs_of_16)(u32 *out, const u32 *x, const u32 *y)
{
	u32 i = GID, a = x[i], b = y[i], *o = out + 6 * i;

	o[0] = add_u16x2(a, b);
	o[1] = add_s16x2(a, b);
	o[2] = min_u16x2(a, b);
	o[3] = max_s16x2(a, b);
	o[4] = max_relu_s16x2(a, b);
	o[5] = min_relu_s16x2(a, b);
}
CASE(pairs_of_16, d3(2), d3(128), 0, 1, "out:u32:1536 in:u32:256 in:u32:256")
OP2(max_relu_s32, s32, "r", s32, "r", s32, "r", "max.s32.relu", a > b ? (a > 0 ? a : 0) : (b > 0 ? b : 0))
OP2(min_relu_s32, s32, "r", s32, "r", s32, "r", "min.relu.s32", a < b ? (a > 0 ? a : 0) : (b > 0 ? b : 0))
MAP2(relu_s32, s64, s32, s32, (s64)max_relu_s32(a, b) * 3 + min_relu_s32(a, b))
CASE(relu_s32, d3(2), d3(128), 0, 2, "out:s64:256 in:s32:256 in:s32:256")
ON_CPU(static u32 differences(u32 a, u32 b, bool sgn, u32 *sum) {
	u32 r = 0; *sum = 0;
	for (int i = 0; i < 32; i += 8) {
		int x = a >> i & 255, y = b >> i & 255, d;
		if (sgn) { x = (s8)x; y = (s8)y; }
		d = x > y ? x - y : y - x;
		*sum += (u32)d; r |= (u32)(d & 255) << i; }
	return r; }
static u32 sum_of(u32 a, u32 b, bool sgn) { u32 s; differences(a, b, sgn, &s); return s; }
static u32 diff_of(u32 a, u32 b, bool sgn) { u32 s; return differences(a, b, sgn, &s); })
OP3(vabsdiff_u, u32, "r", u32, "r", u32, "r", u32, "r", "vabsdiff4.u32.u32.u32", diff_of(a, b, false))
OP3(vabsdiff_s, u32, "r", u32, "r", u32, "r", u32, "r", "vabsdiff4.u32.s32.s32", diff_of(a, b, true))
OP3(vabsdiff_add, u32, "r", u32, "r", u32, "r", u32, "r", "vabsdiff4.u32.u32.u32.add", sum_of(a, b, false) + c)
KERNEL(bytes)(u32 *out, const u32 *x, const u32 *y)
{
	u32 i = GID, *o = out + 3 * i;

	o[0] = vabsdiff_u(x[i], y[i], 0);
	o[1] = vabsdiff_s(x[i], y[i], 0);
	o[2] = vabsdiff_add(x[i], y[i], i);
}
CASE(bytes, d3(2), d3(128), 0, 3, "out:u32:768 in:u32:256 in:u32:256")

/* The smaller or larger magnitude, with the product's sign. */
OP2(min_xorsign, f32, "f", f32, "f", f32, "f", "min.xorsign.abs.f32",
    copysignf(soft_min(fabsf(a), fabsf(b)), (signbit(a) != 0) != (signbit(b) != 0) ? -1.0f : 1.0f))
OP2(max_nan_xorsign, f32, "f", f32, "f", f32, "f", "max.NaN.xorsign.abs.f32",
    copysignf(soft_max_nan(fabsf(a), fabsf(b)), (signbit(a) != 0) != (signbit(b) != 0) ? -1.0f : 1.0f))
OP2(max_nan, f32, "f", f32, "f", f32, "f", "max.NaN.f32", soft_max_nan(a, b))
OP2(min_ftz_nan, f32, "f", f32, "f", f32, "f", "min.ftz.NaN.f32", soft_min_nan(ftz(a), ftz(b)))
KERNEL(extremes)(f32 *out, const f32 *x, const f32 *y)
{
	u32 i = GID;
	f32 a = x[i], b = y[i], *o = out + 4 * i;

	o[0] = min_xorsign(a, b);
	o[1] = max_nan_xorsign(a, b);
	o[2] = max_nan(a, b);
	o[3] = min_ftz_nan(a, b);
}
CASE(extremes, d3(4), d3(128), 0, 4, "out:f32:2048 in:f32:512 in:f32:512")

/* Halves and pairs of them through memory, vectors and shuffles. */
KERNEL(halves_in_memory)(u32 *out, const u32 *in)
{
	u32 i = GID, v;

	ON_DEVICE(asm volatile("{ .reg .b16 a, b; .reg .b32 p, q; .reg .b16 t<4>;"
			       "ld.global.v2.b16 {a, b}, [%1]; mov.b32 p, {b, a}; shfl.sync.bfly.b32 q, p, 1, 31, -1;"
			       "ld.global.v4.b16 {t0, t1, t2, t3}, [%2]; mov.b32 {t0, t1}, q; add.u16 t0, t0, t3; mov.b32 %0, {t0, t1}; }"
			       : "=r"(v) : "l"(in + i), "l"(in + 2 * (i / 2)));)
	ON_CPU(u32 p = in[i] >> 16 | in[i] << 16, q = __shfl_xor_sync(0xffffffff, p, 1);
	       v = (u16)(q + (in[2 * (i / 2) + 1] >> 16)) | (q & 0xffff0000);)
	out[i] = v;
}
CASE(halves_in_memory, d3(1), d3(64), 0, 5, "out:u32:64 in:u32:64")
/* Sums of small whole numbers are exact in any order. */
KERNEL(half_atomics)(u16 *b, u32 *pair, u32 *half_pair)
{
	ON_DEVICE(asm volatile("{ .reg .b16 r, one; mov.b16 one, 0x3f80; atom.global.add.noftz.bf16 r, [%0], one; }" :: "l"(b) : "memory");
		  asm volatile("{ .reg .b32 r; atom.global.add.noftz.bf16x2 r, [%0], %1; }" :: "l"(pair), "r"(0x40003f80) : "memory");
		  asm volatile("red.global.add.noftz.f16x2 [%0], %1;" :: "l"(half_pair), "r"(0x3c004000) : "memory");)
	ON_CPU(*b = (u16)small_add(BF16, *b, 0x3f80);
	       *pair = (u32)(small_add(BF16, *pair & 0xffff, 0x3f80) | small_add(BF16, *pair >> 16, 0x4000) << 16);
	       *half_pair = (u32)(small_add(F16, *half_pair & 0xffff, 0x4000) | small_add(F16, *half_pair >> 16, 0x3c00) << 16);)
}
CASE(half_atomics, d3(1), d3(64), 0, 6, "io:u16:2:zero io:u32:1:zero io:u32:1:zero")
KERNEL(fences)(u32 *out, const u32 *in)
{
	__shared__ u32 s[64];
	u32 t = threadIdx.x;

	s[t] = in[t];
	__threadfence();
	__threadfence_block();
	__threadfence_system();
	ON_DEVICE(asm volatile("fence.sc.gpu; fence.acq_rel.cta; membar.gl; membar.cta; membar.sys; fence.proxy.alias; nanosleep.u32 20;" ::: "memory");)
	__syncthreads();
	out[t] = s[63 - t];
}
CASE(fences, d3(1), d3(64), 0, 7, "out:u32:64 in:u32:64")
OP1(xex2, u32, "r", u32, "r", "ex2.approx.f16x2",
    (u32)(narrow_of(F16, exp2(wide_of(F16, a & 0xffff))) | narrow_of(F16, exp2(wide_of(F16, a >> 16))) << 16))
MAP1(pair_ex2, u32, u32, xex2(a))
CASE(pair_ex2, d3(2), d3(128), 0, 8, "out:f16:512:rel=0.00105,ulp=1 in:f16:512:range=-10~10")
OP1(satfinite_f16, u16, "h", f32, "f", "cvt.rn.satfinite.f16.f32",
    (u16)(a != a ? 0x7fff : (narrow_of(F16, a) & 0x7fff) >= 0x7c00 ? (narrow_of(F16, a) & 0x8000) | 0x7bff : narrow_of(F16, a)))
MAP1(satfinite, u16, f32, satfinite_f16(a))
CASE(satfinite, d3(4), d3(128), 0, 9, "out:f16:512 in:f32:512")
