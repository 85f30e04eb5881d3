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
	/* The second part has the least of all, the first one the greatest. */
	histogram_add(&parts[1], 0);
	histogram_add(&whole, 0);
	histogram_add(&parts[0], UINT64_MAX);
	histogram_add(&whole, UINT64_MAX);
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

/* Counters with a number of its own in every place. */
static struct gpu_counters numbered(void)
{
	struct gpu_counters c;
	uint64_t n[sizeof(c) / sizeof(uint64_t)];

	for (unsigned int i = 0; i < ARRAY_SIZE(n); i++)
		n[i] = i + 1;
	memcpy(&c, n, sizeof(c));
	return c;
}

static void differences(void **state)
{
	struct gpu_counters c = numbered(), twice = c, d;
	uint64_t n[sizeof(c) / sizeof(uint64_t)];

	stats_add(&twice, &c, sizeof(c));
	gpu_counters_since(&twice, &c, &d);
	/* All but the maximum is the difference. */
	assert_int_equal(d.memory.latency_max, twice.memory.latency_max);
	d.memory.latency_max = c.memory.latency_max;
	memcpy(n, &d, sizeof(d));
	for (unsigned int i = 0; i < ARRAY_SIZE(n); i++)
		assert_int_equal(n[i], i + 1);
}

static void stalls_add_up(void **state)
{
	struct gpu_counters c = { .cycles = 10 };
	struct gpu_spec spec;

	spec_defaults(&spec);
	spec.sms = 3;
	spec.schedulers = 2;
	for (unsigned int i = 0; i < STALLS; i++)
		c.sm.stalls[i] = i + 1;
	/* 1 + .. + 10 is 55. */
	assert_false(stats_stalls_add_up(&c, &spec));
	c.sm.stalls[STALL_NO_WARP] += 5;
	assert_true(stats_stalls_add_up(&c, &spec));
	c.sm.stalls[STALL_ISSUED]++;
	assert_false(stats_stalls_add_up(&c, &spec));
}

static const char *text_of(struct json_object *o, const char *path[])
{
	for (; *path; path++)
		assert_true(json_object_object_get_ex(o, *path, &o));
	return json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN);
}
#define AT(...)	((const char *[]){ __VA_ARGS__, NULL })

static struct gpu_counters small(void)
{
	return (struct gpu_counters){
		.cycles = 100,
		.sm = {
			.cycles = 160, .warps = 320, .schedulable_warps = 80, .ctas = 160,
			.registers = 100 * 2 * 512, .shared_bytes = 100 * 1024,
			.busy = { [UNIT_SP] = 100, [UNIT_SFU] = 20, [UNIT_LDST] = 50 },
			.ldst_instructions = 31, .ldst_stalls = { 1, 2, 3, 4, 5, 6, 7 },
			.lines = 7, .shared_accesses = 8, .shared_conflict_cycles = 9,
			.l1d = { 20, 10, 5, 10, 3, 99 },
			.stalls = { 1, 2, 3, 4, 5, 6, 7, 8 },
		},
		.memory = {
			.l2 = { 90, 30, 60, 30, 2, 1 },
			.dram_reads = 40, .dram_writes = 10, .dram_requests = 50,
			.dram_activates = 10, .dram_precharges = 9,
			.dram_busy = 100, .dram_cycles = 200,
			.icnt_packets = { 11, 12 }, .icnt_flits = { 13, 14 },
			.icnt_blocked = { 15, 16 },
			.latency_sum = 1000, .latency_count = 8, .latency_max = 400,
		},
	};
}

static struct gpu_spec small_spec(void)
{
	struct gpu_spec spec;

	spec_defaults(&spec);
	spec.sms = 2;
	spec.registers = 1024;
	spec.shared_bytes = 2048;
	spec.l2_slices = 6;
	spec.dram_channels = 4;
	return spec;
}

