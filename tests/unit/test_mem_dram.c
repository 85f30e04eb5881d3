// SPDX-License-Identifier: GPL-2.0
/*
 * DRAM: the timing of row hits, misses and conflicts, bank groups, turnarounds, the
 * order that FR-FCFS chooses, bandwidth, clock domains. DRAM runs at the core's
 * clock and without the fixed delay where cycles are counted (mem_bench.h), so a
 * request at the tags in cycle x may have its first command in x + 3.
 *
 * Bank 0 is block 0 of a channel, bank 1 block 1 (slice 1), bank 2 block 32 (bit 13 of the
 * channel's address), bank 4 block 64 (bit 14); the next row of bank 0 is block 256
 * (bit 16). Bank groups are bank modulo 4.
 */
#include "mem_bench.h"

#define ACTIVATE	(TAGS + 3)	/* first command of a request sent in cycle 0 */
#define BANK2		32
#define BANK4		64
#define NEXT_ROW	256

/* A bank that has no row open: activate, 12 later (RCD) the read. */
static void test_closed_bank(void **state)
{
	struct bench b;

	bench_open_small(&b, 64, 8);
	bench_send(&b, 0, 0, MEM_READ, bench_addr(0, 0, 0), 32);
	bench_drain(&b);
	assert_int_equal(b.first[0], ACTIVATE + 12 + DATA);
	assert_int_equal(mem_stats(b.mem)->dram_activates, 1);
	assert_int_equal(mem_stats(b.mem)->dram_precharges, 0);
	assert_int_equal(mem_stats(b.mem)->dram_reads, 1);
	/* Later, the row is open: the read at once. */
	b.now = 40000;
	mem_run(b.mem, 40000);
	bench_send(&b, 0, 1, MEM_READ, bench_addr(0, 0, 64), 32);
	bench_drain(&b);
	assert_int_equal(b.first[1], 40000 + ACTIVATE + DATA);
	assert_int_equal(mem_stats(b.mem)->dram_activates, 1);
	bench_close(&b);
}

/* dram.latency counts cycles of the core. */
static void test_fixed_delay(void **state)
{
	struct bench b;

	bench_spec(&b);
	b.spec.dram_clock_mhz = b.spec.clock_mhz;
	bench_start(&b);
	bench_send(&b, 0, 0, MEM_READ, bench_addr(0, 0, 0), 32);
	bench_drain(&b);
	assert_int_equal(b.first[0], ACTIVATE + 100 + 12 + DATA);
	bench_close(&b);
}

/*
 * Another row of the bank, long after: precharge, 12 (RP) activate, 12 (RCD) read.
 * Right behind: the precharge waits for RAS (28 after the activate), the activate
 * for RC (40) and RP.
 */
static void test_row_conflict(void **state)
{
	struct bench b;

	bench_open_small(&b, 64, 8);
	bench_send(&b, 0, 0, MEM_READ, bench_addr(0, 0, 0), 32);
	bench_send(&b, 1, 1, MEM_READ, bench_addr(0, NEXT_ROW, 0), 32);
	bench_drain(&b);
	assert_int_equal(b.first[0], ACTIVATE + 12 + DATA);
	assert_int_equal(b.first[1], ACTIVATE + 40 + 12 + DATA);
	b.now = 40000;
	mem_run(b.mem, 40000);
	bench_send(&b, 0, 2, MEM_READ, bench_addr(0, 0, 64), 32);
	bench_drain(&b);
	assert_int_equal(b.first[2], 40000 + ACTIVATE + 12 + 12 + DATA);
	assert_int_equal(mem_stats(b.mem)->dram_activates, 3);
	assert_int_equal(mem_stats(b.mem)->dram_precharges, 2);
	bench_close(&b);
}

/* RC counts by itself where it is longer than RAS and RP together. */
static void test_row_cycle(void **state)
{
	struct bench b;

	bench_spec(&b);
	b.spec.dram_clock_mhz = b.spec.clock_mhz;
	b.spec.dram_latency = 0;
	b.spec.dram_rc = 51;
	bench_start(&b);
	bench_send(&b, 0, 0, MEM_READ, bench_addr(0, 0, 0), 32);
	bench_send(&b, 1, 1, MEM_READ, bench_addr(0, NEXT_ROW, 0), 32);
	bench_drain(&b);
	assert_int_equal(b.first[1], ACTIVATE + 51 + 12 + DATA);
	bench_close(&b);
}

/*
 * The four sectors of a line are four column commands of one bank, so of one group:
 * 3 apart (CCDL), and each returns when its own data are there.
 */
