// SPDX-License-Identifier: GPL-2.0
/*
 * Fetch and decode (GPGPU-Sim, shader_core_ctx::fetch and ::decode). One warp a cycle:
 * loose round robin over those with an empty i-buffer. Its two next
 * instructions come from L1I; the cycle after, they are decoded into its
 * i-buffer, and the cycle after that the first can issue. What is fetched is what
 * follows the instruction that issued last, taken branch or not: issue notices and
 * flushes. The search also gives back warps that have finished.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sm/scoreboard.h"

/* A line on its way. */
struct line_fetch {
	uint64_t addr;
	uint8_t sectors;		/* not here yet */
	uint8_t kernel;			/* slot of the first that asked */
	bool used;
	bool ahead;			/* no warp waited for it when it was asked for */
};

/* The waiter of a line that is fetched ahead. */
#define NO_WAITER	((uint32_t)MAX_WARPS)

struct line_fetches {
	struct line_fetch *lines;	/* as many as L1I has MSHRs */
	uint32_t nlines;
	uint32_t *queue;		/* ring of requests to send: indices of lines */
	uint32_t queue_size, queue_head, queue_count;
	uint32_t *waiters;		/* scratch of a fill */
	uint8_t back[MAX_WARPS];	/* ring of warps whose line is here */
	uint8_t back_head;
	uint16_t back_count;
};

int fetch_init(struct sm *sm)
{
	const struct gpu_spec *s = sm->spec;
	const struct cache_shape shape = {
		.sets = (uint32_t)s->l1i_sets, .ways = (uint32_t)s->l1i_ways,
		.line = (uint32_t)s->l1i_line, .sector = (uint32_t)s->l1i_line,
		.mshrs = (uint32_t)s->l1i_mshrs, .merges = (uint32_t)s->l1i_merges,
		.index = CACHE_LINEAR,
	};
	struct line_fetches *f = calloc(1, sizeof(*f));

	if (!f)
		return -ENOMEM;
	sm->fetch.lines = f;
	sm->fetch.fetched = NO_INDEX;
	f->nlines = shape.mshrs;
	f->queue_size = (uint32_t)s->l1i_miss_queue;
	f->lines = calloc(f->nlines, sizeof(*f->lines));
	f->queue = calloc(f->queue_size, sizeof(*f->queue));
	f->waiters = calloc(shape.merges, sizeof(*f->waiters));
	if (!f->lines || !f->queue || !f->waiters)
		return -ENOMEM;
	return cache_create(&shape, &sm->fetch.l1i);
}

void fetch_fini(struct sm *sm)
{
	cache_destroy(sm->fetch.l1i);
	if (!sm->fetch.lines)
		return;
	free(sm->fetch.lines->lines);
	free(sm->fetch.lines->queue);
	free(sm->fetch.lines->waiters);
	free(sm->fetch.lines);
}

void fetch_cancel(struct sm *sm)
{
	struct fetch *f = &sm->fetch;
	struct line_fetches *l = f->lines;

	memset(l->lines, 0, l->nlines * sizeof(*l->lines));
	l->queue_count = l->back_count = 0;
	f->empty = f->missed = f->stale = f->refused = f->finished = NO_WARPS;
	f->fetched = NO_INDEX;
	cache_reset(f->l1i);
}

/* Lines ahead may be on their way when the last warp has gone. No other line may. */
bool fetch_idle(const struct sm *sm)
{
	const struct line_fetches *f = sm->fetch.lines;

	for (uint32_t i = 0; i < f->nlines; i++)
		if (f->lines[i].used && !f->lines[i].ahead)
			return false;
	return sm->fetch.fetched == NO_INDEX && !f->queue_count && !f->back_count &&
	       !set_any(sm->fetch.missed);
}

/* Sectors of a line: with the last one its warps go on, one a cycle. */
void fetch_reply(struct sm *sm, const struct mem_reply *reply)
{
	struct line_fetches *f = sm->fetch.lines;
	struct line_fetch *line = &f->lines[reply->tag];
	unsigned int n;

	line->sectors = (uint8_t)(line->sectors - reply->sectors);
	if (line->sectors)
		return;
	line->used = false;
	n = cache_fill(sm->fetch.l1i, line->addr, f->waiters);
	for (unsigned int i = 0; i < n; i++)
		if (f->waiters[i] != NO_WAITER)
			f->back[(f->back_head + f->back_count++) % MAX_WARPS] =
				(uint8_t)f->waiters[i];
	sm->fetch.refused = NO_WARPS;
}

