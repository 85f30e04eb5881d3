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

int gpuemu_migrate_managed(struct gpuemu_block *block, u32 first, u32 n,
			   bool to_device, unsigned long *mask);
void gpuemu_migrate_unmap_cpu(struct gpuemu_block *block,
			      const unsigned long *mask);
u32 gpuemu_migrate_pinned(struct gpuemu_block *block, const unsigned long *mask,
			  unsigned long *pinned);
int gpuemu_migrate_leaf(struct gpuemu_block *block);

#endif
