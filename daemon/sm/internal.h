/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The parts of an SM and what its files call of each other. Private to the sm
 * room; what the load/store unit shows the others is in ldst.h. Warps are numbers, and
 * members of sets (warpset.h); instructions under way are indices into a pool. Nothing is allocated
 * while warps issue, except that the pool may double.
 *
 * A cycle runs back to front, so that what a stage frees is there for the stage
 * before (GPGPU-Sim, shader_core_ctx::cycle): writeback, execute, operand
 * collectors, issue, decode, fetch.
 */
#ifndef GPUEMU_SM_INTERNAL_H
#define GPUEMU_SM_INTERNAL_H

#include "sm/build.h"
#include "sm/placement.h"
#include "sm/sm.h"
#include "sm/warpset.h"
#include "sm/sched/sched.h"

#define MAX_SCHEDULERS	8u
#define NOBODY		SM_KERNELS	/* what is no kernel's is counted there */
#define NO_INDEX	UINT32_MAX

/* Instructions of 8 bytes; two are fetched and decoded at a time. */
#define CODE_BYTES	8u
#define MAX_IBUFFER	8u

/*
 * Each kind of unit (enum sm_unit) has its issue slots (ID_OC), collectors, ports and dispatch
 * slots (OC_EX). DP exists where the configuration gives it units; else the SFU does its work.
 */
#define UNITS		SM_UNITS
#define MAX_WIDTH	16u	/* slots of ID_OC, OC_EX, EX_WB; units of a kind; ports */
#define MAX_COLLECTORS	64u	/* of all kinds together */
#define MAX_BANKS	64u

/* One instruction of a kernel as the pipelines see it. */
struct sm_op {
	uint8_t unit;			/* enum sm_unit */
	uint8_t space;			/* enum ptx_space of memory instructions */
	bool memory;			/* ld, st, atom, red: goes through the load/store unit */
	bool store, atomic;		/* red is an atomic without results */
	bool fence;			/* membar, fence: through the load/store unit as well */
	bool point;			/* resources are acquired before it */
	bool specifier;			/* of a phase: none of the program's own */
	bool ordered;			/* atomic, volatile, fence, barrier, exit: not past an untranslated access */
	uint16_t latency, initiation;
	/*
	 * Its scoreboard slots, sm_kernel.slots from here on: first nwrite that it
	 * writes; none of the first ncheck may be pending when it issues.
	 */
	uint32_t slots;
	uint16_t ncheck, nwrite;
	/* The same as bits, for kernels with one word of slots (sm_kernel.words). */
	uint64_t check_mask, write_mask;
	/* The banks of them for warp 0: read, read more than once, written. */
	uint64_t bank_need, bank_more, bank_results;
	/* Register numbers for the banks, sm_kernel.banks from here on: distinct sources, results. */
	uint32_t banks;
	uint8_t nsource, nresult;
	bool cached;			/* memory that L1D is asked for */
	bool is_long;			/* results come from memory (GPGPU-Sim: a long operation) */
	uint32_t pc;			/* its index */
};

struct sm_kernel {
	const struct exec_launch *launch;
	const struct gpu_spec *spec;
	struct sm_op *ops;
	uint32_t nops;			/* one more is there: a last exit */
	uint32_t decodable;		/* nops, and one more if the text falls off its end */
	uint16_t *slots;		/* of the scoreboard, what the ops check and write */
	uint32_t nslots, slot_room;
	uint16_t *banks;		/* register numbers, kernel.c */
	uint32_t nbanks, bank_room;
	uint32_t warps_per_cta, threads;
	uint32_t ctas;			/* an empty SM holds, with slots for all */
	uint32_t places;		/* that its numbers, registers and shared memory allow */
	uint32_t registers;		/* a CTA takes, rounded */
	uint32_t shared_bytes;		/* static and dynamic */
	uint32_t shared_taken;		/* of the SM's, rounded */
	uint64_t local_bytes;		/* a CTA */
	/* Device addresses: instruction 0; constant 0 of its module; its parameters; its local memory. */
	uint64_t code, constants, params, local;
	size_t arena_bytes;		/* a warp */
	uint32_t words;			/* 64-bit words of a scoreboard row */
	/* With phases, by instruction: sets of registers read and written, the phase that begins. */
	uint64_t *sets_read, *sets_written;
	uint32_t *phase_of;
	unsigned int slot;		/* sm_kernel_set_slot() */
};

