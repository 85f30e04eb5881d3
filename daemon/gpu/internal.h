/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The parts of a GPU and a session, and what the files of the gpu room call of
 * each other. Private to it.
 */
#ifndef GPUEMU_GPU_INTERNAL_H
#define GPUEMU_GPU_INTERNAL_H

#include "base/u64map.h"
#include "exec/exec.h"
#include "gmmu/gmmu.h"
#include "gpu/dispatch.h"
#include "gpu/gpu.h"
#include "gpu/link_use.h"
#include "gpu/output.h"
#include "gpu/pool.h"
#include "gpu/timeline.h"
#include "mem/mem.h"
#include "paging/paging.h"
#include "sm/sm.h"
#include "stats/stats.h"

/* --- a GPU ---------------------------------------------------------------- */

struct gpu {
	struct service *service;	/* the caller's */
	struct paging_pool *pool;
	struct gpu_session *sessions;
};

/* Drops translations that the service invalidated. As service_ops.poll. */
int gpu_apply_invalidations(struct gpu *gpu);

/* --- the fault handler ----------------------------------------------------- */

/*
 * Consecutive batches that move nothing, with faults that cannot be served,
 * before the kernel is ended. A page is pinned for as long as someone else's
 * I/O on it takes, and each batch takes its real time: this is a fifth of a second at
 * 50 us a batch.
 */
#define HANDLER_PATIENCE	4096u

/* One handler and its batch. */
struct handler_slot {
	uint64_t until;			/* its service's end */
	uint64_t taken;			/* counts the batches */
	unsigned int number;		/* for the trace */
	unsigned int n;
	uint64_t *pages;		/* of its faults */
};

struct handler {
	unsigned int handlers;		/* paging.handlers */
	unsigned int most;		/* faults in a batch */
	struct handler_slot *slots;	/* the busy ones first, a heap */
	unsigned int nslots, busy;
	uint64_t taken;
	uint32_t futile;		/* consecutive batches that moved nothing */
	struct u64map traced;		/* batches of paging to those of the timeline, if it is on */
	bool link_busy[2];		/* with migrations, to the device and to the host */
	struct fault batch[256];
};

/* --- the machine: what is built from one spec ------------------------------- */

struct run;

struct machine {
	struct gpu_session *session;
	struct gpu_spec spec;
	struct gmmu *gmmu;
	struct mem *mem;
	struct sm **sms;
	uint64_t *wake;			/* by SM: dense, the loop scans it */
	unsigned int nsms;
	struct pool *pool;		/* gpu.threads; NULL: one */
	unsigned int quantum;		/* cycles that SMs may be run apart */
	struct dispatch *dispatch;
	struct handler handler;
	struct err *sm_errs;		/* by SM: what it says about its own failure */
	/* What the loop needs by SM, in one allocation each, reused every quantum. */
	uint16_t *awake;		/* SMs that run in this quantum, ascending */
	uint64_t *performs;		/* of them: cycle of the next access to perform */
	uint64_t *retired;		/* CTAs, when the loop looked last */
	bool translated;		/* an SM got a page since accesses were performed */
	bool remote;			/* a page in system memory was translated, ever */
	bool has_walker;		/* the memory has a port for the page walker */
	/* Paging off: why a translation failed (0: it did not). */
	int off_status;
	uint64_t off_page;
	int poll_status;		/* kept by nested polls until the loop looks */
};

int machine_create(struct gpu_session *session, const struct gpu_spec *spec,
		   struct machine **machine, struct err *err);
void machine_destroy(struct machine *m);
/* statistics_paging.c: the statistics' "paging". */
struct json_object *statistics_paging_json(const struct gpu_session *s);
/* Drops all that is in flight; the TLBs stay. */
void machine_cancel(struct machine *m);
/* Paging off: which pages there are now. -ENOMEM. */
int machine_set_ranges(struct machine *m);
/* The range has left device memory, or is another's. */
void machine_invalidate(struct machine *m, uint64_t start, uint64_t end);
/* A piece on the link, told as a whole when it begins, in the order of that in each direction. */
void machine_transfer(struct machine *m, const struct trace_transfer *x);
/* Entries of the page table on their way to the walker: when the next is there, and handing over. */
uint64_t machine_pte_next(const struct machine *m);
void machine_ptes(struct machine *m, uint64_t now);
/* Everything it counted since it was made, up to core cycle `now`. */
void machine_counters(struct machine *m, uint64_t now, struct gpu_counters *c);
/* What mem, gmmu and paging counted for the kernels in the slot; the SMs' is sm_kernel_stats(). */
void machine_slot_counters(struct machine *m, unsigned int slot, struct gpu_counters *c);
/* All slots' parts, and what is nobody's, are `all`, of machine_counters(): as they have to be. */
bool machine_shares_add_up(struct machine *m, const struct gpu_counters *all);
void machine_state(struct machine *m, struct gpu_state *state);
void handler_init(struct handler *h, const struct gpu_spec *spec);
void handler_fini(struct handler *h);
/* Nobody is busy any more. */
void handler_cancel(struct handler *h);
/* What paging tells a session. */
extern const struct paging_events handler_events;
/* The fault handlers' cycle. 0, or what ends the kernel, r->err set. */
int handler_step(struct machine *m, struct run *r, uint64_t now);
/* Remote accesses and migrations are on one link: each is told what the other took. */
void handler_share_link(struct machine *m);
/* Cycle in which a handler is done or a page arrives next, or NEVER. */
uint64_t handler_next(const struct machine *m);
/* When the last of the handlers that are busy is done; 0: none is. */
uint64_t handler_until(const struct machine *m);
/* Names the access that waits for the page, for a kernel that ends by it; returns code. */
int machine_blame(struct machine *m, struct run *r, uint64_t page, int code);

