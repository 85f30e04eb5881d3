// SPDX-License-Identifier: GPL-2.0
/* Pages in lists, found by address. What an order means is its policy's. */
#include "paging/evict/order.h"

#include <stdlib.h>

/* Neighbours come and go together: one look-up in the index finds all of them. */
#define GROUP_SHIFT	16u
#define GROUP_PAGES	(1u << (GROUP_SHIFT - PAGE_SHIFT))
#define ALL_PAGES	((1ull << GROUP_PAGES) - 1)

struct order_group {
	struct order_group *next;	/* in order.free */
	uint64_t addr;
	uint64_t here;			/* a bit for each page that is in a list */
	struct order_page pages[GROUP_PAGES];
};

static unsigned int page_in(uint64_t addr)
{
	return (unsigned int)(addr >> PAGE_SHIFT) % GROUP_PAGES;
}

void order_init(struct order *order)
{
	*order = (struct order){ .free = NULL };
}

void order_clear(struct order *order)
{
	const struct u64map *index = &order->index;

	for (size_t i = 0; i < index->size; i++)
		if (index->slots[i].key != U64MAP_NO_KEY)
			free((void *)(uintptr_t)index->slots[i].value);
	while (order->free) {
		struct order_group *group = order->free;

		order->free = group->next;
		free(group);
	}
	u64map_clear(&order->index);
}

static struct order_group *find_group(struct order *order, uint64_t addr)
{
	uint64_t value;

	if (order->last && (order->last->addr ^ addr) >> GROUP_SHIFT == 0)
		return order->last;
	if (!u64map_get(&order->index, addr >> GROUP_SHIFT, &value))
		return NULL;
	order->last = (struct order_group *)(uintptr_t)value;
	return order->last;
}

struct order_page *order_find(struct order *order, uint64_t addr)
{
	struct order_group *group = find_group(order, addr);

	return group && group->here >> page_in(addr) & 1 ? &group->pages[page_in(addr)] : NULL;
}

static struct order_group *make_group(struct order *order, uint64_t addr)
{
	struct order_group *group = order->free;

	if (!group) {
		group = malloc(sizeof(*group));
		if (!group)
			return NULL;
		group->next = NULL;
		order->free = group;
	}
	if (u64map_put(&order->index, addr >> GROUP_SHIFT, (uintptr_t)group))
		return NULL;
	order->free = group->next;
	group->addr = addr >> GROUP_SHIFT << GROUP_SHIFT;
	group->here = 0;
	order->last = group;
	return group;
}

struct order_page *order_add(struct order *order, uint64_t addr, struct list *list)
{
	struct order_group *group = find_group(order, addr);
	struct order_page *page;

	if (!group)
		group = make_group(order, addr);
	if (!group)
		return NULL;
	group->here |= 1ull << page_in(addr);
	page = &group->pages[page_in(addr)];
	page->addr = addr;
	page->note = 0;
	list_add_tail(list, &page->node);
	return page;
}

/* All pages of a group that has none in the list: linked to each other, and once to the list. */
static void add_whole_group(struct order_group *group, struct list *list)
{
	struct list *last = list->prev;

	group->here = ALL_PAGES;
	for (unsigned int i = 0; i < GROUP_PAGES; i++) {
		struct order_page *page = &group->pages[i];

		page->addr = group->addr + i * PAGE_BYTES;
		page->note = 0;
		page->node.prev = last;
		last->next = &page->node;
		last = &page->node;
	}
	last->next = list;
	list->prev = last;
}

/* As above, of one group. */
static void add_to_group(struct order_group *group, uint64_t pages, struct list *list)
{
	uint64_t here = group->here;

	if (!here && pages == ALL_PAGES) {
		add_whole_group(group, list);
		return;
	}
	group->here |= pages;
	for (; pages; pages &= pages - 1) {
		unsigned int i = (unsigned int)__builtin_ctzll(pages);
		struct order_page *page = &group->pages[i];

		if (here >> i & 1)
			list_del(&page->node);
		page->addr = group->addr + i * PAGE_BYTES;
		page->note = 0;
		list_add_tail(list, &page->node);
	}
}

uint64_t order_add_run(struct order *order, uint64_t addr, uint64_t pages, struct list *list,
		       uint64_t *added)
{
	uint64_t there = 0;

	*added = 0;
	for (unsigned int first = 0; first < 64; first += GROUP_PAGES) {
		uint64_t wanted = pages >> first & ALL_PAGES;
		struct order_group *group;

		if (!wanted)
			continue;
		group = find_group(order, addr + first * PAGE_BYTES);
		if (!group)
			group = make_group(order, addr + first * PAGE_BYTES);
		if (!group)
			continue;
		*added += (unsigned int)__builtin_popcountll(wanted & ~group->here);
		add_to_group(group, wanted, list);
		there |= wanted << first;
	}
	return there;
}

static void put_group(struct order *order, struct order_group *group)
{
	if (group->here)
		return;
	u64map_del(&order->index, group->addr >> GROUP_SHIFT);
	order->last = NULL;
	group->next = order->free;
	order->free = group;
}

void order_remove(struct order *order, struct order_page *page)
{
	struct order_group *group = find_group(order, page->addr);

	list_del(&page->node);
	group->here &= ~(1ull << page_in(page->addr));
	put_group(order, group);
}

uint64_t order_remove_run(struct order *order, uint64_t addr, uint64_t pages)
{
	uint64_t removed = 0;

	for (unsigned int first = 0; first < 64; first += GROUP_PAGES) {
		uint64_t gone = pages >> first & ALL_PAGES;
		struct order_group *group;

		group = gone ? find_group(order, addr + first * PAGE_BYTES) : NULL;
		if (!group)
			continue;
		gone &= group->here;
		removed += (unsigned int)__builtin_popcountll(gone);
		group->here &= ~gone;
		for (; gone; gone &= gone - 1)
			list_del(&group->pages[__builtin_ctzll(gone)].node);
		put_group(order, group);
	}
	return removed;
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
