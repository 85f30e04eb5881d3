// SPDX-License-Identifier: GPL-2.0
/* The pages that a run touches, in order. policy.c adds them; nothing here decides. */
#include "base/array.h"
#include "paging/touches.h"

#include <stdlib.h>

#define TOUCHES_MAX	(1ull << 25)	/* 256 MiB; a longer record is nobody's to read */

void touches_add(struct touches *t, uint64_t addr)
{
	if (t->count == TOUCHES_MAX || array_grow(t->pages, t->room, t->count)) {
		t->lost = true;
		return;
	}
	t->pages[t->count++] = addr;
}

void touches_clear(struct touches *t)
{
	free(t->pages);
	*t = (struct touches){ NULL };
}
