// SPDX-License-Identifier: GPL-2.0
/*
 * The device's frames and their holders. Keeps the books of all VA spaces in
 * agreement with the service; decides nothing.
 */
#include "paging/handler.h"

#include <errno.h>
#include <stdlib.h>

struct space *space_find(const struct paging_pool *pool, uint32_t va_space)
{
	list_for_each(node, &pool->spaces) {
		struct space *space = list_entry(node, struct space, node);

		if (space->va_space == va_space)
			return space;
	}
	return NULL;
}

static struct tenant *tenant_get(struct paging_pool *pool, uint32_t user)
{
	struct list *before = pool->tenants.next;
	struct tenant *tenant;

	while (before != &pool->tenants &&
	       list_entry(before, struct tenant, node)->user < user)
		before = before->next;
	tenant = list_entry(before, struct tenant, node);
	if (before == &pool->tenants || tenant->user != user) {
		tenant = calloc(1, sizeof(*tenant));
		if (!tenant)
			return NULL;
		tenant->user = user;
		list_insert(before, &tenant->node);
	}
	tenant->spaces++;
	return tenant;
}

static void tenant_put(struct tenant *tenant)
{
	if (--tenant->spaces)
		return;
	list_del(&tenant->node);
	free(tenant);
}

int space_set_user(struct paging_pool *pool, struct space *space, uint32_t user)
{
	struct tenant *tenant = tenant_get(pool, user);

	if (!tenant)
		return -ENOMEM;
	tenant_put(space->tenant);
	space->tenant = tenant;
	return 0;
}

struct space *space_get(struct paging_pool *pool, uint32_t va_space)
{
	struct space *space = space_find(pool, va_space);
	struct list *before = pool->spaces.next;

	if (space)
		return space;
	space = calloc(1, sizeof(*space));
	if (!space)
		return NULL;
	/* The VA space may have pages that a lost daemon left: its first work says the user. */
	space->tenant = tenant_get(pool, 0);
	if (!space->tenant) {
		free(space);
		return NULL;
	}
	space->va_space = va_space;
	/* The list is sorted by number: each run then chooses the same one of equal shares. */
	while (before != &pool->spaces &&
	       list_entry(before, struct space, node)->va_space < va_space)
		before = before->next;
	list_insert(before, &space->node);
	return space;
}

static void space_free(struct space *space)
{
	list_del(&space->node);
	tenant_put(space->tenant);
	page_set_clear(&space->pages);
	free(space);
}

void space_put(struct paging_pool *pool, struct space *space)
{
	if (space->owner || space->pages.count)
		return;
	space_free(space);
}

int space_add(struct paging_pool *pool, struct space *space, uint64_t addr, bool prefetched)
{
	int rc;

	if (page_set_test(&space->pages, addr, PAGE_RESIDENT))
		return 0;
	rc = page_set_reserve(&space->pages, addr);
	if (rc)
		return rc;
	if (space->owner)
		rc = policies_arrive(space->owner, addr, prefetched);
	if (rc)
		return rc;
	page_set_mark(&space->pages, addr, PAGE_RESIDENT);
	pool->used++;
	return 0;
}

void space_unmap(struct space *space, uint64_t addr)
{
	if (!space->pages.remote || !page_set_test(&space->pages, addr, PAGE_REMOTE))
		return;
	page_set_unmark(&space->pages, addr, PAGE_REMOTE);
	if (space->owner)
		flight_drop(space->owner, addr);
}

void space_drop(struct paging_pool *pool, struct space *space, uint64_t addr)
{
	if (!page_set_test(&space->pages, addr, PAGE_RESIDENT))
		return;
	if (space->owner)
		flight_drop(space->owner, addr);
	page_set_unmark(&space->pages, addr, PAGE_RESIDENT);
	page_set_unmark(&space->pages, addr, PAGE_UNUSED);
	page_set_unmark(&space->pages, addr, PAGE_FRESH);
	page_set_unmark(&space->pages, addr, PAGE_DUPLICATE);
	page_set_unmark(&space->pages, addr, PAGE_COLLAPSING);
	pool->used--;
	if (space->owner)
		policies_leave(space->owner, addr);
}

struct import {
	struct paging_pool *pool;
	int rc;
};

static void import_page(void *ctx, uint32_t va_space, uint64_t addr)
{
	struct import *import = ctx;
	struct space *space = space_get(import->pool, va_space);
	int rc = space ? space_add(import->pool, space, addr, false) : -ENOMEM;
	unsigned int flags;

	if (!rc && service_entry(import->pool->service, va_space, addr, &flags) &&
	    flags & SERVICE_ENTRY_READ_ONLY)
		page_set_mark(&space->pages, addr, PAGE_DUPLICATE);
	if (rc)
		import->rc = rc;
}

