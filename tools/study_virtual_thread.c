// SPDX-License-Identifier: GPL-2.0
/*
 * Yoon et al., "Virtual Thread: Maximizing Thread-Level Parallelism beyond GPU Scheduling Limit",
 * ISCA'16: its figures 4 and 8 to 13. Numbers are of its text; what it gives only in a figure's
 * bars is no number here. Far faults are off, as the paper's GPU has none; what it could not ask,
 * the same under far faults, is study_virtual_thread_paging.c.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output.h"
#include "study_virtual_thread.h"

static const struct study_workload type_s[] = {
#define TYPE_S(name, abbreviation, full, quick)	{ name, full, quick },
#include "study_virtual_thread.def"
	{ NULL, NULL, NULL }
};

/* The paper's names, in the same order. */
static const char *const abbreviations[] = {
#define TYPE_S(name, abbreviation, full, quick)	abbreviation,
#include "study_virtual_thread.def"
};

static const struct study_workload type_c[] = {
#define TYPE_C(name, abbreviation, full, quick)	{ name, full, quick },
#include "study_virtual_thread.def"
	{ NULL, NULL, NULL }
};

const struct vt_design vt_designs[VT_DESIGNS] = {
	[BASELINE] = { "baseline", "--cta baseline --mem-order fifo", 1 },
	[MASCAR] = { "Mascar", "--cta baseline --mem-order mascar", 1.093 },
	[VT] = { "VT", "--cta vt --mem-order vt", 1.239 },
	[MAX_UNITS] = { "MAX", "--cta max --mem-order mascar", 1.269 },
};

static struct run *design(struct study_ctx *c, const struct study_workload *w, int d)
{
	return study_want(c, w, NULL, "--paging off %s", vt_designs[d].args);
}

/* The workload's name; of a workload that is several of the paper's programs, the paper's behind it. */
static const char *label(const struct study_workload *w, char *text, size_t bytes)
{
	const char *paper = "";
	unsigned int same = 0;

	for (size_t i = 0; type_s[i].name; i++) {
		same += !strcmp(type_s[i].name, w->name);
		if (!strcmp(type_s[i].name, w->name) && !strcmp(type_s[i].full, w->full))
			paper = abbreviations[i];
	}
	snprintf(text, bytes, "%s%s%s", w->name, same > 1 ? " " : "", same > 1 ? paper : "");
	return text;
}

size_t vt_row(struct study_table *t, const struct study_workload *w)
{
	char text[64];

	return study_row_add(t, label(w, text, sizeof(text)));
}

/* The program's own cycles: its instructions are the same, so their ratio is that of the IPC. */
double vt_cycles(const struct run *r)
{
	return run_number(r, "totals.cycles");
}

static double gain(struct study_ctx *c, const struct study_workload *w, const struct run *r)
{
	return vt_cycles(design(c, w, BASELINE)) / vt_cycles(r);
}

static double mean_of(const struct study_table *t, size_t column)
{
	double sum = 0, n = 0;

	for (size_t row = 0; row < t->nrows; row++) {
		double v = t->cells[row * t->ncolumns + column];

		if (isnan(v))
			continue;
		sum += v;
		n++;
	}
	return sum / n;
}

static void want_designs(struct study_ctx *c)
{
	FOR_WORKLOADS(c, w)
		for (int d = 0; d < VT_DESIGNS; d++)
			design(c, w, d);
}

/* --- figure 8 -------------------------------------------------------------------------------- */

static void show_designs(struct study_ctx *c)
{
	struct study_table *t = study_table(c, "designs",
		"instructions a cycle over the baseline's (figure 8), LRR", 3, true);

	for (int d = MASCAR; d < VT_DESIGNS; d++)
		study_column(t, vt_designs[d].name, vt_designs[d].paper);
	FOR_WORKLOADS(c, w) {
		size_t row = vt_row(t, w);

		for (int d = MASCAR; d < VT_DESIGNS; d++)
			study_cell(t, row, (size_t)(d - MASCAR), gain(c, w, design(c, w, d)));
	}
	study_bars(c, t, FIGURE_BARS, "IPC over the baseline's", false);
}

