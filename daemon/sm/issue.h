/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The schedulers and their issue of instructions: issue.c. Private to the sm room.
 */
#ifndef GPUEMU_SM_ISSUE_H
#define GPUEMU_SM_ISSUE_H

#include "sm/heads.h"
#include "sm/sched/sched.h"
#include "sm/limits.h"

/*
 * The sets that issue saw when it last found that no warp can, and why. A change of
 * `mine` clears `known`.
 */
struct issue_idle {
	struct sm_heads heads;
	uint32_t full;			/* issue slots */
	uint32_t schedulable;		/* warps */
	bool known;
	uint8_t reason[MAX_SCHEDULERS];	/* enum stall */
};

struct issue {
	struct sched_state sched[MAX_SCHEDULERS];
	const struct sched_ops *policy;
	struct issue_idle idle;
	uint64_t turn_base;		/* cycle in which scheduler 0 is first */
	warpset older[MAX_WARPS];	/* by warp: those that are on the SM longer */
	struct exec_access scratch;	/* of instructions that are not memory's */
};

void sm_issue(struct sm *sm, uint64_t now);
bool issue_possible(const struct sm *sm);

#endif
