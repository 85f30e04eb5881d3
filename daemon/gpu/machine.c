// SPDX-License-Identifier: GPL-2.0
/*
 * The machine that one spec describes: SMs, memory, GMMU, fault handlers, and the wires
 * between them. Built when a session is configured. Traffic over the wires does not come
 * by here.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/machine.h"
#include "gpu/session.h"

/* A CTA retired: of the SM's thread. */
static void retired(void *ctx, unsigned int sm, const struct sm_cta_span *span)
{
	struct machine *m = ctx;

	trace_cta(&m->session->timeline, sm, span);
}

static void translated(void *ctx, unsigned int sm, uint64_t page, uint64_t now)
{
	struct machine *m = ctx;

	trace_translated(&m->session->timeline, sm, page, now);
}

static void parked(void *ctx, unsigned int sm, const struct sm_cta_span *span)
{
	struct machine *m = ctx;

	trace_parked(&m->session->timeline, sm, span);
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
	m->left = aligned_alloc(64, n * sizeof(*m->left));
	m->sm_errs = calloc(n, sizeof(*m->sm_errs));
	m->awake = calloc(n, sizeof(*m->awake));
	m->homes = calloc(n + 1, sizeof(*m->homes));
	m->retired = calloc(n, sizeof(*m->retired));
	m->rooms = calloc(n, sizeof(*m->rooms));
	if (!m->sms || !m->left || !m->sm_errs || !m->awake || !m->homes || !m->retired ||
	    !m->rooms)
		return -ENOMEM;
	memset(m->left, 0, n * sizeof(*m->left));
	ret = gmmu_create(&m->spec, va_space, &page_table_ops, m, &m->gmmu);
	if (!ret)
		ret = mem_create(&m->spec, &m->mem);
	m->has_walker = !ret && mem_walker(m->mem) != UINT_MAX;
	for (unsigned int i = 0; !ret && i < n; i++) {
		struct sm_env env = {
			.spec = &m->spec, .gmmu = m->gmmu, .mem = m->mem,
			.wake = &m->left[i].wake, .rooms = &m->left[i].rooms, .err = &m->sm_errs[i],
			.mechanism = m->session->gpu->mechanism,
			.mechanism_ctx = m->session->gpu->mechanism_ctx,
			.retired = m->spec.trace_spans ? retired : NULL,
			.parked = m->spec.trace_spans ? parked : NULL,
			.translated = m->spec.trace_spans ? translated : NULL, .watcher = m,
			.performs = &m->translated,
		};

		ret = sm_create(i, &env, &m->sms[i]);
	}
	if (!ret)
		ret = dispatch_create(&m->spec, dispatch_find(m->spec.dispatch), m->sms, n,
				      &m->dispatch);
	/* More threads than SMs would only wait. */
	if (!ret && MIN(m->spec.threads, n) > 1)
		ret = workers_create((unsigned int)MIN(m->spec.threads, n),
				     n + 2, &m->workers);
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
	ret = create_parts(m, session->va_space);
	if (ret) {
		machine_destroy(m);
		return err_set(err, ret, ret == -ENOMEM ? "out of memory" :
			       "the machine cannot be made: %s", strerror(-ret));
	}
	handler_init(&m->handler, &m->spec, m->gmmu, m->mem, session);
	m->quantum = quantum_of(m);
	*out = m;
	return 0;
}

void machine_destroy(struct machine *m)
{
	if (!m)
		return;
	workers_destroy(m->workers);
	dispatch_destroy(m->dispatch);
	for (unsigned int i = 0; m->sms && i < m->nsms; i++)
		sm_destroy(m->sms[i]);
	handler_fini(&m->handler);
	gmmu_destroy(m->gmmu);
	mem_destroy(m->mem);
	free(m->sms);
	free(m->left);
	free(m->sm_errs);
	free(m->awake);
	free(m->homes);
	free(m->retired);
	free(m->rooms);
	free(m);
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
