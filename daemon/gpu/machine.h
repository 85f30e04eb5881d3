/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The parts built from one spec: SMs, memory, GMMU, fault handlers. machine.c wires them, and
 * knows nothing of what goes over the wires. Private to the room.
 */
#ifndef GPUEMU_GPU_MACHINE_H
#define GPUEMU_GPU_MACHINE_H

#include "gpu/dispatch.h"
#include "gpu/handler.h"
#include "gpu/workers.h"
#include "stats/stats.h"

struct gpu_session;

/*
 * The thread that ran an SM leaves this to the loop. Each SM has a line of the host's caches, so
 * threads do not take it from each other. In most quanta the loop reads no more of the SM.
 */
struct sm_left {
	_Alignas(64) uint64_t wake;	/* next cycle in which the SM wants to run; NEVER */
	uint64_t performs;		/* cycle of its next access to perform; NEVER */
	uint64_t rooms;			/* sm_rooms() */
	bool failed;
};

struct machine {
	struct gpu_session *session;
	struct gpu_spec spec;
	struct gmmu *gmmu;
	struct mem *mem;
	struct sm **sms;
	struct sm_left *left;		/* by SM */
	unsigned int nsms;
	struct workers *workers;	/* gpu.threads; NULL: one */
	unsigned int quantum;		/* cycles that SMs may be run apart */
	struct dispatch *dispatch;
	struct handler handler;
	struct err *sm_errs;		/* by SM: what it says about its own failure */
	/* The loop's arrays by SM, in one allocation each, reused every quantum. */
	uint16_t *awake;		/* SMs that run in this quantum, ascending */
	uint16_t *homes;		/* the host thread of each of them; then the memory's */
	uint64_t *retired, *rooms;	/* CTAs and sm_rooms(), when the loop looked last */
	bool translated;		/* an SM got a page since accesses were performed */
	bool remote;			/* a page in system memory was translated, ever */
	bool has_walker;		/* the memory has a port for the page walker */
	/* Paging off: why a translation failed (0: it did not). */
	int off_status;
	uint64_t off_page;
};

int machine_create(struct gpu_session *session, const struct gpu_spec *spec,
		   struct machine **machine, struct err *err);
void machine_destroy(struct machine *m);
/* Drops all that is in flight; the TLBs stay. */
void machine_cancel(struct machine *m);

/* page_table.c: what the GMMU asks; a machine is the context. */
extern const struct gmmu_ops page_table_ops;
/* Paging off: which pages there are now. -ENOMEM. */
int page_table_set_ranges(struct machine *m);
/* Entries on their way to the walker: when the next is there, and handing over. */
uint64_t page_table_next(const struct machine *m);
void page_table_step(struct machine *m, uint64_t now);

/* counters.c */
/* Everything the machine counted since it was made, up to core cycle `now`. */
void machine_counters(struct machine *m, uint64_t now, struct gpu_counters *c);
/* Counts of mem, gmmu and paging for the kernels in the slot; the SMs' are sm_kernel_stats(). */
void machine_slot_counters(struct machine *m, unsigned int slot, struct gpu_counters *c);
/* All slots' parts, and what is nobody's, are `all`, of machine_counters(): as they have to be. */
bool machine_shares_add_up(struct machine *m, const struct gpu_counters *all);
void machine_state(struct machine *m, struct gpu_state *state);

#endif
