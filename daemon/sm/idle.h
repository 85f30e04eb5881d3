/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is counted of each cycle: by issue.c and sm.c of one that runs, by account.c of those that
 * do not. Private to the sm room.
 */
#ifndef GPUEMU_SM_IDLE_H
#define GPUEMU_SM_IDLE_H

#include "sm/state.h"

/* Do all heads of the scheduler that are ready want the load/store unit? */
static inline bool idle_only_memory(const struct sm *sm, unsigned int k)
{
	const struct sm_heads *h = &sm->heads;
	warpset ready = h->live & h->valid & sm->issue.sched[k].mine & ~h->stray &
			~heads_waiting(h) & ~h->blocked;

	return set_any(ready) && !set_any(ready & ~h->wants[UNIT_LDST]);
}

/* Somebody of the scheduler waits neither for a resource nor at a barrier. */
static inline bool idle_others(const struct sm *sm, unsigned int k)
{
	const struct sm_heads *h = &sm->heads;

	return set_any(h->live & ~h->inactive & sm->issue.sched[k].mine & ~h->held &
		       ~h->wait_barrier);
}

/* What a mechanism that asks of every instruction wants to know beyond the stall. */
static inline void account_every(struct sm *sm, unsigned int k, enum stall reason,
				 uint64_t cycles)
{
	if (idle_only_memory(sm, k))
		sm->mech.memory_pipeline += cycles;
	else if (reason == STALL_HELD && idle_others(sm, k))
		sm->mech.held_beside += cycles;
}

/* The scheduler's cycles go by without an instruction; why. */
static inline enum stall account_idle(struct sm *sm, warpset waiting, unsigned int k,
				      uint64_t cycles)
{
	enum stall reason = heads_stall(&sm->heads, waiting, sm->issue.sched[k].mine);

	sm->account.stats.stalls[reason] += cycles;
	if (__builtin_expect(sm->mech.every, 0))
		account_every(sm, k, reason, cycles);
	if (__builtin_expect(sm->share.mixed, 0))
		share_cycles(sm, k, reason, NOBODY, cycles);
	return reason;
}

/* How many warps wait for nothing but their instructions' operands. Seldom another than before. */
static inline uint32_t schedulable(struct sm *sm, warpset waiting)
{
	warpset warps = sm->heads.live & ~waiting;

	if (!set_equal(warps, sm->account.counted)) {
		sm->account.counted = warps;
		sm->account.counted_warps = set_count(warps);
	}
	return sm->account.counted_warps;
}

/* Counts cycles of warps that wait for nothing but operands. waiting: heads_waiting(). */
static inline void account_schedulable(struct sm *sm, warpset waiting, uint64_t cycles)
{
	sm->account.stats.schedulable_warps += cycles * schedulable(sm, waiting);
	if (__builtin_expect(sm->share.mixed, 0))
		share_schedulable(sm, cycles);
}

#endif
