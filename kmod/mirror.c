// SPDX-License-Identifier: GPL-2.0
/*
 * What is mirrored of a process for the engine: ranges of a VA block each, with a
 * notifier of mm. A worker of the VA space finds the pages that the engine wants
 * (mirror_find.c), because this may wait for anything (swap, a file system, the client's
 * memory cgroup). All clients wait for the engine, so it waits for the worker for a moment
 * only, and asks again. What the process has already the engine's thread maps itself
 * (mirror_look.c).
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
#include <linux/delay.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "client.h"
#include "dev.h"
#include "lru.h"
#include "mirror_find.h"
#include "mirror_move.h"
#include "mirror_pages.h"
#include "mirror_range.h"
#include "tlb.h"
#include "trace.h"
#include "va_space.h"

static struct gpuemu_mirror *mirror_of(struct gpuemu_space *space)
{
	/* Pairs with gpuemu_cmd_pageable(): it is seen whole. */
	return smp_load_acquire(&space->mirror);
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
	spin_lock(&mirror->space->dev->mirror.aperture.lock);
	for (; n; n--)
		device += test_bit(first++, range->device);
	spin_unlock(&mirror->space->dev->mirror.aperture.lock);
	gpuemu_mirror_range_put(range);
	return device;
}

/*
 * Those of the pages that are on the device go home. Returns how many; *no_memory: some found
 * no page; *later: a worker sends some.
 */
static u32 send_home(struct gpuemu_mirror_range *range, u32 first, u32 n,
		     bool *no_memory, bool *later)
{
	struct gpuemu_dev *dev = range->mirror->space->dev;
	u32 frames[GPUEMU_HOME_PAGES], moved = 0, end = first + n, some;
	bool none = false, put_off;

	while ((some = gpuemu_mirror_range_frames(range, &first, end, frames,
						  GPUEMU_HOME_PAGES))) {
		moved += gpuemu_mirror_pages_home(dev, frames, some, GPUEMU_INVAL_EVICT,
						  &none, &put_off);
		*no_memory |= none;
		*later |= put_off;
	}
	return moved;
}

/* What a worker sends home may be there soon. */
static void await_home(struct gpuemu_mirror *mirror, const struct gpuemu_migration *m,
		       u64 patience_ns)
{
	u64 begin = ktime_get_ns();

	while (on_device(mirror, m->addr, m->pages) && !fatal_signal_pending(current) &&
	       ktime_get_ns() - begin < patience_ns)
		usleep_range(10, 20);
}

/*
 * The engine gives pages back: they go home, and it has no entry of them. -EBUSY: some do not, or
 * not yet. For these three see struct gpuemu_migrate_ops, mirrored.
 */
int gpuemu_mirror_drop(struct gpuemu_space *space, struct gpuemu_migration *m,
		       enum gpuemu_access access, u64 patience_ns)
{
	u32 first = (m->addr >> PAGE_SHIFT) % GPUEMU_BLOCK_PAGES, before;
	struct gpuemu_mirror *mirror = mirror_of(space);
	bool no_memory = false, later = false;
	struct gpuemu_mirror_range *range;
	int ret;

	m->moved = 0;
	range = gpuemu_mirror_range_find(mirror, m->addr >> GPUEMU_BLOCK_SHIFT);
	if (!range)
		return 0;
	before = on_device(mirror, m->addr, m->pages);
	/* Of a huge page more goes than was asked for. */
	m->moved = min(send_home(range, first, m->pages, &no_memory, &later), m->pages);
	if (later) {
		await_home(mirror, m, patience_ns);
		m->moved = before - min(before, on_device(mirror, m->addr, m->pages));
	}
	ret = !on_device(mirror, m->addr, m->pages) ? 0 : no_memory ? -ENOMEM : -EBUSY;
	if (m->moved) {
		gpuemu_mirror_pages_reap(space->dev);
		gpuemu_count(space, EVICTIONS, 1);
		trace_gpuemu_evict(space->id, m->addr, m->pages, "engine", m->moved, ret);
	}
	gpuemu_mirror_range_hide(range, first, first + m->pages - 1);
	gpuemu_mirror_range_put(range);
	return gpuemu_tlb_invalidate(space, m->addr,
				     m->addr + ((u64)m->pages << PAGE_SHIFT),
				     GPUEMU_INVAL_EVICT, true) ?: ret;
}

static struct gpuemu_mirror_want want_of(const struct gpuemu_migration *m,
					 enum gpuemu_access access)
{
	return (struct gpuemu_mirror_want){
		.addr = m->addr,
		.n = m->pages,
		.write = access >= GPUEMU_ACCESS_WRITE,
	};
}

/* Pages come to the device, as far as they can. -EBUSY: some stay, and are used there. */
int gpuemu_mirror_bring(struct gpuemu_space *space, struct gpuemu_migration *m,
			enum gpuemu_access access, u64 patience_ns)
{
	struct gpuemu_mirror *mirror = mirror_of(space);
	struct gpuemu_mirror_want want = want_of(m, access);
	u32 before = on_device(mirror, m->addr, m->pages), after;
	int ret;

	want.where = access == GPUEMU_ACCESS_PREFETCH ? GPUEMU_MIRROR_PREFETCH :
							GPUEMU_MIRROR_DEVICE;
	ret = gpuemu_mirror_fault(mirror, &want, patience_ns);
	after = on_device(mirror, m->addr, m->pages);
	m->moved = after > before ? after - before : 0;
	return ret || after == m->pages ? ret : -EBUSY;
}

/* A fault uses them where they are. Without one they are to be in system memory. */
int gpuemu_mirror_use(struct gpuemu_space *space, struct gpuemu_migration *m,
		      enum gpuemu_access access, u64 patience_ns)
{
	struct gpuemu_mirror_want want = want_of(m, access);
	int ret;

	if (access == GPUEMU_ACCESS_PREFETCH)
		want.where = GPUEMU_MIRROR_HOME;
	ret = gpuemu_mirror_fault(mirror_of(space), &want, patience_ns);
	m->moved = ret ? 0 : m->pages;
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
			ret = gpuemu_mirror_vma_fits(vma, f->access >= GPUEMU_ACCESS_WRITE);
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

/* Whether an access of the engine to the process' memory went nowhere. */
bool gpuemu_mirror_late(struct gpuemu_space *space)
{
	struct gpuemu_mirror *mirror = mirror_of(space);

	return mirror && READ_ONCE(mirror->late);
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
	INIT_WORK(&mirror->worker, gpuemu_mirror_work);
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
