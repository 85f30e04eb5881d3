/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A table of facts: rows that are instructions on all combinations of some values, or kernels.
 * What a table looks like is in facts.c, which runs the rows.
 */
#ifndef TESTS_SILICON_TABLE_H
#define TESTS_SILICON_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#define MAX_SOURCES	4
#define BLOCK		128	/* threads of a CTA of the instructions' kernels */

struct set {
	char name[48];
	unsigned int bits, n;
	uint64_t *value;
};

struct row {
	char *name;
	bool is_kernel;
	/* an instruction */
	char *ptx;
	unsigned int bits, nsources;
	const struct set *source[MAX_SOURCES]; /* NULL: a text */
	char *text[MAX_SOURCES];
	/* a kernel: ptx is the module */
	unsigned int grid, block, words, shared;
};

const struct row *table_read(const char *from, unsigned int *n);
/* One module for all instructions: row i's kernel is k<i>(out, in0, in1, in2, in3, n). */
char *table_module(void);

/* Ends the program, with the table's name and line. */
void die(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));
void *must(void *p);

#endif
