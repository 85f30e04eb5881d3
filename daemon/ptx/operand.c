// SPDX-License-Identifier: GPL-2.0
/*
 * One operand: a register, a number, a special register, an address, a variable.
 * Which of them an instruction takes is in form.c, which calls this.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "ptx/constant.h"
#include "ptx/parser.h"

static const struct {
	const char *name;
	uint8_t sreg;
} sregs[] = {
	{ "%tid.x", PTX_SREG_TID_X }, { "%tid.y", PTX_SREG_TID_Y }, { "%tid.z", PTX_SREG_TID_Z },
	{ "%ntid.x", PTX_SREG_NTID_X }, { "%ntid.y", PTX_SREG_NTID_Y },
	{ "%ntid.z", PTX_SREG_NTID_Z },
	{ "%ctaid.x", PTX_SREG_CTAID_X }, { "%ctaid.y", PTX_SREG_CTAID_Y },
	{ "%ctaid.z", PTX_SREG_CTAID_Z },
	{ "%nctaid.x", PTX_SREG_NCTAID_X }, { "%nctaid.y", PTX_SREG_NCTAID_Y },
	{ "%nctaid.z", PTX_SREG_NCTAID_Z },
	{ "%tid.w", PTX_SREGS }, { "%ntid.w", PTX_SREGS }, { "%ctaid.w", PTX_SREGS },
	{ "%nctaid.w", PTX_SREGS },
	{ "%laneid", PTX_SREG_LANEID }, { "%warpid", PTX_SREG_WARPID },
	{ "%nwarpid", PTX_SREG_NWARPID }, { "%smid", PTX_SREG_SMID },
	{ "%nsmid", PTX_SREG_NSMID }, { "%gridid", PTX_SREG_GRIDID },
	{ "%clock", PTX_SREG_CLOCK }, { "%clock64", PTX_SREG_CLOCK64 },
	{ "%clock_hi", PTX_SREG_CLOCK_HI }, { "%globaltimer", PTX_SREG_GLOBALTIMER },
	{ "%globaltimer_lo", PTX_SREG_GLOBALTIMER_LO },
	{ "%globaltimer_hi", PTX_SREG_GLOBALTIMER_HI },
	{ "%lanemask_eq", PTX_SREG_LANEMASK_EQ }, { "%lanemask_lt", PTX_SREG_LANEMASK_LT },
	{ "%lanemask_le", PTX_SREG_LANEMASK_LE }, { "%lanemask_gt", PTX_SREG_LANEMASK_GT },
	{ "%lanemask_ge", PTX_SREG_LANEMASK_GE },
	{ "%dynamic_smem_size", PTX_SREG_DYNAMIC_SMEM_SIZE },
	{ "%total_smem_size", PTX_SREG_TOTAL_SMEM_SIZE },
};

/* Prefixes of PTX's other special registers, so that the message can say "not supported". */
static const char *const other_sregs[] = {
	"%pm", "%envreg", "%reserved_smem", "%cluster", "%ncluster",
	"%is_explicit_cluster", "%aggr_smem", "%current_graph_exec",
};

/* Wide enough to print a name of any length in a message. */
#define NAME(tok)	(int)MIN((tok).len, 80u), (tok).text

/* PTX ISA, "Operand Type Checking": bits go with everything of the size, integers with integers. */
static bool compatible(enum ptx_type reg, enum ptx_type type, enum width width)
{
	unsigned int want = ptx_type_bytes(type), has = ptx_type_bytes(reg);
	bool want_float = type >= PTX_F16 && type <= PTX_F64;
	bool has_float = reg >= PTX_F16 && reg <= PTX_F64;

	if (type == PTX_PRED || reg == PTX_PRED)
		return type == reg;
	if (has != want && !(width == OR_WIDER && has > want))
		return false;
	if ((type >= PTX_B8 && type <= PTX_B64) || (reg >= PTX_B8 && reg <= PTX_B64))
		return true;
	return has == want ? want_float == has_float : !want_float && !has_float;
}

