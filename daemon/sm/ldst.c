// SPDX-License-Identifier: GPL-2.0
/*
 * The load/store unit as a whole: its dispatch register, the response queue and its
 * cycle, in the order of GPGPU-Sim's ldst_unit::cycle(). What is behind it: access.c
 * (pages and lines of global memory), port.c (shared memory, writeback), l1d.c,
 * constant.c, texture.c, local.c, and perform.c (what the accesses do).
 *
 * Checked against the latency probes of SM2_GTX480: an instruction taken in cycle e is
 * first seen in e + 1. ld.shared is in the pipeline then, at its end 26 cycles later,
 * and in the port one cycle after that: dependent issue 32 cycles after issue.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sm/background.h"
#include "sm/ldst_internal.h"
#include "sm/reexec.h"

int ldst_create(struct sm *sm)
{
	struct ldst *l = calloc(1, sizeof(*l));
	int ret;

	if (!l)
		return -ENOMEM;
	sm->ldst = l;
	/* The tables of registers and of shared memory are looked up in stages of their own. */
	l->pipe_size = (uint32_t)(sm->spec->lat_shared + 2 * ldst_lookup(sm));
	l->reply_size = (uint32_t)sm->spec->ldst_responses;
	l->nfetches = (uint32_t)(sm->spec->l1d_mshrs + sm->spec->l1c_mshrs);
	l->late_size = WARP_LANES;
	l->perform_size = 64;
	l->pipe = calloc(l->pipe_size, sizeof(*l->pipe));
	l->replies = calloc(l->reply_size, sizeof(*l->replies));
	l->fetches = calloc(l->nfetches, sizeof(*l->fetches));
	l->waiters = calloc(MAX(sm->spec->l1d_merges, sm->spec->l1c_merges),
			    sizeof(*l->waiters));
	l->late = calloc(l->late_size, sizeof(*l->late));
	l->performs = calloc(l->perform_size, sizeof(*l->performs));
	l->free_entry = NO_INDEX;
	ret = l->pipe && l->replies && l->fetches && l->waiters && l->late && l->performs ?
		0 : -ENOMEM;
	if (!ret)
		ret = l1d_create(sm);
	if (!ret)
		ret = l1c_create(sm);
	if (!ret)
		ret = l1t_create(sm);
	if (ret) {
		ldst_destroy(sm);
		return ret;
	}
	ldst_cancel(sm);
	return 0;
}

void ldst_destroy(struct sm *sm)
{
	struct ldst *l = sm->ldst;

	if (!l)
		return;
	l1d_destroy(l);
	l1c_destroy(l);
	l1t_destroy(l);
	for (uint32_t i = 0; i < l->nchunks * ENTRY_CHUNK; i++)
		free(entry_at(l, i)->access.texels);
	for (uint32_t i = 0; i < l->nchunks; i++)
		free(l->chunks[i]);
	free(l->chunks);
	free(l->pipe);
	free(l->replies);
	free(l->fetches);
	free(l->waiters);
	free(l->late);
	free(l->performs);
	free(l);
	sm->ldst = NULL;
}

void ldst_cancel(struct sm *sm)
{
	struct ldst *l = sm->ldst;

	l->next = NEVER;
	l->inst = NO_INDEX;
	l->step = NEVER;
	l->fail_from = NEVER;
	l->out_next = NEVER;
	l->entrance = 0;
	l->pipe_head = 0;
	l->pipe_count = 0;
	l->reply_head = 0;
	l->reply_count = 0;
	l->direct = NO_INDEX;
	l->port = NO_INDEX;
	l->arbiter = 0;
	l->late_head = 0;
	l->late_count = 0;
	l->perform_head = 0;
	l->perform_count = 0;
	for (uint32_t i = 0; i < l->nfetches; i++)
		l->fetches[i].next_free = i + 1 < l->nfetches ? i + 1 : NO_INDEX;
	l->free_fetch = 0;
	l->free_entry = NO_INDEX;
	l->used_entries = 0;
	for (uint32_t i = l->nchunks * ENTRY_CHUNK; i--; ) {
		struct access_entry *e = entry_at(l, i);

		e->used = false;
		e->mapped = false;
		e->next_free = l->free_entry;
		l->free_entry = i;
	}
	memset(l->faulted, 0, sizeof(l->faulted));
	memset(l->untranslated, 0, sizeof(l->untranslated));
	memset(l->ordering, 0, sizeof(l->ordering));
	memset(l->accesses, 0, sizeof(l->accesses));
	memset(l->missing, 0, sizeof(l->missing));
	l1d_cancel(l);
	l1c_cancel(l);
	l1t_cancel(l);
}

