// SPDX-License-Identifier: GPL-2.0
/*
 * cudaHostRegister(): memory of the program's own that kernels use across the link, as they use
 * that of cudaMallocHost(). Pages are registered, and two arrays may share one, so that a page
 * is given back when the last of them goes.
 */
#include <stdlib.h>

#include "cudart.h"

#define PAGE 4096ull

/* Whole pages that libgpuemu knows; they do not overlap. */
struct pages {
	struct pages *next;
	uintptr_t from, to;
};

static struct pages *registered;

static uintptr_t page_of(uintptr_t addr)
{
	return addr & ~(uintptr_t)(PAGE - 1);
}

static void drop_unused(void)
{
	struct pages **at = &registered, *p;

	while ((p = *at)) {
		if (memory_registered_in(p->from, p->to)) {
			at = &p->next;
			continue;
		}
		*at = p->next;
		gpuemu_mem_free(runtime_ctx(), (void *)p->from);
		free(p);
	}
}

static const struct pages *first_in(uintptr_t from, uintptr_t to)
{
	const struct pages *first = NULL;

	for (const struct pages *p = registered; p; p = p->next)
		if (p->from < to && from < p->to && (!first || p->from < first->from))
			first = p;
	return first;
}

static cudaError_t add_pages(uintptr_t from, uintptr_t to)
{
	struct pages *p = malloc(sizeof(*p));

	if (!p || gpuemu_mem_register(runtime_ctx(), (void *)from, to - from)) {
		free(p);
		return cudaErrorMemoryAllocation;
	}
	*p = (struct pages){ registered, from, to };
	registered = p;
	gpuemu_mem_advise(runtime_ctx(), (void *)from, to - from,
			  GPUEMU_ADVISE_SET_PREFERRED_LOCATION, GPUEMU_LOCATION_HOST);
	return cudaSuccess;
}

API cudaError_t cudaHostRegister(void *ptr, size_t bytes, unsigned int flags)
{
	uintptr_t at = page_of((uintptr_t)ptr), end = (uintptr_t)ptr + bytes;
	cudaError_t error = enter();

	if (!error && (!ptr || !bytes || end < at || flags & ~15u))
		error = cudaErrorInvalidValue;
	if (!error && memory_in(ptr, bytes))
		error = cudaErrorHostMemoryAlreadyRegistered;
	end = page_of(end + PAGE - 1);
	/* What lies between pages that are registered already. */
	while (!error && at < end) {
		const struct pages *next = first_in(at, end);

		if (!next || next->from > at)
			error = add_pages(at, next ? next->from : end);
		at = next ? next->to : end;
	}
	if (!error)
		error = memory_add_registered(ptr, bytes);
	if (error && runtime_ctx())
		drop_unused();
	return leave(error);
}

API cudaError_t cudaHostUnregister(void *ptr)
{
	cudaError_t error = enter();

	if (!error && !ptr)
		error = cudaErrorInvalidValue;
	if (!error)
		error = runtime_failed(gpuemu_synchronize(runtime_ctx()));
	if (!error && !memory_remove_registered(ptr))
		error = cudaErrorHostMemoryNotRegistered;
	if (!error)
		drop_unused();
	return leave(error);
}

void register_forget_all(void)
{
	while (registered) {
		struct pages *p = registered;

		registered = p->next;
		free(p);
	}
}
