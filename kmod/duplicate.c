// SPDX-License-Identifier: GPL-2.0
/*
 * Read-only duplicates: how they begin and end, but for the copying that every
 * migration does. While there is one, the CPU's entries of the page are read-only
 * (va_block.c) and so is the engine's. Called by migrate.c and va_block.c.
 */
#include <linux/bitmap.h>
#include <linux/ktime.h>

#include "copy.h"
#include "dev.h"
#include "duplicate.h"
#include "migrate.h"
#include "migrate_ops.h"
#include "migrate_steps.h"
#include "mirror.h"
#include "sysmem.h"
#include "tlb.h"
#include "va_block.h"
#include "va_space.h"

/* The pages of the mask have equal content on both sides, and nobody may write it. */
static void duplicate_made(struct gpuemu_block *block, const unsigned long *mask)
{
	u32 n = bitmap_weight(mask, GPUEMU_BLOCK_PAGES);

	bitmap_or(block->duplicate, block->duplicate, mask,
		  GPUEMU_BLOCK_PAGES);
	gpuemu_count(block->space, DUPLICATED, n);
	gpuemu_count(block->space, READ_DUPLICATIONS, n);
}

/*
 * Those of the mask that were duplicates are none any more. collapsed: because
 * one side wants them for itself.
 */
void gpuemu_duplicate_ended(struct gpuemu_block *block,
			    const unsigned long *mask, bool collapsed)
{
	page_mask gone;
	u32 n;

	if (!bitmap_and(gone, mask, block->duplicate, GPUEMU_BLOCK_PAGES))
		return;
	bitmap_andnot(block->duplicate, block->duplicate, gone,
		      GPUEMU_BLOCK_PAGES);
	n = bitmap_weight(gone, GPUEMU_BLOCK_PAGES);
	gpuemu_count(block->space, DUPLICATED, -(u64)n);
	if (collapsed)
		gpuemu_count(block->space, COLLAPSES, n);
}

/*
 * Makes the pages of the flight that are on the device alone duplicates.
 *
 * The engine keeps reading; before the copy it has forgotten that it may write.
 * -EINTR: the task is being killed, and all stay the device's.
 */
static int duplicate_present(struct gpuemu_flight *f, struct gpuemu_stamps *cost)
{
	struct gpuemu_block *block = f->copy.block;
	struct gpuemu_pt *pt = &block->space->dev->pt;
	u64 start = ktime_get_ns(), bytes;
	struct gpuemu_copy copy;
	page_mask todo;
	u32 i, lo, hi;
	int err;

	lockdep_assert_held(&block->lock);
	f->moved = 0;
	bitmap_and(todo, f->copy.mask, block->resident, GPUEMU_BLOCK_PAGES);
	if (!bitmap_andnot(todo, todo, block->duplicate, GPUEMU_BLOCK_PAGES))
		return 0;
	for_each_set_bit(i, todo, GPUEMU_BLOCK_PAGES)
		gpuemu_pt_set_read_only(pt, block->leaf, i, block->frames[i]);
	lo = find_first_bit(todo, GPUEMU_BLOCK_PAGES);
	hi = find_last_bit(todo, GPUEMU_BLOCK_PAGES);
	err = gpuemu_tlb_invalidate(block->space, gpuemu_block_addr(block, lo),
				    gpuemu_block_addr(block, hi + 1),
				    GPUEMU_INVAL_REMAP, true);
	if (err) {
		for_each_set_bit(i, todo, GPUEMU_BLOCK_PAGES)
			gpuemu_pt_set(pt, block->leaf, i, block->frames[i]);
		return err;
	}
	copy.block = block;
	copy.way = GPUEMU_LINK_D2H;
	copy.many = false;
	bitmap_copy(copy.mask, todo, GPUEMU_BLOCK_PAGES);
	copy.pages = bitmap_weight(todo, GPUEMU_BLOCK_PAGES);
	bitmap_zero(copy.fresh, GPUEMU_BLOCK_PAGES);
	gpuemu_copy_begin(&copy);
	bytes = gpuemu_copy_end(&copy);
	gpuemu_count(block->space, D2H_BYTES, bytes);
	duplicate_made(block, todo);
	f->moved = copy.pages;
	cost->copy_ns += ktime_get_ns() - start;
	return 0;
}

/**
 * gpuemu_duplicate_promote() - gives duplicates to the engine alone
 * @block: locked, not dead
 * @mask: those of these pages that are duplicates
 *
 * The frame has the content already: the CPU loses its mapping, and the page in
 * system memory is stale from then on. -EBUSY: somebody else refers to it, so
 * some stay duplicates.
 */
int gpuemu_duplicate_promote(struct gpuemu_block *block,
			     const unsigned long *mask)
{
	struct gpuemu_pt *pt = &block->space->dev->pt;
	page_mask todo, pinned;
	int ret = 0;
	u32 i, n;

	lockdep_assert_held(&block->lock);
	/* Before there is a duplicate in a space, first writes are told of. */
	if (!READ_ONCE(block->space->notify_writes) ||
	    !bitmap_and(todo, mask, block->duplicate, GPUEMU_BLOCK_PAGES))
		return 0;
	gpuemu_migrate_unmap_cpu(block, todo);
	n = gpuemu_migrate_pinned(block, todo, pinned);
	if (n) {
		gpuemu_count(block->space, PINNED_REFUSALS, n);
		ret = -EBUSY;
		if (!bitmap_andnot(todo, todo, pinned, GPUEMU_BLOCK_PAGES))
			return ret;
	}
	for_each_set_bit(i, todo, GPUEMU_BLOCK_PAGES)
		gpuemu_pt_set(pt, block->leaf, i, block->frames[i]);
	gpuemu_duplicate_ended(block, todo, true);
	/* What it knows is not wrong, only less than it may: nobody waits. */
	gpuemu_tlb_post(block->space,
			gpuemu_block_addr(block, find_first_bit(todo, GPUEMU_BLOCK_PAGES)),
			gpuemu_block_addr(block, find_last_bit(todo, GPUEMU_BLOCK_PAGES) + 1),
			GPUEMU_INVAL_REMAP);
	return ret;
}

/* The CPU is shown what nobody ever touched, too. */
static void duplicate_provided(struct gpuemu_flight *f)
{
	gpuemu_sysmem_clear(f->copy.block, f->copy.fresh);
	bitmap_zero(f->copy.fresh, GPUEMU_BLOCK_PAGES);
}

/* This is no change of sides: the CPU has the pages, too. */
static void duplicate_arrived(struct gpuemu_flight *f)
{
	struct gpuemu_block *block = f->copy.block;
	u32 i;

	for_each_set_bit(i, f->copy.mask, GPUEMU_BLOCK_PAGES)
		gpuemu_pt_set_read_only(&block->space->dev->pt, block->leaf, i,
					block->frames[i]);
	duplicate_made(block, f->copy.mask);
}

const struct gpuemu_migrate_ops gpuemu_op_duplicate = {
	.nr = GPUEMU_MIGRATE_DUPLICATE,
	.way = GPUEMU_LINK_H2D,
	.takes_frames = true,
	.prepare = gpuemu_space_notify_writes,
	.begin = gpuemu_h2d_begin,
	.end = gpuemu_h2d_end,
	/* mm has no page that is in both: it goes to the device. */
	.mirrored = gpuemu_mirror_bring,
	.present = duplicate_present,
	.provided = duplicate_provided,
	.arrived = duplicate_arrived,
};
