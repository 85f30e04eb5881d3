// SPDX-License-Identifier: GPL-2.0
/*
 * Device code as compilers register it: constructors name each fatbin, its kernels and its
 * variables by host addresses, before main() and without a GPU. A module is loaded when one of
 * its kernels or variables is used first; one with managed variables, when the GPU is opened.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cudart.h"

#define WRAPPER_MAGIC	0x466243b1
#define BUCKETS		256

/* The argument of __cudaRegisterFatBinary(), .nvFatBinSegment. */
struct wrapper {
	int magic, version;
	const void *data;
	const void *const *prelinked;
};

static struct module *modules;
static struct function *functions[BUCKETS];
static struct variable *variables;

static struct function **bucket(const void *host)
{
	return &functions[((uintptr_t)host >> 4 ^ (uintptr_t)host >> 12) % BUCKETS];
}

/* --- registration ----------------------------------------------------------------------- */

API void **__cudaRegisterFatBinary(void *image);
API void **__cudaRegisterFatBinary(void *image)
{
	const struct wrapper *w = image;
	struct module *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	enter_quietly();
	m->image = w->magic == WRAPPER_MAGIC ? w->data : NULL;
	m->next = modules;
	modules = m;
	leave_quietly(cudaSuccess);
	return (void **)m;
}

API void __cudaRegisterFatBinaryEnd(void **handle);
API void __cudaRegisterFatBinaryEnd(void **handle)
{
}

API void __cudaUnregisterFatBinary(void **handle);
API void __cudaUnregisterFatBinary(void **handle)
{
	/*
	 * At exit, or when an object goes that dlopen() brought: its host addresses may be
	 * another's.
	 */
	struct module *m = (struct module *)handle, **at = &modules;

	enter_quietly();
	for (size_t i = 0; i < BUCKETS; i++) {
		for (struct function **f = &functions[i], *gone; (gone = *f);) {
			if (gone->module != m) {
				f = &gone->next;
				continue;
			}
			*f = gone->next;
			free(gone);
		}
	}
	for (struct variable **v = &variables, *gone; (gone = *v);) {
		if (gone->module != m) {
			v = &gone->next;
			continue;
		}
		*v = gone->next;
		free(gone);
	}
	while (*at && *at != m)
		at = &(*at)->next;
	if (*at) {
		*at = m->next;
		free(m);
	}
	leave_quietly(cudaSuccess);
}

API void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name,
				int limit, void *tid, void *bid, void *block, void *grid,
				int *warps);
API void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name,
				int limit, void *tid, void *bid, void *block, void *grid,
				int *warps)
{
	struct function *f = calloc(1, sizeof(*f)), **at = bucket(host);

	if (!f)
		return;
	enter_quietly();
	*f = (struct function){
		.next = *at, .host = host, .name = name, .module = (struct module *)handle,
	};
	*at = f;
	leave_quietly(cudaSuccess);
}

static void add_variable(void **handle, const void *host, void **managed, const char *name,
			 bool constant)
{
	struct variable *v = calloc(1, sizeof(*v));

	if (!v)
		return;
	enter_quietly();
	*v = (struct variable){
		.next = variables, .host = host, .managed = managed, .name = name,
		.module = (struct module *)handle, .constant = constant,
	};
	variables = v;
	leave_quietly(cudaSuccess);
}

API void __cudaRegisterVar(void **handle, char *host, char *address, const char *name, int ext,
			   size_t size, int constant, int global);
API void __cudaRegisterVar(void **handle, char *host, char *address, const char *name, int ext,
			   size_t size, int constant, int global)
{
	add_variable(handle, host, NULL, name, constant);
}

API void __cudaRegisterManagedVar(void **handle, void **host, char *address, const char *name,
				  int ext, size_t size, int constant, int global);
API void __cudaRegisterManagedVar(void **handle, void **host, char *address, const char *name,
				  int ext, size_t size, int constant, int global)
{
	add_variable(handle, host, host, name, false);
}

