// SPDX-License-Identifier: GPL-2.0
/*
 * The memory system as one: the SMs' ports, the crossbar's two directions, L2
 * slices and DRAM channels, and their time. Called by the SMs (their ports) and by
 * gpu: mem_advance() beside the SMs' quantum, mem_meet() between quanta.
 *
 * Time runs in chunks no longer than the lookahead: all requests that reach the
 * crossbar in a chunk are in the ports already, then each channel with its slices
 * runs alone, then the replies go out; they are seen after the chunk. How much room
 * a receiver has is known as it was at the chunk's start.
 */
#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "mem/icnt.h"
#include "mem/remote.h"

/* The last tick that each cycle of a chunk sees, and the first one dram.latency later. */
struct chunk {
	uint64_t from, upto;
	uint64_t last[MAX_CHUNK], delayed[MAX_CHUNK];
};

struct mem {
	struct addr_map map;
	struct clocks clocks;
	unsigned int nports, slices, channels;
	unsigned int walker;	/* its port, UINT_MAX: none */
	struct port *ports;	/* the SMs', then the walker's */
	struct slice *slice;
	struct channel *channel;
	struct remote *remote;
	struct mem_stats *stats;
	unsigned int lookahead;
	uint32_t flit, header, injection, buffer, dram_latency;
	uint32_t request_delay, reply_delay;
	uint32_t slice_room, port_room;	/* flits past the crossbar */
	/* Some SM has sent a remote request, ever: without them nobody looks. */
	atomic_bool any_remote;

	/* SMs read the fields above while memory writes these: other lines of the host's caches. */
	struct xbar requests __attribute__((aligned(64)));
	struct xbar replies;
	uint64_t now;		/* cycles before it are done */
	uint64_t wake;		/* next cycle in which something can move, but for new requests */
	uint64_t upto;		/* of the mem_advance() under way */
	struct chunk chunk;	/* the last one of it; .upto 0: none */
	struct latency {
		uint64_t sum, count, max;
	} latency[KERNEL_SLOTS];
};

/* --- a port ---------------------------------------------------------------------- */

static inline uint32_t request_flits(const struct mem *mem, const struct mem_request *r)
{
	uint32_t bytes = mem->header + (r->kind == MEM_READ ? 0 : r->bytes);

	return bytes <= mem->flit ? 1 : DIV_ROUND_UP(bytes, mem->flit);
}

bool mem_ready(const struct mem *mem, unsigned int sm, const struct mem_request *request,
	       uint64_t now)
{
	const struct port *p = &mem->ports[sm];
	uint32_t flits = request_flits(mem, request);
	uint64_t injecting = p->injected > now ? p->injected - now : 0;

	if (request->remote)
		return remote_ready(mem->remote, sm);
	return injecting + flits <= mem->injection &&
	       p->flits_sent - p->flits_left_told + flits <= mem->injection + mem->buffer;
}

uint64_t mem_ready_at(const struct mem *mem, unsigned int sm, const struct mem_request *request,
		      uint64_t now)
{
	const struct port *p = &mem->ports[sm];
	uint32_t flits = request_flits(mem, request);

	/* Until it is answered. */
	if (request->remote)
		return remote_ready(mem->remote, sm) ? now :
		       remote_next(mem->remote, sm) == NEVER ? now + 1 :
		       MAX(remote_next(mem->remote, sm), now + 1);
	/* Room in the crossbar's buffer is known only between quanta. */
	if (p->flits_sent - p->flits_left_told + flits > mem->injection + mem->buffer)
		return now + 1;
	if (p->injected + flits > now + mem->injection)
		return p->injected + flits - mem->injection;
	return now;
}

uint64_t mem_port_free(const struct mem *mem, unsigned int sm)
{
	return mem->ports[sm].injected;
}

