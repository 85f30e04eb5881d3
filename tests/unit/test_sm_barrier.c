// SPDX-License-Identifier: GPL-2.0
/*
 * Barriers in time: arrive, red, counted ones, their reuse, what is an error,
 * and the words for warps that will never go on.
 */
#include <errno.h>

#include "sm_bench.h"

#define HEAD PTX_HEAD							\
	".visible .entry k(.param .u64 p)\n{\n"				\
	".reg .pred %p<8>;\n.reg .b32 %r<16>;\n.reg .b64 %rd<8>;\n"	\
	".shared .align 4 .b8 buf[4096];\n"				\
	"mov.u32 %r1, %tid.x;\nshr.u32 %r2, %r1, 5;\nmov.u32 %r3, %ntid.x;\n" \
	"ld.param.u64 %rd1, [p];\nmul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd3, %rd1, %rd2;\n"

static void run(struct bench *b, const char *ptx, uint32_t threads, uint32_t ctas)
{
	bench_init(b);
	memset(b->memory, 0xff, 4096);
	bench_load(b, ptx, threads);
	bench_run(b, ctas);
}

static uint32_t word(unsigned int i)
{
	return ((const uint32_t *)BENCH_BASE)[i];
}

static void test_who_arrives_does_not_wait(void **state)
{
	struct bench b;

	/*
	 * Warp 0 arrives at once and stores; warp 1 comes 145 cycles later,
	 * waits for nobody then. If arriving waited, warp 0 would stall there.
	 */
	run(&b, HEAD
	    "setp.ne.u32 %p1, %r2, 0;\n@%p1 bra CONSUMER;\n"
	    "bar.arrive 1, 64;\n"
	    "st.global.u32 [%rd3], %r1;\n"
	    "ret;\n"
	    "CONSUMER:\n"
	    "div.u32 %r4, %r1, %r3;\nmov.u32 %r5, %r4;\n"
	    "bar.sync 1, 64;\n"
	    "st.global.u32 [%rd3], %r5;\n"
	    "ret;\n}\n", 64, 1);
	assert_int_equal(b.status, 0);
	assert_int_equal(word(31), 31);
	assert_int_equal(word(63), 0);
	assert_int_equal(sm_stats(b.sm)->stalls[STALL_BARRIER], 0);
	assert_int_equal(sm_stats(b.sm)->retired_ctas, 1);
	bench_fini(&b);
}

static void test_consumers_wait_for_who_arrives(void **state)
{
	struct bench b;

	/* Three warps wait for data that the fourth stores before it arrives. */
	run(&b, HEAD
	    "mov.u32 %r6, buf;\nand.b32 %r7, %r1, 31;\nshl.b32 %r7, %r7, 2;\nadd.s32 %r6, %r6, %r7;\n"
	    "setp.ne.u32 %p1, %r2, 3;\n@%p1 bra CONSUMER;\n"
	    "div.u32 %r4, %r1, 3;\n"
	    "st.shared.u32 [%r6], %r4;\n"
	    "bar.arrive 7, 128;\n"
	    "ret;\n"
	    "CONSUMER:\n"
	    "bar.sync 7, 128;\n"
	    "ld.shared.u32 %r5, [%r6];\n"
	    "st.global.u32 [%rd3], %r5;\n"
	    "ret;\n}\n", 128, 5);
	assert_int_equal(b.status, 0);
	for (unsigned int t = 0; t < 96; t++)
		assert_int_equal(word(t), (96 + t % 32) / 3);
	assert_int_equal(word(96), 0xffffffff);
	/* Again, now that no instruction is missing: they come before the division is done. */
	bench_run(&b, 5);
	assert_true(sm_stats(b.sm)->stalls[STALL_BARRIER] > 0);
	bench_fini(&b);
}

/* popc, and, or of tid < limit over the CTA: 16 bits of count, then the two booleans. */
static const char reduction[] = HEAD
	"ld.global.u32 %r4, [%rd1];\n"
	"setp.lt.u32 %p1, %r1, %r4;\n"
	"bar.red.popc.u32 %r5, 0, %p1;\n"
	"bar.red.and.pred %p2, 0, %p1;\n"
	"bar.red.or.pred %p3, 0, %p1;\n"
	"selp.u32 %r6, 65536, 0, %p2;\n"
	"selp.u32 %r7, 131072, 0, %p3;\n"
	"add.s32 %r8, %r5, %r6;\nadd.s32 %r9, %r8, %r7;\n"
	"bar.sync 0;\n"
	"st.global.u32 [%rd3+4], %r9;\n"
	"ret;\n}\n";

