/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of the gmmu room share: gmmu.c (look-ups, time), request.c, l2tlb.c,
 * walker.c (walks), far.c (far faults), block.c (blocking), touch.c (recorded use), event.c
 * and flat.c (paging off). Private to the room.
 *
 * A *request* is one page that one SM misses on, with all the waiters that
 * joined it. It is in exactly one place:
 *   QUEUED   in the shared TLB, or in the walk queue with no walker free yet
 *   WALKING  in a walk
 *   TRACKED  far fault with an MSHR: the MSHR finds it through the hash
 *   DROPPED  far fault without one, or its walk ended while its SM was blocked: in its
 *            SM's list, oldest first
 */
#ifndef GPUEMU_GMMU_STATE_H
#define GPUEMU_GMMU_STATE_H

#include "base/u64map.h"
#include "gmmu/gmmu.h"
#include "gmmu/tlb.h"

#define NONE	UINT32_MAX

enum request_state {
	REQUEST_QUEUED, REQUEST_WALKING, REQUEST_TRACKED, REQUEST_DROPPED,
};

struct request {
	uint64_t page;		/* of page_bytes */
	struct gmmu_waiter *first, *last;
	uint32_t chain;		/* of the hash bucket, or of the free list */
	uint32_t next, prev;	/* of the walk queue or the dropped list */
	uint64_t dropped;	/* when, in the order of all; of a dropped one */
	uint16_t sm, warp;	/* warp of the first waiter, for the record */
	uint8_t access;		/* strongest of the waiters */
	uint8_t kernel;		/* of the first waiter */
	uint8_t state;
	bool resent;		/* it was dropped and is counted to get an MSHR */
	bool news;		/* dropped, and in sm_state.news */
};

#define NEWS_MAX	256u

struct request_list {
	uint32_t head, tail, count;
};

/* --- events (event.c) ----------------------------------------------------------- */

enum event_kind {
	EVENT_L2TLB,		/* of a request: its look-up in the shared TLB ends */
	EVENT_LEVEL,		/* of a walk: a look-up in the page-walk cache ends */
	EVENT_PTE,		/* of a walk: the entry that it read is there */
	EVENT_SEND,		/* reads of the page table that found no room try again */
	EVENT_WALKED,		/* of a walk: gmmu.walk_latency is over */
	EVENT_TLB,		/* of an SM: its TLB takes look-ups that waited while it was blocked */
};

struct event {
	uint64_t at, order;	/* order: of those of one cycle, as they were made */
	uint32_t kind, of;
};

/* A binary heap, the next one first. */
struct events {
	struct event *at;
	uint32_t count, room;
};

int events_push(struct events *e, const struct event *event);	/* -ENOMEM */
void events_pop(struct events *e);
static inline uint64_t events_next(const struct events *e)
{
	return e->count ? e->at[0].at : NEVER;
}

/* --- far faults (far.c) ----------------------------------------------------------- */

/* One far fault in flight. It has a record: in the buffer, or taken by the handler. */
struct mshr {
	uint64_t page;		/* of page_bytes */
	uint64_t sms;		/* that are told: 64 at most */
	uint32_t owner;		/* of them, whose far fault it is */
	uint32_t chain;
	uint64_t record;	/* its place in the buffer; NEVER: taken */
};

/* --- walks (walker.c) --------------------------------------------------------------- */

#define PT_LEVELS	4u
#define PTE_BYTES	8u
#define PTE_READ	32u	/* bytes of a read of the page table */

struct walk {
	uint64_t begun;
	uint64_t read;		/* address of the 32 bytes that it waits for */
	uint32_t request;
	uint32_t next;		/* of the free list, or of the walks that wait for one read */
	uint32_t last;		/* of those, in the first one */
	uint32_t chain;		/* of the hash of reads */
	uint8_t level;
};

