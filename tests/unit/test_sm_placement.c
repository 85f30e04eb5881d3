// SPDX-License-Identifier: GPL-2.0
/*
 * Where CTAs of two kernels lie in an SM, by hand: Warped-Slicer's figure 2a in units of 1
 * KiB of shared memory, what is counted of its holes, parts of an SM, and warps.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "sm/placement.h"

#define A	0u	/* kernels' slots */
#define B	1u

static const struct sm_needs a_needs = { .warps = 2, .registers = 1000, .shared_bytes = 1024 };
static const struct sm_needs b_needs = { .warps = 2, .registers = 1000, .shared_bytes = 2048 };

static struct placement *make(const char *how, bool by_warp)
{
	struct placement *p;
	struct gpu_spec spec;

	spec_defaults(&spec);
	spec.ctas = 8;
	spec.warps = 16;
	spec.registers = 10000;
	spec.shared_bytes = 6 * 1024;
	spec.warp_extents = by_warp;
	strcpy(spec.placement, how);
	assert_int_equal(placement_create(&spec, &p), 0);
	return p;
}

/* A B A B, then the A's end. */
static void interleave(struct placement *p)
{
	placement_take(p, 0, &a_needs, A, true);
	placement_take(p, 1, &b_needs, B, false);
	placement_take(p, 2, &a_needs, A, false);
	placement_take(p, 3, &b_needs, B, false);
	assert_int_equal(placement_fits(p, &a_needs, A), p->sums);
	placement_give(p, 0, &a_needs);
	placement_give(p, 2, &a_needs);
}

static void test_figure_2a(void **state)
{
	struct placement *p = make("extents", false);

	interleave(p);
	/* [0,1) is free, [1,3) B's, [3,4) free, [4,6) B's. */
	assert_int_equal(p->shared_at[1], 1024);
	assert_int_equal(p->shared_at[3], 4096);
	assert_int_equal(extents_free(&p->shared), 2048);
	assert_int_equal(p->shared.largest, 1024);
	assert_true(placement_fits(p, &a_needs, A));
	assert_false(placement_fits(p, &b_needs, B));
	/* One of B's ends: [0,4). The next takes the lower half, and one more fits. */
	placement_give(p, 1, &b_needs);
	assert_true(placement_fits(p, &b_needs, B));
	placement_take(p, 4, &b_needs, B, true);
	assert_int_equal(p->shared_at[4], 0);
	assert_true(placement_fits(p, &b_needs, B));
	placement_take(p, 5, &b_needs, B, true);
	assert_int_equal(p->shared_at[5], 2048);
	assert_false(placement_fits(p, &a_needs, A));
	placement_destroy(p);

	/* Where only sums count, that is no question. */
	p = make("sums", false);
	interleave(p);
	assert_true(placement_fits(p, &b_needs, B));
	placement_integrate(p, 10);
	assert_int_equal(p->stats.cycles, 0);
	placement_destroy(p);
}

static void test_counted(void **state)
{
	struct placement *p = make("extents", false);

	/* One kernel alone is not counted, whatever its holes. */
	placement_take(p, 0, &a_needs, A, true);
	placement_take(p, 1, &a_needs, A, true);
	placement_give(p, 0, &a_needs);
	placement_integrate(p, 100);
	assert_int_equal(p->stats.cycles, 0);
	placement_give(p, 1, &a_needs);
	interleave(p);
	placement_integrate(p, 7);
	assert_int_equal(p->stats.cycles, 7);
	assert_int_equal(p->stats.shared_free, 7 * 2048);
	assert_int_equal(p->stats.shared_hole, 7 * 1024);
	/* Registers: [0,1000) free, B, [2000,3000) free, B, [4000,10000) free. */
	assert_int_equal(p->stats.registers_free, 7 * 8000);
	assert_int_equal(p->stats.registers_hole, 7 * 6000);
	/* Refused once, however often it is asked; again when something has changed. */
	placement_refused(p, B);
	placement_refused(p, B);
	assert_int_equal(p->stats.refused, 1);
	/* It waits for as long as nothing comes or goes. */
	assert_int_equal(p->stats.refused_cycles, 0);
	placement_integrate(p, 5);
	placement_take(p, 0, &a_needs, A, false);
	placement_integrate(p, 3);
	assert_int_equal(p->stats.refused_cycles, 5);
	placement_refused(p, B);
	assert_int_equal(p->stats.refused, 2);
	/* What B alone leaves is still counted, until the SM was empty. */
	placement_give(p, 0, &a_needs);
	placement_give(p, 1, &b_needs);
	placement_integrate(p, 1);
	assert_int_equal(p->stats.cycles, 7 + 5 + 3 + 1);
	placement_give(p, 3, &b_needs);
	assert_true(placement_empty(p));
	placement_take(p, 0, &b_needs, B, true);
	placement_integrate(p, 1);
	assert_int_equal(p->stats.cycles, 7 + 5 + 3 + 1);
	placement_clear(p);
	assert_true(placement_empty(p));
	placement_destroy(p);
}

/* Each kernel in its half: A's small CTAs leave B's half alone, and its own is soon full. */
static void test_parts(void **state)
{
	struct placement *p = make("extents", false);

	p->parts[A] = (struct sm_part){ 0, 5000, 0, 3072 };
	p->parts[B] = (struct sm_part){ 5000, 10000, 3072, 6144 };
	for (unsigned int i = 0; i < 3; i++) {
		assert_true(placement_fits(p, &a_needs, A));
		placement_take(p, i, &a_needs, A, true);
		assert_int_equal(p->shared_at[i], i * 1024);
		assert_int_equal(p->registers_at[i], i * 1000);
	}
	assert_false(placement_fits(p, &a_needs, A));
	assert_true(placement_fits(p, &b_needs, B));
	placement_take(p, 3, &b_needs, B, false);
	assert_int_equal(p->shared_at[3], 3072);
	assert_int_equal(p->registers_at[3], 5000);
	assert_false(placement_fits(p, &b_needs, B));
	/* A kernel that begins may lie anywhere. */
	placement_begin(p, A);
	assert_true(placement_fits(p, &a_needs, A));
	placement_take(p, 4, &a_needs, A, false);
	assert_int_equal(p->shared_at[4], 5120);
	placement_destroy(p);
}

/* Two warps of 500 registers fit two holes of 500, which a CTA of 1000 does not. */
static void test_warps(void **state)
{
	static const struct sm_needs one = { .warps = 1, .registers = 500 };
	static const struct sm_needs two = { .warps = 2, .registers = 1000 };

	for (unsigned int by_warp = 0; by_warp < 2; by_warp++) {
		struct placement *p = make("extents", by_warp);

		p->parts[A] = p->parts[B] = (struct sm_part){ 0, 2000, 0, 0 };
		for (unsigned int i = 0; i < 4; i++)
			placement_take(p, i, &one, A, true);
		placement_give(p, 0, &one);
		assert_false(placement_fits(p, &two, B));
		placement_give(p, 2, &one);
		assert_int_equal(placement_fits(p, &two, B), by_warp);
		if (by_warp) {
			placement_take(p, 7, &two, B, false);
			assert_int_equal(p->registers_at[7 * p->pieces], 0);
			assert_int_equal(p->registers_at[7 * p->pieces + 1], 1000);
			placement_give(p, 7, &two);
		}
		placement_give(p, 1, &one);
		placement_give(p, 3, &one);
		assert_true(placement_empty(p));
		placement_destroy(p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_figure_2a),
		cmocka_unit_test(test_counted),
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_warps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
