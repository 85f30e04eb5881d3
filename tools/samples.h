/* SPDX-License-Identifier: GPL-2.0 */
/* --samples: the statistics over time of one run, as a table in a file. */
#ifndef GPUEMU_TOOLS_SAMPLES_H
#define GPUEMU_TOOLS_SAMPLES_H

#include <json-c/json.h>

#include "target.h"

/* Makes the GPU take samples, every 1000 cycles unless stats.interval is set. -errno with err. */
int samples_ask(struct target *t, struct err *err);
/*
 * Moves the samples from the report to the file: JSON if its name ends in .json, else
 * CSV with a line of titles. -errno with err.
 */
int samples_write(struct json_object *report, const char *file, struct err *err);

#endif
