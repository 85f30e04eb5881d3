/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The functions of the CUDA driver, found by dlopen: no toolkit's header is needed. Names, types
 * and numbers are those of the driver's documented interface.
 */
#ifndef TESTS_SILICON_CALLS_H
#define TESTS_SILICON_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* X(member, symbol, arguments): what it takes to load PTX, to copy and to launch. */
#define DRIVER_CALLS(X)									\
	X(init, "cuInit", (unsigned int))						\
	X(version, "cuDriverGetVersion", (int *))					\
	X(device, "cuDeviceGet", (int *, int))						\
	X(device_name, "cuDeviceGetName", (char *, int, int))				\
	X(device_attribute, "cuDeviceGetAttribute", (int *, int, int))			\
	X(retain, "cuDevicePrimaryCtxRetain", (void **, int))				\
	X(set_current, "cuCtxSetCurrent", (void *))					\
	X(synchronize, "cuCtxSynchronize", (void))					\
	X(load, "cuModuleLoadDataEx", (void **, const void *, unsigned int, int *, void **)) \
	X(unload, "cuModuleUnload", (void *))						\
	X(get_function, "cuModuleGetFunction", (void **, void *, const char *))		\
	X(set_function, "cuFuncSetAttribute", (void *, int, int))			\
	X(alloc, "cuMemAlloc_v2", (uint64_t *, size_t))					\
	X(release, "cuMemFree_v2", (uint64_t))						\
	X(fill, "cuMemsetD8_v2", (uint64_t, unsigned char, size_t))			\
	X(to_device, "cuMemcpyHtoD_v2", (uint64_t, const void *, size_t))		\
	X(to_host, "cuMemcpyDtoH_v2", (void *, uint64_t, size_t))			\
	X(error_name, "cuGetErrorName", (int, const char **))				\
	X(launch, "cuLaunchKernel", (void *, unsigned int, unsigned int, unsigned int,	\
				     unsigned int, unsigned int, unsigned int,		\
				     unsigned int, void *, void **, void **))

enum {
	JIT_MAX_REGISTERS = 0, JIT_ERROR_LOG_BUFFER = 5, JIT_ERROR_LOG_BYTES = 6, JIT_LEVEL = 7,
	FUNCTION_MAX_DYNAMIC_SHARED = 8,
	DEVICE_SMS = 16, DEVICE_MAJOR = 75, DEVICE_MINOR = 76,
};

/* A member of a struct of pointers, a row of the table that driver_find() fills it by. */
#define DRIVER_MEMBER(name, symbol, args) int (*name) args;
#define DRIVER_ROW(name, symbol, args) { symbol, (void **)&cu.name },
struct driver_call {
	const char *symbol;
	void **at;
};

/* Opens libcuda.so.1 and finds n functions. False: why says what is missing. */
bool driver_find(const struct driver_call *calls, size_t n, char *why, size_t bytes);

#endif
