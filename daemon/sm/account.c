// SPDX-License-Identifier: GPL-2.0
/*
 * Where an SM's cycles go. Cycles that were not run, because nothing could change in them, are
 * attributed when something is about to: to what holds until then.
 */
#include "sm/idle.h"

void sm_integrate(struct sm *sm, uint64_t upto)
{
	struct sm_counters *c = &sm->account.stats;
	uint64_t n = upto > sm->account.integrated ? upto - sm->account.integrated : 0;

	sm->account.integrated = MAX(sm->account.integrated, upto);
	if (!n || !sm->ctas.resident)
		return;
	c->cycles += n;
	c->ctas += n * sm->ctas.resident;
	c->warps += n * set_count(sm->warps.resident);
	c->registers += n * sm->ctas.registers;
	c->shared_bytes += n * sm->ctas.shared;
	placement_integrate(sm->ctas.placement, n);
	if (sm->share.mixed)
		share_resident(sm, n);
}

/* Counts cycles in which no scheduler issued, for the reasons that hold now. */
static void settle_issue(struct sm *sm, uint64_t cycles)
{
	warpset waiting = heads_waiting(&sm->heads);

	account_schedulable(sm, waiting, cycles);
	for (unsigned int k = 0; k < sm->spec->schedulers; k++)
		account_idle(sm, waiting, k, cycles);
}

/*
 * When L1I can take none of those that want, the search goes on, one refusal a
 * cycle, to no effect but on its place.
 */
static void settle_fetch(struct sm *sm, uint64_t n)
{
	struct fetch *f = &sm->fetch;
	uint64_t rounds;
	unsigned int w;

	if (set_any(f->empty)) {
		rounds = n / set_count(f->empty);
		for_each_warp(w, f->empty)
			sm_count(sm, warp_slot(sm, w), l1i.fails, rounds);
		for (n %= set_count(f->empty); n; n--) {
			f->last_fetched = set_after(f->empty, f->last_fetched);
			sm_count(sm, warp_slot(sm, f->last_fetched), l1i.fails, 1);
		}
	}
}

void sm_settle(struct sm *sm, uint64_t upto)
{
	uint64_t n;

	if (sm->account.accounted >= upto)
		return;
	n = upto - sm->account.accounted;
	/* Nothing changed since the last cycle that ran, or another would have run. */
	settle_issue(sm, n);
	settle_fetch(sm, n);
	ldst_settle(sm, upto);
	sm->account.accounted = upto;
}

void sm_account(struct sm *sm, uint64_t upto)
{
	sm_settle(sm, upto);
	sm_integrate(sm, upto);
}

const struct sm_counters *sm_stats(const struct sm *sm)
{
	return &sm->account.stats;
}
