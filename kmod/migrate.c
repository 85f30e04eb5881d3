// SPDX-License-Identifier: GPL-2.0
/*
 * Migration: revoke one side's mappings, copy, map the other side. Decides
 * nothing; the engine's service thread says what to move (COMMIT), the CPU's
 * faults say what to bring back.
 */
#include <linux/ktime.h>
#include <linux/sched/signal.h>

#include "client.h"
#include "copy.h"
#include "dev.h"
#include "engine.h"
#include "inject.h"
#include "migrate.h"
#include "objects.h"
#include "tlb.h"
#include "trace.h"
#include "va_block.h"
#include "va_space.h"

/* Somebody else may be there first for the room that was made. */
#define MAKE_ROOM_MAX 4

/* How far behind an eviction a migration to the device is looked for. */
#define LOOK_AHEAD 64

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
 * and, because faults need the block's lock, none will. One call, which flushes
 * the CPUs' TLBs once, for all that have no other mapped page between them: a call
 * is as dear as several pages.
 */
static void unmap_cpu(struct gpuemu_block *block, const unsigned long *mask)
{
	page_mask mapped, others;
	u32 first, last, stop;

	if (!bitmap_and(mapped, mask, block->cpu_mapped, GPUEMU_BLOCK_PAGES))
		return;
	bitmap_andnot(others, block->cpu_mapped, mask, GPUEMU_BLOCK_PAGES);
	for (first = find_first_bit(mapped, GPUEMU_BLOCK_PAGES);
	     first < GPUEMU_BLOCK_PAGES;
	     first = find_next_bit(mapped, GPUEMU_BLOCK_PAGES, stop)) {
		stop = find_next_bit(others, GPUEMU_BLOCK_PAGES, first);
		last = find_last_bit(mapped, stop);
		unmap_mapping_range(block->space->mapping,
				    gpuemu_block_addr(block, first),
				    (loff_t)(last - first + 1) << PAGE_SHIFT, 1);
		gpuemu_count(block->space, CPU_UNMAPS, 1);
	}
	bitmap_andnot(block->cpu_mapped, block->cpu_mapped, mapped,
		      GPUEMU_BLOCK_PAGES);
}

/*
 * Gives each page of the mask a frame; those that get none leave the mask.
 * Returns how many these are.
 */
static u32 alloc_frames(struct gpuemu_block *block, unsigned long *mask)
{
	u32 want = bitmap_weight(mask, GPUEMU_BLOCK_PAGES), got = 0;
	struct gpuemu_dev *dev = block->space->dev;

	if (gpuemu_inject(dev, GPUEMU_INJECT_FRAME))
		bitmap_zero(mask, GPUEMU_BLOCK_PAGES);
	else
		got = gpuemu_vram_alloc(&dev->vram, block->frames, mask,
					GPUEMU_BLOCK_PAGES);
	return want - got;
}

/*
 * A page that has a reference besides the block's is being read or written
 * behind the page tables (O_DIRECT, GUP): it stays where it is and leaves the
 * mask. The reference count is exact here: the CPU's mappings are gone, and a
 * racing get_user_pages_fast() either finds its PTE changed and lets go, or took
 * its reference before the unmap.
 */
static int drop_pinned(struct gpuemu_block *block, unsigned long *mask,
		       bool count)
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
	bitmap_andnot(mask, mask, pinned, GPUEMU_BLOCK_PAGES);
	if (count)
		gpuemu_count(block->space, PINNED_REFUSALS, n);
	return -EBUSY;
}

/*
 * A migration has two halves and between them the copy, which may be another
 * thread's: then it is in flight, with its block locked. What the halves have to
 * tell each other is in the flight; flight.copy.block is set by who begins.
 */
static void flight_begin(struct gpuemu_flight *f, u32 first, u32 n)
{
	f->first = first;
	f->n = n;
	f->members = 0;
	f->begun = false;
	f->ret = 0;
	f->moved = 0;
}

/*
 * First half of bringing pages to device memory. Pages that are there already count
 * as done. lacking: pages for which there was no frame (-ENOSPC).
 */
