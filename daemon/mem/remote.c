// SPDX-License-Identifier: GPL-2.0
/*
 * Remote transactions: what the GPU reads and writes of system memory where it is, over
 * the same link as migrations (paging.link_mbps), one packet each way. A read sends a header
 * and gets a header and its bytes, remote.latency_ns later at the soonest; no more than
 * remote.reads are on their way. A write is posted: answered when it has left. An atomic is
 * a read that sends its operand. (Zero-copy over PCIe as EMOGI, Min et al., VLDB'21,
 * section 3 measures and explains it.) Times on the link are picoseconds.
 *
 * All transactions are in the queues when remote_run() looks, and begin in order of cycle and
 * SM, one behind the other, so threads change nothing. What a transaction takes is known when
 * it begins: nothing comes between.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/u64map.h"
#include "mem/remote.h"

#define PS_MHZ		1000000ull	/* picoseconds of a cycle at 1 MHz */
#define NOTIFICATIONS	256u		/* nvidia-uvm: entries of a batch of them */

enum { TO_DEVICE, TO_HOST };
/* Reads and atomics are answered in the order of the link, and so are writes. */
enum { ANSWER_READ, ANSWER_WRITE, ANSWERS };

struct transaction {
	uint64_t addr, sent;
	uint32_t tag;
	uint8_t kind, cls, bytes, kernel;
};

struct answer {
	uint64_t at;
	struct mem_reply reply;
};

struct answers {
	struct answer *at;	/* ring, free-running indices */
	uint32_t mask, head, tail;
};

/* One SM's traffic with system memory. */
struct way {
	struct transaction *out;	/* ring of remote.queue at least */
	uint32_t mask, head, tail;
	uint32_t live;			/* answers that have not been taken, of these and those known */
	struct answers in[ANSWERS];
} __attribute__((aligned(64)));

struct remote {
	unsigned int ports;
	uint64_t mhz, mbps, latency, header;
	uint32_t queue, reads;
	uint64_t there, back;		/* cycles to the link and from it */
	struct way *ways;
	uint64_t free[2];		/* when a direction is, in ps */
	uint64_t *done;			/* ring of remote.reads: when each is answered, in ps */
	uint64_t next_done;
	bool shared[2];
	uint64_t took[2];		/* since remote_share() */
	uint64_t last;
	/* Access counters. */
	bool counts;
	unsigned int shift;
	uint64_t threshold;
	struct u64map counters;		/* by region */
	uint64_t regions[NOTIFICATIONS];
	uint32_t first_region, nregions;
	uint64_t notifications;
	struct mem_remote_stats stats[KERNEL_SLOTS];	/* by kernel slot */
};

int remote_create(const struct gpu_spec *spec, unsigned int ports, struct remote **out)
{
	struct remote *r = calloc(1, sizeof(*r));

	if (!r)
		return -ENOMEM;
	*out = r;
	r->ports = ports;
	r->mhz = spec->clock_mhz;
	r->mbps = spec->link_mbps;
	r->latency = spec->remote_latency_ns * 1000;
	r->header = spec->remote_header;
	r->queue = (uint32_t)spec->remote_queue;
	r->reads = (uint32_t)spec->remote_reads;
	r->there = spec->icnt_latency_request;
	r->back = spec->icnt_latency_reply;
	r->counts = spec->counters;
	r->shift = (unsigned int)__builtin_ctzll(spec->counter_bytes);
	r->threshold = spec->counter_threshold;
	r->done = calloc(r->reads, sizeof(*r->done));
	r->ways = aligned_alloc(64, ports * sizeof(*r->ways));
	if (!r->ways || !r->done)
		return -ENOMEM;
	memset(r->ways, 0, ports * sizeof(*r->ways));
	for (unsigned int i = 0; i < ports; i++) {
		struct way *w = &r->ways[i];

		w->mask = ring_size(r->queue) - 1;
		w->out = calloc(w->mask + 1, sizeof(*w->out));
		for (unsigned int k = 0; k < ANSWERS; k++) {
			/* A write is answered by sectors. */
			w->in[k].mask = ring_size((uint64_t)r->queue * MEM_SECTORS) - 1;
			w->in[k].at = calloc(w->in[k].mask + 1, sizeof(*w->in[k].at));
			if (!w->in[k].at)
				return -ENOMEM;
		}
		if (!w->out)
			return -ENOMEM;
	}
	return 0;
}

