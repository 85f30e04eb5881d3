// SPDX-License-Identifier: GPL-2.0
/*
 * A session's works: they are submitted, and done when somebody waits. Nothing
 * runs before that; then everything does, as it would
 * have run had the GPU begun at once, until what is waited for has ended: waiting takes no
 * virtual time, so it makes no difference. Clients' threads do not come here, they take turns.
 */
#include <errno.h>
#include <stdlib.h>

#include "gpu/loop.h"

/* A halted run has an error, and statistics too. */
static void keep_stats(struct run *r)
{
	int ret = run_keep_stats(r);

	if (ret)
		r->status = ret;
}

/* Tells of works that ended in the order of submission, whichever ended first. */
static void tell(struct gpu_session *s)
{
	struct run **at = &s->queue, *r;

	while ((r = *at)) {
		size_t bytes = 0;
		char *text;

		if (r->state != RUN_DONE) {
			at = &r->next;
			continue;
		}
		*at = r->next;
		s->nqueued--;
		if ((!r->status || r->stats.halted) && r->kind == RUN_LAUNCH)
			keep_stats(r);
		if (r->recorded)
			r->recorded(r->ctx, r->status, r->until);
		text = output_take(&r->output, &bytes);
		if (r->done)
			r->done(r->ctx, r->status, r->fault_addr, &r->err, text, bytes);
		else
			free(text);
		run_destroy(r);
	}
	s->queue_end = at;
}

bool gpu_session_go_until(struct gpu_session *s, const struct gpu_until *until, gpu_over *over,
			  void *ctx)
{
	bool reached = true;
	struct run *r;

	if (!s->queue)
		return true;
	if (!s->machine->spec.functional)
		reached = loop_run(s, until, over, ctx);
	/* Without time there is nothing to overlap. */
	while (s->machine->spec.functional && (r = queue_ready(s, true))) {
		if (r->kind == RUN_LAUNCH)
			r->status = run_functional(r);
		else if (r->kind == RUN_COPY)
			r->copy.copied(r->ctx);
		r->state = RUN_DONE;
	}
	tell(s);
	return reached;
}

bool gpu_session_go_on(struct gpu_session *s, gpu_over *over, void *ctx)
{
	return gpu_session_go_until(s, NULL, over, ctx);
}

unsigned int gpu_session_queued(const struct gpu_session *s)
{
	return s->nqueued;
}

bool gpu_session_idle(const struct gpu_session *s, uint32_t stream)
{
	return queue_empty(s, stream);
}

static bool listed(const uint32_t *streams, unsigned int n, uint32_t stream)
{
	for (unsigned int i = 0; i < n; i++)
		if (streams[i] == stream)
			return true;
	return false;
}

unsigned int gpu_session_busy(const struct gpu_session *s, uint32_t *streams, unsigned int room)
{
	unsigned int n = 0;

	for (const struct run *r = s->queue; r && n < room; r = r->next)
		if (!listed(streams, n, r->stream))
			streams[n++] = r->stream;
	return n;
}

void gpu_session_cancel(struct gpu_session *s)
{
	if (s->queue)
		loop_cancel(s);
	tell(s);
}

uint64_t gpu_session_now(const struct gpu_session *s)
{
	return s->aside ? s->loop->now : s->now;
}

void session_finish(struct gpu_session *s)
{
	gpu_session_go_on(s, NULL, NULL);
}

int gpu_session_submit(struct gpu_session *s, uint32_t stream, const struct gpu_launch *l,
		       gpu_done *done, void *ctx)
{
	struct run *r = run_create(s, stream, l);

	if (!r)
		return -ENOMEM;
	r->done = done;
	r->ctx = ctx;
	queue_append(s, r);
	return 0;
}

int gpu_session_record(struct gpu_session *s, uint32_t stream, uint64_t mark,
		       gpu_recorded *recorded, void *ctx)
{
	struct run *r = run_create_task(s, stream, RUN_RECORD);

	if (!r)
		return -ENOMEM;
	r->mark = mark;
	r->recorded = recorded;
	r->ctx = ctx;
	queue_append(s, r);
	return 0;
}

int gpu_session_await(struct gpu_session *s, uint32_t stream, uint64_t mark)
{
	struct run *r = run_create_task(s, stream, RUN_AWAIT);

	if (!r)
		return -ENOMEM;
	r->mark = mark;
	queue_append(s, r);
	return 0;
}

bool gpu_session_recorded(const struct gpu_session *s, uint64_t mark)
{
	return !queue_mark_pending(s, mark, NULL);
}

int gpu_session_delay(struct gpu_session *s, uint32_t stream, uint64_t cycle)
{
	struct run *r;

	if (cycle > GPU_CYCLE_MAX)
		return -ERANGE;
	r = run_create_task(s, stream, RUN_DELAY);
	if (!r)
		return -ENOMEM;
	r->until = cycle;
	queue_append(s, r);
	return 0;
}

void gpu_session_finish(struct gpu_session *s)
{
	session_finish(s);
}

int gpu_session_move(struct gpu_session *s, uint32_t stream, uint64_t addr, uint64_t bytes,
		     bool home, gpu_done *done, void *ctx)
{
	struct run *r = run_create_task(s, stream, RUN_MOVE);

	if (!r)
		return -ENOMEM;
	r->move.addr = addr;
	r->move.bytes = bytes;
	r->move.home = home;
	r->done = done;
	r->ctx = ctx;
	queue_append(s, r);
	return 0;
}

int gpu_session_copy(struct gpu_session *s, uint32_t stream, enum gpu_copy way, uint64_t cycles,
		     gpu_copied *copied, gpu_done *done, void *ctx)
{
	struct run *r = run_create_task(s, stream, RUN_COPY);

	if (!r)
		return -ENOMEM;
	r->copy.cycles = cycles;
	r->copy.copied = copied;
	r->copy.way = (uint8_t)way;
	r->done = done;
	r->ctx = ctx;
	queue_append(s, r);
	return 0;
}

/* --- at once -------------------------------------------------------------------- */

int gpu_session_prefetch(struct gpu_session *s, uint64_t addr, uint64_t bytes, struct err *err)
{
	session_finish(s);
	return move_here(s, addr, bytes, err);
}

int gpu_session_prefetch_host(struct gpu_session *s, uint64_t addr, uint64_t bytes,
			      struct err *err)
{
	session_finish(s);
	return move_home(s, addr, bytes, err);
}

struct told {
	struct gpu_session *s;
	int status;
	uint64_t fault_addr;
	struct err *err;
};

static void keep(void *ctx, int status, uint64_t fault_addr, const struct err *err,
		 char *output, size_t bytes)
{
	struct told *told = ctx;

	told->status = status;
	told->fault_addr = fault_addr;
	if (status && told->err)
		*told->err = *err;
	told->s->output = (struct output){ .text = output, .bytes = bytes };
}

int gpu_session_launch(struct gpu_session *s, const struct gpu_launch *l,
		       uint64_t *fault_addr, struct err *err)
{
	struct told told = { .s = s, .err = err };
	int ret;

	session_finish(s);
	output_clear(&s->output);
	ret = gpu_session_submit(s, 0, l, keep, &told);
	if (ret)
		return err_set(err, ret, "out of memory");
	session_finish(s);
	if (fault_addr)
		*fault_addr = told.fault_addr;
	return told.status;
}
