// SPDX-License-Identifier: GPL-2.0
/*
 * Pages in flight: what a batch moved in the books departs when its service is over,
 * travels on the link (link.c) or, where the service is measured, lands when the measured
 * time has passed. Here core cycles and the link's time meet. Decides nothing.
 */
#include "base/array.h"
#include "paging/handler.h"

#include <errno.h>
#include <stdlib.h>

#define PS_MHZ	1000000ull	/* picoseconds of a cycle at 1 MHz */

/* --- time ------------------------------------------------------------------------ */

/* Down, so that a time of so many whole cycles later is a cycle of so many more. */
static uint64_t ps_of(const struct paging *p, uint64_t cycle)
{
	return (uint64_t)((unsigned __int128)cycle * PS_MHZ / p->spec.clock_mhz);
}

/* The first cycle that is not before. */
static uint64_t cycle_of(const struct paging *p, uint64_t ps)
{
	return (uint64_t)(((unsigned __int128)ps * p->spec.clock_mhz + PS_MHZ - 1) / PS_MHZ);
}

/* --- making it -------------------------------------------------------------------- */

int flight_open(struct paging *p)
{
	p->flight.modelled = !p->pool->service->ops->measured;
	return link_create(&p->spec, &p->flight.link);
}

void flight_close(struct paging *p)
{
	link_destroy(p->flight.link);
	u64map_clear(&p->flight.awaited);
	free(p->flight.waits);
	free(p->flight.list);
	free(p->flight.lost);
}

void paging_set_aside(struct paging *p, bool aside)
{
	p->aside = aside;
}

void paging_listen(struct paging *p, const struct paging_events *events, void *ctx)
{
	p->flight.events = events;
	p->flight.ctx = ctx;
}

/* --- departure --------------------------------------------------------------------- */

static int depart_with(struct flight *f, const struct departure *d)
{
	struct departure *last = f->count ? &f->list[f->count - 1] : NULL;

	if (last && last->dir == d->dir && last->class == d->class &&
	    last->promote == d->promote && last->map == d->map &&
	    last->va_space == d->va_space &&
	    last->addr + last->pages * PAGE_BYTES == d->addr) {
		last->pages += d->pages;
		return 0;
	}
	if (array_grow(f->list, f->room, f->count))
		return -ENOMEM;
	f->list[f->count++] = *d;
	return 0;
}

int flight_add(struct paging *p, uint32_t va_space, uint64_t addr, enum link_dir dir,
	       enum link_class class)
{
	struct flight *f = &p->flight;
	struct departure *last = f->count ? &f->list[f->count - 1] : NULL;
	int rc = 0;

	/* Pages come in runs: mostly it is the last one's next. */
	if (last && last->addr + last->pages * PAGE_BYTES == addr && last->va_space == va_space &&
	    last->dir == dir && last->class == class && !last->promote)
		last->pages++;
	else
		rc = depart_with(f, &(struct departure){
			.addr = addr, .pages = 1, .va_space = va_space,
			.dir = (uint8_t)dir, .class = (uint8_t)class,
		});

	if (rc || dir != LINK_H2D)
		return rc;
	page_set_mark(&p->space->pages, addr, PAGE_FLYING);
	p->flight.pages++;
	return 0;
}

int flight_add_run(struct paging *p, uint32_t va_space, uint64_t addr, unsigned int pages,
		   enum link_dir dir, enum link_class class)
{
	return depart_with(&p->flight, &(struct departure){
		.addr = addr, .pages = pages, .va_space = va_space,
		.dir = (uint8_t)dir, .class = (uint8_t)class,
	});
}

int flight_map(struct paging *p, uint64_t addr)
{
	int rc = depart_with(&p->flight, &(struct departure){
		.addr = addr, .pages = 1, .va_space = p->space->va_space,
		.dir = LINK_H2D, .map = true,
	});

	if (rc || page_set_test(&p->space->pages, addr, PAGE_COLLAPSING))
		return rc;
	page_set_mark(&p->space->pages, addr, PAGE_FLYING);
	p->flight.pages++;
	return 0;
}

