// SPDX-License-Identifier: GPL-2.0
/*
 * One grid in time: CTA dispatch and the cycle loop. A cycle is run only when
 * something can happen in it; between two such cycles time jumps, and the SMs
 * attribute the cycles they slept through. launch.c calls it.
 */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "gpu/internal.h"

struct timed {
	struct run *r;
	uint64_t ctas, next_cta;	/* of the grid; the next to dispatch */
	uint32_t resident;		/* CTAs on SMs */
	unsigned int next_sm;		/* round robin */
	bool room;			/* some SM may have room */
	uint64_t issued;		/* warp instructions, for gpu.watchdog */
};

/* At most one CTA an SM and cycle, beginning behind the SM that got one last. */
static void dispatch(struct timed *t, uint64_t now)
{
	struct machine *m = t->r->m;
	const uint32_t *grid = t->r->launch.grid;
	unsigned int start = t->next_sm;
	bool room = false;

	for (unsigned int k = 0; k < m->nsms && t->next_cta < t->ctas; k++) {
		unsigned int i = (start + k) % m->nsms;
		uint32_t ctaid[3] = {
			(uint32_t)(t->next_cta % grid[0]),
			(uint32_t)(t->next_cta / grid[0] % grid[1]),
			(uint32_t)(t->next_cta / grid[0] / grid[1]),
		};

		if (!sm_has_room(m->sms[i]))
			continue;
		sm_launch_cta(m->sms[i], ctaid, now);
		t->next_cta++;
		t->resident++;
		t->next_sm = (i + 1) % m->nsms;
		room |= sm_has_room(m->sms[i]);
	}
	t->room = room;
}

static int step_sms(struct timed *t, uint64_t now)
{
	struct machine *m = t->r->m;

	for (unsigned int i = 0; i < m->nsms; i++) {
		unsigned int before;
		uint64_t issued;
		int ret;

		if (m->wake[i] > now)
			continue;
		before = sm_resident_ctas(m->sms[i]);
		issued = sm_stats(m->sms[i])->warp_instructions;
		ret = sm_step(m->sms[i], now, t->r->fault_addr);
		if (ret && m->poll_status)
			return run_gone(t->r, m->poll_status);
		if (ret && m->off_status)
			return machine_blame(m, t->r->kernel, m->off_page, m->off_status,
					     t->r->fault_addr, t->r->err);
		if (ret)
			return err_set(t->r->err, ret, "%s", m->sm_err.text[0] ?
				       m->sm_err.text : strerror(-ret));
		t->issued += sm_stats(m->sms[i])->warp_instructions - issued;
		before -= sm_resident_ctas(m->sms[i]);
		t->resident -= before;
		t->room |= before != 0;
	}
	return m->spec.watchdog && t->issued > m->spec.watchdog ? run_watchdog(t->r) : 0;
}

static uint64_t next_cycle(const struct timed *t, uint64_t now)
{
	const struct machine *m = t->r->m;
	uint64_t next = MIN(gmmu_next(m->gmmu), handler_next(m));

	for (unsigned int i = 0; i < m->nsms; i++)
		next = MIN(next, m->wake[i]);
	if (t->room && t->next_cta < t->ctas)
		next = MIN(next, now + 1);
	return next;
}

static int deadlock(struct timed *t)
{
	char what[400] = "nothing is running";

	for (unsigned int i = 0; i < t->r->m->nsms; i++) {
		sm_describe(t->r->m->sms[i], what, sizeof(what));
		if (what[0])
			break;
	}
	return err_set(t->r->err, -EDEADLK, "kernel '%s': no warp can ever go on: %s",
		       t->r->kernel->name, what);
}

/* Runs to the end. *now is the last cycle run; one more is the kernel's end. */
static int run_cycles(struct timed *t, uint64_t *now)
{
	struct machine *m = t->r->m;
	uint64_t next;
	int ret;

	for (;;) {
		ret = gpu_apply_invalidations(t->r->session->gpu);
		if (!ret)
			ret = m->poll_status;
		if (ret)
			return run_gone(t->r, ret);
		gmmu_step(m->gmmu, *now);
		ret = handler_step(m, t->r->kernel, *now, t->r->fault_addr, t->r->err);
		if (!ret)
			ret = step_sms(t, *now);
		if (ret)
			return ret;
		if (t->room && t->next_cta < t->ctas)
			dispatch(t, *now);
		if (t->next_cta == t->ctas && !t->resident)
			return 0;
		next = next_cycle(t, *now);
		if (next == NEVER)
			return deadlock(t);
		*now = next;
	}
}

static void collect(struct timed *t, struct kernel_stats *k, unsigned int ctas_per_sm,
		    uint64_t start, uint64_t end)
{
	struct machine *m = t->r->m;
	uint64_t sum = 0;

	run_describe(t->r, k);
	k->ctas_per_sm = ctas_per_sm;
	k->cycles = end - start;
	for (unsigned int i = 0; i < m->nsms; i++) {
		const struct sm_stats *stats = sm_stats(m->sms[i]);

		sm_account(m->sms[i], end);
		k->warp_instructions += stats->warp_instructions;
		k->thread_instructions += stats->thread_instructions;
		for (unsigned int c = 0; c < STALLS; c++)
			k->stalls[c] += stats->stalls[c];
		t->r->session->shared_accesses += stats->shared_accesses;
		t->r->session->shared_conflict_cycles += stats->shared_conflict_cycles;
	}
	for (unsigned int c = 0; c < STALLS; c++)
		sum += k->stalls[c];
	/* Every cycle of every scheduler went somewhere, once. */
	assert(sum == k->cycles * m->nsms * m->spec.schedulers);
	assert(k->stalls[STALL_ISSUED] == k->warp_instructions);
}

static int run_grid(struct timed *t, const struct sm_kernel *kernel)
{
	struct gpu_session *s = t->r->session;
	struct machine *m = t->r->m;
	uint64_t start = s->now, now = s->now;
	struct kernel_stats *stats = run_new_stats(t->r);
	int ret = stats ? 0 : -ENOMEM;

	for (unsigned int i = 0; !ret && i < m->nsms; i++)
		ret = sm_begin(m->sms[i], kernel, start);
	if (ret)
		return err_set(t->r->err, ret, "kernel '%s': no memory for its warps",
			       t->r->kernel->name);
	m->poll_status = 0;
	m->off_status = 0;
	m->sm_err.text[0] = '\0';
	ret = run_cycles(t, &now);
	s->now = now + 1;
	if (ret) {
		/* What the handler was doing is done before anything else starts. */
		if (m->handler.busy)
			s->now = MAX(s->now, m->handler.until);
		machine_cancel(m);
		return ret;
	}
	collect(t, stats, sm_kernel_ctas(kernel), start, s->now);
	timeline_add(&s->timeline, &(struct timeline_span){
		.begin = start, .end = s->now, .kernel = s->nkernels,
	});
	s->nkernels++;
	return 0;
}


int run_timed(struct run *r)
{
	const uint32_t *grid = r->launch.grid;
	struct timed t = {
		.r = r, .room = true, .ctas = (uint64_t)grid[0] * grid[1] * grid[2],
	};
	struct sm_kernel *kernel;
	struct err why;
	int ret;

	ret = sm_kernel_create(&r->m->spec, &r->launch, &kernel, &why);
	if (ret)
		return err_set(r->err, ret, "kernel '%s': %s", r->kernel->name, why.text);
	ret = run_grid(&t, kernel);
	sm_kernel_destroy(kernel);
	return ret;
}
