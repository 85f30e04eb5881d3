// SPDX-License-Identifier: GPL-2.0
/* What a test case's time is counted in; see case_clock.h. */
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/case_clock.h"
#include "lib/slow.h"

/* A tick that took this much longer than a second is worth a line. */
enum { STANDSTILL_MS = 2000 };

/*
 * A case has so many times what its test says. A machine may be a third as fast as the one on
 * which that was chosen; a case that hangs does so for ever.
 */
enum { PATIENCE = 3 };

/* How long a case may take to end after SIGKILL. */
enum { END_MS = 10000 };

static struct {
	pthread_mutex_t lock;
	pthread_cond_t stop;
	pthread_t thread, caller;
	unsigned int ticks;
	bool runs, stopped;
} clk = { .lock = PTHREAD_MUTEX_INITIALIZER };

static uint64_t ms_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000ull + t.tv_nsec / 1000000;
}

/* Each line of this file of /proc, after what it is about. */
static void print_file(const char *task, const char *name)
{
	char path[320], line[512];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", task, name);
	f = fopen(path, "re");
	if (!f)
		return;
	while (fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		fprintf(stderr, "# %s %s: %.96s\n", task, name, line);
	}
	fclose(f);
}

static void print_tasks(const char *process)
{
	char tasks[64], task[320];
	struct dirent *d;
	DIR *dir;

	snprintf(tasks, sizeof(tasks), "%s/task", process);
	dir = opendir(tasks);
	while (dir && (d = readdir(dir))) {
		if (d->d_name[0] == '.')
			continue;
		snprintf(task, sizeof(task), "%s/%s", tasks, d->d_name);
		print_file(task, "stat");
		print_file(task, "syscall");
		print_file(task, "stack");
	}
	if (dir)
		closedir(dir);
}

static bool program_of(const char *process, char *name, size_t room)
{
	char path[64];
	ssize_t n;

	snprintf(path, sizeof(path), "%s/exe", process);
	n = readlink(path, name, room - 1);
	name[n < 0 ? 0 : n] = '\0';
	return n > 0;
}

/* The case and its children run this same program. */
static void print_case(void)
{
	char process[32], ours[256], theirs[256];
	DIR *dir = opendir("/proc");
	struct dirent *d;

	program_of("/proc/self", ours, sizeof(ours));
	while (dir && (d = readdir(dir))) {
		if (atoi(d->d_name) <= 1 || atoi(d->d_name) == getpid())
			continue;
		snprintf(process, sizeof(process), "/proc/%d", atoi(d->d_name));
		if (program_of(process, theirs, sizeof(theirs)) && !strcmp(ours, theirs))
			print_tasks(process);
	}
	if (dir)
		closedir(dir);
}

/* One tick, or less: then the clock was stopped. */
static void tick_locked(void)
{
	uint64_t began = ms_now();
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec++;
	while (!clk.stopped &&
	       pthread_cond_clockwait(&clk.stop, &clk.lock, CLOCK_MONOTONIC, &until) != ETIMEDOUT)
		;
	if (ms_now() - began > 1000 + STANDSTILL_MS)
		fprintf(stderr, "# the machine stood still for %u s\n",
			(unsigned int)((ms_now() - began) / 1000));
}

static void *run(void *arg)
{
	unsigned int i;

	(void)arg;
	pthread_mutex_lock(&clk.lock);
	for (i = 0; i < clk.ticks && !clk.stopped; i++)
		tick_locked();
	/* A task that stops the clock waits for this lock, so that the caller is there. */
	if (!clk.stopped) {
		print_case();
		pthread_kill(clk.caller, SIGALRM);
	}
	pthread_mutex_unlock(&clk.lock);
	return NULL;
}

unsigned int case_alarm(unsigned int seconds)
{
	if (clk.runs) {
		pthread_mutex_lock(&clk.lock);
		clk.stopped = true;
		pthread_cond_signal(&clk.stop);
		pthread_mutex_unlock(&clk.lock);
		pthread_join(clk.thread, NULL);
	}
	clk.stopped = false;
	clk.ticks = seconds * slowness() * PATIENCE;
	clk.caller = pthread_self();
	clk.runs = seconds && !pthread_create(&clk.thread, NULL, run, NULL);
	/* Without a thread the case has a time all the same. */
	if (seconds && !clk.runs)
		alarm(seconds * slowness() * PATIENCE);
	return 0;
}

pid_t case_wait(pid_t pid, int *status, int options)
{
	pid_t ret = waitpid(pid, status, options);
	uint64_t began = ms_now();

	/* The signal handler of the harness has killed the case. */
	if (ret >= 0 || errno != EINTR)
		return ret;
	while (!(ret = waitpid(pid, status, options | WNOHANG)) &&
	       ms_now() - began < END_MS * slowness())
		usleep(10000);
	if (!ret) {
		fprintf(stderr, "# the case is killed and did not end\n");
		print_case();
	}
	return ret;
}
