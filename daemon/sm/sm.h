/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One SM: CTA and warp slots, fetch, schedulers, scoreboard, operand collectors,
 * execution pipelines, the load/store unit and barriers. What an instruction
 * does is exec's; where its lines go is mem's; where its pages are is gmmu's. The
 * GPU's loop (gpu/) runs it a quantum at a time.
 *
 * Threads: sm_run() touches this SM, its port of mem and its TLB alone, so the SMs
 * of a quantum may run on several threads. All else is called between quanta.
 */
#ifndef GPUEMU_SM_SM_H
#define GPUEMU_SM_SM_H

#include "base/base.h"
#include "base/spec.h"
#include "exec/exec.h"
#include "gmmu/gmmu.h"
#include "mem/mem.h"
#include "stats/stats.h"

/* --- a kernel, as the SMs see it ----------------------------------------- */

struct sm_kernel;

/*
 * Decodes the launch's program for the pipelines and computes occupancy.
 * launch is the caller's and outlives the kernel. -EINVAL: one CTA does not
 * fit an SM, err says which limit; -ENOMEM, also for too much local memory.
 */
int sm_kernel_create(const struct gpu_spec *spec,
		     const struct exec_launch *launch,
		     struct sm_kernel **kernel, struct err *err);
void sm_kernel_destroy(struct sm_kernel *kernel);
unsigned int sm_kernel_ctas(const struct sm_kernel *kernel);	/* an empty SM holds */
/* The same with slots or without: as many as sm_numbers(), registers and shared memory allow. */
unsigned int sm_kernel_places(const struct sm_kernel *kernel);
const char *sm_kernel_name(const struct sm_kernel *kernel);
uint64_t sm_kernel_grid(const struct sm_kernel *kernel);	/* exec_launch.grid_id of its launch */
/* What a CTA takes of an SM. */
struct sm_needs {
	uint32_t warps, registers, shared_bytes;
};
struct sm_needs sm_kernel_needs(const struct sm_kernel *kernel);
/* Kernels that run at a time have slots of their own, from 0; a new kernel has 0. */
#define SM_KERNELS	KERNEL_SLOTS
void sm_kernel_set_slot(struct sm_kernel *kernel, unsigned int slot);
/* CTAs that no SM has begun. A new kernel has UINT64_MAX: nobody has said how many. */
void sm_kernel_set_waiting(struct sm_kernel *kernel, uint64_t ctas);
uint64_t sm_kernel_waiting(const struct sm_kernel *kernel);
/*
 * Device addresses of its module's first instruction and first constant; a new kernel's module is
 * the only one. Parameters and local memory go by slot.
 */
void sm_kernel_set_module(struct sm_kernel *kernel, uint64_t code, uint64_t constants);

/* --- mechanisms -------------------------------------------------------------- */

struct sm;

/*
 * A CTA and its warps have numbers of the SM's, from launch to end: a CTA below sm.virtual_ctas, a
 * warp below sm.virtual_warps. To be scheduled they hold physical slots, of which there are sm.ctas
 * and sm.warps. A CTA without slots is parked.
 */
enum sm_cta_state {
	SM_CTA_NONE,		/* no CTA has the number */
	SM_CTA_ACTIVE,
	SM_CTA_PARKING,		/* issues nothing more; holds its slots until its pipelines are empty */
	SM_CTA_PARKED,
	SM_CTA_RESTORING,	/* holds slots, and issues nothing yet */
};

/* Why a warp waits for long. */
enum sm_wait {
	SM_WAIT_MEMORY = 1,	/* for a load, an atomic, a fence, or behind an access that orders */
	SM_WAIT_FAULT = 2,	/* the same, and an access of it is a far fault */
	SM_WAIT_BARRIER = 4,
	/* With SM_WAIT_MEMORY: a load counts only if L1D did not have its data. */
	SM_WAIT_MISS = 8,
};

/*
 * A row of sm/cta.def, chosen by sm.cta, decides which CTAs are on an SM, which of them hold slots,
 * and when a warp passes a phase point. Each SM has a state of its own, which is told at
 * the end of the SM's cycles, or between quanta; the SMs of a quantum run on several threads. An op
 * that is NULL is not called. From any but has_room and acquire it may park, restore, grant and
 * set its timer.
 */
