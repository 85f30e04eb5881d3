// SPDX-License-Identifier: GPL-2.0
/* cudaLimitStackSize: what recursion has in the launches that follow, also of a kernel that ran before. */
#include "check.h"

__device__ __noinline__ int down(int n, int *keep)
{
	int here[8];

	for (int i = 0; i < 8; i++)
		here[i] = n * i + keep[i];
	return n ? down(n - 1, here) + here[n % 8] % 7 : here[3] % 5;
}

__global__ void recurse(int *out, int n)
{
	int keep[8] = { 1, 2, 3, 4, 5, 6, 7, (int)threadIdx.x };

	out[threadIdx.x] = down(n, keep);
}

static int on_host(int n, const int *keep)
{
	int here[8];

	for (int i = 0; i < 8; i++)
		here[i] = n * i + keep[i];
	return n ? on_host(n - 1, here) + here[n % 8] % 7 : here[3] % 5;
}

static void check(int *out, int n)
{
	for (int t = 0; t < 64; t++) {
		int keep[8] = { 1, 2, 3, 4, 5, 6, 7, t };

		HOLDS(out[t] == on_host(n, keep));
	}
}

int main()
{
	size_t bytes;
	int *out;

	OK(cudaMallocManaged(&out, 64 * sizeof(int)));
	OK(cudaDeviceGetLimit(&bytes, cudaLimitStackSize));
	HOLDS(bytes == 1024);
	recurse<<<1, 64>>>(out, 5);
	OK(cudaDeviceSynchronize());
	check(out, 5);

	OK(cudaDeviceSetLimit(cudaLimitStackSize, 32 << 10));
	OK(cudaDeviceGetLimit(&bytes, cudaLimitStackSize));
	HOLDS(bytes >= 32 << 10);
	recurse<<<2, 64>>>(out, 250);
	OK(cudaDeviceSynchronize());
	check(out, 250);

	/* Two sizes on their way at a time. */
	recurse<<<1, 64>>>(out, 200);
	OK(cudaDeviceSetLimit(cudaLimitStackSize, 256 << 10));
	recurse<<<1, 64>>>(out, 1500);
	OK(cudaDeviceSynchronize());
	check(out, 1500);
	IS(cudaDeviceSetLimit(cudaLimitStackSize, 1 << 30), cudaErrorInvalidValue);
	OK(cudaDeviceGetLimit(&bytes, cudaLimitStackSize));
	HOLDS(bytes == 256 << 10);

	/* Less again: too little is an error, and it does not crash. */
	OK(cudaDeviceSetLimit(cudaLimitStackSize, 1024));
	recurse<<<1, 64>>>(out, 1500);
	HOLDS(cudaDeviceSynchronize() != cudaSuccess);
	OK(cudaDeviceReset());
	OK(cudaDeviceGetLimit(&bytes, cudaLimitStackSize));
	HOLDS(bytes == 1024);
	printf("deep: passed\n");
	return 0;
}
