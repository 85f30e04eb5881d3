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
#include "lru.h"
#include "mirror_move.h"
#include "mirror_pages.h"
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

/*
 * So often pages are moved to the device. One that is written and was shared comes home
 * for that, and then goes; one that is new may be in a list of another CPU the first time.
 */
#define ROUNDS 2

/**
 * struct ask - pages that the engine wants
 * @ref: one for the mirror's list, one for each task that waits
 * @list: in the mirror's list
 * @want: which
 * @ret: how it ended
 * @done: that it did
 */
struct ask {
	struct kref ref;
	struct list_head list;
	struct gpuemu_mirror_want want;
	int ret;
	struct completion done;
};

static bool to_device(const struct gpuemu_mirror_want *want)
{
	return want->where == GPUEMU_MIRROR_DEVICE ||
	       want->where == GPUEMU_MIRROR_PREFETCH;
}

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

/* *armed: userfaultfd has some of it. *moves: all of it may be on the device. */
static int vmas_fit(struct gpuemu_mirror *mirror, struct mm_struct *mm, u64 start, u64 end,
		    bool write, bool *armed, bool *moves)
{
	struct vm_area_struct *vma;
	int ret = 0;

	*armed = false;
	*moves = true;
	lockdep_assert_held(&mm->mmap_lock);
	for (; !ret && start < end; start = vma->vm_end) {
		vma = vma_lookup(mm, start);
		if (!vma)
			return -EFAULT;
		ret = vma_fits(vma, write);
		*armed |= userfaultfd_armed(vma);
		*moves &= gpuemu_mirror_vma_moves(mirror, vma);
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

/*
 * What the process has there. Where it has less than is wanted, because the page is on the
 * device and may not be there, or not be written there, it comes home for that.
 */
static int range_look(struct hmm_range *found, const struct gpuemu_mirror_want *want,
		      struct gpuemu_dev *dev, bool armed, bool moves)
{
	const u32 n = (found->end - found->start) >> PAGE_SHIFT;
	int ret;

	memset(found->hmm_pfns, 0, n * sizeof(*found->hmm_pfns));
	if (moves && want->where != GPUEMU_MIRROR_HOME)
		found->dev_private_owner = dev;
	ret = hmm_range_fault(found);
	if (ret || !found->dev_private_owner || want->where == GPUEMU_MIRROR_PREFETCH ||
	    pages_there(found->hmm_pfns, n, want->write))
		return ret;
	found->dev_private_owner = NULL;
	memset(found->hmm_pfns, 0, n * sizeof(*found->hmm_pfns));
	return hmm_range_fault(found);
}

/* page, n: of what is wanted, these. */
static int range_find_pages(struct gpuemu_mirror_range *range, struct mm_struct *mm,
			    u64 page, u32 n, const struct gpuemu_mirror_want *want)
{
	struct hmm_range found = {
		.notifier = &range->notifier,
		.start = page << PAGE_SHIFT,
		.end = (page + n) << PAGE_SHIFT,
		.hmm_pfns = range->mirror->pfns,
	};
	struct gpuemu_dev *dev = range->mirror->space->dev;
	const u32 first = page % GPUEMU_BLOCK_PAGES;
	bool armed, moves;
	int ret;

	found.notifier_seq = mmu_interval_read_begin(&range->notifier);
	mmap_read_lock(mm);
	ret = vmas_fit(range->mirror, mm, found.start, found.end, want->write, &armed,
		       &moves);
	if (ret) {
		ret = -EFAULT;
	} else if (armed && n > 1) {
		/* One by one, then. */
		ret = -ENXIO;
	} else {
		if (!armed && want->where != GPUEMU_MIRROR_PREFETCH)
			found.default_flags = HMM_PFN_REQ_FAULT |
					      (want->write ? HMM_PFN_REQ_WRITE : 0);
		ret = range_look(&found, want, dev, armed, moves);
		if (!ret && armed && !pages_there(found.hmm_pfns, n, want->write))
			ret = -ENXIO;
		/* It is mapped, and cannot be had: beyond the end of its file, or lost. */
		if (ret && ret != -EBUSY)
			ret = -ENXIO;
	}
	mmap_read_unlock(mm);
	if (ret == -ENXIO && armed && n == 1)
		ret = fault_in(mm, found.start, want->write);
	if (ret)
		return ret;
	gpuemu_inject_pause(dev, GPUEMU_INJECT_PAUSE_MIRROR);
	/* What goes to the device is mapped by its COMMIT, so that the engine knows. */
	return to_device(want) ? gpuemu_mirror_range_note(range, &found, first, n) :
				 gpuemu_mirror_range_map(range, &found, first, n);
}

/* -ENOSPC: some found no frame, and are mapped where they are. */
static int range_move(struct gpuemu_mirror_range *range, struct mm_struct *mm,
		      u64 page, u32 n, const struct gpuemu_mirror_want *want)
{
	u32 lacking;

	mmap_read_lock(mm);
	gpuemu_mirror_move(range, mm, page % GPUEMU_BLOCK_PAGES, n, want->write,
			   want->where == GPUEMU_MIRROR_DEVICE, &lacking);
	mmap_read_unlock(mm);
	if (!lacking)
		return 0;
	mutex_lock(&range->mirror->space->dev->mirror.lock);
	range->lacks = true;
	mutex_unlock(&range->mirror->space->dev->mirror.lock);
	return -ENOSPC;
}

static bool range_stays(const struct gpuemu_mirror_range *range, u64 page, u32 n)
{
	u32 first = page % GPUEMU_BLOCK_PAGES;

	return find_next_bit(range->stays, first + n, first) < first + n;
}

static int find_pages(struct gpuemu_mirror *mirror, struct mm_struct *mm,
		      u64 page, u32 n, const struct gpuemu_mirror_want *want)
{
	struct gpuemu_mirror_range *range;
	int ret, moved = 0, tries, rounds;

	range = gpuemu_mirror_range_find(mirror, page / GPUEMU_BLOCK_PAGES);
	if (!range)
		range = gpuemu_mirror_range_make(mirror, page / GPUEMU_BLOCK_PAGES);
	if (IS_ERR(range))
		return PTR_ERR(range);
	for (rounds = 0; rounds < ROUNDS; rounds++) {
		if (to_device(want))
			moved = range_move(range, mm, page, n, want);
		for (ret = -EBUSY, tries = 0; ret == -EBUSY && tries < TRIES; tries++)
			ret = range_find_pages(range, mm, page, n, want);
		if (ret || moved || want->where != GPUEMU_MIRROR_DEVICE ||
		    !range_stays(range, page, n))
			break;
	}
	gpuemu_mirror_range_put(range);
	if (ret == -EBUSY)
		return -EAGAIN;
	return ret ?: moved;
}

/* Page by page, as far as they are to be had. 0: all are; -ENOSPC: a slot or a frame lacks. */
static int find_each(struct gpuemu_mirror *mirror, struct mm_struct *mm,
		     const struct gpuemu_mirror_want *want, int ret)
{
	u32 i, left = want->n;
	bool lacking = false;
	int err;

	for (i = 0; i < want->n && !READ_ONCE(mirror->closed); i++) {
		err = find_pages(mirror, mm, (want->addr >> PAGE_SHIFT) + i, 1, want);
		lacking |= err == -ENOSPC;
		if (err == -ENOSPC && !to_device(want))
			break;
		left -= !err || err == -ENOSPC;
	}
	if (left)
		return ret;
	return lacking ? -ENOSPC : 0;
}

/* All at once, or else one by one. */
static int ask_serve(struct gpuemu_mirror *mirror, const struct ask *ask)
{
	struct mm_struct *mm = gpuemu_mirror_client(mirror->space)->mm;
	const struct gpuemu_mirror_want *want = &ask->want;
	int ret;

	if (!mmget_not_zero(mm))
		return -EFAULT;
	ret = find_pages(mirror, mm, want->addr >> PAGE_SHIFT, want->n, want);
	if (ret && ret != -ENOSPC && want->n > 1)
		ret = find_each(mirror, mm, want, ret);
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

/* Whether what is done for one does for the other. */
static bool does_for(const struct gpuemu_mirror_want *one,
		     const struct gpuemu_mirror_want *other)
{
	return one->addr == other->addr && one->n >= other->n &&
	       one->write >= other->write && one->where == other->where;
}

/* One that waits and does for this, too; or a new one. NULL: no more, or no memory. */
static struct ask *ask_get(struct gpuemu_mirror *mirror,
			   const struct gpuemu_mirror_want *want)
{
	struct gpuemu_client *client = gpuemu_mirror_client(mirror->space);
	struct ask *ask, *fresh;
	bool found = false;

	fresh = kzalloc(sizeof(*fresh), GFP_NOWAIT | __GFP_NOWARN);
	spin_lock(&mirror->lock);
	list_for_each_entry(ask, &mirror->asks, list) {
		found = does_for(&ask->want, want);
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
		ask->want = *want;
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

/* Whether the process has all that is wanted of them; the pfns of others become 0. */
static bool suits(struct gpuemu_mirror_range *range, struct hmm_range *found, u32 n,
		  const struct gpuemu_mirror_want *want)
{
	struct gpuemu_dev *dev = range->mirror->space->dev;
	u32 first = (found->start >> PAGE_SHIFT) % GPUEMU_BLOCK_PAGES, i;
	unsigned long *pfns = found->hmm_pfns;
	bool device;

	if (want->where != GPUEMU_MIRROR_PREFETCH && !pages_there(pfns, n, want->write))
		return false;
	for (i = 0; i < n; i++) {
		device = pfns[i] & HMM_PFN_VALID &&
			 gpuemu_mirror_page_is(dev, hmm_pfn_to_page(pfns[i]));
		/* The worker has tried. */
		if (want->where == GPUEMU_MIRROR_DEVICE && !device &&
		    !test_bit(first + i, range->stays))
			return false;
		if (want->where == GPUEMU_MIRROR_PREFETCH && !device)
			pfns[i] = 0;
	}
	return true;
}

/* A look at the process' page table, for which nobody is waited. */
static bool look(struct gpuemu_mirror_range *range, struct hmm_range *found, u32 n,
		 const struct gpuemu_mirror_want *want)
{
	struct gpuemu_mirror *mirror = range->mirror;
	struct mm_struct *mm = gpuemu_mirror_client(mirror->space)->mm;
	struct vm_area_struct *vma;
	bool there = false;

	if (!mmget_not_zero(mm))
		return false;
	if (mmap_read_trylock(mm)) {
		vma = vma_lookup(mm, found->start);
		if (vma && found->end <= vma->vm_end &&
		    !is_vm_hugetlb_page(vma) && !vma_fits(vma, want->write)) {
			if (gpuemu_mirror_vma_moves(mirror, vma) &&
			    want->where != GPUEMU_MIRROR_HOME)
				found->dev_private_owner = mirror->space->dev;
			there = !hmm_range_fault(found) &&
				suits(range, found, n, want);
		}
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
static bool fault_some_at_once(struct gpuemu_mirror_range *range, u64 addr, u32 n,
			       const struct gpuemu_mirror_want *want)
{
	struct gpuemu_mirror *mirror = range->mirror;
	struct gpuemu_mirror_slots *slots = &mirror->space->dev->mirror;
	unsigned long pfns[AT_ONCE] = { };
	struct hmm_range found = {
		.notifier = &range->notifier,
		.start = addr,
		.end = addr + ((u64)n << PAGE_SHIFT),
		.hmm_pfns = pfns,
	};
	u32 first = (addr >> PAGE_SHIFT) % GPUEMU_BLOCK_PAGES;
	bool news = false, done = false;

	found.notifier_seq = READ_ONCE(range->seq);
	if (found.notifier_seq && look(range, &found, n, want) &&
	    mutex_trylock(&slots->lock)) {
		WRITE_ONCE(slots->zapper, current);
		if (!range->dead &&
		    !mmu_interval_read_retry(&range->notifier, found.notifier_seq))
			done = !gpuemu_mirror_range_map_locked(range, first, n, pfns, &news);
		gpuemu_mirror_zap_end(mirror->space->dev);
	}
	if (news)
		gpuemu_tlb_post(mirror->space, found.start, found.end,
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
		n = min_t(u32, want->n - i, AT_ONCE);
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

/* Has the worker do it, and waits until so long after begin. -EAGAIN: not yet. */
static int ask_wait(struct gpuemu_mirror *mirror,
		    const struct gpuemu_mirror_want *want, u64 begin, u64 patience_ns)
{
	struct ask *ask = ask_get(mirror, want);
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
	mutex_lock(&mirror->space->dev->mirror.lock);
	swap(lacks, range->lacks);
	if (lacks)
		bitmap_clear(range->stays, (want->addr >> PAGE_SHIFT) % GPUEMU_BLOCK_PAGES,
			     want->n);
	mutex_unlock(&mirror->space->dev->mirror.lock);
	gpuemu_mirror_range_put(range);
	return lacks;
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

	if (want->where != GPUEMU_MIRROR_PREFETCH && fault_at_once(mirror, want, false))
		return lacked(mirror, want) ? -ENOSPC : 0;
	ret = ask_wait(mirror, want, begin, patience_ns);
	if (!to_device(want) || ret == -EAGAIN)
		return ret;
	/* Those that are there, also if others are not. */
	if (fault_at_once(mirror, want, true))
		return lacked(mirror, want) ? -ENOSPC : ret;
	if (want->where == GPUEMU_MIRROR_PREFETCH)
		return ret ?: -EAGAIN;
	/* Slots may lack, too; and a process that changes all the time gets on. */
	here.where = GPUEMU_MIRROR_ANYWHERE;
	return ask_wait(mirror, &here, begin, patience_ns) ?: ret;
}

/* --- what the engine asks and is told --- */

/* Whether the page is ordinary memory, as far as its address says. */
bool gpuemu_mirror_has(struct gpuemu_space *space, u64 addr)
{
	return mirror_of(space) &&
	       !gpuemu_space_managed(space, addr >> GPUEMU_PAGE_SHIFT);
}

/* How many of the pages the engine has mapped on the device. */
static u32 on_device(struct gpuemu_mirror *mirror, u64 addr, u32 n)
{
	u32 first = (addr >> PAGE_SHIFT) % GPUEMU_BLOCK_PAGES, device = 0;
	struct gpuemu_mirror_range *range;

	range = gpuemu_mirror_range_find(mirror, addr >> GPUEMU_BLOCK_SHIFT);
	if (!range)
		return 0;
	mutex_lock(&mirror->space->dev->mirror.lock);
	for (; n; n--)
		device += test_bit(first++, range->device);
	mutex_unlock(&mirror->space->dev->mirror.lock);
	gpuemu_mirror_range_put(range);
	return device;
}

/* Those of the pages that are on the device go home. Returns how many; *no_memory: some found no page. */
static u32 send_home(struct gpuemu_mirror_range *range, u32 first, u32 n,
		     bool *no_memory)
{
	struct gpuemu_dev *dev = range->mirror->space->dev;
	u32 frames[GPUEMU_HOME_PAGES], moved = 0, end = first + n, some;
	bool none;

	while ((some = gpuemu_mirror_range_frames(range, &first, end, frames,
						  GPUEMU_HOME_PAGES))) {
		moved += gpuemu_mirror_home(dev, frames, some, GPUEMU_INVAL_EVICT,
					    &none);
		*no_memory |= none;
	}
	return moved;
}

/* The engine gives pages back: they go home, and it has no entry of them. */
static int mirror_drop(struct gpuemu_mirror *mirror, struct gpuemu_migration *m)
{
	u32 first = (m->addr >> PAGE_SHIFT) % GPUEMU_BLOCK_PAGES;
	struct gpuemu_space *space = mirror->space;
	struct gpuemu_mirror_range *range;
	bool no_memory = false;
	int ret;

	m->moved = 0;
	range = gpuemu_mirror_range_find(mirror, m->addr >> GPUEMU_BLOCK_SHIFT);
	if (!range)
		return 0;
	m->moved = send_home(range, first, m->pages, &no_memory);
	ret = !on_device(mirror, m->addr, m->pages) ? 0 : no_memory ? -ENOMEM : -EBUSY;
	if (m->moved) {
		gpuemu_mirror_pages_reap(space->dev);
		gpuemu_count(space, EVICTIONS, 1);
		trace_gpuemu_evict(space->id, m->addr, m->pages, "engine", m->moved, ret);
	}
	gpuemu_mirror_zap_begin(space->dev);
	gpuemu_mirror_range_hide_locked(range, first, first + m->pages - 1);
	gpuemu_mirror_zap_end(space->dev);
	gpuemu_mirror_range_put(range);
	return gpuemu_tlb_invalidate(space, m->addr,
				     m->addr + ((u64)m->pages << PAGE_SHIFT),
				     GPUEMU_INVAL_EVICT, true) ?: ret;
}

/* Pages come to the device, as far as they can. -EBUSY: some stay, and are used there. */
static int mirror_bring(struct gpuemu_mirror *mirror, struct gpuemu_migration *m,
			const struct gpuemu_mirror_want *want, u64 patience_ns)
{
	u32 before = on_device(mirror, m->addr, m->pages), after;
	int ret = gpuemu_mirror_fault(mirror, want, patience_ns);

	after = on_device(mirror, m->addr, m->pages);
	m->moved = after > before ? after - before : 0;
	return ret || after == m->pages ? ret : -EBUSY;
}

/*
 * A COMMIT's migration of ordinary memory. access: the strongest of the faults that it is
 * for; PREFETCH: there is none.
 */
int gpuemu_mirror_migrate(struct gpuemu_space *space,
			  struct gpuemu_migration *m, enum gpuemu_access access,
			  u64 patience_ns)
{
	struct gpuemu_mirror *mirror = mirror_of(space);
	struct gpuemu_mirror_want want = {
		.addr = m->addr,
		.n = m->pages,
		.write = access >= GPUEMU_ACCESS_WRITE,
	};
	int ret = -EBUSY;

	switch (m->op) {
	case GPUEMU_MIGRATE_D2H:
		ret = mirror_drop(mirror, m);
		break;
	case GPUEMU_MIGRATE_H2D:
		want.where = access == GPUEMU_ACCESS_PREFETCH ? GPUEMU_MIRROR_PREFETCH :
								GPUEMU_MIRROR_DEVICE;
		ret = mirror_bring(mirror, m, &want, patience_ns);
		break;
	case GPUEMU_MIGRATE_REMOTE:
		ret = gpuemu_mirror_fault(mirror, &want, patience_ns);
		m->moved = ret ? 0 : m->pages;
		break;
	}
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
		if (!ret && gpuemu_mirror_vma_moves(mirror, vma))
			flags |= GPUEMU_FAULT_MOVES;
		if (ret)
			flags = GPUEMU_FAULT_UNMANAGED;
		if (ret == -EACCES)
			flags |= GPUEMU_FAULT_PROTECTED;
		mmap_read_unlock(mm);
	}
	mmput_async(mm);
	if (!(flags & GPUEMU_FAULT_UNMANAGED) && mirror_allows(mirror, f))
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
	gpuemu_mirror_pages_leave(space);
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
