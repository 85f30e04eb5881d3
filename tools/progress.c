// SPDX-License-Identifier: GPL-2.0
/* A thread of its own prints the line, because the caller is blocked in the library. */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "gpuemu.h"
#include "progress.h"

#define LINE_EVERY	60u	/* seconds between two lines of a log */

struct progress {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	bool stop;		/* under lock */
	bool terminal;
	char what[128];
	const struct gpuemu_ctx *ctx;	/* NULL: none to ask */
	uint64_t launches;		/* launches so far, and since when */
	unsigned int begun;
};

/* The share that is done, in thousandths; only one line is shown at a time. */
static _Atomic unsigned int done_permille;

void progress_share(double done)
{
	done_permille = done <= 0 ? 0 : done >= 1 ? 1000 : (unsigned int)(done * 1000);
}

/* "1m05s left", if a share of the work took `seconds`. */
static void print_left(unsigned int seconds, double done, const char *of)
{
	unsigned int left = (unsigned int)(seconds * (1 - done) / done);

	fprintf(stderr, left >= 60 ? ", %um%02us left%s" : ", %.0u%us left%s", left / 60, left % 60, of);
}

/*
 * The kernels that run. A kernel whose CTAs all began at once shows no progress until they
 * end.
 */
static void print_kernels(struct progress *p, unsigned int seconds)
{
	struct gpuemu_progress now = { .size = sizeof(now) };

	if (!p->ctx || gpuemu_progress(p->ctx, &now) || !now.launches)
		return;
	if (now.launches != p->launches) {
		p->launches = now.launches;
		p->begun = seconds - 1;
	}
	fprintf(stderr, ", launch %llu", (unsigned long long)now.launches);
	if (!now.ctas)
		return;
	fprintf(stderr, ": %llu of %llu CTAs (%llu%%)", (unsigned long long)now.ctas_done,
		(unsigned long long)now.ctas,
		(unsigned long long)(100 * now.ctas_done / now.ctas));
	if (now.ctas_done)
		print_left(seconds - p->begun, (double)now.ctas_done / (double)now.ctas, " of it");
}

static void print_line(struct progress *p, unsigned int seconds)
{
	unsigned int done = done_permille;

	fprintf(stderr, "%s%s: %u s", p->terminal ? "\r\033[K" : "", p->what, seconds);
	if (done) {
		fprintf(stderr, ", %u%%", done / 10);
		print_left(seconds, done / 1000.0, "");
	} else {
		print_kernels(p, seconds);
	}
	fputs(p->terminal ? " ..." : "\n", stderr);
}

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
		if (p->stop)
			break;
		if (++seconds % (p->terminal ? 1 : LINE_EVERY) == 0)
			print_line(p, seconds);
	}
	pthread_mutex_unlock(&p->lock);
	if (seconds && p->terminal)
		fputs("\r\033[K", stderr);
	return NULL;
}

struct progress *progress_start(const char *what, const struct gpuemu_ctx *ctx)
{
	pthread_condattr_t attr;
	struct progress *p;

	p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	p->terminal = isatty(STDERR_FILENO);
	p->ctx = ctx;
	progress_share(0);
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
