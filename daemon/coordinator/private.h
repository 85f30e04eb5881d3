/* SPDX-License-Identifier: GPL-2.0 */
/* Structures and functions that the coordinator's files share. */
#ifndef GPUEMU_COORDINATOR_PRIVATE_H
#define GPUEMU_COORDINATOR_PRIVATE_H

#include "coordinator/coordinator.h"

#define SETS	64u

/* A warp of the oldest CTA waits for no more than so many epochs (queue.c). */
#define LATE	16u

/* RESULTS: the warp lost its slot and waits for results before it needs one again. */
enum state { ABSENT, PENDING, RUNNING, BARRIER, RESULTS };

struct warp {
	uint8_t state;			/* enum state */
	uint8_t cta;
	bool slotted;			/* holds a physical slot */
	bool away;			/* its state (that of a lent slot) is in swap */
	uint16_t slot;
	uint64_t order;			/* when it began to wait, in a queue or at a barrier */
	uint64_t age;			/* of its CTA: less is older */
	uint64_t since;			/* the epoch in which it came to a queue */
	uint64_t needs, holds;		/* register sets; dying ones are in neither */
	unsigned int scratchpad;	/* scratchpad sets of its CTA that it needs */
	unsigned int most_scratchpad;	/* and that the CTA will need at most */
	unsigned int ahead;		/* the most register sets that it will need from here on */
	unsigned int promised;		/* register sets promised to it; 0: it has not begun */
};

struct coordinator {
	struct coord_limits limits;
	struct coord_threshold threshold;
	struct coord_ops ops;
	void *ctx;
	struct coord_table registers;	/* by warp */
	struct coord_table sets;	/* of scratchpad, by CTA; empty if it has no table */
	struct warp *warps;
	unsigned int *scratchpad;	/* by CTA: sets that it holds */
	unsigned int *pledged;		/* by CTA: sets that it holds or was promised */
	unsigned int *waiting;		/* by CTA: warps that are PENDING */
	unsigned int *begun;		/* by CTA: warps that were promised registers */
	uint64_t *stalled;		/* by CTA: order of stalling; 0: it is not */
	bool *slots;			/* taken */
	unsigned int free_slots, swapped_warps;
	unsigned int free_scratchpad;	/* scratchpad sets, if scratchpad has no table */
	unsigned int unmapped;		/* scratchpad sets promised to CTAs that do not hold them */
	unsigned int pending, runnable;
	unsigned int promised;		/* register sets promised to all warps */
	unsigned int dying;		/* register sets that become free soon (coord_entry.dying) */
	unsigned int allowed[COORD_RESOURCES]; /* in swap, when swap last grew */
	unsigned int may_promise;	/* register sets, when a warp was last promised some */
	uint64_t next, ages;
	uint64_t epochs;		/* that have ended so far */
	bool ended;			/* one has since coord_run() */
	unsigned int proof;		/* epochs on end with more c_idle than c_mem */
	unsigned int newest;		/* the CTA whose warps start now; its age is `ages` */
	struct coord_counters stats;
};

void coord_set_state(struct coordinator *c, struct warp *w, enum state state);
/* Promises the warp so many register sets, in place of what it was promised before. */
void coord_promise(struct coordinator *c, struct warp *w, unsigned int sets);
void coord_free_slot(struct coordinator *c, struct warp *w);
/*
 * Makes sure that the table has a free place: if it has none, spills its most rarely accessed set
 * that does not belong to `spare`. With `for_entry` only a set that is rarer than it is spilled.
 * False: there is no place.
 */
bool coord_make_place(struct coordinator *c, struct coord_table *t, unsigned int spare,
		      const struct coord_entry *for_entry);
/* How many units of the resource may be in swap. */
unsigned int coord_allowed(const struct coordinator *c, enum coord_resource r);

#endif
