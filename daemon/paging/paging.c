// SPDX-License-Identifier: GPL-2.0
/*
 * The far-fault handler of one VA space: its making, its policies' view of it,
 * and what the GMMU tells it. Batches are served in serve.c. gpu/ calls it.
 */
#include "paging/private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- policies' view -------------------------------------------------------- */

static bool view_resident(void *ctx, uint64_t addr)
{
	const struct paging *p = ctx;

	return page_set_test(&p->space->pages, addr, PAGE_RESIDENT);
}

static uint64_t view_random(void *ctx)
{
	struct paging *p = ctx;

	return rng_next(&p->rng);
}

/* --- making one ------------------------------------------------------------ */

/* "none, sequential" */
#define LIST_ROWS(rows, text)						\
	do {								\
		size_t at_ = 0;						\
									\
		for (unsigned int i_ = 0; (rows)[i_]; i_++)		\
			at_ += (size_t)snprintf((text) + at_,		\
				at_ < sizeof(text) ? sizeof(text) - at_ : 0, \
				"%s%s", i_ ? ", " : "", (rows)[i_]->name); \
	} while (0)

static int find_policies(struct paging *p, struct err *err)
{
	char names[256] = "";

	for (unsigned int i = 0; prefetch_rows[i]; i++)
		if (strcmp(prefetch_rows[i]->name, p->spec.prefetch) == 0)
			p->prefetch = prefetch_rows[i];
	for (unsigned int i = 0; evict_rows[i]; i++)
		if (strcmp(evict_rows[i]->name, p->spec.evict) == 0)
			p->evict = evict_rows[i];
	if (!p->prefetch) {
		LIST_ROWS(prefetch_rows, names);
		return err_set(err, -EINVAL, "paging.prefetch: no policy '%s'; there are: %s",
			       p->spec.prefetch, names);
	}
	if (!p->evict) {
		LIST_ROWS(evict_rows, names);
		return err_set(err, -EINVAL, "paging.evict: no policy '%s'; there are: %s",
			       p->spec.evict, names);
	}
	return 0;
}

/* Pages that are in device memory already get into the policy's order. */
static int adopt(struct paging *p)
{
	struct page_set *pages = &p->space->pages;

	for (size_t i = 0; i < pages->nblocks; i++) {
		struct page_block *block = &pages->blocks[i];
		unsigned int page = 0;

		memset(block->bits[PAGE_UNUSED], 0, sizeof(block->bits[PAGE_UNUSED]));
		memset(block->bits[PAGE_FRESH], 0, sizeof(block->bits[PAGE_FRESH]));
		while ((page = bitmap_next(block->bits[PAGE_RESIDENT], BLOCK_PAGES, page)) <
		       BLOCK_PAGES) {
			int rc = p->evict->insert(p->evict_state,
						  block->addr + page * PAGE_BYTES);

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
	struct space *space = space_find(pool, va_space);
	struct paging *p;
	int rc;

	if (spec->vram_bytes < PAGE_BYTES)
		return err_set(err, -EINVAL, "paging.vram: %llu bytes hold no page; at least %llu",
			       (unsigned long long)spec->vram_bytes,
			       (unsigned long long)PAGE_BYTES);
	if (space && space->owner)
		return err_set(err, -EEXIST, "VA space %u has a fault handler already", va_space);
	p = calloc(1, sizeof(*p));
	if (!p)
		return err_set(err, -ENOMEM, "no memory for a fault handler");
	p->pool = pool;
	p->spec = *spec;
	p->limit = spec->vram_bytes / PAGE_BYTES;
	p->view = (struct policy_view){
		.ctx = p,
		.resident = view_resident,
		.random = view_random,
		.spec = &p->spec,
	};
	rng_seed(&p->rng, spec->seed);
	rc = find_policies(p, err);
	if (rc) {
		free(p);
		return rc;
	}
	rc = -ENOMEM;
	p->space = space_get(pool, va_space);
	if (!p->space)
		goto no_space;
	rc = p->prefetch->create(&p->view, &p->prefetch_state);
	if (rc)
		goto no_prefetch;
	rc = p->evict->create(&p->view, &p->evict_state);
	if (rc)
		goto no_evict;
	rc = adopt(p);
	if (rc)
		goto no_adopt;
	p->space->owner = p;
	*paging = p;
	return 0;

no_adopt:
	p->evict->destroy(p->evict_state);
no_evict:
	p->prefetch->destroy(p->prefetch_state);
no_prefetch:
	space_put(pool, p->space);
no_space:
	free(p);
	return err_set(err, rc, "no memory for a fault handler");
}

void paging_destroy(struct paging *p)
{
	p->evict->destroy(p->evict_state);
	p->prefetch->destroy(p->prefetch_state);
	p->space->owner = NULL;
	space_put(p->pool, p->space);
	free(p);
}

/* --- what the GMMU sees ----------------------------------------------------- */

void paging_touch(struct paging *p, uint64_t addr, bool write)
{
	struct page_block *block;
	unsigned int page = page_of(addr);

	addr &= ~(PAGE_BYTES - 1);
	block = page_set_find(&p->space->pages, addr);
	if (!block || !bitmap_test(block->bits[PAGE_RESIDENT], page))
		return;
	bitmap_clear(block->bits[PAGE_FRESH], page);
	if (bitmap_test(block->bits[PAGE_UNUSED], page)) {
		bitmap_clear(block->bits[PAGE_UNUSED], page);
		p->stats.prefetch_used_pages++;
	}
	p->evict->touch(p->evict_state, addr, write);
}

bool paging_resident(const struct paging *p, uint64_t addr)
{
	return page_set_test(&p->space->pages, addr, PAGE_RESIDENT);
}

const struct paging_stats *paging_stats(const struct paging *p)
{
	return &p->stats;
}

void paging_stats_reset(struct paging *p)
{
	memset(&p->stats, 0, sizeof(p->stats));
	/* A prefetch that was counted before is not used now. */
	for (size_t i = 0; i < p->space->pages.nblocks; i++)
		memset(p->space->pages.blocks[i].bits[PAGE_UNUSED], 0,
		       sizeof(p->space->pages.blocks[i].bits[PAGE_UNUSED]));
}
