// SPDX-License-Identifier: GPL-2.0
/*
 * Where the lanes of a warp are together: instructions of the entry that all its lanes execute at a
 * time, but for those that have exited. Called by phases.c, because a phase begins only there
 * (Zorua, MICRO 2016, section 4.6).
 *
 * A register varies when two lanes may hold different values. A branch on one that varies divides
 * the lanes until they meet again, at its immediate post-dominator. A register that is written
 * between varies too, since only some lanes write it. Lanes that branch to nothing but an exit
 * leave for good, so the others stay together.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/back.h"

/* No compiler's kernel needs as many; one that does is taken for divided. */
#define MAX_STEPS	(1ull << 24)

struct finder {
	struct ptx_kernel *kernel;
	const struct cfg *cfg;
	struct ref *refs;
	bool *varies;		/* by register */
	bool *divided;		/* by block */
	uint32_t *seen;		/* by block: equal to tag when the branch at hand leads there */
	uint32_t tag;
	uint32_t *stack;
	uint64_t steps;
	uint32_t end;		/* blocks of the entry are below */
	uint32_t *reader_start;	/* by register: where its readers begin in readers */
	uint32_t *readers;	/* blocks */
	uint32_t *todo;		/* blocks to look at again; none is there twice */
	uint32_t ntodo;
	bool *waits;		/* by block: it is in todo */
	bool *split;		/* by block: what its branch divides is divided */
};

static void look_again(struct finder *f, uint32_t b)
{
	if (b >= f->end || f->waits[b] || !f->cfg->reachable[b])
		return;
	f->waits[b] = true;
	f->todo[f->ntodo++] = b;
}

static void vary(struct finder *f, uint32_t reg)
{
	f->varies[reg] = true;
	for (uint32_t i = f->reader_start[reg]; i < f->reader_start[reg + 1]; i++)
		look_again(f, f->readers[i]);
}

static bool sreg_varies(uint64_t sreg)
{
	switch (sreg) {
	case PTX_SREG_TID_X:
	case PTX_SREG_TID_Y:
	case PTX_SREG_TID_Z:
	case PTX_SREG_LANEID:
	case PTX_SREG_LANEMASK_EQ:
	case PTX_SREG_LANEMASK_LT:
	case PTX_SREG_LANEMASK_LE:
	case PTX_SREG_LANEMASK_GT:
	case PTX_SREG_LANEMASK_GE:
		return true;
	default:
		return false;
	}
}

/* True: lanes may get different results, whatever it reads. *same: all get the same. */
static bool result_varies(const struct ptx_insn *insn, bool *same)
{
	switch (insn->opcode) {
	case PTX_OP_vote:
	case PTX_OP_activemask:
		*same = true;
		return false;
	case PTX_OP_shfl:
	case PTX_OP_match:
	case PTX_OP_call:
		return true;
	default:
		return insn->cls == PTX_CLASS_MEMORY && insn->space != PTX_SPACE_PARAM &&
		       insn->space != PTX_SPACE_CONST;
	}
}

static bool is_exit(const struct ptx_insn *insn)
{
	return insn->guard == PTX_NO_REG &&
	       (insn->opcode == PTX_OP_ret || insn->opcode == PTX_OP_exit);
}

static bool only_exits(const struct finder *f, uint32_t block)
{
	return is_exit(&f->kernel->insns[f->cfg->first[block]]);
}

static void look_at(struct finder *f, uint32_t i, bool divided)
{
	const struct ptx_insn *insn = &f->kernel->insns[i];
	uint32_t n = insn_refs(f->kernel, f->cfg, i, f->refs), j;
	bool same = false, varies = result_varies(insn, &same);

	for (j = 0; j < insn->nsrc && !same; j++)
		varies |= insn->src[j].kind == PTX_OPND_SREG && sreg_varies(insn->src[j].value);
	for (j = 0; j < n && !same; j++)
		varies |= !f->refs[j].write && f->varies[*f->refs[j].reg];
	/* Lanes that do not write keep what they had. */
	varies |= divided || (insn->guard != PTX_NO_REG && f->varies[insn->guard]);
	for (j = 0; j < n && varies; j++) {
		if (f->refs[j].write && !f->varies[*f->refs[j].reg])
			vary(f, *f->refs[j].reg);
	}
}

/* Does the block's last instruction send its lanes to different places? */
static bool divides(const struct finder *f, uint32_t b)
{
	const struct ptx_insn *insn = &f->kernel->insns[f->cfg->first[b + 1] - 1];
	uint32_t from = f->cfg->succ_start[b], to = f->cfg->succ_start[b + 1], i, going = 0;

	if (insn->opcode == PTX_OP_bra) {
		if (insn->guard == PTX_NO_REG || !f->varies[insn->guard])
			return false;
	} else if (insn->opcode == PTX_OP_brx) {
		if (insn->src[0].reg == PTX_NO_REG || !f->varies[insn->src[0].reg])
			return false;
	} else {
		return false;
	}
	for (i = from; i < to; i++)
		going += !only_exits(f, f->cfg->succ[i]);
	return going > 1;
}

