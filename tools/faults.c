// SPDX-License-Identifier: GPL-2.0
/* Far faults one by one: asked for by a key, delivered with the statistics. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "faults.h"
#include "output.h"

/*
 * The most rows: for the module, whose reports have 4 MiB, and for others, which have
 * memory.
 */
#define ROWS_MODULE	"20000"
#define ROWS		"1000000"

int faults_ask(struct target *t, struct err *err)
{
	struct gpu_spec spec;
	struct err why = { "" };
	int ret = target_spec(t, &spec, err);

	if (ret)
		return ret;
	if (spec.functional || !spec.paging)
		return err_set(err, -EINVAL, "--faults: without %s there are no far faults",
			       spec.functional ? "time (--functional)" : "paging");
	if (spec.fault_rows)
		return 0;
	ret = target_set(t, "gpu.faults", target_through_module(t) ? ROWS_MODULE : ROWS, &why);
	return ret ? err_set(err, ret, "--faults: %s", why.text) : 0;
}

static int write_csv(struct json_object *faults, const char *file, struct err *err)
{
	struct json_object *rows = output_at(faults, "rows");
	FILE *out;
	int ret = output_open(&out, file, err);

	if (ret)
		return ret;
	fprintf(out, "%s\n", output_string(faults, "columns"));
	for (size_t i = 0; i < json_object_array_length(rows); i++)
		fprintf(out, "%s\n", json_object_get_string(json_object_array_get_idx(rows, i)));
	return output_close(out, file, err);
}

int faults_write(struct json_object *report, const char *file, struct err *err)
{
	struct json_object *faults = json_object_get(output_at(report, "faults"));
	uint64_t dropped;
	int ret;

	if (!faults || !output_has(faults, "rows")) {
		json_object_put(faults);
		return err_set(err, -EPROTO, "--faults: the library's statistics have no far faults");
	}
	json_object_object_del(report, "faults");
	dropped = json_object_get_uint64(output_at(faults, "dropped"));
	if (dropped)
		fprintf(stderr, "gpuemu: --faults: the last %llu are left out (gpu.faults)\n",
			(unsigned long long)dropped);
	ret = write_csv(faults, file, err);
	json_object_put(faults);
	return ret;
}