void mem_send(struct mem *mem, const struct mem_request *request, uint64_t now)
{
	struct port *p = &mem->ports[request->sm];
	uint32_t flits = request_flits(mem, request);
	uint64_t start = MAX(now, p->injected) + 1;
	struct packet *k;

	if (request->remote) {
		atomic_store_explicit(&mem->any_remote, true, memory_order_relaxed);
		remote_send(mem->remote, request, now);
		return;
	}
	k = &p->out[p->out_tail++ & p->out_mask];
	*k = (struct packet){
		.addr = request->addr, .ready = start + mem->request_delay, .sent = now,
		.tag = request->tag, .kind = request->kind, .cls = request->cls,
		.sectors = request->bytes / MEM_SECTOR, .flits = (uint8_t)flits,
		.kernel = request->kernel,
	};
	if (request->kind == MEM_WRITE)
		memcpy(k->byte_mask, request->byte_mask, sizeof(k->byte_mask));
	p->injected = start + flits - 1;
	p->flits_sent += flits;
}

static inline bool any_remote(const struct mem *mem)
{
	return __builtin_expect(atomic_load_explicit(&mem->any_remote, memory_order_relaxed), 0);
}

/* When the port's next packet from the crossbar is there. */
static inline uint64_t next_arrival(const struct port *p)
{
	return p->in_head == p->in_tail_told ? NEVER : p->in[p->in_head & p->in_mask].at;
}

/* Is the port's next answer from system memory? Apart, so that others pay nothing for it. */
static __attribute__((noinline)) bool next_is_remote(const struct mem *mem, unsigned int sm)
{
	return remote_live(mem->remote, sm) &&
	       remote_next(mem->remote, sm) < next_arrival(&mem->ports[sm]);
}

static __attribute__((noinline)) uint64_t next_of_both(const struct mem *mem, unsigned int sm)
{
	return next_is_remote(mem, sm) ? remote_next(mem->remote, sm) :
					 next_arrival(&mem->ports[sm]);
}

static __attribute__((noinline)) bool peek_remote(const struct mem *mem, unsigned int sm,
						  uint64_t now, struct mem_reply *reply)
{
	if (remote_next(mem->remote, sm) > now)
		return false;
	*reply = remote_head(mem->remote, sm);
	return true;
}

bool mem_peek(const struct mem *mem, unsigned int sm, uint64_t now, struct mem_reply *reply)
{
	const struct port *p = &mem->ports[sm];
	const struct arrival *a = &p->in[p->in_head & p->in_mask];

	if (any_remote(mem) && next_is_remote(mem, sm))
		return peek_remote(mem, sm, now, reply);
	if (p->in_head == p->in_tail_told || a->at > now)
		return false;
	*reply = a->reply;
	return true;
}

void mem_take(struct mem *mem, unsigned int sm)
{
	struct port *p = &mem->ports[sm];

	if (any_remote(mem) && next_is_remote(mem, sm)) {
		remote_take(mem->remote, sm);
		return;
	}
	p->flits_taken += p->in[p->in_head++ & p->in_mask].flits;
}

void mem_fetch_port(const struct mem *mem, unsigned int sm)
{
	__builtin_prefetch(&mem->ports[sm].out_tail, 1);
}

bool mem_receive(struct mem *mem, unsigned int sm, uint64_t now, struct mem_reply *reply)
{
	if (!mem_peek(mem, sm, now, reply))
		return false;
	mem_take(mem, sm);
	return true;
}

uint64_t mem_next(const struct mem *mem, unsigned int sm)
{
	return any_remote(mem) ? next_of_both(mem, sm) : next_arrival(&mem->ports[sm]);
}

unsigned int mem_lookahead(const struct mem *mem)
{
	return mem->lookahead;
}

unsigned int mem_walker(const struct mem *mem)
{
	return mem->walker;
}

/* --- the crossbar's ends ------------------------------------------------------------ */

static inline bool request_head(struct mem *mem, struct xbar *x, unsigned int in)
{
	struct port *p = &mem->ports[in];
	struct packet *k = &p->out[p->out_head & p->out_mask];
	struct addr_place place;

	if (p->out_head == p->out_tail_told) {
		x->big &= ~(1ull << in);
		return false;
	}
	place = addr_place(&mem->map, k->addr);
	k->addr = place.part;
	x->ready[in] = k->ready;
	x->dest[in] = (uint8_t)place.slice;
	x->flits[in] = k->flits;
	x->kernel[in] = k->kernel;
	x->sent[in] = 0;
	x->big = k->flits > 1 ? x->big | 1ull << in : x->big & ~(1ull << in);
	return true;
}

