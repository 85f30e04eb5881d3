// SPDX-License-Identifier: GPL-2.0
/*
 * What register allocation starts from: which registers each function has, where
 * they take their place, and which places calls leave to them. Called by
 * finish.c once a round of spilling.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/back.h"

#define MAX_STEPS	(1ull << 26)
#define COLOR_WORK	(1ull << 25)	/* a few hundredths of a second */

bool insn_is_wide(const struct ptx_insn *insn)
{
	switch (insn->opcode) {
	case PTX_OP_shfl:
	case PTX_OP_match:
	case PTX_OP_redux:
	case PTX_OP_vote:
		/* A lane reads others' sources. */
		return true;
	case PTX_OP_ld:
	case PTX_OP_ldu:
	case PTX_OP_add:
	case PTX_OP_addc:
	case PTX_OP_sub:
	case PTX_OP_subc:
	case PTX_OP_mad:
	case PTX_OP_madc:
		/* Addresses are taken before anything is loaded; a carry is made lane by lane. */
		return false;
	default:
		return insn->ndst > 1;
	}
}

/* The span that begins at an instruction's results also takes the instruction itself. */
static void widen(struct ranges *taken, uint32_t reg, uint32_t insn)
{
	uint32_t lo = taken->start[reg], hi = taken->start[reg + 1];

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (taken->at[mid].from < insn + 1)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo < taken->start[reg + 1] && taken->at[lo].from == insn + 1)
		taken->at[lo].from = insn;
}

static int find_taken(struct alloc *a)
{
	uint32_t n = a->ranges->start[a->kernel->nregs], i, d;

	a->taken.start = malloc(((size_t)a->kernel->nregs + 1) * sizeof(*a->taken.start));
	a->taken.at = malloc(((size_t)n + 1) * sizeof(*a->taken.at));
	if (!a->taken.start || !a->taken.at)
		return -ENOMEM;
	memcpy(a->taken.start, a->ranges->start,
	       ((size_t)a->kernel->nregs + 1) * sizeof(*a->taken.start));
	if (n)
		memcpy(a->taken.at, a->ranges->at, n * sizeof(*a->taken.at));
	for (i = 0; i < a->kernel->ninsns; i++) {
		const struct ptx_insn *insn = &a->kernel->insns[i];

		if (!insn_is_wide(insn))
			continue;
		for (d = 0; d < insn->ndst; d++) {
			if (insn->dst[d].reg != PTX_NO_REG)
				widen(&a->taken, insn->dst[d].reg, i);
		}
	}
	return 0;
}

/* Marks what guarded calls return. */
static void find_returned(struct alloc *a)
{
	uint32_t i, j;

	for (i = 0; i < a->kernel->ninsns; i++) {
		const struct ptx_insn *insn = &a->kernel->insns[i];
		const struct ptx_call *call;

		if (insn->opcode != PTX_OP_call || insn->guard == PTX_NO_REG)
			continue;
		call = &a->kernel->calls[insn->target];
		for (j = 0; j < call->nresults; j++) {
			if (call->results[j] != PTX_NO_REG)
				a->returned[call->results[j]] = true;
		}
	}
}

static uint32_t function_of(const struct alloc *a, uint32_t reg)
{
	uint32_t insn = a->ranges->at[a->ranges->start[reg]].from;

	return a->cfg->function_of[a->cfg->block_of[insn]];
}

static int sort_by_function(struct alloc *a)
{
	uint32_t nregs = a->kernel->nregs, r, f, *fill;

	a->regs = calloc((size_t)nregs + 1, sizeof(*a->regs));
	a->regs_start = calloc((size_t)a->kernel->nfunctions + 2, sizeof(*a->regs_start));
	if (!a->regs || !a->regs_start)
		return -ENOMEM;
	/* Counted two places up and summed, so that filling leaves the starts behind. */
	fill = a->regs_start + 1;
	for (r = 0; r < nregs; r++) {
		if (a->ranges->start[r] != a->ranges->start[r + 1])
			fill[function_of(a, r) + 1]++;
	}
	for (f = 0; f < a->kernel->nfunctions; f++)
		fill[f + 1] += fill[f];
	for (r = 0; r < nregs; r++) {
		if (a->ranges->start[r] != a->ranges->start[r + 1])
			a->regs[fill[function_of(a, r)]++] = r;
	}
	return 0;
}

int alloc_init(struct alloc *a, struct ptx_kernel *kernel, const struct cfg *cfg,
	       const struct callgraph *graph, const struct ranges *ranges, uint32_t maxregs)
{
	memset(a, 0, sizeof(*a));
	a->kernel = kernel;
	a->cfg = cfg;
	a->graph = graph;
	a->ranges = ranges;
	a->maxregs = maxregs;
	a->work = COLOR_WORK;
	a->floor = calloc((size_t)kernel->nregs + 1, sizeof(*a->floor));
	a->phys = malloc(((size_t)kernel->nregs + 1) * sizeof(*a->phys));
	a->best = calloc((size_t)kernel->nregs + 1, sizeof(*a->best));
	a->preds = calloc(kernel->nfunctions, sizeof(*a->preds));
	a->returned = calloc((size_t)kernel->nregs + 1, sizeof(*a->returned));
	if (!a->floor || !a->phys || !a->best || !a->preds || !a->returned || find_taken(a) ||
	    sort_by_function(a)) {
		alloc_free(a);
		return -ENOMEM;
	}
	find_returned(a);
	memset(a->phys, 0xff, ((size_t)kernel->nregs + 1) * sizeof(*a->phys));
	return 0;
}

