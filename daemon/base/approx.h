/* SPDX-License-Identifier: GPL-2.0 */
/*
 * PTX's ex2.approx and lg2.approx, and the bits of floating point numbers. Polynomials in double,
 * without fused operations and without the host's libm, so that every host gives the same
 * bits: exec/ executes them, and a workload's reference (workloads/both.h) computes the same.
 */
#ifndef GPUEMU_BASE_APPROX_H
#define GPUEMU_BASE_APPROX_H

#include <stdint.h>

static inline uint32_t f32_bits(float f)
{
	uint32_t u;

	__builtin_memcpy(&u, &f, sizeof(u));
	return u;
}

static inline uint64_t f64_bits(double f)
{
	uint64_t u;

	__builtin_memcpy(&u, &f, sizeof(u));
	return u;
}

static inline float bits_f32(uint32_t u)
{
	float f;

	__builtin_memcpy(&f, &u, sizeof(f));
	return f;
}

static inline double bits_f64(uint64_t u)
{
	double f;

	__builtin_memcpy(&f, &u, sizeof(f));
	return f;
}

/* Added and taken off again, it rounds to an integer, which is in the sum's low bits. */
#define ROUNDER	0x1.8p52

static inline float ex2_approx(float x)
{
	double t = x, k, f, p;

	t = t < 200 ? t : 200;
	t = t > -200 ? t : -200;
	k = t + ROUNDER;
	f = (t - (k - ROUNDER)) * 0x1.62e42fefa39efp-1; /* ln 2 */
	p = 1 + f * (1 + f * (1.0 / 2 + f * (1.0 / 6 + f * (1.0 / 24 + f * (1.0 / 120 +
		f * (1.0 / 720 + f * (1.0 / 5040 + f * (1.0 / 40320))))))));
	/* The integer is in the low bits of k; it becomes the exponent. */
	p = p * bits_f64((f64_bits(k) + 1023) << 52);
	return x == x ? (float)p : x;
}

static inline float lg2_approx(float x)
{
	uint64_t u = f64_bits(x) & 0x7fffffffffffffffull, high;
	double m, s, s2, e, r;

	/* m in [sqrt(1/2), sqrt(2)), x = m * 2^e */
	high = u - 0x3fe6a09e667f3bcdull;
	e = bits_f64((high >> 52 & 0x7ff) + 0x4338000000000000ull);
	e = e - ROUNDER;
	e = e > 1024 ? e - 2048 : e;
	m = bits_f64(u - ((high >> 52) << 52));
	s = (m - 1) / (m + 1);
	s2 = s * s;
	r = s * (2 + s2 * (2.0 / 3 + s2 * (2.0 / 5 + s2 * (2.0 / 7 + s2 * (2.0 / 9 +
		s2 * (2.0 / 11 + s2 * (2.0 / 13)))))));
	r = e + r * 0x1.71547652b82fep0; /* 1/ln 2 */
	r = x > 0 ? r : x == 0 ? -__builtin_inf() : __builtin_nan("");
	return x == __builtin_inff() ? x : (float)r;
}

#endif
