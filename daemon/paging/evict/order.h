/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Pages in lists, found by address: what LRU, FIFO, MRU and LFU are made of. A page
 * is in one list at a time. Entries are those of 64 KiB at a time, which return to a free
 * list when the last of their pages has gone. Private to evict/.
 */
#ifndef GPUEMU_PAGING_EVICT_ORDER_H
#define GPUEMU_PAGING_EVICT_ORDER_H

#include "base/list.h"
#include "base/u64map.h"

struct order_page {
	struct list node;	/* in one of the policy's lists */
	uint64_t addr;
	uint64_t note;		/* the policy's; 0 at first */
};

struct order {
	struct order_group *free;
	struct order_group *last;	/* the one found last, or NULL */
	struct u64map index;		/* address of 64 KiB to struct order_group * */
};

void order_init(struct order *order);
void order_clear(struct order *order);
/* NULL: it is not there. */
struct order_page *order_find(struct order *order, uint64_t addr);
/* One that is not there, put at the tail of `list`. NULL: no memory. */
struct order_page *order_add(struct order *order, uint64_t addr, struct list *list);
/*
 * Moves those of the 64 pages from addr on whose bit is set to the tail of `list`, the lowest
 * first, and adds those that are new (*added says how many). addr is a multiple of 64 pages. Their
 * note is 0. Returns the pages that are in the order now; there was no memory for the others.
 */
uint64_t order_add_run(struct order *order, uint64_t addr, uint64_t pages, struct list *list,
		       uint64_t *added);
void order_remove(struct order *order, struct order_page *page);
/* Removes those of the 64 pages from addr on whose bit is set. Returns how many it removed. */
uint64_t order_remove_run(struct order *order, uint64_t addr, uint64_t pages);

/*
 * The first pages of a list that need not be kept, from its head or from its tail; appended
 * to pages[n..need). Returns the new n.
 */
unsigned int order_pick(const struct list *list, bool from_tail, unsigned int need,
			bool (*keep)(void *ctx, uint64_t addr), void *ctx, uint64_t *pages,
			unsigned int n);

#endif
