// SPDX-License-Identifier: GPL-2.0
/*
 * The allocator of extents: by hand, and at random against a model that has a byte for
 * each unit and knows nothing of lists.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "base/rng.h"
#include "sm/extent.h"

static void test_first_fit(void **state)
{
	struct extents e;

	assert_int_equal(extents_init(&e, 100, 8), 0);
	assert_int_equal(extents_find(&e, 100, 0, 100), 0);
	assert_int_equal(extents_find(&e, 101, 0, 100), EXTENT_NONE);
	assert_int_equal(extents_holes(&e), 1);
	assert_int_equal(extents_take(&e, 30, 0, 100), 0);
	assert_int_equal(extents_take(&e, 20, 0, 100), 30);
	assert_int_equal(extents_take(&e, 40, 0, 100), 50);
	assert_int_equal(extents_free(&e), 10);
	assert_int_equal(e.largest, 10);
	assert_int_equal(extents_find(&e, 10, 0, 100), 90);
	assert_int_equal(extents_find(&e, 11, 0, 100), EXTENT_NONE);
	/* Two holes, 40 units in all, of which no 31 lie together. */
	extents_give(&e, 0, 30);
	assert_int_equal(extents_holes(&e), 2);
	assert_int_equal(extents_free(&e), 40);
	assert_int_equal(e.largest, 30);
	assert_int_equal(extents_find(&e, 31, 0, 100), EXTENT_NONE);
	assert_int_equal(extents_find(&e, 10, 0, 100), 0);
	/* What is between two holes joins them. */
	extents_give(&e, 30, 20);
	assert_int_equal(extents_holes(&e), 2);
	assert_int_equal(e.largest, 50);
	extents_give(&e, 50, 40);
	assert_int_equal(extents_holes(&e), 1);
	assert_int_equal(e.largest, 100);
	extents_fini(&e);
}

static void test_within_bounds(void **state)
{
	struct extents e;

	assert_int_equal(extents_init(&e, 100, 8), 0);
	assert_int_equal(extents_find(&e, 20, 50, 100), 50);
	assert_int_equal(extents_find(&e, 20, 50, 69), EXTENT_NONE);
	assert_int_equal(extents_find(&e, 20, 81, 100), EXTENT_NONE);
	assert_int_equal(extents_take(&e, 20, 50, 100), 50);
	assert_int_equal(extents_find(&e, 20, 50, 100), 70);
	assert_int_equal(extents_find(&e, 20, 40, 100), 70);
	assert_int_equal(extents_find(&e, 20, 30, 60), 30);
	assert_int_equal(extents_find(&e, 1, 50, 70), EXTENT_NONE);
	/* Nothing takes no place, and may be had where there is none. */
	assert_int_equal(extents_find(&e, 0, 50, 70), 50);
	extents_take(&e, 0, 50, 70);
	extents_give(&e, 50, 0);
	assert_int_equal(e.count, 1);
	extents_clear(&e);
	assert_int_equal(extents_free(&e), 100);
	assert_int_equal(e.largest, 100);
	extents_fini(&e);
}

#define UNITS	61u
#define MOST	12u

/* The lowest place, found by looking at each unit. */
static uint32_t model_find(const uint8_t *owner, uint32_t size, uint32_t from, uint32_t to)
{
	for (uint32_t at = from; at + size <= to; at++) {
		uint32_t n = 0;

		while (n < size && !owner[at + n])
			n++;
		if (n == size)
			return at;
	}
	return EXTENT_NONE;
}

/* How many go there, one behind the other. */
static unsigned int model_count(const uint8_t *owner, uint32_t size, uint32_t from, uint32_t to)
{
	unsigned int n = 0;
	uint32_t at;

	while ((at = model_find(owner, size, from, to)) != EXTENT_NONE) {
		from = at + size;
		n++;
	}
	return n;
}

static void model_check(const uint8_t *owner, const struct extents *e)
{
	uint32_t free = 0, largest = 0, run = 0, holes = 0;

	for (uint32_t u = 0; u < UNITS; u++) {
		free += !owner[u];
		holes += !owner[u] && !run;
		run = owner[u] ? 0 : run + 1;
		largest = MAX(largest, run);
	}
	assert_int_equal(extents_free(e), free);
	assert_int_equal(e->largest, largest);
	assert_int_equal(extents_holes(e), holes);
}

static void test_at_random(void **state)
{
	struct extent have[MOST] = { 0 };
	uint8_t owner[UNITS] = { 0 };
	unsigned int taken = 0, refused = 0;
	struct extents e;
	struct rng rng;

	rng_seed(&rng, 7);
	assert_int_equal(extents_init(&e, UNITS, MOST), 0);
	for (unsigned int i = 0; i < 200000; i++) {
		unsigned int who = (unsigned int)(rng_next(&rng) % MOST);
		uint32_t size = 1 + (uint32_t)(rng_next(&rng) % 14);
		uint32_t from = rng_next(&rng) % 3 ? 0 : (uint32_t)(rng_next(&rng) % UNITS);
		uint32_t to = rng_next(&rng) % 3 ? UNITS :
			      from + (uint32_t)(rng_next(&rng) % (UNITS - from));
		unsigned int n;
		uint32_t at;

		if (have[who].size) {
			extents_give(&e, have[who].at, have[who].size);
			memset(&owner[have[who].at], 0, have[who].size);
			have[who].size = 0;
			model_check(owner, &e);
			continue;
		}
		at = extents_find(&e, size, from, to);
		assert_int_equal(at, model_find(owner, size, from, to));
		n = 1 + (unsigned int)(rng_next(&rng) % 4);
		assert_int_equal(extents_fit(&e, size, n, from, to),
				 model_count(owner, size, from, to) >= n);
		if (at == EXTENT_NONE) {
			refused++;
			continue;
		}
		assert_int_equal(extents_take(&e, size, from, to), at);
		memset(&owner[at], 1, size);
		have[who] = (struct extent){ at, size };
		taken++;
		model_check(owner, &e);
	}
	/* Both happened often. */
	assert_true(taken > 20000 && refused > 20000);
	extents_fini(&e);
}

/* CTAs of one size, ended in any order, lie as counting says: what fits by sum has a place. */
static void test_one_size_never_fragments(void **state)
{
	struct rng rng;

	rng_seed(&rng, 11);
	for (uint32_t size = 1; size <= UNITS; size++) {
		bool at[UNITS] = { false };
		struct extents e;

		assert_int_equal(extents_init(&e, UNITS, UNITS), 0);
		for (unsigned int i = 0; i < 3000; i++) {
			unsigned int place = (unsigned int)(rng_next(&rng) % (UNITS / size));
			uint32_t found = extents_find(&e, size, 0, UNITS);

			assert_int_equal(found != EXTENT_NONE, extents_free(&e) >= size);
			if (at[place]) {
				extents_give(&e, place * size, size);
				at[place] = false;
			} else if (found != EXTENT_NONE) {
				extents_take(&e, size, 0, UNITS);
				assert_int_equal(found % size, 0);
				at[found / size] = true;
			}
		}
		extents_fini(&e);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_first_fit),
		cmocka_unit_test(test_within_bounds),
		cmocka_unit_test(test_at_random),
		cmocka_unit_test(test_one_size_never_fragments),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
