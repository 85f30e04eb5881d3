// SPDX-License-Identifier: GPL-2.0
/*
 * The coalescer and the shared-memory banks: what a warp's addresses cost.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "mem/mem.h"

static void fill(uint64_t addr[WARP_LANES], uint64_t base, uint64_t stride)
{
	for (unsigned int i = 0; i < WARP_LANES; i++)
		addr[i] = base + i * stride;
}

static void expect(const struct mem_line *line, uint64_t addr, unsigned int bytes,
		   uint32_t lanes)
{
	assert_int_equal(line->addr, addr);
	assert_int_equal(line->bytes, bytes);
	assert_int_equal(line->lanes, lanes);
}

static void test_consecutive_words_are_one_line(void **state)
{
	struct mem_line lines[2 * WARP_LANES];
	uint64_t addr[WARP_LANES];

	fill(addr, 0x1000, 4);
	assert_int_equal(mem_coalesce(addr, ~0u, 4, lines), 1);
	expect(&lines[0], 0x1000, 128, ~0u);
	/* 32 words that start 4 bytes before a line's end: 31 and one; highest first, cut to what is used. */
	fill(addr, 0x107c, 4);
	assert_int_equal(mem_coalesce(addr, ~0u, 4, lines), 2);
	expect(&lines[0], 0x1080, 128, ~1u);
	expect(&lines[1], 0x1060, 32, 1);
	/* Doubles: 256 bytes. */
	fill(addr, 0x1000, 8);
	assert_int_equal(mem_coalesce(addr, ~0u, 8, lines), 2);
	expect(&lines[0], 0x1080, 128, 0xffff0000);
	expect(&lines[1], 0x1000, 128, 0xffff);
	/* Vectors of 16 bytes: 512. */
	fill(addr, 0x1000, 16);
	assert_int_equal(mem_coalesce(addr, ~0u, 16, lines), 4);
	expect(&lines[0], 0x1180, 128, 0xff000000);
}

/* Bytes: segments of 32, halves: of 64. */
static void test_narrow_accesses(void **state)
{
	struct mem_line lines[2 * WARP_LANES];
	uint64_t addr[WARP_LANES];

	fill(addr, 0x1010, 1);
	assert_int_equal(mem_coalesce(addr, ~0u, 1, lines), 2);
	expect(&lines[0], 0x1020, 32, 0xffff0000);
	expect(&lines[1], 0x1000, 32, 0x0000ffff);
	fill(addr, 0x1000, 2);
	assert_int_equal(mem_coalesce(addr, ~0u, 2, lines), 1);
	expect(&lines[0], 0x1000, 64, ~0u);
	fill(addr, 0x1000, 4);
	assert_int_equal(mem_coalesce(addr, ~0u, 2, lines), 2);
	expect(&lines[0], 0x1040, 64, 0xffff0000);
	/* 16 halves in the upper half of their segment. */
	fill(addr, 0x1060, 2);
	assert_int_equal(mem_coalesce(addr, 0xffff, 2, lines), 1);
	expect(&lines[0], 0x1060, 32, 0xffff);
}

/* 128 to 64 to 32 bytes, when only one half is used; not when both ends are. */
static void test_cut(void **state)
{
	static const struct {
		unsigned int first, count;
		uint64_t addr;
		unsigned int bytes;
	} c[] = {
		{ 0, 8, 0x1000, 32 }, { 8, 8, 0x1020, 32 }, { 16, 8, 0x1040, 32 },
		{ 24, 8, 0x1060, 32 }, { 0, 16, 0x1000, 64 }, { 16, 16, 0x1040, 64 },
		{ 0, 9, 0x1000, 64 }, { 23, 2, 0x1040, 64 }, { 15, 2, 0x1000, 128 },
		{ 7, 18, 0x1000, 128 }, { 31, 1, 0x1060, 32 },
	};
	struct mem_line lines[2 * WARP_LANES];
	uint64_t addr[WARP_LANES];

	fill(addr, 0x1000, 4);
	for (unsigned int i = 0; i < ARRAY_SIZE(c); i++) {
		uint32_t lanes = (uint32_t)(((1ull << c[i].count) - 1) << c[i].first);

		assert_int_equal(mem_coalesce(addr, lanes, 4, lines), 1);
		expect(&lines[0], c[i].addr, c[i].bytes, lanes);
		/* The same beside a far line. */
		addr[i % 2 ? 0 : 31] = 0x90000;
		if (!(lanes & (i % 2 ? 1 : 1u << 31))) {
			uint32_t far = i % 2 ? 1 : 1u << 31;

			assert_int_equal(mem_coalesce(addr, lanes | far, 4, lines), 2);
			expect(&lines[0], 0x90000, 32, far);
			expect(&lines[1], c[i].addr, c[i].bytes, lanes);
		}
		fill(addr, 0x1000, 4);
	}
	/* First and last word alone. */
	assert_int_equal(mem_coalesce(addr, 0x80000001, 4, lines), 1);
	expect(&lines[0], 0x1000, 128, 0x80000001);
}

