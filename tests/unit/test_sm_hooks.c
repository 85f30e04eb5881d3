// SPDX-License-Identifier: GPL-2.0
/*
 * What a mechanism may change of an SM, two kernels on one SM, and what an SM
 * hands on: printed text, failures, shares of kernels.
 */
#include <errno.h>

#include "sm_bench.h"

static const char adds[] = PTX_HEAD
	".visible .entry k(.param .u64 p)\n{\n"
	".reg .b64 %rd<8>;\n.reg .b32 %r<8>;\n"
	"ld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\n"
	"mad.lo.u32 %r3, %r2, 64, %r1;\nmul.wide.u32 %rd2, %r3, 4;\nadd.s64 %rd3, %rd1, %rd2;\n"
	"ld.global.u32 %r4, [%rd3];\nadd.u32 %r5, %r4, %r3;\nst.global.u32 [%rd3], %r5;\n"
	"ret;\n}\n";

static void check_adds(const struct bench *b, uint32_t ctas)
{
	assert_int_equal(b->status, 0);
	for (uint32_t t = 0; t < 64 * ctas; t++)
		assert_int_equal(((uint32_t *)b->memory)[t], t);
}

static void test_a_plain_gpu_is_told_nothing(void **state)
{
	const struct sm_mechanism nothing = { 0 }, *m = sm_mechanism_rows[0];

	assert_string_equal(m->name, "baseline");
	assert_memory_equal(&m->warps, &nothing.warps,
			    sizeof(*m) - offsetof(struct sm_mechanism, warps));
	assert_ptr_equal(sm_mechanism_find("timeslice"), sm_mechanism_rows[1]);
	assert_null(sm_mechanism_find("time"));
}

/* --- admission ---------------------------------------------------------------- */

static bool two_ctas(void *state, const struct sm *sm, const struct sm_kernel *kernel)
{
	return sm_resident_ctas(sm, kernel) < 2 && sm_fits_slots(sm, kernel) && sm_fits(sm, kernel);
}

static void test_a_mechanism_admits(void **state)
{
	static const struct sm_mechanism two = { .name = "two", .has_room = two_ctas };
	struct bench b;

	bench_init(&b);
	b.mechanism = &two;
	bench_load(&b, adds, 64);
	for (uint32_t i = 0; i < 2; i++) {
		assert_true(sm_has_room(b.sm, b.kernel));
		assert_int_equal(sm_launch_cta(b.sm, b.kernel, (uint32_t [3]){ i }, 0), 0);
	}
	assert_false(sm_has_room(b.sm, b.kernel));
	assert_int_equal(sm_resident_ctas(b.sm, b.kernel), 2);
	sm_cancel(b.sm);
	bench_run(&b, 9);
	check_adds(&b, 9);
	bench_fini(&b);
}

static void never(void *state, struct sm *sm, unsigned int cta, uint64_t now)
{
	assert_int_equal(sm_park(sm, cta, 0, now), 0);
}

static void test_parked_ctas_issue_nothing(void **state)
{
	static const struct sm_mechanism mechanism = { .name = "never", .cta_admitted = never };
	struct sm_cta_view view;
	char what[256];
	struct bench b;

	bench_init(&b);
	b.mechanism = &mechanism;
	bench_load(&b, adds, 64);
	assert_int_equal(sm_launch_cta(b.sm, b.kernel, (uint32_t [3]){ 0 }, 0), 0);
	for (uint64_t t = 1; t < 3000; t += 4)
		bench_quantum(&b, t, t + 4);
	assert_int_equal(sm_stats(b.sm)->warp_instructions, 0);
	assert_int_equal(b.wake, NEVER);
	sm_account(b.sm, 3001);
	assert_int_equal(sm_stats(b.sm)->stalls[STALL_SWAPPED], 2 * 3000);
	sm_describe(b.sm, what, sizeof(what));
	assert_string_equal(what, "SM 0: 2 running warps, CTA (0,0,0): warps 0-1 (swapped out)");
	sm_cta_look(b.sm, 0, &view);
	assert_int_equal(view.state, SM_CTA_PARKED);
	assert_true(view.ready);
	/* A parked CTA cannot be parked, an active one cannot be restored, an empty place neither. */
	assert_int_equal(sm_park(b.sm, 0, 0, 3000), -EINVAL);
	assert_int_equal(sm_restore(b.sm, 0, 0, 3000), 0);
	assert_int_equal(sm_restore(b.sm, 0, 0, 3000), -EINVAL);
	assert_int_equal(sm_restore(b.sm, 1, 0, 3000), -EINVAL);
	assert_int_equal(sm_park(b.sm, 1, 0, 3000), -EINVAL);
	assert_int_equal(sm_park(b.sm, 1000, 0, 3000), -EINVAL);
	for (uint64_t t = 3001; t < 6000; t += 4)
		bench_quantum(&b, t, t + 4);
	check_adds(&b, 1);
	assert_true(sm_idle(b.sm));
	bench_fini(&b);
}

