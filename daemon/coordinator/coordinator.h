/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Zorua's coordinator of one SM (Vijaykumar et al., MICRO 2016, sections 4.1 to 4.5). It decides
 * which warps have all that they need and may be scheduled, which of their resources are on chip
 * and which are in swap, and how much may be in swap. It knows neither time nor memory nor
 * instructions: the SM (sm/cta/zorua.c) tells it what happens and does what it answers.
 *
 * Units: thread slots are counted in warps, registers in sets of 4 for each thread of one warp,
 * scratchpad in sets of 1 KiB of one CTA. The register sets of a warp are bits of a word.
 */
#ifndef GPUEMU_COORDINATOR_COORDINATOR_H
#define GPUEMU_COORDINATOR_COORDINATOR_H

#include "base/base.h"

enum coord_resource { COORD_THREADS, COORD_SCRATCHPAD, COORD_REGISTERS, COORD_RESOURCES };

/* --- o_thresh (algorithm 1, table 1) ------------------------------------------------- */

struct coord_threshold {
	/* Percent of a resource's physical units: the threshold now, its step, its limit. */
	unsigned int percent, step, most;
	uint64_t delta;			/* c_delta_thresh, cycles */
	/*
	 * The algorithm subtracts the c_idle and c_mem of the epoch before. Without `changes` they
	 * count on, so the difference is what this epoch added. With `changes` they begin each
	 * epoch at 0, so the difference is how this epoch differs from the one before.
	 */
	bool changes;
	bool begun;			/* an epoch has ended before */
	uint64_t idle, mem;		/* c_idle and c_mem of that epoch */
};

/*
 * The SM reports that an epoch has ended, and how many of its cycles were c_idle and c_mem. With
 * `changes` the first epoch has no effect.
 */
void coord_threshold_epoch(struct coord_threshold *t, uint64_t idle, uint64_t mem);
/* How many of a resource's `physical` units the threshold is, rounded down. */
unsigned int coord_threshold_units(const struct coord_threshold *t, unsigned int physical);

/* --- mapping tables (section 4.5) ------------------------------------------------------- */

#define COORD_NO_PLACE	UINT16_MAX

enum coord_where { COORD_NOWHERE, COORD_PHYSICAL, COORD_SWAP };

struct coord_entry {
	uint8_t where;			/* enum coord_where */
	uint16_t place;			/* COORD_PHYSICAL: the place's number */
	uint16_t busy;			/* instructions under way that use the set: it stays in place */
	bool dying;			/* the set becomes free when they have finished */
	uint32_t accesses;		/* accesses since the set is where it is */
	uint64_t since;			/* the table's clock when it came there */
};

/* A mapping table. Its entries are sorted by owner (a warp or a CTA) and logical set. */
struct coord_table {
	unsigned int owners, sets, physical;
	unsigned int free, swapped;	/* free places, sets in swap: section 4.5's two registers */
	uint64_t clock;			/* accesses to all sets so far */
	struct coord_entry *entries;
	uint32_t *holder;		/* by place: its entry's number plus 1; 0: free */
};

/* Returns 0 or -ENOMEM. */
int coord_table_init(struct coord_table *t, unsigned int owners, unsigned int sets,
		     unsigned int physical);
void coord_table_fini(struct coord_table *t);
void coord_table_clear(struct coord_table *t);
static inline struct coord_entry *coord_entry(const struct coord_table *t, unsigned int owner,
					      unsigned int set)
{
	return &t->entries[(size_t)owner * t->sets + set];
}

/* Maps an entry that is nowhere: to a free place, which there must be, or to swap. */
void coord_table_map(struct coord_table *t, unsigned int owner, unsigned int set,
		     enum coord_where where);
void coord_table_unmap(struct coord_table *t, unsigned int owner, unsigned int set);
/* Moves a set from its place to swap; moves it from swap to a free place. */
void coord_table_spill(struct coord_table *t, unsigned int owner, unsigned int set);
void coord_table_fill(struct coord_table *t, unsigned int owner, unsigned int set);
/*
 * Whether instructions access entry a less frequently than entry b. An entry's frequency is
 * (accesses + 1) / (time + 1). The time counts the accesses to all entries since this one is where
 * it is. The ones are there so that a new entry is not the first to go.
 */
