// SPDX-License-Identifier: GPL-2.0
/*
 * The mirror's ranges: what the engine has mapped of a VA block of a process, the notifier
 * that takes it away, and the slots that are taken from one range for another. Which pages are
 * there is mirror.c's to find, and it calls this.
 */
#include <linux/hmm.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "client.h"
#include "dev.h"
#include "migrate_steps.h"
#include "mirror_range.h"
#include "objects.h"
#include "tlb.h"
#include "va_block.h"
#include "va_space.h"

static void range_free(struct kref *ref)
{
	struct gpuemu_mirror_range *range =
		container_of(ref, struct gpuemu_mirror_range, ref);

	kfree(range);
	gpuemu_destroyed(ranges);
}

void gpuemu_mirror_range_put(struct gpuemu_mirror_range *range)
{
	kref_put(&range->ref, range_free);
}

/* The engine reaches none of the pages afterwards. Returns how many it could. */
u32 gpuemu_mirror_range_hide_locked(struct gpuemu_mirror_range *range, u32 first,
				    u32 last)
{
	struct gpuemu_space *space = range->mirror->space;
	struct gpuemu_mirror_slots *slots = &space->dev->mirror;
	struct gpuemu_mirror_slot *slot;
	u32 n = 0, i;

	lockdep_assert_held(&slots->lock);
	for (i = first; i <= last; i++) {
		i = find_next_bit(range->mapped, last + 1, i);
		if (i > last)
			break;
		gpuemu_pt_clear(&space->dev->pt, range->block->leaf, i);
		slot = &slots->slot[range->slots[i]];
		slot->pfn = 0;
		gpuemu_mirror_zap_locked(space->dev, range->slots[i]);
		__clear_bit(i, range->mapped);
		__clear_bit(i, range->writable);
		n++;
	}
	if (n)
		gpuemu_count(space, REMOTE_MAPPED, -(u64)n);
	return n;
}

/*
 * The process' page table is about to change there. Called with locks of mm held, also
 * by reclaim, so it allocates nothing and waits for no engine and no client.
 */
static bool mirror_invalidate(struct mmu_interval_notifier *notifier,
			      const struct mmu_notifier_range *what,
			      unsigned long seq)
{
	struct gpuemu_mirror_range *range =
		container_of(notifier, struct gpuemu_mirror_range, notifier);
	struct gpuemu_space *space = range->mirror->space;
	struct gpuemu_mirror_slots *slots = &space->dev->mirror;
	u64 start = max_t(u64, what->start, gpuemu_mirror_range_addr(range, 0));
	u64 end = min_t(u64, what->end, gpuemu_mirror_range_addr(range, GPUEMU_BLOCK_PAGES));
	u32 first = (start >> PAGE_SHIFT) % GPUEMU_BLOCK_PAGES, n;
	u32 last = ((end - 1) >> PAGE_SHIFT) % GPUEMU_BLOCK_PAGES;

	/* The engine's own mapping goes, and this task has the lock. */
	if (READ_ONCE(slots->zapper) == current) {
		mmu_interval_set_seq(notifier, seq);
		return true;
	}
	if (mmu_notifier_range_blockable(what)) {
		gpuemu_mirror_zap_begin(space->dev);
	} else {
		if (!mutex_trylock(&slots->lock))
			return false;
		if (find_next_bit(range->mapped, last + 1, first) <= last) {
			mutex_unlock(&slots->lock);
			return false;
		}
		WRITE_ONCE(slots->zapper, current);
	}
	mmu_interval_set_seq(notifier, seq);
	n = gpuemu_mirror_range_hide_locked(range, first, last);
	gpuemu_mirror_zap_end(space->dev);
	if (n)
		gpuemu_tlb_post(space, start, end,
				what->event == MMU_NOTIFY_UNMAP ?
				GPUEMU_INVAL_UNMAP : GPUEMU_INVAL_CPU_FAULT);
	return true;
}

static const struct mmu_interval_notifier_ops mirror_ops = {
	.invalidate = mirror_invalidate,
};

