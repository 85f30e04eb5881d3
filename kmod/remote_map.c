// SPDX-License-Identifier: GPL-2.0
/*
 * Remote mapping: the engine uses a page where it is, in system memory, at the
 * same time as the CPU. The entry leads to a slot of the aperture (remote.c), the
 * slot to the page. A task that wants the page for something else suspends the
 * mapping, and then resumes or releases it.
 */
#include <linux/bitmap.h>
#include <linux/ktime.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "dev.h"
#include "migrate.h"
#include "migrate_ops.h"
#include "migrate_steps.h"
#include "mirror.h"
#include "remote_map.h"
#include "sysmem.h"
#include "tlb.h"
#include "trace.h"
#include "va_block.h"
#include "va_space.h"

static void set_entries(struct gpuemu_block *block, const unsigned long *mask)
{
	u32 i;

	for_each_set_bit(i, mask, GPUEMU_BLOCK_PAGES)
		gpuemu_pt_set_remote(&block->space->dev->pt, block->leaf, i,
				     block->slots[i]);
}

/**
 * gpuemu_remote_suspend() - takes remote mapped pages from the engine for a while
 * @block: locked, not dead
 * @mask: those of these pages that are mapped
 * @suspended: out: which these are
 * @reason: for the engine
 *
 * After this the engine reaches none of them, and holds no reference; they keep
 * their slots. -EINTR: the task is being killed; nothing has changed.
 */
int gpuemu_remote_suspend(struct gpuemu_block *block,
			  const unsigned long *mask, unsigned long *suspended,
			  enum gpuemu_inval_reason reason)
{
	struct gpuemu_dev *dev = block->space->dev;
	u32 i, lo, hi;
	int ret;

	lockdep_assert_held(&block->lock);
	if (!bitmap_and(suspended, mask, block->remote, GPUEMU_BLOCK_PAGES))
		return 0;
	for_each_set_bit(i, suspended, GPUEMU_BLOCK_PAGES)
		gpuemu_pt_clear(&dev->pt, block->leaf, i);
	lo = find_first_bit(suspended, GPUEMU_BLOCK_PAGES);
	hi = find_last_bit(suspended, GPUEMU_BLOCK_PAGES);
	ret = gpuemu_tlb_invalidate(block->space, gpuemu_block_addr(block, lo),
				    gpuemu_block_addr(block, hi + 1), reason,
				    true);
	if (ret) {
		set_entries(block, suspended);
		return ret;
	}
	gpuemu_remote_hide(dev, block->slots, suspended, GPUEMU_BLOCK_PAGES);
	return 0;
}

/* The suspended pages of the mask stay where they were after all. */
void gpuemu_remote_resume(struct gpuemu_block *block,
			  const unsigned long *mask)
{
	if (bitmap_empty(mask, GPUEMU_BLOCK_PAGES))
		return;
	gpuemu_remote_show(&block->space->dev->remote, block->slots,
			   block->pages, mask, GPUEMU_BLOCK_PAGES);
	set_entries(block, mask);
}

/*
 * The pages of the mask, suspended or unmapped by an invalidate and hidden, are
 * remote mapped no more.
 */
void gpuemu_remote_release(struct gpuemu_block *block,
			   const unsigned long *mask)
{
	u32 n = bitmap_weight(mask, GPUEMU_BLOCK_PAGES);

	if (!n)
		return;
	gpuemu_remote_free(block->space, block->slots, mask,
			   GPUEMU_BLOCK_PAGES);
	bitmap_andnot(block->remote, block->remote, mask, GPUEMU_BLOCK_PAGES);
	gpuemu_count(block->space, REMOTE_MAPPED, -(u64)n);
}

/**
 * gpuemu_remote_unmap() - leaves pages to the CPU alone, where they are
 * @block: locked, not dead
 * @first: first page
 * @n: how many
 * @reason: for the engine
 *
 * Pages that are not remote mapped are not touched. -EINTR: the task is being
 * killed; they are still mapped.
 */
