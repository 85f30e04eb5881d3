/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What gmmu.c (requests and walks) and far.c (far faults) share. Private to
 * the gmmu room.
 *
 * A *request* is one page that one SM misses on, with all the waiters that
 * joined it. It is in exactly one place:
 *   QUEUED   in the walk queue, no walker free yet
 *   WALKING  in the ring of walks
 *   TRACKED  far fault with an MSHR: the MSHR finds it through the hash
 *   DROPPED  far fault without one: in its SM's list, oldest first
 */
#ifndef GPUEMU_GMMU_INTERNAL_H
#define GPUEMU_GMMU_INTERNAL_H

#include "gmmu/gmmu.h"
#include "gmmu/tlb.h"

#define NONE	UINT32_MAX

enum request_state { REQUEST_QUEUED, REQUEST_WALKING, REQUEST_TRACKED, REQUEST_DROPPED };
/* Why it walks: a look-up missed; its MSHR was released; it was dropped before. */
enum request_origin { ORIGIN_MISS, ORIGIN_SERVED, ORIGIN_RESENT };

struct request {
	uint64_t page;
	struct gmmu_waiter *first, *last;
	uint32_t chain;		/* of the hash bucket, or of the free list */
	uint32_t next;		/* of the walk queue or the dropped list */
	uint16_t sm, warp;	/* warp of the first waiter, for the record */
	uint8_t access;		/* strongest of the waiters */
	uint8_t state, origin;
};

struct request_list {
	uint32_t head, tail, count;
};

/* One far fault in flight. It has a record: in the buffer, or taken by the handler. */
struct mshr {
	uint64_t page;
	uint64_t sms[4];	/* SMs that hold one of their MSHRs on it: 256 at most */
	uint32_t chain;
};

/* What was walked for an SM while paging is off: direct mapped, by page number. */
#define FLAT_ENTRIES	1024u
struct flat_entry {
	uint64_t page;		/* FLAT_NONE: empty; no page has that address */
	void *host;
};
#define FLAT_NONE	1ull

/*
 * An SM's part. The first half is what gmmu_translate() touches, so it shares no
 * cache line with anyone else's.
 */
struct sm_state {
	_Alignas(64) struct tlb tlb;
	struct gmmu_waiter *out, *out_last;	/* the outbox, oldest first */
	uint64_t hits, misses;
	struct gmmu_range last_range;		/* paging off: the one that answered last */
	struct flat_entry *flat;		/* paging off, FLAT_ENTRIES or NULL */

	_Alignas(64) struct request_list dropped;
	uint32_t pending;	/* MSHRs used: the TLB's counter of NACKs that are being handled */
	uint32_t resent;	/* dropped requests that walk again now */
};

struct walk {
	uint64_t done;
	uint32_t request;
};

struct gmmu {
	const struct gmmu_ops *ops;
	void *ctx;
	uint32_t va_space;
	uint32_t sms;
	uint32_t walk_latency, walkers, far_mshrs;
	bool ideal;			/* paging off */
	struct gmmu_range *ranges;	/* while it is */
	uint32_t nranges;
	struct sm_state *sm;

	struct request *requests;
	uint32_t nrequests, free_request;
	uint32_t *request_buckets, request_mask;
	struct request_list queue;	/* for a walker */
	struct walk *walks;		/* ring of `walkers`, in the order they end */
	uint32_t walk_head, walk_count;
	uint32_t served_walks;		/* ORIGIN_SERVED requests queued or walking */

	struct mshr *mshrs;
	uint32_t nmshrs, free_mshr;
	uint32_t *mshr_buckets, mshr_mask;
	struct fault *buffer;		/* ring */
	uint32_t buffer_entries, get, records;
	uint32_t *taken;		/* MSHRs of the batch that the handler has */
	uint32_t ntaken;

	struct gmmu_stats stats;
};

/* gmmu.c */
struct request *request_find(struct gmmu *g, unsigned int sm, uint64_t page);
void request_walk(struct gmmu *g, struct request *r, enum request_origin origin,
		  uint64_t now);
void list_push(struct gmmu *g, struct request_list *list, struct request *r);
struct request *list_pop(struct gmmu *g, struct request_list *list);

/* flat.c: paging off */
int flat_init(struct gmmu *g);
void flat_fini(struct gmmu *g);
void *flat_translate(struct gmmu *g, struct sm_state *s, uint64_t page);
void flat_invalidate(struct gmmu *g, uint64_t start, uint64_t end);
/* The look-up missed: reads the page table now; a page that is not there stays with the caller. */
void flat_walk(struct gmmu *g, struct gmmu_waiter *w, uint64_t now);

/* far.c */
int far_init(struct gmmu *g, const struct gpu_spec *spec);
void far_fini(struct gmmu *g);
void far_cancel(struct gmmu *g);
/* The waiter's page is far: says so, once. */
void far_tell(struct gmmu *g, struct gmmu_waiter *w, uint64_t now);
/* The request's walk found nothing. */
void far_fault(struct gmmu *g, struct request *r, uint64_t now);
/* Sends dropped requests of an SM again, as many as could get an MSHR. */
void far_resend(struct gmmu *g, unsigned int sm, uint64_t now);

#endif
