// SPDX-License-Identifier: GPL-2.0
/*
 * CTAs on an SM: occupancy by each limit, barriers, retirement, the order that
 * an untranslated access imposes, and pools that run full.
 */
#include "sm_bench.h"

/* CTAs an SM holds of a kernel with these needs. */
static unsigned int occupancy(uint32_t threads, unsigned int regs, uint32_t shared,
			      void (*change)(struct gpu_spec *spec))
{
	char text[4096];
	struct bench b;
	unsigned int n, at;

	/* `regs` values that are all alive at the last one's definition. */
	at = (unsigned int)snprintf(text, sizeof(text), PTX_HEAD
		".visible .entry k(.param .u64 p)\n{\n.reg .b32 %%r<%u>;\n", regs + 1);
	for (unsigned int i = 0; i < regs; i++)
		at += (unsigned int)snprintf(text + at, sizeof(text) - at,
					     "mov.u32 %%r%u, %%clock;\n", i);
	for (unsigned int i = 1; i < regs; i++)
		at += (unsigned int)snprintf(text + at, sizeof(text) - at,
					     "add.s32 %%r0, %%r0, %%r%u;\n", i);
	snprintf(text + at, sizeof(text) - at, "ret;\n}\n");
	bench_init(&b);
	if (change)
		change(&b.spec);
	bench_load(&b, text, threads);
	assert_int_equal(exec_program_kernel(b.program)->regs_per_thread, regs);
	if (shared) {
		sm_kernel_destroy(b.kernel);
		b.launch.dynamic_shared = shared;
		assert_int_equal(sm_kernel_create(&b.spec, &b.launch, &b.kernel, &b.err), 0);
	}
	n = sm_kernel_ctas(b.kernel);
	/* And the SM really takes that many, and no more. */
	assert_int_equal(sm_begin(b.sm, b.kernel), 0);
	for (unsigned int i = 0; i < n; i++) {
		uint32_t ctaid[3] = { i, 0, 0 };

		assert_true(sm_has_room(b.sm, b.kernel));
		assert_int_equal(sm_launch_cta(b.sm, b.kernel, ctaid, i), 0);
	}
	assert_false(sm_has_room(b.sm, b.kernel));
	bench_fini(&b);
	return n;
}

static void few_slots(struct gpu_spec *spec)
{
	spec->ctas = 3;
}

static void test_occupancy(void **state)
{
	/* CTA slots: 8. */
	assert_int_equal(occupancy(32, 1, 0, NULL), 8);
	assert_int_equal(occupancy(32, 1, 0, few_slots), 3);
	/* 48 warps: 6 CTAs of 8; 256 and 225 threads are both 8 warps. */
	assert_int_equal(occupancy(256, 1, 0, NULL), 6);
	assert_int_equal(occupancy(225, 1, 0, NULL), 6);
	assert_int_equal(occupancy(1024, 1, 0, NULL), 1);
	/* 32768 registers: 256 threads with 32 are 8192 a CTA; 33 are rounded up to 36, 9216. */
	assert_int_equal(occupancy(256, 32, 0, NULL), 4);
	assert_int_equal(occupancy(256, 33, 0, NULL), 3);
	assert_int_equal(occupancy(256, 36, 0, NULL), 3);
	/* 40 are 10240 a CTA, 3 fit; 41 are rounded up to 44, 11264, and 2 fit. */
	assert_int_equal(occupancy(256, 40, 0, NULL), 3);
	assert_int_equal(occupancy(256, 41, 0, NULL), 2);
	/* Registers are a warp's: 33 threads take two warps of them. */
	assert_int_equal(occupancy(33, 64, 0, NULL), 8);
	assert_int_equal(occupancy(33, 65, 0, NULL), 7);
	/* 48 KiB of shared memory. */
	assert_int_equal(occupancy(32, 1, 49152 / 4, NULL), 4);
	assert_int_equal(occupancy(32, 1, 49152 / 4 + 1, NULL), 3);
	assert_int_equal(occupancy(32, 1, 49152, NULL), 1);
}

