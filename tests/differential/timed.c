// SPDX-License-Identifier: GPL-2.0
/* Kernels on the cycle model, as a user of libgpuemu runs them, backend sim. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpuemu.h"
#include "engine.h"

struct timed_setup timed_setup;

struct timed {
	struct gpuemu_ctx *ctx;
	struct gpuemu_module *module;
	FILE *print;
};

static void take_print(void *arg, const char *text, size_t bytes)
{
	fwrite(text, 1, bytes, ((struct timed *)arg)->print);
}

void *timed_open(struct text ptx, const char *name, unsigned int maxregs, char *why, size_t bytes)
{
	struct timed *t = calloc(1, sizeof(*t));
	struct gpuemu_options options = { .size = sizeof(options), .backend = "sim" };
	char settings[640];

	if (!t)
		abort();
	snprintf(settings, sizeof(settings), "compiler.maxregs=%u\ncompiler.stack=8192\n%s", maxregs,
		 timed_setup.settings);
	options.settings = settings;
	options.config = timed_setup.config;
	if (gpuemu_open(&t->ctx, &options)) {
		snprintf(why, bytes, "%s", gpuemu_last_error(NULL));
		free(t);
		return NULL;
	}
	if (gpuemu_set_printf(t->ctx, take_print, t) ||
	    gpuemu_module_load_data(t->ctx, &t->module, ptx.start, ptx.bytes, name)) {
		snprintf(why, bytes, "%s", gpuemu_last_error(t->ctx));
		timed_close(t);
		return NULL;
	}
	return t;
}

void timed_close(void *engine)
{
	struct timed *t = engine;
	char *json = NULL;
	FILE *f = timed_setup.statistics ? fopen(timed_setup.statistics, "w") : NULL;

	if (f && !gpuemu_statistics(t->ctx, &json))
		fputs(json, f);
	if (f)
		fclose(f);
	gpuemu_free(json);
	gpuemu_close(t->ctx);
	free(t);
}

bool timed_run(void *engine, const struct diff_case *c, const struct arguments *args,
	       const char *printed, char *why, size_t bytes)
{
	struct timed *t = engine;
	struct gpuemu_function *function;
	struct gpuemu_dim3 grid = { c->grid.x, c->grid.y, c->grid.z };
	struct gpuemu_dim3 block = { c->block.x, c->block.y, c->block.z };
	uint8_t raw[MAX_PARAM_BYTES];
	void *buffers[MAX_ARGS] = { NULL }, *params[MAX_ARGS];
	char *text = NULL;
	size_t text_bytes;
	bool ok = true;
	int ret;

	ret = gpuemu_module_get_function(t->module, &function, c->name);
	for (unsigned int i = 0; i < args->n && !ret; i++) {
		if (!args->arg[i].is_buffer)
			continue;
		ret = gpuemu_mem_alloc_managed(t->ctx, &buffers[i], args->arg[i].bytes);
		if (!ret)
			argument_fill(&args->arg[i], c, i, buffers[i]);
	}
	arguments_params(args, buffers, raw);
	for (unsigned int i = 0; i < args->n; i++)
		params[i] = raw + args->arg[i].offset;
	t->print = open_memstream(&text, &text_bytes);
	if (!ret)
		ret = gpuemu_launch_params(function, grid, block, c->shared, NULL, params);
	if (!ret)
		ret = gpuemu_synchronize(t->ctx);
	fclose(t->print);
	if (c->fails) {
		ok = failure_judge(c, ret, gpuemu_last_error(t->ctx), why, bytes);
	} else if (ret) {
		snprintf(why, bytes, "%d: %s", ret, gpuemu_last_error(t->ctx));
		ok = false;
	}
	for (unsigned int i = 0; i < args->n; i++) {
		if (ok && !c->fails && buffers[i])
			ok = argument_judge(&args->arg[i], i, buffers[i], why, bytes);
		if (buffers[i])
			gpuemu_mem_free(t->ctx, buffers[i]);
	}
	if (ok && !c->fails)
		ok = printed_judge(printed, text, why, bytes);
	free(text);
	return ok;
}
