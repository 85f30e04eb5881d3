// SPDX-License-Identifier: GPL-2.0
/*
 * L1T: texels, in GPGPU-Sim's tex_cache, a decoupled texture cache (Igehy, Eldridge and Proudfoot,
 * "Prefetching in a Texture Cache Architecture", Graphics Hardware 1998). A line out of the
 * dispatch register asks the tags. A miss has its line there at once, as far as tags go, and
 * sends a request; hit or miss, the access enters the fragment FIFO, whose length hides
 * the latency. Its head goes on to the results when it hit, or when the request at
 * the head of the reorder buffer is answered. So accesses end in their order, and a hit behind a
 * miss waits for it.
 *
 * A lane's address is that of its first texel, as in GPGPU-Sim; a filter's other texels are not
 * counted, but their pages have to be there. Called by ldst.c and access.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sm/ldst_internal.h"

int l1t_create(struct sm *sm)
{
	const struct gpu_spec *s = sm->spec;
	struct texture_unit *t = &sm->ldst->texture;
	const struct cache_shape shape = {
		.sets = (uint32_t)s->l1t_sets, .ways = (uint32_t)s->l1t_ways,
		.line = MEM_LINE, .sector = MEM_LINE, .mshrs = 1, .merges = 1,
		.index = CACHE_LINEAR,
	};

	t->fifo_size = (uint32_t)s->l1t_fragments;
	t->rob_size = (uint32_t)s->l1t_rob;
	t->results = (uint32_t)s->l1t_results;
	t->queue.size = (uint32_t)s->l1t_requests;
	t->fifo = calloc(t->fifo_size, sizeof(*t->fifo));
	t->rob = calloc(t->rob_size, sizeof(*t->rob));
	t->queue.at = calloc(t->queue.size, sizeof(*t->queue.at));
	t->fail_from = NEVER;
	return t->fifo && t->rob && t->queue.at && !ready_create(&t->ready, t->results) ?
		cache_create(&shape, &t->tags) : -ENOMEM;
}

void l1t_destroy(struct ldst *l)
{
	cache_destroy(l->texture.tags);
	free(l->texture.fifo);
	free(l->texture.rob);
	free(l->texture.queue.at);
	free(l->texture.ready.at);
}

void l1t_cancel(struct ldst *l)
{
	struct texture_unit *t = &l->texture;

	cache_reset(t->tags);
	t->fifo_head = t->fifo_count = 0;
	t->rob_head = t->rob_count = 0;
	t->queue.head = t->queue.count = 0;
	t->ready.head = t->ready.tail = 0;
	t->fail_from = NEVER;
}

bool l1t_idle(const struct ldst *l)
{
	const struct texture_unit *t = &l->texture;

	return !t->fifo_count && !t->rob_count && !t->queue.count && ready_empty(&t->ready);
}

/* --- at issue ----------------------------------------------------------------------------- */

/* The lines of the lanes' first texels, the highest first, as GPGPU-Sim takes them. */
static void texture_lines(struct access_entry *e)
{
	const struct exec_access *a = &e->access;
	unsigned int n = 0, i;

	for (uint32_t rest = a->touched; rest; rest &= rest - 1) {
		uint64_t line = a->addr[__builtin_ctz(rest)] & ~(uint64_t)(MEM_LINE - 1);

		for (i = n; i && e->texels[i - 1] < line; i--)
			;
		if (i && e->texels[i - 1] == line)
			continue;
		memmove(&e->texels[i + 1], &e->texels[i], (n - i) * sizeof(e->texels[0]));
		e->texels[i] = line;
		n++;
	}
	e->ntexels = (uint8_t)n;
}

unsigned int l1t_issue(struct access_entry *e)
{
	uint64_t pages[EXEC_CORNERS * WARP_LANES];
	uint32_t lanes[EXEC_CORNERS * WARP_LANES];
	unsigned int n = exec_texel_pages(&e->access, pages, lanes);

	_Static_assert(EXEC_CORNERS * WARP_LANES <= MAX_LINES, "a line a page");
	for (unsigned int i = 0; i < n; i++)
		e->lines[i] = (struct mem_line){ .addr = pages[i], .lanes = lanes[i] };
	e->nlines = (uint16_t)n;
	texture_lines(e);
	return e->ntexels;
}

/* --- the dispatch register -------------------------------------------------------------------- */

/* Is the line's page in system memory? */
static bool is_remote(const struct access_entry *e, uint64_t line)
{
	for (unsigned int i = 0; e->any_remote && i < e->nlines; i++) {
		if (e->lines[i].addr == (line & ~(PAGE_BYTES - 1)))
			return line_remote(e, i);
	}
	return false;
}

