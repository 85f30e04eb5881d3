// SPDX-License-Identifier: GPL-2.0
/*
 * Events: marks in the order of streams, for other streams and the program to wait for, and when
 * they were reached. What is recorded is a work of its stream (the backends'); here are the books.
 */
#include <errno.h>
#include <stdlib.h>

#include "internal.h"

static struct gpuemu_event *known(struct gpuemu_ctx *ctx, const struct gpuemu_event *event)
{
	/* Compares pointers only, so a stale one is not followed. */
	for (struct gpuemu_event *e = ctx->events; e; e = e->next)
		if (e == event)
			return e;
	return NULL;
}

void event_recorded(struct gpuemu_ctx *ctx, uint64_t mark, int status, uint64_t cycle)
{
	for (struct gpuemu_event *e = ctx->events; e; e = e->next) {
		/* Destroyed, or recorded anew since: nobody asks. */
		if (e->mark != mark)
			continue;
		e->recorded = true;
		e->status = status;
		e->cycle = cycle;
	}
}

void event_free_all(struct gpuemu_ctx *ctx)
{
	struct gpuemu_event *e = ctx->events, *next;

	for (; e; e = next) {
		next = e->next;
		free(e);
	}
}

PUBLIC int gpuemu_event_create(struct gpuemu_ctx *ctx, struct gpuemu_event **event)
{
	struct gpuemu_event *e = calloc(1, sizeof(*e));
	struct err err = { "" };

	*event = e;
	ctx_enter(ctx);
	if (!e)
		return ctx_leave(ctx, -ENOMEM, &err);
	e->ctx = ctx;
	e->next = ctx->events;
	ctx->events = e;
	return ctx_leave(ctx, 0, &err);
}

PUBLIC int gpuemu_event_destroy(struct gpuemu_event *event)
{
	struct gpuemu_event **at;
	struct gpuemu_ctx *ctx;
	struct err err = { "" };

	if (!event)
		return -EINVAL;
	ctx = event->ctx;
	ctx_enter(ctx);
	for (at = &ctx->events; *at != event; at = &(*at)->next)
		;
	*at = event->next;
	free(event);
	return ctx_leave(ctx, 0, &err);
}

static int record(struct gpuemu_event *e, struct gpuemu_stream *stream, struct err *err)
{
	struct gpuemu_stream *s = stream_of(e->ctx, stream);
	const struct work work = { .kind = RECORD, .mark = e->ctx->next_mark + 1 };
	const struct gpuemu_event before = *e;
	int ret;

	if (!s)
		return err_set(err, -EINVAL, "not a stream of this context");
	/* In the default stream it may be reached before submit() returns. */
	e->mark = work.mark;
	e->recorded = false;
	ret = e->ctx->backend->submit(e->ctx, s, &work, err);
	if (ret)
		*e = before;
	else
		e->ctx->next_mark++;
	return ret;
}

PUBLIC int gpuemu_event_record(struct gpuemu_event *event, struct gpuemu_stream *stream)
{
	struct err err = { "" };

	if (!event)
		return -EINVAL;
	ctx_enter(event->ctx);
	return ctx_leave(event->ctx, record(event, stream, &err), &err);
}

static int not_an_event(struct err *err)
{
	return err_set(err, -EINVAL, "not an event of this context");
}

PUBLIC int gpuemu_stream_wait_event(struct gpuemu_ctx *ctx, struct gpuemu_stream *stream,
				    const struct gpuemu_event *event)
{
	struct work work = { .kind = AWAIT };
	struct gpuemu_stream *s;
	struct gpuemu_event *e;
	struct err err = { "" };
	int ret = 0;

	ctx_enter(ctx);
	s = stream_of(ctx, stream);
	e = known(ctx, event);
	if (!s)
		return ctx_leave(ctx, err_set(&err, -EINVAL, "not a stream of this context"), &err);
	if (!e)
		return ctx_leave(ctx, not_an_event(&err), &err);
	work.mark = e->mark;
	/* As CUDA has it: nothing was recorded, nothing is waited for. */
	if (e->mark && !e->recorded)
		ret = ctx->backend->submit(ctx, s, &work, &err);
	return ctx_leave(ctx, ret, &err);
}

PUBLIC int gpuemu_event_synchronize(struct gpuemu_event *event)
{
	struct gpuemu_ctx *ctx;
	struct err err = { "" };

	if (!event)
		return -EINVAL;
	ctx = event->ctx;
	ctx_enter(ctx);
	if (event->mark && !event->recorded)
		ctx->backend->wait_mark(ctx, event->mark);
	return ctx_leave(ctx, event->status, &err);
}

PUBLIC int gpuemu_event_query(struct gpuemu_event *event)
{
	struct gpuemu_ctx *ctx;
	struct err err = { "" };

	if (!event)
		return -EINVAL;
	ctx = event->ctx;
	ctx_enter(ctx);
	if (event->mark && !event->recorded)
		ctx->backend->pass(ctx, QUERY_CYCLES);
	return ctx_leave(ctx, event->mark && !event->recorded ?
			 err_set(&err, -EBUSY, "the event is still to come") : event->status, &err);
}

static int elapsed(const struct gpuemu_event *start, const struct gpuemu_event *end,
		   int64_t *cycles, struct err *err)
{
	if (start->ctx != end->ctx || !start->mark || !end->mark)
		return err_set(err, -EINVAL, "an event that was not recorded, or of another context");
	if (!start->recorded || !end->recorded)
		return err_set(err, -EBUSY, "an event is still to come: synchronize with it");
	*cycles = (int64_t)(end->cycle - start->cycle);
	return 0;
}

PUBLIC int gpuemu_event_elapsed(const struct gpuemu_event *start, const struct gpuemu_event *end,
				int64_t *cycles)
{
	struct err err = { "" };

	if (!start || !end)
		return -EINVAL;
	ctx_enter(start->ctx);
	return ctx_leave(start->ctx, elapsed(start, end, cycles, &err), &err);
}
