// SPDX-License-Identifier: GPL-2.0
/*
 * What must hold whatever the policies decide: random traces over every pair of
 * an eviction and a prefetch row, two sessions on one device. The fake service
 * fails the test when it is asked to move what is there already, to evict a
 * page of the batch, to cross a VA block, or to fill more frames than it has.
 *
 * Time goes on while pages travel: none of those may go, never are more frames in use
 * than there are, and every fault that was served hears of its page.
 */
#include <stdio.h>

#include "paging_fake.h"

#include "base/rng.h"
#include "paging/handler.h"

#define STEPS	500u

struct run {
	struct fake *fake;
	struct paging_pool *pool;
	struct paging *paging[2];	/* VA spaces 1 and 2; 2 may be missing */
	uint64_t record[2000];
	uint64_t limit[2];
	uint64_t digest;		/* of everything that was decided */
	uint64_t now;			/* core cycles */
	bool awaited[2][PAGES];		/* served, on its way, and not heard of */
	bool taken[2][PAGES];		/* by the CPU, on its way */
	uint64_t carried[2];		/* bytes, each way */
	uint64_t latency[2];		/* ns, of the far faults that were told */
};

/* One session's ear. */
struct ear {
	struct run *run;
	unsigned int session;
};
static struct ear ears[2];

static void digest(struct run *run, uint64_t value)
{
	run->digest = (run->digest ^ value) * 0x100000001b3ull;
}

static unsigned int arrived(void *ctx, uint64_t addr, uint64_t bytes, uint64_t now)
{
	struct ear *ear = ctx;
	struct run *run = ear->run;
	bool awaited = run->awaited[ear->session][INDEX(addr)];

	assert_int_equal(bytes, PAGE_BYTES);
	assert_false(paging_in_flight(run->paging[ear->session], addr));
	if (run->taken[ear->session][INDEX(addr)])
		return run->taken[ear->session][INDEX(addr)] = false;
	assert_true(paging_resident(run->paging[ear->session], addr));
	run->awaited[ear->session][INDEX(addr)] = false;
	digest(run, addr + now);
	return awaited;
}

static void transferred(void *ctx, const struct paging_transfer *t)
{
	struct ear *ear = ctx;

	assert_true(t->begin < t->end);
	ear->run->carried[t->d2h] += t->bytes;
}

/* The last nanosecond of a far fault is some stage's. */
static void served(void *ctx, const struct paging_fault *fault)
{
	struct ear *ear = ctx;
	uint64_t sum = 0;

#define X(stage) sum += fault->stages.stage;
	FAULT_STAGES(X)
#undef X
	assert_int_equal(sum, fault->latency);
	assert_true(fault->taken >= fault->raised);
	ear->run->latency[ear->session] += sum;
}

static const struct paging_events events = { arrived, transferred, NULL, served };

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

/* --- what holds at any moment ------------------------------------------------------ */

static uint64_t used_by(const struct run *run, unsigned int s)
{
	uint64_t used = 0;

	for (unsigned int page = 0; page < PAGES; page++)
		used += run->fake->there[s + 1][page];
	return used;
}

static void check_stats(const struct paging_stats *stats)
{
	assert_true(stats->prefetch_used_pages <= stats->prefetched_pages);
	assert_true(stats->latency_ns.count <= stats->far_faults);
	assert_true(stats->far_faults + stats->duplicate_faults <= stats->raw_faults);
	assert_int_equal(stats->raw_faults, stats->batch_raw.sum);
	assert_true(stats->returned_pages <= stats->far_faults);
	assert_true(stats->thrashing_pages <= stats->returned_pages);
	assert_true(stats->prefetch_late_pages <= stats->prefetched_pages);
	assert_true(stats->pre_evicted_pages <= stats->evicted_pages);
	assert_true(stats->prefetch_unused_evicted_pages <= stats->prefetched_pages);
}

static void check_books(const struct run *run)
{
	uint64_t total = 0;

	for (unsigned int s = 0; s < 2 && run->paging[s]; s++) {
		uint64_t used = used_by(run, s);

		for (unsigned int page = 0; page < PAGES; page++)
			assert_int_equal(paging_resident(run->paging[s], PAGE(page)),
					 run->fake->there[s + 1][page]);
		assert_true(used <= run->limit[s]);
		check_stats(paging_stats(run->paging[s]));
		total += used;
	}
	assert_true(total == run->fake->used);
	assert_true(total <= run->fake->frames);
}

