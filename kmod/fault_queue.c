// SPDX-License-Identifier: GPL-2.0
/*
 * From fault records to a batch: take, check, sort, merge, mark; and what becomes
 * of records that are in none. The records come from an engine that may be wrong
 * or hostile: each is copied once and only the copy is looked at. Called by RAISE
 * and COMMIT.
 *
 * A record may be given up at any moment, because the replay makes its access
 * fault again; and each RAISE ends in a replay. So nothing here is unbounded, and
 * no fault is lost.
 */
#include <linux/delay.h>
#include <linux/ktime.h>
#include <linux/sched/signal.h>
#include <linux/sort.h>

#include "client.h"
#include "dev.h"
#include "engine.h"
#include "fault_queue.h"
#include "limit.h"
#include "params.h"
#include "trace.h"

/* For an entry that PUT has passed and whose producer is not done with it. */
#define VALID_WAIT_NS (1 * NSEC_PER_MSEC)

/* False: not a record that an engine may write. Dropped; replay regenerates. */
static bool record_valid(const struct gpuemu_fault *f)
{
	return f->valid == 1 && !(f->addr & ~PAGE_MASK) &&
	       !(f->addr >> GPUEMU_VA_BITS) && f->va_space &&
	       f->access <= GPUEMU_ACCESS_ATOMIC && !f->flags &&
	       !f->reserved && !f->reserved2;
}

static bool take_record(struct gpuemu_fault *slot, struct gpuemu_fault *f)
{
	memcpy(f, slot, sizeof(*f));
	/* The checks below look at this copy, whatever the engine does now. */
	barrier();
	/* A slot that put passes before it is written again counts as empty. */
	WRITE_ONCE(slot->valid, 0);
	f->merged = 1;
	return record_valid(f);
}

static bool written(const struct gpuemu_fault *slot)
{
	/* The producer writes it last; the record comes with it. */
	return smp_load_acquire(&slot->valid);
}

/* Until the producer of the record is done, for as long as a batch may wait. */
static bool wait_written(const struct gpuemu_fault *slot, u64 *until)
{
	if (!*until)
		*until = ktime_get_ns() + VALID_WAIT_NS;
	while (!written(slot)) {
		if (ktime_get_ns() >= *until || fatal_signal_pending(current))
			return false;
		usleep_range(10, 50);
	}
	return true;
}

/*
 * Appends the good ones of at most @most records to e->batch, which has *n faults.
 * Returns how many were taken, bad ones too. With a fault in hand nobody waits for
 * one that is being written: the batch ends there.
 */
static u32 take_records(struct gpuemu_engine *e, u32 most, u32 *n, bool may_wait)
{
	u32 mask = e->dev->fault_entries - 1, raw;
	struct gpuemu_fault *slot;
	u64 until = 0;

	most = min(most, e->put - e->get);
	for (raw = 0; raw < most; raw++) {
		slot = &e->faults->entries[(e->get + raw) & mask];
		if (!written(slot)) {
			if (*n || !may_wait)
				break;
			/* Given up; if it is written yet, for a later lap. */
			if (!wait_written(slot, &until))
				continue;
		}
		if (take_record(slot, &e->batch[*n]))
			++*n;
	}
	e->get += raw;
	/* They are copied; the engine may write there again. */
	smp_store_release(&e->faults->get, e->get);
	return raw;
}

/* By VA space, then address; the strongest access of a page comes first. */
static int fault_cmp(const void *a, const void *b)
{
	const struct gpuemu_fault *x = a, *y = b;

	if (x->va_space != y->va_space)
		return x->va_space < y->va_space ? -1 : 1;
	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return y->access - x->access;
}

/* A kernel that computes on neighbouring pages often raises them in order. */
static void sort_faults(struct gpuemu_fault *faults, u32 n)
{
	u32 i;

	for (i = 1; i < n; i++) {
		if (fault_cmp(&faults[i - 1], &faults[i]) <= 0)
			continue;
		sort(faults, n, sizeof(faults[0]), fault_cmp, NULL);
		return;
	}
}

