// SPDX-License-Identifier: GPL-2.0
/*
 * Launches: set up, timed, judged, in a process each. See run.h. What a process
 * found comes back through a pipe.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <json-c/json.h>

#include "run.h"

static void die(const char *what, const char *why)
{
	fprintf(stderr, "%s: %s\n", what, why);
	exit(1);
}

void run_buffer(struct run *run, const char *name, size_t bytes, bool uploaded)
{
	struct run_buffer *b = &run->buffer[run->nbuffers];

	if (run->nbuffers == RUN_BUFFERS)
		die(run->name, "too many buffers");
	if (run->nbuffers)
		b->offset = (b[-1].offset + b[-1].bytes + 255) & ~(size_t)255;
	snprintf(b->name, sizeof(b->name), "%s", name);
	b->bytes = bytes;
	b->uploaded = uploaded;
	run->nbuffers++;
}

void run_arg(struct run *run, struct gpuemu_arg value)
{
	if (run->nargs == RUN_ARGS)
		die(run->name, "too many arguments");
	run->arg[run->nargs].buffer = -1;
	run->arg[run->nargs++].value = value;
}

void run_arg_buffer(struct run *run, unsigned int buffer)
{
	run_arg(run, gpuemu_arg_u64(0));
	run->arg[run->nargs - 1].buffer = (int)buffer;
}

void run_setting(struct run *run, const char *key, const char *value)
{
	size_t have = strlen(run->settings);

	if (snprintf(run->settings + have, sizeof(run->settings) - have, "%s=%s\n", key, value) >=
	    (int)(sizeof(run->settings) - have))
		die(run->name, "too many settings");
}

void run_setting_u(struct run *run, const char *key, unsigned long value)
{
	char text[24];

	snprintf(text, sizeof(text), "%lu", value);
	run_setting(run, key, text);
}

double json_number(struct json_object *object, const char *path)
{
	while (object && *path) {
		size_t n = strcspn(path, ".");
		char key[64];

		if (n >= sizeof(key))
			return -1;
		memcpy(key, path, n);
		key[n] = '\0';
		path += n + (path[n] == '.');
		if (json_object_is_type(object, json_type_array))
			object = json_object_array_get_idx(object, strtoul(key, NULL, 10));
		else if (!json_object_object_get_ex(object, key, &object))
			object = NULL;
	}
	return object ? json_object_get_double(object) : -1;
}

double outcome_number(const struct outcome *outcome, const char *path)
{
	return json_number(outcome->statistics, path);
}

void outcome_free(struct outcome *outcome)
{
	json_object_put(outcome->statistics);
	free(outcome->json);
	memset(outcome, 0, sizeof(*outcome));
}

static double seconds_of(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

static long most_rss(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_maxrss;
}

/* FNV-1a, over all buffers. */
static uint32_t digest_of(const uint8_t *memory, size_t bytes)
{
	uint32_t h = 2166136261u;

	for (size_t i = 0; i < bytes; i++)
		h = (h ^ memory[i]) * 16777619u;
	return h;
}

/* What the launch needs of an open GPU; false: the last error says why. */
static bool launch(const struct run *run, struct gpuemu_ctx *gpu, uint8_t **memory,
		   struct outcome *outcome)
{
	const struct run_buffer *last = &run->buffer[run->nbuffers - 1];
	size_t bytes = run->nbuffers ? last->offset + last->bytes : 4096;
	struct gpuemu_arg args[RUN_ARGS];
	struct gpuemu_module *module;
	struct gpuemu_function *function;
	double cpu, wall;
	unsigned int i;

