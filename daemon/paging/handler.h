/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of paging/ share: the pool's spaces (who holds which pages),
 * and one VA space's handler with the batch it is serving. Private to paging/.
 *
 * pool.c keeps the books, policy.c asks the policies, plan.c decides what moves, advice.c where to,
 * serve.c (faults) and range.c (what was asked for) have it moved, book.c and book_run.c write
 * down what did, flight.c lets it arrive in virtual time.
 */
#ifndef GPUEMU_PAGING_HANDLER_H
#define GPUEMU_PAGING_HANDLER_H

#include "base/list.h"
#include "base/rng.h"
#include "base/u64map.h"
#include "paging/link.h"
#include "paging/page_set.h"
#include "paging/paging.h"
#include "paging/policy.h"

#define BATCH_MAX	256u	/* faults; spec.def bounds paging.batch by it */
#define VICTIMS_MAX	2048u	/* evictions in one plan */
#define WANTED_MAX	8192u	/* pages that a policy may ask for in one batch */
#define PART_MAX	16384u	/* pages of an explicit prefetch in one plan */

/* A user with VA spaces. */
struct tenant {
	struct list node;	/* in paging_pool.tenants, by user */
	uint32_t user;
	unsigned int spaces;
	uint64_t left;		/* pages of all its spaces, as the plan being made leaves them */
	bool gives;		/* one of them may have a victim */
};

/*
 * One VA space's share of device memory. Outlives its struct paging: pages
 * stay where they are when options change or nobody looks after them.
 */
struct space {
	struct list node;	/* in paging_pool.spaces, by va_space */
	uint32_t va_space;
	struct tenant *tenant;	/* the owner of the space */
	struct page_set pages;
	uint64_t going;		/* pages that the plan being made evicts */
	bool exhausted;		/* the plan being made finds no more victim here */
	struct paging *owner;	/* NULL: nobody's */
};

struct paging_pool {
	struct service *service;
	const struct plugin_site *site;	/* whose objects may be loaded; NULL: any */
	struct list spaces, tenants;
	uint64_t used;		/* resident pages of all spaces */
};

struct victim {
	struct space *space;
	uint64_t addr;
};

/* A run that a batch has moved in the books. It departs when the batch's service is over. */
struct departure {
	uint64_t addr;
	uint32_t pages, va_space;
	uint8_t dir, class;
	bool promote;			/* it is on its way: hurry */
	bool map;			/* nothing travels: it may be used from then on */
};

/* A far fault whose page is in flight. */
struct wait {
	struct paging_fault fault;
	struct service_cost cost;	/* its batch's */
	uint32_t next;			/* of those that are free */
};

/*
 * Pages in flight. A page that somebody waits for is kept (PAGE_FRESH) until its first
 * TLB fill, so that the faulting warp gets its access done before a later batch takes the frame
 * back: with few frames, two warps could otherwise take it from each other for ever.
 */
struct flight {
	struct link *link;
	bool modelled;			/* the link is; else times are measured */
	struct departure *list;		/* of the batch being served */
	unsigned int count, room;
	uint64_t pages;			/* PAGE_FLYING */
	uint64_t *lost;			/* pages that left before they came: nobody has been told */
	unsigned int nlost, lost_room;
	struct u64map awaited;		/* page of spec.page_bytes to its place in waits */
	struct wait *waits;
	uint32_t nwaits, wait_room;
	uint32_t idle_wait;		/* the first that is free, counted from 1; 0: none */
	const struct paging_events *events;
	void *ctx;
	uint64_t now;			/* core cycle: of the last call */
	uint32_t batch;			/* counts */
};

/* A transfer's tag on the link: outcome.batch and the kernel's slot (KERNEL_SLOTS: nobody's). */
#define FLIGHT_KERNEL_BITS	5u
_Static_assert(KERNEL_SLOTS < 1u << FLIGHT_KERNEL_BITS, "and PAGING_NO_BATCH is none's");
static inline uint32_t flight_tag(uint32_t batch, unsigned int kernel)
{
	return batch << FLIGHT_KERNEL_BITS | kernel;
}

struct paging {
	struct paging_pool *pool;
	struct space *space;
	struct gpu_spec spec;
	uint64_t limit;			/* frames that paging.vram allows */
	struct paging_known known;
	struct touches touches;
	struct policy prefetch, evict;
	struct paging_stats stats;
	struct flight flight;
	bool aside;			/* it is another's turn in the middle of a kernel */
	uint64_t waiting[BATCH_MAX];	/* pages that found no frame, the longest waiting first */
	unsigned int nwaiting;
	bool remote_full;		/* the service has no room for remote mappings, in this batch */
	bool hinted;			/* the batch has a page that is PAGE_PINNED */

	uint64_t decide_ns;		/* charged for a batch's decisions, or SPEC_DECIDE_MEASURED */

