// SPDX-License-Identifier: GPL-2.0
/*
 * Why type S takes more shared memory here, and type C less, than in Virtual Thread (ISCA'16,
 * figures 2 and 12): some of our programs keep more or less in it than the published sources do,
 * the kernel that issues most is not a program's only one, and what Virtual Thread uses has the
 * contexts of its CTAs.
 */
#include <stdlib.h>
#include <string.h>

#include "study_character.h"

/* What a CTA of the published source has in shared memory, where ours has something else. */
static const struct {
	const char *kernel;
	uint64_t bytes;
} published[] = {
	{ "coulomb", 0 },		/* cp of GPGPU-Sim's suite: atoms are constants */
	{ "dct", 512 },			/* the SDK's first kernel: two blocks of 8 x 8 floats */
	{ "haar", 4352 },		/* the SDK: 1024 floats, one more for each 16 */
	{ "nw_small", 2180 },		/* Rodinia: 17 x 17 and 16 x 16 words */
	{ "reduce", 1024 },		/* the SDK: 32-bit sums; ours have 64 */
	{ "reduce_final", 1024 },
	{ "fencesum", 516 },		/* the SDK: as reduce, and a flag */
	{ "heartwall", 11872 },		/* Rodinia: a template of 51 x 51, and partial sums */
	{ "srad_coefficients", 6144 },	/* Rodinia's second version: six and five tiles of 16 x 16 */
	{ "srad_diffuse", 5120 },
	{ "mergesort_merge", 2048 },	/* the SDK: keys and values of two pieces of 128 */
};

static uint64_t published_bytes(const struct study_kernel *k)
{
	for (size_t i = 0; i < ARRAY_SIZE(published); i++)
		if (!strcmp(published[i].kernel, k->name))
			return published[i].bytes;
	return k->shared;
}

/* Per cent of an SM's shared memory. */
struct use {
	double baseline;		/* data of the CTAs that the scheduling limit leaves */
	double data, contexts;		/* of those up to the capacity, as Virtual Thread admits them */
};

/* Equation 1: N + log2(W) is 13 bits, D is 4. */
static uint64_t context_bytes(uint64_t warps)
{
	return DIV_ROUND_UP(13 + 96 + 160 * 4 * warps, 8);
}

#define VIRTUAL_WARPS	256		/* of an SM (section IV-A) */

static struct use use_of(const struct gpu_spec *s, struct study_kernel k, uint64_t regs,
			 uint64_t shared)
{
	uint64_t warps = DIV_ROUND_UP(k.threads, 32), ctas[LIMITS], n, full;
	double percent = 100 / (double)s->shared_bytes;

	k.shared = shared;
	character_limits(s, &k, MIN(k.registers, regs), ctas);
	n = ctas[character_binding(ctas)];
	full = MIN(ctas[REGISTERS], VIRTUAL_WARPS / warps);
	full = MIN(full, s->shared_bytes / (character_shared(s, &k) + context_bytes(warps)));
	/* Where no context fits, the SM has the baseline's CTAs. */
	full = MAX(full, n);
	return (struct use){
		.baseline = percent * (double)(n * character_shared(s, &k)),
		.data = percent * (double)(full * character_shared(s, &k)),
		.contexts = percent * (double)(full * context_bytes(warps)),
	};
}

static void add(struct use *sum, struct use u, double weight)
{
	sum->baseline += weight * u.baseline;
	sum->data += weight * u.data;
	sum->contexts += weight * u.contexts;
}

enum { OURS, SOURCES, KERNELS, LAUNCHES, WAYS };