static u32 merge(struct gpuemu_fault *faults, u32 n)
{
	struct gpuemu_fault *last = NULL;
	u32 i, unique = 0;

	for (i = 0; i < n; i++) {
		if (last && last->addr == faults[i].addr &&
		    last->va_space == faults[i].va_space) {
			last->merged = min(last->merged + faults[i].merged,
					   U16_MAX);
			continue;
		}
		last = &faults[unique++];
		*last = faults[i];
	}
	return unique;
}

static void count_faults(struct gpuemu_space *space,
			 const struct gpuemu_fault *faults, u32 n)
{
	u32 duplicates = 0, resident = 0, unmanaged = 0, throttles = 0;
	const struct gpuemu_fault *f;

	for (f = faults; f < faults + n; f++) {
		duplicates += f->merged - 1;
		resident += !!(f->flags & GPUEMU_FAULT_RESIDENT);
		unmanaged += !!(f->flags & GPUEMU_FAULT_UNMANAGED);
		throttles += !!(f->flags & GPUEMU_FAULT_THROTTLE);
	}
	gpuemu_count_client(space, BATCHES, 1);
	gpuemu_count(space, FAR_FAULTS, n);
	if (duplicates)
		gpuemu_count(space, DUPLICATES, duplicates);
	if (resident)
		gpuemu_count(space, FAULTS_RESIDENT, resident);
	if (unmanaged)
		gpuemu_count(space, FAULTS_UNMANAGED, unmanaged);
	if (throttles)
		gpuemu_count(space, THROTTLES_GPU, throttles);
}

/* What look_at() does with faults. */
#define LOOK_MARK	1	/* writes into each what is known of its page */
#define LOOK_ACCOUNT	2	/* counts them, and traces them */

/* Faults of one space are adjacent, so each client is looked up once. */
static void look_at(struct gpuemu_dev *dev, struct gpuemu_fault *faults, u32 n,
		    u32 what)
{
	struct gpuemu_client *client;
	struct gpuemu_fault *f;
	u32 run;

	for (; n; faults += run, n -= run) {
		for (run = 1; run < n; run++)
			if (faults[run].va_space != faults->va_space)
				break;
		client = gpuemu_client_get(dev, faults->va_space);
		if (client && (what & LOOK_MARK))
			gpuemu_space_mark_faults(&client->space, faults, run);
		for (f = faults; !client && f < faults + run; f++)
			f->flags = GPUEMU_FAULT_UNMANAGED;
		if (client && (what & LOOK_ACCOUNT))
			count_faults(&client->space, faults, run);
		for (f = faults; (what & LOOK_ACCOUNT) && f < faults + run; f++)
			trace_gpuemu_far_fault(f);
		if (client)
			gpuemu_client_put(client);
	}
}

static u64 block_of(const struct gpuemu_fault *f)
{
	return f->addr >> GPUEMU_BLOCK_SHIFT;
}

static bool same_block(const struct gpuemu_fault *a, const struct gpuemu_fault *b)
{
	return a->va_space == b->va_space && block_of(a) == block_of(b);
}

/* The first fault behind the VA block that was served last, or 0. */
static u32 after_served(const struct gpuemu_engine *e, u32 n)
{
	const struct gpuemu_fault *f;

	for (f = e->batch; f < e->batch + n; f++)
		if (f->va_space > e->served.va_space ||
		    (f->va_space == e->served.va_space &&
		     block_of(f) > e->served.index))
			return f - e->batch;
	return 0;
}

static bool all_resident(const struct gpuemu_fault *faults, u32 n)
{
	while (n--)
		if (!(faults++->flags & GPUEMU_FAULT_RESIDENT))
			return false;
	return true;
}

static void remove_faults(struct gpuemu_engine *e, u32 *n, u32 first, u32 end)
{
	memmove(&e->batch[first], &e->batch[end],
		(*n - end) * sizeof(e->batch[0]));
	*n -= end - first;
}

