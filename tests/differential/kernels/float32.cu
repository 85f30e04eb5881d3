// SPDX-License-Identifier: GPL-2.0
// f32: every rounding mode, flushing, saturation, division, roots, minima, C as compilers see it.
#include "shim.h"

#define ROUND2(op)											\
	OP2(op##_rn, f32, "f", f32, "f", f32, "f", #op ".rn.f32", soft_##op(RN, a, b))			\
	OP2(op##_rz, f32, "f", f32, "f", f32, "f", #op ".rz.f32", soft_##op(RZ, a, b))			\
	OP2(op##_rm, f32, "f", f32, "f", f32, "f", #op ".rm.f32", soft_##op(RM, a, b))			\
	OP2(op##_rp, f32, "f", f32, "f", f32, "f", #op ".rp.f32", soft_##op(RP, a, b))			\
	OP2(op##_ftz, f32, "f", f32, "f", f32, "f", #op ".rz.ftz.f32", ftz(soft_##op(RZ, ftz(a), ftz(b)))) \
	KERNEL(op##_modes)(f32 *out, const f32 *x, const f32 *y)					\
	{												\
		u32 i = GID;										\
		f32 a = x[i], b = y[i], *o = out + 5 * i;						\
		o[0] = op##_rn(a, b);									\
		o[1] = op##_rz(a, b);									\
		o[2] = op##_rm(a, b);									\
		o[3] = op##_rp(a, b);									\
		o[4] = op##_ftz(a, b);									\
	}												\
	CASE(op##_modes, d3(4), d3(128), 0, 1, "out:f32:2560 in:f32:512 in:f32:512")
ROUND2(add)
ROUND2(sub)
ROUND2(mul)
ROUND2(div)

#define SAT2(op)											\
	OP2(op##_sat, f32, "f", f32, "f", f32, "f", #op ".sat.f32", sat(soft_##op(RN, a, b)))		\
	OP2(op##_rp_sat, f32, "f", f32, "f", f32, "f", #op ".rp.sat.f32", sat(soft_##op(RP, a, b)))	\
	OP2(op##_ftz_sat, f32, "f", f32, "f", f32, "f", #op ".rm.ftz.sat.f32",				\
	    sat(ftz(soft_##op(RM, ftz(a), ftz(b)))))
SAT2(add)
SAT2(sub)
SAT2(mul)
KERNEL(saturate)(f32 *out, const f32 *x, const f32 *y)
{
	u32 i = GID;
	f32 a = x[i], b = y[i], *o = out + 9 * i;

	o[0] = add_sat(a, b);
	o[1] = add_rp_sat(a, b);
	o[2] = add_ftz_sat(a, b);
	o[3] = sub_sat(a, b);
	o[4] = sub_rp_sat(a, b);
	o[5] = sub_ftz_sat(a, b);
	o[6] = mul_sat(a, b);
	o[7] = mul_rp_sat(a, b);
	o[8] = mul_ftz_sat(a, b);
}
CASE(saturate, d3(4), d3(128), 0, 2, "out:f32:4608 in:f32:512 in:f32:512")

#define FMA(name, mods, ...) \
	OP3(fma_##name, f32, "f", f32, "f", f32, "f", f32, "f", "fma." mods ".f32", __VA_ARGS__)
FMA(rn, "rn", soft_fma(RN, a, b, c))
FMA(rz, "rz", soft_fma(RZ, a, b, c))
FMA(rm, "rm", soft_fma(RM, a, b, c))
FMA(rp, "rp", soft_fma(RP, a, b, c))
FMA(ftz, "rn.ftz", ftz(soft_fma(RN, ftz(a), ftz(b), ftz(c))))
FMA(sat, "rz.sat", sat(soft_fma(RZ, a, b, c)))
OP3(mad_rm, f32, "f", f32, "f", f32, "f", f32, "f", "mad.rm.f32", soft_fma(RM, a, b, c))
KERNEL(fma_modes)(f32 *out, const f32 *x, const f32 *y, const f32 *z)
{
	u32 i = GID;
	f32 a = x[i], b = y[i], c = z[i], *o = out + 8 * i;

	o[0] = fma_rn(a, b, c);
	o[1] = fma_rz(a, b, c);
	o[2] = fma_rm(a, b, c);
	o[3] = fma_rp(a, b, c);
	o[4] = fma_ftz(a, b, c);
	o[5] = fma_sat(a, b, c);
	o[6] = mad_rm(a, b, c);
	o[7] = fma_rn(a, b, -(a * b));
}
CASE(fma_modes, d3(4), d3(128), 0, 3, "out:f32:4096 in:f32:512 in:f32:512 in:f32:512")

#define ROOT(name, mods, ...) OP1(name, f32, "f", f32, "f", mods, __VA_ARGS__)
ROOT(sqrt_rn, "sqrt.rn.f32", soft_sqrt(RN, a))
ROOT(sqrt_rz, "sqrt.rz.f32", soft_sqrt(RZ, a))
ROOT(sqrt_rm, "sqrt.rm.f32", soft_sqrt(RM, a))
ROOT(sqrt_rp, "sqrt.rp.f32", soft_sqrt(RP, a))
ROOT(sqrt_ftz, "sqrt.rn.ftz.f32", ftz(soft_sqrt(RN, ftz(a))))
ROOT(rcp_rn, "rcp.rn.f32", soft_div(RN, 1.0f, a))
ROOT(rcp_rz, "rcp.rz.f32", soft_div(RZ, 1.0f, a))
ROOT(rcp_rm, "rcp.rm.f32", soft_div(RM, 1.0f, a))
ROOT(rcp_rp, "rcp.rp.f32", soft_div(RP, 1.0f, a))
ROOT(rcp_ftz, "rcp.rn.ftz.f32", ftz(soft_div(RN, 1.0f, ftz(a))))
KERNEL(sqrt_modes)(f32 *out, const f32 *x)
{
	u32 i = GID;
	f32 a = x[i], *o = out + 5 * i;

	o[0] = sqrt_rn(a);
	o[1] = sqrt_rz(a);
	o[2] = sqrt_rm(a);
	o[3] = sqrt_rp(a);
	o[4] = sqrt_ftz(a);
}
CASE(sqrt_modes, d3(4), d3(128), 0, 4, "out:f32:2560 in:f32:512")
KERNEL(rcp_modes)(f32 *out, const f32 *x)
{
	u32 i = GID;
	f32 a = x[i], *o = out + 5 * i;

	o[0] = rcp_rn(a);
	o[1] = rcp_rz(a);
	o[2] = rcp_rm(a);
	o[3] = rcp_rp(a);
	o[4] = rcp_ftz(a);
}
CASE(rcp_modes, d3(4), d3(128), 0, 5, "out:f32:2560 in:f32:512")

MAP2(c_arith, f32, f32, f32, (a + b) * (a - b) / (b + 0.25f))
CASE(c_arith, d3(4), d3(128), 0, 6, "out:f32:512 in:f32:512 in:f32:512")
MAP2(c_functions, f32, f32, f32, sqrtf(fabsf(a)) + copysignf(b, a) * fmaf(a, b, 1.5f))
CASE(c_functions, d3(4), d3(128), 0, 7, "out:f32:512 in:f32:512 in:f32:512")
MAP1(c_round, f32, f32, floorf(a) + ceilf(a * 0.5f) + truncf(a * 0.25f) * 3 + rintf(a * 0.75f))
CASE(c_round, d3(4), d3(128), 0, 8, "out:f32:512 in:f32:512")
KERNEL(min_max)(f32 *out, const f32 *x, const f32 *y)
{
	u32 i = GID;
	f32 a = x[i], b = y[i];

	out[2 * i] = fminf(a, b);
	out[2 * i + 1] = fmaxf(a, b);
}
CASE(min_max, d3(4), d3(128), 0, 9, "out:f32:1024 in:f32:512 in:f32:512")
OP2(min_ftz, f32, "f", f32, "f", f32, "f", "min.ftz.f32", soft_min(ftz(a), ftz(b)))
OP1(abs_ftz, f32, "f", f32, "f", "abs.ftz.f32", ftz(fabsf(a)))
OP1(neg_ftz, f32, "f", f32, "f", "neg.ftz.f32", ftz(-a))
KERNEL(abs_neg)(f32 *out, const f32 *x, const f32 *y)
{
	u32 i = GID;
	f32 a = x[i], *o = out + 5 * i;

	o[0] = fabsf(a);
	o[1] = -a;
	o[2] = min_ftz(a, y[i]);
	o[3] = abs_ftz(a);
	o[4] = neg_ftz(a);
}
CASE(abs_neg, d3(4), d3(128), 0, 10, "out:f32:2560 in:f32:512 in:f32:512")

/* Results that are NaN have CUDA's bits, whatever the operands' payload. */
ON_CPU(static u32 canonical(f32 v) { return v != v ? 0x7fffffff : bits_of(v); })
ON_DEVICE(DEVICE u32 canonical(f32 v) { return __float_as_uint(v); })
KERNEL(nan_bits)(u32 *out, const f32 *x, const f32 *y)
{
	u32 i = GID, *o = out + 5 * i;
	f32 a = x[i], b = y[i];

	o[0] = canonical(add_rn(a, b));
	o[1] = canonical(mul_rn(a, b));
	o[2] = canonical(fma_rn(a, b, a));
	o[3] = canonical(div_rn(a, b));
	o[4] = canonical(sqrt_rn(a));
}
CASE(nan_bits, d3(4), d3(128), 0, 11, "out:u32:2560 in:f32:512 in:f32:512")

/* Order of operations is the source's: sums and polynomials come out to the bit. */
KERNEL(horner)(f32 *out, const f32 *x)
{
	u32 i = GID;
	f32 a = x[i], r = 0;

	for (int k = 0; k < 24; k++)
		r = r * a + (f32)k * 0.1f;
	out[i] = r;
}
CASE(horner, d3(2), d3(128), 0, 12, "out:f32:256 in:f32:256:range=-2~2")
KERNEL(dot)(f32 *out, const f32 *x, const f32 *y, u32 n)
{
	f32 sum = 0;

	for (u32 k = 0; k < n; k++)
		sum += x[(GID + k) % 256] * y[k];
	out[GID] = sum;
}
CASE(dot, d3(2), d3(64), 0, 13, "out:f32:128 in:f32:256:unit in:f32:256:range=-1~1 u32=100")
KERNEL(newton)(f32 *out, const f32 *x)
{
	f32 a = x[GID], r = 1;
	int n = 0;

	while (n < 30 && fabsf(r * r - a) > 1e-6f * a) {
		r = 0.5f * (r + a / r);
		n++;
	}
	out[GID] = r + n;
}
CASE(newton, d3(2), d3(128), 0, 14, "out:f32:256 in:f32:256:range=0.01~10000")
