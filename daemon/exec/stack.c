// SPDX-License-Identifier: GPL-2.0
/*
 * The SIMT stack: who runs after a branch, and where lanes meet again. warp.c
 * and pack.c call it for each instruction that moves the pc; call.c puts
 * frames on top of it.
 *
 * The stack is GPGPU-Sim's: entry depth - 1 is the one that runs, its pc and
 * mask are warp->pc and warp->mask. A branch that diverges turns it into the
 * reconvergence entry, pushes the lanes that do not branch, then those that do;
 * an entry that reaches its reconvergence point is popped. Every nested
 * divergence leaves a strictly smaller mask: k groups take k + 1 entries and
 * leave the running one k - 1 lanes fewer, so STACK_ENTRIES (private.h) are enough
 * for any program, and one more for every nested call.
 */
#include "exec/private.h"

/* Makes the top of the stack the running entry, without the lanes that are gone. */
void stack_load_top(struct exec_warp *warp)
{
	const struct exec_stack_entry *top = &warp->stack[warp->depth - 1];

	warp->pc = top->pc;
	warp->mask = top->mask & ~warp->exited;
	if (warp->calls)
		warp->mask &= warp->frames[warp->calls - 1].lanes;
}

/* Pops what has reached its reconvergence point or has no lanes left. */
void stack_reconverge(struct exec_warp *warp)
{
	while (!warp->mask || warp->pc == warp->stack[warp->depth - 1].reconv) {
		if (--warp->depth == 0) {
			warp->mask = 0;
			return;
		}
		/* With a function's first entry goes its frame. */
		if (warp->calls && warp->depth == warp->frames[warp->calls - 1].base + 1)
			call_pop(warp);
		stack_load_top(warp);
	}
}

static void push(struct exec_warp *warp, uint32_t pc, uint32_t reconv, uint32_t mask)
{
	/* Lanes at the reconvergence point already wait in the entry below. */
	if (pc != reconv)
		warp->stack[warp->depth++] = (struct exec_stack_entry){ pc, reconv, mask };
}

/* The running entry becomes the one that waits where its lanes meet again. */
static void wait_at(struct exec_warp *warp, uint32_t reconv)
{
	struct exec_stack_entry *top = &warp->stack[warp->depth - 1];

	/* A loop's exit is the same point every time round: one entry is enough. */
	if (top->reconv == reconv) {
		warp->depth--;
		return;
	}
	top->pc = reconv;
	top->mask = warp->mask;
}

void stack_branch(struct exec_warp *warp, const struct exec_op *op, uint32_t taken)
{
	uint32_t rest = warp->mask & ~taken, next = warp->pc + 1;

	if (!taken || !rest || op->target == next) {
		warp->pc = taken ? op->target : next;
		stack_reconverge(warp);
		return;
	}
	wait_at(warp, op->reconv);
	push(warp, next, op->reconv, rest);
	push(warp, op->target, op->reconv, taken);
	stack_load_top(warp);
}

enum exec_outcome stack_brx(struct exec_warp *warp, const struct exec_op *op, uint32_t taken,
			    struct err *err)
{
	const struct ptx_table *table = &program_of(warp)->kernel->tables[op->target];
	const uint32_t *index = row32(warp->arena, op->src[0]);
	uint32_t pc[WARP_LANES], left = warp->mask, next = warp->pc + 1, same, lane, rest;
	uint32_t targets[WARP_LANES], lanes[WARP_LANES], n = 0;

	for (rest = warp->mask; rest; rest &= rest - 1) {
		lane = __builtin_ctz(rest);
		if (!(taken >> lane & 1)) {
			pc[lane] = next;
			continue;
		}
		if (index[lane] >= table->count)
			return trap(warp, insn_of(warp, op), 1u << lane, err,
				    "brx.idx by %u, where there are %u targets", index[lane],
				    table->count);
		pc[lane] = table->targets[index[lane]];
	}
	while (left) {
		targets[n] = pc[__builtin_ctz(left)];
		for (same = 0, rest = left; rest; rest &= rest - 1) {
			lane = __builtin_ctz(rest);
			same |= (uint32_t)(pc[lane] == targets[n]) << lane;
		}
		lanes[n++] = same;
		left &= ~same;
	}
	if (n == 1) {
		warp->pc = targets[0];
		stack_reconverge(warp);
		return EXEC_NEXT;
	}
	wait_at(warp, op->reconv);
	/* The lowest lane's target runs first. */
	while (n--)
		push(warp, targets[n], op->reconv, lanes[n]);
	stack_load_top(warp);
	return EXEC_NEXT;
}

/* A shuffle from a lane that has exited gives 0, as on a GPU. */
static void clear_shuffled(struct exec_warp *warp, uint32_t lanes)
{
	const struct exec_program *program = program_of(warp);
	uint32_t i, rest;

	for (i = 0; i < program->nshuffled; i++) {
		for (rest = lanes; rest; rest &= rest - 1)
			row32(warp->arena, program->shuffled[i])[__builtin_ctz(rest)] = 0;
	}
}

enum exec_outcome stack_exit(struct exec_warp *warp, uint32_t lanes)
{
	if (lanes != warp->mask || warp->depth > 1)
		clear_shuffled(warp, lanes);
	warp->exited |= lanes;
	warp->mask &= ~lanes;
	warp->pc++;
	stack_reconverge(warp);
	return warp->mask ? EXEC_NEXT : EXEC_EXITED;
}
