/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Zorua's coordinator of one SM (Vijaykumar et al., MICRO 2016, sections 4.1 to 4.5): which warps
 * have all that they need and may be scheduled, which of their resources are on chip and
 * which are in swap, and how much may be in swap. It knows neither time nor memory nor
 * instructions: the SM (sm/cta/zorua.c) tells it what happens and does what it answers.
 *
 * Units: thread slots are warps, registers are sets of 4 a thread of one warp, scratchpad is sets
 * of 1 KiB of one CTA. A warp's register sets are bits of a word.
 */
#ifndef GPUEMU_COORDINATOR_COORDINATOR_H
#define GPUEMU_COORDINATOR_COORDINATOR_H

#include "base/base.h"

enum coord_resource { COORD_THREADS, COORD_SCRATCHPAD, COORD_REGISTERS, COORD_RESOURCES };

/* --- o_thresh (algorithm 1, table 1) ------------------------------------------------- */

struct coord_threshold {
	/* Percent of a resource's physical units: now, what a step is, the most it may be. */
	unsigned int percent, step, most;
	uint64_t delta;			/* c_delta_thresh, cycles */
	/*
	 * The algorithm takes the difference of c_idle and of c_mem to the epoch before. They count
	 * on, so that this is what they were in the epoch; with `changes` they begin each at 0.
	 */
	bool changes;
	bool begun;			/* there is an epoch before */
	uint64_t idle, mem;		/* of that */
};

/*
 * An epoch has ended in which so many cycles were c_idle and c_mem. With `changes` the first one
 * has no effect.
 */
void coord_threshold_epoch(struct coord_threshold *t, uint64_t idle, uint64_t mem);
/* Units of a resource that has so many, rounded down. */
unsigned int coord_threshold_units(const struct coord_threshold *t, unsigned int physical);

/* --- mapping tables (section 4.5) ------------------------------------------------------- */

#define COORD_NO_PLACE	UINT16_MAX

enum coord_where { COORD_NOWHERE, COORD_PHYSICAL, COORD_SWAP };

struct coord_entry {
	uint8_t where;			/* enum coord_where */
	uint16_t place;			/* physical: which */
	uint16_t busy;			/* instructions under way that use it: it is not spilled */
	bool dying;			/* free when they have finished */
	uint32_t accesses;		/* since it is where it is */
	uint64_t since;			/* the table's clock then */
};

/* Entries by owner (warp, CTA) and logical set. */
struct coord_table {
	unsigned int owners, sets, physical;
	unsigned int free, swapped;	/* the two registers of section 4.5 */
	uint64_t clock;			/* accesses of all */
	struct coord_entry *entries;
	uint32_t *holder;		/* by place: entry + 1; 0: free */
};

/* -ENOMEM. */
int coord_table_init(struct coord_table *t, unsigned int owners, unsigned int sets,
		     unsigned int physical);
void coord_table_fini(struct coord_table *t);
void coord_table_clear(struct coord_table *t);
static inline struct coord_entry *coord_entry(const struct coord_table *t, unsigned int owner,
					      unsigned int set)
{
	return &t->entries[(size_t)owner * t->sets + set];
}

/* An entry that is nowhere gets a place, which is free; or is in swap. */
void coord_table_map(struct coord_table *t, unsigned int owner, unsigned int set,
		     enum coord_where where);
void coord_table_unmap(struct coord_table *t, unsigned int owner, unsigned int set);
/* From its place to swap, and back to a free place. */
void coord_table_spill(struct coord_table *t, unsigned int owner, unsigned int set);
void coord_table_fill(struct coord_table *t, unsigned int owner, unsigned int set);
/*
 * Is a accessed less frequently than b? (accesses + 1) / (time + 1), the time by the accesses of
 * all since the entry is where it is; one more, so that a new one is not the first to go.
 */
bool coord_table_rarer(const struct coord_table *t, const struct coord_entry *a,
		       const struct coord_entry *b);
/*
 * The least frequently accessed entry in a place, of those that are not busy and not `spare`'s; the
 * lowest place of equals. False: there is none.
 */
bool coord_table_victim(const struct coord_table *t, unsigned int spare, unsigned int *owner,
			unsigned int *set);
/* Every place has one holder or none, every entry its place, and the counts are right. */
bool coord_table_sound(const struct coord_table *t);

/* --- the coordinator ------------------------------------------------------------------------ */

struct coord_limits {
	unsigned int warps, ctas;	/* logical: numbers there are */
	unsigned int slots;		/* physical warp slots */
	unsigned int register_sets, scratchpad_sets; /* physical */
	/* Scratchpad has a mapping table, a CTA's sets are bits of a word; else it is counted only. */
	bool scratchpad_table;
	unsigned int floor;		/* warps that are schedulable whatever it takes */
	bool lend;			/* a warp that waits may lose its slot */
	/*
	 * A warp begins when there is room for the most registers that it will ever need, and waits
	 * for none later. Else it begins when there is room for its first phase's, and may then
	 * wait for more with those that it has.
	 */
	bool promise;
	/*
	 * Swap grows, up to the threshold, only behind so many epochs, in each of which c_idle was
	 * more than c_mem by the threshold's delta.
	 */
	unsigned int proof;
};

