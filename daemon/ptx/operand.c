// SPDX-License-Identifier: GPL-2.0
/*
 * Operands of an instruction, by the letters of its opcodes.def row: registers,
 * immediates, special registers, addresses, labels, predicates, vectors.
 * Called by insn.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/private.h"

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
	{ "%laneid", PTX_SREG_LANEID }, { "%warpid", PTX_SREG_WARPID },
	{ "%nwarpid", PTX_SREG_NWARPID }, { "%smid", PTX_SREG_SMID },
	{ "%nsmid", PTX_SREG_NSMID }, { "%gridid", PTX_SREG_GRIDID },
	{ "%clock", PTX_SREG_CLOCK }, { "%clock64", PTX_SREG_CLOCK64 },
	{ "%globaltimer", PTX_SREG_GLOBALTIMER },
	{ "%lanemask_eq", PTX_SREG_LANEMASK_EQ }, { "%lanemask_lt", PTX_SREG_LANEMASK_LT },
	{ "%lanemask_le", PTX_SREG_LANEMASK_LE }, { "%lanemask_gt", PTX_SREG_LANEMASK_GT },
	{ "%lanemask_ge", PTX_SREG_LANEMASK_GE },
	{ "%dynamic_smem_size", PTX_SREG_DYNAMIC_SMEM_SIZE },
	{ "%total_smem_size", PTX_SREG_TOTAL_SMEM_SIZE },
};

/* What else PTX has; a prefix is enough to say that it is one. */
static const char *const other_sregs[] = {
	"%clock_hi", "%globaltimer_", "%pm", "%envreg", "%reserved_smem", "%cluster", "%ncluster",
	"%is_explicit_cluster", "%aggr_smem", "%current_graph_exec",
};

/* Wide enough to print a name of any length in a message. */
#define NAME(tok)	(int)MIN((tok).len, 80u), (tok).text

enum width { EXACT, OR_WIDER };

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

static int parse_register(struct parser *p, struct ptx_operand *op, enum ptx_type type,
			  enum width width)
{
	int ret = 0;

	op->kind = PTX_OPND_REG;
	op->reg = find_register(p, p->tok.text, p->tok.len, &ret);
	if (ret)
		return ret;
	if (op->reg == PTX_NO_REG)
		return not_a_register(p);
	if (!compatible(p->kernel->regs[op->reg].type, type, width))
		return bad(p, "the register '%.*s' does not fit the type", NAME(p->tok));
	next(p);
	return 0;
}

/* A number, in the bits of `type`. */
static int parse_immediate(struct parser *p, struct ptx_operand *op, enum ptx_type type)
{
	bool negative = accept(p, '-'), invert = !negative && accept(p, '~');
	unsigned int bytes = ptx_type_bytes(type);
	uint64_t bits = p->tok.bits;
	double d;
	float f;

	if (is_punct(p, '('))
		return unsupported(p, "constant expressions");
	op->kind = PTX_OPND_IMM;
	switch (p->tok.kind) {
	case TOK_INT:
		if (type >= PTX_F16 && type <= PTX_F64)
			return bad(p, "a floating-point number is expected");
		bits = negative ? -bits : invert ? ~bits : bits;
		break;
	case TOK_F32:
		bits ^= negative ? 0x80000000u : 0;
		if (type == PTX_F64) {
			memcpy(&f, &bits, sizeof(f));
			d = f;
			memcpy(&bits, &d, sizeof(d));
		}
		break;
	case TOK_F64:
		bits ^= negative ? 1ull << 63 : 0;
		if (type == PTX_F32) {
			memcpy(&d, &bits, sizeof(d));
			f = d;
			bits = 0;
			memcpy(&bits, &f, sizeof(f));
		}
		break;
	default:
		return bad(p, "an operand is expected");
	}
	if ((p->tok.kind == TOK_F32 || p->tok.kind == TOK_F64) &&
	    (invert || (type != PTX_F32 && type != PTX_F64 &&
			type != PTX_B32 && type != PTX_B64)))
		return bad(p, "an integer is expected");
	if (type == PTX_PRED)
		bits = !!bits;
	else if (bytes < 8)
		bits &= (1ull << 8 * bytes) - 1;
	op->value = bits;
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
	next(p);
	if (memchr(name, '.', len))
		next(p);
	return 0;
}

/* + N and - N after a symbol or a register; +-N too. */
static int parse_offset(struct parser *p, uint64_t *offset)
{
	bool negative;

	while (is_punct(p, '+') || is_punct(p, '-')) {
		negative = is_punct(p, '-');
		next(p);
		if (!negative && accept(p, '-'))
			negative = true;
		if (p->tok.kind != TOK_INT)
			return bad(p, "an offset is expected");
		*offset += negative ? -p->tok.bits : p->tok.bits;
		next(p);
	}
	return 0;
}

