// SPDX-License-Identifier: GPL-2.0
/*
 * Device code as compilers register it: constructors name each fatbin, its kernels and its
 * variables by host addresses, before main() and without a GPU. A module is loaded when one of
 * its kernels or variables is used first; one with managed variables, when the GPU is opened.
 * What was compiled with -rdc=true is one module for each executable or library: its texts are
 * linked when it is loaded.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cudart.h"
#include "link.h"

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

/* --- registration ----------------------------------------------------------------------- */

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

void module_add_in_place(void *host, size_t bytes, const char *name, const void *wrapper,
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

/* --- loading ------------------------------------------------------------------------------ */

static cudaError_t broken(struct module *m, cudaError_t why)
{
	m->broken = true;
	m->why = why;
	return why;
}

/* The newest PTX of each of the module's fatbins. */
static int read_images(const struct module *m, char ***texts)
{
	struct fatbin_text text;
	int ret = m->nimages ? 0 : -EINVAL;

	*texts = calloc(m->nimages + 1, sizeof(**texts));
	if (!*texts)
		return -ENOMEM;
	for (unsigned int i = 0; i < m->nimages && !ret; i++) {
		ret = fatbin_ptx(m->images[i].data, SIZE_MAX / 2, &text);
		if (!ret)
			(*texts)[i] = text.text;
	}
	return ret;
}

/* Variables that gpuemu cc left in the program's own memory: their addresses are known. */
static int places_of(const struct module *m, struct link_place **places, unsigned int *n)
{
	unsigned int count = 0;

	for (const struct variable *v = variables; v; v = v->next)
		count += v->module == m && v->in_place;
	*n = 0;
	*places = calloc(count + 1, sizeof(**places));
	if (!*places)
		return -ENOMEM;
	for (const struct variable *v = variables; v; v = v->next)
		if (v->module == m && v->in_place)
			(*places)[(*n)++] = (struct link_place){
				.name = v->name,
				.address = (uintptr_t)v->host,
				.text = v->text,
				.visible = v->visible,
			};
	return 0;
}

/* The module's text: as it was compiled if it is one and alone, else linked. */
static int whole_text(const struct module *m, char **text)
{
	struct link_place *places = NULL;
	char **texts, why[300] = "";
	unsigned int nplaces;
	int ret = read_images(m, &texts);

	*text = NULL;
	if (!ret)
		ret = places_of(m, &places, &nplaces);
	if (!ret && m->nimages == 1 && !nplaces) {
		*text = texts[0];
		texts[0] = NULL;
	} else if (!ret) {
		ret = link_texts((const char *const *)texts, m->nimages, places, nplaces, text, why,
				 sizeof(why));
		if (ret == -EEXIST)
			runtime_say("the program's device code cannot be linked: %s", why);
	}
	for (unsigned int i = 0; texts && i < m->nimages; i++)
		free(texts[i]);
	free(texts);
	free(places);
	return ret;
}

/*
 * A module's variables are on the device when it is loaded; managed ones come when they are
 * used.
 */
static void to_device(const struct module *m)
{
	size_t bytes;
	void *where;

	for (struct variable *v = variables; v; v = v->next)
		if (v->module == m && !v->managed && !v->in_place &&
		    !gpuemu_module_get_global(m->module, &where, &bytes, v->name))
			gpuemu_mem_prefetch(runtime_ctx(), where, bytes, NULL);
	/* Where grids meet is memory that the program does not name. */
	if (!gpuemu_module_get_global(m->module, &where, &bytes, "__gpuemu_grid_workspace"))
		gpuemu_mem_prefetch(runtime_ctx(), where, bytes, NULL);
}

static cudaError_t load(struct module *m)
{
	size_t bytes;
	char *text;
	int ret;

	if (m->module)
		return cudaSuccess;
	if (m->broken)
		return m->why;
	ret = whole_text(m, &text);
	if (ret == -ENOENT) {
		runtime_say("the program's device code is machine code alone; build it with PTX: "
			    "nvcc -arch=sm_75 (not -gencode .. code=sm_75), or gpuemu cc");
		return broken(m, cudaErrorNoKernelImageForDevice);
	}
	if (ret == -EEXIST)
		return broken(m, cudaErrorDuplicateVariableName);
	if (ret) {
		runtime_say("the program's device code is no fatbin that can be read: %s",
			    gpuemu_strerror(ret));
		return broken(m, cudaErrorInvalidKernelImage);
	}
	ret = gpuemu_module_load_data(runtime_ctx(), &m->module, text, strlen(text), "program");
	free(text);
	if (ret) {
		runtime_say("%s", gpuemu_last_error(runtime_ctx()));
		return broken(m, ret == -ENOMEM ? cudaErrorMemoryAllocation : cudaErrorInvalidPtx);
	}
	for (struct variable *v = variables; v; v = v->next)
		if (v->module == m && v->managed &&
		    !gpuemu_module_get_global(m->module, v->managed, &bytes, v->name))
			memory_add_managed(*v->managed, bytes);
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
