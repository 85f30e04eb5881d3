// SPDX-License-Identifier: GPL-2.0
/*
 * Puts the victims of a round of spilling into the frame: a store after each
 * definition and a load before each use, but for uses that follow so closely that the
 * value can stay in its register. Values that an instruction can make again for
 * less are made again. Called by finish.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/back.h"

#define FAR	64	/* instructions that a reloaded value may wait for its next use */
#define PATIENCE 3	/* rounds after which none waits, so that the rounds come to an end */

/* A victim. */
struct victim {
	uint32_t reg;
	uint32_t slot;		/* NO_SLOT: made again */
	uint32_t definition;	/* made again: by this instruction, which is left out */
	bool stored;		/* what it is a copy of is in the slot already */
	/* The register that holds it, last named by instruction `point`. */
	uint32_t holder, point, block;
	bool after;		/* that wrote it, not read it */
	bool partial;		/* under a guard: other lanes have it in the slot only */
};

struct rewriter {
	struct spills *s;
	struct alloc *a;
	struct ptx_kernel *kernel;
	struct writer w;
	struct victim *victims;
	uint32_t *index;	/* by register that was there before: its victim, NONE */
	uint32_t nregs;		/* that were there before */
	uint32_t *returns;	/* by register made for a function's result: the victim it is */
	struct victim **written;	/* by ref of the instruction at hand */
	struct ref *refs;
};

#define NONE	UINT32_MAX


static int load(struct rewriter *r, const struct victim *v, uint32_t reg, uint32_t at)
{
	const struct ptx_insn *served = &r->kernel->insns[at];
	struct ptx_insn again;

	if (v->definition == NO_INSN)
		return writer_add_access(&r->w, PTX_OP_ld, reg, v->slot, served);
	again = r->kernel->insns[v->definition];
	again.dst[0].reg = reg;
	again.line = served->line;
	return writer_add(&r->w, &again, r->s->note[v->definition]);
}

/* Whether the value can stay in its register until instruction `at`; takes the room. */
static bool can_wait(struct rewriter *r, const struct victim *v, uint32_t at)
{
	uint32_t i, from = v->point + 1 + v->after;
	int32_t words = reg_words(r->kernel, v->reg);

	if (r->s->round > PATIENCE || v->partial || at - v->point > FAR)
		return false;
	for (i = v->point + v->after; i < at; i++) {
		if (insn_callee(r->kernel, &r->kernel->insns[i]))
			return false;
	}
	for (i = from; i < at; i++) {
		if (r->s->room[i] < words)
			return false;
	}
	for (i = from; i < at; i++)
		r->s->room[i] -= words;
	return true;
}

/* The register that instruction `at` reads the victim from. */
static int read_victim(struct rewriter *r, struct victim *v, uint32_t at, uint32_t *reg)
{
	uint32_t block = r->a->cfg->block_of[at];
	bool same, stores = v->stored && r->s->note[at] == v->slot &&
			    r->kernel->insns[at].opcode == PTX_OP_st;
	int ret;

	if (v->holder != NONE && v->block == block) {
		same = v->point == at && !v->after;
		/* The store of a definition that is there already follows it. */
		if (same || stores || can_wait(r, v, at)) {
			r->s->pinned[v->holder] &= same || stores;
			v->point = at;
			v->after = false;
			*reg = v->holder;
			return 0;
		}
	}
	ret = spills_new_reg(r->s, v->reg, &v->holder);
	if (ret)
		return ret;
	v->point = at;
	v->block = block;
	v->after = v->partial = false;
	*reg = v->holder;
	return load(r, v, v->holder, at);
}

/*
 * A guarded store would follow the guard when it may have changed: it is among the
 * destinations, or a call that may save no predicate for it comes between.
 */
static bool keeps_guard(const struct ptx_insn *insn)
{
	uint32_t i;

	for (i = 0; i < insn->ndst; i++) {
		if (insn->dst[i].reg == insn->guard)
			return false;
	}
	return insn->opcode != PTX_OP_call;
}

