// SPDX-License-Identifier: GPL-2.0
/*
 * docs/instructions.md: for every row of forms.def what is supported and what is
 * refused with which words, as few patterns as it takes. Called by isa.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "isa.h"

#define MAX_REASONS	24

/* One row of forms.def, tried. */
struct result {
	struct form form;
	uint8_t *supported;
	uint8_t *refused[MAX_REASONS];	/* by reason */
	char reasons[MAX_REASONS][200];
	unsigned int nreasons;
	uint32_t nsupported, nrefused;
};

static void add_refused(struct result *result, uint32_t index, const char *why)
{
	unsigned int i;

	for (i = 0; i < result->nreasons; i++) {
		if (!strcmp(result->reasons[i], why))
			break;
	}
	if (i == MAX_REASONS)
		i--;
	if (i == result->nreasons) {
		snprintf(result->reasons[i], sizeof(result->reasons[i]), "%s", why);
		result->refused[i] = must(calloc(result->form.total, 1));
		result->nreasons++;
	}
	result->refused[i][index] = 1;
	result->nrefused++;
}

static void try_row(struct result *result, const char *text, const struct list *legal)
{
	struct verdict verdict;
	char form[512];
	uint32_t i;

	memset(result, 0, sizeof(*result));
	parse_form(&result->form, text);
	result->supported = must(calloc(result->form.total, 1));
	for (i = 0; i < result->form.total; i++) {
		spell(&result->form, i, form, sizeof(form));
		if (!in_list(legal, form))
			continue;
		verdict = ask(form);
		if (verdict.ret)
			add_refused(result, i, verdict.why);
		else
			result->nsupported += result->supported[i] = 1;
	}
}

static void free_result(struct result *result)
{
	unsigned int i;

	for (i = 0; i < result->nreasons; i++)
		free(result->refused[i]);
	free(result->supported);
	free_form(&result->form);
}

/* --- cells -------------------------------------------------------------------------- */

struct cell {
	struct text text;
	bool operands;
	unsigned int shown;
};

/* Sets that come often, and what the page calls them. */
static const struct {
	const char *name, *set, *text;
} names[] = {
	{ ".FCMP", "{.eq .ne .lt .le .gt .ge .equ .neu .ltu .leu .gtu .geu .num .nan}",
	  "any comparison of numbers, ordered or not" },
	{ ".UCMP", "{.eq .ne .lt .le .gt .ge .lo .ls .hi .hs}", "any comparison of unsigned integers" },
	{ ".SCMP", "{.eq .ne .lt .le .gt .ge}", "any comparison of signed integers" },
	{ ".RND", "{.rn .rz .rm .rp}", "`{.rn .rz .rm .rp}`" },
	{ "[.RND]", "[.rn .rz .rm .rp]", NULL },
	{ ".RNDI", "{.rni .rzi .rmi .rpi}", "`{.rni .rzi .rmi .rpi}`" },
	{ ".W", "{.u32 .u64 .s32 .s64}", "`{.u32 .u64 .s32 .s64}`" },
	{ ".I", "{.u16 .u32 .u64 .s16 .s32 .s64}", "`{.u16 .u32 .u64 .s16 .s32 .s64}`" },
	{ ".IB", "{.u8 .u16 .u32 .u64 .s8 .s16 .s32 .s64}", "`.I`, `.u8` and `.s8`" },
	{ ".B", "{.b16 .b32 .b64}", "`{.b16 .b32 .b64}`" },
};

static void put_named(struct text *t, const char *product)
{
	size_t i, len;

	while (*product) {
		for (i = 0; i < ARRAY_SIZE(names); i++) {
			len = strlen(names[i].set);
			if (!strncmp(product, names[i].set, len))
				break;
		}
		if (i < ARRAY_SIZE(names)) {
			put(t, "%s", names[i].name);
			product += len;
		} else {
			put(t, "%c", *product++);
		}
	}
}

