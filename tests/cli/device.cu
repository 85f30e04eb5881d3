// SPDX-License-Identifier: GPL-2.0
/* Kernels that tests/check.d/46-ptx.sh launches: structs, shared memory, calls, and what goes wrong. */
#include "device.h"

#define assert(e) ((e) ? (void)0 : __assertfail(#e, "device.cu", __LINE__, __func__, 1))

extern "C" __device__ int printf(const char *format, ...);
extern "C" __device__ void __assertfail(const char *message, const char *file, unsigned int line,
					const char *function, unsigned long size);

struct scale {
	unsigned char negate;
	float by;
	const float *from;
	uint64_t n;
};

/* to[i] = +-from[i] * by, through a struct by value with an address in it. */
KERNEL scale(struct scale s, float *to)
{
	uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < s.n)
		to[i] = s.negate ? -s.from[i] * s.by : s.from[i] * s.by;
}

/* Each CTA's elements in reverse order, in dynamic shared memory. */
extern __shared__ uint32_t stage[];
KERNEL reverse(uint32_t *data)
{
	uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;

	stage[threadIdx.x] = data[i];
	__syncthreads();
	data[i] = stage[blockDim.x - 1 - threadIdx.x];
}

/* Where a thread is in a grid and block of three dimensions. */
KERNEL where(uint32_t *out)
{
	uint32_t block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
	uint32_t thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;

	out[block * (blockDim.x * blockDim.y * blockDim.z) + thread] =
		blockIdx.z << 20 | blockIdx.y << 16 | threadIdx.z << 8 | threadIdx.y << 4 | threadIdx.x;
}

KERNEL hello(uint32_t n)
{
	printf("thread %u of %u says %s\n", threadIdx.x, n, "hello");
}

KERNEL asserts(uint32_t n)
{
	assert(threadIdx.x < n);
}

KERNEL traps(void)
{
	__builtin_trap();
}

KERNEL wild(uint32_t *p)
{
	p[1u << 30] = 1;
}

__device__ __attribute__((noinline)) uint32_t fibonacci(uint32_t n)
{
	return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

/* Lanes that call themselves to different depths. */
KERNEL calls(uint32_t *out)
{
	out[threadIdx.x] = fibonacci(threadIdx.x);
}

__device__ uint32_t table[4] = { 1, 2, 3, 4 };
__device__ uint32_t total;

/* What is in a module variable, into another. */
KERNEL sum(void)
{
	for (int i = 0; i < 4; i++)
		total += table[i];
}

/* More registers than 16 hold: every product is live until the sum. */
KERNEL pressure(uint32_t *data)
{
	uint32_t v[24], sum = 0, i = threadIdx.x;

#pragma unroll
	for (uint32_t j = 0; j < 24; j++)
		v[j] = data[i + 32 * j];
#pragma unroll
	for (uint32_t j = 0; j < 24; j++)
		sum = sum * 31 + (v[j] ^ v[23 - j] >> 3);
	data[i] = sum;
}

/* What thread 0 writes between two barriers, all read anew after the second. */
KERNEL told(uint32_t *out)
{
	__shared__ uint32_t count;
	uint32_t t = threadIdx.x, before;

	if (t == 0)
		count = 5;
	__syncthreads();
	before = count;
	__syncthreads();
	if (t == 0)
		count = before + 100;
	__syncthreads();
	out[t] = 1000 * before + count;
}