/*
 * Chooses one VA block's faults of the n, first .. end - 1, in turn, so that none is
 * passed over for ever by others that fault again. Blocks in which all came
 * meanwhile need no service of their own: the replay is enough.
 */
static u32 choose_block(struct gpuemu_engine *e, u32 *n, u32 *first)
{
	struct gpuemu_fault *f;
	u32 end, most;

	for (;;) {
		*first = after_served(e, *n);
		f = &e->batch[*first];
		/* A block has more pages than a batch has room. */
		most = min(*n, *first + GPUEMU_BATCH_MAX);
		for (end = *first; end < most; end++)
			if (!same_block(f, &e->batch[end]))
				break;
		look_at(e->dev, f, end - *first, LOOK_MARK);
		if (end - *first == *n || !all_resident(f, end - *first))
			break;
		look_at(e->dev, f, end - *first, LOOK_ACCOUNT);
		remove_faults(e, n, *first, end);
	}
	e->served.va_space = f->va_space;
	e->served.index = block_of(f);
	return end;
}

/*
 * Of n faults in e->batch those that are handed over stay there; the others are
 * held for the next batch, and where there is no room for them they are given up.
 */
static void choose(struct gpuemu_engine *e, u32 n)
{
	u32 first = 0, end = min(n, GPUEMU_BATCH_MAX), rest;

	if (e->pass.policy == GPUEMU_REPLAY_BLOCK && n) {
		end = choose_block(e, &n, &first);
		look_at(e->dev, &e->batch[first], end - first, LOOK_ACCOUNT);
	} else {
		look_at(e->dev, e->batch, end, LOOK_MARK | LOOK_ACCOUNT);
	}

	memcpy(e->held, e->batch,
	       min(first, GPUEMU_BATCH_MAX) * sizeof(e->held[0]));
	e->nheld = min(first, GPUEMU_BATCH_MAX);
	rest = min(n - end, GPUEMU_BATCH_MAX - e->nheld);
	memcpy(&e->held[e->nheld], &e->batch[end], rest * sizeof(e->held[0]));
	e->nheld += rest;
	rest = first + n - end - e->nheld;
	if (rest)
		gpuemu_count_dev(e->dev, FAULTS_FLUSHED, rest);

	e->nfaults = end - first;
	if (first)
		memmove(e->batch, &e->batch[first],
			e->nfaults * sizeof(e->batch[0]));
}

/* Whether COMMIT brings another batch. */
static bool goes_on(const struct gpuemu_engine *e)
{
	return e->pass.policy == GPUEMU_REPLAY_ONCE &&
	       e->pass.batches < e->pass.most &&
	       (e->nheld || e->put != e->get);
}

/* Makes a batch of what is held and what is in the buffer up to e->put. */
static void build(struct gpuemu_engine *e, bool may_wait)
{
	struct gpuemu_batch *batch = &e->control->batch;
	u32 held = e->nheld, n = held, raw, bad, unique;

	memcpy(e->batch, e->held, held * sizeof(e->batch[0]));
	raw = take_records(e, gpuemu_param(fault_batch), &n, may_wait);
	bad = raw - (n - held);
	sort_faults(e->batch, n);
	unique = merge(e->batch, n);
	choose(e, unique);

	e->pass.batches++;
	e->pass.raw += raw;
	e->pass.duplicates += n - unique;
	gpuemu_count_dev(e->dev, BATCHES, 1);
	if (bad)
		gpuemu_count_dev(e->dev, FAULTS_DROPPED, bad);

	if (!++e->batch_gen)
		e->batch_gen = 1;
	WRITE_ONCE(e->control->client_frames, gpuemu_limit_paged(e->dev));
	batch->gen = e->batch_gen;
	batch->count = e->nfaults;
	batch->raw = raw;
	batch->dropped = bad;
	memcpy(batch->faults, e->batch, e->nfaults * sizeof(e->batch[0]));
	e->control->left = e->nheld + (e->put - e->get);
	e->control->goes_on = goes_on(e);
	trace_gpuemu_batch(e->batch_gen, raw, e->nfaults, bad);
}

