// SPDX-License-Identifier: GPL-2.0
/*
 * What is mirrored of a process for the engine: ranges of a VA block each, with a
 * notifier of mm. A worker of the VA space finds the pages that the engine wants, because
 * this may wait for anything (swap, a file system, the client's memory cgroup); the
 * engine, for whom all clients wait, does so for a moment only and asks again.
 *
 *   worker                               mm, of a change in the process
 *   read the sequence number
 *   hmm_range_fault()                    lock; new sequence number
 *   lock; same sequence number?            clear the engine's entries and mappings
 *     set the engine's entries           unlock; tell the engine
 *   unlock
 *
 * mm does not wait for the engine: the slot stays bound to the address until the
 * engine has acknowledged an invalidate, and is nobody else's before.
 */
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/hmm.h>
#include <linux/ktime.h>
#include <linux/magic.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "client.h"
#include "cmd.h"
#include "dev.h"
#include "migrate_steps.h"
#include "mirror.h"
#include "objects.h"
#include "remote_map.h"
#include "sysmem.h"
#include "tlb.h"
#include "trace.h"
#include "va_block.h"
#include "va_space.h"

/* Pages that an engine may ask for before the first is found. */
#define ASKS_MAX 256

/* A process that changes its mappings all the time is asked again later. */
#define TRIES 16

/**
 * struct ask - pages that the engine wants
 * @ref: one for the mirror's list, one for each task that waits
 * @list: in the mirror's list
 * @page: number of the first
 * @n: how many
 * @write: to write them
 * @ret: how it ended
 * @done: that it did
 */
struct ask {
	struct kref ref;
	struct list_head list;
	u64 page;
	u32 n;
	bool write;
	int ret;
	struct completion done;
};

static struct gpuemu_client *client_of(struct gpuemu_space *space)
{
	return container_of(space, struct gpuemu_client, space);
}

static struct gpuemu_mirror *mirror_of(struct gpuemu_space *space)
{
	/* Pairs with gpuemu_cmd_pageable(): it is seen whole. */
	return smp_load_acquire(&space->mirror);
}

/* --- ranges --- */

static void range_free(struct kref *ref)
{
	struct gpuemu_mirror_range *range =
		container_of(ref, struct gpuemu_mirror_range, ref);

	kfree(range);
	gpuemu_destroyed(ranges);
}

static void range_put(struct gpuemu_mirror_range *range)
{
	kref_put(&range->ref, range_free);
}

static u64 range_addr(const struct gpuemu_mirror_range *range, u32 i)
{
	return (range->index << GPUEMU_BLOCK_SHIFT) + ((u64)i << PAGE_SHIFT);
}

/* The engine reaches none of the pages afterwards. Returns how many it could. */
static u32 range_hide_locked(struct gpuemu_mirror_range *range, u32 first,
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
	u64 start = max_t(u64, what->start, range_addr(range, 0));
	u64 end = min_t(u64, what->end, range_addr(range, GPUEMU_BLOCK_PAGES));
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
	n = range_hide_locked(range, first, last);
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
	range_hide_locked(range, 0, GPUEMU_BLOCK_PAGES - 1);
	gpuemu_mirror_zap_end(dev);
	if (bitmap_empty(range->owned, GPUEMU_BLOCK_PAGES))
		return;
	gpuemu_tlb_invalidate(space, range_addr(range, 0),
			      range_addr(range, GPUEMU_BLOCK_PAGES),
			      GPUEMU_INVAL_REMAP, false);
	gpuemu_mirror_zap_begin(dev);
	for_each_set_bit(i, range->owned, GPUEMU_BLOCK_PAGES)
		gpuemu_mirror_slot_put_locked(space, range->slots[i]);
	bitmap_zero(range->owned, GPUEMU_BLOCK_PAGES);
	gpuemu_mirror_zap_end(dev);
}

