// SPDX-License-Identifier: GPL-2.0
/*
 * Issue (GPGPU-Sim, scheduler_unit::cycle): each scheduler walks its warps in its
 * order. Those that wait are passed by; one whose i-buffer holds another instruction
 * than the SIMT stack wants is flushed on the way; the first whose operands are
 * there and whose unit has an issue slot free issues, which ends the walk.
 * Instructions execute functionally here (exec_step()); time is what happens
 * to them afterwards.
 */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "sm/internal.h"
#include "sm/ldst.h"

/* No access has this one: it is no lane's, and misaligned for most. */
#define NO_ADDRESS	UINT64_MAX

/* The warps that find an issue slot, of those whose heads are in step. */
static inline warpset with_slot(const struct sm *sm, warpset can)
{
	for (uint32_t m = sm->id_oc.full; m; m &= m - 1)
		can &= ~sm->wants[__builtin_ctz(m)];
	return can;
}

bool issue_possible(const struct sm *sm)
{
	warpset can = sm->valid & ~sm_waiting(sm);

	if (set_any(can & sm->stray))
		return true;
	can &= ~sm->blocked;
	return set_any(can) && set_any(with_slot(sm, can));
}

/* How many lanes: the compiler would call a function for it. */
static inline unsigned int lane_count(uint32_t lanes)
{
	lanes -= lanes >> 1 & 0x55555555;
	lanes = (lanes & 0x33333333) + (lanes >> 2 & 0x33333333);
	return ((lanes + (lanes >> 4)) & 0x0f0f0f0f) * 0x01010101u >> 24;
}

static inline void issue_warp(struct sm *sm, unsigned int w, uint64_t now)
{
	struct sm_warp *warp = &sm->warps[w];
	const struct sm_op *op = warp->op;
	struct exec_access *access = op->memory ? ldst_access(sm) : &sm->scratch;
	unsigned int slot = warp->kernel->slot;
	struct sm_share *share = &sm->shares[slot];
	uint64_t fault_addr = NO_ADDRESS;
	warpset bit = set_of(w);
	enum exec_outcome outcome;
	uint32_t i = inst_new(sm), active = 0;
	unsigned int lanes;
	struct sm_inst *in;

	if (i == NO_INDEX || !access) {
		err_set(sm->env.err, 0, "out of memory");
		sm_fail(sm, -ENOMEM, 0, warp->kernel);
		return;
	}
	warp->ex.clock = now;
	access->touched = 0;
	outcome = exec_step(&warp->ex, access, &active, &fault_addr, sm->env.err);

	lanes = active == UINT32_MAX ? WARP_LANES : lane_count(active);
	if (__builtin_expect(op->specifier, 0)) {
		sm_count(sm, slot, virtual.specifiers, 1);
	} else {
		sm_count(sm, slot, warp_instructions, 1);
		sm_count(sm, slot, thread_instructions, lanes);
		share->warp_instructions++;
		share->thread_instructions += lanes;
	}

	/* The rest of it is the load/store unit's. */
	in = sm_inst(sm, i);
	in->op = op;
	in->lanes = active;
	in->order = sm->issued++;
	in->warp = (uint8_t)w;
	in->entry = NO_INDEX;
	queue_push(&sm->id_oc, op->unit, i);
	sm->oc.stuck = false;
	scoreboard_reserve(sm, i);
	warp->granted = false;
	warp->next_pc = ++warp->ib_pc;
	if (!--warp->ib_count) {
		sm->valid &= ~bit;
		sm->empty |= bit;
	}
	if (outcome == EXEC_TRAP) {
		/* A bad address is the memory's error; all else the kernel brought on itself. */
		if (fault_addr == NO_ADDRESS)
			sm_fail(sm, -ECANCELED, 0, warp->kernel);
		else
			sm_fail(sm, -EFAULT, fault_addr, warp->kernel);
		return;
	}
	if (op->memory)
		ldst_issue(sm, i, outcome);
	else if (op->fence && warp->pending)
		sm->wait_fence |= bit;
	if (outcome == EXEC_EXITED) {
		cta_warp_exited(sm, w);
		return;
	}
	if (outcome == EXEC_BARRIER)
		barrier_arrive(sm, w, access);
	warp_check(sm, w);
}

/* Far faults first, for they hide all else. waiting: sm_waiting(). */
static inline enum stall stall(const struct sm *sm, warpset waiting, warpset mine)
{
	warpset here = sm->live & ~sm->inactive & mine;
	warpset heads = here & sm->valid & ~(sm->stray | waiting);

	if (!set_any(here))
		return set_any(sm->live & sm->inactive) ? STALL_SWAPPED : STALL_NO_WARP;
	if (set_any(heads & ~sm->blocked))
		return STALL_PIPELINE;
	if (set_any(here & sm->far_fault))
		return STALL_FAR_FAULT;
	if (set_any((heads & sm->blocked_long) |
		    (here & (sm->wait_fence | sm->wait_atomic | sm->wait_order |
			 sm->operands))))
		return STALL_LONG;
	if (set_any(here & sm->held))
		return STALL_HELD;
	if (set_any(heads))
		return STALL_SHORT;
	return set_any(here & ~sm->wait_barrier) ? STALL_IBUFFER : STALL_BARRIER;
}

