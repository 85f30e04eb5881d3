// SPDX-License-Identifier: GPL-2.0
/*
 * Xu et al., "Warped-Slicer: Efficient Intra-SM Slicing through Dynamic Resource Partitioning for
 * GPU Multiprogramming", ISCA'16: its runs, and what several of its parts ask of them. The parts
 * are in study_warped_slicer_alone.c (a program by itself), _pairs.c, _partitions.c and _use.c
 * (side by side) and _paging.c. Numbers are of its text and tables; what it gives only in a
 * figure's bars is no number here.
 *
 * A program's target (section II) is what it executes in the first 2M cycles by itself; with
 * --quick 200,000. It begins again when it comes to its end before that, as the
 * paper's did: 2M cycles are many launches of kernels that take some ten thousand. Warm-up and
 * sample are the paper's with --quick, too: behind 5,000 cycles caches are cold, and the curve of
 * a program that needs them is another (MVP's best count is 5 there, 2 behind 20,000).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "output.h"
#include "study_warped_slicer.h"

static const struct study_workload workloads[] = {
#define PROGRAM(abbr, name, full, quick, type, grid, block, reg, shm, alu, sfu, ls, mpki, inst) \
	{ name, full, quick },
#include "study_warped_slicer.def"
	{ NULL, NULL, NULL }
};

static const struct slicer_program programs[] = {
#define PROGRAM(abbr, name, full, quick, type, grid, block, reg, shm, alu, sfu, ls, mpki, inst) \
	{ abbr, name, type, grid, block, reg, shm, alu, sfu, ls, mpki, inst },
#include "study_warped_slicer.def"
};

const struct study_workload *slicer_workload(const struct study_ctx *c, size_t i)
{
	return i < c->options.nworkloads ? &c->options.workloads[i] : NULL;
}

const struct slicer_program *slicer_program(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(programs); i++)
		if (!strcmp(programs[i].name, name))
			return &programs[i];
	return NULL;
}

/* --- runs --------------------------------------------------------------------------- */

unsigned int slicer_cycles(const struct study_ctx *c)
{
	return c->options.quick ? 200000 : 2000000;
}

/* The workload with more operands after its own. The caller frees full, which is also quick. */
static struct study_workload with_operands(const struct study_ctx *c,
					   const struct study_workload *w, const char *more)
{
	char *text = text_of("%s %s", c->options.quick ? w->quick : w->full, more);

	return (struct study_workload){ w->name, text, text };
}

struct run *slicer_alone(struct study_ctx *c, const struct study_workload *w, const char *more)
{
	struct study_workload one;
	char operands[64];
	struct run *run;

	snprintf(operands, sizeof(operands), "until=%u repeat=10000", slicer_cycles(c));
	one = with_operands(c, w, operands);
	run = study_want(c, &one, NULL, "--paging off%s%s", *more ? " " : "", more);
	free((char *)one.full);
	return run;
}

/* One that ended before has executed all that it has. */
double slicer_target(struct study_ctx *c, const struct study_workload *w)
{
	struct run *run = slicer_alone(c, w, "");
	double n = run_number(run, "workloads.0.halted_instructions");

	return isnan(n) ? run_number(run, "workloads.0.thread_instructions") : n;
}

unsigned int slicer_ctas(struct study_ctx *c, const struct study_workload *w)
{
	double n = run_number(slicer_alone(c, w, ""), "workloads.0.launch.ctas_per_sm");

	return isnan(n) ? 0 : (unsigned int)n;
}

struct run *slicer_beside(struct study_ctx *c, const struct slicer_set *set, const char *more)
{
	struct study_workload beside[SLICER_SET];
	const struct study_workload *all[SLICER_SET];
	struct run *run;
	double target;

	for (size_t i = 0; i < set->n; i++) {
		if (isnan(slicer_target(c, set->w[i])))
			return NULL;
	}
	for (size_t i = 0; i < set->n; i++) {
		char operands[96];

		target = slicer_target(c, set->w[i]);
		snprintf(operands, sizeof(operands), "halt=%.0f repeat=10000", target);
		beside[i] = with_operands(c, set->w[i], operands);
		all[i] = &beside[i];
	}
	run = study_want_set(c, all, set->n, NULL, "--paging off%s%s", *more ? " " : "", more);
	for (size_t i = 0; i < set->n; i++)
		free((char *)beside[i].full);
	return run;
}

/* --- sets ------------------------------------------------------------------------------ */

static const struct study_workload *find(const struct study_ctx *c, const char *abbr,
					 const struct slicer_program **program)
{
	const struct study_workload *w;

	for (size_t i = 0; (w = slicer_workload(c, i)); i++) {
		*program = slicer_program(w->name);
		if (*program && !strcmp((*program)->abbr, abbr))
			return w;
	}
	return NULL;
}

/* Adds the set if the study has all its programs. */
static void add_set(const struct study_ctx *c, struct slicer_set *sets, size_t room, size_t *n,
		    const char *const *abbr, size_t members)
{
	struct slicer_set set = { .n = members };

	for (size_t i = 0; i < members; i++) {
		set.w[i] = find(c, abbr[i], &set.p[i]);
		if (!set.w[i] || *n == room)
			return;
		snprintf(set.name + strlen(set.name), sizeof(set.name) - strlen(set.name), "%s%s",
			 i ? "_" : "", abbr[i]);
	}
	sets[(*n)++] = set;
}

