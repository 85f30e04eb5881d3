/* SPDX-License-Identifier: GPL-2.0 */
/*
 * CTA dispatch: which kernel's CTA goes to which SM. A policy is a row of
 * gpu/dispatch.def and chooses; dispatch.c does what all have in common: it knows the
 * kernels that run, hands out each CTA once, and at most one an SM and cycle. The loop
 * calls dispatch.c; dispatch.c calls the policy. All of it is between quanta, on one thread.
 */
#ifndef GPUEMU_GPU_DISPATCH_H
#define GPUEMU_GPU_DISPATCH_H

#include "base/spec.h"
#include "sm/sm.h"

struct dispatch_ops;
struct json_object;

/* A kernel that runs, as far as its CTAs go. The launch owns it. */
struct dispatch_kernel {
	struct sm_kernel *kernel;
	unsigned int slot;		/* 0 to SM_KERNELS - 1, its own while it runs */
	uint32_t stream;		/* whose program it is of; 0: the default stream */
	uint32_t grid[3];
	uint64_t ctas, next;		/* how many there are; the next to hand out */
	const char *name;		/* its module's */
	uint64_t first;			/* none goes before the end of this cycle */
};

struct dispatch {
	const struct gpu_spec *spec;
	struct sm **sms;
	unsigned int nsms;
	struct dispatch_kernel *kernels[SM_KERNELS];	/* by age, the oldest first */
	unsigned int nkernels;

	/* dispatch.c's own. */
	const struct dispatch_ops *ops;
	void *state;
	unsigned int next_sm;		/* that gets a CTA first, round robin */
	bool room;			/* some SM may have room for a CTA that waits */
	uint64_t looked;		/* the cycle at whose end CTAs were handed out last */
	uint64_t *told;			/* retired CTAs, by SM and slot, that the policy was told of */
};

/* --- the policies ------------------------------------------------------------- */

/*
 * A policy may read everything in struct dispatch, and of its SMs what sm.h shows: who is
 * resident, what each kernel did there (sm_share()), where cycles went (sm_stats(), after
 * sm_account()). An op that is NULL is not called. A cycle `now` is the next that runs, a
 * `cycle` the one at whose end a CTA is handed out.
 */
struct dispatch_ops {
	const char *name, *help;
	/* NULL: it keeps no state. -ENOMEM. */
	int (*create)(const struct dispatch *d, void **state);
	void (*destroy)(void *state);
	/* The kernel is the last in d->kernels. */
	void (*arrived)(void *state, struct dispatch *d, struct dispatch_kernel *k, uint64_t now);
	/* The kernel ended, or was ended; it is in d->kernels no more. */
	void (*left)(void *state, struct dispatch *d, struct dispatch_kernel *k, uint64_t now);
	/*
	 * The kernel whose CTA the SM gets next, NULL: none. It must be one for which
	 * dispatch_can() holds. Asked again as often as one likes.
	 */
	struct dispatch_kernel *(*pick)(const void *state, const struct dispatch *d,
					unsigned int sm, uint64_t cycle);
	/* The CTA that pick() chose was handed out. */
	void (*launched)(void *state, struct dispatch *d, unsigned int sm,
			 struct dispatch_kernel *k, uint64_t cycle);
	/* `ctas` CTAs of the kernel have retired on the SM since the last call. */
	void (*retired)(void *state, struct dispatch *d, unsigned int sm,
			struct dispatch_kernel *k, uint64_t ctas, uint64_t now);
	/* The cycle at which tick() is due, later than the last one; NEVER. It ends a quantum. */
	uint64_t (*timer)(const void *state, const struct dispatch *d);
	/* From now on pick() may answer differently for every SM. */
	void (*tick)(void *state, struct dispatch *d, uint64_t now);
	/* Its decisions so far, for the statistics ("dispatch"). NULL: none. */
	struct json_object *(*report)(const void *state);
};

/* Rows of gpu/dispatch.def, NULL terminated. */
extern const struct dispatch_ops *const dispatch_rows[];
/* NULL: there is none of the name. */
const struct dispatch_ops *dispatch_find(const char *name);

/*
 * Has the kernel a CTA that may go to the SM at the end of the cycle, and has the SM room for it?
 * A policy asks only for the kernel that it would give the SM: if the answer is no, the kernel is
 * counted as refused.
 */
bool dispatch_can(const struct dispatch *d, unsigned int sm, const struct dispatch_kernel *k,
		  uint64_t cycle);
/* The SM has no CTA of another kernel, or gpu.mixed_sms lets kernels share SMs. */
bool dispatch_may_share(const struct dispatch *d, unsigned int sm,
			const struct dispatch_kernel *k);

/*
 * The warps and CTAs of an SM that its kernels may share out: numbers, where slots are lent
 * (sm_numbers()). Where warps get slots one by one, a CTA comes beside another kernel's only if
 * its warps have slots: with shares of more warps than that, who came first would have them all.
 */
void dispatch_to_share(const struct dispatch *d, unsigned int *warps, unsigned int *ctas);

/*
 * The place of the i-th kernel among those that run, by stream, the older first of one: a
 * program keeps its place from launch to launch, whichever kernel is older then.
 */
unsigned int dispatch_place(const struct dispatch *d, unsigned int i);

/*
 * spatial.c: the i-th kernel's SMs are *first and those behind it, as many as it returns. Where
 * there are more kernels than SMs, some share one.
 */
unsigned int dispatch_spatial_part(const struct dispatch *d, unsigned int i, unsigned int *first);
/* The choice of spatial, for policies that fall back on it. */
struct dispatch_kernel *dispatch_pick_spatial(const struct dispatch *d, unsigned int sm,
					      uint64_t cycle);

/* --- the loop ------------------------------------------------------------------ */

/* The policy's decisions for the report. NULL: it has none, or no memory. */
struct json_object *dispatch_report(const struct dispatch *d);
/* spec, ops and sms are the caller's. -EINVAL: ops is NULL; -ENOMEM. */
int dispatch_create(const struct gpu_spec *spec, const struct dispatch_ops *ops,
		    struct sm **sms, unsigned int nsms, struct dispatch **dispatch);
void dispatch_destroy(struct dispatch *d);
void dispatch_arrived(struct dispatch *d, struct dispatch_kernel *k, uint64_t now);
void dispatch_left(struct dispatch *d, struct dispatch_kernel *k, uint64_t now);
/* Some SM has more room than when a CTA found none. */
void dispatch_room(struct dispatch *d);
/* Some of the SM's CTAs have retired. */
void dispatch_retired(struct dispatch *d, unsigned int sm, uint64_t now);
/* The policy's timer, then CTAs, at the end of the cycle before `now`. -ENOMEM. */
int dispatch_step(struct dispatch *d, uint64_t now);
/* First cycle after `from` before which there may be something to do; NEVER. */
uint64_t dispatch_next(const struct dispatch *d, uint64_t from);

#endif