static void memory_object(void **state)
{
	struct gpu_counters c = small();
	struct gpu_spec spec = small_spec();
	struct json_object *o = stats_memory_json(&c, &spec);

	assert_string_equal(text_of(o, AT("global_lines")), "7");
	assert_string_equal(text_of(o, AT("ldst")),
			    "{\"instructions\":31,\"conflicts\":1,\"port\":2,\"lines\":3,\"l1c\":4,"
			    "\"l1d\":5,\"memory\":6,\"pages\":7}");
	assert_string_equal(text_of(o, AT("l1d")),
			    "{\"accesses\":30,\"misses\":15,\"pending_hits\":3,"
			    "\"reservation_fails\":99,\"reads\":20,\"writes\":10,"
			    "\"read_misses\":5,\"write_misses\":10}");
	assert_string_equal(text_of(o, AT("l2", "accesses")), "120");
	assert_false(json_object_object_get_ex(o, "l2_background", NULL));
	assert_string_equal(text_of(o, AT("dram")),
			    "{\"reads\":40,\"writes\":10,\"requests\":50,\"activates\":10,"
			    "\"precharges\":9,\"cycles\":200,\"row_hit_rate\":0.8,"
			    "\"utilization\":0.125}");
	assert_string_equal(text_of(o, AT("icnt")),
			    "{\"packets_to_memory\":11,\"packets_to_sm\":12,"
			    "\"flits_to_memory\":13,\"flits_to_sm\":14,"
			    "\"blocked_to_memory\":15,\"blocked_to_sm\":16}");
	assert_string_equal(text_of(o, AT("latency")),
			    "{\"count\":8,\"mean\":125.0,\"max\":400}");
	assert_string_equal(text_of(o, AT("shared")),
			    "{\"accesses\":8,\"conflict_cycles\":9}");
	json_object_put(o);
	c.memory.l2_background = (struct cache_counters){
		.reads = 20, .writes = 10, .read_misses = 4, .write_misses = 2,
	};
	o = stats_memory_json(&c, &spec);
	assert_string_equal(text_of(o, AT("l2", "accesses")), "120");
	assert_string_equal(text_of(o, AT("l2_background", "accesses")), "30");
	assert_string_equal(text_of(o, AT("l2_background", "misses")), "6");
	json_object_put(o);
}

static void utilization_object(void **state)
{
	struct gpu_counters c = small();
	struct gpu_spec spec = small_spec();

	/* 100 cycles of 2 SMs with 2 SP units: 400 unit cycles. */
	assert_json(stats_utilization_json(&c, &spec),
		    "{\"sp\":0.25,\"sfu\":0.1,\"ldst\":0.25,\"registers\":0.5,"
		    "\"shared\":0.25,\"l1d\":0.15,\"l2\":0.2,\"dram\":0.125}");
	spec.units_dp = 1;
	c.sm.busy[UNIT_DP] = 2;
	assert_json(stats_utilization_json(&c, &spec),
		    "{\"sp\":0.25,\"sfu\":0.1,\"dp\":0.01,\"ldst\":0.25,\"registers\":0.5,"
		    "\"shared\":0.25,\"l1d\":0.15,\"l2\":0.2,\"dram\":0.125}");
	memset(&c, 0, sizeof(c));
	spec = small_spec();
	assert_json(stats_utilization_json(&c, &spec),
		    "{\"sp\":0.0,\"sfu\":0.0,\"ldst\":0.0,\"registers\":0.0,"
		    "\"shared\":0.0,\"l1d\":0.0,\"l2\":0.0,\"dram\":0.0}");
}

