// SPDX-License-Identifier: GPL-2.0
/*
 * One instruction: guard, name, modifiers and types, by opcodes.def and
 * modifiers.def; operands are in operand.c. Called by body.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "ptx/parser.h"

static const struct opcode_row {
	const char *name, *form;
	uint32_t types;
	uint64_t groups;
	uint8_t rule;
} opcodes[PTX_OPCODES] = {
#define X(name, form, types, groups, rule) { #name, form, types, groups, rule },
#include "ptx/opcodes.def"
#undef X
};

static const struct mod_row {
	const char *name;
	uint64_t group;
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
					   uint64_t groups)
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

static int parse_guard(struct parser *p, struct ptx_insn *insn)
{
	struct token name;
	int ret = 0;

	next(p);
	insn->guard_negate = accept(p, '!');
	name = p->tok;
	if (name.kind != TOK_IDENT)
		return bad(p, "a predicate is expected after '@'");
	insn->guard = parse_register(p, &ret);
	if (ret)
		return ret;
	if (insn->guard == PTX_NO_REG || p->kernel->regs[insn->guard].type != PTX_PRED)
		return bad(p, "'%.*s' is not a predicate", (int)MIN(name.len, 80u), name.text);
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

/* The types that the second type of an instruction may be. */
static uint32_t second_types(const struct ptx_insn *insn)
{
	switch (insn->opcode) {
	case PTX_OP_cvt:
		return T_CVT;
	case PTX_OP_slct:
		return T_S32 | T_F32;
	case PTX_OP_dp2a:
	case PTX_OP_dp4a:
	case PTX_OP_vabsdiff4:
		return T_U32 | T_S32;
	default:
		return T_BITS | T_INT | T_FLOAT | T_HALF;
	}
}

static int check_types(struct parser *p, struct ptx_insn *insn, const struct opcode_row *row)
{
	bool is_bar = insn->opcode == PTX_OP_bar || insn->opcode == PTX_OP_barrier;
	bool has_type = row->types && !(is_bar && insn->atom < PTX_BAR_RED_POPC);

	if (!has_type)
		return insn->type ? bad(p, "one type too many") : 0;
	if (!insn->type || (!insn->stype && has_stype(row->form)))
		return bad(p, "the type is missing");
	if (!(row->types >> insn->type & 1))
		return unsupported(p, "no %s of this type", row->name);
	if (insn->stype && !(second_types(insn) >> insn->stype & 1))
		return unsupported(p, "no %s from this type", row->name);
	return 0;
}

/* What follows the name: modifiers and one or two types. */
static int parse_suffixes(struct parser *p, struct ptx_insn *insn, const struct opcode_row *row)
{
	const struct mod_row *mod;
	uint64_t groups = row->groups;
	bool ucmp = false;
	enum ptx_type type, third = PTX_NONE;
	int ret;

	for (; p->tok.kind == TOK_DOT; next(p)) {
		mod = find_modifier(p, &p->tok, groups);
		if (mod) {
			ret = apply_modifier(p, insn, mod, &ucmp);
			if (ret)
				return ret;
			/* setp.lt.and: `and` combines once a comparison was named. */
			if (insn->cmp)
				groups &= ~G_CMP;
			if (mod->group == G_BAR && token_is(&p->tok, "red"))
				groups |= G_BARRED;
			if (mod->field == F_MODS && mod->value == PTX_MOD_XORSIGN)
				groups |= G_ABS;
		} else if (parse_type(&p->tok, &type) && row->types) {
			if (!insn->type)
				insn->type = type;
			else if (!insn->stype && has_stype(row->form))
				insn->stype = type;
			else if (insn->opcode == PTX_OP_vabsdiff4 && !third)
				third = type;
			else if (is_half(type) && insn->type == PTX_F32)
				return unsupported(p, "f32 and halves mixed");
			else
				return bad(p, "one type too many");
		} else {
			return unsupported(p, "no .%.*s with %s", (int)MIN(p->tok.len, 40u),
					   p->tok.text, row->name);
		}
	}
	if (groups & G_BARRED && insn->atom < PTX_BAR_RED_POPC)
		return bad(p, ".red is .popc, .and or .or, and nothing else");
	if (insn->opcode == PTX_OP_vabsdiff4 && third != insn->stype)
		return unsupported(p, "video instructions of different types");
	ret = check_types(p, insn, row);
	if (ret)
		return ret;
	if (ucmp && !((1u << PTX_U16 | T_U32 | T_U64) >>
		      (insn->stype ? insn->stype : insn->type) & 1))
		return bad(p, "lo, ls, hi and hs compare unsigned types");
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
	case R_CALL:
		return PTX_CLASS_CALL;
	default:
		return classes[row->rule][insn->type == PTX_F64 ? 2 : is_float(insn->type)];
	}
}