static int not_a_register(struct parser *p)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(other_sregs); i++) {
		size_t len = strlen(other_sregs[i]);

		if (p->tok.len >= len && !memcmp(p->tok.text, other_sregs[i], len))
			return unsupported(p, "no special register %.*s", NAME(p->tok));
	}
	return bad(p, "'%.*s' is not a register", NAME(p->tok));
}

static int check_register(struct parser *p, const struct ptx_operand *op, const struct token *name,
			  enum ptx_type type, enum width width)
{
	if (compatible(p->kernel->regs[op->reg].type, type, width))
		return 0;
	return bad(p, "the register '%.*s' does not fit the type", NAME(*name));
}

static int parse_register_operand(struct parser *p, struct ptx_operand *op, enum ptx_type type,
				  enum width width)
{
	struct token name = p->tok;
	int ret = 0;

	op->kind = PTX_OPND_REG;
	op->reg = parse_register(p, &ret);
	if (ret)
		return ret;
	if (op->reg == PTX_NO_REG)
		return not_a_register(p);
	return check_register(p, op, &name, type, width);
}

int parse_whole_vector(struct parser *p, struct ptx_insn *insn, bool is_dst, enum ptx_type type,
		       enum width width, unsigned int *n)
{
	struct ptx_operand *op;
	struct symbol *vector;
	int ret = 0;

	*n = 0;
	vector = vector_here(p, &ret);
	while (!ret && vector && *n < vector->vec) {
		op = is_dst ? new_dst(insn) : new_src(insn);
		op->kind = PTX_OPND_REG;
		op->reg = element_register(p, vector, (*n)++, &ret);
		if (!ret)
			ret = check_register(p, op, &p->tok, type, width);
	}
	if (vector)
		next(p);
	return ret;
}

/* A number, in the bits of `type`. */
static int parse_immediate(struct parser *p, struct ptx_operand *op, enum ptx_type type)
{
	struct constant c;
	int ret;

	op->kind = PTX_OPND_IMM;
	if (!constant_begins(p))
		return bad(p, "an operand is expected");
	ret = parse_constant(p, &c);
	return ret ? ret : constant_to(p, &c, type, &op->value);
}

/* %envreg0 to %envreg31. The driver sets 1 and 2: the address of a grid's workspace. */
static int parse_envreg(struct parser *p, struct ptx_operand *op, bool *found)
{
	const char *digits = p->tok.text + strlen("%envreg");
	uint32_t len = p->tok.len - strlen("%envreg"), n;

	n = digits[0] - '0';
	if (len == 2)
		n = n * 10 + (digits[1] - '0');
	if (len > 2 || n > 31 || (len == 2 && digits[0] == '0'))
		return 0;
	*found = true;
	op->kind = PTX_OPND_SREG;
	op->value = n == 1 ? PTX_SREG_ENVREG1 : n == 2 ? PTX_SREG_ENVREG2 : PTX_SREG_ENVREG;
	p->function->workspace |= op->value != PTX_SREG_ENVREG;
	next(p);
	return 0;
}

static int parse_sreg(struct parser *p, struct ptx_operand *op, bool *found)
{
	char name[32];
	uint32_t len = p->tok.len;
	struct lexer ahead = p->lx;
	struct token dot;
	size_t i;

	*found = false;
	if (len > 20)
		return 0;
	if (len > strlen("%envreg") && !memcmp(p->tok.text, "%envreg", strlen("%envreg")))
		return parse_envreg(p, op, found);
	memcpy(name, p->tok.text, len);
	lex_next(&ahead, &dot);
	if (dot.kind == TOK_DOT && dot.len == 1) {
		name[len++] = '.';
		name[len++] = dot.text[0];
	}
	name[len] = '\0';
	for (i = 0; i < ARRAY_SIZE(sregs); i++) {
		if (!strcmp(name, sregs[i].name))
			break;
	}
	if (i == ARRAY_SIZE(sregs))
		return 0;
	*found = true;
	op->kind = PTX_OPND_SREG;
	op->value = sregs[i].sreg;
	/* A fourth dimension, which is always 0. */
	if (sregs[i].sreg == PTX_SREGS)
		*op = (struct ptx_operand){ .kind = PTX_OPND_IMM, .reg = PTX_NO_REG };
	next(p);
	if (memchr(name, '.', len))
		next(p);
	return 0;
}

