// SPDX-License-Identifier: GPL-2.0
/*
 * Greedy then oldest: stays with the warp that issued last as long as it can
 * issue, then takes the one that has been on the SM longest.
 */
#include "sm/sched/rows.h"

static unsigned int gto_pick(const struct sched_state *s, uint64_t can)
{
	unsigned int best = (unsigned int)__builtin_ctzll(can);

	if (s->any && (can >> s->last & 1))
		return s->last;
	for (can &= can - 1; can; can &= can - 1) {
		unsigned int w = (unsigned int)__builtin_ctzll(can);

		if (s->age[w] < s->age[best])
			best = w;
	}
	return best;
}

const struct sched_ops sched_gto = {
	.name = "gto",
	.help = "greedy, then the oldest warp that can issue",
	.pick = gto_pick,
};
