// SPDX-License-Identifier: GPL-2.0
/*
 * Migration: revoke one side's mappings, copy, map the other side. Decides
 * nothing; the engine's service thread says what to move (commit.c), the CPU's
 * faults say what to bring back.
 */
#include <linux/ktime.h>
#include <linux/sched/signal.h>

#include "client.h"
#include "copy.h"
#include "dev.h"
#include "duplicate.h"
#include "engine.h"
#include "inject.h"
#include "limit.h"
#include "migrate.h"
#include "migrate_ops.h"
#include "migrate_steps.h"
#include "mirror.h"
#include "remote_map.h"
#include "sysmem.h"
#include "thrash.h"
#include "tlb.h"
#include "trace.h"
#include "va_block.h"
#include "va_space.h"

const char *const gpuemu_cause_fault = "far_fault";

static u64 block_page_nr(const struct gpuemu_block *block, u32 i)
{
	return gpuemu_block_addr(block, i) >> GPUEMU_PAGE_SHIFT;
}

/*
 * Which of the pages are managed and, for the device, may go there. -EFAULT if
 * not all are; the others are moved all the same. Of several failures in one
 * run the one that the service thread can act on is reported: no memory, no
 * frame, pinned, not managed.
 */
int gpuemu_migrate_managed(struct gpuemu_block *block, u32 first, u32 n,
			   bool to_device, unsigned long *mask)
{
	u64 page_nr = block_page_nr(block, first);

	bitmap_zero(mask, GPUEMU_BLOCK_PAGES);
	if (to_device)
		gpuemu_space_device_mask(block->space, page_nr, n, mask, first);
	else
		gpuemu_space_managed_mask(block->space, page_nr, n, mask,
					  first);
	return page_mask_weight(mask, first, n) == n ? 0 : -EFAULT;
}

static void unmap_run(struct gpuemu_block *block, u32 first, u32 last)
{
	unmap_mapping_range(block->space->mapping,
			    gpuemu_block_addr(block, first),
			    (loff_t)(last - first + 1) << PAGE_SHIFT, 1);
	gpuemu_count(block->space, CPU_UNMAPS, 1);
}

/* Most often it is one page, for which no mask is made. */
static void unmap_one(struct gpuemu_block *block, u32 i)
{
	if (i >= GPUEMU_BLOCK_PAGES || !test_bit(i, block->cpu_mapped))
		return;
	unmap_run(block, i, i);
	__clear_bit(i, block->cpu_mapped);
	gpuemu_sysmem_unmapped(block->space, 1);
}

/*
 * Takes the pages of the mask from the CPU: after this no CPU can reach them
 * and, because faults need the block's lock, none will. One call, which flushes
 * the CPUs' TLBs once, for all that have no other mapped page between them: a call
 * is as dear as several pages.
 */
void gpuemu_migrate_unmap_cpu(struct gpuemu_block *block,
			      const unsigned long *mask)
{
	page_mask mapped, others;
	u32 first, last, stop;

	first = find_first_bit(mask, GPUEMU_BLOCK_PAGES);
	if (find_next_bit(mask, GPUEMU_BLOCK_PAGES, first + 1) >= GPUEMU_BLOCK_PAGES) {
		unmap_one(block, first);
		return;
	}
	if (!bitmap_and(mapped, mask, block->cpu_mapped, GPUEMU_BLOCK_PAGES))
		return;
	bitmap_andnot(others, block->cpu_mapped, mask, GPUEMU_BLOCK_PAGES);
	for (first = find_first_bit(mapped, GPUEMU_BLOCK_PAGES);
	     first < GPUEMU_BLOCK_PAGES;
	     first = find_next_bit(mapped, GPUEMU_BLOCK_PAGES, stop)) {
		stop = find_next_bit(others, GPUEMU_BLOCK_PAGES, first);
		last = find_last_bit(mapped, stop);
		unmap_run(block, first, last);
	}
	bitmap_andnot(block->cpu_mapped, block->cpu_mapped, mapped,
		      GPUEMU_BLOCK_PAGES);
	gpuemu_sysmem_unmapped(block->space,
			       bitmap_weight(mapped, GPUEMU_BLOCK_PAGES));
}

/*
 * A frame for each page of the mask, on the VA space's account; those that get none leave
 * the mask. Returns how many these are.
 */
