// SPDX-License-Identifier: GPL-2.0
/*
 * Initial values of .global and .const variables: numbers, nested lists and
 * addresses (PTX ISA, "Initializers"). Values are read into the parser's buffer,
 * then kept at the variable's place; addresses are filled in when the module ends
 * and again when its segment moves. Called by variable.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "ptx/constant.h"
#include "ptx/parser.h"

#define MAX_DEPTH	16	/* braces in braces */

/*
 * A run of initial values; what is between runs is zeros. The offset is in the
 * variable until that has its place.
 */
struct init {
	struct init *next;
	uint64_t offset;
	uint32_t bytes;
	uint8_t data[];
};

/* A number in the bits of `type`. */
static int number(struct parser *p, enum ptx_type type, uint64_t *bits)
{
	struct constant c;
	int ret;

	if (!constant_begins(p))
		return bad(p, "an initial value is expected");
	ret = parse_constant(p, &c);
	if (ret)
		return ret;
	if (constant_is_integer(&c) && is_float(type))
		return bad(p, "a floating-point number is expected");
	/* Bits that a floating-point number initialises are those of such a variable. */
	if (type == PTX_B32 && c.kind == CONSTANT_F64)
		type = PTX_F32;
	return constant_to(p, &c, type, bits);
}

/* var, var+8, generic(var), generic(var)+8; mask 0 is all of it. */
static int address(struct parser *p, enum ptx_type type, uint64_t mask)
{
	struct ptx_module *module = p->module;
	bool generic = token_is(&p->tok, "generic");
	struct address a = {
		.bytes = ptx_type_bytes(type), .mask = mask, .stmt = p->stmt, .line = p->stmt_line,
	};
	int ret = 0;

	if (generic) {
		next(p);
		ret = expect(p, '(');
	}
	if (!ret && p->tok.kind != TOK_IDENT)
		ret = bad(p, "a variable's name is expected");
	if (ret)
		return ret;
	a.sym = find_symbol(p, p->tok.text, p->tok.len);
	if (!a.sym || (a.sym->kind != SYM_VAR && a.sym->kind != SYM_FUNC))
		return bad(p, "there is no variable '%.*s'", (int)MIN(p->tok.len, 80u), p->tok.text);
	if (a.sym->kind == SYM_VAR && a.sym->space != PTX_SPACE_GLOBAL &&
	    a.sym->space != PTX_SPACE_CONST)
		return bad(p, "an initial value is the address of a .global or .const variable");
	if (!mask && is_float(type))
		return bad(p, "an address is not a floating-point number");
	if (!mask && a.bytes < 8)
		return bad(p, "an address takes 64 bits");
	a.space = a.sym->kind == SYM_FUNC ? PTX_SPACE_NONE : a.sym->space;
	if (a.sym->kind == SYM_FUNC) {
		a.value = function_address(a.sym->function);
		a.sym = NULL;
	} else if (generic && a.space == PTX_SPACE_CONST) {
		a.value = PTX_CONST_WINDOW;
	}
	next(p);
	ret = parse_offset(p, &a.value);
	if (!ret && generic)
		ret = expect(p, ')');
	if (!ret)
		ret = parse_offset(p, &a.value);
	if (ret)
		return ret;
	a.at = p->init_at + p->init_bytes;
	if (array_grow(module->addresses, module->addresses_cap, module->naddresses))
		return no_memory(p);
	module->addresses[module->naddresses++] = a;
	return 0;
}

/* 5, 2 * -5, var, 0xff00(var): the bits of an address that the mask has, moved down. */
static int value(struct parser *p, enum ptx_type type, uint64_t *bits)
{
	uint64_t mask = p->tok.bits;
	int ret;

	*bits = 0;
	if (p->tok.kind == TOK_IDENT && !constant_begins(p))
		return address(p, type, 0);
	if (p->tok.kind == TOK_INT) {
		struct lexer ahead = p->lx;
		struct token tok;

		lex_next(&ahead, &tok);
		if (tok.kind == TOK_PUNCT && tok.punct == '(') {
			next(p);
			next(p);
			if (!mask)
				return bad(p, "the mask of an address is zero");
			ret = address(p, type, mask);
			return ret ? ret : expect(p, ')');
		}
	}
	return number(p, type, bits);
}

static int append(struct parser *p, uint64_t bits, uint32_t bytes)
{
	uint32_t i;

	for (i = 0; i < bytes; i++) {
		if (array_grow(p->init_data, p->init_cap, p->init_bytes))
			return no_memory(p);
		p->init_data[p->init_bytes++] = bits >> 8 * i;
	}
	return 0;
}

/* Ends the run at hand. */
static int end_run(struct parser *p)
{
	struct init *init;

	if (!p->init_bytes)
		return 0;
	init = slab_alloc(&p->scratch, sizeof(*init) + p->init_bytes);
	if (!init)
		return no_memory(p);
	init->next = p->inits;
	init->offset = p->init_at;
	init->bytes = p->init_bytes;
	memcpy(init->data, p->init_data, p->init_bytes);
	p->inits = init;
	p->init_at += p->init_bytes;
	p->init_bytes = 0;
	return 0;
}

