/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Re-execution of loads (Mascar: Sethia et al., HPCA 2015; Virtual Thread: Yoon et al., ISCA
 * 2016, section IV-D). A load that L1D cannot take, for want of an MSHR, a line or room in the
 * miss queue, leaves the way to the tags free for those behind it and tries again when nothing
 * new wants the tags. When the queue is full, the load stays at the tags until one of those in it
 * has gone: these came before it. A store stays there until the miss queue has room, and then goes
 * before them. With two queues, loads of CTAs that have been parked move to the second, which is
 * served when the first is empty.
 *
 * A part of the load/store unit, called by l1d.c, ldst.c and residency.c; there is none with
 * sm.mem_order=fifo.
 */
#ifndef GPUEMU_SM_REEXEC_H
#define GPUEMU_SM_REEXEC_H

#include "sm/ldst_internal.h"

/* -ENOMEM. */
int reexec_create(struct sm *sm);
void reexec_destroy(struct ldst *l);
void reexec_cancel(struct ldst *l);
static inline bool reexec_idle(const struct ldst *l)
{
	return !l->aside;
}
/* Takes an access that L1D refused. False: the access is a store, or there is no room. */
bool reexec_take(struct sm *sm, const struct l1d_access *q, uint64_t now);
/* The load that tries next, NULL: none; and its end, when L1D took it or not. */
const struct l1d_access *reexec_head(const struct ldst *l);
void reexec_tried(struct ldst *l, bool taken, uint64_t now);
/* The head was refused and would be again: nothing has changed. */
bool reexec_refused(const struct ldst *l);
/* Somebody else was at the tags in this cycle, and changed something or was refused. */
void reexec_passed_by(struct ldst *l, bool changed, uint64_t now);
/* L1D's lines, its MSHRs or the room in its miss queue have changed. */
void reexec_changed(struct ldst *l);
/* Counts the tries of the cycles before `upto` that were not made. */
void reexec_settle(struct sm *sm, uint64_t upto);
/* The cycle of the next try that has to be made. NEVER: there is none. */
uint64_t reexec_next(const struct ldst *l);
/* These warps have been parked, at the end of the cycle. */
void reexec_parked(struct sm *sm, warpset warps, uint64_t now);

#endif
