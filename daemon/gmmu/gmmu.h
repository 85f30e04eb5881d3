/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Address translation of the whole GPU: one TLB an SM, a threaded page walker,
 * far-fault MSHRs and the fault buffer (the producer's side). HPCA'16 section
 * 3. It knows neither service nor paging nor warps: who owns it hands it an ops
 * table for the page table, and waiters that it gives back when they translate.
 *
 * Life of a translation: gmmu_translate() hits, or puts the waiter into its
 * SM's outbox. gmmu_step() starts a walk. The walk finds the page (TLB filled, waiter
 * given back) or not: then it is a far fault and takes an MSHR of its SM, or, with
 * none free, is dropped. Either way the TLB gets a NACK-replayable and the waiter
 * hears faulted(). gmmu_replay() releases the MSHRs of the batch that was taken and
 * lets the requests walk again.
 *
 * Threads: gmmu_translate() touches its SM's TLB and outbox alone, so SMs may look
 * up at the same time. All else is one thread's, while none looks up; ops are
 * called from there only, never from gmmu_translate().
 */
#ifndef GPUEMU_GMMU_GMMU_H
#define GPUEMU_GMMU_GMMU_H

#include "base/base.h"
#include "base/fault.h"
#include "base/spec.h"

#define NEVER	UINT64_MAX	/* a cycle that does not come */

/*
 * One access that waits for one page. The SM's; the gmmu links it from
 * gmmu_translate() until ops->translated(). sm, warp and access are filled by the
 * SM, the rest is the gmmu's.
 */
struct gmmu_waiter {
	struct gmmu_waiter *next;
	uint64_t page, cycle;		/* of the look-up */
	uint16_t sm, warp;
	uint8_t access;			/* enum access_type */
	bool told;			/* faulted() was called */
};

struct gmmu_ops {
	/* Reads the page table: the page's host address, NULL when not resident. */
	void *(*walk)(void *ctx, uint64_t page);
	/* A TLB was filled: recency and use of the page. */
	void (*touch)(void *ctx, uint64_t page, bool write);
	/* The waiter's page is at host now; the waiter is the SM's again. */
	void (*translated)(void *ctx, struct gmmu_waiter *waiter, uint64_t page,
			   void *host, uint64_t now);
	/* NACK-replayable: the waiter's page is on the other side of the link. Once a waiter. */
	void (*faulted)(void *ctx, struct gmmu_waiter *waiter, uint64_t now);
};

struct gmmu;

/* -ENOMEM. spec is copied from; ctx is handed to every op. */
int gmmu_create(const struct gpu_spec *spec, uint32_t va_space,
		const struct gmmu_ops *ops, void *ctx, struct gmmu **gmmu);
void gmmu_destroy(struct gmmu *gmmu);

/*
 * Looks a page up in the TLB of waiter->sm. Host address on a hit. NULL: a miss;
 * the waiter is in the outbox, and is given back by translated() later. A SM looks
 * up in the order of its cycles.
 */
void *gmmu_translate(struct gmmu *gmmu, uint64_t page,
		     struct gmmu_waiter *waiter, uint64_t now);

/*
 * Paging off (spec->paging 0): translation takes no time. Where managed addresses are
 * host addresses, these are the ranges that have pages (sorted, disjoint; copied, -ENOMEM):
 * gmmu_translate() answers from them alone. Elsewhere (none) it answers from a
 * table of what was walked, and the page table is read by the next gmmu_step().
 */
struct gmmu_range {
	uint64_t start, end;
};
int gmmu_set_ranges(struct gmmu *gmmu, const struct gmmu_range *ranges, unsigned int n);

/*
 * Takes the look-ups of cycles <= now out of the outboxes, by cycle and then SM, ends
 * the walks that are due and starts queued ones, all in order of time. -ENOMEM.
 */
int gmmu_step(struct gmmu *gmmu, uint64_t now);
/* Cycle in which a walk ends next, or NEVER. Look-ups not yet stepped over do not count. */
uint64_t gmmu_next(const struct gmmu *gmmu);

/* The fault buffer: records not yet taken; takes the oldest, at most max. */
unsigned int gmmu_faults(const struct gmmu *gmmu);
unsigned int gmmu_take(struct gmmu *gmmu, struct fault *faults,
		       unsigned int max);
/*
 * The taken batch was served. Records whose page came with it (a prefetch) are
 * stale and leave the buffer as well.
 */
void gmmu_replay(struct gmmu *gmmu, uint64_t now);
/*
 * Requests of the last replay's pages are still walking. The handler does not
 * take the next batch before: it could evict what nobody has used yet, and two
 * pages that need one frame would push each other out for ever.
 */
bool gmmu_replaying(const struct gmmu *gmmu);

/* Translations of [start, end) are no longer valid. */
void gmmu_invalidate(struct gmmu *gmmu, uint64_t start, uint64_t end);

/* Forgets waiters, walks, MSHRs and records (a kernel was ended); TLBs stay. */
void gmmu_cancel(struct gmmu *gmmu);

struct gmmu_stats {
	uint64_t tlb_hits, tlb_misses;	/* look-ups: one a page and warp instruction */
	uint64_t walks;
	uint64_t faults;		/* records written */
	uint64_t nacks;			/* far faults dropped: no MSHR, or buffer full */
	uint64_t replays;
};
/* Up to now, of all SMs. */
const struct gmmu_stats *gmmu_stats(struct gmmu *gmmu);

/* For tests and assertions. */
unsigned int gmmu_mshrs_used(const struct gmmu *gmmu, unsigned int sm);
bool gmmu_tlb_holds(const struct gmmu *gmmu, unsigned int sm, uint64_t page);

#endif
