// SPDX-License-Identifier: GPL-2.0
/*
 * The ends of blocks for values.c, which calls this: where a branch goes by a comparison of
 * integers, its two ways have what the comparison says.
 */
#include "ptx/flow.h"

/* The source is an integer, and a register of it is as wide as the type. */
static bool is_wide(const struct flow *f, const struct ptx_insn *insn, uint32_t i)
{
	unsigned int bits = integer_bits(insn->type);

	return bits && (insn->src[i].kind != PTX_OPND_REG ||
			flow_bits(f, insn->src[i].reg) == bits);
}

/* The comparison that decides the branch at the end of block b, if what it read is as it was. */
static const struct ptx_insn *comparison(const struct flow *f, uint32_t b)
{
	uint32_t i = f->cfg->first[b + 1] - 1, j, n;
	const struct ptx_insn *branch = &f->kernel->insns[i], *found = NULL;
	bool writes;

	while (!found && i-- > f->cfg->first[b]) {
		const struct ptx_insn *insn = &f->kernel->insns[i];

		for (writes = false, j = 0; j < insn->ndst; j++)
			writes |= insn->dst[j].reg == branch->guard;
		if (writes)
			found = insn;
	}
	if (!found || found->opcode != PTX_OP_setp || found->dst[0].reg != branch->guard ||
	    found->boolop || found->guard != PTX_NO_REG || found->nsrc != 2 ||
	    !is_wide(f, found, 0) || !is_wide(f, found, 1))
		return NULL;
	for (i++; i < f->cfg->first[b + 1]; i++) {
		n = insn_refs(f->kernel, f->cfg, i, f->refs);
		for (j = 0; j < n; j++) {
			if (f->refs[j].write && (*f->refs[j].reg == found->src[0].reg ||
						 *f->refs[j].reg == found->src[1].reg))
				return NULL;
		}
	}
	return found;
}

static uint8_t opposite(uint8_t cmp)
{
	switch (cmp) {
	case PTX_CMP_EQ:
		return PTX_CMP_NE;
	case PTX_CMP_NE:
		return PTX_CMP_EQ;
	case PTX_CMP_LT:
		return PTX_CMP_GE;
	case PTX_CMP_LE:
		return PTX_CMP_GT;
	case PTX_CMP_GT:
		return PTX_CMP_LE;
	case PTX_CMP_GE:
		return PTX_CMP_LT;
	default:
		return PTX_CMP_NONE;
	}
}

/* a < b, or a <= b with strict 0. */
static void order(struct interval *a, struct interval *b, int64_t strict)
{
	int64_t least;

	if (b->hi < INTERVAL_MORE && b->hi > INT64_MIN)
		a->hi = MIN(a->hi, b->hi - strict);
	if (a->lo > INT64_MIN && !__builtin_add_overflow(a->lo, strict, &least))
		b->lo = MAX(b->lo, least);
}

static void differ(struct interval *a, struct interval b)
{
	if (b.lo != b.hi)
		return;
	a->lo += a->lo == b.lo;
	a->hi -= a->hi == b.lo && a->hi < INTERVAL_MORE;
}

static void narrow(struct interval *a, struct interval *b, uint8_t cmp)
{
	switch (cmp) {
	case PTX_CMP_EQ:
		a->lo = b->lo = MAX(a->lo, b->lo);
		a->hi = b->hi = MIN(a->hi, b->hi);
		break;
	case PTX_CMP_NE:
		differ(a, *b);
		differ(b, *a);
		break;
	case PTX_CMP_LT: case PTX_CMP_LE:
		order(a, b, cmp == PTX_CMP_LT);
		break;
	case PTX_CMP_GT: case PTX_CMP_GE:
		order(b, a, cmp == PTX_CMP_GT);
		break;
	default:
		break;
	}
}

static void keep(struct flow *f, const struct ptx_operand *op, struct interval v, bool sign)
{
	/* Integers above 2^63 have no place in an interval. */
	if (op->kind == PTX_OPND_REG && flow_taken(f, op->reg) &&
	    (sign || v.hi < INTERVAL_MORE))
		f->now[f->index[op->reg] - 1] = v;
}

/* Goes to `to`, where the comparison was true, or with `not` false. */
static void branch_to(struct flow *f, uint32_t to, const struct ptx_insn *c, bool not)
{
	struct interval a, b, old[2];
	const struct ptx_operand *src = c->src;
	bool sign = integer_signed(c->type);

	old[0] = flow_value(f, &src[0], c->type);
	old[1] = flow_value(f, &src[1], c->type);
	a = interval_read(old[0], c->type);
	b = interval_read(old[1], c->type);
	narrow(&a, &b, not ? opposite(c->cmp) : c->cmp);
	/* Nobody goes there. */
	if (a.lo > a.hi || b.lo > b.hi)
		return;
	keep(f, &src[0], a, sign);
	keep(f, &src[1], b, sign);
	flow_to(f, to, f->now);
	for (unsigned int i = 0; i < 2; i++) {
		if (src[i].kind == PTX_OPND_REG && flow_taken(f, src[i].reg))
			f->now[f->index[src[i].reg] - 1] = old[i];
	}
}

void flow_leave(struct flow *f, uint32_t b)
{
	const struct ptx_insn *last = &f->kernel->insns[f->cfg->first[b + 1] - 1], *c = NULL;
	uint32_t from = f->cfg->succ_start[b], to = f->cfg->succ_start[b + 1], e;

	if (last->opcode == PTX_OP_bra && last->guard != PTX_NO_REG && to - from == 2)
		c = comparison(f, b);
	for (e = from; e < to; e++) {
		uint32_t next = f->cfg->succ[e];
		bool taken = f->cfg->first[next] == last->target;

		if (c)
			branch_to(f, next, c, taken == last->guard_negate);
		else
			flow_to(f, next, f->now);
	}
}
