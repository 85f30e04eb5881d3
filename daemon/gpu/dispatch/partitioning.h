/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The partitions that dispatch dynamic decides on: algorithm 1 over the kernels that run, and the
 * list of those decided so far, for the report. When to decide is dynamic.c's.
 */
#ifndef GPUEMU_GPU_DISPATCH_PARTITIONING_H
#define GPUEMU_GPU_DISPATCH_PARTITIONING_H

#include "gpu/dispatch.h"
#include "slicer/slicer.h"

struct json_object;

struct partitions;

/* NULL: no memory. */
struct partitions *partitions_create(void);
void partitions_destroy(struct partitions *all);

/*
 * Decides from the curves of d->kernels, in their order: ctas[i] is what every SM may hold of the
 * i-th. False: the SMs are to be split among the kernels, because one CTA of each does not fit or
 * one would lose too much (slicer.loss); ctas are 0. `now` is the cycle for the report.
 */
bool partitions_decide(struct partitions *all, const struct dispatch *d,
		       const struct slicer_curve *const curves[], uint64_t now,
		       unsigned int ctas[SM_KERNELS]);

/* {"partitions": [{"cycle", "shared", "kernels": [{"name", "ctas", "performance"}]}]} */
struct json_object *partitions_report(const struct partitions *all);

#endif
