// SPDX-License-Identifier: GPL-2.0
/*
 * Registers: how they are declared, alone, by number and as vectors, and how the text
 * names them. One gets its number when the text first uses it. Called by the parser.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "ptx/parser.h"

#define MAX_VECTOR	16	/* bytes */
static const char suffixes[2][5] = { "xyzw", "rgba" };

int parse_reg_type(struct parser *p, enum ptx_type *type, uint32_t *vec)
{
	uint32_t align;
	int ret = parse_align(p, &align);

	if (ret)
		return ret;
	*vec = parse_vec(p);
	ret = parse_element_type(p, type);
	if (ret)
		return ret;
	if (*vec > 1 && *type == PTX_PRED)
		return bad(p, "there are no vectors of predicates");
	if (ptx_type_bytes(*type) * *vec > MAX_VECTOR)
		return bad(p, "a vector has %u bytes at most", MAX_VECTOR);
	return 0;
}

/* %r<16>: %r0 to %r15 are made when they are used. */
static int parse_count(struct parser *p, struct symbol *sym)
{
	char *key;
	int ret;

	if (p->tok.kind != TOK_INT || p->tok.bits > UINT32_MAX)
		return bad(p, "a number of registers is expected");
	sym->kind = SYM_RANGE;
	sym->count = p->tok.bits;
	next(p);
	ret = expect(p, '>');
	if (ret)
		return ret;
	/* Under a name no token has, so that %r and %r<9> can both be. */
	key = slab_strndup(&p->scratch, sym->name, sym->name_len + 1);
	if (!key)
		return no_memory(p);
	key[sym->name_len++] = '<';
	sym->name = key;
	return 0;
}

int parse_reg(struct parser *p)
{
	enum ptx_type type;
	struct symbol *sym;
	uint32_t vec;
	int ret;

	next(p);
	ret = parse_reg_type(p, &type, &vec);
	if (ret)
		return ret;
	do {
		if (p->tok.kind != TOK_IDENT)
			return bad(p, "a register's name is expected");
		sym = new_symbol(p, SYM_REG, &p->tok);
		if (!sym)
			return no_memory(p);
		sym->type = type;
		sym->vec = vec;
		sym->index = PTX_NO_REG;
		next(p);
		if (accept(p, '<')) {
			ret = parse_count(p, sym);
			if (ret)
				return ret;
		}
		ret = add_symbol(p, sym);
		if (ret)
			return ret;
	} while (accept(p, ','));
	return expect(p, ';');
}

uint32_t new_register(struct parser *p, struct ptx_kernel *body, uint32_t *cap,
		      const char *name, enum ptx_type type, int *ret)
{
	if (array_grow(body->regs, *cap, body->nregs)) {
		*ret = no_memory(p);
		return PTX_NO_REG;
	}
	body->regs[body->nregs] = (struct ptx_reg){ .name = name, .type = type };
	return body->nregs++;
}

uint32_t number_register(struct parser *p, struct symbol *sym, int *ret)
{
	char *name;

	if (sym->index != PTX_NO_REG)
		return sym->index;
	name = slab_strndup(&p->module->slab, sym->name, sym->name_len);
	if (!name) {
		*ret = no_memory(p);
		return PTX_NO_REG;
	}
	sym->index = new_register(p, p->kernel, &p->regs_cap, name, sym->type, ret);
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
	sym->vec = range->vec;
	sym->index = PTX_NO_REG;
	return sym;
}

/* The register that the current token names, or NULL. */
static struct symbol *register_here(struct parser *p, int *ret)
{
	struct symbol *sym;

	if (p->tok.kind != TOK_IDENT)
		return NULL;
	sym = find_symbol(p, p->tok.text, p->tok.len);
	if (!sym)
		sym = register_of_range(p, p->tok.text, p->tok.len, ret);
	return sym && sym->kind == SYM_REG ? sym : NULL;
}

/* Symbols of the elements, under the names that the text can give them. */
static int make_elements(struct parser *p, struct symbol *vector)
{
	struct symbol *elements = slab_alloc(&p->scratch, vector->vec * sizeof(*elements));
	char *name;
	uint32_t i;

	if (!elements)
		return no_memory(p);
	p->total_names += vector->vec;
	for (i = 0; i < vector->vec; i++) {
		name = slab_alloc(&p->scratch, vector->name_len + 3);
		if (!name)
			return no_memory(p);
		memcpy(name, vector->name, vector->name_len);
		name[vector->name_len] = '.';
		name[vector->name_len + 1] = suffixes[0][i];
		elements[i] = *vector;
		elements[i].vec = 1;
		elements[i].name = name;
		elements[i].name_len = vector->name_len + 2;
	}
	vector->elements = elements;
	return 0;
}

uint32_t element_register(struct parser *p, struct symbol *vector, uint32_t i, int *ret)
{
	if (!vector->elements)
		*ret = make_elements(p, vector);
	return *ret ? PTX_NO_REG : number_register(p, &vector->elements[i], ret);
}

/* Which element the suffix at the current token is; `vec`: none. */
static uint32_t suffix_here(const struct parser *p, uint32_t vec)
{
	uint32_t set, i;

	for (set = 0; p->tok.len == 1 && set < ARRAY_SIZE(suffixes); set++) {
		for (i = 0; i < vec; i++) {
			if (suffixes[set][i] == p->tok.text[0])
				return i;
		}
	}
	return vec;
}

uint32_t parse_register(struct parser *p, int *ret)
{
	struct symbol *sym = register_here(p, ret);
	struct token name = p->tok;
	uint32_t i;

	if (!sym || *ret)
		return PTX_NO_REG;
	next(p);
	if (sym->vec <= 1)
		return number_register(p, sym, ret);
	i = p->tok.kind == TOK_DOT ? suffix_here(p, sym->vec) : sym->vec;
	if (p->tok.kind != TOK_DOT)
		*ret = bad(p, "'%.*s' is a vector where one element is expected",
			   (int)MIN(name.len, 80u), name.text);
	else if (i == sym->vec)
		*ret = bad(p, "'%.*s' has no element .%.*s", (int)MIN(name.len, 80u), name.text,
			   (int)MIN(p->tok.len, 80u), p->tok.text);
	if (*ret)
		return PTX_NO_REG;
	next(p);
	return element_register(p, sym, i, ret);
}

struct symbol *vector_here(struct parser *p, int *ret)
{
	struct symbol *sym = register_here(p, ret);
	struct lexer ahead = p->lx;
	struct token tok;

	if (!sym || sym->vec <= 1)
		return NULL;
	lex_next(&ahead, &tok);
	return tok.kind == TOK_DOT ? NULL : sym;
}
