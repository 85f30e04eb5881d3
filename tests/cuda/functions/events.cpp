// SPDX-License-Identifier: GPL-2.0
/* Events. */
#include "functions.h"

void events(void)
{
	cudaEvent_t a, b, untimed;
	float ms = -1;

	GIVES(cudaSuccess, cudaEventCreate(&a));
	GIVES(cudaErrorInvalidValue, cudaEventCreate(NULL));
	GIVES(cudaSuccess, cudaEventCreateWithFlags(&b, cudaEventBlockingSync));
	GIVES(cudaErrorInvalidValue, cudaEventCreateWithFlags(NULL, 0));
	GIVES(cudaErrorInvalidValue, cudaEventCreateWithFlags(&untimed, 0x40));
	/* Other processes can have no times. */
	GIVES(cudaErrorInvalidValue, cudaEventCreateWithFlags(&untimed, cudaEventInterprocess));
	GIVES(cudaSuccess, cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
	/* One that was never recorded is reached, and has no time. */
	GIVES(cudaSuccess, cudaEventQuery(a));
	GIVES(cudaSuccess, cudaEventSynchronize(a));
	GIVES(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&ms, a, b));
	GIVES(cudaErrorInvalidResourceHandle, cudaEventQuery(NO_EVENT));
	GIVES(cudaErrorInvalidResourceHandle, cudaEventSynchronize(NO_EVENT));
	GIVES(cudaSuccess, cudaEventRecord(a, 0));
	GIVES(cudaErrorInvalidResourceHandle, cudaEventRecord(NO_EVENT, 0));
	GIVES(cudaErrorInvalidResourceHandle, cudaEventRecord(a, NO_STREAM));
	GIVES(cudaSuccess, cudaEventRecordWithFlags(b, 0, cudaEventRecordDefault));
	GIVES(cudaErrorInvalidValue, cudaEventRecordWithFlags(b, 0, 0x40));
	GIVES(cudaErrorInvalidResourceHandle, cudaEventRecordWithFlags(NO_EVENT, 0, 0));
	GIVES(cudaSuccess, cudaEventRecord(untimed, 0));
	GIVES(cudaSuccess, cudaEventSynchronize(untimed));
	GIVES(cudaSuccess, cudaEventElapsedTime(&ms, a, b));
	HOLDS(ms >= 0);
	GIVES(cudaErrorInvalidValue, cudaEventElapsedTime(NULL, a, b));
	GIVES(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&ms, a, untimed));
	GIVES(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&ms, NO_EVENT, b));
	GIVES(cudaSuccess, cudaEventDestroy(a));
	GIVES(cudaErrorInvalidResourceHandle, cudaEventDestroy(a));
	GIVES(cudaErrorInvalidResourceHandle, cudaEventDestroy(NO_EVENT));
	GIVES(cudaSuccess, cudaEventDestroy(b));
	GIVES(cudaSuccess, cudaEventDestroy(untimed));
}