/* A use of the dynamic shared memory is corrected once its place is known. */
static int note_dynamic(struct parser *p, struct ptx_insn *insn, struct ptx_operand *op)
{
	if (array_grow(&p->dynamics, p->ndynamics, &p->dynamics_cap, sizeof(*p->dynamics)))
		return no_memory(p);
	p->dynamics[p->ndynamics++] = (struct dynamic_use){
		insn - p->kernel->insns, op - insn->src
	};
	return 0;
}

static int parse_symbol(struct parser *p, struct ptx_insn *insn, struct ptx_operand *op,
			struct symbol *sym)
{
	int ret;

	if (sym->kind != SYM_VAR)
		return unsupported(p, "addresses of functions and labels");
	ret = place_variable(p, sym);
	if (ret)
		return ret;
	op->space = sym->space;
	op->value = sym->dynamic ? 0 : sym->offset;
	if (sym->dynamic) {
		ret = note_dynamic(p, insn, op);
		if (ret)
			return ret;
	}
	next(p);
	return parse_offset(p, &op->value);
}

/* A value: register, number, special register, address of a variable. */
static int parse_source(struct parser *p, struct ptx_insn *insn, struct ptx_operand *op,
			enum ptx_type type, enum width width)
{
	struct symbol *sym;
	bool found = false;
	int ret;

	op->reg = PTX_NO_REG;
	if (type == PTX_PRED)
		op->negate = accept(p, '!');
	if (p->tok.kind != TOK_IDENT)
		return is_punct(p, '{') ? unsupported(p, "no vectors here") :
			parse_immediate(p, op, type);
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
	if (!sym && token_is(&p->tok, "WARP_SZ")) {
		op->kind = PTX_OPND_IMM;
		op->value = WARP_LANES;
		next(p);
		return 0;
	}
	return parse_register(p, op, type, width);
}

static struct ptx_operand *new_dst(struct ptx_insn *insn)
{
	return &insn->dst[insn->ndst++];
}

static struct ptx_operand *new_src(struct ptx_insn *insn)
{
	return &insn->src[insn->nsrc++];
}

/* `_` throws the result away: an operand of no kind. */
static int parse_destination(struct parser *p, struct ptx_operand *op, enum ptx_type type,
			     enum width width)
{
	op->reg = PTX_NO_REG;
	if (p->tok.kind != TOK_IDENT)
		return bad(p, "a register is expected");
	if (token_is(&p->tok, "_")) {
		next(p);
		return 0;
	}
	return parse_register(p, op, type, width);
}

