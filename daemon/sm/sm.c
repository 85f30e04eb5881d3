// SPDX-License-Identifier: GPL-2.0
/*
 * One SM as a whole: its cycle, its sleep, and where its cycles go. The GPU's loop
 * runs it a quantum at a time; cycles in which nothing can change are not run but
 * added up.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sm/activity.h"
#include "sm/background.h"
#include "sm/idle.h"
#include "sm/scoreboard.h"

static int parts_init(struct sm *sm)
{
	int ret;

	if ((ret = share_init(sm)) || (ret = placement_create(sm->spec, &sm->ctas.placement)) ||
	    (ret = insts_init(&sm->insts)) || (ret = collector_init(sm)) ||
	    (ret = units_init(sm)) || (ret = fetch_init(sm)) || (ret = activity_init(sm)))
		return ret;
	ret = ldst_create(sm);
	return ret ? ret : mechanism_init(sm);
}

int sm_make(unsigned int id, const struct sm_env *env, const struct sm_numbers *n, struct sm **out)
{
	const struct gpu_spec *spec = env->spec;
	struct sm *sm = aligned_alloc(64, DIV_ROUND_UP(sizeof(*sm), 64) * 64);
	int ret = -ENOMEM;

	if (!sm)
		return ret;
	memset(sm, 0, sizeof(*sm));
#ifdef SM_WIDE
	sm->base.wide = true;
#endif
	sm->id = id;
	sm->env = *env;
	sm->spec = spec;
	sm->ideal = !spec->paging;
	sm->warps.n = n->warps;
	sm->ctas.n = MIN(n->ctas, n->warps);
	sm->warps.slots = n->warp_slots;
	sm->ctas.slots = n->cta_slots;
	sm->issue.policy = sched_find(spec->scheduler);
	sm->mascar = (struct owner){ .on = !strcmp(spec->mem_order, "mascar"), .warp = NO_INDEX };
	sm->warps.at = calloc(sm->warps.n, sizeof(*sm->warps.at));
	sm->ctas.at = calloc(sm->ctas.n, sizeof(*sm->ctas.at));
	if (!sm->issue.policy)
		ret = -EINVAL;
	else if (sm->warps.at && sm->ctas.at)
		ret = parts_init(sm);
	if (ret) {
		sm_destroy(sm);
		return ret;
	}
	for (unsigned int s = 0; s < spec->schedulers; s++)
		sm->issue.sched[s].active_max = (uint32_t)spec->sched_active;
	gmmu_attach(env->gmmu, id, &access_gmmu_ops, sm);
	*env->wake = NEVER;
	sm->res.room = env->rooms ? env->rooms : &sm->res.own_room;
	*out = sm;
	return 0;
}

void sm_destroy(struct sm *sm)
{
	if (!sm)
		return;
	mechanism_fini(sm);
	if (sm->ldst)
		ldst_destroy(sm);
	fetch_fini(sm);
	units_fini(sm);
	collector_fini(sm);
	cta_fini(sm);
	placement_destroy(sm->ctas.placement);
	share_fini(sm);
	background_fini(sm);
	activity_fini(sm);
	insts_fini(&sm->insts);
	free(sm->print.text);
	free(sm->print.texts);
	free(sm);
}

/* Anything left when the last CTA has retired would stay for ever. */
static bool conserved(const struct sm *sm)
{
	const struct accesses *a = &sm->accesses;
	const struct sm_heads *h = &sm->heads;
	bool empty = !sm->insts.used && !sm->units.left && !sm->oc.used && !sm->oc.nreading &&
		     !set_any(h->valid | h->live | heads_waiting(h) | h->far_fault |
			      a->untranslated | a->missing | sm->fetch.empty |
			      sm->fetch.finished) &&
		     fetch_idle(sm) && ldst_idle(sm) && placement_empty(sm->ctas.placement) &&
		     residency_idle(sm) && mechanism_idle(sm);

	for (unsigned int u = 0; u < UNITS; u++)
		empty &= !queue_some(&sm->id_oc, u) && !queue_some(&sm->oc_ex, u) &&
			 !set_any(h->wants[u]);
	for (unsigned int w = 0; w < sm->warps.n; w++) {
		const struct sm_warp *warp = &sm->warps.at[w];

		empty &= !warp->pending && !warp->atomics && !warp->away;
	}
	return empty;
}

int sm_begin(struct sm *sm, const struct sm_kernel *k)
{
	sm->share.begun[k->slot] = (struct sm_share){ 0 };
	placement_begin(sm->ctas.placement, k->slot);
	share_begin(sm, k);
	return 0;
}

void sm_forget(struct sm *sm, const struct sm_kernel *k)
{
	ldst_drop_constants(sm, k->params, k->params + MEM_PARAM_STEP);
	sm_drop(sm, k->local, k->local + MEM_LOCAL_BYTES);
}

void sm_cancel(struct sm *sm)
{
	sm_integrate(sm, sm->account.accounted);
	background_cancel(sm);
	ldst_cancel(sm);
	fetch_cancel(sm);
	units_cancel(sm);
	collector_cancel(sm);
	insts_cancel(&sm->insts);
	cta_cancel(sm);
	residency_cancel(sm);
	mechanism_cancel(sm);
	sm->warps.resident = sm->warps.fresh = NO_WARPS;
	sm->heads = (struct sm_heads){ 0 };
	sm->accesses = (struct accesses){ 0 };
	sm->print.texts_used = sm->print.texts_told = 0;
	sm->print.text_used = 0;
	sm->failure = (struct sm_failure){ 0 };
	sm->mascar.warp = NO_INDEX;
	sm->mascar.saturated = false;
	*sm->env.wake = NEVER;
}

