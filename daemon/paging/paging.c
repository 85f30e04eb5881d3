// SPDX-License-Identifier: GPL-2.0
/*
 * The far-fault handler of one VA space: its making, and what the GMMU tells it.
 * Batches are served in serve.c. gpu/ calls it.
 */
#include "paging/handler.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* --- making one ------------------------------------------------------------ */

/* Pages that are in device memory already get into the policy's order. */
static int adopt(struct paging *p)
{
	struct page_set *pages = &p->space->pages;

	for (unsigned int bit = 0; bit < PAGE_BITS; bit++)
		if (bit != PAGE_RESIDENT && bit != PAGE_REMOTE && bit != PAGE_DUPLICATE)
			page_set_unmark_all(pages, bit);
	pages->collapsing = 0;
	for (size_t i = 0; i < pages->nblocks; i++) {
		struct page_block *block = &pages->blocks[i];
		unsigned int page = 0;

		while ((page = bitmap_next(block->bits[PAGE_RESIDENT], BLOCK_PAGES, page)) <
		       BLOCK_PAGES) {
			int rc = policies_arrive(p, block->addr + page * PAGE_BYTES, false);

			if (rc)
				return rc;
			page++;
		}
	}
	return 0;
}

int paging_create(struct paging_pool *pool, uint32_t va_space, const struct gpu_spec *spec,
		  struct paging **paging, struct err *err)
{
	static const struct paging_known nothing;

	return paging_create_knowing(pool, va_space, spec, &nothing, paging, err);
}

int paging_create_knowing(struct paging_pool *pool, uint32_t va_space,
			  const struct gpu_spec *spec, const struct paging_known *known,
			  struct paging **paging, struct err *err)
{
	struct space *space = space_find(pool, va_space);
	struct paging *p;
	int rc;

	if (spec->vram_bytes < spec->page_bytes)
		return err_set(err, -EINVAL,
			       "paging.vram: %llu bytes hold no page; at least %llu (gmmu.page)",
			       (unsigned long long)spec->vram_bytes,
			       (unsigned long long)spec->page_bytes);
	if (space && space->owner)
		return err_set(err, -EEXIST, "VA space %u has a fault handler already", va_space);
	p = calloc(1, sizeof(*p));
	if (!p)
		return err_set(err, -ENOMEM, "no memory for a fault handler");
	p->pool = pool;
	p->spec = *spec;
	p->known = *known;
	p->limit = spec->vram_bytes / PAGE_BYTES;
	spec_decide_ns(spec, &p->decide_ns);
	p->space = space_get(pool, va_space);
	if (!p->space) {
		free(p);
		return err_set(err, -ENOMEM, "no memory for a fault handler");
	}
	rc = flight_open(p);
	if (rc) {
		err_set(err, rc, "no memory for a fault handler");
		goto no_flight;
	}
	rc = policies_open(p, err);
	if (rc)
		goto no_policies;
	rc = adopt(p);
	if (rc)
		goto no_adopt;
	p->space->owner = p;
	*paging = p;
	return 0;

no_adopt:
	policies_close(p);
	err_set(err, rc, "no memory for a fault handler");
no_policies:
	flight_close(p);
no_flight:
	space_put(pool, p->space);
	free(p);
	return rc;
}

void paging_destroy(struct paging *p)
{
	policies_close(p);
	flight_close(p);
	p->space->owner = NULL;
	space_put(p->pool, p->space);
	free(p);
}

int paging_set_user(struct paging *p, uint32_t user)
{
	return space_set_user(p->pool, p->space, user);
}

/* --- what the GMMU sees ----------------------------------------------------- */

/* A TLB entry is of a whole unit: nobody sees which of its pages are used. */
static void use_unit(struct paging *p, struct page_block *block, uint64_t addr)
{
	unsigned int first = page_of(unit_of(p, addr));
	unsigned int behind = first + (unsigned int)(p->spec.page_bytes / PAGE_BYTES);

	for (unsigned int page = first; page < behind; page++) {
		bitmap_clear(block->bits[PAGE_FRESH], page);
		p->stats.prefetch_used_pages += bitmap_test(block->bits[PAGE_UNUSED], page);
		bitmap_clear(block->bits[PAGE_UNUSED], page);
	}
}

void paging_touch(struct paging *p, uint64_t addr, bool write)
{
	struct page_block *block;
	unsigned int page = page_of(addr);

	addr &= ~(PAGE_BYTES - 1);
	block = page_set_find(&p->space->pages, addr);
	if (!block || !bitmap_test(block->bits[PAGE_RESIDENT], page))
		return;
	use_unit(p, block, addr);
	policies_touch(p, addr, write);
}

bool paging_resident(const struct paging *p, uint64_t addr)
{
	return page_set_test(&p->space->pages, addr, PAGE_RESIDENT);
}

void paging_depth(struct paging *p, unsigned int records)
{
	histogram_add(&p->stats.buffer_depth, records);
}

uint64_t paging_resident_pages(const struct paging *p)
{
	return p->space->pages.count;
}

uint64_t paging_duplicate_pages(const struct paging *p)
{
	return p->space->pages.duplicates;
}

uint64_t paging_remote_pages(const struct paging *p)
{
	return p->space->pages.remote;
}

const struct paging_stats *paging_stats(const struct paging *p)
{
	return &p->stats;
}

void paging_stats_reset(struct paging *p)
{
	memset(&p->stats, 0, sizeof(p->stats));
	policies_name_counters(p);
	/* A prefetch or an eviction that was counted before does not matter now. */
	page_set_unmark_all(&p->space->pages, PAGE_UNUSED);
	page_set_unmark_all(&p->space->pages, PAGE_LEFT);
	page_set_unmark_all(&p->space->pages, PAGE_BACK);
	page_set_unmark_all(&p->space->pages, PAGE_THRASHED);
}
