// SPDX-License-Identifier: GPL-2.0
/*
 * The study warped-slicer: the numbers of its tables of three programs, of the oracle and of the
 * sensitivity are those worked out by hand from reports that a shell script in the place of gpuemu
 * makes. What the script cannot show (real runs) is in tests/golden and in 49-study.sh.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "study_program.h"
#include "study_warped_slicer.h"

extern const struct study study_warped_slicer;

/*
 * The script in the place of gpuemu. Alone MM takes 100 cycles, DXT 80 and BLK 20, for 5000, 3000
 * and 7000 instructions; a run side by side with other targets fails. An SM has room for (1,1),
 * (1,2) and (2,1). Side by side the second program ends last, at cycle t, and the first at 50. The
 * third one ends at 120 under dynamic, at 300 under even and at 240 else. Dynamic gives (1,2), but
 * it splits the SMs for MM beside DXT. MM beside BLK is best with left-over.
 */
static const char script[] =
	"#!/bin/sh\n"
	"a=\" $* \"\n"
	"targets() { case $a in *\" $1 \"*) case $a in *\" $1 halt=$2 repeat=10000 \"*) ;; *) exit 1 ;; esac ;; esac; }\n"
	"case $a in *halt=*) targets sgemm 5000; targets dxtc 3000; targets blackscholes 7000 ;; esac\n"
	"third=240 part=''\n"
	"case $a in *left_over*) t=600 ;; *spatial*) t=500 ;; *even*) t=400 third=300 ;;\n"
	"*fixed=1,1\\ *) t=450 ;; *fixed=1,2\\ *) t=290 ;; *fixed=2,1\\ *) t=250 ;; *fixed=*) t=1 ;;\n"
	"*dynamic*) t=300 third=120 part='{\"stream\":1,\"ctas\":1},{\"stream\":2,\"ctas\":2}' ;; esac\n"
	"case $a in *sgemm*dxtc*blackscholes*) ;;\n"
	"*sgemm*dxtc*) case $a in *spatial*) t=260 ;; *dynamic*) part='{\"stream\":1},{\"stream\":2}' ;; esac ;;\n"
	"*sgemm*blackscholes*) case $a in *left_over*) t=200 ;; *dynamic*) t=270 part='{\"stream\":2,\"ctas\":2},{\"stream\":1,\"ctas\":1}' ;; *fixed=1,2\\ *) t=201 ;; esac ;;\n"
	"esac\n"
	"case $a in *slicer.loss=300*) t=240 ;; *slicer.sample=10000*) t=310 ;; *slicer.whole=1*) t=315 ;; *slicer.delay=1000\\ *) t=320 ;;\n"
	"*slicer.delay=5000*) t=330 ;; *slicer.delay=10000*) t=340 ;; *slicer.scale=printed*) t=350 ;;\n"
	"*slicer.scale=off*) t=360 ;; esac\n"
	"large='sm.registers=65536 --set sm.shared=96K --set sm.ctas=32 --set sm.warps=64'\n"
	"case $a in *left_over*\"$large --set sm.scheduler=lrr \"*) t=990 ;; *\"$large --set sm.scheduler=lrr \"*) t=550 ;;\n"
	"*left_over*\"$large\"*) t=800 ;; *\"$large\"*) t=400 ;;\n"
	"*left_over*sm.scheduler=lrr*) t=700 ;; *sm.scheduler=lrr*) t=500 ;;\n"
	"*left_over*l1i.sets=64*) t=630 ;; *spatial*l1i.sets=64*) t=420 ;; *even*l1i.sets=64*) t=350 ;;\n"
	"*l1i.sets=64*) t=210 ;; esac\n"
	"l='\"verified\":true,\"warp_instructions\":1000,\"memory\":{\"l2\":{\"misses\":80}},"
	"\"launch\":{\"ctas_per_sm\":2,\"regs\":40,\"smem\":0,\"block\":[256,1,1]}'\n"
	"case $a in *\\ +\\ *) w=\"{\\\"halted_cycle\\\":50,$l},{\\\"halted_cycle\\\":$t,$l},{\\\"halted_cycle\\\":$third,$l}\" ;;\n"
	"*sgemm*) w=\"{\\\"halted_cycle\\\":100,\\\"halted_instructions\\\":5000,$l}\" ;;\n"
	"*dxtc*) w=\"{\\\"halted_cycle\\\":80,\\\"halted_instructions\\\":3000,$l}\" ;;\n"
	"*) w=\"{\\\"halted_cycle\\\":20,\\\"halted_instructions\\\":7000,$l}\" ;; esac\n"
	"for last; do :; done\n"
	"echo \"{\\\"totals\\\":{},\\\"workloads\\\":[$w],\\\"dispatch\\\":{\\\"partitions\\\":["
	"{\\\"cycle\\\":25000,\\\"kernels\\\":[$part]}]}}\" >\"$last\"\n";

