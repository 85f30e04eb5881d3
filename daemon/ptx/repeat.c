// SPDX-License-Identifier: GPL-2.0
/*
 * Values that cost less to make again than to keep (Briggs, Cooper and Torczon,
 * Rematerialization, PLDI 1992): constants, addresses, parameters, special registers that do
 * not change. Called by spill.c, which weighs them, and rewrite.c.
 */
#include "ptx/back.h"

/* Special registers that read the same wherever a thread reads them. */
static bool is_constant(uint64_t sreg)
{
	switch (sreg) {
	case PTX_SREG_SMID:
	case PTX_SREG_CLOCK:
	case PTX_SREG_CLOCK_HI:
	case PTX_SREG_CLOCK64:
	case PTX_SREG_GLOBALTIMER:
	case PTX_SREG_GLOBALTIMER_LO:
	case PTX_SREG_GLOBALTIMER_HI:
		return false;
	default:
		return true;
	}
}

static bool is_repeatable(const struct spills *s, uint32_t at)
{
	const struct ptx_insn *insn = &s->kernel->insns[at];
	const struct ptx_operand *src = &insn->src[0];

	if (insn->guard != PTX_NO_REG || insn->ndst != 1 || insn->nsrc != 1 || insn->vec != 1)
		return false;
	/* A reloaded value stays in its slot as long as it is needed. A call's result does not. */
	if (s->note[at] != NO_SLOT)
		return insn->opcode == PTX_OP_ld && s->kernel->regs[insn->dst[0].reg].spill;
	switch (insn->opcode) {
	case PTX_OP_mov:
	case PTX_OP_cvta:
	case PTX_OP_cvt:
		if (src->kind == PTX_OPND_SREG)
			return is_constant(src->value);
		return src->kind == PTX_OPND_IMM ||
		       (src->kind == PTX_OPND_SYMBOL && !src->callee && src->reg == PTX_NO_REG);
	case PTX_OP_ld:
		return src->kind == PTX_OPND_ADDR && src->reg == PTX_NO_REG &&
		       (insn->space == PTX_SPACE_PARAM || insn->space == PTX_SPACE_CONST);
	default:
		return false;
	}
}

uint32_t repeatable_definition(const struct spills *s, const struct liveness *l, uint32_t reg)
{
	uint32_t m, at = NO_INSN;

	if (l->formal_of[reg])
		return NO_INSN;
	for (m = l->start[reg]; m < l->start[reg + 1]; m++) {
		if (l->mentions[m].use)
			continue;
		if (at != NO_INSN)
			return NO_INSN;
		at = l->mentions[m].insn;
	}
	return at != NO_INSN && is_repeatable(s, at) ? at : NO_INSN;
}