static void h2d_begin(struct gpuemu_flight *f, struct gpuemu_stamps *cost,
		      u32 *lacking)
{
	struct gpuemu_block *block = f->copy.block;
	unsigned long *todo = f->copy.mask;
	u64 t0, t1, t2, t3;
	int err;

	lockdep_assert_held(&block->lock);
	*lacking = 0;
	t0 = ktime_get_ns();
	f->ret = managed_pages(block, f->first, f->n, true, todo);
	if (f->members) {
		bitmap_and(todo, todo, f->want, GPUEMU_BLOCK_PAGES);
		f->ret = bitmap_equal(todo, f->want, GPUEMU_BLOCK_PAGES) ?
			 0 : -EFAULT;
	}
	bitmap_andnot(todo, todo, block->resident, GPUEMU_BLOCK_PAGES);
	if (bitmap_empty(todo, GPUEMU_BLOCK_PAGES))
		return;
	if (!block->leaf) {
		block->leaf = gpuemu_pt_block_attach(block->space,
						     block->index);
		if (!block->leaf) {
			f->ret = -ENOMEM;
			return;
		}
	}
	*lacking = alloc_frames(block, todo);
	if (*lacking)
		f->ret = -ENOSPC;

	t1 = ktime_get_ns();
	unmap_cpu(block, todo);
	t2 = ktime_get_ns();
	/* Those of several are refused one by one. */
	err = drop_pinned(block, todo, !f->members);
	if (err && f->ret != -ENOSPC)
		f->ret = err;
	f->copy.way = GPUEMU_LINK_H2D;
	f->begun = true;
	gpuemu_copy_begin(&f->copy);
	t3 = ktime_get_ns();
	cost->unmap_ns += t2 - t1;
	cost->copy_ns += t3 - t2 + t1 - t0;
}

/* Second half: the pages are the device's. */
static void h2d_end(struct gpuemu_flight *f, struct gpuemu_stamps *cost)
{
	struct gpuemu_block *block = f->copy.block;
	unsigned long *todo = f->copy.mask;
	struct gpuemu_pt *pt = &block->space->dev->pt;
	u64 t0, t1, bytes;
	u32 i;

	t0 = ktime_get_ns();
	bytes = gpuemu_copy_end(&f->copy);
	t1 = ktime_get_ns();
	for_each_set_bit(i, todo, GPUEMU_BLOCK_PAGES)
		gpuemu_pt_set(pt, block->leaf, i, block->frames[i]);
	bitmap_or(block->resident, block->resident, todo, GPUEMU_BLOCK_PAGES);
	f->moved = bitmap_weight(todo, GPUEMU_BLOCK_PAGES);

	cost->copy_ns += t1 - t0;
	cost->map_ns += ktime_get_ns() - t1;
	cost->h2d_pages += f->moved;
	gpuemu_count(block->space, H2D_PAGES, f->moved);
	gpuemu_count(block->space, H2D_BYTES, bytes);
	gpuemu_count(block->space, RESIDENT_PAGES, f->moved);
	if (!f->members)
		trace_migrate(block->space->id,
			      gpuemu_block_addr(block, f->first), f->n,
			      GPUEMU_MIGRATE_H2D, f->cause, f->moved, f->ret);
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

/*
 * First half of bringing pages to system memory. Pages that are not on the device
 * count as done. -EINTR: the task is being killed; the pages are still on the device.
 */
static void d2h_begin(struct gpuemu_flight *f, enum gpuemu_inval_reason reason)
{
	struct gpuemu_block *block = f->copy.block;
	struct gpuemu_dev *dev = block->space->dev;
	unsigned long *todo = f->copy.mask;
	u32 i, lo, hi;
	int err;

	lockdep_assert_held(&block->lock);
	f->reason = reason;
	f->ret = managed_pages(block, f->first, f->n, false, todo);
	bitmap_and(todo, todo, block->resident, GPUEMU_BLOCK_PAGES);
	err = alloc_pages_for(block, todo, reason == GPUEMU_INVAL_CPU_FAULT ?
			      0 : __GFP_NORETRY | __GFP_NOWARN);
	if (err)
		f->ret = err;
	if (bitmap_empty(todo, GPUEMU_BLOCK_PAGES))
		return;

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
		f->ret = err;
		return;
	}
	f->copy.way = GPUEMU_LINK_D2H;
	f->begun = true;
	gpuemu_copy_begin(&f->copy);
}

