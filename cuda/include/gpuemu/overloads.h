/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Functions of CUDA C++ that have one name for several types, as far as clang's headers leave
 * them to a toolkit: min() and max() on both sides, the C++11 part of <cmath> in single
 * precision. device.h includes it.
 */
#ifndef GPUEMU_OVERLOADS_H
#define GPUEMU_OVERLOADS_H

#define GPUEMU_D	__device__ static __forceinline__
#define GPUEMU_FLOAT1(name)	GPUEMU_D float name(float x) { return ::name##f(x); }
#define GPUEMU_FLOAT2(name)	GPUEMU_D float name(float x, float y) { return ::name##f(x, y); }

GPUEMU_FLOAT1(acosh) GPUEMU_FLOAT1(asinh) GPUEMU_FLOAT1(atanh) GPUEMU_FLOAT1(cbrt)
GPUEMU_FLOAT1(erf) GPUEMU_FLOAT1(erfc) GPUEMU_FLOAT1(exp2) GPUEMU_FLOAT1(expm1)
GPUEMU_FLOAT1(log1p) GPUEMU_FLOAT1(log2) GPUEMU_FLOAT1(logb) GPUEMU_FLOAT1(nearbyint)
GPUEMU_FLOAT1(rint) GPUEMU_FLOAT1(round) GPUEMU_FLOAT1(trunc) GPUEMU_FLOAT1(rsqrt)
GPUEMU_FLOAT1(sinpi) GPUEMU_FLOAT1(cospi) GPUEMU_FLOAT2(copysign) GPUEMU_FLOAT2(fdim)
GPUEMU_FLOAT2(fmax) GPUEMU_FLOAT2(fmin) GPUEMU_FLOAT2(hypot) GPUEMU_FLOAT2(remainder)
GPUEMU_FLOAT1(tgamma) GPUEMU_FLOAT1(lgamma) GPUEMU_FLOAT2(nextafter)
GPUEMU_D float fma(float x, float y, float z) { return ::fmaf(x, y, z); }
GPUEMU_D float scalbn(float x, int n) { return ::scalbnf(x, n); }
GPUEMU_D float scalbln(float x, long n) { return ::scalblnf(x, n); }
GPUEMU_D float remquo(float x, float y, int *q) { return ::remquof(x, y, q); }
GPUEMU_D int ilogb(float x) { return ::ilogbf(x); }
GPUEMU_D long lround(float x) { return ::lroundf(x); }
GPUEMU_D long long llround(float x) { return ::llroundf(x); }
GPUEMU_D long lrint(float x) { return ::lrintf(x); }
GPUEMU_D long long llrint(float x) { return ::llrintf(x); }

#undef GPUEMU_FLOAT1
#undef GPUEMU_FLOAT2

/*
 * min() and max() of two of a type, and of float and double. clang's headers have int on the
 * device.
 */
#define GPUEMU_MINMAX(where, type)								\
	where static inline type min(type a, type b) { return a < b ? a : b; }			\
	where static inline type max(type a, type b) { return a > b ? a : b; }
#define GPUEMU_MIXED(where, a_type, b_type, type)						\
	where static inline type min(a_type a, b_type b) { return min((type)a, (type)b); }	\
	where static inline type max(a_type a, b_type b) { return max((type)a, (type)b); }
GPUEMU_MINMAX(__host__, int)
GPUEMU_MINMAX(__host__ __device__, unsigned int)
GPUEMU_MINMAX(__host__ __device__, long)
GPUEMU_MINMAX(__host__ __device__, unsigned long)
GPUEMU_MINMAX(__host__ __device__, long long)
GPUEMU_MINMAX(__host__ __device__, unsigned long long)
GPUEMU_MIXED(__host__ __device__, int, unsigned int, unsigned int)
GPUEMU_MIXED(__host__ __device__, unsigned int, int, unsigned int)
GPUEMU_MIXED(__host__ __device__, long, unsigned long, unsigned long)
GPUEMU_MIXED(__host__ __device__, unsigned long, long, unsigned long)
GPUEMU_MIXED(__host__ __device__, long long, unsigned long long, unsigned long long)
GPUEMU_MIXED(__host__ __device__, unsigned long long, long long, unsigned long long)
GPUEMU_MIXED(__host__ __device__, int, long, long)
GPUEMU_MIXED(__host__ __device__, long, int, long)

/* A number that is none is not chosen, as by fmin(). */
#define GPUEMU_FLOATS(type, lesser, greater)							\
	__device__ static inline type min(type a, type b) { return ::lesser(a, b); }		\
	__device__ static inline type max(type a, type b) { return ::greater(a, b); }		\
	__host__ static inline type min(type a, type b) { return __builtin_##lesser(a, b); }	\
	__host__ static inline type max(type a, type b) { return __builtin_##greater(a, b); }
GPUEMU_FLOATS(float, fminf, fmaxf)
GPUEMU_FLOATS(double, fmin, fmax)
GPUEMU_MIXED(__host__ __device__, float, double, double)
GPUEMU_MIXED(__host__ __device__, double, float, double)
#undef GPUEMU_FLOATS
#undef GPUEMU_MIXED
#undef GPUEMU_MINMAX

/* nvcc has these on the host too. */
__host__ static inline float rsqrtf(float x) { return 1.0f / __builtin_sqrtf(x); }
__host__ static inline double rsqrt(double x) { return 1.0 / __builtin_sqrt(x); }

#undef GPUEMU_D

#endif
