// SPDX-License-Identifier: GPL-2.0
/*
 * Far faults: MSHRs, NACK and replay, and the producer's side of the fault
 * buffer. HPCA'16 section 3: an SM may have far_mshrs far faults outstanding;
 * a request beyond that is dropped and its TLB, which counts, sends it again
 * when one was resolved. So the TLB throttles itself: after a replay it sends
 * its dropped requests oldest first, as many as could find an MSHR, and one
 * more for each that turns out to be resident.
 *
 * Why nothing is lost: a request is dropped only while its SM's MSHRs or the
 * buffer are full, so a record exists, so a batch and a replay will come, and
 * every replay sends dropped requests again.
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "gmmu/internal.h"

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

static bool sm_has_room(const struct gmmu *g, unsigned int sm)
{
	return !g->far_mshrs || g->sm[sm].pending < g->far_mshrs;
}

static uint32_t mshr_new(struct gmmu *g, const struct request *r, uint64_t now)
{
	uint32_t *bucket = mshr_bucket(g, r->page);
	uint32_t i = g->free_mshr;

	if (g->records == g->buffer_entries)
		return NONE;
	assert(i != NONE);
	g->free_mshr = g->mshrs[i].chain;
	g->mshrs[i] = (struct mshr){ .page = r->page, .chain = *bucket };
	*bucket = i;
	g->buffer[(g->get + g->records++) % g->buffer_entries] = (struct fault){
		.addr = r->page, .cycle = now, .va_space = g->va_space,
		.sm = r->sm, .warp = r->warp, .access = r->access, .merged = 1,
	};
	g->stats.faults++;
	return i;
}

static void request_drop(struct gmmu *g, struct request *r)
{
	r->state = REQUEST_DROPPED;
	list_push(g, &g->sm[r->sm].dropped, r);
	g->stats.nacks++;
}

void far_tell(struct gmmu *g, struct gmmu_waiter *w, uint64_t now)
{
	if (w->told)
		return;
	w->told = true;
	g->ops->faulted(g->ctx, w, now);
}

void far_fault(struct gmmu *g, struct request *r, uint64_t now)
{
	uint64_t bit = 1ull << (r->sm % 64);
	unsigned int word = r->sm / 64;
	uint32_t i = mshr_find(g, r->page);

	if (i != NONE && (g->mshrs[i].sms[word] & bit)) {
		r->state = REQUEST_TRACKED;
	} else if (!sm_has_room(g, r->sm)) {
		request_drop(g, r);
	} else {
		if (i == NONE)
			i = mshr_new(g, r, now);
		if (i == NONE) {
			request_drop(g, r);
		} else {
			g->mshrs[i].sms[word] |= bit;
			g->sm[r->sm].pending++;
			r->state = REQUEST_TRACKED;
		}
	}
	/* Some joined while the request walked again: they have not heard yet. */
	for (struct gmmu_waiter *w = r->first; w; w = w->next)
		far_tell(g, w, now);
}

void far_resend(struct gmmu *g, unsigned int sm, uint64_t now)
{
	struct sm_state *s = &g->sm[sm];

	while (s->dropped.count &&
	       (!g->far_mshrs || s->pending + s->resent < g->far_mshrs)) {
		s->resent++;
		request_walk(g, list_pop(g, &s->dropped), ORIGIN_RESENT, now);
	}
}

/* Frees an MSHR; what it tracked walks again. */
static void mshr_release(struct gmmu *g, uint32_t i, uint64_t now)
{
	struct mshr *m = &g->mshrs[i];
	uint32_t *link = mshr_bucket(g, m->page);

	while (*link != i)
		link = &g->mshrs[*link].chain;
	*link = m->chain;
	for (unsigned int word = 0; word < ARRAY_SIZE(m->sms); word++) {
		for (uint64_t set = m->sms[word]; set; set &= set - 1) {
			unsigned int sm = word * 64 + (unsigned int)__builtin_ctzll(set);
			struct request *r = request_find(g, sm, m->page);

			g->sm[sm].pending--;
			if (r && r->state == REQUEST_TRACKED)
				request_walk(g, r, ORIGIN_SERVED, now);
		}
	}
	m->chain = g->free_mshr;
	g->free_mshr = i;
}

unsigned int gmmu_faults(const struct gmmu *g)
{
	return g->records;
}

unsigned int gmmu_take(struct gmmu *g, struct fault *faults, unsigned int max)
{
	unsigned int n = MIN(max, g->records);

	assert(!g->ntaken);
	for (unsigned int i = 0; i < n; i++) {
		faults[i] = g->buffer[g->get];
		g->taken[g->ntaken++] = mshr_find(g, faults[i].addr);
		g->get = (g->get + 1) % g->buffer_entries;
	}
	g->records -= n;
	return n;
}

/* Drops records whose page came as somebody's prefetch; keeps the others in order. */
static void flush_stale(struct gmmu *g, uint64_t now)
{
	uint32_t kept = 0;

	for (uint32_t k = 0; k < g->records; k++) {
		struct fault f = g->buffer[(g->get + k) % g->buffer_entries];

		if (g->ops->walk(g->ctx, f.addr))
			mshr_release(g, mshr_find(g, f.addr), now);
		else
			g->buffer[(g->get + kept++) % g->buffer_entries] = f;
	}
	g->records = kept;
}

void gmmu_replay(struct gmmu *g, uint64_t now)
{
	g->stats.replays++;
	for (uint32_t i = 0; i < g->ntaken; i++)
		mshr_release(g, g->taken[i], now);
	g->ntaken = 0;
	flush_stale(g, now);
	for (unsigned int sm = 0; sm < g->sms; sm++)
		far_resend(g, sm, now);
}

unsigned int gmmu_mshrs_used(const struct gmmu *g, unsigned int sm)
{
	return g->sm[sm].pending;
}

int far_init(struct gmmu *g, const struct gpu_spec *spec)
{
	/* Every MSHR has a record, in the buffer or taken: this many and no more. */
	uint32_t mshrs = spec->fault_entries + spec->batch, buckets = 64;

	g->buffer_entries = spec->fault_entries;
	while (buckets < mshrs)
		buckets *= 2;
	g->mshr_mask = buckets - 1;
	g->mshrs = calloc(mshrs, sizeof(*g->mshrs));
	g->mshr_buckets = malloc(buckets * sizeof(*g->mshr_buckets));
	g->buffer = calloc(g->buffer_entries, sizeof(*g->buffer));
	g->taken = calloc(spec->batch, sizeof(*g->taken));
	if (!g->mshrs || !g->mshr_buckets || !g->buffer || !g->taken)
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
	g->get = 0;
	g->records = 0;
	g->ntaken = 0;
	for (unsigned int i = 0; i < g->sms; i++) {
		g->sm[i].dropped = (struct request_list){ NONE, NONE, 0 };
		g->sm[i].pending = 0;
		g->sm[i].resent = 0;
	}
}

void far_fini(struct gmmu *g)
{
	free(g->mshrs);
	free(g->mshr_buckets);
	free(g->buffer);
	free(g->taken);
}
