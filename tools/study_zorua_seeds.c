// SPDX-License-Identifier: GPL-2.0
/*
 * The part of the study zorua that runs programs with other inputs. Where a program's accesses
 * depend on its input, each mechanism gives them another order, and the order alone changes the
 * time by per cents. So one input does not say what Zorua brings. The other parts have the input of
 * seed 1 alone, and the paper has one of each program.
 */
#include <stdio.h>
#include <string.h>

#include "study_zorua.h"

#define SEEDS	8u

/* The programs whose accesses depend on the input: trees and graphs. */
static bool irregular(const char *name)
{
	return !strcmp(name, "bh") || !strcmp(name, "mst") || !strcmp(name, "sssp");
}

/* Seed 1 is the input of all other parts. */
static struct run *seed_run(struct study_ctx *c, const struct study_workload *w,
			    enum zorua_mechanism m, unsigned int seed)
{
	char words[24] = "";

	if (seed > 1)
		snprintf(words, sizeof(words), " --seed %u", seed);
	return zorua_one(c, w, zorua_tuned(w->name), m, "off", words);
}

void zorua_want_seeds(struct study_ctx *c)
{
	FOR_WORKLOADS(c, w)
		for (unsigned int seed = 1; irregular(w->name) && seed <= SEEDS; seed++) {
			seed_run(c, w, CTA, seed);
			seed_run(c, w, ZORUA, seed);
		}
}

/* How many per cent faster than the baseline Zorua is with a seed. */
static double gain_of(struct study_ctx *c, const struct study_workload *w, unsigned int seed)
{
	return 100 * (run_number(seed_run(c, w, CTA, seed), "totals.cycles") /
		      run_number(seed_run(c, w, ZORUA, seed), "totals.cycles") - 1);
}

/* The gains of all seeds but those whose runs failed. */
static size_t gains(struct study_ctx *c, const struct study_workload *w, double gain[SEEDS])
{
	size_t n = 0;

	for (unsigned int seed = 1; seed <= SEEDS; seed++) {
		double v = gain_of(c, w, seed);

		if (!isnan(v))
			gain[n++] = v;
	}
	return n;
}

static void show_gains(struct study_table *t, size_t row, const double *gain, size_t n)
{
	double sum = 0, squares = 0, least = NONE, most = NONE;

	for (size_t i = 0; i < n; i++) {
		sum += gain[i];
		least = fmin(least, gain[i]);
		most = fmax(most, gain[i]);
	}
	for (size_t i = 0; i < n; i++)
		squares += (gain[i] - sum / (double)n) * (gain[i] - sum / (double)n);
	study_cell(t, row, 0, n ? sum / (double)n : NONE);
	study_cell(t, row, 1, n > 1 ? sqrt(squares / (double)(n - 1)) : NONE);
	study_cell(t, row, 2, least);
	study_cell(t, row, 3, most);
}

static struct study_table *begin(struct study_ctx *c)
{
	static const char *const columns[] = { "mean", "deviation", "least", "most", "seed 1" };
	struct study_table *t = study_table(c, "seeds",
		"per cent faster than the baseline over eight inputs, at the specification that is fastest "
		"with --quick, without Zorua", 1, false);

	for (size_t k = 0; k < ARRAY_SIZE(columns); k++)
		study_column(t, columns[k], NONE);
	study_note(t, "the programs whose accesses depend on their input; --seed 1 to 8, of which 1 is the "
		   "input of the other tables; the deviation is the standard deviation of the eight");
	return t;
}

void zorua_show_seeds(struct study_ctx *c)
{
	struct study_table *t = NULL;

	FOR_WORKLOADS(c, w) {
		double gain[SEEDS];
		size_t row, n;

		if (!irregular(w->name))
			continue;
		t = t ? t : begin(c);
		row = study_row_add(t, w->name);
		n = gains(c, w, gain);
		show_gains(t, row, gain, n);
		study_cell(t, row, 4, gain_of(c, w, 1));
	}
}
