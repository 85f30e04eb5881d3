// SPDX-License-Identifier: GPL-2.0
/*
 * What must hold of every row of both tables of policies: a new one is held to it
 * without a line here. Each policy's own rules are in test_paging_policies_*.c.
 */
#include "policies_bench.h"

/* --- what a row says of itself -------------------------------------------------- */

static void check_options(const struct gpuemu_policy_option *options)
{
	unsigned int n = 0;

	for (; options && options[n].key; n++) {
		assert_true(options[n].key[0] && options[n].doc[0]);
		assert_true(options[n].min <= options[n].def && options[n].def <= options[n].max);
		assert_true(strspn(options[n].key, "abcdefghijklmnopqrstuvwxyz_") ==
			    strlen(options[n].key));
	}
	assert_true(n <= ARRAY_SIZE(values));
}

static void rows_introduce_themselves(void **state)
{
	for (unsigned int i = 0; evict_rows[i]; i++) {
		assert_int_equal(evict_rows[i]->abi, GPUEMU_POLICY_ABI);
		assert_true(evict_rows[i]->name[0] && evict_rows[i]->help[0]);
		assert_non_null(evict_rows[i]->insert);
		assert_non_null(evict_rows[i]->remove);
		assert_non_null(evict_rows[i]->pick);
		check_options(evict_rows[i]->options);
		for (unsigned int k = 0; k < i; k++)
			assert_string_not_equal(evict_rows[i]->name, evict_rows[k]->name);
	}
	for (unsigned int i = 0; prefetch_rows[i]; i++) {
		assert_int_equal(prefetch_rows[i]->abi, GPUEMU_POLICY_ABI);
		assert_true(prefetch_rows[i]->name[0] && prefetch_rows[i]->help[0]);
		assert_non_null(prefetch_rows[i]->on_batch);
		check_options(prefetch_rows[i]->options);
		for (unsigned int k = 0; k < i; k++)
			assert_string_not_equal(prefetch_rows[i]->name, prefetch_rows[k]->name);
	}
}

/* --- eviction ---------------------------------------------------------------------- */

static unsigned int may_go(void)
{
	unsigned int n = 0;

	for (unsigned int page = 0; page < PAGES; page++)
		n += resident[page] && !kept[page];
	return n;
}

/* As many as are needed where there are as many, and never anything that may not go. */
static void check_pick(const struct gpuemu_evict_ops *ops, void *state, struct rng *rng)
{
	unsigned int victims[PAGES];
	unsigned int need = 1 + (unsigned int)rng_below(rng, rng_below(rng, 4) ? 8 : 300);
	unsigned int max = need + (unsigned int)rng_below(rng, 2) * (PAGES - need);
	unsigned int n = evict_pick(ops, state, need, max, victims), there = may_go();

	assert_true(n >= MIN(need, there));
	/* A pick removes nothing. */
	if (n)
		assert_true(evict_pick(ops, state, 1, PAGES, victims) > 0);
}

/* Some rows look at ranges: two allocations in the first VA block, one across its end. */
static void set_ranges(bool known)
{
	ranges[0] = (struct gpuemu_policy_range){ PAGE(0), PAGE(100) };
	ranges[1] = (struct gpuemu_policy_range){ PAGE(112), PAGE(230) };
	ranges[2] = (struct gpuemu_policy_range){ PAGE(240), PAGE(PAGES) };
	nranges = known ? 3 : 0;
}

