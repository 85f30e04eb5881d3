/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Declares what sm/sched/<name>.c defines, and the two orders that they are made
 * of. Private to the sm room.
 */
#ifndef GPUEMU_SM_SCHED_ROWS_H
#define GPUEMU_SM_SCHED_ROWS_H

#include "sm/sched/sched.h"

#define X(name) extern const struct sched_ops sched_##name;
#include "sm/sched.def"
#undef X

/* Warps behind the one that issued last, by number. */
static inline warpset behind_last(const struct sched_state *s)
{
	if (!s->any)
		return ~NO_WARPS;
	return set_behind(s->last);
}

static inline unsigned int round_robin_pick(const struct sched_state *s, warpset can)
{
	return s->any ? set_after(can, s->last) : set_first(can);
}

static inline warpset round_robin_before(const struct sched_state *s, unsigned int w)
{
	warpset behind = behind_last(s), below = set_before(w);

	return set_has(behind, w) ? behind & below : behind | below;
}

static inline unsigned int oldest_of(warpset can, const warpset *older)
{
	unsigned int w = set_first(can);

	while (set_any(can & older[w]))
		w = set_first(can & older[w]);
	return w;
}

#endif
