/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which pages are in device memory, a bit each by VA block, and which of them must
 * stay during one call. Kept on both sides of the channel; private to plugin/ and
 * policy-host/.
 */
#ifndef GPUEMU_PLUGIN_PAGES_H
#define GPUEMU_PLUGIN_PAGES_H

#include "base/base.h"
#include "base/bitmap.h"
#include "base/u64map.h"

struct pages_block {
	uint64_t addr;
	uint64_t here[BITMAP_WORDS(BLOCK_PAGES)];
	uint64_t kept[BITMAP_WORDS(BLOCK_PAGES)];
	uint64_t kept_in;	/* the call that kept[] is of */
	uint64_t named_in;	/* the call that had a page of it in its answer */
};

/* All zero is empty. Blocks stay and keep their order. */
struct pages {
	struct pages_block *blocks;
	size_t nblocks, room;
	struct u64map index;	/* addr >> BLOCK_SHIFT to a place in blocks */
};

static inline unsigned int pages_bit(uint64_t addr)
{
	return (unsigned int)(addr >> PAGE_SHIFT) % BLOCK_PAGES;
}

static inline struct pages_block *pages_find(const struct pages *pages, uint64_t addr)
{
	uint64_t i;

	return u64map_get(&pages->index, addr >> BLOCK_SHIFT, &i) ? &pages->blocks[i] : NULL;
}

static inline bool pages_here(const struct pages *pages, uint64_t addr)
{
	const struct pages_block *block = pages_find(pages, addr);

	return block && bitmap_test(block->here, pages_bit(addr));
}

/* The page came; -ENOMEM. */
int pages_add(struct pages *pages, uint64_t addr);
void pages_drop(struct pages *pages, uint64_t addr);
void pages_clear(struct pages *pages);

#endif