int parse_sreg_vector(struct parser *p, struct ptx_insn *insn, bool *found)
{
	size_t i, len = p->tok.len;
	struct lexer ahead = p->lx;
	struct token dot;
	uint32_t e;

	lex_next(&ahead, &dot);
	*found = false;
	for (i = 0; p->tok.kind == TOK_IDENT && dot.kind != TOK_DOT && i < ARRAY_SIZE(sregs); i++) {
		if (strlen(sregs[i].name) == len + 2 && !strcmp(sregs[i].name + len, ".x") &&
		    !memcmp(sregs[i].name, p->tok.text, len))
			break;
	}
	if (p->tok.kind != TOK_IDENT || dot.kind == TOK_DOT || i == ARRAY_SIZE(sregs))
		return 0;
	*found = true;
	if (insn->vec != 4)
		return bad(p, "%u elements are expected", insn->vec);
	/* .y and .z follow .x; there is no fourth dimension. */
	for (e = 0; e < 3; e++)
		*new_src(insn) = (struct ptx_operand){
			.kind = PTX_OPND_SREG, .reg = PTX_NO_REG, .value = sregs[i + e].sreg,
		};
	*new_src(insn) = (struct ptx_operand){ .kind = PTX_OPND_IMM, .reg = PTX_NO_REG };
	next(p);
	return 0;
}

int parse_offset(struct parser *p, uint64_t *offset)
{
	uint64_t bits;
	int ret;

	/* The sign of [a-4] is the number's. */
	if (!is_punct(p, '-') && !accept(p, '+'))
		return 0;
	if (!constant_begins(p))
		return bad(p, "an offset is expected");
	ret = parse_integer(p, &bits);
	if (!ret)
		*offset += bits;
	return ret;
}

/* The value is added to when the module ends and the variable's place is known. */
static int note_use(struct parser *p, struct ptx_insn *insn, struct ptx_operand *op,
		    struct symbol *sym)
{
	struct function *f = p->function;

	if (array_grow(f->uses, f->uses_cap, f->nuses))
		return no_memory(p);
	f->uses[f->nuses++] = (struct var_use){
		insn - f->body.insns, op - insn->src, sym, p->stmt
	};
	return 0;
}

static int parse_symbol(struct parser *p, struct ptx_insn *insn, struct ptx_operand *op,
			struct symbol *sym)
{
	int ret;

	if (sym->kind == SYM_FUNC && op->kind == PTX_OPND_SYMBOL) {
		op->kind = PTX_OPND_IMM;
		op->value = function_address(sym->function);
		next(p);
		return 0;
	}
	if (sym->kind != SYM_VAR)
		return unsupported(p, "addresses of labels");
	op->space = sym->space;
	if (sym->space == PTX_SPACE_SHARED || sym->space == PTX_SPACE_GLOBAL || sym->param) {
		op->value = 0;
		ret = note_use(p, insn, op, sym);
		if (ret)
			return ret;
	} else {
		op->value = sym->offset;
	}
	next(p);
	return parse_offset(p, &op->value);
}

/*
 * %reserved_smem_offset_0 and _1: where memory begins that the system keeps for
 * cooperative groups. Here it is a .shared variable like others.
 */
static int parse_reserved(struct parser *p, struct ptx_insn *insn, struct ptx_operand *op)
{
	if (!p->reserved) {
		p->reserved = new_symbol(p, SYM_VAR, &p->tok);
		if (!p->reserved)
			return no_memory(p);
		p->reserved->space = PTX_SPACE_SHARED;
		p->reserved->module_scope = true;
		p->reserved->bytes = 1024;
		p->reserved->align = 128;
	}
	op->kind = PTX_OPND_SYMBOL;
	return parse_symbol(p, insn, op, p->reserved);
}

