// SPDX-License-Identifier: GPL-2.0
/* Each eviction policy against victims worked out by hand. */
#include "policies_bench.h"
#include "paging/rows.h"

static void *begin(const struct gpuemu_evict_ops *ops)
{
	fresh();
	set_options(ops->options);
	return evict_make(ops);
}

static void insert_pages(const struct gpuemu_evict_ops *ops, void *s, unsigned int first,
			 unsigned int n)
{
	for (unsigned int page = first; page < first + n; page++)
		evict_insert(ops, s, page);
}

static void lru_by_hand(void **state)
{
	const struct gpuemu_evict_ops *lru = evict_row("lru");
	void *s = begin(lru);

	insert_pages(lru, s, 0, 5);		/* 0 1 2 3 4 */
	evict_touch(lru, s, 0, false);		/* 1 2 3 4 0 */
	evict_touch(lru, s, 4, true);		/* 1 2 3 0 4 */
	evict_insert(lru, s, 2);		/* 1 3 0 4 2 */
	kept[1] = true;
	assert_evicts(lru, s, 3);
	kept[1] = false;
	assert_evicts(lru, s, 1);
	assert_evicts(lru, s, 0);
	assert_evicts(lru, s, 4);
	assert_evicts(lru, s, 2);
	evict_end(lru, s);
}

/* Of ten pages, the three that are least recent go after the others. */
static void reserved_lru_by_hand(void **state)
{
	const struct gpuemu_evict_ops *lru = evict_row("lru");
	unsigned int victims[PAGES];
	void *s;

	fresh();
	set_options(lru->options);
	values[0] = 30;
	s = evict_make(lru);
	insert_pages(lru, s, 0, 10);
	/* 0 1 2 | 3 4 5 6 7 8 9 */
	assert_int_equal(evict_pick(lru, s, 4, PAGES, victims), 4);
	for (unsigned int i = 0; i < 4; i++)
		assert_int_equal(victims[i], 3 + i);
	/* A touched page leaves the reserve, and the next one joins it: 0 2 3 | 4 5 .. 9 1. */
	evict_touch(lru, s, 1, false);
	assert_evicts(lru, s, 4);
	/* Nine pages: two are reserved. 0 2 | 3 5 6 .. 9 1 */
	assert_evicts(lru, s, 3);
	/* When all else is kept, they go. */
	for (unsigned int page = 5; page < 10; page++)
		kept[page] = true;
	kept[1] = true;
	assert_evicts(lru, s, 0);
	evict_end(lru, s);
}

/* Runs against the same page by page, between touches and removals: the whole order. */
static void runs_are_pages(const struct gpuemu_evict_ops *ops, uint64_t option)
{
	const struct evict_runs *runs = evict_runs_of(ops);
	unsigned int want[PAGES], got[PAGES], n;
	struct rng rng;
	void *one, *all;

	assert_non_null(runs);
	fresh();
	set_options(ops->options);
	values[0] = option;
	rng_seed(&rng, 11 + option);
	one = evict_make(ops);
	all = evict_make(ops);
	for (unsigned int step = 0; step < 2000; step++) {
		unsigned int first = 64 * (unsigned int)rng_below(&rng, PAGES / 64);
		unsigned int page = (unsigned int)rng_below(&rng, PAGES);
		uint64_t pages = rng_next(&rng) & rng_next(&rng);

		/* All of 64 KiB, which is taken as a whole. */
		if (step % 3 == 0)
			pages |= 0xffffull << 16 * rng_below(&rng, 4);
		assert_true(runs->insert(all, PAGE(first), pages) == pages);
		for (unsigned int i = 0; i < 64; i++)
			if (pages >> i & 1)
				evict_insert(ops, one, first + i);
		evict_touch(ops, one, page, false);
		evict_touch(ops, all, page, false);
		first = 64 * (unsigned int)rng_below(&rng, PAGES / 64);
		pages = step % 4 ? rng_next(&rng) | rng_next(&rng) : ~0ull;
		runs->remove(all, PAGE(first), pages);
		for (unsigned int i = 0; i < 64; i++)
			if (pages >> i & 1)
				evict_remove(ops, one, first + i);
		n = evict_pick(ops, one, PAGES, PAGES, want);
		assert_int_equal(evict_pick(ops, all, PAGES, PAGES, got), n);
		assert_memory_equal(got, want, n * sizeof(*got));
	}
	assert_true(n > 30);
	evict_end(ops, one);
	evict_end(ops, all);
}

static void lru_runs_are_pages(void **state)
{
	runs_are_pages(evict_row("lru"), 0);
	runs_are_pages(evict_row("lru"), 30);
}

