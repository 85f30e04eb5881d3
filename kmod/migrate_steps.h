/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The steps that migrations are made of, for the files that make some of them:
 * migrate.c, which has them, remote_map.c and duplicate.c. All of them are called
 * with the block locked.
 */
#ifndef _GPUEMU_MIGRATE_STEPS_H
#define _GPUEMU_MIGRATE_STEPS_H

#include <linux/bitmap.h>
#include <linux/types.h>
#include <uapi/linux/gpuemu.h>

struct gpuemu_block;

/* A bit a page of a block. */
typedef unsigned long page_mask[BITS_TO_LONGS(GPUEMU_BLOCK_PAGES)];

/*
 * How many bits of pages first .. first + n - 1 the mask has, which has no others. A far fault
 * is of one page most often: the mask's other words are not looked at.
 */
static inline u32 page_mask_weight(const unsigned long *mask, u32 first, u32 n)
{
	u32 word = first / BITS_PER_LONG, end = first + n;

	return bitmap_weight(mask + word, round_up(end, BITS_PER_LONG) - word * BITS_PER_LONG);
}

/* Takes the bits of another mask from such a mask. False: it has none any more. */
static inline bool page_mask_minus(unsigned long *mask, const unsigned long *other, u32 first,
				   u32 n)
{
	u32 word = first / BITS_PER_LONG, end = first + n;

	return bitmap_andnot(mask + word, mask + word, other + word,
			     round_up(end, BITS_PER_LONG) - word * BITS_PER_LONG);
}

int gpuemu_migrate_managed(struct gpuemu_block *block, u32 first, u32 n,
			   bool to_device, unsigned long *mask);
void gpuemu_migrate_unmap_cpu(struct gpuemu_block *block,
			      const unsigned long *mask);
u32 gpuemu_migrate_pinned(struct gpuemu_block *block, const unsigned long *mask,
			  unsigned long *pinned);
int gpuemu_migrate_leaf(struct gpuemu_block *block);

#endif
