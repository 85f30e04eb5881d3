// SPDX-License-Identifier: GPL-2.0
/*
 * Of the study virtual-thread what the paper could not ask, because its GPU has no far faults: the
 * same designs while pages arrive. Batches and CTAs beyond the capacity are those of Kim et al.,
 * "Batch-Aware Unified Memory Management in GPUs for Irregular Workloads" (BAUM), ASPLOS'20; its
 * numbers are means of eleven graph programs on another simulator.
 */
#include <stdio.h>
#include <string.h>

#include "host.h"
#include "output.h"
#include "study_virtual_thread.h"

/* --- far faults of a given time --------------------------------------------------------------- */

static const unsigned int fault_us[] = { 5, 10, 20, 50 };

static struct run *faulting(struct study_ctx *c, const struct study_workload *w, unsigned int us,
			    int design)
{
	return study_want(c, w, NULL, "%s --set paging.handlers=0 --set paging.service_ns=%u",
			  vt_designs[design].args, us * 1000);
}

void vt_want_paging(struct study_ctx *c)
{
	FOR_WORKLOADS(c, w)
		for (size_t i = 0; i < ARRAY_SIZE(fault_us); i++) {
			faulting(c, w, fault_us[i], BASELINE);
			faulting(c, w, fault_us[i], VT);
		}
}

void vt_show_paging(struct study_ctx *c)
{
	struct study_table *t = study_table(c, "paging",
		"under far faults: VT's time over the baseline's, by what a far fault takes", 3, true);

	for (size_t i = 0; i < ARRAY_SIZE(fault_us); i++) {
		char name[16];

		snprintf(name, sizeof(name), "%u us", fault_us[i]);
		study_column(t, name, NONE);
	}
	FOR_WORKLOADS(c, w) {
		size_t row = vt_row(t, w);

		for (size_t i = 0; i < ARRAY_SIZE(fault_us); i++)
			study_cell(t, row, i, vt_cycles(faulting(c, w, fault_us[i], VT)) /
					      vt_cycles(faulting(c, w, fault_us[i], BASELINE)));
	}
	study_bars(c, t, FIGURE_BARS, "time over the baseline's", false);
}

/* --- batches: BAUM ---------------------------------------------------------------------------- */

/*
 * One handler that serves batches of 256, and the median of what the driver's part of a batch takes
 * there, 140 us. SMs do not limit how many far faults they have. The driver prefetches by its tree.
 * BAUM's programs are graphs, of whose pages a prefetcher guesses few; our 18 are regular, and are
 * run without one as well.
 */
#define HANDLER	"--set paging.handlers=1 --set gmmu.far_fault_mshrs=0 --set paging.service_ns=140000"
/* The most CTAs beyond the capacity. Premature evictions decide how many of them there are. */
#define BEYOND	"--set vt.oversubscribe=8"

enum { PLAIN, SWAPS, BEYOND_CAPACITY, HANDLED };

static const struct {
	const char *name;
	int design;
	const char *more;
} handled[HANDLED] = {
	[PLAIN] = { "baseline", BASELINE, "" },
	[SWAPS] = { "VT", VT, "" },
	[BEYOND_CAPACITY] = { "VT+", VT, " " BEYOND },
};

/* Device memory in percent of what the program uses. */
static const unsigned int memories[] = { 100, 50 };

static struct run *sized(struct study_ctx *c, const struct study_workload *w)
{
	return study_want(c, w, "sim", "--copy");
}

/* Whole blocks of the prefetcher, and two: what is evicted is never what arrives. */
static unsigned long long room_for(struct study_ctx *c, const struct study_workload *w,
				   unsigned int percent)
{
	double footprint = run_number(sized(c, w), "workload.footprint_bytes");
	unsigned long long block = 64ull << 10;
	/* If the run failed, its time is unknown, and there is nothing to compare with. */
	unsigned long long bytes = isnan(footprint) ? 1ull << 20 : (unsigned long long)footprint;

	return (bytes * percent / 100 / block + 2) * block;
}

