// SPDX-License-Identifier: GPL-2.0
/*
 * Vijaykumar et al., "Zorua: A Holistic Approach to Resource Virtualization in GPUs", MICRO'16,
 * and its extended version (arXiv:1802.02573): the specifications of its eight programs and their
 * runs. The parts are in study_zorua_tables.c, _points.c, _seeds.c, _use.c and _overheads.c (one
 * GPU) and _porting.c (three).
 * Numbers are of the text; what it gives only in a figure's bars is no number here.
 *
 * A specification's registers are both what the compiler may take, so that fewer spill, and what
 * the SM reserves for a thread that needs less: our compiler gives some of the programs fewer
 * registers than theirs did, and with these no limit of the SM would bind.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "study_zorua.h"

static const struct study_workload workloads[] = {
#define PROGRAM(name, abbreviation, paper, full, quick, ...)	{ name, full, quick },
#include "study_zorua.def"
	{ NULL, NULL, NULL }
};

static const struct zorua_program programs[] = {
#define AXIS(from, to, step, quick)	{ from, to, step, quick }
#define PROGRAM(name, abbreviation, paper, full, quick, small, grid, grid_quick, r, t, s)	\
	{ name, abbreviation, paper, small, grid, grid_quick, r, t, s },
#include "study_zorua.def"
};

const char *const zorua_gpus[ZORUA_GPUS] = { "Fermi", "Kepler", "Maxwell" };
const char *const zorua_mechanisms[ZORUA_MECHANISMS] = { "cta", "wlm", "zorua" };

const struct zorua_program *zorua_program(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(programs); i++)
		if (!strcmp(programs[i].name, name))
			return &programs[i];
	return NULL;
}

/* --- specifications ------------------------------------------------------------------- */

static unsigned int next(const struct zorua_axis *a, unsigned int value, bool quick)
{
	int step = quick ? a->quick : a->step;

	return step > 0 ? value + (unsigned int)step : value * (unsigned int)-step;
}

/* Shared memory is no question here: an SM of each of the GPUs has enough for a CTA of any. */
static bool fits(const struct gpu_spec *s, const struct zorua_point *p)
{
	uint64_t unit = s->occupancy_reg_unit, warps = DIV_ROUND_UP(p->threads, 32);

	return warps <= s->warps &&
	       DIV_ROUND_UP(p->registers, unit) * unit * warps * 32 <= s->registers;
}

size_t zorua_points(const struct study_ctx *c, const struct study_workload *w,
		    struct zorua_point points[ZORUA_POINTS])
{
	const struct zorua_program *p = zorua_program(w->name);
	bool quick = c->options.quick;
	struct zorua_point at;
	size_t n = 0;

	if (!p)
		return 0;
	for (at.registers = p->registers.from; at.registers <= p->registers.to;
	     at.registers = next(&p->registers, at.registers, quick))
		for (at.scratchpad = p->scratchpad.from; at.scratchpad <= p->scratchpad.to;
		     at.scratchpad = next(&p->scratchpad, at.scratchpad, quick))
			for (at.threads = p->threads.from; at.threads <= p->threads.to;
			     at.threads = next(&p->threads, at.threads, quick))
				if (n < ZORUA_POINTS && fits(&c->spec, &at))
					points[n++] = at;
	return n;
}

const char *zorua_point_name(char text[32], const struct zorua_point *p)
{
	if (p->registers)
		snprintf(text, 32, "R%u T%u", p->registers, p->threads);
	else if (p->scratchpad)
		snprintf(text, 32, "S%u T%u", p->scratchpad, p->threads);
	else
		snprintf(text, 32, "T%u", p->threads);
	return text;
}

/* --- runs ----------------------------------------------------------------------------------- */

/*
 * With --quick the GPU is a third of itself, or less: SMs, memory channels and L2 alike, so that
 * small inputs fill it. A size that the command line gives stays.
 */
static const char *size_of_gpu(const struct study_ctx *c, const struct zorua_program *p)
{
	static const char *const keys[] = { "gpu.sms=", "dram.channels=", "l2.slices=" };

	if (!c->options.quick)
		return "";
	for (unsigned int i = 0; i < c->options.nsettings; i++)
		for (size_t k = 0; k < ARRAY_SIZE(keys); k++)
			if (!strncmp(c->options.settings[i], keys[k], strlen(keys[k])))
				return "";
	return p->small ? " --set gpu.sms=2 --set dram.channels=1 --set l2.slices=2" :
			  " --set gpu.sms=5 --set dram.channels=2 --set l2.slices=4";
}