/* One group: [.a .b] none or one of them, {.a .b} one of them. A bar would end the table's cell. */
static void put_group(struct text *t, const struct dim *dim, uint64_t chosen, bool operands)
{
	unsigned int i, n = 0;
	bool none = false, first = true;
	const char *value;

	for (i = 0; i < dim->n; i++) {
		if (chosen >> i & 1) {
			none |= !*dim->values[i];
			n++;
		}
	}
	if (n > 1)
		put(t, none ? "[" : "{");
	for (i = 0; i < dim->n; i++) {
		value = dim->values[i];
		if (!(chosen >> i & 1) || !*value)
			continue;
		put(t, first ? "" : " ");
		first = false;
		for (; *value && (operands || *value != ' '); value++)
			put(t, *value == '|' || *value == '^' ? "\\|" : "%c", *value);
	}
	if (n > 1)
		put(t, none ? "]" : "}");
}

static void add_product(const struct cover *cover)
{
	const struct form *form = cover->form;
	struct cell *cell = cover->ctx;
	struct text *t = must(calloc(1, sizeof(*t)));
	unsigned int i;

	for (i = 0; i < form->ndims; i++) {
		put_group(t, &form->dims[i], cover->chosen[i], cell->operands);
		/* Operands follow the first space. */
		if (!cell->operands && strchr(form->dims[i].values[0], ' '))
			break;
	}
	put(&cell->text, "%s`", cell->shown++ ? ", " : "");
	put_named(&cell->text, t->bytes);
	put(&cell->text, "`");
	free(t);
}

/* mov and its like are told apart by their vectors. */
static bool shows_operands(const struct form *form)
{
	const struct dim *last = &form->dims[form->ndims - 1];

	return strchr(last->values[0], '{') != NULL;
}

static void print_row(const char *name, struct result *results, unsigned int n, bool operands)
{
	struct cell *yes = must(calloc(1, sizeof(*yes))), *no = must(calloc(1, sizeof(*no)));
	unsigned int i, j;

	for (i = 0; i < n; i++) {
		yes->operands = no->operands = operands || shows_operands(&results[i].form);
		cover_set(&results[i].form, results[i].supported, add_product, yes);
		for (j = 0; j < results[i].nreasons; j++) {
			if (no->text.len)
				put(&no->text, "; ");
			no->shown = 0;
			cover_set(&results[i].form, results[i].refused[j], add_product, no);
			put(&no->text, ": %s", results[i].reasons[j]);
		}
	}
	/* Rows that are tried because nothing of them is PTX. */
	if (yes->text.len || no->text.len)
		printf("| %s | %s | %s |\n", name, yes->text.bytes, no->text.bytes);
	free(yes);
	free(no);
}

/* --- the matrix of cvt ---------------------------------------------------------------- */

struct pair_set {
	char text[sizeof(((struct text *)0)->bytes)];
};

static void print_matrix(struct result *result)
{
	const struct form *form = &result->form;
	struct pair_set *sets = must(calloc(64, sizeof(*sets)));
	unsigned int types[2], ntypes = 0, nsets = 0, quals = 1, i, d, s, q, k, n;
	bool has_row[MAX_VALUES] = { 0 }, has_column[MAX_VALUES] = { 0 };
	const struct dim *dim;
	char letter;

	for (i = 0; i < form->ndims; i++) {
		if (form->dims[i].is_type && ntypes < 2)
			types[ntypes++] = i;
		else if (!form->dims[i].is_type)
			quals *= form->dims[i].n;
	}
	/* The two types are next to each other, and nothing with alternatives follows them. */
	dim = &form->dims[types[0]];
	n = dim->n;
	for (i = 0; i < n * n * quals; i++) {
		bool some = result->supported[i];

		for (k = 0; k < result->nreasons; k++)
			some |= result->refused[k][i];
		has_row[i / n % n] |= some;
		has_column[i % n] |= some;
	}
	printf("\nConversions: the row is the result's type, the column the source's.\n\n| |");
	for (s = 0; s < n; s++) {
		if (has_column[s])
			printf(" %s |", dim->values[s] + 1);
	}
	printf("\n|---|");
	for (s = 0; s < n; s++)
		printf("%s", has_column[s] ? "---|" : "");
	for (d = 0; d < n; d++) {
		if (!has_row[d])
			continue;
		printf("\n| **%s** |", dim->values[d] + 1);
		for (s = 0; s < n; s++) {
			uint8_t *set = must(calloc(form->total, 1));
			struct cell *cell = must(calloc(1, sizeof(*cell)));
			bool any = false, refused = false;

			if (!has_column[s])
				goto next;
			for (q = 0; q < quals; q++) {
				uint32_t index = (q * n + d) * n + s;

				/* As if it were of the first pair: what differs is the qualifiers. */
				set[q * n * n] = result->supported[index];
				any |= result->supported[index];
				for (k = 0; k < result->nreasons; k++)
					refused |= result->refused[k][index];
			}
			if (!any) {
				printf(refused ? " no |" : " |");
				goto next;
			}
			cover_set(form, set, add_product, cell);
			for (k = 0; k < nsets && strcmp(sets[k].text, cell->text.bytes); k++)
				;
			if (k == nsets && nsets < 52)
				snprintf(sets[nsets++].text, sizeof(sets[0].text), "%s",
					 cell->text.bytes);
			letter = k < 26 ? 'a' + k : 'A' + k - 26;
			printf(" %c%s |", letter, refused ? "*" : "");
next:
			free(set);
			free(cell);
		}
	}
	printf("\n\nEmpty: not PTX. no: PTX, refused. *: other modifiers of PTX are refused.\n\n");
	for (k = 0; k < nsets; k++) {
		char *at = sets[k].text, *end;

		printf("- %c: ", k < 26 ? 'a' + k : 'A' + k - 26);
		/* The types of the first pair stand for all. */
		while ((end = strstr(at, ".b8.b8"))) {
			printf("%.*s", (int)(end - at), at);
			at = end + 6;
		}
		printf("%s\n", at);
	}
	free(sets);
}

