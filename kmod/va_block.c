// SPDX-License-Identifier: GPL-2.0
/*
 * VA blocks: allocation, the CPU's faults, and the end of pages. How pages move
 * is migrate.c's; which blocks exist is va_space.c's.
 */
#include <linux/pagemap.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "dev.h"
#include "duplicate.h"
#include "limit.h"
#include "migrate.h"
#include "objects.h"
#include "thrash.h"
#include "remote_map.h"
#include "sysmem.h"
#include "tlb.h"
#include "trace.h"
#include "va_block.h"
#include "va_space.h"

static u64 block_first_page(const struct gpuemu_block *block)
{
	return block->index << (GPUEMU_BLOCK_SHIFT - GPUEMU_PAGE_SHIFT);
}

struct gpuemu_block *gpuemu_block_alloc(struct gpuemu_space *space, u64 index,
					gfp_t gfp)
{
	struct gpuemu_block *block;
	struct mem_cgroup *old;

	old = set_active_memcg(space->memcg);
	block = kzalloc(sizeof(*block), gfp);
	set_active_memcg(old);
	if (!block)
		return NULL;
	kref_init(&block->ref);
	mutex_init(&block->lock);
	block->space = space;
	block->index = index;
	INIT_LIST_HEAD(&block->closing);
	INIT_LIST_HEAD(&block->lru);
	INIT_LIST_HEAD(&block->lru_of_space);
	INIT_LIST_HEAD(&block->pinned);
	gpuemu_created(blocks);
	return block;
}

static void block_free(struct kref *ref)
{
	struct gpuemu_block *block = container_of(ref, struct gpuemu_block, ref);

	kfree(block->thrash);
	kfree(block->slots);
	kfree(block);
	gpuemu_destroyed(blocks);
}

void gpuemu_block_put(struct gpuemu_block *block)
{
	kref_put(&block->ref, block_free);
}

/*
 * Never waits for the lock: its holder may be waiting for an engine, and the
 * caller holds locks of all of generic netlink.
 */
void gpuemu_block_look(struct gpuemu_block *block,
		       struct gpuemu_block_look *look)
{
	u32 i;

	look->busy = !mutex_trylock(&block->lock);
	look->system_pages = 0;
	/* Each word of a busy block is right and all together need not be. */
	for (i = 0; i < BITS_TO_LONGS(GPUEMU_BLOCK_PAGES); i++) {
		look->resident[i] = READ_ONCE(block->resident[i]);
		look->cpu_mapped[i] = READ_ONCE(block->cpu_mapped[i]);
		look->remote[i] = READ_ONCE(block->remote[i]);
		look->duplicate[i] = READ_ONCE(block->duplicate[i]);
	}
	for (i = 0; i < GPUEMU_BLOCK_PAGES; i++)
		look->system_pages += !!READ_ONCE(block->pages[i]);
	if (!look->busy)
		mutex_unlock(&block->lock);
}

/* Or is it mirrored, or device memory: then its leaf table is in use, too. */
static bool block_managed(struct gpuemu_block *block)
{
	DECLARE_BITMAP(managed, GPUEMU_BLOCK_PAGES) = { };

	if (block->mirrored || block->device_memory)
		return true;
	gpuemu_space_managed_mask(block->space, block_first_page(block),
				  GPUEMU_BLOCK_PAGES, managed, 0);
	return !bitmap_empty(managed, GPUEMU_BLOCK_PAGES);
}

/* Takes the block out of the space, so that the next user makes a new one. */
static void block_kill_locked(struct gpuemu_block *block)
{
	lockdep_assert_held(&block->lock);
	block->dead = true;
	gpuemu_thrash_dead(block);
	/* Unlink the leaf first: the next block at this place links its own. */
	if (block->leaf)
		gpuemu_pt_block_detach(block->space, block->index);
	gpuemu_space_forget_block(block->space, block);
}

/*
 * Undoes gpuemu_space_block_create() where it turned out that nothing of the
 * block is managed and nothing was ever in it.
 */
void gpuemu_block_retire_unmanaged(struct gpuemu_block *block)
{
	lockdep_assert_held(&block->lock);
	/* A closer with pages to free comes for the block itself. */
	if (block->dead || block->leaf || block_managed(block) ||
	    memchr_inv(block->pages, 0, sizeof(block->pages)))
		return;
	block_kill_locked(block);
	gpuemu_block_put(block);
}

/*
 * First half of closing pages first..last, which are no longer managed: clears
 * their GPU page-table entries; if nothing else of the block is managed, the
 * block goes to the list, with the space's reference. Returns whether the engine
 * has something to forget before gpuemu_block_close_end().
 */
bool gpuemu_block_close_begin(struct gpuemu_block *block, u32 first, u32 last,
			      struct list_head *dead)
{
	struct gpuemu_pt *pt = &block->space->dev->pt;
	DECLARE_BITMAP(entries, GPUEMU_BLOCK_PAGES);
	bool mapped = false;
	unsigned long i;

