// SPDX-License-Identifier: GPL-2.0
/*
 * L2 as the SMs see it: what is fetched, written back, prefilled, dropped, merged,
 * and the address map. One set of one way where a victim is wanted.
 */
#include "mem_bench.h"
#include "mem/internal.h"

static void one(struct bench *b, uint32_t tag, enum mem_kind kind, uint64_t addr,
		unsigned int bytes)
{
	bench_send(b, 0, tag, kind, addr, bytes);
	bench_run(b, b->now + 3000);
	assert_int_equal(b->replies[tag], bytes / 32);
}

static void write_bytes(struct bench *b, uint32_t tag, uint64_t addr, uint32_t mask)
{
	struct mem_request r = { .addr = addr, .tag = tag, .kind = MEM_WRITE, .bytes = 32,
				 .byte_mask = { mask } };

	mem_send(b->mem, &r, b->now);
	bench_run(b, b->now + 3000);
	assert_int_equal(b->replies[tag], 1);
}

/* A write fetches nothing; a read of it does, unless all 32 bytes were written. */
static void test_lazy_fetch_on_read(void **state)
{
	struct bench b;

	bench_open(&b);
	write_bytes(&b, 0, MEM_BASE, 0xffffffff);
	one(&b, 1, MEM_READ, MEM_BASE, 32);
	assert_int_equal(mem_stats(b.mem)->dram_reads, 0);
	write_bytes(&b, 2, MEM_BASE + 32, 0x0000ffff);
	assert_int_equal(mem_stats(b.mem)->dram_reads, 0);
	one(&b, 3, MEM_READ, MEM_BASE + 32, 32);
	assert_int_equal(mem_stats(b.mem)->dram_reads, 1);
	/* In two halves. */
	write_bytes(&b, 4, MEM_BASE + 64, 0x0000ffff);
	write_bytes(&b, 5, MEM_BASE + 64, 0xffff0000);
	one(&b, 6, MEM_READ, MEM_BASE + 64, 32);
	assert_int_equal(mem_stats(b.mem)->dram_reads, 1);
	/* Fetched, it stays readable when a part of it is written. */
	write_bytes(&b, 7, MEM_BASE + 32, 0x1);
	one(&b, 8, MEM_READ, MEM_BASE + 32, 32);
	assert_int_equal(mem_stats(b.mem)->dram_reads, 1);
	/* Writes: 1 line, 2 more sectors; reads: the sector that had to be fetched. */
	assert_int_equal(mem_stats(b.mem)->l2_misses[MEM_GLOBAL][1], 3);
	assert_int_equal(mem_stats(b.mem)->l2_misses[MEM_GLOBAL][0], 1);
	bench_close(&b);
}

/* A victim's dirty sectors go out as one request: 64 bytes a command. Clean ones cost nothing. */
static void test_victims(void **state)
{
	static const struct { unsigned int bytes, commands; } part[] = {
		{ 32, 1 }, { 64, 1 }, { 128, 2 },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(part); i++) {
		struct bench b;

		bench_open_small(&b, 1, 1);
		one(&b, 0, MEM_READ, bench_addr(0, 0, 128), 128);
		one(&b, 1, MEM_WRITE, bench_addr(0, 2, 0), part[i].bytes);
		assert_int_equal(mem_stats(b.mem)->dram_writes, 0);
		one(&b, 2, MEM_READ, bench_addr(0, 4, 0), 32);
		assert_int_equal(mem_stats(b.mem)->dram_writes, part[i].commands);
		assert_int_equal(mem_stats(b.mem)->dram_reads, 5);
		assert_int_equal(mem_stats(b.mem)->dram_requests, 6);
		bench_close(&b);
	}
}

/*
 * l2.sector: what is fetched, and what is written back, in commands of 64 bytes. Each sector of the
 * line is asked for once, by itself, or all by one request: the look-ups and misses follow.
 */
