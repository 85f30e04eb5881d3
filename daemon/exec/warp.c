// SPDX-License-Identifier: GPL-2.0
/*
 * One step of a warp: the guard, the SIMT stack, and who does the rest. The
 * caller decides when a step happens; nothing here knows of time.
 *
 * The stack is GPGPU-Sim's: entry depth - 1 is the one that runs, its pc and
 * mask are warp->pc and warp->mask. A branch that diverges turns it into the
 * reconvergence entry, pushes the lanes that do not branch, then those that do;
 * an entry that reaches its reconvergence point is popped. Every nested
 * divergence leaves a strictly smaller mask and pushes at most two entries, so
 * 1 + 2 * 31 entries are enough for any program.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "exec/private.h"

_Static_assert(EXEC_STACK >= 1 + 2 * (WARP_LANES - 1), "the SIMT stack can overflow");

static const struct exec_program *program_of(const struct exec_warp *warp)
{
	return warp->cta->launch->program;
}

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

void exec_warp_init(struct exec_warp *warp, struct exec_cta *cta, uint32_t index, uint8_t *arena)
{
	const struct exec_launch *launch = cta->launch;
	uint64_t threads = (uint64_t)launch->block[0] * launch->block[1] * launch->block[2];
	uint64_t first = (uint64_t)index * WARP_LANES;

	memset(warp, 0, sizeof(*warp));
	warp->cta = cta;
	warp->arena = arena;
	warp->index = index;
	if (first >= threads)
		warp->mask = 0;
	else if (threads - first >= WARP_LANES)
		warp->mask = ALL_LANES;
	else
		warp->mask = (1u << (threads - first)) - 1;
	warp->exited = ~warp->mask;
	warp->depth = 1;
	warp->stack[0] = (struct exec_stack_entry){
		.reconv = launch->program->kernel->ninsns, .mask = warp->mask,
	};
	/* Registers that are read before they are written hold the same on every run. */
	memset(arena, 0, launch->program->arena_bytes);
	init_consts(warp);
	sregs_init(warp);
}

void exec_lane_name(const struct exec_warp *warp, uint32_t lanes, char *buf, size_t bytes)
{
	const uint32_t *block = warp->cta->launch->block, *ctaid = warp->cta->ctaid;
	uint32_t thread = warp->index * WARP_LANES + (lanes ? __builtin_ctz(lanes) : 0);

	snprintf(buf, bytes, "thread (%u,%u,%u) of CTA (%u,%u,%u)", thread % block[0],
		 thread / block[0] % block[1], thread / block[0] / block[1], ctaid[0], ctaid[1],
		 ctaid[2]);
}

enum exec_outcome trap(const struct exec_warp *warp, const struct ptx_insn *insn, uint32_t lanes,
		       struct err *err, const char *fmt, ...)
{
	const struct ptx_kernel *kernel = program_of(warp)->kernel;
	char what[200], lane[120];
	va_list args;

	va_start(args, fmt);
	vsnprintf(what, sizeof(what), fmt, args);
	va_end(args);
	exec_lane_name(warp, lanes, lane, sizeof(lane));
	err_set(err, 0, "kernel '%s': %s (%s line %u, %s)", kernel->name, what, kernel->module,
		insn->line, lane);
	return EXEC_TRAP;
}

/* Makes the top of the stack the running entry, without the lanes that are gone. */
static void load_top(struct exec_warp *warp)
{
	const struct exec_stack_entry *top = &warp->stack[warp->depth - 1];

	warp->pc = top->pc;
	warp->mask = top->mask & ~warp->exited;
}

/* Pops what has reached its reconvergence point or has no lanes left. */
static void settle(struct exec_warp *warp)
{
	while (!warp->mask || warp->pc == warp->stack[warp->depth - 1].reconv) {
		if (--warp->depth == 0) {
			warp->mask = 0;
			return;
		}
		load_top(warp);
	}
}

