// SPDX-License-Identifier: GPL-2.0
/* Streams run side by side, events order and time them, host functions are called in their turn. */
#include "check.h"

__global__ void spin(int *p, int rounds)
{
	int v = threadIdx.x;

	for (int i = 0; i < rounds; i++)
		v = v * 3 + i;
	p[threadIdx.x] = v;
}

__global__ void copy(const int *from, int *to)
{
	to[threadIdx.x] = from[threadIdx.x];
}

static void count(void *arg)
{
	++*(int *)arg;
}

static void called(cudaStream_t stream, cudaError_t status, void *arg)
{
	*(int *)arg += status == cudaSuccess ? 10 : 1000;
}

static float run(int streams, int *p)
{
	cudaStream_t s[4];
	cudaEvent_t begin, end, done[4];
	float ms;

	OK(cudaEventCreate(&begin));
	OK(cudaEventCreate(&end));
	OK(cudaEventRecord(begin));
	for (int i = 0; i < 4; i++) {
		if (i < streams)
			OK(cudaStreamCreate(&s[i]));
		OK(cudaEventCreateWithFlags(&done[i], cudaEventDisableTiming));
		spin<<<1, 64, 0, s[i % streams]>>>(p + 64 * i, 300);
		OK(cudaEventRecord(done[i], s[i % streams]));
		OK(cudaStreamWaitEvent(s[0], done[i], 0));
	}
	OK(cudaEventRecord(end, s[0]));
	OK(cudaEventSynchronize(end));
	OK(cudaEventQuery(end));
	OK(cudaEventElapsedTime(&ms, begin, end));
	for (int i = 0; i < streams; i++)
		OK(cudaStreamDestroy(s[i]));
	OK(cudaEventDestroy(begin));
	OK(cudaEventDestroy(end));
	return ms;
}

int main()
{
	float one, four, ms;
	cudaStream_t s, other;
	cudaEvent_t e, f;
	int *p, n = 0;

	OK(cudaMallocManaged(&p, 256 * sizeof(int)));
	spin<<<1, 64>>>(p, 1);
	OK(cudaDeviceSynchronize());
	one = run(1, p);
	four = run(4, p);
	HOLDS(four > 0 && one > 2 * four);
	/* The copy is over long before the kernel of the other stream writes, unless it waits. */
	OK(cudaStreamCreate(&s));
	OK(cudaStreamCreate(&other));
	OK(cudaEventCreate(&e));
	OK(cudaMemset(p, 0, 256 * sizeof(int)));
	spin<<<1, 64, 0, other>>>(p, 300);
	OK(cudaEventRecord(e, other));
	OK(cudaStreamWaitEvent(s, e, 0));
	copy<<<1, 64, 0, s>>>(p, p + 64);
	OK(cudaDeviceSynchronize());
	for (int i = 0; i < 64; i++)
		HOLDS(p[i] != 0 && p[64 + i] == p[i]);
	OK(cudaEventDestroy(e));
	OK(cudaStreamDestroy(s));
	OK(cudaStreamDestroy(other));
	OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
	spin<<<1, 64, 0, s>>>(p, 300);
	IS(cudaStreamQuery(s), cudaErrorNotReady);
	OK(cudaLaunchHostFunc(s, count, &n));
	OK(cudaStreamAddCallback(s, called, &n, 0));
	OK(cudaStreamSynchronize(s));
	HOLDS(n == 11);
	OK(cudaStreamQuery(s));
	OK(cudaEventCreate(&e));
	OK(cudaEventCreateWithFlags(&f, cudaEventDisableTiming));
	IS(cudaEventElapsedTime(&ms, e, e), cudaErrorInvalidResourceHandle);
	OK(cudaEventRecord(e, s));
	OK(cudaEventRecord(f, s));
	IS(cudaEventElapsedTime(&ms, e, f), cudaErrorInvalidResourceHandle);
	OK(cudaStreamDestroy(s));
	IS(cudaStreamSynchronize(s), cudaErrorInvalidResourceHandle);
	printf("streams: passed\n");
	return 0;
}