int alloc_mentions(struct alloc *a)
{
	return a->mentions.kernel ? 0 : liveness_init(&a->mentions, a->kernel, a->cfg);
}

void alloc_free(struct alloc *a)
{
	liveness_free(&a->mentions);
	ranges_free(&a->taken);
	free(a->regs);
	free(a->regs_start);
	free(a->floor);
	free(a->phys);
	free(a->best);
	free(a->preds);
	free(a->returned);
	memset(a, 0, sizeof(*a));
}

/* --- calls ------------------------------------------------------------------------------ */

/*
 * The calls of a function in its text's order, and the largest of any stretch of
 * them: most[k][i] is of calls i .. i + 2^k - 1.
 */
struct calls {
	uint32_t n, levels;
	uint64_t steps;
	uint32_t *at;		/* instruction */
	uint32_t *most[32][2];	/* 32-bit registers, predicates */
	uint32_t *mem;
};

static int find_calls(const struct alloc *a, uint32_t f, struct calls *calls)
{
	const struct ptx_function *fn = &a->kernel->functions[f];
	uint32_t i, k, p, n = 0;

	memset(calls, 0, sizeof(*calls));
	for (i = fn->first; i < fn->end; i++)
		n += insn_callee(a->kernel, &a->kernel->insns[i]) != NULL;
	if (!n)
		return 0;
	for (calls->levels = 1; n >> calls->levels; calls->levels++)
		;
	calls->mem = calloc((size_t)n * (1 + 2 * calls->levels), sizeof(*calls->mem));
	if (!calls->mem)
		return -ENOMEM;
	calls->at = calls->mem;
	for (k = 0; k < calls->levels; k++) {
		for (p = 0; p < 2; p++)
			calls->most[k][p] = calls->mem + (size_t)n * (1 + 2 * k + p);
	}
	for (i = fn->first; i < fn->end; i++) {
		const struct ptx_function *callee = insn_callee(a->kernel, &a->kernel->insns[i]);

		/* Across a recursive call nothing is live but what its lanes do not need. */
		if (!callee || call_recurs(a->graph, a->kernel, f, &a->kernel->insns[i]))
			continue;
		calls->at[calls->n] = i;
		calls->most[0][0][calls->n] = callee->regs;
		calls->most[0][1][calls->n] = a->preds[callee - a->kernel->functions];
		calls->n++;
	}
	for (k = 1; k < calls->levels; k++) {
		for (i = 0; i + (1u << k) <= calls->n; i++) {
			for (p = 0; p < 2; p++)
				calls->most[k][p][i] =
					MAX(calls->most[k - 1][p][i],
					    calls->most[k - 1][p][i + (1u << (k - 1))]);
		}
	}
	return 0;
}

/* The first call at `insn` or after. */
static uint32_t call_from(const struct calls *calls, uint32_t insn)
{
	uint32_t lo = 0, hi = calls->n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (calls->at[mid] < insn)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

uint32_t alloc_results_across(const struct alloc *a, uint32_t insn)
{
	const struct ptx_insn *call = &a->kernel->insns[insn];
	const struct ptx_call *c = &a->kernel->calls[call->target];
	uint32_t i, words = 0, reg;

	for (i = 0; i < c->nresults && call->guard != PTX_NO_REG; i++) {
		reg = c->results[i];
		if (reg != PTX_NO_REG && ranges_live(&a->taken, reg, insn) &&
		    ranges_live(&a->taken, reg, insn + 1))
			words += reg_words(a->kernel, reg);
	}
	return words;
}

/* The highest floor that the calls [lo, hi) set for reg. */
static uint32_t floor_of(const struct alloc *a, struct calls *calls, uint32_t lo, uint32_t hi,
			 uint32_t reg)
{
	bool pred = !reg_words(a->kernel, reg);
	uint32_t k = 31 - __builtin_clz(hi - lo), most;

	most = MAX(calls->most[k][pred][lo], calls->most[k][pred][hi - (1u << k)]);
	if (!a->returned[reg] || most <= a->floor[reg])
		return most;
	/* Few registers are both, so each call may be looked at. */
	for (most = 0; lo < hi; lo++) {
		calls->steps++;
		if (!call_returns(a->kernel, &a->kernel->insns[calls->at[lo]], reg))
			most = MAX(most, calls->most[0][pred][lo]);
	}
	return most;
}

int alloc_floors(struct alloc *a, uint32_t f)
{
	struct calls calls;
	uint32_t i, s, lo, hi, reg;
	int ret = find_calls(a, f, &calls);

	if (ret)
		return ret;
	for (i = a->regs_start[f]; i < a->regs_start[f + 1] && calls.n; i++) {
		reg = a->regs[i];
		for (s = a->ranges->start[reg];
		     s < a->ranges->start[reg + 1] && calls.steps <= MAX_STEPS; s++) {
			/* Live before the call and before what follows. */
			lo = call_from(&calls, a->ranges->at[s].from);
			hi = call_from(&calls, a->ranges->at[s].to - 1);
			if (lo < hi)
				a->floor[reg] = MAX(a->floor[reg],
						    floor_of(a, &calls, lo, hi, reg));
		}
	}
	free(calls.mem);
	return calls.steps > MAX_STEPS ? -E2BIG : 0;
}
