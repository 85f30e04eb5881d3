// SPDX-License-Identifier: GPL-2.0
/*
 * What memory there is: the ranges that the program knows, and device memory. cudaMalloc() takes
 * pieces of granules of 2 MiB, as hardware does: programs that read a little beside their buffers
 * find memory there. The granules are device memory that is not paged; managed memory where the
 * backend has no such (a module that is older than the library). The calls are allocate.c's.
 */
#include <errno.h>
#include <stdlib.h>

#include "cudart.h"

#define GRANULE		(2ull << 20)
#define MARGIN		4096ull		/* before the first piece of a chunk, and behind the last */
#define PAGE		4096ull
#define SMALL		(64ull << 10)	/* what a managed allocation of less than a granule lies in */

/* Granules that cudaMalloc() hands out in pieces; they go back when there is none in them. */
struct chunk {
	struct chunk *next;
	uintptr_t addr;
	size_t bytes;
	bool paged;			/* managed memory */
};

static struct range *ranges;		/* by address */
static struct chunk *chunks;
static uint64_t device_bytes;		/* of chunks */

static uint64_t round_up(uint64_t n, uint64_t to)
{
	return (n + to - 1) / to * to;
}

static struct chunk **chunk_of(uintptr_t addr)
{
	struct chunk **at = &chunks;

	while (*at && addr - (*at)->addr >= (*at)->bytes)
		at = &(*at)->next;
	return at;
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
	return cudaSuccess;
}

/* What CUDA rounds an allocation up to is memory of it, too. */
bool memory_holds(const void *ptr, size_t bytes)
{
	uintptr_t addr = (uintptr_t)ptr;
	const struct chunk *c = *chunk_of(addr);

	if (c)
		return bytes <= c->bytes - (addr - c->addr);
	for (const struct range *r = ranges; r && r->addr <= addr; r = r->next) {
		uint64_t whole = round_up(r->bytes, PAGE);

		if (addr - r->addr < whole && bytes <= whole - (addr - r->addr))
			return true;
	}
	return false;
}

void memory_add_variable(void *ptr, size_t bytes)
{
	if (!memory_at(ptr))
		add_range(ptr, bytes, VARIABLE);
}

cudaError_t memory_add_managed(void *ptr, size_t bytes)
{
	return add_range(ptr, bytes, MANAGED);
}

cudaError_t memory_add_registered(void *ptr, size_t bytes)
{
	return add_range(ptr, bytes, REGISTERED);
}

bool memory_in(const void *ptr, size_t bytes)
{
	uintptr_t addr = (uintptr_t)ptr;

	for (const struct range *r = ranges; r; r = r->next)
		if (r->addr < addr + bytes && addr < r->addr + r->bytes)
			return true;
	return false;
}

bool memory_registered_in(uintptr_t from, uintptr_t to)
{
	for (const struct range *r = ranges; r; r = r->next)
		if (r->kind == REGISTERED && r->addr < to && from < r->addr + r->bytes)
			return true;
	return false;
}

static struct range **find(const void *ptr)
{
	struct range **at = &ranges;

	while (*at && (*at)->addr != (uintptr_t)ptr)
		at = &(*at)->next;
	return at;
}

bool memory_remove_registered(const void *ptr)
{
	struct range **at = find(ptr), *r = *at;

	if (!r || r->kind != REGISTERED)
		return false;
	*at = r->next;
	free(r);
	return true;
}

/* --- pieces of chunks ---------------------------------------------------------------------- */

/* The first gap of a chunk that fits, or 0. */
static uintptr_t find_gap(const struct chunk *c, size_t bytes)
{
	uintptr_t addr = c->addr + MARGIN, end = c->addr + c->bytes - MARGIN;

	for (const struct range *r = ranges; r; r = r->next)
		if (r->addr + r->bytes > addr && r->addr < addr + bytes)
			addr = round_up(r->addr + r->bytes, MEMORY_ALIGN);
	return addr <= end && end - addr >= bytes ? addr : 0;
}