	mutex_lock(&block->lock);
	if (block->dead)
		goto out;
	/* Device memory ends whole. The mirror may keep the block for other memory. */
	if (last - first + 1 == GPUEMU_BLOCK_PAGES)
		block->device_memory = false;
	bitmap_or(entries, block->resident, block->remote, GPUEMU_BLOCK_PAGES);
	for (i = first; i <= last; i++) {
		i = find_next_bit(entries, last + 1, i);
		if (i > last)
			break;
		gpuemu_pt_clear(pt, block->leaf, i);
		mapped = true;
	}
	if (!block_managed(block)) {
		mapped |= block->leaf;
		block_kill_locked(block);
		list_add_tail(&block->closing, dead);
	}
out:
	mutex_unlock(&block->lock);
	return mapped;
}

/*
 * Second half, after the acknowledged invalidate: frees frames, pages and, of a
 * dead block, the leaf table. A page that someone else still refers to (GUP)
 * lives on with that reference.
 */
void gpuemu_block_close_end(struct gpuemu_block *block, u32 first, u32 last)
{
	struct gpuemu_dev *dev = block->space->dev;
	DECLARE_BITMAP(managed, GPUEMU_BLOCK_PAGES) = { };
	DECLARE_BITMAP(remote, GPUEMU_BLOCK_PAGES) = { };
	DECLARE_BITMAP(left, GPUEMU_BLOCK_PAGES) = { };
	long unmapped = 0;
	u32 i;

	mutex_lock(&block->lock);
	gpuemu_space_managed_mask(block->space, block_first_page(block),
				  GPUEMU_BLOCK_PAGES, managed, 0);
	bitmap_set(remote, first, last - first + 1);
	bitmap_and(remote, remote, block->remote, GPUEMU_BLOCK_PAGES);
	if (!block->dead)
		bitmap_andnot(remote, remote, managed, GPUEMU_BLOCK_PAGES);
	if (!bitmap_empty(remote, GPUEMU_BLOCK_PAGES)) {
		gpuemu_remote_hide(dev, block->slots, remote,
				   GPUEMU_BLOCK_PAGES);
		gpuemu_remote_release(block, remote);
	}
	for (i = first; i <= last; i++) {
		if (test_bit(i, managed) && !block->dead)
			continue;
		if (__test_and_clear_bit(i, block->resident))
			__set_bit(i, left);
		if (block->pages[i]) {
			unmapped += !test_bit(i, block->cpu_mapped);
			gpuemu_sysmem_put(block->space, block->pages[i]);
			block->pages[i] = NULL;
		}
		__clear_bit(i, block->cpu_mapped);
		gpuemu_thrash_forget(block, i);
	}
	gpuemu_sysmem_unmapped(block->space, -unmapped);
	gpuemu_duplicate_ended(block, left, false);
	gpuemu_vram_free(&dev->vram, block->frames, left, GPUEMU_BLOCK_PAGES);
	gpuemu_limit_give_frames(block->space,
				 bitmap_weight(left, GPUEMU_BLOCK_PAGES));
	gpuemu_count(block->space, RESIDENT_PAGES,
		     -(u64)bitmap_weight(left, GPUEMU_BLOCK_PAGES));
	gpuemu_lru_emptied(block);
	if (block->dead && block->leaf) {
		gpuemu_pt_table_free(block->space, block->leaf);
		block->leaf = 0;
	}
	mutex_unlock(&block->lock);
}

/*
 * Nothing of the block is mirrored any more, and the caller's reference goes. Where
 * nothing is managed either it is the block's end.
 */
void gpuemu_block_unmirror(struct gpuemu_block *block)
{
	LIST_HEAD(dead);

	mutex_lock(&block->lock);
	block->mirrored = false;
	mutex_unlock(&block->lock);
	/* No pages: those that were managed are their closer's. */
	if (gpuemu_block_close_begin(block, 1, 0, &dead))
		gpuemu_tlb_invalidate(block->space, gpuemu_block_addr(block, 0),
				      gpuemu_block_addr(block, GPUEMU_BLOCK_PAGES),
				      GPUEMU_INVAL_UNMAP, false);
	if (!list_empty(&dead)) {
		list_del(&block->closing);
		gpuemu_block_close_end(block, 0, GPUEMU_BLOCK_PAGES - 1);
		gpuemu_block_put(block);
	}
	gpuemu_block_put(block);
}

/* Whether the page's entry allows the engine this access. A hint without the lock. */
bool gpuemu_block_allows(const struct gpuemu_block *block, u32 i,
			 enum gpuemu_access access)
{
	if (test_bit(i, block->duplicate) && access >= GPUEMU_ACCESS_WRITE)
		return false;
	return test_bit(i, block->resident) || test_bit(i, block->remote);
}

/*
 * Where the kernel tells of first writes, an entry is read-only at first. A page that is
 * no duplicate gets a writable one at once where the kernel has a call for that;
 * elsewhere its first write faults, and is told of.
 */
