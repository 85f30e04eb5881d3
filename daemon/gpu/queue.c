// SPDX-License-Identifier: GPL-2.0
/*
 * What a session was asked to do and has not done: launches of all streams in the
 * order of submission. Nothing runs before somebody waits; then everything does,
 * as it would have run had the GPU begun at once: waiting takes no virtual time, so
 * it makes no difference. Clients' threads do not come here, they take turns.
 */
#include <errno.h>
#include <stdlib.h>

#include "gpu/internal.h"

struct run *queue_ready(struct gpu_session *s)
{
	bool others = false;	/* something before this one has not ended */

	for (struct run *r = s->queue; r; r = r->next) {
		bool turn = !others || r->stream;

		if (r->state == RUN_DONE)
			continue;
		for (struct run *before = s->queue; turn && before != r; before = before->next)
			turn = before->state == RUN_DONE ||
			       (before->stream && before->stream != r->stream);
		if (turn && r->state == RUN_QUEUED)
			return r;
		others = true;
	}
	return NULL;
}

/* Told in the order of submission, whichever ended first. */
static void tell(struct gpu_session *s)
{
	struct run *r;

	while ((r = s->queue)) {
		size_t bytes = 0;
		char *text;

		s->queue = r->next;
		if (!r->status)
			r->status = run_keep_stats(r);
		text = output_take(&r->output, &bytes);
		r->done(r->ctx, r->status, r->fault_addr, &r->err, text, bytes);
		run_destroy(r);
	}
	s->queue_end = &s->queue;
}

bool gpu_session_go_on(struct gpu_session *s, gpu_over *over, void *ctx)
{
	struct run *r;

	if (!s->queue)
		return true;
	if (!s->machine->spec.functional && !loop_run(s, over, ctx))
		return false;
	/* Without time there is nothing to overlap. */
	while (s->machine->spec.functional && (r = queue_ready(s))) {
		r->status = run_functional(r);
		r->state = RUN_DONE;
	}
	tell(s);
	return true;
}

void queue_finish(struct gpu_session *s)
{
	gpu_session_go_on(s, NULL, NULL);
}

static void append(struct gpu_session *s, struct run *r)
{
	if (!s->queue)
		s->queue_end = &s->queue;
	*s->queue_end = r;
	s->queue_end = &r->next;
}

int gpu_session_submit(struct gpu_session *s, uint32_t stream, const struct gpu_launch *l,
		       gpu_done *done, void *ctx)
{
	struct run *r = run_create(s, stream, l);

	if (!r)
		return -ENOMEM;
	r->done = done;
	r->ctx = ctx;
	append(s, r);
	return 0;
}

void gpu_session_finish(struct gpu_session *s)
{
	queue_finish(s);
}

/* --- one launch, at once ------------------------------------------------------- */

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

	queue_finish(s);
	output_clear(&s->output);
	ret = gpu_session_submit(s, 0, l, keep, &told);
	if (ret)
		return err_set(err, ret, "out of memory");
	queue_finish(s);
	if (fault_addr)
		*fault_addr = told.fault_addr;
	return told.status;
}
