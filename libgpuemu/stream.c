// SPDX-License-Identifier: GPL-2.0
/*
 * Streams: the order of works, and where the first error of a stream waits for
 * its synchronize. The default stream is part of the context.
 */
#include <errno.h>
#include <stdlib.h>

#include "internal.h"

struct gpuemu_stream *stream_of(struct gpuemu_ctx *ctx, struct gpuemu_stream *stream)
{
	if (!stream)
		return &ctx->default_stream;
	/* Compares pointers only, so a stale one is not followed. */
	for (struct gpuemu_stream *s = &ctx->default_stream; s; s = s->next)
		if (s == stream)
			return s;
	return NULL;
}

void stream_fail(struct gpuemu_stream *stream, int status, const struct err *err)
{
	if (stream->status)
		return;
	stream->status = status;
	if (err->text[0])
		stream->err = *err;
	else
		err_set(&stream->err, 0, "%s", gpuemu_strerror(status));
}

void stream_wait(struct gpuemu_stream *stream)
{
	stream->ctx->backend->wait(stream->ctx, &stream, 1);
}

void stream_wait_all(struct gpuemu_ctx *ctx)
{
	for (struct gpuemu_stream *s = &ctx->default_stream; s; s = s->next)
		stream_wait(s);
}

static int take_error(struct gpuemu_stream *stream, struct err *err)
{
	int status = stream->status;

	if (status)
		*err = stream->err;
	stream->status = 0;
	stream->err.text[0] = '\0';
	return status;
}

static int not_a_stream(struct err *err)
{
	return err_set(err, -EINVAL, "not a stream of this context");
}

PUBLIC int gpuemu_stream_create(struct gpuemu_ctx *ctx, struct gpuemu_stream **stream)
{
	struct gpuemu_stream *s = calloc(1, sizeof(*s));
	struct gpuemu_stream *last = &ctx->default_stream;
	struct err err = { "" };

	*stream = s;
	ctx_enter(ctx);
	if (!s)
		return ctx_leave(ctx, -ENOMEM, &err);
	s->ctx = ctx;
	s->id = ++ctx->next_stream;
	while (last->next)
		last = last->next;
	last->next = s;
	return ctx_leave(ctx, 0, &err);
}

PUBLIC int gpuemu_stream_destroy(struct gpuemu_stream *stream)
{
	struct gpuemu_ctx *ctx;
	struct gpuemu_stream *s;
	struct err err = { "" };
	int ret;

	if (!stream)
		return -EINVAL;
	ctx = stream->ctx;
	ctx_enter(ctx);
	if (stream == &ctx->default_stream)
		return ctx_leave(ctx, -EINVAL, &err);
	stream_wait(stream);
	ret = take_error(stream, &err);
	for (s = &ctx->default_stream; s->next != stream; )
		s = s->next;
	s->next = stream->next;
	free(stream);
	return ctx_leave(ctx, ret, &err);
}

PUBLIC int gpuemu_stream_synchronize(struct gpuemu_ctx *ctx, struct gpuemu_stream *stream)
{
	struct gpuemu_stream *s;
	struct err err = { "" };

	ctx_enter(ctx);
	s = stream_of(ctx, stream);
	if (!s)
		return ctx_leave(ctx, not_a_stream(&err), &err);
	stream_wait(s);
	return ctx_leave(ctx, take_error(s, &err), &err);
}

static int wait_any(struct gpuemu_ctx *ctx, struct gpuemu_stream *const *streams, unsigned int n,
		    unsigned int *which, struct err *err)
{
	struct gpuemu_stream **known = n ? malloc(n * sizeof(*known)) : NULL;
	int ret = 0;

	if (!n)
		return err_set(err, -EINVAL, "no stream to wait for");
	if (!known)
		return -ENOMEM;
	for (unsigned int i = 0; !ret && i < n; i++) {
		known[i] = stream_of(ctx, streams[i]);
		if (!known[i])
			ret = not_a_stream(err);
	}
	if (!ret) {
		ctx->backend->wait(ctx, known, n);
		for (*which = 0; *which < n - 1 && !ctx->backend->idle(ctx, known[*which]);)
			++*which;
	}
	free(known);
	return ret;
}

