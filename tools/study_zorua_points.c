// SPDX-License-Identifier: GPL-2.0
/*
 * The parts of the study zorua that run every specification on one GPU, under each mechanism:
 * cliffs, range, best point, schedulable warps and hit rates.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "study_zorua.h"

void zorua_want_points(struct study_ctx *c)
{
	FOR_WORKLOADS(c, w) {
		struct zorua_point points[ZORUA_POINTS];
		size_t n = zorua_points(c, w, points);

		for (size_t i = 0; i < n; i++)
			for (int m = 0; m < ZORUA_MECHANISMS; m++)
				zorua_run(c, w, &points[i], FERMI, m);
	}
}

static void mechanism_columns(struct study_table *t, const double paper[ZORUA_MECHANISMS])
{
	for (int m = 0; m < ZORUA_MECHANISMS; m++)
		study_column(t, zorua_mechanisms[m], paper[m]);
}

static const double nothing[ZORUA_MECHANISMS] = { NONE, NONE, NONE };

/* --- cliffs (figures 2 to 4, 15) ----------------------------------------------------- */

/* Time over threads of a CTA, a line for each mechanism with the fewest and the most registers. */
static void draw_cliffs(struct study_ctx *c, const struct study_workload *w, const char *name,
			const struct zorua_point *points, size_t n, double base)
{
	struct figure f = { .kind = FIGURE_LINES, .title = w->name, .xlabel = "threads of a CTA",
			    .ylabel = "time over the baseline's best" };
	unsigned int least = points[0].registers, most = points[n - 1].registers;

	for (int m = 0; m < ZORUA_MECHANISMS; m++)
		for (unsigned int end = 0; end < (least == most ? 1u : 2u); end++) {
			unsigned int registers = end ? most : least;
			char series[32];
			size_t at;

			if (registers)
				snprintf(series, sizeof(series), "%s, %u registers", zorua_mechanisms[m],
					 registers);
			else
				snprintf(series, sizeof(series), "%s", zorua_mechanisms[m]);
			at = figure_series(&f, series);
			for (size_t i = 0; i < n; i++)
				if (points[i].registers == registers)
					figure_point(&f, at, points[i].threads,
						     zorua_time(c, w, &points[i], FERMI, m) / base);
		}
	study_figure(c, name, &f);
}

/* The paper draws the cliffs of these programs. */
static bool drawn(const char *name)
{
	return !strcmp(name, "bh") || !strcmp(name, "dct") || !strcmp(name, "mst") ||
	       !strcmp(name, "nqueens");
}

void zorua_show_cliffs(struct study_ctx *c)
{
	FOR_WORKLOADS(c, w) {
		struct zorua_point points[ZORUA_POINTS];
		size_t n = drawn(w->name) ? zorua_points(c, w, points) : 0;
		char name[64], title[128], text[32];
		struct study_table *t;
		double base;

		if (!n)
			continue;
		snprintf(name, sizeof(name), "cliffs-%s", w->name);
		snprintf(title, sizeof(title), "%s: time over the baseline's best (figures 2 to 4, 15)",
			 w->name);
		t = study_table(c, name, title, 3, false);
		mechanism_columns(t, nothing);
		base = zorua_best(c, w, FERMI, CTA);
		for (size_t i = 0; i < n; i++) {
			size_t row = study_row_add(t, zorua_point_name(text, &points[i]));

			for (int m = 0; m < ZORUA_MECHANISMS; m++)
				study_cell(t, row, (size_t)m,
					   zorua_time(c, w, &points[i], FERMI, m) / base);
		}
		draw_cliffs(c, w, name, points, n, base);
	}
}

/* --- range (figure 14) --------------------------------------------------------------- */

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The times of a program's specifications, sorted; those that failed are left out. */
static size_t sorted_times(struct study_ctx *c, const struct study_workload *w,
			   enum zorua_mechanism m, double times[ZORUA_POINTS])
{
	struct zorua_point points[ZORUA_POINTS];
	size_t all = zorua_points(c, w, points), n = 0;

	for (size_t i = 0; i < all; i++) {
		double time = zorua_time(c, w, &points[i], FERMI, m);

		if (!isnan(time))
			times[n++] = time;
	}
	qsort(times, n, sizeof(*times), by_size);
	return n;
}

/* The quantile of sorted numbers. If it falls between two numbers, it is interpolated. */
static double quantile(const double *sorted, size_t n, double q)
{
	double at = q * (double)(n - 1);
	size_t i = (size_t)at;

	return i + 1 < n ? sorted[i] + (at - (double)i) * (sorted[i + 1] - sorted[i]) :
			   sorted[n - 1];
}

