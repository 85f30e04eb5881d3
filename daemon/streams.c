// SPDX-License-Identifier: GPL-2.0
/*
 * Works of streams, between a client's payloads and its session: taken, kept, run as far as the
 * client waits, and reported. When they run is works.c's, in what order the gpu room's.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/account.h"
#include "streams.h"

#define VA_END	(1ull << 47)	/* managed memory lies below (GPUEMU_VA_BITS) */

/* A work that was taken; on the list when it has ended. */
struct ended {
	struct ended *next;
	struct streams *streams;
	struct gpu_run_ended is;
	struct err err;
	char *output;
};

void streams_init(struct streams *s, struct gpu_session *gpu)
{
	*s = (struct streams){ .gpu = gpu };
	s->end = &s->ended;
}

static void forget_ended(struct streams *s)
{
	struct ended *e = s->ended, *next;

	for (; e; e = next) {
		next = e->next;
		free(e->output);
		free(e);
	}
	s->ended = NULL;
	s->end = &s->ended;
}

void streams_fini(struct streams *s)
{
	gpu_session_cancel(s->gpu);
	forget_ended(s);
}

bool streams_keep(const struct streams *s)
{
	return gpu_session_queued(s->gpu);
}

bool streams_out_of_reach(uint64_t addr, uint64_t bytes)
{
	return addr >= VA_END || bytes > VA_END - addr;
}

/* --- taking -------------------------------------------------------------------------- */

static void add(struct ended *e, int status)
{
	struct streams *s = e->streams;

	e->is.status = status;
	s->lost |= status == -ENODEV;
	*s->end = e;
	s->end = &e->next;
}

static void done(void *ctx, int status, uint64_t fault_addr, const struct err *err,
		 char *output, size_t bytes)
{
	struct ended *e = ctx;

	const struct account *account = account_now();

	e->is.fault_addr = fault_addr;
	if (status)
		e->err = *err;
	if (status == -ENOMEM && e->streams->limit && account && account->refused)
		err_set(&e->err, 0, "%.300s: %s", err->text, e->streams->limit);
	e->output = output;
	e->is.output_bytes = output ? (uint32_t)bytes : 0;
	add(e, status);
}

static void recorded(void *ctx, int status, uint64_t cycle)
{
	struct ended *e = ctx;

	e->is.cycle = cycle;
	add(e, status);
}

static int move(struct streams *s, const struct gpu_run_work *w, struct ended *e)
{
	const struct gpu_work_prefetch *p = &w->move;

	if (streams_out_of_reach(p->addr, p->bytes))
		return err_set(&e->err, -EFAULT,
			       "prefetch of %llu bytes at 0x%llx: no managed memory is there",
			       (unsigned long long)p->bytes, (unsigned long long)p->addr);
	return gpu_session_move(s->gpu, w->stream, p->addr, p->bytes, p->to_host, done, e);
}

static int delay(struct streams *s, const struct gpu_run_work *w, struct ended *e)
{
	int ret = gpu_session_delay(s->gpu, w->stream, w->number);

	return ret == -ERANGE ? err_set(&e->err, ret, "a delay until cycle %llu: at most %llu",
					(unsigned long long)w->number,
					(unsigned long long)GPU_CYCLE_MAX) : ret;
}

/* The client has moved the bytes. */
static void copied(void *ctx)
{
}

static int halt(struct streams *s, const struct gpu_run_work *w, struct ended *e)
{
	int ret = w->kind == GPU_RUN_HALT ?
		gpu_session_halt_after(s->gpu, w->stream, w->number) :
		gpu_session_halt_at(s->gpu, w->stream, w->number);

	return ret == -ENOSPC ? err_set(&e->err, ret, "%u streams have a target already",
					GPU_TARGETS_MAX) : ret;
}

/* *told: the work tells e of its end. */
static int submit(struct streams *s, const struct gpu_run_work *w, struct ended *e, bool *told)
{
	*told = true;
	switch (w->kind) {
	case GPU_RUN_LAUNCH:
		return gpu_session_submit(s->gpu, w->stream, &w->launch, done, e);
	case GPU_RUN_MOVE:
		return move(s, w, e);
	case GPU_RUN_COPY:
		return gpu_session_copy(s->gpu, w->stream, GPU_RUN_COPY_WAY(w->number),
					GPU_RUN_COPY_CYCLES(w->number), copied, done, e);
	case GPU_RUN_RECORD:
		e->is.mark = w->number;
		return gpu_session_record(s->gpu, w->stream, w->number, recorded, e);
	}
	*told = false;
	if (w->kind == GPU_RUN_AWAIT)
		return gpu_session_await(s->gpu, w->stream, w->number);
	return w->kind == GPU_RUN_DELAY ? delay(s, w, e) : halt(s, w, e);
}

