// SPDX-License-Identifier: GPL-2.0
/*
 * The pages of ordinary memory that are in device memory: a page of the kernel for each
 * frame, whose account it is on, and its end. mm frees such a page when it likes, also
 * with a page table locked; the engine may know of the frame still, so the frame is
 * nobody's until the engine has acknowledged the invalidate that came before. How pages
 * move is mirror_move.c's.
 */
#include <linux/bitmap.h>
#include <linux/ioport.h>
#include <linux/memremap.h>
#include <linux/mm.h>
#include <linux/rmap.h>
#include <linux/sizes.h>
#include <linux/slab.h>

#include "dev.h"
#include "limit.h"
#include "mirror.h"
#include "mirror_huge.h"
#include "mirror_move.h"
#include "mirror_pages.h"
#include "va_space.h"

/* What the kernel adds pages for at a time. */
#define GRAIN SZ_2M

/* Of one search for victims: it ends, also where none lets itself be moved. */
#define EVICT_TRIES 64

/* What a task looks at, or frees, before others get the lock. */
#define SLICE GPUEMU_BLOCK_PAGES

#define NONE U32_MAX

bool gpuemu_mirror_page_is(const struct gpuemu_dev *dev, const struct page *page)
{
	return is_device_private_page(page) &&
	       compat_page_pgmap(page) == &dev->mirror_pages.pagemap;
}

u32 gpuemu_mirror_page_frame(const struct gpuemu_dev *dev,
			     const struct page *page)
{
	return page_to_pfn(page) - dev->mirror_pages.first;
}

/* Where the engine has its content. */
void *gpuemu_mirror_page_addr(const struct gpuemu_dev *dev, const struct page *page)
{
	return gpuemu_vram_addr(&dev->vram, gpuemu_mirror_page_frame(dev, page));
}

/* The pages on an account are a ring, the one that came or was looked at last at its end. */
static void own_locked(struct gpuemu_mirror_pages *pages, struct gpuemu_mirror *mirror,
		       u32 frame)
{
	struct gpuemu_mirror_link *links = pages->links, *link = &links[frame];

	if (!mirror->npages++) {
		*link = (struct gpuemu_mirror_link){ frame, frame };
		mirror->first = frame;
		return;
	}
	link->next = mirror->first;
	link->prev = links[link->next].prev;
	links[link->prev].next = frame;
	links[link->next].prev = frame;
}

static void leave_ring_locked(struct gpuemu_mirror_pages *pages,
			      struct gpuemu_mirror *mirror, u32 frame)
{
	const struct gpuemu_mirror_link *link = &pages->links[frame];

	mirror->npages--;
	pages->links[link->prev].next = link->next;
	pages->links[link->next].prev = link->prev;
	if (mirror->first == frame)
		mirror->first = link->next;
}

/* From this frame on they are pages of the client. False: its file is closed. */
bool gpuemu_mirror_pages_own(struct gpuemu_mirror *mirror, u32 frame, u32 n)
{
	struct gpuemu_space *space = mirror->space;
	struct gpuemu_mirror_pages *pages = &space->dev->mirror_pages;
	u32 i;

	spin_lock(&pages->lock);
	/* gpuemu_mirror_pages_leave() comes later, or has been. */
	if (READ_ONCE(mirror->closed)) {
		spin_unlock(&pages->lock);
		return false;
	}
	bitmap_set(pages->used, frame, n);
	for (i = frame; i < frame + n; i++) {
		pages->owner[i] = space;
		own_locked(pages, mirror, i);
		pages->pass[i] = READ_ONCE(space->dev->lru.pass);
	}
	gpuemu_count(space, RESIDENT_PAGES, n);
	spin_unlock(&pages->lock);
	return true;
}

/**
 * gpuemu_mirror_page_get() - the page of a frame
 * @mirror: of the VA space that has the frame on its account
 * @frame: which; it is the caller's
 *
 * Locked, with one reference. NULL: the client's file is closed.
 */
struct page *gpuemu_mirror_page_get(struct gpuemu_mirror *mirror, u32 frame)
{
	struct gpuemu_mirror_pages *pages = &mirror->space->dev->mirror_pages;
	struct page *page = pfn_to_page(pages->first + frame);

	if (!gpuemu_mirror_pages_own(mirror, frame, 1))
		return NULL;
	compat_device_page_init(page, &pages->pagemap);
	return page;
}

static void disown_locked(struct gpuemu_mirror_pages *pages, u32 frame)
{
	struct gpuemu_space *space = pages->owner[frame];

	lockdep_assert_held(&pages->lock);
	if (!space)
		return;
	pages->owner[frame] = NULL;
	leave_ring_locked(pages, space->mirror, frame);
	gpuemu_limit_give_frames(space, 1);
	gpuemu_count(space, RESIDENT_PAGES, -1);
}

