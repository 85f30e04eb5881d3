// SPDX-License-Identifier: GPL-2.0
/* Texts that would break a report: a name that is no word, an option without sense. */
#include "gpuemu_policy.h"

static unsigned int on_batch(void *state, const struct gpuemu_policy_view *view,
			     const struct gpuemu_policy_fault *faults, unsigned int n,
			     uint64_t *pages, unsigned int max)
{
	return 0;
}

static int insert(void *state, uint64_t addr, bool prefetched)
{
	return 0;
}

static void leave(void *state, uint64_t addr)
{
}

static unsigned int pick(void *state, const struct gpuemu_policy_view *view, unsigned int need,
			 bool (*keep)(void *ctx, uint64_t addr), void *ctx,
			 uint64_t *pages, unsigned int max)
{
	return 0;
}

const struct gpuemu_prefetch_ops gpuemu_prefetch = {
	.abi = GPUEMU_POLICY_ABI,
	.name = "two \"words\"\n",
	.on_batch = on_batch,
};

static const struct gpuemu_policy_option options[] = {
	{ "size", 9, 1, 8, "its default is out of its range" },
	{ 0 },
};

const struct gpuemu_evict_ops gpuemu_evict = {
	.abi = GPUEMU_POLICY_ABI,
	.name = "odd",
	.options = options,
	.insert = insert,
	.remove = leave,
	.pick = pick,
};
