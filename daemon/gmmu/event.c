// SPDX-License-Identifier: GPL-2.0
/*
 * What the GMMU has to do at known cycles: a binary heap, in order of cycle, and within
 * one in the order in which it was asked for. gmmu.c takes from it.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "gmmu/state.h"

static bool before(const struct event *a, const struct event *b)
{
	return a->at < b->at || (a->at == b->at && a->order < b->order);
}

int events_push(struct events *e, const struct event *event)
{
	uint32_t i = e->count;

	if (array_grow(e->at, e->room, e->count))
		return -ENOMEM;
	e->count++;
	for (; i && before(event, &e->at[(i - 1) / 2]); i = (i - 1) / 2)
		e->at[i] = e->at[(i - 1) / 2];
	e->at[i] = *event;
	return 0;
}

void events_pop(struct events *e)
{
	struct event last = e->at[--e->count];
	uint32_t i = 0, child;

	while ((child = 2 * i + 1) < e->count) {
		if (child + 1 < e->count && before(&e->at[child + 1], &e->at[child]))
			child++;
		if (!before(&e->at[child], &last))
			break;
		e->at[i] = e->at[child];
		i = child;
	}
	e->at[i] = last;
}

void event_at(struct gmmu *g, uint64_t at, enum event_kind kind, uint32_t of, bool outer)
{
	struct event e = { .at = at, .order = g->events_made++, .kind = kind, .of = of };

	if (events_push(outer ? &g->outer : &g->inner, &e))
		g->error = -ENOMEM;
}