static inline void request_deliver(struct mem *mem, unsigned int in, unsigned int out,
				   uint64_t at)
{
	struct port *p = &mem->ports[in];
	struct packet *k = &p->out[p->out_head++ & p->out_mask];

	p->flits_left += k->flits;
	slice_accept(&mem->slice[out], k, in, k->addr, at);
}

XBAR_DEFINE(requests_run, struct mem *, request_head, request_deliver)

static inline bool reply_head(struct mem *mem, struct xbar *x, unsigned int in)
{
	struct slice *s = &mem->slice[in];
	struct reply_entry *e = &s->reply[s->reply_head & s->reply_mask];

	if (s->reply_head == s->reply_tail)
		return false;
	x->ready[in] = e->ready;
	x->dest[in] = e->sm;
	x->kernel[in] = e->kernel;
	x->flits[in] = e->flits;
	x->sent[in] = 0;
	x->big = e->flits > 1 ? x->big | 1ull << in : x->big & ~(1ull << in);
	return true;
}

static inline void reply_deliver(struct mem *mem, unsigned int in, unsigned int out,
				 uint64_t at)
{
	struct slice *s = &mem->slice[in];
	const struct reply_entry *e = &s->reply[s->reply_head++ & s->reply_mask];
	uint32_t waiter = e->waiter;
	uint32_t index = waiter / MEM_SECTORS;
	const struct access *a = &s->accesses[index];
	struct port *p = &mem->ports[out];
	struct latency *l = &mem->latency[a->kernel];
	uint64_t latency;

	at += mem->reply_delay;
	p->in[p->in_tail++ & p->in_mask] = (struct arrival){
		.at = at,
		.reply = { .tag = a->tag, .kind = a->kind, .cls = a->cls,
			   .sector = (uint8_t)(a->first + waiter % MEM_SECTORS),
			   .sectors = e->sectors },
		.flits = e->flits,
	};
	if (a->cls != MEM_BACKGROUND) {
		latency = at - a->sent;
		l->sum += latency;
		l->count++;
		l->max = MAX(l->max, latency);
	}
	access_done(s, index, e->sectors);
	if (s->reply_head == s->reply_tail)
		s->reply_head = s->reply_tail = 0;
}

XBAR_DEFINE(replies_run, struct mem *, reply_head, reply_deliver)

/* --- time ------------------------------------------------------------------------------ */

/* One channel and its slices. */
static void channel_cycles(struct mem *mem, unsigned int n, const struct chunk *k)
{
	struct channel *ch = &mem->channel[n];
	struct slice *first = &mem->slice[n * mem->map.slices];
	struct slice *end = first + mem->map.slices;

	for (uint64_t now = k->from; now < k->upto; now++) {
		uint64_t i = now - k->from;

		if (ch->wake <= k->last[i])
			channel_run(ch, k->last[i], now, k->delayed[i]);
		for (struct slice *s = first; s < end; s++) {
			uint64_t at;

			if (s->wake > now)
				continue;
			ch->last = now;
			at = slice_cycle(s, now);
			/* Taken by the first tick that only later cycles see. */
			if (at != NEVER)
				channel_poke(ch, (at < k->upto ? k->last[at - k->from] :
						  tick_last(&mem->clocks, at)) + 1);
		}
	}
}

static bool channel_sleeps(const struct mem *mem, unsigned int n, uint64_t upto, uint64_t tick)
{
	if (mem->channel[n].wake <= tick)
		return false;
	for (uint32_t i = 0; i < mem->map.slices; i++)
		if (mem->slice[n * mem->map.slices + i].wake < upto)
			return false;
	return true;
}