/* Takes the range's pages from the engine, and gives back its slots. */
static void range_revoke(struct gpuemu_mirror_range *range)
{
	struct gpuemu_space *space = range->mirror->space;
	struct gpuemu_dev *dev = space->dev;
	u32 i;

	lockdep_assert_held(&range->mirror->ranges_lock);
	gpuemu_mirror_zap_begin(dev);
	gpuemu_mirror_range_hide_locked(range, 0, GPUEMU_BLOCK_PAGES - 1);
	gpuemu_mirror_zap_end(dev);
	if (bitmap_empty(range->owned, GPUEMU_BLOCK_PAGES))
		return;
	gpuemu_tlb_invalidate(space, gpuemu_mirror_range_addr(range, 0),
			      gpuemu_mirror_range_addr(range, GPUEMU_BLOCK_PAGES),
			      GPUEMU_INVAL_REMAP, false);
	gpuemu_mirror_zap_begin(dev);
	for_each_set_bit(i, range->owned, GPUEMU_BLOCK_PAGES) {
		/* The engine asked again meanwhile. */
		if (test_bit(i, range->mapped))
			continue;
		gpuemu_mirror_slot_put_locked(space, range->slots[i]);
		__clear_bit(i, range->owned);
	}
	gpuemu_mirror_zap_end(dev);
}

/* The end of a range that is in the mirror. */
void gpuemu_mirror_range_remove(struct gpuemu_mirror_range *range)
{
	struct gpuemu_mirror *mirror = range->mirror;

	mutex_lock(&mirror->space->dev->mirror.lock);
	range->dead = true;
	mutex_unlock(&mirror->space->dev->mirror.lock);
	range_revoke(range);
	xa_erase(&mirror->ranges, range->index);
	mmu_interval_notifier_remove(&range->notifier);
	gpuemu_block_unmirror(range->block);
	gpuemu_mirror_range_put(range);
}

/* The VA block's leaf table, for as long as the range is there. */
static int range_attach(struct gpuemu_mirror_range *range)
{
	struct gpuemu_space *space = range->mirror->space;
	struct gpuemu_block *block;
	int ret;

	for (;;) {
		block = gpuemu_space_block_create(space, range->index,
						  GFP_KERNEL_ACCOUNT);
		if (IS_ERR(block))
			return PTR_ERR(block);
		mutex_lock(&block->lock);
		if (!block->dead)
			break;
		mutex_unlock(&block->lock);
		gpuemu_block_put(block);
	}
	ret = gpuemu_migrate_leaf(block);
	block->mirrored = !ret;
	if (ret)
		gpuemu_block_retire_unmanaged(block);
	mutex_unlock(&block->lock);
	range->block = block;
	if (ret)
		gpuemu_block_put(block);
	return ret;
}

/* Without tables the ranges with nothing mapped go, and then all. */
static int range_attach_somehow(struct gpuemu_mirror_range *range)
{
	struct gpuemu_mirror *mirror = range->mirror;
	struct gpuemu_mirror_range *other;
	unsigned long index;
	int ret, all;

	ret = range_attach(range);
	for (all = 0; ret == -ENOMEM && all < 2; all++) {
		xa_for_each(&mirror->ranges, index, other)
			if (all || bitmap_empty(other->mapped, GPUEMU_BLOCK_PAGES))
				gpuemu_mirror_range_remove(other);
		ret = range_attach(range);
	}
	return ret;
}

struct gpuemu_mirror_range *gpuemu_mirror_range_find(struct gpuemu_mirror *mirror,
						     u64 index)
{
	struct gpuemu_mirror_range *range;

	xa_lock(&mirror->ranges);
	range = xa_load(&mirror->ranges, index);
	if (range)
		kref_get(&range->ref);
	xa_unlock(&mirror->ranges);
	return range;
}

/* A new one, referenced; the worker's. The caller has a user of mm. */
struct gpuemu_mirror_range *gpuemu_mirror_range_make(struct gpuemu_mirror *mirror,
						     u64 index)
{
	struct mm_struct *mm = gpuemu_mirror_client(mirror->space)->mm;
	struct gpuemu_mirror_range *range;
	int ret;

	range = kzalloc(sizeof(*range), GFP_KERNEL_ACCOUNT);
	if (!range)
		return ERR_PTR(-ENOMEM);
	gpuemu_created(ranges);
	kref_init(&range->ref);
	range->mirror = mirror;
	range->index = index;
	ret = mmu_interval_notifier_insert(&range->notifier, mm,
					   index << GPUEMU_BLOCK_SHIFT,
					   1ul << GPUEMU_BLOCK_SHIFT,
					   &mirror_ops);
	if (ret)
		goto out_range;
	mutex_lock(&mirror->ranges_lock);
	ret = READ_ONCE(mirror->closed) ? -EFAULT : range_attach_somehow(range);
	if (ret)
		goto out_notifier;
	ret = xa_err(xa_store(&mirror->ranges, index, range,
			      GFP_KERNEL_ACCOUNT));
	if (ret)
		goto out_block;
	kref_get(&range->ref);
	mutex_unlock(&mirror->ranges_lock);
	return range;

out_block:
	gpuemu_block_unmirror(range->block);
out_notifier:
	mutex_unlock(&mirror->ranges_lock);
	mmu_interval_notifier_remove(&range->notifier);
out_range:
	gpuemu_mirror_range_put(range);
	return ERR_PTR(ret);
}