/*
 * In virtual time, pages whose way here has not begun have no frame yet, and those whose way home
 * has not ended have one still. Of a session alone; between sessions that takes no time.
 */
static void check_frames(const struct run *run)
{
	const struct link *link = run->paging[0]->flight.link;

	if (!run->paging[1])
		assert_true(used_by(run, 0) + link_leaving(link) <=
			    MIN(run->fake->frames, run->limit[0]) + link_waiting(link));
}

static void pages_in_flight(const struct run *run, unsigned int s, bool *which)
{
	for (unsigned int page = 0; page < PAGES; page++)
		which[page] = paging_in_flight(run->paging[s], PAGE(page));
}

static void pass_time(struct run *run, struct rng *rng)
{
	run->now += rng_below(rng, 4000);
	for (unsigned int s = 0; s < 2 && run->paging[s]; s++)
		assert_int_equal(paging_advance(run->paging[s], run->now), 0);
	check_frames(run);
}

/* --- what happens ---------------------------------------------------------------------- */

/* How many different managed pages the faults have; they are there, or on their way, afterwards? */
static void look_after(struct run *run, unsigned int s, const struct fault *faults,
		       unsigned int n, unsigned int *asked, unsigned int *there)
{
	bool seen[PAGES] = { false };

	*asked = *there = 0;
	for (unsigned int i = 0; i < n; i++) {
		unsigned int page = INDEX(faults[i].addr);

		if (seen[page] || run->fake->unmanaged[s + 1][page])
			continue;
		seen[page] = true;
		(*asked)++;
		*there += run->fake->there[s + 1][page];
		if (paging_in_flight(run->paging[s], faults[i].addr))
			run->awaited[s][page] = true;
	}
}

/* A batch of faults in one region, duplicates and unmanaged pages among them. */
static void serve(struct run *run, struct rng *rng, unsigned int s)
{
	struct fault faults[BLOCK_PAGES];
	unsigned int n = 1 + (unsigned int)rng_below(rng, rng_below(rng, 8) ? 12 : 256);
	unsigned int start = (unsigned int)rng_below(rng, PAGES - 300);
	unsigned int since = run->fake->serves, there, asked;
	const struct paging_stats *stats = paging_stats(run->paging[s]);
	uint64_t before = stats->far_faults + stats->duplicate_faults;
	uint64_t unique = stats->batch_unique.sum;
	struct paging_outcome outcome;
	bool flying[PAGES];

	pages_in_flight(run, s, flying);
	for (unsigned int i = 0; i < n; i++)
		faults[i] = (struct fault){
			.addr = PAGE(start + (unsigned int)rng_below(rng, 300)),
			.cycle = rng_below(rng, run->now + 1),
			.va_space = s + 1,
			.access = (uint8_t)(ACCESS_READ + rng_below(rng, 3)),
			.merged = 1,
		};
	assert_int_equal(paging_serve(run->paging[s], faults, n, run->now, &outcome), 0);
	assert_int_equal(outcome.stuck, 0);
	assert_int_equal(outcome.service_ns, SERVE_NS);
	for (unsigned int page = 0; page < PAGES; page++)
		assert_true(!flying[page] || run->fake->there[s + 1][page]);
	look_after(run, s, faults, n, &asked, &there);
	/* Each that is there or on its way, once. */
	unique = stats->batch_unique.sum - unique;
	assert_int_equal(stats->far_faults + stats->duplicate_faults,
			 before + there + n - unique);
	/* Nothing waits while the session could have a frame. */
	if (there < asked)
		assert_true(run->fake->used == run->fake->frames ||
			    used_by(run, s) == run->limit[s]);
	for (unsigned int i = 0; i < n; i++)
		if (rng_below(rng, 8) && !paging_in_flight(run->paging[s], faults[i].addr))
			paging_touch(run->paging[s], faults[i].addr, false);
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
		run->awaited[s][page] = false;
		run->taken[s][page] = paging_in_flight(run->paging[s], PAGE(page));
	}
	if (rng_below(rng, 4) == 0)
		i = (struct service_invalidate){ .end = UINT64_MAX };
	paging_invalidate(run->pool, &i);
}

