// SPDX-License-Identifier: GPL-2.0
/*
 * What opcodes.def does not say by columns: which modifiers, types and operands
 * of an instruction go together (PTX ISA, "Instructions"). Called by insn.c once
 * an instruction is read.
 */
#include <errno.h>
#include <stdlib.h>

#include "ptx/parser.h"

/* Which results set has (as ptxas takes them): of halves, other ones than of numbers. */
static bool is_set_type(uint8_t type, uint8_t stype, uint32_t mods)
{
	if (mods & PTX_MOD_FTZ && (type == PTX_BF16 || type == PTX_BF16X2))
		return false;
	if (stype == PTX_F16X2 || stype == PTX_BF16X2)
		return type == stype || type == PTX_U32 || type == PTX_S32;
	if (stype == PTX_F16)
		return type != PTX_F32;
	if (stype == PTX_BF16)
		return type != PTX_F32 && type != PTX_F16;
	return type != PTX_U16 && type != PTX_S16;
}

static int check_compare(struct parser *p, struct ptx_insn *insn)
{
	uint8_t type = insn->stype ? insn->stype : insn->type;

	if (!insn->cmp)
		return bad(p, "the comparison is missing");
	if (insn->cmp >= PTX_CMP_EQU && !is_float(type))
		return bad(p, "only floating-point numbers compare unordered");
	if (insn->cmp >= PTX_CMP_LT && insn->cmp <= PTX_CMP_GE && is_bits(type))
		return bad(p, "bits are equal or not, and in no order");
	if (insn->opcode == PTX_OP_setp && insn->ndst > 1 &&
	    (type == PTX_F16 || type == PTX_BF16))
		return bad(p, "only one predicate for one half");
	if (insn->opcode == PTX_OP_set && !is_set_type(insn->type, type, insn->mods))
		return bad(p, "no result of this type");
	if (insn->boolop && insn->nsrc < 3)
		return bad(p, "the operand that .and, .or or .xor combines with is missing");
	if (!insn->boolop && insn->nsrc > 2)
		return bad(p, "one operand too many");
	return 0;
}

static int check_multiply(struct parser *p, struct ptx_insn *insn)
{
	uint32_t half = insn->mods & (PTX_MOD_LO | PTX_MOD_HI | PTX_MOD_WIDE);
	bool is_24 = insn->opcode == PTX_OP_mul24 || insn->opcode == PTX_OP_mad24;

	if (is_float(insn->type))
		return half ? bad(p, ".lo, .hi and .wide are for integers") : 0;
	if (!half || half & (half - 1))
		return bad(p, "one of .lo, .hi and .wide is needed");
	if (half == PTX_MOD_WIDE && (ptx_type_bytes(insn->type) > 4 || is_24 ||
				     insn->mods & PTX_MOD_CC || insn->opcode == PTX_OP_madc))
		return bad(p, ".wide is for 16 and 32 bits");
	if (insn->mods & PTX_MOD_SAT &&
	    !((insn->opcode == PTX_OP_mad || insn->opcode == PTX_OP_mad24) &&
	      half == PTX_MOD_HI && insn->type == PTX_S32))
		return bad(p, ".sat is for mad.hi.s32");
	return 0;
}

