// SPDX-License-Identifier: GPL-2.0
/*
 * The page walker: gmmu.walkers walks at a time, each an entry of the page table
 * after the other, out of the page-walk cache or of memory; and the page table as
 * far as its addresses go. What the entries say is asked of the ops when a walk ends:
 * tables are made when a walk first needs them, as a driver makes them when managed memory
 * is allocated, so every walk goes down to the last level. gmmu.c hands it requests.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gmmu/state.h"

/* --- the page table --------------------------------------------------------------- */

static void table_shape(struct gmmu *g)
{
	struct walker *k = &g->walker;
	uint32_t shift = (uint32_t)__builtin_ctzll(g->page_bytes);
	unsigned int span = 48;

	/* 9 bits a level, down to the page; a page of 64 KiB leaves 5 to the last. */
	for (k->levels = 0; span > shift; k->levels++) {
		k->bits[k->levels] = (uint8_t)MIN(9u, span - shift);
		span -= k->bits[k->levels];
		k->shift[k->levels] = (uint8_t)span;
	}
}

/* Where the entry is that a walk for the page reads at a level. -ENOMEM. */
static int entry_at(struct gmmu *g, uint64_t page, unsigned int level, uint64_t *addr)
{
	struct walker *k = &g->walker;
	uint64_t entry = page >> k->shift[level];
	uint64_t key = entry >> k->bits[level] << 2 | level;
	uint64_t table;

	if (!u64map_get(&k->tables, key, &table)) {
		table = k->next_table;
		if (u64map_put(&k->tables, key, table))
			return -ENOMEM;
		k->next_table += (uint64_t)PTE_BYTES << k->bits[level];
	}
	*addr = table + (entry & ((1ull << k->bits[level]) - 1)) * PTE_BYTES;
	return 0;
}

/* --- the page-walk cache ------------------------------------------------------------ */

static uint64_t pwc_key(const struct walker *k, uint64_t page, unsigned int level)
{
	return page >> k->shift[level] << 2 | level;
}

static void pwc_insert(struct walker *k, uint64_t page, unsigned int level)
{
	/* The cache keeps only that the entry is there. Its value is in the page table. */
	if (k->has_pwc)
		tlb_insert(&k->pwc, pwc_key(k, page, level), k);
}

struct leaf_range {
	const struct walker *walker;
	uint64_t first, last;	/* keys */
};

static bool leaf_in_range(const void *ctx, uint64_t key)
{
	const struct leaf_range *r = ctx;

	return (key & 3) == r->walker->levels - 1u && key >= r->first && key <= r->last;
}

void walker_invalidate(struct gmmu *g, uint64_t start, uint64_t end)
{
	struct walker *k = &g->walker;
	unsigned int leaf = k->levels - 1u;
	struct leaf_range r;

	if (!k->has_pwc || start >= end)
		return;
	r = (struct leaf_range){ k, pwc_key(k, start, leaf), pwc_key(k, end - 1, leaf) };
	if ((r.last - r.first) >> 2 > k->pwc.used) {
		tlb_remove_if(&k->pwc, leaf_in_range, &r);
		return;
	}
	for (uint64_t key = r.first; key <= r.last; key += 4)
		tlb_remove(&k->pwc, key);
}

/* --- walks ----------------------------------------------------------------------------- */

static void walk_level(struct gmmu *g, uint32_t index, uint64_t now);

static void start_walks(struct gmmu *g, uint64_t now)
{
	struct walker *k = &g->walker;

	while (k->queue.count && k->free != NONE) {
		struct request *r = list_pop(g, &k->queue);
		uint32_t i = k->free;
		struct walk *w = &k->walks[i];

		k->free = w->next;
		r->state = REQUEST_WALKING;
		*w = (struct walk){ .begun = now, .request = (uint32_t)(r - g->requests),
				    .next = NONE };
		g->stats.walks++;
		g->stats.of[r->kernel].walks++;
		if (k->latency)
			event_at(g, now + k->latency, EVENT_WALKED, i, true);
		else
			walk_level(g, i, now);
	}
}

void walker_queue(struct gmmu *g, struct request *r, uint64_t now)
{
	list_push(g, &g->walker.queue, r);
	start_walks(g, now);
}

static void walk_end(struct gmmu *g, uint32_t index, uint64_t now)
{
	struct walker *k = &g->walker;
	struct walk *w = &k->walks[index];
	struct request *r = &g->requests[w->request];
	uint64_t page = r->page;

	histogram_add(&g->stats.walk_cycles, now - w->begun);
	w->next = k->free;
	k->free = index;
	/* An entry that is not present is not kept. */
	if (request_end(g, r, true, now) && !k->latency)
		pwc_insert(k, page, k->levels - 1u);
	start_walks(g, now);
}

/* --- reads of the page table ------------------------------------------------------------ */

static uint32_t *read_bucket(struct walker *k, uint64_t read)
{
	return &k->read_buckets[key_hash(read / PTE_READ) & k->read_mask];
}

static void send_reads(struct gmmu *g, uint64_t now)
{
	struct walker *k = &g->walker;

	while (k->unsent_count) {
		uint32_t index = k->unsent[k->unsent_head];

		const struct walk *w = &k->walks[index];
		unsigned int kernel = g->requests[w->request].kernel;

		if (!g->ops->read_pte(g->ctx, w->read, index, kernel, now)) {
			event_at(g, now + 1, EVENT_SEND, 0, false);
			return;
		}
		g->stats.pte_reads++;
		g->stats.of[kernel].pte_reads++;
		k->unsent_head = (k->unsent_head + 1) % k->nwalks;
		k->unsent_count--;
	}
}

