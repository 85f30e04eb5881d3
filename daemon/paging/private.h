/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of paging/ share: the pool's spaces (who holds which pages),
 * and one VA space's handler with the batch it is serving. Private to paging/.
 *
 * pool.c keeps the books, plan.c decides what moves, serve.c has it moved.
 */
#ifndef GPUEMU_PAGING_PRIVATE_H
#define GPUEMU_PAGING_PRIVATE_H

#include "base/list.h"
#include "base/rng.h"
#include "paging/page_set.h"
#include "paging/paging.h"

#define BATCH_MAX	256u	/* faults; spec.def bounds paging.batch by it */
#define VICTIMS_MAX	2048u	/* evictions in one plan */
#define WANTED_MAX	8192u	/* pages that a policy may ask for in one batch */
#define FRESH_BATCHES	4u	/* see struct fresh */

/*
 * One VA space's share of device memory. Outlives its struct paging: pages
 * stay where they are when options change or nobody looks after them.
 */
struct space {
	struct list node;	/* in paging_pool.spaces, by va_space */
	uint32_t va_space;
	struct page_set pages;
	uint64_t going;		/* pages that the plan being made evicts */
	bool exhausted;		/* the plan being made finds no more victim here */
	struct paging *owner;	/* NULL: nobody's */
};

struct paging_pool {
	struct service *service;
	struct list spaces;
	uint64_t used;		/* resident pages of all spaces */
};

struct victim {
	struct space *space;
	uint64_t addr;
};

/*
 * Pages that came for a fault are kept until their first TLB fill, so that the
 * faulting warp gets its access done before a later batch takes the frame back:
 * with few frames, two warps could otherwise take it from each other for ever.
 * A page that nobody comes for (its kernel has ended) is kept for FRESH_BATCHES
 * batches only.
 */
struct fresh {
	uint64_t pages[BATCH_MAX];
	unsigned int count;
};

struct paging {
	struct paging_pool *pool;
	struct space *space;
	struct gpu_spec spec;
	uint64_t limit;			/* frames that paging.vram allows */
	const struct prefetch_ops *prefetch;
	const struct evict_ops *evict;
	void *prefetch_state, *evict_state;
	struct policy_view view;
	struct rng rng;
	struct paging_stats stats;
	struct fresh fresh[FRESH_BATCHES];
	unsigned int fresh_at;		/* of the batch being served */
	uint64_t waiting[BATCH_MAX];	/* pages that found no frame, who waits longest first */
	unsigned int nwaiting;

	/* The batch being served, and the pass of it. */
	struct fault faults[BATCH_MAX];
	unsigned int nfaults;
	uint64_t demand[BATCH_MAX];	/* sorted: what this pass must bring */
	unsigned int ndemand;
	uint64_t wanted[WANTED_MAX];	/* what it may bring */
	unsigned int nwanted;
	unsigned int nplaced;		/* of them, what it does bring */
	uint64_t keep_start, keep_end;	/* an explicit prefetch keeps its range */
	struct victim victims[VICTIMS_MAX];
	unsigned int nvictims, nemitted; /* the first nemitted are in the plan */
	uint64_t coming, going;		/* pages of the plan */
	uint64_t squeeze;		/* frames the service turned out to lack */
	unsigned int prefetch_from;	/* index of the plan's first prefetch migration */
	struct plan plan;
};

/* --- pool.c ---------------------------------------------------------------- */

/* The VA space's share, made if need be. NULL: no memory. */
struct space *space_get(struct paging_pool *pool, uint32_t va_space);
struct space *space_find(const struct paging_pool *pool, uint32_t va_space);
/* Frees a share that is empty and nobody's. */
void space_put(struct paging_pool *pool, struct space *space);
/* The page is in device memory now, or no longer. Bookkeeping and eviction policy; -ENOMEM. */
int space_add(struct paging_pool *pool, struct space *space, uint64_t addr);
void space_drop(struct paging_pool *pool, struct space *space, uint64_t addr);

/* --- plan.c ---------------------------------------------------------------- */

/*
 * Fills plan from demand[], then from wanted[]: evictions, what needs them,
 * evictions for prefetches, prefetches.
 */
void plan_begin(struct paging *paging);
void plan_demand(struct paging *paging);
void plan_wanted(struct paging *paging);
/* Gives victims that did not go back to their policies. */
void plan_return_victims(struct paging *paging);

#endif