static int make_program(void **state)
{
	return make_script(script);
}

/* MM, DXT and BLK: three pairs and one set of three. NULL: all parts. */
static struct study_ctx study(char *part)
{
	struct study_ctx c = {
		.study = &study_warped_slicer,
		.options = { .jobs = 2, .dir = dir, .backend = "sim", .config = "gtx480-ws",
			     .program = program, .quick = true, .nworkloads = 3,
			     .only = { part }, .nonly = part ? 1 : 0,
			     .workloads = { { "sgemm", "", "" }, { "dxtc", "", "" },
					    { "blackscholes", "", "" } } },
		.no_gnuplot = true,
	};

	return c;
}

static const struct study_table *find(const struct study_ctx *c, const char *name)
{
	for (size_t i = 0; i < c->ntables; i++)
		if (!strcmp(c->tables[i]->name, name))
			return c->tables[i];
	return NULL;
}

static const struct study_table *table(struct study_ctx *c, const char *name)
{
	const struct study_table *t;

	assert_int_equal(study_run_all(c), 0);
	assert_int_equal(study_failures(c), 0);
	t = find(c, name);
	if (!t)
		fail_msg("no table %s", name);
	return t;
}

static void row(const struct study_table *t, size_t r, const char *name, const double *want,
		size_t n)
{
	assert_true(r < t->nrows);
	assert_string_equal(t->rows[r], name);
	assert_int_equal(t->ncolumns, n);
	for (size_t k = 0; k < n; k++) {
		double got = t->cells[r * n + k];

		if (isnan(want[k]) ? !isnan(got) : !(fabs(got - want[k]) < 1e-9))
			fail_msg("%s, %s: %.9g, not %.9g", name, t->columns[k], got, want[k]);
	}
}

#define ROW(t, r, name, ...)								\
	row(t, r, name, (const double[]){ __VA_ARGS__ },				\
	    sizeof((const double[]){ __VA_ARGS__ }) / sizeof(double))

static void says(const struct study_table *t, const char *words)
{
	if (!strstr(t->note, words))
		fail_msg("'%s' is not in '%s'", words, t->note);
}

/* Over left-over's 600; the last column is without the limit on what a kernel may lose. */
static void sets_of_three(void **state)
{
	struct study_ctx c = study("triples");
	const struct study_table *t = table(&c, "triples");

	assert_int_equal(t->nrows, 1);
	assert_string_equal(t->columns[3], "no limit");
	ROW(t, 0, "MM_DXT_BLK", 600 / 500.0, 600 / 400.0, 600 / 300.0, 600 / 240.0);
	/*
	 * 400 over 300; the smallest speed-up is BLK's, 20 over 120 and 20 over 300; turnaround
	 * times are 0.5, 3.75 and 6 under dynamic, 0.5, 5 and 15 under even.
	 */
	says(t, "dynamic over even 1.33 (paper 1.21), its fairness 2.50 (paper 1.23), its ANTT 0.50 ");
	study_free(&c);
}

/*
 * Columns: the oracle and dynamic over left-over, one over the other; the oracle's CTAs and
 * dynamic's; choices within 1% of the best; dynamic's partition from the start; when it was
 * decided; and with a larger instruction cache.
 */
static void every_partition(void **state)
{
	const double none = (double)NAN;
	struct study_ctx c = study("oracle");
	const struct study_table *t = table(&c, "oracle");

	assert_int_equal(t->nrows, 3);
	ROW(t, 0, "DXT_BLK", 600 / 250.0, 600 / 300.0, 250 / 300.0, 2, 1, 1, 2, 1, 600 / 290.0, 25000,
	    3, 1.5, 1.8);
	ROW(t, 1, "MM_BLK", 1, 200 / 270.0, 200 / 270.0, none, none, 1, 2, 2, 200 / 201.0, 25000,
	    3, 1.5, 1.8);
	ROW(t, 2, "MM_DXT", 600 / 250.0, 600 / 300.0, 250 / 300.0, 2, 1, 0, 0, 1, 600 / 260.0, 25000,
	    3, 1.5, 1.8);
	says(t, "within one CTA of the oracle's partition in 1 of 3 pairs, of one that takes at most 1% "
		"longer (within 1% counts them) in 2;");
	study_free(&c);
}

