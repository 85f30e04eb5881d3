/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The loop of the whole GPU: what runs now, and what the loop calls between quanta. Private to
 * the room.
 */
#ifndef GPUEMU_GPU_LOOP_H
#define GPUEMU_GPU_LOOP_H

#include "gpu/machine.h"
#include "gpu/run.h"

struct loop {
	struct gpu_session *s;
	struct machine *m;
	uint64_t now;			/* everything before this cycle is done */
	struct run *running[SM_KERNELS];	/* by age, the oldest first */
	unsigned int nrunning;
	unsigned int ntasks;		/* works that run and are no launches */
	uint64_t stop;			/* the loop comes back at this cycle at the latest */
	bool look;			/* some work may begin, or somebody's wait be over */
	bool ending;			/* all CTAs have retired; the memory is not idle yet */
	uint64_t calm;			/* quanta without an instruction issued */
	uint64_t issued;		/* warp instructions, when calm was counted from */
	unsigned int untold;		/* quanta since progress was told */
};

/*
 * quantum.c: runs what is queued in time, up to what is waited for (NULL: to its end). Work
 * that is not done then is set aside. False: it was set aside before, for over() said so.
 */
bool loop_run(struct gpu_session *s, const struct gpu_until *until, gpu_over *over, void *ctx);

/* Ends everything that is queued or runs, with -ECANCELED. */
void loop_cancel(struct gpu_session *s);

/* tasks.c: works that are no launches. */
/* It begins, and may end at once. */
void task_begin(struct loop *l, struct run *r);
/* Ends those that are over at l->now. */
void tasks_end(struct loop *l);
/* First cycle at which one may be over; NEVER. */
uint64_t tasks_next(const struct loop *l);
/* move.c: a prefetch at once, to device memory and home; the session's clock goes on. */
int move_here(struct gpu_session *s, uint64_t addr, uint64_t bytes, struct err *err);
int move_home(struct gpu_session *s, uint64_t addr, uint64_t bytes, struct err *err);
/* The same as a task. */
void move_begin(struct loop *l, struct run *r);
bool move_over(struct loop *l, struct run *r);

/* running.c: launches come into the loop and leave it. */
/* Starts what is ready, up to gpu.concurrent_kernels. False: nothing has ended since the last time. */
bool loop_admit(struct loop *l);
/* Takes out the kernels that ended before `upto`; true: some did. */
bool loop_retire(struct loop *l, uint64_t upto);
/* Tells how many CTAs of the kernels that run are done. */
void loop_progress(struct loop *l);
/* Rows of the kernels that run, as far as others ran beside them; now: the machine's counters. */
void loop_sample(struct loop *l, uint64_t at, const struct gpu_counters *now);
/* The kernel ends with an error, and with it all that run. */
void loop_fail(struct loop *l, struct run *culprit, int status, uint64_t upto);
/* Nothing runs any more; time goes on at `upto`, or where the handler is done. */
void loop_clear(struct loop *l, uint64_t upto);

/* halt.c: kernels of streams that have reached their target are halted. True: one was. */
bool halt_watch(struct loop *l, uint64_t upto);
/* The next cycle at which the stream of a kernel that runs is halted; NEVER. */
uint64_t halt_next(const struct loop *l);
/* The launch, which is not told yet, does not begin: its stream was halted. */
bool halt_refuses(const struct loop *l, struct run *r);
/* A kernel ended: its instructions are its stream's. */
void halt_count(struct loop *l, struct run *r);

#endif
