// SPDX-License-Identifier: GPL-2.0
/*
 * What an SM tells its mechanism (sm.h, struct sm_mechanism), and when: at the end of a cycle,
 * in one order, when nothing of the cycle is left to do. So a mechanism may park and restore CTAs
 * from any event. Without one it is never called. Called by sm.c, cta.c and residency.c.
 */
#include <assert.h>
#include <errno.h>

#include "sm/cta/rows.h"
#include "sm/state.h"

int mechanism_init(struct sm *sm)
{
	struct mechanism *m = &sm->mech;
	int ret = 0;

	m->ops = sm->env.mechanism;
	m->state = sm->env.mechanism_ctx;
	m->timer = NEVER;
	m->every = m->ops->every;
	if (m->ops->shared_set)
		m->shared_set = m->ops->shared_set(sm->spec);
	if (m->ops->stall_on)
		m->stall_on = m->ops->stall_on(sm->spec);
	m->attend = m->look = m->ops != &mechanism_baseline;
	if (m->ops->create)
		ret = m->ops->create(sm->spec, sm, sm->env.mechanism_ctx, &m->state);
	/* There is nothing to destroy then. */
	if (ret)
		m->ops = NULL;
	return ret;
}

void mechanism_fini(struct sm *sm)
{
	if (sm->mech.ops && sm->mech.ops->destroy)
		sm->mech.ops->destroy(sm->mech.state);
}

void mechanism_cancel(struct sm *sm)
{
	struct mechanism *m = &sm->mech;

	m->timer = NEVER;
	m->news = false;
	m->exited = m->retired = m->ended = m->away = m->stalled = NO_WARPS;
	m->waits = m->passed = NO_WARPS;
	m->seen.real = m->seen.live = m->seen.active = m->seen.inactive = NO_WARPS;
	m->seen.blocked_long = m->seen.wait_fence = NO_WARPS;
	m->seen.wait_order = m->seen.faulted = NO_WARPS;
	m->attend = m->look = m->ops != &mechanism_baseline;
	if (m->ops->reset)
		m->ops->reset(m->state);
}

bool mechanism_idle(const struct sm *sm)
{
	const struct mechanism *m = &sm->mech;

	return !set_any(m->exited | m->retired | m->ended | m->away | m->stalled | m->waits |
			m->passed);
}

/* --- told at the end of the cycle ----------------------------------------------------- */

static void tell_ends(struct sm *sm, uint64_t now)
{
	struct mechanism *m = &sm->mech;
	warpset exited = m->exited, retired = m->retired, ended = m->ended;
	warpset waits = m->waits, passed = m->passed;
	unsigned int w, c;

	m->news = false;
	m->exited = m->retired = m->ended = m->waits = m->passed = NO_WARPS;
	/* A warp that came and went on in one cycle never waited. */
	for_each_warp(w, waits & ~passed)
		TELL(sm, warp_waits, w, now);
	for_each_warp(w, passed & ~waits)
		TELL(sm, warp_passed, w, now);
	for_each_warp(w, exited)
		TELL(sm, warp_exited, w, now);
	for_each_warp(w, retired)
		TELL(sm, warp_retired, w, now);
	for_each_warp(c, ended)
		TELL(sm, cta_ended, c, now);
}

/* Warps of active CTAs that wait for long: for results, pages, order. */
static inline warpset long_waits(const struct sm *sm)
{
	const struct sm_heads *h = &sm->heads;
	warpset away = h->blocked_long;

	if (sm->mech.stall_on & SM_WAIT_MISS)
		away &= sm->accesses.missing;
	away |= h->wait_atomic | h->wait_order | h->wait_fence;
	/* Without paging no access faults. */
	if (!sm->ideal)
		away |= h->wait_fault | (h->far_fault & h->blocked);
	return away & h->live & ~h->inactive;
}

static void tell_cta(struct sm *sm, unsigned int c, bool stalled, uint64_t now)
{
	struct mechanism *m = &sm->mech;

	if (set_has(m->stalled, c) == stalled)
		return;
	set_let(&m->stalled, c, stalled);
	if (stalled)
		TELL(sm, cta_stalled, c, now);
	else if (sm->ctas.at[c].state == SM_CTA_ACTIVE)
		TELL(sm, cta_resumed, c, now);
}

static unsigned int reason(const struct sm *sm, warpset waits, unsigned int w)
{
	return !set_has(waits, w) ? SM_WAIT_BARRIER :
	       set_has(sm->heads.far_fault, w) ? SM_WAIT_FAULT : SM_WAIT_MEMORY;
}

static void tell_warps(struct sm *sm, warpset before, warpset away, warpset waits, uint64_t now)
{
	unsigned int w;

	for_each_warp(w, before & ~away)
		TELL(sm, warp_resumed, w, now);
	for_each_warp(w, away & ~before)
		TELL(sm, warp_stalled, w, reason(sm, waits, w), now);
}

/* `real`: those that are stalled, but for barriers. Looks at the CTAs of which something changed. */
static void tell_ctas(struct sm *sm, warpset warps, warpset real, uint64_t now)
{
	struct mechanism *m = &sm->mech;
	warpset ctas = m->seen.active ^ sm->res.active;
	unsigned int w, c;

	/* A warp that exits leaves `running` and `live` at once. */
	warps |= (m->seen.real ^ real) | (m->seen.live ^ sm->heads.live) |
		 (m->seen.inactive ^ sm->heads.inactive);
	m->seen.real = real;
	m->seen.live = sm->heads.live;
	m->seen.active = sm->res.active;
	m->seen.inactive = sm->heads.inactive;
	for_each_warp(w, warps)
		set_add(&ctas, sm->warps.at[w].cta);
	for_each_warp(c, (sm->res.active | m->stalled) & ctas) {
		warpset running = sm->ctas.at[c].running;

		/*
		 * Nothing helps a CTA whose warps all wait only at barriers. A warp that has no
		 * slot of its own (by_warp) does not go on either.
		 */
		tell_cta(sm, c, sm->ctas.at[c].state == SM_CTA_ACTIVE && set_any(running & real) &&
			 !set_any(running & ~(m->away | sm->heads.inactive)), now);
	}
}

