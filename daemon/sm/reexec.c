// SPDX-License-Identifier: GPL-2.0
/*
 * The queues of loads that try L1D again (reexec.h).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sm/reexec.h"

enum { ACTIVE, INACTIVE, QUEUES };

struct reexec_queue {
	struct l1d_access *at;		/* a ring */
	uint32_t head, count;
};

struct reexec {
	struct reexec_queue queue[QUEUES];
	uint32_t size;			/* of each */
	bool split;			/* loads of parked CTAs have the second */
	uint64_t retry;			/* NEVER: none is here */
};

int reexec_create(struct sm *sm)
{
	const struct gpu_spec *s = sm->spec;
	struct reexec *r;

	if (!strcmp(s->mem_order, "fifo"))
		return 0;
	r = calloc(1, sizeof(*r));
	sm->ldst->reexec = r;
	if (!r)
		return -ENOMEM;
	r->size = (uint32_t)s->reexec_queue;
	r->split = !strcmp(s->mem_order, "vt");
	r->retry = NEVER;
	for (unsigned int i = 0; i < QUEUES; i++) {
		r->queue[i].at = calloc(r->size, sizeof(*r->queue[i].at));
		if (!r->queue[i].at)
			return -ENOMEM;
	}
	return 0;
}

void reexec_destroy(struct ldst *l)
{
	struct reexec *r = l->reexec;

	if (!r)
		return;
	for (unsigned int i = 0; i < QUEUES; i++)
		free(r->queue[i].at);
	free(r);
}

void reexec_cancel(struct ldst *l)
{
	struct reexec *r = l->reexec;

	if (!r)
		return;
	r->queue[ACTIVE].count = r->queue[INACTIVE].count = 0;
	r->retry = NEVER;
}

bool reexec_idle(const struct ldst *l)
{
	const struct reexec *r = l->reexec;

	return !r || (!r->queue[ACTIVE].count && !r->queue[INACTIVE].count);
}

bool reexec_full(const struct ldst *l)
{
	return l->reexec && l->reexec->queue[ACTIVE].count == l->reexec->size;
}

static void push(struct reexec *r, struct reexec_queue *q, const struct l1d_access *a)
{
	q->at[ring_at(q->head, q->count++, r->size)] = *a;
}

static void pop(struct reexec *r, struct reexec_queue *q)
{
	q->head = ring_at(q->head, 1, r->size);
	q->count--;
}

bool reexec_take(struct sm *sm, const struct l1d_access *a, uint64_t now)
{
	struct reexec *r = sm->ldst->reexec;
	struct reexec_queue *q;

	if (!r || a->kind != MEM_READ)
		return false;
	/* Its CTA may have been parked while it was on its way. */
	q = &r->queue[r->split && set_has(sm->heads.inactive, a->warp) ? INACTIVE : ACTIVE];
	if (q->count == r->size)
		q = &r->queue[ACTIVE];
	if (q->count == r->size)
		return false;
	push(r, q, a);
	r->retry = MIN(r->retry, now + 1);
	return true;
}

static struct reexec_queue *served(struct reexec *r)
{
	return r->queue[ACTIVE].count ? &r->queue[ACTIVE] : &r->queue[INACTIVE];
}

const struct l1d_access *reexec_head(const struct ldst *l)
{
	struct reexec_queue *q;

	if (reexec_idle(l))
		return NULL;
	q = served(l->reexec);
	return &q->at[q->head];
}

void reexec_tried(struct ldst *l, bool taken, uint64_t now)
{
	struct reexec *r = l->reexec;

	if (taken)
		pop(r, served(r));
	r->retry = reexec_idle(l) ? NEVER : now + 1;
}

uint64_t reexec_next(const struct ldst *l)
{
	return l->reexec ? l->reexec->retry : NEVER;
}

void reexec_parked(struct ldst *l, warpset warps)
{
	struct reexec *r = l->reexec;
	struct reexec_queue *q;

	if (!r || !r->split)
		return;
	q = &r->queue[ACTIVE];
	/* Once round: what stays comes behind itself, in its order. */
	for (uint32_t n = q->count; n; n--) {
		struct l1d_access a = q->at[q->head];
		bool away = set_has(warps, a.warp) && r->queue[INACTIVE].count < r->size;

		pop(r, q);
		push(r, away ? &r->queue[INACTIVE] : q, &a);
	}
}
