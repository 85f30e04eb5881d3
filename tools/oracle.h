/* SPDX-License-Identifier: GPL-2.0 */
/*
 * gpuemu run A + B --slice oracle: runs every partition of the SMs and prints the best one
 * (Warped-Slicer, ISCA'16, section V-A). The oracle is no policy: policies are measured
 * against it.
 */
#ifndef GPUEMU_TOOLS_ORACLE_H
#define GPUEMU_TOOLS_ORACLE_H

#include "base/spec.h"
#include "runner.h"

struct verb;

/* The resources of an SM that a CTA takes. */
struct cta_needs {
	double warps, registers, shared;
};
/*
 * The needs of the i-th workload in a run's report, rounded up as the SM does (occupancy.*_unit);
 * NAN where there is none.
 */
struct cta_needs cta_needs_of(const struct gpu_spec *s, const struct run *run, size_t i);
/*
 * True if so many CTAs of each of n workloads fit an SM, or a part-th of each of its
 * resources (1: all of it).
 */
bool ctas_fit(const struct gpu_spec *s, const struct cta_needs *needs, const unsigned int *ctas,
	      size_t n, unsigned int part);

/* Takes "--slice oracle" out of the words and says whether it was there. */
bool oracle_asked(int *argc, char **argv);

struct oracle {
	const struct verb *verb;
	const struct gpu_spec *spec;	/* that the words below give */
	int argc;
	char **argv;			/* of gpuemu run, itself first, without --slice */
	size_t n;			/* workloads side by side */
	const char *json;		/* as --json; among the words, too; NULL: none */
	const char *dir;		/* where reports are kept */
	const char *program;		/* that is run; NULL: gpuemu itself */
};
/* Does the runs, prints the table, writes the JSON. The exit status of the verb. */
int oracle_run(const struct oracle *o);

#endif
