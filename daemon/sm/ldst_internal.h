/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Inside the load/store unit (ldst.c, access.c, port.c, l1d.c, constant.c, texture.c, local.c,
 * perform.c). The
 * machine is GPGPU-Sim's ldst_unit: a dispatch register; the pipeline of shared memory;
 * L1C; a latency queue before L1D's tags; miss queues; a response queue; a writeback port.
 *
 * Nothing shifts. A stage queue is a ring whose entries hold the cycle in which they
 * would be at its end if nobody were in the way. GPGPU-Sim's registers close up when the
 * first one is stuck, so an entry is at the end in that cycle, or as soon after it as the entry
 * before it has left (one leaves a cycle), and the first register is taken only when
 * all are: the ring's room is the number of stages.
 *
 * `next` is the first cycle with something to do; a part that is stuck has no such
 * cycle until what it waits for changes, and what it failed in the meantime is counted then.
 */
#ifndef GPUEMU_SM_LDST_INTERNAL_H
#define GPUEMU_SM_LDST_INTERNAL_H

#include "sm/scoreboard.h"

/* Lines of one instruction: 32 lanes with 8 words of local memory each. */
#define MAX_LINES	(WARP_LANES * 8u)

/* What sm_inst.state says: how the unit treats the instruction. */
enum ldst_path {
	PATH_NONE,		/* nothing to do: guarded off, fences */
	PATH_SHARED,		/* sm_inst.left: cycles at the banks */
	PATH_CONST,		/* through L1C */
	PATH_CACHED,		/* through L1D: global and local */
	PATH_DIRECT,		/* past L1D: atomics, .cg */
	PATH_TEXTURE,		/* through L1T */
};

/* mem_request.tag: the receiver of the answer, in the two highest bits. */
#define TAG_L1D		0x00000000u	/* index of ldst.fetches */
#define TAG_L1C		0x40000000u	/* same */
#define TAG_TEXTURE	0x60000000u	/* of TAG_L1C's kind: place in L1T's reorder buffer */
#define TAG_INST	0x80000000u	/* index of sm->insts.at: one answer of a direct access */
#define TAG_STORE	0xc0000000u	/* warp: one sector is acknowledged */
#define TAG_KIND	0xc0000000u
#define TAG_BACKGROUND	0xe0000000u	/* job: one sector of background.c */
#define TAG_NOBODY	0xffffffffu	/* L1D's write-backs */

/* The lanes of an instruction that are on one page, when it was not in the TLB. */
struct page_group {
	struct gmmu_waiter waiter;	/* linked in the gmmu while waiting */
	uint32_t entry;
	uint32_t lanes;
	uint16_t first, lines;		/* range of access_entry.lines */
	bool waiting;
};

/*
 * A memory instruction that has lines, from issue until the last is on its way and the
 * last page performed (refs).
 */
struct access_entry {
	struct exec_access access;
	struct mem_line lines[MAX_LINES]; /* GLOBAL: virtual addresses; else device addresses */
	struct page_group groups[WARP_LANES];
	uint32_t inst;
	uint32_t next_free;
	uint64_t order;			/* how many there were before it */
	uint16_t nlines, looked_up;	/* lines whose page was asked for */
	uint8_t ngroups;		/* pages that missed */
	uint8_t waiting;		/* of them, still */
	uint8_t warp, kind;		/* kind: enum mem_kind */
	/* The dispatch register's; one a page not performed, one a page whose lines come late. */
	uint16_t refs;
	bool used, direct;
	bool orders;			/* nothing of the warp passes it */
	bool mapped;			/* a shared access with mapping tables; its sets: */
	uint64_t sets;
	/* A fetch: its lines, not translated; `lines` are the pages of all of its texels. */
	uint8_t ntexels;
	uint64_t texels[WARP_LANES];
	bool any_remote;		/* some of its lines are in system memory: */
	uint64_t remote[MAX_LINES / 64];
};

/* Is line i of the access in system memory? It goes past L1D. */
static inline bool line_remote(const struct access_entry *e, unsigned int i)
{
	return e->any_remote && e->remote[i / 64] >> (i % 64) & 1;
}

