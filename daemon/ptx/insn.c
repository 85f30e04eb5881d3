// SPDX-License-Identifier: GPL-2.0
/*
 * One instruction: guard, name, modifiers and types, by opcodes.def and
 * modifiers.def; operands are in operand.c. Called by body.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/private.h"

static const struct opcode_row {
	const char *name, *form;
	uint32_t types, groups;
	uint8_t rule;
} opcodes[PTX_OPCODES] = {
#define X(name, form, types, groups, rule) { #name, form, types, groups, rule },
#include "ptx/opcodes.def"
#undef X
};

static const struct mod_row {
	const char *name;
	uint32_t group;
	uint8_t field;
	uint32_t value;
} modifiers[] = {
#define M(name, group, field, value) { name, group, field, value },
#include "ptx/modifiers.def"
#undef M
};

const char *ptx_opcode_name(enum ptx_opcode op)
{
	return op < PTX_OPCODES ? opcodes[op].name : "?";
}

/* The tables are fixed, so their worst look-up is too, whatever the text. */
static uint32_t hash(const char *s, uint32_t len)
{
	uint32_t h = 2166136261u, i;

	for (i = 0; i < len && i < 32; i++)
		h = (h ^ (unsigned char)s[i]) * 16777619u;
	return h ^ h >> 15;
}

void insn_tables_init(struct parser *p)
{
	uint32_t i, slot;

	_Static_assert(PTX_OPCODES < 200, "op_slots is too small");
	_Static_assert(ARRAY_SIZE(modifiers) < 250, "mod_slots is too small");
	for (i = 0; i < PTX_OPCODES; i++) {
		slot = hash(opcodes[i].name, strlen(opcodes[i].name));
		while (p->op_slots[slot % sizeof(p->op_slots)])
			slot++;
		p->op_slots[slot % sizeof(p->op_slots)] = i + 1;
	}
	for (i = 0; i < ARRAY_SIZE(modifiers); i++) {
		slot = hash(modifiers[i].name, strlen(modifiers[i].name));
		while (p->mod_slots[slot % sizeof(p->mod_slots)])
			slot++;
		p->mod_slots[slot % sizeof(p->mod_slots)] = i + 1;
	}
}

static const struct opcode_row *find_opcode(const struct parser *p, const struct token *tok)
{
	uint32_t slot = hash(tok->text, tok->len);
	const struct opcode_row *row;

	for (; p->op_slots[slot % sizeof(p->op_slots)]; slot++) {
		row = &opcodes[p->op_slots[slot % sizeof(p->op_slots)] - 1];
		if (token_is(tok, row->name))
			return row;
	}
	return NULL;
}

/* The row of this text among `groups`; one text can be in several. */
static const struct mod_row *find_modifier(const struct parser *p, const struct token *tok,
					   uint32_t groups)
{
	uint32_t slot = hash(tok->text, tok->len);
	const struct mod_row *row;

	for (; p->mod_slots[slot % sizeof(p->mod_slots)]; slot++) {
		row = &modifiers[p->mod_slots[slot % sizeof(p->mod_slots)] - 1];
		if (row->group & groups && token_is(tok, row->name))
			return row;
	}
	return NULL;
}

int new_insn(struct parser *p, struct ptx_insn **out)
{
	struct ptx_kernel *kernel = p->kernel;
	struct ptx_insn *insn;

	if (p->total_insns++ >= PTX_MAX_INSNS)
		return unsupported(p, "a module of more than %u instructions", PTX_MAX_INSNS);
	if (array_grow(&kernel->insns, kernel->ninsns, &p->insns_cap, sizeof(*kernel->insns)))
		return no_memory(p);
	insn = &kernel->insns[kernel->ninsns++];
	memset(insn, 0, sizeof(*insn));
	insn->guard = PTX_NO_REG;
	insn->vec = 1;
	insn->line = p->stmt_line;
	*out = insn;
	return 0;
}

static int parse_guard(struct parser *p, struct ptx_insn *insn)
{
	int ret = 0;

	next(p);
	insn->guard_negate = accept(p, '!');
	if (p->tok.kind != TOK_IDENT)
		return bad(p, "a predicate is expected after '@'");
	insn->guard = find_register(p, p->tok.text, p->tok.len, &ret);
	if (ret)
		return ret;
	if (insn->guard == PTX_NO_REG || p->kernel->regs[insn->guard].type != PTX_PRED)
		return bad(p, "'%.*s' is not a predicate", (int)MIN(p->tok.len, 80u), p->tok.text);
	next(p);
	return 0;
}

