/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a warp scheduler is: rows of sm/sched.def, called by issue. Private to the sm room.
 */
#ifndef GPUEMU_SM_SCHED_SCHED_H
#define GPUEMU_SM_SCHED_SCHED_H

#include "base/base.h"
#include "sm/warpset.h"

/* A scheduler's memory. */
struct sched_state {
	warpset mine;			/* its warps */
	uint32_t last;			/* warp that issued last */
	bool any;			/* one has issued */
	uint32_t active_max;		/* two-level: warps in the active set */
	/* Two-level: the active set, and everybody's place in the queue for it. */
	warpset active;
	uint64_t stamp[MAX_WARPS], next_stamp;
};

/*
 * A scheduler goes through its warps in its order and issues the first that can; on the
 * way those whose i-buffer holds a wrong path are flushed.
 */
struct sched_ops {
	const char *name, *help;
	/*
	 * Picks the first in its order of the warps in `can` (not 0). older[w]: the warps that are
	 * on the SM longer than w.
	 */
	unsigned int (*pick)(const struct sched_state *s, warpset can,
			     const warpset *older);
	/* Warps that come before `w` in the order. */
	warpset (*before)(const struct sched_state *s, unsigned int w,
			   const warpset *older);
	/*
	 * Before the walk; NULL: all are candidates. Returns who is, of its warps. `away`: wait
	 * for something long, `here`: the others that live. Calling it again with the same sets
	 * changes nothing.
	 */
	warpset (*candidates)(struct sched_state *s, warpset here, warpset away);
};

/* Rows of sm/sched.def, NULL terminated. */
extern const struct sched_ops *const sched_rows[];
const struct sched_ops *sched_find(const char *name);

#endif
