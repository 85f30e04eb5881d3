/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The functions of PTX that are approximate, and what the lanes need besides
 * arithmetic. Included by lanes.h and texture.c. The approximations are polynomials in
 * double, without fused operations and without the host's libm, so that every
 * host gives the same bits; their error is far below the one PTX documents. ex2 and lg2 are in
 * base/: workloads compare with them.
 */
#include "base/approx.h"

static inline float canon_f32(float a)
{
	return a == a ? a : bits_f32(0x7fffffff);
}

static inline double canon_f64(double a)
{
	return a == a ? a : bits_f64(0x7ff8000000000000ull);
}

/*
 * What a GPU makes of NaN in f64: a source's, made quiet, the second's first, then the third's;
 * without one, NONE_F64. In f32 it is always 0x7fffffff.
 */
#define QUIET_F64	0x0008000000000000ull
#define NONE_F64	0xfff8000000000000ull

static inline double quiet(double a)
{
	return bits_f64(f64_bits(a) | QUIET_F64);
}

/* rcp and rsqrt.approx.ftz.f64 have but one. */
static inline double upper_nan(double r)
{
	return r == r ? r : bits_f64(0x7fffffff00000000ull);
}

static inline uint32_t nan_bits(uint32_t u)
{
	return (u & 0x7fffffff) > 0x7f800000 ? 0x7fffffff : u;
}

static inline float from1_f32(float r, float a)
{
	(void)a;
	return canon_f32(r);
}

static inline float from2_f32(float r, float a, float b)
{
	(void)a;
	(void)b;
	return canon_f32(r);
}

static inline float from3_f32(float r, float a, float b, float c)
{
	(void)a;
	(void)b;
	(void)c;
	return canon_f32(r);
}

static inline double from1_f64(double r, double a)
{
	double nan = a != a ? quiet(a) : bits_f64(NONE_F64);

	return r == r ? r : nan;
}

static inline double from2_f64(double r, double a, double b)
{
	double nan = a != a ? quiet(a) : bits_f64(NONE_F64);

	nan = b != b ? quiet(b) : nan;
	return r == r ? r : nan;
}

static inline double from3_f64(double r, double a, double b, double c)
{
	double nan = a != a ? quiet(a) : bits_f64(NONE_F64);

	nan = c != c ? quiet(c) : nan;
	nan = b != b ? quiet(b) : nan;
	return r == r ? r : nan;
}

static inline float fused_f32(float a, float b, float c)
{
	return __builtin_fmaf(a, b, c);
}

static inline double fused_f64(double a, double b, double c)
{
	return __builtin_fma(a, b, c);
}

static inline float root_f32(float a)
{
	return __builtin_sqrtf(a);
}

static inline double root_f64(double a)
{
	return __builtin_sqrt(a);
}

static inline float flush_f32(float a)
{
	uint32_t u = f32_bits(a);

	return bits_f32(u & 0x7f800000 ? u : u & 0x80000000);
}

static inline double flush_f64(double a)
{
	uint64_t u = f64_bits(a);

	return bits_f64(u & 0x7ff0000000000000ull ? u : u & 0x8000000000000000ull);
}

static inline float saturate_f32(float a)
{
	return a > 0 ? a < 1 ? a : 1 : 0;
}

static inline double saturate_f64(double a)
{
	return a > 0 ? a < 1 ? a : 1 : 0;
}

/* A NaN loses against a number; -0 is less than +0. */
static inline float minimum_f32(float a, float b)
{
	float r = a < b ? a : b;

	r = a == b ? bits_f32(f32_bits(a) | f32_bits(b)) : r;
	r = a != a ? b : r;
	r = b != b ? a : r;
	return canon_f32(r);
}

static inline float maximum_f32(float a, float b)
{
	float r = a > b ? a : b;

	r = a == b ? bits_f32(f32_bits(a) & f32_bits(b)) : r;
	r = a != a ? b : r;
	r = b != b ? a : r;
	return canon_f32(r);
}

static inline double minimum_f64(double a, double b)
{
	double r = a < b ? a : b;

	r = a == b ? bits_f64(f64_bits(a) | f64_bits(b)) : r;
	r = a != a ? b : r;
	r = b != b ? a : r;
	return from2_f64(r, a, b);
}

static inline double maximum_f64(double a, double b)
{
	double r = a > b ? a : b;

	r = a == b ? bits_f64(f64_bits(a) & f64_bits(b)) : r;
	r = a != a ? b : r;
	r = b != b ? a : r;
	return from2_f64(r, a, b);
}

static inline float magnitude(float a)
{
	return bits_f32(f32_bits(a) & 0x7fffffff);
}

/* min, max: .NaN and .xorsign.abs */
static inline float or_nan(float r, float a, float b)
{
	return a == a && b == b ? r : bits_f32(0x7fffffff);
}

