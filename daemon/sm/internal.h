/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The parts of an SM and what its files call of each other. Private to the sm
 * room. Warps are bits of 64-bit masks; memory instructions, loads under way
 * and writebacks are indices into pools. Nothing is allocated while warps
 * issue, except that a pool may double.
 */
#ifndef GPUEMU_SM_INTERNAL_H
#define GPUEMU_SM_INTERNAL_H

#include "sm/sm.h"
#include "sm/wheel.h"

#define MAX_WARPS	64u
#define MAX_SCHEDULERS	8u
#define NO_INDEX	UINT32_MAX

/* Issue widths of SM2_GTX480: two SP units, one SFU, one load/store unit. */
#define SP_UNITS	2u
#define SFU_UNITS	1u

/* Barriers a CTA can name (PTX ISA, bar: 0 to 15). */
#define BARRIERS	16u

/* Lines of one instruction: 32 lanes with 8 words of local memory each. */
#define MAX_LINES	(WARP_LANES * 8u)

/* SM2_GTX480: registers a thread are rounded up to this. */
#define REGISTER_UNIT	4u

enum unit { UNIT_SP, UNIT_SFU, UNIT_MEM, UNITS };

/* One instruction as the pipelines see it. */
struct sm_op {
	uint8_t unit;
	uint8_t space;			/* enum ptx_space of memory instructions */
	bool memory, store, atomic;
	bool ordered;			/* memory, barrier, exit: not past an untranslated access */
	bool results;			/* writes registers, if only such that nobody reads */
	uint16_t latency, initiation;
	/*
	 * Its scoreboard slots, sm_kernel.slots from here on: first nwrite that it
	 * writes; none of the first ncheck may be pending when it issues.
	 */
	uint32_t slots;
	uint16_t ncheck, nwrite;
};

struct sm_kernel {
	const struct exec_launch *launch;
	struct sm_op *ops;
	uint32_t nops;
	uint16_t *slots;		/* of the scoreboard, what the ops check and write */
	uint32_t nslots, slot_room;
	uint32_t warps_per_cta, threads;
	uint32_t ctas;			/* an SM holds */
	uint32_t shared_bytes;		/* static and dynamic */
	uint64_t local_bytes;		/* a CTA */
	size_t arena_bytes;		/* a warp */
	uint32_t words;			/* 64-bit words of a scoreboard row */
};

/* The lanes of a memory instruction that are on one page. */
struct page_group {
	struct gmmu_waiter waiter;	/* linked in the gmmu while waiting */
	uint64_t page;
	uint32_t lanes;
	uint16_t first, lines;		/* range of entry.lines; sent from the front */
	bool waiting;
};

/*
 * A global or local memory instruction from issue until its last line is sent.
 * Owner: the load/store queue, then its waiting groups (gmmu) and its groups
 * in the line queue. Freed with the last line.
 */
struct sm_entry {
	struct exec_access access;
	struct page_group groups[WARP_LANES];
	uint64_t lines[MAX_LINES];
	uint32_t next_free;
	uint32_t load;
	uint16_t unsent;		/* lines */
	uint8_t ngroups, looked_up;
	uint8_t warp;
	bool used;
	bool translate;			/* pages still have to be looked up; local memory has none */
	uint8_t kind;			/* enum mem_kind */
};

/* A memory instruction until its last line is answered. */
struct sm_load {
	const struct sm_op *op;
	uint32_t left;			/* lines not answered */
	uint32_t next_free;
	uint8_t warp;
};

/* What the load/store unit works on, in order. */
struct ldst_slot {
	const struct sm_op *op;
	uint32_t entry;			/* NO_INDEX: shared, parameter, constant */
	uint32_t cycles, latency;	/* of the unit, for those */
	uint8_t warp;
};

/* A translated group whose lines are to be sent. */
struct ldst_out {
	uint64_t ready;			/* first cycle */
	uint32_t entry;
	uint8_t group;
};

struct ldst {
	struct ldst_slot *queue;	/* ring of `slots` */
	uint32_t slots, head, count;
	uint64_t free_at;		/* the unit takes the next instruction */
	struct ldst_out *out;		/* ring, as many as all entries' groups */
	uint32_t out_size, out_head, out_count;
	struct sm_entry *entries;
	uint32_t nentries, free_entry;
	struct sm_load *loads;
	uint32_t nloads, free_load;
};

struct sm_warp {
	struct exec_warp ex;
	const struct sm_op *op;		/* the next instruction */
	uint32_t inflight;		/* writebacks and memory instructions not finished */
	uint8_t cta;			/* slot */
	uint8_t barrier;		/* waits there, while in wait_barrier */
	bool reduces;			/* and wants its result (bar.red) */
	uint8_t faulted;		/* groups that wait for a far fault */
	uint8_t untranslated;		/* groups not performed */
};

