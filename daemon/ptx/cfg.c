// SPDX-License-Identifier: GPL-2.0
/*
 * Control-flow graph of a linked kernel: where basic blocks begin and which
 * follow which, inside each function. Called by finish.c.
 *
 * A guarded ret or exit ends some lanes and the rest go on, so it is no end of
 * a block: lanes that are gone need no place to meet the others again. trap
 * has no successor and does not lead to the exit either: what comes after it
 * must not move the point where the lanes that do not trap reconverge. A call
 * falls through; what it runs is another function's graph.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/back.h"

/* Tables of brx can be shared: the edges of a short text could be many. */
#define MAX_EDGES	(1u << 24)

static bool is_branch(const struct ptx_insn *insn)
{
	return insn->opcode == PTX_OP_bra || insn->opcode == PTX_OP_brx;
}

static bool ends_block(const struct ptx_insn *insn)
{
	if (is_branch(insn))
		return true;
	return insn->guard == PTX_NO_REG &&
	       (insn->opcode == PTX_OP_ret || insn->opcode == PTX_OP_exit ||
		insn->opcode == PTX_OP_trap || insn->opcode == PTX_OP_brkpt);
}

static void find_leaders(const struct ptx_kernel *kernel, uint8_t *leader)
{
	uint32_t i, t;

	for (i = 0; i < kernel->nfunctions; i++)
		leader[kernel->functions[i].first] = 1;
	for (i = 0; i < kernel->ntables; i++) {
		for (t = 0; t < kernel->tables[i].count; t++)
			leader[kernel->tables[i].targets[t]] = 1;
	}
	for (i = 0; i < kernel->ninsns; i++) {
		if (kernel->insns[i].opcode == PTX_OP_bra)
			leader[kernel->insns[i].target] = 1;
		if (ends_block(&kernel->insns[i]) && i + 1 < kernel->ninsns)
			leader[i + 1] = 1;
	}
}

static void find_blocks(const struct ptx_kernel *kernel, struct cfg *cfg, const uint8_t *leader)
{
	uint32_t i, b = 0, f;

	for (i = 0; i < kernel->ninsns; i++) {
		if (leader[i])
			cfg->first[b++] = i;
		cfg->block_of[i] = b - 1;
	}
	cfg->first[b] = kernel->ninsns;
	for (f = 0; f < kernel->nfunctions; f++) {
		for (b = cfg->block_of[kernel->functions[f].first];
		     b < cfg->nblocks && cfg->first[b] < kernel->functions[f].end; b++)
			cfg->function_of[b] = f;
	}
}

/* Marks are by block, holding 1 + the block they were made for: no edge is there twice. */
static uint32_t add_edge(uint32_t from, uint32_t to, uint32_t *mark, uint32_t *succ)
{
	if (mark[to] == from + 1)
		return 0;
	mark[to] = from + 1;
	if (succ)
		*succ = to;
	return 1;
}

/* Fills succ, which may be NULL, and returns how many there are. */
static uint32_t successors(const struct ptx_kernel *kernel, const struct cfg *cfg, uint32_t b,
			   uint32_t *mark, uint32_t *succ)
{
	const struct ptx_insn *insn = &kernel->insns[cfg->first[b + 1] - 1];
	uint32_t n = 0, t;

	if (insn->opcode == PTX_OP_bra) {
		n = add_edge(b, cfg->block_of[insn->target], mark, succ);
	} else if (insn->opcode == PTX_OP_brx) {
		const struct ptx_table *table = &kernel->tables[insn->target];

		for (t = 0; t < table->count; t++)
			n += add_edge(b, cfg->block_of[table->targets[t]], mark,
				      succ ? succ + n : NULL);
	} else if (ends_block(insn)) {
		return 0;
	}
	if (is_branch(insn) && insn->guard == PTX_NO_REG)
		return n;
	if (b + 1 < cfg->nblocks && cfg->function_of[b + 1] == cfg->function_of[b])
		n += add_edge(b, b + 1, mark, succ ? succ + n : NULL);
	return n;
}

static int find_successors(const struct ptx_kernel *kernel, struct cfg *cfg, uint32_t *mark)
{
	uint64_t edges = 0;
	uint32_t b;

	for (b = 0; b < cfg->nblocks; b++) {
		edges += successors(kernel, cfg, b, mark, NULL);
		if (edges > MAX_EDGES)
			return -E2BIG;
		cfg->succ_start[b + 1] = edges;
	}
	cfg->succ = calloc(edges + 1, sizeof(*cfg->succ));
	cfg->pred = calloc(edges + 1, sizeof(*cfg->pred));
	if (!cfg->succ || !cfg->pred)
		return -ENOMEM;
	memset(mark, 0, cfg->nblocks * sizeof(*mark));
	for (b = 0; b < cfg->nblocks; b++)
		successors(kernel, cfg, b, mark, cfg->succ + cfg->succ_start[b]);
	return 0;
}