void ldst_flush(struct sm *sm)
{
	cache_clear(sm->ldst->l1d);
	reexec_changed(sm->ldst);
	cache_clear(sm->ldst->l1c);
	cache_clear(sm->ldst->texture.tags);
}

bool ldst_idle(const struct sm *sm)
{
	const struct ldst *l = sm->ldst;

	/* Accesses that go past L1D are in memory, and in no queue here. */
	for (unsigned int w = 0; w < MAX_WARPS; w++) {
		if (l->accesses[w])
			return false;
	}
	return l->inst == NO_INDEX && l->port == NO_INDEX && l->direct == NO_INDEX &&
	       !l->pipe_count && !l->queue_count && !l->reply_count && !l->late_count &&
	       !l->perform_count && !l->used_entries && !l->l1d_queue.count &&
	       !l->l1c_queue.count && l1t_idle(l) && reexec_idle(l) &&
	       ready_empty(&l->l1d_ready) && ready_empty(&l->l1c_ready) &&
	       cache_idle(l->l1d) && cache_idle(l->l1c);
}

void ldst_issue(struct sm *sm, uint32_t index, enum exec_outcome outcome)
{
	struct ldst *l = sm->ldst;
	struct sm_inst *inst = sm_inst(sm, index);
	const struct exec_access *a = ldst_access(sm);
	unsigned int space = a->touched || outcome == EXEC_ACCESS ? a->space : inst->op->space;

	l->accesses[inst->warp]++;
	inst->entry = NO_INDEX;
	inst->left = 0;
	inst->state = PATH_NONE;
	if (space == PTX_SPACE_SHARED && sm->mech.shared_set && a->touched) {
		mapped_issue(sm, index, a);
		return;
	}
	if (space == PTX_SPACE_SHARED) {
		/* An access without a lane goes through the pipeline as well. */
		inst->state = PATH_SHARED;
		inst->left = 1;
		if (!a->touched)
			return;
		inst->left = (uint16_t)mem_bank_cycles(a->addr, a->touched, a->bytes,
						       (unsigned int)sm->spec->shared_banks);
		sm_count(sm, warp_slot(sm, inst->warp), shared_accesses, 1);
		sm_count(sm, warp_slot(sm, inst->warp), shared_conflict_cycles, inst->left - 1u);
		if (inst->op->atomic)
			warp_atomics(sm, inst->warp, 1);
		return;
	}
	if (outcome != EXEC_ACCESS && !a->touched)
		return;
	inst->entry = l->free_entry;
	if (outcome == EXEC_ACCESS)
		access_global(sm, index);
	else
		access_here(sm, index);
}

bool ldst_free(const struct sm *sm)
{
	return sm->ldst->inst == NO_INDEX;
}

void ldst_dispatch(struct sm *sm, uint32_t index, uint64_t now)
{
	struct ldst *l = sm->ldst;
	struct sm_inst *inst = sm_inst(sm, index);

	if (inst->op->fence) {
		inst->state = PATH_NONE;
		inst->entry = NO_INDEX;
		inst->left = 0;
		l->accesses[inst->warp]++;
	}
	l->inst = index;
	l->taken = now;
	l->busy_from = now + 1;
	l->stall = inst->left ? inst->left - 1u : 0;
	l->pages = 0;
	l->page_from = NEVER;
	l->step = now + 1;
	l->sent = 0;
	l->skip = 0;
	l->send_from = 0;
	if (inst->state == PATH_SHARED) {
		l->step = now + inst->left;
		if (sm->background)
			background_banks(sm, now + 1, now + 1 + inst->left);
	}
	wake_at(l, l->step);
}

static void finish(struct sm *sm, uint32_t index)
{
	const struct sm_inst *inst = sm_inst(sm, index);

	sm->ldst->accesses[inst->warp]--;
	if (__builtin_expect(sm->mech.shared_set, 0))
		mapped_finish(sm, index);
	if (inst->op->nwrite)
		inst_release(sm, index);
	inst_done(sm, index);
}

