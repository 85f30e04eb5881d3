// SPDX-License-Identifier: GPL-2.0
/*
 * The kernel that does most of a run's work, for studies that hold a program against an SM's limits
 * (study_character.c, study_zorua_tables.c). It reads reports and runs nothing.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "output.h"
#include "study_kernel.h"

static uint64_t count_at(struct json_object *o, const char *path)
{
	return (uint64_t)output_number(o, path);
}

/* Warp instructions of all launches of that name. */
static uint64_t work_of(struct json_object *kernels, const char *name)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < json_object_array_length(kernels); i++) {
		struct json_object *launch = json_object_array_get_idx(kernels, i);

		if (!strcmp(output_string(launch, "name"), name))
			sum += count_at(launch, "warp_instructions");
	}
	return sum;
}

static struct study_kernel read_kernel(struct json_object *launch)
{
	struct study_kernel k = { .ctas = 1, .threads = 1,
				  .registers = count_at(launch, "regs"),
				  .shared = count_at(launch, "smem"),
				  .spilled = count_at(launch, "spill_store_bytes") };

	snprintf(k.name, sizeof(k.name), "%s", output_string(launch, "name"));
	for (size_t axis = 0; axis < 3; axis++) {
		char path[16];

		snprintf(path, sizeof(path), "grid.%zu", axis);
		k.grid[axis] = count_at(launch, path);
		snprintf(path, sizeof(path), "block.%zu", axis);
		k.block[axis] = count_at(launch, path);
		k.ctas *= k.grid[axis];
		k.threads *= k.block[axis];
	}
	return k;
}

/* The kernel that issues most, of its launches the largest. */
static struct study_kernel largest(struct json_object *kernels)
{
	struct study_kernel k = { .ctas = 0 };
	const char *most = "";

	for (size_t i = 0; i < json_object_array_length(kernels); i++) {
		const char *name = output_string(json_object_array_get_idx(kernels, i), "name");

		if (work_of(kernels, name) > work_of(kernels, most))
			most = name;
	}
	for (size_t i = 0; i < json_object_array_length(kernels); i++) {
		struct study_kernel launch = read_kernel(json_object_array_get_idx(kernels, i));

		if (!strcmp(launch.name, most) && launch.ctas > k.ctas)
			k = launch;
	}
	return k;
}

bool study_main_kernel(const struct study_ctx *c, const struct run *r, struct study_kernel *k)
{
	char *file = text_of("%s/runs/%s.json", c->options.dir, r->id);
	struct json_object *report = r->report ? json_object_from_file(file) : NULL;
	struct json_object *kernels = output_at(report, "kernels");
	bool is = json_object_is_type(kernels, json_type_array);

	if (is)
		*k = largest(kernels);
	json_object_put(report);
	free(file);
	return is && k->ctas;
}