struct sm_mechanism {
	const char *name, *help;
	/* Numbers there are where sm.virtual_warps and sm.virtual_ctas say 0. 0: the slots. */
	unsigned int warps, ctas;
	bool slots_for_all;		/* every number has a slot, whatever sm.warps and sm.ctas say */
	/* A parked CTA gives up its slots with instructions in the pipelines; their warps' numbers stay. */
	bool leaves_pipelines;
	/*
	 * Warps get and lose physical slots one by one (sm_warp_schedule()), and what registers and
	 * shared memory are taken is what it says (sm_hold()). A CTA is never parked.
	 */
	bool by_warp;
	/* acquire is asked of every instruction, not of phase points alone. */
	bool every;
	/* Phases that the compiler is to find. NULL: none. */
	enum ptx_phases (*phases)(const struct gpu_spec *spec);
	/* Combinations of options that cannot be; err says what to do. */
	int (*check)(const struct gpu_spec *spec, struct err *err);
	/* Which waits (enum sm_wait) make a warp stalled. NULL, 0: warps and CTAs never are. */
	unsigned int (*stall_on)(const struct gpu_spec *spec);
	/* ctx is sm_env.mechanism_ctx, and the state where there is no create(). -ENOMEM. */
	int (*create)(const struct gpu_spec *spec, struct sm *sm, void *ctx, void **state);
	void (*destroy)(void *state);
	/* All CTAs are gone, without having ended. */
	void (*reset)(void *state);
	/* Are the mechanism's counters what a recount gives? Sanitized builds ask after each cycle. */
	bool (*sound)(void *state, const struct sm *sm);

	/* Between quanta: is there room for a CTA more? NULL: sm_fits_slots() and sm_fits(). */
	bool (*has_room)(void *state, const struct sm *sm, const struct sm_kernel *kernel);
	/* Is the CTA that there is room for outside (sm_evict()) from its launch on? NULL: never. */
	bool (*outside)(void *state, const struct sm *sm, const struct sm_kernel *kernel);
	/* Between quanta: the CTA was launched. Where there were no slots it is parked, and ready. */
	void (*cta_admitted)(void *state, struct sm *sm, unsigned int cta, uint64_t now);
	/* The CTA has slots and may issue. */
	void (*cta_started)(void *state, struct sm *sm, unsigned int cta, uint64_t now);
	/* The CTA's last warp was given back; its number is free. */
	void (*cta_ended)(void *state, struct sm *sm, unsigned int cta, uint64_t now);
	/* After sm_park(): the CTA's slots are free. */
	void (*cta_parked)(void *state, struct sm *sm, unsigned int cta, uint64_t now);
	/* The CTA is parked, and every result and page that it waits for has come. */
	void (*cta_ready)(void *state, struct sm *sm, unsigned int cta, uint64_t now);
	/*
	 * The CTA is active, every warp of it that has not exited is stalled (by_warp: or has no
	 * slot), and not all of them at barriers. Resumed: one of the warps goes on again.
	 */
	void (*cta_stalled)(void *state, struct sm *sm, unsigned int cta, uint64_t now);
	void (*cta_resumed)(void *state, struct sm *sm, unsigned int cta, uint64_t now);
	/*
	 * by_warp: something has come for a warp without a slot, and it waits for no result and no
	 * page (any more).
	 */
	void (*warp_ready)(void *state, struct sm *sm, unsigned int warp, uint64_t now);

	/*
	 * A warp of an active CTA has stalled, and waits for `wait`. It also counts as resumed when
	 * its CTA is parked.
	 */
	void (*warp_stalled)(void *state, struct sm *sm, unsigned int warp, enum sm_wait wait,
			     uint64_t now);
	void (*warp_resumed)(void *state, struct sm *sm, unsigned int warp, uint64_t now);
	void (*warp_exited)(void *state, struct sm *sm, unsigned int warp, uint64_t now);
	/* The warp has exited and nothing of it is under way. */
	void (*warp_retired)(void *state, struct sm *sm, unsigned int warp, uint64_t now);

	/*
	 * The warp's next instruction is a phase point (sm_kernel_set_point()). False: it has to
	 * wait until sm_resource_granted(); asked once. Within a cycle.
	 */
	bool (*acquire)(void *state, struct sm *sm, unsigned int warp, uint32_t pc, uint64_t now);

