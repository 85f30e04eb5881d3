// SPDX-License-Identifier: GPL-2.0
/*
 * Measurement: the statistics of a context, and far faults in wall time. Both
 * wait for what was submitted, so that they count whole kernels. Progress waits for nothing.
 */
#include <errno.h>

#include "internal.h"

#define TOUCH_BATCH_MAX	256u	/* raw records in one batch */

PUBLIC int gpuemu_statistics(struct gpuemu_ctx *ctx, char **json)
{
	struct err err = { "" };

	*json = NULL;
	ctx_enter(ctx);
	stream_wait_all(ctx);
	return ctx_leave(ctx, ctx->backend->statistics(ctx, json, &err), &err);
}

/* Without the lock, which a launch holds until its kernel has ended. */
PUBLIC int gpuemu_progress(const struct gpuemu_ctx *ctx, struct gpuemu_progress *progress)
{
	struct gpu_progress p;

	if (progress->size < sizeof(*progress))
		return -EINVAL;
	p = ctx->backend->progress(ctx);
	progress->launches = p.launches;
	progress->ctas_done = p.ctas_done;
	progress->ctas = p.ctas;
	return 0;
}

static int check_touch(const struct gpuemu_ctx *ctx, const void *ptr, size_t bytes,
		       size_t stride, unsigned int batch, int flags, struct err *err)
{
	if (bytes == 0 || !ptr || (!ctx->pageable && !mem_is_managed(ctx, ptr, bytes)))
		return err_set(err, -EINVAL,
			       "touch of %zu bytes at %p: not inside a managed allocation", bytes,
			       ptr);
	if (stride == 0)
		return err_set(err, -EINVAL, "touch with a stride of 0");
	if (flags & ~(GPUEMU_TOUCH_WRITE | GPUEMU_TOUCH_SAMPLES))
		return err_set(err, -EINVAL, "touch with flags 0x%x, which are not known", flags);
	if (batch == 0 || batch > TOUCH_BATCH_MAX)
		return err_set(err, -EINVAL, "touch with %u faults a batch: 1 to %u are possible",
			       batch, TOUCH_BATCH_MAX);
	return 0;
}

PUBLIC int gpuemu_touch(struct gpuemu_ctx *ctx, const void *ptr, size_t bytes, size_t stride,
			unsigned int batch, int flags, char **json)
{
	const struct gpu_work_touch touch = {
		.size = sizeof(touch),
		.batch = batch,
		.addr = (uintptr_t)ptr,
		.bytes = bytes,
		.stride = stride,
		.flags = (flags & GPUEMU_TOUCH_WRITE ? GPU_TOUCH_WRITE : 0) |
			 (flags & GPUEMU_TOUCH_SAMPLES ? GPU_TOUCH_SAMPLES : 0) |
			 (json ? 0 : GPU_TOUCH_SILENT),
	};
	struct err err = { "" };
	int ret;

	if (json)
		*json = NULL;
	ctx_enter(ctx);
	ret = check_touch(ctx, ptr, bytes, stride, batch, flags, &err);
	if (!ret) {
		stream_wait_all(ctx);
		ret = ctx->backend->touch(ctx, &touch, json, &err);
	}
	return ctx_leave(ctx, ret, &err);
}
