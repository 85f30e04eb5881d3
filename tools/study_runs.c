// SPDX-License-Identifier: GPL-2.0
/*
 * The runs of a study: wanted, done by children of this same program, some at a time, and kept.
 * A kept report is taken when its arguments and the configuration are the same; who
 * rebuilds gpuemu and wants new numbers takes another folder.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "output.h"
#include "study.h"

#define ARGS_MAX	64

extern char **environ;

/* FNV-1a, 64 bits. */
static uint64_t hash(uint64_t h, const char *text)
{
	for (; *text; text++)
		h = (h ^ (unsigned char)*text) * 0x100000001b3ull;
	return h;
}

uint64_t study_fingerprint(const struct study_ctx *c, const char *spec)
{
	uint64_t h = hash(0xcbf29ce484222325ull, spec);

	return hash(h, c->options.config);
}

/* --- wanting --------------------------------------------------------------------------- */

static struct study_run *find(struct study_ctx *c, const char *id)
{
	for (size_t i = 0; i < c->nruns; i++)
		if (!strcmp(c->runs[i]->id, id))
			return c->runs[i];
	return NULL;
}

static _Noreturn void no_memory(void)
{
	fputs("gpuemu study: no memory\n", stderr);
	exit(1);
}

static void *must(void *p)
{
	if (!p)
		no_memory();
	return p;
}

struct study_run *study_want(struct study_ctx *c, const struct study_workload *w,
			     const char *backend, const char *fmt, ...)
{
	const struct study_options *o = &c->options;
	const char *size = o->quick ? w->quick : w->full;
	char *args, *more, *id;
	struct study_run *r;
	size_t bytes;
	va_list ap;
	FILE *out;

	va_start(ap, fmt);
	if (vasprintf(&more, fmt, ap) < 0)
		no_memory();
	va_end(ap);
	out = must(open_memstream(&args, &bytes));
	fprintf(out, "run %s%s%s --backend %s --config %s", w->name, *size ? " " : "", size,
		backend ? backend : o->backend, o->config);
	for (unsigned int i = 0; i < o->nsettings; i++)
		fprintf(out, " --set %s", o->settings[i]);
	fprintf(out, "%s%s", *more ? " " : "", more);
	fclose(out);
	free(more);
	must(args);
	if (asprintf(&id, "%s-%016llx", w->name,
		     (unsigned long long)hash(c->fingerprint, args)) < 0)
		no_memory();
	r = find(c, id);
	if (r) {
		free(args);
		free(id);
		return r;
	}
	r = must(calloc(1, sizeof(*r)));
	r->alone = strcmp(backend ? backend : o->backend, "sim") != 0;
	r->id = id;
	r->args = args;
	c->runs = must(realloc(c->runs, (c->nruns + 1) * sizeof(struct study_run *)));
	c->runs[c->nruns++] = r;
	return r;
}

/* {dir} put in. */
static char *expanded(const struct study_ctx *c, const char *text)
{
	char *s;
	size_t bytes;
	FILE *out = must(open_memstream(&s, &bytes));

	for (; *text; text++) {
		if (!strncmp(text, "{dir}", 5)) {
			fputs(c->options.dir, out);
			text += 4;
		} else {
			fputc(*text, out);
		}
	}
	fclose(out);
	return must(s);
}

void study_product(struct study_run *r, const char *file)
{
	if (!r->product)
		r->product = must(strdup(file));
}

double study_number(const struct study_run *r, const char *path)
{
	struct json_object *o = r ? output_at(r->report, path) : NULL;

	return o ? json_object_get_double(o) : (double)NAN;
}

/* --- doing --------------------------------------------------------------------------------- */

static char *file_of(const struct study_ctx *c, const struct study_run *r, const char *ending)
{
	char *file;

	if (asprintf(&file, "%s/runs/%s%s", c->options.dir, r->id, ending) < 0)
		no_memory();
	return file;
}

static bool has_product(const struct study_ctx *c, const struct study_run *r)
{
	char *file;
	bool there;

	if (!r->product)
		return true;
	file = expanded(c, r->product);
	there = !access(file, R_OK);
	free(file);
	return there;
}

/* Takes the report of a run that went well; false: there is none. */
static bool take_report(const struct study_ctx *c, struct study_run *r)
{
	char *file = file_of(c, r, ".json");
	struct json_object *o = access(file, R_OK) ? NULL : json_object_from_file(file);

	free(file);
	if (o && (!json_object_get_boolean(output_at(o, "workload.verified")) ||
		  !output_has(o, "totals") || !has_product(c, r))) {
		json_object_put(o);
		o = NULL;
	}
	/* What is told kernel by kernel and SM by SM would be most of the memory. */
	if (o) {
		json_object_object_del(o, "kernels");
		json_object_object_del(o, "sms");
	}
	r->report = o;
	return o;
}