void access_answered(struct sm *sm, uint32_t index)
{
	struct sm_inst *inst = sm_inst(sm, index);

	if (--inst->left)
		return;
	sm->warps.at[inst->warp].away--;
	finish(sm, index);
}

/* Attributes the cycles in the register: the expected ones, and the rest to the unit that held it up. */
static void count_stalls(struct sm *sm, const struct sm_inst *inst, uint64_t now)
{
	struct ldst *l = sm->ldst;
	unsigned int path = inst->state;
	uint64_t cycles = now - l->taken - 1, pages = MIN(l->pages, cycles);
	uint64_t expected = MIN(l->stall, cycles - pages), rest = cycles - pages - expected;
	enum ldst_stall held_up;

	sm_count(sm, warp_slot(sm, inst->warp), ldst_instructions, 1);
	sm_count(sm, warp_slot(sm, inst->warp), busy[UNIT_LDST], now + 1 - l->busy_from);
	if (!cycles)
		return;
	held_up = path == PATH_SHARED ? LDST_PORT : path == PATH_CONST ? LDST_L1C :
		  path == PATH_TEXTURE ? LDST_L1T :
		  path == PATH_DIRECT ? LDST_MEMORY : LDST_L1D;
	sm_count(sm, warp_slot(sm, inst->warp), ldst_stalls[LDST_PAGES], pages);
	sm_count(sm, warp_slot(sm, inst->warp),
		 ldst_stalls[path == PATH_SHARED ? LDST_CONFLICTS : LDST_LINES], expected);
	sm_count(sm, warp_slot(sm, inst->warp), ldst_stalls[held_up], rest);
}

void dispatch_leave(struct sm *sm, uint64_t now)
{
	struct ldst *l = sm->ldst;
	uint32_t index = l->inst;
	const struct sm_inst *inst = sm_inst(sm, index);

	count_stalls(sm, inst, now);
	l->inst = NO_INDEX;
	l->step = NEVER;
	if (inst->entry != NO_INDEX)
		entry_put(l, inst->entry);
	/* A store's acknowledgements are the warp's; a load that hit everywhere is there. */
	if (inst->op->store || inst->op->fence || !inst->left)
		finish(sm, index);
	else
		sm->warps.at[inst->warp].away++;
}

/* --- requests and replies ------------------------------------------------------------ */

struct mem_request *miss_push(struct ldst *l, struct miss_queue *q, uint64_t now)
{
	l->out_next = MIN(l->out_next, now + 1);
	return &q->at[ring_at(q->head, q->count++, q->size)];
}

bool miss_send(struct sm *sm, struct miss_queue *q, uint64_t now)
{
	struct mem_request *r = &q->at[q->head];

	if (!q->count)
		return false;
	if (!mem_ready(sm->env.mem, sm->id, r, now)) {
		sm->ldst->out_next = MIN(sm->ldst->out_next, credit_next(sm, r, now));
		return false;
	}
	mem_send(sm->env.mem, r, now);
	q->head = ring_at(q->head, 1, q->size);
	if (--q->count)
		sm->ldst->out_next = now + 1;
	return true;
}

uint32_t fetch_new(struct ldst *l, uint64_t addr, unsigned int sectors)
{
	uint32_t i = l->free_fetch;

	l->free_fetch = l->fetches[i].next_free;
	l->fetches[i] = (struct fetch_line){ .addr = addr, .left = (uint8_t)sectors };
	return i;
}

void fetch_free(struct ldst *l, uint32_t i)
{
	l->fetches[i].next_free = l->free_fetch;
	l->free_fetch = i;
}

bool ldst_accepts(const struct sm *sm)
{
	return sm->ldst->reply_count < sm->ldst->reply_size;
}

void ldst_reply(struct sm *sm, const struct mem_reply *reply, uint64_t now)
{
	struct ldst *l = sm->ldst;

	l->replies[ring_at(l->reply_head, l->reply_count++, l->reply_size)] = *reply;
	wake_at(l, now);
}