/*
 * A warp instruction under way, from issue until inst_done(). Pointers are good
 * until the next inst_new(), which only issue calls.
 */
struct sm_inst {
	const struct sm_op *op;
	uint32_t lanes;			/* whose guard was true */
	uint32_t order;			/* of issue; differences count */
	/* The load/store unit's: its access entry, what is not answered, whatever it links. */
	uint32_t entry, next;
	uint16_t left;
	uint8_t warp;
	uint8_t state;
};

/* A short queue of instructions between two stages, for one kind of unit. */
struct sm_fifo {
	uint32_t at[MAX_WIDTH];
	uint32_t head, count, size;
	uint32_t bit;			/* of the unit, in the masks of sm_queues */
};

/* The queues between two stages. */
struct sm_queues {
	struct sm_fifo of[UNITS];
	uint32_t some, full;		/* masks of units: not empty; without room */
};

struct sm_warp {
	struct exec_warp ex;
	const struct sm_kernel *kernel;
	const struct sm_op *op;		/* the i-buffer's head, when it has one */
	uint8_t unit;			/* of the head, as in sm->wants */
	uint32_t ib_pc;			/* of the head */
	uint32_t next_pc;		/* fetched next */
	uint32_t line;			/* of L1I, where the last fetch found its own */
	uint8_t ib_count;
	uint8_t cta;			/* its number */
	uint8_t barrier;		/* waits there, while in wait_barrier */
	bool reduces;			/* and wants its result (bar.red) */
	bool granted;			/* may pass the point it is at */
	uint8_t cold;			/* instructions whose registers the host's caches have not */
	uint32_t inflight;		/* issued instructions that are not done */
	uint32_t away;			/* of them, out of the pipelines: in memory */
	uint32_t pending;		/* of them, with results that are not there */
	uint32_t stores;		/* not acknowledged */
	uint32_t atomics;		/* lanes not answered */
	uint8_t *arena;
	size_t arena_size;
	uint64_t *rows, *rows_long;	/* scoreboard: pending, pending on memory; in one of these: */
	uint64_t row_word[2];
	uint64_t *row_memory;
	size_t row_words;
};

/* One phase of a named barrier; all zero when nobody has come. */
struct barrier {
	struct exec_barrier phase;
	warpset arrived;		/* warps, those that did not wait included */
	warpset waiting;		/* of them */
};

struct sm_cta {
	struct exec_cta ex;
	struct exec_launch launch;	/* the kernel's, but printing here */
	struct sm *sm;
	const struct sm_kernel *kernel;
	warpset warps;			/* that belong to it, by number */
	warpset slots;			/* that they hold, in the order of their numbers; or none */
	warpset gave;			/* parked: slots that it had */
	warpset running;		/* of them, not exited */
	warpset unretired;		/* of them, not given back */
	uint8_t state;			/* enum sm_cta_state */
	bool ready_told;		/* parked, and told that all has come */
	bool outside;			/* parked, its registers and shared memory are in memory */
	bool halted;			/* executes nothing more */
	uint64_t until;			/* parking or restoring: not before */
	uint64_t parked;		/* cycle since when it has no slots */
	uint64_t begin;			/* cycle of its launch */
	uint32_t local_place;		/* of its kernel's CTAs on this SM, for local.c */
	uint8_t *shared, *local;
	size_t shared_size, local_size;
	struct barrier barriers[EXEC_BARRIERS];
};

/* printf's text, until the GPU takes it in the order of cycles. */
struct sm_text {
	uint64_t cycle;
	const struct exec_launch *launch;
	uint32_t bytes, at;		/* in sm->text */
};

/* A collector unit: an instruction whose operands are being read. */
struct collector {
	uint32_t inst;
	uint64_t need;			/* banks that it still reads */
	uint64_t more;			/* of them, more than once: collectors.times */
};