bool coord_table_rarer(const struct coord_table *t, const struct coord_entry *a,
		       const struct coord_entry *b);
/*
 * Finds the least frequently accessed entry that has a place, is not busy and does not belong to
 * `spare`. Among equals it takes the one with the lowest place. False: there is none.
 */
bool coord_table_victim(const struct coord_table *t, unsigned int spare, unsigned int *owner,
			unsigned int *set);
/* Whether each place has one holder at most, each entry its own place, and the counts are right. */
bool coord_table_sound(const struct coord_table *t);

/* --- the coordinator ------------------------------------------------------------------------ */

struct coord_limits {
	unsigned int warps, ctas;	/* logical warps and CTAs: their numbers are below these */
	unsigned int slots;		/* physical warp slots */
	unsigned int register_sets, scratchpad_sets; /* physical sets */
	/* Scratchpad has a mapping table and can go to swap. If not, its sets are only counted. */
	bool scratchpad_table;
	unsigned int floor;		/* so many warps are schedulable whatever the threshold says */
	bool lend;			/* a waiting warp may lose its slot to another */
	/*
	 * With `promise` a warp begins when there is room for the most registers that it will ever
	 * need, and waits for none later. Without it a warp begins when there is room for the
	 * registers of its first phase. It may later wait for more and keep those that it has.
	 */
	bool promise;
	/*
	 * Swap may grow, up to the threshold, only after so many epochs on end in which c_idle was
	 * more than c_mem by the threshold's delta.
	 */
	unsigned int proof;
};

/* The coordinator's requests to the SM. The SM gave `ctx` to coord_create(). */
struct coord_ops {
	/* The warp has all that it needs. The SM may schedule it in this physical slot. */
	void (*schedule)(void *ctx, unsigned int warp, unsigned int slot, bool restored);
	/* The warp waits and loses its slot. Its state is in swap until it is scheduled again. */
	void (*swap_out)(void *ctx, unsigned int warp);
	/* spill: a register set goes to swap. fill: it comes back. */
	void (*spill)(void *ctx, unsigned int warp, unsigned int set);
	void (*fill)(void *ctx, unsigned int warp, unsigned int set);
	/* The same for a set of a CTA's scratchpad. Only with limits.scratchpad_table. */
	void (*spill_scratchpad)(void *ctx, unsigned int cta, unsigned int set);
	void (*fill_scratchpad)(void *ctx, unsigned int cta, unsigned int set);
};

struct coord_counters {
	uint64_t grants;		/* warps that became schedulable */
	uint64_t forced;		/* grants beyond the threshold, because of the floor */
	uint64_t swapped_out;		/* warps that lost their slot to another */
	uint64_t spills, fills;		/* register sets that went to swap, that came back */
	uint64_t accesses, swapped;	/* register sets that instructions named; those in swap */
	uint64_t scratchpad_spills, scratchpad_fills;	/* scratchpad sets, likewise */
};

struct coordinator;

/* Returns 0 or -ENOMEM. `t` is the threshold at the beginning. */
int coord_create(const struct coord_limits *limits, const struct coord_threshold *t,
		 const struct coord_ops *ops, void *ctx, struct coordinator **out);
void coord_destroy(struct coordinator *c);
/* Forgets all warps and CTAs. Counters and the threshold stay. */
void coord_reset(struct coordinator *c);

/* Changes limits.floor. */
void coord_set_floor(struct coordinator *c, unsigned int warps);

/* What a warp needs in a phase. */
struct coord_needs {
	uint64_t sets;			/* register sets, a bit each */
	unsigned int ahead;		/* the most register sets of this phase and all later ones */
	unsigned int scratchpad;	/* scratchpad sets of its CTA, the first so many */
	unsigned int most_scratchpad;	/* the most that a warp of the CTA needs in any phase */
};

/* A warp of the CTA has arrived and needs this to begin. */
void coord_warp_start(struct coordinator *c, unsigned int warp, unsigned int cta,
		      const struct coord_needs *needs);
