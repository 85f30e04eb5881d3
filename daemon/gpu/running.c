// SPDX-License-Identifier: GPL-2.0
/*
 * The kernels that run: how they come into the loop, and how they leave it, with their
 * statistics or a failure. The loop (quantum.c) calls it between quanta.
 */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "gpu/loop.h"

/* --- begin ------------------------------------------------------------------------- */

static unsigned int free_slot(const struct loop *l)
{
	uint32_t used = 0;

	for (unsigned int k = 0; k < l->nrunning; k++)
		used |= 1u << l->running[k]->todo.slot;
	return (unsigned int)__builtin_ctz(~used);
}

/* CTAs that wait for each other must all be there. */
static int fits_at_once(const struct machine *m, struct run *r)
{
	const uint32_t *grid = r->launch.grid;
	uint64_t ctas = (uint64_t)grid[0] * grid[1] * grid[2];
	uint64_t room = (uint64_t)sm_kernel_ctas(r->sm_kernel) * m->nsms;

	if (!exec_launch_cooperative(&r->launch) || ctas <= room)
		return 0;
	return err_set(&r->err, -EINVAL,
		       "kernel '%s': a cooperative launch of %" PRIu64 " CTAs: the GPU holds %" PRIu64 " at once",
		       r->kernel->name, ctas, room);
}

static int begin(struct loop *l, struct run *r)
{
	struct machine *m = l->m;
	const uint32_t *grid = r->launch.grid;
	unsigned int slot;
	struct err why;
	int ret;

	ret = sm_kernel_create(&m->spec, &r->launch, &r->sm_kernel, &why);
	if (ret) {
		r->sm_kernel = NULL;
		return err_set(&r->err, ret, "kernel '%s': %s", r->kernel->name, why.text);
	}
	slot = free_slot(l);
	sm_kernel_set_slot(r->sm_kernel, slot);
	ret = addresses_look(l->s);
	sm_kernel_set_module(r->sm_kernel, module_code(l->s, r->module),
			     module_constants(r->module));
	for (unsigned int i = 0; !ret && i < m->nsms; i++) {
		/* With nothing running L1s were flushed. */
		if (l->nrunning)
			sm_forget(m->sms[i], r->sm_kernel);
		ret = sm_begin(m->sms[i], r->sm_kernel);
	}
	if (ret)
		return err_set(&r->err, ret, "kernel '%s': no memory for its warps",
			       r->kernel->name);
	ret = fits_at_once(m, r);
	if (ret)
		return ret;
	run_describe(r);
	r->stats.ctas_per_sm = sm_kernel_ctas(r->sm_kernel);
	r->stats.start = l->now;
	r->todo = (struct dispatch_kernel){
		.kernel = r->sm_kernel, .slot = slot, .stream = r->stream,
		.grid = { grid[0], grid[1], grid[2] },
		.ctas = (uint64_t)grid[0] * grid[1] * grid[2], .name = r->kernel->name,
		.first = l->now + m->spec.launch_latency,
	};
	progress_begin(l->s);
	trace_launch(&l->s->timeline, r->launch.grid_id, r->kernel->name, r->stream);
	machine_counters(m, l->now, &r->before);
	machine_slot_counters(m, slot, &r->slot_before);
	return 0;
}

bool loop_admit(struct loop *l)
{
	unsigned int most = (unsigned int)MIN(l->m->spec.concurrent_kernels, SM_KERNELS);
	struct run *r;

	tasks_end(l);
	if (!l->look)
		return false;
	while ((r = queue_ready(l->s, l->nrunning < most))) {
		if (r->kind != RUN_LAUNCH) {
			task_begin(l, r);
			continue;
		}
		if (halt_refuses(l, r))
			continue;
		r->status = begin(l, r);
		r->state = r->status ? RUN_DONE : RUN_RUNNING;
		if (r->status)
			continue;
		l->running[l->nrunning++] = r;
		for (unsigned int k = 0; k < l->nrunning && l->nrunning > 1; k++)
			l->running[k]->stats.concurrent = true;
		dispatch_arrived(l->m->dispatch, &r->todo, l->now);
	}
	l->look = false;
	return true;
}

