/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The functions that __half and __nv_bfloat16 have in common, by one name each: included once for
 * each type, with GPUEMU_H and GPUEMU_H2 the types, GPUEMU_PTX their name in PTX, GPUEMU_TO and
 * GPUEMU_FROM from and to float. A sum, product, quotient or root of two in float, rounded again,
 * is the right one; only fma() needs the device's own, or double.
 */

GPUEMU_BOTH GPUEMU_H GPUEMU_MAKE(float f)
{
	GPUEMU_H h;

	h.__x = GPUEMU_FROM(f);
	return h;
}

GPUEMU_BOTH float GPUEMU_VALUE(GPUEMU_H h) { return GPUEMU_TO(h.__x); }

#define GPUEMU_TWO(name, value)								\
	GPUEMU_BOTH GPUEMU_H name(GPUEMU_H x, GPUEMU_H y)				\
	{										\
		float a = GPUEMU_VALUE(x), b = GPUEMU_VALUE(y);				\
											\
		return GPUEMU_MAKE(value);						\
	}										\
	GPUEMU_BOTH GPUEMU_H2 name##2(GPUEMU_H2 a, GPUEMU_H2 b)				\
	{										\
		return GPUEMU_H2(name(a.x, b.x), name(a.y, b.y));			\
	}
GPUEMU_TWO(__hadd, a + b)
GPUEMU_TWO(__hsub, a - b)
GPUEMU_TWO(__hmul, a * b)
GPUEMU_TWO(__hadd_rn, a + b)
GPUEMU_TWO(__hsub_rn, a - b)
GPUEMU_TWO(__hmul_rn, a * b)
GPUEMU_TWO(__hadd_sat, __gpuemu_saturate(a + b))
GPUEMU_TWO(__hsub_sat, __gpuemu_saturate(a - b))
GPUEMU_TWO(__hmul_sat, __gpuemu_saturate(a * b))
GPUEMU_TWO(__hmin, a != a ? b : b != b ? a : b < a || (a == b && signbit(b)) ? b : a)
GPUEMU_TWO(__hmax, a != a ? b : b != b ? a : a < b || (a == b && signbit(a)) ? b : a)
GPUEMU_TWO(__hmin_nan, a != a ? a : b != b ? b : b < a || (a == b && signbit(b)) ? b : a)
GPUEMU_TWO(__hmax_nan, a != a ? a : b != b ? b : a < b || (a == b && signbit(a)) ? b : a)
#undef GPUEMU_TWO

GPUEMU_BOTH GPUEMU_H __hdiv(GPUEMU_H a, GPUEMU_H b)
{
	return GPUEMU_MAKE(GPUEMU_VALUE(a) / GPUEMU_VALUE(b));
}

GPUEMU_BOTH GPUEMU_H2 __h2div(GPUEMU_H2 a, GPUEMU_H2 b)
{
	return GPUEMU_H2(__hdiv(a.x, b.x), __hdiv(a.y, b.y));
}

GPUEMU_BOTH GPUEMU_H __hfma(GPUEMU_H a, GPUEMU_H b, GPUEMU_H c)
{
#ifdef __CUDA_ARCH__
	GPUEMU_H h;

	asm("fma.rn." GPUEMU_PTX " %0, %1, %2, %3;"
	    : "=h"(h.__x) : "h"(a.__x), "h"(b.__x), "h"(c.__x));
	return h;
#else
	/* The product is exact in double, and what the sum loses is far below. */
	double product = (double)GPUEMU_VALUE(a) * GPUEMU_VALUE(b), z = GPUEMU_VALUE(c);
	double sum = product + z, lost = sum - product;

	lost = (product - (sum - lost)) + (z - lost);
	if (lost != 0 && sum - sum == 0) {
		long long bits;

		memcpy(&bits, &sum, 8);
		if (!(bits & 1))
			bits += (lost > 0) == (sum > 0) ? 1 : -1;
		memcpy(&sum, &bits, 8);
	}
	return GPUEMU_MAKE(gpuemu::odd_of(sum));
#endif
}

