// SPDX-License-Identifier: GPL-2.0
/*
 * Declarations: registers, parameters and variables, and where they are laid
 * out (PTX ISA, "State Spaces, Types, and Variables"). Called by the parser.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/private.h"

static const struct {
	const char *name;
	uint8_t bytes;
} types[PTX_TYPES] = {
	[PTX_B8] = { "b8", 1 }, [PTX_B16] = { "b16", 2 },
	[PTX_B32] = { "b32", 4 }, [PTX_B64] = { "b64", 8 },
	[PTX_U8] = { "u8", 1 }, [PTX_U16] = { "u16", 2 },
	[PTX_U32] = { "u32", 4 }, [PTX_U64] = { "u64", 8 },
	[PTX_S8] = { "s8", 1 }, [PTX_S16] = { "s16", 2 },
	[PTX_S32] = { "s32", 4 }, [PTX_S64] = { "s64", 8 },
	[PTX_F16] = { "f16", 2 }, [PTX_F16X2] = { "f16x2", 4 },
	[PTX_BF16] = { "bf16", 2 }, [PTX_BF16X2] = { "bf16x2", 4 },
	[PTX_F32] = { "f32", 4 }, [PTX_F64] = { "f64", 8 },
	[PTX_PRED] = { "pred", 0 },
};

unsigned int ptx_type_bytes(enum ptx_type t)
{
	return t < PTX_TYPES ? types[t].bytes : 0;
}

bool parse_type(const struct token *tok, enum ptx_type *type)
{
	unsigned int i;

	for (i = 1; i < PTX_TYPES; i++) {
		if (token_is(tok, types[i].name)) {
			*type = i;
			return true;
		}
	}
	return false;
}

/* .align N at the current token; 0 stays what it was. */
static int parse_align(struct parser *p, uint32_t *align)
{
	if (!is_dot(p, "align"))
		return 0;
	next(p);
	if (p->tok.kind != TOK_INT || !p->tok.bits || p->tok.bits > 4096 ||
	    p->tok.bits & (p->tok.bits - 1))
		return bad(p, "an alignment is a power of two up to 4096");
	*align = p->tok.bits;
	next(p);
	return 0;
}

static int parse_element_type(struct parser *p, enum ptx_type *type)
{
	if (p->tok.kind != TOK_DOT || !parse_type(&p->tok, type)) {
		if (p->tok.kind == TOK_DOT)
			return unsupported(p, "no type .%.*s", (int)MIN(p->tok.len, 40u), p->tok.text);
		return bad(p, "a type is expected");
	}
	next(p);
	return 0;
}

int parse_reg(struct parser *p)
{
	enum ptx_type type;
	struct symbol *sym;
	int ret;

	next(p);
	ret = parse_element_type(p, &type);
	if (ret)
		return ret;
	do {
		if (p->tok.kind != TOK_IDENT)
			return bad(p, "a register's name is expected");
		sym = new_symbol(p, SYM_REG, &p->tok);
		if (!sym)
			return no_memory(p);
		sym->type = type;
		sym->index = PTX_NO_REG;
		next(p);
		if (accept(p, '<')) {
			char *key;

			if (p->tok.kind != TOK_INT || p->tok.bits > UINT32_MAX)
				return bad(p, "a number of registers is expected");
			sym->kind = SYM_RANGE;
			sym->count = p->tok.bits;
			next(p);
			ret = expect(p, '>');
			if (ret)
				return ret;
			/* Under a name no token has, so that %r and %r<9> can both be. */
			key = pool_strndup(&p->scratch, sym->name, sym->name_len + 1);
			if (!key)
				return no_memory(p);
			key[sym->name_len++] = '<';
			sym->name = key;
		}
		ret = add_symbol(p, sym);
		if (ret)
			return ret;
	} while (accept(p, ','));
	return expect(p, ';');
}

