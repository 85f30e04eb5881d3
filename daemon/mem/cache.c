// SPDX-License-Identifier: GPL-2.0
/*
 * One cache: tags, sectors, byte masks, MSHRs. The L1 caches of an SM and the
 * L2 slices are all this one. It knows neither queues nor time: the caller says
 * whether a fetch could be sent, sends it, and calls cache_fill() when it is back.
 *
 * The order of its checks is GPGPU-Sim's (tag_array::probe, data_cache): tags
 * first, then room to send, then MSHRs; nothing changes on a refusal.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mem/internal.h"

#define NO_TAG		UINT64_MAX	/* an invalid way */
#define NO_MSHR		UINT16_MAX
#define MAX_SECTORS	4u

/*
 * A sector is valid (readable) or pending (being fetched) or neither; dirty on its own.
 * written[]: bytes of the line written since the sector was allocated, 32 of them a word: a sector
 * that was written whole is readable without a fetch.
 */
struct line {
	uint64_t used;			/* LRU: tick of the last access */
	uint8_t valid, pending, dirty;	/* masks of sectors */
	uint8_t left;			/* of the pending: no fetch is under way (cache_read_pair()) */
};

/* The fields that choosing a way does not read: so a set takes few of the host's lines. */
struct rest {
	uint32_t written[MAX_SECTORS];
	uint16_t mshr[MAX_SECTORS];	/* of the other pending ones, allocate on miss */
	uint16_t pair[MAX_SECTORS / 2];	/* cache_read_pair(): MSHR of two sectors, + 1; 0: none */
};

struct mshr {
	uint64_t addr;			/* of the sector */
	uint32_t count;
	uint32_t way;			/* of its line, allocate on miss */
};

struct cache {
	struct cache_shape shape;
	unsigned int line_shift, sector_shift;
	uint32_t set_mask;		/* 0: sets is no power of two */
	uint8_t all_sectors;
	uint64_t tick;
	uint64_t *tags;			/* [sets][ways], line numbers */
	struct line *lines;
	struct rest *rests;		/* of each line */
	struct mshr *mshrs;
	uint32_t *waiters;		/* [mshrs][merges] */
	uint16_t *free;			/* MSHRs; the first `nfree` */
	uint16_t *busy;			/* allocate on fill: MSHRs in use, no order */
	uint32_t nfree, nbusy;
	uint32_t last;			/* MSHR that was taken last */
};

int cache_create(const struct cache_shape *shape, struct cache **cache)
{
	size_t lines = (size_t)shape->sets * shape->ways;
	struct cache *c;

	if (!lines || !shape->line || !shape->sector || shape->line & (shape->line - 1) ||
	    shape->sector & (shape->sector - 1) || shape->line % shape->sector ||
	    shape->line / shape->sector > MAX_SECTORS || shape->mshrs >= NO_MSHR ||
	    !shape->mshrs || !shape->merges)
		return -EINVAL;
	c = calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	c->shape = *shape;
	c->line_shift = (unsigned int)__builtin_ctz(shape->line);
	c->sector_shift = (unsigned int)__builtin_ctz(shape->sector);
	c->set_mask = shape->sets & (shape->sets - 1) ? 0 : shape->sets - 1;
	c->all_sectors = (uint8_t)((1u << (shape->line / shape->sector)) - 1);
	c->tags = malloc(lines * sizeof(*c->tags));
	c->lines = malloc(lines * sizeof(*c->lines));
	c->rests = malloc(lines * sizeof(*c->rests));
	c->mshrs = malloc(shape->mshrs * sizeof(*c->mshrs));
	c->waiters = malloc((size_t)shape->mshrs * shape->merges * sizeof(*c->waiters));
	c->free = malloc(shape->mshrs * sizeof(*c->free));
	c->busy = malloc(shape->mshrs * sizeof(*c->busy));
	if (!c->tags || !c->lines || !c->rests || !c->mshrs || !c->waiters || !c->free ||
	    !c->busy) {
		cache_destroy(c);
		return -ENOMEM;
	}
	cache_reset(c);
	*cache = c;
	return 0;
}

