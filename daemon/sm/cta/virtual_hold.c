// SPDX-License-Identifier: GPL-2.0
/*
 * Warps that are held: active, as the paper has it, but not schedulable. A held warp keeps its
 * slot and its registers, and stops at the next instruction that it comes to. How many warps run,
 * virtual_growth.c says. The oldest CTAs' do, without those at barriers. The next CTA goes on when
 * enough of them have ended or come to a barrier for all its warps, as it would begin on a plain
 * SM. Warp by warp its accesses would be apart from each other, and among those of the one before:
 * bh then misses L1D 2% more often.
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

static bool runnable(const struct vwarp *w)
{
	return !w->exited && !w->barrier;
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
		unsigned int m = sm_cta_warps(v->sm, ctas[k], warps, MAX_WARPS), here = 0;
		bool hold;

		for (unsigned int i = 0; i < m; i++)
			here += runnable(&v->warps[warps[i]]);
		hold = running + here > v->runs;
		for (unsigned int i = 0; i < m; i++) {
			struct vwarp *w = &v->warps[warps[i]];

			if (hold && runnable(w)) {
				w->held = true;
				continue;
			}
			some |= w->stopped;
			w->held = false;
		}
		if (hold)
			held += here;
		else
			running += here;
	}
	v->held = held;
	return some;
}
