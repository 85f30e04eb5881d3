// SPDX-License-Identifier: GPL-2.0
/*
 * Explicit prefetches, to device memory and home: a range, in parts, each a batch
 * without a fault. gpu/ calls it for mem_prefetch.
 */
#include "paging/handler.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* VA blocks that are asked for at once: as many pages as there may be victims. */
#define PREFETCH_BLOCKS	4u
/*
 * As many, at most, where the service is measured and none has to go: what begins and
 * ends a part, while the copy engines have nothing to do, is to be a small share of it.
 */
#define MEASURED_BLOCKS	32u

/* A part of an explicit prefetch. */
static int decide_range(void *ctx, struct service_batch *batch)
{
	struct paging *p = ctx;

	plan_begin(p);
	plan_wanted(p);
	return 0;
}

/* A part of a range that goes home. */
static int decide_home(void *ctx, struct service_batch *batch)
{
	struct paging *p = ctx;

	plan_begin(p);
	plan_home(p);
	return 0;
}

/* The first page of word w that has a bit. */
static uint64_t page_at(unsigned int w, uint64_t bits)
{
	return w * 64 + (unsigned int)__builtin_ctzll(bits);
}

/* Adds the pages of word w, in the VA block at base, whose bit is set. */
static void want_word(struct paging *p, uint64_t base, unsigned int w, uint64_t bits)
{
	uint64_t *wanted = &p->wanted[p->nwanted];

	p->nwanted += (unsigned int)__builtin_popcountll(bits);
	if (bits == ~0ull)
		for (unsigned int i = 0; i < 64; i++)
			wanted[i] = base + (w * 64 + i) * PAGE_BYTES;
	else
		for (; bits; bits &= bits - 1)
			*wanted++ = base + page_at(w, bits) * PAGE_BYTES;
}

/* Adds the pages of [start, end), which is in one VA block. */
static void want_block(struct paging *p, uint64_t start, uint64_t end, bool home)
{
	unsigned int first = page_of(start), n = (unsigned int)((end - start) / PAGE_BYTES);
	uint64_t here[BITMAP_WORDS(BLOCK_PAGES)], base = start >> BLOCK_SHIFT << BLOCK_SHIFT;
	const struct page_block *block = page_set_look(&p->space->pages, start);
	uint64_t before = 0;

	book_present(p, base, here);
	for (unsigned int w = 0; w < BITMAP_WORDS(BLOCK_PAGES); w++) {
		uint64_t run = page_run_word(first, n, w), known, wanted;

		known = block ? run & block->bits[PAGE_RESIDENT][w] & ~here[w] : 0;
		for (; known; known &= known - 1)
			space_drop(p->pool, p->space, base + page_at(w, known) * PAGE_BYTES);
		wanted = run & (home ? here[w] : ~here[w]);
		/* A duplicate is at home already; what still comes, for others, stays. */
		if (home && block)
			wanted &= ~(block->bits[PAGE_DUPLICATE][w] | block->bits[PAGE_FLYING][w]);
		want_word(p, base, w, wanted);
		p->nruns += (unsigned int)__builtin_popcountll(wanted & ~(wanted << 1 | before));
		before = wanted >> 63;
	}
}

/* Would another VA block be too much for a plan? Of its pages every other one may be a run. */
static bool part_full(const struct paging *p)
{
	return p->nruns > PLAN_MAX - BLOCK_PAGES / 2;
}

_Static_assert(PREFETCH_BLOCKS * BLOCK_PAGES <= VICTIMS_MAX, "a part can have victims");
_Static_assert(MEASURED_BLOCKS * BLOCK_PAGES <= PART_MAX, "a part fits wanted[]");
_Static_assert(PREFETCH_BLOCKS * BLOCK_PAGES <= PLAN_MAX, "each page of a part is a run");

/* Pages that cannot be mapped where they go: they go without. */
static int move_rest(struct paging *p, struct pass *pass, struct paging_outcome *outcome)
{
	unsigned int n = p->nwanted;

	p->nwanted = 0;
	for (unsigned int i = 0; i < n; i++)
		if (book_resident(p, p->space->va_space, p->wanted[i]))
			p->wanted[p->nwanted++] = p->wanted[i];
	return serve_pass(p, 0, decide_home, pass, outcome);
}

/*
 * Moves what is wanted. What is decided next is on the way while this moves: the handler's time
 * adds up, and the link has its own. 0, or < 0; 1: there is no use in going on.
 */
