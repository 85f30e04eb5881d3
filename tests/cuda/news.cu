// SPDX-License-Identifier: GPL-2.0
/* new and delete in kernels of a program that includes no header for them, as nvcc has it. */
#include "check.h"

struct pair {
	int a, b;
	__device__ pair(int a) : a(a), b(a + 1) {}
};

__global__ void build(int *out)
{
	int *some = new int[4];
	pair *one = new pair(threadIdx.x);

	some[3] = one->b;
	out[threadIdx.x] = some[3] + one->a;
	delete one;
	delete[] some;
}

int main()
{
	int *out;

	OK(cudaMallocManaged(&out, 32 * sizeof(int)));
	build<<<1, 32>>>(out);
	OK(cudaDeviceSynchronize());
	for (int i = 0; i < 32; i++)
		HOLDS(out[i] == 2 * i + 1);
	printf("news: passed\n");
	return 0;
}
