// SPDX-License-Identifier: GPL-2.0
/* Copies in all directions, rows and slices, memsets, pitches, pinned memory, sizes; and a little beside a buffer. */
#include <string.h>

#include "check.h"

__global__ void beside(const int *p, int n, int *out)
{
	out[0] = p[-1] + p[n];
}

__global__ void increment(int *p, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		p[i]++;
}

/* How long a copy of 4 MiB takes, by events around it. */
static float copy_ms(cudaMemcpyKind kind)
{
	const size_t bytes = 4 << 20;
	char *host = (char *)malloc(bytes), *a, *b;
	cudaEvent_t begin, end;
	float ms;

	OK(cudaMalloc(&a, bytes));
	OK(cudaMalloc(&b, bytes));
	OK(cudaEventCreate(&begin));
	OK(cudaEventCreate(&end));
	OK(cudaEventRecord(begin, 0));
	OK(cudaMemcpy(kind == cudaMemcpyDeviceToHost ? host : a, kind == cudaMemcpyHostToDevice ? host : b,
		      bytes, kind));
	OK(cudaEventRecord(end, 0));
	OK(cudaEventSynchronize(end));
	OK(cudaEventElapsedTime(&ms, begin, end));
	OK(cudaFree(a));
	OK(cudaFree(b));
	free(host);
	return ms;
}

int main()
{
	char host[64 * 10], back[64 * 10], *d, *e;
	size_t pitch, free_before, free_after, total;
	cudaExtent extent = make_cudaExtent(20, 4, 3);
	cudaMemcpy3DParms parms = { 0 };
	cudaPointerAttributes a;
	cudaPitchedPtr cube;
	int *p, *q, *pinned, *mapped;

	for (size_t i = 0; i < sizeof(host); i++)
		host[i] = (char)(i * 13);
	OK(cudaMalloc(&d, sizeof(host)));
	OK(cudaMalloc(&e, sizeof(host)));
	OK(cudaMemcpy(d, host, sizeof(host), cudaMemcpyHostToDevice));
	OK(cudaMemcpy(e, d, sizeof(host), cudaMemcpyDeviceToDevice));
	OK(cudaMemcpy(back, e, sizeof(host), cudaMemcpyDefault));
	HOLDS(!memcmp(host, back, sizeof(host)));
	OK(cudaMemset(e + 3, 0x5a, 100));
	OK(cudaMemcpy(back, e, sizeof(host), cudaMemcpyDeviceToHost));
	HOLDS(back[2] == host[2] && back[3] == 0x5a && back[102] == 0x5a && back[103] == host[103]);
	OK(cudaFree(e));

	OK(cudaMallocPitch(&e, &pitch, 50, 10));
	HOLDS(pitch >= 50 && pitch % 32 == 0);
	OK(cudaMemset2D(e, pitch, 1, 50, 10));
	OK(cudaMemcpy2D(e, pitch, host, 64, 40, 10, cudaMemcpyHostToDevice));
	memset(back, 0, sizeof(back));
	OK(cudaMemcpy2D(back, 64, e, pitch, 50, 10, cudaMemcpyDeviceToHost));
	for (int y = 0; y < 10; y++)
		for (int x = 0; x < 64; x++)
			HOLDS(back[y * 64 + x] == (x < 40 ? host[y * 64 + x] : x < 50));
	IS(cudaMemcpy2D(back, 30, e, pitch, 50, 10, cudaMemcpyDeviceToHost), cudaErrorInvalidPitchValue);
	OK(cudaMalloc3D(&cube, extent));
	parms.srcPtr = make_cudaPitchedPtr(host, 20, 20, 4);
	parms.dstPtr = cube;
	parms.extent = extent;
	parms.kind = cudaMemcpyHostToDevice;
	OK(cudaMemcpy3D(&parms));
	parms.srcPtr = cube;
	parms.dstPtr = make_cudaPitchedPtr(back, 20, 20, 4);
	parms.kind = cudaMemcpyDeviceToHost;
	OK(cudaMemcpy3D(&parms));
	HOLDS(!memcmp(host, back, 240));

	/* Buffers lie in granules of 2 MiB: hardware reads what is beside them, and so do programs. */
	OK(cudaMalloc(&p, 1000 * sizeof(int)));
	OK(cudaMalloc(&q, sizeof(int)));
	beside<<<1, 1>>>(p, 1000, q);
	OK(cudaDeviceSynchronize());
	/* So does managed memory, small and large. */
	for (int n = 1000; n <= 1000000; n *= 1000) {
		int *managed;

		OK(cudaMallocManaged(&managed, n * sizeof(int)));
		beside<<<1, 1>>>(managed, n, q);
		OK(cudaDeviceSynchronize());
		OK(cudaFree(managed));
	}

	OK(cudaMallocHost(&pinned, 300 * sizeof(int)));
	for (int i = 0; i < 300; i++)
		pinned[i] = i;
	OK(cudaHostGetDevicePointer(&mapped, pinned, 0));
	increment<<<2, 256>>>(mapped, 300);
	OK(cudaMemcpy(p, pinned, 300 * sizeof(int), cudaMemcpyHostToDevice));
	increment<<<2, 256>>>(p, 300);
	OK(cudaMemcpy(pinned, p, 300 * sizeof(int), cudaMemcpyDeviceToHost));
	for (int i = 0; i < 300; i++)
		HOLDS(pinned[i] == i + 2);
	OK(cudaPointerGetAttributes(&a, pinned));
	HOLDS(a.type == cudaMemoryTypeHost);
	OK(cudaPointerGetAttributes(&a, p + 9));
	HOLDS(a.type == cudaMemoryTypeDevice && a.devicePointer == p + 9);
	OK(cudaPointerGetAttributes(&a, host));
	HOLDS(a.type == cudaMemoryTypeUnregistered);
	IS(cudaFree(pinned), cudaErrorInvalidValue);
	OK(cudaFreeHost(pinned));

	OK(cudaMemGetInfo(&free_before, &total));
	OK(cudaMalloc(&e, 3 << 20));
	OK(cudaMemGetInfo(&free_after, &total));
	HOLDS(free_before - free_after == 4 << 20 && free_after < total);	/* granules */
	IS(cudaMalloc(&d, total), cudaErrorMemoryAllocation);
	OK(cudaFree(e));
	OK(cudaMemGetInfo(&free_after, &total));
	HOLDS(free_before == free_after);
	/* 4 MiB of pageable memory take some 520 us at 8 GB/s, either way, and nothing within the device. */
	float there = copy_ms(cudaMemcpyHostToDevice), back_ms = copy_ms(cudaMemcpyDeviceToHost);
	HOLDS(there > 0.5f && there < 0.55f && back_ms > 0.5f && back_ms < 0.55f);
	HOLDS(copy_ms(cudaMemcpyDeviceToDevice) < 0.01f);
	IS(cudaMemcpy(e, host, 4, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
	IS(cudaMemset(host, 0, 4), cudaErrorInvalidValue);
	IS(cudaMemcpy(p, host, 4, (cudaMemcpyKind)9), cudaErrorInvalidMemcpyDirection);
	printf("memory: passed\n");
	return 0;
}
