/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The parts of a workload's run: buffers to the device (when the program copies by hand),
 * kernels, results back to the host. Both ways of running end with the results at the host,
 * so that their times can be compared.
 */
#ifndef GPUEMU_TOOLS_PHASES_H
#define GPUEMU_TOOLS_PHASES_H

#include <json-c/json.h>

#include "workload.h"

/*
 * The whole run, between workload_begin() and the verification. 0, or -errno with w->err
 * set: the workload's or the library's error, or -ENOSPC if the workload copies by hand
 * (w->copies) and the device does not hold its buffers.
 */
int phases_run(struct workload *w);

/*
 * Adds "phases" (and "copy", when the workload copied by hand) to its report after a run
 * that went well. Adds nothing where no time passes or no page moves.
 */
void phases_report(const struct workload *w, struct json_object *report);

#endif
