// SPDX-License-Identifier: GPL-2.0
/*
 * Spatial multitasking: the SMs are split evenly among the kernels that run, in the order
 * of their streams, and split anew when one arrives or leaves. CTAs that run stay where they
 * are: an SM that changes hands takes the new owner's CTAs when the old one's have ended,
 * or, with gpu.mixed_sms, as they end.
 */
#include "gpu/dispatch.h"

unsigned int dispatch_spatial_part(const struct dispatch *d, unsigned int i, unsigned int *first)
{
	unsigned int n = d->nsms, kernels = d->nkernels, place = dispatch_place(d, i);

	*first = kernels > n ? place % n : place * n / kernels;
	return kernels > n ? 1 : (place + 1) * n / kernels - *first;
}

static bool owns(const struct dispatch *d, unsigned int i, unsigned int sm)
{
	unsigned int first, n = dispatch_spatial_part(d, i, &first);

	return first <= sm && sm < first + n;
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
