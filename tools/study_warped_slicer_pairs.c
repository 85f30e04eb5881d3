// SPDX-License-Identifier: GPL-2.0
/*
 * The parts of the study warped-slicer in which programs run side by side: figures 6, 8, 9 and 10,
 * table III, section V-H, and the oracle.
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

/* --- table III ------------------------------------------------------------------------ */

static const struct {
	const char *name;
	double dynamic[2], even[2];	/* 0: spatial */
} paper_partitions[] = {
	{ "DXT_MVP", { 7, 1 }, { 4, 4 } }, { "DXT_NN", { 4, 4 }, { 4, 4 } },
	{ "HOT_MVP", { 3, 1 }, { 1, 4 } }, { "HOT_NN", { 2, 4 }, { 1, 4 } },
	{ "IMG_MVP", { 7, 1 }, { 4, 4 } }, { "IMG_NN", { 3, 5 }, { 4, 4 } },
	{ "MM_MVP", { 5, 1 }, { 2, 4 } }, { "MM_NN", { 3, 5 }, { 2, 4 } },
	{ "DXT_BFS", { 6, 2 }, { 4, 1 } }, { "DXT_BLK", { 4, 4 }, { 4, 4 } },
	{ "DXT_KNN", { 4, 4 }, { 4, 3 } }, { "DXT_LBM", { 5, 3 }, { 4, 3 } },
	{ "HOT_BFS", { 0, 0 }, { 1, 1 } }, { "HOT_BLK", { 2, 4 }, { 1, 4 } },
	{ "HOT_KNN", { 2, 4 }, { 1, 3 } }, { "HOT_LBM", { 3, 1 }, { 1, 3 } },
	{ "IMG_BFS", { 6, 2 }, { 4, 1 } }, { "IMG_BLK", { 5, 3 }, { 4, 4 } },
	{ "IMG_KNN", { 4, 4 }, { 4, 3 } }, { "IMG_LBM", { 7, 1 }, { 4, 3 } },
	{ "MM_BFS", { 0, 0 }, { 2, 1 } }, { "MM_BLK", { 3, 4 }, { 2, 4 } },
	{ "MM_KNN", { 4, 4 }, { 2, 3 } }, { "MM_LBM", { 5, 1 }, { 2, 3 } },
	{ "DXT_IMG", { 4, 4 }, { 4, 4 } }, { "HOT_DXT", { 2, 6 }, { 1, 4 } },
	{ "HOT_IMG", { 2, 6 }, { 1, 4 } }, { "MM_DXT", { 3, 5 }, { 2, 4 } },
	{ "MM_HOT", { 2, 2 }, { 2, 1 } }, { "MM_IMG", { 3, 5 }, { 2, 4 } },
};

/* As many of the i-th program's CTAs as fit a half of every resource. */
static unsigned int even_ctas(struct study_ctx *c, const struct slicer_set *set, size_t i)
{
	unsigned int ctas[SLICER_SET] = { 0 };

	while (ctas[i] < c->spec.ctas) {
		ctas[i]++;
		if (!slicer_fits(c, set, ctas, (unsigned int)set->n))
			return ctas[i] - 1;
	}
	return ctas[i];
}

