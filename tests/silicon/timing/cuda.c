// SPDX-License-Identifier: GPL-2.0
/* A real GPU for timing.c. */
#include <stdio.h>
#include <stdlib.h>

#include "timing.h"
#include "cuda.h"

#define LOG_BYTES 8192

struct cuda cu;
int cuda_device;

void cuda_try(int error, const char *call)
{
	const char *name = NULL;

	if (!error)
		return;
	if (cu.error_name)
		cu.error_name(error, &name);
	printf("# failed: %s: %s (%d)\n", call, name ? name : "an unknown error", error);
	fflush(stdout);
	exit(1);
}

void gpu_open(const char *config, const char *settings)
{
	static const struct driver_call calls[] = { CUDA_CALLS(DRIVER_ROW) };
	char name[128] = "", why[256];
	int version = 0;
	void *context;

	(void)config;
	(void)settings;
	if (!driver_find(calls, sizeof(calls) / sizeof(calls[0]), why, sizeof(why))) {
		printf("# failed: %s\n", why);
		exit(1);
	}
	TRY(cu.init(0));
	TRY(cu.device(&cuda_device, 0));
	TRY(cu.retain(&context, cuda_device));
	TRY(cu.set_current(context));
	cu.device_name(name, sizeof(name), cuda_device);
	cu.version(&version);
	printf("# %s, driver API %d.%d\n", name, version / 1000, version % 1000 / 10);
}

void gpu_close(void)
{
	cu.synchronize();
}

uint64_t gpu_alloc(size_t bytes)
{
	uint64_t address;

	TRY(cu.alloc(&address, bytes));
	/* The first page of all memory is touched; what a test reads it has written. */
	TRY(cu.fill(address, 0, bytes < (1 << 24) ? bytes : 1 << 24));
	return address;
}

void gpu_free(uint64_t address)
{
	TRY(cu.release(address));
}

void gpu_write(uint64_t to, const void *from, size_t bytes)
{
	TRY(cu.to_device(to, from, bytes));
}

void gpu_read(void *to, uint64_t from, size_t bytes)
{
	TRY(cu.to_host(to, from, bytes));
}

/* CUdevResource of CUDA 12.4 to 13.0. */
struct resource {
	int type;
	unsigned char padding[92];
	unsigned int sms, least, alignment;
	unsigned char rest[36];
};

unsigned int cuda_restrict(unsigned int sms)
{
	struct resource all, part, rest;
	void *description, *green, *context;
	unsigned int groups = 1;

	TRY(cu.get_resource(cuda_device, &all, 1));
	TRY(cu.split_sms(&part, &groups, &all, &rest, 0, sms));
	TRY(cu.describe(&description, &part, 1));
	TRY(cu.green_create(&green, description, cuda_device, 1));
	TRY(cu.green_context(&context, green));
	TRY(cu.set_current(context));
	return part.sms;
}

void *cuda_load(const char *ptx, unsigned int maxregs)
{
	int options[] = { JIT_ERROR_LOG_BUFFER, JIT_ERROR_LOG_BYTES, JIT_MAX_REGISTERS }, error;
	char *log = calloc(1, LOG_BYTES);
	void *module, *values[] = { log, (void *)(uintptr_t)LOG_BYTES, (void *)(uintptr_t)maxregs };

	error = cu.load(&module, ptx, maxregs ? 3 : 2, options, values);
	if (error)
		printf("# the JIT says: %s\n", log);
	cuda_try(error, "cuModuleLoadDataEx");
	free(log);
	return module;
}

void *gpu_load(const char *ptx)
{
	return cuda_load(ptx, 0);
}

void gpu_unload(void *module)
{
	TRY(cu.unload(module));
}

void *gpu_function(void *module, const char *name)
{
	void *function;

	TRY(cu.get_function(&function, module, name));
	return function;
}

void gpu_launch(void *function, unsigned int grid, unsigned int block, unsigned int shared,
		void **params)
{
	if (shared > 48 << 10)
		TRY(cu.set_function(function, FUNCTION_MAX_DYNAMIC_SHARED, (int)shared));
	TRY(cu.launch(function, grid, 1, 1, block, 1, 1, shared, NULL, params, NULL));
	TRY(cu.synchronize());
}

unsigned int gpu_sms(void)
{
	int sms = 1;

	TRY(cu.device_attribute(&sms, DEVICE_SMS, cuda_device));
	return (unsigned int)sms;
}

int gpu_real(void)
{
	return 1;
}
