// SPDX-License-Identifier: GPL-2.0
/*
 * How the mirror takes pages of a process from the engine: the notifier, by which mm tells of
 * a change; a range that gives back its slots; and a range's end. Called by mm, mirror.c and
 * mirror_range.c.
 *
 * A task clears the engine's entries under the lock of the aperture. Then it unmaps the slots
 * without that lock, because it may be put off for as long as others want its CPU, and all
 * COMMITs need the lock. Meanwhile the pages are marked (leaving). A second task that takes
 * such a page away does not wait for the first one: it unmaps the slot, too.
 */
#include <linux/mm.h>
#include <linux/slab.h>

#include "client.h"
#include "dev.h"
#include "mirror_range.h"
#include "tlb.h"
#include "va_block.h"
#include "va_space.h"

/*
 * What mm waits for an engine, where a process takes rights from pages on the device. Less
 * than an access of the engine waits for a page of the process, which may need mmap_lock
 * (late_ns()): such an engine acknowledges nothing before.
 */
#define FORGET_MS 50

static struct gpuemu_mirror_slots *slots_of(const struct gpuemu_mirror_range *range)
{
	return &range->mirror->space->dev->mirror;
}

static void hide_page_locked(struct gpuemu_mirror_range *range, u32 i)
{
	struct gpuemu_dev *dev = range->mirror->space->dev;
	struct gpuemu_mirror_slot *slot = test_bit(i, range->owned) ?
					  &dev->mirror.slot[range->slots[i]] : NULL;

	gpuemu_pt_clear(&dev->pt, range->block->leaf, i);
	if (!__test_and_clear_bit(i, range->device)) {
		slot->pfn = 0;
		__set_bit(i, range->leaving);
		gpuemu_count(range->mirror->space, REMOTE_MAPPED, -1);
	} else if (slot && slot->framed) {
		slot->framed = false;
		__set_bit(i, range->leaving);
	}
	__clear_bit(i, range->mapped);
	__clear_bit(i, range->writable);
}

/*
 * Takes pages away from the engine. *n: how many it could reach. True: it may have some mapped
 * still, behind their slots; the caller lets the lock go and calls unmap(). That includes what
 * another task unmaps, because that task may be put off.
 */
static bool hide_locked(struct gpuemu_mirror_range *range, u32 first, u32 last, u32 *n)
{
	u32 i;

	lockdep_assert_held(&slots_of(range)->aperture.lock);
	*n = 0;
	bitmap_clear(range->stays, first, last - first + 1);
	for (i = first; i <= last; i++) {
		i = find_next_bit(range->mapped, last + 1, i);
		if (i > last)
			break;
		hide_page_locked(range, i);
		++*n;
	}
	if (find_next_bit(range->leaving, last + 1, first) > last)
		return false;
	WRITE_ONCE(range->leavers, range->leavers + 1);
	return true;
}

/*
 * The engine has nothing mapped afterwards that was leaving the pages. A page that comes again
 * meanwhile is unmapped once more than it had to be.
 */
static void unmap(struct gpuemu_mirror_range *range, u32 first, u32 last)
{
	struct gpuemu_mirror_slots *slots = slots_of(range);
	DECLARE_BITMAP(mask, GPUEMU_BLOCK_PAGES) = { };

	bitmap_set(mask, first, last - first + 1);
	spin_lock(&slots->aperture.lock);
	bitmap_and(mask, mask, range->leaving, GPUEMU_BLOCK_PAGES);
	spin_unlock(&slots->aperture.lock);
	gpuemu_aperture_unmap(range->mirror->space->dev, &slots->aperture, range->slots, mask,
			      GPUEMU_BLOCK_PAGES);
	spin_lock(&slots->aperture.lock);
	WRITE_ONCE(range->leavers, range->leavers - 1);
	if (!range->leavers)
		bitmap_zero(range->leaving, GPUEMU_BLOCK_PAGES);
	spin_unlock(&slots->aperture.lock);
	wake_up_all(&slots->aperture.inserted);
}