/* Figure 14's boxes: performance over the baseline's slowest specification. */
static void show_distribution(struct study_ctx *c)
{
	static const double at[] = { 1, 0.75, 0.5, 0.25, 0 };	/* of times: performance upwards */
	static const char *const names[] = { "min", "25%", "median", "75%", "max" };
	struct study_table *t = study_table(c, "distribution",
		"performance over the baseline's slowest specification: quartiles (figure 14)", 2, false);
	char column[32];

	for (int m = 0; m < ZORUA_MECHANISMS; m++)
		for (size_t k = 0; k < ARRAY_SIZE(at); k++) {
			snprintf(column, sizeof(column), "%s %s", zorua_mechanisms[m], names[k]);
			study_column(t, column, NONE);
		}
	FOR_WORKLOADS(c, w) {
		double base[ZORUA_POINTS], times[ZORUA_POINTS];
		size_t nbase = sorted_times(c, w, CTA, base), row, n;

		if (!nbase)
			continue;
		row = study_row_add(t, w->name);
		for (int m = 0; m < ZORUA_MECHANISMS; m++) {
			n = sorted_times(c, w, m, times);
			for (size_t k = 0; n && k < ARRAY_SIZE(at); k++)
				study_cell(t, row, (size_t)m * ARRAY_SIZE(at) + k,
					   base[nbase - 1] / quantile(times, n, at[k]));
		}
	}
}

void zorua_show_range(struct study_ctx *c)
{
	static const double paper[ZORUA_MECHANISMS] = { 96.6, 88.3, 48.2 };
	struct study_table *t = study_table(c, "range",
		"per cent that the slowest specification takes longer than the fastest (figure 14)", 1,
		false);

	mechanism_columns(t, paper);
	FOR_WORKLOADS(c, w) {
		double times[ZORUA_POINTS];
		size_t row;

		if (!zorua_program(w->name))
			continue;
		row = study_row_add(t, w->name);
		for (int m = 0; m < ZORUA_MECHANISMS; m++) {
			size_t n = sorted_times(c, w, m, times);

			if (n)
				study_cell(t, row, (size_t)m, 100 * (times[n - 1] / times[0] - 1));
		}
	}
	zorua_mean_row(t);
	study_bars(c, t, FIGURE_BARS, "slowest over fastest, per cent more", false);
	show_distribution(c);
}

/* --- best point ---------------------------------------------------------------------- */

/* Mean of what each specification gains over the baseline's same one. */
static double mean_gain(struct study_ctx *c, const struct study_workload *w, enum zorua_mechanism m)
{
	struct zorua_point points[ZORUA_POINTS];
	size_t all = zorua_points(c, w, points), n = 0;
	double sum = 0;

	for (size_t i = 0; i < all; i++) {
		double gain = zorua_time(c, w, &points[i], FERMI, CTA) /
			      zorua_time(c, w, &points[i], FERMI, m) - 1;

		if (isnan(gain))
			continue;
		sum += gain;
		n++;
	}
	return sum / (double)n;
}

/*
 * How much faster than the baseline's best one the best specification is, of those with the most
 * registers of the range. NONE: the program has no range of registers.
 */
static double most_registers_gain(struct study_ctx *c, const struct study_workload *w,
				  enum zorua_mechanism m)
{
	struct zorua_point points[ZORUA_POINTS];
	size_t n = zorua_points(c, w, points);
	unsigned int most = points[n - 1].registers;
	double base = NONE, best = NONE;

	for (size_t i = 0; i < n; i++) {
		if (!most || points[i].registers != most)
			continue;
		base = fmin(base, zorua_time(c, w, &points[i], FERMI, CTA));
		best = fmin(best, zorua_time(c, w, &points[i], FERMI, m));
	}
	return 100 * (base / best - 1);
}

void zorua_show_best(struct study_ctx *c)
{
	struct study_table *t = study_table(c, "best",
		"per cent faster than the baseline: the best specification, the mean of all (section 6.2), and "
		"the best of those with the most registers",
		1, false);

	study_column(t, "best wlm", NONE);
	study_column(t, "best zorua", 12.8);
	study_column(t, "all wlm", NONE);
	study_column(t, "all zorua", 25.2);
	study_column(t, "best zorua, most registers", NONE);
	FOR_WORKLOADS(c, w) {
		double base = zorua_best(c, w, FERMI, CTA);
		size_t row;

		if (!zorua_program(w->name))
			continue;
		row = study_row_add(t, w->name);
		for (int m = WLM; m < ZORUA_MECHANISMS; m++) {
			size_t k = (size_t)(m - WLM);

			study_cell(t, row, k, 100 * (base / zorua_best(c, w, FERMI, m) - 1));
			study_cell(t, row, 2 + k, 100 * mean_gain(c, w, m));
		}
		study_cell(t, row, 4, most_registers_gain(c, w, ZORUA));
	}
	zorua_mean_row(t);
}

