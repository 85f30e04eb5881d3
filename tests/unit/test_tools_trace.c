// SPDX-License-Identifier: GPL-2.0
/*
 * --trace: what is written can be loaded. Slices of a track nest or follow each other, every flow
 * has both its ends and goes forward in time, and each of its steps is on a slice; what
 * the report counts is there; and a run with it reports what a run without it does.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "output.h"
#include "run.h"
#include "trace.h"

#define DEPTH	8

/* Times in nanoseconds, as exact as the file has them. */
struct slice {
	int pid, tid;
	int64_t begin, end;
	const char *name;
	bool cta;		/* a CTA's: it says where its registers lie */
};

static struct json_object *run(const char *workload, const char *settings, struct trace *trace,
			       char **text)
{
	const struct workload_row *row = workload_find(workload);
	struct json_object *report;
	struct gpuemu_ctx *ctx;
	struct workload w;
	struct target t;
	struct err err;
	int status;

	target_init(&t);
	t.backend = "sim";
	t.trace = trace;
	snprintf(t.lines, sizeof(t.lines), "%s", settings);
	assert_int_equal(target_open(&t, &ctx, &err), 0);
	workload_init(&w, row->ops, 1);
	report = run_workload(&w, row, &t, ctx, &status);
	assert_int_equal(status, 0);
	gpuemu_close(ctx);
	if (text) {
		json_object_object_del(output_at(report, "totals"), "host_seconds");
		*text = strdup(json_object_to_json_string(report));
	}
	return report;
}

/* The trace as it is read back from its file. */
static struct json_object *traced(const char *workload, const char *settings, char **rest)
{
	char path[] = "/tmp/gpuemu-trace-XXXXXX", lines[512];
	struct json_object *report, *trace;
	struct trace to;
	struct err err;
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	snprintf(lines, sizeof(lines), "gpu.trace=100000\n%s", settings);
	assert_int_equal(trace_open(&to, path, &err), 0);
	report = run(workload, lines, &to, NULL);
	assert_int_equal(trace_close(&to, &err), 0);
	assert_false(output_has(report, "trace"));
	json_object_object_del(output_at(report, "totals"), "host_seconds");
	*rest = strdup(json_object_to_json_string(report));
	json_object_put(report);
	trace = json_object_from_file(path);
	unlink(path);
	assert_non_null(trace);
	return trace;
}

static int64_t ns(struct json_object *event, const char *key)
{
	return (int64_t)(output_number(event, key) * 1000 + 0.5);
}

static int number(struct json_object *event, const char *key)
{
	return json_object_get_int(output_at(event, key));
}

static struct slice *slices_of(struct json_object *events, size_t *count)
{
	size_t n = json_object_array_length(events);
	struct slice *slices = calloc(n + 1, sizeof(*slices));

	*count = 0;
	for (size_t i = 0; i < n; i++) {
		struct json_object *e = json_object_array_get_idx(events, i);
		struct slice *s = &slices[*count];

		if (strcmp(output_string(e, "ph"), "X"))
			continue;
		*s = (struct slice){ number(e, "pid"), number(e, "tid"), ns(e, "ts"), 0,
				     output_string(e, "name"), output_has(e, "args.registers") };
		assert_true(s->begin >= 0 && ns(e, "dur") >= 0);
		s->end = s->begin + ns(e, "dur");
		(*count)++;
	}
	return slices;
}

static bool before(const struct slice *a, const struct slice *b)
{
	return a->pid == b->pid && a->tid == b->tid;
}

/* In the order of the file: on each track by begin, inside the one before or behind it. */
static void check_tracks(const struct slice *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct slice *last = NULL;
		int64_t open[DEPTH];
		unsigned int depth = 0;

		for (size_t k = 0; k < i && !last; k++)
			last = before(&s[k], &s[i]) ? &s[k] : NULL;
		/* Each track once, from its first slice. */
		if (last)
			continue;
		for (size_t k = i; k < n; k++) {
			if (!before(&s[k], &s[i]))
				continue;
			if (last)
				assert_true(last->begin <= s[k].begin);
			while (depth && open[depth - 1] <= s[k].begin)
				depth--;
			if (depth && s[k].end > open[depth - 1])
				fail_msg("%s at %lld ns of %d/%d overlaps", s[k].name,
					 (long long)s[k].begin, s[k].pid, s[k].tid);
			assert_true(depth < DEPTH);
			open[depth++] = s[k].end;
			last = &s[k];
		}
	}
}

