// SPDX-License-Identifier: GPL-2.0
/*
 * The books follow what the service really did: pages that came and went, and those
 * that did not. What the plan wanted does not matter any more. serve.c calls it.
 */
#include "paging/private.h"

#include <errno.h>

bool book_resident(const struct paging *p, uint32_t va_space, uint64_t addr)
{
	struct service *service = p->pool->service;

	return service->ops->walk(service, va_space, addr) != NULL;
}

void book_present(const struct paging *p, uint64_t base, uint64_t *pages)
{
	struct service *service = p->pool->service;
	uint32_t va_space = p->space->va_space;

	if (service->ops->present) {
		service->ops->present(service, va_space, base, pages);
		return;
	}
	for (unsigned int page = 0; page < BLOCK_PAGES; page++) {
		bitmap_clear(pages, page);
		if (book_resident(p, va_space, base + page * PAGE_BYTES))
			bitmap_set(pages, page);
	}
}

/* A page has gone for others; going home it only goes. */
static void book_gone(struct paging *p, struct space *space, uint64_t addr, enum link_class class,
		      struct pass *pass)
{
	int rc;

	if (!pass->home && space->owner && page_set_test(&space->pages, addr, PAGE_UNUSED))
		space->owner->stats.prefetch_unused_evicted_pages++;
	page_set_unmark(&space->pages, addr, PAGE_GOING);
	space_drop(p->pool, space, addr);
	if (pass->home)
		page_set_unmark(&space->pages, addr, PAGE_LEFT);
	else
		page_set_mark(&space->pages, addr, PAGE_LEFT);
	rc = flight_add(p, space->va_space, addr, LINK_D2H, class);
	if (rc)
		pass->rc = rc;
}

void book_eviction(struct paging *p, const struct migration *m, enum link_class class,
		   struct pass *pass)
{
	struct space *space = space_find(p->pool, m->va_space);

	for (unsigned int i = 0; i < m->pages; i++) {
		uint64_t addr = m->addr + i * PAGE_BYTES;

		if (m->status && book_resident(p, m->va_space, addr))
			pass->stayed++;
		else
			book_gone(p, space, addr, class, pass);
	}
	if (!pass->home)
		p->stats.evicted_pages += m->moved;
	pass->gone += m->moved;
	p->stats.d2h_bytes += m->moved * PAGE_BYTES;
}

/* A demanded page that did not come. */
static void book_missing(struct paging *p, uint64_t addr, int status, struct pass *pass,
			 struct paging_outcome *outcome)
{
	/* The range or its client went away meanwhile: the next fault is unmanaged. */
	if (status == -EFAULT || status == -ESRCH)
		return;
	if (status == -ENOSPC) {
		uint64_t unit = unit_of(p, addr);

		if (!pass->nagain || pass->again[pass->nagain - 1] != unit)
			pass->again[pass->nagain++] = unit;
		return;
	}
	if (!outcome->stuck++) {
		outcome->stuck_status = status;
		outcome->stuck_addr = addr;
	}
}

/* It was here before, and a far fault brings it back. */
static void book_return(struct paging *p, uint64_t addr)
{
	struct page_set *pages = &p->space->pages;

	p->stats.returned_pages++;
	if (!page_set_test(pages, addr, PAGE_BACK)) {
		page_set_mark(pages, addr, PAGE_BACK);
	} else if (!page_set_test(pages, addr, PAGE_THRASHED)) {
		page_set_mark(pages, addr, PAGE_THRASHED);
		p->stats.thrashing_pages++;
	}
}

/* The page is in device memory. -ENOMEM. */
static int book_page(struct paging *p, uint64_t addr, bool demanded)
{
	struct page_set *pages = &p->space->pages;
	int rc;

	if (page_set_test(pages, addr, PAGE_RESIDENT))
		return 0;
	rc = space_add(p->pool, p->space, addr, !demanded);
	if (rc)
		return rc;
	if (demanded && page_set_test(pages, addr, PAGE_LEFT))
		book_return(p, addr);
	page_set_unmark(pages, addr, PAGE_LEFT);
	page_set_mark(pages, addr, demanded ? PAGE_FRESH : PAGE_UNUSED);
	return flight_add(p, p->space->va_space, addr, LINK_H2D,
			  demanded ? LINK_DEMAND : LINK_PREFETCH);
}

void book_arrival(struct paging *p, const struct migration *m, bool demanded,
		  struct pass *pass, struct paging_outcome *outcome)
{
	for (unsigned int i = 0; i < m->pages; i++) {
		uint64_t addr = m->addr + i * PAGE_BYTES;
		int rc;

		if (m->status && !book_resident(p, m->va_space, addr)) {
			if (demanded)
				book_missing(p, addr, m->status, pass, outcome);
			else if ((m->status == -EFAULT || m->status == -ESRCH) &&
				 p->keep_end && !outcome->unmanaged++)
				outcome->unmanaged_addr = addr;
			continue;
		}
		rc = book_page(p, addr, demanded);
		if (rc)
			pass->rc = rc;
	}
	if (!demanded)
		p->stats.prefetched_pages += m->moved;
	p->stats.h2d_bytes += m->moved * PAGE_BYTES;
}