int flight_hurry(struct paging *p, uint64_t addr)
{
	return depart_with(&p->flight, &(struct departure){
		.addr = addr, .pages = 1, .va_space = p->space->va_space, .promote = true,
	});
}

static int send(struct paging *p, const struct departure *d, uint64_t at, uint32_t tag)
{
	struct link *link = p->flight.link;

	if (!p->flight.modelled || d->map)
		return d->dir == LINK_H2D && !d->promote ?
			link_deliver(link, at, d->va_space, d->addr, d->pages, tag) : 0;
	if (d->promote)
		return link_promote(link, at, d->va_space, d->addr, d->pages);
	return link_send(link, at, d->dir, d->class, d->va_space, d->addr, d->pages, tag);
}

static uint32_t batch_of(uint32_t tag)
{
	return tag == PAGING_NO_BATCH ? tag : tag >> FLIGHT_KERNEL_BITS;
}

static uint8_t kernel_of(uint32_t tag)
{
	return (uint8_t)MIN(tag & ((1u << FLIGHT_KERNEL_BITS) - 1), KERNEL_SLOTS);
}

/* Tells measured copies as one transfer each way, which ends with the batch. */
static void tell_measured(struct paging *p, uint64_t end, const struct service_cost *cost,
			  uint32_t tag)
{
	const struct flight *f = &p->flight;
	uint64_t bytes[LINK_DIRS] = { 0 }, addr[LINK_DIRS] = { 0 };
	uint64_t copy = cost->copy * PS_NS, evict = cost->evict * PS_NS;

	for (unsigned int i = f->count; i-- > 0;) {
		if (f->list[i].promote || f->list[i].map)
			continue;
		bytes[f->list[i].dir] += f->list[i].pages * PAGE_BYTES;
		addr[f->list[i].dir] = f->list[i].addr;
		if (f->list[i].dir == LINK_H2D)
			p->stats.link.h2d_transfers++;
		else
			p->stats.link.d2h_transfers++;
	}
	p->stats.link.h2d_busy_ns += bytes[LINK_H2D] ? cost->copy : 0;
	p->stats.link.d2h_busy_ns += bytes[LINK_D2H] ? cost->evict : 0;
	for (unsigned int dir = LINK_DIRS; dir-- > 0;) {
		uint64_t to = dir == LINK_H2D ? end : end - MIN(copy, end);
		uint64_t took = MIN(dir == LINK_H2D ? copy : evict, to);

		if (bytes[dir] && f->events && f->events->transferred)
			f->events->transferred(f->ctx, &(struct paging_transfer){
				.begin = cycle_of(p, to - took), .end = cycle_of(p, to),
				.addr = addr[dir], .bytes = bytes[dir], .batch = batch_of(tag),
				.d2h = dir == LINK_D2H, .kernel = kernel_of(tag),
			});
	}
}

/* Its pages never fly. */
static void drop_departure(struct paging *p, const struct departure *d)
{
	for (unsigned int i = 0; i < d->pages && d->map; i++)
		page_set_unmark(&p->space->pages, d->addr + i * PAGE_BYTES, PAGE_COLLAPSING);
	for (unsigned int i = 0; i < d->pages && d->dir == LINK_H2D && !d->promote; i++)
		flight_drop(p, d->addr + i * PAGE_BYTES);
}

void flight_forget(struct paging *p)
{
	struct flight *f = &p->flight;

	for (unsigned int i = 0; i < f->count; i++)
		drop_departure(p, &f->list[i]);
	f->count = 0;
}

uint64_t flight_time(const struct paging *p)
{
	return ps_of(p, p->flight.now);
}

int flight_depart(struct paging *p, uint64_t ns, const struct service_cost *cost, uint32_t tag)
{
	struct flight *f = &p->flight;
	uint64_t at = ps_of(p, f->now) + ns * PS_NS;
	int rc = 0;

	if (!f->modelled && f->count)
		tell_measured(p, at, cost, tag);
	for (unsigned int i = 0; i < f->count; i++) {
		if (!rc)
			rc = send(p, &f->list[i], at, tag);
		if (rc)
			drop_departure(p, &f->list[i]);
	}
	f->count = 0;
	return rc;
}

