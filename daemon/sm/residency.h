/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which CTAs hold slots: residency.c. Private to the sm room.
 */
#ifndef GPUEMU_SM_RESIDENCY_H
#define GPUEMU_SM_RESIDENCY_H

#include "sm/limits.h"
#include "sm/warpset.h"

/* Holders of slots: residency.c. CTAs are sets as warps are, and each has one warp at least. */
struct residency {
	warpset slots;			/* physical, taken */
	uint32_t slotted;		/* CTAs that hold some */
	warpset active;			/* CTAs */
	warpset moving;			/* CTAs that are parked or restored now */
	warpset due;			/* CTAs with a warp without a slot whose results have come */
	uint64_t *room, own_room;	/* sm_rooms(): env.rooms, or here */
};

/* n numbers below limit that are not used; fewer: there are no more. */
warpset residency_choose(warpset used, unsigned int limit, unsigned int n);
/* A CTA was put on the SM, with its number and its warps': it gets slots if there are. */
void residency_launched(struct sm *sm, unsigned int cta, uint64_t now);
void residency_retired(struct sm *sm, unsigned int cta);
/* by_warp: the warp is given back. */
void residency_warp_retired(struct sm *sm, unsigned int w);
void residency_cancel(struct sm *sm);
bool residency_idle(const struct sm *sm);
/* residency_cycle() has something to look at. */
#define residency_waits(sm)	set_any((sm)->res.moving | (sm)->res.due)
void residency_cycle(struct sm *sm, uint64_t now);
/* Next cycle > now in which a delay is over; NEVER. */
uint64_t residency_next(const struct sm *sm, uint64_t now);

#endif