/* One phase of a named barrier; all zero when nobody has come. */
struct barrier {
	uint64_t arrived;		/* warps, those that did not wait included */
	uint64_t waiting;		/* of them */
	uint32_t threads;		/* arrived; a warp counts whole (PTX ISA, bar) */
	uint32_t expected;
	bool whole;			/* the whole CTA: who has exited is not waited for */
	uint32_t votes, voters;		/* bar.red: true predicates, lanes that had one */
};

struct sm_cta {
	struct exec_cta ex;
	uint64_t warps;			/* slots that belong to it */
	uint64_t running;		/* of them, not exited */
	uint32_t unretired;		/* warps not exited or with something in flight */
	bool used;
	struct barrier barriers[BARRIERS];
};

struct sm {
	unsigned int id;
	struct sm_env env;
	const struct gpu_spec *spec;
	const struct sm_kernel *kernel;
	bool ideal;			/* paging off: translation takes no time */

	/* Sets of warps. A warp can issue when it is running and waits for nothing. */
	uint64_t running;		/* resident and not exited */
	uint64_t wait_operand;		/* scoreboard */
	uint64_t wait_long;		/* of them, on a load from memory */
	uint64_t wait_order;		/* next is memory, barrier or exit; an access is untranslated */
	uint64_t wait_barrier;
	uint64_t wait_fault;		/* descheduled: an access waits for a far fault */
	uint64_t untranslated;		/* has an access with pages missing */
	uint64_t wants[UNITS];		/* by the unit of the next instruction */

	uint64_t mine[MAX_SCHEDULERS];	/* warps of each scheduler */
	struct sched_state sched[MAX_SCHEDULERS];
	const struct sched_ops *policy;
	uint64_t accounted;		/* cycles before this are attributed */

	uint64_t sp_free[SP_UNITS], sfu_free[SFU_UNITS]; /* cycle in which the unit takes a warp */
	struct ldst ldst;
	struct wheel wheel;		/* writebacks */

	struct sm_warp *warps;
	uint64_t age[MAX_WARPS];
	uint64_t next_age;
	uint64_t *pending, *pending_long; /* scoreboard rows, kernel->words each */
	struct sm_cta *ctas;
	uint32_t resident;		/* CTAs */

	uint8_t *arena, *shared, *local;
	size_t arena_size, shared_size, local_size, row_size;

	struct exec_access scratch;
	int error;
	uint64_t fault_addr;
	struct sm_stats stats;
};

static inline uint64_t warp_bit(unsigned int w)
{
	return 1ull << w;
}

static inline uint64_t sm_ready(const struct sm *sm)
{
	return sm->running & ~(sm->wait_operand | sm->wait_order |
			       sm->wait_barrier | sm->wait_fault);
}

/* sm.c */
void sm_fail(struct sm *sm, int error);

/* issue.c */
/* Puts the warp's next instruction before the scoreboard. */
void warp_decode(struct sm *sm, unsigned int w);
void warp_check_order(struct sm *sm, unsigned int w);
/* The instruction's results are there (and it is finished, for the warp's count). */
void warp_writeback(struct sm *sm, unsigned int w, const struct sm_op *op);
void sm_issue(struct sm *sm, uint64_t now);

/* ldst.c */
int ldst_init(struct ldst *l, const struct gpu_spec *spec);
void ldst_fini(struct ldst *l);
void ldst_cancel(struct ldst *l);
bool ldst_accepts(const struct sm *sm);
/* Takes the memory instruction that exec_step() just did; access is the free entry's. */
struct exec_access *ldst_access(struct sm *sm);
void ldst_issue(struct sm *sm, unsigned int w, const struct sm_op *op,
		bool waits, uint64_t now);
void ldst_step(struct sm *sm, uint64_t now);
void ldst_receive(struct sm *sm, uint64_t now);
uint64_t ldst_next(const struct sm *sm, uint64_t now);

/* access.c */
/* Fills the entry's lines and groups from what exec_step() found. */
void access_global(struct sm *sm, struct sm_entry *e, unsigned int w,
		   const struct sm_op *op);
void access_local(struct sm *sm, struct sm_entry *e, unsigned int w);
/* The group's page is at host: its lanes are done. */
void access_perform(struct sm *sm, struct sm_entry *e, struct page_group *g,
		    void *host);

/* barrier.c */
/* The warp executed bar. */
void barrier_arrive(struct sm *sm, unsigned int w, const struct exec_access *access);
/* A warp of the CTA has exited. */
void barrier_exited(struct sm *sm, struct sm_cta *cta);

/* cta.c */
void cta_warp_exited(struct sm *sm, unsigned int w);
void cta_warp_finished(struct sm *sm, unsigned int w);

#endif
