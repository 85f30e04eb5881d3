// SPDX-License-Identifier: GPL-2.0
/*
 * What the engine wants of ordinary memory and the process has already: it is mapped by the
 * thread that wants it, which waits for nobody. The rest the client's worker finds
 * (mirror_find.c).
 */
#include <linux/hmm.h>
#include <linux/hugetlb_inline.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>

#include "client.h"
#include "dev.h"
#include "inject.h"
#include "mirror_find.h"
#include "mirror_move.h"
#include "mirror_pages.h"
#include "mirror_range.h"
#include "tlb.h"
#include "va_space.h"

static bool on_device(const struct gpuemu_dev *dev, unsigned long pfn)
{
	return pfn & HMM_PFN_VALID && gpuemu_mirror_page_is(dev, hmm_pfn_to_page(pfn));
}

/* Whether all are on the device, but for those that the worker has tried. */
static bool placed(const struct gpuemu_mirror_range *range, const struct hmm_range *found, u32 n)
{
	const struct gpuemu_dev *dev = range->mirror->space->dev;
	u32 first = (found->start >> PAGE_SHIFT) % GPUEMU_BLOCK_PAGES, i;

	for (i = 0; i < n; i++)
		if (!on_device(dev, found->hmm_pfns[i]) && !test_bit(first + i, range->stays))
			return false;
	return true;
}

/* Whether the process has all that is wanted of them; the pfns of others become 0. */
static bool suits(const struct gpuemu_mirror_range *range, struct hmm_range *found, u32 n,
		  const struct gpuemu_mirror_want *want)
{
	u32 i;

	if (want->where == GPUEMU_MIRROR_PREFETCH) {
		for (i = 0; i < n; i++)
			if (!on_device(range->mirror->space->dev, found->hmm_pfns[i]))
				found->hmm_pfns[i] = 0;
		return true;
	}
	return gpuemu_mirror_pages_there(found->hmm_pfns, n, want->write) &&
	       (want->where != GPUEMU_MIRROR_DEVICE || placed(range, found, n));
}

/* What the process has there now. */
static bool look(struct hmm_range *found, u32 n)
{
	memset(found->hmm_pfns, 0, n * sizeof(*found->hmm_pfns));
	return !hmm_range_fault(found);
}

/*
 * A look at the process' page table, for which nobody is waited. may_move: the caller has
 * range->looks to write, and pages that are wanted on the device go there.
 */
static bool look_or_move(struct gpuemu_mirror_range *range, struct hmm_range *found, u32 n,
			 const struct gpuemu_mirror_want *want, bool may_move)
{
	struct gpuemu_mirror *mirror = range->mirror;
	struct mm_struct *mm = gpuemu_mirror_client(mirror->space)->mm;
	struct vm_area_struct *vma;
	bool there = false;

	if (!mmget_not_zero(mm))
		return false;
	if (mmap_read_trylock(mm)) {
		vma = vma_lookup(mm, found->start);
		if (vma && found->end <= vma->vm_end && !is_vm_hugetlb_page(vma) &&
		    !gpuemu_mirror_vma_fits(vma, want->write)) {
			if (gpuemu_mirror_vma_moves(mirror, vma) &&
			    want->where != GPUEMU_MIRROR_HOME)
				found->dev_private_owner = mirror->space->dev;
			there = look(found, n);
			if (there && may_move && !placed(range, found, n) &&
			    gpuemu_mirror_move_now(range, vma, found->start, n,
						   found->hmm_pfns))
				there = look(found, n);
			there = there && suits(range, found, n, want);
		}
		mmap_read_unlock(mm);
	}
	mmput_async(mm);
	if (there)
		gpuemu_inject_pause(mirror->space->dev, GPUEMU_INJECT_PAUSE_MIRROR);
	return there;
}

/*
 * Maps what was found, if it still is what it was. A page that did not go to the device is tried
 * again when the engine asks again: what held it may be gone, for example a list of another CPU.
 */
static bool map_found(struct gpuemu_mirror_range *range, const struct hmm_range *found, u32 n,
		      const struct gpuemu_mirror_want *want, bool *news)
{
	u32 first = (found->start >> PAGE_SHIFT) % GPUEMU_BLOCK_PAGES;
	struct gpuemu_dev *dev = range->mirror->space->dev;
	bool done = false;

	spin_lock(&dev->mirror.aperture.lock);
	if (!range->dead && !mmu_interval_read_retry(&range->notifier, found->notifier_seq))
		done = !gpuemu_mirror_range_map_locked(range, first, n, found->hmm_pfns, news);
	if (done && want->where == GPUEMU_MIRROR_DEVICE)
		bitmap_clear(range->stays, first, n);
	spin_unlock(&dev->mirror.aperture.lock);
	return done;
}

/*
 * Maps pages that the process has mapped itself, which are most, and brings those to the
 * device that are to be there. The sequence number is an old one: it still holds if nothing
 * changed since but by such a move, and to get another one is to wait for a change that is
 * going on. False: the worker has to.
 */
