// SPDX-License-Identifier: GPL-2.0
/*
 * What declarations are made of: types, alignments, dimensions (PTX ISA, "State
 * Spaces, Types, and Variables"). Called by the parser.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/constant.h"
#include "ptx/parser.h"

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

/* .v2 or .v4 at the current token; without one the vector has one element. */
uint32_t parse_vec(struct parser *p)
{
	uint32_t vec = 1;

	if (is_dot(p, "v2") || is_dot(p, "v4")) {
		vec = p->tok.text[1] - '0';
		next(p);
	}
	return vec;
}

int parse_dimensions(struct parser *p, struct dims *dims)
{
	uint64_t size;
	int ret;

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
		if (!constant_begins(p))
			return bad(p, "a number of elements is expected");
		ret = parse_integer(p, &size);
		if (ret)
			return ret;
		if (size > (1u << 30) || dims->count * size > (1u << 30))
			return bad(p, "an array of this size cannot be");
		dims->size[dims->n++] = size;
		dims->count *= size;
		if (!accept(p, ']'))
			return expect(p, ']');
	}
	return 0;
}
