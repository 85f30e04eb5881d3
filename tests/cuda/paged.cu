// SPDX-License-Identifier: GPL-2.0
/*
 * Managed memory with all that a program may say of it: 3 MiB, where the device has 2 MiB. Read by all, written by
 * parts, prefetched there and back, advised each way; what the host reads and writes between kernels counts.
 */
#include "check.h"

const int n = 384 << 10;	/* two arrays of 1.5 MiB */

__managed__ int rounds;

__global__ void step(const int *from, int *to, int n)
{
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
		to[i] = from[i] + from[(i + 1) % n];
	if (!blockIdx.x && !threadIdx.x)
		rounds++;
}

#if CUDART_VERSION >= 13000
static cudaMemLocation where(int device)
{
	cudaMemLocation l = { device < 0 ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice, device < 0 ? 0 : device };

	return l;
}
#define ADVISE(p, bytes, advice, device)	cudaMemAdvise(p, bytes, advice, where(device))
#define PREFETCH(p, bytes, device)		cudaMemPrefetchAsync(p, bytes, where(device), 0, 0)
#else
#define ADVISE(p, bytes, advice, device)	cudaMemAdvise(p, bytes, advice, device)
#define PREFETCH(p, bytes, device)		cudaMemPrefetchAsync(p, bytes, device, 0)
#endif

int main()
{
	const size_t bytes = n * sizeof(int);
	int *a, *b, *expected = (int *)malloc(bytes), *next = (int *)malloc(bytes);

	OK(cudaMallocManaged(&a, bytes));
	OK(cudaMallocManaged(&b, bytes));
	for (int i = 0; i < n; i++)
		a[i] = expected[i] = i % 1000;
	OK(ADVISE(a, bytes / 2, cudaMemAdviseSetReadMostly, 0));
	OK(ADVISE(b, bytes / 4, cudaMemAdviseSetPreferredLocation, cudaCpuDeviceId));
	OK(ADVISE(b + n / 4, bytes / 4, cudaMemAdviseSetPreferredLocation, 0));
	OK(ADVISE(b + n / 2, bytes / 4, cudaMemAdviseSetAccessedBy, 0));
	OK(PREFETCH(a, bytes / 2, 0));
	for (int round = 0; round < 4; round++) {
		int *from = round % 2 ? b : a, *to = round % 2 ? a : b;

		step<<<8, 128>>>(from, to, n);
		if (round == 1)
			OK(PREFETCH(to, bytes, cudaCpuDeviceId));
		OK(cudaDeviceSynchronize());
		HOLDS(rounds == round + 1);
		for (int i = 0; i < n; i++)
			next[i] = expected[i] + expected[(i + 1) % n];
		for (int i = 0; i < n; i++) {
			expected[i] = next[i];
			HOLDS(to[i] == expected[i]);
		}
		/* The host writes where duplicates and pages of the device are. */
		to[round * 1000] += 7;
		expected[round * 1000] += 7;
		if (round == 2)
			OK(ADVISE(a, bytes / 2, cudaMemAdviseUnsetReadMostly, 0));
	}
	OK(cudaFree(a));
	OK(cudaFree(b));
	printf("paged: passed\n");
	return 0;
}