struct walker {
	uint32_t latency;	/* gmmu.walk_latency; 0: modelled */
	uint32_t pwc_latency;
	bool has_pwc;
	struct tlb pwc;
	struct walk *walks;
	uint32_t nwalks, free;
	struct request_list queue;	/* requests that wait for a walker */
	uint32_t *read_buckets, read_mask;
	uint32_t *unsent;	/* ring of nwalks: reads that have not found room */
	uint32_t unsent_head, unsent_count;

	/* The page table. */
	uint8_t levels;
	uint8_t shift[PT_LEVELS];	/* log2 of the bytes that an entry stands for */
	uint8_t bits[PT_LEVELS];	/* log2 of a table's entries */
	struct u64map tables;	/* address, by what a table translates and its level */
	uint64_t next_table;
};

/* --- paging off (flat.c) ---------------------------------------------------------------- */

/* An SM's walked pages while paging is off: a direct-mapped table by page number. */
#define FLAT_ENTRIES	1024u
struct flat_entry {
	uint64_t page;		/* FLAT_NONE: empty; no page has that address */
	void *host;
};
#define FLAT_NONE	1ull

/* --- use of pages that hit (touch.c) ------------------------------------------------------- */

struct touch {
	uint64_t cycle, page;
	bool write;
};

/* One SM's touches. Its look-ups write them in the order of its cycles. */
struct touches {
	uint64_t *said;		/* by TLB entry: when its use was told last; NULL: not recorded */
	struct touch *at;
	uint32_t next, count, room;
	bool failed;		/* no memory */
};

/* --- all of it ------------------------------------------------------------------------------ */

/*
 * An SM's part. The first half is what gmmu_translate() touches, so it shares no
 * cache line with anyone else's.
 */
struct sm_state {
	_Alignas(64) struct tlb tlb;
	struct gmmu_waiter *out, *out_last;	/* the outbox, oldest first */
	uint64_t hits[KERNEL_SLOTS], misses[KERNEL_SLOTS];
	bool blocked;		/* look-ups are not answered, but go to the outbox */
	struct addr_range last_range;		/* paging off: the one that answered last */
	struct flat_entry *flat;		/* paging off, FLAT_ENTRIES or NULL */
	struct touches touches;

	/* The SM. */
	_Alignas(64) const struct gmmu_sm_ops *ops;
	void *ctx;
	struct request_list dropped;
	uint32_t pending;	/* MSHRs used: the TLB's counter of NACKs that are being handled */
	uint32_t resent;	/* requests that will need one when their walk has ended */
	/*
	 * Dropped requests whose page came, or is somebody's far fault since: the others need an
	 * MSHR of this SM. So those need not be looked at that can do nothing.
	 */
	uint32_t news[NEWS_MAX], nnews;
	bool news_lost;		/* there were more: all are looked at */
	/* Blocking: the far fault that it waits for, since when, and the look-ups that wait. */
	bool stuck;
	uint64_t stuck_page, stuck_since;
	struct gmmu_waiter *waiting, *waiting_last;
};

struct gmmu {
	const struct gmmu_ops *ops;
	void *ctx;
	uint32_t va_space;
	uint32_t sms;
	uint32_t tlb_ports, far_mshrs;
	uint64_t page_bytes;
	uint32_t sectors;		/* of a page, 4 KiB each */
	bool blocking;
	bool record;			/* the use of pages that hit is told, too */
	bool ideal;			/* paging off */
	struct addr_range *ranges;	/* while it is */
	uint32_t nranges;
	struct sm_state *sm;
	int error;			/* that gmmu_step() has to return */

	/* In which an SM may hear something, and the others. */
	struct events outer, inner;
	uint64_t events_made;

	struct request *requests;
	uint32_t nrequests, free_request;
	uint32_t *request_buckets, request_mask;

	bool has_l2tlb;
	struct tlb l2tlb;
	uint32_t l2tlb_ports, l2tlb_latency;
	uint64_t l2tlb_cycle;		/* of the last look-up that began */
	uint32_t l2tlb_begun;		/* in that cycle */

	struct walker walker;

