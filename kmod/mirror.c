// SPDX-License-Identifier: GPL-2.0
/*
 * What is mirrored of a process for the engine: ranges of a VA block each, with a
 * notifier of mm. A worker of the VA space finds the pages that the engine wants, because
 * this may wait for anything (swap, a file system, the client's memory cgroup). All clients
 * wait for the engine, so it waits for the worker for a moment only, and asks again.
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
#include <linux/hugetlb_inline.h>
#include <linux/ktime.h>
#include <linux/magic.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/userfaultfd_k.h>

#include "client.h"
#include "cmd.h"
#include "dev.h"
#include "inject.h"
#include "mirror_range.h"
#include "objects.h"
#include "remote_map.h"
#include "sysmem.h"
#include "tlb.h"
#include "trace.h"
#include "va_block.h"
#include "va_space.h"

/* Pages that an engine may ask for before the first is found. */
#define ASKS_MAX 256

/* So many pages at most are mapped at once, without the worker: they are on the stack. */
#define AT_ONCE 16

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

static struct gpuemu_mirror *mirror_of(struct gpuemu_space *space)
{
	/* Pairs with gpuemu_cmd_pageable(): it is seen whole. */
	return smp_load_acquire(&space->mirror);
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

/* *armed: userfaultfd has some of it. */
static int vmas_fit(struct mm_struct *mm, u64 start, u64 end, bool write,
		    bool *armed)
{
	struct vm_area_struct *vma;
	int ret = 0;

	*armed = false;
	lockdep_assert_held(&mm->mmap_lock);
	for (; !ret && start < end; start = vma->vm_end) {
		vma = vma_lookup(mm, start);
		if (!vma)
			return -EFAULT;
		ret = vma_fits(vma, write);
		*armed |= userfaultfd_armed(vma);
	}
	return ret;
}

static bool pages_there(const unsigned long *pfns, u32 n, bool write)
{
	const unsigned long need = HMM_PFN_VALID | (write ? HMM_PFN_WRITE : 0);
	u32 i;

	for (i = 0; i < n; i++)
		if ((pfns[i] & (need | HMM_PFN_ERROR)) != need)
			return false;
	return true;
}

/*
 * Gets a page that userfaultfd may have: hmm_range_fault() does not wait for the program that
 * serves it, and this does, as an access of the CPU. -EBUSY: look again.
 */
static int fault_in(struct mm_struct *mm, u64 addr, bool write)
{
	bool unlocked = false;
	int ret;

	mmap_read_lock(mm);
	ret = fixup_user_fault(mm, addr, write ? FAULT_FLAG_WRITE : 0, &unlocked);
	mmap_read_unlock(mm);
	return ret ? -ENXIO : -EBUSY;
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
	bool armed;
	int ret;

	memset(found.hmm_pfns, 0, n * sizeof(*found.hmm_pfns));
	found.notifier_seq = mmu_interval_read_begin(&range->notifier);
	mmap_read_lock(mm);
	ret = vmas_fit(mm, found.start, found.end, write, &armed);
	if (ret) {
		ret = -EFAULT;
	} else if (armed && n > 1) {
		/* One by one, then. */
		ret = -ENXIO;
	} else {
		if (armed)
			found.default_flags = 0;
		ret = hmm_range_fault(&found);
		if (!ret && armed && !pages_there(found.hmm_pfns, n, write))
			ret = -ENXIO;
		/* It is mapped, and cannot be had: beyond the end of its file, or lost. */
		if (ret && ret != -EBUSY)
			ret = -ENXIO;
	}
	mmap_read_unlock(mm);
	if (ret == -ENXIO && armed && n == 1)
		ret = fault_in(mm, found.start, write);
	if (ret)
		return ret;
	gpuemu_inject_pause(range->mirror->space->dev, GPUEMU_INJECT_PAUSE_MIRROR);
	return gpuemu_mirror_range_map(range, &found, page % GPUEMU_BLOCK_PAGES, n);
}

static int find_pages(struct gpuemu_mirror *mirror, struct mm_struct *mm,
		      u64 page, u32 n, bool write)
{
	struct gpuemu_mirror_range *range;
	int ret = -EBUSY, tries;

	range = gpuemu_mirror_range_find(mirror, page / GPUEMU_BLOCK_PAGES);
	if (!range)
		range = gpuemu_mirror_range_make(mirror, page / GPUEMU_BLOCK_PAGES);
	if (IS_ERR(range))
		return PTR_ERR(range);
	for (tries = 0; ret == -EBUSY && tries < TRIES; tries++)
		ret = range_find_pages(range, mm, page, n, write);
	gpuemu_mirror_range_put(range);
	return ret == -EBUSY ? -EAGAIN : ret;
}

/* Page by page, as far as they are to be had. True: all are. */
static bool find_each(struct gpuemu_mirror *mirror, struct mm_struct *mm,
		      const struct ask *ask)
{
	u32 i, left = ask->n;
	int ret;

	for (i = 0; i < ask->n && !READ_ONCE(mirror->closed); i++) {
		ret = find_pages(mirror, mm, ask->page + i, 1, ask->write);
		if (ret == -ENOSPC)
			break;
		left -= !ret;
	}
	return !left;
}

/* All at once, or else one by one. */
static int ask_serve(struct gpuemu_mirror *mirror, const struct ask *ask)
{
	struct mm_struct *mm = gpuemu_mirror_client(mirror->space)->mm;
	int ret;

	if (!mmget_not_zero(mm))
		return -EFAULT;
	ret = find_pages(mirror, mm, ask->page, ask->n, ask->write);
	if (ret && ret != -ENOSPC && ask->n > 1 && find_each(mirror, mm, ask))
		ret = 0;
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
	struct gpuemu_client *client = gpuemu_mirror_client(mirror->space);
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
	struct gpuemu_client *client = gpuemu_mirror_client(mirror->space);
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

/* --- pages that are there --- */

/* A look at the process' page table, for which nobody is waited. */
static bool look(struct gpuemu_mirror *mirror, struct hmm_range *found, u32 n,
		 bool write)
{
	struct mm_struct *mm = gpuemu_mirror_client(mirror->space)->mm;
	struct vm_area_struct *vma;
	bool there = false;

	if (!mmget_not_zero(mm))
		return false;
	if (mmap_read_trylock(mm)) {
		vma = vma_lookup(mm, found->start);
		if (vma && found->end <= vma->vm_end &&
		    !is_vm_hugetlb_page(vma) && !vma_fits(vma, write))
			there = !hmm_range_fault(found) &&
				pages_there(found->hmm_pfns, n, write);
		mmap_read_unlock(mm);
	}
	mmput_async(mm);
	if (there)
		gpuemu_inject_pause(mirror->space->dev, GPUEMU_INJECT_PAUSE_MIRROR);
	return there;
}

/*
 * Maps pages that the process has mapped itself, which are most. The sequence number is an
 * old one: it still holds if nothing changed since, and to get another one is to wait for
 * a change that is going on. False: the worker has to.
 */
static bool fault_at_once(struct gpuemu_mirror *mirror, u64 page, u32 n,
			  bool write)
{
	struct gpuemu_mirror_slots *slots = &mirror->space->dev->mirror;
	unsigned long pfns[AT_ONCE] = { };
	struct hmm_range found = {
		.start = page << PAGE_SHIFT,
		.end = (page + n) << PAGE_SHIFT,
		.hmm_pfns = pfns,
	};
	struct gpuemu_mirror_range *range;
	bool news = false, done = false;

	range = gpuemu_mirror_range_find(mirror, page / GPUEMU_BLOCK_PAGES);
	if (!range)
		return false;
	found.notifier = &range->notifier;
	found.notifier_seq = READ_ONCE(range->seq);
	if (found.notifier_seq && look(mirror, &found, n, write) &&
	    mutex_trylock(&slots->lock)) {
		WRITE_ONCE(slots->zapper, current);
		if (!range->dead &&
		    !mmu_interval_read_retry(&range->notifier, found.notifier_seq))
			done = !gpuemu_mirror_range_map_locked(range, page % GPUEMU_BLOCK_PAGES,
							       n, pfns, &news);
		gpuemu_mirror_zap_end(mirror->space->dev);
	}
	if (news)
		gpuemu_tlb_post(mirror->space, found.start, found.end,
				GPUEMU_INVAL_REMAP);
	gpuemu_mirror_range_put(range);
	return done;
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
	u64 begin = ktime_get_ns();
	struct ask *ask;
	int ret = -EAGAIN;

	if (n <= AT_ONCE && fault_at_once(mirror, addr >> PAGE_SHIFT, n, write))
		return 0;
	ask = ask_get(mirror, addr >> PAGE_SHIFT, n, write);
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

	range = gpuemu_mirror_range_find(mirror, addr >> GPUEMU_BLOCK_SHIFT);
	if (!range)
		return 0;
	gpuemu_mirror_zap_begin(mirror->space->dev);
	gpuemu_mirror_range_hide_locked(range, first, first + n - 1);
	gpuemu_mirror_zap_end(mirror->space->dev);
	gpuemu_mirror_range_put(range);
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

	range = gpuemu_mirror_range_find(mirror, f->addr >> GPUEMU_BLOCK_SHIFT);
	if (!range)
		return false;
	allows = test_bit(i, f->access >= GPUEMU_ACCESS_WRITE ?
			  range->writable : range->mapped);
	gpuemu_mirror_range_put(range);
	return allows;
}

/* What the record of a page that is not managed gets to know. A hint. */
u8 gpuemu_mirror_flags(struct gpuemu_space *space, const struct gpuemu_fault *f)
{
	struct gpuemu_mirror *mirror = mirror_of(space);
	struct mm_struct *mm = gpuemu_mirror_client(space)->mm;
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
 * Whether the current task may queue no job here: another process has the file, and
 * a kernel of it would use this one's memory.
 */
bool gpuemu_mirror_denies(struct gpuemu_space *space)
{
	return mirror_of(space) && current->mm != gpuemu_mirror_client(space)->mm;
}

/* --- its life --- */

int gpuemu_mirror_open(struct gpuemu_client *client)
{
	struct gpuemu_space *space = &client->space;
	struct gpuemu_mirror *mirror;
	int ret;

	mmap_write_lock(current->mm);
	ret = gpuemu_client_bind_mm(client, current->mm);
	mmap_write_unlock(current->mm);
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
	spin_lock(&space->dev->jobs_lock);
	/* A job that another process queued would get this one's memory. */
	ret = client->njobs ? -EBUSY : 0;
	if (!ret && !space->mirror) {
		/* Pairs with mirror_of(). */
		smp_store_release(&space->mirror, mirror);
		mirror = NULL;
	}
	spin_unlock(&space->dev->jobs_lock);
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
		gpuemu_mirror_range_remove(range);
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
