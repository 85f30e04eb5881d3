// SPDX-License-Identifier: GPL-2.0
/*
 * A huge page of ordinary memory (2 MiB) moves whole, where the kernel can do that: to a run of
 * frames, where the engine asks for all of it, and home, where the CPU touches it or any of its
 * frames is to come free. The engine's page table has small entries all the same.
 *
 * The kernel may split such a page any time, for example where a program unmaps a part. It
 * never joins pages of device memory. Only page_make() makes a huge one, and only while nobody
 * holds pages->making to read. That matters because migrate_device_range() writes as many
 * entries as the page has that it finds, even if fewer were asked for.
 *
 * For each huge page on the device the module has one of system memory in reserve, about as if
 * the page had stayed at home; the process has the charge for it. So it always comes home whole.
 * With no huge page at home the kernel would have to split it. It cannot do that in a fault of
 * the CPU, and never for a page that is known by its frames only (Linux 7.3.4).
 */
#include <linux/highmem.h>
#include <linux/hmm.h>
#include <linux/huge_mm.h>
#include <linux/ktime.h>
#include <linux/memremap.h>
#include <linux/migrate.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "dev.h"
#include "inject.h"
#include "limit.h"
#include "mirror.h"
#include "mirror_huge.h"
#include "mirror_move.h"
#include "mirror_pages.h"
#include "mirror_range.h"
#include "objects.h"
#include "tlb.h"
#include "va_space.h"

#ifdef MIGRATE_PFN_COMPOUND

#define PAGES GPUEMU_VRAM_RUN

static_assert(PAGES == GPUEMU_BLOCK_PAGES);

/* Of a page that migrate_vma_setup() has taken whole. */
#define TAKEN (MIGRATE_PFN_VALID | MIGRATE_PFN_MIGRATE | MIGRATE_PFN_COMPOUND)

/* What a move of one takes. */
struct huge_room {
	unsigned long src[PAGES], dst[PAGES];
};

/* The content goes from one to the other; frame is the first of the run. */
static void copy(struct gpuemu_dev *dev, u32 frame, struct page *first, bool to_device)
{
	void *device = gpuemu_vram_addr(&dev->vram, frame), *system;
	u32 i;

	for (i = 0; i < PAGES; i++, device += PAGE_SIZE) {
		system = kmap_local_page(first + i);
		if (to_device)
			copy_page(device, system);
		else
			copy_page(system, device);
		kunmap_local(system);
	}
}

/* --- to the device --- */

/* Whether the process has one huge page there. A hint. */
static bool is_huge(struct gpuemu_mirror_range *range, u64 addr)
{
	unsigned long pfn = 0;
	struct hmm_range found = {
		.notifier = &range->notifier,
		.start = addr,
		.end = addr + PAGE_SIZE,
		.hmm_pfns = &pfn,
		.dev_private_owner = range->mirror->space->dev,
	};

	found.notifier_seq = mmu_interval_read_begin(&range->notifier);
	return !hmm_range_fault(&found) && pfn & HMM_PFN_VALID &&
	       hmm_pfn_to_map_order(pfn) >= HPAGE_PMD_ORDER &&
	       !is_zone_device_page(hmm_pfn_to_page(pfn));
}

/* A run of frames on the VA space's account. *few: fewer frames are free than a run has. */
static bool take_run(struct gpuemu_space *space, u32 *frame, bool *few)
{
	DECLARE_BITMAP(mask, PAGES);
	u32 may;

	gpuemu_mirror_pages_reap(space->dev);
	bitmap_fill(mask, PAGES);
	may = gpuemu_limit_take_frames(space, mask, PAGES, PAGES);
	*few = may < PAGES || gpuemu_vram_nfree(&space->dev->vram) < PAGES;
	if (may == PAGES && !gpuemu_inject(space->dev, GPUEMU_INJECT_FRAME) &&
	    gpuemu_vram_alloc_run(&space->dev->vram, frame))
		return true;
	gpuemu_limit_give_frames(space, may);
	return false;
}

