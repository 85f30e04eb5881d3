// SPDX-License-Identifier: GPL-2.0
/* The pages that are here, by VA block. Knows no order and no policy. */
#include "base/array.h"
#include "paging/blocks.h"

#include <errno.h>
#include <stdlib.h>

static unsigned int page_in_block(uint64_t addr)
{
	return (unsigned int)(addr >> PAGE_SHIFT) % BLOCK_PAGES;
}

/* The block that is about to be written. NULL: no memory. */
static struct block_bits *make(struct blocks *blocks, uint64_t addr)
{
	struct block_bits *block = blocks_find(blocks, addr);

	if (!block) {
		if (array_grow(blocks->blocks, blocks->room, blocks->count))
			return NULL;
		if (u64map_put(&blocks->index, addr >> BLOCK_SHIFT, blocks->count))
			return NULL;
		block = &blocks->blocks[blocks->count++];
		*block = (struct block_bits){ .addr = addr >> BLOCK_SHIFT << BLOCK_SHIFT };
	}
	blocks->last = (size_t)(block - blocks->blocks);
	return block;
}

int blocks_set(struct blocks *blocks, uint64_t addr)
{
	struct block_bits *block = make(blocks, addr);

	if (!block)
		return -ENOMEM;
	bitmap_set(block->here, page_in_block(addr));
	return 0;
}

int blocks_set_run(struct blocks *blocks, uint64_t addr, uint64_t pages)
{
	struct block_bits *block = make(blocks, addr);

	if (!block)
		return -ENOMEM;
	block->here[page_in_block(addr) / 64] |= pages;
	return 0;
}

void blocks_unset(struct blocks *blocks, uint64_t addr)
{
	struct block_bits *block = blocks_find(blocks, addr);

	if (!block)
		return;
	blocks->last = (size_t)(block - blocks->blocks);
	bitmap_clear(block->here, page_in_block(addr));
}

void blocks_unset_run(struct blocks *blocks, uint64_t addr, uint64_t pages)
{
	struct block_bits *block = blocks_find(blocks, addr);

	if (!block)
		return;
	blocks->last = (size_t)(block - blocks->blocks);
	block->here[page_in_block(addr) / 64] &= ~pages;
}

void blocks_clear(struct blocks *blocks)
{
	u64map_clear(&blocks->index);
	free(blocks->blocks);
	*blocks = (struct blocks){ NULL };
}
