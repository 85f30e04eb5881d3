// SPDX-License-Identifier: GPL-2.0
/*
 * Kernels on a real GPU, whose driver compiles the PTX. What it computes judges the reference
 * too. A row that ends with an error breaks the context: the runner gives the next one a new
 * process.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "silicon/driver.h"

struct silicon {
	void *module;
};

void *silicon_open(struct text ptx, const char *name, unsigned int maxregs, char *why,
		   size_t bytes)
{
	struct silicon *s = calloc(1, sizeof(*s));
	static bool is_open;

	(void)name;
	if (!s)
		abort();
	is_open = is_open || driver_open(why, bytes);
	if (!is_open || !driver_load(ptx.start, maxregs, &s->module, why, bytes)) {
		free(s);
		return NULL;
	}
	return s;
}

void silicon_close(void *engine)
{
	struct silicon *s = engine;

	driver_unload(s->module);
	free(s);
}

bool silicon_can(const struct diff_case *c)
{
	/*
	 * Nothing ends a kernel on a GPU that waits at a barrier for threads that never come. And a
	 * compiler may keep an array in registers, which nothing is outside of.
	 */
	return !c->fails || (!strstr(c->fails, "barrier") && strcmp(c->name, "k_local_outside"));
}

static bool place(const struct diff_case *c, const struct arguments *args, driver_address *at,
		  char *why, size_t bytes)
{
	for (unsigned int i = 0; i < args->n; i++) {
		const struct argument *arg = &args->arg[i];
		void *image;
		bool ok;

		if (!arg->is_buffer)
			continue;
		image = malloc(arg->bytes);
		if (!image)
			abort();
		argument_fill(arg, c, i, image);
		ok = driver_alloc(arg->bytes, &at[i], why, bytes) &&
		     driver_write(at[i], image, arg->bytes, why, bytes);
		free(image);
		if (!ok)
			return false;
	}
	return true;
}

static bool judge(const struct arguments *args, const driver_address *at, char *why, size_t bytes)
{
	for (unsigned int i = 0; i < args->n; i++) {
		const struct argument *arg = &args->arg[i];
		void *got;
		bool ok;

		if (!arg->is_buffer)
			continue;
		got = malloc(arg->bytes);
		if (!got)
			abort();
		ok = driver_read(got, at[i], arg->bytes, why, bytes) &&
		     driver_free(at[i], arg->bytes, why, bytes) &&
		     argument_judge(arg, i, got, why, bytes);
		free(got);
		if (!ok)
			return false;
	}
	return true;
}

bool silicon_run(void *engine, const struct diff_case *c, const struct arguments *args,
		 const char *printed, char *why, size_t bytes)
{
	struct silicon *s = engine;
	struct driver_launch launch = {
		.grid = { c->grid.x, c->grid.y, c->grid.z },
		.block = { c->block.x, c->block.y, c->block.z }, .shared = c->shared,
	};
	uint8_t raw[MAX_PARAM_BYTES];
	driver_address at[MAX_ARGS] = { 0 };
	void *buffers[MAX_ARGS], *params[MAX_ARGS], *function;
	const char *error;
	char *text;
	bool ok;

	if (!driver_function(s->module, c->name, &function, why, bytes) ||
	    !place(c, args, at, why, bytes))
		return false;
	for (unsigned int i = 0; i < args->n; i++)
		buffers[i] = (void *)(uintptr_t)at[i];
	arguments_params(args, buffers, raw);
	for (unsigned int i = 0; i < args->n; i++)
		params[i] = raw + args->arg[i].offset;
	launch.params = params;
	driver_run(function, &launch, &text, &error);
	if (c->fails) {
		/* What the error is called differs; that there is one does not. */
		ok = error != NULL;
		snprintf(why, bytes, "%s", ok ? error : "it must fail, and ended well");
	} else if (error) {
		ok = false;
		snprintf(why, bytes, "%s", error);
	} else {
		ok = judge(args, at, why, bytes) && printed_judge(printed, text, why, bytes);
	}
	free(text);
	return ok;
}
