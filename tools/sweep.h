/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sweeps: every combination of workloads, configurations, keys and their values that a file names
 * (gpuemu-sweep(1)), done by the runner (runner.h), in one table with a row a run.
 */
#ifndef GPUEMU_TOOLS_SWEEP_H
#define GPUEMU_TOOLS_SWEEP_H

#include <stdio.h>

#include "base/base.h"
#include "runner.h"

/* How a factor changes a run. A sweep has at most one factor of each kind except SWEEP_KEY. */
enum sweep_kind {
	/* Words of gpuemu run: "bfs size=quick", "sgemm + lbm @20000", "fft --regs 56". */
	SWEEP_WORKLOADS,
	SWEEP_CONFIG,			/* "": the library's default */
	SWEEP_BACKEND,
	SWEEP_KEY,
	SWEEP_VRAM,			/* a size, or "50%" of the workloads' footprint */
	SWEEP_OPTIONS,			/* more words of gpuemu run; may be "" */
	SWEEP_REPEAT,			/* 1, 2, ... */
};

struct sweep_factor {
	enum sweep_kind kind;
	char *name;			/* the table's column: "workload", "gpu.sms" */
	char **values;
	size_t count;			/* at least 1 */
};

struct sweep {
	struct sweep_factor *factors;	/* the workloads first; later ones change faster */
	size_t nfactors;
	char **columns;			/* of reports, "totals.cycles"; empty: every number */
	size_t ncolumns;
};

/* One combination and its run. */
struct sweep_run {
	const char **values;		/* by factor */
	uint64_t vram;			/* bytes; 0: as configured */
	struct run *run;		/* NULL: it has no footprint, and cannot run */
};

/* sweep_file.c: -errno with err: "FILE:LINE: what is wrong". */
int sweep_read(struct sweep *s, const char *file, struct err *err);
/* Gives each workload of the sweep this size, unless its own words say otherwise. */
void sweep_resize(struct sweep *s, const char *size);
/* How much of that text names workloads; options of gpuemu run may stand behind them. */
size_t sweep_named(const char *workloads);
void sweep_free(struct sweep *s);
/* NULL: the sweep has no factor of that kind. */
const struct sweep_factor *sweep_factor(const struct sweep *s, enum sweep_kind kind);

/* sweep_plan.c: the combinations as runs. */
struct sweep_plan {
	struct sweep_run *runs;
	size_t count;
};

/*
 * All combinations, checked; none is wanted yet. -EINVAL: err names the one that is
 * impossible.
 */
int sweep_plan(struct sweep_plan *p, const struct sweep *s, struct err *err);
/* A run's device memory is a share of the workloads' footprint. */
bool sweep_shares(const struct sweep *s, const struct sweep_plan *p);
/* Wants the runs that tell the workloads' footprints, if the sweep has shares of them. */
void sweep_want_footprints(const struct sweep_plan *p, const struct sweep *s, struct runner *r);
/* Called after those runs: wants all combinations. */
void sweep_want(struct sweep_plan *p, const struct sweep *s, struct runner *r);
/* The words of that run, with "--vram SHARE" while its footprint is unknown; the caller frees. */
char *sweep_words(const struct sweep *s, const struct sweep_run *run);
void sweep_plan_free(struct sweep_plan *p);

/* sweep_table.c: the runs that have a report, as CSV. */
void sweep_table(const struct sweep *s, const struct sweep_plan *p, FILE *out);
/* The first of the file's columns that no report has; NULL: none, or there is no report. */
const char *sweep_column_missing(const struct sweep *s, const struct sweep_plan *p);

#endif
