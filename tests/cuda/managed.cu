// SPDX-License-Identifier: GPL-2.0
/* Managed memory: one pointer for both sides, prefetched and advised, more of it than device memory. */
#include "check.h"

__global__ void scale(int *p, int n, int by)
{
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
		p[i] = p[i] * by + 1;
}

int main()
{
	const int n = 3 << 18;	/* 3 MiB, of 2 MiB of device memory where the check runs it */
	cudaPointerAttributes a;
	int *p;

	OK(cudaMallocManaged(&p, n * sizeof(int)));
	OK(cudaPointerGetAttributes(&a, p + 5));
	HOLDS(a.type == cudaMemoryTypeManaged);
	for (int i = 0; i < n; i += 1024)
		p[i] = i;
	OK(cudaMemAdvise(p, n, cudaMemAdviseSetAccessedBy, 0));
	OK(cudaMemAdvise(p, n, cudaMemAdviseUnsetAccessedBy, 0));
	OK(cudaMemPrefetchAsync(p, 1 << 20, 0, 0));
	scale<<<30, 256>>>(p, n, 3);
	OK(cudaDeviceSynchronize());
	for (int i = 0; i < n; i++)
		HOLDS(p[i] == (i % 1024 ? 1 : 3 * i + 1));
	OK(cudaMemPrefetchAsync(p, 1 << 20, cudaCpuDeviceId));
	scale<<<30, 256>>>(p, n, 2);
	OK(cudaDeviceSynchronize());
	HOLDS(p[1] == 3 && p[1024] == 2 * (3 * 1024 + 1) + 1);
	IS(cudaMemPrefetchAsync(p, 1 << 20, 7, 0), cudaErrorInvalidDevice);
	IS(cudaMemPrefetchAsync((void *)0x1230, 16, 0, 0), cudaErrorInvalidValue);
	IS(cudaMallocManaged(&p, 0), cudaErrorInvalidValue);
	OK(cudaFree(p));
	printf("managed: passed\n");
	return 0;
}
