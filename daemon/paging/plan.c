// SPDX-License-Identifier: GPL-2.0
/*
 * What moves in one batch, as one plan: which pages come, which must go for
 * them, in an order that always has a free frame when one is needed. Asks the
 * eviction policy for victims; moves nothing, counts nothing.
 *
 * Two bounds: a session holds at most its paging.vram, or its share if that is less
 * (service_ops.share, which may change at any time), all sessions at most the device's
 * frames. At its own limit a session evicts its own pages. When the device is full before
 * that, the session with the most pages pays.
 */
#include "paging/handler.h"

#include <stdlib.h>
#include <string.h>

static int compare_pages(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Mostly they are in order already. */
static void sort_pages(uint64_t *pages, unsigned int n)
{
	for (unsigned int i = 1; i < n; i++) {
		if (pages[i] < pages[i - 1]) {
			qsort(pages, n, sizeof(*pages), compare_pages);
			return;
		}
	}
}

static int compare_victims(const void *a, const void *b)
{
	const struct victim *x = a, *y = b;

	if (x->space != y->space)
		return x->space->va_space < y->space->va_space ? -1 : 1;
	return (x->addr > y->addr) - (x->addr < y->addr);
}

/* --- victims --------------------------------------------------------------- */

/* Pages that may not go for this batch: its own, those still waited for, and those on their way. */
static bool keep_own(void *ctx, uint64_t addr)
{
	const struct paging *p = ctx;
	unsigned int n = (unsigned int)(p->spec.page_bytes / PAGE_BYTES);
	uint64_t unit = unit_of(p, addr);
	const struct page_block *block;

	if (unit < p->keep_end && unit + p->spec.page_bytes > p->keep_start)
		return true;
	block = page_set_find(&p->space->pages, addr);
	return block && (page_block_any(block, PAGE_ASKED, page_of(unit), n) ||
			 page_block_any(block, PAGE_FRESH, page_of(unit), n) ||
			 (p->flight.pages &&
			  page_block_any(block, PAGE_FLYING, page_of(unit), n)));
}

/* Is the owner, a session that was set aside, about to use the page? */
static bool keep_awaited(void *ctx, uint64_t addr)
{
	const struct paging *owner = ctx;

	return unit_any(owner, addr, PAGE_FRESH) || unit_any(owner, addr, PAGE_FLYING);
}

/* Another session's pages are all the same to this one. */
static bool keep_none(void *ctx, uint64_t addr)
{
	return false;
}

/* May the page be a victim? The policy may say so without having asked. */
static bool may_go(const struct paging *p, const struct space *space, uint64_t addr)
{
	const struct page_block *block = page_set_find(&space->pages, addr);

	return addr % PAGE_BYTES == 0 && block &&
	       bitmap_test(block->bits[PAGE_RESIDENT], page_of(addr)) &&
	       !bitmap_test(block->bits[PAGE_GOING], page_of(addr)) &&
	       (space != p->space || !keep_own((void *)(uintptr_t)p, addr));
}

static void take_page(struct paging *p, struct space *space, uint64_t addr)
{
	if (space->owner)
		policies_hide(space->owner, addr);
	page_set_mark(&space->pages, addr, PAGE_GOING);
	space->going++;
	p->going++;
	p->victims[p->nvictims++] = (struct victim){ space, addr };
}

/* Takes the page and the resident rest of its unit as victims. False: the list is full. */
static bool take_victim(struct paging *p, struct space *space, uint64_t addr)
{
	uint64_t bytes = space->owner ? space->owner->spec.page_bytes : PAGE_BYTES;
	uint64_t unit = addr & ~(bytes - 1);

	if (p->nvictims + bytes / PAGE_BYTES > VICTIMS_MAX)
		return false;
	for (addr = unit; addr < unit + bytes; addr += PAGE_BYTES)
		if (page_set_test(&space->pages, addr, PAGE_RESIDENT) &&
		    !page_set_test(&space->pages, addr, PAGE_GOING))
			take_page(p, space, addr);
	return true;
}

/* A page that may go, whatever the policy says; 0: there is none. */
static uint64_t any_victim(const struct paging *p, const struct space *space)
{
	for (size_t i = 0; i < space->pages.nblocks; i++) {
		const struct page_block *block = &space->pages.blocks[i];

		for (unsigned int page = 0; page < BLOCK_PAGES; page++) {
			uint64_t addr = block->addr + page * PAGE_BYTES;

			page = bitmap_next(block->bits[PAGE_RESIDENT], BLOCK_PAGES, page);
			addr = block->addr + page * PAGE_BYTES;
			if (page < BLOCK_PAGES && may_go(p, space, addr))
				return addr;
		}
	}
	return 0;
}

/* Its policy may name what is to be kept without having asked. */
static unsigned int pick_of_aside(struct paging *p, struct space *space, unsigned int need,
				  unsigned int room)
{
	unsigned int n = policies_pick(space->owner, need, keep_awaited, space->owner, p->picked,
				       room), left = 0;

	for (unsigned int i = 0; i < MIN(n, room); i++)
		if (!keep_awaited(space->owner, p->picked[i]))
			p->picked[left++] = p->picked[i];
	return left;
}

/*
 * Takes `need` victims, or more where the policy evicts in groups, or fewer. A
 * policy that names none that may go, although there is one, is not believed:
 * demand would wait for ever. False: nothing may go.
 */
static bool take_victims(struct paging *p, struct space *space, uint64_t need)
{
	unsigned int room = VICTIMS_MAX - p->nvictims;
	unsigned int before = p->nvictims, n = 0;
	uint64_t addr;

	if (!room)
		return false;
	/* A session that does not run has nothing on its way that would arrive. */
	if (space->owner && space->owner != p && !space->owner->aside &&
	    space->owner->flight.pages && flight_land(space->owner, NULL))
		return false;
	if (space->owner && space->owner->aside)
		n = pick_of_aside(p, space, (unsigned int)MIN(need, room), room);
	else if (space->owner)
		n = policies_pick(space->owner, (unsigned int)MIN(need, room),
				  space->owner == p ? keep_own : keep_none, p, p->picked, room);
	for (unsigned int i = 0; i < MIN(n, room); i++)
		if (may_go(p, space, p->picked[i]) && !take_victim(p, space, p->picked[i]))
			break;
	if (p->nvictims == before && (addr = any_victim(p, space)))
		take_victim(p, space, addr);
	return p->nvictims != before;
}

/* The largest of some shares, and by how much. */
struct contest {
	void *largest;
	uint64_t most, next;
};

static void compare(struct contest *c, void *one, uint64_t left)
{
	if (left <= c->next)
		return;
	if (left <= c->most) {
		c->next = left;
		return;
	}
	c->next = c->most;
	c->most = left;
	c->largest = one;
}

static uint64_t lead(const struct contest *c)
{
	return MAX(c->most - c->next, 1u);
}

/* The user with most pages, in however many VA spaces, of those that may give one. */
static struct contest largest_tenant(const struct paging *p)
{
	const struct paging_pool *pool = p->pool;
	struct contest c = { NULL, 0, 0 };

	list_for_each(node, &pool->tenants) {
		struct tenant *tenant = list_entry(node, struct tenant, node);

		tenant->left = 0;
		tenant->gives = false;
	}
	list_for_each(node, &pool->spaces) {
		const struct space *space = list_entry(node, struct space, node);
		uint64_t left = space->pages.count - space->going;

		space->tenant->left += left;
		space->tenant->gives |= left && !space->exhausted;
	}
	p->space->tenant->left += p->coming;
	list_for_each(node, &pool->tenants) {
		struct tenant *tenant = list_entry(node, struct tenant, node);

		if (tenant->gives)
			compare(&c, tenant, tenant->left);
	}
	return c;
}

static struct contest largest_space(const struct paging_pool *pool, const struct tenant *of)
{
	struct contest c = { NULL, 0, 0 };

	list_for_each(node, &pool->spaces) {
		struct space *space = list_entry(node, struct space, node);

		if (space->tenant == of && !space->exhausted)
			compare(&c, space, space->pages.count - space->going);
	}
	return c;
}

/* Takes victims of the largest user's largest VA space, until another one is the largest. */
static bool take_from_largest(struct paging *p, uint64_t need)
{
	for (;;) {
		struct contest users = largest_tenant(p), spaces;
		struct space *largest;

		if (!users.largest)
			return false;
		spaces = largest_space(p->pool, users.largest);
		largest = spaces.largest;
		if (take_victims(p, largest, MIN(need, MIN(lead(&users), lead(&spaces)))))
			return true;
		largest->exhausted = true;
	}
}

/* Makes sure of a frame for one more page, of `left` that follow; false: there is none to be had. */
static bool place(struct paging *p, uint64_t left)
{
	struct service *service = p->pool->service;
	uint64_t frames = service->ops->frames(service), limit = limit_of(p);
	/* The module counts the share, and may know of pages that the books have forgotten. */
	uint64_t more = limit < p->limit ? p->squeeze : 0;
	uint64_t used;

	for (;;) {
		used = p->space->pages.count - p->space->going + p->coming + more;
		if (used < limit)
			break;
		if (!take_victims(p, p->space, MIN(used + left - limit, left)))
			return false;
	}
	for (;;) {
		used = p->pool->used - p->going + p->coming + p->squeeze;
		if (used < frames)
			break;
		if (!take_from_largest(p, MIN(used + left - frames, left)))
			return false;
	}
	p->coming++;
	return true;
}

uint64_t plan_free_frames(const struct paging *p)
{
	struct service *service = p->pool->service;
	uint64_t mine = p->space->pages.count - p->space->going + p->coming;
	uint64_t all = p->pool->used - p->going + p->coming + p->squeeze;
	uint64_t frames = service->ops->frames(service), limit = limit_of(p);

	return MIN(limit - MIN(mine, limit), frames - MIN(all, frames));
}

void plan_return_victims(struct paging *p)
{
	for (unsigned int i = 0; i < p->nvictims; i++) {
		struct victim *v = &p->victims[i];
		struct paging *owner = v->space->owner;

		if (!page_set_test(&v->space->pages, v->addr, PAGE_GOING))
			continue;
		page_set_unmark(&v->space->pages, v->addr, PAGE_GOING);
		/* As the most recent page, so that another is picked next. */
		if (owner && page_set_test(&v->space->pages, v->addr, PAGE_RESIDENT))
			policies_unhide(owner, v->addr);
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
	if (p->nemitted == p->nvictims)
		return;
	qsort(&p->victims[p->nemitted], p->nvictims - p->nemitted, sizeof(*p->victims),
	      compare_victims);
	for (; p->nemitted < p->nvictims; p->nemitted++)
		emit(&p->plan, p->victims[p->nemitted].space->va_space,
		     p->victims[p->nemitted].addr,
		     p->remote_full ? MIGRATE_D2H :
		     advice_home(p->victims[p->nemitted].space->owner,
				 p->victims[p->nemitted].addr), false);
}

/* As many of them, from the first on, as are one run of the op, which is what advice() says. */
static unsigned int run_of(const struct paging *p, enum migration_op op,
			   enum migration_op (*advice)(const struct paging *p, uint64_t addr),
			   const uint64_t *pages, unsigned int n)
{
	unsigned int k = 1;

	n = MIN(n, BLOCK_PAGES - page_of(pages[0]));
	/* In order and each once: those between two that are as far apart are there. */
	if (!p->known.nadvice && pages[n - 1] == pages[0] + (n - 1) * PAGE_BYTES)
		return n;
	while (k < n && pages[k] == pages[0] + k * PAGE_BYTES &&
	       (!p->known.nadvice || advice(p, pages[k]) == op))
		k++;
	return k;
}

static void emit_pages(struct paging *p,
		       enum migration_op (*advice)(const struct paging *p, uint64_t addr),
		       const uint64_t *pages, unsigned int n)
{
	struct plan *plan = &p->plan;
	enum migration_op op;

	for (unsigned int i = 0, k; i < n; i += k) {
		op = advice(p, pages[i]);
		k = run_of(p, op, advice, &pages[i], n - i);
		if (!emit(plan, p->space->va_space, pages[i], op, i == 0))
			return;
		plan->migrations[plan->count - 1].pages += (uint16_t)(k - 1);
	}
}

static bool managed(struct paging *p, uint64_t addr)
{
	const struct gpuemu_policy_view *view = &p->prefetch.view;
	struct gpuemu_policy_range range;

	if (view->next_range(view->ctx, addr, &range))
		return range.start <= addr;
	/* Where no range is known the service leaves out what is not managed. */
	return !view->next_range(view->ctx, 0, &range);
}

/* Can an access use the page as it is? `written`: the access writes. */
static bool usable(const struct paging *p, uint64_t addr, bool written)
{
	const struct page_set *pages = &p->space->pages;

	if (page_set_test(pages, addr, PAGE_RESIDENT))
		return !written || !page_set_test(pages, addr, PAGE_DUPLICATE);
	return page_set_test(pages, addr, PAGE_REMOTE);
}

/* Where a page of a unit that faulted goes. */
static enum migration_op op_of(const struct paging *p, uint64_t addr)
{
	if (!p->known.nadvice && !p->hinted && !p->space->pages.duplicates)
		return MIGRATE_H2D;
	return advice_residency(p, addr, unit_any(p, addr, PAGE_WRITTEN),
				unit_any(p, addr, PAGE_PINNED));
}

static bool needs_frame(const struct paging *p, uint64_t addr)
{
	return !page_set_test(&p->space->pages, addr, PAGE_RESIDENT) &&
	       op_of(p, addr) != MIGRATE_REMOTE;
}

unsigned int plan_missing(struct paging *p, uint64_t unit, uint64_t *pages)
{
	unsigned int n = 0;
	bool written;

	if (p->spec.page_bytes == PAGE_BYTES) {
		pages[0] = unit;
		return 1;
	}
	written = unit_any(p, unit, PAGE_WRITTEN);
	for (uint64_t addr = unit; addr < unit + p->spec.page_bytes; addr += PAGE_BYTES)
		if (!usable(p, addr, written) && managed(p, addr))
			pages[n++] = addr;
	return n;
}

/* Frames for all of the unit's pages, or none. */
static bool place_unit(struct paging *p, uint64_t unit, unsigned int units)
{
	uint64_t pages[BLOCK_PAGES], before = p->coming;
	unsigned int n = plan_missing(p, unit, pages);

	for (unsigned int i = 0; i < n; i++) {
		if (!needs_frame(p, pages[i]) || place(p, (uint64_t)n * units - i))
			continue;
		p->coming = before;
		return false;
	}
	return true;
}

static void emit_units(struct paging *p, const uint64_t *units, unsigned int n)
{
	uint64_t pages[BLOCK_PAGES];

	for (unsigned int i = 0; i < n; i++) {
		unsigned int count = plan_missing(p, units[i], pages);

		for (unsigned int k = 0; k < count; k++)
			if (!emit(&p->plan, p->space->va_space, pages[k], op_of(p, pages[k]),
				  !i && !k))
				return;
	}
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
	p->demand_to = 0;
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

	if (!p->nwaiting) {
		memcpy(order, p->demand, p->ndemand * sizeof(*order));
		return;
	}
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
 * Single pages that are nowhere but at home, all to go to device memory, where there is
 * room for them: no question each.
 */
static bool demand_is_plain(const struct paging *p)
{
	const struct page_set *pages = &p->space->pages;

	return p->spec.page_bytes == PAGE_BYTES && !p->known.nadvice && !p->hinted &&
	       !pages->duplicates && !pages->remote && !p->squeeze &&
	       plan_free_frames(p) >= p->ndemand;
}

/*
 * A page that does not fit waits until its fault is raised again, and comes first then. So
 * new pages at lower addresses do not pass it over for ever.
 */
void plan_demand(struct paging *p)
{
	uint64_t order[BATCH_MAX];
	bool plain = demand_is_plain(p);
	unsigned int placed = plain ? p->ndemand : 0;

	p->coming += placed;
	order_demand(p, order);
	while (placed < p->ndemand && place_unit(p, order[placed], p->ndemand - placed))
		placed++;
	let_wait(p, &order[placed], p->ndemand - placed);
	emit_victims(p);
	sort_pages(order, placed);
	if (plain)
		emit_pages(p, op_of, order, placed);
	else
		emit_units(p, order, placed);
	p->prefetch_from = p->plan.count;
	p->demand_to = p->plan.count;
}

void plan_wanted(struct paging *p)
{
	/* Somebody who names a range means it. */
	bool evict = p->spec.prefetch_full || p->keep_end;

	/* Where frames are free, no page needs a question of its own. */
	p->nplaced = (unsigned int)MIN(plan_free_frames(p), p->nwanted);
	p->coming += p->nplaced;
	/* In the policy's order until here: what it named last is cut first. */
	while (evict && p->nplaced < p->nwanted && place(p, p->nwanted - p->nplaced))
		p->nplaced++;
	emit_victims(p);
	p->prefetch_from = p->plan.count;
	/* A range's are in order. */
	if (!p->keep_end)
		sort_pages(p->wanted, p->nplaced);
	emit_pages(p, advice_prefetched, p->wanted, p->nplaced);
}

void plan_spare(struct paging *p)
{
	uint64_t frames = frames_of(p), spare = frames * p->spec.watermark / 100;
	uint64_t most = frames - MIN(spare, frames - 1);

	while (p->space->pages.count - p->space->going > most &&
	       take_victims(p, p->space, p->space->pages.count - p->space->going - most))
		;
	emit_victims(p);
	p->prefetch_from = p->plan.count;
}

void plan_home(struct paging *p)
{
	emit_pages(p, advice_home, p->wanted, p->nwanted);
	p->prefetch_from = p->plan.count;
}

void plan_each(struct paging *p, enum migration_op op)
{
	for (unsigned int i = 0; i < p->nwanted; i++)
		emit(&p->plan, p->space->va_space, p->wanted[i], (uint8_t)op, false);
	p->demand_to = p->plan.count;
	p->prefetch_from = p->plan.count;
}
