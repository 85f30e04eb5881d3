// SPDX-License-Identifier: GPL-2.0
/*
 * One L2 slice: requests wait out the ROP delay as sectors (of l2.sector), one a cycle reaches
 * the tags; misses go to DRAM through the miss queue, fetches that are back free
 * their waiters one a cycle. The order within a cycle and what blocks what is
 * GPGPU-Sim's memory_sub_partition::cache_cycle. Called by mem.c for each cycle in
 * which it has something to do (s->wake).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "mem/internal.h"

#define RING_NEW(s, field, n) \
	((s)->field##_mask = ring_size(n) - 1, \
	 ((s)->field = calloc((s)->field##_mask + 1, sizeof(*(s)->field))) != NULL)

/*
 * A reply of several sectors is one packet, and the acknowledgement of a write has no data, as in
 * GPGPU-Sim. With sectors of 32 bytes each sector is answered by a packet of its own.
 */
static void reply_sizes(struct slice *s, const struct gpu_spec *spec)
{
	for (unsigned int n = 1; n <= MEM_SECTORS; n++)
		s->data_flits[n] = (uint8_t)DIV_ROUND_UP(spec->icnt_header + n * MEM_SECTOR,
							 spec->icnt_flit);
	s->ack_flits = (uint8_t)DIV_ROUND_UP(spec->icnt_header, spec->icnt_flit);
}

int slice_create(struct slice *s, const struct gpu_spec *spec, const struct addr_map *map,
		 unsigned int local)
{
	struct cache_shape shape = {
		.sets = (uint32_t)spec->l2_sets, .ways = (uint32_t)spec->l2_ways,
		.line = MEM_LINE, .sector = (uint32_t)spec->l2_sector,
		.mshrs = (uint32_t)spec->l2_mshrs, .merges = (uint32_t)spec->l2_merges,
		.index = strcmp(spec->l2_index, "fermi") ? CACHE_LINEAR : CACHE_FERMI_HASH,
	};
	int err;

	memset(s, 0, sizeof(*s));
	s->map = map;
	s->local = (uint8_t)local;
	s->write_fetches = !strcmp(spec->l2_write_miss, "fetch");
	s->rop_latency = (uint32_t)spec->l2_rop_latency;
	s->queue_in = (uint32_t)spec->l2_queue_in;
	s->queue_dram = (uint32_t)spec->l2_queue_dram;
	s->unit = (uint32_t)spec->l2_sector / MEM_SECTOR;
	reply_sizes(s, spec);
	/* Behind the slice's own queue: the injection queue and the crossbar's input buffer. */
	s->queue_reply = (uint32_t)spec->l2_queue_out +
		(uint32_t)(spec->icnt_injection + spec->icnt_buffer) / s->data_flits[s->unit];
	s->miss_queue = (uint32_t)spec->l2_miss_queue;
	s->port_bytes = (uint32_t)spec->l2_port;
	s->merges = (uint32_t)spec->l2_merges;
	err = cache_create(&shape, &s->cache);
	if (err)
		return err;
	s->naccesses = 256;
	s->accesses = calloc(s->naccesses, sizeof(*s->accesses));
	if (!s->accesses || !RING_NEW(s, in, spec->icnt_buffer + spec->icnt_boundary) ||
	    !RING_NEW(s, rop, 64) || !RING_NEW(s, miss, s->queue_dram + s->miss_queue + 4) ||
	    !RING_NEW(s, reply, s->queue_reply + 2 + (uint32_t)spec->l2_mshrs * s->merges))
		return -ENOMEM;
	slice_cancel(s);
	return 0;
}

void slice_destroy(struct slice *s)
{
	cache_destroy(s->cache);
	free(s->accesses);
	free(s->in);
	free(s->rop);
	free(s->miss);
	free(s->reply);
}

void slice_cancel(struct slice *s)
{
	cache_cancel(s->cache);
	for (uint32_t i = 0; i < s->naccesses; i++)
		s->accesses[i].next = i + 1 < s->naccesses ? i + 1 : NONE;
	s->free = 0;
	s->live = 0;
	s->wake = NEVER;
	s->in_head = s->in_tail;
	s->acc_head = s->rop_head = s->rop_tail;
	s->acc_sector = 0;
	s->left_rop = s->accessed = 0;
	s->rop_free = s->acc_free = 0;
	s->waits = SLICE_RUNS;
	s->miss_head = s->miss_tail;
	s->reply_head = s->reply_tail;
	s->drain_until = 0;
}

bool slice_idle(const struct slice *s)
{
	return !s->live;
}

static bool grow_accesses(struct slice *s)
{
	uint32_t first = s->naccesses;

	if (array_grow(s->accesses, s->naccesses, first))
		return false;
	for (uint32_t i = first; i < s->naccesses; i++)
		s->accesses[i].next = i + 1 < s->naccesses ? i + 1 : s->free;
	s->free = first;
	return true;
}

