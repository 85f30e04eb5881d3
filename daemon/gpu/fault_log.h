/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Far faults one by one, for --faults: off unless gpu.faults gives it room. Paging tells them
 * (handler.c); the statistics have them as lines of a table. Private to the gpu room.
 */
#ifndef GPUEMU_GPU_FAULT_LOG_H
#define GPUEMU_GPU_FAULT_LOG_H

#include "paging/paging.h"

struct json_object;

struct fault_log {
	size_t room;			/* gpu.faults; 0: it is off */
	struct paging_fault *faults;
	size_t count, allocated;
	uint64_t dropped;		/* came when it was full */
};

/* Forgets all; room for gpu.faults from now on. NULL: for none. */
void fault_log_reset(struct fault_log *log, const struct gpu_spec *spec);
void fault_log_add(struct fault_log *log, const struct paging_fault *fault);
/* {"dropped":n,"columns":"a,b,..","rows":["1,2,..",..]}, in the order in which they ended. */
struct json_object *fault_log_json(const struct fault_log *log, const struct gpu_spec *spec);

#endif
