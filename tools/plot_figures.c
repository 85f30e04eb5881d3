// SPDX-License-Identifier: GPL-2.0
/* The contents of the standard figures, from the reports of runs. plot.c draws them. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "output.h"
#include "plot.h"

/* --- what reports have -------------------------------------------------------------- */

/* A report's samples, or the file of --samples itself. */
static struct json_object *samples_of(struct json_object *report)
{
	struct json_object *samples = output_at(report, "samples");

	return samples ? samples : output_has(report, "columns") ? report : NULL;
}

/* -1: there is no such column. */
static int column_of(struct json_object *samples, const char *name)
{
	struct json_object *columns = output_at(samples, "columns");
	size_t n = columns ? json_object_array_length(columns) : 0;

	for (size_t i = 0; i < n; i++)
		if (!strcmp(json_object_get_string(json_object_array_get_idx(columns, i)), name))
			return (int)i;
	return -1;
}

static double cell(struct json_object *row, int column)
{
	return json_object_get_double(json_object_array_get_idx(row, (size_t)column));
}

void plot_samples(struct figure *f, const char *name, struct json_object *report, const char *y,
		  double scale, double until)
{
	struct json_object *samples = samples_of(report), *rows = output_at(samples, "rows");
	int at = column_of(samples, "cycle"), what = column_of(samples, y);
	size_t series, n = rows ? json_object_array_length(rows) : 0;

	if (at < 0 || what < 0 || !n)
		return;
	series = figure_series(f, name);
	for (size_t i = 0; i < n; i++) {
		struct json_object *row = json_object_array_get_idx(rows, i);
		double x = cell(row, at);

		if (until > 0 && x > until)
			break;
		figure_point(f, series, until > 0 ? x / until : x, scale * cell(row, what));
	}
}

void plot_distribution(struct figure *f, const char *name, struct json_object *buckets,
		       double scale)
{
	size_t series, n = buckets ? json_object_array_length(buckets) : 0;
	double total = 0, seen = 0;

	for (size_t i = 0; i < n; i++)
		total += cell(json_object_array_get_idx(buckets, i), 1);
	if (total <= 0)
		return;
	series = figure_series(f, name);
	for (size_t i = 0; i < n; i++) {
		struct json_object *bucket = json_object_array_get_idx(buckets, i);

		/* The line begins at zero, so that a single value is a step, too. */
		if (!i)
			figure_point(f, series, scale * cell(bucket, 0), 0);
		seen += cell(bucket, 1);
		figure_point(f, series, scale * cell(bucket, 0), seen / total);
	}
}

/* --- the figures ------------------------------------------------------------------------ */

static void plot_link(struct figure *f, const struct plot_run *runs, size_t n)
{
	*f = (struct figure){ .kind = FIGURE_LINES, .title = "Use of the link to the GPU",
			      .xlabel = "cycle", .ylabel = "share of the time that it is busy" };
	for (size_t i = 0; i < n; i++)
		plot_samples(f, runs[i].name, runs[i].report, "h2d_busy", 1, 0);
}

static void plot_residency(struct figure *f, const struct plot_run *runs, size_t n)
{
	*f = (struct figure){ .kind = FIGURE_LINES, .title = "Pages in device memory",
			      .xlabel = "cycle", .ylabel = "4 KiB pages" };
	for (size_t i = 0; i < n; i++)
		plot_samples(f, runs[i].name, runs[i].report, "resident_pages", 1, 0);
}

static void plot_latency(struct figure *f, const struct plot_run *runs, size_t n)
{
	*f = (struct figure){ .kind = FIGURE_STEPS, .title = "Latency of far faults",
			      .xlabel = "microseconds, raised to replayed",
			      .ylabel = "share of far faults", .logx = true };
	for (size_t i = 0; i < n; i++)
		plot_distribution(f, runs[i].name,
				  output_at(runs[i].report, output_has(runs[i].report, "bench") ?
					    "far_fault_ns.buckets" : "paging.latency_ns.buckets"),
				  1e-3);
}

static void plot_waits(struct figure *f, const struct plot_run *runs, size_t n)
{
	*f = (struct figure){ .kind = FIGURE_STEPS, .title = "Waits for far faults",
			      .xlabel = "cycles", .ylabel = "share of waits", .logx = true };
	for (size_t i = 0; i < n; i++)
		plot_distribution(f, runs[i].name,
				  output_at(runs[i].report, "paging.far_wait_cycles.buckets"), 1);
}

