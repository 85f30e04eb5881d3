// SPDX-License-Identifier: GPL-2.0
/*
 * The calls of NVIDIA's driver that driver.c makes, answered by the emulated GPU (backend sim):
 * so the same program takes the facts from both. Built as build/silicon/libcuda.so.1. It is for
 * tests: no driver API for users.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpuemu.h"

#define CALL(name, ...) \
	int name(__VA_ARGS__); \
	int name(__VA_ARGS__)

enum {
	SUCCESS = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, NO_DEVICE = 100, INVALID_PTX = 218,
	NOT_FOUND = 500, ILLEGAL_ADDRESS = 700, TIMEOUT = 702, ASSERT = 710,
	MISALIGNED_ADDRESS = 716, LAUNCH_FAILED = 719, NOT_SUPPORTED = 801,
};
enum { JIT_ERROR_LOG_BUFFER = 5 };

static struct gpuemu_ctx *ctx;
static int stuck;		/* the error that broke the context */

/* As libcudart has it, but for the numbers of the driver's interface. */
static int kernel_error(int ret, const char *text)
{
	if (getenv("SILICON_VERBOSE"))
		fprintf(stderr, "# %s\n", text);
	switch (ret) {
	case 0:
		return SUCCESS;
	case -EFAULT:
		return strstr(text, "misaligned") ? MISALIGNED_ADDRESS : ILLEGAL_ADDRESS;
	case -EDEADLK:
	case -ETIMEDOUT:
		return TIMEOUT;
	case -EINVAL:
		return INVALID_VALUE;
	case -EOPNOTSUPP:
		return NOT_SUPPORTED;
	case -ENOMEM:
		return OUT_OF_MEMORY;
	default:
		if (strstr(text, "overflows the stack"))
			return ILLEGAL_ADDRESS;
		return strstr(text, "ssert") ? ASSERT : LAUNCH_FAILED;
	}
}

CALL(cuInit, unsigned int flags)
{
	return flags ? INVALID_VALUE : SUCCESS;
}

CALL(cuDriverGetVersion, int *version)
{
	*version = 13000;
	return SUCCESS;
}

CALL(cuDeviceGet, int *device, int ordinal)
{
	*device = ordinal;
	return ordinal ? INVALID_VALUE : SUCCESS;
}

CALL(cuDeviceGetName, char *name, int bytes, int device)
{
	(void)device;
	snprintf(name, bytes, "gpuemu");
	return SUCCESS;
}

CALL(cuDeviceGetAttribute, int *value, int attribute, int device)
{
	(void)attribute;
	(void)device;
	*value = 0;
	return SUCCESS;
}

CALL(cuDevicePrimaryCtxRetain, void **context, int device)
{
	struct gpuemu_options options = {
		.size = sizeof(options), .backend = "sim", .settings = "compiler.stack=8192\n",
	};

	(void)device;
	if (!ctx && gpuemu_open(&ctx, &options)) {
		fprintf(stderr, "%s\n", gpuemu_last_error(NULL));
		return NO_DEVICE;
	}
	*context = ctx;
	return SUCCESS;
}

CALL(cuCtxSetCurrent, void *context)
{
	return context == ctx ? SUCCESS : INVALID_VALUE;
}

CALL(cuCtxSynchronize, void)
{
	if (!stuck)
		stuck = kernel_error(gpuemu_synchronize(ctx), gpuemu_last_error(ctx));
	return stuck;
}

CALL(cuModuleLoadDataEx, void **module, const void *text, unsigned int n, int *options,
     void **values)
{
	int ret = gpuemu_module_load_data(ctx, (struct gpuemu_module **)module, text, strlen(text), "ptx");

	for (unsigned int i = 0; ret && i < n; i++) {
		if (options[i] == JIT_ERROR_LOG_BUFFER)
			strncat(values[i], gpuemu_last_error(ctx), 1000);
	}
	return ret ? INVALID_PTX : SUCCESS;
}

CALL(cuModuleUnload, void *module)
{
	return gpuemu_module_unload(module) ? INVALID_VALUE : SUCCESS;
}

CALL(cuModuleGetFunction, void **function, void *module, const char *name)
{
	int ret = gpuemu_module_get_function(module, (struct gpuemu_function **)function, name);

	return ret ? NOT_FOUND : SUCCESS;
}

CALL(cuFuncSetAttribute, void *function, int attribute, int value)
{
	(void)function;
	(void)attribute;
	(void)value;
	return SUCCESS;
}

CALL(cuMemAlloc_v2, uint64_t *address, size_t bytes)
{
	void *p;
	int ret = gpuemu_mem_alloc_managed(ctx, &p, bytes);

	*address = ret ? 0 : (uint64_t)(uintptr_t)p;
	return ret ? OUT_OF_MEMORY : SUCCESS;
}

CALL(cuMemFree_v2, uint64_t address)
{
	if (!stuck && gpuemu_mem_free(ctx, (void *)(uintptr_t)address))
		return INVALID_VALUE;
	return stuck;
}

CALL(cuMemsetD8_v2, uint64_t address, unsigned char value, size_t bytes)
{
	memset((void *)(uintptr_t)address, value, bytes);
	return stuck;
}

CALL(cuMemcpyHtoD_v2, uint64_t to, const void *from, size_t bytes)
{
	memcpy((void *)(uintptr_t)to, from, bytes);
	return stuck;
}

CALL(cuMemcpyDtoH_v2, void *to, uint64_t from, size_t bytes)
{
	memcpy(to, (const void *)(uintptr_t)from, bytes);
	return stuck;
}

CALL(cuLaunchKernel, void *function, unsigned int gx, unsigned int gy, unsigned int gz,
     unsigned int bx, unsigned int by, unsigned int bz, unsigned int shared, void *stream,
     void **params, void **extra)
{
	struct gpuemu_dim3 grid = { gx, gy, gz }, block = { bx, by, bz };
	int ret;

	(void)extra;
	if (stuck)
		return stuck;
	ret = gpuemu_launch_params(function, grid, block, shared, stream, params);
	return ret ? kernel_error(ret, gpuemu_last_error(ctx)) : SUCCESS;
}

CALL(cuGetErrorName, int error, const char **name)
{
	static const struct {
		int error;
		const char *name;
	} names[] = {
		{ INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE" },
		{ OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY" },
		{ NO_DEVICE, "CUDA_ERROR_NO_DEVICE" }, { INVALID_PTX, "CUDA_ERROR_INVALID_PTX" },
		{ NOT_FOUND, "CUDA_ERROR_NOT_FOUND" },
		{ ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS" },
		{ TIMEOUT, "CUDA_ERROR_LAUNCH_TIMEOUT" }, { ASSERT, "CUDA_ERROR_ASSERT" },
		{ MISALIGNED_ADDRESS, "CUDA_ERROR_MISALIGNED_ADDRESS" },
		{ LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED" },
		{ NOT_SUPPORTED, "CUDA_ERROR_NOT_SUPPORTED" },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (names[i].error == error) {
			*name = names[i].name;
			return SUCCESS;
		}
	}
	return INVALID_VALUE;
}
