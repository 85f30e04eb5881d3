// SPDX-License-Identifier: GPL-2.0
/*
 * Memory instructions that have lines: their entries, the pages of global
 * accesses and the way of their lines out of the dispatch register. A page that
 * hits the TLB is queued to be performed (perform.c) and its lines go on; one that misses
 * waits in the gmmu, out of the register, so that others pass (hit under miss,
 * HPCA'16 section 3). Called by ldst.c.
 *
 * Order within a warp: a far fault is a load that takes long, and the warp goes on until
 * it needs the value (HPCA'16 section 1: "as long latency memory operations rather than execution
 * exceptions"; on hardware both loads of a vector sum fault in one batch, Allen and Ge,
 * SC'21). So accesses pass one that is not translated, but those to the same page, which the
 * gmmu answers in the order of their look-ups; what orders memory waits (sm.untranslated).
 * Without paging, an access whose page is not known yet stays in the dispatch register, and
 * all others behind it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sm/ldst_internal.h"

/* Accesses of one warp that may wait for their pages at the same time. */
#define MAX_UNTRANSLATED	16u

/* --- at issue ----------------------------------------------------------------------- */

/* Called when untranslated[] or ordering[] have changed. */
static void check_order(struct sm *sm, unsigned int w)
{
	const struct ldst *l = sm->ldst;

	set_let(&sm->accesses.untranslated, w, l->untranslated[w]);
	set_let(&sm->accesses.in_order, w, l->ordering[w] ||
			       l->untranslated[w] >= MAX_UNTRANSLATED);
	warp_check_order(sm, w);
}

void access_global(struct sm *sm, uint32_t index)
{
	struct sm_inst *inst = sm_inst(sm, index);
	struct access_entry *e = entry_claim(sm->ldst, index, inst);
	const struct exec_access *a = &e->access;

	if (e->access.space == PTX_SPACE_TEXTURE) {
		inst->state = PATH_TEXTURE;
		inst->left = (uint16_t)l1t_issue(e);
	} else if (inst->op->atomic) {
		e->direct = true;
		e->nlines = (uint16_t)mem_coalesce_atomic(a->addr, a->lanes, a->bytes, e->lines);
		warp_atomics(sm, inst->warp, e->nlines);
	} else {
		e->direct = a->insn->mods & PTX_MOD_PAST_L1 ||
			    (!inst->op->store && sm->spec->l1d_bypass_global);
		/* What goes past L1D is cut into sectors (GPGPU-Sim: sector_segment_size). */
		e->nlines = (uint16_t)mem_coalesce(a->addr, a->lanes, e->direct ? 1 : a->bytes,
						   e->lines);
	}
	if (inst->state != PATH_TEXTURE) {
		inst->state = e->direct ? PATH_DIRECT : PATH_CACHED;
		inst->left = e->nlines;
		sm_count(sm, warp_slot(sm, e->warp), lines, e->nlines);
	}
	/* Counted from here on, so that the warp outlives a store whose pages are not here. */
	if (inst->op->store)
		warp_stores(sm, inst->warp, (int)entry_sectors(e));
	if (sm->ideal)
		return;
	e->orders = inst->op->ordered || sm->spec->fault_stall;
	sm->ldst->untranslated[inst->warp]++;
	sm->ldst->ordering[inst->warp] += e->orders;
	check_order(sm, inst->warp);
}

bool ldst_conflict(const struct sm *sm, const struct sm_inst *first, const struct sm_inst *second)
{
	const struct exec_access *a, *b;

	if (first->entry == NO_INDEX || second->entry == NO_INDEX ||
	    (!first->op->store && !first->op->atomic && !second->op->store && !second->op->atomic))
		return false;
	a = &entry_at(sm->ldst, first->entry)->access;
	b = &entry_at(sm->ldst, second->entry)->access;
	/* Other spaces were performed when they issued. */
	if (a->space != PTX_SPACE_GLOBAL || b->space != PTX_SPACE_GLOBAL)
		return false;
	for (uint32_t i = a->touched; i; i &= i - 1) {
		uint64_t start = a->addr[__builtin_ctz(i)], end = start + a->bytes;

		for (uint32_t k = b->touched; k; k &= k - 1) {
			uint64_t at = b->addr[__builtin_ctz(k)];

			if (at < end && start < at + b->bytes)
				return true;
		}
	}
	return false;
}