/* --- a session -------------------------------------------------------------- */

/* Of an address space that modules share; `at` is from its beginning. */
struct address_range {
	struct address_range *next;	/* behind it */
	uint64_t at, bytes;
};

struct module {
	struct module *next;
	uint32_t id;
	struct ptx_module *ptx;
	struct address_range code, constants;
	struct exec_program **programs;	/* by kernel, made at its first launch */
	unsigned int nkernels;
};

/* What the client said: known.c. */
struct known {
	struct paging_known now;	/* what the session's paging knows: of these */
	uint64_t *record;
	uint64_t *arriving;		/* the next record, from the next configuration on */
	uint64_t narriving, room;
	struct paging_range *ranges;
	struct advice_range *advice;
};

void known_clear(struct known *k);
/* What arrived is known. Nothing uses the record that was known before. */
void known_settle(struct known *k);

/*
 * A stream that is halted when its kernels have executed so many thread instructions
 * (UINT64_MAX: never), or at the cycle (NEVER).
 */
struct halt_target {
	uint32_t stream;
	bool halted;
	uint64_t instructions, executed;	/* executed: by kernels that have ended */
	uint64_t cycle;
};

struct gpu_session {
	struct gpu *gpu;
	struct gpu_session *next;
	uint32_t va_space;
	struct machine *machine;
	struct paging *paging;		/* NULL: it could not be made again; launches fail */
	struct known known;		/* by its policies */
	struct module *modules;
	struct address_range *code, *constants;	/* of the modules, by place */
	uint64_t now;			/* the session's clock, core cycles */
	uint64_t grids;			/* launched, for %gridid */
	struct kernel_stats *kernels;
	size_t nkernels, kernel_room;
	struct samples samples;		/* over time, stats.interval */
	struct timeline timeline;
	struct link_use link_use;
	struct run *queue, **queue_end;	/* submitted and not told */
	unsigned int nqueued;
	struct halt_target *targets;	/* of streams, by number */
	unsigned int ntargets, target_room;
	struct loop *loop;		/* made with the session; what runs, while it is set aside */
	bool aside;
	struct output output;		/* of the last gpu_session_launch() */
	size_t printed;			/* bytes of output that works keep */
};

/* addresses.c: a module's place in device addresses, from load to unload. -ENOSPC. */
int addresses_take(struct gpu_session *s, struct module *m, struct err *err);
/* Nothing runs. */
void addresses_give_back(struct gpu_session *s, struct module *m);
/* Device addresses of the first instruction and the first constant. */
uint64_t module_code(const struct module *m);
uint64_t module_constants(const struct module *m);

/*
 * A work of a stream, mostly a launch, from submission to report. It is the queue's: works of
 * all streams are in one list in the order of submission, the oldest first. Of what is no
 * launch only the first lines apply (tasks.c).
 */
enum run_state { RUN_QUEUED, RUN_RUNNING, RUN_DONE };
enum run_kind { RUN_LAUNCH, RUN_DELAY, RUN_MOVE, RUN_RECORD, RUN_AWAIT };

struct run {
	struct run *next;
	struct gpu_session *session;
	struct machine *m;
	uint32_t stream;
	uint8_t state;			/* enum run_state */
	uint8_t kind;			/* enum run_kind */
	uint64_t until;			/* a delay's end; when a prefetch is all handed to the link */
	uint64_t mark;			/* of an event: recorded here, or awaited */
	gpu_recorded *recorded;
	struct {
		uint64_t addr, bytes;
		bool home;		/* else to device memory */
	} move;

	/* A launch. */
	const struct module *module;
	const struct ptx_kernel *kernel;
	struct exec_launch launch;
	void *params;
	struct output output;
	/* Whom to tell; NULL: nobody. */
	gpu_done *done;
	void *ctx;

