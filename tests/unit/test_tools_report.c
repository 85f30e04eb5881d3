// SPDX-License-Identifier: GPL-2.0
/*
 * The reports of a run and of a bench have the members that gpuemu-json(7)
 * documents, of the right types, and numbers that agree with each other. Each
 * workload is really run, on backend sim.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bench.h"
#include "output.h"
#include "report.h"
#include "run.h"

struct member {
	const char *path;
	enum json_type type;
};

/* Every one is a row of design and man page; absent is a failure here. */
static const struct member run_members[] = {
	{ "version", json_type_int },
	{ "config", json_type_string },
	{ "backend", json_type_string },
	{ "clock", json_type_string },
	{ "host.kernel", json_type_string },
	{ "host.virt", json_type_string },
	{ "workload.name", json_type_string },
	{ "workload.verified", json_type_boolean },
	{ "workload.options", json_type_object },
	{ "workload.footprint_bytes", json_type_int },
	{ "kernels", json_type_array },
	{ "totals.cycles", json_type_int },
	{ "totals.warp_instructions", json_type_int },
	{ "totals.thread_instructions", json_type_int },
	{ "totals.host_seconds", json_type_double },
	{ "memory.global_lines", json_type_int },
	{ "memory.l1i.accesses", json_type_int },
	{ "memory.l1c.accesses", json_type_int },
	{ "memory.l1d.accesses", json_type_int },
	{ "memory.l1d.misses", json_type_int },
	{ "memory.l1d.pending_hits", json_type_int },
	{ "memory.l1d.reservation_fails", json_type_int },
	{ "memory.l2.accesses", json_type_int },
	{ "memory.l2.read_misses", json_type_int },
	{ "memory.l2.write_misses", json_type_int },
	{ "memory.dram.reads", json_type_int },
	{ "memory.dram.writes", json_type_int },
	{ "memory.dram.row_hit_rate", json_type_double },
	{ "memory.dram.utilization", json_type_double },
	{ "memory.icnt.packets_to_memory", json_type_int },
	{ "memory.icnt.flits_to_sm", json_type_int },
	{ "memory.latency.mean", json_type_double },
	{ "memory.latency.max", json_type_int },
	{ "memory.shared.accesses", json_type_int },
	{ "memory.shared.conflict_cycles", json_type_int },
	{ "memory.tlb.hits", json_type_int },
	{ "memory.walks", json_type_int },
	{ "utilization.sp", json_type_double },
	{ "utilization.sfu", json_type_double },
	{ "utilization.ldst", json_type_double },
	{ "utilization.registers", json_type_double },
	{ "utilization.shared", json_type_double },
	{ "utilization.l1d", json_type_double },
	{ "utilization.l2", json_type_double },
	{ "utilization.dram", json_type_double },
	{ "sms", json_type_array },
	{ "paging.far_faults", json_type_int },
	{ "paging.batches", json_type_int },
	{ "paging.replays", json_type_int },
	{ "paging.nacks", json_type_int },
	{ "paging.prefetched_pages", json_type_int },
	{ "paging.prefetch_used_pages", json_type_int },
	{ "paging.evicted_pages", json_type_int },
	{ "paging.h2d_bytes", json_type_int },
	{ "paging.d2h_bytes", json_type_int },
	{ "paging.link_utilization", json_type_double },
	{ "paging.latency_ns.count", json_type_int },
	{ "paging.latency_ns.p50", json_type_int },
	{ "paging.latency_ns.p90", json_type_int },
	{ "paging.latency_ns.p99", json_type_int },
	{ "paging.latency_ns.max", json_type_int },
	{ "paging.stages_ns", json_type_object },
	{ "paging.latency_ns.mean", json_type_double },
	{ "paging.latency_ns.buckets", json_type_array },
	{ "paging.raw_faults", json_type_int },
	{ "paging.duplicate_faults", json_type_int },
	{ "paging.inflight_faults", json_type_int },
	{ "paging.resident_pages", json_type_int },
	{ "paging.busy_ns", json_type_int },
	{ "paging.link.h2d_transfers", json_type_int },
	{ "paging.link.d2h_busy_ns", json_type_int },
	{ "paging.link.h2d_busy", json_type_double },
	{ "paging.batch.raw_faults.buckets", json_type_array },
	{ "paging.batch.far_faults.mean", json_type_double },
	{ "paging.batch.blocks.max", json_type_int },
	{ "paging.batch.fault_buffer.p50", json_type_int },
	{ "paging.far_wait_cycles.count", json_type_int },
	{ "paging.far_wait_cycles.sum", json_type_int },
	{ "paging.prefetch.policy", json_type_string },
	{ "paging.prefetch.accuracy", json_type_double },
	{ "paging.prefetch.coverage", json_type_double },
	{ "paging.prefetch.timeliness", json_type_double },
	{ "paging.prefetch.pollution", json_type_double },
	{ "paging.prefetch.late_pages", json_type_int },
	{ "paging.prefetch.unused_evicted_pages", json_type_int },
	{ "paging.prefetch.refused_pages", json_type_int },
	{ "paging.prefetch.counters", json_type_object },
	{ "paging.evict.policy", json_type_string },
	{ "paging.evict.pre_evicted_pages", json_type_int },
	{ "paging.evict.returned_pages", json_type_int },
	{ "paging.evict.thrashing_pages", json_type_int },
	{ "paging.evict.counters", json_type_object },
	{ "memory.walk_cycles.mean", json_type_double },
	{ "memory.pwc.hits", json_type_int },
	{ "memory.pte_reads", json_type_int },
};