/* --- figure 4 -------------------------------------------------------------------------------- */

static const struct {
	const char *name, *path;
	double paper;			/* of the baseline (section III); the last four have 0.1 together */
} causes[] = {
	{ "issued", "stalls.issued", 1 - 0.591 }, { "pipeline", "stalls.pipeline", 0.248 },
	{ "long", "stalls.long_latency", 0.136 }, { "short", "stalls.short_latency", 0.107 },
	{ "ibuffer", "stalls.ibuffer", NONE }, { "barrier", "stalls.barrier", NONE },
	{ "no warp", "stalls.no_warp", NONE }, { "swapped", "stalls.swapped_out", NONE },
};

/* A cause that no design of the run can have is not in its report. */
static double slots(const struct run *r, const char *path)
{
	double n = run_number(r, path);

	return isnan(n) && !isnan(study_scheduler_cycles(r)) ? 0 : n;
}

static void want_stalls(struct study_ctx *c)
{
	FOR_WORKLOADS(c, w) {
		design(c, w, BASELINE);
		design(c, w, VT);
	}
}

/* Stall cycles of VT over the baseline's: the schedulers are as many, and issue as much. */
static void show_stalls(struct study_ctx *c)
{
	struct study_table *t = study_table(c, "stalls",
		"where the schedulers' cycles go, as shares of the baseline's (figure 4): B, VT", 3, false);
	struct figure f = { .kind = FIGURE_STACKED, .xlabel = "",
			    .ylabel = "schedulers' cycles over the baseline's",
			    .title = "Schedulers' cycles, baseline and Virtual Thread (ISCA'16 figure 4)" };
	size_t left = study_column(t, "VT stalls", 1 - 0.181);
	char name[80], program[64];

	for (size_t i = 0; i < ARRAY_SIZE(causes); i++) {
		snprintf(name, sizeof(name), "%s B", causes[i].name);
		study_column(t, name, causes[i].paper);
		snprintf(name, sizeof(name), "%s VT", causes[i].name);
		study_column(t, name, NONE);
		figure_series(&f, causes[i].name);
	}
	FOR_WORKLOADS(c, w) {
		const struct run *r[] = { design(c, w, BASELINE), design(c, w, VT) };
		double all = study_scheduler_cycles(r[0]), issued = run_number(r[0], "stalls.issued");
		size_t row = vt_row(t, w);

		study_cell(t, row, left, (study_scheduler_cycles(r[1]) - issued) / (all - issued));
		for (size_t k = 0; k < ARRAY_SIZE(r); k++) {
			snprintf(name, sizeof(name), "%s %s",
				 label(w, program, sizeof(program)), k ? "VT" : "B");
			figure_label(&f, name);
			for (size_t i = 0; i < ARRAY_SIZE(causes); i++) {
				double share = slots(r[k], causes[i].path) / all;

				study_cell(t, row, 1 + 2 * i + k, share);
				figure_point(&f, i, (double)(2 * row + k), share);
			}
		}
	}
	if (!isnan(mean_of(t, left)))
		study_note(t, "VT has %.1f%% fewer stall cycles, mean of the programs; the baseline issues in %.1f%% of "
			   "them; paper: 18.1%% fewer, 40.9%%", 100 * (1 - mean_of(t, left)),
			   100 * mean_of(t, 1));
	study_figure(c, "stalls", &f);
}

/* --- figure 9 -------------------------------------------------------------------------------- */

static const struct {
	const char *name;
	double paper;
} schedulers[] = { { "lrr", 1.239 }, { "gto", 1.222 }, { "two_level", 1.239 } };