/* due: mechanism_due() was true. Where tests run it may not have been. */
static void tell_waits(struct sm *sm, bool due, uint64_t now)
{
	struct mechanism *m = &sm->mech;
	const struct sm_heads *h = &sm->heads;
	warpset waits = long_waits(sm), real = waits, away, before = m->away;

	if (!(m->stall_on & SM_WAIT_MEMORY))
		real &= h->far_fault;
	if (!(m->stall_on & SM_WAIT_FAULT))
		real &= ~h->far_fault;
	away = real;
	if (m->stall_on & SM_WAIT_BARRIER)
		away |= h->wait_barrier & h->live & ~(h->inactive | waits);
	m->seen.blocked_long = h->blocked_long;
	m->seen.wait_fence = h->wait_fence;
	m->seen.wait_order = h->wait_order;
	m->seen.faulted = h->far_fault & h->blocked;
	if (!set_any((before ^ away) | (m->seen.real ^ real) | (m->seen.live ^ h->live) |
		     (m->seen.active ^ sm->res.active) | (m->seen.inactive ^ h->inactive)))
		return;
	assert(due);
	(void)due;
	m->away = away;
	if (m->ops->warp_stalled || m->ops->warp_resumed)
		tell_warps(sm, before, away, waits, now);
	tell_ctas(sm, before ^ away, real, now);
}

void mechanism_cycle(struct sm *sm, uint64_t now)
{
	struct mechanism *m = &sm->mech;
	bool due = !MECHANISM_CHECKED || mechanism_due(sm);
	uint64_t next;

	m->look = false;
	if (m->news)
		tell_ends(sm, now);
	if (residency_waits(sm))
		residency_cycle(sm, now);
	if (m->stall_on)
		tell_waits(sm, due, now);
	if (m->timer <= now) {
		m->timer = NEVER;
		TELL(sm, timer, now);
	}
	assert(!MECHANISM_CHECKED || !m->ops->sound || m->ops->sound(m->state, sm));
	next = m->timer;
	if (set_any(sm->res.moving))
		next = MIN(next, residency_next(sm, now));
	/* A timer wakes the SM again after each cycle that runs; a CTA moves in each. */
	m->look |= next != NEVER || set_any(sm->res.moving);
	*sm->env.wake = MIN(*sm->env.wake, next);
}

/* --- what a mechanism asks ------------------------------------------------------------- */

void sm_timer(struct sm *sm, uint64_t cycle)
{
	sm->mech.timer = cycle;
	sm->mech.look = true;
	/* Asked for within a cycle, it comes at the end of that. */
	cycle = MAX(cycle, sm->now + 1);
	*sm->env.wake = MIN(*sm->env.wake, cycle);
}

uint64_t sm_memory_pipeline(const struct sm *sm)
{
	return sm->mech.memory_pipeline;
}

uint64_t sm_held_beside(const struct sm *sm)
{
	return sm->mech.held_beside;
}

unsigned int sm_cta_warps(const struct sm *sm, unsigned int cta, uint8_t *warps, unsigned int n)
{
	unsigned int w, at = 0;

	for_each_warp(w, sm->ctas.at[cta].warps) {
		if (at < n)
			warps[at++] = (uint8_t)w;
	}
	return at;
}

void sm_count_virtual(struct sm *sm, const struct sm_kernel *kernel,
		      const struct virtual_counters *more)
{
	stats_add(&sm->account.stats.virtual, more, sizeof(*more));
	if (sm->share.mixed)
		stats_add(&sm->share.by[kernel->slot].counters.virtual, more, sizeof(*more));
}

uint64_t sm_background(const struct sm *sm)
{
	return mem_background(sm->id);
}

unsigned int sm_warp_cta(const struct sm *sm, unsigned int w)
{
	return sm->warps.at[w].cta;
}

const struct sm_kernel *sm_cta_kernel(const struct sm *sm, unsigned int c)
{
	return sm->ctas.at[c].kernel;
}

bool sm_cta_runs(const struct sm *sm, unsigned int c)
{
	return set_any(sm->ctas.at[c].running);
}

void sm_cta_look(const struct sm *sm, unsigned int c, struct sm_cta_view *view)
{
	const struct sm_cta *cta = &sm->ctas.at[c];

	*view = (struct sm_cta_view){
		.state = cta->state, .kernel = cta->kernel, .begin = cta->begin,
		.warps = set_count(cta->warps), .running = set_count(cta->running),
		.stalled = set_count(cta->running & sm->mech.away),
		.faulted = set_count(cta->warps & sm->heads.far_fault),
		.ready = cta->state == SM_CTA_PARKED && cta->ready_told,
		.outside = cta->outside, .slot = cta->kernel ? (uint8_t)cta->kernel->slot : 0,
		.memory = mem_background(sm->id) + (uint64_t)c * SM_CTA_MEMORY,
		.memory_bytes = cta->kernel ? DIV_ROUND_UP(cta->kernel->registers * 4 +
							   cta->kernel->shared_taken, MEM_SECTOR) *
					      MEM_SECTOR : 0,
	};
}
