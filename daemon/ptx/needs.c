// SPDX-License-Identifier: GPL-2.0
/*
 * Finds each phase's needs, once registers have their places: all that the instructions use which
 * a warp can reach from the phase's begin before it comes to another phase. A loop may lead
 * back into text above. Called by finish.c.
 */
#include <errno.h>
#include <stdlib.h>

#include "ptx/back.h"

#define MAX_STEPS	(1ull << 26)

/* Sets of the physical registers of `reg`. */
static uint64_t sets_of(const struct ptx_kernel *kernel, uint32_t reg)
{
	uint32_t words = reg_words(kernel, reg), at = kernel->phys[reg];
	uint64_t sets = 0, i;

	for (i = 0; i < words && at != PTX_NO_REG; i++)
		sets |= 1ull << (at + i) / PTX_SET_REGS;
	return sets;
}

static uint64_t sets_below(uint32_t regs)
{
	uint32_t n = DIV_ROUND_UP(regs, PTX_SET_REGS);

	return n >= 64 ? UINT64_MAX : (1ull << n) - 1;
}

/* By instruction: sets that hold something live before it; and those that it names too. */
struct use {
	uint64_t *kept, *named;
	uint32_t *live;
};

static int find_use(struct use *u, const struct ptx_kernel *kernel, const struct cfg *cfg,
		    const struct ranges *ranges)
{
	struct ref *refs = calloc(refs_max(kernel), sizeof(*refs));
	uint32_t r, s, i, j, n;

	u->kept = calloc((size_t)kernel->ninsns + 1, sizeof(*u->kept));
	u->named = calloc((size_t)kernel->ninsns + 1, sizeof(*u->named));
	u->live = calloc((size_t)kernel->ninsns + 1, sizeof(*u->live));
	if (!refs || !u->kept || !u->named || !u->live ||
	    count_live(kernel, ranges, u->live)) {
		free(refs);
		return -ENOMEM;
	}
	for (r = 0; r < kernel->nregs; r++) {
		uint64_t sets = sets_of(kernel, r);

		for (s = ranges->start[r]; s < ranges->start[r + 1]; s++) {
			for (i = ranges->at[s].from; i < ranges->at[s].to; i++)
				u->kept[i] |= sets;
		}
	}
	for (i = 0; i < kernel->functions[0].end; i++) {
		const struct ptx_function *callee = insn_callee(kernel, &kernel->insns[i]);

		n = insn_refs(kernel, cfg, i, refs);
		for (j = 0; j < n; j++)
			u->named[i] |= sets_of(kernel, *refs[j].reg);
		if (callee)
			u->named[i] |= sets_below(callee->regs);
	}
	free(refs);
	return 0;
}

static void use_free(struct use *u)
{
	free(u->kept);
	free(u->named);
	free(u->live);
}

/* Adds instruction i to the phase that leads to it. */
static void add_insn(struct ptx_phase *phase, const struct phases *p, const struct use *u,
		     const struct ptx_kernel *kernel, uint32_t i)
{
	const struct ptx_function *callee = insn_callee(kernel, &kernel->insns[i]);
	uint32_t regs = u->live[i];

	/* Registers live across a call lie above those that the callee writes. */
	if (callee)
		regs = MAX(regs, callee->regs + (i + 1 < kernel->ninsns ?
						 MIN(u->live[i], u->live[i + 1]) : 0u));
	phase->regs = (uint16_t)MAX(phase->regs, MIN(regs, kernel->regs_per_thread));
	phase->sets |= u->kept[i] | u->named[i];
	phase->shared |= phases_touch_shared(p, &kernel->insns[i]);
}

/* --- ahead ---------------------------------------------------------------------- */

/* By block: the most sets of a phase that begins in it, or where it leads to. */
static void look_ahead(struct ptx_kernel *kernel, const struct cfg *cfg, uint8_t *most)
{
	struct ptx_phase *phases = kernel->phases;
	bool changed = true;
	uint32_t b, e, i;

	for (i = 0; i < kernel->nphases; i++) {
		b = cfg->block_of[phases[i].insn];
		phases[i].ahead = (uint8_t)__builtin_popcountll(phases[i].sets);
		most[b] = MAX(most[b], phases[i].ahead);
	}
	while (changed) {
		changed = false;
		for (b = cfg->nblocks; b--; ) {
			for (e = cfg->succ_start[b]; e < cfg->succ_start[b + 1]; e++) {
				changed |= most[cfg->succ[e]] > most[b];
				most[b] = MAX(most[b], most[cfg->succ[e]]);
			}
		}
	}
	for (i = kernel->nphases; i--; ) {
		b = cfg->block_of[phases[i].insn];
		if (i + 1 < kernel->nphases && cfg->block_of[phases[i + 1].insn] == b)
			phases[i].ahead = MAX(phases[i].ahead, phases[i + 1].ahead);
		else
			for (e = cfg->succ_start[b]; e < cfg->succ_start[b + 1]; e++)
				phases[i].ahead = MAX(phases[i].ahead, most[cfg->succ[e]]);
	}
}

