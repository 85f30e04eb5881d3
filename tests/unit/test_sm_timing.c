// SPDX-License-Identifier: GPL-2.0
/*
 * Cycles of tiny programs, each derived by hand. A CTA is launched in cycle 0
 * and issues from cycle 1 on. A kernel has ended when its last result is
 * written back, so `cycles` is that cycle plus one.
 */
#include "sm_bench.h"

#define LATENCY_ADD	4	/* latency.int_add */
#define LATENCY_SHARED	26
#define LATENCY_GLOBAL	320

/* Runs text with one CTA of `threads`; returns the cycles. */
static uint64_t cycles_of(struct bench *b, const char *text, uint32_t threads)
{
	bench_load(b, text, threads);
	bench_run(b, 1);
	assert_int_equal(b->status, 0);
	assert_int_equal(bench_stall_sum(b), b->cycles * b->spec.schedulers);
	return b->cycles;
}

static const char dependent_adds[] = PTX_HEAD
	".visible .entry k()\n{\n"
	".reg .b32 %r<4>;\n"
	"mov.u32 %r1, 1;\n"
	"add.s32 %r1, %r1, 3;\n"
	"add.s32 %r1, %r1, 3;\n"
	"add.s32 %r1, %r1, 3;\n"
	"add.s32 %r1, %r1, 3;\n"
	"ret;\n}\n";

static void test_dependent_adds_take_their_latency(void **state)
{
	struct bench b;

	bench_init(&b);
	/* mov 1; adds 2, 6, 10, 14; the last is written back in 18. */
	assert_int_equal(cycles_of(&b, dependent_adds, 32), 19);
	assert_int_equal(sm_stats(b.sm)->warp_instructions, 6);
	assert_int_equal(sm_stats(b.sm)->thread_instructions, 6 * 32);
	assert_int_equal(sm_stats(b.sm)->stalls[STALL_ISSUED], 6);
	/* Between adds: 3 cycles three times. */
	assert_int_equal(sm_stats(b.sm)->stalls[STALL_SHORT], 9);
	bench_fini(&b);
}

static void test_waw_waits_too(void **state)
{
	struct bench b;

	bench_init(&b);
	/* setp 2, add 3, then a mov to the same register: not before 7; who reads it 8, ret 9. */
	assert_int_equal(cycles_of(&b, PTX_HEAD
		".visible .entry k()\n{\n.reg .pred %p<2>;\n.reg .b32 %r<4>;\n"
		"mov.u32 %r1, 1;\n"
		"setp.eq.u32 %p1, %r1, 1;\n"
		"add.s32 %r2, %r1, 3;\n"
		"@%p1 mov.u32 %r2, 5;\n"
		"mov.u32 %r3, %r2;\n"
		"ret;\n}\n", 32), 10);
	bench_fini(&b);
}

static const char independent_adds[] = PTX_HEAD
	".visible .entry k()\n{\n"
	".reg .b32 %r<12>;\n"
	"mov.u32 %r1, 1;\n"
	"add.s32 %r2, %r1, 3;\n"
	"add.s32 %r3, %r1, 3;\n"
	"add.s32 %r4, %r1, 3;\n"
	"add.s32 %r5, %r1, 3;\n"
	"add.s32 %r6, %r1, 3;\n"
	"add.s32 %r7, %r1, 3;\n"
	"add.s32 %r8, %r1, 3;\n"
	"add.s32 %r9, %r1, 3;\n"
	"ret;\n}\n";

static void test_independent_adds_issue_every_cycle(void **state)
{
	struct bench b;

	bench_init(&b);
	/* mov 1; adds 2 to 9; the last is written back in 13. */
	assert_int_equal(cycles_of(&b, independent_adds, 32), 14);
	assert_int_equal(sm_stats(b.sm)->stalls[STALL_SHORT], 0);
	bench_fini(&b);
}

