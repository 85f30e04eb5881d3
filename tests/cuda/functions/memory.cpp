// SPDX-License-Identifier: GPL-2.0
/* Memory: allocations of every kind, what is known of a pointer, advice and prefetches. */
#include <stdlib.h>

#include "functions.h"

#define HUGE ((size_t)1 << 46)

static void on_the_device(void)
{
	char *p, *q, local;
	cudaPitchedPtr box;
	size_t pitch, free, total, left;

	GIVES(cudaSuccess, cudaMalloc(&p, 100));
	HOLDS((size_t)p % 256 == 0);
	GIVES(cudaErrorInvalidValue, cudaMalloc((void **)NULL, 100));
	GIVES(cudaErrorMemoryAllocation, cudaMalloc(&q, HUGE));
	GIVES(cudaSuccess, cudaMalloc(&q, 0));
	HOLDS(q == NULL);
	GIVES(cudaErrorInvalidValue, cudaFree(p + 8));
	GIVES(cudaErrorInvalidValue, cudaFree(&local));
	GIVES(cudaSuccess, cudaFree(p));
	GIVES(cudaErrorInvalidValue, cudaFree(p));
	GIVES(cudaSuccess, cudaFree(NULL));

	GIVES(cudaSuccess, cudaMallocPitch(&p, &pitch, 100, 3));
	HOLDS(pitch >= 100 && pitch % 32 == 0);
	GIVES(cudaSuccess, cudaFree(p));
	GIVES(cudaErrorInvalidValue, cudaMallocPitch((void **)NULL, &pitch, 100, 3));
	GIVES(cudaErrorInvalidValue, cudaMallocPitch(&p, NULL, 100, 3));
	GIVES(cudaErrorMemoryAllocation, cudaMallocPitch(&p, &pitch, HUGE, HUGE));
	GIVES(cudaSuccess, cudaMalloc3D(&box, make_cudaExtent(10, 3, 2)));
	HOLDS(box.xsize == 10 && box.ysize == 3 && box.pitch >= 10);
	GIVES(cudaSuccess, cudaFree(box.ptr));
	GIVES(cudaErrorInvalidValue, cudaMalloc3D(NULL, make_cudaExtent(10, 3, 2)));
	GIVES(cudaErrorMemoryAllocation, cudaMalloc3D(&box, make_cudaExtent(HUGE, 3, 2)));

	GIVES(cudaSuccess, cudaMemGetInfo(&free, &total));
	HOLDS(free <= total && total > 0);
	GIVES(cudaErrorInvalidValue, cudaMemGetInfo(NULL, &total));
	GIVES(cudaErrorInvalidValue, cudaMemGetInfo(&free, NULL));
	GIVES(cudaSuccess, cudaMallocAsync(&p, 8 << 20, 0));
	GIVES(cudaSuccess, cudaMemGetInfo(&left, &total));
	HOLDS(left + (8 << 20) <= free);
	GIVES(cudaErrorInvalidValue, cudaMallocAsync((void **)NULL, 100, 0));
	GIVES(cudaErrorMemoryAllocation, cudaMallocAsync(&q, HUGE, 0));
	GIVES(cudaErrorInvalidResourceHandle, cudaMallocAsync(&q, 100, NO_STREAM));
	GIVES(cudaErrorInvalidResourceHandle, cudaFreeAsync(p, NO_STREAM));
	GIVES(cudaSuccess, cudaFreeAsync(p, 0));
	GIVES(cudaErrorInvalidValue, cudaFreeAsync(p, 0));
}