static void test_sector_sizes(void **state)
{
	static const struct {
		unsigned int sector, bytes, accesses, misses, fetches, reads, writes;
	} row[] = {
		{ 32, 32, 4, 4, 4, 4, 1 }, { 32, 128, 4, 4, 4, 4, 1 },
		{ 64, 32, 4, 2, 2, 2, 1 }, { 64, 64, 2, 2, 2, 2, 1 }, { 64, 128, 2, 2, 2, 2, 1 },
		{ 128, 32, 4, 1, 1, 2, 2 }, { 128, 64, 2, 1, 1, 2, 2 }, { 128, 128, 1, 1, 1, 2, 2 },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(row); i++) {
		struct bench b;
		uint32_t tag = 0;

		bench_spec(&b);
		b.spec.l2_sector = row[i].sector;
		b.spec.l2_sets = b.spec.l2_ways = 1;
		bench_start(&b);
		for (unsigned int at = 0; at < 128; at += row[i].bytes)
			one(&b, tag++, MEM_READ, bench_addr(0, 0, at), row[i].bytes);
		assert_int_equal(mem_stats(b.mem)->l2_accesses[MEM_GLOBAL][0], row[i].accesses);
		assert_int_equal(mem_stats(b.mem)->l2_misses[MEM_GLOBAL][0], row[i].misses);
		assert_int_equal(mem_stats(b.mem)->dram_requests, row[i].fetches);
		assert_int_equal(mem_stats(b.mem)->dram_reads, row[i].reads);
		/* One dirty sector goes out whole. */
		one(&b, tag++, MEM_WRITE, bench_addr(0, 0, 32), 32);
		one(&b, tag++, MEM_READ, bench_addr(0, 2, 0), 32);
		assert_int_equal(mem_stats(b.mem)->dram_writes, row[i].writes);
		bench_close(&b);
	}
}

/* A whole line is readable when its last byte was written, by whatever requests. */
static void test_whole_line_written(void **state)
{
	struct bench b;

	bench_spec(&b);
	b.spec.l2_sector = 128;
	bench_start(&b);
	one(&b, 0, MEM_WRITE, MEM_BASE, 64);
	one(&b, 1, MEM_WRITE, MEM_BASE + 64, 32);
	write_bytes(&b, 2, MEM_BASE + 96, 0x7fffffff);
	write_bytes(&b, 3, MEM_BASE + 96, 0x80000000);
	one(&b, 4, MEM_READ, MEM_BASE + 32, 64);
	assert_int_equal(mem_stats(b.mem)->dram_reads, 0);
	one(&b, 5, MEM_WRITE, MEM_BASE + 128, 64);
	write_bytes(&b, 6, MEM_BASE + 192, 0x7fffffff);
	one(&b, 7, MEM_WRITE, MEM_BASE + 224, 32);
	one(&b, 8, MEM_READ, MEM_BASE + 128, 32);
	assert_int_equal(mem_stats(b.mem)->dram_reads, 2);
	bench_close(&b);
}

/*
 * With l2.write_miss=fetch a write that misses goes to DRAM and fetches its line, and is
 * acknowledged when the line is there. Then writes hit, and a victim that was hit goes out.
 */
static void test_a_write_miss_fetches(void **state)
{
	struct bench b;
	uint64_t sent;

	bench_spec(&b);
	b.spec.l2_sector = 128;
	b.spec.l2_sets = b.spec.l2_ways = 1;
	strcpy(b.spec.l2_write_miss, "fetch");
	bench_start(&b);
	sent = b.now;
	one(&b, 0, MEM_WRITE, MEM_BASE, 32);
	/* Column commands of 64 bytes. */
	assert_int_equal(mem_stats(b.mem)->dram_writes, 1);
	assert_int_equal(mem_stats(b.mem)->dram_reads, 2);
	assert_int_equal(mem_stats(b.mem)->l2_misses[MEM_GLOBAL][1], 1);
	assert_true(b.first[0] - sent > HIT + 50);
	/* A hit: nothing goes to DRAM, and the line is readable. */
	sent = b.now;
	one(&b, 1, MEM_WRITE, MEM_BASE + 64, 32);
	assert_true(b.first[1] - sent <= HIT + 1);
	one(&b, 2, MEM_READ, MEM_BASE, 128);
	assert_int_equal(mem_stats(b.mem)->dram_writes, 1);
	assert_int_equal(mem_stats(b.mem)->dram_reads, 2);
	/* Two writes and a read to another line of the set: one fetch, two writes, and the victim. */
	bench_send(&b, 0, 3, MEM_WRITE, MEM_BASE + 128 * 12 * 64, 64);
	bench_send(&b, 0, 4, MEM_WRITE, MEM_BASE + 128 * 12 * 64 + 64, 64);
	bench_send(&b, 0, 5, MEM_READ, MEM_BASE + 128 * 12 * 64, 128);
	bench_run(&b, b.now + 3000);
	assert_int_equal(b.replies[3], 2);
	assert_int_equal(b.replies[4], 2);
	assert_int_equal(b.replies[5], 4);
	assert_int_equal(mem_stats(b.mem)->l2_pending[MEM_GLOBAL], 2);
	assert_int_equal(mem_stats(b.mem)->dram_reads, 4);
	assert_int_equal(mem_stats(b.mem)->dram_writes, 1 + 2 + 2);
	/* What only went to DRAM is not written back. */
	one(&b, 6, MEM_READ, MEM_BASE, 32);
	assert_int_equal(mem_stats(b.mem)->dram_writes, 1 + 2 + 2);
	assert_true(mem_idle(b.mem));
	bench_close(&b);
}

