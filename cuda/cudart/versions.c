// SPDX-License-Identifier: GPL-2.0
/*
 * The differences between the sonames 11.0, 12 and 13: built once for each, with CUDART_MAJOR. A
 * structure has lost members, and two functions take a location instead of a device's number.
 */
#include <stddef.h>
#include <string.h>

#include "cudart.h"

void device_properties(struct cudaDeviceProp *p);

#define BYTES_11	offsetof(struct cudaDeviceProp, hostRegisterSupported)

static cudaError_t get_properties(void *prop, int device, struct cudaDeviceProp *all)
{
	cudaError_t error = enter();

	if (!error && !prop)
		error = cudaErrorInvalidValue;
	if (!error && device)
		error = cudaErrorInvalidDevice;
	if (!error)
		device_properties(all);
	return leave(error);
}

API cudaError_t cudaDriverGetVersion(int *version)
{
	if (!version)
		return error_remember(cudaErrorInvalidValue);
	*version = CUDART_MAJOR * 1000;
	return cudaSuccess;
}

API cudaError_t cudaRuntimeGetVersion(int *version)
{
	return cudaDriverGetVersion(version);
}

#if CUDART_MAJOR < 13

/* CUDA 11's structure is the first part of CUDA 12's. */
API cudaError_t cudaGetDeviceProperties(void *prop, int device);
API cudaError_t cudaGetDeviceProperties(void *prop, int device)
{
	struct cudaDeviceProp all;
	cudaError_t error = get_properties(prop, device, &all);

	if (!error)
		memcpy(prop, &all, BYTES_11);
	return error;
}

API cudaError_t cudaGetDeviceProperties_v2(struct cudaDeviceProp *prop, int device);
API cudaError_t cudaGetDeviceProperties_v2(struct cudaDeviceProp *prop, int device)
{
	struct cudaDeviceProp all;
	cudaError_t error = get_properties(prop, device, &all);

	if (!error)
		*prop = all;
	return error;
}

#else

/* Members of CUDA 12's structure that CUDA 13 has in one piece, from `first` to before `end`. */
struct part {
	size_t first, end, align;
};
#define MEMBER(name)		(((struct cudaDeviceProp *)0)->name)
#define PART(first, last)	{ offsetof(struct cudaDeviceProp, first), \
				  offsetof(struct cudaDeviceProp, last) + sizeof(MEMBER(last)), \
				  __alignof__(MEMBER(first)) }

/* A size_t within a piece would be aligned as it is in CUDA 12: it begins one. */
static const struct part parts[] = {
	PART(name, maxGridSize),
	PART(totalConstMem, minor),
	PART(textureAlignment, texturePitchAlignment),
	PART(multiProcessorCount, multiProcessorCount),
	PART(integrated, canMapHostMemory),
	PART(maxTexture1D, maxTexture1DMipmap),
	PART(maxTexture2D, maxSurfaceCubemapLayered),
	PART(surfaceAlignment, unifiedAddressing),
	PART(memoryBusWidth, localL1CacheSupported),
	PART(sharedMemPerMultiprocessor, hostNativeAtomicSupported),
	PART(pageableMemoryAccess, cooperativeLaunch),
	PART(sharedMemPerBlockOptin, accessPolicyMaxWindowSize),
	PART(reservedSharedMemPerBlock, unifiedFunctionPointers),
};

#define BYTES_13	1008

API cudaError_t cudaGetDeviceProperties(void *prop, int device);
API cudaError_t cudaGetDeviceProperties(void *prop, int device)
{
	struct cudaDeviceProp all;
	cudaError_t error = get_properties(prop, device, &all);
	size_t at = 0;

	if (error)
		return error;
	memset(prop, 0, BYTES_13);
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		at = (at + parts[i].align - 1) / parts[i].align * parts[i].align;
		memcpy((char *)prop + at, (char *)&all + parts[i].first,
		       parts[i].end - parts[i].first);
		at += parts[i].end - parts[i].first;
	}
	return cudaSuccess;
}

