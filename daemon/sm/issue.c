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
#include <string.h>

#include "sm/activity.h"
#include "sm/idle.h"
#include "sm/scoreboard.h"

/* No access has this address: no lane's memory is there, and most accesses need alignment. */
#define NO_ADDRESS	UINT64_MAX

/* The warps that find an issue slot, of those whose heads are in step. */
static inline warpset with_slot(const struct sm *sm, warpset can)
{
	for (uint32_t m = sm->id_oc.full; m; m &= m - 1)
		can &= ~sm->heads.wants[__builtin_ctz(m)];
	return can;
}

bool issue_possible(const struct sm *sm)
{
	const struct sm_heads *h = &sm->heads;
	warpset can = h->valid & ~heads_waiting(h);

	if (set_any(can & h->stray))
		return true;
	can &= ~h->blocked;
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
	struct sm_warp *warp = &sm->warps.at[w];
	const struct sm_op *op = warp->op;
	struct exec_access *access = !op->memory ? &sm->issue.scratch :
		op->space == PTX_SPACE_TEXTURE ? ldst_fetch(sm) : ldst_access(sm);
	unsigned int slot = warp->kernel->slot;
	struct sm_share *share = &sm->share.begun[slot];
	uint64_t fault_addr = NO_ADDRESS;
	enum exec_outcome outcome;
	uint32_t i = inst_new(&sm->insts), active = 0;
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
	if (__builtin_expect(sm->activity != NULL, 0))
		activity_issue(sm, w, access, now);
	if (__builtin_expect(op->specifier, 0)) {
		sm_count(sm, slot, virtual.specifiers, 1);
		sm_count(sm, slot, virtual.issued_specifiers, 1);
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
	in->order = sm->insts.issued++;
	in->warp = (uint8_t)w;
	in->entry = NO_INDEX;
	queue_push(&sm->id_oc, op->unit, i);
	sm->oc.stuck = false;
	scoreboard_reserve(sm, i);
	warp->granted = false;
	warp->next_pc = ++warp->ib_pc;
	if (!--warp->ib_count) {
		set_drop(&sm->heads.valid, w);
		set_add(&sm->fetch.empty, w);
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
		set_add(&sm->heads.wait_fence, w);
	if (outcome == EXEC_EXITED) {
		cta_warp_exited(sm, w);
		return;
	}
	if (outcome == EXEC_BARRIER)
		barrier_arrive(sm, w, access);
	warp_check(sm, w);
}

/*
 * Nobody can issue in this cycle, as in the one before, and for the same reasons: long
 * waits are gone through without asking anew. One kernel, and no policy that looks each cycle.
 */
static inline bool idle_again(struct sm *sm)
{
	struct issue_idle *i = &sm->issue.idle;

	if (!i->known || i->full != sm->id_oc.full ||
	    memcmp(&i->heads, &sm->heads, sizeof(i->heads)))
		return false;
	sm->account.stats.schedulable_warps += i->schedulable;
	for (unsigned int k = 0; k < sm->spec->schedulers; k++)
		sm->account.stats.stalls[i->reason[k]]++;
	return true;
}

/* `idle`: no warp could issue in this cycle, and the schedulers' reasons are kept. */
static inline void idle_keep(struct sm *sm, bool idle)
{
	struct issue_idle *i = &sm->issue.idle;

	i->known = idle;
	if (!idle)
		return;
	i->heads = sm->heads;
	i->full = sm->id_oc.full;
	i->schedulable = sm->account.counted_warps;
}

static void flush(struct sm *sm, warpset warps)
{
	unsigned int w;

	for_each_warp(w, warps)
		warp_flush(sm, w, sm->warps.at[w].ex.pc);
}

/* waiting: heads_waiting(). False: none of its warps can issue, until something changes. */
static inline bool schedule(struct sm *sm, unsigned int k, warpset waiting, uint64_t now)
{
	const struct sched_ops *policy = sm->issue.policy;
	struct sched_state *s = &sm->issue.sched[k];
	const struct sm_heads *h = &sm->heads;
	warpset heads = h->valid & s->mine & ~waiting, can, stray;
	bool could;

	if (policy->candidates) {
		warpset away = waiting | h->blocked_long;

		heads &= policy->candidates(s, h->live & s->mine & ~away,
					    h->live & s->mine & away);
	}
	stray = heads & h->stray;
	can = heads & ~(h->stray | h->blocked);
	if (set_any(can))
		can = with_slot(sm, can);
	could = set_any(can);
	if (__builtin_expect(sm->mascar.on, 0))
		can = owner_limit(sm, s, can);
	if (could && set_any(can)) {
		unsigned int w = policy->pick(s, can, sm->issue.older);

		if (set_any(stray))
			flush(sm, stray & policy->before(s, w, sm->issue.older));
		sm->account.stats.stalls[STALL_ISSUED]++;
		if (__builtin_expect(sm->share.mixed, 0))
			share_cycles(sm, k, STALL_ISSUED, warp_slot(sm, w), 1);
		issue_warp(sm, w, now);
		s->last = w;
		s->any = true;
		return true;
	}
	sm->issue.idle.reason[k] = (uint8_t)account_idle(sm, waiting, k, 1);
	if (!set_any(stray))
		return could;
	flush(sm, stray);
	return true;
}

void sm_issue(struct sm *sm, uint64_t now)
{
	unsigned int n = (unsigned int)sm->spec->schedulers;
	/* The schedulers take turns in being first, as in GPGPU-Sim. */
	unsigned int k = (unsigned int)(now - sm->issue.turn_base);
	/*
	 * Where no warp issues, only several kernels see in which turn, and only a mechanism that
	 * looks each cycle counts more than the stall.
	 */
	bool alike = !sm->issue.policy->candidates && !sm->share.mixed && !sm->mech.every;
	bool idle = true;
	warpset waiting;

	if (alike && idle_again(sm))
		return;
	waiting = heads_waiting(&sm->heads);
	account_schedulable(sm, waiting, 1);
	k = n == 2 ? k & 1 : (unsigned int)((now - sm->issue.turn_base) % n);
	for (unsigned int i = 0; i < n; i++, k = k + 1 == n ? 0 : k + 1) {
		/* The first failure is the one that is told; the others' cycle still counts. */
		if (sm->failure.error) {
			account_idle(sm, waiting, k, 1);
		} else if (schedule(sm, k, waiting, now)) {
			idle = false;
			if (i + 1 < n)
				waiting = heads_waiting(&sm->heads);
		}
	}
	if (alike)
		idle_keep(sm, idle);
}