static int apply_modifier(struct parser *p, struct ptx_insn *insn, const struct mod_row *mod,
			  bool *ucmp)
{
	uint8_t *field = NULL;

	switch (mod->field) {
	case F_MODS:
		insn->mods |= mod->value;
		return 0;
	case F_RND:
		field = &insn->rnd;
		break;
	case F_UCMP:
		*ucmp = true;
		field = &insn->cmp;
		break;
	case F_CMP:
		field = &insn->cmp;
		break;
	case F_BOOL:
		field = &insn->boolop;
		break;
	case F_SPACE:
		field = &insn->space;
		break;
	case F_ATOM:
		field = &insn->atom;
		break;
	case F_VEC:
		insn->vec = mod->value;
		return 0;
	default:
		return 0;
	}
	if (*field)
		return bad(p, ".%s and another one of its kind", mod->name);
	*field = mod->value;
	return 0;
}

static bool has_stype(const char *form)
{
	return strpbrk(form, "tC");
}

/* What follows the name: modifiers and one or two types. */
static int parse_suffixes(struct parser *p, struct ptx_insn *insn, const struct opcode_row *row)
{
	const struct mod_row *mod;
	bool ucmp = false;
	enum ptx_type type;
	uint32_t stypes;
	int ret;

	for (; p->tok.kind == TOK_DOT; next(p)) {
		uint32_t groups = row->groups;

		/* setp.lt.and: `and` combines once a comparison was named. */
		if (insn->cmp)
			groups &= ~G_CMP;
		mod = find_modifier(p, &p->tok, groups);
		if (mod) {
			ret = apply_modifier(p, insn, mod, &ucmp);
			if (ret)
				return ret;
		} else if (parse_type(&p->tok, &type) && row->types) {
			if (!insn->type)
				insn->type = type;
			else if (!insn->stype && has_stype(row->form))
				insn->stype = type;
			else
				return bad(p, "one type too many");
		} else {
			return unsupported(p, "no .%.*s with %s", (int)MIN(p->tok.len, 40u),
					   p->tok.text, row->name);
		}
	}
	if (!row->types)
		return 0;
	if (!insn->type || (!insn->stype && has_stype(row->form)))
		return bad(p, "the type is missing");
	if (!(row->types >> insn->type & 1))
		return unsupported(p, "no %s of this type", row->name);
	stypes = insn->opcode == PTX_OP_cvt ? T_CVT :
		 insn->opcode == PTX_OP_slct ? T_S32 | T_F32 : T_BITS | T_INT | T_F32 | T_F64;
	if (insn->stype && !(stypes >> insn->stype & 1))
		return unsupported(p, "no %s from this type", row->name);
	if (ucmp && !((T_BITS | 1u << PTX_U16 | T_U32 | T_U64) >>
		      (insn->stype ? insn->stype : insn->type) & 1))
		return bad(p, "lo, ls, hi and hs compare unsigned types");
	return 0;
}

static bool is_float(enum ptx_type type)
{
	return type == PTX_F32 || type == PTX_F64 || type == PTX_F16;
}

static bool is_bits(enum ptx_type type)
{
	return type >= PTX_B8 && type <= PTX_B64;
}

/* Comparisons are of typed numbers; .bN means unsigned, where order is asked for. */
static int check_compare(struct parser *p, struct ptx_insn *insn)
{
	uint8_t type = insn->stype ? insn->stype : insn->type;

	if (!insn->cmp)
		return bad(p, "the comparison is missing");
	if (insn->cmp >= PTX_CMP_EQU && !is_float(type))
		return bad(p, "only floating-point numbers compare unordered");
	if (insn->mods & PTX_MOD_FTZ && type != PTX_F32)
		return bad(p, ".ftz is for f32");
	if (insn->boolop && insn->nsrc < 3)
		return bad(p, "the operand that .and, .or or .xor combines with is missing");
	if (!insn->boolop && insn->nsrc > 2)
		return bad(p, "one operand too many");
	return 0;
}

