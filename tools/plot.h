/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The figures made of reports of runs, gpuemu-json(7). A figure is a row of plot.def and a
 * function here. For plot and the tests.
 */
#ifndef GPUEMU_TOOLS_PLOT_H
#define GPUEMU_TOOLS_PLOT_H

#include <json-c/json.h>

#include "figure.h"

/* One run, and the name of its line or bar. */
struct plot_run {
	const char *name;
	struct json_object *report;
};

struct plot_row {
	const char *name, *help;
	/* Fills the figure from the reports. It has no series if they have no such data. */
	void (*make)(struct figure *f, const struct plot_run *runs, size_t n);
};

/* The n-th row of plot.def, NULL past the end. */
const struct plot_row *plot_row(unsigned int n);

/* Beside what plot draws, for studies: a distribution of [most, count] pairs as a line. */
void plot_distribution(struct figure *f, const char *name, struct json_object *buckets,
		       double scale);
/*
 * Column `y` of samples over their cycles; with `until`, up to that cycle and as a share of it.
 */
void plot_samples(struct figure *f, const char *name, struct json_object *report, const char *y,
		  double scale, double until);

/*
 * plot_extents.c: boxes of the extents that CTAs had of `what` ("registers", "shared"), `kib` KiB
 * a unit, of a run that is the file of --trace.
 */
void plot_extents(struct figure *f, const struct plot_run *runs, size_t n, const char *what,
		  double kib);

#endif
