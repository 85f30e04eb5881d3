// SPDX-License-Identifier: GPL-2.0
/*
 * The parts of the study warped-slicer in which programs run side by side: figures 6, 8, 9 and 10
 * and section V-H. Which partitions are chosen and which are best is in
 * study_warped_slicer_partitions.c.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "oracle.h"
#include "study_warped_slicer.h"

const char *const slicer_policies[] = { "left_over", "spatial", "even", "dynamic" };

struct run *slicer_policy(struct study_ctx *c, const struct slicer_set *set, const char *policy)
{
	char more[64];

	snprintf(more, sizeof(more), "--slice %s", policy);
	return slicer_beside(c, set, more);
}

struct run *slicer_fixed(struct study_ctx *c, const struct slicer_set *set,
			 const unsigned int *ctas)
{
	char more[128];
	int n = snprintf(more, sizeof(more), "--slice fixed --set slicer.fixed=");

	for (size_t i = 0; i < set->n; i++)
		n += snprintf(more + n, sizeof(more) - (size_t)n, "%s%u", i ? "," : "", ctas[i]);
	return slicer_beside(c, set, more);
}

bool slicer_fits(struct study_ctx *c, const struct slicer_set *set, const unsigned int *ctas,
		 unsigned int part)
{
	struct cta_needs needs[SLICER_SET];

	for (size_t i = 0; i < set->n; i++)
		needs[i] = cta_needs_of(&c->spec, slicer_alone(c, set->w[i], ""), 0);
	return ctas_fit(&c->spec, needs, ctas, set->n, part);
}

/* --- figure 6 ------------------------------------------------------------------------ */

static void for_pairs(struct study_ctx *c,
		      void (*each)(struct study_ctx *c, const struct slicer_set *set))
{
	struct slicer_set sets[SLICER_SETS];
	size_t n = slicer_pairs(c, sets, SLICER_SETS);

	for (size_t i = 0; i < n; i++)
		each(c, &sets[i]);
}

static void want_policies(struct study_ctx *c, const struct slicer_set *set)
{
	for (size_t k = 0; k < ARRAY_SIZE(slicer_policies); k++)
		slicer_policy(c, set, slicer_policies[k]);
}

void slicer_want_pairs(struct study_ctx *c)
{
	for_pairs(c, want_policies);
}

/*
 * All execute the same instructions, so that combined IPC (their sum over the time until the last
 * has reached its target) is one over that time.
 */
static double over_left_over(struct study_ctx *c, const struct slicer_set *set,
			     const char *policy)
{
	const struct run *run = slicer_policy(c, set, policy);

	return slicer_time(slicer_policy(c, set, "left_over"), set->n) / slicer_time(run, set->n);
}

/* The programs one after the other, over left-over. */
static double sequential(struct study_ctx *c, const struct slicer_set *set)
{
	double sum = 0;

	for (size_t i = 0; i < set->n; i++)
		sum += slicer_reached(slicer_alone(c, set->w[i], ""), 0);
	return slicer_time(slicer_policy(c, set, "left_over"), set->n) / sum;
}

/* A group's geometric mean of a column, the text of it. */
static void group_means(char *text, size_t size, const struct study_table *t,
			const struct slicer_set *sets, size_t n, size_t column)
{
	static const char *const names[] = { "compute+memory", "compute+compute", "compute+cache" };
	static const enum slicer_type order[] = { CACHE, MEMORY, COMPUTE };

	text[0] = '\0';
	for (size_t g = 0; g < ARRAY_SIZE(order); g++) {
		double sum = 0;
		size_t of = 0;

		for (size_t i = 0; i < n; i++) {
			double v = t->cells[i * t->ncolumns + column];

			if (sets[i].p[1]->type != order[g] || isnan(v))
				continue;
			sum += log(v);
			of++;
		}
		if (of)
			snprintf(text + strlen(text), size - strlen(text), "%s%s %.2f", *text ? ", " : "",
				 names[order[g]], exp(sum / (double)of));
	}
}