/* The last reference goes, to n small pages. Called with any lock of mm held, so nobody waits here. */
static void page_free(struct page *page, u32 n)
{
	struct gpuemu_mirror_pages *pages =
		container_of(compat_page_pgmap(page), struct gpuemu_mirror_pages,
			     pagemap);
	struct gpuemu_dev *dev = container_of(pages, struct gpuemu_dev,
					      mirror_pages);
	u32 frame = gpuemu_mirror_page_frame(dev, page), i;

	spin_lock(&pages->lock);
	bitmap_clear(pages->used, frame, n);
	if (n > 1)
		gpuemu_mirror_huge_end(dev, frame);
	/* The entries are cleared and the invalidate posted: mm told the mirror before. */
	pages->mark = gpuemu_tlb_mark(dev);
	for (i = frame + n; i-- > frame;) {
		disown_locked(pages, i);
		pages->stale[pages->nstale++] = i;
	}
	spin_unlock(&pages->lock);
}
COMPAT_PAGE_FREE(page_free)

/* Some of the frames that the engine has forgotten are free. False: there are no more. */
static bool reap_some(struct gpuemu_dev *dev)
{
	struct gpuemu_mirror_pages *pages = &dev->mirror_pages;
	DECLARE_BITMAP(mask, SLICE) = { };
	u32 n = 0;

	spin_lock(&pages->lock);
	if (pages->nstale && gpuemu_tlb_passed(dev, pages->mark))
		n = min_t(u32, pages->nstale, SLICE);
	bitmap_set(mask, 0, n);
	WRITE_ONCE(pages->nstale, pages->nstale - n);
	gpuemu_vram_free(&dev->vram, pages->stale + pages->nstale, mask, SLICE);
	spin_unlock(&pages->lock);
	return n == SLICE;
}

/* Frames that the engine has forgotten are free. */
void gpuemu_mirror_pages_reap(struct gpuemu_dev *dev)
{
	if (!READ_ONCE(dev->mirror_pages.nstale))
		return;
	while (reap_some(dev))
		cond_resched();
}

/*
 * Whether processes may have the page that were forked from the one that it was made for, be it
 * only the address where it was: mm looks into each of them before the page moves. A hint: the
 * page may be anything by now, but an anon_vma stays one as long as RCU is held.
 */
static bool page_is_shared(const struct page *page)
{
	const struct anon_vma *anon_vma;
	unsigned long mapping;
	bool shared = false;

	rcu_read_lock();
	mapping = (unsigned long)READ_ONCE(compound_head(page)->mapping);
	anon_vma = (const void *)(mapping & ~(unsigned long)FOLIO_MAPPING_FLAGS);
	if (anon_vma && mapping != (unsigned long)anon_vma)
		shared = READ_ONCE(anon_vma->num_children) >
			 (READ_ONCE(anon_vma->root) == anon_vma);
	rcu_read_unlock();
	return shared;
}

static void send_leaving(struct work_struct *work)
{
	struct gpuemu_mirror_pages *pages =
		container_of(work, struct gpuemu_mirror_pages, sender);
	struct gpuemu_dev *dev = container_of(pages, struct gpuemu_dev, mirror_pages);
	bool no_memory;
	u32 frame;

	for_each_set_bit(frame, pages->leaving, dev->vram.frames) {
		gpuemu_mirror_home(dev, &frame, 1, GPUEMU_INVAL_EVICT, &no_memory);
		clear_bit(frame, pages->leaving);
		cond_resched();
	}
}

/**
 * gpuemu_mirror_pages_home() - sends pages to system memory, for the engine's service thread
 * @dev: whose
 * @frames: of the pages; those that a worker sends leave the array
 * @n: how many, at most GPUEMU_HOME_PAGES
 * @reason: see gpuemu_mirror_home()
 * @no_memory: the same
 * @later: out: a worker sends some. A process may have a thousand children, and all clients
 *	wait for this thread
 *
 * Returns how many went.
 */
u32 gpuemu_mirror_pages_home(struct gpuemu_dev *dev, u32 *frames, u32 n,
			     enum gpuemu_inval_reason reason, bool *no_memory,
			     bool *later)
{
	struct gpuemu_mirror_pages *pages = &dev->mirror_pages;
	u32 now = 0, i;

	*later = false;
	for (i = 0; i < n; i++) {
		if (page_is_shared(pfn_to_page(pages->first + frames[i]))) {
			set_bit(frames[i], pages->leaving);
			*later = true;
		} else {
			frames[now++] = frames[i];
		}
	}
	if (*later)
		queue_work(dev->mirror.workers, &pages->sender);
	return now ? gpuemu_mirror_home(dev, frames, now, reason, no_memory) : 0;
}

