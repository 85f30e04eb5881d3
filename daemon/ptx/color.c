// SPDX-License-Identifier: GPL-2.0
/*
 * Which physical register each web of a function gets: as few as there are
 * values at once, if it can be done. Called by finish.c, callees first.
 *
 * The interference graph is never built. Each instruction has a row of bits, the
 * places taken there; a web sees the rows of its live range and takes a place
 * that is free in all. The order is that of the text, which is optimal where live
 * ranges have no holes; where it is not, webs that found no place below the bound go first
 * in the next attempt (Joslin and Clements, Squeaky Wheel Optimization, JAIR 10,
 * 1999).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/back.h"

#define MAX_WORDS	4	/* of 64 places: 255 registers are the most there are */
#define ATTEMPTS	40	/* at one bound */
#define AGAIN	8		/* by weight */
#define HOPELESS	50	/* webs without a place that no other order will bring down to 0 */

struct item {
	uint32_t reg, from, urgent;
	uint8_t words;
	bool failed;
};

struct painter {
	struct alloc *a;
	uint32_t first, rows;	/* instructions of the function */
	uint32_t words, limit;	/* of a row; places allowed */
	uint64_t *busy;		/* rows x words */
	struct item *items;
	uint32_t n;
	bool preds;
	uint32_t used, nfailed; /* in the attempt at hand */
};

static int by_order(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	if (x->urgent != y->urgent)
		return x->urgent > y->urgent ? -1 : 1;
	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	if (x->words != y->words)
		return x->words > y->words ? -1 : 1;
	return x->reg < y->reg ? -1 : x->reg > y->reg;
}

static void each_row(struct painter *p, uint32_t reg, uint64_t *used, const uint64_t *set)
{
	const struct ranges *taken = &p->a->taken;
	uint32_t s, w, words = p->words;
	uint64_t i;

	for (s = taken->start[reg]; s < taken->start[reg + 1]; s++) {
		uint64_t *row = p->busy + (uint64_t)(taken->at[s].from - p->first) * words;
		uint64_t n = (uint64_t)(taken->at[s].to - taken->at[s].from) * words;

		if (set) {
			for (i = 0; i < n; i += words)
				for (w = 0; w < words; w++)
					row[i + w] |= set[w];
		} else if (words == 1) {
			uint64_t all = 0;

			for (i = 0; i < n; i++)
				all |= row[i];
			used[0] |= all;
		} else {
			for (i = 0; i < n; i += words)
				for (w = 0; w < words; w++)
					used[w] |= row[i + w];
		}
	}
}

/* Bits below `n` of word w. */
static uint64_t below(uint32_t n, uint32_t w)
{
	if (n >= 64 * (w + 1))
		return UINT64_MAX;
	return n <= 64 * w ? 0 : (1ull << (n - 64 * w)) - 1;
}

#define EVEN	0x5555555555555555ull

/* The lowest place; a single one where the other half of its pair is of no use to pairs. */
static uint32_t choose(const struct painter *p, const struct item *item, const uint64_t *used)
{
	uint32_t floor = p->a->floor[item->reg], w, found = PTX_NO_REG;
	uint64_t free, buddies;

	for (w = 0; w < p->words; w++) {
		free = ~used[w] & below(p->limit, w) & ~below(floor, w);
		if (item->words == 2) {
			free &= free >> 1 & EVEN;
			if (free)
				return 64 * w + __builtin_ctzll(free);
			continue;
		}
		if (!free)
			continue;
		buddies = (used[w] >> 1 & EVEN) | (used[w] & EVEN) << 1;
		if (!p->preds && free & buddies)
			return 64 * w + __builtin_ctzll(free & buddies);
		if (found == PTX_NO_REG)
			found = 64 * w + __builtin_ctzll(free);
	}
	return found;
}