void slicer_show_partitions(struct study_ctx *c)
{
	struct slicer_set sets[SLICER_SETS];
	size_t n = slicer_pairs(c, sets, SLICER_SETS), near = 0, known = 0;
	struct study_table *t = study_table(c, "partitions",
		"CTAs an SM that dynamic and even give to the first and the second program (table III); 0: "
		"the SMs are split", 0, false);
	static const char *const columns[] = {
		"dyn A", "dyn B", "paper A", "paper B", "even A", "even B", "paper A", "paper B",
	};

	for (size_t k = 0; k < ARRAY_SIZE(columns); k++)
		study_column(t, columns[k], NONE);
	for (size_t i = 0; i < n; i++) {
		size_t row = study_row_add(t, sets[i].name);
		const struct run *r = slicer_policy(c, &sets[i], "dynamic");
		double ours[2] = { slicer_chosen(r, 0), slicer_chosen(r, 1) };

		for (size_t k = 0; k < 2; k++) {
			study_cell(t, row, k, ours[k]);
			study_cell(t, row, 4 + k, even_ctas(c, &sets[i], k));
		}
		for (size_t p = 0; p < ARRAY_SIZE(paper_partitions); p++) {
			const double *dynamic = paper_partitions[p].dynamic;

			if (strcmp(paper_partitions[p].name, sets[i].name))
				continue;
			for (size_t k = 0; k < 2; k++) {
				study_cell(t, row, 2 + k, dynamic[k]);
				study_cell(t, row, 6 + k, paper_partitions[p].even[k]);
			}
			if (isnan(ours[0]))
				continue;
			known++;
			near += fabs(ours[0] - dynamic[0]) <= 1 && fabs(ours[1] - dynamic[1]) <= 1;
		}
	}
	study_note(t, "%zu of %zu pairs within one CTA of the paper's partition", near, known);
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

/* --- the oracle --------------------------------------------------------------------------- */

/* With --quick it is most of the time, and done only when asked for. */
static bool tries_all(const struct study_ctx *c)
{
	return !c->options.quick || c->options.nonly;
}

struct best {
	double time;
	unsigned int ctas[2];	/* 0, 0: no partition, but left-over or spatial */
};

static void better(struct best *best, double time, unsigned int a, unsigned int b)
{
	if (isnan(time) || time >= best->time)
		return;
	*best = (struct best){ time, { a, b } };
}

/* Wants the runs, and is what they show when they are there. */
static struct best best_of(struct study_ctx *c, const struct slicer_set *set)
{
	struct best best = { .time = INFINITY };

	better(&best, slicer_time(slicer_policy(c, set, "left_over"), 2), 0, 0);
	better(&best, slicer_time(slicer_policy(c, set, "spatial"), 2), 0, 0);
	for (unsigned int a = 1; a <= slicer_ctas(c, set->w[0]); a++)
		for (unsigned int b = 1; b <= slicer_ctas(c, set->w[1]); b++) {
			const unsigned int ctas[] = { a, b };

			if (slicer_fits(c, set, ctas, 1))
				better(&best, slicer_time(slicer_fixed(c, set, ctas), 2), a, b);
		}
	return best;
}

static void want_all(struct study_ctx *c, const struct slicer_set *set)
{
	slicer_policy(c, set, "dynamic");
	best_of(c, set);
}

void slicer_want_oracle(struct study_ctx *c)
{
	if (tries_all(c))
		for_pairs(c, want_all);
}

void slicer_show_oracle(struct study_ctx *c)
{
	struct slicer_set sets[SLICER_SETS];
	size_t n = slicer_pairs(c, sets, SLICER_SETS), near = 0, known = 0;
	struct study_table *t;

	if (!tries_all(c))
		return;
	t = study_table(c, "oracle", "every partition, left-over and spatial tried: combined IPC over "
			"left-over's, and CTAs (0: no partition)", 3, true);
	study_column(t, "oracle", NONE);
	study_column(t, "dynamic", 1.23);
	study_column(t, "dyn/oracle", NONE);
	study_column(t, "best A", NONE);
	study_column(t, "best B", NONE);
	study_column(t, "dyn A", NONE);
	study_column(t, "dyn B", NONE);
	for (size_t i = 0; i < n; i++) {
		size_t row = study_row_add(t, sets[i].name);
		struct run *r = slicer_policy(c, &sets[i], "dynamic");
		double base = slicer_time(slicer_policy(c, &sets[i], "left_over"), 2);
		struct best best = best_of(c, &sets[i]);
		double a = slicer_chosen(r, 0), b = slicer_chosen(r, 1);

		study_cell(t, row, 0, base / best.time);
		study_cell(t, row, 1, base / slicer_time(r, 2));
		study_cell(t, row, 2, best.time / slicer_time(r, 2));
		study_cell(t, row, 3, best.ctas[0]);
		study_cell(t, row, 4, best.ctas[1]);
		study_cell(t, row, 5, a);
		study_cell(t, row, 6, b);
		if (isnan(a) || isinf(best.time))
			continue;
		known++;
		near += fabs(a - best.ctas[0]) <= 1 && fabs(b - best.ctas[1]) <= 1;
	}
	study_note(t, "%zu of %zu pairs within one CTA of the oracle's partition; paper: over 90%%", near,
		   known);
}

/* --- figure 8 ------------------------------------------------------------------------------ */

void slicer_want_triples(struct study_ctx *c)
{
	struct slicer_set sets[SLICER_SETS];
	size_t n = slicer_triples(c, sets, SLICER_SETS);

	for (size_t i = 0; i < n; i++)
		want_policies(c, &sets[i]);
}

void slicer_show_triples(struct study_ctx *c)
{
	struct slicer_set sets[SLICER_SETS];
	size_t n = slicer_triples(c, sets, SLICER_SETS);
	struct study_table *t = study_table(c, "triples",
		"three programs (figure 8): combined IPC over left-over's", 3, true);

	for (size_t k = 1; k < ARRAY_SIZE(slicer_policies); k++)
		study_column(t, slicer_policies[k], NONE);
	for (size_t i = 0; i < n; i++) {
		size_t row = study_row_add(t, sets[i].name);

		for (size_t k = 1; k < ARRAY_SIZE(slicer_policies); k++)
			study_cell(t, row, k - 1,
				   over_left_over(c, &sets[i], slicer_policies[k]));
	}
	study_note(t, "dynamic over even %.2f (paper 1.21), its fairness %.2f (paper 1.23), its ANTT %.2f "
		   "(paper 0.85)", study_geomean(t, DYNAMIC - 1) / study_geomean(t, EVEN - 1),
		   gain(c, sets, n, "dynamic", "even", slicer_fairness),
		   gain(c, sets, n, "dynamic", "even", slicer_antt));
	study_bars(c, t, FIGURE_BARS, "combined IPC over left-over's", false);
}

/* --- figure 10 and section V-H ----------------------------------------------------------------- */

/* The changes, for dynamic and for left-over; and the paper's words on dynamic. */
static const struct {
	const char *name, *set;
	bool base;		/* compared with left-over under the same setting, else with dynamic */
	double paper;
} settings[] = {
	{ "sample 10K", "slicer.sample=10000", false, 1 }, { "delay 1K", "slicer.delay=1000", false, 1 },
	{ "delay 5K", "slicer.delay=5000", false, 1 }, { "delay 10K", "slicer.delay=10000", false, 1 },
	{ "lrr", "sm.scheduler=lrr", true, 1.23 },
	{ "larger SM", "sm.registers=65536 --set sm.shared=96K --set sm.ctas=32 --set sm.warps=64", true,
	  1.26 },
};

/* Changed in this way, under dynamic or left-over. */
static struct run *changed(struct study_ctx *c, const struct slicer_set *set, size_t k, bool base)
{
	char more[256];

	snprintf(more, sizeof(more), "--slice %s --set %s", base ? "left_over" : "dynamic",
		 settings[k].set);
	return slicer_beside(c, set, more);
}

/* With --quick every fourth pair. */
static size_t sensitivity_pairs(struct study_ctx *c, struct slicer_set *sets)
{
	size_t n = slicer_pairs(c, sets, SLICER_SETS), kept = 0;

	for (size_t i = 0; i < n; i++)
		if (!c->options.quick || i % 4 == 0)
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
		"dynamic with a longer sample and a delay, over itself; with another scheduler and a larger "
		"SM, over left-over there (figure 10, section V-H)", 3, true);

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