static void on_the_host(void)
{
	unsigned int flags;
	char *p, *q, *own;
	void *d;

	GIVES(cudaSuccess, cudaMallocHost(&p, 100));
	GIVES(cudaErrorInvalidValue, cudaMallocHost((void **)NULL, 100));
	GIVES(cudaErrorMemoryAllocation, cudaMallocHost(&q, HUGE));
	GIVES(cudaErrorInvalidValue, cudaFree(p));
	GIVES(cudaSuccess, cudaFreeHost(p));
	GIVES(cudaErrorInvalidValue, cudaFreeHost(p));
	GIVES(cudaSuccess, cudaFreeHost(NULL));
	GIVES(cudaSuccess, cudaHostAlloc(&q, 0, 0));
	HOLDS(q == NULL);
	GIVES(cudaSuccess, cudaHostAlloc(&p, 100, cudaHostAllocPortable | cudaHostAllocWriteCombined));
	GIVES(cudaErrorInvalidValue, cudaHostAlloc((void **)NULL, 100, 0));
	GIVES(cudaErrorInvalidValue, cudaHostAlloc(&q, 100, 0x40));
	GIVES(cudaErrorMemoryAllocation, cudaHostAlloc(&q, HUGE, 0));
	GIVES(cudaSuccess, cudaHostGetFlags(&flags, p));
	HOLDS(flags & cudaHostAllocWriteCombined && flags & cudaHostAllocPortable);
	GIVES(cudaErrorInvalidValue, cudaHostGetFlags(NULL, p));
	GIVES(cudaErrorInvalidValue, cudaHostGetFlags(&flags, &flags));
	GIVES(cudaSuccess, cudaHostGetDevicePointer(&d, p, 0));
	HOLDS(d == p);
	GIVES(cudaErrorInvalidValue, cudaHostGetDevicePointer(&d, p, 1));
	GIVES(cudaErrorInvalidValue, cudaHostGetDevicePointer(&d, &flags, 0));
	GIVES(cudaErrorInvalidValue, cudaHostGetDevicePointer((void **)NULL, p, 0));
	GIVES(cudaSuccess, cudaMalloc(&q, 4));
	GIVES(cudaErrorInvalidValue, cudaHostGetDevicePointer(&d, q, 0));
	GIVES(cudaErrorInvalidValue, cudaFreeHost(q));
	GIVES(cudaSuccess, cudaFree(q));
	GIVES(cudaSuccess, cudaFreeHost(p));

	own = (char *)calloc(1, 10000);
	GIVES(cudaSuccess, cudaHostRegister(own, 10000, cudaHostRegisterMapped));
	GIVES(cudaErrorHostMemoryAlreadyRegistered, cudaHostRegister(own, 10000, 0));
	GIVES(cudaErrorInvalidValue, cudaHostRegister(NULL, 10000, 0));
	GIVES(cudaErrorInvalidValue, cudaHostRegister(own, 0, 0));
	GIVES(cudaErrorInvalidValue, cudaHostRegister(own, 10000, 0x80));
	GIVES(cudaErrorHostMemoryNotRegistered, cudaHostUnregister(own + 1));
	GIVES(cudaErrorInvalidValue, cudaFreeHost(own));
	GIVES(cudaSuccess, cudaHostUnregister(own));
	GIVES(cudaErrorHostMemoryNotRegistered, cudaHostUnregister(own));
	GIVES(cudaErrorInvalidValue, cudaHostUnregister(NULL));
	free(own);
}

static void pointers(void)
{
	cudaPointerAttributes a;
	char *p;

	GIVES(cudaSuccess, cudaMalloc(&p, 1000));
	GIVES(cudaSuccess, cudaPointerGetAttributes(&a, p + 5));
	HOLDS(a.type == cudaMemoryTypeDevice && a.devicePointer == p + 5 && !a.hostPointer);
	GIVES(cudaErrorInvalidValue, cudaPointerGetAttributes(NULL, p));
	GIVES(cudaSuccess, cudaFree(p));
	GIVES(cudaSuccess, cudaMallocHost(&p, 1000));
	GIVES(cudaSuccess, cudaPointerGetAttributes(&a, p));
	HOLDS(a.type == cudaMemoryTypeHost && a.devicePointer == p && a.hostPointer == p);
	GIVES(cudaSuccess, cudaFreeHost(p));
	GIVES(cudaSuccess, cudaPointerGetAttributes(&a, &p));
	HOLDS(a.type == cudaMemoryTypeUnregistered && !a.devicePointer);
}

#if CUDART_VERSION >= 13000
/* CUDA 12's signatures, whose functions CUDA 13 has by others. */
static cudaMemLocation at(int device)
{
	cudaMemLocation l = { device < 0 ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice,
			      device < 0 ? 0 : device };

	return l;
}

static cudaError_t cudaMemPrefetchAsync(const void *ptr, size_t bytes, int device, cudaStream_t stream)
{
	return cudaMemPrefetchAsync(ptr, bytes, at(device), 0, stream);
}

static cudaError_t cudaMemAdvise(const void *ptr, size_t bytes, cudaMemoryAdvise advice, int device)
{
	return cudaMemAdvise(ptr, bytes, advice, at(device));
}
#endif

