// SPDX-License-Identifier: GPL-2.0
/*
 * Instructions of several lanes of a warp: bar.warp.sync, shfl.sync, vote.sync, match.sync and
 * redux.sync wait for the lanes that they name, as on sm_70 and newer. Lanes that are here do it at
 * once if all that it names are with them, or have exited. If not, the others go first until they
 * stand at such an instruction too. Two that are of one kind and name the same lanes are one
 * instruction, wherever they are: its lanes read each other's values, and each set of lanes then
 * goes on from where it stands. If no lanes are left that could go, it is done with those here.
 *
 * A barrier of the CTA names no lanes. It waits for all that can come where lanes were taken apart,
 * here or by spin.c, and for none elsewhere.
 *
 * Lanes that wait at a point of reconvergence below go on for a bar.warp.sync only. For a shuffle
 * they would be at another instruction when their registers are read. warp.c and pack.c call it.
 */
#include <string.h>

#include "exec/chains.h"

static const struct exec_op *op_at(const struct exec_warp *warp, uint32_t pc)
{
	return &program_of(warp)->ops[pc];
}

static uint32_t guarded(const struct exec_warp *warp, const struct exec_op *op, uint32_t mask)
{
	return op->guard ? mask & (*pred_at(warp->arena, op->guard) ^ op->guard_flip) : mask;
}

bool sync_stands(const struct exec_warp *warp, const struct exec_stack_entry *entry)
{
	return entry->pc < program_of(warp)->kernel->ninsns && op_at(warp, entry->pc)->sync &&
	       (entry->mask & ~warp->exited & ~warp->met);
}

uint32_t sync_members(const struct exec_warp *warp, uint32_t pc, uint32_t mask)
{
	const struct exec_op *op = op_at(warp, pc);
	uint32_t members = 0, rest;
	const uint32_t *row;

	if (op->sync < SYNC_MEMBERS)
		return op->sync ? ALL_LANES : 0;
	row = row32(warp->arena, op->src[op->sync - SYNC_MEMBERS]);
	for (rest = guarded(warp, op, mask & ~warp->exited); rest; rest &= rest - 1)
		members |= row[__builtin_ctz(rest)];
	return members;
}

uint32_t sync_misses(const struct exec_warp *warp, uint32_t pc)
{
	return sync_members(warp, pc, warp->mask) & spin_alive(warp) & ~warp->mask;
}

/* Lanes that stand at this instruction, each for itself beside ours, do it with us. */
static void join_here(struct exec_warp *warp)
{
	struct exec_stack_entry *s = warp->stack;
	uint32_t i = warp->depth - 1, lanes, k, at, lowest = spin_lowest(warp, i, &lanes);

	for (k = i; k-- > lowest;) {
		bool alone = s[k].reconv == s[i].reconv && s[k + 1].reconv == s[i].reconv;

		if (!alone || s[k].pc != warp->pc || s[k].mask & warp->met)
			continue;
		s[i].mask |= s[k].mask;
		for (at = k; at < i; at++)
			s[at] = s[at + 1];
		i--;
		warp->depth--;
	}
	stack_load_top(warp);
}

/* A chain beside the running one: entries [from, to). */
struct chain {
	uint32_t level, lowest, from, to;
};

/* The next chain below, the nearest first; false: there is none. level is UINT32_MAX at first. */
static bool next_chain(const struct exec_warp *warp, struct chain *c)
{
	const struct exec_stack_entry *s = warp->stack;
	uint32_t base = spin_first_entry(warp), lanes;

	if (c->level == UINT32_MAX) {
		c->level = c->from = warp->depth - 1;
		c->lowest = spin_lowest(warp, c->level, &lanes);
	}
	while (c->from == c->lowest) {
		if (c->lowest <= base)
			return false;
		c->level = c->from = c->lowest - 1;
		c->lowest = spin_lowest(warp, c->level, &lanes);
	}
	c->to = c->from;
	do {
		c->from--;
	} while (c->from > c->lowest && s[c->from].reconv != s[c->level].reconv);
	return true;
}

