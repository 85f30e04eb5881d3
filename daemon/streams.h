/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The works of a client's streams (GPUEMU_WORK_RUN): kept with its session until the client
 * waits for one of them, then run side by side. Kept works cost memory of this process
 * (GPU_RUN_ITEMS works) and nothing else: nothing runs, and any session may have the frames.
 */
#ifndef GPUEMU_STREAMS_H
#define GPUEMU_STREAMS_H

#include "gpu/gpu.h"

struct ended;

/* The works of one session. */
struct streams {
	struct gpu_session *gpu;
	struct ended *ended, **end;	/* not reported yet, the oldest first */
	bool lost;			/* one ended because the device is lost */
	const char *limit;		/* what is said where an account refused memory; or NULL */
};

/* One GPUEMU_WORK_RUN: the part that was not taken, then how far it runs them. All zero is none. */
struct streams_run {
	size_t at;			/* in the payload */
	unsigned int left;		/* items */
	uint32_t *streams;
	struct gpu_until until;
	uint64_t cycles, stop;		/* stop: the cycle, when all is taken; 0: there is none */
	bool hold;
};

void streams_init(struct streams *s, struct gpu_session *gpu);
/* Ends what is kept. */
void streams_fini(struct streams *s);
/* Has the session works that are not done? Then only GPUEMU_WORK_RUN goes on with them. */
bool streams_keep(const struct streams *s);

/*
 * Checks a payload, and takes nothing of it yet. -EINVAL: malformed; -ESTALE: it is for another
 * engine; -E2BIG: too many works; -ENOMEM. run is the caller's to free.
 */
int streams_begin(struct streams *s, const void *payload, size_t bytes, uint32_t generation,
		  struct streams_run *run, struct err *err);
/*
 * Takes works until run->left is 0, or over() says so. A launch is of a module that was loaded
 * (GPUEMU_WORK_LOAD). -ENOMEM.
 */
int streams_take(struct streams *s, const void *payload, struct streams_run *run, gpu_over *over,
		 void *ctx, struct err *err);
void streams_run_free(struct streams_run *run);
/* Runs what is kept. False: over() said so, there is more to do. */
bool streams_go_on(struct streams *s, const struct streams_run *run, gpu_over *over, void *ctx);
/* Reports the works that have ended. *report is allocated. -ENODEV: the device is lost; -ENOMEM. */
int streams_report(struct streams *s, char **report, size_t *bytes, struct err *err);

/* Can the range not be managed memory, wherever that is? */
bool streams_out_of_reach(uint64_t addr, uint64_t bytes);

#endif
