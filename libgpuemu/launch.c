// SPDX-License-Identifier: GPL-2.0
/*
 * Launches: arguments packed as the kernel's PTX lays its parameters out, and
 * the limits checked that hold on every GPU. What depends on the configuration
 * (shared memory, registers) the engine checks, and synchronize reports.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/launch.h"
#include "internal.h"

static const struct {
	const char *name;
	size_t bytes;
} arg_types[] = {
	[GPUEMU_ARG_U8] = { "u8", 1 }, [GPUEMU_ARG_U16] = { "u16", 2 },
	[GPUEMU_ARG_U32] = { "u32", 4 }, [GPUEMU_ARG_U64] = { "u64", 8 },
	[GPUEMU_ARG_S8] = { "s8", 1 }, [GPUEMU_ARG_S16] = { "s16", 2 },
	[GPUEMU_ARG_S32] = { "s32", 4 }, [GPUEMU_ARG_S64] = { "s64", 8 },
	[GPUEMU_ARG_F32] = { "f32", 4 }, [GPUEMU_ARG_F64] = { "f64", 8 },
	[GPUEMU_ARG_PTR] = { "pointer", 8 }, [GPUEMU_ARG_BYTES] = { "bytes", 0 },
};

static int check_shape(const char *kernel, const char *what, struct gpuemu_dim3 d,
		       struct gpuemu_dim3 max, struct err *err)
{
	if (d.x == 0 || d.y == 0 || d.z == 0)
		return err_set(err, -EINVAL, "kernel '%s': %s (%u,%u,%u): a dimension is 0", kernel,
			       what, d.x, d.y, d.z);
	if (d.x > max.x || d.y > max.y || d.z > max.z)
		return err_set(err, -EINVAL, "kernel '%s': %s (%u,%u,%u): more than (%u,%u,%u)",
			       kernel, what, d.x, d.y, d.z, max.x, max.y, max.z);
	return 0;
}

static int check_threads(const struct ptx_kernel *kernel, struct gpuemu_dim3 block,
			 struct err *err)
{
	uint32_t threads = block.x * block.y * block.z;	/* at most 2^26 */
	uint32_t max = BLOCK_THREADS_MAX;

	if (kernel->max_threads && kernel->max_threads < max)
		max = kernel->max_threads;
	if (threads > max)
		return err_set(err, -EINVAL,
			       "kernel '%s': block (%u,%u,%u) has %u threads, %u are possible",
			       kernel->name, block.x, block.y, block.z, threads, max);
	return 0;
}

static int check_dims(const struct ptx_kernel *kernel, struct gpuemu_dim3 grid,
		      struct gpuemu_dim3 block, struct err *err)
{
	const struct gpuemu_dim3 grid_max = { GRID_X_MAX, GRID_YZ_MAX, GRID_YZ_MAX };
	const struct gpuemu_dim3 block_max = { BLOCK_XY_MAX, BLOCK_XY_MAX, BLOCK_Z_MAX };
	int ret;

	ret = check_shape(kernel->name, "grid", grid, grid_max, err);
	if (!ret)
		ret = check_shape(kernel->name, "block", block, block_max, err);
	return ret ? ret : check_threads(kernel, block, err);
}

static int pack_arg(const struct ptx_kernel *kernel, unsigned int i,
		    const struct gpuemu_arg *arg, unsigned char *params, struct err *err)
{
	const struct ptx_param *p = &kernel->params[i];
	size_t bytes;

	if (arg->type < GPUEMU_ARG_U8 || arg->type > GPUEMU_ARG_BYTES)
		return err_set(err, -EINVAL, "kernel '%s': argument %u has unknown type %d",
			       kernel->name, i, (int)arg->type);
	bytes = arg->type == GPUEMU_ARG_BYTES ? arg->bytes : arg_types[arg->type].bytes;
	if (bytes != p->bytes)
		return err_set(err, -EINVAL,
			       "kernel '%s': argument %u (%s) has %zu bytes, its parameter %u",
			       kernel->name, i, arg_types[arg->type].name, bytes, p->bytes);
	if (arg->type == GPUEMU_ARG_BYTES && !arg->v.ptr)
		return err_set(err, -EINVAL, "kernel '%s': argument %u: no bytes given",
			       kernel->name, i);
	memcpy(params + p->offset, arg->type == GPUEMU_ARG_BYTES ? arg->v.ptr : &arg->v, bytes);
	return 0;
}

static int pack_args(const struct ptx_kernel *kernel, const struct gpuemu_arg *args,
		     unsigned int nargs, unsigned char *params, struct err *err)
{
	int ret = 0;

	if (nargs != kernel->nparams || (nargs && !args))
		return err_set(err, -EINVAL, "kernel '%s' takes %u arguments, %u are given",
			       kernel->name, kernel->nparams, args ? nargs : 0);
	for (unsigned int i = 0; i < nargs && !ret; i++)
		ret = pack_arg(kernel, i, &args[i], params, err);
	return ret;
}

