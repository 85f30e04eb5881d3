// SPDX-License-Identifier: GPL-2.0
/*
 * A thread of its own prints the line, because what is waited for blocks in
 * the library.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "progress.h"

struct progress {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	bool stop;		/* under lock */
	char what[128];
};

static void *progress_thread(void *arg)
{
	struct progress *p = arg;
	struct timespec at;
	unsigned int seconds = 0;

	clock_gettime(CLOCK_MONOTONIC, &at);
	pthread_mutex_lock(&p->lock);
	while (!p->stop) {
		at.tv_sec++;
		while (!p->stop && !pthread_cond_timedwait(&p->wake, &p->lock, &at))
			;
		if (!p->stop)
			fprintf(stderr, "\r\033[K%s: %u s ...", p->what, ++seconds);
	}
	pthread_mutex_unlock(&p->lock);
	if (seconds)
		fputs("\r\033[K", stderr);
	return NULL;
}

struct progress *progress_start(const char *what)
{
	pthread_condattr_t attr;
	struct progress *p;

	if (!isatty(STDERR_FILENO))
		return NULL;
	p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	snprintf(p->what, sizeof(p->what), "%s", what);
	pthread_mutex_init(&p->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&p->wake, &attr);
	pthread_condattr_destroy(&attr);
	if (pthread_create(&p->thread, NULL, progress_thread, p)) {
		free(p);
		return NULL;
	}
	return p;
}

void progress_stop(struct progress *p)
{
	if (!p)
		return;
	pthread_mutex_lock(&p->lock);
	p->stop = true;
	pthread_cond_signal(&p->wake);
	pthread_mutex_unlock(&p->lock);
	pthread_join(p->thread, NULL);
	pthread_cond_destroy(&p->wake);
	pthread_mutex_destroy(&p->lock);
	free(p);
}
