/* SPDX-License-Identifier: GPL-2.0 */
/*
 * f16 and bf16 by the definition of the formats: numbers are integers times
 * powers of two, exact, and rounded once. Included by test_exec_half.c.
 */
#ifndef TESTS_UNIT_HALF_REFERENCE_H
#define TESTS_UNIT_HALF_REFERENCE_H

#include <fenv.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

typedef __int128 wide;

/* Bits of the significand, and the exponent of the smallest subnormal. */
struct format {
	int precision, least;
	uint32_t inf;
};
static const struct format f16 = { 11, -24, 0x7c00 }, bf16 = { 8, -133, 0x7f80 };

/* m * 2^e; nan and inf are apart, and zero keeps its sign. */
struct number {
	bool nan, inf, sign;
	wide m;			/* magnitude */
	int e;
};

static inline struct number decode(uint32_t h, const struct format *f)
{
	uint32_t top = 1u << (f->precision - 1), field = (h & 0x7fff) / top;
	struct number n = { .sign = h >> 15 & 1, .m = h & (top - 1), .e = f->least };

	n.inf = (h & 0x7fff) == f->inf;
	n.nan = (h & 0x7fff) > f->inf;
	if (field) {
		n.m += top;
		n.e += field - 1;
	}
	return n;
}

static inline struct number of_double(double d)
{
	struct number n = { .nan = isnan(d), .inf = isinf(d), .sign = signbit(d) };

	if (!n.nan && !n.inf && d != 0) {
		n.m = (wide)ldexp(frexp(fabs(d), &n.e), 53);
		n.e -= 53;
	}
	return n;
}

static inline struct number of_int(wide v)
{
	return (struct number){ .sign = v < 0, .m = v < 0 ? -v : v };
}

static inline bool up_or_not(wide twice_rest, wide unit, bool odd, bool sign, int mode)
{
	switch (mode) {
	case FE_TOWARDZERO:
		return false;
	case FE_DOWNWARD:
		return sign && twice_rest;
	case FE_UPWARD:
		return !sign && twice_rest;
	default:
		return twice_rest > unit || (twice_rest == unit && odd);
	}
}

static inline uint32_t encode(struct number n, const struct format *f, int mode)
{
	uint32_t sign = n.sign ? 0x8000 : 0, bits;
	int top = 0, unit, shift;
	wide q;

	if (n.nan)
		return 0x7fff;
	if (n.inf)
		return sign | f->inf;
	if (!n.m)
		return sign;
	while (n.m >> top > 1)
		top++;
	unit = top + n.e - (f->precision - 1);
	unit = unit < f->least ? f->least : unit;
	/* All of the number is far below half of the smallest: any such will do. */
	if (unit - n.e > 120) {
		n.m = 1;
		n.e = unit - 3;
	}
	shift = unit - n.e;
	if (shift <= 0) {
		q = n.m << -shift;
	} else {
		wide one = (wide)1 << shift, rest = n.m & (one - 1);

		q = n.m >> shift;
		q += up_or_not(2 * rest, one, q & 1, n.sign, mode);
	}
	if (unit - f->least > 300)
		bits = f->inf;
	else
		bits = ((uint32_t)(unit - f->least) << (f->precision - 1)) + (uint32_t)q;
	if (bits >= f->inf)
		bits = mode == FE_TOWARDZERO || (mode == FE_DOWNWARD && !n.sign) ||
		       (mode == FE_UPWARD && n.sign) ? f->inf - 1 : f->inf;
	return sign | bits;
}

static inline double value_of(uint32_t h, const struct format *f)
{
	struct number n = decode(h, f);
	double v = n.nan ? NAN : n.inf ? INFINITY : ldexp((double)n.m, n.e);

	return n.sign ? -v : v;
}

static inline struct number multiply(struct number a, struct number b)
{
	struct number r = { .sign = a.sign != b.sign, .m = a.m * b.m, .e = a.e + b.e };

	r.nan = a.nan || b.nan || (a.inf && !b.inf && !b.m) || (b.inf && !a.inf && !a.m);
	r.inf = !r.nan && (a.inf || b.inf);
	return r;
}

/* Beyond 100 bits the smaller one only says on which side of the larger the sum is. */
static inline struct number add(struct number a, struct number b)
{
	struct number r = { .nan = a.nan || b.nan || (a.inf && b.inf && a.sign != b.sign) };
	int gap;
	wide m;

	if (r.nan || a.inf || b.inf)
		return r.nan ? r : a.inf ? a : b;
	if (!a.m || !b.m) {
		r = a.m ? a : b;
		if (!a.m && !b.m)
			r.sign = a.sign && b.sign;
		return r;
	}
	if (a.e < b.e)
		return add(b, a);
	gap = a.e - b.e;
	if (gap > 80) {
		b.m = 1;
		gap = 80;
		b.e = a.e - gap;
	}
	m = a.m << gap;
	m = (a.sign ? -m : m) + (b.sign ? -b.m : b.m);
	r.sign = m < 0;
	r.m = m < 0 ? -m : m;
	r.e = b.e;
	return r;
}

static inline struct number negate(struct number a)
{
	a.sign = !a.sign;
	return a;
}

#endif
