// SPDX-License-Identifier: GPL-2.0
/*
 * The runner of runs, with a shell script in the place of gpuemu: what is kept is not done again
 * and what can change a report makes it another run; a killed runner goes on; signals end the
 * children; and how long the rest takes, by hand.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "output.h"
#include "runner.h"

#define SECOND	1000000000ull

static char dir[64], out[96], program[96], counter[96];
static const char *ptx_text;

/*
 * Notes each run with its process. "half" writes half a report and hangs, "hang" hangs; both only
 * while DIR/stuck is there. "fail" says why and fails.
 */
static const char script[] =
	"#!/bin/sh\n"
	"echo \"$$ $*\" >>%s/counter\n"
	"for last; do case $last in cycles=*) n=${last#cycles=} ;; fail) echo 'no such luck' >&2; exit 1 ;; "
	"crash) kill -SEGV $$ ;; half|hang) stuck=$last ;; esac; done\n"
	"if [ \"$stuck\" ] && [ -e %s/stuck ]; then\n"
	"[ $stuck = hang ] || printf '{\"workload\":{\"verified\":tr' >\"$last\"\n"
	"exec sleep 100\nfi\n"
	"echo \"{\\\"workload\\\":{\\\"verified\\\":true},\\\"totals\\\":{\\\"cycles\\\":${n:-1},"
	"\\\"host_seconds\\\":2.5}}\" >\"$last\"\n";

static void write_file(const char *file, const char *text)
{
	FILE *f = fopen(file, "w");

	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

static const char *path(const char *name)
{
	static char text[4][128];
	static unsigned int next;

	next = (next + 1) % 4;
	snprintf(text[next], sizeof(text[0]), "%s/%s", dir, name);
	return text[next];
}

static void write_program(const char *more)
{
	char text[2048];
	int n = snprintf(text, sizeof(text), script, dir, dir);

	snprintf(text + n, sizeof(text) - (size_t)n, "%s", more);
	write_file(program, text);
	assert_int_equal(chmod(program, 0700), 0);
}

static int make(void **state)
{
	strcpy(dir, "/tmp/gpuemu-runner-XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	snprintf(out, sizeof(out), "%s/out", dir);
	snprintf(program, sizeof(program), "%s/program", dir);
	snprintf(counter, sizeof(counter), "%s/counter", dir);
	ptx_text = "one";
	setenv("GPUEMU_DATADIR", ".", 1);
	write_program("");
	return 0;
}

static int unmake(void **state)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command);
}

static bool fake_ptx(const char *word, const char **begin, const char **end)
{
	*begin = ptx_text;
	*end = ptx_text + strlen(ptx_text);
	return !strcmp(word, "alpha");
}

static struct runner begin(void)
{
	struct runner r = { .who = "test", .dir = out, .program = program, .jobs = 2,
			    .ptx = fake_ptx };
	struct err err;

	if (runner_begin(&r, &err))
		fail_msg("%s", err.text);
	return r;
}

/* How many runs have been begun. */
static unsigned int begun(void)
{
	FILE *in = fopen(counter, "r");
	unsigned int n = 0;
	int c;

	while (in && (c = fgetc(in)) != EOF)
		n += c == '\n';
	if (in)
		fclose(in);
	return n;
}

/* Since the last call. */
static unsigned int done(void)
{
	unsigned int n = begun();

	unlink(counter);
	return n;
}

/* Wants these words alone, and says whether they were run. */
static bool is_run(const char *args)
{
	struct runner r = begin();
	struct run *run = runner_want(&r, "alpha", args, 0);

	runner_execute(&r);
	assert_non_null(run->report);
	assert_int_equal(r.failures, 0);
	runner_end(&r);
	return done();
}

static void nap(void)
{
	const struct timespec t = { .tv_nsec = 10000000 };

	nanosleep(&t, NULL);
}

static void wait_begun(unsigned int n)
{
	for (unsigned int i = 0; begun() < n; i++) {
		assert_true(i < 6000);
		nap();
	}
}

/* A zombie has ended, whether somebody asks for its status or not. */
static bool alive(pid_t pid)
{
	char file[64], state = 'Z';
	FILE *in;

	snprintf(file, sizeof(file), "/proc/%d/stat", (int)pid);
	in = fopen(file, "r");
	if (!in)
		return false;
	if (fscanf(in, "%*d (%*[^)]) %c", &state) != 1)
		state = 'Z';
	fclose(in);
	return state != 'Z';
}

