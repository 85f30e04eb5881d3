/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the warps' next instructions wait for. Private to the sm room.
 */
#ifndef GPUEMU_SM_HEADS_H
#define GPUEMU_SM_HEADS_H

#include "sm/limits.h"
#include "sm/warpset.h"

/*
 * Sets of warps: all that issue looks at, in one place. `live` are resident and have not exited. A
 * warp's head issues when the warp is live, waits for nothing and its head is valid, in step
 * and not blocked.
 */
struct sm_heads {
	/* What changes often is first: issue.c compares all with the cycle before. */
	warpset valid;			/* the i-buffer has a head */
	warpset blocked;		/* of them, by the scoreboard */
	warpset blocked_long;		/* of them, on a load */
	warpset stray;			/* of them, not where the SIMT stack is: to be flushed */
	warpset live;
	warpset wait_barrier;
	warpset wait_fence;		/* a fence, with results pending */
	warpset wait_atomic;
	warpset wait_order;		/* those of accesses.untranslated whose head must wait for that */
	warpset far_fault;		/* an access waits for a far fault (ldst's) */
	warpset wait_fault;		/* those of them that it deschedules: sm.fault_stall */
	warpset inactive;		/* of CTAs that are not active */
	warpset held;			/* wait for resources at a phase point, or for operands */
	warpset operands;		/* those of held that wait for operands from swap */
	warpset wants[UNITS];		/* by the unit of the head */
};

/* Warps that the schedulers pass by. */
static inline warpset heads_waiting(const struct sm_heads *h)
{
	return h->wait_barrier | h->wait_fence | h->wait_atomic | h->wait_order | h->wait_fault |
	       h->inactive | h->held;
}

/*
 * Why a scheduler that has the warps `mine` issues nothing; waiting: heads_waiting(). Far faults
 * first, for they hide all else.
 */
static inline enum stall heads_stall(const struct sm_heads *h, warpset waiting,
				     warpset mine)
{
	warpset here = h->live & ~h->inactive & mine;
	warpset heads = here & h->valid & ~(h->stray | waiting);

	if (!set_any(here))
		return set_any(h->live & h->inactive) ? STALL_SWAPPED : STALL_NO_WARP;
	if (set_any(heads & ~h->blocked))
		return STALL_PIPELINE;
	if (set_any(here & h->far_fault))
		return STALL_FAR_FAULT;
	if (set_any((heads & h->blocked_long) |
		    (here & (h->wait_fence | h->wait_atomic | h->wait_order | h->operands))))
		return STALL_LONG;
	if (set_any(here & h->held))
		return STALL_HELD;
	if (set_any(heads))
		return STALL_SHORT;
	return set_any(here & ~h->wait_barrier) ? STALL_IBUFFER : STALL_BARRIER;
}

#endif
