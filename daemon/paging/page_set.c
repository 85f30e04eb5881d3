// SPDX-License-Identifier: GPL-2.0
/* The handler's bits of each page. Counts residency; knows no capacity and no policy. */
#include "base/array.h"
#include "paging/page_set.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct page_block *page_set_look(struct page_set *set, uint64_t addr)
{
	struct page_block *block = page_set_find(set, addr);

	if (block)
		set->last = (size_t)(block - set->blocks);
	return block;
}

int page_set_reserve(struct page_set *set, uint64_t addr)
{
	int rc;

	if (page_set_look(set, addr))
		return 0;
	if (array_grow(set->blocks, set->room, set->nblocks))
		return -ENOMEM;
	rc = u64map_put(&set->index, addr >> BLOCK_SHIFT, set->nblocks);
	if (rc)
		return rc;
	set->blocks[set->nblocks++] = (struct page_block){
		.addr = addr >> BLOCK_SHIFT << BLOCK_SHIFT,
	};
	return 0;
}

void page_set_unmark_all(struct page_set *set, enum page_bit bit)
{
	for (size_t i = 0; i < set->nblocks; i++)
		memset(set->blocks[i].bits[bit], 0, sizeof(set->blocks[i].bits[bit]));
}

void page_set_clear(struct page_set *set)
{
	u64map_clear(&set->index);
	free(set->blocks);
	*set = (struct page_set){ 0 };
}