static int check_convert(struct parser *p, struct ptx_insn *insn)
{
	bool to = is_float(insn->type), from = is_float(insn->stype);
	bool integral = insn->rnd >= PTX_RND_RNI;
	bool packed = insn->type == PTX_F16X2 || insn->type == PTX_BF16X2;

	if (packed != (insn->nsrc == 2))
		return bad(p, "f16x2 and bf16x2 are made of two values");
	if (packed && insn->stype != PTX_F32)
		return bad(p, "f16x2 and bf16x2 are made of f32");
	if (insn->mods & PTX_MOD_RELU && (insn->stype != PTX_F32 || insn->type == PTX_F32 ||
					  insn->type == PTX_F64 || !to))
		return bad(p, ".relu is for f16 and bf16 of f32");
	if (insn->mods & PTX_MOD_SATFINITE && (insn->stype != PTX_F32 || !is_half(insn->type)))
		return bad(p, ".satfinite is for f16 and bf16 of f32");
	if (insn->mods & (PTX_MOD_RELU | PTX_MOD_SATFINITE) &&
	    (insn->mods & (PTX_MOD_FTZ | PTX_MOD_SAT) ||
	     (insn->rnd != PTX_RND_RN && insn->rnd != PTX_RND_RZ)))
		return bad(p, ".relu and .satfinite go with .rn and .rz alone");
	if ((insn->type == PTX_BF16 || insn->stype == PTX_BF16) &&
	    (insn->mods & PTX_MOD_SAT ||
	     (T_SMALL >> insn->type & 1) || (T_SMALL >> insn->stype & 1)))
		return bad(p, "bf16 is not saturated, nor of 8 bits");
	if (to && from && integral && insn->type != insn->stype)
		return bad(p, "rounding to an integral value keeps the type");
	if (to && from && insn->rnd && insn->stype != PTX_BF16 &&
	    ptx_type_bytes(insn->type) > ptx_type_bytes(insn->stype))
		return bad(p, "a wider type holds the number as it is");
	if (from && !to && !integral)
		return bad(p, "rounding to an integer is .rni, .rzi, .rmi or .rpi");
	if (to && !insn->rnd && (!from || packed ||
				 ptx_type_bytes(insn->stype) > ptx_type_bytes(insn->type)))
		return bad(p, "the rounding is missing: .rn, .rz, .rm or .rp");
	if (!to && !from && insn->rnd)
		return bad(p, "an integer is not rounded");
	if (to && !from && integral)
		return bad(p, "rounding from an integer is .rn, .rz, .rm or .rp");
	if (to && from && insn->type == insn->stype && insn->rnd && !integral)
		return bad(p, "rounding to an integral value is .rni, .rzi, .rmi or .rpi");
	if (insn->mods & PTX_MOD_FTZ && insn->type != PTX_F32 && insn->stype != PTX_F32)
		return bad(p, ".ftz is for f32");
	return 0;
}

/* PTX has no default for what these do: a rounding, .approx or .full is written. */
static int check_rounding(struct parser *p, struct ptx_insn *insn)
{
	bool approx = insn->mods & (PTX_MOD_APPROX | PTX_MOD_FULL);

	switch (insn->opcode) {
	case PTX_OP_fma:
	case PTX_OP_mad:
		return insn->rnd || !is_float(insn->type) ? 0 : bad(p, "the rounding is missing");
	case PTX_OP_div:
		if (insn->mods & PTX_MOD_FULL && insn->type != PTX_F32)
			return bad(p, ".full is for f32");
		if (approx && insn->type != PTX_F32)
			return bad(p, "no approximate division of this type");
		/* fall through */
	case PTX_OP_rcp:
	case PTX_OP_sqrt:
		if (is_float(insn->type) && !insn->rnd == !approx)
			return bad(p, "either a rounding or .approx is needed");
		if (insn->type == PTX_F64 && approx && !(insn->mods & PTX_MOD_FTZ))
			return bad(p, "no .approx of f64 without .ftz");
		return 0;
	case PTX_OP_rsqrt:
	case PTX_OP_sin:
	case PTX_OP_cos:
	case PTX_OP_ex2:
	case PTX_OP_lg2:
	case PTX_OP_tanh:
		return approx ? 0 : bad(p, ".approx is needed");
	default:
		return 0;
	}
}

static bool may_flush(const struct ptx_insn *insn)
{
	uint8_t type = insn->stype ? insn->stype : insn->type;

	if (insn->opcode == PTX_OP_cvt)
		return true;
	if (insn->opcode == PTX_OP_ex2)
		return type != PTX_F16 && type != PTX_F16X2;
	if (type == PTX_F64)
		return insn->mods & PTX_MOD_APPROX &&
			(insn->opcode == PTX_OP_rcp || insn->opcode == PTX_OP_rsqrt);
	return type == PTX_F32 || type == PTX_F16 || type == PTX_F16X2;
}

