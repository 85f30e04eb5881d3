/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Refused constructs as data: a file of texts and the whole message that each must
 * get, and the check that every message in a room's sources has such a text. Shared
 * by the tests of the ptx and exec rooms; includes cmocka's needs itself.
 *
 * A file of tests/unit/data/refused_*.txt:
 *   === MESSAGE       what the text below must be refused with, to the byte
 *   !!! FORMAT: FILE  a message that takes a text too large for here, tested in FILE
 *   ??? FORMAT: why   a message that no text can get; tests/fuzz/ holds that
 * A text without .version gets the three lines of HEAD; one without .entry as well
 * stands in the kernel of BODY, from line 10.
 */
#ifndef GPUEMU_TESTS_REFUSED_H
#define GPUEMU_TESTS_REFUSED_H

#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/base.h"

#define HEAD	".version 8.6\n.target sm_100\n.address_size 64\n"
#define BODY	".global .align 8 .b8 glo[64];\n.const .align 8 .b8 cst[64] = {1};\n" \
		".entry k(.param .u64 prm) {\n" \
		".reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<9>; .reg .b64 %d<9>;\n" \
		".reg .f32 %f<9>; .reg .f64 %e<9>; .reg .u32 %u<9>; .reg .s64 %s<9>;\n" \
		".shared .align 4 .b8 shr[64]; .local .align 8 .b8 loc[24];\n"

struct refused {
	char *file, **expected, **texts, **elsewhere;
	size_t ncases, nelsewhere;
};

static char *slurp(const char *path)
{
	FILE *file = fopen(path, "rb");
	char *text = calloc(1, 1 << 20);

	if (!file)
		fail_msg("cannot open %s", path);
	assert_non_null(text);
	assert_true(fread(text, 1, (1 << 20) - 1, file) > 0);
	fclose(file);
	return text;
}

/* The place of `name` beside the test's source. */
static void beside(const char *name, char *path, size_t bytes)
{
	snprintf(path, bytes, "%s", __FILE__);
	snprintf(strrchr(path, '/') + 1, bytes - (strrchr(path, '/') + 1 - path), "%s", name);
}

static void read_refused(struct refused *r, const char *name)
{
	char path[512], *line, *next;

	memset(r, 0, sizeof(*r));
	beside(name, path, sizeof(path));
	r->file = slurp(path);
	r->expected = calloc(1000, sizeof(char *));
	r->texts = calloc(1000, sizeof(char *));
	r->elsewhere = calloc(1000, sizeof(char *));
	assert_true(r->expected && r->texts && r->elsewhere);
	for (line = r->file; line; line = next) {
		next = strchr(line, '\n');
		if (next)
			next++;
		if (!strncmp(line, "=== ", 4) || !strncmp(line, "!!! ", 4) ||
		    !strncmp(line, "??? ", 4)) {
			assert_true(next && r->ncases < 999 && r->nelsewhere < 999);
			next[-1] = '\0';
			/* The text before ends here. */
			if (line > r->file)
				line[-1] = '\0';
			if (*line == '=') {
				r->expected[r->ncases] = line + 4;
				r->texts[r->ncases++] = next;
			} else {
				r->elsewhere[r->nelsewhere++] = line;
			}
		}
	}
	assert_true(r->ncases > 0);
}

static void free_refused(struct refused *r)
{
	free(r->file);
	free(r->expected);
	free(r->texts);
	free(r->elsewhere);
}

/* Calls `refuse`, which fills err; returns how many texts got another message. */
static unsigned int try_refused(const struct refused *r,
				int (*refuse)(const char *text, size_t len, struct err *err))
{
	unsigned int wrong = 0;
	char *text = malloc(1 << 20);
	size_t i;

	assert_non_null(text);
	for (i = 0; i < r->ncases; i++) {
		bool raw = strstr(r->texts[i], ".version"), whole = strstr(r->texts[i], ".entry") ||
			   strstr(r->texts[i], ".func") || strstr(r->texts[i], "// top");
		struct err err = { 0 };
		int len, ret;

		len = snprintf(text, 1 << 20, "%s%s%s%s", raw ? "" : HEAD,
			       raw || whole ? "" : BODY, r->texts[i], raw || whole ? "" : "\n}\n");
		ret = refuse(text, len, &err);
		if (ret >= 0 || strcmp(err.text, r->expected[i])) {
			print_error("expected %s\ngot (%d)  %s\n", r->expected[i], ret, err.text);
			wrong++;
		}
		/* What is not supported says so, and is told from what is not PTX. */
		if ((ret == -EOPNOTSUPP) != !!strstr(err.text, "not supported") && ret < 0) {
			print_error("code %d with: %s\n", ret, err.text);
			wrong++;
		}
	}
	free(text);
	return wrong;
}

