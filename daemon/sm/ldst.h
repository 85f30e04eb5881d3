/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the load/store unit shows the rest of the sm room. sm.c, issue.c and units.c
 * call it; what is inside is in ldst_internal.h. Instructions are indices into
 * sm->insts.at. An instruction is the unit's from ldst_dispatch() until it calls
 * inst_done().
 */
#ifndef GPUEMU_SM_LDST_H
#define GPUEMU_SM_LDST_H

#include "sm/inst.h"
#include "sm/warpset.h"

/* Sets of warps that the unit keeps for the others. */
struct accesses {
	warpset missing;		/* L1D did not have a line of a load of theirs */
	warpset untranslated;		/* an access stepped aside: nothing ordered issues */
	warpset in_order;		/* of them, where no access may pass: it orders, or they are many */
};

int ldst_create(struct sm *sm);		/* sm->ldst; -ENOMEM */
void ldst_destroy(struct sm *sm);
void ldst_cancel(struct sm *sm);
void ldst_flush(struct sm *sm);		/* L1D and L1C are empty */
/* What L1C holds of the device addresses. */
void ldst_drop_constants(struct sm *sm, uint64_t start, uint64_t end);
/* The gmmu tells the SM, which is the context. */
extern const struct gmmu_sm_ops access_gmmu_ops;
/* Nothing is in it (conservation). */
bool ldst_idle(const struct sm *sm);

/* Where exec_step() of the next memory instruction writes. NULL: no memory. */
struct exec_access *ldst_access(struct sm *sm);
/* The same for a fetch from a texture. */
struct exec_access *ldst_fetch(struct sm *sm);
/*
 * Right after exec_step() of a memory instruction into ldst_access(): its lines or its bank
 * conflicts. EXEC_ACCESS: global lanes; EXEC_NEXT: performed already, or no lane.
 */
void ldst_issue(struct sm *sm, uint32_t inst, enum exec_outcome outcome);

/*
 * Two memory instructions of one warp, the first issued first: do they touch the same byte of
 * global memory, and one of them writes it? Then the second must not overtake the first.
 */
bool ldst_conflict(const struct sm *sm, const struct sm_inst *first, const struct sm_inst *second);

/* The dispatch register is empty. */
bool ldst_free(const struct sm *sm);
/* An instruction leaves the operand collector; the unit sees it in the next cycle. */
void ldst_dispatch(struct sm *sm, uint32_t inst, uint64_t now);
/* The unit's cycle, before ldst_dispatch(). May be called in every cycle. */
void ldst_cycle(struct sm *sm, uint64_t now);
/* Next cycle > now in which ldst_cycle() does something by itself; NEVER. */
uint64_t ldst_next(const struct sm *sm, uint64_t now);
/* L1D holds an access that it refused, or cannot take a miss more. */
bool ldst_saturated(const struct sm *sm);
/* Counts what failed and stalled in the cycles before `upto`. */
void ldst_settle(struct sm *sm, uint64_t upto);

/* The response queue takes a packet of the port (not one of MEM_INST). */
bool ldst_accepts(const struct sm *sm);
void ldst_reply(struct sm *sm, const struct mem_reply *reply, uint64_t now);

/* sm_perform()'s part in memory. */
int ldst_perform(struct sm *sm, uint64_t cycle);
uint64_t ldst_perform_next(const struct sm *sm);

/*
 * The stores that wait for their pages, oldest first, as far as they are in [addr, addr + bytes):
 * *n of them, from malloc; NULL with *n not 0: no memory.
 */
struct exec_stored *ldst_stored(const struct sm *sm, uint64_t addr, uint64_t bytes, uint32_t *n);

/* What an access of the warp waits for, a few words; NULL: it has none. */
const char *ldst_why(const struct sm *sm, unsigned int w);

#endif
