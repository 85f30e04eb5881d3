// SPDX-License-Identifier: GPL-2.0
/* Operands while an instruction is bound: how wide their rows are, and how wide it reads them. */
#include "exec/private.h"

unsigned int register_bytes(const struct binder *b, const struct ptx_operand *op)
{
	return ptx_type_bytes(b->program->kernel->regs[op->reg].type) > 4 ? 8 : 4;
}

/* Bytes a lane of the row that holds source i. */
unsigned int source_bytes(const struct binder *b, unsigned int i)
{
	const struct ptx_operand *src = &b->insn->src[i];

	if (src->kind == PTX_OPND_REG)
		return register_bytes(b, src);
	if (src->kind == PTX_OPND_SREG)
		return sreg_bytes(src->value);
	return 8;
}

/* Bytes a lane that the function reads of source i. */
unsigned int wanted_bytes(const struct ptx_insn *insn, unsigned int i)
{
	unsigned int bytes = ptx_type_bytes(insn->type);

	switch (insn->opcode) {
	case PTX_OP_cvt:
	case PTX_OP_set:
		bytes = ptx_type_bytes(insn->stype);
		break;
	case PTX_OP_slct:
		bytes = i == 2 ? 4 : bytes;
		break;
	case PTX_OP_shl:
	case PTX_OP_shr:
	case PTX_OP_match:
		bytes = i == 1 ? 4 : bytes;
		break;
	case PTX_OP_bfe:
		bytes = i >= 1 ? 4 : bytes;
		break;
	case PTX_OP_bfi:
		bytes = i >= 2 ? 4 : bytes;
		break;
	case PTX_OP_mad:
		bytes = i == 2 && insn->mods & PTX_MOD_WIDE ? 2 * bytes : bytes;
		break;
	case PTX_OP_mov:
		bytes = insn->nsrc > 1 ? 4 : bytes;
		break;
	case PTX_OP_isspacep:
		bytes = 8;
		break;
	default:
		break;
	}
	return bytes > 4 ? 8 : 4;
}

bool is_predicate(const struct ptx_insn *insn, unsigned int i)
{
	switch (insn->opcode) {
	case PTX_OP_setp:
	case PTX_OP_set:
	case PTX_OP_selp:
	case PTX_OP_addc:
	case PTX_OP_subc:
		return i == 2;
	case PTX_OP_madc:
		return i == 3;
	case PTX_OP_vote:
		return i == 0;
	default:
		return insn->type == PTX_PRED;
	}
}
