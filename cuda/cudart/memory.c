// SPDX-License-Identifier: GPL-2.0
/*
 * Allocations. cudaMallocManaged() is libgpuemu's managed memory as it is. cudaMalloc() takes
 * from granules of 2 MiB, several of them in a row, as hardware does: programs that read a little
 * beside their buffers find memory there. Its memory is managed too; docs/cuda.md says what
 * differs from a device's.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cudart.h"

#define GRANULE		(2ull << 20)
#define CHUNK		(32ull << 20)	/* what is asked of libgpuemu at once, at least */
#define ALIGN		512ull		/* CUDA promises 256 */

/*
 * Managed memory that cudaMalloc() hands out in pieces; the first and the last granule are never.
 */
struct chunk {
	struct chunk *next;
	uintptr_t addr;
	size_t bytes;
};

static struct range *ranges;		/* by address */
static struct chunk *chunks;
static uint64_t device_bytes;		/* of DEVICE ranges */

static uint64_t round_up(uint64_t n, uint64_t to)
{
	return (n + to - 1) / to * to;
}

const struct range *memory_at(const void *ptr)
{
	uintptr_t addr = (uintptr_t)ptr;

	for (const struct range *r = ranges; r && r->addr <= addr; r = r->next)
		if (addr - r->addr < r->bytes)
			return r;
	return NULL;
}

uint64_t memory_device_bytes(void)
{
	return device_bytes;
}

static cudaError_t add_range(void *ptr, size_t bytes, enum kind kind)
{
	struct range **at = &ranges, *r = malloc(sizeof(*r));

	if (!r)
		return cudaErrorMemoryAllocation;
	while (*at && (*at)->addr < (uintptr_t)ptr)
		at = &(*at)->next;
	*r = (struct range){ .next = *at, .addr = (uintptr_t)ptr, .bytes = bytes, .kind = kind };
	*at = r;
	if (kind == DEVICE)
		device_bytes += bytes;
	return cudaSuccess;
}

void memory_add_variable(void *ptr, size_t bytes)
{
	if (!memory_at(ptr))
		add_range(ptr, bytes, VARIABLE);
}

static struct range **find(const void *ptr)
{
	struct range **at = &ranges;

	while (*at && (*at)->addr != (uintptr_t)ptr)
		at = &(*at)->next;
	return at;
}

/* --- pieces of chunks ---------------------------------------------------------------------- */

/* The first gap of a chunk that fits: a piece as large as a granule begins one. 0: none. */
static uintptr_t find_gap(const struct chunk *c, size_t bytes)
{
	uint64_t align = bytes >= GRANULE ? GRANULE : ALIGN;
	uintptr_t addr = round_up(c->addr + GRANULE, align), end = c->addr + c->bytes - GRANULE;

	for (const struct range *r = ranges; r; r = r->next)
		if (r->addr + r->bytes > addr && r->addr < addr + bytes)
			addr = round_up(r->addr + r->bytes, align);
	return addr <= end && end - addr >= bytes ? addr : 0;
}

static cudaError_t grow(size_t bytes)
{
	struct chunk *c = malloc(sizeof(*c));
	void *ptr;

	if (!c)
		return cudaErrorMemoryAllocation;
	c->bytes = round_up(bytes, GRANULE) + 2 * GRANULE;
	if (c->bytes < CHUNK)
		c->bytes = CHUNK;
	if (gpuemu_mem_alloc_managed(runtime_ctx(), &ptr, c->bytes)) {
		free(c);
		return cudaErrorMemoryAllocation;
	}
	c->addr = (uintptr_t)ptr;
	c->next = chunks;
	chunks = c;
	return cudaSuccess;
}

static uintptr_t take(size_t bytes)
{
	uintptr_t addr = 0;

	for (const struct chunk *c = chunks; c && !addr; c = c->next)
		addr = find_gap(c, bytes);
	return addr;
}

static cudaError_t device_alloc(void **ptr, size_t bytes)
{
	size_t whole = round_up(bytes, bytes >= GRANULE ? GRANULE : ALIGN);
	cudaError_t error = cudaSuccess;
	uintptr_t addr;

	*ptr = NULL;
	if (!bytes)
		return cudaSuccess;
	if (whole < bytes || device_bytes + whole > runtime_device()->vram)
		return cudaErrorMemoryAllocation;
	addr = take(whole);
	if (!addr) {
		error = grow(whole);
		addr = error ? 0 : take(whole);
	}
	if (addr)
		error = add_range((void *)addr, whole, DEVICE);
	if (!error)
		*ptr = (void *)addr;
	return error;
}