static struct run *batched(struct study_ctx *c, const struct study_workload *w,
			   unsigned int percent, int h, const char *prefetch)
{
	return study_want(c, w, NULL, "%s " HANDLER " --prefetch %s%s --vram %llu",
			  vt_designs[handled[h].design].args, prefetch, handled[h].more,
			  room_for(c, w, percent));
}

void vt_want_footprints(struct study_ctx *c)
{
	FOR_WORKLOADS(c, w)
		sized(c, w);
}

void vt_want_batches(struct study_ctx *c)
{
	FOR_WORKLOADS(c, w) {
		for (size_t m = 0; m < ARRAY_SIZE(memories); m++)
			for (int h = 0; h < HANDLED; h++)
				batched(c, w, memories[m], h, "tree");
		batched(c, w, 50, PLAIN, "none");
		batched(c, w, 50, BEYOND_CAPACITY, "none");
	}
}

static double batches(const struct run *r)
{
	return run_number(r, "paging.batches");
}

static double faults_a_batch(const struct run *r)
{
	return run_number(r, "paging.far_faults") / batches(r);
}

/* What CTAs beyond the capacity do in half the memory, over the baseline with the same prefetcher. */
static double beyond_time(struct study_ctx *c, const struct study_workload *w, const char *prefetch)
{
	return vt_cycles(batched(c, w, 50, BEYOND_CAPACITY, prefetch)) /
	       vt_cycles(batched(c, w, 50, PLAIN, prefetch));
}

static void show_times(struct study_ctx *c)
{
	struct study_table *t = study_table(c, "batches",
		"batches of far faults: time over the baseline's; VT+ has CTAs beyond the capacity (BAUM)",
		3, true);
	char name[32];

	for (size_t m = 0; m < ARRAY_SIZE(memories); m++)
		for (int h = SWAPS; h < HANDLED; h++) {
			snprintf(name, sizeof(name), "%u%% %s", memories[m], handled[h].name);
			/* "2x": of its oversubscription and its early eviction together. */
			study_column(t, name,
				     memories[m] < 100 && h == BEYOND_CAPACITY ? 0.5 : NONE);
		}
	study_column(t, "no prefetch", 0.5);
	FOR_WORKLOADS(c, w) {
		size_t row = vt_row(t, w), k = 0;

		for (size_t m = 0; m < ARRAY_SIZE(memories); m++)
			for (int h = SWAPS; h < HANDLED; h++)
				study_cell(t, row, k++,
					   vt_cycles(batched(c, w, memories[m], h, "tree")) /
					   vt_cycles(batched(c, w, memories[m], PLAIN, "tree")));
		study_cell(t, row, k, beyond_time(c, w, "none"));
	}
	study_note(t, "no prefetch: 50%% VT+ over a baseline, both without a prefetcher. The paper's 2x is of oversubscription "
		   "and early eviction together; with early eviction here: --set paging.watermark");
	study_bars(c, t, FIGURE_BARS, "time over the baseline's", false);
}

/* The batches of table batch-size, in half the memory. */
static const struct {
	const char *name;
	int h;
	const char *prefetch;
	bool papers;			/* BAUM's numbers are beside it */
} sizes[] = {
	{ "VT", SWAPS, "tree", false },
	{ "VT+", BEYOND_CAPACITY, "tree", true },
	{ "no prefetch", BEYOND_CAPACITY, "none", true },
};

static void show_sizes(struct study_ctx *c)
{
	struct study_table *t = study_table(c, "batch-size",
		"the same: faults a batch and batches, over the baseline's, with half the memory", 3, true);
	char name[32];

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		snprintf(name, sizeof(name), "faults %s", sizes[i].name);
		study_column(t, name, sizes[i].papers ? 2.27 : NONE);
		snprintf(name, sizeof(name), "batches %s", sizes[i].name);
		study_column(t, name, sizes[i].papers ? 0.49 : NONE);
	}
	FOR_WORKLOADS(c, w) {
		size_t row = vt_row(t, w), k = 0;

		for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
			const struct run *r = batched(c, w, 50, sizes[i].h, sizes[i].prefetch);
			const struct run *plain = batched(c, w, 50, PLAIN, sizes[i].prefetch);

			study_cell(t, row, k++, faults_a_batch(r) / faults_a_batch(plain));
			study_cell(t, row, k++, batches(r) / batches(plain));
		}
	}
}

