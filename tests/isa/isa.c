// SPDX-License-Identifier: GPL-2.0
/*
 * The instruction set as this engine has it, against PTX: tries every form of
 * forms.def (parse, link, allocate, bind) and tells which are supported.
 *
 *   isa compare LEGAL LAX  what is taken and not PTX, or refused as if it were not
 *   isa table LEGAL        docs/instructions.md
 *   isa seeds LEGAL DIR    texts with the forms that are PTX, for the fuzzer
 *   isa names              every instruction that is tried
 *   isa ptx                all forms as one text, a line each, for another assembler
 *   isa legal              LEGAL, from the numbers of the forms that one takes
 *
 * LEGAL is tests/isa/legal.txt, what PTX allows; LAX is tests/isa/lax.txt, what is
 * taken although PTX does not have it. Called by tests/check.d/42-isa.sh.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "isa.h"

const struct form_row form_rows[] = {
#define FORM(text) { text, NULL, false },
#define SECTION(name) { NULL, name, false },
#define OPERANDS(name) { NULL, name, true },
#include "forms.def"
#undef FORM
#undef SECTION
#undef OPERANDS
};

const size_t nform_rows = ARRAY_SIZE(form_rows);

/* The forms of every row, one after the other; false past the last. */
static bool next_row(size_t *row, struct form *form)
{
	while (*row < nform_rows && !form_rows[*row].text)
		++*row;
	if (*row == nform_rows)
		return false;
	parse_form(form, form_rows[(*row)++].text);
	return true;
}

/* The first form stands in the line after the comment. */
static int write_ptx(void)
{
	struct form form;
	char text[512];
	size_t row = 0;
	uint32_t i;

	printf("%s.entry k(.param .align 16 .b8 prm[64])\n{\n%s.reg .b128 %%q<32>;\n"
	       ".param .b32 R0;\n.param .b32 R1;\n"
	       "FNP: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
	       "TBL: .branchtargets LBL;\nLBL:\n// forms\n", variables, locals);
	while (next_row(&row, &form)) {
		for (i = 0; i < form.total; i++) {
			struct text t = { .len = 0 };

			spell(&form, i, text, sizeof(text));
			put_insn(&t, text);
			printf("%s\n", t.bytes);
		}
		free_form(&form);
	}
	printf("// end\nret;\n}\n");
	return 0;
}

/* stdin: the numbers of the legal forms, from 0, ascending. */
static int write_legal(void)
{
	uint32_t at = 0, number = 0;
	struct form form;
	size_t row = 0;
	bool more = scanf("%u", &number) == 1;

	while (next_row(&row, &form)) {
		uint8_t *good = must(calloc(form.total, 1));

		for (; more && number < at + form.total; more = scanf("%u", &number) == 1)
			good[number - at] = 1;
		cover_set(&form, good, print_cover, NULL);
		at += form.total;
		free(good);
		free_form(&form);
	}
	return 0;
}

static void print_set(const char *title, const struct form *form, const uint8_t *set)
{
	if (!memchr(set, 1, form->total))
		return;
	printf("# %s\n", title);
	cover_set(form, set, print_cover, NULL);
}

static int compare(const char *legal_path, const char *lax_path)
{
	uint32_t i, tried = 0, good = 0, taken = 0, loose = 0, stale = 0, holes = 0, unclear = 0;
	struct list legal, lax;
	struct form form;
	char text[512];
	size_t row = 0;

	read_list(&legal, legal_path);
	read_list(&lax, lax_path);
	while (next_row(&row, &form)) {
		uint8_t *extra = must(calloc(form.total, 1));
		uint8_t *absent = must(calloc(form.total, 1));
		uint8_t *gone = must(calloc(form.total, 1));

		for (i = 0; i < form.total; i++) {
			struct verdict verdict;
			bool is_ptx, is_lax;

			spell(&form, i, text, sizeof(text));
			verdict = ask(text);
			is_ptx = in_list(&legal, text);
			is_lax = in_list(&lax, text);
			tried++;
			good += is_ptx;
			taken += is_ptx && !verdict.ret;
			loose += extra[i] = !is_ptx && !verdict.ret && !is_lax;
			stale += gone[i] = is_lax && (is_ptx || verdict.ret);
			holes += absent[i] = is_ptx && verdict.ret;
			if (is_ptx && verdict.ret == -EINVAL) {
				printf("# PTX, but refused as if it were not: %s: %s\n", text,
				       verdict.why);
				unclear++;
			}
		}
		print_set("taken, but not PTX", &form, extra);
		print_set("in the list of what is taken, but refused or PTX", &form, gone);
		print_set("PTX, not supported", &form, absent);
		free(extra);
		free(absent);
		free(gone);
		free_form(&form);
	}
	printf("# %u forms tried; %u are PTX: %u supported, %u not, %u of these refused as if they were not PTX; %u taken that are not PTX; %u stale rows\n",
	       tried, good, taken, holes, unclear, loose, stale);
	free_list(&legal);
	free_list(&lax);
	return loose || stale || unclear;
}

