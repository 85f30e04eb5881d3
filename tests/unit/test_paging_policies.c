// SPDX-License-Identifier: GPL-2.0
/*
 * Policies as pure functions. The contract tests run over every row of both
 * tables, so that a new policy is held to them without a line here.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "paging/paging.h"

#define PAGES		600u		/* over the end of a VA block */
#define BASE		(64ull << 20)
#define PAGE(n)		(BASE + (n) * PAGE_BYTES)
#define INDEX(addr)	(unsigned int)(((addr) - BASE) / PAGE_BYTES)

static struct gpu_spec spec;
static struct rng policy_rng;
static bool resident[PAGES + 1000];
static bool kept[PAGES];
static unsigned int keep_calls;

static bool view_resident(void *ctx, uint64_t addr)
{
	return addr >= BASE && INDEX(addr) < ARRAY_SIZE(resident) && resident[INDEX(addr)];
}

static uint64_t view_random(void *ctx)
{
	return rng_next(&policy_rng);
}

static struct policy_view view = {
	.resident = view_resident,
	.random = view_random,
	.spec = &spec,
};

static bool keep(void *ctx, uint64_t addr)
{
	assert_ptr_equal(ctx, kept);
	assert_true(addr >= BASE && INDEX(addr) < PAGES);
	keep_calls++;
	return kept[INDEX(addr)];
}

static void fresh(void)
{
	spec_defaults(&spec);
	rng_seed(&policy_rng, 1);
	memset(resident, 0, sizeof(resident));
	memset(kept, 0, sizeof(kept));
}

/* --- eviction: every row ---------------------------------------------------- */

/* Against a plain set: what is picked was inserted, is not removed, and is not kept. */
static void evict_contract(const struct evict_ops *ops)
{
	unsigned int inside = 0, kept_inside = 0;
	struct rng rng;
	void *state;

	fresh();
	rng_seed(&rng, 99);
	assert_true(ops->name[0] && ops->help[0]);
	assert_int_equal(ops->create(&view, &state), 0);
	assert_int_equal(ops->pick(state, &view, keep, kept), 0);
	/* What is not there may be touched and removed. */
	ops->touch(state, PAGE(3), true);
	ops->remove(state, PAGE(3));
	assert_int_equal(ops->pick(state, &view, keep, kept), 0);
	for (unsigned int step = 0; step < 30000; step++) {
		unsigned int p = (unsigned int)rng_below(&rng, PAGES);
		uint64_t victim;

		switch (rng_below(&rng, 6)) {
		case 0:
		case 1:
			assert_int_equal(ops->insert(state, PAGE(p)), 0);
			inside += !resident[p];
			kept_inside += !resident[p] && kept[p];
			resident[p] = true;
			break;
		case 2:
			ops->remove(state, PAGE(p));
			inside -= resident[p];
			kept_inside -= resident[p] && kept[p];
			resident[p] = false;
			break;
		case 3:
			ops->touch(state, PAGE(p), step & 1);
			break;
		case 4:
			/* For long stretches nearly all pages are kept. */
			if (step / 3000 % 2 && rng_below(&rng, 20))
				break;
			kept_inside += resident[p] ? !kept[p] - kept[p] : 0;
			kept[p] = !kept[p];
			break;
		default:
			victim = ops->pick(state, &view, keep, kept);
			if (kept_inside == inside) {
				assert_int_equal(victim, 0);
				break;
			}
			assert_true(victim >= PAGE(0) && victim < PAGE(PAGES));
			assert_true(resident[INDEX(victim)]);
			assert_false(kept[INDEX(victim)]);
		}
	}
	/* One that may go among many that may not. */
	for (unsigned int p = 0; p < PAGES; p++) {
		assert_int_equal(ops->insert(state, PAGE(p)), 0);
		resident[p] = true;
		kept[p] = true;
	}
	inside = PAGES;
	for (unsigned int p = 0; p < PAGES; p += 7) {
		kept[p] = false;
		assert_int_equal(ops->pick(state, &view, keep, kept), PAGE(p));
		kept[p] = true;
	}
	/* Picked and removed until nothing is left: each page once, the kept ones never. */
	memset(kept, 0, sizeof(kept));
	kept[7] = true;
	for (; inside > 1; inside--) {
		uint64_t victim = ops->pick(state, &view, keep, kept);

		assert_true(victim && resident[INDEX(victim)]);
		assert_int_not_equal(INDEX(victim), 7);
		resident[INDEX(victim)] = false;
		ops->remove(state, victim);
	}
	assert_int_equal(ops->pick(state, &view, keep, kept), 0);
	ops->destroy(state);
}

