/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Constants and constant expressions of PTX: what they are worth, and their bits in a
 * type. Read by the parser wherever a number may stand.
 */
#ifndef GPUEMU_PTX_CONSTANT_H
#define GPUEMU_PTX_CONSTANT_H

#include <stdbool.h>
#include <stdint.h>

#include "ptx/ptx.h"

struct parser;

enum constant_kind {
	CONSTANT_S64, CONSTANT_U64,
	CONSTANT_F64,
	CONSTANT_F32,	/* 0f: 32 exact bits, which no operator but a sign takes */
};

struct constant {
	enum constant_kind kind;
	uint64_t bits;
};

static inline bool constant_is_integer(const struct constant *c)
{
	return c->kind <= CONSTANT_U64;
}

/* Whether the current token can begin one. */
bool constant_begins(const struct parser *p);
/* Reads as much as belongs to the expression. */
int parse_constant(struct parser *p, struct constant *c);
/* The same, of integers alone. */
int parse_integer(struct parser *p, uint64_t *bits);
/* The constant as an operand or an initial value of `type` has it. */
int constant_to(struct parser *p, const struct constant *c, enum ptx_type type, uint64_t *bits);

/* --- fold.c -------------------------------------------------------------------- */

enum constant_op {
	OP_OPEN, OP_IF, OP_ELSE,	/* ( and ?, which wait for their ends, and ?: complete */
	OP_LOR, OP_LAND, OP_OR, OP_XOR, OP_AND,
	OP_EQ, OP_NE, OP_LE, OP_GE, OP_LT, OP_GT, OP_SHL, OP_SHR,
	OP_ADD, OP_SUB, OP_MUL, OP_DIV, OP_REM,
	OP_PLUS, OP_MINUS, OP_NOT, OP_COMPLEMENT, OP_S64, OP_U64,
};

/* The result takes the place of the (first) operand. */
int fold_unary(struct parser *p, enum constant_op op, struct constant *c);
int fold_binary(struct parser *p, enum constant_op op, struct constant *a,
		const struct constant *b);
/* values: condition, what it chooses when it is true, what else. */
int fold_choice(struct parser *p, struct constant *values);

#endif
