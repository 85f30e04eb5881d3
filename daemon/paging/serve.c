// SPDX-License-Identifier: GPL-2.0
/*
 * Serving a batch of faults: the service is handed them, the plan is made (plan.c), the
 * books follow (book.c), and what moved departs (flight.c). What moves is not decided here.
 */
#include "paging/handler.h"

#include <errno.h>
#include <string.h>

#define PASSES		4u	/* tries to place a page whose victims would not go */

/* --- one pass: ask, move --------------------------------------------- */

/* The page belongs to this batch: it is kept, and asked for once. -ENOMEM. */
static int ask(struct paging *p, uint64_t addr)
{
	int rc = page_set_last(&p->space->pages, addr) ? 0 :
		 page_set_reserve(&p->space->pages, addr);

	if (!rc)
		page_set_mark(&p->space->pages, addr, PAGE_ASKED);
	return rc;
}

/* Some of the fault's unit is on its way: it goes before what nobody waits for. */
static int take_flying(struct paging *p, uint64_t unit)
{
	struct page_set *pages = &p->space->pages;
	int rc = 0;

	p->stats.inflight_faults++;
	for (uint64_t addr = unit; !rc && addr < unit + p->spec.page_bytes; addr += PAGE_BYTES) {
		if (!page_set_test(pages, addr, PAGE_FLYING) ||
		    !page_set_test(pages, addr, PAGE_RESIDENT) ||
		    page_set_test(pages, addr, PAGE_FRESH))
			continue;
		p->stats.prefetch_late_pages += page_set_test(pages, addr, PAGE_UNUSED);
		page_set_mark(pages, addr, PAGE_FRESH);
		rc = flight_hurry(p, addr);
	}
	return rc;
}

/* After it the books have the fault's page as the service has it. */
static int check_books(struct paging *p, const struct fault *fault)
{
	struct page_set *pages = &p->space->pages;
	uint64_t addr = fault->addr;
	unsigned int flags;
	void *host;

	if (!pages->remote && !pages->duplicates && !p->known.nadvice && !p->hinted &&
	    !(fault->flags & FAULT_RESIDENT)) {
		if (page_set_test(pages, addr, PAGE_RESIDENT))
			space_drop(p->pool, p->space, addr);
		return 0;
	}
	host = service_entry(p->pool->service, p->space->va_space, addr, &flags);
	if (!host || !(flags & SERVICE_ENTRY_REMOTE))
		space_unmap(p->space, addr);
	else
		page_set_mark(pages, addr, PAGE_REMOTE);
	/* A duplicate that is to be written stays in the books; it has its frame. */
	if (!(fault->flags & FAULT_RESIDENT) && !(host && flags & SERVICE_ENTRY_READ_ONLY))
		space_drop(p->pool, p->space, addr);
	if (!host || flags & SERVICE_ENTRY_REMOTE)
		return 0;
	if (flags & SERVICE_ENTRY_READ_ONLY && page_set_test(pages, addr, PAGE_RESIDENT))
		page_set_mark(pages, addr, PAGE_DUPLICATE);
	return fault->flags & FAULT_RESIDENT ? space_add(p->pool, p->space, addr, false) : 0;
}

static void note_hints(struct paging *p, const struct fault *fault)
{
	if (fault->access >= ACCESS_WRITE)
		page_set_mark(&p->space->pages, fault->addr, PAGE_WRITTEN);
	if (fault->flags & FAULT_RESIDENT)
		return;
	if (fault->flags & FAULT_PAGEABLE && !(fault->flags & FAULT_MOVES)) {
		page_set_mark(&p->space->pages, fault->addr, PAGE_PINNED);
		p->hinted = true;
	} else if (fault->flags & FAULT_THROTTLE) {
		p->stats.throttled_faults++;
	} else if (fault->flags & FAULT_PIN) {
		page_set_mark(&p->space->pages, fault->addr, PAGE_PINNED);
		p->stats.pinned_faults++;
		p->hinted = true;
	}
}

