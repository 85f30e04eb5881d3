// SPDX-License-Identifier: GPL-2.0
/*
 * What the memory system did for each kernel slot: derived by hand, request by request.
 */
#include "mem_bench.h"

static void send(struct bench *b, unsigned int kernel, uint32_t tag, enum mem_kind kind,
		 uint64_t addr, unsigned int bytes)
{
	struct mem_request r = { .addr = addr, .tag = tag, .sm = (uint16_t)(tag % 15),
				 .kind = (uint8_t)kind, .cls = MEM_GLOBAL,
				 .bytes = (uint8_t)bytes, .kernel = (uint8_t)kernel };

	memset(r.byte_mask, 0xff, sizeof(r.byte_mask));
	assert_true(mem_ready(b->mem, r.sm, &r, b->now));
	mem_send(b->mem, &r, b->now);
}

/*
 * One line an L2 slice. Kernel 3 writes it whole; kernel 5 reads another one, which takes
 * its place: the write to DRAM is kernel 5's, too.
 */
static void test_who_evicts_pays(void **state)
{
	struct mem_stats three, five, none;
	struct bench b;

	bench_open_small(&b, 1, 1);
	send(&b, 3, 0, MEM_WRITE, bench_addr(0, 0, 0), 128);
	bench_run(&b, 3000);
	send(&b, 5, 1, MEM_READ, bench_addr(0, 0, 128), 128);
	bench_run(&b, 6000);
	assert_int_equal(b.replies[0], 4);
	assert_int_equal(b.replies[1], 4);
	mem_stats_of(b.mem, 3, &three);
	mem_stats_of(b.mem, 5, &five);
	mem_stats_of(b.mem, 0, &none);

	assert_int_equal(three.l2_accesses[MEM_GLOBAL][1], 4);
	assert_int_equal(three.l2_misses[MEM_GLOBAL][1], 4);
	assert_int_equal(three.l2_accesses[MEM_GLOBAL][0], 0);
	/* 8 + 128 bytes in flits of 40; four acknowledgements of one. */
	assert_int_equal(three.icnt_packets[0], 1);
	assert_int_equal(three.icnt_flits[0], 4);
	assert_int_equal(three.icnt_packets[1], 4);
	assert_int_equal(three.icnt_flits[1], 4);
	assert_int_equal(three.latency_count, 4);
	assert_int_equal(three.dram_requests, 0);
	assert_int_equal(three.dram_activates, 0);

	assert_int_equal(five.l2_accesses[MEM_GLOBAL][0], 4);
	assert_int_equal(five.l2_misses[MEM_GLOBAL][0], 4);
	assert_int_equal(five.l2_accesses[MEM_GLOBAL][1], 0);
	assert_int_equal(five.icnt_packets[0], 1);
	assert_int_equal(five.icnt_flits[0], 1);
	assert_int_equal(five.icnt_packets[1], 4);
	assert_int_equal(five.latency_count, 4);
	/* Four sectors are read, a line is written in two commands of 64 bytes; all of one row. */
	assert_int_equal(five.dram_requests, 5);
	assert_int_equal(five.dram_reads, 4);
	assert_int_equal(five.dram_writes, 2);
	assert_int_equal(five.dram_activates, 1);
	assert_int_equal(five.dram_precharges, 0);
	assert_int_equal(five.dram_busy, 6 * 2);

	assert_int_equal(none.l2_accesses[MEM_GLOBAL][0], 0);
	assert_int_equal(none.icnt_packets[0], 0);
	assert_int_equal(none.latency_count, 0);
	bench_close(&b);
}

/* A row that another kernel has open is closed for the one that needs its bank. */
static void test_rows(void **state)
{
	struct mem_stats first, second;
	struct bench b;

	bench_open_small(&b, 64, 8);
	send(&b, 1, 0, MEM_READ, bench_addr(0, 0, 0), 32);
	bench_run(&b, 3000);
	/* 512 blocks of a channel are all columns of all banks. */
	send(&b, 2, 1, MEM_READ, bench_addr(0, 512, 0), 32);
	bench_run(&b, 6000);
	mem_stats_of(b.mem, 1, &first);
	mem_stats_of(b.mem, 2, &second);
	assert_int_equal(first.dram_activates, 1);
	assert_int_equal(first.dram_precharges, 0);
	assert_int_equal(second.dram_activates, 1);
	assert_int_equal(second.dram_precharges, 1);
	assert_int_equal(first.latency_sum + second.latency_sum, mem_stats(b.mem)->latency_sum);
	/* The longest is the second's: it waited for the row to be closed. */
	assert_true(first.latency_max < second.latency_max);
	assert_int_equal(second.latency_max, mem_stats(b.mem)->latency_max);
	bench_close(&b);
}

/*
 * Eight packets for one slice from as many SMs in one cycle: each is granted the slice
 * behind those of lower SMs.
 */
static void test_who_waits_is_blocked(void **state)
{
	struct mem_stats first, second;
	struct bench b;

	bench_open_small(&b, 64, 8);
	for (uint32_t i = 0; i < 8; i++)
		send(&b, i < 4 ? 1 : 2, i, MEM_WRITE, bench_addr(0, 0, 0), 128);
	bench_run(&b, 3000);
	mem_stats_of(b.mem, 1, &first);
	mem_stats_of(b.mem, 2, &second);
	/* The second kernel has SMs 4 to 7. */
	assert_true(first.icnt_blocked[0] < second.icnt_blocked[0]);
	assert_int_equal(first.icnt_blocked[0] + second.icnt_blocked[0],
			 mem_stats(b.mem)->icnt_blocked[0]);
	assert_int_equal(first.icnt_flits[0], 16);
	assert_int_equal(second.icnt_flits[0], 16);
	bench_close(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_who_evicts_pays),
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_who_waits_is_blocked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
