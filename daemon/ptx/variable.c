// SPDX-License-Identifier: GPL-2.0
/*
 * Variables: .global, .const, .shared and .local, and where they are laid out
 * (PTX ISA, "State Spaces, Types, and Variables"). Those of .shared get their
 * places when a kernel is linked. Called by the parser.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "ptx/parser.h"

static int place(struct parser *p, uint64_t *total, struct symbol *sym, uint64_t limit,
		 const char *what)
{
	uint64_t offset = (*total + sym->align - 1) & ~(uint64_t)(sym->align - 1);

	if (offset + sym->bytes > limit)
		return bad(p, "%s variables take more than %llu bytes", what,
			   (unsigned long long)limit);
	sym->offset = offset;
	*total = offset + sym->bytes;
	return 0;
}

/* The function's own variables; their places are those of the kernel that it is linked into. */
static int add_shared(struct parser *p, struct symbol *sym)
{
	struct function *f = p->function;
	uint64_t total = f->body.shared_bytes;
	int ret = place(p, &total, sym, PTX_MAX_SHARED, ".shared");

	if (ret)
		return ret;
	f->body.shared_bytes = total;
	f->extra++;
	*f->shared_end = sym;
	f->shared_end = &sym->next;
	return 0;
}

static int place_local(struct parser *p, struct symbol *sym)
{
	uint64_t total = p->kernel->local_bytes;
	int ret = place(p, &total, sym, PTX_MAX_LOCAL, ".local");

	p->kernel->local_bytes = total;
	return ret;
}

/* The caller of the library finds it by its name. */
static int show_variable(struct parser *p, const struct symbol *sym, struct ptx_variable *variable)
{
	char *name = slab_strndup(&p->module->slab, sym->name, sym->name_len);

	if (!name)
		return no_memory(p);
	*variable = (struct ptx_variable){ name, sym->offset, sym->bytes, sym->align };
	return 0;
}

static int place_const(struct parser *p, struct symbol *sym)
{
	struct ptx_module *module = p->module;
	uint64_t total = module->const_bytes;
	int ret = place(p, &total, sym, PTX_MAX_CONST, ".const");

	if (!ret && sym->module_scope) {
		if (array_grow(module->constants, module->constants_cap, module->nconstants))
			return no_memory(p);
		ret = show_variable(p, sym, &module->constants[module->nconstants]);
		module->nconstants += !ret;
	}
	if (ret)
		return ret;
	if (!module->const_data)
		module->const_data = slab_alloc(&module->slab, PTX_MAX_CONST);
	if (!module->const_data)
		return no_memory(p);
	module->const_bytes = total;
	return 0;
}

static int place_global(struct parser *p, struct symbol *sym)
{
	struct ptx_module *module = p->module;
	int ret = place(p, &module->global_bytes, sym, PTX_MAX_GLOBAL, ".global");

	if (ret)
		return ret;
	module->global_align = MAX(module->global_align, sym->align);
	if (!sym->module_scope)
		return 0;
	if (array_grow(module->variables, module->variables_cap, module->nvariables))
		return no_memory(p);
	ret = show_variable(p, sym, &module->variables[module->nvariables]);
	module->nvariables += !ret;
	return ret;
}

int add_global(struct parser *p, const char *name, uint32_t bytes, uint32_t align)
{
	const struct token tok = {
		.kind = TOK_IDENT, .text = name, .len = strlen(name), .line = p->tok.line,
	};
	struct symbol *sym;
	int ret;

	if (map_get(&p->scopes[0].names, name, tok.len))
		return 0;
	sym = new_symbol(p, SYM_VAR, &tok);
	if (!sym)
		return no_memory(p);
	sym->type = PTX_B8;
	sym->space = PTX_SPACE_GLOBAL;
	sym->bytes = bytes;
	sym->align = align;
	sym->module_scope = true;
	ret = place_global(p, sym);
	return ret ? ret : add_symbol_to(p, sym, 0);
}

static int place_variable(struct parser *p, struct symbol *sym)
{
	switch (sym->space) {
	case PTX_SPACE_SHARED:
		return p->kernel && !sym->dynamic ? add_shared(p, sym) : 0;
	case PTX_SPACE_CONST:
		return place_const(p, sym);
	case PTX_SPACE_LOCAL:
		return place_local(p, sym);
	default:
		return place_global(p, sym);
	}
}

