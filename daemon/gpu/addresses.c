// SPDX-License-Identifier: GPL-2.0
/*
 * Device addresses of a session's modules: each has code and constants of its own, so that
 * kernels of different modules share no line of a cache. The first has those of
 * GPGPU-Sim's map, until managed memory reaches its code, which is 768 MiB behind the beginning.
 * A kernel's parameters and local memory are placed by its slot, sm_kernel_set_slot().
 * Called by session.c at load and at unload, by running.c when a kernel begins.
 */
#include <errno.h>
#include <stdlib.h>

#include "gpu/machine.h"
#include "gpu/session.h"

/* Most constants of all modules together. */
#define CONST_ROOM	(MEM_PT_BASE - MEM_CONST_BASE)

/*
 * Takes the first gap that is large enough; `list` is by place. Ranges that lie one behind the
 * other use all sets of a cache alike.
 */
static void take(struct address_range **list, struct address_range *r, uint64_t bytes)
{
	uint64_t at = 0;

	r->bytes = DIV_ROUND_UP(bytes, MEM_LINE) * MEM_LINE;
	for (; *list && (*list)->at - at < r->bytes; list = &(*list)->next)
		at = (*list)->at + (*list)->bytes;
	r->at = at;
	r->next = *list;
	*list = r;
}

static void give_back(struct address_range **list, struct address_range *r)
{
	for (; *list; list = &(*list)->next) {
		if (*list == r) {
			*list = r->next;
			return;
		}
	}
}

/* Fetch asks for one instruction behind a kernel's last (a last exit), and for the pair that it is in. */
static uint64_t code_bytes(const struct ptx_module *ptx)
{
	const struct ptx_kernel *k;
	uint64_t insns = 2;

	for (unsigned int i = 0; (k = ptx_module_kernel_at(ptx, i)); i++)
		insns += k->ninsns;
	return insns * 8;
}

uint64_t module_code(const struct gpu_session *s, const struct module *m)
{
	return m->code.at || s->code_moved ? MEM_CODE_MORE + m->code.at : MEM_CODE;
}

/* The end of the managed memory that the service or, where it does not know, the client told. */
static int managed_end(const struct gpu_session *s, uint64_t *end)
{
	struct service *service = s->gpu->service;
	struct addr_ranges r = { 0 };
	bool failed;

	*end = 0;
	for (uint64_t i = 0; i < s->known.now.nranges; i++)
		*end = MAX(*end, s->known.now.ranges[i].addr + s->known.now.ranges[i].bytes);
	if (!service->ops->managed)
		return 0;
	service_reachable(service, s->va_space, &r);
	for (size_t i = 0; i < r.count; i++)
		*end = MAX(*end, r.at[i].end);
	failed = r.failed;
	free(r.at);
	return failed ? -ENOMEM : 0;
}

int addresses_look(struct gpu_session *s)
{
	uint64_t end;
	int ret;

	if (s->code_moved)
		return 0;
	ret = managed_end(s, &end);
	if (ret || end < MEM_VA_BASE || mem_device(end) <= MEM_CODE)
		return ret;
	s->code_moved = true;
	/* L2 must not answer for data with lines of the code. */
	for (const struct module *m = s->modules; m; m = m->next)
		if (!m->code.at)
			mem_drop(s->machine->mem, MEM_CODE, MEM_CODE + m->code.bytes);
	return 0;
}

uint64_t module_constants(const struct module *m)
{
	return MEM_CONST_BASE + m->constants.at;
}

int addresses_take(struct gpu_session *s, struct module *m, struct err *err)
{
	const struct ptx_kernel *k = ptx_module_kernel_at(m->ptx, 0);

	/* The code of all modules is less than the host's memory, and that less than the room for it. */
	take(&s->code, &m->code, code_bytes(m->ptx));
	take(&s->constants, &m->constants, k ? k->const_bytes : 0);
	if (m->constants.at + m->constants.bytes <= CONST_ROOM)
		return 0;
	give_back(&s->code, &m->code);
	give_back(&s->constants, &m->constants);
	return err_set(err, -ENOSPC,
		       "%s: its %u bytes of .const variables find no room: the modules of a session have %llu MiB together",
		       ptx_module_name(m->ptx), k ? k->const_bytes : 0,
		       (unsigned long long)CONST_ROOM >> 20);
}

void addresses_give_back(struct gpu_session *s, struct module *m)
{
	struct mem *mem = s->machine->mem;

	if (!m->code.bytes)
		return;
	give_back(&s->code, &m->code);
	give_back(&s->constants, &m->constants);
	/* Nothing runs, so L1s are empty. What L2 holds is not the next module's. */
	mem_drop(mem, module_code(s, m), module_code(s, m) + m->code.bytes);
	mem_drop(mem, module_constants(m), module_constants(m) + m->constants.bytes);
}