#define ENTRY_CHUNK	16u

/* Lines of a page that came late, on their way to L1D or to memory, one a cycle. */
struct late_lines {
	uint64_t ready;
	uint32_t entry;
	uint16_t first, lines;
};

struct stage {
	uint64_t ready;
	uint32_t inst;
};

/* One transaction before L1D's tags. */
struct l1d_access {
	uint64_t ready, addr;
	uint32_t inst;			/* of a load */
	uint8_t kind, cls, bytes, warp;
	uint32_t byte_mask[MEM_SECTORS]; /* of a store */
};

/* A line that is being fetched: by sectors. */
struct fetch_line {
	uint64_t addr;
	uint32_t next_free;
	uint8_t left;
};

/* A page's lanes, to be performed in their cycle. */
struct perform {
	uint64_t cycle, page;
	void *host;
	uint32_t entry, lanes;
};

/* Requests on their way out, in order; at most `size`. */
struct miss_queue {
	struct mem_request *at;
	uint32_t head, count, size;
};

/* Instructions whose data is there, for the writeback port. A power of two of places. */
struct ready_list {
	uint32_t *at;
	uint32_t head, tail, mask;
};

enum { CLIENT_SHARED, CLIENT_TEXTURE, CLIENT_L1C, CLIENT_DIRECT, CLIENT_L1D, CLIENTS };

struct reexec;

/* L1T: texture.c. */
struct fragment {
	uint32_t inst;
	bool miss;
};
struct texture_unit {
	struct cache *tags;
	struct fragment *fifo;
	uint32_t fifo_head, fifo_count, fifo_size;
	uint8_t *rob;			/* sectors that are not answered */
	uint32_t rob_head, rob_count, rob_size;
	struct miss_queue queue;
	struct ready_list ready;
	uint32_t results;		/* that `ready` holds at most */
	uint64_t fail_from;		/* it takes nothing since; NEVER: it does */
};

struct ldst {
	uint64_t next;

	/* Dispatch register. */
	uint32_t inst;			/* NO_INDEX: empty */
	uint64_t taken;			/* cycle in which it was filled */
	uint64_t busy_from;		/* cycles before are counted as busy */
	uint32_t stall;			/* cycles that it takes for its lines or its conflicts */
	uint64_t pages;			/* cycles for its pages */
	uint64_t page_from;		/* waits for one since; NEVER: it does not */
	uint64_t step;			/* cycle in which it goes on; NEVER: when it is told */
	uint64_t fail_from;		/* L1C refuses since; NEVER: it does not */
	uint16_t sent;			/* lines before it are sent or wait for their page */
	uint8_t skip;			/* group of the next lines that wait */
	uint64_t send_from;		/* first cycle for lines: TLB latency */
	uint64_t entrance;		/* cycle from which the way to L1D is free */
	uint64_t out_next;		/* cycle in which a miss queue sends next; NEVER */

	/* Shared memory. */
	struct stage *pipe;
	uint32_t pipe_head, pipe_count, pipe_size;

	struct cache *l1c;
	struct miss_queue l1c_queue;
	struct ready_list l1c_ready;

	/* L1D: latency queue and tags. */
	struct cache *l1d;
	struct l1d_access *queue;
	uint32_t queue_head, queue_count, queue_size;
	uint8_t stuck;			/* enum cache_outcome of the head, if it failed; else CACHE_HIT */
	uint64_t stuck_from;		/* not counted since */
	uint64_t retry;			/* of a stuck head; NEVER: when it is told */
	uint64_t tags_used;		/* cycle in which an access was at them last */
	struct miss_queue l1d_queue;
	struct ready_list l1d_ready;

	struct texture_unit texture;

	struct reexec *reexec;		/* NULL: sm.mem_order=fifo */
	uint32_t aside;			/* loads that it has */

	struct fetch_line *fetches;	/* L1D's and L1C's */
	uint32_t nfetches, free_fetch;
	uint32_t *waiters;		/* scratch of fills */

	struct mem_reply *replies;	/* response queue */
	uint32_t reply_head, reply_count, reply_size;
	uint32_t direct;		/* answered direct access, for the port; NO_INDEX */
	bool direct_atomic;

