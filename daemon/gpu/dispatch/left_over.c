// SPDX-License-Identifier: GPL-2.0
/*
 * Left-over, as GPUs do it: the oldest kernel has all that it wants, what it leaves of
 * an SM goes to the next. Without gpu.mixed_sms an SM is one kernel's until it is empty.
 */
#include "gpu/dispatch.h"

static struct dispatch_kernel *left_over_pick(const void *state, const struct dispatch *d,
					      unsigned int sm, uint64_t cycle)
{
	for (unsigned int i = 0; i < d->nkernels; i++) {
		struct dispatch_kernel *k = d->kernels[i];

		if (dispatch_may_share(d, sm, k) && dispatch_can(d, sm, k, cycle))
			return k;
	}
	return NULL;
}

const struct dispatch_ops dispatch_left_over = {
	.name = "left_over",
	.help = "the oldest kernel first, what it leaves goes to the next",
	.pick = left_over_pick,
};
