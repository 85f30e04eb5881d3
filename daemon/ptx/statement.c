// SPDX-License-Identifier: GPL-2.0
/*
 * Every file of the parser uses these: the token at hand, the names that are seen from
 * here, and messages that show the statement. It knows no directive and no instruction.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "ptx/parser.h"

void next(struct parser *p)
{
	lex_next(&p->lx, &p->tok);
}

bool is_punct(const struct parser *p, char c)
{
	return p->tok.kind == TOK_PUNCT && p->tok.punct == c;
}

bool token_is(const struct token *tok, const char *text)
{
	return tok->len == strlen(text) && !memcmp(tok->text, text, tok->len);
}

bool is_dot(const struct parser *p, const char *name)
{
	return p->tok.kind == TOK_DOT && token_is(&p->tok, name);
}

bool accept(struct parser *p, char c)
{
	if (!is_punct(p, c))
		return false;
	next(p);
	return true;
}

int expect(struct parser *p, char c)
{
	return accept(p, c) ? 0 : bad(p, "'%c' expected", c);
}

/* The statement as it stands in the text, on one line, printable and not too long. */
static void statement_text(const struct parser *p, char *buf, size_t bytes)
{
	const char *c = p->stmt;
	size_t n = 0;
	bool space = false;

	/* A byte may bring a space with it, and "..." must still fit. */
	for (; c < p->lx.end && n + 5 < bytes; c++) {
		if (*c == ' ' || *c == '\t' || *c == '\r') {
			space = n > 0;
			continue;
		}
		if (*c == '\n' || (*c == '/' && c + 1 < p->lx.end && c[1] == '/'))
			break;
		if (space)
			buf[n++] = ' ';
		space = false;
		buf[n++] = *c >= ' ' && *c <= '~' ? *c : '?';
		/* An entry's statement ends where its body begins; vectors have braces too. */
		if (*c == ';' || (*c == '{' && !p->in_body))
			break;
	}
	strcpy(buf + n, n + 5 < bytes ? "" : "...");
}

static int report(struct parser *p, int code, const char *reason, const char *why)
{
	char text[100];

	statement_text(p, text, sizeof(text));
	return err_set(p->err, code, "%s:%u: %s: `%s`%s%s%s", p->module->name, p->stmt_line,
		       reason, text, *why ? " (" : "", why, *why ? ")" : "");
}

int bad(struct parser *p, const char *fmt, ...)
{
	char reason[200];
	va_list args;

	va_start(args, fmt);
	vsnprintf(reason, sizeof(reason), fmt, args);
	va_end(args);
	return report(p, -EINVAL, reason, "");
}

int unsupported(struct parser *p, const char *fmt, ...)
{
	char why[200];
	va_list args;

	va_start(args, fmt);
	vsnprintf(why, sizeof(why), fmt, args);
	va_end(args);
	return report(p, -EOPNOTSUPP, "not supported", why);
}

int no_memory(struct parser *p)
{
	return err_set(p->err, -ENOMEM, "%s:%u: out of memory", p->module->name, p->tok.line);
}

int skip_braces(struct parser *p)
{
	uint32_t depth = 0;

	do {
		if (p->tok.kind == TOK_END)
			return bad(p, "'}' is missing at the end of the text");
		if (is_punct(p, '{'))
			depth++;
		else if (is_punct(p, '}'))
			depth--;
		next(p);
	} while (depth);
	return 0;
}

int skip_statement(struct parser *p)
{
	while (!is_punct(p, ';')) {
		if (p->tok.kind == TOK_END)
			return bad(p, "';' is missing at the end of the text");
		next(p);
	}
	next(p);
	return 0;
}

struct symbol *new_symbol(struct parser *p, enum symbol_kind kind, const struct token *tok)
{
	struct symbol *sym = slab_alloc(&p->scratch, sizeof(*sym));

	if (sym) {
		sym->kind = kind;
		sym->name = tok->text;
		sym->name_len = tok->len;
		sym->line = tok->line;
	}
	return sym;
}

struct symbol *find_symbol(struct parser *p, const char *name, uint32_t len)
{
	struct symbol *sym;
	uint32_t i;

	for (i = p->nscopes; i-- > 0;) {
		sym = map_get(&p->scopes[i].names, name, len);
		if (sym)
			return sym;
	}
	return NULL;
}

int add_symbol_to(struct parser *p, struct symbol *sym, uint32_t scope)
{
	int ret;

	if (p->total_names++ >= PTX_MAX_NAMES)
		return unsupported(p, "a module of more than %u names", PTX_MAX_NAMES);
	ret = map_put(&p->scopes[scope].names, sym->name, sym->name_len, sym);
	if (ret == -EEXIST)
		return bad(p, "'%.*s' is declared twice", (int)MIN(sym->name_len, 80u), sym->name);
	return ret ? no_memory(p) : 0;
}

int add_symbol(struct parser *p, struct symbol *sym)
{
	return add_symbol_to(p, sym, p->nscopes - 1);
}
