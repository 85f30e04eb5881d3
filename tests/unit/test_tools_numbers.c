// SPDX-License-Identifier: GPL-2.0
/*
 * Numbers that users read: the text of a report and of a watched module, and the tables of the
 * study paged-memory, all from inputs that are made up here, against results worked out by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "report.h"
#include "stat.h"
#include "study.h"
#include "study_program.h"
#include "wrap.h"

/* --- sentences in lines --------------------------------------------------------------------- */

static void wraps(unsigned int indent, unsigned int width, const char *text, const char *want)
{
	char *got = NULL;
	size_t bytes;
	FILE *out = open_memstream(&got, &bytes);

	wrap_lines(out, indent, width, text);
	fclose(out);
	assert_string_equal(got, want);
	free(got);
}

static void test_lines(void **state)
{
	(void)state;
	wraps(2, 10, "one two three four", "  one two\n  three\n  four\n");
	wraps(2, 9, "one two", "  one two\n");
	wraps(2, 8, "one two", "  one\n  two\n");
	wraps(2, 8, "a wider-than-that b", "  a\n  wider-than-that\n  b\n");
	wraps(0, 80, "two\nlines ", "two\nlines\n");
	wraps(1, 8, "a bc\n  de fgh", " a bc\n   de\n   fgh\n");
	wraps(2, 80, "", "");
}

/* --- the report's text ---------------------------------------------------------------------- */

static char *text_of_report(const char *json)
{
	struct json_object *r = json_tokener_parse(json);
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	assert_non_null(r);
	report_text(out, r);
	fclose(out);
	json_object_put(r);
	return text;
}

static void has(const char *text, const char *want)
{
	if (!strstr(text, want))
		fail_msg("no '%s' in\n%s", want, text);
}

#define HEAD	"{\"workload\":{\"name\":\"w\",\"verified\":true,\"footprint_bytes\":4096}," \
		"\"backend\":\"sim\",\"config\":\"gtx480\",\"clock\":\"virtual\""

static void stalls_are_shares_of_all(void **state)
{
	/* 620, 250, 120, 9 and 1 of 1000; what is less than 1% is not told. */
	char *text = text_of_report(HEAD ",\"kernels\":[{\"name\":\"k\",\"stalls\":{\"issued\":120,"
		"\"pipeline\":9,\"long_latency\":620,\"barrier\":1,\"far_fault\":250}}]}");

	has(text, "scheduler cycles: long_latency 62%, far_fault 25%, issued 12%\n");
	free(text);
	/* One in a hundred is. */
	text = text_of_report(HEAD ",\"kernels\":[{\"name\":\"k\",\"stalls\":{\"issued\":99,"
		"\"barrier\":1}}]}");
	has(text, "scheduler cycles: issued 99%, barrier 1%\n");
	free(text);
	/* An SM without a warp waits for nothing: 300 of 400. */
	text = text_of_report(HEAD ",\"kernels\":[{\"name\":\"k\",\"stalls\":{\"issued\":25,"
		"\"far_fault\":75,\"no_warp\":300}}]}");
	has(text, "scheduler cycles: far_fault 75%, issued 25%; no warp on an SM in 75% of all\n");
	free(text);
}

static void each_number_of_a_prefetcher_in_its_place(void **state)
{
	char *text = text_of_report(HEAD ",\"paging\":{\"far_faults\":7,\"prefetched_pages\":40,"
		"\"prefetch_used_pages\":30,\"evicted_pages\":5,\"prefetch\":{\"policy\":\"tree\","
		"\"accuracy\":0.11,\"coverage\":0.22,\"timeliness\":0.33,\"pollution\":0.44},"
		"\"evict\":{\"policy\":\"lru\",\"returned_pages\":51,\"thrashing_pages\":52,"
		"\"pre_evicted_pages\":53}}}");

	has(text, "prefetch tree: accuracy 11%, coverage 22%, in time 33%, evicted unused 44%\n");
	has(text, "evict lru: 51 far faults on evicted pages, 52 pages came back twice or more, "
	    "53 evicted ahead of need\n");
	has(text, "prefetched 40 pages (30 used), evicted 5 pages\n");
	free(text);
}

static void misses_are_of_the_accesses(void **state)
{
	/* 125 of 1000 and 30 of 40; sectors that wait are no misses, and no accesses more. */
	char *text = text_of_report(HEAD ",\"memory\":{\"l1d\":{\"accesses\":1000,\"misses\":125,"
		"\"pending_hits\":500},\"l2\":{\"accesses\":40,\"misses\":30,\"pending_hits\":3},"
		"\"dram\":{\"reads\":17,\"writes\":19,\"row_hit_rate\":0.75,\"utilization\":0.25},"
		"\"latency\":{\"mean\":321.4}}}");

	has(text, "  L1D 1000 accesses, 12.5% missed; L2 40 accesses, 75.0% missed (sectors)\n"
	    "  DRAM 17 reads, 19 writes, row hits 75%, bus busy 25%; a read of 32 bytes takes 321 cycles");
	free(text);
	/* Of none none missed. */
	text = text_of_report(HEAD ",\"memory\":{\"l1d\":{\"accesses\":0,\"misses\":0},"
			      "\"l2\":{\"accesses\":0,\"misses\":0}}}");
	has(text, "L1D 0 accesses, 0.0% missed");
	free(text);
}

