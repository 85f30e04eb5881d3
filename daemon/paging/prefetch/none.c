// SPDX-License-Identifier: GPL-2.0
/* Prefetch policy: demand paging alone, the baseline of HPCA'16 section 3. */
#include "paging/rows.h"

static unsigned int none_on_batch(void *state, const struct gpuemu_policy_view *view,
				  const struct gpuemu_policy_fault *faults, unsigned int n,
				  uint64_t *pages, unsigned int max)
{
	return 0;
}

const struct gpuemu_prefetch_ops prefetch_none_ops = {
	.abi = GPUEMU_POLICY_ABI,
	.name = "none",
	.help = "only what faulted",
	.on_batch = none_on_batch,
};
