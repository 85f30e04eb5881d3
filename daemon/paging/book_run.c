// SPDX-License-Identifier: GPL-2.0
/*
 * What book.c writes down page by page, for runs in which all pages are alike: nobody
 * waits for them, none is a duplicate or mapped remotely, and all moved. Word by word; a
 * policy that knows no words is told of each page. book.c calls it.
 */
#include "paging/handler.h"

#include <errno.h>

static uint64_t addr_in(const struct page_block *block, unsigned int w, uint64_t bits)
{
	return block->addr + (w * 64 + (unsigned int)__builtin_ctzll(bits)) * PAGE_BYTES;
}

static unsigned int count(uint64_t bits)
{
	return (unsigned int)__builtin_popcountll(bits);
}

/* They depart, run by run; which of them. -ENOMEM: the others do not. */
static uint64_t depart(struct paging *p, const struct page_block *block, unsigned int w,
		       uint64_t bits, struct pass *pass)
{
	uint64_t departed = 0;
	int rc;

	while (bits) {
		unsigned int first = (unsigned int)__builtin_ctzll(bits), n;
		uint64_t run = bits >> first;

		n = ~run ? (unsigned int)__builtin_ctzll(~run) : 64;
		run = ~0ull >> (64 - n) << first;
		rc = flight_add_run(p, p->space->va_space, addr_in(block, w, run), n,
				    LINK_H2D, LINK_PREFETCH);
		if (rc) {
			pass->rc = rc;
			break;
		}
		departed |= run;
		bits &= ~run;
	}
	return departed;
}

static void arrive(struct paging *p, struct page_block *block, unsigned int w, uint64_t bits,
		   struct pass *pass)
{
	uint64_t asked = bits;

	if (p->space->owner)
		bits = policies_arrive_run(p->space->owner, block->addr + w * 64 * PAGE_BYTES,
					   bits);
	if (bits != asked)
		pass->rc = -ENOMEM;
	block->bits[PAGE_RESIDENT][w] |= bits;
	p->space->pages.count += count(bits);
	p->pool->used += count(bits);
	block->bits[PAGE_LEFT][w] &= ~bits;
	block->bits[PAGE_UNUSED][w] |= bits;
	bits = depart(p, block, w, bits, pass);
	block->bits[PAGE_FLYING][w] |= bits;
	p->flight.pages += count(bits);
}

bool book_run_arrived(struct paging *p, const struct migration *m, bool demanded,
		      struct pass *pass)
{
	struct page_set *pages = &p->space->pages;
	struct page_block *block;
	uint64_t bits;

	if (m->op != MIGRATE_H2D || m->status || demanded || pages->remote || pages->duplicates ||
	    page_set_reserve(pages, m->addr))
		return false;
	block = page_set_look(pages, m->addr);
	for (unsigned int w = 0; w < BITMAP_WORDS(BLOCK_PAGES); w++) {
		bits = page_run_word(page_of(m->addr), m->pages, w);
		bits &= ~block->bits[PAGE_RESIDENT][w];
		if (bits)
			arrive(p, block, w, bits, pass);
	}
	return true;
}

static void leave(struct paging *p, struct space *space, struct page_block *block,
		  unsigned int w, uint64_t bits)
{
	block->bits[PAGE_RESIDENT][w] &= ~bits;
	if (space->owner && bits)
		policies_leave_run(space->owner, block->addr + w * 64 * PAGE_BYTES, bits);
	space->pages.count -= count(bits);
	p->pool->used -= count(bits);
	block->bits[PAGE_UNUSED][w] &= ~bits;
	block->bits[PAGE_FRESH][w] &= ~bits;
}

bool book_run_left(struct paging *p, struct space *space, const struct migration *m,
		   enum link_class class, struct pass *pass)
{
	struct page_set *pages = &space->pages;
	struct page_block *block;
	int rc;

	if (m->op != MIGRATE_D2H || m->status || pages->duplicates || pages->collapsing ||
	    (space->owner && space->owner->flight.pages))
		return false;
	block = page_set_look(pages, m->addr);
	if (!block)
		return false;
	for (unsigned int w = 0; w < BITMAP_WORDS(BLOCK_PAGES); w++) {
		uint64_t bits = page_run_word(page_of(m->addr), m->pages, w);
		uint64_t unused = bits & block->bits[PAGE_UNUSED][w];

		if (!pass->home && space->owner)
			space->owner->stats.prefetch_unused_evicted_pages += count(unused);
		block->bits[PAGE_GOING][w] &= ~bits;
		leave(p, space, block, w, bits & block->bits[PAGE_RESIDENT][w]);
		if (pass->home)
			block->bits[PAGE_LEFT][w] &= ~bits;
		else
			block->bits[PAGE_LEFT][w] |= bits;
	}
	rc = flight_add_run(p, space->va_space, m->addr, m->pages, LINK_D2H, class);
	if (rc)
		pass->rc = rc;
	return true;
}