	/*
	 * Shared memory is mapped in sets of so many bytes, a CTA's in at most 64 of them: bits of
	 * a word. NULL: it is not.
	 */
	unsigned int (*shared_set)(const struct gpu_spec *spec);
	/*
	 * Where shared memory is mapped, within a cycle: an instruction that issues accesses these
	 * sets of its CTA's. It gives those that are in swap, and in *swap the device address
	 * of the CTA's first set there; the others are behind it.
	 * Done: the instruction has finished.
	 */
	uint64_t (*shared_access)(void *state, struct sm *sm, unsigned int warp, uint64_t sets,
				  uint64_t *swap);
	void (*shared_done)(void *state, struct sm *sm, unsigned int warp, uint64_t sets);
	/* With `every`, within a cycle: the instruction has left the pipelines and memory. */
	void (*finished)(void *state, struct sm *sm, unsigned int warp, uint32_t pc);
	/* The warp waits at a barrier; the barrier is over. */
	void (*warp_waits)(void *state, struct sm *sm, unsigned int warp, uint64_t now);
	void (*warp_passed)(void *state, struct sm *sm, unsigned int warp, uint64_t now);
	/*
	 * Between quanta, device addresses: pages [start, end) have left device memory; an access
	 * needs a page from elsewhere.
	 */
	void (*pages_dropped)(void *state, uint64_t start, uint64_t end, uint64_t now);
	void (*page_faulted)(void *state, struct sm *sm, uint64_t page, uint64_t now);

	/* The cycle of sm_timer() has come. */
	void (*timer)(void *state, struct sm *sm, uint64_t now);
};

/* Rows of sm/cta.def, the plain GPU first, NULL terminated. */
extern const struct sm_mechanism *const sm_mechanism_rows[];
const struct sm_mechanism *sm_mechanism_find(const char *name);
/* How many warps and CTAs an SM knows by number. */
void sm_numbers(const struct gpu_spec *spec, unsigned int *warps, unsigned int *ctas);
/* How many it has slots for. */
void sm_slots(const struct gpu_spec *spec, unsigned int *warps, unsigned int *ctas);

/*
 * Parks a CTA: at the end of cycle now + delay at the soonest, and when its pipelines are empty,
 * its slots are free and it is told (cta_parked). -EINVAL: it is not active, or all its warps have
 * exited.
 */
int sm_park(struct sm *sm, unsigned int cta, uint64_t delay, uint64_t now);
/*
 * Gives a parked CTA slots, not necessarily those it had; it is fetched again from the end of cycle
 * now + delay on (cta_started). -EAGAIN: there are not enough slots; -EINVAL: it is not parked.
 */
int sm_restore(struct sm *sm, unsigned int cta, uint64_t delay, uint64_t now);
/*
 * A parked CTA gives up its registers and shared memory, which the mechanism has moved to memory:
 * it is outside, and cannot be restored. Results that still come are kept for it. -EINVAL: it is
 * not parked, is outside, or all its warps have exited.
 */
int sm_evict(struct sm *sm, unsigned int cta, uint64_t now);
/* A CTA that is outside gets registers and shared memory again. -EAGAIN: there are not enough. */
int sm_admit(struct sm *sm, unsigned int cta, uint64_t now);
/* Physical slots for a CTA of the kernel; numbers, registers and shared memory for it. */
bool sm_fits_slots(const struct sm *sm, const struct sm_kernel *kernel);
bool sm_fits(const struct sm *sm, const struct sm_kernel *kernel);
/* How many warps and CTAs it knows by number. */
void sm_sizes(const struct sm *sm, unsigned int *warps, unsigned int *ctas);
/* has_room() may say yes where it said no: for what the SM does not see itself. */
void sm_room_grown(struct sm *sm);
/* The timer op is called in that cycle, at its end, once; NEVER: it is not. */
void sm_timer(struct sm *sm, uint64_t cycle);

/* Bytes that a mechanism moves behind the program's own accesses. */
enum background_way {
	BACKGROUND_SHARED,	/* through the port of shared memory */
	BACKGROUND_L1,		/* to or from memory, through L1D: reads allocate, writes that hit stay */
	BACKGROUND_L2,		/* to or from memory, past L1D */
};

struct background_job {
	uint8_t way;			/* enum background_way */
	uint8_t kind;			/* MEM_READ or MEM_WRITE */
	uint8_t kernel;			/* slot, that the memory system counts it for */
	uint64_t from;			/* not before this cycle */
	uint64_t addr;			/* of memory: from mem_background() of the SM on */
	uint32_t bytes;			/* not 0; of memory: whole sectors, as addr */
	uint32_t width;			/* of shared memory: bytes a cycle; 0: what all banks give */
	/* Called at the end of cycle `now`, in which the last byte moved or its answer came. */
	void (*done)(void *ctx, struct sm *sm, uint64_t now);
	void *ctx;
};

