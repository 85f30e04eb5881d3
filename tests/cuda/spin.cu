// SPDX-License-Identifier: GPL-2.0
/* Lanes of one warp that wait for each other: a lock that all threads take, and a flag. */
#include "check.h"

__device__ int mutex, counter, flag;

__global__ void locked(int rounds)
{
	for (int i = 0; i < rounds; i++) {
		while (atomicCAS(&mutex, 0, 1))
			;
		*(volatile int *)&counter = *(volatile int *)&counter + 1;
		__threadfence();
		atomicExch(&mutex, 0);
	}
}

/* The last thread lets the others of its warp go. */
__global__ void waiting(int *out)
{
	if (threadIdx.x == blockDim.x - 1)
		atomicExch(&flag, 7);
	else
		while (!*(volatile int *)&flag)
			;
	__syncthreads();
	out[threadIdx.x] = *(volatile int *)&flag + __shfl_sync(0xffffffff, (int)threadIdx.x, 3);
}

int main()
{
	int count, *out;

	locked<<<2, 64>>>(3);
	OK(cudaMemcpyFromSymbol(&count, counter, sizeof(count)));
	HOLDS(count == 2 * 64 * 3);
	OK(cudaMallocManaged(&out, 64 * sizeof(int)));
	waiting<<<1, 64>>>(out);
	OK(cudaDeviceSynchronize());
	for (int i = 0; i < 64; i++)
		HOLDS(out[i] == 7 + i / 32 * 32 + 3);
	printf("spin: passed\n");
	return 0;
}
