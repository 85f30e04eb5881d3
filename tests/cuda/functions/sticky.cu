// SPDX-License-Identifier: GPL-2.0
/*
 * A kernel's error: which one it is, that it comes back from the next synchronization and from
 * each call after it that needs the device, and that a reset ends it.
 */
#include <assert.h>

#include "functions.h"

enum harm { NOWHERE, MISALIGNED, ASSERTED, TRAPPED, CODE };

static __global__ void harmful(enum harm harm, char *p)
{
	void (*nothing)(void) = (void (*)(void))p;

	switch (harm) {
	case NOWHERE:
		*(volatile int *)16 = 1;
		break;
	case MISALIGNED:
		*(volatile int *)(p + 1) = 1;
		break;
	case ASSERTED:
		assert(!p);
		break;
	case TRAPPED:
		__trap();
	default:
		nothing();
	}
}

static __global__ void harmless(void)
{
}

static void calls(cudaError_t error, char *p, cudaStream_t stream, cudaEvent_t event)
{
	void *q;
	cudaStream_t new_stream;
	cudaEvent_t new_event;
	cudaPointerAttributes attributes;
	cudaFuncAttributes function;
	size_t free, total;
	char out[4];
	float ms;
	int n;

	GIVES(error, cudaDeviceSynchronize());
#if CUDART_VERSION < 13000
	GIVES(error, cudaThreadSynchronize());
#endif
	GIVES(error, cudaCtxResetPersistingL2Cache());
	GIVES(error, cudaMalloc(&q, 4));
	GIVES(error, cudaMallocManaged(&q, 4));
	GIVES(error, cudaMallocHost(&q, 4));
	GIVES(error, cudaFree(p));
	GIVES(error, cudaMemGetInfo(&free, &total));
	GIVES(error, cudaPointerGetAttributes(&attributes, p));
	GIVES(error, cudaMemcpy(out, p, 4, cudaMemcpyDeviceToHost));
	GIVES(error, cudaMemcpyAsync(out, p, 4, cudaMemcpyDeviceToHost, stream));
	GIVES(error, cudaMemset(p, 0, 4));
	GIVES(error, cudaStreamCreate(&new_stream));
	GIVES(error, cudaStreamSynchronize(stream));
	GIVES(error, cudaStreamQuery(stream));
	GIVES(error, cudaStreamWaitEvent(stream, event, 0));
	GIVES(error, cudaEventCreate(&new_event));
	GIVES(error, cudaEventRecord(event, stream));
	GIVES(error, cudaEventSynchronize(event));
	GIVES(error, cudaEventQuery(event));
	GIVES(error, cudaEventElapsedTime(&ms, event, event));
	GIVES(error, cudaFuncGetAttributes(&function, (const void *)harmless));
	GIVES(error, cudaLaunchKernel((const void *)harmless, dim3(1), dim3(1), (void **)NULL, 0, 0));
	GIVES(error, cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, (const void *)harmless, 32, 0));
	/* Nobody needs the device for these. */
	HOLDS(cudaGetDevice(&n) == cudaSuccess && n == 0);
	HOLDS(cudaRuntimeGetVersion(&n) == cudaSuccess);
	/* It is the last error, however often it is asked for. */
	HOLDS(cudaGetLastError() == error && cudaGetLastError() == error && cudaPeekAtLastError() == error);
}

void sticky(void)
{
	static const struct {
		enum harm harm;
		cudaError_t error;
	} harms[] = {
		{ NOWHERE, cudaErrorIllegalAddress },
		{ MISALIGNED, cudaErrorMisalignedAddress },
		{ ASSERTED, cudaErrorAssert },
		{ TRAPPED, cudaErrorLaunchFailure },
		{ CODE, cudaErrorLaunchFailure },
	};

	for (size_t i = 0; i < sizeof(harms) / sizeof(harms[0]); i++) {
		cudaStream_t stream;
		cudaEvent_t event;
		char *p;

		GIVES(cudaSuccess, cudaMalloc(&p, 64));
		GIVES(cudaSuccess, cudaStreamCreate(&stream));
		GIVES(cudaSuccess, cudaEventCreate(&event));
		harmful<<<1, 1, 0, stream>>>(harms[i].harm, p);
		/* The launch itself went well. */
		HOLDS(cudaGetLastError() == cudaSuccess);
		calls(harms[i].error, p, stream, event);
		GIVES(cudaSuccess, cudaDeviceReset());
		GIVES(cudaSuccess, cudaMalloc(&p, 64));
		harmless<<<1, 1>>>();
		GIVES(cudaSuccess, cudaDeviceSynchronize());
		GIVES(cudaSuccess, cudaFree(p));
	}
}