/* Lanes of `wanted` that wait where others meet go on; false: none do. */
static bool release(struct exec_warp *warp, uint32_t wanted)
{
	const struct exec_stack_entry *s = warp->stack;
	uint32_t base = spin_first_entry(warp), i = warp->depth - 1, lowest, lanes, waiting;

	for (;;) {
		lowest = spin_lowest(warp, i, &lanes);
		if (lowest <= base)
			return false;
		waiting = s[lowest - 1].mask & ~lanes & spin_alive(warp);
		if (waiting & wanted && !sync_stands(warp, &s[lowest - 1])) {
			spin_release(warp, lowest, waiting);
			return true;
		}
		i = lowest - 1;
	}
}

/*
 * True: lanes that we wait for can go on, or lanes for which those wait, and run now. Each set of
 * lanes that waits adds those that it waits for, until none is added.
 */
static bool others_first(struct exec_warp *warp, uint32_t wanted)
{
	uint32_t before;

	do {
		struct chain c = { .level = UINT32_MAX };

		before = wanted;
		while (next_chain(warp, &c)) {
			const struct exec_stack_entry *top = &warp->stack[c.to - 1];

			if (!(warp->stack[c.from].mask & spin_alive(warp) & wanted))
				continue;
			if (!sync_stands(warp, top)) {
				spin_rotate(warp, c.from, c.to);
				return true;
			}
			wanted |= sync_members(warp, top->pc, top->mask);
		}
	} while (wanted != before);
	return false;
}

static bool same_kind(const struct exec_warp *warp, uint32_t a, uint32_t b)
{
	const struct ptx_insn *x = insn_of(warp, op_at(warp, a));
	const struct ptx_insn *y = insn_of(warp, op_at(warp, b));

	return x->opcode == y->opcode && x->type == y->type && x->atom == y->atom &&
	       op_at(warp, a)->kind == op_at(warp, b)->kind &&
	       op_at(warp, a)->fn == op_at(warp, b)->fn;
}

/* What a lane brings to an instruction: its first source, as 64 bits. */
static uint64_t brings(const struct exec_warp *warp, const struct exec_op *op, bool predicate,
		       bool wide, uint32_t lane)
{
	if (predicate)
		return (*pred_at(warp->arena, op->src[0]) ^ -(uint32_t)(op->flip & 1)) >> lane & 1;
	return wide ? row64(warp->arena, op->src[0])[lane] : row32(warp->arena, op->src[0])[lane];
}

/* The lanes `own` of all those in `lanes` do the instruction at pc; values: what each brings. */
static void exchange(struct exec_warp *warp, uint32_t pc, uint32_t own, uint32_t lanes,
		     const uint64_t *values)
{
	const struct ptx_insn *insn = insn_of(warp, op_at(warp, pc));
	struct exec_op op = *op_at(warp, pc);
	bool predicate = insn->opcode == PTX_OP_vote, wide = ptx_type_bytes(insn->type) == 8;
	uint32_t rows[3] = { op.src[0], op.dst[0], op.dst[1] }, i, lane, new[3] = { 0 };
	uint8_t saved[3][ROW8];
	uint32_t bytes[3] = { predicate ? 4 : wide ? ROW8 : ROW8 / 2,
			      predicate && insn->atom != PTX_VOTE_BALLOT ? 4 : ROW8 / 2, 4 };

	for (i = 0; i < 3; i++)
		memcpy(saved[i], warp->arena + rows[i], bytes[i]);
	op.flip &= ~1u;
	for (lane = 0; lane < WARP_LANES; lane++) {
		if (predicate)
			new[0] |= (uint32_t)values[lane] << lane;
		else if (wide)
			row64(warp->arena, rows[0])[lane] = values[lane];
		else
			row32(warp->arena, rows[0])[lane] = values[lane];
	}
	if (predicate)
		*pred_at(warp->arena, rows[0]) = new[0];
	op.fn(warp->arena, &op, lanes);
	/* The others' results are not theirs, and what they brought goes where it was. */
	for (i = 3; i-- > 0;) {
		uint32_t keep = i ? own : 0;

		if (rows[i] == NO_ROW || (!i && (rows[0] == rows[1] || rows[0] == rows[2])))
			continue;
		if (bytes[i] == 4) {
			uint32_t old;

			memcpy(&old, saved[i], 4);
			*pred_at(warp->arena, rows[i]) = (*pred_at(warp->arena, rows[i]) & keep) |
							 (old & ~keep);
			continue;
		}
		for (lane = 0; lane < WARP_LANES; lane++) {
			uint32_t size = bytes[i] / WARP_LANES;

			if (!(keep >> lane & 1))
				memcpy(warp->arena + rows[i] + lane * size, saved[i] + lane * size,
				       size);
		}
	}
}

