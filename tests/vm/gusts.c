// SPDX-License-Identifier: GPL-2.0
/*
 * Takes each CPU away from everybody at random moments, for up to MS ms. A busy host does that to
 * a VM. A test that fails under it has a step that must come soon, and does not say so.
 * usage: gusts MS SEED
 *
 * Called by tests/vm/init.sh in the VM, for tests/vm/run.sh --gusts. Ends when it is killed.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* Between two gusts. The kernel lets real-time threads have 95% of each second. */
enum { CALM_MIN_MS = 50, CALM_MAX_MS = 1500 };

static uint64_t longest_ms;
static unsigned int seed;

static uint64_t ms_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000ull + t.tv_nsec / 1000000;
}

static void *blow(void *arg)
{
	int cpu = (int)(intptr_t)arg;
	struct sched_param p = { .sched_priority = 50 };
	unsigned int random = seed + cpu;
	uint64_t end;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	errno = pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
	if (!errno)
		errno = pthread_setschedparam(pthread_self(), SCHED_FIFO, &p);
	if (errno) {
		perror("gusts");
		exit(1);
	}
	for (;;) {
		usleep(1000 * (CALM_MIN_MS + rand_r(&random) % (CALM_MAX_MS - CALM_MIN_MS)));
		end = ms_now() + rand_r(&random) % longest_ms;
		while (ms_now() < end)
			;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN), i;
	pthread_t thread;

	if (argc != 3 || atoi(argv[1]) <= 0) {
		fprintf(stderr, "usage: gusts MS SEED\n");
		return 2;
	}
	longest_ms = atoi(argv[1]);
	seed = atoi(argv[2]);
	for (i = 0; i < cpus; i++) {
		errno = pthread_create(&thread, NULL, blow, (void *)(intptr_t)i);
		if (errno) {
			perror("gusts");
			return 1;
		}
	}
	for (;;)
		pause();
}