	/* Writeback port. */
	uint32_t port;			/* instruction in it; NO_INDEX */
	uint8_t arbiter;

	struct late_lines *late;
	uint32_t late_head, late_count, late_size;

	struct perform *performs;
	uint32_t perform_head, perform_count, perform_size;

	struct access_entry **chunks;
	uint32_t nchunks, free_entry, used_entries;
	uint64_t entries;		/* that there were */

	uint16_t faulted[MAX_WARPS];	/* pages of the warp that are far faults */
	uint8_t untranslated[MAX_WARPS]; /* accesses of the warp, and of them those that order */
	uint8_t ordering[MAX_WARPS];
	uint16_t accesses[MAX_WARPS];	/* instructions of the warp that are in the unit or in memory */
	uint16_t missing[MAX_WARPS];	/* lines of the warp's loads that L1D did not have */
};

/* A line of a load goes to memory, or waits for L1D to take it: n of them more. */
static inline void warp_missing(struct sm *sm, unsigned int w, int n)
{
	sm->ldst->missing[w] = (uint16_t)(sm->ldst->missing[w] + n);
	set_let(&sm->accesses.missing, w, sm->ldst->missing[w]);
	if (sm->mech.stall_on & SM_WAIT_MISS)
		sm->mech.look = true;
}

static inline struct access_entry *entry_at(const struct ldst *l, uint32_t i)
{
	return &l->chunks[i / ENTRY_CHUNK][i % ENTRY_CHUNK];
}

/* Sizes of rings are any number; i < size. */
static inline uint32_t ring_at(uint32_t head, uint32_t i, uint32_t size)
{
	uint32_t at = head + i;

	return at >= size ? at - size : at;
}

static inline void wake_at(struct ldst *l, uint64_t cycle)
{
	l->next = MIN(l->next, cycle);
}

static inline bool ready_empty(const struct ready_list *r)
{
	return r->head == r->tail;
}

static inline void ready_push(struct ready_list *r, uint32_t inst)
{
	r->at[r->tail++ & r->mask] = inst;
}

static inline uint32_t ready_pop(struct ready_list *r)
{
	return r->at[r->head++ & r->mask];
}

static inline bool queue_has_room(const struct miss_queue *q, uint32_t n)
{
	return q->count + n <= q->size;
}

/* When memory may have room for the request that it has none for now. */
static inline uint64_t credit_next(const struct sm *sm, const struct mem_request *r, uint64_t now)
{
	return MAX(mem_ready_at(sm->env.mem, sm->id, r, now), now + 1);
}

/* Stages in which a mapping table is looked up; 0: there is none. */
static inline uint64_t ldst_lookup(const struct sm *sm)
{
	return sm->env.mechanism->shared_set ? sm->spec->zorua_lookup : 0;
}

/* ldst.c */
/* One of the instruction's accesses is answered; with the last one its registers are there. */
void access_answered(struct sm *sm, uint32_t inst);
/* Leaves the dispatch register. */
void dispatch_leave(struct sm *sm, uint64_t now);
struct mem_request *miss_push(struct ldst *l, struct miss_queue *q, uint64_t now);
/* Sends one request if memory has room for it; true: it did. */
bool miss_send(struct sm *sm, struct miss_queue *q, uint64_t now);
uint32_t fetch_new(struct ldst *l, uint64_t addr, unsigned int sectors);
void fetch_free(struct ldst *l, uint32_t i);

/* port.c */
/* Dispatch register: the access to shared memory is done with its banks. */
void shared_step(struct sm *sm, uint64_t now);
uint64_t shared_next(const struct ldst *l);
void port_cycle(struct sm *sm, uint64_t now);

/* entry.c */
/* The one for the instruction, whose access exec_step() has just filled in. */
struct access_entry *entry_claim(struct ldst *l, uint32_t index, const struct sm_inst *inst);
void entry_put(struct ldst *l, uint32_t i);
unsigned int entry_sectors(const struct access_entry *e);	/* of its lines */

