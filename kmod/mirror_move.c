// SPDX-License-Identifier: GPL-2.0
/*
 * Pages of ordinary memory move to device memory, where the engine asks for it. mirror_home.c
 * sends them home. The kernel takes the pages out of all page tables and puts them back
 * (migrate_vma_*, migrate_device_*); what happens in between is in these two files. The kernel
 * tells the mirror of both, as of any change in a process, so no entry of the engine outlives
 * a move. What the engine may have afterwards mirror.c gives it, which looks where the page is.
 *
 *   to the device                          home
 *   migrate_vma_setup(): not mapped        migrate_*_setup: not mapped
 *   frames; copy                           system pages
 *                                          the engine has forgotten the frames; copy
 *   migrate_vma_pages(), _finalize()       migrate_*_pages(), _finalize()
 *
 * The page keeps its charge: its memory cgroup, and its process' RSS. So going home needs
 * memory of the machine alone, and no client keeps frames because its memory cgroup is full.
 */
#include <linux/bitmap.h>
#include <linux/fs.h>
#include <linux/highmem.h>
#include <linux/hmm.h>
#include <linux/hugetlb_inline.h>
#include <linux/ktime.h>
#include <linux/migrate.h>
#include <linux/mm.h>
#include <linux/rmap.h>
#include <linux/userfaultfd_k.h>

#include "dev.h"
#include "migrate.h"
#include "mirror.h"
#include "mirror_find.h"
#include "mirror_huge.h"
#include "mirror_move.h"
#include "mirror_pages.h"
#include "mirror_range.h"
#include "va_space.h"

/*
 * Whether pages of the mapping move: its anonymous ones, of this process alone. Where
 * somebody wants to hear of each access (userfaultfd, soft-dirty) or have the page in
 * memory (mlock()), they stay.
 */
bool gpuemu_mirror_vma_moves(const struct gpuemu_mirror *mirror,
			     const struct vm_area_struct *vma)
{
	if (vma->vm_flags & (VM_SHARED | VM_LOCKED | VM_HUGETLB | VM_SPECIAL))
		return false;
	if (userfaultfd_armed((struct vm_area_struct *)vma) || vma_is_dax(vma))
		return false;
	if (!IS_ENABLED(CONFIG_MEM_SOFT_DIRTY) || vma->vm_flags & VM_SOFTDIRTY)
		return true;
	/* A stack never has the flag, so there the process must have been seen to look. */
	return vma->vm_flags & VM_GROWSDOWN && !READ_ONCE(mirror->watched);
}

/* The pages of the mask have no page table entry, and get their copies. */
static void copy_to_device(struct gpuemu_mirror *mirror, unsigned long *mask,
			   const u32 *frames, const unsigned long *src,
			   unsigned long *dst)
{
	struct gpuemu_dev *dev = mirror->space->dev;
	struct page *from, *to;
	void *system;
	u32 i;

	for_each_set_bit(i, mask, GPUEMU_BLOCK_PAGES) {
		to = gpuemu_mirror_page_get(mirror, frames[i]);
		if (!to)
			continue;
		__clear_bit(i, mask);
		from = migrate_pfn_to_page(src[i]);
		if (from) {
			system = kmap_local_page(from);
			copy_page(gpuemu_mirror_page_addr(dev, to), system);
			kunmap_local(system);
		} else {
			clear_page(gpuemu_mirror_page_addr(dev, to));
		}
		dst[i] = migrate_pfn(page_to_pfn(to));
	}
}

/*
 * What a move takes.
 * @owner: by this, which mm hands to the mirror, the mirror knows the move as its own
 * @src: see migrate_vma_setup(), like @dst
 * @frames: a place for each page
 */
struct move_room {
	void *owner;
	unsigned long *src, *dst;
	u32 *frames;
};

