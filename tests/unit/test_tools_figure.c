// SPDX-License-Identifier: GPL-2.0
/*
 * Figures: the same figure is the same script, every value that was given is in it, names
 * cannot leave their quotes; reports become the series that they have.
 */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "plot.h"

static struct figure bars(void)
{
	struct figure f = { .kind = FIGURE_BARS, .title = "it's a title", .xlabel = "",
			    .ylabel = "y" };

	figure_series(&f, "one");
	figure_series(&f, "t'wo");
	figure_label(&f, "a \"b\"");
	figure_label(&f, "c");
	figure_point(&f, 0, 0, 1.5);
	figure_point(&f, 0, 1, 2);
	figure_point(&f, 1, 0, (double)NAN);
	figure_point(&f, 1, 1, 1e9);
	figure_mark(&f, "paper", 3.6);
	return f;
}

static void a_script_is_whole_and_the_same(void **state)
{
	struct figure f = bars(), g = bars();
	char *a = figure_script(&f, "x.svg"), *b = figure_script(&g, "x.svg");

	assert_non_null(a);
	assert_string_equal(a, b);
	assert_non_null(strstr(a, "set terminal svg"));
	assert_non_null(strstr(a, "set output 'x.svg'\n"));
	assert_non_null(strstr(a, "set title 'it''s a title'\n"));
	assert_non_null(strstr(a, "\"a 'b'\" 1.5 NaN\n\"c\" 2 1e+09\nEOD\n"));
	assert_non_null(strstr(a, "title 't''wo'"));
	assert_non_null(strstr(a, "3.6 with lines"));
	assert_null(strstr(a, "stacked"));
	free(a);
	free(b);
	/* Another value is another script. */
	g.series[0].y[0] = 1.6;
	a = figure_script(&f, NULL);
	b = figure_script(&g, NULL);
	assert_string_not_equal(a, b);
	assert_non_null(strstr(a, "set terminal dumb"));
	assert_null(strstr(a, "set output"));
	free(a);
	free(b);
	f.kind = FIGURE_STACKED;
	a = figure_script(&f, "x.gp");
	assert_non_null(strstr(a, "rowstacked"));
	assert_null(strstr(a, "set terminal"));
	free(a);
	figure_free(&f);
	figure_free(&g);
}

static void endings(void **state)
{
	struct figure f = bars();
	struct err err;

	assert_int_equal(figure_check("a.svg", &err), 0);
	assert_int_equal(figure_check("a.b.png", &err), 0);
	assert_int_equal(figure_check("a.jpg", &err), -EINVAL);
	assert_non_null(strstr(err.text, ".svg"));
	assert_int_equal(figure_check("svg", &err), -EINVAL);
	assert_int_equal(figure_write(&f, "/no/such/folder/a.gp", &err), -ENOENT);
	assert_non_null(strstr(err.text, "/no/such/folder/a.gp"));
	figure_free(&f);
	f = (struct figure){ .kind = FIGURE_LINES, .title = "empty", .xlabel = "", .ylabel = "" };
	assert_int_equal(figure_write(&f, "a.gp", &err), -ENODATA);
}

static void without_gnuplot(void **state)
{
	struct figure f = bars();
	char *path = strdup(getenv("PATH"));
	struct err err;
	int ret;

	setenv("PATH", "/nonexistent", 1);
	ret = figure_write(&f, "/tmp/gpuemu-figure.svg", &err);
	setenv("PATH", path, 1);
	free(path);
	assert_int_equal(ret, -ENOENT);
	assert_non_null(strstr(err.text, "gnuplot-nox"));
	assert_int_equal(access("/tmp/gpuemu-figure.svg", F_OK), -1);
	figure_free(&f);
}

static struct json_object *report(void)
{
	struct json_object *o = json_tokener_parse(
		"{\"totals\":{\"cycles\":2000000},\"paging\":{\"batches\":2,"
		"\"latency_ns\":{\"count\":4,\"buckets\":[[1000,1],[2000,3]]},"
		"\"far_wait_cycles\":{\"buckets\":[]},"
		"\"batch\":{\"far_faults\":{\"buckets\":[[7,2]]}},"
		"\"fault_stages_sum_ns\":{\"queued\":6000,\"copy\":2000,\"latency\":8000},"
		"\"stages_ns\":{\"fetched_to_committed\":20000,\"copy\":500}},"
		"\"samples\":{\"columns\":[\"cycle\",\"h2d_busy\",\"resident_pages\"],"
		"\"rows\":[[100,0.5,1],[200,1.0,9],[300,0.25,9]]}}");