/*
 * Tells the engine of n pages that were just hidden, before the lock is free. Otherwise a second
 * task could find them hidden and post nothing. mm would then free their frames, and page_free()
 * would mark these with an invalidate from before this one.
 */
static void post_locked(struct gpuemu_mirror_range *range, u64 start, u64 end, u32 n,
			enum gpuemu_inval_reason reason)
{
	lockdep_assert_held(&slots_of(range)->aperture.lock);
	if (n)
		gpuemu_tlb_post(range->mirror->space, start, end, reason);
}

/* The engine reaches none of the pages afterwards, and is told so. */
void gpuemu_mirror_range_hide(struct gpuemu_mirror_range *range, u32 first, u32 last)
{
	bool left;
	u32 n;

	spin_lock(&slots_of(range)->aperture.lock);
	left = hide_locked(range, first, last, &n);
	post_locked(range, gpuemu_mirror_range_addr(range, first),
		    gpuemu_mirror_range_addr(range, last + 1), n, GPUEMU_INVAL_EVICT);
	spin_unlock(&slots_of(range)->aperture.lock);
	if (left)
		unmap(range, first, last);
}

/* The same of those that it reaches through slots. */
static void hide_slots(struct gpuemu_mirror_range *range)
{
	const u32 last = GPUEMU_BLOCK_PAGES - 1;
	bool left;
	u32 i;

	spin_lock(&slots_of(range)->aperture.lock);
	for_each_set_bit(i, range->mapped, GPUEMU_BLOCK_PAGES)
		if (!test_bit(i, range->device))
			hide_page_locked(range, i);
	left = !bitmap_empty(range->leaving, GPUEMU_BLOCK_PAGES);
	WRITE_ONCE(range->leavers, range->leavers + left);
	spin_unlock(&slots_of(range)->aperture.lock);
	if (left)
		unmap(range, 0, last);
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
 * a fault of it maps one of the pages now, or the process itself takes rights from pages on
 * the device.
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
	bool device, own, left;

	if (what->event == MMU_NOTIFY_SOFT_DIRTY)
		WRITE_ONCE(range->mirror->watched, true);
	own = what->event == MMU_NOTIFY_MIGRATE && what->owner == range;
	spin_lock(&slots->aperture.lock);
	if (!mmu_notifier_range_blockable(what) &&
	    (find_next_bit(range->mapped, last + 1, first) <= last ||
	     find_next_bit(range->leaving, last + 1, first) <= last)) {
		spin_unlock(&slots->aperture.lock);
		return false;
	}
	/* A task that has range->looks moves pages: the number still tells of all others. */
	if (!own)
		mmu_interval_set_seq(notifier, seq);
	device = find_next_bit(range->device, last + 1, first) <= last;
	left = hide_locked(range, first, last, &n);
	post_locked(range, start, end, n, what->event == MMU_NOTIFY_UNMAP ?
		    GPUEMU_INVAL_UNMAP : GPUEMU_INVAL_CPU_FAULT);
	spin_unlock(&slots->aperture.lock);
	if (left)
		unmap(range, first, last);
	if (device && must_be_forgotten(what) && mmu_notifier_range_blockable(what))
		gpuemu_tlb_flush_for(space->dev, FORGET_MS);
	return true;
}

const struct mmu_interval_notifier_ops gpuemu_mirror_range_ops = {
	.invalidate = mirror_invalidate,
};

/*
 * Slots that the engine has forgotten are nobody's. If it has the page of nobody or a frame
 * mapped there, that is unmapped.
 */
