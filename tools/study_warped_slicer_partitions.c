// SPDX-License-Identifier: GPL-2.0
/*
 * The parts of the study warped-slicer that are about partitions: table III, what algorithm 1 would
 * choose if it knew each program's whole curve, and the oracle.
 */
#include <stdio.h>
#include <string.h>

#include "oracle.h"
#include "slicer/slicer.h"
#include "study_warped_slicer.h"

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

/* Both split the SMs, or both share them and no program's CTAs differ by more than one. */
static bool near(const double a[2], const double b[2])
{
	return (a[0] > 0) == (b[0] > 0) && fabs(a[0] - b[0]) <= 1 && fabs(a[1] - b[1]) <= 1;
}

/*
 * What algorithm 1 gives with the pair's curves of figure 3, each program alone up to its target,
 * where dynamic has a sample of 5K cycles; 0: the SMs are split. False: not all of it was run.
 */
static bool of_whole_curves(struct study_ctx *c, const struct slicer_set *set, double ctas[2])
{
	const uint64_t have[SLICER_RESOURCES] = {
		[SLICER_REGISTERS] = c->spec.registers, [SLICER_SHARED] = c->spec.shared_bytes,
		[SLICER_WARPS] = c->spec.warps, [SLICER_SLOTS] = c->spec.ctas,
	};
	uint64_t needs[2][SLICER_RESOURCES];
	struct slicer_curve curves[2];
	const struct slicer_curve *const both[2] = { &curves[0], &curves[1] };
	unsigned int got[2];

	for (size_t i = 0; i < 2; i++) {
		const struct cta_needs one = cta_needs_of(&c->spec, slicer_alone(c, set->w[i], ""), 0);

		curves[i].ctas = MIN(slicer_ctas(c, set->w[i]), SLICER_CTAS);
		for (unsigned int k = 0; k < curves[i].ctas; k++) {
			curves[i].at[k] = slicer_ipc(c, set->w[i], k + 1);
			if (isnan(curves[i].at[k]))
				return false;
		}
		if (!curves[i].ctas || isnan(one.registers))
			return false;
		needs[i][SLICER_REGISTERS] = (uint64_t)one.registers;
		needs[i][SLICER_SHARED] = (uint64_t)one.shared;
		needs[i][SLICER_WARPS] = (uint64_t)one.warps;
		needs[i][SLICER_SLOTS] = 1;
	}
	ctas[0] = ctas[1] = 0;
	if (slicer_fill(both, needs, 2, have, got) &&
	    !slicer_loses_too_much(both, got, 2, (unsigned int)c->spec.slicer_loss)) {
		ctas[0] = got[0];
		ctas[1] = got[1];
	}
	return true;
}

void slicer_want_partitions(struct study_ctx *c)
{
	slicer_want_pairs(c);
	slicer_want_curves(c);
}

void slicer_show_partitions(struct study_ctx *c)
{
	struct slicer_set sets[SLICER_SETS];
	size_t n = slicer_pairs(c, sets, SLICER_SETS), close = 0, known = 0, same = 0, curves = 0;
	struct study_table *t = study_table(c, "partitions",
		"CTAs an SM that dynamic, algorithm 1 with whole curves (figure 3) and even give to the first "
		"and the second program (table III); 0: the SMs are split", 0, false);
	static const char *const columns[] = {
		"dyn A", "dyn B", "curve A", "curve B", "paper A", "paper B", "even A", "even B", "paper A", "paper B",
	};

	for (size_t k = 0; k < ARRAY_SIZE(columns); k++)
		study_column(t, columns[k], NONE);
	for (size_t i = 0; i < n; i++) {
		size_t row = study_row_add(t, sets[i].name);
		const struct run *r = slicer_policy(c, &sets[i], "dynamic");
		const double ours[2] = { slicer_chosen(r, 0), slicer_chosen(r, 1) };
		double whole[2];

		for (size_t k = 0; k < 2; k++) {
			study_cell(t, row, k, ours[k]);
			study_cell(t, row, 6 + k, even_ctas(c, &sets[i], k));
		}
		if (of_whole_curves(c, &sets[i], whole)) {
			study_cell(t, row, 2, whole[0]);
			study_cell(t, row, 3, whole[1]);
			curves += !isnan(ours[0]);
			same += near(ours, whole);
		}
		for (size_t p = 0; p < ARRAY_SIZE(paper_partitions); p++) {
			const double *dynamic = paper_partitions[p].dynamic;

			if (strcmp(paper_partitions[p].name, sets[i].name))
				continue;
			for (size_t k = 0; k < 2; k++) {
				study_cell(t, row, 4 + k, dynamic[k]);
				study_cell(t, row, 8 + k, paper_partitions[p].even[k]);
			}
			if (isnan(ours[0]))
				continue;
			known++;
			close += near(ours, dynamic);
		}
	}
	study_note(t, "dynamic is within one CTA of whole curves' partition in %zu of %zu pairs (paper: "
		   "over 90%%), of the paper's partition in %zu of %zu", same, curves, close, known);
}

/* --- the oracle --------------------------------------------------------------------------- */

bool slicer_tries_all(const struct study_ctx *c)
{
	return !c->options.quick || c->options.nonly;
}

/* A partition, (0, 0): spatial, NONE: left-over; and how long the pair takes with it. */
struct choice {
	double ctas[2], time;
};

/* 8 CTAs of each at most, and two without a partition. */
#define CHOICES		66u

struct choices {
	struct choice all[CHOICES];
	size_t n, best;
};

static void add(struct choices *of, double time, double a, double b)
{
	if (isnan(time) || of->n == CHOICES)
		return;
	if (!of->n || time < of->all[of->best].time)
		of->best = of->n;
	of->all[of->n++] = (struct choice){ { a, b }, time };
}

