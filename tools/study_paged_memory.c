// SPDX-License-Identifier: GPL-2.0
/*
 * Zheng et al., "Towards High Performance Paged Memory for GPUs", HPCA'16: its figures 2,
 * 3, 5 and 6 and its prefetchers (study_paged_memory_more.c has the rest). Numbers are of its
 * text; what it gives only in a figure's bars is no number here.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/gpu.h"
#include "output.h"
#include "plot.h"
#include "study_paged_memory.h"

/*
 * The paper's handler is pipelined: every fault takes 20 us by itself (table 1). Where
 * times are measured there is the one handler that the kernel has.
 */
const char *paged_handler(const struct study_ctx *c)
{
	return strcmp(c->options.backend, "sim") ? "--set paging.handlers=1" :
						   "--set paging.handlers=0";
}

static const struct study_workload workloads[] = {
#define WORKLOAD(name, full, quick)	{ name, full, quick },
#include "study_paged_memory.def"
	{ NULL, NULL, NULL }
};

/* --- runs that several parts have ---------------------------------------------------------- */

/* Copy everything, run, copy back: what all are compared with. */
struct run *paged_copied(struct study_ctx *c, const struct study_workload *w)
{
	return study_want(c, w, NULL, "--copy");
}

/* Buffers that the kernels only write are not copied to the device. */
static struct run *inputs_copied(struct study_ctx *c, const struct study_workload *w)
{
	return study_want(c, w, NULL, "--copy=inputs");
}

/* Copying the inputs alone, over copying all. */
static double inputs_alone(struct study_ctx *c, const struct study_workload *w)
{
	return paged_cycles(inputs_copied(c, w)) / paged_cycles(paged_copied(c, w));
}

/* On demand, as the configuration has it. */
static struct run *paged(struct study_ctx *c, const struct study_workload *w)
{
	return study_want(c, w, NULL, "%s", paged_handler(c));
}

/* The order in which it touches its pages, for policies that know the future. */
static void recorded(struct study_ctx *c, const struct study_workload *w)
{
	char file[128];

	snprintf(file, sizeof(file), "{dir}/records/%s%s", w->name, c->options.quick ? ".quick" : "");
	runner_product(study_want(c, w, NULL, "%s --record %s", paged_handler(c), file), file);
}

const char *paged_needs(struct study_ctx *c, const char *workload, const char *policy,
			char text[160])
{
	text[0] = '\0';
	if (!strcmp(policy, "oracle") || !strcmp(policy, "min"))
		snprintf(text, 160, " --recorded {dir}/records/%s%s", workload,
			 c->options.quick ? ".quick" : "");
	return text;
}

double paged_cycles(const struct run *r)
{
	return run_number(r, "totals.cycles");
}

/* Time over that of programmer-directed copy: above 1 it is slower. */
static double slowdown(struct study_ctx *c, const struct study_workload *w,
		       const struct run *r)
{
	return paged_cycles(r) / paged_cycles(paged_copied(c, w));
}

static double milliseconds(const struct study_ctx *c, double n)
{
	return n / ((double)c->spec.clock_mhz * 1e3);
}

static void want_copied(struct study_ctx *c)
{
	FOR_WORKLOADS(c, w) {
		paged_copied(c, w);
		inputs_copied(c, w);
	}
}

/* --- figure 2: copy and kernel ------------------------------------------------------------------ */

