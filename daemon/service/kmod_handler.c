// SPDX-License-Identifier: GPL-2.0
/*
 * The fault-handler thread: FETCH a batch, have it decided, COMMIT it and wait
 * for the next. It never moves a page and never looks at results: the engine
 * thread, which waits meanwhile, does that when the batch is replayed.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "service/kmod_device.h"

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

static void say_ready(struct kmod_handler *h, int error)
{
	pthread_mutex_lock(&h->lock);
	h->start_error = error;
	h->is_ready = true;
	pthread_cond_signal(&h->ready);
	pthread_mutex_unlock(&h->lock);
}

static void serve_batches(struct kmod *k)
{
	struct kmod_handler *h = &k->handler;
	bool refused = false;
	uint32_t gen = 0;
	int tag, res;

	for (;;) {
		tag = kmod_ring_next(&h->ring, &res);
		if (tag == KMOD_TAG_WAKE)
			return;
		if (tag < 0 || res == -ENODEV || (res < 0 && (refused || !gen)))
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
		kmod_ring_command(&h->ring, k->fd, GPUEMU_URING_COMMIT_AND_FETCH, GPUEMU_STAY,
				  &h->commit);
	}
	/* The engine may be waiting for a replay that nobody will send. */
	atomic_store_explicit(&k->lost, true, memory_order_release);
	kmod_wake(k->stop_fd);
}

static void *handler_thread(void *arg)
{
	struct kmod *k = arg;
	struct kmod_handler *h = &k->handler;
	int ret;

	ret = kmod_ring_init(&h->ring);
	if (ret) {
		say_ready(h, ret);
		return NULL;
	}
	kmod_ring_wake_on(&h->ring, h->quit_fd);
	kmod_ring_command(&h->ring, k->fd, GPUEMU_URING_FETCH, 0, NULL);
	/* FETCH is pending when the engine may raise its first fault. */
	ret = io_uring_submit(&h->ring);
	say_ready(h, ret < 0 ? ret : 0);
	if (ret >= 0)
		serve_batches(k);
	io_uring_queue_exit(&h->ring);
	return NULL;
}

int kmod_handler_start(struct kmod *k)
{
	struct kmod_handler *h = &k->handler;
	sigset_t all, old;
	int ret;

	h->migrations = calloc(GPUEMU_COMMIT_MAX, sizeof(*h->migrations));
	h->quit_fd = eventfd(0, EFD_CLOEXEC);
	if (!h->migrations || h->quit_fd < 0)
		return -ENOMEM;
	/* Signals are the engine thread's. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	ret = -pthread_create(&h->thread, NULL, handler_thread, k);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (ret)
		return ret;
	h->started = true;
	pthread_mutex_lock(&h->lock);
	while (!h->is_ready)
		pthread_cond_wait(&h->ready, &h->lock);
	ret = h->start_error;
	pthread_mutex_unlock(&h->lock);
	return ret;
}

void kmod_handler_stop(struct kmod *k)
{
	struct kmod_handler *h = &k->handler;

	if (h->started) {
		kmod_wake(h->quit_fd);
		pthread_join(h->thread, NULL);
	}
	if (h->quit_fd >= 0)
		close(h->quit_fd);
	free(h->migrations);
}
