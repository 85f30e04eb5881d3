// SPDX-License-Identifier: GPL-2.0
/* Prefetch policy: all of the faulted page's allocation in its VA block, up to 2 MiB. */
#include "paging/prefetch/span.h"
#include "paging/rows.h"

static unsigned int block_on_batch(void *state, const struct gpuemu_policy_view *view,
				   const struct gpuemu_policy_fault *faults, unsigned int n,
				   uint64_t *pages, unsigned int max)
{
	uint64_t done = 0;	/* end of the last block: faults are sorted */
	unsigned int count = 0;

	for (unsigned int i = 0; i < n; i++) {
		struct span block;

		if (faults[i].resident || faults[i].addr < done)
			continue;
		block = span_around(view, faults[i].addr, GPUEMU_POLICY_BLOCK);
		count = span_absent(view, block, pages, count, max);
		done = block.end;
	}
	return count;
}

const struct gpuemu_prefetch_ops prefetch_block_ops = {
	.abi = GPUEMU_POLICY_ABI,
	.name = "block",
	.help = "the 2 MiB around each faulted page",
	.on_batch = block_on_batch,
};
