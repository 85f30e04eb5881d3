/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel that does most of a run's work. */
#ifndef GPUEMU_TOOLS_STUDY_KERNEL_H
#define GPUEMU_TOOLS_STUDY_KERNEL_H

#include "study.h"

struct study_kernel {
	char name[64];			/* of the report */
	uint64_t grid[3], block[3];
	uint64_t ctas, threads;		/* of the largest launch, of a CTA */
	uint64_t registers, shared;	/* of a thread, of a CTA */
	uint64_t spilled;		/* bytes a thread stores */
};

/*
 * The kernel that issues the most instructions, in its largest launch. It is read from the kept
 * report, because the runner leaves kernels out of the reports in memory. False: the run has
 * failed.
 */
bool study_main_kernel(const struct study_ctx *c, const struct run *r, struct study_kernel *k);

#endif
