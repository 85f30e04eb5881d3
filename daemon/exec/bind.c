// SPDX-License-Identifier: GPL-2.0
/*
 * One instruction to one operation: the function by opcode, type and modifiers
 * from a table of lanes.h, the operands to rows of the arena. Called by program.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "exec/private.h"

lane_fn find_row(const struct lane_table *table, uint16_t opcode, uint8_t type,
			uint8_t stype, uint8_t sel)
{
	uint32_t i;

	for (i = 0; i < table->nrows; i++) {
		const struct lane_row *row = &table->rows[i];

		if (row->opcode == opcode && row->type == type && row->stype == stype &&
		    row->sel == sel)
			return row->fn;
	}
	return NULL;
}

static compare_fn find_compare(const struct lane_table *table, uint8_t cmp, uint8_t type)
{
	uint32_t i;

	for (i = 0; i < table->ncompares; i++) {
		if (table->compares[i].cmp == cmp && table->compares[i].type == type)
			return table->compares[i].fn;
	}
	return NULL;
}

bool type_is_float(uint8_t type)
{
	return type == PTX_F16 || type == PTX_F32 || type == PTX_F64;
}

static uint8_t bits_type(uint8_t type)
{
	switch (ptx_type_bytes(type)) {
	case 8:
		return PTX_B64;
	case 4:
		return PTX_B32;
	default:
		return type == PTX_PRED ? PTX_PRED : PTX_B16;
	}
}

/* Which of the functions of this opcode and type. */
static uint8_t select_of(const struct ptx_insn *insn)
{
	switch (insn->opcode) {
	case PTX_OP_mul:
	case PTX_OP_mad:
	case PTX_OP_mul24:
	case PTX_OP_mad24:
		if (insn->mods & PTX_MOD_SAT && !type_is_float(insn->type))
			return SEL_SAT;
		return insn->mods & PTX_MOD_LO ? SEL_LO : insn->mods & PTX_MOD_HI ? SEL_HI :
			insn->mods & PTX_MOD_WIDE ? SEL_WIDE : SEL_NONE;
	case PTX_OP_add:
	case PTX_OP_sub:
		return insn->mods & PTX_MOD_SAT && !type_is_float(insn->type) ? SEL_SAT : SEL_NONE;
	case PTX_OP_div:
	case PTX_OP_rcp:
	case PTX_OP_sqrt:
		return insn->mods & PTX_MOD_APPROX ? SEL_APPROX : SEL_NONE;
	case PTX_OP_rsqrt:
	case PTX_OP_sin:
	case PTX_OP_cos:
	case PTX_OP_ex2:
	case PTX_OP_lg2:
		return SEL_APPROX;
	case PTX_OP_mov:
		if (insn->vec == 1)
			return SEL_NONE;
		if (insn->nsrc > 1)
			return insn->vec == 2 ? SEL_PACK2 : SEL_PACK4;
		return insn->vec == 2 ? SEL_UNPACK2 : SEL_UNPACK4;
	case PTX_OP_bfind:
		return insn->mods & PTX_MOD_SHIFTAMT ? SEL_SHIFTAMT : SEL_NONE;
	case PTX_OP_shf:
		if (insn->mods & PTX_MOD_CLAMP)
			return insn->atom == PTX_SHF_L ? SEL_L_CLAMP : SEL_R_CLAMP;
		return insn->atom == PTX_SHF_L ? SEL_L_WRAP : SEL_R_WRAP;
	case PTX_OP_prmt:
	case PTX_OP_vote:
	case PTX_OP_shfl:
	case PTX_OP_testp:
		return insn->atom;
	case PTX_OP_isspacep:
		return insn->space;
	case PTX_OP_cvt:
		return insn->mods & PTX_MOD_SAT && !type_is_float(insn->type) &&
		       !type_is_float(insn->stype) ? SEL_SAT : SEL_NONE;
	default:
		return SEL_NONE;
	}
}

static lane_fn function_of(const struct binder *b)
{
	const struct ptx_insn *insn = b->insn;
	uint8_t type = insn->type, stype = insn->stype;

	switch (insn->opcode) {
	case PTX_OP_mov:
	case PTX_OP_selp:
	case PTX_OP_slct:
		type = bits_type(type);
		break;
	case PTX_OP_setp:
		type = PTX_NONE;
		break;
	case PTX_OP_set:
		stype = PTX_NONE;
		break;
	default:
		break;
	}
	return find_row(b->table, insn->opcode, type, stype, select_of(insn));
}

unsigned int register_bytes(const struct binder *b, const struct ptx_operand *op)
{
	return ptx_type_bytes(b->program->kernel->regs[op->reg].type) > 4 ? 8 : 4;
}

/* --- operands ----------------------------------------------------------------------- */

/* Bytes a lane of the row that holds source i. */
unsigned int source_bytes(const struct binder *b, unsigned int i)
{
	const struct ptx_operand *src = &b->insn->src[i];

	if (src->kind == PTX_OPND_REG)
		return ptx_type_bytes(b->program->kernel->regs[src->reg].type) > 4 ? 8 : 4;
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
		return i == 2;
	case PTX_OP_vote:
		return i == 0;
	default:
		return insn->type == PTX_PRED;
	}
}