/* The victims of one run, in order. */
static unsigned int evict_run(const struct evict_ops *ops, uint64_t seed, uint64_t *victims)
{
	unsigned int n = 0;
	void *state;

	fresh();
	rng_seed(&policy_rng, seed);
	assert_int_equal(ops->create(&view, &state), 0);
	for (unsigned int p = 0; p < PAGES; p++)
		assert_int_equal(ops->insert(state, PAGE(p)), 0);
	for (unsigned int p = 0; p < PAGES; p += 3)
		ops->touch(state, PAGE(p), false);
	while (n < PAGES) {
		victims[n] = ops->pick(state, &view, keep, kept);
		assert_true(victims[n] != 0);
		ops->remove(state, victims[n++]);
	}
	assert_int_equal(ops->pick(state, &view, keep, kept), 0);
	ops->destroy(state);
	return n;
}

static void every_evict_row(void **state)
{
	static uint64_t once[PAGES], twice[PAGES];
	unsigned int rows = 0;

	for (; evict_rows[rows]; rows++) {
		evict_contract(evict_rows[rows]);
		evict_run(evict_rows[rows], 4, once);
		evict_run(evict_rows[rows], 4, twice);
		assert_memory_equal(once, twice, sizeof(once));
	}
	assert_true(rows >= 2);
}

/* A pick costs little while few pages are kept. */
static void evict_is_cheap(void **state)
{
	for (unsigned int i = 0; evict_rows[i]; i++) {
		void *policy;

		fresh();
		assert_int_equal(evict_rows[i]->create(&view, &policy), 0);
		for (unsigned int p = 0; p < PAGES; p++)
			assert_int_equal(evict_rows[i]->insert(policy, PAGE(p)), 0);
		keep_calls = 0;
		for (unsigned int n = 0; n < 1000; n++)
			evict_rows[i]->pick(policy, &view, keep, kept);
		assert_in_range(keep_calls, 1000, 1000 * 12);
		evict_rows[i]->destroy(policy);
	}
}

/* --- eviction: each policy --------------------------------------------------- */

static const struct evict_ops *evict_row(const char *name)
{
	for (unsigned int i = 0; evict_rows[i]; i++)
		if (strcmp(evict_rows[i]->name, name) == 0)
			return evict_rows[i];
	fail_msg("no row %s", name);
	return NULL;
}

static void lru_by_hand(void **state)
{
	const struct evict_ops *lru = evict_row("lru");
	static const unsigned int order[] = { 1, 3, 0, 4, 2 };
	void *s;

	fresh();
	assert_int_equal(lru->create(&view, &s), 0);
	for (unsigned int p = 0; p < 5; p++)
		lru->insert(s, PAGE(p));	/* 0 1 2 3 4 */
	lru->touch(s, PAGE(0), false);		/* 1 2 3 4 0 */
	lru->touch(s, PAGE(4), true);		/* 1 2 3 0 4 */
	lru->insert(s, PAGE(2));		/* 1 3 0 4 2 */
	kept[1] = true;
	assert_true(lru->pick(s, &view, keep, kept) == PAGE(3));
	kept[1] = false;
	for (unsigned int i = 0; i < 5; i++) {
		assert_true(lru->pick(s, &view, keep, kept) == PAGE(order[i]));
		lru->remove(s, PAGE(order[i]));
	}
	lru->destroy(s);
}

#define TRACE	3000u

/* Misses of a trace with `frames` frames; what is inside at the end goes to in[]. */
static unsigned int lru_misses(const uint16_t *trace, unsigned int frames, bool *in)
{
	const struct evict_ops *lru = evict_row("lru");
	unsigned int used = 0, misses = 0;
	void *s;

	memset(in, 0, PAGES);
	assert_int_equal(lru->create(&view, &s), 0);
	for (unsigned int i = 0; i < TRACE; i++) {
		if (in[trace[i]]) {
			lru->touch(s, PAGE(trace[i]), false);
			continue;
		}
		misses++;
		if (used == frames) {
			uint64_t victim = lru->pick(s, &view, keep, kept);

			lru->remove(s, victim);
			in[INDEX(victim)] = false;
			used--;
		}
		assert_int_equal(lru->insert(s, PAGE(trace[i])), 0);
		in[trace[i]] = true;
		used++;
	}
	lru->destroy(s);
	return misses;
}

/* What fits in n frames is also inside with n + 1 (Mattson 1970), so misses never grow. */
static void lru_is_a_stack(void **state)
{
	static uint16_t trace[TRACE];
	bool smaller[PAGES], larger[PAGES];
	struct rng rng;

	fresh();
	rng_seed(&rng, 21);
	for (unsigned int i = 0; i < TRACE; i++)
		trace[i] = (uint16_t)(rng_below(&rng, 3) ? rng_below(&rng, 12) :
				      rng_below(&rng, 40));
	for (unsigned int frames = 1; frames < 42; frames++) {
		unsigned int misses = lru_misses(trace, frames, smaller);

		assert_true(lru_misses(trace, frames + 1, larger) <= misses);
		for (unsigned int p = 0; p < PAGES; p++)
			assert_true(!smaller[p] || larger[p]);
	}
}