/* Four requests of a line wait for one fetch (l2.merges), the fifth is refused until it is back. */
static void test_whole_line_merges(void **state)
{
	struct bench b;

	bench_spec(&b);
	b.spec.l2_sector = 128;
	bench_start(&b);
	for (unsigned int i = 0; i < 5; i++)
		bench_send(&b, i, i, MEM_READ, MEM_BASE, 128);
	bench_run(&b, b.now + 3000);
	for (unsigned int i = 0; i < 5; i++)
		assert_int_equal(b.replies[i], 4);
	assert_int_equal(mem_stats(b.mem)->l2_misses[MEM_GLOBAL][0], 1);
	assert_int_equal(mem_stats(b.mem)->l2_pending[MEM_GLOBAL], 3);
	assert_int_equal(mem_stats(b.mem)->l2_accesses[MEM_GLOBAL][0], 5);
	assert_true(mem_stats(b.mem)->l2_fails > 90);
	assert_int_equal(mem_stats(b.mem)->dram_reads, 2);
	bench_close(&b);
}

/* Whole lines, 4 flits; queues so short that an SM that takes nothing backs them up. */
static void short_of_room(struct bench *b)
{
	bench_spec(b);
	b->spec.l2_sector = 128;
	b->spec.l2_queue_out = 1;
	b->spec.icnt_buffer = 8;
	b->spec.icnt_ejection = 1;
	bench_start(b);
}

/* SM 0 takes nothing, the others what they get. */
static void run_without_sm0(struct bench *b, uint64_t upto)
{
	while (b->now < upto) {
		uint64_t end = MIN(upto, b->now + b->step);

		for (; b->now < end; b->now++)
			for (unsigned int sm = 1; sm < b->spec.sms; sm++)
				bench_take(b, sm, b->now);
		mem_run(b->mem, end);
	}
}

/* Reads 30 lines of a slice for SM 0, which takes none of them. */
static void fill_slice(struct bench *b)
{
	for (unsigned int i = 0; i < 30; i++) {
		bench_send(b, 0, i, MEM_READ, bench_addr(0, 2 * i, 0), 128);
		run_without_sm0(b, b->now + 300);
	}
}

/*
 * SM 0 has room for 1 packet of 4 flits, 16 in the boundary buffer and 8 in the crossbar's: 7
 * packets. The slice has its queue of 1 and (9 + 8) / 4 on their way into the crossbar: 5. Then
 * nothing more is looked up, until SM 0 takes its replies.
 */
static void test_full_queue_stops_look_ups(void **state)
{
	struct bench b;

	short_of_room(&b);
	fill_slice(&b);
	assert_int_equal(mem_stats(b.mem)->l2_misses[MEM_GLOBAL][0], 7 + 5);
	bench_drain(&b);
	assert_int_equal(mem_stats(b.mem)->l2_misses[MEM_GLOBAL][0], 30);
	for (unsigned int i = 0; i < 30; i++)
		assert_int_equal(b.replies[i], 4);
	bench_close(&b);
}

/*
 * A slice whose replies do not leave holds up no fetch of its channel's other slice: 11 replies
 * leave the first one room for one more, and 4 fetches are under way.
 */
