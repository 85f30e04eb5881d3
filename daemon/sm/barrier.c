// SPDX-License-Identifier: GPL-2.0
/*
 * Barriers of a CTA (PTX ISA, bar and barrier): who has arrived, who waits, and
 * when a phase is complete. A warp arrives whole, however many of its lanes
 * are active. issue.c calls it, cta.c when a warp exits.
 */
#include <errno.h>

#include "sm/internal.h"

static bool complete(const struct sm_cta *cta, const struct barrier *b)
{
	if (!set_any(b->arrived))
		return false;
	if (b->whole)
		return !set_any(cta->running & ~b->arrived);
	return b->threads >= b->expected;
}

static void release(struct sm *sm, struct barrier *b)
{
	unsigned int w;

	for_each_warp(w, b->waiting) {
		struct sm_warp *warp = &sm->warps[w];

		if (warp->reduces)
			exec_barrier_release(&warp->ex, b->votes, b->voters);
	}
	sm->wait_barrier &= ~b->waiting;
	if (sm->mech.ops->by_warp)
		sm->mech.passed |= b->waiting;
	/* The next phase begins with nobody. */
	*b = (struct barrier){ 0 };
}

static void refuse(struct sm *sm, unsigned int w, uint32_t line, uint32_t threads,
		   uint32_t expected)
{
	const struct sm_warp *warp = &sm->warps[w];
	const struct ptx_kernel *k = exec_program_kernel(warp->kernel->launch->program);
	const uint32_t *id = sm->ctas[warp->cta].ex.ctaid;

	err_set(sm->env.err, 0,
		"kernel '%s': barrier %u: %u threads, but who came before expects %u "
		"(%s line %u, warp %u of CTA (%u,%u,%u))", k->name, warp->barrier, threads,
		expected, k->module, line, warp->ex.index, id[0], id[1], id[2]);
	sm_fail(sm, -ECANCELED, 0, warp->kernel);
}

/* exec has seen to it that the number is below BARRIERS and the threads whole warps. */
void barrier_arrive(struct sm *sm, unsigned int w, const struct exec_access *access)
{
	struct sm_warp *warp = &sm->warps[w];
	struct sm_cta *cta = &sm->ctas[warp->cta];
	uint32_t all = warp->kernel->warps_per_cta * WARP_LANES;
	uint32_t threads = access->barrier_threads ? access->barrier_threads : all;
	struct barrier *b = &cta->barriers[access->barrier];

	warp->barrier = (uint8_t)access->barrier;
	if (b->expected && b->expected != threads) {
		refuse(sm, w, access->insn->line, threads, b->expected);
		return;
	}
	b->expected = threads;
	b->arrived |= set_of(w);
	b->threads += WARP_LANES;
	b->whole |= !access->barrier_threads;
	warp->reduces = access->barrier_kind >= PTX_BAR_RED_POPC &&
			access->barrier_kind <= PTX_BAR_RED_OR;
	if (warp->reduces) {
		b->votes += access->barrier_true;
		b->voters += access->barrier_lanes;
	}
	if (access->barrier_kind != PTX_BAR_ARRIVE) {
		b->waiting |= set_of(w);
		sm->wait_barrier |= set_of(w);
		if (sm->mech.ops->by_warp)
			sm->mech.waits |= set_of(w);
	}
	if (complete(cta, b))
		release(sm, b);
}

void barrier_exited(struct sm *sm, struct sm_cta *cta)
{
	for (unsigned int i = 0; i < BARRIERS; i++) {
		struct barrier *b = &cta->barriers[i];

		/* Those who wait for all wait for one fewer. */
		if (b->whole && complete(cta, b))
			release(sm, b);
	}
}
