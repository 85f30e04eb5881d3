// SPDX-License-Identifier: GPL-2.0
/*
 * Loose round robin: the walk starts behind the warp that issued last.
 */
#include "sm/sched/rows.h"

static unsigned int lrr_pick(const struct sched_state *s, warpset can, const warpset *older)
{
	return round_robin_pick(s, can);
}

static warpset lrr_before(const struct sched_state *s, unsigned int w, const warpset *older)
{
	return round_robin_before(s, w);
}

const struct sched_ops sched_lrr = {
	.name = "lrr",
	.help = "loose round robin over the warps that can issue",
	.pick = lrr_pick,
	.before = lrr_before,
};