void cache_destroy(struct cache *c)
{
	if (!c)
		return;
	free(c->tags);
	free(c->lines);
	free(c->rests);
	free(c->mshrs);
	free(c->waiters);
	free(c->free);
	free(c->busy);
	free(c);
}

void cache_reset(struct cache *c)
{
	size_t lines = (size_t)c->shape.sets * c->shape.ways;

	memset(c->tags, 0xff, lines * sizeof(*c->tags));
	memset(c->lines, 0, lines * sizeof(*c->lines));
	memset(c->rests, 0, lines * sizeof(*c->rests));
	cache_cancel(c);
}

void cache_cancel(struct cache *c)
{
	size_t lines = (size_t)c->shape.sets * c->shape.ways;

	for (size_t i = 0; i < lines; i++) {
		c->lines[i].pending = c->lines[i].left = 0;
		memset(c->rests[i].pair, 0, sizeof(c->rests[i].pair));
		if (!(c->lines[i].valid | c->lines[i].dirty))
			c->tags[i] = NO_TAG;
	}
	/* The lowest MSHR is taken first. */
	for (uint32_t i = 0; i < c->shape.mshrs; i++)
		c->free[i] = (uint16_t)(c->shape.mshrs - 1 - i);
	c->nfree = c->shape.mshrs;
	c->nbusy = 0;
}

/*
 * Fermi's hash: bits 7-11 xor bits 13, 14, 15, 17, 19 of the address, for 32
 * sets (Nugteren et al., HPCA 2014); more sets prepend bit 12 and up, fewer take the low bits.
 */
static uint32_t fermi_hash(uint64_t line, uint32_t set_mask)
{
	uint32_t low = line & 0x1f;
	uint32_t high = ((line >> 6) & 7) | ((line >> 7) & 8) | ((line >> 8) & 16);

	return (uint32_t)((low ^ high) | ((line >> 5) << 5)) & set_mask;
}

static inline struct rest *rest_of(const struct cache *c, const struct line *l)
{
	return &c->rests[l - c->lines];
}

static size_t first_way(const struct cache *c, uint64_t line)
{
	uint32_t set;

	if (!c->set_mask && c->shape.sets > 1)
		set = (uint32_t)(line % c->shape.sets);
	else if (c->shape.index == CACHE_FERMI_HASH)
		set = fermi_hash(line, c->set_mask);
	else
		set = (uint32_t)line & c->set_mask;
	return (size_t)set * c->shape.ways;
}

/* Index of the line, or -1. */
static long find(const struct cache *c, uint64_t line, size_t first)
{
	const uint64_t *tags = c->tags + first;

	for (uint32_t w = 0; w < c->shape.ways; w++)
		if (tags[w] == line)
			return (long)(first + w);
	return -1;
}

/* The way to replace: the last invalid one, else the least recently used without a fetch; -1: none. */
static long choose(const struct cache *c, size_t first)
{
	uint64_t oldest = UINT64_MAX;
	long way = -1, invalid = -1;

	for (size_t i = first; i < first + c->shape.ways; i++) {
		if (c->tags[i] == NO_TAG) {
			invalid = (long)i;
		} else if (c->lines[i].pending == c->lines[i].left && c->lines[i].used < oldest) {
			oldest = c->lines[i].used;
			way = (long)i;
		}
	}
	return invalid >= 0 ? invalid : way;
}

/* Takes the way for `line`; what was dirty there goes to *victim. */
static struct line *replace(struct cache *c, size_t way, uint64_t line,
			    struct cache_victim *victim)
{
	struct line *l = &c->lines[way];

	if (victim && l->dirty && c->tags[way] != NO_TAG)
		*victim = (struct cache_victim){ .addr = c->tags[way] << c->line_shift,
						 .dirty = l->dirty };
	c->tags[way] = line;
	*l = (struct line){ .used = c->tick };
	*rest_of(c, l) = (struct rest){ 0 };
	return l;
}