static int check_float(struct parser *p, struct ptx_insn *insn)
{
	uint8_t type = insn->stype ? insn->stype : insn->type;

	if (insn->opcode == PTX_OP_cvt)
		return 0;
	if (insn->mods & PTX_MOD_FTZ && insn->type == PTX_F64 && insn->opcode == PTX_OP_rcp &&
	    insn->rnd)
		return unsupported(p, "no rcp of f64 with a rounding and .ftz");
	if (insn->mods & PTX_MOD_FTZ && !may_flush(insn))
		return bad(p, ".ftz is for f32");
	if (insn->opcode == PTX_OP_ex2 && !(insn->mods & PTX_MOD_FTZ) &&
	    (type == PTX_BF16 || type == PTX_BF16X2))
		return bad(p, "ex2 of bf16 has .ftz");
	if (insn->rnd && !is_float(insn->type))
		return bad(p, "an integer is not rounded");
	if (insn->rnd && is_half(insn->type) && insn->rnd != PTX_RND_RN)
		return unsupported(p, "halves are rounded by .rn");
	if (insn->mods & PTX_MOD_SAT && (insn->type == PTX_F64 || insn->type == PTX_BF16 ||
					 insn->type == PTX_BF16X2))
		return bad(p, ".sat is not for f64");
	if (insn->mods & PTX_MOD_SAT && !is_float(insn->type) &&
	    (insn->opcode == PTX_OP_add || insn->opcode == PTX_OP_sub) &&
	    (insn->type != PTX_S32 || insn->mods & PTX_MOD_CC))
		return bad(p, ".sat of integers is for s32");
	if (insn->mods & (PTX_MOD_NAN | PTX_MOD_XORSIGN) &&
	    (type == PTX_F64 || !is_float(type)))
		return bad(p, ".NaN and .xorsign.abs are for f32 and halves");
	if (insn->mods & PTX_MOD_RELU && insn->opcode != PTX_OP_fma) {
		if (insn->type != PTX_S32 && insn->type != PTX_S16X2)
			return bad(p, ".relu is for s32 and s16x2");
	} else if (insn->mods & PTX_MOD_RELU &&
		   (!is_half(insn->type) || insn->mods & PTX_MOD_SAT)) {
		return bad(p, ".relu is for halves, without .sat");
	}
	return check_rounding(p, insn);
}

static int check_memory(struct parser *p, struct ptx_insn *insn)
{
	bool is_store = insn->opcode != PTX_OP_ld && insn->opcode != PTX_OP_ldu;
	static const uint32_t atom_types[] = {
		[PTX_ATOM_ADD] = T_WORD | T_HALF | T_FLOAT,
		[PTX_ATOM_MIN] = T_WORD,
		[PTX_ATOM_MAX] = T_WORD,
		[PTX_ATOM_AND] = T_B32 | T_B64 | T_WORD,
		[PTX_ATOM_OR] = T_B32 | T_B64 | T_WORD,
		[PTX_ATOM_XOR] = T_B32 | T_B64 | T_WORD,
		[PTX_ATOM_EXCH] = T_B32 | T_B64 | T_WORD | T_FLOAT,
		[PTX_ATOM_CAS] = T_B16 | T_B32 | T_B64 | T_WORD,
		[PTX_ATOM_INC] = T_U32,
		[PTX_ATOM_DEC] = T_U32,
	};

	if (!insn->space)
		insn->space = PTX_SPACE_GENERIC;
	if (insn->vec > 1 && ptx_type_bytes(insn->type) * insn->vec > 16)
		return unsupported(p, "a lane moves 16 bytes at most");
	if (is_store && insn->space == PTX_SPACE_CONST)
		return unsupported(p, "this space is read only");
	if (insn->opcode != PTX_OP_atom && insn->opcode != PTX_OP_red)
		return 0;
	if (insn->space == PTX_SPACE_LOCAL)
		return bad(p, "atomics are of global and shared memory");
	if (!insn->atom)
		return bad(p, "the operation is missing");
	if (insn->opcode == PTX_OP_red && insn->atom >= PTX_ATOM_EXCH && insn->atom <= PTX_ATOM_CAS)
		return bad(p, "red does not return a value");
	if (!(atom_types[insn->atom] >> insn->type & 1))
		return unsupported(p, "no such atomic of this type");
	if (insn->mods & PTX_MOD_NOFTZ && (insn->atom != PTX_ATOM_ADD || !is_half(insn->type)))
		return bad(p, ".noftz is for adding halves");
	/* The address is a source too. */
	if ((insn->atom == PTX_ATOM_CAS) != (insn->nsrc == 3))
		return bad(p, "cas takes two values, the others one");
	return 0;
}