/*
 * A walk over pages, in which each comes once.
 * @of: over this VA space's; NULL: over all frames
 * @all: also those that a commit which is still on asked for, or that are leaving already
 * @hand: of all frames: where it goes on
 * @left: how many are left, of frames also those that are no page
 */
struct walk {
	const struct gpuemu_space *of;
	bool all;
	u32 hand, left;
};

static struct walk walk_begin(struct gpuemu_dev *dev, const struct gpuemu_space *of,
			      bool all, u32 hand)
{
	struct walk walk = { .of = of, .all = all, .hand = hand, .left = dev->vram.frames };

	if (!of)
		return walk;
	walk.left = of->mirror ? READ_ONCE(of->mirror->npages) : 0;
	return walk;
}

/* The next page, or NONE: there is none here. */
static u32 step_locked(struct gpuemu_dev *dev, struct walk *walk)
{
	struct gpuemu_mirror_pages *pages = &dev->mirror_pages;
	u32 end = min(walk->hand + SLICE, dev->vram.frames), i;
	struct gpuemu_mirror *mirror;

	if (walk->of) {
		mirror = walk->of->mirror;
		walk->left = min(walk->left - 1, mirror->npages);
		if (!mirror->npages)
			return NONE;
		i = mirror->first;
		mirror->first = pages->links[i].next;
		return i;
	}
	i = find_next_bit(pages->used, end, walk->hand);
	end = min(i + 1, end);
	walk->left -= min(walk->left, end - walk->hand);
	walk->hand = end < dev->vram.frames ? end : 0;
	return i < end ? i : NONE;
}

/*
 * Up to GPUEMU_HOME_PAGES frames, in a bounded time; it may be none although there are more.
 * Of a client's the one that came first or was looked at longest ago comes first.
 */
static u32 choose(struct gpuemu_dev *dev, struct walk *walk, u32 *frames)
{
	struct gpuemu_mirror_pages *pages = &dev->mirror_pages;
	u32 pass = READ_ONCE(dev->lru.pass), n = 0, steps, i;

	spin_lock(&pages->lock);
	for (steps = 0; walk->left && steps < SLICE && n < GPUEMU_HOME_PAGES; steps++) {
		i = step_locked(dev, walk);
		if (i != NONE && (walk->all || (pages->pass[i] != pass &&
						!test_bit(i, pages->leaving))))
			frames[n++] = i;
	}
	spin_unlock(&pages->lock);
	return n;
}

/**
 * gpuemu_mirror_pages_evict() - makes room in device memory
 * @dev: whose
 * @want: frames
 * @of: only of this VA space; NULL: anybody's, or nobody's
 *
 * Sends home pages of ordinary memory, in turns; among them those that no engine knows
 * of, for example because their process has forked. Returns how many frames came free. Those
 * that a worker sends come free a little later.
 */
u32 gpuemu_mirror_pages_evict(struct gpuemu_dev *dev, u32 want,
			      const struct gpuemu_space *of)
{
	struct gpuemu_mirror_pages *pages = &dev->mirror_pages;
	struct walk walk = walk_begin(dev, of, false, READ_ONCE(pages->hand));
	u32 frames[GPUEMU_HOME_PAGES], freed = 0, n, tries = 0;
	bool no_memory, later;

	while (walk.left && tries < EVICT_TRIES && freed < want) {
		n = choose(dev, &walk, frames);
		tries += !!n;
		if (n)
			freed += gpuemu_mirror_pages_home(dev, frames, n,
							  GPUEMU_INVAL_RECLAIM,
							  &no_memory, &later);
		cond_resched();
	}
	if (!of)
		WRITE_ONCE(pages->hand, walk.hand);
	gpuemu_mirror_pages_reap(dev);
	return freed;
}

/* All of them, or one VA space's, as far as they let themselves be moved. */
static void send_home(struct gpuemu_dev *dev, const struct gpuemu_space *of)
{
	struct walk walk = walk_begin(dev, of, true, 0);
	u32 frames[GPUEMU_HOME_PAGES], n;
	bool no_memory;

	while (walk.left) {
		n = choose(dev, &walk, frames);
		if (n)
			gpuemu_mirror_home(dev, frames, n, GPUEMU_INVAL_UNMAP, &no_memory);
		cond_resched();
	}
}

/* Some of the VA space's pages are on nobody's account. False: it has no more. */
static bool disown_some(struct gpuemu_mirror_pages *pages, struct gpuemu_mirror *mirror)
{
	u32 steps;
	bool more;

	spin_lock(&pages->lock);
	for (steps = 0; mirror->npages && steps < SLICE; steps++)
		disown_locked(pages, mirror->first);
	more = mirror->npages;
	spin_unlock(&pages->lock);
	return more;
}

