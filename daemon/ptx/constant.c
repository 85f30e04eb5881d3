// SPDX-License-Identifier: GPL-2.0
/*
 * Constant expressions (PTX ISA, "Constants"): operators as in C, on 64-bit integers,
 * signed or unsigned, and on doubles. All operands are evaluated, those too that && or ?:
 * does not choose. Two stacks of fixed depth take the place of recursion, for the
 * text may be hostile. Called by operand.c, init.c, call.c and decl.c.
 */
#include <errno.h>
#include <string.h>

#include "ptx/constant.h"
#include "ptx/parser.h"

#define MAX_DEPTH	64

#define UNARY	11
/* Higher binds first. */
static const uint8_t precedence[] = {
	[OP_OPEN] = 0, [OP_IF] = 0, [OP_ELSE] = 0,
	[OP_LOR] = 1, [OP_LAND] = 2, [OP_OR] = 3, [OP_XOR] = 4, [OP_AND] = 5,
	[OP_EQ] = 6, [OP_NE] = 6, [OP_LE] = 7, [OP_GE] = 7, [OP_LT] = 7, [OP_GT] = 7,
	[OP_SHL] = 8, [OP_SHR] = 8, [OP_ADD] = 9, [OP_SUB] = 9,
	[OP_MUL] = 10, [OP_DIV] = 10, [OP_REM] = 10,
	[OP_PLUS] = UNARY, [OP_MINUS] = UNARY, [OP_NOT] = UNARY, [OP_COMPLEMENT] = UNARY,
	[OP_S64] = UNARY, [OP_U64] = UNARY,
};

/* The first row that fits is the operator, so operators of two characters come first. */
static const struct {
	char text[3];
	uint8_t op;
} binary_operators[] = {
	{ "||", OP_LOR }, { "&&", OP_LAND }, { "==", OP_EQ }, { "!=", OP_NE },
	{ "<=", OP_LE }, { ">=", OP_GE }, { "<<", OP_SHL }, { ">>", OP_SHR },
	{ "|", OP_OR }, { "^", OP_XOR }, { "&", OP_AND }, { "<", OP_LT }, { ">", OP_GT },
	{ "+", OP_ADD }, { "-", OP_SUB }, { "*", OP_MUL }, { "/", OP_DIV }, { "%", OP_REM },
};

/* A waiting operator holds back a value at most, ?: two, and one more is at hand. */
struct evaluation {
	struct constant values[2 * MAX_DEPTH + 1];
	uint8_t ops[MAX_DEPTH];
	uint32_t nvalues, nops;
};

/* Applies the operator on top to the values on top. */
static int reduce(struct parser *p, struct evaluation *e)
{
	enum constant_op op = e->ops[--e->nops];
	uint32_t n = op == OP_ELSE ? 3 : precedence[op] == UNARY ? 1 : 2;
	struct constant *values = &e->values[e->nvalues - n];

	e->nvalues -= n - 1;
	if (n == 1)
		return fold_unary(p, op, values);
	return n == 2 ? fold_binary(p, op, values, values + 1) : fold_choice(p, values);
}

/* Applies what binds as strongly as `least`. An open ( or ? holds what is before it back. */
static int reduce_down(struct parser *p, struct evaluation *e, uint8_t least)
{
	int ret = 0;

	while (!ret && e->nops && e->ops[e->nops - 1] > OP_IF &&
	       precedence[e->ops[e->nops - 1]] >= least)
		ret = reduce(p, e);
	return ret;
}

static int push(struct parser *p, struct evaluation *e, enum constant_op op)
{
	if (e->nops == MAX_DEPTH)
		return unsupported(p, "an expression nested more than %d deep", MAX_DEPTH);
	e->ops[e->nops++] = op;
	return 0;
}

static bool is_warp_size(const struct parser *p)
{
	return p->tok.kind == TOK_IDENT && token_is(&p->tok, "WARP_SZ");
}

bool constant_begins(const struct parser *p)
{
	return p->tok.kind == TOK_INT || p->tok.kind == TOK_F32 || p->tok.kind == TOK_F64 ||
	       (p->tok.kind == TOK_PUNCT && strchr("(+-!~", p->tok.punct)) || is_warp_size(p);
}

static int literal(struct parser *p, struct constant *c)
{
	c->bits = p->tok.bits;
	switch (p->tok.kind) {
	case TOK_INT:
		c->kind = p->tok.bits > INT64_MAX || p->tok.text[p->tok.len - 1] == 'U' ?
			CONSTANT_U64 : CONSTANT_S64;
		break;
	case TOK_F32:
		c->kind = CONSTANT_F32;
		break;
	case TOK_F64:
		c->kind = CONSTANT_F64;
		break;
	default:
		if (!is_warp_size(p))
			return bad(p, "a number is expected");
		*c = (struct constant){ CONSTANT_S64, WARP_LANES };
		break;
	}
	next(p);
	return 0;
}

