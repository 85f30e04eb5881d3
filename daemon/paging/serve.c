// SPDX-License-Identifier: GPL-2.0
/*
 * Serving a batch: the service is handed the faults, the plan is made (plan.c),
 * and the books follow what the service really did. Explicit prefetches are
 * batches without faults. What moves is not decided here.
 */
#include "paging/private.h"

#include <errno.h>
#include <string.h>

#define PASSES		4u	/* tries to place a page whose victims would not go */
#define PREFETCH_BLOCKS	4u	/* VA blocks that an explicit prefetch asks for at once */

/* What a pass of a batch left behind. */
struct pass {
	uint64_t again[BATCH_MAX];	/* pages that found no free frame */
	unsigned int nagain;
	unsigned int stayed;		/* victims that did not go */
	int rc;
};

/* --- one pass: ask, move, book --------------------------------------------- */

/* The page belongs to this batch: it is kept, and asked for once. -ENOMEM. */
static int ask(struct paging *p, uint64_t addr)
{
	int rc = page_set_reserve(&p->space->pages, addr);

	if (!rc)
		page_set_mark(&p->space->pages, addr, PAGE_ASKED);
	return rc;
}

static int take_fault(struct paging *p, const struct fault *fault)
{
	int rc;

	if (fault->flags & FAULT_UNMANAGED)
		return 0;
	rc = ask(p, fault->addr);
	if (rc)
		return rc;
	/* The service knows better than the books, which hear of changes late. */
	if (fault->flags & FAULT_RESIDENT)
		return space_add(p->pool, p->space, fault->addr);
	space_drop(p->pool, p->space, fault->addr);
	p->demand[p->ndemand++] = fault->addr;
	return 0;
}

/* The policy's wishes, without what is here, asked for, or named twice. */
static int take_wishes(struct paging *p)
{
	unsigned int n = p->prefetch->on_batch(p->prefetch_state, &p->view, p->faults,
					       p->nfaults, p->wanted, WANTED_MAX);

	p->nwanted = 0;
	for (unsigned int i = 0; i < MIN(n, WANTED_MAX); i++) {
		uint64_t addr = p->wanted[i] & ~(PAGE_BYTES - 1);
		int rc;

		if (page_set_test(&p->space->pages, addr, PAGE_RESIDENT) ||
		    page_set_test(&p->space->pages, addr, PAGE_ASKED))
			continue;
		rc = ask(p, addr);
		if (rc)
			return rc;
		p->wanted[p->nwanted++] = addr;
	}
	return 0;
}

/* First pass of a batch of faults. */
static int decide_faults(void *ctx, struct service_batch *batch)
{
	struct paging *p = ctx;
	int rc;

	p->nfaults = batch->nfaults;
	p->ndemand = 0;
	for (unsigned int i = 0; i < p->nfaults; i++) {
		rc = take_fault(p, &p->faults[i]);
		if (rc)
			return rc;
	}
	rc = take_wishes(p);
	if (rc)
		return rc;
	plan_begin(p);
	plan_demand(p);
	plan_wanted(p);
	return 0;
}

/* Later passes: the demand that found no frame. */
static int decide_again(void *ctx, struct service_batch *batch)
{
	struct paging *p = ctx;

	plan_begin(p);
	plan_demand(p);
	return 0;
}

/* A part of an explicit prefetch. */
static int decide_range(void *ctx, struct service_batch *batch)
{
	struct paging *p = ctx;

	plan_begin(p);
	plan_wanted(p);
	return 0;
}

static bool is_resident(const struct paging *p, uint32_t va_space, uint64_t addr)
{
	struct service *service = p->pool->service;

	return service->ops->walk(service, va_space, addr) != NULL;
}

static void book_eviction(struct paging *p, const struct migration *m, struct pass *pass)
{
	struct space *space = space_find(p->pool, m->va_space);

	for (unsigned int i = 0; i < m->pages; i++) {
		uint64_t addr = m->addr + i * PAGE_BYTES;

		if (m->status && is_resident(p, m->va_space, addr)) {
			pass->stayed++;
			continue;
		}
		page_set_unmark(&space->pages, addr, PAGE_GOING);
		space_drop(p->pool, space, addr);
	}
	p->stats.evicted_pages += m->moved;
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
		pass->again[pass->nagain++] = addr;
		return;
	}
	if (!outcome->stuck++) {
		outcome->stuck_status = status;
		outcome->stuck_addr = addr;
	}
}

