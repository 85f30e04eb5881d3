// SPDX-License-Identifier: GPL-2.0
/*
 * The worker of a client's mirror: finds the pages that the engine wants, brings them to the
 * device where they are to go, and maps those that stay. It may wait for anything of the
 * client: swap, a file system, its memory cgroup. The engine's thread waits for it for a
 * moment, and asks again.
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
#include <linux/userfaultfd_k.h>

#include "client.h"
#include "dev.h"
#include "inject.h"
#include "mirror_find.h"
#include "mirror_move.h"
#include "mirror_pages.h"
#include "mirror_range.h"
#include "va_space.h"

/* Pages that an engine may ask for before the first is found. */
#define ASKS_MAX 256

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
 * @begun: the worker is at it
 * @ret: how it ended
 * @done: that it did
 */
struct ask {
	struct kref ref;
	struct list_head list;
	struct gpuemu_mirror_want want;
	bool begun;
	int ret;
	struct completion done;
};

/* 0: a device may have it; -EACCES: not so; -EFAULT: not at all. */
int gpuemu_mirror_vma_fits(const struct vm_area_struct *vma, bool write)
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
		ret = gpuemu_mirror_vma_fits(vma, write);
		*armed |= userfaultfd_armed(vma);
		*moves &= gpuemu_mirror_vma_moves(mirror, vma);
	}
	return ret;
}

/* Whether the process has them all, with these rights. */
bool gpuemu_mirror_pages_there(const unsigned long *pfns, u32 n, bool write)
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
	    gpuemu_mirror_pages_there(found->hmm_pfns, n, want->write))
		return ret;
	found->dev_private_owner = NULL;
	memset(found->hmm_pfns, 0, n * sizeof(*found->hmm_pfns));
	return hmm_range_fault(found);
}

/* page, n: of what is wanted, these. The caller has range->looks. */
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
		if (!ret && armed && !gpuemu_mirror_pages_there(found.hmm_pfns, n, want->write))
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
	return gpuemu_mirror_to_device(want) ? gpuemu_mirror_range_note(range, &found, first, n) :
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
	spin_lock(&range->mirror->space->dev->mirror.aperture.lock);
	range->lacks = true;
	spin_unlock(&range->mirror->space->dev->mirror.aperture.lock);
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
		if (gpuemu_mirror_to_device(want))
			moved = range_move(range, mm, page, n, want);
		for (ret = -EBUSY, tries = 0; ret == -EBUSY && tries < TRIES; tries++) {
			down_read(&range->looks);
			ret = range_find_pages(range, mm, page, n, want);
			up_read(&range->looks);
		}
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
		if (err == -ENOSPC && !gpuemu_mirror_to_device(want))
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

/* The caller has taken it off the list. */
static void ask_ended(struct ask *ask, int ret)
{
	ask->ret = ret;
	complete_all(&ask->done);
	ask_put(ask);
}

static void ask_end(struct gpuemu_mirror *mirror, struct ask *ask, int ret)
{
	spin_lock(&mirror->lock);
	list_del(&ask->list);
	WRITE_ONCE(mirror->nasks, mirror->nasks - 1);
	spin_unlock(&mirror->lock);
	ask_ended(ask, ret);
}

static struct ask *ask_first(struct gpuemu_mirror *mirror)
{
	struct ask *ask;

	spin_lock(&mirror->lock);
	ask = list_first_entry_or_null(&mirror->asks, struct ask, list);
	if (ask)
		ask->begun = true;
	spin_unlock(&mirror->lock);
	return ask;
}

void gpuemu_mirror_work(struct work_struct *work)
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
		WRITE_ONCE(mirror->nasks, mirror->nasks + 1);
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

/* Until it is done, or so long after begin. */
static void ask_await(struct ask *ask, u64 begin, u64 patience_ns)
{
	while (!completion_done(&ask->done) && ktime_get_ns() - begin < patience_ns &&
	       !fatal_signal_pending(current))
		usleep_range(10, 20);
}

/**
 * gpuemu_mirror_answered() - the engine has what it wanted, without the worker
 * @mirror: of the space
 * @want: what it wanted
 * @begin: when it began to wait
 * @patience_ns: to wait for at most
 *
 * The engine may have asked the worker before. The worker leaves that question out. Otherwise it
 * would touch pages that nobody wants any more, and a program that watches its memory
 * (userfaultfd) would see a write that nothing does. If the worker has begun with it, this waits.
 */
void gpuemu_mirror_answered(struct gpuemu_mirror *mirror, const struct gpuemu_mirror_want *want,
			    u64 begin, u64 patience_ns)
{
	struct ask *ask, *next, *begun = NULL;
	LIST_HEAD(over);

	/* A question that comes after this look is another thread's, and stays. */
	if (!READ_ONCE(mirror->nasks))
		return;
	spin_lock(&mirror->lock);
	list_for_each_entry_safe(ask, next, &mirror->asks, list) {
		if (!does_for(want, &ask->want))
			continue;
		if (ask->begun) {
			kref_get(&ask->ref);
			begun = ask;
			continue;
		}
		list_move_tail(&ask->list, &over);
		WRITE_ONCE(mirror->nasks, mirror->nasks - 1);
	}
	spin_unlock(&mirror->lock);
	list_for_each_entry_safe(ask, next, &over, list)
		ask_ended(ask, 0);
	if (begun) {
		ask_await(begun, begin, patience_ns);
		ask_put(begun);
	}
}

/* Has the worker do it, and waits until so long after begin. -EAGAIN: not yet. */
int gpuemu_mirror_ask(struct gpuemu_mirror *mirror,
		    const struct gpuemu_mirror_want *want, u64 begin, u64 patience_ns)
{
	struct ask *ask;
	int ret = -EAGAIN;

	/* The process has ended. The worker may be too slow to say so, however often it is asked. */
	if (!atomic_read(&gpuemu_mirror_client(mirror->space)->mm->mm_users))
		return -EFAULT;
	ask = ask_get(mirror, want);
	if (!ask)
		return READ_ONCE(mirror->closed) ? -EFAULT : -EAGAIN;
	ask_await(ask, begin, patience_ns);
	if (completion_done(&ask->done))
		ret = ask->ret;
	ask_put(ask);
	return ret;
}
