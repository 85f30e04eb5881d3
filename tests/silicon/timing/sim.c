// SPDX-License-Identifier: GPL-2.0
/* gpuemu's model for timing.c: one SM, everything in device memory. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpuemu.h"
#include "timing.h"

static struct gpuemu_ctx *gpu;

static void try(int error, const char *call)
{
	if (!error)
		return;
	printf("# failed: %s: %s: %s\n", call, strerror(-error), gpuemu_last_error(gpu));
	exit(1);
}
#define TRY(call) try(call, #call)

void gpu_open(const char *config, const char *settings)
{
	struct gpuemu_options options = { .size = sizeof(options),
					  .backend = "sim",
					  .config = config };
	char text[2048];

	TRY(gpuemu_open(&gpu, &options));
	snprintf(text, sizeof(text), "paging.enabled=0\ngpu.sms=1\n%s", settings);
	TRY(gpuemu_configure(gpu, text));
	printf("# gpuemu's model, config %s\n", config);
}

void gpu_close(void)
{
	gpuemu_close(gpu);
}

uint64_t gpu_alloc(size_t bytes)
{
	void *p;

	TRY(gpuemu_mem_alloc_managed(gpu, &p, bytes));
	return (uintptr_t)p;
}

void gpu_free(uint64_t address)
{
	TRY(gpuemu_mem_free(gpu, (void *)(uintptr_t)address));
}

void gpu_write(uint64_t to, const void *from, size_t bytes)
{
	memcpy((void *)(uintptr_t)to, from, bytes);
}

void gpu_read(void *to, uint64_t from, size_t bytes)
{
	memcpy(to, (const void *)(uintptr_t)from, bytes);
}

void *gpu_load(const char *ptx)
{
	struct gpuemu_module *module;

	TRY(gpuemu_module_load_data(gpu, &module, ptx, strlen(ptx), NULL));
	return module;
}

void gpu_unload(void *module)
{
	TRY(gpuemu_module_unload(module));
}

void *gpu_function(void *module, const char *name)
{
	struct gpuemu_function *function;

	TRY(gpuemu_module_get_function(module, &function, name));
	return function;
}

void gpu_launch(void *function, unsigned int grid, unsigned int block, unsigned int shared,
		void **params)
{
	struct gpuemu_dim3 g = { grid, 1, 1 }, b = { block, 1, 1 };

	TRY(gpuemu_launch_params(function, g, b, shared, NULL, params));
	TRY(gpuemu_synchronize(gpu));
}

unsigned int gpu_sms(void)
{
	return 1;
}

int gpu_real(void)
{
	return 0;
}