/* A register gets its number when the text first uses it. */
static uint32_t number_register(struct parser *p, struct symbol *sym, int *ret)
{
	struct ptx_kernel *kernel = p->kernel;
	char *name;

	if (sym->index != PTX_NO_REG)
		return sym->index;
	name = pool_strndup(&p->module->pool, sym->name, sym->name_len);
	if (!name || array_grow(&kernel->regs, kernel->nregs, &p->regs_cap,
				sizeof(*kernel->regs))) {
		*ret = no_memory(p);
		return PTX_NO_REG;
	}
	kernel->regs[kernel->nregs] = (struct ptx_reg){ name, sym->type };
	sym->index = kernel->nregs++;
	return sym->index;
}

/*
 * %r15 of .reg .b32 %r<16>. Where the prefix ends and the number begins is not
 * written: %r15 is in %r1<6> as well. The number has no leading zeros.
 */
static struct symbol *find_range(struct parser *p, const char *name, uint32_t len,
				 uint32_t *scope)
{
	char prefix[256];
	uint64_t number = 0, unit = 1;
	struct symbol *range;
	uint32_t digits;

	if (len > sizeof(prefix))
		return NULL;
	memcpy(prefix, name, len);
	for (digits = len; digits-- > 1 && len - digits <= 10; unit *= 10) {
		if (name[digits] < '0' || name[digits] > '9')
			break;
		number += (name[digits] - '0') * unit;
		if (name[digits] == '0' && len - digits > 1)
			continue;
		prefix[digits] = '<';
		for (*scope = p->nscopes; *scope > 0;) {
			range = map_get(&p->scopes[--*scope].names, prefix, digits + 1);
			if (range && number < range->count)
				return range;
		}
		prefix[digits] = name[digits];
	}
	return NULL;
}

/* The symbol of a register of a range is made when it is used, in the range's scope. */
static struct symbol *register_of_range(struct parser *p, const char *name, uint32_t len, int *ret)
{
	struct token tok = { .text = name, .len = len };
	struct symbol *range, *sym;
	uint32_t scope;

	range = find_range(p, name, len, &scope);
	if (!range)
		return NULL;
	sym = new_symbol(p, SYM_REG, &tok);
	*ret = sym ? add_symbol_to(p, sym, scope) : no_memory(p);
	if (*ret)
		return NULL;
	sym->type = range->type;
	sym->index = PTX_NO_REG;
	return sym;
}

uint32_t find_register(struct parser *p, const char *name, uint32_t len, int *ret)
{
	struct symbol *sym = find_symbol(p, name, len);

	if (!sym)
		sym = register_of_range(p, name, len, ret);
	if (!sym || sym->kind != SYM_REG)
		return PTX_NO_REG;
	return number_register(p, sym, ret);
}

/* [N][M] after a name: the product; an empty [] is `open`. */
static int parse_dimensions(struct parser *p, uint64_t *count, bool *is_array, bool *open)
{
	*count = 1;
	*is_array = *open = false;
	while (accept(p, '[')) {
		*is_array = true;
		if (accept(p, ']')) {
			*open = true;
			continue;
		}
		if (p->tok.kind != TOK_INT)
			return bad(p, "a number of elements is expected");
		if (p->tok.bits > (1u << 30) || *count > (1u << 30))
			return bad(p, "an array of this size cannot be");
		*count *= p->tok.bits;
		if (*count > (1u << 30))
			return bad(p, "an array of this size cannot be");
		next(p);
		if (!accept(p, ']'))
			return expect(p, ']');
	}
	return 0;
}

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