static void test_slices_do_not_wait_for_each_other(void **state)
{
	struct bench b;

	short_of_room(&b);
	for (unsigned int i = 0; i < 11; i++) {
		bench_send(&b, 0, i, MEM_READ, bench_addr(0, 2 * i, 0), 128);
		run_without_sm0(&b, b.now + 300);
	}
	for (unsigned int i = 11; i < 15; i++)
		bench_send(&b, 0, i, MEM_READ, bench_addr(0, 2 * i, 0), 128);
	run_without_sm0(&b, b.now + 1000);
	bench_send(&b, 1, 100, MEM_READ, bench_addr(0, 1, 0), 128);
	run_without_sm0(&b, b.now + 3000);
	assert_int_equal(mem_stats(b.mem)->l2_misses[MEM_GLOBAL][0], 11 + 4 + 1);
	assert_int_equal(b.replies[100], 4);
	bench_drain(&b);
	bench_close(&b);
}

/* Atomics are done in L2: they leave the sector dirty, hit or miss, and answer once. */
static void test_atomics(void **state)
{
	struct bench b;

	bench_open_small(&b, 1, 1);
	one(&b, 0, MEM_ATOMIC, bench_addr(0, 0, 0), 32);
	assert_int_equal(mem_stats(b.mem)->l2_misses[MEM_GLOBAL][0], 1);
	one(&b, 1, MEM_ATOMIC, bench_addr(0, 0, 32), 32);
	one(&b, 2, MEM_ATOMIC, bench_addr(0, 0, 32), 32);
	assert_int_equal(mem_stats(b.mem)->l2_accesses[MEM_GLOBAL][0], 3);
	assert_int_equal(mem_stats(b.mem)->l2_misses[MEM_GLOBAL][0], 2);
	one(&b, 3, MEM_READ, bench_addr(0, 2, 0), 32);
	/* 64 dirty bytes. */
	assert_int_equal(mem_stats(b.mem)->dram_writes, 1);
	bench_close(&b);
}

/* Reads of a sector on its way wait for it together, l2.merges of them with the first. */
static void test_merges(void **state)
{
	struct bench b;

	bench_open(&b);
	for (unsigned int sm = 0; sm < 6; sm++)
		bench_send(&b, sm, sm, MEM_READ, MEM_BASE, 32);
	bench_drain(&b);
	for (unsigned int sm = 0; sm < 6; sm++)
		assert_int_equal(b.replies[sm], 1);
	assert_int_equal(mem_stats(b.mem)->dram_reads, 1);
	assert_int_equal(mem_stats(b.mem)->l2_misses[MEM_GLOBAL][0], 1);
	assert_int_equal(mem_stats(b.mem)->l2_pending[MEM_GLOBAL], 3);
	/* The fifth is refused, once a cycle, until the data are there; then two are hits. */
	assert_true(mem_stats(b.mem)->l2_fails > 90);
	assert_true(mem_stats(b.mem)->l2_fails < 130);
	assert_int_equal(mem_stats(b.mem)->l2_accesses[MEM_GLOBAL][0], 6);
	bench_close(&b);
}

static void read_constant(struct bench *b, unsigned int sm, uint32_t tag)
{
	struct mem_request r = { .addr = 0, .tag = tag, .sm = (uint16_t)sm, .kind = MEM_READ,
				 .cls = MEM_CONST, .bytes = 64 };

	mem_send(b->mem, &r, b->now);
}

/*
 * The two sectors of a constant fetch share one MSHR of 4 waiters. Of 15 SMs that ask at
 * once, a to o: a0 fetches, a1 b0 b1 wait with it, c0 finds the MSHR full. When sector 0 is
 * there c0 and all later x0 hit. c1 d1 e1 join while the four leave one a cycle; then the
 * entry is gone with sector 1 still pending: f1 fetches it, g1 h1 i1 wait with it, j1 finds
 * it full until it comes, and the rest hits. So pending are 3 + 3 + 4 (f1 among them)
 * less a1, which reserves its sector: 2 misses, 9 pending, 19 hits. SM2_GTX480 in the
 * reference runs counts the same.
 */
