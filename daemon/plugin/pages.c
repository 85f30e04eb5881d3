// SPDX-License-Identifier: GPL-2.0
/* The bits of pages by VA block. See pages.h for whom. */
#include "base/array.h"
#include "plugin/pages.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct pages_block *pages_make(struct pages *pages, uint64_t addr)
{
	struct pages_block *block;

	if (array_grow(pages->blocks, pages->room, pages->nblocks))
		return NULL;
	if (u64map_put(&pages->index, addr >> BLOCK_SHIFT, pages->nblocks))
		return NULL;
	block = &pages->blocks[pages->nblocks++];
	memset(block, 0, sizeof(*block));
	block->addr = addr >> BLOCK_SHIFT << BLOCK_SHIFT;
	return block;
}

int pages_add(struct pages *pages, uint64_t addr)
{
	struct pages_block *block = pages_find(pages, addr);

	if (!block)
		block = pages_make(pages, addr);
	if (!block)
		return -ENOMEM;
	bitmap_set(block->here, pages_bit(addr));
	return 0;
}

void pages_drop(struct pages *pages, uint64_t addr)
{
	struct pages_block *block = pages_find(pages, addr);

	if (block)
		bitmap_clear(block->here, pages_bit(addr));
}

void pages_clear(struct pages *pages)
{
	free(pages->blocks);
	u64map_clear(&pages->index);
	memset(pages, 0, sizeof(*pages));
}
