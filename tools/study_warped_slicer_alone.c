// SPDX-License-Identifier: GPL-2.0
/*
 * The parts of the study warped-slicer in which a program has the GPU for itself: tables I and II,
 * and figures 1, 3 and 5.
 */
#include <stdio.h>
#include <string.h>

#include "study_warped_slicer.h"

#define FOR_PROGRAMS(c, w, p)								\
	for (size_t i_ = 0; ((w) = slicer_workload(c, i_)) &&				\
			    ((p) = slicer_program((w)->name), true); i_++)		\
		if (p)

/* --- table I ---------------------------------------------------------------------------- */

void slicer_show_table1(struct study_ctx *c)
{
	const struct gpu_spec *s = &c->spec;
	const struct {
		const char *name;
		double paper, ours;
	} rows[] = {
		{ "SMs (compute units)", 16, (double)s->sms },
		{ "MHz of a lane's clock (twice ours)", 1400, 2 * (double)s->clock_mhz },
		{ "pipelines of 16 lanes", 2, (double)s->units_sp },
		{ "threads of an SM", 1536, 32 * (double)s->warps },
		{ "registers", 32768, (double)s->registers },
		{ "CTAs", 8, (double)s->ctas },
		{ "shared memory, KB", 48, (double)s->shared_bytes / 1024 },
		{ "warp schedulers", 2, (double)s->schedulers },
		{ "L1D, KB", 16, (double)(s->l1d_sets * s->l1d_ways * s->l1d_line) / 1024 },
		{ "L1D ways", 4, (double)s->l1d_ways },
		{ "L1D MSHRs", 64, (double)s->l1d_mshrs },
		{ "L2 of a memory channel, KB", 128,
		  (double)(s->l2_slices / s->dram_channels * s->l2_sets * s->l2_ways *
			   s->l2_line) / 1024 },
		{ "L2 ways", 8, (double)s->l2_ways },
		{ "memory channels", 6, (double)s->dram_channels },
		{ "memory, MHz", 924, (double)s->dram_clock_mhz },
		{ "tCL", 12, (double)s->dram_cl },
		{ "tRP", 12, (double)s->dram_rp },
		{ "tRC", 40, (double)s->dram_rc },
		{ "tRAS", 28, (double)s->dram_ras },
		{ "tRCD", 12, (double)s->dram_rcd },
		{ "tRRD", 6, (double)s->dram_rrd },
	};
	struct study_table *t = study_table(c, "table1", "the GPU (table I)", 0, false);
	unsigned int differ = 0;

	study_column(t, "paper", NONE);
	study_column(t, "here", NONE);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		size_t row = study_row_add(t, rows[i].name);

		study_cell(t, row, 0, rows[i].paper);
		study_cell(t, row, 1, rows[i].ours);
		differ += fabs(rows[i].paper - rows[i].ours) > 1e-9;
	}
	study_note(t, "%u values differ; FR-FCFS, scheduler %s, dispatch of several kernels to one SM %s",
		   differ, s->scheduler, s->mixed_sms ? "on" : "off");
}

/* --- table II ---------------------------------------------------------------------------- */

void slicer_want_alone(struct study_ctx *c)
{
	const struct study_workload *w;
	const struct slicer_program *p;

	FOR_PROGRAMS(c, w, p)
		slicer_alone(c, w, "");
}

/* L2 misses in lines of 128 bytes, a thousand warp instructions. L2 counts its sectors. */
static double mpki(const struct study_ctx *c, const struct run *r)
{
	double lines = run_number(r, "workloads.0.memory.l2.misses") * (double)c->spec.l2_sector / 128;

	return 1000 * lines / run_number(r, "workloads.0.warp_instructions");
}

static const char *const type_names[] = { "memory", "compute", "cache" };

static double dimension(const struct run *r, const char *what)
{
	double product = 1;
	char path[64];

	for (unsigned int i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "workloads.0.launch.%s.%u", what, i);
		product *= run_number(r, path);
	}
	return product;
}

