/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which pages are here, by VA block, for policies that look at whole leaves and
 * trees: a word of counts instead of a question a page. Private to paging/.
 */
#ifndef GPUEMU_PAGING_BLOCKS_H
#define GPUEMU_PAGING_BLOCKS_H

#include "base/base.h"
#include "base/bitmap.h"
#include "base/u64map.h"
#include "gpuemu_policy.h"

#define BLOCK_LEAVES	32u	/* 64 KiB leaves of a 2 MiB block */
#define LEAF_PAGES	16u
#define LEAF_SHIFT	16u

struct block_bits {
	uint64_t addr;
	uint64_t here[BITMAP_WORDS(BLOCK_PAGES)];
};

/* All zero is empty. Blocks stay, once made, and keep their order. */
struct blocks {
	struct block_bits *blocks;
	size_t count, room;
	size_t last;		/* place of the block written last */
	struct u64map index;	/* addr >> BLOCK_SHIFT to a place in blocks */
};

/* NULL: no page of the block was ever here. Stale after the next blocks_set(). */
static inline struct block_bits *blocks_find(const struct blocks *blocks, uint64_t addr)
{
	struct block_bits *last = &blocks->blocks[blocks->last];
	uint64_t i;

	/* Pages come in runs. */
	if (blocks->last < blocks->count && (last->addr ^ addr) >> BLOCK_SHIFT == 0)
		return last;
	return u64map_get(&blocks->index, addr >> BLOCK_SHIFT, &i) ? &blocks->blocks[i] : NULL;
}

/* -ENOMEM: the page is not known. */
int blocks_set(struct blocks *blocks, uint64_t addr);
/* Sets those of the 64 pages from addr on whose bit is set; addr is a multiple of 64 pages. */
int blocks_set_run(struct blocks *blocks, uint64_t addr, uint64_t pages);
void blocks_unset(struct blocks *blocks, uint64_t addr);
void blocks_unset_run(struct blocks *blocks, uint64_t addr, uint64_t pages);
void blocks_clear(struct blocks *blocks);

/* The bits of one leaf. */
static inline unsigned int leaf_bits(const uint64_t *pages, unsigned int leaf)
{
	return (unsigned int)(pages[leaf / 4] >> (leaf % 4 * LEAF_PAGES)) & 0xffffu;
}

/* Counts of leaves [first, first + n). */
static inline unsigned int leaves_count(const uint64_t *pages, unsigned int first, unsigned int n)
{
	unsigned int count = 0;

	for (unsigned int leaf = first; leaf < first + n; leaf++)
		count += (unsigned int)__builtin_popcount(leaf_bits(pages, leaf));
	return count;
}

/* The pages of the block at `base` that are in [start, end). */
static inline void block_mask(uint64_t *pages, uint64_t base, uint64_t start, uint64_t end)
{
	for (unsigned int word = 0; word < BITMAP_WORDS(BLOCK_PAGES); word++) {
		uint64_t low = base + word * 64 * PAGE_BYTES, high = low + 64 * PAGE_BYTES;
		uint64_t from = MAX(low, start), to = MIN(high, end);

		pages[word] = from >= to ? 0 :
			      ~0ull >> (64 - (to - from) / PAGE_BYTES) << (from - low) / PAGE_BYTES;
	}
}

#endif
