// SPDX-License-Identifier: GPL-2.0
/* Tables of facts, read and made PTX: see facts.c. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "table.h"

#define MAX_SETS	256
#define MAX_ROWS	8192

static struct set sets[MAX_SETS];
static struct row rows[MAX_ROWS];
static unsigned int nsets, nrows, line_number;
static const char *path;

void die(const char *format, ...)
{
	va_list list;

	fprintf(stderr, "facts: %s:%u: ", path, line_number);
	va_start(list, format);
	vfprintf(stderr, format, list);
	va_end(list);
	fputc('\n', stderr);
	exit(2);
}

void *must(void *p)
{
	if (!p)
		die("no memory");
	return p;
}

/* --- the table ---------------------------------------------------------------------- */
static unsigned int bits_of(const char *class)
{
	if (strcmp(class, "b16") && strcmp(class, "b32") && strcmp(class, "b64"))
		die("%s is no class", class);
	return atoi(class + 1);
}

static const struct set *set_named(const char *name)
{
	for (unsigned int i = 0; i < nsets; i++) {
		if (!strcmp(sets[i].name, name))
			return &sets[i];
	}
	die("no set %s", name);
}

static void set_add(struct set *set, uint64_t value)
{
	set->value = must(realloc(set->value, (set->n + 1) * sizeof(*set->value)));
	set->value[set->n++] = value;
}

/* part / whole of a distance */
static uint64_t spread(uint64_t distance, unsigned int part, unsigned int whole)
{
	return (unsigned __int128)distance * part / whole;
}

static void read_set(char *text)
{
	struct set *set = &sets[nsets];
	char *end, *t = strtok_r(text, " \t", &end);

	if (nsets == MAX_SETS || !t)
		die("no room for a set");
	snprintf(set->name, sizeof(set->name), "%s", t);
	t = strtok_r(NULL, " \t", &end);
	set->bits = bits_of(t ? t : "");
	while ((t = strtok_r(NULL, " \t", &end))) {
		unsigned long long first = 0, last = 0;
		unsigned int count = 0;

		if (sscanf(t, "spread:%u:%llx:%llx", &count, &first, &last) == 3) {
			for (unsigned int i = 0; i < count; i++)
				set_add(set, first + spread(last - first, i, count));
		} else if (sscanf(t, "iota:%u", &count) == 1) {
			for (unsigned int i = 0; i < count; i++)
				set_add(set, i);
		} else {
			char *rest;

			set_add(set, strtoull(t, &rest, 16));
			if (*rest)
				die("%s is no value", t);
		}
	}
	nsets++;
}

static struct row *row_new(const char *name)
{
	if (nrows == MAX_ROWS)
		die("too many rows");
	rows[nrows].name = must(strdup(name));
	return &rows[nrows++];
}

/* The instruction's text with INSN, %d, %a... as they are: what stands in the kernel. */
static char *body_of(const char *insn, const char *ptx, const struct row *row)
{
	char *text, usual[256] = "INSN %d";
	const char *from;
	size_t bytes;
	FILE *f = must(open_memstream(&text, &bytes));

	if (!ptx) {
		for (unsigned int i = 0; i < row->nsources; i++) {
			size_t have = strlen(usual);

			if (row->source[i])
				snprintf(usual + have, sizeof(usual) - have, ", %%%c", 'a' + i + (i > 2));
			else
				snprintf(usual + have, sizeof(usual) - have, ", %s", row->text[i]);
		}
		strcat(usual, ";");
		ptx = usual;
	}
	for (from = ptx; *from; from++) {
		if (!strncmp(from, "INSN", 4)) {
			fputs(insn, f);
			from += 3;
		} else {
			fputc(*from, f);
		}
	}
	fclose(f);
	return text;
}

static void read_instruction(const char *insn, const char *rest)
{
	char *copy = must(strdup(rest)), *ptx = strchr(copy, '='), *end, *t, name[512];
	struct row *row = row_new("");
	size_t have;

	if (ptx)
		*ptx++ = '\0';
	t = strtok_r(copy, " \t", &end);
	row->bits = bits_of(t ? t : "");
	have = snprintf(name, sizeof(name), "%s %s", insn, t);
	while ((t = strtok_r(NULL, " \t", &end))) {
		if (row->nsources == MAX_SOURCES)
			die("too many sources");
		have += snprintf(name + have, sizeof(name) - have, " %s", t);
		if (*t == '#')
			row->text[row->nsources++] = must(strdup(t + 1));
		else
			row->source[row->nsources++] = set_named(t);
	}
	free(row->name);
	row->name = must(strdup(name));
	row->ptx = body_of(insn, ptx, row);
	free(copy);
}

/* {a,b} of the instruction, one after the other. */
static void expand(const char *insn, const char *rest)
{
	const char *open = strchr(insn, '{'), *close = open ? strchr(open, '}') : NULL;

	if (!open) {
		read_instruction(insn, rest);
		return;
	}
	if (!close)
		die("%s has no }", insn);
	for (const char *from = open + 1; from <= close;) {
		size_t n = strcspn(from, ",}");
		char one[512];

		snprintf(one, sizeof(one), "%.*s%.*s%s", (int)(open - insn), insn, (int)n, from, close + 1);
		expand(one, rest);
		from += n + 1;
	}
}

#define MODULE_HEAD ".version 8.6\n.target sm_90\n.address_size 64\n"