static void test_reductions(void **state)
{
	static const struct {
		uint32_t threads, limit, want;
	} rows[] = {
		{ 128, 0, 0 }, { 128, 1, 1 | 131072 }, { 128, 70, 70 | 131072 },
		{ 128, 128, 128 | 65536 | 131072 },
		/* Threads that the last warp does not have are nobody's vote. */
		{ 40, 40, 40 | 65536 | 131072 }, { 40, 39, 39 | 131072 }, { 1, 0, 0 },
	};
	struct bench b;

	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++) {
		bench_init(&b);
		memset(b.memory, 0xff, 4096);
		memcpy(b.memory, &rows[i].limit, 4);
		bench_load(&b, reduction, rows[i].threads);
		bench_run(&b, 1);
		assert_int_equal(b.status, 0);
		for (uint32_t t = 0; t < rows[i].threads; t++)
			assert_int_equal(word(1 + t), rows[i].want);
		assert_int_equal(word(1 + rows[i].threads), 0xffffffff);
		bench_fini(&b);
	}
}

static void test_a_counted_reduction(void **state)
{
	struct bench b;

	/* Warps 0 and 1 among themselves, 2 and 3 as well, on one number after the other. */
	run(&b, HEAD
	    "shr.u32 %r4, %r2, 1;\nadd.s32 %r5, %r4, 2;\n"
	    "setp.ge.u32 %p1, %r1, 50;\n"
	    "bar.red.popc.u32 %r6, %r5, 64, %p1;\n"
	    "st.global.u32 [%rd3], %r6;\n"
	    "ret;\n}\n", 128, 1);
	assert_int_equal(b.status, 0);
	assert_int_equal(word(0), 14);
	assert_int_equal(word(63), 14);
	assert_int_equal(word(64), 64);
	bench_fini(&b);
}

static void test_one_barrier_many_times(void **state)
{
	struct bench b;

	/* A token goes round: in round i, every thread reads what its neighbour wrote in round i - 1. */
	run(&b, HEAD
	    "mov.u32 %r6, buf;\nshl.b32 %r7, %r1, 2;\nadd.s32 %r8, %r6, %r7;\n"
	    "add.s32 %r9, %r1, 1;\nrem.u32 %r9, %r9, %r3;\nshl.b32 %r9, %r9, 2;\nadd.s32 %r9, %r6, %r9;\n"
	    "mov.u32 %r10, %r1;\nmov.u32 %r11, 0;\n"
	    "LOOP:\n"
	    "st.shared.u32 [%r8], %r10;\n"
	    "bar.sync 0;\n"
	    "ld.shared.u32 %r10, [%r9];\n"
	    "bar.sync 0;\n"
	    "add.s32 %r11, %r11, 1;\nsetp.lt.u32 %p1, %r11, 100;\n@%p1 bra LOOP;\n"
	    "st.global.u32 [%rd3], %r10;\n"
	    "ret;\n}\n", 160, 3);
	assert_int_equal(b.status, 0);
	for (uint32_t t = 0; t < 160; t++)
		assert_int_equal(word(t), (t + 100) % 160);
	bench_fini(&b);
}

static void test_counts_that_differ(void **state)
{
	static const char *const second[] = { "bar.sync 1, 96;", "bar.sync 1;", "bar.arrive 1, 32;" };
	char text[2048];
	struct bench b;

	/* A CTA of 128 threads: who names no number means all. */
	for (unsigned int i = 0; i < ARRAY_SIZE(second); i++) {
		snprintf(text, sizeof(text), "%s%s%s%s", HEAD
			 "setp.eq.u32 %p1, %r2, 0;\n@%p1 bra FIRST;\n"
			 "div.u32 %r4, %r1, %r3;\nadd.s32 %r5, %r4, 1;\n", second[i],
			 "\nret;\nFIRST:\nbar.arrive 1, 64;\nret;\n}\n", "");
		run(&b, text, 128, 1);
		assert_int_equal(b.status, -ECANCELED);
		assert_non_null(strstr(b.err.text, "barrier 1:"));
		assert_non_null(strstr(b.err.text, "who came before expects 64"));
		assert_non_null(strstr(b.err.text, "test.ptx line"));
		sm_cancel(b.sm);
		bench_fini(&b);
	}
	/* The whole CTA by number or by none is the same. */
	run(&b, HEAD
	    "setp.eq.u32 %p1, %r2, 0;\n@%p1 bra FIRST;\nbar.sync 1;\nret;\n"
	    "FIRST:\nbar.arrive 1, 128;\nret;\n}\n", 128, 1);
	assert_int_equal(b.status, 0);
	bench_fini(&b);
}