/* The end of a range that is in the mirror. */
static void range_remove(struct gpuemu_mirror_range *range)
{
	struct gpuemu_mirror *mirror = range->mirror;

	range_revoke(range);
	mutex_lock(&mirror->space->dev->mirror.lock);
	range->dead = true;
	mutex_unlock(&mirror->space->dev->mirror.lock);
	xa_erase(&mirror->ranges, range->index);
	mmu_interval_notifier_remove(&range->notifier);
	gpuemu_block_unmirror(range->block);
	range_put(range);
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
				range_remove(other);
		ret = range_attach(range);
	}
	return ret;
}

static struct gpuemu_mirror_range *range_find(struct gpuemu_mirror *mirror,
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
static struct gpuemu_mirror_range *range_make(struct gpuemu_mirror *mirror,
					      u64 index)
{
	struct mm_struct *mm = client_of(mirror->space)->mm;
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
	range_put(range);
	return ERR_PTR(ret);
}

/* --- finding pages: the worker --- */

/* 0: a device may have it; -EACCES: not so; -EFAULT: not at all. */
static int vma_fits(const struct vm_area_struct *vma, bool write)
{
	vm_flags_t never = VM_IO | VM_PFNMAP | VM_MIXEDMAP;

#ifdef CONFIG_X86_USER_SHADOW_STACK
	never |= VM_SHADOW_STACK;
#endif
	if (vma->vm_flags & never)
		return -EFAULT;
	/* The process keeps it from the kernel itself. */
	if (vma->vm_file &&
	    file_inode(vma->vm_file)->i_sb->s_magic == SECRETMEM_MAGIC)
		return -EFAULT;
	if (!(vma->vm_flags & VM_READ) ||
	    (write && !(vma->vm_flags & VM_WRITE)))
		return -EACCES;
	return 0;
}

static int vmas_fit(struct mm_struct *mm, u64 start, u64 end, bool write)
{
	struct vm_area_struct *vma;
	int ret = 0;

	mmap_assert_locked(mm);
	for (; !ret && start < end; start = vma->vm_end) {
		vma = vma_lookup(mm, start);
		if (!vma)
			return -EFAULT;
		ret = vma_fits(vma, write);
	}
	return ret;
}

static int range_map_locked(struct gpuemu_mirror_range *range, u32 first, u32 n,
			    const unsigned long *pfns)
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
		mapped += !__test_and_set_bit(i, range->mapped);
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
static int range_map(struct gpuemu_mirror_range *range, struct hmm_range *found,
		     u32 first, u32 n)
{
	struct gpuemu_mirror *mirror = range->mirror;
	struct gpuemu_dev *dev = mirror->space->dev;
	bool own = false;
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
			ret = range_map_locked(range, first, n, found->hmm_pfns);
		gpuemu_mirror_zap_end(dev);
	} while (ret == -ENOSPC && make_slots(range, &own));
	mutex_unlock(&mirror->ranges_lock);
	/* An entry that had fewer rights may be known. */
	gpuemu_tlb_post(mirror->space, range_addr(range, first),
			range_addr(range, first + n), GPUEMU_INVAL_REMAP);
	return ret;
}

static int range_find_pages(struct gpuemu_mirror_range *range, struct mm_struct *mm,
			    u64 page, u32 n, bool write)
{
	struct hmm_range found = {
		.notifier = &range->notifier,
		.start = page << PAGE_SHIFT,
		.end = (page + n) << PAGE_SHIFT,
		.hmm_pfns = range->mirror->pfns,
		.default_flags = HMM_PFN_REQ_FAULT |
				 (write ? HMM_PFN_REQ_WRITE : 0),
	};
	int ret;

	memset(found.hmm_pfns, 0, n * sizeof(*found.hmm_pfns));
	found.notifier_seq = mmu_interval_read_begin(&range->notifier);
	mmap_read_lock(mm);
	ret = vmas_fit(mm, found.start, found.end, write);
	if (ret) {
		ret = -EFAULT;
	} else {
		ret = hmm_range_fault(&found);
		/* It is mapped, and cannot be had: beyond the end of its file, or lost. */
		if (ret && ret != -EBUSY)
			ret = -ENXIO;
	}
	mmap_read_unlock(mm);
	return ret ? ret : range_map(range, &found, page % GPUEMU_BLOCK_PAGES, n);
}

