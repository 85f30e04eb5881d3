// SPDX-License-Identifier: GPL-2.0
/*
 * Far faults: MSHRs, NACK and replay, and the producer's side of the fault
 * buffer. HPCA'16 section 3: an SM may have far_mshrs far faults outstanding; a page
 * that is another SM's already is tracked there and costs nothing ("requests for which it
 * has not initiated the SW page faulting process nor is tracking" are to be sent again).
 * A request beyond that is dropped, and its TLB, which counts, sends it again when one of
 * its pending far faults was resolved: all that were dropped, oldest first. Those whose page has
 * come meanwhile are served; the first that are still far take the MSHRs that are free, the
 * others stay dropped. In hardware these would walk as well, to be refused again; here they do
 * not, since a TLB has a few requests outstanding, where here every access that waits
 * is one, and their walks would hold up all others.
 *
 * Why nothing is lost: a request is dropped only while its SM's MSHRs or the buffer are
 * full, or promised to one that walks. So its SM has a far fault pending, and its notice will come;
 * or records of others are in the buffer: an SM with none pending hears of every notice; or the
 * one that walks ends, and either has a far fault pending or lets the next one go.
 *
 * An SM that blocks (block.c) has one far fault outstanding, whatever far_mshrs says.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "gmmu/state.h"

/* --- the fault buffer -------------------------------------------------------------- */

/* A record that died keeps its place until the place is needed. */
static void squeeze(struct gmmu *g)
{
	uint64_t to = g->get;

	for (uint64_t from = g->get; from != g->put; from++) {
		uint32_t i = g->record_mshr[from % g->buffer_entries];

		if (i == NONE)
			continue;
		g->buffer[to % g->buffer_entries] = g->buffer[from % g->buffer_entries];
		g->record_mshr[to % g->buffer_entries] = i;
		g->mshrs[i].record = to++;
	}
	g->put = to;
}

static void record_push(struct gmmu *g, uint32_t i, const struct request *r, uint64_t now)
{
	if (g->put - g->get == g->buffer_entries)
		squeeze(g);
	g->mshrs[i].record = g->put;
	g->record_mshr[g->put % g->buffer_entries] = i;
	g->buffer[g->put++ % g->buffer_entries] = (struct fault){
		.addr = r->first->page, .cycle = now, .va_space = g->va_space,
		.sm = r->sm, .warp = r->warp, .access = r->access, .merged = 1,
		.kernel = r->kernel,
	};
	g->records++;
	g->stats.faults++;
}

static void record_kill(struct gmmu *g, uint64_t place)
{
	g->record_mshr[place % g->buffer_entries] = NONE;
	g->records--;
}

unsigned int gmmu_faults(const struct gmmu *g)
{
	return g->records;
}

/* --- MSHRs ---------------------------------------------------------------------------- */

static uint32_t *mshr_bucket(struct gmmu *g, uint64_t page)
{
	return &g->mshr_buckets[page_hash(page) & g->mshr_mask];
}

static uint32_t mshr_find(struct gmmu *g, uint64_t page)
{
	uint32_t i = *mshr_bucket(g, page);

	while (i != NONE && g->mshrs[i].page != page)
		i = g->mshrs[i].chain;
	return i;
}

static bool mshrs_grow(struct gmmu *g)
{
	uint32_t first = g->nmshrs;

	if (array_grow(g->mshrs, g->nmshrs, first))
		return false;
	for (uint32_t i = first; i < g->nmshrs; i++)
		g->mshrs[i].chain = i + 1 < g->nmshrs ? i + 1 : NONE;
	g->free_mshr = first;
	return true;
}

/* The page came, or is a far fault now: who dropped it has something to do. */
static void tell_news(struct gmmu *g, uint64_t page)
{
	for (unsigned int sm = 0; sm < g->sms; sm++) {
		struct sm_state *s = &g->sm[sm];
		struct request *r = s->dropped.count ? request_find(g, sm, page) : NULL;

		if (!r || r->state != REQUEST_DROPPED || r->news)
			continue;
		if (s->nnews == NEWS_MAX) {
			s->news_lost = true;
			continue;
		}
		r->news = true;
		s->news[s->nnews++] = (uint32_t)(r - g->requests);
	}
}

/* NONE: the buffer is full (or no memory), so the request has to come again. */
static uint32_t mshr_new(struct gmmu *g, const struct request *r, uint64_t now)
{
	uint32_t *bucket = mshr_bucket(g, r->page);
	uint32_t i;

	if (g->records == g->buffer_entries)
		return NONE;
	if (g->free_mshr == NONE && !mshrs_grow(g))
		return NONE;
	i = g->free_mshr;
	g->free_mshr = g->mshrs[i].chain;
	g->mshrs[i] = (struct mshr){ .page = r->page, .owner = r->sm, .chain = *bucket };
	*bucket = i;
	g->used_mshrs++;
	record_push(g, i, r, now);
	tell_news(g, r->page);
	return i;
}