static void measure(struct study_ctx *c, const struct study_workload *w,
		    const struct study_kernel *most, uint64_t regs, struct use ways[WAYS])
{
	struct study_kernel *kernels;
	size_t n = study_kernels(c, character_run(c, w), &kernels);
	uint64_t launches = 0;

	for (size_t i = 0; i < n; i++)
		launches += kernels[i].launches;
	for (size_t i = 0; i < n; i++) {
		struct use u = use_of(&c->spec, kernels[i], regs, published_bytes(&kernels[i]));

		add(&ways[KERNELS], u, 1 / (double)n);
		add(&ways[LAUNCHES], u, (double)kernels[i].launches / (double)launches);
	}
	ways[OURS] = use_of(&c->spec, *most, regs, most->shared);
	ways[SOURCES] = use_of(&c->spec, *most, regs, published_bytes(most));
	free(kernels);
}

/* Of one type's programs. */
struct total {
	struct use ways[WAYS];
	unsigned int programs;
};

static struct use mean(const struct total *t, size_t way)
{
	double n = t->programs;

	return (struct use){
		.baseline = t->ways[way].baseline / n,
		.data = t->ways[way].data / n,
		.contexts = t->ways[way].contexts / n,
	};
}

static void show_row(struct study_table *t, const struct study_workload *w,
		     const struct study_kernel *k, char type, const struct use ways[WAYS])
{
	size_t row = study_row_add(t, w->name);

	study_text(t, row, 0, "%c", type);
	study_text(t, row, 1, "%u", (unsigned int)k->shared);
	study_text(t, row, 2, "%u", (unsigned int)published_bytes(k));
	study_cell(t, row, 3, ways[OURS].baseline);
	study_cell(t, row, 4, ways[SOURCES].baseline);
	study_cell(t, row, 5, ways[KERNELS].baseline);
	study_cell(t, row, 6, ways[KERNELS].data);
	study_cell(t, row, 7, ways[KERNELS].contexts);
}

static void show_means(struct study_table *t, const struct total *s, const struct total *c)
{
	if (!s->programs || !c->programs)
		return;
	study_note(t, "Type S: ours %.1f%%, with the sources' bytes %.1f%%, these over a program's "
		   "kernels %.1f%% and over its launches %.1f%%; paper: 15.4. With Virtual Thread the last "
		   "two are %.1f and %.1f%%, and contexts take %.1f%% more; paper: 38.5. Type C: ours "
		   "%.1f%%, with the sources' bytes %.1f%%; paper: 22.8.",
		   mean(s, OURS).baseline, mean(s, SOURCES).baseline, mean(s, KERNELS).baseline,
		   mean(s, LAUNCHES).baseline, mean(s, KERNELS).data, mean(s, LAUNCHES).data,
		   mean(s, KERNELS).contexts, mean(c, OURS).baseline, mean(c, SOURCES).baseline);
}

void character_show_shared(struct study_ctx *c)
{
	struct study_table *t = study_table(c, "shared",
		"per cent of Fermi's shared memory (ISCA'16, figures 2 and 12): with our kernels' bytes, with those of the "
		"published sources, these over all kernels, and with Virtual Thread", 1, false);
	static const char *const columns[] = { "type", "bytes", "source's", "ours", "with source's",
					       "all kernels", "VT", "contexts" };
	struct total s = { .programs = 0 }, capacity = { .programs = 0 };

	for (size_t i = 0; i < ARRAY_SIZE(columns); i++)
		study_column(t, columns[i], NONE);
	for (unsigned int i = 0; i < c->options.nworkloads; i++) {
		const struct study_workload *w = &c->options.workloads[i];
		struct use ways[WAYS] = { 0 };
		struct study_kernel k;
		uint64_t regs;
		char type = character_type_of(c, w, &k, &regs);
		struct total *sum = type == 'S' ? &s : &capacity;

		/* histo256 is of the paper's histogram, as histo64 is; that one is type S there. */
		if (!type || type != character_program_of(w)->type)
			continue;
		measure(c, w, &k, regs, ways);
		show_row(t, w, &k, type, ways);
		for (size_t way = 0; way < WAYS; way++)
			add(&sum->ways[way], ways[way], 1);
		sum->programs++;
	}
	show_means(t, &s, &capacity);
}
