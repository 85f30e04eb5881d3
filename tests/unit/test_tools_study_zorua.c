// SPDX-License-Identifier: GPL-2.0
/*
 * The study zorua: its rows are workloads that exist, every specification is one that the workload
 * takes and a GPU can launch, and the tables' numbers are those worked out by hand from reports
 * that a shell script in the place of gpuemu makes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "study_program.h"
#include "study_zorua.h"
#include "workload.h"

extern const struct study study_zorua;

/* --- specifications ------------------------------------------------------------------- */

static struct study_ctx ctx(bool quick)
{
	struct study_ctx c = { .study = &study_zorua, .options = { .quick = quick } };

	c.spec.warps = 48;
	c.spec.registers = 32768;
	c.spec.occupancy_reg_unit = 4;
	return c;
}

static void takes(struct workload *w, const char *fmt, unsigned int n)
{
	char setting[64];
	struct err err;

	snprintf(setting, sizeof(setting), fmt, n);
	if (workload_set(w, setting, &err))
		fail_msg("%s %s: %s", w->ops->name, setting, err.text);
}

static void takes_words(struct workload *w, const char *operands)
{
	char words[128], *save;
	struct err err;

	snprintf(words, sizeof(words), "%s", operands);
	for (char *s = strtok_r(words, " ", &save); s; s = strtok_r(NULL, " ", &save))
		if (workload_set(w, s, &err))
			fail_msg("%s %s: %s", w->ops->name, s, err.text);
}

/* The runs that zorua_run() makes of a specification. */
static void parses(const struct study_workload *row, const struct zorua_point *p, bool quick)
{
	const struct zorua_program *program = zorua_program(row->name);
	unsigned int grid = quick ? program->grid_quick : program->grid;
	struct workload w;

	workload_init(&w, workload_find(row->name)->ops, 1);
	takes_words(&w, quick ? row->quick : row->full);
	takes(&w, "block=%u", p->threads);
	if (p->scratchpad)
		takes(&w, "sums=%u", p->scratchpad / 4);
	if (grid) {
		/* The same work: as many threads in all. */
		assert_int_equal(grid % p->threads, 0);
		takes(&w, "ctas=%u", grid / p->threads);
	}
	assert_true(!p->registers || (p->registers >= 16 && p->registers <= 255));
	assert_true((uint64_t)p->threads * p->registers <= 32768);
}

static void every_specification_is_one(void **state)
{
	size_t programs = 0, all = 0;

	for (const struct study_workload *row = study_zorua.workloads; row->name; row++) {
		struct zorua_point points[ZORUA_POINTS];

		if (!workload_find(row->name))
			fail_msg("no workload %s", row->name);
		assert_non_null(zorua_program(row->name));
		for (int quick = 0; quick <= 1; quick++) {
			struct study_ctx c = ctx(quick);
			size_t n = zorua_points(&c, row, points);

			/* Section 6: 8 to 65 of each. */
			if (!quick && (n < 8 || n > 65))
				fail_msg("%zu specifications of %s", n, row->name);
			assert_true(n >= 5);
			for (size_t i = 0; i < n; i++) {
				for (size_t k = 0; k < i; k++)
					assert_memory_not_equal(&points[i], &points[k],
								sizeof(points[i]));
				parses(row, &points[i], quick);
			}
			all += quick ? 0 : n;
		}
		programs++;
	}
	assert_int_equal(programs, 8);
	/* "36 on average", of which Fermi cannot launch some. */
	assert_in_range(all / programs, 28, 40);
}

static void ranges_are_table_3s(void **state)
{
	struct study_workload bh = { "bh", "", "" }, nqueens = { "nqueens", "", "" };
	struct study_ctx c = ctx(false);
	struct zorua_point points[ZORUA_POINTS];
	char text[32];
	size_t n = zorua_points(&c, &bh, points);

	/* T 128 to 1024 with R 28 and 32; up to 896, 768 and 640 with R 36, 40 and 44. */
	assert_int_equal(n, 8 + 8 + 7 + 6 + 5);
	assert_string_equal(zorua_point_name(text, &points[0]), "R28 T128");
	assert_string_equal(zorua_point_name(text, &points[n - 1]), "R44 T640");
	/* A CTA's scratchpad follows from its threads. */
	n = zorua_points(&c, &nqueens, points);
	assert_int_equal(n, 8);
	assert_string_equal(zorua_point_name(text, &points[7]), "T288");
	assert_int_equal(zorua_points(&c, &(struct study_workload){ "vecadd", "", "" }, points), 0);
}

