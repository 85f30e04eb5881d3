/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Barriers of a CTA: barrier.c. Private to the sm room.
 */
#ifndef GPUEMU_SM_BARRIER_H
#define GPUEMU_SM_BARRIER_H

#include "sm/warpset.h"
#include "sm/limits.h"

/* One phase of a named barrier; all zero when nobody has come. */
struct barrier {
	struct exec_barrier phase;
	warpset arrived;		/* warps, those that did not wait included */
	warpset waiting;		/* of them */
};

struct sm_cta;

/* The warp executed bar. */
void barrier_arrive(struct sm *sm, unsigned int w, const struct exec_access *access);
/* A warp of the CTA has exited. */
void barrier_exited(struct sm *sm, struct sm_cta *cta);

#endif