static uint16_t mshr_take(struct cache *c, uint64_t addr, uint32_t waiter)
{
	uint16_t m = c->free[--c->nfree];

	c->last = m;
	c->mshrs[m] = (struct mshr){ .addr = addr, .count = 1 };
	c->waiters[(size_t)m * c->shape.merges] = waiter;
	return m;
}

static enum cache_outcome merge(struct cache *c, uint16_t m, uint32_t waiter)
{
	struct mshr *mshr = &c->mshrs[m];

	if (mshr->count == c->shape.merges)
		return CACHE_NO_MERGE;
	c->waiters[(size_t)m * c->shape.merges + mshr->count++] = waiter;
	return CACHE_PENDING;
}

static uint16_t busy_mshr(const struct cache *c, uint64_t addr)
{
	for (uint32_t i = 0; i < c->nbusy; i++)
		if (c->mshrs[c->busy[i]].addr == addr)
			return c->busy[i];
	return NO_MSHR;
}

/* Where the line is, the hint first; -1: nowhere. */
static inline long find_hint(const struct cache *c, uint64_t line, size_t *first, uint32_t hint)
{
	if (c->tags[hint] == line)
		return hint;
	*first = first_way(c, line);
	return find(c, line, *first);
}

/* Any read. Apart from the common one below, which needs few registers of the host. */
static __attribute__((noinline)) enum cache_outcome read_any(struct cache *c, uint64_t addr,
							     uint32_t waiter, bool can_send,
							     struct cache_victim *victim,
							     uint32_t *hint)
{
	uint64_t line = addr >> c->line_shift;
	uint64_t sector_addr = addr >> c->sector_shift << c->sector_shift;
	unsigned int s = (unsigned int)((addr & (c->shape.line - 1)) >> c->sector_shift);
	uint8_t bit = (uint8_t)(1u << s);
	size_t first = 0;
	long way = find_hint(c, line, &first, *hint);
	enum cache_outcome outcome = CACHE_MISS;
	struct line *l = NULL;
	uint16_t m;

	if (victim)
		victim->dirty = 0;
	if (way >= 0) {
		*hint = (uint32_t)way;
		l = &c->lines[way];
		if (l->valid & bit) {
			l->used = ++c->tick;
			return CACHE_HIT;
		}
		if (l->pending & ~l->left & bit) {
			if (!can_send)
				return CACHE_NO_QUEUE;
			outcome = merge(c, rest_of(c, l)->mshr[s], waiter);
			if (outcome == CACHE_PENDING)
				l->used = ++c->tick;
			return outcome;
		}
		outcome = CACHE_SECTOR_MISS;
	} else if (!c->shape.on_fill) {
		way = choose(c, first);
		if (way < 0)
			return CACHE_NO_LINE;
	}
	if (!can_send)
		return CACHE_NO_QUEUE;
	if (c->shape.on_fill) {
		m = busy_mshr(c, sector_addr);
		if (m != NO_MSHR)
			return merge(c, m, waiter);
	}
	if (!c->nfree)
		return CACHE_NO_MSHR;
	m = mshr_take(c, sector_addr, waiter);
	if (c->shape.on_fill) {
		c->busy[c->nbusy++] = m;
		return outcome;
	}
	c->tick++;
	if (!l)
		l = replace(c, (size_t)way, line, victim);
	l->used = c->tick;
	l->pending |= bit;
	l->left &= (uint8_t)~bit;
	rest_of(c, l)->mshr[s] = m;
	*hint = (uint32_t)way;
	c->mshrs[m].way = (uint32_t)way;
	return outcome;
}

enum cache_outcome cache_read_hint(struct cache *c, uint64_t addr, uint32_t waiter,
				   bool can_send, struct cache_victim *victim,
				   uint32_t *hint)
{
	struct line *l = &c->lines[*hint];
	unsigned int s = (unsigned int)((addr & (c->shape.line - 1)) >> c->sector_shift);

	/* Most reads hit where the last one did. */
	if (c->tags[*hint] != addr >> c->line_shift || !(l->valid >> s & 1))
		return read_any(c, addr, waiter, can_send, victim, hint);
	if (victim)
		victim->dirty = 0;
	l->used = ++c->tick;
	return CACHE_HIT;
}