	struct mshr *mshrs;
	uint32_t nmshrs, free_mshr, used_mshrs;
	uint32_t *mshr_buckets, mshr_mask;
	/* The fault buffer: a ring of free-running indices; some of its records may be dead. */
	struct fault *buffer;
	uint32_t *record_mshr;		/* by place; NONE: dead */
	uint32_t buffer_entries;
	uint64_t get, put;
	uint32_t records;		/* live */
	uint64_t drops;			/* request.dropped of the last one */

	struct gmmu_stats stats;
};

static inline uint64_t page_of(const struct gmmu *g, uint64_t addr)
{
	return addr & ~(g->page_bytes - 1);
}

static inline uint32_t page_hash(uint64_t page)
{
	return key_hash(page >> PAGE_SHIFT);
}

/* gmmu.c */
/* outer: an SM may be told something then. */
void event_at(struct gmmu *g, uint64_t at, enum event_kind kind, uint32_t of, bool outer);

/* request.c */
int requests_init(struct gmmu *g, const struct gpu_spec *spec);
void requests_fini(struct gmmu *g);
void requests_clear(struct gmmu *g);
struct request *request_find(struct gmmu *g, unsigned int sm, uint64_t page);
/* Through the shared TLB to a walk. */
void request_walk(struct gmmu *g, struct request *r, uint64_t now);
/*
 * The request's page was looked up: in the shared TLB, which has every part that somebody
 * waits for, or by a walk. What is there goes to the SM's TLB; false: nothing of the page is.
 */
bool request_end(struct gmmu *g, struct request *r, bool walked, uint64_t now);
void list_push(struct gmmu *g, struct request_list *list, struct request *r);
void list_push_front(struct gmmu *g, struct request_list *list, struct request *r);
struct request *list_pop(struct gmmu *g, struct request_list *list);
void list_remove(struct gmmu *g, struct request_list *list, struct request *r);
/* A look-up that missed: joins its page's request, or makes one. */
void look_up(struct gmmu *g, struct gmmu_waiter *w, uint64_t now);

/* l2tlb.c */
void l2tlb_begin(struct gmmu *g, struct request *r, uint64_t now);
void l2tlb_end(struct gmmu *g, struct request *r, uint64_t now);

/* walker.c */
int walker_init(struct gmmu *g, const struct gpu_spec *spec);
void walker_fini(struct gmmu *g);
void walker_cancel(struct gmmu *g);
void walker_queue(struct gmmu *g, struct request *r, uint64_t now);
/* EVENT_LEVEL, EVENT_PTE, EVENT_SEND, EVENT_WALKED. */
void walker_event(struct gmmu *g, const struct event *e);
void walker_invalidate(struct gmmu *g, uint64_t start, uint64_t end);

/* touch.c: paging.record */
int touch_init(struct gmmu *g, const struct gpu_spec *spec);
void touch_fini(struct gmmu *g);
/* The SM's TLB has just hit. */
void touch_hit(struct sm_state *s, const struct gmmu_waiter *w, uint64_t page, uint64_t now);
/* Tells the uses of cycles <= upto, by cycle and then SM. */
void touch_tell(struct gmmu *g, uint64_t upto);

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
/* The waiter's page is given back: what it waited for far faults is counted. */
void far_over(struct gmmu *g, const struct gmmu_waiter *w, uint64_t now);
/* The request's walk found nothing. */
void far_fault(struct gmmu *g, struct request *r, uint64_t now);
/* Sends the dropped requests of an SM again. */
void far_resend(struct gmmu *g, unsigned int sm, uint64_t now);

/* block.c */
/* The SM's TLB takes nothing new, for this page. */
void block_begin(struct gmmu *g, unsigned int sm, uint64_t page, uint64_t now);
/* The page is there. */
void block_end(struct gmmu *g, unsigned int sm, uint64_t now);
/* A look-up comes to a TLB that is blocked. */
void block_wait(struct gmmu *g, struct gmmu_waiter *w);
/* A walk for another page ends while the SM is blocked. */
void block_hold(struct gmmu *g, struct request *r, uint64_t now);
/* EVENT_TLB */
void block_go_on(struct gmmu *g, unsigned int sm, uint64_t now);

#endif
