// SPDX-License-Identifier: GPL-2.0
/* Histogram percentiles against exact ones; JSON's bytes. */
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <json-c/json.h>
#include <math.h>

#include "base/rng.h"
#include "stats/stats.h"

#define SAMPLES	5000u

static struct histogram h, other;
static uint64_t values[SAMPLES];

static void small_values_are_exact(void **state)
{
	histogram_reset(&h);
	assert_int_equal(histogram_permille(&h, 500), 0);
	for (uint64_t v = 0; v < 100; v++)
		histogram_add(&h, v);
	assert_int_equal(h.count, 100);
	assert_int_equal(h.sum, 4950);
	assert_int_equal(h.min, 0);
	assert_int_equal(h.max, 99);
	assert_int_equal(histogram_permille(&h, 0), 0);
	assert_int_equal(histogram_permille(&h, 500), 49);
	assert_int_equal(histogram_permille(&h, 900), 89);
	assert_int_equal(histogram_permille(&h, 1000), 99);
}

static void one_value(void **state)
{
	static const uint64_t extremes[] = { 0, 63, 64, 20256, UINT64_MAX };

	for (unsigned int i = 0; i < ARRAY_SIZE(extremes); i++) {
		histogram_reset(&h);
		histogram_add(&h, extremes[i]);
		assert_true(h.min == extremes[i] && h.max == extremes[i]);
		assert_true(histogram_permille(&h, 1) == extremes[i]);
		assert_true(histogram_permille(&h, 999) == extremes[i]);
	}
}

/* Every octave: a percentile is at or above the exact one, by at most 1/64. */
static void percentiles(void **state)
{
	static const unsigned int permilles[] = { 1, 10, 250, 500, 900, 990, 999, 1000 };
	struct rng rng;

	rng_seed(&rng, 7);
	for (unsigned int shift = 0; shift < 60; shift += 3) {
		histogram_reset(&h);
		for (unsigned int i = 0; i < SAMPLES; i++) {
			values[i] = rng_next(&rng) >> (shift + rng_below(&rng, 4));
			histogram_add(&h, values[i]);
		}
		for (unsigned int i = 0; i < ARRAY_SIZE(permilles); i++) {
			uint64_t exact = samples_permille(values, SAMPLES, permilles[i]);
			uint64_t got = histogram_permille(&h, permilles[i]);

			assert_true(got >= exact);
			assert_true(got - exact <= exact / 64);
		}
		assert_true(h.min == values[0] && h.max == values[SAMPLES - 1]);
	}
}

static void merge_is_adding(void **state)
{
	struct histogram parts[2], whole;
	struct rng rng;

	rng_seed(&rng, 8);
	histogram_reset(&parts[0]);
	histogram_reset(&parts[1]);
	histogram_reset(&whole);
	for (unsigned int i = 0; i < 1000; i++) {
		uint64_t v = (rng_next(&rng) >> rng_below(&rng, 64)) | 1;

		histogram_add(&parts[i % 3 == 0], v);
		histogram_add(&whole, v);
	}
	histogram_reset(&other);
	histogram_merge(&other, &parts[0]);
	histogram_merge(&other, &parts[1]);
	histogram_reset(&h);
	histogram_merge(&other, &h);
	assert_memory_equal(&other, &whole, sizeof(whole));
}

static void exact_percentiles(void **state)
{
	uint64_t v[] = { 50, 10, 40, 20, 30 };

	assert_int_equal(samples_permille(v, 0, 500), 0);
	assert_int_equal(samples_permille(v, 5, 500), 30);
	assert_int_equal(v[0], 10);
	assert_int_equal(samples_permille(v, 5, 200), 10);
	assert_int_equal(samples_permille(v, 5, 201), 20);
	assert_int_equal(samples_permille(v, 5, 990), 50);
	assert_int_equal(samples_permille(v, 4, 500), 20);
}

