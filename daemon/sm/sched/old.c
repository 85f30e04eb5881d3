// SPDX-License-Identifier: GPL-2.0
/*
 * Oldest first: always the warp that has been on the SM longest.
 */
#include "sm/sched/rows.h"

static unsigned int old_pick(const struct sched_state *s, warpset can, const warpset *older)
{
	return oldest_of(can, older);
}

static warpset old_before(const struct sched_state *s, unsigned int w, const warpset *older)
{
	return older[w];
}

const struct sched_ops sched_old = {
	.name = "old",
	.help = "the oldest warp that can issue",
	.pick = old_pick,
	.before = old_before,
};