static int find_pages(struct gpuemu_mirror *mirror, struct mm_struct *mm,
		      u64 page, u32 n, bool write)
{
	struct gpuemu_mirror_range *range;
	int ret = -EBUSY, tries;

	range = range_find(mirror, page / GPUEMU_BLOCK_PAGES);
	if (!range)
		range = range_make(mirror, page / GPUEMU_BLOCK_PAGES);
	if (IS_ERR(range))
		return PTR_ERR(range);
	for (tries = 0; ret == -EBUSY && tries < TRIES; tries++)
		ret = range_find_pages(range, mm, page, n, write);
	range_put(range);
	return ret == -EBUSY ? -EAGAIN : ret;
}

/* All at once, and where that is not to be had, those that are. */
static int ask_serve(struct gpuemu_mirror *mirror, const struct ask *ask)
{
	struct mm_struct *mm = client_of(mirror->space)->mm;
	int ret, err;
	u32 i;

	if (!mmget_not_zero(mm))
		return -EFAULT;
	ret = find_pages(mirror, mm, ask->page, ask->n, ask->write);
	for (i = 0, err = ret; err && err != -ENOSPC && ask->n > 1 && i < ask->n; i++)
		if (READ_ONCE(mirror->closed) ||
		    find_pages(mirror, mm, ask->page + i, 1, ask->write) == -ENOSPC)
			break;
	/* If this is the last one, the client's end is not the worker's to run. */
	mmput_async(mm);
	return ret;
}

static void ask_free(struct kref *ref)
{
	kfree(container_of(ref, struct ask, ref));
}

static void ask_put(struct ask *ask)
{
	kref_put(&ask->ref, ask_free);
}

/* Takes it off the list. */
static void ask_end(struct gpuemu_mirror *mirror, struct ask *ask, int ret)
{
	spin_lock(&mirror->lock);
	list_del(&ask->list);
	mirror->nasks--;
	spin_unlock(&mirror->lock);
	ask->ret = ret;
	complete_all(&ask->done);
	ask_put(ask);
}

static struct ask *ask_first(struct gpuemu_mirror *mirror)
{
	struct ask *ask;

	spin_lock(&mirror->lock);
	ask = list_first_entry_or_null(&mirror->asks, struct ask, list);
	spin_unlock(&mirror->lock);
	return ask;
}

static void mirror_work(struct work_struct *work)
{
	struct gpuemu_mirror *mirror = container_of(work, struct gpuemu_mirror,
						    worker);
	struct gpuemu_client *client = client_of(mirror->space);
	struct mem_cgroup *old = set_active_memcg(mirror->space->memcg);
	struct ask *ask;

	while ((ask = ask_first(mirror))) {
		ask_end(mirror, ask, READ_ONCE(mirror->closed) ? -EFAULT :
			ask_serve(mirror, ask));
		cond_resched();
	}
	set_active_memcg(old);
	gpuemu_client_put(client);
}

/* One that waits and does for this, too; or a new one. NULL: no more, or no memory. */
static struct ask *ask_get(struct gpuemu_mirror *mirror, u64 page, u32 n,
			   bool write)
{
	struct gpuemu_client *client = client_of(mirror->space);
	struct ask *ask, *fresh;
	bool found = false;

	fresh = kzalloc(sizeof(*fresh), GFP_NOWAIT | __GFP_NOWARN);
	spin_lock(&mirror->lock);
	list_for_each_entry(ask, &mirror->asks, list) {
		found = ask->page == page && ask->n >= n && ask->write >= write;
		if (found)
			break;
	}
	if (found) {
		kref_get(&ask->ref);
	} else if (!fresh || mirror->closed || mirror->nasks >= ASKS_MAX) {
		ask = NULL;
	} else {
		ask = fresh;
		fresh = NULL;
		kref_init(&ask->ref);
		kref_get(&ask->ref);
		init_completion(&ask->done);
		ask->page = page;
		ask->n = n;
		ask->write = write;
		list_add_tail(&ask->list, &mirror->asks);
		mirror->nasks++;
	}
	spin_unlock(&mirror->lock);
	kfree(fresh);
	if (ask && !found) {
		kref_get(&client->ref);
		if (!queue_work(mirror->space->dev->mirror.workers,
				&mirror->worker))
			gpuemu_client_put(client);
	}
	return ask;
}