/* Gives the victim the register that instruction `at` writes, and what must come before it. */
static int write_victim(struct rewriter *r, struct victim *v, uint32_t at, uint32_t *reg)
{
	const struct ptx_insn *insn = &r->kernel->insns[at];
	int ret = spills_new_reg(r->s, v->reg, reg);

	if (ret)
		return ret;
	v->holder = *reg;
	v->point = at;
	v->block = r->a->cfg->block_of[at];
	v->after = true;
	v->partial = insn->guard != PTX_NO_REG;
	r->s->slot_of[*reg] = v->slot;
	if (!v->partial || v->stored || keeps_guard(insn))
		return 0;
	/* All lanes have it before and after, and all store it. */
	v->partial = false;
	r->kernel->regs[*reg].spill = false;
	return load(r, v, *reg, at);
}

static int store(struct rewriter *r, const struct victim *v, uint32_t reg, uint32_t at)
{
	struct ptx_insn served = r->kernel->insns[at];

	if (v->stored)
		return 0;
	if (!v->partial)
		served.guard = PTX_NO_REG;
	return writer_add_access(&r->w, PTX_OP_st, reg, v->slot, &served);
}

static struct victim *victim_of(const struct rewriter *r, uint32_t reg)
{
	return reg < r->nregs && r->index[reg] != NONE ? &r->victims[r->index[reg]] : NULL;
}

/* Results of functions have one register for all rets, loaded before each. */
static int load_results(struct rewriter *r, uint32_t at)
{
	const struct ptx_function *f =
		&r->kernel->functions[r->a->cfg->function_of[r->a->cfg->block_of[at]]];
	uint32_t i;
	int ret = 0;

	for (i = 0; i < f->nresults && !ret; i++) {
		if (f->results[i] != PTX_NO_REG && f->results[i] >= r->nregs)
			ret = load(r, &r->victims[r->returns[f->results[i] - r->nregs]],
				   f->results[i], at);
	}
	return ret;
}

static int rewrite_insn(struct rewriter *r, uint32_t at)
{
	uint32_t n = insn_refs(r->kernel, r->a->cfg, at, r->refs), i;
	struct ptx_insn *insn = &r->kernel->insns[at];
	struct victim *v;
	int ret = 0;

	for (i = 0; i < n && !ret; i++) {
		v = victim_of(r, *r->refs[i].reg);
		if (v && v->definition == at)
			return 0;
		if (v && !r->refs[i].write)
			ret = read_victim(r, v, at, r->refs[i].reg);
	}
	for (i = 0; i < n && !ret; i++) {
		r->written[i] = r->refs[i].write ? victim_of(r, *r->refs[i].reg) : NULL;
		if (r->written[i])
			ret = write_victim(r, r->written[i], at, r->refs[i].reg);
	}
	if (!ret && insn->opcode == PTX_OP_ret)
		ret = load_results(r, at);
	if (!ret)
		ret = writer_add(&r->w, insn, r->s->note[at]);
	for (i = 0; i < n && !ret; i++) {
		v = r->written[i];
		if (!v)
			continue;
		ret = store(r, v, *r->refs[i].reg, at);
		/* Loaded, written in part and stored: such a register ends here. */
		if (insn->guard != PTX_NO_REG && !v->partial)
			v->holder = NONE;
	}
	return ret;
}

/* Formals are stored where calls enter; branches to the first instruction come in behind that. */
static int enter_function(struct rewriter *r, struct ptx_function *f)
{
	struct ptx_insn served = { .guard = PTX_NO_REG, .line = r->kernel->insns[f->first].line };
	uint32_t i, reg;
	int ret = 0;

	f->first = r->w.n;
	for (i = 0; i < f->nformals && !ret; i++) {
		struct victim *v = f->formals[i] == PTX_NO_REG ? NULL : victim_of(r, f->formals[i]);

		if (!v)
			continue;
		ret = spills_new_reg(r->s, v->reg, &reg);
		if (ret)
			return ret;
		f->formals[i] = reg;
		r->s->slot_of[reg] = v->slot;
		ret = writer_add_access(&r->w, PTX_OP_st, reg, v->slot, &served);
	}
	return ret;
}

