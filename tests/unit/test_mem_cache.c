// SPDX-License-Identifier: GPL-2.0
/*
 * The cache that every level uses: outcomes in their order of checks, LRU, MSHRs and
 * merging, hashed sets, allocation on fill, write policies, flush and drop. L2's use
 * of it (sectors, byte masks) is in test_mem_l2.c.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "mem/mem.h"

/* An L1D in small: 2 sets, 2 ways, whole lines. */
static const struct cache_shape l1d = {
	.sets = 2, .ways = 2, .line = 128, .sector = 128, .mshrs = 3, .merges = 2,
};

static struct cache *make(const struct cache_shape *shape)
{
	struct cache *c = NULL;

	assert_int_equal(cache_create(shape, &c), 0);
	assert_true(cache_idle(c));
	return c;
}

static void read_in(struct cache *c, uint64_t addr)
{
	uint32_t waiters[2];

	assert_int_equal(cache_read(c, addr, 1, true, NULL), CACHE_MISS);
	assert_int_equal(cache_fill(c, addr, waiters), 1);
}

static void test_miss_merge_fill_hit(void **state)
{
	struct cache *c = make(&l1d);
	uint32_t waiters[2] = { 0 };

	assert_int_equal(cache_read(c, 0x1000, 11, true, NULL), CACHE_MISS);
	assert_false(cache_idle(c));
	assert_int_equal(cache_read(c, 0x1040, 12, true, NULL), CACHE_PENDING);
	/* Two waiters are all; and one that has no room in the miss queue may not even merge. */
	assert_int_equal(cache_read(c, 0x1040, 13, true, NULL), CACHE_NO_MERGE);
	assert_int_equal(cache_read(c, 0x1040, 13, false, NULL), CACHE_NO_QUEUE);
	assert_int_equal(cache_fill(c, 0x1000, waiters), 2);
	assert_int_equal(waiters[0], 11);
	assert_int_equal(waiters[1], 12);
	assert_true(cache_idle(c));
	assert_int_equal(cache_read(c, 0x1044, 14, false, NULL), CACHE_HIT);
	/* Nobody waits twice. */
	assert_int_equal(cache_fill(c, 0x1000, waiters), 0);
	cache_destroy(c);
}

static void test_refusals_change_nothing(void **state)
{
	struct cache *c = make(&l1d);
	uint32_t waiters[2];

	/* Set 0: lines 0x000, 0x100, 0x200; set 1: 0x080, 0x180. */
	assert_int_equal(cache_read(c, 0x000, 0, false, NULL), CACHE_NO_QUEUE);
	assert_true(cache_idle(c));
	assert_int_equal(cache_read(c, 0x000, 0, true, NULL), CACHE_MISS);
	assert_int_equal(cache_read(c, 0x100, 1, true, NULL), CACHE_MISS);
	/* Both ways are being fetched. */
	assert_int_equal(cache_read(c, 0x200, 2, true, NULL), CACHE_NO_LINE);
	assert_int_equal(cache_read(c, 0x080, 3, true, NULL), CACHE_MISS);
	/* Three MSHRs are all. */
	assert_int_equal(cache_read(c, 0x180, 4, true, NULL), CACHE_NO_MSHR);
	assert_int_equal(cache_fill(c, 0x100, waiters), 1);
	assert_int_equal(cache_read(c, 0x180, 4, true, NULL), CACHE_MISS);
	assert_int_equal(cache_read(c, 0x200, 2, true, NULL), CACHE_NO_MSHR);
	assert_int_equal(cache_read(c, 0x100, 2, true, NULL), CACHE_HIT);
	cache_destroy(c);
}

static void test_lru(void **state)
{
	struct cache *c = make(&l1d);

	read_in(c, 0x000);
	read_in(c, 0x100);
	assert_int_equal(cache_read(c, 0x000, 0, true, NULL), CACHE_HIT);
	/* 0x100 was used longer ago. */
	read_in(c, 0x200);
	assert_int_equal(cache_read(c, 0x000, 0, true, NULL), CACHE_HIT);
	assert_int_equal(cache_read(c, 0x100, 0, true, NULL), CACHE_MISS);
	cache_destroy(c);
}

/* A write is a use, whatever it finds: what was only read goes first. */
static void test_writes_are_uses(void **state)
{
	for (unsigned int back = 0; back < 2; back++) {
		struct cache *c = make(&l1d);

		read_in(c, 0x000);
		read_in(c, 0x100);
		if (back)
			assert_int_equal(cache_write_back(c, 0x000, 0xf, true, NULL), CACHE_HIT);
		else
			assert_int_equal(cache_write_if_there(c, 0x000), CACHE_HIT);
		/* 0x100 was used longer ago. */
		read_in(c, 0x200);
		assert_int_equal(cache_read(c, 0x000, 0, true, NULL), CACHE_HIT);
		/* Then 0x200 was: a written line takes its place. */
		assert_int_equal(cache_write_back(c, 0x300, 0xf, true, NULL), CACHE_MISS);
		assert_int_equal(cache_read(c, 0x000, 0, true, NULL), CACHE_HIT);
		/* By now 0x300 is. */
		read_in(c, 0x400);
		assert_int_equal(cache_read(c, 0x000, 0, true, NULL), CACHE_HIT);
		cache_destroy(c);
	}
}

