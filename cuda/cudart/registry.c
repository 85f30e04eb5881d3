// SPDX-License-Identifier: GPL-2.0
/*
 * Device code as compilers register it: constructors name each fatbin, its kernels and its
 * variables by host addresses, before main() and without a GPU. What was compiled with -rdc=true is
 * one module for each executable or library. module.c loads it.
 */
#include <dlfcn.h>
#include <stdlib.h>

#include "cudart.h"

#define WRAPPER_MAGIC	0x466243b1
#define BUCKETS		256

/* The argument of __cudaRegisterFatBinary(), .nvFatBinSegment. */
struct wrapper {
	int magic, version;
	const void *data;
	const void *const *prelinked;
};

/* One fatbin. With -rdc=true nvcc's link leaves the fatbins of all objects in an array. */
enum { VERSION_ONE = 1, VERSION_LINKED = 2 };

static struct module *modules;
static struct function *functions[BUCKETS];
static struct variable *variables;

static struct function **bucket(const void *host)
{
	return &functions[((uintptr_t)host >> 4 ^ (uintptr_t)host >> 12) % BUCKETS];
}

static bool add_image(struct module *m, const void *data, const struct wrapper *wrapper)
{
	struct module_image *images = reallocarray(m->images, m->nimages + 1, sizeof(*images));

	if (!images)
		return false;
	images[m->nimages++] = (struct module_image){ data, wrapper };
	m->images = images;
	return true;
}

/* A wrapper that no compiler writes has no fatbins: who launches its kernels gets to know. */
static bool add_images(struct module *m, const struct wrapper *w)
{
	bool added = true;

	if (!w || w->magic != WRAPPER_MAGIC)
		return true;
	if (w->version == VERSION_LINKED && w->prelinked)
		for (const void *const *image = w->prelinked; *image && added; image++)
			added = add_image(m, *image, NULL);
	else if ((w->version == VERSION_ONE || w->version == VERSION_LINKED) && w->data)
		added = add_image(m, w->data, w);
	return added;
}

static struct module *add_module(const struct wrapper *w)
{
	struct module *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	if (!add_images(m, w)) {
		free(m->images);
		free(m);
		return NULL;
	}
	m->next = modules;
	modules = m;
	return m;
}

API void **__cudaRegisterFatBinary(void *image);
API void **__cudaRegisterFatBinary(void *image)
{
	struct module *m;

	enter_quietly();
	m = add_module(image);
	leave_quietly(cudaSuccess);
	return (void **)m;
}

/*
 * An object of `gpuemu cc -rdc=true`: the objects of one executable or library are one module.
 * `globals` registers what the object has.
 */
API void __cudaRegisterLinkedBinary_gpuemu(void (*globals)(void **handle), void *image, void *id,
					   void (*dummy)(void **));
API void __cudaRegisterLinkedBinary_gpuemu(void (*globals)(void **handle), void *image, void *id,
					   void (*dummy)(void **))
{
	struct module *m = NULL;
	Dl_info info;

	enter_quietly();
	if (dladdr(image, &info)) {
		for (m = modules; m; m = m->next)
			if (m->linked == info.dli_fbase && !m->module)
				break;
		if (m && !add_images(m, image))
			m = NULL;
		else if (!m)
			m = add_module(image);
		if (m)
			m->linked = info.dli_fbase;
	}
	leave_quietly(cudaSuccess);
	if (m)
		globals((void **)m);
}

/* What __cudaRegisterFatBinary() returned, and is not gone. The lock is held. */
static struct module *module_of(void **handle)
{
	struct module *m = modules;

	while (m && (void **)m != handle)
		m = m->next;
	return m;
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
		free(m->images);
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
	struct module *m;

	enter_quietly();
	m = module_of(handle);
	if (f && m && name) {
		*f = (struct function){ .next = *at, .host = host, .name = name, .module = m };
		*at = f;
	} else {
		free(f);
	}
	leave_quietly(cudaSuccess);
}

static void add_variable(void **handle, const void *host, void **managed, const char *name,
			 bool constant)
{
	struct variable *v = calloc(1, sizeof(*v));
	struct module *m;

	enter_quietly();
	m = module_of(handle);
	if (v && m && name) {
		*v = (struct variable){
			.next = variables, .host = host, .managed = managed, .name = name,
			.module = m, .constant = constant,
		};
		variables = v;
	} else {
		free(v);
	}
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

void registry_add_in_place(void *host, size_t bytes, const char *name, const void *wrapper,
			   bool visible)
{
	struct variable *v = calloc(1, sizeof(*v));

	for (struct module *m = v ? modules : NULL; m; m = m->next) {
		for (unsigned int i = 0; i < m->nimages; i++) {
			if (m->images[i].wrapper != wrapper)
				continue;
			*v = (struct variable){
				.next = variables,
				.host = host,
				.name = name,
				.module = m,
				.in_place = true,
				.visible = visible,
				.text = i,
				.bytes = bytes,
			};
			variables = v;
			return;
		}
	}
	free(v);
}

struct module *registry_modules(void)
{
	return modules;
}

struct variable *registry_variables(void)
{
	return variables;
}

struct function *registry_function(const void *host)
{
	struct function *f = *bucket(host);

	while (f && f->host != host)
		f = f->next;
	return f;
}

void registry_forget(void)
{
	for (struct module *m = modules; m; m = m->next) {
		m->module = NULL;
		m->broken = false;
	}
	for (size_t i = 0; i < BUCKETS; i++)
		for (struct function *f = functions[i]; f; f = f->next)
			f->function = NULL;
}
