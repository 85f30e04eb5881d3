// SPDX-License-Identifier: GPL-2.0
/*
 * A module is loaded when one of its kernels or variables is used first; one with managed
 * variables, when the GPU is opened. What was compiled with -rdc=true is linked then.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cudart.h"
#include "link.h"

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

	for (const struct variable *v = registry_variables(); v; v = v->next)
		count += v->module == m && v->in_place;
	*n = 0;
	*places = calloc(count + 1, sizeof(**places));
	if (!*places)
		return -ENOMEM;
	for (const struct variable *v = registry_variables(); v; v = v->next)
		if (v->module == m && v->in_place)
			(*places)[(*n)++] = (struct link_place){
				.name = v->name,
				.address = (uintptr_t)v->host,
				.text = v->text,
				.visible = v->visible,
			};
	return 0;
}

/*
 * The module's text: as it was compiled if it is one and alone, else linked. -rdc=true has
 * declarations that only the link can tell the meaning of, in one text too.
 */
static int whole_text(const struct module *m, char **text)
{
	struct link_place *places = NULL;
	char **texts, why[300] = "";
	unsigned int nplaces;
	int ret = read_images(m, &texts);

	*text = NULL;
	if (!ret)
		ret = places_of(m, &places, &nplaces);
	if (!ret && m->nimages == 1 && !nplaces && !m->linked) {
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

	for (struct variable *v = registry_variables(); v; v = v->next)
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
	for (struct variable *v = registry_variables(); v; v = v->next)
		if (v->module == m && v->managed &&
		    !gpuemu_module_get_global(m->module, v->managed, &bytes, v->name))
			memory_add_managed(*v->managed, bytes);
	to_device(m);
	return cudaSuccess;
}

cudaError_t module_load_managed(void)
{
	cudaError_t error = cudaSuccess;

	for (struct variable *v = registry_variables(); v && !error; v = v->next)
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

cudaError_t module_function(const void *host, struct function **function)
{
	struct function *f = registry_function(host);
	cudaError_t error;
	int ret;

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
	struct variable *v = registry_variables();

	/* A managed one is known by its pointer's place, and by where it leads. */
	while (v && v->host != symbol && !(v->managed && *v->managed == symbol))
		v = v->next;
	*variable = v;
	return v ? load(v->module) : cudaErrorInvalidSymbol;
}