enum cache_outcome cache_read(struct cache *c, uint64_t addr, uint32_t waiter, bool can_send,
			      struct cache_victim *victim)
{
	uint32_t hint = 0;

	return read_any(c, addr, waiter, can_send, victim, &hint);
}

enum cache_outcome cache_read_pair(struct cache *c, uint64_t addr, uint32_t waiter,
				   bool can_send, struct cache_victim *victim,
				   uint32_t *hint, bool *fetch)
{
	uint64_t line = addr >> c->line_shift;
	unsigned int s = (unsigned int)((addr & (c->shape.line - 1)) >> c->sector_shift);
	uint8_t bit = (uint8_t)(1u << s);
	size_t first = 0;
	long way = find_hint(c, line, &first, *hint);
	enum cache_outcome outcome = CACHE_MISS;
	struct line *l = NULL;
	uint16_t m;

	*fetch = false;
	victim->dirty = 0;
	if (way >= 0) {
		l = &c->lines[way];
		if (l->valid & bit) {
			l->used = ++c->tick;
			return CACHE_HIT;
		}
		outcome = l->pending & bit ? CACHE_PENDING : CACHE_SECTOR_MISS;
	} else {
		way = choose(c, first);
		if (way < 0)
			return CACHE_NO_LINE;
	}
	if (!can_send)
		return CACHE_NO_QUEUE;
	if (l && (rest_of(c, l)->pair[s / 2] || l->pending & ~l->left & bit)) {
		const struct rest *r = rest_of(c, l);

		m = r->pair[s / 2] ? (uint16_t)(r->pair[s / 2] - 1) : r->mshr[s];
		if (merge(c, m, waiter) == CACHE_NO_MERGE)
			return CACHE_NO_MERGE;
	} else {
		if (!c->nfree)
			return CACHE_NO_MSHR;
		m = mshr_take(c, addr >> c->sector_shift << c->sector_shift, waiter);
		c->mshrs[m].way = (uint32_t)way;
		*fetch = true;
	}
	c->tick++;
	if (!l)
		l = replace(c, (size_t)way, line, victim);
	l->used = c->tick;
	l->pending |= bit;
	l->left &= (uint8_t)~bit;
	rest_of(c, l)->mshr[s] = m;
	if (*fetch)
		rest_of(c, l)->pair[s / 2] = (uint16_t)(m + 1);
	*hint = (uint32_t)way;
	return outcome;
}

bool cache_pair_left(const struct cache *c, uint64_t addr)
{
	uint64_t line = addr >> c->line_shift;
	unsigned int s = (unsigned int)((addr & (c->shape.line - 1)) >> c->sector_shift);
	long way = find(c, line, first_way(c, line));

	return way >= 0 && c->lines[way].left & (1u << s);
}

enum cache_outcome cache_write_evict(struct cache *c, uint64_t addr)
{
	uint64_t line = addr >> c->line_shift;
	long way = find(c, line, first_way(c, line));
	struct line *l;

	if (way < 0)
		return CACHE_MISS;
	l = &c->lines[way];
	/* A line that is being fetched stays reserved. */
	if (l->pending)
		return CACHE_PENDING;
	c->tags[way] = NO_TAG;
	*l = (struct line){ 0 };
	*rest_of(c, l) = (struct rest){ 0 };
	return CACHE_HIT;
}

enum cache_outcome cache_write_if_there(struct cache *c, uint64_t addr)
{
	uint64_t line = addr >> c->line_shift;
	unsigned int s = (unsigned int)((addr & (c->shape.line - 1)) >> c->sector_shift);
	long way = find(c, line, first_way(c, line));
	struct line *l;

	if (way < 0)
		return CACHE_MISS;
	l = &c->lines[way];
	if (!(l->valid & (1u << s)))
		return l->pending & (1u << s) ? CACHE_PENDING : CACHE_MISS;
	l->used = ++c->tick;
	l->dirty |= (uint8_t)(1u << s);
	return CACHE_HIT;
}

