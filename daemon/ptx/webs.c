// SPDX-License-Identifier: GPL-2.0
/*
 * Def-use webs (Muchnick, Advanced Compiler Design and Implementation, section 16.3.3):
 * writes whose values meet at a read belong together, others of the same
 * register do not. Called by finish.c before allocation.
 *
 * For one register: a node for each write and one for each block into which it is
 * live; nodes are joined along edges and where a guarded write leaves the old
 * value to some lanes. A write after which it is not live stays a web alone, that
 * is never live: nothing may rely on where it goes.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "ptx/back.h"

#define NONE	UINT32_MAX

struct splitter {
	struct liveness *live;
	struct ptx_kernel *kernel;
	uint32_t regs_cap;
	/*
	 * Nodes: by block, what comes in; then by mention of the register, what it reads or
	 * writes; then the formal.
	 */
	uint32_t *parent;
	uint32_t *out;		/* by block: the node at its end */
	uint32_t *web;		/* by node that is a root: register, NONE as yet */
	bool *after;		/* by mention of the register at hand: live after its instruction */
};

static uint32_t find(struct splitter *s, uint32_t node)
{
	while (s->parent[node] != node) {
		s->parent[node] = s->parent[s->parent[node]];
		node = s->parent[node];
	}
	return node;
}

static void join(struct splitter *s, uint32_t a, uint32_t b)
{
	s->parent[find(s, a)] = find(s, b);
}

/* Whether the register is live after each instruction of the block [from, to) that names it. */
static void find_after(struct splitter *s, uint32_t b, uint32_t from, uint32_t to)
{
	const struct liveness *l = s->live;
	bool live = l->live_out[b] == l->tag;
	uint32_t i, insn;

	while (to > from) {
		bool use = false, kill = false;

		insn = l->mentions[to - 1].insn;
		for (i = to; i > from && l->mentions[i - 1].insn == insn; i--) {
			s->after[i - 1 - l->lo] = live;
			use |= l->mentions[i - 1].use;
			kill |= l->mentions[i - 1].kill;
		}
		live = use || (live && !kill);
		to = i;
	}
}

/* Every ret of a function leaves a result in the same register. */
static bool is_result(const struct splitter *s, const struct mention *m)
{
	const struct liveness *l = s->live;

	if (s->kernel->insns[m->insn].opcode != PTX_OP_ret)
		return false;
	insn_refs(s->kernel, l->cfg, m->insn, l->refs);
	return l->refs[m->ref].shared;
}

static uint32_t node_of(const struct splitter *s, uint32_t mention)
{
	return s->live->cfg->nblocks + mention - s->live->lo;
}

/* Joins the mentions [from, to) of block b and returns the node at its end. */
static uint32_t walk(struct splitter *s, uint32_t b, uint32_t from, uint32_t to, uint32_t *result)
{
	const struct liveness *l = s->live;
	uint32_t cur = l->live_in[b] == l->tag ? b : NONE, i, j, insn;

	find_after(s, b, from, to);
	for (i = from; i < to; i = j) {
		insn = l->mentions[i].insn;
		for (j = i; j < to && l->mentions[j].insn == insn; j++) {
			if (!l->mentions[j].use)
				continue;
			join(s, node_of(s, j), cur);
			if (!is_result(s, &l->mentions[j]))
				continue;
			if (*result != NONE)
				join(s, cur, *result);
			*result = cur;
		}
		for (j = i; j < to && l->mentions[j].insn == insn; j++) {
			if (l->mentions[j].use || !s->after[j - l->lo])
				continue;
			if (!l->mentions[j].kill && cur != NONE)
				join(s, node_of(s, j), cur);
			/* If two destinations are one register, the later one stays. */
			cur = node_of(s, j);
		}
	}
	return cur;
}

/* Every node alone: blocks it is live into, mentions, the formal. Returns the formal's. */
static uint32_t make_nodes(struct splitter *s)
{
	const struct liveness *l = s->live;
	uint32_t i, b, n = l->cfg->nblocks + l->hi - l->lo;

	for (i = l->lo; i < l->hi; i++) {
		b = l->cfg->block_of[l->mentions[i].insn];
		s->parent[b] = b;
		s->web[b] = NONE;
	}
	for (i = 0; i < l->nlist; i++) {
		b = l->list[i];
		s->parent[b] = s->out[b] = b;
		s->web[b] = NONE;
	}
	for (i = l->cfg->nblocks; i <= n; i++) {
		s->parent[i] = i;
		s->web[i] = NONE;
	}
	return n;
}

