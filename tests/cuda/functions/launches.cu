// SPDX-License-Identifier: GPL-2.0
/* Launches, what a kernel takes, and what an SM holds of it; what is not ready while a kernel runs. */
#include "functions.h"

static __global__ void add(int *p, int n)
{
	atomicAdd(p, n);
	/* A scope of its own, which changes nothing here. */
	atomicCAS_system(p, -1, 0u);
	atomicCAS_block(p, -1, 0);
}

static __global__ void __launch_bounds__(64) bounded(int *p)
{
	*p = 1;
}

static __global__ void large(int *p)
{
	__shared__ int s[4096];

	s[threadIdx.x] = p[threadIdx.x];
	__syncthreads();
	p[threadIdx.x] = s[threadIdx.x ^ 1];
}

static __global__ void slow(int *p)
{
	for (int i = 0; i < 20000; i++)
		*(volatile int *)p = i;
}

static void launched(int *p)
{
	int three = 3, out = 0;
	void *args[] = { &p, &three }, *one[] = { &p };
	const void *none = (const void *)"no kernel";

	GIVES(cudaSuccess, cudaMemset(p, 0, 4));
	GIVES(cudaSuccess, cudaLaunchKernel((const void *)add, dim3(2), dim3(32), args, 0, 0));
	GIVES(cudaSuccess, cudaMemcpy(&out, p, 4, cudaMemcpyDeviceToHost));
	HOLDS(out == 192);
	GIVES(cudaErrorInvalidDeviceFunction, cudaLaunchKernel(none, dim3(1), dim3(1), args, 0, 0));
	GIVES(cudaErrorInvalidDeviceFunction, cudaLaunchKernel((const void *)NULL, dim3(1), dim3(1), args, 0, 0));
	GIVES(cudaErrorInvalidConfiguration, cudaLaunchKernel((const void *)add, dim3(0), dim3(1), args, 0, 0));
	GIVES(cudaErrorInvalidConfiguration, cudaLaunchKernel((const void *)add, dim3(1), dim3(1, 0), args, 0, 0));
	GIVES(cudaErrorInvalidConfiguration, cudaLaunchKernel((const void *)add, dim3(1), dim3(1025), args, 0, 0));
	GIVES(cudaErrorInvalidConfiguration, cudaLaunchKernel((const void *)add, dim3(1), dim3(1, 1, 65), args, 0, 0));
	GIVES(cudaErrorInvalidConfiguration, cudaLaunchKernel((const void *)add, dim3(1, 65536), dim3(1), args, 0, 0));
	GIVES(cudaErrorInvalidValue, cudaLaunchKernel((const void *)add, dim3(1), dim3(1), args, 1 << 20, 0));
	GIVES(cudaErrorInvalidResourceHandle, cudaLaunchKernel((const void *)add, dim3(1), dim3(1), args, 0, NO_STREAM));
	GIVES(cudaErrorInvalidConfiguration, cudaLaunchKernel((const void *)bounded, dim3(1), dim3(96), one, 0, 0));
	GIVES(cudaSuccess, cudaLaunchCooperativeKernel((const void *)add, dim3(2), dim3(32), args, 0, 0));
	GIVES(cudaErrorCooperativeLaunchTooLarge,
	      cudaLaunchCooperativeKernel((const void *)add, dim3(100000), dim3(32), args, 0, 0));
	GIVES(cudaErrorInvalidDeviceFunction, cudaLaunchCooperativeKernel(none, dim3(1), dim3(1), args, 0, 0));
	GIVES(cudaErrorInvalidResourceHandle,
	      cudaLaunchCooperativeKernel((const void *)add, dim3(1), dim3(1), args, 0, NO_STREAM));
	add<<<1, 2000>>>(p, 1);
	HOLDS(cudaGetLastError() == cudaErrorInvalidConfiguration);
	/* None of these has done anything. */
	GIVES(cudaSuccess, cudaMemcpy(&out, p, 4, cudaMemcpyDeviceToHost));
	HOLDS(out == 384);
}

