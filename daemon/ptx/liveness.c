// SPDX-License-Identifier: GPL-2.0
/*
 * Where registers hold a value that is still needed. Called by webs.c for
 * registers that are written more than once, and by finish.c for all.
 *
 * Register by register: from each use, backwards through the blocks until a
 * write ends the search (Appel and Palsberg, Modern Compiler Implementation,
 * 2nd ed., section 19.6). The work is the length of the live ranges, and a
 * bound on the sum refuses kernels that no compiler writes. What is live is kept
 * as spans of instructions, which are few where sets would be large.
 *
 * A value is live where it may be read later and may have been written before:
 * a register that no path to an instruction has written holds nothing there. A
 * function's formals are written before its first instruction.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "ptx/back.h"

#define MAX_STEPS	(1ull << 26)
#define MAX_SPANS	(1u << 24)

/* A value made by spilling is read only by the lanes that have just written it. */
static bool kills(const struct ptx_kernel *kernel, const struct ptx_insn *insn, uint32_t reg)
{
	return insn->guard == PTX_NO_REG || kernel->regs[reg].spill;
}

static int collect(struct liveness *s)
{
	const struct ptx_kernel *kernel = s->kernel;
	uint32_t i, j, n, *fill;

	/* Counted two places up and summed, so that filling leaves the starts behind. */
	s->start = calloc((size_t)kernel->nregs + 2, sizeof(*s->start));
	if (!s->start)
		return -ENOMEM;
	fill = s->start + 1;
	for (i = 0; i < kernel->ninsns; i++) {
		if (!s->cfg->reachable[s->cfg->block_of[i]])
			continue;
		n = insn_refs(kernel, s->cfg, i, s->refs);
		for (j = 0; j < n; j++)
			fill[*s->refs[j].reg + 1]++;
	}
	for (i = 0; i < kernel->nregs; i++)
		fill[i + 1] += fill[i];
	s->mentions = calloc((size_t)fill[kernel->nregs] + 1, sizeof(*s->mentions));
	if (!s->mentions)
		return -ENOMEM;
	for (i = 0; i < kernel->ninsns; i++) {
		if (!s->cfg->reachable[s->cfg->block_of[i]])
			continue;
		n = insn_refs(kernel, s->cfg, i, s->refs);
		for (j = 0; j < n; j++) {
			uint32_t reg = *s->refs[j].reg;

			s->mentions[fill[reg]++] = (struct mention){
				i, j, !s->refs[j].write,
				s->refs[j].write && kills(kernel, &kernel->insns[i], reg)
			};
		}
	}
	return 0;
}

int liveness_init(struct liveness *s, const struct ptx_kernel *kernel, const struct cfg *cfg)
{
	uint32_t f, i;

	memset(s, 0, sizeof(*s));
	s->kernel = kernel;
	s->cfg = cfg;
	s->refs = calloc(refs_max(kernel), sizeof(*s->refs));
	s->formal_of = calloc(kernel->nregs + 1, sizeof(*s->formal_of));
	s->live_in = calloc(cfg->nblocks, 7 * sizeof(*s->live_in));
	s->set = calloc(cfg->nblocks / 64 + 1, sizeof(*s->set));
	if (!s->refs || !s->formal_of || !s->live_in || !s->set || collect(s)) {
		liveness_free(s);
		return -ENOMEM;
	}
	s->live_out = s->live_in + cfg->nblocks;
	s->reached = s->live_in + 2 * (size_t)cfg->nblocks;
	s->stack = s->live_in + 3 * (size_t)cfg->nblocks;
	s->list = s->live_in + 4 * (size_t)cfg->nblocks;
	s->kills = s->live_in + 5 * (size_t)cfg->nblocks;
	s->mention_at = s->live_in + 6 * (size_t)cfg->nblocks;
	for (f = 0; f < kernel->nfunctions; f++) {
		for (i = 0; i < kernel->functions[f].nformals; i++) {
			if (kernel->functions[f].formals[i] != PTX_NO_REG)
				s->formal_of[kernel->functions[f].formals[i]] = f + 1;
		}
	}
	return 0;
}

void liveness_free(struct liveness *s)
{
	free(s->refs);
	free(s->formal_of);
	free(s->live_in);
	free(s->set);
	free(s->start);
	free(s->mentions);
	memset(s, 0, sizeof(*s));
}

static bool has_kill(const struct liveness *s, uint32_t from, uint32_t to)
{
	for (; from < to; from++) {
		if (s->mentions[from].kill)
			return true;
	}
	return false;
}