static void plot_stages(struct figure *f, const struct plot_run *runs, size_t n)
{
	static const char *const stages[] = {
		"raised_to_fetched", "fetched_to_committed", "evict", "unmap", "copy", "map",
		"replay",
	};
	bool any = false;

	*f = (struct figure){ .kind = FIGURE_STACKED, .title = "Stages of a fault batch", .xlabel = "",
			      .ylabel = "microseconds, mean of all batches (bench: median)" };
	for (size_t i = 0; i < n; i++)
		any |= output_number(runs[i].report, "paging.batches") > 0 ||
		       output_has(runs[i].report, "stages_ns");
	for (size_t k = 0; any && k < ARRAY_SIZE(stages); k++) {
		size_t series = figure_series(f, stages[k]);

		for (size_t i = 0; i < n; i++) {
			char path[64];

			if (!k)
				figure_label(f, runs[i].name);
			snprintf(path, sizeof(path), "%sstages_ns.%s",
				 output_has(runs[i].report, "bench") ? "" : "paging.", stages[k]);
			figure_point(f, series, (double)i,
				     1e-3 * output_number(runs[i].report, path));
		}
	}
}

/* Mean nanoseconds of a far fault in one of its stages. */
static double fault_stage(struct json_object *report, const char *stage)
{
	double count = output_number(report, "paging.latency_ns.count");
	char path[96];

	snprintf(path, sizeof(path), "paging.fault_stages_sum_ns.%s", stage);
	return count > 0 ? output_number(report, path) / count : 0;
}

/*
 * From the access on: the stages of a batch do not show how long a fault waited for the
 * batch.
 */
static void plot_faults(struct figure *f, const struct plot_run *runs, size_t n)
{
	struct json_object *stages = NULL;

	*f = (struct figure){ .kind = FIGURE_STACKED, .title = "Where a far fault's time goes",
			      .xlabel = "", .ylabel = "microseconds, mean of all far faults" };
	for (size_t i = 0; i < n && !stages; i++)
		if (fault_stage(runs[i].report, "latency") > 0)
			stages = output_at(runs[i].report, "paging.fault_stages_sum_ns");
	if (!stages)
		return;
	for (size_t i = 0; i < n; i++)
		figure_label(f, runs[i].name);
	json_object_object_foreach(stages, stage, sum) {
		size_t series;

		(void)sum;
		if (!strcmp(stage, "latency"))
			continue;
		series = figure_series(f, stage);
		for (size_t i = 0; i < n; i++)
			figure_point(f, series, (double)i,
				     1e-3 * fault_stage(runs[i].report, stage));
	}
}

/* Medians of bench fault, the far fault first. */
static void plot_yardsticks(struct figure *f, const struct plot_run *runs, size_t n)
{
	static const struct {
		const char *name, *path;
	} bars[] = {
		{ "far fault", "far_fault_ns.p50" },
		{ "userfaultfd", "yardsticks_ns.uffd_resolve" },
		{ "pipe round trip", "yardsticks_ns.pipe_rtt" },
		{ "minor fault", "yardsticks_ns.minor_fault" },
		{ "memcpy of 4 KiB", "yardsticks_ns.memcpy_4k" },
	};

	*f = (struct figure){ .kind = FIGURE_BARS, .title = "A far fault and its yardsticks",
			      .xlabel = "", .ylabel = "microseconds, median" };
	for (size_t i = 0; i < n; i++) {
		size_t series;

		if (!output_has(runs[i].report, "yardsticks_ns"))
			continue;
		series = figure_series(f, runs[i].name);
		for (size_t k = 0; k < ARRAY_SIZE(bars); k++) {
			if (f->nlabels < ARRAY_SIZE(bars))
				figure_label(f, bars[k].name);
			figure_point(f, series, (double)k,
				     output_has(runs[i].report, bars[k].path) ?
				     1e-3 * output_number(runs[i].report, bars[k].path) : NAN);
		}
	}
}