static void book_arrival(struct paging *p, const struct migration *m, bool demanded,
			 struct pass *pass, struct paging_outcome *outcome)
{
	struct fresh *fresh = &p->fresh[p->fresh_at];

	for (unsigned int i = 0; i < m->pages; i++) {
		uint64_t addr = m->addr + i * PAGE_BYTES;
		int rc;

		if (m->status && !is_resident(p, m->va_space, addr)) {
			if (demanded)
				book_missing(p, addr, m->status, pass, outcome);
			else if ((m->status == -EFAULT || m->status == -ESRCH) &&
				 p->keep_end && !outcome->unmanaged++)
				outcome->unmanaged_addr = addr;
			continue;
		}
		rc = space_add(p->pool, p->space, addr);
		if (rc) {
			pass->rc = rc;
			continue;
		}
		page_set_mark(&p->space->pages, addr, demanded ? PAGE_FRESH : PAGE_UNUSED);
		if (demanded && fresh->count < BATCH_MAX)
			fresh->pages[fresh->count++] = addr;
	}
	if (!demanded)
		p->stats.prefetched_pages += m->moved;
	p->stats.h2d_bytes += m->moved * PAGE_BYTES;
}

static void add_cost(struct service_cost *sum, const struct service_cost *cost)
{
	sum->total += cost->total;
	sum->raised_to_fetched += cost->raised_to_fetched;
	sum->fetched_to_committed += cost->fetched_to_committed;
	sum->evict += cost->evict;
	sum->unmap += cost->unmap;
	sum->copy += cost->copy;
	sum->map += cost->map;
	sum->replay += cost->replay;
	sum->end_to_end += cost->end_to_end;
}

static int serve_pass(struct paging *p, unsigned int nfaults,
		      int (*decide)(void *ctx, struct service_batch *batch),
		      struct pass *pass, struct paging_outcome *outcome)
{
	struct service *service = p->pool->service;
	struct service_batch batch = {
		.faults = p->faults,
		.nfaults = nfaults,
		.decide = decide,
		.ctx = p,
		.plan = &p->plan,
	};
	int rc;

	pass->nagain = 0;
	pass->stayed = 0;
	pass->rc = 0;
	p->nvictims = 0;
	rc = service->ops->serve(service, &batch);
	if (rc) {
		plan_return_victims(p);
		return rc;
	}
	for (unsigned int i = 0; i < p->plan.count; i++)
		if (p->plan.migrations[i].op == MIGRATE_D2H)
			book_eviction(p, &p->plan.migrations[i], pass);
	plan_return_victims(p);
	for (unsigned int i = 0; i < p->plan.count; i++)
		if (p->plan.migrations[i].op == MIGRATE_H2D)
			book_arrival(p, &p->plan.migrations[i], i < p->prefetch_from, pass,
				     outcome);
	add_cost(&outcome->cost, &batch.cost);
	outcome->service_ns = outcome->cost.total;
	return pass->rc;
}

/* --- batches --------------------------------------------------------------- */

/*
 * Serves until each demanded page has come, waits for a later batch, or cannot
 * come. A victim may stay (somebody has the page pinned) and so leave a page
 * without a frame: then others are picked.
 */
static int serve_all(struct paging *p, unsigned int n, struct paging_outcome *outcome)
{
	struct pass pass;
	int rc = serve_pass(p, n, decide_faults, &pass, outcome);

	for (unsigned int i = 1; !rc && pass.nagain && i < PASSES; i++) {
		/* Every victim went, and yet a frame was missing: it has fewer than it says. */
		if (!pass.stayed)
			p->squeeze += pass.nagain;
		memcpy(p->demand, pass.again, pass.nagain * sizeof(*p->demand));
		p->ndemand = pass.nagain;
		rc = serve_pass(p, 0, decide_again, &pass, outcome);
	}
	p->squeeze = 0;
	if (!rc && pass.nagain) {
		if (!outcome->stuck) {
			outcome->stuck_status = -ENOSPC;
			outcome->stuck_addr = pass.again[0];
		}
		outcome->stuck += pass.nagain;
	}
	return rc;
}

static void forget_asked(struct paging *p)
{
	for (unsigned int i = 0; i < p->nfaults; i++)
		page_set_unmark(&p->space->pages, p->faults[i].addr, PAGE_ASKED);
	for (unsigned int i = 0; i < p->nwanted; i++)
		page_set_unmark(&p->space->pages, p->wanted[i], PAGE_ASKED);
	p->nfaults = 0;
	p->nwanted = 0;
}