static int check_collective(struct parser *p, struct ptx_insn *insn)
{
	bool is_logic = insn->atom == PTX_ATOM_AND || insn->atom == PTX_ATOM_OR ||
			insn->atom == PTX_ATOM_XOR;

	if (!insn->atom)
		return bad(p, "the mode is missing");
	if (!(insn->mods & PTX_MOD_SYNC))
		return bad(p, ".sync is missing");
	if (insn->opcode == PTX_OP_match)
		return insn->atom == PTX_MATCH_ANY && insn->ndst > 1 ?
			bad(p, "only match.all has a predicate") : 0;
	if (is_logic != (insn->type == PTX_B32))
		return bad(p, "and, or and xor are of b32, the others of numbers");
	return 0;
}

int check_insn(struct parser *p, struct ptx_insn *insn)
{
	int ret = check_float(p, insn);

	if (ret)
		return ret;
	switch (insn->opcode) {
	case PTX_OP_setp:
	case PTX_OP_set:
		return check_compare(p, insn);
	case PTX_OP_mul:
	case PTX_OP_mad:
	case PTX_OP_madc:
	case PTX_OP_mul24:
	case PTX_OP_mad24:
		return check_multiply(p, insn);
	case PTX_OP_cvt:
		return check_convert(p, insn);
	case PTX_OP_ld:
	case PTX_OP_ldu:
	case PTX_OP_st:
	case PTX_OP_atom:
	case PTX_OP_red:
		return check_memory(p, insn);
	case PTX_OP_dp2a:
		if (!(insn->mods & (PTX_MOD_LO | PTX_MOD_HI)) || insn->mods & PTX_MOD_WIDE)
			return bad(p, "one of .lo and .hi is needed");
		break;
	case PTX_OP_cvta:
		if (!insn->space)
			return bad(p, "the space is missing");
		if (insn->src[0].kind == PTX_OPND_SYMBOL && insn->src[0].space != insn->space)
			return bad(p, "the variable is in another space");
		break;
	case PTX_OP_isspacep:
		if (!insn->space)
			return bad(p, "the space is missing");
		break;
	case PTX_OP_match:
	case PTX_OP_redux:
		return check_collective(p, insn);
	case PTX_OP_lop3:
		if (insn->src[3].kind != PTX_OPND_IMM)
			return bad(p, "the table of lop3 is a number");
		break;
	case PTX_OP_bmsk:
	case PTX_OP_szext:
		if (!(insn->mods & (PTX_MOD_CLAMP | PTX_MOD_WRAP)))
			return bad(p, "one of .clamp and .wrap is needed");
		break;
	case PTX_OP_testp:
		if (!insn->atom)
			return unsupported(p, "testp without a mode");
		break;
	case PTX_OP_shf:
		if (!(insn->mods & (PTX_MOD_CLAMP | PTX_MOD_WRAP)))
			return bad(p, "one of .clamp and .wrap is needed");
		/* fall through */
	case PTX_OP_shfl:
	case PTX_OP_vote:
		if (!insn->atom)
			return bad(p, "the mode is missing");
		if (insn->opcode == PTX_OP_shfl &&
		    (insn->nsrc == 4) != !!(insn->mods & PTX_MOD_SYNC))
			return bad(p, "shfl.sync takes a member mask, shfl does not");
		if (insn->opcode == PTX_OP_vote &&
		    ((insn->type == PTX_B32) != (insn->atom == PTX_VOTE_BALLOT) ||
		     (insn->nsrc == 2) != !!(insn->mods & PTX_MOD_SYNC)))
			return bad(p, "vote.ballot gives b32, the others pred; .sync takes a member mask");
		break;
	default:
		break;
	}
	return 0;
}