static void taken(void)
{
	const void *none = (const void *)"no kernel";
	cudaFuncAttributes a;
	int n = 0, m = 0;

	GIVES(cudaSuccess, cudaFuncGetAttributes(&a, (const void *)large));
	HOLDS(a.sharedSizeBytes == 16384 && a.numRegs > 0 && a.maxThreadsPerBlock == 1024);
	GIVES(cudaSuccess, cudaFuncGetAttributes(&a, (const void *)bounded));
	HOLDS(a.maxThreadsPerBlock == 64);
	GIVES(cudaErrorInvalidValue, cudaFuncGetAttributes(NULL, (const void *)large));
	GIVES(cudaErrorInvalidDeviceFunction, cudaFuncGetAttributes(&a, none));
	GIVES(cudaSuccess,
	      cudaFuncSetAttribute((const void *)large, cudaFuncAttributeMaxDynamicSharedMemorySize, 1024));
	GIVES(cudaErrorInvalidValue,
	      cudaFuncSetAttribute((const void *)large, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 24));
	GIVES(cudaErrorInvalidValue, cudaFuncSetAttribute((const void *)large, (cudaFuncAttribute)99, 1));
	GIVES(cudaErrorInvalidDeviceFunction,
	      cudaFuncSetAttribute(none, cudaFuncAttributeMaxDynamicSharedMemorySize, 1));
	GIVES(cudaSuccess, cudaFuncSetCacheConfig((const void *)large, cudaFuncCachePreferShared));
	GIVES(cudaErrorInvalidValue,
	      cudaFuncSetAttribute((const void *)large, cudaFuncAttributePreferredSharedMemoryCarveout, 101));
	GIVES(cudaErrorInvalidDeviceFunction, cudaFuncSetCacheConfig(none, cudaFuncCachePreferShared));
	GIVES(cudaSuccess, cudaFuncSetSharedMemConfig((const void *)large, cudaSharedMemBankSizeFourByte));
	GIVES(cudaErrorInvalidDeviceFunction, cudaFuncSetSharedMemConfig(none, cudaSharedMemBankSizeFourByte));
	GIVES(cudaErrorInvalidValue, cudaFuncSetSharedMemConfig((const void *)large, (cudaSharedMemConfig)9));

	GIVES(cudaSuccess, cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, (const void *)large, 128, 0));
	HOLDS(n == 3);		/* of 48 KiB shared memory */
	GIVES(cudaErrorInvalidValue, cudaOccupancyMaxActiveBlocksPerMultiprocessor(NULL, (const void *)large, 128, 0));
	GIVES(cudaErrorInvalidValue, cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, (const void *)large, 0, 0));
	GIVES(cudaErrorInvalidDeviceFunction, cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, none, 128, 0));
	GIVES(cudaSuccess,
	      cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&m, (const void *)large, 128, 0, cudaOccupancyDefault));
	HOLDS(m == n);
	GIVES(cudaErrorInvalidValue,
	      cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&m, (const void *)large, 128, 0, 0x40));
	GIVES(cudaErrorInvalidDeviceFunction,
	      cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&m, none, 128, 0, cudaOccupancyDefault));
}

static void awaited(int *p)
{
	cudaStream_t stream;
	cudaEvent_t a, b;
	float ms;

	GIVES(cudaSuccess, cudaStreamCreate(&stream));
	GIVES(cudaSuccess, cudaEventCreate(&a));
	GIVES(cudaSuccess, cudaEventCreate(&b));
	GIVES(cudaSuccess, cudaEventRecord(a, stream));
	slow<<<1, 1, 0, stream>>>(p);
	GIVES(cudaSuccess, cudaEventRecord(b, stream));
	GIVES(cudaErrorNotReady, cudaStreamQuery(stream));
	GIVES(cudaErrorNotReady, cudaEventQuery(b));
	GIVES(cudaErrorNotReady, cudaEventElapsedTime(&ms, a, b));
	GIVES(cudaSuccess, cudaEventSynchronize(b));
	GIVES(cudaSuccess, cudaEventQuery(b));
	GIVES(cudaSuccess, cudaStreamQuery(stream));
	GIVES(cudaSuccess, cudaEventElapsedTime(&ms, a, b));
	HOLDS(ms > 0);
	GIVES(cudaSuccess, cudaEventDestroy(a));
	GIVES(cudaSuccess, cudaEventDestroy(b));
	GIVES(cudaSuccess, cudaStreamDestroy(stream));
}

void launches(void)
{
	int *p;

	GIVES(cudaSuccess, cudaMalloc(&p, 4096));
	launched(p);
	taken();
	awaited(p);
	GIVES(cudaSuccess, cudaFree(p));
}
