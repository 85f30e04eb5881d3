// SPDX-License-Identifier: GPL-2.0
/*
 * Says when a CPU of this machine stood still: on each a thread sleeps for a tenth of a second, and
 * where a sleep lasts MS longer it prints a line,
 *
 *	1795981234567 CPU 1 stood still for 43 s
 *
 * the first number being the time of its end, in ms since 1970. Ends when it is killed.
 * usage: standstill MS
 *
 * Called by tests/vm/run.sh on the host and by tests/vm/init.sh in the VM. A host that takes a CPU
 * away for seconds stops one CPU of the VM, and no kernel in there can tell why.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { SLEEP_MS = 100 };

static uint64_t limit_ms;

static uint64_t ms_now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000ull + t.tv_nsec / 1000000;
}

static void *watch(void *arg)
{
	int cpu = (int)(intptr_t)arg;
	uint64_t began, took;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	/* A CPU that there is not, or that is not ours. */
	if (pthread_setaffinity_np(pthread_self(), sizeof(set), &set))
		return NULL;
	for (;;) {
		began = ms_now(CLOCK_MONOTONIC);
		usleep(SLEEP_MS * 1000);
		took = ms_now(CLOCK_MONOTONIC) - began;
		if (took >= SLEEP_MS + limit_ms)
			printf("%llu CPU %d stood still for %llu s\n",
			       (unsigned long long)ms_now(CLOCK_REALTIME), cpu,
			       (unsigned long long)took / 1000);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF), i;
	pthread_t thread;
	char *end;

	if (argc != 2) {
		fprintf(stderr, "usage: standstill MS\n");
		return 2;
	}
	limit_ms = strtoull(argv[1], &end, 10);
	if (*end || !limit_ms) {
		fprintf(stderr, "standstill: MS is a number above 0\n");
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (i = 0; i < cpus; i++) {
		errno = pthread_create(&thread, NULL, watch, (void *)(intptr_t)i);
		if (errno) {
			perror("standstill");
			return 1;
		}
	}
	for (;;)
		pause();
}
