// SPDX-License-Identifier: GPL-2.0
/*
 * First come, first served: the kernels' CTAs come to an SM in turns, and each takes what
 * is free. So CTAs of different sizes lie between each other, and what a small one gives
 * back is too small for a large one (Warped-Slicer, figure 2a). SMs hold several kernels,
 * whatever gpu.mixed_sms says.
 */
#include <errno.h>
#include <stdlib.h>

#include "gpu/dispatch.h"

struct turns {
	uint64_t handed;	/* CTAs, of all SMs */
	uint64_t *last;		/* by SM and slot: `handed` at its last CTA there; 0: none yet */
};

static uint64_t *last_of(const struct turns *t, unsigned int sm, const struct dispatch_kernel *k)
{
	return &t->last[sm * SM_KERNELS + k->slot];
}

static int fcfs_create(const struct dispatch *d, void **state)
{
	struct turns *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	t->last = calloc((size_t)d->nsms * SM_KERNELS, sizeof(*t->last));
	if (!t->last) {
		free(t);
		return -ENOMEM;
	}
	*state = t;
	return 0;
}

static void fcfs_destroy(void *state)
{
	struct turns *t = state;

	free(t->last);
	free(t);
}

static void fcfs_arrived(void *state, struct dispatch *d, struct dispatch_kernel *k,
			 uint64_t now)
{
	for (unsigned int sm = 0; sm < d->nsms; sm++)
		*last_of(state, sm, k) = 0;
}

/* The one whose turn is longest ago, of those that fit; the oldest of several that had none. */
static struct dispatch_kernel *fcfs_pick(const void *state, const struct dispatch *d,
					 unsigned int sm, uint64_t cycle)
{
	struct dispatch_kernel *best = NULL;

	for (unsigned int i = 0; i < d->nkernels; i++) {
		struct dispatch_kernel *k = d->kernels[i];

		if ((!best || *last_of(state, sm, k) < *last_of(state, sm, best)) &&
		    dispatch_can(d, sm, k, cycle))
			best = k;
	}
	return best;
}

static void fcfs_launched(void *state, struct dispatch *d, unsigned int sm,
			  struct dispatch_kernel *k, uint64_t cycle)
{
	struct turns *t = state;

	*last_of(t, sm, k) = ++t->handed;
}

const struct dispatch_ops dispatch_fcfs = {
	.name = "fcfs",
	.help = "the kernels' CTAs in turns, each takes what is free of an SM",
	.create = fcfs_create,
	.destroy = fcfs_destroy,
	.arrived = fcfs_arrived,
	.pick = fcfs_pick,
	.launched = fcfs_launched,
};