/* A range comes, or goes home. */
static void move_range(struct run *run, struct rng *rng, unsigned int s)
{
	unsigned int page = (unsigned int)rng_below(rng, PAGES);
	unsigned int n = 1 + (unsigned int)rng_below(rng, PAGES - page);
	struct paging_outcome outcome;

	if (rng_below(rng, 2)) {
		assert_int_equal(paging_prefetch(run->paging[s], PAGE(page), n * PAGE_BYTES,
						 run->now, &outcome), 0);
		return;
	}
	assert_int_equal(paging_prefetch_host(run->paging[s], PAGE(page), n * PAGE_BYTES,
					      run->now, &outcome), 0);
	for (unsigned int i = page; i < page + n; i++)
		assert_false(run->fake->there[s + 1][i]);
}

static void step(struct run *run, struct rng *rng, unsigned int s)
{
	unsigned int page = (unsigned int)rng_below(rng, PAGES);
	unsigned int since = run->fake->serves;

	switch (rng_below(rng, 12)) {
	case 0:
		take_back(run, rng, s);
		break;
	case 1:
		if (rng_below(rng, 10))
			break;
		move_range(run, rng, s);
		digest_plans(run, since);
		break;
	case 2:
		/* A TLB is filled with what walks find. */
		if (!paging_in_flight(run->paging[s], PAGE(page)))
			paging_touch(run->paging[s], PAGE(page), true);
		break;
	case 3:
		if (rng_below(rng, 20) == 0)
			paging_abandon(run->paging[s]);
		break;
	default:
		serve(run, rng, s);
	}
}

/* --- runs ---------------------------------------------------------------------------------- */

static void make(struct run *run, struct rng *rng, unsigned int s, const char *evict,
		 const char *prefetch)
{
	const struct paging_known known = { run->record, ARRAY_SIZE(run->record), NULL, 0 };
	struct gpu_spec spec;
	struct err err;

	spec_defaults(&spec);
	run->limit[s] = 1 + rng_below(rng, run->fake->frames * 2);
	spec.vram_bytes = run->limit[s] * PAGE_BYTES;
	spec.link_latency_ns = rng_below(rng, 2) * 1500;
	spec.link_curve = rng_below(rng, 2);
	spec.prefetch_full = rng_below(rng, 4) != 0;
	spec.watermark = rng_below(rng, 2) * rng_below(rng, 50);
	strcpy(spec.evict, evict);
	strcpy(spec.prefetch, prefetch);
	if (!strcmp(prefetch, "sequential"))
		sprintf(spec.prefetch, "sequential:pages=%u", (unsigned int)rng_below(rng, 40));
	assert_int_equal(paging_create_knowing(run->pool, s + 1, &spec, &known, &run->paging[s],
					       &err), 0);
	ears[s] = (struct ear){ run, s };
	paging_listen(run->paging[s], &events, &ears[s]);
}

static void begin(struct run *run, const char *evict, const char *prefetch, uint64_t seed)
{
	struct rng rng;

	*run = (struct run){ .digest = 0xcbf29ce484222325ull };
	rng_seed(&rng, seed);
	run->fake = fake_create(1 + rng_below(&rng, seed % 2 ? 20 : 700));
	for (unsigned int i = 0; i < 40; i++)
		run->fake->unmanaged[1 + i % 2][rng_below(&rng, PAGES)] = true;
	for (unsigned int i = 0; i < ARRAY_SIZE(run->record); i++)
		run->record[i] = PAGE(rng_below(&rng, PAGES));
	assert_int_equal(paging_pool_create(&run->fake->service, &run->pool), 0);
	make(run, &rng, 0, evict, prefetch);
	/* Every other run has the device to itself. */
	if (seed / 2 % 2)
		make(run, &rng, 1, evict, prefetch);
}

static void end(struct run *run)
{
	for (unsigned int s = 0; s < 2 && run->paging[s]; s++)
		paging_destroy(run->paging[s]);
	paging_pool_destroy(run->pool);
	free(run->fake);
}

