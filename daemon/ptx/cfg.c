// SPDX-License-Identifier: GPL-2.0
/*
 * Control-flow graph of a kernel: where basic blocks begin and which follow
 * which. Called once a kernel, after its text was parsed.
 *
 * A guarded ret or exit ends some lanes and the rest go on, so it is no end of
 * a block: lanes that are gone need no place to meet the others again. trap
 * has no successor and does not lead to the exit either: what comes after it
 * must not move the point where the lanes that do not trap reconverge.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/private.h"

static bool ends_block(const struct ptx_insn *insn)
{
	if (insn->opcode == PTX_OP_bra)
		return true;
	return insn->guard == PTX_NO_REG &&
	       (insn->opcode == PTX_OP_ret || insn->opcode == PTX_OP_exit ||
		insn->opcode == PTX_OP_trap);
}

static void find_leaders(const struct ptx_kernel *kernel, uint8_t *leader)
{
	uint32_t i;

	leader[0] = 1;
	for (i = 0; i < kernel->ninsns; i++) {
		if (kernel->insns[i].opcode == PTX_OP_bra)
			leader[kernel->insns[i].target] = 1;
		if (ends_block(&kernel->insns[i]) && i + 1 < kernel->ninsns)
			leader[i + 1] = 1;
	}
}

static void find_successors(const struct ptx_kernel *kernel, struct cfg *cfg)
{
	uint32_t b;

	for (b = 0; b < cfg->nblocks; b++) {
		uint32_t last = cfg->first[b + 1] - 1;
		const struct ptx_insn *insn = &kernel->insns[last];

		cfg->succ[b][0] = cfg->succ[b][1] = PTX_NO_BLOCK;
		if (insn->opcode == PTX_OP_bra) {
			cfg->succ[b][0] = cfg->block_of[insn->target];
			if (insn->guard == PTX_NO_REG)
				continue;
		} else if (ends_block(insn)) {
			continue;
		}
		if (b + 1 < cfg->nblocks && cfg->succ[b][0] != b + 1)
			cfg->succ[b][1] = b + 1;
	}
}

static void find_predecessors(struct cfg *cfg)
{
	uint32_t b, e, s;

	for (b = 0; b < cfg->nblocks; b++) {
		for (e = 0; e < 2; e++) {
			if (cfg->succ[b][e] != PTX_NO_BLOCK)
				cfg->pred_start[cfg->succ[b][e] + 1]++;
		}
	}
	for (b = 0; b < cfg->nblocks; b++)
		cfg->pred_start[b + 1] += cfg->pred_start[b];
	/* Filled backwards from each block's end; the ends become the starts. */
	for (b = cfg->nblocks; b-- > 0;) {
		for (e = 0; e < 2; e++) {
			s = cfg->succ[b][e];
			if (s != PTX_NO_BLOCK)
				cfg->pred[--cfg->pred_start[s + 1]] = b;
		}
	}
	for (b = 0; b < cfg->nblocks; b++)
		cfg->pred_start[b] = cfg->pred_start[b + 1];
	for (e = 0, b = 0; b < cfg->nblocks; b++)
		e += (cfg->succ[b][0] != PTX_NO_BLOCK) + (cfg->succ[b][1] != PTX_NO_BLOCK);
	cfg->pred_start[cfg->nblocks] = e;
}

int cfg_build(const struct ptx_kernel *kernel, struct cfg *cfg)
{
	uint32_t n = kernel->ninsns, i, b = 0;
	uint8_t *leader = calloc(n, 1);

	memset(cfg, 0, sizeof(*cfg));
	if (!leader)
		return -ENOMEM;
	find_leaders(kernel, leader);
	for (i = 0; i < n; i++)
		cfg->nblocks += leader[i];
	cfg->first = calloc(cfg->nblocks + 1, sizeof(*cfg->first));
	cfg->block_of = calloc(n, sizeof(*cfg->block_of));
	cfg->succ = calloc(cfg->nblocks, sizeof(*cfg->succ));
	cfg->pred_start = calloc(cfg->nblocks + 1, sizeof(*cfg->pred_start));
	cfg->pred = calloc(2 * (size_t)cfg->nblocks, sizeof(*cfg->pred));
	if (!cfg->first || !cfg->block_of || !cfg->succ || !cfg->pred_start || !cfg->pred) {
		free(leader);
		cfg_free(cfg);
		return -ENOMEM;
	}
	for (i = 0; i < n; i++) {
		if (leader[i])
			cfg->first[b++] = i;
		cfg->block_of[i] = b - 1;
	}
	cfg->first[b] = n;
	free(leader);
	find_successors(kernel, cfg);
	find_predecessors(cfg);
	return 0;
}

void cfg_free(struct cfg *cfg)
{
	free(cfg->first);
	free(cfg->block_of);
	free(cfg->succ);
	free(cfg->pred_start);
	free(cfg->pred);
	memset(cfg, 0, sizeof(*cfg));
}
