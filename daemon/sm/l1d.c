// SPDX-License-Identifier: GPL-2.0
/*
 * L1D: the latency queue before its tags, the tags, the miss queue behind them, and
 * what goes past it. Loads allocate on a miss and fetch whole lines; global stores write
 * through and evict, local ones write back where the line is there (GPGPU-Sim,
 * L1_latency_queue_cycle(), data_cache with LOCAL_WB_GLOBAL_WT). Called by ldst.c
 * and access.c.
 *
 * ld.global that hits: in the queue in cycle c + 5 of an issue in c, at the tags l1d.latency
 * cycles later, and its registers are there then: dependent issue distance 40.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sm/background.h"
#include "sm/ldst_internal.h"
#include "sm/reexec.h"

int ready_create(struct ready_list *r, uint32_t places)
{
	uint32_t n = 1;

	while (n < places)
		n *= 2;
	r->mask = n - 1;
	r->at = calloc(n, sizeof(*r->at));
	return r->at ? 0 : -ENOMEM;
}

int l1d_create(struct sm *sm)
{
	const struct gpu_spec *s = sm->spec;
	struct ldst *l = sm->ldst;
	const struct cache_shape shape = {
		.sets = (uint32_t)s->l1d_sets, .ways = (uint32_t)s->l1d_ways,
		.line = (uint32_t)s->l1d_line, .sector = (uint32_t)s->l1d_line,
		.mshrs = (uint32_t)s->l1d_mshrs, .merges = (uint32_t)s->l1d_merges,
		.index = strcmp(s->l1d_index, "fermi") ? CACHE_LINEAR : CACHE_FERMI_HASH,
	};

	l->queue_size = (uint32_t)(s->l1d_latency + ldst_lookup(sm));
	l->queue = calloc(l->queue_size, sizeof(*l->queue));
	l->l1d_queue.size = (uint32_t)s->l1d_miss_queue;
	l->l1d_queue.at = calloc(l->l1d_queue.size, sizeof(*l->l1d_queue.at));
	if (reexec_create(sm))
		return -ENOMEM;
	return l->queue && l->l1d_queue.at &&
	       !ready_create(&l->l1d_ready, shape.mshrs * shape.merges) ?
		cache_create(&shape, &l->l1d) : -ENOMEM;
}

void l1d_destroy(struct ldst *l)
{
	cache_destroy(l->l1d);
	free(l->queue);
	free(l->l1d_queue.at);
	free(l->l1d_ready.at);
	reexec_destroy(l);
}

void l1d_cancel(struct ldst *l)
{
	cache_reset(l->l1d);
	reexec_cancel(l);
	l->queue_head = 0;
	l->queue_count = 0;
	l->stuck = CACHE_HIT;
	l->retry = NEVER;
	l->l1d_queue.head = 0;
	l->l1d_queue.count = 0;
	l->l1d_ready.head = 0;
	l->l1d_ready.tail = 0;
}

void sm_drop(struct sm *sm, uint64_t start, uint64_t end)
{
	struct ldst *l = sm->ldst;

	cache_drop(l->l1d, start, end);
	cache_drop(l->texture.tags, start, end);
	if (sm->mech.stall_on && sm->mech.ops->pages_dropped)
		sm->mech.ops->pages_dropped(sm->mech.state, start, end, sm->upto);
	/* A way may be free now. */
	if (l->stuck || !reexec_idle(l)) {
		l->retry = 0;
		reexec_changed(l);
		l->next = 0;
		*sm->env.wake = MIN(*sm->env.wake, sm->upto);
	}
}

/* --- ways in ------------------------------------------------------------------------ */

static void add_bytes(uint32_t *mask, unsigned int offset, unsigned int bytes)
{
	/* An element is aligned, so it is in one sector. */
	uint32_t bits = bytes >= 32 ? UINT32_MAX : (1u << bytes) - 1;

	mask[offset / MEM_SECTOR] |= bits << offset % MEM_SECTOR;
}

