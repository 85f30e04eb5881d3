// SPDX-License-Identifier: GPL-2.0
/*
 * Runs wanted and runs done: the table of runs, and the loop that starts children, waits for
 * them and for signals. runner_keep.c knows the files, runner_child.c the process.
 */
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <sched.h>
#include <search.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "memory.h"
#include "output.h"
#include "runner.h"

#define PATIENCE	5000000000ull	/* ns that children have to end when asked to */

unsigned int runner_cpus(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) ? 1 : (unsigned int)CPU_COUNT(&set);
}

/* --- folders ------------------------------------------------------------------------------ */

static int make_folder(const char *path, struct err *err)
{
	if (!mkdir(path, 0777) || errno == EEXIST)
		return 0;
	return err_set(err, -errno, "cannot make %s: %s", path, strerror(errno));
}

static void remove_folder(const char *path)
{
	DIR *d = opendir(path);
	struct dirent *e;

	while (d && (e = readdir(d)))
		if (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
			unlinkat(dirfd(d), e->d_name, 0);
	if (d)
		closedir(d);
	rmdir(path);
}

/* True if the runner whose folder has this name ran on this machine and is dead. */
static bool is_leftover(const char *name, const char *host)
{
	size_t n = strlen(host);
	char *end;
	long pid;

	if (name[0] != '.' || strncmp(name + 1, host, n) || name[n + 1] != '.')
		return false;
	pid = strtol(name + n + 2, &end, 10);
	if (*end || pid <= 0)
		return false;
	return pid == getpid() || (kill((pid_t)pid, 0) && errno == ESRCH);
}

static void remove_leftovers(const char *runs, const char *host)
{
	DIR *d = opendir(runs);
	struct dirent *e;

	while (d && (e = readdir(d))) {
		char *path;

		if (!is_leftover(e->d_name, host))
			continue;
		path = text_of("%s/%s", runs, e->d_name);
		remove_folder(path);
		free(path);
	}
	if (d)
		closedir(d);
}

int runner_begin(struct runner *r, struct err *err)
{
	char host[65] = "", *runs = text_of("%s/runs", r->dir);
	int ret;

	if (!r->program)
		r->program = "/proc/self/exe";
	/* A program that does not exist has no digest; its runs report the error. */
	digest_file(r->program, r->program_digest);
	gethostname(host, sizeof(host) - 1);
	r->scratch = text_of("%s/.%s.%ld", runs, host, (long)getpid());
	ret = make_folder(r->dir, err);
	if (!ret)
		ret = make_folder(runs, err);
	if (!ret) {
		remove_leftovers(runs, host);
		ret = make_folder(r->scratch, err);
	}
	free(runs);
	return ret;
}

static void free_run(struct run *run)
{
	json_object_put(run->report);
	free(run->id);
	free(run->args);
	free(run->product);
	free(run);
}

static void keep_node(void *node)
{
	(void)node;
}

void runner_end(struct runner *r)
{
	if (r->scratch)
		remove_folder(r->scratch);
	tdestroy(r->by_args, keep_node);
	for (size_t i = 0; i < r->nruns; i++)
		free_run(r->runs[i]);
	for (struct run_group *g = r->groups, *next; g; g = next) {
		next = g->next;
		free(g->name);
		free(g);
	}
	free(r->runs);
	free(r->scratch);
	r->by_args = NULL;
	r->runs = NULL;
	r->nruns = 0;
	r->groups = NULL;
	r->scratch = NULL;
	runner_forget(r);
}

/* --- wanting ------------------------------------------------------------------------------ */

static struct run_group *group_of(struct runner *r, const char *name)
{
	struct run_group *g = r->groups;

	while (g && strcmp(g->name, name))
		g = g->next;
	if (g)
		return g;
	g = must(calloc(1, sizeof(*g)));
	g->name = must(strdup(name));
	g->next = r->groups;
	r->groups = g;
	return g;
}

static int by_args(const void *a, const void *b)
{
	const struct run *x = a, *y = b;
	int order = strcmp(x->args, y->args);

	return order ? order : (x->repeat > y->repeat) - (x->repeat < y->repeat);
}

struct run *runner_want(struct runner *r, const char *name, const char *args, unsigned int flags)
{
	struct run wanted = { .args = (char *)args, .repeat = flags / RUN_REPEAT(1) };
	struct run **found = must(tsearch(&wanted, &r->by_args, by_args)), *run;

	if (*found != &wanted)
		return *found;
	run = must(calloc(1, sizeof(*run)));
	*found = run;
	run->args = must(strdup(args));
	run->repeat = wanted.repeat;
	run->id = run_digest(r, name, args, run->repeat);
	run->group = group_of(r, name);
	run->alone = flags & RUN_ALONE;
	if (r->shards && !(flags & RUN_EVERYWHERE))
		run->elsewhere = r->shared++ % r->shards != r->shard - 1;
	r->runs = must(realloc(r->runs, (r->nruns + 1) * sizeof(struct run *)));
	r->runs[r->nruns++] = run;
	return run;
}

void runner_product(struct run *run, const char *file)
{
	if (!run->product)
		run->product = must(strdup(file));
}

double run_number(const struct run *run, const char *path)
{
	struct json_object *o = run ? output_at(run->report, path) : NULL;

	return o ? json_object_get_double(o) : (double)NAN;
}

void runner_look_again(struct runner *r)
{
	for (size_t i = 0; i < r->nruns; i++)
		if (r->runs[i]->elsewhere && !r->runs[i]->report)
			run_take(r, r->runs[i]);
}

size_t runner_missing(const struct runner *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->nruns; i++)
		n += !r->runs[i]->report && !r->runs[i]->failed && !r->runs[i]->elsewhere;
	return n;
}