/* *news: the engine may know an entry that had fewer rights. */
int gpuemu_mirror_range_map_locked(struct gpuemu_mirror_range *range, u32 first, u32 n,
				   const unsigned long *pfns, bool *news)
{
	struct gpuemu_mirror *mirror = range->mirror;
	struct gpuemu_dev *dev = mirror->space->dev;
	struct gpuemu_mirror_slot *slot;
	u32 i, mapped = 0;
	bool writable;
	int ret = 0;

	for (i = first; i < first + n; i++, pfns++) {
		if (!test_bit(i, range->owned)) {
			if (!gpuemu_mirror_slot_get_locked(mirror->space,
							   &range->slots[i])) {
				ret = -ENOSPC;
				break;
			}
			__set_bit(i, range->owned);
		}
		writable = *pfns & HMM_PFN_WRITE;
		slot = &dev->mirror.slot[range->slots[i]];
		/* What it can still have mapped there is nothing, or the same page to be read. */
		if (slot->lost)
			gpuemu_mirror_zap_locked(dev, range->slots[i]);
		*slot = (struct gpuemu_mirror_slot){
			.range = range,
			.index = i,
			.pfn = *pfns & ~(HMM_PFN_FLAGS & ~(HMM_PFN_VALID | HMM_PFN_WRITE)),
		};
		gpuemu_pt_set_mirror(&dev->pt, range->block->leaf, i,
				     range->slots[i], writable);
		if (__test_and_set_bit(i, range->mapped))
			*news = true;
		else
			mapped++;
		__assign_bit(i, range->writable, writable);
	}
	if (mapped) {
		gpuemu_count(mirror->space, REMOTE_MAPPED, mapped);
		gpuemu_count(mirror->space, REMOTE_MAPS, mapped);
	}
	return ret;
}

/* Takes the slots of another range, in turns; if there is none, its own, once. */
static bool make_slots(struct gpuemu_mirror_range *range, bool *own)
{
	struct gpuemu_mirror *mirror = range->mirror;
	struct gpuemu_mirror_range *other;
	unsigned long tries;

	for (tries = 0; tries < 2; tries++) {
		other = xa_find(&mirror->ranges, &mirror->next, ULONG_MAX,
				XA_PRESENT);
		for (; other; other = xa_find_after(&mirror->ranges, &mirror->next,
						    ULONG_MAX, XA_PRESENT)) {
			if (other == range ||
			    bitmap_empty(other->owned, GPUEMU_BLOCK_PAGES))
				continue;
			range_revoke(other);
			mirror->next++;
			return true;
		}
		mirror->next = 0;
	}
	if (*own || bitmap_empty(range->owned, GPUEMU_BLOCK_PAGES))
		return false;
	*own = true;
	range_revoke(range);
	return true;
}

/* The pages that were found, if they still are what they were. -EBUSY: they are not. */
int gpuemu_mirror_range_map(struct gpuemu_mirror_range *range, struct hmm_range *found,
			    u32 first, u32 n)
{
	struct gpuemu_mirror *mirror = range->mirror;
	struct gpuemu_dev *dev = mirror->space->dev;
	bool own = false, news = false;
	int ret;

	mutex_lock(&mirror->ranges_lock);
	do {
		gpuemu_mirror_zap_begin(dev);
		if (READ_ONCE(mirror->closed) || range->dead)
			ret = -EFAULT;
		else if (mmu_interval_read_retry(&range->notifier,
						 found->notifier_seq))
			ret = -EBUSY;
		else
			ret = gpuemu_mirror_range_map_locked(range, first, n, found->hmm_pfns,
							     &news);
		if (!ret)
			WRITE_ONCE(range->seq, found->notifier_seq);
		gpuemu_mirror_zap_end(dev);
	} while (ret == -ENOSPC && make_slots(range, &own));
	mutex_unlock(&mirror->ranges_lock);
	if (news)
		gpuemu_tlb_post(mirror->space, gpuemu_mirror_range_addr(range, first),
				gpuemu_mirror_range_addr(range, first + n),
				GPUEMU_INVAL_REMAP);
	return ret;
}
