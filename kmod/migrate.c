// SPDX-License-Identifier: GPL-2.0
/*
 * Migration: revoke one side's mappings, copy, map the other side. Decides
 * nothing; the engine's service thread says what to move (COMMIT), the CPU's
 * faults say what to bring back.
 */
#include <linux/highmem.h>
#include <linux/ktime.h>
#include <linux/sched/signal.h>

#include "client.h"
#include "dev.h"
#include "engine.h"
#include "inject.h"
#include "limit.h"
#include "link.h"
#include "migrate.h"
#include "objects.h"
#include "tlb.h"
#include "trace.h"
#include "va_block.h"
#include "va_space.h"
#include "zero.h"

/* Somebody else may be there first for the room that was made. */
#define MAKE_ROOM_MAX 4

typedef unsigned long page_mask[BITS_TO_LONGS(GPUEMU_BLOCK_PAGES)];

static u64 block_page_nr(const struct gpuemu_block *block, u32 i)
{
	return gpuemu_block_addr(block, i) >> GPUEMU_PAGE_SHIFT;
}

/*
 * Which of the pages are managed and, for the device, may go there. -EFAULT if
 * not all are; the others are moved all the same. Of several failures in one
 * run the one that the service thread can act on is reported: no memory, no
 * frame, pinned, not managed.
 */
static int managed_pages(struct gpuemu_block *block, u32 first, u32 n,
			 bool to_device, unsigned long *mask)
{
	u64 page_nr = block_page_nr(block, first);

	bitmap_zero(mask, GPUEMU_BLOCK_PAGES);
	if (to_device)
		gpuemu_space_device_mask(block->space, page_nr, n, mask, first);
	else
		gpuemu_space_managed_mask(block->space, page_nr, n, mask,
					  first);
	return bitmap_weight(mask, GPUEMU_BLOCK_PAGES) == n ? 0 : -EFAULT;
}

/*
 * Takes the pages of the mask from the CPU: after this no CPU can reach them
 * and, because faults need the block's lock, none will. One call for the run:
 * it is the dearest step when many threads have touched the memory.
 */
static void unmap_cpu(struct gpuemu_block *block, const unsigned long *mask)
{
	page_mask mapped;
	u32 first, last;

	if (!bitmap_and(mapped, mask, block->cpu_mapped, GPUEMU_BLOCK_PAGES))
		return;
	first = find_first_bit(mapped, GPUEMU_BLOCK_PAGES);
	last = find_last_bit(mapped, GPUEMU_BLOCK_PAGES);
	unmap_mapping_range(block->space->mapping,
			    gpuemu_block_addr(block, first),
			    (loff_t)(last - first + 1) << PAGE_SHIFT, 1);
	bitmap_andnot(block->cpu_mapped, block->cpu_mapped, mapped,
		      GPUEMU_BLOCK_PAGES);
}

/*
 * Gives each page of the mask a frame; those that get none leave the mask.
 * Returns how many these are.
 */
static u32 alloc_frames(struct gpuemu_block *block, unsigned long *mask)
{
	u32 want = bitmap_weight(mask, GPUEMU_BLOCK_PAGES), got = 0, may;
	struct gpuemu_dev *dev = block->space->dev;

	may = gpuemu_limit_take_frames(block->space, mask, GPUEMU_BLOCK_PAGES);
	if (gpuemu_inject(dev, GPUEMU_INJECT_FRAME))
		bitmap_zero(mask, GPUEMU_BLOCK_PAGES);
	else
		got = gpuemu_vram_alloc(&dev->vram, block->frames, mask,
					GPUEMU_BLOCK_PAGES);
	gpuemu_limit_give_frames(block->space, may - got);
	return want - got;
}

/*
 * A page that has a reference besides the block's is being read or written
 * behind the page tables (O_DIRECT, GUP): it stays where it is and leaves the
 * mask. The reference count is exact here: the CPU's mappings are gone, and a
 * racing get_user_pages_fast() either finds its PTE changed and lets go, or took
 * its reference before the unmap.
 */
