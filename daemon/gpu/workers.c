// SPDX-License-Identifier: GPL-2.0
/*
 * The threads of one machine. A thread takes the parts that are at home with it first, and
 * then others' that no thread has begun. A helper takes the last part when it finds no other. The
 * caller, which has something else to do then, takes it only where no helper has. A helper that
 * comes late, because its processor was busy with something else, finds nothing to take:
 * nobody waits for it. Used by the quantum loop alone.
 */
#include "gpu/workers.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

/*
 * A quantum takes some ten microseconds, a look some ten nanoseconds. A thread that waits looks for
 * longer than a quantum before it yields (there may be fewer processors than threads), and for
 * much longer before it sleeps.
 */
#define LOOKS		20000u
#define LOOKS_A_TURN	2000u

/* A line of the host's caches each: a part is most often taken by the same thread. */
struct claim {
	_Alignas(64) atomic_uint step;	/* the last step in which the part was taken */
};

struct workers {
	pthread_t *helpers;
	unsigned int nhelpers;		/* that run */
	unsigned int threads;
	pthread_mutex_t lock;		/* of going to sleep */
	pthread_cond_t wake;
	atomic_uint sleepers;
	atomic_uint numbered;		/* helpers that have a number */
	atomic_bool stop;
	struct claim *claims;
	/*
	 * Where threads are few, a helper reads one line of the host's caches to begin: this one.
	 * Bits 0 to 15: parts, 16 to 47: the step's number.
	 */
	_Alignas(64) atomic_ullong work;
	/* The step's; written before `work` is. A thread may read them until its part is done. */
	void (*fn)(void *ctx, unsigned int part);
	void (*soon)(void *ctx, unsigned int part);
	void *ctx;
	atomic_ushort *first;		/* by thread: of its parts; the last entry is the end */
	atomic_ushort few[12];
	_Alignas(64) atomic_uint done;	/* of the first parts */
	atomic_uint open;		/* the last step whose last part may begin */
	_Alignas(64) atomic_uint over;	/* the last step whose last part has ended */
};

