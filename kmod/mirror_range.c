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
#include "mirror_pages.h"
#include "mirror_range.h"
#include "objects.h"
#include "tlb.h"
#include "va_block.h"
#include "va_space.h"

/*
 * What mm waits for an engine, where a process takes rights from pages on the device. Less
 * than an access of the engine waits for a page of the process, which may need mmap_lock
 * (late_ns()): such an engine acknowledges nothing before.
 */
#define FORGET_MS 50

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

static void hide_page_locked(struct gpuemu_mirror_range *range, u32 i)
{
	struct gpuemu_dev *dev = range->mirror->space->dev;

	gpuemu_pt_clear(&dev->pt, range->block->leaf, i);
	if (!__test_and_clear_bit(i, range->device)) {
		dev->mirror.slot[range->slots[i]].pfn = 0;
		gpuemu_mirror_zap_locked(dev, range->slots[i]);
		gpuemu_count(range->mirror->space, REMOTE_MAPPED, -1);
	}
	__clear_bit(i, range->mapped);
	__clear_bit(i, range->writable);
}

/* The engine reaches none of the pages afterwards. Returns how many it could. */
u32 gpuemu_mirror_range_hide_locked(struct gpuemu_mirror_range *range, u32 first,
				    u32 last)
{
	u32 n = 0, i;

	lockdep_assert_held(&range->mirror->space->dev->mirror.lock);
	bitmap_clear(range->stays, first, last - first + 1);
	for (i = first; i <= last; i++) {
		i = find_next_bit(range->mapped, last + 1, i);
		if (i > last)
			break;
		hide_page_locked(range, i);
		n++;
	}
	return n;
}

/* The same of those that it reaches through slots. */
static void hide_slots_locked(struct gpuemu_mirror_range *range)
{
	u32 i;

	for_each_set_bit(i, range->mapped, GPUEMU_BLOCK_PAGES)
		if (!test_bit(i, range->device))
			hide_page_locked(range, i);
}

/*
 * Whether a late access of the engine would be seen. A frame is the page that the process
 * has afterwards, too: write-protected, or shared with a child. Pages that are freed or move
 * are another matter, and reclaim has none on the device.
 */
static bool must_be_forgotten(const struct mmu_notifier_range *what)
{
	return what->event == MMU_NOTIFY_PROTECTION_VMA ||
	       what->event == MMU_NOTIFY_PROTECTION_PAGE ||
	       what->event == MMU_NOTIFY_SOFT_DIRTY;
}

/*
 * The process' page table is about to change there. Called with locks of mm held, also
 * by reclaim, so it allocates nothing and waits for no client; and for an engine only where
 * the process itself takes rights from pages on the device.
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
	bool device, own;

	if (what->event == MMU_NOTIFY_SOFT_DIRTY)
		WRITE_ONCE(range->mirror->watched, true);
	own = what->event == MMU_NOTIFY_MIGRATE && what->owner == range;
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
	/* A task that has range->looks moves pages: the number still tells of all others. */
	if (!own)
		mmu_interval_set_seq(notifier, seq);
	device = find_next_bit(range->device, last + 1, first) <= last;
	n = gpuemu_mirror_range_hide_locked(range, first, last);
	gpuemu_mirror_zap_end(space->dev);
	if (n)
		gpuemu_tlb_post(space, start, end,
				what->event == MMU_NOTIFY_UNMAP ?
				GPUEMU_INVAL_UNMAP : GPUEMU_INVAL_CPU_FAULT);
	if (device && must_be_forgotten(what) && mmu_notifier_range_blockable(what))
		gpuemu_tlb_flush_for(space->dev, FORGET_MS);
	return true;
}

static const struct mmu_interval_notifier_ops mirror_ops = {
	.invalidate = mirror_invalidate,
};