static void sm_objects(void **state)
{
	const struct sm_counters sms[2] = {
		{ .retired_ctas = 5, .cycles = 10, .warps = 25, .warp_instructions = 7,
		  .thread_instructions = 99, .l1i = { .reads = 3 },
		  .parked_ctas = 6,
		  .stalls = { [STALL_ISSUED] = 1, [STALL_SWAPPED] = 3, [STALL_HELD] = 4 } },
	};
	struct gpu_spec spec = small_spec();
	struct json_object *a = stats_sms_json(sms, 2, &spec);
	struct json_object *first = json_object_array_get_idx(a, 0);

	assert_int_equal(json_object_array_length(a), 2);
	assert_string_equal(text_of(first, AT("ctas")), "5");
	assert_string_equal(text_of(first, AT("busy_cycles")), "10");
	assert_string_equal(text_of(first, AT("warps")),
			    "{\"resident\":2.5,\"schedulable\":0.0,\"ctas\":0.0}");
	assert_string_equal(text_of(first, AT("stalls", "issued")), "1");
	assert_string_equal(text_of(first, AT("l1i", "accesses")), "3");
	assert_string_equal(text_of(json_object_array_get_idx(a, 1), AT("ctas")), "0");
	/* CTAs that were parked, only where some were. */
	assert_string_equal(text_of(first, AT("parked_ctas")), "6");
	assert_false(json_object_object_get_ex(json_object_array_get_idx(a, 1), "parked_ctas",
					       NULL));
	/* What only a mechanism can be the reason for is there with one. */
	assert_false(json_object_object_get_ex(json_object_object_get(first, "stalls"),
					       "swapped_out", NULL));
	json_object_put(a);
	strcpy(spec.cta, "timeslice");
	a = stats_sms_json(sms, 2, &spec);
	first = json_object_array_get_idx(a, 0);
	assert_string_equal(text_of(first, AT("stalls", "swapped_out")), "3");
	assert_string_equal(text_of(first, AT("stalls", "held")), "4");
	json_object_put(a);
}

static void background_object(void **state)
{
	struct sm_counters sm = { 0 };

	assert_null(stats_background_json(&sm));
	sm.background = (struct background_counters){
		.jobs = 1, .bytes = 2, .shared_bytes = 3, .shared_cycles = 4, .shared_waits = 5,
		.sectors = { 6, 7 }, .memory_waits = 8, .l1_hits = 9, .l1_misses = 10,
	};
	assert_json(stats_background_json(&sm),
		    "{\"jobs\":1,\"bytes\":2,\"shared_bytes\":3,\"shared_cycles\":4,"
		    "\"shared_wait_cycles\":5,\"sectors_read\":6,\"sectors_written\":7,"
		    "\"memory_wait_cycles\":8,\"l1d_hits\":9,\"l1d_misses\":10}");
}

static void kernel_object(void **state)
{
	struct gpu_spec spec = small_spec();
	struct kernel_stats k = {
		.name = "vecadd",
		.grid = { 4, 1, 1 },
		.block = { 256, 1, 1 },
		.regs = 10,
		.spill_store_bytes = 8,
		.spill_load_bytes = 12,
		.local_bytes = 16,
		.smem = 64,
		.stream = 2,
		.ctas_per_sm = 6,
		.start = 5,
		.cycles = 1000,
		.warp_instructions = 320,
		.thread_instructions = 10240,
		.gpu = small(),
	};
	struct json_object *o = kernel_stats_json(&k, &spec);

	assert_string_equal(text_of(o, AT("name")), "\"vecadd\"");
	assert_string_equal(text_of(o, AT("grid")), "[4,1,1]");
	assert_string_equal(text_of(o, AT("ctas_per_sm")), "6");
	assert_string_equal(text_of(o, AT("start")), "5");
	assert_string_equal(text_of(o, AT("cycles")), "1000");
	assert_string_equal(text_of(o, AT("ipc")), "10.24");
	assert_string_equal(text_of(o, AT("stalls")),
			    "{\"issued\":1,\"pipeline\":2,\"long_latency\":3,"
			    "\"short_latency\":4,\"ibuffer\":5,\"barrier\":6,"
			    "\"far_fault\":7,\"no_warp\":8}");
	assert_string_equal(text_of(o, AT("warps")),
			    "{\"resident\":2.0,\"schedulable\":0.5,\"ctas\":1.0}");
	assert_string_equal(text_of(o, AT("utilization", "sp")), "0.25");
	assert_string_equal(text_of(o, AT("memory", "l2", "misses")), "90");
	/* A maximum is of the session. */
	assert_string_equal(text_of(o, AT("memory", "latency")), "{\"count\":8,\"mean\":125.0}");
	json_object_put(o);
	/* Without time, what needs it is not there. */
	k.functional = true;
	assert_json(kernel_stats_json(&k, &spec),
		    "{\"name\":\"vecadd\",\"grid\":[4,1,1],\"block\":[256,1,1],\"regs\":10,"
		    "\"spill_store_bytes\":8,\"spill_load_bytes\":12,\"local_bytes\":16,"
		    "\"smem\":64,\"stream\":2,\"warp_instructions\":320,\"thread_instructions\":10240}");
	/* A name that fills its field has no NUL. */
	memset(k.name, 'x', sizeof(k.name));
	k.cycles = 0;
	json_object_put(kernel_stats_json(&k, &spec));
}

