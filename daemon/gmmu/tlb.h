/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One SM's TLB: fully associative, LRU, page -> host address. No time in here
 * and no misses: gmmu.c keeps those. Private to the gmmu room.
 */
#ifndef GPUEMU_GMMU_TLB_H
#define GPUEMU_GMMU_TLB_H

#include "base/base.h"

#define TLB_NONE	UINT32_MAX

struct tlb_entry {
	uint64_t page;
	void *host;
	uint32_t newer, older;		/* recency; older also links free entries */
	uint32_t chain;			/* of its hash bucket */
};

struct tlb {
	struct tlb_entry *entries;
	uint32_t *buckets;
	uint32_t bucket_mask;
	uint32_t newest, oldest, free;
	uint32_t capacity, used;
};

int tlb_init(struct tlb *tlb, uint32_t entries);
void tlb_fini(struct tlb *tlb);
void *tlb_lookup(struct tlb *tlb, uint64_t page);	/* NULL: miss; a hit is newest */
void tlb_insert(struct tlb *tlb, uint64_t page, void *host);
bool tlb_holds(const struct tlb *tlb, uint64_t page);
void tlb_invalidate(struct tlb *tlb, uint64_t start, uint64_t end);

static inline uint32_t page_hash(uint64_t page)
{
	/* Fibonacci hashing of the page number (Knuth, TAOCP 6.4). */
	return (uint32_t)(((page >> PAGE_SHIFT) * 0x9e3779b97f4a7c15ull) >> 32);
}

#endif
