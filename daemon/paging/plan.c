// SPDX-License-Identifier: GPL-2.0
/*
 * What moves in one batch, as one plan: which pages come, which must go for
 * them, in an order that always has a free frame when one is needed. Asks the
 * eviction policy for victims; moves nothing, counts nothing.
 *
 * Two bounds: a session holds at most its paging.vram, all sessions at most the
 * device's frames. At its own limit a session evicts its own pages. When the
 * device is full before that, the session with the most pages pays.
 */
#include "paging/private.h"

#include <stdlib.h>
#include <string.h>

static int compare_pages(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static int compare_victims(const void *a, const void *b)
{
	const struct victim *x = a, *y = b;

	if (x->space != y->space)
		return x->space->va_space < y->space->va_space ? -1 : 1;
	return (x->addr > y->addr) - (x->addr < y->addr);
}

/* --- victims --------------------------------------------------------------- */

/* Pages that may not go for this batch: its own, and those still waited for. */
static bool keep_own(void *ctx, uint64_t addr)
{
	const struct paging *p = ctx;
	const struct page_block *block;

	if (addr >= p->keep_start && addr < p->keep_end)
		return true;
	block = page_set_find(&p->space->pages, addr);
	return block && (bitmap_test(block->bits[PAGE_ASKED], page_of(addr)) ||
			 bitmap_test(block->bits[PAGE_FRESH], page_of(addr)));
}

/* Another session's pages are all the same to this one. */
static bool keep_none(void *ctx, uint64_t addr)
{
	return false;
}

static bool take_victim(struct paging *p, struct space *space)
{
	struct paging *owner = space->owner;
	uint64_t addr;

	if (p->nvictims == VICTIMS_MAX)
		return false;
	if (owner)
		addr = owner->evict->pick(owner->evict_state, &owner->view,
					  owner == p ? keep_own : keep_none, p);
	else
		addr = page_set_first(&space->pages);
	if (!addr || !page_set_test(&space->pages, addr, PAGE_RESIDENT))
		return false;
	/* Out of the policy's sight, so that it is not picked again. */
	if (owner)
		owner->evict->remove(owner->evict_state, addr);
	page_set_mark(&space->pages, addr, PAGE_GOING);
	space->going++;
	p->going++;
	p->victims[p->nvictims++] = (struct victim){ space, addr };
	return true;
}

static bool take_from_largest(struct paging *p)
{
	for (;;) {
		struct space *largest = NULL;
		uint64_t most = 0;

		list_for_each(node, &p->pool->spaces) {
			struct space *space = list_entry(node, struct space, node);
			uint64_t left = space->pages.count - space->going;

			if (!space->exhausted && left > most) {
				largest = space;
				most = left;
			}
		}
		if (!largest)
			return false;
		if (take_victim(p, largest))
			return true;
		largest->exhausted = true;
	}
}

/* Makes sure of a frame for one more page; false: there is none to be had. */
static bool place(struct paging *p)
{
	struct service *service = p->pool->service;
	uint64_t frames = service->ops->frames(service);

	while (p->space->pages.count - p->space->going + p->coming >= p->limit)
		if (!take_victim(p, p->space))
			return false;
	while (p->pool->used - p->going + p->coming + p->squeeze >= frames)
		if (!take_from_largest(p))
			return false;
	p->coming++;
	return true;
}

void plan_return_victims(struct paging *p)
{
	for (unsigned int i = 0; i < p->nvictims; i++) {
		struct victim *v = &p->victims[i];
		struct paging *owner = v->space->owner;

		if (!page_set_test(&v->space->pages, v->addr, PAGE_GOING))
			continue;
		page_set_unmark(&v->space->pages, v->addr, PAGE_GOING);
		/*
		 * As the most recent page, so that another is picked next. Cannot
		 * fail: the policy held the page until just now.
		 */
		if (owner && page_set_test(&v->space->pages, v->addr, PAGE_RESIDENT))
			owner->evict->insert(owner->evict_state, v->addr);
	}
	p->nvictims = 0;
	p->nemitted = 0;
	list_for_each(node, &p->pool->spaces)
		list_entry(node, struct space, node)->going = 0;
}

/* --- migrations ------------------------------------------------------------ */

/* Adds a page to the plan; a neighbour of the last one in the same VA block joins its run. */
static bool emit(struct plan *plan, uint32_t va_space, uint64_t addr, uint8_t op,
		 bool new_run)
{
	struct migration *last = plan->count ? &plan->migrations[plan->count - 1] : NULL;

	if (last && !new_run && last->op == op && last->va_space == va_space &&
	    last->addr + last->pages * PAGE_BYTES == addr &&
	    last->addr >> BLOCK_SHIFT == addr >> BLOCK_SHIFT) {
		last->pages++;
		return true;
	}
	if (plan->count == PLAN_MAX)
		return false;
	plan->migrations[plan->count++] = (struct migration){
		.addr = addr,
		.va_space = va_space,
		.pages = 1,
		.op = op,
	};
	return true;
}

/* Victims taken since the last call. They always fit, see the assertion below. */
static void emit_victims(struct paging *p)
{
	qsort(&p->victims[p->nemitted], p->nvictims - p->nemitted, sizeof(*p->victims),
	      compare_victims);
	for (; p->nemitted < p->nvictims; p->nemitted++)
		emit(&p->plan, p->victims[p->nemitted].space->va_space,
		     p->victims[p->nemitted].addr, MIGRATE_D2H, false);
}

static void emit_pages(struct paging *p, const uint64_t *pages, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		if (!emit(&p->plan, p->space->va_space, pages[i], MIGRATE_H2D, i == 0))
			return;
}

_Static_assert(VICTIMS_MAX + BATCH_MAX < PLAN_MAX, "demand and victims fit a plan");

void plan_begin(struct paging *p)
{
	p->plan.count = 0;
	p->nvictims = 0;
	p->nemitted = 0;
	p->coming = 0;
	p->going = 0;
	p->nplaced = 0;
	p->prefetch_from = 0;
	list_for_each(node, &p->pool->spaces) {
		struct space *space = list_entry(node, struct space, node);

		space->going = 0;
		space->exhausted = false;
	}
}

/* Demand in the order of its right to a frame: who waited longest, then by address. */
static void order_demand(struct paging *p, uint64_t *order)
{
	bool taken[BATCH_MAX] = { false };
	unsigned int n = 0, absent = 0;

	for (unsigned int i = 0; i < p->nwaiting; i++) {
		const uint64_t *found = bsearch(&p->waiting[i], p->demand, p->ndemand,
						sizeof(*p->demand), compare_pages);

		if (found) {
			taken[found - p->demand] = true;
			order[n++] = *found;
		} else {
			p->waiting[absent++] = p->waiting[i];
		}
	}
	p->nwaiting = absent;
	for (unsigned int i = 0; i < p->ndemand; i++)
		if (!taken[i])
			order[n++] = p->demand[i];
}

/*
 * The pages that found no frame get in line before those that are not in this
 * batch: the latter may be raised again late, or never.
 */
static void let_wait(struct paging *p, const uint64_t *pages, unsigned int n)
{
	unsigned int absent = MIN(p->nwaiting, BATCH_MAX - n);

	memmove(&p->waiting[n], p->waiting, absent * sizeof(*pages));
	memcpy(p->waiting, pages, n * sizeof(*pages));
	p->nwaiting = n + absent;
}

/*
 * What does not fit waits for its fault to be raised again, and comes first
 * then: a page far up is not passed over for ever by new ones below it.
 */
void plan_demand(struct paging *p)
{
	uint64_t order[BATCH_MAX];
	unsigned int placed = 0;

	order_demand(p, order);
	while (placed < p->ndemand && place(p))
		placed++;
	let_wait(p, &order[placed], p->ndemand - placed);
	emit_victims(p);
	qsort(order, placed, sizeof(*order), compare_pages);
	emit_pages(p, order, placed);
	p->prefetch_from = p->plan.count;
}

void plan_wanted(struct paging *p)
{
	/* In the policy's order until here: what it named last is cut first. */
	while (p->nplaced < p->nwanted && place(p))
		p->nplaced++;
	emit_victims(p);
	p->prefetch_from = p->plan.count;
	qsort(p->wanted, p->nplaced, sizeof(*p->wanted), compare_pages);
	emit_pages(p, p->wanted, p->nplaced);
}
