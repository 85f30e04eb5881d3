// SPDX-License-Identifier: GPL-2.0
/*
 * The far-fault handler as an actor in virtual time: idle, or busy with one
 * batch until its replay. When it is idle and the fault buffer is not empty it
 * takes what is there at that moment, at most paging.batch records; the batch
 * is really served; what that cost, at the core clock, is how long it stays
 * busy. Called by the loop at the start of every quantum; quanta end at its replays.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "gpu/internal.h"

uint64_t handler_next(const struct machine *m)
{
	return m->handler.busy ? m->handler.until : NEVER;
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
		return err_set(err, code, "kernel '%s': page 0x%llx: %s", kernel->name,
			       (unsigned long long)page, strerror(-code));
	if (code == -EFAULT)
		snprintf(why, sizeof(why), "is outside managed memory");
	else
		snprintf(why, sizeof(why), "cannot be moved to device memory (%s)",
			 strerror(-code));
	return err_set(err, code, "kernel '%s': %u-byte %s at 0x%llx %s (%s line %u, %s)",
		       kernel->name, lowest.bytes, lowest.what,
		       (unsigned long long)lowest.addr, why, kernel->module, lowest.line,
		       lowest.thread);
}

static int serve(struct machine *m, struct run *r, uint64_t now)
{
	struct handler *h = &m->handler;
	struct paging *paging = m->session->paging;
	const struct paging_stats *stats = paging_stats(paging);
	uint64_t moved = stats->h2d_bytes, evicted = stats->evicted_pages;
	uint64_t faults = stats->far_faults;
	unsigned int n = gmmu_take(m->gmmu, h->batch, (unsigned int)m->spec.batch);
	struct paging_outcome outcome;
	int ret;

	ret = paging_serve(paging, h->batch, n, now, &outcome);
	if (ret)
		return err_set(&r->err, ret, "kernel '%s': far faults cannot be served: %s",
			       r->kernel->name, strerror(-ret));
	/* What was evicted for it must not be translated any more. */
	ret = gpu_apply_invalidations(m->session->gpu);
	if (ret && !m->poll_status)
		m->poll_status = ret;
	h->busy = true;
	h->until = now + cycles_of(&m->spec, outcome.service_ns);
	timeline_add(&m->session->timeline, &(struct timeline_span){
		.begin = now, .end = h->until, .kernel = TIMELINE_BATCH,
		.faults = stats->far_faults - faults,
		.h2d_pages = (stats->h2d_bytes - moved) / PAGE_BYTES,
		.d2h_pages = stats->evicted_pages - evicted,
	});
	if (outcome.unmanaged)
		return machine_blame(m, r, outcome.unmanaged_addr, -EFAULT);
	if (!outcome.stuck || stats->h2d_bytes != moved)
		h->futile = 0;
	else if (++h->futile >= HANDLER_PATIENCE)
		return machine_blame(m, r, outcome.stuck_addr, outcome.stuck_status);
	return 0;
}

int handler_step(struct machine *m, struct run *r, uint64_t now)
{
	struct handler *h = &m->handler;

	if (h->busy && h->until <= now) {
		h->busy = false;
		flight_land(&m->session->gpu->flight);
		gmmu_replay(m->gmmu, now);
	}
	if (h->busy || !gmmu_faults(m->gmmu) || gmmu_replaying(m->gmmu))
		return 0;
	return serve(m, r, now);
}
