/* SPDX-License-Identifier: GPL-2.0 */
/* The words of CUDA C that are the compiler's attributes. Programs include it through cuda_runtime.h. */
#ifndef GPUEMU_HOST_DEFINES_H
#define GPUEMU_HOST_DEFINES_H

/* clang's device pass and host pass, or a plain C or C++ compiler. */
#ifdef __CUDA__
#define __host__	__attribute__((host))
#define __device__	__attribute__((device))
#define __global__	__attribute__((global))
#define __shared__	__attribute__((shared))
#define __constant__	__attribute__((constant))
/*
 * To the host it is a plain variable in a section that becomes managed memory:
 * gpuemu/managed.h. The annotation keeps the compiler from thinking that nobody else writes a
 * static one.
 */
#ifdef __CUDA_ARCH__
#define __managed__ __attribute__((device))
#else
#define __managed__ __attribute__((section("gpuemu_managed"), annotate("managed")))
#endif
#define __launch_bounds__(...)	__attribute__((launch_bounds(__VA_ARGS__)))
#else
#define __host__
#define __device__
#define __global__
#define __shared__
#define __constant__
#define __managed__
#define __launch_bounds__(...)
#endif

/*
 * libstdc++ writes __attribute__((__noinline__)), which this macro would break. clang has the word
 * itself since 15, in CUDA. Elsewhere the library's header comes first.
 */
#if !defined(__noinline__) && !(defined(__CUDA__) && __clang_major__ >= 15)
#if defined(__cplusplus) && __cplusplus >= 201103L
#include <memory>
#endif
#define __noinline__	__attribute__((noinline))
#endif
#ifndef __forceinline__
#define __forceinline__	inline __attribute__((always_inline))
#endif
#define __align__(n)	__attribute__((aligned(n)))
#define __cluster_dims__(...)
#define __grid_constant__
#define CUDARTAPI
#define CUDAAPI
#define CUDART_CB

#endif
