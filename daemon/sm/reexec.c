// SPDX-License-Identifier: GPL-2.0
/*
 * The queues of loads that try L1D again (reexec.h).
 *
 * The head tries in each cycle in which nobody else is at the tags. One that was refused is
 * refused again until something of L1D changes, so those tries are counted and not made, and
 * the SM may sleep through them.
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
	bool refused;			/* the head was, and nothing has changed since */
	uint64_t tried;			/* while one is here: the tries of cycles before are counted */
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
	r->refused = false;
	l->aside = 0;
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
	/* The access's CTA may have been parked while the access was on its way. */
	q = &r->queue[r->split && set_has(sm->heads.inactive, a->warp) ? INACTIVE : ACTIVE];
	if (q->count == r->size)
		q = &r->queue[ACTIVE];
	if (q->count == r->size)
		return false;
	push(r, q, a);
	sm->ldst->aside++;
	/* Another access may have its turn now. */
	r->refused = false;
	r->tried = now + 1;
	return true;
}

static struct reexec_queue *served(struct reexec *r)
{
	return r->queue[ACTIVE].count ? &r->queue[ACTIVE] : &r->queue[INACTIVE];
}

const struct l1d_access *reexec_head(const struct ldst *l)
{
	struct reexec_queue *q;

	q = served(l->reexec);
	return &q->at[q->head];
}

bool reexec_refused(const struct ldst *l)
{
	return !reexec_idle(l) && l->reexec->refused;
}

void reexec_tried(struct ldst *l, bool taken, uint64_t now)
{
	struct reexec *r = l->reexec;

	if (taken) {
		pop(r, served(r));
		l->aside--;
	}
	r->refused = !taken;
	r->tried = now + 1;
}

void reexec_passed_by(struct ldst *l, bool changed, uint64_t now)
{
	l->reexec->tried = now + 1;
	l->reexec->refused &= !changed;
}

void reexec_changed(struct ldst *l)
{
	if (!reexec_idle(l))
		l->reexec->refused = false;
}

void reexec_settle(struct sm *sm, uint64_t upto)
{
	struct reexec *r = sm->ldst->reexec;
	const struct l1d_access *head;

	if (r->tried >= upto)
		return;
	head = reexec_head(sm->ldst);
	sm_count(sm, warp_slot(sm, head->warp), l1d.fails, upto - r->tried);
	r->tried = upto;
}

uint64_t reexec_next(const struct ldst *l)
{
	return l->reexec->refused ? NEVER : l->reexec->tried;
}

void reexec_parked(struct sm *sm, warpset warps, uint64_t now)
{
	struct ldst *l = sm->ldst;
	struct reexec *r = l->reexec;
	struct reexec_queue *q;

	if (!r || !r->split || reexec_idle(l))
		return;
	reexec_settle(sm, now + 1);
	r->refused = false;
	/* There may be a place for the one at the tags. */
	if (l->stuck)
		l->retry = now + 1;
	wake_at(l, now + 1);
	q = &r->queue[ACTIVE];
	/* Each access is taken once; those that stay come back behind the others, in their order. */
	for (uint32_t n = q->count; n; n--) {
		struct l1d_access a = q->at[q->head];
		bool away = set_has(warps, a.warp) && r->queue[INACTIVE].count < r->size;

		pop(r, q);
		push(r, away ? &r->queue[INACTIVE] : q, &a);
	}
}
