/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The cost of sharing a GPU to each workload (gpuemu run --target): a workload is measured alone
 * for so many cycles; the instructions it executed are its target beside the others (Warped-Slicer,
 * section II).
 */
#ifndef GPUEMU_TOOLS_SPEEDUP_H
#define GPUEMU_TOOLS_SPEEDUP_H

#include "corun.h"

/* One workload alone: until it was halted, or to its end. */
struct speedup_alone {
	uint64_t instructions, cycles;
};

/*
 * Runs the member on a GPU of its own for so many cycles, and makes what it executed its target.
 * -errno with err.
 */
int speedup_alone(struct corun_member *member, const struct target *target, uint64_t cycles,
		  struct speedup_alone *alone, struct err *err);

/*
 * Adds "metrics" to the report of n of them side by side: combined IPC (all targets over the time
 * until the last one was reached), ANTT and STP (Eyerman and Eeckhout, IEEE Micro 2008), and
 * fairness, the smallest speed-up over alone; each workload's own.
 */
void speedup_add(struct json_object *report, const struct speedup_alone *alone, unsigned int n);

#endif
