/* SPDX-License-Identifier: GPL-2.0 */
/* Workloads side by side on one open GPU, each in a stream of its own. */
#ifndef GPUEMU_TOOLS_CORUN_H
#define GPUEMU_TOOLS_CORUN_H

#include <json-c/json.h>

#include "target.h"
#include "workload.h"

#define CORUN_MAX	16	/* a GPU runs no more kernels at the same time */

struct corun_member {
	struct workload *w;
	const struct workload_row *row;
	uint64_t arrival;		/* core cycle at which its host side begins */
	uint64_t halt;			/* halted after so many thread instructions; 0: never */
	uint64_t until;			/* halt at this core cycle; 0: run to the end */
	uint64_t repeat;		/* how often its host side runs; 0: once */
	/* corun()'s. */
	int status;			/* 0: verified, or halted */
	bool halted;
};

/*
 * Loads and sets up all of them, runs them, verifies each. *status: 0, or the first one's
 * that failed, whose w->err says why. The report (the caller's) has one entry a workload, also
 * when one failed; NULL: there is nothing to report from, and err is set.
 */
struct json_object *corun(struct corun_member *members, unsigned int n,
			  const struct target *target, struct gpuemu_ctx *ctx, int *status,
			  struct err *err);

/*
 * corun_report.c: adds what the stream's kernels did to the workload's entry of a report,
 * one by one and as sums. `kernels` are all kernels of the statistics.
 */
void corun_kernels(struct json_object *entry, struct json_object *kernels, uint32_t stream);

#endif