enum cache_outcome cache_write_back(struct cache *c, uint64_t addr, uint32_t byte_mask,
				    bool can_send, struct cache_victim *victim)
{
	uint32_t hint = 0;

	return cache_write_back_hint(c, addr, &byte_mask, 1, can_send, victim, &hint);
}

/* Notes that the bytes from `at` of the line on are written. Is all of the sector now? */
static inline bool write_words(struct cache *c, struct rest *r, uint32_t at, unsigned int s,
			       const uint32_t *byte_mask, unsigned int words)
{
	uint32_t all = UINT32_MAX;

	for (unsigned int i = 0; i < words; i++)
		r->written[at / MEM_SECTOR + i] |= byte_mask[i];
	for (uint32_t b = s << c->sector_shift; b < (s + 1) << c->sector_shift; b += MEM_SECTOR)
		all &= r->written[b / MEM_SECTOR];
	return all == UINT32_MAX;
}

enum cache_outcome cache_write_back_hint(struct cache *c, uint64_t addr,
					 const uint32_t *byte_mask, unsigned int words,
					 bool can_send, struct cache_victim *victim,
					 uint32_t *hint)
{
	uint64_t line = addr >> c->line_shift;
	unsigned int s = (unsigned int)((addr & (c->shape.line - 1)) >> c->sector_shift);
	uint8_t bit = (uint8_t)(1u << s);
	size_t first = 0;
	long way = find_hint(c, line, &first, *hint);
	enum cache_outcome outcome = CACHE_MISS;
	struct line *l = NULL;

	if (victim)
		victim->dirty = 0;
	if (way >= 0) {
		l = &c->lines[way];
		if (l->pending & bit)
			outcome = CACHE_PENDING;
		else if ((l->valid | l->dirty) & bit)
			outcome = CACHE_HIT;
		else
			outcome = CACHE_SECTOR_MISS;
	} else {
		way = choose(c, first);
		if (way < 0)
			return CACHE_NO_LINE;
	}
	if (outcome != CACHE_HIT && !can_send)
		return CACHE_NO_QUEUE;
	c->tick++;
	if (!l)
		l = replace(c, (size_t)way, line, victim);
	*hint = (uint32_t)way;
	l->used = c->tick;
	l->dirty |= bit;
	/* Whole: nothing to fetch, and what is being fetched already is not waited for. */
	if (write_words(c, rest_of(c, l), (uint32_t)(addr & (c->shape.line - 1)), s, byte_mask,
			words))
		l->valid |= bit;
	return outcome;
}

/* The way that a fill goes to when lines are allocated on fill. */
static struct line *fill_line(struct cache *c, uint64_t line)
{
	size_t first = first_way(c, line);
	long way = find(c, line, first);

	if (way >= 0)
		return &c->lines[way];
	c->tick++;
	return replace(c, (size_t)choose(c, first), line, NULL);
}

unsigned int cache_fill(struct cache *c, uint64_t addr, uint32_t *waiters)
{
	uint64_t line = addr >> c->line_shift;
	uint64_t sector_addr = addr >> c->sector_shift << c->sector_shift;
	unsigned int s = (unsigned int)((addr & (c->shape.line - 1)) >> c->sector_shift);
	uint8_t bit = (uint8_t)(1u << s);
	struct line *l;
	unsigned int count;
	uint16_t m;

	if (c->shape.on_fill) {
		uint32_t i = 0;

		while (i < c->nbusy && c->mshrs[c->busy[i]].addr != sector_addr)
			i++;
		if (i == c->nbusy)
			return 0;
		m = c->busy[i];
		c->busy[i] = c->busy[--c->nbusy];
		l = fill_line(c, line);
	} else {
		long way = find(c, line, first_way(c, line));

		/* After cache_reset() nobody waits for it. */
		if (way < 0 || !(c->lines[way].pending & bit))
			return 0;
		l = &c->lines[way];
		m = rest_of(c, l)->mshr[s];
		l->pending &= (uint8_t)~bit;
	}
	l->valid |= bit;
	count = c->mshrs[m].count;
	memcpy(waiters, c->waiters + (size_t)m * c->shape.merges, count * sizeof(*waiters));
	c->free[c->nfree++] = m;
	return count;
}

