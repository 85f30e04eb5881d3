// SPDX-License-Identifier: GPL-2.0
/*
 * What must hold whatever the policies decide: random traces over every pair of
 * an eviction and a prefetch row, two sessions on one device. The fake service
 * fails the test when it is asked to move what is there already, to evict a
 * page of the batch, to cross a VA block, or to fill more frames than it has.
 */
#include "paging_fake.h"

#include "base/rng.h"

#define STEPS	1500u

struct run {
	struct fake *fake;
	struct paging_pool *pool;
	struct paging *paging[2];	/* VA spaces 1 and 2 */
	uint64_t limit[2];
	uint64_t digest;		/* of everything that was decided */
};

static void digest(struct run *run, uint64_t value)
{
	run->digest = (run->digest ^ value) * 0x100000001b3ull;
}

static void digest_plans(struct run *run, unsigned int since)
{
	for (unsigned int i = since; i < run->fake->serves; i++) {
		const struct plan *plan = &run->fake->plans[i % KEPT_PLANS];

		for (unsigned int m = 0; m < plan->count; m++) {
			digest(run, plan->migrations[m].addr);
			digest(run, plan->migrations[m].pages * 8u + plan->migrations[m].op);
			digest(run, plan->migrations[m].va_space);
		}
	}
}

static uint64_t used_by(const struct run *run, unsigned int s)
{
	uint64_t used = 0;

	for (unsigned int page = 0; page < PAGES; page++)
		used += run->fake->there[s + 1][page];
	return used;
}

static void check_books(const struct run *run)
{
	uint64_t total = 0;

	for (unsigned int s = 0; s < 2; s++) {
		const struct paging_stats *stats = paging_stats(run->paging[s]);
		uint64_t used = used_by(run, s);

		for (unsigned int page = 0; page < PAGES; page++)
			assert_int_equal(paging_resident(run->paging[s], PAGE(page)),
					 run->fake->there[s + 1][page]);
		assert_true(used <= run->limit[s]);
		assert_true(stats->prefetch_used_pages <= stats->prefetched_pages);
		assert_int_equal(stats->latency_ns.count, stats->far_faults);
		assert_true(stats->far_faults <= stats->raw_faults);
		total += used;
	}
	assert_true(total == run->fake->used);
	assert_true(total <= run->fake->frames);
}

/* A batch of faults in one region, duplicates and unmanaged pages among them. */
static void serve(struct run *run, struct rng *rng, unsigned int s)
{
	struct fault faults[BLOCK_PAGES];
	unsigned int n = 1 + (unsigned int)rng_below(rng, rng_below(rng, 8) ? 12 : 256);
	unsigned int start = (unsigned int)rng_below(rng, PAGES - 300);
	unsigned int since = run->fake->serves, there = 0, asked = 0;
	struct paging_outcome outcome;
	bool seen[PAGES] = { false };
	uint64_t served = paging_stats(run->paging[s])->far_faults;

	for (unsigned int i = 0; i < n; i++)
		faults[i] = (struct fault){
			.addr = PAGE(start + (unsigned int)rng_below(rng, 300)),
			.cycle = rng_below(rng, 1000),
			.va_space = s + 1,
			.access = (uint8_t)(ACCESS_READ + rng_below(rng, 3)),
			.merged = 1,
		};
	assert_int_equal(paging_serve(run->paging[s], faults, n, 1000, &outcome), 0);
	assert_int_equal(outcome.stuck, 0);
	assert_int_equal(outcome.service_ns, SERVE_NS);
	for (unsigned int i = 0; i < n; i++) {
		unsigned int page = INDEX(faults[i].addr);

		if (seen[page] || run->fake->unmanaged[s + 1][page])
			continue;
		seen[page] = true;
		asked++;
		there += run->fake->there[s + 1][page];
		if (rng_below(rng, 8))
			paging_touch(run->paging[s], faults[i].addr, false);
	}
	assert_int_equal(paging_stats(run->paging[s])->far_faults, served + there);
	/* Nothing waits while the session could have a frame. */
	if (there < asked)
		assert_true(run->fake->used == run->fake->frames ||
			    used_by(run, s) == run->limit[s]);
	digest_plans(run, since);
}

/* The CPU takes a page back; the news comes at once, later, or late and too broad. */
static void take_back(struct run *run, struct rng *rng, unsigned int s)
{
	unsigned int page = (unsigned int)rng_below(rng, PAGES);
	struct service_invalidate i = { PAGE(page), PAGE(page + 1), s + 1, false };

	if (run->fake->there[s + 1][page]) {
		run->fake->there[s + 1][page] = false;
		run->fake->used--;
	}
	if (rng_below(rng, 4) == 0)
		i = (struct service_invalidate){ .end = UINT64_MAX };
	paging_invalidate(run->pool, &i);
}