size_t slicer_pairs(const struct study_ctx *c, struct slicer_set *sets, size_t room)
{
	static const char *const compute[] = { "DXT", "HOT", "IMG", "MM" };
	static const char *const other[] = { "MVP", "NN", "BFS", "BLK", "KNN", "LBM" };
	static const char *const both[][2] = {
		{ "DXT", "IMG" }, { "HOT", "DXT" }, { "HOT", "IMG" }, { "MM", "DXT" },
		{ "MM", "HOT" }, { "MM", "IMG" },
	};
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(other); i++)
		for (size_t j = 0; j < ARRAY_SIZE(compute); j++)
			add_set(c, sets, room, &n, (const char *[]){ compute[j], other[i] }, 2);
	for (size_t i = 0; i < ARRAY_SIZE(both); i++)
		add_set(c, sets, room, &n, both[i], 2);
	return n;
}

/* Section V-E: one memory or cache program with two compute ones; neither BFS nor HOT. */
size_t slicer_triples(const struct study_ctx *c, struct slicer_set *sets, size_t room)
{
	static const char *const compute[][2] = {
		{ "DXT", "IMG" }, { "MM", "DXT" }, { "MM", "IMG" },
	};
	static const char *const other[] = { "MVP", "NN", "BLK", "KNN", "LBM" };
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(other); i++)
		for (size_t j = 0; j < ARRAY_SIZE(compute); j++)
			add_set(c, sets, room, &n,
				(const char *[]){ compute[j][0], compute[j][1], other[i] }, 3);
	return n;
}

/* --- numbers of a run side by side -------------------------------------------------------- */

double slicer_reached(const struct run *run, size_t i)
{
	char path[64];
	double at;

	if (!run)
		return NONE;
	snprintf(path, sizeof(path), "workloads.%zu.halted_cycle", i);
	at = run_number(run, path);
	if (!isnan(at))
		return at;
	snprintf(path, sizeof(path), "workloads.%zu.end", i);
	return run_number(run, path);
}

double slicer_time(const struct run *run, size_t n)
{
	double time = 0;

	for (size_t i = 0; i < n; i++) {
		double at = slicer_reached(run, i);

		if (isnan(at))
			return NONE;
		time = fmax(time, at);
	}
	return time;
}

double slicer_speedup(struct study_ctx *c, const struct slicer_set *set, const struct run *run,
		      size_t i)
{
	return slicer_reached(slicer_alone(c, set->w[i], ""), 0) / slicer_reached(run, i);
}

double slicer_fairness(struct study_ctx *c, const struct slicer_set *set, const struct run *run)
{
	double least = INFINITY;

	for (size_t i = 0; i < set->n; i++) {
		double s = slicer_speedup(c, set, run, i);

		if (isnan(s))
			return NONE;
		least = fmin(least, s);
	}
	return least;
}

double slicer_antt(struct study_ctx *c, const struct slicer_set *set, const struct run *run)
{
	double sum = 0;

	for (size_t i = 0; i < set->n; i++)
		sum += 1 / slicer_speedup(c, set, run, i);
	return sum / (double)set->n;
}

double slicer_chosen(const struct run *run, size_t i)
{
	char path[64];
	size_t at;
	double n;

	if (!run || isnan(run_number(run, "dispatch.partitions.0.cycle")))
		return NONE;
	/* Kernels are in the order of their age: after a launch, not in that of the programs. */
	for (at = 0; at < SLICER_SET; at++) {
		snprintf(path, sizeof(path), "dispatch.partitions.0.kernels.%zu.stream", at);
		n = run_number(run, path);
		if (!isnan(n) && (size_t)n == i + 1)
			break;
	}
	snprintf(path, sizeof(path), "dispatch.partitions.0.kernels.%zu.ctas", at);
	n = run_number(run, path);
	return isnan(n) ? 0 : n;
}

/* --- the study ------------------------------------------------------------------------------ */

static const struct study_part parts[] = {
	{ "table1", "the GPU, and this study's", NULL, NULL, slicer_show_table1, false },
	{ "table2", "the ten programs: resources, units, L2 misses, type", slicer_want_alone, NULL,
	  slicer_show_table2, false },
	{ "stalls", "figure 1: where no warp can be issued", slicer_want_alone, NULL,
	  slicer_show_stalls, false },
	{ "curves", "figure 3: performance against CTAs of an SM", slicer_want_alone,
	  slicer_want_curves, slicer_show_curves, false },
	{ "window", "figure 5: a sample against ten times as long", slicer_want_window, NULL,
	  slicer_show_window, false },
	{ "pairs", "figure 6: two programs, every policy", slicer_want_alone, slicer_want_pairs,
	  slicer_show_pairs, false },
	{ "partitions", "table III: CTAs that dynamic and even give", slicer_want_alone,
	  slicer_want_partitions, slicer_show_partitions, false },
	{ "fairness", "figure 9: the smallest speed-up, and turnaround time", slicer_want_alone,
	  slicer_want_pairs, slicer_show_fairness, false },
	{ "use", "figure 7: use of an SM's parts, cache misses, stalls", slicer_want_alone,
	  slicer_want_pairs, slicer_show_use, false },
	{ "oracle", "all partitions of each pair; with --quick only where --only names it",
	  slicer_want_alone, slicer_want_oracle, slicer_show_oracle, false },
	{ "triples", "figure 8: three programs", slicer_want_alone, slicer_want_triples,
	  slicer_show_triples, false },
	{ "sensitivity", "figure 10 and section V-H: samples, delay, schedulers, a larger SM",
	  slicer_want_alone, slicer_want_sensitivity, slicer_show_sensitivity, false },
	{ "paging", "a program that pages on demand beside one that computes", slicer_want_paging,
	  NULL, slicer_show_paging, false },
	{ 0 }
};

const struct study study_warped_slicer = {
	.name = "warped-slicer",
	.help = "ISCA'16, Warped-Slicer: several kernels in one SM",
	.config = "gtx480-ws",
	.workloads = workloads,
	.parts = parts,
};