/* Which bytes of the line its lanes write. */
static void byte_mask(const struct access_entry *e, const struct mem_line *line, uint32_t *mask)
{
	const struct exec_access *a = &e->access;
	uint32_t lanes = line->lanes;

	memset(mask, 0, MEM_SECTORS * sizeof(*mask));
	if (a->space == PTX_SPACE_LOCAL) {
		unsigned int bytes = MIN(a->bytes, 4u);

		for (; lanes; lanes &= lanes - 1) {
			unsigned int lane = (unsigned int)__builtin_ctz(lanes);
			unsigned int at = lane * 4 + (unsigned int)(a->addr[lane] & 3);

			add_bytes(mask, at & (line->bytes - 1u), bytes);
		}
		return;
	}
	/* Addresses of shared memory in swap are offsets, which begin with a line. */
	for (; lanes; lanes &= lanes - 1)
		add_bytes(mask, (unsigned int)(a->addr[__builtin_ctz(lanes)] - line->addr) %
				MEM_LINE, a->bytes);
}

static uint64_t device_addr(const struct access_entry *e, const struct mem_line *line)
{
	return e->access.space == PTX_SPACE_GLOBAL ? mem_device(line->addr) : line->addr;
}

unsigned int l1d_room(const struct ldst *l)
{
	return l->queue_size - l->queue_count;
}

void l1d_enter(struct sm *sm, struct access_entry *e, unsigned int i, uint64_t now)
{
	struct ldst *l = sm->ldst;
	const struct mem_line *line = &e->lines[i];
	struct l1d_access *q = &l->queue[ring_at(l->queue_head, l->queue_count++, l->queue_size)];

	q->ready = now + l->queue_size;
	q->addr = device_addr(e, line);
	q->inst = e->inst;
	q->kind = e->kind;
	q->cls = e->access.space == PTX_SPACE_LOCAL ? MEM_LOCAL :
		 e->access.space == PTX_SPACE_SHARED ? MEM_BACKGROUND : MEM_GLOBAL;
	q->bytes = line->bytes;
	q->warp = e->warp;
	if (e->kind == MEM_WRITE)
		byte_mask(e, line, q->byte_mask);
	else
		q->addr &= ~(uint64_t)(MEM_LINE - 1);
}

uint64_t l1d_pass(struct sm *sm, struct access_entry *e, unsigned int i, uint64_t now)
{
	const struct mem_line *line = &e->lines[i];
	struct mem_request r = {
		.addr = device_addr(e, line),
		.tag = e->kind == MEM_WRITE ? TAG_STORE | e->warp : TAG_INST | e->inst,
		.sm = (uint16_t)sm->id, .kind = e->kind,
		.cls = e->access.space == PTX_SPACE_SHARED ? MEM_BACKGROUND : MEM_GLOBAL,
		.bytes = line->bytes, .kernel = warp_slot(sm, e->warp), .remote = line_remote(e, i),
	};

	if (!mem_ready(sm->env.mem, sm->id, &r, now))
		return credit_next(sm, &r, now);
	if (e->kind == MEM_WRITE)
		byte_mask(e, line, r.byte_mask);
	mem_send(sm->env.mem, &r, now);
	if (e->kind != MEM_WRITE)
		warp_missing(sm, e->warp, 1);
	return 0;
}

/* --- the tags -------------------------------------------------------------------------- */

static void fetch(struct sm *sm, const struct l1d_access *q, uint64_t now)
{
	struct ldst *l = sm->ldst;
	uint32_t f = fetch_new(l, q->addr, MEM_SECTORS);

	*miss_push(l, &l->l1d_queue, now) = (struct mem_request){
		.addr = q->addr, .tag = TAG_L1D | f, .sm = (uint16_t)sm->id,
		.kind = MEM_READ, .cls = q->cls, .bytes = MEM_LINE,
		.kernel = warp_slot(sm, q->warp),
	};
}

/* Writes a line back, and counts it for the kernel whose access made the line go. */
static void write_back(struct sm *sm, uint64_t addr, unsigned int kernel, uint64_t now)
{
	struct mem_request *r = miss_push(sm->ldst, &sm->ldst->l1d_queue, now);

	*r = (struct mem_request){
		.addr = addr, .tag = TAG_NOBODY, .sm = (uint16_t)sm->id,
		.kind = MEM_WRITE, .bytes = MEM_LINE, .kernel = (uint8_t)kernel,
		.cls = addr >= MEM_BACKGROUND_BASE && addr < MEM_BACKGROUND_END ?
			MEM_BACKGROUND : MEM_LOCAL,
	};
	memset(r->byte_mask, 0xff, sizeof(r->byte_mask));
}

