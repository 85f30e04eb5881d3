/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Device memory: a fixed number of 4 KiB frames in one vmalloc area, which the
 * engine maps whole. Owns the free list; the VA blocks know who holds a frame.
 */
#ifndef _GPUEMU_VRAM_H
#define _GPUEMU_VRAM_H

#include <linux/mm.h>
#include <linux/spinlock.h>

/* A run of frames that a huge page of 2 MiB takes; it begins at a multiple of this. */
#define GPUEMU_VRAM_RUN 512

struct gpuemu_vram {
	void *base;
	u32 frames;
	spinlock_t lock;	/* protects the rest */
	u32 *free;		/* a stack: the frame freed last is warm in the cache */
	u32 nfree;
	u32 *at;		/* of each free frame: its place in the stack */
	u16 *free_of;		/* of each run: how many frames are free */
	u32 *published;		/* the engine's copy of nfree, or NULL */
};

int gpuemu_vram_init(struct gpuemu_vram *vram, u32 frames);
void gpuemu_vram_destroy(struct gpuemu_vram *vram);
u32 gpuemu_vram_alloc(struct gpuemu_vram *vram, u32 *frames,
		      unsigned long *mask, u32 pages);
bool gpuemu_vram_alloc_run(struct gpuemu_vram *vram, u32 *first);
void gpuemu_vram_free_run(struct gpuemu_vram *vram, u32 first);
void gpuemu_vram_free(struct gpuemu_vram *vram, const u32 *frames,
		      const unsigned long *mask, u32 pages);
u32 gpuemu_vram_nfree(struct gpuemu_vram *vram);
void gpuemu_vram_publish(struct gpuemu_vram *vram, u32 *where);

static inline void *gpuemu_vram_addr(const struct gpuemu_vram *vram, u32 frame)
{
	return vram->base + ((size_t)frame << PAGE_SHIFT);
}

#endif
