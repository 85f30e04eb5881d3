/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A policy in use: a row of prefetch.def or evict.def (or a loaded one), the
 * values of its options, its state and what it may look at. The rest of
 * paging/ tells it through these calls what happens to pages. Private to paging/.
 */
#ifndef GPUEMU_PAGING_POLICY_H
#define GPUEMU_PAGING_POLICY_H

#include "base/addr_range.h"
#include "base/rng.h"
#include "gpuemu_policy.h"
#include "paging/paging.h"
#include "paging/rows.h"
#include "paging/touches.h"

struct policy {
	struct paging *paging;
	struct policy_choice choice;
	struct gpuemu_policy_view view;	/* ctx is this struct */
	struct rng rng;			/* its own: a policy's numbers do not depend on its neighbour */
	struct policy_counter *counters;
	unsigned int ncounters;
	void *state;
	struct plugin *plugin;		/* it is a user's object; NULL: a row */
	/* Managed ranges, looked up once in a call of the policy. */
	struct addr_ranges ranges;
	bool ranges_known;
};

/*
 * Makes the prefetch and the eviction policy that the spec names. Pages that are
 * here already are told by policies_adopt(). -EINVAL, -ENOMEM: nothing is made.
 */
int policies_open(struct paging *p, struct err *err);
void policies_close(struct paging *p);
/* Names the counters in paging_stats; they start at 0. */
void policies_name_counters(struct paging *p);

/* Asks which pages to bring beside the batch's faults (p->faults): at most max, unchecked. */
unsigned int policies_on_batch(struct paging *p, uint64_t *pages, unsigned int max);
/* Victims, unchecked: n <= max. */
unsigned int policies_pick(struct paging *p, unsigned int need,
			   bool (*keep)(void *ctx, uint64_t addr), void *ctx,
			   uint64_t *pages, unsigned int max);

/* The page is in device memory or on its way: -ENOMEM and nobody knows it. */
int policies_arrive(struct paging *p, uint64_t addr, bool prefetched);
/*
 * The same for those of the 64 pages from addr on whose bit is set; all are prefetched. addr is a
 * multiple of 64 pages. Returns the pages that the policies know now.
 */
uint64_t policies_arrive_run(struct paging *p, uint64_t addr, uint64_t pages);
void policies_touch(struct paging *p, uint64_t addr, bool write);
/* It is not there any more. */
void policies_leave(struct paging *p, uint64_t addr);
/* The same for those of the 64 pages from addr on whose bit is set. */
void policies_leave_run(struct paging *p, uint64_t addr, uint64_t pages);
/*
 * A victim, from the plan's making until its fate is known: out of the eviction
 * policy's sight, so that it is not picked twice. It went: policies_leave(). It stayed: back.
 */
void policies_hide(struct paging *p, uint64_t addr);
void policies_unhide(struct paging *p, uint64_t addr);

#endif