/* An instruction of PTX that is refused says why; others are not PTX. */
static int no_such_opcode(struct parser *p)
{
	static const struct {
		const char *name, *reason;
	} refused[] = {
#define X(name, reason) { #name, reason },
#include "ptx/refused.def"
#undef X
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(refused); i++) {
		if (token_is(&p->tok, refused[i].name))
			return unsupported(p, "%s", refused[i].reason);
	}
	return unsupported(p, "no such instruction");
}

static int note_param(struct parser *p, const struct ptx_insn *insn, uint32_t operand,
		      struct param *param)
{
	uint32_t bytes = ptx_type_bytes(insn->type), e;
	uint64_t offset = insn->src[operand].value;

	if (operand || insn->src[0].kind != PTX_OPND_ADDR || insn->space != PTX_SPACE_PARAM ||
	    (insn->opcode != PTX_OP_ld && insn->opcode != PTX_OP_st)) {
		param->memory = true;
		return 0;
	}
	if (offset > param->bytes || bytes * insn->vec > param->bytes - offset)
		return bad(p, "this is outside the parameter '%s'", param->name);
	for (e = 0; e < insn->vec; e++)
		note_access(param, offset + e * bytes, bytes, insn->opcode == PTX_OP_st);
	return 0;
}

/* How the parameters of a .func and of calls are used decides whether they are registers (placement.c). */
static int note_params(struct parser *p, const struct ptx_insn *insn)
{
	const struct function *f = p->function;
	bool is_param = false;
	uint32_t i;
	int ret = 0;

	for (i = f->nuses; !ret && i-- > 0 && f->uses[i].insn == insn - f->body.insns;) {
		const struct var_use *use = &f->uses[i];

		if (!use->sym->param)
			continue;
		is_param |= !use->operand;
		ret = note_param(p, insn, use->operand, use->sym->param);
	}
	/* The parameters of a kernel are constants. */
	if (!ret && !is_param && insn->opcode == PTX_OP_st && insn->space == PTX_SPACE_PARAM &&
	    insn->src[0].reg == PTX_NO_REG)
		return unsupported(p, "this space is read only");
	return ret;
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
		return no_such_opcode(p);
	insn->opcode = row - opcodes;
	next(p);
	ret = parse_suffixes(p, insn, row);
	if (!ret)
		ret = parse_operands(p, insn, row->form);
	if (!ret && is_punct(p, ',') && (insn->opcode == PTX_OP_min || insn->opcode == PTX_OP_max))
		ret = unsupported(p, "three sources");
	if (!ret && !is_punct(p, ';'))
		ret = bad(p, "';' expected");
	if (!ret)
		ret = check_insn(p, insn);
	if (!ret)
		ret = note_params(p, insn);
	if (ret)
		return ret;
	insn->cls = class_of(row, insn);
	/* Bits that are put in order are numbers. */
	if ((insn->opcode == PTX_OP_setp) && is_bits(insn->type))
		insn->type += PTX_U8 - PTX_B8;
	if ((insn->opcode == PTX_OP_set) && is_bits(insn->stype))
		insn->stype += PTX_U8 - PTX_B8;
	if (insn->opcode == PTX_OP_mov && insn->ndst > 1 && insn->nsrc > 1)
		ret = split_mov(p, insn);
	next(p);
	return ret;
}
