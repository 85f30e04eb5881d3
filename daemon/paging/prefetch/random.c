// SPDX-License-Identifier: GPL-2.0
/*
 * Prefetch policy: a page of the faulted page's VA block, each as likely, here or
 * not (HPCA'16 section 4; UVMSmart's Rp, whose trees are cut to one allocation, as
 * the block is here). One that is here already is a draw that is lost, so N pages cost
 * about N ln 2 faults.
 */
#include "base/rng.h"
#include "paging/prefetch/span.h"
#include "paging/rows.h"

static unsigned int random_on_batch(void *state, const struct gpuemu_policy_view *view,
				    const struct gpuemu_policy_fault *faults, unsigned int n,
				    uint64_t *pages, unsigned int max)
{
	unsigned int count = 0;

	for (unsigned int i = 0; i < n; i++) {
		struct span block;

		if (faults[i].resident)
			continue;
		block = span_around(view, faults[i].addr, GPUEMU_POLICY_BLOCK);
		for (uint64_t k = 0; k < view->options[0] && count < max; k++) {
			uint64_t page = rng_scale(view->random(view->ctx),
						  (block.end - block.start) / GPUEMU_POLICY_PAGE);

			page = block.start + page * GPUEMU_POLICY_PAGE;
			if (!view->resident(view->ctx, page))
				pages[count++] = page;
		}
	}
	return count;
}

static const struct gpuemu_policy_option options[] = {
	{ "pages", 1, 0, 512, "draws for each faulted page" },
	{ NULL }
};

const struct gpuemu_prefetch_ops prefetch_random_ops = {
	.abi = GPUEMU_POLICY_ABI,
	.name = "random",
	.help = "a random page of each faulted page's 2 MiB; gpu.seed repeats it",
	.options = options,
	.on_batch = random_on_batch,
};