static int check_multiply(struct parser *p, struct ptx_insn *insn)
{
	uint32_t half = insn->mods & (PTX_MOD_LO | PTX_MOD_HI | PTX_MOD_WIDE);

	if (is_float(insn->type)) {
		if (half)
			return bad(p, ".lo, .hi and .wide are for integers");
		return 0;
	}
	if (!half || half & (half - 1))
		return bad(p, "one of .lo, .hi and .wide is needed");
	if (half == PTX_MOD_WIDE && (ptx_type_bytes(insn->type) > 4 ||
				     insn->opcode == PTX_OP_mul24 || insn->opcode == PTX_OP_mad24))
		return bad(p, ".wide is for 16 and 32 bits");
	if (insn->mods & PTX_MOD_SAT &&
	    !(insn->opcode == PTX_OP_mad && half == PTX_MOD_HI && insn->type == PTX_S32))
		return bad(p, ".sat is for mad.hi.s32");
	return 0;
}

static int check_convert(struct parser *p, struct ptx_insn *insn)
{
	bool to = is_float(insn->type), from = is_float(insn->stype);
	bool integral = insn->rnd >= PTX_RND_RNI;

	bool f16 = insn->type == PTX_F16 || insn->stype == PTX_F16;

	if (f16 && (insn->mods & PTX_MOD_SAT || insn->mods & PTX_MOD_FTZ))
		return unsupported(p, "no .sat and .ftz with f16");
	if (insn->stype == PTX_F16 && integral && insn->rnd != PTX_RND_RZI)
		return unsupported(p, "f16 rounds to an integer by .rzi only");
	if (from && !to && !integral)
		return bad(p, "rounding to an integer is .rni, .rzi, .rmi or .rpi");
	if (to && !insn->rnd && (!from || ptx_type_bytes(insn->stype) > ptx_type_bytes(insn->type)))
		return bad(p, "the rounding is missing: .rn, .rz, .rm or .rp");
	if (!to && !from && insn->rnd)
		return bad(p, "an integer is not rounded");
	if (to && !from && integral)
		return bad(p, "rounding from an integer is .rn, .rz, .rm or .rp");
	if (to && from && insn->type == insn->stype && insn->rnd && !integral)
		return bad(p, "rounding to an integral value is .rni, .rzi, .rmi or .rpi");
	return 0;
}

static int check_float(struct parser *p, struct ptx_insn *insn)
{
	bool f32 = (insn->stype ? insn->stype : insn->type) == PTX_F32;

	if (insn->mods & PTX_MOD_FTZ && !f32 && insn->opcode != PTX_OP_cvt &&
	    !(insn->type == PTX_F64 && insn->mods & PTX_MOD_APPROX &&
	      (insn->opcode == PTX_OP_rcp || insn->opcode == PTX_OP_rsqrt)))
		return bad(p, ".ftz is for f32");
	if (insn->rnd && !is_float(insn->type) && insn->opcode != PTX_OP_cvt)
		return bad(p, "an integer is not rounded");
	if (insn->mods & PTX_MOD_SAT && insn->type == PTX_F64 && insn->opcode != PTX_OP_cvt)
		return bad(p, ".sat is not for f64");
	if (insn->mods & PTX_MOD_SAT && !is_float(insn->type) &&
	    (insn->opcode == PTX_OP_add || insn->opcode == PTX_OP_sub) && insn->type != PTX_S32)
		return bad(p, ".sat of integers is for s32");
	return 0;
}

static int check_memory(struct parser *p, struct ptx_insn *insn)
{
	bool is_store = insn->opcode != PTX_OP_ld && insn->opcode != PTX_OP_ldu;
	static const uint32_t atom_types[] = {
		[PTX_ATOM_ADD] = T_U32 | T_S32 | T_U64 | T_S64 | T_F32 | T_F64,
		[PTX_ATOM_MIN] = T_U32 | T_S32 | T_U64 | T_S64,
		[PTX_ATOM_MAX] = T_U32 | T_S32 | T_U64 | T_S64,
		[PTX_ATOM_AND] = T_B32 | T_B64 | T_U32 | T_U64 | T_S32 | T_S64,
		[PTX_ATOM_OR] = T_B32 | T_B64 | T_U32 | T_U64 | T_S32 | T_S64,
		[PTX_ATOM_XOR] = T_B32 | T_B64 | T_U32 | T_U64 | T_S32 | T_S64,
		[PTX_ATOM_EXCH] = T_ATOM,
		[PTX_ATOM_CAS] = T_B32 | T_B64 | T_U32 | T_U64 | T_S32 | T_S64,
		[PTX_ATOM_INC] = T_U32,
		[PTX_ATOM_DEC] = T_U32,
	};

	if (!insn->space)
		insn->space = PTX_SPACE_GENERIC;
	if (insn->vec > 1 && ptx_type_bytes(insn->type) * insn->vec > 16)
		return bad(p, "a lane moves 16 bytes at most");
	if (is_store && (insn->space == PTX_SPACE_PARAM || insn->space == PTX_SPACE_CONST))
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
	/* The address is a source too. */
	if ((insn->atom == PTX_ATOM_CAS) != (insn->nsrc == 3))
		return bad(p, "cas takes two values, the others one");
	return 0;
}