static void give_slots(struct gpuemu_mirror_range *range)
{
	struct gpuemu_mirror *mirror = range->mirror;
	struct gpuemu_mirror_slots *slots = slots_of(range);
	DECLARE_BITMAP(given, GPUEMU_BLOCK_PAGES) = { };
	DECLARE_BITMAP(used, GPUEMU_BLOCK_PAGES) = { };
	struct gpuemu_mirror_slot *slot;
	u32 i;

	spin_lock(&slots->aperture.lock);
	while (range->leavers) {
		spin_unlock(&slots->aperture.lock);
		/* Tasks of the same process unmap some, or the engine's. */
		wait_event(slots->aperture.inserted, !READ_ONCE(range->leavers));
		spin_lock(&slots->aperture.lock);
	}
	for_each_set_bit(i, range->owned, GPUEMU_BLOCK_PAGES) {
		/* The engine asked again meanwhile. */
		if (test_bit(i, range->mapped) && !test_bit(i, range->device))
			continue;
		mirror->given[i] = range->slots[i];
		slot = &slots->slot[mirror->given[i]];
		__set_bit(i, given);
		__assign_bit(i, used, slot->lost || slot->framed);
		*slot = (struct gpuemu_mirror_slot){ };
		__clear_bit(i, range->owned);
	}
	spin_unlock(&slots->aperture.lock);
	if (!bitmap_empty(used, GPUEMU_BLOCK_PAGES))
		gpuemu_aperture_unmap(mirror->space->dev, &slots->aperture, mirror->given, used,
				      GPUEMU_BLOCK_PAGES);
	spin_lock(&slots->aperture.lock);
	for_each_set_bit(i, given, GPUEMU_BLOCK_PAGES)
		gpuemu_mirror_slot_put_locked(mirror->space, mirror->given[i]);
	spin_unlock(&slots->aperture.lock);
}

/* Takes the range's pages from the engine that it has slots for, and gives back the slots. */
void gpuemu_mirror_range_revoke(struct gpuemu_mirror_range *range)
{
	struct gpuemu_space *space = range->mirror->space;

	lockdep_assert_held(&range->mirror->ranges_lock);
	hide_slots(range);
	if (bitmap_empty(range->owned, GPUEMU_BLOCK_PAGES))
		return;
	gpuemu_tlb_invalidate(space, gpuemu_mirror_range_addr(range, 0),
			      gpuemu_mirror_range_addr(range, GPUEMU_BLOCK_PAGES),
			      GPUEMU_INVAL_REMAP, false);
	give_slots(range);
}

/* The end of a range that is in the mirror. */
void gpuemu_mirror_range_remove(struct gpuemu_mirror_range *range)
{
	struct gpuemu_mirror *mirror = range->mirror;
	bool left;
	u32 n;

	spin_lock(&slots_of(range)->aperture.lock);
	range->dead = true;
	left = hide_locked(range, 0, GPUEMU_BLOCK_PAGES - 1, &n);
	/* mm frees the frames, and waits for nobody. */
	post_locked(range, gpuemu_mirror_range_addr(range, 0),
		    gpuemu_mirror_range_addr(range, GPUEMU_BLOCK_PAGES), n, GPUEMU_INVAL_UNMAP);
	spin_unlock(&slots_of(range)->aperture.lock);
	if (left)
		unmap(range, 0, GPUEMU_BLOCK_PAGES - 1);
	gpuemu_mirror_range_revoke(range);
	xa_erase(&mirror->ranges, range->index);
	mmu_interval_notifier_remove(&range->notifier);
	gpuemu_block_unmirror(range->block);
	gpuemu_mirror_range_put(range);
}

/* The engine loses the page of nobody where it has that. */
void gpuemu_mirror_range_find_lost(struct gpuemu_mirror_range *range, u32 first, u32 n)
{
	struct gpuemu_mirror_slots *slots = slots_of(range);
	struct gpuemu_mirror_slot *slot;
	bool left = false;
	u32 i;

	spin_lock(&slots->aperture.lock);
	for (i = first; i < first + n; i++) {
		if (!test_bit(i, range->owned))
			continue;
		slot = &slots->slot[range->slots[i]];
		if (!slot->lost)
			continue;
		slot->lost = false;
		__set_bit(i, range->leaving);
		left = true;
	}
	WRITE_ONCE(range->leavers, range->leavers + left);
	spin_unlock(&slots->aperture.lock);
	if (left)
		unmap(range, first, first + n - 1);
}