void fetch_decode(struct sm *sm, uint64_t now)
{
	unsigned int w = sm->fetch.fetched;
	struct sm_warp *warp = &sm->warps.at[w];
	uint32_t n = (uint32_t)sm->spec->fetch_width;

	sm->fetch.fetched = NO_INDEX;
	warp->ib_pc = warp->next_pc;
	/* Behind the end there is one, that only a wrong path comes to. */
	if (warp->ib_pc < warp->kernel->decodable)
		n = MIN(n, warp->kernel->decodable - warp->ib_pc);
	else
		n = 1;
	warp->ib_count = (uint8_t)n;
	set_add(&sm->heads.valid, w);
	warp_check(sm, w);
}

/* Finished warps between the last one fetched and w, where the search passes. */
static void retire_up_to(struct sm *sm, unsigned int last, unsigned int w, uint64_t now)
{
	warpset behind = set_behind(last), before = set_before(w);
	unsigned int passed;

	for_each_warp(passed, sm->fetch.finished & (w > last ? behind & before : behind | before))
		cta_warp_retire(sm, passed, now);
}

static void retire_all(struct sm *sm, uint64_t now)
{
	unsigned int w;

	for_each_warp(w, sm->fetch.finished)
		cta_warp_retire(sm, w, now);
}

static void request(struct line_fetches *f, uint64_t addr, uint32_t sectors, uint8_t kernel,
		    bool ahead)
{
	uint32_t i = 0;

	while (f->lines[i].used)
		i++;
	f->lines[i] = (struct line_fetch){ addr, (uint8_t)sectors, kernel, true, ahead };
	f->queue[(f->queue_head + f->queue_count++) % f->queue_size] = i;
}

/* Asks for a line that follows, if it is the kernel's, not there and there is room. */
static void fetch_ahead(struct sm *sm, const struct sm_warp *warp, uint64_t line)
{
	struct line_fetches *f = sm->fetch.lines;
	uint64_t end = warp->kernel->code + (uint64_t)warp->kernel->decodable * CODE_BYTES;
	enum cache_outcome outcome;
	struct cache_victim victim;
	uint32_t hint = 0;

	if (line >= end || f->queue_count == f->queue_size || !cache_mshrs_free(sm->fetch.l1i))
		return;
	outcome = cache_read_hint(sm->fetch.l1i, line, NO_WAITER, true, &victim, &hint);
	if (outcome == CACHE_MISS || outcome == CACHE_SECTOR_MISS)
		request(f, line, (uint32_t)sm->spec->l1i_line / MEM_SECTOR,
			(uint8_t)warp->kernel->slot, true);
}

/* With the first instructions of a line, the last line ahead is due; behind a miss, all are. */
static void fetch_more(struct sm *sm, const struct sm_warp *warp, uint64_t addr, bool missed)
{
	uint32_t bytes = (uint32_t)sm->spec->l1i_line, n = (uint32_t)sm->spec->l1i_prefetch;
	uint64_t line = addr & ~(uint64_t)(bytes - 1);

	if (!missed && addr - line < (uint64_t)CODE_BYTES * sm->spec->fetch_width)
		fetch_ahead(sm, warp, line + (uint64_t)n * bytes);
	for (uint32_t i = 1; missed && i <= n; i++)
		fetch_ahead(sm, warp, line + (uint64_t)i * bytes);
}