/* At a (: it opens a pair, or with .s64) and .u64) it is a cast. */
static int open_or_cast(struct parser *p, struct evaluation *e)
{
	enum constant_op op = OP_OPEN;
	int ret = 0;

	next(p);
	if (p->tok.kind == TOK_DOT) {
		if (!is_dot(p, "s64") && !is_dot(p, "u64"))
			return bad(p, "a constant is cast to .s64 or .u64");
		op = is_dot(p, "s64") ? OP_S64 : OP_U64;
		next(p);
		ret = expect(p, ')');
	}
	return ret ? ret : push(p, e, op);
}

/* Signs and ( before a value, and the value. */
static int operand(struct parser *p, struct evaluation *e)
{
	static const struct {
		char c;
		uint8_t op;
	} unary[] = {
		{ '+', OP_PLUS }, { '-', OP_MINUS }, { '!', OP_NOT }, { '~', OP_COMPLEMENT },
	};
	uint32_t i;
	int ret = 0;

	while (!ret) {
		for (i = 0; i < ARRAY_SIZE(unary) && !is_punct(p, unary[i].c); i++)
			;
		if (i < ARRAY_SIZE(unary)) {
			next(p);
			ret = push(p, e, unary[i].op);
		} else if (is_punct(p, '(')) {
			ret = open_or_cast(p, e);
		} else {
			return literal(p, &e->values[e->nvalues++]);
		}
	}
	return ret;
}

/* The row of the binary operator at the current token, or none. */
static int binary_operator(const struct parser *p)
{
	char following = p->lx.pos < p->lx.end ? *p->lx.pos : '\0';
	int i;

	for (i = 0; p->tok.kind == TOK_PUNCT && i < (int)ARRAY_SIZE(binary_operators); i++) {
		const char *text = binary_operators[i].text;

		if (p->tok.punct == text[0] && (!text[1] || following == text[1]))
			return i;
	}
	return -1;
}

static bool waits_for_else(const struct evaluation *e)
{
	uint32_t i;

	for (i = e->nops; i-- > 0 && e->ops[i] != OP_OPEN;) {
		if (e->ops[i] == OP_IF)
			return true;
	}
	return false;
}

static bool is_open(const struct evaluation *e)
{
	return memchr(e->ops, OP_OPEN, e->nops);
}

/* Reduces the text since the innermost (, or all of it, to one value. */
static int close_all(struct parser *p, struct evaluation *e)
{
	int ret = reduce_down(p, e, 0);

	if (!ret && e->nops && e->ops[e->nops - 1] == OP_IF)
		ret = expect(p, ':');
	return ret;
}

/* Reads closing brackets and an operator behind a value. *more: another value comes. */
static int after_value(struct parser *p, struct evaluation *e, bool *more)
{
	enum constant_op op;
	int ret = 0, row;

	while (!ret && is_punct(p, ')') && is_open(e)) {
		next(p);
		ret = close_all(p, e);
		e->nops -= !ret;
	}
	if (ret)
		return ret;
	*more = true;
	row = binary_operator(p);
	if (row >= 0) {
		op = binary_operators[row].op;
		ret = reduce_down(p, e, precedence[op]);
		next(p);
		if (binary_operators[row].text[1])
			next(p);
		return ret ? ret : push(p, e, op);
	}
	if (accept(p, '?')) {
		ret = reduce_down(p, e, 1);
		return ret ? ret : push(p, e, OP_IF);
	}
	if (waits_for_else(e) && accept(p, ':')) {
		ret = reduce_down(p, e, 0);
		e->ops[e->nops - 1] = OP_ELSE;
		return ret;
	}
	*more = false;
	return close_all(p, e);
}

int parse_constant(struct parser *p, struct constant *c)
{
	struct evaluation e = { .nvalues = 0 };
	bool more = true;
	int ret = 0;

	while (!ret && more) {
		ret = operand(p, &e);
		if (!ret)
			ret = after_value(p, &e, &more);
	}
	if (!ret && e.nops)
		ret = expect(p, ')');
	*c = e.values[0];
	return ret;
}

int parse_integer(struct parser *p, uint64_t *bits)
{
	struct constant c;
	int ret = parse_constant(p, &c);

	if (!ret && !constant_is_integer(&c))
		ret = bad(p, "an integer is expected");
	*bits = c.bits;
	return ret;
}