/**
 * gpuemu_mirror_fault() - has pages of the process found and mapped for the engine
 * @mirror: of the space; the caller holds its client
 * @addr: of the first
 * @n: how many, of one VA block
 * @write: to write them
 * @patience_ns: to wait for that at most
 *
 * -EAGAIN: not yet; -EFAULT: the process has no such memory, or not with these rights;
 * -ENXIO: it has, and there is no page; -ENOSPC: no slot; -ENOMEM: no memory or table.
 */
int gpuemu_mirror_fault(struct gpuemu_mirror *mirror, u64 addr, u32 n,
			bool write, u64 patience_ns)
{
	struct ask *ask = ask_get(mirror, addr >> PAGE_SHIFT, n, write);
	u64 begin = ktime_get_ns();
	int ret = -EAGAIN;

	if (!ask)
		return READ_ONCE(mirror->closed) ? -EFAULT : -EAGAIN;
	while (!completion_done(&ask->done) &&
	       ktime_get_ns() - begin < patience_ns &&
	       !fatal_signal_pending(current))
		usleep_range(10, 20);
	if (completion_done(&ask->done))
		ret = ask->ret;
	ask_put(ask);
	return ret;
}

/* --- what the engine asks and is told --- */

/* Whether the page is ordinary memory, as far as its address says. */
bool gpuemu_mirror_has(struct gpuemu_space *space, u64 addr)
{
	return mirror_of(space) &&
	       !gpuemu_space_managed(space, addr >> GPUEMU_PAGE_SHIFT);
}

/* The entries of pages that the engine gives back. */
static int mirror_drop(struct gpuemu_mirror *mirror, u64 addr, u32 n)
{
	struct gpuemu_mirror_range *range;
	u32 first = (addr >> PAGE_SHIFT) % GPUEMU_BLOCK_PAGES;

	range = range_find(mirror, addr >> GPUEMU_BLOCK_SHIFT);
	if (!range)
		return 0;
	gpuemu_mirror_zap_begin(mirror->space->dev);
	range_hide_locked(range, first, first + n - 1);
	gpuemu_mirror_zap_end(mirror->space->dev);
	range_put(range);
	return gpuemu_tlb_invalidate(mirror->space, addr,
				     addr + ((u64)n << PAGE_SHIFT),
				     GPUEMU_INVAL_EVICT, true);
}

/*
 * A COMMIT's migration of ordinary memory: it stays where it is, and the engine maps it
 * there. -EBUSY: the engine wants it in device memory.
 */
int gpuemu_mirror_migrate(struct gpuemu_space *space,
			  struct gpuemu_migration *m, bool write,
			  u64 patience_ns)
{
	struct gpuemu_mirror *mirror = mirror_of(space);
	int ret = -EBUSY;

	if (m->op == GPUEMU_MIGRATE_D2H)
		ret = mirror_drop(mirror, m->addr, m->pages);
	else if (m->op == GPUEMU_MIGRATE_REMOTE)
		ret = gpuemu_mirror_fault(mirror, m->addr, m->pages, write,
					  patience_ns);
	m->moved = ret ? 0 : m->pages;
	trace_gpuemu_migrate(space->id, m->addr, m->pages, m->op, "mirror",
			     m->moved, ret);
	return ret;
}

static bool mirror_allows(struct gpuemu_mirror *mirror,
			  const struct gpuemu_fault *f)
{
	struct gpuemu_mirror_range *range;
	u32 i = (f->addr >> PAGE_SHIFT) % GPUEMU_BLOCK_PAGES;
	bool allows;

	range = range_find(mirror, f->addr >> GPUEMU_BLOCK_SHIFT);
	if (!range)
		return false;
	allows = test_bit(i, f->access >= GPUEMU_ACCESS_WRITE ?
			  range->writable : range->mapped);
	range_put(range);
	return allows;
}