static void assert_json(struct json_object *object, const char *text)
{
	assert_non_null(object);
	assert_string_equal(json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN),
			    text);
	json_object_put(object);
}

static void ratios(void **state)
{
	static const struct {
		double value;
		const char *text;
	} cases[] = {
		{ 0, "0.0" }, { -0.0, "0.0" }, { 1, "1.0" }, { 0.5, "0.5" }, { -2.25, "-2.25" },
		{ 1.0 / 3, "0.333333" }, { 123456789.0, "1.23457e+08" }, { 1e-7, "1e-07" },
		{ 100000, "100000.0" }, { NAN, "0.0" }, { INFINITY, "0.0" },
	};
	/* Some installed locale with a comma, where there is one; C otherwise. */
	static const char *const locales[] = { "C", "de_DE.UTF-8", "fr_FR.UTF-8" };

	for (unsigned int l = 0; l < ARRAY_SIZE(locales); l++) {
		if (!setlocale(LC_NUMERIC, locales[l]))
			continue;
		for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++)
			assert_json(stats_json_ratio(cases[i].value), cases[i].text);
	}
	setlocale(LC_NUMERIC, "C");
}

static void histogram_object(void **state)
{
	histogram_reset(&h);
	assert_json(histogram_json(&h), "{\"count\":0,\"p50\":0,\"p90\":0,\"p99\":0,\"max\":0}");
	for (uint64_t v = 1; v <= 60; v++)
		histogram_add(&h, v);
	assert_json(histogram_json(&h),
		    "{\"count\":60,\"p50\":30,\"p90\":54,\"p99\":60,\"max\":60}");
}

static void kernel_object(void **state)
{
	struct kernel_stats k = {
		.name = "vecadd",
		.grid = { 4, 1, 1 },
		.block = { 256, 1, 1 },
		.regs = 10,
		.spill_store_bytes = 8,
		.spill_load_bytes = 12,
		.local_bytes = 16,
		.smem = 64,
		.ctas_per_sm = 6,
		.cycles = 1000,
		.warp_instructions = 320,
		.thread_instructions = 10240,
		.stalls = { 1, 2, 3, 4, 5, 6, 7, 8 },
	};

	assert_json(kernel_stats_json(&k),
		    "{\"name\":\"vecadd\",\"grid\":[4,1,1],\"block\":[256,1,1],\"regs\":10,"
		    "\"spill_store_bytes\":8,\"spill_load_bytes\":12,\"local_bytes\":16,"
		    "\"smem\":64,\"ctas_per_sm\":6,\"cycles\":1000,\"warp_instructions\":320,"
		    "\"thread_instructions\":10240,\"ipc\":10.24,\"stalls\":{\"issued\":1,"
		    "\"pipeline\":2,\"long_latency\":3,\"short_latency\":4,\"ibuffer\":5,"
		    "\"barrier\":6,\"far_fault\":7,\"no_warp\":8}}");
	/* Without time, what needs it is not there. */
	k.functional = true;
	assert_json(kernel_stats_json(&k),
		    "{\"name\":\"vecadd\",\"grid\":[4,1,1],\"block\":[256,1,1],\"regs\":10,"
		    "\"spill_store_bytes\":8,\"spill_load_bytes\":12,\"local_bytes\":16,"
		    "\"smem\":64,\"warp_instructions\":320,\"thread_instructions\":10240}");
	/* A name that fills its field has no NUL. */
	memset(k.name, 'x', sizeof(k.name));
	k.cycles = 0;
	json_object_put(kernel_stats_json(&k));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(small_values_are_exact),
		cmocka_unit_test(one_value),
		cmocka_unit_test(percentiles),
		cmocka_unit_test(merge_is_adding),
		cmocka_unit_test(exact_percentiles),
		cmocka_unit_test(ratios),
		cmocka_unit_test(histogram_object),
		cmocka_unit_test(kernel_object),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
