// SPDX-License-Identifier: GPL-2.0
/*
 * Loose round robin: the search starts behind the warp that issued last.
 */
#include "sm/sched/rows.h"

static unsigned int lrr_pick(const struct sched_state *s, uint64_t can)
{
	uint64_t behind = can;

	if (s->any)
		behind &= s->last == 63 ? 0 : ~0ull << (s->last + 1);
	return (unsigned int)__builtin_ctzll(behind ? behind : can);
}

const struct sched_ops sched_lrr = {
	.name = "lrr",
	.help = "loose round robin over the warps that can issue",
	.pick = lrr_pick,
};
