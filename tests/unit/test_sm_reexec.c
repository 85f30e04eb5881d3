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

/* Cycles of each warp's load; the last one's hits. */
static void run(const char *order, unsigned int queue, unsigned int warps, uint32_t *cycles)
{
	struct bench b;

	bench_init(&b);
	strcpy(b.spec.mem_order, order);
	b.spec.l1d_mshrs = 1;
	b.spec.reexec_queue = queue;
	bench_load(&b, kernel, 32 * warps);
	bench_run(&b, 1);
	assert_int_equal(b.status, 0);
	memcpy(cycles, b.memory + 65536, warps * sizeof(*cycles));
	bench_fini(&b);
}

static void test_a_hit_passes_what_was_refused(void **state)
{
	static const char *const orders[] = { "reexecute", "vt" };
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_hit_passes_what_was_refused),
		cmocka_unit_test(test_a_full_queue_holds_up_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
