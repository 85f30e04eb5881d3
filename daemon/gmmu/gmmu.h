/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Address translation of the whole GPU: one TLB an SM, a TLB that all share
 * (optional), a threaded page walker with its page-walk cache, far-fault MSHRs and
 * the fault buffer (the producer's side). HPCA'16 section 3. It knows neither service
 * nor paging nor warps nor memory: who owns it hands it an ops table for the page
 * table, and waiters that it gives back when they translate.
 *
 * Life of a translation: gmmu_translate() hits, or puts the waiter into its
 * SM's outbox. gmmu_step() looks it up in the shared TLB and starts a walk. The walk
 * finds the page (TLB filled, waiter given back) or not: then it is a far fault and
 * takes an MSHR of its SM, or, with none free, is dropped. Either way the TLB gets a
 * NACK-replayable and the waiter hears faulted(). gmmu_arrived() releases the MSHRs of
 * pages that came and lets the requests walk again.
 *
 * The walk (gmmu.walk_latency 0) reads one entry a level, root first: four levels
 * of 512 entries of 8 bytes; with pages of 2 MiB three; with 64 KiB the last one has
 * 32. Every entry is looked up in the page-walk cache first, which holds entries of all
 * levels, by the address that they translate, LRU; entries of pages that are not
 * present are not kept. A look-up takes gmmu.pwc_latency, one after the other, since an
 * entry says where the next is; a miss is then a read of 32 bytes through the
 * memory system, which walks that need the same 32 bytes at that time share (Power et al.,
 * HPCA'14: a highly threaded walker and an 8 KiB cache as AMD's, which keeps entries,
 * not translations; HPCA'16 table 1 gives the latency). With walk_latency it takes just that.
 *
 * Pages are of gmmu.page bytes. A TLB entry, a request, an MSHR and a record of the
 * fault buffer are one such page. What is in device memory is known by 4 KiB, so entries are
 * sectored: a walk makes those parts of the page valid that are there.
 *
 * An entry may say that its page is in system memory (remote): it is a translation like any
 * other, and what is behind it takes its time on the link. Or that the page is a duplicate, to be
 * read alone: a write is a far fault with that access.
 *
 * Blocking (gmmu.blocking, HPCA'16 section 2.1): from its first far fault until that page
 * is translated an SM's TLB answers nothing, hits neither. Look-ups that come wait, in
 * order; walks that end wait as well. Then the TLB takes tlb.ports of them a cycle.
 *
 * Threads: gmmu_translate() touches its SM's TLB and outbox alone, so SMs may look
 * up at the same time. All else is one thread's, while none looks up; ops are
 * called from there only, never from gmmu_translate().
 */
#ifndef GPUEMU_GMMU_GMMU_H
#define GPUEMU_GMMU_GMMU_H

#include "base/addr_range.h"
#include "base/base.h"
#include "base/fault.h"
#include "base/spec.h"
#include "stats/stats.h"


/*
 * A translation is a host address with two bits of the page-table entry above it, where no
 * address of a process has any: the page is in system memory, across the link; the page may
 * not be written (a duplicate). NULL: no translation.
 */
#define GMMU_REMOTE	(1ull << 63)
#define GMMU_READ_ONLY	(1ull << 62)

static inline void *gmmu_entry(void *host, uint64_t bits)
{
	return host ? (void *)((uintptr_t)host | bits) : NULL;
}

static inline void *gmmu_host(const void *translation)
{
	return (void *)((uintptr_t)translation & ~(GMMU_REMOTE | GMMU_READ_ONLY));
}

static inline bool gmmu_remote(const void *translation)
{
	return (uintptr_t)translation & GMMU_REMOTE;
}

/* Does the translation do for the access? One that is not there does not. */
static inline bool gmmu_allows(const void *translation, uint8_t access)
{
	return translation &&
	       (access < ACCESS_WRITE || !((uintptr_t)translation & GMMU_READ_ONLY));
}

/*
 * One access that waits for one page. The SM's; the gmmu links it from
 * gmmu_translate() until translated(). sm, warp, kernel and access are filled
 * by the SM, the rest is the gmmu's.
 */
struct gmmu_waiter {
	struct gmmu_waiter *next;
	uint64_t page;			/* PAGE_BYTES */
	uint64_t cycle;			/* of the look-up; from faulted() on, of that */
	uint16_t sm, warp;
	uint8_t access;			/* enum access_type */
	uint8_t kernel;			/* slot, below KERNEL_SLOTS */
	bool told;			/* faulted() was called */
};

/* Tells an SM of its waiters; called from gmmu_step() and gmmu_arrived(). */
struct gmmu_sm_ops {
	/* The waiter's page has a translation now that allows the access; the waiter is the SM's again. */
	void (*translated)(void *ctx, struct gmmu_waiter *waiter, uint64_t page,
			   void *host, uint64_t now);
	/*
	 * NACK-replayable: the waiter's page is on the other side of the link; or the SM is
	 * blocked by another page that is. Once a waiter.
	 */
	void (*faulted)(void *ctx, struct gmmu_waiter *waiter, uint64_t now);
};

/* The page table, as its owner has it. */
struct gmmu_ops {
	/* Reads the page table: the translation of 4 KiB, NULL when there is none. */
	void *(*walk)(void *ctx, uint64_t page);
	/*
	 * A TLB was filled for an access to these 4 KiB: recency and use of the page. With
	 * paging.record also: a hit of an entry that was not told for 16384 cycles.
	 */
	void (*touch)(void *ctx, uint64_t page, bool write);
	/*
	 * Reads 32 bytes of the page table for a walk: the owner calls gmmu_pte() when they
	 * arrive. addr counts from the root table; the others follow in the order in which walks
	 * first need them. kernel: the slot of the one whose access began the walk.
	 * False: no room, it asks again in the next cycle. Not needed with gmmu.walk_latency or
	 * without paging.
	 */
	bool (*read_pte)(void *ctx, uint64_t addr, uint32_t walk, unsigned int kernel,
			 uint64_t now);
};

struct gmmu;

/* -ENOMEM. spec is copied from; ctx is handed to every op. */
int gmmu_create(const struct gpu_spec *spec, uint32_t va_space,
		const struct gmmu_ops *ops, void *ctx, struct gmmu **gmmu);
void gmmu_destroy(struct gmmu *gmmu);
/* Called before the SM's first look-up. The GMMU tells ops and ctx of the SM's waiters. */
void gmmu_attach(struct gmmu *gmmu, unsigned int sm, const struct gmmu_sm_ops *ops, void *ctx);

/*
 * Looks a page up in the TLB of waiter->sm. Its translation on a hit. NULL: a miss;
 * the waiter is in the outbox, and is given back by translated() later. A SM looks
 * up in the order of its cycles. waiter->sm, warp, kernel and access are set.
 *
 * A write to a page that may only be read is a miss, and a far fault when the walk says the
 * same. The SM's TLB forgets the page, so that later reads of it wait behind the write.
 */
void *gmmu_translate(struct gmmu *gmmu, uint64_t page,
		     struct gmmu_waiter *waiter, uint64_t now);

/*
 * Paging off (spec->paging 0): translation takes no time. Where managed addresses are
 * host addresses, these are the ranges that have pages (sorted, disjoint; copied, -ENOMEM):
 * gmmu_translate() answers from them alone. Elsewhere (none) it answers from a
 * table of what was walked, and the page table is read by the next gmmu_step().
 */
int gmmu_set_ranges(struct gmmu *gmmu, const struct addr_range *ranges, size_t n);

/*
 * Takes the look-ups of cycles <= now out of the outboxes, by cycle and then SM, and
 * does what is due, all in order of time. -ENOMEM.
 */
int gmmu_step(struct gmmu *gmmu, uint64_t now);
/*
 * The next cycle in which an SM may be told something, or NEVER. Look-ups not yet stepped over
 * do not count.
 */
uint64_t gmmu_next(const struct gmmu *gmmu);
/* The next cycle in which there is anything to do by itself: gmmu_next(), or work inside. */
uint64_t gmmu_wake(const struct gmmu *gmmu);
/*
 * Cycles by which a look-up, or an entry that was read, acts on an SM at the soonest: the
 * longest quantum that SMs may be run apart. At least 1.
 */
unsigned int gmmu_lookahead(const struct gmmu *gmmu);

/* The entry that read_pte() asked for has come. Called before that cycle's gmmu_step(). */
void gmmu_pte(struct gmmu *gmmu, uint32_t walk, uint64_t now);

/*
 * The fault buffer: records not yet taken; takes the oldest, at most max. Several
 * batches may be out at a time. A record's address is that of the 4 KiB that were
 * accessed, whatever gmmu.page is.
 */
unsigned int gmmu_faults(const struct gmmu *gmmu);
/* Does anything wait for a page? */
bool gmmu_waiting(const struct gmmu *gmmu);
unsigned int gmmu_take(struct gmmu *gmmu, struct fault *faults,
		       unsigned int max);
/*
 * [addr, addr + bytes) came to device memory, or will not come this time. The MSHRs of these
 * pages are released, whether their records were taken or not (those leave the buffer);
 * their requests walk again, and so do the dropped ones of these SMs. Returns how many
 * requests walk because of it; a page that nobody waits for costs a look-up. Of a big page
 * the range may be a part: it counts if somebody waits for that part, as the one on record does.
 *
 * Nothing but this lets a far fault go on. So the taker of a record must have its page's MSHR
 * released at some time.
 */
unsigned int gmmu_arrived(struct gmmu *gmmu, uint64_t addr, uint64_t bytes, uint64_t now);

/* Translations of [start, end) are no longer valid. */
void gmmu_invalidate(struct gmmu *gmmu, uint64_t start, uint64_t end);

/* Forgets waiters, walks, MSHRs and records (a kernel was ended); TLBs stay. */
void gmmu_cancel(struct gmmu *gmmu);

struct gmmu_stats {
	uint64_t tlb_hits, tlb_misses;	/* by 4 KiB that a warp instruction is on */
	uint64_t walks;
	uint64_t faults;		/* records written */
	uint64_t nacks;			/* far faults dropped: no MSHR, or buffer full */
	uint64_t replays;		/* notices that released MSHRs */
	uint64_t l2tlb_hits, l2tlb_misses;	/* 0 without l2tlb.entries */
	uint64_t pwc_hits, pwc_misses;	/* look-ups in the page-walk cache, one a level read */
	uint64_t pte_reads;		/* 32-byte reads of the page table that went to memory */
	uint64_t blocked_cycles;	/* gmmu.blocking: SM-cycles in which a TLB took nothing */
	struct histogram walk_cycles;	/* of a walk: begun to ended */
	struct histogram far_wait_cycles;	/* of a waiter: faulted() to translated() */
	/* The same by the waiters' kernel; walks and look-ups behind the TLBs by the kernel that began them. */
	struct {
		uint64_t tlb_hits, tlb_misses, walks, nacks;
		uint64_t l2tlb_hits, l2tlb_misses, pwc_hits, pwc_misses, pte_reads;
		uint64_t far_waits, far_wait_cycles;
	} of[KERNEL_SLOTS];
};
/* Up to now, of all SMs. */
const struct gmmu_stats *gmmu_stats(struct gmmu *gmmu);

/* For tests and assertions. */
unsigned int gmmu_mshrs_used(const struct gmmu *gmmu, unsigned int sm);
bool gmmu_tlb_holds(const struct gmmu *gmmu, unsigned int sm, uint64_t page);
bool gmmu_blocked(const struct gmmu *gmmu, unsigned int sm);

#endif
