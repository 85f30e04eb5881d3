// SPDX-License-Identifier: GPL-2.0
/*
 * From an SM's port through the crossbar and an L2 slice and back: cycles of one
 * request, contention, backpressure, and that every request is answered exactly as
 * often as it must be. mem_bench.h has the derivation of the round trip.
 */
#include <limits.h>

#include "mem_bench.h"

static void test_hit_round_trip(void **state)
{
	struct bench b;

	bench_open(&b);
	assert_int_equal(mem_lookahead(b.mem), 6);
	assert_int_equal(mem_wake(b.mem), UINT64_MAX);
	mem_prefill(b.mem, MEM_BASE, 128);
	bench_run(&b, 17);
	bench_send(&b, 3, 7, MEM_READ, MEM_BASE, 128);
	bench_drain(&b);
	assert_int_equal(b.replies[7], 4);
	assert_int_equal(b.first[7], 17 + HIT);
	assert_int_equal(b.last[7], 17 + HIT + 3);
	assert_int_equal(mem_stats(b.mem)->l2_accesses[MEM_GLOBAL][0], 4);
	assert_int_equal(mem_stats(b.mem)->l2_misses[MEM_GLOBAL][0], 0);
	assert_int_equal(mem_stats(b.mem)->latency_max, HIT + 3);
	assert_int_equal(mem_stats(b.mem)->dram_requests, 0);
	bench_close(&b);
}

/*
 * 128 bytes of data and 8 of header are 4 flits of 40: the last one enters 3
 * cycles after the first, and the slice takes the packet whole.
 */
static void test_write_takes_its_flits(void **state)
{
	struct bench b;

	bench_open(&b);
	bench_send(&b, 0, 1, MEM_WRITE, MEM_BASE, 128);
	bench_drain(&b);
	assert_int_equal(b.replies[1], 4);
	assert_int_equal(b.first[1], HIT + 3);
	assert_int_equal(b.last[1], HIT + 6);
	assert_int_equal(mem_stats(b.mem)->icnt_flits[0], 4);
	assert_int_equal(mem_stats(b.mem)->icnt_packets[0], 1);
	assert_int_equal(mem_stats(b.mem)->icnt_packets[1], 4);
	/* Allocated, not fetched. */
	assert_int_equal(mem_stats(b.mem)->l2_misses[MEM_GLOBAL][1], 4);
	assert_int_equal(mem_stats(b.mem)->dram_reads, 0);
	bench_close(&b);
}

/* An acknowledgement has no data: of each sector's write one flit of 32 bytes, where its data are two. */
static void test_acknowledgement_has_no_data(void **state)
{
	struct bench b;

	bench_spec(&b);
	b.spec.icnt_flit = 32;
	bench_start(&b);
	bench_send(&b, 0, 1, MEM_WRITE, MEM_BASE, 128);
	bench_drain(&b);
	assert_int_equal(b.replies[1], 4);
	assert_int_equal(mem_stats(b.mem)->icnt_flits[1], 4);
	bench_send(&b, 0, 2, MEM_READ, MEM_BASE, 128);
	bench_drain(&b);
	assert_int_equal(b.replies[2], 4);
	assert_int_equal(mem_stats(b.mem)->icnt_flits[1], 4 + 8);
	bench_close(&b);
}

/* 15 SMs at one slice in one cycle: the crossbar gives it one packet a cycle, in turns. */
static void test_one_slice_serves_in_turns(void **state)
{
	struct bench b;

	bench_open(&b);
	mem_prefill(b.mem, MEM_BASE, 128);
	for (unsigned int sm = 0; sm < 15; sm++)
		bench_send(&b, sm, sm, MEM_READ, MEM_BASE + 32 * (sm % 4), 32);
	bench_drain(&b);
	for (unsigned int sm = 0; sm < 15; sm++) {
		assert_int_equal(b.replies[sm], 1);
		assert_int_equal(b.first[sm], HIT + sm);
	}
	/* SM i was there in cycle 6 and went in 6 + i: 0 + 1 + ... + 14. */
	assert_int_equal(mem_stats(b.mem)->icnt_blocked[0], 105);
	bench_close(&b);
}

