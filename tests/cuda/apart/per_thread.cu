// SPDX-License-Identifier: GPL-2.0
/*
 * --default-stream per-thread: stream 0 is a stream of each host thread's own, so two threads'
 * kernels run at the same time; cudaStreamLegacy is still everybody's and waits for them.
 */
#include <pthread.h>
#include <unistd.h>

#include "check.h"

#ifndef CUDA_API_PER_THREAD_DEFAULT_STREAM
#error "--default-stream per-thread"
#endif

/* Ends when the host, or another kernel, has written: with one stream for all it never does. */
__global__ void wait(volatile int *flag, int *out)
{
	while (!*flag)
		;
	*out = *flag;
}

__global__ void set(int *flag, int v)
{
	*flag = v;
}

static int *shared;

static void *other(void *arg)
{
	int v;

	/* Behind nothing of the first thread's. */
	set<<<1, 1>>>(shared, 7);
	OK(cudaStreamSynchronize(0));
	OK(cudaMemcpyAsync(&v, shared, sizeof(v), cudaMemcpyDeviceToHost, 0));
	OK(cudaStreamSynchronize(cudaStreamPerThread));
	HOLDS(v == 7);
	return NULL;
}

int main()
{
	pthread_t thread;
	unsigned int flags;
	unsigned long long a, b;
	cudaEvent_t event;
	cudaStream_t stream;
	int *out, v = 0;

	OK(cudaMalloc(&shared, 8));
	OK(cudaMalloc(&out, 4));
	OK(cudaMemset(shared, 0, 8));
	OK(cudaStreamGetId(0, &a));
	OK(cudaStreamGetId(cudaStreamPerThread, &b));
	HOLDS(a == b);
	OK(cudaStreamGetId(cudaStreamLegacy, &b));
	HOLDS(a != b);
	OK(cudaStreamGetFlags(0, &flags));
	HOLDS(flags == 0);
	OK(cudaStreamCreate(&stream));
	OK(cudaStreamDestroy(stream));

	wait<<<1, 1>>>(shared, out);
	OK(cudaEventCreate(&event));
	OK(cudaEventRecord(event));
	HOLDS(!pthread_create(&thread, NULL, other, NULL));
	pthread_join(thread, NULL);
	OK(cudaEventSynchronize(event));
	OK(cudaMemcpy(&v, out, sizeof(v), cudaMemcpyDeviceToHost));
	HOLDS(v == 7);

	/* The stream that all have waits for this thread's, and this thread's for it. */
	set<<<1, 1>>>(shared, 9);
	OK(cudaMemcpyAsync(&v, shared, sizeof(v), cudaMemcpyDeviceToHost, cudaStreamLegacy));
	OK(cudaStreamSynchronize(cudaStreamLegacy));
	HOLDS(v == 9);
	set<<<1, 1, 0, cudaStreamLegacy>>>(shared, 11);
	OK(cudaMemcpy(&v, shared, sizeof(v), cudaMemcpyDeviceToHost));
	HOLDS(v == 11);
	IS(cudaStreamDestroy(cudaStreamPerThread), cudaErrorInvalidResourceHandle);
	OK(cudaDeviceReset());
	OK(cudaMalloc(&shared, 8));
	set<<<1, 1>>>(shared, 5);
	OK(cudaMemcpy(&v, shared, sizeof(v), cudaMemcpyDeviceToHost));
	HOLDS(v == 5);
	printf("per_thread: passed\n");
	return 0;
}