/* --- phase points ---------------------------------------------------------------- */

struct points {
	struct sm *sm;
	uint64_t held;
	unsigned int asked, released;
};

static bool points_acquire(void *ctx, struct sm *sm, unsigned int warp, uint32_t pc, uint64_t now)
{
	struct points *p = ctx;

	assert_int_equal(pc, 7);
	p->asked++;
	p->held |= 1ull << warp;
	return false;
}

static void points_retired(void *ctx, struct sm *sm, unsigned int warp, uint64_t now)
{
	((struct points *)ctx)->released++;
}

static void test_phase_points(void **state)
{
	static const struct sm_mechanism mechanism = {
		.name = "points", .acquire = points_acquire, .warp_retired = points_retired,
	};
	struct points p = { 0 };
	struct bench b;

	bench_init(&b);
	b.mechanism = &mechanism;
	b.mechanism_ctx = &p;
	bench_load(&b, adds, 64);
	sm_kernel_set_point(b.kernel, 7);
	assert_int_equal(sm_launch_cta(b.sm, b.kernel, (uint32_t [3]){ 0 }, 0), 0);
	for (uint64_t t = 1; t < 3000; t += 4)
		bench_quantum(&b, t, t + 4);
	/* Both have issued what is before the point, and nothing more. */
	assert_int_equal(sm_stats(b.sm)->warp_instructions, 2 * 7);
	assert_int_equal(p.asked, 2);
	assert_int_equal(p.held, 3);
	/* From where their loads have come. */
	sm_account(b.sm, 3001);
	assert_in_range(sm_stats(b.sm)->stalls[STALL_HELD], 2 * 2000, 2 * 2900);
	assert_in_range(sm_stats(b.sm)->stalls[STALL_LONG], 1, 2 * 900);
	sm_resource_granted(b.sm, 0);
	for (uint64_t t = 3001; t < 6000; t += 4)
		bench_quantum(&b, t, t + 4);
	assert_int_equal(sm_stats(b.sm)->warp_instructions, 7 + 10);
	sm_resource_granted(b.sm, 1);
	for (uint64_t t = 6001; t < 9000; t += 4)
		bench_quantum(&b, t, t + 4);
	check_adds(&b, 1);
	assert_int_equal(p.asked, 2);
	assert_int_equal(p.released, 2);
	bench_fini(&b);
}

/* --- kernels side by side -------------------------------------------------------- */

static void test_two_kernels_on_one_sm(void **state)
{
	struct exec_launch launch;
	struct sm_kernel *other;
	uint64_t params[1] = { BENCH_BASE + 65536 };
	uint32_t launched[2] = { 0, 0 };
	struct bench b;

	/* 48 threads, so CTAs of 2 warps, between those of 3; its own parameters. */
	bench_init(&b);
	bench_load(&b, adds, 96);
	launch = b.launch;
	launch.block[0] = 48;
	launch.params = params;
	assert_int_equal(sm_kernel_create(&b.spec, &launch, &other, &b.err), 0);
	sm_kernel_set_slot(other, 3);
	assert_int_equal(sm_begin(b.sm, b.kernel), 0);
	assert_int_equal(sm_begin(b.sm, other), 0);
	for (uint64_t t = 1; t < 20000 && !b.status; t++) {
		for (unsigned int i = 0; i < 2; i++) {
			const struct sm_kernel *k = i ? other : b.kernel;

			if (launched[i] < 20 && sm_has_room(b.sm, k))
				assert_int_equal(sm_launch_cta(b.sm, k,
							       (uint32_t [3]){ launched[i]++ },
							       t - 1), 0);
		}
		bench_quantum(&b, t, t + 1);
	}
	assert_int_equal(b.status, 0);
	assert_true(sm_idle(b.sm));
	assert_int_equal(sm_share(b.sm, b.kernel)->retired_ctas, 20);
	assert_int_equal(sm_share(b.sm, other)->retired_ctas, 20);
	assert_int_equal(sm_share(b.sm, b.kernel)->warp_instructions, 20 * 3 * 10);
	assert_int_equal(sm_share(b.sm, other)->warp_instructions, 20 * 2 * 10);
	assert_int_equal(sm_share(b.sm, other)->thread_instructions, 20 * 48 * 10);
	assert_int_equal(sm_stats(b.sm)->warp_instructions, 20 * 5 * 10);
	for (uint32_t c = 0; c < 20; c++) {
		for (uint32_t t = 0; t < 48; t++)
			assert_int_equal(((uint32_t *)(b.memory + 65536))[64 * c + t], 64 * c + t);
	}
	sm_kernel_destroy(other);
	bench_fini(&b);
}