/* Every thread stores its number to shared memory; after the barrier it reads its mirror image. */
static const char reverse[] = PTX_HEAD
	".visible .entry k(.param .u64 p)\n{\n"
	".reg .b32 %r<16>;\n.reg .b64 %rd<8>;\n"
	".shared .align 4 .b8 buf[4096];\n"
	"mov.u32 %r1, %tid.x;\nmov.u32 %r2, %ntid.x;\nmov.u32 %r3, buf;\n"
	"shl.b32 %r4, %r1, 2;\nadd.s32 %r5, %r3, %r4;\n"
	"st.shared.u32 [%r5], %r1;\n"
	"bar.sync 0;\n"
	"sub.s32 %r6, %r2, %r1;\nadd.s32 %r7, %r6, -1;\n"
	"shl.b32 %r8, %r7, 2;\nadd.s32 %r9, %r3, %r8;\n"
	"ld.shared.u32 %r10, [%r9];\n"
	"ld.param.u64 %rd1, [p];\nmul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd3, %rd1, %rd2;\n"
	"st.global.u32 [%rd3], %r10;\n"
	"ret;\n}\n";

static void test_barrier_holds_until_all_are_there(void **state)
{
	static const uint32_t sizes[] = { 32, 64, 250, 1024 };
	struct bench b;

	for (unsigned int i = 0; i < ARRAY_SIZE(sizes); i++) {
		for (unsigned int paging = 0; paging < 2; paging++) {
			bench_init(&b);
			b.spec.paging = paging;
			memset(b.memory, 0xff, 64 * PAGE_BYTES);
			bench_load(&b, reverse, sizes[i]);
			bench_run(&b, 1);
			assert_int_equal(b.status, 0);
			for (uint32_t t = 0; t < sizes[i]; t++)
				assert_int_equal(((uint32_t *)b.memory)[t], sizes[i] - 1 - t);
			assert_int_equal(bench_stall_sum(&b), b.now * 2);
			bench_fini(&b);
		}
	}
}

static void test_barrier_stall_is_attributed(void **state)
{
	struct bench b;

	/* Warp 1 (scheduler 1) is 100 cycles of adds behind; warp 0 waits at the barrier alone. */
	bench_init(&b);
	bench_load(&b, PTX_HEAD
		".visible .entry k()\n{\n"
		".reg .pred %p<2>;\n.reg .b32 %r<4>;\n"
		"mov.u32 %r1, %tid.x;\n"
		"setp.lt.u32 %p1, %r1, 32;\n"
		"@%p1 bra WAIT;\n"
		"div.u32 %r2, %r1, 3;\n"
		"mov.u32 %r3, %r2;\n"
		"WAIT:\n"
		"bar.sync 0;\n"
		"ret;\n}\n", 64);
	bench_run(&b, 1);
	assert_int_equal(b.status, 0);
	/*
	 * bra in c. Warp 0 jumps, from the first place of its pair: bar in c + 3 (flush and
	 * fetch c + 1, decode c + 2). Warp 1: div c + 1, mov 145 + 6 later, bar c + 153. So
	 * scheduler 0 has only a warp at the barrier in c + 4 to c + 152, and in c + 153 if it
	 * was first then; warp 1 may have been fetched a cycle later.
	 */
	assert_in_range(sm_stats(b.sm)->stalls[STALL_BARRIER], 149, 151);
	bench_fini(&b);
}

static void test_exited_warps_are_not_waited_for(void **state)
{
	struct bench b;

	/* Warps 1 to 3 leave at once; warp 0 passes two barriers alone. */
	bench_init(&b);
	bench_load(&b, PTX_HEAD
		".visible .entry k()\n{\n"
		".reg .pred %p<2>;\n.reg .b32 %r<4>;\n"
		"mov.u32 %r1, %tid.x;\n"
		"setp.ge.u32 %p1, %r1, 32;\n"
		"@%p1 bra OUT;\n"
		"bar.sync 0;\n"
		"bar.sync 5;\n"
		"OUT:\n"
		"ret;\n}\n", 128);
	bench_run(&b, 3);
	assert_int_equal(b.status, 0);
	assert_int_equal(sm_stats(b.sm)->retired_ctas, 3);
	bench_fini(&b);
}

static void test_barrier_of_some_threads(void **state)
{
	struct bench b;

	/* Of 4 warps two at a time meet at a barrier of 64 threads; none waits for the others. */
	bench_init(&b);
	bench_load(&b, PTX_HEAD
		".visible .entry k()\n{\n"
		".reg .pred %p<2>;\n.reg .b32 %r<4>;\n"
		"mov.u32 %r1, %tid.x;\n"
		"setp.ge.u32 %p1, %r1, 64;\n"
		"@%p1 bra HIGH;\n"
		"bar.sync 3, 64;\n"
		"bar.sync 3, 64;\n"
		"ret;\n"
		"HIGH:\n"
		"bar.sync 4, 64;\n"
		"ret;\n}\n", 128);
	bench_run(&b, 1);
	assert_int_equal(b.status, 0);
	assert_int_equal(sm_stats(b.sm)->retired_ctas, 1);
	/* 2 warps x 6 instructions and 2 x 5. */
	assert_int_equal(sm_stats(b.sm)->warp_instructions, 22);
	bench_fini(&b);
}

