// SPDX-License-Identifier: GPL-2.0
/*
 * What one instruction makes of the intervals of values.c, which calls this.
 */
#include <errno.h>
#include <stdlib.h>

#include "ptx/flow.h"

unsigned int flow_bits(const struct flow *f, uint32_t reg)
{
	return 8 * ptx_type_bytes(f->kernel->regs[reg].type);
}

struct interval flow_value(const struct flow *f, const struct ptx_operand *op, uint8_t type)
{
	unsigned int bits = integer_bits(type);
	int64_t v = (int64_t)op->value;

	switch (op->kind) {
	case PTX_OPND_REG:
		return flow_taken(f, op->reg) ? f->now[f->index[op->reg] - 1] : INTERVAL_ANY;
	case PTX_OPND_IMM:
		if (bits && bits < 64)
			v = (int64_t)((uint64_t)v << (64 - bits)) >> (64 - bits);
		return (struct interval){ v, v };
	case PTX_OPND_SREG:
		return interval_sreg(op->value, f->kernel->max_threads);
	case PTX_OPND_SYMBOL:
		if (op->space == PTX_SPACE_SHARED && op->reg == PTX_NO_REG)
			return (struct interval){ v, v };
		return INTERVAL_ANY;
	default:
		return INTERVAL_ANY;
	}
}

/* The type in which an immediate source stands. */
static uint8_t source_type(const struct ptx_insn *insn, uint32_t i)
{
	switch (insn->opcode) {
	case PTX_OP_cvt:
		return insn->stype;
	case PTX_OP_shl: case PTX_OP_shr: case PTX_OP_bfe:
		return i ? PTX_U32 : insn->type;
	case PTX_OP_mad:
		return i == 2 && insn->mods & PTX_MOD_WIDE ? PTX_B64 : insn->type;
	default:
		return insn->type;
	}
}

static void set(struct flow *f, uint32_t index, struct interval v, bool some)
{
	if (index)
		f->now[index - 1] = some ? interval_join(f->now[index - 1], v) : v;
}
int flow_to_callee(struct flow *f, const struct ptx_insn *insn)
{
	const struct ptx_function *callee = insn_callee(f->kernel, insn);
	const struct ptx_call *call = &f->kernel->calls[insn->target];
	struct interval *values;
	uint32_t i;

	if (!callee)
		return 0;
	values = malloc(((size_t)f->n + 1) * sizeof(*values));
	if (!values)
		return -ENOMEM;
	for (i = 0; i < f->n; i++)
		values[i] = INTERVAL_ANY;
	for (i = 0; i < MIN(callee->nformals, call->nargs); i++) {
		uint32_t reg = callee->formals[i];

		if (flow_taken(f, reg))
			values[f->index[reg] - 1] = interval_fit(
				flow_value(f, &call->args[i], f->kernel->regs[reg].type),
				flow_bits(f, reg));
	}
	flow_to(f, f->cfg->block_of[callee->first], values);
	free(values);
	return 0;
}

/* A call's results may be anything. */
static void call(struct flow *f, const struct ptx_insn *insn)
{
	const struct ptx_call *c = &f->kernel->calls[insn->target];

	for (uint32_t i = 0; i < c->nresults; i++) {
		if (flow_taken(f, c->results[i]))
			set(f, f->index[c->results[i]], INTERVAL_ANY, false);
	}
}

/* A spill's load or store of a whole register; others' contents are not known. */
static bool is_whole(const struct flow *f, const struct ptx_insn *insn, uint32_t reg)
{
	return reg != PTX_NO_REG && insn->vec <= 1 &&
	       ptx_type_bytes(insn->type) == ptx_type_bytes(f->kernel->regs[reg].type);
}

static void spill_store(struct flow *f, const struct ptx_insn *insn, uint32_t slot)
{
	const struct ptx_operand *src = &insn->src[insn->nsrc - 1];
	bool whole = src->kind == PTX_OPND_REG && is_whole(f, insn, src->reg);

	set(f, slot, whole ? flow_value(f, src, insn->type) : INTERVAL_ANY,
	    insn->guard != PTX_NO_REG);
}

void flow_step(struct flow *f, uint32_t at)
{
	const struct ptx_insn *insn = &f->kernel->insns[at];
	uint32_t *slot = flow_slot(f, at), i;
	struct interval src[PTX_MAX_SRC], v;

	if (insn->opcode == PTX_OP_call)
		call(f, insn);
	if (slot && insn->opcode == PTX_OP_st)
		spill_store(f, insn, *slot);
	for (i = 0; i < insn->nsrc; i++)
		src[i] = flow_value(f, &insn->src[i], source_type(insn, i));
	for (i = 0; i < insn->ndst; i++) {
		uint32_t reg = insn->dst[i].reg;

		if (!flow_taken(f, reg))
			continue;
		v = INTERVAL_ANY;
		if (!i || insn->opcode == PTX_OP_ld || insn->opcode == PTX_OP_ldu)
			v = interval_evaluate(insn, src, flow_bits(f, reg));
		if (slot && *slot && insn->opcode == PTX_OP_ld && is_whole(f, insn, reg))
			v = f->now[*slot - 1];
		/* Only the lanes that wrote a spill's register read it. */
		set(f, f->index[reg], v,
		    insn->guard != PTX_NO_REG && !f->kernel->regs[reg].spill);
	}
	f->steps++;
}