static void join_edges(struct splitter *s)
{
	const struct liveness *l = s->live;
	const struct cfg *cfg = l->cfg;
	uint32_t i, e, b;

	for (i = 0; i < l->nlist; i++) {
		b = l->list[i];
		for (e = cfg->succ_start[b]; e < cfg->succ_start[b + 1]; e++) {
			if (l->live_in[cfg->succ[e]] == l->tag && s->out[b] != NONE)
				join(s, s->out[b], cfg->succ[e]);
		}
	}
}

/* The register of a node's web: the first that asks keeps the old one. */
static int web_reg(struct splitter *s, uint32_t node, uint32_t old, bool *taken, uint32_t *reg)
{
	struct ptx_kernel *kernel = s->kernel;
	uint32_t root = find(s, node);

	if (s->web[root] == NONE && !*taken) {
		s->web[root] = old;
		*taken = true;
	} else if (s->web[root] == NONE) {
		if (array_grow(kernel->regs, s->regs_cap, kernel->nregs))
			return -ENOMEM;
		kernel->regs[kernel->nregs] = kernel->regs[old];
		s->web[root] = kernel->nregs++;
	}
	*reg = s->web[root];
	return 0;
}

static int rename_formal(struct splitter *s, uint32_t reg, uint32_t node, bool *taken)
{
	const struct ptx_function *f = &s->kernel->functions[s->live->formal_of[reg] - 1];
	uint32_t i;

	for (i = 0; i < f->nformals && f->formals[i] != reg; i++)
		;
	return web_reg(s, node, reg, taken, &f->formals[i]);
}

static int split(struct splitter *s, uint32_t reg)
{
	struct liveness *l = s->live;
	uint32_t formal = make_nodes(s), result = NONE, m, end, b, name;
	bool taken = false;
	int ret = 0;

	for (m = l->lo; m < l->hi; m = end) {
		end = liveness_block_end(l, m);
		b = l->cfg->block_of[l->mentions[m].insn];
		s->out[b] = walk(s, b, m, end, &result);
	}
	join_edges(s);
	if (l->formal_of[reg]) {
		b = l->cfg->block_of[s->kernel->functions[l->formal_of[reg] - 1].first];
		if (l->live_in[b] == l->tag)
			join(s, formal, b);
		ret = rename_formal(s, reg, formal, &taken);
	}
	for (m = l->lo; m < l->hi && !ret; m++) {
		ret = web_reg(s, node_of(s, m), reg, &taken, &name);
		insn_refs(s->kernel, l->cfg, l->mentions[m].insn, l->refs);
		if (!ret)
			*l->refs[l->mentions[m].ref].reg = name;
	}
	return ret;
}

static bool written_twice(const struct liveness *l, uint32_t reg)
{
	uint32_t writes = l->formal_of[reg] != 0, m;

	for (m = l->start[reg]; m < l->start[reg + 1]; m++)
		writes += !l->mentions[m].use;
	return writes > 1;
}

int webs_split(struct ptx_kernel *kernel, const struct cfg *cfg)
{
	struct liveness live;
	struct splitter s = { .live = &live, .kernel = kernel, .regs_cap = kernel->nregs };
	uint32_t nregs = kernel->nregs, i, most = 0;
	int ret = liveness_init(&live, kernel, cfg);

	if (ret)
		return ret;
	for (i = 0; i < nregs; i++)
		most = MAX(most, live.start[i + 1] - live.start[i]);
	s.parent = calloc((size_t)cfg->nblocks + most + 1, sizeof(*s.parent));
	s.web = calloc((size_t)cfg->nblocks + most + 1, sizeof(*s.web));
	s.out = calloc(cfg->nblocks, sizeof(*s.out));
	s.after = calloc((size_t)most + 1, sizeof(*s.after));
	if (!s.parent || !s.web || !s.out || !s.after)
		ret = -ENOMEM;
	for (i = 0; i < nregs && !ret; i++) {
		if (!written_twice(&live, i))
			continue;
		ret = liveness_flood(&live, i);
		if (!ret)
			ret = split(&s, i);
	}
	liveness_free(&live);
	free(s.parent);
	free(s.web);
	free(s.out);
	free(s.after);
	return ret;
}
