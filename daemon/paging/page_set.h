/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The pages of one VA space as the handler knows them: a few bits each, by
 * 2 MiB block. Private to paging/.
 */
#ifndef GPUEMU_PAGING_PAGE_SET_H
#define GPUEMU_PAGING_PAGE_SET_H

#include "base/base.h"
#include "base/bitmap.h"
#include "base/u64map.h"

enum page_bit {
	PAGE_RESIDENT,	/* in device memory */
	PAGE_UNUSED,	/* resident: prefetched, no TLB fill yet */
	PAGE_FRESH,	/* resident: somebody waits for it, no TLB fill yet */
	PAGE_FLYING,	/* resident: on its way, not to be translated yet */
	PAGE_GOING,	/* resident: the plan being made evicts it */
	PAGE_ASKED,	/* the batch being served has it, resident or not */
	PAGE_LEFT,	/* was evicted and has not come back */
	PAGE_BACK,	/* came back by a far fault, */
	PAGE_THRASHED,	/* and once more */
	PAGE_REMOTE,	/* not resident: mapped for the device in system memory */
	PAGE_DUPLICATE,	/* resident: a copy of what is in system memory, to be read alone */
	PAGE_COLLAPSING, /* was a duplicate, and may be written when its batch is served */
	PAGE_WRITTEN,	/* the batch being served has it: it is to be written */
	PAGE_PINNED,	/* the same: it thrashes, and shall stay in system memory */
	PAGE_BITS
};

struct page_block {
	uint64_t addr;
	uint64_t bits[PAGE_BITS][BITMAP_WORDS(BLOCK_PAGES)];
};

/* All zero is empty. Blocks stay, once made, and keep their order. */
struct page_set {
	struct page_block *blocks;
	size_t nblocks, room;
	struct u64map index;	/* addr >> BLOCK_SHIFT to a place in blocks */
	size_t last;		/* place of the block written last */
	uint64_t count;		/* resident pages */
	uint64_t remote, duplicates, collapsing;
};

static inline unsigned int page_of(uint64_t addr)
{
	return (unsigned int)(addr >> PAGE_SHIFT) % BLOCK_PAGES;
}

/* The block written last, if it is this one: pages come in runs. */
static inline struct page_block *page_set_last(const struct page_set *set, uint64_t addr)
{
	struct page_block *last = &set->blocks[set->last];

	return set->last < set->nblocks && (last->addr ^ addr) >> BLOCK_SHIFT == 0 ? last : NULL;
}

static inline struct page_block *page_set_find(const struct page_set *set, uint64_t addr)
{
	struct page_block *block = page_set_last(set, addr);
	uint64_t i;

	if (block)
		return block;
	return u64map_get(&set->index, addr >> BLOCK_SHIFT, &i) ? &set->blocks[i] : NULL;
}

static inline bool page_set_test(const struct page_set *set, uint64_t addr,
				 enum page_bit bit)
{
	const struct page_block *block = page_set_find(set, addr);

	return block && bitmap_test(block->bits[bit], page_of(addr));
}

/* Has any of the n pages from `first` on the bit? They do not cross a word unless they fill it. */
static inline bool page_block_any(const struct page_block *block, enum page_bit bit,
				  unsigned int first, unsigned int n)
{
	const uint64_t *words = &block->bits[bit][first / 64];
	uint64_t any = 0;

	if (n < 64)
		return words[0] >> (first % 64) & ((1ull << n) - 1);
	for (unsigned int w = 0; w < n / 64; w++)
		any |= words[w];
	return any;
}

/* The bits in word w of the n pages from `first` on. */
static inline uint64_t page_run_word(unsigned int first, unsigned int n, unsigned int w)
{
	unsigned int from = MAX(first, w * 64), end = MIN(first + n, w * 64 + 64);

	return from < end ? ~0ull >> (64 - (end - from)) << (from % 64) : 0;
}

/* Makes sure that the page's bits exist; -ENOMEM. Pointers to blocks are stale afterwards. */
int page_set_reserve(struct page_set *set, uint64_t addr);
/* As page_set_find(), and the next look-up in the block is faster. */
struct page_block *page_set_look(struct page_set *set, uint64_t addr);

/* How many pages have the bit, where that is counted. */
static inline uint64_t *page_set_count_of(struct page_set *set, enum page_bit bit)
{
	return bit == PAGE_RESIDENT ? &set->count : bit == PAGE_REMOTE ? &set->remote :
	       bit == PAGE_DUPLICATE ? &set->duplicates :
	       bit == PAGE_COLLAPSING ? &set->collapsing : NULL;
}

/* Sets a bit of a page that was reserved. */
static inline void page_set_mark(struct page_set *set, uint64_t addr, enum page_bit bit)
{
	struct page_block *block = page_set_last(set, addr);
	uint64_t *count = page_set_count_of(set, bit);

	if (!block)
		block = page_set_look(set, addr);
	if (count && !bitmap_test(block->bits[bit], page_of(addr)))
		++*count;
	bitmap_set(block->bits[bit], page_of(addr));
}

static inline void page_set_unmark(struct page_set *set, uint64_t addr, enum page_bit bit)
{
	struct page_block *block = page_set_last(set, addr);
	uint64_t *count = page_set_count_of(set, bit);

	if (!block)
		block = page_set_look(set, addr);
	if (!block)
		return;
	if (count && bitmap_test(block->bits[bit], page_of(addr)))
		--*count;
	bitmap_clear(block->bits[bit], page_of(addr));
}

/* Clears the bit of every page. */
void page_set_unmark_all(struct page_set *set, enum page_bit bit);
void page_set_clear(struct page_set *set);

#endif
