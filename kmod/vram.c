// SPDX-License-Identifier: GPL-2.0
/*
 * The frames of device memory: allocation and free, nothing about contents.
 * A frame's old bytes stay until its next owner overwrites all of it (a copy
 * or zeroes), which gpuemu_migrate_h2d() does before it maps the frame.
 */
#include <linux/bitmap.h>
#include <linux/vmalloc.h>

#include "objects.h"
#include "vram.h"

int gpuemu_vram_init(struct gpuemu_vram *vram, u32 frames)
{
	u32 i;

	spin_lock_init(&vram->lock);
	vram->published = NULL;
	/* The log says which parameter is too large, and needs no stack for it. */
	vram->base = __vmalloc((size_t)frames << PAGE_SHIFT,
			     GFP_KERNEL | __GFP_ZERO | __GFP_NOWARN);
	vram->free = kvmalloc_array(frames, sizeof(*vram->free), GFP_KERNEL);
	if (!vram->base || !vram->free) {
		gpuemu_vram_destroy(vram);
		return -ENOMEM;
	}
	/* Frame 0 goes out first, so that a trace of a small run reads well. */
	for (i = 0; i < frames; i++)
		vram->free[i] = frames - 1 - i;
	vram->frames = frames;
	vram->nfree = frames;
	return 0;
}

void gpuemu_vram_destroy(struct gpuemu_vram *vram)
{
	kvfree(vram->free);
	vfree(vram->base);
	vram->free = NULL;
	vram->base = NULL;
}

static void publish_locked(struct gpuemu_vram *vram)
{
	if (vram->published)
		WRITE_ONCE(*vram->published, vram->nfree);
}

/*
 * A frame for each page of the mask, all under one hold of the lock: those that
 * get none leave the mask. Returns how many got one.
 */
u32 gpuemu_vram_alloc(struct gpuemu_vram *vram, u32 *frames,
		      unsigned long *mask, u32 pages)
{
	const u32 *free = vram->free;
	u32 n = 0, nfree, i, end;

	spin_lock(&vram->lock);
	nfree = vram->nfree;
	for_each_set_bitrange(i, end, mask, pages) {
		for (; i < end && n < nfree; i++, n++)
			frames[i] = free[nfree - 1 - n];
		if (i < end) {
			bitmap_clear(mask, i, pages - i);
			break;
		}
	}
	vram->nfree = nfree - n;
	publish_locked(vram);
	spin_unlock(&vram->lock);
	atomic_add(n, &gpuemu_live[GPUEMU_OBJ_frames]);
	return n;
}

/*
 * The frames of the pages of the mask. The last goes first, so that the next
 * run gets what was contiguous in the same order.
 */
void gpuemu_vram_free(struct gpuemu_vram *vram, const u32 *frames,
		      const unsigned long *mask, u32 pages)
{
	u32 n = bitmap_weight(mask, pages), w, i;
	unsigned long word;

	spin_lock(&vram->lock);
	for (w = BITS_TO_LONGS(pages); w-- > 0;)
		for (word = mask[w]; word; word &= ~BIT(i)) {
			i = __fls(word);
			vram->free[vram->nfree++] =
				frames[w * BITS_PER_LONG + i];
		}
	publish_locked(vram);
	spin_unlock(&vram->lock);
	atomic_sub(n, &gpuemu_live[GPUEMU_OBJ_frames]);
}

u32 gpuemu_vram_nfree(struct gpuemu_vram *vram)
{
	return READ_ONCE(vram->nfree);
}

/* Keeps *where equal to the number of free frames, until called with NULL. */
void gpuemu_vram_publish(struct gpuemu_vram *vram, u32 *where)
{
	spin_lock(&vram->lock);
	vram->published = where;
	publish_locked(vram);
	spin_unlock(&vram->lock);
}