	/* The batch being served, and the pass of it. */
	struct fault faults[BATCH_MAX];
	uint8_t causes[BATCH_MAX];	/* enum fault_cause, by fault */
	unsigned int nfaults;
	uint64_t demand[BATCH_MAX];	/* sorted pages of spec.page_bytes: what this pass must bring */
	unsigned int ndemand;
	uint64_t wanted[PART_MAX];	/* what it may bring */
	unsigned int nwanted;
	unsigned int nruns;		/* of a range: how many runs wanted[] is */
	unsigned int nplaced;		/* of them, what it does bring */
	uint64_t keep_start, keep_end;	/* an explicit prefetch keeps its range */
	uint64_t picked[VICTIMS_MAX];	/* an eviction policy's answer */
	struct victim victims[VICTIMS_MAX];
	unsigned int nvictims, nemitted; /* the first nemitted are in the plan */
	uint64_t coming, going;		/* pages of the plan */
	uint64_t squeeze;		/* frames the service turned out to lack */
	unsigned int demand_to;		/* index behind the plan's last demand migration */
	unsigned int prefetch_from;	/* index of the plan's first prefetch migration */
	struct plan plan;
};

/* The page of spec.page_bytes that has the address: what faults and goes as a whole. */
static inline uint64_t unit_of(const struct paging *p, uint64_t addr)
{
	return addr & ~(p->spec.page_bytes - 1);
}

/* Has any 4 KiB page of the address's unit the bit? */
static inline bool unit_any(const struct paging *p, uint64_t addr, enum page_bit bit)
{
	const struct page_block *block = page_set_find(&p->space->pages, addr);

	return block && page_block_any(block, bit, page_of(unit_of(p, addr)),
				       (unsigned int)(p->spec.page_bytes / PAGE_BYTES));
}

/* The VA space's limit in pages: paging.vram, or the share that the service gives it. */
static inline uint64_t limit_of(const struct paging *p)
{
	struct service *service = p->pool->service;

	return service->ops->share ? MIN(p->limit, service->ops->share(service)) : p->limit;
}

/* Device memory that the VA space may use, in pages. */
static inline uint64_t frames_of(const struct paging *p)
{
	struct service *service = p->pool->service;

	return MIN(limit_of(p), service->ops->frames(service));
}

/* --- pool.c ---------------------------------------------------------------- */

/* The VA space's share, made if need be. NULL: no memory. */
struct space *space_get(struct paging_pool *pool, uint32_t va_space);
struct space *space_find(const struct paging_pool *pool, uint32_t va_space);
/* -ENOMEM. */
int space_set_user(struct paging_pool *pool, struct space *space, uint32_t user);
/* Frees a share that is empty and nobody's. */
void space_put(struct paging_pool *pool, struct space *space);
/* The device does not use the page in system memory any more. */
void space_unmap(struct space *space, uint64_t addr);
/* The page is in device memory now, or no longer. Bookkeeping and policies; -ENOMEM. */
int space_add(struct paging_pool *pool, struct space *space, uint64_t addr, bool prefetched);
void space_drop(struct paging_pool *pool, struct space *space, uint64_t addr);

/* --- plan.c ---------------------------------------------------------------- */

/*
 * Fills plan from demand[], then from wanted[]: evictions, what needs them,
 * evictions for prefetches, prefetches.
 */
void plan_begin(struct paging *paging);
void plan_demand(struct paging *paging);
void plan_wanted(struct paging *paging);
/* For how many more pages are there frames, with nobody going for them? */
uint64_t plan_free_frames(const struct paging *paging);
/* Evictions ahead of need, paging.watermark. */
void plan_spare(struct paging *paging);
/* Evictions of wanted[], which are in device memory: they go home. */
void plan_home(struct paging *paging);
/* wanted[], each with this op, which needs no frame. */
void plan_each(struct paging *paging, enum migration_op op);
/*
 * The 4 KiB pages of a unit that are managed and cannot be used as the batch wants to; how many:
 * neither in device memory nor mapped, or a duplicate that is to be written.
 */
unsigned int plan_missing(struct paging *paging, uint64_t unit, uint64_t *pages);
/* Gives victims that did not go back to their policies. */
void plan_return_victims(struct paging *paging);

/* --- advice.c ------------------------------------------------------------ */

/* ADVICE_* of the page. */
uint32_t advice_of(const struct paging *paging, uint64_t addr);
/* May a page be mapped for the device in system memory? */
bool advice_remote(const struct paging *paging);
/* How a page that faulted is served: MIGRATE_H2D, _REMOTE or _DUPLICATE. pinned: it thrashes. */
enum migration_op advice_residency(const struct paging *paging, uint64_t addr, bool write,
				   bool pinned);
/* The same for a page that a policy or the program wants in device memory. */
enum migration_op advice_prefetched(const struct paging *paging, uint64_t addr);
/* How a page leaves device memory: MIGRATE_D2H or MIGRATE_REMOTE. paging: its owner's, or NULL. */
enum migration_op advice_home(const struct paging *paging, uint64_t addr);
/* A page that no policy may pull to device memory. */
bool advice_stays(const struct paging *paging, uint64_t addr);

