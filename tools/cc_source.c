// SPDX-License-Identifier: GPL-2.0
/*
 * The text of a .cu file: brackets of launches that have spaces in them. Called by cc.c, which
 * gives clang the mended text under the file's own name.
 */
#include <ctype.h>
#include <string.h>

#include "cc_source.h"

/*
 * The place after a comment or a literal that begins at `at`; `at` itself if none begins
 * there.
 */
static char *skip(char *at)
{
	char quote = *at;

	if (at[0] == '/' && at[1] == '/')
		return at + strcspn(at, "\n");
	if (at[0] == '/' && at[1] == '*') {
		char *end = strstr(at + 2, "*/");

		return end ? end + 2 : at + strlen(at);
	}
	if (quote != '"' && quote != '\'')
		return at;
	for (at++; *at && *at != quote && *at != '\n'; at++)
		if (*at == '\\' && at[1])
			at++;
	return *at ? at + 1 : at;
}

/* The place after three such brackets with only spaces between them, or NULL. */
static char *three(char *at, char bracket)
{
	for (int i = 0; i < 3; i++, at++) {
		while (i && isspace((unsigned char)*at))
			at++;
		if (*at != bracket)
			return NULL;
	}
	return at;
}

/* Moves the spaces between the brackets behind them. True if there were any. */
static bool join(char *at, const char *end, char bracket)
{
	char space[256];
	size_t n = 0;

	if (end - at > (long)sizeof(space))
		return false;
	for (char *c = at; c < end; c++)
		if (*c != bracket)
			space[n++] = *c;
	memset(at, bracket, 3);
	memcpy(at + 3, space, n);
	return n > 0;
}

/* operator<< <T>(..) names a function. */
static bool is_operator(const char *text, const char *at)
{
	while (at > text && isspace((unsigned char)at[-1]))
		at--;
	return at - text >= 8 && !strncmp(at - 8, "operator", 8);
}

/* Called with the place after `<<<`: also joins the brackets that end the launch. */
static bool close_launch(char *at)
{
	int depth = 0;

	while (*at && *at != ';') {
		char *end = depth ? NULL : three(at, '>'), *behind = skip(at);

		if (end)
			return join(at, end, '>');
		depth += *at == '(' ? 1 : *at == ')' ? -1 : 0;
		at = behind > at ? behind : at + 1;
	}
	return false;
}

bool cc_join_launches(char *text)
{
	bool joined = false;

	for (char *at = text; *at;) {
		char *end = three(at, '<'), *behind = skip(at);

		if (!end || is_operator(text, at)) {
			at = end ? end : behind > at ? behind : at + 1;
			continue;
		}
		joined |= join(at, end, '<');
		joined |= close_launch(at + 3);
		at += 3;
	}
	return joined;
}