void access_here(struct sm *sm, uint32_t index)
{
	struct sm_inst *inst = sm_inst(sm, index);
	struct access_entry *e = entry_claim(sm->ldst, index, inst);

	if (e->access.space == PTX_SPACE_LOCAL) {
		inst->state = PATH_CACHED;
		local_lines(sm, e);
		if (inst->op->store)
			warp_stores(sm, inst->warp, (int)entry_sectors(e));
		sm_count(sm, warp_slot(sm, e->warp), lines, e->nlines);
	} else {
		inst->state = PATH_CONST;
		constant_lines(sm, e);
	}
	e->looked_up = e->nlines;
	inst->left = e->nlines;
}

/* --- pages ------------------------------------------------------------------------------ */

static uint8_t access_of(const struct access_entry *e)
{
	return e->kind == MEM_ATOMIC ? ACCESS_ATOMIC :
	       e->kind == MEM_WRITE ? ACCESS_WRITE : ACCESS_READ;
}

static void translated_all(struct sm *sm, const struct access_entry *e)
{
	if (sm->ideal || e->waiting || e->looked_up < e->nlines)
		return;
	sm->ldst->untranslated[e->warp]--;
	sm->ldst->ordering[e->warp] -= e->orders;
	check_order(sm, e->warp);
	warp_note(sm, e->warp);
}

/* Lines [first, first + n) are of a page in system memory. */
static void mark_remote(struct access_entry *e, unsigned int first, unsigned int n)
{
	if (!e->any_remote)
		memset(e->remote, 0, sizeof(e->remote));
	e->any_remote = true;
	for (unsigned int i = first; i < first + n; i++)
		e->remote[i / 64] |= 1ull << (i % 64);
}

/* Looks up the page of the next lines; they are sorted, so those of a page are together. */
static void look_up(struct sm *sm, uint32_t index, struct access_entry *e, uint64_t now)
{
	struct page_group *g = &e->groups[e->ngroups];
	unsigned int first = e->looked_up, i = first;
	uint64_t page = e->lines[first].addr & ~(PAGE_BYTES - 1);
	void *host;

	g->lanes = 0;
	do
		g->lanes |= e->lines[i].lanes;
	while (++i < e->nlines && (e->lines[i].addr & ~(PAGE_BYTES - 1)) == page);
	g->waiter.sm = (uint16_t)sm->id;
	g->waiter.warp = e->warp;
	g->waiter.kernel = warp_slot(sm, e->warp);
	g->waiter.access = access_of(e);
	g->waiter.told = false;
	g->waiter.page = page;
	e->looked_up = (uint16_t)i;
	host = gmmu_translate(sm->env.gmmu, page, &g->waiter, now);
	if (host) {
		if (gmmu_remote(host))
			mark_remote(e, first, i - first);
		perform_push(sm, index, g->lanes, page, gmmu_host(host), now);
		return;
	}
	g->entry = index;
	g->first = (uint16_t)first;
	g->lines = (uint16_t)(i - first);
	g->waiting = true;
	e->ngroups++;
	e->waiting++;
	e->refs++;
}

static void look_up_all(struct sm *sm, uint32_t index, struct access_entry *e, uint64_t now)
{
	uint64_t ports = sm->ideal ? MAX_LINES : sm->spec->tlb_ports;
	uint64_t last = NEVER;

	if (!e->looked_up && !sm->ideal)
		sm->ldst->send_from = now + sm->spec->tlb_latency;
	while (e->looked_up < e->nlines && e->ngroups < WARP_LANES && !(sm->ideal && e->waiting)) {
		/* Of a page of gmmu.page, all 4 KiB of it are one look-up. */
		uint64_t page = e->lines[e->looked_up].addr & ~(sm->spec->page_bytes - 1);

		if (page != last && !ports--)
			break;
		last = page;
		look_up(sm, index, e, now);
	}
	translated_all(sm, e);
}

