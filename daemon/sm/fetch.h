/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Fetch and decode: fetch.c. Private to the sm room.
 */
#ifndef GPUEMU_SM_FETCH_H
#define GPUEMU_SM_FETCH_H

#include "sm/limits.h"
#include "sm/warpset.h"

struct line_fetches;

struct fetch {
	warpset empty;			/* live, nothing in the i-buffer, no fetch under way */
	warpset missed;			/* an L1I fetch is under way */
	warpset stale;			/* of them, whose line is dropped when it comes */
	warpset refused;		/* of empty: L1I could not take them since its last fill */
	warpset finished;		/* exited, nothing under way: fetch gives them back */
	struct cache *l1i;
	struct line_fetches *lines;
	uint32_t fetched;		/* warp in the fetch buffer, NO_INDEX: none */
	uint32_t last_fetched;
};

int fetch_init(struct sm *sm);
void fetch_fini(struct sm *sm);
void fetch_cancel(struct sm *sm);
void fetch_reply(struct sm *sm, const struct mem_reply *reply);
void fetch_decode(struct sm *sm, uint64_t now);
void fetch_cycle(struct sm *sm, uint64_t now);
bool fetch_busy(const struct sm *sm);	/* something to do in the next cycle */
bool fetch_idle(const struct sm *sm);

#endif