static void show_copy(struct study_ctx *c)
{
	struct study_table *t = study_table(c, "copy",
		"programmer-directed copy (figure 2): milliseconds, and what perfect overlap would give",
		3, true);
	size_t footprint = study_column(t, "MB", 43), h2d = study_column(t, "H2D ms", NONE);
	size_t kernel = study_column(t, "kernel ms", NONE), d2h = study_column(t, "D2H ms", NONE);
	size_t share = study_column(t, "copy share", NONE), bound = study_column(t, "overlap", NONE);
	size_t inputs = study_column(t, "inputs alone", NONE);
	double best = 0;
	unsigned int copying = 0;

	FOR_WORKLOADS(c, w) {
		const struct run *r = paged_copied(c, w);
		double in = run_number(r, "workload.copy.h2d_cycles");
		double run = run_number(r, "workload.copy.kernel_cycles");
		double out = run_number(r, "workload.copy.d2h_cycles");
		double most = run_number(r, "workload.copy.overlap_bound_cycles");
		double all = in + run + out;
		size_t row = study_row_add(t, w->name);

		study_cell(t, row, footprint, run_number(r, "workload.footprint_bytes") * 1e-6);
		study_cell(t, row, h2d, milliseconds(c, in));
		study_cell(t, row, kernel, milliseconds(c, run));
		study_cell(t, row, d2h, milliseconds(c, out));
		study_cell(t, row, share, (in + out) / all);
		study_cell(t, row, bound, all / most);
		study_cell(t, row, inputs, inputs_alone(c, w));
		if (!isnan(all)) {
			best = MAX(best, all / most);
			copying += in + out > run;
		}
	}
	if (best > 0)
		study_note(t, "copies take most of the time of %u of %u workloads, perfect overlap gives up "
			   "to %.0f%%; paper: of half of them, up to 49%%", copying,
			   c->options.nworkloads, 100 * (best - 1));
	study_stack(c, t, h2d, 3, "share of the run", true);
}

/* --- figure 3: blocking faults ------------------------------------------------------------------ */

static const struct {
	unsigned int us;
	double paper;
} blocking[] = { { 5, 2 }, { 10, NONE }, { 20, 6 }, { 30, NONE }, { 40, NONE }, { 50, NONE } };

static struct run *blocked(struct study_ctx *c, const struct study_workload *w,
				 unsigned int us)
{
	return study_want(c, w, NULL, "%s --set gmmu.blocking=on --set paging.service_ns=%u",
			  paged_handler(c), us * 1000);
}

static void want_blocking(struct study_ctx *c)
{
	want_copied(c);
	FOR_WORKLOADS(c, w)
		for (size_t i = 0; i < ARRAY_SIZE(blocking); i++)
			blocked(c, w, blocking[i].us);
}

static void show_blocking(struct study_ctx *c)
{
	struct study_table *t = study_table(c, "blocking",
		"an SM stops at its far fault (figure 3): time over programmer-directed copy", 2, true);
	double worst = 0;

	for (size_t i = 0; i < ARRAY_SIZE(blocking); i++) {
		char name[16];

		snprintf(name, sizeof(name), "%u us", blocking[i].us);
		study_column(t, name, blocking[i].paper);
	}
	FOR_WORKLOADS(c, w) {
		size_t row = study_row_add(t, w->name);

		for (size_t i = 0; i < ARRAY_SIZE(blocking); i++) {
			double s = slowdown(c, w, blocked(c, w, blocking[i].us));

			study_cell(t, row, i, s);
			if (blocking[i].us == 20 && s > worst)
				worst = s;
		}
	}
	if (worst > 0)
		study_note(t, "at 20 us up to %.1fx; paper: up to 15x", worst);
	study_bars(c, t, FIGURE_BARS, "time over programmer-directed copy", true);
}

/* --- figure 5: MSHRs ---------------------------------------------------------------------------------- */

static const struct {
	const char *name;
	unsigned int mshrs;
	double paper;
} mshrs[] = {
	{ "1", 1, 3.6 }, { "2", 2, NONE }, { "4", 4, NONE }, { "8", 8, NONE }, { "16", 16, NONE },
	{ "unlimited", 0, 2 },
};

static struct run *with_mshrs(struct study_ctx *c, const struct study_workload *w,
				    unsigned int n)
{
	return study_want(c, w, NULL, "%s --set gmmu.far_fault_mshrs=%u", paged_handler(c), n);
}

static void want_mshrs(struct study_ctx *c)
{
	want_copied(c);
	FOR_WORKLOADS(c, w)
		for (size_t i = 0; i < ARRAY_SIZE(mshrs); i++)
			with_mshrs(c, w, mshrs[i].mshrs);
}

