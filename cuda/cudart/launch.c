// SPDX-License-Identifier: GPL-2.0
/*
 * Launches as compilers emit them: <<< >>> pushes a configuration, the kernel's stub pops it and
 * launches with an array of pointers to the arguments. Also a kernel's
 * attributes, and how many CTAs of it an SM holds.
 */
#include <errno.h>
#include <string.h>

#include "cudart.h"

#define DEPTH	16

/* --- configurations, a stack of each thread ------------------------------------------------- */

static __thread struct configuration {
	dim3 grid, block;
	size_t shared;
	cudaStream_t stream;
} pushed[DEPTH];
static __thread unsigned int depth;

API unsigned int __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared,
					     cudaStream_t stream);
API unsigned int __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared,
					     cudaStream_t stream)
{
	if (depth == DEPTH)
		return (unsigned int)error_remember(cudaErrorMissingConfiguration);
	pushed[depth++] = (struct configuration){ grid, block, shared, stream };
	return 0;
}

API cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared,
					   cudaStream_t *stream);
API cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared,
					   cudaStream_t *stream)
{
	const struct configuration *c;

	if (!depth)
		return error_remember(cudaErrorMissingConfiguration);
	c = &pushed[--depth];
	*grid = c->grid;
	*block = c->block;
	*shared = c->shared;
	*stream = c->stream;
	return cudaSuccess;
}

/* --- launches ------------------------------------------------------------------------ */

static cudaError_t attributes_of(struct function *f, struct gpuemu_function_attributes *a)
{
	a->size = sizeof(*a);
	return gpuemu_function_get_attributes(f->function,
					      a) ? cudaErrorInvalidDeviceFunction : cudaSuccess;
}

static uint64_t ctas_of(const struct gpuemu_function_attributes *a, uint64_t threads,
			uint64_t dynamic);

typedef int (*launcher)(struct gpuemu_function *function, struct gpuemu_dim3 grid,
			struct gpuemu_dim3 block, size_t dynamic_shared,
			struct gpuemu_stream *stream, void *const *params);

/* gpuemu_launch_cooperative() or gpuemu_launch_params(). */
static cudaError_t launch(launcher with, struct function *f, dim3 grid, dim3 block, void **args,
			  size_t shared, cudaStream_t stream)
{
	const struct gpuemu_dim3 g = { grid.x, grid.y, grid.z }, b = { block.x, block.y, block.z };
	struct gpuemu_function_attributes a;
	struct gpuemu_stream *s;
	uint64_t threads;
	cudaError_t error;
	int ret;

	if (!stream_of(stream, &s))
		return cudaErrorInvalidResourceHandle;
	error = attributes_of(f, &a);
	if (error)
		return error;
	if (a.shared_bytes + shared > runtime_device()->shared)
		return cudaErrorInvalidValue;
	threads = (uint64_t)b.x * b.y * b.z;
	if (threads && threads <= 1024 && !ctas_of(&a, threads, shared))
		return cudaErrorLaunchOutOfResources;
	if (with == gpuemu_launch_cooperative &&
	    (uint64_t)g.x * g.y * g.z > ctas_of(&a, threads, shared) * runtime_device()->sms)
		return cudaErrorCooperativeLaunchTooLarge;
	ret = with(f->function, g, b, shared, s, args);
	if (ret == -EINVAL)
		return cudaErrorInvalidConfiguration;
	return runtime_failed(ret);
}

API cudaError_t cudaLaunchKernel(const void *func, dim3 grid, dim3 block, void **args,
				 size_t shared,
				 cudaStream_t stream)
{
	cudaError_t error = enter();
	struct function *f;

	if (!error)
		error = module_function(func, &f);
	if (!error)
		error = launch(gpuemu_launch_params, f, grid, block, args, shared, stream);
	return leave(error);
}

API cudaError_t cudaLaunchCooperativeKernel(const void *func, dim3 grid, dim3 block, void **args,
					    size_t shared, cudaStream_t stream)
{
	cudaError_t error = enter();
	struct function *f;

	if (!error)
		error = module_function(func, &f);
	if (!error)
		error = launch(gpuemu_launch_cooperative, f, grid, block, args, shared, stream);
	return leave(error);
}

/* nvcc 12 and newer: the stub asks once for what it launches. */
API cudaError_t __cudaGetKernel(struct function **kernel, const void *func);
API cudaError_t __cudaGetKernel(struct function **kernel, const void *func)
{
	cudaError_t error = enter();

	if (!error)
		error = module_function(func, kernel);
	return leave(error);
}

API cudaError_t __cudaLaunchKernel(struct function *kernel, dim3 grid, dim3 block, void **args,
				   size_t shared, cudaStream_t stream);
