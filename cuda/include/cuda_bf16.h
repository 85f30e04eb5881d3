/* SPDX-License-Identifier: GPL-2.0 */
/* bfloat16: __nv_bfloat16, __nv_bfloat162, their conversions, arithmetic and functions. */
#ifndef GPUEMU_CUDA_BF16_H
#define GPUEMU_CUDA_BF16_H

#include <math.h>

#include "cuda_runtime.h"
#include "gpuemu/half_bits.h"
#include "gpuemu/saturate.h"

typedef struct __align__(2) {
	unsigned short x;
} __nv_bfloat16_raw;

struct __align__(2) __nv_bfloat16 {
	unsigned short __x;

	__nv_bfloat16() = default;
	__host__ __device__ __nv_bfloat16(__nv_bfloat16_raw raw) : __x(raw.x) {}
	__host__ __device__ __nv_bfloat16(float f) : __x(gpuemu::bfloat_of(f)) {}
	__host__ __device__ __nv_bfloat16(double d) : __x(gpuemu::bfloat_of(gpuemu::odd_of(d))) {}
#define GPUEMU_INTEGER(type)								\
	__host__ __device__ __nv_bfloat16(type n)					\
		: __x(gpuemu::bfloat_of(gpuemu::odd_of((double)n))) {}			\
	__host__ __device__ operator type() const { return (type)gpuemu::float_of_bfloat(__x); }
	GPUEMU_INTEGER(short) GPUEMU_INTEGER(unsigned short) GPUEMU_INTEGER(int)
	GPUEMU_INTEGER(unsigned int) GPUEMU_INTEGER(long) GPUEMU_INTEGER(unsigned long)
	GPUEMU_INTEGER(long long) GPUEMU_INTEGER(unsigned long long)
#undef GPUEMU_INTEGER
	__host__ __device__ operator float() const { return gpuemu::float_of_bfloat(__x); }
	__host__ __device__ operator bool() const { return __x & 0x7fff; }
	__host__ __device__ operator __nv_bfloat16_raw() const { return __nv_bfloat16_raw{ __x }; }
};
typedef __nv_bfloat16 nv_bfloat16;

struct __align__(4) __nv_bfloat162 {
	__nv_bfloat16 x, y;

	__nv_bfloat162() = default;
	__host__ __device__ __nv_bfloat162(const __nv_bfloat16 &a, const __nv_bfloat16 &b)
		: x(a), y(b) {}
};
typedef __nv_bfloat162 nv_bfloat162;

#define GPUEMU_H	__nv_bfloat16
#define GPUEMU_H2	__nv_bfloat162
#define GPUEMU_PTX	"bf16"
#define GPUEMU_TO	gpuemu::float_of_bfloat
#define GPUEMU_FROM	gpuemu::bfloat_of
#define GPUEMU_MAKE	__float2bfloat16
#define GPUEMU_VALUE	__bfloat162float
#include "gpuemu/half_functions.h"
#include "gpuemu/half_undefine.h"

/*
 * --- conversions
 * ---------------------------------------------------------------------------------
 */

GPUEMU_BOTH __nv_bfloat16 __float2bfloat16_rn(float f) { return __nv_bfloat16(f); }
GPUEMU_BOTH __nv_bfloat16 __double2bfloat16(double d) { return __nv_bfloat16(d); }
GPUEMU_BOTH __nv_bfloat162 __float2bfloat162_rn(float f)
{
	return __nv_bfloat162(__nv_bfloat16(f), __nv_bfloat16(f));
}
GPUEMU_BOTH __nv_bfloat162 __floats2bfloat162_rn(float a, float b)
{
	return __nv_bfloat162(__nv_bfloat16(a), __nv_bfloat16(b));
}
GPUEMU_BOTH __nv_bfloat162 __float22bfloat162_rn(float2 f)
{
	return __floats2bfloat162_rn(f.x, f.y);
}
GPUEMU_BOTH float2 __bfloat1622float2(__nv_bfloat162 h)
{
	return make_float2(__bfloat162float(h.x), __bfloat162float(h.y));
}
GPUEMU_BOTH float __low2float(__nv_bfloat162 h) { return __bfloat162float(h.x); }
GPUEMU_BOTH float __high2float(__nv_bfloat162 h) { return __bfloat162float(h.y); }
GPUEMU_BOTH __nv_bfloat16 __low2bfloat16(__nv_bfloat162 h) { return h.x; }
GPUEMU_BOTH __nv_bfloat16 __high2bfloat16(__nv_bfloat162 h) { return h.y; }
GPUEMU_BOTH __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 h) { return __nv_bfloat162(h, h); }
GPUEMU_BOTH __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 a, __nv_bfloat16 b)
{
	return __nv_bfloat162(a, b);
}
GPUEMU_BOTH __nv_bfloat162 make_bfloat162(__nv_bfloat16 a, __nv_bfloat16 b)
{
	return __nv_bfloat162(a, b);
}
GPUEMU_BOTH unsigned short __bfloat16_as_ushort(__nv_bfloat16 h) { return h.__x; }
GPUEMU_BOTH __nv_bfloat16 __ushort_as_bfloat16(unsigned short n)
{
	return __nv_bfloat16(__nv_bfloat16_raw{ n });
}
GPUEMU_BOTH int __bfloat162int_rn(__nv_bfloat16 h)
{
	return gpuemu::clamp<int>(rintf(__bfloat162float(h)), -0x7fffffff - 1, 0x7fffffff);
}
GPUEMU_BOTH int __bfloat162int_rz(__nv_bfloat16 h)
{
	return gpuemu::clamp<int>(truncf(__bfloat162float(h)), -0x7fffffff - 1, 0x7fffffff);
}
GPUEMU_BOTH __nv_bfloat16 __int2bfloat16_rn(int n) { return __nv_bfloat16(n); }

#endif