/* Each ratio of bench bars over its bar. */
static void plot_bars(struct figure *f, const struct plot_run *runs, size_t n)
{
	*f = (struct figure){ .kind = FIGURE_BARS, .title = "Ratios of bench bars over their bars",
			      .xlabel = "", .ylabel = "ratio / bar" };
	for (size_t i = 0; i < n; i++) {
		struct json_object *all = output_at(runs[i].report, "bars");
		bool first = !f->nlabels;
		size_t series, k = 0;

		if (!json_object_is_type(all, json_type_object))
			continue;
		series = figure_series(f, runs[i].name);
		json_object_object_foreach(all, key, bar) {
			double of = output_number(bar, output_has(bar, "below") ? "below" : "above");

			if (first)
				figure_label(f, key);
			figure_point(f, series, (double)k++,
				     of > 0 ? output_number(bar, "ratio") / of : NAN);
		}
	}
	if (f->nseries)
		figure_mark(f, "the bar", 1);
}

static void plot_batches(struct figure *f, const struct plot_run *runs, size_t n)
{
	*f = (struct figure){ .kind = FIGURE_STEPS, .title = "Far faults a batch",
			      .xlabel = "far faults", .ylabel = "share of batches" };
	for (size_t i = 0; i < n; i++)
		plot_distribution(f, runs[i].name,
				  output_at(runs[i].report, "paging.batch.far_faults.buckets"), 1);
}

/* True if the column has anything but zeros. */
static bool sampled(struct json_object *report, const char *name)
{
	struct json_object *samples = samples_of(report), *rows = output_at(samples, "rows");
	int column = column_of(samples, name);
	bool any = false;

	for (size_t i = 0; column >= 0 && rows && i < json_object_array_length(rows); i++)
		any |= cell(json_object_array_get_idx(rows, i), column) > 0;
	return any;
}

/*
 * The space between a pair of lines is free, but a CTA larger than the largest hole cannot
 * use it.
 */
static void plot_fragmentation(struct figure *f, const struct plot_run *runs, size_t n)
{
	static const struct {
		const char *column, *name;
		double kib;
	} lines[] = {
		{ "registers_free", "registers free", 4.0 / 1024 },
		{ "registers_hole", "largest hole of registers", 4.0 / 1024 },
		{ "shared_free", "shared memory free", 1.0 / 1024 },
		{ "shared_hole", "largest hole of shared memory", 1.0 / 1024 },
	};

	*f = (struct figure){ .kind = FIGURE_STEPS,
			      .title = "Fragmentation of an SM that kernels share",
			      .xlabel = "cycle", .ylabel = "KiB of an SM" };
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < ARRAY_SIZE(lines); k++) {
			char name[192];

			if (!sampled(runs[i].report, "registers_free") &&
			    !sampled(runs[i].report, "shared_free"))
				break;
			snprintf(name, sizeof(name), "%s%s%s", n > 1 ? runs[i].name : "",
				 n > 1 ? ": " : "", lines[k].name);
			plot_samples(f, name, runs[i].report, lines[k].column, lines[k].kib, 0);
		}
	}
}

static void plot_registers(struct figure *f, const struct plot_run *runs, size_t n)
{
	*f = (struct figure){ .kind = FIGURE_BOXES, .title = "Registers of an SM that CTAs had",
			      .xlabel = "microseconds", .ylabel = "KiB, from the first register on" };
	plot_extents(f, runs, n, "registers", 4.0 / 1024);
}

static void plot_shared(struct figure *f, const struct plot_run *runs, size_t n)
{
	*f = (struct figure){ .kind = FIGURE_BOXES,
			      .title = "Shared memory of an SM that CTAs had",
			      .xlabel = "microseconds", .ylabel = "KiB, from the first byte on" };
	plot_extents(f, runs, n, "shared", 1.0 / 1024);
}

static void plot_runtime(struct figure *f, const struct plot_run *runs, size_t n)
{
	bool any = false;

	*f = (struct figure){ .kind = FIGURE_BARS, .title = "Time of the runs", .xlabel = "",
			      .ylabel = "million cycles" };
	for (size_t i = 0; i < n; i++)
		any |= output_has(runs[i].report, "totals.cycles");
	if (any)
		figure_series(f, "cycles");
	for (size_t i = 0; any && i < n; i++) {
		figure_label(f, runs[i].name);
		figure_point(f, 0, (double)i,
			     1e-6 * output_number(runs[i].report, "totals.cycles"));
	}
}

static const struct plot_row rows[] = {
#define X(name, help)	{ #name, help, plot_##name },
#include "plot.def"
#undef X
};

const struct plot_row *plot_row(unsigned int n)
{
	return n < ARRAY_SIZE(rows) ? &rows[n] : NULL;
}
