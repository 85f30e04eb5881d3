// SPDX-License-Identifier: GPL-2.0
/*
 * The phases of a run: what programmer-directed copy moves and when, that paged runs bring
 * their results back as well, and what is said when buffers do not fit.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "output.h"
#include "phases.h"
#include "run.h"

/* Inputs, outputs, both, scratch; a flag that the CPU reads between launches. */
static const char *const names[] = { "triad", "sgemm", "stencil", "cg", "bfs" };

/* Runs one and returns its report, which is the caller's. */
static struct json_object *report(struct workload *w, const char *name,
				  enum workload_copies copies,
				  const char *settings, int *status)
{
	const struct workload_row *row = workload_find(name);
	struct gpuemu_options o = {
		.size = sizeof(o), .backend = "sim", .settings = settings,
	};
	struct json_object *json;
	struct gpuemu_ctx *ctx;
	struct target target;

	target_init(&target);
	if (gpuemu_open(&ctx, &o))
		fail_msg("%s", gpuemu_last_error(NULL));
	workload_init(w, row->ops, 1);
	workload_resize(w, WORKLOAD_TINY);
	w->copies = copies;
	json = run_workload(w, row, &target, ctx, status);
	gpuemu_close(ctx);
	return json;
}

static uint64_t number(struct json_object *json, const char *path)
{
	if (!output_has(json, path))
		fail_msg("the report has no %s", path);
	return json_object_get_uint64(output_at(json, path));
}

/* Whole pages of the buffers of two directions. */
static uint64_t bytes_of(const struct workload *w, enum workload_direction a,
			 enum workload_direction b)
{
	uint64_t bytes = 0;

	for (unsigned int i = 0; i < w->nbuffers; i++)
		if (w->buffers[i].direction == a || w->buffers[i].direction == b)
			bytes += DIV_ROUND_UP(w->buffers[i].bytes, PAGE_BYTES) * PAGE_BYTES;
	return bytes;
}

static void copies_move_each_buffer_once(void **state)
{
	for (size_t i = 0; i < 2 * ARRAY_SIZE(names); i++) {
		const char *name = names[i / 2];
		struct workload w;
		int status;
		struct json_object *json = report(&w, name, i % 2 ? WORKLOAD_COPIES_ALL :
						  WORKLOAD_COPIES_INPUTS, NULL, &status);
		uint64_t h2d, kernel, d2h;

		if (status)
			fail_msg("%s: %s", name, w.err.text);
		assert_true(json_object_get_boolean(output_at(json, "workload.verified")));
		assert_string_equal(json_object_get_string(output_at(json, "workload.copy.buffers")),
				    i % 2 ? "all" : "inputs");
		assert_int_equal(number(json, "paging.far_faults"), 0);
		assert_int_equal(number(json, "paging.evicted_pages"), 0);
		h2d = number(json, "workload.copy.h2d_cycles");
		kernel = number(json, "workload.copy.kernel_cycles");
		d2h = number(json, "workload.copy.d2h_cycles");
		assert_true(h2d > 0 && kernel > 0 && d2h > 0);
		assert_int_equal(h2d + kernel + d2h, number(json, "totals.cycles"));
		assert_int_equal(number(json, "workload.copy.overlap_bound_cycles"),
				 MAX(h2d + d2h, kernel));
		assert_int_equal(number(json, "workload.phases.kernel_cycles"), kernel);
		/* The CPU of bfs looks at a page between the launches. */
		if (strcmp(name, "bfs")) {
			assert_int_equal(number(json, "paging.h2d_bytes"),
					 bytes_of(&w, WORKLOAD_IN, WORKLOAD_INOUT) +
					 (i % 2 ? bytes_of(&w, WORKLOAD_OUT,
							   WORKLOAD_SCRATCH) : 0));
			assert_int_equal(number(json, "paging.d2h_bytes"),
					 bytes_of(&w, WORKLOAD_OUT, WORKLOAD_INOUT));
		}
		json_object_put(json);
	}
}

/* In the time that the link takes, and little more: 16 GB/s, a core clock of 700 MHz. */
static void copies_take_the_link(void **state)
{
	struct workload w;
	int status;
	struct json_object *json = report(&w, "triad", WORKLOAD_COPIES_INPUTS, NULL, &status);
	double ns = (double)bytes_of(&w, WORKLOAD_IN, WORKLOAD_IN) / 16.0;
	double cycles = (double)number(json, "workload.copy.h2d_cycles");

	assert_int_equal(status, 0);
	assert_true(cycles >= ns * 0.7 - 1);
	assert_true(cycles <= ns * 0.7 * 1.05);
	json_object_put(json);
}

static void paged_runs_bring_results_back(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct workload w;
		int status;
		struct json_object *json = report(&w, names[i], WORKLOAD_PAGES, NULL, &status);

		if (status)
			fail_msg("%s: %s", names[i], w.err.text);
		assert_false(output_has(json, "workload.copy"));
		assert_int_equal(number(json, "workload.phases.h2d_cycles"), 0);
		if (!number(json, "workload.phases.d2h_cycles"))
			fail_msg("%s: no time for the results: %s", names[i],
				 json_object_to_json_string(output_at(json, "workload")));
		assert_int_equal(number(json, "workload.phases.kernel_cycles") +
				 number(json, "workload.phases.d2h_cycles"),
				 number(json, "totals.cycles"));
		if (strcmp(names[i], "bfs"))
			assert_int_equal(number(json, "paging.d2h_bytes"),
					 bytes_of(&w, WORKLOAD_OUT, WORKLOAD_INOUT));
		json_object_put(json);
	}
}

static void without_time_or_paging_there_are_no_phases(void **state)
{
	static const char *const settings[] = { "gpu.functional=on\n", "paging.enabled=off\n" };

	for (size_t i = 0; i < ARRAY_SIZE(settings); i++) {
		struct workload w;
		int status;
		struct json_object *json = report(&w, "triad", WORKLOAD_PAGES, settings[i], &status);

		assert_int_equal(status, 0);
		assert_false(output_has(json, "workload.phases"));
		json_object_put(json);
		json = report(&w, "triad", WORKLOAD_COPIES_ALL, settings[i], &status);
		assert_int_equal(status, -EINVAL);
		assert_non_null(strstr(w.err.text, "nothing to copy"));
		json_object_put(json);
	}
}

/* triad's three buffers of ten pages: 120 KiB. One frame less is too few. */
static void buffers_must_fit(void **state)
{
	struct workload w;
	int status;
	struct json_object *json = report(&w, "triad", WORKLOAD_COPIES_ALL, "paging.vram=120K\n", &status);

	assert_int_equal(status, 0);
	json_object_put(json);
	json = report(&w, "triad", WORKLOAD_COPIES_ALL, "paging.vram=116K\n", &status);
	assert_int_equal(status, -ENOSPC);
	assert_non_null(strstr(w.err.text, "does not hold the 120 KiB that the buffers take"));
	assert_false(json_object_get_boolean(output_at(json, "workload.verified")));
	json_object_put(json);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(copies_move_each_buffer_once),
		cmocka_unit_test(copies_take_the_link),
		cmocka_unit_test(paged_runs_bring_results_back),
		cmocka_unit_test(without_time_or_paging_there_are_no_phases),
		cmocka_unit_test(buffers_must_fit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
