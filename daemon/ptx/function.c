// SPDX-License-Identifier: GPL-2.0
/*
 * .entry and .func: their headers, tuning directives and what is kept of them
 * until the module has ended and kernels are linked. Bodies are in body.c. Called
 * by parse.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "ptx/parser.h"

/* .maxntid and its like: up to three numbers. *product is their product. */
static int tuning_directive(struct parser *p, uint64_t *product)
{
	int n = 0;

	*product = 1;
	do {
		next(p);
		if (p->tok.kind != TOK_INT || p->tok.bits > UINT32_MAX || ++n > 3)
			return bad(p, "one to three numbers are expected");
		*product *= MIN(p->tok.bits, 1ull << 20);
		next(p);
	} while (is_punct(p, ','));
	return 0;
}

static int function_directives(struct parser *p)
{
	struct ptx_kernel *body = p->kernel;
	uint64_t product;
	int ret;

	while (p->tok.kind == TOK_DOT) {
		p->stmt = p->tok.text - 1;
		p->stmt_line = p->tok.line;
		if (is_dot(p, "maxntid") || is_dot(p, "reqntid")) {
			ret = tuning_directive(p, &product);
			body->max_threads = MIN(product, UINT32_MAX);
		} else if (is_dot(p, "maxnreg")) {
			ret = tuning_directive(p, &product);
			if (!ret && !product)
				ret = bad(p, "a kernel cannot do without registers");
			body->max_nreg = MIN(product, UINT32_MAX);
		} else if (is_dot(p, "minnctapersm") || is_dot(p, "maxnctapersm") ||
			   is_dot(p, "maxclusterrank") || is_dot(p, "abi_preserve") ||
			   is_dot(p, "abi_preserve_control")) {
			ret = tuning_directive(p, &product);
		} else if (is_dot(p, "noreturn")) {
			next(p);
			ret = 0;
		} else if (is_dot(p, "pragma")) {
			ret = skip_statement(p);
		} else if (is_dot(p, "reqnctapercluster") || is_dot(p, "explicitcluster") ||
			   is_dot(p, "blocksareclusters")) {
			return unsupported(p, "clusters of thread blocks");
		} else {
			return unsupported(p, "unknown directive of an entry");
		}
		if (ret)
			return ret;
	}
	return 0;
}

static void free_body(struct function *f)
{
	free(f->body.insns);
	free(f->body.regs);
	free(f->body.params);
	f->body.insns = NULL;
	f->body.regs = NULL;
	f->body.params = NULL;
	f->body.ninsns = f->body.nregs = f->body.nparams = 0;
}

void function_free(struct function *f)
{
	uint32_t i;

	free_body(f);
	for (i = 0; i < f->ntables; i++)
		free(f->tables[i].targets);
	free(f->tables);
	free(f->formals);
	free(f->results);
	free(f->uses);
	free(f->calls);
}

static struct function *new_function(struct parser *p, bool entry)
{
	struct function *f;

	if (array_grow(p->functions, p->functions_cap, p->nfunctions))
		return NULL;
	f = slab_alloc(&p->scratch, sizeof(*f));
	if (!f)
		return NULL;
	f->entry = entry;
	f->body.module = p->module->name;
	f->body.owner = p->module;
	f->shared_end = &f->shared;
	p->functions[p->nfunctions++] = f;
	f->number = p->nfunctions;
	return f;
}

static void open_function(struct parser *p, struct function *f)
{
	p->scopes[1] = (struct scope){ .names.slab = &p->scratch };
	p->nscopes = 2;
	p->function = f;
	p->kernel = &f->body;
	p->insns_cap = p->regs_cap = p->params_cap = 0;
	p->nfixups = 0;
	p->carry = PTX_NO_REG;
	p->last_label = NULL;
}

static void close_function(struct parser *p)
{
	struct ptx_kernel *body = &p->function->body;

	/* A module can have many small kernels: what doubling left over is given back. */
	(void)array_resize(body->insns, body->ninsns);
	(void)array_resize(body->regs, body->nregs);
	(void)array_resize(body->params, body->nparams);
	p->nscopes = 1;
	p->function = NULL;
	p->kernel = NULL;
	p->in_body = false;
}

static int parse_name(struct parser *p, struct function *f, const char *what, struct token *name)
{
	if (p->tok.kind != TOK_IDENT)
		return bad(p, "a %s's name is expected", what);
	if (!p->seen_version || !p->seen_target)
		return bad(p, ".version and .target must come before the first %s", what);
	f->body.name = slab_strndup(&p->module->slab, p->tok.text, p->tok.len);
	if (!f->body.name)
		return no_memory(p);
	f->body.line = p->tok.line;
	*name = p->tok;
	next(p);
	return 0;
}

