// SPDX-License-Identifier: GPL-2.0
/* The timeline of run and ptx: asked for by a key, delivered with the statistics. */
#include <errno.h>
#include <stdio.h>

#include "output.h"
#include "trace.h"

#define SPANS	"16384"		/* the most that gpu.trace takes */

int trace_ask(struct target *t, struct err *err)
{
	struct err why = { "" };
	int ret = target_set(t, "gpu.trace", SPANS, &why);

	return ret ? err_set(err, ret, "--trace: %s", why.text) : 0;
}

int trace_write(struct json_object *report, const char *file, struct err *err)
{
	struct json_object *trace = json_object_get(output_at(report, "trace"));
	uint64_t dropped;
	int ret;

	if (!trace)
		return err_set(err, -EPROTO, "--trace: the library's statistics have no timeline");
	json_object_object_del(report, "trace");
	dropped = json_object_get_uint64(output_at(trace, "dropped"));
	if (dropped)
		fprintf(stderr, "gpuemu: --trace: the last %llu of the kernels and batches are left out\n",
			(unsigned long long)dropped);
	ret = output_json(trace, file, err);
	json_object_put(trace);
	return ret;
}