static struct run *want(struct study_ctx *c, const struct study_workload *w,
			const struct zorua_point *p, enum zorua_gpu gpu, enum zorua_mechanism m,
			const char *paging, const char *words)
{
	static const char *const configs[ZORUA_GPUS] = {
		"", " --config kepler", " --config maxwell",
	};
	const struct zorua_program *program = zorua_program(w->name);
	unsigned int grid = c->options.quick ? program->grid_quick : program->grid;
	char registers[48] = "", scratchpad[32] = "", ctas[32] = "";

	if (p->registers)
		snprintf(registers, sizeof(registers), " --maxregs %u --regs %u", p->registers,
			 p->registers);
	if (p->scratchpad)
		snprintf(scratchpad, sizeof(scratchpad), " sums=%u", p->scratchpad / 4);
	if (grid)
		snprintf(ctas, sizeof(ctas), " ctas=%u", grid / p->threads);
	return study_want(c, w, NULL, "--paging %s --manage %s block=%u%s%s%s%s%s%s", paging,
			  zorua_mechanisms[m], p->threads, scratchpad, ctas, registers,
			  configs[gpu], size_of_gpu(c, program), words);
}

struct run *zorua_run(struct study_ctx *c, const struct study_workload *w,
		      const struct zorua_point *p, enum zorua_gpu gpu, enum zorua_mechanism m)
{
	return want(c, w, p, gpu, m, "off", "");
}

struct run *zorua_variant(struct study_ctx *c, const struct study_workload *w,
			  const struct zorua_point *p, const char *words)
{
	return want(c, w, p, FERMI, ZORUA, "off", words);
}

struct run *zorua_on(struct study_ctx *c, const struct study_workload *w,
		     const struct zorua_point *p, enum zorua_gpu gpu, const char *words)
{
	return want(c, w, p, gpu, ZORUA, "off", words);
}

struct run *zorua_one(struct study_ctx *c, const struct study_workload *w,
		      const struct zorua_point *p, enum zorua_mechanism m, const char *paging,
		      const char *words)
{
	return want(c, w, p, FERMI, m, paging, words);
}

double zorua_time(struct study_ctx *c, const struct study_workload *w, const struct zorua_point *p,
		  enum zorua_gpu gpu, enum zorua_mechanism m)
{
	return run_number(zorua_run(c, w, p, gpu, m), "totals.cycles");
}

double zorua_best(struct study_ctx *c, const struct study_workload *w, enum zorua_gpu gpu,
		  enum zorua_mechanism m)
{
	struct zorua_point points[ZORUA_POINTS];
	size_t n = zorua_points(c, w, points);
	double best = NONE;

	for (size_t i = 0; i < n; i++)
		best = fmin(best, zorua_time(c, w, &points[i], gpu, m));
	return best;
}

/* --- means ---------------------------------------------------------------------------------- */

double zorua_mean(const struct study_table *t, size_t column)
{
	double sum = 0;
	size_t n = 0;

	for (size_t row = 0; row < t->nrows; row++) {
		double v = t->cells[row * t->ncolumns + column];

		if (isnan(v))
			continue;
		sum += v;
		n++;
	}
	return n ? sum / (double)n : NONE;
}

void zorua_mean_row(struct study_table *t)
{
	size_t row = study_row_add(t, "mean");

	for (size_t k = 0; k < t->ncolumns; k++)
		study_cell(t, row, k, zorua_mean(t, k));
}

/* --- the study ------------------------------------------------------------------------------- */

static const struct study_part parts[] = {
	{ "table2", "table 2: the three GPUs", NULL, NULL, zorua_show_table2, false },
	{ "table3", "table 3: the programs' specifications", zorua_want_table3, NULL,
	  zorua_show_table3, false },
	{ "cliffs", "figures 2 to 4, 15: time by specification", zorua_want_points, NULL,
	  zorua_show_cliffs, false },
	{ "range", "figure 14: how far the specifications are apart", zorua_want_points, NULL,
	  zorua_show_range, false },
	{ "best", "the best specification, and all of them, over the baseline's", zorua_want_points,
	  NULL, zorua_show_best, false },
	{ "seeds", "the same over other inputs", zorua_want_seeds, NULL, zorua_show_seeds, false },
	{ "porting", "figures 5, 16 to 18: tuned for one GPU, run on another", zorua_want_gpus, NULL,
	  zorua_show_porting, false },
	{ "schedulable", "figure 19: schedulable warps", zorua_want_points, NULL,
	  zorua_show_schedulable, false },
	{ "hitrate", "figure 20: accesses that find their resource on chip", zorua_want_points, NULL,
	  zorua_show_hitrate, false },
	{ "use", "figure 6: what is accessed of what CTAs hold", zorua_want_use, NULL, zorua_show_use,
	  false },
	{ "paging", "with demand paging, far faults as c_mem and not", zorua_want_paging, NULL,
	  zorua_show_paging, false },
	{ "slots", "thread slots by Virtual Thread's rule", zorua_want_slots, NULL, zorua_show_slots,
	  false },
	{ "numbers", "more virtual warps and CTAs than the paper's", zorua_want_numbers, NULL,
	  zorua_show_numbers, false },
	{ "overheads", "what swap, look-ups and phase specifiers cost", zorua_want_overheads, NULL,
	  zorua_show_overheads, false },
	{ 0 }
};

const struct study study_zorua = {
	.name = "zorua",
	.help = "MICRO'16, Zorua: registers, scratchpad and thread slots that are virtual",
	.config = "gtx480-zorua",
	.workloads = workloads,
	.parts = parts,
};
