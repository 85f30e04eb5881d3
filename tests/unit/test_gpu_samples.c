// SPDX-License-Identifier: GPL-2.0
/*
 * Samples over time of kernels side by side: each has rows of its own, which are its counters in
 * parts, from when another kernel came.
 */
#include "gpu_bench.h"

static void done(void *ctx, int status, uint64_t fault_addr, const struct err *err,
		 char *output, size_t bytes)
{
	if (status)
		fail_msg("%s", err->text);
	free(output);
}

static void begin(struct gpu_bench *b)
{
	bench_spec(b);
	b->spec.paging = 0;
	b->spec.interval = 100;
	b->spec.mixed_sms = 1;
	b->spec.sms = 2;
	bench_open(b, PTX_HEAD PTX_VECADD, 1u << 20, NULL);
}

/* So many CTAs in the stream. */
static void submit(struct gpu_bench *b, uint32_t stream, uint32_t ctas)
{
	const uint64_t at = (uintptr_t)b->memory;
	const struct gpu_launch l = {
		.module = 1, .kernel = "vecadd", .grid = { ctas, 1, 1 }, .block = { 64, 1, 1 },
		.params = (uint64_t[]){ at, at + (256u << 10), at + (512u << 10), 64 * ctas },
		.param_bytes = 28,
	};

	assert_int_equal(gpu_session_submit(b->session, stream, &l, done, NULL), 0);
}

static uint64_t of_kernel(struct gpu_bench *b, unsigned int n, const char *key)
{
	char path[64];

	snprintf(path, sizeof(path), "kernels.%u.%s", n, key);
	return bench_stat(b, path);
}

static struct json_object *samples_of(struct gpu_bench *b, struct json_object **top)
{
	char *text = gpu_session_statistics(b->session);
	struct json_object *o = NULL;

	*top = json_tokener_parse(text);
	free(text);
	assert_true(json_object_object_get_ex(*top, "samples", &o));
	return o;
}

static uint64_t sum_of(struct json_object *table, const char *name, int64_t stream)
{
	struct json_object *columns = NULL, *rows = NULL;
	size_t at = 0, of = 0;
	uint64_t sum = 0;

	assert_true(json_object_object_get_ex(table, "columns", &columns));
	assert_true(json_object_object_get_ex(table, "rows", &rows));
	for (size_t i = 0; i < json_object_array_length(columns); i++) {
		const char *c = json_object_get_string(json_object_array_get_idx(columns, i));

		at = strcmp(c, name) ? at : i;
		of = strcmp(c, "stream") ? of : i;
	}
	for (size_t i = 0; i < json_object_array_length(rows); i++) {
		struct json_object *row = json_object_array_get_idx(rows, i);

		if (stream < 0 ||
		    json_object_get_int64(json_object_array_get_idx(row, of)) == stream)
			sum += json_object_get_uint64(json_object_array_get_idx(row, at));
	}
	return sum;
}

/*
 * Kernels side by side have rows of their own, which are the kernel's counters in parts. One that
 * is alone has none; one to which another comes has them from there on.
 */
static void test_samples_by_kernel(void **state)
{
	static const char *const names[] = { "warp_instructions", "cycles" };
	struct json_object *top, *samples, *kernels = NULL;
	struct gpu_bench b;

	begin(&b);
	submit(&b, 1, 200);
	gpu_session_finish(b.session);
	samples = samples_of(&b, &top);
	assert_false(json_object_object_get_ex(samples, "kernels", NULL));
	json_object_put(top);
	submit(&b, 1, 600);
	submit(&b, 2, 300);
	assert_int_equal(gpu_session_delay(b.session, 3, gpu_session_now(b.session) + 500), 0);
	submit(&b, 3, 64);
	gpu_session_finish(b.session);
	samples = samples_of(&b, &top);
	assert_true(json_object_object_get_ex(samples, "kernels", &kernels));
	for (unsigned int n = 0; n < ARRAY_SIZE(names); n++)
		for (int64_t stream = 1; stream <= 3; stream++)
			assert_int_equal(sum_of(kernels, names[n], stream),
					 of_kernel(&b, (unsigned int)stream, names[n]));
	/* All of the second part is somebody's. */
	assert_int_equal(sum_of(kernels, "warp_instructions", -1) +
			 of_kernel(&b, 0, "warp_instructions"),
			 sum_of(samples, "warp_instructions", -1));
	json_object_put(top);
	bench_close(&b);
}

/* A kernel that is alone at first has no rows of that time. */
static void test_samples_from_when_another_came(void **state)
{
	struct json_object *top, *kernels = NULL;
	uint64_t alone, all;
	struct gpu_bench b;

	begin(&b);
	submit(&b, 1, 900);
	assert_int_equal(gpu_session_delay(b.session, 2, 5000), 0);
	submit(&b, 2, 1);
	gpu_session_finish(b.session);
	assert_true(json_object_object_get_ex(samples_of(&b, &top), "kernels", &kernels));
	all = of_kernel(&b, 0, "cycles") > of_kernel(&b, 1, "cycles") ?
	      of_kernel(&b, 0, "cycles") : of_kernel(&b, 1, "cycles");
	alone = all - sum_of(kernels, "cycles", 1);
	assert_in_range(alone, 5000 - 100, 5000);
	json_object_put(top);
	bench_close(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_samples_by_kernel),
		cmocka_unit_test(test_samples_from_when_another_came),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