static int rewrite(struct rewriter *r)
{
	const struct cfg *cfg = r->a->cfg;
	struct ptx_kernel *kernel = r->kernel;
	uint32_t i, f, n = kernel->ninsns;
	int ret = 0;

	for (f = 0; f < kernel->nfunctions && !ret; f++) {
		uint32_t end = kernel->functions[f].end;

		i = kernel->functions[f].first;
		ret = enter_function(r, &kernel->functions[f]);
		for (; i < end && !ret; i++) {
			r->w.start[i] = r->w.n;
			if (cfg->reachable[cfg->block_of[i]])
				ret = rewrite_insn(r, i);
			else
				ret = writer_add(&r->w, &kernel->insns[i], r->s->note[i]);
		}
		kernel->functions[f].end = r->w.n;
	}
	r->w.start[n] = r->w.n;
	return ret;
}

/* --- who they are ------------------------------------------------------------------------ */

static int add_victim(struct rewriter *r, const struct liveness *l, uint32_t reg, uint32_t n)
{
	const struct ranges *ranges = r->a->ranges;
	uint32_t from = ranges->at[ranges->start[reg]].from;
	uint32_t to = ranges->at[ranges->start[reg + 1] - 1].to;
	struct victim *v = &r->victims[n];

	r->index[reg] = n;
	*v = (struct victim){ .reg = reg, .holder = NONE, .slot = r->s->slot_of[reg] };
	v->definition = repeatable_definition(r->s, l, reg);
	v->stored = v->slot != NO_SLOT;
	if (v->stored || v->definition != NO_INSN)
		return 0;
	return spills_new_slot(r->s, r->a->cfg->function_of[r->a->cfg->block_of[from]],
			       reg_words(r->kernel, reg) == 2 ? 8 : 4, from, to, &v->slot);
}

static int find_victims(struct rewriter *r)
{
	int ret = alloc_mentions(r->a);
	uint32_t i, n = 0;

	for (i = 0; i < r->nregs && !ret; i++) {
		r->index[i] = NONE;
		if (r->s->victim[i])
			ret = add_victim(r, &r->a->mentions, i, n++);
	}
	return ret;
}

static int replace_results(struct rewriter *r)
{
	struct ptx_kernel *kernel = r->kernel;
	uint32_t f, i, reg;
	int ret;

	for (f = 0; f < kernel->nfunctions; f++) {
		for (i = 0; i < kernel->functions[f].nresults; i++) {
			uint32_t *result = &kernel->functions[f].results[i];
			struct victim *v = *result == PTX_NO_REG ? NULL : victim_of(r, *result);

			if (!v)
				continue;
			ret = spills_new_reg(r->s, v->reg, &reg);
			if (ret)
				return ret;
			r->returns[reg - r->nregs] = r->index[v->reg];
			*result = reg;
		}
	}
	return 0;
}

int spill_rewrite(struct spills *s, struct alloc *a)
{
	struct rewriter r = { .s = s, .a = a, .kernel = s->kernel, .nregs = s->kernel->nregs };
	uint32_t results = 0, f, i, most = refs_max(s->kernel);
	int ret;

	for (f = 0; f < s->kernel->nfunctions; f++)
		results += s->kernel->functions[f].nresults;
	r.victims = calloc((size_t)s->nvictims + 1, sizeof(*r.victims));
	r.index = calloc((size_t)r.nregs + 1, sizeof(*r.index));
	r.returns = calloc((size_t)results + 1, sizeof(*r.returns));
	r.refs = calloc(most, sizeof(*r.refs));
	r.written = calloc(most, sizeof(*r.written));
	ret = writer_init(&r.w, s);
	if (!r.victims || !r.index || !r.returns || !r.refs || !r.written)
		ret = -ENOMEM;
	if (!ret)
		ret = find_victims(&r);
	if (!ret)
		ret = replace_results(&r);
	if (!ret)
		ret = rewrite(&r);
	if (!ret) {
		writer_commit(&r.w);
		for (i = 0; i < r.nregs; i++)
			s->victim[i] = false;
		s->nvictims = 0;
		s->round++;
	}
	writer_free(&r.w);
	free(r.victims);
	free(r.index);
	free(r.returns);
	free(r.refs);
	free(r.written);
	return ret;
}