/* Every process that noted itself has ended. */
static void check_no_orphan(void)
{
	FILE *in = fopen(counter, "r");
	char line[256];

	assert_non_null(in);
	while (fgets(line, sizeof(line), in)) {
		pid_t pid = (pid_t)strtol(line, NULL, 10);

		assert_true(pid > 1);
		for (unsigned int i = 0; alive(pid); i++) {
			if (i > 3000)
				fail_msg("an orphan: %s", line);
			nap();
		}
	}
	fclose(in);
}

/* --- what is kept ----------------------------------------------------------------------- */

static void wanted_twice_is_done_once(void **state)
{
	struct runner r = begin();
	struct run *a = runner_want(&r, "alpha", "run alpha cycles=3", 0);
	struct run *b = runner_want(&r, "alpha", "run alpha cycles=4", RUN_ALONE);

	assert_ptr_equal(a, runner_want(&r, "alpha", "run alpha cycles=3", 0));
	assert_ptr_not_equal(a, b);
	assert_int_equal(runner_missing(&r), 2);
	assert_true(isnan(run_number(a, "totals.cycles")));
	runner_execute(&r);
	assert_int_equal(runner_missing(&r), 0);
	assert_true(run_number(a, "totals.cycles") == 3 && run_number(b, "totals.cycles") == 4);
	assert_true(isnan(run_number(a, "totals.nothing")));
	runner_execute(&r);
	assert_int_equal(done(), 2);
	runner_end(&r);
	assert_false(is_run("run alpha cycles=3"));
	assert_true(is_run("run alpha cycles=5"));
}

static void what_can_change_it_makes_another(void **state)
{
	char with[256], config[256], policy[256];

	assert_true(is_run("run alpha"));
	/* The PTX of a workload among the words, wherever it stands; and back. */
	assert_true(is_run("run beta"));
	ptx_text = "another";
	assert_true(is_run("run alpha"));
	assert_false(is_run("run beta"));
	assert_true(is_run("run beta + alpha"));
	ptx_text = "one";
	assert_false(is_run("run alpha"));
	assert_true(is_run("run beta + alpha"));
	/* The program. */
	write_program("# built anew\n");
	assert_true(is_run("run alpha"));
	write_program("");
	assert_false(is_run("run alpha"));
	/* A configuration: what it says, not how, and what it includes. */
	snprintf(config, sizeof(config), "run alpha --config %s", path("gpu.conf"));
	write_file(path("gpu.conf"), "gpu: { sms = 3; };\n");
	assert_true(is_run(config));
	write_file(path("gpu.conf"), "# The same.\ngpu: { sms = 3; };\n");
	assert_true(!is_run(config));
	write_file(path("gpu.conf"), "gpu: { sms = 4; };\n");
	assert_true(is_run(config));
	/* Files that a run reads; not those that it writes. */
	snprintf(policy, sizeof(policy), "run alpha --set paging.prefetch=%s:pages=4", path("mine.so"));
	snprintf(with, sizeof(with), "run alpha --recorded %s --record %s", path("read"), path("written"));
	for (unsigned int i = 0; i < 3; i++) {
		write_file(path("mine.so"), i ? "two" : "one");
		write_file(path("read"), i ? "two" : "one");
		write_file(path("written"), i == 2 ? "two" : "one");
		assert_true(is_run(policy) == (i < 2));
		assert_true(is_run(with) == (i < 2));
	}
}

static void a_failure_leaves_the_others(void **state)
{
	struct runner r = begin();
	struct run *bad = runner_want(&r, "alpha", "run alpha fail", 0);
	struct run *crashed = runner_want(&r, "alpha", "run alpha crash", 0);
	struct run *good[4], *hung;
	char file[256], line[64] = "";
	FILE *in;

	write_file(path("stuck"), "");
	r.limit = 1;
	hung = runner_want(&r, "alpha", "run alpha hang", 0);
	for (unsigned int i = 0; i < 4; i++) {
		char args[64];

		snprintf(args, sizeof(args), "run alpha cycles=%u", i + 1);
		good[i] = runner_want(&r, "alpha", args, 0);
	}
	runner_execute(&r);
	assert_int_equal(r.failures, 3);
	assert_true(bad->failed && crashed->failed && hung->failed);
	assert_string_equal(bad->why, "no such luck");
	assert_non_null(strstr(crashed->why, "ended by signal 11"));
	assert_non_null(strstr(hung->why, "no end after 1 s"));
	for (unsigned int i = 0; i < 4; i++)
		assert_true(run_number(good[i], "totals.cycles") == i + 1);
	/* All that it said is there to read. */
	snprintf(file, sizeof(file), "%s/runs/%s.err", out, bad->id);
	in = fopen(file, "r");
	assert_non_null(in);
	assert_non_null(fgets(line, sizeof(line), in));
	assert_string_equal(line, "no such luck\n");
	fclose(in);
	assert_int_equal(done(), 7);
	runner_execute(&r);
	assert_int_equal(done(), 0);
	runner_end(&r);
	/* Tried again by the next one. */
	r = begin();
	runner_want(&r, "alpha", "run alpha fail", 0);
	runner_execute(&r);
	assert_int_equal(done(), 1);
	runner_end(&r);
}