struct collectors {
	struct collector at[MAX_COLLECTORS];
	uint64_t of[UNITS];		/* masks of collectors by kind */
	uint64_t used, ready;		/* ready: used, and nothing left to read */
	bool stuck;			/* nothing moves until another instruction comes or a unit takes one */
	uint8_t first[UNITS];
	uint8_t kind[MAX_COLLECTORS];	/* of each: whose it is; they are in the order of the units */
	uint8_t last[UNITS][MAX_WIDTH];	/* of each out port: dispatched last */
	uint8_t in_ports[UNITS], out_ports[UNITS];
	uint64_t written;		/* banks that a result takes this cycle */
	uint64_t all_banks;
	uint64_t tile;			/* times a mask of banks: that mask in all 64 bits; 0: they do not fit */
	uint8_t banks;
	uint8_t shift[MAX_WARPS];	/* warp modulo banks */
	/* Collectors that read, in the order in which they began: a bank serves the first. */
	uint8_t reading[MAX_COLLECTORS], nreading;
	uint8_t (*times)[MAX_BANKS];	/* by collector */
};

/* Results that are written back in one cycle: at most as many as result buses. */
struct result_slot {
	uint32_t units;			/* that deliver then */
	uint32_t count;
};

/* Who holds slots: residency.c. CTAs are sets as warps are: each has one at least. */
struct residency {
	warpset slots;			/* physical, taken */
	uint32_t slotted;		/* CTAs that hold some */
	warpset active;			/* CTAs */
	warpset moving;			/* CTAs that are parked or restored now */
	warpset due;			/* parked CTAs for which something has come */
	uint64_t room;			/* sm_rooms() */
};

/* What the mechanism was told: mechanism.c. */
struct mechanism {
	const struct sm_mechanism *ops;
	void *state;
	unsigned int stall_on;		/* enum sm_wait */
	bool every;			/* ops->every */
	warpset exited, retired;	/* warps, in this cycle */
	warpset ended;			/* CTAs, in this cycle */
	warpset away;			/* warps that are stalled */
	warpset stalled;		/* CTAs */
	warpset waits, passed;		/* warps at barriers, in this cycle; by_warp */
	uint64_t memory_pipeline;	/* sm_memory_pipeline() */
	uint64_t timer;
};

/* Mascar's owner warp: owner.c. */
struct owner {
	bool on;			/* sm.mem_order=mascar */
	bool saturated;
	uint32_t warp;			/* NO_INDEX: none */
};

struct ldst;
struct background;

/* The sets that issue saw when it last found that no warp can, and why: issue.c. A change of `mine`
 * clears `known`. */
#define ISSUE_SETS	(14 + UNITS)
struct issue_idle {
	warpset sets[ISSUE_SETS];
	uint32_t full;
	bool known;
	uint8_t reason[MAX_SCHEDULERS];	/* enum stall */
};

struct sm {
	struct sm_base base;		/* first */
	unsigned int id;
	struct sm_env env;
	const struct gpu_spec *spec;
	bool ideal;			/* paging off: translation takes no time */
	uint64_t now;			/* the cycle that runs */
	uint64_t upto;			/* of the quantum that runs */
	uint64_t reply_at;		/* when memory's next reply is there */
	uint64_t own_wake;		/* while it runs, env.wake is this */

	/*
	 * Sets of warps. `live` are resident and have not exited. A warp's head issues when the
	 * warp is live, waits for nothing and its head is valid, in step and not blocked.
	 */
	warpset resident;
	warpset missing;		/* L1D did not have a line of a load of theirs (ldst's) */
	/* From here to `wants`, and which issue slots are full: all that issue looks at. */
	warpset live;
	warpset valid;			/* the i-buffer has a head */
	warpset stray;			/* of them, not where the SIMT stack is: to be flushed */
	warpset blocked;		/* of them, by the scoreboard */
	warpset blocked_long;		/* of them, on a load */
	warpset wait_barrier;
	warpset wait_fence;		/* a fence, with results pending */
	warpset wait_atomic;
	warpset wait_order;		/* those of `untranslated` whose head must wait for that */
	warpset far_fault;		/* an access waits for a far fault (ldst's) */
	warpset wait_fault;		/* those of them that it deschedules: sm.fault_stall */
	warpset inactive;		/* of CTAs that are not active */
	warpset held;			/* wait for resources at a phase point, or for operands */
	warpset operands;		/* those of held that wait for operands from swap */
	warpset wants[UNITS];		/* by the unit of the head */

