// SPDX-License-Identifier: GPL-2.0
/*
 * Which CTAs hold physical slots. A CTA and its warps keep their numbers, their registers, their
 * scoreboard rows and their barriers from launch to end, with slots or without; a slot is what
 * lets a warp be scheduled, by scheduler slot % schedulers, and what sm.warps and sm.ctas count.
 * So nothing is copied when a CTA is parked: what is on its way finds its warp by the number.
 *
 * Parking: the CTA issues and fetches nothing more, its i-buffers are emptied, and a line that
 * is being fetched for it is dropped when it comes. When what it has in collectors and
 * pipelines has run out, its slots are free. Its memory operations go on; that the last result has
 * come is told (`ready`). cta.c and mechanism.c call it, and through sm.h who decides.
 */
#include <errno.h>
#include <string.h>

#include "sm/cta/rows.h"
#include "sm/scoreboard.h"
#include "sm/reexec.h"

/* --- slots --------------------------------------------------------------------- */

/*
 * n numbers below `limit` that are not in `used`: the first free ones of those that n divides them
 * into, as GPGPU-Sim numbers them; with CTAs of other sizes between, any. Fewer than n: there
 * are no more.
 */
warpset residency_choose(warpset used, unsigned int limit, unsigned int n)
{
	warpset chosen;
	unsigned int w;

	for (w = 0; w + n <= limit; w += n) {
		chosen = set_before(w + n) & ~set_before(w);
		if (!set_any(used & chosen))
			return chosen;
	}
	chosen = NO_WARPS;
	for (w = 0; w < limit && n; w++) {
		if (!set_has(used, w)) {
			chosen |= set_of(w);
			n--;
		}
	}
	return chosen;
}

bool sm_fits_slots(const struct sm *sm, const struct sm_kernel *k)
{
	return sm->res.slotted < sm->ctas.slots &&
	       set_count(sm->res.slots) + k->warps_per_cta <= sm->warps.slots;
}

static bool take_slots(struct sm *sm, unsigned int c)
{
	struct sm_cta *cta = &sm->ctas.at[c];
	warpset slots;
	unsigned int w;

	if (!sm_fits_slots(sm, cta->kernel))
		return false;
	slots = residency_choose(sm->res.slots, sm->warps.slots, cta->kernel->warps_per_cta);
	cta->slots = slots;
	sm->res.slots |= slots;
	sm->issue.idle.known = false;
	sm->res.slotted++;
	for_each_warp(w, cta->warps) {
		unsigned int slot = set_first(slots);

		slots = set_rest(slots);
		sm->issue.sched[slot % sm->spec->schedulers].mine |= set_of(w);
	}
	return true;
}

static void free_slots(struct sm *sm, unsigned int c)
{
	struct sm_cta *cta = &sm->ctas.at[c];

	if (!set_any(cta->slots))
		return;
	sm->res.slots &= ~cta->slots;
	sm->issue.idle.known = false;
	sm->res.slotted--;
	(*sm->res.room)++;
	cta->gave = cta->slots;
	cta->slots = NO_WARPS;
	for (unsigned int s = 0; s < sm->spec->schedulers; s++)
		sm->issue.sched[s].mine &= ~cta->warps;
}

/* --- states -------------------------------------------------------------------------- */

static void set_state(struct sm *sm, unsigned int c, enum sm_cta_state state)
{
	sm->ctas.at[c].state = (uint8_t)state;
	set_let(&sm->res.active, c, state == SM_CTA_ACTIVE);
	set_let(&sm->res.moving, c, state == SM_CTA_PARKING || state == SM_CTA_RESTORING);
	sm->mech.look |= sm->mech.attend;
}

void residency_launched(struct sm *sm, unsigned int c, uint64_t now)
{
	struct sm_cta *cta = &sm->ctas.at[c];

	cta->ready_told = true;
	if (sm->mech.ops->by_warp) {
		set_state(sm, c, SM_CTA_ACTIVE);
		sm->heads.inactive |= cta->warps;
		sm->fetch.empty &= ~cta->warps;
		return;
	}
	if (!cta->outside && take_slots(sm, c)) {
		set_state(sm, c, SM_CTA_ACTIVE);
		return;
	}
	/* The CTA waits for its first slots, and has nothing on its way. */
	cta->gave = NO_WARPS;
	set_state(sm, c, SM_CTA_PARKED);
	cta->parked = now;
	sm->heads.inactive |= cta->warps;
	sm->fetch.empty &= ~cta->warps;
}

void sm_room_grown(struct sm *sm)
{
	(*sm->res.room)++;
	/* Rooms of SMs that have run are looked at. */
	*sm->env.wake = MIN(*sm->env.wake, sm->now + 1);
}

uint64_t sm_rooms(const struct sm *sm)
{
	return *sm->res.room;
}

void residency_retired(struct sm *sm, unsigned int c)
{
	(*sm->res.room)++;
	free_slots(sm, c);
	set_state(sm, c, SM_CTA_NONE);
	set_drop(&sm->res.due, c);
	sm->heads.inactive &= ~sm->ctas.at[c].warps;
}

