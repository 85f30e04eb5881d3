// SPDX-License-Identifier: GPL-2.0
/*
 * Runs the kernels of one file: on the CPU, once, and then on the engine for
 * every PTX file given, and prints a TAP case for each kernel and PTX file.
 *
 *	runner [OPTION]... REFERENCE.so NAME=FILE.ptx...
 *	--timed		on the cycle model; else without time on every lane table of the host
 *	--silicon	on the GPU of this machine, by NVIDIA's driver
 *	--set KEY=VALUE	a setting of the cycle model; --config NAME: another GPU than the default
 *	--statistics FILE	what the cycle model counted for the last PTX file, as JSON
 *	--maxregs LIST	with these limits, one after the other, e.g. 0,64,16
 *	--only NAME	this kernel alone
 *	--quiet		print no case that passes
 *
 * A PTX file runs in a process of its own, so that a crash or a hang costs
 * the case that caused it; the next case gets a new one. Every case that the
 * reference has is planned before anything runs.
 */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine.h"
#include "lanes.h"

#define MAX_CASES	1024
#define CASE_SECONDS	30
#define MAX_LIMITS	32

struct planned {
	const struct diff_case *c;
	struct arguments args;
	char *printed;
	char wrong[256];	/* the CPU's run failed */
};

enum where { WITHOUT_TIME, TIMED, SILICON };

struct job {
	const char *name;
	struct text ptx;
	enum where where;
	bool one_table;
	unsigned int limits[MAX_LIMITS], nlimits;
};

static struct planned cases[MAX_CASES];
static unsigned int ncases, tap_number, tap_failed;
static bool quiet;

/* --- judging -------------------------------------------------------------------------- */
static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static unsigned int sorted_lines(char *text, char **lines, unsigned int max)
{
	unsigned int n = 0;
	char *end;

	for (char *t = strtok_r(text, "\n", &end); t && n < max; t = strtok_r(NULL, "\n", &end))
		lines[n++] = t;
	qsort(lines, n, sizeof(*lines), by_text);
	return n;
}

bool printed_judge(const char *expected, const char *got, char *why, size_t bytes)
{
	char *a = strdup(expected), *b = strdup(got), *want[4096], *have[4096];
	unsigned int n = sorted_lines(a, want, 4096), m = sorted_lines(b, have, 4096), i;

	for (i = 0; i < n && i < m && !strcmp(want[i], have[i]); i++)
		;
	if (i < n || i < m)
		snprintf(why, bytes, "printed %u lines, expected %u: expected '%s', got '%s'", m, n,
			 i < n ? want[i] : "", i < m ? have[i] : "");
	free(a);
	free(b);
	return i >= n && i >= m;
}

bool failure_judge(const struct diff_case *c, int ret, const char *text, char *why, size_t bytes)
{
	if (ret && strstr(text, c->fails))
		return true;
	snprintf(why, bytes, "must fail with '%s', got %d '%s'", c->fails, ret, text);
	return false;
}

/* --- the reference ---------------------------------------------------------------------- */
static void reference(struct planned *p)
{
	void *buffers[MAX_ARGS] = { NULL };
	uint8_t params[MAX_PARAM_BYTES];
	const char *wrong;

	if (!arguments_parse(&p->args, p->c, p->wrong, sizeof(p->wrong)) || p->c->fails)
		return;
	for (unsigned int i = 0; i < p->args.n; i++) {
		struct argument *arg = &p->args.arg[i];

		if (!arg->is_buffer)
			continue;
		arg->expected = aligned_alloc(64, (arg->bytes + 63) & ~63ul);
		argument_fill(arg, p->c, i, arg->expected);
		buffers[i] = arg->expected;
	}
	arguments_params(&p->args, buffers, params);
	wrong = lane_run_grid(p->c, params, &p->printed);
	if (wrong)
		snprintf(p->wrong, sizeof(p->wrong), "the reference: %s", wrong);
}

static int load_reference(const char *path, const char *only)
{
	const struct diff_case **head;
	char real[PATH_MAX];
	/* A name without a slash would be looked for among the system's libraries. */
	void *so = dlopen(realpath(path, real) ? real : path, RTLD_NOW | RTLD_LOCAL);

	head = so ? dlsym(so, "diff_cases") : NULL;
	if (!head) {
		fprintf(stderr, "runner: %s\n", dlerror());
		return -ENOENT;
	}
	for (const struct diff_case *c = *head; c; c = c->next) {
		if (ncases == MAX_CASES)
			return -E2BIG;
		if (!only || !strcmp(only, c->name))
			cases[ncases++].c = c;
	}
	/* The list is from the last row to the first. */
	for (unsigned int i = 0; i < ncases / 2; i++) {
		const struct diff_case *c = cases[i].c;

		cases[i].c = cases[ncases - 1 - i].c;
		cases[ncases - 1 - i].c = c;
	}
	for (unsigned int i = 0; i < ncases; i++)
		reference(&cases[i]);
	return ncases ? 0 : -ENOENT;
}