u32 gpuemu_migrate_frames(struct gpuemu_space *space, u32 *frames,
			  unsigned long *mask)
{
	u32 want = bitmap_weight(mask, GPUEMU_BLOCK_PAGES), got = 0, may;
	struct gpuemu_dev *dev = space->dev;

	gpuemu_mirror_pages_reap(dev);
	may = gpuemu_limit_take_frames(space, mask, want, GPUEMU_BLOCK_PAGES);
	if (gpuemu_inject(dev, GPUEMU_INJECT_FRAME))
		bitmap_zero(mask, GPUEMU_BLOCK_PAGES);
	else
		got = gpuemu_vram_alloc(&dev->vram, frames, mask,
					GPUEMU_BLOCK_PAGES);
	if (got < may)
		gpuemu_limit_give_frames(space, may - got);
	return want - got;
}

/* Gives back those of the mask. */
void gpuemu_migrate_no_frames(struct gpuemu_space *space, const u32 *frames,
			      const unsigned long *mask)
{
	gpuemu_vram_free(&space->dev->vram, frames, mask, GPUEMU_BLOCK_PAGES);
	gpuemu_limit_give_frames(space, bitmap_weight(mask, GPUEMU_BLOCK_PAGES));
}

/*
 * A page that has a reference besides the block's is being read or written
 * behind the page tables (O_DIRECT, GUP): it stays where it is. Which of the mask
 * are such, and how many. The reference count is exact here: the CPU's and the
 * engine's mappings are gone, and a racing get_user_pages_fast() either finds its
 * PTE changed and lets go, or took its reference before the unmap.
 */
u32 gpuemu_migrate_pinned(struct gpuemu_block *block, const unsigned long *mask,
			  unsigned long *pinned)
{
	u32 n = 0, i, end;

	bitmap_zero(pinned, GPUEMU_BLOCK_PAGES);
	for_each_set_bitrange(i, end, mask, GPUEMU_BLOCK_PAGES)
		for (; i < end; i++) {
			if (!block->pages[i] ||
			    page_ref_count(block->pages[i]) == 1)
				continue;
			__set_bit(i, pinned);
			n++;
		}
	return n;
}

/* The pinned of the pages of the mask, which have frames, leave it. */
static int drop_pinned(struct gpuemu_block *block, unsigned long *mask,
		       bool count)
{
	page_mask pinned;
	u32 n = gpuemu_migrate_pinned(block, mask, pinned);

	if (!n)
		return 0;
	gpuemu_migrate_no_frames(block->space, block->frames, pinned);
	bitmap_andnot(mask, mask, pinned, GPUEMU_BLOCK_PAGES);
	if (count)
		gpuemu_count(block->space, PINNED_REFUSALS, n);
	return -EBUSY;
}

/* Makes sure that the block has a leaf table. */
int gpuemu_migrate_leaf(struct gpuemu_block *block)
{
	if (!block->leaf)
		block->leaf = gpuemu_pt_block_attach(block->space,
						     block->index);
	if (block->leaf)
		return 0;
	gpuemu_event_pressure(block->space, "page tables");
	return -ENOMEM;
}

/*
 * A migration has two halves and between them the copy, which may be another
 * thread's: then it is in flight, with its block locked. What the halves have to
 * tell each other is in the flight; the beginner sets flight.copy.block.
 */
void gpuemu_flight_begin(struct gpuemu_flight *f, u32 first, u32 n)
{
	f->first = first;
	f->n = n;
	f->members = 0;
	f->begun = false;
	f->ret = 0;
	f->moved = 0;
}

/* What the migration was to the device, if it was anything. */
static void h2d_trace(const struct gpuemu_flight *f)
{
	trace_gpuemu_migrate(f->copy.block->space->id,
			     gpuemu_block_addr(f->copy.block, f->first), f->n, f->op->nr,
			     f->cause, f->moved, f->ret);
}

/*
 * Chooses the pages that move. What is on the device already does not: that is the
 * operation's. False: nothing is left to move.
 */
static bool h2d_choose(struct gpuemu_flight *f, struct gpuemu_stamps *cost)
{
	struct gpuemu_block *block = f->copy.block;
	unsigned long *todo = f->copy.mask;
	int err;

	f->ret = gpuemu_migrate_managed(block, f->first, f->n, true, todo);
	if (f->members) {
		bitmap_and(todo, todo, f->want, GPUEMU_BLOCK_PAGES);
		f->ret = bitmap_equal(todo, f->want, GPUEMU_BLOCK_PAGES) ?
			 0 : -EFAULT;
		/* A duplicate that is pinned is refused, and counted, alone. */
		if (bitmap_intersects(todo, block->duplicate,
				      GPUEMU_BLOCK_PAGES)) {
			f->ret = -EAGAIN;
			return false;
		}
	}
	err = f->op->present(f, cost);
	if (err)
		f->ret = err;
	if (page_mask_minus(todo, block->resident, f->first, f->n) && err != -EINTR)
		return true;
	if (f->moved)
		h2d_trace(f);
	return false;
}