static void read_kernel(char *head, FILE *file)
{
	char *end, *t = strtok_r(head, " \t", &end), *body, *module, line[8192];
	struct row *row = row_new(t ? t : "");
	size_t bytes;
	FILE *m = must(open_memstream(&module, &bytes)), *b = must(open_memstream(&body, &bytes));

	row->is_kernel = true;
	row->grid = 1;
	row->block = 32;
	row->words = 1;
	while ((t = strtok_r(NULL, " \t", &end))) {
		if (sscanf(t, "grid=%u", &row->grid) != 1 && sscanf(t, "block=%u", &row->block) != 1 &&
		    sscanf(t, "words=%u", &row->words) != 1 && sscanf(t, "shared=%u", &row->shared) != 1)
			die("%s is no size", t);
	}
	fputs(MODULE_HEAD, m);
	for (;;) {
		line_number++;
		if (!fgets(line, sizeof(line), file))
			die("a kernel has no end");
		if (!strcmp(line, "end\n"))
			break;
		if (*line == '!')
			fputs(line + 1, m);
		else
			fputs(line, b);
	}
	fclose(b);
	fprintf(m, ".visible .entry k(.param .u64 out)\n{\n"
		"\t.reg .pred %%p<16>;\n\t.reg .b16 %%h<16>;\n\t.reg .b32 %%r<64>, %%f<16>;\n"
		"\t.reg .b64 %%rd<32>, %%fd<16>;\n"
		"\tld.param.u64 %%rd0, [out];\n\tcvta.to.global.u64 %%rd0, %%rd0;\n"
		"\tmov.u32 %%r0, %%tid.x;\n\tmov.u32 %%r1, %%ctaid.x;\n"
		"\tmov.u32 %%r2, %%ntid.x;\n\tmad.lo.u32 %%r1, %%r1, %%r2, %%r0;\n"
		"\tmad.wide.u32 %%rd1, %%r1, %u, %%rd0;\n%s\tret;\n}\n", 4 * row->words, body);
	fclose(m);
	free(body);
	row->ptx = module;
}

const struct row *table_read(const char *from, unsigned int *n)
{
	char line[8192], *hash;
	FILE *file = fopen(from, "r");
	size_t have = 0;

	path = from;
	if (!file)
		die("cannot be read");
	while (fgets(line + have, sizeof(line) - have, file)) {
		char *insn = line, *rest;

		line_number++;
		line[strcspn(line, "\n")] = '\0';
		have = strlen(line);
		if (have && line[have - 1] == '\\') {
			line[--have] = '\0';
			continue;
		}
		have = 0;
		hash = *line == '#' ? line : strstr(line, " # ");
		if (hash)
			*hash = '\0';
		if (!line[strspn(line, " \t")])
			continue;
		rest = line + strcspn(line, " \t");
		if (*rest)
			*rest++ = '\0';
		if (!strcmp(insn, "set")) {
			read_set(rest);
		} else if (!strcmp(insn, "kernel")) {
			read_kernel(rest, file);
		} else {
			char *copy = must(strdup(insn));

			expand(copy, rest);
			free(copy);
		}
	}
	fclose(file);
	*n = nrows;
	return rows;
}

/* --- the module of all instructions ----------------------------------------------------- */
static void emit(FILE *f, const struct row *row, unsigned int number)
{
	fprintf(f, ".visible .entry k%u(.param .u64 out, .param .u64 in0, .param .u64 in1, .param .u64 in2, "
		".param .u64 in3, .param .u32 n)\n{\n\t.reg .b32 %%i, %%j, %%n;\n\t.reg .b64 %%at, %%to;\n"
		"\t.reg .pred %%p, %%q, %%over;\n\t.reg .b16 %%h<8>;\n\t.reg .b32 %%t<8>;\n\t.reg .b64 %%l<8>;\n"
		"\t.reg .b%u %%d;\n", number, row->bits);
	for (unsigned int i = 0; i < row->nsources; i++) {
		if (row->source[i])
			fprintf(f, "\t.reg .b%u %%%c;\n", row->source[i]->bits, 'a' + i + (i > 2));
	}
	fprintf(f, "\tmov.u32 %%i, %%tid.x;\n\tmov.u32 %%j, %%ctaid.x;\n\tmad.lo.u32 %%i, %%j, %u, %%i;\n"
		"\tld.param.u32 %%n, [n];\n\tsetp.ge.u32 %%over, %%i, %%n;\n\t@%%over ret;\n", BLOCK);
	for (unsigned int i = 0; i < row->nsources; i++) {
		const struct set *set = row->source[i];

		if (set)
			fprintf(f, "\tld.param.u64 %%at, [in%u];\n\tcvta.to.global.u64 %%at, %%at;\n"
				"\tmad.wide.u32 %%at, %%i, %u, %%at;\n\tld.global.b%u %%%c, [%%at];\n",
				i, set->bits / 8, set->bits, 'a' + i + (i > 2));
	}
	fprintf(f, "\t%s\n\tld.param.u64 %%to, [out];\n\tcvta.to.global.u64 %%to, %%to;\n"
		"\tmad.wide.u32 %%to, %%i, %u, %%to;\n\tst.global.b%u [%%to], %%d;\n\tret;\n}\n",
		row->ptx, row->bits / 8, row->bits);
}

char *table_module(void)
{
	char *text;
	size_t bytes;
	FILE *f = must(open_memstream(&text, &bytes));

	fputs(MODULE_HEAD, f);
	for (unsigned int i = 0; i < nrows; i++) {
		if (!rows[i].is_kernel)
			emit(f, &rows[i], i);
	}
	fclose(f);
	return text;
}