/* What opcodes.def does not say by columns. */
static int check(struct parser *p, struct ptx_insn *insn)
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
	case PTX_OP_cvta:
		if (!insn->space)
			return bad(p, "the space is missing");
		if (insn->space == PTX_SPACE_PARAM || insn->space == PTX_SPACE_CONST)
			return unsupported(p, "generic addresses of this space");
		break;
	case PTX_OP_isspacep:
		if (!insn->space)
			return bad(p, "the space is missing");
		break;
	case PTX_OP_bar:
	case PTX_OP_barrier:
		if (!(insn->mods & PTX_MOD_SYNC))
			return unsupported(p, "only .sync barriers are");
		if (!insn->nsrc)
			return bad(p, "the barrier's number is missing");
		if (!(insn->mods & PTX_MOD_WARP) && insn->src[0].kind == PTX_OPND_IMM &&
		    insn->src[0].value > 15)
			return bad(p, "barriers are 0 to 15");
		break;
	case PTX_OP_shfl:
	case PTX_OP_vote:
	case PTX_OP_shf:
	case PTX_OP_testp:
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

static enum ptx_class class_of(const struct opcode_row *row, const struct ptx_insn *insn)
{
	static const uint8_t classes[][3] = {
		/*             integer               f32                   f64 */
		[R_ADD] =    { PTX_CLASS_INT_ADD, PTX_CLASS_F32_ADD, PTX_CLASS_F64_ADD },
		[R_MINMAX] = { PTX_CLASS_INT_MINMAX, PTX_CLASS_F32_MINMAX, PTX_CLASS_F64_MINMAX },
		[R_MUL] =    { PTX_CLASS_INT_MUL, PTX_CLASS_F32_ADD, PTX_CLASS_F64_ADD },
		[R_MAD] =    { PTX_CLASS_INT_MAD, PTX_CLASS_F32_FMA, PTX_CLASS_F64_ADD },
		[R_DIV] =    { PTX_CLASS_INT_DIV, PTX_CLASS_F32_DIV, PTX_CLASS_F64_DIV },
	};

	switch (row->rule) {
	case R_MOVE:
		return PTX_CLASS_MOVE;
	case R_SFU:
		return PTX_CLASS_SFU;
	case R_SHUFFLE:
		return PTX_CLASS_SHUFFLE;
	case R_MEMORY:
		return PTX_CLASS_MEMORY;
	case R_BARRIER:
		return insn->mods & PTX_MOD_WARP ? PTX_CLASS_MOVE : PTX_CLASS_BARRIER;
	case R_EXIT:
		return PTX_CLASS_EXIT;
	default:
		return classes[row->rule][insn->type == PTX_F64 ? 2 : is_float(insn->type)];
	}
}

int parse_insn(struct parser *p)
{
	const struct opcode_row *row;
	struct ptx_insn *insn;
	int ret;

	ret = new_insn(p, &insn);
	if (ret)
		return ret;
	if (is_punct(p, '@')) {
		ret = parse_guard(p, insn);
		if (ret)
			return ret;
	}
	if (p->tok.kind != TOK_IDENT)
		return bad(p, "an instruction is expected");
	row = find_opcode(p, &p->tok);
	if (!row)
		return token_is(&p->tok, "call") ?
			unsupported(p, "calls of functions that were not inlined") :
			unsupported(p, "no such instruction");
	insn->opcode = row - opcodes;
	next(p);
	ret = parse_suffixes(p, insn, row);
	if (!ret)
		ret = parse_operands(p, insn, row->form);
	if (!ret && !is_punct(p, ';'))
		ret = bad(p, "';' expected");
	if (!ret)
		ret = check(p, insn);
	if (ret)
		return ret;
	insn->cls = class_of(row, insn);
	/* Bits that are put in order are numbers. */
	if ((insn->opcode == PTX_OP_setp) && is_bits(insn->type))
		insn->type += PTX_U8 - PTX_B8;
	if ((insn->opcode == PTX_OP_set) && is_bits(insn->stype))
		insn->stype += PTX_U8 - PTX_B8;
	next(p);
	return 0;
}