int gpuemu_remote_unmap(struct gpuemu_block *block, u32 first, u32 n,
			enum gpuemu_inval_reason reason)
{
	page_mask mask, gone;
	int ret;

	/*
	 * A page whose mapping is being closed is the closer's: its entry is cleared
	 * already, and must not come back if this one fails.
	 */
	gpuemu_migrate_managed(block, first, n, false, mask);
	ret = gpuemu_remote_suspend(block, mask, gone, reason);
	if (!ret)
		gpuemu_remote_release(block, gone);
	return ret;
}

/* Room for the numbers of slots, for as long as the block lives. */
static int alloc_slots(struct gpuemu_block *block)
{
	struct mem_cgroup *old;

	if (block->slots)
		return 0;
	old = set_active_memcg(block->space->memcg);
	block->slots = kmalloc_array(GPUEMU_BLOCK_PAGES, sizeof(*block->slots),
				     GPUEMU_ENGINE_GFP);
	set_active_memcg(old);
	if (block->slots)
		return 0;
	gpuemu_sysmem_ask(block->space);
	return -ENOMEM;
}

/*
 * Maps pages for the engine in system memory.
 *
 * Pages on the device come home first. The CPU's mappings stay, and a page may have other
 * references. Pages that are mapped already count as done.
 * -ENOSPC: there is no slot for some, or the user has its share of them.
 */
static int remote_map(struct gpuemu_flight *f, struct gpuemu_stamps *cost)
{
	struct gpuemu_block *block = f->copy.block;
	const u32 first = f->first, n = f->n;
	u64 t0 = ktime_get_ns(), t1;
	u32 home, want, got;
	page_mask todo, fresh;
	int ret, err;

	lockdep_assert_held(&block->lock);
	ret = gpuemu_migrate_managed(block, first, n, true, todo);
	err = gpuemu_migrate_d2h(block, first, n, GPUEMU_INVAL_REMAP, &home);
	cost->d2h_pages += home;
	t1 = ktime_get_ns();
	cost->evict_ns += t1 - t0;
	if (err && err != -EFAULT)
		ret = err;
	if (err == -EINTR)
		return ret;
	bitmap_andnot(todo, todo, block->remote, GPUEMU_BLOCK_PAGES);
	if (bitmap_empty(todo, GPUEMU_BLOCK_PAGES))
		return ret;

	if (gpuemu_migrate_leaf(block) || alloc_slots(block))
		return -ENOMEM;
	err = gpuemu_sysmem_fill(block, todo, fresh);
	if (err)
		ret = err;
	gpuemu_sysmem_clear(block, fresh);
	want = bitmap_weight(todo, GPUEMU_BLOCK_PAGES);
	got = gpuemu_remote_alloc(block->space, block->slots, todo,
				  GPUEMU_BLOCK_PAGES);
	if (got < want && ret != -ENOMEM)
		ret = -ENOSPC;
	gpuemu_remote_resume(block, todo);
	bitmap_or(block->remote, block->remote, todo, GPUEMU_BLOCK_PAGES);
	f->moved = got;
	cost->map_ns += ktime_get_ns() - t1;
	gpuemu_count(block->space, REMOTE_MAPPED, got);
	gpuemu_count(block->space, REMOTE_MAPS, got);
	trace_gpuemu_migrate(block->space->id, gpuemu_block_addr(block, first), n,
			     GPUEMU_MIGRATE_REMOTE, f->cause, got, ret);
	return ret;
}

/* There is nothing to copy for the engine, so it has no second half. */
static void remote_op_begin(struct gpuemu_flight *f, struct gpuemu_stamps *cost,
			    u32 *lacking)
{
	f->ret = remote_map(f, cost);
}

const struct gpuemu_migrate_ops gpuemu_op_remote = {
	.nr = GPUEMU_MIGRATE_REMOTE,
	.way = GPUEMU_LINK_H2D,
	.begin = remote_op_begin,
	.mirrored = gpuemu_mirror_use,
};
