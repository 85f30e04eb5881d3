// SPDX-License-Identifier: GPL-2.0
/*
 * Streams on the kmod backend. Works are collected here until something waits. Then they are
 * sent as one work (GPUEMU_WORK_RUN) that says how far the engine runs what it has of this
 * context, and its report says what ended and which streams have more to do. Work that has not
 * ended stays with the engine. A work of the default stream sends all at once and does not wait.
 */
#include <errno.h>
#include <linux/gpuemu.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "kmod.h"

#define QUEUE_MAX	256u		/* works that wait, at most, as on sim */
#define REPORT_ROOM	(4u << 10)	/* what most reports fit in */

_Static_assert(GPUEMU_REPORT_MAX > GPU_OUTPUT_ALL + GPU_RUN_ITEMS * 1024u,
	       "a report carries all that may have ended");

void kmod_run_init(struct kmod *k)
{
	k->flights_end = &k->flights;
}

static void remove_flight(struct kmod *k)
{
	struct kmod_flight *f = k->flights;

	k->flights = f->next;
	if (!k->flights)
		k->flights_end = &k->flights;
	free(f);
}

void kmod_run_fini(struct kmod *k)
{
	while (k->flights)
		remove_flight(k);
	free(k->collected.bytes);
}

/* --- what became of works ------------------------------------------------------------ */

static struct gpuemu_stream *by_number(struct gpuemu_ctx *ctx, uint32_t id)
{
	for (struct gpuemu_stream *s = &ctx->default_stream; s; s = s->next)
		if (s->id == id)
			return s;
	return NULL;
}

/* Events that were recorded by works up to the mark, and are still to come, never will. */
static void fail_events(struct gpuemu_ctx *ctx, uint64_t upto, int status)
{
	for (struct gpuemu_event *e = ctx->events; e; e = e->next)
		if (e->mark && e->mark <= upto && !e->recorded)
			event_recorded(ctx, e->mark, status, 0);
}

/* All that was sent up to the flight has failed, unless its end was reported. */
static void fail_sent(struct gpuemu_ctx *ctx, uint64_t number, uint64_t marks, int status,
		      const struct err *err)
{
	for (struct gpuemu_stream *s = &ctx->default_stream; s; s = s->next) {
		if (!s->first || s->first > number)
			continue;
		stream_fail(s, status, err);
		s->first = s->last <= number ? 0 : number + 1;
	}
	fail_events(ctx, marks, status);
}

/* Works that were not sent never are. */
static void fail_collected(struct gpuemu_ctx *ctx, int status, const struct err *err)
{
	struct kmod *k = ctx->state;

	for (struct gpuemu_stream *s = &ctx->default_stream; s; s = s->next) {
		if (s->collected)
			stream_fail(s, status, err);
		s->collected = 0;
	}
	k->collected.used = 0;
	k->collected.count = 0;
	fail_events(ctx, k->marks, status);
}

/* Why the access that ended a kernel was none of ordinary memory; or NULL. */
static const char *why_not(const struct gpuemu_ctx *ctx, const struct gpu_run_ended *e,
			   const char *text)
{
	static const char outside[] = "outside managed memory";
	const struct kmod *k = ctx->state;

	return e->status == -EFAULT && memmem(text, e->message_bytes, outside,
					      sizeof(outside) - 1) ? k->not_pageable : NULL;
}

static void tell_ended(struct gpuemu_ctx *ctx, const struct gpu_run_ended *e, const char *text)
{
	struct gpuemu_stream *s = by_number(ctx, e->stream);
	const char *why = why_not(ctx, e, text);
	struct err err = { "" };

	/* A failed launch's text is printed, too: it may say why. */
	if (e->output_bytes)
		print_text(ctx, text + e->message_bytes, e->output_bytes);
	if (e->mark)
		event_recorded(ctx, e->mark, e->status, e->cycle);
	if (!e->status || e->mark || !s)
		return;
	err_set(&err, 0, "%.*s%s%s%s", (int)MIN(e->message_bytes, GPUEMU_MESSAGE_MAX), text,
		why ? "; kernels have no ordinary memory here (" : "", why ? why : "",
		why ? ")" : "");
	stream_fail(s, e->status, &err);
}

