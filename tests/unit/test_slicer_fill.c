// SPDX-License-Identifier: GPL-2.0
/*
 * Warped-Slicer's arithmetic: equations 3 and 4 by hand, algorithm 1 by hand and against all
 * partitions that there are.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "slicer/slicer.h"

static const uint64_t sm[SLICER_RESOURCES] = { 32768, 49152, 48, 8 };

static struct slicer_curve curve_of(unsigned int n, const double *at)
{
	struct slicer_curve c = { .ctas = n };

	memcpy(c.at, at, n * sizeof(*at));
	return c;
}
#define CURVE(...)	curve_of(sizeof((double[]){ __VA_ARGS__ }) / sizeof(double),	\
				 (double[]){ __VA_ARGS__ })

static void near(double got, double want)
{
	if (got < want - 1e-9 || got > want + 1e-9)
		fail_msg("%.12f, not %.12f", got, want);
}

/* --- the curve -------------------------------------------------------------------------- */

static void scaling_is_equations_3_and_4(void **state)
{
	/* 6 CTAs where 4.5 are the average: psi is a third; half of the cycles wait for memory. */
	near(slicer_scale(&(struct slicer_sample){ 6, 0.9, 0.5 }, 4.5), 0.9 * (1 + 0.5 / 3));
	/* Fewer than the average: less. */
	near(slicer_scale(&(struct slicer_sample){ 1, 0.4, 1.0 }, 4), 0.4 * 0.25);
	/* A kernel that never waits for memory is as it was sampled. */
	near(slicer_scale(&(struct slicer_sample){ 8, 1.5, 0 }, 2), 1.5);
	/* Nobody was there. */
	near(slicer_scale(&(struct slicer_sample){ 0, 0, 0 }, 0), 0);
}

static void more_than_its_share_is_cut(void **state)
{
	/* 12 bytes a cycle where 4 are fair: a third. */
	near(slicer_cut(&(struct slicer_sample){ .ipc = 0.9, .bytes = 12 }, 4), 0.3);
	/* A kernel that takes less is as it was sampled: it does not wait for more bandwidth. */
	near(slicer_cut(&(struct slicer_sample){ .ipc = 0.9, .bytes = 3, .memory = 1 }, 4), 0.9);
	near(slicer_cut(&(struct slicer_sample){ .ipc = 0.9 }, 0), 0.9);
}

static void curve_goes_through_its_samples(void **state)
{
	/* Not in order; two SMs had 4, and nobody had 1, 3 or more than 6. */
	struct slicer_sample s[] = {
		{ 6, 1.0, 0 }, { 2, 0.5, 0 }, { 4, 0.7, 0 }, { 4, 0.9, 0 },
	};
	static const double want[8] = { 0.25, 0.5, 0.65, 0.8, 0.9, 1.0, 1.0, 1.0 };
	struct slicer_curve c = { .ctas = 8 };

	slicer_curve(s, 4, 4, &c);
	for (unsigned int j = 0; j < 8; j++)
		near(c.at[j], want[j]);
	slicer_curve(s, 0, 4, &c);
	for (unsigned int j = 0; j < 8; j++)
		near(c.at[j], 0);
	near(slicer_performance(&c, 1), 1);
	/* Halves, as of an SM on which a CTA came in the middle. */
	slicer_curve((struct slicer_sample[]){ { 1.5, 0.6, 0 }, { 2.5, 1.0, 0 } }, 2, 2, &c);
	near(c.at[0], 0.4);
	near(c.at[1], 0.8);
	near(c.at[2], 1.0);
}

static void performance_is_of_the_best(void **state)
{
	struct slicer_curve c = CURVE(1, 3, 2, 4, 1);

	near(slicer_performance(&c, 1), 0.25);
	near(slicer_performance(&c, 2), 0.75);
	/* With three it is told to use two. */
	near(slicer_performance(&c, 3), 0.75);
	near(slicer_performance(&c, 5), 1);
}

/* --- algorithm 1 ---------------------------------------------------------------------------- */