/* Everything from the branch's targets to where its lanes meet. */
static void divide(struct finder *f, uint32_t b)
{
	const struct ptx_insn *insn = &f->kernel->insns[f->cfg->first[b + 1] - 1];
	uint32_t depth = 0, e;

	f->tag++;
	f->stack[depth++] = b;
	while (depth) {
		uint32_t at = f->stack[--depth];

		for (e = f->cfg->succ_start[at]; e < f->cfg->succ_start[at + 1]; e++) {
			uint32_t next = f->cfg->succ[e];

			f->steps++;
			if (f->cfg->first[next] == insn->reconv || f->seen[next] == f->tag)
				continue;
			f->seen[next] = f->tag;
			if (!f->divided[next]) {
				f->divided[next] = true;
				look_again(f, next);
			}
			f->stack[depth++] = next;
		}
	}
}

/* The registers that a block reads, once a reference: counts them, or with fill writes them down. */
static void note_readers(struct finder *f, uint32_t b, bool fill)
{
	for (uint32_t i = f->cfg->first[b]; i < f->cfg->first[b + 1]; i++) {
		uint32_t n = insn_refs(f->kernel, f->cfg, i, f->refs), j;

		for (j = 0; j < n; j++) {
			if (f->refs[j].write)
				continue;
			if (fill)
				f->readers[--f->reader_start[*f->refs[j].reg]] = b;
			else
				f->reader_start[*f->refs[j].reg]++;
		}
	}
}

/* -ENOMEM */
static int find_readers(struct finder *f)
{
	uint32_t b, reg, sum = 0;

	for (b = 0; b < f->end; b++)
		note_readers(f, b, false);
	/* Each is where its own end, and filling goes down to its beginning. */
	for (reg = 0; reg <= f->kernel->nregs + 1; reg++)
		sum = f->reader_start[reg] += sum;
	f->readers = malloc(((size_t)sum + 1) * sizeof(*f->readers));
	if (!f->readers)
		return -ENOMEM;
	for (b = 0; b < f->end; b++)
		note_readers(f, b, true);
	return 0;
}

/*
 * A block is looked at once, and again only when something that it reads has begun to vary or
 * it has become divided: so the time is that of the references, not of blocks times passes.
 */
static void solve(struct finder *f)
{
	uint32_t b, i;

	for (b = f->end; b--;)
		look_again(f, b);
	while (f->ntodo && f->steps <= MAX_STEPS) {
		b = f->todo[--f->ntodo];
		f->waits[b] = false;
		for (i = f->cfg->first[b]; i < f->cfg->first[b + 1]; i++)
			look_at(f, i, f->divided[b]);
		if (!f->split[b] && divides(f, b)) {
			f->split[b] = true;
			divide(f, b);
		}
	}
}

int uniform_solve(struct ptx_kernel *kernel, const struct cfg *cfg, bool *together)
{
	const struct ptx_function *entry = &kernel->functions[0];
	struct finder f = { .kernel = kernel, .cfg = cfg };
	int ret = -ENOMEM;
	uint32_t i;

	while (f.end < cfg->nblocks && cfg->first[f.end] < entry->end)
		f.end++;
	f.refs = calloc(refs_max(kernel), sizeof(*f.refs));
	f.varies = calloc((size_t)kernel->nregs + 1, sizeof(*f.varies));
	f.divided = calloc((size_t)cfg->nblocks + 1, sizeof(*f.divided));
	f.seen = calloc((size_t)cfg->nblocks + 1, sizeof(*f.seen));
	f.stack = calloc((size_t)cfg->nblocks + 1, sizeof(*f.stack));
	f.reader_start = calloc((size_t)kernel->nregs + 2, sizeof(*f.reader_start));
	f.todo = calloc((size_t)cfg->nblocks + 1, sizeof(*f.todo));
	f.waits = calloc((size_t)cfg->nblocks + 1, sizeof(*f.waits));
	f.split = calloc((size_t)cfg->nblocks + 1, sizeof(*f.split));
	if (f.refs && f.varies && f.divided && f.seen && f.stack && f.reader_start && f.todo &&
	    f.waits && f.split && !find_readers(&f)) {
		solve(&f);
		for (i = 0; i < kernel->ninsns; i++)
			together[i] = f.steps <= MAX_STEPS && i >= entry->first && i < entry->end &&
				      cfg->reachable[cfg->block_of[i]] &&
				      !f.divided[cfg->block_of[i]];
		ret = 0;
	}
	free(f.refs);
	free(f.varies);
	free(f.divided);
	free(f.seen);
	free(f.stack);
	free(f.reader_start);
	free(f.readers);
	free(f.todo);
	free(f.waits);
	free(f.split);
	return ret;
}
