/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One SM: CTA and warp slots, schedulers, scoreboard, execution pipelines, the
 * load/store unit and barriers. What an instruction does is exec's; where its
 * lines go is mem's; where its pages are is gmmu's. The GPU's cycle loop
 * (gpu/) steps it, only in cycles in which something can happen.
 *
 * Fetch and instruction buffer are ideal: a warp's next instruction is always
 * there.
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
unsigned int sm_kernel_ctas(const struct sm_kernel *kernel);	/* an SM holds */

/* --- one SM -------------------------------------------------------------- */

struct sm;

/* What an SM is wired to. Lives as long as the SM; wake is a slot of the owner's array. */
struct sm_env {
	const struct gpu_spec *spec;
	struct gmmu *gmmu;
	struct mem *mem;
	uint64_t *wake;		/* next cycle in which the SM wants a step; NEVER */
	struct err *err;	/* why sm_step() failed */
};

/* -EINVAL: no such scheduler. */
int sm_create(unsigned int id, const struct sm_env *env, struct sm **sm);
void sm_destroy(struct sm *sm);

/* The SM must be empty. Counters start anew at `now`. */
int sm_begin(struct sm *sm, const struct sm_kernel *kernel, uint64_t now);
/* Drops everything in flight (the kernel was ended). */
void sm_cancel(struct sm *sm);

bool sm_has_room(const struct sm *sm);
/* Puts a CTA on the SM at the end of cycle now: its warps can issue in the next one. */
void sm_launch_cta(struct sm *sm, const uint32_t ctaid[3], uint64_t now);
unsigned int sm_resident_ctas(const struct sm *sm);

/*
 * Runs cycle now. 0, or the error that ends the kernel: -EFAULT (env->err and
 * *fault_addr say what), -ECANCELED (a trap, a barrier that cannot be; env->err), -EBUSY, -ENOMEM.
 */
int sm_step(struct sm *sm, uint64_t now, uint64_t *fault_addr);
/* Attributes the cycles before `upto` that the SM slept through. */
void sm_account(struct sm *sm, uint64_t upto);

/* From gmmu's ops: this SM's waiter translated, or is a far fault. */
void sm_translated(struct sm *sm, struct gmmu_waiter *waiter, uint64_t page,
		   void *host, uint64_t now);
void sm_faulted(struct sm *sm, struct gmmu_waiter *waiter, uint64_t now);

struct sm_stats {
	uint64_t warp_instructions, thread_instructions;
	uint64_t stalls[STALLS];
	uint64_t shared_accesses, shared_conflict_cycles;
	uint64_t retired_ctas;
};
const struct sm_stats *sm_stats(const struct sm *sm);

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

/* A scheduler's memory. Warp i of the SM belongs to scheduler i % schedulers. */
struct sched_state {
	uint32_t last;			/* warp that issued last */
	bool any;			/* one has issued */
	const uint64_t *age;		/* by warp: the lower, the longer on the SM */
};

struct sched_ops {
	const char *name, *help;
	/* Picks one of the warps in `can` (not 0: warps that can issue now). */
	unsigned int (*pick)(const struct sched_state *s, uint64_t can);
};

/* Rows of sm/sched.def, NULL terminated. */
extern const struct sched_ops *const sched_rows[];
const struct sched_ops *sched_find(const char *name);

#endif