static void give_run(struct gpuemu_space *space, u32 frame)
{
	gpuemu_vram_free_run(&space->dev->vram, frame);
	gpuemu_limit_give_frames(space, PAGES);
}

/* A huge page to come home to: what the run's last page did not need, or a new one. */
static struct folio *reserve_get(struct gpuemu_dev *dev, u32 frame)
{
	struct folio *folio = xchg(&dev->mirror_pages.spare[frame / PAGES], NULL);

	if (folio || gpuemu_inject(dev, GPUEMU_INJECT_PAGE))
		return folio;
	folio = folio_alloc(GFP_TRANSHUGE, HPAGE_PMD_ORDER);
	if (folio)
		gpuemu_created(reserves);
	return folio;
}

/* It is free, or the process has it now. */
static void reserve_put(struct folio *reserve)
{
	gpuemu_destroyed(reserves);
	folio_put(reserve);
}

/* The run becomes a page: locked, with one reference. NULL: not now. */
static struct page *page_make(struct gpuemu_mirror *mirror, u32 frame, struct folio *reserve)
{
	struct gpuemu_mirror_pages *pages = &mirror->space->dev->mirror_pages;
	struct page *page = pfn_to_page(pages->first + frame);

	if (!IS_ALIGNED(pages->first, PAGES) || !down_write_trylock(&pages->making))
		return NULL;
	if (gpuemu_mirror_pages_own(mirror, frame, PAGES)) {
		WRITE_ONCE(pages->huge[frame / PAGES], reserve);
		zone_device_folio_init(page_folio(page), &pages->pagemap, HPAGE_PMD_ORDER);
	} else {
		page = NULL;
	}
	up_write(&pages->making);
	return page;
}

/**
 * gpuemu_mirror_huge_move() - brings a huge page to the device
 * @range: of the page; the caller is its worker
 * @vma: of the page, anonymous memory; its mmap_lock is held
 * @addr: of the page
 * @moved: how many small pages have moved; what it has is added
 * @lacking: the same of frames. If they lack, the page stays whole where it is this time, so that
 *	the COMMIT can make room for all of it
 *
 * False: there is no huge page, no run of frames, none to have in reserve, or it does not let
 * itself be moved. The caller then moves it in parts.
 */
bool gpuemu_mirror_huge_move(struct gpuemu_mirror_range *range, struct vm_area_struct *vma,
			     u64 addr, u32 *moved, u32 *lacking)
{
	struct gpuemu_mirror *mirror = range->mirror;
	struct gpuemu_space *space = mirror->space;
	struct migrate_vma args = {
		.vma = vma,
		.src = mirror->src,
		.dst = mirror->dst,
		.start = addr,
		.end = addr + HPAGE_PMD_SIZE,
		.pgmap_owner = space->dev,
		.flags = MIGRATE_VMA_SELECT_SYSTEM | MIGRATE_VMA_SELECT_COMPOUND,
	};
	struct folio *reserve;
	struct page *to = NULL;
	bool gone, few;
	u32 frame;

	if (!is_huge(range, addr))
		return false;
	if (!take_run(space, &frame, &few)) {
		range->room_asked = few && !range->room_asked;
		*lacking += range->room_asked ? PAGES : 0;
		return range->room_asked;
	}
	range->room_asked = false;
	reserve = reserve_get(space->dev, frame);
	if (!reserve || migrate_vma_setup(&args) || !args.cpages) {
		if (reserve)
			reserve_put(reserve);
		give_run(space, frame);
		return false;
	}
	if ((args.src[0] & TAKEN) == TAKEN)
		to = page_make(mirror, frame, reserve);
	if (to) {
		copy(space->dev, frame, migrate_pfn_to_page(args.src[0]), true);
		args.dst[0] = migrate_pfn(page_to_pfn(to)) | MIGRATE_PFN_COMPOUND;
	} else {
		reserve_put(reserve);
		give_run(space, frame);
	}
	migrate_vma_pages(&args);
	gone = to && args.src[0] & MIGRATE_PFN_MIGRATE;
	migrate_vma_finalize(&args);
	if (!gone)
		return false;
	*moved += PAGES;
	gpuemu_count(space, H2D_PAGES, PAGES);
	gpuemu_count(space, H2D_BYTES, HPAGE_PMD_SIZE);
	gpuemu_count(space, H2D_HUGE, 1);
	return true;
}