bool l1t_enter(struct sm *sm, const struct access_entry *e, unsigned int i, uint64_t now)
{
	struct texture_unit *t = &sm->ldst->texture;
	unsigned int kernel = warp_slot(sm, e->warp), nobody;
	uint64_t addr = mem_device(e->texels[i]);
	bool remote = is_remote(e, e->texels[i]), miss;
	uint32_t rob;

	if (t->fifo_count == t->fifo_size || t->rob_count == t->rob_size ||
	    !queue_has_room(&t->queue, 1))
		return false;
	miss = cache_read(t->tags, addr, 0, true, NULL) == CACHE_MISS;
	sm_count(sm, kernel, l1t.reads, 1);
	t->fifo[ring_at(t->fifo_head, t->fifo_count++, t->fifo_size)] =
		(struct fragment){ e->inst, miss };
	if (miss) {
		cache_fill(t->tags, addr, &nobody);
		sm_count(sm, kernel, l1t.read_misses, 1);
		warp_missing(sm, e->warp, 1);
		rob = ring_at(t->rob_head, t->rob_count++, t->rob_size);
		t->rob[rob] = remote ? 1 : MEM_LINE / MEM_SECTOR;
		*miss_push(sm->ldst, &t->queue, now) = (struct mem_request){
			.addr = addr, .tag = TAG_TEXTURE | rob, .sm = (uint16_t)sm->id,
			.kind = MEM_READ, .cls = MEM_GLOBAL, .bytes = MEM_LINE,
			.kernel = (uint8_t)kernel, .remote = remote,
		};
	}
	return true;
}

void l1t_settle(struct sm *sm, uint64_t upto)
{
	struct ldst *l = sm->ldst;

	if (l->texture.fail_from >= upto)
		return;
	sm_count(sm, warp_slot(sm, sm_inst(sm, l->inst)->warp), l1t.fails,
		 upto - l->texture.fail_from);
	l->texture.fail_from = upto;
}

void l1t_step(struct sm *sm, uint64_t now)
{
	struct ldst *l = sm->ldst;
	struct access_entry *e = entry_at(l, sm_inst(sm, l->inst)->entry);

	if (!access_pages(sm, e, now))
		return;
	/* All pages are asked for. With the last that comes late the lines go: access_late(). */
	if (e->waiting) {
		dispatch_leave(sm, now);
		return;
	}
	if (now < l->entrance) {
		l->step = l->entrance;
		return;
	}
	if (!l1t_enter(sm, e, l->sent, now)) {
		if (l->texture.fail_from == NEVER)
			l->texture.fail_from = now;
		l->step = NEVER;
		return;
	}
	l1t_settle(sm, now);
	l->texture.fail_from = NEVER;
	if (++l->sent == e->ntexels)
		dispatch_leave(sm, now);
	else
		l->step = now + 1;
}

/* --- the cycle --------------------------------------------------------------------------------- */

void l1t_reply(struct sm *sm, uint32_t tag, unsigned int sectors)
{
	struct texture_unit *t = &sm->ldst->texture;

	tag &= ~TAG_TEXTURE;
	t->rob[tag] = (uint8_t)(t->rob[tag] - sectors);
}

static bool head_is_there(const struct texture_unit *t)
{
	return t->fifo_count && (!t->fifo[t->fifo_head].miss || !t->rob[t->rob_head]) &&
	       t->ready.tail - t->ready.head < t->results;
}

/* The dispatch register may wait for a place. */
static void has_room(struct ldst *l, uint64_t now)
{
	if (l->step == NEVER && l->inst != NO_INDEX)
		l->step = now;
}

void l1t_send(struct sm *sm, uint64_t now)
{
	if (miss_send(sm, &sm->ldst->texture.queue, now))
		has_room(sm->ldst, now);
}

void l1t_cycle(struct sm *sm, uint64_t now)
{
	struct texture_unit *t = &sm->ldst->texture;
	const struct fragment *f = &t->fifo[t->fifo_head];

	if (!head_is_there(t))
		return;
	if (f->miss) {
		t->rob_head = ring_at(t->rob_head, 1, t->rob_size);
		t->rob_count--;
		warp_missing(sm, sm_inst(sm, f->inst)->warp, -1);
	}
	ready_push(&t->ready, f->inst);
	t->fifo_head = ring_at(t->fifo_head, 1, t->fifo_size);
	t->fifo_count--;
	has_room(sm->ldst, now);
}

bool l1t_busy(const struct ldst *l)
{
	return !ready_empty(&l->texture.ready) || head_is_there(&l->texture);
}
