// SPDX-License-Identifier: GPL-2.0
/*
 * Loads that L1D cannot take (sm.mem_order): with one MSHR, a hit behind two misses waits for
 * the first, or for none; and the queue has an end.
 */
#include "sm_bench.h"

/*
 * Each warp loads a line of its own, the last warp one that all have loaded before, and writes down
 * how many cycles the load took. A short loop keeps them in order.
 */
static const char kernel[] = PTX_HEAD
	".visible .entry k(.param .u64 p)\n{\n.reg .pred %p<4>;\n.reg .b64 %rd<8>;\n"
	".reg .b32 %r<16>;\nld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\n"
	"shr.u32 %r1, %r1, 5;\nld.global.u32 %r2, [%rd1+32768];\nadd.u32 %r2, %r2, %r1;\n"
	"shl.b32 %r3, %r1, 12;\nmov.u32 %r9, %ntid.x;\nshr.u32 %r9, %r9, 5;\nsub.u32 %r9, %r9, 1;\n"
	"setp.eq.u32 %p1, %r1, %r9;\nselp.b32 %r3, 32768, %r3, %p1;\ncvt.u64.u32 %rd2, %r3;\n"
	"add.s64 %rd3, %rd1, %rd2;\nbar.sync 0;\n"
	"shl.b32 %r4, %r1, 1;\nmov.u32 %r5, 0;\n"
	"WAIT:\nadd.u32 %r5, %r5, 1;\nsetp.lt.u32 %p2, %r5, %r4;\n@%p2 bra WAIT;\n"
	"mov.u32 %r6, %clock;\nld.global.u32 %r7, [%rd3];\nadd.u32 %r7, %r7, %r6;\n"
	"mov.u32 %r8, %clock;\nsub.u32 %r8, %r8, %r6;\nmul.wide.u32 %rd4, %r1, 4;\n"
	"add.s64 %rd5, %rd1, %rd4;\nst.global.u32 [%rd5+65536], %r8;\nret;\n}\n";

/* On an SM with its own settings but for these. */
static uint64_t run_on(struct bench *b, const char *order, unsigned int queue, unsigned int warps,
		       uint32_t *cycles)
{
	uint64_t fails;

	strcpy(b->spec.mem_order, order);
	b->spec.reexec_queue = queue;
	bench_load(b, kernel, 32 * warps);
	bench_run(b, 1);
	assert_int_equal(b->status, 0);
	memcpy(cycles, b->memory + 65536, warps * sizeof(*cycles));
	fails = sm_stats(b->sm)->l1d.fails;
	bench_fini(b);
	return fails;
}

/* Cycles of each warp's load; the last one's hits. Returns how often L1D refused one. */
static uint64_t run(const char *order, unsigned int queue, unsigned int warps, uint32_t *cycles)
{
	struct bench b;

	bench_init(&b);
	b.spec.l1d_mshrs = 1;
	return run_on(&b, order, queue, warps, cycles);
}

static void test_a_hit_passes_what_was_refused(void **state)
{
	static const char *const orders[] = { "mascar", "vt", "reexecute" };
	uint32_t fifo[3], aside[3];

	run("fifo", 30, 3, fifo);
	/* The second waits for the first one's MSHR, and the hit for the second to have it. */
	assert_in_range(fifo[1], fifo[0] + 200, fifo[0] + 300);
	assert_in_range(fifo[2], 200, 300);
	for (unsigned int o = 0; o < ARRAY_SIZE(orders); o++) {
		run(orders[o], 30, 3, aside);
		/* As an L1D hit alone: a dependent instruction issues 40 cycles later, and a clock. */
		assert_in_range(aside[2], 40, 45);
		/* Nobody is slower for it by more than the try it missed. */
		assert_in_range(aside[0], fifo[0] - 2, fifo[0] + 2);
		assert_in_range(aside[1], fifo[1] - 4, fifo[1] + 4);
	}
}

/* It is refused in each cycle of its wait, also in those that the SM sleeps through. */
static void test_each_cycle_of_the_wait_is_a_refusal(void **state)
{
	uint32_t cycles[3];
	uint64_t fifo = run("fifo", 30, 3, cycles);

	assert_in_range(fifo, 150, 300);
	assert_in_range(run("reexecute", 30, 3, cycles), fifo - 4, fifo + 4);
	assert_in_range(run("vt", 30, 3, cycles), fifo - 4, fifo + 4);
}

/*
 * Two are refused. Where one fits the queue, the other stays at the tags, and the hit behind it,
 * until the first has its MSHR: one memory latency in the place of two.
 */
static void test_a_full_queue_holds_up_again(void **state)
{
	uint32_t fifo[4], one[4], two[4];

	run("fifo", 30, 4, fifo);
	run("reexecute", 1, 4, one);
	run("reexecute", 2, 4, two);
	assert_in_range(fifo[3], 450, 550);
	assert_in_range(one[3], 200, 300);
	assert_in_range(two[3], 40, 45);
}

