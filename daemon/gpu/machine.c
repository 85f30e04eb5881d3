// SPDX-License-Identifier: GPL-2.0
/*
 * The machine that one spec describes: SMs, memory, GMMU, and the wires between
 * them and the session's paging. Built when a session is configured.
 */
#include <errno.h>
#include <stdlib.h>

#include "gpu/internal.h"

/*
 * Paging off: everything is in device memory from the start, as far as time
 * goes. The page is really fetched at its first touch, free of charge: the
 * outcome's time is ignored and nobody waits.
 */
static void *fetch_now(struct machine *m, uint64_t page)
{
	struct gpu_session *s = m->session;
	struct fault fault = {
		.addr = page, .cycle = s->now, .va_space = s->va_space,
		.access = ACCESS_WRITE, .merged = 1,
	};
	struct paging_outcome outcome = { 0 };
	void *host = NULL;
	int ret = 0;

	for (unsigned int i = 0; !ret && !host && i < HANDLER_PATIENCE; i++) {
		ret = paging_serve(s->paging, &fault, 1, s->now, &outcome);
		if (!ret)
			ret = m->poll_status = gpu_apply_invalidations(s->gpu);
		if (!ret && outcome.unmanaged)
			ret = -EFAULT;
		host = s->gpu->service->ops->walk(s->gpu->service, s->va_space, page);
	}
	flight_land(&s->gpu->flight);
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
	struct gpu *gpu = s->gpu;
	void *host;

	if (m->handler.busy && flight_holds(&gpu->flight, s->va_space, page))
		return NULL;
	host = gpu->service->ops->walk(gpu->service, s->va_space, page);
	if (!host && !m->spec.paging)
		host = fetch_now(m, page);
	return host;
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

	sm_translated(m->sms[waiter->sm], waiter, page, host, now);
}

static void faulted(void *ctx, struct gmmu_waiter *waiter, uint64_t now)
{
	struct machine *m = ctx;

	sm_faulted(m->sms[waiter->sm], waiter, now);
}

static const struct gmmu_ops ops = {
	.walk = walk,
	.touch = touch,
	.translated = translated,
	.faulted = faulted,
};

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
	m->sms = calloc(m->nsms, sizeof(*m->sms));
	m->wake = calloc(m->nsms, sizeof(*m->wake));
	ret = m->sms && m->wake ? 0 : -ENOMEM;
	if (!ret)
		ret = gmmu_create(&m->spec, session->va_space, &ops, m, &m->gmmu);
	if (!ret)
		ret = mem_create(&m->spec, &m->mem);
	for (unsigned int i = 0; !ret && i < m->nsms; i++) {
		struct sm_env env = {
			.spec = &m->spec, .gmmu = m->gmmu, .mem = m->mem,
			.wake = &m->wake[i], .err = &m->sm_err,
		};

		ret = sm_create(i, &env, &m->sms[i]);
	}
	if (ret) {
		machine_destroy(m);
		return err_set(err, ret, "out of memory");
	}
	*out = m;
	return 0;
}

void machine_destroy(struct machine *m)
{
	if (!m)
		return;
	for (unsigned int i = 0; m->sms && i < m->nsms; i++)
		sm_destroy(m->sms[i]);
	gmmu_destroy(m->gmmu);
	mem_destroy(m->mem);
	free(m->sms);
	free(m->wake);
	free(m);
}

void machine_cancel(struct machine *m)
{
	for (unsigned int i = 0; i < m->nsms; i++)
		sm_cancel(m->sms[i]);
	gmmu_cancel(m->gmmu);
	mem_cancel(m->mem);
	m->handler.busy = false;
	m->handler.futile = 0;
	m->off_status = 0;
	flight_land(&m->session->gpu->flight);
}
