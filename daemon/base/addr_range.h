/* SPDX-License-Identifier: GPL-2.0 */
/* Ranges of addresses, in a list that grows: what one room tells another about a VA space. */
#ifndef GPUEMU_BASE_ADDR_RANGE_H
#define GPUEMU_BASE_ADDR_RANGE_H

#include "base/array.h"

/* [start, end) */
struct addr_range {
	uint64_t start, end;
};

/* All zero is empty; free(at). */
struct addr_ranges {
	struct addr_range *at;
	size_t count, room;
	bool failed;			/* no memory: some are missing */
};

static inline void addr_ranges_add(struct addr_ranges *list, uint64_t start, uint64_t end)
{
	if (array_grow(list->at, list->room, list->count))
		list->failed = true;
	else
		list->at[list->count++] = (struct addr_range){ start, end };
}

#endif
