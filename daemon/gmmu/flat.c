// SPDX-License-Identifier: GPL-2.0
/*
 * Translation while paging is off: no TLB, no walk, no time. Where managed
 * addresses are host addresses a few ranges say which pages there are;
 * elsewhere each SM keeps a table of what the page table answered.
 * gmmu.c calls it; walks and far faults take no part.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "gmmu/state.h"

static void forget(struct sm_state *s)
{
	for (uint32_t i = 0; s->flat && i < FLAT_ENTRIES; i++)
		s->flat[i].page = FLAT_NONE;
	s->last_range = (struct addr_range){ 0, 0 };
}

int flat_init(struct gmmu *g)
{
	for (unsigned int i = 0; i < g->sms; i++) {
		g->sm[i].flat = calloc(FLAT_ENTRIES, sizeof(*g->sm[i].flat));
		if (!g->sm[i].flat)
			return -ENOMEM;
		forget(&g->sm[i]);
	}
	return 0;
}

void flat_fini(struct gmmu *g)
{
	for (unsigned int i = 0; g->sm && i < g->sms; i++)
		free(g->sm[i].flat);
	free(g->ranges);
}

int gmmu_set_ranges(struct gmmu *g, const struct addr_range *ranges, size_t n)
{
	if (array_resize(g->ranges, n))
		return -ENOMEM;
	if (n)
		memcpy(g->ranges, ranges, n * sizeof(*ranges));
	g->nranges = n;
	for (unsigned int i = 0; i < g->sms; i++)
		forget(&g->sm[i]);
	return 0;
}

static void *in_ranges(struct gmmu *g, struct sm_state *s, uint64_t page)
{
	uint32_t low = 0, high = g->nranges;

	/* The last range that starts at or before the page. */
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (g->ranges[middle].start <= page)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || page >= g->ranges[low - 1].end)
		return NULL;
	s->last_range = g->ranges[low - 1];
	return (void *)(uintptr_t)page;
}

static struct flat_entry *flat_entry(struct sm_state *s, uint64_t page)
{
	return &s->flat[(page >> PAGE_SHIFT) % FLAT_ENTRIES];
}

void *flat_translate(struct gmmu *g, struct sm_state *s, uint64_t page)
{
	const struct flat_entry *e;
	void *host;

	if (page - s->last_range.start < s->last_range.end - s->last_range.start)
		return (void *)(uintptr_t)page;
	host = g->nranges ? in_ranges(g, s, page) : NULL;
	if (host)
		return host;
	/* Memory that became managed after the ranges were set, too. */
	e = flat_entry(s, page);
	return e->page == page ? e->host : NULL;
}

void flat_walk(struct gmmu *g, struct gmmu_waiter *w, uint64_t now)
{
	struct sm_state *s = &g->sm[w->sm];
	void *host = g->ops->walk(g->ctx, w->page);

	w->next = NULL;
	if (!host)
		return;
	*flat_entry(s, w->page) = (struct flat_entry){ w->page, host };
	g->ops->touch(g->ctx, w->page, w->access >= ACCESS_WRITE);
	s->ops->translated(s->ctx, w, w->page, host, now);
}

void flat_invalidate(struct gmmu *g, uint64_t start, uint64_t end)
{
	uint64_t first = start & ~(PAGE_BYTES - 1);

	for (unsigned int i = 0; g->ideal && i < g->sms; i++) {
		struct sm_state *s = &g->sm[i];

		if (end - first >= FLAT_ENTRIES * PAGE_BYTES) {
			for (uint32_t k = 0; k < FLAT_ENTRIES; k++)
				s->flat[k].page = FLAT_NONE;
			continue;
		}
		for (uint64_t page = first; page < end; page += PAGE_BYTES)
			if (flat_entry(s, page)->page == page)
				flat_entry(s, page)->page = FLAT_NONE;
	}
}
