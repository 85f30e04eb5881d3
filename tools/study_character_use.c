// SPDX-License-Identifier: GPL-2.0
/*
 * Figures 2 and 3 of Virtual Thread (ISCA'16): what the programs of its table II use of an SM's
 * four resources, on Fermi and on Kepler, and how many more threads would fill registers or shared
 * memory. Where a program has the paper's type only with other registers (study_character.c,
 * "restored by"), it has those here, as in the study virtual-thread.
 */
#include <math.h>
#include <string.h>

#include "study_character.h"

/* A program's CTAs on a GPU's SM. */
struct held {
	uint64_t ctas[LIMITS];		/* that each resource allows */
	uint64_t n;			/* that the SM holds */
	uint64_t capacity;		/* that registers and shared memory hold */
	unsigned int limit;
	double share[LIMITS];		/* of each resource */
};

/* Sums of one type's programs on one GPU. */
struct sums {
	unsigned int n, by[LIMITS];
	double registers, shared;
};

static double share(uint64_t used, uint64_t all)
{
	return all ? 100 * (double)used / (double)all : 0;
}

static struct held hold(const struct gpu_spec *s, const struct study_kernel *k, uint64_t regs)
{
	uint64_t warps = DIV_ROUND_UP(k->threads, 32);
	struct held h;

	character_limits(s, k, regs, h.ctas);
	h.limit = character_binding(h.ctas);
	h.n = h.ctas[h.limit];
	h.capacity = MIN(h.ctas[REGISTERS], h.ctas[SHARED]);
	h.share[SLOTS] = share(h.n, s->ctas);
	h.share[WARPS] = share(h.n * warps, s->warps);
	h.share[REGISTERS] = share(h.n * character_registers(s, k, regs), s->registers);
	h.share[SHARED] = share(h.n * character_shared(s, k), s->shared_bytes);
	return h;
}

/* The registers with which the program has the paper's type on Fermi; its own, if none give it that. */
static uint64_t registers_of(const struct gpu_spec *fermi, const struct study_kernel *k, char type)
{
	uint64_t ctas[LIMITS], regs = 0;

	character_limits(fermi, k, k->registers, ctas);
	if (character_type(character_binding(ctas)) != type)
		regs = character_restoring(fermi, k, type);
	return regs ? regs : k->registers;
}

/* The program's main kernel, and its CTAs on both GPUs. False: it is not of table II, or its run failed. */
static bool look(struct study_ctx *c, const struct gpu_spec specs[GPUS],
		 const struct study_workload *w, struct study_kernel *k, struct held held[GPUS])
{
	char type = character_program_of(w)->type;
	uint64_t regs;

	if (!type || !study_main_kernel(c, character_run(c, w), k))
		return false;
	regs = registers_of(&specs[FERMI], k, type);
	for (size_t gpu = 0; gpu < GPUS; gpu++)
		held[gpu] = hold(&specs[gpu], k, regs);
	return true;
}

char character_type_of(struct study_ctx *c, const struct study_workload *w, struct study_kernel *k,
		       uint64_t *regs)
{
	struct gpu_spec specs[GPUS];
	struct held held[GPUS];

	if (character_read_gpus(c, specs) || !look(c, specs, w, k, held))
		return 0;
	*regs = registers_of(&specs[FERMI], k, character_program_of(w)->type);
	return character_type(held[FERMI].limit);
}

static size_t add_row(struct study_table *t, const struct study_workload *w)
{
	size_t row = study_row_add(t, w->name);

	study_text(t, row, 0, "%s", character_program_of(w)->abbreviation);
	return row;
}

static double mean(double sum, unsigned int n)
{
	return n ? sum / n : 0;
}

/* --- figure 2 -------------------------------------------------------------------------------- */

static void count(struct sums sums[2], const struct held *h)
{
	struct sums *s = &sums[character_type(h->limit) == 'C'];

	s->n++;
	s->by[h->limit]++;
	s->registers += h->share[REGISTERS];
	s->shared += h->share[SHARED];
}

