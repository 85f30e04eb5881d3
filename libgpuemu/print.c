// SPDX-License-Identifier: GPL-2.0
/*
 * Where the output of kernels goes. A backend hands it over when a launch is
 * done, launch by launch, under the context's lock.
 */
#include <stdio.h>

#include "internal.h"

void print_text(struct gpuemu_ctx *ctx, const char *text, size_t bytes)
{
	if (ctx->print)
		ctx->print(ctx->print_arg, text, bytes);
	else
		/* stdio keeps its place among the program's own output. */
		fwrite(text, 1, bytes, stdout);
}

PUBLIC int gpuemu_set_printf(struct gpuemu_ctx *ctx,
			     void (*print)(void *arg, const char *text, size_t bytes), void *arg)
{
	struct err err = { "" };

	ctx_enter(ctx);
	/* Works that were submitted before print by the old function. */
	stream_wait_all(ctx);
	ctx->print = print;
	ctx->print_arg = arg;
	return ctx_leave(ctx, 0, &err);
}
