// SPDX-License-Identifier: GPL-2.0
/*
 * The tree policies: by hand, and their masks against a model that goes page by page
 * over plain arrays, for thousands of random masks, faults, ranges and thresholds.
 */
#include "policies_bench.h"
#include "paging/rows.h"

#define BLOCK		512u	/* pages of a VA block */
#define LEAF		16u

/* --- by hand --------------------------------------------------------------------- */

static void *begin(const struct gpuemu_prefetch_ops *ops, unsigned int first, unsigned int end)
{
	fresh();
	set_options(ops->options);
	ranges[0] = (struct gpuemu_policy_range){ PAGE(first), PAGE(end) };
	nranges = 1;
	return prefetch_make(ops);
}

/* What one fault brings, that page included, arrives; returns how many pages. */
static unsigned int serve(const struct gpuemu_prefetch_ops *ops, void *s, unsigned int page)
{
	struct gpuemu_policy_fault fault = FAULT(page);
	uint64_t pages[BLOCK + 1];
	unsigned int n = prefetch_ask(ops, s, &fault, 1, pages, BLOCK);

	for (unsigned int i = 0; i < n; i++)
		prefetch_arrive(ops, s, INDEX(pages[i]), true);
	return n;
}

/*
 * A whole block, leaf after leaf. Leaf 2 is the third of four, so the four are filled;
 * then the fifth and sixth leaf make six of eight; 9 and 10 ten of 16, and so on: the worked
 * example of ISCA'19 figure 3 in address order.
 */
static void a_block_in_order(void **state)
{
	const struct gpuemu_prefetch_ops *tree = prefetch_row("tree");
	static const struct {
		unsigned int page, brings;
	} steps[] = {
		{ 0, 16 }, { 16, 16 }, { 32, 32 },	/* 4 leaves */
		{ 64, 64 },				/* 5 of 8 */
		{ 128, 128 },				/* 9 of 16 */
		{ 256, 256 },				/* 17 of 32 */
	};
	void *s = begin(tree, 0, BLOCK);

	for (unsigned int i = 0; i < ARRAY_SIZE(steps); i++)
		assert_int_equal(serve(tree, s, steps[i].page), steps[i].brings);
	prefetch_end(tree, s);
}

/* A run that comes or goes is its pages that do. */
static void a_run_is_its_pages(void **state)
{
	const struct gpuemu_prefetch_ops *tree = prefetch_row("tree");
	const struct prefetch_runs *runs = prefetch_runs_of(tree);
	uint64_t want[BLOCK + 1], got[BLOCK + 1];
	struct rng rng;

	assert_non_null(runs);
	rng_seed(&rng, 5);
	for (unsigned int round = 0; round < 200; round++) {
		void *one = begin(tree, 0, PAGES), *all = prefetch_make(tree);
		struct gpuemu_policy_fault fault = FAULT(0);
		unsigned int n;

		for (unsigned int run = rng_below(&rng, 9); run < 9; run++) {
			unsigned int first = 64 * (unsigned int)rng_below(&rng, PAGES / 64);
			uint64_t pages = rng_next(&rng) | rng_next(&rng);

			runs->on_arrive(all, PAGE(first), pages);
			for (unsigned int i = 0; i < 64; i++)
				if (pages >> i & 1)
					prefetch_arrive(tree, one, first + i, true);
			first = 64 * (unsigned int)rng_below(&rng, PAGES / 64);
			pages = rng_next(&rng) & rng_next(&rng);
			runs->on_leave(all, PAGE(first), pages);
			for (unsigned int i = 0; i < 64; i++)
				if (pages >> i & 1)
					prefetch_leave(tree, one, first + i);
		}
		for (unsigned int page = 0; page < BLOCK; page++) {
			if (resident[page])
				continue;
			fault = (struct gpuemu_policy_fault)FAULT(page);
			n = prefetch_ask(tree, one, &fault, 1, want, BLOCK);
			assert_int_equal(prefetch_ask(tree, all, &fault, 1, got, BLOCK), n);
			assert_memory_equal(got, want, n * sizeof(*got));
		}
		prefetch_end(tree, one);
		prefetch_end(tree, all);
	}
}