static int pack_params(const struct ptx_kernel *kernel, void *const *from,
		       unsigned char *params, struct err *err)
{
	for (unsigned int i = 0; i < kernel->nparams; i++) {
		if (!from || !from[i])
			return err_set(err, -EINVAL, "kernel '%s': params[%u] is NULL",
				       kernel->name, i);
		memcpy(params + kernel->params[i].offset, from[i], kernel->params[i].bytes);
	}
	return 0;
}

struct request {
	struct gpuemu_dim3 grid, block;
	size_t dynamic_shared;
	struct gpuemu_stream *stream;
	const struct gpuemu_arg *args;	/* or */
	unsigned int nargs;
	void *const *params;
	bool typed, cooperative;
};

/* Where a barrier of the whole grid is: in the module's variable. */
static void pack_workspace(struct gpuemu_function *function, unsigned char *params)
{
	const struct gpuemu_module *module = function->module;
	const struct ptx_variable *v;
	uint64_t address = 0;

	if (!function->kernel->has_workspace)
		return;
	for (unsigned int i = 0; (v = ptx_module_variable_at(module->ptx, i)); i++)
		if (!strcmp(v->name, PTX_WORKSPACE))
			address = (uintptr_t)module->segment + v->offset;
	memcpy(params + function->kernel->workspace_at, &address, sizeof(address));
}

static int submit(struct gpuemu_function *function, const struct request *q,
		  const unsigned char *params, struct err *err)
{
	const struct ptx_kernel *kernel = function->kernel;
	struct gpuemu_ctx *ctx = function->module->ctx;
	struct gpuemu_stream *stream = stream_of(ctx, q->stream);
	const struct work work = {
		.kind = LAUNCH,
		.launch = {
			.module = function->module->id,
			.kernel = kernel->name,
			.grid = { q->grid.x, q->grid.y, q->grid.z },
			.block = { q->block.x, q->block.y, q->block.z },
			.dynamic_shared = q->dynamic_shared,
			.stack_bytes = ctx->stack_bytes,
			.params = params,
			.param_bytes = kernel->param_bytes,
			.textures = kernel->has_textures ? ctx->textures : NULL,
			.ntextures = kernel->has_textures ? ctx->ntextures : 0,
		},
	};

	if (!stream)
		return err_set(err, -EINVAL, "not a stream of this context");
	return ctx->backend->submit(ctx, stream, &work, err);
}

static int launch(struct gpuemu_function *function, const struct request *q, struct err *err)
{
	const struct ptx_kernel *kernel = function->kernel;
	unsigned char *params;
	int ret;

	ret = check_dims(kernel, q->grid, q->block, err);
	if (ret)
		return ret;
	if (q->dynamic_shared > UINT32_MAX)
		return err_set(err, -EINVAL, "kernel '%s': %zu bytes of dynamic shared memory",
			       kernel->name, q->dynamic_shared);
	ret = heap_prepare(function->module, err);
	if (ret)
		return ret;
	params = calloc(1, kernel->param_bytes + 1);
	if (!params)
		return -ENOMEM;
	ret = q->typed ? pack_args(kernel, q->args, q->nargs, params, err) :
			 pack_params(kernel, q->params, params, err);
	if (q->cooperative)
		pack_workspace(function, params);
	if (!ret)
		ret = submit(function, q, params, err);
	free(params);
	return ret;
}

static int locked_launch(struct gpuemu_function *function, const struct request *q)
{
	struct gpuemu_ctx *ctx;
	struct err err = { "" };

	if (!function)
		return -EINVAL;
	ctx = function->module->ctx;
	ctx_enter(ctx);
	return ctx_leave(ctx, launch(function, q, &err), &err);
}

PUBLIC int gpuemu_launch(struct gpuemu_function *function, struct gpuemu_dim3 grid,
			 struct gpuemu_dim3 block, size_t dynamic_shared,
			 struct gpuemu_stream *stream, const struct gpuemu_arg *args,
			 unsigned int nargs)
{
	const struct request q = {
		.grid = grid, .block = block, .dynamic_shared = dynamic_shared,
		.stream = stream, .args = args, .nargs = nargs, .typed = true,
	};

	return locked_launch(function, &q);
}

PUBLIC int gpuemu_launch_params(struct gpuemu_function *function, struct gpuemu_dim3 grid,
				struct gpuemu_dim3 block, size_t dynamic_shared,
				struct gpuemu_stream *stream, void *const *params)
{
	const struct request q = {
		.grid = grid, .block = block, .dynamic_shared = dynamic_shared,
		.stream = stream, .params = params,
	};

	return locked_launch(function, &q);
}

PUBLIC int gpuemu_launch_cooperative(struct gpuemu_function *function, struct gpuemu_dim3 grid,
				     struct gpuemu_dim3 block, size_t dynamic_shared,
				     struct gpuemu_stream *stream, void *const *params)
{
	const struct request q = {
		.grid = grid, .block = block, .dynamic_shared = dynamic_shared,
		.stream = stream, .params = params, .cooperative = true,
	};

	return locked_launch(function, &q);
}
