/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Dispatch dynamic keeps the curves of kernels that have run, or the samples that they have so
 * far, for their next launches (slicer.reuse). Sampling fills the profiles.
 */
#ifndef GPUEMU_GPU_DISPATCH_PROFILES_H
#define GPUEMU_GPU_DISPATCH_PROFILES_H

#include "gpu/dispatch.h"
#include "slicer/slicer.h"

/*
 * The profile of one kernel. Samples are sums over the SMs that were to hold as many CTAs, and over
 * the launches that ran while they were sampled.
 */
struct sampled {
	struct slicer_curve curve;
	bool known;			/* the curve is */
	bool waits;			/* not known, nor sampled: its pages are arriving */
	bool spread;			/* the layout is 1, 2, .. CTAs of it, also when they are counted */
	bool cold;			/* the sums are of launches that ended in their warm-up */
	bool ended;			/* a launch of it has, before the curve was known */
	unsigned int first;		/* CTAs that its first SM holds, the next one more, and so on */
	unsigned int sms;		/* that it was sampled on last */
	unsigned int failed;		/* how often pages arrived as it was to be sampled, or it had no SM */
	unsigned int calm;		/* looks since its pages do not arrive any more */
	uint64_t lasted;		/* cycles in which these counts were sampled */
	struct sampled_sums {
		double cycles;		/* that did not wait for far faults */
		double ctas;		/* resident, summed over the cycles */
		double instructions;	/* of its warps, scaled */
	} sums[SLICER_CTAS];		/* by CTAs, less one */
};

struct profiles;

/* NULL: no memory. */
struct profiles *profiles_create(void);
void profiles_destroy(struct profiles *all);
/* The kernel's profile. NULL: there is none. Valid until the next profiles_keep(). */
const struct sampled *profiles_find(const struct profiles *all, const struct dispatch_kernel *k);
/* Keeps it in the place of what was kept of the kernel; the oldest kernel may go for it. */
void profiles_keep(struct profiles *all, const struct dispatch_kernel *k,
		   const struct sampled *sampled);

/* Other programs run: that its pages were arriving says nothing any more. */
void profiles_end_wait(struct sampled *p);
/* The same of all that are kept. */
void profiles_end_waits(struct profiles *all);

#endif
