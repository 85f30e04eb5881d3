// SPDX-License-Identifier: GPL-2.0
/*
 * The framework of studies, with a shell script in the place of gpuemu: runs are shared, kept,
 * and done again when something of them changes; one that fails is told and leaves the others;
 * tables are the same for the same reports.
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "output.h"
#include "study.h"
#include "workload.h"

static char dir[64], program[128], counter[128];

/*
 * Notes each run; fails where an argument says so, leaves what --record names, and reports
 * the number behind "cycles=".
 */
static const char script[] =
	"#!/bin/sh\n"
	"echo \"$*\" >>COUNTER\n"
	"for last; do case $last in cycles=*) n=${last#cycles=} ;; fail) echo 'one line' >&2; "
	"echo 'no such luck' >&2; exit 1 ;; unverified) v=false ;; hang) exec sleep 100 ;; "
	"esac; case $before in --record) echo r >\"$last\" ;; esac; before=$last; done\n"
	"echo \"{\\\"workload\\\":{\\\"verified\\\":${v:-true}},\\\"totals\\\":"
	"{\\\"cycles\\\":${n:-0}}}\" >\"$last\"\n";

static const struct study_workload rows[] = {
	{ "alpha", "", "size=quick" }, { "beta", "n=4", "n=1" }, { NULL, NULL, NULL },
};

static double factor;

static void want(struct study_ctx *c)
{
	for (unsigned int i = 0; i < c->options.nworkloads; i++) {
		study_want(c, &c->options.workloads[i], NULL, "cycles=%u", 100 * (i + 1));
		study_want(c, &c->options.workloads[i], NULL, "cycles=%u", 400 * (i + 1));
	}
}

static void show(struct study_ctx *c)
{
	struct study_table *t = study_table(c, "first", "a table", 2, true);

	study_column(t, "ratio", 3.5);
	study_column(t, "none", (double)NAN);
	for (unsigned int i = 0; i < c->options.nworkloads; i++) {
		const struct study_workload *w = &c->options.workloads[i];
		double one = run_number(study_want(c, w, NULL, "cycles=%u", 100 * (i + 1)),
					  "totals.cycles");
		double four = run_number(study_want(c, w, NULL, "cycles=%u", 400 * (i + 1)),
					   "totals.cycles");

		study_cell(t, study_row_add(t, w->name), 0, factor * four / one);
	}
}

static const struct study_part parts[] = {
	{ "one", "", want, NULL, show, false }, { 0 },
};

static const struct study trial = {
	.name = "trial", .help = "", .config = "gtx480", .workloads = rows, .parts = parts,
};

static int make(void **state)
{
	FILE *out;

	factor = 1;
	strcpy(dir, "/tmp/gpuemu-study-XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	snprintf(program, sizeof(program), "%s/program", dir);
	snprintf(counter, sizeof(counter), "%s/counter", dir);
	out = fopen(program, "w");
	if (!out)
		return -1;
	for (const char *s = script, *mark; s; s = mark ? mark + 7 : NULL) {
		mark = strstr(s, "COUNTER");
		fprintf(out, "%.*s%s", mark ? (int)(mark - s) : (int)strlen(s), s,
			mark ? counter : "");
	}
	fclose(out);
	return chmod(program, 0700);
}

static int unmake(void **state)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command);
}

/* How many runs were really done since the last call. */
static unsigned int done(void)
{
	FILE *in = fopen(counter, "r");
	unsigned int n = 0;
	int c;

	while (in && (c = fgetc(in)) != EOF)
		n += c == '\n';
	if (in)
		fclose(in);
	unlink(counter);
	return n;
}

static struct study_ctx begin(void)
{
	struct study_ctx c = {
		.study = &trial,
		.options = { .jobs = 2, .dir = dir, .backend = "sim", .config = "gtx480",
			     .program = program, .nworkloads = 2 },
	};

	memcpy(c.options.workloads, rows, 2 * sizeof(rows[0]));
	setenv("GPUEMU_DATADIR", ".", 1);
	return c;
}

static char *text_of(struct study_ctx *c)
{
	struct json_object *o = study_json(c);
	char *text = strdup(json_object_to_json_string(o));

	json_object_put(o);
	return text;
}

