/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where CTAs lie in an SM's register file and shared memory: contiguous extents, first fit,
 * so that CTAs of different sizes leave holes between each other that are free and of no
 * use. sm.placement=sums counts what is taken and places nothing. Private to the sm room;
 * cta.c calls it.
 */
#ifndef GPUEMU_SM_PLACEMENT_H
#define GPUEMU_SM_PLACEMENT_H

#include "sm/extent.h"
#include "sm/sm.h"

struct placement {
	bool sums;
	bool by_warp;			/* registers, sm.warp_extents */
	struct extents registers, shared;
	uint32_t *registers_at;		/* by CTA slot and piece */
	uint32_t *shared_at;		/* by CTA slot */
	unsigned int pieces;		/* of registers that a CTA may have */
	unsigned int ctas;		/* that lie there */
	struct sm_part parts[SM_KERNELS];
	/* CTAs of several kernels lie, or have lain, there since the SM was empty. */
	bool mixed;
	uint64_t changes;		/* counts what came and went */
	uint64_t refused_at[SM_KERNELS];	/* changes, when one of the kernel's was counted last */
	struct fragmentation_counters stats;
};

/* -ENOMEM. */
int placement_create(const struct gpu_spec *spec, struct placement **placement);
void placement_destroy(struct placement *p);
void placement_clear(struct placement *p);
/* A kernel that begins may lie anywhere. */
void placement_begin(struct placement *p, unsigned int slot);
/* Is there a place for a CTA of the kernel? Asked when the sums are enough. */
bool placement_fits(const struct placement *p, const struct sm_needs *needs, unsigned int slot);
/* The CTA gets the place that fits; `alone`: CTAs of no other kernel are on the SM. */
void placement_take(struct placement *p, unsigned int cta, const struct sm_needs *needs,
		    unsigned int slot, bool alone);
void placement_give(struct placement *p, unsigned int cta, const struct sm_needs *needs);
/* Gives where the CTA lies. It may be empty, as sm_cta_span.part says. */
struct sm_part placement_part(const struct placement *p, unsigned int cta,
			      const struct sm_needs *needs);
/* A CTA of the kernel was refused, because no place fits. Counted once until that may have changed. */
void placement_refused(struct placement *p, unsigned int slot);
/* Has no CTA a place? */
bool placement_empty(const struct placement *p);
/* So many cycles have passed with CTAs where they are. */
void placement_integrate(struct placement *p, uint64_t cycles);

#endif
