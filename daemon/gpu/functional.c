// SPDX-License-Identifier: GPL-2.0
/*
 * One grid without time: exec runs it on the client's memory where it is. No
 * SM, no GMMU and no fault handler takes part, the session's clock stands still
 * and residency stays as it was. Only where a managed address is a host
 * address (service_ops.managed). submit.c calls it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/machine.h"
#include "gpu/run.h"

/* The VA space's managed memory; *ranges is from malloc. */
static int reachable(struct gpu_session *s, struct exec_range **ranges, uint32_t *n)
{
	struct service *service = s->gpu->service;
	struct addr_ranges managed = { 0 };
	struct exec_range *r;

	service_reachable(service, s->va_space, &managed);
	r = managed.failed ? NULL : calloc(managed.count + 1, sizeof(*r));
	*ranges = r;
	*n = 0;
	for (size_t i = 0; r && i < managed.count; i++) {
		uint64_t start = managed.at[i].start, bytes = managed.at[i].end - start;

		/* Fewer are found faster. */
		if (*n && r[*n - 1].base + r[*n - 1].bytes == start)
			r[*n - 1].bytes += bytes;
		else
			r[(*n)++] = (struct exec_range){
				.base = start, .bytes = bytes, .host = (uint8_t *)(uintptr_t)start,
			};
	}
	free(managed.at);
	return r ? 0 : -ENOMEM;
}

/* Memory of the program's own, which the grid uses. */
struct found {
	struct found *next;
	struct exec_range range;
	bool read_only;
};

struct functional {
	struct run *r;
	struct exec_grid grid;
	uint64_t ctas;			/* of the launch */
	int stopped;			/* why stop() said so */
	struct found *found;
};

static const struct exec_range *find(void *ctx, uint64_t addr, bool *read_only)
{
	struct functional *f = ctx;
	struct gpu_session *s = f->r->session;
	struct system_range range;
	struct found *found;

	for (found = f->found; found; found = found->next)
		if (addr - found->range.base < found->range.bytes)
			break;
	if (!found) {
		found = malloc(sizeof(*found));
		if (!found || !service_adopt(s->gpu->service, s->va_space, addr, &range)) {
			free(found);
			return NULL;
		}
		*found = (struct found){
			.next = f->found,
			.range = { .base = range.start, .bytes = range.end - range.start,
				   .host = (uint8_t *)(uintptr_t)range.start },
			.read_only = range.read_only,
		};
		f->found = found;
	}
	*read_only = found->read_only;
	return &found->range;
}

static void forget(struct functional *f)
{
	struct found *next;

	for (; f->found; f->found = next) {
		next = f->found->next;
		free(f->found);
	}
}

static bool stop(void *ctx)
{
	struct functional *f = ctx;
	uint64_t limit = f->r->m->spec.watchdog;

	progress_set(f->r->session, f->grid.ctas, f->ctas);
	f->stopped = gpu_apply_invalidations(f->r->session->gpu);
	if (!f->stopped && limit && f->grid.warp_instructions > limit)
		f->stopped = -ETIMEDOUT;
	return f->stopped != 0;
}

static int failed(struct functional *f, int ret)
{
	f->r->fault_addr = f->grid.fault_addr;
	if (ret == -ECANCELED && f->stopped == -ETIMEDOUT)
		return run_watchdog(f->r);
	if (ret == -ECANCELED)
		return run_gone(f->r, f->stopped);
	/* What exec calls a trap: the kernel ended itself. */
	return ret == -EINVAL ? -ECANCELED : ret;
}

int run_functional(struct run *r)
{
	const uint32_t *n = r->launch.grid;
	struct functional f = { .r = r, .ctas = (uint64_t)n[0] * n[1] * n[2] };
	struct exec_range *ranges;
	uint32_t nranges;
	int ret;

	if (reachable(r->session, &ranges, &nranges))
		return err_set(&r->err, -ENOMEM, "kernel '%s': out of memory", r->kernel->name);
	f.grid = (struct exec_grid){
		.launch = &r->launch, .ranges = ranges, .nranges = nranges,
		.stop = stop, .stop_ctx = &f, .find = find, .find_ctx = &f,
	};
	progress_begin(r->session);
	ret = exec_grid_run(&f.grid, &r->err);
	progress_set(r->session, 0, 0);
	forget(&f);
	free(ranges);
	/* A grid that is shorter than the time between two questions. */
	if (!ret && r->m->spec.watchdog && f.grid.warp_instructions > r->m->spec.watchdog)
		return run_watchdog(r);
	if (ret)
		return failed(&f, ret);
	run_describe(r);
	r->stats.functional = true;
	r->stats.warp_instructions = f.grid.warp_instructions;
	r->stats.thread_instructions = f.grid.thread_instructions;
	return 0;
}