static uint64_t window_of(uint8_t space)
{
	return space == PTX_SPACE_SHARED ? EXEC_SHARED_WINDOW :
		space == PTX_SPACE_LOCAL ? EXEC_LOCAL_WINDOW : 0;
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

static int bind_operands(struct binder *b)
{
	const struct ptx_insn *insn = b->insn;
	unsigned int i;
	int ret;

	for (i = 0; i < insn->ndst; i++) {
		if (insn->dst[i].kind == PTX_OPND_REG)
			b->op->dst[i] = b->program->reg_row[insn->dst[i].reg];
	}
	for (i = 0; i < MIN(insn->nsrc, ARRAY_SIZE(b->op->src)); i++) {
		if (insn->src[i].kind == PTX_OPND_ADDR)
			continue;
		ret = bind_source(b, i);
		if (ret)
			return ret;
	}
	return 0;
}

/* --- kinds ----------------------------------------------------------------------------- */

static int bind_address(struct binder *b, unsigned int i)
{
	const struct ptx_operand *src = &b->insn->src[i];
	struct exec_op *op = b->op;

	op->offset = src->value;
	if (src->reg != PTX_NO_REG) {
		op->src[i] = b->program->reg_row[src->reg];
		op->addr_bytes = register_bytes(b, src);
	}
	if (op->space == PTX_SPACE_GENERIC)
		op->offset += window_of(src->space);
	return 0;
}

static int bind_memory(struct binder *b)
{
	const struct ptx_insn *insn = b->insn;
	struct exec_op *op = b->op;
	bool is_load = insn->opcode == PTX_OP_ld || insn->opcode == PTX_OP_ldu;
	unsigned int i, first = is_load ? 0 : 1, n = is_load ? insn->ndst : insn->nsrc - 1;

	op->kind = is_load ? OP_LOAD : insn->opcode == PTX_OP_st ? OP_STORE : OP_ATOMIC;
	op->space = insn->space;
	op->elem = ptx_type_bytes(insn->type);
	op->vec = insn->vec;
	op->type = insn->type;
	op->atom = insn->atom;
	op->extend = insn->type >= PTX_S8 && insn->type <= PTX_S64;
	for (i = 0; i < n; i++) {
		const struct ptx_operand *opnd = is_load ? &insn->dst[i] : &insn->src[first + i];

		if (opnd->kind == PTX_OPND_REG)
			op->wide |= (register_bytes(b, opnd) == 8) << i;
		else if (opnd->kind == PTX_OPND_SREG)
			op->wide |= (sreg_bytes(opnd->value) == 8) << i;
		else if (!is_load)
			op->wide |= (op->elem == 8) << i;
	}
	/* atom d, [a], b: the destination is as wide as the type. */
	return bind_address(b, 0);
}

static int not_bound(const struct binder *b)
{
	const struct ptx_kernel *kernel = b->program->kernel;

	return err_set(b->err, -EOPNOTSUPP, "%s:%u: not supported: `%s` with these types and modifiers",
		       kernel->module, b->insn->line, ptx_opcode_name(b->insn->opcode));
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
	return op->fn ? 0 : not_bound(b);
}

static int bind_lanes(struct binder *b)
{
	const struct ptx_insn *insn = b->insn;

	if (insn->opcode == PTX_OP_cvta)
		return bind_cvta(b);
	b->op->fn = function_of(b);
	if (!b->op->fn)
		return not_bound(b);
	if (insn->opcode == PTX_OP_setp || insn->opcode == PTX_OP_set) {
		uint8_t type = insn->opcode == PTX_OP_set ? insn->stype : insn->type;

		b->op->compare = find_compare(b->table, insn->cmp, type);
		b->op->boolop = insn->boolop;
		if (!b->op->compare)
			return not_bound(b);
	}
	return sequence_wrap(b);
}

int bind_insn(struct exec_program *program, const struct lane_table *table, uint32_t pc,
	      struct err *err)
{
	const struct ptx_insn *insn = &program->kernel->insns[pc];
	struct exec_op *op = &program->ops[pc];
	struct binder b = { program, table, insn, op, err };
	int ret;

	if (insn->guard != PTX_NO_REG) {
		op->guard = program->reg_row[insn->guard];
		op->guard_flip = insn->guard_negate ? ALL_LANES : 0;
	}
	op->target = insn->target;
	op->reconv = insn->reconv;
	ret = bind_operands(&b);
	if (ret)
		return ret;
	switch (insn->opcode) {
	case PTX_OP_bra:
		op->kind = OP_BRANCH;
		return 0;
	case PTX_OP_ret:
	case PTX_OP_exit:
		op->kind = OP_EXIT;
		return 0;
	case PTX_OP_trap:
		op->kind = OP_TRAP;
		return 0;
	case PTX_OP_bar:
	case PTX_OP_barrier:
		/* The lanes of a warp that are together are always in step. */
		op->kind = insn->mods & PTX_MOD_WARP ? OP_NOP : OP_BARRIER;
		return 0;
	case PTX_OP_membar:
	case PTX_OP_fence:
	case PTX_OP_nanosleep:
	case PTX_OP_prefetch:
	case PTX_OP_prefetchu:
		op->kind = OP_NOP;
		return 0;
	case PTX_OP_ld:
	case PTX_OP_ldu:
	case PTX_OP_st:
	case PTX_OP_atom:
	case PTX_OP_red:
		return bind_memory(&b);
	default:
		op->kind = OP_LANES;
		return bind_lanes(&b);
	}
}
