// SPDX-License-Identifier: GPL-2.0
/*
 * A function that calls itself, at once or through others, writes its own
 * registers again: what is live across such a call is stored in the frame before it
 * and loaded after it. Called by finish.c before registers are renamed, so that what
 * was loaded becomes a value of its own.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/back.h"

#define MAX_SAVES	(1u << 20)	/* a kernel */

/* The recursive calls in the order of the text, and what each of them has to save. */
struct saver {
	struct spills *s;
	struct ptx_kernel *kernel;
	const struct cfg *cfg;
	struct writer w;
	uint32_t *call, ncalls;	/* instructions */
	uint32_t *start, *reg;	/* call i saves reg[start[i] .. start[i + 1]) */
	uint32_t *slot;		/* by saved register of the call at hand */
};

static int find_calls(struct saver *v, const struct callgraph *graph)
{
	uint32_t i, b;

	v->call = calloc((size_t)v->kernel->ncalls + 1, sizeof(*v->call));
	v->start = calloc((size_t)v->kernel->ncalls + 3, sizeof(*v->start));
	if (!v->call || !v->start)
		return -ENOMEM;
	for (i = 0; i < v->kernel->ninsns && v->ncalls < v->kernel->ncalls; i++) {
		b = v->cfg->block_of[i];
		if (v->cfg->reachable[b] &&
		    call_recurs(graph, v->kernel, v->cfg->function_of[b], &v->kernel->insns[i]))
			v->call[v->ncalls++] = i;
	}
	return 0;
}