	warpset untranslated;		/* an access stepped aside: nothing ordered issues (ldst's) */
	warpset in_order;		/* of them, where no access may pass: it orders, or they are many */
	warpset finished;		/* exited, nothing under way: fetch gives them back */

	/* Fetch. */
	warpset empty;			/* live, nothing in the i-buffer, no fetch under way */
	warpset missed;		/* an L1I fetch is under way */
	warpset stale;			/* of them, whose line is dropped when it comes */
	warpset refused;		/* of empty: L1I could not take them since its last fill */
	struct cache *l1i;
	struct fetch *fetch;
	uint32_t fetched;		/* warp in the fetch buffer, NO_INDEX: none */
	uint32_t last_fetched;

	struct sched_state sched[MAX_SCHEDULERS];
	const struct sched_ops *policy;
	struct issue_idle idle;
	uint64_t turn_base;		/* cycle in which scheduler 0 is first */
	uint64_t accounted;		/* cycles before this are attributed */

	struct sm_queues id_oc, oc_ex;
	struct collectors oc;
	uint64_t unit_free[UNITS][MAX_WIDTH]; /* cycle in which the unit's dispatch register is empty */
	uint8_t units[UNITS];		/* how many */
	uint8_t unit_bit[UNITS];	/* of its first in result_slot.units */
	struct result_slot *results;	/* ring by cycle of writeback */
	uint32_t *result_insts;		/* of each slot, result_buses */
	uint32_t result_mask, results_left;
	uint8_t result_buses;
	struct ldst *ldst;

	struct sm_inst *insts;
	uint32_t ninsts, free_inst, used_insts;
	uint32_t issued;		/* sm_inst.order of the next */
	warpset counted;		/* set of warps that counted_warps is the size of */
	uint32_t counted_warps;

	unsigned int nwarps, nctas;	/* numbers there are */
	unsigned int warp_slots, cta_slots;	/* slots there are */
	struct residency res;
	struct mechanism mech;
	struct owner mascar;
	bool attend;			/* mechanism_cycle() has something to look for */
	struct sm_warp *warps;
	warpset older[MAX_WARPS];	/* by warp: those that are on the SM longer */
	struct sm_cta *ctas;
	uint32_t resident_ctas, registers_used, shared_used;
	struct placement *placement;	/* where their registers and shared memory are */
	struct background *background;	/* NULL: nothing was ever moved */
	struct sm_share shares[SM_KERNELS];	/* by kernel slot */
	/* By kernel slot (share.c): CTAs, their warps, the kernel of those. */
	uint32_t ctas_of[SM_KERNELS];
	warpset warps_of[SM_KERNELS];
	const struct sm_kernel *kernel_of[SM_KERNELS];
	uint64_t last;			/* cycle in which something was done last */

	char *text;
	size_t text_size, text_used;
	struct sm_text *texts;
	uint32_t texts_size, texts_used, texts_told;

	struct exec_access scratch;	/* of instructions that are not memory's */
	struct sm_failure failure;
	struct sm_counters stats;
	/* Whose the counters are: share.c. */
	bool mixed;			/* CTAs of several kernels are resident */
	uint8_t owner;			/* slot of the only one; NOBODY: none is */
	uint8_t turn;			/* slot that a cycle of several goes to first */
	struct sm_kernel_stats *by, *by_before;	/* by slot, and NOBODY; at the kernels' begin */
	struct sm_counters handed_over;	/* stats, up to where they were added to `by` */
	uint64_t integrated;		/* sums over cycles of what is resident go up to here */
};

/* Slot of the warp's kernel. */
static inline uint8_t warp_slot(const struct sm *sm, unsigned int w)
{
	return (uint8_t)sm->warps[w].kernel->slot;
}

/*
 * Counts n of `field` for the kernel in slot `k`, an expression that is not looked at while
 * there is one kernel alone.
 */
#define sm_count(sm, k, field, n) do {						\
	uint64_t n_ = (n);							\
										\
	(sm)->stats.field += n_;						\
	if (__builtin_expect((sm)->mixed, 0))					\
		(sm)->by[k].counters.field += n_;				\
} while (0)

static inline struct sm_inst *sm_inst(const struct sm *sm, uint32_t i)
{
	return &sm->insts[i];
}

/* Warps that the schedulers pass by. */
static inline warpset sm_waiting(const struct sm *sm)
{
	return sm->wait_barrier | sm->wait_fence | sm->wait_atomic | sm->wait_order |
	       sm->wait_fault | sm->inactive | sm->held;
}