static bool fault_some_at_once(struct gpuemu_mirror_range *range, u64 addr, u32 n,
			       const struct gpuemu_mirror_want *want)
{
	unsigned long pfns[GPUEMU_NOW_PAGES];
	struct hmm_range found = {
		.notifier = &range->notifier,
		.start = addr,
		.end = addr + ((u64)n << PAGE_SHIFT),
		.hmm_pfns = pfns,
	};
	bool move = gpuemu_mirror_to_device(want), news = false, done = false;

	found.notifier_seq = READ_ONCE(range->seq);
	if (!found.notifier_seq)
		return false;
	if (move ? !down_write_trylock(&range->looks) : !down_read_trylock(&range->looks))
		return false;
	if (!mmu_interval_check_retry(&range->notifier, found.notifier_seq))
		done = look_or_move(range, &found, n, want, move) &&
		       map_found(range, &found, n, want, &news);
	if (move)
		up_write(&range->looks);
	else
		up_read(&range->looks);
	if (news)
		gpuemu_tlb_post(range->mirror->space, found.start, found.end,
				GPUEMU_INVAL_REMAP);
	return done;
}

/* A few at a time, all of one block. each: where that fails, one by one. */
static bool fault_at_once(struct gpuemu_mirror *mirror,
			  const struct gpuemu_mirror_want *want, bool each)
{
	struct gpuemu_mirror_range *range;
	bool all = true, done;
	u32 i, n, j;
	u64 addr;

	range = gpuemu_mirror_range_find(mirror, want->addr >> GPUEMU_BLOCK_SHIFT);
	if (!range)
		return false;
	for (i = 0; (all || each) && i < want->n; i += n) {
		n = min_t(u32, want->n - i, GPUEMU_NOW_PAGES);
		addr = want->addr + ((u64)i << PAGE_SHIFT);
		done = fault_some_at_once(range, addr, n, want);
		if (done || !each) {
			all &= done;
			continue;
		}
		for (j = 0; j < n; j++)
			all &= fault_some_at_once(range, addr + ((u64)j << PAGE_SHIFT), 1,
						  want);
	}
	gpuemu_mirror_range_put(range);
	return all;
}

/*
 * Whether the worker found no frame for pages there, which may have been long ago. Once: with
 * room made they are tried again.
 */
static bool lacked(struct gpuemu_mirror *mirror, const struct gpuemu_mirror_want *want)
{
	struct gpuemu_mirror_range *range;
	bool lacks = false;

	if (want->where != GPUEMU_MIRROR_DEVICE)
		return false;
	range = gpuemu_mirror_range_find(mirror, want->addr >> GPUEMU_BLOCK_SHIFT);
	if (!range)
		return false;
	spin_lock(&mirror->space->dev->mirror.aperture.lock);
	swap(lacks, range->lacks);
	if (lacks)
		bitmap_clear(range->stays, (want->addr >> PAGE_SHIFT) % GPUEMU_BLOCK_PAGES,
			     want->n);
	spin_unlock(&mirror->space->dev->mirror.aperture.lock);
	gpuemu_mirror_range_put(range);
	return lacks;
}

/* Whether all are on the device, as far as they go there. */
static bool prefetched(struct gpuemu_mirror *mirror, const struct gpuemu_mirror_want *want)
{
	u32 first = (want->addr >> PAGE_SHIFT) % GPUEMU_BLOCK_PAGES, i;
	struct gpuemu_mirror_range *range;
	bool all = true;

	range = gpuemu_mirror_range_find(mirror, want->addr >> GPUEMU_BLOCK_SHIFT);
	if (!range)
		return false;
	spin_lock(&mirror->space->dev->mirror.aperture.lock);
	for (i = first; all && i < first + want->n; i++)
		all = test_bit(i, range->device) || test_bit(i, range->stays);
	spin_unlock(&mirror->space->dev->mirror.aperture.lock);
	gpuemu_mirror_range_put(range);
	return all;
}

/**
 * gpuemu_mirror_fault() - has pages of the process found and mapped for the engine
 * @mirror: of the space; the caller holds its client
 * @want: which, and where
 * @patience_ns: to wait for that at most
 *
 * -EAGAIN: not yet; -EFAULT: the process has no such memory, or not with these rights;
 * -ENXIO: it has, and there is no page; -ENOSPC: no slot, or (DEVICE) no frame for some, which
 * are mapped where they are; -ENOMEM: no memory or table.
 */
int gpuemu_mirror_fault(struct gpuemu_mirror *mirror,
			const struct gpuemu_mirror_want *want, u64 patience_ns)
{
	struct gpuemu_mirror_want here = *want;
	u64 begin = ktime_get_ns();
	int ret;

	if (want->where == GPUEMU_MIRROR_PREFETCH) {
		/* One that nobody waits for is in no hurry, so each is tried. */
		fault_at_once(mirror, want, true);
		if (prefetched(mirror, want))
			return 0;
	} else if (fault_at_once(mirror, want, false)) {
		gpuemu_mirror_answered(mirror, want, begin, patience_ns);
		return lacked(mirror, want) ? -ENOSPC : 0;
	}
	ret = gpuemu_mirror_ask(mirror, want, begin, patience_ns);
	if (!gpuemu_mirror_to_device(want) || ret == -EAGAIN)
		return ret;
	/* Those that are there, also if others are not. */
	if (fault_at_once(mirror, want, true))
		return lacked(mirror, want) ? -ENOSPC : ret;
	if (want->where == GPUEMU_MIRROR_PREFETCH)
		return ret ?: -EAGAIN;
	/* Slots may lack, too; and a process that changes all the time gets on. */
	here.where = GPUEMU_MIRROR_ANYWHERE;
	return gpuemu_mirror_ask(mirror, &here, begin, patience_ns) ?: ret;
}