enum cache_outcome l1d_background(struct sm *sm, uint64_t addr, uint32_t waiter,
				  unsigned int kernel, uint64_t now)
{
	struct ldst *l = sm->ldst;
	struct cache_victim victim;
	enum cache_outcome outcome = cache_read(l->l1d, addr, waiter,
						queue_has_room(&l->l1d_queue, 2), &victim);

	/* Loads that were refused look again in the next cycle. */
	if (outcome < CACHE_NO_MSHR && !reexec_idle(l)) {
		reexec_changed(l);
		wake_at(l, now + 1);
	}
	if (outcome != CACHE_MISS)
		return outcome;
	*miss_push(l, &l->l1d_queue, now) = (struct mem_request){
		.addr = addr, .tag = TAG_L1D | fetch_new(l, addr, MEM_SECTORS),
		.sm = (uint16_t)sm->id, .kind = MEM_READ, .cls = MEM_BACKGROUND,
		.bytes = MEM_LINE, .kernel = (uint8_t)kernel,
	};
	if (victim.dirty)
		write_back(sm, victim.addr, kernel, now);
	l->next = MIN(l->next, now + 1);
	return outcome;
}

static enum cache_outcome read_tags(struct sm *sm, const struct l1d_access *q, uint64_t now)
{
	struct ldst *l = sm->ldst;
	struct cache_victim victim;
	/* A miss may have to write its victim back: room for two. */
	enum cache_outcome outcome = cache_read(l->l1d, q->addr, q->inst,
						queue_has_room(&l->l1d_queue, 2), &victim);

	if (outcome >= CACHE_NO_MSHR)
		return outcome;
	sm_count(sm, warp_slot(sm, q->warp), l1d.reads, 1);
	if (outcome == CACHE_HIT) {
		access_answered(sm, q->inst);
	} else if (outcome == CACHE_PENDING) {
		sm_count(sm, warp_slot(sm, q->warp), l1d.pending_hits, 1);
	} else {
		sm_count(sm, warp_slot(sm, q->warp), l1d.read_misses, 1);
		fetch(sm, q, now);
		if (victim.dirty)
			write_back(sm, victim.addr, warp_slot(sm, q->warp), now);
	}
	return outcome;
}

static enum cache_outcome write_tags(struct sm *sm, const struct l1d_access *q, uint64_t now)
{
	struct ldst *l = sm->ldst;
	bool room = queue_has_room(&l->l1d_queue, 1);
	enum cache_outcome outcome;
	struct mem_request *r;

	if (q->cls != MEM_GLOBAL) {
		outcome = cache_write_if_there(l->l1d, q->addr);
		if (outcome == CACHE_HIT) {
			sm_count(sm, warp_slot(sm, q->warp), l1d.writes, 1);
			warp_stores(sm, q->warp, -(int)(q->bytes / MEM_SECTOR));
			return outcome;
		}
		if (!room)
			return CACHE_NO_QUEUE;
	} else {
		if (!room)
			return CACHE_NO_QUEUE;
		outcome = cache_write_evict(l->l1d, q->addr);
	}
	sm_count(sm, warp_slot(sm, q->warp), l1d.writes, 1);
	if (outcome == CACHE_MISS)
		sm_count(sm, warp_slot(sm, q->warp), l1d.write_misses, 1);
	else if (outcome == CACHE_PENDING)
		sm_count(sm, warp_slot(sm, q->warp), l1d.pending_hits, 1);
	r = miss_push(l, &l->l1d_queue, now);
	*r = (struct mem_request){
		.addr = q->addr, .tag = TAG_STORE | q->warp, .sm = (uint16_t)sm->id,
		.kind = MEM_WRITE, .cls = q->cls, .bytes = q->bytes,
		.kernel = warp_slot(sm, q->warp),
	};
	memcpy(r->byte_mask, q->byte_mask, sizeof(r->byte_mask));
	return outcome;
}

void l1d_settle(struct sm *sm, uint64_t upto)
{
	struct ldst *l = sm->ldst;

	if (!reexec_idle(l))
		reexec_settle(sm, upto);
	if (!l->stuck || l->stuck_from >= upto)
		return;
	sm_count(sm, warp_slot(sm, l->queue[l->queue_head].warp), l1d.fails, upto - l->stuck_from);
	l->stuck_from = upto;
}

static uint64_t head_next(const struct ldst *l)
{
	if (!l->queue_count)
		return NEVER;
	return l->stuck ? l->retry : l->queue[l->queue_head].ready;
}

uint64_t l1d_next(const struct sm *sm, uint64_t now)
{
	const struct ldst *l = sm->ldst;
	uint64_t head = head_next(l), again = reexec_idle(l) ? NEVER : reexec_next(l);

	return MIN(head, again);
}