static int drop_pinned(struct gpuemu_block *block, unsigned long *mask)
{
	page_mask pinned = { };
	u32 i, n;

	for_each_set_bit(i, mask, GPUEMU_BLOCK_PAGES)
		if (block->pages[i] && page_ref_count(block->pages[i]) != 1)
			__set_bit(i, pinned);
	n = bitmap_weight(pinned, GPUEMU_BLOCK_PAGES);
	if (!n)
		return 0;
	gpuemu_vram_free(&block->space->dev->vram, block->frames, pinned,
			 GPUEMU_BLOCK_PAGES);
	gpuemu_limit_give_frames(block->space, n);
	bitmap_andnot(mask, mask, pinned, GPUEMU_BLOCK_PAGES);
	gpuemu_count(block->space, PINNED_REFUSALS, n);
	return -EBUSY;
}

/* How many pages of the mask from i on are contiguous on both sides. */
static u32 run_length(const struct gpuemu_block *block,
		      const unsigned long *mask, u32 i)
{
	struct page *page = block->pages[i];
	u32 frame = block->frames[i], n;

	/* There, a page is mapped alone. */
	if (IS_ENABLED(CONFIG_HIGHMEM) || !page)
		return 1;
	for (n = 1; i + n < GPUEMU_BLOCK_PAGES; n++)
		if (!test_bit(i + n, mask) || !block->pages[i + n] ||
		    page_to_pfn(block->pages[i + n]) != page_to_pfn(page) + n ||
		    block->frames[i + n] != frame + n)
			break;
	return n;
}

static void copy_run(void *to, void *from, u32 n)
{
	for (; n; n--) {
		copy_page(to, from);
		to += PAGE_SIZE;
		from += PAGE_SIZE;
	}
}

/*
 * Copies the pages of the mask, in runs. Returns how many were copied; what was
 * never touched is zeroed, which nobody copies.
 */
static u32 copy_pages(struct gpuemu_block *block, const unsigned long *mask,
		      bool to_device)
{
	struct gpuemu_vram *vram = &block->space->dev->vram;
	void *device, *system;
	u32 copied = 0, n, i;

	for (i = find_first_bit(mask, GPUEMU_BLOCK_PAGES);
	     i < GPUEMU_BLOCK_PAGES;
	     i = find_next_bit(mask, GPUEMU_BLOCK_PAGES, i + n)) {
		n = run_length(block, mask, i);
		device = gpuemu_vram_addr(vram, block->frames[i]);
		if (!block->pages[i]) {
			gpuemu_zero(device);
			continue;
		}
		system = kmap_local_page(block->pages[i]);
		if (to_device)
			copy_run(device, system, n);
		else
			copy_run(system, device, n);
		kunmap_local(system);
		copied += n;
	}
	return copied;
}

/**
 * gpuemu_migrate_h2d() - brings pages to device memory
 * @block: locked, not dead
 * @first: first page
 * @n: how many
 * @cause: for the trace
 * @cost: gets the time of each stage added
 * @moved: out: pages that really moved
 * @lacking: out: pages for which there was no frame (-ENOSPC)
 *
 * Pages that are there already count as done.
 */