/* A variable may be declared extern before, or after, its definition. */
static int declare_again(struct parser *p, struct symbol *old, struct symbol *sym, bool is_extern)
{
	if (old->kind != SYM_VAR || old->space != sym->space || (!is_extern && !old->undefined))
		return bad(p, "'%.*s' is declared twice", (int)MIN(sym->name_len, 80u), sym->name);
	if (is_extern)
		return 0;
	old->type = sym->type;
	old->align = sym->align;
	old->bytes = sym->bytes;
	old->offset = sym->offset;
	old->undefined = false;
	return 0;
}

/* A variable without a name yet is in *sym: its type, space and alignment. */
static int declare(struct parser *p, const struct symbol *like, uint32_t vec, enum linkage linkage)
{
	bool is_extern = linkage == LINK_EXTERN, has_init = false;
	struct symbol *sym, *old;
	uint32_t first_address = p->module->naddresses;
	struct init *inits = p->inits;
	struct dims dims;
	int ret;

	if (p->tok.kind != TOK_IDENT)
		return bad(p, "a variable's name is expected");
	sym = new_symbol(p, SYM_VAR, &p->tok);
	if (!sym)
		return no_memory(p);
	next(p);
	if (is_punct(p, '<'))
		return unsupported(p, "parameterised variable names are not");
	ret = parse_dimensions(p, &dims);
	if (ret)
		return ret;
	sym->type = like->type;
	sym->space = like->space;
	sym->align = like->align;
	sym->module_scope = !p->kernel;
	sym->dynamic = sym->space == PTX_SPACE_SHARED && is_extern;
	sym->undefined = sym->space == PTX_SPACE_GLOBAL && is_extern;
	if (accept(p, '=')) {
		if (is_extern || (sym->space != PTX_SPACE_CONST && sym->space != PTX_SPACE_GLOBAL))
			return bad(p, "a variable of this space cannot be initialised");
		has_init = true;
		ret = parse_initialiser(p, sym->type, vec, &dims);
	}
	if (!ret && dims.open && !is_extern)
		ret = bad(p, "the array's size is missing");
	sym->bytes = dims.count * vec * ptx_type_bytes(sym->type);
	if (!ret && !sym->undefined)
		ret = place_variable(p, sym);
	if (ret) {
		/* A .func may be refused and the module go on without it. */
		p->module->naddresses = first_address;
		p->inits = inits;
		return ret;
	}
	if (has_init)
		keep_initialiser(p, sym, first_address, inits);
	old = sym->space == PTX_SPACE_GLOBAL && !p->kernel ?
		map_get(&p->scopes[0].names, sym->name, sym->name_len) : NULL;
	return old ? declare_again(p, old, sym, is_extern) : add_symbol(p, sym);
}

/* .attribute(.managed): all memory is. */
static int skip_attribute(struct parser *p)
{
	if (!is_dot(p, "attribute"))
		return 0;
	while (!is_punct(p, ')')) {
		if (p->tok.kind == TOK_END || is_punct(p, ';'))
			return bad(p, "')' expected");
		next(p);
	}
	next(p);
	return 0;
}

int parse_variable(struct parser *p, enum ptx_space space, enum linkage linkage)
{
	struct symbol like = { .space = space };
	enum ptx_type type;
	uint32_t vec;
	int ret;

	next(p);
	if (linkage == LINK_EXTERN && space == PTX_SPACE_CONST)
		return unsupported(p, "variables of other modules are not");
	ret = skip_attribute(p);
	if (!ret)
		ret = parse_align(p, &like.align);
	if (ret)
		return ret;
	vec = parse_vec(p);
	if (space == PTX_SPACE_GLOBAL && (is_dot(p, "texref") || is_dot(p, "surfref"))) {
		/* The variable holds nothing: its address is the handle. */
		type = PTX_U64;
		next(p);
	} else {
		ret = parse_element_type(p, &type);
	}
	if (ret)
		return ret;
	if (!ptx_type_bytes(type))
		return bad(p, "a predicate is a register");
	ret = parse_align(p, &like.align);
	if (ret)
		return ret;
	like.type = type;
	like.align = MAX(like.align, ptx_type_bytes(type) * vec);
	do {
		ret = declare(p, &like, vec, linkage);
		if (ret)
			return ret;
	} while (accept(p, ','));
	return expect(p, ';');
}
