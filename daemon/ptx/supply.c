// SPDX-License-Identifier: GPL-2.0
/*
 * Functions that a text calls and does not have, written as PTX and parsed behind it: those that
 * indirect calls go through, and the heap's; and the memory in which grids meet. Called when the
 * text has ended.
 *
 * An indirect call is a direct one of a function that takes the address first: it branches by
 * it to calls of all functions that may be meant, which are those with such parameters whose
 * address is taken somewhere. So nobody behind the parser knows of indirect calls; registers,
 * frames and recursion are what they are for these.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "ptx/heap.h"
#include "ptx/parser.h"

/* Functions are looked through for each. */
#define MAX_CALLERS	1024

/* --- text, all of it in the line that asks for it ---------------------------------------- */

struct text {
	char *at;
	uint32_t n, cap;
	bool failed;
};

static void put(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void put(struct text *t, const char *fmt, ...)
{
	char line[400];
	va_list args;
	int len;

	va_start(args, fmt);
	len = vsnprintf(line, sizeof(line), fmt, args);
	va_end(args);
	for (int i = 0; i < len && !t->failed; i++) {
		t->failed = len >= (int)sizeof(line) || array_grow(t->at, t->cap, t->n);
		if (!t->failed)
			t->at[t->n++] = line[i] == '\n' ? ' ' : line[i];
	}
}

/* --- calls through an address ------------------------------------------------------------ */

static bool is_scalar(const struct param *param)
{
	return (param->bytes == 1 || param->bytes == 2 || param->bytes == 4 ||
		param->bytes == 8) && param->align >= param->bytes;
}

/* The sizes of a function's parameters: a name for all functions that have the same. */
static void put_shape(struct text *t, const struct function *f)
{
	uint32_t i;

	put(t, "__gpuemu_call");
	for (i = 0; i < f->nresults; i++)
		put(t, "_r%u", f->results[i]->bytes);
	for (i = 0; i < f->nformals; i++)
		put(t, "_%u", f->formals[i]->bytes);
}

static bool same_shape(const struct function *a, const struct function *b)
{
	uint32_t i;

	if (a->nresults != b->nresults || a->nformals != b->nformals)
		return false;
	for (i = 0; i < a->nresults; i++) {
		if (a->results[i]->bytes != b->results[i]->bytes)
			return false;
	}
	for (i = 0; i < a->nformals; i++) {
		if (a->formals[i]->bytes != b->formals[i]->bytes)
			return false;
	}
	return true;
}

static void put_variable(struct text *t, const struct param *param, const char *name, uint32_t i)
{
	if (is_scalar(param))
		put(t, ".param .b%u %s%u", 8 * param->bytes, name, i);
	else
		put(t, ".param .align %u .b8 %s%u[%u]", MAX(param->align, 1u), name, i,
		    param->bytes);
}

static void put_list(struct text *t, struct param *const *params, uint32_t n, const char *name,
		     const char *end)
{
	uint32_t i;

	for (i = 0; i < n; i++) {
		put_variable(t, params[i], name, i);
		put(t, "%s", i + 1 < n || *end == ';' ? end : "");
	}
}

/* The largest piece of at most 8 bytes that is aligned at the offset and ends in the parameter. */
static uint32_t piece_of(const struct param *param, uint32_t offset)
{
	uint32_t bytes = MIN(MAX(param->align, 1u), 8u);

	while (offset % bytes || offset + bytes > param->bytes)
		bytes /= 2;
	return bytes;
}

static void put_copies(struct text *t, struct param *const *params, uint32_t n, const char *from,
		       const char *to)
{
	uint32_t i, at, bytes;

	for (i = 0; i < n; i++) {
		for (at = 0; at < params[i]->bytes; at += bytes) {
			const char *reg;

			bytes = piece_of(params[i], at);
			reg = bytes == 8 ? "%d" : bytes == 4 ? "%r" : "%h";
			put(t, "ld.param.b%u %s, [%s%u+%u];\n", 8 * bytes, reg, from, i, at);
			put(t, "st.param.b%u [%s%u+%u], %s;\n", 8 * bytes, to, i, at, reg);
		}
	}
}

static void put_names(struct text *t, const char *name, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		put(t, "%s%s%u", i ? ", " : "", name, i);
}

static void put_case(struct text *t, const struct function *f)
{
	put(t, "L%u:\n{\n", f->number);
	put_list(t, f->formals, f->nformals, "a", ";\n");
	put_list(t, f->results, f->nresults, "v", ";\n");
	put_copies(t, f->formals, f->nformals, "p", "a");
	put(t, "call ");
	if (f->nresults) {
		put(t, "(");
		put_names(t, "v", f->nresults);
		put(t, "), ");
	}
	for (const char *c = f->body.name; *c; c++)
		put(t, "%c", *c);
	put(t, ", (");
	put_names(t, "a", f->nformals);
	put(t, ");\n");
	put_copies(t, f->results, f->nresults, "v", "r");
	put(t, "ret;\n}\n");
}

static bool may_be(const struct function *f, const struct function *prototype)
{
	return f->addressed && f->defined && !f->entry && same_shape(f, prototype);
}

/* The stub branches by the number in the address. It traps where there is no function. */
static void put_cases(struct text *t, const struct parser *p, const struct function *prototype)
{
	uint32_t first = UINT32_MAX, last = 0, i, n;
	bool *here;

	for (i = 0; i < p->nfunctions; i++) {
		if (!may_be(p->functions[i], prototype))
			continue;
		first = MIN(first, p->functions[i]->number);
		last = MAX(last, p->functions[i]->number);
	}
	if (first > last) {
		put(t, "trap;\n}\n");
		return;
	}
	put(t, "ld.param.b64 %%t, [at];\nsub.u64 %%t, %%t, 0x%llx;\n",
	    CODE_WINDOW + CODE_STRIDE * (unsigned long long)first);
	put(t, "and.b64 %%d, %%t, %u;\nsetp.ne.u64 %%q, %%d, 0;\n", CODE_STRIDE - 1);
	put(t, "setp.gt.or.u64 %%q, %%t, %llu, %%q;\n@%%q bra NONE;\n",
	    CODE_STRIDE * (unsigned long long)(last - first));
	put(t, "shr.u64 %%t, %%t, 4;\ncvt.u32.u64 %%i, %%t;\nALL: .branchtargets ");
	here = calloc(last - first + 1, sizeof(*here));
	t->failed |= !here;
	for (i = 0; here && i < p->nfunctions; i++) {
		if (may_be(p->functions[i], prototype))
			here[p->functions[i]->number - first] = true;
	}
	for (n = first; here && n <= last; n++) {
		if (here[n - first])
			put(t, "L%u%s", n, n < last ? ", " : ";\n");
		else
			put(t, "NONE, ");
	}
	free(here);
	put(t, "brx.idx %%i, ALL;\nNONE: trap;\n");
	for (i = 0; i < p->nfunctions; i++) {
		if (may_be(p->functions[i], prototype))
			put_case(t, p->functions[i]);
	}
	put(t, "}\n");
}

static void put_caller(struct text *t, const struct parser *p, const struct function *prototype,
		       const char *name)
{
	put(t, ".func ");
	if (prototype->nresults) {
		put(t, "(");
		put_list(t, prototype->results, prototype->nresults, "r", ", ");
		put(t, ") ");
	}
	for (; *name; name++)
		put(t, "%c", *name);
	put(t, "(.param .b64 at%s", prototype->nformals ? ", " : "");
	put_list(t, prototype->formals, prototype->nformals, "p", ", ");
	put(t, ")\n{\n.reg .b64 %%t, %%d;\n.reg .b32 %%i, %%r;\n.reg .b16 %%h;\n.reg .pred %%q;\n");
	put_cases(t, p, prototype);
}

static int parse_text(struct parser *p, parse_text_fn *parse, struct text *t, uint32_t line)
{
	char *text = t->failed ? NULL : slab_strndup(&p->scratch, t->at, t->n);
	uint32_t n = t->n;

	free(t->at);
	*t = (struct text){ 0 };
	return text ? parse(p, text, n, line) : no_memory(p);
}

static int caller_of(struct parser *p, parse_text_fn *parse, const struct call_site *site,
		     struct function **caller)
{
	struct text shape = { 0 }, t = { 0 };
	struct symbol *sym;
	char *name;
	int ret = 0;

	put_shape(&shape, site->prototype);
	name = shape.failed ? NULL : slab_strndup(&p->scratch, shape.at, shape.n);
	free(shape.at);
	if (!name)
		return no_memory(p);
	sym = map_get(&p->scopes[0].names, name, strlen(name));
	if (!sym && ++p->callers > MAX_CALLERS)
		return unsupported(p, "indirect calls of functions of more than %d kinds",
				   MAX_CALLERS);
	if (!sym) {
		put_caller(&t, p, site->prototype, name);
		ret = parse_text(p, parse, &t, site->line);
		sym = map_get(&p->scopes[0].names, name, strlen(name));
	}
	*caller = sym ? sym->function : NULL;
	return ret;
}

/* The address becomes the first argument. */
static int through_caller(struct parser *p, parse_text_fn *parse, struct call_site *site)
{
	struct call_value *args = slab_alloc(&p->scratch, (site->nargs + 1) * sizeof(*args));
	uint32_t i;
	int ret;

	if (!args)
		return no_memory(p);
	p->stmt = site->stmt;
	p->stmt_line = site->line;
	for (i = 0; i < site->prototype->nformals; i++) {
		if (site->prototype->formals[i]->open)
			return unsupported(p, "a variable number of arguments");
	}
	if (site->prototype->nformals + 1 > PTX_MAX_VALUES)
		return unsupported(p, "calls with more than %d arguments", PTX_MAX_VALUES);
	ret = caller_of(p, parse, site, &site->callee);
	args[0].op = site->target;
	if (site->nargs)
		memcpy(args + 1, site->args, site->nargs * sizeof(*args));
	site->args = args;
	site->nargs++;
	return ret;
}

/* --- both -------------------------------------------------------------------------------- */

static int supply_heap(struct parser *p, parse_text_fn *parse)
{
	uint32_t i;

	for (i = 0; i < p->nfunctions; i++) {
		const struct function *f = p->functions[i];

		if (f->heap && !f->definition)
			return parse(p, heap_text, strlen(heap_text), f->body.line);
	}
	return 0;
}

int supply_functions(struct parser *p, parse_text_fn *parse)
{
	uint32_t i, j, n = p->nfunctions;
	int ret = supply_heap(p, parse);

	for (i = 0; i < n; i++) {
		struct function *f = p->functions[i];

		if (f->addressed && f->definition)
			f->definition->addressed = true;
		if (!ret && f->workspace)
			ret = add_global(p, PTX_WORKSPACE, PTX_WORKSPACE_BYTES, 16);
	}
	/* Only the first n: an added function calls none through an address. */
	for (i = 0; !ret && i < n; i++) {
		for (j = 0; !ret && j < p->functions[i]->ncalls; j++) {
			if (!p->functions[i]->calls[j]->callee)
				ret = through_caller(p, parse, p->functions[i]->calls[j]);
		}
	}
	return ret;
}