/* --- over time --------------------------------------------------------------- */

static struct gpu_state stands;

static size_t column(struct json_object *o, const char *name)
{
	struct json_object *columns;

	assert_true(json_object_object_get_ex(o, "columns", &columns));
	for (size_t i = 0; i < json_object_array_length(columns); i++)
		if (!strcmp(json_object_get_string(json_object_array_get_idx(columns, i)), name))
			return i;
	fail_msg("no column %s", name);
	return 0;
}

static double cell(struct json_object *o, size_t row, const char *name)
{
	struct json_object *rows;

	assert_true(json_object_object_get_ex(o, "rows", &rows));
	rows = json_object_array_get_idx(rows, row);
	return json_object_get_double(json_object_array_get_idx(rows, column(o, name)));
}

static void rows_are_differences(void **state)
{
	struct gpu_spec spec = small_spec();
	struct samples s = { 0 };
	struct gpu_counters c = { 0 };
	struct json_object *o, *rows;

	samples_reset(&s, 1000, 50);
	assert_int_equal(s.due, 1050);
	/* Two whole intervals, one that is late, and a rest. */
	for (unsigned int i = 1; i <= 4; i++) {
		static const uint64_t ends[] = { 0, 1050, 2050, 4100, 4200 };

		c.cycles += ends[i] - (i == 1 ? 50 : ends[i - 1]);
		c.sm.thread_instructions += 500 * i;
		c.sm.stalls[STALL_FAR_FAULT] += i;
		c.sm.stalls[STALL_SWAPPED] += 2 * i;
		c.sm.stalls[STALL_HELD] += 3 * i;
		c.sm.parked_ctas += i;
		c.sm.background.bytes += 64 * i;
		/* Half of the cycles of two SMs are shared in the third row, by none in the others. */
		c.fragmentation.cycles += i == 3 ? 2050 : 0;
		c.fragmentation.registers_free += i == 3 ? 2050 * 100 : 0;
		c.fragmentation.registers_hole += i == 3 ? 2050 * 60 : 0;
		c.fragmentation.shared_free += i == 3 ? 2050 * 4000 : 0;
		c.fragmentation.shared_hole += i == 3 ? 2050 * 3000 : 0;
		c.fragmentation.refused_cycles += i == 3 ? 17 : 0;
		c.memory.dram_reads += 10 * i;
		c.paging.h2d_bytes += 4096 * i;
		c.paging.h2d_busy += 250;
		c.paging.far_wait_cycles += 7;
		stands = (struct gpu_state){ .fault_buffer = i, .resident_pages = 100 * i };
		assert_int_equal(samples_take(&s, ends[i], &c, &stands), 0);
		assert_int_equal(s.due, i == 1 ? 2050 : i == 2 ? 3050 : 5050);
	}
	/* Nothing has happened since: no row. */
	assert_int_equal(samples_take(&s, 4200, &c, &stands), 0);
	o = samples_json(&s, &spec);
	assert_true(json_object_object_get_ex(o, "rows", &rows));
	assert_int_equal(json_object_array_length(rows), 4);
	assert_true(cell(o, 0, "cycle") == 1050 && cell(o, 0, "cycles") == 1000);
	assert_true(cell(o, 2, "cycle") == 4100 && cell(o, 2, "cycles") == 2050);
	assert_true(cell(o, 3, "cycles") == 100 && cell(o, 3, "thread_instructions") == 2000);
	assert_true(cell(o, 1, "ipc") == 1.0);
	assert_true(cell(o, 2, "far_fault") == 3 && cell(o, 2, "dram_reads") == 30);
	assert_true(cell(o, 2, "swapped_out") == 6 && cell(o, 2, "held") == 9);
	assert_true(cell(o, 3, "parked_ctas") == 4 && cell(o, 3, "background_bytes") == 256);
	assert_true(cell(o, 2, "registers_free") == 100 && cell(o, 2, "registers_hole") == 60);
	assert_true(cell(o, 2, "shared_free") == 4000 && cell(o, 2, "shared_hole") == 3000);
	assert_true(cell(o, 2, "refused_cycles") == 17 && cell(o, 3, "refused_cycles") == 0);
	assert_true(cell(o, 1, "registers_free") == 0 && cell(o, 3, "shared_hole") == 0);
	assert_true(cell(o, 1, "h2d_bytes") == 8192 && cell(o, 1, "h2d_busy") == 0.25);
	assert_true(cell(o, 1, "d2h_busy") == 0 && cell(o, 1, "far_wait_cycles") == 7);
	/* How it stood at the row's end, no difference. */
	assert_true(cell(o, 2, "fault_buffer") == 3 && cell(o, 2, "resident_pages") == 300);
	assert_string_equal(text_of(o, AT("dropped")), "0");
	assert_string_equal(text_of(o, AT("interval")), "1000");
	json_object_put(o);
	/* Anew. */
	samples_reset(&s, 0, 0);
	assert_true(s.due == UINT64_MAX);
	assert_int_equal(samples_take(&s, 9000, &c, &stands), 0);
	assert_int_equal(s.count, 0);
	samples_free(&s);
}