static void test_column_commands_of_a_line(void **state)
{
	struct bench b;

	bench_open_small(&b, 64, 8);
	bench_send(&b, 0, 0, MEM_READ, bench_addr(0, 0, 0), 128);
	bench_drain(&b);
	assert_int_equal(b.first[0], ACTIVATE + 12 + DATA);
	assert_int_equal(b.last[0], ACTIVATE + 12 + 9 + DATA);
	assert_int_equal(mem_stats(b.mem)->dram_reads, 4);
	assert_int_equal(mem_stats(b.mem)->dram_requests, 4);
	/* The bus is taken for 8 transfers at 4 a tick by each. */
	assert_int_equal(mem_stats(b.mem)->dram_busy, 4 * 2);
	bench_close(&b);
}

/*
 * Two banks. All rows open and both requests there (the second comes a cycle
 * later and waits for CCD only): 2 apart in two groups, 3 apart in one.
 */
static void test_bank_groups(void **state)
{
	struct bench b;

	bench_open_small(&b, 64, 8);
	/* Banks 0, 2 (groups 0, 2) and 4 (group 0 again). */
	bench_send(&b, 0, 0, MEM_READ, bench_addr(0, 0, 0), 32);
	bench_send(&b, 0, 1, MEM_READ, bench_addr(0, BANK2, 0), 32);
	bench_send(&b, 0, 2, MEM_READ, bench_addr(0, BANK4, 0), 32);
	bench_run(&b, 40000);
	/* SM 0 had the crossbar last: SM 1 is before 2. */
	bench_send(&b, 1, 3, MEM_READ, bench_addr(0, 0, 64), 32);
	bench_send(&b, 2, 4, MEM_READ, bench_addr(0, BANK2, 64), 32);
	bench_run(&b, 80000);
	bench_send(&b, 3, 5, MEM_READ, bench_addr(0, 0, 128), 32);
	bench_send(&b, 4, 6, MEM_READ, bench_addr(0, BANK4, 64), 32);
	bench_drain(&b);
	assert_int_equal(b.first[3], 40000 + ACTIVATE + DATA);
	assert_int_equal(b.first[4], 40000 + ACTIVATE + 2 + DATA);
	assert_int_equal(b.first[5], 80000 + ACTIVATE + DATA);
	assert_int_equal(b.first[6], 80000 + ACTIVATE + 3 + DATA);
	bench_close(&b);
}

/* Activates of two banks: RRD, 6 apart; the second request comes one cycle later. */
static void test_activates(void **state)
{
	struct bench b;

	bench_open_small(&b, 64, 8);
	bench_send(&b, 0, 0, MEM_READ, bench_addr(0, 0, 0), 32);
	bench_send(&b, 1, 1, MEM_READ, bench_addr(0, BANK2, 0), 32);
	bench_drain(&b);
	assert_int_equal(b.first[0], ACTIVATE + 12 + DATA);
	assert_int_equal(b.first[1], ACTIVATE + 6 + 12 + DATA);
	bench_close(&b);
}

/*
 * FR-FCFS: the open row first, though its request is younger. Requests a, b, c of
 * one bank, rows 0, 1, 0: a reads at A = 12 after the activate; c is next, 3
 * later (CCDL); then b: precharge at 28 after the activate (RAS; RTP is long over),
 * activate at 40 (RC, RP), read at 52.
 */
static void test_open_row_first(void **state)
{
	struct bench b;

	bench_open_small(&b, 64, 8);
	bench_send(&b, 0, 0, MEM_READ, bench_addr(0, 0, 0), 32);
	bench_send(&b, 1, 1, MEM_READ, bench_addr(0, NEXT_ROW, 0), 32);
	bench_send(&b, 2, 2, MEM_READ, bench_addr(0, 0, 64), 32);
	bench_drain(&b);
	assert_int_equal(b.first[0], ACTIVATE + 12 + DATA);
	assert_int_equal(b.first[2], ACTIVATE + 12 + 3 + DATA);
	assert_int_equal(b.first[1], ACTIVATE + 52 + DATA);
	assert_int_equal(mem_stats(b.mem)->dram_activates, 2);
	bench_close(&b);
}

/* Of rows that are not open the oldest request decides, and then its row until it is empty. */
static void test_oldest_row_next(void **state)
{
	struct bench b;

	bench_open_small(&b, 64, 8);
	bench_send(&b, 0, 0, MEM_READ, bench_addr(0, 0, 0), 32);
	bench_send(&b, 1, 1, MEM_READ, bench_addr(0, 2 * NEXT_ROW, 0), 32);
	bench_send(&b, 2, 2, MEM_READ, bench_addr(0, NEXT_ROW, 0), 32);
	bench_send(&b, 3, 3, MEM_READ, bench_addr(0, 2 * NEXT_ROW, 64), 32);
	bench_drain(&b);
	assert_true(b.first[0] < b.first[1]);
	assert_int_equal(b.first[3], b.first[1] + 3);
	/* Row 1 only then: 40 (RC) after row 2's activate, which was 12 before its read. */
	assert_int_equal(b.first[2], b.first[1] - 12 + 40 + 12);
	bench_close(&b);
}

