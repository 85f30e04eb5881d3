// SPDX-License-Identifier: GPL-2.0
/*
 * bar and barrier: what the warp that arrives brings, when a phase is complete, and
 * what the warp gets. The caller knows which warps wait (sm/barrier.c with time,
 * grid.c without). A warp arrives as one, whichever of its
 * lanes are active (PTX ISA, bar: per warp, as if all the threads in it were).
 */
#include "exec/private.h"

enum exec_outcome barrier_step(struct exec_warp *warp, const struct exec_op *op, uint32_t mask,
			       struct exec_access *access, struct err *err)
{
	const struct ptx_insn *insn = insn_of(warp, op);
	uint32_t lane = __builtin_ctz(mask);
	uint32_t number = row32(warp->arena, op->src[0])[lane];
	bool reduces = insn->atom >= PTX_BAR_RED_POPC && insn->atom <= PTX_BAR_RED_OR;
	bool counted = insn->nsrc > (reduces ? 2 : 1);
	uint32_t threads = counted ? row32(warp->arena, op->src[1])[lane] : 0;

	if (number >= EXEC_BARRIERS)
		return trap(warp, insn, mask, err, "barrier %u does not exist (0 to %u)", number,
			    EXEC_BARRIERS - 1);
	if (threads % WARP_LANES)
		return trap(warp, insn, mask, err,
			    "a barrier of %u threads, which is no multiple of 32", threads);
	if (counted && !threads)
		return trap(warp, insn, mask, err, "a barrier of 0 threads");
	access->insn = insn;
	access->barrier = number;
	access->barrier_threads = threads;
	access->barrier_kind = insn->atom == PTX_ATOM_NONE ? PTX_BAR_SYNC : insn->atom;
	access->barrier_true = access->barrier_lanes = 0;
	if (reduces) {
		uint32_t p = *pred_at(warp->arena, op->src[insn->nsrc - 1]) ^
			     -(uint32_t)(op->flip >> (insn->nsrc - 1) & 1);

		access->barrier_true = __builtin_popcount(p & mask);
		access->barrier_lanes = __builtin_popcount(mask);
		warp->waiting = warp->pc;
		warp->waiting_lanes = mask;
	}
	stack_advance(warp);
	return EXEC_BARRIER;
}

bool exec_barrier_arrive(struct exec_barrier *barrier, const struct exec_access *access,
			 uint32_t cta_threads)
{
	uint32_t threads = access->barrier_threads ? access->barrier_threads : cta_threads;

	if (barrier->threads && barrier->expected != threads)
		return false;
	barrier->expected = threads;
	barrier->threads += WARP_LANES;
	barrier->whole |= !access->barrier_threads;
	barrier->votes += access->barrier_true;
	barrier->voters += access->barrier_lanes;
	return true;
}

bool exec_barrier_complete(const struct exec_barrier *barrier, bool all_here)
{
	if (!barrier->threads)
		return false;
	return barrier->whole ? all_here : barrier->threads >= barrier->expected;
}

void exec_barrier_release(struct exec_warp *warp, const struct exec_barrier *barrier)
{
	uint32_t count = barrier->votes;
	const struct exec_program *program = program_of(warp);
	const struct exec_op *op = &program->ops[warp->waiting];
	uint32_t lanes = warp->waiting_lanes, rest, value, *p;

	if (!lanes)
		return;
	warp->waiting_lanes = 0;
	if (op->dst[0] == NO_ROW)
		return;
	if (op->atom == PTX_BAR_RED_POPC) {
		for (rest = lanes; rest; rest &= rest - 1)
			row32(warp->arena, op->dst[0])[__builtin_ctz(rest)] = count;
		return;
	}
	value = (op->atom == PTX_BAR_RED_AND ? count == barrier->voters : count != 0) ?
		ALL_LANES : 0;
	p = pred_at(warp->arena, op->dst[0]);
	*p = (*p & ~lanes) | (value & lanes);
}
