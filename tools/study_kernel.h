/* SPDX-License-Identifier: GPL-2.0 */
/* The kernels of a run, and the one that does most of its work. */
#ifndef GPUEMU_TOOLS_STUDY_KERNEL_H
#define GPUEMU_TOOLS_STUDY_KERNEL_H

#include "study.h"

struct study_kernel {
	char name[64];			/* of the report */
	uint64_t grid[3], block[3];
	uint64_t ctas, threads;		/* of the largest launch, of a CTA */
	uint64_t registers, shared;	/* of a thread, of a CTA */
	uint64_t spilled;		/* bytes a thread stores */
	uint64_t launches, work;	/* of all its launches: how many, their warp instructions */
};

/*
 * The run's kernels in the order of their first launches, each in its largest launch; the caller
 * frees them. 0: the run has failed.
 */
size_t study_kernels(const struct study_ctx *c, const struct run *r, struct study_kernel **kernels);
/*
 * The kernel that issues the most instructions, in its largest launch. It is read from the kept
 * report, because the runner leaves kernels out of the reports in memory. False: the run has
 * failed.
 */
bool study_main_kernel(const struct study_ctx *c, const struct run *r, struct study_kernel *k);

#endif