/* The coordinator's requests to the SM. ctx is the SM's. */
struct coord_ops {
	/* The warp has all it needs: it may be scheduled, in this physical slot. */
	void (*schedule)(void *ctx, unsigned int warp, unsigned int slot, bool restored);
	/* The warp, which waits, loses its slot; its state goes to swap until it is scheduled. */
	void (*swap_out)(void *ctx, unsigned int warp);
	/* A register set goes to swap, or comes back from there. */
	void (*spill)(void *ctx, unsigned int warp, unsigned int set);
	void (*fill)(void *ctx, unsigned int warp, unsigned int set);
	/* The same of a CTA's scratchpad. Only with its table. */
	void (*spill_scratchpad)(void *ctx, unsigned int cta, unsigned int set);
	void (*fill_scratchpad)(void *ctx, unsigned int cta, unsigned int set);
};

struct coord_counters {
	uint64_t grants;		/* warps that became schedulable */
	uint64_t forced;		/* of them, beyond the threshold, for the floor */
	uint64_t swapped_out;		/* warps whose slot was lent */
	uint64_t spills, fills;		/* register sets */
	uint64_t accesses, swapped;	/* register sets that instructions name; of them, in swap */
	uint64_t scratchpad_spills, scratchpad_fills;	/* sets */
};

struct coordinator;

/* -ENOMEM. t is the threshold to begin with. */
int coord_create(const struct coord_limits *limits, const struct coord_threshold *t,
		 const struct coord_ops *ops, void *ctx, struct coordinator **out);
void coord_destroy(struct coordinator *c);
/* All CTAs are gone; counters and the threshold stay. */
void coord_reset(struct coordinator *c);

/* limits.floor from now on. */
void coord_set_floor(struct coordinator *c, unsigned int warps);

/* A warp's needs in a phase. */
struct coord_needs {
	uint64_t sets;			/* of registers */
	unsigned int ahead;		/* sets of registers: the most of this phase and all later ones */
	unsigned int scratchpad;	/* sets of its CTA's */
};

/* A warp of the CTA is there and needs this to begin. */
void coord_warp_start(struct coordinator *c, unsigned int warp, unsigned int cta,
		      const struct coord_needs *needs);
/*
 * The warp comes to a phase and waits for what that needs. A set that it held and does not need is
 * free when nothing under way uses it.
 */
void coord_phase(struct coordinator *c, unsigned int warp, const struct coord_needs *needs);
/* The warp waits at a barrier; the barrier is over. */
void coord_barrier(struct coordinator *c, unsigned int warp);
void coord_passed(struct coordinator *c, unsigned int warp);
/*
 * coord_stalled(): all warps of the CTA that have slots wait for long. With `lend` the coordinator
 * gives their slots to warps in the queues, whatever the threshold says. It takes them from the CTA
 * that stalled first. coord_resumed(): a warp of the CTA goes on, so the warps that still have
 * slots keep them. A warp of it that gets through the queues ends the stall, too.
 */
void coord_stalled(struct coordinator *c, unsigned int cta);
void coord_resumed(struct coordinator *c, unsigned int cta);
/* All results that a warp waits for, which lost its slot so, have come: it needs a slot again. */
void coord_ready(struct coordinator *c, unsigned int warp);
void coord_warp_end(struct coordinator *c, unsigned int warp);
/* Its warps have ended: scratchpad is free. */
void coord_cta_end(struct coordinator *c, unsigned int cta);

/* Accesses in swap, a line each, that cost as much as a set's spill and another one's fill. */
static inline unsigned int coord_exchange(bool scratchpad)
{
	return scratchpad ? 16 : 8;
}

/*
 * An instruction of the warp is about to name these sets: which of them are in swap. Those for
 * which there is a place were filled then: a free one, or, when the set was accessed often enough
 * there, that of one that is rarer.
 */
uint64_t coord_access(struct coordinator *c, unsigned int warp, uint64_t sets);
/* An instruction of the warp is under way that uses these sets; it has finished. */
void coord_use(struct coordinator *c, unsigned int warp, uint64_t sets);
void coord_done(struct coordinator *c, unsigned int warp, uint64_t sets);

/* The same of sets of the CTA's scratchpad, with its table. */
uint64_t coord_scratchpad_access(struct coordinator *c, unsigned int cta, uint64_t sets);
/* Has the CTA all of these, on chip or in swap? */
bool coord_scratchpad_held(const struct coordinator *c, unsigned int cta, uint64_t sets);
void coord_scratchpad_use(struct coordinator *c, unsigned int cta, uint64_t sets);
void coord_scratchpad_done(struct coordinator *c, unsigned int cta, uint64_t sets);

void coord_epoch(struct coordinator *c, uint64_t idle, uint64_t mem);
/* A kernel begins: of it no epoch is known. */
void coord_begin(struct coordinator *c);
/* After any of the above: lets warps go through the queues. */
void coord_run(struct coordinator *c);

unsigned int coord_pending(const struct coordinator *c);	/* warps in the queues */
/* A CTA waits in the queues of which no warp has begun. */
bool coord_backlog(const struct coordinator *c);
unsigned int coord_runnable(const struct coordinator *c);	/* schedulable, and at no barrier */
/* Physical units that nobody has, and those in swap. */
unsigned int coord_free(const struct coordinator *c, enum coord_resource r);
unsigned int coord_swapped(const struct coordinator *c, enum coord_resource r);
/* Register sets that are not promised to warps which have begun; 0: more than there are, are. */
unsigned int coord_unpromised(const struct coordinator *c);
unsigned int coord_percent(const struct coordinator *c);
const struct coord_counters *coord_stats(const struct coordinator *c);
/*
 * Checks the invariants: no unit has two holders and none is lost, swap is within the threshold or
 * was forced, and no schedulable warp lacks anything. For debug builds and tests.
 */
bool coord_sound(const struct coordinator *c);

#endif
