// SPDX-License-Identifier: GPL-2.0
/*
 * CTAs to SMs: at most one an SM and cycle, round robin over the SMs from the one
 * behind that which got one last, as GPGPU-Sim does. Of several kernels the oldest comes
 * first; what it leaves of an SM goes to the next (left-over). How many of a kernel an
 * SM may hold at most is the quota's, a hook of sm. Called by the loop.
 */
#include "gpu/internal.h"

static bool may_run(const struct loop *l, const struct sm *sm, const struct run *r)
{
	/* Without gpu.mixed_sms an SM is one kernel's until it is empty. */
	return l->nrunning == 1 || l->m->spec.mixed_sms ||
	       sm_resident_ctas(sm, NULL) == sm_resident_ctas(sm, r->sm_kernel);
}

/* The kernel that gets the SM's next CTA. NULL: none. */
static struct run *pick(const struct loop *l, const struct sm *sm, uint64_t cycle)
{
	for (unsigned int k = 0; k < l->nrunning; k++) {
		struct run *r = l->running[k];

		if (r->next_cta < r->ctas && r->first <= cycle && may_run(l, sm, r) &&
		    sm_has_room(sm, r->sm_kernel))
			return r;
	}
	return NULL;
}

static bool any_waits(const struct loop *l, uint64_t cycle)
{
	for (unsigned int k = 0; k < l->nrunning; k++)
		if (l->running[k]->next_cta < l->running[k]->ctas &&
		    l->running[k]->first <= cycle)
			return true;
	return false;
}

int dispatch(struct loop *l, uint64_t cycle)
{
	struct machine *m = l->m;
	unsigned int start = m->next_sm;
	bool room = false;

	if (!l->room || !any_waits(l, cycle))
		return 0;
	for (unsigned int k = 0; k < m->nsms; k++) {
		unsigned int i = (start + k) % m->nsms;
		struct run *r = pick(l, m->sms[i], cycle);
		uint32_t ctaid[3];
		int ret;

		if (!r)
			continue;
		ctaid[0] = (uint32_t)(r->next_cta % r->launch.grid[0]);
		ctaid[1] = (uint32_t)(r->next_cta / r->launch.grid[0] % r->launch.grid[1]);
		ctaid[2] = (uint32_t)(r->next_cta / r->launch.grid[0] / r->launch.grid[1]);
		ret = sm_launch_cta(m->sms[i], r->sm_kernel, ctaid, cycle);
		if (ret)
			return ret;
		r->next_cta++;
		m->next_sm = (i + 1) % m->nsms;
		room |= pick(l, m->sms[i], cycle) != NULL;
	}
	l->room = room;
	return 0;
}

uint64_t dispatch_next(const struct loop *l, uint64_t from)
{
	uint64_t next = NEVER;

	for (unsigned int k = 0; k < l->nrunning; k++) {
		const struct run *r = l->running[k];

		if (r->next_cta == r->ctas)
			continue;
		/* At the end of r->first at the soonest. */
		if (r->first >= from)
			next = MIN(next, r->first + 1);
		else if (l->room)
			next = MIN(next, from + 1);
	}
	return next;
}