static void shards_share_the_work(void **state)
{
	char args[8][64];
	unsigned int sum = 0;

	for (unsigned int shard = 1; shard <= 3; shard++) {
		struct runner r = begin();
		unsigned int n;

		r.shard = shard;
		r.shards = 3;
		for (unsigned int i = 0; i < 8; i++) {
			snprintf(args[i], sizeof(args[i]), "run alpha cycles=%u", i + 1);
			runner_want(&r, "alpha", args[i], 0);
		}
		runner_execute(&r);
		assert_int_equal(runner_missing(&r), 0);
		n = done();
		assert_int_equal(n, shard < 3 ? 3 : 2);
		sum += n;
		/* What the others have kept so far is there, too. */
		for (unsigned int i = 0, there = 0; i < 8; i++) {
			there += r.runs[i]->report != NULL;
			if (i == 7)
				assert_int_equal(there, sum);
		}
		runner_end(&r);
	}
	assert_int_equal(sum, 8);
	for (unsigned int i = 0; i < 8; i++)
		assert_false(is_run(args[i]));
}

/* What all of them need is done by the first; who ends before others looks again. */
static void shards_need_some_runs_all(void **state)
{
	struct runner r[2] = { begin(), begin() };
	struct run *own[2], *needed;

	for (unsigned int i = 0; i < 2; i++) {
		r[i].shard = i + 1;
		r[i].shards = 2;
		needed = runner_want(&r[i], "alpha", "run alpha cycles=9", RUN_EVERYWHERE);
		own[0] = runner_want(&r[i], "alpha", "run alpha cycles=1", 0);
		own[1] = runner_want(&r[i], "alpha", "run alpha cycles=2", 0);
		runner_execute(&r[i]);
		assert_int_equal(done(), i ? 1 : 2);
		assert_true(run_number(needed, "totals.cycles") == 9);
		/* Of the first the second had not begun. */
		assert_true(own[0]->report && !own[1]->report == !i);
	}
	assert_null(r[0].runs[2]->report);
	runner_look_again(&r[0]);
	assert_true(run_number(r[0].runs[2], "totals.cycles") == 2);
	runner_end(&r[0]);
	runner_end(&r[1]);
}

static void repeats_are_runs_of_their_own(void **state)
{
	for (unsigned int times = 2; times <= 3; times++) {
		struct runner r = begin();
		struct run *runs[3];

		for (unsigned int i = 0; i < times; i++)
			runs[i] = runner_want(&r, "alpha", "run alpha cycles=1", RUN_REPEAT(i));
		assert_ptr_equal(runs[1], runner_want(&r, "alpha", "run alpha cycles=1",
						      RUN_REPEAT(1) | RUN_ALONE));
		assert_ptr_equal(runs[0], runner_want(&r, "alpha", "run alpha cycles=1", 0));
		runner_execute(&r);
		assert_string_not_equal(runs[0]->id, runs[1]->id);
		/* The first two are kept when there are three. */
		assert_int_equal(done(), times == 2 ? 2 : 1);
		assert_int_equal(r.nruns, times);
		runner_end(&r);
	}
}

static void combinations(void **state)
{
	static const char *const all[] = { "000", "001", "002", "100", "101", "102" };
	const size_t sizes[] = { 2, 1, 3 };
	size_t at[3] = { 0 }, n = 0;
	char text[8];

	do {
		snprintf(text, sizeof(text), "%zu%zu%zu", at[0], at[1], at[2]);
		assert_true(n < ARRAY_SIZE(all));
		assert_string_equal(text, all[n++]);
	} while (runner_next(at, sizes, 3));
	assert_int_equal(n, ARRAY_SIZE(all));
	assert_false(runner_next(at, sizes, 0));
}

/* --- ends ------------------------------------------------------------------------------- */

