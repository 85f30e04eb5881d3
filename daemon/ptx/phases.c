// SPDX-License-Identifier: GPL-2.0
/*
 * Zorua's phases (Vijaykumar et al., MICRO 2016, section 4.6): where what is live changes by a
 * quarter, ten instructions after the last such place at least, and where the lanes of a warp are
 * together. Called by finish.c when somebody asks for phases.
 *
 * The text is gone through in order. A phase begins where the number of live registers differs by a
 * quarter or more from what it was where the last phase began, or where the live
 * scratchpad does. A barrier or a fence is a boundary that needs no specifier, and starts no count:
 * figure 6 has specifiers right behind barriers.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "ptx/back.h"

#define APART		10	/* instructions between two points */
#define CHANGE		4	/* a change of 1 / CHANGE */

void phases_free(struct phases *p)
{
	free(p->at);
	scratchpad_free(&p->scratchpad);
	free(p->live);
	free(p->quiet);
	memset(p, 0, sizeof(*p));
}

/* Has it shared memory at all? What a launch adds is known by its symbols alone. */
static bool has_shared(const struct ptx_kernel *kernel)
{
	uint32_t i, j;

	for (i = 0; i < kernel->ninsns; i++) {
		if (kernel->insns[i].space == PTX_SPACE_SHARED)
			return true;
		for (j = 0; j < kernel->insns[i].nsrc; j++) {
			if (kernel->insns[i].src[j].space == PTX_SPACE_SHARED)
				return true;
		}
	}
	return kernel->shared_bytes != 0;
}

/* --- points --------------------------------------------------------------------- */

static bool differs(uint32_t a, uint32_t b)
{
	uint32_t by = a > b ? a - b : b - a;

	return by && by * CHANGE >= b;
}

static int add_point(struct phases *p, uint32_t insn)
{
	if (array_grow(p->at, p->cap, p->n))
		return -ENOMEM;
	p->at[p->n++] = insn;
	return 0;
}

/* Other bytes of scratchpad are live: more or fewer by a quarter, or those that a launch adds. */
static bool scratchpad_differs(const struct phases *p, const struct ptx_kernel *kernel, uint32_t a,
			       uint32_t b)
{
	const struct scratchpad *s = &p->scratchpad;

	if (s->live[a] == s->live[b])
		return false;
	return (scratchpad_end(s, s->live[a]) == PTX_EXTENT_END) !=
	       (scratchpad_end(s, s->live[b]) == PTX_EXTENT_END) ||
	       differs(scratchpad_bytes(s, s->live[a], kernel->shared_bytes),
		       scratchpad_bytes(s, s->live[b], kernel->shared_bytes));
}

static int walk(struct phases *p, const struct ptx_kernel *kernel, const bool *together)
{
	uint32_t last = 0, i;
	int ret = add_point(p, 0);

	for (i = APART; i < kernel->functions[0].end && !ret; i++) {
		if (i - last < APART || !together[i] || kernel->insns[i].cls == PTX_CLASS_EXIT)
			continue;
		if (!differs(p->live[i], p->live[last]) && !scratchpad_differs(p, kernel, i, last))
			continue;
		ret = add_point(p, i);
		last = i;
	}
	return ret;
}

int phases_find(struct phases *p, struct ptx_kernel *kernel, const struct cfg *cfg,
		const struct ranges *ranges, const struct spills *spills)
{
	bool *together = calloc((size_t)kernel->ninsns + 1, sizeof(*together));
	int ret = together ? 0 : -ENOMEM;

	memset(p, 0, sizeof(*p));
	p->live = calloc((size_t)kernel->ninsns + 1, sizeof(*p->live));
	if (!p->live)
		ret = -ENOMEM;
	if (!ret)
		ret = count_live(kernel, ranges, p->live);
	if (!ret)
		ret = scratchpad_find(&p->scratchpad, kernel, cfg, spills, has_shared(kernel));
	if (!ret)
		ret = uniform_solve(kernel, cfg, together);
	if (!ret && kernel->ninsns)
		ret = walk(p, kernel, together);
	free(together);
	if (ret)
		phases_free(p);
	return ret;
}

/* The first point at `insn` or behind it. */
static uint32_t first_from(const struct phases *p, uint32_t insn)
{
	uint32_t lo = 0, hi = p->n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (p->at[mid] < insn)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

void phases_weigh(const struct phases *p, const struct ranges *ranges, uint32_t nregs,
		  uint32_t *weight)
{
	uint32_t r, s;

	for (r = 0; r < nregs; r++) {
		weight[r] = 0;
		for (s = ranges->start[r]; s < ranges->start[r + 1]; s++)
			weight[r] += first_from(p, ranges->at[s].to) -
				     first_from(p, ranges->at[s].from);
	}
}

/* --- specifiers ------------------------------------------------------------------- */

/* The specifier only marks a place in the text: kernel->phases has its contents. */
static int add_specifier(struct writer *w, const struct ptx_insn *next)
{
	const struct ptx_insn insn = {
		.opcode = PTX_OP_pmevent, .cls = PTX_CLASS_MOVE, .guard = PTX_NO_REG,
		.mods = PTX_MOD_PHASE, .nsrc = 1, .src[0] = { .kind = PTX_OPND_IMM },
		.line = next->line,
	};

	return writer_add(w, &insn, NO_SLOT);
}

/*
 * Makes what is known by instruction fit the new text. At a specifier the same is live as at
 * the next instruction.
 */
static int move_scratchpad(struct scratchpad *s, const struct writer *w, uint32_t ninsns)
{
	struct scratchpad new = *s;
	uint32_t i, at = 0;

	new.live = calloc((size_t)w->n + 1, sizeof(*new.live));
	new.extents = calloc((size_t)w->n + 1, sizeof(*new.extents));
	if (!new.live || !new.extents) {
		scratchpad_free(&new);
		return -ENOMEM;
	}
	for (i = 0; i < ninsns; i++) {
		for (; at < (i + 1 < ninsns ? w->start[i + 1] : w->n); at++)
			new.live[at] = s->live[i];
		new.extents[at - 1] = s->extents[i];
	}
	scratchpad_free(s);
	*s = new;
	return 0;
}

int phases_insert(struct phases *p, struct spills *s)
{
	struct ptx_kernel *kernel = s->kernel;
	uint32_t i, f, point = 0;
	struct writer w;
	int ret = writer_init(&w, s);

	for (i = 0; i < kernel->ninsns && !ret; i++) {
		w.start[i] = w.n;
		if (point < p->n && p->at[point] == i) {
			p->at[point] = w.n;
			if (!p->quiet[point++])
				ret = add_specifier(&w, &kernel->insns[i]);
		}
		if (!ret)
			ret = writer_add(&w, &kernel->insns[i], s->note[i]);
	}
	if (!ret)
		ret = move_scratchpad(&p->scratchpad, &w, kernel->ninsns);
	if (ret) {
		writer_free(&w);
		return ret;
	}
	w.start[kernel->ninsns] = w.n;
	for (f = 0; f < kernel->nfunctions; f++) {
		kernel->functions[f].first = w.start[kernel->functions[f].first];
		kernel->functions[f].end = w.start[kernel->functions[f].end];
	}
	writer_commit(&w);
	return 0;
}
