// SPDX-License-Identifier: GPL-2.0
/*
 * The engine's side of one fault batch: records into the fault buffer, RAISE,
 * wait until it is replayed, collect what the handler thread and the module
 * made of it. From RAISE to its completion the engine is parked: it reads no
 * frame, so the module need not wait for its acknowledgements. What becomes of the
 * faults themselves is in kmod_faults.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/ioctl.h>
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

static uint32_t used_entries(const struct kmod *k)
{
	return k->faults->put - __atomic_load_n(&k->faults->get, __ATOMIC_ACQUIRE);
}

/* Does the buffer have the access already, from before? */
static bool is_recorded(const struct kmod *k, uint32_t used, const struct fault *f)
{
	for (uint32_t i = 1; i <= used; i++) {
		const struct gpuemu_fault *r =
			&k->faults->entries[(k->faults->put - i) % k->fault_entries];

		if (r->addr == f->addr && r->va_space == f->va_space && r->access >= f->access)
			return true;
	}
	return false;
}

/*
 * Drops faults for which a full buffer has no room: the model raises them again. Where batches are
 * small, the rest of a batch stays in the buffer. A fault that is still recorded there is not
 * recorded twice. Otherwise the buffer would fill with faults that were served long ago.
 */
static void write_records(struct kmod *k, const struct service_batch *batch, uint32_t used)
{
	struct gpuemu_fault_buffer *buffer = k->faults;
	uint32_t put = buffer->put, n = 0;

	for (unsigned int i = 0; i < batch->nfaults && used + n < k->fault_entries; i++)
		if (!used || !is_recorded(k, used, &batch->faults[i]))
			write_record(&buffer->entries[(put + n++) % k->fault_entries],
				     &batch->faults[i]);
	__atomic_store_n(&buffer->put, put + n, __ATOMIC_RELEASE);
}

uint64_t kmod_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
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

static int raise_batch(struct kmod *k)
{
	struct gpuemu_engine_raise raise = {
		.size = sizeof(raise), .flags = GPUEMU_RAISE_EMPTY_OK,
	};
	int ret;

	/* A signal's flag is looked at later. If the handler's thread ends, the engine is lost. */
	do
		ret = ioctl(k->fd, GPUEMU_IOCTL_ENGINE_RAISE, &raise) ? -errno : 0;
	while (ret == -EINTR);
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
	batch->raw = MIN(batch->raw, k->hand.merged);
	for (unsigned int i = 0; batch->plan && i < batch->plan->count && k->hand.committed;
	     i++) {
		batch->plan->migrations[i].status = from[i].status;
		batch->plan->migrations[i].moved = from[i].moved;
	}
	if (k->control->stamps.gen == k->hand.gen)
		kmod_cost(&k->control->stamps, &batch->cost);
	batch->cost.decide = MIN(k->hand.decide_ns, batch->cost.fetched_to_committed);
	return k->hand.error;
}

/* left: records that were in the buffer before these. */
static void hand_over(struct kmod *k, struct service_batch *batch, uint32_t left)
{
	struct kmod_hand *hand = &k->hand;

	pthread_mutex_lock(&hand->lock);
	hand->batch = batch;
	hand->decided = false;
	hand->decide_ns = 0;
	hand->room = batch->nfaults;
	hand->taken = 0;
	hand->merged = hand->nwild;
	/* Records from before are of accesses that may not wait any more, or of others'. */
	hand->strangers = left || __atomic_load_n(&k->control->left, __ATOMIC_RELAXED);
	if (hand->strangers)
		kmod_note_raised(hand, batch);
	pthread_mutex_unlock(&hand->lock);
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

/* The handler looks at the hand only after RAISE. */
static int raise_faults(struct kmod *k, struct service_batch *batch)
{
	uint32_t left = used_entries(k);

	write_records(k, batch, left);
	hand_over(k, batch, left);
	return take_back(k, batch, raise_batch(k));
}

/*
 * A fault is fatal if it is so when it is raised once more: memory may have been
 * mapped, or made writable, after the module looked.
 */
static int check_fatal(struct kmod *k, struct service_batch *batch)
{
	struct fault suspects[GPUEMU_BATCH_MAX];
	struct service_batch again = { .faults = suspects };
	int ret;

	again.nfaults = again.raw = kmod_suspects(batch, suspects);
	if (!again.nfaults)
		return 0;
	k->hand.nwild = 0;
	ret = raise_faults(k, &again);
	if (ret)
		return ret;
	kmod_acquit(batch, &again);
	batch->cost.total += again.cost.total;
	batch->cost.replay += again.cost.total;
	return 0;
}

int kmod_serve(struct service *service, struct service_batch *batch)
{
	struct kmod *k = to_kmod(service);
	uint64_t begin = kmod_now_ns();
	int ret;

	if (batch->nfaults > GPUEMU_BATCH_MAX)
		return -EINVAL;
	if (atomic_load_explicit(&k->lost, memory_order_acquire) ||
	    atomic_load_explicit(&k->stopping, memory_order_relaxed))
		return -ENODEV;
	batch->cost = (struct service_cost){ 0 };
	batch->plan->count = 0;
	kmod_take_wild(&k->hand, batch);
	ret = raise_faults(k, batch);
	if (!ret)
		ret = check_fatal(k, batch);
	batch->cost.end_to_end = kmod_now_ns() - begin;
	return ret;
}
