// SPDX-License-Identifier: GPL-2.0
// f64: every rounding mode, division, roots, minima, C as compilers see it.
#include "shim.h"

#define ROUND2(op)											\
	OP2(op##_rn, f64, "d", f64, "d", f64, "d", #op ".rn.f64", soft_##op(RN, a, b))			\
	OP2(op##_rz, f64, "d", f64, "d", f64, "d", #op ".rz.f64", soft_##op(RZ, a, b))			\
	OP2(op##_rm, f64, "d", f64, "d", f64, "d", #op ".rm.f64", soft_##op(RM, a, b))			\
	OP2(op##_rp, f64, "d", f64, "d", f64, "d", #op ".rp.f64", soft_##op(RP, a, b))			\
	KERNEL(op##_modes)(f64 *out, const f64 *x, const f64 *y)					\
	{												\
		u32 i = GID;										\
		f64 a = x[i], b = y[i], *o = out + 4 * i;						\
		o[0] = op##_rn(a, b);									\
		o[1] = op##_rz(a, b);									\
		o[2] = op##_rm(a, b);									\
		o[3] = op##_rp(a, b);									\
	}												\
	CASE(op##_modes, d3(4), d3(128), 0, 1, "out:f64:2048 in:f64:512 in:f64:512")
ROUND2(add)
ROUND2(sub)
ROUND2(mul)
ROUND2(div)

#define FMA(name, ...) \
	OP3(fma_##name, f64, "d", f64, "d", f64, "d", f64, "d", "fma." #name ".f64", __VA_ARGS__)
FMA(rn, soft_fma(RN, a, b, c))
FMA(rz, soft_fma(RZ, a, b, c))
FMA(rm, soft_fma(RM, a, b, c))
FMA(rp, soft_fma(RP, a, b, c))
OP3(mad_rp, f64, "d", f64, "d", f64, "d", f64, "d", "mad.rp.f64", soft_fma(RP, a, b, c))
KERNEL(fma_modes)(f64 *out, const f64 *x, const f64 *y, const f64 *z)
{
	u32 i = GID;
	f64 a = x[i], b = y[i], c = z[i], *o = out + 6 * i;

	o[0] = fma_rn(a, b, c);
	o[1] = fma_rz(a, b, c);
	o[2] = fma_rm(a, b, c);
	o[3] = fma_rp(a, b, c);
	o[4] = mad_rp(a, b, c);
	o[5] = fma_rn(a, b, -(a * b));
}
CASE(fma_modes, d3(4), d3(128), 0, 3, "out:f64:3072 in:f64:512 in:f64:512 in:f64:512")

#define ROOT(name, mods, ...) OP1(name, f64, "d", f64, "d", mods, __VA_ARGS__)
ROOT(sqrt_rn, "sqrt.rn.f64", soft_sqrt(RN, a))
ROOT(sqrt_rz, "sqrt.rz.f64", soft_sqrt(RZ, a))
ROOT(sqrt_rm, "sqrt.rm.f64", soft_sqrt(RM, a))
ROOT(sqrt_rp, "sqrt.rp.f64", soft_sqrt(RP, a))
ROOT(rcp_rn, "rcp.rn.f64", soft_div(RN, 1.0, a))
ROOT(rcp_rz, "rcp.rz.f64", soft_div(RZ, 1.0, a))
ROOT(rcp_rm, "rcp.rm.f64", soft_div(RM, 1.0, a))
ROOT(rcp_rp, "rcp.rp.f64", soft_div(RP, 1.0, a))
KERNEL(root_modes)(f64 *out, const f64 *x)
{
	u32 i = GID;
	f64 a = x[i], *o = out + 8 * i;

	o[0] = sqrt_rn(a);
	o[1] = sqrt_rz(a);
	o[2] = sqrt_rm(a);
	o[3] = sqrt_rp(a);
	o[4] = rcp_rn(a);
	o[5] = rcp_rz(a);
	o[6] = rcp_rm(a);
	o[7] = rcp_rp(a);
}
CASE(root_modes, d3(4), d3(128), 0, 4, "out:f64:4096 in:f64:512")
MAP2(c_arith, f64, f64, f64, (a + b) * (a - b) / (b + 0.25))
CASE(c_arith, d3(4), d3(128), 0, 6, "out:f64:512 in:f64:512 in:f64:512")
MAP2(c_functions, f64, f64, f64, sqrt(fabs(a)) + copysign(b, a) * fma(a, b, 1.5))
CASE(c_functions, d3(4), d3(128), 0, 7, "out:f64:512 in:f64:512 in:f64:512")
MAP1(c_round, f64, f64, floor(a) + ceil(a * 0.5) + trunc(a * 0.25) * 3 + rint(a * 0.75))
CASE(c_round, d3(4), d3(128), 0, 8, "out:f64:512 in:f64:512")
KERNEL(min_max_neg)(f64 *out, const f64 *x, const f64 *y)
{
	u32 i = GID;
	f64 a = x[i], b = y[i];

	out[4 * i] = fmin(a, b);
	out[4 * i + 1] = fmax(a, b);
	out[4 * i + 2] = -a;
	out[4 * i + 3] = fabs(b);
}
CASE(min_max_neg, d3(4), d3(128), 0, 9, "out:f64:2048 in:f64:512 in:f64:512")
/* f32 and f64 in one expression: conversions at each step. */
MAP2(mixed, f64, f32, f64, (f64)(f32)(a * b) + (f64)(a * (f32)b) - b * 0.1f)
CASE(mixed, d3(4), d3(128), 0, 10, "out:f64:512 in:f32:512 in:f64:512")
KERNEL(kahan)(f64 *out, const f64 *x)
{
	f64 sum = 0, low = 0;

	for (u32 k = 0; k < 64; k++) {
		f64 y = x[(GID * 7 + k) % 256] - low, t = sum + y;

		low = (t - sum) - y;
		sum = t;
	}
	out[2 * GID] = sum;
	out[2 * GID + 1] = low;
}
CASE(kahan, d3(2), d3(64), 0, 11, "out:f64:256 in:f64:256:range=-1e9~1e9")
