// SPDX-License-Identifier: GPL-2.0
/*
 * Pages that the service took away: their translations go, in the GMMU of each session that
 * has them, and what caches hold of them. The loop asks for it, and each mover of pages.
 */
#include <errno.h>

#include "gpu/machine.h"
#include "gpu/session.h"

/* The range has left device memory, or is another's. */
static void drop(struct machine *m, uint64_t start, uint64_t end)
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

static void invalidate(void *ctx, const struct service_invalidate *i)
{
	struct gpu *gpu = ctx;

	for (struct gpu_session *s = gpu->sessions; s; s = s->next) {
		if (!i->va_space || i->va_space == s->va_space)
			drop(s->machine, i->start, i->end);
	}
	paging_invalidate(gpu->pool, i);
}

int gpu_apply_invalidations(struct gpu *gpu)
{
	return gpu->service->ops->poll(gpu->service, invalidate, gpu);
}

int gpu_poll(struct gpu *gpu)
{
	int ret = gpu_apply_invalidations(gpu);

	return ret == -ECANCELED ? 0 : ret;
}
