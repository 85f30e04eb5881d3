/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Resident pages in aligned units (a leaf, a VA block), the least recently touched
 * unit first: what the policies that evict in groups are made of. Private to evict/.
 */
#ifndef GPUEMU_PAGING_EVICT_UNITS_H
#define GPUEMU_PAGING_EVICT_UNITS_H

#include "base/list.h"
#include "paging/blocks.h"

struct unit {
	struct list node;		/* in units.order, or in units.free */
	uint64_t addr;
	unsigned int count;		/* pages that are here, never 0 in units.order */
	uint64_t here[BITMAP_WORDS(BLOCK_PAGES)];
	uint64_t touched[BLOCK_LEAVES];	/* by leaf of the unit: units.touches then */
};

struct units {
	struct list order;		/* least recently touched first */
	struct list free;
	struct u64map index;		/* addr >> shift to struct unit * */
	unsigned int shift;		/* of a unit's bytes: up to BLOCK_SHIFT */
	uint64_t touches;		/* ever */
};

void evict_units_init(struct units *units, unsigned int shift);
void units_clear(struct units *units);
/* The page is here, or was touched: its unit is the most recent one. -ENOMEM. */
int units_insert(struct units *units, uint64_t addr);
void units_touch(struct units *units, uint64_t addr);
void units_remove(struct units *units, uint64_t addr);

/* Appends the unit's pages of `mask` (NULL: all) that need not be kept, in address order. */
unsigned int unit_pick(const struct unit *unit, const uint64_t *mask,
		       bool (*keep)(void *ctx, uint64_t addr), void *ctx,
		       uint64_t *pages, unsigned int n, unsigned int max);
/* Whole units, the least recent first, until there are `need` pages: evict_ops.pick(). */
unsigned int units_pick(const struct units *units, unsigned int need,
			bool (*keep)(void *ctx, uint64_t addr), void *ctx,
			uint64_t *pages, unsigned int max);

#endif
