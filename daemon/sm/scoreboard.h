/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The scoreboard, and the end of instructions: scoreboard.c. Its rows are the warps'. Private to
 * the sm room.
 */
#ifndef GPUEMU_SM_SCOREBOARD_H
#define GPUEMU_SM_SCOREBOARD_H

#include "sm/mechanism.h"
#include "sm/state.h"

/* The instruction's registers are there: warps that wait may go on. Once an instruction. */
void inst_release(struct sm *sm, uint32_t inst);
/* The instruction left the pipeline; its index is free. After inst_release(), if it has results. */
void inst_done(struct sm *sm, uint32_t inst);
/* The i-buffer's head or what it is checked against has changed. */
void warp_check(struct sm *sm, unsigned int w);
/* The warp's i-buffer is emptied; it is fetched from pc. */
void warp_flush(struct sm *sm, unsigned int w, uint32_t pc);
/* The load/store unit adds n unacknowledged stores, or lanes of atomics (n < 0: fewer). */
void warp_stores(struct sm *sm, unsigned int w, int n);
void warp_atomics(struct sm *sm, unsigned int w, int n);
/* Called when accesses.untranslated has changed. */
void warp_check_order(struct sm *sm, unsigned int w);
/* If a warp has exited and nothing of it is under way, fetch gives it back. */
void warp_check_finished(struct sm *sm, unsigned int w);
void scoreboard_reserve(struct sm *sm, uint32_t inst);

/* A result or a page of the warp has come, and it waits for no other of its kind. */
static inline void warp_note(struct sm *sm, unsigned int w)
{
	if (!set_has(sm->heads.inactive, w))
		return;
	set_add(&sm->res.due, sm->warps.at[w].cta);
	sm->mech.look = true;
}

/* This is inst_done(), inlined. */
static inline void inst_free(struct sm *sm, uint32_t inst)
{
	struct sm_inst *in = sm_inst(sm, inst);
	unsigned int w = in->warp;

	in->next = sm->insts.unused;
	sm->insts.unused = inst;
	sm->insts.used--;
	sm->warps.at[w].inflight--;
	if (__builtin_expect(sm->mech.every, 0))
		mechanism_finished(sm, w, in->op->pc);
	if (__builtin_expect(!set_has(sm->heads.live, w), 0))
		warp_check_finished(sm, w);
}

#endif