static void faulted(void *ctx, struct gmmu_waiter *waiter, uint64_t now)
{
	struct sm *sm = ctx;

	sm_settle(sm, now);
	sm->ldst->faulted[waiter->warp]++;
	set_add(&sm->heads.far_fault, waiter->warp);
	mechanism_stalls(sm);
	if (sm->mech.stall_on && sm->mech.ops->page_faulted)
		sm->mech.ops->page_faulted(sm->mech.state, sm, mem_device(waiter->page), now);
	/* A warp may be stalled now. */
	if (sm->mech.stall_on)
		*sm->env.wake = MIN(*sm->env.wake, now);
	if (sm->spec->fault_stall)
		set_add(&sm->heads.wait_fault, waiter->warp);
	if (sm->mascar.on)
		owner_look(sm);
}

static void late_push(struct sm *sm, const struct late_lines *late)
{
	struct ldst *l = sm->ldst;

	if (l->late_count == l->late_size) {
		struct late_lines *bigger = calloc(2 * l->late_size, sizeof(*bigger));

		if (!bigger) {
			sm_fail(sm, -ENOMEM, 0, NULL);
			return;
		}
		for (uint32_t i = 0; i < l->late_count; i++)
			bigger[i] = l->late[ring_at(l->late_head, i, l->late_size)];
		free(l->late);
		l->late = bigger;
		l->late_head = 0;
		l->late_size *= 2;
	}
	l->late[ring_at(l->late_head, l->late_count++, l->late_size)] = *late;
}

/* A fetch goes on with the last of its pages; in the dispatch register, from there. */
static void texels_translated(struct sm *sm, uint32_t index, uint64_t now)
{
	struct ldst *l = sm->ldst;
	const struct access_entry *e = entry_at(l, index);

	if (e->waiting || l->inst == e->inst)
		entry_put(l, index);
	else
		late_push(sm, &(struct late_lines){ now, index, 0, e->ntexels });
}

static void translated(void *ctx, struct gmmu_waiter *waiter, uint64_t page, void *host,
		       uint64_t now)
{
	struct sm *sm = ctx;
	struct page_group *g = container_of(waiter, struct page_group, waiter);
	struct ldst *l = sm->ldst;
	struct access_entry *e = entry_at(l, g->entry);

	sm_settle(sm, now);
	if (waiter->told && --l->faulted[e->warp] == 0) {
		mechanism_stalls(sm);
		set_drop(&sm->heads.far_fault, e->warp);
		set_drop(&sm->heads.wait_fault, e->warp);
	}
	g->waiting = false;
	e->waiting--;
	if (gmmu_remote(host))
		mark_remote(e, g->first, g->lines);
	perform_push(sm, g->entry, g->lanes, page, gmmu_host(host), now);
	if (sm_inst(sm, e->inst)->state == PATH_TEXTURE)
		texels_translated(sm, g->entry, now);
	else
		late_push(sm, &(struct late_lines){ now, g->entry, g->first, g->lines });
	translated_all(sm, e);
	if (l->step == NEVER && l->inst != NO_INDEX)
		l->step = now;
	l->next = MIN(l->next, now);
	*sm->env.wake = MIN(*sm->env.wake, now);
	if (sm->env.performs)
		*sm->env.performs = true;
	if (sm->env.translated)
		sm->env.translated(sm->env.watcher, sm->id, page, now);
}

const struct gmmu_sm_ops access_gmmu_ops = {
	.translated = translated,
	.faulted = faulted,
};

/* --- lines ---------------------------------------------------------------------------------- */

/* Lines [sent, ...) that can go now; skips those that wait for their page. */
static unsigned int sendable(struct ldst *l, const struct access_entry *e)
{
	while (l->skip < e->ngroups && e->groups[l->skip].first == l->sent)
		l->sent = (uint16_t)(l->sent + e->groups[l->skip++].lines);
	return (l->skip < e->ngroups ? e->groups[l->skip].first : e->looked_up) - l->sent;
}

static bool all_gone(struct ldst *l, const struct access_entry *e)
{
	return !sendable(l, e) && l->sent == e->nlines;
}

/* Several lines at a time enter as if one a cycle: nobody else is in the way. */
static uint64_t enter_lines(struct sm *sm, struct access_entry *e, unsigned int n, uint64_t now)
{
	struct ldst *l = sm->ldst;
	unsigned int room = l1d_room(l);

	if (e->looked_up < e->nlines || l->late_count || e->any_remote)
		n = 1;
	n = MIN(n, room);
	for (unsigned int i = 0; i < n; i++)
		l1d_enter(sm, e, l->sent++, now + i);
	l->entrance = now + n;
	return n;
}

