/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A table of translations, fully associative, LRU: an SM's TLB, the shared one
 * and, with keys of its own, the page-walk cache. No time in here and no misses:
 * who uses it keeps those. Private to the gmmu room.
 *
 * An entry is one page of any power of two of PAGE_BYTES. It is sectored: each
 * 4 KiB of it has a host address of its own or is not valid.
 */
#ifndef GPUEMU_GMMU_TLB_H
#define GPUEMU_GMMU_TLB_H

#include "base/base.h"

#define TLB_NONE	UINT32_MAX

struct tlb_entry {
	uint64_t page;
	void *host;			/* of pages of one sector */
	uint32_t newer, older;		/* recency; older also links free entries */
	uint32_t chain;			/* of its hash bucket */
	uint32_t valid;			/* sectors */
};

struct tlb {
	struct tlb_entry *entries;
	uint32_t *buckets;
	uint32_t bucket_mask;
	uint32_t newest, oldest, free;
	uint32_t capacity, used;
	uint32_t shift;			/* log2 of the page's bytes */
	uint32_t sectors;
	void **hosts;			/* [entry * sectors + sector], when a page has several */
};

/* shift 0: keys are any numbers, and hold one sector. entries may not be 0. -ENOMEM. */
int tlb_init(struct tlb *tlb, uint32_t entries, uint32_t shift);
void tlb_fini(struct tlb *tlb);
/* addr is PAGE_BYTES aligned (or the key). NULL: miss; a hit is newest. */
void *tlb_lookup(struct tlb *tlb, uint64_t addr);
/* The same without a trace. */
void *tlb_peek(const struct tlb *tlb, uint64_t addr);
/* One sector becomes valid; the page is newest when it was not there. Returns its entry. */
uint32_t tlb_insert(struct tlb *tlb, uint64_t addr, void *host);
/* Drops the page or the key. */
void tlb_remove(struct tlb *tlb, uint64_t addr);
/* The sectors of [start, end) are no longer valid; pages without any are dropped. */
void tlb_invalidate(struct tlb *tlb, uint64_t start, uint64_t end);
/* Drops what drop() says. */
void tlb_remove_if(struct tlb *tlb, bool (*drop)(const void *ctx, uint64_t page),
		   const void *ctx);

/* Fibonacci hashing (Knuth, TAOCP 6.4). */
static inline uint32_t key_hash(uint64_t key)
{
	return (uint32_t)((key * 0x9e3779b97f4a7c15ull) >> 32);
}

#endif