static bool is_among(const uint32_t *ids, unsigned int n, uint32_t id)
{
	for (unsigned int i = 0; i < n; i++)
		if (ids[i] == id)
			return true;
	return false;
}

/* -EPROTO: the report makes no sense. */
static int tell_flight(struct gpuemu_ctx *ctx, uint64_t number, const struct kmod_report *report)
{
	struct kmod *k = ctx->state;
	struct gpu_run_report head;
	struct gpu_run_ended ended;
	const uint32_t *busy;
	const char *text;
	size_t at;

	if (!report->text || gpu_run_report_decode(report->text, report->bytes, &head, &busy, &at))
		return -EPROTO;
	for (unsigned int i = 0; i < head.nended; i++) {
		gpu_run_report_next(report->text, &at, &ended, &text);
		tell_ended(ctx, &ended, text);
	}
	for (struct gpuemu_stream *s = &ctx->default_stream; s; s = s->next)
		if (s->first && s->last <= number && !is_among(busy, head.nbusy, s->id))
			s->first = 0;
	k->kept = head.kept;
	return 0;
}

/*
 * The oldest flight is over: tells which works ended. -ETIMEDOUT: it is not yet. The module does a
 * context's works in their order, so that nothing waits longer for the oldest.
 */
static int reap_within(struct gpuemu_ctx *ctx, uint32_t timeout_ms)
{
	struct kmod *k = ctx->state;
	const struct kmod_flight flight = *k->flights;
	struct err err = { "" };
	struct kmod_report report;
	int ret;

	ret = kmod_wait_work(k, flight.id, timeout_ms, REPORT_ROOM, &report, &err);
	if (ret == -ETIMEDOUT)
		return ret;
	remove_flight(k);
	if (!ret)
		ret = tell_flight(ctx, flight.number, &report);
	free(report.text);
	if (ret == -ESTALE)
		ret = err_set(&err, -EIO, "device lost: its engine (gpuemud) ended before the "
			      "work was done");
	if (ret) {
		fail_sent(ctx, flight.number, flight.marks, ret, &err);
		k->kept = 0;
		/* An engine that lives may have kept some of them. */
		k->drop = true;
	}
	return 0;
}

bool kmod_reap_one(struct gpuemu_ctx *ctx)
{
	struct kmod *k = ctx->state;

	if (!k->flights)
		return false;
	reap_within(ctx, ~0u);
	return true;
}

void kmod_engine_gone(struct gpuemu_ctx *ctx)
{
	struct kmod *k = ctx->state;
	struct err err = { "" };

	while (kmod_reap_one(ctx))
		;
	err_set(&err, 0, "device lost: its engine (gpuemud) ended before the work was done");
	fail_sent(ctx, k->sent, k->marks, -EIO, &err);
	k->kept = 0;
	k->drop = false;
}

int kmod_drop_kept(struct gpuemu_ctx *ctx, struct err *err)
{
	static const struct gpu_run_items none;
	struct kmod *k = ctx->state;
	const struct gpu_work_run how = {
		.flags = GPU_RUN_HOLD | GPU_RUN_DROP, .generation = k->generation,
	};
	struct kmod_report report;
	void *payload;
	size_t bytes;
	uint64_t id;
	int ret;

	if (!k->drop)
		return 0;
	ret = gpu_run_encode(&how, NULL, &none, &payload, &bytes);
	if (ret)
		return ret;
	ret = kmod_submit_work(ctx, GPUEMU_WORK_RUN, 0, payload, bytes, &id, err);
	free(payload);
	if (ret)
		return ret;
	ret = kmod_wait_work(k, id, ~0u, REPORT_ROOM, &report, err);
	free(report.text);
	k->drop = ret;
	return ret;
}