static struct run *scheduled(struct study_ctx *c, const struct study_workload *w, size_t s, int d)
{
	return s ? study_want(c, w, NULL, "--paging off %s --set sm.scheduler=%s", vt_designs[d].args,
			      schedulers[s].name) : design(c, w, d);
}

static void want_schedulers(struct study_ctx *c)
{
	FOR_WORKLOADS(c, w)
		for (size_t s = 0; s < ARRAY_SIZE(schedulers); s++) {
			scheduled(c, w, s, BASELINE);
			scheduled(c, w, s, VT);
		}
}

static void show_schedulers(struct study_ctx *c)
{
	struct study_table *t = study_table(c, "schedulers",
		"VT's instructions a cycle over the same scheduler's baseline (figure 9)", 3, true);

	for (size_t s = 0; s < ARRAY_SIZE(schedulers); s++)
		study_column(t, schedulers[s].name, schedulers[s].paper);
	FOR_WORKLOADS(c, w) {
		size_t row = vt_row(t, w);

		for (size_t s = 0; s < ARRAY_SIZE(schedulers); s++)
			study_cell(t, row, s, vt_cycles(scheduled(c, w, s, BASELINE)) /
					      vt_cycles(scheduled(c, w, s, VT)));
	}
	study_bars(c, t, FIGURE_BARS, "IPC over the same scheduler's baseline", false);
}

/* --- figures 10 and 11, and the reading of a barrier --------------------------------------------- */

/* Columns that are VT with one key changed; the first is VT as it is. */
struct variant {
	const char *name, *set;
	double paper;
};

/* 512 bits a cycle of the paper's 1.4 GHz are 1024 of a cycle of 700 MHz (gtx480-vt). */
static const struct variant swap_costs[] = {
	{ "512 bits", "vt.bits=1024", 1.239 }, { "256 bits", "vt.bits=512", NONE },
	{ "1024 bits", "vt.bits=2048", NONE }, { "free", "vt.bits=0", 1.239 * 1.004 },
	{ NULL, NULL, 0 }
};

static const struct variant contexts[] = {
	{ "x1", "vt.context=1", 1.239 }, { "x2", "vt.context=2", 1.239 * (1 - 0.002) },
	{ "x4", "vt.context=4", 1.239 * (1 - 0.011) }, { NULL, NULL, 0 }
};

static const struct variant barriers[] = {
	{ "stalled", "vt.barrier=stalled", NONE }, { "ignored", "vt.barrier=ignored", NONE },
	{ NULL, NULL, 0 }
};

static struct run *varied(struct study_ctx *c, const struct study_workload *w,
			  const struct variant *v, size_t i)
{
	/* The first is the default, whose run other parts have. */
	return i ? study_want(c, w, NULL, "--paging off %s --set %s", vt_designs[VT].args, v[i].set) :
		   design(c, w, VT);
}

static void want_variants(struct study_ctx *c, const struct variant *v)
{
	FOR_WORKLOADS(c, w) {
		design(c, w, BASELINE);
		for (size_t i = 0; v[i].name; i++)
			varied(c, w, v, i);
	}
}

static struct study_table *show_variants(struct study_ctx *c, const char *name, const char *title,
					 const struct variant *v)
{
	struct study_table *t = study_table(c, name, title, 3, true);

	for (size_t i = 0; v[i].name; i++)
		study_column(t, v[i].name, v[i].paper);
	FOR_WORKLOADS(c, w) {
		size_t row = vt_row(t, w);

		for (size_t i = 0; v[i].name; i++)
			study_cell(t, row, i, gain(c, w, varied(c, w, v, i)));
	}
	study_bars(c, t, FIGURE_BARS, "IPC over the baseline's", false);
	return t;
}

static void want_swap(struct study_ctx *c)
{
	want_variants(c, swap_costs);
}