/* --- home --- */

/*
 * The page was taken whole, and goes to the one in reserve. The engine has forgotten the frames.
 * The task that has taken the page has its reserve, too.
 */
static void go_home(struct gpuemu_dev *dev, u32 frame, unsigned long *dst)
{
	struct folio *to = dev->mirror_pages.huge[frame / PAGES];

	folio_get(to);
	folio_lock(to);
	copy(dev, frame, folio_page(to, 0), false);
	/* The device may have written it, and no page table knows that. */
	folio_mark_dirty(to);
	*dst = migrate_pfn(folio_pfn(to)) | MIGRATE_PFN_COMPOUND;
}

/* Whether it has gone: then the reserve is the process' page. */
static bool has_gone(struct gpuemu_dev *dev, u32 frame, unsigned long src, unsigned long dst)
{
	struct folio **reserve = &dev->mirror_pages.huge[frame / PAGES];

	if (!dst || !(src & MIGRATE_PFN_MIGRATE))
		return false;
	reserve_put(*reserve);
	WRITE_ONCE(*reserve, GPUEMU_MIRROR_GONE);
	return true;
}

/**
 * gpuemu_mirror_huge_home() - sends home a huge page
 * @dev: whose
 * @frame: one of its frames; the caller holds pages->making to read
 * @reason: see gpuemu_mirror_home()
 * @no_memory: out: there is none for the arrays that this takes
 *
 * Returns how many small pages went: all, or none.
 */
u32 gpuemu_mirror_huge_home(struct gpuemu_dev *dev, u32 frame, enum gpuemu_inval_reason reason,
			    bool *no_memory)
{
	gfp_t gfp = reason == GPUEMU_INVAL_UNMAP ? GFP_KERNEL : GFP_NOWAIT;
	struct huge_room *room = kzalloc(sizeof(*room), gfp | __GFP_NOWARN);
	u64 begin = ktime_get_ns();
	u32 moved = 0;

	*no_memory |= !room;
	if (!room)
		return 0;
	frame = rounddown(frame, PAGES);
	migrate_device_range(room->src, dev->mirror_pages.first + frame, PAGES);
	if ((room->src[0] & TAKEN) == TAKEN) {
		gpuemu_tlb_flush(dev);
		go_home(dev, frame, &room->dst[0]);
	}
	migrate_device_pages(room->src, room->dst, PAGES);
	if (has_gone(dev, frame, room->src[0], room->dst[0])) {
		gpuemu_mirror_count_home(dev, frame, PAGES, 0, begin, reason);
		moved = PAGES;
	}
	migrate_device_finalize(room->src, room->dst, PAGES);
	kfree(room);
	return moved;
}

/* See gpuemu_mirror_to_ram(). The page was taken whole. */
static void touch(struct gpuemu_dev *dev, struct migrate_vma *args, u64 begin)
{
	u32 frame = gpuemu_mirror_page_frame(dev, migrate_pfn_to_page(args->src[0]));
	bool late = !gpuemu_tlb_flush_for(dev, GPUEMU_AWAY_MS);

	if (!late)
		go_home(dev, frame, &args->dst[0]);
	migrate_vma_pages(args);
	if (has_gone(dev, frame, args->src[0], args->dst[0]))
		gpuemu_mirror_count_home(dev, frame, PAGES, args->start, begin,
					 GPUEMU_INVAL_CPU_FAULT);
	migrate_vma_finalize(args);
	if (late)
		gpuemu_tlb_late(dev);
}

