// SPDX-License-Identifier: GPL-2.0
/*
 * A launch before and after it runs: the kernel is found, checked and bound,
 * its output collected, its statistics kept. When it runs is queue.c's to say, how
 * quantum.c's or functional.c's.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/launch.h"
#include "gpu/machine.h"
#include "gpu/run.h"

/* The kernel with the stack that the launch asks for. NULL: no memory. */
static struct stacked *restack(struct module *m, const struct ptx_kernel *k, uint32_t stack_bytes)
{
	struct stacked *s;

	for (s = m->stacked; s; s = s->next)
		if (s->kernel.insns == k->insns && s->stack_bytes == stack_bytes)
			return s;
	s = calloc(1, sizeof(*s));
	if (!s)
		return NULL;
	s->stack_bytes = stack_bytes;
	s->kernel = *k;
	ptx_kernel_restack(&s->kernel, stack_bytes);
	s->next = m->stacked;
	m->stacked = s;
	return s;
}

static const struct ptx_kernel *find_kernel(struct gpu_session *s,
					    const struct gpu_launch *l,
					    const struct module **module,
					    struct exec_program ***program,
					    struct err *err)
{
	const struct ptx_kernel *k;
	struct stacked *other;

	for (struct module *m = s->modules; m; m = m->next) {
		if (m->id != l->module)
			continue;
		for (unsigned int i = 0; i < m->nkernels; i++) {
			k = ptx_module_kernel_at(m->ptx, i);
			if (strcmp(k->name, l->kernel))
				continue;
			*module = m;
			*program = &m->programs[i];
			if (!l->stack_bytes || !k->stack_bytes || k->stack_bytes == l->stack_bytes)
				return k;
			other = restack(m, k, l->stack_bytes);
			if (!other) {
				err_set(err, -ENOMEM, "kernel '%.128s': out of memory", l->kernel);
				return NULL;
			}
			*program = &other->program;
			return &other->kernel;
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
	static const uint32_t max_grid[3] = { GRID_X_MAX, GRID_YZ_MAX, GRID_YZ_MAX };
	static const uint32_t max_block[3] = { BLOCK_XY_MAX, BLOCK_XY_MAX, BLOCK_Z_MAX };
	uint64_t threads = (uint64_t)l->block[0] * l->block[1] * l->block[2];

	int ret = check_dims(k, "grid", l->grid, max_grid, err);

	if (!ret)
		ret = check_dims(k, "block", l->block, max_block, err);
	if (ret)
		return ret;
	if (threads > BLOCK_THREADS_MAX)
		return err_set(err, -EINVAL,
			       "kernel '%s': a block of %" PRIu64 " threads, at most %u",
			       k->name, threads, BLOCK_THREADS_MAX);
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

int run_gone(struct run *r, int status)
{
	if (r->kind != RUN_LAUNCH)
		return status;
	return err_set(&r->err, status, status == -ECANCELED ?
		       "kernel '%s': its client is gone" :
		       "kernel '%s': the device is lost", r->kernel->name);
}

int run_watchdog(struct run *r)
{
	return err_set(&r->err, -ETIMEDOUT,
		       "kernel '%s': ended by gpu.watchdog after %" PRIu64 " warp instructions",
		       r->kernel->name, r->m->spec.watchdog);
}

int run_keep_stats(struct run *r)
{
	struct gpu_session *s = r->session;

	if (array_grow(s->kernels, s->kernel_room, s->nkernels))
		return err_set(&r->err, -ENOMEM, "kernel '%s': no memory for its statistics",
			       r->kernel->name);
	if (!r->stats.functional)
		trace_kernel(&s->timeline, r->launch.grid_id, r->stats.start,
			     r->stats.start + r->stats.cycles);
	s->kernels[s->nkernels++] = r->stats;
	return 0;
}

void run_describe(struct run *r)
{
	struct kernel_stats *k = &r->stats;

	memset(k, 0, sizeof(*k));
	snprintf(k->name, sizeof(k->name), "%s", r->kernel->name);
	memcpy(k->grid, r->launch.grid, sizeof(k->grid));
	memcpy(k->block, r->launch.block, sizeof(k->block));
	k->regs = r->kernel->regs_per_thread;
	k->spill_store_bytes = r->kernel->spill_store_bytes;
	k->spill_load_bytes = r->kernel->spill_load_bytes;
	k->local_bytes = r->kernel->local_bytes;
	k->smem = r->kernel->shared_bytes + r->launch.dynamic_shared;
	k->stream = r->stream;
}

static int bind(struct run *r, const struct gpu_launch *l)
{
	struct gpu_session *s = r->session;
	struct exec_program **program;
	int ret;

	if (!s->paging)
		return err_set(&r->err, -ENOMEM,
			       "the session has no fault handler: configure it");
	r->kernel = find_kernel(s, l, &r->module, &program, &r->err);
	if (!r->kernel)
		return -ENOENT;
	ret = check_launch(r->kernel, l, &r->err);
	if (!ret && !*program)
		ret = exec_program_create(r->kernel, program, &r->err);
	if (ret)
		return ret;
	r->params = malloc(MAX(l->param_bytes, 1u));
	r->textures = malloc(MAX(l->ntextures, 1u) * sizeof(*r->textures));
	if (!r->params || !r->textures)
		return err_set(&r->err, -ENOMEM, "kernel '%s': out of memory",
			       r->kernel->name);
	if (l->param_bytes)
		memcpy(r->params, l->params, l->param_bytes);
	if (l->ntextures)
		memcpy(r->textures, l->textures, l->ntextures * sizeof(*r->textures));
	r->launch = (struct exec_launch){
		.program = *program, .dynamic_shared = l->dynamic_shared,
		.grid_id = ++s->grids, .params = r->params, .clock_mhz = r->m->spec.clock_mhz,
		.textures = r->textures, .ntextures = l->ntextures,
		.print = run_print, .print_string = run_print_string, .print_ctx = r,
	};
	memcpy(r->launch.grid, l->grid, sizeof(r->launch.grid));
	memcpy(r->launch.block, l->block, sizeof(r->launch.block));
	return 0;
}

struct run *run_create(struct gpu_session *s, uint32_t stream, const struct gpu_launch *l)
{
	struct run *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->session = s;
	r->m = s->machine;
	r->stream = stream;
	r->output.all = &s->printed;
	r->status = bind(r, l);
	if (r->status)
		r->state = RUN_DONE;
	return r;
}

struct run *run_create_task(struct gpu_session *s, uint32_t stream, enum run_kind kind)
{
	struct run *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->session = s;
	r->m = s->machine;
	r->stream = stream;
	r->kind = (uint8_t)kind;
	return r;
}

void run_destroy(struct run *r)
{
	if (r->sm_kernel)
		sm_kernel_destroy(r->sm_kernel);
	output_clear(&r->output);
	free(r->params);
	free(r->textures);
	free(r);
}