/* Takes the range's pages from the engine that it has slots for, and gives back the slots. */
static void range_revoke(struct gpuemu_mirror_range *range)
{
	struct gpuemu_space *space = range->mirror->space;
	struct gpuemu_dev *dev = space->dev;
	u32 i;

	lockdep_assert_held(&range->mirror->ranges_lock);
	gpuemu_mirror_zap_begin(dev);
	hide_slots_locked(range);
	gpuemu_mirror_zap_end(dev);
	if (bitmap_empty(range->owned, GPUEMU_BLOCK_PAGES))
		return;
	gpuemu_tlb_invalidate(space, gpuemu_mirror_range_addr(range, 0),
			      gpuemu_mirror_range_addr(range, GPUEMU_BLOCK_PAGES),
			      GPUEMU_INVAL_REMAP, false);
	gpuemu_mirror_zap_begin(dev);
	for_each_set_bit(i, range->owned, GPUEMU_BLOCK_PAGES) {
		/* The engine asked again meanwhile. */
		if (test_bit(i, range->mapped) && !test_bit(i, range->device))
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
	u32 n;

	gpuemu_mirror_zap_begin(mirror->space->dev);
	range->dead = true;
	n = gpuemu_mirror_range_hide_locked(range, 0, GPUEMU_BLOCK_PAGES - 1);
	gpuemu_mirror_zap_end(mirror->space->dev);
	/* mm frees the frames, and waits for nobody. */
	if (n)
		gpuemu_tlb_post(mirror->space, gpuemu_mirror_range_addr(range, 0),
				gpuemu_mirror_range_addr(range, GPUEMU_BLOCK_PAGES),
				GPUEMU_INVAL_UNMAP);
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
	init_rwsem(&range->looks);
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

/* Its entry leads to the frame. */
static void map_frame_locked(struct gpuemu_mirror_range *range, u32 i, u32 frame,
			     bool writable)
{
	struct gpuemu_pt *pt = &range->mirror->space->dev->pt;

	range->frames[i] = frame;
	__set_bit(i, range->device);
	if (writable)
		gpuemu_pt_set(pt, range->block->leaf, i, frame);
	else
		gpuemu_pt_set_read_only(pt, range->block->leaf, i, frame);
}

/* Its entry leads to a slot. False: there is none. */
static bool map_slot_locked(struct gpuemu_mirror_range *range, u32 i,
			    unsigned long pfn)
{
	struct gpuemu_space *space = range->mirror->space;
	struct gpuemu_dev *dev = space->dev;
	struct gpuemu_mirror_slot *slot;

	if (!test_bit(i, range->owned)) {
		if (!gpuemu_mirror_slot_get_locked(space, &range->slots[i]))
			return false;
		__set_bit(i, range->owned);
	}
	slot = &dev->mirror.slot[range->slots[i]];
	/* What it can still have mapped there is nothing, or the same page to be read. */
	if (slot->lost)
		gpuemu_mirror_zap_locked(dev, range->slots[i]);
	*slot = (struct gpuemu_mirror_slot){
		.range = range,
		.index = i,
		.pfn = pfn & ~(HMM_PFN_FLAGS & ~(HMM_PFN_VALID | HMM_PFN_WRITE)),
	};
	gpuemu_pt_set_mirror(&dev->pt, range->block->leaf, i, range->slots[i],
			     pfn & HMM_PFN_WRITE);
	if (!test_bit(i, range->mapped)) {
		gpuemu_count(space, REMOTE_MAPPED, 1);
		gpuemu_count(space, REMOTE_MAPS, 1);
	}
	return true;
}

/*
 * Pages without HMM_PFN_VALID stay as they are. *news: the engine may know an entry that had
 * fewer rights.
 */
int gpuemu_mirror_range_map_locked(struct gpuemu_mirror_range *range, u32 first, u32 n,
				   const unsigned long *pfns, bool *news)
{
	struct gpuemu_dev *dev = range->mirror->space->dev;
	struct page *page;
	u32 i;

	for (i = first; i < first + n; i++, pfns++) {
		if (!(*pfns & HMM_PFN_VALID))
			continue;
		page = hmm_pfn_to_page(*pfns);
		if (gpuemu_mirror_page_is(dev, page))
			map_frame_locked(range, i, gpuemu_mirror_page_frame(dev, page),
					 *pfns & HMM_PFN_WRITE);
		else if (!map_slot_locked(range, i, *pfns))
			return -ENOSPC;
		*news |= __test_and_set_bit(i, range->mapped);
		__assign_bit(i, range->writable, *pfns & HMM_PFN_WRITE);
	}
	return 0;
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

/*
 * The same without mapping them, for a task that comes later and has no time to look: which
 * of them did not go to the device.
 */
int gpuemu_mirror_range_note(struct gpuemu_mirror_range *range, struct hmm_range *found,
			     u32 first, u32 n)
{
	struct gpuemu_dev *dev = range->mirror->space->dev;
	int ret = 0;
	u32 i;

	mutex_lock(&dev->mirror.lock);
	if (mmu_interval_read_retry(&range->notifier, found->notifier_seq)) {
		ret = -EBUSY;
		goto out;
	}
	for (i = 0; i < n; i++)
		if (found->hmm_pfns[i] & HMM_PFN_VALID &&
		    !gpuemu_mirror_page_is(dev, hmm_pfn_to_page(found->hmm_pfns[i])))
			__set_bit(first + i, range->stays);
	WRITE_ONCE(range->seq, found->notifier_seq);
out:
	mutex_unlock(&dev->mirror.lock);
	return ret;
}

/* The frames of pages from *first on, before end, that the engine has mapped. *first: of the next. */
u32 gpuemu_mirror_range_frames(struct gpuemu_mirror_range *range, u32 *first,
			       u32 end, u32 *frames, u32 max)
{
	struct gpuemu_dev *dev = range->mirror->space->dev;
	u32 n = 0, i;

	mutex_lock(&dev->mirror.lock);
	for (i = *first; i < end && n < max; i++) {
		i = find_next_bit(range->device, end, i);
		if (i < end)
			frames[n++] = range->frames[i];
	}
	mutex_unlock(&dev->mirror.lock);
	*first = i;
	return n;
}
