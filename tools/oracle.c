// SPDX-License-Identifier: GPL-2.0
/*
 * gpuemu run A + B --slice oracle. The runner runs the same words under left_over, spatial,
 * even and dynamic, then under fixed with every combination of CTAs that fits an SM. A run that
 * has a report is not repeated. The oracle is the best of left_over, spatial and the
 * combinations. even and dynamic are printed beside it. run.c calls this; the study
 * warped-slicer uses ctas_fit().
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "memory.h"
#include "oracle.h"
#include "output.h"

#define MEMBERS	8u

static double rounded(double n, uint64_t unit)
{
	return ceil(n / (double)unit) * (double)unit;
}

struct cta_needs cta_needs_of(const struct gpu_spec *s, const struct run *run, size_t i)
{
	double threads = 1, regs;
	char path[64];

	for (unsigned int k = 0; k < 3; k++) {
		snprintf(path, sizeof(path), "workloads.%zu.launch.block.%u", i, k);
		threads *= run_number(run, path);
	}
	snprintf(path, sizeof(path), "workloads.%zu.launch.regs", i);
	regs = rounded(run_number(run, path), s->occupancy_reg_unit);
	snprintf(path, sizeof(path), "workloads.%zu.launch.smem", i);
	return (struct cta_needs){
		.warps = ceil(threads / 32), .registers = ceil(threads / 32) * 32 * regs,
		.shared = rounded(run_number(run, path), s->occupancy_shared_unit),
	};
}

bool ctas_fit(const struct gpu_spec *s, const struct cta_needs *needs, const unsigned int *ctas,
	      size_t n, unsigned int part)
{
	double registers = 0, shared = 0, warps = 0, slots = 0;

	for (size_t i = 0; i < n; i++) {
		warps += ctas[i] * needs[i].warps;
		registers += ctas[i] * needs[i].registers;
		shared += ctas[i] * needs[i].shared;
		slots += ctas[i];
	}
	return registers <= (double)(s->registers / part) &&
	       shared <= (double)(s->shared_bytes / part) && warps <= (double)(s->warps / part) &&
	       slots <= (double)(s->ctas / part);
}

bool oracle_asked(int *argc, char **argv)
{
	int kept = 0;
	bool asked = false;

	for (int i = 0; i < *argc; i++) {
		if (!strcmp(argv[i], "--slice=oracle")) {
			asked = true;
		} else if (!strcmp(argv[i], "--slice") && i + 1 < *argc &&
			   !strcmp(argv[i + 1], "oracle")) {
			asked = true;
			i++;
		} else {
			argv[kept++] = argv[i];
		}
	}
	*argc = kept;
	return asked;
}

/* --- runs ------------------------------------------------------------------------------- */

/* One way to share the SMs. */
struct way {
	char name[48];
	struct run *run;
	bool counts;		/* the oracle may choose it */
	double time;
};

struct search {
	const struct oracle *o;
	struct runner runner;
	char *words;
	struct way *ways;
	size_t n;
};

/* The words of each run: the command line's, without the report's file. */
static char *words_of(const struct oracle *o)
{
	size_t bytes;
	char *text;
	FILE *out = must(open_memstream(&text, &bytes));

	fputs("run", out);
	for (int i = 1; i < o->argc; i++) {
		if (!strcmp(o->argv[i], "--json"))
			i++;
		else if (strncmp(o->argv[i], "--json=", 7))
			fprintf(out, " %s", o->argv[i]);
	}
	fclose(out);
	return must(text);
}

static struct way *try_way(struct search *s, const char *name, const char *more, bool counts)
{
	char *words = text_of("%s %s", s->words, more);
	struct way *w;

	s->ways = must(realloc(s->ways, (s->n + 1) * sizeof(*s->ways)));
	w = &s->ways[s->n++];
	*w = (struct way){ .counts = counts };
	snprintf(w->name, sizeof(w->name), "%s", name);
	w->run = runner_want(&s->runner, "oracle", words, 0);
	free(words);
	return w;
}

/* The time until the last workload has reached its target or its end. */
static double time_of(const struct run *run, size_t n)
{
	double time = 0;

	for (size_t i = 0; i < n; i++) {
		char path[64];
		double at;

		snprintf(path, sizeof(path), "workloads.%zu.halted_cycle", i);
		at = run_number(run, path);
		if (isnan(at)) {
			snprintf(path, sizeof(path), "workloads.%zu.end", i);
			at = run_number(run, path);
		}
		if (isnan(at))
			return (double)NAN;
		time = fmax(time, at);
	}
	return time;
}

static void try_policies(struct search *s)
{
	try_way(s, "left_over", "--slice left_over", true);
	try_way(s, "spatial", "--slice spatial", true);
	try_way(s, "even", "--slice even", false);
	try_way(s, "dynamic", "--slice dynamic", false);
}