/* Pages of one mapping. fresh: also those that nobody has touched. Returns how many moved. */
static u32 move_run(struct gpuemu_mirror *mirror, const struct move_room *room,
		    struct vm_area_struct *vma, u64 start, u32 n, bool fresh, u32 *lacking)
{
	struct gpuemu_space *space = mirror->space;
	DECLARE_BITMAP(mask, GPUEMU_BLOCK_PAGES) = { };
	unsigned long *src = room->src, *dst = room->dst;
	struct migrate_vma args = {
		.vma = vma,
		.src = src,
		.dst = dst,
		.start = start,
		.end = start + ((u64)n << PAGE_SHIFT),
		.pgmap_owner = room->owner,
		.flags = MIGRATE_VMA_SELECT_SYSTEM,
	};
	u32 moved = 0, copied = 0, i;

	if (migrate_vma_setup(&args) || !args.cpages)
		return 0;
	for (i = 0; i < n; i++)
		if (src[i] & MIGRATE_PFN_MIGRATE &&
		    (fresh || src[i] & MIGRATE_PFN_VALID))
			__set_bit(i, mask);
	*lacking += gpuemu_migrate_frames(space, room->frames, mask);
	copy_to_device(mirror, mask, room->frames, src, dst);
	/* Those that became no page: the client leaves. */
	gpuemu_migrate_no_frames(space, room->frames, mask);
	migrate_vma_pages(&args);
	for (i = 0; i < n; i++) {
		if (!dst[i] || !(src[i] & MIGRATE_PFN_MIGRATE))
			continue;
		moved++;
		copied += !!(src[i] & MIGRATE_PFN_VALID);
	}
	migrate_vma_finalize(&args);
	gpuemu_count(space, H2D_PAGES, moved);
	gpuemu_count(space, H2D_BYTES, (u64)copied << PAGE_SHIFT);
	return moved;
}

/*
 * The same of a private mapping of a file, whose own pages are anonymous: those are found
 * first, because taking a page of the file out of page tables concerns all that have it.
 */
static u32 move_own(struct gpuemu_mirror_range *range, const struct move_room *room,
		    struct vm_area_struct *vma, u64 start, u32 n, bool write, u32 *lacking)
{
	unsigned long *pfns = range->mirror->pfns;
	struct hmm_range found = {
		.notifier = &range->notifier,
		.start = start,
		.end = start + ((u64)n << PAGE_SHIFT),
		.hmm_pfns = pfns,
		.default_flags = HMM_PFN_REQ_FAULT | (write ? HMM_PFN_REQ_WRITE : 0),
		.dev_private_owner = range->mirror->space->dev,
	};
	DECLARE_BITMAP(own, GPUEMU_BLOCK_PAGES) = { };
	u32 moved = 0, i, end;

	memset(pfns, 0, n * sizeof(*pfns));
	found.notifier_seq = mmu_interval_read_begin(&range->notifier);
	if (hmm_range_fault(&found))
		return 0;
	for (i = 0; i < n; i++)
		if (pfns[i] & HMM_PFN_VALID && PageAnon(hmm_pfn_to_page(pfns[i])))
			__set_bit(i, own);
	for_each_set_bitrange(i, end, own, GPUEMU_BLOCK_PAGES)
		moved += move_run(range->mirror, room, vma,
				  start + ((u64)i << PAGE_SHIFT), end - i, false,
				  lacking);
	return moved;
}

/**
 * gpuemu_mirror_move() - brings pages to the device, as far as they let themselves be moved
 * @range: of the pages; the caller is its worker
 * @mm: of the process; its mmap_lock is held
 * @first: of the pages in the range
 * @n: how many
 * @write: they are to be written
 * @fresh: also those that nobody has touched, which then are there and zero
 * @lacking: out: how many found no frame
 *
 * Returns how many moved.
 */