/*
 * The client's file is closed. Its pages go home. One that does not, because somebody
 * works on it or there is no memory, stays the process' where it is and on nobody's
 * account, and goes when its process asks for it, or others need the frame.
 */
void gpuemu_mirror_pages_leave(struct gpuemu_space *space)
{
	send_home(space->dev, space);
	while (disown_some(&space->dev->mirror_pages, space->mirror))
		cond_resched();
	gpuemu_mirror_pages_reap(space->dev);
}

static const struct dev_pagemap_ops pages_ops = {
	COMPAT_PAGE_FREE_OP(page_free),
	.migrate_to_ram = gpuemu_mirror_to_ram,
#ifdef MIGRATE_PFN_COMPOUND
	.folio_split = gpuemu_mirror_huge_split,
#endif
};

/* Pages for all frames; the addresses are taken where the machine has nothing. */
static int make_pages(struct gpuemu_dev *dev)
{
	struct gpuemu_mirror_pages *pages = &dev->mirror_pages;
	u64 bytes = round_up((u64)dev->vram.frames << PAGE_SHIFT, GRAIN);
	void *ret;

	pages->region = request_free_mem_region(&iomem_resource, bytes, "gpuemu");
	if (IS_ERR(pages->region))
		return PTR_ERR(pages->region);
	pages->first = pages->region->start >> PAGE_SHIFT;
	pages->pagemap.type = MEMORY_DEVICE_PRIVATE;
	pages->pagemap.range.start = pages->region->start;
	pages->pagemap.range.end = pages->region->start + bytes - 1;
	pages->pagemap.nr_range = 1;
	pages->pagemap.ops = &pages_ops;
	pages->pagemap.owner = dev;
	ret = memremap_pages(&pages->pagemap, numa_node_id());
	if (!IS_ERR(ret))
		return 0;
	release_mem_region(pages->region->start, resource_size(pages->region));
	return PTR_ERR(ret);
}

static void free_tables(struct gpuemu_mirror_pages *pages)
{
	kvfree(pages->used);
	kvfree(pages->owner);
	kvfree(pages->links);
	kvfree(pages->pass);
	kvfree(pages->leaving);
	kvfree(pages->huge);
	kvfree(pages->spare);
	kvfree(pages->stale);
}

int gpuemu_mirror_pages_init(struct gpuemu_dev *dev)
{
	struct gpuemu_mirror_pages *pages = &dev->mirror_pages;
	u32 n = dev->vram.frames;
	int ret = -ENOMEM;

	spin_lock_init(&pages->lock);
	init_rwsem(&pages->making);
	pages->used = kvcalloc(BITS_TO_LONGS(n), sizeof(*pages->used), GFP_KERNEL);
	pages->owner = kvcalloc(n, sizeof(*pages->owner), GFP_KERNEL);
	pages->links = kvcalloc(n, sizeof(*pages->links), GFP_KERNEL);
	pages->pass = kvcalloc(n, sizeof(*pages->pass), GFP_KERNEL);
	pages->leaving = kvcalloc(BITS_TO_LONGS(n), sizeof(*pages->leaving), GFP_KERNEL);
	pages->huge = kvcalloc(DIV_ROUND_UP(n, GPUEMU_VRAM_RUN), sizeof(*pages->huge), GFP_KERNEL);
	pages->spare = kvcalloc(DIV_ROUND_UP(n, GPUEMU_VRAM_RUN), sizeof(*pages->spare),
				GFP_KERNEL);
	INIT_WORK(&pages->freer, gpuemu_mirror_huge_free);
	INIT_WORK(&pages->sender, send_leaving);
	pages->stale = kvmalloc_array(n, sizeof(*pages->stale), GFP_KERNEL);
	if (pages->used && pages->owner && pages->links && pages->pass &&
	    pages->leaving && pages->huge && pages->spare && pages->stale)
		ret = make_pages(dev);
	if (ret)
		free_tables(pages);
	return ret;
}

/* All files are closed. Processes may still have pages here, and get them back first. */
void gpuemu_mirror_pages_destroy(struct gpuemu_dev *dev)
{
	struct gpuemu_mirror_pages *pages = &dev->mirror_pages;

	while (find_first_bit(pages->used, dev->vram.frames) < dev->vram.frames) {
		send_home(dev, NULL);
		schedule_timeout_uninterruptible(1);
	}
	memunmap_pages(&pages->pagemap);
	release_mem_region(pages->region->start, resource_size(pages->region));
	gpuemu_mirror_pages_reap(dev);
	cancel_work_sync(&pages->freer);
	gpuemu_mirror_huge_free(&pages->freer);
	free_tables(pages);
}