/* --- numbers ------------------------------------------------------------------------------ */

/*
 * The script in the place of gpuemu. Cycles by mechanism and GPU, at T 64 and at all others: cta
 * 100 and 200 on Fermi, 330 and 150 on Kepler, 100 and 100 on Maxwell; wlm 125 on Fermi, 106 and
 * 100 on Kepler, 100 on Maxwell; zorua 50 always. One SM has 8 schedulable warps in 300
 * cycles and one 4 in 100, under zorua twice as many. T 96 is cta's worst everywhere: 400 on
 * Kepler, 110 on Maxwell. Without what costs time zorua takes 20 to 45. With 24 registers cta takes
 * 150 and 300 on Fermi, zorua 120 and 140. Slots by Virtual Thread's rule: 30, all CTAs that fit:
 * 45, both: 60. With seed 2 zorua takes 160, with 3 250, with the others from 4 on 200.
 * With 128 virtual warps it takes 80 on Fermi and 90 on Kepler.
 */
static const char script[] =
	"#!/bin/sh\n"
	"gpu=f\n"
	"case \"$*\" in *kepler*) gpu=k ;; *maxwell*) gpu=m ;; esac\n"
	"case \"$*\" in *block=64\\ *) t=64 ;; *block=96\\ *) t=96 ;; *) t=more ;; esac\n"
	"case \"$*\" in *cta\\ *) m=cta ;; *wlm\\ *) m=wlm ;; *) m=zorua ;; esac\n"
	"case $m,$gpu,$t in cta,f,64) n=100 ;; cta,f,*) n=200 ;; cta,k,64) n=330 ;;\n"
	"cta,k,96) n=400 ;; cta,k,*) n=150 ;; cta,m,96) n=110 ;;\n"
	"wlm,f,*) n=125 ;; wlm,k,64) n=106 ;; zorua,*) n=50 ;; *) n=100 ;; esac\n"
	"case \"$*\" in *swap=off*lookup=0*free*) n=20 ;; *swap=off*) n=25 ;; *lookup=0*) n=40 ;; *free*) n=45 ;; esac\n"
	"case \"$*,$m,$t\" in *--regs\\ 24*,cta,64) n=150 ;; *--regs\\ 24*,cta,*) n=300 ;;\n"
	"*--regs\\ 24*,zorua,64) n=120 ;; *--regs\\ 24*,zorua,*) n=140 ;; esac\n"
	"l=5; case \"$*\" in *proof=0*) ;; *slots=vt*fits*) n=60 l=9 ;; *slots=vt*) n=30 l=7 ;; *fits*) n=45 ;; esac\n"
	"case \"$*,$m\" in *seed\\ 2\\ *,zorua) n=160 ;; *seed\\ 3\\ *,zorua) n=250 ;; *seed*,zorua) n=200 ;; esac\n"
	"case \"$*,$gpu\" in *virtual_warps=128*,f) n=80 ;; *virtual_warps=128*,k) n=90 ;; esac\n"
	"a=8 b=4\n"
	"case $m in zorua) a=16 b=8 v='\"virtual\":{\"set_accesses\":4000,\"set_accesses_swapped\":10,"
	"\"scratchpad_accesses\":2000,\"scratchpad_accesses_swapped\":30,\"scratchpad_spilled_sets\":7,"
	"\"o_thresh\":0.125,\"spilled_sets\":3,\"swapped_warps\":'$l',\"forced\":2},' ;; esac\n"
	"for last; do :; done\n"
	"echo \"{\\\"workload\\\":{\\\"verified\\\":true},$v\\\"sms\\\":["
	"{\\\"busy_cycles\\\":300,\\\"warps\\\":{\\\"schedulable\\\":$a}},"
	"{\\\"busy_cycles\\\":100,\\\"warps\\\":{\\\"schedulable\\\":$b}},"
	"{\\\"busy_cycles\\\":0,\\\"warps\\\":{\\\"schedulable\\\":0}}],"
	"\\\"totals\\\":{\\\"cycles\\\":$n}}\" >\"$last\"\n";

