// SPDX-License-Identifier: GPL-2.0
/* The pages that are here, by VA block. Knows no order and no policy. */
#include "paging/blocks.h"

#include <errno.h>
#include <stdlib.h>

static unsigned int page_in_block(uint64_t addr)
{
	return (unsigned int)(addr >> PAGE_SHIFT) % BLOCK_PAGES;
}

int blocks_set(struct blocks *blocks, uint64_t addr)
{
	struct block_bits *block = blocks_find(blocks, addr);

	if (!block) {
		if (blocks->count == blocks->room) {
			size_t room = blocks->room ? blocks->room * 2 : 32;
			struct block_bits *bigger = realloc(blocks->blocks, room * sizeof(*bigger));

			if (!bigger)
				return -ENOMEM;
			blocks->blocks = bigger;
			blocks->room = room;
		}
		if (u64map_put(&blocks->index, addr >> BLOCK_SHIFT, blocks->count))
			return -ENOMEM;
		block = &blocks->blocks[blocks->count++];
		*block = (struct block_bits){ .addr = addr >> BLOCK_SHIFT << BLOCK_SHIFT };
	}
	blocks->last = (size_t)(block - blocks->blocks);
	bitmap_set(block->here, page_in_block(addr));
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

void blocks_clear(struct blocks *blocks)
{
	u64map_clear(&blocks->index);
	free(blocks->blocks);
	*blocks = (struct blocks){ NULL };
}