int gpuemu_migrate_h2d(struct gpuemu_block *block, u32 first, u32 n,
		       const char *cause, struct gpuemu_stamps *cost,
		       u32 *moved, u32 *lacking)
{
	struct gpuemu_pt *pt = &block->space->dev->pt;
	int ret, err;
	u64 t0, t1, t2, t3, bytes;
	page_mask todo;
	u32 i;

	lockdep_assert_held(&block->lock);
	*moved = 0;
	*lacking = 0;
	t0 = ktime_get_ns();
	ret = managed_pages(block, first, n, true, todo);
	bitmap_andnot(todo, todo, block->resident, GPUEMU_BLOCK_PAGES);
	if (bitmap_empty(todo, GPUEMU_BLOCK_PAGES))
		return ret;
	if (!block->leaf) {
		block->leaf = gpuemu_pt_block_attach(block->space,
						     block->index);
		if (!block->leaf) {
			gpuemu_event_pressure(block->space, "page tables");
			return -ENOMEM;
		}
	}
	*lacking = alloc_frames(block, todo);
	if (*lacking)
		ret = -ENOSPC;

	t1 = ktime_get_ns();
	unmap_cpu(block, todo);
	t2 = ktime_get_ns();
	err = drop_pinned(block, todo);
	if (err && ret != -ENOSPC)
		ret = err;
	bytes = (u64)copy_pages(block, todo, true) << PAGE_SHIFT;
	gpuemu_link_pace(block->space, GPUEMU_LINK_H2D, t2, bytes);
	t3 = ktime_get_ns();
	for_each_set_bit(i, todo, GPUEMU_BLOCK_PAGES)
		gpuemu_pt_set(pt, block->leaf, i, block->frames[i]);
	bitmap_or(block->resident, block->resident, todo, GPUEMU_BLOCK_PAGES);
	*moved = bitmap_weight(todo, GPUEMU_BLOCK_PAGES);

	cost->unmap_ns += t2 - t1;
	cost->copy_ns += t3 - t2 + t1 - t0;
	cost->map_ns += ktime_get_ns() - t3;
	cost->h2d_pages += *moved;
	gpuemu_count(block->space, H2D_PAGES, *moved);
	gpuemu_count(block->space, H2D_BYTES, bytes);
	gpuemu_count(block->space, RESIDENT_PAGES, *moved);
	trace_migrate(block->space->id, gpuemu_block_addr(block, first), n,
		      GPUEMU_MIGRATE_H2D, cause, *moved, ret);
	return ret;
}

/* Makes sure that each page of the mask has a sysmem page to go to. */
static int alloc_pages_for(struct gpuemu_block *block, unsigned long *mask,
			   gfp_t extra)
{
	page_mask without = { };
	int ret = 0;
	u32 i, end;

	for_each_set_bit(i, mask, GPUEMU_BLOCK_PAGES)
		if (!block->pages[i])
			__set_bit(i, without);
	for_each_set_bit(i, without, GPUEMU_BLOCK_PAGES) {
		if (block->pages[i])
			continue;
		end = find_next_zero_bit(without, GPUEMU_BLOCK_PAGES, i);
		if (gpuemu_block_pages_alloc(block, i, end - i))
			continue;
		block->pages[i] = gpuemu_block_page_alloc(block, extra);
		if (!block->pages[i]) {
			__clear_bit(i, mask);
			ret = -ENOMEM;
		}
	}
	return ret;
}

/**
 * gpuemu_migrate_d2h() - brings pages to system memory
 * @block: locked, not dead
 * @first: first page
 * @n: how many
 * @reason: GPUEMU_INVAL_CPU_FAULT, which cannot do without the pages;
 *	GPUEMU_INVAL_EVICT or _RECLAIM, which ends with -ENOMEM before somebody
 *	is killed for it
 * @moved: out: pages that really moved
 *
 * Pages that are not on the device count as done. -EINTR: the task is being
 * killed; the pages are still on the device.
 */
int gpuemu_migrate_d2h(struct gpuemu_block *block, u32 first, u32 n,
		       enum gpuemu_inval_reason reason, u32 *moved)
{
	const bool lru = reason == GPUEMU_INVAL_RECLAIM;
	const bool evict = lru || reason == GPUEMU_INVAL_EVICT;
	struct gpuemu_dev *dev = block->space->dev;
	u64 start, bytes;
	u32 i, lo, hi;
	page_mask todo;
	int ret, err;

	lockdep_assert_held(&block->lock);
	*moved = 0;
	ret = managed_pages(block, first, n, false, todo);
	bitmap_and(todo, todo, block->resident, GPUEMU_BLOCK_PAGES);
	err = alloc_pages_for(block, todo,
			      evict ? __GFP_NORETRY | __GFP_NOWARN : 0);
	if (err)
		ret = err;
	if (bitmap_empty(todo, GPUEMU_BLOCK_PAGES))
		return ret;