GPUEMU_BOTH GPUEMU_H __hfma_sat(GPUEMU_H a, GPUEMU_H b, GPUEMU_H c)
{
	return GPUEMU_MAKE(__gpuemu_saturate(GPUEMU_VALUE(__hfma(a, b, c))));
}

GPUEMU_BOTH GPUEMU_H __hfma_relu(GPUEMU_H a, GPUEMU_H b, GPUEMU_H c)
{
	float f = GPUEMU_VALUE(__hfma(a, b, c));

	return GPUEMU_MAKE(f < 0 ? 0 : f);
}

GPUEMU_BOTH GPUEMU_H2 __hfma2(GPUEMU_H2 a, GPUEMU_H2 b, GPUEMU_H2 c)
{
	return GPUEMU_H2(__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y));
}

GPUEMU_BOTH GPUEMU_H2 __hfma2_sat(GPUEMU_H2 a, GPUEMU_H2 b, GPUEMU_H2 c)
{
	return GPUEMU_H2(__hfma_sat(a.x, b.x, c.x), __hfma_sat(a.y, b.y, c.y));
}

GPUEMU_BOTH GPUEMU_H __hneg(GPUEMU_H h)
{
	h.__x ^= 0x8000;
	return h;
}

GPUEMU_BOTH GPUEMU_H __habs(GPUEMU_H h)
{
	h.__x &= 0x7fff;
	return h;
}

GPUEMU_BOTH GPUEMU_H2 __hneg2(GPUEMU_H2 h) { return GPUEMU_H2(__hneg(h.x), __hneg(h.y)); }
GPUEMU_BOTH GPUEMU_H2 __habs2(GPUEMU_H2 h) { return GPUEMU_H2(__habs(h.x), __habs(h.y)); }

/* --- comparisons: of two numbers; of two pairs, as 1.0 and 0.0, as masks, all at once --- */