static bool grow_rop(struct slice *s)
{
	uint32_t old = s->rop_mask + 1, size = old * 2;
	struct timed *rop = malloc(size * sizeof(*rop));

	if (!rop)
		return false;
	/* Indices are free-running: each entry keeps its index. */
	for (uint32_t i = s->rop_tail - old; i != s->rop_tail; i++)
		rop[i & (size - 1)] = s->rop[i & s->rop_mask];
	free(s->rop);
	s->rop = rop;
	s->rop_mask = size - 1;
	return true;
}

bool slice_prepare(struct slice *s)
{
	uint32_t most = s->live + s->in_mask + 1;

	while (s->naccesses < most)
		if (!grow_accesses(s))
			return false;
	while (s->rop_mask + 1 < most)
		if (!grow_rop(s))
			return false;
	return true;
}

void slice_accept(struct slice *s, const struct packet *p, unsigned int sm, uint64_t part,
		  uint64_t at)
{
	uint32_t index = s->free;
	struct access *a = &s->accesses[index];

	s->free = a->next;
	s->live++;
	*a = (struct access){
		.part = part, .sent = p->sent, .tag = p->tag, .sm = (uint8_t)sm,
		.kind = p->kind, .cls = p->cls, .sectors = p->sectors, .left = p->sectors,
		.first = (uint8_t)((part & (MEM_LINE - 1)) / MEM_SECTOR),
		.kernel = p->kernel, .row = addr_row(s->map, part),
		.bank = (uint8_t)addr_bank(s->map, s->local, part),
	};
	if (p->kind == MEM_WRITE)
		memcpy(a->byte_mask, p->byte_mask, sizeof(a->byte_mask));
	s->in[s->in_tail++ & s->in_mask] = (struct timed){
		.at = at, .access = index, .flits = p->flits,
		.lookups = (uint8_t)DIV_ROUND_UP((a->first & (s->unit - 1)) + p->sectors, s->unit),
	};
	s->wake = MIN(s->wake, at);
}

static inline void reply(struct slice *s, uint32_t waiter, uint32_t sectors, uint64_t ready)
{
	struct reply_entry *e = &s->reply[s->reply_tail++ & s->reply_mask];
	const struct access *a = &s->accesses[waiter / MEM_SECTORS];

	e->ready = ready;
	e->waiter = waiter;
	e->sm = a->sm;
	e->kernel = a->kernel;
	e->sectors = (uint8_t)sectors;
	e->flits = a->kind == MEM_WRITE ? s->ack_flits : s->data_flits[sectors];
}

/* Into the miss queue, which gives one a cycle to the queue to DRAM. */
static inline struct dram_request *miss_push(struct slice *s, uint64_t now)
{
	struct dram_request *r = &s->miss[s->miss_tail++ & s->miss_mask];

	s->miss_last = MAX(now, s->miss_last) + 1;
	r->at = s->miss_last;
	return r;
}

/* For the kernel whose access made it go. */
static void write_victim(struct slice *s, const struct cache_victim *victim, unsigned int kernel,
			 uint64_t now)
{
	unsigned int bytes = 0;
	struct dram_request *r;

	for (uint32_t m = victim->dirty; m; m &= m - 1)
		bytes += s->unit * MEM_SECTOR;
	r = miss_push(s, now);
	r->row = addr_row(s->map, victim->addr);
	r->bank = (uint8_t)addr_bank(s->map, s->local, victim->addr);
	r->bytes = (uint8_t)bytes;
	r->kernel = (uint8_t)kernel;
	r->write = true;
	/* The data port reads it out. */
	s->acc_free = now + DIV_ROUND_UP(bytes, s->port_bytes);
}

#define PAIR_BYTES	(2 * MEM_SECTOR)

/* A sector of a constant fetch of 64 bytes; *fetch: DRAM is asked. */
static enum cache_outcome read_pair(struct slice *s, struct access *a, uint64_t part,
				    uint32_t waiter, bool can_send, uint64_t now,
				    struct cache_victim *victim, bool *fetch)
{
	if (now >= s->drain_until || s->drain_pair != part / PAIR_BYTES ||
	    !cache_pair_left(s->cache, part))
		return cache_read_pair(s->cache, part, waiter, can_send, victim, &a->way, fetch);
	victim->dirty = 0;
	*fetch = false;
	if (s->drain_until - now >= s->merges)
		return CACHE_NO_MERGE;
	/* The fetch of the other sector is still answering: behind those that wait. */
	s->drain_until++;
	reply(s, waiter, 1, now + 2);
	return CACHE_PENDING;
}

