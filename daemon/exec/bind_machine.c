// SPDX-License-Identifier: GPL-2.0
/*
 * One instruction to one operation, for what the machine does itself: control,
 * barriers, calls, memory, and addresses in a function's frame. The instructions
 * that compute lane by lane are bind.c's. Called by program.c.
 */
#include <errno.h>

#include "exec/private.h"

uint32_t function_at(const struct ptx_kernel *kernel, uint32_t pc)
{
	uint32_t i;

	for (i = 1; i < kernel->nfunctions; i++) {
		if (pc >= kernel->functions[i].first && pc < kernel->functions[i].end)
			return i;
	}
	return 0;
}

static bool is_pred(const struct binder *b, const struct ptx_operand *opnd)
{
	return opnd->kind == PTX_OPND_REG && b->program->kernel->regs[opnd->reg].type == PTX_PRED;
}

/* The row of a source of `bytes` a lane when it is a constant. 0: a predicate. */
static int bind_row(struct binder *b, unsigned int i, unsigned int bytes)
{
	const struct ptx_operand *src = &b->insn->src[i];
	uint32_t row;

	switch (src->kind) {
	case PTX_OPND_REG:
		row = b->program->reg_row[src->reg];
		b->op->flip |= (src->negate && is_pred(b, src)) << i;
		break;
	case PTX_OPND_SREG:
		row = sreg_row(b->program, src->value);
		b->op->fresh |= sreg_changes(src->value);
		break;
	default:
		row = const_row(b->program, bytes ? src->value :
				(src->value != 0) != src->negate ? ALL_LANES : 0, bytes);
		if (row == NO_ROW)
			return -ENOMEM;
		break;
	}
	b->op->src[i] = row;
	return 0;
}

/* --- memory --------------------------------------------------------------------------- */

/*
 * Addresses of local variables count from their function's frame. The entry's is at 0;
 * an operand of the callee's is behind this function's own.
 */
static bool in_frame(const struct binder *b, const struct ptx_operand *opnd, uint64_t *offset)
{
	const struct ptx_kernel *kernel = b->program->kernel;
	uint32_t function = function_at(kernel, b->insn - kernel->insns);

	*offset = opnd->value;
	if (opnd->callee)
		*offset += kernel->functions[function].frame_bytes;
	return function != 0;
}

static void bind_address(struct binder *b)
{
	const struct ptx_operand *src = &b->insn->src[0];
	struct exec_op *op = b->op;
	bool wide = op->space == PTX_SPACE_GLOBAL || op->space == PTX_SPACE_GENERIC;

	op->offset = src->value;
	if (src->reg != PTX_NO_REG) {
		op->src[0] = b->program->reg_row[src->reg];
		if (register_bytes(b, src) == 8)
			op->address = wide ? ADDRESS_64 : ADDRESS_64_IN_32;
		else
			op->address = wide ? ADDRESS_32_IN_64 : ADDRESS_32;
	} else if (src->space == PTX_SPACE_LOCAL || op->space == PTX_SPACE_LOCAL) {
		op->framed = in_frame(b, src, &op->offset);
	}
	if (op->space == PTX_SPACE_GENERIC)
		op->offset += space_start(src->space);
}

static unsigned int element_wide(const struct binder *b, const struct ptx_operand *opnd)
{
	switch (opnd->kind) {
	case PTX_OPND_REG:
		return register_bytes(b, opnd) == 8;
	case PTX_OPND_SREG:
		return sreg_bytes(opnd->value) == 8;
	default:
		return b->op->elem == 8;
	}
}

/* The function for all lanes at once; elements of different widths are done one by one. */
static void bind_access(struct binder *b)
{
	const struct memory_lanes *memory = b->table->memory;
	unsigned int size = __builtin_ctz(b->op->elem), wide = b->op->wide & 1, vector;

	vector = b->op->vec > 1;
	if (b->op->wide != (wide ? (1u << b->op->vec) - 1 : 0))
		return;
	if (b->op->kind == OP_LOAD)
		b->op->access = memory->load[size][wide][b->op->extend][vector];
	else if (b->op->kind == OP_STORE)
		b->op->access = memory->store[size][wide][vector];
}

static int bind_memory(struct binder *b)
{
	const struct ptx_insn *insn = b->insn;
	struct exec_op *op = b->op;
	bool is_load = insn->opcode == PTX_OP_ld || insn->opcode == PTX_OP_ldu;
	unsigned int i;

	op->kind = is_load ? OP_LOAD : insn->opcode == PTX_OP_st ? OP_STORE : OP_ATOMIC;
	op->space = insn->space;
	op->elem = ptx_type_bytes(insn->type);
	op->vec = insn->vec;
	op->type = insn->type;
	op->atom = insn->atom;
	op->extend = insn->type >= PTX_S8 && insn->type <= PTX_S64;
	if (is_load) {
		for (i = 0; i < insn->ndst; i++)
			op->wide |= element_wide(b, &insn->dst[i]) << i;
	} else {
		for (i = 1; i < insn->nsrc; i++) {
			int ret = bind_row(b, i, op->elem == 8 ? 8 : 4);

			if (ret)
				return ret;
			op->wide |= element_wide(b, &insn->src[i]) << (i - 1);
		}
	}
	bind_address(b);
	bind_access(b);
	return 0;
}

/* The handle has 8 bytes a lane, what follows it 4. */
static int bind_texture(struct binder *b, uint8_t kind)
{
	const struct ptx_insn *insn = b->insn;
	struct exec_op *op = b->op;
	unsigned int i;
	int ret = 0;

	op->kind = kind;
	op->space = insn->space;
	op->type = insn->type;
	op->atom = insn->atom;
	for (i = 0; i < insn->ndst; i++)
		op->wide |= (insn->dst[i].kind == PTX_OPND_REG &&
			     register_bytes(b, &insn->dst[i]) == 8) << i;
	for (i = 0; i < insn->nsrc && !ret; i++)
		ret = bind_row(b, i, i ? 4 : 8);
	return ret;
}

