// SPDX-License-Identifier: GPL-2.0
/*
 * Prefetch policy: what is not here of the faulted page's 64 KiB leaf (UVMSmart's
 * SLp). The least that the tree policy brings, without its growing.
 */
#include "paging/prefetch/span.h"
#include "paging/rows.h"

static unsigned int sequential_local_on_batch(void *state, const struct gpuemu_policy_view *view,
					      const struct gpuemu_policy_fault *faults,
					      unsigned int n, uint64_t *pages, unsigned int max)
{
	uint64_t done = 0;	/* end of the last leaf: faults are sorted */
	unsigned int count = 0;

	for (unsigned int i = 0; i < n; i++) {
		struct span leaf;

		if (faults[i].resident || faults[i].addr < done)
			continue;
		leaf = span_around(view, faults[i].addr, GPUEMU_POLICY_LEAF);
		count = span_absent(view, leaf, pages, count, max);
		done = leaf.end;
	}
	return count;
}

const struct gpuemu_prefetch_ops prefetch_sequential_local_ops = {
	.abi = GPUEMU_POLICY_ABI,
	.name = "sequential-local",
	.help = "the 64 KiB around each faulted page",
	.on_batch = sequential_local_on_batch,
};