static const struct member kernel_members[] = {
	{ "name", json_type_string },
	{ "grid", json_type_array },
	{ "block", json_type_array },
	{ "regs", json_type_int },
	{ "smem", json_type_int },
	{ "ctas_per_sm", json_type_int },
	{ "stream", json_type_int },
	{ "start", json_type_int },
	{ "cycles", json_type_int },
	{ "warp_instructions", json_type_int },
	{ "thread_instructions", json_type_int },
	{ "ipc", json_type_double },
	{ "stalls.issued", json_type_int },
	{ "stalls.pipeline", json_type_int },
	{ "stalls.long_latency", json_type_int },
	{ "stalls.short_latency", json_type_int },
	{ "stalls.ibuffer", json_type_int },
	{ "stalls.barrier", json_type_int },
	{ "stalls.far_fault", json_type_int },
	{ "stalls.no_warp", json_type_int },
	{ "warps.resident", json_type_double },
	{ "warps.schedulable", json_type_double },
	{ "utilization.sp", json_type_double },
	{ "memory.l1d.accesses", json_type_int },
	{ "memory.dram.reads", json_type_int },
	{ "memory.latency.mean", json_type_double },
	{ "paging.far_faults", json_type_int },
	{ "paging.far_waits", json_type_int },
	{ "paging.far_wait_cycles", json_type_int },
	{ "paging.h2d_bytes", json_type_int },
	{ "paging.h2d_busy", json_type_double },
};

static const struct member fault_members[] = {
	{ "bench", json_type_string },
	{ "host.kernel", json_type_string },
	{ "far_fault_ns.count", json_type_int },
	{ "far_fault_ns.p50", json_type_int },
	{ "far_fault_ns.p90", json_type_int },
	{ "far_fault_ns.p99", json_type_int },
	{ "far_fault_ns.max", json_type_int },
	{ "end_to_end_ns.count", json_type_int },
	{ "end_to_end_ns.p50", json_type_int },
	{ "stages_ns.raised_to_fetched", json_type_int },
	{ "stages_ns.fetched_to_committed", json_type_int },
	{ "stages_ns.evict", json_type_int },
	{ "stages_ns.unmap", json_type_int },
	{ "stages_ns.copy", json_type_int },
	{ "stages_ns.map", json_type_int },
	{ "stages_ns.replay", json_type_int },
	{ "yardsticks_ns.minor_fault", json_type_int },
	{ "yardsticks_ns.pipe_rtt", json_type_int },
	{ "yardsticks_ns.memcpy_4k", json_type_int },
	{ "placements_ns.pipe_rtt.scheduled", json_type_int },
	{ "placements_ns.pipe_rtt.one_cpu", json_type_int },
};