static int parse_address(struct parser *p, struct ptx_insn *insn)
{
	struct ptx_operand *op = new_src(insn);
	struct symbol *sym;
	int ret;

	op->kind = PTX_OPND_ADDR;
	op->reg = PTX_NO_REG;
	op->space = PTX_SPACE_NONE;
	ret = expect(p, '[');
	if (ret)
		return ret;
	if (p->tok.kind == TOK_INT || is_punct(p, '-')) {
		uint64_t minus = accept(p, '-');

		if (p->tok.kind != TOK_INT)
			return bad(p, "an address is expected");
		op->value = minus ? -p->tok.bits : p->tok.bits;
		next(p);
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
			ret = 0;
			op->reg = find_register(p, p->tok.text, p->tok.len, &ret);
			if (ret)
				return ret;
			if (op->reg == PTX_NO_REG)
				return bad(p, "'%.*s' is neither a register nor a variable",
					   NAME(p->tok));
			if (ptx_type_bytes(p->kernel->regs[op->reg].type) < 4)
				return bad(p, "'%.*s' cannot hold an address", NAME(p->tok));
			next(p);
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

int add_fixup(struct parser *p, uint32_t insn, const struct token *tok)
{
	if (array_grow(&p->fixups, p->nfixups, &p->fixups_cap, sizeof(*p->fixups)))
		return no_memory(p);
	p->fixups[p->nfixups++] = (struct fixup){ insn, p->stmt, tok->text, tok->len };
	return 0;
}

static int parse_label(struct parser *p, struct ptx_insn *insn)
{
	int ret;

	if (p->tok.kind != TOK_IDENT)
		return bad(p, "a label is expected");
	ret = add_fixup(p, insn - p->kernel->insns, &p->tok);
	next(p);
	return ret;
}

/* {a, b} or, of one element, a. Returns the number of elements through *n. */
static int parse_vector(struct parser *p, struct ptx_insn *insn, bool is_dst, enum ptx_type type,
			enum width width, unsigned int *n)
{
	bool braces = accept(p, '{');
	int ret;

	*n = 0;
	do {
		if (*n == 4)
			return bad(p, "a vector has four elements at most");
		if (is_dst)
			ret = parse_destination(p, new_dst(insn), type, width);
		else
			ret = parse_source(p, insn, new_src(insn), type, width);
		if (ret)
			return ret;
		++*n;
	} while (braces && accept(p, ','));
	return braces ? expect(p, '}') : 0;
}

static int parse_elements(struct parser *p, struct ptx_insn *insn, bool is_dst)
{
	unsigned int n;
	int ret = parse_vector(p, insn, is_dst, insn->type, OR_WIDER, &n);

	if (ret)
		return ret;
	return n == insn->vec ? 0 : bad(p, "%u elements are expected", insn->vec);
}

static enum ptx_type wider(enum ptx_type type)
{
	switch (type) {
	case PTX_U16:
		return PTX_U32;
	case PTX_S16:
		return PTX_S32;
	case PTX_U32:
		return PTX_U64;
	default:
		return PTX_S64;
	}
}

static enum ptx_type bits_of(unsigned int bytes)
{
	return bytes == 8 ? PTX_B64 : bytes == 4 ? PTX_B32 : bytes == 2 ? PTX_B16 : PTX_B8;
}

/* How many elements the { } at the current token has; more than four is five. */
static unsigned int count_elements(const struct parser *p)
{
	struct lexer ahead = p->lx;
	struct token tok;
	unsigned int n = 1;

	do {
		lex_next(&ahead, &tok);
		if (tok.kind == TOK_PUNCT && tok.punct == ',')
			n++;
	} while (n < 5 && tok.kind != TOK_END &&
		 !(tok.kind == TOK_PUNCT && (tok.punct == '}' || tok.punct == ';')));
	return n;
}

/*
 * mov d, a; mov d, variable; mov {a,b}, d and mov d, {a,b}, whose elements
 * together are as wide as the type.
 */
static int parse_mov(struct parser *p, struct ptx_insn *insn)
{
	unsigned int bytes = ptx_type_bytes(insn->type), n;
	bool unpack = is_punct(p, '{');
	int ret;

	if (unpack) {
		insn->vec = n = count_elements(p);
		if ((n != 2 && n != 4) || bytes / n < 2)
			return unsupported(p, "vectors of mov have 2 or 4 elements of 16 bits or more");
		ret = parse_vector(p, insn, true, bits_of(bytes / n), EXACT, &n);
	} else {
		ret = parse_destination(p, new_dst(insn), insn->type, EXACT);
	}
	if (!ret)
		ret = expect(p, ',');
	if (ret)
		return ret;
	if (is_punct(p, '{') && !unpack) {
		insn->vec = n = count_elements(p);
		if ((n != 2 && n != 4) || bytes / n < 2)
			return unsupported(p, "vectors of mov have 2 or 4 elements of 16 bits or more");
		return parse_vector(p, insn, false, bits_of(bytes / n), EXACT, &n);
	}
	return parse_source(p, insn, new_src(insn), insn->type, EXACT);
}

/* shfl: d|p; setp: p|q. */
static int parse_second(struct parser *p, struct ptx_insn *insn)
{
	if (!accept(p, '|'))
		return 0;
	return parse_destination(p, new_dst(insn), PTX_PRED, EXACT);
}

static int parse_operand(struct parser *p, struct ptx_insn *insn, char letter)
{
	enum ptx_type type = insn->type;
	int ret;

	switch (letter) {
	case 'd':
		return parse_destination(p, new_dst(insn), type, EXACT);
	case 's':
		return parse_source(p, insn, new_src(insn), type ? type : PTX_B64, EXACT);
	case 't':
		return parse_source(p, insn, new_src(insn), insn->stype, EXACT);
	case 'w':
	case 'W':
		if (insn->mods & PTX_MOD_WIDE)
			type = wider(type);
		return letter == 'w' ? parse_destination(p, new_dst(insn), type, EXACT) :
			parse_source(p, insn, new_src(insn), type, EXACT);
	case 'c':
		return parse_destination(p, new_dst(insn), type, OR_WIDER);
	case 'C':
		return parse_source(p, insn, new_src(insn), insn->stype, OR_WIDER);
	case 'v':
	case 'x':
		return parse_elements(p, insn, letter == 'v');
	case 'D':
		return parse_destination(p, new_dst(insn), PTX_B32, EXACT);
	case 'n':
		return parse_source(p, insn, new_src(insn), PTX_B32, EXACT);
	case 'N':
		return parse_destination(p, new_dst(insn), type, EXACT);
	case 'S':
		ret = parse_destination(p, new_dst(insn), type, EXACT);
		return ret ? ret : parse_second(p, insn);
	case 'P':
		return parse_destination(p, new_dst(insn), PTX_PRED, EXACT);
	case '|':
		return parse_second(p, insn);
	case 'p':
		return parse_source(p, insn, new_src(insn), PTX_PRED, EXACT);
	case 'm':
		return parse_address(p, insn);
	case 'l':
		return parse_label(p, insn);
	default:
		return parse_mov(p, insn);
	}
}

int parse_operands(struct parser *p, struct ptx_insn *insn, const char *form)
{
	const char *letter;
	int ret;

	for (letter = form; *letter; letter++) {
		bool optional = letter[1] == '?';

		if (is_punct(p, ';') && optional) {
			letter++;
			continue;
		}
		if (letter != form && *letter != '|') {
			ret = expect(p, ',');
			if (ret)
				return ret;
		}
		ret = parse_operand(p, insn, *letter);
		if (ret)
			return ret;
		letter += optional;
	}
	return 0;
}
