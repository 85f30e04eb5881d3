// SPDX-License-Identifier: GPL-2.0
/*
 * One grid from launch to end: checks, CTA dispatch and the cycle loop. A cycle
 * is run only when something can happen in it; between two such cycles time
 * jumps, and the SMs attribute the cycles they slept through.
 */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/internal.h"

/* PTX ISA and CUDA's programming guide, compute capability 2.0 and later. */
#define MAX_THREADS	1024u

struct run {
	struct gpu_session *session;
	struct machine *m;
	const struct ptx_kernel *kernel;
	struct exec_launch launch;
	uint64_t ctas, next_cta;	/* of the grid; the next to dispatch */
	uint32_t resident;		/* CTAs on SMs */
	unsigned int next_sm;		/* round robin */
	bool room;			/* some SM may have room */
	uint64_t *fault_addr;
	struct err *err;
};

static const struct ptx_kernel *find_kernel(struct gpu_session *s,
					    const struct gpu_launch *l,
					    struct exec_program ***program,
					    struct err *err)
{
	const struct ptx_kernel *k;

	for (struct module *m = s->modules; m; m = m->next) {
		if (m->id != l->module)
			continue;
		for (unsigned int i = 0; i < m->nkernels; i++) {
			k = ptx_module_kernel_at(m->ptx, i);
			if (strcmp(k->name, l->kernel))
				continue;
			*program = &m->programs[i];
			return k;
		}
		err_set(err, -ENOENT, "%s: no kernel '%.128s'",
			ptx_module_name(m->ptx), l->kernel);
		return NULL;
	}
	err_set(err, -ENOENT, "kernel '%.128s': module %u is not loaded", l->kernel,
		l->module);
	return NULL;
}

static int check_dims(const struct ptx_kernel *k, const char *what, const uint32_t dim[3],
		      const uint32_t max[3], struct err *err)
{
	for (unsigned int i = 0; i < 3; i++) {
		if (!dim[i] || dim[i] > max[i])
			return err_set(err, -EINVAL,
				       "kernel '%s': %s dimension %c is %u, must be 1 to %u",
				       k->name, what, 'x' + (int)i, dim[i], max[i]);
	}
	return 0;
}

static int check_launch(const struct ptx_kernel *k, const struct gpu_launch *l,
			struct err *err)
{
	static const uint32_t max_grid[3] = { INT32_MAX, 65535, 65535 };
	static const uint32_t max_block[3] = { 1024, 1024, 64 };
	uint64_t threads = (uint64_t)l->block[0] * l->block[1] * l->block[2];

	int ret = check_dims(k, "grid", l->grid, max_grid, err);

	if (!ret)
		ret = check_dims(k, "block", l->block, max_block, err);
	if (ret)
		return ret;
	if (threads > MAX_THREADS)
		return err_set(err, -EINVAL,
			       "kernel '%s': a block of %" PRIu64 " threads, at most %u",
			       k->name, threads, MAX_THREADS);
	if (k->max_threads && threads > k->max_threads)
		return err_set(err, -EINVAL,
			       "kernel '%s': %" PRIu64 " threads a block, its .maxntid allows %u",
			       k->name, threads, k->max_threads);
	if (l->param_bytes != k->param_bytes)
		return err_set(err, -EINVAL,
			       "kernel '%s': %u bytes of parameters, it takes %u",
			       k->name, l->param_bytes, k->param_bytes);
	if ((uint64_t)k->shared_bytes + l->dynamic_shared > UINT32_MAX)
		return err_set(err, -EINVAL,
			       "kernel '%s': %u bytes of dynamic shared memory",
			       k->name, l->dynamic_shared);
	return 0;
}