static void check_members(struct json_object *o, const struct member *m, size_t n,
			  const char *whose)
{
	for (size_t i = 0; i < n; i++) {
		struct json_object *value = output_at(o, m[i].path);

		if (!value)
			fail_msg("%s: no %s", whose, m[i].path);
		if (!json_object_is_type(value, m[i].type))
			fail_msg("%s: %s is a %s, should be a %s", whose, m[i].path,
				 json_type_to_name(json_object_get_type(value)),
				 json_type_to_name(m[i].type));
	}
}

static uint64_t number(struct json_object *o, const char *path)
{
	return json_object_get_uint64(output_at(o, path));
}

static struct gpuemu_ctx *open_sim(struct target *t, const char *vram)
{
	struct gpuemu_ctx *ctx;
	struct err err;

	target_init(t);
	t->backend = "sim";
	if (vram && target_set(t, "paging.vram", vram, &err))
		fail_msg("%s", err.text);
	if (target_open(t, &ctx, &err))
		fail_msg("%s", err.text);
	return ctx;
}

/* Every share is one, and the SMs' own figures make up the whole GPU's. */
static void check_sms(struct json_object *report, const struct gpu_spec *spec)
{
	static const char *const sums[][2] = {
		{ "warp_instructions", "totals.warp_instructions" },
		{ "thread_instructions", "totals.thread_instructions" },
		{ "l1d.accesses", "memory.l1d.accesses" },
		{ "l1i.accesses", "memory.l1i.accesses" },
		{ "l1c.misses", "memory.l1c.misses" },
		{ "shared.accesses", "memory.shared.accesses" },
	};
	struct json_object *sms = output_at(report, "sms");

	assert_int_equal(json_object_array_length(sms), spec->sms);
	for (size_t i = 0; i < ARRAY_SIZE(sums); i++) {
		uint64_t sum = 0;

		for (size_t j = 0; j < spec->sms; j++)
			sum += number(json_object_array_get_idx(sms, j), sums[i][0]);
		assert_int_equal(sum, number(report, sums[i][1]));
	}
	json_object_object_foreach(output_at(report, "utilization"), key, value) {
		double share = json_object_get_double(value);

		if (!(share >= 0 && share <= 1))
			fail_msg("utilization.%s is %g", key, share);
	}
}

/* Where each scheduler's cycles went: all of them are there. */
static void check_stalls(struct json_object *kernel, const struct gpu_spec *spec)
{
	uint64_t sum = 0;

	json_object_object_foreach(output_at(kernel, "stalls"), key, value) {
		(void)key;
		sum += json_object_get_uint64(value);
	}
	assert_int_equal(sum, number(kernel, "cycles") * spec->sms * spec->schedulers);
}

static void check_kernels(struct json_object *report, const char *name,
			  const struct gpu_spec *spec)
{
	struct json_object *kernels = output_at(report, "kernels");
	uint64_t warp = 0, thread = 0;
	size_t n = json_object_array_length(kernels);

	assert_true(n > 0);
	for (size_t i = 0; i < n; i++) {
		struct json_object *k = json_object_array_get_idx(kernels, i);

		check_members(k, kernel_members, ARRAY_SIZE(kernel_members), name);
		assert_int_equal(json_object_array_length(output_at(k, "grid")), 3);
		assert_true(number(k, "cycles") > 0);
		warp += number(k, "warp_instructions");
		thread += number(k, "thread_instructions");
		check_stalls(k, spec);
	}
	assert_int_equal(number(report, "totals.warp_instructions"), warp);
	assert_int_equal(number(report, "totals.thread_instructions"), thread);
}

/* Its buckets are all that it counted. */
static void check_distribution(struct json_object *report, const char *path)
{
	struct json_object *d = output_at(report, path), *buckets = output_at(d, "buckets");
	uint64_t sum = 0, last = 0;

	for (size_t i = 0; i < json_object_array_length(buckets); i++) {
		struct json_object *b = json_object_array_get_idx(buckets, i);
		uint64_t most = json_object_get_uint64(json_object_array_get_idx(b, 0));

		assert_true(!i || most > last);
		last = most;
		sum += json_object_get_uint64(json_object_array_get_idx(b, 1));
	}
	if (sum != number(d, "count") || last != number(d, "max"))
		fail_msg("%s: the buckets are not the whole", path);
	assert_true(output_number(d, "mean") <= (double)last);
}