/* access.c */
/* The lines of the access that exec_step() has just filled in; claims its entry. */
void access_global(struct sm *sm, uint32_t inst);
/* Local, constant and parameter memory: performed already. */
void access_here(struct sm *sm, uint32_t inst);
/* Dispatch register: looks pages up and sends lines. */
void access_step(struct sm *sm, uint64_t now);
/* The same of a fetch's pages alone. True: each is there, or will come by itself. */
bool access_pages(struct sm *sm, struct access_entry *e, uint64_t now);
/* Lines whose pages came late. */
void access_late(struct sm *sm, uint64_t now);
uint64_t access_late_next(const struct ldst *l, uint64_t now);

/* shared.c: shared accesses with mapping tables. */
void mapped_issue(struct sm *sm, uint32_t index, const struct exec_access *a);
/* Dispatch register: it is done with the banks. False: nothing of it is in swap. */
bool mapped_lines(struct sm *sm, uint64_t now);
void mapped_finish(struct sm *sm, uint32_t index);

/* local.c: the lines of a local access, in device addresses. */
void local_lines(struct sm *sm, struct access_entry *e);

/* l1d.c */
int ready_create(struct ready_list *r, uint32_t places);
int l1d_create(struct sm *sm);
void l1d_destroy(struct ldst *l);
void l1d_cancel(struct ldst *l);
/* Room for a line in the latency queue. */
unsigned int l1d_room(const struct ldst *l);
/* Line i of the entry enters the latency queue in cycle `now`. */
void l1d_enter(struct sm *sm, struct access_entry *e, unsigned int i, uint64_t now);
/* Line i goes past L1D, and if it is in system memory, to the link. Returns 0, or the cycle in which memory may have room for it. */
uint64_t l1d_pass(struct sm *sm, struct access_entry *e, unsigned int i, uint64_t now);
/* A sector of a line of L1D has come. */
void l1d_reply(struct sm *sm, uint32_t fetch, unsigned int sectors, uint64_t now);
void l1d_send(struct sm *sm, uint64_t now);
void l1d_cycle(struct sm *sm, uint64_t now);
uint64_t l1d_next(const struct sm *sm, uint64_t now);
void l1d_settle(struct sm *sm, uint64_t upto);
/*
 * A read of a line by background.c, outside the queue: its waiter comes back by
 * background_filled() after CACHE_MISS and CACHE_PENDING; CACHE_NO_MSHR and on: not now.
 */
enum cache_outcome l1d_background(struct sm *sm, uint64_t addr, uint32_t waiter,
				  unsigned int kernel, uint64_t now);

/* constant.c */
int l1c_create(struct sm *sm);
void l1c_destroy(struct ldst *l);
void l1c_cancel(struct ldst *l);
void constant_lines(struct sm *sm, struct access_entry *e);
/* Dispatch register: one line. */
void constant_step(struct sm *sm, uint64_t now);
void constant_reply(struct sm *sm, uint32_t fetch, unsigned int sectors, uint64_t now);
void constant_send(struct sm *sm, uint64_t now);
void constant_settle(struct sm *sm, uint64_t upto);

/* texture.c */
int l1t_create(struct sm *sm);
void l1t_destroy(struct ldst *l);
void l1t_cancel(struct ldst *l);
bool l1t_idle(const struct ldst *l);
/* The pages and lines of the fetch that exec_step() has just filled in; how many lines. */
unsigned int l1t_issue(struct access_entry *e);
/* Dispatch register: one line. */
void l1t_step(struct sm *sm, uint64_t now);
/* Line i of the entry enters L1T; false: it has no room. */
bool l1t_enter(struct sm *sm, const struct access_entry *e, unsigned int i, uint64_t now);
void l1t_reply(struct sm *sm, uint32_t tag, unsigned int sectors);
void l1t_send(struct sm *sm, uint64_t now);
/* The oldest fetch goes on, if its texels are there. */
void l1t_cycle(struct sm *sm, uint64_t now);
bool l1t_busy(const struct ldst *l);	/* it has something to do in the next cycle */
void l1t_settle(struct sm *sm, uint64_t upto);

/* perform.c */
int perform_push(struct sm *sm, uint32_t entry, uint32_t lanes, uint64_t page, void *host,
		 uint64_t now);

#endif
