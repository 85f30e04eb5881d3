// SPDX-License-Identifier: GPL-2.0
/*
 * Facts about a kernel that needs no run. A function belongs to its module and does not change, so
 * this file locks nothing.
 */
#include <errno.h>
#include <string.h>

#include "base/launch.h"
#include "internal.h"

PUBLIC const char *gpuemu_function_name(const struct gpuemu_function *function)
{
	return function->kernel->name;
}

PUBLIC int gpuemu_function_get_attributes(const struct gpuemu_function *function,
					  struct gpuemu_function_attributes *attributes)
{
	const struct ptx_kernel *k = function->kernel;
	const struct gpuemu_function_attributes all = {
		.size = attributes->size,
		.regs = k->regs_per_thread,
		.preds = k->preds_per_thread,
		.max_live = k->max_live,
		.spill_store_bytes = k->spill_store_bytes,
		.spill_load_bytes = k->spill_load_bytes,
		.shared_bytes = k->shared_bytes,
		.const_bytes = k->const_bytes,
		.param_bytes = k->param_bytes,
		.local_bytes = k->local_bytes,
		.max_threads = k->max_threads && k->max_threads < BLOCK_THREADS_MAX ?
			       k->max_threads : BLOCK_THREADS_MAX,
		.instructions = k->ninsns,
		.nparams = k->nparams,
	};

	/* A caller built against an older header has a shorter struct. */
	if (attributes->size < sizeof(attributes->size) || attributes->size > sizeof(all))
		return -EINVAL;
	memcpy(attributes, &all, all.size);
	return 0;
}
