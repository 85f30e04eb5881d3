// SPDX-License-Identifier: GPL-2.0
/*
 * Which registers hold a value that is still needed, and so how many physical
 * 32-bit registers a thread takes: the most that are live at once. A 64-bit
 * register counts two; predicates live apart. Called once a kernel.
 *
 * Register by register: from each use, backwards through the blocks until a
 * write ends the search (Appel and Palsberg, Modern Compiler Implementation,
 * 2nd ed., section 19.6). The work is the length of the live ranges, and a
 * bound on the sum refuses kernels that no compiler writes. What is live before
 * instruction i is summed up from the ends of the ranges.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/private.h"

#define MAX_STEPS	(1ull << 28)

/*
 * One mention of a register. A guarded write leaves the other lanes' value in
 * place, so it does not end the search.
 */
struct mention {
	uint32_t insn;
	bool use, kill;
};

struct solver {
	const struct ptx_kernel *kernel;
	const struct cfg *cfg;
	uint32_t *start;	/* by register: its mentions, in the order of the text */
	struct mention *mentions;
	int64_t *change;	/* by instruction: registers that begin less those that end to be live */
	/* By block; equal to tag when it holds for the register at hand. */
	uint32_t *live_in, *live_out, *reached;
	uint32_t *stack, *list;
	uint32_t *reachable;	/* by block; code that never runs needs no registers */
	uint64_t steps;
	/* The register at hand: its mentions [lo, hi). */
	uint32_t tag, lo, hi, weight;
};

#define MAX_MENTIONS	(1 + PTX_MAX_SRC + PTX_MAX_DST)

/* Registers that an instruction names; the caller has room for MAX_MENTIONS. */
static uint32_t each_operand(const struct ptx_insn *insn, uint32_t *regs, bool *writes)
{
	uint32_t n = 0, i;

	if (insn->guard != PTX_NO_REG) {
		regs[n] = insn->guard;
		writes[n++] = false;
	}
	for (i = 0; i < insn->nsrc; i++) {
		regs[n] = insn->src[i].reg;
		writes[n++] = false;
	}
	for (i = 0; i < insn->ndst; i++) {
		regs[n] = insn->dst[i].reg;
		writes[n++] = true;
	}
	return n;
}

static void find_reachable(struct solver *s)
{
	uint32_t depth = 0, b, e;

	s->reachable[0] = 1;
	s->stack[depth++] = 0;
	while (depth) {
		b = s->stack[--depth];
		for (e = 0; e < 2; e++) {
			uint32_t succ = s->cfg->succ[b][e];

			if (succ != PTX_NO_BLOCK && !s->reachable[succ]) {
				s->reachable[succ] = 1;
				s->stack[depth++] = succ;
			}
		}
	}
}

static int collect(struct solver *s)
{
	const struct ptx_kernel *kernel = s->kernel;
	uint32_t regs[MAX_MENTIONS], i, j, n, *fill;
	bool writes[MAX_MENTIONS];

	/* Counted two places up and summed, so that filling leaves the starts behind. */
	s->start = calloc((size_t)kernel->nregs + 2, sizeof(*s->start));
	if (!s->start)
		return -ENOMEM;
	fill = s->start + 1;
	for (i = 0; i < kernel->ninsns; i++) {
		if (!s->reachable[s->cfg->block_of[i]])
			continue;
		n = each_operand(&kernel->insns[i], regs, writes);
		for (j = 0; j < n; j++) {
			if (regs[j] != PTX_NO_REG)
				fill[regs[j] + 1]++;
		}
	}
	for (i = 0; i < kernel->nregs; i++)
		fill[i + 1] += fill[i];
	s->mentions = calloc((size_t)fill[kernel->nregs] + 1, sizeof(*s->mentions));
	if (!s->mentions)
		return -ENOMEM;
	for (i = 0; i < kernel->ninsns; i++) {
		if (!s->reachable[s->cfg->block_of[i]])
			continue;
		n = each_operand(&kernel->insns[i], regs, writes);
		for (j = 0; j < n; j++) {
			if (regs[j] != PTX_NO_REG)
				s->mentions[fill[regs[j]]++] = (struct mention){
					i, !writes[j],
					writes[j] && kernel->insns[i].guard == PTX_NO_REG
				};
		}
	}
	return 0;
}

