/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The owner warp of Mascar, sm.mem_order=mascar: owner.c. Private to the sm room.
 */
#ifndef GPUEMU_SM_OWNER_H
#define GPUEMU_SM_OWNER_H

#include "sm/limits.h"
#include "sm/warpset.h"
#include "sm/sched/sched.h"

/* Mascar's owner warp: owner.c. */
struct owner {
	bool on;			/* sm.mem_order=mascar */
	bool saturated;
	uint32_t warp;			/* NO_INDEX: none */
};

/* Looks, after a cycle and whatever else makes warps wait, whether L1D is saturated, and who owns it. */
void owner_look(struct sm *sm);
/* The warps that may issue, of those that can. */
warpset owner_limit(struct sm *sm, const struct sched_state *s, warpset can);

#endif
