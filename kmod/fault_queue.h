/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The consumer's side of the fault buffer: takes records, makes them a batch.
 */
#ifndef _GPUEMU_FAULT_QUEUE_H
#define _GPUEMU_FAULT_QUEUE_H

#include <linux/types.h>

struct gpuemu_engine;

int gpuemu_fault_queue_fetch(struct gpuemu_engine *e, bool empty_ok);

#endif