/* The oldest batch's pages are no longer waited for; their place is this batch's. */
static void next_fresh(struct paging *p)
{
	struct fresh *fresh;

	p->fresh_at = (p->fresh_at + 1) % FRESH_BATCHES;
	fresh = &p->fresh[p->fresh_at];
	for (unsigned int i = 0; i < fresh->count; i++)
		page_set_unmark(&p->space->pages, fresh->pages[i], PAGE_FRESH);
	fresh->count = 0;
}

static void count_faults(struct paging *p, uint64_t now, struct paging_outcome *outcome)
{
	for (unsigned int i = 0; i < p->nfaults; i++) {
		const struct fault *f = &p->faults[i];
		uint64_t waited = now > f->cycle ? now - f->cycle : 0;

		if (f->flags & FAULT_UNMANAGED) {
			if (!outcome->unmanaged++)
				outcome->unmanaged_addr = f->addr;
			continue;
		}
		/* One that waits for its turn is counted when it has been served. */
		if (!page_set_test(&p->space->pages, f->addr, PAGE_RESIDENT))
			continue;
		p->stats.far_faults++;
		histogram_add(&p->stats.latency_ns,
			      waited * 1000 / p->spec.clock_mhz + outcome->service_ns);
	}
}

static void count_cost(struct paging *p, const struct paging_outcome *outcome)
{
	p->stats.batches++;
	p->stats.busy_ns += outcome->service_ns;
	add_cost(&p->stats.stages, &outcome->cost);
}

int paging_serve(struct paging *p, const struct fault *faults, unsigned int n, uint64_t now,
		 struct paging_outcome *outcome)
{
	int rc;

	memset(outcome, 0, sizeof(*outcome));
	if (n > BATCH_MAX)
		return -EINVAL;
	for (unsigned int i = 0; i < n; i++)
		if (faults[i].va_space != p->space->va_space)
			return -EINVAL;
	memcpy(p->faults, faults, n * sizeof(*faults));
	p->nfaults = 0;
	p->nwanted = 0;
	next_fresh(p);
	rc = serve_all(p, n, outcome);
	if (!rc) {
		p->stats.raw_faults += n;
		count_faults(p, now, outcome);
		count_cost(p, outcome);
	}
	forget_asked(p);
	return rc;
}

/* Pages of [start, end) that are not in device memory become wanted. */
static void want_range(struct paging *p, uint64_t start, uint64_t end)
{
	p->nwanted = 0;
	for (uint64_t addr = start; addr < end; addr += PAGE_BYTES) {
		if (is_resident(p, p->space->va_space, addr))
			continue;
		space_drop(p->pool, p->space, addr);
		p->wanted[p->nwanted++] = addr;
	}
}

_Static_assert(PREFETCH_BLOCKS * BLOCK_PAGES <= WANTED_MAX, "a part fits wanted[]");

int paging_prefetch(struct paging *p, uint64_t addr, uint64_t bytes, uint64_t now,
		    struct paging_outcome *outcome)
{
	const uint64_t part = (uint64_t)PREFETCH_BLOCKS << BLOCK_SHIFT;
	struct pass pass;
	uint64_t end;
	int rc = 0;

	memset(outcome, 0, sizeof(*outcome));
	if (bytes == 0)
		return 0;
	if (addr + bytes - 1 < addr || addr + bytes - 1 > UINT64_MAX - part)
		return -EINVAL;
	end = (addr + bytes + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1);
	addr &= ~(PAGE_BYTES - 1);
	p->keep_start = addr;
	p->keep_end = end;
	while (!rc && addr < end) {
		uint64_t part_end = MIN(end, (addr / part + 1) * part);
		struct service_cost before = outcome->cost;

		want_range(p, addr, part_end);
		addr = part_end;
		if (!p->nwanted)
			continue;
		rc = serve_pass(p, 0, decide_range, &pass, outcome);
		if (rc)
			break;
		p->stats.batches++;
		p->stats.busy_ns += outcome->cost.total - before.total;
		/* Device memory is full of the range itself: the rest has no room. */
		if (p->nplaced < p->nwanted)
			break;
		/* Nor is it looked for past the end of managed memory, up to 2^64. */
		if (outcome->unmanaged)
			break;
	}
	add_cost(&p->stats.stages, &outcome->cost);
	p->keep_start = 0;
	p->keep_end = 0;
	p->nwanted = 0;
	return rc;
}
