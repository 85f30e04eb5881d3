// SPDX-License-Identifier: GPL-2.0
/*
 * The scoreboard, and the end of instructions. A row of bits a warp, one a
 * physical register: RAW and WAW. There is no WAR: exec captured operands,
 * addresses and data at issue. Whatever ends an instruction comes through here,
 * the load/store unit's part of it included.
 */
#include "sm/scoreboard.h"

/*
 * A warp that has waited for memory has lost its registers from the caches of the host: those of
 * so many of its next instructions are asked for ahead. One that computes has them there.
 */
#define COLD_INSTS	24u

static inline void row_set(uint64_t *row, unsigned int reg)
{
	row[reg / 64] |= 1ull << (reg % 64);
}

static inline void row_clear(uint64_t *row, unsigned int reg)
{
	row[reg / 64] &= ~(1ull << (reg % 64));
}

static inline bool row_test(const uint64_t *row, unsigned int reg)
{
	return row[reg / 64] >> (reg % 64) & 1;
}

/* --- registers -------------------------------------------------------------- */

/* It is inlined so that the caller and it find the warp's places in the sets once. */
static inline __attribute__((always_inline)) void check_operands(struct sm *sm, unsigned int w)
{
	struct sm_warp *warp = &sm->warps.at[w];
	const struct sm_op *op = warp->op;
	struct sm_heads *h = &sm->heads;
	const uint16_t *check = warp->kernel->slots + op->slots;
	bool blocked = false, on_load = false;

	if (warp->kernel->words == 1) {
		blocked = warp->rows[0] & op->check_mask;
		on_load = warp->rows_long[0] & op->check_mask;
	} else if (warp->pending) {
		for (unsigned int i = 0; i < op->ncheck; i++) {
			if (!row_test(warp->rows, check[i]))
				continue;
			blocked = true;
			on_load |= row_test(warp->rows_long, check[i]);
		}
	}
	set_let(&h->blocked_long, w, on_load);
	set_let(&h->blocked, w, blocked);
	if (blocked)
		return;
	if (warp->cold) {
		warp->cold--;
		exec_prefetch(&warp->ex);
	}
}

void warp_check_order(struct sm *sm, unsigned int w)
{
	const struct accesses *a = &sm->accesses;
	const struct sm_op *op = sm->warps.at[w].op;
	struct sm_heads *h = &sm->heads;

	set_let(&h->wait_order, w, set_has(a->untranslated & h->valid & ~h->stray, w) &&
				   (op->ordered || (set_has(a->in_order, w) && op->memory)));
}

/*
 * The decoder takes the specifier out of the i-buffer, and the next instruction begins the phase.
 * It comes here when what is before it has issued: the phase does not change sooner.
 */
static void take_specifier(struct sm *sm, unsigned int w)
{
	struct sm_warp *warp = &sm->warps.at[w];
	uint64_t fault_addr;
	uint32_t active;

	exec_step(&warp->ex, &sm->issue.scratch, &active, &fault_addr, sm->env.err);
	sm_count(sm, warp_slot(sm, w), virtual.specifiers, 1);
	warp->next_pc = ++warp->ib_pc;
	if (!--warp->ib_count) {
		set_drop(&sm->heads.valid, w);
		set_add(&sm->fetch.empty, w);
	}
	warp_check(sm, w);
}

/* The head is a point: it passes at once, or is held until sm_resource_granted(). */
static void acquire(struct sm *sm, unsigned int w)
{
	struct sm_warp *warp = &sm->warps.at[w];

	if (warp->op->decoded) {
		take_specifier(sm, w);
		return;
	}
	warp->granted = mechanism_acquire(sm, w, warp->ib_pc);
	if (!warp->granted)
		set_add(&sm->heads.held, w);
}