/*
 * One that grows with each CTA and one that thrashes its L1D behind two: of eight slots the
 * second gets the two that are its best, the first all others.
 */
static void cache_sensitive_beside_compute(void **state)
{
	struct slicer_curve a = CURVE(0.2, 0.4, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0);
	struct slicer_curve b = CURVE(0.7, 1.0, 0.8, 0.6, 0.5, 0.4, 0.3, 0.2);
	const struct slicer_curve *const curves[] = { &a, &b };
	static const uint64_t needs[2][SLICER_RESOURCES] = { { 2048, 0, 4, 1 }, { 2048, 0, 4, 1 } };
	unsigned int ctas[2];

	assert_true(slicer_fill(curves, needs, 2, sm, ctas));
	assert_int_equal(ctas[0], 6);
	assert_int_equal(ctas[1], 2);
	/* 10% and nothing. */
	assert_false(slicer_loses_too_much(curves, ctas, 2, 120));
	assert_true(slicer_loses_too_much(curves, ctas, 2, 19));
	assert_false(slicer_loses_too_much(curves, ctas, 2, 21));
}

/* A step that brings nothing is skipped over: the next costs two CTAs at once. */
static void plateaus_are_crossed_at_once(void **state)
{
	struct slicer_curve a = CURVE(0.5, 0.5, 1.0), b = CURVE(0.6, 1.0);
	const struct slicer_curve *const curves[] = { &a, &b };
	static const uint64_t needs[2][SLICER_RESOURCES] = { { 1, 0, 1, 1 }, { 1, 0, 1, 1 } };
	unsigned int ctas[2];

	/* Four: a's two do not leave b its second, and a is the worse off. */
	assert_true(slicer_fill(curves, needs, 2, (uint64_t[]){ 4, 0, 48, 8 }, ctas));
	assert_int_equal(ctas[0], 3);
	assert_int_equal(ctas[1], 1);
	/* Three: a's two do not fit; a is full, b goes on. */
	assert_true(slicer_fill(curves, needs, 2, (uint64_t[]){ 3, 0, 48, 8 }, ctas));
	assert_int_equal(ctas[0], 1);
	assert_int_equal(ctas[1], 2);
}

static void each_resource_binds(void **state)
{
	struct slicer_curve a = CURVE(1, 2, 3, 4, 5, 6, 7, 8);
	const struct slicer_curve *const curves[] = { &a, &a };

	for (unsigned int r = 0; r < SLICER_RESOURCES; r++) {
		uint64_t have[SLICER_RESOURCES] = { 100, 100, 100, 100 };
		uint64_t needs[2][SLICER_RESOURCES] = { { 1, 1, 1, 1 }, { 1, 1, 1, 1 } };
		unsigned int ctas[2];

		have[r] = 10;
		needs[0][r] = 3;
		/* 3 + 1; by one each in turns, the first of equals first: 2, 2 take 8; 1 more does not fit, 3 do 9. */
		assert_true(slicer_fill(curves, needs, 2, have, ctas));
		assert_int_equal(ctas[0], 2);
		assert_int_equal(ctas[1], 4);
		needs[0][r] = 10;
		assert_false(slicer_fill(curves, needs, 2, have, ctas));
	}
}

#define MOST	8u	/* kernels of a problem */

struct problem {
	unsigned int n;
	struct slicer_curve curve[MOST];
	const struct slicer_curve *curves[MOST];
	uint64_t needs[MOST][SLICER_RESOURCES], have[SLICER_RESOURCES];
};

static bool fits(const struct problem *p, const unsigned int *ctas)
{
	for (unsigned int r = 0; r < SLICER_RESOURCES; r++) {
		uint64_t sum = 0;

		for (unsigned int i = 0; i < p->n; i++)
			sum += ctas[i] * p->needs[i][r];
		if (sum > p->have[r])
			return false;
	}
	return true;
}

static double worst(const struct problem *p, const unsigned int *ctas)
{
	double min = 1;

	for (unsigned int i = 0; i < p->n; i++)
		min = MIN(min, slicer_performance(&p->curve[i], ctas[i]));
	return min;
}