/* What the record of a page that is not managed gets to know. A hint. */
u8 gpuemu_mirror_flags(struct gpuemu_space *space, const struct gpuemu_fault *f)
{
	struct gpuemu_mirror *mirror = mirror_of(space);
	struct mm_struct *mm = client_of(space)->mm;
	struct vm_area_struct *vma;
	u8 flags = GPUEMU_FAULT_PAGEABLE;
	int ret = -EFAULT;

	if (!mirror || !mmget_not_zero(mm))
		return GPUEMU_FAULT_UNMANAGED;
	/* Where the process changes its mappings, the worker waits for it. */
	if (mmap_read_trylock(mm)) {
		vma = vma_lookup(mm, f->addr);
		if (vma)
			ret = vma_fits(vma, f->access >= GPUEMU_ACCESS_WRITE);
		if (ret)
			flags = GPUEMU_FAULT_UNMANAGED;
		if (ret == -EACCES)
			flags |= GPUEMU_FAULT_PROTECTED;
		mmap_read_unlock(mm);
	}
	mmput_async(mm);
	if (flags == GPUEMU_FAULT_PAGEABLE && mirror_allows(mirror, f))
		flags |= GPUEMU_FAULT_RESIDENT;
	return flags;
}

/*
 * Whether the current task may have no work done here: another process has the file, and
 * a kernel of it would use this one's memory.
 */
bool gpuemu_mirror_denies(struct gpuemu_space *space)
{
	return mirror_of(space) && current->mm != client_of(space)->mm;
}

/* --- its life --- */

int gpuemu_mirror_open(struct gpuemu_client *client)
{
	struct gpuemu_space *space = &client->space;
	struct gpuemu_mirror *mirror;
	int ret;

	ret = gpuemu_client_bind_mm(client, current->mm);
	if (ret)
		return ret;
	mirror = kzalloc(sizeof(*mirror), GFP_KERNEL_ACCOUNT);
	if (!mirror)
		return -ENOMEM;
	mirror->lost = alloc_page(GFP_HIGHUSER | __GFP_ZERO | __GFP_ACCOUNT);
	if (!mirror->lost) {
		kfree(mirror);
		return -ENOMEM;
	}
	mirror->space = space;
	spin_lock_init(&mirror->lock);
	INIT_LIST_HEAD(&mirror->asks);
	INIT_WORK(&mirror->worker, mirror_work);
	xa_init_flags(&mirror->ranges, XA_FLAGS_ACCOUNT);
	mutex_init(&mirror->ranges_lock);

	mutex_lock(&client->lock);
	spin_lock(&space->dev->lock);
	/* A work that another process queued would get this one's memory. */
	ret = client->nworks ? -EBUSY : 0;
	if (!ret && !space->mirror) {
		/* Pairs with mirror_of(). */
		smp_store_release(&space->mirror, mirror);
		mirror = NULL;
	}
	spin_unlock(&space->dev->lock);
	mutex_unlock(&client->lock);
	if (mirror) {
		__free_page(mirror->lost);
		kfree(mirror);
	}
	return ret;
}

/*
 * The client's file is released. A worker that waits for memory of the process ends some
 * day, and finds nothing to do.
 */
void gpuemu_mirror_close(struct gpuemu_space *space)
{
	struct gpuemu_mirror *mirror = mirror_of(space);
	struct gpuemu_mirror_range *range;
	unsigned long index;

	if (!mirror)
		return;
	spin_lock(&mirror->lock);
	WRITE_ONCE(mirror->closed, true);
	spin_unlock(&mirror->lock);
	mutex_lock(&mirror->ranges_lock);
	xa_for_each(&mirror->ranges, index, range)
		range_remove(range);
	mutex_unlock(&mirror->ranges_lock);
}

/* Nobody has the client any more. */
void gpuemu_mirror_free(struct gpuemu_space *space)
{
	struct gpuemu_mirror *mirror = space->mirror;

	if (!mirror)
		return;
	WARN_ON_ONCE(!xa_empty(&mirror->ranges) || mirror->nasks);
	xa_destroy(&mirror->ranges);
	__free_page(mirror->lost);
	kfree(mirror);
}