static int move_part(struct paging *p, uint64_t after_ns, bool home,
		     struct paging_outcome *outcome)
{
	struct service_cost before = outcome->cost, part;
	struct pass pass = { .home = home };
	int rc;

	if (!p->nwanted)
		return 0;
	outcome->batch = p->flight.batch++;
	rc = serve_pass(p, 0, home ? decide_home : decide_range, &pass, outcome);
	if (!rc && home && pass.full)
		rc = move_rest(p, &pass, outcome);
	if (rc)
		return rc;
	part = (struct service_cost){
		.evict = outcome->cost.evict - before.evict,
		.copy = outcome->cost.copy - before.copy,
	};
	rc = flight_depart(p, after_ns + outcome->cost.total, &part, PAGING_NO_BATCH);
	/*
	 * Device memory is full of the range itself: the rest has no room. Nor is it looked for
	 * past the end of managed memory, up to 2^64.
	 */
	if (!rc && !home && (p->nplaced < p->nwanted || outcome->unmanaged))
		rc = 1;
	p->nwanted = 0;
	p->nruns = 0;
	return rc;
}

/*
 * How many VA blocks are a part at most. Where neighbours may go to different places a part is
 * small, so that each of its pages may be a run; so is one that others must go for.
 */
static unsigned int part_blocks(struct paging *p, bool home)
{
	uint64_t free;

	if (p->flight.modelled || p->known.nadvice || p->space->pages.duplicates ||
	    p->space->pages.remote)
		return PREFETCH_BLOCKS;
	if (home)
		return MEASURED_BLOCKS;
	/* No plan is being made. */
	plan_begin(p);
	free = plan_free_frames(p) / BLOCK_PAGES;
	return (unsigned int)MIN(MAX(free, PREFETCH_BLOCKS), MEASURED_BLOCKS);
}

/* Here: part by part, up to where there is no room or no memory. */
static int move_here(struct paging *p, uint64_t addr, uint64_t end,
		     struct paging_outcome *outcome)
{
	int rc = 0;

	while (!rc && addr < end) {
		unsigned int blocks = part_blocks(p, false);
		uint64_t part = (uint64_t)blocks << BLOCK_SHIFT, next;
		uint64_t from = blocks == PREFETCH_BLOCKS ? addr / part * part :
							    addr >> BLOCK_SHIFT << BLOCK_SHIFT;
		uint64_t part_end = MIN(end, from + part);

		for (; addr < part_end && !part_full(p); addr = next) {
			next = MIN(part_end, ((addr >> BLOCK_SHIFT) + 1) << BLOCK_SHIFT);
			want_block(p, addr, next, false);
		}
		rc = move_part(p, 0, false, outcome);
	}
	return rc;
}