/* A load that was refused tries again. True: L1D took it. */
static bool try_again(struct sm *sm, uint64_t now)
{
	struct ldst *l = sm->ldst;
	const struct l1d_access *q = reexec_head(l);
	unsigned int kernel = warp_slot(sm, q->warp);
	enum cache_outcome outcome;
	uint8_t warp = q->warp;

	l->tags_used = now;
	outcome = read_tags(sm, q, now);
	if (outcome == CACHE_HIT)
		warp_missing(sm, warp, -1);
	if (outcome >= CACHE_NO_MSHR)
		sm_count(sm, kernel, l1d.fails, 1);
	reexec_tried(l, outcome < CACHE_NO_MSHR, now);
	return outcome < CACHE_NO_MSHR;
}

/* The head of the latency queue is at the tags. A load that was refused before counts as missing. */
static enum cache_outcome at_tags(struct sm *sm, const struct l1d_access *q, uint64_t now)
{
	bool before = sm->ldst->stuck;
	enum cache_outcome outcome;

	sm->ldst->tags_used = now;
	if (q->kind == MEM_WRITE)
		return write_tags(sm, q, now);
	outcome = read_tags(sm, q, now);
	if ((outcome != CACHE_HIT) != before)
		warp_missing(sm, q->warp, before ? -1 : 1);
	return outcome;
}

void l1d_cycle(struct sm *sm, uint64_t now)
{
	struct ldst *l = sm->ldst;
	const struct l1d_access *q = &l->queue[l->queue_head];
	enum cache_outcome outcome;

	if (head_next(l) > now && (reexec_idle(l) || reexec_refused(l)))
		return;
	if (!reexec_idle(l))
		reexec_settle(sm, now);
	/*
	 * A refused load tries when nothing new is at the tags. Each one that goes leaves a place
	 * to the one that is stuck there.
	 */
	if (head_next(l) > now) {
		if (try_again(sm, now) && l->stuck)
			l->retry = now + 1;
		return;
	}
	outcome = at_tags(sm, q, now);
	l->retry = NEVER;
	if (!reexec_idle(l))
		reexec_passed_by(l, outcome < CACHE_NO_MSHR, now);
	if (outcome >= CACHE_NO_MSHR && reexec_take(sm, q, now)) {
		sm_count(sm, warp_slot(sm, q->warp), l1d.fails, 1);
	} else if (outcome >= CACHE_NO_MSHR) {
		if (!l->stuck)
			l->stuck_from = now;
		l->stuck = (uint8_t)outcome;
		return;
	}
	l1d_settle(sm, now);
	l->stuck = CACHE_HIT;
	l->queue_head = ring_at(l->queue_head, 1, l->queue_size);
	l->queue_count--;
	/* The dispatch register may wait for the room. */
	if (l->step == NEVER)
		l->step = now;
}

/* --- requests and replies ----------------------------------------------------------------- */

/* A load waits for a place aside, and those that have one go before it. */
static bool wants_place(const struct ldst *l)
{
	return !reexec_idle(l) && l->queue[l->queue_head].kind == MEM_READ;
}

void l1d_send(struct sm *sm, uint64_t now)
{
	struct ldst *l = sm->ldst;

	if (!miss_send(sm, &l->l1d_queue, now))
		return;
	reexec_changed(l);
	if (l->stuck == CACHE_NO_QUEUE && !wants_place(l))
		l->retry = now;
}

void l1d_reply(struct sm *sm, uint32_t index, unsigned int sectors, uint64_t now)
{
	struct ldst *l = sm->ldst;
	struct fetch_line *f = &l->fetches[index];
	unsigned int n;

	f->left = (uint8_t)(f->left - sectors);
	if (f->left)
		return;
	n = cache_fill(l->l1d, f->addr, l->waiters);
	reexec_changed(l);
	fetch_free(l, index);
	for (unsigned int i = 0; i < n; i++) {
		if (l->waiters[i] & BACKGROUND_WAITER) {
			background_filled(sm, l->waiters[i]);
			continue;
		}
		warp_missing(sm, sm_inst(sm, l->waiters[i])->warp, -1);
		ready_push(&l->l1d_ready, l->waiters[i]);
	}
	/*
	 * The line is there now; the MSHR is free when the last of the merged accesses has gone
	 * through the port, next cycle at the soonest.
	 */
	if (l->stuck && !wants_place(l))
		l->retry = l->stuck == CACHE_NO_MSHR ? now + MAX(n, 1u) : now;
}