/*
 * GPGPU-Sim 3.2.2's write (data_cache::wr_miss_wa()): one that misses goes to DRAM and fetches
 * its line, one that finds the line on its way goes to DRAM. It is acknowledged when the line is
 * there, which DRAM sends behind the write.
 */
static enum cache_outcome write_through(struct slice *s, struct access *a, uint64_t part,
					uint32_t waiter, uint32_t sectors, uint32_t waiting,
					uint64_t now, struct cache_victim *victim)
{
	/* The write, the fetch, and a victim. */
	enum cache_outcome outcome = cache_read_hint(s->cache, part, waiter,
						     waiting + 2 < s->miss_queue, victim, &a->way);
	struct dram_request *r;

	if (outcome == CACHE_HIT) {
		cache_write_if_there(s->cache, part);
	} else if (outcome < CACHE_NO_MSHR) {
		r = miss_push(s, now);
		r->row = a->row;
		r->bank = a->bank;
		r->bytes = (uint8_t)(sectors * MEM_SECTOR);
		r->kernel = a->kernel;
		r->write = true;
	}
	return outcome;
}

/* The sectors of the request that the look-up of sector `sector` of it takes. */
static inline uint32_t together(const struct slice *s, const struct access *a, uint32_t sector)
{
	if (s->unit == 1)
		return 1;
	return MIN(s->unit - ((a->first + sector) & (s->unit - 1)), a->sectors - sector);
}

/* Its look-up answers for sectors from the waiter's on, in one packet. */
static inline void replies(struct slice *s, uint32_t waiter, uint64_t ready)
{
	const struct access *a = &s->accesses[waiter / MEM_SECTORS];

	reply(s, waiter, together(s, a, waiter % MEM_SECTORS), ready);
}

/* The same for a write. Its sender may want to hear nothing of it. */
static inline void written(struct slice *s, uint32_t waiter, uint64_t ready)
{
	const struct access *a = &s->accesses[waiter / MEM_SECTORS];

	if (a->tag == MEM_UNANSWERED)
		access_done(s, waiter / MEM_SECTORS, together(s, a, waiter % MEM_SECTORS));
	else
		replies(s, waiter, ready);
}

/* One look-up at the tags in cycle `now`; false: it has to try again. */
static inline bool access_tags(struct slice *s, struct access *a, uint32_t index, uint64_t now)
{
	uint32_t waiter = index * MEM_SECTORS + s->acc_sector;
	uint64_t part = a->part + s->acc_sector * MEM_SECTOR;
	uint32_t sectors = together(s, a, s->acc_sector);
	uint32_t waiting = s->miss_last > now ? (uint32_t)(s->miss_last - now) : 0;
	bool write = a->kind == MEM_WRITE;
	bool pair = s->unit == 1 && a->cls == MEM_CONST && a->sectors == 2 && a->kind == MEM_READ;
	struct slice_counts *counts = &s->counts[a->kernel];
	struct cache_victim victim;
	bool fetch = false, later;
	enum cache_outcome outcome;

	if (s->miss_tail - s->miss_head >= s->queue_dram + waiting) {
		s->waits = SLICE_WAITS_DRAM;
		return false;
	}
	/* The queue to the SMs is full. */
	if (!slice_can_reply(s))
		return false;
	if (write && s->write_fetches)
		outcome = write_through(s, a, part, waiter, sectors, waiting, now, &victim);
	else if (write)
		outcome = cache_write_back_hint(s->cache, part, a->byte_mask + s->acc_sector,
						sectors, waiting < s->miss_queue, &victim,
						&a->way);
	else if (pair)
		outcome = read_pair(s, a, part, waiter, waiting + 1 < s->miss_queue, now,
				    &victim, &fetch);
	else
		outcome = cache_read_hint(s->cache, part, waiter, waiting + 1 < s->miss_queue,
					  &victim, &a->way);
	s->acc_free = now + 1;
	switch (outcome) {
	case CACHE_HIT:
		s->acc_free = now + DIV_ROUND_UP(sectors * MEM_SECTOR, s->port_bytes);
		/* Done here: read, changed, written back. */
		if (a->kind == MEM_ATOMIC)
			cache_write_if_there(s->cache, part);
		if (!write)
			replies(s, waiter, now + 1);
		break;
	case CACHE_PENDING:
		counts->pending[a->cls]++;
		break;
	case CACHE_MISS:
	case CACHE_SECTOR_MISS:
		counts->misses[a->cls][write]++;
		break;
	case CACHE_NO_QUEUE:
		counts->fails++;
		return false;
	default:
		counts->fails++;
		s->waits = SLICE_WAITS_FILL;
		s->refused = now;
		return false;
	}
	counts->accesses[a->cls][write]++;
	later = write && s->write_fetches && outcome != CACHE_HIT;
	if (pair ? fetch : (!write || later) &&
			   (outcome == CACHE_MISS || outcome == CACHE_SECTOR_MISS)) {
		struct dram_request *r = miss_push(s, now);

		r->fetch = cache_last_fetch(s->cache);
		r->row = a->row;
		r->bank = a->bank;
		r->bytes = (uint8_t)(s->unit * MEM_SECTOR);
		r->kernel = a->kernel;
		r->write = false;
	}
	if (victim.dirty)
		write_victim(s, &victim, a->kernel, now);
	if (write && !later)
		written(s, waiter, now + 1);
	return true;
}

