/* SPDX-License-Identifier: GPL-2.0 */
/* --trace: the timeline of a run, in a file of its own. */
#ifndef GPUEMU_TOOLS_TRACE_H
#define GPUEMU_TOOLS_TRACE_H

#include <json-c/json.h>
#include <stdio.h>

#include "target.h"

/* Where the timeline goes. */
struct trace {
	const char *file;
	FILE *out;
	uint64_t dropped;		/* events that the engine had no room for */
	bool read;			/* statistics have been split */
	bool written, failed;
};

/* Asks the GPU that will be opened for a timeline. */
int trace_ask(struct target *t, struct err *err);
/* Opens the file, before anything runs. "-" is standard output. */
int trace_open(struct trace *trace, const char *file, struct err *err);
/*
 * The library's statistics as JSON. Their timeline goes to the file and is not in it; NULL for
 * trace: it stays. NULL: they are no JSON. The caller owns it.
 */
struct json_object *trace_split(struct trace *trace, const char *statistics);
/* Says how many events are left out. -EPROTO: there was no timeline. Nothing where none is open. */
int trace_close(struct trace *trace, struct err *err);

#endif
