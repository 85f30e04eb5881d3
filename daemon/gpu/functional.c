// SPDX-License-Identifier: GPL-2.0
/*
 * One grid without time: exec runs it on the client's memory where it is. No
 * SM, no GMMU and no fault handler takes part, the session's clock stands still
 * and residency stays as it was. Only where a managed address is a host
 * address (service_ops.managed). queue.c calls it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "gpu/internal.h"

struct ranges {
	struct exec_range *at;
	uint32_t count, room;
	bool failed;
};

static void add_range(void *ctx, uint64_t addr, uint64_t bytes)
{
	struct ranges *r = ctx;
	struct exec_range *last = r->count ? &r->at[r->count - 1] : NULL;

	/* Fewer are found faster. */
	if (last && last->base + last->bytes == addr) {
		last->bytes += bytes;
		return;
	}
	if (array_grow(r->at, r->room, r->count)) {
		r->failed = true;
		return;
	}
	r->at[r->count++] = (struct exec_range){
		.base = addr, .bytes = bytes, .host = (uint8_t *)(uintptr_t)addr,
	};
}

struct functional {
	struct run *r;
	struct exec_grid grid;
	int stopped;			/* why stop() said so */
};

static bool stop(void *ctx)
{
	struct functional *f = ctx;
	uint64_t limit = f->r->m->spec.watchdog;

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
	struct gpu_session *s = r->session;
	struct service *service = s->gpu->service;
	struct functional f = { .r = r };
	struct ranges ranges = { 0 };
	int ret;

	service->ops->managed(service, s->va_space, add_range, &ranges);
	if (ranges.failed) {
		free(ranges.at);
		return err_set(&r->err, -ENOMEM, "kernel '%s': out of memory", r->kernel->name);
	}
	f.grid = (struct exec_grid){
		.launch = &r->launch, .ranges = ranges.at, .nranges = ranges.count,
		.stop = stop, .stop_ctx = &f,
	};
	ret = exec_grid_run(&f.grid, &r->err);
	free(ranges.at);
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