/* Four leaves that are far apart grow nothing; a neighbour of one does. */
static void far_faults_stay_apart(void **state)
{
	const struct gpuemu_prefetch_ops *tree = prefetch_row("tree");
	void *s = begin(tree, 0, BLOCK);

	for (unsigned int leaf = 0; leaf < 32; leaf += 8)
		assert_int_equal(serve(tree, s, leaf * LEAF), LEAF);
	assert_int_equal(serve(tree, s, 2 * LEAF), LEAF);	/* 0 and 2 of 4: half */
	assert_int_equal(serve(tree, s, 3 * LEAF), 2 * LEAF);	/* 0, 2 and 3: leaf 1 comes too */
	prefetch_end(tree, s);
}

/* nvidia-uvm grows at more than 51%: 17 of 32 pages; 50 is more than half. */
static void the_threshold_is_strict(void **state)
{
	static const struct {
		unsigned int threshold, here, brings;
	} cases[] = {
		{ 50, 1, 31 }, { 51, 1, 31 }, { 53, 1, 31 }, { 54, 1, 16 },
		{ 50, 0, 16 }, { 49, 0, 32 },
		{ 100, 15, 16 }, { 0, 0, BLOCK },
	};
	const struct gpuemu_prefetch_ops *tree = prefetch_row("tree");

	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		void *s = begin(tree, 0, BLOCK);

		values[0] = cases[i].threshold;
		/* Pages of the neighbour leaf, from its end. */
		for (unsigned int page = 0; page < cases[i].here; page++)
			prefetch_arrive(tree, s, 31 - page, false);
		assert_int_equal(serve(tree, s, 3), cases[i].brings);
		prefetch_end(tree, s);
	}
}

/* 192 KiB from page 16 on: three leaves, one subtree of two and half of another. */
static void a_tree_ends_with_its_allocation(void **state)
{
	const struct gpuemu_prefetch_ops *tree = prefetch_row("tree");
	void *s = begin(tree, 16, 64);

	assert_int_equal(serve(tree, s, 40), 16);
	/* 16 .. 31 is all there is of leaves 0 and 1: then 32 of 48 pages are here. */
	assert_int_equal(serve(tree, s, 20), 32);
	prefetch_end(tree, s);
}

static void faulted_leaves_are_wanted_most(void **state)
{
	const struct gpuemu_prefetch_ops *tree = prefetch_row("tree");
	struct gpuemu_policy_fault faults[] = { FAULT(5), FAULT(20), FAULT(40) };
	uint64_t pages[BLOCK + 1];
	void *s = begin(tree, 0, 64);

	assert_int_equal(prefetch_ask(tree, s, faults, 3, pages, BLOCK), 64);
	for (unsigned int i = 0; i < 64; i++)
		assert_int_equal(INDEX(pages[i]), i);
	assert_int_equal(prefetch_ask(tree, s, faults, 3, pages, 40), 40);
	prefetch_end(tree, s);
}

/* --- prefetch: against the model ------------------------------------------------------ */

static bool managed(unsigned int page, unsigned int range)
{
	return PAGE(page) >= ranges[range].start && PAGE(page) < ranges[range].end;
}

static unsigned int range_of(unsigned int page)
{
	unsigned int i = 0;

	while (!managed(page, i))
		i++;
	return i;
}

static bool fault_in(const bool *faulted, unsigned int leaf, unsigned int range)
{
	for (unsigned int page = leaf * LEAF; page < MIN((leaf + 1) * LEAF, PAGES); page++)
		if (faulted[page] && managed(page, range))
			return true;
	return false;
}

/* wanted[]: what the rule says, from the definition, without a tree. */
static void model_prefetch(const bool *faulted, unsigned int threshold, bool *wanted)
{
	memset(wanted, 0, PAGES);
	for (unsigned int fault = 0; fault < PAGES; fault++) {
		unsigned int range, first = fault / LEAF * LEAF, size = LEAF;

		if (!faulted[fault])
			continue;
		range = range_of(fault);
		for (unsigned int n = 2 * LEAF; n <= BLOCK; n *= 2) {
			unsigned int start = fault / n * n, here = 0, all = 0;

			for (unsigned int page = start; page < start + n && page < PAGES; page++) {
				if (!managed(page, range))
					continue;
				all++;
				here += resident[page] || fault_in(faulted, page / LEAF, range);
			}
			if (100 * here > threshold * all) {
				first = start;
				size = n;
			}
		}
		for (unsigned int page = first; page < first + size && page < PAGES; page++)
			if (managed(page, range) && !resident[page])
				wanted[page] = true;
	}
}

