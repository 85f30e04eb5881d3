// SPDX-License-Identifier: GPL-2.0
/*
 * Eight host threads at once: each allocates, copies, launches in a stream of its own, looks at errors that are its
 * own, and checks what it got. 53-cuda.sh builds it with ThreadSanitizer too.
 */
#include <pthread.h>

#include "check.h"

#define THREADS	8
#define ROUNDS	6

__device__ int total;
__constant__ int factor = 3;

__global__ void work(const int *in, int *out, int n, int add)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		out[i] = in[i] * factor + add;
	if (!i)
		atomicAdd(&total, 1);
}

static void *run(void *arg)
{
	const int id = *(int *)arg, n = 500 + 100 * id;
	int *in, *out, *host = (int *)malloc(n * sizeof(int));
	cudaStream_t stream;
	cudaEvent_t event;

	OK(cudaStreamCreate(&stream));
	OK(cudaEventCreate(&event));
	for (int round = 0; round < ROUNDS; round++) {
		OK(cudaMalloc(&in, n * sizeof(int)));
		OK(cudaMallocManaged(&out, n * sizeof(int)));
		for (int i = 0; i < n; i++)
			host[i] = i + id;
		OK(cudaMemcpyAsync(in, host, n * sizeof(int), cudaMemcpyHostToDevice, stream));
		work<<<(n + 127) / 128, 128, 0, stream>>>(in, out, n, round);
		OK(cudaGetLastError());
		/* A thread's last error is its own. */
		if (id % 2) {
			IS(cudaMemcpy(NULL, host, 4, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
			IS(cudaGetLastError(), cudaErrorInvalidValue);
		}
		OK(cudaEventRecord(event, stream));
		OK(cudaEventSynchronize(event));
		OK(cudaPeekAtLastError());
		for (int i = 0; i < n; i++)
			HOLDS(out[i] == (i + id) * 3 + round);
		OK(cudaFree(in));
		OK(cudaFree(out));
	}
	OK(cudaEventDestroy(event));
	OK(cudaStreamDestroy(stream));
	free(host);
	return NULL;
}

int main()
{
	pthread_t thread[THREADS];
	int id[THREADS], sum;

	for (int i = 0; i < THREADS; i++) {
		id[i] = i;
		HOLDS(!pthread_create(&thread[i], NULL, run, &id[i]));
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	OK(cudaMemcpyFromSymbol(&sum, total, sizeof(sum)));
	HOLDS(sum == THREADS * ROUNDS);
	printf("threads: passed\n");
	return 0;
}