API cudaError_t __cudaLaunchKernel(struct function *kernel, dim3 grid, dim3 block, void **args,
				   size_t shared, cudaStream_t stream)
{
	return cudaLaunchKernel(kernel ? kernel->host : NULL, grid, block, args, shared, stream);
}

/* --- what a kernel takes ------------------------------------------------------------- */

API cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attributes, const void *func)
{
	const struct device *d = runtime_device();
	struct gpuemu_function_attributes a;
	cudaError_t error = enter();
	struct function *f;

	if (!error && !attributes)
		error = cudaErrorInvalidValue;
	if (!error)
		error = module_function(func, &f);
	if (!error)
		error = attributes_of(f, &a);
	if (error)
		return leave(error);
	*attributes = (struct cudaFuncAttributes){
		.sharedSizeBytes = a.shared_bytes,
		.constSizeBytes = a.const_bytes,
		.localSizeBytes = a.local_bytes,
		.maxThreadsPerBlock = (int)(a.max_threads ? a.max_threads : 1024),
		.numRegs = (int)a.regs,
		.ptxVersion = 70,
		.binaryVersion = 70,
		.maxDynamicSharedSizeBytes = (int)(d->shared - a.shared_bytes),
		.preferredShmemCarveout = cudaSharedmemCarveoutDefault,
	};
	/* Fewer threads, where registers end first. */
	while (attributes->maxThreadsPerBlock > 32 &&
	       !ctas_of(&a, (uint64_t)attributes->maxThreadsPerBlock, 0))
		attributes->maxThreadsPerBlock -= 32;
	return leave(cudaSuccess);
}

static cudaError_t know(const void *func)
{
	cudaError_t error = enter();
	struct function *f;

	if (!error)
		error = module_function(func, &f);
	return leave(error);
}

/* Shared memory is as large as it is, with any attribute; a kernel may use all of it. */
API cudaError_t cudaFuncSetAttribute(const void *func, enum cudaFuncAttribute attribute, int value)
{
	const struct device *d = runtime_device();
	cudaError_t error = know(func);

	if (error)
		return error;
	switch ((int)attribute) {
	case cudaFuncAttributeMaxDynamicSharedMemorySize:
		if (value < 0 || (uint64_t)value > d->shared)
			error = cudaErrorInvalidValue;
		break;
	case cudaFuncAttributePreferredSharedMemoryCarveout:
		if (value < cudaSharedmemCarveoutDefault || value > cudaSharedmemCarveoutMaxShared)
			error = cudaErrorInvalidValue;
		break;
	default:
		error = cudaErrorInvalidValue;
	}
	return error_remember(error);
}

/* Preferences, and the model has no choice to make of them. */
API cudaError_t cudaFuncSetCacheConfig(const void *func, enum cudaFuncCache config)
{
	return know(func);
}

API cudaError_t cudaFuncSetSharedMemConfig(const void *func, enum cudaSharedMemConfig config)
{
	cudaError_t error = know(func);

	if (!error && (unsigned int)config > cudaSharedMemBankSizeEightByte)
		error = error_remember(cudaErrorInvalidValue);
	return error;
}

/* --- occupancy ----------------------------------------------------------------------- */

static uint64_t round_up(uint64_t n, uint64_t to)
{
	return to ? (n + to - 1) / to * to : n;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* As an SM of the model takes CTAs: the fewest that slots, registers and shared memory allow. */
static uint64_t ctas_of(const struct gpuemu_function_attributes *a, uint64_t threads,
			uint64_t dynamic)
{
	const struct device *d = runtime_device();
	uint64_t warps = (threads + 31) / 32, n;
	uint64_t regs = round_up(a->regs, d->register_unit) * warps * 32;
	uint64_t shared = round_up(a->shared_bytes + dynamic, d->shared_unit);

	if (!warps)
		return 0;
	n = least(d->ctas, d->warps / warps);
	if (regs)
		n = least(n, d->registers / regs);
	if (shared)
		n = least(n, d->shared / shared);
	return n;
}

API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *ctas, const void *func,
								       int threads, size_t shared,
								       unsigned int flags)
{
	struct gpuemu_function_attributes a;
	cudaError_t error = enter();
	struct function *f;

	if (!error && (!ctas || threads <= 0 || flags > cudaOccupancyDisableCachingOverride))
		error = cudaErrorInvalidValue;
	if (!error)
		error = module_function(func, &f);
	if (!error)
		error = attributes_of(f, &a);
	if (!error)
		*ctas = threads > 1024 ? 0 : (int)ctas_of(&a, (uint64_t)threads, shared);
	return leave(error);
}

API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *ctas, const void *func,
							      int threads,
							      size_t shared)
{
	return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(ctas, func, threads, shared,
								      0);
}