/*
 * Jobs of shared memory are done one after the other, those of memory are sent one after the
 * other, in the order in which they were asked for. -ENOMEM.
 */
int sm_move(struct sm *sm, const struct background_job *job);

/* The warp may pass the point that it was held at, or comes to when it has a slot again. */
void sm_resource_granted(struct sm *sm, unsigned int warp);
/* A halted warp issues nothing more. Says whether it had been let through, which it is not any more. */
bool sm_warp_revoke(struct sm *sm, unsigned int warp);
/* The warp is held, until then, for operands that come from memory. */
void sm_operands_away(struct sm *sm, unsigned int warp);

/*
 * by_warp: the warp has a physical slot (which says its scheduler) from the end of cycle now on and
 * is fetched; it loses it, and its i-buffer is emptied. Instructions in the pipelines go on.
 * sm_warp_unschedule() says whether its next instruction had been let through (acquire).
 */
void sm_warp_schedule(struct sm *sm, unsigned int warp, unsigned int slot, uint64_t now);
bool sm_warp_unschedule(struct sm *sm, unsigned int warp, uint64_t now);
/* A result or a page that the warp waits for is under way. */
bool sm_warp_awaits(const struct sm *sm, unsigned int warp);
/* by_warp: 32-bit registers and bytes of shared memory that are in use from the end of now on. */
void sm_hold(struct sm *sm, uint32_t registers, uint32_t shared_bytes, uint64_t now);
/* by_warp: numbers for a CTA of the kernel and its warps. */
bool sm_fits_numbers(const struct sm *sm, const struct sm_kernel *kernel);
/* Numbers of its warps in the order of their places, at most n; how many. */
unsigned int sm_cta_warps(const struct sm *sm, unsigned int cta, uint8_t *warps, unsigned int n);
/* by_warp: adds to the SM's counters, and to the kernel's. */
void sm_count_virtual(struct sm *sm, const struct sm_kernel *kernel,
		      const struct virtual_counters *more);
/* The first of the SM's own addresses of memory for sm_move(). */
uint64_t sm_background(const struct sm *sm);
/*
 * Cycles of schedulers in which some head was ready and all that were wanted the load/store unit.
 * Only with `every`.
 */
uint64_t sm_memory_pipeline(const struct sm *sm);
/*
 * Of STALL_HELD, cycles of schedulers in which other warps waited for arithmetic or instructions:
 * the stall names the one that is held. Only with `every`.
 */
uint64_t sm_held_beside(const struct sm *sm);

/* A CTA as a mechanism sees it. */
struct sm_cta_view {
	enum sm_cta_state state;
	const struct sm_kernel *kernel;
	uint64_t begin;			/* cycle of its launch */
	unsigned int warps;		/* it was launched with */
	unsigned int running;		/* of them, not exited */
	unsigned int stalled;		/* of those */
	unsigned int faulted;		/* of all, those with an access that waits for a far fault */
	bool ready;			/* parked, and nothing that it waits for is under way */
	bool outside;
	uint8_t slot;			/* its kernel's */
	/* Where its registers and shared memory go, and how many bytes they are, in whole sectors. */
	uint64_t memory;
	uint32_t memory_bytes;
};
#define SM_CTA_MEMORY	(1u << 20)	/* from one CTA's to the next one's */
void sm_cta_look(const struct sm *sm, unsigned int cta, struct sm_cta_view *view);
/* The CTA's kernel, without the rest of its view; and whether a warp of it has not exited. */
const struct sm_kernel *sm_cta_kernel(const struct sm *sm, unsigned int cta);
bool sm_cta_runs(const struct sm *sm, unsigned int cta);
unsigned int sm_warp_cta(const struct sm *sm, unsigned int warp);

/* Instruction pc is a phase point. Before the kernel's first CTA. */
void sm_kernel_set_point(struct sm_kernel *kernel, uint32_t pc);
/* The number of the phase that begins before pc; UINT32_MAX: none does, or there are no phases. */
uint32_t sm_kernel_phase(const struct sm_kernel *kernel, uint32_t pc);
/* The phases, NULL: it was compiled without. */
const struct ptx_phase *sm_kernel_phases(const struct sm_kernel *kernel);
/* Sets of registers (struct ptx_phase) that instruction pc reads, and writes. */
void sm_kernel_sets(const struct sm_kernel *kernel, uint32_t pc, uint64_t *read, uint64_t *write);
/* The registers of the set that it reads, and writes: bit i is the set's register i. */
void sm_kernel_set_registers(const struct sm_kernel *kernel, uint32_t pc, unsigned int set,
			     unsigned int *read, unsigned int *write);