/* A kernel's rows say whose they are; what only the GPU has is null in them. */
static void kernels_have_rows(void **state)
{
	const struct kernel_stats k = { .name = "k", .stream = 3, .start = 70 };
	struct gpu_counters c = { .cycles = 100, .sm.thread_instructions = 250 };
	struct gpu_spec spec = small_spec();
	struct samples s = { 0 };
	struct json_object *o, *kernels, *row;

	samples_reset(&s, 100, 0);
	o = samples_json(&s, &spec);
	assert_false(json_object_object_get_ex(o, "kernels", NULL));
	json_object_put(o);
	assert_int_equal(samples_take_kernel(&s, 200, &c, &k), 0);
	o = samples_json(&s, &spec);
	assert_true(json_object_object_get_ex(o, "kernels", &kernels));
	assert_true(cell(kernels, 0, "cycle") == 200 && cell(kernels, 0, "ipc") == 2.5);
	assert_true(cell(kernels, 0, "stream") == 3 && cell(kernels, 0, "start") == 70);
	assert_true(json_object_object_get_ex(kernels, "rows", &row));
	row = json_object_array_get_idx(row, 0);
	assert_null(json_object_array_get_idx(row, column(kernels, "fault_buffer")));
	assert_null(json_object_array_get_idx(row, column(kernels, "shared_hole")));
	assert_string_equal(json_object_get_string(
		json_object_array_get_idx(row, column(kernels, "kernel"))), "k");
	json_object_put(o);
	samples_reset(&s, 100, 0);
	assert_int_equal(s.nkernels, 0);
	samples_free(&s);
}

static void rows_are_bounded(void **state)
{
	const struct kernel_stats k = { .name = "k" };
	struct samples s = { 0 };
	struct gpu_counters c = { 0 };

	samples_reset(&s, 1, 0);
	for (unsigned int i = 0; i < SAMPLES_MAX + 2; i++)
		assert_int_equal(samples_take_kernel(&s, i, &c, &k), 0);
	assert_int_equal(s.nkernels, SAMPLES_MAX);
	assert_int_equal(s.dropped, 2);
	samples_reset(&s, 1, 0);
	for (c.cycles = 1; c.cycles <= SAMPLES_MAX + 3; c.cycles++)
		assert_int_equal(samples_take(&s, c.cycles, &c, &stands), 0);
	assert_int_equal(s.count, SAMPLES_MAX);
	assert_int_equal(s.dropped, 3);
	samples_free(&s);
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
		cmocka_unit_test(differences),
		cmocka_unit_test(stalls_add_up),
		cmocka_unit_test(memory_object),
		cmocka_unit_test(utilization_object),
		cmocka_unit_test(sm_objects),
		cmocka_unit_test(background_object),
		cmocka_unit_test(kernel_object),
		cmocka_unit_test(rows_are_differences),
		cmocka_unit_test(kernels_have_rows),
		cmocka_unit_test(rows_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