	/* While it runs in time. */
	struct sm_kernel *sm_kernel;
	struct dispatch_kernel todo;	/* its CTAs */
	struct gpu_counters before;	/* of the machine, when it began */
	struct gpu_counters slot_before; /* of its slot */

	int status;
	struct err err;
	uint64_t fault_addr;
	struct kernel_stats stats;	/* when it went well */
};

/* Checks and binds; what fails is kept in the run, to be told in its turn. NULL: no memory. */
struct run *run_create(struct gpu_session *s, uint32_t stream, const struct gpu_launch *l);
/* What is no launch. NULL: no memory. */
struct run *run_create_task(struct gpu_session *s, uint32_t stream, enum run_kind kind);
void run_destroy(struct run *r);
/* Keeps the statistics of a run that went well. -ENOMEM. */
int run_keep_stats(struct run *r);
/* What is the same with and without time. */
void run_describe(struct run *r);
/* The launch's sentence for -ECANCELED and -ENODEV of the service's poll; returns status. */
int run_gone(struct run *r, int status);
/* The launch's sentence for gpu.watchdog. -ETIMEDOUT. */
int run_watchdog(struct run *r);
/* functional.c: runs it to its end, without time. */
int run_functional(struct run *r);

/* queue.c: the session's from here on. */
void queue_append(struct gpu_session *s, struct run *r);
/* Does everything that was submitted, and tells. */
void queue_finish(struct gpu_session *s);
/*
 * The oldest work that can begin beside those that run: its stream's turn, and the default
 * stream's works before and behind all others. NULL: none.
 */
struct run *queue_ready(struct gpu_session *s, bool launches);
/* Has the stream, or one of those that are waited for, nothing left to do? */
bool queue_empty(const struct gpu_session *s, uint32_t stream);
bool queue_until(const struct gpu_session *s, const struct gpu_until *until);

/* halt.c: of streams with a target, the kernels that have reached it get no more CTAs. */
void halt_watch(struct loop *l, uint64_t upto);
/* The next cycle at which the stream of a kernel that runs is halted; NEVER. */
uint64_t halt_next(const struct loop *l);
/* The launch, which is not told yet, does not begin: its stream was halted. */
bool halt_refuses(const struct loop *l, struct run *r);
/* A kernel ended: its instructions are its stream's. */
void halt_count(struct loop *l, struct run *r);

/* --- the loop ------------------------------------------------------------------ */

struct loop {
	struct gpu_session *s;
	struct machine *m;
	uint64_t now;			/* everything before this cycle is done */
	struct run *running[SM_KERNELS];	/* by age, the oldest first */
	unsigned int nrunning;
	unsigned int ntasks;		/* works that run and are no launches */
	uint64_t stop;			/* the loop comes back at this cycle at the latest */
	bool look;			/* some work may begin, or somebody's wait be over */
	bool ending;			/* all CTAs have retired; the memory is not idle yet */
	uint64_t calm;			/* quanta without an instruction issued */
	uint64_t issued;		/* warp instructions, when calm was counted from */
};

/*
 * quantum.c: runs what is queued in time, up to what is waited for (NULL: to its end). What is
 * not done then is set aside. False: it was set aside before, for over() said so.
 */
bool loop_run(struct gpu_session *s, const struct gpu_until *until, gpu_over *over, void *ctx);
/* Ends all that is queued, and what of it runs, with -ECANCELED. */
void loop_cancel(struct gpu_session *s);

/* tasks.c: works that are no launches. */
/* It begins, and may end at once. */
void task_begin(struct loop *l, struct run *r);
/* Ends those that are over at l->now. */
void tasks_end(struct loop *l);
/* First cycle at which one may be over; NEVER. */
uint64_t tasks_next(const struct loop *l);
/* move.c: the same of prefetches. */
void move_begin(struct loop *l, struct run *r);
bool move_over(struct loop *l, struct run *r);

/* begin.c: launches come into the loop and leave it. */
/* Starts what is ready, up to gpu.concurrent_kernels. False: nothing has ended since the last time. */
bool loop_admit(struct loop *l);
/* Takes out the kernels that ended before `upto`; true: some did. */
bool loop_retire(struct loop *l, uint64_t upto);
/* The kernel ends with an error, and with it all that run. */
void loop_fail(struct loop *l, struct run *culprit, int status, uint64_t upto);
/* Nothing runs any more; time goes on at `upto`, or where the handler is done. */
void loop_clear(struct loop *l, uint64_t upto);

/* Nanoseconds in core cycles, rounded up. */
static inline uint64_t cycles_of(const struct gpu_spec *spec, uint64_t ns)
{
	return (uint64_t)(((unsigned __int128)ns * spec->clock_mhz + 999) / 1000);
}

#endif