static void test_two_schedulers_issue_side_by_side(void **state)
{
	struct bench b;

	/* Warps 0 and 1 belong to different schedulers: as fast as one. */
	bench_init(&b);
	assert_int_equal(cycles_of(&b, independent_adds, 64), 14);
	bench_fini(&b);
	/* Four warps: each scheduler issues 20 instructions; the last add in 18 or 19. */
	bench_init(&b);
	b.spec.schedulers = 1;
	/* One scheduler, two warps, 20 instructions in 1..20: LRR alternates, so adds end 18. */
	assert_int_equal(cycles_of(&b, independent_adds, 64), 23);
	bench_fini(&b);
}

static const char muls[] = PTX_HEAD
	".visible .entry k()\n{\n.reg .b32 %r<12>;\n"
	"mov.u32 %r1, 7;\n"
	"mul.lo.s32 %r2, %r1, %r1;\n"
	"mul.lo.s32 %r3, %r1, %r1;\n"
	"mul.lo.s32 %r4, %r1, %r1;\n"
	"mul.lo.s32 %r5, %r1, %r1;\n"
	"ret;\n}\n";

static const char sines[] = PTX_HEAD
	".visible .entry k()\n{\n.reg .f32 %f<12>;\n"
	"mov.f32 %f1, 0f3f800000;\n"
	"sin.approx.f32 %f2, %f1;\n"
	"sin.approx.f32 %f3, %f1;\n"
	"sin.approx.f32 %f4, %f1;\n"
	"ret;\n}\n";

static const char divs[] = PTX_HEAD
	".visible .entry k()\n{\n.reg .f32 %f<12>;\n"
	"mov.f32 %f1, 0f3f800000;\n"
	"div.rn.f32 %f2, %f1, %f1;\n"
	"div.rn.f32 %f3, %f1, %f1;\n"
	"div.rn.f32 %f4, %f1, %f1;\n"
	"ret;\n}\n";

static void test_units_and_initiation(void **state)
{
	struct bench b;

	/* A unit takes a multiply every 2 cycles; one warp alternates between the 2 SPs: 2, 3, 4, 5. */
	bench_init(&b);
	assert_int_equal(cycles_of(&b, muls, 32), 10);
	assert_int_equal(sm_stats(b.sm)->stalls[STALL_PIPELINE], 0);
	bench_fini(&b);
	/*
	 * Two warps want 2 a cycle, the SPs take 1: 2 and 2, then 4 and 4, 6, 8;
	 * the last is written back in 12. Each scheduler waits in 3, 5 and 7; ret
	 * in 9 finds its SP busy and waits as well.
	 */
	bench_init(&b);
	assert_int_equal(cycles_of(&b, muls, 64), 13);
	assert_int_equal(sm_stats(b.sm)->stalls[STALL_PIPELINE], 2 * 4);
	bench_fini(&b);
	/* The SFU takes one every 8 cycles: 2, 10, 18; latency 8: 26. */
	bench_init(&b);
	assert_int_equal(cycles_of(&b, sines, 32), 27);
	assert_int_equal(sm_stats(b.sm)->stalls[STALL_PIPELINE], 7 + 7);
	bench_fini(&b);
	/* Divisions go there as well, every 4: 2, 6, 10; latency 39: 49. */
	bench_init(&b);
	assert_int_equal(cycles_of(&b, divs, 32), 50);
	assert_int_equal(sm_stats(b.sm)->stalls[STALL_PIPELINE], 3 + 3);
	bench_fini(&b);
}

/* A dependent load from shared memory, every lane `stride` bytes from the next. */
static uint64_t shared_load(struct bench *b, unsigned int stride)
{
	char text[1024];

	snprintf(text, sizeof(text), PTX_HEAD
		".visible .entry k()\n{\n"
		".reg .b32 %%r<8>;\n"
		".shared .align 4 .b8 buf[8192];\n"
		"mov.u32 %%r1, %%tid.x;\n"
		"mul.lo.s32 %%r2, %%r1, %u;\n"
		"mov.u32 %%r3, buf;\n"
		"add.s32 %%r4, %%r3, %%r2;\n"
		"ld.shared.u32 %%r5, [%%r4];\n"
		"mov.u32 %%r6, %%r5;\n"
		"ret;\n}\n", stride);
	return cycles_of(b, text, 32);
}