/*
 * Gives each page a frame, and a system page to come home to: so no client can have
 * frames that only its memory cgroup could free. Pages that lack either leave the
 * mask. Returns for how many there was no frame.
 */
static u32 h2d_provide(struct gpuemu_flight *f)
{
	struct gpuemu_block *block = f->copy.block;
	unsigned long *todo = f->copy.mask, *fresh = f->copy.fresh;
	page_mask without;
	u32 lacking;

	/* Before the frames: nothing is evicted for a client that has no memory. */
	if (gpuemu_sysmem_fill(block, todo, fresh))
		f->ret = -ENOMEM;
	lacking = gpuemu_migrate_frames(block->space, block->frames, todo);
	if (lacking && bitmap_andnot(without, fresh, todo, GPUEMU_BLOCK_PAGES)) {
		gpuemu_sysmem_release(block, without);
		bitmap_and(fresh, fresh, todo, GPUEMU_BLOCK_PAGES);
	}
	if (lacking && f->ret != -ENOMEM)
		f->ret = -ENOSPC;
	if (f->op->provided)
		f->op->provided(f);
	return lacking;
}

/* Gives back what h2d_provide() gave. */
static void h2d_give_back(struct gpuemu_flight *f)
{
	struct gpuemu_block *block = f->copy.block;

	gpuemu_migrate_no_frames(block->space, block->frames, f->copy.mask);
	gpuemu_sysmem_release(block, f->copy.fresh);
}

/*
 * Takes the pages from the CPU, and from the engine where they are remote mapped.
 * Pages that somebody else refers to leave the mask. -EINTR: nothing has changed.
 */
static int h2d_revoke(struct gpuemu_flight *f)
{
	struct gpuemu_block *block = f->copy.block;
	unsigned long *todo = f->copy.mask, *fresh = f->copy.fresh;
	page_mask remote, stay;
	int err;

	/* Without slots it never had a remote mapped page. */
	err = block->slots ? gpuemu_remote_suspend(block, todo, remote,
						   GPUEMU_INVAL_REMAP) : 0;
	if (err)
		return err;
	gpuemu_migrate_unmap_cpu(block, todo);
	/* Those of several are refused one by one. */
	err = drop_pinned(block, todo, !f->members);
	if (err && f->ret != -ENOSPC && f->ret != -ENOMEM)
		f->ret = err;
	/* A fresh page was not cleared. If it stayed, the CPU would see bytes of another process. */
	if (err && bitmap_andnot(stay, fresh, todo, GPUEMU_BLOCK_PAGES)) {
		gpuemu_sysmem_release(block, stay);
		bitmap_and(fresh, fresh, todo, GPUEMU_BLOCK_PAGES);
	}
	if (block->slots) {
		if (bitmap_andnot(stay, remote, todo, GPUEMU_BLOCK_PAGES))
			gpuemu_remote_resume(block, stay);
		bitmap_and(remote, remote, todo, GPUEMU_BLOCK_PAGES);
		gpuemu_remote_release(block, remote);
	}
	return 0;
}

/*
 * First half of bringing pages to device memory. Pages that are there already count
 * as done, and those that only become writable there, or readable at home, are not
 * copied, or not moved. lacking: pages for which there was no frame (-ENOSPC).
 */
void gpuemu_h2d_begin(struct gpuemu_flight *f, struct gpuemu_stamps *cost,
		      u32 *lacking)
{
	struct gpuemu_block *block = f->copy.block;
	u64 t0, t1, t2, t3;
	int err;

	lockdep_assert_held(&block->lock);
	*lacking = 0;
	if (!h2d_choose(f, cost))
		return;
	t0 = ktime_get_ns();
	if (gpuemu_migrate_leaf(block)) {
		f->ret = -ENOMEM;
		h2d_trace(f);
		return;
	}
	*lacking = h2d_provide(f);
	t1 = ktime_get_ns();
	err = h2d_revoke(f);
	if (err) {
		h2d_give_back(f);
		*lacking = 0;
		f->ret = err;
		h2d_trace(f);
		return;
	}
	t2 = ktime_get_ns();
	f->copy.way = GPUEMU_LINK_H2D;
	f->copy.pages = page_mask_weight(f->copy.mask, f->first, f->n);
	f->begun = true;
	gpuemu_copy_begin(&f->copy);
	gpuemu_inject_pause(block->space->dev, GPUEMU_INJECT_PAUSE_COPY);
	t3 = ktime_get_ns();
	f->copied = t3;
	cost->unmap_ns += t2 - t1;
	cost->copy_ns += t3 - t2 + t1 - t0;
}

