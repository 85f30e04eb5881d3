// SPDX-License-Identifier: GPL-2.0
/*
 * Prefetch policy: HPCA'16 section 4, locality-aware: consecutive pages from the
 * faulted one on, 128 of them (512 KiB). They may cross VA blocks.
 */
#include "paging/prefetch/span.h"
#include "paging/rows.h"

static unsigned int locality_on_batch(void *state, const struct gpuemu_policy_view *view,
				      const struct gpuemu_policy_fault *faults, unsigned int n,
				      uint64_t *pages, unsigned int max)
{
	/* The faulted page is the first. */
	return span_behind_faults(faults, n, view->options[0] - 1, pages, max);
}

static const struct gpuemu_policy_option options[] = {
	{ "pages", 128, 1, 8192, "consecutive pages, the faulted one included" },
	{ NULL }
};

const struct gpuemu_prefetch_ops prefetch_locality_ops = {
	.abi = GPUEMU_POLICY_ABI,
	.name = "locality",
	.help = "512 KiB from each faulted page on (HPCA'16, locality-aware)",
	.options = options,
	.on_batch = locality_on_batch,
};
