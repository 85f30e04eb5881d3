// SPDX-License-Identifier: GPL-2.0
/*
 * The threads of one machine. A step's parts are taken from one word, by whoever comes;
 * the step ends when all parts are done. A helper that comes late, because its processor
 * was busy with something else, finds nothing to take: nobody waits for it. Used by
 * the quantum loop alone.
 */
#include "gpu/workers.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

/*
 * A quantum takes some ten microseconds, a look some ten nanoseconds: who waits looks
 * for longer than that before it lets others run (there may be fewer processors than
 * threads), and for much longer before it sleeps.
 */
#define LOOKS		20000u
#define LOOKS_A_TURN	2000u

struct workers {
	pthread_t *helpers;
	unsigned int nhelpers;
	pthread_mutex_t lock;		/* of going to sleep */
	pthread_cond_t wake;
	atomic_uint sleepers;
	atomic_bool stop;
	/* The step's; written before `work` is. Who took a part may read them until it is done. */
	void (*fn)(void *ctx, unsigned int part);
	void *ctx;
	/* Bits 0 to 15: the next part, 16 to 31: how many there are, above: the step's number. */
	_Alignas(64) atomic_ullong work;
	_Alignas(64) atomic_uint done;	/* parts */
};

static bool has_parts(unsigned long long work)
{
	return (work & 0xffff) < (work >> 16 & 0xffff);
}

static void relax(unsigned int looks)
{
	if (looks % LOOKS_A_TURN == 0)
		sched_yield();
#if defined(__x86_64__) || defined(__i386__)
	else
		__builtin_ia32_pause();
#endif
}

/* Takes parts, of whatever step they are, until there are none. */
static void take_parts(struct workers *p)
{
	unsigned long long work = atomic_load(&p->work);

	while (has_parts(work)) {
		/* The number of the step makes sure that it is still the same. */
		if (!atomic_compare_exchange_weak(&p->work, &work, work + 1))
			continue;
		p->fn(p->ctx, work & 0xffff);
		atomic_fetch_add_explicit(&p->done, 1, memory_order_release);
		work = atomic_load(&p->work);
	}
}

static void await_work(struct workers *p)
{
	for (unsigned int looks = 1; looks < LOOKS; looks++) {
		if (has_parts(atomic_load(&p->work)) || atomic_load(&p->stop))
			return;
		relax(looks);
	}
	pthread_mutex_lock(&p->lock);
	/* Who begins a step looks at this after writing `work`, so one of the two sees the other. */
	atomic_fetch_add(&p->sleepers, 1);
	while (!has_parts(atomic_load(&p->work)) && !atomic_load(&p->stop))
		pthread_cond_wait(&p->wake, &p->lock);
	atomic_fetch_sub(&p->sleepers, 1);
	pthread_mutex_unlock(&p->lock);
}

static void *helper(void *arg)
{
	struct workers *p = arg;

	while (!atomic_load(&p->stop)) {
		await_work(p);
		take_parts(p);
	}
	return NULL;
}

static void wake_sleepers(struct workers *p)
{
	if (!atomic_load(&p->sleepers))
		return;
	pthread_mutex_lock(&p->lock);
	pthread_cond_broadcast(&p->wake);
	pthread_mutex_unlock(&p->lock);
}

void workers_run(struct workers *p, void (*fn)(void *ctx, unsigned int part), void *ctx,
	      unsigned int parts)
{
	unsigned long long step = (atomic_load(&p->work) >> 32) + 1;

	p->fn = fn;
	p->ctx = ctx;
	atomic_store_explicit(&p->done, 0, memory_order_relaxed);
	atomic_store(&p->work, step << 32 | (unsigned long long)parts << 16);
	wake_sleepers(p);
	take_parts(p);
	for (unsigned int looks = 1;
	     atomic_load_explicit(&p->done, memory_order_acquire) < parts; looks++)
		relax(looks);
}

int workers_create(unsigned int threads, struct workers **out)
{
	struct workers *p = aligned_alloc(64, sizeof(*p));
	int ret = 0;

	if (!p)
		return -ENOMEM;
	*p = (struct workers){ 0 };
	p->helpers = calloc(threads, sizeof(*p->helpers));
	if (!p->helpers) {
		free(p);
		return -ENOMEM;
	}
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->wake, NULL);
	while (!ret && p->nhelpers < threads - 1) {
		ret = -pthread_create(&p->helpers[p->nhelpers], NULL, helper, p);
		p->nhelpers += !ret;
	}
	if (ret) {
		workers_destroy(p);
		return ret;
	}
	*out = p;
	return 0;
}

void workers_destroy(struct workers *p)
{
	if (!p)
		return;
	atomic_store(&p->stop, true);
	wake_sleepers(p);
	for (unsigned int i = 0; i < p->nhelpers; i++)
		pthread_join(p->helpers[i], NULL);
	pthread_cond_destroy(&p->wake);
	pthread_mutex_destroy(&p->lock);
	free(p->helpers);
	free(p);
}
