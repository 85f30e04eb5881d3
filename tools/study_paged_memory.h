/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by the files of the study paged-memory. */
#ifndef GPUEMU_TOOLS_STUDY_PAGED_MEMORY_H
#define GPUEMU_TOOLS_STUDY_PAGED_MEMORY_H

#include "study.h"

#define NONE	((double)NAN)

#define FOR_WORKLOADS(c, w)									\
	for (const struct study_workload *w = (c)->options.workloads;				\
	     w < (c)->options.workloads + (c)->options.nworkloads; w++)

/* Runs that several parts have. */
/* Copy everything, run, copy back: what all are compared with. */
struct run *paged_copied(struct study_ctx *c, const struct study_workload *w);
/* With a prefetch policy. */
struct run *paged_prefetched(struct study_ctx *c, const struct study_workload *w,
				   const char *policy);
double paged_cycles(const struct run *r);
/* The handler that the study's backend has, as an argument. */
const char *paged_handler(const struct study_ctx *c);
/* What a policy needs besides its name: "min" and "oracle" know a recorded run. */
const char *paged_needs(struct study_ctx *c, const char *workload, const char *policy,
			char text[160]);

/* study_paged_memory_more.c: the parts that the paper's text has no numbers for. */
void paged_want_oversubscription(struct study_ctx *c);
void paged_show_oversubscription(struct study_ctx *c);
void paged_want_footprints(struct study_ctx *c);
void paged_want_measured(struct study_ctx *c);
void paged_show_measured(struct study_ctx *c);

#endif