/*
 * Bits 7-11 xor bits 13, 14, 15, 17, 19: 0x2000 has bit 13, set 1; 0x20000 has bit 17,
 * set 8; 0x80080 has bits 19 and 7, set 17. One way: what falls in a set replaces it.
 */
static void test_fermi_hash(void **state)
{
	static const struct cache_shape shape = {
		.sets = 32, .ways = 1, .line = 128, .sector = 128, .mshrs = 1, .merges = 1,
		.index = CACHE_FERMI_HASH,
	};
	static const struct { uint64_t addr, same; } pair[] = {
		{ 0x2000, 1 * 128 }, { 0x4000, 2 * 128 }, { 0x8000, 4 * 128 },
		{ 0x20000, 8 * 128 }, { 0x80080, 17 * 128 }, { 0x1000, 0 }, { 0x10000, 0 },
		{ 0x40000, 0 }, { 0xc0000000, 0 },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(pair); i++) {
		struct cache *c = make(&shape);

		/* All 32 sets, then the one line: it throws out that of its set. */
		for (unsigned int set = 0; set < 32; set++)
			read_in(c, 128 * set);
		read_in(c, pair[i].addr);
		for (unsigned int set = 0; set < 32; set++)
			assert_int_equal(cache_read(c, 128 * set, 0, false, NULL) == CACHE_HIT,
					 128 * set != pair[i].same);
		cache_destroy(c);
	}
}

/* L1I and L1C: a fetch holds no line, so what is there stays until the fill. */
static void test_allocate_on_fill(void **state)
{
	static const struct cache_shape shape = {
		.sets = 1, .ways = 1, .line = 64, .sector = 64, .mshrs = 2, .merges = 2,
		.on_fill = true,
	};
	struct cache *c = make(&shape);
	uint32_t waiters[2];

	assert_int_equal(cache_read(c, 0x000, 1, true, NULL), CACHE_MISS);
	assert_int_equal(cache_read(c, 0x040, 2, true, NULL), CACHE_MISS);
	assert_int_equal(cache_read(c, 0x050, 3, true, NULL), CACHE_PENDING);
	assert_int_equal(cache_read(c, 0x050, 4, true, NULL), CACHE_NO_MERGE);
	assert_int_equal(cache_read(c, 0x080, 5, true, NULL), CACHE_NO_MSHR);
	assert_int_equal(cache_fill(c, 0x000, waiters), 1);
	assert_int_equal(waiters[0], 1);
	assert_int_equal(cache_read(c, 0x080, 5, true, NULL), CACHE_MISS);
	assert_int_equal(cache_read(c, 0x000, 6, true, NULL), CACHE_HIT);
	assert_int_equal(cache_fill(c, 0x040, waiters), 2);
	assert_int_equal(waiters[1], 3);
	assert_int_equal(cache_read(c, 0x040, 6, true, NULL), CACHE_HIT);
	assert_int_equal(cache_fill(c, 0x080, waiters), 1);
	assert_true(cache_idle(c));
	cache_destroy(c);
}

static void test_write_evict(void **state)
{
	struct cache *c = make(&l1d);
	uint32_t waiters[2];

	assert_int_equal(cache_write_evict(c, 0x000), CACHE_MISS);
	read_in(c, 0x000);
	assert_int_equal(cache_write_evict(c, 0x010), CACHE_HIT);
	assert_int_equal(cache_read(c, 0x000, 5, true, NULL), CACHE_MISS);
	/* On its way: it stays, and the reader gets it. */
	assert_int_equal(cache_write_evict(c, 0x010), CACHE_PENDING);
	assert_int_equal(cache_fill(c, 0x000, waiters), 1);
	assert_int_equal(cache_read(c, 0x000, 5, true, NULL), CACHE_HIT);
	cache_destroy(c);
}

static void test_write_if_there(void **state)
{
	struct cache *c = make(&l1d);
	struct cache_victim victim;

	assert_int_equal(cache_write_if_there(c, 0x000), CACHE_MISS);
	read_in(c, 0x000);
	assert_int_equal(cache_write_if_there(c, 0x000), CACHE_HIT);
	read_in(c, 0x100);
	assert_int_equal(cache_read(c, 0x200, 0, true, &victim), CACHE_MISS);
	assert_int_equal(victim.dirty, 1);
	assert_int_equal(victim.addr, 0);
	/* Clean ones do not come out, and the mark of the last call does not stay. */
	assert_int_equal(cache_read(c, 0x300, 0, true, &victim), CACHE_MISS);
	assert_int_equal(victim.dirty, 0);
	cache_destroy(c);
}