static uint64_t position(const struct parser *p)
{
	return p->init_at + p->init_bytes;
}

/* Zeros up to element n. Many of them cost nothing: the text has not paid for them. */
static int fill(struct parser *p, uint64_t n, uint64_t limit, uint32_t bytes)
{
	int ret = 0;

	if (n > limit)
		return bad(p, "more values than elements");
	if (n * bytes > position(p) + 64) {
		ret = end_run(p);
		p->init_at = n * bytes;
	}
	while (!ret && position(p) < n * bytes)
		ret = append(p, 0, bytes);
	return ret;
}

/*
 * = 1 or = { 1, 2, {3} }. An inner brace opens a row, which zeros fill when the
 * text does not. An open first dimension is as large as the list.
 */
int parse_initialiser(struct parser *p, enum ptx_type type, uint32_t vec, struct dims *dims)
{
	uint32_t bytes = ptx_type_bytes(type), depth = 0, i;
	uint64_t first[MAX_DEPTH], stride[MAX_DEPTH], bits, row = vec * dims->count, limit;
	int ret = 0;

	/* Elements in one of what a brace of each depth encloses; the outermost has them all. */
	limit = dims->open ? PTX_MAX_GLOBAL : row;
	if (!dims->open && dims->n)
		row /= MAX(dims->size[0], 1ull);
	for (i = 1; i < MAX_DEPTH; i++) {
		stride[i] = MAX(row, 1ull);
		row = i < dims->n ? row / MAX(dims->size[i], 1ull) : 1;
	}
	p->init_at = p->init_bytes = 0;
	do {
		if (accept(p, '{')) {
			if (depth == MAX_DEPTH)
				return unsupported(p, "lists nested more than %d deep", MAX_DEPTH);
			first[depth++] = position(p) / bytes;
			continue;
		}
		if (depth && accept(p, '}')) {
			depth--;
			if (depth)
				ret = fill(p, first[depth] + stride[depth], limit, bytes);
			if (ret)
				return ret;
			continue;
		}
		if (depth && accept(p, ','))
			continue;
		ret = value(p, type, &bits);
		if (!ret && position(p) / bytes >= limit)
			ret = bad(p, "more values than elements");
		if (!ret)
			ret = append(p, bits, bytes);
		if (ret)
			return ret;
	} while (depth);
	if (dims->open) {
		row = vec * dims->count;
		dims->size[0] = (position(p) / bytes + row - 1) / MAX(row, 1ull);
		dims->count *= dims->size[0];
		dims->open = false;
	}
	return end_run(p);
}

void keep_initialiser(struct parser *p, const struct symbol *sym, uint32_t first_address,
		      struct init *before)
{
	struct ptx_module *module = p->module;
	bool in_const = sym->space == PTX_SPACE_CONST;
	struct init *init;
	uint32_t i;

	for (i = first_address; i < module->naddresses; i++) {
		module->addresses[i].at += sym->offset;
		module->addresses[i].in_const = in_const;
	}
	for (init = p->inits; init != before; init = init->next) {
		init->offset += sym->offset;
		if (in_const)
			memcpy(module->const_data + init->offset, init->data, init->bytes);
	}
	if (in_const)
		p->inits = before;
}

/* The text has ended: every variable has its place. */
int resolve_initialisers(struct parser *p)
{
	struct ptx_module *module = p->module;
	struct init *init;
	uint32_t i;

	for (i = 0; i < module->naddresses; i++) {
		struct address *a = &module->addresses[i];

		if (!a->sym)
			continue;
		p->stmt = a->stmt;
		p->stmt_line = a->line;
		if (a->sym->undefined)
			return unsupported(p, "'%.*s' is a variable of another module",
					   (int)MIN(a->sym->name_len, 80u), a->sym->name);
		a->value += a->sym->offset;
		a->sym = NULL;
		a->stmt = NULL;
	}
	if (module->global_bytes) {
		module->global_image = calloc(1, module->global_bytes);
		if (!module->global_image)
			return no_memory(p);
	}
	for (init = p->inits; init; init = init->next)
		memcpy(module->global_image + init->offset, init->data, init->bytes);
	place_addresses(module);
	return 0;
}

void place_addresses(struct ptx_module *module)
{
	uint32_t i;

	for (i = 0; i < module->naddresses; i++) {
		const struct address *a = &module->addresses[i];
		uint64_t bits = a->value + (a->space == PTX_SPACE_GLOBAL ? module->global_base : 0);

		if (a->mask)
			bits = (bits & a->mask) >> __builtin_ctzll(a->mask);
		memcpy((a->in_const ? module->const_data : module->global_image) + a->at, &bits,
		       a->bytes);
	}
}
