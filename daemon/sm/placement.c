// SPDX-License-Identifier: GPL-2.0
/*
 * CTAs in an SM's register file and shared memory, and how much of what is free is in
 * holes that are too small. Counted only while CTAs of several kernels are on the SM, or
 * have been since it was empty: CTAs of one kernel are all of one size, and leave no hole
 * that one of them does not fit.
 */
#include "sm/placement.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* CTAs of an SM, or warps: there are never more, sm.warps and sm.ctas say so. */
#define MOST	256u

int placement_create(const struct gpu_spec *spec, struct placement **out)
{
	struct placement *p = calloc(1, sizeof(*p));

	*out = p;
	if (!p)
		return -ENOMEM;
	p->sums = !strcmp(spec->placement, "sums");
	p->by_warp = spec->warp_extents;
	p->pieces = p->by_warp ? MOST : 1;
	p->registers_at = calloc((size_t)MOST * p->pieces, sizeof(*p->registers_at));
	p->shared_at = calloc(MOST, sizeof(*p->shared_at));
	p->changes = 1;
	if (!p->registers_at || !p->shared_at ||
	    extents_init(&p->registers, (uint32_t)spec->registers, MOST) ||
	    extents_init(&p->shared, (uint32_t)spec->shared_bytes, MOST))
		return -ENOMEM;
	for (unsigned int slot = 0; slot < SM_KERNELS; slot++)
		placement_begin(p, slot);
	return 0;
}

void placement_destroy(struct placement *p)
{
	if (!p)
		return;
	extents_fini(&p->registers);
	extents_fini(&p->shared);
	free(p->registers_at);
	free(p->shared_at);
	free(p);
}

void placement_clear(struct placement *p)
{
	extents_clear(&p->registers);
	extents_clear(&p->shared);
	p->ctas = 0;
	p->mixed = false;
	p->changes++;
}

void placement_begin(struct placement *p, unsigned int slot)
{
	p->parts[slot] = (struct sm_part){ 0, p->registers.size, 0, p->shared.size };
	p->refused_at[slot] = 0;
}

static unsigned int pieces_of(const struct placement *p, const struct sm_needs *needs)
{
	return p->by_warp ? needs->warps : 1;
}

bool placement_fits(const struct placement *p, const struct sm_needs *needs, unsigned int slot)
{
	const struct sm_part *part = &p->parts[slot];
	unsigned int n = pieces_of(p, needs);

	return p->sums ||
	       (extents_fit(&p->registers, needs->registers / n, n, part->registers_from,
			    part->registers_to) &&
		extents_fit(&p->shared, needs->shared_bytes, 1, part->shared_from,
			    part->shared_to));
}

void placement_take(struct placement *p, unsigned int cta, const struct sm_needs *needs,
		    unsigned int slot, bool alone)
{
	const struct sm_part *part = &p->parts[slot];
	unsigned int n = pieces_of(p, needs);

	p->ctas++;
	p->changes++;
	p->mixed |= !alone;
	if (p->sums)
		return;
	for (unsigned int i = 0; i < n; i++)
		p->registers_at[cta * p->pieces + i] =
			extents_take(&p->registers, needs->registers / n, part->registers_from,
				     part->registers_to);
	p->shared_at[cta] = extents_take(&p->shared, needs->shared_bytes, part->shared_from,
					 part->shared_to);
}

void placement_give(struct placement *p, unsigned int cta, const struct sm_needs *needs)
{
	unsigned int n = pieces_of(p, needs);

	p->ctas--;
	p->changes++;
	p->mixed &= p->ctas > 0;
	if (p->sums)
		return;
	for (unsigned int i = 0; i < n; i++)
		extents_give(&p->registers, p->registers_at[cta * p->pieces + i],
			     needs->registers / n);
	extents_give(&p->shared, p->shared_at[cta], needs->shared_bytes);
}

struct sm_part placement_part(const struct placement *p, unsigned int cta,
			      const struct sm_needs *needs)
{
	struct sm_part part = { 0 };

	if (p->sums)
		return part;
	part.shared_from = p->shared_at[cta];
	part.shared_to = part.shared_from + needs->shared_bytes;
	if (p->by_warp)
		return part;
	part.registers_from = p->registers_at[cta * p->pieces];
	part.registers_to = part.registers_from + needs->registers;
	return part;
}

void placement_refused(struct placement *p, unsigned int slot)
{
	p->stats.refused += p->refused_at[slot] != p->changes;
	p->refused_at[slot] = p->changes;
}

bool placement_empty(const struct placement *p)
{
	return !p->ctas && !p->registers.count && !p->shared.count;
}

/* Has a CTA been refused, of a kernel that is still there, and nothing changed since? */
static bool refuses(const struct placement *p)
{
	bool any = false;

	for (unsigned int slot = 0; slot < SM_KERNELS; slot++)
		any |= p->refused_at[slot] == p->changes;
	return any;
}

void placement_integrate(struct placement *p, uint64_t cycles)
{
	struct fragmentation_counters *f = &p->stats;

	if (refuses(p))
		f->refused_cycles += cycles;
	if (!p->mixed || p->sums)
		return;
	f->cycles += cycles;
	f->registers_free += cycles * extents_free(&p->registers);
	f->registers_hole += cycles * p->registers.largest;
	f->shared_free += cycles * extents_free(&p->shared);
	f->shared_hole += cycles * p->shared.largest;
}
