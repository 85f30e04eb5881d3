// SPDX-License-Identifier: GPL-2.0
/*
 * Accesses to shared memory that a mechanism maps in sets (struct sm_mechanism, shared_set). What
 * is on chip goes through the banks as ever. What is in swap is an access to memory, at an address
 * of the set's own, through L1D as one of local memory; an atomic goes past it. One instruction may
 * have lanes of both: it is done with the banks first, then its lines go out, one a cycle. The
 * bytes themselves were moved at issue. Called by ldst.c and port.c.
 */
#include "sm/ldst_internal.h"

/* The sets that the lanes access. Elements are aligned: each is in one set. */
static uint64_t sets_of(const struct sm *sm, const struct exec_access *a)
{
	uint64_t sets = 0;

	for (uint32_t lanes = a->touched; lanes; lanes &= lanes - 1)
		sets |= 1ull << a->addr[__builtin_ctz(lanes)] / sm->mech.shared_set;
	return sets;
}

/* The lanes whose sets are among these. */
static uint32_t lanes_of(const struct sm *sm, const struct exec_access *a, uint64_t sets)
{
	uint32_t of = 0;

	for (uint32_t lanes = a->touched; lanes; lanes &= lanes - 1) {
		unsigned int lane = (unsigned int)__builtin_ctz(lanes);

		of |= (uint32_t)(sets >> a->addr[lane] / sm->mech.shared_set & 1) << lane;
	}
	return of;
}

static void add_lines(struct sm *sm, struct access_entry *e, const struct sm_inst *inst,
		      uint32_t lanes, uint64_t swap)
{
	const struct exec_access *a = &e->access;
	uint64_t addr[WARP_LANES];

	for (unsigned int i = 0; i < WARP_LANES; i++)
		addr[i] = swap + a->addr[i];
	e->direct = inst->op->atomic;
	e->nlines = (uint16_t)(e->direct ? mem_coalesce_atomic(addr, lanes, a->bytes, e->lines) :
			       mem_coalesce(addr, lanes, a->bytes, e->lines));
	e->looked_up = e->nlines;
	sm_count(sm, warp_slot(sm, e->warp), virtual.scratchpad_lines, e->nlines);
	if (inst->op->atomic)
		warp_atomics(sm, inst->warp, e->nlines);
	else if (inst->op->store)
		warp_stores(sm, inst->warp, (int)entry_sectors(e));
}

void mapped_issue(struct sm *sm, uint32_t index, const struct exec_access *a)
{
	struct sm_inst *inst = sm_inst(sm, index);
	uint32_t entry = sm->ldst->free_entry, away, here;
	struct access_entry *e = entry_claim(sm->ldst, index, inst);
	uint64_t swap = 0, swapped;

	inst->entry = entry;
	/* The register's, and its end's: the sets stay where they are until then. */
	e->refs = 2;
	e->mapped = true;
	e->sets = sets_of(sm, a);
	e->nlines = 0;
	swapped = sm->mech.ops->shared_access(sm->mech.state, sm, inst->warp, e->sets, &swap);
	away = swapped ? lanes_of(sm, a, swapped) : 0;
	here = a->touched & ~away;
	if (away)
		add_lines(sm, e, inst, away, swap);
	if (!here) {
		inst->state = e->direct ? PATH_DIRECT : PATH_CACHED;
		inst->left = e->nlines;
		return;
	}
	inst->state = PATH_SHARED;
	inst->left = (uint16_t)mem_bank_cycles(a->addr, here, a->bytes,
					       (unsigned int)sm->spec->shared_banks);
	sm_count(sm, warp_slot(sm, inst->warp), shared_accesses, 1);
	sm_count(sm, warp_slot(sm, inst->warp), shared_conflict_cycles, inst->left - 1u);
	if (inst->op->atomic)
		warp_atomics(sm, inst->warp, 1);
}

bool mapped_lines(struct sm *sm, uint64_t now)
{
	struct ldst *l = sm->ldst;
	struct sm_inst *inst = sm_inst(sm, l->inst);
	const struct access_entry *e;

	if (inst->entry == NO_INDEX)
		return false;
	e = entry_at(l, inst->entry);
	if (!e->nlines)
		return false;
	/* A load waits for what the banks gave, too. */
	inst->left = (uint16_t)(e->nlines + !inst->op->store);
	inst->state = e->direct ? PATH_DIRECT : PATH_CACHED;
	l->stall += e->nlines;
	l->step = now + 1;
	return true;
}

void mapped_finish(struct sm *sm, uint32_t index)
{
	const struct sm_inst *inst = sm_inst(sm, index);
	struct access_entry *e;

	if (inst->entry == NO_INDEX)
		return;
	/* Another instruction may have the entry by now. */
	e = entry_at(sm->ldst, inst->entry);
	if (!e->used || !e->mapped || e->inst != index)
		return;
	e->mapped = false;
	sm->mech.ops->shared_done(sm->mech.state, sm, inst->warp, e->sets);
	entry_put(sm->ldst, inst->entry);
}