static void test_constants_share_an_mshr(void **state)
{
	struct bench b;

	bench_open(&b);
	read_constant(&b, 0, 0);
	bench_run(&b, b.now + 3000);
	assert_int_equal(b.replies[0], 2);
	assert_int_equal(mem_stats(b.mem)->dram_reads, 1);
	assert_int_equal(mem_stats(b.mem)->l2_misses[MEM_CONST][0], 2);
	/* The second sector was never fetched. */
	read_constant(&b, 1, 1);
	bench_run(&b, b.now + 3000);
	assert_int_equal(b.replies[1], 2);
	assert_int_equal(mem_stats(b.mem)->dram_reads, 2);
	assert_int_equal(mem_stats(b.mem)->l2_pending[MEM_CONST], 1);
	read_constant(&b, 2, 2);
	bench_run(&b, b.now + 3000);
	assert_int_equal(b.replies[2], 2);
	assert_int_equal(mem_stats(b.mem)->dram_reads, 2);
	assert_true(mem_idle(b.mem));
	bench_close(&b);

	bench_open(&b);
	for (unsigned int sm = 0; sm < 15; sm++)
		read_constant(&b, sm, sm);
	bench_run(&b, b.now + 3000);
	for (unsigned int sm = 0; sm < 15; sm++)
		assert_int_equal(b.replies[sm], 2);
	assert_int_equal(mem_stats(b.mem)->l2_accesses[MEM_CONST][0], 30);
	assert_int_equal(mem_stats(b.mem)->l2_misses[MEM_CONST][0], 2);
	assert_int_equal(mem_stats(b.mem)->l2_pending[MEM_CONST], 9);
	assert_int_equal(mem_stats(b.mem)->dram_reads, 2);
	assert_true(mem_idle(b.mem));
	bench_close(&b);
}

/* 768 KiB in all, LRU: of 1.5 MiB uploaded in order the second half is there. */
static void test_prefill(void **state)
{
	uint64_t half = 12 * 64 * 8 * 128;
	struct bench b;

	bench_open(&b);
	mem_prefill(b.mem, MEM_BASE, 2 * half);
	for (unsigned int i = 0; i < 64; i++)
		one(&b, i, MEM_READ, MEM_BASE + half + i * (half / 64), 128);
	assert_int_equal(mem_stats(b.mem)->dram_reads, 0);
	for (unsigned int i = 0; i < 64; i++)
		one(&b, 64 + i, MEM_READ, MEM_BASE + i * (half / 64), 128);
	assert_int_equal(mem_stats(b.mem)->dram_reads, 256);
	/* Clean: nothing is written back. */
	assert_int_equal(mem_stats(b.mem)->dram_writes, 0);
	bench_close(&b);
}

static void test_part_of_a_line_is_prefilled(void **state)
{
	struct bench b;

	bench_open(&b);
	mem_prefill(b.mem, MEM_BASE + 32, 40);
	one(&b, 0, MEM_READ, MEM_BASE, 128);
	assert_int_equal(mem_stats(b.mem)->dram_reads, 2);
	bench_close(&b);
}

/* What left device memory is gone, dirty or not; a page and everything. */
static void test_drop(void **state)
{
	static const uint64_t end[] = { MEM_BASE + 8192, UINT64_MAX };

	for (unsigned int i = 0; i < ARRAY_SIZE(end); i++) {
		struct bench b;

		bench_open(&b);
		mem_prefill(b.mem, MEM_BASE, 12288);
		one(&b, 0, MEM_WRITE, MEM_BASE + 4096, 128);
		mem_drop(b.mem, MEM_BASE + 4096, end[i]);
		one(&b, 1, MEM_READ, MEM_BASE + 4096 - 128, 128);
		assert_int_equal(mem_stats(b.mem)->dram_reads, 0);
		one(&b, 2, MEM_READ, MEM_BASE + 4096, 128);
		assert_int_equal(mem_stats(b.mem)->dram_reads, 4);
		one(&b, 3, MEM_READ, MEM_BASE + 8192 - 128, 128);
		assert_int_equal(mem_stats(b.mem)->dram_reads, 8);
		one(&b, 4, MEM_READ, MEM_BASE + 8192, 128);
		assert_int_equal(mem_stats(b.mem)->dram_reads, i ? 12 : 8);
		assert_int_equal(mem_stats(b.mem)->dram_writes, 0);
		bench_close(&b);
	}
}

/* A page that leaves while one of its lines is being fetched: the answer still comes. */
static void test_drop_of_what_is_fetched(void **state)
{
	struct bench b;

	bench_open(&b);
	bench_send(&b, 0, 0, MEM_READ, MEM_BASE, 128);
	bench_run(&b, 200);
	mem_drop(b.mem, 0, UINT64_MAX);
	mem_drop(b.mem, MEM_BASE, MEM_BASE + 4096);
	bench_drain(&b);
	assert_int_equal(b.replies[0], 4);
	bench_close(&b);
}

