// SPDX-License-Identifier: GPL-2.0
/*
 * Acknowledges invalidations while the engine is away: busy with something long
 * that reads no frame (it parses a client's PTX), when the module would take
 * its silence for a stuck engine and detach it. What was acknowledged is still
 * delivered by the next poll, before any frame is read.
 */
#include <errno.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <time.h>

#include "service/kmod.h"
#include "service/kmod_device.h"

/* Well below the module's invalidate_timeout_ms, whose smallest useful value is about 100. */
#define ACK_INTERVAL_MS	20

static void acknowledge(struct kmod *k)
{
	struct gpuemu_engine_ack ack = { .size = sizeof(ack) };

	ack.seq = __atomic_load_n(&k->control->inval_put, __ATOMIC_ACQUIRE);
	if (ack.seq == k->away.acked)
		return;
	k->away.acked = ack.seq;
	if (ioctl(k->fd, GPUEMU_IOCTL_ENGINE_ACK, &ack) && errno == ENODEV)
		atomic_store_explicit(&k->lost, true, memory_order_release);
}

static void sleep_a_while(struct kmod_away *a)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += ACK_INTERVAL_MS * 1000000;
	if (until.tv_nsec >= 1000000000) {
		until.tv_nsec -= 1000000000;
		until.tv_sec++;
	}
	pthread_cond_timedwait(&a->changed, &a->lock, &until);
}

static void *away_thread(void *arg)
{
	struct kmod *k = arg;
	struct kmod_away *a = &k->away;

	pthread_mutex_lock(&a->lock);
	while (!a->quit) {
		if (a->away) {
			acknowledge(k);
			sleep_a_while(a);
		} else {
			pthread_cond_wait(&a->changed, &a->lock);
		}
	}
	pthread_mutex_unlock(&a->lock);
	return NULL;
}

void kmod_away_init(struct kmod *k)
{
	pthread_condattr_t attr;

	pthread_mutex_init(&k->away.lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&k->away.changed, &attr);
	pthread_condattr_destroy(&attr);
}

int kmod_away_start(struct kmod *k)
{
	sigset_t all, old;
	int ret;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	ret = -pthread_create(&k->away.thread, NULL, away_thread, k);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	k->away.started = !ret;
	return ret;
}

void kmod_away_stop(struct kmod *k)
{
	struct kmod_away *a = &k->away;

	if (a->started) {
		pthread_mutex_lock(&a->lock);
		a->quit = true;
		pthread_cond_signal(&a->changed);
		pthread_mutex_unlock(&a->lock);
		pthread_join(a->thread, NULL);
	}
	pthread_cond_destroy(&a->changed);
	pthread_mutex_destroy(&a->lock);
}

static void set_away(struct kmod *k, bool away)
{
	struct kmod_away *a = &k->away;

	pthread_mutex_lock(&a->lock);
	a->away = away;
	a->acked = k->inval_seen;
	/* Coming back wakes nobody: the thread finds out by itself. */
	if (away)
		pthread_cond_signal(&a->changed);
	pthread_mutex_unlock(&a->lock);
}

void service_kmod_away(struct service *service)
{
	set_away(to_kmod(service), true);
}

void service_kmod_back(struct service *service)
{
	set_away(to_kmod(service), false);
}