	/* One allocation, so that buffers lie as close as the reference's do. */
	if (gpuemu_mem_alloc_managed(gpu, (void **)memory, bytes))
		return false;
	for (i = 0; i < run->nbuffers; i++) {
		const struct run_buffer *b = &run->buffer[i];

		if (run->fill)
			run->fill(run, i, *memory + b->offset);
	}
	if (run->text ? gpuemu_module_load_data(gpu, &module, run->text, strlen(run->text),
						run->name) :
			gpuemu_module_load(gpu, &module, run->ptx))
		return false;
	if (gpuemu_module_get_function(module, &function, run->kernel))
		return false;
	for (i = 0; i < run->nbuffers; i++) {
		const struct run_buffer *b = &run->buffer[i];

		if (b->uploaded && strstr(run->settings, "l2.prefill=1") &&
		    gpuemu_mem_prefetch(gpu, *memory + b->offset, b->bytes, NULL))
			return false;
	}
	for (i = 0; i < run->nargs; i++) {
		args[i] = run->arg[i].value;
		if (run->arg[i].buffer >= 0)
			args[i] = gpuemu_arg_ptr(*memory + run->buffer[run->arg[i].buffer].offset);
	}
	outcome->base_kib = most_rss();
	cpu = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
	wall = seconds_of(CLOCK_MONOTONIC);
	if (gpuemu_launch(function, run->grid, run->block, 0, NULL, args, run->nargs) ||
	    gpuemu_synchronize(gpu))
		return false;
	outcome->cpu_seconds = seconds_of(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	outcome->wall_seconds = seconds_of(CLOCK_MONOTONIC) - wall;
	outcome->rss_kib = most_rss();
	outcome->digest = digest_of(*memory, bytes);
	return !gpuemu_statistics(gpu, &outcome->json);
}

void run_here(const struct run *run, struct outcome *outcome)
{
	struct gpuemu_options options = { .size = sizeof(options), .backend = "sim" };
	struct gpuemu_ctx *gpu = NULL;
	void *buffers[RUN_BUFFERS];
	uint8_t *memory;
	char config[256] = "", *settings = strdup(run->settings), *line;

	memset(outcome, 0, sizeof(*outcome));
	/* A configuration is not a setting, but here it is written as one. */
	if (settings && (line = strstr(settings, "config="))) {
		size_t n = strcspn(line, "\n");

		snprintf(config, sizeof(config), "%.*s", (int)(n - 7), line + 7);
		memmove(line, line + n + 1, strlen(line + n + 1) + 1);
		options.config = config;
	}
	options.settings = settings;
	if (gpuemu_open(&gpu, &options)) {
		snprintf(outcome->why, sizeof(outcome->why), "%s", gpuemu_last_error(NULL));
	} else if (!launch(run, gpu, &memory, outcome)) {
		snprintf(outcome->why, sizeof(outcome->why), "%s", gpuemu_last_error(gpu));
	} else {
		outcome->done = true;
		for (unsigned int i = 0; i < run->nbuffers; i++)
			buffers[i] = memory + run->buffer[i].offset;
		outcome->right = !run->judge ||
				 run->judge(run, buffers, outcome->why, sizeof(outcome->why));
		outcome->statistics = json_tokener_parse(outcome->json);
	}
	gpuemu_close(gpu);
	free(settings);
}

/* --- a process each -------------------------------------------------------------- */
struct child {
	pid_t pid;
	int pipe;
	unsigned int index;
};

static void write_all(int fd, const void *data, size_t bytes)
{
	for (const char *at = data; bytes;) {
		ssize_t n = write(fd, at, bytes);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			_exit(3);
		at += n;
		bytes -= (size_t)n;
	}
}

static void begin(struct child *child, const struct run *run, unsigned int seconds)
{
	int fds[2];

	fflush(NULL);
	if (pipe(fds))
		die("pipe", strerror(errno));
	child->pid = fork();
	if (child->pid < 0)
		die("fork", strerror(errno));
	if (!child->pid) {
		struct outcome outcome;

		close(fds[0]);
		alarm(seconds);
		run_here(run, &outcome);
		write_all(fds[1], &outcome, sizeof(outcome));
		if (outcome.json)
			write_all(fds[1], outcome.json, strlen(outcome.json) + 1);
		_exit(0);
	}
	close(fds[1]);
	child->pipe = fds[0];
}

static void end(struct child *child, struct outcome *outcome, unsigned int seconds)
{
	size_t have = 0, room = 1 << 16;
	char *data = malloc(room);
	ssize_t n;
	int status;

	while (data && (n = read(child->pipe, data + have, room - have)) != 0) {
		if (n < 0 && errno != EINTR)
			break;
		have += n > 0 ? (size_t)n : 0;
		if (have == room)
			data = realloc(data, room *= 2);
	}
	close(child->pipe);
	if (!data)
		die("reading", "no memory");
	while (waitpid(child->pid, &status, 0) < 0 && errno == EINTR)
		;
	memset(outcome, 0, sizeof(*outcome));
	if (have >= sizeof(*outcome)) {
		memcpy(outcome, data, sizeof(*outcome));
		outcome->json = NULL;
		outcome->statistics = NULL;
		if (have > sizeof(*outcome)) {
			outcome->json = strdup(data + sizeof(*outcome));
			outcome->statistics = json_tokener_parse(outcome->json);
		}
	} else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) {
		snprintf(outcome->why, sizeof(outcome->why), "no end after %u s", seconds);
	} else if (WIFSIGNALED(status)) {
		snprintf(outcome->why, sizeof(outcome->why), "died: %s", strsignal(WTERMSIG(status)));
	} else {
		snprintf(outcome->why, sizeof(outcome->why), "exit status %d", WEXITSTATUS(status));
	}
	free(data);
}

void runs_execute(const struct run *runs, struct outcome *outcomes, unsigned int n,
		  unsigned int jobs, unsigned int seconds, bool progress)
{
	struct child children[64];
	unsigned int next = 0, first = 0;

	if (jobs > 64)
		jobs = 64;
	/* In order of the list; the pipe holds what a process that is done has to say. */
	while (first < n) {
		struct child *child = &children[first % 64];

		while (next < n && next - first < jobs) {
			children[next % 64].index = next;
			begin(&children[next % 64], &runs[next], seconds);
			next++;
		}
		end(child, &outcomes[child->index], seconds);
		first++;
		if (progress)
			fprintf(stderr, "\r\033[K%u/%u %s%s", first, n, runs[child->index].name,
				first == n ? "\r\033[K" : "");
	}
}