int paging_pool_create(struct service *service, struct paging_pool **pool)
{
	struct import import = { .rc = 0 };

	import.pool = calloc(1, sizeof(*import.pool));
	if (!import.pool)
		return -ENOMEM;
	import.pool->service = service;
	list_init(&import.pool->spaces);
	list_init(&import.pool->tenants);
	service->ops->resident(service, import_page, &import);
	if (import.rc) {
		paging_pool_destroy(import.pool);
		return import.rc;
	}
	*pool = import.pool;
	return 0;
}

void paging_pool_destroy(struct paging_pool *pool)
{
	list_for_each_safe(node, &pool->spaces) {
		struct space *space = list_entry(node, struct space, node);

		space_free(space);
	}
	free(pool);
}

/* The service made room by itself; the page's space counts it as if it had been picked. */
static void count_reclaimed(struct space *space, uint64_t addr)
{
	struct paging *owner = space->owner;

	page_set_mark(&space->pages, addr, PAGE_LEFT);
	if (!owner)
		return;
	owner->stats.prefetch_unused_evicted_pages += page_set_test(&space->pages, addr,
								     PAGE_UNUSED);
	owner->stats.evicted_pages++;
	owner->stats.d2h_bytes += PAGE_BYTES;
}

/*
 * An invalidation may be told late, after the page came back, and one that
 * means "all" says little. So each page is looked up: the page table knows.
 */
static void recheck_block(struct paging_pool *pool, struct space *space, size_t i,
			  uint64_t start, uint64_t end, bool reclaimed)
{
	struct service *service = pool->service;
	uint64_t base = space->pages.blocks[i].addr;

	for (unsigned int page = 0; page < BLOCK_PAGES; page++) {
		uint64_t addr = base + page * PAGE_BYTES;

		page = bitmap_next(space->pages.blocks[i].bits[PAGE_RESIDENT],
				   BLOCK_PAGES, page);
		if (page == BLOCK_PAGES)
			return;
		addr = base + page * PAGE_BYTES;
		if (addr < start || addr >= end ||
		    service->ops->walk(service, space->va_space, addr))
			continue;
		if (reclaimed)
			count_reclaimed(space, addr);
		space_drop(pool, space, addr);
	}
}

/* The same for what is mapped in system memory. */
static void recheck_remote(struct paging_pool *pool, struct space *space, size_t i,
			   uint64_t start, uint64_t end)
{
	const uint64_t *bits = space->pages.blocks[i].bits[PAGE_REMOTE];
	uint64_t base = space->pages.blocks[i].addr;
	unsigned int flags;

	for (unsigned int page = bitmap_next(bits, BLOCK_PAGES, 0); page < BLOCK_PAGES;
	     page = bitmap_next(bits, BLOCK_PAGES, page + 1)) {
		uint64_t addr = base + page * PAGE_BYTES;

		if (addr >= start && addr < end &&
		    !(service_entry(pool->service, space->va_space, addr, &flags) &&
		      flags & SERVICE_ENTRY_REMOTE))
			space_unmap(space, addr);
	}
}

/* Looks up again which of one block's pages in [start, end) the VA space still has. */
static void recheck(struct paging_pool *pool, struct space *space, size_t i, uint64_t start,
		    uint64_t end, bool reclaimed)
{
	recheck_block(pool, space, i, start, end, reclaimed);
	if (space->pages.remote)
		recheck_remote(pool, space, i, start, end);
}

static void recheck_space(struct paging_pool *pool, struct space *space,
			  uint64_t start, uint64_t end, bool reclaimed)
{
	struct page_set *pages = &space->pages;
	uint64_t first = start >> BLOCK_SHIFT, last = (end - 1) >> BLOCK_SHIFT;
	uint64_t i;

	if (last - first < pages->nblocks) {
		for (uint64_t block = first; block <= last; block++)
			if (u64map_get(&pages->index, block, &i))
				recheck(pool, space, i, start, end, reclaimed);
		return;
	}
	for (i = 0; i < pages->nblocks; i++)
		recheck(pool, space, i, start, end, reclaimed);
}

void paging_invalidate(struct paging_pool *pool, const struct service_invalidate *invalidate)
{
	if (invalidate->end <= invalidate->start)
		return;
	list_for_each_safe(node, &pool->spaces) {
		struct space *space = list_entry(node, struct space, node);

		if (invalidate->va_space && invalidate->va_space != space->va_space)
			continue;
		recheck_space(pool, space, invalidate->start, invalidate->end,
			      invalidate->reclaimed);
		space_put(pool, space);
	}
}
