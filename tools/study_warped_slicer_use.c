// SPDX-License-Identifier: GPL-2.0
/*
 * The part of the study warped-slicer that is figure 7: what the programs side by side use of an
 * SM, what of their cache accesses miss, and what schedulers wait for, by policy. The runs are
 * figure 6's (study_warped_slicer_pairs.c).
 */
#include <stdio.h>

#include "study_warped_slicer.h"

/* Figure 7 has two groups: with a cache program, and with none. */
enum { WITH_CACHE, WITHOUT, GROUPS };
static const char *const groups[GROUPS] = { "compute+cache", "compute+non-cache" };

static bool in_group(const struct slicer_set *set, int group)
{
	return (set->p[1]->type == CACHE) == (group == WITH_CACHE);
}

static double part_of(const struct run *r, const char *some, const char *all)
{
	return run_number(r, some) / run_number(r, all);
}

/* --- (a) ------------------------------------------------------------------------------ */

static void show_utilization(struct study_ctx *c, const struct slicer_set *sets, size_t n)
{
	static const struct {
		const char *column, *path;
	} parts[] = {
		{ "ALU", "utilization.sp" }, { "SFU", "utilization.sfu" }, { "LS", "utilization.ldst" },
		{ "registers", "utilization.registers" }, { "shared", "utilization.shared" },
	};
	struct study_table *t = study_table(c, "use",
		"use of an SM's parts, dynamic over even (figure 7a)", 2, true);

	for (size_t k = 0; k < ARRAY_SIZE(parts); k++)
		study_column(t, parts[k].column, NONE);
	for (size_t i = 0; i < n; i++) {
		const struct run *dynamic = slicer_policy(c, &sets[i], slicer_policies[DYNAMIC]);
		const struct run *even = slicer_policy(c, &sets[i], slicer_policies[EVEN]);
		size_t row = study_row_add(t, sets[i].name);

		for (size_t k = 0; k < ARRAY_SIZE(parts); k++) {
			double base = run_number(even, parts[k].path);

			/* A part that even does not use has no ratio. */
			if (base > 0)
				study_cell(t, row, k, run_number(dynamic, parts[k].path) / base);
		}
	}
	study_note(t, "paper: over 15%% more of all of them");
}

/* --- (b) ------------------------------------------------------------------------------ */

/* A group's mean of a part of a whole, in per cent. */
static double mean(struct study_ctx *c, const struct slicer_set *sets, size_t n, int group,
		   const char *policy, const char *some, const char *all)
{
	double sum = 0;
	size_t of = 0;

	for (size_t i = 0; i < n; i++) {
		double v = part_of(slicer_policy(c, &sets[i], policy), some, all);

		if (!in_group(&sets[i], group) || isnan(v))
			continue;
		sum += 100 * v;
		of++;
	}
	return of ? sum / (double)of : NONE;
}

static void show_misses(struct study_ctx *c, const struct slicer_set *sets, size_t n)
{
	static const struct {
		const char *name, *misses, *accesses;
	} caches[] = {
		{ "L1D", "memory.l1d.read_misses", "memory.l1d.reads" },
		{ "L2", "memory.l2.read_misses", "memory.l2.reads" },
	};
	struct study_table *t = study_table(c, "misses",
		"reads that miss, per cent, means of the pairs (figure 7b)", 1, false);

	for (size_t k = 0; k < SLICER_POLICIES; k++)
		study_column(t, slicer_policies[k], NONE);
	for (int g = 0; g < GROUPS; g++)
		for (size_t m = 0; m < ARRAY_SIZE(caches); m++) {
			char name[64];
			size_t row;

			snprintf(name, sizeof(name), "%s %s", groups[g], caches[m].name);
			row = study_row_add(t, name);
			for (size_t k = 0; k < SLICER_POLICIES; k++)
				study_cell(t, row, k,
					   mean(c, sets, n, g, slicer_policies[k], caches[m].misses,
						caches[m].accesses));
		}
	study_note(t, "paper, beside a cache program: dynamic's L1 misses are 17%% below left-over's and 2%% "
		   "below even's, its L2's the highest; else left-over's L1 misses are the lowest");
}

/* --- (c) ------------------------------------------------------------------------------ */

/* The stall's share of all schedulers' cycles until the pair's time. */
static double stalled(const struct run *r, const char *why)
{
	char path[64];

	snprintf(path, sizeof(path), "stalls.%s", why);
	return run_number(r, path);
}

static void show_stalls(struct study_ctx *c, const struct slicer_set *sets, size_t n)
{
	static const struct {
		const char *column, *stall;
	} kinds[] = {
		{ "long memory", "long_latency" }, { "short RAW", "short_latency" },
		{ "exec. resource", "pipeline" }, { "i-buffer empty", "ibuffer" },
	};
	struct study_table *t = study_table(c, "waits",
		"stall cycles by policy, per cent of left-over's, means of the pairs (figure 7c)", 1,
		false);
	double dynamic = NONE, share = NONE;

	for (size_t k = 0; k < ARRAY_SIZE(kinds); k++)
		study_column(t, kinds[k].column, NONE);
	study_column(t, "all", NONE);
	study_column(t, "share of cycles", NONE);
	for (size_t p = 0; p < SLICER_POLICIES; p++) {
		size_t row = study_row_add(t, slicer_policies[p]), of = 0;
		double sums[ARRAY_SIZE(kinds)] = { 0 }, all = 0, shares = 0;

		for (size_t i = 0; i < n; i++) {
			const struct run *r = slicer_policy(c, &sets[i], slicer_policies[p]);
			const struct run *base = slicer_policy(c, &sets[i],
							       slicer_policies[LEFT_OVER]);
			double whole = 0, own = 0;

			for (size_t k = 0; k < ARRAY_SIZE(kinds); k++) {
				whole += stalled(base, kinds[k].stall);
				own += stalled(r, kinds[k].stall);
			}
			if (isnan(whole) || isnan(own) || whole <= 0)
				continue;
			for (size_t k = 0; k < ARRAY_SIZE(kinds); k++)
				sums[k] += 100 * stalled(r, kinds[k].stall) / whole;
			all += 100 * own / whole;
			shares += 100 * own / study_scheduler_cycles(r) /
				  (whole / study_scheduler_cycles(base));
			of++;
		}
		for (size_t k = 0; of && k < ARRAY_SIZE(kinds); k++)
			study_cell(t, row, k, sums[k] / (double)of);
		if (!of)
			continue;
		study_cell(t, row, ARRAY_SIZE(kinds), all / (double)of);
		study_cell(t, row, ARRAY_SIZE(kinds) + 1, shares / (double)of);
		if (p != DYNAMIC)
			continue;
		dynamic = all / (double)of;
		share = shares / (double)of;
	}
	if (!isnan(dynamic))
		study_note(t, "dynamic has %.0f%% fewer stall cycles than left-over, and their share of all "
			   "cycles is %.0f%% smaller; paper 15%%", 100 - dynamic, 100 - share);
	study_bars(c, t, FIGURE_BARS, "% of left-over's stall cycles", false);
}

void slicer_show_use(struct study_ctx *c)
{
	struct slicer_set sets[SLICER_SETS];
	size_t n = slicer_pairs(c, sets, SLICER_SETS);

	show_utilization(c, sets, n);
	show_misses(c, sets, n);
	show_stalls(c, sets, n);
}
