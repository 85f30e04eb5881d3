// SPDX-License-Identifier: GPL-2.0
/*
 * The engine's side of one fault batch: records into the fault buffer, RAISE,
 * wait until it is replayed, collect what the handler thread and the module
 * made of it. From RAISE to its completion the engine is parked: it reads no
 * frame, so the module need not wait for its acknowledgements.
 */
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "service/kmod_device.h"

_Static_assert((int)ACCESS_ATOMIC == GPUEMU_ACCESS_ATOMIC, "access types are the ABI's");

static void write_record(struct gpuemu_fault *to, const struct fault *f)
{
	to->addr = f->addr;
	to->vtime = f->cycle;
	to->va_space = f->va_space;
	to->sm = f->sm;
	to->warp = f->warp;
	to->access = f->access;
	to->flags = 0;
	to->reserved = 0;
	to->merged = 0;
	to->reserved2 = 0;
	__atomic_store_n(&to->valid, 1, __ATOMIC_RELEASE);
}

/*
 * The module drops a record above the managed addresses as one that no GPU
 * would write, so its access would fault for ever. It is unmanaged, whoever
 * says so.
 */
void kmod_take_wild(struct kmod_hand *hand, struct service_batch *batch)
{
	unsigned int kept = 0;

	hand->nwild = 0;
	for (unsigned int i = 0; i < batch->nfaults; i++) {
		if (batch->faults[i].addr >> GPUEMU_VA_BITS)
			hand->wild[hand->nwild++] = batch->faults[i];
		else
			batch->faults[kept++] = batch->faults[i];
	}
	batch->nfaults = kept;
}

static int by_address(const void *a, const void *b)
{
	const struct fault *x = a, *y = b;

	if (x->va_space != y->va_space)
		return x->va_space < y->va_space ? -1 : 1;
	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return y->access - x->access;
}

/* There is room: merging has only made the batch smaller. */
void kmod_give_wild(const struct kmod_hand *hand, struct service_batch *batch)
{
	unsigned int n = 0;

	if (!hand->nwild)
		return;
	for (unsigned int i = 0; i < hand->nwild; i++) {
		struct fault *f = &batch->faults[batch->nfaults++];

		*f = hand->wild[i];
		f->flags = FAULT_UNMANAGED;
	}
	qsort(batch->faults, batch->nfaults, sizeof(*batch->faults), by_address);
	for (unsigned int i = 0; i < batch->nfaults; i++) {
		struct fault *f = &batch->faults[i];

		if (n && batch->faults[n - 1].addr == f->addr &&
		    batch->faults[n - 1].va_space == f->va_space)
			batch->faults[n - 1].merged += f->merged;
		else
			batch->faults[n++] = *f;
	}
	batch->nfaults = n;
}

/* Every batch empties the buffer, so there is room unless the module is broken. */
static unsigned int write_records(struct kmod *k, const struct service_batch *batch)
{
	struct gpuemu_fault_buffer *buffer = k->faults;
	uint32_t put = buffer->put;
	uint32_t used = put - __atomic_load_n(&buffer->get, __ATOMIC_ACQUIRE);
	unsigned int n;

	for (n = 0; n < batch->nfaults && used + n < k->fault_entries; n++)
		write_record(&buffer->entries[(put + n) % k->fault_entries], &batch->faults[n]);
	__atomic_store_n(&buffer->put, put + n, __ATOMIC_RELEASE);
	return n;
}

static uint64_t span(uint64_t from, uint64_t to)
{
	return to > from ? to - from : 0;
}

void kmod_cost(const struct gpuemu_stamps *stamps, struct service_cost *cost)
{
	uint64_t known;

	*cost = (struct service_cost){
		.total = span(stamps->raised, stamps->replayed),
		.raised_to_fetched = span(stamps->raised, stamps->fetched),
		.fetched_to_committed = span(stamps->fetched, stamps->committed),
		.evict = stamps->evict_ns,
		.unmap = stamps->unmap_ns,
		.copy = stamps->copy_ns,
		.map = stamps->map_ns,
	};
	/* Replay is all that no other stage claims: mostly the way back to the engine. */
	known = cost->raised_to_fetched + cost->fetched_to_committed + cost->evict +
		cost->unmap + cost->copy + cost->map;
	cost->replay = span(known, cost->total);
}

/* Waits for the RAISE in flight. A stop that comes meanwhile is kept for next(). */
static int wait_replay(struct kmod *k)
{
	int tag, res;

	for (;;) {
		tag = kmod_ring_next(&k->ring, &res);
		if (tag < 0)
			return -ENODEV;
		if (tag == KMOD_TAG_COMMAND)
			return res;
		if (atomic_load_explicit(&k->lost, memory_order_acquire))
			return -ENODEV;
	}
}

static int raise_batch(struct kmod *k)
{
	int ret;

	kmod_ring_command(&k->ring, k->fd, GPUEMU_URING_RAISE, GPUEMU_RAISE_EMPTY_OK, NULL);
	ret = wait_replay(k);
	if (ret == -ENODEV)
		atomic_store_explicit(&k->lost, true, memory_order_release);
	return ret;
}

/* With the hand's lock. The statuses were written before the replay was sent. */
static int collect(struct kmod *k, struct service_batch *batch)
{
	const struct gpuemu_migration *from = k->handler.migrations;

	if (!k->hand.decided)
		return -EIO;
	for (unsigned int i = 0; i < batch->plan->count && k->hand.committed; i++) {
		batch->plan->migrations[i].status = from[i].status;
		batch->plan->migrations[i].moved = from[i].moved;
	}
	if (k->control->stamps.gen == k->hand.gen)
		kmod_cost(&k->control->stamps, &batch->cost);
	return k->hand.error;
}

static void hand_over(struct kmod *k, struct service_batch *batch)
{
	pthread_mutex_lock(&k->hand.lock);
	k->hand.batch = batch;
	k->hand.decided = false;
	pthread_mutex_unlock(&k->hand.lock);
}

static int take_back(struct kmod *k, struct service_batch *batch, int raised)
{
	int ret;

	pthread_mutex_lock(&k->hand.lock);
	k->hand.batch = NULL;
	ret = raised < 0 ? raised : collect(k, batch);
	pthread_mutex_unlock(&k->hand.lock);
	return ret;
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

int kmod_serve(struct service *service, struct service_batch *batch)
{
	struct kmod *k = to_kmod(service);
	uint64_t begin = now_ns();
	int ret;

	if (batch->nfaults > GPUEMU_BATCH_MAX)
		return -EINVAL;
	if (atomic_load_explicit(&k->lost, memory_order_acquire) ||
	    atomic_load_explicit(&k->stopping, memory_order_relaxed))
		return -ENODEV;
	batch->cost = (struct service_cost){ 0 };
	batch->plan->count = 0;
	/* The handler looks at the hand only after RAISE. */
	kmod_take_wild(&k->hand, batch);
	if (write_records(k, batch) < batch->nfaults)
		return -EIO;
	hand_over(k, batch);
	ret = take_back(k, batch, raise_batch(k));
	batch->cost.end_to_end = now_ns() - begin;
	return ret;
}
