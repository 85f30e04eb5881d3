/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One SM: the state of its parts, each declared in the part's own header, which says whose it is,
 * and what its files call of each other. Private to the sm room; what the load/store unit shows the
 * others is in ldst.h. Warps are numbers, and members of sets (warpset.h).
 *
 * A cycle runs back to front, so that what a stage frees is there for the stage
 * before (GPGPU-Sim, shader_core_ctx::cycle): writeback, execute, operand
 * collectors, issue, decode, fetch.
 */
#ifndef GPUEMU_SM_STATE_H
#define GPUEMU_SM_STATE_H

#include "sm/account.h"
#include "sm/build.h"
#include "sm/collector.h"
#include "sm/cta.h"
#include "sm/fetch.h"
#include "sm/issue.h"
#include "sm/ldst.h"
#include "sm/mechanism.h"
#include "sm/owner.h"
#include "sm/print.h"
#include "sm/residency.h"
#include "sm/share.h"
#include "sm/units.h"

struct activity;
struct background;

struct sm {
	struct sm_base base;		/* first */
	unsigned int id;
	struct sm_env env;
	const struct gpu_spec *spec;
	bool ideal;			/* paging off: translation takes no time */
	uint64_t now;			/* the cycle that runs */
	uint64_t upto;			/* of the quantum that runs */
	uint64_t reply_at;		/* when memory's next reply is there */
	uint64_t own_wake;		/* while it runs, env.wake is this */
	uint64_t last;			/* cycle in which something was done last */
	struct sm_failure failure;

	struct warps warps;
	struct accesses accesses;
	struct sm_heads heads;
	struct fetch fetch;
	struct issue issue;
	struct account account;
	struct sm_queues id_oc;		/* from issue to the collectors */
	struct sm_queues oc_ex;		/* from there to the units */
	struct collectors oc;
	struct units units;
	struct ldst *ldst;
	struct insts insts;
	struct ctas ctas;
	struct residency res;
	struct mechanism mech;
	struct owner mascar;
	struct background *background;	/* NULL: nothing was ever moved */
	uint32_t jobs;			/* that it has */
	struct share share;
	struct print print;
	struct activity *activity;	/* NULL: sm.activity=0 */
};

static inline struct sm_inst *sm_inst(const struct sm *sm, uint32_t i)
{
	return &sm->insts.at[i];
}

/* Slot of the warp's kernel. */
static inline uint8_t warp_slot(const struct sm *sm, unsigned int w)
{
	return (uint8_t)sm->warps.at[w].kernel->slot;
}

/*
 * Is there something for mechanism_cycle()? mech.look says it of CTAs, slots, barriers, atomics,
 * pages and timers. What any instruction may change is compared with what was seen.
 */
static inline bool mechanism_due(const struct sm *sm)
{
	const struct mechanism *m = &sm->mech;
	const struct sm_heads *h = &sm->heads;
	warpset changed;

	if (m->look)
		return true;
	if (__builtin_expect(!m->stall_on, 1))
		return false;
	changed = (h->blocked_long ^ m->seen.blocked_long) | (h->wait_fence ^ m->seen.wait_fence);
	/* Without paging no access faults. */
	if (!sm->ideal)
		changed |= (h->wait_order ^ m->seen.wait_order) |
			   ((h->far_fault & h->blocked) ^ m->seen.faulted);
	return set_any(changed);
}

/* sm_create() of a build. -ENOMEM; -EINVAL: there is no such scheduler. */
int sm_make(unsigned int id, const struct sm_env *env, const struct sm_numbers *numbers,
	    struct sm **out);

/* fail.c */
/*
 * Keeps the first error, with sm->now. fault_addr: of -EFAULT, else 0. kernel: the warp's.
 * The text is in *sm->env.err.
 */
void sm_fail(struct sm *sm, int error, uint64_t fault_addr, const struct sm_kernel *kernel);

#endif