static inline bool queue_some(const struct sm_queues *q, unsigned int unit)
{
	return q->some >> unit & 1;
}

static inline bool queue_full(const struct sm_queues *q, unsigned int unit)
{
	return q->full >> unit & 1;
}

static inline void queue_empty(struct sm_queues *q, unsigned int unit)
{
	struct sm_fifo *f = &q->of[unit];

	f->head = f->count = 0;
	f->bit = 1u << unit;
	q->some &= ~f->bit;
	/* Without places nobody wants the unit (kernel.c), so nobody need ask whether it is full. */
	q->full &= ~f->bit;
}

static inline void queue_push(struct sm_queues *q, unsigned int unit, uint32_t inst)
{
	struct sm_fifo *f = &q->of[unit];

	f->at[(f->head + f->count++) % MAX_WIDTH] = inst;
	q->some |= f->bit;
	if (f->count >= f->size)
		q->full |= f->bit;
}

static inline uint32_t queue_pop(struct sm_queues *q, unsigned int unit)
{
	struct sm_fifo *f = &q->of[unit];
	uint32_t inst = f->at[f->head];

	f->head = (f->head + 1) % MAX_WIDTH;
	if (!--f->count)
		q->some &= ~f->bit;
	q->full &= ~f->bit;
	return inst;
}

/* The place of the one that issued first. Not empty. */
static inline unsigned int queue_oldest(const struct sm *sm, const struct sm_queues *q,
					unsigned int unit)
{
	const struct sm_fifo *f = &q->of[unit];
	unsigned int best = f->head;

	for (unsigned int i = 1; i < f->count; i++) {
		unsigned int at = (f->head + i) % MAX_WIDTH;

		if ((int32_t)(sm->insts[f->at[at]].order - sm->insts[f->at[best]].order) < 0)
			best = at;
	}
	return best;
}

/* Takes out the one at a place. */
static inline void queue_remove(struct sm_queues *q, unsigned int unit, unsigned int at)
{
	struct sm_fifo *f = &q->of[unit];

	/* What is before it moves up; the order in here means nothing. */
	f->at[at] = f->at[f->head];
	queue_pop(q, unit);
}

/* sm.c */
/*
 * Keeps the first error, with sm->now. fault_addr: of -EFAULT, else 0. kernel: the warp's.
 * The text is in *sm->env.err.
 */
void sm_fail(struct sm *sm, int error, uint64_t fault_addr, const struct sm_kernel *kernel);
/* Attributes the cycles before `upto` to what holds now: before a mask changes outside a cycle. */
void sm_settle(struct sm *sm, uint64_t upto);
/* Adds what is resident to the sums over cycles, up to `upto`: before that changes. */
void sm_integrate(struct sm *sm, uint64_t upto);

/* scoreboard.c */
/* The instruction's registers are there: who waits for them may go on. Once an instruction. */
void inst_release(struct sm *sm, uint32_t inst);
/* The instruction left the pipeline; its index is free. After inst_release(), if it has results. */
void inst_done(struct sm *sm, uint32_t inst);
/* The i-buffer's head or what it is checked against has changed. */
void warp_check(struct sm *sm, unsigned int w);
/* The load/store unit: n more (or fewer) unacknowledged stores, lanes of atomics. */
void warp_stores(struct sm *sm, unsigned int w, int n);
void warp_atomics(struct sm *sm, unsigned int w, int n);
/* After a change of sm->untranslated. */
void warp_check_order(struct sm *sm, unsigned int w);
/* Nothing is under way any more of a warp that has exited? Then fetch gives it back. */
void warp_check_finished(struct sm *sm, unsigned int w);
int inst_grow(struct sm *sm);		/* room for more of them; -ENOMEM */
int scoreboard_init(struct sm *sm);
void scoreboard_cancel(struct sm *sm);
void scoreboard_reserve(struct sm *sm, uint32_t inst);

/* collector.c */
int collector_init(struct sm *sm);
void collector_fini(struct sm *sm);
void collector_cancel(struct sm *sm);
/*
 * Takes the banks of the instruction's results for this cycle. False: another's result has
 * one of them (those before it stay taken, as in GPGPU-Sim); try again next cycle.
 */
