// SPDX-License-Identifier: GPL-2.0
/*
 * The part of the study zorua that takes the mechanism apart: every specification on one GPU
 * without some of the things that cost time. The paper has only all of them together (section 6.4).
 */
#include "study_zorua.h"

static const struct {
	const char *name, *words;
} variants[] = {
	{ "zorua", "" }, { "no swap", " --set zorua.swap=off" },
	{ "free look-ups", " --set zorua.lookup=0" },
	{ "free specifiers", " --set zorua.specifier=free" },
	{ "issued specifiers", " --set zorua.specifier=insn" },
	{ "no proof", " --set zorua.proof=0 --set zorua.ctas=fits" },
	{ "none", " --set zorua.swap=off --set zorua.lookup=0 --set zorua.specifier=free" },
};

void zorua_want_overheads(struct study_ctx *c)
{
	FOR_WORKLOADS(c, w) {
		struct zorua_point points[ZORUA_POINTS];
		size_t n = zorua_points(c, w, points);

		for (size_t i = 0; i < n; i++) {
			zorua_run(c, w, &points[i], FERMI, CTA);
			for (size_t v = 0; v < ARRAY_SIZE(variants); v++)
				zorua_variant(c, w, &points[i], variants[v].words);
		}
	}
}

/* The mean over the specifications of the time over the baseline's with the same one. */
static double mean_time(struct study_ctx *c, const struct study_workload *w, const char *words)
{
	struct zorua_point points[ZORUA_POINTS];
	size_t all = zorua_points(c, w, points), n = 0;
	double sum = 0;

	for (size_t i = 0; i < all; i++) {
		double v = run_number(zorua_variant(c, w, &points[i], words), "totals.cycles") /
			   zorua_time(c, w, &points[i], FERMI, CTA);

		if (isnan(v))
			continue;
		sum += v;
		n++;
	}
	return sum / (double)n;
}

void zorua_show_overheads(struct study_ctx *c)
{
	struct study_table *t = study_table(c, "overheads",
		"time over the baseline's with the same specification, mean of all: Zorua, and without some "
		"of what it costs", 3, false);

	for (size_t v = 0; v < ARRAY_SIZE(variants); v++)
		study_column(t, variants[v].name, NONE);
	FOR_WORKLOADS(c, w) {
		size_t row;

		if (!zorua_program(w->name))
			continue;
		row = study_row_add(t, w->name);
		for (size_t v = 0; v < ARRAY_SIZE(variants); v++)
			study_cell(t, row, v, mean_time(c, w, variants[v].words));
	}
	zorua_mean_row(t);
	study_note(t, "no swap: only what keeps some warps schedulable (zorua.floor) is in swap; none: without "
		   "swap, look-ups and specifiers; no proof: swap and CTAs grow as published, from the first "
		   "cycle on");
}