/* 12 slices at one SM: its link carries one sector a cycle, 48 without a gap. */
static void test_one_sm_takes_a_sector_a_cycle(void **state)
{
	struct bench b;
	uint64_t last = 0;

	bench_open(&b);
	mem_prefill(b.mem, MEM_BASE, 12 * 256);
	/* 6 channels, 2 slices: 256-byte blocks 0 to 11. */
	for (unsigned int i = 0; i < 12; i++) {
		bench_send(&b, 5, i, MEM_READ, MEM_BASE + 256 * i, 128);
		bench_run(&b, i + 1);
	}
	bench_drain(&b);
	for (unsigned int i = 0; i < 12; i++)
		last = MAX(last, b.last[i]);
	assert_int_equal(last, HIT + 47);
	bench_close(&b);
}

/* An input is a FIFO: what is behind a packet to a busy slice waits, though its own is free. */
static void test_head_of_line(void **state)
{
	struct bench b;

	bench_open(&b);
	mem_prefill(b.mem, MEM_BASE, 4096);
	/* SM 14 is last in turn at slice 0: it goes in 14 cycles, and then its second packet. */
	for (unsigned int sm = 0; sm < 15; sm++)
		bench_send(&b, sm, sm, MEM_READ, MEM_BASE, 32);
	bench_send(&b, 14, 100, MEM_READ, MEM_BASE + 256, 32);
	bench_drain(&b);
	assert_int_equal(b.first[14], HIT + 14);
	assert_int_equal(b.first[100], HIT + 15);
	bench_close(&b);
}

/* Two SMs that want one slice all the time take turns, whoever has the lower number. */
static void test_round_robin(void **state)
{
	struct bench b;

	bench_open(&b);
	mem_prefill(b.mem, MEM_BASE, 128);
	for (unsigned int i = 0; i < 6; i++) {
		bench_send(&b, 3, 2 * i, MEM_READ, MEM_BASE, 32);
		bench_send(&b, 9, 2 * i + 1, MEM_READ, MEM_BASE, 32);
	}
	bench_drain(&b);
	for (unsigned int i = 0; i < 12; i++)
		assert_int_equal(b.first[i], HIT + i);
	bench_close(&b);
}

/*
 * Flits of 20 bytes: a reply of 40 is two. The second flit goes a cycle later, and a
 * slice's second reply, a cycle later at the tags, is seen when the first one's are through.
 */
static void test_replies_of_two_flits(void **state)
{
	struct bench b;

	bench_spec(&b);
	b.spec.icnt_flit = 20;
	bench_start(&b);
	mem_prefill(b.mem, MEM_BASE, 128);
	bench_send(&b, 0, 0, MEM_READ, MEM_BASE, 32);
	bench_send(&b, 1, 1, MEM_READ, MEM_BASE, 32);
	bench_drain(&b);
	assert_int_equal(b.first[0], HIT + 1);
	assert_int_equal(b.first[1], HIT + 3);
	assert_int_equal(mem_stats(b.mem)->icnt_flits[1], 4);
	bench_close(&b);
}

/*
 * Whole lines in L2 (l2.sector): 128 bytes and 8 of header come as one packet of 5 flits of 32, the
 * last one 4 cycles behind the first, and a write of 128 bytes is acknowledged by one flit.
 */
static void test_line_is_one_reply(void **state)
{
	struct bench b;

	bench_spec(&b);
	b.spec.l2_sector = 128;
	b.spec.icnt_flit = 32;
	bench_start(&b);
	mem_prefill(b.mem, MEM_BASE, 128);
	bench_send(&b, 0, 1, MEM_READ, MEM_BASE, 128);
	bench_drain(&b);
	assert_int_equal(b.replies[1], 4);
	assert_int_equal(b.first[1], HIT + 4);
	assert_int_equal(b.last[1], HIT + 4);
	assert_int_equal(mem_stats(b.mem)->icnt_packets[1], 1);
	assert_int_equal(mem_stats(b.mem)->icnt_flits[1], 5);
	bench_send(&b, 0, 2, MEM_WRITE, MEM_BASE, 128);
	bench_drain(&b);
	assert_int_equal(b.replies[2], 4);
	assert_int_equal(mem_stats(b.mem)->icnt_packets[1], 2);
	assert_int_equal(mem_stats(b.mem)->icnt_flits[1], 6);
	bench_send(&b, 0, 3, MEM_READ, MEM_BASE + 32, 32);
	bench_drain(&b);
	assert_int_equal(b.replies[3], 1);
	assert_int_equal(mem_stats(b.mem)->icnt_flits[1], 8);
	bench_close(&b);
}

/*
 * An SM that takes nothing: the queue in front of it holds icnt.ejection packets, of five flits
 * each here, behind 24 flits of buffers; the ninth packet and what is behind it wait in the slices.
 */