static bool on_a_slice(const struct slice *s, size_t n, struct json_object *e)
{
	int64_t ts = ns(e, "ts");

	for (size_t i = 0; i < n; i++)
		if (s[i].pid == number(e, "pid") && s[i].tid == number(e, "tid") &&
		    s[i].begin <= ts && ts <= s[i].end)
			return true;
	return false;
}

/* Returns how many there are; *through: how many went through a transfer. */
static unsigned int check_flows(struct json_object *events, const struct slice *s, size_t nslices,
				unsigned int *through)
{
	size_t n = json_object_array_length(events);
	unsigned int flows = 0;

	*through = 0;
	for (size_t i = 0; i < n; i++) {
		struct json_object *e = json_object_array_get_idx(events, i);
		unsigned int steps = 0;
		int64_t last = ns(e, "ts");
		bool ended = false;

		if (strcmp(output_string(e, "ph"), "s"))
			continue;
		flows++;
		assert_true(on_a_slice(s, nslices, e));
		for (size_t k = 0; k < n; k++) {
			struct json_object *o = json_object_array_get_idx(events, k);
			const char *ph = output_string(o, "ph");

			if (k == i || !output_has(o, "id") || number(o, "id") != number(e, "id"))
				continue;
			/* Behind its beginning, one end alone, nothing behind that. */
			assert_true(k > i && !ended && strcmp(ph, "s"));
			assert_true(ns(o, "ts") >= last);
			if (!on_a_slice(s, nslices, o))
				fail_msg("flow %d: no slice at %s", number(o, "id"),
					 json_object_to_json_string(o));
			last = ns(o, "ts");
			ended = !strcmp(ph, "f");
			steps++;
		}
		assert_true(ended);
		*through += steps == 3;
	}
	return flows;
}

static unsigned int count(const struct slice *s, size_t n, const char *name)
{
	unsigned int found = 0;

	for (size_t i = 0; i < n; i++)
		found += !strncmp(s[i].name, name, strlen(name));
	return found;
}

static uint64_t of(struct json_object *o, const char *path)
{
	return json_object_get_uint64(output_at(o, path));
}

static uint64_t ctas(struct json_object *report)
{
	struct json_object *sms = output_at(report, "sms");
	uint64_t sum = 0;

	for (size_t i = 0; i < json_object_array_length(sms); i++)
		sum += of(json_object_array_get_idx(sms, i), "ctas");
	return sum;
}

static void check(const char *workload, const char *settings)
{
	char *plain, *rest;
	struct json_object *report = run(workload, settings, NULL, &plain);
	struct json_object *trace = traced(workload, settings, &rest);
	struct json_object *events = output_at(trace, "traceEvents");
	unsigned int flows, through, longer = 0, placed = 0;
	struct slice *s;
	size_t n;

	assert_string_equal(plain, rest);
	assert_int_equal(of(trace, "dropped"), 0);
	s = slices_of(events, &n);
	check_tracks(s, n);
	flows = check_flows(events, s, n, &through);
	assert_int_equal(count(s, n, "fault batch"), of(report, "paging.batch.raw_faults.count"));
	for (size_t i = 0; i < n; i++)
		placed += s[i].cta;
	assert_int_equal(placed, ctas(report));
	assert_true(flows >= of(report, "paging.far_faults") && flows > 0);
	assert_int_equal(flows, count(s, n, "far fault"));
	/* What came for a fault came over the link. */
	assert_true(through > 0 && count(s, n, "migration") > 0);
	assert_int_equal(count(s, n, "eviction") > 0, of(report, "paging.d2h_bytes") > 0);
	assert_true(count(s, n, "stalled on far faults") > 0);
	/* A page arrives before its walk has ended. */
	for (size_t i = 0; i < n; i++)
		longer += !strcmp(s[i].name, "replay") && s[i].end > s[i].begin;
	assert_true(longer > 0);
	assert_int_equal(count(s, n, "parked") > 0, strstr(settings, "timeslice") != NULL);
	free(s);
	free(plain);
	free(rest);
	json_object_put(trace);
	json_object_put(report);
}

static void on_demand(void **state)
{
	check("stride", "paging.vram=64M\n");
	check("vecadd", "");
}

static void with_evictions(void **state)
{
	check("vecadd", "paging.vram=256K\npaging.prefetch=sequential\n");
}

static void pipelined(void **state)
{
	check("vecadd", "paging.handlers=0\ngpu.sms=2\n");
	check("reduce", "paging.handlers=4\npaging.batch=8\n");
}

/* A CTA is parked while it is resident, which the tracks are checked for. */
static void parked_ctas(void **state)
{
	check("vecadd", "sm.cta=timeslice\nsm.timeslice=300\nsm.ctas=1\ngpu.sms=2\n");
}