static int cpu_map(struct gpuemu_block *block, struct vm_fault *vmf, u32 i)
{
	/* Where it becomes true meanwhile, either is right: there is no duplicate yet. */
	if (READ_ONCE(block->space->notify_writes) &&
	    !test_bit(i, block->duplicate))
		return compat_insert_page_mkwrite(vmf, block->pages[i]);
	return vm_insert_page(vmf->vma, vmf->address & PAGE_MASK,
			      block->pages[i]);
}

/*
 * The CPU writes a page that it has mapped read-only. The kernel makes the entry
 * writable when this has returned, if it is still the same; it holds a reference
 * until then, so the page counts as pinned, and becomes no duplicate in between.
 */
static vm_fault_t block_mkwrite(struct gpuemu_block *block, struct vm_fault *vmf,
				u32 i)
{
	u32 moved;

	/* It went elsewhere meanwhile, and its entry with it: the write faults again. */
	if (block->pages[i] != vmf->page ||
	    (test_bit(i, block->resident) && !test_bit(i, block->duplicate)))
		return VM_FAULT_NOPAGE;
	/* -EINTR: the task is being killed and never sees the signal. */
	if (gpuemu_migrate_d2h(block, i, 1, GPUEMU_INVAL_CPU_FAULT, &moved))
		return VM_FAULT_SIGBUS;
	gpuemu_count(block->space, CPU_FAULTS, 1);
	lock_page(vmf->page);
	return VM_FAULT_LOCKED;
}

/* Whether the CPU's fault of the page takes a system page that it has not got. */
bool gpuemu_block_needs_page(const struct gpuemu_block *block, u32 i)
{
	lockdep_assert_held(&block->lock);
	return !block->pages[i] && !(current->flags & PF_DUMPCORE) &&
	       gpuemu_space_managed(block->space, block_first_page(block) + i);
}

/*
 * The CPU touched a page that it has not mapped, or writes one that it may only
 * read. Brings the content to system memory if it is on the device, ends a
 * duplicate that is to be written, and maps it. *page: a zeroed one for what was never
 * touched, or NULL; what is not used is left there. vm_insert_page() runs under the
 * block's lock: a task that unmaps a page holds it too, so no mapping slips in between
 * an unmap and the copy.
 */
vm_fault_t gpuemu_block_cpu_fault(struct gpuemu_block *block,
				  struct vm_fault *vmf, struct page **page)
{
	u32 i = (vmf->address >> PAGE_SHIFT) % GPUEMU_BLOCK_PAGES;
	const bool write = vmf->flags & FAULT_FLAG_WRITE;
	u64 start = ktime_get_ns();
	bool resident, marked, duplicate;
	u32 moved;
	int ret;

	lockdep_assert_held(&block->lock);
	if (!gpuemu_space_managed(block->space, vmf->address >> PAGE_SHIFT)) {
		gpuemu_block_retire_unmanaged(block);
		return VM_FAULT_SIGBUS;
	}
	if (vmf->flags & FAULT_FLAG_MKWRITE)
		return block_mkwrite(block, vmf, i);
	duplicate = test_bit(i, block->duplicate);
	resident = test_bit(i, block->resident) && (write || !duplicate);
	if (resident) {
		ret = gpuemu_migrate_d2h(block, i, 1, GPUEMU_INVAL_CPU_FAULT,
					 &moved);
		/* -EINTR: the task is being killed and never sees the signal. */
		if (ret)
			return VM_FAULT_SIGBUS;
		gpuemu_thrash_cpu(block, i);
	} else if (!block->pages[i]) {
		if (!*page)
			return VM_FAULT_SIGBUS;
		block->pages[i] = *page;
		*page = NULL;
		gpuemu_sysmem_unmapped(block->space, 1);
	}
	marked = vmf->vma->vm_flags & VM_UFFD_WP;
	/*
	 * From 6.7, asynchronous write-protection by userfaultfd is for any
	 * mapping, and leaves marks where it finds no page or one is unmapped.
	 * Over a mark none can be inserted: the fault would come again for ever.
	 */
	if (marked && test_bit(i, block->cpu_mapped))
		unmap_mapping_range(block->space->mapping,
				    gpuemu_block_addr(block, i), PAGE_SIZE, 1);
	ret = cpu_map(block, vmf, i);
	/* -EBUSY: another thread's fault was first; or it is such a mark. */
	if (ret == -ENOMEM)
		return VM_FAULT_OOM;
	if (ret && (ret != -EBUSY || marked))
		return VM_FAULT_SIGBUS;
	if (!__test_and_set_bit(i, block->cpu_mapped))
		gpuemu_sysmem_unmapped(block->space, -1);
	gpuemu_count(block->space, CPU_FAULTS, 1);
	if (resident && !duplicate)
		gpuemu_count(block->space, CPU_FAULTS_DEVICE, 1);
	trace_gpuemu_cpu_fault(block->space->id, gpuemu_block_addr(block, i),
			       resident, ktime_get_ns() - start);
	return VM_FAULT_NOPAGE;
}