static void fifo_by_hand(void **state)
{
	const struct gpuemu_evict_ops *fifo = evict_row("fifo");
	void *s = begin(fifo);

	insert_pages(fifo, s, 0, 4);
	evict_touch(fifo, s, 0, true);
	evict_insert(fifo, s, 1);	/* it is there already: it keeps its place */
	assert_evicts(fifo, s, 0);
	evict_insert(fifo, s, 0);
	assert_evicts(fifo, s, 1);
	assert_evicts(fifo, s, 2);
	assert_evicts(fifo, s, 3);
	assert_evicts(fifo, s, 0);
	evict_end(fifo, s);
}

static void mru_by_hand(void **state)
{
	const struct gpuemu_evict_ops *mru = evict_row("mru");
	void *s;

	fresh();
	memset(values, 0, sizeof(values));	/* recent=0 */
	s = evict_make(mru);
	insert_pages(mru, s, 0, 4);
	/* Prefetched, not touched: the last to go. */
	assert_int_equal(mru->insert(s, PAGE(9), true), 0);
	resident[9] = true;
	evict_touch(mru, s, 1, false);		/* 9 0 2 3 1 */
	assert_evicts(mru, s, 1);
	assert_evicts(mru, s, 3);
	evict_touch(mru, s, 9, false);		/* 0 2 9 */
	assert_evicts(mru, s, 9);
	assert_evicts(mru, s, 2);
	assert_evicts(mru, s, 0);
	evict_end(mru, s);
}

/* Of eight pages the two touched last are spared, unless nothing else may go. */
static void recent_pages_are_spared(void **state)
{
	const struct gpuemu_evict_ops *mru = evict_row("mru"), *min = evict_row("min");
	void *s;

	fresh();
	values[0] = 25;
	s = evict_make(mru);
	insert_pages(mru, s, 0, 8);		/* 0 .. 5 | 6 7 */
	assert_evicts(mru, s, 5);
	evict_touch(mru, s, 2, false);		/* 0 1 3 4 6 7 | 2 */
	assert_evicts(mru, s, 7);
	for (unsigned int page = 0; page < 8; page++)
		kept[page] = page != 2;
	assert_evicts(mru, s, 2);
	evict_end(mru, s);
	/* MIN: nothing is touched again, the lowest address goes; what is recent stays. */
	fresh();
	view.record_length = 0;
	values[0] = 25;
	s = evict_make(min);
	insert_pages(min, s, 0, 8);		/* recent: 6 7 */
	evict_touch(min, s, 0, false);		/* recent: 7 0 */
	assert_evicts(min, s, 1);
	assert_evicts(min, s, 2);
	for (unsigned int page = 0; page < 8; page++)
		kept[page] = page != 0;
	assert_evicts(min, s, 0);
	evict_end(min, s);
}

static void lfu_by_hand(void **state)
{
	const struct gpuemu_evict_ops *lfu = evict_row("lfu");
	static const unsigned int touches[] = { 3, 1, 0, 5, 1 };
	void *s;

	fresh();
	set_options(lfu->options);
	values[0] = 6;
	s = evict_make(lfu);
	insert_pages(lfu, s, 0, 5);
	for (unsigned int page = 0; page < 5; page++)
		for (unsigned int i = 0; i < touches[page]; i++)
			evict_touch(lfu, s, page, false);
	assert_evicts(lfu, s, 2);
	/* One touch each, page 1 longer ago. */
	assert_evicts(lfu, s, 1);
	/* The sixth touch of page 3 halves all: 0 has 1, 3 has 3, 4 has 0. */
	evict_touch(lfu, s, 3, false);
	evict_touch(lfu, s, 4, false);	/* 1, and more recently than 0 */
	assert_evicts(lfu, s, 0);
	evict_touch(lfu, s, 4, false);
	evict_touch(lfu, s, 4, false);	/* 3, as page 3, more recently */
	assert_evicts(lfu, s, 3);
	assert_evicts(lfu, s, 4);
	evict_end(lfu, s);
}

/* Halving often, over many pages: against plain counters. */
static void lfu_against_a_model(void **state)
{
	const struct gpuemu_evict_ops *lfu = evict_row("lfu");
	unsigned int count[40] = { 0 };
	struct rng rng;
	void *s;

	fresh();
	set_options(lfu->options);
	values[0] = 9;
	rng_seed(&rng, 3);
	s = evict_make(lfu);
	insert_pages(lfu, s, 0, 40);
	for (unsigned int step = 0; step < 20000; step++) {
		unsigned int page = (unsigned int)(rng_below(&rng, 41) * rng_below(&rng, 40) / 40);
		unsigned int victims[PAGES], least = ~0u;

		evict_touch(lfu, s, page, false);
		if (++count[page] >= 9)
			for (unsigned int i = 0; i < 40; i++)
				count[i] /= 2;
		for (unsigned int i = 0; i < 40; i++)
			least = MIN(least, count[i]);
		assert_int_equal(evict_pick(lfu, s, 1, PAGES, victims), 1);
		assert_int_equal(count[victims[0]], least);
	}
	evict_end(lfu, s);
}