/* Up to 40 forms a text: what the fuzzer starts from. */
static int write_seeds(const char *legal_path, const char *dir)
{
	struct list legal;
	struct form form;
	char text[512], path[512];
	size_t row = 0;
	uint32_t i, n;

	read_list(&legal, legal_path);
	while (next_row(&row, &form)) {
		uint32_t step = form.total / 400 + 1;
		FILE *file;

		snprintf(path, sizeof(path), "%s/seed%03zu", dir, row);
		file = must(fopen(path, "w"));
		fprintf(file, ".version 8.6\n.target sm_100\n.address_size 64\n%s"
			".entry k(.param .align 16 .b8 prm[64])\n{\n%s", variables, locals);
		if (strstr(form_rows[row - 1].text, "TBL") || strstr(form_rows[row - 1].text, "LBL"))
			fprintf(file, "TBL: .branchtargets LBL;\n");
		if (strstr(form_rows[row - 1].text, "(R1)"))
			fprintf(file, ".param .b32 R0;\n.param .b32 R1;\nst.param.b32 [R1], %%r1;\n");
		/* An address that is there: see run() in tests/fuzz/fuzz_parser.c. */
		fprintf(file, "ld.param.u64 %%l30, [prm];\nmov.u64 %%l1, %%l30;\n");
		for (i = n = 0; i < form.total && n < 40; i += step) {
			struct text t = { .len = 0 };

			spell(&form, i, text, sizeof(text));
			if (!in_list(&legal, text) || ask(text).ret)
				continue;
			put_insn(&t, text);
			fprintf(file, "%s\n", t.bytes);
			n++;
		}
		fprintf(file, "LBL: ret;\n}\n");
		fclose(file);
		free_form(&form);
	}
	free_list(&legal);
	return 0;
}

static int write_names(void)
{
	char text[512], last[512] = "";
	struct form form;
	size_t row = 0;
	uint32_t i;

	while (next_row(&row, &form)) {
		for (i = 0; i < form.total; i++) {
			spell(&form, i, text, sizeof(text));
			text[strcspn(text, ". ")] = '\0';
			if (strcmp(text, last))
				printf("%s\n", text);
			strcpy(last, text);
		}
		free_form(&form);
	}
	return 0;
}

int main(int argc, char **argv)
{
	const char *command = argc > 1 ? argv[1] : "";
	struct list legal;
	int ret;

	if (argc == 2 && !strcmp(command, "ptx"))
		return write_ptx();
	if (argc == 2 && !strcmp(command, "names"))
		return write_names();
	if (argc == 2 && !strcmp(command, "legal"))
		return write_legal();
	if (argc == 4 && !strcmp(command, "compare"))
		return compare(argv[2], argv[3]);
	if (argc == 4 && !strcmp(command, "seeds"))
		return write_seeds(argv[2], argv[3]);
	if (argc == 3 && !strcmp(command, "table")) {
		read_list(&legal, argv[2]);
		ret = write_table(&legal);
		free_list(&legal);
		return ret;
	}
	fprintf(stderr, "usage: isa compare LEGAL LAX | table LEGAL | seeds LEGAL DIR | names | ptx | legal\n");
	return 2;
}
