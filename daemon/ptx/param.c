// SPDX-License-Identifier: GPL-2.0
/*
 * Declarations of parameters: an entry's, which are laid out in a buffer, a
 * function's and those of a call, which are lowered later (lower.c). Called by
 * function.c and body.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "ptx/parser.h"

/* .ptr .global .align 4: what a pointer parameter points at; nothing follows from it. */
static int skip_pointer_attributes(struct parser *p)
{
	uint32_t align;
	int ret = 0;

	if (!is_dot(p, "ptr"))
		return 0;
	next(p);
	while (!ret && p->tok.kind == TOK_DOT) {
		if (is_dot(p, "align"))
			ret = parse_align(p, &align);
		else
			next(p);
	}
	return ret;
}

/* After .param: the type, name and size of one parameter; its name is the symbol's. */
static int parse_one(struct parser *p, struct symbol **out, bool *open)
{
	enum ptx_type type;
	struct symbol *sym;
	struct dims dims;
	uint32_t align = 0;
	int ret;

	ret = parse_align(p, &align);
	if (!ret)
		ret = parse_element_type(p, &type);
	if (!ret)
		ret = skip_pointer_attributes(p);
	if (!ret)
		ret = parse_align(p, &align);
	if (ret)
		return ret;
	if (!ptx_type_bytes(type))
		return bad(p, "a parameter cannot be a predicate");
	if (p->tok.kind != TOK_IDENT)
		return bad(p, "a parameter's name is expected");
	sym = new_symbol(p, SYM_VAR, &p->tok);
	if (!sym)
		return no_memory(p);
	next(p);
	ret = parse_dimensions(p, &dims);
	if (ret)
		return ret;
	*open = dims.open;
	sym->type = type;
	sym->space = PTX_SPACE_PARAM;
	sym->bytes = dims.open ? 0 : dims.count * ptx_type_bytes(type);
	sym->align = MAX(align, ptx_type_bytes(type));
	*out = sym;
	return 0;
}

static int parse_entry_param(struct parser *p)
{
	struct ptx_kernel *kernel = p->kernel;
	struct symbol *sym;
	uint64_t offset;
	bool open;
	int ret;

	if (!is_dot(p, "param"))
		return bad(p, ".param is expected");
	next(p);
	ret = parse_one(p, &sym, &open);
	if (ret)
		return ret;
	if (open)
		return bad(p, "a parameter's size is missing");
	offset = (kernel->param_bytes + sym->align - 1) & ~(uint64_t)(sym->align - 1);
	if (offset + sym->bytes > PTX_MAX_PARAM)
		return bad(p, "parameters take more than %u bytes", PTX_MAX_PARAM);
	sym->offset = offset;
	kernel->param_bytes = offset + sym->bytes;
	if (array_grow(kernel->params, p->params_cap, kernel->nparams))
		return no_memory(p);
	kernel->params[kernel->nparams++] = (struct ptx_param){
		.type = sym->type, .offset = offset, .bytes = sym->bytes, .align = sym->align,
	};
	return add_symbol(p, sym);
}

static void open_statement(struct parser *p)
{
	p->stmt = p->tok.kind == TOK_DOT ? p->tok.text - 1 : p->tok.text;
	p->stmt_line = p->tok.line;
}

int parse_params(struct parser *p)
{
	int ret;

	next(p);
	if (accept(p, ')'))
		return 0;
	do {
		open_statement(p);
		ret = parse_entry_param(p);
		if (ret)
			return ret;
	} while (accept(p, ','));
	return expect(p, ')');
}

static struct param *new_param(struct parser *p, const struct symbol *sym)
{
	struct param *param = slab_alloc(&p->scratch, sizeof(*param));

	if (!param)
		return NULL;
	param->name = slab_strndup(&p->module->slab, sym->name, sym->name_len);
	param->bytes = sym->bytes;
	param->align = sym->align;
	param->reg = PTX_NO_REG;
	return param->name ? param : NULL;
}

static int add_formal(struct parser *p, struct param *param, bool is_result)
{
	struct function *f = p->function;
	struct param ***list = is_result ? &f->results : &f->formals;
	uint32_t *count = is_result ? &f->nresults : &f->nformals;
	uint32_t *cap = is_result ? &f->results_cap : &f->formals_cap;

	if (*count == PTX_MAX_VALUES)
		return unsupported(p, "functions of more than %d parameters", PTX_MAX_VALUES);
	if (array_grow(*list, *cap, *count))
		return no_memory(p);
	param->formal = true;
	(*list)[(*count)++] = param;
	return 0;
}