/* In a process of its own: two quick runs, then two that are stuck. Ends with `stopped`. */
static pid_t start_stuck(void)
{
	pid_t pid = fork();
	struct runner r;
	int stopped;

	assert_true(pid >= 0);
	if (pid)
		return pid;
	/* What it says is no part of the test's output. */
	dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
	r = begin();
	runner_want(&r, "alpha", "run alpha cycles=1", 0);
	runner_want(&r, "alpha", "run alpha cycles=2", 0);
	runner_want(&r, "alpha", "run alpha half", 0);
	runner_want(&r, "alpha", "run alpha hang", 0);
	runner_want(&r, "alpha", "run alpha cycles=5", 0);
	runner_execute(&r);
	stopped = r.failures ? 255 : r.stopped;
	runner_end(&r);
	_exit(stopped);
}

/* Two were done before it ended, and only the rest is done now. */
static void check_goes_on(void)
{
	struct runner r;
	unsigned int files = 0;
	char command[512];
	FILE *in;

	assert_int_equal(unlink(path("stuck")), 0);
	assert_int_equal(done(), 4);
	r = begin();
	/* Of what was being done nothing is left, whoever ended it. */
	snprintf(command, sizeof(command), "find %s -name '*.json' | grep -c . ; find %s -path '*/.*' "
		 "-type f | grep -c .", out, out);
	in = popen(command, "r");
	assert_non_null(in);
	assert_int_equal(fscanf(in, "%u", &files), 1);
	assert_int_equal(files, 2);
	assert_int_equal(fscanf(in, "%u", &files), 1);
	assert_int_equal(files, 0);
	pclose(in);
	runner_want(&r, "alpha", "run alpha cycles=1", 0);
	runner_want(&r, "alpha", "run alpha cycles=2", 0);
	runner_want(&r, "alpha", "run alpha half", 0);
	runner_want(&r, "alpha", "run alpha hang", 0);
	runner_want(&r, "alpha", "run alpha cycles=5", 0);
	runner_execute(&r);
	assert_int_equal(r.failures, 0);
	assert_int_equal(runner_missing(&r), 0);
	assert_int_equal(done(), 3);
	runner_end(&r);
}

static void killed_it_goes_on(void **state)
{
	int status;
	pid_t pid;

	write_file(path("stuck"), "");
	pid = start_stuck();
	wait_begun(4);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	check_no_orphan();
	check_goes_on();
}

static void stopped_it_goes_on(void **state)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };

	for (size_t i = 0; i < ARRAY_SIZE(signals); i++) {
		int status;
		pid_t pid;

		write_file(path("stuck"), "");
		pid = start_stuck();
		wait_begun(4);
		/* Once it has been waiting: what was quick has ended and is kept. */
		nap();
		assert_int_equal(kill(pid, signals[i]), 0);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), signals[i]);
		check_no_orphan();
		check_goes_on();
		assert_int_equal(unmake(NULL), 0);
		assert_int_equal(make(NULL), 0);
	}
}

