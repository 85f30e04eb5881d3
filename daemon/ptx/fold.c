// SPDX-License-Identifier: GPL-2.0
/*
 * What an operator makes of constants, and a constant in the bits of a type (PTX ISA,
 * "Constants"). Which operator takes which constants is in constant.c, which calls this.
 */
#include <errno.h>
#include <string.h>

#include "ptx/constant.h"
#include "ptx/parser.h"

static double double_of(const struct constant *c)
{
	double d;

	memcpy(&d, &c->bits, sizeof(d));
	return d;
}

static struct constant from_double(double d)
{
	struct constant c = { .kind = CONSTANT_F64 };

	memcpy(&c.bits, &d, sizeof(d));
	return c;
}

static struct constant from_bool(bool b)
{
	return (struct constant){ CONSTANT_S64, b };
}

int fold_unary(struct parser *p, enum constant_op op, struct constant *c)
{
	if (op == OP_PLUS)
		return 0;
	if (op == OP_MINUS) {
		c->bits = constant_is_integer(c) ? -c->bits :
			c->bits ^ (c->kind == CONSTANT_F64 ? 1ull << 63 : 1u << 31);
		return 0;
	}
	if (!constant_is_integer(c))
		return bad(p, "an integer is expected");
	switch (op) {
	case OP_NOT:
		*c = from_bool(!c->bits);
		break;
	case OP_COMPLEMENT:
		*c = (struct constant){ CONSTANT_U64, ~c->bits };
		break;
	default:
		c->kind = op == OP_S64 ? CONSTANT_S64 : CONSTANT_U64;
		break;
	}
	return 0;
}

static int fold_doubles(struct parser *p, enum constant_op op, double a, double b,
			 struct constant *out)
{
	switch (op) {
	case OP_ADD:
		*out = from_double(a + b);
		return 0;
	case OP_SUB:
		*out = from_double(a - b);
		return 0;
	case OP_MUL:
		*out = from_double(a * b);
		return 0;
	case OP_DIV:
		if (b == 0)
			return bad(p, "a constant is divided by zero");
		*out = from_double(a / b);
		return 0;
	case OP_EQ:
		*out = from_bool(a == b);
		return 0;
	case OP_NE:
		*out = from_bool(a != b);
		return 0;
	case OP_LE:
		*out = from_bool(a <= b);
		return 0;
	case OP_GE:
		*out = from_bool(a >= b);
		return 0;
	case OP_LT:
		*out = from_bool(a < b);
		return 0;
	case OP_GT:
		*out = from_bool(a > b);
		return 0;
	default:
		return bad(p, "an integer is expected");
	}
}

static uint64_t divide(uint64_t a, uint64_t b, bool is_signed)
{
	if (!is_signed)
		return a / b;
	/* The one quotient that 64 bits do not hold wraps, as sums do. */
	return b == UINT64_MAX ? -a : (uint64_t)((int64_t)a / (int64_t)b);
}

/*
 * PTX ISA, "Integer Constant Expression Evaluation". Unsigned if one operand is, but for
 * shifts, which have the first one's type. Of &, | and ^ the section's text says the same,
 * its table .u64: NVIDIA's assembler does what the text says. % is of unsigned operands
 * and, by the table, signed. By how much more than 63 to shift is not said; the
 * assembler takes the count modulo 64.
 */
