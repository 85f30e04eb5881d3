// SPDX-License-Identifier: GPL-2.0
/*
 * Modules and functions. PTX is parsed here whatever the backend, so that its
 * errors and its kernels' parameters are known at once; the engine parses it
 * again for itself.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "internal.h"

#define IMAGE_MAX	(16u << 20)	/* as the module's GPUEMU_MODULE_MAX */

void module_free(struct gpuemu_module *module)
{
	struct gpuemu_module **at = &module->ctx->modules;
	struct gpuemu_function *f, *next;

	while (*at && *at != module)
		at = &(*at)->next;
	if (*at)
		*at = module->next;
	for (f = module->functions; f; f = next) {
		next = f->next;
		free(f);
	}
	ptx_module_free(module->ptx);
	free(module->name);
	free(module);
}

/* Its .global variables get memory and their initial values. */
static int place(struct gpuemu_module *m, struct err *err)
{
	uint32_t align = 1;
	uint64_t bytes = ptx_module_global_bytes(m->ptx, &align);
	int ret;

	if (!bytes)
		return 0;
	if (align > PAGE_BYTES)
		return err_set(err, -EOPNOTSUPP,
			       "%s: a .global variable aligned to %u bytes: at most %llu are kept",
			       m->name, align, PAGE_BYTES);
	ret = mem_alloc(m->ctx, &m->segment, bytes, MEM_SEGMENT, err);
	if (ret)
		return ret;
	ptx_module_place(m->ptx, (uintptr_t)m->segment);
	memcpy(m->segment, ptx_module_global_image(m->ptx), bytes);
	return 0;
}

static int parse(struct gpuemu_module *m, const char *text, size_t bytes, struct err *err)
{
	const struct ptx_options options = {
		.maxregs = gpu_maxregs(&m->ctx->spec),
		.stack_bytes = (uint32_t)m->ctx->spec.stack_bytes,
		.leave_out = true,
	};
	int ret = ptx_module_parse_with(text, bytes, m->name, &options, &m->ptx, err);

	if (ret)
		m->ptx = NULL;
	return ret;
}

static int load(struct gpuemu_ctx *ctx, struct gpuemu_module **module, const char *text,
		size_t bytes, const char *name, struct err *err)
{
	struct gpuemu_module *m;
	int ret;

	if (!text || bytes == 0 || bytes > IMAGE_MAX)
		return err_set(err, -EINVAL, "%s: PTX of %zu bytes: 1 to %u are taken", name,
			       text ? bytes : 0, IMAGE_MAX);
	m = calloc(1, sizeof(*m));
	if (!m)
		return -ENOMEM;
	m->ctx = ctx;
	m->name = strdup(name);
	ret = m->name ? parse(m, text, bytes, err) : -ENOMEM;
	if (!ret)
		ret = place(m, err);
	if (!ret)
		ret = ctx->backend->load(ctx, m, text, bytes, err);
	if (ret) {
		if (m->segment)
			mem_free(ctx, m->segment, true);
		module_free(m);
		return ret;
	}
	m->next = ctx->modules;
	ctx->modules = m;
	*module = m;
	return 0;
}

PUBLIC int gpuemu_module_load_data(struct gpuemu_ctx *ctx, struct gpuemu_module **module,
				   const char *text, size_t bytes, const char *name)
{
	struct err err = { "" };

	*module = NULL;
	ctx_enter(ctx);
	return ctx_leave(ctx, load(ctx, module, text, bytes, name ? name : "ptx", &err), &err);
}

/* The whole file, whatever stat() says: it may be a pipe. */
static int read_file(const char *path, char **text, size_t *bytes, struct err *err)
{
	FILE *f = fopen(path, "re");
	char *buffer = malloc(IMAGE_MAX + 1);
	int ret = 0;

	if (!f)
		ret = err_set(err, -errno, "%s: %s", path, strerror(errno));
	else if (!buffer)
		ret = -ENOMEM;
	if (!ret) {
		*bytes = fread(buffer, 1, IMAGE_MAX + 1, f);
		if (ferror(f))
			ret = err_set(err, -errno, "%s: %s", path, strerror(errno));
	}
	if (f)
		fclose(f);
	if (ret) {
		free(buffer);
		return ret;
	}
	*text = buffer;
	return 0;
}