/* As under nohup. */
static void ignored_signals_do_not_stop(void **state)
{
	int status;
	pid_t pid;

	write_file(path("stuck"), "");
	signal(SIGHUP, SIG_IGN);
	pid = start_stuck();
	signal(SIGHUP, SIG_DFL);
	wait_begun(4);
	assert_int_equal(kill(pid, SIGHUP), 0);
	for (unsigned int i = 0; i < 20; i++)
		nap();
	assert_int_equal(waitpid(pid, &status, WNOHANG), 0);
	assert_int_equal(kill(pid, SIGTERM), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(WEXITSTATUS(status), SIGTERM);
}

/* --- how long the rest takes ---------------------------------------------------------------- */

static void estimates(void **state)
{
	struct runner r = begin();
	struct run *a = runner_want(&r, "short", "a", 0), *b = runner_want(&r, "short", "b", 0);
	struct run *c = runner_want(&r, "long", "c", 0), *d = runner_want(&r, "long", "d", 0);
	struct run *e = runner_want(&r, "new", "e", RUN_ALONE);
	struct runner_estimate x = runner_estimate(&r, 0, 5, 0);
	char text[24];

	/* Nothing is known. */
	assert_true(isnan(x.remaining) && isnan(x.share));
	assert_true(x.done == 0 && x.all == 5);
	/* a took 2 s, c took 10: b 2, d 10, and of e what is known is their mean, 6, alone. */
	a->report = json_object_new_object();
	a->seconds = 2;
	run_took(a, 2);
	c->report = json_object_new_object();
	c->seconds = 10;
	run_took(c, 10);
	x = runner_estimate(&r, 2, 5, 0);
	/* Two at a time take max((2 + 10) / 2, 10) = 10 s; then 6. Done are 12 s of 30. */
	assert_true(fabs(x.remaining - 16) < 1e-9);
	assert_true(fabs(x.share - 12.0 / 30) < 1e-9);
	/* d has run for 4 s: 6 are left, max((2 + 6) / 2, 6) = 6, then 6; done are 16 s of 30. */
	d->pid = 1;
	d->began = 3 * SECOND;
	x = runner_estimate(&r, 2, 5, 7 * SECOND);
	assert_true(fabs(x.remaining - 12) < 1e-9);
	assert_true(fabs(x.share - 16.0 / 30) < 1e-9);
	/* It runs for longer than it should: b alone takes 2, then 6. */
	x = runner_estimate(&r, 2, 5, 100 * SECOND);
	assert_true(fabs(x.remaining - 8) < 1e-9);
	/* One at a time: 2 + 6, then 6. */
	r.jobs = 1;
	x = runner_estimate(&r, 2, 5, 7 * SECOND);
	assert_true(fabs(x.remaining - 14) < 1e-9);
	/* Those of others and those that failed are no work; a failed one's time has been spent. */
	d->pid = 0;
	d->elsewhere = true;
	b->failed = true;
	b->seconds = 1;
	x = runner_estimate(&r, 3, 5, 7 * SECOND);
	assert_true(fabs(x.remaining - 6) < 1e-9);
	assert_true(fabs(x.share - 13.0 / 19) < 1e-9);
	e->failed = true;
	x = runner_estimate(&r, 4, 5, 7 * SECOND);
	assert_true(x.remaining == 0 && x.share == 1);
	assert_string_equal(runner_duration(text, 59.4), "59s");
	assert_string_equal(runner_duration(text, 59.5), "1m00s");
	assert_string_equal(runner_duration(text, 3599), "59m59s");
	assert_string_equal(runner_duration(text, 2 * 3600 + 125), "2h02m");
	runner_end(&r);
}

/* Where there is no terminal: a line a minute, with what is known by then. */
static void progress_is_a_line_a_minute(void **state)
{
	struct runner r = begin();
	struct run *a = runner_want(&r, "short", "a", 0);
	int before = dup(STDERR_FILENO), file = open(path("said"), O_RDWR | O_CREAT, 0600);
	char text[256] = "";

	runner_want(&r, "short", "b", 0);
	assert_true(before >= 0 && file >= 0);
	fflush(stderr);
	dup2(file, STDERR_FILENO);
	runner_progress(&r, 0, 2, a, SECOND);
	runner_progress(&r, 0, 2, a, 60 * SECOND);
	runner_progress(&r, 0, 2, a, 61 * SECOND);
	a->report = json_object_new_object();
	a->seconds = 90;
	run_took(a, 90);
	r.failures = 1;
	runner_progress(&r, 1, 2, a, 120 * SECOND);
	runner_progress(&r, 1, 2, a, 121 * SECOND);
	fflush(stderr);
	dup2(before, STDERR_FILENO);
	close(before);
	assert_true(pread(file, text, sizeof(text) - 1, 0) > 0);
	close(file);
	assert_string_equal(text, "test: 0 of 2 runs\n"
			    "test: 1 of 2 runs, 50%, 1m30s left, 1 failed\n");
	runner_end(&r);
}

/* What kept reports say they took is known, too. */
static void kept_times_are_known(void **state)
{
	struct runner r;

	assert_true(is_run("run alpha cycles=1"));
	r = begin();
	runner_want(&r, "alpha", "run alpha cycles=1", 0);
	runner_execute(&r);
	runner_want(&r, "alpha", "run alpha cycles=2", 0);
	assert_true(fabs(runner_estimate(&r, 0, 1, 0).remaining - 2.5) < 1e-9);
	assert_true(runner_estimate(&r, 0, 1, 0).share == 0);
	runner_end(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(wanted_twice_is_done_once, make, unmake),
		cmocka_unit_test_setup_teardown(what_can_change_it_makes_another, make, unmake),
		cmocka_unit_test_setup_teardown(a_failure_leaves_the_others, make, unmake),
		cmocka_unit_test_setup_teardown(shards_share_the_work, make, unmake),
		cmocka_unit_test_setup_teardown(shards_need_some_runs_all, make, unmake),
		cmocka_unit_test_setup_teardown(repeats_are_runs_of_their_own, make, unmake),
		cmocka_unit_test(combinations),
		cmocka_unit_test_setup_teardown(killed_it_goes_on, make, unmake),
		cmocka_unit_test_setup_teardown(stopped_it_goes_on, make, unmake),
		cmocka_unit_test_setup_teardown(ignored_signals_do_not_stop, make, unmake),
		cmocka_unit_test_setup_teardown(estimates, make, unmake),
		cmocka_unit_test_setup_teardown(progress_is_a_line_a_minute, make, unmake),
		cmocka_unit_test_setup_teardown(kept_times_are_known, make, unmake),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
