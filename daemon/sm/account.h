/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What an SM counts, and up to which cycle: account.c. Private to the sm room.
 */
#ifndef GPUEMU_SM_ACCOUNT_H
#define GPUEMU_SM_ACCOUNT_H

#include "sm/limits.h"
#include "sm/warpset.h"

struct account {
	uint64_t accounted;		/* cycles before this are attributed */
	uint64_t integrated;		/* sums over cycles of what is resident go up to here */
	warpset counted;		/* set of warps that counted_warps is the size of */
	uint32_t counted_warps;
	struct sm_counters stats;
};

/* Attributes the cycles before `upto` to what holds now: before a mask changes outside a cycle. */
void sm_settle(struct sm *sm, uint64_t upto);
/* Adds what is resident to the sums over cycles, up to `upto`: before that changes. */
void sm_integrate(struct sm *sm, uint64_t upto);

/*
 * Counts n of `field` for the kernel in slot `k`, an expression that is not looked at while
 * there is one kernel alone.
 */
#define sm_count(sm, k, field, n) do {						\
	uint64_t n_ = (n);							\
										\
	(sm)->account.stats.field += n_;						\
	if (__builtin_expect((sm)->share.mixed, 0))					\
		(sm)->share.by[k].counters.field += n_;				\
} while (0)

#endif