/* Makes the name known; the symbol of a declaration becomes that of the definition. */
static int add_function(struct parser *p, struct function *f, const struct token *name)
{
	struct symbol *sym = map_get(&p->scopes[0].names, name->text, name->len);

	if (sym && sym->kind == SYM_FUNC && !sym->function->defined &&
	    sym->function->entry == f->entry) {
		sym->function = f;
		return 0;
	}
	sym = new_symbol(p, SYM_FUNC, name);
	if (!sym)
		return no_memory(p);
	sym->function = f;
	return add_symbol_to(p, sym, 0);
}

/*
 * A function may use what is not supported as long as no kernel calls it, and a kernel as long as
 * no program launches it: compilers write many such. The message waits until then.
 */
static int refuse_later(struct parser *p, struct function *f, const struct lexer *lx,
			const struct token *tok)
{
	f->refusal = slab_strndup(&p->scratch, p->err->text, strlen(p->err->text));
	if (!f->refusal)
		return no_memory(p);
	p->err->text[0] = '\0';
	free_body(f);
	p->insns_cap = p->regs_cap = p->params_cap = 0;
	f->ncalls = f->nuses = 0;
	f->shared = NULL;
	p->lx = *lx;
	p->tok = *tok;
	return skip_braces(p);
}

/* The definition of a function or a kernel, at its {. */
static int parse_definition(struct parser *p, struct function *f)
{
	struct lexer lx = p->lx;
	struct token tok = p->tok;
	int ret;

	ret = parse_body(p);
	if (ret == -EOPNOTSUPP && (!f->entry || p->module->options.leave_out))
		ret = refuse_later(p, f, &lx, &tok);
	f->defined = true;
	return ret;
}

int parse_entry(struct parser *p)
{
	struct function *f = new_function(p, true);
	struct token name;
	int ret;

	if (!f)
		return no_memory(p);
	next(p);
	ret = parse_name(p, f, "kernel", &name);
	if (ret)
		return ret;
	open_function(p, f);
	if (is_punct(p, '('))
		ret = parse_params(p);
	if (!ret)
		ret = function_directives(p);
	if (ret)
		return ret;
	if (accept(p, ';')) {		/* a declaration: the definition follows or is elsewhere */
		close_function(p);
		return 0;
	}
	if (!is_punct(p, '{'))
		return bad(p, "the kernel's body is expected");
	ret = add_function(p, f, &name);
	if (!ret)
		ret = parse_definition(p, f);
	if (ret)
		return ret;
	close_function(p);
	return 0;
}

static enum ptx_builtin builtin_of(const struct token *name)
{
	if (token_is(name, "vprintf"))
		return PTX_BUILTIN_VPRINTF;
	if (token_is(name, "__assertfail"))
		return PTX_BUILTIN_ASSERTFAIL;
	return PTX_BUILTIN_NONE;
}

int parse_func(struct parser *p)
{
	struct function *f = new_function(p, false), *known;
	struct token name;
	struct symbol *sym;
	int ret = 0;

	if (!f)
		return no_memory(p);
	next(p);
	open_function(p, f);
	if (is_punct(p, '('))
		ret = parse_formals(p, true);
	if (!ret)
		ret = parse_name(p, f, "function", &name);
	if (!ret && is_punct(p, '('))
		ret = parse_formals(p, false);
	if (!ret)
		ret = function_directives(p);
	if (ret)
		return ret;
	if (!is_punct(p, ';') && !is_punct(p, '{'))
		return bad(p, "the function's body is expected");
	sym = map_get(&p->scopes[0].names, name.text, name.len);
	known = sym && sym->kind == SYM_FUNC ? sym->function : NULL;
	if (is_punct(p, ';')) {
		next(p);
		f->builtin = builtin_of(&name);
		f->heap = token_is(&name, "malloc") || token_is(&name, "free");
		/* Calls of a name that was declared before are of the function they found. */
		if (!known)
			ret = add_function(p, f, &name);
	} else {
		if (known && !known->entry && !known->defined) {
			known->definition = f;
			f->number = known->number;
		}
		ret = add_function(p, f, &name);
		if (!ret)
			ret = parse_definition(p, f);
	}
	if (ret)
		return ret;
	close_function(p);
	return 0;
}
