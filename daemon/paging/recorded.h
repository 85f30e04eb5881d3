/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The future, for policies that know it: where in a recorded run each page was
 * touched, and how far this run is in it.
 *
 * Two runs of a program touch the same pages, in nearly the same order: what differs
 * is timing, and with it which warps come first and how often a TLB forgets a page. So a
 * touch is matched with the page's place nearest to `now`, and now follows: by one place, or
 * none or two where the match is behind or ahead, so that a touch which the record does not
 * have at all cannot mislead it. Places that fell behind now by more than matches usually
 * do were left out by this run. Where touches are the recorded ones, all is exact.
 * Private to paging/.
 */
#ifndef GPUEMU_PAGING_RECORDED_H
#define GPUEMU_PAGING_RECORDED_H

#include "base/base.h"
#include "base/u64map.h"
#include "gpuemu_policy.h"

#define NEVER_AGAIN	UINT64_MAX

/* A page's places, ascending: places[first .. first + count). */
struct recorded_page {
	uint64_t first, count;
	uint64_t next;		/* of them: the first that is still to come, count: none is */
	uint64_t near;		/* of them: about now */
};

struct recorded {
	const uint64_t *record;		/* the view's */
	uint64_t length;
	uint64_t *places;
	struct recorded_page *pages;	/* distinct, in the order of first touch */
	uint64_t npages;
	struct u64map index;		/* address to a place in pages */
	uint64_t now;			/* the place that is expected next */
	uint64_t deviation;		/* of matches, places: a running mean, times 64 */
	unsigned int ahead;		/* matches in a row that were ahead */
	uint64_t least_ahead;		/* by how much, at the least */
};

/* -ENOMEM: nothing is made. */
int recorded_make(struct recorded *r, const struct gpuemu_policy_view *view);
void recorded_clear(struct recorded *r);
/* The page was touched. */
void recorded_touch(struct recorded *r, uint64_t addr);
/*
 * When the page is touched next, as far as is known: its place, or NEVER_AGAIN.
 * Places that were left out are passed over when it is asked for.
 */
uint64_t recorded_next(struct recorded *r, uint64_t addr);

#endif
