// SPDX-License-Identifier: GPL-2.0
/*
 * The GMMU in the whole GPU: every one of its options finishes, gives the right results and
 * the same statistics on one and on three host threads; walks go through the memory system;
 * a page that is managed in part is served in part.
 */
#include "gpu_bench.h"

#define LANES	192u		/* of gather, a page each */
#define INPUT	(64u << 10)	/* from here on; results before it */

static char *run(const char *options, unsigned int threads)
{
	struct gpu_bench b;
	char *statistics;
	uint32_t *words;

	bench_spec(&b);
	b.spec.threads = threads;
	b.spec.vram_bytes = 96 * 4096;
	b.spec.tlb_entries = 16;
	if (spec_from_text(&b.spec, options, &b.err))
		fail_msg("%s", b.err.text);
	bench_open_with(&b, PTX_HEAD PTX_GATHER);
	words = (uint32_t *)b.memory;
	for (size_t i = INPUT / 4; i < b.bytes / 4; i++)
		words[i] = (uint32_t)(i * 2654435761u);
	for (unsigned int i = 0; i < 3; i++)
		if (bench_gather(&b, (uintptr_t)b.memory + INPUT, (uintptr_t)b.memory, 4096,
				 LANES / 32, 32))
			fail_msg("%s: %s", options, b.err.text);
	for (unsigned int i = 0; i < LANES; i++)
		assert_int_equal(words[i], words[INPUT / 4 + i * 1024]);
	statistics = gpu_session_statistics(b.session);
	bench_close(&b);
	return statistics;
}

static void test_options(void **state)
{
	static const char *const options[] = {
		"gmmu.far_fault_mshrs=1", "gmmu.far_fault_mshrs=2", "gmmu.far_fault_mshrs=4",
		"gmmu.far_fault_mshrs=8", "gmmu.far_fault_mshrs=16", "gmmu.far_fault_mshrs=0",
		"gmmu.blocking=1", "gmmu.blocking=1\npaging.handlers=0",
		"gmmu.blocking=1\ngmmu.page=65536\nl2tlb.entries=4",
		"gmmu.page=65536", "gmmu.page=65536\npaging.handlers=0",
		"gmmu.page=2097152\npaging.vram=2097152",
		"l2tlb.entries=64\nl2tlb.ports=1", "gmmu.pwc_bytes=0", "gmmu.pwc_bytes=24",
		"gmmu.walkers=1", "gmmu.walk_latency=1", "gmmu.walk_latency=1000",
		"gmmu.fault_buffer=1\ngmmu.far_fault_mshrs=0", "paging.record=1", "tlb.ports=1",
	};

	for (size_t i = 0; i < ARRAY_SIZE(options); i++) {
		char *one = run(options[i], 1), *three = run(options[i], 3);

		assert_non_null(one);
		if (strcmp(one, three))
			fail_msg("%s: %s\nis not\n%s", options[i], three, one);
		free(one);
		free(three);
	}
}

/* One lane, one page that is there: from kernel to kernel only the walk differs. */
static uint64_t cycles_of_one_walk(const char *options, uint64_t *reads)
{
	struct gpu_bench b;
	uint64_t cycles;

	bench_spec(&b);
	if (spec_from_text(&b.spec, options, &b.err))
		fail_msg("%s", b.err.text);
	bench_open_with(&b, PTX_HEAD PTX_GATHER);
	assert_int_equal(gpu_session_prefetch(b.session, (uintptr_t)b.memory, 4096, &b.err), 0);
	if (bench_gather(&b, (uintptr_t)b.memory, (uintptr_t)b.memory + 128, 4, 1, 1))
		fail_msg("%s", b.err.text);
	cycles = bench_stat(&b, "kernels.0.cycles");
	if (reads)
		*reads = bench_stat(&b, "memory.pte_reads");
	assert_int_equal(bench_stat(&b, "memory.walks"), 1);
	bench_close(&b);
	return cycles;
}

static void test_walks_read_memory(void **state)
{
	uint64_t fixed = cycles_of_one_walk("gmmu.walk_latency=80", NULL);
	uint64_t longer = cycles_of_one_walk("gmmu.walk_latency=1080", NULL);
	uint64_t reads, cold;

	assert_int_equal(longer - fixed, 1000);
	/*
	 * Four levels: four look-ups of 20, and four reads that miss L2, each at least the
	 * 136 cycles of a hit (test_mem_path.c) and DRAM's 100.
	 */
	cold = cycles_of_one_walk("", &reads);
	assert_int_equal(reads, 4);
	assert_in_range(cold - fixed, 4 * 236, 4 * 500);
	/* Without the cache its look-ups are saved; DRAM has a clock of its own. */
	assert_in_range(cold - cycles_of_one_walk("gmmu.pwc_bytes=0", &reads), 4 * 19, 4 * 21);
	assert_int_equal(reads, 4);
	/* A level less. */
	assert_in_range(cold - cycles_of_one_walk("gmmu.page=2097152", &reads), 236 + 20, 520);
	assert_int_equal(reads, 3);
}

/* The bench's 1 MiB is half of a page of 2 MiB. */
static void test_beside_managed_memory(void **state)
{
	struct gpu_bench b;
	uint64_t fault = 0, params[3];

	bench_spec(&b);
	b.spec.page_bytes = 2097152;
	bench_open_with(&b, PTX_HEAD PTX_GATHER);
	params[0] = (uintptr_t)b.memory + b.bytes + 8192;
	params[1] = (uintptr_t)b.memory;
	params[2] = 4;
	bench_expect(&b, bench_launch(&b, "gather", 1, 32, params, sizeof(params), &fault),
		     -EFAULT, "is outside managed memory");
	assert_int_equal(fault, params[0]);
	/* With the managed half there, too. */
	params[0] = (uintptr_t)b.memory + b.bytes - 64;
	bench_expect(&b, bench_launch(&b, "gather", 1, 32, params, sizeof(params), &fault),
		     -EFAULT, "is outside managed memory");
	assert_int_equal(fault, (uintptr_t)b.memory + b.bytes);
	bench_close(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_options),
		cmocka_unit_test(test_walks_read_memory),
		cmocka_unit_test(test_beside_managed_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
