/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Arithmetic that a workload's kernel and its CPU reference share, with the same bits on both
 * sides: products are added by fmaf alone. A reference that uses these checks them against the
 * C library besides. Included by workloads/NAME.c in place of device.h and fill.h.
 */
#ifndef GPUEMU_WORKLOADS_BOTH_H
#define GPUEMU_WORKLOADS_BOTH_H

#ifdef GPUEMU_DEVICE
#include "device.h"
#define BOTH	INLINE

BOTH uint32_t both_bits(float f)
{
	return __builtin_bit_cast(uint32_t, f);
}

BOTH float both_float(uint32_t u)
{
	return __builtin_bit_cast(float, u);
}

BOTH float both_sqrt(float f)
{
	return __builtin_sqrtf(f);
}

BOTH float both_abs(float f)
{
	return __builtin_fabsf(f);
}

BOTH float both_ex2(float x)
{
	float y;

	asm("ex2.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
	return y;
}

BOTH float both_lg2(float x)
{
	float y;

	asm("lg2.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
	return y;
}

#else
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/approx.h"
#include "fill.h"
#define BOTH	static inline

BOTH uint32_t both_bits(float f)
{
	return f32_bits(f);
}

BOTH float both_float(uint32_t u)
{
	return bits_f32(u);
}

BOTH float both_sqrt(float f)
{
	return sqrtf(f);
}

BOTH float both_abs(float f)
{
	return fabsf(f);
}

/* What the model's special function unit answers. */
BOTH float both_ex2(float x)
{
	return ex2_approx(x);
}

BOTH float both_lg2(float x)
{
	return lg2_approx(x);
}
#endif

/* Natural logarithm of a normal x > 0: ln(m) + e ln 2, m near 1, by the series of atanh. */
BOTH float both_log(float x)
{
	uint32_t bits = both_bits(x), e = (bits - 0x3f3504f3u) >> 23;
	float m = both_float(bits - (e << 23));
	float s = (m - 1) / (m + 1), q = s * s;
	float p = fmaf(q, fmaf(q, fmaf(q, fmaf(q, 0.11111111f, 0.14285715f), 0.2f), 0.33333334f),
		       1.0f);

	return fmaf((float)(int)(e << 24) / 16777216, 0.69314718f, 2 * s * p);
}

/* e to the x, -80 < x < 80. */
BOTH float both_exp(float x)
{
	int n = (int)fmaf(x, 1.4426950f, x < 0 ? -0.5f : 0.5f);
	float r = fmaf((float)n, -0.69314718f, x);
	float p = fmaf(r, fmaf(r, fmaf(r, fmaf(r, fmaf(r, 0.0083333338f, 0.041666668f),
					       0.16666667f), 0.5f), 1.0f), 1.0f);

	return p * both_float((uint32_t)(n + 127) << 23);
}

/* The cosine of `turns` whole circles, 0 <= turns < 1000; the sine is a quarter less. */
BOTH float both_cos_turns(float turns)
{
	int quarter = (int)fmaf(turns, 4.0f, 0.5f);
	float a = 6.2831855f * fmaf((float)quarter, -0.25f, turns), q = a * a;
	float sine = a * fmaf(q, fmaf(q, fmaf(q, -1.9515295e-4f, 8.3321610e-3f), -0.16666655f),
			      1.0f);
	float cosine = fmaf(q, fmaf(q, fmaf(q, fmaf(q, 2.4433157e-5f, -1.3887316e-3f),
					    4.1666646e-2f), -0.5f), 1.0f);
	float value = quarter & 1 ? sine : cosine;

	/* cos(x + k pi/2): cos, -sin, -cos, sin. */
	return (quarter & 3) == 1 || (quarter & 3) == 2 ? -value : value;
}

#endif