static void runs_are_kept(void **state)
{
	struct study_ctx c = begin();
	char *first, *second;

	assert_int_equal(study_run_all(&c), 0);
	assert_int_equal(study_failures(&c), 0);
	/* Asked for twice, done once. */
	assert_int_equal(c.runner.nruns, 4);
	assert_int_equal(done(), 4);
	assert_true(c.tables[0]->cells[0] == 4 && c.tables[0]->cells[2] == 4);
	assert_true(isnan(c.tables[0]->cells[1]));
	assert_true(fabs(study_geomean(c.tables[0], 0) - 4) < 1e-12);
	assert_true(isnan(study_geomean(c.tables[0], 1)));
	first = text_of(&c);
	assert_non_null(strstr(first, "\"paper\": [ 3.500000, null ]"));
	study_free(&c);

	c = begin();
	c.options.jobs = 1;
	assert_int_equal(study_run_all(&c), 0);
	assert_int_equal(done(), 0);
	second = text_of(&c);
	assert_string_equal(first, second);
	free(second);
	study_free(&c);
	/* Where one is missing, or is no report, it alone is done. */
	for (unsigned int i = 0; i < 2; i++) {
		char file[256];
		FILE *out;

		c = begin();
		assert_int_equal(study_run_all(&c), 0);
		snprintf(file, sizeof(file), "%s/runs/%s.json", dir, c.runner.runs[1]->id);
		out = i ? fopen(file, "w") : NULL;
		if (out)
			fclose(out);
		assert_int_equal(i ? 0 : unlink(file), 0);
		study_free(&c);
		c = begin();
		assert_int_equal(study_run_all(&c), 0);
		assert_int_equal(done(), 1);
		second = text_of(&c);
		assert_string_equal(first, second);
		free(second);
		study_free(&c);
	}
	free(first);
}

static void what_changes_is_done_again(void **state)
{
	static const char *const files[] = { "gpu: { sms = 3; };\n", "gpu: { sms = 4; };\n" };
	struct study_ctx c = begin();
	char file[128];

	/* The same file with something else in it. */
	snprintf(file, sizeof(file), "%s/gpu.conf", dir);
	for (unsigned int i = 0; i < 4; i++) {
		FILE *out = fopen(file, "w");

		assert_non_null(out);
		fputs(files[i % 2], out);
		fclose(out);
		study_free(&c);
		c = begin();
		c.options.config = file;
		assert_int_equal(study_run_all(&c), 0);
		assert_int_equal(done(), i < 2 ? 4 : 0);
	}
	study_free(&c);
	c = begin();
	assert_int_equal(study_run_all(&c), 0);
	study_free(&c);
	done();
	c = begin();
	c.options.settings[c.options.nsettings++] = "gpu.sms=3";
	assert_int_equal(study_run_all(&c), 0);
	assert_int_equal(done(), 4);
	study_free(&c);
	c = begin();
	c.options.config = "kepler";
	assert_int_equal(study_run_all(&c), 0);
	assert_int_equal(done(), 4);
	study_free(&c);
	/* --quick has other sizes. */
	c = begin();
	c.options.quick = true;
	assert_int_equal(study_run_all(&c), 0);
	assert_int_equal(done(), 4);
	study_free(&c);
	/* And back: all are still there. */
	c = begin();
	assert_int_equal(study_run_all(&c), 0);
	assert_int_equal(done(), 0);
	study_free(&c);
	c = begin();
	c.options.settings[c.options.nsettings++] = "gpu.smms=3";
	assert_int_equal(study_run_all(&c), -EINVAL);
	assert_non_null(strstr(c.err.text, "gpu.smms"));
	study_free(&c);
}