/* --- needs ------------------------------------------------------------------------ */

struct walker {
	const struct phases *p;
	const struct ptx_kernel *kernel;
	const struct cfg *cfg;
	const struct use *use;
	bool *point;		/* by instruction */
	uint32_t *seen;		/* by block: entered from its start by phase seen - 1 */
	uint32_t *stack;
	uint64_t steps;
};

/* From instruction i to the end of its block, or to the next point. */
static bool follow(struct walker *w, struct ptx_phase *phase, uint32_t i)
{
	uint32_t end = w->cfg->first[w->cfg->block_of[i] + 1];

	do {
		add_insn(phase, w->p, w->use, w->kernel, i);
		w->steps++;
		i++;
	} while (i < end && !w->point[i]);
	return i == end;
}

static void need(struct walker *w, struct ptx_phase *phase, uint32_t number)
{
	uint32_t depth = 0, b = w->cfg->block_of[phase->insn], e;

	if (follow(w, phase, phase->insn))
		w->stack[depth++] = b;
	while (depth && w->steps <= MAX_STEPS) {
		b = w->stack[--depth];
		for (e = w->cfg->succ_start[b]; e < w->cfg->succ_start[b + 1]; e++) {
			uint32_t next = w->cfg->succ[e], first = w->cfg->first[next];

			if (w->seen[next] == number + 1 || w->point[first])
				continue;
			w->seen[next] = number + 1;
			if (follow(w, phase, first))
				w->stack[depth++] = next;
		}
	}
}

static void tell(struct walker *w, struct ptx_phase *phase, uint32_t number)
{
	const struct ptx_kernel *kernel = w->kernel;
	uint32_t at = w->p->at[number];

	*phase = (struct ptx_phase){
		.insn = at, .live = w->use->live[at], .kept = w->use->kept[at],
	};
	phase->loose = (uint8_t)(__builtin_popcountll(phase->kept) -
				 (int)DIV_ROUND_UP((uint32_t)phase->live, PTX_SET_REGS));
	need(w, phase, number);
	/* Out of patience: all there is. */
	if (w->steps > MAX_STEPS) {
		phase->sets = sets_below(kernel->regs_per_thread);
		phase->regs = (uint16_t)kernel->regs_per_thread;
		phase->shared = true;
	}
}

int phases_tell(const struct phases *p, struct ptx_kernel *kernel, const struct cfg *cfg,
		const struct ranges *ranges, struct slab *slab)
{
	struct walker w = { .p = p, .kernel = kernel, .cfg = cfg };
	struct use use = { 0 };
	int ret = find_use(&use, kernel, cfg, ranges);
	uint8_t *most = calloc((size_t)cfg->nblocks + 1, sizeof(*most));
	uint32_t i;

	w.use = &use;
	w.point = calloc((size_t)kernel->ninsns + 1, sizeof(*w.point));
	w.seen = calloc((size_t)cfg->nblocks + 1, sizeof(*w.seen));
	w.stack = calloc((size_t)cfg->nblocks + 1, sizeof(*w.stack));
	kernel->phases = slab_alloc(slab, (size_t)p->n * sizeof(*kernel->phases) + 1);
	if (ret || !w.point || !w.seen || !w.stack || !most || !kernel->phases) {
		ret = -ENOMEM;
		kernel->phases = NULL;
	} else {
		for (i = 0; i < p->n; i++)
			w.point[p->at[i]] = true;
		for (i = 0; i < p->n; i++)
			tell(&w, &kernel->phases[i], i);
		kernel->nphases = p->n;
		look_ahead(kernel, cfg, most);
	}
	free(most);
	use_free(&use);
	free(w.point);
	free(w.seen);
	free(w.stack);
	return ret;
}
