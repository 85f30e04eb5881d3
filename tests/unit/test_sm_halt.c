// SPDX-License-Identifier: GPL-2.0
/*
 * Kernels that are halted: their CTAs execute nothing more, whatever they are at, instructions that
 * they issued are performed, nothing of them is left in the SM, and later CTAs see nothing of it.
 */
#include "sm_storm.h"

/* By chance, and at some cycle the kernel is halted; CTAs that come later are not. */
struct halting {
	struct chance chance;		/* first: the mechanism's state */
	uint64_t at;			/* 0: done */
	bool parks;
	uint64_t after;			/* so many CTAs had been launched then */
};

static void halting_quantum(struct bench *b)
{
	struct halting *h = b->mechanism_ctx;

	if (h->parks)
		chance_quantum(b);
	else if (b->spec.paging)
		serve(b, h->chance.pages);
	if (!h->at || b->upto < h->at)
		return;
	h->at = 0;
	h->after = sm_stats(b->sm)->retired_ctas + sm_resident_ctas(b->sm, NULL);
	sm_halt(b->sm, b->kernel, b->upto - 1);
}

/* Nothing is left behind, whatever the CTAs were at; later CTAs are not disturbed. */
static void run_halted(const uint8_t *want, uint64_t seed, bool paging, bool parks)
{
	struct halting h = { .parks = parks };
	static struct pages pages;
	struct bench b;

	memset(&pages, 0, sizeof(pages));
	memset(pages.absent, paging, sizeof(pages.absent));
	h.chance.seed = seed;
	h.chance.pages = &pages;
	h.at = 300 + chance_of(&h.chance, 6000);
	bench_init(&b);
	b.spec.paging = paging;
	b.spec.warps = 12;
	b.spec.ctas = 3;
	b.spec.virtual_warps = parks ? 48 : 0;
	b.spec.virtual_ctas = parks ? 16 : 0;
	b.absent = pages.absent;
	b.mechanism = parks ? &by_chance : NULL;
	b.mechanism_ctx = &h;
	b.quantum = 1;
	b.each_quantum = halting_quantum;
	bench_load(&b, storm, 96);
	for (uint32_t i = 0; i < STORM_CTAS * 96; i++)
		*(uint32_t *)(b.memory + i * 68) = i * 2654435761u;
	bench_run(&b, STORM_CTAS);
	if (b.status)
		print_error("%s\n", b.err.text);
	/* sm_run() looks whether anything is left in the SM that is empty. */
	assert_int_equal(b.status, 0);
	assert_true(sm_idle(b.sm));
	assert_int_equal(h.at, 0);
	assert_in_range(h.after, 1, STORM_CTAS - 1);
	assert_int_equal(sm_stats(b.sm)->retired_ctas, STORM_CTAS);
	assert_int_equal(bench_stall_sum(&b), b.now * b.spec.schedulers);
	if (parks) {
		assert_int_equal(h.chance.ended, STORM_CTAS);
		assert_int_equal(h.chance.exited, STORM_CTAS * 3);
		assert_int_equal(h.chance.retired, STORM_CTAS * 3);
	}
	for (uint64_t i = h.after * 96; i < STORM_CTAS * 96; i++)
		assert_memory_equal(b.memory + i * 68, want + i * 68, 4);
	/* Somebody was halted before its last ticket. */
	assert_true(*(uint32_t *)(b.memory + 1048576) < STORM_CTAS * 96 * 4);
	bench_fini(&b);
}

static void test_halted_at_random_moments(void **state)
{
	uint8_t *want = storm_reference();

	for (uint64_t seed = 1; seed <= 12; seed++)
		run_halted(want, seed, seed & 1, seed & 2);
	free(want);
}

/* A kernel that never ends is gone when its loads are there. */
static void test_a_halted_cta_is_gone_at_once(void **state)
{
	static const char ptx[] = PTX_HEAD ".visible .entry spin(.param .u64 p)\n{\n"
		".reg .b32 %r<4>;\n.reg .b64 %rd<2>;\nld.param.u64 %rd1, [p];\n"
		"AGAIN:\nld.global.u32 %r1, [%rd1];\nst.global.u32 [%rd1+4], %r1;\n"
		"bra.uni AGAIN;\n}\n";
	struct bench b;
	uint64_t t;

	bench_init(&b);
	bench_load(&b, ptx, 64);
	assert_int_equal(sm_begin(b.sm, b.kernel), 0);
	assert_int_equal(sm_launch_cta(b.sm, b.kernel, (uint32_t [3]){ 0 }, 0), 0);
	for (t = 1; t < 5000; t++)
		bench_quantum(&b, t, t + 1);
	assert_false(sm_idle(b.sm));
	sm_halt(b.sm, b.kernel, t - 1);
	for (; t < 6000 && !sm_idle(b.sm); t++) {
		uint64_t before = sm_stats(b.sm)->warp_instructions;

		bench_quantum(&b, t, t + 1);
		assert_int_equal(sm_stats(b.sm)->warp_instructions, before);
	}
	/* No longer than a load or store takes. */
	assert_in_range(t, 5001, 5600);
	assert_int_equal(sm_resident_ctas(b.sm, NULL), 0);
	bench_fini(&b);
}

