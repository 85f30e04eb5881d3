// SPDX-License-Identifier: GPL-2.0
/*
 * CUDA's calls for memory: allocations on the device, managed and of the host, what gives them
 * back, and what tells of them. memory.c has the memory; cudaMallocManaged() is libgpuemu's managed
 * memory as it is.
 */
#include "cudart.h"

#define HOST_FLAGS	(cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined)

API cudaError_t cudaMalloc(void **ptr, size_t bytes)
{
	cudaError_t error = enter();

	if (!error)
		error = ptr ? memory_alloc_device(ptr, bytes) : cudaErrorInvalidValue;
	return leave(error);
}

static cudaError_t in_stream(cudaStream_t stream)
{
	struct gpuemu_stream *s;
	cudaError_t error = enter();

	if (!error && !stream_of(stream, &s))
		error = cudaErrorInvalidResourceHandle;
	return leave(error);
}

API cudaError_t cudaMallocAsync(void **ptr, size_t bytes, cudaStream_t stream)
{
	cudaError_t error = in_stream(stream);

	return error ? error : cudaMalloc(ptr, bytes);
}

API cudaError_t cudaMallocPitch(void **ptr, size_t *pitch, size_t width, size_t height)
{
	cudaError_t error = enter();

	if (!error && (!ptr || !pitch))
		error = cudaErrorInvalidValue;
	if (!error) {
		size_t bytes;

		*pitch = (width + MEMORY_ALIGN - 1) / MEMORY_ALIGN * MEMORY_ALIGN;
		error = *pitch < width || __builtin_mul_overflow(*pitch, height, &bytes) ?
				cudaErrorMemoryAllocation : memory_alloc_device(ptr, bytes);
	}
	return leave(error);
}

API cudaError_t cudaMalloc3D(struct cudaPitchedPtr *ptr, struct cudaExtent extent)
{
	cudaError_t error;

	if (!ptr)
		return leave(enter() ? error_sticky() : cudaErrorInvalidValue);
	error = cudaMallocPitch(&ptr->ptr, &ptr->pitch, extent.width, extent.height * extent.depth);
	ptr->xsize = extent.width;
	ptr->ysize = extent.height;
	return error;
}

static cudaError_t alloc(void **ptr, size_t bytes, enum kind kind, unsigned int flags)
{
	cudaError_t error = enter();

	if (!error && (!ptr || (!bytes && kind != HOST)))
		error = cudaErrorInvalidValue;
	if (!error && !bytes) {
		*ptr = NULL;
		return leave(error);
	}
	return leave(error ? error : memory_alloc(ptr, bytes, kind, flags));
}

API cudaError_t cudaMallocManaged(void **ptr, size_t bytes, unsigned int flags)
{
	if (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost)
		return leave(enter() ? error_sticky() : cudaErrorInvalidValue);
	return alloc(ptr, bytes, MANAGED, 0);
}

API cudaError_t cudaHostAlloc(void **ptr, size_t bytes, unsigned int flags)
{
	if (flags & ~HOST_FLAGS)
		return leave(enter() ? error_sticky() : cudaErrorInvalidValue);
	return alloc(ptr, bytes, HOST, flags);
}

API cudaError_t cudaMallocHost(void **ptr, size_t bytes)
{
	return alloc(ptr, bytes, HOST, 0);
}

API cudaError_t cudaHostGetDevicePointer(void **device, void *host, unsigned int flags)
{
	const struct range *r;
	cudaError_t error = enter();

	r = error ? NULL : memory_at(host);
	if (!error && (!device || flags || !r || r->kind == DEVICE || r->kind == VARIABLE))
		error = cudaErrorInvalidValue;
	if (!error)
		*device = host;
	return leave(error);
}

API cudaError_t cudaHostGetFlags(unsigned int *flags, void *host)
{
	const struct range *r;
	cudaError_t error = enter();

	r = error ? NULL : memory_at(host);
	if (!error && (!flags || !r || !memory_is_pinned(r)))
		error = cudaErrorInvalidValue;
	if (!error)
		*flags = r->flags | cudaHostAllocMapped;
	return leave(error);
}

/* Works in flight may use it: the library waits. */
static cudaError_t give_back(void *ptr, bool host)
{
	cudaError_t error = enter();

	if (error || !ptr)
		return leave(error);
	error = runtime_failed(gpuemu_synchronize(runtime_ctx()));
	if (!error && !memory_free(ptr, host))
		error = cudaErrorInvalidValue;
	return leave(error);
}

API cudaError_t cudaFree(void *ptr)
{
	return give_back(ptr, false);
}

API cudaError_t cudaFreeAsync(void *ptr, cudaStream_t stream)
{
	cudaError_t error = in_stream(stream);

	return error ? error : give_back(ptr, false);
}

API cudaError_t cudaFreeHost(void *ptr)
{
	return give_back(ptr, true);
}

API cudaError_t cudaMemGetInfo(size_t *free, size_t *total)
{
	cudaError_t error = enter();

	if (!error && (!free || !total))
		error = cudaErrorInvalidValue;
	if (!error) {
		*total = runtime_device()->vram;
		*free = *total - memory_device_bytes();
	}
	return leave(error);
}

API cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes, const void *ptr)
{
	static const enum cudaMemoryType types[] = {
		[DEVICE] = cudaMemoryTypeDevice,   [MANAGED] = cudaMemoryTypeManaged,
		[HOST] = cudaMemoryTypeHost,	   [VARIABLE] = cudaMemoryTypeDevice,
		[REGISTERED] = cudaMemoryTypeHost,
	};
	const struct range *r;
	cudaError_t error = enter();

	if (!error && !attributes)
		error = cudaErrorInvalidValue;
	if (error)
		return leave(error);
	r = memory_at(ptr);
	*attributes = (struct cudaPointerAttributes){
		.type = r ? types[r->kind] : cudaMemoryTypeUnregistered,
		.device = r ? 0 : cudaInvalidDeviceId,
		.devicePointer = r ? (void *)ptr : NULL,
		.hostPointer = r && types[r->kind] == cudaMemoryTypeDevice ? NULL : (void *)ptr,
	};
	return leave(cudaSuccess);
}
