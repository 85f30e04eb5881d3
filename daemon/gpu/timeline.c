// SPDX-License-Identifier: GPL-2.0
/*
 * The timeline's events, as they are told: bounded by the room that gpu.trace gives,
 * in events of the trace that comes of them (trace.c). Half of the room is the SMs' own,
 * the same for each, so that what is kept does not depend on how they were run.
 *
 * An event's a and b are: a kernel's grid id; a batch's number << 32 | handler, and its
 * unique faults << 32 | raw ones; a transfer's first page and bytes; a fault's page and cycle of
 * arrival (0: none); resident pages and records of a state. A batch's `batch` is the first transfer
 * that it asked for, `transfer` the records it found.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "gpu/machine.h"
#include "gpu/session.h"

/* Events of the trace that come of one of a kind. */
#define FAULT_WEIGHT	6u	/* its slice, its replay's, four ends of the flow */
/* Cycles: a shorter stand for far faults is the pipelines' filling and emptying. */
#define STALL_LEAST	100u

static void forget(struct timeline *t)
{
	for (unsigned int i = 0; i < t->nsms; i++)
		free(t->sms[i].spans);
	for (size_t i = 0; i < t->nlaunches; i++)
		free(t->launches[i].name);
	free(t->launches);
	free(t->served);
	free(t->sms);
	free(t->events);
	u64map_clear(&t->open);
	*t = (struct timeline){ 0 };
}

int timeline_reset(struct timeline *t, const struct gpu_spec *spec)
{
	forget(t);
	if (!spec || !spec->trace_spans)
		return 0;
	t->sms = calloc(spec->sms, sizeof(*t->sms));
	if (!t->sms)
		return -ENOMEM;
	t->nsms = (unsigned int)spec->sms;
	t->room = spec->trace_spans;
	t->page_mask = ~(spec->page_bytes - 1);
	for (unsigned int i = 0; i < t->nsms; i++)
		t->sms[i].stalled = NEVER;
	return 0;
}

/* A new event, zeroed; NULL: dropped. */
static struct trace_event *event(struct timeline *t, enum trace_kind kind, unsigned int weight)
{
	struct trace_event *e;

	/* A timeline without its kernels is no good to anybody: they are few, and kept. */
	if (t->used + weight > t->room - t->room / 2 && kind != TRACE_KERNEL) {
		t->dropped += weight;
		return NULL;
	}
	if (array_grow(t->events, t->allocated, t->count)) {
		t->dropped += weight;
		return NULL;
	}
	t->used += weight;
	e = &t->events[t->count++];
	*e = (struct trace_event){
		.kind = (uint8_t)kind, .batch = TRACE_NONE, .transfer = TRACE_NONE,
	};
	return e;
}

void trace_launch(struct timeline *t, uint64_t grid_id, const char *name, uint32_t stream)
{
	size_t first = t->nlaunches;

	if (!t->room || array_reserve(t->launches, t->nlaunches, grid_id))
		return;
	for (size_t i = first; i < t->nlaunches; i++)
		t->launches[i] = (struct trace_launch){ 0 };
	t->launches[grid_id - 1] = (struct trace_launch){ strdup(name), stream };
}

void trace_kernel(struct timeline *t, uint64_t grid_id, uint64_t begin, uint64_t end)
{
	struct trace_event *e = t->room ? event(t, TRACE_KERNEL, 1) : NULL;

	if (!e)
		return;
	e->begin = begin;
	e->end = end;
	e->a = grid_id;
}

static void add_fault(struct timeline *t, uint32_t batch, const struct fault *f)
{
	struct trace_event *e = event(t, TRACE_FAULT, FAULT_WEIGHT);

	if (!e)
		return;
	e->begin = f->cycle;
	e->a = f->addr;
	e->batch = batch;
	e->sm = f->sm;
	e->warp = f->warp;
	e->flags = f->access;
	/* One that is raised again is another: the first has not been served. */
	u64map_put(&t->open, f->addr & t->page_mask, t->count - 1);
}

