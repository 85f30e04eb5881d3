// SPDX-License-Identifier: GPL-2.0
/*
 * The machine that one spec describes: SMs, memory, GMMU, and the wires between
 * them and the session's paging. Built when a session is configured.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/internal.h"

/*
 * Paging off, where a page has to move to be used: everything is in device memory
 * from the start, as far as time goes. The page is really fetched at its first touch,
 * free of charge: the outcome's time is ignored and nobody waits.
 */
static void *fetch_now(struct machine *m, uint64_t page)
{
	struct gpu_session *s = m->session;
	struct fault fault = {
		.addr = page, .cycle = s->now, .va_space = s->va_space,
		.access = ACCESS_WRITE, .merged = 1,
	};
	struct paging_outcome outcome = { 0 };
	unsigned int flags;
	void *host = NULL;
	int ret = 0;

	for (unsigned int i = 0; !ret && !host && i < HANDLER_PATIENCE; i++) {
		ret = paging_serve(s->paging, &fault, 1, s->now, &outcome);
		if (!ret)
			ret = m->poll_status = gpu_apply_invalidations(s->gpu);
		if (!ret && outcome.unmanaged)
			ret = outcome.is_protected ? -EACCES : -EFAULT;
		host = service_entry(s->gpu->service, s->va_space, page, &flags);
		host = flags ? NULL : host;
	}
	if (paging_settle(s->paging, NULL) && !ret)
		ret = -ENOMEM;
	paging_touch(s->paging, page, true);
	if (!host) {
		m->off_status = ret ? ret : outcome.stuck ? outcome.stuck_status : -EBUSY;
		m->off_page = page;
	}
	return host;
}

static void *walk(void *ctx, uint64_t page)
{
	struct machine *m = ctx;
	struct gpu_session *s = m->session;
	struct service *service = s->gpu->service;
	unsigned int flags;
	uint64_t bits = 0;
	void *host;

	if (!m->spec.paging) {
		host = service_entry(service, s->va_space, page, &flags);
		return host && !flags ? host : fetch_now(m, page);
	}
	if (paging_in_flight(s->paging, page))
		return NULL;
	host = service_entry(service, s->va_space, page, &flags);
	if (flags & SERVICE_ENTRY_REMOTE) {
		bits = GMMU_REMOTE;
		m->remote = true;
	} else if (flags & SERVICE_ENTRY_READ_ONLY || paging_collapsing(s->paging, page)) {
		bits = GMMU_READ_ONLY;
	}
	return gmmu_entry(host, bits);
}

static void touch(void *ctx, uint64_t page, bool write)
{
	struct machine *m = ctx;

	paging_touch(m->session->paging, page, write);
}

static void translated(void *ctx, struct gmmu_waiter *waiter, uint64_t page,
		       void *host, uint64_t now)
{
	struct machine *m = ctx;

	m->translated = true;
	trace_translated(&m->session->timeline, waiter->sm, page, now);
	sm_translated(m->sms[waiter->sm], waiter, page, host, now);
}

static void faulted(void *ctx, struct gmmu_waiter *waiter, uint64_t now)
{
	struct machine *m = ctx;

	sm_faulted(m->sms[waiter->sm], waiter, now);
}

/* One sector through the walker's port of the crossbar. */
static bool read_pte(void *ctx, uint64_t addr, uint32_t walk, unsigned int kernel, uint64_t now)
{
	struct machine *m = ctx;
	const struct mem_request request = {
		.addr = MEM_PT_BASE + addr, .tag = walk, .sm = (uint16_t)mem_walker(m->mem),
		.kind = MEM_READ, .cls = MEM_PT, .bytes = MEM_SECTOR,
		.kernel = (uint8_t)kernel,
	};

	if (!mem_ready(m->mem, request.sm, &request, now))
		return false;
	mem_send(m->mem, &request, now);
	return true;
}

static const struct gmmu_ops ops = {
	.walk = walk,
	.touch = touch,
	.translated = translated,
	.faulted = faulted,
	.read_pte = read_pte,
};

uint64_t machine_pte_next(const struct machine *m)
{
	return m->has_walker ? mem_next(m->mem, mem_walker(m->mem)) : NEVER;
}

void machine_ptes(struct machine *m, uint64_t now)
{
	struct mem_reply reply;

	while (m->has_walker && mem_receive(m->mem, mem_walker(m->mem), now, &reply))
		gmmu_pte(m->gmmu, reply.tag, now);
}

/* A CTA retired: of the SM's thread. */
static void retired(void *ctx, unsigned int sm, const struct sm_cta_span *span)
{
	struct machine *m = ctx;

	trace_cta(&m->session->timeline, sm, span);
}

static void parked(void *ctx, unsigned int sm, const struct sm_cta_span *span)
{
	struct machine *m = ctx;

	trace_parked(&m->session->timeline, sm, span);
}

