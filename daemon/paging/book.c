// SPDX-License-Identifier: GPL-2.0
/*
 * The books follow what the service really did: pages that came and went, and those
 * that did not. What the plan wanted does not matter any more. serve.c calls it.
 */
#include "paging/handler.h"

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
	bool copy = page_set_test(&space->pages, addr, PAGE_DUPLICATE);
	int rc;

	if (!pass->home && space->owner && page_set_test(&space->pages, addr, PAGE_UNUSED))
		space->owner->stats.prefetch_unused_evicted_pages++;
	page_set_unmark(&space->pages, addr, PAGE_GOING);
	space_drop(p->pool, space, addr);
	if (pass->home)
		page_set_unmark(&space->pages, addr, PAGE_LEFT);
	else
		page_set_mark(&space->pages, addr, PAGE_LEFT);
	/* The bytes of a duplicate are there already. */
	rc = copy ? 0 : flight_add(p, space->va_space, addr, LINK_D2H, class);
	if (rc)
		pass->rc = rc;
}

static unsigned int entry_of(const struct paging *p, uint32_t va_space, uint64_t addr, bool *there)
{
	unsigned int flags;

	*there = service_entry(p->pool->service, va_space, addr, &flags);
	return flags;
}

/* A page that the device used in device memory is mapped where it went. */
static void book_left_mapped(struct paging *p, struct space *space, uint64_t addr)
{
	bool there;

	if (!(entry_of(p, space->va_space, addr, &there) & SERVICE_ENTRY_REMOTE))
		return;
	page_set_mark(&space->pages, addr, PAGE_REMOTE);
	if (space->owner)
		space->owner->stats.mapped_pages++;
}

void book_eviction(struct paging *p, const struct migration *m, enum link_class class,
		   struct pass *pass)
{
	struct space *space = space_find(p->pool, m->va_space);
	uint64_t copies = 0, moved = m->moved;

	/* For a mapping, `moved` counts mapped pages: no page has moved. */
	if (m->op == MIGRATE_REMOTE)
		moved = 0;
	pass->full |= m->op == MIGRATE_REMOTE && m->status == -ENOSPC;
	for (unsigned int i = book_run_left(p, space, m, class, pass) ? m->pages : 0;
	     i < m->pages; i++) {
		uint64_t addr = m->addr + i * PAGE_BYTES;

		if (m->status && book_resident(p, m->va_space, addr)) {
			pass->stayed++;
			continue;
		}
		moved += m->op == MIGRATE_REMOTE;
		copies += page_set_test(&space->pages, addr, PAGE_DUPLICATE);
		book_gone(p, space, addr, class, pass);
		if (m->op == MIGRATE_REMOTE)
			book_left_mapped(p, space, addr);
	}
	if (!pass->home)
		p->stats.evicted_pages += moved;
	pass->gone += moved;
	p->stats.d2h_bytes += (moved - MIN(copies, moved)) * PAGE_BYTES;
}

/* A demanded page that did not come. */
static void book_missing(struct paging *p, uint64_t addr, int status, struct pass *pass,
			 struct paging_outcome *outcome)
{
	/* The range or its client went away meanwhile: the next fault is unmanaged. */
	if (pass->quiet || status == -EFAULT || status == -ESRCH)
		return;
	if (status == -ENOSPC) {
		uint64_t unit = unit_of(p, addr);

		if (!pass->nagain || pass->again[pass->nagain - 1] != unit)
			pass->again[pass->nagain++] = unit;
		return;
	}
	/* That the page is being worked on says less than any other reason. */
	if (!outcome->stuck++ || outcome->stuck_status == -EAGAIN) {
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
	space_unmap(p->space, addr);
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

/* A duplicate was to become the only place. False: it still is one. */
static bool book_collapse(struct paging *p, const struct migration *m, uint64_t addr,
			  struct pass *pass)
{
	bool there;
	int rc;

	if (m->status && entry_of(p, m->va_space, addr, &there) & SERVICE_ENTRY_READ_ONLY)
		return false;
	page_set_unmark(&p->space->pages, addr, PAGE_DUPLICATE);
	p->stats.collapsed_pages++;
	if (pass->instant)
		return true;
	page_set_mark(&p->space->pages, addr, PAGE_COLLAPSING);
	rc = flight_map(p, addr);
	if (rc)
		pass->rc = rc;
	return true;
}

void book_unmapped(struct paging *p, const struct migration *m)
{
	for (unsigned int i = 0; i < m->pages; i++) {
		uint64_t addr = m->addr + i * PAGE_BYTES;
		bool there;

		if (!(entry_of(p, m->va_space, addr, &there) & SERVICE_ENTRY_REMOTE))
			space_unmap(p->space, addr);
	}
}

/* The page is used where it is, and was not so before. */
static void book_map(struct paging *p, uint64_t addr, struct pass *pass)
{
	int rc;

	if (page_set_test(&p->space->pages, addr, PAGE_REMOTE))
		return;
	page_set_mark(&p->space->pages, addr, PAGE_REMOTE);
	p->stats.mapped_pages++;
	rc = pass->instant ? 0 : flight_map(p, addr);
	if (rc)
		pass->rc = rc;
}

/* Ordinary memory that was to come, and is used where it stays. */
static bool book_stays(struct paging *p, const struct migration *m, uint64_t addr,
		       struct pass *pass)
{
	const unsigned int flags = SERVICE_ENTRY_REMOTE | SERVICE_ENTRY_PAGEABLE;
	bool there;

	if ((entry_of(p, m->va_space, addr, &there) & flags) != flags)
		return false;
	book_map(p, addr, pass);
	return true;
}

void book_mapped(struct paging *p, const struct migration *m, struct pass *pass,
		 struct paging_outcome *outcome)
{
	for (unsigned int i = 0; i < m->pages; i++) {
		uint64_t addr = m->addr + i * PAGE_BYTES;
		bool there, remote = entry_of(p, m->va_space, addr, &there) & SERVICE_ENTRY_REMOTE;

		if (!remote && m->status == -ENOSPC)
			pass->full = true;
		if (!remote && m->status)
			book_missing(p, addr, m->status, pass, outcome);
		if (remote)
			book_map(p, addr, pass);
	}
}

void book_arrival(struct paging *p, const struct migration *m, bool demanded,
		  struct pass *pass, struct paging_outcome *outcome)
{
	uint64_t collapsed = 0, moved;

	for (unsigned int i = book_run_arrived(p, m, demanded, pass) ? m->pages : 0;
	     i < m->pages; i++) {
		uint64_t addr = m->addr + i * PAGE_BYTES;
		bool there;
		int rc;

		if (page_set_test(&p->space->pages, addr, PAGE_DUPLICATE)) {
			if (book_collapse(p, m, addr, pass))
				collapsed++;
			else if (demanded)
				book_missing(p, addr, m->status, pass, outcome);
			continue;
		}
		if (m->status && !book_resident(p, m->va_space, addr)) {
			if (book_stays(p, m, addr, pass))
				continue;
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
		if (rc || m->op != MIGRATE_DUPLICATE ||
		    !(entry_of(p, m->va_space, addr, &there) & SERVICE_ENTRY_READ_ONLY))
			continue;
		page_set_mark(&p->space->pages, addr, PAGE_DUPLICATE);
		p->stats.duplicated_pages++;
	}
	/* A duplicate has not travelled, although the service counts it as moved. */
	moved = MIN(m->moved, m->pages - collapsed);
	if (!demanded)
		p->stats.prefetched_pages += moved;
	p->stats.h2d_bytes += moved * PAGE_BYTES;
}