/* --- one PTX file in a process of its own ------------------------------------------------- */
struct message {
	uint32_t at;		/* run = limit * ncases + case */
	uint32_t state;		/* 0: begins, 1: passed, 2: failed */
	char why[500];
};

static void tell(int fd, struct message *m)
{
	if (write(fd, m, sizeof(*m)) != sizeof(*m))
		_exit(3);
}

static int best_lanes(void)
{
	int n = 0;

	while (functional_lanes(n + 1))
		n++;
	return n;
}

static void *engine_open(const struct job *job, unsigned int limit, char *why, size_t bytes)
{
	switch (job->where) {
	case TIMED:
		return timed_open(job->ptx, job->name, limit, why, bytes);
	case SILICON:
		return silicon_open(job->ptx, job->name, limit, why, bytes);
	default:
		return functional_open(job->ptx, job->name, limit, why, bytes);
	}
}

static void engine_close(const struct job *job, void *engine)
{
	switch (job->where) {
	case TIMED:
		timed_close(engine);
		break;
	case SILICON:
		silicon_close(engine);
		break;
	default:
		functional_close(engine);
	}
}

static bool engine_run(const struct job *job, void *engine, const struct planned *p, int lanes,
		       char *why, size_t bytes)
{
	switch (job->where) {
	case TIMED:
		return timed_run(engine, p->c, &p->args, p->printed, why, bytes);
	case SILICON:
		return silicon_run(engine, p->c, &p->args, p->printed, why, bytes);
	default:
		return functional_run(engine, p->c, &p->args, p->printed, lanes, why, bytes);
	}
}

static bool skipped(const struct job *job, const struct planned *p)
{
	return job->where == SILICON && !silicon_can(p->c);
}

static void child(const struct job *job, unsigned int from, int fd)
{
	int lanes = job->one_table ? best_lanes() : -1;
	struct message m;
	void *engine = NULL;
	bool ok;

	for (unsigned int at = from; at < job->nlimits * ncases; at++) {
		const struct planned *p = &cases[at % ncases];
		unsigned int limit = job->limits[at / ncases];

		memset(&m, 0, sizeof(m));
		m.at = at;
		tell(fd, &m);
		alarm(CASE_SECONDS);
		if (engine && at % ncases == 0) {
			engine_close(job, engine);
			engine = NULL;
		}
		if (!engine)
			engine = engine_open(job, limit, m.why, sizeof(m.why));
		ok = engine && (skipped(job, p) ||
				engine_run(job, engine, p, lanes, m.why, sizeof(m.why)));
		m.state = ok ? 1 : 2;
		tell(fd, &m);
		/* What failed may have left something behind. On a GPU, an error always does. */
		if (engine && (!ok || (job->where == SILICON && p->c->fails)))
			_exit(0);
	}
	/* timed_close() writes the statistics. */
	if (engine && job->where == TIMED)
		engine_close(job, engine);
	_exit(0);
}

struct outcome {
	unsigned int passed, failed;
	char why[600];
};

static void note(const struct job *job, struct outcome *outcomes, unsigned int at, bool ok,
		 const char *why)
{
	struct outcome *o = &outcomes[at % ncases];

	if (ok) {
		o->passed++;
		return;
	}
	if (!o->failed++ && job->nlimits > 1)
		snprintf(o->why, sizeof(o->why), "maxregs %u: %s", job->limits[at / ncases], why);
	else if (o->failed == 1)
		snprintf(o->why, sizeof(o->why), "%s", why);
}

