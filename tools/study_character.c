// SPDX-License-Identifier: GPL-2.0
/*
 * The programs of three papers as an SM sees them: grid, block, registers and shared memory of the
 * kernel that does most of a program's work, and which of an SM's limits binds its CTAs, on Fermi
 * and on Kepler, beside the type that Virtual Thread (ISCA'16, table II) gives. Where ours is
 * another, the table says which specification restores the paper's. No time is modelled here.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "study_character.h"
#include "target.h"

static const struct character_program programs[] = {
#define PROGRAM(name, abbreviation, type, full, quick)			\
	{ { name, full, quick }, abbreviation, type },
#include "study_character.def"
};

static const struct study_workload workloads[] = {
#define PROGRAM(name, abbreviation, type, full, quick) { name, full, quick },
#include "study_character.def"
	{ NULL, NULL, NULL }
};

/* Rows that --workloads adds are in no paper. */
const struct character_program *character_program_of(const struct study_workload *w)
{
	static struct character_program other;

	for (size_t i = 0; i < ARRAY_SIZE(programs); i++)
		if (!strcmp(programs[i].workload.name, w->name) &&
		    !strcmp(programs[i].workload.full, w->full))
			return &programs[i];
	other = (struct character_program){ .workload = *w, .abbreviation = "" };
	return &other;
}

const char *const character_gpus[GPUS] = { "Fermi", "Kepler" };

int character_read_gpus(const struct study_ctx *c, struct gpu_spec specs[GPUS])
{
	struct target t;
	struct err err;

	specs[FERMI] = c->spec;
	target_init(&t);
	t.config = "kepler";
	return target_check(&t, &err) ? -1 : target_spec(&t, &specs[KEPLER], &err);
}

struct run *character_run(struct study_ctx *c, const struct study_workload *w)
{
	return study_want(c, w, NULL, "--functional");
}

static void want_limits(struct study_ctx *c)
{
	for (unsigned int i = 0; i < c->options.nworkloads; i++)
		character_run(c, &c->options.workloads[i]);
}

/* --- limits ------------------------------------------------------------------------------------ */

static const char *const limit_names[LIMITS] = { "CTA slots", "warps", "registers", "shared" };

uint64_t character_registers(const struct gpu_spec *s, const struct study_kernel *k, uint64_t regs)
{
	uint64_t unit = s->occupancy_reg_unit;

	return DIV_ROUND_UP(regs, unit) * unit * DIV_ROUND_UP(k->threads, 32) * 32;
}

uint64_t character_shared(const struct gpu_spec *s, const struct study_kernel *k)
{
	return DIV_ROUND_UP(k->shared, s->occupancy_shared_unit) * s->occupancy_shared_unit;
}

void character_limits(const struct gpu_spec *s, const struct study_kernel *k, uint64_t regs,
		      uint64_t ctas[LIMITS])
{
	uint64_t warps = DIV_ROUND_UP(k->threads, 32), cta_regs = character_registers(s, k, regs);
	uint64_t shared = character_shared(s, k);

	ctas[SLOTS] = s->ctas;
	ctas[WARPS] = s->warps / MAX(warps, 1u);
	ctas[REGISTERS] = cta_regs ? s->registers / cta_regs : UINT64_MAX;
	ctas[SHARED] = shared ? s->shared_bytes / shared : UINT64_MAX;
}

unsigned int character_binding(const uint64_t ctas[LIMITS])
{
	static const unsigned int order[LIMITS] = { REGISTERS, SHARED, SLOTS, WARPS };
	unsigned int found = order[0];

	for (unsigned int i = 1; i < LIMITS; i++)
		if (ctas[order[i]] < ctas[found])
			found = order[i];
	return found;
}

char character_type(unsigned int limit)
{
	return limit == SLOTS || limit == WARPS ? 'S' : 'C';
}

uint64_t character_restoring(const struct gpu_spec *s, const struct study_kernel *k, char type)
{
	uint64_t ctas[LIMITS];
	unsigned int limit;

	for (uint64_t distance = 1; distance <= 255; distance++) {
		uint64_t regs = type == 'S' ? k->registers - distance : k->registers + distance;

		if ((type == 'S' && distance + 8 > k->registers) || regs > 255)
			return 0;
		character_limits(s, k, regs, ctas);
		limit = character_binding(ctas);
		if (character_type(limit) == type && ctas[limit])
			return regs;
	}
	return 0;
}

/* --- the table --------------------------------------------------------------------------------- */

static void show_dimensions(struct study_table *t, size_t row, size_t column, const uint64_t of[3])
{
	if (of[2] > 1)
		study_text(t, row, column, "%ux%ux%u", (unsigned int)of[0], (unsigned int)of[1],
			   (unsigned int)of[2]);
	else if (of[1] > 1)
		study_text(t, row, column, "%ux%u", (unsigned int)of[0], (unsigned int)of[1]);
	else
		study_text(t, row, column, "%u", (unsigned int)of[0]);
}

static void show_gpu(struct study_table *t, size_t row, size_t column, const struct gpu_spec *s,
		     const struct study_kernel *k)
{
	uint64_t ctas[LIMITS];
	unsigned int limit;

	character_limits(s, k, k->registers, ctas);
	limit = character_binding(ctas);
	study_cell(t, row, column, (double)ctas[limit]);
	study_text(t, row, column + 1, "%s", limit_names[limit]);
}

