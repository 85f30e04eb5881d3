// SPDX-License-Identifier: GPL-2.0
/*
 * System pages: their allocation, and the account that pays. The VA block knows what is in
 * them. Called by the CPU's faults, by migrations, and by the end of pages.
 *
 * All clients wait for a COMMIT. So it takes only memory that the client's memory cgroup
 * has free. If nothing is free, a worker reclaims on the client's account and keeps pages ready
 * for the client's next fault.
 */
#include <linux/bitmap.h>
#include <linux/highmem.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>

#include "client.h"
#include "dev.h"
#include "inject.h"
#include "objects.h"
#include "sysmem.h"
#include "va_block.h"
#include "va_space.h"

/* Single pages are allocated so many at a time: for the allocator it is one step. */
#define STOCK_ORDER PAGE_ALLOC_COSTLY_ORDER

/* Of all clients together, for the machine that asks for them. */
static atomic_t ready_pages = ATOMIC_INIT(0);

static struct page *page_alloc(struct gpuemu_space *space, gfp_t gfp)
{
	struct mem_cgroup *old = set_active_memcg(space->memcg);
	struct page *page = alloc_page(gfp);

	set_active_memcg(old);
	if (page)
		gpuemu_created(pages);
	return page;
}

static void page_free(struct page *page)
{
	put_page(page);
	gpuemu_destroyed(pages);
}

/* The page has a place among those that are ready, or is freed. */
static void add_ready(struct gpuemu_sysmem *sysmem, struct page *page)
{
	spin_lock(&sysmem->lock);
	if (sysmem->nready < GPUEMU_READY_MAX) {
		sysmem->ready[sysmem->nready] = page;
		WRITE_ONCE(sysmem->nready, sysmem->nready + 1);
		atomic_inc(&ready_pages);
		page = NULL;
	}
	spin_unlock(&sysmem->lock);
	if (page)
		page_free(page);
}

/* Gets as many pages ready as there may be, or as the client's memory cgroup yields. */
static void refill(struct work_struct *work)
{
	const gfp_t gfp = GFP_HIGHUSER | __GFP_ACCOUNT | __GFP_NORETRY |
			  __GFP_NOWARN;
	struct gpuemu_sysmem *sysmem = container_of(work, struct gpuemu_sysmem,
						    refill);
	struct gpuemu_space *space = container_of(sysmem, struct gpuemu_space,
						  sysmem);
	struct page *page;

	while (READ_ONCE(sysmem->nready) < GPUEMU_READY_MAX &&
	       !READ_ONCE(sysmem->closed)) {
		page = page_alloc(space, gfp);
		if (!page)
			break;
		add_ready(sysmem, page);
		cond_resched();
	}
}

void gpuemu_sysmem_init(struct gpuemu_sysmem *sysmem)
{
	spin_lock_init(&sysmem->lock);
	INIT_WORK(&sysmem->refill, refill);
}

/* A page that is ready, or NULL. */
static struct page *take_ready(struct gpuemu_sysmem *sysmem)
{
	struct page *page = NULL;

	spin_lock(&sysmem->lock);
	if (sysmem->nready) {
		WRITE_ONCE(sysmem->nready, sysmem->nready - 1);
		atomic_dec(&ready_pages);
		page = sysmem->ready[sysmem->nready];
	}
	spin_unlock(&sysmem->lock);
	return page;
}

/* Pages that are ready, of all clients. */
unsigned int gpuemu_sysmem_ready(void)
{
	return atomic_read(&ready_pages);
}

/* Frees up to @most pages that are ready for the client. Returns how many. */
unsigned long gpuemu_sysmem_give_back(struct gpuemu_space *space,
				      unsigned long most)
{
	unsigned long n = 0;
	struct page *page;

	while (n < most && (page = take_ready(&space->sysmem))) {
		page_free(page);
		n++;
	}
	return n;
}

