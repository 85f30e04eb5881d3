// SPDX-License-Identifier: GPL-2.0
/*
 * Which bytes of its CTA's scratchpad are live at each instruction (Zorua, MICRO 2016, section
 * 4.6): those that an access on a path to the instruction may have touched, and that one on a path
 * from it may touch again. Called by phases.c. values.c says what an access may touch; where
 * it does not know, it is everything.
 *
 * The ends of what accesses touch cut scratchpad into cells, 64 at most, so that a set of bytes is
 * a word. Where there would be more, neighbours are one. The last cell has no end: what a launch
 * adds belongs to it.
 *
 * Other warps of the CTA read what this one wrote, so a byte that is not live here may hold what
 * others need. Scratchpad is therefore its CTA's to the end, and nothing here gives it back.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/values.h"

/* --- cells -------------------------------------------------------------------------- */

static int by_size(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* From all ends, in order and once each, to `ends`: every n-th, so that they are few. */
static void thin(struct scratchpad *s, uint32_t *ends, uint32_t n)
{
	uint32_t i, every, unique = 0;

	qsort(ends, n, sizeof(*ends), by_size);
	for (i = 0; i < n; i++) {
		if (!unique || ends[i] != ends[unique - 1])
			ends[unique++] = ends[i];
	}
	every = DIV_ROUND_UP(unique, PTX_SCRATCHPAD_CELLS - 1);
	for (i = 0; i < unique; i += MAX(every, 1u))
		s->cells[s->ncells++] = ends[i];
}

static int find_cells(struct scratchpad *s, uint32_t ninsns)
{
	uint32_t *ends = calloc(2 * (size_t)ninsns + 1, sizeof(*ends)), n = 0, i;

	if (!ends)
		return -ENOMEM;
	for (i = 0; i < ninsns; i++) {
		if (s->extents[i].from == s->extents[i].to)
			continue;
		if (s->extents[i].from)
			ends[n++] = s->extents[i].from;
		if (s->extents[i].to != PTX_EXTENT_END)
			ends[n++] = s->extents[i].to;
	}
	s->cells[s->ncells++] = 0;
	thin(s, ends, n);
	free(ends);
	s->cells[s->ncells] = PTX_EXTENT_END;
	return 0;
}

static uint64_t cells_of(const struct scratchpad *s, struct ptx_extent e)
{
	uint64_t cells = 0;

	for (uint32_t i = 0; i < s->ncells; i++)
		cells |= (uint64_t)(e.from < s->cells[i + 1] && s->cells[i] < e.to) << i;
	return cells;
}

uint32_t scratchpad_end(const struct scratchpad *s, uint64_t cells)
{
	return cells ? s->cells[64 - __builtin_clzll(cells)] : 0;
}

uint32_t scratchpad_bytes(const struct scratchpad *s, uint64_t cells, uint32_t fixed)
{
	uint32_t bytes = 0;

	for (; cells; cells &= cells - 1) {
		uint32_t i = (uint32_t)__builtin_ctzll(cells), end = s->cells[i + 1];

		bytes += (end == PTX_EXTENT_END ? MAX(fixed, s->cells[i]) : end) - s->cells[i];
	}
	return bytes;
}

/* --- what an instruction touches ------------------------------------------------------ */

/* What the function and those that it calls touch. */
static void add_callees(const struct ptx_kernel *kernel, const uint64_t *touches,
			uint64_t *functions)
{
	bool more = true;

	while (more) {
		more = false;
		for (uint32_t f = 0; f < kernel->nfunctions; f++) {
			const struct ptx_function *function = &kernel->functions[f];
			uint64_t cells = functions[f];

			for (uint32_t i = function->first; i < function->end; i++) {
				const struct ptx_function *callee =
					insn_callee(kernel, &kernel->insns[i]);

				cells |= touches[i];
				cells |= callee ? functions[callee - kernel->functions] : 0;
			}
			more |= cells != functions[f];
			functions[f] = cells;
		}
	}
}

/* touches[instruction], calls with what they lead to. A printf reads where its arguments point. */
static int find_touches(const struct scratchpad *s, const struct ptx_kernel *kernel,
			uint64_t *touches)
{
	uint64_t *functions = calloc((size_t)kernel->nfunctions + 1, sizeof(*functions));
	uint32_t i;

	if (!functions)
		return -ENOMEM;
	for (i = 0; i < kernel->ninsns; i++) {
		const struct ptx_insn *insn = &kernel->insns[i];
		bool builtin = insn->opcode == PTX_OP_call && !insn_callee(kernel, insn);

		touches[i] = cells_of(s, builtin ? (struct ptx_extent){ 0, PTX_EXTENT_END } :
				      s->extents[i]);
	}
	add_callees(kernel, touches, functions);
	for (i = 0; i < kernel->ninsns; i++) {
		const struct ptx_function *callee = insn_callee(kernel, &kernel->insns[i]);

		touches[i] |= callee ? functions[callee - kernel->functions] : 0;
	}
	free(functions);
	return 0;
}

/* --- what is live -------------------------------------------------------------------------- */

/* Adds each block's cells to those that its edges lead to, until nothing changes. */
static void spread(uint32_t nblocks, const uint32_t *start, const uint32_t *edge,
		   const uint64_t *own, uint64_t *sets, bool back)
{
	bool more = true;

	while (more) {
		more = false;
		for (uint32_t n = 0; n < nblocks; n++) {
			uint32_t b = back ? nblocks - 1 - n : n;

			for (uint32_t e = start[b]; e < start[b + 1]; e++) {
				uint64_t cells = sets[edge[e]] | sets[b] | own[b];

				more |= cells != sets[edge[e]];
				sets[edge[e]] = cells;
			}
		}
	}
}

static int find_live(struct scratchpad *s, const struct ptx_kernel *kernel, const struct cfg *cfg,
		     const uint64_t *touches)
{
	uint32_t n = cfg->nblocks, b, i;
	uint64_t *own = calloc(3 * ((size_t)n + 1), sizeof(*own));
	uint64_t *before = own ? own + n + 1 : NULL, *after = own ? before + n + 1 : NULL;
	uint64_t cells;

	if (!own)
		return -ENOMEM;
	for (i = 0; i < kernel->ninsns; i++)
		own[cfg->block_of[i]] |= touches[i];
	spread(n, cfg->succ_start, cfg->succ, own, before, false);
	spread(n, cfg->pred_start, cfg->pred, own, after, true);
	for (b = 0; b < n; b++) {
		for (cells = before[b], i = cfg->first[b]; i < cfg->first[b + 1]; i++) {
			cells |= touches[i];
			s->live[i] = cells;
		}
		for (cells = after[b], i = cfg->first[b + 1]; i-- > cfg->first[b]; ) {
			cells |= touches[i];
			s->live[i] &= cells;
		}
	}
	free(own);
	return 0;
}

int scratchpad_find(struct scratchpad *s, struct ptx_kernel *kernel, const struct cfg *cfg,
		    const struct spills *spills, bool any)
{
	uint64_t *touches = calloc((size_t)kernel->ninsns + 1, sizeof(*touches));
	int ret = touches ? 0 : -ENOMEM;

	s->live = calloc((size_t)kernel->ninsns + 1, sizeof(*s->live));
	s->extents = calloc((size_t)kernel->ninsns + 1, sizeof(*s->extents));
	if (!s->live || !s->extents)
		ret = -ENOMEM;
	if (!ret && any)
		ret = values_solve(kernel, cfg, spills, s->extents);
	if (!ret)
		ret = find_cells(s, kernel->ninsns);
	if (!ret && any)
		ret = find_touches(s, kernel, touches);
	if (!ret)
		ret = find_live(s, kernel, cfg, touches);
	free(touches);
	return ret;
}

void scratchpad_free(struct scratchpad *s)
{
	free(s->live);
	free(s->extents);
}