static void threads_change_nothing(void **state)
{
	char *one, *two;
	struct json_object *a = traced("vecadd", "gpu.threads=1\n", &one);
	struct json_object *b = traced("vecadd", "gpu.threads=3\n", &two);

	assert_string_equal(one, two);
	assert_string_equal(json_object_to_json_string(a), json_object_to_json_string(b));
	free(one);
	free(two);
	json_object_put(a);
	json_object_put(b);
}

/* What does not fit is counted, and what is there is whole. */
static void bounded(void **state)
{
	struct json_object *report = run("vecadd", "gpu.trace=300\n", NULL, NULL);
	struct json_object *trace = json_tokener_parse(
		json_object_to_json_string(output_at(report, "trace")));
	struct json_object *events = output_at(trace, "traceEvents");
	unsigned int through, plain = 0;
	struct slice *s;
	size_t n;

	assert_true(of(trace, "dropped") > 0);
	s = slices_of(events, &n);
	check_tracks(s, n);
	assert_true(check_flows(events, s, n, &through) > 0);
	/* Names and the link's use come on top of it. */
	for (size_t i = 0; i < json_object_array_length(events); i++) {
		const char *ph = output_string(json_object_array_get_idx(events, i), "ph");

		plain += strcmp(ph, "M") && strcmp(ph, "C");
	}
	assert_true(plain <= 300 + 15);
	free(s);
	json_object_put(trace);
	json_object_put(report);
}

/* What is left of the text, and what went to the file; rest NULL: it is no JSON. */
static void split(const char *text, const char *rest, const char *timeline, uint64_t dropped)
{
	char *written = NULL;
	size_t bytes;
	struct trace trace = { .file = "x", .out = open_memstream(&written, &bytes) };
	struct json_object *o = trace_split(&trace, text);

	assert_int_equal(trace.dropped, dropped);
	/* No complaint about what was dropped in a test's output. */
	trace.dropped = 0;
	assert_int_equal(trace_close(&trace, NULL), *timeline ? 0 : -EPROTO);
	if (rest)
		assert_string_equal(json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN),
				    rest);
	else
		assert_null(o);
	assert_string_equal(written, timeline);
	json_object_put(o);
	free(written);
}

static void splitting(void **state)
{
	struct json_object *o;
	struct trace full = { .file = "/dev/full", .out = fopen("/dev/full", "w") };
	struct err err;

	split("{\"a\":1,\"trace\":{\"dropped\":3,\"traceEvents\":[{\"x\":\"}\\\"]\",\"ts\":0.100}]}}",
	      "{\"a\":1}", "{\"dropped\":3,\"traceEvents\":[{\"x\":\"}\\\"]\",\"ts\":0.100}]}\n", 3);
	split("{\"trace\":[1,2],\"b\":{\"trace\":3,\"dropped\":4}}",
	      "{\"b\":{\"trace\":3,\"dropped\":4}}", "[1,2]\n", 0);
	split("{\"trace\":7,\"c\":1.500000}", "{\"c\":1.500000}", "7\n", 0);
	split("{\"trace\":{\"e\":{\"dropped\":5},\"dropped\":0},\"d\":[null,true,\"\\u00e9\"]}",
	      "{\"d\":[null,true,\"\u00e9\"]}", "{\"e\":{\"dropped\":5},\"dropped\":0}\n", 0);
	split("{\"b\":{\"trace\":3},\"c\":\",\\\"trace\\\":1\"}",
	      "{\"b\":{\"trace\":3},\"c\":\",\\\"trace\\\":1\"}", "", 0);
	split("", NULL, "", 0);
	split("{", NULL, "", 0);
	split("{\"a\":1}}", NULL, "", 0);
	/* Nobody asks for a file: it is one of the members. */
	o = trace_split(NULL, "{\"trace\":[1]}");
	assert_int_equal(json_object_array_length(output_at(o, "trace")), 1);
	json_object_put(o);
	/* What cannot be written is said. */
	json_object_put(trace_split(&full, "{\"trace\":[1]}"));
	assert_int_equal(trace_close(&full, &err), -ENOSPC);
	assert_string_equal(err.text, "cannot write /dev/full: No space left on device");
	assert_int_equal(trace_close(&full, &err), 0);
	assert_int_equal(trace_open(&full, "/no/such/folder/t", &err), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(on_demand),
		cmocka_unit_test(with_evictions),
		cmocka_unit_test(pipelined),
		cmocka_unit_test(parked_ctas),
		cmocka_unit_test(threads_change_nothing),
		cmocka_unit_test(bounded),
		cmocka_unit_test(splitting),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
