// SPDX-License-Identifier: GPL-2.0
/*
 * Requests: one page that one SM misses on, and all who wait for it. Misses of one SM on one
 * page share a request (HPCA'16 section 3.1, after Pichai et al. and Power et al.); it is
 * over when every waiter was given the page. Called by all of the room.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "gmmu/state.h"

/* --- which there are --------------------------------------------------------------- */

static uint32_t *bucket_of(struct gmmu *g, unsigned int sm, uint64_t page)
{
	return &g->request_buckets[(page_hash(page) + sm * 0x9e3779b1u) &
				   g->request_mask];
}

struct request *request_find(struct gmmu *g, unsigned int sm, uint64_t page)
{
	uint32_t i = *bucket_of(g, sm, page);

	while (i != NONE && (g->requests[i].page != page || g->requests[i].sm != sm))
		i = g->requests[i].chain;
	return i == NONE ? NULL : &g->requests[i];
}

int requests_init(struct gmmu *g, const struct gpu_spec *spec)
{
	uint32_t buckets = 64;

	/* As many as when every warp waits for one instruction, with a page a lane. */
	g->nrequests = (uint32_t)(spec->sms * spec->warps * WARP_LANES);
	while (buckets < g->nrequests)
		buckets *= 2;
	g->request_mask = buckets - 1;
	g->requests = malloc(g->nrequests * sizeof(*g->requests));
	g->request_buckets = malloc(buckets * sizeof(*g->request_buckets));
	return g->requests && g->request_buckets ? 0 : -ENOMEM;
}

void requests_fini(struct gmmu *g)
{
	free(g->requests);
	free(g->request_buckets);
}

void requests_clear(struct gmmu *g)
{
	for (uint32_t i = 0; i <= g->request_mask; i++)
		g->request_buckets[i] = NONE;
	for (uint32_t i = 0; i < g->nrequests; i++)
		g->requests[i].chain = i + 1 < g->nrequests ? i + 1 : NONE;
	g->free_request = 0;
}

/* Twice as many; requests are known by index, so they may move. */
static int requests_grow(struct gmmu *g)
{
	uint32_t first = g->nrequests;

	if (array_grow(g->requests, g->nrequests, first))
		return -ENOMEM;
	for (uint32_t i = first; i < g->nrequests; i++)
		g->requests[i].chain = i + 1 < g->nrequests ? i + 1 : NONE;
	g->free_request = first;
	return 0;
}

/* NULL: no memory. */
static struct request *request_new(struct gmmu *g, const struct gmmu_waiter *w)
{
	uint64_t page = page_of(g, w->page);
	uint32_t *bucket = bucket_of(g, w->sm, page);
	struct request *r;
	uint32_t i;

	if (g->free_request == NONE && requests_grow(g))
		return NULL;
	i = g->free_request;
	r = &g->requests[i];
	g->free_request = r->chain;
	*r = (struct request){
		.page = page, .sm = w->sm, .warp = w->warp, .kernel = w->kernel, .next = NONE,
		.chain = *bucket,
	};
	*bucket = i;
	return r;
}

static void request_free(struct gmmu *g, struct request *r)
{
	uint32_t i = (uint32_t)(r - g->requests);
	uint32_t *link = bucket_of(g, r->sm, r->page);

	while (*link != i)
		link = &g->requests[*link].chain;
	*link = r->chain;
	r->chain = g->free_request;
	g->free_request = i;
}

/* --- lists of them ------------------------------------------------------------------ */

void list_push(struct gmmu *g, struct request_list *list, struct request *r)
{
	uint32_t i = (uint32_t)(r - g->requests);

	r->next = NONE;
	r->prev = list->count ? list->tail : NONE;
	if (list->count++)
		g->requests[list->tail].next = i;
	else
		list->head = i;
	list->tail = i;
}

void list_push_front(struct gmmu *g, struct request_list *list, struct request *r)
{
	uint32_t i = (uint32_t)(r - g->requests);

	r->next = list->count ? list->head : NONE;
	r->prev = NONE;
	if (list->count++)
		g->requests[list->head].prev = i;
	else
		list->tail = i;
	list->head = i;
}

void list_remove(struct gmmu *g, struct request_list *list, struct request *r)
{
	if (r->prev == NONE)
		list->head = r->next;
	else
		g->requests[r->prev].next = r->next;
	if (r->next == NONE)
		list->tail = r->prev;
	else
		g->requests[r->next].prev = r->prev;
	list->count--;
}

struct request *list_pop(struct gmmu *g, struct request_list *list)
{
	struct request *r;

