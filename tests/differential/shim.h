/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One CUDA C source, three builds: stock clang to PTX without a toolkit
 * (device.h), nvcc to PTX with its own headers, and clang++ for the CPU, where a
 * grid runs as fibers (cpu.h) and is the reference. Included first by every kernel
 * file; DIFF_CPU chooses the last. Contraction is off in all three.
 *
 * Common to the three: KERNEL(name), CASE(...) and FAILS(...) rows, EXTERN_SHARED, and
 * OP1..OP3, which name one PTX instruction on the device and what it must
 * compute, in C, on the CPU.
 */
#ifndef TESTS_DIFFERENTIAL_SHIM_H
#define TESTS_DIFFERENTIAL_SHIM_H

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef signed char s8;
typedef short s16;
typedef int s32;
typedef long long s64;
typedef float f32;
typedef double f64;

/* Thread of the grid, in x. */
#define GID		(blockIdx.x * blockDim.x + threadIdx.x)
#define LINEAR_TID	((threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x)
#define LANE		(LINEAR_TID & 31u)

#ifdef DIFF_CPU
#include "cpu.h"
#else
#ifndef __NVCC__
#include "device.h"
#else
#include <cassert>
#include <cstdio>
#endif
/* The prefix keeps a kernel and a function of the C library apart. */
#define KERNEL(name)	extern "C" __global__ void k_##name
#define DEVICE		static __device__ inline
#define NOINLINE	static __device__ __attribute__((noinline))
#define EXTERN_SHARED(type, name) extern __shared__ __attribute__((aligned(16))) type name[]
/* Rows are for the CPU build; here they vanish. */
#define CASE(...)
#define FAILS(...)

#define OP1(name, r_t, r_c, a_t, a_c, text, ...)					\
	DEVICE r_t name(a_t a) { r_t r; asm(text " %0, %1;" : "=" r_c(r) : a_c(a)); return r; }
#define OP2(name, r_t, r_c, a_t, a_c, b_t, b_c, text, ...)				\
	DEVICE r_t name(a_t a, b_t b)							\
	{ r_t r; asm(text " %0, %1, %2;" : "=" r_c(r) : a_c(a), b_c(b)); return r; }
#define OP3(name, r_t, r_c, a_t, a_c, b_t, b_c, c_t, c_c, text, ...)			\
	DEVICE r_t name(a_t a, b_t b, c_t c)						\
	{ r_t r; asm(text " %0, %1, %2, %3;" : "=" r_c(r) : a_c(a), b_c(b), c_c(c)); return r; }
/* The same with the whole text: predicates, immediates, several instructions. */
#define TEXT1(name, r_t, r_c, a_t, a_c, text, ...)					\
	DEVICE r_t name(a_t a) { r_t r; asm(text : "=" r_c(r) : a_c(a)); return r; }
#define TEXT2(name, r_t, r_c, a_t, a_c, b_t, b_c, text, ...)				\
	DEVICE r_t name(a_t a, b_t b)							\
	{ r_t r; asm(text : "=" r_c(r) : a_c(a), b_c(b)); return r; }
#define TEXT3(name, r_t, r_c, a_t, a_c, b_t, b_c, c_t, c_c, text, ...)			\
	DEVICE r_t name(a_t a, b_t b, c_t c)						\
	{ r_t r; asm(text : "=" r_c(r) : a_c(a), b_c(b), c_c(c)); return r; }
/* A special register. */
#define SREG32(name, reg, ...)								\
	DEVICE u32 name(void) { u32 r; asm volatile("mov.u32 %0, " reg ";" : "=r"(r)); return r; }

/* activemask where the code says which lanes are there. */
#define ACTIVE(...)	__activemask()
#define THREAD_EXIT()	asm volatile("exit;")
#define ON_DEVICE(...)	__VA_ARGS__
#define ON_CPU(...)
#endif

/* A kernel that applies one expression of a, b, c to every element; n is the grid's size. */
#define MAP1(name, r_t, a_t, ...)							\
	KERNEL(name)(r_t *out, const a_t *in)						\
	{ u32 i = GID; a_t a = in[i]; out[i] = __VA_ARGS__; }
#define MAP2(name, r_t, a_t, b_t, ...)							\
	KERNEL(name)(r_t *out, const a_t *in1, const b_t *in2)				\
	{ u32 i = GID; a_t a = in1[i]; b_t b = in2[i]; out[i] = __VA_ARGS__; }
#define MAP3(name, r_t, a_t, b_t, c_t, ...)						\
	KERNEL(name)(r_t *out, const a_t *in1, const b_t *in2, const c_t *in3)		\
	{ u32 i = GID; a_t a = in1[i]; b_t b = in2[i]; c_t c = in3[i]; out[i] = __VA_ARGS__; }

#endif
