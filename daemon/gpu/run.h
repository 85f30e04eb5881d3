/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Works of streams, mostly launches, and the queue that they are in. Private to the room.
 */
#ifndef GPUEMU_GPU_RUN_H
#define GPUEMU_GPU_RUN_H

#include "gpu/dispatch.h"
#include "gpu/session.h"

struct machine;

/*
 * A work of a stream, mostly a launch, from submission to report. It is the queue's: works of
 * all streams are in one list in the order of submission, the oldest first. To a work that is no
 * launch only the first lines apply (tasks.c).
 */
enum run_state { RUN_QUEUED, RUN_RUNNING, RUN_DONE };
enum run_kind { RUN_LAUNCH, RUN_DELAY, RUN_MOVE, RUN_RECORD, RUN_AWAIT, RUN_COPY };

struct run {
	struct run *next;
	struct gpu_session *session;
	struct machine *m;
	uint32_t stream;
	uint8_t state;			/* enum run_state */
	uint8_t kind;			/* enum run_kind */
	uint64_t until;			/* a delay's end, a copy's; when a prefetch is all handed to the link */
	uint64_t mark;			/* of an event: recorded here, or awaited */
	gpu_recorded *recorded;
	struct {
		uint64_t addr, bytes;
		bool home;		/* else to device memory */
	} move;
	struct {
		uint64_t cycles;	/* on its engine */
		gpu_copied *copied;
		uint8_t way;		/* enum gpu_copy */
	} copy;

	/* A launch. */
	const struct module *module;
	const struct ptx_kernel *kernel;
	struct exec_launch launch;
	void *params;
	struct texture *textures;
	struct output output;
	/* Told when it has ended; NULL: nobody is. */
	gpu_done *done;
	void *ctx;

	/* While it runs in time. */
	struct sm_kernel *sm_kernel;
	struct dispatch_kernel todo;	/* its CTAs */
	struct gpu_counters before;	/* of the machine, when it began */
	struct gpu_counters slot_before; /* of its slot */
	struct gpu_counters sampled;	/* its own since then, at the last sample */

	int status;
	struct err err;
	uint64_t fault_addr;
	struct kernel_stats stats;	/* when it went well */
};

/* Checks and binds; the run keeps an error, to be told in its turn. NULL: no memory. */
struct run *run_create(struct gpu_session *s, uint32_t stream, const struct gpu_launch *l);
/* A work that is no launch. NULL: no memory. */
struct run *run_create_task(struct gpu_session *s, uint32_t stream, enum run_kind kind);
void run_destroy(struct run *r);
/* Keeps the statistics of a run that went well. -ENOMEM. */
int run_keep_stats(struct run *r);
/* Fills in the fields that are the same with and without time. */
void run_describe(struct run *r);
/* The launch's sentence for -ECANCELED and -ENODEV of the service's poll; returns status. */
int run_gone(struct run *r, int status);
/* The launch's sentence for gpu.watchdog. -ETIMEDOUT. */
int run_watchdog(struct run *r);
/* strings.c: exec_launch.print and .print_string; ctx is the run. */
void run_print(void *ctx, const char *text, size_t bytes);
void run_print_string(void *ctx, const struct exec_string *string);
/* functional.c: runs it to its end, without time. */
int run_functional(struct run *r);

/* queue.c: the list, and the next one to run. The run is the session's from here on. */
void queue_append(struct gpu_session *s, struct run *r);
/*
 * The oldest work that can begin beside those that run: its stream's turn, and the default
 * stream's works before and behind all others. NULL: none.
 */
struct run *queue_ready(struct gpu_session *s, bool launches);
/* Has the stream, or one of those that are waited for, nothing left to do? */
bool queue_empty(const struct gpu_session *s, uint32_t stream);
/* Is an event that was recorded before `behind` (NULL: anywhere) still to come? */
bool queue_mark_pending(const struct gpu_session *s, uint64_t mark, const struct run *behind);
bool queue_until(const struct gpu_session *s, const struct gpu_until *until);

/*
 * blame.c: names the access that waits for the page, for a kernel that ends by it; returns code,
 * -EACCES as -EFAULT.
 */
int blame_access(struct run *r, uint64_t page, int code);

#endif
