// SPDX-License-Identifier: GPL-2.0
/*
 * The fault-handler thread: FETCH a batch, have it decided, COMMIT it and wait
 * for the next. It never moves a page and never looks at results: the engine
 * thread, which waits meanwhile, does that when the batch is replayed.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "service/kmod_device.h"

/* To the handler's thread: look whether it is to end. */
#define QUIT_SIGNAL SIGUSR2

_Static_assert(PLAN_MAX == GPUEMU_COMMIT_MAX, "a plan is one commit");
_Static_assert((int)MIGRATE_H2D == GPUEMU_MIGRATE_H2D, "");
_Static_assert((int)MIGRATE_D2H == GPUEMU_MIGRATE_D2H, "");
_Static_assert((int)MIGRATE_REMOTE == GPUEMU_MIGRATE_REMOTE, "");
_Static_assert((int)MIGRATE_DUPLICATE == GPUEMU_MIGRATE_DUPLICATE, "");
_Static_assert(FAULT_UNMANAGED == GPUEMU_FAULT_UNMANAGED, "");
_Static_assert(FAULT_RESIDENT == GPUEMU_FAULT_RESIDENT, "");
_Static_assert(FAULT_PIN == GPUEMU_FAULT_PIN, "");
_Static_assert(FAULT_THROTTLE == GPUEMU_FAULT_THROTTLE, "");
_Static_assert(FAULT_PROTECTED == GPUEMU_FAULT_PROTECTED, "");
_Static_assert(FAULT_PAGEABLE == GPUEMU_FAULT_PAGEABLE, "");
_Static_assert(FAULT_MOVES == GPUEMU_FAULT_MOVES, "");

void kmod_wake(int eventfd)
{
	const uint64_t one = 1;

	/* Only a full counter fails, and then the reader is awake. */
	if (write(eventfd, &one, sizeof(one)) < 0)
		return;
}

static unsigned int give_plan(const struct plan *plan, struct gpuemu_migration *to)
{
	unsigned int count = MIN(plan->count, PLAN_MAX);

	for (unsigned int i = 0; i < count; i++) {
		const struct migration *m = &plan->migrations[i];

		to[i] = (struct gpuemu_migration){
			.addr = m->addr,
			.va_space = m->va_space,
			.pages = m->pages,
			.op = m->op,
		};
	}
	return count;
}

/* With the hand's lock: all of the pass is there. Returns how many migrations. */
static unsigned int make_plan(struct kmod *k)
{
	struct kmod_hand *hand = &k->hand;
	struct service_batch *batch = hand->batch;
	uint64_t begin;

	hand->decided = true;
	kmod_give_wild(hand, batch);
	if (!batch->decide)
		return 0;
	begin = kmod_now_ns();
	hand->error = batch->decide(batch->ctx, batch);
	hand->decide_ns = kmod_now_ns() - begin;
	return hand->error ? 0 : give_plan(batch->plan, k->handler.migrations);
}

/*
 * Fills the commit for the batch that FETCH brought. Where the pass goes on (replay
 * policy once) nothing is decided before its last batch, since a plan is made for
 * all that is waited for.
 */
static void decide(struct kmod *k, unsigned int count)
{
	struct kmod_handler *h = &k->handler;
	struct kmod_hand *hand = &k->hand;
	const struct gpuemu_batch *from = &k->control->batch;
	unsigned int migrations = 0;

	pthread_mutex_lock(&hand->lock);
	hand->gen = from->gen;
	hand->error = 0;
	if (hand->batch) {
		kmod_take_faults(hand, hand->batch, from->faults, MIN(count, GPUEMU_BATCH_MAX));
		if (!k->control->goes_on)
			migrations = make_plan(k);
	}
	hand->committed = !hand->error;
	h->commit = (struct gpuemu_commit){
		.size = sizeof(h->commit),
		.gen = hand->gen,
		.count = migrations,
		/* Where the plan leaves a page no frame, better any victim than none. */
		.flags = GPUEMU_COMMIT_EVICT,
		.migrations = (uint64_t)(uintptr_t)h->migrations,
	};
	pthread_mutex_unlock(&hand->lock);
}

/* The module refused the plan and did nothing: the batch must replay all the same. */
static void decide_nothing(struct kmod *k, int error)
{
	pthread_mutex_lock(&k->hand.lock);
	k->hand.error = error;
	k->hand.committed = false;
	pthread_mutex_unlock(&k->hand.lock);
	k->handler.commit.count = 0;
}

/*
 * Commits, if commit is not NULL, and waits for the next batch: the number of its faults.
 * -EINTR: the commit is done, and the next call waits on.
 */
static int serve(struct kmod *k, const struct gpuemu_commit *commit)
{
	struct gpuemu_engine_serve serve = {
		.size = sizeof(serve), .flags = GPUEMU_SERVE_FETCH,
		.commit = (uint64_t)(uintptr_t)commit,
	};

	return ioctl(k->fd, GPUEMU_IOCTL_ENGINE_SERVE, &serve) ? -errno : (int)serve.faults;
}

static void serve_batches(struct kmod *k)
{
	struct kmod_handler *h = &k->handler;
	bool refused = false;
	uint32_t gen = 0;
	int res;

	for (res = serve(k, NULL);; res = serve(k, &h->commit)) {
		while (res == -EINTR && !atomic_load(&h->quit))
			res = serve(k, NULL);
		if (atomic_load(&h->quit))
			return;
		if (res == -ENODEV || (res < 0 && (refused || !gen)))
			break;
		if (res < 0) {
			/* One empty commit for a refused one; a second refusal ends it. */
			refused = true;
			decide_nothing(k, res);
		} else {
			refused = false;
			decide(k, res);
			gen = h->commit.gen;
		}
	}
	/* The engine may be waiting for a replay that nobody will send. */
	atomic_store_explicit(&k->lost, true, memory_order_release);
	kmod_wake(k->stop_fd);
}

static void *handler_thread(void *arg)
{
	serve_batches(arg);
	return NULL;
}

/* Only ends a wait in the module. */
static void on_quit(int sig)
{
	(void)sig;
}

int kmod_handler_start(struct kmod *k)
{
	struct kmod_handler *h = &k->handler;
	struct sigaction quit = { .sa_handler = on_quit };
	sigset_t most, old;
	int ret;

	h->migrations = calloc(GPUEMU_COMMIT_MAX, sizeof(*h->migrations));
	if (!h->migrations || sigaction(QUIT_SIGNAL, &quit, NULL))
		return -ENOMEM;
	/* Other signals are the engine thread's. */
	sigfillset(&most);
	sigdelset(&most, QUIT_SIGNAL);
	pthread_sigmask(SIG_SETMASK, &most, &old);
	ret = -pthread_create(&h->thread, NULL, handler_thread, k);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	h->started = !ret;
	return ret;
}

/* False: not within 10 ms. */
static bool joined_soon(pthread_t thread)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += 10000000;
	if (until.tv_nsec >= 1000000000) {
		until.tv_nsec -= 1000000000;
		until.tv_sec++;
	}
	return !pthread_timedjoin_np(thread, NULL, &until);
}

void kmod_handler_stop(struct kmod *k)
{
	struct kmod_handler *h = &k->handler;

	if (h->started) {
		atomic_store(&h->quit, true);
		/* A signal that comes just before the wait ends nothing. */
		do
			pthread_kill(h->thread, QUIT_SIGNAL);
		while (!joined_soon(h->thread));
	}
	free(h->migrations);
}
