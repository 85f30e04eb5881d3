// SPDX-License-Identifier: GPL-2.0
/*
 * Finds each phase's needs, once registers have their places: all that the instructions use which
 * a warp can reach from the phase's begin before it comes to another phase. A loop may lead
 * back into text above. Then the points at which they do not change. Called by finish.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
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

/* For each instruction: the sets that hold a live value before it; and also those that it names. */
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
	phase->smem = MAX(phase->smem, scratchpad_bytes(&p->scratchpad, p->scratchpad.live[i],
							kernel->shared_bytes));
	phase->smem_end = MAX(phase->smem_end,
			      scratchpad_end(&p->scratchpad, p->scratchpad.live[i]));
}

/* --- ahead ---------------------------------------------------------------------- */

/* most[block]: the most sets of a phase that begins in the block or behind it. */
static void look_ahead(const struct cfg *cfg, struct ptx_phase *phases, uint32_t nphases,
		       uint8_t *most)
{
	bool changed = true;
	uint32_t b, e, i;

	for (i = 0; i < nphases; i++) {
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
	for (i = nphases; i--; ) {
		b = cfg->block_of[phases[i].insn];
		if (i + 1 < nphases && cfg->block_of[phases[i + 1].insn] == b)
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
	struct edge {
		uint32_t from, to;
	} *edges;		/* from a phase to another one that it leads to */
	uint32_t nedges, cap;
	bool failed;		/* to remember one */
};

/* Phase `number` leads to the point at instruction i. */
static void add_edge(struct walker *w, uint32_t number, uint32_t i)
{
	uint32_t to = 0;

	while (w->p->at[to] != i)
		to++;
	if (array_grow(w->edges, w->cap, w->nedges)) {
		w->failed = true;
		return;
	}
	w->edges[w->nedges++] = (struct edge){ number, to };
}

/* From instruction i to the end of its block, or to the next point. */
static bool follow(struct walker *w, struct ptx_phase *phase, uint32_t number, uint32_t i)
{
	uint32_t end = w->cfg->first[w->cfg->block_of[i] + 1];

	do {
		add_insn(phase, w->p, w->use, w->kernel, i);
		w->steps++;
		i++;
	} while (i < end && !w->point[i]);
	if (i < end)
		add_edge(w, number, i);
	return i == end;
}

static void need(struct walker *w, struct ptx_phase *phase, uint32_t number)
{
	uint32_t depth = 0, b = w->cfg->block_of[phase->insn], e;

	if (follow(w, phase, number, phase->insn))
		w->stack[depth++] = b;
	while (depth && w->steps <= MAX_STEPS) {
		b = w->stack[--depth];
		for (e = w->cfg->succ_start[b]; e < w->cfg->succ_start[b + 1]; e++) {
			uint32_t next = w->cfg->succ[e], first = w->cfg->first[next];

			if (w->seen[next] == number + 1)
				continue;
			w->seen[next] = number + 1;
			if (w->point[first])
				add_edge(w, number, first);
			else if (follow(w, phase, number, first))
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
		.quiet = w->p->quiet[number],
	};
	phase->loose = (uint8_t)(__builtin_popcountll(phase->kept) -
				 (int)DIV_ROUND_UP((uint32_t)phase->live, PTX_SET_REGS));
	need(w, phase, number);
	if (kernel->regs_per_thread <= w->p->plenty)
		phase->sets = sets_below(kernel->regs_per_thread);
	/* Out of patience: all there is. */
	if (w->steps > MAX_STEPS) {
		phase->sets = sets_below(kernel->regs_per_thread);
		phase->regs = (uint16_t)kernel->regs_per_thread;
		phase->smem = kernel->shared_bytes;
		phase->smem_end = PTX_EXTENT_END;
	}
}

static void walker_free(struct walker *w)
{
	free(w->point);
	free(w->seen);
	free(w->stack);
	free(w->edges);
}

/*
 * Scratchpad is its CTA's to the end: a phase has what all phases before it have, though it may
 * touch less itself.
 */
static void keep_scratchpad(const struct walker *w, struct ptx_phase *phases, uint32_t *has)
{
	bool changed = true;
	uint32_t i;

	while (changed) {
		changed = false;
		for (i = 0; i < w->p->n; i++)
			has[i] = i ? PTX_EXTENT_END : 0;
		for (i = 0; i < w->nedges; i++)
			has[w->edges[i].to] = MIN(has[w->edges[i].to],
						  phases[w->edges[i].from].smem_end);
		for (i = 0; i < w->p->n; i++) {
			changed |= has[i] > phases[i].smem_end;
			phases[i].smem_end = MAX(phases[i].smem_end, has[i]);
		}
	}
}

/* All needs, into `phases`, which has room for p->n. */
static int tell_all(struct walker *w, struct ptx_kernel *kernel, const struct ranges *ranges,
		    struct ptx_phase *phases)
{
	const struct phases *p = w->p;
	struct use use = { 0 };
	int ret = find_use(&use, kernel, w->cfg, ranges);
	uint8_t *most = calloc((size_t)w->cfg->nblocks + 1, sizeof(*most));
	uint32_t *has = calloc((size_t)p->n + 1, sizeof(*has)), end = 0, i;

	w->use = &use;
	w->point = calloc((size_t)kernel->ninsns + 1, sizeof(*w->point));
	w->seen = calloc((size_t)w->cfg->nblocks + 1, sizeof(*w->seen));
	w->stack = calloc((size_t)w->cfg->nblocks + 1, sizeof(*w->stack));
	if (!w->point || !w->seen || !w->stack || !most || !has)
		ret = -ENOMEM;
	for (i = 0; i < p->n && !ret; i++)
		w->point[p->at[i]] = true;
	for (i = 0; i < p->n && !ret; i++)
		tell(w, &phases[i], i);
	if (w->failed)
		ret = -ENOMEM;
	if (!ret)
		look_ahead(w->cfg, phases, p->n, most);
	/* Out of patience: it is not known what leads where. */
	if (!ret && w->steps <= MAX_STEPS)
		keep_scratchpad(w, phases, has);
	for (i = 0; i < p->n && !ret; i++)
		end = MAX(end, phases[i].smem_end);
	for (i = 0; i < p->n && !ret; i++)
		phases[i].smem_most = end;
	free(most);
	free(has);
	use_free(&use);
	return ret;
}

int phases_tell(const struct phases *p, struct ptx_kernel *kernel, const struct cfg *cfg,
		const struct ranges *ranges, struct slab *slab)
{
	struct walker w = { .p = p, .kernel = kernel, .cfg = cfg };
	struct ptx_phase *phases = slab_alloc(slab, (size_t)p->n * sizeof(*phases) + 1);
	int ret = phases ? tell_all(&w, kernel, ranges, phases) : -ENOMEM;

	walker_free(&w);
	kernel->extents = slab_alloc(slab, (size_t)kernel->ninsns * sizeof(*kernel->extents) + 1);
	if (!kernel->extents)
		ret = -ENOMEM;
	else
		memcpy(kernel->extents, p->scratchpad.extents,
		       kernel->ninsns * sizeof(*kernel->extents));
	kernel->phases = ret ? NULL : phases;
	kernel->nphases = ret ? 0 : p->n;
	return ret;
}

/* --- points that need no specifier ----------------------------------------------------- */

int phases_compare(struct phases *p, struct ptx_kernel *kernel, const struct cfg *cfg,
		   const struct ranges *ranges)
{
	struct walker w = { .p = p, .kernel = kernel, .cfg = cfg };
	struct ptx_phase *phases = calloc((size_t)p->n + 1, sizeof(*phases));
	bool *loud = calloc((size_t)p->n + 1, sizeof(*loud));
	int ret;
	uint32_t i;

	p->quiet = calloc((size_t)p->n + 1, sizeof(*p->quiet));
	ret = phases && loud && p->quiet ? tell_all(&w, kernel, ranges, phases) : -ENOMEM;
	if (!ret && w.steps <= MAX_STEPS) {
		for (i = 0; i < w.nedges; i++) {
			const struct ptx_phase *a = &phases[w.edges[i].from];
			const struct ptx_phase *b = &phases[w.edges[i].to];

			/* A warp begins at the first point, with what it needs there. */
			loud[w.edges[i].to] |= !w.edges[i].to || a->sets != b->sets ||
					       a->ahead != b->ahead || a->smem_end < b->smem_end;
		}
		for (i = 0; i < p->n; i++)
			p->quiet[i] = !loud[i];
	}
	walker_free(&w);
	free(phases);
	free(loud);
	return ret;
}
