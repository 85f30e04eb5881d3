// SPDX-License-Identifier: GPL-2.0
/* malloc(), free(), new and delete in kernels, and the limit of the heap. */
#include "check.h"

struct node {
	int value;
	node *next;
};

/* A list a thread, longer in some; counted again by other threads, and freed by them. */
__global__ void build(node **lists)
{
	int me = blockIdx.x * blockDim.x + threadIdx.x;
	node *list = NULL;

	for (int i = 0; i < 1 + me % 7; i++) {
		node *n = (node *)malloc(sizeof(node));

		n->value = me + i;
		n->next = list;
		list = n;
	}
	lists[me] = list;
}

__global__ void drain(node **lists, int *sums)
{
	int me = blockIdx.x * blockDim.x + threadIdx.x;
	int sum = 0;

	for (node *n = lists[me], *next; n; n = next) {
		sum += n->value;
		next = n->next;
		free(n);
	}
	sums[me] = sum;
}

/* Blocks of all sizes do not overlap, and are aligned. */
__global__ void sizes(int *wrong)
{
	int me = threadIdx.x;
	unsigned int bytes = 1 + me * 37;
	unsigned char *block = (unsigned char *)malloc(bytes);

	if (!block || (size_t)block % 16)
		atomicAdd(wrong, 1);
	for (unsigned int i = 0; block && i < bytes; i++)
		block[i] = me;
	__syncthreads();
	for (unsigned int i = 0; block && i < bytes; i++)
		if (block[i] != (unsigned char)me)
			atomicAdd(wrong, 1);
	free(block);
	free(NULL);
}

/* How many blocks of so many bytes there are until the heap is full; all are given back. */
__global__ void fill(int *count, size_t bytes)
{
	void **last = NULL;

	*count = 0;
	for (;;) {
		void **block = (void **)malloc(bytes);

		if (!block)
			break;
		*block = last;
		last = block;
		++*count;
	}
	while (last) {
		void **next = (void **)*last;

		free(last);
		last = next;
	}
}

__global__ void twice()
{
	void *volatile block = malloc(8);

	free(block);
	free(block);
}

int main()
{
	const int threads = 4 * 64;
	int *sums, *count, first;
	node **lists;
	size_t limit;

	OK(cudaDeviceGetLimit(&limit, cudaLimitMallocHeapSize));
	HOLDS(limit == 8 << 20);
	OK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 1 << 20));
	OK(cudaMallocManaged(&sums, threads * sizeof(int)));
	OK(cudaMallocManaged(&lists, threads * sizeof(node *)));
	OK(cudaMallocManaged(&count, sizeof(int)));

	for (int round = 0; round < 3; round++) {
		build<<<4, 64>>>(lists);
		drain<<<4, 64>>>(lists, sums);
		OK(cudaDeviceSynchronize());
		for (int i = 0; i < threads; i++) {
			int n = 1 + i % 7;

			HOLDS(sums[i] == n * i + n * (n - 1) / 2);
		}
	}
	*count = 0;
	sizes<<<1, 128>>>(count);
	OK(cudaDeviceSynchronize());
	HOLDS(*count == 0);

	/* As many as the heap has room for, and again as many when they were freed. */
	fill<<<1, 1>>>(count, 10000);
	OK(cudaDeviceSynchronize());
	first = *count;
	HOLDS(first > 20 && first <= (1 << 20) / 10000);
	fill<<<1, 1>>>(count, 10000);
	OK(cudaDeviceSynchronize());
	HOLDS(*count == first);
	fill<<<1, 1>>>(count, 2 << 20);
	OK(cudaDeviceSynchronize());
	HOLDS(*count == 0);

	IS(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 2 << 20), cudaErrorInvalidValue);
	OK(cudaDeviceGetLimit(&limit, cudaLimitMallocHeapSize));
	HOLDS(limit == 1 << 20);
	twice<<<1, 1>>>();
	IS(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
	printf("heap: passed\n");
	return 0;
}
