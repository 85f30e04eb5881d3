/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of tests/isa/ share: patterns of forms.def, sets of their forms,
 * and the engine's word on one form.
 */
#ifndef GPUEMU_TESTS_ISA_H
#define GPUEMU_TESTS_ISA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* A row of forms.def: a pattern, or the head of a section. */
struct form_row {
	const char *text, *section;
	bool operands;		/* a section whose table shows operands */
};
extern const struct form_row form_rows[];
extern const size_t nform_rows;

/* --- pattern.c ------------------------------------------------------------------ */

#define MAX_DIMS	24
#define MAX_VALUES	40

/* A group of a pattern, or the text between two. */
struct dim {
	unsigned int n;
	bool is_type;
	char *values[MAX_VALUES];
};

struct form {
	struct dim dims[MAX_DIMS];
	unsigned int ndims;
	uint32_t total;		/* combinations */
};

void *must(void *mem);		/* exits when it is NULL */
void parse_form(struct form *form, const char *text);
void free_form(struct form *form);
/* Combination `index`, the last group counting fastest. */
void spell(const struct form *form, uint32_t index, char *text, size_t bytes);

/* One product of a set: by group, which of its values. */
struct cover {
	const struct form *form;
	const unsigned int *order;
	uint64_t chosen[MAX_DIMS];
	unsigned int lines;
	void (*line)(const struct cover *cover);
	void *ctx;
};
/* A set, a byte for each combination, as few products as are found. */
void cover_set(const struct form *form, const uint8_t *set,
	       void (*line)(const struct cover *cover), void *ctx);
/* A product in the language of forms.def. */
void cover_text(const struct cover *cover, char *text, size_t bytes);
void print_cover(const struct cover *cover);

/* All forms of a file of patterns, sorted. */
struct list {
	char **forms;
	size_t n, cap;
};
void read_list(struct list *list, const char *path);
bool in_list(const struct list *list, const char *text);
void free_list(struct list *list);

/* --- kernel.c ------------------------------------------------------------------- */

struct text {
	char bytes[4096];
	size_t len;
};
void put(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The instruction of a form with real operands. */
void put_insn(struct text *t, const char *form);
extern const char variables[], locals[];	/* what the operands are */

struct verdict {
	int ret;
	char why[200];		/* the reason alone, without place and text */
};
/* The smallest kernel around the form: parsed, linked, allocated, bound. */
struct verdict ask(const char *form);

/* --- table.c -------------------------------------------------------------------- */

int write_table(const struct list *legal);

#endif