/* The best that the worst kernel can have, of all partitions from kernel i on. -1: none fits. */
static double brute(const struct problem *p, unsigned int *ctas, unsigned int i)
{
	double best = -1;

	if (i == p->n)
		return fits(p, ctas) ? worst(p, ctas) : -1;
	for (ctas[i] = 1; ctas[i] <= p->curve[i].ctas; ctas[i]++) {
		double got = brute(p, ctas, i + 1);

		best = MAX(best, got);
	}
	return best;
}

static void make(struct problem *p, struct rng *rng)
{
	/* CTAs of a kernel at most, by the number of kernels: so that all partitions can be tried. */
	static const unsigned int most[MOST + 1] = { [2] = 8, 8, 5, 4, 3, 3, 3 };

	p->n = 2 + (unsigned int)rng_below(rng, MOST - 1);
	for (unsigned int i = 0; i < p->n; i++) {
		p->curve[i].ctas = 1 + (unsigned int)rng_below(rng, most[p->n]);
		/* Few values, so that plateaus and ties are frequent. */
		for (unsigned int j = 0; j < p->curve[i].ctas; j++)
			p->curve[i].at[j] = (double)rng_below(rng, 9) / 4;
		p->curves[i] = &p->curve[i];
		for (unsigned int r = 0; r < SLICER_RESOURCES; r++)
			p->needs[i][r] = rng_below(rng, 7);
	}
	for (unsigned int r = 0; r < SLICER_RESOURCES; r++)
		p->have[r] = 4 + rng_below(rng, 12 * p->n);
}

/* Equation 1: nobody can do better by the kernel that is worst off. */
static void max_min_is_found(void **state)
{
	unsigned int fitted[MOST + 1] = { 0 };
	struct rng rng;

	rng_seed(&rng, 20);
	for (unsigned int i = 0; i < 3000; i++) {
		struct problem p;
		unsigned int ctas[MOST], scratch[MOST];
		double best;

		make(&p, &rng);
		best = brute(&p, scratch, 0);
		if (!slicer_fill(p.curves, p.needs, p.n, p.have, ctas)) {
			near(best, -1);
			continue;
		}
		fitted[p.n]++;
		assert_true(fits(&p, ctas));
		for (unsigned int k = 0; k < p.n; k++)
			assert_in_range(ctas[k], 1, p.curve[k].ctas);
		near(worst(&p, ctas), best);
	}
	for (unsigned int n = 2; n <= MOST; n++)
		assert_in_range(fitted[n], 100, 3000);
}

/*
 * What it does not find: of kernels that are equally badly off it raises the first, although
 * what that takes would have raised both others. The worst one has 0.5 either way; the sum differs.
 */
static void ties_go_to_the_first(void **state)
{
	struct slicer_curve a = CURVE(0.5, 1.0);
	const struct slicer_curve *const curves[] = { &a, &a, &a };
	static const uint64_t needs[3][SLICER_RESOURCES] = {
		{ 2, 0, 1, 1 }, { 1, 0, 1, 1 }, { 1, 0, 1, 1 },
	};
	unsigned int ctas[3];

	assert_true(slicer_fill(curves, needs, 3, (uint64_t[]){ 6, 0, 48, 8 }, ctas));
	assert_int_equal(ctas[0], 2);
	assert_int_equal(ctas[1], 1);
	assert_int_equal(ctas[2], 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(scaling_is_equations_3_and_4),
		cmocka_unit_test(more_than_its_share_is_cut),
		cmocka_unit_test(curve_goes_through_its_samples),
		cmocka_unit_test(performance_is_of_the_best),
		cmocka_unit_test(cache_sensitive_beside_compute),
		cmocka_unit_test(plateaus_are_crossed_at_once),
		cmocka_unit_test(each_resource_binds),
		cmocka_unit_test(max_min_is_found),
		cmocka_unit_test(ties_go_to_the_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