void warp_check(struct sm *sm, unsigned int w)
{
	struct sm_warp *warp = &sm->warps.at[w];
	struct sm_heads *h = &sm->heads;

	set_drop(&h->wants[warp->unit], w);
	set_drop(&h->wait_order, w);
	if (!warp->ib_count || warp->ib_pc != warp->ex.pc) {
		set_let(&h->stray, w, warp->ib_count);
		set_drop(&h->blocked, w);
		set_drop(&h->blocked_long, w);
		return;
	}
	set_drop(&h->stray, w);
	warp->op = &warp->kernel->ops[warp->ib_pc];
	warp->unit = warp->op->unit;
	set_add(&h->wants[warp->unit], w);
	check_operands(sm, w);
	if (set_has(sm->accesses.untranslated, w))
		warp_check_order(sm, w);
	if ((warp->op->point || sm->mech.every) && !warp->granted && !set_has(h->held, w))
		acquire(sm, w);
}

void warp_flush(struct sm *sm, unsigned int w, uint32_t pc)
{
	struct sm_warp *warp = &sm->warps.at[w];

	warp->ib_count = 0;
	warp->next_pc = pc;
	set_drop(&sm->heads.valid, w);
	set_drop(&sm->heads.stray, w);
	if (set_has(sm->heads.live, w))
		set_add(&sm->fetch.empty, w);
}

void scoreboard_reserve(struct sm *sm, uint32_t inst)
{
	const struct sm_inst *in = sm_inst(sm, inst);
	struct sm_warp *warp = &sm->warps.at[in->warp];
	const uint16_t *write;

	warp->inflight++;
	if (!in->op->nwrite)
		return;
	warp->pending++;
	if (warp->kernel->words == 1) {
		warp->rows[0] |= in->op->write_mask;
		if (in->op->is_long)
			warp->rows_long[0] |= in->op->write_mask;
		return;
	}
	write = warp->kernel->slots + in->op->slots;
	for (unsigned int i = 0; i < in->op->nwrite; i++) {
		row_set(warp->rows, write[i]);
		if (in->op->is_long)
			row_set(warp->rows_long, write[i]);
	}
}

void inst_release(struct sm *sm, uint32_t inst)
{
	const struct sm_inst *in = sm_inst(sm, inst);
	unsigned int w = in->warp;
	struct sm_warp *warp = &sm->warps.at[w];

	if (!in->op->nwrite)
		return;
	if (in->op->is_long)
		warp->cold = COLD_INSTS;
	if (warp->kernel->words == 1) {
		warp->rows[0] &= ~in->op->write_mask;
		warp->rows_long[0] &= ~in->op->write_mask;
	} else {
		const uint16_t *write = warp->kernel->slots + in->op->slots;

		for (unsigned int i = 0; i < in->op->nwrite; i++) {
			row_clear(warp->rows, write[i]);
			row_clear(warp->rows_long, write[i]);
		}
	}
	if (!--warp->pending) {
		set_drop(&sm->heads.wait_fence, w);
		warp_note(sm, w);
	}
	if (set_has(sm->heads.blocked, w))
		check_operands(sm, w);
}

/* --- the end of an instruction ------------------------------------------------ */

void warp_check_finished(struct sm *sm, unsigned int w)
{
	const struct sm_warp *warp = &sm->warps.at[w];

	/* An atomic is under way until its last answer. */
	if (!warp->inflight && !warp->stores && !set_has(sm->fetch.stale, w))
		set_add(&sm->fetch.finished, w);
}

void inst_done(struct sm *sm, uint32_t inst)
{
	inst_free(sm, inst);
}

void warp_stores(struct sm *sm, unsigned int w, int n)
{
	struct sm_warp *warp = &sm->warps.at[w];

	warp->stores += (uint32_t)n;
	if (!warp->stores && !set_has(sm->heads.live, w))
		warp_check_finished(sm, w);
}

void warp_atomics(struct sm *sm, unsigned int w, int n)
{
	struct sm_warp *warp = &sm->warps.at[w];

	warp->atomics += (uint32_t)n;
	mechanism_stalls(sm);
	if (warp->atomics)
		set_add(&sm->heads.wait_atomic, w);
	else {
		set_drop(&sm->heads.wait_atomic, w);
		warp_note(sm, w);
	}
}