/* --- sending ----------------------------------------------------------------------------- */

static void sent(struct gpuemu_ctx *ctx, struct kmod_flight *f)
{
	struct kmod *k = ctx->state;

	f->number = ++k->sent;
	f->items = k->collected.count;
	f->marks = k->marks;
	for (struct gpuemu_stream *s = &ctx->default_stream; s; s = s->next) {
		if (!s->collected)
			continue;
		s->collected = 0;
		s->last = f->number;
		if (!s->first)
			s->first = f->number;
	}
	k->collected.used = 0;
	k->collected.count = 0;
	*k->flights_end = f;
	k->flights_end = &f->next;
}

/* Sends the collected works, and says how far they shall run. On failure they stay collected. */
static int send(struct gpuemu_ctx *ctx, const struct gpu_work_run *how, const uint32_t *streams,
		struct err *err)
{
	struct kmod *k = ctx->state;
	struct gpu_work_run head = *how;
	struct kmod_flight *f = calloc(1, sizeof(*f));
	void *payload = NULL;
	size_t bytes;
	int ret = f ? kmod_tell_all(ctx, err) : -ENOMEM;

	head.generation = k->generation;
	if (!ret)
		ret = gpu_run_encode(&head, streams, &k->collected, &payload, &bytes);
	if (!ret)
		ret = kmod_submit_work(ctx, GPUEMU_WORK_RUN, 0, payload, bytes, &f->id, err);
	free(payload);
	if (ret) {
		free(f);
		return ret;
	}
	sent(ctx, f);
	return 0;
}

/* The same, and waits for the report; what goes wrong is the streams'. */
static void run(struct gpuemu_ctx *ctx, const struct gpu_work_run *how, const uint32_t *streams)
{
	struct kmod *k = ctx->state;
	struct err err = { "" };
	int ret = send(ctx, how, streams, &err);

	while (kmod_reap_one(ctx))
		;
	if (!ret)
		return;
	fail_sent(ctx, k->sent, k->marks, ret, &err);
	fail_collected(ctx, ret, &err);
	k->kept = 0;
	k->drop = true;
}

static bool has_more(const struct gpuemu_stream *s)
{
	return s->first || s->collected;
}

static bool any_has_more(const struct gpuemu_ctx *ctx)
{
	for (const struct gpuemu_stream *s = &ctx->default_stream; s; s = s->next)
		if (has_more(s))
			return true;
	return false;
}

bool kmod_idle(struct gpuemu_ctx *ctx, const struct gpuemu_stream *stream)
{
	return !has_more(stream);
}

/* Is one of them done? The default stream is when all are. */
static bool any_done(const struct gpuemu_ctx *ctx, struct gpuemu_stream *const *streams,
		     unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		if (streams[i]->id ? !has_more(streams[i]) : !any_has_more(ctx))
			return true;
	return false;
}

static bool has_default(struct gpuemu_stream *const *streams, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		if (!streams[i]->id)
			return true;
	return false;
}

static void run_until(struct gpuemu_ctx *ctx, struct gpuemu_stream *const *streams,
		      unsigned int n)
{
	struct gpu_work_run how = { .nstreams = 0 };
	uint32_t *ids = NULL;

	/* If the streams are too many to be named, or without memory, it waits for all streams. */
	if (n <= GPU_RUN_STREAMS && !has_default(streams, n))
		ids = malloc(n * sizeof(*ids));
	if (ids)
		how.nstreams = n;
	for (unsigned int i = 0; i < how.nstreams; i++)
		ids[i] = streams[i]->id;
	run(ctx, &how, ids);
	free(ids);
}

