/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The parts of a GPU and a session, and what the files of the gpu room call of
 * each other. Private to it.
 */
#ifndef GPUEMU_GPU_INTERNAL_H
#define GPUEMU_GPU_INTERNAL_H

#include "exec/exec.h"
#include "gmmu/gmmu.h"
#include "gpu/flight.h"
#include "gpu/gpu.h"
#include "gpu/output.h"
#include "gpu/timeline.h"
#include "mem/mem.h"
#include "paging/paging.h"
#include "sm/sm.h"
#include "stats/stats.h"

/* --- a GPU ---------------------------------------------------------------- */

struct gpu {
	struct service *service;	/* the caller's */
	struct flight flight;		/* stands before it */
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

struct handler {
	bool busy;
	uint64_t until;			/* replay, while busy */
	uint32_t futile;		/* consecutive batches that moved nothing */
	struct fault batch[256];
};

/* --- the machine: what is built from one spec ------------------------------- */

struct machine {
	struct gpu_session *session;
	struct gpu_spec spec;
	struct gmmu *gmmu;
	struct mem *mem;
	struct sm **sms;
	uint64_t *wake;			/* by SM: dense, the loop scans it */
	unsigned int nsms;
	struct handler handler;
	struct err *err;		/* of the launch that runs */
	struct err sm_err;		/* what an SM says about its own failure */
	/* Paging off: why a translation failed (0: it did not). */
	int off_status;
	uint64_t off_page;
	int poll_status;		/* kept by nested polls until the loop looks */
};

int machine_create(struct gpu_session *session, const struct gpu_spec *spec,
		   struct machine **machine, struct err *err);
void machine_destroy(struct machine *m);
/* Drops all that is in flight; the TLBs stay. */
void machine_cancel(struct machine *m);
/* The fault handler's cycle. 0, or what ends the kernel, err set. */
int handler_step(struct machine *m, const struct ptx_kernel *kernel, uint64_t now,
		 uint64_t *fault_addr, struct err *err);
/* Cycle of the replay, or NEVER. */
uint64_t handler_next(const struct machine *m);
/* Names the access that waits for the page, for a kernel that ends by it; returns code. */
int machine_blame(struct machine *m, const struct ptx_kernel *kernel, uint64_t page,
		  int code, uint64_t *fault_addr, struct err *err);

/* --- a session -------------------------------------------------------------- */

struct module {
	struct module *next;
	uint32_t id;
	struct ptx_module *ptx;
	struct exec_program **programs;	/* by kernel, made at its first launch */
	unsigned int nkernels;
};

struct gpu_session {
	struct gpu *gpu;
	struct gpu_session *next;
	uint32_t va_space;
	struct machine *machine;
	struct paging *paging;		/* NULL: it could not be made again; launches fail */
	struct module *modules;
	uint64_t now;			/* the session's clock, core cycles */
	uint64_t grids;			/* launched, for %gridid */
	struct kernel_stats *kernels;
	size_t nkernels, kernel_room;
	uint64_t shared_accesses, shared_conflict_cycles;
	struct timeline timeline;
	struct output output;		/* of the last launch */
};

/* A launch that is checked and bound; err and fault_addr are the caller's. */
struct run {
	struct gpu_session *session;
	struct machine *m;
	const struct ptx_kernel *kernel;
	struct exec_launch launch;
	uint64_t *fault_addr;
	struct err *err;
};

/* Room for one more kernel's statistics, not counted yet. NULL: no memory. */
struct kernel_stats *run_new_stats(struct run *r);
/* What is the same with and without time. */
void run_describe(const struct run *r, struct kernel_stats *k);
/* The launch's sentence for -ECANCELED and -ENODEV of the service's poll; returns status. */
int run_gone(struct run *r, int status);
/* The launch's sentence for gpu.watchdog. -ETIMEDOUT. */
int run_watchdog(struct run *r);
/* cycles.c: in time. functional.c: without. */
int run_timed(struct run *r);
int run_functional(struct run *r);

/* Nanoseconds in core cycles, rounded up. */
static inline uint64_t cycles_of(const struct gpu_spec *spec, uint64_t ns)
{
	return (uint64_t)(((unsigned __int128)ns * spec->clock_mhz + 999) / 1000);
}

#endif
