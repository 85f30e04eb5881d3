// SPDX-License-Identifier: GPL-2.0
/*
 * A TLB as hash table and recency list over one array. Look-up, insertion and
 * removal are O(1); the GMMU calls it for every page of every warp instruction.
 */
#include <errno.h>
#include <stdlib.h>

#include "gmmu/tlb.h"

int tlb_init(struct tlb *tlb, uint32_t entries, uint32_t shift)
{
	uint32_t buckets = 1;

	while (buckets < 2 * entries)
		buckets *= 2;
	*tlb = (struct tlb){
		.entries = calloc(entries, sizeof(*tlb->entries)),
		.buckets = malloc(buckets * sizeof(*tlb->buckets)),
		.bucket_mask = buckets - 1,
		.newest = TLB_NONE, .oldest = TLB_NONE,
		.capacity = entries, .shift = shift,
		.sectors = shift > PAGE_SHIFT ? 1u << (shift - PAGE_SHIFT) : 1,
	};
	if (tlb->sectors > 1)
		tlb->hosts = calloc((size_t)entries * tlb->sectors, sizeof(*tlb->hosts));
	if (!tlb->entries || !tlb->buckets || (tlb->sectors > 1 && !tlb->hosts)) {
		tlb_fini(tlb);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < buckets; i++)
		tlb->buckets[i] = TLB_NONE;
	for (uint32_t i = 0; i < entries; i++)
		tlb->entries[i].older = i + 1 < entries ? i + 1 : TLB_NONE;
	return 0;
}

void tlb_fini(struct tlb *tlb)
{
	free(tlb->entries);
	free(tlb->buckets);
	free(tlb->hosts);
	tlb->entries = NULL;
	tlb->buckets = NULL;
	tlb->hosts = NULL;
}

static uint64_t page_of(const struct tlb *tlb, uint64_t addr)
{
	return addr >> tlb->shift << tlb->shift;
}

static uint32_t *bucket_of(const struct tlb *tlb, uint64_t page)
{
	return &tlb->buckets[key_hash(page >> tlb->shift) & tlb->bucket_mask];
}

static uint32_t find(const struct tlb *tlb, uint64_t page)
{
	uint32_t i = *bucket_of(tlb, page);

	while (i != TLB_NONE && tlb->entries[i].page != page)
		i = tlb->entries[i].chain;
	return i;
}

static void **host_at(const struct tlb *tlb, uint32_t i, uint64_t addr)
{
	uint32_t sector = (uint32_t)((addr - tlb->entries[i].page) >> PAGE_SHIFT);

	return tlb->sectors == 1 ? &tlb->entries[i].host :
	       &tlb->hosts[(size_t)i * tlb->sectors + sector];
}

static void recency_remove(struct tlb *tlb, uint32_t i)
{
	struct tlb_entry *e = &tlb->entries[i];

	if (e->newer == TLB_NONE)
		tlb->newest = e->older;
	else
		tlb->entries[e->newer].older = e->older;
	if (e->older == TLB_NONE)
		tlb->oldest = e->newer;
	else
		tlb->entries[e->older].newer = e->newer;
}

static void recency_push(struct tlb *tlb, uint32_t i)
{
	struct tlb_entry *e = &tlb->entries[i];

	e->newer = TLB_NONE;
	e->older = tlb->newest;
	if (tlb->newest == TLB_NONE)
		tlb->oldest = i;
	else
		tlb->entries[tlb->newest].newer = i;
	tlb->newest = i;
}

static void drop(struct tlb *tlb, uint32_t i)
{
	uint32_t *link = bucket_of(tlb, tlb->entries[i].page);

	while (*link != i)
		link = &tlb->entries[*link].chain;
	*link = tlb->entries[i].chain;
	recency_remove(tlb, i);
	tlb->entries[i].older = tlb->free;
	tlb->free = i;
	tlb->used--;
}