static void test_every_lane_its_line(void **state)
{
	struct mem_line lines[2 * WARP_LANES];
	uint64_t addr[WARP_LANES];

	fill(addr, 0x20000, 4096);
	assert_int_equal(mem_coalesce(addr, ~0u, 4, lines), 32);
	for (unsigned int i = 0; i < WARP_LANES; i++)
		expect(&lines[i], addr[31 - i], 32, 1u << (31 - i));
	/* In any order of lanes. */
	for (unsigned int i = 0; i < WARP_LANES; i++)
		addr[i] = 0x20000 + (i * 11 % 32) * 4096;
	assert_int_equal(mem_coalesce(addr, ~0u, 4, lines), 32);
	for (unsigned int i = 1; i < WARP_LANES; i++)
		assert_true(lines[i].addr < lines[i - 1].addr);
}

static void test_inactive_lanes_cost_nothing(void **state)
{
	struct mem_line lines[2 * WARP_LANES];
	uint64_t addr[WARP_LANES];

	fill(addr, 0x20000, 128);
	assert_int_equal(mem_coalesce(addr, 0x80000001, 4, lines), 2);
	expect(&lines[0], addr[31], 32, 0x80000000);
	expect(&lines[1], addr[0], 32, 1);
	assert_int_equal(mem_coalesce(addr, 0, 4, lines), 0);
}

static void test_scattered_lanes_meet_on_a_line(void **state)
{
	struct mem_line lines[2 * WARP_LANES];
	uint64_t addr[WARP_LANES];

	/* Even lanes on one line, odd lanes on another. */
	for (unsigned int i = 0; i < WARP_LANES; i++)
		addr[i] = (i & 1 ? 0x8000 : 0x9000) + 4 * i;
	assert_int_equal(mem_coalesce(addr, ~0u, 4, lines), 2);
	expect(&lines[0], 0x9000, 128, 0x55555555);
	expect(&lines[1], 0x8000, 128, 0xaaaaaaaa);
}

/* A lane whose bytes are in two segments has a part in both. */
static void test_an_access_over_two_segments(void **state)
{
	struct mem_line lines[2 * WARP_LANES];
	uint64_t addr[WARP_LANES] = { 0x107c };

	assert_int_equal(mem_coalesce(addr, 1, 8, lines), 2);
	expect(&lines[0], 0x1080, 32, 1);
	expect(&lines[1], 0x1060, 32, 1);
}

/* Packets of 32 bytes; lanes on one word go in packets of their own. */
static void test_atomics(void **state)
{
	struct mem_line lines[2 * WARP_LANES];
	uint64_t addr[WARP_LANES];

	fill(addr, 0x1000, 4);
	assert_int_equal(mem_coalesce_atomic(addr, ~0u, 4, lines), 4);
	expect(&lines[0], 0x1060, 32, 0xff000000);
	expect(&lines[3], 0x1000, 32, 0xff);
	/* All on one word: 32 packets, the last lane's first. */
	fill(addr, 0x1000, 0);
	assert_int_equal(mem_coalesce_atomic(addr, ~0u, 4, lines), 32);
	expect(&lines[0], 0x1000, 32, 0x80000000);
	expect(&lines[31], 0x1000, 32, 1);
	/* Lanes 0-3 on words 0-3, lanes 4-7 on them again: two packets of four. */
	for (unsigned int i = 0; i < 8; i++)
		addr[i] = 0x1000 + 4 * (i % 4);
	assert_int_equal(mem_coalesce_atomic(addr, 0xff, 4, lines), 2);
	expect(&lines[0], 0x1000, 32, 0xf0);
	expect(&lines[1], 0x1000, 32, 0x0f);
	/* 64-bit. */
	fill(addr, 0x1000, 8);
	assert_int_equal(mem_coalesce_atomic(addr, 0xff, 8, lines), 2);
	expect(&lines[0], 0x1020, 32, 0xf0);
	assert_int_equal(mem_coalesce_atomic(addr, 0, 8, lines), 0);
}

