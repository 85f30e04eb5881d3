// SPDX-License-Identifier: GPL-2.0
/*
 * From fault records to a batch: take, check, sort, merge, mark. The records
 * come from an engine that may be wrong or hostile: each is copied once and
 * only the copy is looked at. Called by RAISE.
 */
#include <linux/sort.h>

#include "client.h"
#include "dev.h"
#include "engine.h"
#include "fault_queue.h"
#include "limit.h"
#include "trace.h"

/* False: not a record that an engine may write. Dropped; replay regenerates. */
static bool record_valid(const struct gpuemu_fault *f)
{
	return !(f->addr & ~PAGE_MASK) && !(f->addr >> GPUEMU_VA_BITS) &&
	       f->va_space && f->access <= GPUEMU_ACCESS_ATOMIC &&
	       !f->flags && !f->reserved && !f->reserved2;
}

static bool take_record(struct gpuemu_fault *slot, struct gpuemu_fault *f)
{
	/* The engine writes it last. */
	bool valid = smp_load_acquire(&slot->valid) == 1;

	memcpy(f, slot, sizeof(*f));
	/* The checks below look at this copy, whatever the engine does now. */
	barrier();
	/* A slot that put passes before it is written again counts as empty. */
	WRITE_ONCE(slot->valid, 0);
	f->merged = 1;
	return valid && record_valid(f);
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

static u32 merge(struct gpuemu_fault *faults, u32 n)
{
	u32 i, unique = 0;

	for (i = 0; i < n; i++) {
		if (unique && faults[unique - 1].addr == faults[i].addr &&
		    faults[unique - 1].va_space == faults[i].va_space)
			faults[unique - 1].merged++;
		else
			faults[unique++] = faults[i];
	}
	return unique;
}

static void count_fault(struct gpuemu_space *space, const struct gpuemu_fault *f)
{
	gpuemu_count(space, FAR_FAULTS, 1);
	if (f->merged > 1)
		gpuemu_count(space, DUPLICATES, f->merged - 1);
	if (f->flags & GPUEMU_FAULT_RESIDENT)
		gpuemu_count(space, FAULTS_RESIDENT, 1);
	if (f->flags & GPUEMU_FAULT_UNMANAGED)
		gpuemu_count(space, FAULTS_UNMANAGED, 1);
}

/* Faults of one space are adjacent, so each client is looked up once. */
static void mark(struct gpuemu_dev *dev, struct gpuemu_fault *faults, u32 n)
{
	struct gpuemu_client *client = NULL;
	u32 i;

	for (i = 0; i < n; i++) {
		if (!i || faults[i].va_space != faults[i - 1].va_space) {
			if (client)
				gpuemu_client_put(client);
			client = gpuemu_client_get(dev, faults[i].va_space);
			if (client)
				gpuemu_count_client(&client->space, BATCHES, 1);
		}
		faults[i].flags = client ?
			gpuemu_space_fault_flags(&client->space,
						 faults[i].addr) :
			GPUEMU_FAULT_UNMANAGED;
		if (client)
			count_fault(&client->space, &faults[i]);
		trace_far_fault(&faults[i]);
	}
	if (client)
		gpuemu_client_put(client);
}

/**
 * gpuemu_fault_queue_fetch() - makes what is in the fault buffer the next batch
 * @e: the caller owns its batch (BUILDING)
 * @empty_ok: no record at all is a batch too
 *
 * Returns 0; -EAGAIN without records; -EINVAL: put is not possible, the buffer
 * is flushed.
 */
int gpuemu_fault_queue_fetch(struct gpuemu_engine *e, bool empty_ok)
{
	struct gpuemu_fault_buffer *buffer = e->faults;
	struct gpuemu_batch *batch = &e->control->batch;
	u32 mask = e->dev->fault_entries - 1;
	u32 put, raw, i, n = 0;

	/* The records below put are written; the engine reuses those below get. */
	put = smp_load_acquire(&buffer->put);
	raw = put - e->get;
	if (raw > e->dev->fault_entries) {
		e->get = put;
		/* They are given up; nothing of them has been read. */
		smp_store_release(&buffer->get, e->get);
		return -EINVAL;
	}
	if (!raw && !empty_ok)
		return -EAGAIN;

	raw = min(raw, GPUEMU_BATCH_MAX);
	for (i = 0; i < raw; i++)
		if (take_record(&buffer->entries[(e->get + i) & mask],
				&e->batch[n]))
			n++;
	e->get += raw;
	/* They are copied; the engine may write there again. */
	smp_store_release(&buffer->get, e->get);

	sort(e->batch, n, sizeof(e->batch[0]), fault_cmp, NULL);
	e->nfaults = merge(e->batch, n);
	mark(e->dev, e->batch, e->nfaults);
	gpuemu_count_dev(e->dev, BATCHES, 1);
	if (raw > n)
		gpuemu_count_dev(e->dev, FAULTS_DROPPED, raw - n);

	if (!++e->batch_gen)
		e->batch_gen = 1;
	WRITE_ONCE(e->control->client_frames, gpuemu_limit_frames(e->dev));
	batch->gen = e->batch_gen;
	batch->count = e->nfaults;
	batch->raw = raw;
	batch->dropped = raw - n;
	memcpy(batch->faults, e->batch, e->nfaults * sizeof(e->batch[0]));
	trace_batch(e->batch_gen, raw, e->nfaults, raw - n);
	return 0;
}