bool runner_next(size_t *at, const size_t *sizes, size_t n)
{
	while (n--) {
		if (++at[n] < sizes[n])
			return true;
		at[n] = 0;
	}
	return false;
}

/* --- doing -------------------------------------------------------------------------------- */

struct execution {
	struct runner *r;
	const struct run *latest;	/* that was started */
	size_t next, done, all;
	bool alone;
	sigset_t signals, stops, before;
};

static void tell_failure(struct runner *r, struct run *run)
{
	run->failed = true;
	r->failures++;
	runner_progress_end();
	fprintf(stderr, "%s: gpuemu %s: %s\n", r->who, run->args, *run->why ? run->why : "failed");
}

static void finish(struct execution *x, struct run *run, int status)
{
	struct runner *r = x->r;

	run->pid = 0;
	run->seconds = (double)(now_ns() - run->began) * 1e-9;
	if (WIFEXITED(status) && !WEXITSTATUS(status)) {
		run_keep(r, run);
	} else {
		run_complain(r, run);
		if (WIFSIGNALED(status) && !*run->why)
			snprintf(run->why, sizeof(run->why), "ended by signal %d (%s)",
				 WTERMSIG(status), strsignal(WTERMSIG(status)));
		else if (!*run->why)
			snprintf(run->why, sizeof(run->why), "ended with status %d and said nothing",
				 WEXITSTATUS(status));
	}
	if (run->report)
		run_took(run, run->seconds);
	else if (r->stopped)
		run->why[0] = '\0';
	else
		tell_failure(r, run);
	x->done += run->report || run->failed;
}

static void start_some(struct execution *x)
{
	struct runner *r = x->r;
	unsigned int jobs = x->alone ? 1 : r->jobs;

	while (r->running < jobs && x->next < r->nruns && !r->stopped) {
		struct run *run = r->runs[x->next++];

		if (run->report || run->failed || run->elsewhere || run->alone != x->alone)
			continue;
		if (run_start(r, run, &x->before)) {
			tell_failure(r, run);
			x->done++;
		} else {
			r->running++;
			x->latest = run;
			runner_progress(r, x->done, x->all, run, run->began);
		}
	}
}

static void reap(struct execution *x)
{
	struct runner *r = x->r;

	for (size_t i = 0; r->running && i < r->nruns; i++) {
		struct run *run = r->runs[i];
		int status;

		if (!run->pid || waitpid(run->pid, &status, WNOHANG) <= 0)
			continue;
		r->running--;
		finish(x, run, status);
	}
}

