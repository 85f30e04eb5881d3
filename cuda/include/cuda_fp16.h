/* SPDX-License-Identifier: GPL-2.0 */
/* Half precision: __half, __half2, their conversions, arithmetic and functions. */
#ifndef GPUEMU_CUDA_FP16_H
#define GPUEMU_CUDA_FP16_H

#include <math.h>

#include "cuda_runtime.h"
#include "gpuemu/half_bits.h"
#include "gpuemu/saturate.h"

typedef struct __align__(2) {
	unsigned short x;
} __half_raw;
typedef struct __align__(4) {
	unsigned short x, y;
} __half2_raw;

struct __align__(2) __half {
	unsigned short __x;

	__half() = default;
	__host__ __device__ __half(__half_raw raw) : __x(raw.x) {}
	__host__ __device__ __half(float f) : __x(gpuemu::half_of(f)) {}
	__host__ __device__ __half(double d) : __x(gpuemu::half_of(gpuemu::odd_of(d))) {}
#define GPUEMU_INTEGER(type)								\
	__host__ __device__ __half(type n) : __x(gpuemu::half_of(gpuemu::odd_of((double)n))) {}	\
	__host__ __device__ operator type() const { return (type)gpuemu::float_of_half(__x); }
	GPUEMU_INTEGER(short) GPUEMU_INTEGER(unsigned short) GPUEMU_INTEGER(int)
	GPUEMU_INTEGER(unsigned int) GPUEMU_INTEGER(long) GPUEMU_INTEGER(unsigned long)
	GPUEMU_INTEGER(long long) GPUEMU_INTEGER(unsigned long long)
#undef GPUEMU_INTEGER
	__host__ __device__ operator float() const { return gpuemu::float_of_half(__x); }
	__host__ __device__ operator bool() const { return __x & 0x7fff; }
	__host__ __device__ operator __half_raw() const { return __half_raw{ __x }; }
};
typedef __half half;
typedef __half nv_half;
typedef __half __nv_half;

struct __align__(4) __half2 {
	__half x, y;

	__half2() = default;
	__host__ __device__ __half2(const __half &a, const __half &b) : x(a), y(b) {}
};
typedef __half2 half2;
typedef __half2 nv_half2;

#define GPUEMU_H	__half
#define GPUEMU_H2	__half2
#define GPUEMU_PTX	"f16"
#define GPUEMU_TO	gpuemu::float_of_half
#define GPUEMU_FROM	gpuemu::half_of
#define GPUEMU_MAKE	__float2half
#define GPUEMU_VALUE	__half2float
#include "gpuemu/half_functions.h"
#include "gpuemu/half_undefine.h"

/*
 * --- conversions
 * ---------------------------------------------------------------------------------
 */

GPUEMU_BOTH __half __float2half_rn(float f) { return __float2half(f); }
GPUEMU_BOTH __half __double2half(double d) { return __half(d); }
GPUEMU_BOTH __half2 __float2half2_rn(float f) { return __half2(__half(f), __half(f)); }
GPUEMU_BOTH __half2 __floats2half2_rn(float a, float b) { return __half2(__half(a), __half(b)); }
GPUEMU_BOTH __half2 __float22half2_rn(float2 f) { return __half2(__half(f.x), __half(f.y)); }
GPUEMU_BOTH float2 __half22float2(__half2 h)
{
	return make_float2(__half2float(h.x), __half2float(h.y));
}
GPUEMU_BOTH float __low2float(__half2 h) { return __half2float(h.x); }
GPUEMU_BOTH float __high2float(__half2 h) { return __half2float(h.y); }
GPUEMU_BOTH __half __low2half(__half2 h) { return h.x; }
GPUEMU_BOTH __half __high2half(__half2 h) { return h.y; }
GPUEMU_BOTH __half2 __half2half2(__half h) { return __half2(h, h); }
GPUEMU_BOTH __half2 __halves2half2(__half a, __half b) { return __half2(a, b); }
GPUEMU_BOTH __half2 make_half2(__half a, __half b) { return __half2(a, b); }
GPUEMU_BOTH __half2 __low2half2(__half2 h) { return __half2(h.x, h.x); }
GPUEMU_BOTH __half2 __high2half2(__half2 h) { return __half2(h.y, h.y); }
GPUEMU_BOTH __half2 __lowhigh2highlow(__half2 h) { return __half2(h.y, h.x); }
GPUEMU_BOTH __half2 __lows2half2(__half2 a, __half2 b) { return __half2(a.x, b.x); }
GPUEMU_BOTH __half2 __highs2half2(__half2 a, __half2 b) { return __half2(a.y, b.y); }
GPUEMU_BOTH unsigned short __half_as_ushort(__half h) { return h.__x; }
GPUEMU_BOTH short __half_as_short(__half h) { return (short)h.__x; }
GPUEMU_BOTH __half __ushort_as_half(unsigned short n)
{
	return __half(__half_raw{ n });
}
GPUEMU_BOTH __half __short_as_half(short n) { return __ushort_as_half((unsigned short)n); }

/* To integers: to nearest even, towards zero, down, up; out of range is the nearest there is. */
#define GPUEMU_INTEGER(name, type, least, most)							\
	GPUEMU_BOTH type __half2##name##_rn(__half h)						\
	{											\
		return gpuemu::clamp<type>(rintf(__half2float(h)), least, most);	\
	}											\
	GPUEMU_BOTH type __half2##name##_rz(__half h)						\
	{											\
		return gpuemu::clamp<type>(truncf(__half2float(h)), least, most);	\
	}											\
	GPUEMU_BOTH type __half2##name##_rd(__half h)						\
	{											\
		return gpuemu::clamp<type>(floorf(__half2float(h)), least, most);	\
	}											\
	GPUEMU_BOTH type __half2##name##_ru(__half h)						\
	{											\
		return gpuemu::clamp<type>(ceilf(__half2float(h)), least, most);	\
	}											\
	GPUEMU_BOTH __half __##name##2half_rn(type n) { return __half(n); }
GPUEMU_INTEGER(int, int, -0x7fffffff - 1, 0x7fffffff)
GPUEMU_INTEGER(uint, unsigned int, 0, 0xffffffffu)
GPUEMU_INTEGER(short, short, -32768, 32767)
GPUEMU_INTEGER(ushort, unsigned short, 0, 65535)
GPUEMU_INTEGER(ll, long long, -0x7fffffffffffffffll - 1, 0x7fffffffffffffffll)
GPUEMU_INTEGER(ull, unsigned long long, 0, 0xffffffffffffffffull)
#undef GPUEMU_INTEGER

#endif