/* Whether the ! at the current token is a predicate's, and no number's. */
static bool negates_register(const struct parser *p)
{
	struct lexer ahead = p->lx;
	struct token tok;

	lex_next(&ahead, &tok);
	return tok.kind == TOK_IDENT && !token_is(&tok, "WARP_SZ");
}

int parse_source(struct parser *p, struct ptx_insn *insn, struct ptx_operand *op,
		 enum ptx_type type, enum width width)
{
	struct symbol *sym;
	bool found = false;
	int ret;

	op->reg = PTX_NO_REG;
	if (type == PTX_PRED && is_punct(p, '!') && negates_register(p)) {
		op->negate = true;
		next(p);
	}
	if (is_punct(p, '{'))
		return unsupported(p, "no vectors here");
	if (p->tok.kind != TOK_IDENT || constant_begins(p))
		return parse_immediate(p, op, type);
	sym = find_symbol(p, p->tok.text, p->tok.len);
	if (sym && sym->kind != SYM_REG) {
		if (ptx_type_bytes(type) < 4 || (type >= PTX_F16 && type <= PTX_F64))
			return bad(p, "'%.*s' is not a register", NAME(p->tok));
		op->kind = PTX_OPND_SYMBOL;
		return parse_symbol(p, insn, op, sym);
	}
	if (!sym && p->tok.text[0] == '%') {
		ret = parse_sreg(p, op, &found);
		if (ret || found)
			return ret;
	}
	if (!sym && token_is(&p->tok, "%warpsize")) {
		op->kind = PTX_OPND_IMM;
		op->value = WARP_LANES;
		next(p);
		return 0;
	}
	if (!sym && type == PTX_U32 && (token_is(&p->tok, "%reserved_smem_offset_0") ||
					token_is(&p->tok, "%reserved_smem_offset_1")))
		return parse_reserved(p, insn, op);
	return parse_register_operand(p, op, type, width);
}

int parse_destination(struct parser *p, struct ptx_operand *op, enum ptx_type type,
		      enum width width)
{
	op->reg = PTX_NO_REG;
	if (p->tok.kind != TOK_IDENT)
		return bad(p, "a register is expected");
	if (token_is(&p->tok, "_")) {
		next(p);
		return 0;
	}
	return parse_register_operand(p, op, type, width);
}

int parse_address(struct parser *p, struct ptx_insn *insn)
{
	struct ptx_operand *op = new_src(insn);
	struct symbol *sym;
	struct token name;
	int ret;

	op->kind = PTX_OPND_ADDR;
	op->reg = PTX_NO_REG;
	op->space = PTX_SPACE_NONE;
	ret = expect(p, '[');
	if (ret)
		return ret;
	if (constant_begins(p)) {
		ret = parse_integer(p, &op->value);
		if (ret)
			return ret;
	} else if (p->tok.kind == TOK_IDENT) {
		sym = find_symbol(p, p->tok.text, p->tok.len);
		if (sym && sym->kind != SYM_REG) {
			ret = parse_symbol(p, insn, op, sym);
			if (ret)
				return ret;
			if (insn->space && op->space != insn->space)
				return bad(p, "'%.*s' is in another space",
					   (int)MIN(sym->name_len, 80u), sym->name);
		} else {
			name = p->tok;
			ret = 0;
			op->reg = parse_register(p, &ret);
			if (ret)
				return ret;
			if (op->reg == PTX_NO_REG)
				return bad(p, "'%.*s' is neither a register nor a variable",
					   NAME(name));
			if (ptx_type_bytes(p->kernel->regs[op->reg].type) < 4)
				return bad(p, "'%.*s' cannot hold an address", NAME(name));
			ret = parse_offset(p, &op->value);
			if (ret)
				return ret;
		}
	} else {
		return bad(p, "an address is expected");
	}
	if (is_punct(p, ','))
		return unsupported(p, "textures and surfaces");
	return expect(p, ']');
}
