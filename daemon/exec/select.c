// SPDX-License-Identifier: GPL-2.0
/*
 * Which function of lanes.h an instruction is: opcode, types and modifiers to a
 * row of a table. What surrounds the function (.ftz, rounding, saturation) is
 * in sequence.c, its operands in bind.c.
 */
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

compare_fn find_compare(const struct lane_table *table, uint8_t cmp, uint8_t type)
{
	uint32_t i;

	for (i = 0; i < table->ncompares; i++) {
		if (table->compares[i].cmp == cmp && table->compares[i].type == type)
			return table->compares[i].fn;
	}
	return NULL;
}

bool type_is_pair(uint8_t type)
{
	return type == PTX_F16X2 || type == PTX_BF16X2;
}

bool type_is_half(uint8_t type)
{
	return type == PTX_F16 || type == PTX_BF16 || type_is_pair(type);
}

bool type_is_float(uint8_t type)
{
	return type == PTX_F32 || type == PTX_F64 || type_is_half(type);
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

/* The type that a comparison compares: halves are widened. */
uint8_t compared_type(const struct ptx_insn *insn)
{
	uint8_t type = insn->opcode == PTX_OP_set ? insn->stype : insn->type;

	return type_is_half(type) ? PTX_F32 : type;
}

bool copies_half(const struct ptx_insn *insn)
{
	return type_is_half(insn->type) && insn->type == insn->stype &&
	       insn->rnd < PTX_RND_RNI;
}

/* .ftz that the function does itself. */
bool has_own_ftz(const struct ptx_insn *insn)
{
	if (!(insn->mods & PTX_MOD_FTZ) || insn->type != PTX_F32)
		return false;
	switch (insn->opcode) {
	case PTX_OP_add:
	case PTX_OP_sub:
	case PTX_OP_mul:
	case PTX_OP_fma:
	case PTX_OP_mad:
		return true;
	default:
		return false;
	}
}

static uint8_t select_multiply(const struct ptx_insn *insn)
{
	bool hi = insn->mods & PTX_MOD_HI;

	if (type_is_float(insn->type))
		return has_own_ftz(insn) ? SEL_FTZ : SEL_NONE;
	if (insn->mods & PTX_MOD_SAT)
		return SEL_SAT;
	if (insn->mods & PTX_MOD_CC && insn->opcode == PTX_OP_mad)
		return hi ? SEL_HI_CC : SEL_LO_CC;
	return insn->mods & PTX_MOD_LO ? SEL_LO : hi ? SEL_HI : SEL_WIDE;
}

static uint8_t select_add(const struct ptx_insn *insn)
{
	if (type_is_float(insn->type))
		return has_own_ftz(insn) ? SEL_FTZ : SEL_NONE;
	return insn->mods & PTX_MOD_CC ? SEL_CC : insn->mods & PTX_MOD_SAT ? SEL_SAT : SEL_NONE;
}

static uint8_t select_convert(const struct ptx_insn *insn)
{
	if (copies_half(insn))
		return SEL_NONE;
	if (type_is_half(insn->type))
		return insn->rnd >= PTX_RND_RN && insn->rnd <= PTX_RND_RP ?
			SEL_RN + (insn->rnd - PTX_RND_RN) : SEL_RN;
	return insn->mods & PTX_MOD_SAT && !type_is_float(insn->type) &&
	       !type_is_float(insn->stype) ? SEL_SAT : SEL_NONE;
}

static uint8_t select_move(const struct ptx_insn *insn)
{
	if (insn->vec == 1)
		return SEL_NONE;
	if (insn->nsrc > 1)
		return insn->vec == 2 ? SEL_PACK2 : SEL_PACK4;
	return insn->vec == 2 ? SEL_UNPACK2 : SEL_UNPACK4;
}

/* Which of the functions of this opcode and type. */
static uint8_t select_of(const struct ptx_insn *insn)
{
	switch (insn->opcode) {
	case PTX_OP_mul:
	case PTX_OP_mad:
	case PTX_OP_madc:
	case PTX_OP_mul24:
	case PTX_OP_mad24:
	case PTX_OP_fma:
		return select_multiply(insn);
	case PTX_OP_dp2a:
		return insn->mods & PTX_MOD_HI ? SEL_HI : SEL_LO;
	case PTX_OP_add:
	case PTX_OP_sub:
		return select_add(insn);
	case PTX_OP_min:
	case PTX_OP_max:
		return insn->mods & PTX_MOD_XORSIGN ?
			insn->mods & PTX_MOD_NAN ? SEL_NAN_XORSIGN : SEL_XORSIGN :
			insn->mods & PTX_MOD_NAN ? SEL_NAN : SEL_NONE;
	case PTX_OP_div:
	case PTX_OP_rcp:
	case PTX_OP_sqrt:
		return insn->mods & PTX_MOD_APPROX ? SEL_APPROX : SEL_NONE;
	case PTX_OP_rsqrt:
		return insn->type == PTX_F64 && insn->mods & PTX_MOD_FTZ ? SEL_FTZ : SEL_APPROX;
	case PTX_OP_sin:
	case PTX_OP_cos:
	case PTX_OP_ex2:
	case PTX_OP_lg2:
	case PTX_OP_tanh:
		return SEL_APPROX;
	case PTX_OP_mov:
		return select_move(insn);
	case PTX_OP_bfind:
		return insn->mods & PTX_MOD_SHIFTAMT ? SEL_SHIFTAMT : SEL_NONE;
	case PTX_OP_bmsk:
	case PTX_OP_szext:
		return insn->mods & PTX_MOD_CLAMP ? SEL_CLAMP : SEL_NONE;
	case PTX_OP_shf:
		if (insn->mods & PTX_MOD_CLAMP)
			return insn->atom == PTX_SHF_L ? SEL_L_CLAMP : SEL_R_CLAMP;
		return insn->atom == PTX_SHF_L ? SEL_L_WRAP : SEL_R_WRAP;
	case PTX_OP_prmt:
	case PTX_OP_vabsdiff4:
	case PTX_OP_vote:
	case PTX_OP_match:
	case PTX_OP_redux:
	case PTX_OP_shfl:
	case PTX_OP_testp:
		return insn->atom;
	case PTX_OP_isspacep:
		return insn->space;
	case PTX_OP_setp:
		return type_is_pair(insn->type) ? SEL_X2 : SEL_NONE;
	case PTX_OP_set:
		return type_is_pair(insn->stype) ? SEL_X2 : SEL_NONE;
	case PTX_OP_cvt:
		return select_convert(insn);
	default:
		return SEL_NONE;
	}
}

/* Modifiers that the rows say nothing of must mean something for the type. */
static bool modifiers_fit(const struct ptx_insn *insn)
{
	bool half = type_is_half(insn->type);
	bool relu = half || insn->type == PTX_S32 || insn->type == PTX_S16X2;

	if ((insn->mods & PTX_MOD_SATFINITE && !half) || (insn->mods & PTX_MOD_RELU && !relu))
		return false;
	/* Halves round to nearest; only conversions do otherwise. */
	if (half && insn->opcode != PTX_OP_cvt && insn->rnd > PTX_RND_RN)
		return false;
	return true;
}

lane_fn select_function(const struct lane_table *table, const struct ptx_insn *insn)
{
	uint8_t type = insn->type, stype = insn->stype;

	if (!modifiers_fit(insn))
		return NULL;
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
	case PTX_OP_cvt:
		/* A half is converted by way of f32, see sequence.c. */
		if ((type_is_half(type) || type_is_half(stype)) && !copies_half(insn))
			stype = PTX_F32;
		break;
	default:
		break;
	}
	return find_row(table, insn->opcode, type, stype, select_of(insn));
}
