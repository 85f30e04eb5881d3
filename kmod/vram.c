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

static void push_locked(struct gpuemu_vram *vram, u32 frame)
{
	vram->at[frame] = vram->nfree;
	vram->free[vram->nfree++] = frame;
	vram->free_of[frame / GPUEMU_VRAM_RUN]++;
}

int gpuemu_vram_init(struct gpuemu_vram *vram, u32 frames)
{
	u32 i;

	spin_lock_init(&vram->lock);
	vram->published = NULL;
	/* The log says which parameter is too large, and needs no stack for it. */
	vram->base = __vmalloc((size_t)frames << PAGE_SHIFT,
			     GFP_KERNEL | __GFP_ZERO | __GFP_NOWARN);
	vram->free = kvmalloc_array(frames, sizeof(*vram->free), GFP_KERNEL);
	vram->at = kvmalloc_array(frames, sizeof(*vram->at), GFP_KERNEL);
	vram->free_of = kvcalloc(DIV_ROUND_UP(frames, GPUEMU_VRAM_RUN),
				 sizeof(*vram->free_of), GFP_KERNEL);
	if (!vram->base || !vram->free || !vram->at || !vram->free_of) {
		gpuemu_vram_destroy(vram);
		return -ENOMEM;
	}
	vram->frames = frames;
	vram->nfree = 0;
	/* Frame 0 goes out first, so that a trace of a small run reads well. */
	for (i = frames; i-- > 0;)
		push_locked(vram, i);
	return 0;
}

void gpuemu_vram_destroy(struct gpuemu_vram *vram)
{
	kvfree(vram->free_of);
	kvfree(vram->at);
	kvfree(vram->free);
	vfree(vram->base);
	vram->free_of = NULL;
	vram->at = NULL;
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
		for (; i < end && n < nfree; i++, n++) {
			frames[i] = free[nfree - 1 - n];
			vram->free_of[frames[i] / GPUEMU_VRAM_RUN]--;
		}
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
			push_locked(vram, frames[w * BITS_PER_LONG + i]);
		}
	publish_locked(vram);
	spin_unlock(&vram->lock);
	atomic_sub(n, &gpuemu_live[GPUEMU_OBJ_frames]);
}

/* The run whose frames went last, if it is whole, or the first that is. U32_MAX: none. */
static u32 choose_run_locked(const struct gpuemu_vram *vram)
{
	u32 runs = vram->frames / GPUEMU_VRAM_RUN, run;

	if (vram->nfree < GPUEMU_VRAM_RUN)
		return U32_MAX;
	run = vram->free[vram->nfree - 1] / GPUEMU_VRAM_RUN;
	if (vram->free_of[run] == GPUEMU_VRAM_RUN)
		return run;
	for (run = 0; run < runs; run++)
		if (vram->free_of[run] == GPUEMU_VRAM_RUN)
			return run;
	return U32_MAX;
}

/* The frames of a run leave the stack. The last ones there take their places. */
static void take_run_locked(struct gpuemu_vram *vram, u32 run)
{
	u32 frame, last, i;

	for (i = 0; i < GPUEMU_VRAM_RUN; i++) {
		frame = run * GPUEMU_VRAM_RUN + i;
		last = vram->free[--vram->nfree];
		vram->free[vram->at[frame]] = last;
		vram->at[last] = vram->at[frame];
	}
	vram->free_of[run] = 0;
}

/* GPUEMU_VRAM_RUN frames in a row from *first on, a multiple of it. False: there are none. */
bool gpuemu_vram_alloc_run(struct gpuemu_vram *vram, u32 *first)
{
	u32 run;

	spin_lock(&vram->lock);
	run = choose_run_locked(vram);
	if (run != U32_MAX) {
		take_run_locked(vram, run);
		publish_locked(vram);
	}
	spin_unlock(&vram->lock);
	if (run == U32_MAX)
		return false;
	atomic_add(GPUEMU_VRAM_RUN, &gpuemu_live[GPUEMU_OBJ_frames]);
	*first = run * GPUEMU_VRAM_RUN;
	return true;
}

/* All of it. The first frame goes out first again. */
void gpuemu_vram_free_run(struct gpuemu_vram *vram, u32 first)
{
	u32 i;

	spin_lock(&vram->lock);
	for (i = GPUEMU_VRAM_RUN; i-- > 0;)
		push_locked(vram, first + i);
	publish_locked(vram);
	spin_unlock(&vram->lock);
	atomic_sub(GPUEMU_VRAM_RUN, &gpuemu_live[GPUEMU_OBJ_frames]);
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