static void evict_contract(const struct gpuemu_evict_ops *ops, bool known, uint64_t seed)
{
	unsigned int victims[PAGES];
	struct rng rng;
	void *state;

	fresh();
	set_ranges(known);
	rng_seed(&rng, seed);
	set_options(ops->options);
	for (unsigned int i = 0; ops->options && ops->options[i].key; i++)
		values[i] = ops->options[i].min +
			    rng_below(&rng, ops->options[i].max - ops->options[i].min + 1);
	state = evict_make(ops);
	assert_int_equal(evict_pick(ops, state, 1, PAGES, victims), 0);
	/* What is not there may be touched and removed. */
	evict_touch(ops, state, 3, true);
	ops->remove(state, PAGE(3));
	assert_int_equal(evict_pick(ops, state, 1, PAGES, victims), 0);
	for (unsigned int step = 0; step < 12000; step++) {
		unsigned int page = (unsigned int)rng_below(&rng, PAGES);

		switch (rng_below(&rng, 6)) {
		case 0:
		case 1:
			assert_int_equal(ops->insert(state, PAGE(page), step & 1), 0);
			resident[page] = true;
			break;
		case 2:
			evict_remove(ops, state, page);
			break;
		case 3:
			evict_touch(ops, state, page, step & 1);
			break;
		case 4:
			/* For long stretches nearly all pages are kept. */
			kept[page] = step / 3000 % 2 ? rng_below(&rng, 20) != 0 :
						       rng_below(&rng, 8) == 0;
			break;
		default:
			check_pick(ops, state, &rng);
		}
	}
	/* One that may go among many that may not. */
	for (unsigned int page = 0; page < PAGES; page++) {
		evict_insert(ops, state, page);
		kept[page] = true;
	}
	for (unsigned int page = 0; page < PAGES; page += 7) {
		kept[page] = false;
		assert_int_equal(evict_pick(ops, state, 1, PAGES, victims), 1);
		assert_int_equal(victims[0], page);
		kept[page] = true;
	}
	/* Picked and removed until nothing is left: each page once, the kept ones never. */
	memset(kept, 0, sizeof(kept));
	kept[7] = true;
	while (may_go()) {
		unsigned int n = evict_pick(ops, state, 1, PAGES, victims);

		assert_true(n > 0);
		for (unsigned int i = 0; i < n; i++)
			evict_remove(ops, state, victims[i]);
	}
	assert_int_equal(evict_pick(ops, state, 1, PAGES, victims), 0);
	evict_end(ops, state);
}

static void every_evict_row(void **state)
{
	unsigned int rows = 0;

	for (; evict_rows[rows]; rows++)
		for (uint64_t seed = 1; seed < 4; seed++) {
			evict_contract(evict_rows[rows], false, seed);
			evict_contract(evict_rows[rows], true, seed);
		}
	assert_true(rows >= 9);
}

/* The victims of one run, in order. */
static void evict_run(const struct gpuemu_evict_ops *ops, unsigned int *order)
{
	unsigned int n = 0, victims[PAGES];
	void *state;

	fresh();
	set_ranges(true);
	rng_seed(&policy_rng, 4);
	set_options(ops->options);
	state = evict_make(ops);
	for (unsigned int page = 0; page < PAGES; page++)
		evict_insert(ops, state, page);
	for (unsigned int page = 0; page < PAGES; page += 3)
		evict_touch(ops, state, page, false);
	while (n < PAGES) {
		unsigned int some = evict_pick(ops, state, 1 + n % 5, PAGES - n, victims);

		assert_true(some > 0);
		for (unsigned int i = 0; i < some; i++) {
			evict_remove(ops, state, victims[i]);
			order[n++] = victims[i];
		}
	}
	evict_end(ops, state);
}

static void same_history_same_victims(void **state)
{
	unsigned int once[PAGES], twice[PAGES];

	for (unsigned int i = 0; evict_rows[i]; i++) {
		evict_run(evict_rows[i], once);
		evict_run(evict_rows[i], twice);
		assert_memory_equal(once, twice, sizeof(once));
	}
}

/* A pick costs little a victim while few pages are kept. */
static void evict_is_cheap(void **state)
{
	for (unsigned int i = 0; evict_rows[i]; i++) {
		const struct gpuemu_evict_ops *ops = evict_rows[i];
		unsigned int victims[PAGES], n = 0;
		void *policy;

		fresh();
		set_options(ops->options);
		policy = evict_make(ops);
		for (unsigned int page = 0; page < PAGES; page++)
			evict_insert(ops, policy, page);
		keep_calls = 0;
		for (unsigned int k = 0; k < 300; k++)
			n += evict_pick(ops, policy, 1 + k % 4, PAGES, victims);
		assert_in_range(keep_calls, n, n * 12);
		evict_end(ops, policy);
	}
}

/* --- prefetch ----------------------------------------------------------------------- */