/**
 * gpuemu_mirror_huge_to_ram() - the CPU touches a page that may be huge
 * @vmf: mm's, like *ret
 * @ret: see gpuemu_mirror_to_ram()
 *
 * False: it is none, and the caller goes on. If a page table has it in small parts, the kernel
 * splits it for the caller, and the access comes again. It must be asked for one part then: asked
 * for all of them, it takes the first without its lock (Linux 7.3.4).
 */
bool gpuemu_mirror_huge_to_ram(struct vm_fault *vmf, vm_fault_t *ret)
{
	struct gpuemu_dev *dev = compat_page_pgmap(vmf->page)->owner;
	u64 addr = ALIGN_DOWN(vmf->address, HPAGE_PMD_SIZE), begin = ktime_get_ns();
	struct migrate_vma args = {
		.vma = vmf->vma,
		.start = addr,
		.end = addr + HPAGE_PMD_SIZE,
		.pgmap_owner = dev,
		.flags = MIGRATE_VMA_SELECT_DEVICE_PRIVATE | MIGRATE_VMA_SELECT_COMPOUND,
		.fault_page = vmf->page,
	};
	struct huge_room *room;

	if (!folio_test_large(page_folio(vmf->page)) || pmd_present(pmdp_get_lockless(vmf->pmd)) ||
	    addr < vmf->vma->vm_start || args.end > vmf->vma->vm_end)
		return false;
	*ret = VM_FAULT_OOM;
	room = kzalloc(sizeof(*room), GFP_KERNEL);
	if (!room)
		return true;
	*ret = 0;
	args.src = room->src;
	args.dst = room->dst;
	if (migrate_vma_setup(&args)) {
		*ret = VM_FAULT_SIGBUS;
	} else if (args.cpages && (args.src[0] & TAKEN) == TAKEN) {
		touch(dev, &args, begin);
	} else if (args.cpages) {
		migrate_vma_pages(&args);
		migrate_vma_finalize(&args);
	}
	kfree(room);
	return true;
}

/* --- its end --- */

/*
 * The page is no more, or split. If its reserve is left, a worker frees it, or the next huge page
 * of the run takes it before. mm calls with locks that interrupts take, too, so this takes none.
 */
void gpuemu_mirror_huge_end(struct gpuemu_dev *dev, u32 frame)
{
	struct gpuemu_mirror_pages *pages = &dev->mirror_pages;
	struct folio *reserve = xchg(&pages->huge[frame / PAGES], NULL);

	if (!reserve || reserve == GPUEMU_MIRROR_GONE)
		return;
	WARN_ON_ONCE(xchg(&pages->spare[frame / PAGES], reserve));
	queue_work(dev->mirror.workers, &pages->freer);
}

/* The kernel splits the page. tail: a new page, or NULL at the end. */
void gpuemu_mirror_huge_split(struct folio *head, struct folio *tail)
{
	struct dev_pagemap *pagemap = head->pgmap;
	struct gpuemu_dev *dev = pagemap->owner;

	if (!tail) {
		/* Only now are they all small. */
		gpuemu_mirror_huge_end(dev, gpuemu_mirror_page_frame(dev, &head->page));
		return;
	}
	tail->pgmap = pagemap;
	tail->page.mapping = head->page.mapping;
}

void gpuemu_mirror_huge_free(struct work_struct *work)
{
	struct gpuemu_mirror_pages *pages =
		container_of(work, struct gpuemu_mirror_pages, freer);
	struct gpuemu_dev *dev = container_of(pages, struct gpuemu_dev, mirror_pages);
	struct folio *folio;
	u32 run;

	for (run = 0; run < dev->vram.frames / PAGES; run++) {
		folio = xchg(&pages->spare[run], NULL);
		if (folio)
			reserve_put(folio);
	}
}

#endif