/* The phases that spec's mechanism wants of the compiler. */
enum ptx_phases sm_phases(const struct gpu_spec *spec);
/* ptx_options.plenty of such a GPU. */
uint32_t sm_plenty(const struct gpu_spec *spec);

/* --- one SM -------------------------------------------------------------- */

/* From, and up to where. */
struct sm_part {
	uint32_t registers_from, registers_to, shared_from, shared_to;
};

/* A time of a CTA's, to be drawn. */
struct sm_cta_span {
	uint64_t begin, end;
	uint64_t grid_id;		/* exec_launch.grid_id of its launch */
	uint32_t ctaid[3];
	unsigned int cta;		/* its number */
	/* Physical warp slots, a bit each: those it held at the end, or gave up at the beginning. */
	uint64_t slots[4];
	/* Its place. Empty without one (sm.placement=sums); registers also where warps lie apart. */
	struct sm_part part;
};

/* What an SM is wired to. Lives as long as the SM; wake is a slot of the owner's array. */
struct sm_env {
	const struct gpu_spec *spec;
	struct gmmu *gmmu;
	struct mem *mem;
	uint64_t *wake;		/* next cycle in which the SM wants to run; NEVER */
	uint64_t *rooms;	/* what sm_rooms() says; NULL: in the SM */
	struct err *err;	/* why sm_run() failed; this SM's own */
	/* NULL: sm.cta's. ctx is handed to its create(). */
	const struct sm_mechanism *mechanism;
	void *mechanism_ctx;
	/*
	 * A CTA that was launched at the end of cycle span->begin retired in cycle span->end. From
	 * sm_run(). NULL: nobody asks.
	 */
	void (*retired)(void *ctx, unsigned int sm, const struct sm_cta_span *span);
	/*
	 * The CTA was without slots from the end of span->begin to that of span->end. From
	 * sm_run(), or between quanta.
	 */
	void (*parked)(void *ctx, unsigned int sm, const struct sm_cta_span *span);
	/* A page that an access waited for has come. Between quanta. NULL: nobody asks. */
	void (*translated)(void *ctx, unsigned int sm, uint64_t page, uint64_t now);
	void *watcher;			/* ctx of them */
	/* Set when a page has come: there may be accesses to perform. */
	bool *performs;
};

/* -EINVAL: no such scheduler or mechanism. */
int sm_create(unsigned int id, const struct sm_env *env, struct sm **sm);
void sm_destroy(struct sm *sm);

/* Drops everything in flight (a kernel was ended). */
void sm_cancel(struct sm *sm);

/* Before a kernel's first CTA, on every SM: its share begins at 0. */
int sm_begin(struct sm *sm, const struct sm_kernel *kernel);
/*
 * L1s drop the parameters and local memory of the kernel that had this kernel's slot before. L2
 * keeps it: a launch's parameters are written through it, and local memory is the slot's.
 */
void sm_forget(struct sm *sm, const struct sm_kernel *kernel);
/* Room for a CTA of the kernel, as sm.cta goes. */
bool sm_has_room(const struct sm *sm, const struct sm_kernel *kernel);
/*
 * Counts the times that there may have come to be more room: a CTA has ended, one that was parked
 * gave its slots up, or the mechanism says so (sm_room_grown()). A dispatcher that
 * found no room looks again.
 */
uint64_t sm_rooms(const struct sm *sm);
/*
 * At the end of the cycle a CTA of the kernel waits and there is no room: counted where it is for
 * holes alone.
 */
void sm_refused(struct sm *sm, const struct sm_kernel *kernel, uint64_t cycle);

/*
 * CTAs of the kernel that come from now on lie in this part of the registers and of the shared
 * memory (sm.placement=sums: anywhere). After sm_begin(), which makes it the whole.
 */
void sm_set_part(struct sm *sm, const struct sm_kernel *kernel, const struct sm_part *part);

/* Since creation; up to the last sm_account(). */
const struct fragmentation_counters *sm_fragmentation(const struct sm *sm);

