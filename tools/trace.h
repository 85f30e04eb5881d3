/* SPDX-License-Identifier: GPL-2.0 */
/* --trace: the timeline of a run, in a file of its own. */
#ifndef GPUEMU_TOOLS_TRACE_H
#define GPUEMU_TOOLS_TRACE_H

#include <json-c/json.h>

#include "target.h"

/* Asks the GPU that will be opened for a timeline. */
int trace_ask(struct target *t, struct err *err);
/*
 * Cuts the timeline out of the library's statistics, which are then JSON without it: it is long,
 * and written as it is. NULL: there is none. The caller owns what prints as that text.
 */
struct json_object *trace_cut(char *statistics);
/* Takes it out of the report, which is then the one without --trace, to the file. */
int trace_write(struct json_object *report, const char *file, struct err *err);

#endif
