// SPDX-License-Identifier: GPL-2.0
/*
 * Fixed partitions: slicer.fixed says how many CTAs of each program an SM may hold, as "4,2". The
 * first number is the first stream's (and the default stream's), the next the next stream's.
 * Warped-Slicer is compared with it: all partitions tried give the oracle's. A stream
 * without a number has no limit. Nor has a kernel that runs alone where there are several
 * numbers: the one that remains when the others have ended gets all (section V). SMs hold several
 * kernels, whatever gpu.mixed_sms says.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "gpu/dispatch.h"

struct fixed {
	unsigned int limits[SM_KERNELS];	/* by stream */
	bool several;
};

/* Its form was checked with the rest of the spec. */
static int fixed_create(const struct dispatch *d, void **state)
{
	struct fixed *f = malloc(sizeof(*f));

	if (!f)
		return -ENOMEM;
	for (unsigned int i = 0; i < SM_KERNELS; i++)
		f->limits[i] = spec_fixed_ctas(d->spec, i);
	f->several = f->limits[1] != UINT_MAX;
	*state = f;
	return 0;
}

static unsigned int limit(const struct fixed *f, const struct dispatch *d,
			  const struct dispatch_kernel *k)
{
	uint32_t i = k->stream ? k->stream - 1 : 0;

	if (i >= SM_KERNELS || (d->nkernels < 2 && f->several))
		return UINT_MAX;
	return f->limits[i];
}

static struct dispatch_kernel *fixed_pick(const void *state, const struct dispatch *d,
					  unsigned int sm, uint64_t cycle)
{
	for (unsigned int i = 0; i < d->nkernels; i++) {
		struct dispatch_kernel *k = d->kernels[i];

		if (sm_resident_ctas(d->sms[sm], k->kernel) < limit(state, d, k) &&
		    dispatch_can(d, sm, k, cycle))
			return k;
	}
	return NULL;
}

const struct dispatch_ops dispatch_fixed = {
	.name = "fixed",
	.help = "of each stream's kernels so many CTAs an SM as slicer.fixed says",
	.create = fixed_create,
	.destroy = free,
	.pick = fixed_pick,
};
