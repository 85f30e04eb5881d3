/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Studies: a matrix of runs, and the tables and figures made of them beside what a
 * paper reports. The runner (runner.h) does the runs and keeps their reports. A study is a file
 * and a row of study.def. Each of its parts is two functions: what to run, a loop over
 * study_want(), and what to show, the same loop that looks the reports up.
 */
#ifndef GPUEMU_TOOLS_STUDY_H
#define GPUEMU_TOOLS_STUDY_H

#include <json-c/json.h>
#include <math.h>

#include "base/base.h"
#include "base/spec.h"
#include "figure.h"
#include "runner.h"

#define STUDY_WORKLOADS	64
#define STUDY_LIST	16	/* of --only and --set */

/* A workload of a study and its operands behind the name, at full size and with --quick. */
struct study_workload {
	const char *name, *full, *quick;
};

struct study_options {
	bool quick;
	unsigned int jobs, limit;	/* as the runner's */
	const char *dir, *backend, *config;
	const char *program;		/* that is run, NULL: gpuemu itself */
	const char *settings[STUDY_LIST];	/* KEY=VALUE for every run */
	unsigned int nsettings;
	char *only[STUDY_LIST];		/* parts; none: all */
	unsigned int nonly;
	struct study_workload workloads[STUDY_WORKLOADS];
	unsigned int nworkloads;
	bool text;			/* tables on standard output */
};

struct study_table {
	char *name, *title;
	unsigned int digits;
	bool geomean;			/* a last row of the columns' */
	char **columns, **rows;
	double *paper;			/* by column; NAN: nothing is reported */
	bool *counts;			/* by column: numbers without a geometric mean */
	double *cells;			/* by row and column; NAN: none */
	char **texts;			/* likewise; shown in the place of the number; NULL: none */
	size_t ncolumns, nrows;
	char *note;			/* below it, or NULL */
};

struct study_ctx {
	const struct study *study;
	struct study_options options;
	struct gpu_spec spec;		/* of options.config and options.settings */
	struct runner runner;		/* does the runs, and keeps them in options.dir */
	struct study_table **tables;
	size_t ntables;
	char **figures;
	size_t nfigures;
	unsigned int failures;		/* of figures; the runs' are the runner's */
	bool no_gnuplot;
	struct err err;
};

struct study_part {
	const char *name, *help;
	/* Any may be NULL. want_more: what depends on the runs wanted first. */
	void (*want)(struct study_ctx *c);
	void (*want_more)(struct study_ctx *c);
	void (*show)(struct study_ctx *c);
	bool configured;		/* needs service times that are configured: backend sim */
};

struct study {
	const char *name, *help, *config;
	const struct study_workload *workloads;	/* end with a NULL name */
	const struct study_part *parts;		/* likewise */
};

/* The n-th row of study.def, NULL past the end. */
const struct study *study_row(unsigned int n);

/*
 * Takes all rows of the study as its workloads. -errno with c->err: a row names no workload. The
 * study does not go on without it, or its means would be of other programs than they say.
 */
int study_own_workloads(struct study_ctx *c);
/* Prints the commands that study_run_all() begins with, and runs nothing. -errno with c->err. */
int study_plan(struct study_ctx *c);
/* Does it all; the caller frees with study_free(). -errno with c->err: it could not begin. */
int study_run_all(struct study_ctx *c);
struct json_object *study_json(const struct study_ctx *c);
void study_free(struct study_ctx *c);

/* --- for studies -------------------------------------------------------------------- */

/*
 * A run of the workload with these arguments. The same arguments give the same run, so the code
 * that shows a number asks for it as the code that wanted it did:
 * run_number(study_want(...), "totals.cycles").
 * `backend` NULL: the study's. {dir} in arguments is the study's folder.
 */
struct run *study_want(struct study_ctx *c, const struct study_workload *w, const char *backend,
		       const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* The same of n workloads side by side on one GPU: gpuemu run A ... + B ... */
struct run *study_want_set(struct study_ctx *c, const struct study_workload *const *set, size_t n,
			   const char *backend, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));

/* Cycles of all the run's schedulers. Each has one cause in `stalls`. NAN: there is no report. */
double study_scheduler_cycles(const struct run *run);
/* This program has the backend; for kmod, the module is also loaded. */
bool study_has_backend(const char *backend);

struct study_table *study_table(struct study_ctx *c, const char *name, const char *title,
				unsigned int digits, bool geomean);
/* paper NAN: it reports nothing. Returns its index. */
size_t study_column(struct study_table *t, const char *name, double paper);
/* The same of numbers that are no ratios: counts, cycles. They have no geometric mean. */
size_t study_column_counts(struct study_table *t, const char *name);
size_t study_row_add(struct study_table *t, const char *name);
void study_cell(struct study_table *t, size_t row, size_t column, double value);
/* Puts words into a cell. */
void study_text(struct study_table *t, size_t row, size_t column, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
void study_note(struct study_table *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The geometric mean of the column's numbers above 0; NAN: it has none. */
double study_geomean(const struct study_table *t, size_t column);
/* Draws the table: rows as labels (the geometric mean the last), columns as series. */
void study_bars(struct study_ctx *c, const struct study_table *t, enum figure_kind kind,
		const char *ylabel, bool logy);
/* Draws n of its columns from `first` on as parts of one bar a row; shares: of their sum. */
void study_stack(struct study_ctx *c, const struct study_table *t, size_t first, size_t n,
		 const char *ylabel, bool shares);
/* A figure of lines with the table's title, for study_figure(). */
struct figure study_lines(const struct study_table *t, const char *xlabel, const char *ylabel);
/* Into the study's folder as NAME.svg and NAME.gp; frees what the figure holds. */
void study_figure(struct study_ctx *c, const char *name, struct figure *f);

/* How many runs and figures failed. */
unsigned int study_failures(const struct study_ctx *c);
/* study_table.c */
void study_table_print(const struct study_ctx *c, const struct study_table *t);
struct json_object *study_table_json(const struct study_ctx *c, const struct study_table *t);
void study_table_free(struct study_table *t);
/* Why ours differs, from study_findings.def; NULL: nothing is known of runs like these. */
const char *study_finding(const struct study_ctx *c, const char *table);

#endif