void slicer_show_table2(struct study_ctx *c)
{
	struct study_table *t = study_table(c, "table2",
		"the programs alone (table II): per cent of registers, shared memory and unit time, L2 "
		"misses a thousand warp instructions; the paper's behind each", 1, false);
	static const char *const columns[] = {
		"CTAs", "paper", "block", "paper", "reg%", "paper", "shm%", "paper", "ALU%", "paper",
		"SFU%", "paper", "LS%", "paper", "MPKI", "paper", "IPC", "paper",
	};
	const struct study_workload *w;
	const struct slicer_program *p;
	char differ[256] = "";

	for (size_t i = 0; i < ARRAY_SIZE(columns); i++)
		study_column(t, columns[i], NONE);
	FOR_PROGRAMS(c, w, p) {
		struct run *r = slicer_alone(c, w, "");
		size_t row = study_row_add(t, p->abbr);
		double misses = mpki(c, r);
		const double cells[ARRAY_SIZE(columns)] = {
			dimension(r, "grid"), p->grid, dimension(r, "block"), p->block,
			100 * run_number(r, "workloads.0.utilization.registers"), p->reg,
			100 * run_number(r, "workloads.0.utilization.shared"), p->shm,
			100 * run_number(r, "workloads.0.utilization.sp"), p->alu,
			100 * run_number(r, "workloads.0.utilization.sfu"), p->sfu,
			100 * run_number(r, "workloads.0.utilization.ldst"), p->ls, misses, p->mpki,
			slicer_target(c, w) / slicer_reached(r, 0), p->inst * 1e9 / 2e6,
		};

		for (size_t k = 0; k < ARRAY_SIZE(cells); k++)
			study_cell(t, row, k, cells[k]);
		if (!isnan(misses) && p->type != CACHE && (misses >= 30) != (p->type == MEMORY))
			snprintf(differ + strlen(differ), sizeof(differ) - strlen(differ),
				 "; %s is %s there", p->abbr, type_names[p->type]);
	}
	study_note(t, "memory is 30 L2 misses or more (section II-C), cache is what figure 3 shows "
		   "(curves)%s", *differ ? differ : "; all others have the paper's type");
}

/* --- figure 1 ------------------------------------------------------------------------------ */

void slicer_show_stalls(struct study_ctx *c)
{
	static const struct {
		const char *column, *stall;
	} kinds[] = {
		{ "long memory", "long_latency" }, { "short RAW", "short_latency" },
		{ "exec. resource", "pipeline" }, { "i-buffer empty", "ibuffer" },
		{ "barrier", "barrier" }, { "no warp", "no_warp" }, { "issued", "issued" },
	};
	struct study_table *t = study_table(c, "stalls",
		"scheduler cycles by what they waited for (figure 1), per cent", 1, false);
	const struct study_workload *w;
	const struct slicer_program *p;
	double waste = 0, n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		study_column(t, kinds[i].column, NONE);
	FOR_PROGRAMS(c, w, p) {
		struct run *r = slicer_alone(c, w, "");
		double v[ARRAY_SIZE(kinds)], all = 0;
		size_t row = study_row_add(t, p->abbr);

		for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
			char path[64];

			snprintf(path, sizeof(path), "workloads.0.stalls.%s", kinds[i].stall);
			v[i] = run_number(r, path);
			all += v[i];
		}
		for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
			study_cell(t, row, i, 100 * v[i] / all);
		if (isfinite(v[0] / all)) {
			waste += 100 * (v[0] + v[2]) / all;
			n++;
		}
	}
	if (n > 0)
		study_note(t, "long memory latency and execution resources: %.0f%% of all cycles, paper "
			   "40%%", waste / n);
	study_bars(c, t, FIGURE_BARS, "% of scheduler cycles", false);
}

/* --- figure 3 -------------------------------------------------------------------------------- */

static struct run *limited(struct study_ctx *c, const struct study_workload *w, unsigned int ctas)
{
	char more[64];

	snprintf(more, sizeof(more), "--slice fixed --set slicer.fixed=%u", ctas);
	return slicer_alone(c, w, more);
}

void slicer_want_curves(struct study_ctx *c)
{
	const struct study_workload *w;
	const struct slicer_program *p;

	FOR_PROGRAMS(c, w, p)
		for (unsigned int n = 1; n <= slicer_ctas(c, w); n++)
			limited(c, w, n);
}

double slicer_ipc(struct study_ctx *c, const struct study_workload *w, unsigned int ctas)
{
	const struct run *r = limited(c, w, ctas);
	double n = run_number(r, "workloads.0.halted_instructions");

	return (isnan(n) ? run_number(r, "workloads.0.thread_instructions") : n) / slicer_reached(r, 0);
}

