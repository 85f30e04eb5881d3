// SPDX-License-Identifier: GPL-2.0
/*
 * Statistics over time of run and ptx. A key asks for them, and they come with the
 * statistics.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "output.h"
#include "samples.h"

#define INTERVAL	"1000"

int samples_ask(struct target *t, struct err *err)
{
	struct gpu_spec spec;
	struct err why = { "" };
	int ret;

	ret = target_spec(t, &spec, err);
	if (ret)
		return ret;
	if (spec.functional)
		return err_set(err, -EINVAL,
			       "--samples: without time (--functional) there is nothing to sample");
	if (spec.interval)
		return 0;
	ret = target_set(t, "stats.interval", INTERVAL, &why);
	return ret ? err_set(err, ret, "--samples: %s", why.text) : 0;
}

/* Writes `behind` after the cells. */
static void csv_line(FILE *out, struct json_object *cells, const char *behind)
{
	size_t n = json_object_array_length(cells);

	for (size_t i = 0; i < n; i++) {
		struct json_object *cell = json_object_array_get_idx(cells, i);

		/* Titles and kernels are plain words; numbers are printed as in the JSON. */
		fprintf(out, "%s%s", i ? "," : "", !cell ? "" :
			json_object_is_type(cell, json_type_string) ?
			json_object_get_string(cell) :
			json_object_to_json_string_ext(cell, JSON_C_TO_STRING_PLAIN));
	}
	fprintf(out, "%s\n", behind);
}

static void csv_lines(FILE *out, struct json_object *rows, const char *behind)
{
	for (size_t i = 0; i < json_object_array_length(rows); i++)
		csv_line(out, json_object_array_get_idx(rows, i), behind);
}

static int write_csv(struct json_object *samples, const char *file, struct err *err)
{
	struct json_object *kernels = output_at(samples, "kernels");
	FILE *out;
	int ret = output_open(&out, file, err);

	if (ret)
		return ret;
	/*
	 * Kernels side by side: their lines have three more columns, and the GPU's line has
	 * no kernel.
	 */
	csv_line(out, output_at(kernels ? kernels : samples, "columns"), "");
	csv_lines(out, output_at(samples, "rows"), kernels ? ",,," : "");
	if (kernels)
		csv_lines(out, output_at(kernels, "rows"), "");
	return output_close(out, file, err);
}

static bool ends_in(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n >= m && !strcmp(text + n - m, end);
}

int samples_write(struct json_object *report, const char *file, struct err *err)
{
	struct json_object *samples = json_object_get(output_at(report, "samples"));
	uint64_t dropped;
	int ret;

	if (!samples)
		return err_set(err, -EPROTO, "--samples: the library's statistics have no samples");
	json_object_object_del(report, "samples");
	dropped = json_object_get_uint64(output_at(samples, "dropped"));
	if (dropped)
		fprintf(stderr, "gpuemu: --samples: the last %llu are left out; a larger "
			"stats.interval makes fewer\n", (unsigned long long)dropped);
	ret = ends_in(file, ".json") ? output_json(samples, file, err) :
				       write_csv(samples, file, err);
	json_object_put(samples);
	return ret;
}