static void run_job(const struct job *job)
{
	struct outcome *outcomes = calloc(ncases, sizeof(*outcomes));
	unsigned int next = 0, total = job->nlimits * ncases;
	char why[64];

	while (next < total) {
		bool running = false;
		struct message m;
		int fds[2], status;
		pid_t pid;

		fflush(stdout);
		if (pipe(fds) || (pid = fork()) < 0) {
			perror("runner");
			exit(2);
		}
		if (!pid) {
			close(fds[0]);
			child(job, next, fds[1]);
		}
		close(fds[1]);
		while (read(fds[0], &m, sizeof(m)) == sizeof(m)) {
			running = m.state == 0;
			next = m.at + !running;
			if (!running)
				note(job, outcomes, m.at, m.state == 1, m.why);
		}
		close(fds[0]);
		waitpid(pid, &status, 0);
		if (running) {
			if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
				snprintf(why, sizeof(why), "no end after %d s", CASE_SECONDS);
			else
				snprintf(why, sizeof(why), "the engine died: %s", WIFSIGNALED(status) ?
					 strsignal(WTERMSIG(status)) : "it left the process");
			note(job, outcomes, next++, false, why);
		} else if (WIFEXITED(status) && WEXITSTATUS(status)) {
			fprintf(stderr, "runner: the child left with %d\n", WEXITSTATUS(status));
			exit(2);
		}
	}
	for (unsigned int i = 0; i < ncases; i++) {
		const struct planned *p = &cases[i];
		struct outcome *o = &outcomes[i];
		bool ok = !p->wrong[0] && !o->failed && o->passed == job->nlimits;

		tap_number++;
		tap_failed += !ok;
		if (ok && quiet)
			continue;
		printf("%sok %u - %s, %s%s\n", ok ? "" : "not ", tap_number, p->c->name, job->name,
		       skipped(job, p) ? " # SKIP no row for a GPU" : "");
		if (!ok)
			printf("# %s\n", p->wrong[0] ? p->wrong : o->why);
	}
	free(outcomes);
}

static bool read_text(const char *path, struct text *text)
{
	FILE *file = fopen(path, "rb");
	long length;

	if (!file)
		return false;
	fseek(file, 0, SEEK_END);
	length = ftell(file);
	rewind(file);
	text->start = malloc(length + 1);
	text->bytes = fread(text->start, 1, length, file);
	text->start[text->bytes] = '\0';
	fclose(file);
	return text->bytes == (size_t)length;
}

static int misused(void)
{
	fprintf(stderr, "usage: runner [--maxregs LIST] [--timed | --silicon] [--set KEY=VALUE] [--config NAME] "
		"[--statistics FILE] [--only KERNEL] [--quiet] REFERENCE.so NAME=FILE.ptx...\n");
	return 2;
}

int main(int argc, char **argv)
{
	struct job job = { .nlimits = 1 };
	const char *only = NULL, *reference_path;
	int i;

	for (i = 1; i < argc && !strncmp(argv[i], "--", 2); i++) {
		if (!strcmp(argv[i], "--timed")) {
			job.where = TIMED;
		} else if (!strcmp(argv[i], "--silicon")) {
			job.where = SILICON;
		} else if (!strcmp(argv[i], "--quiet")) {
			quiet = true;
		} else if (!strcmp(argv[i], "--only") && i + 1 < argc) {
			only = argv[++i];
		} else if (!strcmp(argv[i], "--config") && i + 1 < argc) {
			timed_setup.config = argv[++i];
		} else if (!strcmp(argv[i], "--statistics") && i + 1 < argc) {
			timed_setup.statistics = argv[++i];
		} else if (!strcmp(argv[i], "--set") && i + 1 < argc) {
			size_t have = strlen(timed_setup.settings);

			snprintf(timed_setup.settings + have, sizeof(timed_setup.settings) - have, "%s\n",
				 argv[++i]);
		} else if (!strcmp(argv[i], "--maxregs") && i + 1 < argc) {
			char *end, *t = strtok_r(argv[++i], ",", &end);

			job.one_table = true;
			for (job.nlimits = 0; t && job.nlimits < MAX_LIMITS; t = strtok_r(NULL, ",", &end))
				job.limits[job.nlimits++] = atoi(t);
		} else {
			return misused();
		}
	}
	if (argc - i < 2 || !job.nlimits)
		return misused();
	reference_path = argv[i++];
	if (load_reference(reference_path, only)) {
		fprintf(stderr, "runner: %s has no such kernels\n", reference_path);
		return 2;
	}
	printf("1..%u\n", ncases * (argc - i));
	for (; i < argc; i++) {
		char *equals = strchr(argv[i], '=');

		if (!equals || !read_text(equals + 1, &job.ptx)) {
			fprintf(stderr, "runner: cannot read %s\n", argv[i]);
			return 2;
		}
		*equals = '\0';
		job.name = argv[i];
		run_job(&job);
		free(job.ptx.start);
	}
	if (quiet)
		printf("# %u cases, %u failed\n", tap_number, tap_failed);
	return tap_failed != 0;
}
