// SPDX-License-Identifier: GPL-2.0
/*
 * A session's works that are not done: those of all streams in the order of
 * submission, and the next one to run. submit.c fills it, the loop empties it.
 */
#include "gpu/run.h"

/* Has its turn come? What is before it in its stream has ended, or is the default stream's. */
static bool has_turn(const struct gpu_session *s, const struct run *r, bool others)
{
	if (!r->stream)
		return !others;
	for (const struct run *before = s->queue; before != r; before = before->next)
		if (before->state != RUN_DONE &&
		    (!before->stream || before->stream == r->stream))
			return false;
	return true;
}

bool queue_mark_pending(const struct gpu_session *s, uint64_t mark, const struct run *behind)
{
	for (const struct run *r = s->queue; r != behind; r = r->next)
		if (r->kind == RUN_RECORD && r->mark == mark && r->state != RUN_DONE)
			return true;
	return false;
}

static bool awaits(const struct gpu_session *s, const struct run *r)
{
	return r->kind == RUN_AWAIT && queue_mark_pending(s, r->mark, r);
}

static bool is_cooperative(const struct run *r)
{
	return r->kind == RUN_LAUNCH && !r->status && exec_launch_cooperative(&r->launch);
}

/*
 * Two cooperative launches are never beside each other: each might hold a part of the SMs, and
 * wait for the rest for ever.
 */
static bool waits_for_cooperative(const struct gpu_session *s, const struct run *r)
{
	if (!is_cooperative(r))
		return false;
	for (const struct run *other = s->queue; other; other = other->next)
		if (other->state == RUN_RUNNING && is_cooperative(other))
			return true;
	return false;
}

struct run *queue_ready(struct gpu_session *s, bool launches)
{
	bool others = false;	/* something before this one has not ended */

	for (struct run *r = s->queue; r; r = r->next) {
		if (r->state == RUN_DONE)
			continue;
		if (r->state == RUN_QUEUED && (launches || r->kind != RUN_LAUNCH) &&
		    has_turn(s, r, others) && !awaits(s, r) && !waits_for_cooperative(s, r))
			return r;
		others = true;
	}
	return NULL;
}

bool queue_empty(const struct gpu_session *s, uint32_t stream)
{
	for (const struct run *r = s->queue; r; r = r->next)
		if (r->state != RUN_DONE && r->stream == stream)
			return false;
	return true;
}

bool queue_until(const struct gpu_session *s, const struct gpu_until *until)
{
	for (unsigned int i = 0; until && i < until->nstreams; i++)
		if (queue_empty(s, until->streams[i]))
			return true;
	return until && until->mark && !queue_mark_pending(s, until->mark, NULL);
}

void queue_append(struct gpu_session *s, struct run *r)
{
	if (!s->queue)
		s->queue_end = &s->queue;
	*s->queue_end = r;
	s->queue_end = &r->next;
	s->nqueued++;
}