static void random_is_uniform_and_seeded(void **state)
{
	const struct evict_ops *random = evict_row("random");
	static uint64_t once[PAGES], twice[PAGES];
	unsigned int seen[10] = { 0 };
	void *s;

	fresh();
	assert_int_equal(random->create(&view, &s), 0);
	for (unsigned int p = 0; p < 10; p++)
		random->insert(s, PAGE(p));
	for (unsigned int i = 0; i < 10000; i++)
		seen[INDEX(random->pick(s, &view, keep, kept))]++;
	/* 1000 each, standard deviation 30. */
	for (unsigned int p = 0; p < 10; p++)
		assert_in_range(seen[p], 850, 1150);
	random->destroy(s);
	evict_run(random, 1, once);
	evict_run(random, 2, twice);
	assert_memory_not_equal(once, twice, sizeof(once));
}

/* --- prefetch: every row ------------------------------------------------------ */

static unsigned int ask(const struct prefetch_ops *ops, const struct fault *faults,
			unsigned int n, uint64_t *pages, unsigned int max)
{
	unsigned int count;
	void *s;

	rng_seed(&policy_rng, 1);
	assert_int_equal(ops->create(&view, &s), 0);
	/* One more than it may write. */
	pages[max] = 0x5a5a;
	count = ops->on_batch(s, &view, faults, n, pages, max);
	assert_true(count <= max);
	assert_true(pages[max] == 0x5a5a);
	for (unsigned int i = 0; i < count; i++)
		assert_true(pages[i] % PAGE_BYTES == 0);
	ops->destroy(s);
	return count;
}

static void every_prefetch_row(void **state)
{
	static uint64_t pages[2001], again[2001];
	struct fault faults[64];
	struct rng rng;
	unsigned int rows;

	for (rows = 0; prefetch_rows[rows]; rows++) {
		const struct prefetch_ops *ops = prefetch_rows[rows];

		assert_true(ops->name[0] && ops->help[0]);
		fresh();
		rng_seed(&rng, 13);
		for (unsigned int round = 0; round < 300; round++) {
			unsigned int n = 0, max, count;
			unsigned int p = (unsigned int)rng_below(&rng, 8);

			memset(faults, 0, sizeof(faults));
			for (; n < 64 && p < PAGES; p += 1 + (unsigned int)rng_below(&rng, 30)) {
				faults[n].flags = (uint8_t)rng_below(&rng, 3);
				faults[n].va_space = 1;
				faults[n++].addr = PAGE(p);
				resident[p] = rng_below(&rng, 2);
			}
			max = (unsigned int)rng_below(&rng, 2000);
			spec.prefetch_pages = rng_below(&rng, 513);
			count = ask(ops, faults, n, pages, max);
			assert_int_equal(ask(ops, faults, n, again, max), count);
			assert_memory_equal(pages, again, count * sizeof(*pages));
			assert_int_equal(ask(ops, faults, n, pages, 0), 0);
			assert_int_equal(ask(ops, faults, 0, pages, max), 0);
		}
	}
	assert_true(rows >= 2);
}

static void prefetch_by_hand(void **state)
{
	const struct prefetch_ops *none = prefetch_rows[0], *sequential = prefetch_rows[1];
	struct fault faults[] = {
		{ .addr = PAGE(10) },
		{ .addr = PAGE(12) },
		{ .addr = PAGE(40), .flags = FAULT_UNMANAGED },
		{ .addr = PAGE(50), .flags = FAULT_RESIDENT },
		{ .addr = PAGE(511) },
	};
	static const unsigned int expect[] = { 11, 12, 13, 14, 15, 512, 513, 514 };
	uint64_t pages[20];

	fresh();
	assert_string_equal(none->name, "none");
	assert_string_equal(sequential->name, "sequential");
	spec.prefetch_pages = 3;
	assert_int_equal(ask(none, faults, 5, pages, 19), 0);
	assert_int_equal(ask(sequential, faults, 5, pages, 19), ARRAY_SIZE(expect));
	for (unsigned int i = 0; i < ARRAY_SIZE(expect); i++)
		assert_int_equal(INDEX(pages[i]), expect[i]);
	spec.prefetch_pages = 0;
	assert_int_equal(ask(sequential, faults, 5, pages, 19), 0);
	/* The last pages of the address space. */
	spec.prefetch_pages = 9;
	faults[0].addr = -2 * PAGE_BYTES;
	assert_int_equal(ask(sequential, faults, 1, pages, 19), 1);
	assert_true(pages[0] == -PAGE_BYTES);
	faults[0].addr = -PAGE_BYTES;
	assert_int_equal(ask(sequential, faults, 1, pages, 19), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_evict_row),
		cmocka_unit_test(evict_is_cheap),
		cmocka_unit_test(lru_by_hand),
		cmocka_unit_test(lru_is_a_stack),
		cmocka_unit_test(random_is_uniform_and_seeded),
		cmocka_unit_test(every_prefetch_row),
		cmocka_unit_test(prefetch_by_hand),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