/* --- landing ------------------------------------------------------------------------- */

bool paging_in_flight(const struct paging *p, uint64_t addr)
{
	return p->flight.pages && unit_any(p, addr, PAGE_FLYING);
}

bool paging_collapsing(const struct paging *p, uint64_t addr)
{
	return page_set_test(&p->space->pages, addr, PAGE_COLLAPSING);
}

/* A place in waits. False: no memory. */
static bool new_wait(struct flight *f, uint32_t *place)
{
	if (f->idle_wait) {
		*place = f->idle_wait - 1;
		f->idle_wait = f->waits[*place].next;
		return true;
	}
	if (array_grow(f->waits, f->wait_room, f->nwaits))
		return false;
	*place = f->nwaits++;
	return true;
}

/* Forgets who waits for the unit, and copies it to *wait (may be NULL). False: nobody waited. */
static bool end_wait(struct flight *f, uint64_t unit, struct wait *wait)
{
	uint64_t place;

	if (!f->awaited.count || !u64map_get(&f->awaited, unit, &place))
		return false;
	u64map_del(&f->awaited, unit);
	if (wait)
		*wait = f->waits[place];
	f->waits[place].next = f->idle_wait;
	f->idle_wait = (uint32_t)place + 1;
	return true;
}

bool flight_await(struct paging *p, const struct paging_fault *fault,
		  const struct service_cost *cost)
{
	uint64_t unit = unit_of(p, fault->addr), before;
	struct flight *f = &p->flight;
	uint32_t place;

	if (u64map_get(&f->awaited, unit, &before))
		return false;
	/* Without memory its latency is not known: the others' are. */
	if (!new_wait(f, &place))
		return true;
	f->waits[place] = (struct wait){ .fault = *fault, .cost = *cost };
	if (u64map_put(&f->awaited, unit, place)) {
		f->waits[place].next = f->idle_wait;
		f->idle_wait = place + 1;
	}
	return true;
}

/* Requests that wait for the page have to ask again; they are told when time goes on. */
static void lose(struct flight *f, uint64_t addr)
{
	if (!array_grow(f->lost, f->lost_room, f->nlost))
		f->lost[f->nlost++] = addr;
	else if (f->events)
		f->events->arrived(f->ctx, addr, PAGE_BYTES, f->now);
}

void flight_drop(struct paging *p, uint64_t addr)
{
	if (!page_set_test(&p->space->pages, addr, PAGE_FLYING))
		return;
	page_set_unmark(&p->space->pages, addr, PAGE_FLYING);
	p->flight.pages--;
	end_wait(&p->flight, unit_of(p, addr), NULL);
	lose(&p->flight, addr);
	/* Without memory to split a transfer it takes its time, and nobody's page. */
	link_cancel(p->flight.link, p->space->va_space, addr, addr + PAGE_BYTES);
}

/* The unit's last page is there, by this piece. */
static void arrive(struct paging *p, uint64_t unit, const struct link_piece *piece)
{
	struct flight *f = &p->flight;
	struct wait wait;

	if (end_wait(f, unit, &wait)) {
		uint64_t raised = ps_of(p, wait.fault.raised), ps = piece->landed;
		uint64_t copy = (ps - piece->begin) / PS_NS;

		fault_over(p, &wait.fault, &wait.cost, ps > raised ? (ps - raised) / PS_NS : 0,
			   copy);
	}
	if (!f->events)
		return;
	if (f->events->arrived(f->ctx, unit, p->spec.page_bytes, f->now))
		paging_await(p, unit);
	else
		for (uint64_t at = unit; at < unit + p->spec.page_bytes; at += PAGE_BYTES)
			page_set_unmark(&p->space->pages, at, PAGE_FRESH);
}