/* The client's file is released. */
void gpuemu_sysmem_close(struct gpuemu_space *space)
{
	struct gpuemu_sysmem *sysmem = &space->sysmem;

	spin_lock(&sysmem->lock);
	WRITE_ONCE(sysmem->closed, true);
	spin_unlock(&sysmem->lock);
	cancel_work_sync(&sysmem->refill);
	gpuemu_sysmem_give_back(space, GPUEMU_READY_MAX);
}

/* The engine found no memory on the client's account: a worker tries harder. */
void gpuemu_sysmem_ask(struct gpuemu_space *space)
{
	struct gpuemu_sysmem *sysmem = &space->sysmem;

	spin_lock(&sysmem->lock);
	if (!sysmem->closed)
		queue_work(system_unbound_wq, &sysmem->refill);
	spin_unlock(&sysmem->lock);
}

/* 1 << order pages in one allocation and one charge; then each stands for itself. */
static struct page *pages_alloc(struct gpuemu_space *space, unsigned int order)
{
	struct mem_cgroup *old = set_active_memcg(space->memcg);
	struct page *page = alloc_pages(GPUEMU_ENGINE_GFP | __GFP_HIGHMEM |
					__GFP_NORETRY, order);

	set_active_memcg(old);
	if (!page)
		return NULL;
	split_page(page, order);
	atomic_add(1 << order, &gpuemu_live[GPUEMU_OBJ_pages]);
	return page;
}

/* A page, and some more that are ready for the next ones. */
static struct page *stock_up(struct gpuemu_space *space)
{
	struct page *page = pages_alloc(space, STOCK_ORDER);
	u32 i;

	if (!page)
		return page_alloc(space, GPUEMU_ENGINE_GFP | __GFP_HIGHMEM);
	for (i = 1; i < 1u << STOCK_ORDER; i++)
		add_ready(&space->sysmem, page + i);
	return page;
}

static void no_page(struct gpuemu_space *space)
{
	gpuemu_count(space, NO_MEMORY, 1);
	gpuemu_event_pressure(space, "system memory");
}

/**
 * gpuemu_sysmem_get() - a page for the CPU's fault
 * @space: of the page
 * @gfp: flags of the caller; without __GFP_DIRECT_RECLAIM where a VA block is locked
 *
 * The caller puts it into its place, or gives it back. NULL: there is none to be had.
 */
struct page *gpuemu_sysmem_get(struct gpuemu_space *space, gfp_t gfp)
{
	const bool earnest = gfp & __GFP_DIRECT_RECLAIM;
	struct page *page = NULL;

	if (earnest ? !gpuemu_inject(space->dev, GPUEMU_INJECT_PAGE) :
		      !gpuemu_inject_pending(GPUEMU_INJECT_PAGE))
		page = page_alloc(space, gfp | __GFP_HIGHMEM | __GFP_ACCOUNT |
				  __GFP_ZERO);
	if (page)
		gpuemu_count(space, SYSTEM_PAGES, 1);
	else if (earnest)
		no_page(space);
	return page;
}

/**
 * gpuemu_sysmem_unmapped() - counts system pages that the CPU has not mapped
 * @space: the pages' VA space
 * @n: how many are added; below 0: the module frees so many, or the CPU maps them
 *
 * Linux counts mapped pages for their process. It does not know the pages behind device
 * memory, and nobody can reclaim them. So the module counts them for the process, as shared
 * memory, and the OOM killer sees them there.
 */
void gpuemu_sysmem_unmapped(struct gpuemu_space *space, long n)
{
	struct gpuemu_client *client = container_of(space, struct gpuemu_client,
						    space);

	/* Without a mapping there is no page. The client has the mm as long as it lives. */
	if (n)
		compat_mm_counter_add(READ_ONCE(client->mm), MM_SHMEMPAGES, n);
}

/* A page that somebody else still refers to (GUP) lives on with that reference. */
void gpuemu_sysmem_put(struct gpuemu_space *space, struct page *page)
{
	page_free(page);
	gpuemu_count(space, SYSTEM_PAGES, -1);
}

