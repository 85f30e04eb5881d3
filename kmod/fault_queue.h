/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The consumer's side of the fault buffer: records to batches, and what becomes of
 * the records that are in no batch when the engine is let go on.
 */
#ifndef _GPUEMU_FAULT_QUEUE_H
#define _GPUEMU_FAULT_QUEUE_H

#include <linux/types.h>

struct gpuemu_engine;

/* When RAISE completes. The numbers are the parameter's (replay_policy), and UVM's. */
enum gpuemu_replay_policy {
	GPUEMU_REPLAY_BLOCK,		/* after each VA block */
	GPUEMU_REPLAY_BATCH,		/* after each batch */
	GPUEMU_REPLAY_BATCH_FLUSH,	/* the same; what is left in the buffer is given up */
	GPUEMU_REPLAY_ONCE,		/* when the buffer is empty, or after many batches */
};

bool gpuemu_fault_queue_would_wait(const struct gpuemu_engine *e);
int gpuemu_fault_queue_fetch(struct gpuemu_engine *e, bool empty_ok, bool may_wait);
bool gpuemu_fault_queue_next(struct gpuemu_engine *e);
void gpuemu_fault_queue_flush(struct gpuemu_engine *e);

#endif