static void test_receiver_counts_packets(void **state)
{
	struct bench b;

	bench_spec(&b);
	b.spec.l2_sector = 128;
	b.spec.icnt_flit = 32;
	b.spec.icnt_buffer = 8;
	b.spec.icnt_ejection = 4;
	bench_start(&b);
	mem_prefill(b.mem, MEM_BASE, 64 << 10);
	for (unsigned int i = 0; i < 64; i++) {
		struct mem_request r = { .addr = MEM_BASE + 128 * i, .tag = i, .kind = MEM_READ,
					 .bytes = 128 };

		while (!mem_ready(b.mem, 0, &r, b.now))
			mem_run(b.mem, ++b.now);
		mem_send(b.mem, &r, b.now);
	}
	mem_run(b.mem, b.now += 3000);
	/* 8 + 16 flits and 4 packets of 5. */
	assert_int_equal(mem_stats(b.mem)->icnt_flits[1], 44);
	bench_drain(&b);
	for (unsigned int i = 0; i < 64; i++)
		assert_int_equal(b.replies[i], 4);
	assert_int_equal(mem_stats(b.mem)->icnt_flits[1], 64 * 5);
	bench_close(&b);
}

/* 9 flits wait to be injected; one goes in a cycle. */
static void test_injection_buffer(void **state)
{
	struct mem_request w = { .addr = MEM_BASE, .kind = MEM_WRITE, .bytes = 128 };
	struct mem_request r = { .addr = MEM_BASE, .kind = MEM_READ, .bytes = 128 };
	struct bench b;

	bench_open(&b);
	bench_send(&b, 0, 0, MEM_WRITE, MEM_BASE, 128);
	bench_send(&b, 0, 1, MEM_WRITE, MEM_BASE + 1024, 128);
	/* 8 flits there: a ninth fits, 4 do not until 3 have gone. */
	assert_true(mem_ready(b.mem, 0, &r, 0));
	assert_false(mem_ready(b.mem, 0, &w, 0));
	assert_false(mem_ready(b.mem, 0, &w, 2));
	assert_true(mem_ready(b.mem, 0, &w, 3));
	assert_int_equal(mem_ready_at(b.mem, 0, &w, 0), 3);
	assert_int_equal(mem_ready_at(b.mem, 0, &r, 0), 0);
	assert_true(mem_ready(b.mem, 1, &w, 0));
	bench_drain(&b);
	bench_close(&b);
}

/* An SM that takes nothing stops its own replies, and with them its requests; nothing is lost. */
static void test_backpressure(void **state)
{
	struct mem_request r = { .kind = MEM_READ, .bytes = 128, .sm = 2 };
	unsigned int sent = 0, came[6000] = { 0 };
	struct mem_reply reply;
	struct bench b;

	bench_open(&b);
	mem_prefill(b.mem, MEM_BASE, 512 << 10);
	for (uint64_t now = 0; now < 6000; now++) {
		r.addr = MEM_BASE + 128 * (sent % 4096);
		r.tag = sent;
		if (mem_ready(b.mem, 2, &r, now)) {
			mem_send(b.mem, &r, now);
			sent++;
		}
		if (now % 6 == 5)
			mem_run(b.mem, now + 1);
	}
	/* Everything between here and there is full: it does not take one request a cycle any more. */
	assert_true(sent < 5000);
	assert_false(mem_ready(b.mem, 2, &r, 6000));
	assert_false(mem_idle(b.mem));
	for (uint64_t now = 6000; now < 40000; now++) {
		if (mem_receive(b.mem, 2, now, &reply))
			came[reply.tag]++;
		if (now % 6 == 5)
			mem_run(b.mem, now + 1);
	}
	for (unsigned int i = 0; i < sent; i++)
		assert_int_equal(came[i], 4);
	assert_true(mem_idle(b.mem));
	bench_close(&b);
}

static uint32_t next_random(uint32_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 17;
	*seed ^= *seed << 5;
	return *seed;
}