	assert_non_null(o);
	return o;
}

static const struct plot_row *row(const char *name)
{
	const struct plot_row *r = NULL;

	for (unsigned int n = 0; (r = plot_row(n)) && strcmp(r->name, name); n++)
		;
	assert_non_null(r);
	return r;
}

static void reports_become_series(void **state)
{
	struct json_object *o = report(), *empty = json_tokener_parse("{\"totals\":{}}");
	const struct plot_run runs[] = { { "a", o }, { "b", empty } };
	struct figure f;

	row("link")->make(&f, runs, 2);
	assert_int_equal(f.nseries, 1);
	assert_string_equal(f.series[0].name, "a");
	assert_int_equal(f.series[0].count, 3);
	assert_true(f.series[0].x[1] == 200 && f.series[0].y[1] == 1.0);
	figure_free(&f);
	/* A distribution begins at nothing and ends at all. */
	row("latency")->make(&f, runs, 2);
	assert_int_equal(f.nseries, 1);
	assert_int_equal(f.series[0].count, 3);
	assert_true(f.series[0].x[0] == 1 && f.series[0].y[0] == 0);
	assert_true(f.series[0].x[1] == 1 && f.series[0].y[1] == 0.25);
	assert_true(f.series[0].x[2] == 2 && f.series[0].y[2] == 1);
	figure_free(&f);
	row("waits")->make(&f, runs, 2);
	assert_int_equal(f.nseries, 0);
	figure_free(&f);
	row("stages")->make(&f, runs, 2);
	assert_int_equal(f.nseries, 7);
	assert_int_equal(f.nlabels, 2);
	assert_true(f.series[1].y[0] == 20 && f.series[4].y[0] == 0.5 && f.series[4].y[1] == 0);
	figure_free(&f);
	/* Microseconds of a far fault: sums over their number. */
	row("faults")->make(&f, runs, 2);
	assert_int_equal(f.nseries, 2);
	assert_string_equal(f.series[0].name, "queued");
	assert_true(f.series[0].y[0] == 1.5 && f.series[1].y[0] == 0.5 && f.series[0].y[1] == 0);
	figure_free(&f);
	row("runtime")->make(&f, runs, 1);
	assert_true(f.series[0].y[0] == 2);
	figure_free(&f);
	/* As shares of the kernels' time, no further. */
	f = (struct figure){ .kind = FIGURE_LINES, .title = "", .xlabel = "", .ylabel = "" };
	plot_samples(&f, "a", o, "h2d_busy", 1, 200);
	assert_int_equal(f.series[0].count, 2);
	assert_true(f.series[0].x[0] == 0.5 && f.series[0].x[1] == 1);
	figure_free(&f);
	json_object_put(o);
	json_object_put(empty);
}

static void benches_become_bars(void **state)
{
	struct json_object *fault = json_tokener_parse(
		"{\"bench\":\"fault\",\"far_fault_ns\":{\"p50\":5000,\"buckets\":[[4000,1],[6000,1]]},"
		"\"yardsticks_ns\":{\"uffd_resolve\":8000,\"memcpy_4k\":500}}");
	struct json_object *bars = json_tokener_parse(
		"{\"bench\":\"bars\",\"bars\":{\"fault\":{\"ratio\":0.4,\"below\":0.8},"
		"\"h2d\":{\"ratio\":1.4,\"above\":0.7}}}");
	const struct plot_run runs[] = { { "a", fault }, { "b", bars } };
	struct figure f;

	row("latency")->make(&f, runs, 2);
	assert_int_equal(f.nseries, 1);
	assert_true(f.series[0].x[2] == 6 && f.series[0].y[1] == 0.5);
	figure_free(&f);
	row("yardsticks")->make(&f, runs, 2);
	assert_int_equal(f.nseries, 1);
	assert_int_equal(f.nlabels, 5);
	assert_true(f.series[0].y[0] == 5 && f.series[0].y[1] == 8 && f.series[0].y[4] == 0.5);
	figure_free(&f);
	row("bars")->make(&f, runs, 2);
	assert_int_equal(f.nseries, 1);
	assert_true(f.series[0].y[0] == 0.5 && f.series[0].y[1] == 2);
	figure_free(&f);
	json_object_put(fault);
	json_object_put(bars);
}

