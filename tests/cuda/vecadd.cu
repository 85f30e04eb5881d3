// SPDX-License-Identifier: GPL-2.0
/* The first program of every course: copies, a launch, copies back; and what <<< >>> takes. */
#include "check.h"

__global__ void add(const float *a, const float *b, float *c, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		c[i] = a[i] + b[i];
}

/* Where each thread of a grid of three dimensions is. */
__global__ void where(uint3 *at)
{
	unsigned int block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
	unsigned int thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;

	at[block * blockDim.x * blockDim.y * blockDim.z + thread] =
		make_uint3(blockIdx.x * 100 + threadIdx.x, blockIdx.y * 100 + threadIdx.y,
			   blockIdx.z * 100 + threadIdx.z);
}

int main()
{
	const int n = 5000;
	float *a = new float[n], *b = new float[n], *c = new float[n];
	float *da, *db, *dc;
	dim3 grid(2, 3, 2), block(4, 2, 3);
	unsigned int threads = 12 * 24, k = 0;
	uint3 *at = new uint3[threads], *dat;

	for (int i = 0; i < n; i++) {
		a[i] = 0.5f * i;
		b[i] = 3.0f - i;
	}
	OK(cudaMalloc(&da, n * sizeof(float)));
	OK(cudaMalloc(&db, n * sizeof(float)));
	OK(cudaMalloc(&dc, n * sizeof(float)));
	OK(cudaMemcpy(da, a, n * sizeof(float), cudaMemcpyHostToDevice));
	OK(cudaMemcpy(db, b, n * sizeof(float), cudaMemcpyHostToDevice));
	add<<<(n + 255) / 256, 256>>>(da, db, dc, n);
	OK(cudaGetLastError());
	OK(cudaMemcpy(c, dc, n * sizeof(float), cudaMemcpyDeviceToHost));
	for (int i = 0; i < n; i++)
		HOLDS(c[i] == 0.5f * i + (3.0f - i));
	OK(cudaMalloc((void **)&dat, threads * sizeof(uint3)));
	where<<<grid, block>>>(dat);
	OK(cudaDeviceSynchronize());
	OK(cudaMemcpy(at, dat, threads * sizeof(uint3), cudaMemcpyDeviceToHost));
	for (unsigned int bz = 0; bz < 2; bz++)
		for (unsigned int by = 0; by < 3; by++)
			for (unsigned int bx = 0; bx < 2; bx++)
				for (unsigned int t = 0; t < 24; t++, k++)
					HOLDS(at[k].x == bx * 100 + t % 4 && at[k].y == by * 100 + t / 4 % 2 &&
					      at[k].z == bz * 100 + t / 8);
	OK(cudaFree(da));
	OK(cudaFree(db));
	OK(cudaFree(dc));
	OK(cudaFree(dat));
	printf("vecadd: passed\n");
	return 0;
}
