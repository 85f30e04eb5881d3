// SPDX-License-Identifier: GPL-2.0
/*
 * What a function of lanes.h does not do itself: .ftz, .sat, .relu, rounding
 * modes, halves that are compared or converted, and registers wider than the
 * type become steps before and after it. Built by bind.c, run like any other
 * function. A step writes a scratch row, the last one the register.
 */
#include <errno.h>
#include <fenv.h>
#include <stdlib.h>

#include "base/array.h"
#include "exec/private.h"

void sequence_run(uint8_t *arena, const struct exec_op *op, uint32_t mask)
{
	const struct exec_sequence *seq = op->seq;
	int i, saved;

	for (i = 0; i < seq->n; i++) {
		if (i != seq->core) {
			seq->ops[i].fn(arena, &seq->ops[i], mask);
			continue;
		}
		saved = fegetround();
		fesetround(seq->round);
		seq->ops[i].fn(arena, &seq->ops[i], mask);
		fesetround(saved);
	}
}

/* A sequence while it is made; `missing`: a step that no row of the table does. */
struct chain {
	const struct binder *b;
	const struct ptx_insn *insn;
	struct exec_sequence seq;
	struct exec_op core;
	bool missing;
	unsigned int core_at;		/* the core's place in the sequence */
};

/* Instead of a row: the core's result. */
#define OF_CORE	UINT32_MAX

static uint32_t step_row(struct chain *c, unsigned int n)
{
	return scratch_row(c->b->program) + n * ROW8;
}

/* Adds the step scratch := fn(from) and returns the scratch row. */
static uint32_t add_row(struct chain *c, uint16_t opcode, uint8_t sel, uint8_t type,
			uint8_t stype, uint32_t from)
{
	uint32_t row = step_row(c, c->seq.n);
	struct exec_op *step = &c->seq.ops[c->seq.n];

	if (c->seq.n == SEQ_MAX) {
		c->missing = true;
		return row;
	}
	step->fn = find_row(c->b->table, opcode, type, stype, sel);
	step->dst[0] = row;
	step->src[0] = from == OF_CORE ? step_row(c, c->core_at) : from;
	c->missing |= !step->fn;
	c->seq.n++;
	return row;
}

static uint32_t add_step(struct chain *c, uint8_t sel, uint8_t type, uint8_t stype, uint32_t from)
{
	return add_row(c, PTX_OP_PSEUDO, sel, type, stype, from);
}

static const struct {
	int mode;
	uint8_t integral;
} roundings[] = {
	[PTX_RND_NONE] = { FE_TONEAREST, 0 },
	[PTX_RND_RN] = { FE_TONEAREST, 0 },
	[PTX_RND_RZ] = { FE_TOWARDZERO, 0 },
	[PTX_RND_RM] = { FE_DOWNWARD, 0 },
	[PTX_RND_RP] = { FE_UPWARD, 0 },
	[PTX_RND_RNI] = { FE_TONEAREST, PSEUDO_RNI },
	[PTX_RND_RZI] = { FE_TONEAREST, PSEUDO_RZI },
	[PTX_RND_RMI] = { FE_TONEAREST, PSEUDO_RMI },
	[PTX_RND_RPI] = { FE_TONEAREST, PSEUDO_RPI },
};

static bool compares(const struct ptx_insn *insn)
{
	return insn->opcode == PTX_OP_setp || insn->opcode == PTX_OP_set;
}

static uint8_t source_type(const struct ptx_insn *insn)
{
	return insn->stype && (insn->opcode == PTX_OP_cvt || insn->opcode == PTX_OP_set ||
			       insn->opcode == PTX_OP_slct) ? insn->stype : insn->type;
}

/* cvt flushes on the side that is f32; slct what it tests. */
static bool flushes_source(const struct ptx_insn *insn, unsigned int i)
{
	uint8_t type = source_type(insn);

	if (!(insn->mods & PTX_MOD_FTZ) || is_predicate(insn, i) || has_own_ftz(insn))
		return false;
	if (insn->opcode == PTX_OP_slct)
		return i == 2 && type == PTX_F32;
	return insn->opcode == PTX_OP_cvt ? type == PTX_F32 : type_is_float(type);
}

static bool flushes_result(const struct ptx_insn *insn)
{
	if (!(insn->mods & PTX_MOD_FTZ) || has_own_ftz(insn))
		return false;
	switch (insn->opcode) {
	case PTX_OP_setp:
	case PTX_OP_set:
	case PTX_OP_slct:
		return false;
	case PTX_OP_cvt:
		return insn->type == PTX_F32;
	default:
		return type_is_float(insn->type);
	}
}

static bool resizes_source(const struct binder *b, unsigned int i)
{
	uint8_t kind = b->insn->src[i].kind;

	return (kind == PTX_OPND_REG || kind == PTX_OPND_SREG) && !is_predicate(b->insn, i) &&
	       source_bytes(b, i) != wanted_bytes(b->insn, i);
}

