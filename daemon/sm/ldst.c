// SPDX-License-Identifier: GPL-2.0
/*
 * The load/store unit. A memory instruction enters its queue at issue; one a
 * cycle leaves it, in order: shared, parameter and constant accesses hold the
 * unit for their conflicts; global accesses look their pages up, tlb.ports a
 * cycle. A page that hits is performed, and its lines go to memory; a page
 * that misses waits in the gmmu, out of the queue, so that others pass (hit
 * under miss). Latencies count from the cycle of issue when nothing is ahead.
 */
#include <errno.h>
#include <stdlib.h>

#include "sm/internal.h"

int ldst_init(struct ldst *l, const struct gpu_spec *spec)
{
	l->slots = (uint32_t)spec->ldst_queue;
	/* The queue's, and one untranslated access of every warp. */
	l->nentries = l->slots + (uint32_t)spec->warps;
	l->out_size = l->nentries * WARP_LANES;
	l->nloads = 512;
	l->queue = calloc(l->slots, sizeof(*l->queue));
	l->out = calloc(l->out_size, sizeof(*l->out));
	l->entries = calloc(l->nentries, sizeof(*l->entries));
	l->loads = calloc(l->nloads, sizeof(*l->loads));
	if (!l->queue || !l->out || !l->entries || !l->loads)
		return -ENOMEM;
	ldst_cancel(l);
	return 0;
}

void ldst_fini(struct ldst *l)
{
	free(l->queue);
	free(l->out);
	free(l->entries);
	free(l->loads);
}

void ldst_cancel(struct ldst *l)
{
	for (uint32_t i = 0; i < l->nentries; i++) {
		l->entries[i].next_free = i + 1 < l->nentries ? i + 1 : NO_INDEX;
		l->entries[i].used = false;
	}
	for (uint32_t i = 0; i < l->nloads; i++)
		l->loads[i].next_free = i + 1 < l->nloads ? i + 1 : NO_INDEX;
	l->free_entry = 0;
	l->free_load = 0;
	l->head = 0;
	l->count = 0;
	l->out_head = 0;
	l->out_count = 0;
	l->free_at = 0;
}

bool ldst_accepts(const struct sm *sm)
{
	return sm->ldst.count < sm->ldst.slots && sm->ldst.free_entry != NO_INDEX;
}

struct exec_access *ldst_access(struct sm *sm)
{
	return &sm->ldst.entries[sm->ldst.free_entry].access;
}

static uint32_t load_new(struct sm *sm, unsigned int w, const struct sm_op *op,
			 uint32_t lines)
{
	struct ldst *l = &sm->ldst;
	uint32_t i = l->free_load;

	if (i == NO_INDEX) {
		uint32_t n = 2 * l->nloads;
		struct sm_load *loads = realloc(l->loads, n * sizeof(*loads));

		if (!loads) {
			sm_fail(sm, -ENOMEM);
			return 0;
		}
		for (i = l->nloads; i < n; i++)
			loads[i].next_free = i + 1 < n ? i + 1 : NO_INDEX;
		i = l->nloads;
		l->loads = loads;
		l->nloads = n;
	}
	l->free_load = l->loads[i].next_free;
	l->loads[i] = (struct sm_load){ .op = op, .left = lines, .warp = (uint8_t)w };
	sm->warps[w].inflight++;
	return i;
}

void ldst_issue(struct sm *sm, unsigned int w, const struct sm_op *op,
		bool waits, uint64_t now)
{
	struct ldst *l = &sm->ldst;
	struct sm_entry *e = &l->entries[l->free_entry];
	struct ldst_slot *slot = &l->queue[(l->head + l->count++) % l->slots];
	const struct exec_access *a = &e->access;

	*slot = (struct ldst_slot){ .op = op, .warp = (uint8_t)w, .entry = NO_INDEX };
	if (waits || a->space == PTX_SPACE_LOCAL) {
		slot->entry = l->free_entry;
		l->free_entry = e->next_free;
		e->used = true;
		e->warp = (uint8_t)w;
		e->kind = op->atomic ? MEM_ATOMIC : op->store ? MEM_WRITE : MEM_READ;
		e->looked_up = 0;
		if (waits)
			access_global(sm, e, w, op);
		else
			access_local(sm, e, w);
		e->load = load_new(sm, w, op, e->unsent);
		return;
	}
	if (op->results)
		sm->warps[w].inflight++;
	slot->cycles = 1;
	if (a->space == PTX_SPACE_SHARED) {
		slot->cycles = mem_bank_cycles(a->addr, a->touched, a->bytes,
					       (unsigned int)sm->spec->shared_banks);
		sm->stats.shared_accesses++;
		sm->stats.shared_conflict_cycles += slot->cycles - 1;
		slot->latency = (uint32_t)sm->spec->lat_shared;
	} else {
		/* The constant cache broadcasts one word a cycle. */
		if (a->space == PTX_SPACE_CONST)
			slot->cycles = mem_bank_cycles(a->addr, a->touched, 4, 1);
		slot->latency = op->latency;
	}
}