/* mov or cvta of a local variable's address, in a function: the frame's place and an offset. */
static int bind_frame_address(struct binder *b, uint64_t offset)
{
	struct exec_program *program = b->program;
	struct exec_op *op = b->op;

	op->kind = OP_LANES;
	op->fn = find_row(b->table, PTX_OP_add, PTX_U64, PTX_NONE, SEL_NONE);
	op->src[0] = frame_row(program);
	op->src[1] = const_row(program, offset, 8);
	return op->src[1] == NO_ROW ? -ENOMEM : 0;
}

/* --- control -------------------------------------------------------------------------- */

static int bind_barrier(struct binder *b)
{
	const struct ptx_insn *insn = b->insn;
	unsigned int i;
	int ret = 0;

	/* The lanes of a warp that are together are always in step; sync.c waits for the others. */
	b->op->kind = insn->mods & PTX_MOD_WARP ? OP_NOP : OP_BARRIER;
	b->op->atom = insn->atom;
	for (i = 0; i < insn->nsrc && !ret; i++) {
		bool last = i + 1 == insn->nsrc;

		ret = bind_row(b, i, last && insn->atom >= PTX_BAR_RED_POPC &&
			       insn->atom <= PTX_BAR_RED_OR ? 0 : 4);
	}
	return ret;
}

static void bind_call(struct binder *b)
{
	const struct ptx_kernel *kernel = b->program->kernel;
	const struct ptx_call *call = &kernel->calls[b->insn->target];

	b->op->kind = call->builtin == PTX_BUILTIN_NONE ? OP_CALL : OP_BUILTIN;
}

/* Where an operation of several lanes has the lanes that it waits for. */
static uint8_t sync_kind(const struct binder *b)
{
	const struct ptx_insn *insn = b->insn;
	const struct ptx_operand *src;
	unsigned int members;

	switch (insn->opcode) {
	case PTX_OP_bar:
	case PTX_OP_barrier:
		if (!(insn->mods & PTX_MOD_WARP))
			return SYNC_ALL;
		members = 0;
		break;
	case PTX_OP_shfl:
		members = 3;
		break;
	case PTX_OP_vote:
	case PTX_OP_match:
	case PTX_OP_redux:
		members = 1;
		break;
	default:
		return SYNC_ALL;
	}
	src = &insn->src[members];
	return members >= insn->nsrc || (src->kind == PTX_OPND_REG && register_bytes(b, src) > 4) ?
	       SYNC_ALL : SYNC_MEMBERS + members;
}

int bind_machine(struct exec_program *program, const struct lane_table *table, uint32_t pc,
		 struct err *err)
{
	const struct ptx_insn *insn = &program->kernel->insns[pc];
	struct exec_op *op = &program->ops[pc];
	struct binder b = { program, table, insn, op, err };
	uint64_t offset;
	uint32_t i;

	if (insn->guard != PTX_NO_REG) {
		op->guard = program->reg_row[insn->guard];
		op->guard_flip = insn->guard_negate ? ALL_LANES : 0;
	}
	op->target = insn->target;
	op->reconv = insn->reconv;
	if (insn->opcode == PTX_OP_bar || insn->opcode == PTX_OP_barrier ||
	    insn->mods & PTX_MOD_SYNC)
		op->sync = sync_kind(&b);
	for (i = 0; i < insn->ndst; i++) {
		if (insn->dst[i].kind == PTX_OPND_REG)
			op->dst[i] = program->reg_row[insn->dst[i].reg];
	}
	switch (insn->opcode) {
	case PTX_OP_bra:
		op->kind = OP_BRANCH;
		return 0;
	case PTX_OP_brx:
		op->kind = OP_BRX;
		return bind_row(&b, 0, 4);
	case PTX_OP_call:
		bind_call(&b);
		return 0;
	case PTX_OP_ret:
		op->kind = function_at(program->kernel, pc) ? OP_RET : OP_EXIT;
		return 0;
	case PTX_OP_exit:
		op->kind = OP_EXIT;
		return 0;
	case PTX_OP_trap:
	case PTX_OP_brkpt:
		op->kind = OP_TRAP;
		return 0;
	case PTX_OP_bar:
	case PTX_OP_barrier:
		return bind_barrier(&b);
	case PTX_OP_membar:
	case PTX_OP_fence:
	case PTX_OP_nanosleep:
	case PTX_OP_prefetch:
	case PTX_OP_prefetchu:
	case PTX_OP_pmevent:
		op->kind = OP_NOP;
		return 0;
	case PTX_OP_ld:
	case PTX_OP_ldu:
	case PTX_OP_st:
	case PTX_OP_atom:
	case PTX_OP_red:
		return bind_memory(&b);
	case PTX_OP__texel:
		return bind_texture(&b, OP_TEXEL);
	case PTX_OP__texquery:
		return bind_texture(&b, OP_QUERY);
	case PTX_OP__surface:
		return bind_texture(&b, OP_SURFACE);
	case PTX_OP_mov:
	case PTX_OP_cvta:
		if (insn->src[0].kind == PTX_OPND_SYMBOL && insn->src[0].space == PTX_SPACE_LOCAL &&
		    (in_frame(&b, &insn->src[0], &offset) || insn->src[0].callee))
			return bind_frame_address(&b, insn->opcode == PTX_OP_cvta ?
						  offset + PTX_LOCAL_WINDOW : offset);
		return 1;
	default:
		return 1;
	}
}
