/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The memory system alone on a bench: requests go in at given cycles, replies
 * are noted with the cycle in which the SM could take them. For test_mem_*.c.
 *
 * Round trip of a 32-byte read that hits L2, sent in cycle p: injected p + 1, in
 * the crossbar p + 6, taken by the slice p + 7; ROP delay 120, out at p + 127; tags
 * p + 128; in the crossbar p + 129; taken by the SM p + 136. Sector k of a longer
 * read k cycles later.
 *
 * For DRAM the benches below run its clock at the core's, so that ticks are cycles.
 * Tags at x: in the queue to DRAM x + 1, taken x + 2, dram.latency L later in the
 * scheduler, commands from x + 3 + L on; a read command in tick d: data d + 12, in L2
 * d + 13, out of its MSHR d + 14, in the crossbar d + 15, taken by the SM d + 22.
 */
#ifndef GPUEMU_TESTS_MEM_BENCH_H
#define GPUEMU_TESTS_MEM_BENCH_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "mem/mem.h"
#include "mem_run.h"

#define HIT		136	/* cycles from send to the first reply */
#define TAGS		128	/* from send to the tags */
#define DATA		22	/* from a read command to the reply */
#define BENCH_TAGS	4096

struct bench {
	struct gpu_spec spec;
	struct mem *mem;
	uint64_t now;		/* next cycle of the SMs */
	unsigned int step;	/* cycles of a quantum */
	unsigned int replies[BENCH_TAGS];	/* by tag: sectors that were answered */
	uint64_t first[BENCH_TAGS], last[BENCH_TAGS];
	uint64_t order;		/* hash of all arrivals */
};

static inline void bench_start(struct bench *b)
{
	assert_int_equal(mem_create(&b->spec, &b->mem), 0);
	b->step = mem_lookahead(b->mem);
}

static inline void bench_spec(struct bench *b)
{
	memset(b, 0, sizeof(*b));
	spec_defaults(&b->spec);
	/* The SMs' ports alone: the walker's is a test of its own. */
	b->spec.paging = 0;
}

static inline void bench_open(struct bench *b)
{
	bench_spec(b);
	bench_start(b);
}

/* One slice with one line, DRAM at the core's clock and without the fixed delay. */
static inline void bench_open_small(struct bench *b, uint64_t sets, uint64_t ways)
{
	bench_spec(b);
	b->spec.dram_clock_mhz = b->spec.clock_mhz;
	b->spec.dram_latency = 0;
	b->spec.l2_sets = sets;
	b->spec.l2_ways = ways;
	bench_start(b);
}

static inline void bench_close(struct bench *b)
{
	mem_destroy(b->mem);
}

static inline void bench_take(struct bench *b, unsigned int sm, uint64_t now)
{
	struct mem_reply r;

	if (!mem_receive(b->mem, sm, now, &r))
		return;
	assert_true(r.tag < BENCH_TAGS);
	if (!b->replies[r.tag])
		b->first[r.tag] = now;
	b->replies[r.tag] += r.sectors;
	b->last[r.tag] = now;
	b->order = (b->order ^ (now * 64 + sm) ^ (uint64_t)r.tag << 40) * 0x9e3779b97f4a7c15ull;
}

/* Runs the SMs, which take all they get, up to cycle `upto` and the memory with them. */
static inline void bench_run(struct bench *b, uint64_t upto)
{
	while (b->now < upto) {
		uint64_t end = MIN(upto, b->now + b->step);

		for (; b->now < end; b->now++)
			for (unsigned int sm = 0; sm < b->spec.sms; sm++)
				bench_take(b, sm, b->now);
		mem_run(b->mem, end);
	}
}

static inline void bench_send(struct bench *b, unsigned int sm, uint32_t tag, enum mem_kind kind,
			      uint64_t addr, unsigned int bytes)
{
	struct mem_request r = { .addr = addr, .tag = tag, .sm = (uint16_t)sm,
				 .kind = (uint8_t)kind, .cls = MEM_GLOBAL,
				 .bytes = (uint8_t)bytes };

	memset(r.byte_mask, 0xff, sizeof(r.byte_mask));
	assert_true(mem_ready(b->mem, sm, &r, b->now));
	mem_send(b->mem, &r, b->now);
}

/* Of a GTX 480: byte `within` of block q of 256 bytes of a channel. */
static inline uint64_t bench_addr(unsigned int channel, uint64_t q, unsigned int within)
{
	return MEM_BASE + ((q * 6 + channel) << 8) + within;
}

/* All has come to rest; every reply was taken. */
static inline void bench_drain(struct bench *b)
{
	bench_run(b, b->now + 20000);
	assert_true(mem_idle(b->mem));
	assert_int_equal(mem_wake(b->mem), UINT64_MAX);
	for (unsigned int sm = 0; sm < b->spec.sms; sm++)
		assert_int_equal(mem_next(b->mem, sm), UINT64_MAX);
}

#endif
