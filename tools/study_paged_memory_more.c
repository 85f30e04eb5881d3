// SPDX-License-Identifier: GPL-2.0
/*
 * The parts of the study paged-memory for which the paper's text has no numbers:
 * oversubscription by eviction policy, and how far the paper's 20 us are from the times of this
 * kernel.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/gpu.h"
#include "host.h"
#include "output.h"
#include "study_paged_memory.h"

/* --- oversubscription -------------------------------------------------------------------------------------------- */

/* Footprint in percent of device memory. */
static const unsigned int levels[] = { 105, 125, 150, 200 };

/* The paper's best prefetcher, whatever is evicted. */
#define OVER_PREFETCH	"locality"

static struct run *fitting(struct study_ctx *c, const struct study_workload *w)
{
	return paged_prefetched(c, w, OVER_PREFETCH);
}

static struct run *squeezed(struct study_ctx *c, const struct study_workload *w,
				  unsigned int level, const char *policy)
{
	double footprint = run_number(paged_copied(c, w), "workload.footprint_bytes");
	/* If the copy failed, its time is unknown, and there is nothing to compare with. */
	unsigned long long bytes = isnan(footprint) ? 1ull << 20 : (unsigned long long)footprint;
	unsigned long long vram = bytes * 100 / level;
	char more[160];

	/* Whole frames, and never less than a batch needs. */
	return study_want(c, w, NULL, "%s --prefetch %s --evict %s --vram %llu%s", paged_handler(c),
			  OVER_PREFETCH, policy, MAX(vram / 4096 * 4096, 1ull << 16),
			  paged_needs(c, w->name, policy, more));
}

void paged_want_oversubscription(struct study_ctx *c)
{
	const char *name, *help;

	FOR_WORKLOADS(c, w) {
		fitting(c, w);
		for (size_t i = 0; i < ARRAY_SIZE(levels); i++)
			for (unsigned int n = 0; gpu_list_row("evictors", n, &name, &help); n++)
				squeezed(c, w, levels[i], name);
	}
}

static void level_columns(struct study_table *t)
{
	for (size_t i = 0; i < ARRAY_SIZE(levels); i++) {
		char name[16];

		snprintf(name, sizeof(name), "%u%%", levels[i]);
		study_column(t, name, NONE);
	}
}

static double squeeze(struct study_ctx *c, const struct study_workload *w, unsigned int level,
		      const char *policy)
{
	return paged_cycles(squeezed(c, w, level, policy)) / paged_cycles(fitting(c, w));
}

void paged_show_oversubscription(struct study_ctx *c)
{
	struct study_table *t = study_table(c, "oversubscription-lru",
		"footprint in percent of device memory, evicting lru: time over that when it fits",
		2, true);
	struct study_table *all = study_table(c, "oversubscription",
		"the same for each eviction policy: geometric means of all workloads", 2, false);
	const char *name, *help;

	level_columns(t);
	level_columns(all);
	FOR_WORKLOADS(c, w) {
		size_t row = study_row_add(t, w->name);

		for (size_t i = 0; i < ARRAY_SIZE(levels); i++)
			study_cell(t, row, i, squeeze(c, w, levels[i], "lru"));
	}
	for (unsigned int n = 0; gpu_list_row("evictors", n, &name, &help); n++) {
		size_t row = study_row_add(all, name);

		for (size_t i = 0; i < ARRAY_SIZE(levels); i++) {
			double sum = 0, count = 0;

			FOR_WORKLOADS(c, w) {
				double v = squeeze(c, w, levels[i], name);

				if (isnan(v))
					continue;
				sum += log(v);
				count++;
			}
			study_cell(all, row, i, count > 0 ? exp(sum / count) : NONE);
		}
	}
	study_bars(c, t, FIGURE_BARS, "time over that when it fits", true);
	study_bars(c, all, FIGURE_BARS, "time over that when it fits", true);
}

/* --- measured ------------------------------------------------------------------------------------------------------ */

static const unsigned int batches[] = { 1, 4, 16, 64, 256 };
static const char *const measuring[] = { "kmod", "uffd" };
/* Sizes of batches are tried with what fills them: loads at random. */
static const struct study_workload filler = { "gather", "", "size=quick" };

/* It is measured several times, and the median counts. */
#define REPEATS	3u

static struct run *sized(struct study_ctx *c, const struct study_workload *w)
{
	return study_want(c, w, "sim", "--copy");
}

/* Device memory that holds all of it. A module has less than configurations take for granted. */
static unsigned long long room_for(struct study_ctx *c, const struct study_workload *w)
{
	double footprint = run_number(sized(c, w), "workload.footprint_bytes");
	unsigned long long block = BLOCK_PAGES * PAGE_BYTES;

	return (isnan(footprint) ? 2 : (unsigned long long)footprint / block + 2) * block;
}

/* One handler as the kernel has one, and SMs that fill its batches. */
static struct run *measured_once(struct study_ctx *c, const struct study_workload *w,
				       const char *backend, unsigned int batch, unsigned int time)
{
	return study_want(c, w, backend, "--set paging.handlers=1 --set gmmu.far_fault_mshrs=0 "
			  "--set paging.batch=%u --set gpu.seed=%u --vram %llu", batch, time + 1,
			  room_for(c, w));
}

