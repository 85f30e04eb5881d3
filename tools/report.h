/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The report of one run of a workload or a kernel, gpuemu-json(7): built as JSON,
 * and printed as text from that same JSON, so that the two cannot disagree.
 */
#ifndef GPUEMU_TOOLS_REPORT_H
#define GPUEMU_TOOLS_REPORT_H

#include <json-c/json.h>
#include <stdio.h>

#include "target.h"
#include "workload.h"

struct report_facts {
	const struct target *target;
	const char *backend;
	const char *statistics;		/* the library's JSON, or NULL: it did not get that far */
	const char *ptx;		/* the PTX text that ran, or NULL if there were several */
	size_t ptx_bytes;
	double host_seconds;		/* launch to the end of the last kernel */
};

/*
 * The report, with what was run (taken) as its member `subject`, "workload" or
 * "ptx". The caller owns it; NULL with err: the library's statistics are not JSON.
 */
struct json_object *report_json(const struct report_facts *f, const char *subject,
				struct json_object *about, struct err *err);
/* failed: 0, it is verified. */
struct json_object *report_workload(const struct workload *w, int failed);

/* The long report (--details), and the short one of some twenty lines (report_short.c). */
void report_text(FILE *out, struct json_object *report);
void report_short(FILE *out, struct json_object *report);

/* --- parts that both have, and explain.c ------------------------------------------ */

#define REPORT_STALLS	9u

/* Scheduler cycles of all kernels: of SMs with a warp, by what they did, and of those without. */
struct report_stalls {
	double of[REPORT_STALLS], busy, idle;
};
void report_stalls(struct json_object *report, struct report_stalls *stalls);
/* Share of the cycles of SMs with a warp, "far_fault". */
double report_stall(const struct report_stalls *stalls, const char *name);
/* Share of all cycles in which an SM had none. */
double report_idle(const struct report_stalls *stalls);

/* A workload's name and options, without an end of line. */
void report_options(FILE *out, struct json_object *workload);
/* A CUDA program: how it ended, and its explicit copies. */
void report_program(FILE *out, struct json_object *program);
/* One line for each, if the report has something to say about it. */
void report_fault_stages(FILE *out, struct json_object *report);
void report_decisions(FILE *out, struct json_object *report);
void report_metrics(FILE *out, struct json_object *report);

#endif
