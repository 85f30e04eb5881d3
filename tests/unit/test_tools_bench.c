// SPDX-License-Identifier: GPL-2.0
/*
 * What bench clients makes of its rounds: rates that are equal but for chance have not
 * fallen, a fall that three rounds of four show has happened, whichever clients' it is.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "bench.h"

#define ROUNDS	BENCH_CLIENT_ROUNDS

static double rounds[ROUNDS][BENCH_CLIENTS];

/* All rates are the same, but in that many rounds those from the column on are lower. */
static void fall(unsigned int column, unsigned int times, double to)
{
	for (unsigned int k = 0; k < ROUNDS; k++)
		for (unsigned int i = 0; i < BENCH_CLIENTS; i++)
			rounds[k][i] = 50000 * (i >= column && k < times ? to : 1.0);
}

static void equal_rates(void **state)
{
	double upper, least;

	fall(BENCH_CLIENTS, 0, 1);
	least = bench_clients_least(rounds, ROUNDS, &upper);
	assert_true(least == 1 && upper == 1);
}

/* Above as often as below: the median is below by the odd round, and that is chance. */
static void chance(void **state)
{
	double upper, least;

	for (unsigned int k = 0; k < ROUNDS; k++)
		for (unsigned int i = 0; i < BENCH_CLIENTS; i++)
			rounds[k][i] = 50000 * (i % 2 == k % 2 ? 0.97 : 1.0);
	least = bench_clients_least(rounds, ROUNDS, &upper);
	assert_true(least > 0.96 && least < 1);
	assert_true(upper >= 1);
}

static void three_of_four(void **state)
{
	for (unsigned int column = 1; column < BENCH_CLIENTS; column++) {
		double upper, least;

		/* 11 of 15 are fewer than three of four, 12 are more. */
		fall(column, 11, 0.99);
		least = bench_clients_least(rounds, ROUNDS, &upper);
		assert_true(least < 0.995);
		assert_true(upper == 1);
		fall(column, 12, 0.99);
		least = bench_clients_least(rounds, ROUNDS, &upper);
		assert_true(least < 0.995);
		assert_true(upper < 0.995);
	}
}

/* One client more wavers, with the least median; the next one falls in every round, by less. */
static void small_but_sure(void **state)
{
	double upper, least;

	fall(2, ROUNDS, 0.99);
	for (unsigned int k = 0; k < ROUNDS; k++)
		rounds[k][1] *= k < 8 ? 0.9 : 1.1;
	rounds[8][1] = rounds[9][1] = rounds[10][1] = rounds[0][0] * 0.9;
	least = bench_clients_least(rounds, ROUNDS, &upper);
	assert_true(least < 0.95);
	assert_true(upper < 0.995);
}

/* Rates that rise, by however much, are no fall; nor is a round of its own speed. */
static void rising(void **state)
{
	double upper, least;

	for (unsigned int k = 0; k < ROUNDS; k++)
		for (unsigned int i = 0; i < BENCH_CLIENTS; i++)
			rounds[k][i] = (k % 2 ? 30000.0 : 50000.0) * (1 + 0.1 * i);
	least = bench_clients_least(rounds, ROUNDS, &upper);
	assert_true(least > 1 && upper >= least);
}

static void no_rate(void **state)
{
	double upper, least;

	fall(BENCH_CLIENTS, 0, 1);
	for (unsigned int k = 0; k < ROUNDS; k++)
		rounds[k][0] = 0;
	least = bench_clients_least(rounds, ROUNDS, &upper);
	assert_true(least == 0 && upper == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_rates),
		cmocka_unit_test(chance),
		cmocka_unit_test(three_of_four),
		cmocka_unit_test(small_but_sure),
		cmocka_unit_test(rising),
		cmocka_unit_test(no_rate),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