/* At most one CTA an SM and cycle, beginning behind the SM that got one last. */
static void dispatch(struct run *r, uint64_t now)
{
	struct machine *m = r->m;
	const uint32_t *grid = r->launch.grid;
	unsigned int start = r->next_sm;
	bool room = false;

	for (unsigned int k = 0; k < m->nsms && r->next_cta < r->ctas; k++) {
		unsigned int i = (start + k) % m->nsms;
		uint32_t ctaid[3] = {
			(uint32_t)(r->next_cta % grid[0]),
			(uint32_t)(r->next_cta / grid[0] % grid[1]),
			(uint32_t)(r->next_cta / grid[0] / grid[1]),
		};

		if (!sm_has_room(m->sms[i]))
			continue;
		sm_launch_cta(m->sms[i], ctaid, now);
		r->next_cta++;
		r->resident++;
		r->next_sm = (i + 1) % m->nsms;
		room |= sm_has_room(m->sms[i]);
	}
	r->room = room;
}

static int gone(struct run *r, int status)
{
	return err_set(r->err, status, status == -ECANCELED ?
		       "kernel '%s': its client is gone" :
		       "kernel '%s': the device is lost", r->kernel->name);
}

static int step_sms(struct run *r, uint64_t now)
{
	struct machine *m = r->m;

	for (unsigned int i = 0; i < m->nsms; i++) {
		unsigned int before;
		int ret;

		if (m->wake[i] > now)
			continue;
		before = sm_resident_ctas(m->sms[i]);
		ret = sm_step(m->sms[i], now, r->fault_addr);
		if (ret && m->poll_status)
			return gone(r, m->poll_status);
		if (ret && m->off_status)
			return machine_blame(m, r->kernel, m->off_page, m->off_status,
					     r->fault_addr, r->err);
		if (ret)
			return err_set(r->err, ret, "%s", m->sm_err.text[0] ?
				       m->sm_err.text : strerror(-ret));
		before -= sm_resident_ctas(m->sms[i]);
		r->resident -= before;
		r->room |= before != 0;
	}
	return 0;
}

static uint64_t next_cycle(const struct run *r, uint64_t now)
{
	const struct machine *m = r->m;
	uint64_t next = MIN(gmmu_next(m->gmmu), handler_next(m));

	for (unsigned int i = 0; i < m->nsms; i++)
		next = MIN(next, m->wake[i]);
	if (r->room && r->next_cta < r->ctas)
		next = MIN(next, now + 1);
	return next;
}

static int deadlock(struct run *r)
{
	char what[256] = "nothing is running";

	for (unsigned int i = 0; i < r->m->nsms; i++) {
		sm_describe(r->m->sms[i], what, sizeof(what));
		if (what[0])
			break;
	}
	return err_set(r->err, -EDEADLK, "kernel '%s': no warp can ever go on: %s",
		       r->kernel->name, what);
}

/* Runs to the end. *now is the last cycle run; one more is the kernel's end. */
static int run_cycles(struct run *r, uint64_t *now)
{
	struct machine *m = r->m;
	uint64_t next;
	int ret;

	for (;;) {
		ret = gpu_apply_invalidations(r->session->gpu);
		if (!ret)
			ret = m->poll_status;
		if (ret)
			return gone(r, ret);
		gmmu_step(m->gmmu, *now);
		ret = handler_step(m, r->kernel, *now, r->fault_addr, r->err);
		if (!ret)
			ret = step_sms(r, *now);
		if (ret)
			return ret;
		if (r->room && r->next_cta < r->ctas)
			dispatch(r, *now);
		if (r->next_cta == r->ctas && !r->resident)
			return 0;
		next = next_cycle(r, *now);
		if (next == NEVER)
			return deadlock(r);
		*now = next;
	}
}

static struct kernel_stats *new_kernel_stats(struct gpu_session *s)
{
	if (s->nkernels == s->kernel_room) {
		size_t room = s->kernel_room ? 2 * s->kernel_room : 16;
		struct kernel_stats *bigger = realloc(s->kernels, room * sizeof(*bigger));

		if (!bigger)
			return NULL;
		s->kernels = bigger;
		s->kernel_room = room;
	}
	return &s->kernels[s->nkernels];
}