/* --- end ----------------------------------------------------------------------------- */

static uint64_t retired(const struct loop *l, const struct run *r)
{
	uint64_t n = 0;

	for (unsigned int i = 0; i < l->m->nsms; i++)
		n += sm_share(l->m->sms[i], r->sm_kernel)->retired_ctas;
	return n;
}

/* The kernel's last CTA has retired, and with it its stores were acknowledged. */
static bool complete(const struct loop *l, const struct run *r)
{
	return r->todo.next == r->todo.ctas && retired(l, r) == r->todo.ctas;
}

void loop_progress(struct loop *l)
{
	uint64_t done = 0, all = 0;

	for (unsigned int k = 0; k < l->nrunning; k++) {
		done += retired(l, l->running[k]);
		all += l->running[k]->todo.ctas;
	}
	progress_set(l->s, done, all);
	l->untold = 0;
}

static bool all_idle(const struct machine *m)
{
	for (unsigned int i = 0; i < m->nsms; i++)
		if (!sm_idle(m->sms[i]))
			return false;
	return mem_idle(m->mem);
}

/* One cycle behind the last in which anything happened. */
static uint64_t end_of_work(const struct machine *m)
{
	uint64_t last = mem_last(m->mem);

	for (unsigned int i = 0; i < m->nsms; i++)
		last = MAX(last, sm_last(m->sms[i]));
	return last + 1;
}

/* The kernel's own part of `whole`, which is the machine's since it began. Adds to own_stalls. */
static void own_counters(struct loop *l, struct run *r, const struct gpu_counters *whole,
			 struct gpu_counters *own, uint64_t own_stalls[STALLS])
{
	struct gpu_counters now;

	machine_slot_counters(l->m, r->todo.slot, &now);
	gpu_counters_since(&now, &r->slot_before, own);
	own->cycles = whole->cycles;
	own->memory.dram_cycles = whole->memory.dram_cycles;
	for (unsigned int i = 0; i < l->m->nsms; i++) {
		struct sm_kernel_stats part;

		sm_kernel_stats(l->m->sms[i], r->sm_kernel, &part);
		stats_add(&own->sm, &part.counters, sizeof(part.counters));
		stats_add(own_stalls, part.own_stalls, sizeof(part.own_stalls));
	}
}

/* A row of the kernel's samples ends at cycle `at`, if others have run beside it. */
static void sample_kernel(struct loop *l, struct run *r, uint64_t at,
			  const struct gpu_counters *own)
{
	struct gpu_counters interval;

	gpu_counters_since(own, &r->sampled, &interval);
	r->sampled = *own;
	/* Without memory the rest is missing; the run goes on. */
	if (r->stats.concurrent && interval.cycles)
		samples_take_kernel(&l->s->samples, at, &interval, &r->stats);
}

void loop_sample(struct loop *l, uint64_t at, const struct gpu_counters *now)
{
	for (unsigned int k = 0; k < l->nrunning; k++) {
		struct run *r = l->running[k];
		struct gpu_counters whole, own;
		uint64_t stalls[STALLS] = { 0 };

		gpu_counters_since(now, &r->before, &whole);
		own_counters(l, r, &whole, &own, stalls);
		sample_kernel(l, r, at, &own);
	}
}

/* Others ran beside it: k->gpu, which is the machine's, becomes its own. */
static void keep_own(struct loop *l, struct run *r, uint64_t cycle)
{
	struct kernel_stats *k = &r->stats;
	struct gpu_counters whole = k->gpu;

	own_counters(l, r, &whole, &k->gpu, k->own_stalls);
	if (l->s->samples.interval)
		sample_kernel(l, r, cycle, &k->gpu);
}