void *tlb_lookup(struct tlb *tlb, uint64_t addr)
{
	uint32_t i = find(tlb, page_of(tlb, addr));
	void *host = i == TLB_NONE ? NULL : *host_at(tlb, i, addr);

	if (host && i != tlb->newest) {
		recency_remove(tlb, i);
		recency_push(tlb, i);
	}
	return host;
}

void *tlb_peek(const struct tlb *tlb, uint64_t addr)
{
	uint32_t i = find(tlb, page_of(tlb, addr));

	return i == TLB_NONE ? NULL : *host_at(tlb, i, addr);
}

static uint32_t add(struct tlb *tlb, uint64_t page)
{
	uint32_t *bucket = bucket_of(tlb, page);
	struct tlb_entry *e;
	uint32_t i;

	if (tlb->used == tlb->capacity)
		drop(tlb, tlb->oldest);
	i = tlb->free;
	e = &tlb->entries[i];
	tlb->free = e->older;
	e->page = page;
	e->host = NULL;
	e->valid = 0;
	e->chain = *bucket;
	*bucket = i;
	for (uint32_t s = 0; tlb->hosts && s < tlb->sectors; s++)
		tlb->hosts[(size_t)i * tlb->sectors + s] = NULL;
	recency_push(tlb, i);
	tlb->used++;
	return i;
}

uint32_t tlb_insert(struct tlb *tlb, uint64_t addr, void *host)
{
	uint64_t page = page_of(tlb, addr);
	uint32_t i = find(tlb, page);
	void **at;

	if (i == TLB_NONE)
		i = add(tlb, page);
	at = host_at(tlb, i, addr);
	tlb->entries[i].valid += !*at;
	*at = host;
	return i;
}

void tlb_remove(struct tlb *tlb, uint64_t addr)
{
	uint32_t i = find(tlb, page_of(tlb, addr));

	if (i != TLB_NONE)
		drop(tlb, i);
}

void tlb_remove_if(struct tlb *tlb, bool (*wanted)(const void *ctx, uint64_t page),
		   const void *ctx)
{
	uint32_t next;

	for (uint32_t i = tlb->newest; i != TLB_NONE; i = next) {
		next = tlb->entries[i].older;
		if (wanted(ctx, tlb->entries[i].page))
			drop(tlb, i);
	}
}

/* The part of an entry's page that is in [start, last], first and last byte. */
static void invalidate_entry(struct tlb *tlb, uint32_t i, uint64_t start, uint64_t last)
{
	struct tlb_entry *e = &tlb->entries[i];
	uint64_t page_last = e->page + ((1ull << tlb->shift) - 1);
	uint64_t from = MAX(start, e->page), to = MIN(last, page_last);

	if (tlb->sectors == 1) {
		drop(tlb, i);
		return;
	}
	for (uint64_t s = (from - e->page) >> PAGE_SHIFT; s <= (to - e->page) >> PAGE_SHIFT; s++) {
		void **at = &tlb->hosts[(size_t)i * tlb->sectors + s];

		e->valid -= *at != NULL;
		*at = NULL;
	}
	if (!e->valid)
		drop(tlb, i);
}

void tlb_invalidate(struct tlb *tlb, uint64_t start, uint64_t end)
{
	uint64_t first = start >> tlb->shift, last = (end - 1) >> tlb->shift;
	uint32_t next, i;

	if (end <= start)
		return;
	/* A few pages are looked up; a long range is compared with what is held. */
	if (last - first <= tlb->used) {
		for (uint64_t p = first; p <= last; p++) {
			i = find(tlb, p << tlb->shift);
			if (i != TLB_NONE)
				invalidate_entry(tlb, i, start, end - 1);
		}
		return;
	}
	for (i = tlb->newest; i != TLB_NONE; i = next) {
		uint64_t p = tlb->entries[i].page >> tlb->shift;

		next = tlb->entries[i].older;
		if (p >= first && p <= last)
			invalidate_entry(tlb, i, start, end - 1);
	}
}