/*
 * Read, write, read. L2 is one set of one way; line W in it is dirty. A read of R
 * (sent in cycle s; bank 2, group 2) takes its place: the read command goes 12 after
 * the activate at s + ACTIVATE. W is written back (bank 4, activated RRD = 6 later, so
 * open for writes RCDWR = 7 after that, 1 after the read command): it has to wait
 * RTW = CL + 2 + 2 - WL = 12 after the read command, and being 128 bytes it is 2
 * commands, 3 apart (CCDL).
 * When R's data are in L2 (13 after its command) the next read, C, in R's row, gets
 * to the tags and replaces it: command at 13 + 3 = 16 after R's were it not for
 * WTR = WL + 2 + CDLR = 11 after the last write command: 12 + 3 + 11 = 26.
 */
static void test_turnaround(void **state)
{
	struct bench b;
	uint64_t s = 30000, read = s + ACTIVATE + 12;

	bench_open_small(&b, 1, 1);
	bench_send(&b, 0, 1, MEM_WRITE, bench_addr(0, BANK4, 0), 128);
	bench_run(&b, s);
	bench_send(&b, 1, 2, MEM_READ, bench_addr(0, BANK2, 0), 32);
	bench_send(&b, 2, 3, MEM_READ, bench_addr(0, BANK2, 128), 32);
	bench_drain(&b);
	assert_int_equal(b.first[2], read + DATA);
	assert_int_equal(b.first[3], read + 26 + DATA);
	assert_int_equal(mem_stats(b.mem)->dram_reads, 2);
	assert_int_equal(mem_stats(b.mem)->dram_writes, 2);
	assert_int_equal(mem_stats(b.mem)->dram_requests, 3);
	/* Writes take the bus as reads do. */
	assert_int_equal(mem_stats(b.mem)->dram_busy, (2 + 2) * 2);
	bench_close(&b);
}

/* A dirty row that is open goes first and the read waits for it: 11 after its second command. */
static void test_write_before_read(void **state)
{
	struct bench b;
	uint64_t s = 30000;

	bench_open_small(&b, 1, 1);
	/* Opens bank 0's row, then leaves a line of it dirty in L2. */
	bench_send(&b, 0, 0, MEM_READ, bench_addr(0, 0, 128), 32);
	bench_run(&b, 10000);
	bench_send(&b, 0, 1, MEM_WRITE, bench_addr(0, 0, 0), 128);
	bench_run(&b, s);
	bench_send(&b, 0, 2, MEM_READ, bench_addr(0, BANK2, 0), 32);
	bench_drain(&b);
	/* Writes 1 and 4 after the activate of bank 2, whose read could go 12 after it. */
	assert_int_equal(b.first[2], s + ACTIVATE + 15 + DATA);
	bench_close(&b);
}

/*
 * A row that was written stays open until its last write is in the cells. As above, X (bank 2)
 * throws W out of L2: W's row in bank 0 is open, so its two writes go 1 and 4 after X's activate.
 * X reads at 15; when its data are in L2, 13 later, R gets to the tags, which wants another row
 * of bank 0: first command 3 later, at 31. The precharge must not come before
 * WTP = WL + 2 + WR after the last write: 4 + 4 + 2 + 60 = 70. Then 12 (RP) to the activate
 * and 12 (RCD) to the read.
 */
static void test_write_before_precharge(void **state)
{
	struct bench b;
	uint64_t s = 30000;

	bench_spec(&b);
	b.spec.dram_clock_mhz = b.spec.clock_mhz;
	b.spec.dram_latency = 0;
	b.spec.l2_sets = b.spec.l2_ways = 1;
	b.spec.dram_wr = 60;
	bench_start(&b);
	bench_send(&b, 0, 0, MEM_READ, bench_addr(0, 0, 128), 32);
	bench_run(&b, 10000);
	bench_send(&b, 0, 1, MEM_WRITE, bench_addr(0, 0, 0), 128);
	bench_run(&b, s);
	bench_send(&b, 1, 2, MEM_READ, bench_addr(0, BANK2, 0), 32);
	bench_send(&b, 2, 3, MEM_READ, bench_addr(0, NEXT_ROW, 0), 32);
	bench_drain(&b);
	assert_int_equal(b.first[2], s + ACTIVATE + 15 + DATA);
	assert_int_equal(b.first[3], s + ACTIVATE + 70 + 12 + 12 + DATA);
	assert_int_equal(mem_stats(b.mem)->dram_writes, 2);
	bench_close(&b);
}