/* Up to four allocations, each from the start of a leaf, with gaps between. */
static void random_ranges(struct rng *rng)
{
	unsigned int page = (unsigned int)rng_below(rng, 6) * LEAF;

	nranges = 0;
	while (nranges < 4 && page < PAGES) {
		unsigned int n = 1 + (unsigned int)rng_below(rng, rng_below(rng, 2) ? 600 : 100);
		unsigned int end = MIN(page + n, PAGES);

		ranges[nranges++] = (struct gpuemu_policy_range){ PAGE(page), PAGE(end) };
		page = (end + LEAF - 1 + (unsigned int)rng_below(rng, 3) * LEAF) / LEAF * LEAF;
	}
}

static bool is_managed(unsigned int page)
{
	for (unsigned int i = 0; i < nranges; i++)
		if (managed(page, i))
			return true;
	return false;
}

static void random_prefetch(const struct gpuemu_prefetch_ops *tree, struct rng *rng)
{
	unsigned int density = (unsigned int)rng_below(rng, 100), n = 0, count;
	unsigned int nfaults = 1 + (unsigned int)rng_below(rng, 10);
	struct gpuemu_policy_fault faults[PAGES];
	bool faulted[PAGES] = { false }, wanted[PAGES], got[PAGES] = { false };
	uint64_t pages[2 * PAGES + 1];
	void *s;

	fresh();
	set_options(tree->options);
	random_ranges(rng);
	values[0] = rng_below(rng, 3) ? 51 : rng_below(rng, 101);
	s = prefetch_make(tree);
	for (unsigned int page = 0; page < PAGES; page++)
		if (is_managed(page) && rng_below(rng, 100) < density)
			prefetch_arrive(tree, s, page, page & 1);
	for (unsigned int page = 0; page < PAGES; page++)
		if (resident[page] && rng_below(rng, 10) == 0)
			prefetch_leave(tree, s, page);
	for (unsigned int i = 0; i < nfaults; i++) {
		unsigned int page = (unsigned int)rng_below(rng, PAGES);

		faulted[page] = is_managed(page) && !resident[page];
	}
	for (unsigned int page = 0; page < PAGES; page++)
		if (faulted[page] || (is_managed(page) && resident[page] && !rng_below(rng, 60)))
			faults[n++] = (struct gpuemu_policy_fault){
				.addr = PAGE(page), .resident = resident[page], .merged = 1,
			};
	model_prefetch(faulted, (unsigned int)values[0], wanted);
	count = prefetch_ask(tree, s, faults, n, pages, 2 * PAGES);
	for (unsigned int i = 0; i < count; i++) {
		assert_false(got[INDEX(pages[i])]);
		got[INDEX(pages[i])] = true;
	}
	assert_memory_equal(got, wanted, sizeof(got));
	prefetch_end(tree, s);
}

static void prefetch_masks(void **state)
{
	struct rng rng;

	rng_seed(&rng, 5);
	for (unsigned int i = 0; i < 4000; i++)
		random_prefetch(prefetch_row("tree"), &rng);
}

/* --- eviction ---------------------------------------------------------------------------- */

static void evict_by_hand(void **state)
{
	const struct gpuemu_evict_ops *tree = evict_row("tree");
	unsigned int victims[PAGES];
	void *s;

	fresh();
	set_options(tree->options);
	ranges[0] = (struct gpuemu_policy_range){ PAGE(0), PAGE(64) };
	nranges = 1;
	s = evict_make(tree);
	for (unsigned int page = 0; page < 64; page++)
		evict_insert(tree, s, page);
	for (unsigned int page = 0; page < 16; page++)
		evict_touch(tree, s, page, false);	/* leaves 1 2 3 0 */
	/* Leaf 1 goes: half of 0 and 1 is left, three quarters of all. */
	assert_int_equal(evict_pick(tree, s, 1, PAGES, victims), 16);
	for (unsigned int i = 0; i < 16; i++)
		evict_remove(tree, s, victims[i]);
	assert_int_equal(victims[0], 16);
	/* Then leaf 2: two of four are left, that is not less than half. */
	assert_int_equal(evict_pick(tree, s, 1, PAGES, victims), 16);
	for (unsigned int i = 0; i < 16; i++)
		evict_remove(tree, s, victims[i]);
	assert_int_equal(victims[0], 32);
	/* Then leaf 3, and one of four is left: it goes too. */
	assert_int_equal(evict_pick(tree, s, 1, PAGES, victims), 32);
	evict_end(tree, s);
}