static int by_busy(const void *a, const void *b)
{
	double x = run_number(*(struct run *const *)a, "paging.busy_ns");
	double y = run_number(*(struct run *const *)b, "paging.busy_ns");

	/* Failed runs are the last. */
	if (isnan(x) || isnan(y))
		return isnan(x) - isnan(y);
	return (x > y) - (x < y);
}

static struct run *measured(struct study_ctx *c, const struct study_workload *w,
				  const char *backend, unsigned int batch)
{
	unsigned int n = strcmp(backend, "sim") ? REPEATS : 1;
	struct run *runs[REPEATS];

	for (unsigned int i = 0; i < n; i++)
		runs[i] = measured_once(c, w, backend, batch, i);
	qsort(runs, n, sizeof(*runs), by_busy);
	return runs[n / 2];
}

void paged_want_footprints(struct study_ctx *c)
{
	FOR_WORKLOADS(c, w)
		sized(c, w);
	sized(c, &filler);
}

void paged_want_measured(struct study_ctx *c)
{
	FOR_WORKLOADS(c, w) {
		measured(c, w, "sim", 256);
		for (size_t b = 0; b < ARRAY_SIZE(measuring); b++)
			if (study_has_backend(measuring[b]))
				measured(c, w, measuring[b], 256);
	}
	for (size_t b = 0; b < ARRAY_SIZE(measuring); b++)
		for (size_t i = 0; study_has_backend(measuring[b]) && i < ARRAY_SIZE(batches); i++)
			measured(c, &filler, measuring[b], batches[i]);
}

static const struct {
	const char *title, *path;
} stages[] = {
	{ "fetch", "raised_to_fetched" }, { "decide", "fetched_to_committed" }, { "evict", "evict" },
	{ "unmap", "unmap" }, { "copy", "copy" }, { "map", "map" }, { "replay", "replay" },
};

static void stage_row(struct study_table *t, const char *name, const struct run *r)
{
	double n = run_number(r, "paging.batches");
	double us = run_number(r, "paging.busy_ns") / n * 1e-3;
	double pages = run_number(r, "paging.h2d_bytes") / 4096 / n;
	size_t row = study_row_add(t, name), k = 0;

	study_cell(t, row, k++, pages);
	study_cell(t, row, k++, us);
	study_cell(t, row, k++, us / pages);
	study_cell(t, row, k++, us / 20);
	for (size_t i = 0; i < ARRAY_SIZE(stages); i++) {
		char path[64];

		snprintf(path, sizeof(path), "paging.stages_ns.%s", stages[i].path);
		study_cell(t, row, k++, run_number(r, path) * 1e-3);
	}
}

static void show_stages(struct study_ctx *c)
{
	struct study_table *t = study_table(c, "measured",
		"a fault batch as it is served here: microseconds, means", 2, false);

	study_column(t, "pages", NONE);
	study_column(t, "batch us", 20);
	study_column(t, "us/page", NONE);
	study_column(t, "x 20 us", NONE);
	for (size_t i = 0; i < ARRAY_SIZE(stages); i++)
		study_column(t, stages[i].title, NONE);
	for (size_t b = 0; b < ARRAY_SIZE(measuring); b++)
		for (size_t i = 0; study_has_backend(measuring[b]) && i < ARRAY_SIZE(batches);
		     i++) {
			const struct run *r = measured(c, &filler, measuring[b], batches[i]);
			char name[64];

			snprintf(name, sizeof(name), "%s, batch %u", measuring[b], batches[i]);
			stage_row(t, name, r);
			if (r->report)
				study_note(t, "measured on Linux %s, %s; %s",
					   output_string(r->report, "host.kernel"),
					   output_string(r->report, "host.virt"),
					   host_meaning(output_string(r->report, "host.virt")));
		}
	if (!t->nrows)
		study_note(t, "no backend that measures: kmod needs the module and gpuemud");
	else
		study_stack(c, t, 4, ARRAY_SIZE(stages), "microseconds a batch", false);
}

void paged_show_measured(struct study_ctx *c)
{
	struct study_table *t;
	size_t column = 0;

	show_stages(c);
	if (!study_has_backend(measuring[0]) && !study_has_backend(measuring[1]))
		return;
	t = study_table(c, "measured-time",
			"the same run with measured batches: time over that with 20 us each", 3, true);
	for (size_t b = 0; b < ARRAY_SIZE(measuring); b++)
		if (study_has_backend(measuring[b]))
			study_column(t, measuring[b], NONE);
	FOR_WORKLOADS(c, w)
		study_row_add(t, w->name);
	for (size_t b = 0; b < ARRAY_SIZE(measuring); b++) {
		size_t row = 0;

		if (!study_has_backend(measuring[b]))
			continue;
		FOR_WORKLOADS(c, w)
			study_cell(t, row++, column,
				   paged_cycles(measured(c, w, measuring[b], 256)) /
				   paged_cycles(measured(c, w, "sim", 256)));
		column++;
	}
	study_bars(c, t, FIGURE_BARS, "time over that with 20 us a batch", false);
}