/* One reply leaves the response queue. */
static void respond(struct sm *sm, uint64_t now)
{
	struct ldst *l = sm->ldst;
	const struct mem_reply *r = &l->replies[l->reply_head];
	uint32_t tag = r->tag;
	uint32_t of = tag & ~TAG_KIND;

	switch (tag & TAG_KIND) {
	case TAG_L1D:
		l1d_reply(sm, of, r->sectors, now);
		break;
	case TAG_L1C:
		if ((tag & TAG_TEXTURE) == TAG_TEXTURE) {
			l1t_reply(sm, tag, r->sectors);
			break;
		}
		constant_reply(sm, of, r->sectors, now);
		break;
	case TAG_INST:
		/* The reply has one sector, and waits for the port in front of everything else. */
		if (l->direct != NO_INDEX)
			return;
		l->direct = of;
		warp_missing(sm, sm_inst(sm, of)->warp, -1);
		break;
	default:
		if (tag == TAG_NOBODY)
			break;
		if ((tag & TAG_BACKGROUND) == TAG_BACKGROUND)
			background_reply(sm, tag & ~TAG_BACKGROUND, r->sectors);
		else
			warp_stores(sm, of, -(int)r->sectors);
		break;
	}
	l->reply_head = ring_at(l->reply_head, 1, l->reply_size);
	l->reply_count--;
}

/* --- the cycle -------------------------------------------------------------------------- */

static void dispatch_step(struct sm *sm, uint64_t now)
{
	switch (sm_inst(sm, sm->ldst->inst)->state) {
	case PATH_SHARED:
		shared_step(sm, now);
		break;
	case PATH_CONST:
		constant_step(sm, now);
		break;
	case PATH_TEXTURE:
		l1t_step(sm, now);
		break;
	case PATH_CACHED:
	case PATH_DIRECT:
		access_step(sm, now);
		break;
	default:
		dispatch_leave(sm, now);
		break;
	}
}

static uint64_t next_of(const struct sm *sm, uint64_t now)
{
	const struct ldst *l = sm->ldst;
	uint64_t next;

	if (l->port != NO_INDEX || l->direct != NO_INDEX || l->reply_count ||
	    !ready_empty(&l->l1d_ready) || !ready_empty(&l->l1c_ready) || l1t_busy(l))
		return now + 1;
	next = MIN(l->out_next, shared_next(l));
	next = MIN(next, l1d_next(sm, now));
	if (l->inst != NO_INDEX)
		next = MIN(next, l->step);
	if (l->late_count)
		next = MIN(next, access_late_next(l, now));
	return MAX(next, now + 1);
}

void ldst_cycle(struct sm *sm, uint64_t now)
{
	struct ldst *l = sm->ldst;

	if (now < l->next)
		return;
	port_cycle(sm, now);
	if (l->reply_count)
		respond(sm, now);
	if (l->out_next <= now) {
		l->out_next = NEVER;
		l1t_send(sm, now);
		constant_send(sm, now);
		l1d_send(sm, now);
	}
	l1t_cycle(sm, now);
	l1d_cycle(sm, now);
	if (l->late_count)
		access_late(sm, now);
	if (l->step <= now && l->inst != NO_INDEX)
		dispatch_step(sm, now);
	l->next = next_of(sm, now);
}

uint64_t ldst_next(const struct sm *sm, uint64_t now)
{
	return MAX(sm->ldst->next, now + 1);
}

bool ldst_saturated(const struct sm *sm)
{
	const struct ldst *l = sm->ldst;

	return l->stuck || !reexec_idle(l) || !cache_mshrs_free(l->l1d) ||
	       !queue_has_room(&l->l1d_queue, 2);
}

void ldst_settle(struct sm *sm, uint64_t upto)
{
	struct ldst *l = sm->ldst;

	if (l->inst != NO_INDEX && l->busy_from < upto) {
		sm_count(sm, warp_slot(sm, sm_inst(sm, l->inst)->warp), busy[UNIT_LDST],
			 upto - l->busy_from);
		l->busy_from = upto;
	}
	l1d_settle(sm, upto);
	constant_settle(sm, upto);
	l1t_settle(sm, upto);
}

const char *ldst_why(const struct sm *sm, unsigned int w)
{
	const struct ldst *l = sm->ldst;

	/* A store has left the unit, whatever becomes of its pages. */
	if (l->faulted[w])
		return "a far fault";
	if (set_has(sm->accesses.untranslated, w))
		return "a translation";
	if (!l->accesses[w])
		return NULL;
	if (l->inst != NO_INDEX && sm_inst(sm, l->inst)->warp == w)
		return "the load/store unit";
	if (l->queue_count && l->stuck && l->queue[l->queue_head].warp == w)
		return "room in L1D";
	return "memory";
}