void memory_forget_all(void)
{
	while (ranges) {
		struct range *r = ranges;

		ranges = r->next;
		free(r);
	}
	while (chunks) {
		struct chunk *c = chunks;

		chunks = c->next;
		free(c);
	}
	device_bytes = 0;
}

/* --- calls ------------------------------------------------------------------------------------ */

API cudaError_t cudaMalloc(void **ptr, size_t bytes)
{
	cudaError_t error = enter();

	if (!error)
		error = ptr ? device_alloc(ptr, bytes) : cudaErrorInvalidValue;
	return leave(error);
}

API cudaError_t cudaMallocAsync(void **ptr, size_t bytes, cudaStream_t stream)
{
	return cudaMalloc(ptr, bytes);
}

API cudaError_t cudaMallocPitch(void **ptr, size_t *pitch, size_t width, size_t height)
{
	cudaError_t error = enter();

	if (!error && (!ptr || !pitch))
		error = cudaErrorInvalidValue;
	if (!error) {
		*pitch = round_up(width, ALIGN);
		error = device_alloc(ptr, *pitch * height);
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

static cudaError_t alloc(void **ptr, size_t bytes, enum kind kind)
{
	cudaError_t error = enter();

	if (!error && (!ptr || !bytes))
		error = cudaErrorInvalidValue;
	if (!error && gpuemu_mem_alloc_managed(runtime_ctx(), ptr, bytes))
		error = cudaErrorMemoryAllocation;
	if (!error)
		error = add_range(*ptr, bytes, kind);
	/* Pinned host memory stays where it is; kernels use it across the link. */
	if (!error && kind == HOST)
		gpuemu_mem_advise(runtime_ctx(), *ptr, bytes, GPUEMU_ADVISE_SET_PREFERRED_LOCATION,
				  GPUEMU_LOCATION_HOST);
	return leave(error);
}

API cudaError_t cudaMallocManaged(void **ptr, size_t bytes, unsigned int flags)
{
	if (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost)
		return leave(enter() ? error_sticky() : cudaErrorInvalidValue);
	return alloc(ptr, bytes, MANAGED);
}

API cudaError_t cudaHostAlloc(void **ptr, size_t bytes, unsigned int flags)
{
	return alloc(ptr, bytes, HOST);
}

API cudaError_t cudaMallocHost(void **ptr, size_t bytes)
{
	return alloc(ptr, bytes, HOST);
}

API cudaError_t cudaHostGetDevicePointer(void **device, void *host, unsigned int flags)
{
	cudaError_t error = enter();

	if (!error && (!device || flags || !memory_at(host)))
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
	if (!error && (!flags || !r || r->kind != HOST))
		error = cudaErrorInvalidValue;
	if (!error)
		*flags = cudaHostAllocMapped;
	return leave(error);
}

/* What is in flight may use it: the library waits. */
static cudaError_t give_back(void *ptr, bool host)
{
	cudaError_t error = enter();
	struct range **at, *r;

	if (error || !ptr)
		return leave(error);
	error = runtime_failed(gpuemu_synchronize(runtime_ctx()));
	if (error)
		return leave(error);
	at = find(ptr);
	r = *at;
	if (!r || r->kind == VARIABLE || host != (r->kind == HOST))
		return leave(cudaErrorInvalidValue);
	if (r->kind == DEVICE)
		device_bytes -= r->bytes;
	else
		gpuemu_mem_free(runtime_ctx(), ptr);
	*at = r->next;
	free(r);
	return leave(cudaSuccess);
}

API cudaError_t cudaFree(void *ptr)
{
	return give_back(ptr, false);
}

API cudaError_t cudaFreeAsync(void *ptr, cudaStream_t stream)
{
	return give_back(ptr, false);
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
		[DEVICE] = cudaMemoryTypeDevice, [MANAGED] = cudaMemoryTypeManaged,
		[HOST] = cudaMemoryTypeHost, [VARIABLE] = cudaMemoryTypeDevice,
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
