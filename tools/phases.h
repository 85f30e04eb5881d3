/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a run of a workload consists of: buffers to the device (when the program copies by
 * hand), kernels, results back to the host. Both ways of running end with the results at
 * the host, so that their times compare.
 */
#ifndef GPUEMU_TOOLS_PHASES_H
#define GPUEMU_TOOLS_PHASES_H

#include <json-c/json.h>

#include "workload.h"

/*
 * Between workload_begin() and the verification: the whole run. 0, or -errno with w->err set:
 * of the workload, of the library, or -ENOSPC: the workload copies by hand (w->copies) and the
 * device does not hold its buffers.
 */
int phases_run(struct workload *w);

/*
 * Adds "phases", and "copy" when it copied by hand, to the workload of a report of a run that
 * went well. Nothing where no time passes or no page moves.
 */
void phases_report(const struct workload *w, struct json_object *report);

#endif
