// SPDX-License-Identifier: GPL-2.0
/*
 * The call instruction: (results), function, (arguments), and what functions an indirect one may
 * be of. What is passed is noted with the function and lowered when the text has ended. Called by
 * form.c and body.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "ptx/constant.h"
#include "ptx/parser.h"

/* A variable belongs to one call, so that what is stored in it is that call's. */
static int claim(struct parser *p, struct param *param, struct call_site *site, bool is_result)
{
	if (param->site)
		return unsupported(p, "the parameter '%s' is used twice", param->name);
	param->site = site;
	param->is_result = is_result;
	return 0;
}

static int parse_value(struct parser *p, struct ptx_insn *insn, struct call_site *site,
		       struct call_value *value, bool is_result)
{
	struct constant number;
	struct symbol *sym;
	int ret = 0;

	*value = (struct call_value){ .op.reg = PTX_NO_REG };
	if (p->tok.kind == TOK_IDENT && token_is(&p->tok, "_")) {
		next(p);
		return 0;
	}
	if (p->tok.kind != TOK_IDENT || constant_begins(p)) {
		if (is_result)
			return bad(p, "a result is a variable or a register");
		if (!constant_begins(p))
			return parse_source(p, insn, &value->op, PTX_B64, EXACT);
		/* Which type it has is not known yet; its bits are kept. */
		value->op.kind = PTX_OPND_IMM;
		ret = parse_constant(p, &number);
		value->op.value = number.bits;
		return ret;
	}
	sym = find_symbol(p, p->tok.text, p->tok.len);
	if (sym && sym->kind == SYM_VAR && sym->param) {
		value->param = sym->param;
		next(p);
		return claim(p, sym->param, site, is_result);
	}
	value->op.reg = parse_register(p, &ret);
	if (ret)
		return ret;
	if (value->op.reg == PTX_NO_REG)
		return bad(p, "'%.*s' is neither a .param variable nor a register",
			   (int)MIN(p->tok.len, 80u), p->tok.text);
	if (p->kernel->regs[value->op.reg].type == PTX_PRED)
		return unsupported(p, "predicates as parameters of a function");
	value->op.kind = PTX_OPND_REG;
	return 0;
}

/* One value or, of a vector register, one for each element, as parse_formals() counts them. */
static int parse_values(struct parser *p, struct ptx_insn *insn, struct call_site *site,
			struct call_value *values, uint32_t *n, bool is_result)
{
	struct symbol *vector;
	uint32_t i;
	int ret = 0;

	vector = vector_here(p, &ret);
	if (ret)
		return ret;
	if (*n + (vector ? vector->vec : 1) > PTX_MAX_VALUES)
		return unsupported(p, "calls with more than %d arguments", PTX_MAX_VALUES);
	if (!vector)
		return parse_value(p, insn, site, &values[(*n)++], is_result);
	for (i = 0; !ret && i < vector->vec; i++)
		values[(*n)++] = (struct call_value){
			.op.kind = PTX_OPND_REG, .op.reg = element_register(p, vector, i, &ret),
		};
	next(p);
	return ret;
}

/* ( a, b ); the list is the slab's. */
static int parse_list(struct parser *p, struct ptx_insn *insn, struct call_site *site,
		      bool is_result)
{
	struct call_value values[PTX_MAX_VALUES], *copy;
	uint32_t n = 0;
	int ret;

	next(p);
	if (accept(p, ')'))
		return 0;
	do {
		ret = parse_values(p, insn, site, values, &n, is_result);
		if (ret)
			return ret;
	} while (accept(p, ','));
	ret = expect(p, ')');
	if (ret)
		return ret;
	copy = slab_alloc(&p->scratch, n * sizeof(*copy));
	if (!copy)
		return no_memory(p);
	memcpy(copy, values, n * sizeof(*copy));
	if (is_result) {
		site->results = copy;
		site->nresults = n;
	} else {
		site->args = copy;
		site->nargs = n;
	}
	return 0;
}

static int parse_callee(struct parser *p, struct call_site *site)
{
	struct symbol *sym;
	int ret = 0;

	if (p->tok.kind != TOK_IDENT)
		return bad(p, "a function's name is expected");
	sym = map_get(&p->scopes[0].names, p->tok.text, p->tok.len);
	if (!sym || sym->kind != SYM_FUNC) {
		site->target.kind = PTX_OPND_REG;
		site->target.reg = parse_register(p, &ret);
		if (!ret && site->target.reg != PTX_NO_REG) {
			if (ptx_type_bytes(p->kernel->regs[site->target.reg].type) != 8)
				return bad(p, "the address of a function takes 64 bits");
			return 0;
		}
		return ret ? ret : bad(p, "there is no function '%.*s'",
				       (int)MIN(p->tok.len, 80u), p->tok.text);
	}
	site->callee = sym->function;
	if (site->callee->entry)
		return unsupported(p, "calls of kernels");
	next(p);
	return 0;
}