static void show_mshrs(struct study_ctx *c)
{
	struct study_table *t = study_table(c, "mshrs",
		"far faults an SM may have outstanding (figure 5): time over programmer-directed copy",
		2, true);

	for (size_t i = 0; i < ARRAY_SIZE(mshrs); i++)
		study_column(t, mshrs[i].name, mshrs[i].paper);
	FOR_WORKLOADS(c, w) {
		size_t row = study_row_add(t, w->name);

		for (size_t i = 0; i < ARRAY_SIZE(mshrs); i++)
			study_cell(t, row, i, slowdown(c, w, with_mshrs(c, w, mshrs[i].mshrs)));
	}
	if (!isnan(study_geomean(t, 2)) && !isnan(study_geomean(t, 4)))
		study_note(t, "4 take %.0f%% longer than unlimited, 16 take %.0f%%; paper: 4 are "
			   "sufficient, little reason to go beyond 16",
			   100 * (study_geomean(t, 2) / study_geomean(t, 5) - 1),
			   100 * (study_geomean(t, 4) / study_geomean(t, 5) - 1));
	study_bars(c, t, FIGURE_BARS, "time over programmer-directed copy", true);
}

/* --- figure 6: the link ----------------------------------------------------------------------------------- */

#define WINDOWS	50

static struct run *sampled(struct study_ctx *c, const struct study_workload *w)
{
	double n = paged_cycles(paged(c, w));

	/* A run that failed has no time, and will fail again. */
	return study_want(c, w, NULL, "%s --set stats.interval=%.0f", paged_handler(c),
			  isnan(n) ? 1000.0 : MAX(floor(n / WINDOWS), 1.0));
}

static void want_link(struct study_ctx *c)
{
	FOR_WORKLOADS(c, w)
		paged(c, w);
}

static void want_more_link(struct study_ctx *c)
{
	FOR_WORKLOADS(c, w)
		sampled(c, w);
}

static void show_link(struct study_ctx *c)
{
	struct study_table *t = study_table(c, "link",
		"use of the link on demand (figure 6): shares of the kernels' time", 3, false);
	size_t use = study_column(t, "use", 0.25), busy = study_column(t, "busy", NONE);
	size_t faults = study_column(t, "faults/batch", NONE), p50 = study_column(t, "fault us", NONE);
	struct figure f = study_lines(t, "share of the run's time", "use of the link to the GPU");
	double sum = 0, n = 0;

	FOR_WORKLOADS(c, w) {
		const struct run *r = sampled(c, w);
		double kernel = run_number(r, "workload.phases.kernel_cycles");
		double time = isnan(kernel) ? paged_cycles(r) : kernel;
		double carried = run_number(r, "paging.h2d_bytes") /
			(milliseconds(c, time) * 1e-3 * (double)c->spec.link_mbps * 1e6);
		size_t row = study_row_add(t, w->name);

		study_cell(t, row, use, carried);
		study_cell(t, row, busy, run_number(r, "paging.link.h2d_busy_ns") /
					 (milliseconds(c, time) * 1e6));
		study_cell(t, row, faults, run_number(r, "paging.far_faults") /
					   run_number(r, "paging.batches"));
		study_cell(t, row, p50, run_number(r, "paging.latency_ns.p50") * 1e-3);
		if (r->report)
			plot_samples(&f, w->name, r->report, "h2d_busy", 1, time);
		if (!isnan(carried)) {
			sum += carried;
			n++;
		}
	}
	if (n > 0)
		study_note(t, "mean use %.0f%%; paper: 25%%", 100 * sum / n);
	study_figure(c, t->name, &f);
}

/* --- prefetchers ----------------------------------------------------------------------------------------------- */

struct run *paged_prefetched(struct study_ctx *c, const struct study_workload *w,
				   const char *policy)
{
	char more[160];

	return study_want(c, w, NULL, "%s --prefetch %s%s", paged_handler(c), policy,
			  paged_needs(c, w->name, policy, more));
}

/* "a 2 slowdown to a 12% speedup", "within 3% of oracular prefetching" (section 1). */
static double paper_prefetch(const char *policy)
{
	if (!strcmp(policy, "none"))
		return 2;
	if (!strcmp(policy, "locality"))
		return 1 / 1.12;
	return !strcmp(policy, "oracle") ? 1 / 1.12 / 1.03 : NONE;
}

static void want_prefetch(struct study_ctx *c)
{
	want_copied(c);
	FOR_WORKLOADS(c, w)
		recorded(c, w);
}

static void want_more_prefetch(struct study_ctx *c)
{
	const char *name, *help;

	FOR_WORKLOADS(c, w)
		for (unsigned int n = 0; gpu_list_row("prefetchers", n, &name, &help); n++)
			paged_prefetched(c, w, name);
}