/* Second half: the pages are the device's. */
void gpuemu_h2d_end(struct gpuemu_flight *f, struct gpuemu_stamps *cost)
{
	struct gpuemu_block *block = f->copy.block;
	unsigned long *todo = f->copy.mask;
	const bool waits = f->copy.pending;
	const u32 got = f->copy.pages;
	u64 t0, t1, bytes;

	/* What is copied already ends in no time. */
	t0 = waits ? ktime_get_ns() : 0;
	bytes = gpuemu_copy_end(&f->copy);
	t1 = waits ? ktime_get_ns() : f->copied;
	f->op->arrived(f);
	bitmap_or(block->resident, block->resident, todo, GPUEMU_BLOCK_PAGES);
	f->moved += got;

	cost->copy_ns += waits ? t1 - t0 : 0;
	cost->map_ns += ktime_get_ns() - t1;
	cost->h2d_pages += got;
	gpuemu_count(block->space, H2D_PAGES, got);
	gpuemu_count(block->space, H2D_BYTES, bytes);
	gpuemu_count(block->space, RESIDENT_PAGES, got);
	if (!f->members)
		h2d_trace(f);
}

static int h2d_present(struct gpuemu_flight *f, struct gpuemu_stamps *cost)
{
	return gpuemu_duplicate_promote(f->copy.block, f->copy.mask);
}

static void h2d_arrived(struct gpuemu_flight *f)
{
	struct gpuemu_block *block = f->copy.block;

	gpuemu_pt_set_mask(&block->space->dev->pt, block->leaf, f->copy.mask,
			   block->frames);
	if (!f->members && f->cause == gpuemu_cause_fault)
		gpuemu_thrash_device(block, f->copy.mask);
}

const struct gpuemu_migrate_ops gpuemu_op_h2d = {
	.nr = GPUEMU_MIGRATE_H2D,
	.way = GPUEMU_LINK_H2D,
	.takes_frames = true,
	.joins = true,
	.begin = gpuemu_h2d_begin,
	.end = gpuemu_h2d_end,
	.mirrored = gpuemu_mirror_bring,
	.present = h2d_present,
	.arrived = h2d_arrived,
};

/*
 * First half of bringing pages to system memory. Pages that are not on the device
 * count as done. -EINTR: the task is being killed; the pages are still on the device.
 */
void gpuemu_d2h_begin(struct gpuemu_flight *f, enum gpuemu_inval_reason reason)
{
	struct gpuemu_block *block = f->copy.block;
	struct gpuemu_dev *dev = block->space->dev;
	unsigned long *todo = f->leaving;
	u32 i, lo, hi;
	int err;

	lockdep_assert_held(&block->lock);
	f->reason = reason;
	f->ret = gpuemu_migrate_managed(block, f->first, f->n, false, todo);
	bitmap_and(todo, todo, block->resident, GPUEMU_BLOCK_PAGES);
	if (bitmap_empty(todo, GPUEMU_BLOCK_PAGES))
		return;

	gpuemu_pt_clear_mask(&dev->pt, block->leaf, todo);
	lo = find_first_bit(todo, GPUEMU_BLOCK_PAGES);
	hi = find_last_bit(todo, GPUEMU_BLOCK_PAGES);
	err = gpuemu_tlb_invalidate(block->space, gpuemu_block_addr(block, lo),
				    gpuemu_block_addr(block, hi + 1), reason,
				    true);
	if (err) {
		/* Nothing moved: the engine may have its entries back. */
		for_each_set_bit(i, todo, GPUEMU_BLOCK_PAGES) {
			if (test_bit(i, block->duplicate))
				gpuemu_pt_set_read_only(&dev->pt, block->leaf,
							i, block->frames[i]);
			else
				gpuemu_pt_set(&dev->pt, block->leaf, i,
					      block->frames[i]);
		}
		f->ret = err;
		return;
	}
	bitmap_andnot(f->copy.mask, todo, block->duplicate, GPUEMU_BLOCK_PAGES);
	bitmap_zero(f->copy.fresh, GPUEMU_BLOCK_PAGES);
	f->copy.way = GPUEMU_LINK_D2H;
	f->copy.pages = page_mask_weight(f->copy.mask, f->first, f->n);
	f->begun = true;
	gpuemu_copy_begin(&f->copy);
}