/*
 * The warp comes to a phase and waits for what the phase needs. A set that the warp held and does
 * not need becomes free when no instruction under way uses it.
 */
void coord_phase(struct coordinator *c, unsigned int warp, const struct coord_needs *needs);
/* coord_barrier(): the warp waits at a barrier. coord_passed(): the barrier is over. */
void coord_barrier(struct coordinator *c, unsigned int warp);
void coord_passed(struct coordinator *c, unsigned int warp);
/*
 * coord_stalled(): all warps of the CTA that have slots wait for long. With `lend` the coordinator
 * gives their slots to warps in the queues, whatever the threshold says. It takes them from the CTA
 * that stalled first. coord_resumed(): a warp of the CTA goes on, so the warps that still have
 * slots keep them. The stall also ends when a warp of the CTA gets through the queues.
 */
void coord_stalled(struct coordinator *c, unsigned int cta);
void coord_resumed(struct coordinator *c, unsigned int cta);
/* All results have come that a warp without a slot waited for. It needs a slot again. */
void coord_ready(struct coordinator *c, unsigned int warp);
void coord_warp_end(struct coordinator *c, unsigned int warp);
/* All warps of the CTA have ended, so its scratchpad becomes free. */
void coord_cta_end(struct coordinator *c, unsigned int cta);

/* So many accesses in swap, of a line each, cost as much as to spill one set and fill another. */
static inline unsigned int coord_exchange(bool scratchpad)
{
	return scratchpad ? 16 : 8;
}

/*
 * An instruction of the warp is about to name these sets. Returns which of them are in swap. The
 * function then fills those that find a place: a free one, or the place of a more rarely accessed
 * set, if this one was accessed often enough in swap.
 */
uint64_t coord_access(struct coordinator *c, unsigned int warp, uint64_t sets);
/* coord_use(): an instruction that uses these sets is under way. coord_done(): it has finished. */
void coord_use(struct coordinator *c, unsigned int warp, uint64_t sets);
void coord_done(struct coordinator *c, unsigned int warp, uint64_t sets);

/* The same for sets of the CTA's scratchpad, if scratchpad has a table. */
uint64_t coord_scratchpad_access(struct coordinator *c, unsigned int cta, uint64_t sets);
/* Whether the CTA has all of these sets, on chip or in swap. */
bool coord_scratchpad_held(const struct coordinator *c, unsigned int cta, uint64_t sets);
void coord_scratchpad_use(struct coordinator *c, unsigned int cta, uint64_t sets);
void coord_scratchpad_done(struct coordinator *c, unsigned int cta, uint64_t sets);

/* An epoch has ended: coord_threshold_epoch(). */
void coord_epoch(struct coordinator *c, uint64_t idle, uint64_t mem);
/* A kernel begins. The coordinator knows no epoch of it yet. */
void coord_begin(struct coordinator *c);
/* Lets warps go through the queues. The SM calls it after any of the above. */
void coord_run(struct coordinator *c);

unsigned int coord_pending(const struct coordinator *c);	/* warps in the queues */
/* Whether a CTA none of whose warps has begun waits in the queues. */
bool coord_backlog(const struct coordinator *c);
unsigned int coord_runnable(const struct coordinator *c);	/* schedulable, and at no barrier */
/* Physical units that no warp or CTA has; units in swap. */
unsigned int coord_free(const struct coordinator *c, enum coord_resource r);
unsigned int coord_swapped(const struct coordinator *c, enum coord_resource r);
/* Register or scratchpad sets promised to nobody. 0 also if more are promised than there are. */
unsigned int coord_unpromised(const struct coordinator *c, enum coord_resource r);
unsigned int coord_percent(const struct coordinator *c);
const struct coord_counters *coord_stats(const struct coordinator *c);
/*
 * Checks the invariants, for debug builds and tests: no unit has two holders and none is lost, swap
 * is within the threshold or was forced, and each schedulable warp has all that it needs.
 */
bool coord_sound(const struct coordinator *c);

#endif