int machine_set_ranges(struct machine *m)
{
	struct service *service = m->session->gpu->service;
	struct addr_ranges r = { 0 };
	int ret;

	if (m->spec.paging || !service->ops->managed)
		return 0;
	service->ops->managed(service, m->session->va_space, &r);
	ret = r.failed ? -ENOMEM : gmmu_set_ranges(m->gmmu, r.at, r.count);
	free(r.at);
	return ret;
}

/*
 * A load's value is needed no sooner than its L1D look-up ends, and nobody else sees
 * what an SM does before the crossbar's latency has passed; nor must a walk end in the
 * quantum in which it began. So SMs can be run apart for that long.
 */
static unsigned int quantum_of(const struct machine *m)
{
	uint64_t q = MIN((uint64_t)mem_lookahead(m->mem), m->spec.l1d_latency);

	q = MIN(q, gmmu_lookahead(m->gmmu));
	return (unsigned int)MAX(q, 1u);
}

static int create_parts(struct machine *m, uint32_t va_space)
{
	unsigned int n = m->nsms;
	int ret;

	m->sms = calloc(n, sizeof(*m->sms));
	m->wake = calloc(n, sizeof(*m->wake));
	m->sm_errs = calloc(n, sizeof(*m->sm_errs));
	m->awake = calloc(n, sizeof(*m->awake));
	m->performs = calloc(n, sizeof(*m->performs));
	m->retired = calloc(n, sizeof(*m->retired));
	if (!m->sms || !m->wake || !m->sm_errs || !m->awake || !m->performs || !m->retired)
		return -ENOMEM;
	ret = gmmu_create(&m->spec, va_space, &ops, m, &m->gmmu);
	if (!ret)
		ret = mem_create(&m->spec, &m->mem);
	m->has_walker = !ret && mem_walker(m->mem) != UINT_MAX;
	for (unsigned int i = 0; !ret && i < n; i++) {
		struct sm_env env = {
			.spec = &m->spec, .gmmu = m->gmmu, .mem = m->mem,
			.wake = &m->wake[i], .err = &m->sm_errs[i],
			.retired = m->spec.trace_spans ? retired : NULL,
			.parked = m->spec.trace_spans ? parked : NULL, .watcher = m,
		};

		ret = sm_create(i, &env, &m->sms[i]);
	}
	if (!ret)
		ret = dispatch_create(&m->spec, m->sms, n, &m->dispatch);
	/* More threads than SMs would only wait. */
	if (!ret && MIN(m->spec.threads, n) > 1)
		ret = pool_create((unsigned int)MIN(m->spec.threads, n), &m->pool);
	return ret;
}

int machine_create(struct gpu_session *session, const struct gpu_spec *spec,
		   struct machine **out, struct err *err)
{
	struct machine *m = calloc(1, sizeof(*m));
	int ret;

	if (!m)
		return err_set(err, -ENOMEM, "out of memory");
	m->session = session;
	m->spec = *spec;
	m->nsms = (unsigned int)spec->sms;
	handler_init(&m->handler, spec);
	ret = create_parts(m, session->va_space);
	if (ret) {
		machine_destroy(m);
		return err_set(err, ret, ret == -ENOMEM ? "out of memory" :
			       "the machine cannot be made: %s", strerror(-ret));
	}
	m->quantum = quantum_of(m);
	*out = m;
	return 0;
}

void machine_destroy(struct machine *m)
{
	if (!m)
		return;
	pool_destroy(m->pool);
	dispatch_destroy(m->dispatch);
	for (unsigned int i = 0; m->sms && i < m->nsms; i++)
		sm_destroy(m->sms[i]);
	handler_fini(&m->handler);
	gmmu_destroy(m->gmmu);
	mem_destroy(m->mem);
	free(m->sms);
	free(m->wake);
	free(m->sm_errs);
	free(m->awake);
	free(m->performs);
	free(m->retired);
	free(m);
}

void machine_invalidate(struct machine *m, uint64_t start, uint64_t end)
{
	uint64_t from = mem_device(start), to = mem_device(end);

	/* Device addresses of what is below the managed area are above it: all of it, then. */
	if (to <= from) {
		from = 0;
		to = UINT64_MAX;
	}
	gmmu_invalidate(m->gmmu, start, end);
	mem_drop(m->mem, from, to);
	for (unsigned int i = 0; i < m->nsms; i++)
		sm_drop(m->sms[i], from, to);
}

void machine_cancel(struct machine *m)
{
	for (unsigned int i = 0; i < m->nsms; i++)
		sm_cancel(m->sms[i]);
	gmmu_cancel(m->gmmu);
	mem_cancel(m->mem);
	handler_cancel(&m->handler);
	m->off_status = 0;
	m->translated = false;
	if (m->session->paging)
		paging_abandon(m->session->paging);
}
