// SPDX-License-Identifier: GPL-2.0
/*
 * Where a far fault's latency went: the fault's own waiting in the fault buffer, the stages of its
 * batch, and its page's way over the link. serve.c and flight.c call it when a fault is over.
 * It measures nothing: times come from the service and from the link.
 */
#include "paging/handler.h"

const char *const fault_cause_names[FAULT_CAUSES] = {
	[CAUSE_FIRST] = "first", [CAUSE_EVICTED] = "evicted", [CAUSE_IN_FLIGHT] = "in_flight",
	[CAUSE_WRITE] = "write", [CAUSE_RESIDENT] = "resident",
};

enum fault_cause fault_cause(const struct paging *p, const struct fault *fault)
{
	if (p->flight.pages && unit_any(p, fault->addr, PAGE_FLYING))
		return CAUSE_IN_FLIGHT;
	if (fault->flags & FAULT_RESIDENT)
		return CAUSE_RESIDENT;
	if (page_set_test(&p->space->pages, fault->addr, PAGE_DUPLICATE))
		return CAUSE_WRITE;
	return unit_any(p, fault->addr, PAGE_LEFT) ? CAUSE_EVICTED : CAUSE_FIRST;
}

void charge_decision(const struct paging *p, struct service_cost *cost)
{
	uint64_t measured = cost->decide;

	if (p->decide_ns == SPEC_DECIDE_MEASURED)
		return;
	cost->decide = p->decide_ns;
	cost->fetched_to_committed += p->decide_ns - MIN(measured, cost->fetched_to_committed);
	cost->total += p->decide_ns - MIN(measured, cost->total);
	cost->end_to_end += p->decide_ns - MIN(measured, cost->end_to_end);
}

/* So much of what is left of the latency. */
static uint64_t take(uint64_t *left, uint64_t ns)
{
	uint64_t taken = MIN(ns, *left);

	*left -= taken;
	return taken;
}

/*
 * In the order in which they happen. A page that an earlier batch sent for may come before the
 * fault's own batch is done: the stages behind that moment are none of the fault's.
 */
static void split(const struct paging *p, struct paging_fault *fault,
		  const struct service_cost *cost, uint64_t copy)
{
	struct fault_stages *s = &fault->stages;
	uint64_t left = fault->latency;

	s->queued = take(&left, (fault->taken - fault->raised) * 1000 / p->spec.clock_mhz);
	s->raised_to_fetched = take(&left, cost->raised_to_fetched);
	s->fetched_to_committed = take(&left, cost->fetched_to_committed);
	s->evict = take(&left, cost->evict);
	s->unmap = take(&left, cost->unmap);
	s->copy = take(&left, p->flight.modelled ? copy : cost->copy);
	s->map = take(&left, cost->map);
	s->replay = take(&left, cost->replay);
	/* Cycles are rounded to nanoseconds: one may be left of a time that was measured. */
	if (!p->flight.modelled && left <= 1)
		s->replay += take(&left, left);
	s->link = left;
}

void fault_over(struct paging *p, struct paging_fault *fault, const struct service_cost *cost,
		uint64_t latency, uint64_t copy)
{
	struct fault_stages *sum = &p->stats.fault_stages;
	const struct flight *f = &p->flight;

	fault->latency = latency;
	split(p, fault, cost, copy);
	histogram_add(&p->stats.latency_ns, latency);
#define X(stage) sum->stage += fault->stages.stage;
	FAULT_STAGES(X)
#undef X
	if (f->events && f->events->served)
		f->events->served(f->ctx, fault);
}