static void prepare_source(struct chain *c, unsigned int i)
{
	uint32_t row = c->core.src[i];

	if (resizes_source(c->b, i))
		row = source_bytes(c->b, i) == 8 ?
			add_step(c, PSEUDO_RESIZE, PTX_U32, PTX_U64, row) :
			add_step(c, PSEUDO_RESIZE, PTX_U64, PTX_U32, row);
	if (flushes_source(c->insn, i))
		row = add_step(c, PSEUDO_FLUSH, source_type(c->insn), PTX_NONE, row);
	c->core.src[i] = row;
}

static uint8_t one_of(uint8_t type)
{
	return type == PTX_F16X2 ? PTX_F16 : type == PTX_BF16X2 ? PTX_BF16 : type;
}

/* Halves are compared as f32; the high ones of pairs are sources 3 and 4. */
static void widen_compared(struct chain *c)
{
	uint8_t type = source_type(c->insn);
	uint32_t row;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		row = c->core.src[i];
		c->core.src[i] = add_row(c, PTX_OP_cvt, SEL_NONE, PTX_F32, one_of(type), row);
		if (type_is_pair(type))
			c->core.src[3 + i] = add_step(c, PSEUDO_HIGH, PTX_F32, type, row);
	}
}

/*
 * A half becomes an f32 first. An integral value is found in the wider format, but
 * truncation to an integer needs no step. What becomes a half is an f32 by rounding to odd.
 */
static void prepare_convert(struct chain *c)
{
	const struct ptx_insn *insn = c->insn;
	uint8_t integral = roundings[insn->rnd].integral, stype = insn->stype;
	uint32_t row = c->core.src[0];

	if (copies_half(insn))
		return;
	if (type_is_half(stype)) {
		row = add_row(c, PTX_OP_cvt, SEL_NONE, PTX_F32, stype, row);
		stype = PTX_F32;
	}
	if (integral && type_is_float(stype) &&
	    (insn->rnd != PTX_RND_RZI || type_is_float(insn->type)))
		row = add_step(c, integral, stype, PTX_NONE, row);
	if (type_is_half(insn->type) && stype != PTX_F32)
		row = add_step(c, PSEUDO_ODD, PTX_F32, stype, row);
	c->core.src[0] = row;
}

static bool widens_result(const struct binder *b)
{
	const struct ptx_operand *dst = &b->insn->dst[0];

	return b->insn->opcode == PTX_OP_cvt && dst->kind == PTX_OPND_REG &&
	       register_bytes(b, dst) == 8 && ptx_type_bytes(b->insn->type) < 8;
}

/* Adds the steps behind the core, in the order of the result's way to the register. */
static void finish_result(struct chain *c)
{
	const struct ptx_insn *insn = c->insn;
	uint32_t row = OF_CORE;
	bool is_signed = insn->type >= PTX_S8 && insn->type <= PTX_S64;

	if (flushes_result(insn))
		row = add_step(c, PSEUDO_FLUSH, insn->type, PTX_NONE, row);
	if (insn->mods & PTX_MOD_SAT && type_is_float(insn->type))
		row = add_step(c, PSEUDO_SATURATE, insn->type, PTX_NONE, row);
	if (insn->mods & PTX_MOD_SATFINITE)
		row = add_step(c, PSEUDO_FINITE, insn->type, PTX_NONE, row);
	if (insn->mods & PTX_MOD_RELU)
		row = add_step(c, PSEUDO_RELU, insn->type, PTX_NONE, row);
	if (widens_result(c->b))
		add_step(c, PSEUDO_RESIZE, is_signed ? PTX_S64 : PTX_U64,
			 is_signed ? PTX_S32 : PTX_U32, row);
}

static int keep_sequence(struct exec_program *program, const struct exec_sequence *seq)
{
	if (array_grow(program->seqs, program->seqs_cap, program->nseqs))
		return -ENOMEM;
	program->seqs[program->nseqs++] = *seq;
	return 0;
}

int sequence_wrap(struct binder *b)
{
	const struct ptx_insn *insn = b->insn;
	struct chain c = { .b = b, .insn = insn, .seq.core = -1, .core = *b->op };
	uint32_t final = b->op->dst[0];
	int core, ret;
	unsigned int i;

	for (i = 0; i < insn->nsrc; i++)
		prepare_source(&c, i);
	if (compares(insn) && type_is_half(source_type(insn)))
		widen_compared(&c);
	if (insn->opcode == PTX_OP_cvt)
		prepare_convert(&c);
	if (c.seq.n == SEQ_MAX)
		return -EOPNOTSUPP;
	core = c.seq.n++;
	c.core_at = (unsigned int)core;
	if (roundings[insn->rnd].mode != FE_TONEAREST && !type_is_half(insn->type)) {
		c.seq.core = core;
		c.seq.round = roundings[insn->rnd].mode;
	}
	finish_result(&c);
	if (c.missing)
		return -EOPNOTSUPP;
	if (c.seq.n == 1 && c.seq.core < 0)
		return 0;
	if (core + 1 < c.seq.n) {
		c.core.dst[0] = step_row(&c, c.core_at);
		c.seq.ops[c.seq.n - 1].dst[0] = final;
	}
	c.seq.ops[core] = c.core;
	ret = keep_sequence(b->program, &c.seq);
	if (ret)
		return ret;
	b->op->fn = sequence_run;
	b->op->offset = b->program->nseqs - 1;
	return 0;
}