void kmod_wait(struct gpuemu_ctx *ctx, struct gpuemu_stream *const *streams, unsigned int n)
{
	struct err err = { "" };

	while (!any_done(ctx, streams, n) && kmod_reap_one(ctx))
		;
	if (any_done(ctx, streams, n))
		return;
	run_until(ctx, streams, n);
	if (any_done(ctx, streams, n))
		return;
	err_set(&err, 0, "the engine did not run its streams: library and daemon do not fit");
	for (unsigned int i = 0; i < n; i++) {
		stream_fail(streams[i], -EPROTO, &err);
		streams[i]->first = 0;
		streams[i]->collected = 0;
	}
}

static bool is_coming(const struct gpuemu_ctx *ctx, uint64_t mark)
{
	for (const struct gpuemu_event *e = ctx->events; e; e = e->next)
		if (e->mark == mark)
			return !e->recorded;
	return false;
}

void kmod_wait_mark(struct gpuemu_ctx *ctx, uint64_t mark)
{
	const struct gpu_work_run how = { .mark = mark };

	while (is_coming(ctx, mark) && kmod_reap_one(ctx))
		;
	if (is_coming(ctx, mark))
		run(ctx, &how, NULL);
	if (is_coming(ctx, mark))
		event_recorded(ctx, mark, -EPROTO, 0);
}

void kmod_pass(struct gpuemu_ctx *ctx, uint64_t cycles)
{
	const struct gpu_work_run how = { .cycles = cycles };
	struct kmod *k = ctx->state;

	while (k->flights && !reap_within(ctx, 0))
		;
	/* Where something runs, time passes by itself. */
	if (cycles && !k->flights && any_has_more(ctx))
		run(ctx, &how, NULL);
}

/* --- collecting ------------------------------------------------------------------------------ */

static int too_long(size_t bytes, struct err *err)
{
	return err_set(err, -E2BIG, "%zu bytes of arguments: at most %u are taken", bytes,
		       GPUEMU_PAYLOAD_MAX);
}

/* Collects the work; works before it are sent first if there is no room for both. */
static int collect(struct gpuemu_ctx *ctx, uint32_t kind, uint32_t stream, const void *data,
		   size_t bytes, struct err *err)
{
	static const struct gpu_run_items none;
	const struct gpu_work_run hold = { .flags = GPU_RUN_HOLD };
	struct kmod *k = ctx->state;
	const size_t item = sizeof(struct gpu_run_item) + 8, head = gpu_run_bytes(0, &none) +
		GPU_RUN_STREAMS * sizeof(uint32_t);
	int ret = 0;

	if (bytes > GPUEMU_PAYLOAD_MAX - head - item)
		return too_long(bytes, err);
	if (k->collected.count == QUEUE_MAX ||
	    k->collected.used + item + bytes > GPUEMU_PAYLOAD_MAX - head)
		ret = send(ctx, &hold, NULL, err);
	k->last = k->collected.used;
	return ret ? ret : gpu_run_add(&k->collected, kind, stream, data, bytes);
}

static int collect_launch(struct gpuemu_ctx *ctx, uint32_t stream, const struct gpu_launch *launch,
			  struct err *err)
{
	void *payload;
	size_t bytes;
	int ret = gpu_work_encode_launch(launch, &payload, &bytes);

	if (ret)
		return ret;
	ret = collect(ctx, GPU_RUN_LAUNCH, stream, payload, bytes, err);
	free(payload);
	return ret;
}

static int collect_work(struct gpuemu_ctx *ctx, uint32_t stream, const struct work *work,
			struct err *err)
{
	struct kmod *k = ctx->state;
	const struct gpu_work_prefetch move = {
		.size = sizeof(move),
		.to_host = work->prefetch.to_host,
		.addr = work->prefetch.addr,
		.bytes = work->prefetch.bytes,
	};

