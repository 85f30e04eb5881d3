// SPDX-License-Identifier: GPL-2.0
/*
 * L1C: constants and kernel parameters. One line a cycle out of the dispatch
 * register; a hit is there at once, without the writeback port (GPGPU-Sim,
 * constant_cycle()). Called by ldst.c.
 */
#include <errno.h>
#include <stdlib.h>

#include "sm/ldst_internal.h"

int l1c_create(struct sm *sm)
{
	const struct gpu_spec *s = sm->spec;
	struct ldst *l = sm->ldst;
	const struct cache_shape shape = {
		.sets = (uint32_t)s->l1c_sets, .ways = (uint32_t)s->l1c_ways,
		.line = (uint32_t)s->l1c_line, .sector = (uint32_t)s->l1c_line,
		.mshrs = (uint32_t)s->l1c_mshrs, .merges = (uint32_t)s->l1c_merges,
		.index = CACHE_LINEAR, .on_fill = true,
	};

	l->l1c_queue.size = (uint32_t)s->l1c_miss_queue;
	l->l1c_queue.at = calloc(l->l1c_queue.size, sizeof(*l->l1c_queue.at));
	return l->l1c_queue.at && !ready_create(&l->l1c_ready, shape.mshrs * shape.merges) ?
		cache_create(&shape, &l->l1c) : -ENOMEM;
}

void l1c_destroy(struct ldst *l)
{
	cache_destroy(l->l1c);
	free(l->l1c_queue.at);
	free(l->l1c_ready.at);
}

void l1c_cancel(struct ldst *l)
{
	cache_reset(l->l1c);
	l->l1c_queue.head = 0;
	l->l1c_queue.count = 0;
	l->l1c_ready.head = 0;
	l->l1c_ready.tail = 0;
}

void ldst_drop_constants(struct sm *sm, uint64_t start, uint64_t end)
{
	cache_drop(sm->ldst->l1c, start, end);
}

void constant_lines(struct sm *sm, struct access_entry *e)
{
	const struct exec_access *a = &e->access;
	const struct sm_kernel *k = sm->warps.at[e->warp].kernel;
	uint64_t mask = ~(sm->spec->l1c_line - 1);
	uint64_t base = a->space == PTX_SPACE_PARAM ? k->params : k->constants;
	uint32_t rest = a->touched;
	unsigned int i;

	e->nlines = 0;
	while (rest) {
		uint64_t line = a->addr[__builtin_ctz(rest)] & mask;
		uint32_t same = 0;

		for (i = 0; i < WARP_LANES; i++)
			same |= (uint32_t)((a->addr[i] & mask) == line) << i;
		same &= rest;
		rest &= ~same;
		for (i = e->nlines++; i && e->lines[i - 1].addr < base + line; i--)
			e->lines[i] = e->lines[i - 1];
		e->lines[i] = (struct mem_line){ base + line, same, (uint8_t)sm->spec->l1c_line };
	}
}

static void fetch(struct sm *sm, uint64_t addr, uint64_t now)
{
	struct ldst *l = sm->ldst;
	uint32_t f = fetch_new(l, addr, (unsigned int)sm->spec->l1c_line / MEM_SECTOR);

	*miss_push(l, &l->l1c_queue, now) = (struct mem_request){
		.addr = addr, .tag = TAG_L1C | f, .sm = (uint16_t)sm->id,
		.kind = MEM_READ, .cls = MEM_CONST, .bytes = (uint8_t)sm->spec->l1c_line,
		.kernel = warp_slot(sm, sm_inst(sm, l->inst)->warp),
	};
}

void constant_settle(struct sm *sm, uint64_t upto)
{
	struct ldst *l = sm->ldst;

	if (l->fail_from >= upto)
		return;
	sm_count(sm, warp_slot(sm, sm_inst(sm, l->inst)->warp), l1c.fails, upto - l->fail_from);
	l->fail_from = upto;
}

void constant_step(struct sm *sm, uint64_t now)
{
	struct ldst *l = sm->ldst;
	struct sm_inst *inst = sm_inst(sm, l->inst);
	struct access_entry *e = entry_at(l, inst->entry);
	uint64_t addr = e->lines[l->sent].addr;
	enum cache_outcome outcome;

	outcome = cache_read(l->l1c, addr, l->inst, queue_has_room(&l->l1c_queue, 1), NULL);
	if (outcome >= CACHE_NO_MSHR) {
		/* A fill or a request that leaves goes before it. */
		if (l->fail_from == NEVER)
			l->fail_from = now;
		l->step = NEVER;
		return;
	}
	constant_settle(sm, now);
	l->fail_from = NEVER;
	sm_count(sm, warp_slot(sm, inst->warp), l1c.reads, 1);
	if (outcome == CACHE_HIT)
		inst->left--;
	else
		sm_count(sm, warp_slot(sm, inst->warp), l1c.read_misses, 1);
	if (outcome == CACHE_MISS)
		fetch(sm, addr, now);
	if (++l->sent == e->nlines)
		dispatch_leave(sm, now);
	else
		l->step = now + 1;
}

void constant_reply(struct sm *sm, uint32_t index, unsigned int sectors, uint64_t now)
{
	struct ldst *l = sm->ldst;
	struct fetch_line *f = &l->fetches[index];
	unsigned int n;

	f->left = (uint8_t)(f->left - sectors);
	if (f->left)
		return;
	n = cache_fill(l->l1c, f->addr, l->waiters);
	fetch_free(l, index);
	for (unsigned int i = 0; i < n; i++)
		ready_push(&l->l1c_ready, l->waiters[i]);
	if (l->step == NEVER)
		l->step = now;
}

void constant_send(struct sm *sm, uint64_t now)
{
	struct ldst *l = sm->ldst;

	if (miss_send(sm, &l->l1c_queue, now) && l->step == NEVER)
		l->step = now;
}
