// SPDX-License-Identifier: GPL-2.0
/*
 * The TLB that all SMs share, between theirs and the walker (Power et al., HPCA'14;
 * off unless l2tlb.entries says otherwise): look-ups in the order in which they
 * come, l2tlb.ports a cycle, each with a fixed latency. What a walk finds goes
 * into it and into the SM's own.
 */
#include "gmmu/state.h"

void l2tlb_begin(struct gmmu *g, struct request *r, uint64_t now)
{
	if (g->l2tlb_cycle < now) {
		g->l2tlb_cycle = now;
		g->l2tlb_begun = 0;
	} else if (g->l2tlb_begun == g->l2tlb_ports) {
		g->l2tlb_cycle++;
		g->l2tlb_begun = 0;
	}
	g->l2tlb_begun++;
	event_at(g, g->l2tlb_cycle + g->l2tlb_latency, EVENT_L2TLB,
		 (uint32_t)(r - g->requests), true);
}

/* Every part of the page that somebody waits for, with the right that he needs. */
static bool holds(struct gmmu *g, const struct request *r)
{
	for (const struct gmmu_waiter *w = r->first; w; w = w->next)
		if (!gmmu_allows(tlb_peek(&g->l2tlb, w->page), w->access))
			return false;
	return true;
}

void l2tlb_end(struct gmmu *g, struct request *r, uint64_t now)
{
	if (!holds(g, r)) {
		g->stats.l2tlb_misses++;
		g->stats.of[r->kernel].l2tlb_misses++;
		walker_queue(g, r, now);
		return;
	}
	g->stats.l2tlb_hits++;
	g->stats.of[r->kernel].l2tlb_hits++;
	/* It is the newest now. */
	tlb_lookup(&g->l2tlb, r->first->page);
	request_end(g, r, false, now);
}