/* The entry has to come from memory; walks that need the same 32 bytes share the read. */
static void read_entry(struct gmmu *g, uint32_t index, uint64_t now)
{
	struct walker *k = &g->walker;
	struct walk *w = &k->walks[index], *first;
	uint32_t *bucket, i;
	uint64_t entry;

	if (entry_at(g, g->requests[w->request].page, w->level, &entry)) {
		g->error = -ENOMEM;
		return;
	}
	w->read = entry & ~(uint64_t)(PTE_READ - 1);
	w->next = NONE;
	bucket = read_bucket(k, w->read);
	for (i = *bucket; i != NONE && k->walks[i].read != w->read; i = k->walks[i].chain)
		;
	if (i != NONE) {
		first = &k->walks[i];
		k->walks[first->last].next = index;
		first->last = index;
		return;
	}
	w->last = index;
	w->chain = *bucket;
	*bucket = index;
	k->unsent[(k->unsent_head + k->unsent_count++) % k->nwalks] = index;
	/* Behind others the event that sends them is made already. */
	if (k->unsent_count == 1)
		send_reads(g, now);
}

static void walk_on(struct gmmu *g, uint32_t index, uint64_t now)
{
	struct walker *k = &g->walker;
	struct walk *w = &k->walks[index];

	if (w->level + 1u == k->levels) {
		walk_end(g, index, now);
		return;
	}
	w->level++;
	walk_level(g, index, now);
}

static void walk_level(struct gmmu *g, uint32_t index, uint64_t now)
{
	struct walker *k = &g->walker;
	bool last = k->walks[index].level + 1u == k->levels;

	if (k->has_pwc)
		event_at(g, now + k->pwc_latency, EVENT_LEVEL, index, last);
	else
		read_entry(g, index, now);
}

static void level_end(struct gmmu *g, uint32_t index, uint64_t now)
{
	struct walker *k = &g->walker;
	const struct walk *w = &k->walks[index];
	const struct request *r = &g->requests[w->request];

	if (tlb_lookup(&k->pwc, pwc_key(k, r->page, w->level))) {
		g->stats.pwc_hits++;
		g->stats.of[r->kernel].pwc_hits++;
		walk_on(g, index, now);
		return;
	}
	g->stats.pwc_misses++;
	g->stats.of[r->kernel].pwc_misses++;
	read_entry(g, index, now);
}

static void read_end(struct gmmu *g, uint32_t index, uint64_t now)
{
	struct walker *k = &g->walker;
	uint32_t *link = read_bucket(k, k->walks[index].read), next;

	while (*link != index)
		link = &k->walks[*link].chain;
	*link = k->walks[index].chain;
	for (; index != NONE; index = next) {
		struct walk *w = &k->walks[index];

		next = w->next;
		if (w->level + 1u < k->levels)
			pwc_insert(k, g->requests[w->request].page, w->level);
		walk_on(g, index, now);
	}
}

void gmmu_pte(struct gmmu *g, uint32_t walk, uint64_t now)
{
	event_at(g, now, EVENT_PTE, walk, true);
}

void walker_event(struct gmmu *g, const struct event *e)
{
	switch (e->kind) {
	case EVENT_LEVEL:
		level_end(g, e->of, e->at);
		break;
	case EVENT_PTE:
		read_end(g, e->of, e->at);
		break;
	case EVENT_SEND:
		send_reads(g, e->at);
		break;
	default:
		walk_end(g, e->of, e->at);
		break;
	}
}

/* --- as a whole --------------------------------------------------------------------------- */

int walker_init(struct gmmu *g, const struct gpu_spec *spec)
{
	struct walker *k = &g->walker;
	uint32_t buckets = 64;
	int ret = 0;

	k->latency = (uint32_t)spec->walk_latency;
	k->pwc_latency = (uint32_t)spec->pwc_latency;
	k->has_pwc = spec->pwc_bytes >= PTE_BYTES;
	k->nwalks = (uint32_t)spec->walkers;
	table_shape(g);
	while (buckets < k->nwalks)
		buckets *= 2;
	k->read_mask = buckets - 1;
	k->walks = calloc(k->nwalks, sizeof(*k->walks));
	k->unsent = calloc(k->nwalks, sizeof(*k->unsent));
	k->read_buckets = malloc(buckets * sizeof(*k->read_buckets));
	if (!k->walks || !k->unsent || !k->read_buckets)
		return -ENOMEM;
	if (k->has_pwc)
		ret = tlb_init(&k->pwc, (uint32_t)(spec->pwc_bytes / PTE_BYTES), 0);
	return ret;
}

void walker_cancel(struct gmmu *g)
{
	struct walker *k = &g->walker;

	for (uint32_t i = 0; i < k->nwalks; i++)
		k->walks[i].next = i + 1 < k->nwalks ? i + 1 : NONE;
	for (uint32_t i = 0; i <= k->read_mask; i++)
		k->read_buckets[i] = NONE;
	k->free = 0;
	k->queue = (struct request_list){ NONE, NONE, 0 };
	k->unsent_head = 0;
	k->unsent_count = 0;
}

void walker_fini(struct gmmu *g)
{
	struct walker *k = &g->walker;

	tlb_fini(&k->pwc);
	free(k->walks);
	free(k->unsent);
	free(k->read_buckets);
	u64map_clear(&k->tables);
}
