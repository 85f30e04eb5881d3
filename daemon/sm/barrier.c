// SPDX-License-Identifier: GPL-2.0
/*
 * Barriers of a CTA (PTX ISA, bar and barrier): which warps have arrived, which wait, and
 * when a phase is complete. A warp arrives whole, however many of its lanes
 * are active. issue.c calls it, cta.c when a warp exits.
 */
#include <errno.h>

#include "sm/state.h"

static bool complete(const struct sm_cta *cta, const struct barrier *b)
{
	return exec_barrier_complete(&b->phase, !set_any(cta->running & ~b->arrived));
}

static void release(struct sm *sm, struct barrier *b)
{
	unsigned int w;

	for_each_warp(w, b->waiting) {
		struct sm_warp *warp = &sm->warps.at[w];

		if (warp->reduces)
			exec_barrier_release(&warp->ex, &b->phase);
	}
	sm->heads.wait_barrier &= ~b->waiting;
	mechanism_stalls(sm);
	if (sm->mech.ops->by_warp) {
		sm->mech.passed |= b->waiting;
		sm->mech.news = true;
	}
	/* No warp has come to the next phase yet. */
	*b = (struct barrier){ 0 };
}

static void refuse(struct sm *sm, unsigned int w, uint32_t line, uint32_t threads,
		   uint32_t expected)
{
	const struct sm_warp *warp = &sm->warps.at[w];
	const struct ptx_kernel *k = exec_program_kernel(warp->kernel->launch->program);
	const uint32_t *id = sm->ctas.at[warp->cta].ex.ctaid;

	err_set(sm->env.err, 0,
		"kernel '%s': barrier %u: %u threads, but who came before expects %u "
		"(%s line %u, warp %u of CTA (%u,%u,%u))", k->name, warp->barrier, threads,
		expected, k->module, line, warp->ex.index, id[0], id[1], id[2]);
	sm_fail(sm, -ECANCELED, 0, warp->kernel);
}

/* exec has seen to it that the number is below EXEC_BARRIERS and the threads whole warps. */
void barrier_arrive(struct sm *sm, unsigned int w, const struct exec_access *access)
{
	struct sm_warp *warp = &sm->warps.at[w];
	struct sm_cta *cta = &sm->ctas.at[warp->cta];
	uint32_t all = warp->kernel->warps_per_cta * WARP_LANES;
	struct barrier *b = &cta->barriers[access->barrier];

	warp->barrier = (uint8_t)access->barrier;
	if (!exec_barrier_arrive(&b->phase, access, all)) {
		refuse(sm, w, access->insn->line,
		       access->barrier_threads ? access->barrier_threads : all, b->phase.expected);
		return;
	}
	set_add(&b->arrived, w);
	warp->reduces = access->barrier_kind >= PTX_BAR_RED_POPC &&
			access->barrier_kind <= PTX_BAR_RED_OR;
	if (access->barrier_kind != PTX_BAR_ARRIVE) {
		set_add(&b->waiting, w);
		set_add(&sm->heads.wait_barrier, w);
		mechanism_stalls(sm);
		if (sm->mech.ops->by_warp)
			mechanism_note(sm, &sm->mech.waits, w);
	}
	if (complete(cta, b))
		release(sm, b);
}

void barrier_exited(struct sm *sm, struct sm_cta *cta)
{
	for (unsigned int i = 0; i < EXEC_BARRIERS; i++) {
		struct barrier *b = &cta->barriers[i];

		/* A phase that all warps take part in now needs one warp fewer. */
		if (b->phase.whole && complete(cta, b))
			release(sm, b);
	}
}