/* Frees an MSHR; what it tracked walks again: how many. Adds the SMs that are told. */
static unsigned int mshr_release(struct gmmu *g, uint32_t i, uint64_t now, uint64_t *sms)
{
	struct mshr *m = &g->mshrs[i];
	uint32_t *link = mshr_bucket(g, m->page);
	unsigned int walking = 0;

	while (*link != i)
		link = &g->mshrs[*link].chain;
	*link = m->chain;
	if (m->record != NEVER)
		record_kill(g, m->record);
	*sms |= m->sms;
	g->sm[m->owner].pending--;
	for (uint64_t set = m->sms; set; set &= set - 1) {
		unsigned int sm = (unsigned int)__builtin_ctzll(set);
		struct request *r = request_find(g, sm, m->page);

		if (!r || r->state != REQUEST_TRACKED)
			continue;
		request_walk(g, r, now);
		walking++;
	}
	m->chain = g->free_mshr;
	g->free_mshr = i;
	g->used_mshrs--;
	return walking;
}

unsigned int gmmu_mshrs_used(const struct gmmu *g, unsigned int sm)
{
	return g->sm[sm].pending;
}

/* --- the TLB's side --------------------------------------------------------------------- */

static bool sm_has_room(const struct gmmu *g, unsigned int sm)
{
	uint32_t most = g->blocking ? 1 : g->far_mshrs;

	return !most || g->sm[sm].pending < most;
}

static void request_drop(struct gmmu *g, struct request *r)
{
	struct sm_state *s = &g->sm[r->sm];

	r->state = REQUEST_DROPPED;
	r->dropped = ++g->drops;
	r->news = false;
	g->stats.nacks++;
	g->stats.of[r->kernel].nacks++;
	/* A request that blocks its SM goes before those that the SM holds. */
	if (s->stuck)
		list_push_front(g, &s->dropped, r);
	else
		list_push(g, &s->dropped, r);
}

void far_tell(struct gmmu *g, struct gmmu_waiter *w, uint64_t now)
{
	struct sm_state *s = &g->sm[w->sm];

	if (w->told)
		return;
	w->told = true;
	w->cycle = now;
	s->ops->faulted(s->ctx, w, now);
}

void far_over(struct gmmu *g, const struct gmmu_waiter *w, uint64_t now)
{
	if (!w->told)
		return;
	histogram_add(&g->stats.far_wait_cycles, now - w->cycle);
	g->stats.of[w->kernel].far_waits++;
	g->stats.of[w->kernel].far_wait_cycles += now - w->cycle;
}

void far_fault(struct gmmu *g, struct request *r, uint64_t now)
{
	uint64_t bit = 1ull << r->sm;
	uint32_t i = mshr_find(g, r->page);

	if (g->blocking)
		block_begin(g, r->sm, r->page, now);
	if (i == NONE && sm_has_room(g, r->sm)) {
		i = mshr_new(g, r, now);
		g->sm[r->sm].pending += i != NONE;
	}
	if (i == NONE) {
		request_drop(g, r);
	} else {
		g->mshrs[i].sms |= bit;
		r->state = REQUEST_TRACKED;
	}
	/* Some joined while the request walked again: they have not heard yet. */
	for (struct gmmu_waiter *w = r->first; w; w = w->next)
		far_tell(g, w, now);
}

/* Is there an MSHR for a page that nobody has one for yet? */
static bool may_begin(const struct gmmu *g, const struct sm_state *s)
{
	uint32_t most = g->blocking ? 1 : g->far_mshrs;

	return (!most || s->pending + s->resent < most) && g->records < g->buffer_entries;
}

/*
 * Looks at a dropped request: it walks if its page is there or somebody's far fault, or if it may
 * become one. True: it has left the list.
 */
static bool send(struct gmmu *g, struct sm_state *s, struct request *r, bool *far, uint64_t now)
{
	bool begins;

	*far = !gmmu_allows(g->ops->walk(g->ctx, r->first->page), r->first->access);
	begins = *far && mshr_find(g, r->page) == NONE;
	r->news = false;
	if (begins && !may_begin(g, s))
		return false;
	list_remove(g, &s->dropped, r);
	r->resent = begins;
	s->resent += begins;
	request_walk(g, r, now);
	return true;
}

/* All of them, oldest first. */
static void resend_all(struct gmmu *g, struct sm_state *s, uint64_t now)
{
	uint32_t next = s->dropped.head;

	for (uint32_t n = s->dropped.count; n--; ) {
		struct request *r = &g->requests[next];
		bool far;

		next = r->next;
		/* A blocked SM sends nothing but what it is blocked for, which stays the first. */
		if (s->stuck && r->page != s->stuck_page)
			return;
		if (!send(g, s, r, &far, now) && s->stuck)
			return;
		/* In order: the next far fault stops those behind it. */
		if (far && g->blocking)
			return;
	}
}

static int compare_dropped(const void *a, const void *b, void *ctx)
{
	const struct gmmu *g = ctx;
	uint64_t x = g->requests[*(const uint32_t *)a].dropped;
	uint64_t y = g->requests[*(const uint32_t *)b].dropped;

	return (x > y) - (x < y);
}