	if (!list->count)
		return NULL;
	r = &g->requests[list->head];
	list_remove(g, list, r);
	return r;
}

/* --- from the miss to the page --------------------------------------------------------- */

void request_walk(struct gmmu *g, struct request *r, uint64_t now)
{
	r->state = REQUEST_QUEUED;
	if (g->has_l2tlb)
		l2tlb_begin(g, r, now);
	else
		walker_queue(g, r, now);
}

/*
 * The waiters whose part of the page the SM's TLB has now, in order; the others stay. Who
 * waits behind a write that is not allowed stays as well: accesses to a page are done in
 * the order in which they came. *denied: there is such a write.
 */
static struct gmmu_waiter *take_ready(struct gmmu *g, struct request *r, bool *denied)
{
	struct tlb *tlb = &g->sm[r->sm].tlb;
	struct gmmu_waiter *ready = NULL, **end = &ready, *w = r->first, *next;

	*denied = false;
	r->first = NULL;
	for (; w; w = next) {
		void *host = tlb_peek(tlb, w->page);

		next = w->next;
		w->next = NULL;
		*denied |= host && !gmmu_allows(host, w->access);
		if (host && !*denied) {
			*end = w;
			end = &w->next;
			continue;
		}
		if (r->first)
			r->last->next = w;
		else
			r->first = w;
		r->last = w;
	}
	return ready;
}

static void give_back(struct gmmu *g, struct gmmu_waiter *w, uint8_t access, uint64_t now)
{
	struct gmmu_waiter *next;
	uint64_t touched = ~0ull;

	for (; w; w = next) {
		struct sm_state *s = &g->sm[w->sm];
		uint64_t page = w->page;
		void *host = tlb_peek(&s->tlb, page);

		next = w->next;
		if (page != touched)
			g->ops->touch(g->ctx, page, access >= ACCESS_WRITE);
		touched = page;
		far_over(g, w, now);
		s->ops->translated(s->ctx, w, page, host, now);
	}
}

/* Fills the SM's TLB from the page table or the shared TLB. False: they have no such page. */
static bool fill(struct gmmu *g, const struct request *r, bool walked, uint64_t now)
{
	struct sm_state *s = &g->sm[r->sm];
	bool any = false;

	for (uint32_t i = 0; i < g->sectors; i++) {
		uint64_t page = r->page + i * PAGE_BYTES;
		void *host = walked ? g->ops->walk(g->ctx, page) : tlb_peek(&g->l2tlb, page);
		uint32_t entry;

		if (!host)
			continue;
		any = true;
		entry = tlb_insert(&s->tlb, page, host);
		/* request_end() tells it. */
		if (g->record)
			s->touches.said[entry] = now;
		if (walked && g->has_l2tlb)
			tlb_insert(&g->l2tlb, page, host);
	}
	return any;
}

bool request_end(struct gmmu *g, struct request *r, bool walked, uint64_t now)
{
	struct sm_state *s = &g->sm[r->sm];
	unsigned int sm = r->sm;
	uint8_t access = r->access;
	struct gmmu_waiter *ready = NULL;
	bool present, denied = false, resent = r->resent;
	uint64_t page = r->page;

	s->resent -= resent;
	r->resent = false;
	if (s->stuck && s->stuck_page != r->page) {
		block_hold(g, r, now);
		return false;
	}
	present = fill(g, r, walked, now);
	if (present)
		ready = take_ready(g, r, &denied);
	if (r->first) {
		far_fault(g, r, now);
	} else {
		request_free(g, r);
		if (s->stuck)
			block_end(g, sm, now);
		/* It came while it walked: the MSHR that it was to get is another's. */
		else if (resent)
			far_resend(g, sm, now);
	}
	give_back(g, ready, access, now);
	/* Later reads wait behind the write, too. */
	if (denied)
		tlb_remove(&s->tlb, page);
	return present;
}

void look_up(struct gmmu *g, struct gmmu_waiter *w, uint64_t now)
{
	struct request *r = request_find(g, w->sm, page_of(g, w->page));

	w->next = NULL;
	if (r) {
		r->last->next = w;
		r->last = w;
		r->access = MAX(r->access, w->access);
		if (r->state == REQUEST_TRACKED || r->state == REQUEST_DROPPED)
			far_tell(g, w, now);
		return;
	}
	r = request_new(g, w);
	if (!r) {
		g->error = -ENOMEM;
		return;
	}
	r->first = w;
	r->last = w;
	r->access = w->access;
	request_walk(g, r, now);
}