/* Any traffic of all SMs; sent[tag]: how often each request has to be answered. */
static void traffic(struct bench *b, uint32_t seed, unsigned int n, unsigned int rarely,
		    unsigned int *want)
{
	for (unsigned int tag = 0; tag < n;) {
		for (unsigned int sm = 0; sm < b->spec.sms && tag < n; sm++) {
			uint32_t x = next_random(&seed);
			struct mem_request r = { .tag = tag, .sm = (uint16_t)sm };

			if (x % rarely)
				continue;
			x = next_random(&seed);
			r.kind = x % 4 == 0 ? MEM_WRITE : x % 17 == 1 ? MEM_ATOMIC : MEM_READ;
			r.cls = (uint8_t)(r.kind == MEM_READ ? (x >> 8) % MEM_CLASSES : MEM_GLOBAL);
			r.bytes = r.kind == MEM_ATOMIC ? 32 : (uint8_t)(32 << (x >> 12) % 3);
			r.addr = MEM_BASE + (next_random(&seed) % (4u << 20)) / r.bytes * r.bytes;
			for (unsigned int s = 0; s < MEM_SECTORS; s++)
				r.byte_mask[s] = x & 0x10000 ? UINT32_MAX : x;
			if (!mem_ready(b->mem, sm, &r, b->now))
				continue;
			mem_send(b->mem, &r, b->now);
			want[tag++] = r.bytes / 32;
		}
		bench_run(b, b->now + 1);
	}
}

/* Light and heavy (queues full, MSHRs and merges used up) traffic. */
static void test_each_is_answered_as_often_as_it_must(void **state)
{
	static const unsigned int rarely[] = { 400, 20, 1 };

	for (unsigned int k = 0; k < ARRAY_SIZE(rarely); k++) {
		unsigned int want[BENCH_TAGS] = { 0 };
		struct bench b;
		uint64_t sum = 0;

		bench_open(&b);
		traffic(&b, 4711 + k, BENCH_TAGS, rarely[k], want);
		bench_drain(&b);
		for (unsigned int i = 0; i < BENCH_TAGS; i++) {
			assert_int_equal(b.replies[i], want[i]);
			sum += want[i];
		}
		assert_int_equal(mem_stats(b.mem)->icnt_packets[0], BENCH_TAGS);
		assert_int_equal(mem_stats(b.mem)->icnt_packets[1], sum);
		bench_close(&b);
	}
}

/* A small L2 and few MSHRs: refusals of every kind, and the end is the same. */
static void test_small_caches_answer_too(void **state)
{
	unsigned int want[BENCH_TAGS] = { 0 };
	struct bench b;

	bench_spec(&b);
	b.spec.l2_sets = 2;
	b.spec.l2_ways = 2;
	b.spec.l2_mshrs = 3;
	b.spec.l2_merges = 1;
	b.spec.l2_queue_dram = 2;
	b.spec.l2_queue_out = 2;
	b.spec.dram_queue = 2;
	b.spec.dram_return_queue = 1;
	bench_start(&b);
	traffic(&b, 99, BENCH_TAGS, 1, want);
	bench_run(&b, b.now + 200000);
	bench_drain(&b);
	for (unsigned int i = 0; i < BENCH_TAGS; i++)
		assert_int_equal(b.replies[i], want[i]);
	assert_true(mem_stats(b.mem)->l2_fails > 0);
	bench_close(&b);
}

/* Other machines: powers of two and not, one slice a channel and four, other clocks. */
static void test_other_shapes(void **state)
{
	static const struct { unsigned int sms, channels, slices, dram; } shape[] = {
		{ 1, 1, 1, 924 }, { 16, 8, 32, 700 }, { 24, 4, 8, 350 }, { 64, 16, 64, 3500 },
		{ 15, 5, 5, 1001 },
	};

	for (unsigned int k = 0; k < ARRAY_SIZE(shape); k++) {
		unsigned int want[BENCH_TAGS] = { 0 };
		struct bench b;

		bench_spec(&b);
		b.spec.sms = shape[k].sms;
		b.spec.dram_channels = shape[k].channels;
		b.spec.l2_slices = shape[k].slices;
		b.spec.dram_clock_mhz = shape[k].dram;
		bench_start(&b);
		traffic(&b, 5 + k, BENCH_TAGS, 3, want);
		bench_drain(&b);
		for (unsigned int i = 0; i < BENCH_TAGS; i++)
			assert_int_equal(b.replies[i], want[i]);
		bench_close(&b);
	}
}

static void test_refused_shapes(void **state)
{
	struct gpu_spec spec;
	struct mem *mem;

	spec_defaults(&spec);
	spec.l2_slices = 9;		/* not a multiple of 6 channels */
	assert_int_equal(mem_create(&spec, &mem), -EINVAL);
	spec_defaults(&spec);
	spec.sms = 65;
	assert_int_equal(mem_create(&spec, &mem), -EINVAL);
	spec.sms = 64;			/* and the walker's port */
	assert_int_equal(mem_create(&spec, &mem), -EINVAL);
	spec.paging = 0;
	assert_int_equal(mem_create(&spec, &mem), 0);
	mem_destroy(mem);
	spec_defaults(&spec);
	strcpy(spec.dram_map, "RRBBBCCCSSSSSS");	/* 3 bank bits, 16 banks */
	assert_int_equal(mem_create(&spec, &mem), -EINVAL);
}

