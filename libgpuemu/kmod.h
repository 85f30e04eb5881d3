/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kmod backend's parts: the device and what is told to its engine (kmod.c), works of
 * streams (kmod_run.c).
 */
#ifndef LIBGPUEMU_KMOD_H
#define LIBGPUEMU_KMOD_H

#include "internal.h"

/* A GPUEMU_WORK_RUN that was submitted and not waited for. */
struct kmod_flight {
	struct kmod_flight *next;
	uint64_t id;			/* the module's */
	uint64_t number;		/* counts them, from 1 */
	uint64_t marks;			/* no event that it or one before it records has a higher mark */
	unsigned int items;
};

struct kmod {
	int fd;
	char *device;
	uint32_t generation;	/* of the engine that knows this context's options */
	const char *not_pageable;	/* why kernels may not have ordinary memory, or NULL */
	bool ranges_told;	/* that engine knows the managed ranges, as they are */

	struct gpu_run_items collected;	/* works that were not sent */
	size_t last;			/* where the last of them begins */
	struct kmod_flight *flights, **flights_end;	/* the oldest first */
	uint64_t sent;			/* number of the last flight */
	uint64_t marks;			/* the highest that was collected */
	unsigned int kept;		/* works that the engine has, when it was heard last */
	bool drop;			/* it may have some that were given up */
};

/* A work's report. text is NUL terminated and the caller's; NULL: there is none. */
struct kmod_report {
	char *text;
	size_t bytes;
};

/* --- kmod.c ------------------------------------------------------------------- */

/* The status of a work that was submitted, with err, and its report. -ETIMEDOUT: not done yet. */
int kmod_wait_work(const struct kmod *k, uint64_t id, uint32_t timeout_ms, uint32_t room,
		   struct kmod_report *report, struct err *err);
int kmod_submit_work(struct gpuemu_ctx *ctx, uint32_t kind, uint32_t stream, const void *payload,
		     size_t bytes, uint64_t *id, struct err *err);
/* Whichever engine is attached knows all that it has to. */
int kmod_tell_all(struct gpuemu_ctx *ctx, struct err *err);
int kmod_meet_engine(struct gpuemu_ctx *ctx, struct err *err);

/* --- kmod_run.c: backend_ops of works and waiting --------------------------------- */

void kmod_run_init(struct kmod *k);
void kmod_run_fini(struct kmod *k);
int kmod_submit(struct gpuemu_ctx *ctx, struct gpuemu_stream *stream, const struct work *work,
		struct err *err);
int kmod_copy(struct gpuemu_ctx *ctx, struct gpuemu_stream *stream, const struct copy *copy);
int kmod_halt_after(struct gpuemu_ctx *ctx, const struct gpuemu_stream *stream,
		    uint64_t instructions, struct err *err);
int kmod_halt_at(struct gpuemu_ctx *ctx, const struct gpuemu_stream *stream, uint64_t cycle,
		 struct err *err);
void kmod_wait(struct gpuemu_ctx *ctx, struct gpuemu_stream *const *streams, unsigned int n);
void kmod_wait_mark(struct gpuemu_ctx *ctx, uint64_t mark);
void kmod_pass(struct gpuemu_ctx *ctx, uint64_t cycles);
bool kmod_idle(struct gpuemu_ctx *ctx, const struct gpuemu_stream *stream);
/* Makes room for one more work at the module. False: nothing is in flight. */
bool kmod_reap_one(struct gpuemu_ctx *ctx);
/* The engine drops the works that were given up. */
int kmod_drop_kept(struct gpuemu_ctx *ctx, struct err *err);
/* The engine is gone, and with it what it had. */
void kmod_engine_gone(struct gpuemu_ctx *ctx);

#endif
