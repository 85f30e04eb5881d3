/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The types __half and __nv_bfloat16, and vectors of two: included once for each by cuda_fp16.h
 * and cuda_bf16.h, which say their names. GPUEMU_H and GPUEMU_H2 are the types, GPUEMU_RAW and
 * GPUEMU_RAW2 their bits, GPUEMU_TO and GPUEMU_FROM from and to float.
 */

typedef struct __align__(2) {
	unsigned short x;
} GPUEMU_RAW;
typedef struct __align__(4) {
	unsigned short x, y;
} GPUEMU_RAW2;

struct __align__(2) GPUEMU_H {
	unsigned short __x;

	GPUEMU_H() = default;
	__host__ __device__ GPUEMU_H(GPUEMU_RAW raw) : __x(raw.x) {}
	__host__ __device__ GPUEMU_H(float f) : __x(GPUEMU_FROM(f)) {}
	__host__ __device__ GPUEMU_H(double d) : __x(GPUEMU_FROM(gpuemu::odd_of(d))) {}
#define GPUEMU_INTEGER(type)								\
	__host__ __device__ GPUEMU_H(type n) : __x(GPUEMU_FROM(gpuemu::odd_of((double)n))) {} \
	__host__ __device__ operator type() const { return (type)GPUEMU_TO(__x); }
	GPUEMU_INTEGER(short) GPUEMU_INTEGER(unsigned short) GPUEMU_INTEGER(int)
	GPUEMU_INTEGER(unsigned int) GPUEMU_INTEGER(long) GPUEMU_INTEGER(unsigned long)
	GPUEMU_INTEGER(long long) GPUEMU_INTEGER(unsigned long long)
#undef GPUEMU_INTEGER
	__host__ __device__ operator float() const { return GPUEMU_TO(__x); }
	__host__ __device__ operator bool() const { return __x & 0x7fff; }
	__host__ __device__ operator GPUEMU_RAW() const { return GPUEMU_RAW{ __x }; }
};

struct __align__(4) GPUEMU_H2 {
	GPUEMU_H x, y;

	GPUEMU_H2() = default;
	__host__ __device__ GPUEMU_H2(const GPUEMU_H &a, const GPUEMU_H &b) : x(a), y(b) {}
};
