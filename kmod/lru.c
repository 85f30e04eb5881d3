// SPDX-License-Identifier: GPL-2.0
/*
 * The module's own eviction. It is nobody's policy: the module sees migrations,
 * not accesses, so used last means asked for last. Its caller holds no VA
 * block; a victim is locked alone, and one that is being worked on is passed
 * over, as it is hardly the least recently used.
 */
#include <linux/bitmap.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>

#include "client.h"
#include "dev.h"
#include "lru.h"
#include "migrate.h"
#include "va_block.h"

/* Victims of one search, the passed over among them: it ends. */
#define VICTIMS_MAX 64

void gpuemu_lru_init(struct gpuemu_lru *lru)
{
	spin_lock_init(&lru->lock);
	INIT_LIST_HEAD(&lru->blocks);
	lru->pass = 0;
	lru->search = 0;
}

/* Begins a commit: what it asks for is no victim of it. */
u64 gpuemu_lru_pass(struct gpuemu_lru *lru)
{
	u64 pass;

	spin_lock(&lru->lock);
	pass = ++lru->pass;
	spin_unlock(&lru->lock);
	return pass;
}

/* A commit asked for pages of the block. */
void gpuemu_lru_touch(struct gpuemu_block *block, u64 pass)
{
	struct gpuemu_lru *lru = &block->space->dev->lru;

	lockdep_assert_held(&block->lock);
	/* An engine may ask for pages of device memory, too: nothing of it can make room. */
	if (block->device_memory ||
	    bitmap_empty(block->resident, GPUEMU_BLOCK_PAGES))
		return;
	spin_lock(&lru->lock);
	block->lru_pass = pass;
	list_move_tail(&block->lru, &lru->blocks);
	list_move_tail(&block->lru_of_space, &block->space->lru);
	spin_unlock(&lru->lock);
}

/* Pages left the device; the block leaves the list with its last one. */
void gpuemu_lru_emptied(struct gpuemu_block *block)
{
	struct gpuemu_lru *lru = &block->space->dev->lru;

	lockdep_assert_held(&block->lock);
	if (!bitmap_empty(block->resident, GPUEMU_BLOCK_PAGES))
		return;
	spin_lock(&lru->lock);
	list_del_init(&block->lru);
	list_del_init(&block->lru_of_space);
	spin_unlock(&lru->lock);
}

/*
 * The next victim, referenced, and its client with it. A block of the list has
 * resident pages, so it is managed, or is being closed by a VMA that holds the
 * client's file: the client lives.
 */
static struct gpuemu_block *lru_next(struct gpuemu_lru *lru, u64 pass,
				     u64 search, const struct gpuemu_space *of,
				     struct gpuemu_client **client)
{
	const struct list_head *list = of ? &of->lru : &lru->blocks, *at;
	struct gpuemu_block *block, *victim = NULL;

	spin_lock(&lru->lock);
	list_for_each(at, list) {
		block = of ? list_entry(at, struct gpuemu_block, lru_of_space) :
			     list_entry(at, struct gpuemu_block, lru);
		if (block->lru_pass >= pass)
			break;
		/* At most VICTIMS_MAX of them. */
		if (block->lru_search == search)
			continue;
		block->lru_search = search;
		victim = block;
		kref_get(&victim->ref);
		*client = container_of(victim->space, struct gpuemu_client,
				       space);
		kref_get(&(*client)->ref);
		break;
	}
	spin_unlock(&lru->lock);
	return victim;
}

/**
 * gpuemu_lru_evict() - makes room in device memory
 * @dev: whose
 * @pass: of the commit that needs it; the caller holds no block
 * @want: frames
 * @of: only this VA space's, which has its share; NULL: anybody's
 *
 * Sends home whole blocks, and then pages of ordinary memory. Returns how many frames came
 * free, which may be more, or fewer: nothing is left that this commit did not ask for, a
 * victim's client has no memory, the task is being killed.
 */
u32 gpuemu_lru_evict(struct gpuemu_dev *dev, u64 pass, u32 want,
		     const struct gpuemu_space *of)
{
	struct gpuemu_client *client;
	struct gpuemu_block *block;
	u32 freed = 0, moved, n;
	u64 search;

	spin_lock(&dev->lru.lock);
	search = ++dev->lru.search;
	spin_unlock(&dev->lru.lock);
	for (n = 0; n < VICTIMS_MAX && freed < want; n++) {
		if (fatal_signal_pending(current))
			break;
		block = lru_next(&dev->lru, pass, search, of, &client);
		if (!block)
			break;
		moved = 0;
		if (mutex_trylock(&block->lock)) {
			if (!block->dead)
				gpuemu_migrate_d2h(block, 0, GPUEMU_BLOCK_PAGES,
						   GPUEMU_INVAL_RECLAIM,
						   &moved);
			mutex_unlock(&block->lock);
		}
		freed += moved;
		gpuemu_block_put(block);
		gpuemu_client_put(client);
		cond_resched();
	}
	if (freed < want && !fatal_signal_pending(current))
		freed += gpuemu_mirror_pages_evict(dev, want - freed, of);
	return freed;
}