#define GPUEMU_COMPARE(name, ordered, unordered)					\
	GPUEMU_BOTH bool __h##name(GPUEMU_H x, GPUEMU_H y)				\
	{										\
		float a = GPUEMU_VALUE(x), b = GPUEMU_VALUE(y);				\
											\
		return ordered;								\
	}										\
	GPUEMU_BOTH bool __h##name##u(GPUEMU_H x, GPUEMU_H y)				\
	{										\
		float a = GPUEMU_VALUE(x), b = GPUEMU_VALUE(y);				\
											\
		return unordered;							\
	}										\
	GPUEMU_BOTH GPUEMU_H2 __h##name##2(GPUEMU_H2 a, GPUEMU_H2 b)			\
	{										\
		return GPUEMU_H2(GPUEMU_MAKE(__h##name(a.x, b.x)),			\
				 GPUEMU_MAKE(__h##name(a.y, b.y)));			\
	}										\
	GPUEMU_BOTH GPUEMU_H2 __h##name##u2(GPUEMU_H2 a, GPUEMU_H2 b)			\
	{										\
		return GPUEMU_H2(GPUEMU_MAKE(__h##name##u(a.x, b.x)),			\
				 GPUEMU_MAKE(__h##name##u(a.y, b.y)));			\
	}										\
	GPUEMU_BOTH unsigned int __h##name##2_mask(GPUEMU_H2 a, GPUEMU_H2 b)		\
	{										\
		return (__h##name(a.x, b.x) ? 0xffffu : 0) |				\
		       (__h##name(a.y, b.y) ? 0xffff0000u : 0);				\
	}										\
	GPUEMU_BOTH bool __hb##name##2(GPUEMU_H2 a, GPUEMU_H2 b)			\
	{										\
		return __h##name(a.x, b.x) && __h##name(a.y, b.y);			\
	}										\
	GPUEMU_BOTH bool __hb##name##u2(GPUEMU_H2 a, GPUEMU_H2 b)			\
	{										\
		return __h##name##u(a.x, b.x) && __h##name##u(a.y, b.y);		\
	}
GPUEMU_COMPARE(eq, a == b, !(a < b || a > b))
GPUEMU_COMPARE(ne, a < b || a > b, a != b)
GPUEMU_COMPARE(lt, a < b, !(a >= b))
GPUEMU_COMPARE(le, a <= b, !(a > b))
GPUEMU_COMPARE(gt, a > b, !(a <= b))
GPUEMU_COMPARE(ge, a >= b, !(a < b))
#undef GPUEMU_COMPARE

GPUEMU_BOTH bool __hisnan(GPUEMU_H h) { return GPUEMU_VALUE(h) != GPUEMU_VALUE(h); }
GPUEMU_BOTH int __hisinf(GPUEMU_H h)
{
	float f = GPUEMU_VALUE(h);

	return f == f && f - f != f - f ? (f < 0 ? -1 : 1) : 0;
}

GPUEMU_BOTH GPUEMU_H2 __hisnan2(GPUEMU_H2 h)
{
	return GPUEMU_H2(GPUEMU_MAKE(__hisnan(h.x)), GPUEMU_MAKE(__hisnan(h.y)));
}

/*
 * --- functions
 * --------------------------------------------------------------------------------
 */

#define GPUEMU_ONE(name, value)								\
	GPUEMU_BOTH GPUEMU_H h##name(GPUEMU_H h)					\
	{										\
		float a = GPUEMU_VALUE(h);						\
											\
		return GPUEMU_MAKE(value);						\
	}										\
	GPUEMU_BOTH GPUEMU_H2 h2##name(GPUEMU_H2 h)					\
	{										\
		return GPUEMU_H2(h##name(h.x), h##name(h.y));				\
	}
GPUEMU_ONE(sqrt, sqrtf(a))
GPUEMU_ONE(rsqrt, 1 / sqrtf(a))
GPUEMU_ONE(rcp, 1 / a)
GPUEMU_ONE(exp, expf(a))
GPUEMU_ONE(exp2, exp2f(a))
GPUEMU_ONE(exp10, exp2f(a * 3.321928094887362f))
GPUEMU_ONE(log, logf(a))
GPUEMU_ONE(log2, log2f(a))
GPUEMU_ONE(log10, log10f(a))
GPUEMU_ONE(sin, sinf(a))
GPUEMU_ONE(cos, cosf(a))
GPUEMU_ONE(tanh, tanhf(a))
GPUEMU_ONE(floor, floorf(a))
GPUEMU_ONE(ceil, ceilf(a))
GPUEMU_ONE(trunc, truncf(a))
GPUEMU_ONE(rint, rintf(a))
#undef GPUEMU_ONE

/*
 * --- operators
 * --------------------------------------------------------------------------------
 */

#define GPUEMU_OPERATOR(op, name, name2)						\
	GPUEMU_BOTH GPUEMU_H operator op(const GPUEMU_H &a, const GPUEMU_H &b)		\
	{										\
		return name(a, b);							\
	}										\
	GPUEMU_BOTH GPUEMU_H2 operator op(const GPUEMU_H2 &a, const GPUEMU_H2 &b)	\
	{										\
		return name2(a, b);							\
	}										\
	GPUEMU_BOTH GPUEMU_H &operator op##=(GPUEMU_H &a, const GPUEMU_H &b)		\
	{										\
		return a = name(a, b);							\
	}										\
	GPUEMU_BOTH GPUEMU_H2 &operator op##=(GPUEMU_H2 &a, const GPUEMU_H2 &b)		\
	{										\
		return a = name2(a, b);							\
	}
GPUEMU_OPERATOR(+, __hadd, __hadd2)
GPUEMU_OPERATOR(-, __hsub, __hsub2)
GPUEMU_OPERATOR(*, __hmul, __hmul2)
GPUEMU_OPERATOR(/, __hdiv, __h2div)
#undef GPUEMU_OPERATOR

#define GPUEMU_OPERATOR(op, name, name2)						\
	GPUEMU_BOTH bool operator op(const GPUEMU_H &a, const GPUEMU_H &b)		\
	{										\
		return name(a, b);							\
	}										\
	GPUEMU_BOTH bool operator op(const GPUEMU_H2 &a, const GPUEMU_H2 &b)		\
	{										\
		return name2(a, b);							\
	}
GPUEMU_OPERATOR(==, __heq, __hbeq2)
GPUEMU_OPERATOR(!=, __hneu, __hbneu2)
GPUEMU_OPERATOR(<, __hlt, __hblt2)
GPUEMU_OPERATOR(<=, __hle, __hble2)
GPUEMU_OPERATOR(>, __hgt, __hbgt2)
GPUEMU_OPERATOR(>=, __hge, __hbge2)
#undef GPUEMU_OPERATOR

GPUEMU_BOTH GPUEMU_H operator+(const GPUEMU_H &h) { return h; }
GPUEMU_BOTH GPUEMU_H operator-(const GPUEMU_H &h) { return __hneg(h); }
GPUEMU_BOTH GPUEMU_H2 operator-(const GPUEMU_H2 &h) { return __hneg2(h); }
GPUEMU_BOTH GPUEMU_H &operator++(GPUEMU_H &h) { return h = __hadd(h, GPUEMU_MAKE(1)); }
GPUEMU_BOTH GPUEMU_H &operator--(GPUEMU_H &h) { return h = __hsub(h, GPUEMU_MAKE(1)); }

/*
 * --- memory and lanes
 * -----------------------------------------------------------------------------
 */

#ifdef __CUDA__
__device__ static inline GPUEMU_H2 atomicAdd(GPUEMU_H2 *p, GPUEMU_H2 v)
{
	unsigned int old = *(volatile unsigned int *)p, seen, sum;
	GPUEMU_H2 was, is;

	do {
		seen = old;
		memcpy(&was, &seen, 4);
		is = __hadd2(was, v);
		memcpy(&sum, &is, 4);
		old = atomicCAS((unsigned int *)p, seen, sum);
	} while (old != seen);
	return was;
}

__device__ static inline GPUEMU_H atomicAdd(GPUEMU_H *p, GPUEMU_H v)
{
	GPUEMU_H2 *pair = (GPUEMU_H2 *)((size_t)p & ~(size_t)2), both;
	const unsigned int shift = (size_t)p & 2 ? 16 : 0;
	unsigned int old = *(volatile unsigned int *)pair, seen;
	GPUEMU_H was;

	do {
		seen = old;
		was.__x = (unsigned short)(seen >> shift);
		old = atomicCAS((unsigned int *)pair, seen,
				(seen & ~(0xffffu << shift)) |
				(unsigned int)__hadd(was, v).__x << shift);
	} while (old != seen);
	return was;
}

#define GPUEMU_SHUFFLE(name, type)							\
	__device__ static inline GPUEMU_H name(unsigned int mask, GPUEMU_H v, type lane,	\
					       int width = 32)				\
	{										\
		v.__x = (unsigned short)name(mask, (unsigned int)v.__x, lane, width);	\
		return v;								\
	}										\
	__device__ static inline GPUEMU_H2 name(unsigned int mask, GPUEMU_H2 v, type lane,	\
						int width = 32)				\
	{										\
		unsigned int bits;							\
											\
		memcpy(&bits, &v, 4);							\
		bits = name(mask, bits, lane, width);					\
		memcpy(&v, &bits, 4);							\
		return v;								\
	}
GPUEMU_SHUFFLE(__shfl_sync, int)
GPUEMU_SHUFFLE(__shfl_up_sync, unsigned int)
GPUEMU_SHUFFLE(__shfl_down_sync, unsigned int)
GPUEMU_SHUFFLE(__shfl_xor_sync, int)
#undef GPUEMU_SHUFFLE

__device__ static inline GPUEMU_H __ldg(const GPUEMU_H *p) { return *p; }
__device__ static inline GPUEMU_H2 __ldg(const GPUEMU_H2 *p) { return *p; }
#endif
