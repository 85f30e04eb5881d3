// SPDX-License-Identifier: GPL-2.0
/*
 * Greedy then oldest: stays with the warp that issued last as long as it can
 * issue, then takes the one that has been on the SM longest. A slot that gets a new
 * warp keeps being the greedy one (GPGPU-Sim, gto_scheduler).
 */
#include "sm/sched/rows.h"

static unsigned int gto_pick(const struct sched_state *s, uint64_t can, const uint64_t *older)
{
	if (s->any && (can >> s->last & 1))
		return s->last;
	return oldest_of(can, older);
}

static uint64_t gto_before(const struct sched_state *s, unsigned int w, const uint64_t *older)
{
	if (!s->any)
		return older[w];
	return w == s->last ? 0 : older[w] | 1ull << s->last;
}

const struct sched_ops sched_gto = {
	.name = "gto",
	.help = "greedy, then the oldest warp that can issue",
	.pick = gto_pick,
	.before = gto_before,
};
