/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What an SM tells its mechanism: mechanism.c, tell.c. Private to the sm room.
 */
#ifndef GPUEMU_SM_MECHANISM_H
#define GPUEMU_SM_MECHANISM_H

#include "sm/limits.h"
#include "sm/warpset.h"

/* What the mechanism was told: mechanism.c. */
struct mechanism {
	const struct sm_mechanism *ops;
	void *state;
	unsigned int stall_on;		/* enum sm_wait */
	bool every;			/* ops->every */
	unsigned int shared_set;	/* ops->shared_set(); 0: shared memory is not mapped */
	bool attend;			/* it is told what happens */
	bool look;			/* something changed that it is told about: mechanism_due() */
	bool news;			/* a set of this cycle has somebody: */
	warpset exited, retired;	/* warps, in this cycle */
	warpset ended;			/* CTAs, in this cycle */
	warpset away;			/* warps that are stalled */
	warpset stalled;		/* CTAs */
	/* `stalled` was found from these: while all of them stay, no CTA stalls or resumes. */
	struct {
		warpset real, live, active, inactive;
		/* These sets of heads change with instructions: while they stay, so does `away`. */
		warpset blocked_long, wait_fence, wait_order, faulted;
	} seen;
	warpset waits, passed;		/* warps at barriers, in this cycle; by_warp; `news`, too */
	uint64_t memory_pipeline;	/* sm_memory_pipeline() */
	uint64_t held_beside;		/* sm_held_beside() */
	uint64_t timer;
};

/* Calls an op of the mechanism that it may not have. */
#define TELL(sm, event, ...) do {						\
		const struct mechanism *t_ = &(sm)->mech;			\
										\
		if (t_->ops->event)						\
			t_->ops->event(t_->state, sm, __VA_ARGS__);		\
	} while (0)

/* The mechanism is told of this warp or CTA at the end of the cycle: `set` is one of its own. */
#define mechanism_note(sm, set, i) do {						\
		set_add(set, i);						\
		(sm)->mech.news = true;						\
		(sm)->mech.look = true;						\
	} while (0)

/* Called where something that stalls warps may have changed and mechanism_due() cannot see it. */
#define mechanism_stalls(sm)	((sm)->mech.look |= (sm)->mech.stall_on != 0)

/* Sanitized builds find anew in each cycle what the mechanism has to be told, which takes longer. */
#ifdef __SANITIZE_ADDRESS__
#define MECHANISM_CHECKED	true
#else
#define MECHANISM_CHECKED	false
#endif

int mechanism_init(struct sm *sm);
void mechanism_fini(struct sm *sm);
void mechanism_cancel(struct sm *sm);
bool mechanism_idle(const struct sm *sm);
/* tell.c */
void mechanism_admitted(struct sm *sm, unsigned int cta, uint64_t now);
void mechanism_started(struct sm *sm, unsigned int cta, uint64_t now);
void mechanism_parked(struct sm *sm, unsigned int cta, uint64_t now);
void mechanism_ready(struct sm *sm, unsigned int cta, uint64_t now);
/* by_warp: a warp without a slot waits for no result and no page. */
void mechanism_warp_ready(struct sm *sm, unsigned int w, uint64_t now);
/* An instruction is done with; only asked where mech.ops->every. */
void mechanism_finished(struct sm *sm, unsigned int w, uint32_t pc);
/* May the warp pass the phase point that its head is? */
bool mechanism_acquire(struct sm *sm, unsigned int w, uint32_t pc);
/* mechanism.c */
/* Called at the end of a cycle that ran, if mechanism_due() (state.h). */
void mechanism_cycle(struct sm *sm, uint64_t now);

#endif