static void out_push(struct ldst *l, uint32_t entry, unsigned int group,
		     uint64_t ready)
{
	l->out[(l->out_head + l->out_count++) % l->out_size] = (struct ldst_out){
		.ready = ready, .entry = entry, .group = (uint8_t)group,
	};
}

/* Looks up pages of the entry at the head. True when it leaves the queue. */
static bool look_up(struct sm *sm, uint32_t index, uint64_t now)
{
	struct ldst *l = &sm->ldst;
	struct sm_entry *e = &l->entries[index];

	if (!e->translate) {
		for (unsigned int g = 0; g < e->ngroups; g++)
			out_push(l, index, g, now);
		return true;
	}
	for (uint64_t n = sm->spec->tlb_ports; n && e->looked_up < e->ngroups; n--) {
		struct page_group *g = &e->groups[e->looked_up];
		void *host;

		g->waiting = true;
		host = gmmu_translate(sm->env.gmmu, g->page, &g->waiter, now);
		if (host) {
			g->waiting = false;
			access_perform(sm, e, g, host);
			out_push(l, index, e->looked_up, now + sm->spec->tlb_latency);
		}
		e->looked_up++;
	}
	return e->looked_up == e->ngroups;
}

static void send_lines(struct sm *sm, uint64_t now)
{
	struct ldst *l = &sm->ldst;

	while (l->out_count && l->out[l->out_head].ready <= now &&
	       mem_ready(sm->env.mem, sm->id, now)) {
		const struct ldst_out *o = &l->out[l->out_head];
		struct sm_entry *e = &l->entries[o->entry];
		struct page_group *g = &e->groups[o->group];
		struct mem_request r = {
			.addr = e->lines[g->first], .tag = e->load,
			.sm = (uint16_t)sm->id, .kind = e->kind,
		};

		if (mem_send(sm->env.mem, &r, now)) {
			sm_fail(sm, -ENOMEM);
			return;
		}
		g->first++;
		e->unsent--;
		if (--g->lines)
			continue;
		if (!e->unsent) {
			e->used = false;
			e->next_free = l->free_entry;
			l->free_entry = o->entry;
		}
		l->out_head = (l->out_head + 1) % l->out_size;
		l->out_count--;
	}
}

void ldst_step(struct sm *sm, uint64_t now)
{
	struct ldst *l = &sm->ldst;

	if (l->count && l->free_at <= now) {
		struct ldst_slot *slot = &l->queue[l->head];
		bool leaves = true;

		l->free_at = now + 1;
		if (slot->entry != NO_INDEX) {
			leaves = look_up(sm, slot->entry, now);
		} else {
			l->free_at = now + slot->cycles;
			if (slot->op->results &&
			    wheel_add(&sm->wheel, now + slot->latency + slot->cycles - 1,
				      slot->warp, slot->op))
				sm_fail(sm, -ENOMEM);
		}
		if (leaves) {
			l->head = l->head + 1 == l->slots ? 0 : l->head + 1;
			l->count--;
		}
	}
	send_lines(sm, now);
}

void ldst_receive(struct sm *sm, uint64_t now)
{
	struct ldst *l = &sm->ldst;
	uint32_t tag;

	while (mem_receive(sm->env.mem, sm->id, now, &tag)) {
		struct sm_load *load = &l->loads[tag];

		if (--load->left)
			continue;
		warp_writeback(sm, load->warp, load->op);
		load->next_free = l->free_load;
		l->free_load = tag;
	}
}

uint64_t ldst_next(const struct sm *sm, uint64_t now)
{
	const struct ldst *l = &sm->ldst;
	uint64_t next = mem_next(sm->env.mem, sm->id);

	if (l->count)
		next = MIN(next, MAX(l->free_at, now + 1));
	if (l->out_count)
		next = MIN(next, MAX(l->out[l->out_head].ready, now + 1));
	return next;
}

void sm_faulted(struct sm *sm, struct gmmu_waiter *waiter, uint64_t now)
{
	sm_account(sm, now);
	sm->warps[waiter->warp].faulted++;
	sm->wait_fault |= warp_bit(waiter->warp);
}

void sm_translated(struct sm *sm, struct gmmu_waiter *waiter, uint64_t page,
		   void *host, uint64_t now)
{
	struct page_group *g = container_of(waiter, struct page_group, waiter);
	struct ldst *l = &sm->ldst;
	/* Groups are inside the entries' array, so the entry is known by address. */
	uint32_t index = (uint32_t)(((char *)g - (char *)l->entries) /
				    (ptrdiff_t)sizeof(*l->entries));
	struct sm_entry *e = &l->entries[index];

	sm_account(sm, now);
	g->waiting = false;
	if (waiter->told && --sm->warps[e->warp].faulted == 0)
		sm->wait_fault &= ~warp_bit(e->warp);
	access_perform(sm, e, g, host);
	out_push(l, index, (unsigned int)(g - e->groups), now);
	*sm->env.wake = MIN(*sm->env.wake, now);
}