static int make_program(void **state)
{
	return make_script(script);
}

static struct study_ctx study(char *part)
{
	struct study_ctx c = {
		.study = &study_zorua,
		.options = { .jobs = 2, .dir = dir, .backend = "sim", .config = "gtx480-zorua",
			     .program = program, .nworkloads = 1, .only = { part }, .nonly = 1,
			     .workloads = { { "nqueens", "", "" } } },
		.no_gnuplot = true,
	};

	return c;
}

static const struct study_table *table(const struct study_ctx *c, const char *name)
{
	for (size_t i = 0; i < c->ntables; i++)
		if (!strcmp(c->tables[i]->name, name))
			return c->tables[i];
	fail_msg("no table %s", name);
	return NULL;
}

static void near(double got, double want)
{
	if (isnan(want) ? !isnan(got) : !(fabs(got - want) < 1e-9 * fabs(want) + 1e-9))
		fail_msg("%.9g, not %.9g", got, want);
}

static void cells(const struct study_table *t, size_t row, const double *want, size_t n)
{
	for (size_t k = 0; k < n; k++)
		near(t->cells[row * t->ncolumns + k], want[k]);
}

#define CELLS(t, row, ...)								\
	cells(t, row, (const double[]){ __VA_ARGS__ },					\
	      sizeof((const double[]){ __VA_ARGS__ }) / sizeof(double))

static void ranges(void **state)
{
	struct study_ctx c = study("range");

	assert_int_equal(study_run_all(&c), 0);
	assert_int_equal(study_failures(&c), 0);
	/* 200 over 100. */
	CELLS(table(&c, "range"), 0, 100, 0, 0);
	near(table(&c, "range")->paper[ZORUA], 48.2);
	/* Over 200: one of eight is twice as fast; 1.6; 4. */
	CELLS(table(&c, "distribution"), 0, 1, 1, 1, 1, 2, 1.6, 1.6, 1.6, 1.6, 1.6, 4, 4, 4, 4, 4);
	study_free(&c);
}

static void cliffs_are_over_the_best(void **state)
{
	struct study_ctx c = study("cliffs");

	assert_int_equal(study_run_all(&c), 0);
	assert_int_equal(table(&c, "cliffs-nqueens")->nrows, 8);
	CELLS(table(&c, "cliffs-nqueens"), 0, 1, 1.25, 0.5);
	CELLS(table(&c, "cliffs-nqueens"), 7, 2, 1.25, 0.5);
	study_free(&c);
}

static void best_points(void **state)
{
	struct study_ctx c = study("best");

	assert_int_equal(study_run_all(&c), 0);
	/*
	 * 100 over 125 and 50; of all one is that, seven are 200 over 125 and 50. There is no range
	 * of registers.
	 */
	CELLS(table(&c, "best"), 0, -20, 100, (-20 + 7 * 60) / 8.0, (100 + 7 * 300) / 8.0,
	      (double)NAN);
	study_free(&c);
	/*
	 * Of 15 specifications five have 24 registers: 150 over 120 is their best. The others are
	 * as above: twice 100, eight times 200.
	 */
	c = study("best");
	c.options.workloads[0] = (struct study_workload){ "reduce", "", "" };
	assert_int_equal(study_run_all(&c), 0);
	CELLS(table(&c, "best"), 0, -20, 100, (2 * -20 + 8 * 60 + 20 + 4 * 140) / 15.0,
	      (2 * 100 + 8 * 300 + 25 + 4 * 100 * (300 / 140.0 - 1)) / 15, 25);
	study_free(&c);
}

static void inputs_by_seed(void **state)
{
	struct study_ctx c = study("seeds");
	double squares = 0, gain[] = { 300, 25, -20, 0, 0, 0, 0, 0 };

	c.options.workloads[0] = (struct study_workload){ "bh", "", "" };
	assert_int_equal(study_run_all(&c), 0);
	for (size_t i = 0; i < ARRAY_SIZE(gain); i++)
		squares += (gain[i] - 305 / 8.0) * (gain[i] - 305 / 8.0);
	/* cta takes 200 with each, zorua 50 with the study's own. */
	CELLS(table(&c, "seeds"), 0, 305 / 8.0, sqrt(squares / 7), -20, 300, 300);
	study_free(&c);
	/* A regular program has no other inputs: nothing runs. */
	c = study("seeds");
	assert_int_equal(study_run_all(&c), 0);
	assert_int_equal(c.ntables, 0);
	study_free(&c);
}

