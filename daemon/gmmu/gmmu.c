// SPDX-License-Identifier: GPL-2.0
/*
 * The GMMU's entrance and its time: the SMs look up in their TLBs, each on its own; what
 * missed is taken between two quanta, in order (gmmu_step()), and so is all that is due. The
 * TLB hits under misses: a miss does not hold up later look-ups (HPCA'16 section 3.1).
 * Called by the SMs and by the GPU's loop.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gmmu/state.h"

/* --- look-ups --------------------------------------------------------------------- */

void *gmmu_translate(struct gmmu *g, uint64_t page, struct gmmu_waiter *w,
		     uint64_t now)
{
	struct sm_state *s = &g->sm[w->sm];
	void *host = NULL;

	if (g->ideal)
		host = flat_translate(g, s, page);
	else if (!s->blocked)
		host = tlb_lookup(&s->tlb, page);
	if (host && !g->ideal && !gmmu_allows(host, w->access)) {
		tlb_remove(&s->tlb, page);
		host = NULL;
	}
	if (host) {
		s->hits[w->kernel]++;
		if (g->record)
			touch_hit(s, w, page, now);
		return host;
	}
	/* A TLB that is blocked looks up later. */
	s->misses[w->kernel] += !s->blocked;
	w->next = NULL;
	w->page = page;
	w->cycle = now;
	w->told = false;
	if (s->out)
		s->out_last->next = w;
	else
		s->out = w;
	s->out_last = w;
	return NULL;
}

/* The oldest look-up of all outboxes; of one cycle, the lowest SM's. */
static struct gmmu_waiter *oldest_lookup(struct gmmu *g, uint64_t now, struct sm_state **of)
{
	struct gmmu_waiter *first = NULL;

	for (unsigned int i = 0; i < g->sms; i++) {
		struct gmmu_waiter *w = g->sm[i].out;

		if (w && w->cycle <= now && (!first || w->cycle < first->cycle)) {
			first = w;
			*of = &g->sm[i];
		}
	}
	return first;
}

/* --- time ------------------------------------------------------------------------- */

static void run_event(struct gmmu *g, const struct event *e)
{
	switch (e->kind) {
	case EVENT_L2TLB:
		l2tlb_end(g, &g->requests[e->of], e->at);
		break;
	case EVENT_TLB:
		block_go_on(g, e->of, e->at);
		break;
	default:
		walker_event(g, e);
		break;
	}
}

/* The heap with the next event. */
static struct events *next_events(struct gmmu *g)
{
	return events_next(&g->outer) <= events_next(&g->inner) ? &g->outer : &g->inner;
}

static void run_events(struct gmmu *g, uint64_t upto)
{
	struct events *from;

	while (!g->error && events_next(from = next_events(g)) <= upto) {
		struct event e = from->at[0];

		/* NEVER is not a cycle, even when everything is asked for. */
		if (e.at == NEVER)
			return;
		events_pop(from);
		run_event(g, &e);
	}
}

int gmmu_step(struct gmmu *g, uint64_t now)
{
	struct gmmu_waiter *w;
	struct sm_state *s;
	int error;

	/* In one cycle walks end first, as the TLB is written before it is read. */
	while (!g->error && (w = oldest_lookup(g, now, &s))) {
		s->out = w->next;
		if (g->ideal) {
			flat_walk(g, w, now);
			continue;
		}
		if (g->record)
			touch_tell(g, w->cycle);
		run_events(g, w->cycle);
		if (s->blocked)
			block_wait(g, w);
		else
			look_up(g, w, w->cycle);
	}
	if (g->record)
		touch_tell(g, now);
	run_events(g, now);
	error = g->error;
	g->error = 0;
	return error;
}

uint64_t gmmu_next(const struct gmmu *g)
{
	return events_next(&g->outer);
}

uint64_t gmmu_wake(const struct gmmu *g)
{
	return MIN(events_next(&g->outer), events_next(&g->inner));
}

unsigned int gmmu_lookahead(const struct gmmu *g)
{
	uint32_t cycles = UINT32_MAX;

	if (g->ideal)
		return cycles;
	if (g->walker.latency)
		cycles = g->walker.latency;
	else if (g->walker.has_pwc)
		cycles = g->walker.pwc_latency;
	if (g->has_l2tlb)
		cycles = MIN(cycles, g->l2tlb_latency);
	return MAX(cycles, 1u);
}

void gmmu_invalidate(struct gmmu *g, uint64_t start, uint64_t end)
{
	for (unsigned int i = 0; i < g->sms; i++)
		tlb_invalidate(&g->sm[i].tlb, start, end);
	if (g->has_l2tlb)
		tlb_invalidate(&g->l2tlb, start, end);
	walker_invalidate(g, start, end);
	flat_invalidate(g, start, end);
}

