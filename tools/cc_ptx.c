// SPDX-License-Identifier: GPL-2.0
/* Mends the PTX that clang writes, before it goes into the fatbin. Called by cc.c. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cc_ptx.h"

#define LIST "__clang_gpu_used_external["

static bool begins(const char *line, const char *word)
{
	return !strncmp(line + strspn(line, " \t"), word, strlen(word));
}

/*
 * Mends the line if it is a bfe that clang should not have written. False: the line stays as
 * it is.
 */
static bool write_shift_and_mask(FILE *out, const char *line)
{
	unsigned int start, bits;
	char to[64], from[64];
	int end = 0;

	if (sscanf(line, " bfe.u64 %63[^, \t\n], %63[^, \t\n], %u, %u;%n", to, from, &start, &bits,
		   &end) < 4 || !end || *to != '%' || *from != '%')
		return false;
	if (start > 63 || bits > 63 || start + bits <= 64)
		return false;
	fprintf(out, "\tshr.s64 \t%s, %s, %u; and.b64 \t%s, %s, %llu;%s", to, from, start, to, to,
		(1ull << bits) - 1, line + end);
	return true;
}

/*
 * clang-14 widens a difference of two ints to 64 bits and then multiplies it by 1 << 31,
 * which is negative in 32 bits, where it should shift. It would also write a real product
 * with that number as a shift.
 */
static bool write_wide_shift(FILE *out, const char *line)
{
	char to[64], from[64];
	int end = 0;

	if (sscanf(line, " mul.wide.s32 %63[^, \t\n], %63[^, \t\n], -2147483648;%n", to, from,
		   &end) < 2 || !end)
		return false;
	fprintf(out, "\tcvt.s64.s32 \t%s, %s; shl.b64 \t%s, %s, 31;%s", to, from, to, to,
		line + end);
	return true;
}

/* False: the line needs no change. */
static bool write_mended(FILE *out, const char *line)
{
	return write_shift_and_mask(out, line) || write_wide_shift(out, line);
}

/* Each line keeps its number, because messages name it. */
char *cc_mended_ptx(const char *text)
{
	bool own = false, list = false;
	char *mended = NULL, *line;
	size_t bytes;
	FILE *out = open_memstream(&mended, &bytes);

	if (!out)
		return NULL;
	while (*text) {
		size_t n = strcspn(text, "\n");

		line = strndup(text, n);
		if (!line)
			break;
		if (begins(line, "// begin inline asm"))
			own = true;
		else if (begins(line, "// end inline asm"))
			own = false;
		list = list || (!own && strstr(line, LIST));
		if (!list && (own || !write_mended(out, line)))
			fputs(line, out);
		if (list && strchr(line, ';'))
			list = false;
		free(line);
		text += n;
		if (*text) {
			fputc('\n', out);
			text++;
		}
	}
	if (fclose(out) || *text) {
		free(mended);
		return NULL;
	}
	return mended;
}
