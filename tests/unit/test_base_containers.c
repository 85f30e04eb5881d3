// SPDX-License-Identifier: GPL-2.0
/* Map, list, bitmap, random numbers, error text: against plain models. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/array.h"
#include "base/base.h"
#include "base/bitmap.h"
#include "base/list.h"
#include "base/u64map.h"
#include "base/rng.h"

/* Few keys, so that puts, replacements and deletions meet; they stride like page addresses. */
#define KEYS	700u

static void map_model(void **state)
{
	static uint64_t model[KEYS];
	static bool there[KEYS];
	struct u64map map = { 0 };
	struct rng rng;
	size_t count = 0;

	rng_seed(&rng, 1);
	for (unsigned int step = 0; step < 60000; step++) {
		unsigned int k = (unsigned int)rng_below(&rng, KEYS);
		uint64_t key = (uint64_t)k << PAGE_SHIFT, value = rng_next(&rng);
		/* Grows for a while, then shrinks, and again. */
		bool put = rng_below(&rng, 10) < (step / 8000 % 2 ? 3 : 7);

		if (put) {
			assert_int_equal(u64map_put(&map, key, value), 0);
			count += !there[k];
			there[k] = true;
			model[k] = value;
		} else {
			assert_int_equal(u64map_del(&map, key), there[k]);
			count -= there[k];
			there[k] = false;
		}
		assert_int_equal(map.count, count);
		k = (unsigned int)rng_below(&rng, KEYS);
		value = 42;
		assert_int_equal(u64map_get(&map, (uint64_t)k << PAGE_SHIFT, &value), there[k]);
		assert_true(value == (there[k] ? model[k] : 42));
	}
	for (unsigned int k = 0; k < KEYS; k++) {
		uint64_t value = 0;

		assert_int_equal(u64map_get(&map, (uint64_t)k << PAGE_SHIFT, &value), there[k]);
		assert_true(!there[k] || value == model[k]);
	}
	u64map_clear(&map);
	assert_int_equal(map.count, 0);
}

static void map_edges(void **state)
{
	struct u64map map = { 0 };
	uint64_t value = 7;

	assert_false(u64map_get(&map, 0, &value));
	assert_false(u64map_del(&map, 0));
	assert_int_equal(u64map_put(&map, U64MAP_NO_KEY, 1), -EINVAL);
	assert_int_equal(u64map_put(&map, 0, 1), 0);
	assert_false(u64map_get(&map, U64MAP_NO_KEY, &value));
	assert_int_equal(value, 7);
	assert_true(u64map_get(&map, 0, &value));
	assert_int_equal(value, 1);
	u64map_clear(&map);
}

struct item {
	int n;
	struct list node;
};

static void list_order(void **state)
{
	struct item items[4] = { { .n = 0 }, { .n = 1 }, { .n = 2 }, { .n = 3 } };
	int seen = 0, expect[] = { 3, 2, 0 };
	struct list head;

	list_init(&head);
	assert_true(list_empty(&head));
	for (int i = 0; i < 3; i++)
		list_add_tail(&head, &items[i].node);	/* 0 1 2 */
	list_add_head(&head, &items[3].node);		/* 3 0 1 2 */
	list_move_tail(&head, &items[0].node);		/* 3 1 2 0 */
	list_del(&items[1].node);			/* 3 2 0 */
	list_del(&items[1].node);
	assert_true(list_empty(&items[1].node));
	list_for_each(pos, &head)
		assert_int_equal(list_entry(pos, struct item, node)->n, expect[seen++]);
	assert_int_equal(seen, 3);
	list_for_each_safe(pos, &head)
		list_del(pos);
	assert_true(list_empty(&head));
}

static void bitmap_walk(void **state)
{
	static const unsigned int set[] = { 0, 1, 63, 64, 127, 130, 199 };
	uint64_t map[BITMAP_WORDS(200)] = { 0 };
	unsigned int bit = 0;

	assert_int_equal(bitmap_next(map, 200, 0), 200);
	for (unsigned int i = 0; i < ARRAY_SIZE(set); i++)
		bitmap_set(map, set[i]);
	for (unsigned int i = 0; i < ARRAY_SIZE(set); i++) {
		bit = bitmap_next(map, 200, i ? bit + 1 : 0);
		assert_int_equal(bit, set[i]);
		assert_true(bitmap_test(map, bit));
	}
	assert_int_equal(bitmap_next(map, 200, bit + 1), 200);
	/* A bit behind the end is not found. */
	assert_int_equal(bitmap_next(map, 198, 131), 198);
	bitmap_clear(map, 63);
	assert_false(bitmap_test(map, 63));
	assert_int_equal(bitmap_next(map, 200, 2), 64);
}