static void land_pages(struct paging *p, uint64_t addr, uint64_t end,
		       const struct link_piece *piece)
{
	struct page_set *pages = &p->space->pages;
	uint64_t unit;

	for (; addr < end; addr += PAGE_BYTES) {
		/* Requests that wait to write it hear of it when the handler is done. */
		if (pages->collapsing)
			page_set_unmark(pages, addr, PAGE_COLLAPSING);
		if (!page_set_test(pages, addr, PAGE_FLYING))
			continue;
		page_set_unmark(pages, addr, PAGE_FLYING);
		p->flight.pages--;
		unit = unit_of(p, addr);
		if (!unit_any(p, unit, PAGE_FLYING))
			arrive(p, unit, piece);
	}
}

/* The same of pages of one VA block that all fly, with nobody waiting. False: not so. */
static bool land_run(struct paging *p, uint64_t addr, uint64_t end)
{
	unsigned int from = page_of(addr), n = (unsigned int)((end - addr) / PAGE_BYTES);
	struct page_set *pages = &p->space->pages;
	struct flight *f = &p->flight;
	struct page_block *block = page_set_look(pages, addr);

	if (!block || pages->collapsing || f->awaited.count ||
	    p->spec.page_bytes != PAGE_BYTES ||
	    (f->events && (!f->events->awaits || f->events->awaits(f->ctx))))
		return false;
	for (unsigned int w = from / 64; w <= (from + n - 1) / 64; w++)
		if (~block->bits[PAGE_FLYING][w] & page_run_word(from, n, w))
			return false;
	for (unsigned int w = from / 64; w <= (from + n - 1) / 64; w++) {
		block->bits[PAGE_FLYING][w] &= ~page_run_word(from, n, w);
		if (f->events)
			block->bits[PAGE_FRESH][w] &= ~page_run_word(from, n, w);
	}
	f->pages -= n;
	if (f->events)
		f->events->arrived(f->ctx, addr, end - addr, f->now);
	return true;
}

static void land(struct paging *p, const struct link_piece *piece)
{
	uint64_t end = piece->addr + piece->pages * PAGE_BYTES, next;

	for (uint64_t addr = piece->addr; addr < end; addr = next) {
		next = MIN(end, ((addr >> BLOCK_SHIFT) + 1) << BLOCK_SHIFT);
		if (!land_run(p, addr, next))
			land_pages(p, addr, next, piece);
	}
}

static void begun(void *ctx, const struct link_piece *piece)
{
	struct paging *p = ctx;
	struct flight *f = &p->flight;

	if (f->events && f->events->transferred)
		f->events->transferred(f->ctx, &(struct paging_transfer){
			.begin = cycle_of(p, piece->begin), .end = cycle_of(p, piece->end),
			.addr = piece->addr, .bytes = piece->pages * PAGE_BYTES,
			.batch = batch_of(piece->tag), .d2h = piece->dir == LINK_D2H,
			.kernel = kernel_of(piece->tag),
			.prefetch = piece->class == LINK_PREFETCH,
		});
}

static void count_piece(struct paging *p, const struct link_piece *piece)
{
	const struct link_stats *stats = link_stats(p->flight.link);
	uint64_t ns = (piece->end - piece->begin) / PS_NS;

	p->stats.link.h2d_busy_ns = stats->busy[LINK_H2D] / PS_NS;
	p->stats.link.d2h_busy_ns = stats->busy[LINK_D2H] / PS_NS;
	p->stats.link.h2d_transfers = stats->transfers[LINK_H2D];
	p->stats.link.d2h_transfers = stats->transfers[LINK_D2H];
	if (piece->tag == PAGING_NO_BATCH)
		return;
	*(piece->dir == LINK_H2D ? &p->stats.stages.copy : &p->stats.stages.evict) += ns;
	p->stats.stages.total += ns;
}

static void landed(void *ctx, const struct link_piece *piece)
{
	struct paging *p = ctx;

	if (p->flight.modelled)
		count_piece(p, piece);
	if (piece->dir == LINK_H2D)
		land(p, piece);
}