/* --- warps that have slots of their own ------------------------------------------------- */

void sm_warp_schedule(struct sm *sm, unsigned int w, unsigned int slot, uint64_t now)
{
	warpset bit = set_of(w);

	sm_settle(sm, now + 1);
	sm->issue.sched[slot % sm->spec->schedulers].mine |= bit;
	sm->heads.inactive &= ~bit;
	mechanism_stalls(sm);
	/* A line that comes late is dropped first. */
	if (set_has(sm->heads.live & ~sm->fetch.stale, w))
		sm->fetch.empty |= bit;
	*sm->env.wake = MIN(*sm->env.wake, now + 1);
}

bool sm_warp_unschedule(struct sm *sm, unsigned int w, uint64_t now)
{
	struct sm_warp *warp = &sm->warps.at[w];
	bool granted = sm_warp_revoke(sm, w);
	warpset bit = set_of(w);

	sm_settle(sm, now + 1);
	sm->heads.inactive |= bit;
	mechanism_stalls(sm);
	sm->heads.held &= ~bit;
	sm->heads.operands &= ~bit;
	warp_flush(sm, w, warp->ex.pc);
	warp_check(sm, w);
	if (sm->fetch.fetched == w)
		sm->fetch.fetched = NO_INDEX;
	sm->fetch.empty &= ~bit;
	sm->fetch.refused &= ~bit;
	sm->fetch.stale |= sm->fetch.missed & bit;
	reexec_parked(sm, bit, now);
	residency_warp_retired(sm, w);
	return granted;
}

void residency_warp_retired(struct sm *sm, unsigned int w)
{
	for (unsigned int s = 0; s < sm->spec->schedulers; s++)
		sm->issue.sched[s].mine &= ~set_of(w);
}

void sm_hold(struct sm *sm, uint32_t registers, uint32_t shared_bytes, uint64_t now)
{
	sm_integrate(sm, now + 1);
	sm->ctas.registers = registers;
	sm->ctas.shared = shared_bytes;
}

void residency_cancel(struct sm *sm)
{
	sm->res = (struct residency){ .room = sm->res.room, .own_room = sm->res.own_room };
	(*sm->res.room)++;
	sm->issue.idle.known = false;
	for (unsigned int s = 0; s < sm->spec->schedulers; s++)
		sm->issue.sched[s].mine = NO_WARPS;
}

bool residency_idle(const struct sm *sm)
{
	const struct residency *r = &sm->res;
	warpset mine = NO_WARPS;

	for (unsigned int s = 0; s < sm->spec->schedulers; s++)
		mine |= sm->issue.sched[s].mine;
	return !r->slotted &&
	       !set_any(r->slots | r->active | r->moving | r->due | sm->fetch.stale | mine);
}

int sm_park(struct sm *sm, unsigned int c, uint64_t delay, uint64_t now)
{
	struct sm_cta *cta = &sm->ctas.at[c];
	unsigned int w;

	if (c >= sm->ctas.n || cta->state != SM_CTA_ACTIVE ||
	    (!set_any(cta->running) && !sm->mech.ops->leaves_pipelines))
		return -EINVAL;
	sm_settle(sm, now + 1);
	set_state(sm, c, SM_CTA_PARKING);
	cta->until = now + delay;
	/* A CTA whose warps have all exited is not told about again: it ends without slots. */
	cta->ready_told = !set_any(cta->running);
	sm->heads.inactive |= cta->warps;
	for_each_warp(w, cta->running) {
		warp_flush(sm, w, sm->warps.at[w].ex.pc);
		warp_check(sm, w);
		if (sm->fetch.fetched == w)
			sm->fetch.fetched = NO_INDEX;
	}
	sm->fetch.empty &= ~cta->warps;
	sm->fetch.refused &= ~cta->warps;
	sm->fetch.stale |= sm->fetch.missed & cta->warps;
	sm->mech.attend = sm->mech.look = true;
	*sm->env.wake = MIN(*sm->env.wake, now + 1);
	return 0;
}

/* --- halting ----------------------------------------------------------------------------- */

/* The warp is where one is that has exited, but for what it has under way. */
static void stop(struct sm *sm, unsigned int w)
{
	warpset bit = set_of(w);

	mechanism_stalls(sm);
	sm->heads.wait_barrier &= ~bit;
	sm->heads.held &= ~bit;
	sm->heads.operands &= ~bit;
	sm->fetch.refused &= ~bit;
	/* A line that is being fetched is dropped when it comes. */
	sm->fetch.stale |= sm->fetch.missed & bit;
	if (sm->fetch.fetched == w)
		sm->fetch.fetched = NO_INDEX;
	cta_warp_exited(sm, w);
}

static void halt(struct sm *sm, unsigned int c, uint64_t now)
{
	struct sm_cta *cta = &sm->ctas.at[c];
	unsigned int w;

	/* No warp waits for the others at a barrier. */
	memset(cta->barriers, 0, sizeof(cta->barriers));
	for_each_warp(w, cta->running)
		stop(sm, w);
	*sm->env.wake = MIN(*sm->env.wake, now + 1);
}