/* --- the whole ------------------------------------------------------------------------- */

/* The word before the first modifier; rows of one word are one row. */
static void name_of(const char *text, char *name, size_t bytes)
{
	size_t len = strcspn(text, ".<{ ");

	if (*text == '{') {
		snprintf(name, bytes, strncmp(text, "{v", 2) ? "several" : "video");
		return;
	}
	snprintf(name, bytes, "%.*s", (int)len, text);
}

int write_table(const struct list *legal)
{
	uint32_t supported = 0, refused = 0, words = 0, without = 0;
	size_t row, next, n, i;
	bool operands = false;
	char name[64], other[64];

	printf("<!-- SPDX-License-Identifier: GPL-2.0 -->\n"
	       "<!-- Written by `make isa-table` from tests/isa/. Do not edit. -->\n"
	       "# Instructions\n\n"
	       "What is understood of PTX ISA 9, and the reason that is given for what is not. `[.a .b]` is one of them or\n"
	       "none, `{.a .b}` is one of them; modifiers may stand in any order. Every form is tried when this page is made.\n\n");
	printf("In operands A, B and C are registers as wide as the first, second and third type, H, R, L and Q of 16, 32, 64\n"
	       "and 128 bits, W is twice as wide with `.wide`, P a predicate, M an address.\n\n");
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		if (names[i].text)
			printf("- `%s`: %s\n", names[i].name, names[i].text);
	}
	for (row = 0; row < nform_rows; row = next) {
		struct result *results;

		if (form_rows[row].section) {
			operands = form_rows[row].operands;
			printf("\n## %c%s\n\n| | supported | refused |\n|---|---|---|\n",
			       form_rows[row].section[0] - 'a' + 'A', form_rows[row].section + 1);
			next = row + 1;
			continue;
		}
		name_of(form_rows[row].text, name, sizeof(name));
		for (next = row + 1; next < nform_rows && form_rows[next].text; next++) {
			name_of(form_rows[next].text, other, sizeof(other));
			if (strcmp(name, other) || operands)
				break;
		}
		n = next - row;
		results = must(calloc(n, sizeof(*results)));
		for (i = 0; i < n; i++) {
			try_row(&results[i], form_rows[row + i].text, legal);
			supported += results[i].nsupported;
			refused += results[i].nrefused;
		}
		words++;
		without += !results[0].nsupported;
		if (!strcmp(name, "cvt") && !operands && n > 1) {
			print_row(name, results + 1, n - 1, false);
			print_matrix(&results[0]);
		} else {
			print_row(name, results, n, operands);
		}
		for (i = 0; i < n; i++)
			free_result(&results[i]);
		free(results);
	}
	printf("\n%u of %u forms are supported.\n", supported, supported + refused);
	return !words || words == without;
}
