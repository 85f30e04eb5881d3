// SPDX-License-Identifier: GPL-2.0
/*
 * The page table, as the GMMU sees it: what the backend's table says of a page, with what
 * paging knows of pages on their way; and the walker's port of the crossbar, over which
 * the table's entries are read. Paging off, pages come by themselves. The GMMU is given
 * page_table_ops when the machine is made.
 */
#include <errno.h>
#include <stdlib.h>

#include "gpu/machine.h"
#include "gpu/session.h"

/* With paging off: is the page where it is used? */
static bool in_place(const void *host, unsigned int flags)
{
	return host && (!flags || flags == (SERVICE_ENTRY_REMOTE | SERVICE_ENTRY_PAGEABLE));
}

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
			ret = s->poll_status = gpu_apply_invalidations(s->gpu);
		if (!ret && outcome.unmanaged)
			ret = outcome.is_protected ? -EACCES : -EFAULT;
		host = service_entry(s->gpu->service, s->va_space, page, &flags);
		host = in_place(host, flags) ? host : NULL;
	}
	if (paging_land_all(s->paging, NULL) && !ret)
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
		return in_place(host, flags) ? host : fetch_now(m, page);
	}
	if (paging_in_flight(s->paging, page))
		return NULL;
	host = service_entry(service, s->va_space, page, &flags);
	if (flags & SERVICE_ENTRY_REMOTE) {
		bits = GMMU_REMOTE | (flags & SERVICE_ENTRY_READ_ONLY ? GMMU_READ_ONLY : 0);
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

/* --- entries over the crossbar ------------------------------------------------- */

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

const struct gmmu_ops page_table_ops = {
	.walk = walk,
	.touch = touch,
	.read_pte = read_pte,
};

uint64_t page_table_next(const struct machine *m)
{
	return m->has_walker ? mem_next(m->mem, mem_walker(m->mem)) : NEVER;
}

void page_table_step(struct machine *m, uint64_t now)
{
	struct mem_reply reply;

	while (m->has_walker && mem_receive(m->mem, mem_walker(m->mem), now, &reply))
		gmmu_pte(m->gmmu, reply.tag, now);
}

/* --- paging off ------------------------------------------------------------------- */

int page_table_set_ranges(struct machine *m)
{
	struct service *service = m->session->gpu->service;
	struct addr_ranges r = { 0 };
	int ret;

	if (m->spec.paging || !service->ops->managed)
		return 0;
	service_reachable(service, m->session->va_space, &r);
	ret = r.failed ? -ENOMEM : gmmu_set_ranges(m->gmmu, r.at, r.count);
	free(r.at);
	return ret;
}