PUBLIC int gpuemu_stream_wait_any(struct gpuemu_ctx *ctx, struct gpuemu_stream *const *streams,
				  unsigned int n, unsigned int *which)
{
	struct err err = { "" };

	ctx_enter(ctx);
	return ctx_leave(ctx, wait_any(ctx, streams, n, which, &err), &err);
}

PUBLIC int gpuemu_stream_delay(struct gpuemu_ctx *ctx, struct gpuemu_stream *stream,
			       uint64_t cycle)
{
	const struct work work = { .kind = DELAY, .cycle = cycle };
	struct gpuemu_stream *s;
	struct err err = { "" };

	ctx_enter(ctx);
	s = stream_of(ctx, stream);
	if (cycle > GPU_CYCLE_MAX)
		return ctx_leave(ctx, err_set(&err, -ERANGE, "a delay until cycle %llu: at most %llu",
					      (unsigned long long)cycle,
					      (unsigned long long)GPU_CYCLE_MAX), &err);
	return ctx_leave(ctx, s ? ctx->backend->submit(ctx, s, &work, &err) : not_a_stream(&err),
			 &err);
}

PUBLIC int gpuemu_stream_query(struct gpuemu_ctx *ctx, struct gpuemu_stream *stream)
{
	struct gpuemu_stream *s;
	struct err err = { "" };

	ctx_enter(ctx);
	s = stream_of(ctx, stream);
	if (!s)
		return ctx_leave(ctx, not_a_stream(&err), &err);
	ctx->backend->pass(ctx, 0);
	if (!ctx->backend->idle(ctx, s))
		ctx->backend->pass(ctx, QUERY_CYCLES);
	return ctx_leave(ctx, ctx->backend->idle(ctx, s) ? 0 :
			 err_set(&err, -EBUSY, "the stream has more to do"), &err);
}

PUBLIC int gpuemu_stream_halt_after(struct gpuemu_ctx *ctx, struct gpuemu_stream *stream,
				    uint64_t instructions)
{
	struct gpuemu_stream *s;
	struct err err = { "" };

	ctx_enter(ctx);
	s = stream_of(ctx, stream);
	return ctx_leave(ctx, s ? ctx->backend->halt_after(ctx, s, instructions, &err) :
			 not_a_stream(&err), &err);
}

PUBLIC int gpuemu_stream_halt_at(struct gpuemu_ctx *ctx, struct gpuemu_stream *stream,
				 uint64_t cycle)
{
	struct gpuemu_stream *s;
	struct err err = { "" };

	ctx_enter(ctx);
	s = stream_of(ctx, stream);
	return ctx_leave(ctx, s ? ctx->backend->halt_at(ctx, s, cycle, &err) :
			 not_a_stream(&err), &err);
}

PUBLIC uint32_t gpuemu_stream_id(const struct gpuemu_stream *stream)
{
	return stream ? stream->id : 0;
}

PUBLIC int gpuemu_synchronize(struct gpuemu_ctx *ctx)
{
	struct err err = { "" }, later;
	int ret = 0;

	ctx_enter(ctx);
	stream_wait_all(ctx);
	for (struct gpuemu_stream *s = &ctx->default_stream; s; s = s->next) {
		if (!ret)
			ret = take_error(s, &err);
		else
			take_error(s, &later);
	}
	return ctx_leave(ctx, ret, &err);
}

void stream_free_all(struct gpuemu_ctx *ctx)
{
	struct gpuemu_stream *s = ctx->default_stream.next, *next;

	for (; s; s = next) {
		next = s->next;
		free(s);
	}
}
