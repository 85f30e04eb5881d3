// SPDX-License-Identifier: GPL-2.0
/* A call of the library on a context: one at a time, and what went wrong is kept. */
#include "internal.h"

void ctx_enter(struct gpuemu_ctx *ctx)
{
	pthread_mutex_lock(&ctx->lock);
}

int ctx_leave(struct gpuemu_ctx *ctx, int ret, const struct err *err)
{
	if (ret < 0) {
		if (err->text[0])
			ctx->err = *err;
		else
			err_set(&ctx->err, 0, "%s", gpuemu_strerror(ret));
	}
	pthread_mutex_unlock(&ctx->lock);
	return ret;
}