/* What is counted in two places is the same in both. */
static void check_paging(struct json_object *report)
{
	struct json_object *kernels = output_at(report, "kernels");
	uint64_t waits = 0, cycles = 0, bytes = 0, faults = 0;

	for (size_t i = 0; i < json_object_array_length(kernels); i++) {
		struct json_object *k = json_object_array_get_idx(kernels, i);

		waits += number(k, "paging.far_waits");
		cycles += number(k, "paging.far_wait_cycles");
		bytes += number(k, "paging.h2d_bytes");
		faults += number(k, "paging.far_faults");
	}
	assert_true(waits > 0);
	assert_int_equal(waits, number(report, "paging.far_wait_cycles.count"));
	assert_int_equal(cycles, number(report, "paging.far_wait_cycles.sum"));
	assert_int_equal(bytes, number(report, "paging.h2d_bytes"));
	assert_int_equal(faults, number(report, "paging.far_faults"));
	assert_int_equal(number(report, "paging.batch.raw_faults.count"),
			 number(report, "paging.batches"));
	assert_true(number(report, "paging.raw_faults") >=
		    number(report, "paging.far_faults") + number(report, "paging.duplicate_faults"));
	check_distribution(report, "paging.latency_ns");
	check_distribution(report, "paging.far_wait_cycles");
	check_distribution(report, "paging.batch.raw_faults");
	check_distribution(report, "paging.batch.far_faults");
	check_distribution(report, "paging.batch.blocks");
	check_distribution(report, "paging.batch.fault_buffer");
	check_distribution(report, "memory.walk_cycles");
	assert_true(output_number(report, "paging.link.h2d_busy") <= 1);
}

static void runs_report_all_members(void **state)
{
	const struct workload_row *row;

	for (unsigned int n = 0; (row = workload_row(n)); n++) {
		struct json_object *report;
		struct gpuemu_ctx *ctx;
		struct workload w;
		struct target t;
		struct err err;
		int status;

		ctx = open_sim(&t, NULL);
		workload_init(&w, row->ops, t.seed);
		assert_int_equal(workload_set(&w, "size=tiny", &err), 0);
		report = run_workload(&w, row, &t, ctx, &status);
		if (status)
			fail_msg("%s: %s", row->ops->name, w.err.text);
		check_members(report, run_members, ARRAY_SIZE(run_members), row->ops->name);
		assert_string_equal(output_string(report, "workload.name"), row->ops->name);
		assert_string_equal(output_string(report, "backend"), "sim");
		assert_string_equal(output_string(report, "clock"), "virtual");
		assert_true(json_object_get_boolean(output_at(report, "workload.verified")));
		check_kernels(report, row->ops->name, &t.spec);
		check_sms(report, &t.spec);
		check_paging(report);
		/* Each page came once: with room for all of them none comes twice. */
		assert_int_equal(number(report, "paging.far_faults") * PAGE_BYTES,
				 number(report, "paging.h2d_bytes"));
		assert_int_equal(number(report, "paging.far_faults"),
				 number(report, "paging.latency_ns.count"));
		assert_int_equal(number(report, "paging.evicted_pages"), 0);
		json_object_put(report);
		gpuemu_close(ctx);
	}
}

