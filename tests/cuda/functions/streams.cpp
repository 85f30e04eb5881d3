// SPDX-License-Identifier: GPL-2.0
/* Streams, and functions of the host in them. */
#include "functions.h"

static int called;
static cudaError_t told;

static void function(void *arg)
{
	called += *(int *)arg;
}

static void callback(cudaStream_t stream, cudaError_t status, void *arg)
{
	called += *(int *)arg;
	told = status;
}

static void made(cudaStream_t *stream)
{
	cudaStream_t other;
	unsigned int flags = 7;
	int priority = 7;

	GIVES(cudaSuccess, cudaStreamCreate(stream));
	GIVES(cudaErrorInvalidValue, cudaStreamCreate(NULL));
	GIVES(cudaSuccess, cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
	GIVES(cudaErrorInvalidValue, cudaStreamCreateWithFlags(&other, 0x40));
	GIVES(cudaErrorInvalidValue, cudaStreamCreateWithFlags(NULL, 0));
	GIVES(cudaSuccess, cudaStreamGetFlags(other, &flags));
	HOLDS(flags == cudaStreamNonBlocking);
	GIVES(cudaErrorInvalidValue, cudaStreamGetFlags(other, NULL));
	GIVES(cudaErrorInvalidResourceHandle, cudaStreamGetFlags(NO_STREAM, &flags));
	GIVES(cudaSuccess, cudaStreamDestroy(other));
	GIVES(cudaErrorInvalidResourceHandle, cudaStreamDestroy(NO_STREAM));
	GIVES(cudaErrorInvalidResourceHandle, cudaStreamDestroy(0));
	/* A priority out of the range is the nearest in it. */
	GIVES(cudaSuccess, cudaStreamCreateWithPriority(&other, 0, -5));
	GIVES(cudaErrorInvalidValue, cudaStreamCreateWithPriority(&other, 0x40, 0));
	GIVES(cudaErrorInvalidValue, cudaStreamCreateWithPriority(NULL, 0, 0));
	GIVES(cudaSuccess, cudaStreamGetPriority(other, &priority));
	HOLDS(priority == 0);
	GIVES(cudaErrorInvalidValue, cudaStreamGetPriority(other, NULL));
	GIVES(cudaErrorInvalidResourceHandle, cudaStreamGetPriority(NO_STREAM, &priority));
	GIVES(cudaSuccess, cudaStreamDestroy(other));
}

static void asked(cudaStream_t stream)
{
	unsigned long long id, other;
	cudaStreamCaptureStatus status;
	int device = 7;

	GIVES(cudaSuccess, cudaStreamGetId(stream, &id));
	GIVES(cudaSuccess, cudaStreamGetId(0, &other));
	HOLDS(id != other);
	GIVES(cudaErrorInvalidValue, cudaStreamGetId(stream, NULL));
	GIVES(cudaErrorInvalidResourceHandle, cudaStreamGetId(NO_STREAM, &id));
	GIVES(cudaSuccess, cudaStreamIsCapturing(stream, &status));
	HOLDS(status == cudaStreamCaptureStatusNone);
	GIVES(cudaErrorInvalidValue, cudaStreamIsCapturing(stream, NULL));
	GIVES(cudaErrorInvalidResourceHandle, cudaStreamIsCapturing(NO_STREAM, &status));
	GIVES(cudaSuccess, cudaStreamGetDevice(stream, &device));
	HOLDS(device == 0);
	GIVES(cudaErrorInvalidValue, cudaStreamGetDevice(stream, NULL));
	GIVES(cudaErrorInvalidResourceHandle, cudaStreamGetDevice(NO_STREAM, &device));
	GIVES(cudaSuccess, cudaStreamQuery(stream));
	GIVES(cudaErrorInvalidResourceHandle, cudaStreamQuery(NO_STREAM));
	GIVES(cudaSuccess, cudaStreamSynchronize(stream));
	GIVES(cudaSuccess, cudaStreamSynchronize(cudaStreamLegacy));
	GIVES(cudaSuccess, cudaStreamSynchronize(cudaStreamPerThread));
	GIVES(cudaErrorInvalidResourceHandle, cudaStreamSynchronize(NO_STREAM));
}

static void attributes(cudaStream_t stream)
{
	cudaStreamAttrValue value, found;
	cudaStreamAttrID window = cudaStreamAttributeAccessPolicyWindow;
	cudaStreamAttrID policy = cudaStreamAttributeSynchronizationPolicy;

	memset(&value, 0, sizeof(value));
	value.accessPolicyWindow.hitRatio = 0.5f;
	value.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
	GIVES(cudaSuccess, cudaStreamSetAttribute(stream, window, &value));
	GIVES(cudaErrorInvalidValue, cudaStreamSetAttribute(stream, window, NULL));
	GIVES(cudaErrorInvalidValue, cudaStreamSetAttribute(stream, (cudaStreamAttrID)77, &value));
	GIVES(cudaErrorInvalidResourceHandle, cudaStreamSetAttribute(NO_STREAM, window, &value));
	value.accessPolicyWindow.hitRatio = 2;
	GIVES(cudaErrorInvalidValue, cudaStreamSetAttribute(stream, window, &value));
	value.syncPolicy = cudaSyncPolicyYield;
	GIVES(cudaSuccess, cudaStreamSetAttribute(stream, policy, &value));
	GIVES(cudaSuccess, cudaStreamGetAttribute(stream, window, &found));
	HOLDS(found.accessPolicyWindow.hitRatio == 0.5f);
	GIVES(cudaErrorInvalidValue, cudaStreamGetAttribute(stream, window, NULL));
	GIVES(cudaErrorInvalidResourceHandle, cudaStreamGetAttribute(NO_STREAM, window, &found));
	GIVES(cudaSuccess, cudaStreamGetAttribute(0, policy, &found));
	HOLDS(found.syncPolicy == cudaSyncPolicyAuto);
	GIVES(cudaSuccess, cudaStreamCopyAttributes(0, stream));
	GIVES(cudaErrorInvalidResourceHandle, cudaStreamCopyAttributes(NO_STREAM, stream));
	GIVES(cudaSuccess, cudaStreamGetAttribute(0, policy, &found));
	HOLDS(found.syncPolicy == cudaSyncPolicyYield);
}

static void given(cudaStream_t stream)
{
	cudaEvent_t event;
	int one = 1;

	GIVES(cudaSuccess, cudaEventCreate(&event));
	GIVES(cudaSuccess, cudaStreamWaitEvent(stream, event, 0));
	GIVES(cudaErrorInvalidResourceHandle, cudaStreamWaitEvent(stream, NO_EVENT, 0));
	GIVES(cudaErrorInvalidResourceHandle, cudaStreamWaitEvent(NO_STREAM, event, 0));
	GIVES(cudaErrorInvalidValue, cudaStreamWaitEvent(stream, event, 0x40));
	GIVES(cudaSuccess, cudaEventDestroy(event));
	GIVES(cudaSuccess, cudaLaunchHostFunc(stream, function, &one));
	GIVES(cudaErrorInvalidValue, cudaLaunchHostFunc(stream, NULL, &one));
	GIVES(cudaErrorInvalidResourceHandle, cudaLaunchHostFunc(NO_STREAM, function, &one));
	GIVES(cudaSuccess, cudaStreamSynchronize(stream));
	HOLDS(called == 1);
	GIVES(cudaSuccess, cudaStreamAddCallback(stream, callback, &one, 0));
	GIVES(cudaErrorInvalidValue, cudaStreamAddCallback(stream, NULL, &one, 0));
	GIVES(cudaErrorInvalidValue, cudaStreamAddCallback(stream, callback, &one, 1));
	GIVES(cudaErrorInvalidResourceHandle, cudaStreamAddCallback(NO_STREAM, callback, &one, 0));
	GIVES(cudaSuccess, cudaStreamSynchronize(stream));
	HOLDS(called == 2 && told == cudaSuccess);
}

void streams(void)
{
	cudaStream_t stream;

	made(&stream);
	asked(stream);
	attributes(stream);
	given(stream);
	GIVES(cudaSuccess, cudaStreamDestroy(stream));
	GIVES(cudaErrorInvalidResourceHandle, cudaStreamDestroy(stream));
}