static void run_channel(struct mem *mem, unsigned int n)
{
	const struct chunk *k = &mem->chunk;

	if (!channel_sleeps(mem, n, k->upto, k->last[k->upto - 1 - k->from]))
		channel_cycles(mem, n, k);
}

/* Delivers the requests that reach the slices in the chunk. */
static void begin_chunk(struct mem *mem, uint64_t from, uint64_t upto)
{
	struct chunk *k = &mem->chunk;

	k->from = from;
	k->upto = upto;
	for (uint64_t c = from; c < upto; c++) {
		k->last[c - from] = tick_last(&mem->clocks, c);
		k->delayed[c - from] = tick_last(&mem->clocks, c + mem->dram_latency - 1) + 1;
	}
	if (xbar_wake(&mem->requests, from) >= upto)
		return;
	for (unsigned int i = 0; i < mem->slices; i++) {
		struct slice *s = &mem->slice[i];

		mem->requests.room[i] = !slice_prepare(s) ? 0 : mem->slice_room -
			(mem->requests.through[i] - s->flits_taken);
	}
	requests_run(&mem->requests, mem, from, upto);
}

/* Delivers the replies that leave the slices in the chunk. */
static void end_chunk(struct mem *mem)
{
	uint64_t from = mem->chunk.from, upto = mem->chunk.upto;

	for (uint64_t m = mem->replies.idle; m; m &= m - 1) {
		unsigned int in = xbar_bit(m);

		if (reply_head(mem, &mem->replies, in)) {
			mem->replies.idle &= ~(1ull << in);
			mem->replies.waiting |= 1ull << in;
		}
	}
	if (xbar_wake(&mem->replies, from) < upto) {
		for (unsigned int i = 0; i < mem->nports; i++) {
			const struct port *p = &mem->ports[i];
			/* With those of a packet that has not come whole. */
			uint32_t full = mem->replies.through[i] - p->flits_taken_told;

			mem->replies.room[i] = mem->port_room > full ? mem->port_room - full : 0;
		}
		replies_run(&mem->replies, mem, from, upto);
	}
	mem->now = upto;
}

/* Heads of ports that had none when they were last looked at. */
static void look_at_ports(struct mem *mem)
{
	struct xbar *x = &mem->requests;

	for (uint64_t m = x->idle; m; m &= m - 1) {
		unsigned int in = xbar_bit(m);

		if (!request_head(mem, x, in))
			continue;
		x->idle &= ~(1ull << in);
		x->waiting |= 1ull << in;
	}
}

/* The next cycle after which the ports have been looked at. */
static uint64_t next_cycle(const struct mem *mem)
{
	uint64_t wake = MIN(xbar_wake(&mem->requests, mem->now),
			    xbar_wake(&mem->replies, mem->now));

	for (unsigned int i = 0; i < mem->slices; i++)
		wake = MIN(wake, mem->slice[i].wake);
	for (unsigned int i = 0; i < mem->channels; i++) {
		uint64_t tick = mem->channel[i].wake;

		if (tick != NEVER)
			wake = MIN(wake, tick_cycle(&mem->clocks, tick));
	}
	return MAX(wake, mem->now);
}

/* Not written where nothing is new: the line stays in the caches of the thread that reads it. */
static inline void tell(uint32_t *told, uint32_t value)
{
	if (*told != value)
		*told = value;
}

void mem_meet(struct mem *mem, uint64_t upto)
{
	if (any_remote(mem))
		remote_run(mem->remote, upto);
	for (unsigned int i = 0; i < mem->nports; i++) {
		struct port *p = &mem->ports[i];

		/* Begin again at the front: few lines of the host's caches. */
		if (p->out_head == p->out_tail && p->out_tail)
			p->out_head = p->out_tail = 0;
		if (p->in_head == p->in_tail && p->in_tail)
			p->in_head = p->in_tail = 0;
		tell(&p->out_tail_told, p->out_tail);
		tell(&p->in_tail_told, p->in_tail);
		tell(&p->flits_taken_told, p->flits_taken);
		tell(&p->flits_left_told, p->flits_left);
	}
}

