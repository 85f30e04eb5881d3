// SPDX-License-Identifier: GPL-2.0
/*
 * What declarations are made of: types, alignments, dimensions; and the
 * declarations of registers (PTX ISA, "State Spaces, Types, and Variables").
 * Called by the parser.
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
	[PTX_U16X2] = { "u16x2", 4 }, [PTX_S16X2] = { "s16x2", 4 },
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

/* .align N at the current token; without one *align stays what it was. */
int parse_align(struct parser *p, uint32_t *align)
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

int parse_element_type(struct parser *p, enum ptx_type *type)
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

uint32_t new_register(struct parser *p, struct ptx_kernel *body, uint32_t *cap,
		      const char *name, enum ptx_type type, int *ret)
{
	if (array_grow(&body->regs, body->nregs, cap, sizeof(*body->regs))) {
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
	name = pool_strndup(&p->module->pool, sym->name, sym->name_len);
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

int parse_dimensions(struct parser *p, struct dims *dims)
{
	*dims = (struct dims){ .count = 1 };
	while (accept(p, '[')) {
		if (dims->n == MAX_DIMS)
			return unsupported(p, "arrays of more than %d dimensions", MAX_DIMS);
		if (accept(p, ']')) {
			if (dims->n++)
				return bad(p, "only the first dimension may be left out");
			dims->open = true;
			continue;
		}
		if (p->tok.kind != TOK_INT)
			return bad(p, "a number of elements is expected");
		if (p->tok.bits > (1u << 30) || dims->count * p->tok.bits > (1u << 30))
			return bad(p, "an array of this size cannot be");
		dims->size[dims->n++] = p->tok.bits;
		dims->count *= p->tok.bits;
		next(p);
		if (!accept(p, ']'))
			return expect(p, ']');
	}
	return 0;
}
