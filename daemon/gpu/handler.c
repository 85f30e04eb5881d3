// SPDX-License-Identifier: GPL-2.0
/*
 * The far-fault handlers as actors in virtual time: each idle, or busy with one
 * batch for what its service costs. When one is idle and the fault buffer is not empty it
 * takes what is there at that moment, at most paging.batch records, or one (a pipelined
 * handler, paging.handlers 0: as many as it takes). The batch is really served then; its pages
 * arrive over the link, or when the measured time has passed (paging/), and the GMMU lets
 * what waits for them walk again. Called by the loop at the start of every quantum;
 * quanta end where something is due.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "gpu/handler.h"
#include "gpu/run.h"

/* --- busy handlers: a heap by the end of service, then as they were taken --------------- */

static bool sooner(const struct handler_slot *a, const struct handler_slot *b)
{
	return a->until < b->until || (a->until == b->until && a->taken < b->taken);
}

static void swap(struct handler_slot *a, struct handler_slot *b)
{
	struct handler_slot t = *a;

	*a = *b;
	*b = t;
}

static void sift_up(struct handler *h, unsigned int i)
{
	for (; i && sooner(&h->slots[i], &h->slots[(i - 1) / 2]); i = (i - 1) / 2)
		swap(&h->slots[i], &h->slots[(i - 1) / 2]);
}

static void sift_down(struct handler *h, unsigned int i)
{
	for (;;) {
		unsigned int least = i;

		for (unsigned int k = 2 * i + 1; k <= 2 * i + 2 && k < h->busy; k++)
			if (sooner(&h->slots[k], &h->slots[least]))
				least = k;
		if (least == i)
			return;
		swap(&h->slots[i], &h->slots[least]);
		i = least;
	}
}

/* A slot behind those that are busy, with room for a batch. NULL: no memory. */
static struct handler_slot *idle_slot(struct handler *h)
{
	struct handler_slot *slot;

	if (h->busy == h->nslots) {
		unsigned int first = h->nslots;

		if (array_grow(h->slots, h->nslots, first))
			return NULL;
		for (unsigned int i = first; i < h->nslots; i++)
			h->slots[i] = (struct handler_slot){ .number = i };
	}
	slot = &h->slots[h->busy];
	if (!slot->pages)
		slot->pages = calloc(h->most, sizeof(*slot->pages));
	return slot->pages ? slot : NULL;
}

static bool any_idle(const struct handler *h)
{
	return !h->handlers || h->busy < h->handlers;
}

/* --- making and ending -------------------------------------------------------------- */

void handler_init(struct handler *h, const struct gpu_spec *spec, struct gmmu *gmmu,
		  struct mem *mem, struct gpu_session *session)
{
	*h = (struct handler){
		.spec = spec, .gmmu = gmmu, .mem = mem, .session = session,
		.handlers = (unsigned int)spec->handlers,
		.most = spec->handlers ? (unsigned int)spec->batch : 1,
	};
}

void handler_cancel(struct handler *h)
{
	h->busy = 0;
	h->futile = 0;
	u64map_clear(&h->traced);
}

void handler_fini(struct handler *h)
{
	handler_cancel(h);
	for (unsigned int i = 0; i < h->nslots; i++)
		free(h->slots[i].pages);
	free(h->slots);
}

uint64_t handler_until(const struct handler *h)
{
	uint64_t until = 0;

	for (unsigned int i = 0; i < h->busy; i++)
		until = MAX(until, h->slots[i].until);
	return until;
}

/* --- what paging tells ------------------------------------------------------------------ */

static unsigned int arrived(void *ctx, uint64_t addr, uint64_t bytes, uint64_t now)
{
	struct handler *h = ctx;

	trace_arrived(&h->session->timeline, addr, bytes, now);
	return gmmu_arrived(h->gmmu, addr, bytes, now);
}

static void transferred(void *ctx, const struct paging_transfer *x)
{
	struct handler *h = ctx;
	struct trace_transfer told = {
		.begin = x->begin, .end = x->end, .addr = x->addr, .bytes = x->bytes,
		.batch = TRACE_NONE, .d2h = x->d2h, .prefetch = x->prefetch,
		.kernel = x->kernel,
	};
	uint64_t batch;

	if (u64map_get(&h->traced, x->batch, &batch))
		told.batch = (uint32_t)batch;
	link_use_add(&h->session->link_use, told.kernel, told.d2h, told.begin, told.end,
		     told.bytes);
	trace_transfer(&h->session->timeline, &told);
}

static bool awaits(void *ctx)
{
	struct handler *h = ctx;

	return gmmu_waiting(h->gmmu);
}

static void served(void *ctx, const struct paging_fault *fault)
{
	struct handler *h = ctx;

	fault_log_add(&h->session->fault_log, fault);
}

const struct paging_events handler_events = {
	.arrived = arrived,
	.transferred = transferred,
	.awaits = awaits,
	.served = served,
};

/* --- the loop ------------------------------------------------------------------------------ */

static bool may_take(const struct handler *h)
{
	return (gmmu_faults(h->gmmu) || (h->spec->counters && mem_notifies(h->mem))) &&
	       any_idle(h);
}

void handler_share_link(struct handler *h)
{
	struct paging *paging = h->session->paging;
	bool busy[2] = { false };
	uint64_t took[2];

	if (!paging)
		return;
	mem_share_link(h->mem, h->link_busy, took);
	paging_share_link(paging, took, busy);
	memcpy(h->link_busy, busy, sizeof(busy));
}

