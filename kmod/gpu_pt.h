/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The GPU page table: four levels of 4 KiB tables in one aperture that the
 * engine maps read-only. The layout is in the uapi header. Writers of a leaf
 * hold the block's lock; the function that clears an entry invalidates the TLB (tlb.h).
 */
#ifndef _GPUEMU_GPU_PT_H
#define _GPUEMU_GPU_PT_H

#include <linux/spinlock.h>
#include <linux/types.h>

struct gpuemu_space;

struct gpuemu_pt {
	void *base;
	u32 tables;
	spinlock_t lock;	/* protects the rest */
	u32 *free;
	u32 nfree;
};

int gpuemu_pt_init(struct gpuemu_pt *pt, u32 tables);
void gpuemu_pt_destroy(struct gpuemu_pt *pt);

u32 gpuemu_pt_block_attach(struct gpuemu_space *space, u64 block_index);
void gpuemu_pt_block_detach(struct gpuemu_space *space, u64 block_index);
void gpuemu_pt_table_free(struct gpuemu_space *space, u32 table);
void gpuemu_pt_space_clear(struct gpuemu_space *space);
void gpuemu_pt_space_free(struct gpuemu_space *space);

void gpuemu_pt_set(struct gpuemu_pt *pt, u32 leaf, u32 i, u32 frame);
void gpuemu_pt_set_mask(struct gpuemu_pt *pt, u32 leaf,
			const unsigned long *mask, const u32 *frames);
void gpuemu_pt_set_device(struct gpuemu_pt *pt, u32 leaf, const u32 *frames);
void gpuemu_pt_set_read_only(struct gpuemu_pt *pt, u32 leaf, u32 i, u32 frame);
void gpuemu_pt_set_remote(struct gpuemu_pt *pt, u32 leaf, u32 i, u32 slot);
void gpuemu_pt_set_mirror(struct gpuemu_pt *pt, u32 leaf, u32 i, u32 slot,
			  bool writable);
void gpuemu_pt_clear(struct gpuemu_pt *pt, u32 leaf, u32 i);
void gpuemu_pt_clear_mask(struct gpuemu_pt *pt, u32 leaf,
			  const unsigned long *mask);

#endif
