// SPDX-License-Identifier: GPL-2.0
/*
 * The link's use up to any cycle: a transfer counts by the part that has passed, the sums
 * over any intervals are the whole, and no answer is less than one before it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rng.h"
#include "gpu/link_use.h"

static uint64_t busy_at(struct link_use *u, bool d2h, uint64_t now)
{
	uint64_t busy, bytes;

	link_use_upto(u, d2h, now, &busy, &bytes);
	return busy;
}

static uint64_t bytes_at(struct link_use *u, bool d2h, uint64_t now)
{
	uint64_t busy, bytes;

	link_use_upto(u, d2h, now, &busy, &bytes);
	return bytes;
}

static void parts_count(void **state)
{
	struct link_use u = { 0 };

	link_use_add(&u, KERNEL_SLOTS, false, 100, 200, 4096);
	link_use_add(&u, KERNEL_SLOTS, false, 200, 300, 1000);
	link_use_add(&u, KERNEL_SLOTS, true, 0, 50, 64);
	assert_int_equal(busy_at(&u, false, 50), 0);
	assert_int_equal(busy_at(&u, false, 125), 25);
	assert_int_equal(bytes_at(&u, false, 125), 1024);
	/* An earlier cycle: what was told stays told. */
	assert_int_equal(bytes_at(&u, false, 110), 1024);
	assert_int_equal(bytes_at(&u, false, 250), 4096 + 500);
	assert_int_equal(busy_at(&u, false, 1000), 200);
	assert_int_equal(bytes_at(&u, false, 1000), 5096);
	assert_int_equal(busy_at(&u, true, 49), 49);
	assert_int_equal(bytes_at(&u, true, 50), 64);
	/* No time, and yet bytes. */
	link_use_add(&u, KERNEL_SLOTS, true, 60, 60, 7);
	assert_int_equal(bytes_at(&u, true, 61), 71);
	assert_int_equal(busy_at(&u, true, 61), 50);
	link_use_reset(&u);
	assert_int_equal(bytes_at(&u, true, 1000), 0);
}

static void intervals_add_up(void **state)
{
	struct link_use u = { 0 };
	struct rng rng;
	uint64_t told = 0, all = 0, time = 0, now = 0;

	rng_seed(&rng, 5);
	for (unsigned int i = 0; i < 2000; i++) {
		uint64_t length = rng_next(&rng) % 300, bytes = rng_next(&rng) % 100000;

		time += rng_next(&rng) % 50;
		link_use_add(&u, KERNEL_SLOTS, false, time, time + length, bytes);
		time += length;
		all += bytes;
		now += rng_next(&rng) % 250;
		assert_true(bytes_at(&u, false, now) >= told);
		told = bytes_at(&u, false, now);
		assert_true(told <= all);
	}
	assert_int_equal(bytes_at(&u, false, time), all);
	link_use_reset(&u);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_count),
		cmocka_unit_test(intervals_add_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
