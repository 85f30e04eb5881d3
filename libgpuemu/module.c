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
	ret = m->name ? ptx_module_parse(text, bytes, name, &m->ptx, err) : -ENOMEM;
	if (ret)
		m->ptx = NULL;
	else
		ret = ctx->backend->load(ctx, m, text, bytes, err);
	if (ret) {
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

static int get_function(struct gpuemu_module *module, struct gpuemu_function **function,
			const char *name, struct err *err)
{
	const struct ptx_kernel *kernel = ptx_module_kernel(module->ptx, name);
	struct gpuemu_function *f;

	if (!kernel)
		return no_kernel(module, name, err);
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

PUBLIC int gpuemu_module_get_function(struct gpuemu_module *module,
				      struct gpuemu_function **function, const char *name)
{
	struct err err = { "" };

	*function = NULL;
	ctx_enter(module->ctx);
	return ctx_leave(module->ctx, get_function(module, function, name, &err), &err);
}