void sm_halt(struct sm *sm, const struct sm_kernel *k, uint64_t now)
{
	sm_settle(sm, now + 1);
	for (unsigned int c = 0; c < sm->ctas.n; c++) {
		struct sm_cta *cta = &sm->ctas.at[c];

		if (cta->state == SM_CTA_NONE || cta->kernel != k)
			continue;
		cta->halted = true;
		if (cta->state == SM_CTA_ACTIVE)
			halt(sm, c, now);
	}
}

/* --- restoring ----------------------------------------------------------------------------- */

/* Starts a CTA that has its slots when the delay is over. */
static void start(struct sm *sm, unsigned int c, uint64_t now)
{
	struct sm_cta *cta = &sm->ctas.at[c];

	sm_settle(sm, now + 1);
	set_state(sm, c, SM_CTA_ACTIVE);
	sm->heads.inactive &= ~cta->warps;
	/* A line that comes late is dropped first. */
	sm->fetch.empty |= cta->running & ~sm->fetch.stale;
	*sm->env.wake = MIN(*sm->env.wake, now + 1);
	mechanism_started(sm, c, now);
	/* The mechanism may have parked it again. */
	if (cta->halted && cta->state == SM_CTA_ACTIVE)
		halt(sm, c, now);
}

int sm_restore(struct sm *sm, unsigned int c, uint64_t delay, uint64_t now)
{
	struct sm_cta *cta = &sm->ctas.at[c];

	if (c >= sm->ctas.n || cta->state != SM_CTA_PARKED || cta->outside)
		return -EINVAL;
	sm_settle(sm, now + 1);
	if (!take_slots(sm, c))
		return -EAGAIN;
	set_state(sm, c, SM_CTA_RESTORING);
	if (sm->env.parked)
		cta_tell(sm, c, sm->env.parked, cta->gave, cta->parked, now);
	cta->until = now + delay;
	sm->mech.attend = sm->mech.look = true;
	if (delay)
		*sm->env.wake = MIN(*sm->env.wake, now + 1);
	else
		start(sm, c, now);
	return 0;
}

/* --- what goes on ------------------------------------------------------------------------ */

/* Has the CTA no instruction between issue and memory? */
static bool drained(const struct sm *sm, const struct sm_cta *cta)
{
	unsigned int w;

	for_each_warp(w, cta->warps) {
		if (sm->warps.at[w].inflight != sm->warps.at[w].away)
			return false;
	}
	return true;
}

/* Stores may be under way. */
bool sm_warp_awaits(const struct sm *sm, unsigned int w)
{
	return sm->warps.at[w].pending ||
	       set_has(sm->accesses.untranslated | sm->heads.wait_atomic, w);
}

/* Every result and every page that it waits for has come. */
static bool all_here(const struct sm *sm, const struct sm_cta *cta)
{
	unsigned int w;

	for_each_warp(w, cta->warps) {
		if (sm_warp_awaits(sm, w))
			return false;
	}
	return true;
}

/* by_warp: those of its warps without slots for which something has come. */
static void look_at_warps(struct sm *sm, const struct sm_cta *cta, uint64_t now)
{
	unsigned int w;

	for_each_warp(w, cta->running & sm->heads.inactive) {
		if (!sm_warp_awaits(sm, w))
			mechanism_warp_ready(sm, w, now);
	}
}

static void look(struct sm *sm, unsigned int c, uint64_t now)
{
	struct sm_cta *cta = &sm->ctas.at[c];

	set_drop(&sm->res.due, c);
	if (sm->mech.ops->by_warp)
		look_at_warps(sm, cta, now);
	if (cta->state != SM_CTA_PARKED || cta->ready_told || !all_here(sm, cta))
		return;
	cta->ready_told = true;
	mechanism_ready(sm, c, now);
}

static void move(struct sm *sm, unsigned int c, uint64_t now)
{
	struct sm_cta *cta = &sm->ctas.at[c];

	if (cta->until > now)
		return;
	if (cta->state == SM_CTA_RESTORING) {
		start(sm, c, now);
	} else if (cta->state == SM_CTA_PARKING &&
		   (sm->mech.ops->leaves_pipelines || drained(sm, cta))) {
		free_slots(sm, c);
		set_state(sm, c, SM_CTA_PARKED);
		cta->parked = now;
		reexec_parked(sm, cta->warps, now);
		sm_count(sm, cta->kernel->slot, parked_ctas, !cta->ready_told);
		mechanism_parked(sm, c, now);
		look(sm, c, now);
	}
}

void residency_cycle(struct sm *sm, uint64_t now)
{
	unsigned int c;

	for_each_warp(c, sm->res.moving)
		move(sm, c, now);
	for_each_warp(c, sm->res.due)
		look(sm, c, now);
}

uint64_t residency_next(const struct sm *sm, uint64_t now)
{
	uint64_t next = NEVER;
	unsigned int c;

	/* CTAs drain in cycles that run. */
	for_each_warp(c, sm->res.moving) {
		if (sm->ctas.at[c].until > now)
			next = MIN(next, sm->ctas.at[c].until);
	}
	return next;
}
