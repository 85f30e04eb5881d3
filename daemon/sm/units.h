/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Execution pipelines and writeback: units.c. Private to the sm room.
 */
#ifndef GPUEMU_SM_UNITS_H
#define GPUEMU_SM_UNITS_H

#include "sm/queue.h"

/* Results that are written back in one cycle: at most as many as result buses. */
struct result_slot {
	uint32_t units;			/* that deliver then */
	uint32_t count;
};

struct units {
	uint64_t free_at[UNITS][MAX_WIDTH];	/* cycle in which the dispatch register is empty */
	uint8_t n[UNITS];		/* of a kind */
	uint8_t first_bit[UNITS];	/* of its first in result_slot.units */
	struct result_slot *results;	/* ring by cycle of writeback */
	uint32_t *insts;		/* of each slot, buses */
	uint32_t mask, left;		/* of the ring; results in it */
	uint8_t buses;
	uint8_t bypass;			/* cycles by which a result ends sooner */
};

int units_init(struct sm *sm);
void units_fini(struct sm *sm);
void units_cancel(struct sm *sm);
void units_writeback(struct sm *sm, uint64_t now);
void units_execute(struct sm *sm, uint64_t now);
uint64_t units_next(const struct sm *sm, uint64_t now);

/* Is there a result for units_writeback()? */
static inline bool units_have_results(const struct units *units, uint64_t now)
{
	return units->results[now & units->mask].count;
}

/* Is there an instruction for units_execute()? The load/store unit has no pipeline there. */
static inline bool units_wanted(const struct sm_queues *oc_ex)
{
	return oc_ex->some & ((1u << UNIT_LDST) - 1);
}

#endif