	switch (work->kind) {
	case LAUNCH:
		return collect_launch(ctx, stream, &work->launch, err);
	case PREFETCH:
		return collect(ctx, GPU_RUN_MOVE, stream, &move, sizeof(move), err);
	case DELAY:
		return collect(ctx, GPU_RUN_DELAY, stream, &work->cycle, sizeof(work->cycle), err);
	case RECORD:
		k->marks = work->mark;
		return collect(ctx, GPU_RUN_RECORD, stream, &work->mark, sizeof(work->mark), err);
	case AWAIT:
		return collect(ctx, GPU_RUN_AWAIT, stream, &work->mark, sizeof(work->mark), err);
	}
	return -EINVAL;
}

/* How many works wait, here, on their way or at the engine. */
static unsigned int waiting(const struct kmod *k)
{
	unsigned int n = k->kept + k->collected.count;

	for (const struct kmod_flight *f = k->flights; f; f = f->next)
		n += f->items;
	return n;
}

/* The default stream's begins now, with all that is before it; nobody waits for it here. */
static int begin_all(struct gpuemu_ctx *ctx, struct err *err)
{
	const struct gpu_work_run all = { .nstreams = 0 };
	struct kmod *k = ctx->state;
	int ret = send(ctx, &all, NULL, err);

	/* Its caller is told; the works before it stay collected. */
	if (ret) {
		k->collected.used = k->last;
		k->collected.count--;
		ctx->default_stream.collected--;
	}
	return ret;
}

/* A work of the stream has been collected. */
static int go_on(struct gpuemu_ctx *ctx, struct gpuemu_stream *stream, struct err *err)
{
	struct kmod *k = ctx->state;

	stream->collected++;
	if (!stream->id)
		return begin_all(ctx, err);
	if (waiting(k) >= QUEUE_MAX)
		kmod_wait(ctx, &stream, 1);
	return 0;
}

int kmod_submit(struct gpuemu_ctx *ctx, struct gpuemu_stream *stream, const struct work *work,
		struct err *err)
{
	/* The default stream's meets it anyway. */
	int ret = stream->id ? kmod_meet_engine(ctx, err) : 0;

	if (!ret)
		ret = collect_work(ctx, stream->id, work, err);
	return ret ? ret : go_on(ctx, stream, err);
}

/* Its time alone: the module gives the device's memory to the program, which copies itself. */
int kmod_copy(struct gpuemu_ctx *ctx, struct gpuemu_stream *stream, const struct copy *copy)
{
	enum gpu_copy way = copy->flags & GPUEMU_COPY_INSIDE ? GPU_COPY_INSIDE :
			    copy->flags & GPUEMU_COPY_HOME ? GPU_COPY_HOME : GPU_COPY_HERE;
	const uint64_t number = GPU_RUN_COPY_OF(way, engine_copy_cycles(&ctx->spec, copy));
	struct err err = { "" };
	int ret = copy->dst ? -EOPNOTSUPP : stream->id ? kmod_meet_engine(ctx, &err) : 0;

	if (!ret)
		ret = collect(ctx, GPU_RUN_COPY, stream->id, &number, sizeof(number), &err);
	return ret ? ret : go_on(ctx, stream, &err);
}

static int halt(struct gpuemu_ctx *ctx, uint32_t kind, const struct gpuemu_stream *stream,
		uint64_t number, struct err *err)
{
	int ret = kmod_meet_engine(ctx, err);

	return ret ? ret : collect(ctx, kind, stream->id, &number, sizeof(number), err);
}

int kmod_halt_after(struct gpuemu_ctx *ctx, const struct gpuemu_stream *stream,
		    uint64_t instructions, struct err *err)
{
	return halt(ctx, GPU_RUN_HALT, stream, instructions, err);
}

int kmod_halt_at(struct gpuemu_ctx *ctx, const struct gpuemu_stream *stream, uint64_t cycle,
		 struct err *err)
{
	return halt(ctx, GPU_RUN_HALT_AT, stream, cycle, err);
}
