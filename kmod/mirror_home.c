// SPDX-License-Identifier: GPL-2.0
/*
 * Pages of ordinary memory that are in device memory go home: where the CPU touches one, the
 * engine evicts it or its client leaves. mirror_move.c lists the steps.
 */
#include <linux/highmem.h>
#include <linux/ktime.h>
#include <linux/memremap.h>
#include <linux/migrate.h>
#include <linux/mm.h>
#include <linux/pagemap.h>

#include "dev.h"
#include "inject.h"
#include "mirror.h"
#include "mirror_huge.h"
#include "mirror_move.h"
#include "mirror_pages.h"
#include "tlb.h"
#include "trace.h"
#include "va_space.h"

/* System pages for those of src that move; vma: of the pages, from addr on, or NULL. */
static u32 provide_home(const unsigned long *src, unsigned long *dst, u32 n,
			struct vm_area_struct *vma, u64 addr, gfp_t gfp)
{
	const unsigned long need = MIGRATE_PFN_VALID | MIGRATE_PFN_MIGRATE;
	struct page *page;
	u32 lacking = 0, i;

	for (i = 0; i < n; i++) {
		dst[i] = 0;
		if ((src[i] & need) != need)
			continue;
		page = vma ? alloc_page_vma(gfp, vma, addr + ((u64)i << PAGE_SHIFT)) :
			     alloc_page(gfp);
		if (!page) {
			lacking++;
			continue;
		}
		lock_page(page);
		dst[i] = migrate_pfn(page_to_pfn(page));
	}
	return lacking;
}

/* The engine has forgotten the frames: what it did to a page it did before this. */
static void copy_home(struct gpuemu_dev *dev, const unsigned long *src,
		      const unsigned long *dst, u32 n)
{
	struct page *page;
	void *system;
	u32 i;

	for (i = 0; i < n; i++) {
		page = migrate_pfn_to_page(dst[i]);
		if (!page)
			continue;
		system = kmap_local_page(page);
		copy_page(system, gpuemu_mirror_page_addr(dev, migrate_pfn_to_page(src[i])));
		kunmap_local(system);
		/* The device may have written it, and no page table knows that. */
		set_page_dirty(page);
	}
}

/* Counts for the frames' VA space what has left the device: n pages from this frame on. */
void gpuemu_mirror_count_home(struct gpuemu_dev *dev, u32 frame, u32 n, u64 addr, u64 begin,
			      enum gpuemu_inval_reason reason)
{
	struct gpuemu_mirror_pages *pages = &dev->mirror_pages;
	struct gpuemu_space *space;

	spin_lock(&pages->lock);
	space = pages->owner[frame];
	if (!space)
		goto out;
	gpuemu_count(space, D2H_PAGES, n);
	gpuemu_count(space, D2H_BYTES, (u64)n << PAGE_SHIFT);
	if (n == GPUEMU_VRAM_RUN)
		gpuemu_count(space, D2H_HUGE, 1);
	if (reason == GPUEMU_INVAL_CPU_FAULT) {
		gpuemu_count(space, CPU_FAULTS, 1);
		gpuemu_count(space, CPU_FAULTS_DEVICE, 1);
		trace_gpuemu_cpu_fault(space->id, addr, true, ktime_get_ns() - begin);
	} else if (reason != GPUEMU_INVAL_UNMAP) {
		gpuemu_count(space, EVICTED_PAGES, n);
		if (reason == GPUEMU_INVAL_RECLAIM)
			gpuemu_count(space, LRU_EVICTED_PAGES, n);
	}
out:
	spin_unlock(&pages->lock);
}

/* Small pages. */
static u32 home_small(struct gpuemu_dev *dev, const u32 *frames, u32 n,
		      enum gpuemu_inval_reason reason, bool *no_memory)
{
	const unsigned long first = dev->mirror_pages.first;
	unsigned long src[GPUEMU_HOME_PAGES], dst[GPUEMU_HOME_PAGES];
	u64 begin = ktime_get_ns();
	gfp_t gfp = GFP_HIGHUSER_MOVABLE;
	u32 moved = 0, i, run;

