// SPDX-License-Identifier: GPL-2.0
/*
 * Spatial multitasking: the SMs are split evenly among the kernels that run, in the order
 * of their age, and split anew when one arrives or leaves. CTAs that run stay where they
 * are: an SM that changes hands takes the new owner's CTAs when the old one's have ended,
 * or, with gpu.mixed_sms, as they end.
 */
#include "gpu/dispatch.h"

/* Is the SM the i-th kernel's? Where there are more kernels than SMs, some share one. */
static bool owns(const struct dispatch *d, unsigned int i, unsigned int sm)
{
	unsigned int n = d->nsms, kernels = d->nkernels;

	if (kernels > n)
		return i % n == sm;
	return i * n / kernels <= sm && sm < (i + 1) * n / kernels;
}

struct dispatch_kernel *dispatch_pick_spatial(const struct dispatch *d, unsigned int sm,
					      uint64_t cycle)
{
	for (unsigned int i = 0; i < d->nkernels; i++) {
		struct dispatch_kernel *k = d->kernels[i];

		if (owns(d, i, sm) && dispatch_may_share(d, sm, k) &&
		    dispatch_can(d, sm, k, cycle))
			return k;
	}
	return NULL;
}

static struct dispatch_kernel *spatial_pick(const void *state, const struct dispatch *d,
					    unsigned int sm, uint64_t cycle)
{
	return dispatch_pick_spatial(d, sm, cycle);
}

const struct dispatch_ops dispatch_spatial = {
	.name = "spatial",
	.help = "the SMs are split evenly among the kernels that run",
	.pick = spatial_pick,
};