/*
 * Halted while the first line of its code is on the way: it executes nothing, and its number is
 * free when the line has come.
 */
static void test_halted_before_its_code_is_here(void **state)
{
	static const char ptx[] = PTX_HEAD ".visible .entry k(.param .u64 p)\n{\n"
		".reg .b32 %r<2>;\nmov.u32 %r1, 1;\nmov.u32 %r1, 2;\nret;\n}\n";
	struct bench b;
	uint64_t t;

	bench_init(&b);
	bench_load(&b, ptx, 32);
	assert_int_equal(sm_begin(b.sm, b.kernel), 0);
	assert_int_equal(sm_launch_cta(b.sm, b.kernel, (uint32_t [3]){ 0 }, 0), 0);
	for (t = 1; t < 20; t++)
		bench_quantum(&b, t, t + 1);
	assert_int_equal(sm_stats(b.sm)->l1i.read_misses, 1);
	sm_halt(b.sm, b.kernel, t - 1);
	for (; t < 100; t++)
		bench_quantum(&b, t, t + 1);
	assert_int_equal(sm_resident_ctas(b.sm, NULL), 1);
	for (; t < 1000; t++)
		bench_quantum(&b, t, t + 1);
	assert_int_equal(b.status, 0);
	assert_true(sm_idle(b.sm));
	assert_int_equal(sm_stats(b.sm)->warp_instructions, 0);
	bench_fini(&b);
}

/* A store under way keeps its warp, which is halted, until it is acknowledged. */
static void test_halted_before_its_store_is_there(void **state)
{
	static const char ptx[] = PTX_HEAD ".visible .entry k(.param .u64 p)\n{\n"
		".reg .b32 %r<2>;\n.reg .b64 %rd<2>;\nld.param.u64 %rd1, [p];\n"
		"mov.u32 %r1, 7;\nst.global.u32 [%rd1], %r1;\nAGAIN:\nadd.u32 %r1, %r1, 1;\n"
		"bra.uni AGAIN;\n}\n";
	struct bench b;
	uint64_t t = 1;

	bench_init(&b);
	bench_load(&b, ptx, 32);
	assert_int_equal(sm_begin(b.sm, b.kernel), 0);
	assert_int_equal(sm_launch_cta(b.sm, b.kernel, (uint32_t [3]){ 0 }, 0), 0);
	/* The store is the third instruction; its acknowledgement comes more than 100 cycles later. */
	for (; t < 3000 && sm_stats(b.sm)->warp_instructions < 8; t++)
		bench_quantum(&b, t, t + 1);
	sm_halt(b.sm, b.kernel, t - 1);
	for (uint64_t upto = t + 60; t < upto; t++)
		bench_quantum(&b, t, t + 1);
	assert_int_equal(sm_resident_ctas(b.sm, NULL), 1);
	for (; t < 6000 && !sm_idle(b.sm); t++)
		bench_quantum(&b, t, t + 1);
	assert_true(sm_idle(b.sm));
	assert_int_equal(*(uint32_t *)b.memory, 7);
	bench_fini(&b);
}

/* The same with CTAs under Zorua, on an SM that is short of everything: swap is empty afterwards. */
static void run_halted_zorua(const uint8_t *want, uint64_t seed)
{
	struct halting h = { .chance.seed = seed };
	struct bench b;

	h.at = 300 + chance_of(&h.chance, 6000);
	bench_init(&b);
	strcpy(b.spec.cta, "zorua");
	strcpy(b.spec.zorua_ctas, "fits");
	strcpy(b.spec.zorua_slots, seed & 1 ? "vt" : "barrier");
	strcpy(b.spec.zorua_admit, seed & 2 ? "phase" : "peak");
	b.spec.registers = 4096;
	b.spec.shared_bytes = 4096;
	b.spec.warps = 8;
	b.spec.zorua_epoch = 100;
	b.spec.zorua_proof = 0;
	b.mechanism_ctx = &h;
	b.quantum = 1;
	b.each_quantum = halting_quantum;
	bench_load(&b, storm, 96);
	for (uint32_t i = 0; i < STORM_CTAS * 96; i++)
		*(uint32_t *)(b.memory + i * 68) = i * 2654435761u;
	/* The coordinator is looked at whenever the SM is empty (sm/cta/virtual.c). */
	bench_run(&b, STORM_CTAS);
	assert_int_equal(b.status, 0);
	assert_true(sm_idle(b.sm));
	assert_int_equal(h.at, 0);
	assert_int_equal(sm_stats(b.sm)->retired_ctas, STORM_CTAS);
	for (uint64_t i = h.after * 96; i < STORM_CTAS * 96; i++)
		assert_memory_equal(b.memory + i * 68, want + i * 68, 4);
	bench_fini(&b);
}

static void test_halted_under_zorua(void **state)
{
	uint8_t *want = storm_reference();

	for (uint64_t seed = 1; seed <= 24; seed++)
		run_halted_zorua(want, seed);
	free(want);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_halted_at_random_moments),
		cmocka_unit_test(test_halted_under_zorua),
		cmocka_unit_test(test_a_halted_cta_is_gone_at_once),
		cmocka_unit_test(test_halted_before_its_code_is_here),
		cmocka_unit_test(test_halted_before_its_store_is_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
