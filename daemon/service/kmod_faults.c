// SPDX-License-Identifier: GPL-2.0
/*
 * Takes a batch's faults from the model to the module and back. Some fit no record. Some come back
 * merged or in parts. Some were raised by another engine. Some would end a kernel. This file makes
 * no system call.
 */
#include <stdlib.h>

#include "service/kmod_device.h"

/*
 * The module drops a record above the managed addresses as one that no GPU
 * would write, so its access would fault for ever. The engine treats it as unmanaged
 * itself.
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

static int by_page(const void *a, const void *b)
{
	const struct fault *x = a, *y = b;

	if (x->va_space != y->va_space)
		return x->va_space < y->va_space ? -1 : 1;
	return (x->addr > y->addr) - (x->addr < y->addr);
}

static int by_address(const void *a, const void *b)
{
	const struct fault *x = a, *y = b;
	int order = by_page(x, y);

	return order ? order : y->access - x->access;
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

void kmod_note_raised(struct kmod_hand *hand, const struct service_batch *batch)
{
	hand->nraised = batch->nfaults;
	for (unsigned int i = 0; i < batch->nfaults; i++)
		hand->raised[i] = batch->faults[i];
	qsort(hand->raised, hand->nraised, sizeof(*hand->raised), by_page);
}

static struct fault *find(struct fault *faults, unsigned int n, uint32_t va_space, uint64_t addr)
{
	for (unsigned int i = 0; i < n; i++)
		if (faults[i].addr == addr && faults[i].va_space == va_space)
			return &faults[i];
	return NULL;
}

/* A record that was left from before is not of this batch, and its replay has been. */
static bool was_raised(const struct kmod_hand *hand, const struct gpuemu_fault *f)
{
	const struct fault key = { .addr = f->addr, .va_space = f->va_space };

	return !hand->strangers || bsearch(&key, hand->raised, hand->nraised,
					   sizeof(*hand->raised), by_page);
}

static void join(struct fault *to, const struct gpuemu_fault *f)
{
	to->access = MAX(to->access, f->access);
	to->merged = (uint16_t)MIN(to->merged + f->merged, UINT16_MAX);
	/* The later look is the better one. */
	to->flags = f->flags;
}

void kmod_take_faults(struct kmod_hand *hand, struct service_batch *batch,
		      const struct gpuemu_fault *from, unsigned int count)
{
	unsigned int first = hand->taken;

	for (const struct gpuemu_fault *f = from; f < from + count; f++) {
		struct fault *same = find(batch->faults, first, f->va_space, f->addr);

		if (!was_raised(hand, f) || (!same && hand->taken == hand->room))
			continue;
		hand->merged += f->merged;
		if (same) {
			join(same, f);
			continue;
		}
		batch->faults[hand->taken++] = (struct fault){
			.addr = f->addr,
			.cycle = f->vtime,
			.va_space = f->va_space,
			.sm = f->sm,
			.warp = f->warp,
			.access = f->access,
			.flags = f->flags,
			.merged = f->merged,
		};
	}
	batch->nfaults = hand->taken;
	/* Each batch is in order; several are not. */
	if (first)
		qsort(batch->faults, batch->nfaults, sizeof(*batch->faults), by_address);
}

static bool is_suspect(const struct fault *f)
{
	return (f->flags & FAULT_UNMANAGED) && f->access != ACCESS_PREFETCH &&
	       !(f->addr >> GPUEMU_VA_BITS);
}

unsigned int kmod_suspects(const struct service_batch *batch, struct fault *suspects)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < batch->nfaults; i++)
		if (is_suspect(&batch->faults[i]))
			suspects[n++] = batch->faults[i];
	return n;
}

void kmod_acquit(struct service_batch *batch, const struct service_batch *again)
{
	for (unsigned int i = 0; i < batch->nfaults; i++) {
		struct fault *f = &batch->faults[i];
		const struct fault *now = find(again->faults, again->nfaults, f->va_space,
					       f->addr);

		if (!is_suspect(f))
			continue;
		f->flags = now && (now->flags & FAULT_UNMANAGED) ? now->flags : 0;
	}
}