static void test_shared_memory_latency_and_conflicts(void **state)
{
	/* mov 1, mul 2, mov 3, add 6 (after mul's 4), ld 10, mov 10 + 26 + (n - 1), written back 1 later. */
	static const struct { unsigned int stride, ways; } cases[] = {
		{ 4, 1 }, { 8, 2 }, { 16, 4 }, { 32, 8 }, { 64, 16 }, { 128, 32 }, { 0, 1 },
	};
	struct bench b;

	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		bench_init(&b);
		assert_int_equal(shared_load(&b, cases[i].stride),
				 10 + LATENCY_SHARED + cases[i].ways - 1 + 2);
		assert_int_equal(sm_stats(b.sm)->shared_accesses, 1);
		assert_int_equal(sm_stats(b.sm)->shared_conflict_cycles, cases[i].ways - 1);
		bench_fini(&b);
	}
}

static void test_conflicts_hold_the_unit(void **state)
{
	struct bench b;

	/*
	 * mov 1, shl 2 (lane * 128), mov 3, add 4, loads 8 and 9. The first holds
	 * the unit for 32 cycles, so the second begins in 40, and its last word is
	 * there in 40 + 26 + 31; the mov in that cycle, and its result.
	 */
	bench_init(&b);
	assert_int_equal(cycles_of(&b, PTX_HEAD
		".visible .entry k()\n{\n"
		".reg .b32 %r<8>;\n"
		".shared .align 4 .b8 buf[8192];\n"
		"mov.u32 %r1, %tid.x;\n"
		"shl.b32 %r2, %r1, 7;\n"
		"mov.u32 %r3, buf;\n"
		"add.s32 %r4, %r3, %r2;\n"
		"ld.shared.u32 %r5, [%r4];\n"
		"ld.shared.u32 %r6, [%r4+4];\n"
		"mov.u32 %r7, %r6;\n"
		"ret;\n}\n", 32), 40 + LATENCY_SHARED + 31 + 2);
	assert_int_equal(sm_stats(b.sm)->shared_conflict_cycles, 62);
	bench_fini(&b);
}

static uint8_t memory[64 * PAGE_BYTES] __attribute__((aligned(4096)));

/* ld.param 1 (27 with latency.param 26), then lane * stride by mad: 5; add.s64: 4; ld; mov. */
static const char global_load[] = PTX_HEAD
	".visible .entry k(.param .u64 p, .param .u64 stride)\n{\n"
	".reg .b64 %rd<8>;\n.reg .b32 %r<8>;\n"
	"mov.u32 %r1, %tid.x;\n"
	"ld.param.u64 %rd1, [p];\n"
	"ld.param.u64 %rd2, [stride];\n"
	"cvt.u64.u32 %rd3, %r1;\n"
	"mul.lo.s64 %rd4, %rd3, %rd2;\n"
	"add.s64 %rd5, %rd1, %rd4;\n"
	"ld.global.u32 %r2, [%rd5];\n"
	"mov.u32 %r3, %r2;\n"
	"ret;\n}\n";

/*
 * mov 1, ld.param 2 and 3 (written back 28 and 29), cvt 4, mul 29 (4), add
 * 33 (4), ld.global 37.
 */
#define LOAD_AT	37

static void test_global_load_latency(void **state)
{
	struct bench b;

	bench_init(&b);
	b.params[0] = (uintptr_t)memory;
	b.params[1] = 4;
	/* Without translation: the line goes out in the cycle of issue. */
	assert_int_equal(cycles_of(&b, global_load, 32), LOAD_AT + LATENCY_GLOBAL + 2);
	assert_int_equal(mem_stats(b.mem)->lines, 1);
	assert_true(sm_stats(b.sm)->stalls[STALL_LONG] >= LATENCY_GLOBAL - 1);
	bench_fini(&b);

	/* 32 lines of one page, one a cycle: the last is sent 31 cycles later. */
	bench_init(&b);
	b.params[0] = (uintptr_t)memory;
	b.params[1] = 128;
	assert_int_equal(cycles_of(&b, global_load, 32), LOAD_AT + 31 + LATENCY_GLOBAL + 2);
	assert_int_equal(mem_stats(b.mem)->lines, 32);
	bench_fini(&b);
}