static uint32_t step_of(unsigned long long work)
{
	return (uint32_t)(work >> 16);
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

/* True: the part is the caller's. A late helper's step is not newer than what it finds. */
static bool take(struct claim *c, uint32_t step)
{
	uint32_t last = atomic_load_explicit(&c->step, memory_order_relaxed);

	return (int32_t)(step - last) > 0 &&
	       atomic_compare_exchange_strong(&c->step, &last, step);
}

/*
 * Neighbours go towards each other, the last thread from the last part down: where they meet
 * moves little from step to step, so a part's data stays in one processor's caches. Of two threads
 * one that meets the other has nothing more to look for.
 */
static void take_parts(struct workers *p, unsigned int thread, unsigned long long work)
{
	unsigned int parts = work & 0xffff, taken = 0, at;
	bool down = (p->threads - thread) % 2;

	if (!parts)
		return;
	at = atomic_load_explicit(&p->first[down ? thread + 1 : thread], memory_order_relaxed);
	at = (at + (down ? parts - 1 : 0)) % parts;
	for (unsigned int i = 0; i < parts; i++) {
		unsigned int next = (at + (down ? parts - 1 : 1)) % parts;

		if (take(&p->claims[at], step_of(work))) {
			p->soon(p->ctx, next);
			p->fn(p->ctx, at);
			taken++;
			if (at == parts - 1)
				atomic_store_explicit(&p->open, step_of(work),
						      memory_order_release);
		} else if (p->threads == 2) {
			break;
		}
		at = next;
	}
	if (taken)
		atomic_fetch_add_explicit(&p->done, taken, memory_order_release);
}

/* The part behind the others, if no thread has begun it. */
static void take_last(struct workers *p, unsigned long long work)
{
	unsigned int parts = work & 0xffff;
	uint32_t step = step_of(work);

	if (!parts || !take(&p->claims[parts], step))
		return;
	/* A thread is, or was, in the part that the last one waits for: each has been taken. */
	for (unsigned int looks = 1;
	     (int32_t)(atomic_load_explicit(&p->open, memory_order_acquire) - step) < 0; looks++)
		relax(looks);
	p->fn(p->ctx, parts);
	atomic_store_explicit(&p->over, step, memory_order_release);
}

/* Until there is another step than `seen`, or the end. */
static unsigned long long await_work(struct workers *p, unsigned long long seen)
{
	unsigned long long work;

	for (unsigned int looks = 1; looks < LOOKS; looks++) {
		work = atomic_load(&p->work);
		if (work != seen || atomic_load(&p->stop))
			return work;
		relax(looks);
	}
	pthread_mutex_lock(&p->lock);
	/* The starter of a step reads this after writing `work`: one of the two sees the other. */
	atomic_fetch_add(&p->sleepers, 1);
	while ((work = atomic_load(&p->work)) == seen && !atomic_load(&p->stop))
		pthread_cond_wait(&p->wake, &p->lock);
	atomic_fetch_sub(&p->sleepers, 1);
	pthread_mutex_unlock(&p->lock);
	return work;
}

static void *helper(void *arg)
{
	struct workers *p = arg;
	unsigned int thread = 1 + atomic_fetch_add(&p->numbered, 1);
	unsigned long long work = 0;

	while (!atomic_load(&p->stop)) {
		work = await_work(p, work);
		take_parts(p, thread, work);
		take_last(p, work);
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

/* Where each thread's parts begin. A thread that is late finds nothing to take. */
static void divide(struct workers *p, const uint16_t *homes, unsigned int parts)
{
	unsigned int part = 0;

	for (unsigned int t = 0; t < p->threads; t++) {
		while (part < parts && homes[part] < t)
			part++;
		atomic_store_explicit(&p->first[t], (unsigned short)part, memory_order_relaxed);
	}
	atomic_store_explicit(&p->first[p->threads], (unsigned short)parts,
			      memory_order_relaxed);
}

void workers_run(struct workers *p, const struct workers_step *s)
{
	unsigned long long work = (unsigned long long)(step_of(atomic_load(&p->work)) + 1) << 16 |
				  s->parts;

	p->fn = s->fn;
	p->soon = s->soon;
	p->ctx = s->ctx;
	divide(p, s->homes, s->parts);
	atomic_store_explicit(&p->done, 0, memory_order_relaxed);
	atomic_store(&p->work, work);
	wake_sleepers(p);
	take_parts(p, 0, work);
	for (unsigned int looks = 1;
	     atomic_load_explicit(&p->done, memory_order_acquire) < s->parts; looks++)
		relax(looks);
	s->then(s->ctx);
	take_last(p, work);
	for (unsigned int looks = 1;
	     atomic_load_explicit(&p->over, memory_order_acquire) != step_of(work); looks++)
		relax(looks);
}

int workers_create(unsigned int threads, unsigned int parts, struct workers **out)
{
	struct workers *p = aligned_alloc(64, sizeof(*p));
	int ret = 0;

	if (!p)
		return -ENOMEM;
	*p = (struct workers){ .threads = threads };
	p->helpers = calloc(threads, sizeof(*p->helpers));
	p->first = threads < ARRAY_SIZE(p->few) ? p->few :
		calloc(threads + 1, sizeof(*p->first));
	p->claims = aligned_alloc(64, parts * sizeof(*p->claims));
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->wake, NULL);
	if (!p->helpers || !p->first || !p->claims) {
		workers_destroy(p);
		return -ENOMEM;
	}
	memset(p->claims, 0, parts * sizeof(*p->claims));
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
	free(p->claims);
	if (p->first != p->few)
		free(p->first);
	free(p->helpers);
	free(p);
}

unsigned int workers_threads(const struct workers *p)
{
	return p->threads;
}