static int fold_integers(struct parser *p, enum constant_op op, const struct constant *a,
			  const struct constant *b, struct constant *out)
{
	bool is_signed = a->kind == CONSTANT_S64 && b->kind == CONSTANT_S64;
	uint64_t x = a->bits, y = b->bits;
	bool less = is_signed ? (int64_t)x < (int64_t)y : x < y;

	out->kind = is_signed ? CONSTANT_S64 : CONSTANT_U64;
	switch (op) {
	case OP_ADD:
		out->bits = x + y;
		return 0;
	case OP_SUB:
		out->bits = x - y;
		return 0;
	case OP_MUL:
		out->bits = x * y;
		return 0;
	case OP_DIV:
	case OP_REM:
		if (!y)
			return bad(p, "a constant is divided by zero");
		if (op == OP_REM)
			*out = (struct constant){ CONSTANT_S64, x % y };
		else
			out->bits = divide(x, y, is_signed);
		return 0;
	case OP_SHL:
		*out = (struct constant){ a->kind, x << (y & 63) };
		return 0;
	case OP_SHR:
		*out = (struct constant){
			a->kind,
			a->kind == CONSTANT_S64 ? (uint64_t)((int64_t)x >> (y & 63)) : x >> (y & 63)
		};
		return 0;
	case OP_AND:
		out->bits = x & y;
		return 0;
	case OP_OR:
		out->bits = x | y;
		return 0;
	case OP_XOR:
		out->bits = x ^ y;
		return 0;
	case OP_EQ:
		*out = from_bool(x == y);
		return 0;
	case OP_NE:
		*out = from_bool(x != y);
		return 0;
	case OP_LT:
		*out = from_bool(less);
		return 0;
	case OP_GE:
		*out = from_bool(!less);
		return 0;
	case OP_GT:
		*out = from_bool(!less && x != y);
		return 0;
	case OP_LE:
		*out = from_bool(less || x == y);
		return 0;
	case OP_LAND:
		*out = from_bool(x && y);
		return 0;
	default:
		*out = from_bool(x || y);
		return 0;
	}
}

static int check_pair(struct parser *p, const struct constant *a, const struct constant *b)
{
	if (a->kind == CONSTANT_F32 || b->kind == CONSTANT_F32)
		return bad(p, "a number that begins with 0f is no part of an expression");
	if (constant_is_integer(a) != constant_is_integer(b))
		return bad(p, "integers and floating-point numbers do not mix");
	return 0;
}

int fold_binary(struct parser *p, enum constant_op op, struct constant *a,
			const struct constant *b)
{
	struct constant out = { 0 };
	int ret = check_pair(p, a, b);

	if (!ret && constant_is_integer(a))
		ret = fold_integers(p, op, a, b, &out);
	else if (!ret)
		ret = fold_doubles(p, op, double_of(a), double_of(b), &out);
	*a = out;
	return ret;
}

int fold_choice(struct parser *p, struct constant *values)
{
	const struct constant *chosen = &values[values[0].bits ? 1 : 2];
	enum constant_kind kind = MAX(values[1].kind, values[2].kind);
	int ret = check_pair(p, &values[1], &values[2]);

	if (!ret && !constant_is_integer(&values[0]))
		ret = bad(p, "an integer is expected");
	values[0] = (struct constant){ kind, chosen->bits };
	return ret;
}

int constant_to(struct parser *p, const struct constant *c, enum ptx_type type, uint64_t *bits)
{
	uint32_t bytes = ptx_type_bytes(type);
	double d;
	float f;

	*bits = c->bits;
	if (constant_is_integer(c)) {
		if (is_float(type))
			return unsupported(p, "a whole number where a floating-point number is expected");
		if (type == PTX_PRED)
			*bits = !!*bits;
		else if (bytes < 8)
			*bits &= (1ull << 8 * bytes) - 1;
		return 0;
	}
	if (c->kind == CONSTANT_F32 && type == PTX_F64) {
		memcpy(&f, bits, sizeof(f));
		d = f;
		memcpy(bits, &d, sizeof(d));
		return 0;
	}
	if (c->kind == CONSTANT_F64 && type == PTX_F32) {
		f = double_of(c);
		*bits = 0;
		memcpy(bits, &f, sizeof(f));
		return 0;
	}
	if (type == PTX_F32 || type == PTX_F64 || (type == PTX_B32 && c->kind == CONSTANT_F32) ||
	    (type == PTX_B64 && c->kind == CONSTANT_F64))
		return 0;
	return bad(p, "an integer is expected");
}
