// SPDX-License-Identifier: GPL-2.0
/*
 * Calls of functions: parameters, frames, returns of some lanes or all. The
 * callee runs as an entry of the SIMT stack above its caller's, for the lanes
 * that call; it goes when none of them is left. A frame that a lane is in was
 * called by the one below it for that lane, so the lanes that run together have
 * their frames at the same place in local memory.
 */
#include <string.h>

#include "exec/private.h"

static bool is_wide(const struct ptx_kernel *kernel, uint32_t reg)
{
	return ptx_type_bytes(kernel->regs[reg].type) > 4;
}

static void read_row(const struct exec_warp *warp, uint32_t reg, uint64_t *value)
{
	const struct exec_program *program = program_of(warp);
	const struct ptx_kernel *kernel = program->kernel;
	uint32_t row = program->reg_row[reg], i;

	if (kernel->regs[reg].type == PTX_PRED) {
		for (i = 0; i < WARP_LANES; i++)
			value[i] = *pred_at(warp->arena, row) >> i & 1;
	} else if (is_wide(kernel, reg)) {
		memcpy(value, row64(warp->arena, row), ROW8);
	} else {
		for (i = 0; i < WARP_LANES; i++)
			value[i] = row32(warp->arena, row)[i];
	}
}

static void write_row(struct exec_warp *warp, uint32_t reg, const uint64_t *value, uint32_t mask)
{
	const struct exec_program *program = program_of(warp);
	const struct ptx_kernel *kernel = program->kernel;
	uint32_t row = program->reg_row[reg], i;

	/* It is not live in the callee: its row may be another's. */
	if (row == NO_ROW)
		return;
	for (i = 0; i < WARP_LANES; i++) {
		if (!(mask >> i & 1))
			continue;
		if (kernel->regs[reg].type == PTX_PRED)
			*pred_at(warp->arena, row) = (*pred_at(warp->arena, row) & ~(1u << i)) |
						     (uint32_t)(value[i] & 1) << i;
		else if (is_wide(kernel, reg))
			row64(warp->arena, row)[i] = value[i];
		else
			row32(warp->arena, row)[i] = value[i];
	}
}

/* Where the running function's frame is, for operands that are addresses in it. */
static void move_frame(struct exec_warp *warp, uint32_t local)
{
	const struct exec_program *program = program_of(warp);
	uint32_t i;

	warp->local = local;
	if (program->frame_row == NO_ROW)
		return;
	for (i = 0; i < WARP_LANES; i++)
		row64(warp->arena, program->frame_row)[i] = local;
}

/* Arguments and formals are few; all are read before one is written. */
#define PIECES	64

static void pass(struct exec_warp *warp, const struct ptx_call *call,
		 const struct ptx_function *callee, uint32_t mask)
{
	uint64_t values[PIECES][WARP_LANES];
	uint32_t n = MIN(MIN(call->nargs, callee->nformals), PIECES), i, lane;

	for (i = 0; i < n; i++) {
		if (call->args[i].kind == PTX_OPND_REG) {
			read_row(warp, call->args[i].reg, values[i]);
			continue;
		}
		for (lane = 0; lane < WARP_LANES; lane++)
			values[i][lane] = call->args[i].value;
	}
	for (i = 0; i < n; i++)
		write_row(warp, callee->formals[i], values[i], mask);
}

enum exec_outcome call_step(struct exec_warp *warp, const struct exec_op *op, uint32_t mask,
			    struct err *err)
{
	const struct ptx_kernel *kernel = program_of(warp)->kernel;
	const struct ptx_call *call = &kernel->calls[op->target];
	const struct ptx_function *callee = &kernel->functions[call->function];
	uint32_t caller = function_at(kernel, warp->pc);
	uint32_t local = warp->local + kernel->functions[caller].frame_bytes;
	struct exec_stack_entry *top = &warp->stack[warp->depth - 1];

	if (warp->calls == kernel->max_calls ||
	    (uint64_t)local + callee->frame_bytes > kernel->local_bytes)
		return trap(warp, insn_of(warp, op), mask, err,
			    "the call of '%s' overflows the stack of %u bytes a thread at depth %u: cudaDeviceSetLimit(cudaLimitStackSize) and compiler.stack set its size",
			    callee->name, kernel->local_bytes, warp->calls + 1);
	pass(warp, call, callee, mask);
	top->pc = warp->pc + 1;
	top->mask = warp->mask;
	warp->frames[warp->calls++] = (struct exec_frame){
		.call = warp->pc, .base = warp->depth - 1, .lanes = mask, .local = warp->local,
	};
	warp->stack[warp->depth++] = (struct exec_stack_entry){
		.pc = callee->first, .reconv = kernel->ninsns, .mask = mask,
	};
	move_frame(warp, local);
	warp->pc = callee->first;
	warp->mask = mask;
	return EXEC_NEXT;
}

void call_return(struct exec_warp *warp, uint32_t lanes)
{
	const struct ptx_kernel *kernel = program_of(warp)->kernel;
	struct exec_frame *frame = &warp->frames[warp->calls - 1];
	const struct ptx_call *call = &kernel->calls[kernel->insns[frame->call].target];
	const struct ptx_function *callee = &kernel->functions[call->function];
	uint32_t n = MIN(MIN(call->nresults, callee->nresults), PIECES), i;
	uint64_t values[PIECES][WARP_LANES];

	for (i = 0; i < n; i++)
		read_row(warp, callee->results[i], values[i]);
	for (i = 0; i < n; i++) {
		if (call->results[i] != PTX_NO_REG)
			write_row(warp, call->results[i], values[i], lanes);
	}
	frame->lanes &= ~lanes;
	warp->mask &= ~lanes;
	warp->pc++;
	stack_reconverge(warp);
}

void call_pop(struct exec_warp *warp)
{
	move_frame(warp, warp->frames[--warp->calls].local);
}
