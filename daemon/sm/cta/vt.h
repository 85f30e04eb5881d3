/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Virtual Thread's status table (vt.c), and thread oversubscription on top of it
 * (outside.c). Private to the two, but for what says when a CTA stalls (zorua.c).
 */
#ifndef GPUEMU_SM_CTA_VT_H
#define GPUEMU_SM_CTA_VT_H

#include "sm/sm.h"

#define MAX_CTAS	256u
#define RECENT		1024u

enum vt_state {
	VT_NONE,
	VT_ACTIVE,
	VT_LEAVING,		/* is being parked */
	VT_AWAY,		/* parked, and waits for results */
	VT_READY,
	VT_COMING,		/* its context is being read */
	VT_OVER,		/* parked, all warps have exited: it ends so */
	/* Thread oversubscription: registers and shared memory go to memory, are there, come back. */
	VT_WRITING,
	VT_OUTSIDE,
	VT_OUTSIDE_READY,
	VT_READING,
};

/* Pages that left device memory, by number: the last of each place of the table. */
struct dropped_page {
	uint64_t page, cycle;
};

/* Thread oversubscription. */
struct outside {
	unsigned int degree;		/* CTAs that may be outside, for now */
	unsigned int ctas, ready;	/* that are, and of them those that could go on */
	uint32_t warps;			/* of those outside */
	bool moving;			/* a CTA goes to memory or comes from there */
	/* The window that runs, and the one before: pages that came back soon, instructions. */
	uint64_t window, early, early_before, issued, done_before;
	struct dropped_page *recent;	/* [RECENT]; NULL: no oversubscription */
};

struct vt;

/* One CTA of the status table; also what a background job is told to. */
struct vt_cta {
	struct vt *vt;
	uint8_t number, state;		/* enum vt_state */
	bool stalled;			/* active: all its warps are */
	bool exited;			/* all its warps have */
	bool context;			/* it has one in shared memory: it ran before */
	bool came;			/* while it was being written: it is ready */
	bool ran;			/* it has registers to be read */
	uint64_t order;			/* of stalling, or of becoming ready */
	uint32_t warps, shared;		/* that it takes */
};

struct vt {
	const struct gpu_spec *spec;
	struct vt_cta ctas[MAX_CTAS];
	unsigned int top;		/* behind the highest number that a CTA had */
	uint64_t next;			/* order of the next */
	unsigned int leaving, ready;	/* CTAs */
	bool coming;			/* a context is being read */
	bool saving;			/* the buffer holds a context, or will */
	uint32_t resident, warps, shared; /* of all CTAs that are not outside */
	uint64_t contexts;		/* bytes of them, if all were parked */
	struct outside out;
};

/* vt.c */
/* vt.swap_on, vt.long and vt.barrier: are they any, and which waits (enum sm_wait) do they name? */
int vt_check(const struct gpu_spec *spec, struct err *err);
unsigned int vt_stall_on(const struct gpu_spec *spec);
/* The first in order with the state; NULL: there is none. */
struct vt_cta *vt_first(struct vt *v, enum vt_state state);
void vt_set_state(struct vt_cta *c, enum vt_state state);
/* A CTA holds registers and shared memory, or no longer. */
void vt_count(struct vt_cta *c, bool inside);
/* A CTA that is inside could go on. */
void vt_come(struct vt_cta *c, struct sm *sm, uint64_t now);

/* outside.c, where vt.oversubscribe is not 0 */
/* May a CTA more be outside? */
bool outside_room(const struct vt *v, const struct sm *sm, const struct sm_kernel *kernel);
/* Something has changed: one goes, or one comes, if it should. */
void outside_look(struct vt *v, struct sm *sm, uint64_t now);
/* The active CTA that should leave its slots for one that is outside; NULL: none. */
struct vt_cta *outside_wants(struct vt *v, struct sm *sm);
void outside_dropped(struct vt *v, uint64_t start, uint64_t end, uint64_t now);
void outside_faulted(struct vt *v, uint64_t page, uint64_t now);

#endif