uint64_t handler_next(const struct handler *h)
{
	uint64_t next = h->busy ? h->slots[0].until : NEVER;

	/* A record that was written behind the last step is taken in the next cycle. */
	if (may_take(h))
		return 0;
	return h->session->paging ? MIN(next, paging_next(h->session->paging)) : next;
}

static void trace_taken(struct handler *h, const struct handler_slot *slot, uint64_t now,
			unsigned int depth, const struct paging_outcome *outcome)
{
	uint32_t traced = trace_batch(&h->session->timeline, &(struct trace_batch){
		.handler = slot->number, .begin = now, .end = slot->until, .faults = h->batch,
		.n = slot->n, .depth = depth, .outcome = outcome,
	});

	if (traced != TRACE_NONE)
		u64map_put(&h->traced, outcome->batch, traced);
}

/* Counts batches in a row by which no warp gets on, and fails the kernel after too many. */
static int judge(struct handler *h, struct run *r, const struct paging_outcome *outcome, bool moved)
{

	if (outcome->unmanaged)
		return blame_access(r, outcome->unmanaged_addr,
				     outcome->is_protected ? -EACCES : -EFAULT);
	/* A slow program that works on its own pages is waited for, however long. */
	if (!outcome->stuck || outcome->stuck_status == -EAGAIN || moved)
		h->futile = 0;
	else if (++h->futile >= HANDLER_PATIENCE)
		return blame_access(r, outcome->stuck_addr, outcome->stuck_status);
	return 0;
}

static int serve(struct handler *h, struct run *r, uint64_t now)
{
	struct paging *paging = h->session->paging;
	const struct paging_stats *stats = paging_stats(paging);
	uint64_t moved = stats->h2d_bytes;
	struct handler_slot *slot = idle_slot(h);
	unsigned int depth = gmmu_faults(h->gmmu);
	struct paging_outcome outcome;
	int ret;

	if (!slot)
		return err_set(&r->err, -ENOMEM, "kernel '%s': out of memory", r->kernel->name);
	slot->n = gmmu_take(h->gmmu, h->batch, h->most);
	paging_depth(paging, depth);
	ret = paging_serve(paging, h->batch, slot->n, now, &outcome);
	if (ret)
		return err_set(&r->err, ret, "kernel '%s': far faults cannot be served: %s",
			       r->kernel->name, strerror(-ret));
	/* Evicted pages must not be translated any more. */
	ret = gpu_apply_invalidations(h->session->gpu);
	if (ret && !h->session->poll_status)
		h->session->poll_status = ret;
	for (unsigned int i = 0; i < slot->n; i++)
		slot->pages[i] = h->batch[i].addr;
	slot->until = now + cycles_of(h->spec, outcome.service_ns);
	slot->taken = h->taken++;
	trace_taken(h, slot, now, depth, &outcome);
	sift_up(h, h->busy++);
	return judge(h, r, &outcome, stats->h2d_bytes != moved);
}

/* Access counters say that a region is used much from afar. */
static int pull(struct handler *h, struct run *r, uint64_t now)
{
	struct paging_outcome outcome;
	struct handler_slot *slot;
	uint64_t va;
	int ret;

	if (!mem_notified(h->mem, &va))
		return 0;
	ret = paging_pull(h->session->paging, va, h->spec->counter_bytes, now, &outcome);
	if (ret)
		return err_set(&r->err, ret, "kernel '%s': remote pages cannot be migrated: %s",
			       r->kernel->name, strerror(-ret));
	if (!outcome.service_ns)
		return 0;
	slot = idle_slot(h);
	if (!slot)
		return err_set(&r->err, -ENOMEM, "kernel '%s': out of memory", r->kernel->name);
	ret = gpu_apply_invalidations(h->session->gpu);
	if (ret && !h->session->poll_status)
		h->session->poll_status = ret;
	slot->n = 0;
	slot->until = now + cycles_of(h->spec, outcome.service_ns);
	slot->taken = h->taken++;
	sift_up(h, h->busy++);
	return 0;
}

/* The first to be done is: what of its faults is not on its way walks again. */
static void release(struct handler *h, uint64_t now)
{
	struct paging *paging = h->session->paging;
	const struct handler_slot *slot = &h->slots[0];

	for (unsigned int i = 0; i < slot->n; i++)
		if (!paging_in_flight(paging, slot->pages[i]) &&
		    gmmu_arrived(h->gmmu, slot->pages[i], PAGE_BYTES, now))
			paging_await(paging, slot->pages[i]);
	swap(&h->slots[0], &h->slots[--h->busy]);
	sift_down(h, 0);
}

int handler_step(struct handler *h, struct run *r, uint64_t now)
{
	struct paging *paging = h->session->paging;
	bool changed = false;
	int ret = 0;

	if (paging_next(paging) <= now) {
		changed = true;
		ret = paging_advance(paging, now);
	}
	if (ret)
		return err_set(&r->err, ret, "kernel '%s': out of memory", r->kernel->name);
	while (h->busy && h->slots[0].until <= now)
		release(h, now);
	while (!ret && may_take(h)) {
		changed = true;
		/* Kernels wait for faults, not for counters. */
		ret = gmmu_faults(h->gmmu) ? serve(h, r, now) : pull(h, r, now);
	}
	if (changed)
		trace_state(&h->session->timeline, now, paging_resident_pages(paging),
			    gmmu_faults(h->gmmu));
	return ret;
}
