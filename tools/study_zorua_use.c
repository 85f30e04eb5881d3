// SPDX-License-Identifier: GPL-2.0
/*
 * The parts of the study zorua that run one specification of each program, the fastest without
 * Zorua: how much of what CTAs hold is accessed at all (figure 6); and what the paper does not
 * have: Zorua under demand paging, with Virtual Thread's rule for thread slots, and with more
 * virtual warps and CTAs.
 */
#include <stdio.h>
#include <string.h>

#include "study_zorua.h"

/* The fastest of each program's specifications under `cta` with --quick (zorua, cliffs). */
static const struct {
	const char *name;
	struct zorua_point point;
} tuned[] = {
	{ "bh", { 44, 512, 0 } }, { "dct", { 20, 256, 0 } }, { "mst", { 44, 256, 0 } },
	{ "reduce", { 16, 256, 0 } }, { "nqueens", { 0, 96, 0 } }, { "scan", { 24, 256, 0 } },
	{ "scalarprod", { 0, 128, 2048 } }, { "sssp", { 36, 640, 0 } },
};

const struct zorua_point *zorua_tuned(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(tuned); i++)
		if (!strcmp(tuned[i].name, name))
			return &tuned[i].point;
	return NULL;
}

/* --- figure 6 ------------------------------------------------------------------------- */

static const unsigned int epochs[] = { 500, 1000, 2000, 4000 };

/* A run of a program with epochs of this many cycles. */
static struct run *use_run(struct study_ctx *c, const struct study_workload *w, unsigned int epoch)
{
	char words[48];

	snprintf(words, sizeof(words), " --set sm.activity=%u", epoch);
	return zorua_one(c, w, zorua_tuned(w->name), CTA, "off", words);
}

void zorua_want_use(struct study_ctx *c)
{
	FOR_WORKLOADS(c, w)
		for (size_t e = 0; zorua_tuned(w->name) && e < ARRAY_SIZE(epochs); e++)
			use_run(c, w, epochs[e]);
}

static void show_use(struct study_ctx *c, const char *name, const char *title, const char *path,
		     double first, double last)
{
	struct study_table *t = study_table(c, name, title, 1, false);
	char column[32];

	for (size_t e = 0; e < ARRAY_SIZE(epochs); e++) {
		snprintf(column, sizeof(column), "%u cycles", epochs[e]);
		study_column(t, column, !e ? first : e + 1 == ARRAY_SIZE(epochs) ? last : NONE);
	}
	FOR_WORKLOADS(c, w) {
		size_t row;

		if (!zorua_tuned(w->name))
			continue;
		row = study_row_add(t, w->name);
		for (size_t e = 0; e < ARRAY_SIZE(epochs); e++)
			study_cell(t, row, e, 100 * run_number(use_run(c, w, epochs[e]), path));
	}
	zorua_mean_row(t);
}

void zorua_show_use(struct study_ctx *c)
{
	show_use(c, "use-shared", "per cent of the scratchpad that CTAs hold that is accessed in an epoch "
		 "(figure 6a; the paper's last is below 50)", "activity.shared_used", 12, 50);
	show_use(c, "use-registers", "per cent of the registers that CTAs hold that are accessed in an "
		 "epoch (figure 6b; the paper's last is below 70)", "activity.registers_used", 37, 70);
}

/* --- demand paging ----------------------------------------------------------------------- */

static const struct {
	const char *name, *words;
} faults[] = {
	{ "far faults are c_mem", "" },
	{ "they are neither", " --set zorua.faults=neither" },
};

void zorua_want_paging(struct study_ctx *c)
{
	FOR_WORKLOADS(c, w) {
		const struct zorua_point *p = zorua_tuned(w->name);

		if (!p)
			continue;
		zorua_one(c, w, p, CTA, "on", "");
		for (size_t f = 0; f < ARRAY_SIZE(faults); f++)
			zorua_one(c, w, p, ZORUA, "on", faults[f].words);
	}
}

void zorua_show_paging(struct study_ctx *c)
{
	struct study_table *t = study_table(c, "paging",
		"with demand paging: time over the baseline's, and o_thresh in per cent", 3, false);

	for (size_t f = 0; f < ARRAY_SIZE(faults); f++) {
		study_column(t, faults[f].name, NONE);
		study_column(t, "o_thresh", NONE);
	}
	FOR_WORKLOADS(c, w) {
		const struct zorua_point *p = zorua_tuned(w->name);
		double base;
		size_t row;

		if (!p)
			continue;
		row = study_row_add(t, w->name);
		base = run_number(zorua_one(c, w, p, CTA, "on", ""), "totals.cycles");
		for (size_t f = 0; f < ARRAY_SIZE(faults); f++) {
			struct run *r = zorua_one(c, w, p, ZORUA, "on", faults[f].words);

			study_cell(t, row, 2 * f, run_number(r, "totals.cycles") / base);
			study_cell(t, row, 2 * f + 1, 100 * run_number(r, "virtual.o_thresh"));
		}
	}
	zorua_mean_row(t);
	study_note(t, "the specifications that are fastest with --quick, without Zorua and without paging");
}

/* --- Virtual Thread's slots ---------------------------------------------------------------- */

