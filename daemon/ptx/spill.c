// SPDX-License-Identifier: GPL-2.0
/*
 * Which values leave their registers when there are not enough: those that cost
 * least, by how often they are read and written (a loop counts eight times), for
 * the crowded instructions that they make room at (Chaitin, Register Allocation & Spilling via
 * Graph Coloring, PLDI 1982, with areas for degrees). Called by finish.c, function by
 * function, once a round; rewrite.c does it.
 *
 * A spilled value still needs a register at the instructions that name it, so it makes no
 * room there.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/back.h"

#define MAX_WORK	(1ull << 28)

struct candidate {
	uint32_t reg;
	double price;
};

struct chooser {
	struct spills *s;
	struct alloc *a;
	const struct liveness *l;
	uint32_t first, end;
	/*
	 * Indexed by instruction of the function. room: 32-bit registers that are left before it.
	 * across: at a call, how many of those it preserves. Negative: too many are taken.
	 */
	int32_t *room, *across;
	/*
	 * Sums of what is missing before each instruction in room and in across, for a value of one
	 * register and for one of two: row r has words[r] at [(end - first + 1) * r].
	 */
	uint32_t *missing;
	int64_t crowded;	/* what is negative in both, summed up */
	struct candidate *list;
	uint32_t n;
	uint64_t work;
	bool desperate;		/* count the room right after a definition, where a store may go */
};

/* Whether `at` is a call that reg, live before and after it, must survive. */
static bool must_survive(const struct chooser *c, uint32_t at, uint32_t reg)
{
	const struct ptx_insn *insn = &c->s->kernel->insns[at];

	return insn->opcode == PTX_OP_call && insn_callee(c->s->kernel, insn) &&
	       !call_returns(c->s->kernel, insn, reg);
}

static void find_room(struct chooser *c, uint32_t f, uint32_t most)
{
	const struct alloc *a = c->a;
	uint32_t i, s, reg;
	int32_t words, now = most, cross = 0, *change = c->room, *crossing = c->across;

	for (i = a->regs_start[f]; i < a->regs_start[f + 1]; i++) {
		reg = a->regs[i];
		words = reg_words(a->kernel, reg);
		for (s = a->taken.start[reg]; s < a->taken.start[reg + 1]; s++) {
			change[a->taken.at[s].from - c->first] -= words;
			change[a->taken.at[s].to - c->first] += words;
			crossing[a->taken.at[s].from - c->first] -= words;
			crossing[a->taken.at[s].to - 1 - c->first] += words;
		}
	}
	for (i = 0; i < c->end - c->first; i++) {
		const struct ptx_insn *insn = &a->kernel->insns[c->first + i];
		const struct ptx_function *callee = insn_callee(a->kernel, insn);

		now += c->room[i];
		cross += c->across[i];
		c->room[i] = now;
		c->across[i] = INT32_MAX / 2;
		if (callee && !call_recurs(a->graph, a->kernel, f, insn))
			c->across[i] = (int32_t)most - (int32_t)MIN(callee->regs, most) + cross +
				       (int32_t)alloc_results_across(a, c->first + i);
		c->crowded += MAX(-now, 0) + MAX(-c->across[i], 0);
	}
}

/* Gives `words` more room and returns how much of `want` was missing. */
static uint32_t give(struct chooser *c, int32_t *room, int32_t words, uint32_t want)
{
	uint32_t missing = *room < 0 ? -*room : 0;

	*room += words;
	c->crowded += (*room < 0 ? -*room : 0) - (int64_t)missing;
	return MIN(missing, want);
}

/*
 * Gives `words` more room wherever spilling reg makes some. Returns how much of it is
 * missing, before that, at all these instructions together.
 */