static void test_many_ctas_pass_through(void **state)
{
	struct bench b;

	/* 40 CTAs through 8 slots; each writes the same buffer, shared memory is its own. */
	bench_init(&b);
	bench_load(&b, reverse, 96);
	bench_run(&b, 40);
	assert_int_equal(b.status, 0);
	assert_int_equal(sm_stats(b.sm)->retired_ctas, 40);
	assert_int_equal(sm_stats(b.sm)->warp_instructions, 40 * 3 * 17);
	assert_int_equal(sm_stats(b.sm)->thread_instructions, 40 * 96 * 17);
	assert_int_equal(bench_stall_sum(&b), b.now * 2);
	bench_fini(&b);
}

static void test_store_then_load_of_one_address(void **state)
{
	struct bench b;

	/*
	 * Paging on: the store misses the TLB; the load behind it must see its
	 * value, whatever order pages come in. Then the same address again.
	 */
	bench_init(&b);
	b.spec.paging = 1;
	memset(b.memory, 0, 64 * PAGE_BYTES);
	bench_load(&b, PTX_HEAD
		".visible .entry k(.param .u64 p)\n{\n"
		".reg .b32 %r<8>;\n.reg .b64 %rd<8>;\n"
		"mov.u32 %r1, %tid.x;\nld.param.u64 %rd1, [p];\n"
		"mul.wide.u32 %rd2, %r1, 4096;\nadd.s64 %rd3, %rd1, %rd2;\n"
		"st.global.u32 [%rd3], %r1;\n"
		"mov.u32 %r1, 7;\n"
		"ld.global.u32 %r2, [%rd3];\n"
		"add.s32 %r3, %r2, 100;\n"
		"st.global.u32 [%rd3], %r3;\n"
		"ret;\n}\n", 32);
	bench_run(&b, 1);
	for (uint32_t t = 0; t < 32; t++)
		assert_int_equal(*(uint32_t *)&b.memory[t * 4096], t + 100);
	bench_fini(&b);
}

/* Is the flag on the second page ever seen before the data on the first? */
static bool seen_early;

static void check_flag(struct bench *b)
{
	seen_early |= b->memory[PAGE_BYTES] && !b->memory[0];
}

/* Two stores: the first misses the TLB, the second hits. */
static bool flag_is_early(const char *store, const char *between)
{
	struct bench b;
	char text[640];

	snprintf(text, sizeof(text), PTX_HEAD
		 ".visible .entry k(.param .u64 p, .param .u64 q)\n{\n"
		 ".reg .b32 %%r<8>;\n.reg .b64 %%rd<8>;\n"
		 "ld.param.u64 %%rd1, [p];\nld.param.u64 %%rd2, [q];\n"
		 "mov.u32 %%r1, 1;\n"
		 "st.%sglobal.u32 [%%rd1], %%r1;\n"
		 "%s"
		 "st.%sglobal.u32 [%%rd2], %%r1;\n"
		 "ret;\n}\n", store, between, store);
	/* First only the flag's page, so that the TLB has it; then the data's page misses. */
	bench_init(&b);
	b.spec.paging = 1;
	b.params[0] = BENCH_BASE + PAGE_BYTES;
	b.params[1] = BENCH_BASE + PAGE_BYTES;
	bench_load(&b, text, 32);
	bench_run(&b, 1);
	memset(b.memory, 0, 64 * PAGE_BYTES);
	b.params[0] = BENCH_BASE;
	b.quantum = 1;
	b.each_quantum = check_flag;
	seen_early = false;
	bench_run(&b, 1);
	assert_int_equal(b.memory[0], 1);
	assert_int_equal(b.memory[PAGE_BYTES], 1);
	/* The flag's page in the run before, by one store or both; then the data's. */
	assert_true(gmmu_stats(b.gmmu)->tlb_misses >= 2);
	bench_fini(&b);
	return seen_early;
}