static void fragmentation_is_free_and_holes(void **state)
{
	struct json_object *o = json_tokener_parse(
		"{\"columns\":[\"cycle\",\"registers_free\",\"registers_hole\",\"shared_free\","
		"\"shared_hole\"],\"rows\":[[100,0,0,0,0],[200,512,256,3072,1024]]}");
	struct json_object *alone = json_tokener_parse(
		"{\"columns\":[\"cycle\",\"registers_free\",\"registers_hole\",\"shared_free\","
		"\"shared_hole\"],\"rows\":[[100,0,0,0,0]]}");
	const struct plot_run runs[] = { { "a", alone }, { "b", o } };
	static const double last[] = { 2, 1, 3, 1 };	/* KiB: registers are 4 bytes */
	struct figure f;

	/* A run whose SMs nobody shared has no such figure. */
	row("fragmentation")->make(&f, runs, 1);
	assert_int_equal(f.nseries, 0);
	figure_free(&f);
	row("fragmentation")->make(&f, runs, 2);
	assert_int_equal(f.nseries, 4);
	assert_string_equal(f.series[0].name, "b: registers free");
	for (size_t k = 0; k < 4; k++) {
		assert_int_equal(f.series[k].count, 2);
		assert_true(f.series[k].x[1] == 200 && f.series[k].y[1] == last[k]);
	}
	figure_free(&f);
	json_object_put(o);
	json_object_put(alone);
}

#define CTA(sm, kernel, stream, ts, dur, registers, shared)				\
	"{\"ph\":\"X\",\"pid\":1" sm ",\"ts\":" ts ",\"dur\":" dur ",\"name\":\"" kernel " 0,0,0\"," \
	"\"args\":{\"kernel\":\"" kernel "\",\"stream\":" stream registers shared "}}"

static void extents_are_boxes(void **state)
{
	struct json_object *o = json_tokener_parse(
		"{\"traceEvents\":["
		"{\"ph\":\"X\",\"pid\":1,\"ts\":0,\"dur\":9,\"name\":\"one\",\"args\":{\"stream\":1}},"
		CTA("0", "one", "1", "0", "5", ",\"registers\":[0,1024]", "") ","
		CTA("1", "one", "1", "1", "5", ",\"registers\":[0,1024]", "") ","
		CTA("1", "two", "2", "2", "6", ",\"registers\":[1024,1280]", ",\"shared\":[0,2048]") ","
		CTA("1", "one", "1", "7", "1", ",\"registers\":[2048,3072]", "") ","
		"{\"ph\":\"X\",\"pid\":11,\"ts\":7,\"dur\":1,\"name\":\"parked\",\"args\":{}}]}");
	const struct plot_run run = { "a", o };
	struct figure f;
	char *script;

	assert_non_null(o);
	/* SM 1 has two kernels. */
	row("registers")->make(&f, &run, 1);
	assert_int_equal(f.nseries, 2);
	assert_string_equal(f.series[0].name, "one (stream 1)");
	assert_string_equal(f.series[1].name, "two (stream 2)");
	assert_int_equal(f.series[0].count, 4);
	assert_int_equal(f.series[1].count, 2);
	script = figure_script(&f, "x.gp");
	assert_non_null(strstr(script, "$data0 << EOD\n1 0 1 6 0 4\n7 8 7 8 8 12\nEOD\n"));
	assert_non_null(strstr(script, "$data1 << EOD\n2 4 2 8 4 5\nEOD\n"));
	assert_non_null(strstr(script, "with boxxyerror"));
	free(script);
	figure_free(&f);
	row("shared")->make(&f, &run, 1);
	assert_int_equal(f.nseries, 1);
	assert_string_equal(f.series[0].name, "two (stream 2)");
	assert_true(f.series[0].y[0] == 0 && f.series[0].y[1] == 2 && f.series[0].x[1] == 8);
	figure_free(&f);
	json_object_put(o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_script_is_whole_and_the_same),
		cmocka_unit_test(endings),
		cmocka_unit_test(without_gnuplot),
		cmocka_unit_test(reports_become_series),
		cmocka_unit_test(benches_become_bars),
		cmocka_unit_test(fragmentation_is_free_and_holes),
		cmocka_unit_test(extents_are_boxes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
