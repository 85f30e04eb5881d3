// SPDX-License-Identifier: GPL-2.0
/*
 * A TLB as hash table and recency list over one array. Look-up, insertion and
 * removal are O(1); the GMMU calls it for every page of every warp instruction.
 */
#include <errno.h>
#include <stdlib.h>

#include "gmmu/tlb.h"

int tlb_init(struct tlb *tlb, uint32_t entries)
{
	uint32_t buckets = 1;

	while (buckets < 2 * entries)
		buckets *= 2;
	*tlb = (struct tlb){
		.entries = calloc(entries, sizeof(*tlb->entries)),
		.buckets = malloc(buckets * sizeof(*tlb->buckets)),
		.bucket_mask = buckets - 1,
		.newest = TLB_NONE, .oldest = TLB_NONE,
		.capacity = entries,
	};
	if (!tlb->entries || !tlb->buckets) {
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
	tlb->entries = NULL;
	tlb->buckets = NULL;
}

static uint32_t find(const struct tlb *tlb, uint64_t page)
{
	uint32_t i = tlb->buckets[page_hash(page) & tlb->bucket_mask];

	while (i != TLB_NONE && tlb->entries[i].page != page)
		i = tlb->entries[i].chain;
	return i;
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
	uint32_t *link = &tlb->buckets[page_hash(tlb->entries[i].page) &
				       tlb->bucket_mask];

	while (*link != i)
		link = &tlb->entries[*link].chain;
	*link = tlb->entries[i].chain;
	recency_remove(tlb, i);
	tlb->entries[i].older = tlb->free;
	tlb->free = i;
	tlb->used--;
}

void *tlb_lookup(struct tlb *tlb, uint64_t page)
{
	uint32_t i = find(tlb, page);

	if (i == TLB_NONE)
		return NULL;
	if (i != tlb->newest) {
		recency_remove(tlb, i);
		recency_push(tlb, i);
	}
	return tlb->entries[i].host;
}

void tlb_insert(struct tlb *tlb, uint64_t page, void *host)
{
	uint32_t i = find(tlb, page);
	uint32_t *bucket;

	if (i != TLB_NONE) {
		tlb->entries[i].host = host;
		return;
	}
	if (tlb->used == tlb->capacity)
		drop(tlb, tlb->oldest);
	i = tlb->free;
	tlb->free = tlb->entries[i].older;
	bucket = &tlb->buckets[page_hash(page) & tlb->bucket_mask];
	tlb->entries[i].page = page;
	tlb->entries[i].host = host;
	tlb->entries[i].chain = *bucket;
	*bucket = i;
	recency_push(tlb, i);
	tlb->used++;
}

bool tlb_holds(const struct tlb *tlb, uint64_t page)
{
	return find(tlb, page) != TLB_NONE;
}

void tlb_invalidate(struct tlb *tlb, uint64_t start, uint64_t end)
{
	uint32_t next, i;

	if (end <= start)
		return;
	/* A few pages are looked up; a long range is compared with what is held. */
	if ((end - start) >> PAGE_SHIFT <= tlb->used) {
		uint64_t first = start >> PAGE_SHIFT, last = (end - 1) >> PAGE_SHIFT;

		for (uint64_t p = first; p <= last; p++) {
			i = find(tlb, p << PAGE_SHIFT);
			if (i != TLB_NONE)
				drop(tlb, i);
		}
		return;
	}
	for (i = tlb->newest; i != TLB_NONE; i = next) {
		next = tlb->entries[i].older;
		if (tlb->entries[i].page >= (start & ~(PAGE_BYTES - 1)) &&
		    tlb->entries[i].page < end)
			drop(tlb, i);
	}
}
