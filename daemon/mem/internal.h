/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The parts of the memory system behind the SMs' ports, private to this room:
 * address map, crossbar, L2 slices, DRAM channels. mem.c wires them.
 *
 * A request is a packet in its SM's port, an access of its slice from the
 * crossbar on, and per sector a waiter (access * MEM_SECTORS + sector of the
 * request) until the reply left the slice. A sector is 32 bytes but in L2, whose own may be
 * larger (l2.sector): then a look-up at the tags takes what of a request is in one of those.
 * All times are core cycles but where "tick" is said: cycles of the DRAM command clock.
 */
#ifndef GPUEMU_MEM_INTERNAL_H
#define GPUEMU_MEM_INTERNAL_H

#include "base/base.h"
#include "base/spec.h"
#include "mem/mem.h"

#define NONE		UINT32_MAX
#define MAX_PORTS	64u	/* of one side of the crossbar: bit masks */
#define MAX_BANKS	32u
#define MAX_MAP_BITS	48u
#define MAX_CHUNK	64u	/* cycles that mem_advance() does in one go */

/* --- address map (addr.c) ---------------------------------------------------- */

/*
 * "Part": the address within a slice, that is without what chose the channel
 * and the slice. Caches are indexed with it, bank and row are read off it.
 */
struct addr_map {
	uint32_t channels, slices;	/* slices of a channel */
	unsigned int interleave_shift;
	unsigned int slice_bits;	/* log2(slices) */
	uint8_t slice_bit[5];		/* where they are in the channel's address, lowest first */
	unsigned int bank_bits;		/* of a bank's number above slice_bits */
	uint8_t bank_bit[5];		/* where they are in a part */
	unsigned int row_shift;		/* of a part */
};

struct addr_place {
	uint32_t slice;		/* of the GPU: channel * slices + slice of the channel */
	uint64_t part;
};

int addr_map_create(const struct gpu_spec *spec, struct addr_map *map);
struct addr_place addr_place(const struct addr_map *map, uint64_t addr);
uint64_t addr_of(const struct addr_map *map, struct addr_place place);	/* its inverse */
unsigned int addr_bank(const struct addr_map *map, unsigned int slice_of_channel, uint64_t part);
static inline uint32_t addr_row(const struct addr_map *map, uint64_t part)
{
	return (uint32_t)(part >> map->row_shift);
}

/* --- an SM's port (mem.c) ------------------------------------------------------ */

struct packet {
	uint64_t addr;
	uint64_t ready;		/* when its first flit is in the crossbar's input buffer */
	uint64_t sent;
	uint32_t tag;
	uint8_t kind, cls, sectors, flits, kernel;
	uint32_t byte_mask[MEM_SECTORS];
};

struct arrival {
	uint64_t at;
	struct mem_reply reply;
	uint8_t flits;
};

/*
 * The SM and the memory may run a quantum at the same time, on two threads. So each side writes
 * a cache line of its own, and reads the copy (_told) of the other side's that mem_meet() made.
 */
struct port {
	struct packet *out;	/* rings, free-running indices */
	struct arrival *in;
	uint32_t out_mask, in_mask;

	/* The SM's. */
	uint32_t out_tail __attribute__((aligned(64)));
	uint32_t in_head, in_tail_told;
	uint32_t flits_taken;	/* of arrivals */
	uint32_t flits_sent, flits_left_told;	/* into the ring, out of it */
	uint64_t injected;	/* when the last flit sent enters the input buffer */

	/* The memory's. */
	uint32_t out_head __attribute__((aligned(64)));
	uint32_t out_tail_told;
	uint32_t flits_taken_told, in_tail;
	uint32_t flits_left;
} __attribute__((aligned(64)));

/* --- crossbar (icnt.c): one direction ------------------------------------------- */

struct xbar {
	unsigned int inputs, outputs, speedup;
	uint64_t idle;		/* inputs: no head is known; asked again before each run */
	uint64_t waiting;	/* inputs: the head is on its way until ready[] */
	uint64_t big;		/* inputs: the head has several flits */
	uint64_t wanted, owned;	/* outputs: some input wants it, one has it */
	uint64_t ready[MAX_PORTS];	/* [input], of the head packet, as the next four */
	uint64_t seen[MAX_PORTS];	/* since when it wants its output */
	uint8_t dest[MAX_PORTS], flits[MAX_PORTS], sent[MAX_PORTS];
	uint64_t want[MAX_PORTS];	/* [output]: inputs */
	uint8_t owner[MAX_PORTS], turn[MAX_PORTS];	/* [output] */
	uint64_t link[MAX_PORTS];	/* [output]: cycle of the last flit on its link */
	uint32_t through[MAX_PORTS];	/* [output]: flits, ever */
	uint32_t room[MAX_PORTS];	/* [output]: flits that the receiver still has room for */
	uint8_t kernel[MAX_PORTS];	/* [input], of the head */
	struct xbar_counts {
		uint64_t packets, moved, blocked;
	} counts[KERNEL_SLOTS];
};

