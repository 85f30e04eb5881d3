// SPDX-License-Identifier: GPL-2.0
/*
 * A kernel's body: declarations, labels, nested { } and instructions, one
 * statement at a time, without recursion. Called by parse.c.
 */
#include <errno.h>
#include <stdlib.h>

#include "ptx/parser.h"

static int statement(struct parser *p);

static int open_scope(struct parser *p)
{
	if (p->nscopes > SCOPES)
		return unsupported(p, "blocks are nested more than %d deep", SCOPES);
	p->scopes[p->nscopes++] = (struct scope){
		.names.slab = &p->scratch,
		.first_fixup = p->nfixups,
	};
	next(p);
	return 0;
}

/*
 * Labels of the scope that ends are known now. Branches to others are left for
 * the scope around it; at the outermost they are errors.
 */
static int close_scope(struct parser *p)
{
	struct scope *scope = &p->scopes[p->nscopes - 1];
	uint32_t i, kept = scope->first_fixup;

	for (i = scope->first_fixup; i < p->nfixups; i++) {
		struct fixup *fixup = &p->fixups[i];
		struct symbol *sym = map_get(&scope->names, fixup->name, fixup->len);

		if (sym && sym->kind == SYM_LABEL && fixup->insn != PTX_NO_REG) {
			p->kernel->insns[fixup->insn].target = sym->index;
		} else if (sym && sym->kind == SYM_LABEL) {
			p->function->tables[fixup->table].targets[fixup->entry] = sym->index;
		} else if (p->nscopes > 2) {
			p->fixups[kept++] = *fixup;
		} else {
			p->stmt = fixup->stmt;
			p->stmt_line = fixup->line;
			return bad(p, "there is no label '%.*s'", (int)MIN(fixup->len, 80u),
				   fixup->name);
		}
	}
	p->nfixups = kept;
	p->nscopes--;
	next(p);
	return 0;
}

static int directive(struct parser *p)
{
	enum linkage linkage = LINK_NONE;

	if (is_dot(p, "loc") || is_dot(p, "file")) {
		lex_skip_line(&p->lx);
		next(p);
		return 0;
	}
	if (is_dot(p, "pragma"))
		return skip_statement(p);
	if (is_dot(p, "reg"))
		return parse_reg(p);
	if (is_dot(p, "extern")) {
		linkage = LINK_EXTERN;
		next(p);
	}
	if (is_dot(p, "shared"))
		return parse_variable(p, PTX_SPACE_SHARED, linkage);
	if (is_dot(p, "local"))
		return parse_variable(p, PTX_SPACE_LOCAL, linkage);
	if (is_dot(p, "const"))
		return parse_variable(p, PTX_SPACE_CONST, linkage);
	if (is_dot(p, "global"))
		return parse_variable(p, PTX_SPACE_GLOBAL, linkage);
	if (is_dot(p, "param"))
		return parse_call_variable(p);
	if (is_dot(p, "branchtargets"))
		return parse_table(p);
	if (is_dot(p, "callprototype"))
		return parse_prototype(p);
	if (is_dot(p, "calltargets"))
		return parse_targets(p);
	return unsupported(p, "unknown directive");
}

/* Statements that stand for one of the text's, which messages name. */
static int parse_statements(struct parser *p, const char *text, size_t len, uint32_t line)
{
	const struct lexer lx = p->lx;
	const struct token tok = p->tok;
	int ret = 0;

	p->lx = (struct lexer){ text, text + len, line };
	next(p);
	p->replaced = true;
	while (!ret && p->tok.kind != TOK_END)
		ret = statement(p);
	p->replaced = false;
	p->lx = lx;
	p->tok = tok;
	return ret;
}

/* Does a guard stand before an instruction of textures? */
static bool guards_texture(const struct parser *p)
{
	struct lexer ahead = p->lx;
	struct token tok;

	lex_next(&ahead, &tok);
	if (tok.kind == TOK_PUNCT && tok.punct == '!')
		lex_next(&ahead, &tok);
	lex_next(&ahead, &tok);
	return tok.kind == TOK_IDENT && is_texture_insn(&tok);
}

/* `name :` or `name ...`: a name opens a label or an instruction. */
static int label_or_insn(struct parser *p)
{
	struct lexer ahead = p->lx;
	struct symbol *sym;
	struct token tok;

	lex_next(&ahead, &tok);
	if (tok.kind != TOK_PUNCT || tok.punct != ':')
		return is_texture_insn(&p->tok) ? parse_texture_insn(p, parse_statements) :
			parse_insn(p);
	sym = new_symbol(p, SYM_LABEL, &p->tok);
	if (!sym)
		return no_memory(p);
	sym->index = p->kernel->ninsns;
	p->last_label = sym;
	next(p);
	next(p);
	return add_symbol(p, sym);
}

static int statement(struct parser *p)
{
	if (!p->replaced) {
		p->stmt = p->tok.kind == TOK_DOT ? p->tok.text - 1 : p->tok.text;
		p->stmt_line = p->tok.line;
	}
	switch (p->tok.kind) {
	case TOK_END:
		return bad(p, "'}' is missing at the end of %s '%s'",
			   p->function->entry ? "kernel" : "function", p->kernel->name);
	case TOK_DOT:
		return directive(p);
	case TOK_IDENT:
		return label_or_insn(p);
	case TOK_PUNCT:
		if (p->tok.punct == '{')
			return open_scope(p);
		if (p->tok.punct == '}')
			return close_scope(p);
		if (p->tok.punct == '@')
			return guards_texture(p) ? parse_texture_insn(p, parse_statements) :
				parse_insn(p);
		if (p->tok.punct == ';') {
			next(p);
			return 0;
		}
		break;
	default:
		break;
	}
	return bad(p, "an instruction is expected");
}

/* Whether control can run past the last instruction, or a branch leads there. */
static bool falls_off(const struct function *f)
{
	const struct ptx_kernel *body = &f->body;
	const struct ptx_insn *last;
	uint32_t i, j;

	if (!body->ninsns)
		return true;
	last = &body->insns[body->ninsns - 1];
	if (last->guard != PTX_NO_REG ||
	    (last->opcode != PTX_OP_ret && last->opcode != PTX_OP_exit &&
	     last->opcode != PTX_OP_trap && last->opcode != PTX_OP_bra))
		return true;
	for (i = 0; i < body->ninsns; i++) {
		if (body->insns[i].opcode == PTX_OP_bra && body->insns[i].target == body->ninsns)
			return true;
	}
	for (i = 0; i < f->ntables; i++) {
		for (j = 0; j < f->tables[i].count; j++) {
			if (f->tables[i].targets[j] == body->ninsns)
				return true;
		}
	}
	return false;
}

int parse_body(struct parser *p)
{
	struct ptx_insn *insn;
	uint32_t line = p->tok.line;
	int ret = 0;

	next(p);
	p->in_body = true;
	while (!ret && p->nscopes > 1) {
		line = p->tok.line;
		ret = statement(p);
	}
	p->in_body = false;
	if (ret)
		return ret;
	if (falls_off(p->function)) {
		ret = new_insn(p, &insn);
		if (ret)
			return ret;
		insn->opcode = PTX_OP_ret;
		insn->cls = PTX_CLASS_EXIT;
		insn->line = line;
	}
	return 0;
}