static void show_swap(struct study_ctx *c)
{
	struct study_table *t = show_variants(c, "swap",
		"VT over the baseline by what a swap's port carries a cycle of 1.4 GHz (figure 10)", swap_costs);

	if (!isnan(study_geomean(t, 0)) && !isnan(study_geomean(t, 3)))
		study_note(t, "free swaps are %.1f%% faster than 512 bits; paper: 0.4%%",
			   100 * (study_geomean(t, 3) / study_geomean(t, 0) - 1));
}

static void want_context(struct study_ctx *c)
{
	want_variants(c, contexts);
}

static void show_context(struct study_ctx *c)
{
	show_variants(c, "context", "VT over the baseline by the size of a CTA's context (figure 11)",
		      contexts);
}

static void want_barrier(struct study_ctx *c)
{
	want_variants(c, barriers);
}

static void show_barrier(struct study_ctx *c)
{
	show_variants(c, "barrier",
		      "VT over the baseline: what a warp at a barrier counts as (the paper is silent)",
		      barriers);
}

/* --- figures 12 and 13 ---------------------------------------------------------------------------- */

static const struct {
	const char *name, *path;
	double b, vt;		/* the paper's means */
} uses[] = {
	{ "registers", "utilization.registers", 0.502, 0.938 },
	{ "shared", "utilization.shared", 0.154, 0.385 },
	{ "DRAM", "utilization.dram", 0.217, 0.274 },
};

static double miss_rate(const struct run *r)
{
	return run_number(r, "memory.l1d.read_misses") / run_number(r, "memory.l1d.reads");
}

/*
 * The mean share of L1D's MSHRs in use, by Little's law: the rate at which lines are asked for
 * times the mean time of a read from the SM and back.
 */
static double mshr_use(const struct study_ctx *c, const struct run *r)
{
	double lines = run_number(r, "memory.l1d.read_misses");

	return lines * run_number(r, "memory.latency.mean") / run_number(r, "totals.cycles") /
	       (double)(c->spec.sms * c->spec.l1d_mshrs);
}

static void show_use(struct study_ctx *c)
{
	struct study_table *t = study_table(c, "use",
		"use of registers, shared memory, DRAM and L1D's MSHRs (figures 12, 13), L1D's misses of loads: B, VT",
		3, false);
	size_t n = 2 * ARRAY_SIZE(uses);
	char name[32];

	for (size_t i = 0; i < ARRAY_SIZE(uses); i++) {
		snprintf(name, sizeof(name), "%s B", uses[i].name);
		study_column(t, name, uses[i].b);
		snprintf(name, sizeof(name), "%s VT", uses[i].name);
		study_column(t, name, uses[i].vt);
	}
	study_column(t, "misses B", NONE);
	study_column(t, "misses VT", NONE);
	study_column(t, "MSHRs B", 0.175);
	study_column(t, "MSHRs VT", 0.271);
	FOR_WORKLOADS(c, w) {
		size_t row = vt_row(t, w);

		for (size_t k = 0; k < 2; k++) {
			const struct run *r = design(c, w, k ? VT : BASELINE);

			for (size_t i = 0; i < ARRAY_SIZE(uses); i++)
				study_cell(t, row, 2 * i + k, run_number(r, uses[i].path));
			study_cell(t, row, n + k, miss_rate(r));
			study_cell(t, row, n + 2 + k, mshr_use(c, r));
		}
	}
	if (!isnan(mean_of(t, 0)))
		study_note(t, "means: registers %.1f%% to %.1f%%, shared memory %.1f%% to %.1f%%, DRAM %.1f%% to %.1f%%, "
			   "MSHRs %.1f%% to %.1f%%, misses %+.1f points; paper: 50.2 to 93.8, 15.4 to 38.5, "
			   "21.7 to 27.4, 17.5 to 27.1, below +1.7",
			   100 * mean_of(t, 0), 100 * mean_of(t, 1), 100 * mean_of(t, 2),
			   100 * mean_of(t, 3), 100 * mean_of(t, 4), 100 * mean_of(t, 5),
			   100 * mean_of(t, n + 2), 100 * mean_of(t, n + 3),
			   100 * (mean_of(t, n + 1) - mean_of(t, n)));
}

