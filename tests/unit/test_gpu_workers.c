// SPDX-License-Identifier: GPL-2.0
/*
 * Host threads: every part of a step once and in that step, whatever the number
 * of threads and parts, with and without time for the helpers to fall asleep. What comes behind
 * the parts comes behind them.
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
	unsigned int step, parts;
	/* Plain: a part is one thread's, and the step's end orders it before what follows. */
	unsigned int done[PARTS + 1];
	unsigned int then;
	unsigned int late;		/* something that was not in its step */
	long slow_ns;			/* the part before the last, and the last, take so long */
};

static void pause_ns(long ns)
{
	struct timespec pause = { .tv_nsec = ns };

	if (ns)
		nanosleep(&pause, NULL);
}

static void part(void *ctx, unsigned int n)
{
	struct world *w = ctx;

	if (w->done[n] != w->step)
		w->late = 1;
	if (n + 1 >= w->parts)
		pause_ns(w->slow_ns);
	if (n == w->parts && w->done[n - 1] != w->step + 1)
		w->late = 1;
	w->done[n]++;
}

static void soon(void *ctx, unsigned int n)
{
	const struct world *w = ctx;

	assert_true(n < w->parts);
}

static void then(void *ctx)
{
	struct world *w = ctx;

	for (unsigned int k = 0; k < w->parts; k++)
		if (w->done[k] != w->step + 1)
			w->late = 1;
	w->then++;
}

static void run_steps(unsigned int threads, unsigned int steps, unsigned int parts, long sleep_ns,
		      long slow_ns)
{
	struct world w = { .parts = parts, .slow_ns = slow_ns };
	struct workers_step step = {
		.fn = part, .soon = soon, .ctx = &w, .homes = homes(threads), .parts = parts,
		.then = then,
	};
	struct workers *pool;

	assert_int_equal(workers_create(threads, PARTS + 1, &pool), 0);
	for (unsigned int i = 0; i < steps; i++) {
		w.step = i;
		workers_run(pool, &step);
		for (unsigned int k = 0; k <= parts; k++)
			assert_int_equal(w.done[k], i + 1);
		for (unsigned int k = parts + 1; k <= PARTS; k++)
			assert_int_equal(w.done[k], 0);
		assert_int_equal(w.then, i + 1);
		pause_ns(sleep_ns);
	}
	assert_int_equal(w.late, 0);
	workers_destroy(pool);
}

static void test_every_part_once(void **state)
{
	for (unsigned int threads = 2; threads <= 4; threads++)
		run_steps(threads, 2000, PARTS, 0, 0);
}

static void test_helpers_that_sleep_wake_up(void **state)
{
	run_steps(3, 20, PARTS, 5000000, 0);
}

/* The caller has done its own parts, and helpers theirs, while the part before the last still runs. */
static void test_what_comes_behind_waits(void **state)
{
	for (unsigned int threads = 2; threads <= 4; threads++)
		run_steps(threads, 50, PARTS, 0, 200000);
}

static void test_fewer_parts_than_threads(void **state)
{
	run_steps(8, 500, 1, 0, 0);
}

static void test_made_and_not_used(void **state)
{
	for (unsigned int i = 0; i < 20; i++) {
		struct workers *pool;

		assert_int_equal(workers_create(4, PARTS + 1, &pool), 0);
		workers_destroy(pool);
	}
	workers_destroy(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_part_once),
		cmocka_unit_test(test_helpers_that_sleep_wake_up),
		cmocka_unit_test(test_what_comes_behind_waits),
		cmocka_unit_test(test_fewer_parts_than_threads),
		cmocka_unit_test(test_made_and_not_used),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