void sm_flush(struct sm *sm)
{
	if (!sm->spec->l1i_keep)
		cache_clear(sm->fetch.l1i);
	ldst_flush(sm);
}

/* --- the cycle --------------------------------------------------------------- */

/* One packet a cycle leaves the network's ejection buffer, if its receiver takes it. */
static void receive(struct sm *sm, uint64_t now)
{
	struct mem_reply reply;

	if (now < sm->reply_at || !mem_peek(sm->env.mem, sm->id, now, &reply))
		return;
	if (reply.cls == MEM_INST)
		fetch_reply(sm, &reply);
	else if (ldst_accepts(sm))
		ldst_reply(sm, &reply, now);
	else
		return;
	mem_take(sm->env.mem, sm->id);
	sm->reply_at = mem_next(sm->env.mem, sm->id);
}

/* Next cycle in which the port has something that is taken. */
static uint64_t next_reply(const struct sm *sm, uint64_t now)
{
	struct mem_reply reply;

	if (sm->reply_at > now + 1)
		return sm->reply_at;
	if (ldst_accepts(sm))
		return now + 1;
	if (mem_peek(sm->env.mem, sm->id, now + 1, &reply) && reply.cls != MEM_INST)
		return NEVER;
	return now + 1;
}

/* Something can happen in the next cycle: what is seen at once. Most cycles are like that. */
static inline bool busy(const struct sm *sm)
{
	return sm->fetch.fetched != NO_INDEX || !sm->oc.stuck ||
	       set_any((sm->fetch.empty & ~sm->fetch.refused) | sm->fetch.finished);
}

/* First cycle after now in which something can happen without anyone else's doing. */
static __attribute__((noinline)) uint64_t next_cycle(const struct sm *sm, uint64_t now)
{
	uint64_t next = ldst_next(sm, now), other;

	if (next == now + 1 || fetch_busy(sm) || issue_possible(sm))
		return now + 1;
	other = units_next(sm, now);
	next = MIN(next, other);
	if (queue_some(&sm->oc_ex, UNIT_LDST) && ldst_free(sm))
		next = now + 1;
	if (next == now + 1)
		return next;
	other = next_reply(sm, now);
	next = MIN(next, other);
	return sm->jobs ? MIN(next, background_next(sm, now)) : next;
}

static void dispatch_memory(struct sm *sm, uint64_t now)
{
	unsigned int place = queue_oldest(&sm->insts, &sm->oc_ex, UNIT_LDST);
	uint32_t inst = sm->oc_ex.of[UNIT_LDST].at[place];

	queue_remove(&sm->oc_ex, UNIT_LDST, place);
	sm->oc.stuck = false;
	ldst_dispatch(sm, inst, now);
}

static void cycle(struct sm *sm, uint64_t now)
{
	receive(sm, now);
	if (units_have_results(&sm->units, now))
		units_writeback(sm, now);
	if (units_wanted(&sm->oc_ex))
		units_execute(sm, now);
	ldst_cycle(sm, now);
	if (queue_some(&sm->oc_ex, UNIT_LDST) && ldst_free(sm))
		dispatch_memory(sm, now);
	if (!sm->oc.stuck)
		collector_cycle(sm);
	else
		sm->oc.written = 0;
	sm_issue(sm, now);
	if (sm->fetch.fetched != NO_INDEX)
		fetch_decode(sm, now);
	fetch_cycle(sm, now);
	sm->account.accounted = now + 1;
	/* A mechanism that hears that its bytes have moved may park and restore CTAs. */
	if (sm->jobs)
		background_cycle(sm, now);
}

int sm_run(struct sm *sm, uint64_t from, uint64_t upto)
{
	uint64_t *shown = sm->env.wake, now = MAX(from, *shown);

	sm->upto = upto;
	if (set_any(sm->warps.fresh))
		cta_begin(sm);
	/* Memory adds replies between quanta alone. */
	sm->reply_at = mem_next(sm->env.mem, sm->id);
	/* The wakes of SMs that other threads run are on the same line of the host's caches. */
	sm->env.wake = &sm->own_wake;
	while (now < upto && !sm->failure.error) {
		if (sm->account.accounted < now)
			sm_settle(sm, now);
		sm->now = now;
		*sm->env.wake = NEVER;
		cycle(sm, now);
		sm->last = now;
		if (mechanism_due(sm) || (MECHANISM_CHECKED && sm->mech.attend))
			mechanism_cycle(sm, now);
		if (__builtin_expect(sm->mascar.on, 0))
			owner_look(sm);
		now = MIN(busy(sm) ? now + 1 : next_cycle(sm, now), *sm->env.wake);
	}
	sm->env.wake = shown;
	*shown = now;
#ifndef NDEBUG
	if (!sm->failure.error && sm_idle(sm) && now == NEVER && !conserved(sm)) {
		err_set(sm->env.err, 0, "SM %u is empty, but something is left in it", sm->id);
		sm_fail(sm, -EIO, 0, NULL);
	}
#else
	(void)conserved;
#endif
	return sm->failure.error;
}

bool sm_idle(const struct sm *sm)
{
	/* A warp is there until its stores are acknowledged. */
	return !sm->ctas.resident && background_idle(sm);
}

uint64_t sm_last(const struct sm *sm)
{
	return sm->last;
}

int sm_perform(struct sm *sm, uint64_t cycle)
{
	uint64_t now = sm->now;
	int ret;

	sm->now = cycle;
	sm_print_perform(sm, cycle);
	ret = ldst_perform(sm, cycle);
	sm->now = now;
	return ret;
}

uint64_t sm_perform_next(const struct sm *sm)
{
	uint64_t text = sm_print_next(sm), access = ldst_perform_next(sm);

	return MIN(text, access);
}
