/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by the files of the study zorua: specifications, GPUs, mechanisms, and their runs. */
#ifndef GPUEMU_TOOLS_STUDY_ZORUA_H
#define GPUEMU_TOOLS_STUDY_ZORUA_H

#include "study.h"

#define NONE	((double)NAN)

/* FERMI is the study's own configuration. */
enum zorua_gpu { FERMI, KEPLER, MAXWELL, ZORUA_GPUS };
extern const char *const zorua_gpus[ZORUA_GPUS];

enum zorua_mechanism { CTA, WLM, ZORUA, ZORUA_MECHANISMS };
extern const char *const zorua_mechanisms[ZORUA_MECHANISMS];

/* Values from `from` to `to`; a step below 0 multiplies. Only 0: the program has no such axis. */
struct zorua_axis {
	unsigned int from, to;
	int step, quick;
};

/* A row of table 3, and of study_zorua.def. */
struct zorua_program {
	const char *name, *abbreviation, *paper;
	bool small;			/* two SMs are enough with --quick */
	unsigned int grid, grid_quick;	/* threads of all CTAs, 0: the workload decides */
	struct zorua_axis registers, threads, scratchpad;
};

/* A specification; 0: the program has no such axis. */
struct zorua_point {
	unsigned int registers, threads, scratchpad;
};

#define ZORUA_POINTS	80

/* study_zorua.c */

/* NULL: it is none of the paper's. */
const struct zorua_program *zorua_program(const char *name);
/*
 * The program's specifications that the study's GPU can launch, for the others of table 2 have no
 * less of anything. How many; 0: it is none of the paper's.
 */
size_t zorua_points(const struct study_ctx *c, const struct study_workload *w,
		    struct zorua_point points[ZORUA_POINTS]);
/* The specification that is fastest under `cta` with --quick. NULL: it is none of the paper's. */
const struct zorua_point *zorua_tuned(const char *name);
/* "R28 T128" */
const char *zorua_point_name(char text[32], const struct zorua_point *p);
struct run *zorua_run(struct study_ctx *c, const struct study_workload *w,
		      const struct zorua_point *p, enum zorua_gpu gpu, enum zorua_mechanism m);
/* Zorua on the study's GPU with one thing of it changed: the words that do so, with a blank before. */
struct run *zorua_variant(struct study_ctx *c, const struct study_workload *w,
			  const struct zorua_point *p, const char *words);
/* The same on one of the GPUs. */
struct run *zorua_on(struct study_ctx *c, const struct study_workload *w,
		     const struct zorua_point *p, enum zorua_gpu gpu, const char *words);
/* The same of a mechanism, with paging on or off. */
struct run *zorua_one(struct study_ctx *c, const struct study_workload *w,
		      const struct zorua_point *p, enum zorua_mechanism m, const char *paging,
		      const char *words);
/* The kernels' cycles; NAN: the run has failed. */
double zorua_time(struct study_ctx *c, const struct study_workload *w, const struct zorua_point *p,
		  enum zorua_gpu gpu, enum zorua_mechanism m);
/* The smallest of the program's specifications. */
double zorua_best(struct study_ctx *c, const struct study_workload *w, enum zorua_gpu gpu,
		  enum zorua_mechanism m);
/* The mean of a column's numbers so far; NAN: it has none. */
double zorua_mean(const struct study_table *t, size_t column);
/* A last row with the means of all columns. */
void zorua_mean_row(struct study_table *t);

/* The parts: study_zorua_tables.c, _points.c, _seeds.c, _use.c, _overheads.c and _porting.c. */
void zorua_show_table2(struct study_ctx *c);
void zorua_want_table3(struct study_ctx *c);
void zorua_show_table3(struct study_ctx *c);
void zorua_want_points(struct study_ctx *c);
void zorua_show_cliffs(struct study_ctx *c);
void zorua_show_range(struct study_ctx *c);
void zorua_show_best(struct study_ctx *c);
void zorua_want_seeds(struct study_ctx *c);
void zorua_show_seeds(struct study_ctx *c);
void zorua_show_schedulable(struct study_ctx *c);
void zorua_show_hitrate(struct study_ctx *c);
void zorua_want_use(struct study_ctx *c);
void zorua_show_use(struct study_ctx *c);
void zorua_want_paging(struct study_ctx *c);
void zorua_show_paging(struct study_ctx *c);
void zorua_want_slots(struct study_ctx *c);
void zorua_show_slots(struct study_ctx *c);
void zorua_want_numbers(struct study_ctx *c);
void zorua_show_numbers(struct study_ctx *c);
void zorua_want_overheads(struct study_ctx *c);
void zorua_show_overheads(struct study_ctx *c);
void zorua_want_gpus(struct study_ctx *c);
void zorua_show_porting(struct study_ctx *c);

#define FOR_WORKLOADS(c, w)									\
	for (const struct study_workload *w = (c)->options.workloads;				\
	     w < (c)->options.workloads + (c)->options.nworkloads; w++)

#endif
