// SPDX-License-Identifier: GPL-2.0
/*
 * Streams with a target: when the kernels of one have executed so many thread instructions, its
 * running kernel gets no more CTAs on SMs, those that are there run to their end, and its
 * works that have not begun never do. So what the stream held is free as its CTAs end, nothing
 * that is in flight is lost, and the halt is the same for every gpu.threads. Called between quanta.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "gpu/internal.h"

static struct halt_target *target_of(const struct gpu_session *s, uint32_t stream)
{
	for (unsigned int i = 0; i < s->ntargets; i++)
		if (s->targets[i].stream == stream)
			return &s->targets[i];
	return NULL;
}

int gpu_session_halt_after(struct gpu_session *s, uint32_t stream, uint64_t instructions)
{
	struct halt_target *t = target_of(s, stream), *bigger;

	if (!t) {
		bigger = realloc(s->targets, (s->ntargets + 1) * sizeof(*bigger));
		if (!bigger)
			return -ENOMEM;
		s->targets = bigger;
		t = &bigger[s->ntargets++];
	}
	*t = (struct halt_target){ .stream = stream, .instructions = instructions };
	return 0;
}

static uint64_t executed(const struct loop *l, const struct run *r)
{
	uint64_t n = 0;

	for (unsigned int i = 0; i < l->m->nsms; i++)
		n += sm_share(l->m->sms[i], r->sm_kernel)->thread_instructions;
	return n;
}

static int say_halted(struct run *r, const struct halt_target *t)
{
	return err_set(&r->err, -ECANCELED, "kernel '%s': its stream was halted after %" PRIu64
		       " thread instructions", r->kernel->name, t->instructions);
}

bool halt_refuses(struct gpu_session *s, struct run *r)
{
	const struct halt_target *t = target_of(s, r->stream);

	if (!t || !t->halted)
		return false;
	r->status = say_halted(r, t);
	r->state = RUN_DONE;
	return true;
}

static void halt(struct halt_target *t, struct run *r)
{
	t->halted = true;
	r->stats.halted = true;
	r->todo.ctas = r->todo.next;
}

void halt_watch(struct loop *l)
{
	if (!l->s->ntargets)
		return;
	for (unsigned int k = 0; k < l->nrunning; k++) {
		struct run *r = l->running[k];
		struct halt_target *t = target_of(l->s, r->stream);

		if (t && !t->halted && t->executed + executed(l, r) >= t->instructions)
			halt(t, r);
	}
}

void halt_count(struct loop *l, struct run *r)
{
	struct halt_target *t = target_of(l->s, r->stream);

	if (!t)
		return;
	t->executed += r->stats.thread_instructions;
	if (r->stats.halted)
		r->status = say_halted(r, t);
}
