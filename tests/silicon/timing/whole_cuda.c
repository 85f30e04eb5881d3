// SPDX-License-Identifier: GPL-2.0
/*
 * As much of libgpuemu as the workloads call, on a real GPU: buffers are host memory with a copy on
 * the device, all of which goes to the device before the first launch and comes back at the next
 * wait. Each launch is timed by two events. Managed memory is not used.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "gpuemu.h"
#include "timing.h"
#include "cuda.h"
#include "whole.h"

#define BUFFERS 64

struct gpuemu_module {
	void *module;
};
struct gpuemu_function {
	void *function;
	char name[64];
};

static struct {
	char *host;
	uint64_t device;
	size_t bytes;
} buffers[BUFFERS];
static unsigned int nbuffers;
static bool on_device;
static void *flusher, *delayer;
static uint64_t flush_from;

struct whole_launch whole_launches[WHOLE_LAUNCHES];
unsigned int whole_nlaunches;
static void *events[WHOLE_LAUNCHES][2];

void whole_begin(void *flush_function, void *delay_function, uint64_t flush_memory)
{
	flusher = flush_function;
	delayer = delay_function;
	flush_from = flush_memory;
}

void whole_delay(void)
{
	uint64_t cycles = 50000;
	void *params[] = { &cycles };

	TRY(cu.launch(delayer, 1, 1, 1, 32, 1, 1, 0, NULL, params, NULL));
}

void whole_reset(void)
{
	for (unsigned int i = 0; i < nbuffers; i++) {
		TRY(cu.release(buffers[i].device));
		munmap(buffers[i].host, buffers[i].bytes);
	}
	nbuffers = 0;
	on_device = false;
	whole_nlaunches = 0;
}

const char *gpuemu_strerror(int error)
{
	return strerror(-error);
}
const char *gpuemu_last_error(const struct gpuemu_ctx *ctx)
{
	(void)ctx;
	return "";
}

int gpuemu_mem_alloc_managed(struct gpuemu_ctx *ctx, void **ptr, size_t bytes)
{
	(void)ctx;
	if (nbuffers == BUFFERS)
		return -ENOMEM;
	bytes = (bytes + 4095) & ~(size_t)4095;
	buffers[nbuffers].host =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (buffers[nbuffers].host == MAP_FAILED)
		return -ENOMEM;
	TRY(cu.alloc(&buffers[nbuffers].device, bytes));
	buffers[nbuffers].bytes = bytes;
	*ptr = buffers[nbuffers++].host;
	return 0;
}

int gpuemu_mem_prefetch(struct gpuemu_ctx *ctx, const void *ptr, size_t bytes,
			struct gpuemu_stream *stream)
{
	(void)ctx;
	(void)ptr;
	(void)bytes;
	(void)stream;
	return 0;
}

int gpuemu_mem_prefetch_host(struct gpuemu_ctx *ctx, const void *ptr, size_t bytes,
			     struct gpuemu_stream *stream)
{
	(void)ptr;
	(void)bytes;
	(void)stream;
	return gpuemu_synchronize(ctx);
}

int gpuemu_module_load_data(struct gpuemu_ctx *ctx, struct gpuemu_module **module, const char *text,
			    size_t bytes, const char *name)
{
	static const char *last;
	static struct gpuemu_module kept;
	char *copy;

	(void)ctx;
	(void)name;
	*module = &kept;
	if (last == text)
		return 0;
	copy = strndup(text, bytes);
	if (last)
		gpu_unload(kept.module);
	kept.module = cuda_load(copy, 0);
	last = text;
	free(copy);
	return 0;
}

int gpuemu_module_get_function(struct gpuemu_module *module, struct gpuemu_function **function,
			       const char *name)
{
	*function = calloc(1, sizeof(**function));
	(*function)->function = gpu_function(module->module, name);
	snprintf((*function)->name, sizeof((*function)->name), "%s", name);
	return 0;
}

static uint64_t device_address(const void *p)
{
	for (unsigned int i = 0; i < nbuffers; i++) {
		if ((const char *)p >= buffers[i].host &&
		    (const char *)p <= buffers[i].host + buffers[i].bytes)
			return buffers[i].device + (uint64_t)((const char *)p - buffers[i].host);
	}
	return (uintptr_t)p;
}

int gpuemu_launch(struct gpuemu_function *function, struct gpuemu_dim3 grid,
		  struct gpuemu_dim3 block, size_t shared, struct gpuemu_stream *stream,
		  const struct gpuemu_arg *args, unsigned int nargs)
{
	struct whole_launch *l = &whole_launches[whole_nlaunches];
	uint64_t values[64];
	void *params[64];

	(void)stream;
	if (whole_nlaunches == WHOLE_LAUNCHES)
		return -ENOMEM;
	if (!on_device) {
		uint64_t n = WHOLE_FLUSH / 16, sink = flush_from + WHOLE_FLUSH;
		uint32_t repeat = 1;
		void *flush[] = { &sink, &flush_from, &n, &repeat };

		for (unsigned int i = 0; i < nbuffers; i++)
			TRY(cu.to_device(buffers[i].device, buffers[i].host, buffers[i].bytes));
		/* L2 holds clean lines of other memory then. */
		TRY(cu.launch(flusher, 264, 1, 1, 1024, 1, 1, 0, NULL, flush, NULL));
		on_device = true;
	}
	for (unsigned int i = 0; i < nargs; i++) {
		values[i] = args[i].type == GPUEMU_ARG_PTR ? device_address(args[i].v.ptr)
							   : args[i].v.u;
		params[i] = args[i].type == GPUEMU_ARG_BYTES ? (void *)(uintptr_t)args[i].v.ptr
							     : &values[i];
	}
	if (!events[whole_nlaunches][0]) {
		TRY(cu.event_create(&events[whole_nlaunches][0], 0));
		TRY(cu.event_create(&events[whole_nlaunches][1], 0));
	}
	snprintf(l->kernel, sizeof(l->kernel), "%s", function->name);
	l->grid = grid;
	l->block = block;
	l->us = -1;
	whole_delay();
	TRY(cu.event_record(events[whole_nlaunches][0], NULL));
	TRY(cu.launch(function->function, grid.x, grid.y, grid.z, block.x, block.y, block.z,
		      (unsigned int)shared, NULL, params, NULL));
	TRY(cu.event_record(events[whole_nlaunches][1], NULL));
	whole_nlaunches++;
	return 0;
}

int gpuemu_synchronize(struct gpuemu_ctx *ctx)
{
	(void)ctx;
	if (!on_device)
		return 0;
	TRY(cu.synchronize());
	for (unsigned int i = 0; i < whole_nlaunches; i++) {
		float ms;

		if (whole_launches[i].us >= 0)
			continue;
		TRY(cu.event_time(&ms, events[i][0], events[i][1]));
		whole_launches[i].us = ms * 1e3;
	}
	for (unsigned int i = 0; i < nbuffers; i++)
		TRY(cu.to_host(buffers[i].host, buffers[i].device, buffers[i].bytes));
	on_device = false;
	return 0;
}

int gpuemu_stream_synchronize(struct gpuemu_ctx *ctx, struct gpuemu_stream *stream)
{
	(void)stream;
	return gpuemu_synchronize(ctx);
}
