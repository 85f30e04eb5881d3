// SPDX-License-Identifier: GPL-2.0
/*
 * What translated accesses do, when and in which order: queued in the cycle of
 * their translation, performed between quanta, cycle by cycle over all SMs, so that
 * memory sees one order however the SMs were run. Also finds, for messages, who
 * waits for a page. Called by access.c, sm.c and the GPU.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "sm/ldst_internal.h"

int perform_push(struct sm *sm, uint32_t entry, uint32_t lanes, uint64_t page, void *host,
		 uint64_t now)
{
	struct ldst *l = sm->ldst;

	if (l->perform_count == l->perform_size) {
		struct perform *bigger = calloc(2 * l->perform_size, sizeof(*bigger));

		if (!bigger) {
			sm_fail(sm, -ENOMEM, 0, NULL);
			return -ENOMEM;
		}
		for (uint32_t i = 0; i < l->perform_count; i++)
			bigger[i] = l->performs[ring_at(l->perform_head, i, l->perform_size)];
		free(l->performs);
		l->performs = bigger;
		l->perform_head = 0;
		l->perform_size *= 2;
	}
	l->performs[ring_at(l->perform_head, l->perform_count++, l->perform_size)] =
		(struct perform){ now, page, host, entry, lanes };
	entry_at(l, entry)->refs++;
	return 0;
}

int ldst_perform(struct sm *sm, uint64_t cycle)
{
	struct ldst *l = sm->ldst;

	while (l->perform_count && l->performs[l->perform_head].cycle <= cycle) {
		const struct perform *p = &l->performs[l->perform_head];
		struct access_entry *e = entry_at(l, p->entry);

		exec_perform(&sm->warps.at[e->warp].ex, &e->access, p->lanes, p->page, p->host);
		entry_put(l, p->entry);
		l->perform_head = ring_at(l->perform_head, 1, l->perform_size);
		l->perform_count--;
	}
	return 0;
}

uint64_t ldst_perform_next(const struct sm *sm)
{
	const struct ldst *l = sm->ldst;

	return l->perform_count ? l->performs[l->perform_head].cycle : NEVER;
}

/* The oldest store that has lanes to perform and is not older than `order`. */
static const struct access_entry *next_store(const struct ldst *l, uint64_t order)
{
	const struct access_entry *found = NULL, *e;

	for (uint32_t i = 0; i < l->nchunks * ENTRY_CHUNK; i++) {
		e = entry_at(l, i);
		if (e->used && e->kind == MEM_WRITE && e->access.space == PTX_SPACE_GLOBAL &&
		    e->access.lanes && e->order >= order && (!found || e->order < found->order))
			found = e;
	}
	return found;
}

struct exec_stored *ldst_stored(const struct sm *sm, uint64_t addr, uint64_t bytes, uint32_t *n)
{
	struct exec_stored *all = NULL;
	const struct access_entry *e;
	uint32_t room = 0, lane;

	*n = 0;
	for (uint64_t order = 0; (e = next_store(sm->ldst, order)); order = e->order + 1) {
		const struct exec_access *a = &e->access;

		for (uint32_t rest = a->lanes; rest; rest &= rest - 1) {
			lane = (uint32_t)__builtin_ctz(rest);
			if (a->addr[lane] + a->bytes - addr > bytes + a->bytes)
				continue;
			if (array_grow(all, room, *n)) {
				free(all);
				*n = 1;
				return NULL;
			}
			exec_stored(&sm->warps.at[e->warp].ex, a, lane, &all[(*n)++]);
		}
	}
	return all;
}

static const char *what_of(const struct access_entry *e)
{
	return e->kind == MEM_ATOMIC ? "atomic" : e->kind == MEM_WRITE ? "store" : "load";
}

/* The lowest of the group's addresses, if it is lower than what is there. */
static bool lowest(const struct sm *sm, const struct access_entry *e, uint32_t lanes, bool found,
		   struct sm_waiting *out)
{
	for (; lanes; lanes &= lanes - 1) {
		unsigned int lane = (unsigned int)__builtin_ctz(lanes);

		if (found && e->access.addr[lane] >= out->addr)
			continue;
		found = true;
		out->addr = e->access.addr[lane];
		out->line = e->access.insn->line;
		out->bytes = e->access.bytes;
		out->what = what_of(e);
		exec_lane_name(&sm->warps.at[e->warp].ex, 1u << lane, out->thread,
			       sizeof(out->thread));
	}
	return found;
}

bool sm_find_waiting(const struct sm *sm, uint64_t page, struct sm_waiting *out)
{
	const struct ldst *l = sm->ldst;
	bool found = false;

	for (uint32_t i = 0; i < l->nchunks * ENTRY_CHUNK; i++) {
		const struct access_entry *e = entry_at(l, i);

		for (unsigned int g = 0; e->used && g < e->ngroups; g++) {
			if (e->groups[g].waiting && e->groups[g].waiter.page == page)
				found = lowest(sm, e, e->groups[g].lanes, found, out);
		}
	}
	return found;
}