bool collector_write(struct sm *sm, uint32_t inst);
bool collector_write_more(struct sm *sm, const struct sm_inst *in);
void collector_cycle(struct sm *sm);

/* units.c */
int units_init(struct sm *sm);
void units_fini(struct sm *sm);
void units_cancel(struct sm *sm);
void units_writeback(struct sm *sm, uint64_t now);
void units_execute(struct sm *sm, uint64_t now);
uint64_t units_next(const struct sm *sm, uint64_t now);

/* fetch.c */
int fetch_init(struct sm *sm);
void fetch_fini(struct sm *sm);
void fetch_cancel(struct sm *sm);
void fetch_reply(struct sm *sm, const struct mem_reply *reply);
void fetch_decode(struct sm *sm, uint64_t now);
void fetch_cycle(struct sm *sm, uint64_t now);
/* So many cycles have gone by in which it was not called. */
void fetch_settle(struct sm *sm, uint64_t n);
bool fetch_busy(const struct sm *sm);	/* something to do in the next cycle */
bool fetch_idle(const struct sm *sm);
/* The warp's i-buffer is emptied; it is fetched from pc. */
void fetch_flush(struct sm *sm, unsigned int w, uint32_t pc);

/* issue.c */
/* Why a scheduler that has the warps `mine` issues nothing. */
enum stall stall_of(const struct sm *sm, warpset mine);
/* Do all heads of the scheduler that are ready want the load/store unit? */
bool issue_only_memory(const struct sm *sm, unsigned int scheduler);
/* So many cycles have gone by in which no scheduler issued, for the reasons that hold now. */
void issue_settle(struct sm *sm, uint64_t cycles);
void sm_issue(struct sm *sm, uint64_t now);
bool issue_possible(const struct sm *sm);

/* share.c */
int share_init(struct sm *sm);
void share_fini(struct sm *sm);
/* The kernel begins: from here on. */
void share_begin(struct sm *sm, const struct sm_kernel *kernel);
/* A CTA has come, or is about to go; sums over cycles are up to date. They keep ctas_of. */
void share_launched(struct sm *sm, const struct sm_cta *cta);
void share_retired(struct sm *sm, const struct sm_cta *cta);
/* All have gone. */
void share_cancel(struct sm *sm);
/* While sm->mixed: cycles with what is resident, and with sm->counted schedulable. */
void share_resident(struct sm *sm, uint64_t cycles);
void share_schedulable(struct sm *sm, uint64_t cycles);
/* The same: a scheduler's cycles, which went to `reason`. issued: slot of who issued, or NOBODY. */
void share_cycles(struct sm *sm, unsigned int scheduler, enum stall reason, unsigned int issued,
		  uint64_t cycles);

/* barrier.c */
/* The warp executed bar. */
void barrier_arrive(struct sm *sm, unsigned int w, const struct exec_access *access);
/* A warp of the CTA has exited. */
void barrier_exited(struct sm *sm, struct sm_cta *cta);

/* cta.c */
void cta_warp_exited(struct sm *sm, unsigned int w);
/* Fetch came by a finished warp: its slot is free, and with the last one its CTA's. */
void cta_warp_retire(struct sm *sm, unsigned int w, uint64_t now);
/* Tells the watcher of a time of the CTA's. */
typedef void cta_watcher(void *ctx, unsigned int sm, const struct sm_cta_span *span);
void cta_tell(const struct sm *sm, unsigned int cta, cta_watcher *watcher, warpset slots,
	      uint64_t begin, uint64_t end);
void cta_fini(struct sm *sm);
void cta_cancel(struct sm *sm);

/* residency.c */
/* n numbers below limit that are not used; fewer: there are no more. */
warpset residency_choose(warpset used, unsigned int limit, unsigned int n);
/* A CTA was put on the SM, with its number and its warps': it gets slots if there are. */
void residency_launched(struct sm *sm, unsigned int cta, uint64_t now);
void residency_retired(struct sm *sm, unsigned int cta);
/* by_warp: the warp is given back. */
void residency_warp_retired(struct sm *sm, unsigned int w);
void residency_cancel(struct sm *sm);
bool residency_idle(const struct sm *sm);
/* A result or a page of the warp has come, and it waits for no other of its kind. */
static inline void residency_note(struct sm *sm, unsigned int w)
{
	if (set_has(sm->inactive, w))
		sm->res.due |= set_of(sm->warps[w].cta);
}