/* Second half: the frames are free. */
void gpuemu_d2h_end(struct gpuemu_flight *f)
{
	const bool lru = f->reason == GPUEMU_INVAL_RECLAIM;
	const bool evict = lru || f->reason == GPUEMU_INVAL_EVICT;
	struct gpuemu_block *block = f->copy.block;
	unsigned long *todo = f->leaving;
	u64 bytes = gpuemu_copy_end(&f->copy);
	u32 moved;

	if (evict)
		gpuemu_inject_pause(block->space->dev,
				    GPUEMU_INJECT_PAUSE_EVICT);
	gpuemu_vram_free(&block->space->dev->vram, block->frames, todo,
			 GPUEMU_BLOCK_PAGES);
	bitmap_andnot(block->resident, block->resident, todo,
		      GPUEMU_BLOCK_PAGES);
	gpuemu_duplicate_ended(block, todo,
			       f->reason == GPUEMU_INVAL_CPU_FAULT);
	gpuemu_lru_emptied(block);
	moved = bitmap_weight(todo, GPUEMU_BLOCK_PAGES);
	f->moved = moved;
	gpuemu_limit_give_frames(block->space, moved);
	gpuemu_count(block->space, D2H_PAGES, moved);
	gpuemu_count(block->space, D2H_BYTES, bytes);
	gpuemu_count(block->space, RESIDENT_PAGES, -(u64)moved);
	if (evict) {
		gpuemu_count(block->space, EVICTIONS, 1);
		gpuemu_count(block->space, EVICTED_PAGES, moved);
		trace_gpuemu_evict(block->space->id,
				   gpuemu_block_addr(block, f->first), f->n,
				   lru ? "lru" : "engine", moved, f->ret);
	}
	if (lru) {
		gpuemu_count(block->space, LRU_EVICTIONS, 1);
		gpuemu_count(block->space, LRU_EVICTED_PAGES, moved);
	}
	trace_gpuemu_migrate(block->space->id, gpuemu_block_addr(block, f->first),
			     f->n, GPUEMU_MIGRATE_D2H, evict ? "evict" :
			     f->reason == GPUEMU_INVAL_REMAP ? "remap" : "cpu_fault",
			     moved, f->ret);
}

/* What the engine has remote mapped leaves it, too. */
static void d2h_op_begin(struct gpuemu_flight *f, struct gpuemu_stamps *cost,
			 u32 *lacking)
{
	u64 start = ktime_get_ns();
	int err;

	gpuemu_d2h_begin(f, GPUEMU_INVAL_EVICT);
	err = gpuemu_remote_unmap(f->copy.block, f->first, f->n,
				  GPUEMU_INVAL_REMAP);
	if (err)
		f->ret = err;
	cost->evict_ns += ktime_get_ns() - start;
}

static void d2h_op_end(struct gpuemu_flight *f, struct gpuemu_stamps *cost)
{
	u64 start = ktime_get_ns();

	gpuemu_d2h_end(f);
	cost->evict_ns += ktime_get_ns() - start;
	cost->d2h_pages += f->moved;
}

const struct gpuemu_migrate_ops gpuemu_op_d2h = {
	.nr = GPUEMU_MIGRATE_D2H,
	.way = GPUEMU_LINK_D2H,
	.frees_frames = true,
	.begin = d2h_op_begin,
	.end = d2h_op_end,
	.mirrored = gpuemu_mirror_drop,
};

/**
 * gpuemu_migrate_d2h() - brings pages to system memory
 * @block: locked, not dead
 * @first: first page
 * @n: how many
 * @reason: why
 * @moved: out: pages that really moved
 *
 * Pages that are not on the device count as done; a duplicate only loses its
 * frame. What is on the device has its system page, so memory is never lacking.
 * -EINTR: the task is being killed; the pages are still on the device.
 */
int gpuemu_migrate_d2h(struct gpuemu_block *block, u32 first, u32 n,
		       enum gpuemu_inval_reason reason, u32 *moved)
{
	struct gpuemu_flight f = { .copy.block = block };

	gpuemu_flight_begin(&f, first, n);
	gpuemu_d2h_begin(&f, reason);
	if (f.begun)
		gpuemu_d2h_end(&f);
	*moved = f.moved;
	return f.ret;
}