static int take_fault(struct paging *p, const struct fault *fault)
{
	uint64_t unit = unit_of(p, fault->addr), missing[BLOCK_PAGES];
	bool resident = fault->flags & FAULT_RESIDENT;
	int rc;

	if (fault->flags & FAULT_UNMANAGED)
		return 0;
	rc = ask(p, fault->addr);
	if (rc)
		return rc;
	p->causes[fault - p->faults] = (uint8_t)fault_cause(p, fault);
	/* The service knows better than the books, which hear of changes late. */
	note_hints(p, fault);
	rc = check_books(p, fault);
	if (!rc && paging_in_flight(p, unit))
		rc = take_flying(p, unit);
	if (rc || (p->ndemand && p->demand[p->ndemand - 1] == unit))
		return rc;
	/* It was asked for, so that no policy brings it either. */
	if (fault->flags & FAULT_THROTTLE)
		return 0;
	if (p->spec.page_bytes > PAGE_BYTES)
		resident = !plan_missing(p, unit, missing);
	if (!resident && !(fault->flags & FAULT_THROTTLE))
		p->demand[p->ndemand++] = unit;
	return 0;
}

/* The policy's wishes, without what is here, asked for, or named twice. */
static int take_wishes(struct paging *p)
{
	unsigned int n = policies_on_batch(p, p->wanted, WANTED_MAX);

	p->nwanted = 0;
	for (unsigned int i = 0; i < MIN(n, WANTED_MAX); i++) {
		uint64_t addr = p->wanted[i] & ~(PAGE_BYTES - 1);
		int rc;

		if (page_set_test(&p->space->pages, addr, PAGE_RESIDENT) ||
		    unit_any(p, addr, PAGE_ASKED) ||
		    ((p->known.nadvice || p->space->pages.remote) && advice_stays(p, addr)))
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
	p->prefetch.ranges_known = false;
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
	p->stats.prefetch_refused_pages += p->nwanted - p->nplaced;
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

static int decide_spare(void *ctx, struct service_batch *batch)
{
	struct paging *p = ctx;

	plan_begin(p);
	plan_spare(p);
	return 0;
}

void cost_add(struct service_cost *sum, const struct service_cost *cost)
{
	sum->total += cost->total;
	sum->raised_to_fetched += cost->raised_to_fetched;
	sum->fetched_to_committed += cost->fetched_to_committed;
	sum->evict += cost->evict;
	sum->unmap += cost->unmap;
	sum->copy += cost->copy;
	sum->map += cost->map;
	sum->replay += cost->replay;
	sum->decide += cost->decide;
	sum->end_to_end += cost->end_to_end;
}

/* Books a run that leaves device memory or is mapped in system memory. Its pages are all alike. */
static void book_home(struct paging *p, const struct migration *m, enum link_class class,
		      struct pass *pass, struct paging_outcome *outcome)
{
	const struct page_set *pages = &space_find(p->pool, m->va_space)->pages;

	if (m->op == MIGRATE_REMOTE && !page_set_test(pages, m->addr, PAGE_RESIDENT))
		book_mapped(p, m, pass, outcome);
	else if (m->op == MIGRATE_D2H && page_set_test(pages, m->addr, PAGE_REMOTE))
		book_unmapped(p, m);
	else
		book_eviction(p, m, class, pass);
}

int serve_pass(struct paging *p, unsigned int nfaults,
	       int (*decide)(void *ctx, struct service_batch *batch),
	       struct pass *pass, struct paging_outcome *outcome)
{
	struct service *service = p->pool->service;
	struct service_batch batch = {
		.faults = p->faults,
		.nfaults = nfaults,
		.raw = nfaults,
		.decide = decide,
		.ctx = p,
		.plan = &p->plan,
	};
	int rc;

	pass->nagain = 0;
	pass->stayed = 0;
	pass->gone = 0;
	pass->rc = 0;
	pass->full = false;
	p->nvictims = 0;
	rc = service->ops->serve(service, &batch);
	if (rc) {
		plan_return_victims(p);
		return rc;
	}
	for (unsigned int i = 0; i < p->plan.count; i++)
		if (p->plan.migrations[i].op == MIGRATE_D2H ||
		    p->plan.migrations[i].op == MIGRATE_REMOTE)
			book_home(p, &p->plan.migrations[i],
				  i < p->demand_to ? LINK_DEMAND : LINK_PREFETCH, pass, outcome);
	plan_return_victims(p);
	for (unsigned int i = 0; i < p->plan.count; i++)
		if (p->plan.migrations[i].op == MIGRATE_H2D ||
		    p->plan.migrations[i].op == MIGRATE_DUPLICATE)
			book_arrival(p, &p->plan.migrations[i], i < p->prefetch_from, pass,
				     outcome);
	pass->raw = batch.raw;
	p->remote_full |= pass->full;
	cost_add(&outcome->cost, &batch.cost);
	outcome->service_ns = outcome->cost.total;
	return pass->rc;
}

/* --- batches --------------------------------------------------------------- */

/*
 * Serves until each demanded page has come, waits for a later batch, or cannot
 * come. A victim may stay (somebody has the page pinned) and so leave a page
 * without a frame: then others are picked.
 */
static int serve_all(struct paging *p, unsigned int n, unsigned int *raw,
		     struct paging_outcome *outcome)
{
	struct pass pass = { .home = false };
	int rc = serve_pass(p, n, decide_faults, &pass, outcome);

	*raw = pass.raw;
	for (unsigned int i = 1; !rc && pass.nagain && i < PASSES; i++) {
		/* Every victim went, and yet a frame was missing: it has fewer than it says. */
		if (!pass.stayed && !pass.full)
			p->squeeze += pass.nagain;
		memcpy(p->demand, pass.again, pass.nagain * sizeof(*p->demand));
		p->ndemand = pass.nagain;
		rc = serve_pass(p, 0, decide_again, &pass, outcome);
	}
	p->squeeze = 0;
	if (!rc && n) {
		if (p->pool->service->ops->measured)
			histogram_add(&p->stats.decide_ns, outcome->cost.decide);
		charge_decision(p, &outcome->cost);
		outcome->service_ns = outcome->cost.total;
	}
	if (!rc && pass.nagain) {
		if (!outcome->stuck) {
			outcome->stuck_status = -ENOSPC;
			outcome->stuck_addr = pass.again[0];
		}
		outcome->stuck += pass.nagain;
	}
	/* A page that waits gets its frames some day, unless it needs more than there are. */
	if (!rc && !outcome->stuck && p->nwaiting &&
	    p->spec.page_bytes / PAGE_BYTES > limit_of(p)) {
		outcome->stuck_status = -ENOSPC;
		outcome->stuck_addr = p->waiting[0];
		outcome->stuck = p->nwaiting;
	}
	return rc;
}

static void forget_asked(struct paging *p)
{
	for (unsigned int i = 0; i < p->nfaults; i++) {
		page_set_unmark(&p->space->pages, p->faults[i].addr, PAGE_ASKED);
		page_set_unmark(&p->space->pages, p->faults[i].addr, PAGE_WRITTEN);
		page_set_unmark(&p->space->pages, p->faults[i].addr, PAGE_PINNED);
	}
	for (unsigned int i = 0; i < p->nwanted; i++)
		page_set_unmark(&p->space->pages, p->wanted[i], PAGE_ASKED);
	p->nfaults = 0;
	p->nwanted = 0;
}

static void count_fault(struct paging *p, const struct fault *f, unsigned int kernel,
			uint64_t now, struct paging_outcome *outcome)
{
	uint64_t waited = now > f->cycle ? now - f->cycle : 0;
	struct paging_fault fault = {
		.addr = f->addr, .raised = f->cycle, .taken = MAX(now, f->cycle),
		.batch = outcome->batch, .sm = f->sm, .warp = f->warp, .merged = f->merged,
		.access = f->access, .kernel = (uint8_t)kernel,
	};

	if (f->flags & FAULT_UNMANAGED) {
		/* Nobody waits for a prefetch. */
		if (f->access != ACCESS_PREFETCH && !outcome->unmanaged++) {
			outcome->unmanaged_addr = f->addr;
			outcome->is_protected = f->flags & FAULT_PROTECTED;
		}
		return;
	}
	fault.cause = p->causes[f - p->faults];
	outcome->causes[fault.cause]++;
	p->stats.causes[fault.cause]++;
	/* One that waits for its turn is counted when it has been served. */
	if (!page_set_test(&p->space->pages, f->addr, PAGE_RESIDENT) &&
	    !page_set_test(&p->space->pages, f->addr, PAGE_REMOTE))
		return;
	if (!paging_in_flight(p, f->addr)) {
		fault_over(p, &fault, &outcome->cost,
			   waited * 1000 / p->spec.clock_mhz + outcome->service_ns, 0);
	} else if (!flight_await(p, &fault, &outcome->cost)) {
		p->stats.duplicate_faults++;
		return;
	}
	p->stats.far_faults++;
	p->stats.of[kernel].far_faults++;
}

/* The kernel of the batch's first record of the page. The service does not give it back. */
static unsigned int kernel_of(const struct fault *raised, unsigned int n, uint64_t addr)
{
	unsigned int i = 0;

	if (!n)
		return 0;
	while (i + 1 < n && raised[i].addr != addr)
		i++;
	return raised[i].kernel;
}

static bool one_kernel(const struct fault *raised, unsigned int n)
{
	for (unsigned int i = 1; i < n; i++)
		if (raised[i].kernel != raised[0].kernel)
			return false;
	return true;
}

static void count_batch(struct paging *p, const struct fault *raised, unsigned int n,
			unsigned int raw, uint64_t now, struct paging_outcome *outcome)
{
	bool one = one_kernel(raised, n);
	uint64_t blocks = 0;

	for (unsigned int i = 0; i < p->nfaults; i++) {
		const struct fault *f = &p->faults[i];

		count_fault(p, f, kernel_of(raised, one ? 1 : n, f->addr), now, outcome);
		blocks += !i || f->addr >> BLOCK_SHIFT != f[-1].addr >> BLOCK_SHIFT;
	}
	p->stats.raw_faults += raw;
	p->stats.duplicate_faults += raw - p->nfaults;
	histogram_add(&p->stats.batch_raw, raw);
	histogram_add(&p->stats.batch_unique, p->nfaults);
	histogram_add(&p->stats.batch_blocks, blocks);
}

/* Evictions ahead of need: behind what the batch waits for, but the handler does them. */
static int make_spare(struct paging *p, struct paging_outcome *outcome, uint32_t tag)
{
	struct paging_outcome spare = { 0 };
	struct pass pass = { .home = false };
	uint64_t frames = frames_of(p);
	int rc;

	if (p->space->pages.count + frames * p->spec.watermark / 100 <= frames)
		return 0;
	rc = serve_pass(p, 0, decide_spare, &pass, &spare);
	if (rc)
		return rc;
	p->stats.pre_evicted_pages += pass.gone;
	/* Where it is modelled it is a part of the batch's service. */
	if (!p->flight.modelled) {
		outcome->service_ns += spare.service_ns;
		p->stats.busy_ns += spare.service_ns;
	}
	return flight_depart(p, outcome->service_ns, &spare.cost, tag);
}

static void count_cost(struct paging *p, const struct paging_outcome *outcome)
{
	p->stats.batches++;
	p->stats.busy_ns += outcome->service_ns;
	cost_add(&p->stats.stages, &outcome->cost);
}

int paging_serve(struct paging *p, const struct fault *faults, unsigned int n, uint64_t now,
		 struct paging_outcome *outcome)
{
	uint64_t prefetched = p->stats.prefetched_pages, evicted = p->stats.evicted_pages;
	unsigned int kernel = n ? faults[0].kernel : KERNEL_SLOTS;
	uint32_t tag;
	unsigned int raw;
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
	p->remote_full = false;
	p->hinted = false;
	p->flight.now = MAX(p->flight.now, now);
	outcome->batch = p->flight.batch++;
	tag = flight_tag(outcome->batch, kernel);
	rc = serve_all(p, n, &raw, outcome);
	if (!rc) {
		count_batch(p, faults, n, raw, now, outcome);
		count_cost(p, outcome);
		if (n)
			p->stats.of[kernel].batches++;
		rc = flight_depart(p, outcome->service_ns, &outcome->cost, tag);
	}
	if (!rc && p->spec.watermark)
		rc = make_spare(p, outcome, tag);
	if (n) {
		p->stats.of[kernel].prefetched_pages += p->stats.prefetched_pages - prefetched;
		p->stats.of[kernel].evicted_pages += p->stats.evicted_pages - evicted;
	}
	if (rc)
		flight_forget(p);
	forget_asked(p);
	return rc;
}