static void begin(struct run *run, const char *evict, const char *prefetch, uint64_t seed)
{
	struct gpu_spec spec;
	struct rng rng;
	struct err err;

	*run = (struct run){ .digest = 0xcbf29ce484222325ull };
	rng_seed(&rng, seed);
	run->fake = fake_create(1 + rng_below(&rng, seed % 2 ? 20 : 700));
	for (unsigned int i = 0; i < 40; i++)
		run->fake->unmanaged[1 + i % 2][rng_below(&rng, PAGES)] = true;
	assert_int_equal(paging_pool_create(&run->fake->service, &run->pool), 0);
	for (unsigned int s = 0; s < 2; s++) {
		spec_defaults(&spec);
		spec.prefetch_pages = rng_below(&rng, 40);
		run->limit[s] = 1 + rng_below(&rng, run->fake->frames * 2);
		spec.vram_bytes = run->limit[s] * PAGE_BYTES;
		strcpy(spec.evict, evict);
		strcpy(spec.prefetch, prefetch);
		assert_int_equal(paging_create(run->pool, s + 1, &spec, &run->paging[s], &err), 0);
	}
}

static uint64_t run_trace(const char *evict, const char *prefetch, uint64_t seed)
{
	struct paging_outcome outcome;
	struct run run;
	struct rng rng;

	begin(&run, evict, prefetch, seed);
	rng_seed(&rng, seed + 1000);
	for (unsigned int step = 0; step < STEPS; step++) {
		unsigned int s = (unsigned int)rng_below(&rng, 2);
		unsigned int page = (unsigned int)rng_below(&rng, PAGES);
		unsigned int since = run.fake->serves;

		switch (rng_below(&rng, 12)) {
		case 0:
			take_back(&run, &rng, s);
			break;
		case 1:
			if (rng_below(&rng, 10))
				break;
			assert_int_equal(paging_prefetch(run.paging[s], PAGE(page),
							 (PAGES - page) * PAGE_BYTES, 0,
							 &outcome), 0);
			digest_plans(&run, since);
			break;
		case 2:
		case 3:
			paging_touch(run.paging[s], PAGE(page), true);
			break;
		default:
			serve(&run, &rng, s);
		}
		if (step % 16 == 0)
			check_books(&run);
	}
	check_books(&run);
	for (unsigned int s = 0; s < 2; s++) {
		digest(&run, paging_stats(run.paging[s])->evicted_pages);
		digest(&run, paging_stats(run.paging[s])->prefetch_used_pages);
		paging_destroy(run.paging[s]);
	}
	paging_pool_destroy(run.pool);
	free(run.fake);
	return run.digest;
}

static void every_pair_of_rows(void **state)
{
	for (unsigned int e = 0; evict_rows[e]; e++)
		for (unsigned int p = 0; prefetch_rows[p]; p++)
			for (uint64_t seed = 0; seed < 6; seed++)
				run_trace(evict_rows[e]->name, prefetch_rows[p]->name, seed);
}

static void same_trace_same_decisions(void **state)
{
	for (unsigned int e = 0; evict_rows[e]; e++)
		for (unsigned int p = 0; prefetch_rows[p]; p++)
			assert_true(run_trace(evict_rows[e]->name, prefetch_rows[p]->name, 8) ==
				    run_trace(evict_rows[e]->name, prefetch_rows[p]->name, 8));
}

/* Warps that each walk their own pages finish, with any number of frames. */
static void every_warp_finishes(void **state)
{
	enum { WARPS = 24, WALK = 40 };

	for (unsigned int frames = 1; frames < 60; frames += frames < 8 ? 1 : 13) {
		unsigned int at[WARPS] = { 0 }, left = WARPS, batches = 0;
		struct run run;

		begin(&run, "random", frames % 2 ? "sequential" : "none", 2);
		memset(run.fake->unmanaged, 0, sizeof(run.fake->unmanaged));
		run.fake->frames = frames;
		while (left) {
			struct fault faults[WARPS];
			struct paging_outcome outcome;
			unsigned int n = 0;
			bool may_use[WARPS];

			/* What came with the last batch is used only after this one is planned. */
			for (unsigned int w = 0; w < WARPS; w++) {
				may_use[w] = at[w] < WALK &&
					     run.fake->there[1][w * 60 + at[w]];
				if (at[w] < WALK && !may_use[w])
					faults[n++] = (struct fault){
						.addr = PAGE(w * 60 + at[w]),
						.va_space = 1,
					};
			}
			assert_int_equal(paging_serve(run.paging[0], faults, n, 0, &outcome), 0);
			assert_int_equal(outcome.stuck, 0);
			for (unsigned int w = 0; w < WARPS; w++) {
				if (!may_use[w] || !run.fake->there[1][w * 60 + at[w]])
					continue;
				paging_touch(run.paging[0], PAGE(w * 60 + at[w]), false);
				left -= ++at[w] == WALK;
			}
			assert_true(++batches < 20 * WARPS * WALK);
		}
		paging_destroy(run.paging[0]);
		paging_destroy(run.paging[1]);
		paging_pool_destroy(run.pool);
		free(run.fake);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_pair_of_rows),
		cmocka_unit_test(same_trace_same_decisions),
		cmocka_unit_test(every_warp_finishes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
