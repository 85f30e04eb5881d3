// SPDX-License-Identifier: GPL-2.0
/*
 * The intervals at the beginnings of blocks: how they grow when one more way brings others.
 * Called by values.c and what it calls.
 */
#include "ptx/flow.h"

/* Visits of a block before its intervals grow in steps; before they grow to the end. */
#define PATIENCE	3
#define MOST_PATIENCE	24

uint32_t *flow_slot(const struct flow *f, uint32_t insn)
{
	uint32_t slot = f->spills->note[insn];

	return slot == NO_SLOT ? NULL : &f->index[f->kernel->nregs + slot];
}

bool flow_taken(const struct flow *f, uint32_t reg)
{
	return reg != PTX_NO_REG && f->index[reg];
}

/* The next number that a comparison names, upwards or downwards. */
static int64_t next_mark(const struct flow *f, int64_t v, bool up)
{
	uint32_t i;

	if (up) {
		for (i = 0; i < f->nmarks && f->marks[i] < v; i++)
			;
		return i < f->nmarks ? f->marks[i] : INT64_MAX;
	}
	for (i = f->nmarks; i && f->marks[i - 1] > v; i--)
		;
	return i ? f->marks[i - 1] : INT64_MIN;
}

static struct interval grow(const struct flow *f, uint32_t block, struct interval old,
			    struct interval v)
{
	struct interval joined = interval_join(old, v);

	if (!f->head[block] || f->visits[block] < PATIENCE || interval_same(joined, old))
		return joined;
	if (f->visits[block] >= MOST_PATIENCE)
		return INTERVAL_ANY;
	if (joined.lo < old.lo)
		joined.lo = next_mark(f, joined.lo, false);
	if (joined.hi > old.hi)
		joined.hi = next_mark(f, joined.hi, true);
	return joined;
}

void flow_to(struct flow *f, uint32_t to, const struct interval *values)
{
	struct interval *in = &f->in[(size_t)to * f->n];
	bool changed = !f->reached[to];

	for (uint32_t i = 0; i < f->n; i++) {
		struct interval v = f->reached[to] ? grow(f, to, in[i], values[i]) : values[i];

		changed |= !interval_same(v, in[i]);
		in[i] = v;
	}
	f->steps += f->n;
	if (!changed)
		return;
	f->reached[to] = f->waits[to] = true;
	f->visits[to] += f->visits[to] < UINT8_MAX;
}