/*
 * By hand, 6 channels every 256 bytes. 0xc0012345 = block 0xc00123: 12583203 mod 6 = 3, so
 * channel 3, and 12583203 / 6 = 2097200 = 0x200030: within the channel 0x20003045.
 * Bits BBBCCCCB.CCSSSSSS of 0x3045 = 0011 0000 0100 0101: bit 8 is 0 (slice 0), bits 15-13
 * are 001, so bank 0b0010 = 2, row 0x2000 (bits 16 up). The part: bit 8 taken out:
 * 0x20003000 >> 1 | 0x45 = 0x10001845.
 */
static void test_address_map(void **state)
{
	struct gpu_spec spec;
	struct addr_place place;
	struct addr_map map;

	spec_defaults(&spec);
	assert_int_equal(addr_map_create(&spec, &map), 0);
	place = addr_place(&map, MEM_BASE);
	assert_int_equal(place.slice, 0);
	assert_int_equal(place.part, 0x10000000);
	place = addr_place(&map, 0xc0012345);
	assert_int_equal(place.slice, 3 * 2 + 0);
	assert_int_equal(place.part, 0x10001845);
	assert_int_equal(addr_bank(&map, 0, place.part), 2);
	assert_int_equal(addr_row(&map, place.part), 0x2000);
	/* Six blocks on: the same channel's next block, the other slice. */
	place = addr_place(&map, 0xc0012345 + 6 * 256);
	assert_int_equal(place.slice, 3 * 2 + 1);
	assert_int_equal(place.part, 0x10001845);
	assert_int_equal(addr_bank(&map, 1, place.part), 3);
}

/* Of any shape: two lines are never in one place, and the inverse finds them. */
static void test_address_map_is_one_to_one(void **state)
{
	static const struct { unsigned int channels, slices, interleave; } shape[] = {
		{ 6, 12, 256 }, { 8, 32, 256 }, { 1, 1, 128 }, { 5, 40, 1024 }, { 64, 64, 4096 },
	};

	for (unsigned int k = 0; k < ARRAY_SIZE(shape); k++) {
		struct gpu_spec spec;
		struct addr_map map;
		uint32_t seen[64] = { 0 };

		spec_defaults(&spec);
		spec.dram_channels = shape[k].channels;
		spec.l2_slices = shape[k].slices;
		spec.dram_interleave = shape[k].interleave;
		if (shape[k].slices / shape[k].channels > 2)
			strcpy(spec.dram_map, "RRRRRRRRRRRRBCCCCBBBCCSSSSSS");
		assert_int_equal(addr_map_create(&spec, &map), 0);
		for (unsigned int i = 0; i < 20000; i++) {
			uint64_t addr = MEM_BASE + 32 * (uint64_t)(i * 7919 % 1000003);
			struct addr_place place = addr_place(&map, addr);

			assert_true(place.slice < shape[k].slices);
			assert_true(addr_of(&map, place) == addr);
			seen[place.slice]++;
		}
		for (unsigned int i = 0; i < shape[k].slices; i++)
			assert_true(seen[i] > 20000 / shape[k].slices / 2);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lazy_fetch_on_read),
		cmocka_unit_test(test_victims),
		cmocka_unit_test(test_sector_sizes),
		cmocka_unit_test(test_whole_line_written),
		cmocka_unit_test(test_a_write_miss_fetches),
		cmocka_unit_test(test_whole_line_merges),
		cmocka_unit_test(test_full_queue_stops_look_ups),
		cmocka_unit_test(test_slices_do_not_wait_for_each_other),
		cmocka_unit_test(test_atomics),
		cmocka_unit_test(test_merges),
		cmocka_unit_test(test_constants_share_an_mshr),
		cmocka_unit_test(test_prefill),
		cmocka_unit_test(test_part_of_a_line_is_prefilled),
		cmocka_unit_test(test_drop),
		cmocka_unit_test(test_drop_of_what_is_fetched),
		cmocka_unit_test(test_address_map),
		cmocka_unit_test(test_address_map_is_one_to_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
