// SPDX-License-Identifier: GPL-2.0
/*
 * The part of the study warped-slicer that is not in the paper: a program whose pages come on
 * demand shares its SMs with one that computes. Both run to their ends. The paper's
 * profile, which does not know far faults, is dynamic with slicer.faults=off.
 */
#include <stdio.h>
#include <string.h>

#include "study_warped_slicer.h"

static const struct study_workload pagers[] = {
	{ "lbm", "nx=120 ny=60 nz=16 steps=1", "nx=120 ny=30 nz=8 steps=1" },
	{ "knn", "records=684288", "records=200000" },
};

static const struct study_workload computers[] = {
	{ "coulomb", "", "" },
	{ "sgemm", "m=1024 n=528 k=992", "m=512 n=264 k=496" },
};

static const struct {
	const char *name, *more;
} ways[] = {
	{ "left_over", "--slice left_over" }, { "spatial", "--slice spatial" },
	{ "even", "--slice even" }, { "paper's", "--slice dynamic --set slicer.faults=off" },
	{ "dynamic", "--slice dynamic" },
};

static struct run *alone(struct study_ctx *c, const struct study_workload *w)
{
	struct study_workload one;
	struct run *run;
	char text[128];

	/* It is halted nowhere, but reported as those side by side are. */
	snprintf(text, sizeof(text), "%s until=1000000000000", c->options.quick ? w->quick : w->full);
	one = (struct study_workload){ w->name, text, text };
	run = study_want(c, &one, NULL, "--slice left_over");
	return run;
}

static struct run *beside(struct study_ctx *c, size_t pager, size_t computer, size_t way)
{
	const struct study_workload *set[] = { &pagers[pager], &computers[computer] };

	return study_want_set(c, set, 2, NULL, "%s", ways[way].more);
}

void slicer_want_paging(struct study_ctx *c)
{
	for (size_t p = 0; p < ARRAY_SIZE(pagers); p++)
		alone(c, &pagers[p]);
	for (size_t k = 0; k < ARRAY_SIZE(computers); k++)
		alone(c, &computers[k]);
	for (size_t p = 0; p < ARRAY_SIZE(pagers); p++)
		for (size_t k = 0; k < ARRAY_SIZE(computers); k++)
			for (size_t i = 0; i < ARRAY_SIZE(ways); i++)
				beside(c, p, k, i);
}

void slicer_show_paging(struct study_ctx *c)
{
	struct study_table *t = study_table(c, "paging",
		"a program that pages on demand beside one that computes: the time of each over alone (no "
		"paper has this)", 3, true);
	double total[ARRAY_SIZE(ways)] = { 0 }, n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		char name[32];

		snprintf(name, sizeof(name), "pages %s", ways[i].name);
		study_column(t, name, NONE);
		snprintf(name, sizeof(name), "computes %s", ways[i].name);
		study_column(t, name, NONE);
	}
	for (size_t p = 0; p < ARRAY_SIZE(pagers); p++) {
		for (size_t k = 0; k < ARRAY_SIZE(computers); k++) {
			double base = slicer_time(beside(c, p, k, 0), 2);
			char name[64];
			size_t row;

			snprintf(name, sizeof(name), "%s_%s", pagers[p].name, computers[k].name);
			row = study_row_add(t, name);
			for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
				struct run *r = beside(c, p, k, i);

				study_cell(t, row, 2 * i, slicer_reached(r, 0) /
							  slicer_reached(alone(c, &pagers[p]), 0));
				study_cell(t, row, 2 * i + 1,
					   slicer_reached(r, 1) /
					   slicer_reached(alone(c, &computers[k]), 0));
				total[i] += log(base / slicer_time(r, 2));
			}
			n++;
		}
	}
	study_note(t, "combined IPC over left-over's, geometric means: spatial %.3f, even %.3f, the paper's "
		   "profile %.3f, dynamic %.3f", exp(total[1] / n), exp(total[2] / n),
		   exp(total[3] / n), exp(total[4] / n));
}