/* All that the text says is taken from the JSON; nothing of it is lost on the way. */
static void text_says_what_the_json_does(void **state)
{
	const struct workload_row *row = workload_find("vecadd");
	char *text = NULL, number_text[32];
	struct json_object *report;
	struct gpuemu_ctx *ctx;
	struct workload w;
	struct target t;
	size_t bytes;
	FILE *out;
	int status;

	ctx = open_sim(&t, "256K");
	workload_init(&w, row->ops, t.seed);
	report = run_workload(&w, row, &t, ctx, &status);
	assert_int_equal(status, 0);
	out = open_memstream(&text, &bytes);
	report_text(out, report);
	fclose(out);
	assert_non_null(strstr(text, "vecadd n=65536 block=256: verified"));
	assert_true(number(report, "paging.evicted_pages") > 0);
	snprintf(number_text, sizeof(number_text), "evicted %llu pages",
		 (unsigned long long)number(report, "paging.evicted_pages"));
	assert_non_null(strstr(text, number_text));
	snprintf(number_text, sizeof(number_text), " %llu ",
		 (unsigned long long)number(report, "totals.warp_instructions"));
	assert_non_null(strstr(text, number_text));
	free(text);
	json_object_put(report);
	gpuemu_close(ctx);
}

/* A launch that fails is reported, not verified, and says why. */
static void failed_runs_say_so(void **state)
{
	const struct workload_row *row = workload_find("vecadd");
	struct json_object *report;
	struct gpuemu_ctx *ctx;
	struct workload w;
	struct target t;
	struct err err;
	int status;

	ctx = open_sim(&t, NULL);
	workload_init(&w, row->ops, t.seed);
	/* workload_set() refuses it before the launch does. */
	assert_int_equal(workload_set(&w, "block=2048", &err), -ERANGE);
	for (unsigned int i = 0; row->ops->options[i].key; i++)
		if (!strcmp(row->ops->options[i].key, "block"))
			w.option[i] = 2048;
	report = run_workload(&w, row, &t, ctx, &status);
	assert_int_equal(status, -EINVAL);
	assert_non_null(report);
	assert_false(json_object_get_boolean(output_at(report, "workload.verified")));
	assert_non_null(strstr(output_string(report, "workload.error"), "vecadd"));
	assert_non_null(strstr(output_string(report, "workload.error"), "2048"));
	json_object_put(report);
	gpuemu_close(ctx);
}

static void bench_fault_reports_all_members(void **state)
{
	const struct bench *bench = NULL;
	struct json_object *report = json_object_new_object();
	struct bench_request r = { .count = 300, .batch = 1 };
	struct err err = { "" };
	struct target t;

	for (unsigned int n = 0; bench_row(n); n++)
		if (!strcmp(bench_row(n)->name, "fault"))
			bench = bench_row(n);
	assert_non_null(bench);
	r.ctx = open_sim(&t, NULL);
	json_object_object_add(report, "bench", json_object_new_string("fault"));
	json_object_object_add(report, "host", json_tokener_parse("{\"kernel\":\"k\"}"));
	if (bench->measure(&r, report, &err))
		fail_msg("%s", err.text);
	check_members(report, fault_members, ARRAY_SIZE(fault_members), "bench fault");
	assert_int_equal(number(report, "far_fault_ns.count"), 300);
	/* sim: 20 us a fault, and its page over the link. */
	assert_in_range(number(report, "far_fault_ns.p50"), 20000, 21000);
	/* Configured times have no ratio to measured ones. */
	assert_false(output_has(report, "ratio_uffd"));
	assert_false(output_has(report, "migrate"));
	json_object_put(report);
	gpuemu_close(r.ctx);
}

static void numbers_for_people(void **state)
{
	char text[24];

	assert_string_equal(output_ns(text, 0), "0 ns");
	assert_string_equal(output_ns(text, 999), "999 ns");
	assert_string_equal(output_ns(text, 1000), "1.00 us");
	assert_string_equal(output_ns(text, 31250), "31.2 us");
	assert_string_equal(output_ns(text, 345000), "345 us");
	assert_string_equal(output_ns(text, 1234567), "1.23 ms");
	assert_string_equal(output_ns(text, 99.9e9), "99.9 s");
	assert_string_equal(output_bytes(text, 4096), "4.00 KiB");
	assert_string_equal(output_bytes(text, 12), "12 bytes");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_for_people),
		cmocka_unit_test(runs_report_all_members),
		cmocka_unit_test(text_says_what_the_json_does),
		cmocka_unit_test(failed_runs_say_so),
		cmocka_unit_test(bench_fault_reports_all_members),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