static void a_failure_is_told(void **state)
{
	struct study_ctx c = begin();
	struct run *bad, *good, *unverified, *hung;
	struct study_table *t;
	struct json_object *o;

	mkdir(dir, 0777);
	assert_int_equal(study_run_all(&c), 0);
	done();
	c.runner.limit = 1;
	bad = study_want(&c, &rows[0], NULL, "fail");
	good = study_want(&c, &rows[0], NULL, "cycles=7");
	unverified = study_want(&c, &rows[0], NULL, "unverified");
	hung = study_want(&c, &rows[0], NULL, "hang");
	runner_execute(&c.runner);
	assert_int_equal(study_failures(&c), 3);
	assert_true(bad->failed && unverified->failed && hung->failed && !good->failed);
	assert_string_equal(bad->why, "no such luck");
	assert_non_null(strstr(hung->why, "no end after 1 s"));
	assert_true(isnan(run_number(bad, "totals.cycles")));
	assert_true(run_number(good, "totals.cycles") == 7);
	/* Not tried twice, nor counted in a mean. */
	done();
	runner_execute(&c.runner);
	assert_int_equal(done(), 0);
	t = study_table(&c, "t", "", 1, true);
	study_column(t, "x", (double)NAN);
	study_cell(t, study_row_add(t, "a"), 0, run_number(bad, "totals.cycles"));
	study_cell(t, study_row_add(t, "b"), 0, 9);
	assert_true(fabs(study_geomean(t, 0) - 9) < 1e-12);
	o = study_json(&c);
	assert_int_equal(json_object_array_length(output_at(o, "failures")), 3);
	json_object_put(o);
	study_free(&c);
	/* A program that is not there. */
	c = begin();
	c.options.program = "/no/such/program";
	c.options.quick = true;
	assert_int_equal(study_run_all(&c), 0);
	assert_int_equal(study_failures(&c), 4);
	study_free(&c);
}

/* Workloads side by side are one run, with the sizes of each. */
/* Some columns of a table as parts of a bar, as they are and as shares of their sum. */
static void parts_of_a_bar(void **state)
{
	for (unsigned int shares = 0; shares < 2; shares++) {
		struct study_ctx c = begin();
		char file[128], text[4096] = "";
		struct study_table *t = study_table(&c, "parts", "a table", 2, true);
		FILE *in;

		c.no_gnuplot = true;
		for (unsigned int k = 0; k < 4; k++)
			study_column(t, (const char *[]){ "other", "a", "b", "c" }[k], (double)NAN);
		for (unsigned int row = 0; row < 2; row++) {
			study_row_add(t, row ? "second" : "first");
			for (unsigned int k = 0; k < 4; k++)
				study_cell(t, row, k, k ? (double)(k * (row + 1)) : 1000);
		}
		study_stack(&c, t, 1, 3, "bytes", shares);
		snprintf(file, sizeof(file), "%s/parts.gp", dir);
		in = fopen(file, "r");
		assert_non_null(in);
		assert_true(fread(text, 1, sizeof(text) - 1, in) > 0);
		fclose(in);
		assert_non_null(strstr(text, shares ? "\"first\" 0.166667 0.333333 0.5\n"
						      "\"second\" 0.166667 0.333333 0.5\n" :
						      "\"first\" 1 2 3\n\"second\" 2 4 6\n"));
		assert_null(strstr(text, "geometric mean"));
		assert_non_null(strstr(text, "a table"));
		study_free(&c);
	}
}

static void sets_of_workloads(void **state)
{
	const struct study_workload *const set[] = { &rows[0], &rows[1] };
	struct study_ctx c = begin();
	struct run *run;

	assert_int_equal(study_run_all(&c), 0);
	done();
	run = study_want_set(&c, set, 2, NULL, "cycles=%u", 9);
	assert_string_equal(run->args, "run alpha + beta n=4 --backend sim --config gtx480 cycles=9");
	assert_ptr_equal(run, study_want_set(&c, set, 2, NULL, "cycles=9"));
	assert_ptr_not_equal(run, study_want_set(&c, set, 1, NULL, "cycles=9"));
	assert_int_equal(strncmp(run->id, "alpha+beta-", 11), 0);
	assert_false(run->alone);
	assert_true(study_want(&c, &rows[0], "uffd", "cycles=9")->alone);
	runner_execute(&c.runner);
	assert_int_equal(done(), 3);
	assert_true(run_number(run, "totals.cycles") == 9);
	study_free(&c);
}

static void a_product_is_part_of_a_run(void **state)
{
	struct study_ctx c = begin();
	char file[128];

	snprintf(file, sizeof(file), "%s/records/alpha", dir);
	for (unsigned int i = 0; i < 3; i++) {
		assert_int_equal(study_run_all(&c), 0);
		done();
		runner_product(study_want(&c, &rows[0], NULL, "--record {dir}/records/alpha"),
			      "{dir}/records/alpha");
		runner_execute(&c.runner);
		assert_int_equal(study_failures(&c), 0);
		/* Done at first, kept, and again without its file. */
		assert_int_equal(done(), i != 1);
		assert_int_equal(access(file, R_OK), 0);
		study_free(&c);
		c = begin();
		if (i == 1)
			assert_int_equal(unlink(file), 0);
	}
	study_free(&c);
}