/* The first call at `insn` or after. */
static uint32_t call_from(const struct saver *v, uint32_t insn)
{
	uint32_t lo = 0, hi = v->ncalls;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (v->call[mid] < insn)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* Counts what each call saves two places up in `count`, or lists it. */
static int each_save(struct saver *v, const struct ranges *ranges, uint32_t *count)
{
	uint32_t r, s, c;
	uint64_t n = 0;

	for (r = 0; r < v->kernel->nregs; r++) {
		for (s = ranges->start[r]; s < ranges->start[r + 1]; s++) {
			for (c = call_from(v, ranges->at[s].from);
			     c < v->ncalls && v->call[c] + 1 < ranges->at[s].to; c++) {
				if (call_returns(v->kernel, &v->kernel->insns[v->call[c]], r))
					continue;
				if (++n > MAX_SAVES)
					return -E2BIG;
				if (v->reg)
					v->reg[count[c]++] = r;
				else
					count[c + 1]++;
			}
		}
	}
	return 0;
}

static int find_saves(struct saver *v, const struct ranges *ranges)
{
	uint32_t *fill = v->start + 1, i;
	int ret = each_save(v, ranges, fill);

	if (ret)
		return ret;
	for (i = 0; i < v->ncalls; i++)
		fill[i + 1] += fill[i];
	v->reg = calloc((size_t)fill[v->ncalls] + 1, sizeof(*v->reg));
	v->slot = calloc((size_t)fill[v->ncalls] + 1, sizeof(*v->slot));
	if (!v->reg || !v->slot)
		return -ENOMEM;
	return each_save(v, ranges, fill);
}

/* Predicates go through a register: selp tmp, 1, 0, p and setp.ne p, tmp, 0. */
static int save_pred(struct saver *v, uint32_t reg, uint32_t slot, const struct ptx_insn *served)
{
	struct ptx_insn selp = {
		.opcode = PTX_OP_selp, .cls = PTX_CLASS_MOVE, .type = PTX_B32, .vec = 1,
		.ndst = 1, .nsrc = 3, .guard = PTX_NO_REG, .line = served->line,
		.src[0] = { .kind = PTX_OPND_IMM, .reg = PTX_NO_REG, .value = 1 },
		.src[1] = { .kind = PTX_OPND_IMM, .reg = PTX_NO_REG },
		.src[2] = { .kind = PTX_OPND_REG, .reg = reg },
		.dst[0] = { .kind = PTX_OPND_REG },
	};
	int ret = spills_new_reg(v->s, reg, &selp.dst[0].reg);

	if (ret)
		return ret;
	v->kernel->regs[selp.dst[0].reg].type = PTX_B32;
	ret = writer_add(&v->w, &selp, NO_SLOT);
	return ret ? ret : writer_add_access(&v->w, PTX_OP_st, selp.dst[0].reg, slot, served);
}

static int restore_pred(struct saver *v, uint32_t reg, uint32_t slot,
			const struct ptx_insn *served)
{
	struct ptx_insn setp = {
		.opcode = PTX_OP_setp, .cls = PTX_CLASS_MOVE, .type = PTX_B32, .vec = 1,
		.cmp = PTX_CMP_NE, .ndst = 1, .nsrc = 2, .guard = PTX_NO_REG, .line = served->line,
		.src[0] = { .kind = PTX_OPND_REG },
		.src[1] = { .kind = PTX_OPND_IMM, .reg = PTX_NO_REG },
		.dst[0] = { .kind = PTX_OPND_REG, .reg = reg },
	};
	int ret = spills_new_reg(v->s, reg, &setp.src[0].reg);

	if (ret)
		return ret;
	v->kernel->regs[setp.src[0].reg].type = PTX_B32;
	ret = writer_add_access(&v->w, PTX_OP_ld, setp.src[0].reg, slot, served);
	return ret ? ret : writer_add(&v->w, &setp, NO_SLOT);
}

static int save_call(struct saver *v, uint32_t c)
{
	uint32_t at = v->call[c], i, f = v->cfg->function_of[v->cfg->block_of[at]];
	struct ptx_insn served = v->kernel->insns[at];
	int ret = 0;

	served.guard = PTX_NO_REG;
	for (i = v->start[c]; i < v->start[c + 1] && !ret; i++) {
		uint32_t words = reg_words(v->kernel, v->reg[i]);

		ret = spills_new_slot(v->s, f, words == 2 ? 8 : 4, at, at + 1, &v->slot[i]);
		if (!ret && words)
			ret = writer_add_access(&v->w, PTX_OP_st, v->reg[i], v->slot[i], &served);
		else if (!ret)
			ret = save_pred(v, v->reg[i], v->slot[i], &served);
	}
	if (!ret)
		ret = writer_add(&v->w, &v->kernel->insns[at], NO_SLOT);
	for (i = v->start[c]; i < v->start[c + 1] && !ret; i++) {
		if (reg_words(v->kernel, v->reg[i]))
			ret = writer_add_access(&v->w, PTX_OP_ld, v->reg[i], v->slot[i], &served);
		else
			ret = restore_pred(v, v->reg[i], v->slot[i], &served);
	}
	return ret;
}

static int write_saves(struct saver *v)
{
	struct ptx_kernel *kernel = v->kernel;
	uint32_t f, i, c = 0;
	int ret = 0;

	for (f = 0; f < kernel->nfunctions && !ret; f++) {
		uint32_t end = kernel->functions[f].end;

		i = kernel->functions[f].first;
		kernel->functions[f].first = v->w.n;
		for (; i < end && !ret; i++) {
			v->w.start[i] = v->w.n;
			if (c < v->ncalls && v->call[c] == i)
				ret = save_call(v, c++);
			else
				ret = writer_add(&v->w, &kernel->insns[i], NO_SLOT);
		}
		kernel->functions[f].end = v->w.n;
	}
	v->w.start[kernel->ninsns] = v->w.n;
	return ret;
}

int save_around_calls(struct spills *s, const struct cfg *cfg, const struct callgraph *graph,
		      const struct ranges *ranges)
{
	struct saver v = { .s = s, .kernel = s->kernel, .cfg = cfg };
	int ret = find_calls(&v, graph);

	if (!ret && v.ncalls) {
		ret = find_saves(&v, ranges);
		if (!ret)
			ret = writer_init(&v.w, s);
		if (!ret)
			ret = write_saves(&v);
		if (!ret)
			writer_commit(&v.w);
		writer_free(&v.w);
	}
	free(v.call);
	free(v.start);
	free(v.reg);
	free(v.slot);
	return ret;
}
