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

static void test_consecutive_words_are_one_line(void **state)
{
	struct mem_line lines[WARP_LANES];
	uint64_t addr[WARP_LANES];

	fill(addr, 0x1000, 4);
	assert_int_equal(mem_coalesce(addr, ~0u, 128, lines), 1);
	assert_int_equal(lines[0].addr, 0x1000);
	assert_int_equal(lines[0].lanes, ~0u);
	/* 32 words that start 4 bytes before a line's end: one lane, then 31. */
	fill(addr, 0x107c, 4);
	assert_int_equal(mem_coalesce(addr, ~0u, 128, lines), 2);
	assert_int_equal(lines[0].addr, 0x1000);
	assert_int_equal(lines[0].lanes, 1);
	assert_int_equal(lines[1].addr, 0x1080);
	assert_int_equal(lines[1].lanes, ~1u);
	/* Doubles: 256 bytes. */
	fill(addr, 0x1000, 8);
	assert_int_equal(mem_coalesce(addr, ~0u, 128, lines), 2);
	assert_int_equal(lines[0].lanes, 0xffff);
}

static void test_every_lane_its_line(void **state)
{
	struct mem_line lines[WARP_LANES];
	uint64_t addr[WARP_LANES];
	uint32_t seen = 0;

	fill(addr, 0x20000, 4096);
	assert_int_equal(mem_coalesce(addr, ~0u, 128, lines), 32);
	for (unsigned int i = 0; i < WARP_LANES; i++) {
		assert_int_equal(lines[i].addr, addr[i]);
		assert_int_equal(lines[i].lanes, 1u << i);
		seen |= lines[i].lanes;
	}
	assert_int_equal(seen, ~0u);
}

static void test_inactive_lanes_cost_nothing(void **state)
{
	struct mem_line lines[WARP_LANES];
	uint64_t addr[WARP_LANES];

	fill(addr, 0x20000, 128);
	assert_int_equal(mem_coalesce(addr, 0x80000001, 128, lines), 2);
	assert_int_equal(lines[0].lanes, 1);
	assert_int_equal(lines[1].addr, addr[31]);
	assert_int_equal(mem_coalesce(addr, 0, 128, lines), 0);
	/* Nor are they served when their line is needed anyway. */
	fill(addr, 0x20000, 4);
	assert_int_equal(mem_coalesce(addr, 0xf0, 128, lines), 1);
	assert_int_equal(lines[0].lanes, 0xf0);
}

static void test_scattered_lanes_meet_on_a_line(void **state)
{
	struct mem_line lines[WARP_LANES];
	uint64_t addr[WARP_LANES];

	/* Even lanes on one line, odd lanes on another: order of first lanes. */
	for (unsigned int i = 0; i < WARP_LANES; i++)
		addr[i] = (i & 1 ? 0x8000 : 0x9000) + 4 * i;
	assert_int_equal(mem_coalesce(addr, ~0u, 128, lines), 2);
	assert_int_equal(lines[0].addr, 0x9000);
	assert_int_equal(lines[0].lanes, 0x55555555);
	assert_int_equal(lines[1].lanes, 0xaaaaaaaa);
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

static void test_broadcast_and_vectors(void **state)
{
	uint64_t addr[WARP_LANES];

	fill(addr, 256, 0);
	assert_int_equal(mem_bank_cycles(addr, ~0u, 4, 32), 1);
	/* Bytes of one word are one word. */
	fill(addr, 256, 1);
	assert_int_equal(mem_bank_cycles(addr, ~0u, 1, 32), 1);
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
		cmocka_unit_test(test_every_lane_its_line),
		cmocka_unit_test(test_inactive_lanes_cost_nothing),
		cmocka_unit_test(test_scattered_lanes_meet_on_a_line),
		cmocka_unit_test(test_bank_conflicts),
		cmocka_unit_test(test_broadcast_and_vectors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
