/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which kernel each of the SM's counters belongs to: share.c. Private to the sm room.
 */
#ifndef GPUEMU_SM_SHARE_H
#define GPUEMU_SM_SHARE_H

#include "sm/limits.h"
#include "sm/warpset.h"

struct share {
	struct sm_share begun[SM_KERNELS];	/* since the kernels' begin, by kernel slot */
	/* By kernel slot: CTAs, their warps, the kernel of those. */
	uint32_t ctas_of[SM_KERNELS];
	warpset warps_of[SM_KERNELS];
	const struct sm_kernel *kernel_of[SM_KERNELS];
	bool mixed;			/* CTAs of several kernels are resident */
	uint8_t owner;			/* slot of the only one; NOBODY: none is */
	uint8_t turn;			/* slot that a cycle of several goes to first */
	struct sm_kernel_stats *by, *by_before;	/* by slot, and NOBODY; at the kernels' begin */
	struct sm_counters handed_over;	/* account.stats, up to where they were added to `by` */
};

struct sm_cta;

int share_init(struct sm *sm);
void share_fini(struct sm *sm);
/* A kernel begins: its share is counted from here on. */
void share_begin(struct sm *sm, const struct sm_kernel *kernel);
/* A CTA has come, or is about to go; sums over cycles are up to date. They keep ctas_of. */
void share_launched(struct sm *sm, const struct sm_cta *cta);
void share_retired(struct sm *sm, const struct sm_cta *cta);
/* All CTAs have gone. */
void share_cancel(struct sm *sm);
/* While share.mixed: cycles with what is resident, and with account.counted schedulable. */
void share_resident(struct sm *sm, uint64_t cycles);
void share_schedulable(struct sm *sm, uint64_t cycles);
/* Counts a scheduler's cycles, for `reason`. issued: slot of the issuing warp, or NOBODY. */
void share_cycles(struct sm *sm, unsigned int scheduler, enum stall reason, unsigned int issued,
		  uint64_t cycles);

#endif
