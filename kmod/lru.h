/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which VA blocks have pages in device memory, the least recently used first,
 * and eviction by that order: for a commit whose engine planned none.
 */
#ifndef _GPUEMU_LRU_H
#define _GPUEMU_LRU_H

#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/types.h>

struct gpuemu_block;
struct gpuemu_dev;
struct gpuemu_space;

/**
 * struct gpuemu_lru - the device's
 * @lock: see locks.h; protects the rest, and the lru_* of the blocks
 * @blocks: those with resident pages; used is what a commit asked for
 * @pass: of the last commit
 * @search: of the last search for a victim
 */
struct gpuemu_lru {
	spinlock_t lock;
	struct list_head blocks;
	u64 pass;
	u64 search;
};

void gpuemu_lru_init(struct gpuemu_lru *lru);
u64 gpuemu_lru_pass(struct gpuemu_lru *lru);
void gpuemu_lru_touch(struct gpuemu_block *block, u64 pass);
void gpuemu_lru_emptied(struct gpuemu_block *block);
u32 gpuemu_lru_evict(struct gpuemu_dev *dev, u64 pass, u32 want,
		     const struct gpuemu_space *of);

#endif