static void random_is_uniform_and_seeded(void **state)
{
	const struct gpuemu_evict_ops *random = evict_row("random");
	unsigned int seen[10] = { 0 }, victims[PAGES], first[10], second[10];
	void *s = begin(random);

	insert_pages(random, s, 0, 10);
	for (unsigned int i = 0; i < 5000; i++) {
		assert_int_equal(evict_pick(random, s, 2, PAGES, victims), 2);
		seen[victims[0]]++;
		seen[victims[1]]++;
	}
	/* 1000 each, standard deviation 30. */
	for (unsigned int page = 0; page < 10; page++)
		assert_in_range(seen[page], 850, 1150);
	evict_end(random, s);
	for (unsigned int seed = 1; seed < 3; seed++) {
		s = begin(random);
		rng_seed(&policy_rng, seed);
		insert_pages(random, s, 0, 200);
		assert_int_equal(evict_pick(random, s, 10, PAGES, seed == 1 ? first : second), 10);
		evict_end(random, s);
	}
	assert_memory_not_equal(first, second, sizeof(first));
}

/* Pages 16 .. 31 are a leaf; so are 0 .. 15. */
static void sequential_local_by_hand(void **state)
{
	const struct gpuemu_evict_ops *sl = evict_row("sequential-local");
	void *s = begin(sl);

	insert_pages(sl, s, 3, 2);
	insert_pages(sl, s, 17, 3);
	insert_pages(sl, s, 40, 1);
	evict_touch(sl, s, 3, false);		/* leaves 1 2 0 */
	kept[18] = true;
	assert_evicts(sl, s, 17, 19);
	assert_evicts(sl, s, 40);
	assert_evicts(sl, s, 3, 4);
	kept[18] = false;
	assert_evicts(sl, s, 18);
	evict_end(sl, s);
}

static void groups_stop_at_their_room(void **state)
{
	static const char *const groups[] = { "sequential-local", "lru-block", "tree" };

	for (unsigned int i = 0; i < ARRAY_SIZE(groups); i++) {
		const struct gpuemu_evict_ops *ops = evict_row(groups[i]);
		unsigned int victims[PAGES];
		void *s = begin(ops);

		insert_pages(ops, s, 0, 16);
		assert_int_equal(evict_pick(ops, s, 3, 5, victims), 5);
		assert_int_equal(evict_pick(ops, s, 3, PAGES, victims), 16);
		evict_end(ops, s);
	}
}

static void lru_block_by_hand(void **state)
{
	const struct gpuemu_evict_ops *block = evict_row("lru-block");
	void *s = begin(block);

	insert_pages(block, s, 510, 4);		/* two in each VA block */
	evict_touch(block, s, 510, false);
	assert_evicts(block, s, 512, 513);
	assert_evicts(block, s, 510, 511);
	evict_end(block, s);
}

/* Record 0 1 2 0 1 3 0 : with 0, 1 and 2 here and 0 1 2 done, page 2 is never used again. */
static void min_by_hand(void **state)
{
	static const unsigned int touched[] = { 0, 1, 2, 0, 1, 3, 0, 2 };
	const struct gpuemu_evict_ops *min = evict_row("min");
	void *s;

	fresh();
	for (unsigned int i = 0; i < ARRAY_SIZE(touched); i++)
		record[i] = PAGE(touched[i]);
	view.record_length = ARRAY_SIZE(touched);
	memset(values, 0, sizeof(values));	/* recent=0 */
	s = evict_make(min);
	insert_pages(min, s, 0, 3);
	evict_insert(min, s, 50);		/* of no record: never touched */
	assert_evicts(min, s, 50);
	evict_touch(min, s, 0, false);		/* next: 0 at 3, 1 at 1, 2 at 2 */
	kept[0] = true;
	assert_evicts(min, s, 2);
	kept[0] = false;
	evict_insert(min, s, 2);
	evict_touch(min, s, 1, false);
	evict_touch(min, s, 2, false);		/* next: 0 at 3, 1 at 4, 2 at 7 */
	assert_evicts(min, s, 2);
	evict_touch(min, s, 0, false);
	evict_touch(min, s, 1, false);		/* next: 0 at 6, 1 never */
	assert_evicts(min, s, 1);
	assert_evicts(min, s, 0);
	evict_end(min, s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lru_by_hand),
		cmocka_unit_test(reserved_lru_by_hand),
		cmocka_unit_test(lru_runs_are_pages),
		cmocka_unit_test(fifo_by_hand),
		cmocka_unit_test(mru_by_hand),
		cmocka_unit_test(recent_pages_are_spared),
		cmocka_unit_test(lfu_by_hand),
		cmocka_unit_test(lfu_against_a_model),
		cmocka_unit_test(random_is_uniform_and_seeded),
		cmocka_unit_test(sequential_local_by_hand),
		cmocka_unit_test(groups_stop_at_their_room),
		cmocka_unit_test(lru_block_by_hand),
		cmocka_unit_test(min_by_hand),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