void slicer_show_pairs(struct study_ctx *c)
{
	struct slicer_set sets[SLICER_SETS];
	size_t n = slicer_pairs(c, sets, SLICER_SETS), alone;
	struct study_table *t = study_table(c, "pairs",
		"two programs (figure 6): combined IPC over left-over's", 3, true);
	/* +23% over left-over, 14% over even, 17% over spatial; left-over 3.2% over sequential. */
	static const double paper[] = { 1, 1.23 / 1.17, 1.23 / 1.14, 1.23 };
	char groups[160];

	for (size_t k = 1; k < ARRAY_SIZE(slicer_policies); k++)
		study_column(t, slicer_policies[k], paper[k]);
	alone = study_column(t, "sequential", 1 / 1.032);
	for (size_t i = 0; i < n; i++) {
		size_t row = study_row_add(t, sets[i].name);

		for (size_t k = 1; k < ARRAY_SIZE(slicer_policies); k++)
			study_cell(t, row, k - 1,
				   over_left_over(c, &sets[i], slicer_policies[k]));
		study_cell(t, row, alone, sequential(c, &sets[i]));
	}
	group_means(groups, sizeof(groups), t, sets, n, DYNAMIC - 1);
	study_note(t, "%zu pairs of the paper's 30; dynamic by group: %s", n, groups);
	study_bars(c, t, FIGURE_BARS, "combined IPC over left-over's", false);
}

/* --- figure 9 ---------------------------------------------------------------------------- */

/* The geometric mean over the sets of what a policy has over what another has. */
static double gain(struct study_ctx *c, const struct slicer_set *sets, size_t n, const char *policy,
		   const char *base,
		   double (*metric)(struct study_ctx *c, const struct slicer_set *set,
				    const struct run *run))
{
	double sum = 0;
	size_t of = 0;

	for (size_t i = 0; i < n; i++) {
		double v = metric(c, &sets[i], slicer_policy(c, &sets[i], policy)) /
			   metric(c, &sets[i], slicer_policy(c, &sets[i], base));

		if (isnan(v) || v <= 0)
			continue;
		sum += log(v);
		of++;
	}
	return of ? exp(sum / (double)of) : NONE;
}

void slicer_show_fairness(struct study_ctx *c)
{
	struct slicer_set sets[SLICER_SETS];
	size_t n = slicer_pairs(c, sets, SLICER_SETS);
	struct study_table *t = study_table(c, "fairness",
		"two programs (figure 9), geometric means: the smallest speed-up over alone, over left-over's; "
		"ANTT", 3, false);
	/* +26% over left-over and 14% over even (the abstract, section V-F). */
	static const double paper[] = { 1, NONE, 1.26 / 1.14, 1.26 };
	size_t fairness, antt;

	for (size_t k = 0; k < ARRAY_SIZE(slicer_policies); k++)
		study_column(t, slicer_policies[k], paper[k]);
	fairness = study_row_add(t, "fairness");
	antt = study_row_add(t, "ANTT over left-over");
	for (size_t k = 0; k < ARRAY_SIZE(slicer_policies); k++) {
		study_cell(t, fairness, k, gain(c, sets, n, slicer_policies[k], "left_over", slicer_fairness));
		study_cell(t, antt, k, gain(c, sets, n, slicer_policies[k], "left_over", slicer_antt));
	}
	study_note(t, "the paper's numbers are fairness; less ANTT is better, dynamic has %.0f%% less than "
		   "even", 100 * (1 - gain(c, sets, n, "dynamic", "even", slicer_antt)));
}

/* --- figure 8 ------------------------------------------------------------------------------ */

/* Dynamic that never splits the SMs: three kernels may lose all that they have. */
static struct run *without_limit(struct study_ctx *c, const struct slicer_set *set)
{
	return slicer_beside(c, set, "--slice dynamic --set slicer.loss=300");
}

void slicer_want_triples(struct study_ctx *c)
{
	struct slicer_set sets[SLICER_SETS];
	size_t n = slicer_triples(c, sets, SLICER_SETS);

	for (size_t i = 0; i < n; i++) {
		want_policies(c, &sets[i]);
		without_limit(c, &sets[i]);
	}
}