/* First outputs of xoshiro256** from a splitmix64 state, computed independently. */
static void rng_reference(void **state)
{
	static const uint64_t of_zero[] = {
		0x99ec5f36cb75f2b4ull, 0xbf6e1f784956452aull, 0x1a5f849d4933e6e0ull,
		0x6aa594f1262d2d2cull, 0xbba5ad4a1f842e59ull, 0xffef8375d9ebcacaull,
		0x6c160deed2f54c98ull, 0x8920ad648fc30a3full, 0xdb032c0ba7539731ull,
	};
	struct rng rng, other;

	rng_seed(&rng, 0);
	for (unsigned int i = 0; i < ARRAY_SIZE(of_zero); i++)
		assert_true(rng_next(&rng) == of_zero[i]);
	rng_seed(&rng, 5);
	rng_seed(&other, 5);
	for (unsigned int i = 0; i < 100; i++)
		assert_true(rng_next(&rng) == rng_next(&other));
	rng_seed(&other, 6);
	assert_true(rng_next(&rng) != rng_next(&other));
}

static void rng_is_uniform(void **state)
{
	unsigned int seen[10] = { 0 };
	struct rng rng;

	rng_seed(&rng, 3);
	for (unsigned int i = 0; i < 100000; i++) {
		uint64_t n = rng_below(&rng, 10);

		assert_true(n < 10);
		seen[n]++;
	}
	/* 10000 each, standard deviation 95. */
	for (unsigned int i = 0; i < 10; i++)
		assert_in_range(seen[i], 9500, 10500);
	assert_int_equal(rng_below(&rng, 1), 0);
}

/* Its elements stay; it grows by doubling, and never past what its room can say. */
static void array_rooms(void **state)
{
	struct { uint32_t *at; uint8_t room; } a = { NULL };
	uint64_t *wide = NULL;
	uint64_t wide_room = 0;
	unsigned int moves = 0;

	for (uint32_t i = 0; i < 255; i++) {
		uint8_t before = a.room;

		assert_int_equal(array_grow(a.at, a.room, i), 0);
		assert_true(a.room > i && (before == a.room || before == i));
		moves += before != a.room;
		a.at[i] = i * i;
	}
	assert_int_equal(moves, 5);	/* 16, 32, 64, 128, 255 */
	assert_int_equal(a.room, 255);
	assert_int_equal(array_grow(a.at, a.room, 255), -ENOMEM);
	assert_int_equal(a.room, 255);
	for (uint32_t i = 0; i < 255; i++)
		assert_int_equal(a.at[i], i * i);
	assert_int_equal(array_resize(a.at, 3), 0);
	assert_int_equal(a.at[2], 4);
	assert_int_equal(array_reserve(wide, wide_room, 100), 0);
	assert_int_equal(wide_room, 100);
	/* 8 bytes each: more than an address can say. */
	assert_int_equal(array_reserve(wide, wide_room, SIZE_MAX / 8 + 1), -ENOMEM);
	assert_int_equal(array_reserve(wide, wide_room, UINT64_MAX), -ENOMEM);
	assert_int_equal(wide_room, 100);
	free(wide);
	free(a.at);
}

static void error_text(void **state)
{
	char longer[1000];
	struct err err;

	assert_int_equal(err_set(&err, -EINVAL, "%s: %d", "x", 3), -EINVAL);
	assert_string_equal(err.text, "x: 3");
	assert_int_equal(err_set(NULL, -ENOMEM, "nobody reads"), -ENOMEM);
	memset(longer, 'y', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	err_set(&err, -1, "%s", longer);
	assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(map_model),
		cmocka_unit_test(map_edges),
		cmocka_unit_test(list_order),
		cmocka_unit_test(bitmap_walk),
		cmocka_unit_test(rng_reference),
		cmocka_unit_test(rng_is_uniform),
		cmocka_unit_test(array_rooms),
		cmocka_unit_test(error_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
