/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is live, the slow and obvious way: data-flow sets of registers at every
 * instruction, to the fixed point. The oracle of test_ptx_flow.c and
 * test_ptx_regalloc.c; shares nothing with the passes it checks.
 */
#ifndef TESTS_UNIT_PTX_SETS_H
#define TESTS_UNIT_PTX_SETS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "ptx/ptx.h"

enum { SET_WORDS = 32, MAX_SUCC = 40 };

struct set {
	uint64_t bits[SET_WORDS];
};

struct sets {
	const struct ptx_kernel *k;
	struct set *live, *holds;	/* before each instruction: read later; written before */
	bool *reachable;
};

static inline bool set_has(const struct set *s, uint32_t r)
{
	return s->bits[r / 64] >> r % 64 & 1;
}

static inline void set_put(struct set *s, uint32_t r, bool in)
{
	if (r == PTX_NO_REG)
		return;
	assert_true(r < 64 * SET_WORDS);
	if (in)
		s->bits[r / 64] |= 1ull << r % 64;
	else
		s->bits[r / 64] &= ~(1ull << r % 64);
}

/* a |= b; whether a changed. */
static inline bool set_join(struct set *a, const struct set *b)
{
	bool changed = false;
	uint32_t w;

	for (w = 0; w < SET_WORDS; w++) {
		changed |= b->bits[w] & ~a->bits[w];
		a->bits[w] |= b->bits[w];
	}
	return changed;
}

static inline const struct ptx_function *function_at(const struct ptx_kernel *k, uint32_t i)
{
	uint32_t f = 0;

	while (i < k->functions[f].first || i >= k->functions[f].end)
		f++;
	return &k->functions[f];
}

/* Instructions that can follow instruction i; *exits: leaves the function. */
static inline uint32_t successors(const struct ptx_kernel *k, uint32_t i, uint32_t *succ,
				  bool *exits)
{
	const struct ptx_insn *insn = &k->insns[i];
	bool guarded = insn->guard != PTX_NO_REG;
	uint32_t n = 0, t;

	*exits = false;
	switch (insn->opcode) {
	case PTX_OP_bra:
		succ[n++] = insn->target;
		break;
	case PTX_OP_brx:
		for (t = 0; t < k->tables[insn->target].count; t++)
			succ[n++] = k->tables[insn->target].targets[t];
		break;
	case PTX_OP_ret:
	case PTX_OP_exit:
		*exits = !guarded;
		break;
	case PTX_OP_trap:
	case PTX_OP_brkpt:
		break;
	default:
		guarded = true;
		break;
	}
	if (guarded && i + 1 < function_at(k, i)->end)
		succ[n++] = i + 1;
	return n;
}

static inline void put_reads(const struct ptx_kernel *k, uint32_t i, struct set *s)
{
	const struct ptx_insn *insn = &k->insns[i];
	const struct ptx_function *f = function_at(k, i);
	uint32_t j;

	set_put(s, insn->guard, true);
	for (j = 0; j < insn->nsrc; j++)
		set_put(s, insn->src[j].reg, true);
	if (insn->opcode == PTX_OP_call) {
		for (j = 0; j < k->calls[insn->target].nargs; j++)
			set_put(s, k->calls[insn->target].args[j].reg, true);
	}
	if (insn->opcode == PTX_OP_ret) {
		for (j = 0; j < f->nresults; j++)
			set_put(s, f->results[j], true);
	}
}

static inline void put_writes(const struct ptx_kernel *k, uint32_t i, struct set *s, bool in,
			      bool kills)
{
	const struct ptx_insn *insn = &k->insns[i];
	const struct ptx_call *call = insn->opcode == PTX_OP_call ? &k->calls[insn->target] : NULL;
	uint32_t j, n = call ? call->nresults : insn->ndst, r;

	for (j = 0; j < n; j++) {
		r = call ? call->results[j] : insn->dst[j].reg;
		if (r != PTX_NO_REG && (!kills || insn->guard == PTX_NO_REG || k->regs[r].spill))
			set_put(s, r, in);
	}
}

static inline void sets_solve(struct sets *s, const struct ptx_kernel *k)
{
	uint32_t succ[MAX_SUCC], i, j, n;
	bool changed, exits;
	struct set set;

	s->k = k;
	s->live = calloc(k->ninsns + 1, sizeof(*s->live));
	s->holds = calloc(k->ninsns + 1, sizeof(*s->holds));
	s->reachable = calloc(k->ninsns + 1, 1);
	for (i = 0; i < k->nfunctions; i++) {
		s->reachable[k->functions[i].first] = true;
		for (j = 0; j < k->functions[i].nformals; j++)
			set_put(&s->holds[k->functions[i].first], k->functions[i].formals[j], true);
	}
	do {
		changed = false;
		for (i = k->ninsns; i-- > 0;) {
			n = successors(k, i, succ, &exits);
			memset(&set, 0, sizeof(set));
			for (j = 0; j < n; j++)
				set_join(&set, &s->live[succ[j]]);
			put_writes(k, i, &set, false, true);
			put_reads(k, i, &set);
			changed |= set_join(&s->live[i], &set);
		}
		for (i = 0; i < k->ninsns; i++) {
			if (!s->reachable[i])
				continue;
			n = successors(k, i, succ, &exits);
			set = s->holds[i];
			put_writes(k, i, &set, true, false);
			for (j = 0; j < n; j++) {
				changed |= set_join(&s->holds[succ[j]], &set);
				changed |= !s->reachable[succ[j]];
				s->reachable[succ[j]] = true;
			}
		}
	} while (changed);
}

static inline void sets_free(struct sets *s)
{
	free(s->live);
	free(s->holds);
	free(s->reachable);
}

static inline bool sets_live(const struct sets *s, uint32_t i, uint32_t r)
{
	return s->reachable[i] && set_has(&s->live[i], r) && set_has(&s->holds[i], r);
}

static inline uint32_t words_of(const struct ptx_kernel *k, uint32_t r)
{
	return k->regs[r].type == PTX_PRED ? 0 : ptx_type_bytes(k->regs[r].type) > 4 ? 2 : 1;
}

/* 32-bit registers live before instruction i. */
static inline uint32_t sets_count(const struct sets *s, uint32_t i)
{
	uint32_t r, n = 0;

	for (r = 0; r < s->k->nregs; r++)
		n += sets_live(s, i, r) ? words_of(s->k, r) : 0;
	return n;
}

#endif