void remote_destroy(struct remote *r)
{
	if (!r)
		return;
	for (unsigned int i = 0; r->ways && i < r->ports; i++) {
		free(r->ways[i].out);
		for (unsigned int k = 0; k < ANSWERS; k++)
			free(r->ways[i].in[k].at);
	}
	u64map_clear(&r->counters);
	free(r->ways);
	free(r->done);
	free(r);
}

/* --- an SM's side ----------------------------------------------------------------- */

uint32_t remote_live(const struct remote *r, unsigned int port)
{
	return r->ways[port].live;
}

bool remote_ready(const struct remote *r, unsigned int port)
{
	return r->ways[port].live < r->queue;
}

void remote_send(struct remote *r, const struct mem_request *request, uint64_t now)
{
	struct way *w = &r->ways[request->sm];

	w->live++;
	w->out[w->tail++ & w->mask] = (struct transaction){
		.addr = request->addr, .sent = now, .tag = request->tag,
		.kind = request->kind, .cls = request->cls, .bytes = request->bytes,
		.kernel = request->kernel,
	};
}

/* The ring with the port's next answer. NULL: no answer is known. */
static struct answers *next_answers(const struct remote *r, unsigned int port)
{
	struct answers *first = NULL;

	for (unsigned int k = 0; k < ANSWERS; k++) {
		struct answers *in = &r->ways[port].in[k];

		if (in->head != in->tail && (!first || in->at[in->head & in->mask].at <
						       first->at[first->head & first->mask].at))
			first = in;
	}
	return first;
}

uint64_t remote_next(const struct remote *r, unsigned int port)
{
	const struct answers *in = next_answers(r, port);

	return in ? in->at[in->head & in->mask].at : NEVER;
}

struct mem_reply remote_head(const struct remote *r, unsigned int port)
{
	const struct answers *in = next_answers(r, port);

	return in->at[in->head & in->mask].reply;
}

void remote_take(struct remote *r, unsigned int port)
{
	struct answers *in = next_answers(r, port);

	/* The last one of a transaction is its sector 0. */
	if (!in->at[in->head++ & in->mask].reply.sector)
		r->ways[port].live--;
}

/* --- the link --------------------------------------------------------------------- */

static uint64_t ps_of(const struct remote *r, uint64_t cycle)
{
	return (uint64_t)((unsigned __int128)cycle * PS_MHZ / r->mhz);
}

/* The first cycle that is not before. */
static uint64_t cycle_of(const struct remote *r, uint64_t ps)
{
	return (uint64_t)(((unsigned __int128)ps * r->mhz + PS_MHZ - 1) / PS_MHZ);
}

/* Occupies a direction with a packet, from `at` on: its end. MB/s are 10^6 bytes a second. */
static uint64_t occupy(struct remote *r, unsigned int kernel, unsigned int dir, uint64_t at,
		       uint64_t bytes)
{
	uint64_t ps = DIV_ROUND_UP((r->header + bytes) * 1000000, r->mbps);

	r->stats[kernel].busy_ps[dir] += ps;
	r->took[dir] += ps;
	/* Migrations have the other half. */
	r->free[dir] = MAX(at, r->free[dir]) + (r->shared[dir] ? 2 * ps : ps);
	return r->free[dir];
}

static void answer(struct answers *in, uint64_t at, const struct transaction *t, uint8_t sector)
{
	in->at[in->tail++ & in->mask] = (struct answer){
		.at = at,
		.reply = { .tag = t->tag, .kind = t->kind, .cls = t->cls, .sector = sector,
			   .sectors = 1 },
	};
}

static void count_access(struct remote *r, uint64_t addr)
{
	uint64_t region = (addr - MEM_BASE + MEM_VA_BASE) >> r->shift, n = 0;

	u64map_get(&r->counters, region, &n);
	if (n + 1 < r->threshold) {
		/* Without memory it is not counted. */
		u64map_put(&r->counters, region, n + 1);
	} else if (r->nregions < NOTIFICATIONS) {
		u64map_del(&r->counters, region);
		r->regions[(r->first_region + r->nregions++) % NOTIFICATIONS] = region;
	}
}

