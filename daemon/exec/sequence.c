// SPDX-License-Identifier: GPL-2.0
/*
 * What a function of lanes.h does not do itself: .ftz, .sat, rounding modes and
 * registers wider than the type become steps before and after it. Built by
 * bind.c, run like any other function.
 */
#include <errno.h>
#include <fenv.h>
#include <stdlib.h>
#include <string.h>

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

static struct exec_sequence *new_sequence(struct exec_program *program)
{
	uint32_t cap = program->seqs_cap ? 2 * program->seqs_cap : 16;
	struct exec_sequence *seqs;

	if (program->nseqs == program->seqs_cap) {
		seqs = reallocarray(program->seqs, cap, sizeof(*seqs));
		if (!seqs)
			return NULL;
		program->seqs = seqs;
		program->seqs_cap = cap;
	}
	memset(&program->seqs[program->nseqs], 0, sizeof(*seqs));
	program->seqs[program->nseqs].core = -1;
	return &program->seqs[program->nseqs++];
}

/* Adds the step scratch := sel(from) and returns the scratch row. */
static uint32_t add_step(const struct binder *b, struct exec_sequence *seq, uint8_t sel,
			 uint8_t type, uint8_t stype, uint32_t from)
{
	struct exec_op *step = &seq->ops[seq->n];
	uint32_t row = b->program->scratch_row + seq->n * ROW8;

	step->fn = find_row(b->table, PTX_OP_PSEUDO, type, stype, sel);
	step->dst[0] = row;
	step->src[0] = from;
	seq->n++;
	return row;
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

/*
 * The type whose subnormals .ftz flushes among the sources, and in the result.
 * cvt flushes on the side that is f32.
 */
static bool flushes_source(const struct ptx_insn *insn, unsigned int i)
{
	uint8_t type = insn->opcode == PTX_OP_cvt || insn->opcode == PTX_OP_set ||
		       (insn->opcode == PTX_OP_slct && i == 2) ? insn->stype : insn->type;

	if (!(insn->mods & PTX_MOD_FTZ) || is_predicate(insn, i))
		return false;
	if (insn->opcode == PTX_OP_slct)
		return i == 2;
	return type == PTX_F32 || (type == PTX_F64 && insn->opcode != PTX_OP_cvt);
}

static bool flushes_result(const struct ptx_insn *insn)
{
	if (!(insn->mods & PTX_MOD_FTZ))
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

/* Rounding of an f32 to an integral value happens in f32, of the others in f64 or f32 alike. */
static bool rounds_before(const struct ptx_insn *insn)
{
	return insn->opcode == PTX_OP_cvt && type_is_float(insn->stype) && insn->stype != PTX_F16 &&
	       roundings[insn->rnd].integral &&
	       !(insn->rnd == PTX_RND_RZI && !type_is_float(insn->type));
}

static bool saturates_result(const struct ptx_insn *insn)
{
	return insn->mods & PTX_MOD_SAT && (insn->type == PTX_F32 || insn->type == PTX_F64);
}

static bool widens_result(const struct binder *b)
{
	const struct ptx_operand *dst = &b->insn->dst[0];

	return b->insn->opcode == PTX_OP_cvt && dst->kind == PTX_OPND_REG &&
	       register_bytes(b, dst) == 8 && ptx_type_bytes(b->insn->type) < 8;
}

static bool resizes_source(const struct binder *b, unsigned int i)
{
	uint8_t kind = b->insn->src[i].kind;

	return (kind == PTX_OPND_REG || kind == PTX_OPND_SREG) && !is_predicate(b->insn, i) &&
	       source_bytes(b, i) != wanted_bytes(b->insn, i);
}

static bool needs_sequence(const struct binder *b)
{
	unsigned int i;
	bool need = roundings[b->insn->rnd].mode != FE_TONEAREST || rounds_before(b->insn) ||
		    flushes_result(b->insn) || saturates_result(b->insn) || widens_result(b);

	for (i = 0; i < b->insn->nsrc; i++)
		need |= flushes_source(b->insn, i) || resizes_source(b, i);
	return need;
}

int sequence_wrap(struct binder *b)
{
	const struct ptx_insn *insn = b->insn;
	struct exec_sequence *seq;
	struct exec_op core = *b->op;
	bool is_signed = insn->type >= PTX_S8 && insn->type <= PTX_S64;
	uint32_t final = core.dst[0], row;
	uint8_t stype = insn->stype ? insn->stype : insn->type;
	unsigned int i;

	if (!needs_sequence(b))
		return 0;
	seq = new_sequence(b->program);
	if (!seq)
		return -ENOMEM;
	for (i = 0; i < insn->nsrc; i++) {
		if (resizes_source(b, i))
			core.src[i] = source_bytes(b, i) == 8 ?
				add_step(b, seq, PSEUDO_RESIZE, PTX_U32, PTX_U64, core.src[i]) :
				add_step(b, seq, PSEUDO_RESIZE, PTX_U64, PTX_U32, core.src[i]);
		if (flushes_source(insn, i))
			core.src[i] = add_step(b, seq, PSEUDO_FLUSH,
					       insn->opcode == PTX_OP_slct ? PTX_F32 : stype,
					       PTX_NONE, core.src[i]);
	}
	if (rounds_before(insn))
		core.src[0] = add_step(b, seq, roundings[insn->rnd].integral, insn->stype, PTX_NONE,
				       core.src[0]);
	if (roundings[insn->rnd].mode != FE_TONEAREST) {
		seq->core = seq->n;
		seq->round = roundings[insn->rnd].mode;
	}
	row = b->program->scratch_row + seq->n * ROW8;
	if (flushes_result(insn) || saturates_result(insn) || widens_result(b))
		core.dst[0] = row;
	seq->ops[seq->n++] = core;
	if (flushes_result(insn))
		row = add_step(b, seq, PSEUDO_FLUSH, insn->type, PTX_NONE, row);
	if (saturates_result(insn))
		row = add_step(b, seq, PSEUDO_SATURATE, insn->type, PTX_NONE, row);
	if (widens_result(b))
		add_step(b, seq, PSEUDO_RESIZE, is_signed ? PTX_S64 : PTX_U64,
			 is_signed ? PTX_S32 : PTX_U32, row);
	seq->ops[seq->n - 1].dst[0] = final;
	b->op->fn = sequence_run;
	b->op->offset = b->program->nseqs - 1;
	return 0;
}
