// SPDX-License-Identifier: GPL-2.0
/*
 * Bytes to tokens, with line numbers (PTX ISA, "Syntax"). Never reads past the
 * end and never fails: what is not a token is TOK_BAD, which no rule of the
 * parser accepts. Called by the parser, one token at a time.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/lex.h"

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_name(char c)
{
	return is_letter(c) || is_digit(c) || c == '_' || c == '$';
}

static int digit_of(char c)
{
	if (is_digit(c))
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return 99;
}

static char at(const struct lexer *lx, size_t i)
{
	return i < (size_t)(lx->end - lx->pos) ? lx->pos[i] : '\0';
}

static void skip_space(struct lexer *lx)
{
	while (lx->pos < lx->end) {
		char c = *lx->pos;

		if (c == '\n') {
			lx->line++;
			lx->pos++;
		} else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
			lx->pos++;
		} else if (c == '/' && at(lx, 1) == '/') {
			while (lx->pos < lx->end && *lx->pos != '\n')
				lx->pos++;
		} else if (c == '/' && at(lx, 1) == '*') {
			lx->pos += 2;
			while (lx->pos < lx->end && !(*lx->pos == '*' && at(lx, 1) == '/')) {
				lx->line += *lx->pos == '\n';
				lx->pos++;
			}
			lx->pos = lx->end - lx->pos < 2 ? lx->end : lx->pos + 2;
		} else {
			return;
		}
	}
}

void lex_skip_line(struct lexer *lx)
{
	while (lx->pos < lx->end && *lx->pos != '\n')
		lx->pos++;
}

/* Digits of a base from `i` on; false when there are none or the value is past 64 bits. */
static bool digits(const struct lexer *lx, size_t *i, unsigned int base, uint64_t *value)
{
	size_t first = *i;
	uint64_t v = 0;

	for (; (unsigned int)digit_of(at(lx, *i)) < base; ++*i) {
		if (__builtin_mul_overflow(v, base, &v) ||
		    __builtin_add_overflow(v, (unsigned int)digit_of(at(lx, *i)), &v))
			return false;
	}
	*value = v;
	return *i > first;
}

/* 1.5, 1e-3, .5 is not one: a dot starts a name. */
static bool is_decimal_float(const struct lexer *lx)
{
	size_t i = 0;

	while (is_digit(at(lx, i)))
		i++;
	return (at(lx, i) == '.' && is_digit(at(lx, i + 1))) ||
	       ((at(lx, i) == 'e' || at(lx, i) == 'E') &&
		(is_digit(at(lx, i + 1)) ||
		 ((at(lx, i + 1) == '-' || at(lx, i + 1) == '+') && is_digit(at(lx, i + 2)))));
}

static bool decimal_float(const struct lexer *lx, size_t *i, uint64_t *bits)
{
	char buf[64];
	double v;
	size_t n = 0;

	while (is_digit(at(lx, n)))
		n++;
	if (at(lx, n) == '.')
		n++;
	while (is_digit(at(lx, n)))
		n++;
	if (at(lx, n) == 'e' || at(lx, n) == 'E') {
		n += at(lx, n + 1) == '-' || at(lx, n + 1) == '+' ? 2 : 1;
		while (is_digit(at(lx, n)))
			n++;
	}
	*i = n;
	if (n >= sizeof(buf))
		return false;
	memcpy(buf, lx->pos, n);
	buf[n] = '\0';
	v = strtod(buf, NULL);
	memcpy(bits, &v, sizeof(v));
	return true;
}

static void lex_number(struct lexer *lx, struct token *tok)
{
	char second = at(lx, 1);
	bool good;
	size_t i = 2;

	tok->kind = TOK_INT;
	if (lx->pos[0] != '0') {
		second = '\0';
	}
	switch (second) {
	case 'f': case 'F':
		tok->kind = TOK_F32;
		good = digits(lx, &i, 16, &tok->bits) && i == 2 + 8;
		break;
	case 'd': case 'D':
		tok->kind = TOK_F64;
		good = digits(lx, &i, 16, &tok->bits) && i == 2 + 16;
		break;
	case 'x': case 'X':
		good = digits(lx, &i, 16, &tok->bits);
		break;
	case 'b': case 'B':
		good = digits(lx, &i, 2, &tok->bits);
		break;
	default:
		i = 0;
		if (is_decimal_float(lx)) {
			tok->kind = TOK_F64;
			good = decimal_float(lx, &i, &tok->bits);
		} else {
			good = digits(lx, &i, lx->pos[0] == '0' ? 8 : 10, &tok->bits);
		}
	}
	if (tok->kind == TOK_INT && at(lx, i) == 'U')
		i++;
	while (is_name(at(lx, i))) {
		good = false;
		i++;
	}
	tok->len = i;
	lx->pos += i;
	if (!good)
		tok->kind = TOK_BAD;
}

/* .name, with the :: parts of newer PTX (.shared::cta, .L1::evict_last). */
static void lex_dot(struct lexer *lx, struct token *tok)
{
	size_t i = 1;

	while (is_name(at(lx, i)) ||
	       (at(lx, i) == ':' && at(lx, i + 1) == ':' && is_name(at(lx, i + 2)))) {
		i += at(lx, i) == ':' ? 2 : 1;
	}
	tok->kind = i > 1 ? TOK_DOT : TOK_BAD;
	tok->text = lx->pos + 1;
	tok->len = i - 1;
	lx->pos += i;
}

static void lex_string(struct lexer *lx, struct token *tok)
{
	size_t i = 1;

	while (lx->pos + i < lx->end && lx->pos[i] != '"' && lx->pos[i] != '\n')
		i += lx->pos[i] == '\\' && lx->pos + i + 1 < lx->end &&
		     lx->pos[i + 1] != '\n' ? 2 : 1;
	if (at(lx, i) != '"') {
		tok->kind = TOK_BAD;
		tok->len = i;
		lx->pos += i;
		return;
	}
	tok->kind = TOK_STRING;
	tok->text = lx->pos + 1;
	tok->len = i - 1;
	lx->pos += i + 1;
}

void lex_next(struct lexer *lx, struct token *tok)
{
	char c;

	skip_space(lx);
	*tok = (struct token){ .text = lx->pos, .line = lx->line };
	if (lx->pos >= lx->end)
		return;
	c = *lx->pos;
	if (is_digit(c)) {
		lex_number(lx, tok);
	} else if (c == '.') {
		lex_dot(lx, tok);
	} else if (c == '"') {
		lex_string(lx, tok);
	} else if (is_name(c) || (c == '%' && is_name(at(lx, 1)))) {
		tok->kind = TOK_IDENT;
		do
			lx->pos++;
		while (is_name(at(lx, 0)));
		tok->len = lx->pos - tok->text;
	} else {
		tok->kind = strchr("{}()[]<>,;:=|+-*/!@~&^?%", c) && c ? TOK_PUNCT : TOK_BAD;
		tok->punct = c;
		tok->len = 1;
		lx->pos++;
	}
}