static uint64_t relieve(struct chooser *c, uint32_t reg, int32_t words)
{
	const struct ranges *taken = &c->a->taken;
	const struct mention *mentions = c->l->mentions;
	uint32_t s, i, k, m = c->l->start[reg], hi = c->l->start[reg + 1];
	uint32_t want = reg_words(c->a->kernel, reg);
	uint64_t missing = 0;

	for (s = taken->start[reg]; s < taken->start[reg + 1]; s++) {
		c->work += taken->at[s].to - taken->at[s].from;
		for (i = taken->at[s].from; i < taken->at[s].to; i++) {
			bool named = false;

			while (m < hi && mentions[m].insn + 1 < i)
				m++;
			for (k = m; k < hi && mentions[k].insn <= i; k++)
				named |= mentions[k].insn == i ||
					 (!mentions[k].use && !c->desperate);
			if (!named)
				missing += give(c, &c->room[i - c->first], words, want);
			if (i + 1 < taken->at[s].to && must_survive(c, i, reg))
				missing += give(c, &c->across[i - c->first], words, want);
		}
	}
	return missing;
}

/* --- what is missing, by sums --------------------------------------------------------- */

/* The row of sums of a value of `want` registers. */
static uint32_t *sums(const struct chooser *c, bool across, uint32_t want)
{
	return c->missing + (size_t)(c->end - c->first + 1) * (2 * across + want - 1);
}

static void sum_up(struct chooser *c, const int32_t *room, bool across)
{
	uint32_t *one = sums(c, across, 1), *two = sums(c, across, 2), i;

	for (i = 0; i < c->end - c->first; i++) {
		uint32_t missing = room[i] < 0 ? -room[i] : 0;

		one[i + 1] = one[i] + MIN(missing, 1u);
		two[i + 1] = two[i] + MIN(missing, 2u);
	}
}

/*
 * The result of relieve() for no words, computed from the sums of the room. It takes time in the
 * number of the value's spans and mentions, not in the number of instructions at which it is live.
 */
static uint64_t missing_at(struct chooser *c, uint32_t reg)
{
	uint32_t want = reg_words(c->a->kernel, reg);
	uint32_t m = c->l->start[reg], hi = c->l->start[reg + 1];
	const struct span *span = c->a->taken.at + c->a->taken.start[reg];
	const struct span *last = c->a->taken.at + c->a->taken.start[reg + 1];
	const struct mention *mentions = c->l->mentions;
	const uint32_t *room = sums(c, false, want), *across = sums(c, true, want);
	uint64_t missing = 0;

	for (; span < last; span++) {
		uint32_t from = span->from - c->first, to = span->to - c->first, k;
		uint32_t named = from, call = from;	/* what is below was looked at */

		missing += room[to] - room[from] + across[to - 1] - across[from];
		while (m < hi && mentions[m].insn + 1 < span->from)
			m++;
		c->work++;
		/* Where it is named, its spilling makes no room; nor right after a definition. */
		for (k = m; k < hi && mentions[k].insn < span->to; k++) {
			uint32_t after = mentions[k].insn + 1 - c->first, i = after - 1;
			bool inside = mentions[k].insn >= span->from;

			c->work++;
			if (inside && i >= named) {
				missing -= room[i + 1] - room[i];
				named = i + 1;
			}
			if (inside && i >= call && after < to) {
				if (!must_survive(c, mentions[k].insn, reg))
					missing -= across[after] - across[i];
				call = after;
			}
			if (!mentions[k].use && !c->desperate && after >= named && after < to) {
				missing -= room[after + 1] - room[after];
				named = after + 1;
			}
		}
	}
	return missing;
}

/* The cost of spilling the register, in instructions of the innermost straight line. */
static double cost(const struct chooser *c, uint32_t reg)
{
	const struct cfg *cfg = c->a->cfg;
	uint32_t definition = repeatable_definition(c->s, c->l, reg), m;
	bool stored = c->s->slot_of[reg] != NO_SLOT;
	double sum = 0;

	for (m = c->l->start[reg]; m < c->l->start[reg + 1]; m++) {
		const struct mention *at = &c->l->mentions[m];
		double often = 1ull << 3 * MIN(cfg->depth[cfg->block_of[at->insn]], 8u), each;

		if (definition != NO_INSN)
			each = !at->use ? -1 :
			       c->s->kernel->insns[definition].opcode == PTX_OP_ld ? 2 : 1;
		else
			each = at->use ? 3 : stored ? 0 : 2;
		sum += each * often;
	}
	return MAX(sum, 0.01);
}