/* The mentions [lo, hi) of the register that stand in block b: [*from, *to). */
static void mentions_in(struct solver *s, uint32_t b, uint32_t *from, uint32_t *to)
{
	uint32_t l = s->lo, h = s->hi;

	while (l < h) {
		uint32_t mid = l + (h - l) / 2;

		if (s->mentions[mid].insn < s->cfg->first[b])
			l = mid + 1;
		else
			h = mid;
		s->steps++;
	}
	*from = l;
	for (; l < s->hi && s->mentions[l].insn < s->cfg->first[b + 1]; l++)
		s->steps++;
	*to = l;
}

static bool has_kill(struct solver *s, uint32_t b)
{
	uint32_t from, to;

	for (mentions_in(s, b, &from, &to); from < to; from++) {
		if (s->mentions[from].kill)
			return true;
	}
	return false;
}

/* Whether the block [from, to) reads what came into it. An instruction reads before it writes. */
static bool exposed(const struct solver *s, uint32_t from, uint32_t to)
{
	uint32_t insn;
	bool kill = false;

	while (from < to && !kill) {
		for (insn = s->mentions[from].insn; from < to && s->mentions[from].insn == insn;
		     from++) {
			if (s->mentions[from].use)
				return true;
			kill |= s->mentions[from].kill;
		}
	}
	return false;
}

/* One past the mentions of the block that mention m is in. */
static uint32_t end_of_block(const struct solver *s, uint32_t m)
{
	uint32_t end = s->cfg->first[s->cfg->block_of[s->mentions[m].insn] + 1];

	while (m < s->hi && s->mentions[m].insn < end)
		m++;
	return m;
}

/* Marks the blocks at whose start and end the register is live; lists those of the ends. */
static uint32_t flood_back(struct solver *s)
{
	uint32_t depth = 0, n = 0, m, end, b, e;

	for (m = s->lo; m < s->hi; m = end) {
		end = end_of_block(s, m);
		b = s->cfg->block_of[s->mentions[m].insn];
		if (exposed(s, m, end)) {
			s->live_in[b] = s->tag;
			s->stack[depth++] = b;
		}
	}
	while (depth) {
		b = s->stack[--depth];
		for (e = s->cfg->pred_start[b]; e < s->cfg->pred_start[b + 1]; e++) {
			uint32_t pred = s->cfg->pred[e];

			s->steps++;
			if (s->live_out[pred] == s->tag || !s->reachable[pred])
				continue;
			s->live_out[pred] = s->tag;
			s->list[n++] = pred;
			if (s->live_in[pred] != s->tag && !has_kill(s, pred)) {
				s->live_in[pred] = s->tag;
				s->stack[depth++] = pred;
			}
		}
	}
	return n;
}

/*
 * A register that is live at the kernel's start is never written on some path:
 * it holds nothing there. Marks the blocks whose start a write reaches.
 */
static void flood_forward(struct solver *s)
{
	uint32_t depth = 0, m, end, b, e;

	for (m = s->lo; m < s->hi; m = end) {
		bool write = false;

		b = s->cfg->block_of[s->mentions[m].insn];
		for (end = end_of_block(s, m); m < end; m++)
			write |= !s->mentions[m].use;
		if (write && s->live_out[b] == s->tag)
			s->stack[depth++] = b;
	}
	while (depth) {
		b = s->stack[--depth];
		for (e = 0; e < 2; e++) {
			uint32_t succ = s->cfg->succ[b][e];

			s->steps++;
			if (succ == PTX_NO_BLOCK || s->live_in[succ] != s->tag ||
			    s->reached[succ] == s->tag)
				continue;
			s->reached[succ] = s->tag;
			if (s->live_out[succ] == s->tag)
				s->stack[depth++] = succ;
		}
	}
}