void vt_show_batches(struct study_ctx *c)
{
	show_times(c);
	show_sizes(c);
}

/* --- measured --------------------------------------------------------------------------------- */

/* Three programs whose pages come by far faults all the time they run. */
static const struct study_workload measured[] = {
	{ "vecadd", "n=256K", "n=64K" },
	{ "fdtd2d", "rows=512 cols=512 steps=1", "rows=256 cols=256 steps=1" },
	{ "reduce", "n=1M ctas=512", "n=256K ctas=256" },
};

static const char *const measuring[] = { "sim", "kmod", "uffd" };

/* It is measured several times, and the median counts. */
#define REPEATS	3u

void vt_want_measured_footprints(struct study_ctx *c)
{
	for (size_t p = 0; p < ARRAY_SIZE(measured); p++)
		sized(c, &measured[p]);
}

static struct run *measured_once(struct study_ctx *c, const struct study_workload *w,
				 const char *backend, int design, unsigned int time)
{
	return study_want(c, w, backend, "%s --set paging.handlers=1 --set gmmu.far_fault_mshrs=0 "
			  "--set gpu.seed=%u --vram %llu", vt_designs[design].args, time + 1,
			  room_for(c, w, 100));
}

static double measured_cycles(struct study_ctx *c, const struct study_workload *w,
			      const char *backend, int design)
{
	unsigned int n = strcmp(backend, "sim") ? REPEATS : 1;
	double all[REPEATS];

	for (unsigned int i = 0; i < n; i++) {
		double x = vt_cycles(measured_once(c, w, backend, design, i));
		unsigned int k = i;

		for (; k && all[k - 1] > x; k--)
			all[k] = all[k - 1];
		all[k] = x;
	}
	return all[n / 2];
}

void vt_want_measured(struct study_ctx *c)
{
	for (size_t p = 0; p < ARRAY_SIZE(measured); p++)
		for (size_t b = 0; b < ARRAY_SIZE(measuring); b++)
			if (study_has_backend(measuring[b])) {
				measured_cycles(c, &measured[p], measuring[b], BASELINE);
				measured_cycles(c, &measured[p], measuring[b], VT);
			}
}

void vt_show_measured(struct study_ctx *c)
{
	struct study_table *t = study_table(c, "measured",
		"VT's time over the baseline's where batches take what this kernel takes (sim: 20 us)", 3, true);
	const struct run *r;

	for (size_t b = 0; b < ARRAY_SIZE(measuring); b++)
		if (study_has_backend(measuring[b]))
			study_column(t, measuring[b], NONE);
	for (size_t p = 0; p < ARRAY_SIZE(measured); p++) {
		const struct study_workload *w = &measured[p];
		size_t row = study_row_add(t, w->name), column = 0;

		for (size_t b = 0; b < ARRAY_SIZE(measuring); b++)
			if (study_has_backend(measuring[b]))
				study_cell(t, row, column++,
					   measured_cycles(c, w, measuring[b], VT) /
					   measured_cycles(c, w, measuring[b], BASELINE));
	}
	for (size_t b = 1; b < ARRAY_SIZE(measuring); b++) {
		if (!study_has_backend(measuring[b]))
			continue;
		r = measured_once(c, &measured[0], measuring[b], BASELINE, 0);
		if (r->report)
			study_note(t, "%s: measured on Linux %s, %s; %s; medians of %u", measuring[b],
				   output_string(r->report, "host.kernel"),
				   output_string(r->report, "host.virt"),
				   host_meaning(output_string(r->report, "host.virt")), REPEATS);
	}
	study_bars(c, t, FIGURE_BARS, "time over the baseline's", false);
}
