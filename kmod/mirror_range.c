// SPDX-License-Identifier: GPL-2.0
/*
 * The mirror's ranges: what the engine has mapped of a VA block of a process, and the slots
 * that are taken from one range for another. Which pages are there is mirror.c's to find, and it
 * calls this. How pages are taken away is mirror_hide.c's.
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
					   &gpuemu_mirror_range_ops);
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

/* Its entry leads to a slot. -ENOSPC: there is none; -EBUSY: the page of nobody is there. */
static int map_slot_locked(struct gpuemu_mirror_range *range, u32 i,
			   unsigned long pfn)
{
	struct gpuemu_space *space = range->mirror->space;
	struct gpuemu_dev *dev = space->dev;
	struct gpuemu_mirror_slot *slot;

	if (!test_bit(i, range->owned)) {
		if (!gpuemu_mirror_slot_get_locked(space, &range->slots[i]))
			return -ENOSPC;
		__set_bit(i, range->owned);
	}
	slot = &dev->mirror.slot[range->slots[i]];
	if (slot->lost)
		return -EBUSY;
	/* What it can still have mapped there is nothing, or the same page to be read. */
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
	return 0;
}

/*
 * The frame of page i of a block. Of a huge page Linux 7.3 gives the first frame's number for the
 * page where the search began, wherever that is in the huge page.
 */
static u32 frame_of(const struct gpuemu_dev *dev, unsigned long pfn, u32 i)
{
	u32 frame = gpuemu_mirror_page_frame(dev, hmm_pfn_to_page(pfn));

	if (hmm_pfn_to_map_order(pfn) < HPAGE_PMD_ORDER)
		return frame;
	return rounddown(frame, GPUEMU_VRAM_RUN) + i;
}

/*
 * Pages without HMM_PFN_VALID stay as they are. *news: the engine may know an entry that had
 * fewer rights.
 */
int gpuemu_mirror_range_map_locked(struct gpuemu_mirror_range *range, u32 first, u32 n,
				   const unsigned long *pfns, bool *news)
{
	struct gpuemu_dev *dev = range->mirror->space->dev;
	int ret;
	u32 i;

	for (i = first; i < first + n; i++, pfns++) {
		if (!(*pfns & HMM_PFN_VALID))
			continue;
		ret = 0;
		if (gpuemu_mirror_page_is(dev, hmm_pfn_to_page(*pfns)))
			map_frame_locked(range, i, frame_of(dev, *pfns, i), *pfns & HMM_PFN_WRITE);
		else
			ret = map_slot_locked(range, i, *pfns);
		if (ret)
			return ret;
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
			gpuemu_mirror_range_revoke(other);
			mirror->next++;
			return true;
		}
		mirror->next = 0;
	}
	if (*own || bitmap_empty(range->owned, GPUEMU_BLOCK_PAGES))
		return false;
	*own = true;
	gpuemu_mirror_range_revoke(range);
	return true;
}

/* The pages that were found, if they still are what they were. -EBUSY: they are not. */
int gpuemu_mirror_range_map(struct gpuemu_mirror_range *range, struct hmm_range *found,
			    u32 first, u32 n)
{
	struct gpuemu_mirror *mirror = range->mirror;
	struct gpuemu_mirror_slots *slots = &mirror->space->dev->mirror;
	bool own = false, news = false;
	int ret;

	mutex_lock(&mirror->ranges_lock);
	do {
		gpuemu_mirror_range_find_lost(range, first, n);
		spin_lock(&slots->aperture.lock);
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
		spin_unlock(&slots->aperture.lock);
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

	spin_lock(&dev->mirror.aperture.lock);
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
	spin_unlock(&dev->mirror.aperture.lock);
	return ret;
}

/* The frames of pages from *first on, before end, that the engine has mapped. *first: of the next. */
u32 gpuemu_mirror_range_frames(struct gpuemu_mirror_range *range, u32 *first,
			       u32 end, u32 *frames, u32 max)
{
	struct gpuemu_dev *dev = range->mirror->space->dev;
	u32 n = 0, i;

	spin_lock(&dev->mirror.aperture.lock);
	for (i = *first; i < end && n < max; i++) {
		i = find_next_bit(range->device, end, i);
		if (i < end)
			frames[n++] = range->frames[i];
	}
	spin_unlock(&dev->mirror.aperture.lock);
	*first = i;
	return n;
}