/* Live before the instructions [from, to), where it holds something. */
static void add_range(struct solver *s, uint32_t from, uint32_t to, uint32_t holds_from)
{
	from = MAX(from, holds_from);
	if (from >= to)
		return;
	s->change[from] += s->weight;
	s->change[to] -= s->weight;
}

/* The ranges in block b, whose mentions are [from, to), from its end backwards. */
static void block_ranges(struct solver *s, uint32_t b, uint32_t from, uint32_t to, bool at_entry)
{
	uint32_t end = s->cfg->first[b + 1], holds_from = s->cfg->first[b], i;
	bool live = s->live_out[b] == s->tag;

	if (at_entry && s->reached[b] != s->tag) {
		for (i = from; i < to && s->mentions[i].use; i++)
			;
		holds_from = i < to ? s->mentions[i].insn + 1 : end;
	}
	for (i = to; i > from;) {
		uint32_t insn = s->mentions[i - 1].insn;
		bool use = false, kill = false;

		for (; i > from && s->mentions[i - 1].insn == insn; i--) {
			use |= s->mentions[i - 1].use;
			kill |= s->mentions[i - 1].kill;
		}
		if (kill && live) {
			add_range(s, insn + 1, end, holds_from);
			live = false;
		}
		if (use && !live) {
			end = insn + 1;
			live = true;
		}
	}
	if (live)
		add_range(s, s->cfg->first[b], end, holds_from);
}

static void solve_register(struct solver *s, uint32_t reg)
{
	uint32_t n, m, end, i, from, to;
	bool at_entry;

	s->tag = reg + 1;
	s->lo = s->start[reg];
	s->hi = s->start[reg + 1];
	s->weight = ptx_type_bytes(s->kernel->regs[reg].type) > 4 ? 2 : 1;
	n = flood_back(s);
	at_entry = s->live_in[0] == s->tag;
	if (at_entry)
		flood_forward(s);
	for (m = s->lo; m < s->hi; m = end) {
		end = end_of_block(s, m);
		block_ranges(s, s->cfg->block_of[s->mentions[m].insn], m, end, at_entry);
	}
	/* Blocks that it only passes through. */
	for (i = 0; i < n; i++) {
		mentions_in(s, s->list[i], &from, &to);
		if (from == to)
			block_ranges(s, s->list[i], 0, 0, at_entry);
	}
}

int liveness_solve(struct ptx_kernel *kernel, const struct cfg *cfg)
{
	struct solver s = { .kernel = kernel, .cfg = cfg };
	uint32_t *blocks = calloc(cfg->nblocks, 6 * sizeof(*blocks)), i;
	int64_t live = 0, most = 1;
	int ret = -ENOMEM;

	s.change = calloc((size_t)kernel->ninsns + 1, sizeof(*s.change));
	if (!blocks || !s.change)
		goto out;
	s.live_in = blocks;
	s.live_out = blocks + cfg->nblocks;
	s.reached = blocks + 2 * (size_t)cfg->nblocks;
	s.stack = blocks + 3 * (size_t)cfg->nblocks;
	s.list = blocks + 4 * (size_t)cfg->nblocks;
	s.reachable = blocks + 5 * (size_t)cfg->nblocks;
	find_reachable(&s);
	if (collect(&s))
		goto out;
	ret = -E2BIG;
	for (i = 0; i < kernel->nregs; i++) {
		if (kernel->regs[i].type != PTX_PRED)
			solve_register(&s, i);
		if (s.steps > MAX_STEPS)
			goto out;
	}
	for (i = 0; i < kernel->ninsns; i++) {
		live += s.change[i];
		most = MAX(most, live);
	}
	kernel->regs_per_thread = most;
	ret = 0;
out:
	free(blocks);
	free(s.change);
	free(s.start);
	free(s.mentions);
	return ret;
}
