/* SPDX-License-Identifier: GPL-2.0 */
/*
 * CTAs on an SM, from launch to retirement: cta.c. Private to the sm room.
 */
#ifndef GPUEMU_SM_CTA_H
#define GPUEMU_SM_CTA_H

#include "sm/barrier.h"
#include "sm/placement.h"
#include "sm/warp.h"

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

struct ctas {
	struct sm_cta *at;
	unsigned int n;			/* numbers there are */
	unsigned int slots;		/* there are */
	uint32_t resident, registers, shared;	/* used */
	struct placement *placement;	/* where their registers and shared memory are */
};

/*
 * What is left to do of launches, which the SM alone sees: memory is cleared, registers are set. So
 * SMs that run on several host threads do it side by side. Before the warps' first cycle.
 */
void cta_begin(struct sm *sm);
void cta_warp_exited(struct sm *sm, unsigned int w);
/* Fetch came by a finished warp: its slot is free, and with the last one its CTA's. */
void cta_warp_retire(struct sm *sm, unsigned int w, uint64_t now);
/* Tells the watcher of a time of the CTA's. */
typedef void cta_watcher(void *ctx, unsigned int sm, const struct sm_cta_span *span);
void cta_tell(const struct sm *sm, unsigned int cta, cta_watcher *watcher, warpset slots,
	      uint64_t begin, uint64_t end);
void cta_fini(struct sm *sm);
void cta_cancel(struct sm *sm);

#endif
