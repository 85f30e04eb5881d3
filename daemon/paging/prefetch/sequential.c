// SPDX-License-Identifier: GPL-2.0
/*
 * Prefetch policy: the pages that follow each faulted one, in address order.
 *
 * What HPCA'16 section 4 calls sequential does not look at the faults: that is
 * `stream`. Its locality-aware prefetcher, `locality`, is this one with 512 KiB.
 */
#include "paging/prefetch/span.h"
#include "paging/rows.h"

static unsigned int sequential_on_batch(void *state, const struct gpuemu_policy_view *view,
					const struct gpuemu_policy_fault *faults, unsigned int n,
					uint64_t *pages, unsigned int max)
{
	return span_behind_faults(faults, n, view->options[0], pages, max);
}

static const struct gpuemu_policy_option options[] = {
	{ "pages", 16, 0, 8192, "pages to bring behind each faulted one" },
	{ NULL }
};

const struct gpuemu_prefetch_ops prefetch_sequential_ops = {
	.abi = GPUEMU_POLICY_ABI,
	.name = "sequential",
	.help = "the pages behind each faulted one",
	.options = options,
	.on_batch = sequential_on_batch,
};