static void test_order_of_accesses(void **state)
{
	/* Weak accesses have none (PTX ISA, memory consistency model). */
	assert_true(flag_is_early("", ""));
	assert_false(flag_is_early("", "membar.gl;\n"));
	assert_false(flag_is_early("volatile.", ""));
	assert_false(flag_is_early("release.gpu.", ""));
}

static void small_pools(struct gpu_spec *spec)
{
	spec->tlb_entries = 1;
	spec->tlb_ports = 1;
	spec->walkers = 1;
	spec->walk_latency = 3;
	spec->paging = 1;
}

static void test_full_queues_only_slow_down(void **state)
{
	struct bench b;

	bench_init(&b);
	small_pools(&b.spec);
	memset(b.memory, 0xff, 64 * PAGE_BYTES);
	bench_load(&b, PTX_HEAD
		".visible .entry k(.param .u64 p)\n{\n"
		".reg .b32 %r<8>;\n.reg .b64 %rd<8>;\n"
		"mov.u32 %r1, %tid.x;\nld.param.u64 %rd1, [p];\n"
		/* Thread t: word t / 32 of page t % 32; every warp touches every page. */
		"and.b32 %r2, %r1, 31;\nshr.u32 %r3, %r1, 5;\n"
		"mul.wide.u32 %rd2, %r2, 4096;\nmul.wide.u32 %rd3, %r3, 4;\n"
		"add.s64 %rd4, %rd1, %rd2;\nadd.s64 %rd5, %rd4, %rd3;\n"
		"st.global.u32 [%rd5], %r1;\n"
		"st.global.u32 [%rd5+128], %r1;\n"
		"ret;\n}\n", 1024);
	bench_run(&b, 1);
	assert_int_equal(b.status, 0);
	for (uint32_t t = 0; t < 1024; t++) {
		assert_int_equal(*(uint32_t *)&b.memory[(t % 32) * 4096 + t / 32 * 4], t);
		assert_int_equal(*(uint32_t *)&b.memory[(t % 32) * 4096 + t / 32 * 4 + 128], t);
	}
	assert_int_equal(sm_stats(b.sm)->lines, 2 * 1024);
	assert_int_equal(bench_stall_sum(&b), b.now * 2);
	bench_fini(&b);
}

static void test_guarded_off_memory_instructions(void **state)
{
	struct bench b;

	bench_init(&b);
	memset(b.memory, 0xff, 64 * PAGE_BYTES);
	bench_load(&b, PTX_HEAD
		".visible .entry k(.param .u64 p)\n{\n"
		".reg .pred %p<2>;\n.reg .b32 %r<8>;\n.reg .b64 %rd<8>;\n"
		"mov.u32 %r1, %tid.x;\nld.param.u64 %rd1, [p];\n"
		"setp.gt.u32 %p1, %r1, 99;\n"
		"mov.u32 %r2, 5;\n"
		"@%p1 ld.global.u32 %r2, [%rd1];\n"
		"@%p1 st.global.u32 [%rd1], %r2;\n"
		"@!%p1 st.global.u32 [%rd1+4], %r2;\n"
		"ret;\n}\n", 32);
	bench_run(&b, 1);
	assert_int_equal(((uint32_t *)b.memory)[0], 0xffffffff);
	assert_int_equal(((uint32_t *)b.memory)[1], 5);
	assert_int_equal(sm_stats(b.sm)->lines, 1);
	/* 8 instructions, two of them without a lane. */
	assert_int_equal(sm_stats(b.sm)->warp_instructions, 8);
	assert_int_equal(sm_stats(b.sm)->thread_instructions, 6 * 32);
	bench_fini(&b);
}

static void test_local_memory_lines(void **state)
{
	struct bench b;

	/* One word a thread is one line for the warp, however far apart the threads' frames are. */
	bench_init(&b);
	bench_load(&b, PTX_HEAD
		".visible .entry k(.param .u64 p)\n{\n"
		".local .align 8 .b8 frame[64];\n"
		".reg .b32 %r<8>;\n.reg .b64 %rd<8>;\n"
		"mov.u32 %r1, %tid.x;\n"
		"st.local.u32 [frame+8], %r1;\n"
		"ld.local.u32 %r2, [frame+8];\n"
		"ld.local.v2.u32 {%r3, %r4}, [frame+8];\n"
		"ld.param.u64 %rd1, [p];\nmul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd3, %rd1, %rd2;\n"
		"add.s32 %r5, %r2, %r3;\n"
		"st.global.u32 [%rd3], %r5;\n"
		"ret;\n}\n", 32);
	bench_run(&b, 1);
	for (uint32_t t = 0; t < 32; t++)
		assert_int_equal(((uint32_t *)b.memory)[t], 2 * t);
	assert_int_equal(sm_stats(b.sm)->lines, 1 + 1 + 2 + 1);
	bench_fini(&b);
}