	if (reason != GPUEMU_INVAL_UNMAP)
		gfp = GFP_NOWAIT | __GFP_NOWARN | __GFP_HIGHMEM | __GFP_MOVABLE;
	for (i = 0; i < n; i += run) {
		for (run = 1; i + run < n && frames[i + run] == frames[i] + run;)
			run++;
		migrate_device_range(src + i, first + frames[i], run);
	}
	if (provide_home(src, dst, n, NULL, 0, gfp))
		*no_memory = true;
	gpuemu_tlb_flush(dev);
	copy_home(dev, src, dst, n);
	migrate_device_pages(src, dst, n);
	for (i = 0; i < n; i++) {
		if (!dst[i] || !(src[i] & MIGRATE_PFN_MIGRATE))
			continue;
		gpuemu_mirror_count_home(dev, frames[i], 1, 0, begin, reason);
		moved++;
	}
	migrate_device_finalize(src, dst, n);
	return moved;
}

/**
 * gpuemu_mirror_home() - sends pages to system memory
 * @dev: whose
 * @frames: of the pages; a frame that is none any more is passed over
 * @n: how many, at most GPUEMU_HOME_PAGES
 * @reason: EVICT, RECLAIM: the engine's service thread calls, which does not reclaim; or UNMAP
 * @no_memory: out: some stayed because there was no page
 *
 * In all processes that have them. A huge page goes whole, also for one of its frames. Returns
 * how many went.
 */
u32 gpuemu_mirror_home(struct gpuemu_dev *dev, const u32 *frames, u32 n,
		       enum gpuemu_inval_reason reason, bool *no_memory)
{
	struct gpuemu_mirror_pages *pages = &dev->mirror_pages;
	u32 small[GPUEMU_HOME_PAGES], left = 0, moved = 0, tried = U32_MAX, run, i;

	*no_memory = false;
	gpuemu_inject_pause(dev, GPUEMU_INJECT_PAUSE_HOME);
	down_read(&pages->making);
	for (i = 0; i < n; i++) {
		/* One that stays, for example because it is pinned, is copied once and not 32 times. */
		run = frames[i] / GPUEMU_VRAM_RUN;
		if (run != tried && gpuemu_mirror_huge_is(pages, frames[i]))
			moved += gpuemu_mirror_huge_home(dev, frames[i], reason, no_memory);
		tried = run;
		/* It may have been split. What has gone is passed over. */
		if (!gpuemu_mirror_huge_is(pages, frames[i]))
			small[left++] = frames[i];
	}
	if (left)
		moved += home_small(dev, small, left, reason, no_memory);
	up_read(&pages->making);
	return moved;
}

/*
 * The CPU touches a page that is on the device. Called by mm, with mmap_lock held. The wait
 * for the engine has an end, as for managed memory, but in several goes, with mmap_lock free
 * in between: the page stays, and the access comes again. Without an engine the frame has
 * the content.
 */
vm_fault_t gpuemu_mirror_to_ram(struct vm_fault *vmf)
{
	struct gpuemu_mirror_pages *pages =
		container_of(compat_page_pgmap(vmf->page),
			     struct gpuemu_mirror_pages, pagemap);
	struct gpuemu_dev *dev = container_of(pages, struct gpuemu_dev,
					      mirror_pages);
	u32 frame = gpuemu_mirror_page_frame(dev, vmf->page);
	u64 addr = vmf->address & PAGE_MASK, begin = ktime_get_ns();
	unsigned long src = 0, dst = 0;
	struct migrate_vma args = {
		.vma = vmf->vma,
		.src = &src,
		.dst = &dst,
		.start = addr,
		.end = addr + PAGE_SIZE,
		.pgmap_owner = dev,
		.flags = MIGRATE_VMA_SELECT_DEVICE_PRIVATE,
		.fault_page = vmf->page,
	};
	vm_fault_t ret = 0;
	bool late = false;

	if (gpuemu_mirror_huge_to_ram(vmf, &ret))
		return ret;
	if (migrate_vma_setup(&args))
		return VM_FAULT_SIGBUS;
	/* Somebody else works on it: the access comes again. */
	if (!args.cpages)
		return 0;
	if (provide_home(&src, &dst, 1, vmf->vma, addr, GFP_HIGHUSER_MOVABLE))
		ret = VM_FAULT_OOM;
	if (dst && !gpuemu_tlb_flush_for(dev, GPUEMU_AWAY_MS)) {
		unlock_page(migrate_pfn_to_page(dst));
		put_page(migrate_pfn_to_page(dst));
		dst = 0;
		late = true;
	}
	copy_home(dev, &src, &dst, 1);
	migrate_vma_pages(&args);
	if (dst && src & MIGRATE_PFN_MIGRATE)
		gpuemu_mirror_count_home(dev, frame, 1, addr, begin, GPUEMU_INVAL_CPU_FAULT);
	migrate_vma_finalize(&args);
	if (late)
		gpuemu_tlb_late(dev);
	return ret;
}