/* All SMs read lines one after the other, as many at a time as they can. */
static double stream(struct bench *b, unsigned int lines, unsigned int stride)
{
	struct mem_reply reply;
	unsigned int sent[64] = { 0 }, out[64] = { 0 }, left = 4 * lines;
	uint64_t from = b->now;

	while (left) {
		for (unsigned int i = 0; i < b->step; i++, b->now++) {
			for (unsigned int sm = 0; sm < b->spec.sms; sm++) {
				uint64_t line = sm + b->spec.sms * sent[sm];
				struct mem_request r = {
					.addr = MEM_BASE + line * 128 * stride,
					.sm = (uint16_t)sm, .kind = MEM_READ, .bytes = 128 };

				if (mem_receive(b->mem, sm, b->now, &reply)) {
					out[sm]--;
					left--;
				}
				if (line >= lines || out[sm] > 4 * 48 ||
				    !mem_ready(b->mem, sm, &r, b->now))
					continue;
				mem_send(b->mem, &r, b->now);
				out[sm] += 4;
				sent[sm]++;
			}
		}
		mem_run(b->mem, b->now);
	}
	/* GB/s */
	return lines * 128.0 * (double)b->spec.clock_mhz / (double)(b->now - from) / 1000;
}

/*
 * A column command moves 64 bytes in 2 command cycles but L2 asks for 32 of them:
 * 6 channels * 32 bytes * 924 MHz / 2 = 88.7 GB/s, half of the bus.
 */
static void test_peak_bandwidth(void **state)
{
	struct bench b;
	double rate;

	bench_open(&b);
	rate = stream(&b, 60000, 1);
	assert_true(rate < 88.7);
	assert_true(rate > 87);
	assert_int_equal(mem_stats(b.mem)->dram_reads, 240000);
	assert_true(mem_stats(b.mem)->dram_busy <= 6 * mem_stats(b.mem)->dram_cycles);
	bench_close(&b);
}

/*
 * Every line another row of the same bank (block 256 * k, 6 channels): RC = 40 ticks
 * for each line and channel, since its four columns take 21. The row of a bank is
 * 6 * 256 * 256 bytes = 3072 lines away; lines that far apart are all of channel 0, bank 0.
 */
static void test_row_conflict_stream(void **state)
{
	struct bench b;
	double rate;

	bench_open(&b);
	rate = stream(&b, 2000, 3072);
	/* 128 bytes in 40 ticks of 924 MHz. */
	assert_true(rate < 128 * 0.924 / 40 * 1.001);
	assert_true(rate > 128 * 0.924 / 40 * 0.97);
	assert_int_equal(mem_stats(b.mem)->dram_activates, 2000);
	bench_close(&b);
}

/* 924 MHz against 700: 33 ticks in 25 cycles, exactly, however long it runs. */
static void test_clock_domains(void **state)
{
	struct bench b;

	bench_open(&b);
	mem_run(b.mem, 25);
	assert_int_equal(mem_stats(b.mem)->dram_cycles, 33);
	mem_run(b.mem, 700000000);
	assert_int_equal(mem_stats(b.mem)->dram_cycles, 924000000);
	bench_close(&b);
}

/* Dependent reads of one line after the other: 117.5 cycles more than a hit (reference, 319.5 - 202). */
static void test_dependent_reads(void **state)
{
	uint64_t sum = 0;
	struct bench b;

	bench_open(&b);
	for (unsigned int i = 0; i < 2000; i++) {
		uint64_t sent = b.now;

		b.replies[0] = 0;
		bench_send(&b, 0, 0, MEM_READ, MEM_BASE + 128 * i, 128);
		while (b.replies[0] < 4)
			bench_run(&b, b.now + 1);
		sum += b.last[0] - sent;
		/* Phases against DRAM's clock differ. */
		bench_run(&b, b.now + i % 25);
	}
	assert_true(sum > 2000 * (HIT + 3 + 117));
	assert_true(sum < 2000 * (HIT + 3 + 118));
	bench_close(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_closed_bank),
		cmocka_unit_test(test_fixed_delay),
		cmocka_unit_test(test_row_conflict),
		cmocka_unit_test(test_row_cycle),
		cmocka_unit_test(test_column_commands_of_a_line),
		cmocka_unit_test(test_bank_groups),
		cmocka_unit_test(test_activates),
		cmocka_unit_test(test_open_row_first),
		cmocka_unit_test(test_oldest_row_next),
		cmocka_unit_test(test_turnaround),
		cmocka_unit_test(test_write_before_read),
		cmocka_unit_test(test_write_before_precharge),
		cmocka_unit_test(test_peak_bandwidth),
		cmocka_unit_test(test_row_conflict_stream),
		cmocka_unit_test(test_clock_domains),
		cmocka_unit_test(test_dependent_reads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
