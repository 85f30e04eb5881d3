// SPDX-License-Identifier: GPL-2.0
/* A real GPU: see driver.h. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "driver.h"

#define GUARD_BYTES	256
#define GUARD		0x5a
#define LOG_BYTES	4096

/* The numbers of the driver's interface that are used here. */
enum {
	JIT_MAX_REGISTERS = 0, JIT_ERROR_LOG_BUFFER = 5, JIT_ERROR_LOG_BYTES = 6, JIT_LEVEL = 7,
	FUNCTION_MAX_DYNAMIC_SHARED = 8, DEVICE_MAJOR = 75, DEVICE_MINOR = 76,
};

#define CALLS(X)									\
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
	X(set_attribute, "cuFuncSetAttribute", (void *, int, int))			\
	X(alloc, "cuMemAlloc_v2", (driver_address *, size_t))				\
	X(release, "cuMemFree_v2", (driver_address))					\
	X(fill, "cuMemsetD8_v2", (driver_address, unsigned char, size_t))		\
	X(to_device, "cuMemcpyHtoD_v2", (driver_address, const void *, size_t))		\
	X(to_host, "cuMemcpyDtoH_v2", (void *, driver_address, size_t))			\
	X(error_name, "cuGetErrorName", (int, const char **))				\
	X(launch, "cuLaunchKernel", (void *, unsigned int, unsigned int, unsigned int,	\
				     unsigned int, unsigned int, unsigned int,		\
				     unsigned int, void *, void **, void **))
#define MEMBER(name, symbol, args) int (*name) args;
static struct { CALLS(MEMBER) } cu;
static int device;

static const char *name_of(int error)
{
	const char *name = NULL;

	return cu.error_name && !cu.error_name(error, &name) && name ? name : "an unknown error";
}

static bool good(int error, const char *call, char *why, size_t bytes)
{
	if (error)
		snprintf(why, bytes, "%s: %s", call, name_of(error));
	return !error;
}

bool driver_open(char *why, size_t bytes)
{
	static const struct {
		const char *symbol;
		void **at;
	} calls[] = {
#define ROW(name, symbol, args) { symbol, (void **)&cu.name },
		CALLS(ROW)
	};
	void *context, *so = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);

	if (!so) {
		snprintf(why, bytes, "%s", dlerror());
		return false;
	}
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		*calls[i].at = dlsym(so, calls[i].symbol);
		if (!*calls[i].at) {
			snprintf(why, bytes, "the driver has no %s", calls[i].symbol);
			return false;
		}
	}
	return good(cu.init(0), "cuInit", why, bytes) &&
	       good(cu.device(&device, 0), "cuDeviceGet", why, bytes) &&
	       good(cu.retain(&context, device), "cuDevicePrimaryCtxRetain", why, bytes) &&
	       good(cu.set_current(context), "cuCtxSetCurrent", why, bytes);
}

void driver_describe(char *text, size_t bytes)
{
	int version = 0, major = 0, minor = 0;
	char name[128] = "";

	cu.version(&version);
	cu.device_name(name, sizeof(name), device);
	cu.device_attribute(&major, DEVICE_MAJOR, device);
	cu.device_attribute(&minor, DEVICE_MINOR, device);
	snprintf(text, bytes, "%s, sm_%d%d, driver API %d.%d", name, major, minor, version / 1000,
		 version % 1000 / 10);
}

bool driver_load(const char *ptx, unsigned int maxregs, void **module, char *why, size_t bytes)
{
	/* Without a limit or a level, the driver's own. */
	const char *level = getenv("SILICON_LEVEL");
	int options[4] = { JIT_ERROR_LOG_BUFFER, JIT_ERROR_LOG_BYTES }, error;
	char *log = calloc(1, LOG_BYTES);
	void *values[4] = { log, (void *)(uintptr_t)LOG_BYTES };
	unsigned int n = 2;

	if (maxregs) {
		options[n] = JIT_MAX_REGISTERS;
		values[n++] = (void *)(uintptr_t)maxregs;
	}
	if (level) {
		options[n] = JIT_LEVEL;
		values[n++] = (void *)(uintptr_t)atoi(level);
	}
	error = cu.load(module, ptx, n, options, values);

	if (error)
		snprintf(why, bytes, "cuModuleLoadDataEx: %s: %s", name_of(error), log);
	free(log);
	return !error;
}

void driver_unload(void *module)
{
	cu.unload(module);
}

bool driver_function(void *module, const char *name, void **function, char *why, size_t bytes)
{
	return good(cu.get_function(function, module, name), "cuModuleGetFunction", why, bytes);
}

bool driver_alloc(size_t size, driver_address *address, char *why, size_t bytes)
{
	if (!good(cu.alloc(address, size + 2 * GUARD_BYTES), "cuMemAlloc", why, bytes) ||
	    !good(cu.fill(*address, GUARD, size + 2 * GUARD_BYTES), "cuMemsetD8", why, bytes))
		return false;
	*address += GUARD_BYTES;
	return true;
}

bool driver_free(driver_address address, size_t size, char *why, size_t bytes)
{
	uint8_t guard[2][GUARD_BYTES];

	if (!driver_read(guard[0], address - GUARD_BYTES, GUARD_BYTES, why, bytes) ||
	    !driver_read(guard[1], address + size, GUARD_BYTES, why, bytes) ||
	    !good(cu.release(address - GUARD_BYTES), "cuMemFree", why, bytes))
		return false;
	for (unsigned int i = 0; i < 2 * GUARD_BYTES; i++) {
		if (guard[i / GUARD_BYTES][i % GUARD_BYTES] != GUARD) {
			snprintf(why, bytes, "the kernel wrote %s a buffer of %zu bytes",
				 i < GUARD_BYTES ? "below" : "past", size);
			return false;
		}
	}
	return true;
}

bool driver_write(driver_address to, const void *from, size_t size, char *why, size_t bytes)
{
	return good(cu.to_device(to, from, size), "cuMemcpyHtoD", why, bytes);
}

bool driver_read(void *to, driver_address from, size_t size, char *why, size_t bytes)
{
	return good(cu.to_host(to, from, size), "cuMemcpyDtoH", why, bytes);
}

/* The driver writes what kernels print to this process' stdout, and assertions to its stderr. */
static char *take_print(FILE *file)
{
	long length = ftell(file);
	char *text = calloc(1, length + 1);

	rewind(file);
	length = fread(text, 1, length, file);
	fclose(file);
	return text;
}

void driver_run(void *function, const struct driver_launch *launch, char **printed,
		const char **error)
{
	FILE *file = tmpfile();
	int out, err, failed = 0;

	fflush(stdout);
	out = dup(STDOUT_FILENO);
	err = dup(STDERR_FILENO);
	dup2(fileno(file), STDOUT_FILENO);
	dup2(fileno(file), STDERR_FILENO);
	if (launch->shared > 48 * 1024)
		failed = cu.set_attribute(function, FUNCTION_MAX_DYNAMIC_SHARED, launch->shared);
	if (!failed)
		failed = cu.launch(function, launch->grid[0], launch->grid[1], launch->grid[2],
				   launch->block[0], launch->block[1], launch->block[2],
				   launch->shared, NULL, launch->params, NULL);
	if (!failed)
		failed = cu.synchronize();
	fflush(stdout);
	fseek(file, 0, SEEK_END);
	dup2(out, STDOUT_FILENO);
	dup2(err, STDERR_FILENO);
	close(out);
	close(err);
	*printed = take_print(file);
	*error = failed ? name_of(failed) : NULL;
}