/* --- Type C ----------------------------------------------------------------------------------------- */

/* VT without its queues, which order a baseline's loads as well. */
static struct run *unqueued(struct study_ctx *c, const struct study_workload *w)
{
	return study_want(c, w, NULL, "--paging off --cta vt --mem-order fifo");
}

/* The baseline with what VT's queues are where no CTA is inactive: one that loads try again from. */
static struct run *queued(struct study_ctx *c, const struct study_workload *w)
{
	return study_want(c, w, NULL, "--paging off --cta baseline --mem-order reexecute");
}

static void want_type_c(struct study_ctx *c)
{
	for (const struct study_workload *w = type_c; w->name; w++) {
		design(c, w, BASELINE);
		unqueued(c, w);
		queued(c, w);
		design(c, w, VT);
	}
}

static void show_type_c(struct study_ctx *c)
{
	struct study_table *t = study_table(c, "type-c",
		"programs that the capacity limits: VT's cycles over the baseline's", 4, true);
	size_t swaps = study_column(t, "VT, FIFO", 1), queues = study_column(t, "VT", 1);
	size_t both = study_column(t, "over queue", 1);

	for (const struct study_workload *w = type_c; w->name; w++) {
		size_t row = vt_row(t, w);

		study_cell(t, row, swaps,
			   vt_cycles(unqueued(c, w)) / vt_cycles(design(c, w, BASELINE)));
		study_cell(t, row, queues,
			   vt_cycles(design(c, w, VT)) / vt_cycles(design(c, w, BASELINE)));
		study_cell(t, row, both, vt_cycles(design(c, w, VT)) / vt_cycles(queued(c, w)));
	}
	study_note(t, "VT, FIFO has no queues; over queue: VT's cycles over those of a baseline that has a "
		   "re-execution queue (--mem-order reexecute)");
}

/* --- the study ------------------------------------------------------------------------------------------ */

static const struct study_part parts[] = {
	{ "table1", "table I: the paper's GPU and this study's", NULL, NULL, vt_show_table1, false },
	{ "designs", "figure 8: baseline, Mascar, VT, MAX", want_designs, NULL, show_designs, false },
	{ "stalls", "figure 4: where the schedulers' cycles go", want_stalls, NULL, show_stalls, false },
	{ "schedulers", "figure 9: LRR, GTO, two-level", want_schedulers, NULL, show_schedulers, false },
	{ "swap", "figure 10: what a swap costs", want_swap, NULL, show_swap, false },
	{ "context", "figure 11: larger contexts", want_context, NULL, show_context, false },
	{ "barrier", "a warp at a barrier counts as stalled, or not", want_barrier, NULL, show_barrier, false },
	{ "use", "figures 12, 13: registers, shared memory, DRAM, L1D and its MSHRs", want_stalls, NULL, show_use, false },
	{ "type-c", "programs at the capacity limit", want_type_c, NULL, show_type_c, false },
	{ "paging", "VT under far faults of 5 to 50 us", vt_want_paging, NULL, vt_show_paging, true },
	{ "batches", "batches of far faults, CTAs beyond the capacity: BAUM (ASPLOS'20)", vt_want_footprints,
	  vt_want_batches, vt_show_batches, true },
	{ "measured", "VT under far faults that this kernel serves", vt_want_measured_footprints,
	  vt_want_measured, vt_show_measured, false },
	{ 0 }
};

const struct study study_virtual_thread = {
	.name = "virtual-thread",
	.help = "ISCA'16, Virtual Thread: more CTAs than the scheduler can hold",
	.config = "gtx480-vt",
	.workloads = type_s,
	.parts = parts,
};