static void attempt(struct painter *p)
{
	uint64_t used[MAX_WORDS], set[MAX_WORDS];
	uint32_t i, place;

	qsort(p->items, p->n, sizeof(*p->items), by_order);
	memset(p->busy, 0, (uint64_t)p->rows * p->words * sizeof(*p->busy));
	p->used = p->nfailed = 0;
	for (i = 0; i < p->n; i++) {
		struct item *item = &p->items[i];

		memset(used, 0, sizeof(used));
		each_row(p, item->reg, used, NULL);
		place = choose(p, item, used);
		p->a->phys[item->reg] = place;
		item->failed = place == PTX_NO_REG;
		if (item->failed) {
			p->nfailed++;
			item->urgent++;
			continue;
		}
		memset(set, 0, sizeof(set));
		set[place / 64] = (item->words == 2 ? 3ull : 1ull) << place % 64;
		each_row(p, item->reg, NULL, set);
		p->used = MAX(p->used, place + MAX(item->words, 1));
	}
}

static void keep(struct painter *p)
{
	uint32_t i;

	for (i = 0; i < p->n; i++)
		p->a->best[p->items[i].reg] = p->a->phys[p->items[i].reg];
}

/* Attempts at one bound until all have a place. Returns whether; `work` counts down. */
static bool attempts(struct painter *p, uint32_t limit, uint64_t length, uint32_t most)
{
	uint32_t i;

	p->limit = limit;
	p->words = DIV_ROUND_UP(limit, 64);
	for (i = 0; i < most; i++) {
		attempt(p);
		if (!p->nfailed)
			return true;
		/* Far off, or out of time. */
		if ((i >= 3 && p->nfailed > HOPELESS) || p->a->work < length * p->words)
			return false;
		p->a->work -= length * p->words;
	}
	return false;
}

/* How many places are needed at least; *length: the rows of all webs. */
static uint32_t lower_bound(const struct painter *p, uint64_t *length)
{
	const struct ptx_kernel *kernel = p->a->kernel;
	int64_t *change = calloc((size_t)p->rows + 2, 2 * sizeof(*change));
	int64_t *cross = change + p->rows + 2, now = 0, across = 0, most = 0;
	uint32_t i, s, words;

	*length = 0;
	if (!change)
		return 0;
	for (i = 0; i < p->n; i++) {
		const struct ranges *taken = &p->a->taken;
		uint32_t reg = p->items[i].reg;

		words = MAX(p->items[i].words, 1);
		for (s = taken->start[reg]; s < taken->start[reg + 1]; s++) {
			change[taken->at[s].from - p->first] += words;
			change[taken->at[s].to - p->first] -= words;
			cross[taken->at[s].from - p->first] += words;
			cross[taken->at[s].to - 1 - p->first] -= words;
			*length += taken->at[s].to - taken->at[s].from;
		}
	}
	for (i = 0; i < p->rows; i++) {
		const struct ptx_function *callee =
			insn_callee(kernel, &kernel->insns[p->first + i]);

		now += change[i];
		across += cross[i];
		most = MAX(most, now);
		/* A bound that is too low costs attempts, one that is too high registers. */
		if (callee && across && !p->preds &&
		    kernel->insns[p->first + i].guard == PTX_NO_REG)
			most = MAX(most, across + callee->regs);
	}
	free(change);
	return most;
}

static int open_painter(struct painter *p, struct alloc *a, uint32_t f, bool preds)
{
	uint32_t i, reg, words;

	*p = (struct painter){
		.a = a, .preds = preds,
		.first = a->kernel->functions[f].first,
		.rows = a->kernel->functions[f].end - a->kernel->functions[f].first,
	};
	p->items = calloc((size_t)a->regs_start[f + 1] - a->regs_start[f] + 1,
			  sizeof(*p->items));
	if (!p->items)
		return -ENOMEM;
	for (i = a->regs_start[f]; i < a->regs_start[f + 1]; i++) {
		reg = a->regs[i];
		words = reg_words(a->kernel, reg);
		if (preds == !words)
			p->items[p->n++] = (struct item){
				.reg = reg, .words = words,
				.from = a->taken.at[a->taken.start[reg]].from,
			};
	}
	return 0;
}

