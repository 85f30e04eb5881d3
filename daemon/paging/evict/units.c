// SPDX-License-Identifier: GPL-2.0
/* Resident pages by unit, in the order of touch. Which of a unit go is its policy's. */
#include "paging/evict/units.h"

#include <errno.h>
#include <stdlib.h>

void evict_units_init(struct units *units, unsigned int shift)
{
	*units = (struct units){ .shift = shift };
	list_init(&units->order);
	list_init(&units->free);
}

static void free_all(struct list *list)
{
	list_for_each_safe(node, list)
		free(list_entry(node, struct unit, node));
}

void units_clear(struct units *units)
{
	free_all(&units->order);
	free_all(&units->free);
	u64map_clear(&units->index);
}

static struct unit *find(const struct units *units, uint64_t addr)
{
	uint64_t value;

	return u64map_get(&units->index, addr >> units->shift, &value) ?
	       (struct unit *)(uintptr_t)value : NULL;
}

static unsigned int page_in(const struct unit *unit, uint64_t addr)
{
	return (unsigned int)((addr - unit->addr) / PAGE_BYTES);
}

static void make_recent(struct units *units, struct unit *unit, uint64_t addr)
{
	unit->touched[page_in(unit, addr) / LEAF_PAGES] = ++units->touches;
	list_move_tail(&units->order, &unit->node);
}

static struct unit *make(struct units *units, uint64_t addr)
{
	struct unit *unit;

	if (list_empty(&units->free)) {
		unit = malloc(sizeof(*unit));
		if (!unit)
			return NULL;
		list_add_head(&units->free, &unit->node);
	}
	unit = list_entry(units->free.next, struct unit, node);
	if (u64map_put(&units->index, addr >> units->shift, (uintptr_t)unit))
		return NULL;
	list_del(&unit->node);
	*unit = (struct unit){ .addr = addr >> units->shift << units->shift };
	list_init(&unit->node);
	return unit;
}

int units_insert(struct units *units, uint64_t addr)
{
	struct unit *unit = find(units, addr);

	if (!unit)
		unit = make(units, addr);
	if (!unit)
		return -ENOMEM;
	unit->count += !bitmap_test(unit->here, page_in(unit, addr));
	bitmap_set(unit->here, page_in(unit, addr));
	make_recent(units, unit, addr);
	return 0;
}

void units_touch(struct units *units, uint64_t addr)
{
	struct unit *unit = find(units, addr);

	if (unit && bitmap_test(unit->here, page_in(unit, addr)))
		make_recent(units, unit, addr);
}

void units_remove(struct units *units, uint64_t addr)
{
	struct unit *unit = find(units, addr);

	if (!unit || !bitmap_test(unit->here, page_in(unit, addr)))
		return;
	bitmap_clear(unit->here, page_in(unit, addr));
	if (--unit->count)
		return;
	u64map_del(&units->index, addr >> units->shift);
	list_del(&unit->node);
	list_add_head(&units->free, &unit->node);
}

unsigned int unit_pick(const struct unit *unit, const uint64_t *mask,
		       bool (*keep)(void *ctx, uint64_t addr), void *ctx,
		       uint64_t *pages, unsigned int n, unsigned int max)
{
	for (unsigned int page = 0; n < max; page++) {
		uint64_t addr;

		page = bitmap_next(unit->here, BLOCK_PAGES, page);
		if (page == BLOCK_PAGES)
			break;
		addr = unit->addr + page * PAGE_BYTES;
		if ((!mask || bitmap_test(mask, page)) && !keep(ctx, addr))
			pages[n++] = addr;
	}
	return n;
}

unsigned int units_pick(const struct units *units, unsigned int need,
			bool (*keep)(void *ctx, uint64_t addr), void *ctx,
			uint64_t *pages, unsigned int max)
{
	unsigned int n = 0;

	list_for_each(node, &units->order) {
		if (n >= need)
			break;
		n = unit_pick(list_entry(node, struct unit, node), NULL, keep, ctx, pages, n, max);
	}
	return n;
}
