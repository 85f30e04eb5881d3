/* SPDX-License-Identifier: GPL-2.0 */
/* The inside of the coordinator: what its files share. */
#ifndef GPUEMU_COORDINATOR_PRIVATE_H
#define GPUEMU_COORDINATOR_PRIVATE_H

#include "coordinator/coordinator.h"

#define SETS	64u

/* RESULTS: without a slot, until results have come that it waits for. */
enum state { ABSENT, PENDING, RUNNING, BARRIER, RESULTS };

struct warp {
	uint8_t state;			/* enum state */
	uint8_t cta;
	bool slotted;			/* holds a physical slot */
	bool away;			/* its state is in swap */
	uint16_t slot;
	uint64_t order;			/* of waiting, in a queue or at a barrier */
	uint64_t age;			/* of its CTA: the older, the less */
	uint64_t needs, holds;		/* register sets; dying ones are in neither */
	unsigned int scratchpad;	/* sets of its CTA's that it needs */
	unsigned int ahead;		/* register sets that it will need at most, from here on */
	unsigned int promised;		/* of them; 0: it has not begun */
};

struct coordinator {
	struct coord_limits limits;
	struct coord_threshold threshold;
	struct coord_ops ops;
	void *ctx;
	struct coord_table registers;	/* by warp */
	struct coord_table sets;	/* of scratchpad, by CTA; without its table empty */
	struct warp *warps;
	unsigned int *scratchpad;	/* by CTA: sets that it holds */
	unsigned int *waiting;		/* by CTA: warps that are PENDING */
	unsigned int *begun;		/* by CTA: warps that were promised registers */
	uint64_t *stalled;		/* by CTA: order of stalling; 0: it is not */
	bool *slots;			/* taken */
	unsigned int free_slots, swapped_warps;
	unsigned int free_scratchpad;	/* where it has no table */
	unsigned int pending, runnable;
	unsigned int promised;		/* register sets, to all */
	unsigned int dying;		/* register sets in places, free when what uses them has finished */
	unsigned int allowed[COORD_RESOURCES]; /* what was in swap when it last grew */
	uint64_t next, ages;
	unsigned int proof;		/* epochs behind one another with more c_idle than c_mem */
	unsigned int newest;		/* CTA whose warps come now: it has the age `ages` */
	struct coord_counters stats;
};

void coord_set_state(struct coordinator *c, struct warp *w, enum state state);
/* From now on the warp is promised so many register sets. */
void coord_promise(struct coordinator *c, struct warp *w, unsigned int sets);
void coord_free_slot(struct coordinator *c, struct warp *w);
/*
 * A place of the table: a free one, or the rarest set's, which is spilled. Not `spare`'s, and with
 * `for_entry` only one that is rarer. False: there is none.
 */
bool coord_make_place(struct coordinator *c, struct coord_table *t, unsigned int spare,
		      const struct coord_entry *for_entry);
/* Units of the resource that may be in swap. */
unsigned int coord_allowed(const struct coordinator *c, enum coord_resource r);

#endif