void mem_advance_begin(struct mem *mem, uint64_t upto)
{
	look_at_ports(mem);
	mem->chunk.upto = 0;
	mem->upto = upto;
	while (mem->now < upto) {
		uint64_t from = next_cycle(mem), end = MIN(upto, from + mem->lookahead);

		if (from >= upto)
			break;
		begin_chunk(mem, from, end);
		for (unsigned int i = 0; i < mem->channels; i++)
			run_channel(mem, i);
		if (end == upto)
			return;
		end_chunk(mem);
		mem->chunk.upto = 0;
	}
}

void mem_advance_end(struct mem *mem)
{
	if (mem->chunk.upto)
		end_chunk(mem);
	mem->now = MAX(mem->now, mem->upto);
	/* It is looked up here, by the thread that has all this in its caches. */
	mem->wake = next_cycle(mem);
}

void mem_advance(struct mem *mem, uint64_t upto)
{
	mem_advance_begin(mem, upto);
	mem_advance_end(mem);
}

uint64_t mem_wake(const struct mem *mem)
{
	uint64_t wake = mem->wake;

	if (any_remote(mem))
		wake = MIN(wake, remote_wake(mem->remote));
	for (uint64_t m = mem->requests.idle; m; m &= m - 1) {
		const struct port *p = &mem->ports[__builtin_ctzll(m)];

		if (p->out_head != p->out_tail)
			wake = MIN(wake, p->out[p->out_head & p->out_mask].ready);
	}
	return wake;
}

bool mem_idle(const struct mem *mem)
{
	for (unsigned int i = 0; i < mem->nports; i++) {
		const struct port *p = &mem->ports[i];

		if (p->out_head != p->out_tail || p->in_head != p->in_tail)
			return false;
	}
	for (unsigned int i = 0; i < mem->slices; i++)
		if (!slice_idle(&mem->slice[i]))
			return false;
	return !any_remote(mem) || remote_idle(mem->remote);
}

uint64_t mem_last(const struct mem *mem)
{
	uint64_t last = remote_last(mem->remote);

	for (unsigned int i = 0; i < mem->channels; i++)
		last = MAX(last, mem->channel[i].last);
	return last;
}

bool mem_notified(struct mem *mem, uint64_t *va)
{
	return remote_notified(mem->remote, va);
}

bool mem_notifies(const struct mem *mem)
{
	return remote_notifies(mem->remote);
}

void mem_share_link(struct mem *mem, const bool busy[2], uint64_t took[2])
{
	remote_share(mem->remote, busy, took);
}

/* --- the rest ----------------------------------------------------------------------------- */

static int create_ports(struct mem *mem)
{
	mem->ports = aligned_alloc(64, mem->nports * sizeof(*mem->ports));
	if (!mem->ports)
		return -ENOMEM;
	memset(mem->ports, 0, mem->nports * sizeof(*mem->ports));
	for (unsigned int i = 0; i < mem->nports; i++) {
		struct port *p = &mem->ports[i];

		p->out_mask = ring_size(mem->injection + mem->buffer) - 1;
		p->in_mask = ring_size(mem->port_room) - 1;
		p->out = calloc(p->out_mask + 1, sizeof(*p->out));
		p->in = calloc(p->in_mask + 1, sizeof(*p->in));
		if (!p->out || !p->in)
			return -ENOMEM;
	}
	return 0;
}

static int create_parts(struct mem *mem, const struct gpu_spec *spec)
{
	int err = create_ports(mem);

	if (!err)
		err = remote_create(spec, mem->nports, &mem->remote);
	mem->slice = calloc(mem->slices, sizeof(*mem->slice));
	mem->channel = calloc(mem->channels, sizeof(*mem->channel));
	mem->stats = calloc(1, sizeof(*mem->stats));
	if (!mem->slice || !mem->channel || !mem->stats)
		return -ENOMEM;
	for (unsigned int i = 0; !err && i < mem->slices; i++)
		err = slice_create(&mem->slice[i], spec, &mem->map, i % mem->map.slices);
	for (unsigned int i = 0; !err && i < mem->channels; i++)
		err = channel_create(spec, &mem->slice[i * mem->map.slices], &mem->channel[i]);
	return err;
}