/* Counts the wait up to now of an access that no longer waits for a page, or looks again. */
static void count_wait(struct ldst *l, uint64_t now)
{
	if (l->page_from == NEVER)
		return;
	l->pages += now - l->page_from;
	l->page_from = NEVER;
}

bool access_pages(struct sm *sm, struct access_entry *e, uint64_t now)
{
	struct ldst *l = sm->ldst;
	bool full;

	count_wait(l, now);
	/* An access with more missing pages than it has places for looks them up in turns. */
	if (!e->waiting)
		e->ngroups = 0;
	if (e->looked_up < e->nlines)
		look_up_all(sm, sm_inst(sm, l->inst)->entry, e, now);
	full = e->waiting && (sm->ideal || e->ngroups == WARP_LANES);
	l->step = now + 1;
	if (e->looked_up == e->nlines && !(sm->ideal && e->waiting) &&
	    (e->waiting || now >= l->send_from))
		return true;
	l->page_from = now;
	if (full)
		l->step = NEVER;
	else if (e->looked_up == e->nlines)
		l->step = MAX(l->send_from, now + 1);
	return false;
}

void access_step(struct sm *sm, uint64_t now)
{
	struct ldst *l = sm->ldst;
	uint32_t index = sm_inst(sm, l->inst)->entry;
	struct access_entry *e = entry_at(l, index);
	unsigned int n;

	count_wait(l, now);
	if (e->looked_up < e->nlines)
		look_up_all(sm, index, e, now);
	/* The access is gone when its last lines have entered in earlier cycles. */
	if (all_gone(l, e) && now + 1 >= l->entrance && !(sm->ideal && e->waiting)) {
		dispatch_leave(sm, now);
		return;
	}
	n = sendable(l, e);
	l->step = now + 1;
	if (!n) {
		l->page_from = now;
		/* Without paging translated() brings the page. */
		if (sm->ideal && e->waiting)
			l->step = NEVER;
		return;
	}
	if (now < MAX(l->send_from, l->entrance)) {
		if (now < l->send_from)
			l->page_from = now;
		l->step = MAX(l->send_from, l->entrance);
		return;
	}
	if (e->direct || line_remote(e, l->sent)) {
		uint64_t later = l1d_pass(sm, e, l->sent, now);

		if (later) {
			l->step = later;
			return;
		}
		l->sent++;
		l->entrance = now + 1;
		n = 1;
	} else {
		n = (unsigned int)enter_lines(sm, e, n, now);
		if (!n) {
			/* The head of the latency queue tells when it leaves. */
			l->step = NEVER;
			return;
		}
	}
	if (!all_gone(l, e))
		l->step = now + n;
	else if (n > 1)
		l->step = now + n - 1;
	else
		dispatch_leave(sm, now);
}

uint64_t access_late_next(const struct ldst *l, uint64_t now)
{
	return MAX(MAX(l->late[l->late_head].ready, l->entrance), now + 1);
}

void access_late(struct sm *sm, uint64_t now)
{
	struct ldst *l = sm->ldst;
	struct late_lines *late = &l->late[l->late_head];
	struct access_entry *e = entry_at(l, late->entry);

	if (now < MAX(late->ready, l->entrance))
		return;
	if (sm_inst(sm, e->inst)->state == PATH_TEXTURE) {
		if (!l1t_enter(sm, e, late->first, now)) {
			l->entrance = now + 1;
			return;
		}
	} else if (e->direct || line_remote(e, late->first)) {
		uint64_t later = l1d_pass(sm, e, late->first, now);

		if (later) {
			l->entrance = later;
			return;
		}
	} else {
		if (!l1d_room(l)) {
			l->entrance = now + 1;
			return;
		}
		l1d_enter(sm, e, late->first, now);
	}
	l->entrance = now + 1;
	late->first++;
	if (--late->lines)
		return;
	entry_put(l, late->entry);
	l->late_head = ring_at(l->late_head, 1, l->late_size);
	l->late_count--;
}