/* A text with times of an emulated CPU says so, the short one and the long one. */
static void emulated_times_are_said(void **state)
{
	static const struct { const char *clock, *virt; bool said; } cases[] = {
		{ "measured", "tcg", true }, { "measured", "icount", true },
		{ "measured", "kvm", false }, { "virtual", "tcg", false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char json[256], *texts[2] = { NULL, NULL };
		struct json_object *r;

		snprintf(json, sizeof(json), "{\"workload\":{\"name\":\"w\",\"verified\":true},"
			 "\"backend\":\"kmod\",\"config\":\"gtx480\",\"clock\":\"%s\",\"host\":{"
			 "\"virt\":\"%s\"},\"paging\":{\"far_faults\":1}}", cases[i].clock,
			 cases[i].virt);
		r = json_tokener_parse(json);
		assert_non_null(r);
		for (size_t k = 0; k < 2; k++) {
			size_t bytes;
			FILE *out = open_memstream(&texts[k], &bytes);

			(k ? report_short : report_text)(out, r);
			fclose(out);
			if (cases[i].said != !!strstr(texts[k], "under emulation (TCG)"))
				fail_msg("%s on %s: %s", cases[i].clock, cases[i].virt, texts[k]);
			free(texts[k]);
		}
		json_object_put(r);
	}
}

/* --- gpuemu stat --watch ----------------------------------------------------------------------- */

static void a_watched_second(void **state)
{
	struct stat_look before = { .at_ns = 5000000000 }, now = { .at_ns = 7500000000 };
	uint64_t *a = before.device.stats.value, *b = now.device.stats.value;
	unsigned int clients;
	char *text = NULL, h2d[16], d2h[16], resident[16], left[16];
	double faults, batches, evicted, cpu;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	/* 2.5 s: 1000 faults, 50 batches; 10240 and 5120 bytes; 5 evictions; 25 faults of the CPU. */
	a[CTL_STAT_FAR_FAULTS] = 300;
	b[CTL_STAT_FAR_FAULTS] = 1300;
	a[CTL_STAT_BATCHES] = 7;
	b[CTL_STAT_BATCHES] = 57;
	b[CTL_STAT_H2D_BYTES] = 10240;
	b[CTL_STAT_D2H_BYTES] = 5120;
	b[CTL_STAT_EVICTED_PAGES] = 5;
	/* Set back to 0 in between: 25 since then. */
	a[CTL_STAT_CPU_FAULTS] = 900;
	b[CTL_STAT_CPU_FAULTS] = 25;
	b[CTL_STAT_RESIDENT_PAGES] = 2;
	now.device.clients = 3;
	now.device.vram_free_bytes = 1 << 20;
	stat_watch_line(out, &before, &now);
	fclose(out);
	assert_int_equal(sscanf(text, "%u %lf %lf %15s %*s %15s %*s %lf %lf %15s %*s %15s", &clients,
				&faults, &batches, h2d, d2h, &evicted, &cpu, resident, left), 9);
	free(text);
	assert_int_equal(clients, 3);
	assert_true(faults == 400 && batches == 20 && evicted == 2 && cpu == 10);
	/* 4096 and 2048 bytes a second. */
	assert_int_equal(atoi(h2d), 4);
	assert_int_equal(atoi(d2h), 2);
	assert_int_equal(atoi(resident), 8);
	assert_int_equal(atoi(left), 1);
	/* No time has passed: no rate, rather than an infinite one. */
	out = open_memstream(&text, &bytes);
	now.at_ns = before.at_ns;
	stat_watch_line(out, &before, &now);
	fclose(out);
	assert_int_equal(sscanf(text, "%u %lf", &clients, &faults), 2);
	assert_true(faults == 0);
	free(text);
}

/* --- the study paged-memory ---------------------------------------------------------------------- */

/*
 * In the place of gpuemu. "alpha" takes 1000 cycles when it is copied and when it fits, "beta" 2000.
 * On demand they take this many times as long, by the far faults an SM may have outstanding:
 * 4: 2 and 8; 8: 2 and 32; 16: 1 and 9; unlimited: 1 and 4. Evicting, by policy:
 * lru: 2 and 8; others: 3 and 12.
 */
static const char script[] =
	"#!/bin/sh\n"
	"case $2 in alpha) base=1000 in=400 run=400 out=200 ;; *) base=2000 in=100 run=800 out=100 ;; esac\n"
	"a=1 b=1\n"
	"case \"$*\" in *mshrs=4\\ *) a=2 b=8 ;; *mshrs=8\\ *) a=2 b=32 ;; *mshrs=16\\ *) b=9 ;;\n"
	"*mshrs=0\\ *) b=4 ;; *--evict\\ lru\\ *) a=2 b=8 ;; *--evict*) a=3 b=12 ;; esac\n"
	"case $2 in alpha) t=$a ;; *) t=$b ;; esac\n"
	"for last; do case $before in --record) echo r >\"$last\" ;; esac; before=$last; done\n"
	"echo \"{\\\"workload\\\":{\\\"verified\\\":true,\\\"footprint_bytes\\\":4000000,\\\"copy\\\":{"
	"\\\"h2d_cycles\\\":$in,\\\"kernel_cycles\\\":$run,\\\"d2h_cycles\\\":$out,"
	"\\\"overlap_bound_cycles\\\":800}},\\\"totals\\\":{\\\"cycles\\\":$((base * t))}}\" >\"$last\"\n";

extern const struct study study_paged_memory;
static int make_program(void **state)
{
	return make_script(script);
}

static struct study_ctx study(char *part)
{
	struct study_ctx c = {
		.study = &study_paged_memory,
		.options = { .jobs = 2, .dir = dir, .backend = "sim", .config = "gtx480",
			     .program = program, .nworkloads = 2, .only = { part }, .nonly = 1,
			     .workloads = { { "alpha", "", "" }, { "beta", "", "" } } },
		.no_gnuplot = true,
	};

	return c;
}

static void near(double got, double want)
{
	if (!(fabs(got - want) < 1e-9 * want))
		fail_msg("%.9g, not %.9g", got, want);
}

static void shares_of_a_copy(void **state)
{
	struct study_ctx c = study("copy");
	const struct study_table *t;

	assert_int_equal(study_run_all(&c), 0);
	assert_int_equal(study_failures(&c), 0);
	t = c.tables[0];
	assert_string_equal(t->columns[4], "copy share");
	/* 700 MHz: 400 cycles are 4/7 us. */
	near(t->cells[0], 4);
	near(t->cells[1], 400 / 700e3);
	near(t->cells[2], 400 / 700e3);
	near(t->cells[3], 200 / 700e3);
	/* Both ways of all: 600 of 1000 and 200 of 1000. With perfect overlap 800 instead of 1000. */
	near(t->cells[4], 0.6);
	near(t->cells[t->ncolumns + 4], 0.2);
	near(t->cells[5], 1.25);
	has(t->note, "most of the time of 1 of 2 workloads, perfect overlap gives up to 25%;");
	study_free(&c);
}

static void means_are_geometric(void **state)
{
	struct study_ctx c = study("mshrs");
	const struct study_table *t;

	assert_int_equal(study_run_all(&c), 0);
	assert_int_equal(study_failures(&c), 0);
	t = c.tables[0];
	assert_int_equal(t->ncolumns, 6);
	near(t->cells[2], 2);
	near(t->cells[t->ncolumns + 2], 8);
	/* Of 2 and 8, 2 and 32, 1 and 9, 1 and 4. */
	near(study_geomean(t, 2), 4);
	near(study_geomean(t, 3), 8);
	near(study_geomean(t, 4), 3);
	near(study_geomean(t, 5), 2);
	/* 4 over 2, 3 over 2. */
	has(t->note, "4 take 100% longer than unlimited, 16 take 50%;");
	study_free(&c);
}

static void means_by_eviction_policy(void **state)
{
	struct study_ctx c = study("oversubscription");
	const struct study_table *t;

	assert_int_equal(study_run_all(&c), 0);
	assert_int_equal(study_failures(&c), 0);
	assert_int_equal(c.ntables, 2);
	near(c.tables[0]->cells[0], 2);
	near(c.tables[0]->cells[4], 8);
	t = c.tables[1];
	for (size_t i = 0; i < t->nrows; i++) {
		for (size_t level = 0; level < 4; level++)
			near(t->cells[4 * i + level], strcmp(t->rows[i], "lru") ? 6 : 4);
	}
	study_free(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(emulated_times_are_said),
		cmocka_unit_test(stalls_are_shares_of_all),
		cmocka_unit_test(each_number_of_a_prefetcher_in_its_place),
		cmocka_unit_test(misses_are_of_the_accesses),
		cmocka_unit_test(a_watched_second),
		cmocka_unit_test_setup_teardown(shares_of_a_copy, make_program, remove_program),
		cmocka_unit_test_setup_teardown(means_are_geometric, make_program, remove_program),
		cmocka_unit_test_setup_teardown(means_by_eviction_policy, make_program,
						remove_program),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