void residency_cycle(struct sm *sm, uint64_t now);

/* owner.c, with sm.mem_order=mascar */
/* Looks, after a cycle and whatever else makes warps wait, whether L1D is saturated, and who owns it. */
void owner_look(struct sm *sm);
/* The warps that may issue, of those that can. */
warpset owner_limit(struct sm *sm, const struct sched_state *s, warpset can);
/* Next cycle > now in which a delay is over; NEVER. */
uint64_t residency_next(const struct sm *sm, uint64_t now);

/* mechanism.c */
int mechanism_init(struct sm *sm);
void mechanism_fini(struct sm *sm);
void mechanism_cancel(struct sm *sm);
bool mechanism_idle(const struct sm *sm);
void mechanism_admitted(struct sm *sm, unsigned int cta, uint64_t now);
void mechanism_started(struct sm *sm, unsigned int cta, uint64_t now);
void mechanism_parked(struct sm *sm, unsigned int cta, uint64_t now);
void mechanism_ready(struct sm *sm, unsigned int cta, uint64_t now);
/* An instruction is done with; only asked where mech.ops->every. */
void mechanism_finished(struct sm *sm, unsigned int w, uint32_t pc);
/* May the warp pass the phase point that its head is? */
bool mechanism_acquire(struct sm *sm, unsigned int w, uint32_t pc);
/* At the end of a cycle that ran. */
void mechanism_cycle(struct sm *sm, uint64_t now);

/* Bank b of warp 0 is bank (b + warp) modulo the banks of the warp. */
static inline uint64_t banks_of(const struct collectors *oc, uint64_t banks, unsigned int warp)
{
	unsigned int n = oc->shift[warp];

	/* Tiled, a turn of the whole word is a turn of the banks. */
	if (__builtin_expect(oc->tile != 0, 1)) {
		banks *= oc->tile;
		return (banks << n | banks >> (-n & 63)) & oc->all_banks;
	}
	return n ? (banks << n | banks >> (oc->banks - n)) & oc->all_banks : banks;
}

/* collector_write(), in the place of the call. */
static inline bool collector_take_banks(struct sm *sm, uint32_t inst)
{
	const struct sm_inst *in = sm_inst(sm, inst);
	uint64_t banks;

	if (in->op->nresult > 1)
		return collector_write_more(sm, in);
	banks = banks_of(&sm->oc, in->op->bank_results, in->warp);
	if (banks & sm->oc.written)
		return false;
	sm->oc.written |= banks;
	return true;
}

/* Is there a result for units_writeback()? */
static inline bool units_have_results(const struct sm *sm, uint64_t now)
{
	return sm->results[now & sm->result_mask].count;
}

/* Is there an instruction for units_execute()? The load/store unit has no pipeline there. */
static inline bool units_wanted(const struct sm *sm)
{
	return sm->oc_ex.some & ((1u << UNIT_LDST) - 1);
}

/* An index of the pool for an instruction that issues; NO_INDEX: no memory. */
static inline uint32_t inst_new(struct sm *sm)
{
	uint32_t i = sm->free_inst;

	if (__builtin_expect(i == NO_INDEX, 0)) {
		if (inst_grow(sm))
			return NO_INDEX;
		i = sm->free_inst;
	}
	sm->free_inst = sm->insts[i].next;
	sm->used_insts++;
	return i;
}

/* inst_done(), in the place of the call. */
static inline void inst_free(struct sm *sm, uint32_t inst)
{
	struct sm_inst *in = sm_inst(sm, inst);
	unsigned int w = in->warp;

	in->next = sm->free_inst;
	sm->free_inst = inst;
	sm->used_insts--;
	sm->warps[w].inflight--;
	if (__builtin_expect(sm->mech.every, 0))
		mechanism_finished(sm, w, in->op->pc);
	if (__builtin_expect(!set_has(sm->live, w), 0))
		warp_check_finished(sm, w);
}

/* print.c */
void sm_print_text(void *ctx, const char *text, size_t bytes);
void sm_print_perform(struct sm *sm, uint64_t cycle);
uint64_t sm_print_next(const struct sm *sm);

#endif
