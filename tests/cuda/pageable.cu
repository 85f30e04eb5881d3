// SPDX-License-Identifier: GPL-2.0
/* Kernels use memory that the host has from malloc(), from its stack, and in its variables. */
#include "check.h"

#include <cstdlib>

#define N 20000

static int variable[N];

__global__ void add(const int *a, const int *b, int *c, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		c[i] = a[i] + b[i];
}

int main()
{
	int *heap = (int *)malloc(N * sizeof(int)), stack[N], can = 0;
	cudaDeviceProp prop;

	OK(cudaDeviceGetAttribute(&can, cudaDevAttrPageableMemoryAccess, 0));
	OK(cudaGetDeviceProperties(&prop, 0));
	HOLDS(can == 1 && prop.pageableMemoryAccess == 1);
	for (int i = 0; i < N; i++) {
		heap[i] = i;
		variable[i] = 2 * i;
		stack[i] = -1;
	}
	add<<<(N + 255) / 256, 256>>>(heap, variable, stack, N);
	OK(cudaDeviceSynchronize());
	for (int i = 0; i < N; i++)
		HOLDS(stack[i] == 3 * i);
	OK(cudaMemPrefetchAsync(heap, N * sizeof(int), 0, 0));
	add<<<(N + 255) / 256, 256>>>(heap, heap, heap, N);
	OK(cudaDeviceSynchronize());
	HOLDS(heap[N - 1] == 2 * (N - 1));
	free(heap);
	printf("pageable: passed\n");
	return 0;
}