static void test_global_load_translates(void **state)
{
	struct bench b;

	/* Paging on: a TLB miss, so a walk of 100 before the line goes out. */
	bench_init(&b);
	b.spec.paging = 1;
	b.params[0] = (uintptr_t)memory;
	b.params[1] = 4;
	assert_int_equal(cycles_of(&b, global_load, 32), LOAD_AT + 100 + LATENCY_GLOBAL + 2);
	/* The same again: the TLB holds it, at its latency of 1. */
	bench_run(&b, 1);
	assert_int_equal(b.cycles, LOAD_AT + 1 + LATENCY_GLOBAL + 2);
	assert_int_equal(gmmu_stats(b.gmmu)->tlb_misses, 1);
	assert_int_equal(gmmu_stats(b.gmmu)->tlb_hits, 1);
	bench_fini(&b);

	/*
	 * 32 pages through 4 ports: the last four are looked up 7 cycles later, and
	 * their walks end 7 later. Then the lines leave one a cycle: 4 come a
	 * cycle, so 32 lines from the first walk's end on.
	 */
	bench_init(&b);
	b.spec.paging = 1;
	b.params[0] = (uintptr_t)memory;
	b.params[1] = PAGE_BYTES;
	assert_int_equal(cycles_of(&b, global_load, 32),
			 LOAD_AT + 100 + 31 + LATENCY_GLOBAL + 2);
	assert_int_equal(gmmu_stats(b.gmmu)->walks, 32);
	bench_fini(&b);

	/* With 8 lines a cycle the look-ups are what takes long: the last 7 cycles later. */
	bench_init(&b);
	b.spec.paging = 1;
	b.spec.mem_lines_per_cycle = 8;
	b.params[0] = (uintptr_t)memory;
	b.params[1] = PAGE_BYTES;
	assert_int_equal(cycles_of(&b, global_load, 32),
			 LOAD_AT + 7 + 100 + LATENCY_GLOBAL + 2);
	bench_fini(&b);
}

/* The value of %clock is the cycle in which the mov issues; every warp stores its own. */
static const char clocks[] = PTX_HEAD
	".visible .entry k(.param .u64 p)\n{\n"
	".reg .b64 %rd<8>;\n.reg .b32 %r<12>;\n"
	"ld.param.u64 %rd1, [p];\n"
	"mov.u32 %r1, %tid.x;\n"
	"mul.wide.u32 %rd2, %r1, 16;\n"
	"add.s64 %rd3, %rd1, %rd2;\n"
	"mov.u32 %r2, %clock;\n"
	"mov.u32 %r3, %clock;\n"
	"mov.u32 %r4, %clock;\n"
	"mov.u32 %r5, %clock;\n"
	"st.global.v4.u32 [%rd3], {%r2, %r3, %r4, %r5};\n"
	"ret;\n}\n";

static void run_clocks(struct bench *b, const char *scheduler, uint32_t out[3][4])
{
	bench_init(b);
	strcpy(b->spec.scheduler, scheduler);
	b->spec.schedulers = 1;
	b->params[0] = (uintptr_t)memory;
	memset(memory, 0, sizeof(memory));
	cycles_of(b, clocks, 96);
	for (unsigned int w = 0; w < 3; w++)
		memcpy(out[w], &memory[w * 32 * 16], 16);
	bench_fini(b);
}

static void test_lrr_and_gto_issue_order(void **state)
{
	uint32_t c[3][4];
	struct bench b;

	/* Round robin: the three warps take turns. */
	run_clocks(&b, "lrr", c);
	for (unsigned int i = 1; i < 4; i++) {
		for (unsigned int w = 0; w < 3; w++)
			assert_int_equal(c[w][i], c[w][0] + 3 * i);
	}
	assert_int_equal(c[1][0], c[0][0] + 1);
	assert_int_equal(c[2][0], c[0][0] + 2);
	/* Greedy: each runs its four in a row, the oldest first. */
	run_clocks(&b, "gto", c);
	for (unsigned int w = 0; w < 3; w++) {
		for (unsigned int i = 1; i < 4; i++)
			assert_int_equal(c[w][i], c[w][0] + i);
	}
	assert_true(c[0][0] < c[1][0] && c[1][0] < c[2][0]);
}

