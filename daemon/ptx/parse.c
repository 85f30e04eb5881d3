// SPDX-License-Identifier: GPL-2.0
/*
 * A module: directives, variables and entries at the top level. Bodies are in body.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/parser.h"

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

static int parse_more(struct parser *p, const char *text, size_t len, uint32_t line)
{
	const struct lexer lx = p->lx;
	const struct token tok = p->tok;
	int ret = 0;

	p->lx = (struct lexer){ text, text + len, line };
	next(p);
	while (!ret && p->tok.kind != TOK_END)
		ret = parse_top(p);
	p->lx = lx;
	p->tok = tok;
	return ret;
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
	p->scopes[0].names.slab = &p->scratch;
	p->nscopes = 1;
	insn_tables_init(p);
	module->name = slab_strndup(&module->slab, name, strlen(name));
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
		ret = supply_functions(p, parse_more);
	if (!ret)
		ret = resolve_initialisers(p);
	if (!ret)
		ret = link_module(p);
out:
	for (i = 0; i < p->nfunctions; i++)
		function_free(p->functions[i]);
	for (i = 0; i < p->nprototypes; i++)
		function_free(p->prototypes[i]);
	free(p->functions);
	free(p->prototypes);
	free(p->fixups);
	free(p->init_data);
	slab_free(&p->scratch);
	free(p);
	if (ret) {
		ptx_module_free(module);
		return ret;
	}
	*out = module;
	return 0;
}
