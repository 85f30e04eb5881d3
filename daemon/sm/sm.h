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
/* What a CTA takes of an SM. */
struct sm_needs {
	uint32_t warps, registers, shared_bytes;
};
struct sm_needs sm_kernel_needs(const struct sm_kernel *kernel);
/* Kernels that run at a time have slots of their own, from 0; a new kernel has 0. */
#define SM_KERNELS	KERNEL_SLOTS
void sm_kernel_set_slot(struct sm_kernel *kernel, unsigned int slot);
/*
 * Device addresses of its module's first instruction and first constant; a new kernel's module is
 * the only one. Parameters and local memory go by slot.
 */
void sm_kernel_set_module(struct sm_kernel *kernel, uint64_t code, uint64_t constants);

/* --- hooks ------------------------------------------------------------------ */

struct sm;

/*
 * What resource managers may change of an SM. Each is a table of rows, the first of
 * which is what a plain GPU does; an op that is NULL is not called. ctx is the
 * owner's, from struct sm_env. All are called in sm_run() but the ones that say otherwise.
 */

/* CTAs beyond the scheduling limit (Virtual Thread): who is admitted, and who is active. */
struct sm_admission {
	const char *name, *help;
	/*
	 * Between quanta. Is there room for one more CTA? NULL: slots, threads, registers and
	 * shared memory say so.
	 */
	bool (*has_room)(void *ctx, const struct sm *sm, const struct sm_kernel *kernel);
	/* Between quanta: the CTA was put into the slot. It may be made inactive at once. */
	void (*launched)(void *ctx, struct sm *sm, unsigned int cta, uint64_t now);
	void (*retired)(void *ctx, struct sm *sm, unsigned int cta, uint64_t now);
	/*
	 * Every active warp of the CTA that has not exited waits for memory or a far fault.
	 * Called in the cycle in which that began to be so.
	 */
	void (*stalled)(void *ctx, struct sm *sm, unsigned int cta, uint64_t now);
};

/* Resources of a warp that come and go while it runs (Zorua). */
struct sm_resources {
	const char *name, *help;
	/*
	 * The warp's next instruction is a point (sm_kernel_set_point()). False: it has to wait
	 * until sm_resource_granted(); asked once.
	 */
	bool (*acquire)(void *ctx, struct sm *sm, unsigned int warp, uint32_t pc, uint64_t now);
	/* The warp exited and nothing of it is under way. */
	void (*release)(void *ctx, struct sm *sm, unsigned int warp, uint64_t now);
};

/* How many CTAs of a kernel an SM may hold (Warped-Slicer). Between quanta. */
struct sm_quota {
	const char *name, *help;
	unsigned int (*ctas)(void *ctx, unsigned int sm, const struct sm_kernel *kernel);
};

/* Rows of sm/admission.def, resources.def and quota.def, NULL terminated. */
extern const struct sm_admission *const sm_admission_rows[];
extern const struct sm_resources *const sm_resources_rows[];
extern const struct sm_quota *const sm_quota_rows[];

struct sm_hooks {
	/* NULL: the first row. */
	const struct sm_admission *admission;
	const struct sm_resources *resources;
	const struct sm_quota *quota;
	void *admission_ctx, *resources_ctx, *quota_ctx;
};

/* For hooks. A CTA that is not active issues nothing; what it has under way goes on. */
void sm_cta_activate(struct sm *sm, unsigned int cta, bool active);
/* The warp may pass the point that it was held at. */
void sm_resource_granted(struct sm *sm, unsigned int warp);
/* Instruction pc is a point at which resources are acquired. Before the kernel's first CTA. */
void sm_kernel_set_point(struct sm_kernel *kernel, uint32_t pc);

/* --- one SM -------------------------------------------------------------- */

/* What an SM is wired to. Lives as long as the SM; wake is a slot of the owner's array. */
struct sm_env {
	const struct gpu_spec *spec;
	struct gmmu *gmmu;
	struct mem *mem;
	uint64_t *wake;		/* next cycle in which the SM wants to run; NEVER */
	struct err *err;	/* why sm_run() failed; this SM's own */
	struct sm_hooks hooks;
	/*
	 * A CTA that was launched at the end of cycle `begin` retired in cycle `end`. From
	 * sm_run(). NULL: nobody asks.
	 */
	void (*retired)(void *ctx, unsigned int sm, unsigned int slot, const uint32_t ctaid[3],
			uint64_t begin, uint64_t end);
	void *retired_ctx;
};

/* -EINVAL: no such scheduler. */
int sm_create(unsigned int id, const struct sm_env *env, struct sm **sm);
void sm_destroy(struct sm *sm);

/* Drops everything in flight (a kernel was ended). */
void sm_cancel(struct sm *sm);

/* Before a kernel's first CTA, on every SM: its share begins at 0. */
int sm_begin(struct sm *sm, const struct sm_kernel *kernel);
/*
 * L1s drop what they hold of parameters and local memory of who had the kernel's slot before. L2
 * keeps it: a launch's parameters are written through it, and local memory is the slot's.
 */
void sm_forget(struct sm *sm, const struct sm_kernel *kernel);
/* Room for a CTA of the kernel as far as slots, threads, registers, shared memory and quota go. */
bool sm_has_room(const struct sm *sm, const struct sm_kernel *kernel);
/* A CTA of the kernel waits and there is no room: counted where it is for holes alone. */
void sm_refused(struct sm *sm, const struct sm_kernel *kernel);

/* From, and up to where. */
struct sm_part {
	uint32_t registers_from, registers_to, shared_from, shared_to;
};
/*
 * CTAs of the kernel that come from now on lie in this part of the registers and of the shared
 * memory (sm.placement=sums: anywhere). After sm_begin(), which makes it the whole.
 */
void sm_set_part(struct sm *sm, const struct sm_kernel *kernel, const struct sm_part *part);

/*
 * How free registers and shared memory lay while CTAs of several kernels were on the SM, or
 * had been since it was empty. Sums over these cycles: what was free, and the largest hole.
 */
struct sm_fragmentation {
	uint64_t cycles;
	uint64_t refused;		/* CTAs, for which the sum would have been enough */
	uint64_t registers_free, registers_hole, shared_free, shared_hole;
};
/* Since creation; up to the last sm_account(). */
const struct sm_fragmentation *sm_fragmentation(const struct sm *sm);

/* Puts a CTA on the SM at the end of cycle now; there is room. -ENOMEM. */
int sm_launch_cta(struct sm *sm, const struct sm_kernel *kernel, const uint32_t ctaid[3],
		  uint64_t now);
/* Of the kernel; NULL: of all. */
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

/* From gmmu's ops, between quanta: this SM's waiter translated, or is a far fault. */
void sm_translated(struct sm *sm, struct gmmu_waiter *waiter, uint64_t page,
		   void *host, uint64_t now);
void sm_faulted(struct sm *sm, struct gmmu_waiter *waiter, uint64_t now);

/* Of a kernel on this SM, since sm_begin(). */
struct sm_share {
	uint64_t warp_instructions, thread_instructions;
	uint64_t retired_ctas;
};
const struct sm_share *sm_share(const struct sm *sm, const struct sm_kernel *kernel);

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