/* The signatures of CUDA 13, which CUDA 12 has by other names. */
static void located(char *p)
{
	cudaMemLocation here = { cudaMemLocationTypeDevice, 0 }, nowhere = { cudaMemLocationTypeInvalid, 0 };
	cudaMemLocation home = { cudaMemLocationTypeHost, 0 };

#if CUDART_VERSION >= 13000
#define cudaMemPrefetchAsync_v2 cudaMemPrefetchAsync
#define cudaMemAdvise_v2	cudaMemAdvise
#endif
	GIVES(cudaSuccess, cudaMemPrefetchAsync_v2(p, 1000, here, 0, 0));
	GIVES(cudaSuccess, cudaMemPrefetchAsync_v2(p, 1000, home, 0, 0));
	GIVES(cudaErrorInvalidValue, cudaMemPrefetchAsync_v2(p, 1000, here, 1, 0));
	GIVES(cudaErrorInvalidDevice, cudaMemPrefetchAsync_v2(p, 1000, nowhere, 0, 0));
	GIVES(cudaSuccess, cudaMemAdvise_v2(p, 1000, cudaMemAdviseSetPreferredLocation, home));
	GIVES(cudaErrorInvalidDevice, cudaMemAdvise_v2(p, 1000, cudaMemAdviseSetPreferredLocation, nowhere));
}

static void managed(void)
{
	cudaStream_t stream;
	char *p, *q, *d;

	GIVES(cudaSuccess, cudaMallocManaged(&p, 10000));
	GIVES(cudaErrorInvalidValue, cudaMallocManaged((void **)NULL, 100));
	GIVES(cudaErrorInvalidValue, cudaMallocManaged(&q, 0));
	GIVES(cudaErrorInvalidValue, cudaMallocManaged(&q, 100, 0));
	GIVES(cudaErrorInvalidValue, cudaMallocManaged(&q, 100, cudaMemAttachGlobal | cudaMemAttachHost));
	GIVES(cudaErrorMemoryAllocation, cudaMallocManaged(&q, HUGE));
	GIVES(cudaSuccess, cudaMalloc(&d, 10000));

	GIVES(cudaSuccess, cudaMemPrefetchAsync(p, 10000, 0, 0));
	GIVES(cudaSuccess, cudaMemPrefetchAsync(p, 10000, cudaCpuDeviceId, 0));
	GIVES(cudaErrorInvalidValue, cudaMemPrefetchAsync(p, 0, 0, 0));
	GIVES(cudaErrorInvalidValue, cudaMemPrefetchAsync((char *)NULL, 10, 0, 0));
	GIVES(cudaErrorInvalidValue, cudaMemPrefetchAsync(d, 10000, 0, 0));
	GIVES(cudaErrorInvalidDevice, cudaMemPrefetchAsync(p, 10000, 5, 0));
	GIVES(cudaErrorInvalidResourceHandle, cudaMemPrefetchAsync(p, 10000, 0, NO_STREAM));
	GIVES(cudaSuccess, cudaMemAdvise(p, 10000, cudaMemAdviseSetReadMostly, 0));
	GIVES(cudaSuccess, cudaMemAdvise(p, 10000, cudaMemAdviseUnsetReadMostly, 0));
	GIVES(cudaErrorInvalidValue, cudaMemAdvise(p, 0, cudaMemAdviseSetReadMostly, 0));
	GIVES(cudaErrorInvalidValue, cudaMemAdvise(p, 10000, (cudaMemoryAdvise)77, 0));
	GIVES(cudaErrorInvalidValue, cudaMemAdvise(d, 10000, cudaMemAdviseSetReadMostly, 0));
	GIVES(cudaErrorInvalidDevice, cudaMemAdvise(p, 10000, cudaMemAdviseSetAccessedBy, 5));
	located(p);

	GIVES(cudaSuccess, cudaStreamCreate(&stream));
	GIVES(cudaSuccess, cudaStreamAttachMemAsync(stream, p, 0, cudaMemAttachSingle));
	GIVES(cudaSuccess, cudaStreamAttachMemAsync(stream, p, 10000, cudaMemAttachHost));
	GIVES(cudaSuccess, cudaStreamAttachMemAsync(0, p, 0, cudaMemAttachGlobal));
	GIVES(cudaErrorInvalidValue, cudaStreamAttachMemAsync(stream, p, 0, 0x40));
	GIVES(cudaErrorInvalidValue, cudaStreamAttachMemAsync(stream, p, 100, cudaMemAttachSingle));
	GIVES(cudaErrorInvalidValue, cudaStreamAttachMemAsync(0, p, 0, cudaMemAttachSingle));
	GIVES(cudaErrorInvalidValue, cudaStreamAttachMemAsync(stream, d, 0, cudaMemAttachSingle));
	GIVES(cudaErrorInvalidResourceHandle, cudaStreamAttachMemAsync(NO_STREAM, p, 0, cudaMemAttachSingle));
	GIVES(cudaSuccess, cudaStreamDestroy(stream));
	GIVES(cudaSuccess, cudaFree(p));
	GIVES(cudaSuccess, cudaFree(d));
}

void memory(void)
{
	on_the_device();
	on_the_host();
	pointers();
	managed();
}
