/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by the files of the study virtual-thread. */
#ifndef GPUEMU_TOOLS_STUDY_VIRTUAL_THREAD_H
#define GPUEMU_TOOLS_STUDY_VIRTUAL_THREAD_H

#include "study.h"

#define NONE	((double)NAN)

#define FOR_WORKLOADS(c, w)									\
	for (const struct study_workload *w = (c)->options.workloads;				\
	     w < (c)->options.workloads + (c)->options.nworkloads; w++)

/* The paper's four designs (figure 8), as arguments, and what it reports of each. */
enum { BASELINE, MASCAR, VT, MAX_UNITS, VT_DESIGNS };

struct vt_design {
	const char *name, *args;
	double paper;
};

extern const struct vt_design vt_designs[VT_DESIGNS];

/* A row for the workload; one that is several of the paper's programs has the paper's name behind. */
size_t vt_row(struct study_table *t, const struct study_workload *w);
/* The program's own cycles: its instructions are the same, so their ratio is that of the IPC. */
double vt_cycles(const struct run *r);

/* study_virtual_thread_table.c */
void vt_show_table1(struct study_ctx *c);

/* study_virtual_thread_paging.c: the parts under far faults. */
void vt_want_paging(struct study_ctx *c);
void vt_show_paging(struct study_ctx *c);
void vt_want_footprints(struct study_ctx *c);
void vt_want_batches(struct study_ctx *c);
void vt_show_batches(struct study_ctx *c);
void vt_want_measured_footprints(struct study_ctx *c);
void vt_want_measured(struct study_ctx *c);
void vt_show_measured(struct study_ctx *c);

#endif