/* `*` in the pattern is any text. */
static bool matches(const char *pattern, const char *text)
{
	const char *star = NULL, *from = NULL;

	while (*text) {
		if (*pattern == '*') {
			star = ++pattern;
			from = text;
		} else if (*pattern == *text) {
			pattern++;
			text++;
		} else if (star) {
			pattern = star;
			text = ++from;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}

/* A printf format as a pattern: a conversion is `*`. */
static void pattern_of(const char *format, char *pattern, size_t bytes)
{
	size_t n = 0;

	while (*format && n + 3 < bytes) {
		if (*format == '%') {
			format += strcspn(format + 1, "diuxcspl%") + 1;
			while (*format == 'l')
				format++;
			format++;
			pattern[n++] = '*';
		} else {
			pattern[n++] = *format++;
		}
	}
	pattern[n] = '\0';
}

/* Has the test that a !!! row names a piece of the message that is not a conversion? */
static bool is_in(const char *row, const char *pattern)
{
	char path[512], piece[100], *source;
	size_t len = 0;
	bool found;

	for (; *pattern; pattern += len + (pattern[len] == '*')) {
		len = strcspn(pattern, "*");
		if (len > 10)
			break;
	}
	snprintf(piece, sizeof(piece), "%.*s", (int)len, pattern);
	beside(strrchr(row, ' ') + 1, path, sizeof(path));
	source = slurp(path);
	found = strstr(source, piece) != NULL;
	free(source);
	return found;
}

/* One message of a source: is there a text that gets it? */
static unsigned int check_message(const struct refused *r, const char *call, const char *format,
				  const char *where)
{
	char inner[400], pattern[500];
	size_t i;

	pattern_of(format, inner, sizeof(inner));
	/* What is passed through, or never depends on the text. */
	if (!strcmp(inner, "*") || strstr(format, "memory for") || strstr(format, "out of memory") ||
	    !strcmp(inner, "*:*: *: `*`***"))
		return 0;
	if (!strcmp(call, "bad"))
		snprintf(pattern, sizeof(pattern), "t.ptx:*: %s: `*`", inner);
	else if (!strcmp(call, "unsupported"))
		snprintf(pattern, sizeof(pattern), "t.ptx:*: not supported: `*` (%s)", inner);
	else
		snprintf(pattern, sizeof(pattern), "%s", inner);
	for (i = 0; i < r->ncases; i++) {
		if (matches(pattern, r->expected[i]))
			return 0;
	}
	for (i = 0; i < r->nelsewhere; i++) {
		const char *row = r->elsewhere[i];

		if (!strncmp(row + 4, format, strlen(format)) && (*row == '?' || is_in(row, inner)))
			return 0;
	}
	print_error("%s: no text is refused with %s(\"%s\")\n", where, call, format);
	return 1;
}

/* The literal after `from`, adjacent ones joined; where it ended, or NULL. */
static const char *read_literal(const char *from, char *literal, size_t bytes)
{
	size_t n = 0;

	for (; *from == '"'; from += strspn(from, " \t\n")) {
		for (from++; *from && *from != '"'; from++) {
			if (*from == '\\')
				from++;
			if (n + 1 < bytes)
				literal[n++] = *from;
		}
		from += *from == '"';
	}
	literal[n] = '\0';
	return n ? from : NULL;
}

/* Every message that a call of bad(), unsupported() or err_set() in this file can write. */
static unsigned int check_source(const struct refused *r, const char *path, unsigned int *found)
{
	static const char *const calls[] = { "bad", "unsupported", "err_set" };
	char *text = slurp(path), literal[400], name[32];
	unsigned int missing = 0, depth;
	const char *at, *end;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(calls); i++) {
		snprintf(name, sizeof(name), "%s(", calls[i]);
		for (at = text; (at = strstr(at, name)); at = end) {
			end = at + strlen(name);
			if (at > text && (at[-1] == '_' || (at[-1] >= 'a' && at[-1] <= 'z')))
				continue;
			/* The first literal of the call's arguments is the format. */
			for (depth = 1; depth && *end && *end != '"'; end++)
				depth += (*end == '(') - (*end == ')');
			if (*end != '"' || !depth)
				continue;
			end = read_literal(end, literal, sizeof(literal));
			if (!end)
				break;
			++*found;
			missing += check_message(r, calls[i], literal, strrchr(path, '/') + 1);
		}
	}
	free(text);
	return missing;
}

/* All .c files of a folder, or of one whose names are given, that pass `wanted`. */
static unsigned int check_sources(const struct refused *r, const char *folder,
				  bool (*wanted)(const char *name), unsigned int *found)
{
	char path[1024], dir[512];
	unsigned int missing = 0;
	struct dirent *entry;
	DIR *d;

	beside(folder, dir, sizeof(dir));
	d = opendir(dir);
	assert_non_null(d);
	while ((entry = readdir(d))) {
		size_t len = strlen(entry->d_name);

		if (len < 3 || strcmp(entry->d_name + len - 2, ".c") || !wanted(entry->d_name))
			continue;
		snprintf(path, sizeof(path), "%s/%s", dir, entry->d_name);
		missing += check_source(r, path, found);
	}
	closedir(d);
	return missing;
}

#endif