/* Whether the block [from, to) reads what came into it. An instruction reads before it writes. */
static bool exposed(const struct liveness *s, uint32_t from, uint32_t to)
{
	uint32_t insn;
	bool kill = false, use = false;

	while (from < to && !kill && !use) {
		for (insn = s->mentions[from].insn; from < to && s->mentions[from].insn == insn;
		     from++) {
			use |= s->mentions[from].use;
			kill |= s->mentions[from].kill;
		}
	}
	return use;
}

uint32_t liveness_block_end(const struct liveness *s, uint32_t m)
{
	uint32_t end = s->cfg->first[s->cfg->block_of[s->mentions[m].insn] + 1];

	while (m < s->hi && s->mentions[m].insn < end)
		m++;
	return m;
}

int liveness_flood(struct liveness *s, uint32_t reg)
{
	uint32_t depth = 0, m, end, b, e;

	s->tag = reg + 1;
	s->lo = s->start[reg];
	s->hi = s->start[reg + 1];
	s->nlist = 0;
	for (m = s->lo; m < s->hi; m = end) {
		end = liveness_block_end(s, m);
		b = s->cfg->block_of[s->mentions[m].insn];
		if (has_kill(s, m, end))
			s->kills[b] = s->tag;
		if (exposed(s, m, end)) {
			s->live_in[b] = s->tag;
			s->stack[depth++] = b;
		}
	}
	s->steps += s->hi - s->lo;
	while (depth) {
		b = s->stack[--depth];
		for (e = s->cfg->pred_start[b]; e < s->cfg->pred_start[b + 1]; e++) {
			uint32_t pred = s->cfg->pred[e];

			s->steps++;
			if (s->live_out[pred] == s->tag || !s->cfg->reachable[pred])
				continue;
			s->live_out[pred] = s->tag;
			s->list[s->nlist++] = pred;
			if (s->live_in[pred] != s->tag && s->kills[pred] != s->tag) {
				s->live_in[pred] = s->tag;
				s->stack[depth++] = pred;
			}
		}
	}
	return s->steps > MAX_STEPS ? -E2BIG : 0;
}

/* Marks the blocks whose start a write reaches. */
static void flood_forward(struct liveness *s)
{
	uint32_t depth = 0, m, end, b, e;

	for (m = s->lo; m < s->hi; m = end) {
		bool write = false;

		b = s->cfg->block_of[s->mentions[m].insn];
		for (end = liveness_block_end(s, m); m < end; m++)
			write |= !s->mentions[m].use;
		if (write && s->live_out[b] == s->tag)
			s->stack[depth++] = b;
	}
	while (depth) {
		b = s->stack[--depth];
		for (e = s->cfg->succ_start[b]; e < s->cfg->succ_start[b + 1]; e++) {
			uint32_t succ = s->cfg->succ[e];

			s->steps++;
			if (s->live_in[succ] != s->tag || s->reached[succ] == s->tag)
				continue;
			s->reached[succ] = s->tag;
			if (s->live_out[succ] == s->tag)
				s->stack[depth++] = succ;
		}
	}
}

/* --- spans ------------------------------------------------------------------------- */

struct spans {
	struct span *at;
	uint32_t n, cap;
	bool failed;
};

/* Adds the part of [from, to) in which the register holds a value. */
static void add_span(struct spans *spans, uint32_t from, uint32_t to, uint32_t holds_from)
{
	from = MAX(from, holds_from);
	if (from >= to || spans->failed)
		return;
	if (array_grow(spans->at, spans->cap, spans->n)) {
		spans->failed = true;
		return;
	}
	spans->at[spans->n++] = (struct span){ from, to };
}

/* Reverses the order of the spans from `first` on. */
static void reverse(struct spans *spans, uint32_t first)
{
	uint32_t last;

	for (last = spans->n; first + 1 < last; first++) {
		struct span span = spans->at[first];

		spans->at[first] = spans->at[--last];
		spans->at[last] = span;
	}
}

/* The spans in block b, whose mentions are [from, to). They are found from its end backwards. */
static void block_spans(const struct liveness *s, struct spans *spans, uint32_t b, uint32_t from,
			uint32_t to, bool partial)
{
	uint32_t end = s->cfg->first[b + 1], holds_from = s->cfg->first[b], i, found = spans->n;
	bool live = s->live_out[b] == s->tag;

	if (partial && s->reached[b] != s->tag) {
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
			add_span(spans, insn + 1, end, holds_from);
			live = false;
		}
		if (use && !live) {
			end = insn + 1;
			live = true;
		}
	}
	if (live)
		add_span(spans, s->cfg->first[b], end, holds_from);
	reverse(spans, found);
}