/* One transaction; its answers are not before `upto`. */
static void carry(struct remote *r, struct way *w, const struct transaction *t, uint64_t upto)
{
	struct mem_remote_stats *stats = &r->stats[t->kernel];
	uint64_t at = ps_of(r, t->sent + r->there), cycle;

	stats->count[t->kind]++;
	stats->bytes[t->kind] += t->bytes;
	if (r->counts)
		count_access(r, t->addr);
	if (t->kind == MEM_WRITE) {
		at = occupy(r, t->kernel, TO_HOST, at, t->bytes);
		cycle = MAX(cycle_of(r, at) + r->back, upto);
		for (unsigned int s = t->bytes / MEM_SECTOR; s--;)
			answer(&w->in[ANSWER_WRITE], cycle, t, (uint8_t)s);
	} else {
		uint64_t *done = &r->done[r->next_done++ % r->reads];

		stats->waits += *done > at;
		at = MAX(at, *done);
		at = occupy(r, t->kernel, TO_HOST, at, t->kind == MEM_ATOMIC ? t->bytes : 0);
		*done = occupy(r, t->kernel, TO_DEVICE, at + r->latency, t->bytes);
		cycle = MAX(cycle_of(r, *done) + r->back, upto);
		answer(&w->in[ANSWER_READ], cycle, t, 0);
		stats->latency_sum += cycle - t->sent;
		stats->latency_max = MAX(stats->latency_max, cycle - t->sent);
	}
	r->last = MAX(r->last, cycle);
}

/* The oldest transaction of all; of one cycle, the lowest SM's. NULL: none. */
static struct way *oldest(const struct remote *r)
{
	struct way *first = NULL;

	for (unsigned int i = 0; i < r->ports; i++) {
		struct way *w = &r->ways[i];

		if (w->head != w->tail && (!first || w->out[w->head & w->mask].sent <
						     first->out[first->head & first->mask].sent))
			first = w;
	}
	return first;
}

/* When the transaction begins: the way there is free, and a read is allowed one more. */
static uint64_t begins(const struct remote *r, const struct transaction *t)
{
	uint64_t at = MAX(ps_of(r, t->sent + r->there), r->free[TO_HOST]);

	return t->kind == MEM_WRITE ? at : MAX(at, r->done[r->next_done % r->reads]);
}

void remote_run(struct remote *r, uint64_t upto)
{
	struct way *w;

	while ((w = oldest(r)) && begins(r, &w->out[w->head & w->mask]) < ps_of(r, upto))
		carry(r, w, &w->out[w->head++ & w->mask], upto);
}

uint64_t remote_wake(const struct remote *r)
{
	const struct way *w = oldest(r);

	return w ? cycle_of(r, begins(r, &w->out[w->head & w->mask])) : NEVER;
}

uint64_t remote_last(const struct remote *r)
{
	return r->last;
}

bool remote_idle(const struct remote *r)
{
	for (unsigned int i = 0; i < r->ports; i++)
		if (r->ways[i].live)
			return false;
	return true;
}

void remote_cancel(struct remote *r)
{
	for (unsigned int i = 0; i < r->ports; i++) {
		struct way *w = &r->ways[i];

		w->head = w->tail;
		w->live = 0;
		for (unsigned int k = 0; k < ANSWERS; k++)
			w->in[k].head = w->in[k].tail;
	}
}

/* --- requests --------------------------------------------------------------------- */

void remote_share(struct remote *r, const bool busy[2], uint64_t took[2])
{
	for (unsigned int d = 0; d < 2; d++) {
		r->shared[d] = busy[d];
		took[d] = r->took[d];
		r->took[d] = 0;
	}
}

bool remote_notifies(const struct remote *r)
{
	return r->nregions;
}

bool remote_notified(struct remote *r, uint64_t *va)
{
	if (!r->nregions)
		return false;
	*va = r->regions[r->first_region] << r->shift;
	r->first_region = (r->first_region + 1) % NOTIFICATIONS;
	r->nregions--;
	r->notifications++;
	return true;
}

void remote_stats_of(const struct remote *r, unsigned int kernel, struct mem_remote_stats *stats)
{
	*stats = r->stats[kernel];
}

void remote_stats(const struct remote *r, struct mem_remote_stats *sum)
{
	*sum = (struct mem_remote_stats){ .notifications = r->notifications };
	for (unsigned int k = 0; k < KERNEL_SLOTS; k++) {
		const struct mem_remote_stats *s = &r->stats[k];

		for (unsigned int kind = 0; kind < ARRAY_SIZE(s->count); kind++) {
			sum->count[kind] += s->count[kind];
			sum->bytes[kind] += s->bytes[kind];
		}
		for (unsigned int dir = 0; dir < 2; dir++)
			sum->busy_ps[dir] += s->busy_ps[dir];
		sum->latency_sum += s->latency_sum;
		sum->latency_max = MAX(sum->latency_max, s->latency_max);
		sum->waits += s->waits;
	}
}