/* Each row is a workload that is there, and takes the operands of both sizes. */
static void rows_are_workloads(void **state)
{
	const struct study *s;
	unsigned int n = 0;

	for (; (s = study_row(n)); n++) {
		for (const struct study_workload *w = s->workloads; w->name; w++) {
			const struct workload_row *row = workload_find(w->name);
			const char *const sizes[] = { w->full, w->quick };

			if (!row)
				fail_msg("study %s: no workload '%s'", s->name, w->name);
			for (unsigned int i = 0; i < 2; i++) {
				char *text = strdup(sizes[i]), *save;
				struct workload workload;
				struct err err;

				workload_init(&workload, row->ops, 1);
				/* Behind the operands there may be options of the run. */
				for (char *word = strtok_r(text, " ", &save);
				     word && strncmp(word, "--", 2); word = strtok_r(NULL, " ", &save))
					if (workload_set(&workload, word, &err))
						fail_msg("study %s: %s %s: %s", s->name, w->name, word, err.text);
				free(text);
			}
		}
	}
	assert_true(n > 2);
}

/* A study with a row that is no workload does not begin without it. */
static void unknown_rows_fail(void **state)
{
	static const struct study_workload wrong[] = {
		{ "vecadd", "", "" }, { "vecsubtract", "", "" }, { NULL, NULL, NULL },
	};
	const struct study with = { .name = "with", .workloads = wrong };
	struct study_ctx *c = calloc(1, sizeof(*c));

	assert_non_null(c);
	c->study = &with;
	assert_int_equal(study_own_workloads(c), -ENOENT);
	assert_non_null(strstr(c->err.text, "vecsubtract"));
	c->study = study_row(0);
	assert_int_equal(study_own_workloads(c), 0);
	assert_string_equal(c->options.workloads[0].name, c->study->workloads[0].name);
	free(c);
}

static const struct study *study_of(const char *name)
{
	const struct study *s = NULL;

	for (unsigned int n = 0; (s = study_row(n)) && strcmp(s->name, name);)
		n++;
	return s;
}

/* A finding is shown for the runs that it is about. */
static void findings_are_of_their_runs(void **state)
{
	struct study_ctx *c = calloc(1, sizeof(*c));
	struct study_options *o;

	assert_non_null(c);
	o = &c->options;
	c->study = study_of("virtual-thread");
	assert_int_equal(study_own_workloads(c), 0);
	o->config = c->study->config;
	o->backend = "sim";
	assert_non_null(strstr(study_finding(c, "designs"), "--quick"));
	o->quick = true;
	assert_non_null(study_finding(c, "use"));
	assert_null(study_finding(c, "no such table"));
	o->nworkloads--;
	assert_null(study_finding(c, "use"));
	o->nworkloads++;
	o->nsettings = 1;
	assert_null(study_finding(c, "use"));
	o->nsettings = 0;
	o->backend = "uffd";
	assert_null(study_finding(c, "use"));
	o->backend = "sim";
	o->config = "kepler";
	assert_null(study_finding(c, "use"));
	o->config = c->study->config;
	c->failures = 1;
	assert_null(study_finding(c, "use"));
	c->failures = 0;
	c->runner.stopped = SIGINT;
	assert_null(study_finding(c, "use"));
	c->runner.stopped = 0;
	assert_non_null(study_finding(c, "use"));

	/* One about full size. */
	c->study = study_of("paged-memory");
	assert_int_equal(study_own_workloads(c), 0);
	o->config = c->study->config;
	assert_null(study_finding(c, "copy"));
	o->quick = false;
	assert_non_null(study_finding(c, "copy"));
	free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_workloads),
		cmocka_unit_test(unknown_rows_fail),
		cmocka_unit_test(findings_are_of_their_runs),
		cmocka_unit_test_setup_teardown(runs_are_kept, make, unmake),
		cmocka_unit_test_setup_teardown(what_changes_is_done_again, make, unmake),
		cmocka_unit_test_setup_teardown(a_failure_is_told, make, unmake),
		cmocka_unit_test_setup_teardown(parts_of_a_bar, make, unmake),
		cmocka_unit_test_setup_teardown(sets_of_workloads, make, unmake),
		cmocka_unit_test_setup_teardown(a_product_is_part_of_a_run, make, unmake),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