static void test_bank_conflicts(void **state)
{
	uint64_t addr[WARP_LANES];

	/* Stride of k words, k a power of two: k lanes a bank. */
	for (unsigned int k = 1; k <= 32; k *= 2) {
		fill(addr, 0, 4 * k);
		assert_int_equal(mem_bank_cycles(addr, ~0u, 4, 32), k);
	}
	/* Odd strides are free of conflicts. */
	fill(addr, 64, 4 * 33);
	assert_int_equal(mem_bank_cycles(addr, ~0u, 4, 32), 1);
}

/* A lane's 8 bytes are two words, one behind the other in two banks. */
static void test_bank_conflicts_of_doubles(void **state)
{
	uint64_t addr[WARP_LANES];

	/* 16 bytes apart: words 0 1, 4 5, ... 124 125; bank 0 has words 0, 32, 64 and 96. */
	fill(addr, 0, 16);
	assert_int_equal(mem_bank_cycles(addr, ~0u, 8, 32), 4);
	/* Lane 0 has words 0 and 1, lane 1 words 33 and 34: they meet in bank 1 alone. */
	addr[1] = 33 * 4;
	assert_int_equal(mem_bank_cycles(addr, 3, 8, 32), 2);
	assert_int_equal(mem_bank_cycles(addr, 3, 4, 32), 1);
	/* Words 31 and 32, 63 and 64: twice bank 31 and twice bank 0. */
	addr[0] = 31 * 4;
	addr[1] = 63 * 4;
	assert_int_equal(mem_bank_cycles(addr, 3, 8, 32), 2);
	/* Words 0 and 1, 1 and 2: the word that both have is given to both at once. */
	addr[0] = 0;
	addr[1] = 4;
	assert_int_equal(mem_bank_cycles(addr, 3, 8, 32), 1);
	/* One lane never waits for itself. */
	assert_int_equal(mem_bank_cycles(addr, 1, 8, 32), 1);
	/* But in one bank its words come one after the other. */
	assert_int_equal(mem_bank_cycles(addr, 1, 8, 1), 2);
}

static void test_broadcast_and_vectors(void **state)
{
	uint64_t addr[WARP_LANES];

	fill(addr, 256, 0);
	assert_int_equal(mem_bank_cycles(addr, ~0u, 4, 32), 1);
	/* Bytes of one word are one word. */
	fill(addr, 256, 1);
	assert_int_equal(mem_bank_cycles(addr, ~0u, 1, 32), 1);
	/* Two words in turns are broadcasts as well, in two banks and in one. */
	for (unsigned int i = 0; i < WARP_LANES; i++)
		addr[i] = i & 1 ? 4 : 0;
	assert_int_equal(mem_bank_cycles(addr, ~0u, 4, 32), 1);
	for (unsigned int i = 0; i < WARP_LANES; i++)
		addr[i] = i & 1 ? 128 : 0;
	assert_int_equal(mem_bank_cycles(addr, ~0u, 4, 32), 2);
	/* 64 words over 32 banks, 128 words. */
	fill(addr, 0, 8);
	assert_int_equal(mem_bank_cycles(addr, ~0u, 8, 32), 2);
	fill(addr, 0, 16);
	assert_int_equal(mem_bank_cycles(addr, ~0u, 16, 32), 4);
	/* One bank (a broadcast cache): as many cycles as distinct words. */
	fill(addr, 0, 4);
	assert_int_equal(mem_bank_cycles(addr, 0xff, 4, 1), 8);
	/* Nobody: the unit is still held for a cycle. */
	assert_int_equal(mem_bank_cycles(addr, 0, 4, 32), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_consecutive_words_are_one_line),
		cmocka_unit_test(test_narrow_accesses),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_every_lane_its_line),
		cmocka_unit_test(test_inactive_lanes_cost_nothing),
		cmocka_unit_test(test_scattered_lanes_meet_on_a_line),
		cmocka_unit_test(test_an_access_over_two_segments),
		cmocka_unit_test(test_atomics),
		cmocka_unit_test(test_bank_conflicts),
		cmocka_unit_test(test_bank_conflicts_of_doubles),
		cmocka_unit_test(test_broadcast_and_vectors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
