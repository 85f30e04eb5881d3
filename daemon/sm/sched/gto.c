// SPDX-License-Identifier: GPL-2.0
/*
 * Greedy then oldest: stays with the warp that issued last as long as it can
 * issue, then takes the one that has been on the SM longest. A slot that gets a new
 * warp keeps being the greedy one (GPGPU-Sim, gto_scheduler).
 */
#include "sm/sched/rows.h"

static unsigned int gto_pick(const struct sched_state *s, warpset can, const warpset *older)
{
	if (s->any && set_has(can, s->last))
		return s->last;
	return oldest_of(can, older);
}

static warpset gto_before(const struct sched_state *s, unsigned int w, const warpset *older)
{
	if (!s->any)
		return older[w];
	return w == s->last ? NO_WARPS : older[w] | set_of(s->last);
}

const struct sched_ops sched_gto = {
	.name = "gto",
	.help = "greedy, then the oldest warp that can issue",
	.pick = gto_pick,
	.before = gto_before,
};
