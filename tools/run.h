/* SPDX-License-Identifier: GPL-2.0 */
/* One run of one workload on an open GPU. For the verb and the tests. */
#ifndef GPUEMU_TOOLS_RUN_H
#define GPUEMU_TOOLS_RUN_H

#include <json-c/json.h>

#include "target.h"
#include "workload.h"

/*
 * Loads, sets up, advises, runs, verifies. *status: 0 verified, else -errno with w->err
 * set. Returns the report (the caller's) also when it failed; NULL when there
 * is nothing to report from.
 */
struct json_object *run_workload(struct workload *w, const struct workload_row *row,
				 const struct target *target,
				 struct gpuemu_ctx *ctx, int *status);

/* Reads "run WORDS" as the verb does, and runs nothing. -EINVAL: err has the verb's sentence. */
int run_check(const char *words, struct err *err);

#endif