u32 gpuemu_mirror_move(struct gpuemu_mirror_range *range, struct mm_struct *mm,
		       u32 first, u32 n, bool write, bool fresh, u32 *lacking)
{
	u64 addr = gpuemu_mirror_range_addr(range, first), next;
	u64 end = addr + ((u64)n << PAGE_SHIFT), begin = ktime_get_ns();
	struct gpuemu_mirror *mirror = range->mirror;
	const struct move_room room = {
		.owner = mirror->space->dev,
		.src = mirror->src,
		.dst = mirror->dst,
		.frames = mirror->frames,
	};
	struct vm_area_struct *vma;
	u32 moved = 0;

	*lacking = 0;
	lockdep_assert_held(&mm->mmap_lock);
	for (; addr < end; addr = next) {
		vma = vma_lookup(mm, addr);
		if (!vma)
			break;
		next = min_t(u64, end, vma->vm_end);
		n = (next - addr) >> PAGE_SHIFT;
		/* Where nobody may touch anything there is nothing, and nothing is made. */
		if (gpuemu_mirror_vma_fits(vma, write) || !gpuemu_mirror_vma_moves(mirror, vma))
			continue;
		if (n == GPUEMU_BLOCK_PAGES && vma_is_anonymous(vma) &&
		    gpuemu_mirror_huge_move(range, vma, addr, &moved, lacking))
			continue;
		if (vma_is_anonymous(vma))
			moved += move_run(mirror, &room, vma, addr, n, fresh, lacking);
		else
			moved += move_own(range, &room, vma, addr, n, write, lacking);
	}
	gpuemu_link_pace(mirror->space, GPUEMU_LINK_H2D, begin, (u64)moved << PAGE_SHIFT,
			 &mirror->closed);
	return moved;
}

/*
 * Whether no other process has pages of the mapping, and none had when it last looked: mm
 * walks all of them for each page that moves. Nor may it come from a parent, whose lock is also
 * this one's. A hint, as long as the process forks.
 */
static bool alone(const struct vm_area_struct *vma)
{
	const struct anon_vma *anon_vma = vma->anon_vma;

	return anon_vma && anon_vma->root == anon_vma && READ_ONCE(anon_vma->num_children) <= 1;
}

/* Whether to move the page mm waits for nobody, as far as can be seen without holding it. */
static bool page_is_easy(const struct gpuemu_dev *dev, unsigned long pfn)
{
	struct page *page;

	if (!(pfn & HMM_PFN_VALID))
		return false;
	page = hmm_pfn_to_page(pfn);
	if (gpuemu_mirror_page_is(dev, page))
		return true;
	/* One that the process may write it has for itself. One that is in no list waits for all CPUs. */
	return pfn & HMM_PFN_WRITE && PageAnon(page) && !PageCompound(page) && PageLRU(page);
}

/**
 * gpuemu_mirror_move_now() - the same for the engine's thread, which waits for nobody
 * @range: of the pages; the caller has its looks, to write
 * @vma: of the pages; its mmap_lock is held
 * @addr: of the first
 * @n: how many, at most GPUEMU_NOW_PAGES
 * @pfns: what hmm_range_fault() says of them
 *
 * Only pages that the process has for itself, and has touched: they take no memory, so nobody
 * reclaims. Not of a private mapping of a file: the process may put the file's page there
 * meanwhile, and mm would look for all that have it. False: none has moved.
 */
bool gpuemu_mirror_move_now(struct gpuemu_mirror_range *range, struct vm_area_struct *vma,
			    u64 addr, u32 n, const unsigned long *pfns)
{
	unsigned long src[GPUEMU_NOW_PAGES], dst[GPUEMU_NOW_PAGES];
	struct gpuemu_mirror *mirror = range->mirror;
	struct gpuemu_dev *dev = mirror->space->dev;
	u32 frames[GPUEMU_NOW_PAGES], lacking = 0, i, moved;
	u64 begin = ktime_get_ns();
	const struct move_room room = {
		.owner = range,
		.src = src,
		.dst = dst,
		.frames = frames,
	};

	if (!vma_is_anonymous(vma) || !gpuemu_mirror_vma_moves(mirror, vma) || !alone(vma) ||
	    gpuemu_vram_nfree(&dev->vram) < n)
		return false;
	for (i = 0; i < n; i++)
		if (!page_is_easy(dev, pfns[i]))
			return false;
	moved = move_run(mirror, &room, vma, addr, n, false, &lacking);
	gpuemu_link_pace(mirror->space, GPUEMU_LINK_H2D, begin, (u64)moved << PAGE_SHIFT,
			 &mirror->closed);
	return moved;
}