static int by_price(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->price != y->price)
		return x->price < y->price ? -1 : 1;
	return x->reg < y->reg ? -1 : x->reg > y->reg;
}

static int find_candidates(struct chooser *c, uint32_t f)
{
	const struct alloc *a = c->a;
	uint32_t i, reg;
	uint64_t missing;

	c->n = 0;
	sum_up(c, c->room, false);
	sum_up(c, c->across, true);
	for (i = a->regs_start[f]; i < a->regs_start[f + 1]; i++) {
		reg = a->regs[i];
		if (!reg_words(a->kernel, reg) || c->s->pinned[reg] || c->s->victim[reg])
			continue;
		missing = missing_at(c, reg);
		if (c->work > MAX_WORK)
			return -E2BIG;
		if (missing)
			c->list[c->n++] = (struct candidate){ reg, cost(c, reg) / missing };
	}
	qsort(c->list, c->n, sizeof(*c->list), by_price);
	return 0;
}

/* Takes candidates until nothing is crowded, then gives back what was not needed after all. */
static int choose(struct chooser *c, uint32_t *chosen)
{
	uint32_t i, n = 0, reg;

	for (i = 0; i < c->n && c->crowded; i++) {
		reg = c->list[i].reg;
		if (!relieve(c, reg, 0))
			continue;
		relieve(c, reg, reg_words(c->a->kernel, reg));
		c->s->victim[reg] = true;
		c->list[n++].reg = reg;
		if (c->work > MAX_WORK)
			return -E2BIG;
	}
	for (i = n; i-- > 0;) {
		int64_t crowded = c->crowded;

		reg = c->list[i].reg;
		relieve(c, reg, -(int32_t)reg_words(c->a->kernel, reg));
		if (c->crowded <= crowded) {
			c->s->victim[reg] = false;
			n--;
		} else {
			relieve(c, reg, reg_words(c->a->kernel, reg));
		}
		if (c->work > MAX_WORK)
			return -E2BIG;
	}
	*chosen += n;
	c->s->nvictims += n;
	return 0;
}

/* The first instruction that stays crowded; below maxregs it may yet be done. */
static int give_up(const struct chooser *c, uint32_t slack, uint32_t *line)
{
	uint32_t i;

	for (i = 0; i < c->end - c->first; i++) {
		if (c->room[i] + (int32_t)slack >= 0 && c->across[i] + (int32_t)slack >= 0)
			continue;
		*line = c->s->kernel->insns[c->first + i].line;
		return -ENOSPC;
	}
	return 0;
}

int spill_choose(struct spills *s, struct alloc *a, uint32_t f, uint32_t most,
		 uint32_t *chosen, uint32_t *line)
{
	const struct ptx_function *fn = &a->kernel->functions[f];
	uint32_t rows = fn->end - fn->first, n = a->regs_start[f + 1] - a->regs_start[f];
	struct chooser c = { .s = s, .a = a, .first = fn->first, .end = fn->end };
	int ret = 0;

	*chosen = 0;
	c.room = calloc((size_t)rows + 1, sizeof(*c.room));
	c.across = calloc((size_t)rows + 1, sizeof(*c.across));
	if (!c.room || !c.across) {
		ret = -ENOMEM;
		goto out;
	}
	find_room(&c, f, most);
	if (!c.crowded)
		goto out;
	c.list = calloc((size_t)n + 1, sizeof(*c.list));
	c.missing = calloc((size_t)rows + 1, 4 * sizeof(*c.missing));
	ret = c.list && c.missing ? alloc_mentions(a) : -ENOMEM;
	c.l = &a->mentions;
	for (c.desperate = false; !ret && c.crowded; c.desperate = true) {
		ret = find_candidates(&c, f);
		if (!ret)
			ret = choose(&c, chosen);
		if (c.desperate)
			break;
	}
	if (!ret && c.crowded && !*chosen)
		ret = give_up(&c, a->maxregs - most, line);
out:
	if (!ret)
		memcpy(s->room + fn->first, c.room, rows * sizeof(*s->room));
	free(c.list);
	free(c.missing);
	free(c.room);
	free(c.across);
	return ret;
}
