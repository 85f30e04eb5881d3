// SPDX-License-Identifier: GPL-2.0
/* Pages in lists, found by address. What an order means is its policy's. */
#include "paging/evict/order.h"

#include <stdlib.h>

#define CHUNK_PAGES	512u

struct order_chunk {
	struct order_chunk *next;
	struct order_page pages[CHUNK_PAGES];
};

void order_init(struct order *order)
{
	*order = (struct order){ .chunks = NULL };
	list_init(&order->free);
}

void order_clear(struct order *order)
{
	while (order->chunks) {
		struct order_chunk *chunk = order->chunks;

		order->chunks = chunk->next;
		free(chunk);
	}
	u64map_clear(&order->index);
}

struct order_page *order_find(const struct order *order, uint64_t addr)
{
	uint64_t value;

	return u64map_get(&order->index, addr, &value) ?
	       (struct order_page *)(uintptr_t)value : NULL;
}

static bool grow(struct order *order)
{
	struct order_chunk *chunk = malloc(sizeof(*chunk));

	if (!chunk)
		return false;
	chunk->next = order->chunks;
	order->chunks = chunk;
	for (unsigned int i = 0; i < CHUNK_PAGES; i++)
		list_add_tail(&order->free, &chunk->pages[i].node);
	return true;
}

struct order_page *order_add(struct order *order, uint64_t addr, struct list *list)
{
	struct order_page *page;

	if (list_empty(&order->free) && !grow(order))
		return NULL;
	page = list_entry(order->free.next, struct order_page, node);
	if (u64map_put(&order->index, addr, (uintptr_t)page))
		return NULL;
	page->addr = addr;
	page->note = 0;
	list_move_tail(list, &page->node);
	return page;
}

void order_remove(struct order *order, struct order_page *page)
{
	u64map_del(&order->index, page->addr);
	list_del(&page->node);
	list_add_head(&order->free, &page->node);
}

unsigned int order_pick(const struct list *list, bool from_tail, unsigned int need,
			bool (*keep)(void *ctx, uint64_t addr), void *ctx, uint64_t *pages,
			unsigned int n)
{
	for (const struct list *node = from_tail ? list->prev : list->next;
	     node != list && n < need; node = from_tail ? node->prev : node->next) {
		uint64_t addr = list_entry(node, const struct order_page, node)->addr;

		if (!keep(ctx, addr))
			pages[n++] = addr;
	}
	return n;
}
