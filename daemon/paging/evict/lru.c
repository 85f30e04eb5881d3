// SPDX-License-Identifier: GPL-2.0
/*
 * Eviction policy: the page whose last TLB fill is longest ago goes first. TLB
 * hits are not seen, as the handler of a real GPU does not see them either.
 *
 * A list from the least to the most recent page and a hash from address to
 * list entry. Entries come from chunks and return to a free list, so a fault
 * allocates nothing once device memory is full.
 */
#include "paging/rows.h"

#include <errno.h>
#include <stdlib.h>

#include "base/list.h"
#include "base/u64map.h"

#define CHUNK_ENTRIES	512u

struct entry {
	struct list node;	/* in lru.pages, or in lru.free */
	uint64_t addr;
};

struct chunk {
	struct chunk *next;
	struct entry entries[CHUNK_ENTRIES];
};

struct lru {
	struct list pages;	/* least recent first */
	struct list free;
	struct chunk *chunks;
	struct u64map index;	/* address to struct entry * */
};

static int lru_create(const struct policy_view *view, void **state)
{
	struct lru *lru = calloc(1, sizeof(*lru));

	if (!lru)
		return -ENOMEM;
	list_init(&lru->pages);
	list_init(&lru->free);
	*state = lru;
	return 0;
}

static void lru_destroy(void *state)
{
	struct lru *lru = state;

	while (lru->chunks) {
		struct chunk *chunk = lru->chunks;

		lru->chunks = chunk->next;
		free(chunk);
	}
	u64map_clear(&lru->index);
	free(lru);
}

static struct entry *lru_find(const struct lru *lru, uint64_t addr)
{
	uint64_t value;

	return u64map_get(&lru->index, addr, &value) ? (struct entry *)(uintptr_t)value : NULL;
}

static int lru_grow(struct lru *lru)
{
	struct chunk *chunk = malloc(sizeof(*chunk));

	if (!chunk)
		return -ENOMEM;
	chunk->next = lru->chunks;
	lru->chunks = chunk;
	for (unsigned int i = 0; i < CHUNK_ENTRIES; i++)
		list_add_tail(&lru->free, &chunk->entries[i].node);
	return 0;
}

static void lru_touch(void *state, uint64_t addr, bool write)
{
	struct lru *lru = state;
	struct entry *entry = lru_find(lru, addr);

	if (entry)
		list_move_tail(&lru->pages, &entry->node);
}

static int lru_insert(void *state, uint64_t addr)
{
	struct lru *lru = state;
	struct entry *entry = lru_find(lru, addr);

	if (entry) {
		list_move_tail(&lru->pages, &entry->node);
		return 0;
	}
	if (list_empty(&lru->free) && lru_grow(lru))
		return -ENOMEM;
	entry = list_entry(lru->free.next, struct entry, node);
	if (u64map_put(&lru->index, addr, (uintptr_t)entry))
		return -ENOMEM;
	entry->addr = addr;
	list_move_tail(&lru->pages, &entry->node);
	return 0;
}

static void lru_remove(void *state, uint64_t addr)
{
	struct lru *lru = state;
	struct entry *entry = lru_find(lru, addr);

	if (!entry)
		return;
	u64map_del(&lru->index, addr);
	list_del(&entry->node);
	list_add_head(&lru->free, &entry->node);
}

static uint64_t lru_pick(void *state, const struct policy_view *view,
			 bool (*keep)(void *ctx, uint64_t addr), void *ctx)
{
	struct lru *lru = state;

	list_for_each(node, &lru->pages) {
		uint64_t addr = list_entry(node, struct entry, node)->addr;

		if (!keep(ctx, addr))
			return addr;
	}
	return 0;
}

const struct evict_ops evict_lru_ops = {
	.name = "lru",
	.help = "the page whose last TLB fill is longest ago",
	.create = lru_create,
	.destroy = lru_destroy,
	.insert = lru_insert,
	.touch = lru_touch,
	.remove = lru_remove,
	.pick = lru_pick,
};
