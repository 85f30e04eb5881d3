// SPDX-License-Identifier: GPL-2.0
/* A real GPU: see driver.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "calls.h"
#include "driver.h"

#define GUARD_BYTES	256
#define GUARD		0x5a
#define LOG_BYTES	4096

static struct {
	DRIVER_CALLS(DRIVER_MEMBER)
} cu;
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
	static const struct driver_call calls[] = { DRIVER_CALLS(DRIVER_ROW) };
	void *context;

	if (!driver_find(calls, sizeof(calls) / sizeof(calls[0]), why, bytes))
		return false;
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
		failed = cu.set_function(function, FUNCTION_MAX_DYNAMIC_SHARED, launch->shared);
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
