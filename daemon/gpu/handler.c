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
#include "gpu/internal.h"

/* --- who is busy: a heap by the end of service, then as they were taken --------------- */

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

void handler_init(struct handler *h, const struct gpu_spec *spec)
{
	*h = (struct handler){
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

uint64_t handler_until(const struct machine *m)
{
	uint64_t until = 0;

	for (unsigned int i = 0; i < m->handler.busy; i++)
		until = MAX(until, m->handler.slots[i].until);
	return until;
}

/* --- what paging tells ------------------------------------------------------------------ */

static unsigned int arrived(void *ctx, uint64_t addr, uint64_t bytes, uint64_t now)
{
	struct gpu_session *s = ctx;

	trace_arrived(&s->timeline, addr, bytes, now);
	return gmmu_arrived(s->machine->gmmu, addr, bytes, now);
}

static void transferred(void *ctx, const struct paging_transfer *x)
{
	struct gpu_session *s = ctx;
	struct trace_transfer told = {
		.begin = x->begin, .end = x->end, .addr = x->addr, .bytes = x->bytes,
		.batch = TRACE_NONE, .d2h = x->d2h, .prefetch = x->prefetch,
		.kernel = x->kernel,
	};
	uint64_t batch;

	if (u64map_get(&s->machine->handler.traced, x->batch, &batch))
		told.batch = (uint32_t)batch;
	machine_transfer(s->machine, &told);
}

static bool awaits(void *ctx)
{
	struct gpu_session *s = ctx;

	return gmmu_waiting(s->machine->gmmu);
}

const struct paging_events handler_events = {
	.arrived = arrived,
	.transferred = transferred,
	.awaits = awaits,
};

/* --- the loop ------------------------------------------------------------------------------ */

static bool may_take(const struct machine *m)
{
	return (gmmu_faults(m->gmmu) || (m->spec.counters && mem_notifies(m->mem))) &&
	       any_idle(&m->handler);
}

void handler_share_link(struct machine *m)
{
	struct paging *paging = m->session->paging;
	bool busy[2] = { false };
	uint64_t took[2];

	if (!paging)
		return;
	mem_share_link(m->mem, m->handler.link_busy, took);
	paging_share_link(paging, took, busy);
	memcpy(m->handler.link_busy, busy, sizeof(busy));
}

uint64_t handler_next(const struct machine *m)
{
	const struct handler *h = &m->handler;
	uint64_t next = h->busy ? h->slots[0].until : NEVER;

	/* A record that was written behind the last step is taken in the next cycle. */
	if (may_take(m))
		return 0;
	return m->session->paging ? MIN(next, paging_next(m->session->paging)) : next;
}

/* What a program may not access is one error, with two texts. */
static int fault_status(int code)
{
	return code == -EACCES ? -EFAULT : code;
}

int machine_blame(struct machine *m, struct run *r, uint64_t page, int code)
{
	const struct ptx_kernel *kernel = r->kernel;
	struct err *err = &r->err;
	struct sm_waiting lowest = { .addr = UINT64_MAX }, w;
	bool found = false;
	char why[128];

	for (unsigned int i = 0; i < m->nsms; i++) {
		if (!sm_find_waiting(m->sms[i], page, &w))
			continue;
		if (!found || w.addr < lowest.addr)
			lowest = w;
		found = true;
	}
	r->fault_addr = found ? lowest.addr : page;
	if (!found)
		return err_set(err, fault_status(code), "kernel '%s': page 0x%llx: %s", kernel->name,
			       (unsigned long long)page, strerror(-code));
	if (code == -EFAULT)
		snprintf(why, sizeof(why), "is outside managed memory");
	else if (code == -EACCES)
		snprintf(why, sizeof(why),
			 "is in managed memory that is not readable and writable (mprotect)");
	else
		snprintf(why, sizeof(why), "cannot be moved to device memory (%s)",
			 strerror(-code));
	return err_set(err, fault_status(code), "kernel '%s': %u-byte %s at 0x%llx %s (%s line %u, %s)",
		       kernel->name, lowest.bytes, lowest.what,
		       (unsigned long long)lowest.addr, why, kernel->module, lowest.line,
		       lowest.thread);
}

static void trace_taken(struct machine *m, const struct handler_slot *slot, uint64_t now,
			unsigned int depth, uint32_t batch)
{
	struct handler *h = &m->handler;
	uint32_t traced = trace_batch(&m->session->timeline, slot->number, now, slot->until,
				      h->batch, slot->n, depth);

	if (traced != TRACE_NONE)
		u64map_put(&h->traced, batch, traced);
}

/* Nobody gets on by it: how often has that been so? */
static int judge(struct machine *m, struct run *r, const struct paging_outcome *outcome, bool moved)
{
	struct handler *h = &m->handler;

	if (outcome->unmanaged)
		return machine_blame(m, r, outcome->unmanaged_addr,
				     outcome->is_protected ? -EACCES : -EFAULT);
	if (!outcome->stuck || moved)
		h->futile = 0;
	else if (++h->futile >= HANDLER_PATIENCE)
		return machine_blame(m, r, outcome->stuck_addr, outcome->stuck_status);
	return 0;
}

static int serve(struct machine *m, struct run *r, uint64_t now)
{
	struct handler *h = &m->handler;
	struct paging *paging = m->session->paging;
	const struct paging_stats *stats = paging_stats(paging);
	uint64_t moved = stats->h2d_bytes;
	struct handler_slot *slot = idle_slot(h);
	unsigned int depth = gmmu_faults(m->gmmu);
	struct paging_outcome outcome;
	int ret;

	if (!slot)
		return err_set(&r->err, -ENOMEM, "kernel '%s': out of memory", r->kernel->name);
	slot->n = gmmu_take(m->gmmu, h->batch, h->most);
	paging_depth(paging, depth);
	ret = paging_serve(paging, h->batch, slot->n, now, &outcome);
	if (ret)
		return err_set(&r->err, ret, "kernel '%s': far faults cannot be served: %s",
			       r->kernel->name, strerror(-ret));
	/* What was evicted for it must not be translated any more. */
	ret = gpu_apply_invalidations(m->session->gpu);
	if (ret && !m->poll_status)
		m->poll_status = ret;
	for (unsigned int i = 0; i < slot->n; i++)
		slot->pages[i] = h->batch[i].addr;
	slot->until = now + cycles_of(&m->spec, outcome.service_ns);
	slot->taken = h->taken++;
	trace_taken(m, slot, now, depth, outcome.batch);
	sift_up(h, h->busy++);
	return judge(m, r, &outcome, stats->h2d_bytes != moved);
}

/* Access counters say that a region is used much from afar. */
static int pull(struct machine *m, struct run *r, uint64_t now)
{
	struct handler *h = &m->handler;
	struct paging_outcome outcome;
	struct handler_slot *slot;
	uint64_t va;
	int ret;

	if (!mem_notified(m->mem, &va))
		return 0;
	ret = paging_pull(m->session->paging, va, m->spec.counter_bytes, now, &outcome);
	if (ret)
		return err_set(&r->err, ret, "kernel '%s': remote pages cannot be migrated: %s",
			       r->kernel->name, strerror(-ret));
	if (!outcome.service_ns)
		return 0;
	slot = idle_slot(h);
	if (!slot)
		return err_set(&r->err, -ENOMEM, "kernel '%s': out of memory", r->kernel->name);
	ret = gpu_apply_invalidations(m->session->gpu);
	if (ret && !m->poll_status)
		m->poll_status = ret;
	slot->n = 0;
	slot->until = now + cycles_of(&m->spec, outcome.service_ns);
	slot->taken = h->taken++;
	sift_up(h, h->busy++);
	return 0;
}

/* The first to be done is: what of its faults is not on its way walks again. */
static void release(struct machine *m, uint64_t now)
{
	struct handler *h = &m->handler;
	struct paging *paging = m->session->paging;
	const struct handler_slot *slot = &h->slots[0];

	for (unsigned int i = 0; i < slot->n; i++)
		if (!paging_in_flight(paging, slot->pages[i]) &&
		    gmmu_arrived(m->gmmu, slot->pages[i], PAGE_BYTES, now))
			paging_await(paging, slot->pages[i]);
	swap(&h->slots[0], &h->slots[--h->busy]);
	sift_down(h, 0);
}

int handler_step(struct machine *m, struct run *r, uint64_t now)
{
	struct handler *h = &m->handler;
	struct paging *paging = m->session->paging;
	bool changed = false;
	int ret = 0;

	if (paging_next(paging) <= now) {
		changed = true;
		ret = paging_advance(paging, now);
	}
	if (ret)
		return err_set(&r->err, ret, "kernel '%s': out of memory", r->kernel->name);
	while (h->busy && h->slots[0].until <= now)
		release(m, now);
	while (!ret && may_take(m)) {
		changed = true;
		/* Kernels wait for faults, not for counters. */
		ret = gmmu_faults(m->gmmu) ? serve(m, r, now) : pull(m, r, now);
	}
	if (changed)
		trace_state(&m->session->timeline, now, paging_resident_pages(paging),
			    gmmu_faults(m->gmmu));
	return ret;
}
