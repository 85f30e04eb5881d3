// SPDX-License-Identifier: GPL-2.0
/*
 * What the coordinator has done, as the SM counts it: for the kernel whose warp it was. Called by
 * virtual.c and virtual_registers.c.
 */
#include "sm/cta/virtual_state.h"

void virtual_count(struct virt *v, const struct sm_kernel *kernel)
{
	const struct coord_counters *now = coord_stats(v->c), *old = &v->counted;
	const struct virtual_counters more = {
		.grants = now->grants - old->grants,
		.forced = now->forced - old->forced,
		.swapped_warps = now->swapped_out - old->swapped_out,
		.spills = now->spills - old->spills,
		.fills = now->fills - old->fills,
		.accesses = now->accesses - old->accesses,
		.swapped = now->swapped - old->swapped,
		.scratchpad_spills = now->scratchpad_spills - old->scratchpad_spills,
		.scratchpad_fills = now->scratchpad_fills - old->scratchpad_fills,
	};

	v->counted = *now;
	sm_count_virtual(v->sm, kernel, &more);
}

void virtual_count_for(struct virt *v, const struct sm_kernel *kernel)
{
	if (v->mixed)
		virtual_count(v, kernel);
}