void gmmu_cancel(struct gmmu *g)
{
	for (unsigned int i = 0; i < g->sms; i++) {
		struct sm_state *s = &g->sm[i];

		s->out = NULL;
		s->blocked = false;
		s->stuck = false;
		s->waiting = NULL;
		s->touches.next = s->touches.count = 0;
	}
	g->outer.count = 0;
	g->inner.count = 0;
	g->error = 0;
	g->l2tlb_cycle = 0;
	g->l2tlb_begun = 0;
	requests_clear(g);
	walker_cancel(g);
	far_cancel(g);
}

const struct gmmu_stats *gmmu_stats(struct gmmu *g)
{
	struct gmmu_stats *s = &g->stats;

	s->tlb_hits = 0;
	s->tlb_misses = 0;
	for (unsigned int k = 0; k < KERNEL_SLOTS; k++) {
		s->of[k].tlb_hits = 0;
		s->of[k].tlb_misses = 0;
		for (unsigned int i = 0; i < g->sms; i++) {
			s->of[k].tlb_hits += g->sm[i].hits[k];
			s->of[k].tlb_misses += g->sm[i].misses[k];
		}
		s->tlb_hits += s->of[k].tlb_hits;
		s->tlb_misses += s->of[k].tlb_misses;
	}
	return s;
}

bool gmmu_tlb_holds(const struct gmmu *g, unsigned int sm, uint64_t page)
{
	return tlb_peek(&g->sm[sm].tlb, page) != NULL;
}

bool gmmu_blocked(const struct gmmu *g, unsigned int sm)
{
	return g->sm[sm].blocked;
}

/* --- as a whole --------------------------------------------------------------------- */

static int create_parts(struct gmmu *g, const struct gpu_spec *spec)
{
	uint32_t shift = (uint32_t)__builtin_ctzll(g->page_bytes);
	int ret;

	g->sm = aligned_alloc(64, g->sms * sizeof(*g->sm));
	if (!g->sm)
		return -ENOMEM;
	memset(g->sm, 0, g->sms * sizeof(*g->sm));
	ret = requests_init(g, spec);
	for (unsigned int i = 0; !ret && i < g->sms; i++)
		ret = tlb_init(&g->sm[i].tlb, (uint32_t)spec->tlb_entries, shift);
	if (!ret && g->has_l2tlb)
		ret = tlb_init(&g->l2tlb, (uint32_t)spec->l2tlb_entries, shift);
	if (!ret)
		ret = walker_init(g, spec);
	if (!ret)
		ret = far_init(g, spec);
	if (!ret)
		ret = touch_init(g, spec);
	if (!ret && g->ideal)
		ret = flat_init(g);
	return ret;
}

int gmmu_create(const struct gpu_spec *spec, uint32_t va_space,
		const struct gmmu_ops *ops, void *ctx, struct gmmu **out)
{
	struct gmmu *g = calloc(1, sizeof(*g));
	int ret;

	if (!g)
		return -ENOMEM;
	g->ops = ops;
	g->ctx = ctx;
	g->va_space = va_space;
	g->sms = (uint32_t)spec->sms;
	g->tlb_ports = (uint32_t)spec->tlb_ports;
	g->far_mshrs = (uint32_t)spec->far_mshrs;
	g->ideal = !spec->paging;
	g->blocking = spec->blocking && !g->ideal;
	g->record = spec->record && !g->ideal;
	/* Without paging only 4 KiB are ever asked for. */
	g->page_bytes = g->ideal ? PAGE_BYTES : spec->page_bytes;
	g->sectors = (uint32_t)(g->page_bytes / PAGE_BYTES);
	g->has_l2tlb = spec->l2tlb_entries && !g->ideal;
	g->l2tlb_ports = (uint32_t)spec->l2tlb_ports;
	g->l2tlb_latency = (uint32_t)spec->l2tlb_latency;
	ret = create_parts(g, spec);
	if (ret) {
		gmmu_destroy(g);
		return ret;
	}
	gmmu_cancel(g);
	*out = g;
	return 0;
}

void gmmu_attach(struct gmmu *g, unsigned int sm, const struct gmmu_sm_ops *ops, void *ctx)
{
	g->sm[sm].ops = ops;
	g->sm[sm].ctx = ctx;
}

void gmmu_destroy(struct gmmu *g)
{
	if (!g)
		return;
	for (unsigned int i = 0; g->sm && i < g->sms; i++)
		tlb_fini(&g->sm[i].tlb);
	tlb_fini(&g->l2tlb);
	walker_fini(g);
	far_fini(g);
	touch_fini(g);
	flat_fini(g);
	free(g->outer.at);
	free(g->inner.at);
	free(g->sm);
	requests_fini(g);
	free(g);
}