/*
 * Three are refused where two fit. The third has a place as soon as the first has its MSHR, and the
 * hit behind it passes: it waits for one memory latency, not until all that wait aside have gone.
 */
static void test_the_first_free_place_is_taken(void **state)
{
	uint32_t two[5];

	run("reexecute", 2, 5, two);
	/* The hit issues a fifth of a latency behind the first miss. */
	assert_in_range(two[4], 150, 250);
	/* They go in their order: each a memory latency behind the one before it. */
	for (unsigned int w = 1; w < 4; w++)
		assert_in_range(two[w], two[w - 1] + 200, two[w - 1] + 300);
}

/*
 * L1D has one line, so that each load waits for the line of the one before it. One fits the queue.
 * When the line comes, it is that one's, although the next is at the tags.
 */
static void test_who_waits_aside_goes_before_who_has_no_place(void **state)
{
	uint32_t cycles[5];
	struct bench b;

	bench_init(&b);
	b.spec.l1d_sets = b.spec.l1d_ways = 1;
	strcpy(b.spec.l1d_index, "linear");
	run_on(&b, "reexecute", 1, 5, cycles);
	for (unsigned int w = 1; w < 4; w++)
		assert_in_range(cycles[w], cycles[w - 1] + 150, cycles[w - 1] + 300);
}

/*
 * Sixteen warps, and twice: a warp loads four lines of its own, then needs them. It adds up the
 * cycles from behind the first load to the sum of the four.
 */
static const char fours[] = PTX_HEAD
	".visible .entry k(.param .u64 p)\n{\n.reg .pred %p<2>;\n.reg .b64 %rd<8>;\n"
	".reg .b32 %r<16>;\nld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\nshr.u32 %r1, %r1, 5;\n"
	"mul.wide.u32 %rd2, %r1, 1024;\nadd.s64 %rd3, %rd1, %rd2;\nmov.u32 %r8, 0;\n"
	"mov.u32 %r9, 0;\nmov.u32 %r10, 0;\nbar.sync 0;\n"
	"NEXT:\nld.global.u32 %r2, [%rd3];\nmov.u32 %r6, %clock;\n"
	"ld.global.u32 %r3, [%rd3+128];\nld.global.u32 %r4, [%rd3+256];\n"
	"ld.global.u32 %r5, [%rd3+384];\nadd.u32 %r2, %r2, %r3;\nadd.u32 %r4, %r4, %r5;\n"
	"add.u32 %r2, %r2, %r4;\nadd.u32 %r10, %r10, %r2;\nmov.u32 %r7, %clock;\n"
	"sub.u32 %r7, %r7, %r6;\nadd.u32 %r9, %r9, %r7;\nadd.s64 %rd3, %rd3, 512;\n"
	"add.u32 %r8, %r8, 1;\nsetp.lt.u32 %p1, %r8, 2;\n@%p1 bra NEXT;\n"
	"mul.wide.u32 %rd4, %r1, 4;\nadd.s64 %rd5, %rd1, %rd4;\n"
	"st.global.u32 [%rd5+1048576], %r9;\nst.global.u32 [%rd5+1052672], %r10;\nret;\n}\n";

/* The sum of all warps' cycles. *cycles: of the run. */
static uint32_t run_fours(const char *order, uint64_t *cycles)
{
	uint32_t sum = 0;
	struct bench b;

	bench_init(&b);
	strcpy(b.spec.mem_order, order);
	b.spec.l1d_mshrs = 2;
	/* So few wait aside and on the way to the tags that the others cannot issue. */
	b.spec.l1d_latency = b.spec.reexec_queue = 1;
	bench_load(&b, fours, 512);
	for (unsigned int i = 0; i < 128; i++)
		*(uint32_t *)(b.memory + i * 128) = i;
	bench_run(&b, 1);
	assert_int_equal(b.status, 0);
	for (uint32_t w = 0; w < 16; w++) {
		/* 8 w to 8 w + 7 */
		assert_int_equal(((uint32_t *)(b.memory + 1052672))[w], 64 * w + 28);
		sum += ((uint32_t *)(b.memory + 1048576))[w];
	}
	*cycles = b.cycles;
	bench_fini(&b);
	return sum;
}

/*
 * L1D fetches two lines at a time. Where the warps take turns, a warp's four are among sixty-four;
 * an owner's are fetched in a row, and the others begin when they can go on. The run is no longer.
 */
static void test_the_owner_loads_alone(void **state)
{
	uint64_t cycles[2];
	uint32_t turns = run_fours("reexecute", &cycles[0]);
	uint32_t owner = run_fours("mascar", &cycles[1]);

	assert_true(owner * 10 < turns * 6);
	assert_true(cycles[1] * 100 < cycles[0] * 105);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_hit_passes_what_was_refused),
		cmocka_unit_test(test_each_cycle_of_the_wait_is_a_refusal),
		cmocka_unit_test(test_a_full_queue_holds_up_again),
		cmocka_unit_test(test_the_first_free_place_is_taken),
		cmocka_unit_test(test_who_waits_aside_goes_before_who_has_no_place),
		cmocka_unit_test(test_the_owner_loads_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