void slicer_show_triples(struct study_ctx *c)
{
	struct slicer_set sets[SLICER_SETS];
	size_t n = slicer_triples(c, sets, SLICER_SETS);
	struct study_table *t = study_table(c, "triples",
		"three programs (figure 8): combined IPC over left-over's", 3, true);
	size_t unlimited;

	for (size_t k = 1; k < ARRAY_SIZE(slicer_policies); k++)
		study_column(t, slicer_policies[k], NONE);
	unlimited = study_column(t, "no limit", NONE);
	for (size_t i = 0; i < n; i++) {
		size_t row = study_row_add(t, sets[i].name);

		study_cell(t, row, unlimited,
			   slicer_time(slicer_policy(c, &sets[i], "left_over"), sets[i].n) /
			   slicer_time(without_limit(c, &sets[i]), sets[i].n));
		for (size_t k = 1; k < ARRAY_SIZE(slicer_policies); k++)
			study_cell(t, row, k - 1,
				   over_left_over(c, &sets[i], slicer_policies[k]));
	}
	study_note(t, "no limit: dynamic never splits the SMs (slicer.loss=300); dynamic over even %.2f "
		   "(paper 1.21), its fairness %.2f (paper 1.23), its ANTT %.2f (paper 0.85)",
		   study_geomean(t, DYNAMIC - 1) / study_geomean(t, EVEN - 1),
		   gain(c, sets, n, "dynamic", "even", slicer_fairness),
		   gain(c, sets, n, "dynamic", "even", slicer_antt));
	study_bars(c, t, FIGURE_BARS, "combined IPC over left-over's", false);
}

/* --- figure 10 and section V-H ----------------------------------------------------------------- */

#define LARGER_SM	"sm.registers=65536 --set sm.shared=96K --set sm.ctas=32 --set sm.warps=64"

/* The changes, for dynamic and for left-over; and the paper's words on dynamic. */
static const struct {
	const char *name, *set;
	bool base;		/* compared with left-over under the same setting, else with dynamic */
	double paper;
} settings[] = {
	{ "sample 10K", "slicer.sample=10000", false, 1 },
	{ "sample CTA", "slicer.whole=1", false, 1 }, { "delay 1K", "slicer.delay=1000", false, 1 },
	{ "delay 5K", "slicer.delay=5000", false, 1 }, { "delay 10K", "slicer.delay=10000", false, 1 },
	{ "eq. 4", "slicer.scale=printed", false, NONE }, { "no scale", "slicer.scale=off", false, NONE },
	{ "lrr", "sm.scheduler=lrr", true, 1.23 },
	{ "larger SM", LARGER_SM, true, 1.26 },
	{ "larger lrr", LARGER_SM " --set sm.scheduler=lrr", true, NONE },
};

/* Changed in this way, under dynamic or left-over. */
static struct run *changed(struct study_ctx *c, const struct slicer_set *set, size_t k, bool base)
{
	char more[256];

	snprintf(more, sizeof(more), "--slice %s --set %s", base ? "left_over" : "dynamic",
		 settings[k].set);
	return slicer_beside(c, set, more);
}

/* A whole study with --quick has every fifth pair: no program is in all of them. --only takes all. */
static size_t sensitivity_pairs(struct study_ctx *c, struct slicer_set *sets)
{
	size_t n = slicer_pairs(c, sets, SLICER_SETS), kept = 0;

	for (size_t i = 0; i < n; i++)
		if (slicer_tries_all(c) || i % 5 == 0)
			sets[kept++] = sets[i];
	return kept;
}

void slicer_want_sensitivity(struct study_ctx *c)
{
	struct slicer_set sets[SLICER_SETS];
	size_t n = sensitivity_pairs(c, sets);

	for (size_t i = 0; i < n; i++) {
		slicer_policy(c, &sets[i], "dynamic");
		for (size_t k = 0; k < ARRAY_SIZE(settings); k++) {
			changed(c, &sets[i], k, false);
			if (settings[k].base)
				changed(c, &sets[i], k, true);
		}
	}
}

void slicer_show_sensitivity(struct study_ctx *c)
{
	struct slicer_set sets[SLICER_SETS];
	size_t n = sensitivity_pairs(c, sets);
	struct study_table *t = study_table(c, "sensitivity",
		"dynamic with a longer sample, a delay and other scales, over itself; with another scheduler "
		"and a larger SM, over left-over there (figure 10, section V-H)", 3, true);

	for (size_t k = 0; k < ARRAY_SIZE(settings); k++)
		study_column(t, settings[k].name, settings[k].paper);
	for (size_t i = 0; i < n; i++) {
		size_t row = study_row_add(t, sets[i].name);

		for (size_t k = 0; k < ARRAY_SIZE(settings); k++) {
			const struct run *base = settings[k].base ? changed(c, &sets[i], k, true) :
						 slicer_policy(c, &sets[i], "dynamic");

			study_cell(t, row, k, slicer_time(base, 2) /
					      slicer_time(changed(c, &sets[i], k, false), 2));
		}
	}
	study_note(t, "paper: at most 2%% with longer samples, less than 1.5%% with a delay");
}