static void signal_all(struct runner *r, int sig)
{
	for (size_t i = 0; i < r->nruns; i++)
		if (r->runs[i]->pid)
			kill(r->runs[i]->pid, sig);
}

/* Ends the runs that have taken longer than the limit. */
static void end_late(struct runner *r)
{
	uint64_t limit = (uint64_t)r->limit * 1000000000u;

	for (size_t i = 0; limit && i < r->nruns; i++) {
		struct run *run = r->runs[i];

		if (!run->pid || *run->why || now_ns() - run->began < limit)
			continue;
		snprintf(run->why, sizeof(run->why), "no end after %u s (--limit)", r->limit);
		kill(run->pid, SIGKILL);
	}
}

/* Waits until a child ends, a signal comes, or a second is over. */
static void wait_some(struct execution *x)
{
	const struct timespec second = { .tv_sec = 1 }, none = { 0 };
	int sig = sigtimedwait(&x->stops, NULL, &none);

	/*
	 * Children of a terminal get Ctrl-C too. Reading the signal first tells why they
	 * ended.
	 */
	if (sig <= 0)
		sig = sigtimedwait(&x->signals, NULL, &second);
	if (sig > 0 && sig != SIGCHLD)
		x->r->stopped = sig;
}

/* Asks the children to end, and kills them later. */
static void end_all(struct execution *x)
{
	const struct timespec nap = { .tv_nsec = 100000000 };
	struct runner *r = x->r;
	uint64_t asked = now_ns();

	signal_all(r, SIGTERM);
	for (reap(x); r->running; reap(x)) {
		int sig = sigtimedwait(&x->signals, NULL, &nap);

		/* A second signal: do not wait any longer. */
		if ((sig > 0 && sig != SIGCHLD) || now_ns() - asked > PATIENCE)
			signal_all(r, SIGKILL);
	}
}

static void execute(struct execution *x)
{
	struct runner *r = x->r;

	x->next = 0;
	for (start_some(x); r->running && !r->stopped; start_some(x)) {
		wait_some(x);
		if (r->stopped)
			break;
		reap(x);
		end_late(r);
		runner_progress(r, x->done, x->all, x->latest, now_ns());
	}
	if (r->stopped)
		end_all(x);
}

/* A process that ignores a signal, as under nohup, is not stopped by it. */
static void add_stop(sigset_t *stops, int sig)
{
	struct sigaction a;

	if (!sigaction(sig, NULL, &a) && a.sa_handler != SIG_IGN)
		sigaddset(stops, sig);
}

static void tell_stop(struct runner *r)
{
	size_t kept = 0, wanted = 0;

	for (size_t i = 0; i < r->nruns; i++) {
		wanted += !r->runs[i]->elsewhere;
		kept += r->runs[i]->report != NULL;
	}
	fprintf(stderr, "%s: stopped (%s): %zu of %zu %s are done and kept in %s; "
		"the same command goes on from there\n", r->who, strsignal(r->stopped), kept, wanted,
		r->what ? r->what : "runs", r->dir);
}

void runner_execute(struct runner *r)
{
	struct execution x = { .r = r };

	for (size_t i = 0; i < r->nruns; i++) {
		struct run *run = r->runs[i];
		double seconds;

		if (run->report || run->failed || !run_take(r, run))
			continue;
		seconds = run_number(run, "totals.host_seconds");
		if (seconds > 0)
			run_took(run, seconds);
	}
	x.all = runner_missing(r);
	if (!x.all || r->stopped)
		return;
	sigemptyset(&x.stops);
	add_stop(&x.stops, SIGINT);
	add_stop(&x.stops, SIGTERM);
	add_stop(&x.stops, SIGHUP);
	x.signals = x.stops;
	sigaddset(&x.signals, SIGCHLD);
	sigprocmask(SIG_BLOCK, &x.signals, &x.before);
	execute(&x);
	x.alone = true;
	if (!r->stopped)
		execute(&x);
	sigprocmask(SIG_SETMASK, &x.before, NULL);
	runner_progress_end();
	if (r->stopped)
		tell_stop(r);
}
