// SPDX-License-Identifier: GPL-2.0
/*
 * The owner warp of Mascar (Sethia et al., HPCA 2015), sm.mem_order=mascar. While L1D is saturated,
 * one warp of the SM alone issues memory instructions, and it comes before all others; these issue
 * what else they have. So the owner's data comes together and it can compute, while the next owner
 * loads. The owner is the first warp in the scheduler's order with a memory instruction that can
 * issue, until it waits: for data it loaded, at a barrier, or for a slot. Called by issue.c and
 * sm.c.
 *
 * L1D is saturated when it refused an access that still waits, or has no MSHR or no room in its
 * miss queue for another. That and the owner are looked at behind each cycle that runs, so that
 * cycles that are slept through change nothing.
 */
#include "sm/state.h"

void owner_look(struct sm *sm)
{
	const struct sm_heads *h = &sm->heads;
	struct owner *o = &sm->mascar;
	warpset gone;

	o->saturated = ldst_saturated(sm);
	if (o->warp == NO_INDEX)
		return;
	gone = heads_waiting(h) | (h->blocked_long & h->valid) | ~h->live;
	if (!o->saturated || set_has(gone, o->warp))
		o->warp = NO_INDEX;
}

/* The warps whose head goes to L1D. */
static warpset with_access(const struct sm *sm, warpset warps)
{
	warpset found = NO_WARPS;
	unsigned int w;

	for_each_warp(w, warps & sm->heads.wants[UNIT_LDST]) {
		if (sm->warps.at[w].op->cached)
			found |= set_of(w);
	}
	return found;
}

warpset owner_limit(struct sm *sm, const struct sched_state *s, warpset can)
{
	struct owner *o = &sm->mascar;
	warpset memory;

	if (!o->saturated || !set_any(can))
		return can;
	memory = with_access(sm, can);
	if (o->warp == NO_INDEX && set_any(memory))
		o->warp = sm->issue.policy->pick(s, memory, sm->issue.older);
	if (o->warp == NO_INDEX)
		return can;
	if (set_has(can, o->warp))
		return set_of(o->warp);
	return can & ~memory;
}
