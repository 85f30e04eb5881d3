// SPDX-License-Identifier: GPL-2.0
/*
 * Patterns of instructions: their alternatives, one combination spelled out, and a
 * set of combinations as few patterns. Knows nothing of the engine. Called by isa.c
 * and table.c.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "isa.h"

/* What <name> stands for. */
static const struct set {
	const char *name, *alternatives;
} sets[] = {
	{ "all", ".b8|.b16|.b32|.b64|.b128|.u8|.u16|.u32|.u64|.s8|.s16|.s32|.s64|.u16x2|.s16x2|"
		 ".f16|.f16x2|.bf16|.bf16x2|.tf32|.f32|.f32x2|.f64|.pred" },
	{ "int", ".b32|.u8|.u16|.u32|.u64|.s8|.s16|.s32|.s64" },
	{ "halves", ".f16|.bf16|.f16x2|.bf16x2" },
	{ "small", ".e4m3x2|.e5m2x2|.e2m1x2|.e2m3x2|.e3m2x2|.ue8m0x2|.f16x2|.bf16x2" },
	{ "tiny", ".e4m3x2|.e5m2x2|.e2m1x2|.e2m3x2|.e3m2x2|.ue8m0x2" },
	{ "pack", ".u16|.s16|.u8|.s8|.u4|.s4|.u2|.s2" },
};

void *must(void *mem)
{
	if (!mem) {
		perror("isa");
		exit(2);
	}
	return mem;
}

/* --- patterns -------------------------------------------------------------------- */

static void add_values(struct dim *dim, const char *text, size_t len)
{
	const char *end = text + len, *bar;

	for (;; text = bar + 1) {
		bar = memchr(text, '|', end - text);
		if (dim->n == MAX_VALUES)
			abort();
		dim->values[dim->n++] = must(strndup(text, (bar ? bar : end) - text));
		if (!bar)
			return;
	}
}

void parse_form(struct form *form, const char *text)
{
	size_t i, len;

	memset(form, 0, sizeof(*form));
	form->total = 1;
	while (*text) {
		struct dim *dim = &form->dims[form->ndims++];
		const char *end = strchr(text, '}');

		if (form->ndims > ARRAY_SIZE(form->dims))
			abort();
		/* Braces without a bar are a vector. */
		if (*text == '{' && memchr(text, '|', end - text)) {
			add_values(dim, text + 1, end - text - 1);
			text = end + 1;
		} else if (*text == '<') {
			end = strchr(text, '>');
			for (i = 0; i < ARRAY_SIZE(sets); i++) {
				if (!strncmp(text + 1, sets[i].name, end - text - 1) &&
				    !sets[i].name[end - text - 1])
					add_values(dim, sets[i].alternatives,
						   strlen(sets[i].alternatives));
			}
			dim->is_type = true;
			text = end + 1;
		} else {
			len = strcspn(text + 1, "{<") + 1;
			dim->values[dim->n++] = must(strndup(text, len));
			text += len;
		}
		if (!dim->n)
			abort();
		form->total *= dim->n;
	}
}

void free_form(struct form *form)
{
	unsigned int i, j;

	for (i = 0; i < form->ndims; i++) {
		for (j = 0; j < form->dims[i].n; j++)
			free(form->dims[i].values[j]);
	}
}

/* Combination `index`, the last group counting fastest. */
void spell(const struct form *form, uint32_t index, char *text, size_t bytes)
{
	const char *parts[MAX_DIMS];
	unsigned int i;
	size_t at = 0;

	for (i = form->ndims; i-- > 0;) {
		parts[i] = form->dims[i].values[index % form->dims[i].n];
		index /= form->dims[i].n;
	}
	for (i = 0; i < form->ndims; i++)
		at += snprintf(text + at, bytes - at, "%s", parts[i]);
}

/* --- sets of forms, as few patterns as it takes ------------------------------------------ */

/* Combination `index` of the groups in `order` as an index in the form's own order. */
static uint32_t reorder(const struct form *form, const unsigned int *order, uint32_t index)
{
	uint32_t digit[MAX_DIMS], result = 0;
	unsigned int i;

	for (i = form->ndims; i-- > 0;) {
		digit[order[i]] = index % form->dims[order[i]].n;
		index /= form->dims[order[i]].n;
	}
	for (i = 0; i < form->ndims; i++)
		result = result * form->dims[i].n + digit[i];
	return result;
}