static unsigned int some_faults(struct gpuemu_policy_fault *faults, struct rng *rng)
{
	unsigned int page = (unsigned int)rng_below(rng, 8), n = 0;

	memset(faults, 0, 64 * sizeof(*faults));
	for (; n < 64 && page < PAGES; page += 1 + (unsigned int)rng_below(rng, 30)) {
		faults[n].cycle = rng_below(rng, 50);
		faults[n].sm = (uint16_t)rng_below(rng, 4);
		faults[n].merged = 1;
		faults[n].resident = resident[page];
		faults[n++].addr = PAGE(page);
	}
	return n;
}

/*
 * Two states with one history answer alike; the answer is bounded; without faults, and
 * without room, there is none. A page that comes is told, and some leave again.
 */
static void prefetch_contract(const struct gpuemu_prefetch_ops *ops, bool known)
{
	static uint64_t pages[2001], again[2001];
	struct gpuemu_policy_fault faults[64];
	struct rng rng;
	void *one, *two;

	fresh();
	set_ranges(known);
	rng_seed(&rng, 13);
	set_options(ops->options);
	if (ops->options)
		values[0] = MIN(ops->options[0].max, 40);
	one = prefetch_make(ops);
	two = prefetch_make(ops);
	for (unsigned int round = 0; round < 200; round++) {
		unsigned int n = some_faults(faults, &rng);
		unsigned int max = (unsigned int)rng_below(&rng, round % 3 ? 2000 : 60), count;

		rng_seed(&policy_rng, round);
		assert_int_equal(prefetch_ask(ops, one, faults, 0, pages, max), 0);
		assert_int_equal(prefetch_ask(ops, two, faults, 0, pages, max), 0);
		count = prefetch_ask(ops, one, faults, n, pages, max);
		rng_seed(&policy_rng, round);
		assert_int_equal(prefetch_ask(ops, two, faults, n, again, max), count);
		assert_memory_equal(pages, again, count * sizeof(*pages));
		for (unsigned int i = 0; i < n + count; i++) {
			uint64_t addr = i < n ? faults[i].addr : pages[i - n];

			if (addr < BASE || addr >= PAGE(PAGES) || view_resident(NULL, addr))
				continue;
			prefetch_arrive(ops, one, INDEX(addr), i >= n);
			prefetch_arrive(ops, two, INDEX(addr), i >= n);
			if (ops->on_touch && i % 3) {
				ops->on_touch(one, addr, i & 1);
				ops->on_touch(two, addr, i & 1);
			}
		}
		for (unsigned int i = 0; i < 60; i++) {
			unsigned int page = (unsigned int)rng_below(&rng, PAGES);

			if (!resident[page])
				continue;
			prefetch_leave(ops, one, page);
			prefetch_leave(ops, two, page);
		}
	}
	assert_int_equal(prefetch_ask(ops, one, faults, some_faults(faults, &rng), pages, 0), 0);
	prefetch_end(ops, one);
	prefetch_end(ops, two);
}

static void every_prefetch_row(void **state)
{
	unsigned int rows;

	for (rows = 0; prefetch_rows[rows]; rows++) {
		prefetch_contract(prefetch_rows[rows], false);
		prefetch_contract(prefetch_rows[rows], true);
	}
	assert_true(rows >= 10);
}

/* What is asked for with a fault of a page that has come meanwhile: nothing. */
static void resident_faults_bring_nothing(void **state)
{
	static const char *const looks[] = {
		"none", "random", "sequential", "locality", "tree", "sequential-local", "block", "stride",
	};
	struct gpuemu_policy_fault faults[] = { FAULT(3), FAULT(40) };
	static uint64_t pages[2001];

	for (unsigned int i = 0; i < ARRAY_SIZE(looks); i++) {
		const struct gpuemu_prefetch_ops *ops = prefetch_row(looks[i]);
		void *s;

		fresh();
		set_ranges(true);
		set_options(ops->options);
		s = prefetch_make(ops);
		for (unsigned int k = 0; k < ARRAY_SIZE(faults); k++) {
			faults[k].resident = 1;
			prefetch_arrive(ops, s, INDEX(faults[k].addr), false);
		}
		assert_int_equal(prefetch_ask(ops, s, faults, 2, pages, 2000), 0);
		prefetch_end(ops, s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_introduce_themselves),
		cmocka_unit_test(every_evict_row),
		cmocka_unit_test(same_history_same_victims),
		cmocka_unit_test(evict_is_cheap),
		cmocka_unit_test(every_prefetch_row),
		cmocka_unit_test(resident_faults_bring_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