/* The last line that the child said. */
static void take_complaint(const struct study_ctx *c, struct study_run *r)
{
	char *file = file_of(c, r, ".err"), line[256];
	FILE *in = fopen(file, "re");

	while (in && fgets(line, sizeof(line), in)) {
		line[strcspn(line, "\n")] = '\0';
		if (*line)
			snprintf(r->why, sizeof(r->why), "%s", line);
	}
	if (in)
		fclose(in);
	free(file);
}

static void tell_failure(struct study_ctx *c, struct study_run *r)
{
	r->failed = true;
	c->failures++;
	fprintf(stderr, "%sgpuemu study: gpuemu %s: %s\n", isatty(STDERR_FILENO) ? "\r\033[K" : "",
		r->args, *r->why ? r->why : "failed");
}

static int start(struct study_ctx *c, struct study_run *r)
{
	char *argv[ARGS_MAX + 4], *save, *args = expanded(c, r->args);
	char *part = file_of(c, r, ".part"), *errors = file_of(c, r, ".err");
	posix_spawn_file_actions_t actions;
	unsigned int n = 0;
	pid_t pid;
	int ret;

	argv[n++] = (char *)"gpuemu";
	for (char *a = strtok_r(args, " ", &save); a && n < ARGS_MAX; a = strtok_r(NULL, " ", &save))
		argv[n++] = a;
	argv[n++] = (char *)"--json";
	argv[n++] = part;
	argv[n] = NULL;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addopen(&actions, 2, errors, O_WRONLY | O_CREAT | O_TRUNC, 0666);
	ret = -posix_spawn(&pid, c->options.program, &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (ret)
		snprintf(r->why, sizeof(r->why), "cannot be started: %s", strerror(-ret));
	else
		r->pid = pid;
	r->began = now_ns();
	free(args);
	free(part);
	free(errors);
	return ret;
}

static void finish(struct study_ctx *c, struct study_run *r, int status)
{
	char *part = file_of(c, r, ".part"), *file = file_of(c, r, ".json");
	char *errors = file_of(c, r, ".err");

	r->pid = 0;
	if (WIFEXITED(status) && !WEXITSTATUS(status)) {
		/* Whole or not at all: who is stopped here begins it again. */
		if (rename(part, file))
			snprintf(r->why, sizeof(r->why), "cannot write %s: %s", file,
				 strerror(errno));
		else if (take_report(c, r))
			unlink(errors);
		else
			snprintf(r->why, sizeof(r->why), "%s is no report of a run that verified",
				 file);
	} else if (!*r->why) {
		if (WIFSIGNALED(status))
			snprintf(r->why, sizeof(r->why), "ended by signal %d", WTERMSIG(status));
		take_complaint(c, r);
	}
	if (!r->report)
		tell_failure(c, r);
	free(part);
	free(file);
	free(errors);
}

static void show_progress(size_t done, size_t all, const struct study_run *r)
{
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\r\033[K%zu of %zu: %.100s", done, all, r->args);
}

/* Ends those that take longer than they may. */
static void watch(struct study_ctx *c)
{
	uint64_t limit = (uint64_t)c->options.limit * 1000000000u;

	for (size_t i = 0; limit && i < c->nruns; i++) {
		struct study_run *r = c->runs[i];

		if (!r->pid || *r->why || now_ns() - r->began < limit)
			continue;
		snprintf(r->why, sizeof(r->why), "no end after %u s (--limit)", c->options.limit);
		kill(r->pid, SIGKILL);
	}
}

/* Waits for one of them to end. */
static struct study_run *wait_one(struct study_ctx *c, int *status)
{
	const struct timespec nap = { .tv_nsec = 10000000 };

	for (;;) {
		for (size_t i = 0; i < c->nruns; i++)
			if (c->runs[i]->pid && waitpid(c->runs[i]->pid, status, WNOHANG) > 0)
				return c->runs[i];
		watch(c);
		nanosleep(&nap, NULL);
	}
}

/* Those that may, or may not, run beside others. */
static void execute(struct study_ctx *c, bool alone, size_t *done, size_t all)
{
	unsigned int jobs = alone ? 1 : c->options.jobs, running = 0;
	size_t next = 0;

	while (running || next < c->nruns) {
		struct study_run *r;
		int status;

		while (running < jobs && next < c->nruns) {
			r = c->runs[next++];
			if (r->report || r->failed || r->alone != alone)
				continue;
			show_progress(*done, all, r);
			if (start(c, r)) {
				tell_failure(c, r);
				(*done)++;
			} else {
				running++;
			}
		}
		if (!running)
			continue;
		r = wait_one(c, &status);
		finish(c, r, status);
		running--;
		(*done)++;
	}
}

void study_execute(struct study_ctx *c)
{
	size_t done = 0, all = 0;

	for (size_t i = 0; i < c->nruns; i++) {
		struct study_run *r = c->runs[i];

		if (!r->report && !r->failed)
			all += !take_report(c, r);
	}
	execute(c, false, &done, all);
	execute(c, true, &done, all);
	if (all && isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr);
}

void study_run_free(struct study_run *r)
{
	json_object_put(r->report);
	free(r->id);
	free(r->args);
	free(r->product);
	free(r);
}