static void fetch_access(struct sm *sm, unsigned int w)
{
	struct line_fetches *f = sm->fetch.lines;
	struct sm_warp *warp = &sm->warps.at[w];
	uint32_t bytes = (uint32_t)sm->spec->l1i_line;
	uint64_t addr = warp->kernel->code + (uint64_t)warp->next_pc * CODE_BYTES;
	uint64_t line = addr & ~(uint64_t)(bytes - 1);
	struct cache_victim victim;

	switch (cache_read_hint(sm->fetch.l1i, line, w, f->queue_count < f->queue_size, &victim,
				&warp->line)) {
	case CACHE_HIT:
		sm_count(sm, warp->kernel->slot, l1i.reads, 1);
		sm->fetch.fetched = w;
		set_drop(&sm->fetch.empty, w);
		if (__builtin_expect(sm->spec->l1i_prefetch != 0, 0))
			fetch_more(sm, warp, addr, false);
		break;
	case CACHE_MISS:
	case CACHE_SECTOR_MISS:
		request(f, line, bytes / MEM_SECTOR, (uint8_t)warp->kernel->slot, false);
		sm_count(sm, warp->kernel->slot, l1i.read_misses, 1);
		sm_count(sm, warp->kernel->slot, l1i.reads, 1);
		set_add(&sm->fetch.missed, w);
		set_drop(&sm->fetch.empty, w);
		if (__builtin_expect(sm->spec->l1i_prefetch != 0, 0))
			fetch_more(sm, warp, addr, true);
		break;
	case CACHE_PENDING:
		/* GPGPU-Sim's read-only caches call it a miss. */
		sm_count(sm, warp->kernel->slot, l1i.read_misses, 1);
		sm_count(sm, warp->kernel->slot, l1i.reads, 1);
		set_add(&sm->fetch.missed, w);
		set_drop(&sm->fetch.empty, w);
		break;
	default:
		sm_count(sm, warp->kernel->slot, l1i.fails, 1);
		set_add(&sm->fetch.refused, w);
	}
}

static void send(struct sm *sm, uint64_t now)
{
	struct line_fetches *f = sm->fetch.lines;
	const struct line_fetch *line = &f->lines[f->queue[f->queue_head]];
	struct mem_request r = {
		.addr = line->addr, .tag = f->queue[f->queue_head],
		.sm = (uint16_t)sm->id, .kind = MEM_READ, .cls = MEM_INST,
		.bytes = (uint8_t)sm->spec->l1i_line, .kernel = line->kernel,
	};

	if (!mem_ready(sm->env.mem, sm->id, &r, now))
		return;
	mem_send(sm->env.mem, &r, now);
	f->queue_head = (f->queue_head + 1) % f->queue_size;
	f->queue_count--;
	sm->fetch.refused = NO_WARPS;
}

/* Drops a line of a warp whose CTA was parked or halted; a warp that is back fetches anew. */
static void drop(struct sm *sm, unsigned int w)
{
	set_drop(&sm->fetch.stale, w);
	if (!set_has(sm->heads.live, w))
		warp_check_finished(sm, w);
	else if (!set_has(sm->heads.inactive, w))
		set_add(&sm->fetch.empty, w);
}

void fetch_cycle(struct sm *sm, uint64_t now)
{
	struct line_fetches *f = sm->fetch.lines;

	if (!(f->back_count | f->queue_count) && !set_any(sm->fetch.empty | sm->fetch.finished))
		return;
	if (f->back_count) {
		unsigned int w = f->back[f->back_head];

		f->back_head = (uint8_t)((f->back_head + 1) % MAX_WARPS);
		f->back_count--;
		set_drop(&sm->fetch.missed, w);
		if (set_has(sm->fetch.stale, w))
			drop(sm, w);
		else
			sm->fetch.fetched = w;
	} else if (set_any(sm->fetch.empty)) {
		unsigned int w = set_after(sm->fetch.empty, sm->fetch.last_fetched);

		if (set_any(sm->fetch.finished))
			retire_up_to(sm, sm->fetch.last_fetched, w, now);
		sm->fetch.last_fetched = w;
		fetch_access(sm, w);
	} else if (set_any(sm->fetch.finished)) {
		retire_all(sm, now);
	}
	if (f->queue_count)
		send(sm, now);
}

bool fetch_busy(const struct sm *sm)
{
	const struct fetch *f = &sm->fetch;

	return f->fetched != NO_INDEX || set_any((f->empty & ~f->refused) | f->finished) ||
	       f->lines->back_count || f->lines->queue_count;
}
