// SPDX-License-Identifier: GPL-2.0
/*
 * One step of a warp: the guard, and who does the rest. The caller decides when
 * a step happens; nothing here knows of time. Whole grids do not go through
 * exec_step() but through pack.c, which shares everything else.
 */
#include <string.h>

#include "exec/private.h"

static void init_consts(struct exec_warp *warp)
{
	const struct exec_program *program = program_of(warp);
	uint32_t i, lane;

	for (i = 0; i < program->consts_cap; i++) {
		const struct exec_const *entry = &program->consts[i];

		if (entry->row == NO_ROW)
			continue;
		if (!entry->bytes) {
			*pred_at(warp->arena, entry->row) = entry->value;
			continue;
		}
		for (lane = 0; lane < WARP_LANES; lane++) {
			if (entry->bytes == 8)
				row64(warp->arena, entry->row)[lane] = entry->value;
			else
				row32(warp->arena, entry->row)[lane] = entry->value;
		}
	}
}

/* At the first instruction, all of the CTA's lanes on. */
static void start(struct exec_warp *warp)
{
	const struct exec_launch *launch = warp->cta->launch;
	const struct exec_program *program = launch->program;
	uint64_t threads = (uint64_t)launch->block[0] * launch->block[1] * launch->block[2];
	uint64_t first = (uint64_t)warp->index * WARP_LANES;

	if (first >= threads)
		warp->mask = 0;
	else if (threads - first >= WARP_LANES)
		warp->mask = ALL_LANES;
	else
		warp->mask = (1u << (threads - first)) - 1;
	warp->exited = ~warp->mask;
	warp->pc = warp->calls = warp->local = warp->waiting_lanes = 0;
	warp->split = warp->met = 0;
	warp->spin = (struct exec_spin){ 0 };
	warp->depth = 1;
	warp->stack[0] = (struct exec_stack_entry){
		.reconv = program->kernel->ninsns, .mask = warp->mask,
	};
	/* Registers that are read before they are written hold the same on every run. */
	memset(warp->arena, 0, program->clear_bytes);
	if (program->frame_row != NO_ROW)
		memset(warp->arena + program->frame_row, 0, ROW8);
}

void exec_warp_init(struct exec_warp *warp, struct exec_cta *cta, uint32_t index, uint8_t *arena)
{
	const struct exec_program *program = cta->launch->program;

	memset(warp, 0, sizeof(*warp));
	warp->cta = cta;
	warp->program = program;
	warp->arena = arena;
	warp->stack = (struct exec_stack_entry *)(arena + program->stack_at);
	warp->frames = (struct exec_frame *)(arena + program->frames_at);
	warp->index = index;
	/* start() clears the registers. */
	memset(arena + program->clear_bytes, 0, program->stack_at - program->clear_bytes);
	start(warp);
	init_consts(warp);
	sregs_init(warp);
}

void warp_again(struct exec_warp *warp)
{
	const struct exec_program *program = program_of(warp);
	uint32_t i, lane, row, *ctaid;

	start(warp);
	for (i = 0; i < 3; i++) {
		row = program->sreg_row[PTX_SREG_CTAID_X + i];
		if (row == NO_ROW)
			continue;
		ctaid = row32(warp->arena, row);
		for (lane = 0; lane < WARP_LANES; lane++)
			ctaid[lane] = warp->cta->ctaid[i];
	}
}

void exec_prefetch(const struct exec_warp *warp)
{
	const struct exec_op *op = &program_of(warp)->ops[warp->pc];

	for (unsigned int i = 0; i < 3 && op->src[i]; i++) {
		for (unsigned int k = 0; k < ROW8; k += 64)
			__builtin_prefetch(warp->arena + op->src[i] + k);
	}
	for (unsigned int k = 0; k < ROW8; k += 64)
		__builtin_prefetch(warp->arena + op->dst[0] + k, 1);
}

enum exec_outcome exec_step(struct exec_warp *warp, struct exec_access *access, uint32_t *active,
			    uint64_t *fault_addr, struct err *err)
{
	const struct exec_op *op;
	uint32_t mask = warp->mask;
	enum exec_outcome outcome;

	access->lanes = access->touched = 0;
	if (active)
		*active = mask;
	if (!mask)
		return EXEC_EXITED;
	op = &program_of(warp)->ops[warp->pc];
	if (op->guard) {
		mask &= *pred_at(warp->arena, op->guard) ^ op->guard_flip;
		if (active)
			*active = mask;
	}
	if (op->kind == OP_BRANCH) {
		uint32_t branch = warp->pc;

		stack_branch(warp, op, mask);
		if (warp->depth > 1 && warp->pc <= branch)
			spin_watch(warp, branch);
		return EXEC_NEXT;
	}
	if (__builtin_expect(op->sync, 0) && sync_asks(warp, op)) {
		switch (sync_gather(warp)) {
		case SYNC_OTHERS:
			return EXEC_NEXT;
		case SYNC_DONE:
			stack_advance(warp);
			return EXEC_NEXT;
		case SYNC_GO:
			break;
		}
		/* With those who waited here. */
		mask = warp->mask;
		if (op->guard)
			mask &= *pred_at(warp->arena, op->guard) ^ op->guard_flip;
		if (active)
			*active = mask;
	}
	if (!mask) {
		stack_advance(warp);
		return EXEC_NEXT;
	}
	if (op->fresh)
		sregs_refresh(warp);
	switch (op->kind) {
	case OP_LANES:
		op->fn(warp->arena, op, mask);
		break;
	case OP_NOP:
		break;
	case OP_QUERY:
	case OP_SURFACE:
		outcome = op->kind == OP_QUERY ? texture_query(warp, op, mask, err) :
						 surface_step(warp, op, mask, err);
		if (outcome == EXEC_TRAP)
			return outcome;
		break;
	case OP_LOAD:
	case OP_STORE:
	case OP_ATOMIC:
	case OP_TEXEL:
		outcome = op->kind == OP_TEXEL ? texture_step(warp, op, mask, access, err) :
			  memory_step(warp, op, mask, access, fault_addr, err);
		if (outcome == EXEC_TRAP)
			return outcome;
		stack_advance(warp);
		return outcome;
	default:
		return control_step(warp, op, mask, access, err);
	}
	stack_advance(warp);
	return EXEC_NEXT;
}

enum exec_outcome control_step(struct exec_warp *warp, const struct exec_op *op, uint32_t mask,
			       struct exec_access *access, struct err *err)
{
	switch (op->kind) {
	case OP_BRX:
		return stack_brx(warp, op, mask, err);
	case OP_CALL:
		return call_step(warp, op, mask, err);
	case OP_RET:
		call_return(warp, mask);
		return warp->mask ? EXEC_NEXT : EXEC_EXITED;
	case OP_EXIT:
		return stack_exit(warp, mask);
	case OP_BARRIER:
		return barrier_step(warp, op, mask, access, err);
	case OP_BUILTIN:
		return builtin_step(warp, op, mask, err);
	default:
		return trap(warp, insn_of(warp, op), mask, err, "trap");
	}
}
