/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The functions of device code, for clang: built-in variables, barriers, atomics, warp functions,
 * printf. The compiler's own headers have most of it; what those take from a CUDA toolkit is here
 * and in libdevice.h. cuda_runtime.h includes it.
 */
#ifndef GPUEMU_DEVICE_H
#define GPUEMU_DEVICE_H

#ifndef CUDA_VERSION
#define CUDA_VERSION CUDART_VERSION
#endif
#define __DEVICE_LAUNCH_PARAMETERS_H__

/* In the host pass device functions are declared too: code for both sides names them. */
#pragma push_macro("__CUDA_ARCH__")
#ifndef __CUDA_ARCH__
#define __CUDA_ARCH__ 9999
#endif
#include <__clang_cuda_builtin_vars.h>
#include <__clang_cuda_libdevice_declares.h>
#include "libdevice.h"
#include <__clang_cuda_device_functions.h>
#include <__clang_cuda_math.h>
/* clang 16's headers declare these two and do not define them. */
__device__ static inline double nan(const char *) { return __builtin_nan(""); }
__device__ static inline float nanf(const char *) { return __builtin_nanf(""); }
#pragma pop_macro("__CUDA_ARCH__")

extern "C" {
__device__ int vprintf(const char *, const char *);
__device__ void free(void *) __attribute((nothrow));
__device__ void *malloc(size_t) __attribute((nothrow)) __attribute__((malloc));
__device__ void __assertfail(const char *, const char *, unsigned, const char *, size_t);
__device__ static inline void __assert_fail(const char *message, const char *file, unsigned line,
					    const char *function)
{
	__assertfail(message, file, line, function, sizeof(char));
}
__device__ int printf(const char *, ...);
/* clang calls it for <<< >>>. */
unsigned int __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared = 0,
					 void *stream = 0);
}

namespace std {
__device__ static inline void free(void *p) { ::free(p); }
__device__ static inline void *malloc(size_t bytes) { return ::malloc(bytes); }
}

__device__ inline __cuda_builtin_threadIdx_t::operator dim3() const { return dim3(x, y, z); }
__device__ inline __cuda_builtin_threadIdx_t::operator uint3() const { return { x, y, z }; }
__device__ inline __cuda_builtin_blockIdx_t::operator dim3() const { return dim3(x, y, z); }
__device__ inline __cuda_builtin_blockIdx_t::operator uint3() const { return { x, y, z }; }
__device__ inline __cuda_builtin_blockDim_t::operator dim3() const { return dim3(x, y, z); }
__device__ inline __cuda_builtin_blockDim_t::operator uint3() const { return { x, y, z }; }
__device__ inline __cuda_builtin_gridDim_t::operator dim3() const { return dim3(x, y, z); }
__device__ inline __cuda_builtin_gridDim_t::operator uint3() const { return { x, y, z }; }

#include <__clang_cuda_cmath.h>
#include <__clang_cuda_intrinsics.h>
#include "overloads.h"

/*
 * clang-14 keeps shared variables in registers across its barrier. The empty asm tells it that
 * memory has changed; a macro, because the barrier itself is the compiler's builtin.
 */
__device__ static __forceinline__ void __gpuemu_syncthreads(void)
{
	asm volatile("" ::: "memory");
	__nvvm_bar_sync(0);
	asm volatile("" ::: "memory");
}
#define __syncthreads() __gpuemu_syncthreads()

/* --- atomics --------------------------------------------------------------------- */

#define GPUEMU_ATOMIC(name, type, builtin, as)						\
	__device__ static inline type name(type *p, type v)				\
	{										\
		return (type)builtin((as *)p, (as)v);					\
	}										\
	__device__ static inline type name##_block(type *p, type v) { return name(p, v); } \
	__device__ static inline type name##_system(type *p, type v) { return name(p, v); }

