// SPDX-License-Identifier: GPL-2.0
/*
 * What the parts of an SM tell its mechanism at once (the rest: mechanism.c), what they ask it,
 * and what it answers: that a warp may pass. Called by cta.c, residency.c and scoreboard.c.
 */
#include "sm/state.h"

void mechanism_admitted(struct sm *sm, unsigned int cta, uint64_t now)
{
	TELL(sm, cta_admitted, cta, now);
	if (sm->ctas.at[cta].state == SM_CTA_ACTIVE)
		TELL(sm, cta_started, cta, now);
}

void mechanism_started(struct sm *sm, unsigned int cta, uint64_t now)
{
	TELL(sm, cta_started, cta, now);
}

void mechanism_parked(struct sm *sm, unsigned int cta, uint64_t now)
{
	TELL(sm, cta_parked, cta, now);
}

void mechanism_ready(struct sm *sm, unsigned int cta, uint64_t now)
{
	TELL(sm, cta_ready, cta, now);
}

void mechanism_warp_ready(struct sm *sm, unsigned int w, uint64_t now)
{
	TELL(sm, warp_ready, w, now);
}

bool mechanism_acquire(struct sm *sm, unsigned int w, uint32_t pc)
{
	const struct mechanism *m = &sm->mech;

	return !m->ops->acquire || m->ops->acquire(m->state, sm, w, pc, sm->now);
}

void mechanism_finished(struct sm *sm, unsigned int w, uint32_t pc)
{
	sm->mech.ops->finished(sm->mech.state, sm, w, pc);
}

void sm_resource_granted(struct sm *sm, unsigned int w)
{
	sm->warps.at[w].granted = true;
	set_drop(&sm->heads.held, w);
	set_drop(&sm->heads.operands, w);
	*sm->env.wake = MIN(*sm->env.wake, sm->now + 1);
}

bool sm_warp_revoke(struct sm *sm, unsigned int w)
{
	bool granted = sm->warps.at[w].granted;

	sm->warps.at[w].granted = false;
	return granted;
}

void sm_operands_away(struct sm *sm, unsigned int w)
{
	set_add(&sm->heads.operands, w);
}