/* Frames that nobody has in the books. */
static int64_t idle_frames(const struct paging *p)
{
	struct service *service = p->pool->service;
	int64_t device = (int64_t)service->ops->frames(service) - (int64_t)p->pool->used;

	return MIN(device, (int64_t)p->limit - (int64_t)p->space->pages.count);
}

/*
 * Waiting for frames of another session, which stands still meanwhile, has no end; between
 * sessions frames change hands in no time.
 */
static bool waits_for_ever(const struct link *link)
{
	return link_next(link) == LINK_NEVER && link_waiting(link);
}

static void tell_lost(struct paging *p)
{
	struct flight *f = &p->flight;

	for (unsigned int i = 0; i < f->nlost && f->events; i++)
		f->events->arrived(f->ctx, f->lost[i], PAGE_BYTES, f->now);
	f->nlost = 0;
}

static int run_link(struct paging *p, uint64_t upto)
{
	const struct link_ears ears = { begun, landed, p };
	struct link *link = p->flight.link;
	int rc;

	tell_lost(p);
	rc = link_run(link, upto, idle_frames(p), &ears);
	return rc || !waits_for_ever(link) ? rc : link_run(link, upto, INT64_MAX / 2, &ears);
}

uint64_t paging_next(const struct paging *p)
{
	uint64_t next = link_next(p->flight.link);

	if (p->flight.nlost)
		return p->flight.now;
	return next == LINK_NEVER ? UINT64_MAX : cycle_of(p, next);
}

int paging_advance(struct paging *p, uint64_t now)
{
	p->flight.now = MAX(p->flight.now, now);
	return paging_next(p) == UINT64_MAX ? 0 : run_link(p, ps_of(p, p->flight.now));
}

int flight_land(struct paging *p, uint64_t *end)
{
	uint64_t last = ps_of(p, p->flight.now), next;
	int rc = 0;

	tell_lost(p);

	while (!rc && (next = link_next(p->flight.link)) != LINK_NEVER) {
		last = MAX(last, next);
		rc = run_link(p, next);
	}
	if (end)
		*end = last;
	return rc;
}

void paging_share_link(struct paging *p, const uint64_t took[2], bool busy[2])
{
	link_delay(p->flight.link, LINK_H2D, took[0]);
	link_delay(p->flight.link, LINK_D2H, took[1]);
	busy[0] = link_carries(p->flight.link, LINK_H2D);
	busy[1] = link_carries(p->flight.link, LINK_D2H);
}

void paging_await(struct paging *p, uint64_t addr)
{
	uint64_t unit = unit_of(p, addr);

	for (uint64_t at = unit; at < unit + p->spec.page_bytes; at += PAGE_BYTES)
		if (page_set_test(&p->space->pages, at, PAGE_RESIDENT))
			page_set_mark(&p->space->pages, at, PAGE_FRESH);
}

void paging_abandon(struct paging *p)
{
	page_set_unmark_all(&p->space->pages, PAGE_FRESH);
	u64map_clear(&p->flight.awaited);
	p->flight.nwaits = 0;
	p->flight.idle_wait = 0;
}

int paging_land_all(struct paging *p, struct paging_outcome *outcome)
{
	const struct link_stats *stats = link_stats(p->flight.link);
	uint64_t begin = ps_of(p, p->flight.now), evict = stats->busy[LINK_D2H], end;
	int rc = flight_land(p, &end);
	struct service_cost *cost;

	if (!outcome || !p->flight.modelled)
		return rc;
	cost = &outcome->cost;
	outcome->service_ns = MAX(outcome->service_ns, DIV_ROUND_UP(end - begin, PS_NS));
	cost->evict = (stats->busy[LINK_D2H] - evict) / PS_NS;
	cost->copy = outcome->service_ns - MIN(cost->total + cost->evict, outcome->service_ns);
	cost->total = outcome->service_ns;
	cost->end_to_end = cost->total;
	return rc;
}
