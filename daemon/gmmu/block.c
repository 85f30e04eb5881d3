// SPDX-License-Identifier: GPL-2.0
/*
 * The blocking baseline of HPCA'16 section 2.1: the GMMU stops an SM's TLB from taking
 * new translation requests from its first far fault until the page is there. So one far
 * fault an SM is outstanding at most, and its warps go on until they touch global
 * memory. Other SMs are not concerned. A warp that waits for the TLB waits for a far
 * fault, and is told so. Called by gmmu.c, request.c and far.c.
 */
#include "gmmu/state.h"

void block_begin(struct gmmu *g, unsigned int sm, uint64_t page, uint64_t now)
{
	struct sm_state *s = &g->sm[sm];

	if (s->stuck)
		return;
	s->stuck = true;
	s->blocked = true;
	s->stuck_page = page;
	s->stuck_since = now;
}

void block_wait(struct gmmu *g, struct gmmu_waiter *w)
{
	struct sm_state *s = &g->sm[w->sm];

	w->next = NULL;
	far_tell(g, w, w->cycle);
	if (s->waiting)
		s->waiting_last->next = w;
	else
		s->waiting = w;
	s->waiting_last = w;
}

void block_hold(struct gmmu *g, struct request *r, uint64_t now)
{
	r->state = REQUEST_DROPPED;
	list_push(g, &g->sm[r->sm].dropped, r);
	for (struct gmmu_waiter *w = r->first; w; w = w->next)
		far_tell(g, w, now);
}

void block_end(struct gmmu *g, unsigned int sm, uint64_t now)
{
	struct sm_state *s = &g->sm[sm];

	s->stuck = false;
	g->stats.blocked_cycles += now - s->stuck_since;
	/* Older than what waits at the TLB. */
	far_resend(g, sm, now);
	if (s->waiting)
		event_at(g, now, EVENT_TLB, sm, true);
	else
		s->blocked = false;
}

void block_go_on(struct gmmu *g, unsigned int sm, uint64_t now)
{
	struct sm_state *s = &g->sm[sm];

	/* A walk that was under way has found a far fault: block_end() will come. */
	if (s->stuck)
		return;
	for (uint32_t i = 0; i < g->tlb_ports && s->waiting; i++) {
		struct gmmu_waiter *w = s->waiting;
		void *host = tlb_lookup(&s->tlb, w->page);

		s->waiting = w->next;
		if (host && !gmmu_allows(host, w->access)) {
			tlb_remove(&s->tlb, w->page);
			host = NULL;
		}
		if (host) {
			s->hits[w->kernel]++;
			far_over(g, w, now);
			s->ops->translated(s->ctx, w, w->page, host, now);
		} else {
			s->misses[w->kernel]++;
			look_up(g, w, now);
		}
	}
	if (s->waiting)
		event_at(g, now + 1, EVENT_TLB, sm, true);
	else
		s->blocked = false;
}
