/* SPDX-License-Identifier: GPL-2.0 */
/* --faults: the far faults of a run one by one, as a table in a file. For run, ptx and bench. */
#ifndef GPUEMU_TOOLS_FAULTS_H
#define GPUEMU_TOOLS_FAULTS_H

#include <json-c/json.h>

#include "target.h"

/* Makes the GPU keep them, unless gpu.faults is set. -errno with err. */
int faults_ask(struct target *t, struct err *err);
/* Moves them from the report, or the statistics, to the CSV file; says how many are left out. */
int faults_write(struct json_object *report, const char *file, struct err *err);

#endif