static void advance(struct exec_warp *warp)
{
	warp->pc++;
	if (warp->pc == warp->stack[warp->depth - 1].reconv)
		settle(warp);
}

static void push(struct exec_warp *warp, uint32_t pc, uint32_t reconv, uint32_t mask)
{
	warp->stack[warp->depth++] = (struct exec_stack_entry){ pc, reconv, mask };
}

static void branch(struct exec_warp *warp, const struct exec_op *op, uint32_t taken)
{
	uint32_t rest = warp->mask & ~taken, next = warp->pc + 1;
	struct exec_stack_entry *top = &warp->stack[warp->depth - 1];

	if (!taken || !rest || op->target == next) {
		warp->pc = taken ? op->target : next;
		settle(warp);
		return;
	}
	/* A loop's exit is the same point every time round: one entry is enough. */
	if (top->reconv != op->reconv) {
		top->pc = op->reconv;
		top->mask = warp->mask;
		warp->depth++;
	}
	/* Those who stand at the reconvergence point already just wait in the entry below. */
	warp->depth--;
	if (next != op->reconv)
		push(warp, next, op->reconv, rest);
	if (op->target != op->reconv)
		push(warp, op->target, op->reconv, taken);
	load_top(warp);
}

static enum exec_outcome leave(struct exec_warp *warp, uint32_t lanes)
{
	warp->exited |= lanes;
	warp->mask &= ~lanes;
	warp->pc++;
	settle(warp);
	return warp->mask ? EXEC_NEXT : EXEC_EXITED;
}

static enum exec_outcome barrier(struct exec_warp *warp, const struct exec_op *op,
				 const struct ptx_insn *insn, uint32_t mask,
				 struct exec_access *access, struct err *err)
{
	uint32_t lane = __builtin_ctz(mask);
	uint32_t number = row32(warp->arena, op->src[0])[lane];
	uint32_t threads = insn->nsrc > 1 ? row32(warp->arena, op->src[1])[lane] : 0;

	if (number > 15)
		return trap(warp, insn, mask, err, "barrier %u does not exist (0 to 15)", number);
	if (threads % WARP_LANES)
		return trap(warp, insn, mask, err,
			    "a barrier of %u threads, which is no multiple of 32", threads);
	access->insn = insn;
	access->barrier = number;
	access->barrier_threads = threads;
	advance(warp);
	return EXEC_BARRIER;
}

enum exec_outcome exec_step(struct exec_warp *warp, struct exec_access *access, uint32_t *active,
			    uint64_t *fault_addr, struct err *err)
{
	const struct exec_program *program = program_of(warp);
	const struct ptx_insn *insn;
	const struct exec_op *op;
	uint32_t mask = warp->mask;
	enum exec_outcome outcome;

	access->lanes = access->touched = 0;
	if (active)
		*active = mask;
	if (!mask)
		return EXEC_EXITED;
	op = &program->ops[warp->pc];
	insn = &program->kernel->insns[warp->pc];
	if (op->guard) {
		mask &= *pred_at(warp->arena, op->guard) ^ op->guard_flip;
		if (active)
			*active = mask;
	}
	if (op->kind == OP_BRANCH) {
		branch(warp, op, mask);
		return EXEC_NEXT;
	}
	if (!mask) {
		advance(warp);
		return EXEC_NEXT;
	}
	if (op->fresh)
		sregs_refresh(warp);
	switch (op->kind) {
	case OP_LANES:
		op->fn(warp->arena, op, mask);
		break;
	case OP_EXIT:
		return leave(warp, mask);
	case OP_TRAP:
		return trap(warp, insn, mask, err, "trap");
	case OP_BARRIER:
		return barrier(warp, op, insn, mask, access, err);
	case OP_NOP:
		break;
	default:
		outcome = memory_step(warp, op, mask, access, fault_addr, err);
		if (outcome == EXEC_TRAP)
			return outcome;
		advance(warp);
		return outcome;
	}
	advance(warp);
	return EXEC_NEXT;
}
