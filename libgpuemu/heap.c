// SPDX-License-Identifier: GPL-2.0
/*
 * The heap that kernels' malloc() and free() use: one of the context, whatever the module. It is
 * there from the first launch of a kernel whose module calls them. What is in it is the
 * kernels' (daemon/ptx/heap.c). And how large the stack of a kernel's thread is.
 */
#include <errno.h>
#include <string.h>

#include "internal.h"

/* On the device where the backend has memory there and the GPU has room for it. */
static int make(struct gpuemu_ctx *ctx, struct err *err)
{
	int ret = -EOPNOTSUPP;

	if (ctx->backend->map_device)
		ret = mem_alloc(ctx, &ctx->heap, ctx->heap_bytes, MEM_DEVICE, err);
	if (ret)
		ret = mem_alloc(ctx, &ctx->heap, ctx->heap_bytes, MEM_SEGMENT, err);
	return ret;
}

int heap_prepare(struct gpuemu_module *module, struct err *err)
{
	struct gpuemu_ctx *ctx = module->ctx;
	const struct ptx_variable *v;
	uint64_t where[2];
	int ret;

	if (module->heap_known)
		return 0;
	for (unsigned int i = 0; (v = ptx_module_variable_at(module->ptx, i)); i++)
		if (!strcmp(v->name, PTX_HEAP))
			break;
	if (v && !ctx->heap) {
		ret = make(ctx, err);
		if (ret)
			return ret;
	}
	if (v) {
		where[0] = (uintptr_t)ctx->heap;
		where[1] = ctx->heap_bytes;
		memcpy((char *)module->segment + v->offset, where, sizeof(where));
	}
	module->heap_known = true;
	return 0;
}

PUBLIC int gpuemu_set_heap(struct gpuemu_ctx *ctx, size_t bytes)
{
	const size_t whole = (bytes + HEAP_UNIT - 1) / HEAP_UNIT * HEAP_UNIT;
	struct err err = { "" };
	int ret = 0;

	ctx_enter(ctx);
	if (ctx->heap && whole != ctx->heap_bytes)
		ret = err_set(&err, -EBUSY, "the heap of kernels is %zu bytes, and in use",
			      ctx->heap_bytes);
	else if (!bytes || whole < bytes || whole > HEAP_MAX)
		ret = err_set(&err, -EINVAL, "a heap of %zu bytes", bytes);
	else
		ctx->heap_bytes = whole;
	return ctx_leave(ctx, ret, &err);
}

PUBLIC int gpuemu_set_stack(struct gpuemu_ctx *ctx, size_t bytes)
{
	struct err err = { "" };
	int ret = 0;

	ctx_enter(ctx);
	if (bytes && bytes <= STACK_MAX)
		ctx->stack_bytes = (uint32_t)MAX(bytes, STACK_MIN);
	else
		ret = err_set(&err, -EINVAL, "a stack of %zu bytes a thread: 1 to %u", bytes,
			      STACK_MAX);
	return ctx_leave(ctx, ret, &err);
}
