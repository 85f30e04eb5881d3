// SPDX-License-Identifier: GPL-2.0
/*
 * The instructions under way: an array, whose unused ones are a list. Nothing is allocated while
 * warps issue, except that the array may double. Called by sm.c, and by issue.c when it is full.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "sm/inst.h"

#define FIRST_INSTS	512u

static int grow(struct insts *insts, uint32_t n)
{
	uint32_t first = insts->n;

	if (array_reserve(insts->at, insts->n, n))
		return -ENOMEM;
	for (uint32_t i = first; i < insts->n; i++)
		insts->at[i].next = i + 1 < insts->n ? i + 1 : insts->unused;
	insts->unused = first;
	return 0;
}

int insts_init(struct insts *insts)
{
	insts->unused = NO_INDEX;
	return grow(insts, FIRST_INSTS);
}

void insts_fini(struct insts *insts)
{
	free(insts->at);
}

void insts_cancel(struct insts *insts)
{
	for (uint32_t i = 0; i < insts->n; i++)
		insts->at[i].next = i + 1 < insts->n ? i + 1 : NO_INDEX;
	insts->unused = 0;
	insts->used = 0;
}

int inst_grow(struct insts *insts)
{
	return grow(insts, 2 * insts->n);
}
