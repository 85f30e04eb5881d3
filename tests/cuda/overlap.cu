// SPDX-License-Identifier: GPL-2.0
/*
 * Asynchronous copies: those of pinned memory go beside the kernels and copies of other streams,
 * pageable memory is copied at half the speed and before the call returns.
 */
#include "check.h"

#define WORDS	(1 << 20)
#define BYTES	(WORDS * sizeof(int))

__global__ void add(int *p, int n, int v)
{
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
		p[i] += v;
}

static int *device[2], *pinned[2], *pageable;

/* In and out of each half, in one stream or in two; the time from the first to the last. */
static float round_trips(int streams)
{
	cudaEvent_t begin, end, second;
	cudaStream_t s[2];
	float ms;

	OK(cudaEventCreate(&begin));
	OK(cudaEventCreate(&end));
	OK(cudaEventCreate(&second));
	for (int i = 0; i < streams; i++)
		OK(cudaStreamCreate(&s[i]));
	OK(cudaEventRecord(begin, s[0]));
	for (int i = 0; i < 2; i++) {
		cudaStream_t at = s[i % streams];

		for (int n = 0; n < WORDS; n++)
			pinned[i][n] = n;
		OK(cudaMemcpyAsync(device[i], pinned[i], BYTES, cudaMemcpyHostToDevice, at));
		add<<<15, 256, 0, at>>>(device[i], 65536, 3 + i);
		OK(cudaMemcpyAsync(pinned[i], device[i], BYTES, cudaMemcpyDeviceToHost, at));
		OK(cudaEventRecord(second, at));
	}
	OK(cudaStreamWaitEvent(s[0], second, 0));
	OK(cudaEventRecord(end, s[0]));
	OK(cudaEventSynchronize(end));
	OK(cudaEventElapsedTime(&ms, begin, end));
	for (int i = 0; i < 2; i++)
		for (int n = 0; n < WORDS; n++)
			HOLDS(pinned[i][n] == n + (n < 65536 ? 3 + i : 0));
	for (int i = 0; i < streams; i++)
		OK(cudaStreamDestroy(s[i]));
	return ms;
}

static float one_copy(const int *from, cudaStream_t s)
{
	cudaEvent_t begin, end;
	float ms;

	OK(cudaEventCreate(&begin));
	OK(cudaEventCreate(&end));
	OK(cudaEventRecord(begin, s));
	OK(cudaMemcpyAsync(device[0], from, BYTES, cudaMemcpyHostToDevice, s));
	OK(cudaEventRecord(end, s));
	OK(cudaEventSynchronize(end));
	OK(cudaEventElapsedTime(&ms, begin, end));
	return ms;
}

int main()
{
	float one, two, fast, slow;
	cudaDeviceProp properties;
	cudaStream_t s;
	int engines;

	/* An engine each way; programs ask before they copy asynchronously. */
	OK(cudaGetDeviceProperties(&properties, 0));
	OK(cudaDeviceGetAttribute(&engines, cudaDevAttrAsyncEngineCount, 0));
	HOLDS(engines == 2);
	OK(cudaDeviceGetAttribute(&engines, cudaDevAttrGpuOverlap, 0));
	HOLDS(engines == 1);
#if CUDART_VERSION < 13000
	HOLDS(properties.asyncEngineCount == 2 && properties.deviceOverlap == 1);
#endif
	for (int i = 0; i < 2; i++) {
		OK(cudaMalloc(&device[i], BYTES));
		OK(cudaMallocHost(&pinned[i], BYTES));
	}
	pageable = (int *)malloc(BYTES);
	OK(cudaStreamCreate(&s));
	/* 4 MiB at 16 GB/s are 0.262 ms, at 8 GB/s 0.524. */
	fast = one_copy(pinned[0], s);
	slow = one_copy(pageable, s);
	HOLDS(fast > 0.261f && fast < 0.264f);
	HOLDS(slow > 0.522f && slow < 0.527f);
	/* A pageable source may be used again when the call is back. */
	pageable[5] = 50;
	OK(cudaMemcpyAsync(device[0], pageable, BYTES, cudaMemcpyHostToDevice, s));
	pageable[5] = 51;
	OK(cudaStreamSynchronize(s));
	OK(cudaMemcpy(pinned[0], device[0], BYTES, cudaMemcpyDeviceToHost));
	HOLDS(pinned[0][5] == 50);
	/*
	 * Four copies and two kernels one after the other; in two streams the second stream's copy in
	 * goes beside the first one's kernel and copy out: one copy is hidden, and a kernel.
	 */
	one = round_trips(1);
	two = round_trips(2);
	HOLDS(one > 4 * fast);
	HOLDS(two > 3 * fast && two < one - 0.95f * fast);
	printf("overlap: passed\n");
	return 0;
}