#define FITS	" --set zorua.ctas=fits"

static const struct {
	const char *name, *words;
} slots[] = {
	{ "zorua", "" }, { "slots vt", " --set zorua.slots=vt" }, { "ctas fits", FITS },
	{ "both", " --set zorua.slots=vt" FITS },
};

void zorua_want_slots(struct study_ctx *c)
{
	FOR_WORKLOADS(c, w) {
		const struct zorua_point *p = zorua_tuned(w->name);

		if (!p)
			continue;
		zorua_run(c, w, p, FERMI, CTA);
		for (size_t i = 0; i < ARRAY_SIZE(slots); i++)
			zorua_variant(c, w, p, slots[i].words);
	}
}

void zorua_show_slots(struct study_ctx *c)
{
	struct study_table *t = study_table(c, "slots",
		"thread slots as Virtual Thread hands them over: time over the baseline's, schedulable warps of "
		"an SM, and warps that lent their slots", 2, false);
	size_t warps = ARRAY_SIZE(slots), lent = warps + ARRAY_SIZE(slots) + 1;

	for (size_t i = 0; i < ARRAY_SIZE(slots); i++)
		study_column(t, slots[i].name, NONE);
	study_column(t, "warps: cta", NONE);
	for (size_t i = 0; i < ARRAY_SIZE(slots); i++)
		study_column(t, slots[i].name, NONE);
	study_column(t, "lent: slots vt", NONE);
	study_column(t, "both", NONE);
	FOR_WORKLOADS(c, w) {
		const struct zorua_point *p = zorua_tuned(w->name);
		size_t row;

		if (!p)
			continue;
		row = study_row_add(t, w->name);
		study_cell(t, row, warps, run_number(zorua_run(c, w, p, FERMI, CTA),
						     "warps.schedulable"));
		for (size_t i = 0; i < ARRAY_SIZE(slots); i++) {
			struct run *r = zorua_variant(c, w, p, slots[i].words);

			study_cell(t, row, i, run_number(r, "totals.cycles") /
					      zorua_time(c, w, p, FERMI, CTA));
			study_cell(t, row, warps + 1 + i, run_number(r, "warps.schedulable"));
			/* The second and the last. */
			if (i % 2)
				study_cell(t, row, lent + i / 2,
					   run_number(r, "virtual.swapped_warps"));
		}
	}
	zorua_mean_row(t);
	study_note(t, "the specifications that are fastest with --quick, without Zorua; fits: an SM takes as "
		   "many CTAs as its registers and scratchpad hold");
}

/* --- virtual warps and CTAs ------------------------------------------------------------------ */

/* The paper's 64 warps and 16 CTAs are no more than Kepler and Maxwell have slots for. */
static const char *const numbers[] = { "", " --set sm.virtual_warps=128 --set sm.virtual_ctas=32" };
static const enum zorua_gpu numbered[] = { FERMI, KEPLER };

void zorua_want_numbers(struct study_ctx *c)
{
	FOR_WORKLOADS(c, w) {
		const struct zorua_point *p = zorua_tuned(w->name);

		for (size_t g = 0; p && g < ARRAY_SIZE(numbered); g++) {
			zorua_run(c, w, p, numbered[g], CTA);
			for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
				zorua_on(c, w, p, numbered[g], numbers[i]);
		}
	}
}

/* The cells of one GPU: times over the baseline's, and warps, as published and with more. */
static void show_numbers(struct study_ctx *c, struct study_table *t, size_t row, size_t g,
			 const struct study_workload *w)
{
	const struct zorua_point *p = zorua_tuned(w->name);
	size_t first = 2 * ARRAY_SIZE(numbers) * g;

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		struct run *r = zorua_on(c, w, p, numbered[g], numbers[i]);

		study_cell(t, row, first + i, run_number(r, "totals.cycles") /
					      zorua_time(c, w, p, numbered[g], CTA));
		study_cell(t, row, first + ARRAY_SIZE(numbers) + i,
			   run_number(r, "warps.schedulable"));
	}
}

void zorua_show_numbers(struct study_ctx *c)
{
	static const char *const columns[] = { "64 and 16", "128 and 32", "warps of 64 and 16",
					       "warps of 128 and 32" };
	struct study_table *t = study_table(c, "numbers",
		"virtual warps and CTAs of an SM, the paper's 64 and 16 and more: time over the baseline's, and "
		"schedulable warps", 2, false);
	char column[48];

	for (size_t g = 0; g < ARRAY_SIZE(numbered); g++)
		for (size_t i = 0; i < ARRAY_SIZE(columns); i++) {
			snprintf(column, sizeof(column), "%s: %s", zorua_gpus[numbered[g]], columns[i]);
			study_column(t, column, NONE);
		}
	FOR_WORKLOADS(c, w) {
		size_t row;

		if (!zorua_tuned(w->name))
			continue;
		row = study_row_add(t, w->name);
		for (size_t g = 0; g < ARRAY_SIZE(numbered); g++)
			show_numbers(c, t, row, g, w);
	}
	zorua_mean_row(t);
	study_note(t, "the specifications that are fastest with --quick on Fermi, without Zorua; Fermi has slots for 48 "
		   "warps and 8 CTAs, Kepler for 64 and 16");
}