static void end(struct loop *l, struct run *r, uint64_t cycle)
{
	struct kernel_stats *k = &r->stats;
	struct gpu_counters now;

	machine_counters(l->m, cycle, &now);
	gpu_counters_since(&now, &r->before, &k->gpu);
	k->cycles = cycle - k->start;
	for (unsigned int i = 0; i < l->m->nsms; i++) {
		const struct sm_share *share = sm_share(l->m->sms[i], r->sm_kernel);

		k->warp_instructions += share->warp_instructions;
		k->thread_instructions += share->thread_instructions;
	}
	/* Every cycle of every scheduler went somewhere, once. */
	assert(stats_stalls_add_up(&k->gpu, &l->m->spec));
	assert(k->gpu.sm.stalls[STALL_ISSUED] ==
	       k->gpu.sm.warp_instructions + k->gpu.sm.virtual.issued_specifiers);
	assert(machine_shares_add_up(l->m, &now));
	if (k->concurrent)
		keep_own(l, r, cycle);
	assert(!k->concurrent || k->gpu.sm.warp_instructions == k->warp_instructions);
	halt_count(l, r);
	r->state = RUN_DONE;
}

static void leave(struct loop *l, unsigned int k, uint64_t now)
{
	dispatch_left(l->m->dispatch, &l->running[k]->todo, now);
	l->nrunning--;
	memmove(&l->running[k], &l->running[k + 1],
		(l->nrunning - k) * sizeof(l->running[0]));
	l->look = true;
}

/* L1s of SMs that run nothing any more; L2 keeps what it has. */
static void flush_idle_sms(struct machine *m)
{
	for (unsigned int i = 0; i < m->nsms; i++)
		if (!sm_resident_ctas(m->sms[i], NULL))
			sm_flush(m->sms[i]);
}

bool loop_retire(struct loop *l, uint64_t upto)
{
	unsigned int done = 0;

	for (unsigned int k = 0; k < l->nrunning; k++)
		done += complete(l, l->running[k]);
	if (!done)
		return false;
	if (done == l->nrunning) {
		/* The last ones end when the memory has nothing left to do. */
		l->ending = !all_idle(l->m);
		if (l->ending)
			return false;
		/* Everything asked for was answered. */
		assert(gmmu_wake(l->m->gmmu) == NEVER && !gmmu_faults(l->m->gmmu));
		upto = end_of_work(l->m);
	}
	for (unsigned int k = 0; k < l->nrunning;) {
		if (!complete(l, l->running[k])) {
			k++;
			continue;
		}
		end(l, l->running[k], upto);
		leave(l, k, upto);
	}
	flush_idle_sms(l->m);
	l->now = upto;
	return true;
}

/* --- failure -------------------------------------------------------------------------- */

void loop_clear(struct loop *l, uint64_t upto)
{
	struct machine *m = l->m;

	/* Up to here the SMs were as they are, from here on they are empty. */
	for (unsigned int i = 0; i < m->nsms; i++)
		sm_account(m->sms[i], upto);
	while (l->nrunning)
		leave(l, l->nrunning - 1, upto);
	l->ending = false;
	l->look = true;
	/* The handler ends its batch before anything else starts. */
	l->now = MAX(upto, handler_until(&m->handler));
	machine_cancel(m);
	for (unsigned int i = 0; i < m->nsms; i++) {
		sm_flush(m->sms[i]);
		sm_account(m->sms[i], l->now);
	}
}

void loop_fail(struct loop *l, struct run *culprit, int status, uint64_t upto)
{
	for (unsigned int k = 0; k < l->nrunning; k++) {
		struct run *r = l->running[k];

		r->state = RUN_DONE;
		r->status = status;
		if (r == culprit)
			continue;
		r->status = err_set(&r->err, -ECANCELED,
				    "kernel '%s': ended with kernel '%s', which ran at the same time and failed",
				    r->kernel->name, culprit->kernel->name);
	}
	loop_clear(l, upto);
}