static char type_on(const struct gpu_spec *s, const struct study_kernel *k)
{
	uint64_t ctas[LIMITS];

	character_limits(s, k, k->registers, ctas);
	return character_type(character_binding(ctas));
}

/* The run that shows whether fewer registers restore type S; NULL: there is nothing to restore. */
static struct run *with_fewer(struct study_ctx *c, const struct study_workload *w,
			      const struct study_kernel *k, uint64_t *regs)
{
	*regs = character_program_of(w)->type == 'S' && type_on(&c->spec, k) == 'C' ?
		character_restoring(&c->spec, k, 'S') : 0;
	return *regs ? study_want(c, w, NULL, "--functional --maxregs %u", (unsigned int)*regs) : NULL;
}

static void want_fewer(struct study_ctx *c)
{
	for (unsigned int i = 0; i < c->options.nworkloads; i++) {
		const struct study_workload *w = &c->options.workloads[i];
		struct study_kernel k;
		uint64_t regs;

		if (study_main_kernel(c, character_run(c, w), &k))
			with_fewer(c, w, &k, &regs);
	}
}

/* Shows what gives a program the paper's type, where it has the other one. */
static void show_restoring(struct study_ctx *c, struct study_table *t, size_t row, size_t column,
			   const struct study_workload *w, const struct study_kernel *k)
{
	char paper = character_program_of(w)->type;
	struct study_kernel fewer;
	struct run *run;
	uint64_t regs;

	if (paper == 'C') {
		regs = character_restoring(&c->spec, k, paper);
		study_text(t, row, column, regs ? "--regs %u" : "nothing", (unsigned int)regs);
		return;
	}
	run = with_fewer(c, w, k, &regs);
	if (!run)
		study_text(t, row, column, "less shared memory");
	else if (study_main_kernel(c, run, &fewer) && type_on(&c->spec, &fewer) == 'S')
		study_text(t, row, column, "--maxregs %u (%u B spilled)", (unsigned int)regs,
			   (unsigned int)fewer.spilled);
	else
		study_text(t, row, column, "not --maxregs %u", (unsigned int)regs);
}

static void show_limits(struct study_ctx *c)
{
	struct study_table *t = study_table(c, "character",
		"of the kernel that issues most: what binds an SM's CTAs, and the type (ISCA'16, table II)",
		0, false);
	static const char *const columns[] = { "paper", "kernel", "grid", "block", "regs", "shared" };
	struct gpu_spec specs[GPUS];
	unsigned int known = 0, same = 0;
	size_t first = ARRAY_SIZE(columns);

	for (size_t i = 0; i < ARRAY_SIZE(columns); i++)
		study_column(t, columns[i], NONE);
	for (size_t gpu = 0; gpu < GPUS; gpu++) {
		study_column(t, character_gpus[gpu], NONE);
		study_column(t, "limit", NONE);
	}
	study_column(t, "type", NONE);
	study_column(t, "paper's", NONE);
	study_column(t, "restored by", NONE);
	if (character_read_gpus(c, specs))
		return;
	for (unsigned int i = 0; i < c->options.nworkloads; i++) {
		const struct study_workload *w = &c->options.workloads[i];
		const struct character_program *p = character_program_of(w);
		size_t row = study_row_add(t, w->name);
		struct study_kernel k;

		if (!study_main_kernel(c, character_run(c, w), &k))
			continue;
		study_text(t, row, 0, "%s", p->abbreviation);
		study_text(t, row, 1, "%s", k.name);
		show_dimensions(t, row, 2, k.grid);
		show_dimensions(t, row, 3, k.block);
		study_cell(t, row, 4, (double)k.registers);
		study_cell(t, row, 5, (double)k.shared);
		for (size_t gpu = 0; gpu < GPUS; gpu++)
			show_gpu(t, row, first + 2 * gpu, &specs[gpu], &k);
		study_text(t, row, first + 2 * GPUS, "%c", type_on(&c->spec, &k));
		if (!p->type)
			continue;
		study_text(t, row, first + 2 * GPUS + 1, "%c", p->type);
		known++;
		if (type_on(&c->spec, &k) == p->type)
			same++;
		else
			show_restoring(c, t, row, first + 2 * GPUS + 2, w, &k);
	}
	study_note(t, "%u of %u have the paper's type on Fermi. S: CTA slots or warps bind; C: registers or "
		   "shared memory. Registers are our compiler's. Where they make another type, the last "
		   "column has the nearest number that restores the paper's: --maxregs spills, --regs "
		   "reserves more than the kernel uses.", same, known);
}

static const struct study_part parts[] = {
	{ "limits", "grid, block, registers, shared memory, and the limit that binds", want_limits, want_fewer,
	  show_limits, false },
	{ "use", "ISCA'16, figure 2: what CTAs take of an SM's resources", want_limits, NULL, character_show_use, false },
	{ "shared", "ISCA'16, figures 2 and 12: why type S takes more shared memory here", want_limits, NULL,
	  character_show_shared, false },
	{ "threads", "ISCA'16, figure 3: threads that would fill registers or shared memory", want_limits, NULL,
	  character_show_threads, false },
	{ 0 }
};

const struct study study_character = {
	.name = "character",
	.help = "what the papers' programs are to an SM: which limit binds, type S or C",
	.config = "gtx480-vt",
	.workloads = workloads,
	.parts = parts,
};