/* The name of a .callprototype or of .calltargets, which an indirect call ends in. */
static int parse_prototype_name(struct parser *p, struct call_site *site)
{
	struct symbol *sym;

	if (p->tok.kind != TOK_IDENT)
		return bad(p, "the name of a prototype is expected");
	sym = find_symbol(p, p->tok.text, p->tok.len);
	if (!sym || sym->kind != SYM_PROTOTYPE)
		return bad(p, "there is no prototype '%.*s'", (int)MIN(p->tok.len, 80u),
			   p->tok.text);
	site->prototype = sym->function;
	next(p);
	return 0;
}

/* The label right before becomes the name of what follows. */
static int name_prototype(struct parser *p, struct function *f)
{
	struct symbol *label = p->last_label;

	if (!label || label->kind != SYM_LABEL || label->index != p->kernel->ninsns)
		return bad(p, "a prototype needs a name");
	label->kind = SYM_PROTOTYPE;
	label->function = f;
	return 0;
}

/* The parameters of a function, and nothing else of it. */
static int parse_shape(struct parser *p)
{
	int ret = 0;

	if (is_punct(p, '('))
		ret = parse_formals(p, true);
	if (!ret && p->tok.kind != TOK_IDENT)
		ret = bad(p, "'_' expected");
	if (ret)
		return ret;
	next(p);
	if (is_punct(p, '('))
		ret = parse_formals(p, false);
	while (!ret && !is_punct(p, ';')) {
		/* .noreturn, .abi_preserve N */
		if (p->tok.kind == TOK_END || is_punct(p, '}'))
			return bad(p, "';' expected");
		next(p);
	}
	return ret ? ret : expect(p, ';');
}

/* Parameters without a name or a body. */
static struct function *new_prototype(struct parser *p)
{
	struct function *f;

	if (array_grow(p->prototypes, p->prototypes_cap, p->nprototypes))
		return NULL;
	f = slab_alloc(&p->scratch, sizeof(*f));
	if (f)
		p->prototypes[p->nprototypes++] = f;
	return f;
}

/* NAME: .callprototype (results) _ (parameters); their names are seen by nobody. */
int parse_prototype(struct parser *p)
{
	const struct parser saved = *p;
	struct function *f = new_prototype(p);
	int ret;

	if (!f)
		return no_memory(p);
	ret = name_prototype(p, f);
	if (ret)
		return ret;
	if (p->nscopes > SCOPES)
		return unsupported(p, "blocks are nested more than %d deep", SCOPES);
	next(p);
	p->scopes[p->nscopes++] = (struct scope){ .names.slab = &p->scratch };
	p->function = f;
	p->kernel = &f->body;
	p->regs_cap = 0;
	ret = parse_shape(p);
	p->nscopes = saved.nscopes;
	p->function = saved.function;
	p->kernel = saved.kernel;
	p->regs_cap = saved.regs_cap;
	return ret;
}

/* NAME: .calltargets f, g; */
int parse_targets(struct parser *p)
{
	struct function *first = NULL;
	struct symbol *sym;
	int ret;

	do {
		next(p);
		sym = p->tok.kind == TOK_IDENT ?
			map_get(&p->scopes[0].names, p->tok.text, p->tok.len) : NULL;
		if (!sym || sym->kind != SYM_FUNC || sym->function->entry)
			return bad(p, "a function's name is expected");
		function_address(sym->function);
		if (!first)
			first = sym->function;
		next(p);
	} while (is_punct(p, ','));
	ret = name_prototype(p, first);
	return ret ? ret : expect(p, ';');
}

int parse_call(struct parser *p, struct ptx_insn *insn)
{
	struct function *f = p->function;
	struct call_site *site = slab_alloc(&p->scratch, sizeof(*site));
	int ret = 0;

	if (!site)
		return no_memory(p);
	site->insn = insn - f->body.insns;
	site->stmt = p->stmt;
	site->line = p->stmt_line;
	if (is_punct(p, '(')) {
		ret = parse_list(p, insn, site, true);
		if (!ret)
			ret = expect(p, ',');
	}
	if (!ret)
		ret = parse_callee(p, site);
	if (!ret && accept(p, ',')) {
		if (is_punct(p, '('))
			ret = parse_list(p, insn, site, false);
		else if (site->callee)
			ret = bad(p, "'(' expected");
		else
			ret = parse_prototype_name(p, site);
	}
	if (!ret && !site->callee && !site->prototype) {
		ret = expect(p, ',');
		if (!ret)
			ret = parse_prototype_name(p, site);
	}
	if (ret)
		return ret;
	if (array_grow(f->calls, f->calls_cap, f->ncalls))
		return no_memory(p);
	insn->target = f->ncalls;
	f->calls[f->ncalls++] = site;
	return 0;
}