/* The curve's shape, in figure 3a's words; `best` is reached first at `at`. */
static const char *shape(const double *at, unsigned int n)
{
	double best = 0;
	unsigned int soon = n;

	for (unsigned int i = 0; i < n; i++)
		best = fmax(best, at[i]);
	for (unsigned int i = n; i > 0; i--)
		if (at[i - 1] >= 0.95 * best)
			soon = i;
	if (at[n - 1] < 0.95 * best)
		return "cache sensitive";
	if (2 * soon <= n)
		return "saturates at half";
	return soon < n ? "saturates" : "does not saturate";
}

void slicer_show_curves(struct study_ctx *c)
{
	struct study_table *t = study_table(c, "curves",
		"performance over CTAs of an SM (figure 3a): IPC over the program's best", 3, false);
	const struct study_workload *w;
	const struct slicer_program *p;
	struct figure f = study_lines(t, "CTAs of those that fit, %", "IPC over the best");
	char shapes[512] = "";
	size_t series = 0;

	for (unsigned int n = 1; n <= 8; n++) {
		char name[8];

		snprintf(name, sizeof(name), "%u", n);
		study_column(t, name, NONE);
	}
	FOR_PROGRAMS(c, w, p) {
		unsigned int n = MIN(slicer_ctas(c, w), 8u);
		size_t row = study_row_add(t, p->abbr);
		double at[8], best = 0;

		for (unsigned int i = 0; i < n; i++) {
			at[i] = slicer_ipc(c, w, i + 1);
			best = fmax(best, at[i]);
		}
		figure_series(&f, p->abbr);
		for (unsigned int i = 0; i < n; i++) {
			study_cell(t, row, i, at[i] / best);
			figure_point(&f, series, 100.0 * (i + 1) / n, at[i] / best);
		}
		series++;
		if (n && best > 0)
			snprintf(shapes + strlen(shapes), sizeof(shapes) - strlen(shapes), "%s%s %s",
				 *shapes ? ", " : "", p->abbr, shape(at, n));
	}
	study_note(t, "%s. Paper: HOT does not saturate, IMG saturates, BLK saturates early, NN and MVP "
		   "are cache sensitive", shapes);
	study_figure(c, t->name, &f);
}

/* --- figure 5 ---------------------------------------------------------------------------------- */

#define WINDOW	5000u

static struct run *watched(struct study_ctx *c, const struct study_workload *w)
{
	char more[64];

	snprintf(more, sizeof(more), "--set stats.interval=%u", WINDOW);
	return slicer_alone(c, w, more);
}

void slicer_want_window(struct study_ctx *c)
{
	const struct study_workload *w;
	const struct slicer_program *p;

	FOR_PROGRAMS(c, w, p)
		watched(c, w);
}

/* The IPC of n windows after the warm-up, or their share of cycles that waited for memory. */
static double of_windows(const struct study_ctx *c, const struct run *r, unsigned int n,
			 bool memory)
{
	double value = 0, cycles = 0;
	char path[64];

	for (unsigned int i = 4; i < 4 + n; i++) {
		/* Columns of a row (gpuemu-json(7)): 1 cycles, 3 instructions, 7 long_latency. */
		snprintf(path, sizeof(path), "samples.rows.%u.%u", i, memory ? 7u : 3u);
		value += run_number(r, path);
		snprintf(path, sizeof(path), "samples.rows.%u.1", i);
		cycles += run_number(r, path);
	}
	value /= cycles;
	return memory ? value / (double)(c->spec.sms * c->spec.schedulers) : value;
}

void slicer_show_window(struct study_ctx *c)
{
	struct study_table *t = study_table(c, "window",
		"a sample of 5K cycles behind 20K against 50K cycles (figure 5)", 3, false);
	const struct study_workload *w;
	const struct slicer_program *p;

	study_column(t, "IPC 5K", NONE);
	study_column(t, "IPC 50K", NONE);
	study_column(t, "phi 5K", NONE);
	study_column(t, "phi 50K", NONE);
	FOR_PROGRAMS(c, w, p) {
		struct run *r = watched(c, w);
		size_t row = study_row_add(t, p->abbr);

		for (unsigned int k = 0; k < 4; k++)
			study_cell(t, row, k, of_windows(c, r, k % 2 ? 10 : 1, k >= 2));
	}
}