void character_show_use(struct study_ctx *c)
{
	struct study_table *t = study_table(c, "use",
		"per cent of an SM's CTA slots, warps, registers and shared memory that CTAs take (ISCA'16, "
		"figure 2)", 0, false);
	static const char *const resources[LIMITS] = { "CTA slots", "warps", "registers", "shared" };
	struct sums sums[GPUS][2] = { 0 };
	const struct sums *fermi = sums[FERMI], *kepler = sums[KEPLER];
	struct gpu_spec specs[GPUS];

	study_column(t, "paper", NONE);
	for (size_t gpu = 0; gpu < GPUS; gpu++) {
		study_column(t, character_gpus[gpu], NONE);
		for (size_t i = 0; i < LIMITS; i++)
			study_column(t, resources[i], NONE);
	}
	if (character_read_gpus(c, specs))
		return;
	for (unsigned int i = 0; i < c->options.nworkloads; i++) {
		const struct study_workload *w = &c->options.workloads[i];
		struct held held[GPUS];
		struct study_kernel k;
		size_t row;

		if (!look(c, specs, w, &k, held))
			continue;
		row = add_row(t, w);
		for (size_t gpu = 0; gpu < GPUS; gpu++) {
			size_t at = 1 + gpu * (LIMITS + 1);

			study_text(t, row, at, "%c", character_type(held[gpu].limit));
			for (size_t j = 0; j < LIMITS; j++)
				study_cell(t, row, at + 1 + j, held[gpu].share[j]);
			count(sums[gpu], &held[gpu]);
		}
	}
	study_note(t, "Fermi: type S takes %.1f%% of registers and %.1f%% of shared memory, type C %.1f%% and %.1f%%; paper: "
		   "50.2 and 15.4, 91.9 and 22.8. Kepler: %u of %u are of type S, %u by warps and %u by CTA slots, and leave "
		   "%.1f%% of registers and %.1f%% of shared memory; paper: 27 of 35, 22 and 5, 48.2 and 81.6.",
		   mean(fermi[0].registers, fermi[0].n), mean(fermi[0].shared, fermi[0].n),
		   mean(fermi[1].registers, fermi[1].n), mean(fermi[1].shared, fermi[1].n),
		   kepler[0].n, kepler[0].n + kepler[1].n, kepler[0].by[WARPS], kepler[0].by[SLOTS],
		   kepler[0].n ? 100 - mean(kepler[0].registers, kepler[0].n) : 0,
		   kepler[0].n ? 100 - mean(kepler[0].shared, kepler[0].n) : 0);
}

/* --- figure 3 -------------------------------------------------------------------------------- */

void character_show_threads(struct study_ctx *c)
{
	struct study_table *t = study_table(c, "threads",
		"threads that an SM holds, those that would fill its registers or shared memory, and how many more these "
		"are in per cent (ISCA'16, figure 3): type S", 0, false);
	double more[GPUS] = { 0 }, worst[GPUS] = { 0 }, missing = 0;
	unsigned int n[GPUS] = { 0 };
	struct gpu_spec specs[GPUS];

	study_column(t, "paper", NONE);
	for (size_t gpu = 0; gpu < GPUS; gpu++) {
		study_column(t, character_gpus[gpu], NONE);
		study_column(t, "full", NONE);
		study_column(t, "more", NONE);
	}
	if (character_read_gpus(c, specs))
		return;
	for (unsigned int i = 0; i < c->options.nworkloads; i++) {
		const struct study_workload *w = &c->options.workloads[i];
		struct held held[GPUS];
		struct study_kernel k;
		size_t row = SIZE_MAX;

		if (!look(c, specs, w, &k, held))
			continue;
		for (size_t gpu = 0; gpu < GPUS; gpu++) {
			const struct held *h = &held[gpu];
			double percent = 100 * ((double)h->capacity / (double)h->n - 1);

			if (character_type(h->limit) != 'S')
				continue;
			if (row == SIZE_MAX)
				row = add_row(t, w);
			study_cell(t, row, 1 + 3 * gpu, (double)(h->n * k.threads));
			study_cell(t, row, 2 + 3 * gpu, (double)(h->capacity * k.threads));
			study_cell(t, row, 3 + 3 * gpu, percent);
			more[gpu] += percent;
			worst[gpu] = MAX(worst[gpu], percent);
			missing += gpu == FERMI ? share(h->capacity - h->n, h->capacity) : 0;
			n[gpu]++;
		}
	}
	study_note(t, "on average %.1f%% more threads on Fermi (%u programs), which are %.1f%% of those that would fill it, and "
		   "%.1f%% more on Kepler (%u), at most %.0f%% there; paper: 38.2, 97.7, 300.0.",
		   mean(more[FERMI], n[FERMI]), n[FERMI], mean(missing, n[FERMI]),
		   mean(more[KEPLER], n[KEPLER]), n[KEPLER], worst[KEPLER]);
}