/* --- book.c -------------------------------------------------------------- */

/* The pages with which one pass of a batch could not go on. */
struct pass {
	uint64_t again[BATCH_MAX];	/* pages that found no free frame */
	unsigned int nagain;
	unsigned int stayed;		/* victims that did not go */
	uint64_t gone;			/* pages that went */
	bool full;			/* the service had no room for a remote mapping */
	bool home;			/* in: they are no victims, they go home */
	unsigned int raw;		/* faults that the service took, before merging */
	bool quiet;			/* in: no fault waits; what does not come is no trouble */
	bool instant;			/* in: no kernel runs; what is mapped is so at once */
	int rc;
};

/* Is the page in device memory? The service knows. */
bool book_resident(const struct paging *paging, uint32_t va_space, uint64_t addr);
/* Which of the own VA space's pages in the VA block at `base` are? A bit each. */
void book_present(const struct paging *paging, uint64_t base, uint64_t *pages);
void book_eviction(struct paging *paging, const struct migration *m, enum link_class class,
		   struct pass *pass);
/* The pages, which were mapped in system memory, are so no more. */
void book_unmapped(struct paging *paging, const struct migration *m);
/* The pages are in system memory and mapped there. */
void book_mapped(struct paging *paging, const struct migration *m, struct pass *pass,
		 struct paging_outcome *outcome);
void book_arrival(struct paging *paging, const struct migration *m, bool demanded,
		  struct pass *pass, struct paging_outcome *outcome);

/* --- book_run.c ---------------------------------------------------------- */

/* The same for a whole run that went well. False: it must be booked page by page. */
bool book_run_arrived(struct paging *paging, const struct migration *m, bool demanded,
		      struct pass *pass);
bool book_run_left(struct paging *paging, struct space *space, const struct migration *m,
		   enum link_class class, struct pass *pass);

/* --- serve.c -------------------------------------------------------------- */

/* sum += cost */
void cost_add(struct service_cost *sum, const struct service_cost *cost);
/* decide() makes the plan; it is carried out and booked. outcome's cost grows. < 0: nothing is. */
int serve_pass(struct paging *paging, unsigned int nfaults,
	       int (*decide)(void *ctx, struct service_batch *batch),
	       struct pass *pass, struct paging_outcome *outcome);

/* --- stages.c ---------------------------------------------------------------- */

/* Why the page is not there; asked before anything is moved for it. */
enum fault_cause fault_cause(const struct paging *paging, const struct fault *fault);
/* Sets what a batch is charged for its decisions, paging.decide. */
void charge_decision(const struct paging *paging, struct service_cost *cost);
/*
 * The fault is over, `latency` ns after it was raised: its stages are counted and told. copy: ns
 * that its page was on a modelled link.
 */
void fault_over(struct paging *paging, struct paging_fault *fault,
		const struct service_cost *cost, uint64_t latency, uint64_t copy);

/* --- flight.c ---------------------------------------------------------------- */

/* -ENOMEM. */
int flight_open(struct paging *paging);
void flight_close(struct paging *paging);
/* The page has come, or gone, in the books: it departs with the batch. -ENOMEM. */
int flight_add(struct paging *paging, uint32_t va_space, uint64_t addr, enum link_dir dir,
	       enum link_class class);
/* The same of a run, whose pages the caller marks PAGE_FLYING (and counts) where they do. -ENOMEM. */
int flight_add_run(struct paging *paging, uint32_t va_space, uint64_t addr, unsigned int pages,
		   enum link_dir dir, enum link_class class);
/* The page can be used when the batch's service is over: nothing travels. -ENOMEM. */
int flight_map(struct paging *paging, uint64_t addr);
/* The page is in flight and demanded: it goes before others. -ENOMEM. */
int flight_hurry(struct paging *paging, uint64_t addr);
/*
 * The pages that were added depart `ns` after the batch was taken. Where the copies were measured,
 * they land then. -ENOMEM: all are there at once.
 */
int flight_depart(struct paging *paging, uint64_t ns, const struct service_cost *cost,
		  uint32_t tag);
/* The pages that were added do not depart: they are there at once. */
void flight_forget(struct paging *paging);
/* The time of the last call, in picoseconds. */
uint64_t flight_time(const struct paging *paging);
/* A fault's page is in flight: its latency is known later. False: it has been waited for before. */
bool flight_await(struct paging *paging, const struct paging_fault *fault,
		  const struct service_cost *cost);
/* The page is nobody's any more, or another's, before it landed. */
void flight_drop(struct paging *paging, uint64_t addr);
/* Lands everything; *end (may be NULL) is when, in picoseconds. -ENOMEM. */
int flight_land(struct paging *paging, uint64_t *end);

#endif
