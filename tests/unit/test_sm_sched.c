// SPDX-License-Identifier: GPL-2.0
/*
 * Warp schedulers: the order of each row, alone and on an SM; and that the cycles an
 * SM sleeps through count as if they had run.
 */
#include "sm_bench.h"
#include "sm/sched/sched.h"

/* Warps 0, 2, 4, 6 are a scheduler's; 4 is the oldest, then 0, 6, 2. */
static warpset older[MAX_WARPS];

static void ages(void)
{
	older[4] = 0;
	older[0] = 1u << 4;
	older[6] = 1u << 4 | 1u << 0;
	older[2] = 1u << 4 | 1u << 0 | 1u << 6;
}

static void test_orders(void **state)
{
	struct sched_state s = { .mine = 0x55, .active_max = 6 };
	const struct sched_ops *gto = sched_find("gto"), *lrr = sched_find("lrr");
	const struct sched_ops *old = sched_find("old");

	ages();
	/* Nobody has issued: LRR begins at the first, the others with the oldest. */
	assert_int_equal(lrr->pick(&s, 0x55, older), 0);
	assert_int_equal(gto->pick(&s, 0x55, older), 4);
	assert_int_equal(old->pick(&s, 0x55, older), 4);
	assert_int_equal(gto->before(&s, 6, older), 0x11);
	s.any = true;
	s.last = 2;
	/* Behind 2 comes 4; greedy stays; oldest does not care. */
	assert_int_equal(lrr->pick(&s, 0x55, older), 4);
	assert_int_equal(lrr->pick(&s, 0x05, older), 0);
	assert_int_equal(gto->pick(&s, 0x55, older), 2);
	assert_int_equal(gto->pick(&s, 0x41, older), 0);
	assert_int_equal(old->pick(&s, 0x45, older), 0);
	/* The warps that it walks past on the way. */
	assert_int_equal(lrr->before(&s, 4, older) & s.mine, 0);
	assert_int_equal(lrr->before(&s, 0, older) & s.mine, 0x50);
	assert_int_equal(gto->before(&s, 2, older) & s.mine, 0);
	assert_int_equal(gto->before(&s, 4, older) & s.mine, 0x04);
	assert_int_equal(gto->before(&s, 6, older) & s.mine, 0x15);
	s.last = 63;
	assert_int_equal(lrr->pick(&s, 1ull << 63 | 2, older), 1);
}

static void test_two_levels(void **state)
{
	const struct sched_ops *two = sched_find("two_level");
	struct sched_state s = { .mine = ~0ull, .active_max = 2 };

	/* Two of four are active, the first in the queue. */
	assert_int_equal(two->candidates(&s, 0xf, 0), 0x3);
	assert_int_equal(two->candidates(&s, 0xf, 0), 0x3);
	/* 0 waits for memory: 2 takes its place, and 0 comes back behind 3. */
	assert_int_equal(two->candidates(&s, 0xe, 0x1), 0x6);
	assert_int_equal(two->candidates(&s, 0xf, 0), 0x6);
	assert_int_equal(two->candidates(&s, 0xd, 0x2), 0xc);
	assert_int_equal(two->candidates(&s, 0xb, 0x4), 0x9);
	/* All wait, then one not: it is active alone. */
	assert_int_equal(two->candidates(&s, 0, 0xf), 0);
	assert_int_equal(two->candidates(&s, 0x4, 0xb), 0x4);
}

/* Each warp stores the cycles in which four independent instructions of it issue. */
static const char clocks[] = PTX_HEAD
	".visible .entry k(.param .u64 p)\n{\n"
	".reg .b64 %rd<8>;\n.reg .b32 %r<12>;\n"
	"ld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\n"
	"mul.wide.u32 %rd2, %r1, 16;\nadd.s64 %rd3, %rd1, %rd2;\n"
	"bar.sync 0;\nmov.u32 %r2, %clock;\nmov.u32 %r3, %clock;\n"
	"mov.u32 %r4, %clock;\nmov.u32 %r5, %clock;\n"
	"st.global.v4.u32 [%rd3], {%r2, %r3, %r4, %r5};\nret;\n}\n";

static void run_clocks(const char *scheduler, uint32_t out[3][4])
{
	struct bench b;

	bench_init(&b);
	strcpy(b.spec.scheduler, scheduler);
	b.spec.schedulers = 1;
	bench_load(&b, clocks, 96);
	bench_run(&b, 1);
	/* Again: nothing is missing in L1I. */
	bench_run(&b, 1);
	assert_int_equal(b.status, 0);
	for (unsigned int w = 0; w < 3; w++)
		memcpy(out[w], &b.memory[w * 32 * 16], 16);
	bench_fini(&b);
}