/* The same, of those that can do something: the news, and the oldest while there are MSHRs. */
static void resend_some(struct gmmu *g, struct sm_state *s, uint64_t now)
{
	uint32_t i = 0;
	bool far;

	qsort_r(s->news, s->nnews, sizeof(*s->news), compare_dropped, g);
	while (s->dropped.count) {
		struct request *oldest = may_begin(g, s) ? &g->requests[s->dropped.head] : NULL;
		struct request *news;

		while (i < s->nnews && !g->requests[s->news[i]].news)
			i++;
		news = i < s->nnews ? &g->requests[s->news[i]] : NULL;
		if (!oldest && !news)
			break;
		send(g, s, oldest && (!news || oldest->dropped < news->dropped) ? oldest : news,
		     &far, now);
	}
}

void far_resend(struct gmmu *g, unsigned int sm, uint64_t now)
{
	struct sm_state *s = &g->sm[sm];

	if (g->blocking || s->news_lost)
		resend_all(g, s, now);
	else
		resend_some(g, s, now);
	for (uint32_t i = 0; i < s->nnews; i++)
		g->requests[s->news[i]].news = false;
	s->nnews = 0;
	s->news_lost = false;
}

/* --- the handler's side ------------------------------------------------------------------- */

unsigned int gmmu_take(struct gmmu *g, struct fault *faults, unsigned int max)
{
	unsigned int n = 0;

	for (; n < max && g->records; g->get++) {
		uint32_t i = g->record_mshr[g->get % g->buffer_entries];

		if (i == NONE)
			continue;
		faults[n++] = g->buffer[g->get % g->buffer_entries];
		g->mshrs[i].record = NEVER;
		g->records--;
	}
	return n;
}

/* A part of a big page has come: does a request wait for that part? */
static bool concerns(struct gmmu *g, const struct mshr *m, uint64_t start, uint64_t end)
{
	for (uint64_t set = m->sms; set; set &= set - 1) {
		const struct request *r = request_find(g, (unsigned int)__builtin_ctzll(set),
						       m->page);

		for (const struct gmmu_waiter *w = r ? r->first : NULL; w; w = w->next)
			if (w->page >= start && w->page < end)
				return true;
	}
	return false;
}

bool gmmu_waiting(const struct gmmu *g)
{
	return g->used_mshrs;
}

unsigned int gmmu_arrived(struct gmmu *g, uint64_t addr, uint64_t bytes, uint64_t now)
{
	uint64_t end = addr + bytes, sms = 0;
	unsigned int walking = 0;

	/* While something is dropped there is an MSHR, in whose stead it was. */
	for (uint64_t page = page_of(g, addr); page < end && g->used_mshrs;
	     page += g->page_bytes) {
		uint32_t i = mshr_find(g, page);

		tell_news(g, page);
		if (i != NONE && (g->sectors == 1 || concerns(g, &g->mshrs[i], addr, end)))
			walking += mshr_release(g, i, now, &sms);
	}
	if (!sms)
		return 0;
	g->stats.replays++;
	for (unsigned int sm = 0; sm < g->sms; sm++)
		if (sms >> sm & 1 || !g->sm[sm].pending)
			far_resend(g, sm, now);
	return walking;
}

/* --- as a whole ------------------------------------------------------------------------------ */

int far_init(struct gmmu *g, const struct gpu_spec *spec)
{
	/* Every MSHR has a record, in the buffer or taken. */
	uint32_t mshrs = (uint32_t)(spec->fault_entries + spec->batch), buckets = 64;

	g->buffer_entries = (uint32_t)spec->fault_entries;
	while (buckets < mshrs)
		buckets *= 2;
	g->mshr_mask = buckets - 1;
	g->mshrs = calloc(mshrs, sizeof(*g->mshrs));
	g->mshr_buckets = malloc(buckets * sizeof(*g->mshr_buckets));
	g->buffer = calloc(g->buffer_entries, sizeof(*g->buffer));
	g->record_mshr = calloc(g->buffer_entries, sizeof(*g->record_mshr));
	if (!g->mshrs || !g->mshr_buckets || !g->buffer || !g->record_mshr)
		return -ENOMEM;
	g->nmshrs = mshrs;
	return 0;
}

void far_cancel(struct gmmu *g)
{
	for (uint32_t i = 0; i <= g->mshr_mask; i++)
		g->mshr_buckets[i] = NONE;
	for (uint32_t i = 0; i < g->nmshrs; i++)
		g->mshrs[i].chain = i + 1 < g->nmshrs ? i + 1 : NONE;
	g->free_mshr = 0;
	g->used_mshrs = 0;
	g->get = 0;
	g->put = 0;
	g->records = 0;
	for (unsigned int i = 0; i < g->sms; i++) {
		g->sm[i].dropped = (struct request_list){ NONE, NONE, 0 };
		g->sm[i].pending = 0;
		g->sm[i].resent = 0;
		g->sm[i].nnews = 0;
		g->sm[i].news_lost = false;
	}
}

void far_fini(struct gmmu *g)
{
	free(g->mshrs);
	free(g->mshr_buckets);
	free(g->buffer);
	free(g->record_mshr);
}