static void test_a_warp_that_left_after_it_arrived_counts_once(void **state)
{
	struct bench b;

	/* Warp 0 arrives and exits; warp 1 must still wait for warp 2, whose store it reads. */
	run(&b, HEAD
	    "setp.eq.u32 %p1, %r2, 1;\n@%p1 bra WAIT;\n"
	    "setp.eq.u32 %p2, %r2, 2;\n@%p2 bra LATE;\n"
	    "bar.arrive 0, 96;\nret;\n"
	    "LATE:\ndiv.u32 %r4, %r1, 2;\nst.shared.u32 [buf], %r4;\nbar.arrive 0, 96;\nret;\n"
	    "WAIT:\nbar.sync 0;\nld.shared.u32 %r5, [buf];\nst.global.u32 [%rd3], %r5;\nret;\n}\n",
	    96, 1);
	assert_int_equal(b.status, 0);
	assert_int_equal(word(32), 47);
	bench_fini(&b);
}

static void test_who_will_never_go_on(void **state)
{
	char what[400];
	struct bench b;

	/* Warps 0 and 1 wait for three at barrier 2; warp 2 is at barrier 3, warp 3 has left. */
	bench_init(&b);
	bench_load(&b, HEAD
		   "setp.eq.u32 %p1, %r2, 3;\n@%p1 bra OUT;\n"
		   "setp.eq.u32 %p2, %r2, 2;\n@%p2 bra OTHER;\n"
		   "bar.sync 2, 96;\nret;\n"
		   "OTHER:\nbar.sync 3;\n"
		   "OUT:\nret;\n}\n", 128);
	assert_int_equal(sm_begin(b.sm, b.kernel), 0);
	assert_int_equal(sm_launch_cta(b.sm, b.kernel, (const uint32_t [3]){ 4, 5, 6 }, 0), 0);
	for (uint64_t now = 1; now < 3000; now++)
		bench_quantum(&b, now, now + 1);
	assert_int_equal(b.status, 0);
	assert_int_equal(sm_resident_ctas(b.sm, NULL), 1);
	assert_int_equal(b.wake, NEVER);
	sm_describe(b.sm, what, sizeof(what));
	assert_string_equal(what, "SM 0: 3 running warps, CTA (4,5,6): warps 0-1 at barrier 2 for 96 "
			    "threads, 64 arrived; missing: warp 2 (at barrier 3), warp 3 (exited), "
			    "CTA (4,5,6): warp 2 at barrier 3 for 128 threads, 32 arrived; missing: "
			    "warps 0-1 (at barrier 2)");
	/* However little room there is. */
	for (size_t n = 1; n < sizeof(what); n++) {
		memset(what, 'x', sizeof(what));
		sm_describe(b.sm, what, n);
		assert_true(memchr(what, '\0', n));
	}
	sm_cancel(b.sm);
	bench_fini(&b);
}

static void test_a_trap_is_no_bad_access(void **state)
{
	struct bench b;

	run(&b, HEAD "trap;\nret;\n}\n", 32, 1);
	assert_int_equal(b.status, -ECANCELED);
	assert_non_null(strstr(b.err.text, "trap"));
	assert_int_equal(sm_failure(b.sm)->fault_addr, 0);
	assert_ptr_equal(sm_failure(b.sm)->kernel, b.kernel);
	sm_cancel(b.sm);
	bench_fini(&b);
	run(&b, HEAD "add.s64 %rd4, %rd1, 2;\nst.global.u32 [%rd4], %r1;\nret;\n}\n", 32, 1);
	assert_int_equal(b.status, -EFAULT);
	assert_int_equal(sm_failure(b.sm)->fault_addr, BENCH_BASE + 2);
	sm_cancel(b.sm);
	assert_null(sm_failure(b.sm));
	bench_fini(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_who_arrives_does_not_wait),
		cmocka_unit_test(test_consumers_wait_for_who_arrives),
		cmocka_unit_test(test_reductions),
		cmocka_unit_test(test_a_counted_reduction),
		cmocka_unit_test(test_one_barrier_many_times),
		cmocka_unit_test(test_counts_that_differ),
		cmocka_unit_test(test_a_warp_that_left_after_it_arrived_counts_once),
		cmocka_unit_test(test_who_will_never_go_on),
		cmocka_unit_test(test_a_trap_is_no_bad_access),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