	for_each_set_bit(i, todo, GPUEMU_BLOCK_PAGES)
		gpuemu_pt_clear(&dev->pt, block->leaf, i);
	lo = find_first_bit(todo, GPUEMU_BLOCK_PAGES);
	hi = find_last_bit(todo, GPUEMU_BLOCK_PAGES);
	err = gpuemu_tlb_invalidate(block->space, gpuemu_block_addr(block, lo),
				    gpuemu_block_addr(block, hi + 1), reason,
				    true);
	if (err) {
		/* Nothing moved: the engine may have its entries back. */
		for_each_set_bit(i, todo, GPUEMU_BLOCK_PAGES)
			gpuemu_pt_set(&dev->pt, block->leaf, i,
				      block->frames[i]);
		return err;
	}
	start = ktime_get_ns();
	bytes = (u64)copy_pages(block, todo, false) << PAGE_SHIFT;
	gpuemu_link_pace(block->space, GPUEMU_LINK_D2H, start, bytes);
	gpuemu_vram_free(&dev->vram, block->frames, todo, GPUEMU_BLOCK_PAGES);
	bitmap_andnot(block->resident, block->resident, todo,
		      GPUEMU_BLOCK_PAGES);
	gpuemu_lru_emptied(block);
	*moved = bitmap_weight(todo, GPUEMU_BLOCK_PAGES);
	gpuemu_limit_give_frames(block->space, *moved);
	gpuemu_count(block->space, D2H_PAGES, *moved);
	gpuemu_count(block->space, D2H_BYTES, bytes);
	gpuemu_count(block->space, RESIDENT_PAGES, -(u64)*moved);
	if (evict) {
		gpuemu_count(block->space, EVICTIONS, 1);
		gpuemu_count(block->space, EVICTED_PAGES, *moved);
		trace_evict(block->space->id, gpuemu_block_addr(block, first),
			    n, lru ? "lru" : "engine", *moved, ret);
	}
	if (lru) {
		gpuemu_count(block->space, LRU_EVICTIONS, 1);
		gpuemu_count(block->space, LRU_EVICTED_PAGES, *moved);
	}
	trace_migrate(block->space->id, gpuemu_block_addr(block, first), n,
		      GPUEMU_MIGRATE_D2H, evict ? "evict" : "cpu_fault",
		      *moved, ret);
	return ret;
}

static bool migration_valid(const struct gpuemu_migration *m)
{
	u64 page = m->addr >> GPUEMU_PAGE_SHIFT;

	if (m->op != GPUEMU_MIGRATE_H2D && m->op != GPUEMU_MIGRATE_D2H)
		return false;
	if (m->reserved || (m->addr & ~PAGE_MASK) ||
	    m->addr >> GPUEMU_VA_BITS)
		return false;
	return m->pages && m->pages <= GPUEMU_BLOCK_PAGES &&
	       page % GPUEMU_BLOCK_PAGES + m->pages <= GPUEMU_BLOCK_PAGES;
}

/* Why the engine brings these pages; the batch's faults are in order. */
static const char *cause_of(const struct gpuemu_engine *e,
			    const struct gpuemu_migration *m)
{
	u64 end = m->addr + ((u64)m->pages << GPUEMU_PAGE_SHIFT);
	const struct gpuemu_fault *f;
	u32 lo = 0, hi = e->nfaults, mid;

	/* The first fault that is not before the run. */
	while (lo < hi) {
		mid = (lo + hi) / 2;
		f = &e->batch[mid];
		if (f->va_space < m->va_space ||
		    (f->va_space == m->va_space && f->addr < m->addr))
			lo = mid + 1;
		else
			hi = mid;
	}
	f = &e->batch[lo];
	return lo < e->nfaults && f->va_space == m->va_space && f->addr < end ?
	       "far_fault" : "prefetch";
}

/* One descriptor, once. Makes a block only where something is managed. */
static int migrate_once(struct gpuemu_space *space, const char *cause,
			struct gpuemu_migration *m, u64 pass,
			struct gpuemu_stamps *cost, u32 *lacking)
{
	u32 first = (m->addr >> GPUEMU_PAGE_SHIFT) % GPUEMU_BLOCK_PAGES;
	u64 index = m->addr >> GPUEMU_BLOCK_SHIFT;
	struct gpuemu_block *block;
	page_mask managed = { };
	u32 moved;
	u64 start;
	int ret;

	*lacking = 0;