static void test_same_again(void **state)
{
	uint64_t order[2];

	for (unsigned int k = 0; k < 2; k++) {
		unsigned int want[BENCH_TAGS];
		struct bench b;

		bench_open(&b);
		traffic(&b, 77, BENCH_TAGS, 2, want);
		bench_drain(&b);
		order[k] = b.order;
		bench_close(&b);
	}
	assert_true(order[0] == order[1]);
}

/* Where nothing is full, it does not matter how long the quanta are. */
static void test_quanta_do_not_matter(void **state)
{
	uint64_t order[3];

	for (unsigned int k = 0; k < 3; k++) {
		struct bench b;
		uint32_t seed = 31;

		bench_open(&b);
		for (unsigned int tag = 0; tag < 1000; tag++) {
			b.step = k == 0 ? 1 : k == 1 ? 6 : 1 + next_random(&seed) % 6;
			bench_send(&b, tag % 15, tag, tag % 5 ? MEM_READ : MEM_WRITE,
				   MEM_BASE + tag * 7919 % 8192 * 128, 128);
			bench_run(&b, b.now + 30);
		}
		bench_drain(&b);
		order[k] = b.order;
		bench_close(&b);
	}
	assert_true(order[0] == order[1]);
	assert_true(order[0] == order[2]);
}

/* The page walker's port is one more, as good as an SM's. */
static void test_walker_port(void **state)
{
	struct mem_request read = { .addr = MEM_PT_BASE + 64, .tag = 9, .kind = MEM_READ,
				    .cls = MEM_PT, .bytes = 32 };
	struct mem_reply reply;
	struct bench b;

	bench_spec(&b);
	b.spec.paging = 1;
	bench_start(&b);
	assert_int_equal(mem_walker(b.mem), 15);
	read.sm = (uint16_t)mem_walker(b.mem);
	mem_prefill(b.mem, MEM_PT_BASE, 128);
	bench_run(&b, 17);
	assert_true(mem_ready(b.mem, read.sm, &read, 17));
	mem_send(b.mem, &read, 17);
	assert_false(mem_idle(b.mem));
	bench_run(&b, 2000);
	assert_int_equal(mem_next(b.mem, 15), 17 + HIT);
	assert_false(mem_receive(b.mem, 15, 17 + HIT - 1, &reply));
	assert_true(mem_receive(b.mem, 15, 17 + HIT, &reply));
	assert_int_equal(reply.tag, 9);
	assert_int_equal(reply.sector, 2);
	assert_false(mem_peek(b.mem, 15, UINT64_MAX - 1, &reply));
	assert_int_equal(mem_stats(b.mem)->l2_accesses[MEM_PT][0], 1);
	bench_drain(&b);
	bench_close(&b);
	/* Nobody has one without paging, or where a walk's time is given. */
	bench_spec(&b);
	bench_start(&b);
	assert_int_equal(mem_walker(b.mem), UINT_MAX);
	bench_close(&b);
	bench_spec(&b);
	b.spec.paging = 1;
	b.spec.walk_latency = 100;
	bench_start(&b);
	assert_int_equal(mem_walker(b.mem), UINT_MAX);
	bench_close(&b);
}

/* While it is idle nobody notices it. */
static void test_idle_walker_port(void **state)
{
	uint64_t order[2];

	for (unsigned int k = 0; k < 2; k++) {
		unsigned int want[BENCH_TAGS];
		struct bench b;

		bench_spec(&b);
		b.spec.paging = k;
		bench_start(&b);
		traffic(&b, 78, BENCH_TAGS, 1, want);
		bench_drain(&b);
		order[k] = b.order;
		bench_close(&b);
	}
	assert_true(order[0] == order[1]);
}

static void test_unanswered_writes(void **state)
{
	struct mem_request r = { .addr = MEM_BASE, .tag = MEM_UNANSWERED, .kind = MEM_WRITE,
				 .cls = MEM_LOCAL, .bytes = 128 };
	struct bench b;

	bench_open(&b);
	mem_send(b.mem, &r, 0);
	assert_false(mem_idle(b.mem));
	bench_drain(&b);
	assert_int_equal(mem_stats(b.mem)->l2_accesses[MEM_LOCAL][1], 4);
	assert_int_equal(mem_stats(b.mem)->icnt_packets[1], 0);
	bench_close(&b);
}

