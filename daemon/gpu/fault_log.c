// SPDX-License-Identifier: GPL-2.0
/*
 * The log of far faults, and the lines that it becomes. A line is a string and no array: a million
 * arrays of numbers would be gigabytes.
 */
#include <inttypes.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "gpu/fault_log.h"

void fault_log_reset(struct fault_log *log, const struct gpu_spec *spec)
{
	free(log->faults);
	*log = (struct fault_log){ .room = spec ? spec->fault_rows : 0 };
}

void fault_log_add(struct fault_log *log, const struct paging_fault *fault)
{
	if (!log->room)
		return;
	if (log->count == log->room || array_grow(log->faults, log->allocated, log->count)) {
		log->dropped++;
		return;
	}
	log->faults[log->count++] = *fault;
}

static struct json_object *row(const struct paging_fault *f, const struct gpu_spec *spec)
{
	static const char *const access[] = { "prefetch", "read", "write", "atomic" };
	char text[512];
	int n;

	n = snprintf(text, sizeof(text), "0x%" PRIx64 ",%u,%u,%s,%u,%u,%s,%u,%" PRIu64 ",%" PRIu64,
		     f->addr, f->sm, f->warp, access[f->access & 3], f->merged, f->batch,
		     fault_cause_names[f->cause], f->kernel, f->raised,
		     (uint64_t)((unsigned __int128)f->raised * 1000 / spec->clock_mhz));
#define X(stage)								\
	n += snprintf(text + n, sizeof(text) - (size_t)n, ",%" PRIu64, f->stages.stage);
	FAULT_STAGES(X)
#undef X
	snprintf(text + n, sizeof(text) - (size_t)n, ",%" PRIu64, f->latency);
	return json_object_new_string(text);
}

struct json_object *fault_log_json(const struct fault_log *log, const struct gpu_spec *spec)
{
	struct json_object *o = json_object_new_object(), *rows = json_object_new_array();

	json_object_object_add(o, "dropped", json_object_new_uint64(log->dropped));
#define X(stage) "," #stage "_ns"
	json_object_object_add(o, "columns", json_object_new_string(
		"page,sm,warp,access,merged,batch,cause,kernel,raised_cycle,raised_ns"
		FAULT_STAGES(X) ",latency_ns"));
#undef X
	for (size_t i = 0; i < log->count; i++)
		json_object_array_add(rows, row(&log->faults[i], spec));
	json_object_object_add(o, "rows", rows);
	return o;
}