/*
 * Warp 0 is the older one and waits for a division until cycle 150 or so;
 * warp 1 has 300 movs of one cycle each. Both store the clock at their end.
 */
static void run_old_and_busy(const char *scheduler, uint32_t clock[2])
{
	static char text[16384];
	struct bench b;
	size_t at;

	at = (size_t)snprintf(text, sizeof(text), PTX_HEAD
		".visible .entry k(.param .u64 p)\n{\n"
		".reg .pred %%p<2>;\n.reg .b64 %%rd<8>;\n.reg .b32 %%r<12>;\n"
		"ld.param.u64 %%rd1, [p];\n"
		"mov.u32 %%r1, %%tid.x;\n"
		"shr.u32 %%r2, %%r1, 5;\n"
		"mul.wide.u32 %%rd2, %%r2, 4;\n"
		"add.s64 %%rd3, %%rd1, %%rd2;\n"
		"setp.ge.u32 %%p1, %%r1, 32;\n"
		"@%%p1 bra BUSY;\n"
		"div.u32 %%r3, %%r1, 3;\n"
		"mov.u32 %%r4, %%r3;\n"
		"bra.uni END;\n"
		"BUSY:\n");
	for (unsigned int i = 0; i < 300; i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at, "mov.u32 %%r4, %%r1;\n");
	snprintf(text + at, sizeof(text) - at,
		 "END:\nmov.u32 %%r5, %%clock;\nst.global.u32 [%%rd3], %%r5;\nret;\n}\n");
	bench_init(&b);
	strcpy(b.spec.scheduler, scheduler);
	b.spec.schedulers = 1;
	b.params[0] = (uintptr_t)memory;
	cycles_of(&b, text, 64);
	memcpy(clock, memory, 8);
	bench_fini(&b);
}

static void test_gto_is_greedy_before_it_is_fair(void **state)
{
	uint32_t clock[2];

	/* GTO: the older warp, ready again, waits until the busy one stalls. */
	run_old_and_busy("gto", clock);
	assert_true(clock[0] > clock[1]);
	/* LRR takes it at its turn. */
	run_old_and_busy("lrr", clock);
	assert_true(clock[0] < clock[1]);
}

static void test_sleeping_changes_nothing(void **state)
{
	static const char *const programs[] = {
		dependent_adds, muls, sines, divs, global_load, clocks,
	};
	struct sm_stats stepped;
	uint64_t cycles;
	struct bench b;

	for (unsigned int i = 0; i < 4 * ARRAY_SIZE(programs); i++) {
		for (unsigned int jump = 0; jump < 2; jump++) {
			bench_init(&b);
			b.spec.paging = i & 1;
			b.spec.schedulers = i & 2 ? 1 : 2;
			b.params[0] = (uintptr_t)memory;
			b.params[1] = 512;
			b.jump = jump;
			cycles_of(&b, programs[i / 4], 256);
			if (jump) {
				assert_int_equal(b.cycles, cycles);
				assert_memory_equal(&stepped, sm_stats(b.sm), sizeof(stepped));
			}
			cycles = b.cycles;
			stepped = *sm_stats(b.sm);
			bench_fini(&b);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dependent_adds_take_their_latency),
		cmocka_unit_test(test_waw_waits_too),
		cmocka_unit_test(test_independent_adds_issue_every_cycle),
		cmocka_unit_test(test_two_schedulers_issue_side_by_side),
		cmocka_unit_test(test_units_and_initiation),
		cmocka_unit_test(test_shared_memory_latency_and_conflicts),
		cmocka_unit_test(test_conflicts_hold_the_unit),
		cmocka_unit_test(test_global_load_latency),
		cmocka_unit_test(test_global_load_translates),
		cmocka_unit_test(test_lrr_and_gto_issue_order),
		cmocka_unit_test(test_gto_is_greedy_before_it_is_fair),
		cmocka_unit_test(test_sleeping_changes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