/* Sectors of a line come one by one; a victim says which are dirty. */
static void test_sectors(void **state)
{
	static const struct cache_shape shape = {
		.sets = 1, .ways = 1, .line = 128, .sector = 32, .mshrs = 4, .merges = 1,
	};
	struct cache *c = make(&shape);
	struct cache_victim victim;
	uint32_t waiters[1];

	assert_int_equal(cache_read(c, 0x00, 1, true, NULL), CACHE_MISS);
	assert_int_equal(cache_read(c, 0x20, 2, true, NULL), CACHE_SECTOR_MISS);
	assert_int_equal(cache_fill(c, 0x20, waiters), 1);
	assert_int_equal(waiters[0], 2);
	assert_int_equal(cache_read(c, 0x20, 3, true, NULL), CACHE_HIT);
	/* Sector 0 is still on its way: the line cannot go. */
	assert_int_equal(cache_read(c, 0x80, 4, true, NULL), CACHE_NO_LINE);
	assert_int_equal(cache_fill(c, 0x00, waiters), 1);
	assert_int_equal(cache_write_back(c, 0x40, 0xf, true, NULL), CACHE_SECTOR_MISS);
	assert_int_equal(cache_write_back(c, 0x40, 0xf0, true, NULL), CACHE_HIT);
	assert_int_equal(cache_write_back(c, 0x20, 0xf, true, NULL), CACHE_HIT);
	assert_int_equal(cache_read(c, 0x40, 5, true, NULL), CACHE_SECTOR_MISS);
	/* Written whole while it is on its way: readable. */
	assert_int_equal(cache_write_back(c, 0x40, 0xffffff00, true, NULL), CACHE_PENDING);
	assert_int_equal(cache_read(c, 0x40, 6, true, NULL), CACHE_HIT);
	assert_int_equal(cache_fill(c, 0x40, waiters), 1);
	assert_int_equal(cache_write_back(c, 0x80, 0xf, false, &victim), CACHE_NO_QUEUE);
	assert_int_equal(victim.dirty, 0);
	assert_int_equal(cache_write_back(c, 0x80, 0xf, true, &victim), CACHE_MISS);
	assert_int_equal(victim.addr, 0);
	assert_int_equal(victim.dirty, 0x6);
	cache_destroy(c);
}

static void test_clear_and_drop(void **state)
{
	static const struct cache_shape shape = {
		.sets = 64, .ways = 4, .line = 128, .sector = 128, .mshrs = 2, .merges = 1,
	};
	struct cache *c = make(&shape);
	uint32_t waiters[1];

	for (uint64_t a = 0; a < 16384; a += 128)
		cache_install(c, a);
	assert_int_equal(cache_read(c, 0x100000, 9, true, NULL), CACHE_MISS);
	/* A page, a part of a line, everything. */
	cache_drop(c, 4096, 8192);
	assert_int_equal(cache_read(c, 4096 - 1, 0, false, NULL), CACHE_HIT);
	assert_int_equal(cache_read(c, 4096, 0, false, NULL), CACHE_NO_QUEUE);
	assert_int_equal(cache_read(c, 8191, 0, false, NULL), CACHE_NO_QUEUE);
	assert_int_equal(cache_read(c, 8192, 0, false, NULL), CACHE_HIT);
	cache_drop(c, 130, 131);
	assert_int_equal(cache_read(c, 0, 0, false, NULL), CACHE_HIT);
	assert_int_equal(cache_read(c, 128, 0, false, NULL), CACHE_NO_QUEUE);
	cache_drop(c, 0, UINT64_MAX);
	assert_int_equal(cache_read(c, 8192, 0, false, NULL), CACHE_NO_QUEUE);
	cache_install(c, 0);
	cache_clear(c);
	assert_int_equal(cache_read(c, 0, 0, false, NULL), CACHE_NO_QUEUE);
	/* The fetch was not forgotten; by cache_reset() it is. */
	assert_int_equal(cache_fill(c, 0x100000, waiters), 1);
	assert_int_equal(waiters[0], 9);
	assert_int_equal(cache_read(c, 0x200000, 9, true, NULL), CACHE_MISS);
	cache_reset(c);
	assert_true(cache_idle(c));
	assert_int_equal(cache_fill(c, 0x200000, waiters), 0);
	cache_destroy(c);
}

static void test_refused_shapes(void **state)
{
	struct cache_shape shape = l1d;
	struct cache *c;

	shape.line = 96;
	assert_int_equal(cache_create(&shape, &c), -EINVAL);
	shape = l1d;
	shape.sector = 16;	/* 8 sectors */
	assert_int_equal(cache_create(&shape, &c), -EINVAL);
	shape = l1d;
	shape.mshrs = 0;
	assert_int_equal(cache_create(&shape, &c), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_miss_merge_fill_hit),
		cmocka_unit_test(test_refusals_change_nothing),
		cmocka_unit_test(test_lru),
		cmocka_unit_test(test_writes_are_uses),
		cmocka_unit_test(test_fermi_hash),
		cmocka_unit_test(test_allocate_on_fill),
		cmocka_unit_test(test_write_evict),
		cmocka_unit_test(test_write_if_there),
		cmocka_unit_test(test_sectors),
		cmocka_unit_test(test_clear_and_drop),
		cmocka_unit_test(test_refused_shapes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
