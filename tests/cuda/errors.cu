// SPDX-License-Identifier: GPL-2.0
/* Errors have CUDA's names and are remembered as CUDA does; a kernel's stays until the device is reset. */
#include <string.h>

#include "check.h"

__global__ void nothing(void)
{
}

__global__ void __launch_bounds__(64) small(void)
{
}

__global__ void write(int *p)
{
	*p = 1;
}

__global__ void big(int *p)
{
	__shared__ int s[8192];

	s[threadIdx.x] = threadIdx.x;
	__syncthreads();
	*p = s[(threadIdx.x * 77) % 8192];
}

int main()
{
	int count, device, value, *p;

	OK(cudaGetDeviceCount(&count));
	HOLDS(count == 1);
	IS(cudaSetDevice(1), cudaErrorInvalidDevice);
	IS(cudaPeekAtLastError(), cudaErrorInvalidDevice);
	IS(cudaGetLastError(), cudaErrorInvalidDevice);
	IS(cudaGetLastError(), cudaSuccess);
	OK(cudaSetDevice(0));
	OK(cudaGetDevice(&device));
	HOLDS(!device);
	HOLDS(!strcmp(cudaGetErrorString(cudaErrorInvalidValue), "invalid argument"));
	HOLDS(!strcmp(cudaGetErrorName(cudaErrorMemoryAllocation), "cudaErrorMemoryAllocation"));
	HOLDS(!strcmp(cudaGetErrorString((cudaError_t)12345), "unrecognized error code"));

	nothing<<<1, 2000>>>();
	IS(cudaGetLastError(), cudaErrorInvalidConfiguration);
	nothing<<<0, 32>>>();
	IS(cudaGetLastError(), cudaErrorInvalidConfiguration);
	nothing<<<1, 32, 1 << 20>>>();
	IS(cudaGetLastError(), cudaErrorInvalidValue);
	IS(cudaLaunchKernel((const void *)&count, dim3(1), dim3(1), (void **)0, 0, 0),
	   cudaErrorInvalidDeviceFunction);
	OK(cudaDeviceSynchronize());
	cudaGetLastError();
	nothing<<<1, 1>>>();
	OK(cudaGetLastError());

	IS(cudaDeviceGetAttribute(&value, (cudaDeviceAttr)9999, 0), cudaErrorInvalidValue);
	OK(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 0));
	HOLDS(value == 32);
	OK(cudaDeviceGetAttribute(&value, cudaDevAttrMaxTexture2DWidth, 0));
	HOLDS(value >= 65536);
	OK(cudaDeviceGetAttribute(&value, cudaDevAttrMaxSurface2DHeight, 0));
	HOLDS(value >= 32768);
	OK(cudaDeviceGetAttribute(&value, cudaDevAttrHostRegisterSupported, 0));
	HOLDS(value == 1);
	IS(cudaFree(&value), cudaErrorInvalidValue);
	OK(cudaFree(0));
	cudaGetLastError();

	/* The kernel's error comes with the synchronization, and from every call after it. */
	write<<<1, 1>>>((int *)0x10);
	IS(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
	IS(cudaMalloc(&p, 4), cudaErrorIllegalAddress);
	IS(cudaGetLastError(), cudaErrorIllegalAddress);
	IS(cudaGetLastError(), cudaErrorIllegalAddress);
	OK(cudaDeviceReset());
	OK(cudaMalloc(&p, 4));
	write<<<1, 1>>>(p);
	OK(cudaMemcpy(&value, p, 4, cudaMemcpyDeviceToHost));
	HOLDS(value == 1);
	printf("errors: passed\n");
	return 0;
}