/* The pages that go with `leaf`, from the definition. */
static void model_evict(unsigned int leaf, bool *gone)
{
	unsigned int range = 0, base = leaf * LEAF;

	memset(gone, 0, PAGES);
	for (unsigned int page = base; page < base + LEAF && page < PAGES; page++) {
		gone[page] = resident[page];
		if (resident[page])
			range = range_of(page);
	}
	for (unsigned int n = 2 * LEAF; n <= BLOCK; n *= 2) {
		unsigned int start = base / n * n, left = 0, all = 0;

		for (unsigned int page = start; page < start + n && page < PAGES; page++) {
			if (!managed(page, range))
				continue;
			all++;
			left += resident[page] && !gone[page];
		}
		if (left && 2 * left < all)
			for (unsigned int page = start; page < start + n && page < PAGES; page++)
				gone[page] |= managed(page, range) && resident[page];
	}
}

static void random_evict(const struct gpuemu_evict_ops *tree, struct rng *rng)
{
	unsigned int density = 1 + (unsigned int)rng_below(rng, 100), any = 0;
	unsigned int victims[PAGES], n, stamp = 0;
	unsigned int block_touch[2] = { 0 }, leaf_touch[PAGES / LEAF + 1] = { 0 };
	bool gone[PAGES], got[PAGES] = { false };
	unsigned int block = 2, leaf = ~0u;
	void *s;

	fresh();
	set_options(tree->options);
	random_ranges(rng);
	s = evict_make(tree);
	for (unsigned int page = 0; page < PAGES; page++) {
		if (!is_managed(page) || rng_below(rng, 100) >= density)
			continue;
		evict_insert(tree, s, page);
		block_touch[page / BLOCK] = ++stamp;
		leaf_touch[page / LEAF] = stamp;
		any++;
	}
	for (unsigned int i = 0; i < 200; i++) {
		unsigned int page = (unsigned int)rng_below(rng, PAGES);

		evict_touch(tree, s, page, false);
		if (!resident[page])
			continue;
		block_touch[page / BLOCK] = ++stamp;
		leaf_touch[page / LEAF] = stamp;
	}
	n = evict_pick(tree, s, 1, PAGES, victims);
	assert_int_equal(n > 0, any > 0);
	for (unsigned int b = 0; b < 2; b++)
		if (block_touch[b] && (block == 2 || block_touch[b] < block_touch[block]))
			block = b;
	for (unsigned int l = 0; l <= (PAGES - 1) / LEAF; l++)
		if (leaf_touch[l] && l / (BLOCK / LEAF) == block &&
		    (leaf == ~0u || leaf_touch[l] < leaf_touch[leaf]))
			leaf = l;
	if (n) {
		model_evict(leaf, gone);
		for (unsigned int i = 0; i < n; i++)
			got[victims[i]] = true;
		assert_memory_equal(got, gone, sizeof(got));
	}
	evict_end(tree, s);
}

static void evict_masks(void **state)
{
	struct rng rng;

	rng_seed(&rng, 6);
	for (unsigned int i = 0; i < 4000; i++)
		random_evict(evict_row("tree"), &rng);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_block_in_order),
		cmocka_unit_test(a_run_is_its_pages),
		cmocka_unit_test(far_faults_stay_apart),
		cmocka_unit_test(the_threshold_is_strict),
		cmocka_unit_test(a_tree_ends_with_its_allocation),
		cmocka_unit_test(faulted_leaves_are_wanted_most),
		cmocka_unit_test(prefetch_masks),
		cmocka_unit_test(evict_by_hand),
		cmocka_unit_test(evict_masks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