static int parse_param(struct parser *p, struct ptx_kernel *kernel)
{
	struct ptx_param param = { 0 };
	enum ptx_type type;
	struct symbol *sym;
	bool is_array, open;
	uint64_t count, offset;
	uint32_t align = 0;
	int ret;

	if (!is_dot(p, "param"))
		return bad(p, ".param is expected");
	next(p);
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
	ret = parse_dimensions(p, &count, &is_array, &open);
	if (ret)
		return ret;
	if (open)
		return bad(p, "a parameter's size is missing");
	align = MAX(align, ptx_type_bytes(type));
	offset = (kernel->param_bytes + align - 1) & ~(uint64_t)(align - 1);
	if (offset + count * ptx_type_bytes(type) > PTX_MAX_PARAM)
		return bad(p, "parameters take more than %u bytes", PTX_MAX_PARAM);
	param.type = type;
	param.offset = offset;
	param.bytes = count * ptx_type_bytes(type);
	param.align = align;
	sym->type = type;
	sym->space = PTX_SPACE_PARAM;
	sym->offset = offset;
	sym->bytes = param.bytes;
	kernel->param_bytes = offset + param.bytes;
	if (array_grow(&kernel->params, kernel->nparams, &p->params_cap, sizeof(*kernel->params)))
		return no_memory(p);
	kernel->params[kernel->nparams++] = param;
	return add_symbol(p, sym);
}

int parse_params(struct parser *p, struct ptx_kernel *kernel)
{
	int ret;

	next(p);
	if (accept(p, ')'))
		return 0;
	do {
		p->stmt = p->tok.kind == TOK_DOT ? p->tok.text - 1 : p->tok.text;
		p->stmt_line = p->tok.line;
		ret = parse_param(p, kernel);
		if (ret)
			return ret;
	} while (accept(p, ','));
	return expect(p, ')');
}

/* One number of an initialiser, in the element's type. */
static int initialiser_value(struct parser *p, enum ptx_type type, uint64_t *bits)
{
	bool negative = accept(p, '-');
	double d;
	float f;

	switch (p->tok.kind) {
	case TOK_INT:
		*bits = negative ? -p->tok.bits : p->tok.bits;
		break;
	case TOK_F32:
		*bits = p->tok.bits ^ (negative ? 0x80000000u : 0);
		if (type == PTX_F64) {
			memcpy(&f, bits, sizeof(f));
			d = f;
			memcpy(bits, &d, sizeof(d));
		}
		break;
	case TOK_F64:
		*bits = p->tok.bits ^ (negative ? 1ull << 63 : 0);
		if (type == PTX_F32) {
			memcpy(&d, bits, sizeof(d));
			f = d;
			*bits = 0;
			memcpy(bits, &f, sizeof(f));
		}
		break;
	default:
		return unsupported(p, "initialisers are numbers");
	}
	next(p);
	return 0;
}

/*
 * = 1 or = { 1, 2, {3} } into `dst`, which has room for `count` elements and
 * holds zeros. Inner braces fill on; they only say how the text is grouped.
 */
static int parse_initialiser(struct parser *p, enum ptx_type type, uint8_t *dst, uint64_t count)
{
	unsigned int bytes = ptx_type_bytes(type);
	uint32_t depth = 0;
	uint64_t n = 0, bits;
	int ret;

	do {
		if (accept(p, '{')) {
			depth++;
			continue;
		}
		if (depth && accept(p, '}')) {
			depth--;
			continue;
		}
		if (depth && accept(p, ','))
			continue;
		ret = initialiser_value(p, type, &bits);
		if (ret)
			return ret;
		if (n == count)
			return bad(p, "more values than elements");
		memcpy(dst + n++ * bytes, &bits, bytes);
	} while (depth);
	return 0;
}

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

static int place_shared(struct parser *p, struct symbol *sym)
{
	uint64_t total = p->kernel->shared_bytes;
	int ret = place(p, &total, sym, PTX_MAX_SHARED, ".shared");

	p->kernel->shared_bytes = total;
	return ret;
}

static int place_const(struct parser *p, struct symbol *sym)
{
	struct ptx_module *module = p->module;
	uint64_t total = module->const_bytes;
	int ret = place(p, &total, sym, PTX_MAX_CONST, ".const");

	if (ret)
		return ret;
	if (!module->const_data)
		module->const_data = pool_alloc(&module->pool, PTX_MAX_CONST);
	if (!module->const_data)
		return no_memory(p);
	module->const_bytes = total;
	return 0;
}