/* An existing report says what fits. */
static void try_partitions(struct search *s)
{
	const struct run *known = s->ways[0].run;
	size_t at[MEMBERS] = { 0 }, sizes[MEMBERS], n = s->o->n;
	struct cta_needs needs[MEMBERS];

	for (size_t i = 0; i < n; i++) {
		char path[64];
		double most;

		snprintf(path, sizeof(path), "workloads.%zu.launch.ctas_per_sm", i);
		most = run_number(known, path);
		if (isnan(most) || most < 1)
			return;
		sizes[i] = (size_t)most;
		needs[i] = cta_needs_of(s->o->spec, known, i);
	}
	do {
		char name[48] = "", more[96];
		unsigned int ctas[MEMBERS];

		for (size_t i = 0; i < n; i++) {
			ctas[i] = (unsigned int)at[i] + 1;
			snprintf(name + strlen(name), sizeof(name) - strlen(name), "%s%u",
				 i ? "," : "", ctas[i]);
		}
		if (!ctas_fit(s->o->spec, needs, ctas, n, 1))
			continue;
		snprintf(more, sizeof(more), "--slice fixed --set slicer.fixed=%s", name);
		try_way(s, name, more, true);
	} while (runner_next(at, sizes, n));
}

/* --- what came of it ---------------------------------------------------------------------- */

static const struct way *best_of(const struct search *s)
{
	const struct way *best = NULL;

	for (size_t i = 0; i < s->n; i++) {
		const struct way *w = &s->ways[i];

		if (w->counts && !isnan(w->time) && (!best || w->time < best->time))
			best = w;
	}
	return best;
}

static void print(const struct search *s, const struct way *best)
{
	double base = s->ways[0].time;

	printf("%-16s %12s  %s\n", "CTAs an SM", "cycles", "combined IPC over left_over's");
	for (size_t i = 0; i < s->n; i++) {
		const struct way *w = &s->ways[i];

		if (isnan(w->time))
			printf("%-16s %12s\n", w->name, "failed");
		else
			printf("%-16s %12.0f  %.3f%s\n", w->name, w->time, base / w->time,
			       w == best ? "  the best" : w->counts ? "" : "  (no choice of the oracle's)");
	}
}

static struct json_object *to_json(const struct search *s, const struct way *best)
{
	struct json_object *all = json_object_new_object(), *tried = json_object_new_array();

	json_object_object_add(all, "version", json_object_new_int(1));
	json_object_object_add(all, "words", json_object_new_string(s->words));
	json_object_object_add(all, "best", best ? json_object_new_string(best->name) : NULL);
	for (size_t i = 0; i < s->n; i++) {
		const struct way *w = &s->ways[i];
		struct json_object *one = json_object_new_object();

		json_object_object_add(one, "name", json_object_new_string(w->name));
		json_object_object_add(one, "cycles", isnan(w->time) ? NULL :
				       json_object_new_uint64((uint64_t)w->time));
		json_object_object_add(one, "choice", json_object_new_boolean(w->counts));
		json_object_array_add(tried, one);
	}
	json_object_object_add(all, "tried", tried);
	return all;
}

static int tell(const struct search *s)
{
	const struct oracle *o = s->o;
	const struct way *best = best_of(s);
	struct json_object *report;
	struct err err;
	int result = CLI_DONE;

	if (!o->json || strcmp(o->json, "-"))
		print(s, best);
	if (!o->json)
		return result;
	report = to_json(s, best);
	if (output_json(report, o->json, &err))
		result = cli_failed(o->verb, "%s", err.text);
	json_object_put(report);
	return result;
}

int oracle_run(const struct oracle *o)
{
	struct search s = {
		.o = o,
		.runner = { .who = "gpuemu run", .dir = o->dir, .program = o->program,
			    .jobs = runner_cpus() },
	};
	struct err err;
	int result;

	if (o->n < 2 || o->n > MEMBERS)
		return cli_misused(o->verb, "--slice oracle is for 2 to %u workloads side by side, as in: gpuemu "
				   "run sgemm + lbm --slice oracle", MEMBERS);
	for (int i = 1; i < o->argc; i++)
		if (strpbrk(o->argv[i], " \t"))
			return cli_misused(o->verb, "--slice oracle: a blank in '%s'", o->argv[i]);
	if (runner_begin(&s.runner, &err))
		return cli_failed(o->verb, "%s", err.text);
	s.words = words_of(o);
	try_policies(&s);
	runner_execute(&s.runner);
	if (!s.runner.stopped) {
		try_partitions(&s);
		runner_execute(&s.runner);
	}
	for (size_t i = 0; i < s.n; i++)
		s.ways[i].time = time_of(s.ways[i].run, o->n);
	result = tell(&s);
	if (s.runner.failures)
		result = CLI_FAILED;
	if (s.runner.stopped)
		result = CLI_STOPPED + s.runner.stopped;
	free(s.words);
	free(s.ways);
	runner_end(&s.runner);
	return result;
}