void xbar_reset(struct xbar *x);
uint64_t xbar_wake(const struct xbar *x, uint64_t now);

/* --- cache.c, for L2 ---------------------------------------------------------------- */

/*
 * Reads one of two neighbouring sectors that are asked for together and share one MSHR,
 * as GPGPU-Sim's L2 has it for the 64 bytes of a constant fetch (both sector requests
 * carry the address of the first): the fetch of one answers all that wait for either, and
 * the other sector stays pending, without a fetch, until somebody asks for it again.
 * *fetch: the caller sends one, whatever the outcome is called.
 */
enum cache_outcome cache_read_pair(struct cache *c, uint64_t addr, uint32_t waiter,
				   bool can_send, struct cache_victim *victim,
				   uint32_t *hint, bool *fetch);
/* The sector is pending and no fetch of its pair is under way. */
bool cache_pair_left(const struct cache *c, uint64_t addr);
/* As cache_write_back(), of so many times 32 bytes of one sector; *hint: as cache_read_hint(). */
enum cache_outcome cache_write_back_hint(struct cache *c, uint64_t addr,
					 const uint32_t *byte_mask, unsigned int words,
					 bool can_send, struct cache_victim *victim,
					 uint32_t *hint);
/* Drops the lines that drop() says; fetches under way stay. */
void cache_drop_if(struct cache *c, bool (*drop)(void *ctx, uint64_t addr), void *ctx);
/* The fetch that the last miss began; its fill without a look-up. The waiters are good until the next read. */
uint32_t cache_last_fetch(const struct cache *c);
const uint32_t *cache_fill_fetch(struct cache *c, uint32_t fetch, uint64_t *addr,
				 unsigned int *count);

/* --- L2 slice (l2.c) -------------------------------------------------------------- */

struct access {
	uint64_t part;		/* of its first sector */
	uint64_t sent;
	uint32_t tag;
	uint32_t next;		/* free list */
	uint32_t row;
	uint32_t way;		/* hint */
	uint8_t sm, kind, cls, bank;
	uint8_t sectors, first;	/* how many, and the first one's place in its line */
	uint8_t left;		/* replies that have not left the slice */
	uint8_t kernel;
	uint32_t byte_mask[MEM_SECTORS];
};

struct dram_request {
	uint64_t at;		/* cycle in which it enters the queue to DRAM */
	uint32_t fetch;		/* of the slice's cache */
	uint32_t row;
	uint8_t bank, bytes, write, kernel;
};

struct reply_entry {
	uint64_t ready;		/* when the crossbar sees it */
	uint32_t waiter;
	uint8_t sm, kernel;
	uint8_t sectors, flits;
};

struct timed {
	uint64_t at;
	uint32_t access;
	uint8_t lookups, flits;	/* of the request */
};

struct slice_counts {
	uint64_t accesses[MEM_CLASSES][2], misses[MEM_CLASSES][2];
	uint64_t pending[MEM_CLASSES], fails;
};

/* Rings: powers of two, free-running indices. The code that fills one looks whether it is full. */
struct slice {
	const struct addr_map *map;
	struct cache *cache;
	struct access *accesses;
	uint32_t naccesses, free, live;
	uint8_t local;		/* slice of its channel */
	bool write_fetches;	/* l2.write_miss=fetch */
	uint64_t wake;

	struct timed *in;	/* from the crossbar */
	uint32_t in_mask, in_head, in_tail;
	uint32_t flits_taken;

	/*
	 * ROP delay and the queue behind it: one ring. Sectors leave the delay one a
	 * cycle (rop_head, rop_free: counted when somebody asks), and go to the tags (acc).
	 */
	struct timed *rop;	/* .at: when the delay is over */
	uint32_t rop_mask, acc_head, rop_head, rop_tail;
	uint32_t acc_sector;
	uint32_t left_rop, accessed;	/* look-ups, ever */
	uint64_t rop_free;
	uint64_t acc_free;	/* the tags and the data port are free from this cycle on */
	/* The head at the tags sleeps until this happens: before it would be refused. */
	enum { SLICE_RUNS, SLICE_WAITS_DRAM, SLICE_WAITS_FILL } waits;
	uint64_t refused;	/* SLICE_WAITS_FILL: the last cycle that is counted */

