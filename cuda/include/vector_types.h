/* SPDX-License-Identifier: GPL-2.0 */
/*
 * CUDA's vector types, dim3 among them. Sizes and alignments are those of the CUDA C Programming
 * Guide.
 */
#ifndef GPUEMU_VECTOR_TYPES_H
#define GPUEMU_VECTOR_TYPES_H

#include "host_defines.h"

/* X(name, the type of an element, alignments of the types of two and of four elements) */
#define GPUEMU_VECTORS(X)                                 \
	X(char, signed char, 2, 4)                        \
	X(uchar, unsigned char, 2, 4)                     \
	X(short, short, 4, 8)                             \
	X(ushort, unsigned short, 4, 8)                   \
	X(int, int, 8, 16)                                \
	X(uint, unsigned int, 8, 16)                      \
	X(long, long, 16, 16)                             \
	X(ulong, unsigned long, 16, 16)                   \
	X(longlong, long long, 16, 16)                    \
	X(ulonglong, unsigned long long, 16, 16)          \
	X(float, float, 8, 16)                            \
	X(double, double, 16, 16)

#define GPUEMU_VECTOR(name, type, align2, align4)         \
	struct name##1 { type x; };                       \
	typedef struct name##1 name##1;                   \
	struct __attribute__((aligned(align2))) name##2 { type x, y; };       \
	typedef struct name##2 name##2;                   \
	struct name##3 { type x, y, z; };                 \
	typedef struct name##3 name##3;                   \
	struct __attribute__((aligned(align4))) name##4 { type x, y, z, w; }; \
	typedef struct name##4 name##4;
GPUEMU_VECTORS(GPUEMU_VECTOR)
#undef GPUEMU_VECTOR

struct dim3 {
	unsigned int x, y, z;
#ifdef __cplusplus
	__host__ __device__ constexpr dim3(unsigned int vx = 1, unsigned int vy = 1,
					   unsigned int vz = 1)
		: x(vx), y(vy), z(vz) {}
	__host__ __device__ constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
	__host__ __device__ constexpr operator uint3() const { return uint3{ x, y, z }; }
#endif
};
typedef struct dim3 dim3;

#endif