int mem_create(const struct gpu_spec *spec, struct mem **out)
{
	struct mem *mem;
	int err;

	if (!spec->sms || spec->sms + (spec->paging && !spec->walk_latency) > MAX_PORTS ||
	    !spec->l2_slices ||
	    spec->l2_slices > MAX_PORTS || spec->l2_line != MEM_LINE ||
	    spec->icnt_latency_request < 2 || !spec->icnt_latency_reply)
		return -EINVAL;
	mem = aligned_alloc(64, sizeof(*mem));
	if (!mem)
		return -ENOMEM;
	memset(mem, 0, sizeof(*mem));
	err = addr_map_create(spec, &mem->map);
	if (err) {
		free(mem);
		return err;
	}
	mem->clocks = (struct clocks){ .core = spec->clock_mhz, .dram = spec->dram_clock_mhz };
	mem->nports = (unsigned int)spec->sms;
	mem->walker = spec->paging && !spec->walk_latency ? mem->nports++ : UINT_MAX;
	mem->slices = (unsigned int)spec->l2_slices;
	mem->channels = (unsigned int)spec->dram_channels;
	mem->flit = (uint32_t)spec->icnt_flit;
	mem->header = (uint32_t)spec->icnt_header;
	mem->injection = (uint32_t)spec->icnt_injection;
	mem->buffer = (uint32_t)spec->icnt_buffer;
	mem->dram_latency = (uint32_t)spec->dram_latency;
	/* A cycle of injection and a cycle of the link are not in these. */
	mem->request_delay = (uint32_t)spec->icnt_latency_request - 2;
	mem->reply_delay = (uint32_t)spec->icnt_latency_reply - 1;
	mem->lookahead = (unsigned int)MIN(spec->icnt_latency_request - 1,
					   MIN(spec->icnt_latency_reply, MAX_CHUNK));
	mem->slice_room = (uint32_t)(spec->icnt_buffer + spec->icnt_boundary);
	/* The receiver's queue counts packets. */
	mem->port_room = mem->slice_room +
		(uint32_t)(spec->icnt_ejection * DIV_ROUND_UP(spec->icnt_header + spec->l2_sector,
							      spec->icnt_flit));
	err = create_parts(mem, spec);
	if (err) {
		mem_destroy(mem);
		return err;
	}
	mem->requests.inputs = mem->replies.outputs = mem->nports;
	mem->requests.outputs = mem->replies.inputs = mem->slices;
	mem->requests.speedup = mem->replies.speedup = (unsigned int)spec->icnt_speedup;
	xbar_reset(&mem->requests);
	xbar_reset(&mem->replies);
	mem->wake = next_cycle(mem);
	*out = mem;
	return 0;
}

void mem_destroy(struct mem *mem)
{
	if (!mem)
		return;
	for (unsigned int i = 0; mem->ports && i < mem->nports; i++) {
		free(mem->ports[i].out);
		free(mem->ports[i].in);
	}
	for (unsigned int i = 0; mem->channel && i < mem->channels; i++)
		channel_destroy(&mem->channel[i]);
	for (unsigned int i = 0; mem->slice && i < mem->slices; i++)
		slice_destroy(&mem->slice[i]);
	remote_destroy(mem->remote);
	free(mem->ports);
	free(mem->channel);
	free(mem->slice);
	free(mem->stats);
	free(mem);
}

void mem_prefill(struct mem *mem, uint64_t addr, uint64_t bytes)
{
	uint64_t end = addr + bytes;

	for (addr &= ~(uint64_t)(MEM_SECTOR - 1); addr < end; addr += MEM_SECTOR) {
		struct addr_place place = addr_place(&mem->map, addr);

		cache_install(mem->slice[place.slice].cache, place.part);
	}
}

/* A line of a slice's cache, in a range of addresses? */
struct range {
	const struct addr_map *map;
	uint32_t slice;
	uint64_t start, end;
};

