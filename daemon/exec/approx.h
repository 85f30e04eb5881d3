/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The functions of PTX that are approximate, and what the lanes need besides
 * arithmetic. Included by lanes.h only. The approximations are polynomials in
 * double, without fused operations and without the host's libm, so that every
 * host gives the same bits; their error is far below the one PTX documents.
 */

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

static inline float canon_f32(float a)
{
	return a == a ? a : bits_f32(0x7fffffff);
}

static inline double canon_f64(double a)
{
	return a == a ? a : bits_f64(0x7ff8000000000000ull);
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
	return canon_f64(r);
}

static inline double maximum_f64(double a, double b)
{
	double r = a > b ? a : b;

	r = a == b ? bits_f64(f64_bits(a) & f64_bits(b)) : r;
	r = a != a ? b : r;
	r = b != b ? a : r;
	return canon_f64(r);
}

#define canon(x)	_Generic((x), float: canon_f32, double: canon_f64)(x)
#define root(x)		_Generic((x), float: root_f32, double: root_f64)(x)
#define flush(x)	_Generic((x), float: flush_f32, double: flush_f64)(x)
#define saturate(x)	_Generic((x), float: saturate_f32, double: saturate_f64)(x)
#define fused(a, b, c)	_Generic((a), float: fused_f32, double: fused_f64)(a, b, c)
#define minimum(a, b)	_Generic((a), float: minimum_f32, double: minimum_f64)(a, b)
#define maximum(a, b)	_Generic((a), float: maximum_f32, double: maximum_f64)(a, b)

/* PTX ISA, div.approx.f32: a * (1/b), and past 2^126 the reciprocal is zero. */
static inline float divide_approx(float a, float b)
{
	float magnitude = bits_f32(f32_bits(b) & 0x7fffffff);

	return magnitude > 0x1p126f && magnitude <= 0x1.fffffep127f ?
		a * bits_f32(f32_bits(b) & 0x80000000) : a / b;
}

/* rcp.approx.ftz.f64 gives the upper word. */
static inline double rcp_approx(double a)
{
	double r = 1 / a;

	return r == r ? bits_f64(f64_bits(r) & 0xffffffff00000000ull) : r;
}

/* 2^51 + 2^52: adding it leaves the nearest integer in the low bits of the mantissa. */
#define ROUNDER	0x1.8p52

/* sin(x + quarter * pi/2) */
static inline float sine(float x, uint64_t quarter)
{
	double t = x, q = t * 0x1.45f306dc9c883p-1; /* 2/pi */
	double k, r, s, sine, cosine;
	uint64_t n;

	/* Beyond 2^50 the fraction is gone whatever one does; the limit keeps k exact. */
	q = q < 0x1p50 ? q : 0x1p50;
	q = q > -0x1p50 ? q : -0x1p50;
	k = q + ROUNDER;
	n = f64_bits(k) + quarter;
	k -= ROUNDER;
	r = t - k * 0x1.921fb544p0;		/* pi/2, its first 33 bits */
	r = r - k * 0x1.0b4611a626331p-34;	/* and the rest */
	r = r < 0.8 ? r : 0.8;
	r = r > -0.8 ? r : -0.8;
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

/* --- half precision: IEEE binary16 in the low bits ---------------------------------- */

static inline float half_to_float(uint16_t h)
{
	uint32_t sign = (uint32_t)(h & 0x8000) << 16, e = h >> 10 & 31, m = h & 0x3ff;
	float subnormal = m * 0x1p-24f;

	if (e == 31)
		return bits_f32(m ? 0x7fffffff : sign | 0x7f800000);
	if (e == 0)
		return bits_f32(sign | f32_bits(subnormal));
	return bits_f32(sign | (e + 112) << 23 | m << 13);
}

/* Rounds in the host's mode, which is to nearest unless a sequence set another. */
static inline uint16_t double_to_half(double d)
{
	uint64_t u = f64_bits(d);
	uint16_t sign = u >> 48 & 0x8000;
	double a = bits_f64(u & 0x7fffffffffffffffull), unit, r;
	int e;

	if (a != a)
		return 0x7fff;
	if (a >= 0x1p17)
		a = a < __builtin_inf() ? 0x1p17 : a;
	if (a == __builtin_inf())
		return sign | 0x7c00;
	/* The unit in the last place of the result's binade; rint() rounds in the host's mode. */
	e = (int)(f64_bits(a) >> 52) - 1023;
	e = e < -14 ? -14 : e;
	unit = bits_f64((uint64_t)(e - 10 + 1023) << 52);
	r = __builtin_rint((sign ? -a : a) / unit) * unit;
	r = r < 0 ? -r : r;
	/* Too large: infinity, but the largest number when rounding goes towards zero. */
	if (r >= 0x1p16) {
		r = 0.75 + 0 * a; /* not a constant: the compiler would round it */
		return sign | (__builtin_rint(sign ? -r : r) == 0 ? 0x7bff : 0x7c00);
	}
	if (r < 0x1p-14)
		return sign | (uint16_t)(r * 0x1p24);
	u = f64_bits(r);
	return sign | (uint16_t)(((u >> 52) - 1008) << 10 | (u >> 42 & 0x3ff));
}

static inline uint16_t float_to_half(float f)
{
	return double_to_half(f);
}
