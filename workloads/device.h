/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The part of CUDA C that the workloads' kernels use, for stock clang without
 * a CUDA toolkit: `clang -x cuda --cuda-device-only -nocudainc`. Names are
 * CUDA's, so a kernel reads (and compiles) as it would with nvcc. Included by
 * the device side of workloads/NAME.c, and installed as gpuemu_device.h for `-include`.
 */
#ifndef GPUEMU_WORKLOADS_DEVICE_H
#define GPUEMU_WORKLOADS_DEVICE_H

#define __global__	__attribute__((global))
#define __device__	__attribute__((device))
#define __shared__	__attribute__((shared))

/* Unmangled, so that the host side finds the kernel by its name. */
#define KERNEL		extern "C" __global__ void

typedef unsigned char uint8_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;

/*
 * threadIdx.x and its kin: no memory behind them, each member is a read of a
 * special register.
 */
#define SREG(axis, reg)							\
	__declspec(property(get = read_##axis)) unsigned int axis;	\
	static __device__ inline __attribute__((always_inline))		\
	unsigned int read_##axis(void)					\
	{								\
		return __nvvm_read_ptx_sreg_##reg();			\
	}

struct sreg_tid { SREG(x, tid_x) SREG(y, tid_y) SREG(z, tid_z) };
struct sreg_ntid { SREG(x, ntid_x) SREG(y, ntid_y) SREG(z, ntid_z) };
struct sreg_ctaid { SREG(x, ctaid_x) SREG(y, ctaid_y) SREG(z, ctaid_z) };
struct sreg_nctaid { SREG(x, nctaid_x) SREG(y, nctaid_y) SREG(z, nctaid_z) };
#undef SREG

extern const __device__ __attribute__((weak)) struct sreg_tid threadIdx;
extern const __device__ __attribute__((weak)) struct sreg_ntid blockDim;
extern const __device__ __attribute__((weak)) struct sreg_ctaid blockIdx;
extern const __device__ __attribute__((weak)) struct sreg_nctaid gridDim;

/* Always written out where a product is added to, so that the CPU can round the same. */
#define INLINE		static __device__ inline __attribute__((always_inline))

/*
 * clang has a __syncthreads() of its own, but LLVM 14 takes it to leave shared variables as
 * they are, and keeps them in registers across it. Inline assembly that clobbers
 * memory may change any.
 */
INLINE void barrier(void)
{
	asm volatile("bar.sync 0;" ::: "memory");
}
#define __syncthreads() barrier()

INLINE float fmaf(float a, float b, float c)
{
	return __builtin_fmaf(a, b, c);
}

INLINE double fma(double a, double b, double c)
{
	return __builtin_fma(a, b, c);
}

INLINE int min(int a, int b)
{
	return a < b ? a : b;
}

INLINE uint32_t min(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

INLINE int max(int a, int b)
{
	return a > b ? a : b;
}

INLINE uint32_t max(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

/* In global and in shared memory; what was there before. */
INLINE uint32_t atomicAdd(uint32_t *p, uint32_t v)
{
	return __atomic_fetch_add(p, v, __ATOMIC_RELAXED);
}

#endif
