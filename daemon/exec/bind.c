// SPDX-License-Identifier: GPL-2.0
/*
 * One instruction to one operation, for what computes lane by lane: the
 * operands to rows of the arena, and the function that select.c finds. What the
 * machine does itself is bind_machine.c's. Called by program.c.
 */
#include <errno.h>

#include "exec/private.h"

static uint64_t window_of(uint8_t space)
{
	switch (space) {
	case PTX_SPACE_SHARED:
		return PTX_SHARED_WINDOW;
	case PTX_SPACE_LOCAL:
		return PTX_LOCAL_WINDOW;
	case PTX_SPACE_CONST:
		return PTX_CONST_WINDOW;
	case PTX_SPACE_PARAM:
		return PTX_PARAM_WINDOW;
	default:
		return 0;
	}
}

/* The row of source i. A source of the wrong width is resized by a sequence later. */
static int bind_source(struct binder *b, unsigned int i)
{
	const struct ptx_operand *src = &b->insn->src[i];
	unsigned int bytes = wanted_bytes(b->insn, i);
	uint32_t row;

	switch (src->kind) {
	case PTX_OPND_REG:
		row = b->program->reg_row[src->reg];
		b->op->flip |= src->negate ? 1u << i : 0;
		break;
	case PTX_OPND_SREG:
		row = sreg_row(b->program, src->value);
		b->op->fresh |= sreg_changes(src->value);
		break;
	default:
		if (is_predicate(b->insn, i))
			row = const_row(b->program,
					(src->value != 0) != src->negate ? ALL_LANES : 0, 0);
		else
			row = const_row(b->program, src->value, bytes);
		if (row == NO_ROW)
			return -ENOMEM;
		break;
	}
	b->op->src[i] = row;
	return 0;
}

/* Binds sources that the function reads and the instruction does not name. */
static int bind_implied(struct binder *b)
{
	const struct ptx_insn *insn = b->insn;
	uint32_t *row = NULL;

	if (insn->opcode == PTX_OP_vote && insn->nsrc == 1) {
		/* Without .sync all lanes are members. */
		row = &b->op->src[1];
		*row = const_row(b->program, ALL_LANES, 4);
	} else if (insn->opcode == PTX_OP_shfl && insn->nsrc == 3) {
		row = &b->op->src[3];
		*row = const_row(b->program, ALL_LANES, 4);
	} else if (insn->mods & PTX_MOD_CC && (insn->opcode == PTX_OP_add ||
					       insn->opcode == PTX_OP_sub ||
					       insn->opcode == PTX_OP_mad)) {
		/* No carry comes into a sum. A difference is a + ~b + 1. */
		row = &b->op->src[insn->opcode == PTX_OP_mad ? 3 : 2];
		*row = const_row(b->program, insn->opcode == PTX_OP_sub ? ALL_LANES : 0, 0);
	}
	return row && *row == NO_ROW ? -ENOMEM : 0;
}

static const char *type_name(uint8_t type)
{
	static const char *const names[PTX_TYPES] = {
		[PTX_B8] = ".b8", [PTX_B16] = ".b16", [PTX_B32] = ".b32", [PTX_B64] = ".b64",
		[PTX_U8] = ".u8", [PTX_U16] = ".u16", [PTX_U32] = ".u32", [PTX_U64] = ".u64",
		[PTX_S8] = ".s8", [PTX_S16] = ".s16", [PTX_S32] = ".s32", [PTX_S64] = ".s64",
		[PTX_F16] = ".f16", [PTX_F16X2] = ".f16x2", [PTX_BF16] = ".bf16",
		[PTX_BF16X2] = ".bf16x2", [PTX_F32] = ".f32", [PTX_F64] = ".f64",
		[PTX_PRED] = ".pred", [PTX_U16X2] = ".u16x2", [PTX_S16X2] = ".s16x2",
	};

	return type < PTX_TYPES && names[type] ? names[type] : "";
}

static int not_bound(const struct binder *b)
{
	const struct ptx_insn *insn = b->insn;

	return err_set(b->err, -EOPNOTSUPP,
		       "%s:%u: not supported: `%s%s%s` with these modifiers and operands",
		       b->program->kernel->module, insn->line, ptx_opcode_name(insn->opcode),
		       type_name(insn->type), type_name(insn->stype));
}

/* cvta adds the space's window, cvta.to takes it off: unsigned addition does both. */
static int bind_cvta(struct binder *b)
{
	const struct ptx_insn *insn = b->insn;
	uint64_t window = window_of(insn->space);
	struct exec_op *op = b->op;

	op->src[1] = const_row(b->program, insn->mods & PTX_MOD_TO ? -window : window,
			       ptx_type_bytes(insn->type));
	if (op->src[1] == NO_ROW)
		return -ENOMEM;
	op->fn = find_row(b->table, window ? PTX_OP_add : PTX_OP_mov, insn->type, PTX_NONE,
			  SEL_NONE);
	return op->fn ? 0 : -EOPNOTSUPP;
}

static int bind_lanes(struct binder *b)
{
	const struct ptx_insn *insn = b->insn;

	if (insn->opcode == PTX_OP_cvta)
		return bind_cvta(b);
	b->op->fn = select_function(b->table, insn);
	if (!b->op->fn)
		return -EOPNOTSUPP;
	if (insn->opcode == PTX_OP_setp || insn->opcode == PTX_OP_set) {
		b->op->compare = find_compare(b->table, insn->cmp, compared_type(insn));
		b->op->boolop = insn->boolop;
		if (!b->op->compare)
			return -EOPNOTSUPP;
	}
	return sequence_wrap(b);
}

int bind_insn(struct exec_program *program, const struct lane_table *table, uint32_t pc,
	      struct err *err)
{
	const struct ptx_insn *insn = &program->kernel->insns[pc];
	struct exec_op *op = &program->ops[pc];
	struct binder b = { program, table, insn, op, err };
	unsigned int i;
	int ret = 0;

	op->kind = OP_LANES;
	if (insn->nsrc > ARRAY_SIZE(op->src))
		return not_bound(&b);
	for (i = 0; i < insn->nsrc && !ret; i++)
		ret = bind_source(&b, i);
	if (!ret)
		ret = bind_implied(&b);
	if (!ret)
		ret = bind_lanes(&b);
	return ret == -EOPNOTSUPP ? not_bound(&b) : ret;
}
