// SPDX-License-Identifier: GPL-2.0
/*
 * Host threads: every part of a step once and in that step, whatever the number
 * of threads and parts, with and without time for the helpers to fall asleep.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "gpu/workers.h"

#define PARTS	32u

/* An even share of the parts for each thread. */
static const uint16_t *homes(unsigned int threads)
{
	static uint16_t of[PARTS];

	for (unsigned int i = 0; i < PARTS; i++)
		of[i] = (uint16_t)(i * threads / PARTS);
	return of;
}

struct world {
	unsigned int step;
	/* Plain: a part is one thread's, and the step's end orders it before what follows. */
	unsigned int done[PARTS];
	unsigned int late;
};

static void part(void *ctx, unsigned int n)
{
	struct world *w = ctx;

	if (w->done[n] != w->step)
		w->late = 1;
	w->done[n]++;
}

static void run_steps(unsigned int threads, unsigned int steps, long sleep_ns)
{
	struct timespec pause = { .tv_nsec = sleep_ns };
	struct world w = { 0 };
	struct workers *pool;

	assert_int_equal(workers_create(threads, PARTS, &pool), 0);
	for (unsigned int i = 0; i < steps; i++) {
		w.step = i;
		workers_run(pool, part, &w, homes(threads), PARTS);
		for (unsigned int k = 0; k < PARTS; k++)
			assert_int_equal(w.done[k], i + 1);
		if (sleep_ns)
			nanosleep(&pause, NULL);
	}
	assert_int_equal(w.late, 0);
	workers_destroy(pool);
}

static void test_every_part_once(void **state)
{
	for (unsigned int threads = 2; threads <= 4; threads++)
		run_steps(threads, 2000, 0);
}

static void test_helpers_that_sleep_wake_up(void **state)
{
	run_steps(3, 20, 5000000);
}

static void test_fewer_parts_than_threads(void **state)
{
	struct world w = { 0 };
	struct workers *pool;

	assert_int_equal(workers_create(8, PARTS, &pool), 0);
	for (unsigned int i = 0; i < 500; i++) {
		w.step = i;
		workers_run(pool, part, &w, homes(8), 1);
		assert_int_equal(w.done[0], i + 1);
		assert_int_equal(w.done[1], 0);
	}
	workers_run(pool, part, &w, homes(8), 0);
	assert_int_equal(w.done[0], 500);
	workers_destroy(pool);
}

static void test_made_and_not_used(void **state)
{
	for (unsigned int i = 0; i < 20; i++) {
		struct workers *pool;

		assert_int_equal(workers_create(4, PARTS, &pool), 0);
		workers_destroy(pool);
	}
	workers_destroy(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_part_once),
		cmocka_unit_test(test_helpers_that_sleep_wake_up),
		cmocka_unit_test(test_fewer_parts_than_threads),
		cmocka_unit_test(test_made_and_not_used),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