/* The members of `set` (the groups from order[depth]) as products. */
static void walk(struct cover *cover, unsigned int depth, const uint8_t *set, uint32_t size)
{
	const struct dim *dim;
	uint32_t part, i, j;
	uint64_t done = 0;

	if (!memchr(set, 1, size))
		return;
	if (depth == cover->form->ndims) {
		cover->lines++;
		if (cover->line)
			cover->line(cover);
		return;
	}
	dim = &cover->form->dims[cover->order[depth]];
	part = size / dim->n;
	for (i = 0; i < dim->n; i++) {
		if (done >> i & 1)
			continue;
		cover->chosen[cover->order[depth]] = 0;
		for (j = i; j < dim->n; j++) {
			if (!memcmp(set + i * part, set + j * part, part)) {
				cover->chosen[cover->order[depth]] |= 1ull << j;
				done |= 1ull << j;
			}
		}
		walk(cover, depth + 1, set + i * part, part);
	}
}

static unsigned int cover_in(struct cover *cover, const unsigned int *order, const uint8_t *set)
{
	uint8_t *sorted = must(malloc(cover->form->total));
	uint32_t i;

	for (i = 0; i < cover->form->total; i++)
		sorted[i] = set[reorder(cover->form, order, i)];
	cover->order = order;
	cover->lines = 0;
	walk(cover, 0, sorted, cover->form->total);
	free(sorted);
	return cover->lines;
}

/* Groups of one value first; then rotations of the others, and the best of them. */
void cover_set(const struct form *form, const uint8_t *set,
		      void (*line)(const struct cover *cover), void *ctx)
{
	unsigned int order[MAX_DIMS] = { 0 }, best[MAX_DIMS], fixed = 0, n = 0, i, j, k;
	unsigned int least = ~0u;
	struct cover cover = { .form = form };

	for (i = 0; i < form->ndims; i++) {
		if (form->dims[i].n == 1)
			order[fixed++] = i;
	}
	n = fixed;
	for (i = 0; i < form->ndims; i++) {
		if (form->dims[i].n > 1 && form->dims[i].is_type)
			order[n++] = i;
	}
	for (i = 0; i < form->ndims; i++) {
		if (form->dims[i].n > 1 && !form->dims[i].is_type)
			order[n++] = i;
	}
	/* Every swap of two groups. */
	memcpy(best, order, sizeof(best));
	for (i = fixed; i < n; i++) {
		for (j = i; j < n; j++) {
			k = order[i], order[i] = order[j], order[j] = k;
			if (cover_in(&cover, order, set) < least) {
				least = cover.lines;
				memcpy(best, order, sizeof(best));
			}
			k = order[i], order[i] = order[j], order[j] = k;
		}
	}
	cover.line = line;
	cover.ctx = ctx;
	cover_in(&cover, best, set);
}

void cover_text(const struct cover *cover, char *text, size_t bytes)
{
	const struct form *form = cover->form;
	unsigned int i, j;
	size_t at = 0;

	for (i = 0; i < form->ndims; i++) {
		uint64_t chosen = cover->chosen[i];
		bool one = !(chosen & (chosen - 1)), first = true;

		at += snprintf(text + at, bytes - at, one ? "" : "{");
		for (j = 0; j < form->dims[i].n; j++) {
			if (!(chosen >> j & 1))
				continue;
			at += snprintf(text + at, bytes - at, "%s%s", first ? "" : "|",
				       form->dims[i].values[j]);
			first = false;
		}
		at += snprintf(text + at, bytes - at, one ? "" : "}");
	}
}

void print_cover(const struct cover *cover)
{
	char text[1024];

	cover_text(cover, text, sizeof(text));
	printf("%s\n", text);
}

/* --- files of patterns --------------------------------------------------------------------------- */

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void read_list(struct list *list, const char *path)
{
	FILE *file = must(fopen(path, "r"));
	char line[1024], text[256];
	struct form form;
	uint32_t i;

	memset(list, 0, sizeof(*list));
	while (fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		if (!*line || *line == '#')
			continue;
		parse_form(&form, line);
		for (i = 0; i < form.total; i++) {
			spell(&form, i, text, sizeof(text));
			if (list->n == list->cap) {
				list->cap = list->cap ? 2 * list->cap : 1024;
				list->forms = must(realloc(list->forms,
							    list->cap * sizeof(char *)));
			}
			list->forms[list->n++] = must(strdup(text));
		}
		free_form(&form);
	}
	fclose(file);
	qsort(list->forms, list->n, sizeof(char *), by_text);
}

bool in_list(const struct list *list, const char *text)
{
	return bsearch(&text, list->forms, list->n, sizeof(char *), by_text);
}

void free_list(struct list *list)
{
	size_t i;

	for (i = 0; i < list->n; i++)
		free(list->forms[i]);
	free(list->forms);
}
