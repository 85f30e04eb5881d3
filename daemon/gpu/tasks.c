// SPDX-License-Identifier: GPL-2.0
/*
 * Works of streams that are no launches, in virtual time: the loop (quantum.c) begins them when
 * their turn has come, beside the kernels that run, and its quanta end where one may be over.
 */
#include "gpu/loop.h"

static bool over(struct loop *l, struct run *r)
{
	return r->kind == RUN_MOVE ? move_over(l, r) : r->until <= l->now;
}

/* Its engine has it when the copies are done that came there before it. */
static void copy_begin(struct loop *l, struct run *r)
{
	uint64_t *free = r->copy.way < GPU_COPY_ENGINES ? &l->s->copy_free[r->copy.way] : NULL;

	r->until = (free ? MAX(*free, l->now) : l->now) + r->copy.cycles;
	if (free)
		*free = r->until;
}

static void end(struct run *r)
{
	if (r->kind == RUN_COPY)
		r->copy.copied(r->ctx);
	r->state = RUN_DONE;
}

void task_begin(struct loop *l, struct run *r)
{
	r->state = RUN_RUNNING;
	if (r->kind == RUN_MOVE)
		move_begin(l, r);
	/* An event is recorded, or there, when its turn has come. */
	if (r->kind == RUN_RECORD || r->kind == RUN_AWAIT)
		r->until = l->now;
	if (r->kind == RUN_COPY)
		copy_begin(l, r);
	if (r->state == RUN_RUNNING && over(l, r))
		end(r);
	l->ntasks += r->state == RUN_RUNNING;
}

void tasks_end(struct loop *l)
{
	for (struct run *r = l->s->queue; l->ntasks && r; r = r->next) {
		if (r->kind == RUN_LAUNCH || r->state != RUN_RUNNING || !over(l, r))
			continue;
		end(r);
		l->ntasks--;
		/* The next work of its stream may begin. */
		l->look = true;
	}
}

/* A prefetch may be over when the next transfer lands. If none is under way, it is over now. */
static uint64_t next_of(const struct loop *l, const struct run *r)
{
	uint64_t next;

	if (r->kind != RUN_MOVE || r->until > l->now)
		return r->until;
	next = paging_next(l->s->paging);
	return next == UINT64_MAX ? l->now + 1 : MAX(next, l->now + 1);
}

uint64_t tasks_next(const struct loop *l)
{
	uint64_t next = NEVER;

	for (const struct run *r = l->s->queue; l->ntasks && r; r = r->next)
		if (r->kind != RUN_LAUNCH && r->state == RUN_RUNNING)
			next = MIN(next, next_of(l, r));
	return next;
}