static void slots(void **state)
{
	struct study_ctx c = study("slots");

	assert_int_equal(study_run_all(&c), 0);
	/* T 96 is the fastest without Zorua, and takes 200 there. */
	CELLS(table(&c, "slots"), 0, 50 / 200.0, 30 / 200.0, 45 / 200.0, 60 / 200.0, 7, 14, 14, 14, 14,
	      7, 9);
	study_free(&c);
}

static void more_numbers(void **state)
{
	struct study_ctx c = study("numbers");

	assert_int_equal(study_run_all(&c), 0);
	/* T 96 takes cta 200 on Fermi and 400 on Kepler. */
	CELLS(table(&c, "numbers"), 0, 50 / 200.0, 80 / 200.0, 14, 14, 50 / 400.0, 90 / 400.0, 14, 14);
	study_free(&c);
}

static void porting_losses(void **state)
{
	struct study_ctx c = study("porting");
	const struct study_table *t;

	assert_int_equal(study_run_all(&c), 0);
	t = table(&c, "porting");
	/*
	 * T 64 is Fermi's best and takes 330 instead of 150 on Kepler; 106 is not within 5% of 100.
	 * T 96 is tuned for no GPU under cta, so that its 400 on Kepler is no loss.
	 */
	CELLS(t, 0, 120, 6, 0);
	assert_string_equal(t->texts[ZORUA_MECHANISMS + CTA], "T64, Fermi to Kepler");
	assert_string_equal(t->texts[ZORUA_MECHANISMS + WLM], "T64, Fermi to Kepler");
	t = table(&c, "generations-nqueens");
	CELLS(t, 0, 1, 2.2, 1, 1.25, 106 / 150.0, 1, 0.5, 1 / 3.0, 0.5);
	study_free(&c);
}

static void warps_and_hits(void **state)
{
	struct study_ctx c = study("schedulable");

	assert_int_equal(study_run_all(&c), 0);
	/* An SM that has nothing to do is none. */
	CELLS(table(&c, "schedulable"), 0, 7, 7, 14, 0, 100);
	study_free(&c);
	c = study("hitrate");
	assert_int_equal(study_run_all(&c), 0);
	CELLS(table(&c, "hitrate"), 0, 99.75, 98.5, 12.5, 3, 7, 5, 2);
	study_free(&c);
}

static void overheads(void **state)
{
	struct study_ctx c = study("overheads");

	assert_int_equal(study_run_all(&c), 0);
	/* One of eight specifications takes 100 under cta, seven take 200. */
	CELLS(table(&c, "overheads"), 0, 50 * 4.5 / 800, 25 * 4.5 / 800, 40 * 4.5 / 800,
	      45 * 4.5 / 800, 50 * 4.5 / 800, 50 * 4.5 / 800, 20 * 4.5 / 800);
	study_free(&c);
}

/* The configurations are table 2's. */
static void table_2(void **state)
{
	struct study_ctx c = study("table2");

	assert_int_equal(study_run_all(&c), 0);
	if (strncmp(table(&c, "table2")->note, "0 values differ", 15))
		fail_msg("%s", table(&c, "table2")->note);
	study_free(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_specification_is_one),
		cmocka_unit_test(ranges_are_table_3s),
		cmocka_unit_test_setup_teardown(ranges, make_program, remove_program),
		cmocka_unit_test_setup_teardown(cliffs_are_over_the_best, make_program,
						remove_program),
		cmocka_unit_test_setup_teardown(best_points, make_program, remove_program),
		cmocka_unit_test_setup_teardown(porting_losses, make_program, remove_program),
		cmocka_unit_test_setup_teardown(inputs_by_seed, make_program, remove_program),
		cmocka_unit_test_setup_teardown(slots, make_program, remove_program),
		cmocka_unit_test_setup_teardown(more_numbers, make_program, remove_program),
		cmocka_unit_test_setup_teardown(warps_and_hits, make_program, remove_program),
		cmocka_unit_test_setup_teardown(overheads, make_program, remove_program),
		cmocka_unit_test_setup_teardown(table_2, make_program, remove_program),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