/* --- schedulable warps (figure 19) --------------------------------------------------- */

/* The mean of a number of the report over all specifications. */
static double mean_number(struct study_ctx *c, const struct study_workload *w,
			  enum zorua_mechanism m, const char *path)
{
	struct zorua_point points[ZORUA_POINTS];
	size_t all = zorua_points(c, w, points), n = 0;
	double sum = 0;

	for (size_t i = 0; i < all; i++) {
		double v = run_number(zorua_run(c, w, &points[i], FERMI, m), path);

		if (isnan(v))
			continue;
		sum += v;
		n++;
	}
	return sum / (double)n;
}

void zorua_show_schedulable(struct study_ctx *c)
{
	struct study_table *t = study_table(c, "schedulable",
		"schedulable warps of an SM, mean of the specifications, and per cent more than the "
		"baseline's (figure 19)", 1, false);
	size_t more;

	mechanism_columns(t, nothing);
	more = study_column(t, "wlm, % more", 8.1);
	study_column(t, "zorua, % more", 32.8);
	FOR_WORKLOADS(c, w) {
		double base = mean_number(c, w, CTA, "warps.schedulable");
		size_t row;

		if (!zorua_program(w->name))
			continue;
		row = study_row_add(t, w->name);
		for (int m = 0; m < ZORUA_MECHANISMS; m++) {
			double warps = mean_number(c, w, m, "warps.schedulable");

			study_cell(t, row, (size_t)m, warps);
			if (m != CTA)
				study_cell(t, row, more + (size_t)(m - WLM),
					   100 * (warps / base - 1));
		}
	}
	zorua_mean_row(t);
	study_note(t, "a schedulable warp has a slot, has not ended and waits for nothing but its operands: "
		   "not at a barrier, fence or atomic, not for a far fault or the order of accesses, not for a "
		   "phase's resources or operands in swap");
}

/* --- hit rates (figure 20) ----------------------------------------------------------- */

/* Per cent of a program's accesses that find their sets on chip; NONE: there are no accesses. */
static double hit_rate(struct study_ctx *c, const struct study_workload *w, const char *accesses,
		       const char *swapped)
{
	double all = mean_number(c, w, ZORUA, accesses);

	return all > 0 ? 100 * (1 - mean_number(c, w, ZORUA, swapped) / all) : NONE;
}

void zorua_show_hitrate(struct study_ctx *c)
{
	struct study_table *t = study_table(c, "hitrate",
		"zorua: per cent of accesses that find registers and scratchpad on chip (figure 20), and "
		"what went to swap, means of the specifications",
		2, false);
	static const struct {
		const char *name, *path;
	} counts[] = {
		{ "register sets spilled", "virtual.spilled_sets" },
		{ "scratchpad's", "virtual.scratchpad_spilled_sets" },
		{ "warps swapped", "virtual.swapped_warps" },
		{ "warps forced", "virtual.forced" },
	};

	study_column(t, "registers", 98.9);
	study_column(t, "scratchpad", 99.6);
	study_column(t, "o_thresh, %", NONE);
	for (size_t i = 0; i < ARRAY_SIZE(counts); i++)
		study_column(t, counts[i].name, NONE);
	FOR_WORKLOADS(c, w) {
		size_t row;

		if (!zorua_program(w->name))
			continue;
		row = study_row_add(t, w->name);
		study_cell(t, row, 0, hit_rate(c, w, "virtual.set_accesses",
					       "virtual.set_accesses_swapped"));
		study_cell(t, row, 1, hit_rate(c, w, "virtual.scratchpad_accesses",
					       "virtual.scratchpad_accesses_swapped"));
		study_cell(t, row, 2, 100 * mean_number(c, w, ZORUA, "virtual.o_thresh"));
		for (size_t i = 0; i < ARRAY_SIZE(counts); i++)
			study_cell(t, row, 3 + i, mean_number(c, w, ZORUA, counts[i].path));
	}
	zorua_mean_row(t);
}
