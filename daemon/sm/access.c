// SPDX-License-Identifier: GPL-2.0
/*
 * One global or local memory instruction: its lines, coalesced and sorted by
 * page, and the pages' performance. Which of them move in a cycle is the
 * load/store unit's business (ldst.c), which calls this.
 */
#include <errno.h>

#include "sm/internal.h"

/* Sorts the lines by page, both in the order of their first lane. */
static void group_by_page(struct sm_entry *e, const struct mem_line *lines,
			  unsigned int n)
{
	uint8_t group_of[WARP_LANES];
	unsigned int first = 0, i, g;

	e->ngroups = 0;
	for (i = 0; i < n; i++) {
		uint64_t page = lines[i].addr & ~(PAGE_BYTES - 1);

		for (g = e->ngroups; g-- && e->groups[g].page != page;)
			;
		if (g == UINT32_MAX) {
			g = e->ngroups++;
			e->groups[g].page = page;
			e->groups[g].lanes = 0;
			e->groups[g].lines = 0;
			e->groups[g].waiting = false;
		}
		e->groups[g].lanes |= lines[i].lanes;
		e->groups[g].lines++;
		group_of[i] = (uint8_t)g;
	}
	for (g = 0; g < e->ngroups; g++) {
		e->groups[g].first = (uint16_t)first;
		first += e->groups[g].lines;
		e->groups[g].lines = 0;
	}
	for (i = 0; i < n; i++) {
		struct page_group *group = &e->groups[group_of[i]];

		e->lines[group->first + group->lines++] = lines[i].addr;
	}
}

void access_perform(struct sm *sm, struct sm_entry *e, struct page_group *g,
		    void *host)
{
	struct sm_warp *warp = &sm->warps[e->warp];

	exec_perform(&warp->ex, &e->access, g->lanes, g->page, host);
	if (--warp->untranslated == 0) {
		sm->untranslated &= ~warp_bit(e->warp);
		warp_check_order(sm, e->warp);
	}
}

static uint8_t access_of(const struct sm_op *op)
{
	return op->atomic ? ACCESS_ATOMIC : op->store ? ACCESS_WRITE : ACCESS_READ;
}

void access_global(struct sm *sm, struct sm_entry *e, unsigned int w,
		   const struct sm_op *op)
{
	struct sm_warp *warp = &sm->warps[w];
	struct mem_line lines[WARP_LANES];
	unsigned int n = mem_coalesce(e->access.addr, e->access.lanes,
				      (unsigned int)sm->spec->line_bytes, lines);

	if (n == 1) {
		e->ngroups = 1;
		e->groups[0].page = lines[0].addr & ~(PAGE_BYTES - 1);
		e->groups[0].lanes = lines[0].lanes;
		e->groups[0].first = 0;
		e->groups[0].lines = 1;
		e->groups[0].waiting = false;
		e->lines[0] = lines[0].addr;
	} else {
		group_by_page(e, lines, n);
	}
	for (unsigned int g = 0; g < e->ngroups; g++) {
		e->groups[g].waiter.sm = (uint16_t)sm->id;
		e->groups[g].waiter.warp = (uint16_t)w;
		e->groups[g].waiter.access = access_of(op);
	}
	e->unsent = (uint16_t)n;
	warp->untranslated = e->ngroups;
	sm->untranslated |= warp_bit(w);
	e->translate = !sm->ideal;
	for (unsigned int g = 0; sm->ideal && g < e->ngroups; g++) {
		void *host = gmmu_translate_now(sm->env.gmmu, sm->id,
						e->groups[g].page,
						op->store || op->atomic);

		if (!host) {
			e->groups[g].waiting = true;
			sm->fault_addr = e->groups[g].page;
			sm_fail(sm, -EFAULT);
			return;
		}
		access_perform(sm, e, &e->groups[g], host);
	}
}

/*
 * Local memory is interleaved by thread in words of 4 bytes, so one word of all
 * lanes is one line, wherever its page is: it was performed at issue.
 */
void access_local(struct sm *sm, struct sm_entry *e, unsigned int w)
{
	const struct exec_access *a = &e->access;
	unsigned int span = MAX(a->bytes / 4, 1u), n;
	struct mem_line words[WARP_LANES];
	uint64_t base = EXEC_LOCAL_WINDOW +
		(uint64_t)(sm->id * MAX_WARPS + w) * EXEC_WINDOW_BYTES;

	n = mem_coalesce(a->addr, a->touched, MAX(a->bytes, 4u), words);
	e->ngroups = 1;
	e->groups[0] = (struct page_group){ 0 };
	for (unsigned int i = 0; i < n; i++) {
		for (unsigned int k = 0; k < span; k++)
			e->lines[e->groups[0].lines++] =
				base + (words[i].addr / 4 + k) * 4 * WARP_LANES;
	}
	e->unsent = e->groups[0].lines;
	e->translate = false;
}

static const char *what_of(const struct sm_entry *e)
{
	return e->kind == MEM_ATOMIC ? "atomic" : e->kind == MEM_WRITE ? "store" : "load";
}

bool sm_find_waiting(const struct sm *sm, uint64_t page, struct sm_waiting *out)
{
	const struct ldst *l = &sm->ldst;
	bool found = false;

	for (uint32_t i = 0; i < l->nentries; i++) {
		const struct sm_entry *e = &l->entries[i];

		for (unsigned int g = 0; e->used && g < e->ngroups; g++) {
			uint32_t lanes = e->groups[g].lanes;

			if (!e->groups[g].waiting || e->groups[g].page != page)
				continue;
			for (; lanes; lanes &= lanes - 1) {
				unsigned int lane = (unsigned int)__builtin_ctz(lanes);

				if (found && e->access.addr[lane] >= out->addr)
					continue;
				found = true;
				out->addr = e->access.addr[lane];
				out->line = e->access.insn->line;
				out->bytes = e->access.bytes;
				out->what = what_of(e);
				exec_lane_name(&sm->warps[e->warp].ex, 1u << lane,
					       out->thread, sizeof(out->thread));
			}
		}
	}
	return found;
}