	for (;;) {
		gpuemu_space_managed_mask(space, m->addr >> GPUEMU_PAGE_SHIFT,
					  m->pages, managed, first);
		if (bitmap_empty(managed, GPUEMU_BLOCK_PAGES))
			return -EFAULT;
		block = gpuemu_space_block_create(space, index);
		if (IS_ERR(block))
			return PTR_ERR(block);
		mutex_lock(&block->lock);
		if (!block->dead)
			break;
		mutex_unlock(&block->lock);
		gpuemu_block_put(block);
		bitmap_zero(managed, GPUEMU_BLOCK_PAGES);
	}
	if (m->op == GPUEMU_MIGRATE_H2D) {
		ret = gpuemu_migrate_h2d(block, first, m->pages, cause, cost,
					 &moved, lacking);
		gpuemu_lru_touch(block, pass);
	} else {
		start = ktime_get_ns();
		ret = gpuemu_migrate_d2h(block, first, m->pages,
					 GPUEMU_INVAL_EVICT, &moved);
		cost->evict_ns += ktime_get_ns() - start;
		cost->d2h_pages += moved;
	}
	m->moved += moved;
	if (ret == -EFAULT)
		gpuemu_block_retire_unmanaged(block);
	mutex_unlock(&block->lock);
	gpuemu_block_put(block);
	return ret;
}

/*
 * One descriptor, and if it finds no frame and the engine wants it, again with
 * room made for the rest: with no block held, so that a victim never waits for
 * who evicts it, and everything is looked up anew.
 */
static int migrate_one(struct gpuemu_space *space, const char *cause,
		       struct gpuemu_migration *m, u64 pass, bool make_room,
		       struct gpuemu_stamps *cost)
{
	u32 lacking, freed, tries;
	u64 start;
	int ret;

	for (tries = 0;; tries++) {
		ret = migrate_once(space, cause, m, pass, cost, &lacking);
		if (!lacking || !make_room || tries == MAKE_ROOM_MAX)
			break;
		start = ktime_get_ns();
		freed = gpuemu_lru_evict(space->dev, pass, lacking,
					 gpuemu_limit_reached(space) ?
					 space : NULL);
		cost->evict_ns += ktime_get_ns() - start;
		cost->d2h_pages += freed;
		if (!freed)
			break;
	}
	if (lacking && gpuemu_limit_reached(space)) {
		gpuemu_count(space, OVER_SHARE, lacking);
		gpuemu_event_pressure(space, "the client's share");
	} else if (lacking) {
		gpuemu_count(space, NO_FRAME, lacking);
		gpuemu_event_pressure(space, "device memory");
	}
	return ret;
}

/**
 * gpuemu_migrate_commit() - does the first @count of e->migrations, in order
 * @e: the caller owns its batch (COMMITTING)
 * @count: at most GPUEMU_COMMIT_MAX
 * @make_room: evict by the module's own order where no frame is free
 * @cost: gets the sums
 *
 * Stops at the engine's or the caller's death; what is left says so in its
 * status. Returns how many ended with status 0.
 */
u32 gpuemu_migrate_commit(struct gpuemu_engine *e, u32 count, bool make_room,
			  struct gpuemu_stamps *cost)
{
	u64 pass = gpuemu_lru_pass(&e->dev->lru);
	struct gpuemu_client *client = NULL;
	struct gpuemu_migration *m;
	u32 done = 0;

	for (m = e->migrations; m < e->migrations + count; m++) {
		m->moved = 0;
		if (gpuemu_engine_lost(e)) {
			m->status = -ENODEV;
			continue;
		}
		if (fatal_signal_pending(current)) {
			m->status = -EINTR;
			continue;
		}
		if (!migration_valid(m)) {
			m->status = -EINVAL;
			continue;
		}
		if (!client || client->space.id != m->va_space) {
			if (client)
				gpuemu_client_put(client);
			client = gpuemu_client_get(e->dev, m->va_space);
		}
		if (client)
			m->status = migrate_one(&client->space, cause_of(e, m),
						m, pass, make_room, cost);
		else
			m->status = -ESRCH;
		done += !m->status;
		cond_resched();
	}
	if (client)
		gpuemu_client_put(client);
	return done;
}