/* Wants the runs, and is what they show when they are there. */
static struct choices choices_of(struct study_ctx *c, const struct slicer_set *set)
{
	struct choices of = { .n = 0 };

	add(&of, slicer_time(slicer_policy(c, set, "left_over"), 2), NONE, NONE);
	add(&of, slicer_time(slicer_policy(c, set, "spatial"), 2), 0, 0);
	for (unsigned int a = 1; a <= slicer_ctas(c, set->w[0]); a++)
		for (unsigned int b = 1; b <= slicer_ctas(c, set->w[1]); b++) {
			const unsigned int ctas[] = { a, b };

			if (slicer_fits(c, set, ctas, 1))
				add(&of, slicer_time(slicer_fixed(c, set, ctas), 2), a, b);
		}
	return of;
}

/* How many choices take at most 1% longer than the best, and whether one of them is near. */
static unsigned int plateau(const struct choices *of, const double ctas[2], bool *on_it)
{
	unsigned int n = 0;

	*on_it = false;
	for (size_t i = 0; i < of->n; i++) {
		if (of->all[i].time > 1.01 * of->all[of->best].time)
			continue;
		n++;
		*on_it |= near(ctas, of->all[i].ctas);
	}
	return n;
}

/* What a choice takes; NAN: it was not tried. */
static double time_with(const struct choices *of, const double ctas[2])
{
	for (size_t i = 0; i < of->n; i++) {
		const double *one = of->all[i].ctas;

		if (fabs(one[0] - ctas[0]) < 0.5 && fabs(one[1] - ctas[1]) < 0.5)
			return of->all[i].time;
	}
	return NONE;
}

/*
 * Programs in an SM share its instruction cache, which no curve of a program alone shows. With one
 * of 32 KB, over left-over there.
 */
static double larger_l1i(struct study_ctx *c, const struct slicer_set *set, int policy)
{
	const struct run *runs[SLICER_POLICIES] = { NULL };
	const int wanted[] = { LEFT_OVER, policy };

	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
		char more[64];

		snprintf(more, sizeof(more), "--slice %s --set l1i.sets=64", slicer_policies[wanted[i]]);
		runs[wanted[i]] = slicer_beside(c, set, more);
	}
	return slicer_time(runs[LEFT_OVER], 2) / slicer_time(runs[policy], 2);
}

static void want_all(struct study_ctx *c, const struct slicer_set *set)
{
	slicer_policy(c, set, "dynamic");
	choices_of(c, set);
	for (int policy = SPATIAL; policy <= DYNAMIC; policy++)
		larger_l1i(c, set, policy);
}

void slicer_want_oracle(struct study_ctx *c)
{
	struct slicer_set sets[SLICER_SETS];
	size_t n = slicer_pairs(c, sets, SLICER_SETS);

	for (size_t i = 0; slicer_tries_all(c) && i < n; i++)
		want_all(c, &sets[i]);
}

void slicer_show_oracle(struct study_ctx *c)
{
	struct slicer_set sets[SLICER_SETS];
	size_t n = slicer_pairs(c, sets, SLICER_SETS), close = 0, flat = 0, known = 0;
	struct study_table *t;

	if (!slicer_tries_all(c))
		return;
	t = study_table(c, "oracle", "every partition, left-over and spatial tried: combined IPC over "
			"left-over's, and CTAs (0: spatial, -: left-over)", 3, true);
	study_column(t, "oracle", NONE);
	study_column(t, "dynamic", 1.23);
	study_column(t, "dyn/oracle", NONE);
	study_column_counts(t, "best A");
	study_column_counts(t, "best B");
	study_column_counts(t, "dyn A");
	study_column_counts(t, "dyn B");
	study_column_counts(t, "within 1%");
	study_column(t, "from start", NONE);
	study_column_counts(t, "decided at");
	study_column(t, "L1I dyn", NONE);
	study_column(t, "L1I spatial", NONE);
	study_column(t, "L1I even", NONE);
	for (size_t i = 0; i < n; i++) {
		size_t row = study_row_add(t, sets[i].name);
		struct run *r = slicer_policy(c, &sets[i], "dynamic");
		double base = slicer_time(slicer_policy(c, &sets[i], "left_over"), 2);
		const double ours[2] = { slicer_chosen(r, 0), slicer_chosen(r, 1) };
		const struct choices of = choices_of(c, &sets[i]);
		const struct choice *best = &of.all[of.best];
		bool on_it;

		if (!of.n || isnan(ours[0]))
			continue;
		study_cell(t, row, 0, base / best->time);
		study_cell(t, row, 1, base / slicer_time(r, 2));
		study_cell(t, row, 2, best->time / slicer_time(r, 2));
		for (size_t k = 0; k < 2; k++) {
			study_cell(t, row, 3 + k, best->ctas[k]);
			study_cell(t, row, 5 + k, ours[k]);
		}
		study_cell(t, row, 7, plateau(&of, ours, &on_it));
		study_cell(t, row, 8, base / time_with(&of, ours));
		study_cell(t, row, 9, run_number(r, "dispatch.partitions.0.cycle"));
		study_cell(t, row, 10, larger_l1i(c, &sets[i], DYNAMIC));
		study_cell(t, row, 11, larger_l1i(c, &sets[i], SPATIAL));
		study_cell(t, row, 12, larger_l1i(c, &sets[i], EVEN));
		known++;
		close += near(ours, best->ctas);
		flat += on_it;
	}
	study_note(t, "dynamic is within one CTA of the oracle's partition in %zu of %zu pairs, of one that "
		   "takes at most 1%% longer (within 1%% counts them) in %zu; from start: dynamic's partition without its samples; L1I: with an instruction cache of 32 KB, "
		   "over left-over there", close, known, flat);
}