static void test_cancel_forgets(void **state)
{
	unsigned int want[BENCH_TAGS] = { 0 };
	struct bench b;

	bench_open(&b);
	mem_prefill(b.mem, MEM_BASE + (64 << 20), 128);
	traffic(&b, 1, BENCH_TAGS, 1, want);
	assert_false(mem_idle(b.mem));
	mem_cancel(b.mem);
	assert_true(mem_idle(b.mem));
	assert_int_equal(mem_wake(b.mem), UINT64_MAX);
	memset(b.replies, 0, sizeof(b.replies));
	/* It works as on the first day; the far line that nobody touched is still there or not. */
	b.now += 1000;
	mem_run(b.mem, b.now);
	traffic(&b, 2, BENCH_TAGS, 1, want);
	bench_drain(&b);
	for (unsigned int i = 0; i < BENCH_TAGS; i++)
		assert_int_equal(b.replies[i], want[i]);
	bench_close(&b);
}

/*
 * The memory and the SMs run a quantum at the same time: a request and an answer cross
 * between quanta alone, and the room in the port is what it was then.
 */
static void test_sides_meet_between_quanta(void **state)
{
	struct mem_request r = { .addr = MEM_BASE, .sm = 3, .tag = 7, .kind = MEM_READ,
				 .cls = MEM_GLOBAL, .bytes = 32 };
	struct mem_reply reply;
	struct bench b;
	uint64_t now = 0;

	bench_open(&b);
	mem_prefill(b.mem, MEM_BASE, 128);
	mem_send(b.mem, &r, 0);
	/* Too late for the memory, which was not told, however long it runs. */
	mem_advance(b.mem, 500);
	assert_int_equal(mem_stats(b.mem)->icnt_packets[0], 0);
	mem_meet(b.mem, 500);
	for (now = 506; mem_stats(b.mem)->icnt_packets[1] == 0; now += 6) {
		assert_true(now < 1000);
		assert_int_equal(mem_next(b.mem, 3), UINT64_MAX);
		mem_advance(b.mem, now);
	}
	/* The answer has left the crossbar, and its SM does not know. */
	assert_int_equal(mem_next(b.mem, 3), UINT64_MAX);
	assert_false(mem_receive(b.mem, 3, now + 100, &reply));
	mem_meet(b.mem, now);
	assert_true(mem_next(b.mem, 3) <= now + 6);
	assert_true(mem_receive(b.mem, 3, now + 100, &reply));
	assert_int_equal(reply.tag, 7);
	mem_meet(b.mem, now);
	assert_true(mem_idle(b.mem));
	/* The port is full until the memory has told that it took something. */
	r.kind = MEM_WRITE;
	while (mem_ready(b.mem, 3, &r, now + 1000))
		mem_send(b.mem, &r, now++);
	mem_meet(b.mem, now);
	mem_advance(b.mem, now + 100);
	assert_false(mem_ready(b.mem, 3, &r, now + 2000));
	mem_meet(b.mem, now + 100);
	assert_true(mem_ready(b.mem, 3, &r, now + 2000));
	bench_close(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hit_round_trip),
		cmocka_unit_test(test_sides_meet_between_quanta),
		cmocka_unit_test(test_write_takes_its_flits),
		cmocka_unit_test(test_acknowledgement_has_no_data),
		cmocka_unit_test(test_one_slice_serves_in_turns),
		cmocka_unit_test(test_one_sm_takes_a_sector_a_cycle),
		cmocka_unit_test(test_head_of_line),
		cmocka_unit_test(test_round_robin),
		cmocka_unit_test(test_replies_of_two_flits),
		cmocka_unit_test(test_line_is_one_reply),
		cmocka_unit_test(test_receiver_counts_packets),
		cmocka_unit_test(test_injection_buffer),
		cmocka_unit_test(test_backpressure),
		cmocka_unit_test(test_each_is_answered_as_often_as_it_must),
		cmocka_unit_test(test_small_caches_answer_too),
		cmocka_unit_test(test_other_shapes),
		cmocka_unit_test(test_refused_shapes),
		cmocka_unit_test(test_same_again),
		cmocka_unit_test(test_quanta_do_not_matter),
		cmocka_unit_test(test_walker_port),
		cmocka_unit_test(test_idle_walker_port),
		cmocka_unit_test(test_unanswered_writes),
		cmocka_unit_test(test_cancel_forgets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