static void find_predecessors(struct cfg *cfg)
{
	uint32_t b, e;

	for (e = 0; e < cfg->succ_start[cfg->nblocks]; e++)
		cfg->pred_start[cfg->succ[e] + 1]++;
	for (b = 0; b < cfg->nblocks; b++)
		cfg->pred_start[b + 1] += cfg->pred_start[b];
	/* Filled backwards from each block's end; the ends become the starts. */
	for (b = cfg->nblocks; b-- > 0;) {
		for (e = cfg->succ_start[b]; e < cfg->succ_start[b + 1]; e++)
			cfg->pred[--cfg->pred_start[cfg->succ[e] + 1]] = b;
	}
	for (b = 0; b < cfg->nblocks; b++)
		cfg->pred_start[b] = cfg->pred_start[b + 1];
	cfg->pred_start[cfg->nblocks] = cfg->succ_start[cfg->nblocks];
}

static void find_reachable(const struct ptx_kernel *kernel, struct cfg *cfg, uint32_t *stack)
{
	uint32_t f, depth, b, e;

	for (f = 0; f < kernel->nfunctions; f++) {
		b = cfg->block_of[kernel->functions[f].first];
		cfg->reachable[b] = true;
		stack[0] = b;
		for (depth = 1; depth;) {
			b = stack[--depth];
			for (e = cfg->succ_start[b]; e < cfg->succ_start[b + 1]; e++) {
				if (cfg->reachable[cfg->succ[e]])
					continue;
				cfg->reachable[cfg->succ[e]] = true;
				stack[depth++] = cfg->succ[e];
			}
		}
	}
}

/*
 * Compilers write a loop's blocks one after the other, its head first: an edge
 * back to `to` makes a loop of what stands between. Good enough to weigh costs.
 */
static void find_depth(struct cfg *cfg, uint32_t *ends, uint32_t *closed)
{
	uint32_t b, e, depth = 0;

	/* A loop's end by its head: several ways back are one loop. */
	memset(ends, 0, cfg->nblocks * sizeof(*ends));
	memset(closed, 0, (cfg->nblocks + 1) * sizeof(*closed));
	for (b = 0; b < cfg->nblocks; b++) {
		for (e = cfg->succ_start[b]; e < cfg->succ_start[b + 1]; e++) {
			if (cfg->succ[e] <= b && cfg->reachable[b])
				ends[cfg->succ[e]] = b + 1;
		}
	}
	for (b = 0; b < cfg->nblocks; b++) {
		depth -= closed[b];
		if (ends[b]) {
			depth++;
			closed[ends[b]]++;
		}
		cfg->depth[b] = MIN(depth, 8u);
	}
}

static int build(const struct ptx_kernel *kernel, struct cfg *cfg, uint8_t *leader)
{
	uint32_t n = kernel->ninsns, i, *scratch;
	int ret;

	find_leaders(kernel, leader);
	for (i = 0; i < n; i++)
		cfg->nblocks += leader[i];
	cfg->first = calloc(cfg->nblocks + 1, sizeof(*cfg->first));
	cfg->block_of = calloc(n, sizeof(*cfg->block_of));
	cfg->function_of = calloc(cfg->nblocks, sizeof(*cfg->function_of));
	cfg->succ_start = calloc(cfg->nblocks + 1, sizeof(*cfg->succ_start));
	cfg->pred_start = calloc(cfg->nblocks + 1, sizeof(*cfg->pred_start));
	cfg->reachable = calloc(cfg->nblocks, sizeof(*cfg->reachable));
	cfg->depth = calloc(cfg->nblocks, sizeof(*cfg->depth));
	scratch = calloc(2 * ((size_t)cfg->nblocks + 1), sizeof(*scratch));
	ret = -ENOMEM;
	if (cfg->first && cfg->block_of && cfg->function_of && cfg->succ_start &&
	    cfg->pred_start && cfg->reachable && cfg->depth && scratch) {
		find_blocks(kernel, cfg, leader);
		ret = find_successors(kernel, cfg, scratch);
	}
	if (!ret) {
		find_predecessors(cfg);
		find_reachable(kernel, cfg, scratch);
		find_depth(cfg, scratch, scratch + cfg->nblocks);
	}
	free(scratch);
	return ret;
}

int cfg_build(const struct ptx_kernel *kernel, struct cfg *cfg)
{
	uint8_t *leader = calloc(kernel->ninsns, 1);
	int ret = -ENOMEM;

	memset(cfg, 0, sizeof(*cfg));
	if (leader)
		ret = build(kernel, cfg, leader);
	free(leader);
	if (ret)
		cfg_free(cfg);
	return ret;
}

void cfg_free(struct cfg *cfg)
{
	free(cfg->first);
	free(cfg->block_of);
	free(cfg->function_of);
	free(cfg->succ_start);
	free(cfg->succ);
	free(cfg->pred_start);
	free(cfg->pred);
	free(cfg->reachable);
	free(cfg->depth);
	memset(cfg, 0, sizeof(*cfg));
}