/*
 * Pages for all of first .. first + n - 1, which have none, at once and contiguous, if
 * that is to be had without effort. Returns how many there are now, from the first on.
 */
static u32 fill_run(struct gpuemu_block *block, u32 first, u32 n)
{
	unsigned int order = ilog2(n);
	struct page *page;
	u32 i;

	/* Up to that order, the allocator keeps pages ready. */
	if (order < PAGE_ALLOC_COSTLY_ORDER ||
	    gpuemu_inject_pending(GPUEMU_INJECT_PAGE))
		return 0;
	page = pages_alloc(block->space, order);
	if (!page && order > PAGE_ALLOC_COSTLY_ORDER) {
		order = PAGE_ALLOC_COSTLY_ORDER;
		page = pages_alloc(block->space, order);
	}
	if (!page)
		return 0;
	for (i = 0; i < 1u << order; i++)
		block->pages[first + i] = page + i;
	return 1u << order;
}

static bool fill_one(struct gpuemu_block *block, u32 i)
{
	struct gpuemu_space *space = block->space;
	struct page *page;

	if (gpuemu_inject(space->dev, GPUEMU_INJECT_PAGE))
		return false;
	page = take_ready(&space->sysmem) ?: stock_up(space);
	block->pages[i] = page;
	return page;
}

/**
 * gpuemu_sysmem_fill() - system pages for pages that the engine moves
 * @block: locked, not dead
 * @mask: pages that need one each; those that cannot have one leave it
 * @filled: out: those that had none and have one now, with any bytes in it
 *
 * Never waits. -ENOMEM: some left the mask, and a worker looks for memory.
 */
int gpuemu_sysmem_fill(struct gpuemu_block *block, unsigned long *mask,
		       unsigned long *filled)
{
	u32 i, end, n = 0, short_of = 0;

	lockdep_assert_held(&block->lock);
	bitmap_zero(filled, GPUEMU_BLOCK_PAGES);
	for_each_set_bitrange(i, end, mask, GPUEMU_BLOCK_PAGES)
		for (; i < end; i++)
			if (!block->pages[i]) {
				__set_bit(i, filled);
				n++;
			}
	/* What the CPU has written has its page. */
	if (!n)
		return 0;
	for_each_set_bit(i, filled, GPUEMU_BLOCK_PAGES) {
		if (block->pages[i])
			continue;
		end = find_next_zero_bit(filled, GPUEMU_BLOCK_PAGES, i);
		if (fill_run(block, i, end - i) || fill_one(block, i))
			continue;
		__clear_bit(i, filled);
		__clear_bit(i, mask);
		short_of++;
	}
	if (n - short_of) {
		gpuemu_count(block->space, SYSTEM_PAGES, n - short_of);
		gpuemu_sysmem_unmapped(block->space, n - short_of);
	}
	if (!short_of)
		return 0;
	no_page(block->space);
	gpuemu_sysmem_ask(block->space);
	return -ENOMEM;
}

/* The pages of the mask become what was never touched. */
void gpuemu_sysmem_clear(struct gpuemu_block *block, const unsigned long *mask)
{
	u32 i;

	for_each_set_bit(i, mask, GPUEMU_BLOCK_PAGES)
		clear_highpage(block->pages[i]);
}

/* The pages of the mask, which the CPU has not mapped, lose theirs. */
void gpuemu_sysmem_release(struct gpuemu_block *block, const unsigned long *mask)
{
	u32 i;

	lockdep_assert_held(&block->lock);
	for_each_set_bit(i, mask, GPUEMU_BLOCK_PAGES) {
		gpuemu_sysmem_put(block->space, block->pages[i]);
		block->pages[i] = NULL;
	}
	gpuemu_sysmem_unmapped(block->space,
			       -(long)bitmap_weight(mask, GPUEMU_BLOCK_PAGES));
}