/* All that we wait for stand at an instruction of this kind: it is done for them too. */
static enum sync_met meet(struct exec_warp *warp)
{
	const struct exec_op *op = op_at(warp, warp->pc);
	const struct ptx_insn *insn = insn_of(warp, op);
	uint32_t own = guarded(warp, op, warp->mask);
	uint32_t members = sync_members(warp, warp->pc, own);
	bool wide = ptx_type_bytes(insn->type) == 8, predicate = insn->opcode == PTX_OP_vote;
	uint32_t pcs[WARP_LANES], masks[WARP_LANES], n = 0, lanes = own, i, rest;
	struct chain c = { .level = UINT32_MAX };
	uint64_t values[WARP_LANES] = { 0 };

	while (next_chain(warp, &c)) {
		const struct exec_stack_entry *top = &warp->stack[c.to - 1];
		uint32_t mask = top->mask & spin_alive(warp);

		if (!(mask & members) || !sync_stands(warp, top) ||
		    !same_kind(warp, top->pc, warp->pc) ||
		    sync_members(warp, top->pc, mask) != members)
			continue;
		warp->met |= mask;
		pcs[n] = top->pc;
		masks[n] = guarded(warp, op_at(warp, top->pc), mask);
		lanes |= masks[n++];
	}
	if (!n || op->kind != OP_LANES || op->fn == sequence_run || op->fresh)
		return SYNC_GO;
	pcs[n] = warp->pc;
	masks[n++] = own;
	/* Registers that no lane here brings are read as they are: a shuffle from beyond. */
	for (rest = ALL_LANES; rest; rest &= rest - 1)
		values[__builtin_ctz(rest)] = brings(warp, op, predicate, wide,
						     __builtin_ctz(rest));
	for (i = 0; i < n; i++) {
		for (rest = masks[i]; rest; rest &= rest - 1)
			values[__builtin_ctz(rest)] = brings(warp, op_at(warp, pcs[i]), predicate,
							     wide, __builtin_ctz(rest));
	}
	for (i = 0; i < n; i++)
		exchange(warp, pcs[i], masks[i], lanes, values);
	return SYNC_DONE;
}

enum sync_met sync_gather(struct exec_warp *warp)
{
	const struct exec_op *op = op_at(warp, warp->pc);
	uint32_t missing;

	if (warp->met & warp->mask) {
		warp->met &= ~warp->mask;
		return SYNC_DONE;
	}
	if (op->sync < SYNC_MEMBERS && !warp->split)
		return SYNC_GO;
	missing = sync_misses(warp, warp->pc);
	if (missing) {
		enum sync_met met = SYNC_GO;

		spin_keep(warp);
		join_here(warp);
		missing = sync_misses(warp, warp->pc);
		if (missing && others_first(warp, missing))
			return SYNC_OTHERS;
		if (missing && op->kind == OP_NOP && release(warp, missing))
			return SYNC_OTHERS;
		if (missing && op->sync >= SYNC_MEMBERS)
			met = meet(warp);
		warp->split = warp->mask != spin_alive(warp);
		return met;
	}
	warp->split = warp->mask != spin_alive(warp);
	return SYNC_GO;
}