static void what_dynamic_is_sensitive_to(void **state)
{
	static const char *const columns[] = {
		"sample 10K", "sample CTA", "delay 1K", "delay 5K", "delay 10K", "eq. 4", "no scale", "lrr",
		"larger SM", "larger lrr",
	};
	struct study_ctx c = study("sensitivity");
	const struct study_table *t = table(&c, "sensitivity");

	assert_int_equal(t->nrows, 3);
	assert_int_equal(t->ncolumns, ARRAY_SIZE(columns));
	for (size_t k = 0; k < ARRAY_SIZE(columns); k++)
		assert_string_equal(t->columns[k], columns[k]);
	/* Over dynamic; the last three over left-over under the same setting. */
	ROW(t, 0, "DXT_BLK", 300 / 310.0, 300 / 315.0, 300 / 320.0, 300 / 330.0, 300 / 340.0,
	    300 / 350.0, 300 / 360.0, 1.4, 2, 1.8);
	ROW(t, 1, "MM_BLK", 270 / 310.0, 270 / 315.0, 270 / 320.0, 270 / 330.0, 270 / 340.0,
	    270 / 350.0, 270 / 360.0, 1.4, 2, 1.8);
	ROW(t, 2, "MM_DXT", 300 / 310.0, 300 / 315.0, 300 / 320.0, 300 / 330.0, 300 / 340.0,
	    300 / 350.0, 300 / 360.0, 1.4, 2, 1.8);
	for (size_t k = 0; k < 5; k++)
		assert_true(t->paper[k] == 1);
	assert_true(t->paper[7] == 1.23 && t->paper[8] == 1.26);
	study_free(&c);
}

/* L2 counts its sectors: 80 of 32 bytes are 20 lines, and as many of 128 bytes are 80. */
static void misses_are_of_lines(void **state)
{
	const struct study_table *t;

	for (unsigned int lines = 0; lines < 2; lines++) {
		struct study_ctx c = study("table2");

		if (lines)
			c.options.settings[c.options.nsettings++] = "l2.sector=128";
		t = table(&c, "table2");
		assert_string_equal(t->columns[14], "MPKI");
		assert_true(t->cells[14] == (lines ? 80 : 20));
		study_free(&c);
	}
}

/* A whole study with --quick has no oracle, and every fifth pair of the sensitivity. */
static void quick_leaves_the_long_ones(void **state)
{
	struct study_ctx c = study(NULL);
	const struct study_table *t = table(&c, "sensitivity");

	assert_null(find(&c, "oracle"));
	assert_int_equal(t->nrows, 1);
	assert_string_equal(t->rows[0], "DXT_BLK");
	assert_int_equal(find(&c, "triples")->nrows, 1);
	study_free(&c);
}

/* With all ten programs the sets are the paper's: 30 pairs, and 15 of three without BFS and HOT. */
static void sets_are_the_papers(void **state)
{
	struct slicer_set sets[SLICER_SETS];
	struct study_ctx *c = calloc(1, sizeof(*c));
	size_t n;

	assert_non_null(c);
	c->study = &study_warped_slicer;
	assert_int_equal(study_own_workloads(c), 0);
	assert_int_equal(slicer_pairs(c, sets, SLICER_SETS), 30);
	n = slicer_triples(c, sets, SLICER_SETS);
	assert_int_equal(n, 15);
	for (size_t i = 0; i < n; i++) {
		assert_null(strstr(sets[i].name, "BFS"));
		assert_null(strstr(sets[i].name, "HOT"));
		assert_int_equal(sets[i].p[0]->type, COMPUTE);
		assert_int_equal(sets[i].p[1]->type, COMPUTE);
		assert_int_not_equal(sets[i].p[2]->type, COMPUTE);
	}
	free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sets_are_the_papers),
		cmocka_unit_test_setup_teardown(sets_of_three, make_program, remove_program),
		cmocka_unit_test_setup_teardown(every_partition, make_program, remove_program),
		cmocka_unit_test_setup_teardown(what_dynamic_is_sensitive_to, make_program,
						remove_program),
		cmocka_unit_test_setup_teardown(misses_are_of_lines, make_program, remove_program),
		cmocka_unit_test_setup_teardown(quick_leaves_the_long_ones, make_program,
						remove_program),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