#endif

/* --- managed memory's hints ------------------------------------------------------------------ */

static cudaError_t prefetch(const void *ptr, size_t bytes, int device, cudaStream_t stream)
{
	struct gpuemu_stream *s;
	cudaError_t error = enter();

	if (!error && (device < cudaCpuDeviceId || device > 0))
		error = cudaErrorInvalidDevice;
	if (!error && !stream_of(stream, &s))
		error = cudaErrorInvalidResourceHandle;
	/* Other memory is the program's own, which the library looks up. */
	if (!error && (!bytes || (!memory_at(ptr) && !gpuemu_pageable(runtime_ctx()))))
		error = cudaErrorInvalidValue;
	if (!error && (device < 0 ? gpuemu_mem_prefetch_host(runtime_ctx(), ptr, bytes, s) :
				    gpuemu_mem_prefetch(runtime_ctx(), ptr, bytes, s)))
		error = cudaErrorInvalidValue;
	return leave(error);
}

static cudaError_t advise(const void *ptr, size_t bytes, enum cudaMemoryAdvise advice, int device)
{
	const struct range *r;
	cudaError_t error = enter();

	if (!error && (device < cudaCpuDeviceId || device > 0))
		error = cudaErrorInvalidDevice;
	r = error ? NULL : memory_at(ptr);
	if (!error && (!bytes || (r ? r->kind != MANAGED : !gpuemu_pageable(runtime_ctx()))))
		error = cudaErrorInvalidValue;
	/* CUDA's numbers are libgpuemu's. */
	if (!error && gpuemu_mem_advise(runtime_ctx(), ptr, bytes, (enum gpuemu_advice)advice,
					device))
		error = cudaErrorInvalidValue;
	return leave(error);
}

static int device_of(struct cudaMemLocation location)
{
	switch (location.type) {
	case cudaMemLocationTypeDevice:
		return location.id < 0 ? cudaInvalidDeviceId : location.id;
	case cudaMemLocationTypeHost:
	case cudaMemLocationTypeHostNuma:
	case cudaMemLocationTypeHostNumaCurrent:
		return cudaCpuDeviceId;
	default:
		return cudaInvalidDeviceId;
	}
}

#if CUDART_MAJOR < 13
#define LOCATED(name)	name##_v2

API cudaError_t cudaMemPrefetchAsync(const void *ptr, size_t bytes, int device,
				     cudaStream_t stream);
API cudaError_t cudaMemPrefetchAsync(const void *ptr, size_t bytes, int device, cudaStream_t stream)
{
	return prefetch(ptr, bytes, device, stream);
}

API cudaError_t cudaMemAdvise(const void *ptr, size_t bytes, enum cudaMemoryAdvise advice,
			      int device);
API cudaError_t cudaMemAdvise(const void *ptr, size_t bytes, enum cudaMemoryAdvise advice,
			      int device)
{
	return advise(ptr, bytes, advice, device);
}
#else
#define LOCATED(name)	name
#endif

API cudaError_t LOCATED(cudaMemPrefetchAsync)(const void *ptr, size_t bytes,
					      struct cudaMemLocation location, unsigned int flags,
					      cudaStream_t stream);
API cudaError_t LOCATED(cudaMemPrefetchAsync)(const void *ptr, size_t bytes,
					      struct cudaMemLocation location, unsigned int flags,
					      cudaStream_t stream)
{
	if (flags)
		return leave(enter() ? error_sticky() : cudaErrorInvalidValue);
	return prefetch(ptr, bytes, device_of(location), stream);
}

API cudaError_t LOCATED(cudaMemAdvise)(const void *ptr, size_t bytes, enum cudaMemoryAdvise advice,
				       struct cudaMemLocation location);
API cudaError_t LOCATED(cudaMemAdvise)(const void *ptr, size_t bytes, enum cudaMemoryAdvise advice,
				       struct cudaMemLocation location)
{
	return advise(ptr, bytes, advice, device_of(location));
}
