// SPDX-License-Identifier: GPL-2.0
/*
 * Streams with a target: when the kernels of one have executed so many thread instructions, or
 * the session's clock has reached a cycle, its running kernel gets no more CTAs on SMs, those
 * that are there execute nothing more, and its works that have not begun never do. Instructions
 * that they had issued are performed, then their registers, shared memory and slots are free
 * (Warped-Slicer, ISCA'16 section V: the simulation of an application that has reached its target
 * is halted and its resources are released). The halt is the same for every gpu.threads. Called
 * between quanta.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/array.h"
#include "gpu/loop.h"

static struct halt_target *target_of(const struct gpu_session *s, uint32_t stream)
{
	for (unsigned int i = 0; i < s->ntargets; i++)
		if (s->targets[i].stream == stream)
			return &s->targets[i];
	return NULL;
}

static int set_target(struct gpu_session *s, const struct halt_target *target)
{
	struct halt_target *t = target_of(s, target->stream);

	if (!t && s->ntargets == GPU_TARGETS_MAX)
		return -ENOSPC;
	if (!t) {
		if (array_grow(s->targets, s->target_room, s->ntargets))
			return -ENOMEM;
		t = &s->targets[s->ntargets++];
	}
	*t = *target;
	return 0;
}

int gpu_session_halt_after(struct gpu_session *s, uint32_t stream, uint64_t instructions)
{
	return set_target(s, &(struct halt_target){
		.stream = stream, .instructions = instructions, .cycle = NEVER });
}

int gpu_session_halt_at(struct gpu_session *s, uint32_t stream, uint64_t cycle)
{
	return set_target(s, &(struct halt_target){
		.stream = stream, .instructions = UINT64_MAX, .cycle = cycle });
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
	if (t->cycle != NEVER)
		return err_set(&r->err, -ECANCELED, "kernel '%s': its stream was halted at cycle %"
			       PRIu64, r->kernel->name, t->cycle);
	return err_set(&r->err, -ECANCELED, "kernel '%s': its stream was halted after %" PRIu64
		       " thread instructions", r->kernel->name, t->instructions);
}

bool halt_refuses(const struct loop *l, struct run *r)
{
	struct halt_target *t = target_of(l->s, r->stream);

	if (!t)
		return false;
	/* Its time came while none of its kernels ran. */
	t->halted |= t->cycle <= l->now;
	if (!t->halted)
		return false;
	r->status = say_halted(r, t);
	r->state = RUN_DONE;
	return true;
}

static void halt(const struct loop *l, struct halt_target *t, struct run *r,
		 uint64_t instructions, uint64_t upto)
{
	t->halted = true;
	r->stats.halted = true;
	r->stats.halted_cycle = upto;
	r->stats.halted_instructions = instructions;
	r->todo.ctas = r->todo.next;
	for (unsigned int i = 0; i < l->m->nsms; i++)
		sm_halt(l->m->sms[i], r->sm_kernel, upto - 1);
}

bool halt_watch(struct loop *l, uint64_t upto)
{
	bool any = false;

	if (!l->s->ntargets)
		return false;
	for (unsigned int k = 0; k < l->nrunning; k++) {
		struct run *r = l->running[k];
		struct halt_target *t = target_of(l->s, r->stream);
		uint64_t n;

		if (!t || t->halted)
			continue;
		n = t->executed + executed(l, r);
		if (n < t->instructions && upto < t->cycle)
			continue;
		halt(l, t, r, n, upto);
		any = true;
	}
	return any;
}

uint64_t halt_next(const struct loop *l)
{
	uint64_t next = NEVER;

	for (unsigned int k = 0; l->s->ntargets && k < l->nrunning; k++) {
		const struct halt_target *t = target_of(l->s, l->running[k]->stream);

		if (t && !t->halted)
			next = MIN(next, t->cycle);
	}
	return next;
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