GPUEMU_ATOMIC(atomicAdd, int, __nvvm_atom_add_gen_i, int)
GPUEMU_ATOMIC(atomicAdd, unsigned int, __nvvm_atom_add_gen_i, int)
GPUEMU_ATOMIC(atomicAdd, unsigned long long, __nvvm_atom_add_gen_ll, long long)
GPUEMU_ATOMIC(atomicAdd, float, __nvvm_atom_add_gen_f, float)
GPUEMU_ATOMIC(atomicExch, int, __nvvm_atom_xchg_gen_i, int)
GPUEMU_ATOMIC(atomicExch, unsigned int, __nvvm_atom_xchg_gen_i, int)
GPUEMU_ATOMIC(atomicExch, unsigned long long, __nvvm_atom_xchg_gen_ll, long long)
GPUEMU_ATOMIC(atomicMin, int, __nvvm_atom_min_gen_i, int)
GPUEMU_ATOMIC(atomicMin, unsigned int, __nvvm_atom_min_gen_ui, unsigned int)
GPUEMU_ATOMIC(atomicMin, long long, __nvvm_atom_min_gen_ll, long long)
GPUEMU_ATOMIC(atomicMin, unsigned long long, __nvvm_atom_min_gen_ull, unsigned long long)
GPUEMU_ATOMIC(atomicMax, int, __nvvm_atom_max_gen_i, int)
GPUEMU_ATOMIC(atomicMax, unsigned int, __nvvm_atom_max_gen_ui, unsigned int)
GPUEMU_ATOMIC(atomicMax, long long, __nvvm_atom_max_gen_ll, long long)
GPUEMU_ATOMIC(atomicMax, unsigned long long, __nvvm_atom_max_gen_ull, unsigned long long)
GPUEMU_ATOMIC(atomicAnd, int, __nvvm_atom_and_gen_i, int)
GPUEMU_ATOMIC(atomicAnd, unsigned int, __nvvm_atom_and_gen_i, int)
GPUEMU_ATOMIC(atomicAnd, unsigned long long, __nvvm_atom_and_gen_ll, long long)
GPUEMU_ATOMIC(atomicOr, int, __nvvm_atom_or_gen_i, int)
GPUEMU_ATOMIC(atomicOr, unsigned int, __nvvm_atom_or_gen_i, int)
GPUEMU_ATOMIC(atomicOr, unsigned long long, __nvvm_atom_or_gen_ll, long long)
GPUEMU_ATOMIC(atomicXor, int, __nvvm_atom_xor_gen_i, int)
GPUEMU_ATOMIC(atomicXor, unsigned int, __nvvm_atom_xor_gen_i, int)
GPUEMU_ATOMIC(atomicXor, unsigned long long, __nvvm_atom_xor_gen_ll, long long)
GPUEMU_ATOMIC(atomicInc, unsigned int, __nvvm_atom_inc_gen_ui, unsigned int)
GPUEMU_ATOMIC(atomicDec, unsigned int, __nvvm_atom_dec_gen_ui, unsigned int)
#undef GPUEMU_ATOMIC

__device__ static __forceinline__ int atomicSub(int *p, int v)
{
	return atomicAdd(p, -v);
}

__device__ static __forceinline__ unsigned int atomicSub(unsigned int *p, unsigned int v)
{
	return atomicAdd(p, 0u - v);
}

__device__ static __forceinline__ int atomicCAS(int *p, int compare, int v)
{
	return __nvvm_atom_cas_gen_i(p, compare, v);
}

__device__ static __forceinline__ unsigned int atomicCAS(unsigned int *p, unsigned int compare,
							 unsigned int v)
{
	return (unsigned int)__nvvm_atom_cas_gen_i((int *)p, (int)compare, (int)v);
}

__device__ static __forceinline__ unsigned long long atomicCAS(unsigned long long *p,
							       unsigned long long compare,
							       unsigned long long v)
{
	return (unsigned long long)__nvvm_atom_cas_gen_ll((long long *)p, (long long)compare,
							  (long long)v);
}

/* One device, and all of its memory is coherent: every scope is the system's. */
#define GPUEMU_CAS(name, type)									\
	__device__ static __forceinline__ type name(type *p, type compare, type v)		\
	{											\
		return atomicCAS(p, compare, v);						\
	}
#define GPUEMU_CAS_OF(type)									\
	GPUEMU_CAS(atomicCAS_system, type)							\
	GPUEMU_CAS(atomicCAS_block, type)
GPUEMU_CAS_OF(int)
GPUEMU_CAS_OF(unsigned int)
GPUEMU_CAS_OF(unsigned long long)
#undef GPUEMU_CAS_OF
#undef GPUEMU_CAS

__device__ static __forceinline__ float atomicExch(float *p, float v)
{
	return __int_as_float(atomicExch((int *)p, __float_as_int(v)));
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 600
__device__ static __forceinline__ double atomicAdd(double *p, double v)
{
	double old;

	asm volatile("atom.add.f64 %0, [%1], %2;" : "=d"(old) : "l"(p), "d"(v) : "memory");
	return old;
}
#endif

#include "intrinsics.h"
#if defined(GPUEMU_INT128) && defined(__CUDA_ARCH__)
#include "int128.h"
#endif

#endif
