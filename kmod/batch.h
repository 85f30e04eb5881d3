/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The batch of far faults on its way between the engine's threads. A thread waits for its part
 * by io_uring (uring.c) or in an ioctl (wait.c).
 */
#ifndef _GPUEMU_BATCH_H
#define _GPUEMU_BATCH_H

#include "engine.h"

/*
 * cmd: the io_uring command that completes then; NULL: the current task waits in an ioctl. From
 * 0 on either is pending.
 */
int gpuemu_batch_raise_begin(struct gpuemu_engine *e);
int gpuemu_batch_raise(struct gpuemu_engine *e, u64 raised, bool empty_ok,
		       bool may_wait);
int gpuemu_batch_raise_end(struct gpuemu_engine *e, int ret, struct io_uring_cmd *cmd);
int gpuemu_batch_fetch(struct gpuemu_engine *e, struct io_uring_cmd *cmd);
int gpuemu_batch_commit(struct gpuemu_engine *e, u64 addr, bool and_fetch);

/* The thread goes on. Their results are the command's. */
s32 gpuemu_batch_fetched(struct gpuemu_engine *e);
s32 gpuemu_batch_replayed(struct gpuemu_engine *e);

int gpuemu_batch_can_park_locked(const struct gpuemu_engine *e);
struct io_uring_cmd *gpuemu_batch_take_locked(struct gpuemu_engine *e,
					      enum gpuemu_pending where);

#endif
