/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which managed pages the program took a right away from (mprotect, mmap): they
 * are the CPU's alone. Knows nothing of blocks or of what is where.
 */
#ifndef _GPUEMU_PROTECT_H
#define _GPUEMU_PROTECT_H

#include <linux/types.h>
#include <linux/xarray.h>

/**
 * struct gpuemu_protect - the marks of one VA space
 * @blocks: block index -> its marked pages: none, all, or a bitmap
 * @entries: in @blocks
 * @bitmaps: of them; like @entries under its lock
 *
 * It changes under the mm's mmap_lock, or when the mm ends.
 */
struct gpuemu_protect {
	struct xarray blocks;
	u32 entries;
	u32 bitmaps;
};

void gpuemu_protect_init(struct gpuemu_protect *p);
void gpuemu_protect_destroy(struct gpuemu_protect *p);
int gpuemu_protect_set(struct gpuemu_protect *p, u64 first, u64 last, bool on);
bool gpuemu_protect_all(struct gpuemu_protect *p, u64 first, u64 last, bool on);
bool gpuemu_protect_test(struct gpuemu_protect *p, u64 page_nr);
void gpuemu_protect_mask(struct gpuemu_protect *p, u64 first, u32 n,
			 unsigned long *mask, u32 bit);

#endif