enum stall stall_of(const struct sm *sm, warpset mine)
{
	return stall(sm, sm_waiting(sm), mine);
}

bool issue_only_memory(const struct sm *sm, unsigned int k)
{
	warpset ready = sm->live & sm->valid & sm->sched[k].mine & ~sm->stray & ~sm_waiting(sm) &
			~sm->blocked;

	return set_any(ready) && !set_any(ready & ~sm->wants[UNIT_LDST]);
}

/* The scheduler's cycles go by without an instruction. */
static inline void idle(struct sm *sm, warpset waiting, unsigned int k, uint64_t cycles)
{
	enum stall reason = stall(sm, waiting, sm->sched[k].mine);

	sm->stats.stalls[reason] += cycles;
	if (__builtin_expect(sm->mech.every, 0) && issue_only_memory(sm, k))
		sm->mech.memory_pipeline += cycles;
	if (__builtin_expect(sm->mixed, 0))
		share_cycles(sm, k, reason, NOBODY, cycles);
}

void issue_settle(struct sm *sm, uint64_t cycles)
{
	warpset waiting = sm_waiting(sm);

	for (unsigned int k = 0; k < sm->spec->schedulers; k++)
		idle(sm, waiting, k, cycles);
}

_Static_assert(offsetof(struct sm, wants) + sizeof(((struct sm *)0)->wants) -
	       offsetof(struct sm, live) == sizeof(((struct issue_idle *)0)->sets),
	       "issue_idle.sets are those from live to wants");

/*
 * Nobody can issue in this cycle, as in the one before, and for the same reasons: long
 * waits are gone through without asking anew. One kernel, and no policy that looks each cycle.
 */
static bool idle_again(struct sm *sm)
{
	struct issue_idle *i = &sm->idle;
	warpset waiting;

	if (!i->known || i->full != sm->id_oc.full ||
	    memcmp(i->sets, &sm->live, sizeof(i->sets))) {
		i->known = !issue_possible(sm);
		if (!i->known)
			return false;
		memcpy(i->sets, &sm->live, sizeof(i->sets));
		i->full = sm->id_oc.full;
		waiting = sm_waiting(sm);
		for (unsigned int k = 0; k < sm->spec->schedulers; k++)
			i->reason[k] = (uint8_t)stall(sm, waiting, sm->sched[k].mine);
	}
	for (unsigned int k = 0; k < sm->spec->schedulers; k++)
		sm->stats.stalls[i->reason[k]]++;
	return true;
}

static void flush(struct sm *sm, warpset warps)
{
	unsigned int w;

	for_each_warp(w, warps)
		fetch_flush(sm, w, sm->warps[w].ex.pc);
}

static inline void schedule(struct sm *sm, unsigned int k, uint64_t now)
{
	struct sched_state *s = &sm->sched[k];
	warpset waiting = sm_waiting(sm);
	warpset heads = sm->valid & s->mine & ~waiting, can, stray;

	if (sm->policy->candidates) {
		warpset away = waiting | sm->blocked_long;

		heads &= sm->policy->candidates(s, sm->live & s->mine & ~away,
						sm->live & s->mine & away);
	}
	stray = heads & sm->stray;
	can = heads & ~(sm->stray | sm->blocked);
	if (set_any(can))
		can = with_slot(sm, can);
	if (__builtin_expect(sm->mascar.on, 0))
		can = owner_limit(sm, s, can);
	if (set_any(can)) {
		unsigned int w = sm->policy->pick(s, can, sm->older);

		if (set_any(stray))
			flush(sm, stray & sm->policy->before(s, w, sm->older));
		sm->stats.stalls[STALL_ISSUED]++;
		if (__builtin_expect(sm->mixed, 0))
			share_cycles(sm, k, STALL_ISSUED, warp_slot(sm, w), 1);
		issue_warp(sm, w, now);
		s->last = w;
		s->any = true;
		return;
	}
	idle(sm, waiting, k, 1);
	if (set_any(stray))
		flush(sm, stray);
}

void sm_issue(struct sm *sm, uint64_t now)
{
	unsigned int n = (unsigned int)sm->spec->schedulers;
	/* They take turns in being first, as in GPGPU-Sim. */
	unsigned int k = (unsigned int)(now - sm->turn_base);

	/*
	 * No warp issues. Only several kernels see in which turn, and only a mechanism that looks
	 * each cycle counts more than the stall.
	 */
	if (!sm->policy->candidates && !sm->mixed && !sm->mech.every && idle_again(sm))
		return;
	k = n == 2 ? k & 1 : (unsigned int)((now - sm->turn_base) % n);
	for (unsigned int i = 0; i < n; i++, k = k + 1 == n ? 0 : k + 1) {
		/* The first failure is the one that is told; the others' cycle still counts. */
		if (sm->failure.error)
			idle(sm, sm_waiting(sm), k, 1);
		else
			schedule(sm, k, now);
	}
}