/* A work's error is told in its stream, as the end of the others is. */
static int take(struct streams *s, const struct gpu_run_work *w)
{
	struct ended *e = calloc(1, sizeof(*e));
	bool told;
	int ret;

	if (!e)
		return -ENOMEM;
	e->streams = s;
	e->is.stream = w->stream;
	ret = submit(s, w, e, &told);
	if (ret)
		add(e, ret);
	else if (!told)
		free(e);
	return 0;
}

static int keep_until(const struct gpu_work_run *head, const uint32_t *streams,
		      struct streams_run *run)
{
	size_t bytes = head->nstreams * sizeof(*streams);

	run->hold = head->flags & GPU_RUN_HOLD;
	run->cycles = head->cycles;
	run->until.mark = head->mark;
	if (!bytes)
		return 0;
	run->streams = malloc(bytes);
	if (!run->streams)
		return -ENOMEM;
	memcpy(run->streams, streams, bytes);
	run->until.streams = run->streams;
	run->until.nstreams = head->nstreams;
	return 0;
}

void streams_run_free(struct streams_run *run)
{
	free(run->streams);
	run->streams = NULL;
}

static int no_memory(struct err *err)
{
	return err_set(err, -ENOMEM, "no memory for works of streams");
}

int streams_begin(struct streams *s, const void *payload, size_t bytes, uint32_t generation,
		  struct streams_run *run, struct err *err)
{
	const uint32_t *streams;
	struct gpu_work_run head;
	int ret;

	*run = (struct streams_run){ .left = 0 };
	ret = gpu_run_decode(payload, bytes, &head, &streams, &run->at);
	if (ret)
		return err_set(err, ret, "malformed works of streams: the client's library does "
			       "not fit this daemon");
	if (head.generation != generation)
		return err_set(err, -ESTALE, "works of streams that another engine had");
	if (head.flags & GPU_RUN_DROP) {
		gpu_session_cancel(s->gpu);
		forget_ended(s);
	}
	if (head.nitems > GPU_RUN_ITEMS - MIN(GPU_RUN_ITEMS, gpu_session_queued(s->gpu)))
		return err_set(err, -E2BIG, "more than %u works of streams wait", GPU_RUN_ITEMS);
	run->left = head.nitems;
	return keep_until(&head, streams, run) ? no_memory(err) : 0;
}

int streams_take(struct streams *s, const void *payload, struct streams_run *run, gpu_over *over,
		 void *ctx, struct err *err)
{
	struct gpu_run_work w;

	while (run->left) {
		gpu_run_next(payload, &run->at, &w);
		run->left--;
		if (take(s, &w))
			return no_memory(err);
		if (run->left && over(ctx))
			return 0;
	}
	run->stop = run->cycles ? gpu_session_now(s->gpu) + run->cycles : 0;
	return 0;
}

/* --- running and reporting ------------------------------------------------------------------ */

bool streams_go_on(struct streams *s, const struct streams_run *run, gpu_over *over, void *ctx)
{
	struct gpu_until until = run->until;
	uint64_t now = gpu_session_now(s->gpu);

	if (run->hold || (run->stop && now >= run->stop))
		return true;
	until.cycles = run->stop ? run->stop - now : 0;
	return gpu_session_go_until(s->gpu, &until, over, ctx);
}

static int add_all(const struct streams *s, struct gpu_run_items *items)
{
	int ret = 0;

	for (struct ended *e = s->ended; !ret && e; e = e->next) {
		if (e->is.status && !e->err.text[0])
			err_set(&e->err, 0, "%s", strerror(-e->is.status));
		e->is.message_bytes = (uint32_t)strlen(e->err.text);
		ret = gpu_run_report_add(items, &e->is, e->err.text, e->output);
	}
	return ret;
}

int streams_report(struct streams *s, char **report, size_t *bytes, struct err *err)
{
	struct gpu_run_report head = {
		.now = gpu_session_now(s->gpu), .kept = gpu_session_queued(s->gpu),
	};
	uint32_t busy[GPU_RUN_ITEMS];
	struct gpu_run_items items = { NULL };
	void *all;
	int ret;

	if (s->lost)
		return -ENODEV;
	head.nbusy = gpu_session_busy(s->gpu, busy, GPU_RUN_ITEMS);
	ret = add_all(s, &items);
	if (!ret)
		ret = gpu_run_report_encode(&head, busy, &items, &all, bytes);
	free(items.bytes);
	if (ret)
		return err_set(err, ret, "no memory for a report of works");
	*report = all;
	forget_ended(s);
	return 0;
}
