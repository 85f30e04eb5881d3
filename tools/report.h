/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The report of one run of a workload, gpuemu-json(7): built as JSON, and
 * printed as text from that same JSON, so that the two cannot disagree.
 */
#ifndef GPUEMU_TOOLS_REPORT_H
#define GPUEMU_TOOLS_REPORT_H

#include <json-c/json.h>
#include <stdio.h>

#include "target.h"
#include "workload.h"

struct report_facts {
	const struct workload *workload;
	const struct target *target;
	const char *backend;
	const char *statistics;		/* the library's JSON, or NULL: it did not get that far */
	double host_seconds;		/* launch to the end of the last kernel */
	int status;			/* 0: verified */
};

/* The caller owns it; NULL with err: the library's statistics are not JSON. */
struct json_object *report_json(const struct report_facts *f, struct err *err);

void report_text(FILE *out, struct json_object *report);

#endif
