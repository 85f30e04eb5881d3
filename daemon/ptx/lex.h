/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tokens: lex.c. Private to the room.
 */
#ifndef GPUEMU_PTX_LEX_H
#define GPUEMU_PTX_LEX_H

#include "base/base.h"

enum token_kind {
	TOK_END,
	TOK_IDENT,	/* name, %name, $name, _ */
	TOK_DOT,	/* .name, the dot not in text */
	TOK_INT,	/* bits */
	TOK_F32,	/* 0f: bits */
	TOK_F64,	/* 0d and decimal: bits */
	TOK_STRING,	/* the quotes not in text */
	TOK_PUNCT,	/* punct */
	TOK_BAD,	/* a byte or number that is not PTX; text says which */
};

struct token {
	enum token_kind kind;
	char punct;
	const char *text;	/* into the module's text, not terminated */
	uint32_t len;
	uint32_t line;
	uint64_t bits;
};

struct lexer {
	const char *pos, *end;
	uint32_t line;
};

void lex_next(struct lexer *lx, struct token *tok);
/* Moves to the end of the line: .loc and .file have no terminator. */
void lex_skip_line(struct lexer *lx);

#endif