/* One where two touch. */
static void join_touching(struct spans *spans, uint32_t first)
{
	uint32_t i, n = first;

	for (i = first; i < spans->n; i++) {
		if (n > first && spans->at[n - 1].to == spans->at[i].from)
			spans->at[n - 1].to = spans->at[i].to;
		else
			spans->at[n++] = spans->at[i];
	}
	spans->n = n;
}

/* Blocks, to be gone through in the order of the text without sorting them. */
struct block_set {
	uint64_t *words;
	uint32_t lo, hi;	/* the words that may have bits: [lo, hi) */
};

static void set_add(struct block_set *set, uint32_t b)
{
	set->words[b / 64] |= 1ull << b % 64;
	set->lo = MIN(set->lo, b / 64);
	set->hi = MAX(set->hi, b / 64 + 1);
}

/* The first of them, which it takes out; UINT32_MAX: there is none. */
static uint32_t set_take(struct block_set *set)
{
	for (; set->lo < set->hi; set->lo++) {
		uint64_t word = set->words[set->lo];

		if (!word)
			continue;
		set->words[set->lo] = word & (word - 1);
		return 64 * set->lo + (uint32_t)__builtin_ctzll(word);
	}
	return UINT32_MAX;
}

/* Whether it is live at the start of its function without being a formal: then it holds nothing there. */
static bool partly_written(const struct liveness *s, uint32_t reg)
{
	const struct cfg *cfg = s->cfg;
	uint32_t f;

	if (s->lo == s->hi || s->formal_of[reg])
		return false;
	f = cfg->function_of[cfg->block_of[s->mentions[s->lo].insn]];
	return s->live_in[cfg->block_of[s->kernel->functions[f].first]] == s->tag;
}

static int solve(struct liveness *s, uint32_t reg, struct spans *spans)
{
	struct block_set blocks = { .words = s->set, .lo = UINT32_MAX };
	uint32_t m, end, i, b, first = spans->n;
	bool partial;
	int ret = liveness_flood(s, reg);

	if (ret)
		return ret;
	partial = partly_written(s, reg);
	if (partial)
		flood_forward(s);
	/* The blocks that name the register, and those that it passes through. */
	for (m = s->lo; m < s->hi; m = end) {
		end = liveness_block_end(s, m);
		b = s->cfg->block_of[s->mentions[m].insn];
		s->mention_at[b] = m + 1;
		set_add(&blocks, b);
	}
	for (i = 0; i < s->nlist; i++)
		set_add(&blocks, s->list[i]);
	s->steps += blocks.lo < blocks.hi ? blocks.hi - blocks.lo : 0;
	while ((b = set_take(&blocks)) != UINT32_MAX) {
		m = s->mention_at[b] ? s->mention_at[b] - 1 : 0;
		end = s->mention_at[b] ? liveness_block_end(s, m) : 0;
		block_spans(s, spans, b, m, end, partial);
		s->mention_at[b] = 0;
	}
	if (spans->failed)
		return -ENOMEM;
	join_touching(spans, first);
	return spans->n > MAX_SPANS ? -E2BIG : 0;
}

int liveness_ranges(const struct ptx_kernel *kernel, const struct cfg *cfg, struct ranges *ranges)
{
	struct spans spans = { 0 };
	struct liveness s;
	int ret = liveness_init(&s, kernel, cfg);
	uint32_t i;

	memset(ranges, 0, sizeof(*ranges));
	if (ret)
		return ret;
	ranges->start = calloc((size_t)kernel->nregs + 1, sizeof(*ranges->start));
	ret = ranges->start ? 0 : -ENOMEM;
	for (i = 0; i < kernel->nregs && !ret; i++) {
		ret = solve(&s, i, &spans);
		ranges->start[i + 1] = spans.n;
	}
	liveness_free(&s);
	ranges->at = spans.at;
	if (ret)
		ranges_free(ranges);
	return ret;
}

void ranges_free(struct ranges *ranges)
{
	free(ranges->start);
	free(ranges->at);
	memset(ranges, 0, sizeof(*ranges));
}

bool ranges_live(const struct ranges *ranges, uint32_t reg, uint32_t insn)
{
	uint32_t lo = ranges->start[reg], hi = ranges->start[reg + 1];

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (ranges->at[mid].to <= insn)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < ranges->start[reg + 1] && ranges->at[lo].from <= insn;
}
