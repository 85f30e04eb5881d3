// SPDX-License-Identifier: GPL-2.0
/*
 * A module: directives, variables and entries at the top level, and what the
 * files of the parser share (tokens, symbols, messages). Bodies are in body.c.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/private.h"

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
	struct symbol *sym = pool_alloc(&p->scratch, sizeof(*sym));

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

static int parse_version(struct parser *p)
{
	const char *c;
	int major = 0;

	next(p);
	/* "8.0" reads as a decimal number; its text says which version it is. */
	if (p->tok.kind != TOK_F64 && p->tok.kind != TOK_INT)
		return bad(p, "a version is expected after .version");
	for (c = p->tok.text; c < p->tok.text + p->tok.len && *c >= '0' && *c <= '9'; c++)
		major = MIN(major * 10 + (*c - '0'), 1000);
	if (major < 1 || major > 9)
		return unsupported(p, "PTX version 1 to 9 is");
	p->seen_version = true;
	next(p);
	return 0;
}

static int parse_target(struct parser *p)
{
	do {
		next(p);
		if (p->tok.kind != TOK_IDENT)
			return bad(p, "a target is expected after .target");
		if (token_is(&p->tok, "texmode_unified") || token_is(&p->tok, "texmode_independent") ||
		    token_is(&p->tok, "texmode_raw") || token_is(&p->tok, "debug") ||
		    token_is(&p->tok, "map_f64_to_f32"))
			;
		else if (p->tok.len < 5 || memcmp(p->tok.text, "sm_", 3))
			return unsupported(p, "targets are sm_20 and newer");
		else if (p->tok.text[3] == '1' && p->tok.len == 5)
			return unsupported(p, "targets are sm_20 and newer");
		next(p);
	} while (is_punct(p, ','));
	p->seen_target = true;
	return 0;
}

static int parse_address_size(struct parser *p)
{
	next(p);
	if (p->tok.kind != TOK_INT)
		return bad(p, "32 or 64 is expected after .address_size");
	if (p->tok.bits != 64)
		return unsupported(p, "only 64-bit addresses are");
	next(p);
	return 0;
}

/* .section NAME { ... } holds debugging data. */
static int skip_section(struct parser *p)
{
	while (!is_punct(p, '{')) {
		if (p->tok.kind == TOK_END)
			return bad(p, "'{' is missing after .section");
		next(p);
	}
	return skip_braces(p);
}

static int parse_space(struct parser *p, enum linkage linkage)
{
	static const struct {
		const char *name;
		enum ptx_space space;
	} spaces[] = {
		{ "global", PTX_SPACE_GLOBAL },
		{ "const", PTX_SPACE_CONST },
		{ "shared", PTX_SPACE_SHARED },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(spaces); i++) {
		if (is_dot(p, spaces[i].name))
			return parse_variable(p, spaces[i].space, linkage);
	}
	return unsupported(p, "unknown directive");
}

static int parse_top(struct parser *p)
{
	enum linkage linkage = LINK_NONE;

	p->stmt = p->tok.kind == TOK_DOT ? p->tok.text - 1 : p->tok.text;
	p->stmt_line = p->tok.line;
	/* @@DWARF: debugging data of old compilers, a line at a time. */
	if (p->seen_version && is_punct(p, '@')) {
		lex_skip_line(&p->lx);
		next(p);
		return 0;
	}
	if (p->tok.kind != TOK_DOT)
		return bad(p, "a directive is expected");
	if (is_dot(p, "version"))
		return parse_version(p);
	if (is_dot(p, "target"))
		return parse_target(p);
	if (is_dot(p, "address_size"))
		return parse_address_size(p);
	if (is_dot(p, "file") || is_dot(p, "loc")) {
		lex_skip_line(&p->lx);
		next(p);
		return 0;
	}
	if (is_dot(p, "section"))
		return skip_section(p);
	if (is_dot(p, "pragma"))
		return skip_statement(p);
	while (is_dot(p, "visible") || is_dot(p, "weak") || is_dot(p, "common") ||
	       is_dot(p, "extern")) {
		if (is_dot(p, "extern"))
			linkage = LINK_EXTERN;
		next(p);
	}
	if (is_dot(p, "entry"))
		return parse_entry(p);
	if (is_dot(p, "func"))
		return parse_func(p);
	if (is_dot(p, "alias"))
		return unsupported(p, "aliases of functions");
	return parse_space(p, linkage);
}

int ptx_module_parse(const char *text, size_t len, const char *name,
		     struct ptx_module **out, struct err *err)
{
	return ptx_module_parse_with(text, len, name, NULL, out, err);
}

int ptx_module_parse_with(const char *text, size_t len, const char *name,
			  const struct ptx_options *options,
			  struct ptx_module **out, struct err *err)
{
	struct ptx_module *module = calloc(1, sizeof(*module));
	struct parser *p = calloc(1, sizeof(*p));
	int ret = 0;
	uint32_t i;

	if (!module || !p) {
		free(module);
		free(p);
		return err_set(err, -ENOMEM, "%s: out of memory", name);
	}
	if (options)
		module->options = *options;
	p->lx = (struct lexer){ text, text + len, 1 };
	p->err = err;
	p->module = module;
	p->scopes[0].names.pool = &p->scratch;
	p->nscopes = 1;
	insn_tables_init(p);
	module->name = pool_strndup(&module->pool, name, strlen(name));
	if (!module->name) {
		ret = err_set(err, -ENOMEM, "%s: out of memory", name);
		goto out;
	}
	p->stmt = text;
	p->stmt_line = 1;
	next(p);
	while (!ret && p->tok.kind != TOK_END)
		ret = parse_top(p);
	if (!ret && !p->seen_version)
		ret = err_set(err, -EINVAL, "%s:1: this is not PTX: there is no .version", name);
	if (!ret)
		ret = resolve_initialisers(p);
	if (!ret)
		ret = link_module(p);
out:
	for (i = 0; i < p->nfunctions; i++)
		function_free(p->functions[i]);
	free(p->functions);
	free(p->fixups);
	free(p->init_data);
	pool_free(&p->scratch);
	free(p);
	if (ret) {
		ptx_module_free(module);
		return ret;
	}
	*out = module;
	return 0;
}
