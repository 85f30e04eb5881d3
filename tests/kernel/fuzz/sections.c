// SPDX-License-Identifier: GPL-2.0
/* Where a client's pages are: managed memory, and sections of ordinary memory. */
#include <stdatomic.h>

#include "fuzz/fuzz.h"

static const struct section sections[] = {
	{ KIND_MANAGED, 0, PAGES },
	{ KIND_HUGE, PAGES, HUGE_PAGES },
	{ KIND_PRIVATE, PAGES + HUGE_PAGES, 60 },
	{ KIND_SHARED, PAGES + HUGE_PAGES + 60, 40 },
	{ KIND_FILE, PAGES + HUGE_PAGES + 100, 40 },
	{ KIND_READ_ONLY, PAGES + HUGE_PAGES + 140, 40 },
	{ KIND_WATCHED, PAGES + HUGE_PAGES + 180, 40 },
	/* It has a border of VA blocks. */
	{ KIND_ANONYMOUS, PAGES + HUGE_PAGES + 220, SMALL_PAGES - 220 },
};

enum { SECTIONS = sizeof(sections) / sizeof(sections[0]) };

const struct section *section_of(int page)
{
	const struct section *of = sections + SECTIONS - 1;

	while (page < of->first)
		of--;
	return of;
}

uint8_t *page_addr(const struct shared *s, int page)
{
	return page < PAGES ? s->mem + page * PAGE : s->heap + (page - PAGES) * PAGE;
}

int page_of(const struct shared *s, uint64_t addr)
{
	uint64_t page = (addr - (uintptr_t)s->mem) / PAGE;

	if (addr >= (uintptr_t)s->mem && page < PAGES)
		return page;
	page = (addr - (uintptr_t)s->heap) / PAGE + PAGES;
	return addr >= (uintptr_t)s->heap && page < (uint64_t)s->pages ? (int)page : -1;
}

/*
 * Mostly one of a few, so that the client and the GPU meet there. Else as often of managed
 * memory as of all the rest, and of each section of that as often.
 */
int some_page(const struct shared *s, int client, uint64_t *x)
{
	enum { HOT = 12 };
	const struct section *of = sections;

	if (!one_in(x, 3))
		return (atomic_load(&s->client[client].hot) + below(x, HOT)) % s->pages;
	if (s->pages > PAGES && one_in(x, 2))
		of += 1 + below(x, SECTIONS - 1);
	return of->first + below(x, of->pages);
}