/* The next look-up. */
static inline void access_next(struct slice *s, uint64_t now)
{
	uint32_t index = s->rop[s->acc_head & s->rop_mask].access;
	struct access *a = &s->accesses[index];
	uint32_t sectors = together(s, a, s->acc_sector);

	if (!access_tags(s, a, index, now)) {
		s->acc_free = now + 1;
		return;
	}
	s->accessed++;
	s->acc_sector += sectors;
	if (s->acc_sector < a->sectors)
		return;
	s->acc_sector = 0;
	s->acc_head++;
}

void slice_fill(struct slice *s, uint32_t fetch, uint64_t now)
{
	uint64_t part;
	unsigned int n;
	const uint32_t *waiters = cache_fill_fetch(s->cache, fetch, &part, &n);
	bool atomic = false;

	if (s->unit == 1 && s->accesses[waiters[0] / MEM_SECTORS].cls == MEM_CONST) {
		s->drain_pair = part / PAIR_BYTES;
		s->drain_until = now + n;
	}
	/* The first waiter leaves the MSHR in the next cycle, the slice in the one after it. */
	for (unsigned int i = 0; i < n; i++) {
		uint8_t kind = s->accesses[waiters[i] / MEM_SECTORS].kind;

		atomic |= kind == MEM_ATOMIC;
		if (kind == MEM_WRITE)
			written(s, waiters[i], now + 2);
		else
			replies(s, waiters[i], now + 2);
	}
	if (atomic)
		cache_write_if_there(s->cache, part);
	if (s->waits == SLICE_WAITS_FILL)
		s->wake = MIN(s->wake, now);
}

/* Look-ups between the ROP delay and the tags by now. */
static uint32_t queued(struct slice *s, uint64_t now)
{
	while (s->rop_head != s->rop_tail) {
		const struct timed *t = &s->rop[s->rop_head & s->rop_mask];
		uint64_t start = MAX(t->at, s->rop_free);
		uint32_t lookups = t->lookups;

		if (start + lookups - 1 > now)
			break;
		s->rop_free = start + lookups;
		s->left_rop += lookups;
		s->rop_head++;
	}
	/* A request's look-ups are counted when all have left, so the tags may be ahead. */
	return (int32_t)(s->left_rop - s->accessed) > 0 ? s->left_rop - s->accessed : 0;
}

/* When the head may be at the tags; it leaves the delay a cycle before. */
static inline uint64_t head_at(const struct slice *s)
{
	if (s->acc_head == s->rop_tail)
		return NEVER;
	return MAX(s->rop[s->acc_head & s->rop_mask].at + 1, s->acc_free);
}

/* The head at the tags would have been refused in every cycle that it slept. */
static void refused_upto(struct slice *s, uint64_t now)
{
	const struct timed *t = &s->rop[s->acc_head & s->rop_mask];

	s->counts[s->accesses[t->access].kernel].fails += now - s->refused - 1;
}

uint64_t slice_cycle(struct slice *s, uint64_t now)
{
	uint32_t missed = s->miss_tail, accessed = s->accessed;
	uint64_t wake = NEVER, at;
	bool refused = false;

	if (s->in_head != s->in_tail && s->in[s->in_head & s->in_mask].at <= now) {
		/* The queue must have room for a whole line, whatever has come. */
		refused = queued(s, now) + MEM_SECTORS / s->unit > s->queue_in;
		if (!refused) {
			struct timed *rop = &s->rop[s->rop_tail++ & s->rop_mask];

			*rop = s->in[s->in_head++ & s->in_mask];
			s->flits_taken += rop->flits;
			rop->at = now + s->rop_latency;
		}
	}
	at = head_at(s);
	if (at <= now) {
		if (s->waits == SLICE_WAITS_FILL)
			refused_upto(s, now);
		s->waits = SLICE_RUNS;
		access_next(s, now);
		at = s->waits == SLICE_RUNS ? head_at(s) : NEVER;
	}
	/* A refused request sleeps until there is progress at the tags. */
	if (s->in_head != s->in_tail && (!refused || accessed != s->accessed))
		wake = s->in[s->in_head & s->in_mask].at;
	wake = MIN(wake, at);
	s->wake = MAX(wake, now + 1);
	return missed == s->miss_tail ? NEVER : s->miss[missed & s->miss_mask].at;
}
