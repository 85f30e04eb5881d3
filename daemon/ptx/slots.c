// SPDX-License-Identifier: GPL-2.0
/*
 * Places in frames for what does not stay in registers: which slots there are,
 * and, in the end, their offsets; slots that are never in use together share one.
 * Called by spill.c, rewrite.c, save.c and finish.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "ptx/back.h"

int spills_sync(struct spills *s)
{
	uint32_t cap = MAX(s->kernel->nregs, 1u), i;

	if (array_resize(s->slot_of, cap) || array_resize(s->pinned, cap) ||
	    array_resize(s->victim, cap))
		return -ENOMEM;
	for (i = 0; i < cap; i++) {
		s->slot_of[i] = NO_SLOT;
		s->victim[i] = false;
		s->pinned[i] = i < s->kernel->nregs && s->kernel->regs[i].spill;
	}
	s->regs_cap = cap;
	return 0;
}

int spills_init(struct spills *s, struct ptx_kernel *kernel)
{
	uint32_t i;

	*s = (struct spills){ .kernel = kernel };
	s->note = malloc(((size_t)kernel->ninsns + 1) * sizeof(*s->note));
	if (!s->note || spills_sync(s)) {
		spills_free(s);
		return -ENOMEM;
	}
	for (i = 0; i < kernel->ninsns; i++)
		s->note[i] = NO_SLOT;
	return 0;
}

void spills_free(struct spills *s)
{
	free(s->slots);
	free(s->note);
	free(s->slot_of);
	free(s->pinned);
	free(s->victim);
	free(s->room);
	memset(s, 0, sizeof(*s));
}

int spills_new_reg(struct spills *s, uint32_t like, uint32_t *reg)
{
	struct ptx_kernel *kernel = s->kernel;

	if (kernel->nregs == s->regs_cap) {
		uint32_t cap = 2 * s->regs_cap;

		if (cap < s->regs_cap || array_resize(kernel->regs, cap) ||
		    array_resize(s->slot_of, cap) || array_resize(s->pinned, cap) ||
		    array_resize(s->victim, cap))
			return -ENOMEM;
		s->regs_cap = cap;
	}
	*reg = kernel->nregs++;
	kernel->regs[*reg] = kernel->regs[like];
	kernel->regs[*reg].spill = true;
	s->slot_of[*reg] = NO_SLOT;
	s->pinned[*reg] = true;
	s->victim[*reg] = false;
	return 0;
}

int spills_new_slot(struct spills *s, uint32_t function, uint32_t bytes, uint32_t from,
		    uint32_t to, uint32_t *slot)
{
	if (array_grow(s->slots, s->slots_cap, s->nslots))
		return -ENOMEM;
	*slot = s->nslots;
	s->slots[s->nslots++] = (struct slot){ function, bytes, from, to, 0 };
	return 0;
}

/* --- offsets ---------------------------------------------------------------------------- */

static int by_function_and_from(const void *a, const void *b)
{
	const struct slot *x = *(struct slot *const *)a, *y = *(struct slot *const *)b;

	if (x->function != y->function)
		return x->function < y->function ? -1 : 1;
	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return x < y ? -1 : x > y;
}

static int by_function_and_to(const void *a, const void *b)
{
	const struct slot *x = *(struct slot *const *)a, *y = *(struct slot *const *)b;

	if (x->function != y->function)
		return x->function < y->function ? -1 : 1;
	if (x->to != y->to)
		return x->to < y->to ? -1 : 1;
	return x < y ? -1 : x > y;
}

/* Offsets that no slot uses at the moment, by size: 4 and 8 bytes. */
struct free_list {
	uint32_t *offset;
	uint32_t n;
};

/* The slots [from, to) of one function, in the order of their beginnings and of their ends. */
static void place(struct spills *s, struct slot **begin, struct slot **end, uint32_t n,
		  struct free_list *lists)
{
	struct ptx_function *f = &s->kernel->functions[begin[0]->function];
	uint32_t i, j = 0;

	f->frame_bytes = (f->frame_bytes + 7) & ~7u;
	lists[0].n = lists[1].n = 0;
	for (i = 0; i < n; i++) {
		struct slot *slot = begin[i];
		struct free_list *list = &lists[slot->bytes == 8];

		for (; end[j]->to <= slot->from; j++) {
			struct free_list *l = &lists[end[j]->bytes == 8];

			l->offset[l->n++] = end[j]->offset;
		}
		if (list->n) {
			slot->offset = list->offset[--list->n];
			continue;
		}
		f->frame_bytes = (f->frame_bytes + slot->bytes - 1) & ~(slot->bytes - 1);
		slot->offset = f->frame_bytes;
		f->frame_bytes += slot->bytes;
	}
}

static void patch(struct spills *s)
{
	struct ptx_kernel *kernel = s->kernel;
	uint32_t i;

	kernel->spill_store_bytes = kernel->spill_load_bytes = 0;
	for (i = 0; i < kernel->ninsns; i++) {
		struct ptx_insn *insn = &kernel->insns[i];

		if (s->note[i] == NO_SLOT)
			continue;
		insn->src[0].value = s->slots[s->note[i]].offset;
		if (insn->opcode == PTX_OP_st)
			kernel->spill_store_bytes += s->slots[s->note[i]].bytes;
		else
			kernel->spill_load_bytes += s->slots[s->note[i]].bytes;
	}
}

int slots_place(struct spills *s)
{
	struct slot **begin = calloc((size_t)s->nslots + 1, sizeof(*begin));
	struct slot **end = calloc((size_t)s->nslots + 1, sizeof(*end));
	struct free_list lists[2] = { 0 };
	uint32_t i, j;
	int ret = -ENOMEM;

	lists[0].offset = calloc((size_t)s->nslots + 1, sizeof(*lists[0].offset));
	lists[1].offset = calloc((size_t)s->nslots + 1, sizeof(*lists[1].offset));
	if (begin && end && lists[0].offset && lists[1].offset) {
		for (i = 0; i < s->nslots; i++)
			begin[i] = end[i] = &s->slots[i];
		qsort(begin, s->nslots, sizeof(*begin), by_function_and_from);
		qsort(end, s->nslots, sizeof(*end), by_function_and_to);
		for (i = 0; i < s->nslots; i = j) {
			for (j = i; j < s->nslots && begin[j]->function == begin[i]->function; j++)
				;
			place(s, begin + i, end + i, j - i, lists);
		}
		patch(s);
		ret = 0;
	}
	free(begin);
	free(end);
	free(lists[0].offset);
	free(lists[1].offset);
	return ret;
}
