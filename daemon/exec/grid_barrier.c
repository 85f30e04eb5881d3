// SPDX-License-Identifier: GPL-2.0
/* Barriers of a CTA without time: the warps that wait, and those that go on. Called by pack.c. */
#include <errno.h>
#include <string.h>

#include "exec/grid.h"

static void release_if_complete(struct grid_cta *cta, uint32_t number)
{
	struct grid_barrier *barrier = &cta->barriers[number];
	uint32_t w;

	if (!exec_barrier_complete(&barrier->phase, barrier->arrived == cta->live))
		return;
	for (w = 0; w < cta->nwarps; w++) {
		struct grid_warp *warp = &cta->warps[w];

		warp->arrived &= ~(1u << number);
		if (warp->state != WARP_WAITING || warp->barrier != number)
			continue;
		exec_barrier_release(&warp->ex, &barrier->phase);
		warp->state = WARP_READY;
	}
	memset(barrier, 0, sizeof(*barrier));
}

int grid_arrive(struct grid_cta *cta, struct grid_warp *warp, const struct exec_access *access,
		struct err *err)
{
	struct grid_barrier *barrier = &cta->barriers[access->barrier];
	uint32_t all = cta->nwarps * WARP_LANES;

	if (!exec_barrier_arrive(&barrier->phase, access, all)) {
		trap(&warp->ex, access->insn, warp->ex.mask, err,
		     "barrier %u: %u threads, but who came before expects %u", access->barrier,
		     access->barrier_threads ? access->barrier_threads : all,
		     barrier->phase.expected);
		return -EINVAL;
	}
	barrier->arrived += !(warp->arrived >> access->barrier & 1);
	barrier->insn = access->insn;
	warp->arrived |= 1u << access->barrier;
	if (access->barrier_kind != PTX_BAR_ARRIVE) {
		warp->state = WARP_WAITING;
		warp->barrier = access->barrier;
	}
	release_if_complete(cta, access->barrier);
	if (!warp->ex.mask)
		grid_exited(cta, warp);
	return 0;
}

void grid_exited(struct grid_cta *cta, struct grid_warp *warp)
{
	uint32_t i;

	warp->state = WARP_EXITED;
	cta->live--;
	/* A warp that waits for all of the CTA waits for those that are left. */
	for (i = 0; i < ARRAY_SIZE(cta->barriers); i++) {
		cta->barriers[i].arrived -= warp->arrived >> i & 1;
		if (cta->barriers[i].phase.whole)
			release_if_complete(cta, i);
	}
}