	struct dram_request *miss;	/* miss queue and queue to DRAM, told apart by .at */
	uint32_t miss_mask, miss_head, miss_tail;
	uint64_t miss_last;
	/*
	 * The queue to the crossbar, queue_reply long, and behind it, in the same ring,
	 * replies of fetches that are back: they wait in their MSHRs. Meanwhile the queue
	 * is full and nothing is looked up, so that nobody misses these MSHRs.
	 */
	struct reply_entry *reply;
	uint32_t reply_mask, reply_head, reply_tail;

	/*
	 * A constant fetch that is back answers one waiter a cycle; until the last, those who
	 * ask for its pair of sectors join (cache_read_pair()).
	 */
	uint64_t drain_pair, drain_until;

	uint32_t rop_latency, queue_in, queue_dram, queue_reply;
	uint32_t miss_queue, port_bytes, merges;
	/* Flits of a reply: to a read or an atomic, by its sectors; to a write. */
	uint8_t data_flits[MEM_SECTORS + 1], ack_flits;
	uint32_t unit;		/* of L2's own sectors, in MEM_SECTOR */
	struct slice_counts counts[KERNEL_SLOTS];
};

int slice_create(struct slice *s, const struct gpu_spec *spec, const struct addr_map *map,
		 unsigned int local);
void slice_destroy(struct slice *s);
void slice_cancel(struct slice *s);
/* Memory for all that the crossbar has room for on its way here; false: there is none. */
bool slice_prepare(struct slice *s);
/* A request arrives at `at`. */
void slice_accept(struct slice *s, const struct packet *p, unsigned int sm, uint64_t part,
		  uint64_t at);
/* Its cycle; returns when the first request it gave to DRAM enters the queue there, or NEVER. */
uint64_t slice_cycle(struct slice *s, uint64_t now);
/* A fetch is back. Its line is there at once; its replies wait for the queue, if that is full. */
void slice_fill(struct slice *s, uint32_t fetch, uint64_t now);
/* DRAM took the head of s->miss. */
static inline void slice_taken(struct slice *s, uint64_t now)
{
	s->miss_head++;
	if (s->waits == SLICE_WAITS_DRAM)
		s->wake = MIN(s->wake, now);
}
bool slice_idle(const struct slice *s);

static inline bool slice_can_reply(const struct slice *s)
{
	return s->reply_tail - s->reply_head < s->queue_reply;
}

/* `sectors` of the access's sectors are done. */
static inline void access_done(struct slice *s, uint32_t index, uint32_t sectors)
{
	struct access *a = &s->accesses[index];

	a->left = (uint8_t)(a->left - sectors);
	if (a->left)
		return;
	a->next = s->free;
	s->free = index;
	s->live--;
}

/* --- DRAM channel (dram.c) ----------------------------------------------------------- */

struct channel {
	uint64_t wake;		/* next tick in which it has something to do; NEVER */
	struct channel_state *state;
	uint64_t last;		/* cycle in which it or one of its slices did something */
	uint8_t apart[40];	/* channels run on several threads */
};

int channel_create(const struct gpu_spec *spec, struct slice *slices, struct channel *ch);
void channel_destroy(struct channel *ch);
void channel_cancel(struct channel *ch);
/*
 * Runs its ticks up to `last`, those that core cycle `now` sees. What leaves a slice
 * now may enter the scheduler from tick `delayed` on.
 */
void channel_run(struct channel *ch, uint64_t last, uint64_t now, uint64_t delayed);
/* Adds what it did for the kernel slot. */
void channel_stats(const struct channel *ch, unsigned int kernel, struct mem_stats *sum);

/* A slice has a request for it that may be taken from tick `tick` on. */
static inline void channel_poke(struct channel *ch, uint64_t tick)
{
	ch->wake = MIN(ch->wake, tick);
}

/* The DRAM clock against the core's, exact: the last tick that core cycle c sees. */
struct clocks {
	uint64_t core, dram;
};

static inline uint64_t tick_last(const struct clocks *k, uint64_t cycle)
{
	return cycle * k->dram / k->core;
}

/* The core cycle that sees the tick. */
static inline uint64_t tick_cycle(const struct clocks *k, uint64_t tick)
{
	return (tick * k->core + k->dram - 1) / k->dram;
}

/* Entries of a ring for at least n: a power of two. */
static inline uint32_t ring_size(uint64_t n)
{
	uint32_t size = 4;

	while (size < n)
		size *= 2;
	return size;
}

#endif