static void test_order_on_an_sm(void **state)
{
	uint32_t c[3][4], first;

	/*
	 * All have bar as the first of a pair and the first clock as its second, so when the last
	 * comes to the barrier all can issue. Round robin: one each, warp after warp.
	 */
	run_clocks("lrr", c);
	first = MIN(c[0][0], MIN(c[1][0], c[2][0]));
	for (unsigned int w = 0; w < 3; w++)
		assert_in_range(c[w][0], first, first + 2);
	/* The oldest first: 0 is fetched again in the cycle of its clock and so on. */
	run_clocks("old", c);
	assert_true(c[0][0] < c[1][0] && c[1][0] < c[2][0]);
	assert_int_equal(c[0][1], c[0][0] + 2);
	assert_int_equal(c[0][2], c[0][0] + 3);
	/* Greedy: the warp that came to the barrier last issues its clock right behind it. */
	run_clocks("gto", c);
	first = MIN(c[0][0], MIN(c[1][0], c[2][0]));
	assert_int_equal(c[2][0], first);
	assert_true(c[0][0] < c[1][0]);
}

/* Everything at a time: divergence, barriers, shared and global memory, SFU, divisions. */
static const char mix[] = PTX_HEAD
	".visible .entry k(.param .u64 p)\n{\n"
	".reg .pred %p<8>;\n.reg .b32 %r<24>;\n.reg .b64 %rd<8>;\n.reg .f32 %f<8>;\n"
	".shared .align 4 .b8 buf[4096];\n"
	"mov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\nmov.u32 %r20, %ntid.x;\n"
	"mad.lo.u32 %r3, %r2, %r20, %r1;\n"
	"ld.param.u64 %rd1, [p];\nmul.wide.u32 %rd2, %r3, 68;\nadd.s64 %rd3, %rd1, %rd2;\n"
	"mov.u32 %r4, buf;\nshl.b32 %r5, %r1, 2;\nadd.s32 %r6, %r4, %r5;\nmov.u32 %r7, 0;\n"
	"LOOP:\n"
	"ld.global.u32 %r8, [%rd3];\n"
	"and.b32 %r9, %r1, 3;\nsetp.eq.u32 %p1, %r9, 1;\n@%p1 bra ODD;\n"
	"cvt.rn.f32.u32 %f1, %r8;\nsqrt.approx.f32 %f2, %f1;\ncvt.rzi.u32.f32 %r10, %f2;\nbra.uni JOIN;\n"
	"ODD:\ndiv.u32 %r10, %r3, 7;\n"
	"JOIN:\n"
	"add.s32 %r11, %r10, %r8;\nst.shared.u32 [%r6], %r11;\nbar.sync 0;\n"
	"xor.b32 %r12, %r5, 124;\nadd.s32 %r13, %r4, %r12;\nld.shared.u32 %r14, [%r13];\n"
	"add.s32 %r15, %r14, 1;\nst.global.u32 [%rd3], %r15;\nbar.sync 0;\n"
	"add.s32 %r7, %r7, 1;\nsetp.lt.u32 %p2, %r7, 4;\n@%p2 bra LOOP;\n"
	"setp.gt.u32 %p3, %r1, 40;\n@%p3 ret;\nadd.s64 %rd4, %rd1, 1048576;\n"
	"red.global.add.u32 [%rd4], %r7;\nret;\n}\n";

static void run_mix(struct bench *b, const char *scheduler, unsigned int quantum, bool every)
{
	bench_init(b);
	strcpy(b->spec.scheduler, scheduler);
	b->quantum = quantum;
	b->every_cycle = every;
	bench_load(b, mix, 96);
	bench_run(b, 24);
	assert_int_equal(b->status, 0);
	/* 24 CTAs, 41 threads of each add 4. */
	assert_int_equal(((uint32_t *)b->memory)[1048576 / 4], 24 * 41 * 4);
	assert_int_equal(bench_stall_sum(b), b->now * b->spec.schedulers);
}

static void test_sleep_changes_nothing(void **state)
{
	struct bench a, b;

	for (unsigned int i = 0; sched_rows[i]; i++) {
		struct sm_counters want;
		uint64_t cycles;

		run_mix(&a, sched_rows[i]->name, 1, true);
		want = *sm_stats(a.sm);
		cycles = a.cycles;
		assert_int_equal(want.retired_ctas, 24);
		bench_fini(&a);
		run_mix(&b, sched_rows[i]->name, 1, false);
		assert_int_equal(b.cycles, cycles);
		assert_memory_equal(sm_stats(b.sm), &want, sizeof(want));
		bench_fini(&b);
	}
}

static void test_schedulers_differ(void **state)
{
	uint64_t cycles[4];
	struct bench b;

	for (unsigned int i = 0; i < 4; i++) {
		run_mix(&b, sched_rows[i]->name, 0, false);
		cycles[i] = b.cycles;
		bench_fini(&b);
		for (unsigned int j = 0; j < i; j++)
			assert_int_not_equal(cycles[i], cycles[j]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_orders),
		cmocka_unit_test(test_two_levels),
		cmocka_unit_test(test_order_on_an_sm),
		cmocka_unit_test(test_sleep_changes_nothing),
		cmocka_unit_test(test_schedulers_differ),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
