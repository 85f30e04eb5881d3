// SPDX-License-Identifier: GPL-2.0
/*
 * Where a page shall be, by what the program said of it: UVM's order
 * (block_select_processor_residency) as far as one device has it. Asked by plan.c; who says
 * the advice is gpu/. It moves nothing but what an advice that ended leaves behind.
 *
 * Two steps of UVM's are not here. A page that is nowhere yet goes to its preferred location:
 * only the service knows that nobody has touched a page, and to this side it is in system memory.
 * And there is no device that could not do atomics on a remote page.
 */
#include "paging/handler.h"

#include <errno.h>
#include <string.h>

/* ADVICE_* of the page. */
uint32_t advice_of(const struct paging *p, uint64_t addr)
{
	uint64_t low = 0, high = p->known.nadvice;

	/* Without paging everything is in device memory. */
	if (!high || !p->spec.paging)
		return 0;
	while (low < high) {
		uint64_t middle = low + (high - low) / 2;
		const struct advice_range *r = &p->known.advice[middle];

		if (addr < r->addr)
			high = middle;
		else if (addr - r->addr >= r->bytes)
			low = middle + 1;
		else
			return r->flags;
	}
	return 0;
}

bool advice_remote(const struct paging *p)
{
	return p->pool->service->can & SERVICE_CAN_REMOTE && !p->remote_full;
}

enum migration_op advice_residency(const struct paging *p, uint64_t addr, bool write, bool pinned)
{
	uint32_t advice = advice_of(p, addr);
	bool remote = advice_remote(p);

	/* A duplicate that is written: the faulter has a copy, which becomes the only one. */
	if (page_set_test(&p->space->pages, addr, PAGE_DUPLICATE))
		return MIGRATE_H2D;
	if (advice & ADVICE_READ_MOSTLY && !write &&
	    p->pool->service->can & SERVICE_CAN_DUPLICATE)
		return MIGRATE_DUPLICATE;
	if (advice & ADVICE_PREFER_DEVICE)
		return MIGRATE_H2D;
	if (remote && (pinned || advice & (ADVICE_ACCESSED_BY | ADVICE_PREFER_HOST)))
		return MIGRATE_REMOTE;
	return MIGRATE_H2D;
}

enum migration_op advice_prefetched(const struct paging *p, uint64_t addr)
{
	return advice_of(p, addr) & ADVICE_READ_MOSTLY &&
	       p->pool->service->can & SERVICE_CAN_DUPLICATE ? MIGRATE_DUPLICATE : MIGRATE_H2D;
}

enum migration_op advice_home(const struct paging *p, uint64_t addr)
{
	return p && advice_of(p, addr) & ADVICE_ACCESSED_BY && advice_remote(p) ?
	       MIGRATE_REMOTE : MIGRATE_D2H;
}

bool advice_stays(const struct paging *p, uint64_t addr)
{
	uint32_t advice = advice_of(p, addr);

	if (page_set_test(&p->space->pages, addr, PAGE_REMOTE))
		return true;
	return !(advice & ADVICE_PREFER_DEVICE) &&
	       advice & (ADVICE_PREFER_HOST | ADVICE_ACCESSED_BY) && advice_remote(p);
}

/* --- advice that changes ------------------------------------------------------- */

static int decide_each(struct paging *p, enum migration_op op)
{
	plan_begin(p);
	plan_each(p, op);
	return 0;
}

static int decide_map(void *ctx, struct service_batch *batch)
{
	return decide_each(ctx, MIGRATE_REMOTE);
}

static int decide_unmap(void *ctx, struct service_batch *batch)
{
	return decide_each(ctx, MIGRATE_D2H);
}

static int decide_collapse(void *ctx, struct service_batch *batch)
{
	return decide_each(ctx, MIGRATE_H2D);
}

/* Has the plan of what is wanted carried out, in no virtual time: the program asked, no kernel. */
static int change(struct paging *p, int (*decide)(void *ctx, struct service_batch *batch))
{
	struct paging_outcome outcome = { 0 };
	struct pass pass = { .home = true, .quiet = true, .instant = true };
	int rc = 0;

	if (p->nwanted)
		rc = serve_pass(p, 0, decide, &pass, &outcome);
	p->nwanted = 0;
	return rc;
}

/* Pages with `bit` whose advice has none of `flags` any more. */
static int end_of_advice(struct paging *p, enum page_bit bit, uint32_t flags,
			 int (*decide)(void *ctx, struct service_batch *batch))
{
	struct page_set *pages = &p->space->pages;
	int rc = 0;

	for (size_t i = 0; !rc && i < pages->nblocks; i++) {
		unsigned int page = 0;

		while ((page = bitmap_next(pages->blocks[i].bits[bit], BLOCK_PAGES, page)) <
		       BLOCK_PAGES) {
			uint64_t addr = pages->blocks[i].addr + page++ * PAGE_BYTES;

			if (!(advice_of(p, addr) & flags))
				p->wanted[p->nwanted++] = addr;
		}
		if (p->nwanted + BLOCK_PAGES > WANTED_MAX || i + 1 == pages->nblocks)
			rc = change(p, decide);
	}
	return rc;
}

/*
 * Accessed by the device: mapped for it now, so that it does not fault, as far as there is room
 * for mappings. What is in device memory, or prefers to be, is left. What an engine before this
 * one left mapped is learnt.
 */
static int map_accessed(struct paging *p, const struct advice_range *r)
{
	bool map = r->flags & ADVICE_ACCESSED_BY && !(r->flags & ADVICE_PREFER_DEVICE);
	int rc = 0;

	if (!(r->flags & (ADVICE_ACCESSED_BY | ADVICE_PREFER_HOST)))
		return 0;
	for (uint64_t addr = r->addr; !rc && addr < r->addr + r->bytes; addr += PAGE_BYTES) {
		unsigned int flags;
		void *host;

		if (!advice_remote(p))
			break;
		host = service_entry(p->pool->service, p->space->va_space, addr, &flags);
		if (host && !(flags & SERVICE_ENTRY_REMOTE))
			continue;
		rc = host || map ? page_set_reserve(&p->space->pages, addr) : 0;
		if (!rc && host) {
			page_set_mark(&p->space->pages, addr, PAGE_REMOTE);
		} else if (!rc && map) {
			page_set_unmark(&p->space->pages, addr, PAGE_REMOTE);
			p->wanted[p->nwanted++] = addr;
		}
		if (p->nwanted == WANTED_MAX / 2)
			rc = change(p, decide_map);
	}
	return rc ? rc : change(p, decide_map);
}

int paging_set_advice(struct paging *p, const struct advice_range *advice, uint64_t n)
{
	int rc;

	p->known.advice = advice;
	p->known.nadvice = n;
	p->remote_full = false;
	p->nwanted = 0;
	/* Mappings of thrashing pages end as well: the next fault says again what they are. */
	rc = end_of_advice(p, PAGE_DUPLICATE, ADVICE_READ_MOSTLY, decide_collapse);
	if (!rc)
		rc = end_of_advice(p, PAGE_REMOTE, ADVICE_ACCESSED_BY | ADVICE_PREFER_HOST,
				   decide_unmap);
	for (uint64_t i = 0; !rc && i < n && p->spec.paging; i++)
		rc = map_accessed(p, &advice[i]);
	p->remote_full = false;
	return rc;
}
