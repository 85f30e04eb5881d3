// SPDX-License-Identifier: GPL-2.0
/*
 * Warps that are held: active, as the paper has it, but not schedulable. A held warp keeps its
 * slot and its registers, and stops at the next instruction that it comes to. How many warps run,
 * virtual_growth.c says. The oldest CTAs' do, without those at barriers; when one of them ends or
 * comes to a barrier the next one goes on.
 */
#include "sm/cta/virtual_state.h"

/* The CTAs that are here, the oldest first. */
static unsigned int by_age(const struct virt *v, uint8_t ctas[MAX_CTAS])
{
	unsigned int n = 0;

	for (unsigned int c = 0; c < v->nctas; c++) {
		unsigned int at = n;

		if (!v->kernels[c])
			continue;
		for (; at && v->age[ctas[at - 1]] > v->age[c]; at--)
			ctas[at] = ctas[at - 1];
		ctas[at] = (uint8_t)c;
		n++;
	}
	return n;
}

bool virtual_hold(struct virt *v)
{
	uint8_t ctas[MAX_CTAS], warps[MAX_WARPS];
	unsigned int n, running = 0, held = 0;
	bool some = false;

	if (v->runs == UINT32_MAX && !v->held)
		return false;
	n = by_age(v, ctas);
	for (unsigned int k = 0; k < n; k++) {
		unsigned int m = sm_cta_warps(v->sm, ctas[k], warps, MAX_WARPS);

		for (unsigned int i = 0; i < m; i++) {
			struct vwarp *w = &v->warps[warps[i]];
			bool counts = !w->exited && !w->barrier;

			if (counts && running >= v->runs) {
				w->held = true;
				held++;
				continue;
			}
			running += counts;
			some |= w->stopped;
			w->held = false;
		}
	}
	v->held = held;
	return some;
}