uint32_t cache_last_fetch(const struct cache *c)
{
	return c->last;
}

const uint32_t *cache_fill_fetch(struct cache *c, uint32_t fetch, uint64_t *addr,
				 unsigned int *count)
{
	struct mshr *m = &c->mshrs[fetch];
	struct line *l = &c->lines[m->way];
	unsigned int s = (unsigned int)((m->addr & (c->shape.line - 1)) >> c->sector_shift);

	l->pending &= (uint8_t)~(1u << s);
	l->left &= (uint8_t)~(1u << s);
	l->valid |= (uint8_t)(1u << s);
	if (rest_of(c, l)->pair[s / 2] == fetch + 1) {
		rest_of(c, l)->pair[s / 2] = 0;
		if (l->pending & 1u << (s ^ 1) && rest_of(c, l)->mshr[s ^ 1] == fetch)
			l->left |= (uint8_t)(1u << (s ^ 1));
	}
	*addr = m->addr;
	*count = m->count;
	c->free[c->nfree++] = (uint16_t)fetch;
	return c->waiters + (size_t)fetch * c->shape.merges;
}

void cache_install(struct cache *c, uint64_t addr)
{
	uint64_t line = addr >> c->line_shift;
	unsigned int s = (unsigned int)((addr & (c->shape.line - 1)) >> c->sector_shift);
	size_t first = first_way(c, line);
	long way = find(c, line, first);
	struct line *l;

	if (way >= 0) {
		l = &c->lines[way];
		if ((l->valid | l->pending) & (1u << s))
			return;
		l->used = ++c->tick;
	} else {
		way = choose(c, first);
		if (way < 0)
			return;
		c->tick++;
		l = replace(c, (size_t)way, line, NULL);
	}
	l->valid |= (uint8_t)(1u << s);
}

static void forget(struct cache *c, size_t way)
{
	struct line *l = &c->lines[way];

	if (l->pending & ~l->left) {
		l->valid = 0;
		l->dirty = 0;
		memset(rest_of(c, l)->written, 0, sizeof(rest_of(c, l)->written));
		return;
	}
	c->tags[way] = NO_TAG;
	*l = (struct line){ 0 };
	*rest_of(c, l) = (struct rest){ 0 };
}

void cache_clear(struct cache *c)
{
	size_t lines = (size_t)c->shape.sets * c->shape.ways;

	for (size_t i = 0; i < lines; i++)
		if (c->tags[i] != NO_TAG)
			forget(c, i);
}

void cache_drop(struct cache *c, uint64_t start, uint64_t end)
{
	size_t lines = (size_t)c->shape.sets * c->shape.ways;
	uint64_t first = start >> c->line_shift, last;

	if (start >= end)
		return;
	last = (end - 1) >> c->line_shift;
	/* Few lines are looked up, many are cheaper to go through. */
	if ((last - first + 1) * c->shape.ways < lines) {
		for (uint64_t line = first; line <= last; line++) {
			long way = find(c, line, first_way(c, line));

			if (way >= 0)
				forget(c, (size_t)way);
		}
		return;
	}
	for (size_t i = 0; i < lines; i++)
		if (c->tags[i] != NO_TAG && c->tags[i] >= first && c->tags[i] <= last)
			forget(c, i);
}

void cache_drop_if(struct cache *c, bool (*drop)(void *ctx, uint64_t addr), void *ctx)
{
	size_t lines = (size_t)c->shape.sets * c->shape.ways;

	for (size_t i = 0; i < lines; i++)
		if (c->tags[i] != NO_TAG && drop(ctx, c->tags[i] << c->line_shift))
			forget(c, i);
}

unsigned int cache_mshrs_free(const struct cache *c)
{
	return c->nfree;
}

bool cache_idle(const struct cache *c)
{
	return c->nfree == c->shape.mshrs;
}