int place_variable(struct parser *p, struct symbol *sym)
{
	if (sym->dynamic) {
		p->dynamic_align = MAX(p->dynamic_align, sym->align);
		return 0;
	}
	if (sym->space == PTX_SPACE_GLOBAL)
		return unsupported(p, "the module variable '%.*s' is in .global",
				   (int)MIN(sym->name_len, 80u), sym->name);
	if (sym->space != PTX_SPACE_SHARED || !sym->module_scope || sym->epoch == p->epoch)
		return 0;
	/* A kernel has the shared variables of the module that it uses. */
	sym->epoch = p->epoch;
	return place_shared(p, sym);
}

/* Skips to the , or ; after an initialiser nobody reads. */
static void skip_initialiser(struct parser *p)
{
	uint32_t depth = 0;

	while (p->tok.kind != TOK_END && !is_punct(p, ';') && (depth || !is_punct(p, ','))) {
		if (is_punct(p, '{'))
			depth++;
		else if (is_punct(p, '}') && depth)
			depth--;
		next(p);
	}
}

static int declare(struct parser *p, enum ptx_space space, enum linkage linkage,
		   enum ptx_type type, uint32_t vec, uint32_t align)
{
	struct symbol *sym;
	bool is_array, open;
	uint64_t count;
	int ret;

	if (p->tok.kind != TOK_IDENT)
		return bad(p, "a variable's name is expected");
	sym = new_symbol(p, SYM_VAR, &p->tok);
	if (!sym)
		return no_memory(p);
	next(p);
	if (is_punct(p, '<'))
		return unsupported(p, "parameterised variable names are not");
	ret = parse_dimensions(p, &count, &is_array, &open);
	if (ret)
		return ret;
	sym->type = type;
	sym->space = space;
	sym->module_scope = !p->kernel;
	sym->align = MAX(align, ptx_type_bytes(type) * vec);
	sym->bytes = count * vec * ptx_type_bytes(type);
	sym->dynamic = space == PTX_SPACE_SHARED && linkage == LINK_EXTERN;
	if (open && !sym->dynamic && space != PTX_SPACE_GLOBAL)
		return bad(p, "the array's size is missing");
	if (space == PTX_SPACE_SHARED && !sym->dynamic && p->kernel)
		ret = place_shared(p, sym);
	else if (space == PTX_SPACE_CONST)
		ret = place_const(p, sym);
	else if (space == PTX_SPACE_LOCAL) {
		uint64_t total = p->kernel->local_bytes;

		ret = place(p, &total, sym, PTX_MAX_LOCAL, ".local");
		p->kernel->local_bytes = total;
	}
	if (!ret && accept(p, '=')) {
		if (space == PTX_SPACE_CONST)
			ret = parse_initialiser(p, type, p->module->const_data + sym->offset,
						count * vec);
		else if (space == PTX_SPACE_GLOBAL)
			skip_initialiser(p);
		else
			ret = bad(p, "a variable of this space cannot be initialised");
	}
	return ret ? ret : add_symbol(p, sym);
}

int parse_variable(struct parser *p, enum ptx_space space, enum linkage linkage)
{
	uint32_t align = 0, vec = 1;
	enum ptx_type type;
	int ret;

	next(p);
	if (linkage == LINK_EXTERN && space == PTX_SPACE_CONST)
		return unsupported(p, "variables of other modules are not");
	ret = parse_align(p, &align);
	if (ret)
		return ret;
	if (is_dot(p, "v2") || is_dot(p, "v4")) {
		vec = p->tok.text[1] - '0';
		next(p);
	}
	ret = parse_element_type(p, &type);
	if (ret)
		return ret;
	if (!ptx_type_bytes(type))
		return bad(p, "a predicate is a register");
	ret = parse_align(p, &align);
	if (ret)
		return ret;
	do {
		ret = declare(p, space, linkage, type, vec, align);
		if (ret)
			return ret;
	} while (accept(p, ','));
	return expect(p, ';');
}
