/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The three ways a kernel of a PTX file is run: exec_grid_run() on one of the host's
 * lane tables (functional.c), the cycle model through libgpuemu (timed.c), and a real GPU
 * (silicon.c). Used by the runner, in a process of its own for each file.
 */
#ifndef TESTS_DIFFERENTIAL_ENGINE_H
#define TESTS_DIFFERENTIAL_ENGINE_H

#include <stdbool.h>
#include <stddef.h>

#include "buffers.h"

struct text {
	char *start;
	size_t bytes;
};

/* The lane tables that this host can use: names, NULL past the last. */
const char *functional_lanes(unsigned int n);

/* NULL: `why` says what is wrong with the text. maxregs 0: no limit. */
void *functional_open(struct text ptx, const char *name, unsigned int maxregs, char *why,
		      size_t bytes);
/* Runs c on lane table `lanes`, or all when negative, and judges. */
bool functional_run(void *engine, const struct diff_case *c, const struct arguments *args,
		    const char *printed, int lanes, char *why, size_t bytes);
void functional_close(void *engine);

/* For all that are opened; set by the command line. */
struct timed_setup {
	char settings[512];	/* "key=value" lines */
	const char *config;	/* NULL: the default GPU */
	const char *statistics;	/* file to write at the close, or NULL */
};
extern struct timed_setup timed_setup;

void *timed_open(struct text ptx, const char *name, unsigned int maxregs, char *why, size_t bytes);
bool timed_run(void *engine, const struct diff_case *c, const struct arguments *args,
	       const char *printed, char *why, size_t bytes);
void timed_close(void *engine);

void *silicon_open(struct text ptx, const char *name, unsigned int maxregs, char *why,
		   size_t bytes);
bool silicon_run(void *engine, const struct diff_case *c, const struct arguments *args,
		 const char *printed, char *why, size_t bytes);
void silicon_close(void *engine);
/* A real GPU may run the row. */
bool silicon_can(const struct diff_case *c);

/* What a run printed, line by line in any order, is what the CPU printed. */
bool printed_judge(const char *expected, const char *got, char *why, size_t bytes);
/* The run ended as c->fails has it: with an error that says so. */
bool failure_judge(const struct diff_case *c, int ret, const char *text, char *why, size_t bytes);

#endif