static void collect(struct run *r, struct kernel_stats *k, unsigned int ctas_per_sm,
		    uint64_t start, uint64_t end)
{
	struct machine *m = r->m;
	uint64_t sum = 0;

	memset(k, 0, sizeof(*k));
	snprintf(k->name, sizeof(k->name), "%s", r->kernel->name);
	memcpy(k->grid, r->launch.grid, sizeof(k->grid));
	memcpy(k->block, r->launch.block, sizeof(k->block));
	k->regs = r->kernel->regs_per_thread;
	k->smem = r->kernel->shared_bytes + r->launch.dynamic_shared;
	k->ctas_per_sm = ctas_per_sm;
	k->cycles = end - start;
	for (unsigned int i = 0; i < m->nsms; i++) {
		const struct sm_stats *stats = sm_stats(m->sms[i]);

		sm_account(m->sms[i], end);
		k->warp_instructions += stats->warp_instructions;
		k->thread_instructions += stats->thread_instructions;
		for (unsigned int c = 0; c < STALLS; c++)
			k->stalls[c] += stats->stalls[c];
		r->session->shared_accesses += stats->shared_accesses;
		r->session->shared_conflict_cycles += stats->shared_conflict_cycles;
	}
	for (unsigned int c = 0; c < STALLS; c++)
		sum += k->stalls[c];
	/* Every cycle of every scheduler went somewhere, once. */
	assert(sum == k->cycles * m->nsms * m->spec.schedulers);
	assert(k->stalls[STALL_ISSUED] == k->warp_instructions);
}

static int run_grid(struct run *r, const struct sm_kernel *kernel)
{
	struct gpu_session *s = r->session;
	struct machine *m = r->m;
	uint64_t start = s->now, now = s->now;
	struct kernel_stats *stats = new_kernel_stats(s);
	int ret = stats ? 0 : -ENOMEM;

	for (unsigned int i = 0; !ret && i < m->nsms; i++)
		ret = sm_begin(m->sms[i], kernel, start);
	if (ret)
		return err_set(r->err, ret, "kernel '%s': no memory for its warps",
			       r->kernel->name);
	m->poll_status = 0;
	m->off_status = 0;
	m->sm_err.text[0] = '\0';
	ret = run_cycles(r, &now);
	s->now = now + 1;
	if (ret) {
		/* What the handler was doing is done before anything else starts. */
		if (m->handler.busy)
			s->now = MAX(s->now, m->handler.until);
		machine_cancel(m);
		return ret;
	}
	collect(r, stats, sm_kernel_ctas(kernel), start, s->now);
	timeline_add(&s->timeline, &(struct timeline_span){
		.begin = start, .end = s->now, .kernel = s->nkernels,
	});
	s->nkernels++;
	return 0;
}

int gpu_session_launch(struct gpu_session *s, const struct gpu_launch *l,
		       uint64_t *fault_addr, struct err *err)
{
	struct exec_program **program;
	struct sm_kernel *kernel;
	const struct ptx_kernel *ptx;
	struct err why;
	uint64_t ignored;
	struct run r = {
		.session = s, .m = s->machine, .room = true, .err = err,
		.fault_addr = fault_addr ? fault_addr : &ignored,
	};
	int ret;

	*r.fault_addr = 0;
	if (!s->paging)
		return err_set(err, -ENOMEM, "the session has no fault handler: configure it");
	ptx = find_kernel(s, l, &program, err);
	if (!ptx)
		return -ENOENT;
	ret = check_launch(ptx, l, err);
	if (!ret && !*program)
		ret = exec_program_create(ptx, program, err);
	if (ret)
		return ret;
	r.kernel = ptx;
	r.launch = (struct exec_launch){
		.program = *program, .dynamic_shared = l->dynamic_shared,
		.grid_id = ++s->grids, .params = l->params,
	};
	memcpy(r.launch.grid, l->grid, sizeof(r.launch.grid));
	memcpy(r.launch.block, l->block, sizeof(r.launch.block));
	r.ctas = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2];
	ret = sm_kernel_create(&s->machine->spec, &r.launch, &kernel, &why);
	if (ret)
		return err_set(err, ret, "kernel '%s': %s", ptx->name, why.text);
	ret = run_grid(&r, kernel);
	sm_kernel_destroy(kernel);
	return ret;
}