/**
 * gpuemu_fault_queue_would_wait() - whether a batch begins with a record that is being written
 * @e: the caller owns its batch (BUILDING)
 */
bool gpuemu_fault_queue_would_wait(const struct gpuemu_engine *e)
{
	u32 mask = e->dev->fault_entries - 1;

	/* Which of the records below put are written, each of them says. */
	return !e->nheld && READ_ONCE(e->faults->put) != e->get &&
	       !written(&e->faults->entries[e->get & mask]);
}

/**
 * gpuemu_fault_queue_fetch() - makes what is in the fault buffer the next batch
 * @e: the caller owns its batch (BUILDING)
 * @empty_ok: no record at all is a batch too
 * @may_wait: for a record that is being written; else the batch ends before it
 *
 * Begins a pass. Returns 0; -EAGAIN without records; -EINVAL: put is not possible,
 * the buffer is flushed. May sleep for a millisecond.
 */
int gpuemu_fault_queue_fetch(struct gpuemu_engine *e, bool empty_ok, bool may_wait)
{
	u32 used;

	/* Which of the records below put are written, each of them says. */
	e->put = smp_load_acquire(&e->faults->put);
	used = e->put - e->get;
	if (used > e->dev->fault_entries) {
		e->get = e->put;
		/* They are given up; nothing of them has been read. */
		smp_store_release(&e->faults->get, e->get);
		e->control->left = e->nheld;
		return -EINVAL;
	}
	if (!used && !e->nheld && !empty_ok)
		return -EAGAIN;
	/* The engine drops what finds no room; nobody else sees it. */
	if (used == e->dev->fault_entries)
		gpuemu_count_dev(e->dev, FAULT_BUFFER_FULL, 1);

	memset(&e->pass, 0, sizeof(e->pass));
	e->pass.policy = gpuemu_param(replay_policy);
	e->pass.most = gpuemu_param(max_batches_per_service);
	build(e, may_wait);
	return 0;
}

/**
 * gpuemu_fault_queue_next() - makes the pass' next batch, if it has one
 * @e: the caller owns its batch (COMMITTING), which is served
 *
 * False: it is time for the replay. Only what was in the buffer when the pass
 * began belongs to it, so that it ends.
 */
bool gpuemu_fault_queue_next(struct gpuemu_engine *e)
{
	if (!goes_on(e))
		return false;
	build(e, true);
	return true;
}

/*
 * PUT is read again where many records were duplicates: then what came since is
 * likely to be more of them.
 */
static u32 flush_up_to(const struct gpuemu_engine *e)
{
	u32 put = e->put;

	if (e->pass.duplicates * 100 >
	    e->pass.raw * gpuemu_param(replay_update_put_ratio))
		/* Pairs with the producer, which is done with what is below. */
		put = smp_load_acquire(&e->faults->put);
	/* What cannot be is the next RAISE's to refuse. */
	return put - e->get > e->dev->fault_entries ? e->put : put;
}

/**
 * gpuemu_fault_queue_flush() - gives up what the replay will regenerate
 * @e: the caller owns its batch (COMMITTING), which is served; the replay comes next
 *
 * With replay policy batch_flush. Before the replay, never after it: then there could
 * be records of accesses that it did not wake.
 */
void gpuemu_fault_queue_flush(struct gpuemu_engine *e)
{
	u32 mask = e->dev->fault_entries - 1, put, n;

	if (e->pass.policy != GPUEMU_REPLAY_BATCH_FLUSH)
		return;
	put = flush_up_to(e);
	n = e->nheld + (put - e->get);
	if (!n)
		return;
	for (; e->get != put; e->get++)
		WRITE_ONCE(e->faults->entries[e->get & mask].valid, 0);
	/* The engine may write there again. */
	smp_store_release(&e->faults->get, e->get);
	e->put = put;
	e->nheld = 0;
	e->control->left = 0;
	gpuemu_count_dev(e->dev, FAULTS_FLUSHED, n);
}