PUBLIC int gpuemu_module_load(struct gpuemu_ctx *ctx, struct gpuemu_module **module,
			      const char *path)
{
	struct err err = { "" };
	char *text = NULL;
	size_t bytes;
	int ret;

	*module = NULL;
	ctx_enter(ctx);
	ret = read_file(path, &text, &bytes, &err);
	if (!ret)
		ret = load(ctx, module, text, bytes, path, &err);
	free(text);
	return ctx_leave(ctx, ret, &err);
}

PUBLIC int gpuemu_module_unload(struct gpuemu_module *module)
{
	struct gpuemu_ctx *ctx;
	struct err err = { "" };

	if (!module)
		return -EINVAL;
	ctx = module->ctx;
	ctx_enter(ctx);
	stream_wait_all(ctx);
	ctx->backend->unload(ctx, module);
	if (module->segment)
		mem_free(ctx, module->segment, true);
	module_free(module);
	return ctx_leave(ctx, 0, &err);
}

static int no_kernel(const struct gpuemu_module *module, const char *name, struct err *err)
{
	const struct ptx_kernel *k;
	char known[300] = "";

	for (unsigned int i = 0; (k = ptx_module_kernel_at(module->ptx, i)); i++)
		snprintf(known + strlen(known), sizeof(known) - strlen(known), "%s%s",
			 i ? ", " : "", k->name);
	return err_set(err, -ENOENT, "%s has no kernel '%s': %s%s", module->name, name,
		       known[0] ? "there are " : "it has none", known);
}

static int function_of(struct gpuemu_module *module, const struct ptx_kernel *kernel,
		       struct gpuemu_function **function)
{
	struct gpuemu_function *f;

	for (f = module->functions; f; f = f->next)
		if (f->kernel == kernel)
			break;
	if (!f) {
		f = calloc(1, sizeof(*f));
		if (!f)
			return -ENOMEM;
		f->module = module;
		f->kernel = kernel;
		f->next = module->functions;
		module->functions = f;
	}
	*function = f;
	return 0;
}

static int get_function(struct gpuemu_module *module, struct gpuemu_function **function,
			const char *name, struct err *err)
{
	const struct ptx_kernel *kernel = ptx_module_kernel(module->ptx, name);
	const char *why = kernel ? NULL : ptx_module_refusal(module->ptx, name);

	if (why)
		return err_set(err, -EOPNOTSUPP, "kernel '%s': %s", name, why);
	return kernel ? function_of(module, kernel, function) : no_kernel(module, name, err);
}

PUBLIC int gpuemu_module_get_function(struct gpuemu_module *module,
				      struct gpuemu_function **function, const char *name)
{
	struct err err = { "" };

	*function = NULL;
	ctx_enter(module->ctx);
	return ctx_leave(module->ctx, get_function(module, function, name, &err), &err);
}

PUBLIC int gpuemu_module_function_at(struct gpuemu_module *module,
				     struct gpuemu_function **function, unsigned int n)
{
	const struct ptx_kernel *kernel;
	struct err err = { "" };
	int ret;

	*function = NULL;
	ctx_enter(module->ctx);
	kernel = ptx_module_kernel_at(module->ptx, n);
	ret = kernel ? function_of(module, kernel, function) :
		       err_set(&err, -ENOENT, "%s has no kernel number %u", module->name, n);
	return ctx_leave(module->ctx, ret, &err);
}

/* --- variables -------------------------------------------------------------- */

static int get_global(const struct gpuemu_module *module, void **ptr, size_t *bytes,
		      const char *name, struct err *err)
{
	const struct ptx_variable *v;
	char known[300] = "";

	for (unsigned int i = 0; (v = ptx_module_variable_at(module->ptx, i)); i++) {
		if (strcmp(v->name, name) == 0) {
			if (ptr)
				*ptr = (char *)module->segment + v->offset;
			if (bytes)
				*bytes = v->bytes;
			return 0;
		}
		snprintf(known + strlen(known), sizeof(known) - strlen(known), "%s%s",
			 i ? ", " : "", v->name);
	}
	return err_set(err, -ENOENT, "%s has no .global variable '%s': %s%s", module->name, name,
		       known[0] ? "there are " : "it has none", known);
}

PUBLIC int gpuemu_module_get_global(struct gpuemu_module *module, void **ptr, size_t *bytes,
				    const char *name)
{
	struct err err = { "" };

	if (ptr)
		*ptr = NULL;
	if (bytes)
		*bytes = 0;
	ctx_enter(module->ctx);
	return ctx_leave(module->ctx, get_global(module, ptr, bytes, name, &err), &err);
}
