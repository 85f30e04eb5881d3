// SPDX-License-Identifier: GPL-2.0
/*
 * Eviction policy: the page with the fewest TLB fills since it came goes first, the
 * least recent of those that have as few. Access counters as IPDPS'20 (Ganguly et al.) has
 * them: when one reaches `saturate`, all are halved, so that old fame fades.
 *
 * One list for each count. Halving joins two lists into one and touches no page: a page
 * notes its count when it was last counted, and how many halvings there were by then.
 */
#include "paging/evict/order.h"
#include "paging/rows.h"

#include <errno.h>
#include <stdlib.h>

#define COUNTS		64u		/* 0 .. 63 */
#define HALVINGS_SHIFT	8		/* order_page.note: halvings << 8 | count */

struct lfu {
	struct order order;
	struct list pages[COUNTS];	/* by count; least recent first */
	uint64_t halvings, saturate;
};

static int lfu_create(const struct gpuemu_policy_view *view, void **state)
{
	struct lfu *lfu = calloc(1, sizeof(*lfu));

	if (!lfu)
		return -ENOMEM;
	order_init(&lfu->order);
	for (unsigned int i = 0; i < COUNTS; i++)
		list_init(&lfu->pages[i]);
	lfu->saturate = view->options[0];
	*state = lfu;
	return 0;
}

static void lfu_destroy(void *state)
{
	struct lfu *lfu = state;

	order_clear(&lfu->order);
	free(lfu);
}

static uint64_t count_of(const struct lfu *lfu, const struct order_page *page)
{
	uint64_t count = page->note & ((1u << HALVINGS_SHIFT) - 1);
	uint64_t ago = lfu->halvings - (page->note >> HALVINGS_SHIFT);

	return ago < HALVINGS_SHIFT ? count >> ago : 0;
}

/* Moves all of `from` behind what is in `to`. */
static void join(struct list *to, struct list *from)
{
	if (to == from || list_empty(from))
		return;
	to->prev->next = from->next;
	from->next->prev = to->prev;
	to->prev = from->prev;
	from->prev->next = to;
	list_init(from);
}

static void halve(struct lfu *lfu)
{
	lfu->halvings++;
	for (unsigned int i = 0; i < COUNTS; i++)
		join(&lfu->pages[i / 2], &lfu->pages[i]);
}

static void put(struct lfu *lfu, struct order_page *page, uint64_t count)
{
	page->note = lfu->halvings << HALVINGS_SHIFT | count;
	list_move_tail(&lfu->pages[count], &page->node);
	if (count >= lfu->saturate)
		halve(lfu);
}

static void lfu_touch(void *state, uint64_t addr, bool write)
{
	struct lfu *lfu = state;
	struct order_page *page = order_find(&lfu->order, addr);

	if (page)
		put(lfu, page, count_of(lfu, page) + 1);
}

static int lfu_insert(void *state, uint64_t addr, bool prefetched)
{
	struct lfu *lfu = state;
	struct order_page *page = order_find(&lfu->order, addr);

	if (page)
		return 0;
	page = order_add(&lfu->order, addr, &lfu->pages[0]);
	if (!page)
		return -ENOMEM;
	put(lfu, page, 0);
	return 0;
}

static void lfu_remove(void *state, uint64_t addr)
{
	struct lfu *lfu = state;
	struct order_page *page = order_find(&lfu->order, addr);

	if (page)
		order_remove(&lfu->order, page);
}

static unsigned int lfu_pick(void *state, const struct gpuemu_policy_view *view,
			     unsigned int need, bool (*keep)(void *ctx, uint64_t addr), void *ctx,
			     uint64_t *pages, unsigned int max)
{
	struct lfu *lfu = state;
	unsigned int n = 0;

	for (unsigned int i = 0; i < COUNTS && n < need; i++)
		n = order_pick(&lfu->pages[i], false, need, keep, ctx, pages, n);
	return n;
}

static const struct gpuemu_policy_option options[] = {
	{ "saturate", 63, 1, 63, "TLB fills: a page that has as many halves the counts of all" },
	{ NULL }
};

const struct gpuemu_evict_ops evict_lfu_ops = {
	.abi = GPUEMU_POLICY_ABI,
	.name = "lfu",
	.help = "the page with the fewest TLB fills since it came (access counters)",
	.options = options,
	.create = lfu_create,
	.destroy = lfu_destroy,
	.insert = lfu_insert,
	.touch = lfu_touch,
	.remove = lfu_remove,
	.pick = lfu_pick,
};
