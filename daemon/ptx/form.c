// SPDX-License-Identifier: GPL-2.0
/*
 * Operands of an instruction, by the letters of its opcodes.def row: which kinds,
 * in which order, and those with a syntax of their own: vectors, labels, tables of
 * labels, barriers, carries. Called by insn.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "ptx/parser.h"

static int add_fixup(struct parser *p, uint32_t insn, uint32_t table, uint32_t entry)
{
	if (p->tok.kind != TOK_IDENT)
		return bad(p, "a label is expected");
	if (array_grow(p->fixups, p->fixups_cap, p->nfixups))
		return no_memory(p);
	p->fixups[p->nfixups++] = (struct fixup){
		insn, table, entry, p->stmt, p->stmt_line, p->tok.text, p->tok.len
	};
	next(p);
	return 0;
}

static int parse_label(struct parser *p, struct ptx_insn *insn)
{
	return add_fixup(p, insn - p->kernel->insns, 0, 0);
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

/* shfl: d|p; setp: p|q. */
static int parse_second(struct parser *p, struct ptx_insn *insn)
{
	if (!accept(p, '|'))
		return 0;
	return parse_destination(p, new_dst(insn), PTX_PRED, EXACT);
}

/* Operands from the current token to the ; at the same time bounded: more than five is five. */
static unsigned int count_operands(const struct parser *p)
{
	struct lexer ahead = p->lx;
	struct token tok = p->tok;
	unsigned int n = 1;

	while (n < 5 && tok.kind != TOK_END && !(tok.kind == TOK_PUNCT && tok.punct == ';')) {
		n += tok.kind == TOK_PUNCT && tok.punct == ',';
		lex_next(&ahead, &tok);
	}
	return n;
}

/* bar.sync a[, b]; bar.arrive a, b; bar.red d, a[, b], p; bar.warp.sync mask. */
static int parse_barrier(struct parser *p, struct ptx_insn *insn)
{
	bool red = insn->atom >= PTX_BAR_RED_POPC && insn->atom <= PTX_BAR_RED_OR;
	unsigned int left, most = insn->mods & PTX_MOD_WARP ? 1 : red ? 3 : 2;
	struct ptx_operand *op;
	int ret = 0;

	if (!insn->atom)
		return bad(p, "one of .sync, .arrive and .red is needed");
	if (is_punct(p, ';'))
		return bad(p, "the barrier's number is missing");
	if (red && (insn->type == PTX_U32) != (insn->atom == PTX_BAR_RED_POPC))
		return bad(p, "red.popc is of u32, red.and and red.or of pred");
	if (red) {
		ret = parse_destination(p, new_dst(insn), insn->type, EXACT);
		if (!ret)
			ret = expect(p, ',');
		if (ret)
			return ret;
	}
	left = count_operands(p);
	if (left > most)
		return bad(p, "one operand too many");
	if (red && left < 2)
		return bad(p, "the predicate is missing");
	if (insn->atom == PTX_BAR_ARRIVE && left < 2)
		return bad(p, "the number of threads is missing");
	for (;;) {
		op = new_src(insn);
		ret = parse_source(p, insn, op, red && left == 1 ? PTX_PRED : PTX_B32, EXACT);
		if (ret)
			return ret;
		if (most > 1 && insn->nsrc == 1 && op->kind == PTX_OPND_IMM && op->value > 15)
			return bad(p, "barriers are 0 to 15");
		if (!(red && left == 1) && insn->nsrc == 2 && op->kind == PTX_OPND_IMM &&
		    (!op->value || op->value % WARP_LANES))
			return bad(p, "the threads of a barrier are a multiple of %u", WARP_LANES);
		if (!--left)
			return 0;
		ret = expect(p, ',');
		if (ret)
			return ret;
	}
}

/* The register that addition with carry reads and writes; a function has one. */
static int carry_register(struct parser *p, uint32_t *reg)
{
	static const struct token tok = { .kind = TOK_IDENT, .text = "%cc", .len = 3 };
	int ret = 0;

	if (p->carry == PTX_NO_REG) {
		struct symbol *sym = new_symbol(p, SYM_REG, &tok);

		if (!sym)
			return no_memory(p);
		sym->type = PTX_PRED;
		sym->index = PTX_NO_REG;
		p->carry = number_register(p, sym, &ret);
	}
	*reg = p->carry;
	return ret;
}

static int add_carry(struct parser *p, struct ptx_insn *insn)
{
	bool reads = insn->opcode == PTX_OP_addc || insn->opcode == PTX_OP_subc ||
		     insn->opcode == PTX_OP_madc;
	struct ptx_operand cc = { .kind = PTX_OPND_REG };
	int ret;

	if (!reads && !(insn->mods & PTX_MOD_CC))
		return 0;
	if (!(T_WORD >> insn->type & 1))
		return bad(p, "a carry is of 32 and 64 bits");
	ret = carry_register(p, &cc.reg);
	if (reads)
		*new_src(insn) = cc;
	if (insn->mods & PTX_MOD_CC)
		*new_dst(insn) = cc;
	return ret;
}

static int parse_table_name(struct parser *p, struct ptx_insn *insn)
{
	struct symbol *sym;

	if (p->tok.kind != TOK_IDENT)
		return bad(p, "the name of a table of labels is expected");
	sym = find_symbol(p, p->tok.text, p->tok.len);
	if (!sym || sym->kind != SYM_TABLE)
		return bad(p, "there is no table of labels '%.*s'", (int)MIN(p->tok.len, 80u),
			   p->tok.text);
	insn->target = sym->index;
	next(p);
	return 0;
}

/* NAME: .branchtargets a, b; for brx.idx. */
int parse_table(struct parser *p)
{
	struct function *f = p->function;
	struct symbol *label = p->last_label;
	struct ptx_table *table;
	uint32_t cap = 0;
	int ret;

	if (!label || label->index != f->body.ninsns || label->kind != SYM_LABEL)
		return bad(p, "a table of labels needs a name");
	if (array_grow(f->tables, f->tables_cap, f->ntables))
		return no_memory(p);
	table = &f->tables[f->ntables];
	*table = (struct ptx_table){ 0 };
	label->kind = SYM_TABLE;
	label->index = f->ntables++;
	next(p);
	do {
		if (array_grow(table->targets, cap, table->count))
			return no_memory(p);
		if (p->total_insns++ >= PTX_MAX_INSNS)
			return unsupported(p, "a module of more than %u instructions", PTX_MAX_INSNS);
		f->extra++;
		ret = add_fixup(p, PTX_NO_REG, label->index, table->count++);
		if (ret)
			return ret;
	} while (accept(p, ','));
	return expect(p, ';');
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
	case 'O':
		ret = parse_destination(p, new_dst(insn), PTX_B32, EXACT);
		return ret ? ret : parse_second(p, insn);
	case 'B':
		return parse_barrier(p, insn);
	case 'T':
		return parse_table_name(p, insn);
	case 'F':
		return parse_call(p, insn);
	case 'E':
		return parse_texture_operands(p, insn);
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
	return add_carry(p, insn);
}