static double mean_of(struct study_ctx *c, const char *policy, const char *path)
{
	double sum = 0, n = 0;

	FOR_WORKLOADS(c, w) {
		double v = run_number(paged_prefetched(c, w, policy), path);

		if (isnan(v))
			continue;
		sum += v;
		n++;
	}
	return sum / n;
}

/* The numbers of each policy, over all workloads. */
static void show_quality(struct study_ctx *c)
{
	static const struct {
		const char *title, *path;
	} columns[] = {
		{ "far faults", "paging.far_faults" }, { "accuracy", "paging.prefetch.accuracy" },
		{ "coverage", "paging.prefetch.coverage" },
		{ "timeliness", "paging.prefetch.timeliness" }, { "link", "paging.link_utilization" },
	};
	struct study_table *t = study_table(c, "prefetch-quality",
		"prefetchers: means of all workloads", 3, false);
	const char *name, *help;

	for (size_t i = 0; i < ARRAY_SIZE(columns); i++)
		study_column(t, columns[i].title, NONE);
	for (unsigned int n = 0; gpu_list_row("prefetchers", n, &name, &help); n++) {
		size_t row = study_row_add(t, name);

		for (size_t i = 0; i < ARRAY_SIZE(columns); i++)
			study_cell(t, row, i, mean_of(c, name, columns[i].path));
	}
}

static void show_prefetch(struct study_ctx *c)
{
	struct study_table *t = study_table(c, "prefetch",
		"prefetchers (section 4): time over programmer-directed copy", 3, true);
	const char *name, *help;
	size_t bound, inputs;
	double best = INFINITY, oracle = NONE;
	const char *who = "none";

	for (unsigned int n = 0; gpu_list_row("prefetchers", n, &name, &help); n++)
		study_column(t, name, paper_prefetch(name));
	inputs = study_column(t, "inputs alone", NONE);
	bound = study_column(t, "overlap bound", NONE);
	FOR_WORKLOADS(c, w) {
		size_t row = study_row_add(t, w->name);

		for (unsigned int n = 0; gpu_list_row("prefetchers", n, &name, &help); n++)
			study_cell(t, row, n, slowdown(c, w, paged_prefetched(c, w, name)));
		study_cell(t, row, inputs, inputs_alone(c, w));
		study_cell(t, row, bound, run_number(paged_copied(c, w), "workload.copy.overlap_bound_cycles") /
					  paged_cycles(paged_copied(c, w)));
	}
	for (unsigned int n = 0; gpu_list_row("prefetchers", n, &name, &help); n++) {
		double mean = study_geomean(t, n);

		if (!strcmp(name, "oracle"))
			oracle = mean;
		else if (mean < best) {
			best = mean;
			who = name;
		}
	}
	if (isfinite(best) && !isnan(oracle))
		study_note(t, "best: %s, %.2f of copy's time, %.1f%% behind the oracle; paper: 12%% faster "
			   "than copy, within 3%% of the oracle", who, best, 100 * (best / oracle - 1));
	study_bars(c, t, FIGURE_BARS, "time over programmer-directed copy", false);
	show_quality(c);
}

/* --- the study ------------------------------------------------------------------------------------------------------- */

static const struct study_part parts[] = {
	{ "copy", "figure 2: copies, kernels, perfect overlap", want_copied, NULL, show_copy, false },
	{ "blocking", "figure 3: SMs that stop, 5 to 50 us a far fault", want_blocking, NULL,
	  show_blocking, true },
	{ "mshrs", "figure 5: outstanding far faults an SM", want_mshrs, NULL, show_mshrs, false },
	{ "link", "figure 6: use of the link over time", want_link, want_more_link, show_link, false },
	{ "prefetch", "section 4: every prefetcher, copy, the oracle", want_prefetch,
	  want_more_prefetch, show_prefetch, false },
	{ "oversubscription", "less memory than is used, every eviction policy", want_prefetch,
	  paged_want_oversubscription, paged_show_oversubscription, false },
	{ "measured", "20 us against what this kernel takes, by stage and batch",
	  paged_want_footprints, paged_want_measured, paged_show_measured, false },
	{ 0 }
};

const struct study study_paged_memory = {
	.name = "paged-memory",
	.help = "HPCA'16, Towards High Performance Paged Memory for GPUs",
	.config = "gtx480-hpca16",
	.workloads = workloads,
	.parts = parts,
};