/* Puts a CTA on the SM at the end of cycle now; there is room. -ENOMEM. */
int sm_launch_cta(struct sm *sm, const struct sm_kernel *kernel, const uint32_t ctaid[3],
		  uint64_t now);
/*
 * Between quanta, at the end of cycle now: the kernel's CTAs execute nothing more. Their warps are
 * as if they had exited: instructions that they issued are performed, and then their registers,
 * shared memory and slots are free and they have retired. One that is parked ends so when it has
 * slots again.
 */
void sm_halt(struct sm *sm, const struct sm_kernel *kernel, uint64_t now);
/* Counts the resident CTAs of a kernel; NULL: of all. */
unsigned int sm_resident_ctas(const struct sm *sm, const struct sm_kernel *kernel);
/* Nothing resident, and every store acknowledged. */
bool sm_idle(const struct sm *sm);
/* The last cycle in which the SM did something. */
uint64_t sm_last(const struct sm *sm);

/*
 * Runs cycles [from, upto), those in which something can happen, and sets *env->wake.
 * 0, or the error that ends the kernel: -EFAULT, -ECANCELED (a trap, a barrier that
 * cannot be), -ENOMEM, -EIO (something is left in an empty SM: a fault of the model); env->err
 * and sm_failure() say what, where and in which cycle.
 */
int sm_run(struct sm *sm, uint64_t from, uint64_t upto);
/* Attributes the cycles before `upto` that the SM slept through. */
void sm_account(struct sm *sm, uint64_t upto);

struct sm_failure {
	int error;
	uint64_t cycle, fault_addr;
	const struct sm_kernel *kernel;
};
/* NULL: none. */
const struct sm_failure *sm_failure(const struct sm *sm);

/*
 * Performs the global accesses that the SM translated in `cycle`, in order, and
 * hands on what was printed in it. The GPU calls it for all SMs cycle by cycle, so
 * that memory and output see one order however the SMs were run. As sm_run() for errors.
 */
int sm_perform(struct sm *sm, uint64_t cycle);
/* First cycle with something to perform or to print, NEVER: none. */
uint64_t sm_perform_next(const struct sm *sm);

/* Pages that left device memory (device addresses): what L1D holds of them. */
void sm_drop(struct sm *sm, uint64_t start, uint64_t end);
/* A kernel has ended: L1D, L1C and L1I are empty. */
void sm_flush(struct sm *sm);

/* Of a kernel on this SM, since sm_begin(). */
struct sm_share {
	uint64_t warp_instructions, thread_instructions;
	uint64_t retired_ctas;
};
const struct sm_share *sm_share(const struct sm *sm, const struct sm_kernel *kernel);

/*
 * All that is the kernel's of this SM's counters, since sm_begin(), at any time while it runs;
 * sums over cycles are up to the last sm_account(). On an SM with one kernel these are the
 * SM's. All kernels' are the SM's, together with what an empty SM counts; but `cycles` are those
 * in which a CTA of the kernel was resident, so kernels side by side have the same ones.
 */
struct sm_kernel_stats {
	struct sm_counters counters;
	/*
	 * counters.stalls has each cycle of a scheduler once, as one kernel's. These are the
	 * kernel's own view: for each cycle of each scheduler while it is resident why none of its
	 * warps issued; STALL_PIPELINE also when another kernel's did instead.
	 */
	uint64_t own_stalls[STALLS];
};
void sm_kernel_stats(struct sm *sm, const struct sm_kernel *kernel, struct sm_kernel_stats *stats);
/* All kernels' and nobody's are the SM's, as they have to be. */
bool sm_shares_add_up(struct sm *sm);

/* Since creation, never reset; sums over cycles are up to the last sm_account(). */
const struct sm_counters *sm_stats(const struct sm *sm);

/* --- for messages -------------------------------------------------------- */

/* The access with the lowest address that waits for the page; false: none here. */
struct sm_waiting {
	uint64_t addr;
	uint32_t line;			/* of the PTX text */
	unsigned int bytes;
	const char *what;		/* "load", "store", "atomic" */
	char thread[128];
};
bool sm_find_waiting(const struct sm *sm, uint64_t page, struct sm_waiting *w);

/* What this SM's warps wait for, one clause; "" when it is empty. */
void sm_describe(const struct sm *sm, char *buf, size_t bytes);

/* --- warp schedulers ----------------------------------------------------- */

/* Row n of sm/sched.def. */
bool sm_scheduler(unsigned int n, const char **name, const char **help);

#endif
