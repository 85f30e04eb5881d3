// SPDX-License-Identifier: GPL-2.0
/*
 * Registers that hold one value from the launch to the end: a parameter, a
 * constant, a special register that does not change. Such a register, written by
 * one instruction of the whole kernel, is given the row where that value is, or a
 * row of its own for a parameter, that nobody else writes. The instruction still
 * works, so that exec_step() takes what it took; whole grids fill the rows once
 * and skip it. Called by program.c before instructions are bound.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "exec/private.h"

static void count_definitions(const struct ptx_kernel *kernel, uint8_t *defs)
{
	uint32_t i, k;

#define DEFINE(reg) \
	do { \
		uint32_t reg_ = (reg); \
		if (reg_ != PTX_NO_REG) \
			defs[reg_] = MIN(defs[reg_] + 1, 2); \
	} while (0)
	for (i = 0; i < kernel->ninsns; i++) {
		for (k = 0; k < kernel->insns[i].ndst; k++) {
			if (kernel->insns[i].dst[k].kind == PTX_OPND_REG)
				DEFINE(kernel->insns[i].dst[k].reg);
		}
	}
	for (i = 0; i < kernel->ncalls; i++) {
		for (k = 0; k < kernel->calls[i].nresults; k++)
			DEFINE(kernel->calls[i].results[k]);
	}
	for (i = 1; i < kernel->nfunctions; i++) {
		for (k = 0; k < kernel->functions[i].nformals; k++)
			DEFINE(kernel->functions[i].formals[k]);
	}
#undef DEFINE
}

/* What is known while the instructions are looked at, in the text's order. */
struct hoister {
	struct exec_program *program;
	const uint8_t *defs;	/* by register: instructions that write it, 2: more than one */
	uint8_t *hoisted;	/* by register */
};

static uint32_t param_row(struct exec_program *program, const struct ptx_insn *insn, uint32_t width)
{
	uint32_t bytes = ptx_type_bytes(insn->type), limit = program->kernel->param_bytes;
	struct exec_param *params;
	uint64_t offset = insn->src[0].value;

	if (insn->src[0].kind != PTX_OPND_ADDR || insn->src[0].reg != PTX_NO_REG || !bytes ||
	    bytes > width || offset % bytes || offset > limit || limit - offset < bytes)
		return NO_ROW;
	if (array_resize(program->params, program->nparams + 1))
		return NO_ROW;
	params = &program->params[program->nparams++];
	*params = (struct exec_param){
		.row = new_row(program, width * WARP_LANES), .offset = offset, .bytes = bytes,
		.wide = width == 8, .extend = insn->type >= PTX_S8 && insn->type <= PTX_S64,
	};
	return params->row;
}

static uint32_t width_of(const struct exec_program *program, uint32_t reg)
{
	return ptx_type_bytes(program->kernel->regs[reg].type) > 4 ? 8 : 4;
}

/* The row of what the instruction gives, or NO_ROW. */
static uint32_t row_of(const struct hoister *h, const struct ptx_insn *insn, uint32_t width)
{
	const struct ptx_operand *src = &insn->src[0];
	bool same = (ptx_type_bytes(insn->type) > 4 ? 8 : 4) == width;

	if (insn->opcode == PTX_OP_ld && insn->space == PTX_SPACE_PARAM && insn->vec == 1)
		return param_row(h->program, insn, width);
	if (insn->opcode != PTX_OP_mov &&
	    !(insn->opcode == PTX_OP_cvta && insn->space == PTX_SPACE_GLOBAL))
		return NO_ROW;
	if (insn->vec != 1 || insn->nsrc != 1 || !same)
		return NO_ROW;
	switch (src->kind) {
	case PTX_OPND_IMM:
		return const_row(h->program, src->value, width);
	case PTX_OPND_SYMBOL:
		/* A local variable's place depends on the frame. */
		return src->space == PTX_SPACE_LOCAL ? NO_ROW :
			const_row(h->program, src->value, width);
	case PTX_OPND_SREG:
		return sreg_changes(src->value) || sreg_bytes(src->value) != width ? NO_ROW :
			sreg_row(h->program, src->value);
	case PTX_OPND_REG:
		return h->hoisted[src->reg] && !src->negate &&
		       width_of(h->program, src->reg) == width ?
			h->program->reg_row[src->reg] : NO_ROW;
	default:
		return NO_ROW;
	}
}

static void hoist_insn(struct hoister *h, uint32_t pc)
{
	const struct ptx_kernel *kernel = h->program->kernel;
	const struct ptx_insn *insn = &kernel->insns[pc];
	uint32_t reg, row;

	if (insn->guard != PTX_NO_REG || insn->ndst != 1 || insn->dst[0].kind != PTX_OPND_REG)
		return;
	reg = insn->dst[0].reg;
	if (h->defs[reg] != 1 || kernel->regs[reg].type == PTX_PRED)
		return;
	row = row_of(h, insn, width_of(h->program, reg));
	if (row == NO_ROW)
		return;
	h->program->reg_row[reg] = row;
	h->program->ops[pc].skip = 1;
	h->hoisted[reg] = 1;
}

int hoist(struct exec_program *program)
{
	const struct ptx_kernel *kernel = program->kernel;
	uint8_t *defs = calloc(kernel->nregs + 1, 2);
	struct hoister h = { program, defs, defs + kernel->nregs + 1 };
	uint32_t i;

	if (!defs)
		return -ENOMEM;
	count_definitions(kernel, defs);
	for (i = 0; i < kernel->ninsns; i++)
		hoist_insn(&h, i);
	free(defs);
	return 0;
}

void hoist_fill(struct exec_warp *warp)
{
	const struct exec_program *program = program_of(warp);
	uint32_t i, lane;

	for (i = 0; i < program->nparams; i++) {
		const struct exec_param *param = &program->params[i];
		uint32_t shift = 64 - 8 * param->bytes;
		uint64_t value = 0;

		memcpy(&value, (const uint8_t *)warp->cta->launch->params + param->offset,
		       param->bytes);
		if (param->extend)
			value = (uint64_t)((int64_t)(value << shift) >> shift);
		for (lane = 0; lane < WARP_LANES; lane++) {
			if (param->wide)
				row64(warp->arena, param->row)[lane] = value;
			else
				row32(warp->arena, param->row)[lane] = value;
		}
	}
}