static int compare_addresses(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/*
 * Home: of the VA blocks that were ever here, by address. A range may be as large as the
 * address space; they are not more than the memory that was used.
 */
static int move_home(struct paging *p, uint64_t addr, uint64_t end, uint64_t after_ns,
		     struct paging_outcome *outcome)
{
	const struct page_set *pages = &p->space->pages;
	const unsigned int part = part_blocks(p, true);
	uint64_t *blocks = malloc(MAX(pages->nblocks, 1u) * sizeof(*blocks));
	size_t n = 0, first = 0;
	int rc = 0;

	if (!blocks)
		return -ENOMEM;
	for (size_t i = 0; i < pages->nblocks; i++) {
		uint64_t start = pages->blocks[i].addr;

		if (start < end && start + (1ull << BLOCK_SHIFT) > addr)
			blocks[n++] = start;
	}
	qsort(blocks, n, sizeof(*blocks), compare_addresses);
	for (size_t i = 0; !rc && i < n; i++) {
		want_block(p, MAX(addr, blocks[i]), MIN(end, blocks[i] + (1ull << BLOCK_SHIFT)),
			   true);
		if (i + 1 - first < part && i + 1 < n && !part_full(p))
			continue;
		rc = move_part(p, after_ns, true, outcome);
		first = i + 1;
	}
	free(blocks);
	return rc;
}

/* lands: nothing else happens until all of it has. */
static int move_range(struct paging *p, uint64_t addr, uint64_t bytes, uint64_t now, bool home,
		      bool lands, struct paging_outcome *outcome)
{
	const uint64_t part = (uint64_t)MEASURED_BLOCKS << BLOCK_SHIFT;
	uint64_t begin, end, behind;
	int rc;

	memset(outcome, 0, sizeof(*outcome));
	if (bytes == 0)
		return 0;
	if (addr + bytes - 1 < addr || addr + bytes - 1 > UINT64_MAX - part)
		return -EINVAL;
	behind = (addr + bytes + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1);
	addr &= ~(PAGE_BYTES - 1);
	p->flight.now = MAX(p->flight.now, now);
	begin = flight_time(p);
	end = begin;
	/* A page that is on its way can go home only after it has come. */
	rc = home && lands ? flight_land(p, &end) : 0;
	p->nwanted = 0;
	p->nruns = 0;
	p->remote_full = false;
	p->keep_start = addr;
	p->keep_end = behind;
	if (!rc && home)
		rc = move_home(p, addr, behind, DIV_ROUND_UP(end - begin, PS_NS), outcome);
	else if (!rc)
		rc = move_here(p, addr, behind, outcome);
	p->keep_start = 0;
	p->keep_end = 0;
	p->nwanted = 0;
	if (rc < 0) {
		flight_forget(p);
		return rc;
	}
	if (!lands) {
		outcome->service_ns = outcome->cost.total;
		return 0;
	}
	rc = flight_land(p, &end);
	if (p->flight.modelled)
		outcome->service_ns = DIV_ROUND_UP(end - begin, PS_NS);
	return rc;
}

int paging_prefetch(struct paging *p, uint64_t addr, uint64_t bytes, uint64_t now,
		    struct paging_outcome *outcome)
{
	return move_range(p, addr, bytes, now, false, true, outcome);
}

int paging_prefetch_host(struct paging *p, uint64_t addr, uint64_t bytes, uint64_t now,
			 struct paging_outcome *outcome)
{
	return move_range(p, addr, bytes, now, true, true, outcome);
}

int paging_depart(struct paging *p, uint64_t addr, uint64_t bytes, bool home, uint64_t now,
		  struct paging_outcome *outcome)
{
	return move_range(p, addr, bytes, now, home, false, outcome);
}

bool paging_travels(const struct paging *p, uint64_t addr, uint64_t bytes, bool home)
{
	/* A page may wait for a frame of a session that stands still. It comes when that session goes on. */
	return paging_next(p) != UINT64_MAX &&
	       link_holds(p->flight.link, home ? LINK_D2H : LINK_H2D, p->space->va_space, addr,
			  addr + bytes);
}

/* --- access counters -------------------------------------------------------------- */

static int decide_pull(void *ctx, struct service_batch *batch)
{
	struct paging *p = ctx;

	plan_begin(p);
	plan_wanted(p);
	p->demand_to = p->plan.count;
	p->prefetch_from = p->plan.count;
	return 0;
}

int paging_pull(struct paging *p, uint64_t addr, uint64_t bytes, uint64_t now,
		struct paging_outcome *outcome)
{
	struct pass pass = { .quiet = true };
	uint64_t before = p->stats.h2d_bytes;
	int rc;

	memset(outcome, 0, sizeof(*outcome));
	p->flight.now = MAX(p->flight.now, now);
	p->nwanted = 0;
	p->remote_full = false;
	for (uint64_t at = addr; at < addr + bytes; at += PAGE_BYTES)
		if (page_set_test(&p->space->pages, at, PAGE_REMOTE) &&
		    !(advice_of(p, at) & ADVICE_PREFER_HOST))
			p->wanted[p->nwanted++] = at;
	if (!p->nwanted)
		return 0;
	outcome->batch = p->flight.batch++;
	p->keep_start = addr;
	p->keep_end = addr + bytes;
	rc = serve_pass(p, 0, decide_pull, &pass, outcome);
	p->keep_start = 0;
	p->keep_end = 0;
	p->nwanted = 0;
	/* The handler's time; a service that measures has said it. */
	if (p->flight.modelled) {
		outcome->cost.fetched_to_committed += p->spec.service_ns;
		outcome->cost.total += p->spec.service_ns;
		outcome->service_ns = outcome->cost.total;
	}
	p->stats.pulls++;
	p->stats.pulled_pages += (p->stats.h2d_bytes - before) / PAGE_BYTES;
	p->stats.busy_ns += outcome->service_ns;
	if (!rc)
		rc = flight_depart(p, outcome->service_ns, &outcome->cost,
				   flight_tag(outcome->batch, KERNEL_SLOTS));
	if (rc)
		flight_forget(p);
	return rc;
}