static cudaError_t grow(size_t bytes)
{
	struct chunk *c = calloc(1, sizeof(*c));
	void *ptr;
	int ret;

	if (!c)
		return cudaErrorMemoryAllocation;
	c->bytes = round_up(bytes + 2 * MARGIN, GRANULE);
	ret = gpuemu_mem_alloc_device(runtime_ctx(), &ptr, c->bytes);
	c->paged = ret == -EOPNOTSUPP && device_bytes + c->bytes <= runtime_device()->vram;
	if (c->paged)
		ret = gpuemu_mem_alloc_managed(runtime_ctx(), &ptr, c->bytes);
	if (ret) {
		free(c);
		return cudaErrorMemoryAllocation;
	}
	c->addr = (uintptr_t)ptr;
	c->next = chunks;
	chunks = c;
	device_bytes += c->bytes;
	return cudaSuccess;
}

/* The chunk of a piece that is no more. */
static void shrink(uintptr_t addr)
{
	struct chunk **at = chunk_of(addr), *c = *at;

	for (const struct range *r = ranges; r; r = r->next)
		if (!c || r->addr - c->addr < c->bytes)
			return;
	if (!c)
		return;
	*at = c->next;
	device_bytes -= c->bytes;
	gpuemu_mem_free(runtime_ctx(), (void *)c->addr);
	free(c);
}

bool memory_is_paged(const void *ptr)
{
	const struct chunk *c = *chunk_of((uintptr_t)ptr);

	return !c || c->paged;
}

static uintptr_t take(size_t bytes)
{
	uintptr_t addr = 0;

	for (const struct chunk *c = chunks; c && !addr; c = c->next)
		addr = find_gap(c, bytes);
	return addr;
}

cudaError_t memory_alloc_device(void **ptr, size_t bytes)
{
	size_t whole = round_up(bytes, MEMORY_ALIGN);
	cudaError_t error = cudaSuccess;
	uintptr_t addr;

	*ptr = NULL;
	if (!bytes)
		return cudaSuccess;
	if (whole < bytes || whole > runtime_device()->vram)
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

cudaError_t memory_alloc(void **ptr, size_t bytes, enum kind kind, unsigned int flags)
{
	size_t before = kind == MANAGED ? (bytes < GRANULE ? SMALL : GRANULE) : 0;
	size_t whole = kind == MANAGED ? round_up(bytes, SMALL) : bytes;
	cudaError_t error;

	/* What lies a little beside managed memory is memory too. Only who touches it pages it. */
	if (whole < bytes || whole + before < whole ||
	    gpuemu_mem_alloc_managed(runtime_ctx(), ptr, whole + before))
		return cudaErrorMemoryAllocation;
	*ptr = (char *)*ptr + before;
	error = add_range(*ptr, bytes, kind);
	if (error) {
		gpuemu_mem_free(runtime_ctx(), (char *)*ptr - before);
		return error;
	}
	(*find(*ptr))->before = before;
	(*find(*ptr))->flags = flags;
	/* Pinned host memory stays where it is; kernels use it across the link. */
	if (kind == HOST)
		gpuemu_mem_advise(runtime_ctx(), *ptr, bytes, GPUEMU_ADVISE_SET_PREFERRED_LOCATION,
				  GPUEMU_LOCATION_HOST);
	return cudaSuccess;
}

bool memory_free(void *ptr, bool host)
{
	struct range **at = find(ptr), *r = *at;

	if (!r || r->kind == VARIABLE || r->kind == REGISTERED || host != (r->kind == HOST))
		return false;
	*at = r->next;
	if (r->kind == DEVICE)
		shrink(r->addr);
	else
		gpuemu_mem_free(runtime_ctx(), (char *)ptr - r->before);
	free(r);
	return true;
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