static int by_page(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static uint64_t unique(const struct timeline *t, const struct fault *faults, unsigned int n)
{
	uint64_t pages[256], count = 0;

	n = MIN(n, (unsigned int)ARRAY_SIZE(pages));
	for (unsigned int i = 0; i < n; i++)
		pages[i] = faults[i].addr & t->page_mask;
	qsort(pages, n, sizeof(*pages), by_page);
	for (unsigned int i = 0; i < n; i++)
		count += !i || pages[i] != pages[i - 1];
	return count;
}

/* Measured copies are told before their batch, as two transfers at most, at its end. */
static void adopt_transfers(struct timeline *t, uint32_t batch)
{
	struct trace_event *b = &t->events[batch];

	for (uint32_t i = batch; i-- > 0 && t->events[i].kind == TRACE_TRANSFER;) {
		struct trace_event *x = &t->events[i];

		if (x->batch != TRACE_NONE || x->begin < b->begin || x->end > b->end)
			break;
		x->batch = batch;
		if (!(x->flags & 1))
			b->batch = i;
	}
}

uint32_t trace_batch(struct timeline *t, const struct trace_batch *b)
{
	struct trace_event *e;
	uint32_t batch;

	if (!t->room)
		return TRACE_NONE;
	if (array_grow(t->served, t->served_room, t->nserved)) {
		t->dropped++;
		return TRACE_NONE;
	}
	e = event(t, TRACE_BATCH, 1);
	if (!e)
		return TRACE_NONE;
	batch = (uint32_t)(t->count - 1);
	e->begin = b->begin;
	e->end = b->end;
	e->a = (uint64_t)t->nserved << 32 | b->handler;
	e->b = unique(t, b->faults, b->n) << 32 | b->n;
	e->transfer = b->depth;
	t->served[t->nserved].cost = b->outcome->cost;
	memcpy(t->served[t->nserved++].causes, b->outcome->causes, sizeof(t->served->causes));
	adopt_transfers(t, batch);
	for (unsigned int i = 0; i < b->n; i++)
		add_fault(t, batch, &b->faults[i]);
	return batch;
}

/* The far fault that is under way on a page; NULL: none. */
static struct trace_event *open_fault(struct timeline *t, uint64_t page)
{
	uint64_t index;

	return u64map_get(&t->open, page, &index) ? &t->events[index] : NULL;
}

void trace_transfer(struct timeline *t, const struct trace_transfer *x)
{
	struct trace_event *e = t->room ? event(t, TRACE_TRANSFER, 1) : NULL;
	uint64_t step = ~t->page_mask + 1;

	if (!e)
		return;
	e->begin = x->begin;
	e->end = x->end;
	e->a = x->addr;
	e->b = x->bytes;
	e->batch = x->batch;
	e->flags = (uint8_t)(x->d2h | x->prefetch << 1);
	if (x->d2h)
		return;
	if (x->batch != TRACE_NONE && t->events[x->batch].batch == TRACE_NONE)
		t->events[x->batch].batch = (uint32_t)(t->count - 1);
	for (uint64_t page = x->addr & t->page_mask; page < x->addr + x->bytes; page += step) {
		struct trace_event *fault = open_fault(t, page);

		if (fault && fault->transfer == TRACE_NONE && !fault->b)
			fault->transfer = (uint32_t)(t->count - 1);
	}
}

void trace_arrived(struct timeline *t, uint64_t addr, uint64_t bytes, uint64_t now)
{
	uint64_t step = ~t->page_mask + 1;

	if (!t->room)
		return;
	for (uint64_t page = addr & t->page_mask; page < addr + bytes; page += step) {
		struct trace_event *fault = open_fault(t, page);

		if (fault && !fault->b)
			fault->b = now;
	}
}

void trace_translated(struct timeline *t, unsigned int sm, uint64_t page, uint64_t now)
{
	struct trace_event *fault;

	if (!t->room)
		return;
	page &= t->page_mask;
	fault = open_fault(t, page);
	/* Others may wait for the page, too; the flow is that of the SM which raised it. */
	if (!fault || fault->sm != sm || now < fault->begin)
		return;
	fault->end = now;
	if (!fault->b)
		fault->b = now;
	u64map_del(&t->open, page);
}

void trace_state(struct timeline *t, uint64_t now, uint64_t resident, uint64_t depth)
{
	struct trace_event *e = t->room ? event(t, TRACE_STATE, 2) : NULL;

	if (!e)
		return;
	e->begin = e->end = now;
	e->a = resident;
	e->b = depth;
}

/* --- the SMs -------------------------------------------------------------------- */

/* Each has the same part of half of the room. */
static size_t sm_room(const struct timeline *t)
{
	return t->room / 2 / t->nsms;
}

static void sm_event(struct timeline *t, struct trace_sm *s, enum trace_kind kind,
		     const struct sm_cta_span *span)
{
	if (s->count == sm_room(t)) {
		s->dropped++;
		return;
	}
	if (array_grow(s->spans, s->room, s->count)) {
		s->dropped++;
		return;
	}
	s->spans[s->count++] = (struct trace_span){ *span, (uint8_t)kind };
}

void trace_cta(struct timeline *t, unsigned int sm, const struct sm_cta_span *span)
{
	if (t->room)
		sm_event(t, &t->sms[sm], TRACE_CTA, span);
}

void trace_parked(struct timeline *t, unsigned int sm, const struct sm_cta_span *span)
{
	if (t->room)
		sm_event(t, &t->sms[sm], TRACE_PARKED, span);
}

void trace_sms(struct gpu_session *s, uint64_t now)
{
	struct timeline *t = &s->timeline;
	struct machine *m = s->machine;
	uint64_t passed;

	if (!t->room || now <= t->looked)
		return;
	passed = (now - t->looked) * m->spec.schedulers;
	for (unsigned int i = 0; i < t->nsms; i++) {
		struct trace_sm *sm = &t->sms[i];
		const struct sm_counters *c = sm_stats(m->sms[i]);
		uint64_t far, idle;

		sm_account(m->sms[i], now);
		far = c->stalls[STALL_FAR_FAULT] - sm->far_stalls;
		idle = c->stalls[STALL_NO_WARP] - sm->no_warp;
		if (far && far + idle == passed) {
			if (sm->stalled == NEVER)
				sm->stalled = t->looked;
		} else {
			if (sm->stalled != NEVER && t->looked - sm->stalled >= STALL_LEAST)
				sm_event(t, sm, TRACE_STALL, &(struct sm_cta_span){
					.begin = sm->stalled, .end = t->looked,
				});
			sm->stalled = NEVER;
		}
		sm->far_stalls += far;
		sm->no_warp += idle;
	}
	t->looked = now;
}