static bool in_range(void *ctx, uint64_t part)
{
	const struct range *r = ctx;
	uint64_t addr = addr_of(r->map, (struct addr_place){ .slice = r->slice, .part = part });

	return addr + MEM_LINE > r->start && addr < r->end;
}

void mem_drop(struct mem *mem, uint64_t start, uint64_t end)
{
	if (start >= end)
		return;
	/* Few lines are looked up; of many, those that are there are gone through. */
	if (end - start > 1u << 20) {
		for (unsigned int i = 0; i < mem->slices; i++) {
			struct range r = { .map = &mem->map, .slice = i, .start = start,
					   .end = end };

			cache_drop_if(mem->slice[i].cache, in_range, &r);
		}
		return;
	}
	for (start &= ~(uint64_t)(MEM_LINE - 1); start < end; start += MEM_LINE) {
		struct addr_place place = addr_place(&mem->map, start);

		cache_drop(mem->slice[place.slice].cache, place.part, place.part + MEM_LINE);
	}
}

void mem_cancel(struct mem *mem)
{
	for (unsigned int i = 0; i < mem->nports; i++) {
		struct port *p = &mem->ports[i];

		p->out_head = p->out_tail_told = p->out_tail;
		p->in_head = p->in_tail_told = p->in_tail;
		p->flits_taken = p->flits_taken_told = mem->replies.through[i];
		p->flits_left = p->flits_left_told = p->flits_sent;
		p->injected = 0;
	}
	for (unsigned int i = 0; i < mem->channels; i++)
		channel_cancel(&mem->channel[i]);
	for (unsigned int i = 0; i < mem->slices; i++) {
		slice_cancel(&mem->slice[i]);
		mem->requests.through[i] = mem->slice[i].flits_taken;
	}
	xbar_reset(&mem->requests);
	xbar_reset(&mem->replies);
	mem->wake = next_cycle(mem);
	remote_cancel(mem->remote);
}

/* --- statistics ----------------------------------------------------------------------------- */

static void add_kernel(const struct mem *mem, unsigned int kernel, struct mem_stats *sum)
{
	const struct xbar_counts *x[2] = { &mem->requests.counts[kernel],
					   &mem->replies.counts[kernel] };
	const struct latency *l = &mem->latency[kernel];

	for (unsigned int i = 0; i < mem->slices; i++) {
		const struct slice_counts *s = &mem->slice[i].counts[kernel];

		for (unsigned int c = 0; c < MEM_CLASSES; c++) {
			for (unsigned int w = 0; w < 2; w++) {
				sum->l2_accesses[c][w] += s->accesses[c][w];
				sum->l2_misses[c][w] += s->misses[c][w];
			}
			sum->l2_pending[c] += s->pending[c];
		}
		sum->l2_fails += s->fails;
	}
	for (unsigned int i = 0; i < mem->channels; i++)
		channel_stats(&mem->channel[i], kernel, sum);
	for (unsigned int i = 0; i < 2; i++) {
		sum->icnt_packets[i] += x[i]->packets;
		sum->icnt_flits[i] += x[i]->moved;
		sum->icnt_blocked[i] += x[i]->blocked;
	}
	sum->latency_sum += l->sum;
	sum->latency_count += l->count;
	sum->latency_max = MAX(sum->latency_max, l->max);
}

void mem_stats_of(const struct mem *mem, unsigned int kernel, struct mem_stats *stats)
{
	memset(stats, 0, sizeof(*stats));
	add_kernel(mem, kernel, stats);
	remote_stats_of(mem->remote, kernel, &stats->remote);
}

const struct mem_stats *mem_stats(const struct mem *mem)
{
	struct mem_stats *sum = mem->stats;

	memset(sum, 0, sizeof(*sum));
	for (unsigned int k = 0; k < KERNEL_SLOTS; k++)
		add_kernel(mem, k, sum);
	sum->dram_cycles = tick_last(&mem->clocks, mem->now);
	remote_stats(mem->remote, &sum->remote);
	return sum;
}