/* Sums over the cycles in which a CTA was there, of what was taken then. */
static void test_what_is_resident_is_summed(void **state)
{
	const struct sm_counters *c;
	struct bench b;

	/*
	 * `reverse` takes 4096 bytes of shared memory; 96 threads are 3 warps. The first CTA
	 * is there from cycle 1, the second from 10: 1 to 9 with one, 10 to 29 with two.
	 */
	bench_init(&b);
	bench_load(&b, reverse, 96);
	assert_int_equal(sm_begin(b.sm, b.kernel), 0);
	assert_int_equal(sm_launch_cta(b.sm, b.kernel, (uint32_t [3]){ 0 }, 0), 0);
	assert_int_equal(sm_launch_cta(b.sm, b.kernel, (uint32_t [3]){ 1 }, 9), 0);
	sm_account(b.sm, 30);
	c = sm_stats(b.sm);
	assert_int_equal(c->cycles, 9 + 20);
	assert_int_equal(c->ctas, 9 * 1 + 20 * 2);
	assert_int_equal(c->warps, 9 * 3 + 20 * 6);
	assert_int_equal(c->shared_bytes, 9 * 4096 + 20 * 8192);
	/* Registers a CTA: of a warp in fours, 32 lanes each. */
	assert_int_equal(c->registers,
			 (9 + 20 * 2) * 3 * 32 *
			 ((exec_program_kernel(b.program)->regs_per_thread + 3) / 4 * 4));
	sm_cancel(b.sm);
	bench_fini(&b);
}

static void one_at_a_time(struct gpu_spec *spec)
{
	spec->ctas = 1;
}

/* Shared memory, local memory and registers are zero for each CTA, whatever the one before left. */
static void test_memory_is_new(void **state)
{
	uint32_t *words;
	struct bench b;

	bench_init(&b);
	one_at_a_time(&b.spec);
	memset(b.memory, 0xff, PAGE_BYTES);
	bench_load(&b, PTX_HEAD
		".visible .entry k(.param .u64 p)\n{\n"
		".reg .b32 %r<9>;\n.reg .b64 %rd<8>;\n.shared .b32 s[64];\n.local .b32 l[2];\n"
		"mov.u32 %r1, %tid.x;\nld.param.u64 %rd1, [p];\nmov.u32 %r2, %ctaid.x;\n"
		"mad.lo.u32 %r3, %r2, 64, %r1;\nmul.wide.u32 %rd2, %r3, 4;\n"
		"add.s64 %rd3, %rd1, %rd2;\nshl.b32 %r4, %r1, 2;\nmov.u32 %r5, s;\n"
		"add.u32 %r4, %r4, %r5;\n"
		"ld.shared.u32 %r6, [%r4];\nld.local.u32 %r7, [l+4];\n"
		"or.b32 %r6, %r6, %r7;\nor.b32 %r6, %r6, %r8;\n"
		"st.global.u32 [%rd3], %r6;\n"
		"add.u32 %r8, %r1, 7;\nst.shared.u32 [%r4], %r8;\nst.local.u32 [l+4], %r8;\nret;\n}\n", 64);
	bench_run(&b, 3);
	assert_int_equal(b.status, 0);
	words = (uint32_t *)b.memory;
	for (unsigned int i = 0; i < 3 * 64; i++)
		assert_int_equal(words[i], 0);
	bench_fini(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_occupancy),
		cmocka_unit_test(test_barrier_holds_until_all_are_there),
		cmocka_unit_test(test_barrier_stall_is_attributed),
		cmocka_unit_test(test_exited_warps_are_not_waited_for),
		cmocka_unit_test(test_barrier_of_some_threads),
		cmocka_unit_test(test_many_ctas_pass_through),
		cmocka_unit_test(test_store_then_load_of_one_address),
		cmocka_unit_test(test_order_of_accesses),
		cmocka_unit_test(test_memory_is_new),
		cmocka_unit_test(test_full_queues_only_slow_down),
		cmocka_unit_test(test_guarded_off_memory_instructions),
		cmocka_unit_test(test_local_memory_lines),
		cmocka_unit_test(test_what_is_resident_is_summed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