/* Everything lands: then all has been carried, and nobody waits who was served. */
static void settle(struct run *run)
{
	uint64_t moved[2] = { 0 };

	for (unsigned int s = 0; s < 2 && run->paging[s]; s++) {
		const struct paging_stats *stats = paging_stats(run->paging[s]);

		assert_int_equal(paging_land_all(run->paging[s], NULL), 0);
		assert_true(paging_next(run->paging[s]) == UINT64_MAX);
		for (unsigned int page = 0; page < PAGES; page++) {
			assert_false(run->awaited[s][page] || run->taken[s][page]);
			assert_false(paging_in_flight(run->paging[s], PAGE(page)));
		}
		moved[0] += stats->h2d_bytes;
		moved[1] += stats->d2h_bytes;
	}
	/* What was taken back on its way was not carried. */
	assert_true(run->carried[0] <= moved[0] && run->carried[0] > moved[0] / 2);
	assert_int_equal(run->carried[1], moved[1]);
	check_books(run);
}

static uint64_t run_trace(const char *evict, const char *prefetch, uint64_t seed)
{
	static struct run run;
	struct rng rng;

	begin(&run, evict, prefetch, seed);
	rng_seed(&rng, seed + 1000);
	for (unsigned int i = 0; i < STEPS; i++) {
		step(&run, &rng, run.paging[1] ? (unsigned int)rng_below(&rng, 2) : 0);
		pass_time(&run, &rng);
		if (i % 16 == 0)
			check_books(&run);
	}
	settle(&run);
	for (unsigned int s = 0; s < 2 && run.paging[s]; s++) {
		assert_int_equal(run.latency[s], paging_stats(run.paging[s])->latency_ns.sum);
		digest(&run, paging_stats(run.paging[s])->evicted_pages);
		digest(&run, paging_stats(run.paging[s])->prefetch_used_pages);
		digest(&run, paging_stats(run.paging[s])->latency_ns.sum);
	}
	end(&run);
	return run.digest;
}

static void every_pair_of_rows(void **state)
{
	uint64_t seed = 0;

	for (unsigned int e = 0; evict_rows[e]; e++)
		for (unsigned int p = 0; prefetch_rows[p]; p++)
			for (unsigned int i = 0; i < 2; i++)
				run_trace(evict_rows[e]->name, prefetch_rows[p]->name, seed++);
}

static void same_trace_same_decisions(void **state)
{
	for (unsigned int e = 0; evict_rows[e]; e++)
		assert_true(run_trace(evict_rows[e]->name, "random", 8 + e) ==
			    run_trace(evict_rows[e]->name, "random", 8 + e));
	for (unsigned int p = 0; prefetch_rows[p]; p++)
		assert_true(run_trace("random", prefetch_rows[p]->name, 8 + p) ==
			    run_trace("random", prefetch_rows[p]->name, 8 + p));
}

/* Warps that each walk their own pages finish, with any number of frames. */
static void every_warp_finishes(void **state)
{
	enum { WARPS = 24, WALK = 40 };

	for (unsigned int frames = 1; frames < 60; frames += frames < 8 ? 1 : 13) {
		unsigned int at[WARPS] = { 0 }, left = WARPS, batches = 0;
		struct run run;

		begin(&run, "random", frames % 2 ? "sequential" : "none", 0);
		memset(run.fake->unmanaged, 0, sizeof(run.fake->unmanaged));
		run.fake->frames = frames;
		while (left) {
			struct fault faults[WARPS];
			struct paging_outcome outcome;
			unsigned int n = 0, asked, there;
			bool may_use[WARPS];

			/* What came with the last batch is used only after this one is planned. */
			for (unsigned int w = 0; w < WARPS; w++) {
				uint64_t addr = PAGE(w * 60 + at[w]);

				may_use[w] = at[w] < WALK && paging_resident(run.paging[0], addr) &&
					     !paging_in_flight(run.paging[0], addr);
				if (at[w] < WALK && !may_use[w])
					faults[n++] = (struct fault){ .addr = addr, .va_space = 1 };
			}
			run.now += 700;
			assert_int_equal(paging_serve(run.paging[0], faults, n, run.now, &outcome),
					 0);
			assert_int_equal(outcome.stuck, 0);
			look_after(&run, 0, faults, n, &asked, &there);
			for (unsigned int w = 0; w < WARPS; w++) {
				if (!may_use[w] || !run.fake->there[1][w * 60 + at[w]])
					continue;
				paging_touch(run.paging[0], PAGE(w * 60 + at[w]), false);
				left -= ++at[w] == WALK;
			}
			run.now += 700;
			assert_int_equal(paging_advance(run.paging[0], run.now), 0);
			check_frames(&run);
			assert_true(++batches < 20 * WARPS * WALK);
		}
		end(&run);
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