/* --- text and failures ------------------------------------------------------------ */

static void collect(void *ctx, const char *text, size_t bytes)
{
	strncat(ctx, text, bytes);
}

static void test_text_waits_for_its_cycle(void **state)
{
	char got[256] = "";
	struct bench b;

	bench_init(&b);
	bench_load(&b, PTX_HEAD
		".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n"
		/* Not at the address 0 of a module that is not placed. */
		".global .align 8 .b64 first;\n"
		".global .align 1 .b8 text[4] = {104, 105, 10, 0};\n"
		".visible .entry k()\n{\n.reg .b64 %rd<4>;\n.reg .b32 %r<4>;\n.reg .pred %p<2>;\n"
		"mov.u32 %r1, %tid.x;\nsetp.ne.u32 %p1, %r1, 1;\n@%p1 bra OUT;\n"
		"mov.u64 %rd1, text;\nmov.u64 %rd2, 0;\n{\n"
		".param .b64 p0;\n.param .b64 p1;\n.param .b32 q;\n"
		"st.param.b64 [p0], %rd1;\nst.param.b64 [p1], %rd2;\n"
		"call.uni (q), vprintf, (p0, p1);\nld.param.b32 %r2, [q];\n}\n"
		"OUT:\nret;\n}\n", 32);
	b.launch.print = collect;
	b.launch.print_ctx = got;
	bench_run(&b, 3);
	if (b.status)
		print_error("%s\n", b.err.text);
	assert_int_equal(b.status, 0);
	assert_string_equal(got, "hi\nhi\nhi\n");
	bench_fini(&b);
}

static void test_the_first_failure_is_told(void **state)
{
	struct bench b;

	/* Two warps trap; the one that is first is told. Fetch begins its search behind warp 0. */
	bench_init(&b);
	bench_load(&b, PTX_HEAD ".visible .entry k()\n{\ntrap;\n}\n", 64);
	bench_run(&b, 1);
	assert_int_equal(b.status, -ECANCELED);
	assert_non_null(strstr(b.err.text, "thread (32,0,0)"));
	assert_int_equal(sm_failure(b.sm)->cycle, sm_last(b.sm));
	assert_int_equal(sm_stats(b.sm)->warp_instructions, 1);
	sm_cancel(b.sm);
	assert_null(sm_failure(b.sm));
	bench_fini(&b);
}

static void test_an_sm_is_as_new_after_cancel(void **state)
{
	struct bench b;
	uint64_t first;

	bench_init(&b);
	bench_load(&b, adds, 64);
	bench_run(&b, 6);
	first = b.cycles;
	check_adds(&b, 6);
	/* In the middle of everything. */
	for (uint64_t stop = 1; stop < first; stop += 37) {
		uint64_t start = b.now;

		assert_int_equal(sm_begin(b.sm, b.kernel), 0);
		for (uint32_t i = 0; i < 3; i++)
			assert_int_equal(sm_launch_cta(b.sm, b.kernel, (uint32_t [3]){ i },
						       start), 0);
		for (uint64_t t = start + 1; t < start + 1 + stop; t++)
			bench_quantum(&b, t, t + 1);
		b.now = start + 1 + stop;
		sm_account(b.sm, b.now);
		sm_cancel(b.sm);
		mem_cancel(b.mem);
		gmmu_cancel(b.gmmu);
		sm_flush(b.sm);
		assert_true(sm_idle(b.sm));
	}
	memset(b.memory, 0, 4096);
	bench_run(&b, 6);
	check_adds(&b, 6);
	bench_fini(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_plain_gpu_is_told_nothing),
		cmocka_unit_test(test_a_mechanism_admits),
		cmocka_unit_test(test_parked_ctas_issue_nothing),
		cmocka_unit_test(test_phase_points),
		cmocka_unit_test(test_two_kernels_on_one_sm),
		cmocka_unit_test(test_text_waits_for_its_cycle),
		cmocka_unit_test(test_the_first_failure_is_told),
		cmocka_unit_test(test_an_sm_is_as_new_after_cancel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
