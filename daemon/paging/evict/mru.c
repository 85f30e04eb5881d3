// SPDX-License-Identifier: GPL-2.0
/*
 * Eviction policy: the page touched last goes first. For scans that are longer than
 * memory and come again: LRU throws each page away just before it is needed, MRU keeps a
 * part of the scan and pays for the rest alone. For anything else it is a poor choice.
 *
 * MRU with two rules for a GPU. What one SM has touched others are about to touch: the
 * pages touched last, `recent` percent of all, go only when nothing else can; 0 is plain
 * MRU. And what was prefetched and nobody has touched goes last of the others, so that a
 * prefetch is not evicted by the next one.
 */
#include "paging/evict/order.h"
#include "paging/rows.h"

#include <errno.h>
#include <stdlib.h>

/* Which list a page is in: order_page.note. */
enum part { REST, RECENT };

struct mru {
	struct order order;
	struct list rest, recent;	/* touched last is last */
	uint64_t nrecent, count, percent;
};

static int mru_create(const struct gpuemu_policy_view *view, void **state)
{
	struct mru *mru = calloc(1, sizeof(*mru));

	if (!mru)
		return -ENOMEM;
	order_init(&mru->order);
	list_init(&mru->rest);
	list_init(&mru->recent);
	mru->percent = view->options[0];
	*state = mru;
	return 0;
}

static void mru_destroy(void *state)
{
	struct mru *mru = state;

	order_clear(&mru->order);
	free(mru);
}

/* Moves the oldest recent pages to the rest while there are too many recent ones. */
static void age(struct mru *mru)
{
	while (mru->nrecent > mru->count * mru->percent / 100) {
		struct order_page *page = list_entry(mru->recent.next, struct order_page, node);

		page->note = REST;
		list_move_tail(&mru->rest, &page->node);
		mru->nrecent--;
	}
}

static void make_recent(struct mru *mru, struct order_page *page)
{
	mru->nrecent += page->note == REST;
	page->note = RECENT;
	list_move_tail(&mru->recent, &page->node);
	age(mru);
}

static void mru_touch(void *state, uint64_t addr, bool write)
{
	struct mru *mru = state;
	struct order_page *page = order_find(&mru->order, addr);

	if (page)
		make_recent(mru, page);
}

static int mru_insert(void *state, uint64_t addr, bool prefetched)
{
	struct mru *mru = state;
	struct order_page *page = order_find(&mru->order, addr);

	if (!page) {
		page = order_add(&mru->order, addr, &mru->rest);
		if (!page)
			return -ENOMEM;
		mru->count++;
		if (prefetched) {
			list_del(&page->node);
			list_add_head(&mru->rest, &page->node);
			return 0;
		}
	}
	make_recent(mru, page);
	return 0;
}

static void mru_remove(void *state, uint64_t addr)
{
	struct mru *mru = state;
	struct order_page *page = order_find(&mru->order, addr);

	if (!page)
		return;
	mru->nrecent -= page->note == RECENT;
	mru->count--;
	order_remove(&mru->order, page);
	age(mru);
}

static unsigned int mru_pick(void *state, const struct gpuemu_policy_view *view,
			     unsigned int need, bool (*keep)(void *ctx, uint64_t addr), void *ctx,
			     uint64_t *pages, unsigned int max)
{
	struct mru *mru = state;
	unsigned int n = order_pick(&mru->rest, true, need, keep, ctx, pages, 0);

	return order_pick(&mru->recent, false, need, keep, ctx, pages, n);
}

static const struct gpuemu_policy_option options[] = {
	{ "recent", 12, 0, 99, "percent of the pages, those touched last, that go last" },
	{ NULL }
};

const struct gpuemu_evict_ops evict_mru_ops = {
	.abi = GPUEMU_POLICY_ABI,
	.name = "mru",
	.help = "the page touched last: for scans that are longer than memory",
	.options = options,
	.create = mru_create,
	.destroy = mru_destroy,
	.insert = mru_insert,
	.touch = mru_touch,
	.remove = mru_remove,
	.pick = mru_pick,
};