static inline float xor_sign(float r, float a, float b)
{
	uint32_t sign = (f32_bits(a) ^ f32_bits(b)) & 0x80000000;

	return r == r ? bits_f32(f32_bits(r) | sign) : r;
}

#define canon(x)	_Generic((x), float: canon_f32, double: canon_f64)(x)
#define from1(r, a)	_Generic((r), float: from1_f32, double: from1_f64)(r, a)
#define from2(r, a, b)	_Generic((r), float: from2_f32, double: from2_f64)(r, a, b)
#define from3(r, a, b, c) _Generic((r), float: from3_f32, double: from3_f64)(r, a, b, c)
#define root(x)		_Generic((x), float: root_f32, double: root_f64)(x)
#define flush(x)	_Generic((x), float: flush_f32, double: flush_f64)(x)
#define saturate(x)	_Generic((x), float: saturate_f32, double: saturate_f64)(x)
#define fused(a, b, c)	_Generic((a), float: fused_f32, double: fused_f64)(a, b, c)
#define minimum(a, b)	_Generic((a), float: minimum_f32, double: minimum_f64)(a, b)
#define maximum(a, b)	_Generic((a), float: maximum_f32, double: maximum_f64)(a, b)

/* PTX ISA, div.approx.f32: a * (1/b), and past 2^126 the reciprocal is zero. */
static inline float divide_approx(float a, float b)
{
	return magnitude(b) > 0x1p126f && magnitude(b) <= 0x1.fffffep127f ?
		a * bits_f32(f32_bits(b) & 0x80000000) : a / b;
}

/* rcp and rsqrt.approx.ftz.f64 read the upper word and give one. */
static inline double upper(double a)
{
	return a == a ? bits_f64(f64_bits(a) & 0xffffffff00000000ull) : a;
}

/*
 * An angle in turns, as a GPU takes it: the product of f32, cut, and flushed. So large angles have
 * no part of a turn left.
 */
static inline double turns(float x)
{
	double p = (double)x * 0x1.45f306p-3, back, far, near; /* 1 / 2 pi in f32 */
	uint32_t u = f32_bits((float)p);

	back = bits_f32(u);
	far = back < 0 ? -back : back;
	near = p < 0 ? -p : p;
	u -= far > near;
	return flush_f32(bits_f32(u));
}

/* sin(x + quarter * pi/2) */
static inline float sine(float x, uint64_t quarter)
{
	double q = 4 * turns(x), k, r, s, sine, cosine;
	uint64_t n;

	/* Whole turns, all beyond 2^23; the limit keeps k exact. */
	q = q < 0x1p50 ? q : 0x1p50;
	q = q > -0x1p50 ? q : -0x1p50;
	k = q + ROUNDER;
	n = f64_bits(k) + quarter;
	r = (q - (k - ROUNDER)) * 0x1.921fb54442d18p0; /* pi/2 */
	s = r * r;
	sine = r * (1 + s * (-1.0 / 6 + s * (1.0 / 120 + s * (-1.0 / 5040 +
		s * (1.0 / 362880 + s * (-1.0 / 39916800))))));
	cosine = 1 + s * (-1.0 / 2 + s * (1.0 / 24 + s * (-1.0 / 720 + s * (1.0 / 40320 +
		s * (-1.0 / 3628800 + s * (1.0 / 479001600))))));
	r = n & 1 ? cosine : sine;
	r = n & 2 ? -r : r;
	return x - x == 0 ? (float)r : x - x;
}

static inline float sin_approx(float x)
{
	float r = sine(x, 0);

	return x == 0 ? x : r;
}

static inline float cos_approx(float x)
{
	return sine(x, 1);
}

/* Small arguments by the series: the exponential's difference from 1 has too few bits. */
static inline float tanh_approx(float x)
{
	double t = x, a = t < 0 ? -t : t, s = t * t, k, f, p, r;
	double series = t * (1 + s * (-1.0 / 3 + s * (2.0 / 15 + s * (-17.0 / 315 +
		s * (62.0 / 2835)))));

	a = a < 20 ? a : 20;
	/* e^2a = 2^k e^f */
	k = a * (2 * 0x1.71547652b82fep0) + ROUNDER;
	f = 2 * a - (k - ROUNDER) * 0x1.62e42fefa39efp-1;
	p = 1 + f * (1 + f * (1.0 / 2 + f * (1.0 / 6 + f * (1.0 / 24 + f * (1.0 / 120 +
		f * (1.0 / 720 + f * (1.0 / 5040 + f * (1.0 / 40320))))))));
	p = p * bits_f64((f64_bits(k) + 1023) << 52);
	r = 1 - 2 / (p + 1);
	r = t < 0 ? -r : r;
	r = s < 0.01 ? series : r;
	return x == x ? (float)r : x;
}

