// SPDX-License-Identifier: GPL-2.0
/*
 * Eviction policy: the page that came first goes first, whatever is touched. This is
 * what nvidia-uvm's "LRU" really is, by 2 MiB chunks: it sees allocations, not accesses.
 */
#include "paging/evict/order.h"
#include "paging/rows.h"

#include <errno.h>
#include <stdlib.h>

struct fifo {
	struct order order;
	struct list pages;	/* the oldest first */
};

static int fifo_create(const struct gpuemu_policy_view *view, void **state)
{
	struct fifo *fifo = calloc(1, sizeof(*fifo));

	if (!fifo)
		return -ENOMEM;
	order_init(&fifo->order);
	list_init(&fifo->pages);
	*state = fifo;
	return 0;
}

static void fifo_destroy(void *state)
{
	struct fifo *fifo = state;

	order_clear(&fifo->order);
	free(fifo);
}

static int fifo_insert(void *state, uint64_t addr, bool prefetched)
{
	struct fifo *fifo = state;

	if (order_find(&fifo->order, addr))
		return 0;
	return order_add(&fifo->order, addr, &fifo->pages) ? 0 : -ENOMEM;
}

static void fifo_remove(void *state, uint64_t addr)
{
	struct fifo *fifo = state;
	struct order_page *page = order_find(&fifo->order, addr);

	if (page)
		order_remove(&fifo->order, page);
}

static unsigned int fifo_pick(void *state, const struct gpuemu_policy_view *view,
			      unsigned int need, bool (*keep)(void *ctx, uint64_t addr), void *ctx,
			      uint64_t *pages, unsigned int max)
{
	struct fifo *fifo = state;

	return order_pick(&fifo->pages, false, need, keep, ctx, pages, 0);
}

const struct gpuemu_evict_ops evict_fifo_ops = {
	.abi = GPUEMU_POLICY_ABI,
	.name = "fifo",
	.help = "the page that came first",
	.create = fifo_create,
	.destroy = fifo_destroy,
	.insert = fifo_insert,
	.remove = fifo_remove,
	.pick = fifo_pick,
};