/* --- loading ------------------------------------------------------------------------------ */

static cudaError_t broken(struct module *m, cudaError_t why)
{
	m->broken = true;
	m->why = why;
	return why;
}

/* A module's variables are on the device when it is loaded; managed ones come when they are used. */
static void to_device(const struct module *m)
{
	size_t bytes;
	void *where;

	for (struct variable *v = variables; v; v = v->next)
		if (v->module == m && !v->managed &&
		    !gpuemu_module_get_global(m->module, &where, &bytes, v->name))
			gpuemu_mem_prefetch(runtime_ctx(), where, bytes, NULL);
	/* Where grids meet is memory that the program does not name. */
	if (!gpuemu_module_get_global(m->module, &where, &bytes, "__gpuemu_grid_workspace"))
		gpuemu_mem_prefetch(runtime_ctx(), where, bytes, NULL);
}

static cudaError_t load(struct module *m)
{
	struct fatbin_text text;
	int ret;

	if (m->module)
		return cudaSuccess;
	if (m->broken)
		return m->why;
	ret = m->image ? fatbin_ptx(m->image, SIZE_MAX / 2, &text) : -EINVAL;
	if (ret == -ENOENT) {
		runtime_say("the program's device code is machine code alone; build it with PTX: "
			    "nvcc -arch=sm_75 (not -gencode .. code=sm_75), or gpuemu cc");
		return broken(m, cudaErrorNoKernelImageForDevice);
	}
	if (ret) {
		runtime_say("the program's device code is no fatbin that can be read: %s",
			    gpuemu_strerror(ret));
		return broken(m, cudaErrorInvalidKernelImage);
	}
	ret = gpuemu_module_load_data(runtime_ctx(), &m->module, text.text, text.bytes, "program");
	free(text.text);
	if (ret) {
		runtime_say("%s", gpuemu_last_error(runtime_ctx()));
		return broken(m, ret == -ENOMEM ? cudaErrorMemoryAllocation : cudaErrorInvalidPtx);
	}
	for (struct variable *v = variables; v; v = v->next)
		if (v->module == m && v->managed)
			gpuemu_module_get_global(m->module, v->managed, NULL, v->name);
	to_device(m);
	return cudaSuccess;
}

cudaError_t module_load_managed(void)
{
	cudaError_t error = cudaSuccess;

	for (struct variable *v = variables; v && !error; v = v->next)
		if (v->managed)
			error = load(v->module);
	return error;
}

API char __cudaInitModule(void **handle);
API char __cudaInitModule(void **handle)
{
	leave(enter());
	return 1;
}

void module_forget_all(void)
{
	for (struct module *m = modules; m; m = m->next) {
		m->module = NULL;
		m->broken = false;
	}
	for (size_t i = 0; i < BUCKETS; i++)
		for (struct function *f = functions[i]; f; f = f->next)
			f->function = NULL;
}

cudaError_t module_function(const void *host, struct function **function)
{
	struct function *f = *bucket(host);
	cudaError_t error;
	int ret;

	while (f && f->host != host)
		f = f->next;
	*function = f;
	if (!f)
		return cudaErrorInvalidDeviceFunction;
	if (f->function)
		return cudaSuccess;
	error = load(f->module);
	if (error)
		return error;
	ret = gpuemu_module_get_function(f->module->module, &f->function, f->name);
	if (!ret)
		return cudaSuccess;
	runtime_say("%s", gpuemu_last_error(runtime_ctx()));
	return ret == -EOPNOTSUPP ? cudaErrorNotSupported : cudaErrorInvalidDeviceFunction;
}

cudaError_t module_variable(const void *symbol, struct variable **variable)
{
	struct variable *v = variables;

	/* A managed one is known by its pointer's place, and by where it leads. */
	while (v && v->host != symbol && !(v->managed && *v->managed == symbol))
		v = v->next;
	*variable = v;
	return v ? load(v->module) : cudaErrorInvalidSymbol;
}