/* A parameter in register i of the symbol, which is a vector or just that register. */
static int add_register_formal(struct parser *p, struct symbol *sym, uint32_t i, bool is_result)
{
	struct param *param = new_param(p, sym);
	int ret = 0;

	if (!param)
		return no_memory(p);
	note_access(param, 0, sym->bytes, true);
	param->reg = sym->vec > 1 ? element_register(p, sym, i, &ret) :
		number_register(p, sym, &ret);
	return ret ? ret : add_formal(p, param, is_result);
}

/* .reg .u32 %a: a parameter that is a register of the function; of a vector, one for each element. */
static int parse_register_formal(struct parser *p, bool is_result)
{
	struct symbol *sym;
	enum ptx_type type;
	uint32_t vec, i;
	int ret;

	ret = parse_reg_type(p, &type, &vec);
	if (ret)
		return ret;
	if (!ptx_type_bytes(type))
		return unsupported(p, "predicates as parameters of a function");
	if (p->tok.kind != TOK_IDENT)
		return bad(p, "a parameter's name is expected");
	sym = new_symbol(p, SYM_REG, &p->tok);
	if (!sym)
		return no_memory(p);
	sym->type = type;
	sym->vec = vec;
	sym->index = PTX_NO_REG;
	sym->bytes = sym->align = ptx_type_bytes(type);
	next(p);
	for (i = 0; !ret && i < vec; i++)
		ret = add_register_formal(p, sym, i, is_result);
	if (ret || token_is(&(struct token){ .text = sym->name, .len = sym->name_len }, "_"))
		return ret;
	return add_symbol(p, sym);
}

static int parse_formal(struct parser *p, bool is_result)
{
	struct symbol *sym;
	bool open;
	int ret;

	if (is_dot(p, "reg")) {
		next(p);
		return parse_register_formal(p, is_result);
	}
	if (!is_dot(p, "param"))
		return bad(p, ".param or .reg is expected");
	next(p);
	ret = parse_one(p, &sym, &open);
	if (ret)
		return ret;
	if (sym->bytes > PTX_MAX_PARAM)
		return bad(p, "a parameter takes more than %u bytes", PTX_MAX_PARAM);
	sym->param = new_param(p, sym);
	if (!sym->param)
		return no_memory(p);
	sym->param->open = open;
	ret = add_formal(p, sym->param, is_result);
	/* A prototype need not name its parameters. */
	if (ret || (sym->name_len == 1 && sym->name[0] == '_'))
		return ret;
	return add_symbol(p, sym);
}

/* ( .param .b32 a, .reg .f32 b ) */
int parse_formals(struct parser *p, bool results)
{
	int ret;

	next(p);
	if (accept(p, ')'))
		return 0;
	do {
		open_statement(p);
		ret = parse_formal(p, results);
		if (ret)
			return ret;
	} while (accept(p, ','));
	return expect(p, ')');
}

/* .param .align 8 .b8 param0[16]; of a call, in a body. */
int parse_call_variable(struct parser *p)
{
	struct symbol *sym;
	bool open;
	int ret;

	next(p);
	do {
		ret = parse_one(p, &sym, &open);
		if (ret)
			return ret;
		if (open)
			return bad(p, "a parameter's size is missing");
		if (sym->bytes > PTX_MAX_PARAM)
			return bad(p, "a parameter takes more than %u bytes", PTX_MAX_PARAM);
		sym->param = new_param(p, sym);
		if (!sym->param)
			return no_memory(p);
		ret = add_symbol(p, sym);
		if (ret)
			return ret;
	} while (accept(p, ','));
	return expect(p, ';');
}

void note_access(struct param *param, uint64_t offset, uint32_t bytes, bool stored)
{
	uint32_t i;

	for (i = 0; i < param->npieces; i++) {
		struct piece *piece = &param->pieces[i];

		if (piece->offset == offset && piece->bytes == bytes) {
			piece->stored |= stored;
			return;
		}
	}
	if (param->npieces == PTX_MAX_PIECES) {
		param->memory = true;
		return;
	}
	param->pieces[param->npieces++] = (struct piece){ offset, bytes, stored, PTX_NO_REG };
}
