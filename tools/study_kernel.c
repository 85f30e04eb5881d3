// SPDX-License-Identifier: GPL-2.0
/*
 * The kernels of a run, and which does most of its work, for studies that hold a program against an
 * SM's limits (study_character.c, study_zorua_tables.c). It reads reports and runs nothing.
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

/* One launch more of a kernel: it counts, and shows if it is the largest. */
static void add_launch(struct study_kernel *k, const struct study_kernel *launch, uint64_t issued)
{
	uint64_t launches = k->launches + 1, work = k->work + issued;

	if (launch->ctas > k->ctas)
		*k = *launch;
	k->launches = launches;
	k->work = work;
}

static size_t distinct(struct json_object *launches, struct study_kernel *kernels)
{
	size_t n = 0;

	for (size_t i = 0; i < json_object_array_length(launches); i++) {
		struct json_object *o = json_object_array_get_idx(launches, i);
		struct study_kernel launch = read_kernel(o);
		size_t at = 0;

		while (at < n && strcmp(kernels[at].name, launch.name))
			at++;
		if (at == n)
			kernels[n++] = (struct study_kernel){ .ctas = 0 };
		add_launch(&kernels[at], &launch, count_at(o, "warp_instructions"));
	}
	return n;
}

size_t study_kernels(const struct study_ctx *c, const struct run *r, struct study_kernel **kernels)
{
	char *file = text_of("%s/runs/%s.json", c->options.dir, r->id);
	struct json_object *report = r->report ? json_object_from_file(file) : NULL;
	struct json_object *launches = output_at(report, "kernels");
	size_t n = 0;

	*kernels = NULL;
	if (json_object_is_type(launches, json_type_array)) {
		*kernels = must(calloc(json_object_array_length(launches) + 1, sizeof(**kernels)));
		n = distinct(launches, *kernels);
	}
	json_object_put(report);
	free(file);
	return n;
}

bool study_main_kernel(const struct study_ctx *c, const struct run *r, struct study_kernel *k)
{
	struct study_kernel *kernels;
	size_t n = study_kernels(c, r, &kernels), most = 0;

	for (size_t i = 1; i < n; i++)
		if (kernels[i].work > kernels[most].work)
			most = i;
	if (n)
		*k = kernels[most];
	free(kernels);
	return n && k->ctas;
}
