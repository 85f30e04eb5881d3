/* SPDX-License-Identifier: GPL-2.0 */
/* --trace: the timeline of a run, in a file of its own. */
#ifndef GPUEMU_TOOLS_TRACE_H
#define GPUEMU_TOOLS_TRACE_H

#include <json-c/json.h>
#include <stdio.h>

#include "target.h"

/* Where the timeline goes. */
struct trace {
	const char *file;		/* NULL: nowhere */
	FILE *out;			/* NULL: there is no timeline yet */
	uint64_t dropped;		/* events that the engine had no room for */
	bool read;			/* statistics have been split */
	bool written;
	int error;			/* errno of a timeline that cannot be written */
};

/* Asks the GPU that will be opened for a timeline. */
int trace_ask(struct target *t, struct err *err);
/*
 * Tells before anything runs whether the file can be written. It is opened when there is a
 * timeline, so that a run that fails or is stopped leaves none. "-" is standard output.
 */
int trace_open(struct trace *trace, const char *file, struct err *err);
/*
 * The library's statistics as JSON. Their timeline goes to the file and leaves the JSON;
 * without a trace (NULL) it stays. NULL: the text is not JSON. The caller owns the result.
 */
struct json_object *trace_split(struct trace *trace, const char *statistics);
/*
 * Says how many events were left out. -EPROTO: there was no timeline. Does nothing if there
 * is no file, or if nothing ran.
 */
int trace_close(struct trace *trace, struct err *err);

#endif
