// SPDX-License-Identifier: GPL-2.0
/*
 * A context: which backend, which options, its lock and its last error. The
 * only file of the library that reads the environment, with settings.c.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

#define DEFAULT_DEVICE	"/dev/gpuemu"

static const struct backend_ops *const backends[] = {
#define X(name) &backend_##name,
#include "backends.def"
#undef X
};

/* A failed open leaves no context to ask. */
static _Thread_local struct err open_err;

PUBLIC const char *gpuemu_last_error(const struct gpuemu_ctx *ctx)
{
	return ctx ? ctx->err.text : open_err.text;
}

PUBLIC const char *gpuemu_backend(const struct gpuemu_ctx *ctx)
{
	return ctx->backend->name;
}

PUBLIC int gpuemu_pageable(const struct gpuemu_ctx *ctx)
{
	return ctx->pageable;
}

/* On but where the user says otherwise, so that a pointer that went astray is an error. */
static bool choose_pageable(const struct backend_ops *backend)
{
	const char *value = getenv("GPUEMU_PAGEABLE");

	return backend->pageable && !(value && !strcmp(value, "0"));
}

static const struct backend_ops *find_backend(const char *name)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(backends); i++)
		if (strcmp(backends[i]->name, name) == 0)
			return backends[i];
	return NULL;
}

static int unknown_backend(const char *name, struct err *err)
{
	char known[128] = "";

	for (unsigned int i = 0; i < ARRAY_SIZE(backends); i++)
		snprintf(known + strlen(known), sizeof(known) - strlen(known), "%s%s",
			 i ? ", " : "", backends[i]->name);
	return err_set(err, -EINVAL, "unknown backend '%s': there are %s", name, known);
}

static int choose_backend(struct gpuemu_ctx *ctx, const char *name, const char *device,
			  struct err *err)
{
	if (!name || !name[0])
		name = getenv("GPUEMU_BACKEND");
	if (name && name[0]) {
		ctx->backend = find_backend(name);
		return ctx->backend ? 0 : unknown_backend(name, err);
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(backends) && !ctx->backend; i++)
		if (backends[i]->present(device))
			ctx->backend = backends[i];
	return ctx->backend ? 0 : err_set(err, -ENODEV, "no backend is usable");
}

/* -ENOENT from a setting is an unknown key; from opening, it would mean no module. */
static int as_einval(int ret)
{
	return ret == -ENOENT || ret == -ERANGE ? -EINVAL : ret;
}

static int apply_settings(struct gpuemu_ctx *ctx, const char *settings, struct err *err)
{
	char *lines = settings_absolute(settings);
	int ret = lines ? spec_from_text(&ctx->spec, lines, err) : -ENOMEM;

	if (!ret)
		ret = settings_merge(&ctx->settings, lines);
	free(lines);
	return ret;
}

static int apply_options(struct gpuemu_ctx *ctx, const char *config, const char *settings,
			 struct err *err)
{
	int ret = 0;

	ctx->heap_bytes = HEAP_BYTES;
	spec_defaults(&ctx->spec);
	ctx->spec.vram_bytes = 0;
	if (config)
		ret = settings_from_config(&ctx->spec, config, &ctx->settings, err);
	if (!ret && settings)
		ret = apply_settings(ctx, settings, err);
	if (!ret)
		ret = settings_check(&ctx->spec, err);
	return as_einval(ret);
}

static void ctx_free(struct gpuemu_ctx *ctx)
{
	while (ctx->modules)
		module_free(ctx->modules);
	stream_free_all(ctx);
	event_free_all(ctx);
	pthread_mutex_destroy(&ctx->lock);
	free(ctx->textures);
	free(ctx->settings);
	record_free(&ctx->recorded);
	free(ctx);
}

/* A caller built against an older header has a shorter struct. */
static int copy_options(struct gpuemu_options *to, const struct gpuemu_options *from,
			struct err *err)
{
	*to = (struct gpuemu_options){ 0 };
	if (!from)
		return 0;
	if (from->size < sizeof(from->size) || from->size > sizeof(*to))
		return err_set(err, -EINVAL,
			       "gpuemu_options.size is %zu, sizeof(struct gpuemu_options) is %zu",
			       from->size, sizeof(*to));
	memcpy(to, from, from->size);
	return 0;
}

static int open_backend(struct gpuemu_ctx *ctx, const char *device, struct err *err)
{
	ctx->pageable = choose_pageable(ctx->backend);
	return ctx->backend->open(ctx, device, err);
}

static int open_ctx(struct gpuemu_ctx *ctx, const struct gpuemu_options *options,
		    struct err *err)
{
	struct gpuemu_options o;
	const char *device;
	int ret;

	ret = copy_options(&o, options, err);
	if (ret)
		return ret;
	device = o.device ? o.device : DEFAULT_DEVICE;
	ret = choose_backend(ctx, o.backend, device, err);
	if (!ret)
		ret = apply_options(ctx, o.config, o.settings, err);
	if (!ret && o.recorded)
		ret = record_read(o.recorded, &ctx->recorded, err);
	if (!ret)
		ret = open_backend(ctx, device, err);
	return ret;
}

PUBLIC int gpuemu_open(struct gpuemu_ctx **ctx, const struct gpuemu_options *options)
{
	struct gpuemu_ctx *c = calloc(1, sizeof(*c));
	struct err err = { "" };
	int ret;

	*ctx = NULL;
	if (!c)
		return err_set(&open_err, -ENOMEM, "no memory for a context");
	pthread_mutex_init(&c->lock, NULL);
	c->default_stream.ctx = c;
	ret = open_ctx(c, options, &err);
	if (ret) {
		ctx_free(c);
		err_set(&open_err, 0, "%s", err.text[0] ? err.text : gpuemu_strerror(ret));
		return ret;
	}
	*ctx = c;
	return 0;
}

PUBLIC void gpuemu_close(struct gpuemu_ctx *ctx)
{
	if (!ctx)
		return;
	mem_free_all(ctx);
	ctx->backend->close(ctx);
	ctx_free(ctx);
}

static int configure(struct gpuemu_ctx *ctx, const char *settings, struct err *err)
{
	struct gpu_spec old = ctx->spec, spec = ctx->spec;
	char *merged = NULL;
	int ret;

	ret = spec_from_text(&spec, settings, err);
	if (!ret)
		ret = settings_check(&spec, err);
	if (!ret && ctx->settings)
		ret = settings_merge(&merged, ctx->settings);
	if (!ret)
		ret = settings_merge(&merged, settings);
	if (!ret) {
		stream_wait_all(ctx);
		ctx->spec = spec;
		ret = ctx->backend->configure(ctx, settings, err);
	}
	if (ret) {
		ctx->spec = old;
		free(merged);
		return ret;
	}
	free(ctx->settings);
	ctx->settings = merged;
	return 0;
}

PUBLIC int gpuemu_configure(struct gpuemu_ctx *ctx, const char *settings)
{
	char *lines = settings ? settings_absolute(settings) : NULL;
	struct err err = { "" };
	int ret;

	ctx_enter(ctx);
	if (!settings)
		ret = err_set(&err, -EINVAL, "settings are NULL");
	else
		ret = lines ? configure(ctx, lines, &err) : -ENOMEM;
	free(lines);
	return ctx_leave(ctx, ret, &err);
}

PUBLIC void gpuemu_free(void *p)
{
	free(p);
}