/* Second half: the frames are free. */
static void d2h_end(struct gpuemu_flight *f)
{
	const bool lru = f->reason == GPUEMU_INVAL_RECLAIM;
	const bool evict = lru || f->reason == GPUEMU_INVAL_EVICT;
	struct gpuemu_block *block = f->copy.block;
	unsigned long *todo = f->copy.mask;
	u64 bytes = gpuemu_copy_end(&f->copy);
	u32 moved;

	gpuemu_vram_free(&block->space->dev->vram, block->frames, todo,
			 GPUEMU_BLOCK_PAGES);
	bitmap_andnot(block->resident, block->resident, todo,
		      GPUEMU_BLOCK_PAGES);
	gpuemu_lru_emptied(block);
	moved = bitmap_weight(todo, GPUEMU_BLOCK_PAGES);
	f->moved = moved;
	gpuemu_count(block->space, D2H_PAGES, moved);
	gpuemu_count(block->space, D2H_BYTES, bytes);
	gpuemu_count(block->space, RESIDENT_PAGES, -(u64)moved);
	if (evict) {
		gpuemu_count(block->space, EVICTIONS, 1);
		gpuemu_count(block->space, EVICTED_PAGES, moved);
		trace_evict(block->space->id,
			    gpuemu_block_addr(block, f->first), f->n,
			    lru ? "lru" : "engine", moved, f->ret);
	}
	if (lru) {
		gpuemu_count(block->space, LRU_EVICTIONS, 1);
		gpuemu_count(block->space, LRU_EVICTED_PAGES, moved);
	}
	trace_migrate(block->space->id, gpuemu_block_addr(block, f->first),
		      f->n, GPUEMU_MIGRATE_D2H, evict ? "evict" : "cpu_fault",
		      moved, f->ret);
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
	struct gpuemu_flight f = { .copy.block = block };

	flight_begin(&f, first, n);
	d2h_begin(&f, reason);
	if (f.begun)
		d2h_end(&f);
	*moved = f.moved;
	return f.ret;
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

/* --- what a commit has in the air ------------------------------------------- */

static struct gpuemu_flights *flights_of(struct gpuemu_engine *e, u8 op)
{
	return &e->flights[op == GPUEMU_MIGRATE_D2H ? GPUEMU_LINK_D2H :
						      GPUEMU_LINK_H2D];
}

/* Ends it, and tells the engine how it went. */
static void flight_land(struct gpuemu_flight *f, struct gpuemu_stamps *cost)
{
	struct gpuemu_block *block = f->copy.block;
	u64 start = ktime_get_ns();

	if (f->begun && f->copy.way == GPUEMU_LINK_H2D) {
		h2d_end(f, cost);
	} else if (f->begun) {
		d2h_end(f);
		cost->evict_ns += ktime_get_ns() - start;
		cost->d2h_pages += f->moved;
	}
	if (f->m->op == GPUEMU_MIGRATE_H2D)
		gpuemu_lru_touch(block, f->pass);
	/* Of several tries: what went home in between may have come twice. */
	f->m->moved = min_t(u32, f->m->moved + f->moved, f->n);
	f->m->status = f->ret;
	if (f->ret == -EFAULT)
		gpuemu_block_retire_unmanaged(block);
	mutex_unlock(&block->lock);
	gpuemu_block_put(block);
	gpuemu_client_put(f->client);
}

static void land_oldest(struct gpuemu_flights *flights,
			struct gpuemu_stamps *cost)
{
	struct gpuemu_flight *f = &flights->flight[flights->first];

	flights->first = (flights->first + 1) % ARRAY_SIZE(flights->flight);
	flights->count--;
	flight_land(f, cost);
}

/* Afterwards the commit holds no block. */
static void land_all(struct gpuemu_engine *e, struct gpuemu_stamps *cost)
{
	int way;

	for (way = 0; way < GPUEMU_LINK_WAYS; way++)
		while (e->flights[way].count)
			land_oldest(&e->flights[way], cost);
}

/* A place for one that begins. */
static struct gpuemu_flight *flight_next(struct gpuemu_flights *flights,
					 struct gpuemu_stamps *cost)
{
	while (flights->count >= GPUEMU_FLIGHTS)
		land_oldest(flights, cost);
	return &flights->flight[(flights->first + flights->count) %
				ARRAY_SIZE(flights->flight)];
}

/*
 * Locks the block, and holds those in the air too: several, and in no order. So it is
 * only tried while there are some, and they land if it fails: because another task has
 * this block, which may be a commit that waits for one of ours, or we do.
 */
static void block_lock(struct gpuemu_engine *e, struct gpuemu_block *block,
		       struct gpuemu_stamps *cost)
{
	if (e->flights[GPUEMU_LINK_H2D].count ||
	    e->flights[GPUEMU_LINK_D2H].count) {
		if (mutex_trylock(&block->lock))
			return;
		land_all(e, cost);
	}
	mutex_lock(&block->lock);
}

/*
 * The block of pages first .. first + n - 1 from addr on, locked and referenced; made
 * only where something is managed.
 */
static struct gpuemu_block *block_of(struct gpuemu_engine *e,
				     struct gpuemu_space *space, u64 addr,
				     u32 n, struct gpuemu_stamps *cost)
{
	u32 first = (addr >> GPUEMU_PAGE_SHIFT) % GPUEMU_BLOCK_PAGES;
	struct gpuemu_block *block;
	page_mask managed = { };

	for (;;) {
		gpuemu_space_managed_mask(space, addr >> GPUEMU_PAGE_SHIFT, n,
					  managed, first);
		if (bitmap_empty(managed, GPUEMU_BLOCK_PAGES))
			return ERR_PTR(-EFAULT);
		block = gpuemu_space_block_create(space,
						  addr >> GPUEMU_BLOCK_SHIFT);
		if (IS_ERR(block))
			return block;
		block_lock(e, block, cost);
		if (!block->dead)
			return block;
		mutex_unlock(&block->lock);
		gpuemu_block_put(block);
		bitmap_zero(managed, GPUEMU_BLOCK_PAGES);
	}
}

/* Evictions come before what needs their frames. */
static void land_for_frames(struct gpuemu_engine *e, u32 frames,
			    struct gpuemu_stamps *cost)
{
	struct gpuemu_flights *d2h = &e->flights[GPUEMU_LINK_D2H];

	while (d2h->count && gpuemu_vram_nfree(&e->dev->vram) < frames)
		land_oldest(d2h, cost);
}

/* One descriptor, once. */
static int migrate_once(struct gpuemu_engine *e, struct gpuemu_client *client,
			struct gpuemu_migration *m, u64 pass,
			struct gpuemu_stamps *cost, u32 *lacking)
{
	u32 first = (m->addr >> GPUEMU_PAGE_SHIFT) % GPUEMU_BLOCK_PAGES;
	struct gpuemu_flights *flights = flights_of(e, m->op);
	struct gpuemu_block *block;
	struct gpuemu_flight *f;
	u64 start;

	*lacking = 0;
	f = flight_next(flights, cost);
	if (m->op == GPUEMU_MIGRATE_H2D)
		land_for_frames(e, m->pages, cost);
	block = block_of(e, &client->space, m->addr, m->pages, cost);
	if (IS_ERR(block))
		return PTR_ERR(block);
	kref_get(&client->ref);
	f->client = client;
	f->m = m;
	f->pass = pass;
	f->copy.block = block;
	f->copy.pending = false;
	flight_begin(f, first, m->pages);
	if (m->op == GPUEMU_MIGRATE_H2D) {
		f->cause = cause_of(e, m);
		h2d_begin(f, cost, lacking);
	} else {
		start = ktime_get_ns();
		d2h_begin(f, GPUEMU_INVAL_EVICT);
		cost->evict_ns += ktime_get_ns() - start;
	}
	if (f->copy.pending)
		flights->count++;
	else
		flight_land(f, cost);
	return m->status;
}

/*
 * One descriptor, and if it finds no frame and the engine wants it, again with
 * room made for the rest: with no block held, so that a victim never waits for
 * who evicts it, and everything is looked up anew.
 */
static void migrate_one(struct gpuemu_engine *e, struct gpuemu_client *client,
			struct gpuemu_migration *m, u64 pass, bool make_room,
			struct gpuemu_stamps *cost)
{
	struct gpuemu_space *space = &client->space;
	u32 lacking, freed, tries;
	u64 start;

	for (tries = 0;; tries++) {
		m->status = migrate_once(e, client, m, pass, cost, &lacking);
		if (!lacking || !make_room || tries == MAKE_ROOM_MAX)
			break;
		land_all(e, cost);
		start = ktime_get_ns();
		freed = gpuemu_lru_evict(space->dev, pass, lacking);
		cost->evict_ns += ktime_get_ns() - start;
		cost->d2h_pages += freed;
		if (!freed)
			break;
	}
	if (lacking) {
		gpuemu_count(space, NO_FRAME, lacking);
		gpuemu_event_pressure(space, "device memory");
	}
}

/* What a commit is: the engine's, whose migrations it does. */
struct commit {
	struct gpuemu_engine *e;
	u64 pass;
	bool make_room;
	struct gpuemu_client *client;	/* the last one's, referenced, or NULL */
	struct gpuemu_stamps *cost;
};

/* Whether it can be done at all; else m says why not. */
static bool commit_may(struct commit *c, struct gpuemu_migration *m)
{
	struct gpuemu_engine *e = c->e;

	m->status = 0;
	if (gpuemu_engine_lost(e)) {
		m->status = -ENODEV;
		return false;
	}
	if (fatal_signal_pending(current)) {
		m->status = -EINTR;
		return false;
	}
	if (!migration_valid(m)) {
		m->status = -EINVAL;
		return false;
	}
	if (!c->client || c->client->space.id != m->va_space) {
		if (c->client)
			gpuemu_client_put(c->client);
		c->client = gpuemu_client_get(e->dev, m->va_space);
	}
	if (!c->client)
		m->status = -ESRCH;
	return c->client;
}

static void commit_one(struct commit *c, struct gpuemu_migration *m)
{
	if (commit_may(c, m))
		migrate_one(c->e, c->client, m, c->pass, c->make_room, c->cost);
}

static bool same_block(const struct gpuemu_migration *a,
		       const struct gpuemu_migration *b)
{
	return a->va_space == b->va_space &&
	       a->addr >> GPUEMU_BLOCK_SHIFT == b->addr >> GPUEMU_BLOCK_SHIFT;
}

/* How many small migrations to the device, from m on, are one VA block's, by address. */
static u32 group_length(const struct gpuemu_migration *m, u32 count)
{
	u32 n;

	for (n = 0; n < count; n++) {
		if (m[n].op != GPUEMU_MIGRATE_H2D || !migration_valid(&m[n]) ||
		    m[n].pages >= GPUEMU_COPY_PAGES_MIN)
			break;
		if (n && (!same_block(&m[n], &m[0]) ||
			  m[n].addr < m[n - 1].addr +
				      ((u64)m[n - 1].pages << PAGE_SHIFT)))
			break;
	}
	return n;
}

/* Bits first .. first + n - 1. */
static u32 weight_of(const unsigned long *mask, u32 first, u32 n)
{
	u32 weight = 0;

	for (; n; n--)
		weight += test_bit(first++, mask);
	return weight;
}

/*
 * A batch's pages of one VA block as one migration: who looks the block up, locks it and
 * unmaps does it once. What does not go well is done again one by one, to know of
 * which it was true; so is what needs room made.
 */
static void commit_group(struct commit *c, struct gpuemu_migration *m, u32 count)
{
	struct gpuemu_engine *e = c->e;
	struct gpuemu_block *block;
	struct gpuemu_flight *f;
	u32 lacking, first, i;
	page_mask moved;

	if (!commit_may(c, m))
		goto singly;
	f = flight_next(&e->flights[GPUEMU_LINK_H2D], c->cost);
	first = (m->addr >> GPUEMU_PAGE_SHIFT) % GPUEMU_BLOCK_PAGES;
	flight_begin(f, first, 0);
	bitmap_zero(f->want, GPUEMU_BLOCK_PAGES);
	for (i = 0; i < count; i++)
		bitmap_set(f->want,
			   (m[i].addr >> GPUEMU_PAGE_SHIFT) % GPUEMU_BLOCK_PAGES,
			   m[i].pages);
	f->n = find_last_bit(f->want, GPUEMU_BLOCK_PAGES) - first + 1;
	f->members = count;
	land_for_frames(e, bitmap_weight(f->want, GPUEMU_BLOCK_PAGES), c->cost);
	block = block_of(e, &c->client->space, m->addr, f->n, c->cost);
	if (IS_ERR(block))
		goto singly;
	f->copy.block = block;
	h2d_begin(f, c->cost, &lacking);
	bitmap_zero(moved, GPUEMU_BLOCK_PAGES);
	if (f->begun) {
		h2d_end(f, c->cost);
		bitmap_copy(moved, f->copy.mask, GPUEMU_BLOCK_PAGES);
	}
	gpuemu_lru_touch(block, c->pass);
	if (f->ret == -EFAULT)
		gpuemu_block_retire_unmanaged(block);
	mutex_unlock(&block->lock);
	gpuemu_block_put(block);
	for (i = 0; i < count; i++) {
		first = (m[i].addr >> GPUEMU_PAGE_SHIFT) % GPUEMU_BLOCK_PAGES;
		m[i].moved = weight_of(moved, first, m[i].pages);
		if (m[i].moved)
			trace_migrate(m[i].va_space, m[i].addr, m[i].pages,
				      GPUEMU_MIGRATE_H2D, cause_of(e, &m[i]),
				      m[i].moved, 0);
		m[i].status = 0;
	}
	if (!f->ret)
		return;
singly:
	for (i = 0; i < count; i++)
		if (m[i].moved < m[i].pages)
			commit_one(c, &m[i]);
}

/*
 * While an eviction is being copied and the next one, i, is to come: the first large
 * migration the other way behind it is done now, if there are frames for it and nothing
 * that it passes is about its block. So a plan that has all its evictions first keeps
 * both ways of the link busy, and who gets which frame stays as it was: migrations to
 * the device do not pass each other.
 */
static void look_ahead(struct commit *c, u32 i, u32 count)
{
	struct gpuemu_engine *e = c->e;
	struct gpuemu_flights *h2d = &e->flights[GPUEMU_LINK_H2D];
	struct gpuemu_migration *m = e->migrations, *ahead;
	u32 end = min(count, i + LOOK_AHEAD), j, k;

	if (m[i].op != GPUEMU_MIGRATE_D2H ||
	    !e->flights[GPUEMU_LINK_D2H].count)
		return;
	/* No waiting for this way: the other one is what comes next. */
	while (h2d->count &&
	       gpuemu_copy_done(&h2d->flight[h2d->first].copy))
		land_oldest(h2d, c->cost);
	if (h2d->count == GPUEMU_FLIGHTS)
		return;
	for (j = i + 1; j < end; j++)
		if (m[j].op == GPUEMU_MIGRATE_H2D && !test_bit(j, e->ahead))
			break;
	if (j >= end)
		return;
	ahead = &m[j];
	if (!migration_valid(ahead) || ahead->pages < GPUEMU_COPY_PAGES_MIN ||
	    ahead->pages > gpuemu_vram_nfree(&e->dev->vram))
		return;
	for (k = i; k < j; k++)
		if (!test_bit(k, e->ahead) && same_block(&m[k], ahead))
			return;
	__set_bit(j, e->ahead);
	commit_one(c, ahead);
}

/**
 * gpuemu_migrate_commit() - does the first @count of e->migrations, in order
 * @e: the caller owns its batch (COMMITTING)
 * @count: at most GPUEMU_COMMIT_MAX
 * @make_room: evict by the module's own order where no frame is free
 * @cost: gets the sums
 *
 * Stops at the engine's or the caller's death; what is left says so in its
 * status. Returns how many ended with status 0. A few are in flight at a time: their
 * copies, while the next is prepared. All have landed in the end.
 */
u32 gpuemu_migrate_commit(struct gpuemu_engine *e, u32 count, bool make_room,
			  struct gpuemu_stamps *cost)
{
	struct commit c = {
		.e = e,
		.pass = gpuemu_lru_pass(&e->dev->lru),
		.make_room = make_room,
		.cost = cost,
	};
	u32 done = 0, i, n;

	bitmap_zero(e->ahead, GPUEMU_COMMIT_MAX);
	for (i = 0; i < count; i++)
		e->migrations[i].moved = 0;
	for (i = 0; i < count; i += n) {
		n = 1;
		if (test_bit(i, e->ahead))
			continue;
		n = group_length(&e->migrations[i], count - i);
		if (n > 1) {
			commit_group(&c, &e->migrations[i], n);
			cond_resched();
			continue;
		}
		n = 1;
		/* So that the frames of the oldest are free for who looks ahead. */
		while (e->migrations[i].op == GPUEMU_MIGRATE_D2H &&
		       e->flights[GPUEMU_LINK_D2H].count == GPUEMU_FLIGHTS)
			land_oldest(&e->flights[GPUEMU_LINK_D2H], cost);
		look_ahead(&c, i, count);
		commit_one(&c, &e->migrations[i]);
		cond_resched();
	}
	land_all(e, cost);
	if (c.client)
		gpuemu_client_put(c.client);
	for (i = 0; i < count; i++)
		done += !e->migrations[i].status;
	return done;
}
