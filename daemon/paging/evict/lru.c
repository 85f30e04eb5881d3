// SPDX-License-Identifier: GPL-2.0
/*
 * Eviction policy: the page whose last TLB fill is longest ago goes first. TLB
 * hits are not seen, as the handler of a real GPU does not see them either.
 *
 * reserve=PERCENT passes over that part of the pages, the least recent ones, as
 * long as others can go (UVMSmart's reserved LRU): a scan that is longer than
 * memory then finds some of its start again. The order is one list in two parts, and
 * each operation moves at most a few pages over the border.
 */
#include "paging/evict/order.h"
#include "paging/rows.h"

#include <errno.h>
#include <stdlib.h>

/* Which list a page is in: order_page.note. */
enum part { REST, RESERVED };

struct lru {
	struct order order;
	struct list reserved, rest;	/* least recent first; the reserved before the rest */
	uint64_t nreserved, count;
	uint64_t percent;
};

static int lru_create(const struct gpuemu_policy_view *view, void **state)
{
	struct lru *lru = calloc(1, sizeof(*lru));

	if (!lru)
		return -ENOMEM;
	order_init(&lru->order);
	list_init(&lru->reserved);
	list_init(&lru->rest);
	lru->percent = view->options[0];
	*state = lru;
	return 0;
}

static void lru_destroy(void *state)
{
	struct lru *lru = state;

	order_clear(&lru->order);
	free(lru);
}

static struct order_page *page_at(struct list *node)
{
	return list_entry(node, struct order_page, node);
}

/* Moves the border to where it belongs. */
static void move_border(struct lru *lru)
{
	uint64_t want;

	if (!lru->percent)
		return;
	want = lru->count * lru->percent / 100;

	while (lru->nreserved < want) {
		struct order_page *page = page_at(lru->rest.next);

		page->note = RESERVED;
		list_move_tail(&lru->reserved, &page->node);
		lru->nreserved++;
	}
	while (lru->nreserved > want) {
		struct order_page *page = page_at(lru->reserved.prev);

		page->note = REST;
		list_del(&page->node);
		list_add_head(&lru->rest, &page->node);
		lru->nreserved--;
	}
}

static void make_recent(struct lru *lru, struct order_page *page)
{
	lru->nreserved -= page->note == RESERVED;
	page->note = REST;
	list_move_tail(&lru->rest, &page->node);
	move_border(lru);
}

static void lru_touch(void *state, uint64_t addr, bool write)
{
	struct lru *lru = state;
	struct order_page *page = order_find(&lru->order, addr);

	if (page)
		make_recent(lru, page);
}

static int lru_insert(void *state, uint64_t addr, bool prefetched)
{
	struct lru *lru = state;
	struct order_page *page = order_find(&lru->order, addr);

	if (page) {
		make_recent(lru, page);
		return 0;
	}
	if (!order_add(&lru->order, addr, &lru->rest))
		return -ENOMEM;
	lru->count++;
	move_border(lru);
	return 0;
}

static void lru_remove(void *state, uint64_t addr)
{
	struct lru *lru = state;
	struct order_page *page = order_find(&lru->order, addr);

	if (!page)
		return;
	lru->nreserved -= page->note == RESERVED;
	lru->count--;
	order_remove(&lru->order, page);
	move_border(lru);
}

static uint64_t lru_insert_run(void *state, uint64_t addr, uint64_t pages)
{
	struct lru *lru = state;
	uint64_t there = 0, added;

	if (!lru->percent) {
		there = order_add_run(&lru->order, addr, pages, &lru->rest, &added);
		lru->count += added;
		return there;
	}
	/* The border moves with each of them. */
	for (; pages; pages &= pages - 1) {
		unsigned int page = (unsigned int)__builtin_ctzll(pages);

		if (!lru_insert(lru, addr + page * PAGE_BYTES, true))
			there |= pages & -pages;
	}
	return there;
}

static void lru_remove_run(void *state, uint64_t addr, uint64_t pages)
{
	struct lru *lru = state;

	if (!lru->percent) {
		lru->count -= order_remove_run(&lru->order, addr, pages);
		return;
	}
	for (; pages; pages &= pages - 1)
		lru_remove(lru, addr + (unsigned int)__builtin_ctzll(pages) * PAGE_BYTES);
}

static unsigned int lru_pick(void *state, const struct gpuemu_policy_view *view,
			     unsigned int need, bool (*keep)(void *ctx, uint64_t addr), void *ctx,
			     uint64_t *pages, unsigned int max)
{
	struct lru *lru = state;
	unsigned int n = order_pick(&lru->rest, false, need, keep, ctx, pages, 0);

	return order_pick(&lru->reserved, false, need, keep, ctx, pages, n);
}

static const struct gpuemu_policy_option options[] = {
	{ "reserve", 0, 0, 99, "percent of the pages, the least recent, that go last" },
	{ NULL }
};

const struct gpuemu_evict_ops evict_lru_ops = {
	.abi = GPUEMU_POLICY_ABI,
	.name = "lru",
	.help = "the page whose last TLB fill is longest ago",
	.options = options,
	.create = lru_create,
	.destroy = lru_destroy,
	.insert = lru_insert,
	.touch = lru_touch,
	.remove = lru_remove,
	.pick = lru_pick,
};

const struct evict_runs evict_lru_runs = {
	.ops = &evict_lru_ops,
	.insert = lru_insert_run,
	.remove = lru_remove_run,
};
