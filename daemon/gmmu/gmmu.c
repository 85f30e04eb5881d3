// SPDX-License-Identifier: GPL-2.0
/*
 * Requests and walks: what happens between a TLB look-up and the moment the
 * page table has answered. Far faults are far.c's. Called by the SMs
 * (look-ups) and by the GPU's loop between two quanta (gmmu_step()).
 *
 * The TLB hits under misses: a miss does not hold up later look-ups, and
 * misses of one SM on one page share a request (HPCA'16 section 3.1, after
 * Pichai et al. and Power et al.).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gmmu/internal.h"

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

static void requests_clear(struct gmmu *g)
{
	for (uint32_t i = 0; i <= g->request_mask; i++)
		g->request_buckets[i] = NONE;
	for (uint32_t i = 0; i < g->nrequests; i++)
		g->requests[i].chain = i + 1 < g->nrequests ? i + 1 : NONE;
	g->free_request = 0;
	g->queue = (struct request_list){ NONE, NONE, 0 };
	g->walk_head = 0;
	g->walk_count = 0;
	g->served_walks = 0;
}

/* Twice as many; requests are known by index, so they may move. */
static int requests_grow(struct gmmu *g)
{
	uint32_t n = 2 * g->nrequests;
	struct request *bigger = realloc(g->requests, n * sizeof(*bigger));

	if (!bigger)
		return -ENOMEM;
	for (uint32_t i = g->nrequests; i < n; i++)
		bigger[i].chain = i + 1 < n ? i + 1 : NONE;
	g->free_request = g->nrequests;
	g->requests = bigger;
	g->nrequests = n;
	return 0;
}

/* NULL: no memory. */
static struct request *request_new(struct gmmu *g, const struct gmmu_waiter *w)
{
	uint32_t *bucket = bucket_of(g, w->sm, w->page);
	struct request *r;
	uint32_t i;

