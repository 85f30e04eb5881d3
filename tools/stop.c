// SPDX-License-Identifier: GPL-2.0
/* Signal handlers write a byte to a pipe; a thread reads it and does what no handler may. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/base.h"
#include "cli.h"
#include "stop.h"

static const int stops[] = { SIGINT, SIGTERM, SIGHUP };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
	int pipe[2];
	void (*write)(void *ctx, int sig);
	void *ctx;
	struct sigaction before[ARRAY_SIZE(stops)];
	bool on;
} stop;

static void on_signal(int sig)
{
	unsigned char byte = (unsigned char)sig;
	int saved = errno;

	/* The pipe has room for one signal; further ones would say the same. */
	if (write(stop.pipe[1], &byte, 1) < 0)
		errno = saved;
	errno = saved;
}

static void *stop_thread(void *arg)
{
	unsigned char sig;

	(void)arg;
	while (read(stop.pipe[0], &sig, 1) != 1)
		if (errno != EINTR)
			return NULL;
	pthread_mutex_lock(&lock);
	if (stop.write)
		stop.write(stop.ctx, sig);
	fflush(NULL);
	_exit(CLI_STOPPED + sig);
}

void stop_begin(void (*write)(void *ctx, int sig), void *ctx)
{
	struct sigaction a = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
	pthread_t thread;

	if (stop.on || pipe2(stop.pipe, O_CLOEXEC))
		return;
	stop.write = write;
	stop.ctx = ctx;
	if (pthread_create(&thread, NULL, stop_thread, NULL)) {
		close(stop.pipe[0]);
		close(stop.pipe[1]);
		return;
	}
	pthread_detach(thread);
	stop.on = true;
	sigemptyset(&a.sa_mask);
	for (size_t i = 0; i < ARRAY_SIZE(stops); i++)
		if (!sigaction(stops[i], NULL, &stop.before[i]) &&
		    stop.before[i].sa_handler != SIG_IGN)
			sigaction(stops[i], &a, NULL);
}

void stop_lock(void)
{
	pthread_mutex_lock(&lock);
}

void stop_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

void stop_end(void)
{
	if (!stop.on)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(stops); i++)
		sigaction(stops[i], &stop.before[i], NULL);
	stop_lock();
	stop.write = NULL;
	stop.on = false;
	stop_unlock();
	/* The thread sees the end. */
	close(stop.pipe[1]);
}