/*
 * The fewest places below `most`: first as the text goes, then, if that is more than the
 * bound, from the bound upwards.
 */
static bool paint(struct painter *p, uint32_t most)
{
	uint64_t length;
	uint32_t bound = MAX(lower_bound(p, &length), 1u), limit, best;

	limit = MIN(most, bound + bound / 4 + 8);
	while (!attempts(p, limit, length, 1) && limit < most)
		limit = MIN(most, 2 * limit);
	if (p->nfailed && !attempts(p, most, length, ATTEMPTS))
		return false;
	keep(p);
	best = p->used;
	for (limit = bound; limit < best; limit++) {
		if (!attempts(p, limit, length, ATTEMPTS))
			continue;
		keep(p);
		best = p->used;
	}
	p->used = best;
	return true;
}

static int list_failed(const struct painter *p, uint32_t **failed, uint32_t *nfailed)
{
	uint32_t i;

	*failed = calloc((size_t)p->nfailed + 1, sizeof(**failed));
	if (!*failed)
		return -ENOMEM;
	for (i = 0; i < p->n; i++) {
		if (p->items[i].failed)
			(*failed)[(*nfailed)++] = p->items[i].reg;
	}
	return 0;
}

static int color(struct alloc *a, uint32_t f, bool preds, uint32_t *used, uint32_t **failed,
		 uint32_t *nfailed)
{
	struct painter p;
	int ret = open_painter(&p, a, f, preds);
	uint32_t i;

	if (ret)
		return ret;
	p.busy = calloc((size_t)p.rows * MAX_WORDS + 1, sizeof(*p.busy));
	if (!p.busy) {
		ret = -ENOMEM;
	} else if (p.n && !paint(&p, preds ? PTX_MAX_MAXREGS : a->maxregs)) {
		ret = list_failed(&p, failed, nfailed);
	} else {
		for (i = 0; i < p.n; i++)
			a->phys[p.items[i].reg] = a->best[p.items[i].reg];
		*used = p.used;
	}
	free(p.busy);
	free(p.items);
	return ret;
}

int color_again(struct alloc *a, uint32_t f, const uint32_t *weight)
{
	struct painter p;
	int ret = open_painter(&p, a, f, false);
	uint32_t i, limit = 0;

	if (ret)
		return ret;
	p.busy = calloc((size_t)p.rows * MAX_WORDS + 1, sizeof(*p.busy));
	ret = p.busy ? 0 : -ENOMEM;
	for (i = 0; i < p.n; i++) {
		uint32_t reg = p.items[i].reg;

		p.items[i].urgent = weight[reg];
		a->best[reg] = a->phys[reg];
		limit = MAX(limit, a->phys[reg] + MAX(p.items[i].words, 1));
	}
	if (!ret && p.n && !attempts(&p, limit, 0, AGAIN)) {
		for (i = 0; i < p.n; i++)
			a->phys[p.items[i].reg] = a->best[p.items[i].reg];
	}
	free(p.busy);
	free(p.items);
	return ret;
}

int color_function(struct alloc *a, uint32_t f, uint32_t **failed, uint32_t *nfailed)
{
	struct ptx_function *fn = &a->kernel->functions[f];
	uint32_t regs = 0, preds = 0, i;
	int ret;

	*failed = NULL;
	*nfailed = 0;
	ret = color(a, f, false, &regs, failed, nfailed);
	if (ret || *nfailed)
		return ret;
	ret = color(a, f, true, &preds, failed, nfailed);
	if (ret || *nfailed)
		return ret;
	for (i = fn->first; i < fn->end; i++) {
		const struct ptx_function *callee = insn_callee(a->kernel, &a->kernel->insns[i]);

		if (callee) {
			regs = MAX(regs, callee->regs);
			preds = MAX(preds, a->preds[callee - a->kernel->functions]);
		}
	}
	fn->regs = regs;
	a->preds[f] = preds;
	return 0;
}