	if (g->free_request == NONE && requests_grow(g))
		return NULL;
	i = g->free_request;
	r = &g->requests[i];
	g->free_request = r->chain;
	*r = (struct request){
		.page = w->page, .sm = w->sm, .warp = w->warp, .next = NONE,
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

void list_push(struct gmmu *g, struct request_list *list, struct request *r)
{
	uint32_t i = (uint32_t)(r - g->requests);

	r->next = NONE;
	if (list->count++)
		g->requests[list->tail].next = i;
	else
		list->head = i;
	list->tail = i;
}

struct request *list_pop(struct gmmu *g, struct request_list *list)
{
	struct request *r;

	if (!list->count)
		return NULL;
	r = &g->requests[list->head];
	list->head = r->next;
	list->count--;
	return r;
}

static void start_walks(struct gmmu *g, uint64_t now)
{
	while (g->queue.count && g->walk_count < g->walkers) {
		struct request *r = list_pop(g, &g->queue);
		uint32_t slot = (g->walk_head + g->walk_count++) % g->walkers;

		r->state = REQUEST_WALKING;
		g->walks[slot].done = now + g->walk_latency;
		g->walks[slot].request = (uint32_t)(r - g->requests);
		g->stats.walks++;
	}
}

void request_walk(struct gmmu *g, struct request *r, enum request_origin origin,
		  uint64_t now)
{
	r->state = REQUEST_QUEUED;
	r->origin = origin;
	if (origin == ORIGIN_SERVED)
		g->served_walks++;
	list_push(g, &g->queue, r);
	start_walks(g, now);
}

void *gmmu_translate(struct gmmu *g, uint64_t page, struct gmmu_waiter *w,
		     uint64_t now)
{
	struct sm_state *s = &g->sm[w->sm];
	void *host = g->ideal ? flat_translate(g, s, page) : tlb_lookup(&s->tlb, page);

	if (host) {
		s->hits++;
		return host;
	}
	s->misses++;
	w->next = NULL;
	w->page = page;
	w->cycle = now;
	w->told = false;
	if (s->out)
		s->out_last->next = w;
	else
		s->out = w;
	s->out_last = w;
	return NULL;
}

/* A look-up that missed comes out of its outbox. */
static int look_up(struct gmmu *g, struct gmmu_waiter *w, uint64_t now)
{
	struct request *r = request_find(g, w->sm, w->page);

	w->next = NULL;
	if (r) {
		r->last->next = w;
		r->last = w;
		r->access = MAX(r->access, w->access);
		if (r->state == REQUEST_TRACKED || r->state == REQUEST_DROPPED)
			far_tell(g, w, now);
		return 0;
	}
	r = request_new(g, w);
	if (!r)
		return -ENOMEM;
	r->first = w;
	r->last = w;
	r->access = w->access;
	request_walk(g, r, ORIGIN_MISS, w->cycle);
	return 0;
}

static void walk_end(struct gmmu *g, struct request *r, uint64_t now)
{
	void *host = g->ops->walk(g->ctx, r->page);
	struct gmmu_waiter *w, *next;
	uint64_t page = r->page;
	unsigned int sm = r->sm;
	bool write = r->access >= ACCESS_WRITE;
	uint8_t origin = r->origin;

	if (origin == ORIGIN_SERVED)
		g->served_walks--;
	if (origin == ORIGIN_RESENT)
		g->sm[sm].resent--;
	if (!host) {
		far_fault(g, r, now);
	} else {
		tlb_insert(&g->sm[sm].tlb, page, host);
		g->ops->touch(g->ctx, page, write);
		w = r->first;
		request_free(g, r);
		for (; w; w = next) {
			next = w->next;
			g->ops->translated(g->ctx, w, page, host, now);
		}
	}
	if (origin == ORIGIN_RESENT)
		far_resend(g, sm, now);
}

/* The oldest look-up of all outboxes; of one cycle, the lowest SM's. */
static struct gmmu_waiter *oldest_lookup(struct gmmu *g, uint64_t now, struct sm_state **of)
{
	struct gmmu_waiter *first = NULL;

	for (unsigned int i = 0; i < g->sms; i++) {
		struct gmmu_waiter *w = g->sm[i].out;

		if (w && w->cycle <= now && (!first || w->cycle < first->cycle)) {
			first = w;
			*of = &g->sm[i];
		}
	}
	return first;
}

static void end_walks(struct gmmu *g, uint64_t upto)
{
	while (g->walk_count && g->walks[g->walk_head].done <= upto) {
		uint64_t done = g->walks[g->walk_head].done;
		uint32_t r = g->walks[g->walk_head].request;

		g->walk_head = (g->walk_head + 1) % g->walkers;
		g->walk_count--;
		walk_end(g, &g->requests[r], done);
		start_walks(g, done);
	}
}

int gmmu_step(struct gmmu *g, uint64_t now)
{
	struct gmmu_waiter *w;
	struct sm_state *s;
	int ret = 0;

	/* In one cycle walks end first, as the TLB is written before it is read. */
	while (!ret && (w = oldest_lookup(g, now, &s))) {
		s->out = w->next;
		if (g->ideal) {
			flat_walk(g, w, now);
			continue;
		}
		end_walks(g, w->cycle);
		ret = look_up(g, w, now);
	}
	end_walks(g, now);
	return ret;
}

uint64_t gmmu_next(const struct gmmu *g)
{
	return g->walk_count ? g->walks[g->walk_head].done : NEVER;
}

bool gmmu_replaying(const struct gmmu *g)
{
	return g->served_walks != 0;
}

void gmmu_invalidate(struct gmmu *g, uint64_t start, uint64_t end)
{
	for (unsigned int i = 0; i < g->sms; i++)
		tlb_invalidate(&g->sm[i].tlb, start, end);
	flat_invalidate(g, start, end);
}

void gmmu_cancel(struct gmmu *g)
{
	for (unsigned int i = 0; i < g->sms; i++)
		g->sm[i].out = NULL;
	requests_clear(g);
	far_cancel(g);
}

const struct gmmu_stats *gmmu_stats(struct gmmu *g)
{
	g->stats.tlb_hits = 0;
	g->stats.tlb_misses = 0;
	for (unsigned int i = 0; i < g->sms; i++) {
		g->stats.tlb_hits += g->sm[i].hits;
		g->stats.tlb_misses += g->sm[i].misses;
	}
	return &g->stats;
}

bool gmmu_tlb_holds(const struct gmmu *g, unsigned int sm, uint64_t page)
{
	return tlb_holds(&g->sm[sm].tlb, page);
}

int gmmu_create(const struct gpu_spec *spec, uint32_t va_space,
		const struct gmmu_ops *ops, void *ctx, struct gmmu **out)
{
	struct gmmu *g = calloc(1, sizeof(*g));
	uint32_t buckets = 64;
	int ret = 0;

	if (!g)
		return -ENOMEM;
	g->ops = ops;
	g->ctx = ctx;
	g->va_space = va_space;
	g->sms = spec->sms;
	g->walk_latency = spec->walk_latency;
	g->walkers = spec->walkers;
	g->far_mshrs = spec->far_mshrs;
	g->ideal = !spec->paging;
	/* As many as when every warp waits for one instruction, with a page a lane. */
	g->nrequests = spec->sms * spec->warps * WARP_LANES;
	while (buckets < g->nrequests)
		buckets *= 2;
	g->request_mask = buckets - 1;
	g->sm = aligned_alloc(64, g->sms * sizeof(*g->sm));
	g->requests = malloc(g->nrequests * sizeof(*g->requests));
	g->request_buckets = malloc(buckets * sizeof(*g->request_buckets));
	g->walks = calloc(g->walkers, sizeof(*g->walks));
	if (!g->sm || !g->requests || !g->request_buckets || !g->walks)
		ret = -ENOMEM;
	if (g->sm)
		memset(g->sm, 0, g->sms * sizeof(*g->sm));
	for (unsigned int i = 0; !ret && i < g->sms; i++)
		ret = tlb_init(&g->sm[i].tlb, spec->tlb_entries);
	if (!ret)
		ret = far_init(g, spec);
	if (!ret && g->ideal)
		ret = flat_init(g);
	if (ret) {
		gmmu_destroy(g);
		return ret;
	}
	gmmu_cancel(g);
	*out = g;
	return 0;
}

void gmmu_destroy(struct gmmu *g)
{
	if (!g)
		return;
	for (unsigned int i = 0; g->sm && i < g->sms; i++)
		tlb_fini(&g->sm[i].tlb);
	far_fini(g);
	flat_fini(g);
	free(g->sm);
	free(g->requests);
	free(g->request_buckets);
	free(g->walks);
	free(g);
}
