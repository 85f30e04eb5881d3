// SPDX-License-Identifier: GPL-2.0
/* Tables 2 and 3 of the study zorua: the GPUs and the programs' specifications, with the paper's. */
#include <stdio.h>
#include <string.h>

#include "study_kernel.h"
#include "study_zorua.h"
#include "target.h"

/* The study's own GPU is the first. */
static int read_gpus(const struct study_ctx *c, struct gpu_spec specs[ZORUA_GPUS])
{
	static const char *const configs[ZORUA_GPUS] = { NULL, "kepler", "maxwell" };
	struct target t;
	struct err err;
	int ret = 0;

	specs[FERMI] = c->spec;
	for (int gpu = KEPLER; gpu < ZORUA_GPUS && !ret; gpu++) {
		target_init(&t);
		t.config = configs[gpu];
		ret = target_check(&t, &err) ? -1 : target_spec(&t, &specs[gpu], &err);
	}
	return ret;
}

/* In GB/s. */
static double bandwidth(const struct gpu_spec *s)
{
	return (double)(s->dram_channels * s->dram_bus * s->dram_ratio * s->dram_clock_mhz) / 1e3;
}

void zorua_show_table2(struct study_ctx *c)
{
	static const struct {
		const char *name;
		double paper[ZORUA_GPUS];
	} rows[] = {
		{ "SMs", { 15, 15, 15 } }, { "memory channels", { 6, 6, 6 } },
		{ "MHz", { 1400, 1400, 1400 } }, { "schedulers of an SM", { 2, 2, 2 } },
		{ "warps", { 48, 64, 64 } }, { "registers", { 32768, 65536, 65536 } },
		{ "scratchpad, KB", { 48, 48, 64 } }, { "L1, KB", { 32, 32, 32 } },
		{ "L1 ways", { 4, 4, 4 } }, { "L2, KB", { 768, 768, 768 } },
		{ "L2 ways", { 16, 16, 16 } }, { "GB/s", { 177.4, 177.4, 177.4 } },
		{ "banks of a channel", { 16, 16, 16 } }, { "CTAs", { NONE, NONE, NONE } },
	};
	struct study_table *t = study_table(c, "table2", "the GPUs (table 2), the paper's behind each", 1,
					    false);
	struct gpu_spec specs[ZORUA_GPUS];
	unsigned int differ = 0;

	for (int gpu = 0; gpu < ZORUA_GPUS; gpu++) {
		study_column(t, zorua_gpus[gpu], NONE);
		study_column(t, "paper", NONE);
	}
	if (read_gpus(c, specs))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		size_t row = study_row_add(t, rows[i].name);

		for (size_t gpu = 0; gpu < ZORUA_GPUS; gpu++) {
			const struct gpu_spec *s = &specs[gpu];
			const double ours[ARRAY_SIZE(rows)] = {
				(double)s->sms, (double)s->dram_channels, (double)s->clock_mhz,
				(double)s->schedulers, (double)s->warps, (double)s->registers,
				(double)s->shared_bytes / 1024,
				(double)(s->l1d_sets * s->l1d_ways * s->l1d_line) / 1024,
				(double)s->l1d_ways,
				(double)(s->l2_slices * s->l2_sets * s->l2_ways * s->l2_line) /
					1024,
				(double)s->l2_ways, bandwidth(s), (double)s->dram_banks,
				(double)s->ctas,
			};

			study_cell(t, row, 2 * gpu, ours[i]);
			study_cell(t, row, 2 * gpu + 1, rows[i].paper[gpu]);
			differ += fabs(ours[i] - rows[i].paper[gpu]) > 0.05;
		}
	}
	study_note(t, "%u values differ; scheduler %s. The paper's table has no limit of CTAs", differ,
		   c->spec.scheduler);
}

/* "28-44", or nothing where there is no such axis. */
static void show_axis(struct study_table *t, size_t row, size_t column, unsigned int from,
		      unsigned int to)
{
	if (to)
		study_text(t, row, column, "%u-%u", from, to);
}

/* The program as the compiler has it without a limit. */
static struct run *unlimited(struct study_ctx *c, const struct study_workload *w)
{
	return study_want(c, w, NULL, "--functional");
}

void zorua_want_table3(struct study_ctx *c)
{
	FOR_WORKLOADS(c, w)
		if (zorua_program(w->name))
			unlimited(c, w);
}

void zorua_show_table3(struct study_ctx *c)
{
	static const char *const columns[] = {
		"", "paper", "R", "T", "S", "specifications", "R needed",
	};
	struct study_table *t = study_table(c, "table3",
		"the specifications (table 3): registers a thread, threads a CTA, scratchpad a CTA", 0,
		false);
	size_t programs = 0, all = 0;

	for (size_t i = 0; i < ARRAY_SIZE(columns); i++)
		study_column(t, columns[i], NONE);
	FOR_WORKLOADS(c, w) {
		const struct zorua_program *p = zorua_program(w->name);
		struct zorua_point points[ZORUA_POINTS], least, most;
		size_t n = zorua_points(c, w, points), row;
		struct study_kernel kernel;

		if (!n)
			continue;
		least = most = points[0];
		for (size_t i = 1; i < n; i++) {
			least.threads = MIN(least.threads, points[i].threads);
			most.threads = MAX(most.threads, points[i].threads);
			most.registers = MAX(most.registers, points[i].registers);
			most.scratchpad = MAX(most.scratchpad, points[i].scratchpad);
		}
		row = study_row_add(t, w->name);
		study_text(t, row, 0, "%s", p->abbreviation);
		study_text(t, row, 1, "%s", p->paper);
		show_axis(t, row, 2, least.registers, most.registers);
		show_axis(t, row, 3, least.threads, most.threads);
		show_axis(t, row, 4, least.scratchpad, most.scratchpad);
		study_cell(t, row, 5, (double)n);
		if (study_main_kernel(c, unlimited(c, w), &kernel))
			study_cell(t, row, 6, (double)kernel.registers);
		programs++;
		all += n;
	}
	if (programs)
		study_note(t, "%.0f on average, paper 36; those whose CTA an SM of Fermi cannot hold are "
			   "left out. R needed: what our compiler gives the kernel that issues most; more "
			   "is reserved, with less it spills", (double)all / (double)programs);
}
